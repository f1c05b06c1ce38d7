"""Specified programs with official wheel kernels, unpacked at `TTNN_OFFICIAL_WHEEL`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ttnn
from ttnn import metal

WHEEL = Path(os.environ.get("TTNN_OFFICIAL_WHEEL", "/nowhere"))
KERNELS = "ttnn/cpp/ttnn"
"""Kernels, from the root that their includes are relative to."""
NODE = metal.CoreCoord(0, 0)


@contextmanager
def official_root() -> Iterator[None]:
    """Add the wheel to the search folders of sources and headers."""
    metal.set_root_dir(WHEEL / "ttnn")
    yield
    metal.set_root_dir(Path.cwd())


def kernel(name: str, path: str, arguments: Sequence[str] = (), **more: Any) -> metal.KernelSpec:
    """Return a wheel kernel.

    `dfb`, `tensor` and `pads` map names in the kernel to names of the program.

    In `dfb` a name that starts with `>` is a buffer that the kernel fills, one with `=` both ends.
    """
    config = {
        "reader": metal.create_reader_datamovement_config(),
        "writer": metal.create_writer_datamovement_config(),
        "compute": more.pop("config", metal.ComputeHardwareConfig()),
    }[name]
    ends = []
    for accessor, bound in more.pop("dfb", {}).items():
        if bound[0] in ">=":
            ends.append(metal.ProducerOf(bound[1:], accessor))
        if bound[0] != ">":
            ends.append(metal.ConsumerOf(bound.lstrip("="), accessor))
    return metal.KernelSpec(
        unique_id=name,
        source=f"{KERNELS}/{path}",
        hw_config=config,
        dfb_bindings=ends,
        tensor_bindings=[
            metal.TensorBinding(tensor_parameter_name=bound, accessor_name=accessor)
            for accessor, bound in more.pop("tensor", {}).items()
        ],
        scratchpad_bindings=[
            metal.ScratchpadBinding(scratchpad_spec_name=bound, accessor_name=accessor)
            for accessor, bound in more.pop("pads", {}).items()
        ],
        runtime_arg_schema=metal.KernelSpec.RuntimeArgSchema(runtime_arg_names=list(arguments)),
        compile_time_args=more.pop("fixed", {}),
        compiler_options=metal.KernelSpec.CompilerOptions(defines=more.pop("defines", {})),
        **more,
    )


def buffer(name: str, entry: int = 2048, entries: int = 2, form: Any = ttnn.bfloat16) -> metal.DataflowBufferSpec:
    """Return a dataflow buffer."""
    return metal.DataflowBufferSpec(unique_id=name, entry_size=entry, num_entries=entries, data_format_metadata=form)


def run(
    device: ttnn.MeshDevice,
    kernels: Sequence[metal.KernelSpec],
    buffers: Sequence[metal.DataflowBufferSpec],
    tensors: Mapping[str, ttnn.Tensor],
    arguments: Mapping[str, Mapping[str, int]],
    **more: Any,
) -> metal.Report:
    """Run a program on one node; arguments by kernel."""
    spec = metal.ProgramSpec(
        kernels=list(kernels),
        dataflow_buffers=list(buffers),
        tensor_parameters=[metal.TensorParameter(unique_id=name, spec=tensor.spec) for name, tensor in tensors.items()],
        work_units=[metal.WorkUnitSpec(kernels=[part.unique_id for part in kernels], target_nodes=NODE)],
        **more,
    )
    with official_root():
        program = metal.make_program_from_spec(device, spec)
    values = {
        name: metal.ProgramRunArgs.KernelRunArgs(runtime_arg_values={NODE: row}) for name, row in arguments.items()
    }
    metal.set_program_run_args(program, metal.ProgramRunArgs(kernel_run_args=values, tensor_args=tensors))
    return metal.run_program(device, program)
