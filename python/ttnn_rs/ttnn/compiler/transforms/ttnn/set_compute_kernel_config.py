"""`ttnn-set-compute-kernel-config`: default math fidelity and accumulation.

Of operations without their own.
"""

from __future__ import annotations

import re
from typing import Any

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.attributes import OpaqueDialectAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import Attribute, TensorType
from ttnn.compiler.transforms.base import table_ops
from ttnn.compiler.transforms.options import OptionError

__all__ = ["run"]

_FIELDS = ("math_fidelity", "math_approx_mode", "fp32_dest_acc_en", "packer_l1_acc", "dst_full_sync_en")
_WORDS = {
    "math_fidelity": ("lofi", "hifi2", "hifi3", "hifi4", "undefined"),
    **dict.fromkeys(_FIELDS[1:], ("true", "false", "unset")),
}
# Products of matrices with more columns lose too many bits in a bfloat16 accumulator.
_LARGE = 50000


def run(module: Module, options: dict[str, Any]) -> None:
    """Complete the configurations of all operations that have one.

    Raises:
        OptionError: A value is none of those of its option.
    """
    given = {}
    for field in _FIELDS:
        name = field.replace("_", "-")
        value = options[name]
        if value not in _WORDS[field]:
            raise OptionError(f"option {name} is one of {', '.join(_WORDS[field])}, not {value!r}.")
        if value not in ("undefined", "unset"):
            given[field] = value
    for op in table_ops(module.op, "ttnn."):
        if "compute_config" in op.text.attributes:
            _complete(op, given)


def _complete(op: TableOp, given: dict[str, str]) -> None:
    old = op.properties.get("compute_config")
    fields = {**given, **(_read(old) if old is not None else {})}
    if op.name in ("ttnn.matmul", "ttnn.linear") and _is_large(op):
        fields.update(fp32_dest_acc_en="true", packer_l1_acc="true")
    if not fields:
        return
    text = ", ".join(f"{field} = {fields[field]}" for field in _FIELDS if field in fields)
    new = OpaqueDialectAttr("ttnn.device_compute_kernel_config", (f"<{text}>",))
    op.properties["compute_config"] = new


def _read(attribute: Attribute) -> dict[str, str]:
    return dict(re.findall(r"(\w+) = (\w+)", attribute_text(attribute)))


def _is_large(op: TableOp) -> bool:
    shape = shape_of(op.inputs[0])
    inner = shape[-2] if op.get("transpose_a") and len(shape) > 1 else shape[-1]
    kind = op.results[0].type
    return inner > _LARGE and isinstance(kind, TensorType) and attribute_text(kind.element_type) == "bf16"
