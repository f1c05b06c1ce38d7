"""Sums over a leading dimension whose columns are cut into parts.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/reduction/deepseek_moe_fast_reduce_nc`; TT-NN docs
"ttnn.experimental.fast_reduce_nc_split".
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
_TWO_PARTS: Final = "ttnn.experimental.fast_reduce_nc_split"
_DTYPES: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B)
_DEFAULT: Final = WormholeComputeKernelConfig(
    math_fidelity=MathFidelity.HiFi4, math_approx_mode=False, fp32_dest_acc_en=True
)


def _checked(name: str, tensor: Tensor, dim: int, label: str) -> tuple[Tensor, int]:
    """Return the tensor with padding as data, and the dimension.

    The programs have no other shape.
    """
    on_device(name, tensor, label)
    spec = tensor.spec
    if spec.dtype not in _DTYPES:
        raise DTypeError(f"{name}: {label} is {spec.dtype.name}; it must be BFLOAT16 or BFLOAT8_B.")
    if spec.layout is not Layout.TILE:
        raise LayoutError(
            f"{name}: {label} is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            vendor="input tensor must be tiled",
        )
    full_tiles(name, tensor, label)
    shape = tuple(spec._padded_shape)
    rank = len(shape)
    if rank < 3 or 0 in shape:
        raise ShapeError(
            f"{name}: {label} has shape {spec.shape}; it must be of rank 3 or more and not empty.",
            vendor=f"input tensor rank must be greater than 2, but has {rank}",
        )
    axis = dimension(name, dim, rank)
    if axis > rank - 3:
        raise ShapeError(
            f"{name}: dim={dim} names rows or columns of {spec.shape}; it must be a leading dimension.",
            vendor=f"reduction dim must be between 0 and {rank - 3}, but has {axis}",
        )
    if shape == tuple(spec.shape):
        return tensor, axis
    return tensor._view(TensorSpec.of(shape, spec.dtype, Layout.TILE, spec.memory_config)), axis


def _cut(total: Tensor, widths: list[int], memory_config: MemoryConfig) -> list[Tensor]:
    """Return the columns of a tensor as tensors of these widths."""
    device, spec = on_device(_NAME, total), total.spec
    columns = tiles_of(spec.shape[-1])
    rows = spec.num_pages // columns
    parts, first = [], 0
    for width in widths:
        shape = (*tuple(spec.shape)[:-1], width)
        part = allocate(TensorSpec.of(shape, spec.dtype, Layout.TILE, memory_config), device)
        copy_tiles(total, part, shape=(rows, tiles_of(width)), strides=(columns, 1), offset=first)
        parts.append(part)
        first += tiles_of(width)
    return parts


def _reduced(
    input_tensor: Tensor,
    dim: int,
    split_size: int,
    output_memory_config: MemoryConfig,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> list[Tensor]:
    source, axis = _checked(_NAME, input_tensor, dim, "input_tensor")
    width = source.spec.shape[-1]
    parts = width // split_size if split_size > 0 else 0
    if parts < 1 or width % (parts * TILE_SIZE):
        raise ShapeError(
            f"{_NAME}: {width} columns cannot be cut into parts of split_size={split_size}.",
            vendor=f"input tensor width must be divisible by {parts * TILE_SIZE}",
        )
    total = along(source, axis, None, settings_of(compute_kernel_config or _DEFAULT))
    return _cut(total, [width // parts] * parts, output_memory_config)


def _reduced_to_two(
    input: Tensor,
    dim: int,
    split_output_width: int,
    memory_config: MemoryConfig,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> tuple[Tensor, Tensor]:
    source, axis = _checked(_TWO_PARTS, input, dim, "input")
    width = source.spec.shape[-1]
    if split_output_width % TILE_SIZE or not 0 < split_output_width < width:
        raise ShapeError(
            f"{_TWO_PARTS}: split_output_width={split_output_width} of {width} columns; "
            f"it must be a multiple of {TILE_SIZE} that leaves columns for the second output."
        )
    total = along(source, axis, None, settings_of(compute_kernel_config))
    first, second = _cut(total, [split_output_width, width - split_output_width], memory_config)
    return first, second


def _examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if len(shape) < 3 or 0 in shape or layout is not Layout.TILE or shape[-1] % TILE_SIZE or shape[-2] % TILE_SIZE:
        return ()
    return ((0, {"split_size": TILE_SIZE}),)


def _examples_of_two(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if not _examples(shape, layout) or shape[-1] <= TILE_SIZE:
        return ()
    return (({"dim": 0, "split_output_width": TILE_SIZE},),)


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
    "Return the sum over a leading dimension, in parts of `split_size` columns.\n"
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

fast_reduce_nc_split = declare(
    "experimental.fast_reduce_nc_split",
    (
        Signature(
            (Param("input", TENSOR, doc="[..., H, W] on a device, of rank 3 or more."),),
            (
                Param("dim", INTEGER, doc="The leading dimension that is added up.", example=0),
                Param("split_output_width", INTEGER, doc="Columns of the first output.", example=TILE_SIZE),
                Param("memory_config", MEMORY_CONFIG, DRAM_MEMORY_CONFIG, doc="Memory configuration of the outputs."),
                Param(
                    "compute_kernel_config",
                    COMPUTE_KERNEL_CONFIG,
                    None,
                    doc="Math fidelity and Dst width. Default: HiFi4 and 16 bits, as `fast_reduce_nc` has them.",
                ),
            ),
        ),
    ),
    _reduced_to_two,
    "Return the sum over a leading dimension, split after its first columns.\n"
    "Shape: [D, ..., H, W] -> [1, ..., H, split_output_width] and [1, ..., H, W - split_output_width].\n"
    "Sums are those of `fast_reduce_nc`.",
    source='TT-NN docs "ttnn.experimental.fast_reduce_nc_split"',
    dtypes=_DTYPES,
    reference=_DTYPES,
    layouts=(Layout.TILE,),
    golden=golden.fast_reduce_nc_split,
    accuracy=no_bound("for with a 16-bit Dst every addition rounds to bfloat16"),
    engine=("Pipeline", "write_window"),
    raises=(
        ("DTypeError", "the input is neither BFLOAT16 nor BFLOAT8_B."),
        ("LayoutError", "the input is row-major."),
        ("ShapeError", "the dimension is not a leading one, or the width cannot be cut there."),
    ),
    examples=_examples_of_two,
)
