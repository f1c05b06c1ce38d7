"""Rows of one expert, out of those of all and back.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/deepseek_prefill`, folders `extract` and `insert`.
"""

from __future__ import annotations

from functools import partial
from typing import Final, NamedTuple

from ttnn.base.enums import BufferType, DataType, Layout
from ttnn.base.exceptions import DTypeError, LayoutError, MemoryConfigError, ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.mesh_device import MeshDevice
from ttnn.golden import moe as golden
from ttnn.operation.accuracy import bit_exact
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.attention import integers
from ttnn.ops._programs.common import allocate, full_tiles, on_device, same_device
from ttnn.ops._programs.windows import copy_tiles
from ttnn.ops.data_movement.permute import moved_to
from ttnn.tensor.tensor import Tensor

_TILE: Final = 32
_DTYPES: Final = (DataType.BFLOAT8_B, DataType.BFLOAT16)


class _Rows(NamedTuple):
    """The tile rows of an expert: the first, and their number."""

    first: int
    number: int


def _in_dram(name: str, tensor: Tensor, label: str) -> None:
    config = tensor.spec.memory_config
    if not config.interleaved or config.buffer_type is not BufferType.DRAM:
        raise MemoryConfigError(
            f"{name}: {label} must be interleaved in DRAM.", vendor=f"{label} must be DRAM interleaved"
        )


def _tokens(name: str, tensor: Tensor, label: str) -> tuple[int, int]:
    """Check a tensor of tokens; return its sizes in tiles."""
    spec = tensor.spec
    if spec.dtype not in _DTYPES:
        raise DTypeError(
            f"{name}: {label} is {spec.dtype.name}; it must be BFLOAT8_B or BFLOAT16.",
            vendor=f"{label} must be BFLOAT8_B or BFLOAT16, got DataType::{spec.dtype.name}",
        )
    if spec.layout is not Layout.TILE:
        raise LayoutError(f"{name}: {label} is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).")
    _in_dram(name, tensor, label)
    full_tiles(name, tensor, label)
    shape = tuple(spec.shape)
    if len(shape) != 2 or any(size % _TILE for size in shape) or 0 in shape:
        raise ShapeError(f"{name}: {label} has shape {list(shape)}; it must be [rows, D] of full tiles.")
    return shape[0] // _TILE, shape[1] // _TILE


