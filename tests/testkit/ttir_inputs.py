"""Non-random inputs: indices, positions, pages, slice ends, truth values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from testkit.ttir_selection import quantization_parameters
from ttnn.compiler.dialects import TableOp
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import IntegerType, Signedness
from ttnn.compiler.transforms.ttir.cache_positions import cache_positions
from ttnn.compiler.transforms.ttir.constants import splat_of

Array = NDArray[Any]
Generator: TypeAlias = np.random.Generator
#: What makes the values of an operand, from the operation, the shape and a generator.
Maker: TypeAlias = Callable[[TableOp, tuple[int, ...], Generator], Array | None]


def _size(op: TableOp, group: str) -> tuple[int, ...]:
    value = op.operand(group)
    assert value is not None
    return tuple(value.type.get_shape())  # type: ignore[attr-defined]


def _below(group: str, axis: int | None = None) -> Maker:
    """Indices along an operand's dimension, by default that of `dim`.

    They are below 256, as the stack brings some indices to bfloat16.
    """

    def make(op: TableOp, shape: tuple[int, ...], generator: Generator) -> Array:
        sizes = _size(op, group)
        return generator.integers(0, min(sizes[op.get("dim") if axis is None else axis], 256), shape)

    return make


def _permuted(op: TableOp, shape: tuple[int, ...], generator: Generator) -> Array:
    """Distinct indices along `dim`.

    Where two elements of a scatter meet, the order is unspecified.
    """
    dim, size = op.get("dim"), _size(op, "input")[op.get("dim")]
    if 0 in shape:
        return np.zeros(shape)
    lines = int(np.prod(shape)) // shape[dim]
    found = np.stack([generator.permutation(size)[: shape[dim]] for _ in range(lines)])
    moved = [extent for axis, extent in enumerate(shape) if axis != dim % len(shape)]
    return np.moveaxis(found.reshape(*moved, shape[dim]), -1, dim)


def _windows(op: TableOp, shape: tuple[int, ...], generator: Generator) -> Array:
    """Distinct window corners of a scatter, inside the operand."""
    operand, update = _size(op, "input"), _size(op, "update")
    inserted = {*op.get("inserted_window_dims"), *op.get("input_batching_dims")}
    sizes = iter(update[dim] for dim in op.get("update_window_dims"))
    window = [1 if dim in inserted else next(sizes) for dim in range(len(operand))]
    room = [operand[dim] - window[dim] + 1 for dim in op.get("scatter_dims_to_operand_dims")]
    axis = op.get("index_vector_dim")
    others = [extent for dim, extent in enumerate(shape) if dim != axis]
    places = generator.permutation(int(np.prod(room)))[: int(np.prod(others))]
    corners = np.stack(np.unravel_index(places, room), axis=-1).reshape(*others, len(room))
    return np.moveaxis(corners, -1, axis) if axis < len(shape) else corners[..., 0]


def _corners(op: TableOp, shape: tuple[int, ...], generator: Generator) -> Array:
    """Slice corners of a 2025-10 gather, inside the operand."""
    sizes, slices, axis = _size(op, "input"), op.get("slice_sizes"), op.get("index_vector_dim")
    rooms = [sizes[dim] - slices[dim] + 1 for dim in op.get("start_index_map")]
    if axis == len(shape):
        return generator.integers(0, rooms[0], shape)
    others = [extent for dim, extent in enumerate(shape) if dim != axis]
    return np.stack([generator.integers(0, room, others) for room in rooms], axis=axis)


def _begin(op: TableOp, shape: tuple[int, ...], generator: Generator) -> Array:
    return np.array(_room(op)) // 2


def _end(op: TableOp, shape: tuple[int, ...], generator: Generator) -> Array:
    result = op.results[0].type.get_shape()  # type: ignore[attr-defined]
    steps = op.get("step") or (1,) * len(result)
    ends = [first // 2 + (size - 1) * step + 1 for first, size, step in zip(_room(op), result, steps, strict=True)]
    return np.array(ends)


def _room(op: TableOp) -> list[int]:
    """Return the range of a slice's start in each dimension."""
    result = op.results[0].type.get_shape()  # type: ignore[attr-defined]
    steps = op.get("step") or (1,) * len(result)
    sizes = _size(op, "input")
    return [size - (out - 1) * step - 1 for size, out, step in zip(sizes, result, steps, strict=True)]


def _pages(op: TableOp, shape: tuple[int, ...], generator: Generator) -> Array:
    """Pages of a cache, none of them twice."""
    cache = _size(op, "cache" if any(group.name == "cache" for group in op.spec.operands) else "key")
    count = int(np.prod(shape))
    pages = generator.permutation(cache[0])
    return np.resize(pages, count).reshape(shape)


