"""Fabric (off) and processes (one) of a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttnn.base.enums import FabricConfig
from ttnn.base.exceptions import ArgumentError, UnsupportedError
from ttnn.base.refused import SEVERAL_CHIPS, refusing

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "FabricRouterConfig",
    "Rank",
    "Size",
    "SubcontextId",
    "distributed_context_allgather_int",
    "distributed_context_barrier",
    "distributed_context_get_rank",
    "distributed_context_get_size",
    "distributed_context_is_initialized",
    "distributed_context_local_to_world_rank",
    "distributed_context_subcontext_count",
    "distributed_context_subcontext_id",
    "distributed_context_subcontext_size",
    "distributed_context_subcontext_sizes",
    "distributed_context_world_rank",
    "distributed_context_world_size",
    "get_fabric_config",
    "init_distributed_context",
    "set_fabric_config",
    "using_distributed_env",
]

_REFUSED = refusing(
    "ttnn",
    "attach_absent_mcast compute_fabric_connection_rt_args create_socket_pair distributed_context_recv_bytes "
    "distributed_context_send_bytes fabric_connection_rt_args fabric_connection_rt_args_size get_all_fabric_mesh_ids "
    "get_all_mgd_fabric_types get_eth_forwarding_direction get_fabric_kernel_defines get_forwarding_link_indices "
    "get_num_links get_physical_mesh_shapes get_tt_fabric_max_payload_size_bytes "
    "get_tt_fabric_packet_header_size_bytes get_usable_topology setup_fabric_connection "
    "setup_routing_plane_connection",
    SEVERAL_CHIPS,
)
globals().update(_REFUSED)
__all__ += list(_REFUSED)


@dataclass
class FabricRouterConfig:
    """Router settings between chips.

    `set_fabric_config` refuses every fabric, whatever they are.
    """

    max_packet_payload_size_bytes: int | None = None


class _Number(int):
    """A number of another kind than plain integers.

    Raises:
        ArgumentError: it is made of something else than an integer.
    """

    def __new__(cls, value: int = 0) -> Self:
        if type(value) is not int and not isinstance(value, cls):
            raise ArgumentError(f"{cls.__name__}(): expected an integer, got {type(value).__name__}")
        return super().__new__(cls, value)


class Rank(_Number):
    """The rank of a process in a cluster."""


class Size(_Number):
    """The number of processes of a cluster."""


class SubcontextId(_Number):
    """The id of a process group in a cluster."""


def init_distributed_context() -> None:
    """Connect the processes of a cluster; there is only one."""


def distributed_context_barrier() -> None:
    """Wait for all processes of the cluster: there is one."""


def distributed_context_get_rank() -> Rank:
    """Return the rank of this process: 0."""
    return Rank(0)


def distributed_context_get_size() -> Size:
    """Return the number of processes: 1."""
    return Size(1)


def distributed_context_world_rank() -> Rank:
    """Return the global rank of this process: 0."""
    return Rank(0)


def distributed_context_world_size() -> Size:
    """Return the number of processes of all groups: 1."""
    return Size(1)


def distributed_context_allgather_int(value: int) -> list[int]:
    """Return the values of all processes: that of this one."""
    return [value]


def distributed_context_subcontext_count() -> int:
    """Return the number of groups of processes: 1."""
    return 1


def distributed_context_subcontext_id() -> int | None:
    """Return this process's group: None, as there are no groups."""
    return None


def distributed_context_subcontext_sizes() -> list[int]:
    """Return the number of processes of each group."""
    return [1]


def _only_group(name: str, subcontext_id: int, rank: int = 0) -> None:
    if not isinstance(subcontext_id, int) or not isinstance(rank, int) or subcontext_id != 0 or rank != 0:
        raise ArgumentError(f"{name}: there is one group, 0, with one process, 0; got {subcontext_id} and {rank}")


def distributed_context_subcontext_size(subcontext_id: int) -> Size:
    """Return the number of processes of a group.

    Raises:
        ArgumentError: there is no such group.
    """
    _only_group("distributed_context_subcontext_size", subcontext_id)
    return Size(1)


def distributed_context_local_to_world_rank(subcontext_id: int, local_rank: int) -> Rank:
    """Return the global rank of a process of a group.

    Raises:
        ArgumentError: there is no such group or process.
    """
    _only_group("distributed_context_local_to_world_rank", subcontext_id, local_rank)
    return Rank(0)


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
    """Set the fabric configuration. Only DISABLED is supported.

    Raises:
        ArgumentError: no FabricConfig.
        UnsupportedError: a fabric.
    """
    if not isinstance(config, FabricConfig):
        raise ArgumentError(f"set_fabric_config: expected a FabricConfig, got {type(config).__name__} {config!r}")
    if config is not FabricConfig.DISABLED:
        raise UnsupportedError(
            f"set_fabric_config: {config}: {SEVERAL_CHIPS}",
            "unimplemented",
        )
