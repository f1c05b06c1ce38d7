"""Decode attention matmuls: left row i times the matrices of user i.

Every row of a tile is multiplied with the matrices of its own user, packed, and taken out; the rows are packed to tiles
again at the end. Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/matmul`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.core_range import CoreCoord
from ttnn.base.enums import (
    BLOCK_FLOATS,
    TILE_SIZE,
    DataType,
    Layout,
    MathFidelity,
    ShardOrientation,
    TensorMemoryLayout,
)
from ttnn.base.exceptions import DTypeError, LayoutError, MemoryConfigError, ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig, ShardSpec
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.work_split import num_cores_to_corerangeset
from ttnn.golden import matmul as golden
from ttnn.operation.domain import Operand
from ttnn.operation.registry import declare
from ttnn.operation.signature import (
    BOOLEAN,
    COMPUTE_KERNEL_CONFIG,
    DATA_TYPE,
    INTEGER,
    MEMORY_CONFIG,
    TENSOR,
    Param,
    Signature,
    instance_kind,
)
from ttnn.ops._programs.common import agreed_dtype, allocate, full_tiles, on_device, same_device, take_output
from ttnn.ops._programs.element_map import strides_of
from ttnn.ops._programs.movement import move
from ttnn.ops._programs.product import Numerics, copy_through_source, multiply, tiles_of
from ttnn.ops._programs.windows import copy_tiles, tile_grid
from ttnn.tensor.tensor import Tensor

from .matmul import GROWS_WITH_K

_DTYPES: Final = (DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B, DataType.BFLOAT4_B)
_USERS_OF_GROUPS: Final = 32


@dataclass(frozen=True)
class _Cache:
    """The part of the right operand that is read."""

    tokens: int
    transposed: bool


def _check(name: str, a: Tensor, b: Tensor, grid: CoreCoord) -> None:
    """Refuse operands that neither matmul supports.

    Raises:
        TtnnError: what is wrong with them.
    """
    device = on_device(name, a, "input_tensor_a", "Operands to matmul need to be on device!")
    on_device(name, b, "input_tensor_b", "Operands to matmul need to be on device!")
    same_device(name, device, b, "input_tensor_b")
    for label, tensor in (("input_tensor_a", a), ("input_tensor_b", b)):
        spec = tensor.spec
        if spec.dtype not in _DTYPES:
            raise DTypeError(f"{name}: {label} is {spec.dtype.name}; typecast it to a floating point type first.")
        if spec.layout is not Layout.TILE:
            raise LayoutError(
                f"{name}: {label} is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
                vendor="Inputs to matmul must be tilized",
            )
        if spec.shape.rank != 4 or 0 in tuple(spec.shape):
            raise ShapeError(f"{name}: {label} has shape {spec.shape}; it must be of rank 4 and not empty.")
        full_tiles(name, tensor, label)
    whole = device.compute_with_storage_grid_size()
    if not (0 < grid.x <= whole.x and 0 < grid.y <= whole.y):
        raise ParameterError(
            f"{name}: compute_with_storage_grid_size={grid} is not within the device's {whole.x}x{whole.y} cores.",
            vendor="Unsupported grid shape",
        )


def _shapes(name: str, a: Tensor, b: Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the operands' padded shapes in the form of the program.

    Raises:
        ShapeError: their users differ, or there is more than one query for each.
    """
    first, second = tuple(a.spec._padded_shape), tuple(b.spec._padded_shape)
    if first[0] != 1:
        raise ShapeError(
            f"{name}: input_tensor_a is {list(first)}; its first dimension, the queries of a user, must be 1.",
            vendor="Input q_len must be 1!",
        )
    if first[2] != second[0]:
        raise ShapeError(
            f"{name}: input_tensor_a has {first[2]} users with padding, input_tensor_b {second[0]}; they must agree.",
            vendor="Num of users must match!",
        )
    return first, second


