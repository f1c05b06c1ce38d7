"""Tensors of PyTorch at the border of programs.

Also their copies on the device.
"""

from __future__ import annotations

import weakref
from typing import Any, Final

import torch

import ttnn
from ttnn.base.exceptions import UnsupportedError

__all__ = ["Copies", "from_device", "to_host"]

_HOST: Final = {
    torch.bool: torch.bfloat16,
    torch.float16: torch.bfloat16,
    torch.float64: torch.float32,
    torch.int8: torch.int32,
    torch.int16: torch.int32,
    torch.int64: torch.int32,
    torch.uint8: torch.int32,
}
"""Types that stand for those that the device does not have."""


def to_host(value: torch.Tensor, name: str) -> Any:
    """Return a tensor of PyTorch as a host tensor.

    Its type is the one that stands for its own on the device.

    Raises:
        UnsupportedError: It has integers beyond 32 bits.
    """
    if value.dtype == torch.int64 and value.numel():
        low, high = int(value.min()), int(value.max())
        wrong = low if low < -(1 << 31) else high
        if low < -(1 << 31) or high >= 1 << 31:
            raise UnsupportedError(f"{name}: {wrong} does not fit 32 bits, and the device has no wider integers.")
    made = value.detach().to(_HOST.get(value.dtype, value.dtype)).contiguous()
    return ttnn.from_torch(made)


def from_device(tensor: Any, dtype: torch.dtype, shape: tuple[int, ...]) -> torch.Tensor:
    """Return a tensor of the device as one of PyTorch."""
    found = ttnn.to_torch(tensor).reshape(shape)
    assert isinstance(found, torch.Tensor)
    return found != 0 if dtype == torch.bool else found.to(dtype)


class Copies:
    """Copies of tensors on the device.

    They are kept as long as the tensors live and do not change.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, int, int, dict[Any, Any]]] = {}

    def of(self, value: torch.Tensor) -> dict[Any, Any]:
        """Return the copies of a tensor by form.

        None is left if it has changed.
        """
        if value.is_inference():
            # These tensors do not count their changes.
            return {}
        known = self._known.get(id(value))
        if known is not None:
            reference, version, pointer, kept = known
            if reference() is value and version == value._version and pointer == value.data_ptr():
                return kept
        copies: dict[Any, Any] = {}
        key = id(value)
        reference = weakref.ref(value, lambda _: self._known.pop(key, None))
        self._known[key] = (reference, value._version, value.data_ptr(), copies)
        return copies
