"""Comparison of recorded official calls on several chips with ours.

    python tests/golden/mesh_calls.py [PATTERN] [--write]

prints how many calls of each function agree, and why others do not if a pattern chooses some of them. `--write` puts
the numbers into `mesh_agreement.json`, the least that the test expects. `mesh_differences.json` has patterns of calls
that differ for a reason.

A result agrees if its description or text is equal; numbers of objects in memory and names of modules do not count. An
error agrees if its class and the first sentence of the official message do. Calls that ended the official process are
results or errors of this package.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from op_calls import _DTYPES, first_sentence

import ttnn
from ttnn.base.config import manage_config
from ttnn.base.exceptions import TtnnError

FILE = "host/op_calls_mock_mesh.jsonl.gz"
AGREEMENT = Path(__file__).with_name("mesh_agreement.json")
DIFFERENCES = Path(__file__).with_name("mesh_differences.json")
_VALUES = re.compile(r" *-?\d+\.\d+(?:e[+-]\d+)?(?=[],])")
"""Values of device tensors, which are not recorded, and blanks before."""
_TEXT_CUT, _LAST_WORD = 1500, 20
"""Characters of recorded text, and of a word that is cut."""
_ERRORS = {"RuntimeError": RuntimeError, "TypeError": TypeError, "AttributeError": AttributeError}
_LISTED = (int, float, list, tuple, ttnn.Tensor, ttnn.FabricType)
"""Types of the first item of a recorded list.

Other lists are recorded as text.
"""
_OBJECT = re.compile(r"<(?:class ')?[\w.]*?(\w+)(?: object at 0x[0-9a-f.]+|')>")


@dataclass(frozen=True)
class Setting:
    """A mesh of a system, as it was opened."""

    system: str
    mesh: str
    fabric: str

    def __str__(self) -> str:
        return f"{self.system} {self.mesh} {self.fabric}"


@dataclass(frozen=True)
class Outcome:
    """The result of one recorded call."""

    setting: Setting
    expression: str
    reason: str
    """The difference; empty if it agrees."""

    @property
    def function(self) -> str:
        """Return the function that the call is of."""
        return function_of(self.expression)


def read_settings(folder: Path) -> dict[Setting, list[dict[str, Any]]]:
    """Return the records of a golden folder, by setting."""
    settings: dict[Setting, list[dict[str, Any]]] = {}
    with gzip.open(folder / FILE, "rt", encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            settings.setdefault(Setting(record["system"], record["mesh"], record["fabric"]), []).append(record)
    return settings


def function_of(expression: str) -> str:
    """Return the name of the function that an expression calls first."""
    plain = re.sub(
        r"ttnn\.(Topology|BufferType|CoreCoord|MeshCoreCoord|SocketC\w+|SocketMemoryConfig)\b", "", expression
    )
    if named := re.search(r"\bttnn\.([A-Za-z_][\w.]*)", plain):
        return named[1]
    if method := re.search(r"\bd\.([a-z_]\w*)", plain):
        return f"MeshDevice.{method[1]}"
    for helper, name in (("mapper(", "create_mesh_mapper"), ("composer(", "create_mesh_composer"), ("h(", "Tensor")):
        if helper in plain:
            return name
    return "other"


def _names(device: ttnn.MeshDevice) -> dict[str, Any]:
    """Return what the recorded expressions refer to."""
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 6))})

    def t(
        shape: tuple[int, ...],
        dtype: str = "bf16",
        layout: ttnn.Layout = ttnn.TILE_LAYOUT,
        memory_config: ttnn.MemoryConfig | None = None,
    ) -> ttnn.Tensor:
        return ttnn.zeros(shape, _DTYPES[dtype], layout, device, memory_config)

    def h(
        shape: tuple[int, ...],
        mapper: Any = None,
        dtype: str = "f32",
        layout: ttnn.Layout = ttnn.ROW_MAJOR_LAYOUT,
        on: ttnn.MeshDevice | None = None,
    ) -> ttnn.Tensor:
        values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        return ttnn.Tensor(values, _DTYPES[dtype], on, layout, mesh_mapper=mapper)

    def mapper(*placements: Any, shape: ttnn.MeshShape | None = None) -> Any:
        return ttnn.create_mesh_mapper(device, ttnn.MeshMapperConfig([*placements], shape))

    def composer(*dims: int, shape: ttnn.MeshShape | None = None) -> Any:
        return ttnn.create_mesh_composer(device, ttnn.MeshComposerConfig([*dims], shape))

    def sem() -> Any:
        return ttnn.create_global_semaphore(device, cores, 0)

    def parts(tensor: ttnn.Tensor) -> list[Any]:
        found = []
        for part in ttnn.get_device_tensors(tensor):
            values = part.to_numpy().astype(np.float64)
            found.append([[*values.shape], float(values.flat[0]), float(values.flat[-1])])
        return found

    def vals(values: Any) -> list[Any]:
        flat = np.asarray(values, dtype=np.float64).ravel()
        return [[*np.shape(values)], [float(each) for each in flat[:: max(1, flat.size // 16)]]]

    return {
        "d": device,
        "M": ttnn.MeshShape,
        "C": ttnn.MeshCoordinate,
        "S": ttnn.PlacementShard,
        "Rep": ttnn.PlacementReplicate,
        "T": ttnn.TILE_LAYOUT,
        "R": ttnn.ROW_MAJOR_LAYOUT,
        "L1": ttnn.L1_MEMORY_CONFIG,
        "DRAM": ttnn.DRAM_MEMORY_CONFIG,
        "Ring": ttnn.Topology.Ring,
        "Linear": ttnn.Topology.Linear,
        "t": t,
        "h": h,
        "mapper": mapper,
        "composer": composer,
        "sem": sem,
        "sems": lambda count: [sem() for _ in range(count)],
        "parts": parts,
        "vals": vals,
        "desc": describe,
        "ttnn": ttnn,
        "np": np,
    }


def describe(result: Any) -> Any:
    """Return the description of a tensor in the form of the records."""
    config = result.memory_config()
    described = {
        "shape": list(result.shape),
        "padded": list(result.padded_shape),
        "dtype": result.dtype.name,
        "layout": result.layout.name,
        "storage": result.storage_type().name,
        "memory": f"{config.memory_layout.name}/{config.buffer_type.name}",
    }
    if config.shard_spec is not None:
        described["shard"] = str(config.shard_spec)
    topology = result.tensor_topology()
    described["distribution_shape"] = list(topology.distribution_shape())
    described["placements"] = [str(placement) for placement in topology.placements()]
    described["coords"] = [list(coordinate) for coordinate in topology.mesh_coords()]
    return described


def recorded_form(result: Any) -> Any:
    """Return a result as the records write it: numbers, lists and text."""
    if isinstance(result, ttnn.Tensor):
        return describe(result)
    if isinstance(result, list | tuple) and result and type(result[0]) in _LISTED:
        return [item if type(item) in (bool, int, float) else recorded_form(item) for item in result]
    # An enumeration of bits.
    if isinstance(result, ttnn.FabricType):
        return result.value
    return _text(str(result))


def _text(text: str) -> str:
    """Return text without addresses and modules of objects."""
    return _OBJECT.sub(lambda found: f"<{found[1].replace('_', '').lower()}>", text)


def _plain(value: Any) -> Any:
    """Return a recorded or own result in a form that compares."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return _text(value) if isinstance(value, str) else value


