"""Softmax along any dimension, and of scaled and masked attention scores.

Source: tt-metal `ttnn/cpp/ttnn/operations/normalization/softmax`.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Final

from ttnn.base.compute_config import FIDELITY_NUMBER, WormholeComputeKernelConfig, wide_fidelity
from ttnn.base.enums import TILE_SIZE, DataType, Layout, MathFidelity
from ttnn.base.exceptions import DTypeError, LayoutError, ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.program_config import SoftmaxDefaultProgramConfig, SoftmaxShardedMultiCoreProgramConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.lifecycle import MeshDevice
from ttnn.golden import normalization as golden
from ttnn.operation.accuracy import max_ulp
from ttnn.operation.domain import Operand
from ttnn.operation.registry import declare
from ttnn.operation.signature import (
    BOOLEAN,
    COMPUTE_KERNEL_CONFIG,
    FLOAT,
    INTEGER,
    TENSOR,
    Param,
    Signature,
    instance_kind,
)
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    allocate,
    as_float,
    dimension,
    full_tiles,
    is_empty,
    on_device,
    same_device,
    warn_of_first_row,
)
from ttnn.ops._programs.element_map import copy_into
from ttnn.ops._programs.pipeline import COLUMNS, ROWS, Pipeline
from ttnn.ops.data_movement.concat import repeated
from ttnn.ops.data_movement.layout import tilize_padded
from ttnn.ops.data_movement.slice import sliced
from ttnn.ops.normalization.softmax_programs import Mask, Numerics, attention, channel, general
from ttnn.tensor.tensor import Tensor

DTYPES: Final = (DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B)
_MASKS: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B, DataType.BFLOAT4_B, DataType.FLOAT32)
_HEIGHT_AND_WIDTH: Final = "ttnn.scale_causal_mask_hw_dims_softmax_in_place"

SoftmaxProgramConfig = SoftmaxDefaultProgramConfig | SoftmaxShardedMultiCoreProgramConfig


def _checked(name: str, tensor: Tensor, *, tilizes: bool) -> Tensor:
    """Return the input in tiles."""
    on_device(name, tensor)
    spec = tensor.spec
    if spec.layout is not Layout.TILE:
        height, width = (1, 1, *spec.padded_shape)[-2:]
        if not tilizes or (height % TILE_SIZE == 0 and width % TILE_SIZE == 0):
            raise LayoutError(
                f"{name}: input_tensor is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
                vendor="Inputs to softmax must be tilized",
            )
        # Only what needs padding is converted, with minus infinity in it.
        tensor = tilize_padded(name, tensor, pad_value=float("-inf"))
        spec = tensor.spec
    if spec.dtype not in DTYPES:
        raise DTypeError(
            f"{name}: input_tensor is {spec.dtype.name}; typecast it to a floating point type first.",
            vendor=f"Input tensor must be FLOAT32, BFLOAT16, or BFLOAT8_B, got: {spec.dtype.cpp_name}",
        )
    full_tiles(name, tensor)
    return tensor


def _device(tensor: Tensor) -> MeshDevice:
    assert tensor._device is not None
    return tensor._device


def _numerics(tensor: Tensor, config: WormholeComputeKernelConfig | None) -> Numerics:
    dtype, fidelity = tensor.spec.dtype, wide_fidelity(_device(tensor).arch())
    if config is None:
        return Numerics(dtype, FIDELITY_NUMBER[fidelity], dtype is not DataType.FLOAT32, True)
    if config.math_fidelity is not MathFidelity.Invalid:
        fidelity = config.math_fidelity
    return Numerics(dtype, FIDELITY_NUMBER[fidelity], config.math_approx_mode, config.fp32_dest_acc_en)


def default_numerics(name: str, tensor: Tensor) -> Numerics:
    """Return what holds without a compute configuration, for scores in tiles."""
    return _numerics(_checked(name, tensor, tilizes=False), None)


def _program(name: str, tensor: Tensor, dim: int, numerics: Numerics, stable: bool) -> Pipeline:
    spec = tensor.spec
    rank = spec.shape.rank
    axis = dimension(name, dim, max(rank, 1)) - max(rank, 1)
    shape = (1, 1, *spec.shape)[-max(rank, 2) :]
    if axis == ROWS and rank <= 4:
        return attention(shape, numerics, stable)
    if axis in (ROWS, COLUMNS):
        return general(shape, axis, numerics, numerics.wide)
    return channel(shape, axis + rank, numerics)


def _run(program: Pipeline, inputs: list[Tensor], memory_config: MemoryConfig | None) -> Tensor:
    spec = inputs[0].spec
    target = TensorSpec.of(spec.shape, spec.dtype, Layout.TILE, memory_config or spec.memory_config)
    output = allocate(target, _device(inputs[0]))
    program.run(inputs, [output])
    return output


def _softmax(
    input_tensor: Tensor,
    dim: int,
    memory_config: MemoryConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    numeric_stable: bool,
) -> Tensor:
    return softmax_of("ttnn.softmax", input_tensor, dim, memory_config, compute_kernel_config, stable=numeric_stable)


def softmax_of(
    name: str,
    input_tensor: Tensor,
    dim: int = -1,
    memory_config: MemoryConfig | None = None,
    config: WormholeComputeKernelConfig | None = None,
    *,
    stable: bool = True,
) -> Tensor:
    """Return the softmax along a dimension, within operator `name`."""
    tensor = _checked(name, input_tensor, tilizes=True)
    if is_empty(tensor.spec):
        dimension(name, dim, max(tensor.spec.shape.rank, 1))
        return allocate(tensor.spec.with_memory_config(memory_config or tensor.spec.memory_config), _device(tensor))
    return _run(_program(name, tensor, dim, _numerics(tensor, config), stable), [tensor], memory_config)


def _softmax_in_place(
    input_tensor: Tensor,
    dim: int,
    program_config: SoftmaxProgramConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    numeric_stable: bool,
) -> Tensor:
    name = "ttnn.softmax_in_place"
    _checked(name, input_tensor, tilizes=False)
    if not is_empty(input_tensor.spec):
        numerics = _numerics(input_tensor, compute_kernel_config)
        copy_into(_run(_program(name, input_tensor, dim, numerics, numeric_stable), [input_tensor], None), input_tensor)
    return input_tensor


def scaled_and_masked(
    name: str,
    tensor: Tensor,
    scale: float | None,
    mask: Tensor | None,
    causal: bool,
    numerics: Numerics,
    stable: bool,
    memory_config: MemoryConfig | None = None,
    *,
    in_place: bool = False,
) -> Tensor:
    """Return the softmax of `scale * tensor + mask` over the last dimension.

    The tensor is a tiled one on a device.

    Operators that write `in_place` accept masks of more rows than a tile.

    Raises:
        ParameterError: a causal softmax has no mask.
        ShapeError: the mask does not fit the scores.
    """
    if causal and mask is None:
        raise ParameterError(
            f"{name}: is_causal_mask=True needs a mask.",
            vendor="Causal-mask softmax requires an attention mask (is_causal_mask=true with no mask is unsupported).",
        )
    scale = None if scale is None else as_float(name, scale, "scale")
    shape = (1, 1, *tensor.spec.shape)[-max(tensor.spec.shape.rank, 2) :]
    if is_empty(tensor.spec):
        return allocate(tensor.spec.with_memory_config(memory_config or tensor.spec.memory_config), _device(tensor))
    if mask is None:
        return _run(attention(shape, numerics, stable, scale), [tensor], memory_config)
    given = _mask(name, tensor, mask, causal, in_place=in_place)
    program = attention(shape, numerics, stable, scale, Mask(given.spec.dtype, tuple(given.spec.shape), causal))
    return _run(program, [tensor, given], memory_config)


def _tile_rows_read(name: str, mask: Tensor) -> Tensor:
    """Return a mask of one tile row for every batch.

    The reader counts tile rows from the start of the mask and moves on by one for every batch.
    """
    spec = mask.spec
    (*leading, _, columns), height = spec.shape, spec.padded_shape[-2]
    batch = math.prod(leading)
    whole = mask._view(TensorSpec.of((batch * height, columns), spec.dtype, Layout.TILE, spec.memory_config))
    read = sliced(name, whole, [0, 0], [batch * TILE_SIZE, columns], memory_config=DRAM_MEMORY_CONFIG)
    return read._view(TensorSpec.of((*leading, TILE_SIZE, columns), spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG))


def _mask(name: str, tensor: Tensor, mask: Tensor, causal: bool, *, in_place: bool) -> Tensor:
    """Return the mask in tiles."""
    same_device(name, on_device(name, tensor), mask, "mask")
    if mask.spec.dtype not in _MASKS:
        raise DTypeError(f"{name}: mask is {mask.spec.dtype.name}; it must be floating point.")
    shape, of = tuple(mask.spec.shape), (1, 1, *tensor.spec.shape)[-max(tensor.spec.shape.rank, 2) :]
    height, tiled = (1, *mask.spec.padded_shape)[-2], mask.spec.layout is Layout.TILE
    if not tiled:
        if len(shape) >= 2 and shape[-1] == TILE_SIZE and shape[-2] * TILE_SIZE == of[-1]:
            # Rows of 32: one for every tile of a row of scores.
            shape = (*shape[:-2], 1, of[-1])
            mask = mask._view(TensorSpec.of(shape, mask.spec.dtype, Layout.ROW_MAJOR, mask.spec.memory_config))
            height = 1
        mask = tilize_padded(name, mask)
        shape = tuple(mask.spec.shape)
    full_tiles(name, mask, "mask")
    if not in_place and height not in (1, TILE_SIZE):
        raise ShapeError(
            f"{name}: mask has shape {list(shape)}, {height} rows with padding; it must have 1 row, or {TILE_SIZE} "
            "with padding. An operator that writes in place accepts more.",
            vendor=f"Mask height must be 1 or input tensor tile height ({TILE_SIZE}), got: {height}. A full causal "
            "mask is not accepted here; for causal attention use ttnn::transformer::scaled_dot_product_attention with "
            "is_causal=true.",
        )
    if causal and len(shape) >= 2 and shape[-2] % TILE_SIZE == 0 < shape[-2] < of[-2]:
        # Heads that lie below each other have the same mask. A part of them may end within a head.
        times, rest = divmod(of[-2], shape[-2])
        if rest == 0 or (name == _HEIGHT_AND_WIDTH and rest % TILE_SIZE == 0):
            mask = repeated(name, mask, [*(1 for _ in shape[:-2]), times + bool(rest), 1], DRAM_MEMORY_CONFIG)
            if rest:
                mask = sliced(name, mask, [0] * len(shape), [*shape[:-2], of[-2], shape[-1]])
            shape = tuple(mask.spec.shape)
    leading = (1,) * (len(of) - len(shape)) + shape
    fits = 2 <= len(shape) <= len(of) and all(m in (1, n) for m, n in zip(leading[:-2], of[:-2], strict=True))
    if causal:
        fits = fits and shape[-2] == of[-2]
    elif height > TILE_SIZE:
        sharded = mask.spec.memory_config.is_sharded() or tensor.spec.memory_config.is_sharded()
        fits = fits and tiled and not sharded and leading[:-2] == (of[:1] + (1,) * len(of))[: len(of) - 2]
    else:
        fits = fits and height in (1, TILE_SIZE)
    if not fits or shape[-1] != of[-1]:
        rows = f"{of[-2]} rows, or full tiles that repeat to as many," if causal else "1 row, or 32 with padding,"
        raise ShapeError(
            f"{name}: mask has shape {list(shape)}; scores of {list(of)} take a mask of {rows} and {of[-1]} columns."
        )
    if causal or shape[-2] == 1:
        return mask
    if height == TILE_SIZE or math.prod(shape[:-2]) == 1:
        warn_of_first_row(name, "mask", shape)
    else:
        warn_of_first_row(name, "mask", shape, f"to batch n row {TILE_SIZE} * n, counted with padding,")
    return _tile_rows_read(name, mask) if height > TILE_SIZE else mask


def _scale_mask_softmax(
    input_tensor: Tensor,
    scale: float | None,
    mask: Tensor | None,
    memory_config: MemoryConfig | None,
    is_causal_mask: bool,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    numeric_stable: bool,
) -> Tensor:
    name = "ttnn.scale_mask_softmax"
    tensor = _checked(name, input_tensor, tilizes=True)
    numerics = _numerics(tensor, compute_kernel_config)
    return scaled_and_masked(name, tensor, scale, mask, is_causal_mask, numerics, numeric_stable, memory_config)


def _scale_mask_softmax_in_place(
    input_tensor: Tensor,
    scale: float | None,
    mask: Tensor | None,
    program_config: SoftmaxProgramConfig | None,
    is_causal_mask: bool,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    numeric_stable: bool,
) -> Tensor:
    name = "ttnn.scale_mask_softmax_in_place"
    return _in_place(name, input_tensor, scale, mask, is_causal_mask, compute_kernel_config, numeric_stable)


def _scale_causal_mask_in_place(
    input_tensor: Tensor,
    scale: float | None,
    mask: Tensor | None,
    program_config: SoftmaxProgramConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    numeric_stable: bool,
) -> Tensor:
    return _in_place(_HEIGHT_AND_WIDTH, input_tensor, scale, mask, True, compute_kernel_config, numeric_stable)


def _in_place(
    name: str,
    tensor: Tensor,
    scale: float | None,
    mask: Tensor | None,
    causal: bool,
    config: WormholeComputeKernelConfig | None,
    stable: bool,
) -> Tensor:
    _checked(name, tensor, tilizes=False)
    result = scaled_and_masked(name, tensor, scale, mask, causal, _numerics(tensor, config), stable, in_place=True)
    copy_into(result, tensor)
    return tensor


def _examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    whole_tiles = len(shape) >= 2 and shape[-1] % TILE_SIZE == shape[-2] % TILE_SIZE == 0
    if layout is not Layout.TILE and whole_tiles:
        return ()
    return tuple((dim,) for dim in range(-min(len(shape), 3), 0)) if shape else ((),)


def _tiled_only(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    return ((),) if layout is Layout.TILE else ()


def _scores(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    whole_tiles = len(shape) >= 2 and shape[-1] % TILE_SIZE == shape[-2] % TILE_SIZE == 0
    return ((), (0.125,)) if layout is Layout.TILE or not whole_tiles else ()


def _causal(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if len(shape) < 2 or layout is not Layout.TILE:
        return ()
    return ((0.5, Operand((*(1 for _ in shape[:-2]), *shape[-2:]))),)


SOFTMAX_PROGRAM_CONFIG: Final = Param(
    "program_config",
    instance_kind(
        "ttnn.SoftmaxDefaultProgramConfig | ttnn.SoftmaxShardedMultiCoreProgramConfig",
        SoftmaxDefaultProgramConfig,
        SoftmaxShardedMultiCoreProgramConfig,
    ),
    None,
    doc="How rows are split over cores, which changes time only.",
)
_COMPUTE: Final = Param(
    "compute_kernel_config",
    COMPUTE_KERNEL_CONFIG,
    None,
    doc="Math fidelity, Dst width and approximation. Default: HiFi3 (HiFi4 on Blackhole), 32-bit Dst, approximate "
    "exponential except for float32.",
)
_DIM: Final = Param("dim", INTEGER, -1, doc="Dimension along which the output sums to 1.")
_STABLE_DOC: Final = "Subtract the maximum of each row before the exponential. Other dimensions always do."
_STABLE: Final = Param("numeric_stable", BOOLEAN, True, doc=_STABLE_DOC)
_UNSTABLE: Final = Param("numeric_stable", BOOLEAN, False, doc=_STABLE_DOC)
_SCALE: Final = Param("scale", FLOAT, None, doc="Factor of the scores, truncated to bfloat16. Default: 1.")
_MASK: Final = Param(
    "mask",
    TENSOR,
    None,
    doc="Added to the scaled scores: [..., 1, W], or [..., H, W] if it is causal. Of one that is not causal the first "
    "row of a tile counts, for every row of scores.",
    example=Operand((1, 1, 1, 128)),
)
_CAUSAL_MASK: Final = Param(
    "mask",
    TENSOR,
    None,
    doc="Added to the scaled scores: [..., H, W], or as many rows as repeat down the scores.",
)
_CAUSAL: Final = Param(
    "is_causal_mask", BOOLEAN, False, doc="The mask has a row for every row of scores; up to 32 rows, except in place."
)
_SHARED_ERRORS: Final = (
    ("DTypeError", "the input is not floating point."),
    ("LayoutError", "the input is row-major and needs no tile padding."),
)
_IN_PLACE_ERRORS: Final = (
    ("DTypeError", "the input is not floating point."),
    ("LayoutError", "the input is row-major."),
)
_MASK_ERRORS: Final = (
    ("ShapeError", "the mask does not fit the scores."),
    ("ParameterError", "a causal softmax has no mask."),
)
# For |x| up to 4. The FPU subtracts the maximum in TF32, and the error grows with the exponent.
_ACCURACY: Final = max_ulp((DataType.BFLOAT16, 16), (DataType.FLOAT32, 2**17), (DataType.BFLOAT8_B, 4))

_declare: Final = partial(
    declare,
    source="tt-metal `ttnn/cpp/ttnn/operations/normalization/softmax`",
    dtypes=DTYPES,
    accuracy=_ACCURACY,
    engine=("Pipeline",),
)

softmax = _declare(
    "softmax",
    signatures=(Signature((INPUT_TENSOR, _DIM), (MEMORY_CONFIG_OPTION, _COMPUTE, _STABLE)),),
    run=_softmax,
    doc="Return the softmax `exp(x) / sum(exp(x))` of `input_tensor` along `dim`.\n"
    "Shape: [..., H, W] -> [..., H, W].\n"
    "The output is in TILE_LAYOUT.",
    layouts=(Layout.TILE, Layout.ROW_MAJOR),
    golden=golden.softmax,
    raises=_SHARED_ERRORS,
    examples=_examples,
)

softmax_in_place = _declare(
    "softmax_in_place",
    signatures=(Signature((INPUT_TENSOR, _DIM), (SOFTMAX_PROGRAM_CONFIG, _COMPUTE, _STABLE)),),
    run=_softmax_in_place,
    doc="Write the softmax of `input_tensor` along `dim` to it; return it.\nShape: [..., H, W] -> [..., H, W].",
    layouts=(Layout.TILE,),
    golden=golden.softmax,
    raises=_IN_PLACE_ERRORS,
    examples=_tiled_only,
)

scale_mask_softmax = _declare(
    "scale_mask_softmax",
    signatures=(Signature((INPUT_TENSOR, _SCALE, _MASK), (MEMORY_CONFIG_OPTION, _CAUSAL, _COMPUTE, _STABLE)),),
    run=_scale_mask_softmax,
    doc="Return the softmax of `scale * input_tensor + mask` over the last dimension.\n"
    "Shape: [..., H, W] -> [..., H, W].\n"
    "The output is in TILE_LAYOUT.",
    layouts=(Layout.TILE, Layout.ROW_MAJOR),
    golden=golden.scale_mask_softmax,
    raises=(*_SHARED_ERRORS, *_MASK_ERRORS),
    examples=_scores,
)

scale_mask_softmax_in_place = _declare(
    "scale_mask_softmax_in_place",
    signatures=(Signature((INPUT_TENSOR, _SCALE, _MASK), (SOFTMAX_PROGRAM_CONFIG, _CAUSAL, _COMPUTE, _UNSTABLE)),),
    run=_scale_mask_softmax_in_place,
    doc="Write the softmax of `scale * input_tensor + mask` to the input; return it.\nIt is over the last dimension.\n"
    "Shape: [..., H, W] -> [..., H, W].",
    layouts=(Layout.TILE,),
    golden=golden.scale_mask_softmax,
    raises=(*_IN_PLACE_ERRORS, *_MASK_ERRORS),
    examples=_tiled_only,
)

scale_causal_mask_hw_dims_softmax_in_place = _declare(
    "scale_causal_mask_hw_dims_softmax_in_place",
    signatures=(Signature((INPUT_TENSOR, _SCALE, _CAUSAL_MASK), (SOFTMAX_PROGRAM_CONFIG, _COMPUTE, _UNSTABLE)),),
    run=_scale_causal_mask_in_place,
    doc="Write the softmax of `scale * input_tensor + mask` to the input; return it.\nIt is over the last dimension. "
    "The mask has a row for every row of scores, or as many as repeat down the rows; the last time in part.\n"
    "Shape: [..., H, W] -> [..., H, W].",
    layouts=(Layout.TILE,),
    golden=golden.scale_causal_mask_softmax,
    raises=(*_IN_PLACE_ERRORS, *_MASK_ERRORS),
    examples=_causal,
)
