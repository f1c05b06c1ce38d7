"""Small programs that only make or reshape arrays: computed on the host.

jax runs `jnp.ones`, `jnp.arange` and the like as programs of one or two operations. Up to `LIMIT` elements they are
cheaper on the host than a launch, and exact: no arithmetic is among them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ttnn.compiler.frontends.jax.artifact import Artifact, _type

__all__ = ["LIMIT", "shortcut"]

LIMIT: Final = 65_536
"""Most elements of an array that is made on the host."""

_Step = Callable[[dict[Any, Any]], None]


def shortcut(artifact: Artifact) -> Callable[[Sequence[Any]], list[Any]] | None:
    """Return a function of arrays that computes a program.

    None for a program that needs the device.

    Args:
        artifact: The program.
    """
    types = [*artifact.inputs, *artifact.outputs]
    if any(np.prod(one.shape, dtype=np.int64) > LIMIT for one in types):
        return None
    block = artifact.main.regions[0].blocks[0]
    operations = list(block.operations)
    if len(operations) > _MOST:
        return None
    numbers = {value: i for i, value in enumerate(block.arguments)}
    steps = []
    for op in operations[:-1]:
        row = _ROWS.get(op.operation.name)
        step = row(op) if row is not None else None
        if step is None:
            return None
        sources = [numbers[value] for value in op.operands]
        numbers[op.results[0]] = len(numbers)
        steps.append((step, sources))
    results = [numbers[value] for value in operations[-1].operands]

    def run(arguments: Sequence[Any]) -> list[Any]:
        values = list(arguments)
        for step, sources in steps:
            values.append(step(*(values[i] for i in sources)))
        return [np.array(values[i]) for i in results]

    return run


_MOST: Final = 8
"""Most operations of a program that runs on the host."""


def _constant(op: Any) -> Callable[..., Any] | None:
    kind = _type(op.results[0].type, "a constant")
    if kind.dtype == np.bool_ or kind.dtype.kind == "V":
        # Booleans are packed and bfloat16 has no buffer format: the importer reads those.
        return None
    value = np.array(op.attributes["value"]).astype(kind.dtype).reshape(kind.shape)
    return lambda: value


def _iota(op: Any) -> Callable[..., Any] | None:
    kind, axis = _type(op.results[0].type, "an iota"), op.attributes["iota_dimension"].value
    if kind.dtype.kind not in "iuf":
        return None
    shape = [1] * len(kind.shape)
    shape[axis] = kind.shape[axis]
    line = np.arange(kind.shape[axis]).astype(kind.dtype).reshape(shape)
    return lambda: np.broadcast_to(line, kind.shape)


def _broadcast(op: Any) -> Callable[..., Any] | None:
    kind, axes = _type(op.results[0].type, "a broadcast"), list(op.attributes["broadcast_dimensions"])

    def run(array: Any) -> Any:
        shape = [1] * len(kind.shape)
        for axis, dim in zip(axes, array.shape, strict=True):
            shape[axis] = dim
        return np.broadcast_to(array.reshape(shape), kind.shape)

    return run


def _reshape(op: Any) -> Callable[..., Any] | None:
    shape = _type(op.results[0].type, "a reshape").shape
    return lambda array: array.reshape(shape)


def _convert(op: Any) -> Callable[..., Any] | None:
    before, after = _type(op.operands[0].type, "an operand"), _type(op.results[0].type, "a result")
    if before.dtype.kind not in "iub" or after.dtype.kind == "b":
        # Floats are rounded by the device, as it rounds them.
        return None
    return lambda array: array.astype(after.dtype)


_ROWS: Final[dict[str, Callable[[Any], Callable[..., Any] | None]]] = {
    "stablehlo.constant": _constant,
    "stablehlo.iota": _iota,
    "stablehlo.broadcast_in_dim": _broadcast,
    "stablehlo.reshape": _reshape,
    "stablehlo.convert": _convert,
}
