"""`quantize`, `dequantize` and `requantize`: conversions from and to 8-bit integers.

Numbers, and a scale of one element with a number as zero point, are one program of the SFPU. All else is made of
quotients, products, sums and conversions, each of which rounds; those results do not saturate.
Source: tt-metal `ttnn/cpp/ttnn/operations/eltwise/quantization/quantization.cpp`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ttnn.base.enums import BLOCK_FLOATS, FORMAT_CODE, DataType, Layout
from ttnn.base.exceptions import DTypeError, ParameterError, ShapeError, UnsupportedError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden.eltwise import quantization as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import DATA_TYPE, INTEGER, Param, Signature
from ttnn.operation.steps import word
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
    agreed_dtype,
    allocate,
    as_float,
    is_empty,
    list_on_host,
    on_device,
    result_spec,
    take_output,
)
from ttnn.ops._programs.element_map import copy_into, in_rows, like_in_rows, needs_rows
from ttnn.ops._programs.typecast import cast
from ttnn.ops.eltwise.binary import add, multiply, subtract
from ttnn.ops.eltwise.binary.checks import broadcast
from ttnn.ops.eltwise.binary.quotients import OPERATORS as _QUOTIENTS
from ttnn.ops.eltwise.quantization.operands import (
    SCALE,
    ZERO_POINT,
    Pair,
    along,
    check_axis,
    check_input,
    check_of_channels,
    check_of_tensor,
    check_scale,
    check_zero_point,
    in_dtype,
    tensors_of,
)
from ttnn.ops.eltwise.unary.math import OPERATORS as _MATH
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_FLOAT32, _INT32, _BFLOAT16 = DataType.FLOAT32, DataType.INT32, DataType.BFLOAT16
_HIFI4: Final = 4
_divide: Final = _QUOTIENTS["div"]
_SOURCE: Final = "tt-metal `ttnn/cpp/ttnn/operations/eltwise/quantization`"


def _number(scale: Tensor) -> float:
    """Return the element of a tensor that has one."""
    value: Any = list_on_host("ttnn.quantize", scale, "scale")
    while isinstance(value, list):
        (value,) = value
    return float(value)


def _fused(
    name: str,
    function: str,
    source: Tensor,
    scale: Tensor | float,
    zero_point: float,
    dtype: DataType,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
) -> Tensor:
    """Return the result of an SFPU quantization function, in 32-bit Dst.

    A tensor of one element is a number to it: both fill a tile, and Dst holds the same word.
    """
    device, spec = on_device(name, source), source.spec
    shape = spec.shape._dims
    if isinstance(scale, Tensor):
        shape = broadcast(name, shape, scale.spec.shape._dims)
        scale = _number(scale)
    if output_tensor is None:
        output = allocate(result_spec(spec, shape, dtype, memory_config), device)
    else:
        output = take_output(name, output_tensor, shape, spec.layout, device)
    if is_empty(output.spec):
        return output
    target = output
    if spec.layout is Layout.ROW_MAJOR and needs_rows(source, output):
        source, target = in_rows(source), like_in_rows(output)
    assert source.buffer is not None
    assert target.buffer is not None
    engine_steps.binary(
        source.buffer,
        None,
        target.buffer,
        formats=(FORMAT_CODE[spec.dtype], FORMAT_CODE[_FLOAT32], FORMAT_CODE[dtype]),
        op=function,
        engine="sfpu",
        scalar=scale,
        scalar_is_lhs=False,
        shape_a=spec.shape._dims,
        shape_b=(),
        shape_out=shape,
        tiled=spec.layout is Layout.TILE,
        fidelity=_HIFI4,
        dst32=True,
        parameters=[word(zero_point)],
    )
    if target is not output:
        copy_into(target, output)
    return output


def _check_int32(name: str, dtype: DataType | None, output_tensor: Tensor | None) -> None:
    """Refuse a result of another data type than int32.

    Raises:
        DTypeError: `dtype` or `output_tensor` is another.
    """
    for given in (dtype, None if output_tensor is None else output_tensor.spec.dtype):
        if given not in (None, _INT32):
            raise DTypeError(
                f"{name}: the result is INT32, not {given.name}.",
                vendor=f"{name.rpartition('.')[2].capitalize()} only supports int32, int8 or uint8 outputs for now, "
                f"got {given.cpp_name}",
            )


def _quantize(
    input_tensor: Tensor,
    scale: Tensor | float,
    zero_point: Tensor | int,
    axis: int | None,
    dtype: DataType | None,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
) -> Tensor:
    name = "ttnn.quantize"
    if input_tensor.spec.dtype not in (*BLOCK_FLOATS, _BFLOAT16, _FLOAT32):
        raise DTypeError(
            f"{name}: input_tensor is {input_tensor.spec.dtype.name}; it must be floating point.",
            vendor="Quantize only takes floating-point number inputs",
        )
    _check_int32(name, dtype, output_tensor)
    check_input(name, input_tensor, scale, zero_point)
    pair = Pair(scale, zero_point)
    return _quantized(name, input_tensor, pair, axis, memory_config, output_tensor)


def _quantized(
    name: str,
    source: Tensor,
    pair: Pair,
    axis: int | None,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
) -> Tensor:
    if source.spec.dtype in BLOCK_FLOATS:
        source = cast(name, source, _BFLOAT16)
    dtype = source.spec.dtype
    scale, zero_point = pair.scale, pair.zero_point
    if axis is not None:
        axis = check_axis(name, source, axis)
        scale, zero_point = check_of_channels(name, pair, source, axis)
        scaled = _divide(source, along(name, scale, source, axis, dtype), dtype=dtype)
        moved = add(scaled, along(name, zero_point, source, axis, dtype))
        return cast(name, moved, _INT32, memory_config, output_tensor)
    check_of_tensor(name, pair, source)
    if not isinstance(zero_point, Tensor):
        if isinstance(scale, Tensor):
            inverse: Tensor | float = _MATH["reciprocal"](scale)
        else:
            inverse = _quotient(1.0, as_float(name, scale, pair.labels[0]))
        place = memory_config or source.spec.memory_config
        return _fused(name, "quant", source, inverse, float(zero_point), _INT32, place, output_tensor)
    if isinstance(scale, Tensor):
        scaled = _divide(source, in_dtype(name, scale, dtype), dtype=dtype)
    else:
        scaled = _divide(source, scale)
    moved = add(scaled, cast(name, zero_point, dtype), dtype=dtype)
    return cast(name, moved, _INT32, memory_config, output_tensor)


def _quotient(a: float, b: float) -> float:
    """Return a quotient in float32, as the host computes it."""
    with np.errstate(all="ignore"):
        return float(np.float32(a) / np.float32(b))


def _requantize(
    input_tensor: Tensor,
    in_scale: Tensor | float,
    in_zero_point: Tensor | int,
    out_scale: Tensor | float,
    out_zero_point: Tensor | int,
    axis: int | None,
    dtype: DataType | None,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
) -> Tensor:
    name = "ttnn.requantize"
    check_input(name, input_tensor, in_scale, in_zero_point, out_scale, out_zero_point)
    if input_tensor.spec.dtype is not _INT32:
        raise DTypeError(
            f"{name}: input_tensor is {input_tensor.spec.dtype.name}; it must be INT32.",
            vendor="Requantize only supports int32 inputs for now",
        )
    _check_int32(name, dtype, output_tensor)
    before = Pair(in_scale, in_zero_point, ("in_scale", "in_zero_point"))
    after = Pair(out_scale, out_zero_point, ("out_scale", "out_zero_point"))
    values = (in_scale, in_zero_point, out_scale, out_zero_point)
    if axis is not None and all(isinstance(value, Tensor) for value in values):
        return _requantized_by_channels(name, input_tensor, before, after, axis, memory_config, output_tensor)
    if not any(isinstance(value, Tensor) for value in values):
        if axis is not None:
            raise ParameterError(f"{name}: axis={axis} is for vectors, but scales and zero points are scalars.")
        scales = (as_float(name, before.scale, "in_scale"), as_float(name, after.scale, "out_scale"))  # type: ignore[arg-type]
        ratio = _quotient(*scales)
        with np.errstate(all="ignore"):
            shifted = np.float32(in_zero_point) * np.float32(ratio)  # type: ignore[arg-type]
            zero = float(np.float32(out_zero_point) - shifted)  # type: ignore[arg-type]
        place = memory_config or input_tensor.spec.memory_config
        return _fused(name, "requant", input_tensor, ratio, zero, _INT32, place, output_tensor)
    number = _dequantized(
        name, input_tensor, before, axis if isinstance(in_scale, Tensor) else None, _BFLOAT16, None, None
    )
    return _quantized(
        name, number, after, axis if isinstance(out_scale, Tensor) else None, memory_config, output_tensor
    )


def _expanded(name: str, pair: Pair, like: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Return scale and zero point in float32.

    There is one for each index of the axis, or one for all.

    Raises:
        ShapeError: one of them is a vector, the other is not.
    """
    extent = like.spec.shape[axis]
    parts = tensors_of(name, pair)
    is_vector = [int(np.prod(part.spec.shape._dims, dtype=np.int64)) == extent for part in parts]
    if is_vector[0] != is_vector[1]:
        side = "Input" if pair.labels[0] == "in_scale" else "Output"
        words = ["is" if of_channels else "is not" for of_channels in is_vector]
        raise ShapeError(
            f"{name}: {pair.labels[0]} has shape {parts[0].shape} and {pair.labels[1]} {parts[1].shape}; both are "
            f"vectors of {extent} elements, or both have one element.",
            vendor=f"{side} scale and {side.lower()} zero-point must both be per-channel or both be per-tensor, but "
            f"got: {side.lower()} scale {words[0]} per-channel, {side.lower()} zero-point {words[1]} per-channel",
        )
    if is_vector[0]:
        scale, zero_point = check_of_channels(name, pair, like, axis)
        return along(name, scale, like, axis, _FLOAT32), along(name, zero_point, like, axis, _FLOAT32)
    check_scale(name, pair.labels[0], parts[0], like)
    check_zero_point(name, pair.labels[1], parts[1], like)
    check_of_tensor(name, pair, like)
    return cast(name, parts[0], _FLOAT32), cast(name, parts[1], _FLOAT32)


