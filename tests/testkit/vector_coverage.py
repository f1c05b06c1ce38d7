"""Operators and data types that golden vectors cover: `cargo xtask coverage FOLDER`.

A pair is covered if the vectors have cases of the whole operator, or if its program with default options is one SFPU
function or FPU operation (or none) that the vectors have in the same width of Dst. Unpacking, packing and conversions
have vectors of their own. A program of several functions, or an operator made of others, is not covered by vectors of
its parts.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ttnn
from testkit.every_place import INTERLEAVED, Case, Runner, calls_of, combinations
from ttnn import _engine
from ttnn.cli.common.terminal import Terminal
from ttnn.cli.goldens import check_folder
from ttnn.operation import registry
from ttnn.runtime import engine_steps

COVERED = Path(registry.__file__).with_name("verified.json")
BLACKHOLE = "blackhole"
"""The folder of Blackhole's vectors."""
SHAPE = (1, 1, 64, 128)
PROGRAMS = ("unary", "binary", "ternary", "Pipeline", "reduce", "product", "argmax", "matmul", "embedding_backward")
CODES = {0: "float32", 5: "bfloat16", 6: "bfloat8_b", 7: "bfloat4_b"}
Step = tuple[str, ...]
"""Unit, function, variant or format, width of Dst."""


@contextmanager
def recorded(names: tuple[str, ...], note: Callable[[str, tuple[Any, ...], dict[str, Any]], None]) -> Iterator[None]:
    """Call `note` with each call of these engine functions."""
    homes = {name: engine_steps if hasattr(engine_steps, name) else _engine for name in names}
    originals = {name: getattr(home, name) for name, home in homes.items()}

    def wrap(name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            note(name, args, kwargs)
            return originals[name](*args, **kwargs)

        return call

    for name in names:
        setattr(homes[name], name, wrap(name))
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(homes[name], name, original)


def _sfpu(function: str, variant: str, wide: bool) -> Step:
    return ("sfpu", function, variant, "32" if wide else "16")


def tables(folder: Path, arch: ttnn.Arch) -> set[Step]:
    """Return the SFPU functions and FPU operations of a chip's vectors.

    Blackhole's folder has only what differs: Wormhole's vectors hold for the other functions (a test in
    `rust/tt-sfpu/tests` computes them with Blackhole's rules) and for element-wise operations of the FPU.
    """
    steps: set[Step] = set()
    own = {path.stem for path in (folder / BLACKHOLE / "sfpu").glob("*.npz")}

    def holds(function: str, generation: int) -> bool:
        if arch is ttnn.Arch.BLACKHOLE:
            return generation == 1 or function not in own
        return generation == 0

    def note(name: str, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> None:
        if name == "unpack_tiles":
            steps.add(("unpack", CODES.get(args[1], "")))
        elif name == "eltwise_tiles":
            _, _, (format_a, format_b), (op, _), repeat, (_, wide, _) = args
            if format_a == format_b and repeat == 1:
                steps.add(("fpu", op, CODES.get(format_a, ""), "32" if wide else "16"))
        elif not holds(args[0], args[-1]):
            return
        elif name == "sfpu":
            steps.add(_sfpu(args[0], args[1], args[3]))
        else:
            steps.add(_sfpu(args[0], args[-3], args[-4]))

    with recorded(("sfpu", "sfpu_binary", "sfpu_ternary", "eltwise_tiles", "unpack_tiles"), note):
        for part in (folder, folder / BLACKHOLE):
            check_folder(part, ["sfpu/", "fpu/"], Terminal(json=True))
    return steps


def whole_operators(folder: Path) -> set[tuple[str, str]]:
    """Return the operators with whole-operator vectors, with first data type."""
    found: set[tuple[str, str]] = set()

    def note(operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any], _output: Any) -> None:
        if operation.entry is not None and operation.entry.numerics != "movement":
            tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, ttnn.Tensor)]
            if tensors:
                found.add((operation.entry.name, tensors[0].dtype.name.lower()))

    fast_runtime, ttnn.CONFIG.enable_fast_runtime_mode = ttnn.CONFIG.enable_fast_runtime_mode, False
    try:
        with ttnn.register_post_operation_hook(note):
            check_folder(folder, ["ops/"], Terminal(json=True))
    finally:
        ttnn.CONFIG.enable_fast_runtime_mode = fast_runtime
    return found


