"""Softmax over the last dimension (the "attention program").

Source: tt-metal `ttnn/cpp/ttnn/operations/normalization/softmax`.
"""

from __future__ import annotations

from typing import Any, Final

from ttnn import _engine
from ttnn.base.compute_config import FIDELITY_NUMBER, WormholeComputeKernelConfig
from ttnn.base.enums import FORMAT_CODE, TILE_SIZE, DataType, Layout, MathFidelity
from ttnn.base.exceptions import DTypeError, LayoutError, UnsupportedError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import normalization as golden
from ttnn.operation.accuracy import max_ulp
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import BOOLEAN, COMPUTE_KERNEL_CONFIG, INTEGER, Param, Signature
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    allocate,
    arch_number,
    dimension,
    full_tiles,
    is_empty,
    on_device,
)
from ttnn.ops.data_movement.layout import tilize_padded
from ttnn.tensor.tensor import Tensor

_DTYPES: Final = (DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B)


def _softmax(
    input_tensor: Tensor,
    dim: int,
    memory_config: MemoryConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    numeric_stable: bool,
) -> Tensor:
    name = "ttnn.softmax"
    device = on_device(name, input_tensor)
    spec = input_tensor._spec
    rank = spec.shape.rank
    axis = dimension(name, dim, max(rank, 1))
    if spec.layout is not Layout.TILE:
        input_tensor = _tilized(input_tensor)
        spec = input_tensor._spec
    if spec.dtype not in _DTYPES:
        raise DTypeError(
            f"{name}: input_tensor is {spec.dtype.name}; typecast it to a floating point type first.",
            vendor=f"Input tensor must be FLOAT32, BFLOAT16, or BFLOAT8_B, got: {spec.dtype.cpp_name}",
        )
    if rank > 4 or axis != max(rank, 1) - 1:
        program = "general" if axis == max(rank, 1) - 1 else "column" if axis == rank - 2 and rank <= 4 else "channel"
        raise UnsupportedError(
            f"{name}: dim={dim} of a tensor of rank {rank} runs the {program} program, which is not built yet; only "
            "the last dimension of tensors up to rank 4 is.",
            "unimplemented",
        )
    full_tiles(name, input_tensor)
    fidelity, approximate, wide_dst = _configuration(name, compute_kernel_config, spec.dtype)
    output = allocate(TensorSpec.of(spec.shape, spec.dtype, Layout.TILE, memory_config or spec.memory_config), device)
    if is_empty(spec):
        return output
    assert input_tensor._buffer is not None
    assert output._buffer is not None
    _engine.softmax(
        input_tensor._buffer,
        output._buffer,
        format=FORMAT_CODE[spec.dtype],
        rows=spec.page_grid[0],
        width=spec.shape[-1] if rank else 1,
        stable=numeric_stable,
        exact_exp=not approximate,
        dst32=wide_dst,
        fidelity=fidelity,
        arch=arch_number(device),
    )
    return output


def _tilized(input_tensor: Tensor) -> Tensor:
    """Return a row-major tensor in tiles, as the program converts it: only if it needs padding."""
    name = "ttnn.softmax"
    height, width = (1, 1, *input_tensor._spec.padded_shape)[-2:]
    if height % TILE_SIZE == 0 and width % TILE_SIZE == 0:
        raise LayoutError(
            f"{name}: input_tensor is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            vendor="Inputs to softmax must be tilized",
        )
    return tilize_padded(name, input_tensor, pad_value=float("-inf"))


def _configuration(name: str, config: WormholeComputeKernelConfig | None, dtype: DataType) -> tuple[int, bool, bool]:
    """Return (fidelity, approximate exponential, 32-bit Dst)."""
    if config is None:
        return FIDELITY_NUMBER[MathFidelity.HiFi3], dtype is not DataType.FLOAT32, True
    if not config.fp32_dest_acc_en:
        raise UnsupportedError(
            f"{name}: compute_kernel_config.fp32_dest_acc_en=False is not built yet; the formats of the program's "
            "intermediate buffers are known for a 32-bit Dst only. Pass fp32_dest_acc_en=True.",
            "unimplemented",
        )
    fidelity = config.math_fidelity
    if fidelity is MathFidelity.Invalid:
        fidelity = MathFidelity.HiFi3
    return FIDELITY_NUMBER[fidelity], config.math_approx_mode, True


def _examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    whole_tiles = len(shape) >= 2 and shape[-1] % TILE_SIZE == shape[-2] % TILE_SIZE == 0
    return ((),) if len(shape) <= 4 and (layout is Layout.TILE or not whole_tiles) else ()


softmax = register(
    Op(
        name="softmax",
        signatures=(
            Signature(
                (
                    INPUT_TENSOR,
                    Param(
                        "dim",
                        INTEGER,
                        -1,
                        doc="Dimension along which the output sums to 1. Only the last one is supported.",
                    ),
                ),
                (
                    MEMORY_CONFIG_OPTION,
                    Param(
                        "compute_kernel_config",
                        COMPUTE_KERNEL_CONFIG,
                        None,
                        doc="Math fidelity, Dst width and approximation. Default: HiFi3, 32-bit Dst, approximate "
                        "exponential except for float32.",
                    ),
                    Param(
                        "numeric_stable", BOOLEAN, True, doc="Subtract the maximum of each row before the exponential."
                    ),
                ),
            ),
        ),
        run=_softmax,
        doc="Return the softmax `exp(x) / sum(exp(x))` of `input_tensor` along the last dimension.\n"
        "Shape: [..., H, W] -> [..., H, W].\n"
        "The output is in TILE_LAYOUT.",
        source="tt-metal `ttnn/cpp/ttnn/operations/normalization/softmax`",
        dtypes=_DTYPES,
        layouts=(Layout.TILE, Layout.ROW_MAJOR),
        golden=golden.softmax,
        # For |x| up to 4. The FPU subtracts the maximum in TF32, and the error grows with the exponent.
        accuracy=max_ulp((DataType.BFLOAT16, 16), (DataType.FLOAT32, 2**17), (DataType.BFLOAT8_B, 4)),
        engine=("softmax",),
        raises=(
            ("DTypeError", "the input is not floating point."),
            ("LayoutError", "the input is row-major and needs no tile padding."),
            ("UnsupportedError", "`dim` is not the last dimension, or the rank is above 4."),
        ),
        examples=_examples,
    )
)
