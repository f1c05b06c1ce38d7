"""`ttnn.generic_op`: runs the programs that descriptors describe."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from typing import Any

from ttnn.base.call import as_integer, shown
from ttnn.base.enums import DataMovementProcessor
from ttnn.base.exceptions import ArgumentError, MemoryConfigError, ProgramConfigError, UnsupportedError
from ttnn.base.observers import blocked, observed
from ttnn.base.tile import Tile
from ttnn.device.chip import Chip
from ttnn.device.mesh_device import MeshDevice
from ttnn.device.queues import current_queue
from ttnn.metal.circular_buffers import create_circular_buffer
from ttnn.metal.configs import NOC_0, NOC_1, CircularBufferConfig, ComputeConfig, DataMovementConfig, format_code
from ttnn.metal.descriptors import (
    CBDescriptor,
    CBFormatDescriptor,
    ComputeConfigDescriptor,
    DataMovementConfigDescriptor,
    KernelDescriptor,
    MeshProgramDescriptor,
    ProgramDescriptor,
    ReaderConfigDescriptor,
    SemaphoreDescriptor,
    WriterConfigDescriptor,
    arguments,
    device_of,
    required,
)
from ttnn.metal.distributed import check_apart, chips_of
from ttnn.metal.layout import lay_out
from ttnn.metal.operator_steps import operator_steps, run_steps, tensors_by_place
from ttnn.metal.program import Program, create_kernel
from ttnn.metal.program_parts import shared_core
from ttnn.metal.queues import Caller, command_queue, enqueue_for
from ttnn.metal.report import Report
from ttnn.metal.runtime_args import set_common_runtime_args, set_runtime_args
from ttnn.metal.semaphores import MAX_SEMAPHORES, semaphore_value
from ttnn.metal.sources import KernelFunction, kernel_from_file, kernel_from_text
from ttnn.tensor.tensor import Tensor, part_on

__all__ = ["compute_program_descriptor_hash", "generic_op", "program_from_descriptor"]


def _config(descriptor: KernelDescriptor) -> DataMovementConfig | ComputeConfig:
    common: dict[str, Any] = {
        "compile_args": descriptor.compile_time_args,
        "defines": dict(descriptor.defines),
        "named_compile_args": dict(descriptor.named_compile_time_args),
    }
    config = descriptor.config
    if isinstance(config, ReaderConfigDescriptor):
        return DataMovementConfig(processor=DataMovementProcessor.RISCV_1, noc=NOC_0, **common)
    if isinstance(config, WriterConfigDescriptor):
        return DataMovementConfig(processor=DataMovementProcessor.RISCV_0, noc=NOC_1, **common)
    if isinstance(config, DataMovementConfigDescriptor):
        return DataMovementConfig(processor=config.processor, noc=config.noc, noc_mode=config.noc_mode, **common)
    if isinstance(config, ComputeConfigDescriptor):
        return ComputeConfig(
            math_fidelity=config.math_fidelity,
            fp32_dest_acc_en=config.fp32_dest_acc_en,
            dst_full_sync_en=config.dst_full_sync_en,
            unpack_to_dest_mode=config.unpack_to_dest_mode,
            bfp8_pack_precise=config.bfp8_pack_precise,
            math_approx_mode=config.math_approx_mode,
            **common,
        )
    raise ArgumentError(f"KernelDescriptor: config must be one of the config descriptors, got {config!r}")


def _function(descriptor: KernelDescriptor) -> KernelFunction:
    source = descriptor.kernel_source
    if isinstance(source, str):
        if descriptor.source_type is KernelDescriptor.SourceType.SOURCE_CODE:
            return kernel_from_text("generic_op", source)
        return kernel_from_file("generic_op", source)
    if source is None or not callable(source):
        raise ArgumentError(
            "generic_op: kernel_source must be a Python function over ttnn.kernel_api, or a file or text of C++ or "
            f"Python, got {source!r}"
        )
    return source


def _add_circular_buffer(program: Program, cb: CBDescriptor) -> None:
    config = CircularBufferConfig(cb.total_size)
    for form in cb.format_descriptors:
        config.set_data_format(form.buffer_index, form.data_format)
        _add_format(config, form)
    for form in cb.remote_format_descriptors:
        config.remote_index(form.buffer_index).set_data_format(form.data_format)
        _add_format(config, form)
    if cb.buffer is not None:
        config.set_globally_allocated_address(cb.buffer, cb.address_offset)
    elif cb.address_offset:
        raise MemoryConfigError("CBDescriptor: address_offset is only for circular buffers in a tensor")
    create_circular_buffer(program, cb.core_ranges, config, cb._global)


def _add_format(config: CircularBufferConfig, form: CBFormatDescriptor) -> None:
    config.set_page_size(form.buffer_index, form.page_size)
    if form.tile is not None:
        config.set_tile_dims(form.buffer_index, Tile((form.tile.height, form.tile.width)))
    if form.face_geometry is not None:
        raise UnsupportedError("CBFormatDescriptor: face_geometry follows from the tile; leave it None")


def _add_semaphore(program: Program, semaphore: SemaphoreDescriptor) -> None:
    if as_integer(semaphore.id) is None:
        raise ArgumentError(f"SemaphoreDescriptor: id must be an int, got {semaphore.id!r}")
    if not 0 <= semaphore.id < MAX_SEMAPHORES:
        raise MemoryConfigError(
            f"SemaphoreDescriptor: id {shown(semaphore.id)}; a core has semaphores 0 to {MAX_SEMAPHORES - 1}"
        )
    for id, cores, _ in program.semaphores:
        core = shared_core(cores, semaphore.core_ranges) if id == semaphore.id else None
        if core is not None:
            raise MemoryConfigError(f"SemaphoreDescriptor: core {core} has two semaphores with id {id}")
    value = semaphore_value("SemaphoreDescriptor", semaphore.initial_value)
    program.semaphores.append((semaphore.id, semaphore.core_ranges, value))


def program_from_descriptor(descriptor: ProgramDescriptor) -> Program:
    """Return the program that a descriptor describes.

    Raises:
        UnsupportedError: a table of programs to reload.
        ArgumentError, MemoryConfigError, KernelArgumentError: parts that contradict each other.
    """
    if not isinstance(descriptor, ProgramDescriptor):
        raise ArgumentError(f"generic_op: expected a ProgramDescriptor, got {descriptor!r}")
    if descriptor.reload_table_addr is not None or not descriptor.reload_core_ranges.empty():
        raise UnsupportedError("generic_op: reload_table_addr and reload_core_ranges are not modelled")
    program = Program()
    for cb in descriptor.cbs:
        _add_circular_buffer(program, cb)
    for semaphore in descriptor.semaphores:
        _add_semaphore(program, semaphore)
    for kernel in descriptor.kernels:
        added = create_kernel(program, _function(kernel), kernel.core_ranges, _config(kernel))
        added.include_paths = tuple(os.fspath(path) for path in kernel.compiler_include_paths)
        set_common_runtime_args(program, added, kernel.common_runtime_args)
        for core, values in arguments(kernel.runtime_args):
            set_runtime_args(program, added, core, values)
    return program


def compute_program_descriptor_hash(program_descriptor: ProgramDescriptor) -> int:
    """Return the program hash, which ignores runtime arguments and buffer addresses.

    It is `custom_program_hash` where that is set. It does not depend on the process.
    """
    required("compute_program_descriptor_hash", program_descriptor, ProgramDescriptor)
    if program_descriptor.custom_program_hash is not None:
        return program_descriptor.custom_program_hash
    text = "\n".join(_facts(program_descriptor))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def _facts(descriptor: ProgramDescriptor) -> Iterator[str]:
    for kernel in descriptor.kernels:
        source = kernel.kernel_source
        name = source if isinstance(source, str) else f"{source.__module__}.{source.__qualname__}" if source else ""
        code = getattr(source, "__code__", None)
        body = hashlib.sha256(code.co_code).hexdigest() if code is not None else ""
        config = vars(kernel.config) if kernel.config is not None else {}
        yield f"{name} {body} {kernel.core_ranges} {kernel.compile_time_args} {kernel.named_compile_time_args}"
        yield f"{kernel.defines} {type(kernel.config).__name__} {config}"
        if kernel.compiler_include_paths:
            yield f"{kernel.compiler_include_paths}"
    for semaphore in descriptor.semaphores:
        yield f"semaphore {semaphore.id} {semaphore.core_ranges} {semaphore.initial_value}"
    for cb in descriptor.cbs:
        yield f"cb {cb.total_size} {cb.core_ranges} {cb.address_offset}"
        yield f"{cb.has_buffer()} {cb.has_global_circular_buffer()}"
        for form in (*cb.format_descriptors, *cb.remote_format_descriptors):
            tile = (form.tile.height, form.tile.width) if form.tile is not None else None
            faces = vars(form.face_geometry) if form.face_geometry is not None else None
            yield f"{form.buffer_index} {format_code(form.data_format)} {form.page_size} {tile} {faces}"


def generic_op(io_tensors: Sequence[Tensor], program_descriptor: ProgramDescriptor | MeshProgramDescriptor) -> Tensor:
    """Run a program and return its last tensor, the output.

    A program from the descriptors of operators runs the operators.

    Args:
        io_tensors: Inputs, then the output; all on one device.
        program_descriptor: The program; kernels in C++ or Python. It runs on every chip that has the tensors. A
            `MeshProgramDescriptor` has programs for ranges of chips.

    Raises:
        ProgramConfigError: fewer than two tensors, tensors of two devices, no program, or no chip with all tensors.
        MemoryConfigError: two programs have a chip in common.
        StorageError: a tensor is not on a device.
        KernelError: the program failed.
    """
    output = _output("generic_op", io_tensors)

    def run() -> Tensor:
        if not blocked():
            programs = _programs(device_of(output), io_tensors, program_descriptor)
            steps = [(chips, operator_steps(program)) for chips, program in programs]
            if not any(calls for _, calls in steps):
                generic_op_report(output, program_descriptor, tuple(io_tensors))
            elif all(calls for _, calls in steps):
                for chips, calls in steps:
                    run_steps(calls, tensors_by_place([_on_chips(tensor, chips) for tensor in io_tensors]))
            else:
                raise UnsupportedError("generic_op: operators on some chips and kernels on others are not modelled")
        return output

    return observed("ttnn.generic_op", (io_tensors, program_descriptor), run)


def prepare_generic_op(
    io_tensors: Sequence[Tensor], program_descriptor: ProgramDescriptor | MeshProgramDescriptor
) -> None:
    """Check a program and compile its kernels for `ttnn.generic_op`.

    Nothing runs.

    Args:
        io_tensors: Inputs, then the output; all on one device.
        program_descriptor: The program. A `MeshProgramDescriptor` has programs for ranges of chips.

    Raises:
        ProgramConfigError: fewer than two tensors, or tensors of two devices.
        StorageError: a tensor is not on a device.
        KernelCompileError: a kernel does not compile.
        DeviceError, MemoryConfigError, KernelArgumentError: the device cannot run the program.
    """
    device = device_of(_output("experimental.prepare_generic_op", io_tensors))
    for _, program in _programs(device, io_tensors, program_descriptor):
        if not operator_steps(program):
            lay_out(device, program_from_descriptor(program))


def _output(name: str, io_tensors: Sequence[Tensor]) -> Tensor:
    if not isinstance(io_tensors, (list, tuple)) or not all(isinstance(tensor, Tensor) for tensor in io_tensors):
        raise ArgumentError(f"{name}: io_tensors must be a list of tensors, got {io_tensors!r}")
    if len(io_tensors) < 2:
        sentence = "io_tensors must contain at least one input tensor and one output tensor"
        raise ProgramConfigError(f"{name}: {len(io_tensors)} tensors", vendor=sentence)
    for tensor in io_tensors:
        tensor._require_device(name, "every tensor of io_tensors")
    output: Tensor = io_tensors[-1]
    for tensor in io_tensors:
        if tensor.device() is not output.device():
            raise ProgramConfigError(f"{name}: the tensors of io_tensors are on different devices")
    return output


def _programs(
    device: MeshDevice, io_tensors: Sequence[Tensor], program: ProgramDescriptor | MeshProgramDescriptor
) -> list[tuple[Sequence[Chip], ProgramDescriptor]]:
    """Return programs with the chips that run them."""
    if isinstance(program, ProgramDescriptor):
        return [(_chips_with(device, io_tensors), program)]
    if not isinstance(program, MeshProgramDescriptor):
        raise ArgumentError(f"generic_op: expected a ProgramDescriptor, got {program!r}")
    if not program.mesh_programs:
        raise ProgramConfigError("generic_op: the MeshProgramDescriptor has no program")
    ranges = list(program.mesh_programs)
    for index, chips in enumerate(ranges):
        check_apart("generic_op", chips, ranges[:index])
    return [(chips_of("generic_op", device, chips), part) for chips, part in program.mesh_programs.items()]


def _chips_with(device: MeshDevice, io_tensors: Sequence[Tensor]) -> Sequence[Chip]:
    """Return the chips that have all tensors."""
    if not device._several:
        return device.chips
    places = set.intersection(*(set(tensor.buffers[0].places) for tensor in io_tensors))
    if not places:
        raise ProgramConfigError("generic_op: no chip has all tensors of io_tensors")
    return [chip for chip in device.chips if chip.place in places]


def _on_chips(tensor: Tensor, chips: Sequence[Chip]) -> Tensor:
    """Return a tensor on the chips of a program."""
    places = [chip.place for chip in chips]
    return tensor if tensor.buffers[0].places == sorted(places) else part_on(tensor, places)


def generic_op_report(
    output: Tensor,
    program_descriptor: ProgramDescriptor | MeshProgramDescriptor,
    io_tensors: tuple[Tensor, ...] = (),
) -> Report | None:
    """Run a program on a tensor's device; return its report.

    None while a trace is captured.

    Args:
        output: The tensor.
        program_descriptor: The program.
        io_tensors: All tensors, for captures and profiles.
    """
    device = device_of(output)
    described = _programs(device, io_tensors or (output,), program_descriptor)
    programs = [(chips, program_from_descriptor(program)) for chips, program in described]
    queue = command_queue(device, current_queue())
    return enqueue_for(Caller("ttnn.generic_op", io_tensors), queue, programs)
