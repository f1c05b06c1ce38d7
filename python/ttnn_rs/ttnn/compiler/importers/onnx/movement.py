"""Movement of elements: shapes, parts, joins, padding."""

from __future__ import annotations

import math
from typing import Any, Final

from ttnn.compiler.importers.builder import element_of, scalar, shape_of
from ttnn.compiler.importers.builder.padding import edges
from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.builder.types import is_bool
from ttnn.compiler.importers.onnx.scope import Node, Row, Scope
from ttnn.compiler.importers.onnx.values import Value
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS", "reversed_along"]


def _same(s: Scope, a: Node) -> Any:
    del s
    return a.needed(0)


def _reshape(s: Scope, a: Node) -> Any:
    wanted = a.ints("shape", 1, 5) or []
    have = a.shape()
    if not a.attribute("allowzero", 0):
        if any(one == 0 and i >= len(have) for i, one in enumerate(wanted)):
            refuse(f"has the shape {wanted} for a tensor of {len(have)} dimensions")
        wanted = [have[i] if one == 0 else one for i, one in enumerate(wanted)]
    count, rest = math.prod(have), math.prod(one for one in wanted if one != -1)
    if -1 in wanted:
        wanted = [(count // rest if rest else 0) if one == -1 else one for one in wanted]
    if math.prod(wanted) != count:
        refuse(f"has the shape {wanted} for {count} elements")
    return s.reshape(a[0], wanted)


def _flatten(s: Scope, a: Node) -> Any:
    shape, axis = a.shape(), int(a.attribute("axis", 1))
    axis += len(shape) if axis < 0 else 0
    return s.reshape(a[0], [math.prod(shape[:axis]), math.prod(shape[axis:])])


def _squeeze(s: Scope, a: Node) -> Any:
    shape, axes = a.shape(), a.ints("axes", 1, 13)
    gone = {i for i, one in enumerate(shape) if one == 1} if axes is None else {one % len(shape) for one in axes}
    if any(shape[i] != 1 for i in gone):
        refuse(f"removes dimensions {sorted(gone)} of the shape {list(shape)}")
    return s.reshape(a[0], [one for i, one in enumerate(shape) if i not in gone])


def _unsqueeze(s: Scope, a: Node) -> Any:
    axes = a.ints("axes", 1, 13) or []
    rank = a.rank() + len(axes)
    at = {one % rank for one in axes}
    if len(at) != len(axes):
        refuse(f"has the axes {axes} twice")
    rest = iter(a.shape())
    return s.reshape(a[0], [1 if i in at else next(rest) for i in range(rank)])


def _transpose(s: Scope, a: Node) -> Any:
    order = a.attribute("perm")
    return s.permute(a[0], list(reversed(range(a.rank()))) if order is None else list(order))


def _concat(s: Scope, a: Node) -> Any:
    return s.concat(a.tensors(), a.axis(1))


def _split(s: Scope, a: Node) -> Any:
    dim, shape = a.axis(0), a.shape()
    sizes = a.ints("split", 1, 13)
    count = len(a.proto.output)
    if sizes is None:
        each = -(-shape[dim] // count)
        sizes = [max(0, min(each, shape[dim] - i * each)) for i in range(count)]
    if sum(sizes) != shape[dim]:
        refuse(f"has parts {sizes} of a dimension of {shape[dim]}")
    shapes = [[*shape[:dim], one, *shape[dim + 1 :]] for one in sizes]
    return s.split(a[0], a.dtype, shapes, dim)


def _slice(s: Scope, a: Node) -> Any:
    begins, ends = a.ints("starts", 1, 10) or [], a.ints("ends", 2, 10) or []
    axes, steps = a.ints("axes", 3, 10), a.ints("steps", 4, 10) if a.opset >= 10 else None
    axes = list(range(len(begins))) if axes is None else axes
    steps = [1] * len(begins) if steps is None else steps
    x = a[0]
    for begin, end, axis, step in zip(begins, ends, axes, steps, strict=True):
        if not step:
            refuse("has a step of 0")
        shape = shape_of(x)
        dim = axis % len(shape)
        places = range(*slice(begin, end, step).indices(shape[dim]))
        # The end of a backward slice may lie before the first element.
        if step < 0 and end < -shape[dim]:
            places = range(places.start, -1, step)
        if not len(places):
            return s.splat(0, x, a.result.shape)
        x = _places(s, x, dim, places, a)
    return x


def _places(s: Scope, x: SSAValue, dim: int, places: range, a: Node) -> SSAValue:
    """Return slices along a dimension at places of a constant distance."""
    lowest, highest, step = min(places), max(places), abs(places.step)
    shape = shape_of(x)
    begins, ends, steps = [0] * len(shape), list(shape), [1] * len(shape)
    begins[dim], ends[dim], steps[dim] = lowest, highest + 1, step
    x = s.slice(x, begins, ends, steps)
    return reversed_along(s, x, dim, a) if places.step < 0 and len(places) > 1 else x


def reversed_along(s: Scope, x: SSAValue, dim: int, a: Node) -> SSAValue:
    """Return a tensor reversed along a dimension."""
    made: SSAValue = s.aten("flip", a.dtype, self=x, dims=[dim])
    return made


def _pad(s: Scope, a: Node) -> Any:
    rank, mode = a.rank(), a.attribute("mode", "constant")
    given = a.ints("pads" if a.opset > 1 else "paddings", 1, 11) or []
    axes = a.known(3)
    axes = list(range(rank)) if axes is None else [int(one) % rank for one in axes]
    low, high = [0] * rank, [0] * rank
    for i, dim in enumerate(axes):
        low[dim], high[dim] = given[i], given[i + len(axes)]
    x = a[0]
    if mode == "constant":
        boolean = is_bool(element_of(x))
        fill = s.splat(a.attribute("value", 0.0), x, ()) if a.opset < 11 else a.optional(2)
        fill = s.splat(0, x, ()) if fill is None else s.reshape(fill, ())
        word = scalar("bf16")
        made = edges(s, s.cast(x, word) if boolean else x, s.cast(fill, word) if boolean else fill, low, high)
        return s.cast(made, element_of(x))
    words = {"edge": "replicate", "reflect": "reflect", "wrap": "circular"}
    if mode not in words:
        refuse(f"has the mode {mode}, which has no TTIR operation")
    pads = [one for i in reversed(range(rank)) for one in (low[i], high[i])]
    return s.aten("pad", a.dtype, self=x, mode=words[mode], pad=pads)


def _tile(s: Scope, a: Node) -> Any:
    counts = [int(one) for one in a.known(1)]
    shape = [size * count for size, count in zip(a.shape(), counts, strict=True)]
    return s.aten("tile", a.dtype, shape, self=a[0], dims=counts)


def _expand(s: Scope, a: Node) -> Any:
    from ttnn.compiler.importers.builder.infer import broadcast_shapes

    return s.expand(a[0], broadcast_shapes([a.shape(), [int(one) for one in a.known(1)]]))


def _depth_to_space(s: Scope, a: Node) -> Any:
    batch, channels, height, width = a.shape()
    size = int(a.attribute("blocksize"))
    if channels % (size * size):
        refuse(f"has {channels} channels for blocks of {size}")
    rest = channels // (size * size)
    if a.attribute("mode", "DCR") == "DCR":
        x = s.reshape(a[0], [batch, size, size, rest, height, width])
        x = s.permute(x, [0, 3, 4, 1, 5, 2])
    else:
        x = s.reshape(a[0], [batch, rest, size, size, height, width])
        x = s.permute(x, [0, 1, 4, 2, 5, 3])
    return s.reshape(x, [batch, rest, height * size, width * size])


def _space_to_depth(s: Scope, a: Node) -> Any:
    batch, channels, height, width = a.shape()
    size = int(a.attribute("blocksize"))
    if height % size or width % size:
        refuse(f"has images of {height} x {width} for blocks of {size}")
    x = s.reshape(a[0], [batch, channels, height // size, size, width // size, size])
    mode = a.attribute("mode", "DCR")
    if mode not in ("DCR", "CRD"):
        refuse(f"has the mode {mode}")
    x = s.permute(x, [0, 3, 5, 1, 2, 4] if mode == "DCR" else [0, 1, 3, 5, 2, 4])
    return s.reshape(x, [batch, channels * size * size, height // size, width // size])


def _trilu(s: Scope, a: Node) -> Any:
    known = a.known(1)
    diagonal = 0 if known is None else int(known.reshape(()))
    name = "triu" if a.attribute("upper", 1) else "tril"
    return s.aten(name, a.dtype, a.shape(), self=a[0], diagonal=max(-(1 << 30), min(1 << 30, diagonal)))


def _reverse_sequence(s: Scope, a: Node) -> Any:
    """Import reversals of a known number of elements of each sequence."""
    lengths = [int(one) for one in a.known(1)]
    time, batch = int(a.attribute("time_axis", 0)), int(a.attribute("batch_axis", 1))
    x = a[0]
    parts = []
    for i, length in enumerate(lengths):
        begins, ends = [0] * a.rank(), list(a.shape())
        begins[batch], ends[batch] = i, i + 1
        one = s.slice(x, begins, ends)
        low, high = [0] * a.rank(), list(shape_of(one))
        high[time] = length
        rest = list(low)
        rest[time] = length
        head = reversed_along(s, s.slice(one, low, high), time, a) if length > 1 else s.slice(one, low, high)
        if length < a.shape()[time]:
            head = s.concat([head, s.slice(one, rest, shape_of(one))], time) if length else one
        parts.append(head)
    return s.concat(parts, batch)


def _center_crop_pad(s: Scope, a: Node) -> Any:
    shape, x = a.shape(), a[0]
    axes = a.attribute("axes")
    axes = list(range(len(shape))) if axes is None else [int(one) % len(shape) for one in axes]
    low, high = [0] * len(shape), [0] * len(shape)
    for dim, wanted in zip(axes, (int(one) for one in a.known(1)), strict=True):
        more = wanted - shape[dim]
        before = more // 2 if more > 0 else -((-more) // 2)
        low[dim], high[dim] = before, more - before
    return edges(s, x, s.splat(0, x, ()), low, high)


def _eye_like(s: Scope, a: Node) -> Any:
    import numpy as np

    from ttnn.compiler.importers.onnx.types import dtype_of

    if a.rank() != 2:
        refuse(f"has a tensor of {a.rank()} dimensions")
    (rows, columns), number = a.shape(), a.attribute("dtype")
    dtype = a.dtype if number is None else dtype_of(int(number))
    del s
    return Value(dtype, known=np.eye(rows, columns, int(a.attribute("k", 0))).astype(dtype.numpy))


def _constant(s: Scope, a: Node) -> Any:
    import numpy as np

    from ttnn.compiler.importers.onnx.types import array_of, dtype_of_array

    del s
    if len(a.attributes) != 1:
        refuse(f"has {len(a.attributes)} values")
    ((name, value),) = a.attributes.items()
    if name == "value":
        array = array_of(value)
    elif name in ("value_float", "value_floats"):
        array = np.asarray(value, np.float32)
    elif name in ("value_int", "value_ints"):
        array = np.asarray(value, np.int64)
    else:
        refuse(f"has {name}, which the device does not have")
    return Value(dtype_of_array(array), known=array, name=a.proto.output[0])


def _dropout(s: Scope, a: Node) -> Any:
    import numpy as np

    from ttnn.compiler.importers.onnx.types import BOOL

    del s
    training = a.known(2) if a.opset >= 12 else None
    ratio = a.known(1) if a.opset >= 12 else a.attribute("ratio", 0.5)
    ratio = 0.5 if ratio is None else float(np.asarray(ratio))
    if training is not None and bool(training.reshape(())) and ratio:
        refuse("in training takes random numbers")
    mask_type = BOOL if a.opset >= 10 else a.dtype
    mask = np.broadcast_to(np.asarray(1, mask_type.numpy), a.shape())
    return [a.needed(0), Value(mask_type, known=mask)][: len(a.proto.output)]


ROWS: Final[dict[tuple[str, str], Row]] = {
    ("", "CenterCropPad"): _center_crop_pad,
    ("", "Concat"): _concat,
    ("", "Constant"): _constant,
    ("", "DepthToSpace"): _depth_to_space,
    ("", "Dropout"): _dropout,
    ("", "Expand"): _expand,
    ("", "EyeLike"): _eye_like,
    ("", "Flatten"): _flatten,
    ("", "Identity"): _same,
    ("", "Pad"): _pad,
    ("", "Reshape"): _reshape,
    ("", "ReverseSequence"): _reverse_sequence,
    ("", "Slice"): _slice,
    ("", "SpaceToDepth"): _space_to_depth,
    ("", "Split"): _split,
    ("", "Squeeze"): _squeeze,
    ("", "Tile"): _tile,
    ("", "Transpose"): _transpose,
    ("", "Trilu"): _trilu,
    ("", "Unsqueeze"): _unsqueeze,
    **{
        ("", name): lambda s, a: refuse("has operands that depend on data")
        for name in ("ConstantOfShape", "Range", "Shape", "Size")
    },
}
