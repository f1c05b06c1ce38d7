"""Circular buffer addresses of a program, and its engine rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ttnn.base.core_range import CoreRange, CoreRangeSet, check_in_grid
from ttnn.base.enums import BufferType, MathFidelity, UnpackToDestMode
from ttnn.base.exceptions import DeviceError, KernelArgumentError, MemoryConfigError
from ttnn.device.mesh_device import MeshDevice
from ttnn.kernel_api.context import KernelContext
from ttnn.metal.configs import CircularBufferConfig, ComputeConfig
from ttnn.metal.cpp.spec import CompiledKernel
from ttnn.metal.mux_kernels import Mux, is_mux, muxes_of
from ttnn.metal.native_kernels import NativeRow, compile_kernels, native_rows
from ttnn.metal.program_parts import RISCS, Kernel, ProgramParts, as_words, check_count, remote_ends, require_program

_ALIGNMENT = 32
"""Alignment of a circular buffer's first byte, required by DRAM reads."""
_PHASES = {MathFidelity.LoFi: 1, MathFidelity.HiFi2: 2, MathFidelity.HiFi3: 3, MathFidelity.HiFi4: 4}

CbRow = tuple[tuple[int, int], int, int, int, int, int, tuple[int, int], bool]
KernelRow = tuple[tuple[int, int], int, str, int, "tuple[int, bool, bool, bool, bool, int] | None", list[int]]


@dataclass
class Layout:
    """A program in the engine's form, and kernels in equal order."""

    cbs: list[CbRow]
    semaphores: list[tuple[tuple[int, int], int, int]]
    kernels: list[KernelRow]
    contexts: list[KernelContext]
    natives: list[NativeRow]
    """The kernels that are compiled."""
    notes: list[str]
    """Remarks of the compiler for the report."""
    muxes: list[Mux]
    """Cores that forward packets."""


def lay_out(device: MeshDevice, program: ProgramParts) -> Layout:
    """Return a program for one device.

    Raises:
        DeviceError: it uses cores that the device does not have, or cores of several sub-devices.
        MemoryConfigError: circular buffers that do not exist on this chip, exceed L1 or run into buffers.
        KernelArgumentError: a configuration that the chip has no form of.
        KernelCompileError: a C++ kernel does not compile, or there is no compiler.
    """
    require_program("enqueue_program", program)
    grid = device.chip["grid"]
    for what, cores in [
        *((f"kernel {kernel.name}", kernel.cores) for kernel in program.kernels),
        *(("a circular buffer", handle.cores) for handle in program.circular_buffers),
        *((f"semaphore {id}", cores) for id, cores, _ in program.semaphores),
    ]:
        check_in_grid(f"{what} is placed on", cores, grid, vendor="Kernels cannot be placed on dispatch cores!")
    device._sub_devices.check_program(kernel.cores for kernel in program.kernels)
    semaphores = [(place, id, initial) for id, cores, initial in program.semaphores for place in cores._places()]
    executed = [kernel for kernel in program.kernels if not is_mux(kernel)]
    placed = [(place, kernel) for kernel in executed for place in kernel.cores._places()]
    placed.sort(key=lambda entry: (entry[0][1], entry[0][0], entry[1].risc))
    images = compile_kernels(device, program)
    return Layout(
        cbs=_circular_buffers(device, program),
        semaphores=semaphores,
        kernels=[_kernel_row(place, kernel) for place, kernel in placed],
        contexts=_contexts(device, placed, program),
        natives=native_rows(placed, images),
        notes=[f"kernel {kernel.name}: {note}" for kernel in program.kernels for note in _notes(images, kernel)],
        muxes=muxes_of(program.kernels, dict(device.chip["worker_coords"])),
    )


def _notes(images: dict[int, CompiledKernel], kernel: Kernel) -> tuple[str, ...]:
    image = images.get(id(kernel))
    return image.notes if image is not None else ()


