"""Types of PyTorch and their elements in programs."""

from __future__ import annotations

from typing import Any, Final

from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.builder.types import scalar
from ttnn.compiler.ir.xdsl_adapter import Attribute

__all__ = ["NARROW", "element_for", "is_floating"]

_ELEMENTS: Final = {
    "torch.float32": "f32",
    "torch.float64": "f32",
    "torch.bfloat16": "bf16",
    "torch.float16": "bf16",
    "torch.int64": "si32",
    "torch.int32": "si32",
    "torch.int16": "si32",
    "torch.int8": "si32",
    "torch.uint8": "si32",
    "torch.bool": "i1",
}
NARROW: Final = {"torch.int8": (8, True), "torch.int16": (16, True), "torch.uint8": (8, False)}
"""Integers whose arithmetic is wrapped after each step.

Their bits, and whether they are signed.
"""


def element_for(dtype: Any) -> Attribute:
    """Return the element type that stands for a PyTorch dtype.

    Raises:
        Refusal: There is none.
    """
    name = _ELEMENTS.get(str(dtype))
    if name is None:
        refuse(f"has elements of {dtype}, which the device does not have")
    return scalar(name)


def is_floating(dtype: Any) -> bool:
    """Return whether a PyTorch dtype is floating point."""
    return bool(dtype.is_floating_point)
