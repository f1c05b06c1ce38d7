"""TTMetal binaries from text: commands, kernels, C++ sources.

Kernels have their circular buffers.
"""

from __future__ import annotations

import json

from ttnn.compiler.conversion.ttmetal_to_flatbuffer import metal_to_binary
from ttnn.compiler.pipelines import run
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.tools.translate import translate
from ttnn.compiler.versions import parse_module

MULTIPLY = """#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @multiply(%a: tensor<64x128xf32>, %b: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %0 = tensor.empty() : tensor<64x128xf32>
  %1 = "ttir.multiply"(%a, %b, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  return %1 : tensor<64x128xf32>
}
"""  # noqa: E501


def binary() -> Binary:
    module = parse_module(MULTIPLY)
    run(module, "ttir-to-ttmetal-backend-pipeline")
    return Binary.parse(metal_to_binary(module, "1.2.3").to_bytes())


def test_command_queue_has_program_and_buffer_commands() -> None:
    made = binary()
    assert (made.identifier, made.language, made.version) == ("TTM0", "2024-09", "1.2.3")
    (program,) = made.values["programs"]
    (on_device,) = program["device_programs"]
    (queue,) = on_device["command_queues"]
    kinds = [command["type_type"] for command in queue["commands"]]
    assert kinds[-1] == "FinishCommand"
    assert kinds.count("EnqueueProgramCommand") == 4
    assert kinds[0] == "CreateBufferCommand"
    addresses = [one["address"] for one in program["inputs"]]
    assert all(address % 16 == 0 for address in addresses)
    assert len(set(addresses)) == 2


def test_kernels_have_their_circular_buffers() -> None:
    (program,) = binary().values["programs"]
    commands = program["device_programs"][0]["command_queues"][0]["commands"]
    products = [
        kernel
        for command in commands
        if command["type_type"] == "EnqueueProgramCommand"
        for kernel in command["type"]["program"]["kernels"]
        if "mul_tiles_init" in kernel["kernel"]["source"]
    ]
    (product,) = products
    assert product["kernel"]["config"]["math_fidelity"] == "HiFi4"
    source = product["kernel"]["source"]
    for line in ("::tt::CB v1 = ::tt::CB::c_in0;", "::tt::CB v2 = ::tt::CB::c_in1;", "int32_t v4 = 0;"):
        assert f"\n  {line}\n" in source
    assert "mul_tiles(v1, v2, v4, v4, v4);" in source
    assert [one["desc"]["port"] for one in product["cbs"]] == [0, 1, 16]
    steps = json.loads(product["debug_info"])
    assert steps[0] == ["binary_op_init_common", [{"cb": 0}, {"cb": 1}, {"cb": 16}]]
    assert steps[-1][0] == "return"


def test_kernel_sources_are_cpp() -> None:
    text = """func.func @kernel(%a: !ttkernel.cb<cb_in0, 1024, memref<2x4x!tt.tile<32x32, f32>, #tt.memory_space<l1>>, 4096, 1>) {
  %c4 = arith.constant 4 : i32
  "ttkernel.cb_wait_front"(%a, %c4) : (!ttkernel.cb<cb_in0, 1024, memref<2x4x!tt.tile<32x32, f32>, #tt.memory_space<l1>>, 4096, 1>, i32) -> ()
  "ttkernel.return"() : () -> ()
}
"""  # noqa: E501
    assert str(translate("ttkernel-to-cpp", text)).partition("namespace NAMESPACE {\n")[2] == (
        "void kernel_main() {\n  ::tt::CB v1 = ::tt::CB::c_in0;\n  int32_t v2 = 4;\n  cb_wait_front(v1, v2);\n"
        "  return;\n}\nvoid MAIN { kernel_main(); }\n}\n"
    )
