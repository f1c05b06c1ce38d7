"""Specifications to change: a tensor copy through a dataflow buffer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ttnn
from ttnn import metal
from ttnn.kernel_api import *

KernelSpec, RunArgs = metal.KernelSpec, metal.ProgramRunArgs
Schema, KernelArgs = KernelSpec.RuntimeArgSchema, RunArgs.KernelRunArgs
PAGE = 2048
NODE = metal.CoreCoord(0, 0)


def read_pages(first: int, count: int) -> None:
    """Reader: pages of a tensor to the buffer."""
    noc, out, pages = Noc(), DataflowBuffer(dfb.out), TensorAccessor(tensor.source)
    for page in range(first, first + count):
        out.reserve_back(1)
        noc.async_read(pages, out, out.get_entry_size(), {"page_id": page})
        noc.async_read_barrier()
        out.push_back(1)


def write_pages() -> None:
    """Writer: the buffer to pages of a tensor."""
    first, count = get_arg(args.first), get_arg(args.count)
    noc, source, pages = Noc(), DataflowBuffer(dfb["in"]), TensorAccessor(tensor.target)
    for page in range(first, first + count):
        source.wait_front(1)
        noc.async_write(source, pages, source.get_entry_size(), {}, {"page_id": page})
        noc.async_write_barrier()
        source.pop_front(1)


def moving(name: str, source: Any, reader: bool = True, schema: Schema | None = None, **more: Any) -> KernelSpec:
    """Return a data-movement kernel."""
    config = metal.create_reader_datamovement_config() if reader else metal.create_writer_datamovement_config()
    return KernelSpec(unique_id=name, source=source, hw_config=config, runtime_arg_schema=schema or Schema(), **more)


def binding(name: str, accessor: str) -> metal.TensorBinding:
    """Return the binding of a tensor."""
    return metal.TensorBinding(tensor_parameter_name=name, accessor_name=accessor)


def parameters(**specs: ttnn.TensorSpec) -> list[metal.TensorParameter]:
    """Return tensor parameters by name."""
    return [metal.TensorParameter(unique_id=name, spec=spec) for name, spec in specs.items()]


def unit(kernels: Sequence[str], nodes: Any = NODE, name: str = "unit") -> metal.WorkUnitSpec:
    """Return kernels on nodes."""
    return metal.WorkUnitSpec(name=name, kernels=list(kernels), target_nodes=nodes)


def copying(source: ttnn.TensorSpec, target: ttnn.TensorSpec | None = None, nodes: Any = NODE) -> metal.ProgramSpec:
    """Return a program copying 2048 B pages between two tensors."""
    schema = Schema(runtime_arg_names=["first", "count"])
    return metal.ProgramSpec(
        name="copy",
        kernels=[
            moving(
                "reader",
                read_pages,
                schema=schema,
                dfb_bindings=[metal.ProducerOf("pages", "out")],
                tensor_bindings=[binding("source", "source")],
            ),
            moving(
                "writer",
                write_pages,
                reader=False,
                schema=schema,
                dfb_bindings=[metal.ConsumerOf("pages", "in")],
                tensor_bindings=[binding("target", "target")],
            ),
        ],
        dataflow_buffers=[metal.DataflowBufferSpec(unique_id="pages", entry_size=PAGE, num_entries=2)],
        tensor_parameters=parameters(source=source, target=target or source),
        work_units=[unit(["reader", "writer"], nodes)],
    )


def alone(
    kernel: Callable[..., object], nodes: Any = NODE, schema: Schema | None = None, **more: Any
) -> metal.ProgramSpec:
    """Return a one-kernel data-movement program.

    What is no field of a kernel is one of the program.
    """
    own = {name: value for name, value in more.items() if name in KernelSpec.__dataclass_fields__}
    rest = {name: value for name, value in more.items() if name not in own}
    return metal.ProgramSpec(
        name="alone",
        kernels=[moving("kernel", kernel, schema=schema, **own)],
        work_units=[unit(["kernel"], nodes)],
        **rest,
    )


def named(**values: int) -> Mapping[metal.CoreCoord, Mapping[str, int]]:
    """Return arguments of the one node."""
    return {NODE: values}


def copy_args(source: ttnn.Tensor, target: ttnn.Tensor, count: int, first: int = 0) -> RunArgs:
    """Return the arguments of `copying`."""
    kernel = KernelArgs(runtime_arg_values=named(first=first, count=count))
    return RunArgs(
        kernel_run_args={"reader": kernel, "writer": kernel}, tensor_args={"source": source, "target": target}
    )


def run(device: ttnn.MeshDevice, spec: metal.ProgramSpec, params: RunArgs | None = None) -> metal.Report:
    """Make a program, set its arguments and run it."""
    program = metal.make_program_from_spec(device, spec)
    if params is not None:
        metal.set_program_run_args(program, params)
    return metal.run_program(device, program)
