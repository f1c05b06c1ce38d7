"""Circular buffers of a program: creation, and changes between runs."""

from __future__ import annotations

from typing import Any

from ttnn.base.exceptions import ArgumentError, MemoryConfigError
from ttnn.metal.buffers import Buffer
from ttnn.metal.configs import CircularBufferConfig
from ttnn.metal.global_circular_buffer import GlobalCircularBuffer
from ttnn.metal.program import Program
from ttnn.metal.program_parts import CBHandle, CoreSpec, as_cores, require_program, shared_core

__all__ = [
    "CreateCircularBuffer",
    "GetCircularBufferConfig",
    "UpdateCircularBufferPageSize",
    "UpdateCircularBufferTotalSize",
    "UpdateDynamicCircularBufferAddress",
    "UpdateDynamicCircularBufferAddressAndTotalSize",
    "create_circular_buffer",
    "get_circular_buffer_config",
    "update_circular_buffer_page_size",
    "update_circular_buffer_total_size",
    "update_dynamic_circular_buffer_address",
    "update_dynamic_circular_buffer_address_and_total_size",
]


def create_circular_buffer(
    program: Program,
    core_spec: CoreSpec,
    config: CircularBufferConfig,
    global_circular_buffer: GlobalCircularBuffer | None = None,
) -> CBHandle:
    """Add a circular buffer to every core of `core_spec`.

    Args:
        program: The program.
        core_spec: A core, a range or a set of ranges.
        config: Size, and page size and format of each index.
        global_circular_buffer: The buffer of the remote indices of `config`; its local ones share its memory.

    Raises:
        MemoryConfigError: an index without page size, one that a core has already, or cores that belong to neither end
            of the global buffer.
    """
    require_program("create_circular_buffer", program)
    if not isinstance(config, CircularBufferConfig):
        raise ArgumentError(f"create_circular_buffer: config must be a CircularBufferConfig, got {config!r}")
    cores = as_cores(core_spec)
    if cores.empty():
        raise ArgumentError("create_circular_buffer: no cores are passed")
    indices = [*config.formats, *config.remote_formats]
    if not indices:
        raise MemoryConfigError("create_circular_buffer: the configuration names no buffer index")
    for index in indices:
        if index not in config.page_sizes:
            raise MemoryConfigError(f"create_circular_buffer: set_page_size({index}, ...) is missing")
        for other in program.circular_buffers:
            taken = index in other.config.formats or index in other.config.remote_formats
            core = shared_core(cores, other.cores) if taken else None
            if core is not None:
                raise MemoryConfigError(f"create_circular_buffer: CB {index} exists already on core {core}")
    handle = CBHandle(cores, config)
    if global_circular_buffer is not None:
        _check_global(cores, config, global_circular_buffer)
        handle.global_buffer = global_circular_buffer
    elif config.remote_formats:
        raise MemoryConfigError("create_circular_buffer: remote indices need a global_circular_buffer")
    program.circular_buffers.append(handle)
    return handle


def _check_global(cores: Any, config: CircularBufferConfig, buffer: GlobalCircularBuffer) -> None:
    if not isinstance(buffer, GlobalCircularBuffer):
        raise ArgumentError(f"create_circular_buffer: expected a GlobalCircularBuffer, got {buffer!r}")
    if not config.remote_formats:
        raise MemoryConfigError("create_circular_buffer: a global_circular_buffer needs a remote index")
    if config.total_size > buffer.size():
        raise MemoryConfigError(
            f"create_circular_buffer: {config.total_size} B in a global circular buffer of {buffer.size()} B"
        )
    everywhere = buffer.all_cores()
    if not everywhere.contains(cores):
        core = next(core for core in cores.cores() if not everywhere.contains(core))
        raise MemoryConfigError(f"create_circular_buffer: core {core} is not a core of the global circular buffer")


