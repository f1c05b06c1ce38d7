"""Comparison of recorded official calls with ours.

A record is an expression and either what came out (shape, padded shape, data type, layout, place) or the error. Three
outcomes: the same, different (with a reason), or the operator is missing here.

There are three files. In the first one results and messages are compared whole. The others, of unusual arguments and of
a Blackhole, are compared by the rules of their README: a result by its specification, an error by our classes and the
first sentence of the official message, an accident of the official code (`internal`) by our classes alone.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import ttnn
from ttnn.base.exceptions import TtnnError


@dataclass(frozen=True)
class Recording:
    """Recorded calls of one chip.

    Attributes:
        file: Path in the golden folder.
        chip: The chip that they are compared with.
        whole: Whether results and messages are compared whole.
    """

    file: str
    chip: str
    whole: bool = False


USUAL = Recording("host/op_calls_mock_n150.jsonl.gz", "n150", whole=True)
UNUSUAL = Recording("host/op_calls_mock_n150_2.jsonl.gz", "n150")
BLACKHOLE_CHIP = "p100"
"""The chip of the recorded Blackhole calls and programs.

They are recorded as a p150's, but on 11 columns of cores, as a p100 has; no result depends on its number of DRAM banks.
The p150 of the recorded device and matmul programs has 13 columns.
"""
BLACKHOLE = Recording("blackhole/host/op_calls_mock_p150.jsonl.gz", BLACKHOLE_CHIP)
SPECIFICATION = ("shape", "padded", "dtype", "layout", "mem", "shard")
"""Fields of a result that count where it is not compared whole."""
_DTYPES = {
    "bf16": ttnn.bfloat16,
    "f32": ttnn.float32,
    "bf8": ttnn.bfloat8_b,
    "bf4": ttnn.bfloat4_b,
    "i32": ttnn.int32,
    "u32": ttnn.uint32,
    "u16": ttnn.uint16,
    "u8": ttnn.uint8,
}


@dataclass(frozen=True)
class Outcome:
    """The result of one recorded call."""

    expression: str
    kind: str
    """"same", "different" or "missing"."""
    reason: str = ""


def read_calls(folder: Path, recording: Recording) -> Iterator[dict[str, Any]]:
    """Yield the records of a golden folder."""
    with gzip.open(folder / recording.file, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def kind_of(record: dict[str, Any]) -> str:
    """Return the kind of a record.

    It is "result", "arguments" (the signature does not take them), "accident" (of the official code) or "refusal".
    """
    if "out" in record:
        return "result"
    if record.get("internal"):
        return "accident"
    return "arguments" if "incompatible function arguments" in record["message"] else "refusal"


def _names(device: ttnn.MeshDevice) -> dict[str, Any]:
    """Return what the recorded expressions refer to."""

    def t(
        shape: tuple[int, ...],
        dtype: str = "bf16",
        layout: ttnn.Layout = ttnn.TILE_LAYOUT,
        memory_config: ttnn.MemoryConfig | None = None,
    ) -> ttnn.Tensor:
        return ttnn.zeros(shape, _DTYPES[dtype], layout, device, memory_config)

    return {
        "t": t,
        "d": device,
        "T": ttnn.TILE_LAYOUT,
        "R": ttnn.ROW_MAJOR_LAYOUT,
        "L1": ttnn.L1_MEMORY_CONFIG,
        "DRAM": ttnn.DRAM_MEMORY_CONFIG,
        "ttnn": ttnn,
        "np": np,
    }


def _operators(expression: str) -> list[str]:
    """Return the dotted names below `ttnn` that an expression uses."""
    return re.findall(r"\bttnn\.([A-Za-z_][\w.]*)", expression)


def _exists(name: str) -> bool:
    found: Any = ttnn
    for part in name.split("."):
        found = getattr(found, part, None)
        if found is None:
            return False
    return True


def _describe(result: Any) -> Any:
    """Return a result in the form of the records."""
    if isinstance(result, list | tuple):
        return [_describe(item) for item in result]
    if isinstance(result, ttnn.ComplexTensor):
        return "ComplexTensor"
    if not isinstance(result, ttnn.Tensor):
        return str(result)
    config = result.memory_config()
    described = {
        "shape": list(result.shape),
        "padded": list(result.padded_shape),
        "dtype": result.dtype.name,
        "layout": result.layout.name,
        "mem": f"{config.memory_layout.name}/{config.buffer_type.name}",
        "storage": result.storage_type().name,
    }
    if config.shard_spec is not None:
        described["shard"] = repr(config.shard_spec)
    return described


def _recorded(result: Any) -> Any:
    """Return a recorded result; the class name for printed addresses.

    Pairs of numbers are lists of texts, or one text.
    """
    if isinstance(result, list):
        return [_recorded(item) for item in result]
    if not isinstance(result, str):
        return result
    if numbers := re.fullmatch(r"\((\d+(?:, \d+)*),?\)", result):
        return numbers[1].split(", ")
    found = re.fullmatch(r"<[\w.]*?(\w+) object at 0x[0-9a-f]+>", result)
    return found[1] if found else result


def _sentence(message: str) -> str:
    """Return the part of an official message that programs match."""
    return message.split("info:\n", 1)[-1].split("\nbacktrace:", 1)[0].strip()


def _judge_error(record: dict[str, Any], error: Exception) -> str:
    """Return why an error differs from the record, else empty."""
    text = f"{type(error).__name__}: {error}"
    if "error" not in record:
        return f"should work, raised {text}"
    if record["error"] in ("CRASH", "IndexError"):  # behind the end of a C++ vector
        return "" if isinstance(error, TtnnError) else f"should raise an error of this package, raised {text}"
    expected = {"RuntimeError": RuntimeError, "TypeError": TypeError, "ValueError": ValueError}[record["error"]]
    if not isinstance(error, expected):
        return f"should raise {record['error']}, raised {text}"
    sentence = _sentence(record["message"])
    return "" if sentence in str(error) else f"the message lacks {sentence!r}: {text}"


def first_sentence(message: str) -> str:
    """Return the first sentence of an official message."""
    line = _sentence(message).split("\n", 1)[0]
    return re.split(r"(?<=[.!?])\s", line, maxsplit=1)[0]


def _judge_unusual_error(record: dict[str, Any], error: Exception) -> str:
    """Return why an error differs from a record compared in part."""
    text = f"{type(error).__name__}: {error}"
    if "error" not in record:
        return f"should work, raised {text}"
    if not isinstance(error, TtnnError):
        return f"should raise an error of this package, raised {text}"
    if record.get("internal"):
        return ""
    if "incompatible function arguments" in record["message"]:
        fits = isinstance(error, ttnn.ArgumentError)
        return "" if fits else f"should raise ArgumentError, raised {text}"
    sentence = first_sentence(record["message"])
    return "" if sentence in str(error) else f"the message lacks {sentence!r}: {text}"


def _specification(described: Any) -> Any:
    """Return the fields of a result that are compared in part."""
    if isinstance(described, list):
        return [_specification(item) for item in described]
    if isinstance(described, dict):
        return {name: described[name] for name in SPECIFICATION if name in described}
    return described


def _judge(record: dict[str, Any], call: Callable[[], Any], *, whole: bool) -> str:
    """Return why a call differs from its record, else empty."""
    try:
        described = _describe(call())
    except Exception as error:
        return (_judge_error if whole else _judge_unusual_error)(record, error)
    if "error" in record:
        return f"should raise {record['error']} ({_sentence(record.get('message', ''))}), gave {described}"
    recorded = _recorded(record["out"])
    if not whole:
        described, recorded = _specification(described), _specification(recorded)
    return f"should give {recorded}, gave {described}" if described != recorded else ""


def walk(folder: Path, recording: Recording, wanted: Callable[[str], bool] = lambda _: True) -> Iterator[Outcome]:
    """Yield the outcome of every recorded call whose expression is wanted."""
    device = ttnn.open_device(device_id=0, l1_small_size=32768, chip=recording.chip)
    try:
        names = _names(device)
        for record in read_calls(folder, recording):
            expression = record["expr"]
            if not wanted(expression):
                continue
            missing = [name for name in _operators(expression) if not _exists(name)]
            if missing:
                yield Outcome(expression, "missing", missing[0])
                continue
            reason = _judge(record, partial(eval, expression, dict(names)), whole=recording.whole)
            yield Outcome(expression, "different" if reason else "same", reason)
    finally:
        ttnn.close_device(device)
