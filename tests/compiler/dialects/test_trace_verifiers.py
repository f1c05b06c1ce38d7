"""Rules of trace operations: right modules read, wrong ones refused.

Each refusal has its reason.
"""

from __future__ import annotations

import pytest

from ttnn.compiler.ir import CompileError
from ttnn.compiler.versions import parse_module, print_module

DRAM = "#ttnn.buffer_type<dram>"
HOST = "#ttnn.buffer_type<system_memory>"


def laid(space: str, memory: str = ", <interleaved>", element: str = "bf16") -> str:
    """Return a tensor type of one tile."""
    memref = f"memref<1x1x!ttcore.tile<32x32, {element}>, {space}>"
    return f"tensor<32x32x{element}, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, {memref}{memory}>>"


D, H, F = laid(DRAM), laid(HOST, ""), laid(DRAM, element="f32")
ID = "tensor<ui32, #ttnn.trace_id>"
DEVICE = (
    '%d = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> '
    ": () -> !ttnn.device"
)
CALLS = (
    "allocate_slots_callee = @slots, capture_callee = @capture, execute_callee = @execute, "
    "operandSegmentSizes = array<i32: 1, 2, 0>"
)
RIGHT = f"""module {{
  func.func private @trace(%arg0: {D}, %arg1: {D}, %arg2: {D}) {{
    {DEVICE}
    %0 = "ttnn.add"(%arg0, %arg1) : ({D}, {D}) -> {D}
    "ttnn.copy"(%0, %arg2) : ({D}, {D}) -> ()
    return
  }}
  func.func private @slots(%arg0: {D}) -> ({D}, {D}, {D}) {{
    return %arg0, %arg0, %arg0 : {D}, {D}, {D}
  }}
  func.func private @capture(%arg0: {H}, %arg1: {D}, %arg2: {D}, %arg3: {D}) -> {ID} {{
    {DEVICE}
    "ttnn.write_tensor"(%arg0, %arg2) <{{blocking = false, cq_id = 0 : ui32}}> : ({H}, {D}) -> ()
    %t = "ttnn.begin_trace_capture"(%d) <{{cq_id = 0 : ui32}}> : (!ttnn.device) -> {ID}
    call @trace(%arg1, %arg2, %arg3) : ({D}, {D}, {D}) -> ()
    "ttnn.end_trace_capture"(%d, %t) <{{cq_id = 0 : ui32}}> : (!ttnn.device, {ID}) -> ()
    return %t : {ID}
  }}
  func.func private @execute(%arg0: {ID}) {{
    {DEVICE}
    "ttnn.execute_trace"(%d, %arg0) <{{blocking = false, cq_id = 0 : ui32}}> : (!ttnn.device, {ID}) -> ()
    return
  }}
  func.func @main(%arg0: {D}, %arg1: {H}) -> {D} {{
    {DEVICE}
    %r = "ttnn.capture_or_execute_trace"(%d, %arg0, %arg1) <{{{CALLS}}}> : (!ttnn.device, {D}, {H}) -> {D}
    return %r : {D}
  }}
}}
"""