def steps_of(program: str, options: dict[str, Any], dtype: ttnn.DataType) -> list[Step]:
    """Return an engine program's functions, without type conversions."""
    wide = options.get("dst32", False)
    chains = [options.get(name) or [] for name in ("chain", "pre_a", "pre_b", "post")]
    steps = [_sfpu(function, variant, wide) for chain in chains for function, variant, *_ in chain]
    if program == "ternary":
        steps.append(_sfpu(options["op"], "default", wide))
    elif program == "binary" and options["engine"] == "sfpu":
        steps.append(_sfpu(options["op"], options.get("variant", "default"), wide))
    elif program == "binary":
        steps.append(("fpu", options["op"], dtype.name.lower(), "32" if wide else "16"))
    elif program != "unary":
        steps.append((program,))
    elif not steps:
        steps.append(("unpack", dtype.name.lower()))
    conversions = [step for step in steps if step[1:2] and step[1].startswith("typecast")]
    return [step for step in steps if step not in conversions] or conversions


def steps_of_operator(entry: registry.Op, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> list[Step]:
    """Return an operator's SFPU functions on a data type.

    With default options; none if it cannot.
    """
    layout = next(layout for other, other_dtype, layout in combinations() if other is entry and other_dtype is dtype)
    case, found = Case(entry, dtype, layout, SHAPE), []
    call = None if entry.only_on not in (None, device.arch()) else next(calls_of(case, device), None)
    if call is None:
        return []
    runner = Runner(case, call, Counter())
    with recorded(PROGRAMS, lambda name, _, options: found.extend(steps_of(name, options, dtype))):
        runner.result(INTERLEAVED, INTERLEAVED)
    return found


def covered(folder: Path, arch: ttnn.Arch) -> dict[str, list[str]]:
    """Return the covered data types of each operator on a chip.

    Vectors of whole operators are Wormhole's.
    """
    with ttnn.manage_config("arch_name", arch.name.lower()):
        return _covered(folder, arch)


def _covered(folder: Path, arch: ttnn.Arch) -> dict[str, list[str]]:
    steps = tables(folder, arch)
    operators = whole_operators(folder) if arch is ttnn.Arch.WORMHOLE_B0 else set()
    pairs = {(entry.name, dtype.name.lower()) for entry, dtype, _ in combinations() if entry.numerics != "movement"}
    # An operator and its in-place form are one program.
    found = {(name, dtype) for name, dtype in pairs if (name.removesuffix("_"), dtype) in operators}
    with ttnn.manage_device(device_id=0) as device:
        for entry, dtype, _ in combinations():
            if entry.numerics != "movement" and not entry.composition and dtype not in entry.reference:
                taken = steps_of_operator(entry, dtype, device)
                if len(taken) == 1 and taken[0] in steps:
                    found.add((entry.name, dtype.name.lower()))
    names = sorted({name for name, _ in found})
    return {name: sorted(dtype for other, dtype in found if other == name) for name in names}


def text(folder: Path) -> str:
    """Return the contents of the list."""
    parts = []
    for arch in (ttnn.Arch.WORMHOLE_B0, ttnn.Arch.BLACKHOLE):
        lines = [f"    {json.dumps(name)}: {json.dumps(dtypes)}" for name, dtypes in covered(folder, arch).items()]
        parts.append(f"  {json.dumps(arch.name.lower())}: {{\n" + ",\n".join(lines) + "\n  }")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    COVERED.write_text(text(Path(sys.argv[1])), encoding="utf-8")
