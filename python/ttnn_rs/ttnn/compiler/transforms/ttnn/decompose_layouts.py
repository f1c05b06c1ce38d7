"""`ttnn-decompose-layouts`: layout changes as single-property calls.

Changes of layout, data type and place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ttnn.compiler.dialects.attributes import TTNNLayoutAttr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.features import HOST_DTYPES, HOST_LAYOUTS
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import SSAValue, TensorType
from ttnn.compiler.transforms.base import fail, replace, set_type, table_ops
from ttnn.compiler.transforms.ttnn.build import Build
from ttnn.compiler.transforms.ttnn.layout.layouts import layout_of, with_layout
from ttnn.compiler.transforms.ttnn.layout.types import HOST, SHARDED, is_block_format, layout_from, on_host, retyped

__all__ = ["run"]

_REDUNDANT: Final = (
    "Redundant ttnn::ToLayoutOp - no ttnn layout ops needed, this may be due to the forcing of tile/row major layouts."
)


def run(module: Module) -> None:
    """Decompose all changes of layout.

    Raises:
        CompileError: One of them changes nothing, or a tensor has no layout.
    """
    for op in table_ops(module.op, "ttnn.to_tensor_spec"):
        before, after = layout_of(op.inputs[0].type), layout_of(op.results[0].type)
        if before is None or after is None:
            raise fail(module, op, "operand and result need layouts: run ttnn-layout before ttnn-decompose-layouts")
        steps = _Steps(module, op, before, after)
        if not steps.any:
            raise fail(module, op, _REDUNDANT)
        made = _on_host(steps) if HOST_LAYOUTS.of(module.version) else _on_device(steps)
        # What the program says of the result stays: integers without a sign, or another map of indices.
        set_type(made, op.results[0].type)
        replace(op, [made])


class _Steps:
    """Single changes between two layouts, before an operation.

    They are made one after the other.

    Attributes:
        value: What was made last.
        before: Layout of the operand.
        after: Layout of the result.
        layout: Whether tiles become rows or rows tiles.
        cast: Whether the data type changes.
        move: Whether the place changes.
    """

    def __init__(self, module: Module, op: TableOp, before: TTNNLayoutAttr, after: TTNNLayoutAttr) -> None:
        self.build = Build(module, op)
        self.op = op
        self.value: SSAValue = op.inputs[0]
        self.before, self.after = before, after
        self.layout = before.tiled != after.tiled
        self.cast = before.dtype != after.dtype
        self.move = _moves(before, after)

    @property
    def any(self) -> bool:
        """Return True if anything changes."""
        return self.layout or self.cast or self.move

    @property
    def now(self) -> TTNNLayoutAttr:
        """Layout of what was made last."""
        layout = layout_of(self.value.type)
        assert layout is not None
        return layout

    def _placed(self) -> TensorType[Any]:
        """The type of what was made last, where the result lies."""
        after = self.after
        memory = HOST if on_host(after) else after.mem_layout
        type_ = self.value.type
        assert isinstance(type_, TensorType)
        layout = layout_from(
            self.now, shape_of(self.value), space=after.space, memory=memory, grid=after.grid.shape, reshaped=False
        )
        rest = after.rest
        placed = TTNNLayoutAttr(layout.linear, after.grid, layout.memref, layout.mem_layout, rest)
        return with_layout(type_, after if _equal(placed, after) else placed)

    def to_device(self) -> None:
        """Move the tensor to the device of the result."""
        self.value = self.build.value("to_device", [self.value, self.build.device], self._placed())

    def from_device(self) -> None:
        """Move the tensor to the host."""
        self.value = self.build.value("from_device", [self.value], retyped(self.value.type, space="system_memory"))

    def memory(self) -> None:
        """Move it on the device to where the result lies."""
        type_ = self._placed()
        if type_ != self.value.type:
            self.value = self.build.value("to_memory_config", [self.value], type_)

    def to_layout(self, *, dtype: bool = False) -> None:
        """Make tiles or rows, optionally in the result's data type."""
        word = self.after.dtype if dtype else None
        made = self.build.op("to_layout", [self.value], [retyped(self.value.type, tiled=self.after.tiled, dtype=word)])
        # Data type and place stay: the attributes that would name them are left out.
        made.stated = frozenset(["layout"])
        self.value = made.results[0]

    def typecast(self) -> None:
        """Convert the tensor to the data type of the result."""
        name = "to_dtype" if HOST_DTYPES.of(self.build.version) and on_host(self.now) else "typecast"
        self.value = self.build.value(name, [self.value], retyped(self.value.type, dtype=self.after.dtype))

    def run(self, words: str) -> SSAValue:
        """Make the named changes that are needed.

        `!` after a name makes it in any case.
        """
        needed: dict[str, tuple[bool, Callable[[], None]]] = {
            "layout": (self.layout, self.to_layout),
            "cast": (self.cast, self.typecast),
            "device": (on_host(self.before) and not on_host(self.after), self.to_device),
            "host": (not on_host(self.before) and on_host(self.after), self.from_device),
            "memory": (not on_host(self.before) and not on_host(self.after) and self.move, self.memory),
        }
        for word in words.split():
            wanted, make = needed[word.rstrip("!")]
            if wanted or word.endswith("!"):
                make()
        return self.value


