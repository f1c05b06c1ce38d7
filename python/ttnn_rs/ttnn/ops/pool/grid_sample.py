"""Images sampled at the points of a grid.

Source: tt-metal `ttnn/cpp/ttnn/operations/pool/grid_sample`.
"""

from __future__ import annotations

from typing import Any, Final

from ttnn import _engine
from ttnn.base.compute_config import FIDELITY_NUMBER, WormholeComputeKernelConfig
from ttnn.base.enums import FORMAT_CODE, DataType, Layout, MathFidelity
from ttnn.base.exceptions import DTypeError, LayoutError, ParameterError, ShapeError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import pool as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import BOOLEAN, COMPUTE_KERNEL_CONFIG, MEMORY_CONFIG, TENSOR, Param, Signature
from ttnn.ops._programs.common import INPUT_TENSOR, allocate, arch_number, is_empty, on_device, same_device
from ttnn.ops._programs.element_map import in_rows
from ttnn.ops.data_movement.permute import moved_to
from ttnn.ops.pool.upsample import MODE
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.grid_sample"
_FLOATS: Final = (DataType.BFLOAT16, DataType.FLOAT32)
_CHANNELS: Final = 32


def _check(input_tensor: Tensor, grid: Tensor) -> None:
    for label, tensor in (("input_tensor", input_tensor), ("grid", grid)):
        spec = tensor._spec
        word = "Input" if label == "input_tensor" else "Grid"
        if spec.dtype is DataType.BFLOAT8_B:
            raise DTypeError(
                f"{_NAME}: {label} is BFLOAT8_B; typecast it to bfloat16 first.",
                vendor="Only TILE layout is supported for BFLOAT8_B dtype!",
            )
        if spec.dtype not in _FLOATS:
            raise DTypeError(
                f"{_NAME}: {label} is {spec.dtype.name}; typecast it to bfloat16 first.",
                vendor=f"{word} tensor must be BFLOAT16 or FLOAT32",
            )
        if spec.layout is not Layout.ROW_MAJOR:
            raise LayoutError(
                f"{_NAME}: {label} is tiled; convert it with ttnn.to_layout(..., ttnn.ROW_MAJOR_LAYOUT).",
                vendor=f"{word} tensor must be ROW_MAJOR layout",
            )
        if spec.shape.rank != 4:
            raise ShapeError(
                f"{_NAME}: {label} has shape {spec.shape}; it must be of rank 4.", vendor=f"{word} tensor must be 4D"
            )
    if input_tensor._spec.dtype is not DataType.BFLOAT16:
        raise DTypeError(f"{_NAME}: input_tensor is FLOAT32, whose sums are not built yet; typecast it to bfloat16.")
    batch, _, _, channels = tuple(input_tensor._spec.shape)
    of_grid = tuple(grid._spec.shape)
    if of_grid[0] != batch:
        raise ShapeError(
            f"{_NAME}: input_tensor has {batch} images, grid points for {of_grid[0]}.", vendor="Batch size mismatch"
        )
    if channels % _CHANNELS:
        raise ShapeError(
            f"{_NAME}: input_tensor has {channels} channels; they must be a multiple of {_CHANNELS}.",
            vendor="Input tensor last dimension must be divisible by TILE_WIDTH",
        )
    if not of_grid[3] or of_grid[3] % 2:
        raise ShapeError(
            f"{_NAME}: points of grid have {of_grid[3]} coordinates; they must be x and y.",
            vendor="Standard grid tensor last dimension must be a multiple of 2",
        )
    if of_grid[3] != 2:
        raise UnsupportedError(
            f"{_NAME}: grid has {of_grid[3] // 2} points in a row; several are not built yet. Reshape it to "
            "[N, H, W, 2].",
            "unimplemented",
        )


