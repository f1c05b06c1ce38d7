"""Weights in the format that `ttcore.weight_dtype` of an argument asks for."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ttnn.compiler.dialects import TableOp
from ttnn.compiler.ir.xdsl_adapter import BlockArgument, FuncOp, StringAttr

Array = NDArray[Any]
#: Bits of the magnitude of an element; 16 of them share an exponent.
_BITS: Final = {"bfp_bf2": 1, "bfp_bf4": 3, "bfp_bf8": 7}

_MOVES: Final = (
    "broadcast", "concat", "permute", "repeat", "repeat_interleave", "reshape", "slice_static", "squeeze", "transpose",
    "typecast", "unsqueeze",
)  # fmt: skip


def in_blocks(values: Array, bits: int) -> Array:
    """Return nearest numbers in blocks of 16 with shared exponent.

    They have multiples of one power of two, of so many bits.
    """
    width = values.shape[-1]
    padded = np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, -width % 16)])
    blocks = padded.reshape(*values.shape[:-1], -1, 16)
    largest = np.abs(blocks).max(axis=-1, keepdims=True)
    step = 2.0 ** (np.floor(np.log2(np.where(largest > 0, largest, 1))) - bits + 1)
    most = 2**bits - 1
    made = np.clip(np.round(blocks / step), -most, most) * step
    return made.reshape(padded.shape)[..., :width]


def _formats(value: Any) -> set[int]:
    """The formats that arguments ask for of which a value is made."""
    if not isinstance(value, BlockArgument):
        moves = value.owner.name.removeprefix("ttir.") in _MOVES
        return set().union(*map(_formats, value.owner.operands)) if moves else set()
    function = value.owner.parent_op()
    attributes = function.arg_attrs if isinstance(function, FuncOp) else None
    entry = attributes.data[value.index].data.get("ttcore.weight_dtype") if attributes is not None else None
    return {_BITS[entry.data]} if isinstance(entry, StringAttr) and entry.data in _BITS else set()


def weight(op: TableOp, values: Array) -> Array:
    """Return a matmul's second operand in its finest source format."""
    found = _formats(op.inputs[1])
    return in_blocks(values, max(found)) if found else values