def _equal(first: TTNNLayoutAttr, second: TTNNLayoutAttr) -> bool:
    return first.memref == second.memref and first.mem_layout == second.mem_layout and first.linear == second.linear


def _moves(before: TTNNLayoutAttr, after: TTNNLayoutAttr) -> bool:
    if before.space != after.space:
        return True
    if on_host(before):
        return False
    if before.mem_layout != after.mem_layout:
        return True
    sharded = before.mem_layout in SHARDED and after.mem_layout in SHARDED
    return sharded and (before.grid.shape, before.rest) != (after.grid.shape, after.rest)


# Version 2025-10: tiles are made and undone on the device for bfloat16 only, data types change there in tiles only.


def _on_host(steps: _Steps) -> SSAValue:
    before, after = steps.before, steps.after
    host, stays = on_host(before), not on_host(after)
    first, last = before.dtype == "bf16", after.dtype == "bf16"
    if host:
        return steps.run(_from_host(steps, first=first, last=last, stays=not stays))
    if steps.layout and steps.cast:
        if not after.tiled:
            if last:
                return steps.run("cast layout memory host")
            return steps.run("cast host! layout device! memory" if stays else "cast host layout")
        if first:
            return steps.run("layout cast memory host")
        return steps.run("host! layout device! cast memory" if stays else "host layout cast")
    if steps.layout:
        if first:
            return steps.run("layout memory host")
        return steps.run("host! layout device! memory" if stays else "host layout")
    if steps.cast:
        if after.tiled:
            return steps.run("cast memory host")
        return steps.run("host! cast device! memory" if stays else "host cast")
    return steps.run("memory host")


def _from_host(steps: _Steps, *, first: bool, last: bool, stays: bool) -> str:
    """Return a host tensor's changes, staying there or not."""
    tiles = steps.after.tiled
    if stays:
        return "cast layout"
    if steps.layout and steps.cast:
        if tiles and first:
            return "device layout cast"
        if last:
            return "cast device layout" if tiles else "device cast layout"
        return "cast layout device"
    if steps.layout:
        return "device layout" if last else "layout device"
    return "device cast" if tiles else "cast device"


# Version 2026-08: the device changes layouts of most data types.

_ON_DEVICE: Final = frozenset({"bf16", "f32", "u32", "u16", "si32"})
_HOISTED: Final = "ttir.cpu_hoist_call"