def _judge_error(record: Mapping[str, Any], error: Exception) -> str:
    text = f"{type(error).__name__}: {error}"
    if "error" not in record:
        return f"should give {str(record['out'])[:200]}, raised {text}"
    if record["error"] == "CRASH":
        return "" if isinstance(error, TtnnError) else f"should raise an error of this package, raised {text}"
    if not isinstance(error, _ERRORS[record["error"]]):
        return f"should raise {record['error']} ({first_sentence(record['message'])}), raised {text}"
    if "incompatible function arguments" in record["message"]:
        fits = isinstance(error, ttnn.ArgumentError)
        return "" if fits else f"should raise ArgumentError, raised {text}"
    sentence = first_sentence(record["message"])
    return "" if sentence in str(error) else f"the message lacks {sentence!r}: {text}"


def judge(record: Mapping[str, Any], call: Callable[[], Any]) -> str:
    """Return why a call differs from its record, else empty."""
    try:
        result = recorded_form(call())
    except Exception as error:
        return _judge_error(record, error)
    if "error" in record:
        if record["error"] == "CRASH":
            return ""
        return f"should raise {record['error']} ({first_sentence(record['message'])}), gave {str(result)[:200]}"
    return "" if _agrees(record["out"], result) else f"should give {record['out']}, gave {result}"


