"""`ttnn-weight-dtype-conversion`: weights of products of matrices in block formats."""

from __future__ import annotations

from typing import Any, Final

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import SSAValue, StringAttr
from ttnn.compiler.transforms.base import table_ops
from ttnn.compiler.transforms.constant_paths import ConstantPaths
from ttnn.compiler.transforms.options import OptionError
from ttnn.compiler.transforms.ttnn.build import Build, change_operands
from ttnn.compiler.transforms.ttnn.layout.types import element_word, retyped

__all__ = ["block_format", "run"]

_NAME: Final = "ttcore.weight_dtype"
_LEGAL: Final = ("bfp_bf8", "bfp_bf4", "bf16")
_FORMATS: Final = ("none", "bfp_bf8", "bfp_bf4")


def block_format(word: str) -> str | None:
    """Return the block format that an option names, None for "none".

    Raises:
        OptionError: It names another one.
    """
    if word not in _FORMATS:
        raise OptionError(f"option target-dtype is one of {', '.join(_FORMATS)}, not {word!r}.")
    return None if word == "none" else word


def run(module: Module, options: dict[str, Any]) -> None:
    """Convert parameter weights to the operation's or option's format.

    Raises:
        OptionError: The option names no block format.
    """
    general = block_format(options["target-dtype"])
    constant = ConstantPaths()
    for op in table_ops(module.op, "ttnn."):
        if op.name in ("ttnn.matmul", "ttnn.linear", "ttnn.sparse_matmul"):
            value = op.group("b")[0]
            dtype = _wanted(module, op, general) if constant(value) else None
            if dtype is not None and element_word(value.type) in ("bf16", "f32") and element_word(value.type) != dtype:
                change_operands(op, b=_converted(Build(module, op), value, dtype))


def _wanted(module: Module, op: TableOp, general: str | None) -> str | None:
    named = op.attributes.get(_NAME)
    if not isinstance(named, StringAttr):
        return general
    if named.data in _LEGAL:
        return named.data
    message = f'ignoring invalid {_NAME} "{named.data}"; legal values are: {", ".join(_LEGAL)}'
    module.warnings.append(module.error(op, message, severity="warning"))
    return general


def _converted(build: Build, value: SSAValue, dtype: str) -> SSAValue:
    """Return a weight in a format.

    4 bits are made on the host, whose rounding is better.
    """
    if dtype != "bfp_bf4":
        return build.value("typecast", [value], retyped(value.type, dtype=dtype))
    host = build.value("from_device", [value], retyped(value.type, space="system_memory"))
    cast = build.value("typecast", [host], retyped(host.type, dtype=dtype))
    return build.value("to_device", [cast, build.device], retyped(value.type, dtype=dtype))
