"""Larger images: pixels repeated, or mixed from their neighbours.

Source: tt-metal `ttnn/cpp/ttnn/operations/pool/upsample`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.enums import BufferType, DataType, Layout, ShardOrientation, TensorMemoryLayout
from ttnn.base.exceptions import LayoutError, MemoryConfigError, ParameterError, ShapeError, UnsupportedError
from ttnn.base.memory_config import MemoryConfig, ShardSpec
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.work_split import num_cores_to_corerangeset
from ttnn.golden import pool as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import COMPUTE_KERNEL_CONFIG, INTEGER, MEMORY_CONFIG, Kind, Param, Signature
from ttnn.ops._programs.common import INPUT_TENSOR, on_device
from ttnn.ops._programs.sticks import POOLED, as_words, copied, pixels, pooled
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.upsample"
_ONE: Final = 1 << 16
"""1 in fixed point."""


def _is_number(value: object) -> bool:
    return INTEGER.accepts(value) or isinstance(value, float | np.floating)


def _is_scale(value: object) -> bool:
    many = isinstance(value, list | tuple) and len(value) == 2 and all(map(_is_number, value))
    return many or _is_number(value)


SCALE: Final = Kind("int | collections.abc.Sequence[int] | float | collections.abc.Sequence[float]", _is_scale)
MODE: Final = Kind("str", lambda value: isinstance(value, str))


def _factors(scale: float | Sequence[float]) -> tuple[float, float]:
    """Return the factors of height and width, as FP32 numbers."""
    pair = (scale, scale) if isinstance(scale, int | float) else tuple(scale)
    if not all(0 < factor < _ONE and np.float32(factor) > 0 for factor in pair):
        raise ParameterError(f"{_NAME}: scale_factor is {scale}; it must be positive.")
    return float(np.float32(pair[0])), float(np.float32(pair[1]))


def _whole(scale: tuple[float, float]) -> tuple[int, int] | None:
    """Return factors that have no fraction as integers."""
    return (int(scale[0]), int(scale[1])) if all(factor.is_integer() for factor in scale) else None


def _bilinear_axis(extent: int, factor: int) -> tuple[Any, Any]:
    """Return both source pixels per output along an axis: [outputs, 2].

    Also the weight of the second per phase.

    Positions and weights are numbers of 16 fractional bits, as the kernel computes them.
    """
    inverse = _ONE // factor
    start = _ONE // (2 * factor) - _ONE // 2
    position = start + _ONE + np.arange(extent * factor) * inverse
    first = np.maximum(position >> 16, 1)
    second = np.minimum((position >> 16) + 1, extent)
    weights = (start + np.arange(factor) * inverse) % _ONE
    return np.stack([first, second], axis=1) - 1, weights


def _bilinear(rows: Tensor, shape: tuple[int, ...], factors: tuple[int, int], options: dict[str, Any]) -> Tensor:
    batch, height, width, channels = shape
    (ys, fy), (xs, fx) = (_bilinear_axis(*of) for of in ((height, factors[0]), (width, factors[1])))
    image = (ys[:, None, :, None] * width + xs[None, :, None, :]).reshape(len(ys) * len(xs), 4)
    sticks = (image[None] + np.arange(batch)[:, None, None] * height * width).reshape(-1, 4)
    weights = [
        [(a * b >> 16) / _ONE for a in (_ONE - int(y), int(y)) for b in (_ONE - int(x), int(x))] for y in fy for x in fx
    ]
    phases = np.arange(len(ys))[:, None] % factors[0] * factors[1] + np.arange(len(xs))[None, :] % factors[1]
    which = np.tile(phases.reshape(-1), batch)
    target = (batch, len(ys), len(xs), channels)
    return pooled(_NAME, rows, target, sticks.astype(np.int32), as_words(weights), which, **options)


def _nearest_axis(extent: int, factor: float) -> Any:
    """Return the source pixel per output along an axis.

    For fractions by a reciprocal of 16 fractional bits.
    """
    outputs = np.arange(int(np.float32(extent) * np.float32(factor)))
    if factor.is_integer():
        return outputs // int(factor)
    reciprocal = int(np.ceil(np.float32(1) / np.float32(factor) * np.float32(_ONE)))
    return np.minimum(outputs * reciprocal >> 16, extent - 1)


def _nearest(rows: Tensor, shape: tuple[int, ...], scale: tuple[float, float], options: dict[str, Any]) -> Tensor:
    batch, height, width, channels = shape
    ys, xs = _nearest_axis(height, scale[0]), _nearest_axis(width, scale[1])
    image = (ys[:, None] * width + xs[None, :]).reshape(-1, 1)
    sticks = (image[None] + np.arange(batch)[:, None, None] * height * width).reshape(-1, 1)
    target = (batch, len(ys), len(xs), channels)
    return copied(_NAME, rows, target, sticks.astype(np.int32), **options)


def _check_fractions(spec: TensorSpec, scale: tuple[float, float], mode: str) -> None:
    """Refuse what the program of fractions does not support.

    Raises:
        ParameterError: the mode is not nearest.
        LayoutError: the input is in tiles.
        ShapeError: nothing is left of the image.
    """
    if mode == "bilinear":
        sentence = f"bilinear mode requires integer scale factors, got ({scale[0]}, {scale[1]})"
        raise ParameterError(f"{_NAME}: scale_factor is {scale}; mode bilinear requires integers.", vendor=sentence)
    if spec.layout is not Layout.ROW_MAJOR:
        raise LayoutError(
            f"{_NAME}: input_tensor is in {spec.layout.name}; with scale_factor {scale} it is in ROW_MAJOR_LAYOUT.",
            vendor="Unsupported upsample configuration:",
        )
    if not all(len(_nearest_axis(*of)) for of in zip(spec.shape._dims[1:3], scale, strict=True)):
        raise ShapeError(f"{_NAME}: scale_factor {scale} leaves nothing of an image of {list(spec.shape)[1:3]} pixels.")


def _divided(spec: TensorSpec, scale: tuple[float, float], asked: MemoryConfig | None) -> MemoryConfig | None:
    """Return the memory config of fractional results: sharded input's cores.

    Raises:
        MemoryConfigError: shards are asked for, and the input has none.
        UnsupportedError: the input is divided in more than two dimensions.
    """
    place = spec.memory_config
    if asked is not None and not asked.is_sharded():
        return asked
    if not place.is_sharded():
        if asked is None:
            return None
        raise MemoryConfigError(
            f"{_NAME}: memory_config is {asked.memory_layout.name}, but input_tensor is not sharded.",
            vendor="Output memory config is sharded but input memory config is not sharded",
        )
    shards = place.shard_spec
    if shards is None:
        raise UnsupportedError(
            f"{_NAME}: shards of more than two dimensions are not implemented for scale_factor {scale}.",
            "unimplemented",
        )
    size = shards.grid.bounding_box().grid_size()
    along = size.y if shards.orientation is ShardOrientation.ROW_MAJOR else size.x
    cores = {TensorMemoryLayout.HEIGHT_SHARDED: shards.num_cores(), TensorMemoryLayout.WIDTH_SHARDED: 1}.get(
        place.memory_layout, along
    )
    batch, height, width, _ = spec.shape._dims
    sticks = batch * len(_nearest_axis(height, scale[0])) * len(_nearest_axis(width, scale[1]))
    shard = ShardSpec(shards.grid, [-(-sticks // cores), shards.shape[1]], shards.orientation)
    return MemoryConfig(place.memory_layout, place.buffer_type, shard)


def _repeated(place: MemoryConfig, factors: tuple[int, int]) -> MemoryConfig | None:
    """Return the memory config of nearest results with integer factors.

    Shards grow on their cores.
    """
    shards = place.shard_spec
    if shards is None:
        return place if place.interleaved else None
    shape = [shards.shape[0] * factors[0] * factors[1], shards.shape[1]]
    shard = ShardSpec(shards.grid, shape, shards.orientation)
    return MemoryConfig(place.memory_layout, place.buffer_type, shard)


def _sharded(tensor: Tensor, factors: tuple[int, int]) -> MemoryConfig:
    """Return the memory config of bilinear results: height shards."""
    grid = on_device(_NAME, tensor).compute_with_storage_grid_size()
    batch, height, width, channels = tuple(tensor.spec.shape)
    sticks = batch * height * width
    each = -(-sticks // min(sticks, grid.x * grid.y))
    cores = num_cores_to_corerangeset(-(-sticks // each), grid, row_wise=True)
    shard = ShardSpec(cores, [each * factors[0] * factors[1], channels], ShardOrientation.ROW_MAJOR)
    return MemoryConfig(TensorMemoryLayout.HEIGHT_SHARDED, BufferType.L1, shard)


def _upsample(
    input_tensor: Tensor,
    scale_factor: float | Sequence[float],
    mode: str,
    memory_config: MemoryConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> Tensor:
    on_device(_NAME, input_tensor)
    spec = input_tensor.spec
    shape = tuple(spec.shape)
    if len(shape) != 4 or 0 in shape:
        raise ShapeError(f"{_NAME}: input_tensor has shape {list(shape)}; it must be [N, H, W, C] and not empty.")
    if spec.layout is Layout.TILE and spec.shape != spec.padded_shape:
        raise LayoutError(
            f"{_NAME}: input_tensor of shape {list(shape)} has padding in its tiles; use ROW_MAJOR_LAYOUT.",
            vendor="Tiled input must be tile-aligned (no padding difference)",
        )
    scale = _factors(scale_factor)
    if mode not in ("nearest", "bilinear"):
        raise ParameterError(f'{_NAME}: mode is {mode!r}; it must be "nearest" or "bilinear".')
    factors = _whole(scale)
    if factors is None:
        _check_fractions(spec, scale, mode)
    own = spec.memory_config
    if factors is None:
        memory_config = _divided(spec, scale, memory_config)
    elif mode == "nearest" and memory_config is None:
        memory_config = _repeated(own, factors)
    dtypes = (*POOLED, DataType.FLOAT32) if mode == "nearest" else POOLED
    rows = pixels(_NAME, input_tensor, shape[0] * shape[1] * shape[2], shape[3], dtypes)
    if memory_config is not None and memory_config.is_sharded() and own.interleaved:
        raise MemoryConfigError(
            f"{_NAME}: memory_config is {memory_config.memory_layout.name}, input_tensor is interleaved.",
            vendor="Output memory config is sharded but input memory config is not sharded",
        )
    options: dict[str, Any] = {"memory_config": memory_config}
    if factors is None or mode == "nearest":
        return _nearest(rows, shape, scale, options | {"layout": spec.layout})
    if memory_config is None:
        options["memory_config"] = _sharded(input_tensor, factors)
    return _bilinear(rows, shape, factors, options | {"compute": compute_kernel_config})


def _examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    aligned = layout is not Layout.TILE or (len(shape) > 1 and shape[-1] % 32 == 0 and shape[-2] % 32 == 0)
    if len(shape) != 4 or 0 in shape or not aligned:
        return ()
    return ((2,), ([2, 1], {"mode": "bilinear"}))


upsample = register(
    Op(
        name="upsample",
        signatures=(
            Signature(
                (
                    INPUT_TENSOR,
                    Param("scale_factor", SCALE, doc="Scale: an integer, or [height, width].", example=2),
                ),
                (
                    Param("mode", MODE, "nearest", doc='"nearest" or "bilinear".', example="bilinear"),
                    Param(
                        "memory_config",
                        MEMORY_CONFIG,
                        None,
                        doc="Of the output. Default: that of the input, shards grown; bilinear: height shards in L1.",
                    ),
                    Param("compute_kernel_config", COMPUTE_KERNEL_CONFIG, None, doc="Fidelity of bilinear sums."),
                ),
            ),
        ),
        run=_upsample,
        doc="Return upsampled images: nearest or bilinear.\n"
        "Shape: [N, H, W, C] -> [N, H * sh, W * sw, C].\n"
        "Positions and weights have 16 fractional bits; weights are then truncated to bfloat16. With fractional "
        "scales, sizes are rounded down, and the input is in ROW_MAJOR_LAYOUT and the mode nearest.",
        source="tt-metal `ttnn/cpp/ttnn/operations/pool/upsample`",
        dtypes=(DataType.BFLOAT16,),
        layouts=(Layout.TILE, Layout.ROW_MAJOR),
        golden=golden.upsample,
        accuracy=no_bound("for weights are truncated to bfloat16"),
        engine=("copy_sticks", "pool_sticks", "move_elements"),
        raises=(
            ("ShapeError", "the input is not [N, H, W, C]."),
            ("LayoutError", "the input is tiled and has padding, or `scale_factor` a fraction."),
            ("DTypeError", "the input is neither bfloat16 nor bfloat8_b, nor float32 for nearest."),
            ("ParameterError", "`scale_factor` is not positive, or has a fraction for bilinear; `mode` is unknown."),
            ("MemoryConfigError", "`scale_factor` has a fraction, and only the output is sharded."),
        ),
        examples=_examples,
    )
)
