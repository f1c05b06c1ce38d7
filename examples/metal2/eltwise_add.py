"""The element-wise sum by specification (Metal 2.0), with names.

Buffers, tensors and arguments have names, no numbers.

The program is `examples/classic/eltwise_add.py`; both give the same bits. It runs on several cores, and again with
other tensors.
"""

from __future__ import annotations

import ttnn
from examples.common import BF16_TILE, Outcome, empty, kernel, main, random_bf16, same_bits, to_device
from ttnn import metal
from ttnn.kernel_api import *


def read_both() -> None:
    """Reader: one tile of each operand at a time."""
    first, tiles = get_arg(args.first), get_arg(args.tiles)
    noc, a_out, b_out = Noc(), DataflowBuffer(dfb.a), DataflowBuffer(dfb.b)
    a, b = TensorAccessor(tensor.a), TensorAccessor(tensor.b)
    for tile in range(first, first + tiles):
        a_out.reserve_back(1)
        b_out.reserve_back(1)
        noc.async_read(a, a_out, a_out.get_entry_size(), {"page_id": tile}, {"offset_bytes": 0})
        noc.async_read(b, b_out, b_out.get_entry_size(), {"page_id": tile}, {"offset_bytes": 0})
        noc.async_read_barrier()
        a_out.push_back(1)
        b_out.push_back(1)


def add(tiles: int) -> None:
    """Compute: Dst 0 = a + b.

    The parameter is the argument of its name.
    """
    a, b, out = DataflowBuffer(dfb.a), DataflowBuffer(dfb.b), DataflowBuffer(dfb.out)
    compute_kernel_hw_startup(dfb.a, dfb.b, dfb.out)
    add_init(dfb.a, dfb.b)
    for _ in range(tiles):
        a.wait_front(1)
        b.wait_front(1)
        tile_regs_acquire()
        add_tiles(dfb.a, dfb.b, 0, 0, 0)
        tile_regs_commit()
        a.pop_front(1)
        b.pop_front(1)
        out.reserve_back(1)
        tile_regs_wait()
        pack_tile(0, dfb.out)
        tile_regs_release()
        out.push_back(1)


def write_out(first: int, tiles: int) -> None:
    """Writer: the sum to its tensor."""
    noc, out, target = Noc(), DataflowBuffer(dfb.out), TensorAccessor(tensor.out)
    for tile in range(first, first + tiles):
        out.wait_front(1)
        noc.async_write(out, target, out.get_entry_size(), {"offset_bytes": 0}, {"page_id": tile})
        noc.async_write_barrier()
        out.pop_front(1)


def specification(tensor_spec: ttnn.TensorSpec, cores: metal.CoreRangeSet) -> metal.ProgramSpec:
    """Return the program for tensors of a specification on some cores."""
    buffers = [
        metal.DataflowBufferSpec(
            unique_id=name, entry_size=BF16_TILE, num_entries=2, data_format_metadata=metal.DataFormat.Float16_b
        )
        for name in ("a", "b", "out")
    ]
    per_core = metal.KernelSpec.RuntimeArgSchema(runtime_arg_names=["first", "tiles"])
    reader = metal.KernelSpec(
        unique_id="reader",
        source=kernel(read_both),
        dfb_bindings=[metal.ProducerOf("a", "a"), metal.ProducerOf("b", "b")],
        tensor_bindings=[metal.TensorBinding(tensor_parameter_name=name, accessor_name=name) for name in ("a", "b")],
        runtime_arg_schema=per_core,
        hw_config=metal.create_reader_datamovement_config(),
    )
    compute = metal.KernelSpec(
        unique_id="compute",
        source=kernel(add),
        dfb_bindings=[metal.ConsumerOf("a", "a"), metal.ConsumerOf("b", "b"), metal.ProducerOf("out", "out")],
        runtime_arg_schema=metal.KernelSpec.RuntimeArgSchema(runtime_arg_names=["tiles"]),
        hw_config=metal.ComputeHardwareConfig(),
    )
    writer = metal.KernelSpec(
        unique_id="writer",
        source=kernel(write_out),
        dfb_bindings=[metal.ConsumerOf("out", "out")],
        tensor_bindings=[metal.TensorBinding(tensor_parameter_name="out", accessor_name="out")],
        runtime_arg_schema=per_core,
        hw_config=metal.create_writer_datamovement_config(),
    )
    return metal.ProgramSpec(
        name="add",
        kernels=[reader, compute, writer],
        dataflow_buffers=buffers,
        tensor_parameters=[metal.TensorParameter(unique_id=name, spec=tensor_spec) for name in ("a", "b", "out")],
        work_units=[metal.WorkUnitSpec(name="all", kernels=["reader", "compute", "writer"], target_nodes=cores)],
    )


def run(device: ttnn.MeshDevice, height: int = 256, width: int = 256) -> Outcome:
    """Add two pairs of bfloat16 tensors with one program.

    They have height x width elements.
    """
    a, b, c = (to_device(random_bf16((height, width), seed), device) for seed in (1, 2, 3))
    out, again = empty((height, width), device), empty((height, width), device)
    tiles = height * width // 1024
    _, cores, many, few, more, less = metal.split_work_to_cores(metal.CoreCoord(4, 2), tiles)

    program = metal.MakeProgramFromSpec(device, specification(a.spec, cores))
    values, first = {}, 0
    for core in cores.cores():
        count = more if many.contains(core) else less
        values[core] = {"first": first, "tiles": count}
        first += count
    moving = metal.ProgramRunArgs.KernelRunArgs(runtime_arg_values=values)
    counting = {core: {"tiles": named["tiles"]} for core, named in values.items()}
    computing = metal.ProgramRunArgs.KernelRunArgs(runtime_arg_values=counting)
    arguments = metal.ProgramRunArgs(
        kernel_run_args={"reader": moving, "compute": computing, "writer": moving},
        tensor_args={"a": a, "b": b, "out": out},
    )
    metal.SetProgramRunArgs(program, arguments)
    queue = metal.command_queue(device)
    report = metal.enqueue_program(queue, program)
    metal.UpdateTensorArgs(program, {"a": a, "b": c, "out": again})
    metal.enqueue_program(queue, program)
    did = f"{tiles} tiles on {many.num_cores() + few.num_cores()} cores, twice"
    sums = {"same bits as ttnn.add": same_bits(out, ttnn.add(a, b)), "and again": same_bits(again, ttnn.add(a, c))}
    return Outcome(report, did, sums)


if __name__ == "__main__":
    main(run, "Element-wise add by specification")
