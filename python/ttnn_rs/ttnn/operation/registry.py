"""The operator registry: declarative entries, and their callable objects.

An entry has what is special about an operator. The callable, its argument binding, its docstring, its golden function
and the generated tests are derived from it, so that none can be forgotten when an operator is added.

Source: TT-NN docs, "operation objects" (names and attributes of `FastOperation`).
"""

from __future__ import annotations

import enum
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from typing import Any, Final, Literal, NoReturn

import numpy as np

from ttnn.base.config import CONFIG
from ttnn.base.enums import Arch, DataType, Layout, UnaryOpType
from ttnn.base.exceptions import (
    ArgumentError,
    DTypeError,
    KernelError,
    LayoutError,
    ParameterError,
    ShapeError,
    TtnnError,
    UnsupportedError,
)
from ttnn.base.observers import OBSERVERS, observed_operation, observing
from ttnn.device.chip import ARCH
from ttnn.device.queues import command_queue, queue_number
from ttnn.device.systems import default_arch_name
from ttnn.device.traces import Traces
from ttnn.golden.oracles import oracle
from ttnn.operation.accuracy import Accuracy
from ttnn.operation.domain import Domain
from ttnn.operation.former import translated
from ttnn.operation.numerics import States, recorded, state
from ttnn.operation.program_keys import program_keys
from ttnn.operation.result_shards import of_one
from ttnn.operation.signature import (
    GRADIENT_NAMES,
    OUTPUT_TENSOR_NAMES,
    REQUIRED,
    Param,
    Signature,
    merged,
    wrong_arguments,
)
from ttnn.operation.slow_path import call_slowly
from ttnn.operation.steps import STEPS, Steps
from ttnn.operation.traces import record
from ttnn.runtime.calls import Call, identify
from ttnn.runtime.programs import MISSED, Program, resolve_and_launch
from ttnn.tensor.dunders import OPERATORS
from ttnn.tensor.tensor import Tensor

Numerics = Literal["exact", "reference", "movement"]
"""Computation of results: by the kernel's steps, correctly rounded, or without arithmetic."""

Examples = tuple[tuple[Any, ...], ...] | Callable[[tuple[int, ...], Layout], Iterable[tuple[Any, ...]]]
"""Calls by their arguments after the operands.

After the first tensor, or after the second one of a binary operator: for tensors of any shape, or a function of the
shape and layout of the first tensor.
"""

_CATEGORIES: Final = {"moe": "reduction"}
"""TT-NN categories of folders that have another name."""


