"""Unsupported operands: our errors before the engine, nothing changed.

For every operator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

import ttnn
from testkit.signature_calls import SHAPE, Call, calls, first_dtype, tensor
from ttnn.base.exceptions import TtnnError
from ttnn.operation import registry
from ttnn.operation.signature import REQUIRED
from ttnn.runtime import engine_steps

ENTRIES = [
    entry for entry in registry.entries() if any(p.kind.text == "ttnn.Tensor" for p in entry.signatures[0].params)
]
DTYPES = [
    ttnn.bfloat16,
    ttnn.float32,
    ttnn.bfloat8_b,
    ttnn.bfloat4_b,
    ttnn.int32,
    ttnn.uint32,
    ttnn.uint16,
    ttnn.uint8,
    ttnn.int8,
]


# Made of other operators, of which a later one refuses; they are not marked so because not all of their calls are.
MADE_OF_OTHERS = {"addmm", "mac", "prelu", "transformer.attention_softmax"}
SHORT_TILE = ttnn.Tile((16, 32))
# Operators that take the properties of any tensor.
TAKE_ALL = {"full", "full_like", "moreh_arange", "ones_like", "zeros_like"}


@pytest.fixture
def entered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list of operator engine routines, from now on."""
    names: list[str] = []
    stub = {routine for entry in registry.entries() for routine in entry.engine}
    for name in sorted(stub):
        original = getattr(engine_steps, name)

        def watched(*args: Any, _name: str = name, _original: Any = original, **kwargs: Any) -> Any:
            names.append(_name)
            return _original(*args, **kwargs)

        monkeypatch.setattr(engine_steps, name, watched)
    return names


def _state(device: ttnn.MeshDevice) -> int:
    return device.engine.state_hash()


def _tensors(call: Call) -> list[str]:
    return [name for name, value in call.arguments.items() if isinstance(value, ttnn.Tensor) or _is_list(value)]


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, ttnn.Tensor) for item in value)


def _replaced(entry: registry.Op, device: ttnn.MeshDevice, other: ttnn.MeshDevice) -> Iterator[tuple[str, Call]]:
    """Yield an operator's calls, each with one faulty operand."""
    dtype = first_dtype(entry)
    for call in calls(entry, device):
        for name in _tensors(call):
            given = call.arguments[name]
            good = given[-1] if _is_list(given) else given
            shape, layout = tuple(good.shape), good.layout

            def change(value: ttnn.Tensor, call: Call = call, name: str = name) -> Call:
                given = call.arguments[name]
                changed = [*given[:-1], value] if _is_list(given) else value
                return Call(call.entry, call.signature, call.arguments | {name: changed})

            for wrong in DTYPES:
                if wrong is not dtype and not (
                    wrong in (ttnn.bfloat8_b, ttnn.bfloat4_b) and layout is ttnn.ROW_MAJOR_LAYOUT
                ):
                    yield f"{name} {wrong.name}", change(tensor(device, wrong, 1, shape, layout))
            swapped = ttnn.ROW_MAJOR_LAYOUT if layout is ttnn.TILE_LAYOUT else ttnn.TILE_LAYOUT
            yield f"{name} {swapped.name}", change(tensor(device, dtype, 1, shape, swapped))
            for rank, dims in ((0, ()), (1, (128,)), (2, (64, 128)), (6, (1, 1, *SHAPE)), (6, (2, 2, *SHAPE))):
                yield f"{name} rank {rank}: {dims}", change(tensor(device, dtype, 1, dims, layout))
            yield f"{name} height", change(tensor(device, dtype, 1, (1, 1, 96, 128), layout))
            if layout is ttnn.TILE_LAYOUT:
                yield f"{name} in tiles of 16x32", change(tensor(device, dtype, 1, shape, tile=SHORT_TILE))
            yield f"{name} on the host", change(good.cpu())
            yield f"{name} elsewhere", change(tensor(other, dtype, 1, shape, layout))
            gone = tensor(device, dtype, 1, shape, layout)
            gone.deallocate()
            yield f"{name} deallocated", change(gone)


