"""Building blocks of rules: shapes, conditions, windows, message numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ttnn.compiler.dialects.layout_attributes import TTNNLayoutAttr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import SSAValue, TensorType, VerifyException

__all__ = [
    "Rule",
    "Shape",
    "element_text",
    "flat_image",
    "is_float",
    "is_integer",
    "layout_of",
    "list_text",
    "need",
    "need_rank",
    "padding_of",
    "pair_of",
    "require_4d",
    "shape_of",
    "tuple_text",
    "window_count",
]

Shape = tuple[int, ...]
Rule = Callable[[TableOp], None]


def shape_of(value: SSAValue) -> Shape:
    """Return the shape of a tensor or memref value.

    Raises:
        VerifyException: The value has no shape.
    """
    get = getattr(value.type, "get_shape", None)
    if get is None:
        raise VerifyException("expected a ranked tensor")
    return tuple(get())


def need(condition: bool, message: str) -> None:
    """Refuse an operation unless a condition holds.

    Raises:
        VerifyException: It does not hold.
    """
    if not condition:
        raise VerifyException(message)


def tuple_text(values: Sequence[Any]) -> str:
    """Return numbers as a message of MLIR has a shape: `(1, 2)`."""
    return "(" + ", ".join(map(str, values)) + ")"


def list_text(values: Sequence[Any]) -> str:
    """Return numbers as a message of MLIR has a list: `(1,2)`."""
    return "(" + ",".join(map(str, values)) + ")"


def element_text(value: SSAValue) -> str:
    """Return a tensor's element type text; empty for others."""
    kind = value.type
    return attribute_text(kind.element_type) if isinstance(kind, TensorType) else ""


def is_float(value: SSAValue) -> bool:
    """Return whether a value is a tensor of floating point numbers."""
    return element_text(value) in ("f32", "bf16", "f16", "f64") or ", bf" in element_text(value)


def is_integer(value: SSAValue) -> bool:
    """Return whether a value is a tensor of integers."""
    return re.fullmatch(r"[us]?i\d+", element_text(value)) is not None


def layout_of(value: SSAValue) -> TTNNLayoutAttr | None:
    """Return the layout of a tensor of the library, or None."""
    encoding = value.type.encoding if isinstance(value.type, TensorType) else None
    return encoding if isinstance(encoding, TTNNLayoutAttr) else None


def need_rank(value: SSAValue, rank: int, message: str) -> None:
    """Refuse a tensor of another rank."""
    need(len(shape_of(value)) == rank, message)


def require_4d(names: dict[str, SSAValue | None], end: str = "must be a 4D tensor") -> None:
    """Refuse tensors of another rank.

    `end` is how the message continues after the name.
    """
    for name, value in names.items():
        if value is not None:
            need(len(shape_of(value)) == 4, f"{name} {end}")


def pair_of(op: TableOp, name: str, word: str) -> Shape:
    """Return an attribute that is one number for both directions, or two."""
    value = op.get(name)
    if isinstance(value, int):
        return (value, value)
    need(len(value) == 2, f"Expected integer or pair of integers, got tuple of size {len(value)}{word}")
    return tuple(value)


def padding_of(op: TableOp, word: str) -> Shape:
    """Return top, left, bottom, right."""
    value = op.get("padding")
    if isinstance(value, int):
        return (value,) * 4
    need(
        len(value) in (2, 4),
        f"Expected integer, pair, or tuple of size 4, but got tuple of size {len(value)}{word}",
    )
    return (*value, *value) if len(value) == 2 else tuple(value)


def flat_image(op: TableOp) -> Shape | None:
    """Return batch, height and width of a flattened image, or None."""
    value = op.properties.get("flattened_compat_info")
    if value is None:
        return None
    numbers = [int(one) for one in re.findall(r"= (\d+)", attribute_text(value))]
    return tuple(numbers[:3]) if len(numbers) == 3 else None


def window_count(
    size: int, kernel: int, stride: int, before: int, after: int, dilation: int, *, up: bool = False
) -> int:
    """Return a window's position count along a dimension.

    `up` counts one that is cut off at the end.
    """
    rest = size + before + after - dilation * (kernel - 1) - 1
    return (-(-rest // stride) if up else rest // stride) + 1
