"""2025-10 scatters to cache rows, [batch, heads, length, size]."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.xdsl_adapter import SSAValue
from ttnn.compiler.transforms.base import owner_of
from ttnn.compiler.transforms.ttir.constants import constant_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["cache_positions", "known_integers"]

_MOVES = ("reshape", "broadcast", "typecast")


def cache_positions(op: TableOp) -> SSAValue | None:
    """Return a cache scatter's row positions; None for others.

    One for each row of the update.

    The indices are a line of positions, or a grid with all four coordinates of each element of the update.
    """
    target, indices, update = op.group("input")[0], op.group("scatter_indices")[0], op.group("update")[0]
    full, part, shape = shape_of(target), shape_of(update), shape_of(indices)
    dims, vector = list(op.get("scatter_dims_to_operand_dims")), op.get("index_vector_dim")
    windows, inserted = list(op.get("update_window_dims")), list(op.get("inserted_window_dims"))
    batches = op.get("input_batching_dims") or op.get("scatter_indices_batching_dims")
    if batches or inserted != dims or len(full) != 4 or len(part) != 4 or (*full[:2], full[3]) != (*part[:2], part[3]):
        return None
    count = part[2]
    if dims == [2] and windows == [0, 1, 3]:
        if shape not in ((count,), (count, 1)) or vector != 1:
            return None
        value = _behind(indices, ("reshape", "typecast", "mesh_shard"))
        return value if math.prod(shape_of(value)) == count else indices
    if dims == [0, 1, 2, 3] and not windows and shape == (*part, 4) and vector == 4:
        return _of_grid(indices, part)
    return None


def _of_grid(indices: SSAValue, part: tuple[int, ...]) -> SSAValue | None:
    """Return grid positions whose other coordinates are the update's own."""
    import numpy as np

    concat = owner_of(indices)
    if not isinstance(concat, TableOp) or concat.name != "ttir.concat" or len(concat.inputs) != 4:
        return None
    positions = _behind(concat.inputs[2], _MOVES)
    count = math.prod(shape_of(positions))
    if any(shape_of(one) != (*part, 1) for one in concat.inputs) or count != part[2]:
        return None
    own = np.indices(part)
    for dim, value in enumerate(concat.inputs):
        # Moves bring numbers that count to where the positions go.
        known = {positions: np.arange(count).reshape(shape_of(positions))} if dim == 2 else {}
        numbers = known_integers(value, known)
        if numbers is None or not np.array_equal(numbers[..., 0], own[dim]):
            return None
    return positions


def _behind(value: SSAValue, names: tuple[str, ...]) -> SSAValue:
    """Return the value that operations of these names move or convert."""
    owner = owner_of(value)
    while isinstance(owner, TableOp) and owner.name.removeprefix("ttir.") in names:
        value = owner.inputs[0]
        owner = owner_of(value)
    return value


def known_integers(value: SSAValue, known: dict[SSAValue, NDArray[Any]] | None = None) -> NDArray[Any] | None:
    """Return numbers of constants, counting and moves; None for others."""
    import numpy as np

    if known and value in known:
        return known[value]
    constant, owner, shape = constant_of(value), owner_of(value), shape_of(value)
    if constant is not None:
        return np.broadcast_to(constant.data.astype(np.int64), shape) if constant.data.dtype.kind in "iu" else None
    if not isinstance(owner, TableOp) or not owner.name.startswith("ttir."):
        return None
    name = owner.name[5:]
    if name == "arange":
        numbers = np.arange(owner.get("start"), owner.get("end"), owner.get("step"))
        axis = owner.get("arange_dimension")
        return np.broadcast_to(numbers.reshape([-1 if i == axis else 1 for i in range(len(shape))]), shape)
    if name not in (*_MOVES, "add", "multiply"):
        return None
    given = [known_integers(one, known) for one in owner.inputs]
    if any(one is None for one in given):
        return None
    first: Any = given[0]
    if name == "reshape":
        return np.asarray(first.reshape(shape))
    if name in ("broadcast", "typecast"):
        return np.broadcast_to(first, shape)
    second: Any = given[1]
    return np.asarray(first + second if name == "add" else first * second)
