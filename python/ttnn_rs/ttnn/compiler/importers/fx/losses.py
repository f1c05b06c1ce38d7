"""Losses."""

from __future__ import annotations

import math
from typing import Any, Final

from ttnn.compiler.importers.builder import element_of, scalar, shape_of
from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.builder.types import is_integer
from ttnn.compiler.importers.fx.reductions import log_softmax
from ttnn.compiler.importers.fx.scope import Arguments, Row, Scope
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS", "chosen", "weights"]


def chosen(s: Scope, target: SSAValue, classes: int, rank: int) -> SSAValue:
    """Return ones at the classes of a target, else zeros: [batch, classes, ..]."""
    import numpy as np

    have = shape_of(target)
    at = min(1, rank - 1)
    index = s.reshape(target, [*have[:at], 1, *have[at:]])
    line = [1] * rank
    line[at] = classes
    numbers = s.b.constant(np.arange(classes).reshape(line), element_of(target))
    return s.cast(s.b.eq(index, numbers), scalar("f32"))


def weights(s: Scope, target: SSAValue, weight: SSAValue | None, ignored: int, classes: int, rank: int) -> SSAValue:
    """Return the weight of each class of a target, zero.

    For ignored ones: [batch, classes, ..].
    """
    at = min(1, rank - 1)
    ones = chosen(s, target, classes, rank)
    if weight is not None:
        line = [1] * rank
        line[at] = classes
        ones = s.b.multiply(ones, s.reshape(s.wide(weight), line))
    if 0 <= ignored < classes:
        have = shape_of(target)
        kept = s.cast(s.b.ne(target, s.number(ignored, target)), scalar("f32"))
        ones = s.b.multiply(ones, s.reshape(kept, [*have[:at], 1, *have[at:]]))
    return ones


def _likelihood(s: Scope, a: Arguments, logs: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Return the loss and the sum of weights."""
    rank = len(shape_of(logs))
    at = min(1, rank - 1)
    every = weights(s, a.target, a.weight, a.ignore_index, shape_of(logs)[at], rank)
    loss = s.b.neg(s.reduce("sum", s.b.multiply(logs, every), [at]))
    total = s.reduce("sum", every, list(range(rank)))
    if not a.reduction:
        return loss, total
    loss = s.reduce("sum", loss, list(range(len(shape_of(loss)))))
    return (s.one(s.b.div(loss, total)) if a.reduction == 1 else loss), total


def _nll(s: Scope, a: Arguments) -> SSAValue:
    return s.cast(_likelihood(s, a, s.wide(a.self))[0], a.element)


def _nll_forward(s: Scope, a: Arguments) -> list[SSAValue]:
    loss, total = _likelihood(s, a, s.wide(a.self))
    return [s.cast(loss, a.element), s.cast(total, a.element)]


def _cross_entropy(s: Scope, a: Arguments) -> SSAValue:
    x = s.wide(a.self)
    at = min(1, len(shape_of(x)) - 1)
    logs = log_softmax(s, x, at)
    if is_integer(element_of(a.target)):
        if a.label_smoothing:
            refuse("with smoothed labels has no TTIR operation")
        return s.cast(_likelihood(s, a, logs)[0], a.element)
    if a.weight is not None or a.label_smoothing:
        refuse("of probabilities with weights or smoothing has no TTIR operation")
    loss = s.b.neg(s.reduce("sum", s.b.multiply(logs, s.wide(a.target)), [at]))
    return s.cast(_reduced(s, loss, a.reduction), a.element)


def _reduced(s: Scope, loss: SSAValue, reduction: int) -> SSAValue:
    shape = shape_of(loss)
    if not reduction:
        return loss
    total = s.reduce("sum", loss, list(range(len(shape))))
    return s.times(total, 1 / max(1, math.prod(shape))) if reduction == 1 else total


def _difference(function: Any) -> Row:
    def row(s: Scope, a: Arguments) -> SSAValue:
        rest = s.b.subtract(s.wide(a.self), s.wide(a.target))
        return s.cast(_reduced(s, function(s, rest), a.reduction), a.element)

    return row


def _binary(s: Scope, a: Arguments) -> SSAValue:
    x, y = s.wide(a.self), s.wide(a.target)
    low = s.number(-100, x)
    first = s.b.maximum(s.b.log(x), low)
    second = s.b.maximum(s.b.log(s.plus(s.b.neg(x), 1)), low)
    loss = s.b.neg(s.b.add(s.b.multiply(y, first), s.b.multiply(s.plus(s.b.neg(y), 1), second)))
    if a.weight is not None:
        loss = s.b.multiply(loss, s.wide(a.weight))
    return s.cast(_reduced(s, loss, a.reduction), a.element)


ROWS: Final[dict[str, Row]] = {
    "aten.binary_cross_entropy": _binary,
    "aten.cross_entropy_loss": _cross_entropy,
    "aten.l1_loss": _difference(lambda s, x: s.b.abs(x)),
    "aten.mse_loss": _difference(lambda s, x: s.b.multiply(x, x)),
    "aten.nll_loss": _nll,
    "aten.nll_loss2d_forward": _nll_forward,
    "aten.nll_loss_forward": _nll_forward,
    "aten.nll_loss_nd": _nll,
}
