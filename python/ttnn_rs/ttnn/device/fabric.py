"""The fabric between chips, which is off, and the processes of a cluster, of which there is one."""

from __future__ import annotations

from ttnn.base.enums import FabricConfig
from ttnn.base.exceptions import ArgumentError, UnsupportedError

__all__ = [
    "distributed_context_is_initialized",
    "get_fabric_config",
    "set_fabric_config",
    "using_distributed_env",
]


def using_distributed_env() -> bool:
    """Return whether several processes share the work of a cluster: no."""
    return False


def distributed_context_is_initialized() -> bool:
    """Return whether processes of a cluster know each other: no."""
    return False


def get_fabric_config() -> FabricConfig:
    """Return the layout of the fabric: DISABLED."""
    return FabricConfig.DISABLED


def set_fabric_config(
    config: FabricConfig,
    reliability_mode: object = None,
    num_planes: int | None = None,
    fabric_tensix_config: object = None,
    fabric_udm_mode: object = None,
    fabric_manager: object = None,
    router_config: object = None,
) -> None:
    """Choose the layout of the fabric between chips. Only DISABLED exists; the other arguments then mean nothing.

    Raises:
        ArgumentError: no FabricConfig.
        UnsupportedError: a fabric.
    """
    if not isinstance(config, FabricConfig):
        raise ArgumentError(f"set_fabric_config: expected a FabricConfig, got {type(config).__name__} {config!r}")
    if config is not FabricConfig.DISABLED:
        raise UnsupportedError(
            f"set_fabric_config: {config}: chips that work together are not modelled; a mesh has one chip here",
            "unimplemented",
        )