@dataclass(frozen=True)
class Op:
    """One operator.

    Args:
        name: Name below `ttnn`, for example "exp".
        signatures: The overloads, in the order in which they are tried.
        run: Called with the bound values in the order of the signature's parameters, unless the signature has its own.
        doc: The result, in one sentence; then lines about shapes and special cases.
        source: Source of the behaviour, in addition to the operator's page in the TT-NN docs.
        dtypes: Data types of the first tensor that the operator computes.
        layouts: Supported layouts.
        golden: Reference function in float64 (package `ttnn.golden`), or None.
        golden_of_shards: Reference function for a sharded first tensor, where its elements mean something else then.
        accuracy: Largest distance to `golden`, or why there is no bound. Only operators that move
            data may leave it out.
        engine: Functions of `ttnn._engine` that do the work; empty for operators made of others.
        numerics: See `Numerics`.
        aliases: Other names of the same object.
        raises: (error class name, when) pairs for the docstring.
        family: "unary" for functions of every element of one tensor, "binary" and "ternary" likewise; "backward" for
            gradients and "complex" for operators on complex tensors, which return lists or pairs; or empty.
        composition: Whether the operator is made of others, so that each of them rounds.
        reference: Data types whose kernel is not known: the result is the mathematical one.
        only_rows: Data types that are taken in ROW_MAJOR_LAYOUT only.
        steps: The SFPU functions that fused activations and `unary_chain` run, by the names that these have for them.
        examples: Arguments after the first tensor for the generated tests; see `Examples`.
        domain: Where the function has finite results; everywhere if None.
        only_on: The generation of chips that has the operator, if not all have it.
        of_meshes: Whether it is an operator of several chips together; the generated tests of one chip leave it out.
        view: Whether the result may share the memory of the input; nothing runs then.
        scalars: Whether numbers, and lists of them, are arguments of the program and not a part of it, as those of a
            family always are.
        any_shape: Whether the shapes of interleaved tiles are arguments of the program too.
        arguments: Names of further parameters that are.
        timed_by: Names of the tensors of numbers whose elements decide how long the operator takes, positions for
            instance: profiles time calls with other elements anew.
        advice: Called with the bound values of a call whose result is far from that of `golden`; returns what to
            consider, or an empty text.
    """

    name: str
    signatures: tuple[Signature, ...]
    run: Callable[..., Any]
    doc: str
    source: str = ""
    dtypes: tuple[DataType, ...] = ()
    layouts: tuple[Layout, ...] = ()
    golden: Callable[..., Any] | None = None
    golden_of_shards: Callable[..., Any] | None = None
    accuracy: Accuracy | None = None
    engine: tuple[str, ...] = ()
    numerics: Numerics = "exact"
    aliases: tuple[str, ...] = ()
    raises: tuple[tuple[str, str], ...] = ()
    family: Literal["", "unary", "binary", "ternary", "backward", "complex"] = ""
    composition: bool = False
    reference: tuple[DataType, ...] = ()
    only_rows: tuple[DataType, ...] = ()
    steps: Mapping[UnaryOpType, Steps] = field(default_factory=dict)
    examples: Examples = ((),)
    domain: Domain | None = None
    only_on: Arch | None = None
    of_meshes: bool = False
    view: bool = False
    scalars: bool = False
    any_shape: bool = False
    arguments: tuple[str, ...] = ()
    timed_by: tuple[str, ...] = ()
    advice: Callable[..., str] | None = None

    def __str__(self) -> str:
        return self.name

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return self.doc.partition("\n")[0]

    @property
    def category(self) -> str:
        """The operator's TT-NN category, for example "eltwise/unary": its folder below `ttnn.ops`."""
        module = _unwrapped(self.signatures[0].run or self.run).__module__.split(".")
        folder = "/".join(module[2:-1])
        return _CATEGORIES.get(folder, folder)

    def returns(self, signature: Signature) -> str:
        """Return a signature's return annotation: its function's."""
        return str(_unwrapped(signature.run or self.run).__annotations__["return"])


def _unwrapped(function: Any) -> Any:
    while isinstance(function, partial):
        function = function.func
    return function


class _SignatureOfInstances:
    """`__signature__` of a callable object, made on demand.

    The class has none of its own.
    """

    def __get__(self, operation: FastOperation | None, owner: type) -> inspect.Signature | None:
        if operation is None:
            return None
        entry = operation.entry
        return inspect.signature(operation.function) if entry is None else merged(entry.signatures, entry.returns)