def _requantized_by_channels(
    name: str,
    source: Tensor,
    before: Pair,
    after: Pair,
    axis: int,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
) -> Tensor:
    """Return `q * s_in / s_out + (z_out - z_in * s_in / s_out)`, every step in float32."""
    axis = check_axis(name, source, axis)
    in_scale, in_zero = _expanded(name, before, source, axis)
    out_scale, out_zero = _expanded(name, after, source, axis)
    ratio = _divide(in_scale, out_scale)
    zero = subtract(out_zero, multiply(in_zero, ratio))
    moved = add(multiply(cast(name, source, _FLOAT32), ratio), zero)
    return cast(name, moved, _INT32, memory_config, output_tensor)


def _dequantize(
    input_tensor: Tensor,
    scale: Tensor | float,
    zero_point: Tensor | int,
    axis: int | None,
    dtype: DataType | None,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
) -> Tensor:
    name = "ttnn.dequantize"
    check_input(name, input_tensor, scale, zero_point)
    given = input_tensor.spec.dtype
    if given in (DataType.INT8, DataType.UINT8):
        raise UnsupportedError(
            f"{name}: input_tensor is {given.name}, whose program is not public; typecast it to int32.", "untested"
        )
    if given is not _INT32:
        raise DTypeError(
            f"{name}: input_tensor is {given.name}; it must be INT32.",
            vendor=f"Dequantize only supports int32, int8 or uint8 inputs for now, got {given.cpp_name}",
        )
    result = agreed_dtype(name, dtype, output_tensor, _BFLOAT16)
    if result not in (_FLOAT32, _BFLOAT16):
        raise DTypeError(
            f"{name}: the result is to be {result.name}; it is BFLOAT16 or FLOAT32.",
            vendor="Dequantize only supports bf16/f32 outputs for now",
        )
    return _dequantized(name, input_tensor, Pair(scale, zero_point), axis, result, memory_config, output_tensor)