def _shards(cores: tuple[int, int], shape: tuple[int, int], buffer: ttnn.BufferType) -> ttnn.MemoryConfig:
    grid = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (cores[0] - 1, cores[1] - 1))])
    shards = ttnn.ShardSpec(grid, shape, ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.BLOCK_SHARDED, buffer, shards)


# No cores, too few, cores that the device does not have, shards that are no tiles, more shards than banks.
WRONG_PLACES = {
    "without cores": ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG,
    "too small": _shards((1, 1), (32, 32), ttnn.BufferType.L1),
    "beyond the grid": _shards((9, 1), (64, 32), ttnn.BufferType.L1),
    "no tiles": _shards((2, 2), (33, 65), ttnn.BufferType.L1),
    "beyond the banks": _shards((2, 2), (32, 64), ttnn.BufferType.DRAM),
}


def _with_wrong_places(entry: registry.Op, device: ttnn.MeshDevice) -> Iterator[tuple[str, Call]]:
    """Yield an operator's calls with impossible result memory configs."""
    for call in calls(entry, device):
        for param in call.signature.params:
            if param.kind.text == "ttnn.MemoryConfig":
                for what, place in WRONG_PLACES.items():
                    yield f"{param.name} {what}", Call(call.entry, call.signature, call.arguments | {param.name: place})


OUTPUTS = {*registry.OUTPUT_TENSOR_NAMES, *registry.GRADIENT_NAMES}


def _with_wrong_outputs(entry: registry.Op, device: ttnn.MeshDevice) -> Iterator[tuple[str, Call]]:
    """Yield an operator's calls with a wrong output tensor.

    It has other elements or tiles.
    """
    for call in calls(entry, device):
        wanted = [p.name for p in call.signature.params if p.name in OUTPUTS and p.kind.text == "ttnn.Tensor"]
        result = _result(call) if wanted else None
        for name in wanted if result is not None else ():
            shape, layout = tuple(result.shape), result.layout
            for dtype in (ttnn.float32, ttnn.bfloat16, ttnn.int32):
                given = tensor(device, dtype, 1, shape, layout)
                yield f"{name} {dtype.name}", Call(call.entry, call.signature, call.arguments | {name: given})
            if layout is ttnn.TILE_LAYOUT:
                given = tensor(device, result.dtype, 1, shape, tile=SHORT_TILE)
                yield f"{name} in tiles of 16x32", Call(call.entry, call.signature, call.arguments | {name: given})


def _result(call: Call) -> ttnn.Tensor | None:
    """Return a call's first tensor, if one is returned.

    And if it does not raise for missing options.
    """
    try:
        found = call()
    except TtnnError:
        return None
    while isinstance(found, list | tuple) and found:
        found = next((item for item in found if item is not None), None)
    return found if isinstance(found, ttnn.Tensor) else None


def _documented(entry: registry.Op, error: TtnnError) -> bool:
    """Return True if an operator documents this error class.

    The first three can be raised by all.
    """
    general = ("ArgumentError", "StorageError", "UnsupportedError")
    return type(error).__name__ in {*general, *(name for name, _ in entry.raises)}


REFUSER = re.compile(r"(?:ttnn|Tensor)(?:\.\w+)+(?=: | takes )")


def _complaint(entry: registry.Op, error: TtnnError) -> str:
    """Return what is wrong with an error's text.

    Besides its class: other names, or a list that contradicts it.
    """
    text = str(error).partition("\ninfo:\n")[0]
    name = f"ttnn.{entry.name}"
    others = sorted(set(REFUSER.findall(text)) - {name})
    if others:
        return f"names {', '.join(others)}"
    if not isinstance(error, ttnn.ArgumentError) and not text.startswith(f"{name}: "):
        return "does not begin with the operator"
    if isinstance(error, ttnn.DTypeError):
        refused = error.sentence.partition(";")[0]
        named = {dtype for dtype in DTYPES if re.search(rf"\b{dtype.name}\b", refused)}
        listed = registry.supported(name) in text
        if named and listed is (named <= set(entry.dtypes)):
            return "refuses what it lists" if listed else "does not list what is taken"
    return ""


