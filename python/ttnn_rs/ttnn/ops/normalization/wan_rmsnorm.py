"""RMS norm of rows split over devices, with heads and rotary embedding.

A device adds the squares of its tiles in L1 in float32. Devices may also be parts of a row that one device computes in
turn: `ttnn.concat` of their statistics takes the place of the collective.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer/fused_distributed_rmsnorm`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.enums import TILE_SIZE, DataType, Layout
from ttnn.base.exceptions import DTypeError, LayoutError, ParameterError, ShapeError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import normalization as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import DATA_TYPE, FLOAT, INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    allocate,
    full_tiles,
    is_empty,
    on_device,
    same_device,
)
from ttnn.ops._programs.movement import move
from ttnn.ops._programs.pipeline import ROWS, Pipeline, bits
from ttnn.ops.normalization.norm import WEIGHT, compute_config, numerics, operands
from ttnn.ops.normalization.norm_programs import Norm, from_statistics
from ttnn.tensor.tensor import Tensor

_PRE: Final = "ttnn.experimental.wan_fused_rmsnorm_pre_allgather"
_POST: Final = "ttnn.experimental.wan_fused_rmsnorm_post_allgather"
_BF16: Final = DataType.BFLOAT16
_WIDE: Final = (_BF16, DataType.FLOAT32)
_RELATIVE: Final = no_bound("for the error is relative to the largest element of a row")


def _check(name: str, label: str, tensor: Tensor, dtypes: tuple[DataType, ...] = (_BF16,)) -> None:
    spec = tensor.spec
    if spec.layout is not Layout.TILE:
        raise LayoutError(
            f"{name}: {label} is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            vendor=f"must have TILE layout, got: {spec.layout.cpp_name}",
        )
    if spec.dtype not in dtypes:
        allowed = " or ".join(dtype.name for dtype in dtypes)
        raise DTypeError(
            f"{name}: {label} is {spec.dtype.name}; it must be {allowed}.",
            vendor=f"must be {allowed}, got: {spec.dtype.cpp_name}",
        )
    full_tiles(name, tensor, label)


def _settings(
    name: str, tensor: Tensor, config: WormholeComputeKernelConfig | None, epsilon: float, out_dtype: DataType
) -> Norm:
    """Return the settings of a program.

    Raises:
        DTypeError: the result would not be floating point.
        UnsupportedError: Dst has 16 bits.
    """
    if out_dtype not in (*_WIDE, DataType.BFLOAT8_B):
        raise DTypeError(f"{name}: dtype is {out_dtype.name}; the result is floating point.")
    norm = numerics(name, tensor, config, epsilon, centers=False, dst32=True)
    if not norm.dst32:
        raise UnsupportedError(
            f"{name}: sums in bfloat16, beside a 16-bit Dst, are not verified; pass compute_kernel_config with "
            "fp32_dest_acc_en=True.",
            "untested",
        )
    return replace(norm, out_dtype=out_dtype)


@lru_cache(maxsize=256)
def _statistics(shape: tuple[int, ...], norm: Norm) -> Pipeline:
    """Return sums of squares.

    The packer adds the tiles of a row in L1 before the row is reduced.
    """
    program = norm.pipeline(shape, direct=True)
    x = program.tensor(norm.dtype)
    squares = program.eltwise("mul", x, x, norm.kept)
    # An addition of the SFPU has the bits of one in L1.
    total = program.fold(squares, norm.kept, by=("add_binary", "default"))
    program.sum([(total, 0, 1)], (_BF16, bits(1.0)), norm.out_dtype, output=(0, 0, 1))
    return program


@lru_cache(maxsize=256)
def _rotation(shape: tuple[int, ...], norm: Norm, tables: tuple[DataType, DataType], rows: int) -> Pipeline:
    """Return `x * cos + (x @ matrix) * sin` for heads, with the tables of one."""
    kept = norm.kept
    program = Pipeline(shape, ROWS, kept, norm.dst32, norm.fidelity)
    x = program.tensor(kept)
    rotated = program.matmul(x, program.lines(_BF16, 1), kept)
    table = (1, 1, rows, shape[-1])
    cos, sin = (program.tensor(dtype, table, "none") for dtype in tables)
    straight = program.eltwise("mul", x, cos, kept)
    program.eltwise("add", straight, program.eltwise("mul", rotated, sin, kept), norm.out_dtype, output=0)
    return program


def _pre(
    input_tensor: Tensor,
    dtype: DataType,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    memory_config: MemoryConfig | None,
) -> Tensor:
    device = on_device(_PRE, input_tensor)
    _check(_PRE, "input_tensor", input_tensor)
    spec = input_tensor.spec
    if spec.shape.rank < 2 or spec.shape[-1] % TILE_SIZE:
        raise ShapeError(
            f"{_PRE}: input_tensor has shape {list(spec.shape)}; its width must be a multiple of {TILE_SIZE}."
        )
    norm = _settings(_PRE, input_tensor, compute_kernel_config, 0.0, dtype)
    place = memory_config or spec.memory_config
    output = allocate(TensorSpec.of((*tuple(spec.shape)[:-1], TILE_SIZE), dtype, Layout.TILE, place), device)
    if not is_empty(spec):
        _statistics(tuple(spec.shape), norm).run([input_tensor], [output])
    return output


def _check_shapes(tensor: Tensor, stats: Tensor, heads: int) -> None:
    shape, given = tensor.spec.shape, stats.spec.padded_shape
    sentence = ""
    if shape.rank != 4:
        sentence = f"Input must have rank 4, got: {shape.rank}"
    elif given.rank != 4:
        sentence = "Stats and input must have same number of dimensions"
    elif given[-1] % TILE_SIZE or not given[-1]:
        sentence = f"Stats inner dimension must be divisible by TILE_WIDTH (32), got: {given[-1]}"
    elif tuple(given)[:-1] != tuple(tensor.spec.padded_shape)[:-1]:
        sentence = "Stats and input dim"
    elif heads < 1:
        sentence = f"Number of heads must be greater than 0, got: {heads}"
    elif shape[-1] % (heads * TILE_SIZE):
        sentence = "Input last dimension must be divisible by number of heads * TILE_WIDTH (32)"
    elif tuple(shape)[:2] != (1, 1):
        sentence = f"Input dim 1 must be 1, got: {shape[1]}"
    if sentence:
        raise ShapeError(
            f"{_POST}: input_tensor has shape {list(shape)}, stats {list(stats.spec.shape)}, for {heads} heads; they "
            "must be [1, 1, H, heads * multiple of 32] and [1, 1, H, 32 * devices].",
            vendor=sentence,
        )


def _tables(tensor: Tensor, head: int, tables: dict[str, Tensor | None]) -> list[Tensor]:
    """Return the matrix, cosines and sines of a rotation; empty without.

    Raises:
        ParameterError: only some of them are there.
        ShapeError: one has another shape.
    """
    found = [table for table in tables.values() if table is not None]
    if not found:
        return []
    if len(found) < len(tables):
        missing = next(label for label, table in tables.items() if table is None)
        raise ParameterError(
            f"{_POST}: {missing} is missing; {', '.join(tables)} go together.",
            vendor=f"{missing.replace('_', ' ').capitalize()} tensor is required when ROPE fusion is enabled",
        )
    shapes = ((1, 1, TILE_SIZE, TILE_SIZE), *[(1, 1, tensor.spec.padded_shape[2], head)] * 2)
    for (label, table), shape, dtypes in zip(tables.items(), shapes, ((_BF16,), _WIDE, _WIDE), strict=True):
        assert table is not None
        same_device(_POST, on_device(_POST, tensor), table, label)
        _check(_POST, label, table, dtypes)
        if tuple(table.spec.padded_shape) != shape:
            raise ShapeError(
                f"{_POST}: {label} has shape {list(table.spec.shape)}; it must be {list(shape)}.",
                vendor="tensor must have shape",
            )
    return found


def _post(
    input_tensor: Tensor,
    stats: Tensor,
    epsilon: float,
    num_heads_per_device: int,
    weight: Tensor | None,
    transformation_mat: Tensor | None,
    rope_cos: Tensor | None,
    rope_sin: Tensor | None,
    memory_config: MemoryConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    dtype: DataType | None,
) -> Tensor:
    device = on_device(_POST, input_tensor)
    _check(_POST, "input_tensor", input_tensor)
    same_device(_POST, device, stats, "stats")
    _check(_POST, "stats", stats, _WIDE)
    heads = num_heads_per_device
    _check_shapes(input_tensor, stats, heads)
    if weight is not None:
        _check(_POST, "weight", weight)
    spec = input_tensor.spec
    _, _, rows, width = tuple(spec.shape)
    head = width // heads
    rotation = _tables(
        input_tensor,
        head,
        {"transformation_mat": transformation_mat, "rope_cos": rope_cos, "rope_sin": rope_sin},
    )
    norm = _settings(_POST, input_tensor, compute_kernel_config, epsilon, dtype or spec.dtype)
    inputs, norm = operands(_POST, norm, input_tensor, None, weight, None)
    place = memory_config or spec.memory_config
    target = TensorSpec.of((1, heads, rows, head), norm.out_dtype, Layout.TILE, place)
    if is_empty(spec):
        return allocate(target, device)
    # A rotation continues with what the norm keeps.
    first = replace(norm, out_dtype=norm.kept) if rotation else norm
    whole = heads == 1 and not rotation
    made = target if whole else TensorSpec.of(spec.shape, first.out_dtype, Layout.TILE, DRAM_MEMORY_CONFIG)
    normed = allocate(made, device)
    tiles = stats.spec.padded_shape[-1] // TILE_SIZE
    from_statistics(tuple(spec.shape), first, stats.spec.dtype, tiles).run([inputs[0], stats, *inputs[1:]], [normed])
    if whole:
        return normed
    if heads > 1:
        by_head = made if rotation else target
        by_head = TensorSpec.of(target.shape, first.out_dtype, Layout.TILE, by_head.memory_config)
        normed = move(normed, by_head, strides=[0, head, width, 1])
    if not rotation:
        return normed
    output = allocate(target, device)
    kinds = (rotation[1].spec.dtype, rotation[2].spec.dtype)
    _rotation(tuple(target.shape), norm, kinds, rows).run([normed, *rotation], [output])
    return output


def _is_whole(shape: tuple[int, ...], layout: Layout) -> bool:
    return len(shape) > 1 and layout is Layout.TILE and 0 not in shape and shape[-1] % TILE_SIZE == 0


def _pre_examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    return ((),) if _is_whole(shape, layout) else ()


def _post_examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    stats = Operand((*shape[:-1], 2 * TILE_SIZE), dtype=_BF16, between=(0.5, 1.5))
    return ((stats,),) if _is_whole(shape, layout) and len(shape) == 4 and shape[:2] == (1, 1) else ()


_COMPUTE: Final = compute_config("HiFi4, a 32-bit Dst and an exact inverse root")
_SOURCE: Final = "tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer/fused_distributed_rmsnorm`"
_ERRORS: Final = (
    ("DTypeError", "a tensor is not bfloat16, or statistics and tables neither bfloat16 nor float32."),
    ("LayoutError", "a tensor is row-major."),
    ("ShapeError", "shapes do not fit."),
    ("UnsupportedError", "Dst has 16 bits."),
)
_TABLE: Final = "[1, 1, H, W / heads], bfloat16 or float32; with the other two."

wan_fused_rmsnorm_pre_allgather = register(
    Op(
        name="experimental.wan_fused_rmsnorm_pre_allgather",
        signatures=(
            Signature(
                (INPUT_TENSOR,),
                (
                    Param("dtype", DATA_TYPE, _BF16, doc="Data type of the statistics."),
                    _COMPUTE,
                    MEMORY_CONFIG_OPTION,
                ),
            ),
        ),
        run=_pre,
        doc="Return the sum of squares of every row.\nIt is in column 0 of 32.\nShape: [..., H, W] -> [..., H, 32].",
        source=_SOURCE,
        dtypes=(_BF16,),
        layouts=(Layout.TILE,),
        golden=golden.rms_norm_pre_all_gather,
        accuracy=_RELATIVE,
        engine=("Pipeline",),
        raises=_ERRORS,
        examples=_pre_examples,
    )
)
wan_fused_rmsnorm_post_allgather = register(
    Op(
        name="experimental.wan_fused_rmsnorm_post_allgather",
        signatures=(
            Signature(
                (
                    INPUT_TENSOR,
                    Param(
                        "stats",
                        TENSOR,
                        doc="What `wan_fused_rmsnorm_pre_allgather` returns for every part of the rows, side by side.",
                        example=Operand((1, 1, 64, 64), between=(0.5, 1.5)),
                    ),
                ),
                (
                    Param("epsilon", FLOAT, 1e-5, doc="Added to the mean of squares, truncated to bfloat16."),
                    Param("num_heads_per_device", INTEGER, 1, doc="Heads that a row is split into."),
                    WEIGHT,
                    Param("transformation_mat", TENSOR, None, doc="[1, 1, 32, 32]: rotates pairs of columns."),
                    Param("rope_cos", TENSOR, None, doc=_TABLE),
                    Param("rope_sin", TENSOR, None, doc=_TABLE),
                    MEMORY_CONFIG_OPTION,
                    _COMPUTE,
                    Param("dtype", DATA_TYPE, None, doc="Data type of the output. Default: that of the input."),
                ),
            ),
        ),
        run=_post,
        doc="Return the RMS norm of a part of rows.\nBy heads, with rotary embedding.\n"
        "Shape: [1, 1, H, W], [1, 1, H, 32 * parts] -> [1, heads, H, W / heads].\n"
        "`y = x / sqrt(mean(x ** 2) + epsilon) * weight`; with tables `y * rope_cos + (y @ transformation_mat) * "
        "rope_sin`.",
        source=_SOURCE,
        dtypes=(_BF16,),
        layouts=(Layout.TILE,),
        golden=golden.wan_fused_rmsnorm_post_allgather,
        accuracy=_RELATIVE,
        engine=("Pipeline", "move_elements"),
        raises=(*_ERRORS, ("ParameterError", "only some of the rotation's tensors are given.")),
        examples=_post_examples,
    )
)