def _inner(name: str, a: tuple[int, ...], b: tuple[int, ...], cache: _Cache | None) -> None:
    """Refuse inner dimensions that differ.

    Raises:
        ShapeError: they do.
    """
    if cache is None:
        inner, where = b[2], f"Dimension K (A.shape[3]and B.shape[2]) must match for A shape: {a} and B shape: {b}"
    elif cache.transposed:
        inner, where = b[3], "For pre-attention matmul, dimension K for B is in B.shape[3]"
    else:
        inner, where = cache.tokens, "For post-attention matmul, dimension K (A.shape[3]) is the kv_seq_len"
    if a[3] != inner:
        raise ShapeError(
            f"{name}: the inner dimension is {a[3]} in input_tensor_a and {inner} in input_tensor_b.", vendor=where
        )


def _padded(tensor: Tensor) -> Tensor:
    """Return a tensor whose shape is the padded one."""
    spec = tensor.spec
    if tuple(spec.shape) == tuple(spec._padded_shape):
        return tensor
    return tensor._view(TensorSpec.of(tuple(spec._padded_shape), spec.dtype, spec.layout, spec.memory_config))


def _first_tokens(b: Tensor, tokens: int) -> Tensor:
    """Return the first rows of every matrix, as copies of tiles."""
    users, heads, rows, columns = tuple(b.spec.shape)
    if rows == tokens:
        return b
    assert b._device is not None
    spec = TensorSpec.of((users, heads, tokens, columns), b.spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG)
    part = allocate(spec, b._device)
    copy_tiles(b, part, shape=tile_grid(part), strides=strides_of(tile_grid(b)))
    return part


def _multiply(
    a: Tensor, b: Tensor, output: Tensor, numerics: Numerics, cache: _Cache | None, *, reads_back: bool
) -> None:
    """Write row i of every head of `a` times user i's matrices.

    `reads_back` means that the packed product is copied through SrcA to become rows, and not unpacked in Dst.
    """
    left, right = _padded(a), _padded(b)
    _, heads, users, inner = tuple(left.spec.shape)
    groups = right.spec.shape[1]
    each = heads // groups
    between = DataType.BFLOAT16
    if numerics.dst32 and a.spec.dtype is DataType.FLOAT32:
        between = DataType.FLOAT32
    # The rows of a user become one matrix. Block floats are those values in bfloat16, and multiplied alike.
    dtype = DataType.BFLOAT16 if left.spec.dtype in BLOCK_FLOATS else left.spec.dtype
    rows = move(
        left,
        TensorSpec.of((users, groups, each, inner), dtype, Layout.TILE, DRAM_MEMORY_CONFIG),
        strides=[inner, each * users * inner, users * inner, 1],
    )
    if cache is not None:
        right = _first_tokens(right, cache.tokens)
    transposed = cache is not None and cache.transposed
    width = right.spec.shape[2] if transposed else right.spec.shape[3]
    device = on_device("", output)
    product = allocate(TensorSpec.of((users, groups, each, width), between, Layout.TILE, DRAM_MEMORY_CONFIG), device)
    multiply(
        rows,
        right,
        product,
        batch=(users * groups,) * 3,
        tiles=(tiles_of(each), tiles_of(inner), tiles_of(width)),
        numerics=numerics,
        transpose_b=transposed,
    )
    if reads_back and between is DataType.FLOAT32:
        again = allocate(product.spec, device)
        copy_through_source(product, again, numerics)
        product = again
    tiles = move(
        product,
        TensorSpec.of((1, heads, users, width), between, Layout.TILE, DRAM_MEMORY_CONFIG),
        strides=[0, width, heads * width, 1],
    )
    copy_through_source(tiles, output, numerics)


def _of_one_head(
    name: str,
    a: Tensor,
    b: Tensor,
    grid: CoreCoord,
    dtype: DataType | None,
    config: WormholeComputeKernelConfig | None,
    memory_config: MemoryConfig | None,
    output: Tensor | None,
    cache: _Cache | None,
) -> Tensor:
    _check(name, a, b, grid)
    first, second = _shapes(name, a, b)
    if second[1] != 1:
        raise ShapeError(
            f"{name}: input_tensor_b has {second[1]} heads; it must have 1. Use ttnn.experimental.group_attn_matmul.",
            vendor="Number of kv_heads must be 1!",
        )
    _inner(name, first, second, cache)
    width = cache.tokens if cache is not None and cache.transposed else second[3]
    return _run(name, a, b, width, dtype, config, memory_config or a.spec.memory_config, output, cache)