@dataclass(init=False, repr=False, eq=False)
class FastOperation:
    """A callable operator, for example `ttnn.exp`.

    Operators compare, sort and hash by name.
    """

    python_fully_qualified_name: str
    function: Callable[..., Any]
    preprocess_golden_function_inputs: Callable[..., Any] | None
    golden_function: Callable[..., Any] | None
    postprocess_golden_function_outputs: Callable[..., Any] | None
    is_cpp_operation: bool
    is_experimental: bool
    output_tensor_kwarg_names: tuple[str, ...]
    __signature__ = _SignatureOfInstances()

    def __init__(
        self,
        python_fully_qualified_name: str,
        function: Callable[..., Any],
        *,
        preprocess_golden_function_inputs: Callable[..., Any] | None = None,
        golden_function: Callable[..., Any] | None = None,
        postprocess_golden_function_outputs: Callable[..., Any] | None = None,
        is_cpp_operation: bool = False,
        is_experimental: bool = False,
        output_tensor_kwarg_names: Sequence[str] = OUTPUT_TENSOR_NAMES,
        entry: Op | None = None,
        doc: str | None = None,
    ) -> None:
        self.__name__ = python_fully_qualified_name
        self.__doc__ = doc if doc is not None else function.__doc__
        self.python_fully_qualified_name = python_fully_qualified_name
        self.function = function
        self.preprocess_golden_function_inputs = preprocess_golden_function_inputs
        self.golden_function = golden_function
        self.postprocess_golden_function_outputs = postprocess_golden_function_outputs
        self.is_cpp_operation = is_cpp_operation
        self.is_experimental = is_experimental
        self.output_tensor_kwarg_names = tuple(output_tensor_kwarg_names)
        self.entry = entry

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the operator.

        `queue_id` or `cq_id` selects the command queue and is not passed on.
        """
        if kwargs and ("queue_id" in kwargs or "cq_id" in kwargs):
            return self._on_queue(args, kwargs)
        if OBSERVERS:
            return observed_operation(observing(), self, args, kwargs, _run)
        if Traces.capturing:
            return record(self, args, kwargs)
        if CONFIG.enable_fast_runtime_mode and not CONFIG.enable_comparison_mode and not CONFIG.enable_logging:
            return self.function(*args, **kwargs)
        return call_slowly(self, args, kwargs)

    @property
    def plain_golden(self) -> Callable[..., Any] | None:
        """The golden function without its form for torch tensors."""
        golden: Callable[..., Any] | None = getattr(self.golden_function, "plain", self.golden_function)
        return golden

    @property
    def numerics(self) -> States:
        """Each data type's state of bits, with default options.

        On the chip that `open_device` opens; `numerics_on` has the others. See `ttnn.operation.numerics`.
        """
        return self.numerics_on(Arch[default_arch_name().upper()])

    def numerics_on(self, arch: Arch | str) -> States:
        """Return each data type's state of bits on a generation of chips.

        Args:
            arch: `ttnn.Arch`, or its name as in `ARCH_NAME`.

        Raises:
            ParameterError: no chip of this generation is modelled.
        """
        named = arch.name.lower() if isinstance(arch, Arch) else arch
        if named not in ARCH:
            raise ParameterError(f"numerics_on: arch is {arch!r}, expected one of {', '.join(ARCH)}.")
        arch = ARCH[named]
        entry = self.entry
        if entry is None or entry.only_on not in (None, arch):
            return States({}, arch)
        if entry.numerics != "exact":
            return States(dict.fromkeys(entry.dtypes, entry.numerics), arch)
        states = {d: "reference" if d in entry.reference else state(entry.name, d, arch) for d in entry.dtypes}
        return States(states, arch)

    @property
    def program_recorded(self) -> bool:
        """True if all recorded official programs of the operator agree.

        Kernels, functions, order, data formats, Dst widths and fidelities are compared. False if none is recorded.
        """
        return self.entry is not None and self.entry.name in recorded()

    def _on_queue(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if "queue_id" in kwargs and "cq_id" in kwargs:
            raise ArgumentError(f"{self.__name__}: give queue_id or cq_id, not both.")
        queue = kwargs.pop("queue_id", None)
        if queue is None:
            queue = kwargs.pop("cq_id", None)
        if queue is None:
            return self(*args, **kwargs)
        with command_queue(queue_number(self.__name__, queue)):
            return self(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FastOperation):
            return NotImplemented
        return self.python_fully_qualified_name == other.python_fully_qualified_name

    def __lt__(self, other: FastOperation) -> bool:
        return self.python_fully_qualified_name < other.python_fully_qualified_name

    def __hash__(self) -> int:
        return hash(self.python_fully_qualified_name)

    def __repr__(self) -> str:
        return f"<operation {self.python_fully_qualified_name}>"


def _run(operation: FastOperation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run an operator as a call without observers does."""
    return record(operation, args, kwargs) if Traces.capturing else call_slowly(operation, args, kwargs)


