"""A numpy float64 interpreter of dialect `ttnn`.

It computes what a program of `ttnn` computes, wherever tensors are.

Most operations are those of `ttir` (`ttir_reference.py`) under the same or another name. Layouts, formats and places
change no value: what only moves or converts a tensor is an identity, and prepared weights are the weights. Functions
that call others, constants that are computed once and traces are interpreted too. What a program does not define, such
as the elements of `ttnn.empty` and random numbers, is unknown, and so is all that comes of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from testkit import ttir_reference
from testkit.ttir_attention import IN_PLACE
from testkit.ttir_reference import NoReference, in_range
from testkit.ttir_weights import in_blocks
from testkit.ttnn_operations import OWN, Asked, activated, shape_of, sides
from ttnn.compiler.dialects import TableOp
from ttnn.compiler.dialects.attributes import TTNNLayoutAttr, data_type
from ttnn.compiler.ir.attributes import ResourceAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import BlockArgument, FuncOp, Operation, StringAttr

Array = NDArray[Any]
Groups: TypeAlias = Callable[[str], Any]
#: Told each operation of the library and its operands.
Observer: TypeAlias = Callable[[TableOp, list[Array]], None]


@dataclass
class Tensor:
    """A tensor's mutable elements; None where undefined."""

    data: Array | None


#: What changes the layout, the place or the format of a tensor, or lets it be.
MOVES: Final = frozenset(
    {
        "assign", "from_device", "to_device", "to_dtype", "to_layout", "to_memory_config", "to_tensor_spec", "typecast",
        "prepare_conv2d_bias", "prepare_conv2d_weights", "prepare_conv_transpose2d_bias",
        "prepare_conv_transpose2d_weights",
    }
)  # fmt: skip
#: What has no result and changes no tensor.
SILENT: Final = frozenset({"deallocate", "end_trace_capture", "execute_trace", "reset_global_semaphore"})
#: What makes values that are no tensors.
HANDLES: Final = frozenset({"begin_trace_capture", "create_global_semaphore", "get_device"})
#: What has elements of no defined value.
UNKNOWN: Final = frozenset({"empty", "rand", "dropout"})
#: What kernels of the program compute.
KERNELS: Final = frozenset({"generic", "tt_lang_op"})
NAMES: Final = {
    "div": "div",
    "divide": "div",
    "embedding_bw": "embedding_backward",
    "moreh_cumsum": "cumsum",
    "pow_tensor": "pow",
    "quantize": "quantize_unrolled",
    "dequantize": "dequantize_unrolled",
    "upsample": "upsample2d",
}


def _last_dimension(op: TableOp) -> dict[str, Any]:
    return {"normalized_shape": (1,)}


def _one_dimension(name: str) -> Callable[[TableOp], dict[str, Any]]:
    def facts(op: TableOp) -> dict[str, Any]:
        dim = op.get(name)
        return {"dim_arg": None if dim is None else (dim,)}

    return facts


#: Attributes that `ttir` has in another form.
FACTS: Final[dict[str, Callable[[TableOp], dict[str, Any]]]] = {
    "arange": lambda op: {"arange_dimension": len(shape_of(op)) - 1},
    "argmax": _one_dimension("dim"),
    "group_norm": lambda op: {"channel_dim": -1},
    "layer_norm": _last_dimension,
    "prod": _one_dimension("dim_arg"),
    "repeat": lambda op: {"repeat_dimensions": op.attribute("repeat_dims").shape},  # type: ignore[union-attr]
    "rms_norm": _last_dimension,
}