def _run(
    name: str,
    a: Tensor,
    b: Tensor,
    width: int,
    dtype: DataType | None,
    config: WormholeComputeKernelConfig | None,
    memory_config: MemoryConfig,
    output: Tensor | None,
    cache: _Cache | None,
    *,
    reads_back: bool = True,
) -> Tensor:
    first = tuple(a.spec._padded_shape)
    shape = (1, first[1], first[2], width)
    device = on_device(name, a)
    taken = agreed_dtype(name, dtype, output, a.spec.dtype)
    if taken not in _DTYPES:
        raise DTypeError(f"{name}: dtype is {taken.name}; the result is floating point.")
    if output is not None:
        take_output(name, output, shape, Layout.TILE, device)
    else:
        output = allocate(TensorSpec.of(shape, taken, Layout.TILE, memory_config), device)
    _multiply(a, b, output, Numerics.of(config, MathFidelity.LoFi), cache, reads_back=reads_back)
    return output


def _attn_matmul(
    input_tensor_a: Tensor,
    input_tensor_b: Tensor,
    grid: CoreCoord,
    dtype: DataType | None,
    config: WormholeComputeKernelConfig | None,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
) -> Tensor:
    name = "ttnn.experimental.attn_matmul"
    return _of_one_head(name, input_tensor_a, input_tensor_b, grid, dtype, config, memory_config, output_tensor, None)


def _attn_matmul_from_cache(
    input_tensor_a: Tensor,
    input_tensor_b: Tensor,
    num_tokens: int,
    transpose_hw: bool,
    grid: CoreCoord,
    memory_config: MemoryConfig | None,
    dtype: DataType | None,
    config: WormholeComputeKernelConfig | None,
    output_tensor: Tensor | None,
) -> Tensor:
    name = "ttnn.experimental.attn_matmul_from_cache"
    if num_tokens <= 0:
        raise ParameterError(
            f"{name}: num_tokens={num_tokens} must be positive.", vendor="Number of tokens must be at least 1!"
        )
    length = (0, 0, *tuple(input_tensor_b.spec._padded_shape))[-2]
    if num_tokens > length:
        raise ParameterError(
            f"{name}: num_tokens={num_tokens}, but the cache has {length} rows.",
            vendor="Number of tokens must be smaller or equal to the max cache length (B.shape[2])!",
        )
    cache = _Cache(tiles_of(num_tokens) * TILE_SIZE, transpose_hw)
    return _of_one_head(name, input_tensor_a, input_tensor_b, grid, dtype, config, memory_config, output_tensor, cache)


def _orientation(a: Tensor, b: Tensor, memory_config: MemoryConfig) -> ShardOrientation:
    """Return the first shard orientation found; column-major if none."""
    for place in (a.spec.memory_config, b.spec.memory_config, memory_config):
        if place.is_sharded():
            return ShardOrientation.COL_MAJOR if place.shard_spec is None else place.shard_spec.orientation
    return ShardOrientation.COL_MAJOR


def _shard(name: str, label: str, place: MemoryConfig, shape: tuple[int, int], orientation: ShardOrientation) -> None:
    """Refuse a sharded operand that the program cannot read.

    Raises:
        MemoryConfigError: its shards are others.
    """
    if not place.is_sharded():
        return
    if place.memory_layout is not TensorMemoryLayout.HEIGHT_SHARDED:
        raise MemoryConfigError(
            f"{name}: {label} is {place.memory_layout.name}; shards must be of HEIGHT_SHARDED.",
            vendor=f"{label} memory layout must be HEIGHT_SHARDED but got {place.memory_layout.name}",
        )
    spec = place.shard_spec
    if spec is None:
        return
    if spec.orientation is not orientation:
        raise MemoryConfigError(
            f"{name}: {label} is {spec.orientation.name}, another tensor {orientation.name}.",
            vendor="Any sharded memory configs must have the same shard orientation as one another!",
        )
    if tuple(spec.shape) != shape:
        raise MemoryConfigError(f"{name}: {label} has shards of {list(spec.shape)}; they must be {list(shape)}.")


