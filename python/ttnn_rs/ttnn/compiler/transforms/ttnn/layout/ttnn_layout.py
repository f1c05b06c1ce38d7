"""`ttnn-layout`: device tensors in tiled DRAM, host tensors in rows."""

from __future__ import annotations

from typing import Any

from ttnn.compiler.dialects.attributes import TTNNLayoutAttr
from ttnn.compiler.dialects.operations import make
from ttnn.compiler.features import HOST_SHARDS
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import Attribute, FuncOp, FunctionType, NoneAttr, Operation, SSAValue, TensorType
from ttnn.compiler.transforms.base import insert_before, is_on_host, set_type
from ttnn.compiler.transforms.ttnn.layout.layouts import new_layout, with_layout

__all__ = ["run"]


def run(module: Module) -> None:
    """Assign layouts to all tensors that have none."""
    for function in module.functions():
        if is_on_host(function):
            continue
        kind = function.function_type
        weights = _weights(function)
        joined: set[int] = set()
        if HOST_SHARDS.of(module.version):
            weights |= _split_inputs(function)
            joined = _joined_outputs(function)
        function.properties["function_type"] = FunctionType.from_lists(
            [_host(one) if index in weights else _device(one) for index, one in enumerate(kind.inputs.data)],
            [_host(one) if index in joined else _device(one) for index, one in enumerate(kind.outputs.data)],
        )
        for index in weights:
            set_type(function.regions[0].blocks[0].args[index], _host(kind.inputs.data[index]))
        for op in list(function.walk()):
            for result in op.results:
                set_type(result, _device(result.type))
            for region in op.regions:
                for block in region.blocks:
                    for argument in block.args:
                        set_type(argument, _device(argument.type))
        for index in weights:
            _to_device_for_others(module, function.regions[0].blocks[0].args[index], _device(kind.inputs.data[index]))
        for op in list(function.walk()):
            if _is_split(op):
                _through_host(module, op)


def _weights(function: FuncOp) -> set[int]:
    """Return convolution weight arguments, prepared on the host from rows."""
    attributes = function.arg_attrs
    if attributes is None or not function.regions[0].blocks:
        return set()
    return {index for index, entry in enumerate(attributes.data) if "ttcore.conv2d_weight" in entry.data}


def _split_inputs(function: FuncOp) -> set[int]:
    """Return arguments that become chip shards, on the host."""
    if not function.regions[0].blocks:
        return set()
    arguments = function.regions[0].blocks[0].args
    return {one.index for one in arguments if any(_is_split(use.operation) for use in one.uses)}


def _joined_outputs(function: FuncOp) -> set[int]:
    """Return results from chip shards, joined on the host."""
    last = function.regions[0].blocks[0].last_op if function.regions[0].blocks else None
    if last is None or last.name != "func.return":
        return set()
    return {
        index
        for index, value in enumerate(last.operands)
        if isinstance(value.owner, Operation) and _is_split(value.owner)
    }


def _is_split(op: Operation) -> bool:
    return op.name == "ttir.mesh_shard" and _moves_shards(op)


def _host(type_: Attribute) -> Attribute:
    if not isinstance(type_, TensorType) or isinstance(type_.encoding, TTNNLayoutAttr):
        return type_
    return with_layout(type_, new_layout(_plain(type_), space="system_memory", tiled=False))


def _device(type_: Attribute) -> Attribute:
    if not isinstance(type_, TensorType) or isinstance(type_.encoding, TTNNLayoutAttr):
        return type_
    if not isinstance(type_.encoding, NoneAttr) and not str(type_.encoding).startswith("#ttcore.tensor_mesh"):
        return type_
    return with_layout(type_, new_layout(type_))


def _to_device_for_others(module: Module, weights: SSAValue, on_device: Attribute) -> None:
    """Copy convolution weights to the device for their other users."""
    for use in list(weights.uses):
        op = use.operation
        if op.name.startswith("ttir.conv") or _is_split(op):
            continue
        moved = make("ttir.to_layout", module.version, [weights], [on_device], location=op.location)
        insert_before(op, moved)
        op.operands[use.index] = moved.results[0]


def _moves_shards(op: Operation) -> bool:
    kind = op.properties.get("shard_type")
    return getattr(kind, "value", "") != "identity"


def _through_host(module: Module, op: Operation) -> None:
    """Shards are created and joined on the host.

    The operand is brought there, and the result back for those that compute.
    """
    value, result = op.operands[0], op.results[0]
    for_host = with_layout(value.type, new_layout(_plain(value.type), space="system_memory", tiled=False))
    if value.type != for_host:
        down = make("ttir.to_layout", module.version, [value], [for_host], location=op.location)
        insert_before(op, down)
        op.operands[0] = down.results[0]
    back = result.type
    set_type(result, with_layout(back, new_layout(_plain(back), space="system_memory", tiled=False)))
    stays = HOST_SHARDS.of(module.version)
    uses = [use for use in result.uses if not (stays and use.operation.name == "func.return")]
    block = op.parent
    assert block is not None
    if not uses:
        return
    up = make("ttir.to_layout", module.version, [result], [back], location=op.location)
    block.insert_op_after(up, op)
    for use in uses:
        use.operation.operands[use.index] = up.results[0]


def _plain(type_: Attribute) -> TensorType[Any]:
    assert isinstance(type_, TensorType)
    return type_