def _grid_sample(
    input_tensor: Tensor,
    grid: Tensor,
    mode: str,
    padding_mode: str,
    align_corners: bool,
    use_precomputed_grid: bool,
    batch_output_channels: bool,
    memory_config: MemoryConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> Tensor:
    device = on_device(_NAME, input_tensor)
    same_device(_NAME, device, grid, "grid")
    if mode not in ("bilinear", "nearest"):
        raise ParameterError(f"{_NAME}: mode is {mode!r}; it must be 'bilinear'.")
    if padding_mode != "zeros":
        raise ParameterError(
            f"{_NAME}: padding_mode is {padding_mode!r}; it must be 'zeros'.",
            vendor="Only zeros padding mode is currently supported",
        )
    if mode == "nearest" or use_precomputed_grid or batch_output_channels:
        raise UnsupportedError(
            f"{_NAME}: mode='nearest', use_precomputed_grid=True and batch_output_channels=True are not built yet; "
            "give points and mode='bilinear'.",
            "unimplemented",
        )
    _check(input_tensor, grid)
    batch, height, width, channels = tuple(input_tensor._spec.shape)
    _, rows, columns, _ = tuple(grid._spec.shape)
    target = memory_config or DRAM_MEMORY_CONFIG
    spec = TensorSpec.of((batch, rows, columns, channels), DataType.BFLOAT16, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG)
    output = allocate(spec, device)
    if not is_empty(spec):
        if is_empty(input_tensor._spec):
            raise ShapeError(f"{_NAME}: input_tensor has shape {input_tensor._spec.shape}; it has no pixels.")
        fidelity, dst32 = MathFidelity.HiFi4, False
        if compute_kernel_config is not None:
            dst32 = compute_kernel_config.fp32_dest_acc_en
            if compute_kernel_config.math_fidelity is not MathFidelity.Invalid:
                fidelity = compute_kernel_config.math_fidelity
        images, points = in_rows(input_tensor), in_rows(grid)
        assert images._buffer is not None
        assert points._buffer is not None
        assert output._buffer is not None
        _engine.grid_sample(
            images._buffer,
            points._buffer,
            output._buffer,
            format=FORMAT_CODE[grid._spec.dtype],
            channels=channels,
            image=(height, width),
            points=rows * columns,
            align_corners=align_corners,
            dst32=dst32,
            fidelity=FIDELITY_NUMBER[fidelity],
            arch=arch_number(device),
        )
    return output if target == DRAM_MEMORY_CONFIG else moved_to(output, target)


def _examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if len(shape) != 4 or 0 in shape or shape[3] % _CHANNELS or layout is not Layout.ROW_MAJOR:
        return ()
    return ((Operand((shape[0], 3, 5, 2), dtype=DataType.FLOAT32, between=(-0.9, 0.9)),),)


grid_sample = register(
    Op(
        name="grid_sample",
        signatures=(
            Signature(
                (
                    Param(
                        INPUT_TENSOR.name,
                        TENSOR,
                        doc="[N, H, W, C] in bfloat16 on a device, row-major.",
                        example=Operand((1, 8, 8, 32), layout=Layout.ROW_MAJOR),
                    ),
                    Param(
                        "grid",
                        TENSOR,
                        doc="[N, h, w, 2] in float32 or bfloat16, row-major: x and y, from -1 to 1 across the image.",
                        example=Operand((1, 4, 5, 2), 3, DataType.FLOAT32, Layout.ROW_MAJOR, (-1.2, 1.2)),
                    ),
                ),
                (
                    Param("mode", MODE, "bilinear", doc="'bilinear'.", example="nearest"),
                    Param(
                        "padding_mode", MODE, "zeros", doc="'zeros': what lies outside of an image.", example="border"
                    ),
                    Param("align_corners", BOOLEAN, False, doc="-1 and 1 are the centres of the outer pixels."),
                    Param("use_precomputed_grid", BOOLEAN, False, doc="Not supported."),
                    Param("batch_output_channels", BOOLEAN, False, doc="Not supported."),
                    Param("memory_config", MEMORY_CONFIG, None, doc="Of the output. Default: interleaved in DRAM."),
                    Param("compute_kernel_config", COMPUTE_KERNEL_CONFIG, None, doc="Fidelity of the sums."),
                ),
            ),
        ),
        run=_grid_sample,
        doc="Return images sampled at the points of a grid, mixed from the four nearest pixels.\n"
        "Shape: [N, H, W, C], [N, h, w, 2] -> [N, h, w, C].\n"
        "Positions and weights are computed in float32; weights are then cut to bfloat16.",
        source="tt-metal `ttnn/cpp/ttnn/operations/pool/grid_sample`",
        dtypes=(DataType.BFLOAT16,),
        layouts=(Layout.ROW_MAJOR,),
        golden=golden.grid_sample,
        accuracy=no_bound("for weights are cut to bfloat16"),
        engine=("grid_sample",),
        raises=(
            ("ShapeError", "shapes do not fit, or channels are no multiple of 32."),
            ("LayoutError", "a tensor is tiled."),
            ("DTypeError", "the input is not bfloat16, or the grid no float."),
            ("ParameterError", "`mode` or `padding_mode` is unknown."),
            ("UnsupportedError", "an option is not built yet."),
        ),
        examples=_examples,
    )
)
