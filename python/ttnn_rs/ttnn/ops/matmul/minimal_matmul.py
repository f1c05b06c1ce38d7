"""The experimental product whose blocks along K are all summed in L1.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/minimal_matmul`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from ttnn.base.activation import Activation
from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.enums import BLOCK_FLOATS, FORMAT_CODE, TILE_SIZE, DataType, Layout, MathFidelity
from ttnn.base.exceptions import DTypeError, LayoutError, ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.program_config import MinimalMatmulConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import matmul as golden
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import (
    ACTIVATION,
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
    full_tiles,
    on_device,
    same_device,
)
from ttnn.ops._programs.pipeline import ROWS, Pipeline
from ttnn.ops._programs.product import Numerics, multiply, tiles_of
from ttnn.ops._programs.windows import copy_tiles
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

from .matmul import GROWS_WITH_K

_NAME: Final = "ttnn.experimental.minimal_matmul"
DTYPES: Final = (DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B, DataType.BFLOAT4_B)
_BLOCK: Final = 8
"""Tiles of a block along K, if none are given."""


def operand(name: str, tensor: Tensor, label: str, first: Tensor) -> None:
    """Refuse an operand that the program does not support.

    Raises:
        StorageError: it is not on the device of the first one.
        DTypeError: it is not floating point.
        LayoutError: it is row-major.
    """
    same_device(name, on_device(name, first), tensor, label)
    spec = tensor.spec
    if spec.dtype not in DTYPES:
        raise DTypeError(f"{name}: {label} is {spec.dtype.name}; typecast it to a floating point type first.")
    if spec.layout is not Layout.TILE:
        raise LayoutError(f"{name}: {label} is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).")
    full_tiles(name, tensor, label)


def checked(name: str, a: Tensor, b: Tensor, bias: Tensor | None) -> int:
    """Return the width of the product of two operands, which fit.

    Raises:
        TtnnError: what is wrong with them.
    """
    on_device(name, a)
    operand(name, a, "input_tensor", a)
    operand(name, b, "weight_tensor", a)
    first, second = tuple(a.spec.shape), tuple(b.spec.shape)
    fits = len(first) >= 2 and len(second) >= 2 and first[-1] == second[-2]
    if not fits or any(size != 1 for size in second[:-2]) or 0 in (*first, *second):
        raise ShapeError(
            f"{name}: input_tensor {list(first)} and weight_tensor {list(second)} do not fit; they are [..., M, K] and "
            "[K, N]."
        )
    width = second[-1]
    if bias is not None:
        operand(name, bias, "bias_tensor", a)
        if bias.spec.shape.volume() != width or bias.spec.shape[-1] != width:
            raise ShapeError(f"{name}: bias_tensor is {bias.spec.shape}; it must be [1, {width}].")
    return width


def result_dtype(name: str, dtype: DataType | None, a: Tensor) -> DataType:
    """Return the matmul's data type: requested, or of the left operand.

    Raises:
        DTypeError: it is not floating point.
    """
    dtype = dtype or a.spec.dtype
    if dtype not in DTYPES:
        raise DTypeError(f"{name}: dtype is {dtype.name}; the result is floating point.")
    return dtype


def numerics_of(config: WormholeComputeKernelConfig | None) -> Numerics:
    """Return fidelity and Dst width.

    Partial sums are always added in L1.
    """
    return replace(Numerics.of(config, MathFidelity.HiFi2, dst32=True), l1_acc=True)


def _block(name: str, inner: int, config: MinimalMatmulConfig | None) -> int:
    """Return the tiles of a block along K.

    Raises:
        ParameterError: the configuration has none.
    """
    block = min(_BLOCK if config is None else config.K_block_size, inner)
    if block < 1:
        raise ParameterError(f"{name}: config.K_block_size={block} must be positive.", vendor="Block sizes must be > 0")
    return block


def _with_zeros(tensor: Tensor, grid: tuple[int, int], padded: tuple[int, int]) -> Tensor:
    """Return a copy with zero tiles appended to tile rows and columns."""
    device = on_device(_NAME, tensor)
    shape = (padded[0] * TILE_SIZE, padded[1] * TILE_SIZE)
    copy = allocate(TensorSpec.of(shape, tensor.spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG), device)
    assert copy.buffer is not None
    engine_steps.fill(copy.buffer, format=FORMAT_CODE[copy.spec.dtype], value=0.0)
    copy_tiles(tensor, copy, shape=padded, strides=(grid[1], 1), window=((0, grid[0]), (0, grid[1])))
    return copy


def blocked(
    name: str,
    a: Tensor,
    b: Tensor,
    bias: Tensor | None,
    output: Tensor,
    config: MinimalMatmulConfig | None,
    numerics: Numerics,
    activation: Sequence[Any] = (),
) -> None:
    """Write the product of operands that `checked` has passed.

    A last block along K that is shorter than the others is filled up with zeros, as the program does.
    """
    device = on_device(name, a)
    inner, columns = tiles_of(a.spec.shape[-1]), tiles_of(b.spec.shape[-1])
    rows, used = a.spec.num_pages // inner, a.spec.shape[-1]
    if bias is None:
        spec = TensorSpec.of((1, b.spec.shape[-1]), DataType.BFLOAT16, Layout.TILE, DRAM_MEMORY_CONFIG)
        # The sums are read back as TF32 with a bias or without; adding zero changes nothing else.
        bias = allocate(spec, device)
        assert bias.buffer is not None
        engine_steps.fill(bias.buffer, format=FORMAT_CODE[DataType.BFLOAT16], value=0.0)
    block = _block(name, inner, config)
    padded = -(-inner // block) * block
    if padded != inner:
        a = _with_zeros(a, (rows, inner), (rows, padded))
        b = _with_zeros(b, (inner, columns), (padded, columns))
    # Without a second block the engine would pack a sum to the output's data type before the bias is added.
    apart = not numerics.dst32 and padded == block and output.spec.dtype in BLOCK_FLOATS
    target = output
    if apart:
        target = allocate(TensorSpec.of(output.spec.shape, DataType.BFLOAT16, Layout.TILE, DRAM_MEMORY_CONFIG), device)
    multiply(
        a,
        b,
        target,
        batch=(1, 1, 1),
        tiles=(rows, padded, columns),
        numerics=numerics,
        block=block,
        k=used,
        bias=None if apart else bias,
        activation=() if apart else activation,
    )
    if apart:
        spec = target.spec
        program = Pipeline(tuple(spec.shape), ROWS, spec.dtype, False, numerics.fidelity)
        row = program.tensor(bias.spec.dtype, (*(1 for _ in tuple(spec.shape)[:-1]), spec.shape[-1]), "row")
        program.eltwise("add", program.tensor(spec.dtype), row, output.spec.dtype, activation, output=0)
        # Tensors in the order in which the program names them.
        program.run([bias, target], [output])


def _minimal_matmul(
    input_tensor: Tensor,
    weight_tensor: Tensor,
    bias_tensor: Tensor | None,
    fused_activation: Activation | None,
    config: MinimalMatmulConfig | None,
    memory_config: MemoryConfig | None,
    dtype: DataType | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    fuse_swiglu: bool,
) -> Tensor:
    device = on_device(_NAME, input_tensor)
    width = checked(_NAME, input_tensor, weight_tensor, bias_tensor)
    spec = input_tensor.spec
    taken = result_dtype(_NAME, dtype, input_tensor)
    place = memory_config or spec.memory_config
    output = allocate(TensorSpec.of((*tuple(spec.shape)[:-1], width), taken, Layout.TILE, place), device)
    activation: Any = () if fused_activation is None else chain(_NAME, [fused_activation])
    numerics = numerics_of(compute_kernel_config)
    blocked(_NAME, input_tensor, weight_tensor, bias_tensor, output, config, numerics, activation)
    return output


def _examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if len(shape) < 2 or 0 in shape or layout is not Layout.TILE:
        return ()
    return ((Operand((shape[-1], 96)),),)


OPTIONS: Final = (
    Param("bias_tensor", TENSOR, None, doc="[1, N]: added at the end.", example=Operand((1, 96), 2)),
    Param(
        "fused_activation",
        ACTIVATION,
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
)
"""The keyword arguments of a product."""

minimal_matmul = register(
    Op(
        name="experimental.minimal_matmul",
        signatures=(
            Signature(
                (
                    Param("input_tensor", TENSOR, doc="[..., M, K] on a device, in TILE_LAYOUT."),
                    Param("weight_tensor", TENSOR, doc="[K, N].", example=Operand((128, 96))),
                ),
                OPTIONS,
            ),
        ),
        run=_minimal_matmul,
        doc="Return `input_tensor @ weight_tensor + bias_tensor`.\n"
        "Shape: [..., M, K], [K, N] -> [..., M, N].\n"
        "Blocks along K are summed in L1 in float32, and the sum is read back as TF32. A 16-bit Dst sums in bfloat16.",
        source="tt-metal `ttnn/cpp/ttnn/operations/experimental/minimal_matmul`",
        dtypes=DTYPES,
        layouts=(Layout.TILE,),
        golden=golden.minimal_matmul,
        accuracy=GROWS_WITH_K,
        engine=("matmul", "fill"),
        raises=(
            ("ShapeError", "the operands do not fit."),
            ("DTypeError", "an operand is not floating point."),
            ("LayoutError", "an operand is row-major."),
            ("ParameterError", "blocks have no tiles."),
        ),
        examples=_examples,
    )
)