def _dequantized(
    name: str,
    source: Tensor,
    pair: Pair,
    axis: int | None,
    dtype: DataType,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
) -> Tensor:
    scale, zero_point = pair.scale, pair.zero_point
    options: dict[str, Any] = {"memory_config": memory_config, "output_tensor": output_tensor}
    if axis is not None:
        axis = check_axis(name, source, axis)
        scale, zero_point = check_of_channels(name, pair, source, axis)
        shift = along(name, zero_point, source, axis, _FLOAT32)
        shifted = subtract(cast(name, source, _FLOAT32), shift)
        product: Tensor = multiply(shifted, along(name, scale, source, axis, _FLOAT32))
        return cast(name, product, dtype, memory_config, output_tensor)
    check_of_tensor(name, pair, source)
    if not isinstance(zero_point, Tensor):
        place = memory_config or source.spec.memory_config
        if not isinstance(scale, Tensor):
            scale = as_float(name, scale, pair.labels[0])
        return _fused(name, "dequant", source, scale, float(-zero_point), dtype, place, output_tensor)
    shifted = cast(name, subtract(source, zero_point), dtype)
    factor = in_dtype(name, scale, dtype) if isinstance(scale, Tensor) else scale
    result: Tensor = multiply(shifted, factor, dtype=dtype, **options)
    return result


