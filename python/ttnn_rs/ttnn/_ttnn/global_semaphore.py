"""Semaphores at the same address of several cores."""

from __future__ import annotations

from ttnn.metal.semaphores import GlobalSemaphore as global_semaphore  # noqa: N813 - the official name
from ttnn.metal.semaphores import create_global_semaphore as create_global_semaphore
from ttnn.metal.semaphores import get_global_semaphore_address as get_global_semaphore_address
from ttnn.metal.semaphores import reset_global_semaphore_value as reset_global_semaphore_value

__all__ = [
    "create_global_semaphore",
    "get_global_semaphore_address",
    "global_semaphore",
    "reset_global_semaphore_value",
]
