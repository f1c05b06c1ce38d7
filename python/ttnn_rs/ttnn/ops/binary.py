"""Element-wise operators on two tensors, or on a tensor and a number, with broadcasting (`binary_ng`).

Which unit computes follows from the operand types; it decides the rounding of the result and is therefore part of the
operator. Source: operator programs, section 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, Final

from ttnn import _engine, golden
from ttnn.exceptions import DTypeError, LayoutError, ShapeError, UnsupportedError, fatal
from ttnn.memory_config import MemoryConfig
from ttnn.ops.accuracy import max_ulp
from ttnn.ops.activations import Activation, chain, is_single_relu
from ttnn.ops.arguments import (
    ACTIVATIONS,
    BOOLEAN,
    CORE_RANGE_SET,
    DATA_TYPE,
    NUMBER,
    SUB_DEVICE_ID,
    TENSOR,
    Kind,
    Param,
    Signature,
)
from ttnn.ops.common import (
    FLOATS,
    INTEGER_RANGE,
    INTEGERS,
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
    WIDE,
    agreed_dtype,
    agreed_memory,
    allocate,
    arch_number,
    as_float,
    full_tiles,
    is_empty,
    needs_tiles,
    on_device,
    result_spec,
    same_device,
    take_output,
)
from ttnn.ops.registry import FastOperation, Op, register
from ttnn.ops.steps import ChainStep
from ttnn.tensor import Tensor
from ttnn.tensor_spec import TensorSpec
from ttnn.types import BLOCK_FLOATS, FORMAT_CODE, BinaryOpType, DataType, Layout

_HIFI4: Final = 4
_LARGEST_RANK: Final = 8


@dataclass(frozen=True, eq=False)
class Arithmetic:
    """What distinguishes one operator from the others."""

    name: str
    op: str
    op_type: BinaryOpType
    sfpu_in_bfloat16: bool
    """Whether two bfloat16 operands, or one and a float32, go to the vector unit."""
    function: str = ""
    """The vector unit's function; `op` with "_binary" if empty."""
    parameters: tuple[int, ...] = ()
    """The function's parameters as raw words."""
    blocks_on_sfpu: bool = False
    """Whether block floats go to the vector unit, too."""
    before: tuple[ChainStep, ...] = ()
    """Applied to both operands."""
    before_b: tuple[ChainStep, ...] = ()
    """Applied to the second operand."""
    after: tuple[ChainStep, ...] = ()
    """Applied to the result in Dst."""
    after_fpu: tuple[ChainStep, ...] = ()
    """Applied to the result in Dst if the matrix unit made it."""
    integers: Mapping[DataType, tuple[str, str]] = field(default_factory=dict)
    """The vector unit's functions for integers: name and variant."""
    floats: bool = True
    """Whether floating point operands are taken."""
    integer_result: DataType | None = None
    """Data type of the result of integers; theirs if None."""


@dataclass(frozen=True)
class _Program:
    """Unit, formats and Dst width for given data types."""

    formats: tuple[int, int, int]
    unit: str
    op: str
    variant: str
    dst32: bool
    after: tuple[ChainStep, ...]
    cast: tuple[ChainStep, ...]


@lru_cache(maxsize=512)
def _program(arithmetic: Arithmetic, a: DataType, b: DataType, out: DataType) -> _Program:
    """Return the program for operands of types `a` and `b`."""
    variant = "default"
    if a in INTEGERS:
        unit = "sfpu"
    elif a in BLOCK_FLOATS or b in BLOCK_FLOATS:
        unit = "sfpu" if arithmetic.blocks_on_sfpu else "fpu"
    elif a is b is DataType.FLOAT32 or arithmetic.sfpu_in_bfloat16:
        unit = "sfpu"
    else:
        unit = "fpu"
    op = arithmetic.op if unit == "fpu" else arithmetic.function or f"{arithmetic.op}_binary"
    if a in INTEGERS:
        op, variant = arithmetic.integers[a]
    # The vector unit rounds a float32 result to bfloat16 itself; the packer would round half away from zero.
    cast: tuple[ChainStep, ...] = ()
    if a is b is DataType.FLOAT32 and out is DataType.BFLOAT16:
        cast = (("typecast_from_fp32", "fp32_to_bf16"),)
    elif a not in INTEGERS and out in INTEGERS:
        source = "fp32" if a is b is DataType.FLOAT32 else "bf16"
        cast = ((f"typecast_from_{source}", f"{source}_to_{out.name.lower()}"),)
    return _Program(
        formats=(FORMAT_CODE[a], FORMAT_CODE[b], FORMAT_CODE[out]),
        unit=unit,
        op=op,
        variant=variant,
        dst32=bool(WIDE.intersection((a, b, out))),
        after=arithmetic.after + (arithmetic.after_fpu if unit == "fpu" else ()),
        cast=cast,
    )