def _parameter(label: str, kind: Any, what: str, example: Any) -> Param:
    return Param(
        label, kind, doc=f"{what}: a scalar, a tensor of one element, or with `axis` a vector.", example=example
    )


_OPTIONS: Final = (
    Param("axis", INTEGER, None, doc="Dimension along which scale and zero point vary."),
    Param("dtype", DATA_TYPE, None, doc="Data type of the output."),
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
)
_RAISES: Final = (
    ("DTypeError", "a tensor or the output has another data type."),
    ("ShapeError", "scale or zero point have another shape, or `axis` is out of range."),
    ("ParameterError", "`axis` is given and a value is not a vector."),
    ("LayoutError", "a scale or zero point is row-major, or a tensor with a row-major input."),
    ("StorageError", "a tensor is on the host, deallocated or on another device."),
)
_ACCURACY: Final = no_bound("for a result next to a half may round the other way")


def _entry(
    name: str, positional: tuple[Param, ...], run: Any, doc: str, dtypes: tuple[DataType, ...], examples: Any
) -> Any:
    return register(
        Op(
            name=name,
            signatures=(Signature(positional, _OPTIONS),),
            run=run,
            doc=doc,
            source=_SOURCE,
            dtypes=dtypes,
            layouts=(Layout.TILE, Layout.ROW_MAJOR),
            golden=getattr(golden, name),
            accuracy=_ACCURACY,
            engine=("binary",),
            raises=_RAISES,
            scalars=True,
            any_shape=True,
            examples=examples,
        )
    )


quantize = _entry(
    "quantize",
    (
        INPUT_TENSOR,
        _parameter("scale", SCALE, "Step between integers", 0.25),
        _parameter("zero_point", ZERO_POINT, "Integer value of 0", 3),
    ),
    _quantize,
    "Return `input_tensor / scale + zero_point` as int32, rounded to nearest, ties away from zero.\n"
    "With scalars, or a tensor scale and a scalar zero point, integers beyond -127 and 127 saturate, and the "
    "quotient is a product with `1 / scale`. Otherwise nothing saturates, and every step is an operator that rounds.",
    (_BFLOAT16, DataType.BFLOAT8_B, DataType.BFLOAT4_B, _FLOAT32),
    ((0.25, 3), (0.5, -4, {"axis": None})),
)
requantize = _entry(
    "requantize",
    (
        INPUT_TENSOR,
        _parameter("in_scale", SCALE, "Step between integers of the input", 0.25),
        _parameter("in_zero_point", ZERO_POINT, "Input integer value of 0", 3),
        _parameter("out_scale", SCALE, "Step between integers of the output", 0.5),
        _parameter("out_zero_point", ZERO_POINT, "Output integer value of 0", -2),
    ),
    _requantize,
    "Return `(input_tensor - in_zero_point) * in_scale / out_scale + out_zero_point` as int32, rounded to nearest.\n"
    "Four scalars run one program, in which integers beyond -127 and 127 saturate. Four tensors with `axis` are steps "
    "in float32; otherwise the input is dequantised to bfloat16 and quantised again.",
    (_INT32,),
    ((0.25, 3, 0.5, -2),),
)
dequantize = _entry(
    "dequantize",
    (
        INPUT_TENSOR,
        _parameter("scale", SCALE, "Step between integers", 0.25),
        _parameter("zero_point", ZERO_POINT, "Integer value of 0", 3),
    ),
    _dequantize,
    "Return `(input_tensor - zero_point) * scale` as bfloat16 or float32, bfloat16 without `dtype`.",
    (_INT32,),
    ((0.25, 3),),
)
