"""Programs as text: kernels, cores, arguments and buffers, and the L1 map."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ttnn.base.core_range import CoreCoord, CoreRange, CoreRangeSet
from ttnn.base.enums import BufferType
from ttnn.base.exceptions import ArgumentError
from ttnn.device.mesh_device import MeshDevice
from ttnn.kernel_api.bindings_context import KernelBindings
from ttnn.metal.configs import CircularBufferConfig, ComputeConfig, DataFormat
from ttnn.metal.layout import cb_addresses, lay_out
from ttnn.metal.program_parts import RISCS, CBHandle, Kernel, ProgramParts

_FLAGS = ("fp32_dest_acc_en", "dst_full_sync_en", "bfp8_pack_precise", "math_approx_mode")
_SHOWN = 8
"""Arguments that a line shows."""


def describe(program: ProgramParts, device: MeshDevice | None = None) -> str:
    """Return a program as text.

    Cores, kernels, circular buffers, semaphores, and the map of L1.

    With a device, addresses are those that the program has there, and a program that the device cannot run raises as it
    would when it is enqueued. Without one, addresses count from the first that a circular buffer can have.
    """
    base = 0
    if device is not None:
        if not isinstance(device, MeshDevice):
            raise ArgumentError(f"describe: expected a ttnn.MeshDevice, got {device!r}")
        lay_out(device, program)
        base = int(device.engine.memory_view(BufferType.L1.value)["base_address"])
    cores = _together(_everywhere(program))
    lines = [f"Program on {_count(cores.num_cores(), 'core')}{f' {cores}' if cores.num_cores() else ''}"]
    if program.kernels:
        lines.append("  kernels")
    lines += _columns([_kernel(kernel) for kernel in sorted(program.kernels, key=_by_place)])
    if program.circular_buffers:
        lines.append("  circular buffers")
    lines += _columns([row for handle in program.circular_buffers for row in _circular_buffer(handle)])
    if program.semaphores:
        lines.append("  semaphores")
    lines += _columns([[f"{id}", f"starts at {initial}", f"on {on}"] for id, on, initial in program.semaphores])
    lines += _l1(program, cb_addresses(program, base), device)
    return "\n".join(lines)


def _everywhere(program: ProgramParts) -> Iterator[CoreRangeSet]:
    yield from (kernel.cores for kernel in program.kernels)
    yield from (handle.cores for handle in program.circular_buffers)
    yield from (cores for _, cores, _ in program.semaphores)


def _together(sets: Iterable[CoreRangeSet]) -> CoreRangeSet:
    """Return the cores of all sets as few rectangles."""
    together = CoreRangeSet()
    for cores in sets:
        together = together.merge(cores)
    return together


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _columns(rows: list[list[str]]) -> Iterator[str]:
    """Yield rows as lines with aligned columns."""
    widths = [
        max((len(row[i]) for row in rows if i < len(row)), default=0) for i in range(max(map(len, rows), default=0))
    ]
    for row in rows:
        yield "    " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip()


def _by_place(kernel: Kernel) -> tuple[int, int, int]:
    start = kernel.cores.bounding_box().start
    return start.y, start.x, kernel.risc


def _kernel(kernel: Kernel) -> list[str]:
    config = kernel.config
    if isinstance(config, ComputeConfig):
        how = ", ".join([config.math_fidelity.name, *(flag for flag in _FLAGS if getattr(config, flag))])
    else:
        how = f"NoC {config.noc.value}"
    return [RISCS[kernel.risc], kernel.name, f"on {kernel.cores}", how, "; ".join(_arguments(kernel))]


def _arguments(kernel: Kernel) -> Iterator[str]:
    if kernel.bindings is not None:
        yield from _names(kernel, kernel.bindings)
        return
    if kernel.config.compile_args:
        yield f"compiled with {_list(kernel.config.compile_args)}"
    named: Mapping[str, object] = {**kernel.config.named_compile_args, **kernel.config.defines}
    if named:
        yield ", ".join(f"{name}={value}" for name, value in named.items())
    if kernel.args:
        values = list(kernel.args.values())
        if all(value == values[0] for value in values):
            yield f"arguments {_list(values[0])}"
        else:
            yield f"{'/'.join(map(str, sorted({len(value) for value in values})))} arguments per core"
    if kernel.common_args:
        yield f"common arguments {_list(kernel.common_args)}"


def _names(kernel: Kernel, bindings: KernelBindings) -> Iterator[str]:
    """Yield what a kernel of a specification has, by name."""
    fixed: Mapping[str, object] = {**bindings.compile_time_args, **kernel.config.defines}
    values = list(kernel.args.values())
    if values and all(value == values[0] for value in values):
        fixed = {**fixed, **dict(zip(bindings.runtime_args, values[0], strict=False))}
    elif values:
        yield f"{', '.join(bindings.runtime_args) or 'arguments'} per core"
    fixed = {**fixed, **dict(zip(bindings.common_runtime_args, kernel.common_args, strict=False))}
    if fixed:
        yield ", ".join(f"{name}={value}" for name, value in fixed.items())
    for title, names in (
        ("dfb", [f"{name} (CB {token.id})" for name, token in bindings.dataflow_buffers.items()]),
        ("sem", [f"{name} ({number})" for name, number in bindings.semaphores.items()]),
        ("tensor", list(bindings.tensors)),
        ("scratch", list(bindings.scratchpads)),
    ):
        if names:
            yield f"{title} {', '.join(names)}"


def _list(values: Iterable[object]) -> str:
    texts = [str(value) for value in values]
    return "[" + ", ".join(texts[:_SHOWN] + ([f"... {len(texts)} in all"] if len(texts) > _SHOWN else [])) + "]"


def _circular_buffer(handle: CBHandle) -> Iterator[list[str]]:
    config = handle.config
    for index, code in sorted({**config.formats, **config.remote_formats}.items()):
        page = config.page_sizes[index]
        size = f"{_count(config.total_size // page, 'page')} of {page} B"
        form = DataFormat(code).name
        if index in config.tiles:
            form += " tiles of {}x{}".format(*config.tiles[index])
        where = ""
        if config.buffer is not None:
            where = f"in the L1 buffer at {config.buffer.address() + config.address_offset}"
        elif handle.global_buffer is not None:
            where = "remote" if index in config.remote_formats else "local"
            where += f" end of the global circular buffer at {handle.global_buffer.buffer_address()}"
        yield [f"CB {index}", size, form, f"on {handle.cores}", where]


def _l1(program: ProgramParts, places: list[int], device: MeshDevice | None) -> Iterator[str]:
    """Yield the L1 map: circular buffers by address, per core set.

    The cores of a set have the same ones.
    """
    limit = 0
    if device is not None:
        limit = device.engine.lowest_l1_address() or int(device.chip["l1_bytes"])
    groups: dict[tuple[int, ...], list[CoreCoord]] = {}
    for core in _together(handle.cores for handle in program.circular_buffers).cores():
        here = [i for i, handle in enumerate(program.circular_buffers) if handle.cores.contains(core)]
        groups.setdefault(tuple(sorted(here, key=lambda i: places[i])), []).append(core)
    for numbers, cores in groups.items():
        own = [i for i in numbers if _is_own(program.circular_buffers[i].config, program.circular_buffers[i])]
        total = sum(program.circular_buffers[i].config.total_size for i in own)
        origin = "" if device is not None else ", addresses from the first that is free"
        on = _together(CoreRangeSet([CoreRange(core, core)]) for core in cores)
        yield f"  L1 of {on}: {total} B of circular buffers{origin}"
        rows = []
        for i in numbers if device is not None else own:
            config = program.circular_buffers[i].config
            indices = ", ".join(f"CB {index}" for index in sorted({**config.formats, **config.remote_formats}))
            note = "" if i in own else "in a buffer"
            rows.append([f"{places[i]:>9,}", f"{places[i] + config.total_size:>9,}", indices, note])
        if device is not None and own:
            end = places[own[-1]] + program.circular_buffers[own[-1]].config.total_size
            rows.insert(len(own), [f"{end:>9,}", f"{limit:>9,}", f"free, {limit - end} B", ""])
        yield from _columns(rows)


def _is_own(config: CircularBufferConfig, handle: CBHandle) -> bool:
    """Return whether a circular buffer has memory of its own."""
    return config.buffer is None and handle.global_buffer is None
