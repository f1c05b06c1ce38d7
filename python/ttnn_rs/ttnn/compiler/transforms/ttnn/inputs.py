"""Emitted program signatures: tuples, input functions, and main.

The main function runs all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ttnn.compiler.dialects.attributes import TtnnDeviceType
from ttnn.compiler.dialects.operations import make
from ttnn.compiler.features import EMPTY_CALLS, FUNCTION_KINDS
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    Attribute,
    Block,
    CallOp,
    ConstantOp,
    DictionaryAttr,
    FuncOp,
    FunctionType,
    IntegerAttr,
    IntegerType,
    Operation,
    Region,
    ReturnOp,
    SSAValue,
    StringAttr,
    TensorType,
    TupleType,
    TypeAttribute,
)
from ttnn.compiler.transforms.base import fail, replace, set_type
from ttnn.compiler.transforms.ttnn.build import Build
from ttnn.compiler.transforms.ttnn.const_eval_hoist import function_kind
from ttnn.compiler.transforms.ttnn.layout.layouts import layout_of, shape_attr
from ttnn.compiler.transforms.ttnn.layout.types import on_host, retyped

__all__ = ["create", "export", "load", "tuplify"]

_KIND = "tt.function_type"
_I32 = IntegerType(32)


def _tuple(types: Sequence[Attribute]) -> TupleType:
    return TupleType(ArrayAttr([one for one in types if isinstance(one, TypeAttribute)]))


def _private(function: FuncOp) -> bool:
    return getattr(function.properties.get("sym_visibility"), "data", "") == "private"


def _is_forward(module: Module, function: FuncOp) -> bool:
    """Return whether a function is a device program.

    In 2025-10 every public one is.
    """
    kind = function_kind(function)
    return not _private(function) and (kind == "forward_device" or (not FUNCTION_KINDS.of(module.version) and not kind))


def _rename_main(module: Module) -> None:
    """Emitted programs have a main function of their own."""
    for function in module.functions():
        if function.sym_name.data == "main":
            function.properties["sym_name"] = StringAttr("_main")


def tuplify(module: Module, options: dict[str, Any]) -> None:
    """Replace tensor arguments and results of functions by one tuple each."""
    _rename_main(module)
    for function in module.functions():
        body = function.regions[0].blocks.first
        if body is None or (_private(function) and function_kind(function) != "const_eval"):
            continue
        kind = function.function_type
        inputs, outputs = list(kind.inputs.data), list(kind.outputs.data)
        empty = options["tuplify-input-if-empty"] and _is_forward(module, function)
        if (inputs or empty) and all(isinstance(one, TensorType) for one in inputs):
            inputs = [_tuple_argument(module, function, body)]
        if outputs and all(isinstance(one, TensorType) for one in outputs):
            last = body.last_op
            assert last is not None
            joined = make(
                "ttcore.tuple", module.version, list(last.operands), [_tuple(outputs)], location=last.location
            )
            body.insert_op_before(joined, last)
            last.operands = [joined.results[0]]
            outputs = [_tuple(outputs)]
        function.properties["function_type"] = FunctionType.from_lists(inputs, outputs)
        function.properties.pop("arg_attrs", None)


def _tuple_argument(module: Module, function: FuncOp, body: Block) -> Attribute:
    arguments = list(body.args)
    type_ = _tuple([argument.type for argument in arguments])
    first = body.first_op
    assert first is not None
    joined = body.insert_arg(type_, 0)
    for index, argument in enumerate(arguments):
        element = make(
            "ttcore.get_tuple_element",
            module.version,
            [joined],
            [argument.type],
            {"index": IntegerAttr(index, _I32)},
            location=function.location,
        )
        body.insert_op_before(element, first)
        argument.replace_all_uses_with(element.results[0])
    for argument in arguments:
        body.erase_arg(argument)
    return type_


Make = Callable[[Build, TensorType[Any], int], SSAValue]


def create(module: Module) -> None:
    """Create inputs of ones, and a main that runs the programs."""

    def ones(build: Build, type_: TensorType[Any], index: int) -> SSAValue:
        del index
        device = _device_for(build, type_)
        return build.value("ones", {"device": device}, type_, shape=shape_attr(tuple(type_.get_shape())))

    _with_inputs(module, "create_", ones)


def load(module: Module, options: dict[str, Any]) -> None:
    """Load inputs from files, and a main that runs the programs."""
    folder, prefix = options["tensor-load-directory"], options["tensor-load-file-prefix"]

    def file(build: Build, type_: TensorType[Any], index: int) -> SSAValue:
        path = f"{folder}/{prefix}{index}.tensorbin" if folder else f"{prefix}{index}.tensorbin"
        return build.value("load_tensor", {"device": _device_for(build, type_)}, type_, file_path=StringAttr(path))

    _with_inputs(module, "load_", file)


def _device_for(build: Build, type_: TensorType[Any]) -> SSAValue | None:
    layout = layout_of(type_)
    return None if layout is None or on_host(layout) else build.device


def _with_inputs(module: Module, prefix: str, make_tensor: Make) -> None:
    _rename_main(module)
    pairs: list[tuple[FuncOp, FuncOp | None]] = []
    for function in module.functions():
        if not _is_forward(module, function) or function.regions[0].blocks.first is None:
            continue
        kinds = list(function.function_type.inputs.data)
        if not kinds:
            if EMPTY_CALLS.of(module.version):
                pairs.append((function, None))
            continue
        if len(kinds) != 1 or not isinstance(kinds[0], TupleType):
            raise fail(module, function, "needs its inputs in a tuple: run ttnn-tuplify-tensors first")
        pairs.append((function, _generator(module, function, kinds[0], prefix, make_tensor)))
    _main(module, pairs)


def _generator(module: Module, function: FuncOp, kind: TupleType, prefix: str, make_tensor: Make) -> FuncOp:
    block = Block()
    returned = ReturnOp()
    returned.location = function.location
    block.add_op(returned)
    made = FuncOp(f"{prefix}inputs_for_{function.sym_name.data}", FunctionType.from_lists([], [kind]), Region([block]))
    made.location = function.location
    if FUNCTION_KINDS.of(module.version):
        made.attributes[_KIND] = StringAttr("input_generator")
    _append(function, made)
    build = Build(module, returned)
    tensors = []
    for index, type_ in enumerate(kind.types.data):
        assert isinstance(type_, TensorType)
        tensors.append(make_tensor(build, type_, index))
    joined = make("ttcore.tuple", module.version, tensors, [kind], location=function.location)
    block.insert_op_before(joined, returned)
    returned.operands = [joined.results[0]]
    return made


def _append(function: FuncOp, made: FuncOp) -> None:
    block = function.parent
    assert block is not None
    block.add_op(made)


def _main(module: Module, pairs: list[tuple[FuncOp, FuncOp | None]]) -> None:
    block = Block()
    for function, generator in pairs:
        operands: list[SSAValue] = []
        if generator is not None:
            inputs = CallOp(generator.sym_name.data, [], list(generator.function_type.outputs.data))
            inputs.location = function.location
            block.add_op(inputs)
            operands = [inputs.results[0]]
        call = CallOp(function.sym_name.data, operands, list(function.function_type.outputs.data))
        call.location = function.location
        block.add_op(call)
    zero = ConstantOp(IntegerAttr(0, _I32))
    block.add_op(zero)
    block.add_op(ReturnOp(zero.results[0]))
    made = FuncOp("main", FunctionType.from_lists([], [_I32]), Region([block]))
    made.location = module.op.location
    if FUNCTION_KINDS.of(module.version):
        made.attributes[_KIND] = StringAttr("main")
    functions = module.functions()
    parent: Operation | None = functions[-1].parent_op() if functions else module.op
    assert parent is not None
    parent.regions[0].blocks[0].add_op(made)


def export(module: Module) -> None:
    """Make the first program `forward(input, device)` with host inputs.

    They are in rows.

    Raises:
        CompileError: Its inputs are not in one tuple.
    """
    function = next((one for one in module.functions() if _is_forward(module, one)), None)
    body = function.regions[0].blocks.first if function is not None else None
    if function is None or body is None:
        return
    function.properties["sym_name"] = StringAttr("forward")
    if not body.args:
        message = (
            "expected forward function to have at least one (tuple) input; run "
            "`-ttnn-tuplify-tensors=tuplify-input-if-empty=true` before this pass"
        )
        raise fail(module, function, message)
    device = body.insert_arg(TtnnDeviceType(), len(body.args))
    for op in [one for one in body.ops if one.name == "ttnn.get_device"]:
        replace(op, [device])
    if len(body.args) != 2:
        message = "expected forward function to have exactly (tuple, device) arguments after device injection; got "
        raise fail(module, function, f"{message}{len(body.args)} arguments")
    if not isinstance(body.args[0].type, TupleType):
        raise fail(module, function, "expected the inputs of the forward function in a tuple; run ttnn-tuplify-tensors")
    _from_host(module, body, device)
    kind = function.function_type
    inputs = [argument.type for argument in body.args]
    function.properties["function_type"] = FunctionType.from_lists(inputs, list(kind.outputs.data))
    names = [DictionaryAttr({"emitpy.name": StringAttr(name)}) for name in ("input", "device")]
    function.properties["arg_attrs"] = ArrayAttr(names)


def _from_host(module: Module, body: Block, device: SSAValue) -> None:
    """Move the tuple's tensors to the host, copied when used.

    Each is copied to the device when it is taken out.
    """
    joined = body.args[0]
    kind = joined.type
    assert isinstance(kind, TupleType)
    types: list[Attribute] = list(kind.types.data)
    for op in [use.operation for use in joined.uses if use.operation.name == "ttcore.get_tuple_element"]:
        index = op.properties["index"]
        assert isinstance(index, IntegerAttr)
        old = op.results[0].type
        rows = retyped(old, space="system_memory", tiled=False)
        if rows == old:
            continue
        uses = list(op.results[0].uses)
        types[index.value.data] = rows
        set_type(op.results[0], rows)
        following = op.next_op
        assert following is not None
        build = Build(module, following)
        value: SSAValue = op.results[0]
        layout = layout_of(old)
        assert layout is not None
        if layout.tiled:
            changed = build.op("to_layout", [value], [retyped(value.type, tiled=True)])
            changed.stated = frozenset(["layout"])
            value = changed.results[0]
        if not on_host(layout):
            value = build.value("to_device", [value, device], old)
        for use in uses:
            use.operation.operands[use.index] = value
    set_type(joined, _tuple(types))
