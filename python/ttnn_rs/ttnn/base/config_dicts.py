"""Configurations as dictionaries of plain values."""

from __future__ import annotations

import json
from typing import Any

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.exceptions import ArgumentError
from ttnn.base.memory_config import MemoryConfig

_COMPUTE = (
    "math_fidelity",
    "math_approx_mode",
    "fp32_dest_acc_en",
    "packer_l1_acc",
    "dst_full_sync_en",
    "throttle_level",
)


def memory_config_to_dict(memory_config: MemoryConfig) -> dict[str, Any]:
    """Return layout, buffer type and shard specification of a memory configuration.

    Raises:
        ArgumentError: it is none.
    """
    _require("memory_config_to_dict", memory_config, MemoryConfig)
    return {
        "memory_layout": str(memory_config.memory_layout),
        "buffer_type": str(memory_config.buffer_type),
        "shard_spec": str(memory_config.shard_spec),
        "is_sharded": memory_config.is_sharded(),
        "interleaved": memory_config.interleaved,
        "hash": hash(memory_config),
    }


def compute_kernel_config_to_dict(compute_kernel_config: WormholeComputeKernelConfig) -> dict[str, Any]:
    """Return a compute configuration's fields.

    Numbers and flags are as they are, enumerations are text.

    Raises:
        ArgumentError: it is none.
    """
    _require("compute_kernel_config_to_dict", compute_kernel_config, WormholeComputeKernelConfig)
    fields = {name: getattr(compute_kernel_config, name) for name in _COMPUTE}
    return {name: value if isinstance(value, bool) else str(value) for name, value in fields.items()}


def program_config_to_dict(program_config: Any) -> dict[str, Any]:
    """Return a program configuration's fields, with its class name as "type".

    Raises:
        ArgumentError: it is none.
    """
    if not hasattr(program_config, "to_json"):
        raise ArgumentError(
            f"program_config_to_dict: expected a program configuration, got {type(program_config).__name__}"
        )
    return {"type": type(program_config).__name__, **json.loads(program_config.to_json())}


def _require(name: str, value: object, kind: type) -> None:
    if not isinstance(value, kind):
        raise ArgumentError(f"{name}: expected a {kind.__name__}, got {type(value).__name__}")
