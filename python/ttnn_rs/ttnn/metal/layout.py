"""Where a program's circular buffers lie in L1, and the program as rows for the engine."""

from __future__ import annotations

from dataclasses import dataclass

from ttnn.base.core_range import CoreCoord, CoreRange, CoreRangeSet
from ttnn.base.enums import BufferType, MathFidelity, UnpackToDestMode
from ttnn.base.exceptions import DeviceError, KernelArgumentError, MemoryConfigError
from ttnn.device.mesh_device import MeshDevice
from ttnn.kernel_api.context import KernelContext
from ttnn.metal.configs import CircularBufferConfig, ComputeConfig
from ttnn.metal.cpp.spec import CompiledKernel
from ttnn.metal.native_kernels import NativeRow, compile_kernels, native_rows
from ttnn.metal.program_parts import Kernel, ProgramParts, as_words, check_count, remote_ends, require_program

_ALIGNMENT = 32
"""Of the first byte of a circular buffer, so that DRAM reads can land there."""
_PHASES = {MathFidelity.LoFi: 1, MathFidelity.HiFi2: 2, MathFidelity.HiFi3: 3, MathFidelity.HiFi4: 4}

CbRow = tuple[tuple[int, int], int, int, int, int, int, tuple[int, int], bool]
KernelRow = tuple[tuple[int, int], int, str, int, "tuple[int, bool, bool, bool, int] | None", list[int]]


@dataclass
class Layout:
    """A program as the engine takes it, and the kernels in the same order."""

    cbs: list[CbRow]
    semaphores: list[tuple[tuple[int, int], int, int]]
    kernels: list[KernelRow]
    contexts: list[KernelContext]
    natives: list[NativeRow]
    """The kernels that are compiled."""
    notes: list[str]
    """Remarks of the compiler for the report."""


def lay_out(device: MeshDevice, program: ProgramParts) -> Layout:
    """Return a program for one device.

    Raises:
        DeviceError: it uses cores that the device does not have, or cores of several sub-devices.
        MemoryConfigError: circular buffers that do not exist on this chip, exceed L1 or run into buffers.
        KernelArgumentError: a configuration that the chip has no form of.
        KernelCompileError: a C++ kernel does not compile, or there is no compiler.
    """
    require_program("enqueue_program", program)
    grid = device.compute_with_storage_grid_size()
    for what, cores in [
        *((f"kernel {kernel.name}", kernel.cores) for kernel in program.kernels),
        *(("a circular buffer", handle.cores) for handle in program.circular_buffers),
        *((f"semaphore {id}", cores) for id, cores, _ in program.semaphores),
    ]:
        for core in cores.cores():
            if core.x >= grid.x or core.y >= grid.y:
                raise DeviceError(
                    f"{what} is placed on core {core.x}-{core.y}, outside the compute grid {grid.x}x{grid.y}",
                    vendor="Kernels cannot be placed on dispatch cores!",
                )
    device._sub_devices.check_program(kernel.cores for kernel in program.kernels)
    semaphores = [
        ((core.x, core.y), id, initial) for id, cores, initial in program.semaphores for core in cores.cores()
    ]
    placed = [(core, kernel) for kernel in program.kernels for core in kernel.cores.cores()]
    placed.sort(key=lambda entry: (entry[0].y, entry[0].x, entry[1].risc))
    images = compile_kernels(device, program)
    return Layout(
        cbs=_circular_buffers(device, program),
        semaphores=semaphores,
        kernels=[_kernel_row(core, kernel) for core, kernel in placed],
        contexts=[_context(device, core, kernel, program) for core, kernel in placed],
        natives=native_rows(placed, images),
        notes=[f"kernel {kernel.name}: {note}" for kernel in program.kernels for note in _notes(images, kernel)],
    )


def _notes(images: dict[int, CompiledKernel], kernel: Kernel) -> tuple[str, ...]:
    image = images.get(id(kernel))
    return image.notes if image is not None else ()


def cb_addresses(program: ProgramParts, base: int) -> list[int]:
    """Return the L1 address of each circular buffer of a program, given the first that one of its own can have."""
    ends: dict[CoreCoord, int] = {}
    places = []
    for handle in program.circular_buffers:
        config, cores = handle.config, list(handle.cores.cores())
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
    base = int(device._engine.memory_view(BufferType.L1.value)["base_address"])
    lowest = device._engine.lowest_l1_address()
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
                (core.x, core.y),
                index,
                address,
                config.page_sizes[index],
                config.total_size // config.page_sizes[index],
                code,
                config.tiles.get(index, (32, 32)),
                borrowed,
            )
            for index, code in sorted(config.formats.items())
            for core in handle.cores.cores()
        ]
    return rows


def _check_borrowed(device: MeshDevice, config: CircularBufferConfig) -> None:
    """Check that a circular buffer fits its L1 buffer."""
    buffer = config.buffer
    assert buffer is not None
    if buffer.device is not device:
        raise DeviceError(f"a circular buffer lies in {buffer!r}, which is on another device")
    if not buffer.memory.is_allocated:
        raise MemoryConfigError(f"a circular buffer lies in {buffer!r}, which has been deallocated")
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
            f"CB {index} of {config.total_size} B is no whole number of pages of {page} B",
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


def _kernel_row(core: CoreCoord, kernel: Kernel) -> KernelRow:
    config = kernel.config
    # The lists that `get_runtime_args` gives away may hold anything by now. In L1 the common arguments follow those of
    # the core.
    args = as_words(f"kernel {kernel.name}", [*kernel.args.get((core.x, core.y), []), *kernel.common_args])
    check_count("enqueue_program", kernel, len(args))
    if not isinstance(config, ComputeConfig):
        return ((core.x, core.y), kernel.risc, kernel.name, config.noc.value, None, args)
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
        flags,
    )
    return ((core.x, core.y), 2, kernel.name, 0, settings, args)


def _worker_coords(device: MeshDevice) -> list[tuple[int, int]]:
    """Return NoC coordinates of the cores in the order of their L1 banks."""
    return [coordinate for _, coordinate in device.chip["worker_coords"]]


def _context(device: MeshDevice, core: CoreCoord, kernel: Kernel, program: ProgramParts) -> KernelContext:
    config = kernel.config
    coordinate = device.worker_core_from_logical_core(core)
    box = kernel.cores.bounding_box().start
    defines = dict(config.defines)
    compile_args = as_words(f"kernel {kernel.name}: compile_args", config.compile_args)
    if isinstance(config, ComputeConfig):
        defines.setdefault("MATH_APPROX", str(int(config.math_approx_mode)))
    context = KernelContext(
        function=kernel.function,
        name=kernel.name,
        core=(core.x, core.y),
        origin=(box.x, box.y),
        risc=("BRISC", "NCRISC", "TRISC")[kernel.risc],
        noc_index=0 if isinstance(config, ComputeConfig) else config.noc.value,
        noc_coord=(coordinate.x, coordinate.y),
        compile_args=tuple(compile_args),
        named_compile_args=dict(config.named_compile_args),
        defines=defines,
        args=tuple(as_words(kernel.name, kernel.args.get((core.x, core.y), ()))),
        common_args=tuple(as_words(f"kernel {kernel.name}", kernel.common_args)),
        packet_bytes=int(device.chip["noc_packet_bytes"]),
        banks=(device.chip["dram_cores"], _worker_coords(device)),
        alignments=(int(device.chip["dram_alignment"]), int(device.chip["l1_alignment"])),
        device_id=device.id(),
    )
    context.remotes = dict(remote_ends(program, CoreRangeSet([CoreRange(core, core)])))
    context.bindings = kernel.bindings
    return context
