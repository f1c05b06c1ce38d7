"""The import of a model, node by node, by the table."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ttnn.base.exceptions import EngineBugError, UnsupportedError
from ttnn.compiler.importers.builder import Builder, element_of, program
from ttnn.compiler.importers.builder.steps import Refusal, refuse
from ttnn.compiler.importers.fx.types import element_for
from ttnn.compiler.importers.onnx.binding import graphs_of, shaping_inputs
from ttnn.compiler.importers.onnx.folding import fold
from ttnn.compiler.importers.onnx.prepare import OLDEST_OPSET, prepared, versions_of
from ttnn.compiler.importers.onnx.scope import Described, Node, Scope
from ttnn.compiler.importers.onnx.table import ROWS
from ttnn.compiler.importers.onnx.types import array_of, dtype_of, dtype_of_array
from ttnn.compiler.importers.onnx.values import Value
from ttnn.compiler.ir.diagnostics import CompileError, Diagnostic
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["Imported", "Input", "Limits", "Output", "import_model"]

_NESTING: Final = 16
"""Most graphs inside of each other."""


@dataclass(frozen=True)
class Limits:
    """Limits of an import.

    Attributes:
        unrolled: Most nodes of a loop that is written out.
    """

    unrolled: int = 20_000


@dataclass(frozen=True)
class Input:
    """An input of a model.

    Attributes:
        name: Its name.
        described: Its shape and element type.
        argument: Number of the program's argument; None for one that is not an argument.
        bound: Its elements if the program was compiled for them.
    """

    name: str
    described: Described
    argument: int | None = None
    bound: Any = None


@dataclass(frozen=True)
class Output:
    """An output of a model.

    Attributes:
        name: Its name.
        described: Its shape and element type.
        result: Number of the program's result; None for one that is not a result.
        known: Its elements if they are known.
        input: Number of the input that it is, unchanged.
    """

    name: str
    described: Described
    result: int | None = None
    known: Any = None
    input: int | None = None


@dataclass(frozen=True)
class Imported:
    """An imported model.

    Attributes:
        module: The program; None if nothing is left to compute.
        inputs: The model's inputs.
        outputs: Its outputs.
        parameters: Arrays of the parameters, by number of the argument.
    """

    module: Module | None
    inputs: list[Input]
    outputs: list[Output]
    parameters: dict[int, Any]


class _Missing:
    """A value that a refused node would have made."""


_MISSING: Final = _Missing()


@dataclass
class _Refused:
    """Nodes of one kind that are refused for one reason."""

    names: list[str] = field(default_factory=list)
    count: int = 0

    def add(self, name: str) -> None:
        """Count a node."""
        self.count += 1
        if name not in self.names and len(self.names) < 3:
            self.names.append(name)


class _Importer:
    """An import in progress."""

    def __init__(self, model: Any, read: Callable[[Any], Any], limits: Limits, original: int) -> None:
        self.model, self.read, self.limits, self.original = model, read, limits, original
        self.versions = versions_of(model)
        self.builder = Builder("main")
        self.scope = Scope(self.builder)
        self.refused: dict[tuple[str, str, str], _Refused] = {}
        self.depth = 0

    def refuse(self, node: Any, reason: str) -> None:
        """Note a node that cannot be imported."""
        name = node.name or (node.output[0] if node.output else "")
        domain = "" if node.domain == "ai.onnx" else node.domain
        self.refused.setdefault((domain, node.op_type, reason), _Refused()).add(name)

    def without_rows(self) -> None:
        """Note all nodes that have no row."""
        for graph in graphs_of(self.model.graph):
            for node in graph.node:
                if _key(node) not in ROWS:
                    self.refuse(node, "")

    def check(self) -> None:
        """Raise an error if nodes are refused.

        Raises:
            UnsupportedError: All of them.
        """
        if not self.refused:
            return
        lines = []
        for (domain, op, reason), found in self.refused.items():
            names = ", ".join(repr(one) for one in found.names)
            nodes = f"node {names}" if found.count == 1 else f"{found.count} nodes: {names}"
            if found.count > len(found.names) and found.count > 1:
                nodes += ", .."
            full, version = f"{domain}::{op}" if domain else op, self.versions.get(domain, 0)
            text = f"ONNX operator {full} (opset {version}, {nodes})"
            lines.append(f"{text} is not supported" + (f": {reason}" if reason else ""))
        if len(lines) == 1:
            raise UnsupportedError(lines[0])
        raise UnsupportedError(f"{len(lines)} kinds of nodes are not supported:\n" + "\n".join(lines))

    def initial(self, graph: Any) -> dict[str, Any]:
        """Return the values of initialisers."""
        made: dict[str, Any] = {}
        for one in graph.initializer:
            array = self.read(one)
            made[one.name] = Value(dtype_of_array(array), known=array, name=one.name)
        if graph.sparse_initializer:
            refuse("has sparse initialisers, which the device does not have")
        return made

    def graph(self, graph: Any, values: Any) -> list[Any]:
        """Import the nodes of a graph; return its outputs."""
        for node in graph.node:
            self.builder.location(node.name or (node.output[0] if node.output else node.op_type))
            operands = [values[one] if one else None for one in node.input]
            results: list[Any]
            if any(one is _MISSING for one in operands) or _key(node) not in ROWS:
                results = [_MISSING] * len(node.output)
            else:
                try:
                    results = self.node(node, operands, values)
                except Refusal as refusal:
                    self.refuse(node, str(refusal))
                    results = [_MISSING] * len(node.output)
            for name, value in zip(node.output, results, strict=False):
                if name:
                    values[name] = value
        return [values[one.name] for one in graph.output]

    def node(self, node: Any, operands: list[Any], values: Any) -> list[Any]:
        """Return the values of a node."""
        domain, _ = _key(node)

        def run(graph: Any, given: dict[str, Value]) -> list[Value]:
            if self.depth >= _NESTING:
                refuse(f"has more than {_NESTING} graphs inside of each other")
            self.depth += 1
            try:
                found = self.graph(graph, ChainMap({**self.initial(graph), **given}, values))
            finally:
                self.depth -= 1
            if any(one is _MISSING for one in found):
                refuse("has a graph with nodes that are not supported")
            return found

        a = Node(
            node, self.versions[domain], operands, self.scope, self.versions, run, self.original, self.limits.unrolled
        )
        folded = fold(a)
        if folded is not None:
            return [
                Value(dtype_of_array(one), known=one, name=name) for one, name in zip(folded, node.output, strict=False)
            ]
        made = ROWS[_key(node)](self.scope, a)
        several = made if isinstance(made, list) else [made]
        return [_valued(one, a) for one in several]


def _valued(made: Any, a: Node) -> Any:
    """Return a row's result as a value."""
    import numpy as np

    if isinstance(made, SSAValue):
        made = Value(a.dtype, made)
    if isinstance(made, Value) and made.known is None and 0 in made.shape:
        return Value(made.dtype, known=np.zeros(made.shape, made.dtype.numpy))
    if isinstance(made, Value) and made.tensor is not None and element_of(made.tensor) != element_for(made.dtype):
        raise EngineBugError(f"ONNX operator {a.proto.op_type}: the elements are not those of {made.dtype.name}.")
    return made


