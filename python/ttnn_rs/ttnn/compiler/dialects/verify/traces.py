"""Rules of traces: ids, functions, and slot transfers.

The functions allocate, capture and run them.

Messages are those that tests of the compiler stack look for. Source: `lib/Dialect/TTNN/IR/TTNNOps.cpp` of tt-mlir.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ttnn.compiler.dialects.layout_attributes import TTNNLayoutAttr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import Rule, need
from ttnn.compiler.ir.attributes import OpaqueDialectAttr
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.verifier import WholeMessage
from ttnn.compiler.ir.xdsl_adapter import (
    Attribute,
    FuncOp,
    IntegerType,
    ModuleOp,
    Operation,
    Signedness,
    SSAValue,
    SymbolRefAttr,
    TensorType,
)

__all__ = ["TRACES", "is_trace_id"]

_QUEUES: Final = (0, 1)


def _on_device(type_: Attribute) -> bool:
    layout = type_.encoding if isinstance(type_, TensorType) else None
    return isinstance(layout, TTNNLayoutAttr) and layout.space != "system_memory"


def is_trace_id(type_: Attribute) -> bool:
    """Return whether a type is that of the id of a trace."""
    encoding = type_.encoding if isinstance(type_, TensorType) else None
    return isinstance(encoding, OpaqueDialectAttr) and encoding.mnemonic == "ttnn.trace_id"


def _queue(op: TableOp) -> None:
    queue = op.get("cq_id")
    need(queue in _QUEUES, f"Invalid CQ ID {queue}")


def _id(op: TableOp) -> None:
    _queue(op)
    value = op.results[0] if op.results else op.group("trace_id")[0]
    type_ = value.type
    if not isinstance(type_, TensorType):
        raise WholeMessage("Trace ID must be a ranked tensor type")
    element = type_.element_type
    is_integer = isinstance(element, IntegerType)
    checks = (
        (not type_.get_shape(), "a scalar"),
        (is_integer, "an integer"),
        (is_integer and element.signedness.data is Signedness.UNSIGNED, "unsigned"),
        (is_integer and element.width.data == 32, "32-bit"),
    )
    for holds, word in checks:
        if not holds:
            raise WholeMessage(f"Trace ID must be {word}")
    if not is_trace_id(type_):
        raise WholeMessage("Trace ID must have the TraceIdAttr encoding")


def _write(op: TableOp) -> None:
    host, device = op.group("host_tensor")[0], op.group("device_tensor")[0]
    need(not _on_device(host.type), "Host tensor must be on system memory")
    need(_on_device(device.type), "Device tensor must be on device memory")
    _queue(op)


def _copy(op: TableOp) -> None:
    source, target = op.group("src")[0].type, op.group("dst")[0].type
    need(_on_device(source), "Source tensor must be on device memory")
    need(_on_device(target), "Destination tensor must be on device memory")
    texts = [attribute_text(one) for one in (source, target)]
    need(source == target, f"Source and destination tensor types must match, but got {texts[0]} and {texts[1]}")


def _function(op: Operation, name: str) -> FuncOp:
    """Return the named function, of the nearest enclosing module."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, ModuleOp):
        parent = parent.parent_op()
    found = None
    if parent is not None:
        functions = (one for one in parent.body.block.ops if isinstance(one, FuncOp))
        found = next((one for one in functions if one.sym_name.data == name), None)
    need(found is not None, f"'{name}' does not reference a function")
    assert found is not None
    return found


def _same(words: str, want: Sequence[Attribute], got: Sequence[Attribute], end: str = "") -> None:
    for index, (one, other) in enumerate(zip(want, got, strict=False)):
        texts = attribute_text(one), attribute_text(other)
        need(one == other, f"{words} {index} type mismatch: expected {texts[0]}{end}, but got {texts[1]}")


def _signature(function: FuncOp) -> tuple[tuple[Attribute, ...], tuple[Attribute, ...]]:
    kind = function.function_type
    return tuple(kind.inputs.data), tuple(kind.outputs.data)


def _slots(op: TableOp, name: str) -> tuple[Attribute, ...]:
    """Check the function that allocates slots, and return their types."""
    resident = [value.type for value in op.group("inputs") if _on_device(value.type)]
    inputs, results = [value.type for value in op.group("inputs")], [value.type for value in op.results]
    taken, slots = _signature(_function(op, name))
    need(
        len(taken) == len(resident),
        f"Slot allocation function '{name}' must take {len(resident)} arguments (the device-resident inputs), "
        f"but has {len(taken)}",
    )
    _same("Slot allocation function argument", resident, taken)
    need(
        len(slots) == len(inputs) + len(results),
        f"Slot allocation function '{name}' must return {len(inputs) + len(results)} slots ({len(inputs)} input slots "
        f"+ {len(results)} output slots), but returns {len(slots)}",
    )
    _same("Slot allocation function output slot", results, slots[len(inputs) :])
    return slots


