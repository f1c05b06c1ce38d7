"""Creation in the used type, layout and memory, if exact.

Where that keeps their values.
"""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.ir.attributes import DenseAttr, ResourceAttr, element_format
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import TensorType
from ttnn.compiler.transforms.base import owner_of
from ttnn.compiler.transforms.rewriting import Result
from ttnn.compiler.transforms.traits import has
from ttnn.compiler.transforms.ttnn.build import Build
from ttnn.compiler.transforms.ttnn.layout.layouts import layout_of
from ttnn.compiler.transforms.ttnn.layout.types import element_word, on_host
from ttnn.compiler.versions.repeated import stated_by_default, states

__all__ = ["created"]

_DTYPES: Final[dict[str, Any]] = {
    "f32": np.float32,
    "bf16": ml_dtypes.bfloat16,
    "si32": np.int32,
    "u32": np.uint32,
    "u16": np.uint16,
    "u8": np.uint8,
}


def created(module: Module, op: TableOp) -> Result:
    """A changed created tensor is created in its changed form.

    If it is only made for the change.
    """
    made = owner_of(op.inputs[0])
    if not isinstance(made, TableOp) or not has(made, "creates") or not made.results[0].has_one_use():
        return None
    type_, layout = op.results[0].type, layout_of(op.results[0].type)
    if layout is None or made.results[0].owner.parent is not op.parent or not _keeps(module, made, op):
        return None
    name = made.name.removeprefix("ttnn.")
    to_host = on_host(layout)
    if name == "rand" and to_host:
        return None
    if name == "empty" and to_host:
        name = "zeros"
    build, properties = Build(module, made), dict[str, Any](made.properties)
    operands = [] if to_host else [build.device]
    new = build.op(name, operands, [type_], attributes=dict(made.attributes), **properties)
    new.location = made.location
    placed = states(op) & {"memory_config"}
    new.stated = stated_by_default(new) | placed
    return list(new.results)


def _keeps(module: Module, made: TableOp, op: TableOp) -> bool:
    """Return whether created values are exact in `op`'s result type."""
    before, after = element_word(made.results[0].type), element_word(op.results[0].type)
    name = made.name.removeprefix("ttnn.")
    # A random number is another each time, and nobody may read what an empty tensor holds.
    if name == "alloc":
        return False
    if before == after or name in ("ones", "zeros", "empty") or (name == "rand" and not made.get("seed")):
        return True
    if before not in _DTYPES or after not in _DTYPES:
        return False
    numbers = _numbers(module, made)
    if numbers is None:
        return False
    with np.errstate(all="ignore"):
        first = numbers.astype(_DTYPES[before])
        direct, twice = numbers.astype(_DTYPES[after]), first.astype(_DTYPES[after])
    # Casts of numbers that the data type does not hold are not those of the chip.
    fits = np.array_equal(twice.astype(np.float64), first.astype(np.float64))
    return fits and direct.tobytes() == twice.tobytes()


def _numbers(module: Module, made: TableOp) -> NDArray[Any] | None:
    """Return an operation's created numbers; None if unknown."""
    if made.name == "ttnn.full":
        return np.array([made.get("fill_value")])
    if made.name == "ttnn.arange":
        return np.arange(made.get("start"), made.get("end"), made.get("step"))
    value = made.attribute("value") if made.name == "ttnn.constant" else None
    if isinstance(value, DenseAttr):
        return value.to_numpy()
    if not isinstance(value, ResourceAttr) or not isinstance(value.type, TensorType):
        return None
    form = element_format(value.type.element_type)
    data = module.resources.get("builtin", {}).get(value.key)
    if form is None or data is None:
        return None
    dtype = np.dtype(getattr(ml_dtypes, form, None) or form)
    return np.frombuffer(data, dtype, offset=4) if len(data) > 4 and (len(data) - 4) % dtype.itemsize == 0 else None
