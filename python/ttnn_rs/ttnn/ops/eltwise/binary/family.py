"""Binary operators from table rows: signatures, call, in-place form, registry entry.

Source: tt-metal `ttnn/cpp/ttnn/operations/eltwise/binary_ng`; TT-NN docs of each operator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ttnn.base.enums import DataType, Layout, UnaryOpType
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.operation.accuracy import Accuracy, bit_exact, max_ulp
from ttnn.operation.domain import Domain
from ttnn.operation.registry import Examples, FastOperation, Op, register
from ttnn.operation.signature import (
    ACTIVATIONS,
    BOOLEAN,
    DATA_TYPE,
    NUMBER,
    TENSOR,
    Kind,
    Param,
    Signature,
)
from ttnn.operation.steps import Steps
from ttnn.ops._programs.common import (
    INTEGERS,
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
    SUB_CORE_GRIDS_OPTION,
    SUB_DEVICE_OPTION,
    agreed_dtype,
    on_device,
)
from ttnn.ops._programs.typecast import conversion
from ttnn.ops.eltwise.binary.checks import on_host
from ttnn.ops.eltwise.binary.compute import Options, compute
from ttnn.ops.eltwise.binary.program import Arithmetic
from ttnn.ops.eltwise.unary.typecast import typecast
from ttnn.tensor.tensor import Tensor

Run = Callable[[Arithmetic, Any, Any, bool | None, Options], Tensor]
"""Function of a call: operator, operands, fast flag, keyword options."""

LAYOUTS: Final = (Layout.TILE, Layout.ROW_MAJOR)
ALL_FLOATS: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B, DataType.BFLOAT4_B, DataType.FLOAT32)
ACTIVATION_OPTIONS: Final = (
    Param(
        "activations", ACTIVATIONS, [], doc="Activations applied to the output before it is rounded to its data type."
    ),
    Param("input_tensor_a_activations", ACTIVATIONS, [], doc="Activations applied to the first operand."),
    Param("input_tensor_b_activations", ACTIVATIONS, [], doc="Activations applied to the second operand."),
)
IGNORED_ACTIVATIONS: Final = tuple(
    replace(param, doc="Ignored, as in the official operator.") for param in ACTIVATION_OPTIONS
)
"""Activations of operators whose tensor-scalar program has none."""
DTYPE_OPTION: Final = Param(
    "dtype", DATA_TYPE, None, doc="Data type of the output. Default: that of the first operand."
)
IGNORED_DTYPE: Final = replace(DTYPE_OPTION, doc="Ignored, as in the official operator.")
CORES: Final = (
    SUB_CORE_GRIDS_OPTION,
    SUB_DEVICE_OPTION,
)
OUTPUT: Final = (MEMORY_CONFIG_OPTION, OUTPUT_TENSOR_OPTION)
FAST: Final = "fast_and_approximate_mode"
RAISES: Final = (
    ("ShapeError", "the shapes cannot be broadcast."),
    ("DTypeError", "the data types are not supported, or the number is out of range of an integer tensor."),
    ("LayoutError", "`output_tensor` is row-major and the output is tiled, because an operand is."),
    ("StorageError", "an operand is on the host, deallocated or on another device."),
)
IN_PLACE_RAISES: Final = (*RAISES, ("ShapeError", "the broadcast shape is larger than that of the first operand."))


def fast_option(default: bool, doc: str, *, none: bool = False) -> Param:
    """Return the parameter that selects the approximate program."""
    return Param(FAST, BOOLEAN, default, none=none, doc=doc)


def operands(a: str, b: str, kind_a: Kind, kind_b: Kind) -> tuple[Param, Param]:
    """Return the parameters of two operands."""
    return (
        Param(a, kind_a, doc="First operand, `a`: [..., H, W] on a device."),
        Param(b, kind_b, doc="Second operand, `b`. The shapes of `a` and `b` are broadcast to each other."),
    )


def direct(arithmetic: Arithmetic, a: Any, b: Any, _fast: bool | None, options: Options) -> Tensor:
    """Run the operator's program."""
    return compute(arithmetic, a, b, options)


def converted(operator: str, own: DataType, options: Options, run: Callable[[Options], Tensor]) -> Tensor:
    """Return the result of `run` in `own`, converted to the requested type."""
    result = agreed_dtype(operator, options.dtype, options.output_tensor, own)
    if result is own:
        return run(options)
    first = run(replace(options, dtype=None, output_tensor=None))
    return typecast(first, result, memory_config=options.memory_config, output_tensor=options.output_tensor)  # type: ignore[no-any-return]