@lru_cache(maxsize=4096)
def _broadcast(operator: str, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of the result."""
    rank = max(len(a), len(b))
    left, right = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    out = []
    for axis, (m, n) in enumerate(zip(left, right, strict=True)):
        if m != n and 1 not in (m, n):
            where = f"{operator}: cannot broadcast {list(a)} with {list(b)}: dimension {axis - rank} is {m} and {n}."
            if axis >= rank - 2:
                raise fatal(ShapeError, where, "Invalid subtile broadcast type")
            raise ShapeError(where)
        out.append(n if m == 1 else m)
    return tuple(out)


@lru_cache(maxsize=4096)
def _folded(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape with its leading dimensions as one: without broadcasting they are the same pages."""
    return shape if len(shape) <= 3 else (math.prod(shape[:-2]), *shape[-2:])


def _check_scalar(arithmetic: Arithmetic, scalar: float, dtype: DataType) -> None:
    low, high = INTEGER_RANGE[dtype]
    if not (math.isfinite(scalar) and float(scalar).is_integer() and low <= scalar <= high):
        text = f"{scalar:g}"
        raise fatal(
            DTypeError,
            f"{arithmetic.name}: {text} is not a value of {dtype.name} ({low} to {high}).",
            f"Binary operation {arithmetic.op_type.cpp_name} with a {dtype.cpp_name} tensor cannot represent the "
            f"scalar {text}: only a finite integer within the range of {dtype.cpp_name} survives being packed as one, "
            "and this value would be changed silently. Typecast the input to a floating-point dtype first.",
        )


def _check_types(arithmetic: Arithmetic, a: DataType, b: DataType) -> None:
    if a is not b and (a in INTEGERS or b in INTEGERS):
        raise fatal(
            DTypeError,
            f"{arithmetic.name}: the operands are {a.name} and {b.name}; typecast one of them.",
            f"Mixed dtype is not supported for binary operation {arithmetic.op_type.cpp_name}, dtype A: "
            f"{a.cpp_name}, dtype B: {b.cpp_name}",
        )
    if a not in arithmetic.integers and (a in INTEGERS or not arithmetic.floats):
        raise fatal(
            DTypeError,
            f"{arithmetic.name}: input_tensor_a is {a.name}, on which the operator is not defined.",
            f"Input tensor A dtype {a.cpp_name} is not supported for binary operation {arithmetic.op_type.cpp_name}",
        )


def on_host(label: str) -> str:
    """Return the official sentence about an operand on the host."""
    return f"Input tensor {label} must be on device, got storage type: StorageType::HOST"


def _with_scalar(
    arithmetic: Arithmetic,
    tensor: Tensor,
    scalar: float,
    scalar_is_left: bool,
    options: Options,
) -> Tensor:
    spec = tensor._spec
    scalar = as_float(arithmetic.name, scalar, "the number")
    if spec.dtype in INTEGERS:
        _check_scalar(arithmetic, scalar, spec.dtype)
    device = on_device(arithmetic.name, tensor, "input_tensor_a", on_host("A"))
    full_tiles(arithmetic.name, tensor)
    # The tile that a number fills is bfloat16 unless the tensor is float32.
    other = spec.dtype if spec.dtype in INTEGERS or spec.dtype is DataType.FLOAT32 else DataType.BFLOAT16
    _check_types(arithmetic, spec.dtype, other)
    shape = spec.shape._dims
    dtype = agreed_dtype(arithmetic.name, options.dtype, options.output_tensor, _own(arithmetic, spec.dtype))
    output = _result(arithmetic, options, dtype, shape, spec, device)
    formats = (other, spec.dtype) if scalar_is_left else (spec.dtype, other)
    program = _program(arithmetic, *formats, dtype)
    code, scalar_code = FORMAT_CODE[spec.dtype], FORMAT_CODE[other]
    _run(
        arithmetic,
        program,
        options,
        tensor,
        None,
        output,
        (code, scalar_code, FORMAT_CODE[dtype]),
        scalar=scalar,
        scalar_is_left=scalar_is_left,
        shapes=(_folded(shape), (), _folded(shape)),
    )
    return output


def _of_tensors(arithmetic: Arithmetic, a: Tensor, b: Tensor, options: Options) -> Tensor:
    name = arithmetic.name
    device = on_device(name, a, "input_tensor_a", on_host("A"))
    on_device(name, b, "input_tensor_b", on_host("B"))
    same_device(name, device, b, "input_tensor_b")
    spec_a, spec_b = a._spec, b._spec
    full_tiles(name, a, "input_tensor_a")
    full_tiles(name, b, "input_tensor_b")
    _check_types(arithmetic, spec_a.dtype, spec_b.dtype)
    if spec_a.layout is not spec_b.layout:
        raise LayoutError(
            f"{name}: input_tensor_a is {spec_a.layout.name} and input_tensor_b is {spec_b.layout.name}; "
            "convert one of them with ttnn.to_layout."
        )
    shape_a, shape_b = spec_a.shape._dims, spec_b.shape._dims
    shape = _broadcast(name, shape_a, shape_b)
    dtype = agreed_dtype(name, options.dtype, options.output_tensor, _own(arithmetic, spec_a.dtype))
    if spec_a.layout is Layout.ROW_MAJOR and shape_a != shape_b:
        raise UnsupportedError(
            f"{name}: broadcasting {list(shape_a)} with {list(shape_b)} in ROW_MAJOR_LAYOUT is not built yet; convert "
            "the operands with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            "unimplemented",
        )
    if len(shape) > _LARGEST_RANK and shape_a != shape_b:
        raise UnsupportedError(f"{name}: broadcasting is built up to rank {_LARGEST_RANK}, got {list(shape)}.")
    output = _result(arithmetic, options, dtype, shape, spec_a, device)
    program = _program(arithmetic, spec_a.dtype, spec_b.dtype, dtype)
    if shape_a == shape_b:
        shape = shape_a = shape_b = _folded(shape)
    _run(arithmetic, program, options, a, b, output, program.formats, shapes=(shape_a, shape_b, shape))
    return output


def _own(arithmetic: Arithmetic, dtype: DataType) -> DataType:
    """Return the data type of a result if none is asked for."""
    return arithmetic.integer_result or dtype if dtype in INTEGERS else dtype


def _result(
    arithmetic: Arithmetic,
    options: Options,
    dtype: DataType,
    shape: tuple[int, ...],
    like: TensorSpec,
    device: Any,
) -> Tensor:
    """Return the tensor that takes the result."""
    name = arithmetic.name
    own = arithmetic.integer_result or like.dtype
    known = dtype is own if like.dtype in INTEGERS else dtype in FLOATS or dtype is DataType.UINT16
    if not known:
        raise UnsupportedError(f"{name}: {like.dtype.name} operands with a result of {dtype.name} are not built yet.")
    if options.output_tensor is not None:
        agreed_memory(name, options.memory_config, options.output_tensor, like.memory_config)
        return take_output(name, options.output_tensor, shape, like.layout, device)
    needs_tiles(name, dtype, like.layout)
    return allocate(result_spec(like, shape, dtype, options.memory_config), device)


@dataclass(slots=True)
class Options:
    """The keyword options of one call."""

    dtype: DataType | None = None
    memory_config: MemoryConfig | None = None
    output_tensor: Tensor | None = None
    activations: Sequence[Activation] = ()
    activations_a: Sequence[Activation] = ()
    activations_b: Sequence[Activation] = ()

    @property
    def has_activations(self) -> bool:
        """Whether any activation is fused."""
        return bool(self.activations or self.activations_a or self.activations_b)


def _run(
    arithmetic: Arithmetic,
    program: _Program,
    options: Options,
    a: Tensor,
    b: Tensor | None,
    output: Tensor,
    formats: tuple[int, int, int],
    *,
    scalar: float | None = None,
    scalar_is_left: bool = False,
    shapes: tuple[Sequence[int], Sequence[int], Sequence[int]],
) -> None:
    name = arithmetic.name
    if options.has_activations:
        if output._spec.dtype in INTEGERS or a._spec.dtype in INTEGERS:
            raise UnsupportedError(f"{name}: activations of integers are not modelled.")
        if arithmetic.before or arithmetic.before_b or program.after:
            raise UnsupportedError(f"{name}: activations are not modelled for this operator.", "untested")
    # A ReLU alone is done by the packer; anything else runs in Dst before it.
    by_packer = is_single_relu(options.activations) and not program.cast
    post = chain(name, options.activations) if options.activations and not by_packer else []
    before_a = chain(name, options.activations_a) if options.activations_a else list(arithmetic.before)
    before_b = (
        chain(name, options.activations_b) if options.activations_b else [*arithmetic.before, *arithmetic.before_b]
    )
    if scalar_is_left:
        before_a, before_b = before_b, before_a
    if is_empty(output._spec):
        return
    assert a._buffer is not None
    assert output._buffer is not None
    assert output._device is not None
    _engine.binary(
        a._buffer,
        None if b is None else b._buffer,
        output._buffer,
        formats=formats,
        op=program.op,
        engine=program.unit,
        scalar=scalar,
        scalar_is_lhs=scalar_is_left,
        shape_a=shapes[0],
        shape_b=shapes[1],
        shape_out=shapes[2],
        tiled=output._spec.layout is Layout.TILE,
        fidelity=_HIFI4,
        dst32=program.dst32,
        pre_a=before_a,
        pre_b=before_b,
        post=[*post, *program.after, *program.cast],
        packer_relu=by_packer,
        arch=arch_number(output._device),
        variant=program.variant,
        parameters=arithmetic.parameters if program.unit == "sfpu" else (),
    )


def compute(arithmetic: Arithmetic, a: Tensor | float, b: Tensor | float, options: Options) -> Tensor:
    """Run an operator on two tensors, or on a tensor and a number."""
    if not isinstance(a, Tensor):
        assert isinstance(b, Tensor)
        return _with_scalar(arithmetic, b, a, True, options)
    if not isinstance(b, Tensor):
        return _with_scalar(arithmetic, a, b, False, options)
    return _of_tensors(arithmetic, a, b, options)


def _refuse_fast_float32(
    arithmetic: Arithmetic, a: Tensor | float, b: Tensor | float, fast_and_approximate_mode: bool | None
) -> None:
    """Refuse the one combination for which it is not known whether the fast flag selects another program."""
    if not (fast_and_approximate_mode and arithmetic.sfpu_in_bfloat16):
        return
    if all(operand._spec.dtype is DataType.FLOAT32 for operand in (a, b) if isinstance(operand, Tensor)):
        raise UnsupportedError(
            f"{arithmetic.name}: fast_and_approximate_mode=True is not modelled for float32; pass False."
        )


def _new(
    arithmetic: Arithmetic,
    a: Tensor | float,
    b: Tensor | float,
    fast_and_approximate_mode: bool,
    dtype: DataType | None,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    activations: Sequence[Activation],
    activations_a: Sequence[Activation],
    activations_b: Sequence[Activation],
    _sub_core_grids: None,
    _sub_device_id: None,
) -> Tensor:
    _refuse_fast_float32(arithmetic, a, b, fast_and_approximate_mode)
    options = Options(dtype, memory_config, output_tensor, activations, activations_a, activations_b)
    return compute(arithmetic, a, b, options)


def _in_place(
    arithmetic: Arithmetic,
    a: Tensor,
    b: Tensor | float,
    activations: Sequence[Activation],
    activations_a: Sequence[Activation],
    activations_b: Sequence[Activation],
    fast_and_approximate_mode: bool | None,
    _sub_core_grids: None,
    _sub_device_id: None,
) -> Tensor:
    on_device(arithmetic.name, a, "input_tensor_a", on_host("A"))
    _refuse_fast_float32(arithmetic, a, b, fast_and_approximate_mode)
    return compute(arithmetic, a, b, Options(None, None, a, activations, activations_a, activations_b))


def _reversed(
    arithmetic: Arithmetic,
    a: Tensor,
    b: Tensor | float,
    dtype: DataType | None,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    activations: Sequence[Activation],
    activations_a: Sequence[Activation],
    activations_b: Sequence[Activation],
    _fast_and_approximate_mode: bool | None,
) -> Tensor:
    # The chip negates a and adds; negation is exact, so the difference has the same bits.
    on_device(arithmetic.name, a, "input_tensor_a", on_host("A"))
    options = Options(
        dtype or (None if output_tensor is not None else a._spec.dtype),
        memory_config or (None if output_tensor is not None else a._spec.memory_config),
        output_tensor,
        activations,
        activations_b,
        activations_a,
    )
    return compute(arithmetic, b, a, options)


ACTIVATION_OPTIONS: Final = (
    Param("activations", ACTIVATIONS, [], doc="Applied to the result, before it is rounded to its data type."),
    Param("input_tensor_a_activations", ACTIVATIONS, [], doc="Applied to the first operand."),
    Param("input_tensor_b_activations", ACTIVATIONS, [], doc="Applied to the second operand."),
)
DTYPE_OPTION: Final = Param(
    "dtype", DATA_TYPE, None, none=True, doc="Data type of the result. Default: that of the first operand."
)
FAST_DOC: Final = "Changes nothing in bfloat16 and block floats."
UNMODELLED: Final = (
    Param("sub_core_grids", CORE_RANGE_SET, None, none=True, modelled=False),
    Param("sub_device_id", SUB_DEVICE_ID, None, none=True, modelled=False),
)
_DTYPES: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B, DataType.BFLOAT4_B, DataType.FLOAT32)
_INTEGER_TYPES: Final = (DataType.INT32, DataType.UINT32, DataType.UINT16)
RAISES: Final = (
    ("ShapeError", "the shapes cannot be broadcast."),
    ("DTypeError", "an integer tensor meets a floating point tensor or a number that it cannot hold."),
    ("LayoutError", "one operand is row-major, the other tiled."),
    ("StorageError", "an operand is on the host, deallocated or on another device."),
)
# The matrix unit adds exactly and rounds once; the packer of a 16-bit result rounds a second time.
_ACCURACY: Final = max_ulp((DataType.BFLOAT16, 1), (DataType.FLOAT32, 1))


