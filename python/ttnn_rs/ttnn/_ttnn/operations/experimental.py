"""Experimental operators: names in annotations, and programs fused from others."""

from __future__ import annotations

from types import SimpleNamespace

from ttnn.metal.fusion import AddressSlots as AddressSlots
from ttnn.metal.fusion import FusionDispatchState as FusionDispatchState
from ttnn.metal.fusion import compute_address_slots as compute_address_slots
from ttnn.metal.fusion import fusion_dispatch_op as fusion_dispatch_op
from ttnn.metal.semaphores import GlobalSemaphore

ccl_experimental = SimpleNamespace(GlobalSemaphoreArg=GlobalSemaphore | list[GlobalSemaphore])
