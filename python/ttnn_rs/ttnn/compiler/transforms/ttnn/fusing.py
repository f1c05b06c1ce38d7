"""`ttnn-fusing`: convolutions and products compute the activation of their result themselves."""

from __future__ import annotations

from typing import Final

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.ir.attributes import OpaqueDialectAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import Operation, SSAValue, StringAttr
from ttnn.compiler.transforms.base import replace, table_ops
from ttnn.compiler.transforms.ttnn.layout.types import element_word

__all__ = ["run"]

_CONVOLUTIONS: Final = {
    "2025-10": ("ttnn.relu", "ttnn.relu6", "ttnn.silu"),
    "2026-08": ("ttnn.relu", "ttnn.relu6", "ttnn.silu", "ttnn.sigmoid"),
}
_PRODUCTS: Final = {"2025-10": (), "2026-08": ("ttnn.sigmoid", "ttnn.silu", "ttnn.gelu")}


def run(module: Module) -> None:
    """Fuse activations into the operations that have no other use."""
    for op in table_ops(module.op, "ttnn."):
        if op.name == "ttnn.conv2d":
            _convolution(op, _CONVOLUTIONS.get(module.version, ()))
        elif op.name in ("ttnn.matmul", "ttnn.linear"):
            _product(op, _PRODUCTS.get(module.version, ()))


def _only_user(value: SSAValue) -> Operation | None:
    uses = list(value.uses)
    return uses[0].operation if len(uses) == 1 else None


def _convolution(op: TableOp, names: tuple[str, ...]) -> None:
    """A convolution's activation becomes part of its configuration.

    Or that of its result in another shape.
    """
    config = op.properties.get("conv2d_config")
    fields = "" if config is None else attribute_text(config).partition("<")[2].removesuffix(">")
    user = _only_user(op.results[0])
    if user is not None and user.name == "ttnn.reshape":
        user = _only_user(user.results[0])
    if user is None or user.name not in names or "activation = <" in fields:
        return
    word = user.name.partition(".")[2]
    parts = [f"activation = <op_type = {word}>", *([fields] if fields else [])]
    if "weights_dtype" in fields:
        dtype, _, rest = fields.partition(", ")
        parts = [dtype, parts[0], *([rest] if rest else [])]
    else:
        parts.insert(0, f"weights_dtype = {element_word(op.group('weight')[0].type)}")
    op.properties["conv2d_config"] = OpaqueDialectAttr("ttnn.conv2d_config", (f"<{', '.join(parts)}>",))
    replace(user, [user.operands[0]])


def _product(op: TableOp, names: tuple[str, ...]) -> None:
    """An activation of a product becomes its attribute."""
    user = _only_user(op.results[0])
    given = op.properties.get("activation")
    if user is None or user.name not in names or (isinstance(given, StringAttr) and given.data):
        return
    op.properties["activation"] = StringAttr(user.name.partition(".")[2])
    replace(user, [user.operands[0]])