def _agrees(recorded: Any, result: Any) -> bool:
    cut = isinstance(recorded, str) and len(recorded) >= _TEXT_CUT
    recorded, result = _plain(recorded), _plain(result)
    if isinstance(recorded, str) and isinstance(result, str):
        if named := re.fullmatch(r"<(\w+)>", recorded):
            # Ours print more than their class.
            return result.strip("<").lower().startswith(named[1])
        if recorded.startswith("device_id: "):
            recorded, result = _VALUES.sub(" #", recorded), _VALUES.sub(" #", result)
        if cut:
            return result.startswith(recorded[:-_LAST_WORD])
    return bool(recorded == result)


@contextmanager
def opened(setting: Setting) -> Iterator[ttnn.MeshDevice]:
    """Open the mesh of a setting with its fabric."""
    with manage_config("system", setting.system):
        if setting.fabric != "NONE":
            ttnn.set_fabric_config(ttnn.FabricConfig[setting.fabric])
        try:
            shape = ttnn.MeshShape(*map(int, setting.mesh.split("x")))
            # As the recorded meshes: with dispatch on worker cores also where the default is Ethernet cores.
            workers = ttnn.DispatchCoreConfig(ttnn.DispatchCoreType.WORKER)
            device = ttnn.open_mesh_device(shape, l1_small_size=32768, dispatch_core_config=workers)
            try:
                yield device
            finally:
                ttnn.close_mesh_device(device)
        finally:
            if setting.fabric != "NONE":
                ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)


def walk(folder: Path, wanted: Callable[[str], bool] = lambda _: True) -> Iterator[Outcome]:
    """Yield the outcome of every recorded call whose expression is wanted."""
    for setting, records in read_settings(folder).items():
        chosen = [record for record in records if wanted(record["expr"])]
        if not chosen:
            continue
        done = 0
        try:
            with opened(setting) as device:
                names = _names(device)
                for record in chosen:
                    # The expressions are those of our own golden folder.
                    call = partial(eval, record["expr"], dict(names))
                    yield Outcome(setting, record["expr"], judge(record, call))
                    done += 1
        except TtnnError as error:
            for record in chosen[done:]:
                yield Outcome(setting, record["expr"], f"the mesh does not open: {error}")


@cache
def known_differences() -> list[tuple[re.Pattern[str], re.Pattern[str], str]]:
    """Return patterns of settings and expressions, and reasons."""
    entries = json.loads(DIFFERENCES.read_text(encoding="utf-8"))
    return [(re.compile(entry["setting"]), re.compile(entry["expr"]), entry["why"]) for entry in entries]


def why(outcome: Outcome) -> str | None:
    """Return the known reason why a call differs, if there is one."""
    for setting, expression, reason in known_differences():
        if setting.fullmatch(str(outcome.setting)) and expression.fullmatch(outcome.expression):
            return reason
    return None


def agreement(outcomes: list[Outcome]) -> dict[str, list[int]]:
    """Return the agreeing calls and all calls of each function."""
    agree = Counter(outcome.function for outcome in outcomes if not outcome.reason)
    total = Counter(outcome.function for outcome in outcomes)
    return {name: [agree[name], total[name]] for name in sorted(total)}


def main() -> None:
    """Print how many calls agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern", nargs="?", help="regular expression of expressions; their reasons are printed")
    parser.add_argument("--write", action="store_true", help="write the numbers of all calls to mesh_agreement.json")
    options = parser.parse_args()
    if options.write and options.pattern:
        parser.error("--write: numbers of some calls are not written")
    folder = Path(os.environ["TTNN_GOLDEN"])
    wanted = re.compile(options.pattern or "").search
    outcomes = list(walk(folder, lambda expression: bool(wanted(expression))))
    if options.pattern:
        for outcome in outcomes:
            if outcome.reason:
                print(f"{outcome.setting} | {outcome.expression}\n    {outcome.reason[:600]}")
    numbers = agreement(outcomes)
    for name, (agree, total) in sorted(numbers.items(), key=lambda item: item[1][0] - item[1][1]):
        print(f"{agree:5} of {total:5}  {name}")
    agree = sum(not outcome.reason for outcome in outcomes)
    known = sum(bool(outcome.reason) and why(outcome) is not None for outcome in outcomes)
    print(f"{known} differ for a known reason")
    print(f"{agree} of {len(outcomes)} agree: {agree / max(1, len(outcomes)):.1%}")
    if options.write:
        AGREEMENT.write_text(
            json.dumps(numbers, indent=1).replace("[\n  ", "[").replace(",\n  ", ", ").replace("\n ]", "]") + "\n"
        )


if __name__ == "__main__":
    sys.exit(main())
