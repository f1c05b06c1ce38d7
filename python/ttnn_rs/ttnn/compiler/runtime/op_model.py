"""Predicted times of lowered modules, for the optimizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import ttnn
from ttnn.compiler.conversion.ttnn_to_calls.programs import programs_of_tables
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import program_tables
from ttnn.compiler.ir.module import Module
from ttnn.compiler.runtime.predict import alternatives, predict
from ttnn.compiler.transforms.ttnn.layout.chip import chip_of
from ttnn.compiler.transforms.ttnn.optimizer.model import ProductConfig, Time
from ttnn.device.mesh_device import MeshDevice

__all__ = ["RuntimeModel"]

_FIDELITIES: Final = {name.lower(): getattr(ttnn.MathFidelity, name) for name in ("LoFi", "HiFi2", "HiFi3", "HiFi4")}
_PRODUCTS: Final = ("ttnn.linear", "ttnn.matmul")


def _keywords(config: ProductConfig) -> dict[str, Any]:
    """Return the keywords of a product's call in a configuration."""
    if not config.fidelity:
        return {"program_config": _object(config)}
    compute = ttnn.WormholeComputeKernelConfig(
        math_fidelity=_FIDELITIES[config.fidelity],
        math_approx_mode=False,
        fp32_dest_acc_en=config.wide,
        packer_l1_acc=not config.wide,
    )
    return {"program_config": _object(config), "compute_kernel_config": compute}


def _object(config: ProductConfig) -> Any:
    """Return a configuration as operators take it."""
    columns, rows = config.grid
    fields: dict[str, Any] = {
        "compute_with_storage_grid_size": ttnn.CoreCoord(columns, rows),
        "in0_block_w": config.inner,
        "out_subblock_h": config.subblock[0],
        "out_subblock_w": config.subblock[1],
        "per_core_M": config.block[0],
        "per_core_N": config.block[1],
    }
    if config.kind == "reuse":
        return ttnn.MatmulMultiCoreReuseProgramConfig(**fields)
    fields |= {"out_block_h": config.block[0], "out_block_w": config.block[1], "fuse_batch": True}
    if config.kind == "reuse_multi_cast":
        return ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(**fields, transpose_mcast=False)
    return ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(**fields, mcast_in0=config.first)


class RuntimeModel:
    """Times of the operators that a program calls.

    Its devices are not listed as open, and have memory of their own.
    """

    def __init__(self) -> None:
        self._devices: dict[str, MeshDevice] = {}
        self._known: dict[Any, int | None] = {}
        self._modules = 0

    @property
    def queries(self) -> int:
        """Return how many different calls and modules were asked about."""
        return self._modules + len(self._known)

    def time(self, module: Module) -> Time:
        """Return the time of a lowered module.

        Raises:
            TtnnError: An operation is refused.
        """
        self._modules += 1
        device = self._device(chip_of(module).arch)
        programs = programs_of_tables(program_tables(module), module.version)
        nanoseconds = operations = missing = 0
        of_operation: dict[tuple[str, int], int] = {}
        for program in programs:
            if program.private:
                continue
            found = predict(program, device)
            nanoseconds, operations = nanoseconds + found.nanoseconds, operations + found.operations
            missing += len(found.missing)
            of_operation |= {(program.name, number): time for number, time in found.of_operation.items()}
        return Time(nanoseconds, operations, of_operation, missing)

    def alternatives(
        self, module: Module, candidates: Mapping[tuple[str, int], Sequence[ProductConfig]]
    ) -> dict[tuple[str, int], tuple[int, list[int | None]]]:
        """Return the times of products, also in other configurations.

        None is that of a refused one.
        """
        device = self._device(chip_of(module).arch)
        found: dict[tuple[str, int], tuple[int, list[int | None]]] = {}
        for program in programs_of_tables(program_tables(module), module.version):
            mine = {number: given for (name, number), given in candidates.items() if name == program.name}
            if mine and not program.private:
                others = {number: [_keywords(one) for one in given] for number, given in mine.items()}
                times = alternatives(program, device, _PRODUCTS, others, self._known)
                found |= {(program.name, number): part for number, part in times.items()}
        return found

    def _device(self, arch: Any) -> MeshDevice:
        name = "p150" if arch == "blackhole" else "n150"
        if name not in self._devices:
            self._devices[name] = MeshDevice.unlisted(name)
        return self._devices[name]