def _key(node: Any) -> tuple[str, str]:
    return "" if node.domain == "ai.onnx" else node.domain, node.op_type


def _described(value: Any, shapes: Mapping[str, Iterable[int]], sample: Any) -> Described:
    """Return shape and type of an input.

    Raises:
        UnsupportedError: It is no tensor, or has an open dimension.
    """
    if not value.type.HasField("tensor_type"):
        kind = value.type.WhichOneof("value") or "unknown"
        raise UnsupportedError(f"ONNX model: input {value.name!r} is of {kind}; the device has tensors only")
    type_ = value.type.tensor_type
    try:
        dtype = dtype_of(type_.elem_type)
    except Refusal as refusal:
        raise UnsupportedError(f"ONNX model: input {value.name!r} {refusal}") from None
    if value.name in shapes:
        return Described(tuple(int(one) for one in shapes[value.name]), dtype)
    if sample is not None:
        return Described(tuple(sample.shape), dtype)
    if not type_.HasField("shape"):
        raise UnsupportedError(f"dynamic shape: input {value.name!r} has no shape; pass shapes= or sample inputs")
    for i, one in enumerate(type_.shape.dim):
        if not one.HasField("dim_value"):
            raise UnsupportedError(
                f"dynamic shape: input {value.name!r} has dimension {i} = {one.dim_param or '?'}; pass shapes= or "
                "sample inputs"
            )
    return Described(tuple(one.dim_value for one in type_.shape.dim), dtype)


