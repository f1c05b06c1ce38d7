"""Ternary operators: `where`, `lerp`, `mac`, `addcmul`, `addcdiv`.

Some of the three operands may be numbers.

On floating point each is one function of the SFPU. Integers, and the shapes that its program does not support,
are made of operators on two tensors, each of which rounds to the tensors' data type.
Source: tt-metal `ttnn/cpp/ttnn/operations/eltwise/ternary`; TT-NN docs of the operators.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import DTypeError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.golden.eltwise import ternary as triples
from ttnn.operation.accuracy import bit_exact, max_ulp, no_bound
from ttnn.operation.domain import positive
from ttnn.operation.registry import FastOperation, declare
from ttnn.operation.result_shards import grown
from ttnn.operation.signature import FLOAT, NUMBER, TENSOR, Kind, Param, Signature
from ttnn.ops._programs.common import (
    INTEGERS,
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
    SUB_CORE_GRIDS_OPTION,
    WIDE,
    on_device,
)
from ttnn.ops._programs.element_map import in_rows
from ttnn.ops._programs.typecast import cast
from ttnn.ops.data_movement.layout import tilize_padded
from ttnn.ops.data_movement.permute import moved_to
from ttnn.ops.data_movement.placement import copy
from ttnn.ops.eltwise.binary import add, multiply, subtract
from ttnn.ops.eltwise.binary.quotients import OPERATORS as _BINARY
from ttnn.ops.eltwise.ternary.program import (
    Operand,
    Ternary,
    are_integers,
    broadcast,
    broadcasts_rows_or_columns,
    check_dtypes,
    check_tensors,
    is_block_float,
    number_for,
    run_ternary,
)
from ttnn.ops.eltwise.unary.math import OPERATORS as _MATH
from ttnn.ops.eltwise.unary.predicates import OPERATORS as _TESTS
from ttnn.tensor.tensor import Tensor

_32_BITS: Final = (DataType.INT32, DataType.UINT32)
_WRAPPING: Final = (*_32_BITS, DataType.UINT16)
_FLOATS: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B, DataType.FLOAT32)
_RAISES: Final = (
    ("ShapeError", "the shapes cannot be broadcast."),
    ("DTypeError", "floating-point and integer operands are mixed, or a scalar is out of range of the data type."),
    ("LayoutError", "a tensor is row-major."),
    ("StorageError", "a tensor is on the host, deallocated or on another device."),
)


def _tensors(operands: Sequence[Operand]) -> list[Tensor]:
    return [operand for operand in operands if isinstance(operand, Tensor)]


def _check_tiles(operator: Ternary, tensors: Sequence[Tensor]) -> None:
    """Refuse shapes that no step of two operands broadcasts.

    Raises:
        ShapeError: heights or widths differ, and the smaller is not 1.
    """
    sides = [(1, 1, *tensor.spec.shape._dims)[-2:] for tensor in tensors]
    if any(side not in (1, max(of)) for of in zip(*sides, strict=True) for side in of):
        given = ", ".join(f"{label} {tensor.shape}" for label, tensor in zip(operator.labels, tensors, strict=False))
        raise ShapeError(f"{operator.name}: cannot broadcast {given}.", vendor="Invalid subtile broadcast type")


def _into(operator: str, result: Tensor, output_tensor: Tensor | None) -> Tensor:
    """Return the result of a composition, in `output_tensor` if there is one."""
    if output_tensor is None:
        return result
    if output_tensor.spec.dtype is not result.spec.dtype:
        raise DTypeError(
            f"{operator}: output_tensor is {output_tensor.spec.dtype.name}, the result is {result.spec.dtype.name}."
        )
    copied: Tensor = copy(result, output_tensor)
    return copied


_WHERE: Final = Ternary("ttnn.where", "where", ("predicate", "true_value", "false_value"))


def _where(
    predicate: Tensor,
    true_value: Operand,
    false_value: Operand,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    given = [predicate, *_tensors((true_value, false_value))]
    if len(given) < 3 and all(tensor.spec.layout is Layout.ROW_MAJOR for tensor in given):
        return _where_in_rows(predicate, true_value, false_value, memory_config, output_tensor)
    operands: list[Any] = [predicate, true_value, false_value]
    if len(given) < 3:
        operands = [
            tilize_padded(_WHERE.name, operand)
            if isinstance(operand, Tensor) and operand.spec.layout is Layout.ROW_MAJOR
            else operand
            for operand in operands
        ]
    predicate, true_value, false_value = check_tensors(_WHERE, operands)
    return _chosen(predicate, true_value, false_value, memory_config, output_tensor)


def _chosen(
    predicate: Tensor,
    true_value: Operand,
    false_value: Operand,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
) -> Tensor:
    """Return the selection of operands of one layout."""
    operator = _WHERE
    values = _tensors((true_value, false_value))
    if not values and predicate.spec.dtype in INTEGERS:
        # Numbers have no data type; beside integers they are float32.
        predicate = cast(operator.name, predicate, DataType.FLOAT32)
    dtypes = [tensor.spec.dtype for tensor in values or [predicate]]
    dtype = dtypes[0]
    if len(values) == 1:
        _check_pair(isinstance(true_value, Tensor), predicate, values[0])
    _check_where(operator, predicate.spec.dtype, dtypes, output_tensor)
    if predicate.spec.dtype in INTEGERS and not INTEGERS.intersection(dtypes):
        # As the chip does: a condition of integers is converted to the type of the values; 0 and only 0 becomes 0.
        predicate = cast(operator.name, predicate, dtype)
    chosen: list[Operand] = []
    for value, label in zip((true_value, false_value), operator.labels[1:], strict=True):
        chosen.append(value if isinstance(value, Tensor) else number_for(operator.name, label, value, dtype))
    if memory_config is None and output_tensor is None and len(values) == 1:
        # The tensor operand decides.
        shapes = (predicate.spec.shape._dims, values[0].spec.shape._dims)
        memory_config = grown(values[0].spec, broadcast(operator.name, ("predicate", "the tensor beside it"), shapes))
    return run_ternary(operator, (predicate, chosen[0], chosen[1]), dtype, memory_config, output_tensor)


def _check_pair(true: bool, predicate: Tensor, value: Tensor) -> None:
    """Refuse a predicate and a tensor that do not fit each other.

    Raises:
        ShapeError: their tiles cannot be broadcast.
        DTypeError: floating-point types that differ.
    """
    _check_tiles(_WHERE, (predicate, value))
    of, beside = predicate.spec.dtype, value.spec.dtype
    if of not in INTEGERS and of is not beside:
        kind = "WHERE_TTS" if true else "WHERE_TST"
        raise DTypeError(
            f"{_WHERE.name}: the predicate is {of.name} and the tensor beside it {beside.name}; typecast one of them.",
            vendor=f"Mixed dtype is not supported for binary operation BinaryOpType::{kind}, dtype A: {of.cpp_name}, "
            f"dtype B: {beside.cpp_name}",
        )


def _where_in_rows(
    predicate: Tensor, true: Operand, false: Operand, memory_config: MemoryConfig | None, output_tensor: Tensor | None
) -> Tensor:
    """Return the row-major selection with at least one number.

    Rows pass through Dst as tiles do, so that the bits are those of the operands in tiles.
    """
    name = _WHERE.name
    for operand, label in zip((predicate, true, false), _WHERE.labels, strict=True):
        if isinstance(operand, Tensor):
            on_device(name, operand, label)
    values = _tensors((true, false)) or [predicate]
    place = memory_config or (values[0].spec.memory_config if output_tensor is None else None)
    condition = in_rows(predicate)
    true, false = (in_rows(x) if isinstance(x, Tensor) else x for x in (true, false))
    chosen = _chosen(condition, true, false, DRAM_MEMORY_CONFIG, None)
    if output_tensor is None and place is not None and chosen.spec.memory_config != place:
        chosen = moved_to(chosen, place)
    return _into(name, chosen, output_tensor)


def _check_where(
    operator: Ternary, predicate: DataType, values: Sequence[DataType], output_tensor: Tensor | None
) -> None:
    """Refuse data types whose values the kernel cannot copy.

    Raises:
        DTypeError: a type that the operator does not support, or one of 16 bits with integers.
    """
    output = values[0] if output_tensor is None else output_tensor.spec.dtype
    check_dtypes(operator, (predicate, *values), _32_BITS)
    if INTEGERS.intersection((*values, output)) and not {predicate, *values, output} <= WIDE:
        raise DTypeError(
            f"{operator.name}: the predicate is {predicate.name}, the values are "
            f"{', '.join(dtype.name for dtype in values)}, the result is {output.name}; beside integers all of them "
            "have 32 bits. Typecast them."
        )


_LERP: Final = Ternary("ttnn.lerp", "lerp", ("input", "end", "weight"))


def _lerp(
    start: Tensor, end: Tensor, weight: Operand, memory_config: MemoryConfig | None, output_tensor: Tensor | None
) -> Tensor:
    operands = start, end, weight = check_tensors(_LERP, (start, end, weight))
    tensors = _tensors(operands)
    _check_tiles(_LERP, tensors)
    dtypes = [tensor.spec.dtype for tensor in tensors]
    if DataType.UINT32 in dtypes:
        found = ", ".join(
            f"{label}={tensor.spec.dtype.cpp_name}" for label, tensor in zip(_LERP.labels, tensors, strict=False)
        )
        raise DTypeError(
            f"{_LERP.name}: the tensors are {', '.join(dtype.name for dtype in dtypes)}; typecast them to float32.",
            vendor=f"lerp does not support UINT32 inputs. Got {found}",
        )
    integers = are_integers(_LERP, tensors, (DataType.INT32,))
    if integers or (is_block_float(tensors) and broadcasts_rows_or_columns(tensors)):
        options = {"memory_config": memory_config}
        difference = subtract(end, start, **options)
        return _into(_LERP.name, add(start, multiply(difference, weight, **options), **options), output_tensor)
    number = weight if isinstance(weight, Tensor) else number_for(_LERP.name, "weight", weight, dtypes[0])
    return run_ternary(_LERP, (start, end, number), dtypes[0], memory_config, output_tensor)


_MAC: Final = Ternary("ttnn.mac", "mac", ("input_tensor_a", "input_tensor_b", "input_tensor_c"))


def _mac(
    a: Tensor,
    b: Tensor,
    c: Tensor,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    tensors = a, b, c = check_tensors(_MAC, (a, b, c))
    integers = are_integers(_MAC, tensors, _WRAPPING)
    if integers or (is_block_float(tensors) and broadcasts_rows_or_columns(tensors)):
        return _into(_MAC.name, _mac_of_two(a, b, c, memory_config), output_tensor)
    return run_ternary(_MAC, tensors, a.spec.dtype, memory_config, output_tensor)


def _mac_of_two(a: Tensor, b: Operand, c: Operand, memory_config: MemoryConfig | None) -> Tensor:
    """Return a rounded product and a rounded sum."""
    options = {"memory_config": memory_config}
    result: Tensor = add(multiply(a, b, **options), c, fast_and_approximate_mode=False, **options)
    return result


def _mac_of_numbers(a: Tensor, b: Operand, c: Operand, memory_config: MemoryConfig | None) -> Tensor:
    """Return the multiply-add with at least one number."""
    tensors = _tensors((a, b, c))
    if len(tensors) == 1 and a.spec.layout is Layout.ROW_MAJOR and a.spec.dtype not in INTEGERS:
        on_device(_MAC.name, a, _MAC.labels[0])
        place = memory_config or a.spec.memory_config
        computed = _mac_by_sfpu(in_rows(a), b, c, DRAM_MEMORY_CONFIG)
        return computed if computed.spec.memory_config == place else moved_to(computed, place)
    a, b, c = check_tensors(_MAC, (a, b, c))
    tensors = _tensors((a, b, c))
    integers = are_integers(_MAC, tensors, _WRAPPING)
    if integers or (is_block_float(tensors) and broadcasts_rows_or_columns(tensors)):
        return _mac_of_two(a, b, c, memory_config)
    return _mac_by_sfpu(a, b, c, memory_config)


def _mac_by_sfpu(a: Tensor, b: Operand, c: Operand, memory_config: MemoryConfig | None) -> Tensor:
    dtype = a.spec.dtype
    others = [
        operand if isinstance(operand, Tensor) else number_for(_MAC.name, label, operand, dtype)
        for operand, label in zip((b, c), _MAC.labels[1:], strict=True)
    ]
    return run_ternary(_MAC, (a, others[0], others[1]), dtype, memory_config, None)


_SNAKE: Final = Ternary("ttnn.snake_beta", "snake_beta", ("input_tensor", "alpha", "beta"))


def _snake_beta(
    x: Tensor, alpha: Tensor, beta: Tensor, memory_config: MemoryConfig | None, output_tensor: Tensor | None
) -> Tensor:
    tensors = x, alpha, beta = check_tensors(_SNAKE, (x, alpha, beta))
    labels, shapes = _SNAKE.labels, tuple(tensor.spec.shape._dims for tensor in tensors)
    broadcast(_SNAKE.name, labels, shapes)
    for label, tensor in zip(_SNAKE.labels, tensors, strict=True):
        if tensor.spec.dtype not in (DataType.BFLOAT16, DataType.FLOAT32):
            raise DTypeError(
                f"{_SNAKE.name}: {label} is {tensor.spec.dtype.name}; typecast it to bfloat16 or float32.",
                vendor=f"snake_beta supports only BFLOAT16 or FLOAT32, got {tensor.spec.dtype.cpp_name}",
            )
    if shapes[1] != shapes[2]:
        raise ShapeError(
            f"{_SNAKE.name}: alpha is {alpha.shape} and beta is {beta.shape}; they have one shape.",
            vendor=f"snake_beta requires alpha.shape == beta.shape, got {alpha.shape} vs {beta.shape}",
        )
    are_integers(_SNAKE, tensors, ())
    return run_ternary(_SNAKE, tensors, x.spec.dtype, memory_config, output_tensor)


def _word_of(value: float, dtype: DataType) -> int:
    """Return a number's integer part modulo 2**32, as the type's value."""
    number = value if isinstance(value, int) else number_for(_ADDCMUL.name, "value", value, DataType.FLOAT32)
    word = int(number) & 0xFFFF_FFFF
    return word - (1 << 32) if dtype is DataType.INT32 and word >= 1 << 31 else word


_ADDCMUL: Final = Ternary("ttnn.addcmul", "addcmul", ("input_a", "input_b", "input_c"))


def _addcmul(
    a: Tensor,
    b: Tensor,
    c: Tensor,
    value: float,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
) -> Tensor:
    tensors = a, b, c = check_tensors(_ADDCMUL, (a, b, c))
    dtypes = [tensor.spec.dtype for tensor in tensors]
    if len(set(dtypes)) > 1:
        given = ", ".join(f"{label}={dtype.cpp_name}" for label, dtype in zip(_ADDCMUL.labels, dtypes, strict=True))
        raise DTypeError(
            f"{_ADDCMUL.name}: the tensors are {', '.join(dtype.name for dtype in dtypes)}; typecast them to one type.",
            vendor=f"Addcmul TTT requires all input tensors to have the same dtype. Got {given}",
        )
    _check_tiles(_ADDCMUL, tensors)
    if are_integers(_ADDCMUL, tensors, _32_BITS):
        word = _word_of(value, a.spec.dtype)
        return _into(_ADDCMUL.name, add(a, multiply(multiply(b, word), c), memory_config=memory_config), output_tensor)
    value = number_for(_ADDCMUL.name, "value", value, DataType.FLOAT32)
    if is_block_float(tensors) and broadcasts_rows_or_columns(tensors):
        options = {"memory_config": memory_config}
        factor = multiply(multiply(b, value, **options), c, **options)
        return _into(_ADDCMUL.name, add(a, factor, **options), output_tensor)
    return run_ternary(_ADDCMUL, tensors, a.spec.dtype, memory_config, output_tensor, (value,))


_ADDCDIV: Final = Ternary("ttnn.addcdiv", "addcdiv", ("input_a", "input_b", "input_c"))


def _addcdiv(
    a: Tensor,
    b: Tensor,
    c: Tensor,
    value: float,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
) -> Tensor:
    tensors = a, b, c = check_tensors(_ADDCDIV, (a, b, c))
    _check_tiles(_ADDCDIV, tensors)
    if all(tensor.spec.dtype is DataType.INT32 for tensor in tensors):
        raise DTypeError(
            f"{_ADDCDIV.name}: the tensors are INT32; typecast them to float32.",
            vendor="Addcdiv TTT does not support INT32 inputs.",
        )
    are_integers(_ADDCDIV, tensors, (DataType.UINT32,))
    value = number_for(_ADDCDIV.name, "value", value, DataType.FLOAT32)
    if is_block_float(tensors):
        return _into(_ADDCDIV.name, _addcdiv_of_two(a, b, c, value, memory_config), output_tensor)
    return run_ternary(_ADDCDIV, tensors, a.spec.dtype, memory_config, output_tensor, (value,))


def _addcdiv_of_two(a: Tensor, b: Tensor, c: Tensor, value: float, memory_config: MemoryConfig | None) -> Tensor:
    """Return the sum of a quotient, product and sum.

    Where c is 0, it is infinity with the sign of the product, and NaN where that is 0.
    """
    options = {"memory_config": memory_config}
    factor = multiply(b, value, **options)
    result = add(a, _BINARY["div"](factor, c, **options), **options)
    sign = _MATH["sign"](factor, **options)
    sign_or_nan = where(_TESTS["eqz"](factor, **options), float("nan"), sign, **options)
    infinity = multiply(sign_or_nan, float("inf"), **options)
    chosen: Tensor = where(_TESTS["eqz"](c, **options), infinity, result, **options)
    return chosen


_OPTIONS: Final = (MEMORY_CONFIG_OPTION, OUTPUT_TENSOR_OPTION)
# One rounding in bfloat16, two in float32; operators made of two or three others round that often.
_ULP: Final = ((DataType.BFLOAT16, 1), (DataType.FLOAT32, 2), (DataType.BFLOAT8_B, 3))
_ULP_OF_MAC: Final = ((DataType.BFLOAT16, 2), (DataType.FLOAT32, 2), (DataType.BFLOAT8_B, 2))


def _operands(names: tuple[str, str, str], *kinds: Kind) -> tuple[Param, ...]:
    """Return the parameters of three operands."""
    docs = ("First operand, `a`", "Second operand, `b`", "Third operand, `c`")
    return tuple(
        Param(name, kind, doc=f"{doc}: {'[..., H, W] on a device, broadcast' if kind is TENSOR else 'a number'}.")
        for name, kind, doc in zip(names, kinds, docs, strict=True)
    )


def _with_factor(names: tuple[str, str, str], kind: Kind, of: str) -> tuple[Signature, ...]:
    """Return the signature of three tensors and a number."""
    factor = Param("value", kind, 1.0, doc=f"Multiplier of the {of}.")
    return (Signature(_operands(names, TENSOR, TENSOR, TENSOR), (factor, *_OPTIONS)),)


def _register(
    name: str,
    signatures: tuple[Signature, ...],
    run: Any,
    doc: str,
    layouts: tuple[Layout, ...] = (Layout.TILE,),
    **more: Any,
) -> FastOperation:
    source = f"tt-metal `ckernel_sfpu_{name}.h`"
    fields = {"source": source, "layouts": layouts, "engine": ("ternary",), "family": "ternary", "raises": _RAISES}
    return declare(name, signatures, run, doc, **fields, **more)


where = _register(
    "where",
    tuple(
        Signature(_operands(_WHERE.labels, *kinds), (*_OPTIONS, SUB_CORE_GRIDS_OPTION))
        for kinds in (
            (TENSOR, TENSOR, TENSOR),
            (TENSOR, NUMBER, TENSOR),
            (TENSOR, TENSOR, NUMBER),
            (TENSOR, NUMBER, NUMBER),
        )
    ),
    _where,
    "Return `true_value` where `predicate` is not 0, and `false_value` elsewhere, with broadcasting.\n"
    "In float32, -0 and subnormal numbers count as not 0. The output has the data type of the first value that is a "
    "tensor. If float32 and integer values are mixed, 32-bit patterns are copied unconverted, as the public kernel "
    "reads; no vector covers this. Row-major tensors are accepted unless both values are tensors.",
    dtypes=(*_FLOATS, DataType.BFLOAT4_B, DataType.INT32, DataType.UINT32),
    golden=triples.where,
    accuracy=bit_exact(),
)
lerp = _register(
    "lerp",
    tuple(Signature(_operands(_LERP.labels, TENSOR, TENSOR, kind), _OPTIONS) for kind in (TENSOR, FLOAT)),
    _lerp,
    "Return the element-wise linear interpolation `input + weight * (end - input)`, with broadcasting.\n"
    "The difference is rounded, then the multiply-add once. Integers run three operators.",
    dtypes=(*_FLOATS, DataType.INT32),
    reference=(DataType.INT32,),
    golden=triples.lerp,
    accuracy=max_ulp(*_ULP, magnitude=triples.lerp_terms),
)
mac = _register(
    "mac",
    (
        Signature(_operands(_MAC.labels, TENSOR, TENSOR, TENSOR), (*_OPTIONS, SUB_CORE_GRIDS_OPTION)),
        *(
            Signature(_operands(names, TENSOR, *kinds), (MEMORY_CONFIG_OPTION,), run=_mac_of_numbers)
            for names, kinds in (
                (("input_tensor_a", "input_tensor_b", "value"), (TENSOR, FLOAT)),
                (("input_tensor_a", "value", "input_tensor_c"), (FLOAT, TENSOR)),
                (("input_tensor_a", "value1", "value2"), (FLOAT, FLOAT)),
            )
        ),
    ),
    _mac,
    "Return the element-wise multiply-add `a * b + c`, with broadcasting.\n"
    "Floating point is rounded once. Integers run two operators, with a fraction in float32.",
    dtypes=(*_FLOATS, *_32_BITS),
    reference=_32_BITS,
    golden=triples.mac,
    accuracy=max_ulp(*_ULP_OF_MAC, magnitude=triples.mac_terms),
)
addcmul = _register(
    "addcmul",
    _with_factor(_ADDCMUL.labels, NUMBER, "product"),
    _addcmul,
    "Return `input_a + value * input_b * input_c` element-wise, with broadcasting.\n"
    "32-bit integers are multiplied by the integer part of `value`, modulo 2**32.",
    dtypes=_FLOATS,
    golden=triples.addcmul,
    accuracy=max_ulp(*_ULP, magnitude=triples.addcmul_terms),
)
addcdiv = _register(
    "addcdiv",
    _with_factor(_ADDCDIV.labels, FLOAT, "quotient"),
    _addcdiv,
    "Return `input_a + value * input_b / input_c` element-wise, with broadcasting.\n"
    "The bit patterns of uint32 tensors are read as float32, as the kernel does.",
    dtypes=_FLOATS,
    golden=triples.addcdiv,
    accuracy=max_ulp(*_ULP, magnitude=triples.addcdiv_terms).on_blackhole((DataType.FLOAT32, 2.85)),
    domain=positive,
)
snake_beta = _register(
    "snake_beta",
    (Signature(_operands(_SNAKE.labels, TENSOR, TENSOR, TENSOR), _OPTIONS),),
    _snake_beta,
    "Return the element-wise activation `x + sin(alpha * x)**2 / beta`, with broadcasting.\n"
    "The sine is a polynomial after a reduction by multiples of pi.",
    dtypes=(DataType.BFLOAT16, DataType.FLOAT32),
    golden=triples.snake_beta,
    accuracy=no_bound("for sines of large angles"),
    domain=positive,
)