def _attempt(call: Call) -> TtnnError | None:
    """Return the error of a call, if it has one."""
    try:
        call()
    except TtnnError as error:
        # What the traceback holds would keep buffers alive.
        return error.with_traceback(None)
    return None


@pytest.fixture(scope="module")
def other() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=1)
    yield opened
    ttnn.close_device(opened)


@pytest.mark.filterwarnings("ignore:.*ignores the others")
@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_wrong_operands(
    entry: registry.Op, device: ttnn.MeshDevice, other: ttnn.MeshDevice, entered: list[str]
) -> None:
    refused = 0
    for what, call in _replaced(entry, device, other):
        before = _state(device)
        entered.clear()
        error = _attempt(call)
        if error is None:
            continue
        refused += 1
        assert _documented(entry, error), f"{entry.name}, {what}: {error!r}"
        assert not _complaint(entry, error), f"{entry.name}, {what}: {_complaint(entry, error)}: {error!r}"
        if not entry.composition and entry.family != "backward" and entry.name not in MADE_OF_OTHERS:
            assert entered == [], f"{entry.name}, {what}: the engine was entered"
        assert _state(device) == before, f"{entry.name}, {what}: the device changed"
    assert refused or entry.name in TAKE_ALL


PLACED = [
    entry
    for entry in registry.entries()
    if any(param.kind.text == "ttnn.MemoryConfig" for signature in entry.signatures for param in signature.params)
]


@pytest.mark.parametrize("entry", PLACED, ids=str)
def test_wrong_placements_raise(entry: registry.Op, device: ttnn.MeshDevice) -> None:
    """Results without possible pages: our error, device unchanged."""
    for what, call in _with_wrong_places(entry, device):
        before = _state(device)
        error = _attempt(call)
        if error is None:
            continue
        assert isinstance(error, ttnn.MemoryConfigError) or _documented(entry, error), f"{what}: {error!r}"
        assert not _complaint(entry, error), f"{what}: {_complaint(entry, error)}: {error!r}"
        assert _state(device) == before, f"{what}: the device changed"


GIVEN_OUTPUTS = [
    entry
    for entry in registry.entries()
    if any(
        param.name in OUTPUTS and param.kind.text == "ttnn.Tensor"
        for signature in entry.signatures
        for param in signature.params
    )
]


@pytest.mark.parametrize("entry", GIVEN_OUTPUTS, ids=str)
def test_wrong_outputs(entry: registry.Op, device: ttnn.MeshDevice) -> None:
    """A tensor that cannot be the output is refused.

    The engine is not asked for what it cannot do.
    """
    for what, call in _with_wrong_outputs(entry, device):
        error = _attempt(call)
        assert error is None or _documented(entry, error), f"{entry.name}, {what}: {error!r}"
        complaint = "" if error is None else _complaint(entry, error)
        assert not complaint, f"{entry.name}, {what}: {complaint}: {error!r}"


def _optional(entry: registry.Op) -> set[str]:
    params = [param for signature in entry.signatures for param in signature.params]
    tensors = {param.name for param in params if param.kind.text == "ttnn.Tensor" and param.default is not REQUIRED}
    return tensors - OUTPUTS


@pytest.mark.parametrize("entry", [entry for entry in registry.entries() if _optional(entry)], ids=str)
def test_optional_tensors_in_other_tiles(entry: registry.Op, device: ttnn.MeshDevice) -> None:
    for call in calls(entry, device):
        first = next((value for value in call.arguments.values() if isinstance(value, ttnn.Tensor)), None)
        if first is None:
            continue
        shape, names = tuple(first.shape), {param.name for param in call.signature.params} & _optional(entry)
        for name in sorted(names - set(call.arguments)):
            for dims in (shape, shape[-1:], (1, 1, 1, 64)):
                given = tensor(device, ttnn.bfloat16, 1, dims, tile=SHORT_TILE)
                error = _attempt(Call(call.entry, call.signature, call.arguments | {name: given}))
                assert error is None or _documented(entry, error), f"{entry.name}, {name} {dims}: {error!r}"
                complaint = "" if error is None else _complaint(entry, error)
                assert not complaint, f"{entry.name}, {name} {dims}: {complaint}: {error!r}"