def convert_integers(arithmetic: Arithmetic, a: Any, b: Any, _fast: bool | None, options: Options) -> Tensor:
    """Run the operator's program; integers to block floats are converted after it."""
    own = (a if isinstance(a, Tensor) else b).spec.dtype
    if own not in INTEGERS:
        return compute(arithmetic, a, b, options)
    result = agreed_dtype(arithmetic.name, options.dtype, options.output_tensor, own)
    if result is own or conversion(own, result):
        return compute(arithmetic, a, b, options)
    return converted(arithmetic.name, own, options, lambda options: compute(arithmetic, a, b, options))


_OPTION_NAMES: Final = (
    "dtype",
    "memory_config",
    "output_tensor",
    "activations",
    "input_tensor_a_activations",
    "input_tensor_b_activations",
)


def caller(arithmetic: Arithmetic, params: Sequence[Param], run: Run, *, in_place: bool = False) -> Callable[..., Any]:
    """Return the function of the bound values of a signature."""
    index = {param.name: i - 2 for i, param in enumerate(params) if i >= 2}
    given = [(slot, index[name]) for slot, name in enumerate(_OPTION_NAMES) if name in index]
    fast_at = index.get(FAST)
    apart = {*_OPTION_NAMES, FAST, *(param.name for param in CORES)}
    extra = {name: position for name, position in index.items() if name not in apart}

    def call(a: Any, b: Any, *rest: Any) -> Tensor:
        options: list[Any] = [None, None, None, (), (), ()]
        for slot, position in given:
            options[slot] = rest[position]
        if in_place:
            on_device(arithmetic.name, a, "input_tensor_a", on_host("A"))
            options[2] = a
        if extra:
            options.append({name: rest[position] for name, position in extra.items()})
        _check_rows([operand.spec for operand in (a, b) if isinstance(operand, Tensor)], options[1])
        return run(arithmetic, a, b, None if fast_at is None else rest[fast_at], Options(*options))

    return call


def _check_rows(specs: Sequence[TensorSpec], memory_config: MemoryConfig | None) -> None:
    """Refuse row-major shards that are no whole tiles.

    The program reads and writes tiles.

    Raises:
        MemoryConfigError: see above.
    """
    rows = [spec for spec in specs if spec.layout is Layout.ROW_MAJOR]
    for spec in rows:
        places = [spec.memory_config]
        if memory_config is not None and len(rows) == len(specs) and len({spec.shape for spec in specs}) == 1:
            places.append(memory_config)
        for place in places:
            if place.shard_spec is not None:
                TensorSpec.of(spec.shape, spec.dtype, Layout.TILE, place)


@dataclass(frozen=True)
class Form:
    """One overload.

    Args:
        kinds: What the operands are.
        keywords: Keyword-only parameters.
        names: What the operands are called.
        more: Positional parameters after the operands.
        run: Computes the call; the operator's own program if None.
    """

    kinds: tuple[Kind, Kind]
    keywords: tuple[Param, ...]
    names: tuple[str, str] = ("input_tensor_a", "input_tensor_b")
    run: Run | None = None
    more: tuple[Param, ...] = ()


def both(
    keywords: tuple[Param, ...],
    *,
    names: tuple[str, str] = ("input_tensor_a", "input_tensor_b"),
    scalar: Kind = NUMBER,
    scalar_name: str = "",
    run_scalar: Run | None = None,
) -> list[Form]:
    """Return the overloads: tensor and scalar, and two tensors."""
    return [
        Form((TENSOR, scalar), keywords, (names[0], scalar_name or names[1]), run_scalar),
        Form((TENSOR, TENSOR), keywords, names),
    ]


COMMON: Final = (DTYPE_OPTION, *OUTPUT, *ACTIVATION_OPTIONS)


def measured(bfloat16: float, float32: float, magnitude: Callable[..., Any] | None = None) -> Accuracy:
    """Return the largest bfloat16 and float32 errors in ULP, rounded up.

    They are those of 65,536 pairs of normally distributed numbers, and of as many whose exponents are within 8 of each
    other, of magnitudes from 2^-20 to 2^20. Where terms cancel or the result jumps by a divisor, the unit is that of a
    magnitude of the operands. The bounds are data: a test fails when an operator exceeds its bound.
    """
    return max_ulp((DataType.BFLOAT16, bfloat16), (DataType.FLOAT32, float32), magnitude=magnitude)