_operations: Final[dict[str, FastOperation]] = {}
_named_again: Final[dict[str, FastOperation]] = {}
_unsupported: Final[dict[str, FastOperation]] = {}


def register(op: Op) -> FastOperation:
    """Make the callable operator of an entry and list it.

    Raises:
        ValueError: the name is taken.
    """
    operation = FastOperation(
        f"ttnn.{op.name}",
        _dispatcher(op),
        golden_function=None if op.golden is None else oracle(op.name, op.golden),
        is_cpp_operation=True,
        is_experimental=op.name.startswith("experimental."),
        entry=op,
        doc=_docstring(op),
    )
    STEPS.update(op.steps)
    return add_operation(operation)


def declare(
    name: str, signatures: tuple[Signature, ...], run: Callable[..., Any], doc: str, **fields: Any
) -> FastOperation:
    """Register an operator of a family; `partial` has common fields.

    They are the fields of the entry that its operators share.
    """
    return register(Op(name, signatures, run, doc, **fields))


def add_operation(operation: FastOperation) -> FastOperation:
    """List an operator that was made by hand.

    Raises:
        ValueError: the name is taken.
    """
    name = operation.python_fully_qualified_name
    if name in _operations:
        raise ValueError(f"{name} is registered twice")
    _operations[name] = OPERATORS[name] = operation
    return operation


def declare_unsupported(
    name: str, refuse: Callable[[str], NoReturn], check: Callable[..., None] | None = None
) -> FastOperation:
    """List an operator that always raises.

    Programs which name it without calling it can be imported.

    Args:
        name: Name below `ttnn`.
        refuse: Raises `UnsupportedError` for a full name.
        check: Called first with the arguments of the call; raises what TT-NN would raise for them.
    """

    def run(*args: object, **options: object) -> NoReturn:
        if check is not None:
            check(*args, **options)
        refuse(f"ttnn.{name}")

    operation = FastOperation(f"ttnn.{name}", run)
    _unsupported[name] = operation
    return operation


def operations() -> tuple[FastOperation, ...]:
    """Return every registered operator, sorted by name."""
    return tuple(sorted(_operations.values()))


def exports() -> dict[str, FastOperation]:
    """Return the operators with an entry, by names below `ttnn`.

    Their own, their aliases, second names.
    """
    own = {
        name: find(f"ttnn.{entry.name}")
        for entry in (*entries(), *mesh_entries())
        for name in (entry.name, *entry.aliases)
    }
    return own | _named_again | _unsupported


def find(name: str) -> FastOperation:
    """Return the operator of a full name, for example "ttnn.exp".

    Raises:
        UnsupportedError: no operator has that name.
    """
    try:
        return _operations[name]
    except KeyError:
        raise UnsupportedError(f"{name} is not implemented.", "unimplemented") from None


def is_registered(name: str) -> bool:
    """Return whether an operator with a registry entry has that full name."""
    return name in _operations and _operations[name].entry is not None


def name_again(prefix: str, names: Iterable[str]) -> None:
    """List operators again as separate ones below a prefix.

    "experimental.quasar." is one.

    They share the entry, and with it the signatures; errors have the second name. What lists entries (the docs, the
    generated tests) has the operator once.

    Args:
        prefix: Prefix of the names, with its dot. The first name has no prefix, or only its first word.
        names: Full names below `ttnn`. One whose operator is not registered is left out, and stays missing.
    """
    known = exports()
    for name in names:
        if not name.startswith(prefix) or name in known:
            continue
        first = name.removeprefix(prefix)
        operation = known.get(first) or known.get(f"{prefix.partition('.')[0]}.{first}")
        if operation is None:
            # Operators between host and device have no entry.
            operation = _operations.get(f"ttnn.{first}")
        if operation is not None:
            _named_again[name] = add_operation(_under_second_name(operation, f"ttnn.{name}"))


