"""The official module of this name: small helpers of the host."""

from __future__ import annotations

from ttnn.base.memory_config import create_sharded_memory_config as create_sharded_memory_config
from ttnn.base.memory_config import create_sharded_memory_config_ as create_sharded_memory_config_
from ttnn.base.work_split import num_cores_to_corerangeset as num_cores_to_corerangeset
from ttnn.base.work_split import split_work_to_cores as split_work_to_cores
from ttnn.tensor.printing import set_printoptions as set_printoptions


def divup(a: int, b: int) -> int:
    """Return a / b, rounded up."""
    return -(-a // b)


def roundup(a: int, b: int) -> int:
    """Return the least multiple of b that is at least a."""
    return divup(a, b) * b
