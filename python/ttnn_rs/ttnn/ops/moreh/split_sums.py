"""Sums over a leading dimension whose columns are cut into parts.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/reduction/deepseek_moe_fast_reduce_nc`.
"""

from __future__ import annotations

from typing import Any, Final

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.enums import TILE_SIZE, DataType, Layout, MathFidelity
from ttnn.base.exceptions import DTypeError, LayoutError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import moreh as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.registry import declare
from ttnn.operation.signature import COMPUTE_KERNEL_CONFIG, INTEGER, MEMORY_CONFIG, TENSOR, Param, Signature
from ttnn.ops._programs.common import allocate, dimension, full_tiles, on_device
from ttnn.ops._programs.product import tiles_of
from ttnn.ops._programs.windows import copy_tiles
from ttnn.ops.moreh.reductions import along, settings_of
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.experimental.deepseek_moe_fast_reduce_nc"
_DTYPES: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B)
_DEFAULT: Final = WormholeComputeKernelConfig(
    math_fidelity=MathFidelity.HiFi4, math_approx_mode=False, fp32_dest_acc_en=True
)


def _reduced(
    input_tensor: Tensor,
    dim: int,
    split_size: int,
    output_memory_config: MemoryConfig,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> list[Tensor]:
    device = on_device(_NAME, input_tensor)
    spec = input_tensor._spec
    if spec.dtype not in _DTYPES:
        raise DTypeError(f"{_NAME}: input_tensor is {spec.dtype.name}; it must be BFLOAT16 or BFLOAT8_B.")
    if spec.layout is not Layout.TILE:
        raise LayoutError(
            f"{_NAME}: input_tensor is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            vendor="input tensor must be tiled",
        )
    full_tiles(_NAME, input_tensor)
    shape = tuple(spec._padded_shape)
    rank = len(shape)
    if rank < 3 or 0 in shape:
        raise ShapeError(
            f"{_NAME}: input_tensor has shape {spec.shape}; it must be of rank 3 or more and not empty.",
            vendor=f"input tensor rank must be greater than 2, but has {rank}",
        )
    axis = dimension(_NAME, dim, rank)
    if axis > rank - 3:
        raise ShapeError(
            f"{_NAME}: dim={dim} names rows or columns of {spec.shape}; it must be a leading dimension.",
            vendor=f"reduction dim must be between 0 and {rank - 3}, but has {axis}",
        )
    parts = shape[-1] // split_size if split_size > 0 else 0
    if parts < 1 or shape[-1] % (parts * TILE_SIZE):
        raise ShapeError(
            f"{_NAME}: {shape[-1]} columns cannot be cut into parts of split_size={split_size}.",
            vendor=f"input tensor width must be divisible by {parts * TILE_SIZE}",
        )
    # Padding is part of the result, as the program has no other shape.
    source = input_tensor
    if shape != tuple(spec.shape):
        source = input_tensor._view(TensorSpec.of(shape, spec.dtype, Layout.TILE, spec.memory_config))
    total = along(source, axis, None, settings_of(source, compute_kernel_config or _DEFAULT))
    columns, each = tiles_of(shape[-1]), tiles_of(shape[-1] // parts)
    rows = total._spec.num_pages // columns
    part_shape = (*shape[:axis], 1, *shape[axis + 1 : -1], shape[-1] // parts)
    part_spec = TensorSpec.of(part_shape, spec.dtype, Layout.TILE, output_memory_config)
    results = [allocate(part_spec, device) for _ in range(parts)]
    for number, part in enumerate(results):
        copy_tiles(total, part, shape=(rows, each), strides=(columns, 1), offset=number * each)
    return results


def _examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if len(shape) < 3 or 0 in shape or layout is not Layout.TILE or shape[-1] % TILE_SIZE or shape[-2] % TILE_SIZE:
        return ()
    return ((0, {"split_size": TILE_SIZE}),)


deepseek_moe_fast_reduce_nc = declare(
    "experimental.deepseek_moe_fast_reduce_nc",
    (
        Signature(
            (
                Param("input_tensor", TENSOR, doc="[..., H, W] on a device, of rank 3 or more."),
                Param("dim", INTEGER, doc="The leading dimension that is added up.", example=0),
            ),
            (
                Param("split_size", INTEGER, doc="Columns of a part.", example=TILE_SIZE),
                Param(
                    "output_memory_config", MEMORY_CONFIG, DRAM_MEMORY_CONFIG, doc="Memory configuration of the parts."
                ),
                Param(
                    "compute_kernel_config",
                    COMPUTE_KERNEL_CONFIG,
                    None,
                    doc="Math fidelity and Dst width. Default: HiFi4 and 32 bits.",
                ),
            ),
        ),
    ),
    _reduced,
    "Return the sum over a leading dimension, which keeps size 1, cut between columns into parts of `split_size`.\n"
    "Shape: [D, ..., H, W] -> W / split_size of [1, ..., H, split_size].\n"
    "Elements are added in the order of the dimension, in one Dst.",
    source="tt-metal `ttnn/cpp/ttnn/operations/experimental/reduction/deepseek_moe_fast_reduce_nc`",
    dtypes=_DTYPES,
    layouts=(Layout.TILE,),
    golden=golden.deepseek_moe_fast_reduce_nc,
    accuracy=no_bound("for with a 16-bit Dst every addition rounds to bfloat16"),
    engine=("Pipeline", "write_window"),
    raises=(
        ("DTypeError", "the input is neither BFLOAT16 nor BFLOAT8_B."),
        ("LayoutError", "the input is row-major."),
        ("ShapeError", "the dimension is not a leading one, or the width cannot be cut."),
    ),
    examples=_examples,
)