def _on_device(steps: _Steps) -> SSAValue:
    before, after = steps.before, steps.after
    host_only = steps.layout and not {before.dtype, after.dtype} & _ON_DEVICE
    casts_on_device = not on_host(before) if before.tiled else not on_host(after)
    both = on_host(before) and on_host(after)
    if both or _hoisted(steps.op) or (host_only and not casts_on_device):
        steps.run("" if on_host(before) else "host!")
        _layout_and_type(steps, device=False)
        return steps.run("" if on_host(after) else "device!")
    if host_only:
        if before.tiled:
            return steps.run("cast host! layout" + ("" if on_host(after) else " device!"))
        return steps.run(("" if on_host(before) else "host! ") + "layout device! cast")
    if _changes_before_move(steps):
        _layout_and_type(steps, device=True)
        if _moves(steps.now, after):
            _move(steps)
        return steps.value
    _move(steps)
    _layout_and_type(steps, device=True)
    return steps.value


def _hoisted(op: TableOp) -> bool:
    """Return whether a tensor belongs to a host function.

    It comes from or goes to one.
    """
    calls = [op.inputs[0].owner]
    uses = list(op.results[0].uses)
    if len(uses) == 1:
        calls.append(uses[0].operation)
    return any(getattr(one, "name", "") == "func.call" and _HOISTED in one.attributes for one in calls)  # type: ignore[union-attr]


def _move(steps: _Steps) -> None:
    here, there = on_host(steps.now), on_host(steps.after)
    if here and not there:
        steps.to_device()
    elif there and not here:
        steps.from_device()
    elif not here:
        steps.memory()


def _changes_before_move(steps: _Steps) -> bool:
    before, after = steps.before, steps.after
    if on_host(before) or on_host(after):
        return not on_host(before)
    if not steps.layout or after.tiled:
        return True
    in_shards = before.space == "l1" and before.mem_layout in SHARDED
    return not (in_shards or (before.space, after.space) == ("l1", "dram"))


def _layout_and_type(steps: _Steps, *, device: bool) -> None:
    before, after = steps.before, steps.after
    pads = device and steps.layout and after.tiled and _uneven_shards(steps)
    if steps.layout and not steps.cast:
        _layout(steps, pads=pads)
    elif steps.cast and not steps.layout:
        steps.typecast()
    elif steps.layout and not device:
        steps.typecast()
        _layout(steps, pads=pads)
    elif steps.layout:
        if after.tiled and _float(before.dtype) and _float(after.dtype) and not pads:
            steps.to_layout(dtype=True)
            return
        cast_first = after.dtype in _ON_DEVICE if before.tiled else before.dtype not in _ON_DEVICE
        if cast_first:
            steps.typecast()
            _layout(steps, pads=pads)
        else:
            _layout(steps, pads=pads)
            steps.typecast()


def _float(word: str) -> bool:
    return word in ("f32", "f16", "bf16") or is_block_format(word)


def _uneven_shards(steps: _Steps) -> bool:
    shape, layout = shape_of(steps.value), steps.now
    in_shards = layout.space == "l1" and layout.mem_layout == "height_sharded"
    return in_shards and len(shape) > 1 and any(size % 32 for size in shape[-2:])


def _layout(steps: _Steps, *, pads: bool) -> None:
    """Change the layout, padding partial-tile shards in DRAM.

    They are padded first, and the padding is cut off.
    """
    if not pads:
        steps.to_layout()
        return
    build, shape = steps.build, shape_of(steps.value)
    plain = retyped(steps.value.type, space="dram", memory="interleaved", grid=(1, 1))
    value = build.value("to_memory_config", [steps.value], plain)
    padding = [0] * (2 * len(shape))
    for dim in (-2, -1):
        padding[2 * (len(shape) + dim) + 1] = -shape[dim] % 32
    value = build.pad(value, padding, multicore=True)
    value = build.value("to_layout", [value], retyped(value.type, tiled=True))
    steps.value = build.slice(value, (0,) * len(shape), shape)