def cb_addresses(program: ProgramParts, base: int) -> list[int]:
    """Return circular buffer addresses, given the first one available.

    It is the first that a buffer of the program itself can have.
    """
    ends: dict[tuple[int, int], int] = {}
    places = []
    for handle in program.circular_buffers:
        config, cores = handle.config, handle.cores._places()
        if config.buffer is not None:
            places.append(config.buffer.address() + config.address_offset)
        elif handle.global_buffer is not None:
            places.append(handle.global_buffer.buffer_address())
        else:
            start = max((ends.get(core, base) for core in cores), default=base)
            address = -(-start // _ALIGNMENT) * _ALIGNMENT
            ends.update(dict.fromkeys(cores, address + config.total_size))
            places.append(address)
    return places


def _circular_buffers(device: MeshDevice, program: ProgramParts) -> list[CbRow]:
    base = int(device.engine.memory_view(BufferType.L1.value)["base_address"])
    lowest = device.engine.lowest_l1_address()
    rows: list[CbRow] = []
    for handle, address in zip(program.circular_buffers, cb_addresses(program, base), strict=True):
        config = handle.config
        borrowed = config.buffer is not None or handle.global_buffer is not None
        if config.buffer is not None:
            _check_borrowed(device, config)
        elif not borrowed:
            _check_end(device, handle.cores, address + config.total_size, lowest)
        for index in (*config.formats, *config.remote_formats):
            _check_index(device, config, index)
        rows += [
            (
                place,
                index,
                address,
                config.page_sizes[index],
                config.total_size // config.page_sizes[index],
                code,
                config.tiles.get(index, (32, 32)),
                borrowed,
            )
            for index, code in sorted(config.formats.items())
            for place in handle.cores._places()
        ]
    return rows


def _check_borrowed(device: MeshDevice, config: CircularBufferConfig) -> None:
    """Check that a circular buffer fits its L1 buffer."""
    buffer = config.buffer
    assert buffer is not None
    if buffer.device is not device:
        raise DeviceError(f"a circular buffer is in {buffer!r}, which is on another device")
    if not buffer.memory.is_allocated:
        raise MemoryConfigError(f"a circular buffer is in {buffer!r}, which has been deallocated")
    room = buffer.memory.bytes_per_bank - config.address_offset
    if not buffer.is_l1() or config.total_size > room:
        raise MemoryConfigError(
            f"circular buffer of {config.total_size} B in {buffer!r}: it needs an L1 buffer with as much on each core "
            f"({max(room, 0)} B)"
        )


def _check_index(device: MeshDevice, config: CircularBufferConfig, index: int) -> None:
    indices = int(device.chip["circular_buffers"])
    if not 0 <= index < indices:
        raise MemoryConfigError(
            f"CB index {index} does not exist: this chip has {indices} circular buffers per core",
            vendor=f"Buffer index ({index}) exceeds max number of circular buffers per core ({indices})",
        )
    page = config.page_sizes[index]
    if config.total_size % page:
        raise MemoryConfigError(
            f"CB {index} of {config.total_size} B is not a multiple of pages of {page} B",
            vendor=f"Total circular buffer size {config.total_size} B must be divisible by page size {page} B",
        )


def _check_end(device: MeshDevice, cores: object, end: int, lowest: int | None) -> None:
    l1_bytes = int(device.chip["l1_bytes"])
    if end > l1_bytes:
        raise MemoryConfigError(
            f"the circular buffers of {cores} do not fit into L1: they end at {end}, L1 at {l1_bytes}",
            vendor=f"Statically allocated circular buffers on core range {cores} grow to {end} B which is beyond max "
            f"L1 size of {l1_bytes} B",
        )
    if lowest is not None and end > lowest:
        raise MemoryConfigError(
            f"the circular buffers of {cores} run into an L1 buffer: they end at {end}, the buffer starts at {lowest}",
            vendor=f"Statically allocated circular buffers in program clash with L1 buffers on core range {cores}. "
            f"L1 buffer allocated at {lowest} and static circular buffer region ends at {end}",
        )


def _kernel_row(place: tuple[int, int], kernel: Kernel) -> KernelRow:
    config = kernel.config
    # The lists that `get_runtime_args` returned may have any content by now. In L1 the common arguments follow those of
    # the core.
    args = as_words(f"kernel {kernel.name}", [*kernel.args.get(place, []), *kernel.common_args])
    check_count("enqueue_program", kernel, len(args))
    if not isinstance(config, ComputeConfig):
        return (place, kernel.risc, kernel.name, config.noc.value, None, args)
    if config.math_fidelity not in _PHASES:
        raise KernelArgumentError(f"kernel {kernel.name}: math_fidelity {config.math_fidelity} has no phases")
    if len(config.unpack_to_dest_mode) > 64:
        raise KernelArgumentError(
            f"kernel {kernel.name}: unpack_to_dest_mode has {len(config.unpack_to_dest_mode)} entries, more than a "
            "core has CBs"
        )
    flags = 0
    for cb, mode in enumerate(config.unpack_to_dest_mode):
        flags |= int(mode is UnpackToDestMode.UnpackToDestFp32) << cb
    settings = (
        _PHASES[config.math_fidelity],
        config.fp32_dest_acc_en,
        config.dst_full_sync_en,
        config.bfp8_pack_precise,
        config.math_approx_mode,
        flags,
    )
    return (place, 2, kernel.name, 0, settings, args)


def _contexts(
    device: MeshDevice, placed: Sequence[tuple[tuple[int, int], Kernel]], program: ProgramParts
) -> list[KernelContext]:
    """Return the context of each kernel on each of its cores."""
    chip = device.chip
    coordinates = dict(chip["worker_coords"])
    banks = (chip["dram_cores"], list(coordinates.values()))
    alignments = (int(chip["dram_alignment"]), int(chip["l1_alignment"]))
    has_remotes = any(handle.global_buffer is not None for handle in program.circular_buffers)
    common: dict[int, dict[str, Any]] = {id(kernel): _common(kernel) for kernel in program.kernels}
    contexts = []
    for place, kernel in placed:
        context = KernelContext(
            **common[id(kernel)],
            core=place,
            noc_coord=coordinates[place],
            args=tuple(as_words(kernel.name, kernel.args.get(place, ()))),
            packet_bytes=int(chip["noc_packet_bytes"]),
            banks=banks,
            alignments=alignments,
            device_id=device.id(),
        )
        if has_remotes:
            context.remotes = remote_ends(program, CoreRangeSet([CoreRange(place, place)]))
        context.bindings = kernel.bindings
        contexts.append(context)
    return contexts


def _common(kernel: Kernel) -> dict[str, Any]:
    """Return what the contexts of a kernel have in common."""
    config = kernel.config
    start = kernel.cores.bounding_box().start
    defines = dict(config.defines)
    if isinstance(config, ComputeConfig):
        defines.setdefault("MATH_APPROX", str(int(config.math_approx_mode)))
    return {
        "function": kernel.function,
        "name": kernel.name,
        "origin": (start.x, start.y),
        "risc": RISCS[kernel.risc],
        "noc_index": 0 if isinstance(config, ComputeConfig) else config.noc.value,
        "compile_args": tuple(as_words(f"kernel {kernel.name}: compile_args", config.compile_args)),
        "named_compile_args": dict(config.named_compile_args),
        "defines": defines,
        "common_args": tuple(as_words(f"kernel {kernel.name}", kernel.common_args)),
    }