def import_model(
    model: Any,
    *,
    shapes: Mapping[str, Iterable[int]] | None = None,
    samples: Mapping[str, Any] | None = None,
    read: Callable[[Any], Any] | None = None,
    limits: Limits | None = None,
) -> Imported:
    """Return the `ttir` program of a model.

    Args:
        model: The model.
        shapes: Shapes of inputs whose dimensions are open.
        samples: Arrays of inputs. Those on which shapes depend are bound to their values.
        read: Returns the array of an initialiser; default: from the model itself.
        limits: Limits of the import.

    Raises:
        CompileError: The model is wrong.
        UnsupportedError: Operations cannot be imported: all of them; or a dimension is open.
    """
    samples = samples or {}
    original = versions_of(model).get("", OLDEST_OPSET)
    model = prepared(model, ROWS.keys())
    graph = model.graph
    work = _Importer(model, read or array_of, limits or Limits(), original)
    work.without_rows()
    values: dict[str, Any] = {}
    try:
        values.update(work.initial(graph))
    except Refusal as refusal:
        raise UnsupportedError(f"ONNX model: an initialiser {refusal}") from None
    given = [one for one in graph.input if one.name not in values]
    shaping = shaping_inputs(graph, [one.name for one in given])
    inputs = []
    for one in given:
        found = Input(one.name, _described(one, shapes or {}, samples.get(one.name)))
        if one.name in samples and one.name in shaping:
            found = Input(one.name, found.described, bound=samples[one.name])
        elif 0 not in found.described.shape:
            found = Input(one.name, found.described, argument=work.scope.arguments)
        values[one.name] = _input(work.scope, found)
        inputs.append(found)
    try:
        results = work.graph(graph, values)
    except KeyError as error:
        raise CompileError(Diagnostic("error", f"there is no value {error}", at="ONNX model")) from None
    work.check()
    return _finished(work, inputs, [values[one.name] for one in inputs], graph, results)


def _input(scope: Scope, given: Input) -> Value:
    import numpy as np

    dtype, shape = given.described.dtype, given.described.shape
    if given.bound is not None:
        return Value(dtype, known=np.asarray(given.bound), name=given.name)
    if given.argument is None:
        return Value(dtype, known=np.zeros(shape, dtype.numpy), name=given.name)
    return Value(dtype, scope.argument(given.name, given.described, "input"), name=given.name)


def _finished(work: _Importer, inputs: list[Input], given: list[Value], graph: Any, results: list[Value]) -> Imported:
    """Return the program and what becomes of inputs and outputs."""
    outputs: list[Output] = []
    returned: list[SSAValue] = []
    for one, value in zip(graph.output, results, strict=True):
        described = Described(value.shape, value.dtype)
        _agree(one, described)
        if value.known is not None:
            outputs.append(Output(one.name, described, known=value.known))
            continue
        same = [i for i, other in enumerate(given) if other.tensor is not None and other.tensor is value.tensor]
        if same:
            outputs.append(Output(one.name, described, input=same[0]))
            continue
        tensor = work.scope.tensor(value)
        if tensor not in returned:
            returned.append(tensor)
        outputs.append(Output(one.name, described, result=returned.index(tensor)))
    module = program([work.builder.finish(returned)]) if returned else None
    return Imported(module, inputs, outputs, work.scope.parameters)


def _agree(stated: Any, found: Described) -> None:
    """Check that an output is what the model states.

    Raises:
        CompileError: It is not.
    """
    type_ = stated.type.tensor_type
    sizes = [one.dim_value if one.HasField("dim_value") else None for one in type_.shape.dim]
    wrong = type_.HasField("shape") and (
        len(sizes) != len(found.shape)
        or any(one not in (None, size) for one, size in zip(sizes, found.shape, strict=True))
    )
    if wrong or type_.elem_type not in (0, found.dtype.number):
        text = (
            f"output {stated.name!r} is stated as {sizes} of type {type_.elem_type}, its nodes give "
            f"{list(found.shape)} of type {found.dtype.number} ({found.dtype.name})"
        )
        raise CompileError(Diagnostic("error", text, at="ONNX model"))