def _under_second_name(operation: FastOperation, name: str) -> FastOperation:
    """Return an operator that does the same under another full name."""
    entry = operation.entry
    if entry is None:
        dispatch, first = operation.function, operation.python_fully_qualified_name
    else:
        dispatch, first = _dispatcher(replace(entry, name=name.removeprefix("ttnn."))), f"ttnn.{entry.name}"

    @wraps(dispatch)
    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            return dispatch(*args, **kwargs)
        except TtnnError as error:
            if error.operator == first:
                error.operator = name
            raise

    return FastOperation(
        name,
        function,
        golden_function=operation.golden_function,
        is_cpp_operation=operation.is_cpp_operation,
        is_experimental=name.startswith("ttnn.experimental."),
        entry=entry,
        doc=operation.__doc__,
    )


def overload(operation: FastOperation, signature: Signature, golden: Callable[..., Any]) -> None:
    """Add a signature for complex operands to a registered operator.

    It is tried after its others; the reference is added, too.
    """
    entry = operation.entry
    assert entry is not None
    of_reals = entry.golden
    assert of_reals is not None

    @wraps(of_reals)
    def either(*args: Any, **kwargs: Any) -> Any:
        chosen = golden if any(map(np.iscomplexobj, (*args, *kwargs.values()))) else of_reals
        return chosen(*args, **kwargs)

    entry = replace(entry, signatures=(*entry.signatures, signature), golden=either)
    operation.entry = entry
    operation.golden_function = oracle(entry.name, either)
    operation.function = _dispatcher(entry)
    operation.__doc__ = _docstring(entry)


def entries() -> tuple[Op, ...]:
    """Return the distinct entries of operators of one chip, sorted by name."""
    return tuple(entry for entry in _entries() if not entry.of_meshes)


def mesh_entries() -> tuple[Op, ...]:
    """Return the distinct entries of operators of several chips."""
    return tuple(entry for entry in _entries() if entry.of_meshes)


def _entries() -> Iterator[Op]:
    again = set(_named_again.values())
    for operation in operations():
        if operation.entry is not None and operation not in again:
            yield operation.entry


def supported(name: str) -> str:
    """Return an entry's supported list as an error sentence, or empty.

    Empty if it lists nothing.
    """
    operation = _operations.get(name)
    entry = None if operation is None else operation.entry
    if entry is None or not entry.dtypes:
        return ""
    dtypes = ", ".join(f"{dtype.name}{' (rows)' if dtype in entry.only_rows else ''}" for dtype in entry.dtypes)
    layouts = " or ".join(f"{layout.name}_LAYOUT" for layout in entry.layouts)
    return f"{name} takes {dtypes} in {layouts}."


_DTYPES_BY_NAME: Final = {dtype.name: dtype for dtype in DataType}
_DTYPE_NAME: Final = re.compile("|".join(sorted(map(re.escape, _DTYPES_BY_NAME), key=len, reverse=True)))
_LAYOUT_WORDS: Final = {"ROW_MAJOR": Layout.ROW_MAJOR, "row-major": Layout.ROW_MAJOR, "TILE": Layout.TILE}
_LAYOUT_WORD: Final = re.compile("|".join(_LAYOUT_WORDS))


def _what_helps(op: Op, error: TtnnError) -> str:
    """Return the entry's list unless the error contradicts it.

    The error refuses, in its first clause, only what is listed.
    """
    if not op.dtypes:
        return ""
    refused = error.sentence.partition(";")[0]
    if isinstance(error, ShapeError):
        helps = bool(op.family)
    elif isinstance(error, DTypeError):
        dtypes = {_DTYPES_BY_NAME[word] for word in _DTYPE_NAME.findall(refused)}
        helps = not dtypes or not dtypes <= set(op.dtypes)
    elif isinstance(error, LayoutError):
        layouts = {_LAYOUT_WORDS[word] for word in _LAYOUT_WORD.findall(refused)}
        helps = not layouts or not layouts <= set(op.layouts)
    else:
        helps = False
    return supported(f"ttnn.{op.name}") if helps else ""