def _captures(op: TableOp, function: FuncOp, slots: Sequence[Attribute]) -> None:
    """Check the function that captures the trace of 2026-08."""
    name = function.sym_name.data
    staged = [value.type for value in op.group("inputs") if not _on_device(value.type)]
    semaphores = [value.type for value in op.group("semaphore_inputs")]
    taken, returned = _signature(function)
    count = len(staged) + len(slots) + len(semaphores)
    need(
        len(taken) == count,
        f"Capture function '{name}' must take {count} arguments ({len(staged)} host-staged inputs + {len(slots)} slots "
        f"+ {len(semaphores)} semaphores), but has {len(taken)}",
    )
    _same("Capture function host-staged input argument", staged, taken)
    _same("Capture function slot argument", slots, taken[len(staged) :], " from slot allocation function")
    _same("Semaphore input argument", taken[len(staged) + len(slots) :], semaphores, " from capture function")
    words = f"Capture function '{name}' must return"
    need(len(returned) == 1, f"{words} exactly one trace_id value, but returns {len(returned)}")
    need(_is_scalar_id(returned[0]), f"{words} a trace_id tensor (scalar ui32 with TraceIdAttr encoding)")


def _is_scalar_id(type_: Attribute) -> bool:
    return is_trace_id(type_) and isinstance(type_, TensorType) and not type_.get_shape()


def _recorded(op: TableOp, capture: FuncOp, *, current: bool) -> None:
    """Check the function that is recorded."""
    call = next((one for one in capture.walk() if one.name == "func.call"), None)
    if call is None:
        need(False, "No trace function found in capture function")
        return
    callee = call.properties["callee"]
    assert isinstance(callee, SymbolRefAttr)
    function = _function(op, callee.root_reference.data)
    name = function.sym_name.data
    if current:
        need(
            not function.function_type.outputs.data,
            f"Trace function '{name}' must return no results; it stores its outputs into the output slot arguments",
        )
    semaphores = " or global semaphores" if current else ""
    for type_ in function.function_type.inputs.data:
        if current and getattr(type_, "mnemonic", "") == "ttnn.global_semaphore":
            continue
        words = "All input arguments of trace function must be"
        need(isinstance(type_, TensorType), f"{words} ranked tensors{semaphores}")
        need(_on_device(type_), f"{words} on device. {attribute_text(type_)} is not on device.")
    device = op.group("device")[0].owner
    for one in function.walk():
        if one is function or one.name == "func.return":
            continue
        word = {"ttnn.capture_or_execute_trace": "CaptureOrExecuteTraceOp op", "ttcore.load_cached": "LoadCached op"}
        if one.name in word:
            need(False, f"{word[one.name]} must not be nested within trace function")
        if one.name == "ttnn.get_device":
            same = isinstance(device, Operation) and all(
                one.properties.get(part) == device.properties.get(part) for part in ("mesh_shape", "mesh_offset")
            )
            words = "Device configuration of get_device op in callee must match device configuration of trace op"
            need(same, words)
            continue
        _all_on_device("input", one.operands)
        _all_on_device("output", one.results)


def _all_on_device(word: str, values: Sequence[SSAValue]) -> None:
    for value in values:
        right = not isinstance(value.type, TensorType) or _on_device(value.type)
        need(right, f"All {word} tensors of trace function must be on device. {value.type} is not on device.")


def _capture_or_execute(op: TableOp) -> None:
    current = "allocate_slots_callee" in op.text.attributes
    slots = _slots(op, op.get("allocate_slots_callee")) if current else ()
    capture = _function(op, op.get("capture_callee"))
    if current:
        _captures(op, capture, slots)
    _recorded(op, capture, current=current)
    name = op.get("execute_callee")
    taken, _ = _signature(_function(op, name))
    if current:
        words = f"Execute function '{name}'"
        need(len(taken) == 1, f"{words} must take exactly one trace_id argument, but has {len(taken)} arguments")
        need(
            _is_scalar_id(taken[0]),
            f"{words} argument must be a trace_id tensor (scalar ui32 with TraceIdAttr encoding)",
        )


TRACES: Final[dict[str, Rule]] = {
    "ttnn.begin_trace_capture": _id,
    "ttnn.end_trace_capture": _id,
    "ttnn.execute_trace": _id,
    "ttnn.write_tensor": _write,
    "ttnn.copy": _copy,
    "ttnn.capture_or_execute_trace": _capture_or_execute,
}
"""By the full name of the operation."""
