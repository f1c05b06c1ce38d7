"""C++ kernels of a program: compilation inputs, engine form, printed output."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ttnn import _engine
from ttnn.base.exceptions import ArgumentError
from ttnn.device.fabric_state import FABRIC
from ttnn.device.mesh_device import MeshDevice
from ttnn.device.routes import is_connected
from ttnn.kernel_api.context import KernelContext
from ttnn.kernel_api.debug import write_line
from ttnn.metal.configs import ComputeConfig
from ttnn.metal.cpp.cache import INCLUDE
from ttnn.metal.cpp.spec import CbFormat, Chip, CompiledKernel, ComputeSettings, CppSource, KernelSettings
from ttnn.metal.program_parts import Kernel, ProgramParts, as_words, remote_ends, shared_core

NativeRow = tuple[int, bytes, int, int, str, tuple[int, int]]
"""A compiled kernel for the engine.

Number, image, own arguments, instructions, headers, relative coordinates.
"""
_INSTRUCTIONS = 10_000_000_000
"""Default instruction limit of a kernel without `TTNN_KERNEL_LIMIT`: about half a minute."""
_NO_LIMIT = (1 << 64) - 1


def compile_kernels(device: MeshDevice, program: ProgramParts) -> dict[int, CompiledKernel]:
    """Return a program's compiled C++ kernels, by the kernel's `id`.

    Several are compiled at once.

    Raises:
        KernelCompileError: one does not compile, or there is no compiler.
        UnsupportedError: one needs what is not modelled.
    """
    sources = [kernel for kernel in program.kernels if isinstance(kernel.function, CppSource)]
    if len(sources) < 2:
        return {id(kernel): _compiled(device, program, kernel) for kernel in sources}
    # Most programs have no C++ kernels, so the compiler and what it needs are loaded here.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(len(sources), os.cpu_count() or 1)) as pool:
        images = list(pool.map(partial(_compiled, device, program), sources))
    return {id(kernel): image for kernel, image in zip(sources, images, strict=True)}


def _compiled(device: MeshDevice, program: ProgramParts, kernel: Kernel) -> CompiledKernel:
    from ttnn.metal.cpp.compiler import compile_kernel

    assert isinstance(kernel.function, CppSource)
    source = kernel.function
    if kernel.include_paths:
        source = replace(source, roots=(*(Path(path).absolute() for path in kernel.include_paths), *source.roots))
    return compile_kernel(source, _settings(device, program, kernel))


def _settings(device: MeshDevice, program: ProgramParts, kernel: Kernel) -> KernelSettings:
    from ttnn.metal.cpp.names_header import names_header

    config, chip = kernel.config, device.chip
    compute = None
    if isinstance(config, ComputeConfig):
        compute = ComputeSettings(
            config.math_fidelity.name, config.math_approx_mode, config.fp32_dest_acc_en, config.dst_full_sync_en
        )
    buffers = {
        index: CbFormat(code, *handle.config.tiles.get(index, (32, 32)))
        for handle in program.circular_buffers
        if shared_core(kernel.cores, handle.cores) is not None
        for index, code in {**handle.config.formats, **handle.config.remote_formats}.items()
    }
    bindings, connects = kernel.bindings, is_connected(device)
    return KernelSettings(
        processor=kernel.risc,
        chip=Chip(
            arch=str(chip["arch_name"]).partition("_")[0].upper(),
            dram_banks=tuple((x, y) for x, y in chip["dram_cores"]),
            l1_banks=tuple(coordinate for _, coordinate in chip["worker_coords"]),
            dram_alignment=int(chip["dram_alignment"]),
            l1_alignment=int(chip["l1_alignment"]),
            packet_header=FABRIC.header_bytes(device._system) if connects else 0,
            header_pool=device.engine.packet_header_pool() if connects else 0,
        ),
        noc_index=0 if isinstance(config, ComputeConfig) else config.noc.value,
        noc_mode=0 if isinstance(config, ComputeConfig) else config.noc_mode.value,
        compile_args=tuple(as_words(f"kernel {kernel.name}: compile_args", config.compile_args)),
        named_compile_args=dict(config.named_compile_args),
        defines={name: str(value) for name, value in config.defines.items()},
        buffers=buffers,
        remotes=remote_ends(program, kernel.cores),
        compute=compute,
        names=names_header(bindings) if bindings is not None else "",
    )


def native_rows(placed: Sequence[tuple[tuple[int, int], Kernel]], images: dict[int, CompiledKernel]) -> list[NativeRow]:
    """Return a program's compiled kernels in order, in engine form."""
    limit = _limit()
    rows = []
    for number, (place, kernel) in enumerate(placed):
        image = images.get(id(kernel))
        if image is not None:
            start = kernel.cores.bounding_box().start
            own = len(kernel.args.get(place, ()))
            relative = (place[0] - start.x, place[1] - start.y)
            rows.append((number, image.image, own, limit, str(INCLUDE), relative))
    return rows


def _limit() -> int:
    text = os.environ.get("TTNN_KERNEL_LIMIT", "")
    if not text:
        return _INSTRUCTIONS
    if not text.isdecimal():
        raise ArgumentError(f"TTNN_KERNEL_LIMIT: expected a number, 0 for no limit, got {text!r}")
    return int(text) or _NO_LIMIT


def is_native(kernel: KernelContext) -> bool:
    """Return whether a kernel is compiled."""
    return isinstance(kernel.function, CppSource)


def show_prints(run: _engine.ProgramRun, kernels: Sequence[KernelContext]) -> None:
    """Write what compiled kernels have printed to the host's standard output."""
    for number, line in run.take_prints():
        write_line(kernels[number], line)
