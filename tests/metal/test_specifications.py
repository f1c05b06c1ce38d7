"""Specified programs: names reach kernels, runs have named arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import specs
import torch
from specs import (
    NODE,
    KernelArgs,
    RunArgs,
    Schema,
    alone,
    binding,
    copy_args,
    copying,
    moving,
    named,
    parameters,
    unit,
)

import ttnn
from ttnn import metal
from ttnn.base.exceptions import (
    AddressError,
    ArgumentError,
    KernelArgumentError,
    KernelAssertError,
    ProgramConfigError,
)
from ttnn.kernel_api import *

GRID = metal.CoreRange((0, 0), (1, 1))


def tiles(device: ttnn.MeshDevice, count: int, seed: int = 0, **more: Any) -> ttnn.Tensor:
    values = torch.rand((32, 32 * count), generator=torch.Generator().manual_seed(seed))
    return ttnn.from_torch(values, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, **more)


def same(one: ttnn.Tensor, other: ttnn.Tensor) -> bool:
    return ttnn.to_numpy(one).tobytes() == ttnn.to_numpy(other).tobytes()


def in_l1(shape: tuple[int, int], grid: metal.CoreRangeSet, shard: tuple[int, int]) -> ttnn.MemoryConfig:
    layout = ttnn.TensorMemoryLayout.HEIGHT_SHARDED if shard[1] == shape[1] else ttnn.TensorMemoryLayout.BLOCK_SHARDED
    spec = ttnn.ShardSpec(grid, shard, ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(layout, ttnn.BufferType.L1, spec)


# Runs.


def test_copy_program_by_specification_copies_its_tensor(device: ttnn.MeshDevice) -> None:
    source, target = tiles(device, 5), tiles(device, 5, 1)
    report = specs.run(device, copying(source.spec), copy_args(source, target, 5))
    assert same(source, target)
    assert [kernel.kernel for kernel in report.kernels] == ["writer", "reader"]
    assert report.notes == []


def test_runs_with_other_tensors_and_arguments(device: ttnn.MeshDevice) -> None:
    source, target, other = (tiles(device, 4, seed) for seed in range(3))
    program = metal.MakeProgramFromSpec(device, copying(source.spec))
    queue = metal.command_queue(device)
    metal.SetProgramRunArgs(program, copy_args(source, target, 4))
    metal.enqueue_program(queue, program)
    assert same(source, target)
    metal.UpdateTensorArgs(program, {"source": other, "target": RunArgs.TensorArgument(target)})
    metal.enqueue_program(queue, program)
    assert same(other, target)
    kernel = KernelArgs(runtime_arg_values=named(first=2))
    update = RunArgs(kernel_run_args={"reader": kernel}, tensor_args={"source": source})
    metal.UpdateProgramRunArgs(program, update)
    kernel = KernelArgs(runtime_arg_values=named(count=2))
    metal.UpdateProgramRunArgs(program, RunArgs(kernel_run_args={"reader": kernel, "writer": kernel}))
    metal.enqueue_program(queue, program)
    expected = np.concatenate([ttnn.to_numpy(source)[:, 64:128], ttnn.to_numpy(other)[:, 64:]], axis=1)
    assert np.array_equal(ttnn.to_numpy(target), expected)


def test_each_node_has_arguments_of_its_own(device: ttnn.MeshDevice) -> None:
    source, target = tiles(device, 8), tiles(device, 8, 1)
    values = {(x, y): {"first": 2 * (2 * y + x), "count": 2} for x in range(2) for y in range(2)}
    kernel = KernelArgs(runtime_arg_values=values)
    params = RunArgs(
        kernel_run_args={"reader": kernel, "writer": kernel}, tensor_args={"source": source, "target": target}
    )
    specs.run(device, copying(source.spec, nodes=GRID), params)
    assert same(source, target)


def test_kernel_runs_in_two_work_units(device: ttnn.MeshDevice) -> None:
    source, target = tiles(device, 2), tiles(device, 2, 1)
    spec = copying(source.spec)
    spec.kernels.append(
        moving(
            "other writer",
            specs.write_pages,
            reader=False,
            schema=Schema(runtime_arg_names=["first", "count"]),
            dfb_bindings=[metal.ConsumerOf("pages", "in")],
            tensor_bindings=[binding("target", "target")],
        )
    )
    spec.work_units = [unit(["reader", "writer"], (0, 0)), unit(["reader", "other writer"], (3, 2))]
    first, second = ({"first": tile, "count": 1} for tile in range(2))
    params = RunArgs(
        kernel_run_args={
            "reader": KernelArgs(runtime_arg_values={(0, 0): first, (3, 2): second}),
            "writer": KernelArgs(runtime_arg_values={(0, 0): first}),
            "other writer": KernelArgs(runtime_arg_values={(3, 2): second}),
        },
        tensor_args={"source": source, "target": target},
    )
    report = specs.run(device, spec, params)
    assert same(source, target)
    assert {kernel.core for kernel in report.kernels} == {(0, 0), (3, 2)}


def test_buffers_of_disjoint_nodes_share_numbers(device: ttnn.MeshDevice) -> None:
    spec = metal.ProgramSpec(name="many")
    for number in range(40):
        name = f"buffer{number}"
        spec.dataflow_buffers.append(metal.DataflowBufferSpec(unique_id=name, entry_size=32, num_entries=1))
    for half in range(2):
        ends = [
            end(f"buffer{number}", f"buffer{number}")
            for number in range(20 * half, 20 * half + 20)
            for end in (metal.ProducerOf, metal.ConsumerOf)
        ]
        spec.kernels.append(moving(f"kernel{half}", lambda: None, dfb_bindings=ends))
        spec.work_units.append(unit([f"kernel{half}"], (half, 0)))
    specs.run(device, spec)
    spec.work_units = [unit(["kernel0"], GRID), unit(["kernel1"], (5, 5))]
    spec.kernels[1].dfb_bindings += spec.kernels[0].dfb_bindings
    with pytest.raises(ProgramConfigError, match="more than 32 dataflow buffers"):
        metal.make_program_from_spec(device, spec)


# Arguments.


def test_kernels_receive_arguments_of_all_kinds(device: ttnn.MeshDevice) -> None:
    seen: list[Any] = []

    def kernel(late: int, *, shared: int, fixed: int, absent: int = 7) -> None:
        seen.append((late, shared, fixed, absent))
        seen.append([get_arg(args[name]) for name in ("early", "late", "shared", "fixed")])
        seen.append([get_vararg(i) for i in range(2)] + [get_common_vararg(i) for i in range(3)])
        seen.append([get_compile_time_vararg(i) for i in range(get_num_compile_time_varargs())])
        seen.append((args.get_token_if_present("early"), args.get_token_if_present("never"), get_arg(0)))

    schema = Schema(runtime_arg_names=["early", "late"], common_runtime_arg_names=["other", "shared"])
    more = metal.KernelAdvancedOptions(
        num_runtime_varargs=2, num_common_runtime_varargs=3, compile_time_varargs=[30, 31]
    )
    spec = alone(kernel, schema=schema, compile_time_args={"fixed": 5}, advanced_options=more)
    given = KernelArgs(
        runtime_arg_values=named(late=2, early=1),
        common_runtime_arg_values={"shared": 4, "other": 3},
        advanced_options=metal.AdvancedKernelRunArgs(
            runtime_varargs={NODE: [10, 11]}, common_runtime_varargs=[20, 21, -1]
        ),
    )
    specs.run(device, spec, RunArgs(kernel_run_args={"kernel": given}))
    assert seen == [
        (2, 4, 5, 7),
        [1, 2, 4, 5],
        [10, 11, 20, 21, 0xFFFF_FFFF],
        [30, 31],
        (RtaArg(0), None, 1),
    ]


def test_vararg_counts_differ_by_node(device: ttnn.MeshDevice) -> None:
    seen: dict[int, int] = {}

    def kernel() -> None:
        x = get_absolute_logical_x()
        seen[x] = sum(get_vararg(i) for i in range(x + 1))

    more = metal.KernelAdvancedOptions(num_runtime_varargs=1, num_runtime_varargs_per_node={(1, 0): 2})
    spec = alone(kernel, metal.CoreRange((0, 0), (1, 0)), advanced_options=more)
    given = metal.AdvancedKernelRunArgs(runtime_varargs={(0, 0): [5], (1, 0): [6, 7]})
    specs.run(device, spec, RunArgs(kernel_run_args={"kernel": KernelArgs(advanced_options=given)}))
    assert seen == {0: 5, 1: 13}


def test_kernel_sources_receive_defines(
    device: ttnn.MeshDevice, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = 'def kernel_main(n):\n    DPRINT("{} {}\\n", get_define("WHO"), n)\n'
    (tmp_path / "kernel.py").write_text(text)
    options = metal.KernelSpec.CompilerOptions(defines={"WHO": "me"})
    for source in (tmp_path / "kernel.py", metal.KernelSpec.SourceCode(text)):
        spec = alone(source, schema=Schema(runtime_arg_names=["n"]), compiler_options=options)  # type: ignore[arg-type]
        given = RunArgs(kernel_run_args={"kernel": KernelArgs(runtime_arg_values=named(n=3))})
        specs.run(device, spec, given)
    assert [line.partition("NC: ")[2] for line in capsys.readouterr().out.splitlines()] == ["me 3", "me 3"]


def test_programs_print_their_names(device: ttnn.MeshDevice) -> None:
    source, target = tiles(device, 2), tiles(device, 2, 1)
    spec = copying(source.spec)
    spec.kernels[0].compile_time_args = {"fixed": 3}
    spec.semaphores = [metal.SemaphoreSpec(unique_id="done", target_nodes=NODE)]
    spec.kernels[0].semaphore_bindings = [metal.SemaphoreBinding(semaphore_spec_name="done", accessor_name="done")]
    program = metal.make_program_from_spec(device, spec)
    assert "dfb in (CB 0); tensor target" in program.describe(device)
    metal.compile_program(device, program)
    metal.set_program_run_args(program, copy_args(source, target, 2))
    lines = [line.split("NoC")[1] for line in repr(program).splitlines() if "NoC" in line]
    assert lines == [
        " 1  first=0, count=2; dfb in (CB 0); tensor target",
        " 0  fixed=3, first=0, count=2; dfb out (CB 0); sem done (0); tensor source",
    ]


# Tensors.


def test_sharded_tensor_accessors_know_the_local_shard(device: ttnn.MeshDevice) -> None:
    grid = metal.CoreRangeSet([GRID])
    config = in_l1((128, 32), grid, (32, 32))
    values = torch.arange(128 * 32, dtype=torch.int32).reshape(128, 32)
    tensors = ttnn.from_torch(
        values, dtype=ttnn.int32, layout=ttnn.ROW_MAJOR_LAYOUT, device=device, memory_config=config
    )
    seen: dict[tuple[int, int], tuple[int, ...]] = {}

    def kernel() -> None:
        pages, own = TensorAccessor(tensor.t), LocalTensorAccessor(tensor.t, np.int32)
        shard = get_absolute_logical_y() * 2 + get_absolute_logical_x()
        local = pages.is_local_page(32 * shard) and not pages.is_local_page((32 * shard + 32) % 128)
        with own.scoped_lock(64, 2) as third:
            seen[get_absolute_logical_x(), get_absolute_logical_y()] = (local, own[33], int(third.read(2)[1]))
        assert own.get_bank_base_address() == own.local_mem().address == pages.get_bank_base_address()

    spec = alone(kernel, GRID, tensor_bindings=[binding("t", "t")], tensor_parameters=parameters(t=tensors.spec))
    specs.run(device, spec, RunArgs(tensor_args={"t": tensors}))
    assert seen == {
        (x, y): (True, 1024 * n + 33, 1024 * n + 65) for x, y, n in ((0, 0, 0), (1, 0, 1), (0, 1, 2), (1, 1, 3))
    }


def test_tensor_sequences_bind_accessors_in_order(device: ttnn.MeshDevice) -> None:
    tensors = {name: tiles(device, 1, seed) for seed, name in enumerate("abc")}
    seen: list[int] = []

    def kernel() -> None:
        accessors = make_abstract_tensor_accessor_wrappers(make_tensor_accessors(tensor.backwards))
        seen.extend(accessor.get_bank_base_address() for accessor in accessors)
        seen.append(len(tensor.none))
        assert tensor.get_token_if_present("d") is None
        assert tensor.get_token_if_present("a") == ta.a == tensor.backwards[2]

    sequence = metal.KernelAdvancedOptions.TensorBindingSequence
    more = metal.KernelAdvancedOptions(
        tensor_binding_sequences=[
            sequence(sequence_name="backwards", members=["c", "b", "a"]),
            sequence(sequence_name="none"),
        ]
    )
    spec = alone(
        kernel,
        tensor_bindings=[binding(name, name) for name in tensors],
        tensor_parameters=parameters(**{name: found.spec for name, found in tensors.items()}),
        advanced_options=more,
    )
    specs.run(device, spec, RunArgs(tensor_args=tensors))
    assert seen == [tensors[name].buffer_address() for name in "cba"] + [0]


def test_tensor_shapes_may_change_between_runs(device: ttnn.MeshDevice) -> None:
    seen: list[Any] = []

    def kernel() -> None:
        pages = TensorAccessor(tensor.t)
        seen.append((pages.get_aligned_page_size(), pages.tensor_volume()))

    def rows(height: int, width: int) -> ttnn.Tensor:
        return ttnn.from_torch(torch.ones(height, width), dtype=ttnn.bfloat16, device=device)

    spec = alone(kernel, tensor_bindings=[binding("t", "t")], tensor_parameters=parameters(t=rows(2, 64).spec))
    spec.tensor_parameters[0].relaxations.dynamic_tensor_shape = True
    program = metal.make_program_from_spec(device, spec)
    for shape in ((2, 64), (5, 100)):
        metal.set_program_run_args(program, RunArgs(tensor_args={"t": rows(*shape)}))
        metal.run_program(device, program)
    assert seen == [(128, 2), (224, 5)]
    spec.tensor_parameters[0].relaxations.match_page_size = True
    with pytest.raises(ProgramConfigError, match=r"the tensor of parameter 't' is .* expected .* with TensorSpec"):
        specs.run(device, spec, RunArgs(tensor_args={"t": rows(5, 100)}))
    specs.run(device, spec, RunArgs(tensor_args={"t": rows(9, 64)}))
    assert seen[2] == (128, 9)


def test_sharded_tensor_shapes_may_change_between_runs(device: ttnn.MeshDevice) -> None:
    grid = metal.CoreRangeSet([metal.CoreRange((0, 0), (1, 0))])
    seen: list[Any] = []

    def kernel() -> None:
        seen.append(TensorAccessor(tensor.t).tensor_volume())
        args_ = TensorAccessorArgs(0)
        seen.append((args_.sharded, args_.num_compile_time_args(), get_common_arg_val(1)))

    def rows(height: int) -> ttnn.Tensor:
        config = in_l1((height, 32), grid, (64, 32))
        return ttnn.from_torch(
            torch.ones(height, 32), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=config
        )

    spec = alone(kernel, tensor_bindings=[binding("t", "t")], tensor_parameters=parameters(t=rows(128).spec))
    spec.tensor_parameters[0].relaxations.dynamic_tensor_shape = True
    program = metal.make_program_from_spec(device, spec)
    for height in (128, 96):
        metal.set_program_run_args(program, RunArgs(tensor_args={"t": rows(height)}))
        metal.run_program(device, program)
    assert seen == [4, (True, 6, 4), 3, (True, 6, 3)]
    with pytest.raises(ProgramConfigError, match="only the shape in pages may differ"):
        metal.set_program_run_args(program, RunArgs(tensor_args={"t": rows(64)}))


def test_relaxed_parameter_accepts_equal_padded_shapes(device: ttnn.MeshDevice) -> None:
    source, target = tiles(device, 2), tiles(device, 2, 1)
    shorter = ttnn.from_torch(torch.ones(30, 60), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    spec = copying(source.spec)
    with pytest.raises(ProgramConfigError, match="the tensor of parameter 'source' is"):
        specs.run(device, spec, copy_args(shorter, target, 2))
    spec.tensor_parameters[0].relaxations.match_padded_shape_only = True
    specs.run(device, spec, copy_args(shorter, target, 2))
    assert float(ttnn.to_numpy(target)[29, 59]) == 1


# Dataflow buffers, semaphores, scratchpads.


def test_dataflow_buffer_uses_the_memory_of_a_tensor(device: ttnn.MeshDevice) -> None:
    config = in_l1((32, 64), metal.CoreRangeSet([metal.CoreRange((0, 0), (0, 0))]), (32, 64))
    source, other = (tiles(device, 2, seed, memory_config=config) for seed in (1, 2))
    target = tiles(device, 2)
    spec = copying(source.spec, target.spec)
    spec.dataflow_buffers[0].borrowed_from = "source"

    def publish() -> None:
        lent = DataflowBuffer(dfb.out)
        lent.reserve_back(2)
        lent.push_back(2)

    spec.kernels[0] = moving("reader", publish, dfb_bindings=[metal.ProducerOf("pages", "out")])
    program = metal.make_program_from_spec(device, spec)
    for lent in (source, other):
        arguments = copy_args(lent, target, 2)
        writer = {"writer": arguments.kernel_run_args["writer"]}
        metal.set_program_run_args(program, RunArgs(kernel_run_args=writer, tensor_args=arguments.tensor_args))
        metal.run_program(device, program)
        assert same(lent, target)


def test_buffer_aliases_share_memory(device: ttnn.MeshDevice) -> None:
    places: list[int] = []

    def kernel() -> None:
        one, other = DataflowBuffer(dfb.one), DataflowBuffer(dfb.other)
        one.reserve_back(1)
        other.reserve_back(1)
        places.extend(
            [one.get_write_ptr(), other.get_write_ptr(), other.get_entry_size(), other.get_total_num_entries()]
        )

    buffers = [
        metal.DataflowBufferSpec(
            unique_id=name,
            entry_size=size,
            num_entries=4096 // size,
            advanced_options=metal.DFBAdvancedOptions(alias_with=[other]),
        )
        for name, other, size in (("one", "other", 2048), ("other", "one", 1024))
    ]
    ends = [end(name, name) for name in ("one", "other") for end in (metal.ProducerOf, metal.ConsumerOf)]
    specs.run(device, alone(kernel, dfb_bindings=ends, dataflow_buffers=buffers))
    assert places[0] == places[1]
    assert places[2:] == [1024, 4]


def test_bytes_written_through_one_alias_are_there_for_the_other(device: ttnn.MeshDevice) -> None:
    found: list[int] = []

    def kernel() -> None:
        one, other = DataflowBuffer(dfb.one), DataflowBuffer(dfb.other)
        one.reserve_back(1)
        L1Pointer(one.get_write_ptr()).write([7] * 512)
        one.push_back(1)
        one.wait_front(1)
        one.pop_front(1)
        other.reserve_back(1)
        other.push_back(1)
        other.wait_front(1)
        found.append(L1Pointer(other.get_read_ptr())[3])
        other.pop_front(1)

    buffers = [
        metal.DataflowBufferSpec(
            unique_id=name,
            entry_size=2048,
            num_entries=2,
            advanced_options=metal.DFBAdvancedOptions(alias_with=[other]),
        )
        for name, other in (("one", "other"), ("other", "one"))
    ]
    ends = [end(name, name) for name in ("one", "other") for end in (metal.ProducerOf, metal.ConsumerOf)]
    specs.run(device, alone(kernel, dfb_bindings=ends, dataflow_buffers=buffers))
    assert found == [7]


def test_buffer_sizes_are_overridden_for_a_run(device: ttnn.MeshDevice) -> None:
    sizes: list[tuple[int, int]] = []

    def kernel() -> None:
        sizes.append((DataflowBuffer(dfb.b).get_entry_size(), DataflowBuffer(dfb.b).get_total_num_entries()))

    buffer = metal.DataflowBufferSpec(unique_id="b", entry_size=64, num_entries=2)
    ends = [metal.ProducerOf("b", "b"), metal.ConsumerOf("b", "b")]
    program = metal.make_program_from_spec(device, alone(kernel, dfb_bindings=ends, dataflow_buffers=[buffer]))
    override = RunArgs.DFBRunOverrides
    for change, params in (
        (metal.set_program_run_args, RunArgs(dfb_run_overrides={"b": override(num_entries=3)})),
        (metal.update_program_run_args, RunArgs(dfb_run_overrides={"b": override(entry_size=32)})),
        (metal.update_program_run_args, RunArgs()),
        (metal.set_program_run_args, RunArgs()),
    ):
        change(program, params)
        metal.run_program(device, program)
    assert sizes == [(64, 3), (32, 3), (32, 3), (64, 2)]
    with pytest.raises(ProgramConfigError, match="'b' of 0 entries of 64 B"):
        metal.set_program_run_args(program, RunArgs(dfb_run_overrides={"b": override(num_entries=0)}))


def test_semaphores_of_other_nodes_are_incremented(device: ttnn.MeshDevice) -> None:
    seen: list[int] = []
    place = device.worker_core_from_logical_core(metal.CoreCoord(1, 0))

    def signal() -> None:
        Semaphore(sem.theirs).up(3, Noc(), get_arg(args.x), get_arg(args.y))
        noc_async_atomic_barrier()

    def wait() -> None:
        mine = Semaphore(sem.mine)
        mine.wait_min(3)
        seen.append(mine.value())

    spec = metal.ProgramSpec(
        name="signal",
        kernels=[
            moving(
                "signal",
                signal,
                compile_time_args={"x": place.x, "y": place.y},
                semaphore_bindings=[metal.SemaphoreBinding(semaphore_spec_name="done", accessor_name="theirs")],
            ),
            moving(
                "wait",
                wait,
                semaphore_bindings=[metal.SemaphoreBinding(semaphore_spec_name="done", accessor_name="mine")],
            ),
        ],
        semaphores=[
            metal.SemaphoreSpec(unique_id="unused", target_nodes=(1, 0)),
            metal.SemaphoreSpec(unique_id="done", target_nodes=(1, 0)),
        ],
        work_units=[unit(["signal"], (0, 0)), unit(["wait"], (1, 0))],
    )
    specs.run(device, spec)
    assert seen == [3]


def scratchpad(size: int, kernel: Any, **more: Any) -> metal.ProgramSpec:
    return alone(
        kernel,
        scratchpad_bindings=[metal.ScratchpadBinding(scratchpad_spec_name="pad", accessor_name="pad")],
        scratchpads=[metal.ScratchpadSpec(unique_id="pad", size_per_node=size, **more)],
    )


def test_scratchpads_are_written_and_read(device: ttnn.MeshDevice) -> None:
    seen: list[Any] = []

    def kernel() -> None:
        pad = Scratchpad(scratch.pad, np.float32)
        for index in range(pad.size()):
            pad[index] = index / 2
        seen.append((pad.size(), pad.size_in_bytes(), pad.get_dataformat(), [float(value) for value in pad]))
        with pad.scoped_lock(2, 2) as half:
            seen.append(half.read(2).tolist())
        noc = Noc()
        noc.async_write(
            pad, UnicastEndpoint(), 16, {}, {"noc_x": my_x[0], "noc_y": my_y[0], "addr": pad.get_base_address() + 16}
        )
        noc.async_write_barrier()
        seen.append([float(value) for value in pad])

    specs.run(device, scratchpad(32, kernel))
    specs.run(device, scratchpad(32, kernel, data_format_metadata=metal.DataFormat.Float32))
    values = [index / 2 for index in range(8)]
    assert seen[0] == (8, 32, 255, values)
    assert seen[1] == [1.0, 1.5]
    assert seen[2] == values[:4] * 2
    assert seen[3][2] == metal.DataFormat.Float32.value


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        (r"element 8 of scratch\.pad, which has 8", lambda: Scratchpad(scratch.pad)[8]),
        (r"element 8 of scratch\.pad, which has 8", lambda: Scratchpad(scratch.pad).scoped_lock(7, 2).__enter__()),
        ("32 B are not a multiple of", lambda: Scratchpad(scratch.pad, [("a", "u4", 3)])),
    ],
)
def test_access_past_a_scratchpad_raises(device: ttnn.MeshDevice, text: str, kernel: Any) -> None:
    with pytest.raises(KernelAssertError, match=text):
        specs.run(device, scratchpad(32, lambda: kernel() and None))


def test_scratchpads_hold_nothing_at_first(device: ttnn.MeshDevice) -> None:
    with pytest.raises(AddressError, match=r"these 4 B of .* were never written"):
        specs.run(device, scratchpad(32, lambda: Scratchpad(scratch.pad)[0] and None))


def test_scratchpads_end_with_their_program(device: ttnn.MeshDevice) -> None:
    before = device.engine.allocated_bytes()
    program = metal.make_program_from_spec(device, scratchpad(4096, lambda: None))
    assert device.engine.allocated_bytes() > before
    del program
    assert device.engine.allocated_bytes() == before


# Compute kernels.


def test_compute_settings_reach_the_kernel(device: ttnn.MeshDevice) -> None:
    config = metal.ComputeHardwareConfig(
        fpu_math_fidelity=metal.MathFidelity.LoFi,
        sfpu_precision_mode=metal.Precision.Approximate,
        enable_32_bit_dest=True,
        double_buffer_dest=False,
        unpack_modes={"b": metal.UnpackMode.UnpackToDest},
        config_1xx=metal.ComputeHardwareConfig.Compute1XXConfig(bfp_pack_precision_mode=metal.Precision.Precise),
    )
    buffers = [
        metal.DataflowBufferSpec(
            unique_id=name,
            entry_size=4096,
            num_entries=1,
            data_format_metadata=ttnn.float32,
            tile_format_metadata=ttnn.Tile((32, 32)),
        )
        for name in ("a", "b")
    ]
    ends = [end(name, name) for name in ("a", "b") for end in (metal.ProducerOf, metal.ConsumerOf)]
    config.unpack_modes = {"a": metal.UnpackMode.UnpackToSrc, "b": metal.UnpackMode.UnpackToDest}
    kernel = metal.KernelSpec(unique_id="compute", source=lambda: None, hw_config=config, dfb_bindings=ends)
    spec = metal.ProgramSpec(kernels=[kernel], dataflow_buffers=buffers, work_units=[unit(["compute"])])
    program = metal.make_program_from_spec(device, spec)
    (made,) = program.kernels
    assert isinstance(made.config, metal.ComputeConfig)
    found = made.config
    assert (found.math_fidelity, found.fp32_dest_acc_en, found.dst_full_sync_en) == (
        metal.MathFidelity.LoFi,
        True,
        True,
    )
    assert (found.bfp8_pack_precise, found.math_approx_mode) == (True, True)
    assert [mode.name for mode in found.unpack_to_dest_mode[:3]] == ["Default", "UnpackToDestFp32", "Default"]
    metal.run_program(device, program)


def test_workload_runs_its_programs_in_order(device: ttnn.MeshDevice) -> None:
    source, target = tiles(device, 2), tiles(device, 2, 1)
    spec = copying(source.spec)
    whole = metal.MeshCoordinateRange(device.shape)
    for workload in (
        metal.MakeMeshWorkloadFromSpec(device, spec),
        metal.MakeMeshWorkloadFromSpecs(device, {whole: spec}),
    ):
        (program,) = workload.get_programs().values()
        metal.SetProgramRunArgs(program, copy_args(source, target, 2))
        metal.enqueue_mesh_workload(device.mesh_command_queue(), workload)
        assert same(source, target)
        source = tiles(device, 2, 2)


# Mistakes.


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        (r"args\.never: kernel kernel has no such name, it has there", lambda: get_arg(args.never)),
        (r"dfb\.never: kernel kernel has no such name, it has none", lambda: DataflowBuffer(dfb.never)),
        (r"sem\.never: .* none", lambda: Semaphore(sem.never)),
        (r"tensor\.never: .* none", lambda: TensorAccessor(tensor.never)),
        (r"scratch\.never: .* none", lambda: Scratchpad(scratch.never)),
        (r"get_vararg: argument 0 is read, the host gave kernel kernel 0", lambda: get_vararg(0)),
        (r"get_common_vararg: argument 1 is read, the host gave kernel kernel 0", lambda: get_common_vararg(1)),
        (r"get_compile_time_vararg: argument 0 is read", lambda: get_compile_time_vararg(0)),
        (r"get_arg: expected a name of `args`, got 'there'", lambda: get_arg("there")),
        (r"TensorAccessor: bank_base_address is missing", lambda: TensorAccessor(TensorAccessorArgs(0))),
    ],
)
def test_unbound_names_raise_in_the_kernel(device: ttnn.MeshDevice, text: str, kernel: Any) -> None:
    source = tiles(device, 1)
    more = {"tensor_bindings": [binding("t", "t")], "tensor_parameters": parameters(t=source.spec)}
    if "tensor" in text:
        more = {}
    spec = alone(lambda: kernel() and None, compile_time_args={"there": 1}, **more)
    with pytest.raises(KernelArgumentError, match=text):
        specs.run(device, spec, RunArgs(tensor_args={"t": source} if more else {}))


def test_dram_tensors_have_no_part_of_a_core(device: ttnn.MeshDevice) -> None:
    source = tiles(device, 1)
    spec = alone(
        lambda: LocalTensorAccessor(tensor.t) and None,
        tensor_bindings=[binding("t", "t")],
        tensor_parameters=parameters(t=source.spec),
    )
    with pytest.raises(KernelArgumentError, match=r"tensor\.t is in DRAM, not on a core"):
        specs.run(device, spec, RunArgs(tensor_args={"t": source}))


def test_classic_kernels_have_no_names(device: ttnn.MeshDevice) -> None:
    program = metal.create_program()
    metal.create_kernel(program, lambda: get_arg(args.tiles) and None, NODE, metal.DataMovementConfig())
    with pytest.raises(
        KernelArgumentError, match=r"args\.tiles: kernel <lambda> has no named bindings; they require a Kern"
    ):
        metal.run_program(device, program)


def test_binding_names_may_be_python_keywords(device: ttnn.MeshDevice) -> None:
    seen: list[int] = []
    ends = [metal.ProducerOf("b", "in"), metal.ConsumerOf("b", "in")]
    buffer = metal.DataflowBufferSpec(unique_id="b", entry_size=64, num_entries=2)
    spec = alone(lambda: seen.append(dfb.in_ == dfb["in"] == 0), dfb_bindings=ends, dataflow_buffers=[buffer])
    specs.run(device, spec)
    assert seen == [True]


def mistaken(device: ttnn.MeshDevice, how: str) -> None:
    source, target = tiles(device, 2), tiles(device, 2, 1)
    program = metal.make_program_from_spec(device, copying(source.spec))
    good = copy_args(source, target, 2)
    kernels, tensors = dict(good.kernel_run_args), dict(good.tensor_args)
    row = dict(kernels["reader"].runtime_arg_values[NODE])
    if how == "run":
        metal.run_program(device, program)
    if how == "update":
        metal.update_program_run_args(program, good)
    if how == "update tensors":
        metal.update_tensor_args(program, tensors)
    if how == "no kernel":
        del kernels["reader"]
    if how == "other kernel":
        kernels["third"] = kernels["reader"]
    if how == "no tensor":
        del tensors["target"]
    if how == "other tensor":
        tensors["third"] = source
    if how == "host tensor":
        tensors["source"] = ttnn.from_torch(torch.ones(32, 64), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
    if how == "no value":
        kernels["reader"] = KernelArgs(runtime_arg_values={NODE: {"first": 1}})
    if how == "other value":
        kernels["reader"] = KernelArgs(runtime_arg_values={NODE: {**row, "last": 1}})
    if how == "no word":
        kernels["reader"] = KernelArgs(runtime_arg_values={NODE: {**row, "first": 1 << 32}})
    if how == "other node":
        kernels["reader"] = KernelArgs(runtime_arg_values={NODE: row, (1, 1): row})
    if how == "no node":
        kernels["reader"] = KernelArgs()
    if how == "varargs":
        more = metal.AdvancedKernelRunArgs(runtime_varargs={NODE: [1]})
        kernels["reader"] = KernelArgs(runtime_arg_values={NODE: row}, advanced_options=more)
    if how == "common varargs":
        more = metal.AdvancedKernelRunArgs(common_runtime_varargs=[1])
        kernels["reader"] = KernelArgs(runtime_arg_values={NODE: row}, advanced_options=more)
    if how == "classic":
        metal.set_runtime_args(program, program.kernels[0], NODE, [0, 2])
    if how == "classic common":
        metal.set_common_runtime_args(program, program.kernels[0], [0, 2])
    if how == "classic program":
        program = metal.create_program()
    if how == "no params":
        metal.set_program_run_args(program, {})  # type: ignore[arg-type]
    metal.set_program_run_args(program, RunArgs(kernel_run_args=kernels, tensor_args=tensors))


@pytest.mark.parametrize(
    ("how", "error", "text"),
    [
        ("run", ProgramConfigError, "set the arguments of program 'copy' with set_program_run_args"),
        ("update", ProgramConfigError, "call set_program_run_args first"),
        ("update tensors", ProgramConfigError, "call set_program_run_args first"),
        ("no kernel", KernelArgumentError, "kernel 'reader' has arguments and gets none"),
        ("other kernel", KernelArgumentError, r"no kernel 'third', only \['reader', 'writer'\]"),
        ("no tensor", KernelArgumentError, "tensor parameter 'target' gets no tensor"),
        ("other tensor", KernelArgumentError, "no tensor parameter 'third'"),
        ("host tensor", ttnn.StorageError, "the tensor of parameter 'source'"),
        ("no value", KernelArgumentError, "kernel 'reader' on node 0-0 gets no value for 'count'"),
        ("other value", KernelArgumentError, r"has no argument 'last', only \['first', 'count'\]"),
        ("no word", KernelArgumentError, "argument 0 must be a 32-bit integer"),
        ("other node", KernelArgumentError, "kernel 'reader' does not run on node 1-1"),
        ("no node", KernelArgumentError, "on node 0-0 gets no value for 'first'"),
        ("varargs", KernelArgumentError, "on node 0-0 takes 0 varargs, got 1"),
        ("common varargs", KernelArgumentError, "takes 0 common varargs, got 1"),
        ("classic", KernelArgumentError, "kernel reader was made from a KernelSpec"),
        ("classic common", KernelArgumentError, "kernel reader was made from a KernelSpec"),
        ("classic program", ProgramConfigError, "was not made from a ProgramSpec"),
        ("no params", ArgumentError, "expected ProgramRunArgs, got dict"),
    ],
)
def test_wrong_run_arguments_raise(device: ttnn.MeshDevice, how: str, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        mistaken(device, how)
