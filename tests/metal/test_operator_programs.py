"""Programs from the descriptors of operators return the bits of the operators."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch

import ttnn
from ttnn._ttnn.operations import experimental as fusion

ROWS, COLUMNS = 64, 96


def on_device(device: ttnn.MeshDevice, *shape: int, seed: int = 0, **options: Any) -> ttnn.Tensor:
    values = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
    return ttnn.from_torch(values, ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, **options)


def same_bits(a: ttnn.Tensor, b: ttnn.Tensor) -> bool:
    return torch.equal(ttnn.to_torch(a).view(torch.int16), ttnn.to_torch(b).view(torch.int16))


def core_set(first: int, last: int) -> ttnn.CoreRangeSet:
    return ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(first, 0), ttnn.CoreCoord(last, 0))])


class Norm:
    """A norm as a descriptor, and its tensors."""

    def __init__(
        self, input: ttnn.Tensor, cores: ttnn.CoreRangeSet | None, kind: str = "RMSNORM", **sides: Any
    ) -> None:
        params = ttnn.LayerNormParams()
        params.norm_type, params.eps = ttnn.LayerNormType[kind], 1e-5
        params.output_mem_config = input.memory_config()
        params.compute_kernel_config = ttnn.layernorm_default_compute_config(input.device().arch())
        shard = input.memory_config().shard_spec if input.is_sharded() else None
        params.program_config = ttnn.create_layernorm_program_config(shard)
        inputs = ttnn.LayerNormInputs(input)
        for name, tensor in sides.items():
            setattr(inputs, name, tensor)
        operation = ttnn.LayerNormDeviceOperation
        self.hash = operation.compute_program_hash(params, inputs)
        self.output = operation.create_output_tensors(params, inputs)
        factory = operation.select_program_factory(params, inputs)
        self.program = factory.create_descriptor(params, inputs, self.output, cores)
        self.tensors = [input, *sides.values()]
        self.call = partial(
            ttnn.rms_norm if kind == "RMSNORM" else ttnn.layer_norm,
            input,
            epsilon=1e-5,
            compute_kernel_config=params.compute_kernel_config,
            **sides,
        )


def test_two_norms_as_one_program(device: ttnn.MeshDevice) -> None:
    x, y = (on_device(device, ROWS, COLUMNS, seed=seed) for seed in (1, 2))
    weight, bias = (on_device(device, 1, COLUMNS, seed=seed) for seed in (3, 4))
    first = Norm(x, core_set(0, 1), weight=weight)
    second = Norm(y, core_set(2, 3), "LAYERNORM", weight=weight, bias=bias, residual_input_tensor=x)
    assert {form.buffer_index for cb in first.program.cbs for form in cb.format_descriptors} >= {0, 16}
    merged = ttnn.merge_program_descriptors([first.program, second.program])
    ttnn.generic_op([*first.tensors, *second.tensors, first.output, second.output], merged)
    assert same_bits(first.output, first.call())
    assert same_bits(second.output, second.call())
    assert not same_bits(first.output, second.output)


def test_norm_of_shards(device: ttnn.MeshDevice) -> None:
    shards = ttnn.MemoryConfig(
        ttnn.TensorMemoryLayout.WIDTH_SHARDED,
        ttnn.BufferType.L1,
        ttnn.ShardSpec(core_set(4, 6), [ROWS, 32], ttnn.ShardOrientation.ROW_MAJOR),
    )
    norm = Norm(on_device(device, ROWS, COLUMNS, memory_config=shards), None)
    assert norm.program.cbs[0].has_buffer()
    ttnn.generic_op([*norm.tensors, norm.output], norm.program)
    assert norm.output.memory_config() == shards
    assert same_bits(norm.output, norm.call())


def test_programs_on_the_same_core_are_not_merged(device: ttnn.MeshDevice) -> None:
    x = on_device(device, ROWS, COLUMNS)
    programs = [Norm(x, core_set(*cores)).program for cores in ((0, 1), (1, 2))]
    with pytest.raises(RuntimeError, match="use core"):
        ttnn.merge_program_descriptors(programs)


def test_hash_depends_on_options_and_specifications(device: ttnn.MeshDevice) -> None:
    x, y, wide = (on_device(device, ROWS, columns) for columns in (COLUMNS, COLUMNS, 2 * COLUMNS))
    assert Norm(x, None).hash == Norm(y, None).hash
    assert len({Norm(x, None).hash, Norm(wide, None).hash, Norm(x, None, "LAYERNORM").hash}) == 3


def fused(*programs: ttnn.ProgramDescriptor) -> ttnn.ProgramDescriptor:
    """Return a program with the arguments that code which fuses sources leaves."""
    named = [
        (f"phase_{phase}_{name}" if phase else name, value)
        for phase, program in enumerate(programs)
        for name, value in program.kernels[0].named_compile_time_args
    ]
    source = "\n".join(f"namespace phase_{phase} {{ void run() {{ x(); }} }}" for phase in range(len(programs)))
    source += f"\nnamespace phase_{len(programs)} {{ void run() {{}} }}"
    kernel = ttnn.KernelDescriptor(
        source,
        ttnn.KernelDescriptor.SourceType.SOURCE_CODE,
        programs[0].kernels[0].core_ranges,
        named_compile_time_args=named,
        config=ttnn.ReaderConfigDescriptor(),
    )
    return ttnn.ProgramDescriptor([kernel])


def test_fused_phases_run_in_their_order(device: ttnn.MeshDevice) -> None:
    x, weight = on_device(device, ROWS, COLUMNS), on_device(device, 1, COLUMNS, seed=1)
    first = Norm(x, core_set(0, 0), "LAYERNORM")
    second = Norm(first.output, core_set(0, 0), weight=weight)
    program = fused(first.program, second.program)
    ttnn.generic_op([x, first.output, weight, second.output], program)
    config = ttnn.layernorm_default_compute_config(device.arch())
    middle = ttnn.layer_norm(x, epsilon=1e-5, compute_kernel_config=config)
    expected = ttnn.rms_norm(middle, epsilon=1e-5, weight=weight, compute_kernel_config=config)
    assert same_bits(second.output, expected)

    # The same program on other tensors.
    tensors = [x, first.output, weight, second.output]
    slots = fusion.compute_address_slots(program, tensors)
    other = on_device(device, ROWS, COLUMNS, seed=5)
    state = fusion.FusionDispatchState([second.output.spec], [], [], program, slots, device)
    (result,) = state.dispatch([other, first.output, weight])
    middle = ttnn.layer_norm(other, epsilon=1e-5, compute_kernel_config=config)
    expected = ttnn.rms_norm(middle, epsilon=1e-5, weight=weight, compute_kernel_config=config)
    assert same_bits(result, expected)


def test_matmul_and_slice(device: ttnn.MeshDevice) -> None:
    a, b = on_device(device, ROWS, COLUMNS), on_device(device, COLUMNS, 64, seed=1)
    config = ttnn.MatmulMultiCoreReuseProgramConfig(
        compute_with_storage_grid_size=(2, 1),
        in0_block_w=3,
        out_subblock_h=1,
        out_subblock_w=2,
        per_core_M=1,
        per_core_N=2,
    )
    params, inputs = ttnn.MatmulParams(), ttnn.MatmulInputs()
    params.program_config, inputs.input_tensors = config, [a, b]
    params = ttnn.create_matmul_attributes(a, b, params, [])
    outputs = ttnn.MatmulDeviceOperation.create_output_tensors(params, inputs)
    program = ttnn.MatmulMultiCoreReuseOptimizedProgramFactory.create_descriptor(
        params, inputs, outputs, core_set(5, 6)
    )
    ttnn.generic_op([a, b, *outputs], program)
    assert same_bits(outputs[0], ttnn.matmul(a, b, program_config=config))

    # Shards of the result are the output blocks, on the allowed cores.
    config.allowed_worker_cores = core_set(0, 1)
    params.output_mem_config = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.BLOCK_SHARDED, ttnn.BufferType.L1)
    (spec,) = ttnn.MatmulDeviceOperation.compute_output_specs(params, inputs)
    assert (spec.memory_config.shard_spec.shape, spec.memory_config.shard_spec.grid) == ([32, 64], core_set(0, 1))

    bounds, tensors = ttnn.SliceParams(), ttnn.SliceInputs(a)
    bounds.slice_start, bounds.slice_end, bounds.step = ttnn.Shape([32, 32]), ttnn.Shape([64, 96]), ttnn.Shape([1, 1])
    output = ttnn.SliceDeviceOperation.create_output_tensors(bounds, tensors)
    program = ttnn.SliceTileProgramFactory.create_descriptor(bounds, tensors, output)
    ttnn.generic_op([a, output], program)
    assert same_bits(output, a[32:64, 32:96])


def test_missing_tensors_and_other_kernels_raise(device: ttnn.MeshDevice) -> None:
    norm = Norm(on_device(device, ROWS, COLUMNS), core_set(0, 0))
    other = on_device(device, ROWS, COLUMNS)
    with pytest.raises(ttnn.ArgumentError, match="not one of io_tensors"):
        ttnn.generic_op([other, norm.output], norm.program)
    kernel = ttnn.KernelDescriptor(lambda: None, core_ranges=core_set(3, 3), config=ttnn.ReaderConfigDescriptor())
    mixed = ttnn.merge_program_descriptors([norm.program, ttnn.ProgramDescriptor([kernel])])
    with pytest.raises(ttnn.UnsupportedError, match="other kernels"):
        ttnn.generic_op([*norm.tensors, norm.output], mixed)
    mixed = fused(norm.program)
    mixed.kernels[0].kernel_source += "\nnamespace phase_1 { void run() { y(); } }"
    with pytest.raises(ttnn.UnsupportedError, match=r"phases \[1\]"):
        ttnn.generic_op([*norm.tensors, norm.output], mixed)


def test_addresses_of_kernels_follow_the_tensors(device: ttnn.MeshDevice) -> None:
    x, y, moved = (on_device(device, 32, 32, seed=seed) for seed in (1, 2, 3))
    kernel = ttnn.KernelDescriptor(
        "kernel.cpp",
        core_ranges=core_set(0, 0),
        runtime_args=[(ttnn.CoreCoord(0, 0), [x.buffer_address(), 7, y.buffer_address(), 4096])],
        common_runtime_args=[y.buffer_address()],
        config=ttnn.ReaderConfigDescriptor(),
    )
    program = ttnn.ProgramDescriptor([kernel])
    slots = fusion.compute_address_slots(program, [x, y], [4096])
    from ttnn.metal.fusion import _patched

    patched = _patched(program, slots, [x, moved], [8192]).kernels[0]
    assert list(patched.runtime_args[0][0]) == [x.buffer_address(), 7, moved.buffer_address(), 8192]
    assert patched.common_runtime_args == [moved.buffer_address()]
    assert list(kernel.runtime_args[0][0]) == [x.buffer_address(), 7, y.buffer_address(), 4096]


WRONG: dict[str, Any] = {
    "options of another operator": lambda x: ttnn.LayerNormDeviceOperation.create_output_tensors(
        ttnn.MatmulParams(), ttnn.LayerNormInputs(x)
    ),
    "no tensors": lambda x: ttnn.SliceDeviceOperation.compute_output_specs(ttnn.SliceParams(), None),
    "no input": lambda x: ttnn.LayerNormDeviceOperation.compute_output_specs(
        ttnn.LayerNormParams(), ttnn.LayerNormInputs()
    ),
    "a number as input": lambda x: ttnn.LayerNormInputs(3),
    "a number as memory config": lambda x: setattr(ttnn.LayerNormParams(), "output_mem_config", 3),
    "a text as epsilon": lambda x: setattr(ttnn.LayerNormParams(), "eps", "1e-5"),
    "a number as output": lambda x: ttnn.LayerNormMultiCoreProgramFactory.create_descriptor(
        ttnn.LayerNormParams(), ttnn.LayerNormInputs(x), 3
    ),
    "too few arguments": lambda x: ttnn.LayerNormMultiCoreProgramFactory.create_descriptor(ttnn.LayerNormParams()),
    "two outputs": lambda x: _matmul_program(x, [x, x]),
    "no output": lambda x: _matmul_program(x, []),
    "bounds of other ranks": lambda x: _slice_spec(x, [0, 0], [1], []),
    "a step of 0": lambda x: _slice_spec(x, [0, 0], [32, 32], [0, 1]),
}


def _matmul_program(x: ttnn.Tensor, outputs: list[ttnn.Tensor]) -> ttnn.ProgramDescriptor:
    params, tensors = ttnn.MatmulParams(), ttnn.MatmulInputs()
    params.program_config = ttnn.MatmulMultiCoreReuseProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(1, 1), in0_block_w=1, out_subblock_h=1, out_subblock_w=1,
        per_core_M=1, per_core_N=1,
    )  # fmt: skip
    tensors.input_tensors = [x, x]
    return ttnn.MatmulMultiCoreReuseOptimizedProgramFactory.create_descriptor(params, tensors, outputs)


def _slice_spec(x: ttnn.Tensor, start: list[int], end: list[int], step: list[int]) -> ttnn.TensorSpec:
    params = ttnn.SliceParams()
    params.slice_start, params.slice_end, params.step = ttnn.Shape(start), ttnn.Shape(end), ttnn.Shape(step)
    return ttnn.SliceDeviceOperation.compute_output_specs(params, ttnn.SliceInputs(x))


@pytest.mark.parametrize("name", WRONG)
def test_wrong_options_and_tensors_raise_argument_error(name: str, device: ttnn.MeshDevice) -> None:
    with pytest.raises(ttnn.ArgumentError):
        WRONG[name](on_device(device, 32, 32))


def test_a_matmul_without_blocks_raises(device: ttnn.MeshDevice) -> None:
    params, tensors = ttnn.MatmulParams(), ttnn.MatmulInputs()
    tensors.input_tensors = [on_device(device, 32, 32)] * 2
    params.output_mem_config = ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG
    with pytest.raises(ttnn.ProgramConfigError, match="program_config must have blocks"):
        ttnn.MatmulDeviceOperation.compute_output_specs(params, tensors)