def _integers(op: str) -> dict[DataType, tuple[str, str]]:
    """Return the programs for integers, which wrap: the same words for signed and unsigned ones."""
    return dict.fromkeys(_INTEGER_TYPES, (f"{op}_int", "int32"))


def operands(a: str, b: str, kind_a: Kind, kind_b: Kind) -> tuple[Param, Param]:
    """Return the parameters of two operands."""
    return (
        Param(a, kind_a, doc="First operand: [..., H, W] on a device, or a number."),
        Param(b, kind_b, doc="Second operand: broadcast to the first and the other way round, or a number."),
    )


def _register(
    name: str,
    op: str,
    op_type: BinaryOpType,
    reference: Callable[..., Any],
    *,
    sfpu_in_bfloat16: bool,
    fast_default: bool,
    in_place_names: tuple[str, str] = ("input_tensor_a", "input_tensor_b"),
    aliases: tuple[str, ...] = (),
    verb: str,
) -> tuple[FastOperation, FastOperation]:
    """Register an operator and its in-place form."""
    source = f'TT-NN docs "ttnn.{name}"; operator programs, section 4'
    keywords = (
        Param("fast_and_approximate_mode", BOOLEAN, fast_default, doc=FAST_DOC),
        DTYPE_OPTION,
        MEMORY_CONFIG_OPTION,
        OUTPUT_TENSOR_OPTION,
        *ACTIVATION_OPTIONS,
        *UNMODELLED,
    )
    names = ("input_tensor_a", "input_tensor_b")
    new = register(
        Op(
            name=name,
            signatures=tuple(
                Signature(operands(*names, *kinds), keywords)
                for kinds in ((TENSOR, NUMBER), (TENSOR, TENSOR), (NUMBER, TENSOR))
            ),
            run=partial(_new, Arithmetic(f"ttnn.{name}", op, op_type, sfpu_in_bfloat16, integers=_integers(op))),
            doc=f"Return {verb}, element by element, broadcast.",
            source=source,
            dtypes=_DTYPES,
            reference=(DataType.UINT16,),
            layouts=(Layout.TILE, Layout.ROW_MAJOR),
            golden=reference,
            accuracy=_ACCURACY,
            engine=("binary",),
            aliases=aliases,
            raises=RAISES,
        )
    )
    in_place_keywords = (
        *ACTIVATION_OPTIONS,
        Param("fast_and_approximate_mode", BOOLEAN, fast_default, none=True, doc=FAST_DOC),
        *UNMODELLED,
    )
    in_place = register(
        Op(
            name=f"{name}_",
            signatures=tuple(
                Signature(operands(*in_place_names, *kinds), in_place_keywords)
                for kinds in ((TENSOR, NUMBER), (TENSOR, TENSOR))
            ),
            run=partial(_in_place, Arithmetic(f"ttnn.{name}_", op, op_type, sfpu_in_bfloat16, integers=_integers(op))),
            doc=f"Write {verb} into the first operand and return it.",
            source=source,
            dtypes=_DTYPES,
            reference=(DataType.UINT16,),
            layouts=(Layout.TILE, Layout.ROW_MAJOR),
            golden=reference,
            accuracy=_ACCURACY,
            engine=("binary",),
            aliases=tuple(f"{alias}_" for alias in aliases),
            raises=RAISES,
        )
    )
    return new, in_place