def _group_attn_matmul(
    input_tensor_a: Tensor,
    input_tensor_b: Tensor,
    grid: CoreCoord,
    memory_config: MemoryConfig | None,
    dtype: DataType | None,
    config: WormholeComputeKernelConfig | None,
    output_tensor: Tensor | None,
) -> Tensor:
    name = "ttnn.experimental.group_attn_matmul"
    a, b = input_tensor_a, input_tensor_b
    _check(name, a, b, grid)
    first, second = _shapes(name, a, b)
    if first[1] % second[1]:
        raise ShapeError(
            f"{name}: {first[1]} heads of queries cannot share {second[1]} heads of keys evenly.",
            vendor="Number of q_heads must be divisible by kv_heads!",
        )
    if second[0] != _USERS_OF_GROUPS:
        raise ShapeError(
            f"{name}: {second[0]} users; the program takes {_USERS_OF_GROUPS}.",
            vendor="Only batch 32 is supported for group attention matmul!",
        )
    if max(first[1], TILE_SIZE) > grid.x * grid.y:
        raise ParameterError(
            f"{name}: compute_with_storage_grid_size={grid} has too few cores for {first[1]} heads and "
            f"{TILE_SIZE} users.",
            vendor="Compute grid size is too small for group attention matmul! For now, we require at most 1 q_heads "
            "per core.",
        )
    place = memory_config or a.spec.memory_config
    orientation = _orientation(a, b, place)
    _shard(name, "input_tensor_a", a.spec.memory_config, first[2:], orientation)  # type: ignore[arg-type]
    _shard(name, "input_tensor_b", b.spec.memory_config, (second[1] * second[2], second[3]), orientation)
    _shard(name, "memory_config", place, (first[2], second[3]), orientation)
    _inner(name, first, second, None)
    if place.is_sharded() and place.shard_spec is None:
        cores = num_cores_to_corerangeset(first[1], grid, orientation is ShardOrientation.ROW_MAJOR)
        place = MemoryConfig(
            place.memory_layout, place.buffer_type, ShardSpec(cores, (first[2], second[3]), orientation)
        )
    return _run(name, a, b, second[3], dtype, config, place, output_tensor, None, reads_back=False)


_A: Final = Param("input_tensor_a", TENSOR, doc="[1, heads, users, K] on a device: queries, or scores.")
_B: Final = Param(
    "input_tensor_b", TENSOR, doc="[users, 1, K, N] on the same device.", example=Operand((64, 1, 128, 96))
)
_GRID: Final = Param(
    "compute_with_storage_grid_size",
    instance_kind("ttnn.CoreCoord", CoreCoord),
    doc="Cores that work, from core (0, 0) on. They do not change the result.",
    example=CoreCoord(8, 4),
)
_DTYPE: Final = Param("dtype", DATA_TYPE, None, doc="Data type of the output. Default: that of `input_tensor_a`.")
_COMPUTE: Final = Param(
    "compute_kernel_config", COMPUTE_KERNEL_CONFIG, None, doc="Math fidelity and Dst width. Default: LoFi, 16 bits."
)
_MEMORY: Final = Param(
    "memory_config", MEMORY_CONFIG, None, doc="Memory configuration of the output. Default: that of `input_tensor_a`."
)
_OUTPUT: Final = Param("output_tensor", TENSOR, None, doc="Preallocated output, of the output's shape.")
_ERRORS: Final = (
    ("ShapeError", "users, heads or inner dimensions do not fit."),
    ("DTypeError", "an operand is not floating point."),
    ("LayoutError", "an operand is row-major."),
    ("ParameterError", "the grid does not fit."),
)
_ROUNDING: Final = "Sums are packed to bfloat16, or float32 with float32 operands and a 32-bit Dst, and once more."


_FINE: Final = {
    "compute_with_storage_grid_size": CoreCoord(8, 4),
    "compute_kernel_config": WormholeComputeKernelConfig(math_fidelity=MathFidelity.HiFi4),
}