def _rows(
    name: str, device: MeshDevice, start: Tensor, counts: Tensor, table: Tensor, expert: int, tile_rows: int
) -> _Rows:
    """Return an expert's rows; tensors of numbers are checked."""
    numbers = []
    for label, tensor in (("start", start), ("counts", counts), ("global_expert_idx_table", table)):
        same_device(name, device, tensor, label)
        if tensor.spec.dtype is not DataType.UINT32 or tensor.spec.layout is not Layout.ROW_MAJOR:
            kind = tensor.spec.dtype.name
            raise DTypeError(
                f"{name}: {label} is {kind} in {tensor.spec.layout.name}; it must be row-major UINT32.",
                vendor=f"{label} must be UINT32, got DataType::{kind}",
            )
        _in_dram(name, tensor, label)
        shape = tuple(tensor.spec.shape)
        if len(shape) not in (1, 2) or (len(shape) == 2 and shape[0] != 1):
            raise ShapeError(
                f"{name}: {label} has shape {list(shape)}; it must be [experts] or [1, experts].",
                vendor=f"{label} must be 1D or 2D with first dimension == 1, got shape {tensor.spec.shape}",
            )
        numbers.append(tensor)
    if start.spec.shape[-1] != counts.spec.shape[-1]:
        raise ShapeError(f"{name}: start has {start.spec.shape[-1]} experts, counts {counts.spec.shape[-1]}.")
    if not 0 <= expert < table.spec.shape[-1]:
        last = table.spec.shape[-1] - 1
        raise ParameterError(
            f"{name}: local_expert_id={expert} is out of range for {last + 1} experts of the table.",
            vendor=f"local_expert_id ({expert}) must be in the range [0, {last}] "
            "(global_expert_idx_table last dimension - 1)",
        )
    starts, lengths, experts = (integers(name, tensor, "an index tensor") for tensor in numbers)
    chosen = experts[expert]
    if chosen >= len(starts):
        raise ParameterError(f"{name}: global_expert_idx_table names expert {chosen} of {len(starts)}.")
    found = _Rows(starts[chosen] // _TILE, -(-lengths[chosen] // _TILE))
    if found.first + found.number > tile_rows:
        raise ParameterError(
            f"{name}: expert {chosen} has rows {starts[chosen]} to {starts[chosen] + lengths[chosen]}; "
            f"global_tensor has {tile_rows * _TILE}."
        )
    return found


def _extract(
    global_tensor: Tensor,
    start: Tensor,
    counts: Tensor,
    global_expert_idx_table: Tensor,
    local_expert_id: int,
    max_dispatched_tokens_per_expert: int,
) -> Tensor:
    name = "ttnn.experimental.deepseek_prefill.extract"
    device = on_device(name, global_tensor, "global_tensor")
    tile_rows, across = _tokens(name, global_tensor, "global_tensor")
    most = max_dispatched_tokens_per_expert
    if most <= 0 or most % _TILE:
        raise ParameterError(
            f"{name}: max_dispatched_tokens_per_expert is {most}; it must be a positive multiple of {_TILE}.",
            vendor=f"max_dispatched_tokens_per_expert ({most}) must be a multiple of TILE_HEIGHT ({_TILE})"
            if most > 0
            else "max_dispatched_tokens_per_expert must be > 0",
        )
    rows = _rows(name, device, start, counts, global_expert_idx_table, local_expert_id, tile_rows)
    if rows.number * _TILE > most:
        raise ParameterError(f"{name}: the expert has {rows.number * _TILE} rows; the result has {most}.")
    spec = global_tensor.spec
    output = allocate(TensorSpec.of((most, spec.shape[1]), spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG), device)
    if rows.number:
        copy_tiles(
            global_tensor,
            output,
            shape=(most // _TILE, across),
            strides=(across, 1),
            offset=rows.first * across,
            window=[(0, rows.number), (0, across)],
        )
    return output


def _insert(
    global_tensor: Tensor,
    local_tensor: Tensor,
    start: Tensor,
    counts: Tensor,
    global_expert_idx_table: Tensor,
    local_expert_id: int,
) -> Tensor:
    name = "ttnn.experimental.deepseek_prefill.insert"
    device = on_device(name, global_tensor, "global_tensor")
    tile_rows, across = _tokens(name, global_tensor, "global_tensor")
    same_device(name, device, local_tensor, "local_tensor")
    local_rows, local_across = _tokens(name, local_tensor, "local_tensor")
    if global_tensor.spec.dtype is not local_tensor.spec.dtype:
        raise DTypeError(
            f"{name}: global_tensor is {global_tensor.spec.dtype.name}, local_tensor {local_tensor.spec.dtype.name}; "
            "typecast one of them."
        )
    if across != local_across:
        sizes = local_tensor.spec.shape[1], global_tensor.spec.shape[1]
        raise ShapeError(
            f"{name}: rows of local_tensor have {sizes[0]} elements, those of global_tensor {sizes[1]}.",
            vendor=f"local_tensor hidden_dim ({sizes[0]}) must match global_tensor hidden_dim ({sizes[1]})",
        )
    rows = _rows(name, device, start, counts, global_expert_idx_table, local_expert_id, tile_rows)
    if rows.number > local_rows:
        raise ParameterError(f"{name}: the expert has {rows.number * _TILE} rows, local_tensor {local_rows * _TILE}.")
    if rows.number:
        if global_tensor.buffer is local_tensor.buffer:
            # Rows are read before others of them are written.
            local_tensor = moved_to(local_tensor, DRAM_MEMORY_CONFIG)
        copy_tiles(
            local_tensor,
            global_tensor,
            shape=(tile_rows, across),
            strides=(across, 1),
            window=[(rows.first, rows.number), (0, across)],
        )
    return global_tensor


def _numbers(label: str, doc: str, example_value: int = 0) -> Param:
    limits = (example_value, example_value)
    example = Operand((4,), dtype=DataType.UINT32, layout=Layout.ROW_MAJOR, between=limits)
    return Param(label, TENSOR, doc=f"[experts] or [1, experts] of row-major UINT32 in DRAM: {doc}.", example=example)


_GLOBAL: Final = Param(
    "global_tensor", TENSOR, doc="[rows, D] of all experts, tiled in DRAM.", example=Operand((128, 64))
)
_INDICES: Final = (
    _numbers("start", "the first row of each expert"),
    _numbers("counts", "the number of its rows", 64),
    _numbers("global_expert_idx_table", "numbers of this device's experts"),
)
_EXPERT: Final = Param("local_expert_id", INTEGER, doc="The position of the expert in the table.", example=0)
declare = partial(
    Op,
    dtypes=_DTYPES,
    layouts=(Layout.TILE,),
    accuracy=bit_exact(),
    numerics="movement",
    engine=("write_window",),
    examples=(),
    scalars=True,
    raises=(
        ("DTypeError", "a data type is not supported."),
        ("LayoutError", "a tensor of tokens is row-major."),
        ("MemoryConfigError", "a tensor is not interleaved in DRAM."),
        ("ShapeError", "shapes do not fit."),
        ("ParameterError", "an expert or its rows are out of range."),
    ),
)

extract = register(
    declare(
        name="experimental.deepseek_prefill.extract",
        signatures=(
            Signature(
                (_GLOBAL, *_INDICES),
                (
                    _EXPERT,
                    Param(
                        "max_dispatched_tokens_per_expert",
                        INTEGER,
                        doc="Rows of the result, a multiple of 32.",
                        example=64,
                    ),
                ),
            ),
        ),
        run=_extract,
        doc="Return the rows of one expert, rounded up to tiles.\n"
        "Shape: [rows, D] -> [max_dispatched_tokens_per_expert, D].\n"
        "Rows after those of the expert are not written.",
        source="tt-metal `ttnn/cpp/ttnn/operations/experimental/deepseek_prefill/extract`",
        golden=golden.extract_rows,
    )
)
insert = register(
    declare(
        name="experimental.deepseek_prefill.insert",
        signatures=(
            Signature(
                (
                    _GLOBAL,
                    Param(
                        "local_tensor", TENSOR, doc="[n, D] of one expert, tiled in DRAM.", example=Operand((64, 64), 1)
                    ),
                    *_INDICES,
                ),
                (_EXPERT,),
            ),
        ),
        run=_insert,
        doc="Write the rows of one expert; return the tensor.\n"
        "The number of rows is rounded up to tiles.\nShape: [rows, D], [n, D] -> [rows, D].",
        source="tt-metal `ttnn/cpp/ttnn/operations/experimental/deepseek_prefill/insert`",
        golden=golden.insert_rows,
    )
)
