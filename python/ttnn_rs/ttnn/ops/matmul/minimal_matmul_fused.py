"""The experimental matmul with fused output steps.

Its columns are cut into parts, or a gated sum follows.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/minimal_matmul` and
`ttnn/cpp/ttnn/operations/experimental/transformer/dit_minimal_matmul_addcmul_fused`.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Final

from ttnn.base.activation import Activation
from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.enums import TILE_SIZE, DataType, Layout
from ttnn.base.exceptions import DTypeError, ParameterError, ShapeError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.program_config import MinimalMatmulConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import matmul as golden
from ttnn.operation.domain import Operand
from ttnn.operation.registry import declare
from ttnn.operation.signature import FLOAT, INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.activations import chain
from ttnn.ops._programs.common import allocate, as_float, on_device
from ttnn.ops._programs.pipeline import ROWS, Pipeline, rounded, scalar_chain
from ttnn.ops._programs.product import tiles_of
from ttnn.ops._programs.windows import copy_tiles
from ttnn.tensor.tensor import Tensor

from .matmul import GROWS_WITH_K
from .minimal_matmul import DTYPES, OPTIONS, blocked, checked, numerics_of, operand, result_dtype

_SPLIT: Final = "ttnn.experimental.minimal_matmul_split"
_GATED: Final = "ttnn.experimental.dit_minimal_matmul_addcmul_fused"


def _split(
    input_tensor: Tensor,
    weight_tensor: Tensor,
    chunks: int,
    dim: int,
    bias_tensor: Tensor | None,
    fused_activation: Activation | None,
    config: MinimalMatmulConfig | None,
    memory_config: MemoryConfig | None,
    dtype: DataType | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    fuse_swiglu: bool,
) -> list[Tensor]:
    device = on_device(_SPLIT, input_tensor)
    if chunks < 1:
        raise ParameterError(
            f"{_SPLIT}: chunks={chunks} must be positive.",
            vendor=f"minimal_matmul_split requires chunks >= 1, got chunks={chunks}",
        )
    if dim != -1:
        raise UnsupportedError(
            f"{_SPLIT}: dim={dim}: columns are split; leave dim at -1.\ninfo:\nminimal_matmul_split currently only "
            f"supports dim=-1, got dim={dim}"
        )
    width = checked(_SPLIT, input_tensor, weight_tensor, bias_tensor)
    each, rest = divmod(width, chunks)
    if rest:
        raise ShapeError(
            f"{_SPLIT}: {width} columns cannot be split into {chunks} parts.",
            vendor=f"Output width N={width} must be divisible by chunks={chunks}",
        )
    if each % TILE_SIZE:
        raise ShapeError(
            f"{_SPLIT}: parts of {each} columns; they must be multiples of {TILE_SIZE}.",
            vendor=f"Each chunk size N/chunks={each} must be a multiple of TILE_WIDTH={TILE_SIZE}",
        )
    taken = result_dtype(_SPLIT, dtype, input_tensor)
    spec = input_tensor.spec
    leading, place = tuple(spec.shape)[:-1], memory_config or spec.memory_config
    whole = allocate(TensorSpec.of((*leading, width), taken, Layout.TILE, DRAM_MEMORY_CONFIG), device)
    parts = [allocate(TensorSpec.of((*leading, each), taken, Layout.TILE, place), device) for _ in range(chunks)]
    activation: Any = () if fused_activation is None else chain(_SPLIT, [fused_activation])
    numerics = numerics_of(compute_kernel_config)
    blocked(_SPLIT, input_tensor, weight_tensor, bias_tensor, whole, config, numerics, activation)
    columns, of_part = tiles_of(width), tiles_of(each)
    rows = whole.spec.num_pages // columns
    for number, part in enumerate(parts):
        copy_tiles(whole, part, shape=(rows, of_part), strides=(columns, 1), offset=number * of_part)
    return parts


def _gated(
    matmul_input_tensor: Tensor,
    matmul_weight_tensor: Tensor,
    scalar: float,
    addcmul_input_tensor1: Tensor,
    addcmul_input_tensor2: Tensor,
    bias_tensor: Tensor | None,
    config: MinimalMatmulConfig | None,
    memory_config: MemoryConfig | None,
    dtype: DataType | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> Tensor:
    a, b, base, gate = matmul_input_tensor, matmul_weight_tensor, addcmul_input_tensor1, addcmul_input_tensor2
    device = on_device(_GATED, a)
    width = checked(_GATED, a, b, bias_tensor)
    shape = (*tuple(a.spec.shape)[:-1], width)
    for label, tensor in (("addcmul_input_tensor1", base), ("addcmul_input_tensor2", gate)):
        operand(_GATED, tensor, label, a)
    if tuple(base.spec.shape)[-2:] != shape[-2:] or base.spec.shape.volume() != math.prod(shape):
        raise ShapeError(
            f"{_GATED}: addcmul_input_tensor1 has shape {base.spec.shape}; it must be that of the matmul, "
            f"{list(shape)}.",
            vendor=f"fused_ternary_input_a shape must match output [M={shape[-2]}, N={width}]",
        )
    if tuple(gate.spec.shape)[-2:] != (1, width) or gate.spec.shape.volume() != width:
        raise ShapeError(
            f"{_GATED}: addcmul_input_tensor2 has shape {gate.spec.shape}; it must be [1, {width}].",
            vendor=f"fused_ternary_input_b shape must be [1, N={width}] (broadcast like bias)",
        )
    if base.spec.dtype is not b.spec.dtype:
        raise DTypeError(
            f"{_GATED}: addcmul_input_tensor1 is {base.spec.dtype.name}, matmul_weight_tensor {b.spec.dtype.name}; "
            "they must be equal.",
            vendor="ternary_a_data_format must be equal to in1_data_format",
        )
    taken = result_dtype(_GATED, dtype, a)
    numerics = numerics_of(compute_kernel_config)
    between = DataType.FLOAT32 if numerics.dst32 else DataType.BFLOAT16
    sums = allocate(TensorSpec.of(shape, between, Layout.TILE, DRAM_MEMORY_CONFIG), device)
    output = allocate(TensorSpec.of(shape, taken, Layout.TILE, memory_config or a.spec.memory_config), device)
    blocked(_GATED, a, b, bias_tensor, sums, config, numerics)
    program = Pipeline(shape, ROWS, between, numerics.dst32, numerics.fidelity)
    product = program.tensor(between)
    row = program.tensor(gate.spec.dtype, (*(1 for _ in shape[:-1]), width), "row")
    factor = scalar_chain("mul_unary", rounded(as_float(_GATED, scalar, "scalar")))
    if gate.spec.dtype is DataType.FLOAT32:
        # A float32 gate is broadcast in Dst and multiplied by the SFPU.
        scaled = program.sfpu(("mul_binary", "default"), product, row, between, factor)
    else:
        scaled = program.eltwise("mul", product, row, between, factor)
    program.eltwise("add", scaled, program.tensor(base.spec.dtype), taken, output=0)
    program.run([sums, gate, base], [output])
    return output


_INPUT: Final = Param("input_tensor", TENSOR, doc="[..., M, K] on a device, in TILE_LAYOUT.")
_WEIGHT: Final = Param("weight_tensor", TENSOR, doc="[K, N].", example=Operand((128, 96)))
_ERRORS: Final = (
    ("ShapeError", "the operands do not fit."),
    ("DTypeError", "an operand is not floating point."),
    ("LayoutError", "an operand is row-major."),
    ("ParameterError", "blocks have no tiles."),
)


def _examples(shape: tuple[int, ...], layout: Layout, *, gated: bool = False) -> tuple[tuple[Any, ...], ...]:
    if len(shape) < 2 or 0 in shape or layout is not Layout.TILE:
        return ()
    weight = Operand((shape[-1], 96))
    return ((weight, 0.5, Operand((*shape[:-1], 96), 2), Operand((1, 96), 3)),) if gated else ((weight,),)


_declare: Final = partial(
    declare,
    dtypes=DTYPES,
    layouts=(Layout.TILE,),
    accuracy=GROWS_WITH_K,
)

minimal_matmul_split = _declare(
    "experimental.minimal_matmul_split",
    (
        Signature(
            (_INPUT, _WEIGHT),
            (
                Param("chunks", INTEGER, 3, doc="Parts of the result."),
                Param("dim", INTEGER, -1, doc="The dimension that is split: the last one."),
                *OPTIONS,
            ),
        ),
    ),
    _split,
    "Return the parts of `input_tensor @ weight_tensor + bias_tensor`, cut between columns.\n"
    "Shape: [..., M, K], [K, N] -> `chunks` of [..., M, N / chunks]; parts are multiples of 32.\n"
    "Blocks along K are summed in L1 as `minimal_matmul` does.",
    source="tt-metal `ttnn/cpp/ttnn/operations/experimental/minimal_matmul`",
    golden=golden.minimal_matmul_split,
    engine=("matmul", "fill", "write_window"),
    raises=(*_ERRORS, ("UnsupportedError", "`dim` is another one.")),
    examples=_examples,
)

dit_minimal_matmul_addcmul_fused = _declare(
    "experimental.dit_minimal_matmul_addcmul_fused",
    (
        Signature(
            (
                Param("matmul_input_tensor", TENSOR, doc="[..., M, K] on a device, in TILE_LAYOUT."),
                Param("matmul_weight_tensor", TENSOR, doc="[K, N].", example=Operand((128, 96))),
                Param("scalar", FLOAT, doc="Factor of the matmul.", example=0.5),
                Param(
                    "addcmul_input_tensor1",
                    TENSOR,
                    doc="[..., M, N], of the data type of the weights: added to the matmul.",
                    example=Operand((1, 1, 64, 96), 2),
                ),
                Param(
                    "addcmul_input_tensor2",
                    TENSOR,
                    doc="[1, N]: factors of the matmul's columns.",
                    example=Operand((1, 96), 3),
                ),
                Param("bias_tensor", TENSOR, None, doc="[1, N]: added to the matmul.", example=Operand((1, 96), 4)),
            ),
            tuple(
                option for option in OPTIONS if option.name not in ("bias_tensor", "fused_activation", "fuse_swiglu")
            ),
        ),
    ),
    _gated,
    "Return `addcmul_input_tensor1 + scalar * product * addcmul_input_tensor2`, where the product is "
    "`matmul_input_tensor @ matmul_weight_tensor + bias_tensor`.\n"
    "Shape: [..., M, K], [K, N], [..., M, N], [1, N] -> [..., M, N].\n"
    "The product, and again its scaled form, are packed to float32 and read back as TF32, or packed to bfloat16 with a "
    "16-bit Dst.",
    source="tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer/dit_minimal_matmul_addcmul_fused`",
    golden=golden.dit_minimal_matmul_addcmul_fused,
    engine=("matmul", "fill", "Pipeline"),
    raises=_ERRORS,
    examples=partial(_examples, gated=True),
)