def _dispatcher(op: Op) -> Callable[..., Any]:
    """Return the function that binds and runs a call.

    It uses the first fitting signature.

    Errors about data types and layouts, and about shapes of element-wise operators, say what the entry lists.
    """
    name = f"ttnn.{op.name}"
    # A matmul is one step in either mode, and raises itself if its result is an operand.
    engines = {engine.removesuffix("_fast") for engine in op.engine}
    in_steps = op.composition or op.family == "backward" or len(engines) > 1
    plan = tuple(
        (
            signature,
            _placed(signature, signature.run or op.run)
            if op.family in _PLACED and not op.name.endswith("_")
            else signature.run or op.run,
            _outputs(signature) if in_steps else (),
        )
        for signature in op.signatures
    )
    programs = None
    if _runs_one_program(op):
        scalars, creates = op.scalars or bool(op.family), "uniform" in op.engine
        names = [param.name for param in op.signatures[0].params]
        arguments = frozenset(map(names.index, op.arguments))
        programs = program_keys(
            op.name, op.family, scalars=scalars, creates=creates, any_shape=op.any_shape, arguments=arguments
        )

    def dispatch(*args: Any, **kwargs: Any) -> Any:
        call = identify(name, args, kwargs)
        if call is not None:
            program = call.device._resolved.get(call.key)
            if type(program) is Program:
                output = program.launch(name, call)
                if output is not MISSED:
                    return output
        for signature, run, outputs in plan:
            values = signature.bind(args, kwargs)
            if values is not None:
                signature.check_options(name, values)
                try:
                    return _first(name, call, partial(_body, run, outputs), values, programs)
                except KernelError:
                    raise
                except TtnnError as error:
                    error.refuse_call(name)
                    error.supported = _what_helps(op, error)
                    raise
        current = translated(op.category, op.name, kwargs)
        if current is not None:
            return dispatch(*args, **current)
        raise wrong_arguments(name, op.signatures, args, kwargs)

    return dispatch


def _body(run: Callable[..., Any], outputs: Sequence[int], values: Sequence[Any]) -> Any:
    """Run an operator on bound arguments, copying overwritten operands first."""
    values = list(values)
    for position in outputs:
        if values[position] is not None:
            _keep_operands(values, position)
    return run(*values)


_PLACED: Final = ("unary",)