WRONG = [
    ("cq_id = 0 : ui32}> : (!ttnn.device) ->", "cq_id = 2 : ui32}> : (!ttnn.device) ->", "op Invalid CQ ID 2"),
    (
        "blocking = false, cq_id = 0 : ui32}> : (!ttnn.device",
        "blocking = false, cq_id = 7 : ui32}> : (!ttnn.device",
        "CQ ID 7",
    ),
    (ID, "tensor<2xui32, #ttnn.trace_id>", "error: Trace ID must be a scalar"),
    (ID, "tensor<f32, #ttnn.trace_id>", "error: Trace ID must be an integer"),
    (ID, "tensor<si32, #ttnn.trace_id>", "error: Trace ID must be unsigned"),
    (ID, "tensor<ui16, #ttnn.trace_id>", "error: Trace ID must be 32-bit"),
    (ID, "tensor<ui32>", "error: Trace ID must have the TraceIdAttr encoding"),
    (
        f"(%arg0, %arg2) <{{blocking = false, cq_id = 0 : ui32}}> : ({H}",
        f"(%arg1, %arg2) <{{blocking = false, cq_id = 0 : ui32}}> : ({D}",
        "Host tensor must be on system memory",
    ),
    ("allocate_slots_callee = @slots", "allocate_slots_callee = @no", "op 'no' does not reference a function"),
    ("capture_callee = @capture", "capture_callee = @no", "op 'no' does not reference a function"),
    ("execute_callee = @execute", "execute_callee = @no", "op 'no' does not reference a function"),
    (
        "allocate_slots_callee = @slots",
        "allocate_slots_callee = @trace",
        "must take 1 arguments (the device-resident inputs), but has 3",
    ),
    (
        "allocate_slots_callee = @slots",
        "allocate_slots_callee = @one",
        "must return 3 slots (2 input slots + 1 output slots), but returns 1",
    ),
    ("allocate_slots_callee = @slots", "allocate_slots_callee = @other", "output slot 0 type mismatch"),
    (
        "capture_callee = @capture",
        "capture_callee = @slots",
        "must take 4 arguments (1 host-staged inputs + 3 slots + 0 semaphores), but has 1",
    ),
    ("capture_callee = @capture", "capture_callee = @several", "must return exactly one trace_id value, but returns 2"),
    (
        "capture_callee = @capture",
        "capture_callee = @wrong",
        "must return a trace_id tensor (scalar ui32 with TraceIdAttr encoding)",
    ),
    (
        "execute_callee = @execute",
        "execute_callee = @trace",
        "must take exactly one trace_id argument, but has 3 arguments",
    ),
    ("execute_callee = @execute", "execute_callee = @slots", "argument must be a trace_id tensor"),
    (
        "call @trace(%arg1, %arg2, %arg3) : ",
        "%c = call @back(%arg1, %arg2, %arg3) : ",
        "must return no results; it stores its outputs",
    ),
    ("    call @trace(%arg1, %arg2, %arg3) : ", "    // ", "No trace function found in capture function"),
    (
        "mesh_shape 1x1>}> : () -> !ttnn.device\n    %0",
        "mesh_shape 1x2>}> : () -> !ttnn.device\n    %0",
        "Device configuration of get_device op",
    ),
]
HELPERS = f"""
  func.func private @one(%arg0: {D}) -> {D} {{
    return %arg0 : {D}
  }}
  func.func private @other(%arg0: {D}) -> ({D}, {D}, {F}) {{
    %0 = "ttnn.typecast"(%arg0) : ({D}) -> {F}
    return %arg0, %arg0, %0 : {D}, {D}, {F}
  }}
  func.func private @several(%arg0: {H}, %arg1: {D}, %arg2: {D}, %arg3: {D}) -> ({D}, {D}) {{
    return %arg1, %arg1 : {D}, {D}
  }}
  func.func private @wrong(%arg0: {H}, %arg1: {D}, %arg2: {D}, %arg3: {D}) -> {D} {{
    return %arg1 : {D}
  }}
  func.func private @back(%arg0: {D}, %arg1: {D}, %arg2: {D}) -> {D} {{
    return %arg1 : {D}
  }}
"""


def test_valid_trace_module_is_written_as_it_was_read() -> None:
    text = print_module(parse_module(RIGHT))
    assert print_module(parse_module(text)) == text


@pytest.mark.parametrize(("old", "new", "reason"), WRONG, ids=[f"{i}" for i in range(len(WRONG))])
def test_wrong_trace_operation_is_refused(old: str, new: str, reason: str) -> None:
    assert old in RIGHT
    text = RIGHT.replace(old, new).replace("module {\n", "module {" + HELPERS, 1)
    if "@back" in new:
        text = text.replace(f"({D}, {D}, {D}) -> ()\n", f"({D}, {D}, {D}) -> {D}\n", 1)
    with pytest.raises(CompileError) as caught:
        parse_module(text)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("types", "reason"),
    [
        ((H, D), "Source tensor must be on device memory"),
        ((D, H), "Destination tensor must be on device memory"),
        ((D, F), "Source and destination tensor types must match, but got"),
    ],
)
def test_wrong_trace_copy_is_refused(types: tuple[str, str], reason: str) -> None:
    source, target = types
    text = (
        f"func.func @f(%arg0: {source}, %arg1: {target}) {{\n"
        f'  "ttnn.copy"(%arg0, %arg1) : ({source}, {target}) -> ()\n  return\n}}\n'
    )
    with pytest.raises(CompileError, match=reason):
        parse_module(text)