def get_circular_buffer_config(program: Program, cb_handle: CBHandle) -> CircularBufferConfig:
    """Return a circular buffer's configuration.

    Change it with the functions below.
    """
    return _handle("get_circular_buffer_config", program, cb_handle).config


def update_circular_buffer_total_size(program: Program, cb_handle: CBHandle, total_size: int) -> None:
    """Set the size of a circular buffer from the next run on.

    Raises:
        MemoryConfigError: the page size of an index does not divide it.
    """
    call = "update_circular_buffer_total_size"
    config = _handle(call, program, cb_handle).config
    size = CircularBufferConfig(total_size).total_size
    _check_pages(call, config.page_sizes, size)
    config.total_size = size


def update_circular_buffer_page_size(program: Program, cb_handle: CBHandle, buffer_index: int, page_size: int) -> None:
    """Set an index's page size from the next run on.

    Raises:
        MemoryConfigError: the buffer has no such index, or the size does not divide the buffer's.
    """
    call = "update_circular_buffer_page_size"
    config = _handle(call, program, cb_handle).config
    if isinstance(buffer_index, bool) or not isinstance(buffer_index, int) or buffer_index not in config.page_sizes:
        raise MemoryConfigError(
            f"{call}: this circular buffer has no index {buffer_index!r}, only {[*config.page_sizes]}"
        )
    config.set_page_size(buffer_index, page_size)


def update_dynamic_circular_buffer_address(
    program: Program, cb_handle: CBHandle, buffer: Buffer | GlobalCircularBuffer, address_offset: int = 0
) -> None:
    """Move a circular buffer to another L1 buffer, for later runs.

    Raises:
        MemoryConfigError: it has memory of its own.
    """
    call = "update_dynamic_circular_buffer_address"
    handle = _handle(call, program, cb_handle)
    if isinstance(buffer, GlobalCircularBuffer):
        _check_global(handle.cores, handle.config, buffer)
        handle.global_buffer = buffer
        return
    if handle.config.buffer is None:
        raise MemoryConfigError(
            f"{call}: the circular buffer has its own memory; configure it with set_globally_allocated_address"
        )
    handle.config.set_globally_allocated_address(buffer, address_offset)


def update_dynamic_circular_buffer_address_and_total_size(
    program: Program, cb_handle: CBHandle, buffer: Buffer, total_size: int
) -> None:
    """Move a circular buffer to another L1 buffer and size.

    It takes effect with the next run.

    Raises:
        MemoryConfigError: it has memory of its own, or the page size of an index does not divide the size.
    """
    call = "update_dynamic_circular_buffer_address_and_total_size"
    config = _handle(call, program, cb_handle).config
    size = CircularBufferConfig(total_size).total_size
    _check_pages(call, config.page_sizes, size)
    update_dynamic_circular_buffer_address(program, cb_handle, buffer)
    config.total_size = size


def _handle(call: str, program: Program, handle: CBHandle) -> CBHandle:
    require_program(call, program)
    if not any(handle is known for known in program.circular_buffers):
        raise ArgumentError(f"{call}: {handle!r} is not a circular buffer of this program")
    return handle


def _check_pages(call: str, page_sizes: dict[int, int], total: int) -> None:
    for index, page in page_sizes.items():
        if total % page:
            raise MemoryConfigError(
                f"{call}: CB {index} of {total} B is not a multiple of pages of {page} B",
                vendor=f"Total circular buffer size {total} B must be divisible by page size {page} B",
            )


CreateCircularBuffer = create_circular_buffer
GetCircularBufferConfig = get_circular_buffer_config
UpdateCircularBufferTotalSize = update_circular_buffer_total_size
UpdateCircularBufferPageSize = update_circular_buffer_page_size
UpdateDynamicCircularBufferAddress = update_dynamic_circular_buffer_address
UpdateDynamicCircularBufferAddressAndTotalSize = update_dynamic_circular_buffer_address_and_total_size