@dataclass(frozen=True)
class Binary:
    """One operator.

    Args:
        arithmetic: Its program, without the name.
        golden: Reference in float64.
        what: Completes the sentence "Return ..., element by element, broadcast."
        forms: Its overloads.
        run: Computes a call; the plain program if None.
        exact: Whether the result is the reference rounded.
        in_place: Overloads of the in-place form; none if empty.
        in_place_run: Computes an in-place call; as `run` if None.
        in_place_golden: Reference of an in-place call; `golden` if None.
        in_place_integers: Integer types of the in-place form, if they differ.
        reference: Data types whose kernel is not tabulated: the result is the mathematical one.
        composition: Whether the operator is made of others, so that each of them rounds.
        layouts: Supported layouts.
        aliases: Other names.
        steps: The SFPU function of an element and a number, as a fused activation.
        domain: Where the function has finite results.
        examples: Values of parameters without a default, for the generated tests.
        note: Sentences after the first one of the documentation.
    """

    name: str
    arithmetic: Arithmetic
    golden: Callable[..., Any]
    what: str
    forms: Sequence[Form]
    run: Run = direct
    exact: bool = False
    accuracy: Accuracy | None = None
    in_place: Sequence[Form] = ()
    in_place_run: Run | None = None
    in_place_golden: Callable[..., Any] | None = None
    in_place_integers: Sequence[DataType] | None = None
    integers: Sequence[DataType] | None = None
    reference: tuple[DataType, ...] = ()
    composition: bool = False
    engine: tuple[str, ...] = ("binary",)
    layouts: tuple[Layout, ...] = LAYOUTS
    aliases: tuple[str, ...] = ()
    steps: Mapping[UnaryOpType, Steps] = field(default_factory=dict)
    domain: Domain | None = None
    examples: Examples = ((),)
    note: str = ""


def _signatures(entry: Binary, name: str, forms: Sequence[Form], run: Run, *, in_place: bool) -> tuple[Signature, ...]:
    arithmetic = replace(entry.arithmetic, name=f"ttnn.{name}")
    signatures = []
    for form in forms:
        positional = (*operands(*form.names, *form.kinds), *form.more)
        function = caller(arithmetic, (*positional, *form.keywords), form.run or run, in_place=in_place)
        signatures.append(Signature(positional, form.keywords, run=function))
    return tuple(signatures)


def _common(entry: Binary) -> dict[str, Any]:
    """Return what an operator and its in-place form have in common."""
    return {
        "run": direct,
        "source": "tt-metal `ttnn/cpp/ttnn/operations/eltwise/binary_ng`",
        "layouts": entry.layouts,
        "golden": entry.golden,
        "accuracy": bit_exact() if entry.exact else entry.accuracy,
        "engine": entry.engine,
        "family": "binary",
        "composition": entry.composition,
        "domain": entry.domain,
        "examples": entry.examples,
    }


def _dtypes(entry: Binary, integers: Sequence[DataType]) -> tuple[DataType, ...]:
    return (*(dtype for dtype in ALL_FLOATS if dtype in entry.arithmetic.floats), *integers)


def register_binary(entry: Binary) -> dict[str, FastOperation]:
    """Register an operator and, if it has one, its in-place form."""
    integers = entry.arithmetic.integers if entry.integers is None else entry.integers
    operation = register(
        Op(
            name=entry.name,
            signatures=_signatures(entry, entry.name, entry.forms, entry.run, in_place=False),
            doc=f"Return the element-wise {entry.what}, with broadcasting.\n{entry.note}".rstrip(),
            dtypes=_dtypes(entry, tuple(integers)),
            reference=entry.reference,
            aliases=entry.aliases,
            steps=entry.steps,
            raises=RAISES,
            **_common(entry),
        )
    )
    return {entry.name: operation} | (register_in_place(entry) if entry.in_place else {})


def register_in_place(entry: Binary) -> dict[str, FastOperation]:
    """Register the in-place form of an operator."""
    name = f"{entry.name}_"
    integers = entry.arithmetic.integers if entry.in_place_integers is None else entry.in_place_integers
    operation = register(
        Op(
            name=name,
            signatures=_signatures(entry, name, entry.in_place, entry.in_place_run or entry.run, in_place=True),
            doc=f"Write the {entry.what} to the first operand.\nIt is returned; views of it share the result.",
            dtypes=_dtypes(entry, tuple(integers)),
            reference=tuple(dtype for dtype in entry.reference if dtype in integers),
            aliases=tuple(f"{alias}_" for alias in entry.aliases),
            raises=IN_PLACE_RAISES,
            **(_common(entry) | {"golden": entry.in_place_golden or entry.golden}),
        )
    )
    return {name: operation}
