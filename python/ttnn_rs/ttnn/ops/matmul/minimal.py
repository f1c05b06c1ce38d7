"""The experimental product whose blocks along K are all summed in L1.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/minimal_matmul`.
"""

from __future__ import annotations

from typing import Any, Final

from ttnn import _engine
from ttnn.base.activation import UnaryWithParam
from ttnn.base.compute_config import FIDELITY_NUMBER, WormholeComputeKernelConfig
from ttnn.base.config import CONFIG
from ttnn.base.enums import FORMAT_CODE, TILE_SIZE, DataType, Layout, MathFidelity
from ttnn.base.exceptions import DTypeError, LayoutError, ShapeError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.program_config import MinimalMatmulConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import matmul as golden
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import (
    BOOLEAN,
    COMPUTE_KERNEL_CONFIG,
    DATA_TYPE,
    TENSOR,
    Param,
    Signature,
    instance_kind,
)
from ttnn.ops._programs.activations import chain
from ttnn.ops._programs.common import (
    MEMORY_CONFIG_OPTION,
    allocate,
    arch_number,
    full_tiles,
    on_device,
    same_device,
)
from ttnn.tensor.tensor import Tensor

from .operator import GROWS_WITH_K

_NAME: Final = "ttnn.experimental.minimal_matmul"
_DTYPES: Final = (DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B, DataType.BFLOAT4_B)
_BLOCK: Final = 8
"""Tiles of a block along K, if none are given."""


def _operand(tensor: Tensor, label: str, first: Tensor) -> None:
    same_device(_NAME, on_device(_NAME, first), tensor, label)
    spec = tensor._spec
    if spec.dtype not in _DTYPES:
        raise DTypeError(f"{_NAME}: {label} is {spec.dtype.name}; typecast it to a floating point type first.")
    if spec.layout is not Layout.TILE:
        raise LayoutError(f"{_NAME}: {label} is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).")
    full_tiles(_NAME, tensor, label)