def _examples(shape: tuple[int, ...], layout: Layout, *, grouped: bool = False) -> tuple[tuple[Any, ...], ...]:
    if len(shape) != 4 or shape[0] != 1 or shape[2] % TILE_SIZE or 0 in shape:
        return ()
    if grouped and shape[2] != _USERS_OF_GROUPS:
        return ()
    heads = shape[1] if grouped else 1
    return ((Operand((shape[2], heads, shape[3], 96)), dict(_FINE)),)


def _cache_examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if not _examples(shape, layout):
        return ()
    *_, users, inner = shape
    keys, values = Operand((users, 1, 128, inner)), Operand((users, 1, 128, 96))
    scored = (keys, {"num_tokens": 40, "transpose_hw": True, **_FINE})
    return (scored, (values, {"num_tokens": inner, "transpose_hw": False, **_FINE}))


_declare: Final = partial(
    declare,
    source="tt-metal `ttnn/cpp/ttnn/operations/experimental/matmul`",
    dtypes=_DTYPES,
    layouts=(Layout.TILE,),
    accuracy=GROWS_WITH_K,
    engine=("matmul", "move_elements"),
)

attn_matmul = _declare(
    "experimental.attn_matmul",
    (Signature((_A, _B), (_GRID, _DTYPE, _COMPUTE, _MEMORY, _OUTPUT)),),
    _attn_matmul,
    "Return the matmul of each user's rows of `input_tensor_a` and matrix.\n"
    "Shape: [1, heads, users, K], [users, 1, K, N] -> [1, heads, users, N]; users are a multiple of 32.\n" + _ROUNDING,
    golden=golden.attn_matmul,
    raises=_ERRORS,
    examples=_examples,
)
attn_matmul_from_cache = _declare(
    "experimental.attn_matmul_from_cache",
    (
        Signature(
            (
                _A,
                Param(
                    "input_tensor_b",
                    TENSOR,
                    doc="[users, 1, length, D] on the same device: a cache.",
                    example=Operand((64, 1, 128, 64)),
                ),
            ),
            (
                Param("num_tokens", INTEGER, doc="Rows of the cache that are read, up to the next 32.", example=128),
                Param(
                    "transpose_hw",
                    BOOLEAN,
                    doc="Whether the cache holds keys, which are the columns of the right operand.",
                    example=False,
                ),
                _GRID,
                _MEMORY,
                _DTYPE,
                _COMPUTE,
                _OUTPUT,
            ),
        ),
    ),
    _attn_matmul_from_cache,
    "Return the matmul of each user's rows of `input_tensor_a` and cache rows.\n"
    "Shape: [1, heads, users, D], [users, 1, length, D] -> [1, heads, users, tokens] for keys; "
    "[1, heads, users, tokens], [users, 1, length, D] -> [1, heads, users, D] for values.\n" + _ROUNDING,
    golden=golden.attn_matmul_from_cache,
    raises=_ERRORS,
    examples=_cache_examples,
)
group_attn_matmul = _declare(
    "experimental.group_attn_matmul",
    (
        Signature(
            (
                Param("input_tensor_a", TENSOR, doc="[1, heads, 32, K] on a device.", example=Operand((1, 2, 32, 128))),
                Param("input_tensor_b", TENSOR, doc="[32, groups, K, N].", example=Operand((32, 1, 128, 96))),
            ),
            (
                _GRID,
                Param(
                    "memory_config",
                    MEMORY_CONFIG,
                    DRAM_MEMORY_CONFIG,
                    none=True,
                    doc="Memory configuration of the output; the program chooses missing shards. None: that of "
                    "`input_tensor_a`.",
                ),
                _DTYPE,
                _COMPUTE,
                Param("optional_output_tensor", TENSOR, None, doc=_OUTPUT.doc),
            ),
        ),
    ),
    _group_attn_matmul,
    "Return each user's rows times the matrix of its head group.\n"
    "Shape: [1, heads, 32, K], [32, groups, K, N] -> [1, heads, 32, N]; heads are shared evenly by groups.\n"
    "Sums are packed to bfloat16, or float32 with float32 operands and a 32-bit Dst, and once more.",
    golden=golden.group_attn_matmul,
    raises=(*_ERRORS, ("MemoryConfigError", "a tensor has other shards than the program's.")),
    examples=partial(_examples, grouped=True),
    any_shape=True,
)