def _position(op: TableOp, shape: tuple[int, ...], generator: Generator) -> Array:
    """Places in what the pages of a user hold."""
    groups = {group.name for group in op.spec.operands}
    cache = _size(op, "cache" if "cache" in groups else "key")
    length = cache[2]
    if "page_table" in groups and op.operand("page_table") is not None:
        # A table may have more pages than there are.
        length *= min(_size(op, "page_table")[1], cache[0])
    return generator.integers(0, length, shape)


def _length(op: TableOp, shape: tuple[int, ...], generator: Generator) -> Array:
    """Cache length.

    The caches of a program advance together, which a pass assumes.
    """
    return np.full(shape, _size(op, "cache")[2] // 2 + 1)


#: Behind the largest number of bfloat16.
_ABOVE: Final = 0x7F80


def _chunk(op: TableOp, shape: tuple[int, ...], generator: Generator) -> Array:
    """Return a query chunk's first position, at a tile.

    The user's pages follow it.
    """
    rows = _size(op, "page_table")[1] * _size(op, "key")[2] - _size(op, "query")[2]
    return np.full(shape, max(rows, 0) // 64 * 32)


def _distinct(op: TableOp, shape: tuple[int, ...], generator: Generator) -> Array:
    """Distinct bfloat16 numbers per line.

    The order of equal ones is unspecified.

    In lines that are longer than there are numbers the others are zero: the largest and smallest differ.
    """
    dim = op.get("dim") if "dim" in op.spec.attributes else -1
    return _distinct_lines(op, shape, generator, dim)


def _distinct_pixels(op: TableOp, shape: tuple[int, ...], generator: Generator) -> Array:
    """The same for image planes [N, H, W, C].

    Which of equal pixels is the largest is unspecified.
    """
    made = _distinct_lines(op, (shape[0], shape[1] * shape[2], shape[3]), generator, 1)
    return made.reshape(shape)


def _distinct_lines(op: TableOp, shape: tuple[int, ...], generator: Generator, dim: int) -> Array:
    lines = int(np.prod(shape)) // shape[dim]
    order = np.stack([generator.permutation(shape[dim]) for _ in range(lines)]).astype(np.uint32)
    if isinstance(op.inputs[0].type.element_type, IntegerType):  # type: ignore[attr-defined]
        values: Array = order
    else:
        # The numbers from 1 upwards and the negative ones; in longer lines the other normal numbers, too.
        first = 0x3F80 if shape[dim] <= 2 * (_ABOVE - 0x3F80) else 0x0080
        sign, place = np.divmod(order, _ABOVE - first)
        bits = np.where(sign < 2, sign * 0x8000 + first + place, 0)
        values = (bits << 16).astype(np.uint32).view(np.float32)
    moved = [extent for axis, extent in enumerate(shape) if axis != dim % len(shape)]
    return np.moveaxis(values.reshape(*moved, shape[dim]), -1, dim)


def _byte(op: TableOp, shape: tuple[int, ...], generator: Generator) -> Array:
    """Quantized values: the chip's kernels keep those of 8 bits."""
    return generator.integers(-100, 101, shape)


def _requantized(op: TableOp, shape: tuple[int, ...], generator: Generator) -> Array:
    """Quantized values that keep 8 bits under the other scale.

    The kernel saturates.
    """
    given, made = (value.type.element_type for value in (op.inputs[0], op.results[0]))  # type: ignore[attr-defined]
    (before, first), (after, zero) = (
        quantization_parameters(attribute_text(kind), len(shape)) for kind in (given, made)
    )
    wanted = generator.integers(-100, 101, shape)
    return np.clip(np.round((wanted - zero) * after / before + first), -100, 100)


def _whole_range(op: TableOp, shape: tuple[int, ...], generator: Generator) -> Array | None:
    """Full-range integers, which are moved and not computed with."""
    kind = op.inputs[0].type.element_type  # type: ignore[attr-defined]
    if not isinstance(kind, IntegerType):
        return None
    half = 1 << (kind.width.data - 1)
    low = 0 if kind.signedness.data is Signedness.UNSIGNED else -half
    return generator.integers(low, low + 2 * half, shape)


def _representable(op: TableOp, shape: tuple[int, ...], generator: Generator) -> Array | None:
    """Numbers of the narrower result type.

    What becomes of others is unspecified.
    """
    source, result = (value.type.element_type for value in (op.inputs[0], op.results[0]))  # type: ignore[attr-defined]
    if not isinstance(result, IntegerType):
        return None
    if not isinstance(source, IntegerType):
        return generator.integers(0, 100, shape)
    return generator.integers(0, 1 << min(source.width.data - 1, result.width.data - 1, 20), shape)


def _summable(op: TableOp, shape: tuple[int, ...], generator: Generator) -> Array | None:
    """Integers whose sums stay in their type; floats stay random."""
    element = op.inputs[0].type.element_type  # type: ignore[attr-defined]
    return generator.integers(0, 101, shape) if isinstance(element, IntegerType) else None


def _multipliable(op: TableOp, shape: tuple[int, ...], generator: Generator) -> Array | None:
    """Integers whose products stay in their type; floats stay random."""
    element = op.inputs[0].type.element_type  # type: ignore[attr-defined]
    return generator.integers(1, 3, shape) if isinstance(element, IntegerType) else None


def _mask(op: TableOp, shape: tuple[int, ...], generator: Generator) -> Array:
    """Masked scores: zero for visible keys, else not.

    The chip multiplies also the mask with the scale.
    """
    hidden = generator.integers(0, 4, shape) == 0
    hidden[..., 0] = False
    return np.where(hidden, -(2.0**30), 0.0)


def _is_truth(value: Any) -> bool:
    kind = value.type.element_type
    return isinstance(kind, IntegerType) and kind.width.data == 1


def _truth(*, decided_by: bool) -> Maker:
    """Truth values decided in half of a reduction's lines."""

    def make(op: TableOp, shape: tuple[int, ...], generator: Generator) -> Array:
        dims = op.get("dim_arg")
        count = int(np.prod([shape[dim] for dim in (range(len(shape)) if dims is None else dims)]))
        others = generator.random(shape) < 0.5 ** (1 / count)
        return np.where(others, not decided_by, decided_by).astype(np.int64)

    return make


def _first(op: TableOp, shape: tuple[int, ...], generator: Generator) -> Array:
    return np.zeros(shape)


def _one(op: TableOp, shape: tuple[int, ...], generator: Generator) -> Array:
    return np.ones(shape)


def _chosen_half(op: TableOp, shape: tuple[int, ...], generator: Generator) -> Array:
    return generator.integers(0, 2, shape)


def _variance(op: TableOp, shape: tuple[int, ...], generator: Generator) -> Array:
    return generator.uniform(0.5, 2.0, shape)


_MAKERS: Final[dict[str, dict[str, Maker]]] = {
    "batch_norm_inference": {"variance": _variance, "running_var": _variance},
    "batch_norm_training": {"running_variance": _variance, "running_var": _variance},
    "chunked_scaled_dot_product_attention": {"page_table": _pages, "chunk_start_idx": _chunk},
    "embedding": {"input": _below("weight", 0)},
    "flash_mla_prefill": {"attention_mask": _mask},
    "embedding_backward": {"input": _below("weight", -2)},
    "embedding_bw": {"input": _below("weight", -2)},
    "gather": {"index": _below("input"), "start_indices": _corners},
    "paged_fill_cache": {"page_table": _pages, "batch_idx_tensor": _first},
    "paged_flash_multi_latent_attention_decode": {
        "page_table": _pages,
        "cur_pos_tensor": _position,
        "attention_mask": _mask,
    },
    "paged_scaled_dot_product_attention_decode": {
        "page_table": _pages,
        "cur_pos_tensor": _position,
        "attention_mask": _mask,
    },
    "paged_update_cache": {"page_table": _pages, "update_index": _position},
    "dequantize": {"input": _byte},
    "dequantize_unrolled": {"input": _byte},
    "max_pool2d_with_indices": {"input": _distinct_pixels},
    "pad": {"input": _summable},
    "pooling": {"inputs": _summable},
    "prod": {"input": _multipliable},
    "reduce_and": {"input": _truth(decided_by=False)},
    "reduce_or": {"input": _truth(decided_by=True)},
    "requantize": {"input": _requantized},
    # What is drawn from more than one score is random.
    "sampling": {"input_values": _distinct, "k": _one},
    "reverse": {"input": _whole_range},
    "scaled_dot_product_attention": {"attention_mask": _mask},
    "scaled_dot_product_attention_decode": {"cur_pos_tensor": _position, "attention_mask": _mask},
    "scatter": {"index": _permuted, "scatter_indices": _windows},
    "scatter_in_dim": {"index": _permuted},
    "slice_dynamic": {"begins": _begin, "ends": _end},
    "sort": {"input": _distinct},
    "sum": {"input": _summable},
    "sparse_matmul": {"sparsity": _chosen_half},
    "topk": {"input_tensor": _distinct},
    "to_dtype": {"input": _representable},
    "to_layout": {"input": _representable},
    "to_tensor_spec": {"input": _representable},
    "typecast": {"input": _representable},
    "update_cache": {"update_index": _length},
}


def _source(value: Any, through: tuple[str, ...]) -> Any:
    """Source value of the same numbers.

    They have another shape, type or order there.
    """
    while isinstance(value.owner, TableOp) and value.owner.name.partition(".")[2] in through:
        value = value.owner.inputs[0]
    return value


_CARRY: Final = (
    "from_device", "reshape", "squeeze", "to_device", "to_layout", "to_memory_config", "to_tensor_spec", "typecast",
    "unsqueeze",
)  # fmt: skip
_MOVE: Final = (*_CARRY, "permute", "transpose")


def _strides(value: Any) -> tuple[Any, dict[int, int]] | None:
    """Coordinates whose elements add up to a value.

    They are in the last dimension of a tensor; each has a unit.

    None if it is no such sum.
    """
    tensor: Any = None
    found: dict[int, int] = {}

    def visit(value: Any, stride: int) -> bool:
        nonlocal tensor
        op = _source(value, _CARRY).owner
        name = op.name.removeprefix("ttir.") if isinstance(op, TableOp) else ""
        if name == "add":
            return all(visit(one, stride) for one in op.inputs)
        if name == "multiply":
            factor = splat_of(op.inputs[1])
            return factor is not None and visit(op.inputs[0], stride * int(factor))
        if name != "slice_static" or tensor not in (None, op.inputs[0]):
            return False
        tensor, column = op.inputs[0], op.get("begins")[-1]
        found[column] = stride
        return bool(op.get("ends")[-1] == column + 1)

    return (tensor, found) if visit(value, 1) and sorted(found) == list(range(_last(tensor))) else None


def _last(value: Any) -> int:
    return int(value.type.get_shape()[-1])


def _coordinates(shape: tuple[int, ...], strides: dict[int, int], positions: Array) -> Array:
    """The coordinates in the last dimension whose sums are these positions."""
    found = np.zeros(shape)
    for column, stride in sorted(strides.items(), key=lambda one: -one[1]):
        found[..., column], positions = (positions // stride).reshape(shape[:-1]), positions % stride
    return found


def truths(function: Any) -> list[bool]:
    """Return True per result with `reduce_or` truth values.

    Any nonzero value is true there.
    """
    end = function.body.blocks[0].last_op
    sources = [_source(value, _MOVE).owner for value in end.operands]
    return [isinstance(op, TableOp) and op.name == "ttir.reduce_or" for op in sources]


def chosen(module: Module) -> dict[tuple[str, int], Array]:
    """Return non-random argument values, by function and number."""
    found: dict[tuple[str, int], Array] = {}
    for function in module.functions():
        if not function.body.blocks:
            continue
        block = function.body.blocks[0]
        places = {argument: index for index, argument in enumerate(block.args)}
        for argument, place in places.items():
            if _is_truth(argument):
                # Random numbers would all be true.
                made = np.random.default_rng(place).integers(0, 2, argument.type.get_shape())  # type: ignore[attr-defined]
                found[function.sym_name.data, place] = made
        for op in block.ops:
            if not isinstance(op, TableOp):
                continue
            if op.name == "ttir.scatter" and "scatter_indices" in {one.name for one in op.spec.operands}:
                rows = cache_positions(op)
                if rows in places:
                    place, length = places[rows], _size(op, "input")[2]
                    made = np.random.default_rng(place).permutation(length)[: _size(op, "update")[2]]
                    found[function.sym_name.data, place] = made.reshape(tuple(rows.type.get_shape()))
                    continue
            for group, make in _MAKERS.get(op.name.partition(".")[2], {}).items():
                values = op.group(group) if any(one.name == group for one in op.spec.operands) else ()
                # Where any order of the values will do, they may come in another one.
                through = _MOVE if op.name in ("ttir.reduce_and", "ttir.reduce_or") else _CARRY
                argument = _source(values[0], through) if values else None
                summed = _strides(argument) if op.name == "ttir.scatter" and argument is not None else None
                if summed is not None and summed[0] in places:
                    positions = _permuted(op, _size(op, group), np.random.default_rng(places[summed[0]]))
                    made = _coordinates(tuple(summed[0].type.get_shape()), summed[1], positions)
                    found[function.sym_name.data, places[summed[0]]] = made
                if argument not in places:
                    continue
                shape = tuple(values[0].type.get_shape())  # type: ignore[attr-defined]
                place = places[argument]
                values_made = make(op, shape, np.random.default_rng(place))
                if values_made is not None:
                    own = tuple(argument.type.get_shape())  # type: ignore[attr-defined]
                    found[function.sym_name.data, place] = values_made.reshape(own)
    return found