def _placed(signature: Signature, run: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of one tensor with the result's shards decided first.

    The official program computes the specification of its result before it checks the operand.
    """
    names = [param.name for param in signature.params]
    if "memory_config" not in names:
        return run
    place = names.index("memory_config")
    outputs = [names.index(name) for name in OUTPUT_TENSOR_NAMES if name in names]

    @wraps(run)
    def placed(*values: Any) -> Any:
        tensor, memory_config = values[0], values[place]
        device = tensor._device if isinstance(tensor, Tensor) else None
        if device is None or memory_config is None or any(values[output] is not None for output in outputs):
            return run(*values)
        memory_config = of_one(tensor.spec, memory_config, device)
        tensor.spec.with_memory_config(memory_config)
        return run(*values[:place], memory_config, *values[place + 1 :])

    return placed


def _first(
    name: str, call: Call | None, body: Callable[[Sequence[Any]], Any], values: Sequence[Any], programs: Any
) -> Any:
    """Run a call whose program is not cached, and count its program."""
    device, key = (None, None) if programs is None else programs(values)
    if device is not None and not device._cache_misses_allowed:
        device._require_program(key)
    result = resolve_and_launch(name, call, body, values)
    if device is not None and device._cache_enabled and not _any_empty(values):
        device._programs.add(key)
    return result


def _runs_one_program(op: Op) -> bool:
    """Return whether an operator's call is a single program.

    It is not those of the operators that it calls.
    """
    if not op.engine or op.composition or op.family == "complex" or op.view:
        return False
    return op.family != "backward" or len(op.engine) == 1


def _any_empty(values: Sequence[Any]) -> bool:
    """Return whether a tensor has no elements, thus nothing runs."""
    return any(type(value) is Tensor and 0 in value.spec._shape for value in values)


def _outputs(signature: Signature) -> tuple[int, ...]:
    """Return the positions of output parameters."""
    names = (*OUTPUT_TENSOR_NAMES, *GRADIENT_NAMES)
    return tuple(i for i, param in enumerate(signature.params) if param.name in names)


def _keep_operands(values: list[Any], position: int) -> None:
    """Copy operands that a result overwrites.

    A later step may read them again.
    """
    given = values[position]
    for output in given if isinstance(given, list | tuple) else (given,):
        buffer = output.buffer
        for i, value in enumerate(values):
            if i != position and isinstance(value, Tensor) and buffer is not None and value.buffer is buffer:
                values[i] = find("ttnn.clone")(value)


def _limits_of_accuracy(op: Op) -> list[str]:
    """Return the calls that an operator's stated error covers.

    It is empty if they are all.
    """
    if op.numerics == "movement" or (op.accuracy is not None and op.accuracy.reason):
        return []
    params = [param for signature in op.signatures for param in signature.params if param.modelled]
    # An option may select another function, and complex operands another composition.
    options = any(isinstance(param.default, bool | int | float | enum.Enum) for param in params)
    both = {"ttnn.Tensor", "ttnn.ComplexTensor"} <= {param.kind.text for param in params}
    reals = both and op.family != "complex"
    # With bfloat16 the chip truncates a number to that, with float32 it is rounded.
    numbers = any(param.default is REQUIRED and "float" in param.kind.text.split(" | ") for param in params)
    limits = {
        "with the default options": options,
        "of real tensors": reals,
        "with numbers that bfloat16 holds": numbers,
    }
    return [limit for limit, holds in limits.items() if holds]


def _argument_line(name: str, params: Sequence[Param]) -> str:
    """Return the docstring line of an argument: accepted types and meaning."""
    kinds = dict.fromkeys(kind for param in params for kind in param.kind.text.split(" | "))
    note = next((param.doc for param in params if param.doc), "See the signature.")
    if not params[0].modelled:
        note = "Not supported; only the default is accepted."
    return f"{name} ({' | '.join(kinds)}): {note}"


def _docstring(op: Op) -> str:
    """Return the docstring of an operator, made from its entry."""
    blocks = op.doc.split("\n")
    arguments: dict[str, list[Param]] = {}
    for signature in op.signatures:
        for param in signature.params:
            arguments.setdefault(param.name, []).append(param)
    if arguments:
        lines = [_argument_line(name, params) for name, params in arguments.items()]
        blocks.append("Args:\n" + textwrap.indent("\n".join(lines), "    "))
    if op.dtypes:
        blocks.append("Data types: " + ", ".join(dtype.name for dtype in op.dtypes) + ".")
    if op.reference:
        blocks.append(
            "Reference (correctly rounded, not the device's kernel): "
            + ", ".join(dtype.name for dtype in op.reference)
            + "."
        )
    if op.layouts:
        blocks.append("Layouts: " + ", ".join(layout.name for layout in op.layouts) + ".")
    if op.raises:
        blocks.append("Raises:\n" + "\n".join(f"    {error}: {when}" for error, when in op.raises))
    if op.accuracy is not None:
        blocks.append(f"{', '.join(['Accuracy', *_limits_of_accuracy(op)])}: {op.accuracy}.")
    blocks.append("Signatures:\n" + "\n".join(f"    {signature.text(op.name)}" for signature in op.signatures))
    # An operator and its in-place form share a page.
    blocks.append(f'Source: TT-NN docs "ttnn.{op.name.removesuffix("_")}"{"; " if op.source else ""}{op.source}.')
    return "\n\n".join(blocks)
