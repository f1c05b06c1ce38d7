"""A kernel whose parameters are its named arguments."""

from __future__ import annotations

import pytest

import ttnn
from ttnn import metal
from ttnn.metal.cpp.entry import named_entry

NODE = metal.CoreCoord(0, 0)
TEXT = """#include "experimental/kernel_args.h"
#include "api/debug/dprint.h"

template <uint32_t times>
TT_KERNEL void repeat(uint32_t value, uint32_t step) {
    DPRINT << value + times * step << ENDL();
}
"""


def test_named_entry_parameters_are_runtime_arguments(
    device: ttnn.MeshDevice, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = metal.KernelSpec(
        unique_id="repeat",
        source=metal.KernelSpec.SourceCode(TEXT),
        hw_config=metal.create_reader_datamovement_config(),
        compile_time_args={"times": 3},
        runtime_arg_schema=metal.KernelSpec.RuntimeArgSchema(runtime_arg_names=["value", "step"]),
    )
    work = metal.WorkUnitSpec(kernels=["repeat"], target_nodes=NODE)
    program = metal.make_program_from_spec(device, metal.ProgramSpec(kernels=[kernel], work_units=[work]))
    values = metal.ProgramRunArgs.KernelRunArgs(runtime_arg_values={NODE: {"value": 10, "step": 4}})
    metal.set_program_run_args(program, metal.ProgramRunArgs(kernel_run_args={"repeat": values}))
    metal.run_program(device, program)
    assert capsys.readouterr().out.endswith(": 22\n")


def test_entry_names_in_comments_are_ignored() -> None:
    assert named_entry(TEXT) == [
        "void kernel_main() { repeat<get_arg(args::times)>(get_arg(args::value), get_arg(args::step)); }"
    ]
    assert named_entry("// TT_KERNEL void other() {}\nvoid kernel_main() {}") == []


@pytest.mark.parametrize("head", ["inline void", "static void", "static inline void", "ALWI void", "void"])
@pytest.mark.parametrize("config", [metal.ReaderDataMovementConfig(), metal.ComputeConfig()], ids=["data", "compute"])
def test_the_entry_may_be_inline_or_static(
    head: str, config: metal.ComputeConfig, device: ttnn.MeshDevice, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f'#include "api/debug/dprint.h"\n#define ALWI inline\n{head} kernel_main() {{ DPRINT << 7 << ENDL(); }}'
    program = metal.create_program()
    metal.create_kernel_from_string(program, text, NODE, config)
    metal.run_program(device, program)
    assert capsys.readouterr().out.endswith(": 7\n")