add, add_ = _register(
    "add", "add", BinaryOpType.ADD, golden.add, sfpu_in_bfloat16=False, fast_default=True, verb="a + b"
)
subtract, subtract_ = _register(
    "subtract",
    "sub",
    BinaryOpType.SUB,
    golden.subtract,
    sfpu_in_bfloat16=False,
    fast_default=True,
    aliases=("sub",),
    verb="a - b",
)
multiply, multiply_ = _register(
    "multiply",
    "mul",
    BinaryOpType.MUL,
    golden.multiply,
    sfpu_in_bfloat16=True,
    fast_default=False,
    in_place_names=("input_a", "input_b"),
    aliases=("mul",),
    verb="a * b",
)
rsub = register(
    Op(
        name="rsub",
        signatures=tuple(
            Signature(
                operands("input_tensor_a", name_b, TENSOR, kind_b),
                (
                    DTYPE_OPTION,
                    MEMORY_CONFIG_OPTION,
                    OUTPUT_TENSOR_OPTION,
                    *ACTIVATION_OPTIONS,
                    Param("fast_and_approximate_mode", BOOLEAN, True, none=True, doc=FAST_DOC),
                ),
            )
            for name_b, kind_b in (("input_b", NUMBER), ("input_tensor_b", TENSOR))
        ),
        run=partial(_reversed, Arithmetic("ttnn.rsub", "sub", BinaryOpType.RSUB, False, integers=_integers("sub"))),
        doc="Return b - a, element by element, broadcast.",
        source='TT-NN docs "ttnn.rsub"; operator programs, section 4',
        dtypes=_DTYPES,
        reference=(DataType.UINT16,),
        layouts=(Layout.TILE, Layout.ROW_MAJOR),
        golden=golden.rsub,
        accuracy=_ACCURACY,
        engine=("binary",),
        raises=RAISES,
    )
)
mul, mul_ = multiply, multiply_
sub, sub_ = subtract, subtract_