def _evaluate(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Return a `ttnn` operation's results, or changed operands.

    Raises:
        NoReference: The interpreter does not know it.
    """
    short = op.name.removeprefix("ttnn.")
    if short in OWN:
        return OWN[short](op, given, groups)
    asked: Any = Asked(op, NAMES.get(short, short), FACTS[short](op) if short in FACTS else None)
    try:
        made = ttir_reference.evaluate(asked, given, groups)
    except NoReference:
        raise NoReference(op.name) from None
    return [activated(op, made[0])] if short in ("linear", "matmul") else made


def _stored(value: Array, kind: Any) -> Array:
    """Elements in their type.

    Integers of their width, and blocks of four bits.
    """
    layout = getattr(kind, "encoding", None)
    if isinstance(layout, TTNNLayoutAttr) and layout.dtype == "bfp_bf4":
        return in_blocks(value, 3)
    return in_range(value, getattr(kind, "element_type", None))


def _resource(module: Module, value: ResourceAttr) -> Array:
    """Return a resource constant's elements, after a 4-byte alignment."""
    data = module.resources["builtin"][value.key][4:]
    kind: Any = value.type
    word = attribute_text(kind.element_type)
    if word == "bf16":
        words = np.frombuffer(data, np.uint16).astype(np.uint32) << 16
        return words.view(np.float32).reshape(kind.get_shape())
    dtype = {"f": "f", "s": "i", "u": "u", "i": "i"}[word[0]] + str(int(re.sub(r"\D", "", word)) // 8)
    return np.frombuffer(data, dtype).reshape(kind.get_shape())


def is_typed_as_computed(op: Operation) -> bool:
    """Return whether the results of an operation are what it says.

    A layout has the format of its tensor, and a transposed convolution as many rows as its windows give: no verifier
    asks.
    """
    for result in op.results:
        kind: Any = result.type
        word = kind.encoding.dtype if isinstance(getattr(kind, "encoding", None), TTNNLayoutAttr) else "bfp"
        if not word.startswith("bfp") and data_type(kind.element_type) != word:
            return False
    if not isinstance(op, TableOp) or op.name != "ttnn.conv_transpose2d":
        return True
    top, left, bottom, right = sides(op.get("padding"))
    rows = op.get("batch_size")
    for axis, name, extra in ((0, "input_height", top + bottom), (1, "input_width", left + right)):
        span = (op.get("kernel_size")[axis] - 1) * op.get("dilation")[axis] + 1
        rows *= (op.get(name) - 1) * op.get("stride")[axis] - extra + span + op.get("output_padding")[axis]
    return math.prod(shape_of(op)) == rows * op.get("out_channels")


#: A tensor may take so many times its elements in tiles: those of the reference have eight bytes, and copies.
_PADDED: Final = 8


def elements(op: Operation) -> int:
    """Return how many elements the largest tensor of an operation has.

    In the library weights of groups become those of all, and tiles count, too, as kernels of a few places become whole
    ones.
    """
    sizes = []
    for value in (*op.operands, *op.results):
        if hasattr(value.type, "get_shape"):
            shape = tuple(value.type.get_shape())
            tiles = math.prod(shape[:-2]) * math.prod(-(-size // 32) * 32 for size in shape[-2:])
            sizes.append(max(math.prod(shape), tiles // _PADDED if op.name.startswith("ttnn.") else 0))
    if isinstance(op, TableOp) and op.name in ("ttnn.conv1d", "ttnn.conv2d", "ttnn.conv_transpose2d"):
        size = op.get("kernel_size") if "kernel_size" in op.spec.attributes else (1,)
        places = size if isinstance(size, int) else math.prod(size)
        sizes.append(op.get("in_channels") * op.get("out_channels") * places)
    return max(sizes, default=0)


def _weight(op: TableOp, value: Array, general: str | None) -> Array:
    """A matmul's second operand in the requested parameter format.

    Its operation, or else the program, requests it.
    """
    named = op.attributes.get("ttcore.weight_dtype")
    word = named.data if isinstance(named, StringAttr) else general
    return in_blocks(value, 3) if word == "bfp_bf4" and _is_parameter(op.operands[1]) else value


def _is_parameter(value: Any) -> bool:
    while isinstance(value.owner, TableOp) and value.owner.operands:
        value = value.owner.operands[0]
    function = value.owner.parent_op() if isinstance(value, BlockArgument) else None
    if not isinstance(function, FuncOp) or function.arg_attrs is None:
        return False
    kind = function.arg_attrs.data[value.index].data.get("ttcore.argument_type")
    return kind is not None and any(word in attribute_text(kind) for word in ("parameter", "constant"))


def _prepared(value: Array, shape: tuple[int, ...]) -> Array:
    """Weights as convolution matrix rows: positions, then input channels."""
    if value.shape == shape:
        return value
    rows = np.transpose(value, (2, 3, 1, 0)).reshape(1, 1, -1, value.shape[0])
    if rows.shape != shape:
        raise NoReference(f"weights of {list(value.shape)} that are prepared as {list(shape)}")
    return rows


class _Run:
    """The interpretation of one function and of those that it calls."""

    def __init__(self, module: Module, observe: Observer | None, weights: str | None) -> None:
        self._weights = weights
        self._functions = {function.sym_name.data: function for function in module.functions()}
        self._observe = observe
        self._module = module
        self._files: dict[str, Tensor] = {}

    def call(self, name: str, arguments: Sequence[Any]) -> list[Any]:
        """Return the results of a function, each a tensor or None."""
        block = self._functions[name].body.blocks[0]
        values: dict[Any, Any] = dict(zip(block.args, arguments, strict=True))
        for op in block.ops:
            if op.name == "func.return":
                return [values[value] for value in op.operands]
            values.update(zip(op.results, self._results(op, values), strict=True))
        raise NoReference("a function without return")

    def _results(self, op: Operation, values: dict[Any, Any]) -> list[Any]:
        given = [values[value] for value in op.operands]
        if op.name == "func.call":
            return self.call(op.callee.string_value(), given)  # type: ignore[attr-defined]
        if not isinstance(op, TableOp):
            raise NoReference(op.name)
        dialect, _, short = op.name.partition(".")
        if op.name == "ttcore.load_cached":
            return self.call(op.get("callee"), given)
        if op.name == "ttcore.composite":
            return self.call(op.get("decomposition"), given)
        if op.name == "ttnn.d2m_subgraph":
            return self.call(op.get("d2m_func"), [values[one] for one in op.group("inputs")])
        if dialect != "ttnn" or short in KERNELS:
            raise NoReference(op.name)
        if short in SILENT:
            return []
        if short in HANDLES:
            return [None]
        if short in UNKNOWN:
            return [Tensor(None) for _ in op.results]
        if short == "dump_tensor":
            self._files[op.get("file_path")] = Tensor(np.array(given[0].data))
            return []
        if short == "load_tensor":
            if op.get("file_path") not in self._files:
                raise NoReference("ttnn.load_tensor of a file that the program has not written")
            return [self._files[op.get("file_path")]]
        constant = op.attribute("value") if short == "constant" else None
        if isinstance(constant, ResourceAttr):
            return [Tensor(_resource(self._module, constant).astype(np.float64))]
        if short in ("copy", "write_tensor"):
            given[1].data = given[0].data
            return []
        return self._computed(op, values)

    def _computed(self, op: TableOp, values: dict[Any, Any]) -> list[Tensor]:
        short = op.name.removeprefix("ttnn.")
        tensors = [values[value] for value in op.inputs if values[value] is not None]
        if any(one.data is None for one in tensors):
            if short in IN_PLACE:
                tensors[0].data = None
            return [Tensor(None) for _ in op.results]

        def groups(group: str) -> Any:
            value = op.operand(group) if any(one.name == group for one in op.spec.operands) else None
            return None if value is None else values[value].data

        operands = [one.data for one in tensors]
        if short in ("linear", "matmul", "sparse_matmul"):
            operands[1] = _weight(op, operands[1], self._weights)
        if self._observe is not None:
            self._observe(op, operands)
        with np.errstate(all="ignore"):
            made = operands[:1] if short in MOVES else _evaluate(op, operands, groups)
        if short in IN_PLACE:
            tensors[0].data, made = made[0], []
        if short == "batch_norm_training" and len(made) > 1:
            for name, value in zip(("running_mean", "running_var"), made[1:], strict=True):
                values[op.operand(name)].data = value
            made = made[:1]
        results = []
        for index, value in enumerate(made):
            found = np.array(value, dtype=np.float64)
            if not short.startswith("prepare_"):
                found = _as_declared(op, index, found)
            if short in ttir_reference.SUMS and np.abs(found).max(initial=0) > np.finfo(np.float32).max:
                raise OverflowError
            results.append(Tensor(_stored(found, op.results[index].type)))
        return results


def _as_declared(op: TableOp, index: int, value: Array) -> Array:
    """A result in its type's shape.

    Windows make rows of images, and heads are rows of a tile.

    Raises:
        NoReference: The type has another number of elements than the operation makes.
    """
    shape = shape_of(op, index)
    if value.size == math.prod(shape):
        return value.reshape(shape)
    if len(shape) == value.ndim and all(had <= size for had, size in zip(value.shape, shape, strict=True)):
        # Rows or columns up to a tile are zero.
        return np.pad(value, [(0, size - had) for size, had in zip(shape, value.shape, strict=True)])
    raise NoReference(f"{op.name} with a result of {list(shape)} where {list(value.shape)} is computed")


def interpret(
    module: Module,
    name: str,
    inputs: Sequence[Array],
    observe: Observer | None = None,
    weights: str | None = None,
) -> list[Array | None]:
    """Return a `ttnn` function's float64 results; None where undefined.

    Args:
        module: The module.
        name: Name of the function.
        inputs: Its tensors.
        observe: Is told operations and operands.
        weights: The format that parameters are to have in products of matrices.

    Raises:
        NoReference: An operation that the interpreter does not know.
        OverflowError: A softmax that is not numerically stable, or a sum of products, leaves the range of float32.
    """
    run = _Run(module, observe, weights)
    function = next(one for one in module.functions() if one.sym_name.data == name)
    given = iter(inputs)
    arguments: list[Tensor | None] = []
    for argument in function.body.blocks[0].args:
        if not hasattr(argument.type, "get_shape"):
            arguments.append(None)
            continue
        # A tensor of the chip has the bits of narrow integers without a sign.
        arguments.append(Tensor(_stored(np.array(next(given), dtype=np.float64), argument.type)))
    kinds = function.function_type.outputs.data
    results = [(one.data, kind) for one, kind in zip(run.call(name, arguments), kinds, strict=True) if one is not None]
    return [None if data is None else _prepared(data, tuple(kind.get_shape())) for data, kind in results]  # type: ignore[attr-defined]
