"""Values of a model.

Tensors of the program, or arrays that are known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ttnn.compiler.importers.builder.types import shape_of
from ttnn.compiler.importers.onnx.types import Dtype
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["Value"]


@dataclass
class Value:
    """A value.

    Attributes:
        dtype: Its element type.
        tensor: What it is in the program; None until it is used there.
        known: Its elements, if they are known.
        name: Its name in the model.
    """

    dtype: Dtype
    tensor: SSAValue | None = None
    known: Any = None
    name: str = ""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""
        if self.known is not None:
            return tuple(self.known.shape)
        assert self.tensor is not None
        return shape_of(self.tensor)
