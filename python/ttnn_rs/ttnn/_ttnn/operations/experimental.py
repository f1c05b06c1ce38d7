"""Collective operators on trial, of which programs name a type in annotations."""

from __future__ import annotations

from types import SimpleNamespace

from ttnn.metal.semaphores import GlobalSemaphore

ccl_experimental = SimpleNamespace(GlobalSemaphoreArg=GlobalSemaphore | list[GlobalSemaphore])