def _tiles(extent: int) -> int:
    return -(-extent // TILE_SIZE)


def _block(inner: int, config: MinimalMatmulConfig | None) -> int:
    """Return the tiles of a block along K.

    Raises:
        UnsupportedError: the last block would be shorter.
    """
    block = min(_BLOCK if config is None else config.K_block_size, inner)
    if block < 1 or inner % block:
        raise UnsupportedError(
            f"{_NAME}: {inner} tiles along K in blocks of {block}: a shorter last block is not built yet; choose "
            "config.K_block_size.",
            "unimplemented",
        )
    return block


def _minimal_matmul(
    input_tensor: Tensor,
    weight_tensor: Tensor,
    bias_tensor: Tensor | None,
    fused_activation: UnaryWithParam | None,
    config: MinimalMatmulConfig | None,
    memory_config: MemoryConfig | None,
    dtype: DataType | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    fuse_swiglu: bool,
) -> Tensor:
    device = on_device(_NAME, input_tensor)
    _operand(input_tensor, "input_tensor", input_tensor)
    _operand(weight_tensor, "weight_tensor", input_tensor)
    a, b = tuple(input_tensor._spec.shape), tuple(weight_tensor._spec.shape)
    if len(a) < 2 or len(b) < 2 or a[-1] != b[-2] or any(size != 1 for size in b[:-2]) or 0 in (*a, *b):
        raise ShapeError(
            f"{_NAME}: input_tensor {list(a)} and weight_tensor {list(b)} do not fit; they are [..., M, K] and [K, N]."
        )
    width = b[-1]
    if bias_tensor is None:
        spec = TensorSpec.of((1, width), DataType.BFLOAT16, Layout.TILE, DRAM_MEMORY_CONFIG)
        # The sums are read back as TF32 with a bias or without; adding zero changes nothing else.
        bias = allocate(spec, device)
        assert bias._buffer is not None
        _engine.fill(bias._buffer, format=FORMAT_CODE[DataType.BFLOAT16], value=0.0)
    else:
        _operand(bias_tensor, "bias_tensor", input_tensor)
        if bias_tensor._spec.shape.volume() != width or bias_tensor._spec.shape[-1] != width:
            raise ShapeError(f"{_NAME}: bias_tensor is {bias_tensor._spec.shape}; it must be [1, {width}].")
        bias = bias_tensor
    dtype = dtype or input_tensor._spec.dtype
    if dtype not in _DTYPES:
        raise DTypeError(f"{_NAME}: dtype is {dtype.name}; the result is floating point.")
    place = memory_config or input_tensor._spec.memory_config
    output = allocate(TensorSpec.of((*a[:-1], width), dtype, Layout.TILE, place), device)
    fidelity, dst32, accumulates = MathFidelity.HiFi2, True, True
    if compute_kernel_config is not None:
        if compute_kernel_config.math_fidelity is not MathFidelity.Invalid:
            fidelity = compute_kernel_config.math_fidelity
        dst32 = compute_kernel_config.fp32_dest_acc_en
    inner = _tiles(a[-1])
    rows = input_tensor._spec.num_pages // inner
    activation: Any = () if fused_activation is None else chain(_NAME, [fused_activation])
    assert input_tensor._buffer is not None
    assert weight_tensor._buffer is not None
    assert bias._buffer is not None
    assert output._buffer is not None
    run = _engine.matmul_fast if CONFIG.numerics == "fast" else _engine.matmul
    run(
        input_tensor._buffer,
        weight_tensor._buffer,
        bias._buffer,
        output._buffer,
        formats=(
            FORMAT_CODE[input_tensor._spec.dtype],
            FORMAT_CODE[weight_tensor._spec.dtype],
            FORMAT_CODE[bias._spec.dtype],
            FORMAT_CODE[dtype],
        ),
        batch=(1, 1, 1),
        mt=rows,
        kt=inner,
        nt=_tiles(width),
        k=a[-1],
        kb=_block(inner, config),
        ring=None,
        fidelity=FIDELITY_NUMBER[fidelity],
        dst32=dst32,
        l1_acc=accumulates,
        relu=False,
        activation=activation,
        transpose_a=False,
        transpose_b=False,
        arch=arch_number(device),
    )
    return output


def _examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if len(shape) < 2 or 0 in shape or layout is not Layout.TILE or _tiles(shape[-1]) > _BLOCK:
        return ()
    return ((Operand((shape[-1], 96)),),)


minimal_matmul = register(
    Op(
        name="experimental.minimal_matmul",
        signatures=(
            Signature(
                (
                    Param("input_tensor", TENSOR, doc="[..., M, K] on a device, in TILE_LAYOUT."),
                    Param("weight_tensor", TENSOR, doc="[K, N].", example=Operand((128, 96))),
                ),
                (
                    Param("bias_tensor", TENSOR, None, doc="[1, N]: added at the end.", example=Operand((1, 96), 2)),
                    Param(
                        "fused_activation",
                        instance_kind("ttnn.UnaryWithParam", UnaryWithParam),
                        None,
                        doc="Applied to the result in Dst.",
                    ),
                    Param(
                        "config",
                        instance_kind("ttnn.MinimalMatmulConfig", MinimalMatmulConfig),
                        None,
                        doc="Sizes of blocks; the one along K decides the order of sums. Default: 8 tiles.",
                        example=MinimalMatmulConfig(K_block_size=1),
                    ),
                    MEMORY_CONFIG_OPTION,
                    Param("dtype", DATA_TYPE, None, doc="Data type of the output. Default: that of the input."),
                    Param(
                        "compute_kernel_config",
                        COMPUTE_KERNEL_CONFIG,
                        None,
                        doc="Math fidelity and Dst width. Default: HiFi2 and 32 bits.",
                    ),
                    Param("fuse_swiglu", BOOLEAN, False, modelled=False),
                ),
            ),
        ),
        run=_minimal_matmul,
        doc="Return `input_tensor @ weight_tensor + bias_tensor`.\n"
        "Shape: [..., M, K], [K, N] -> [..., M, N].\n"
        "Blocks along K are summed in L1 in float32, and the sum is read back as TF32.",
        source="tt-metal `ttnn/cpp/ttnn/operations/experimental/minimal_matmul`",
        dtypes=_DTYPES,
        layouts=(Layout.TILE,),
        golden=golden.minimal_matmul,
        accuracy=GROWS_WITH_K,
        engine=("matmul", "fill"),
        raises=(
            ("ShapeError", "the operands do not fit."),
            ("DTypeError", "an operand is not floating point."),
            ("LayoutError", "an operand is row-major."),
            ("UnsupportedError", "blocks do not divide the tiles along K."),
        ),
        examples=_examples,
    )
)
