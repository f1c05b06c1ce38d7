"""Rotary position embeddings: `x * cos + rotated(x) * sin`.

Products, the rotated tensor and the sum are each packed, as by the kernels: to bfloat16, or where halves are exchanged
to the data type of what they are made of.
Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer`, the folders `rotary_embedding` and
`rotary_embedding_llama`.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, Final

from ttnn.base.compute_config import FIDELITY_NUMBER, WormholeComputeKernelConfig
from ttnn.base.enums import TILE_SIZE, DataType, Layout, MathFidelity, ShardOrientation
from ttnn.base.exceptions import DTypeError, LayoutError, ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig, ShardSpec
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.work_split import num_cores_to_corerangeset
from ttnn.golden import transformer as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.domain import Operand as Example
from ttnn.operation.registry import declare, find
from ttnn.operation.signature import BOOLEAN, COMPUTE_KERNEL_CONFIG, INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    allocate,
    full_tiles,
    is_empty,
    on_device,
    same_device,
)
from ttnn.ops._programs.pipeline import ROWS, Pipeline, bits
from ttnn.ops.data_movement.slice import sliced
from ttnn.tensor.tensor import Tensor

_BF16: Final = DataType.BFLOAT16
_DTYPES: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B)
_OF_HALVES: Final = (*_DTYPES, DataType.BFLOAT4_B, DataType.FLOAT32)


@lru_cache(maxsize=256)
def _program(
    shape: tuple[int, ...],
    dtypes: tuple[DataType, DataType, DataType],
    tables: tuple[int, ...],
    by_row: bool,
    by_tile: bool,
    settings: tuple[int, bool],
    cut: bool = False,
) -> Pipeline:
    """Return the program on x, cos, sin and the rotation.

    Args:
        shape: Shape of x.
        dtypes: Data types of x, cos and sin.
        tables: Shape of cos and sin.
        by_row: One row of cos and sin is for all rows.
        by_tile: The rotation is the tile that rotates x; otherwise x, whose halves are exchanged.
        settings: Fidelity and Dst width.
        cut: cos and sin pass through bfloat16.
    """
    dtype, cos_dtype, sin_dtype = dtypes
    fidelity, dst32 = settings
    program = Pipeline(shape, ROWS, dtype, dst32, fidelity)
    x = program.tensor(dtype)
    broadcast = "row" if by_row else "none"
    cos = program.tensor(cos_dtype, tables, broadcast)
    sin = program.tensor(sin_dtype, tables, broadcast)
    if by_tile:
        rotated = program.matmul(x, program.lines(_BF16, 1), _BF16)
        cos_dtype = sin_dtype = _BF16
    else:
        half = program.length // 2
        minus_one = program.constant(_BF16, bits(-1.0))
        rotated = program.eltwise("mul", program.rotated(dtype, half), minus_one, dtype, until=half)
    if cut:
        cos, sin = (
            program.copy(program.copy(table, _BF16), kept) for table, kept in ((cos, cos_dtype), (sin, sin_dtype))
        )
    by_sin = program.eltwise("mul", rotated, sin, sin_dtype)
    by_cos = program.eltwise("mul", x, cos, cos_dtype)
    program.eltwise("add", by_cos, by_sin, dtype, output=0)
    return program


def _settings(config: WormholeComputeKernelConfig | None) -> tuple[int, bool]:
    """Return fidelity and Dst width. Default: HiFi4 and a 16-bit Dst."""
    fidelity = MathFidelity.HiFi4
    if config is not None and config.math_fidelity is not MathFidelity.Invalid:
        fidelity = config.math_fidelity
    return FIDELITY_NUMBER[fidelity], config is not None and config.fp32_dest_acc_en


def _checked(name: str, label: str, tensor: Tensor, like: Tensor, dtypes: tuple[DataType, ...] = _DTYPES) -> None:
    same_device(name, on_device(name, like), tensor, label)
    spec = tensor.spec
    if spec.layout is not Layout.TILE:
        raise LayoutError(
            f"{name}: {label} is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            vendor="Inputs to rotary embedding must be tilized",
        )
    if spec.dtype not in dtypes:
        raise DTypeError(f"{name}: {label} is {spec.dtype.name}; use {' or '.join(dtype.name for dtype in dtypes)}.")
    if spec.shape.rank != 4:
        raise ShapeError(f"{name}: {label} has shape {spec.shape}; it must be of rank 4.")
    full_tiles(name, tensor, label)


def _check_tables(name: str, tensor: Tensor, cos: Tensor, sin: Tensor) -> None:
    """Refuse cosines and sines that do not fit.

    They have to fit each other and have as many columns as the input.

    Raises:
        ShapeError: padded shapes differ, or the tables have another width than the input.
        DTypeError: the data types differ.
    """
    on_device(name, cos, "cos_cache")
    on_device(name, sin, "sin_cache")
    tables, width = cos.spec.padded_shape, (1, *tensor.spec.padded_shape)[-1]
    if tables != sin.spec.padded_shape:
        raise ShapeError(
            f"{name}: cos_cache has shape {cos.spec.shape}, sin_cache {sin.spec.shape}; they must be equal.",
            vendor=f"Cosine and Sine cache dimensions must match. Cos cache dimensions: {tables}, Sin cache "
            f"dimensions: {sin.spec.padded_shape}.",
        )
    if tables.rank > 1 and tables[-1] != width:
        raise ShapeError(
            f"{name}: cos_cache has shape {cos.spec.shape}; it must have the {width} columns of input_tensor.",
            vendor=f"Cosine cache dimensions must match input dimensions. Expected (1, 1, {width}), but got {tables}.",
        )
    if cos.spec.dtype is not sin.spec.dtype:
        raise DTypeError(
            f"{name}: cos_cache is {cos.spec.dtype.name}, sin_cache {sin.spec.dtype.name}; typecast one of them.",
            vendor="Cos and Sin dtypes must match",
        )


def _tables(
    name: str,
    tensor: Tensor,
    cos: Tensor,
    sin: Tensor,
    rows: int,
    *,
    by_row: bool,
    dtypes: tuple[DataType, ...] = _DTYPES,
) -> tuple[Tensor, Tensor, tuple[int, ...]]:
    """Return cosines and sines of input rows, and their broadcast shape."""
    for label, table in (("cos_cache", cos), ("sin_cache", sin)):
        _checked(name, label, table, tensor, dtypes)
    if cos.spec.shape != sin.spec.shape:
        raise ShapeError(
            f"{name}: cos_cache has shape {cos.spec.shape}, sin_cache {sin.spec.shape}; they must be equal.",
            vendor="Cos and Sin dims must match",
        )
    dims, of = tuple(cos.spec.shape), tuple(tensor.spec.shape)
    leading = all(size in (1, other) for size, other in zip(dims[:2], of[:2], strict=True))
    if dims[-1] != of[-1] or not leading or (not by_row and dims[2] < of[2]):
        raise ShapeError(f"{name}: cos_cache has shape {list(dims)}, which does not fit an input of {list(of)}.")
    if by_row:
        if dims[2] > TILE_SIZE:
            ends = [*dims[:2], 1, dims[3]]
            cos, sin = (sliced(name, table, [0] * 4, ends) for table in (cos, sin))
        return cos, sin, (*dims[:2], 1, dims[3])
    if -(-dims[2] // TILE_SIZE) * TILE_SIZE != rows:
        # The rows of the input are the first ones of the tables.
        ends = [*dims[:2], min(rows, dims[2]), dims[3]]
        cos, sin = (sliced(name, table, [0] * 4, ends) for table in (cos, sin))
    return cos, sin, (*dims[:2], rows, dims[3])


def rotated_by_halves(
    name: str,
    tensor: Tensor,
    cos: Tensor,
    sin: Tensor,
    token_index: int | None,
    memory_config: MemoryConfig | None,
    settings: tuple[int, bool],
    *,
    by_row: bool = False,
) -> Tensor:
    """Return the rotary embedding whose pairs are half a row apart.

    Raises:
        ShapeError: the width is not a multiple of two tiles, or the tables do not fit.
        ParameterError: the token is past the tables.
    """
    on_device(name, tensor)
    _check_tables(name, tensor, cos, sin)
    _checked(name, "input_tensor", tensor, tensor, _OF_HALVES)
    dims = tuple(tensor.spec.shape)
    if dims[-1] % (2 * TILE_SIZE):
        raise ShapeError(
            f"{name}: input_tensor has {dims[-1]} columns; halves of full tiles need a multiple of {2 * TILE_SIZE}.",
            vendor=f"Input X dim ({dims[-1]}) must be divisible into tiles",
        )
    rows = -(-dims[2] // TILE_SIZE) * TILE_SIZE
    if token_index is not None:
        size = cos.spec.shape[-2] if cos.spec.shape.rank == 4 else 0
        if not 0 <= token_index < size:
            raise ParameterError(f"{name}: token_index={token_index} is out of range for tables of {size} rows.")
        for label, table in (("cos_cache", cos), ("sin_cache", sin)):
            _checked(name, label, table, tensor, _OF_HALVES)
        starts = [0, 0, token_index, 0]
        cos, sin = (
            sliced(name, table, starts, [*tuple(table.spec.shape)[:2], token_index + 1, dims[3]])
            for table in (cos, sin)
        )
        by_row = True
    cos, sin, tables = _tables(name, tensor, cos, sin, rows, by_row=by_row, dtypes=_OF_HALVES)
    shape = (*dims[:2], rows, dims[3])
    place = memory_config or tensor.spec.memory_config
    output = allocate(TensorSpec.of(shape, tensor.spec.dtype, Layout.TILE, place), on_device(name, tensor))
    if is_empty(output.spec):
        return output
    dtypes = (tensor.spec.dtype, cos.spec.dtype, sin.spec.dtype)
    # The row of a token is untilized to bfloat16, whatever the table is.
    cut = token_index is not None and cos.spec.dtype is DataType.FLOAT32
    program = _program(shape, dtypes, tables, by_row, False, settings, cut)
    program.run([tensor, cos, sin, tensor], [output])
    return output


def rotated_by_tile(
    name: str,
    tensor: Tensor,
    cos: Tensor,
    sin: Tensor,
    matrix: Tensor,
    config: WormholeComputeKernelConfig | None,
    memory_config: MemoryConfig | None = None,
    *,
    by_row: bool,
    first_core: int = 0,
) -> Tensor:
    """Return the embedding whose pairs are those that a tile exchanges.

    While decoding every core, which has one user, may have a tile of its own; that of the first user is on the core
    `first_core`.

    Raises:
        ShapeError: the width is not a multiple of a tile, the matrix is none, or the tables do not fit.
    """
    on_device(name, tensor)
    _checked(name, "input_tensor", tensor, tensor)
    dims = tuple(tensor.spec.shape)
    rows = -(-dims[2] // TILE_SIZE) * TILE_SIZE
    if dims[-1] % TILE_SIZE:
        raise ShapeError(f"{name}: input_tensor has {dims[-1]} columns; they must be a multiple of {TILE_SIZE}.")
    _checked(name, "trans_mat", matrix, tensor)
    matrix = _matrices(name, matrix, dims[1] if by_row and dims[0] == 1 and rows == TILE_SIZE else 0, first_core)
    cos, sin, tables = _tables(name, tensor, cos, sin, rows, by_row=by_row)
    place = memory_config or tensor.spec.memory_config
    output = allocate(TensorSpec.of(dims, tensor.spec.dtype, Layout.TILE, place), on_device(name, tensor))
    if is_empty(output.spec):
        return output
    dtypes = (tensor.spec.dtype, cos.spec.dtype, sin.spec.dtype)
    program = _program((*dims[:2], rows, dims[3]), dtypes, tables, by_row, True, _settings(config))
    program.run([tensor, cos, sin, matrix], [output])
    return output


def _matrices(name: str, matrix: Tensor, users: int, first_core: int) -> Tensor:
    """Return the tile that exchanges pairs, or one per user.

    There are none in a prefill.
    """
    *_, height, width = tuple(matrix.spec.shape)
    tiles = matrix.spec.num_pages
    own = users > 0 and tiles >= first_core + users and height == tiles * TILE_SIZE
    if width != TILE_SIZE or matrix.spec.dtype is not _BF16 or not (own or height == TILE_SIZE):
        raise ShapeError(
            f"{name}: trans_mat has shape {matrix.spec.shape} in {matrix.spec.dtype.name}; it is a tile of 32x32 in "
            "BFLOAT16, or one for each user of decoding."
        )
    if tiles == 1:
        return matrix
    # Else every core has a copy of the same tile.
    rows = [first_core * TILE_SIZE, (first_core + users) * TILE_SIZE] if own else [0, TILE_SIZE]
    return sliced(name, matrix, [0, 0, rows[0], 0], [1, 1, rows[1], TILE_SIZE], None, DRAM_MEMORY_CONFIG)


def _rotary_embedding(
    input_tensor: Tensor,
    cos_cache: Tensor,
    sin_cache: Tensor,
    token_index: int | None,
    memory_config: MemoryConfig | None,
    _compute_kernel_config: WormholeComputeKernelConfig | None,
) -> Tensor:
    name = "ttnn.experimental.rotary_embedding"
    on_device(name, input_tensor)
    x, cos, sin = (_tiled(tensor) for tensor in (input_tensor, cos_cache, sin_cache))
    return rotated_by_halves(
        name,
        x,
        cos,
        sin,
        token_index,
        _in_shards(x, memory_config or x.spec.memory_config),
        _settings(None),
    )


def _tiled(tensor: Tensor) -> Tensor:
    """Return rows in tiles."""
    spec = tensor.spec
    if spec.layout is Layout.TILE or tensor._device is None or spec.dtype not in _OF_HALVES:
        return tensor
    tiled: Tensor = find("ttnn.to_layout")(tensor, Layout.TILE)
    return tiled


def _in_shards(tensor: Tensor, place: MemoryConfig) -> MemoryConfig:
    """Return the output's memory config.

    Shards that are not named are those of the input, or one for each of as many cores as divide its rows of tiles.
    """
    if not place.is_sharded() or place.shard_spec is not None or place.nd_shard_spec is not None:
        return place
    shards = tensor.spec.memory_config.shard_spec
    if shards is None:
        height, width = tensor.spec.physical_shape
        grid = on_device("rotary_embedding", tensor).compute_with_storage_grid_size()
        blocks = max(1, height // TILE_SIZE)
        cores = max(count for count in range(1, grid.x * grid.y + 1) if blocks % count == 0)
        shape = (blocks // cores * TILE_SIZE, width)
        shards = ShardSpec(num_cores_to_corerangeset(cores, grid, True), shape, ShardOrientation.ROW_MAJOR)
    return MemoryConfig(place.memory_layout, place.buffer_type, shards)


def _rotary_embedding_hf(
    input_tensor: Tensor,
    cos_cache: Tensor,
    sin_cache: Tensor,
    is_decode_mode: bool,
    memory_config: MemoryConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> Tensor:
    name = "ttnn.experimental.rotary_embedding_hf"
    return rotated_by_halves(
        name,
        input_tensor,
        cos_cache,
        sin_cache,
        None,
        memory_config,
        _settings(compute_kernel_config),
        by_row=is_decode_mode,
    )


def _rotary_embedding_llama(
    input_tensor: Tensor,
    cos_cache: Tensor,
    sin_cache: Tensor,
    trans_mat: Tensor,
    is_decode_mode: bool,
    memory_config: MemoryConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> Tensor:
    name = "ttnn.experimental.rotary_embedding_llama"
    return rotated_by_tile(
        name,
        input_tensor,
        cos_cache,
        sin_cache,
        trans_mat,
        compute_kernel_config,
        memory_config,
        by_row=is_decode_mode,
    )


def _rotary_embedding_llama_fused_qk(
    q_input_tensor: Tensor,
    k_input_tensor: Tensor,
    cos_cache: Tensor,
    sin_cache: Tensor,
    trans_mat: Tensor,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> tuple[Tensor, Tensor]:
    name = "ttnn.experimental.rotary_embedding_llama_fused_qk"
    on_device(name, q_input_tensor, "q_input_tensor")
    same_device(name, on_device(name, k_input_tensor, "k_input_tensor"), q_input_tensor, "q_input_tensor")
    query, key = (
        rotated_by_tile(name, tensor, cos, sin, trans_mat, compute_kernel_config, by_row=True, first_core=first)
        for first, (tensor, cos, sin) in zip(
            _first_cores(q_input_tensor, trans_mat),
            _halves(name, (q_input_tensor, k_input_tensor), cos_cache, sin_cache),
            strict=True,
        )
    )
    return query, key


def _first_cores(queries: Tensor, matrix: Tensor) -> tuple[int, int]:
    """Return the first cores of queries and keys.

    Keys follow the queries if each core has a tile.
    """
    users = queries.spec.shape[1]
    return (0, users if matrix.spec.num_pages == 2 * users else 0)


def _halves(name: str, tensors: tuple[Tensor, Tensor], cos: Tensor, sin: Tensor) -> list[tuple[Tensor, Tensor, Tensor]]:
    """Return queries and keys with their tables.

    Those of queries come first where there are twice as many.
    """
    for label, tensor in zip(("q_input_tensor", "k_input_tensor"), tensors, strict=True):
        _checked(name, label, tensor, tensors[0])
    users = tensors[0].spec.shape[1]
    parts: list[tuple[Tensor, Tensor, Tensor]] = []
    for number, tensor in enumerate(tensors):
        tables = [cos, sin]
        if cos.spec.shape.rank == 4 and cos.spec.shape == sin.spec.shape and cos.spec.shape[1] == 2 * users:
            dims = tuple(cos.spec.shape)
            starts, ends = [0, number * users, 0, 0], [dims[0], (number + 1) * users, *dims[2:]]
            tables = [sliced(name, table, starts, ends, None, DRAM_MEMORY_CONFIG) for table in tables]
        parts.append((tensor, tables[0], tables[1]))
    return parts


_COS: Final = Param("cos_cache", TENSOR, doc="[1, 1, S, D]: cosines of positions.", example=Example((1, 1, 64, 128)))
_SIN: Final = Param("sin_cache", TENSOR, doc="Of the shape of `cos_cache`: sines.", example=Example((1, 1, 64, 128), 2))
_MATRIX: Final = Param("trans_mat", TENSOR, doc="[1, 1, 32, 32]: exchanges pairs.", example=Example((1, 1, 32, 32), 3))
_DECODE: Final = Param("is_decode_mode", BOOLEAN, False, doc="The first row of the tables serves all rows of a user.")
_COMPUTE: Final = Param(
    "compute_kernel_config", COMPUTE_KERNEL_CONFIG, None, doc="Math fidelity and Dst width. Default: HiFi4 and 16 bits."
)
_ERRORS: Final = (
    ("ShapeError", "shapes do not fit each other, or columns are no full tiles."),
    ("DTypeError", "a tensor is of another data type than those."),
    ("LayoutError", "a tensor is row-major."),
)
_ACCURACY: Final = no_bound("for the two products may cancel")
_SOURCE: Final = "tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer"


def _examples_of(matrix: bool, shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if len(shape) != 4 or layout is not Layout.TILE or 0 in shape or shape[-1] % 64 or shape[-2] % TILE_SIZE:
        return ()
    tables = (Example((1, 1, *shape[2:])), Example((1, 1, *shape[2:]), 2))
    return ((*tables, Example((1, 1, 32, 32), 3, dtype=_BF16)),) if matrix else (tables,)


_declare: Final = partial(declare, layouts=(Layout.TILE,), accuracy=_ACCURACY, engine=("Pipeline",))

rotary_embedding = _declare(
    "experimental.rotary_embedding",
    dtypes=_OF_HALVES,
    aliases=("transformer.rotary_embedding",),
    signatures=(
        Signature(
            (
                INPUT_TENSOR,
                _COS,
                _SIN,
                Param(
                    "token_index",
                    INTEGER,
                    None,
                    doc="Row of the tables for all rows. Default: row i for row i.",
                    example=3,
                ),
            ),
            (
                MEMORY_CONFIG_OPTION,
                Param(
                    "compute_kernel_config",
                    COMPUTE_KERNEL_CONFIG,
                    None,
                    doc="Not used: the program has HiFi4 and a 16-bit Dst.",
                ),
            ),
        ),
    ),
    run=_rotary_embedding,
    doc="Return the rotary embedding `x * cos + rotate_half(x) * sin`.\n"
    "`rotate_half` swaps the halves of the columns and negates the new first half.\n"
    "Shape: [B, H, S, D] -> [B, H, S, D], with S rounded up to a multiple of 32.",
    source=f"{_SOURCE}/rotary_embedding`",
    golden=golden.rotary_embedding,
    raises=(*_ERRORS, ("ParameterError", "`token_index` is behind the tables.")),
    examples=lambda shape, layout: _examples_of(False, shape, layout),
)

rotary_embedding_hf = _declare(
    "experimental.rotary_embedding_hf",
    dtypes=_OF_HALVES,
    signatures=(Signature((INPUT_TENSOR, _COS, _SIN), (_DECODE, MEMORY_CONFIG_OPTION, _COMPUTE)),),
    run=_rotary_embedding_hf,
    doc="Return the rotary embedding `x * cos + rotate_half(x) * sin`.\n"
    "`rotate_half` swaps the halves of the columns and negates the new first half.\n"
    "Shape: [B, H, S, D] -> [B, H, S, D], with S rounded up to a multiple of 32.",
    source=f"{_SOURCE}/rotary_embedding_hf`",
    golden=golden.rotary_embedding,
    raises=_ERRORS,
    examples=lambda shape, layout: _examples_of(False, shape, layout),
)

rotary_embedding_llama = _declare(
    "experimental.rotary_embedding_llama",
    dtypes=_DTYPES,
    signatures=(Signature((INPUT_TENSOR, _COS, _SIN, _MATRIX), (_DECODE, MEMORY_CONFIG_OPTION, _COMPUTE)),),
    run=_rotary_embedding_llama,
    doc="Return the rotary embedding `x * cos + (x @ trans_mat) * sin`, per 32 columns.\n"
    "Shape: [B, H, S, D] -> [B, H, S, D].",
    source=f"{_SOURCE}/rotary_embedding_llama`",
    golden=golden.rotary_embedding_llama,
    raises=_ERRORS,
    examples=lambda shape, layout: _examples_of(True, shape, layout),
)

rotary_embedding_llama_fused_qk = _declare(
    "experimental.rotary_embedding_llama_fused_qk",
    dtypes=_DTYPES,
    signatures=(
        Signature(
            (
                Param("q_input_tensor", TENSOR, doc="[1, B, H, D] on a device: queries."),
                Param("k_input_tensor", TENSOR, doc="[1, B, H, D]: keys."),
                _COS,
                _SIN,
                _MATRIX,
            ),
            (_COMPUTE,),
        ),
    ),
    run=_rotary_embedding_llama_fused_qk,
    doc="Return `rotary_embedding_llama` in decode mode of queries and of keys.\n"
    "Shape: [1, B, H, D], [1, B, H2, D] -> [1, B, H, D], [1, B, H2, D].",
    source=f"{_SOURCE}/rotary_embedding_llama_fused_qk`",
    golden=golden.rotary_embedding_llama_fused_qk,
    raises=_ERRORS,
    examples=lambda shape, layout: tuple(
        (Example(shape, 4), *example) for example in _examples_of(True, shape, layout)
    ),
)
