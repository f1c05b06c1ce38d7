"""Recurrent nodes, step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ttnn.compiler.importers.builder import element_of, scalar, shape_of
from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.onnx.scope import Node, Row, Scope
from ttnn.compiler.importers.onnx.unary import activation
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]


@dataclass
class _Cell:
    """One direction of a recurrent node.

    Attributes:
        weights: Weights of the input, [features, gates * hidden].
        recurrence: Weights of the state, [hidden, gates * hidden].
        first: Bias of the input's part; None for zeros.
        second: Bias of the state's part.
        peepholes: Weights of the cell's state for each gate; None for none.
        activations: Functions of the gates.
        clip: Limit of what they are given; 0 for none.
        hidden: Size of the state.
    """

    weights: SSAValue
    recurrence: SSAValue
    first: SSAValue | None
    second: SSAValue | None
    peepholes: list[SSAValue] | None
    activations: list[Callable[[SSAValue], SSAValue]]
    clip: float
    hidden: int


def _part(s: Scope, x: SSAValue, dim: int, begin: int, end: int) -> SSAValue:
    begins, ends = [0] * len(shape_of(x)), list(shape_of(x))
    begins[dim], ends[dim] = begin, end
    return s.slice(x, begins, ends)


def _gate(s: Scope, x: SSAValue, at: int, hidden: int) -> SSAValue:
    return _part(s, x, len(shape_of(x)) - 1, at * hidden, (at + 1) * hidden)


def _functions(s: Scope, a: Node, direction: int, defaults: Sequence[str]) -> list[Callable[[SSAValue], SSAValue]]:
    names = [one.decode("utf-8", "replace") for one in a.attribute("activations", [])] or list(defaults) * 2
    alphas, betas = list(a.attribute("activation_alpha", [])), list(a.attribute("activation_beta", []))
    begin = direction * len(defaults)
    if len(names) < begin + len(defaults):
        refuse(f"has {len(names)} activations, expected {len(defaults)} for each direction")

    def made(at: int) -> Callable[[SSAValue], SSAValue]:
        alpha = float(alphas[at]) if at < len(alphas) else None
        beta = float(betas[at]) if at < len(betas) else None
        return lambda x: activation(s, names[at], x, alpha, beta)

    return [made(begin + i) for i in range(len(defaults))]


def _clipped(s: Scope, cell: _Cell, x: SSAValue) -> SSAValue:
    if not cell.clip:
        return x
    return s.one(s.b.clamp_scalar(x, min=-cell.clip, max=cell.clip))


def _plus(s: Scope, x: SSAValue, bias: SSAValue | None) -> SSAValue:
    return x if bias is None else s.one(s.b.add(x, bias))


def _rnn(s: Scope, a: Node, cell: _Cell, given: SSAValue, state: list[SSAValue]) -> list[SSAValue]:
    del a
    total = s.b.add(given, _plus(s, s.matmul(state[0], cell.recurrence), cell.second))
    return [cell.activations[0](_clipped(s, cell, total))]


def _gru(s: Scope, a: Node, cell: _Cell, given: SSAValue, state: list[SSAValue]) -> list[SSAValue]:
    (hidden,), n, b = state, cell.hidden, s.b
    gate, candidate = cell.activations
    rest = _plus(s, s.matmul(hidden, cell.recurrence), cell.second)
    update = gate(_clipped(s, cell, b.add(_gate(s, given, 0, n), _gate(s, rest, 0, n))))
    reset = gate(_clipped(s, cell, b.add(_gate(s, given, 1, n), _gate(s, rest, 1, n))))
    if a.attribute("linear_before_reset", 0):
        inner = b.multiply(reset, _gate(s, rest, 2, n))
    else:
        inner = s.matmul(s.one(b.multiply(reset, hidden)), _gate(s, cell.recurrence, 2, n))
        inner = _plus(s, inner, None if cell.second is None else _gate(s, cell.second, 2, n))
    new = candidate(_clipped(s, cell, b.add(_gate(s, given, 2, n), inner)))
    return [s.one(b.add(b.multiply(s.plus(s.b.neg(update), 1), new), b.multiply(update, hidden)))]


def _lstm(s: Scope, a: Node, cell: _Cell, given: SSAValue, state: list[SSAValue]) -> list[SSAValue]:
    (hidden, memory), n, b = state, cell.hidden, s.b
    gate, candidate, last = cell.activations
    total = b.add(given, _plus(s, s.matmul(hidden, cell.recurrence), cell.second))
    enter, leave, forget, new = (_gate(s, total, i, n) for i in range(4))
    if cell.peepholes is not None:
        enter = b.add(enter, b.multiply(cell.peepholes[0], memory))
        forget = b.add(forget, b.multiply(cell.peepholes[2], memory))
    kept = gate(_clipped(s, cell, enter))
    forgotten = s.plus(s.b.neg(kept), 1) if a.attribute("input_forget", 0) else gate(_clipped(s, cell, forget))
    memory = s.one(b.add(b.multiply(forgotten, memory), b.multiply(kept, candidate(_clipped(s, cell, new)))))
    if cell.peepholes is not None:
        leave = b.add(leave, b.multiply(cell.peepholes[1], memory))
    return [s.one(b.multiply(gate(_clipped(s, cell, leave)), last(memory))), memory]


_DEFAULTS: Final[dict[str, tuple[str, ...]]] = {
    "RNN": ("Tanh",),
    "GRU": ("Sigmoid", "Tanh"),
    "LSTM": ("Sigmoid", "Tanh", "Tanh"),
}
_GATES: Final = {"RNN": 1, "GRU": 3, "LSTM": 4}


def _recurrent(kind: str, step: Any) -> Row:
    """Return the row of a recurrent node.

    Operands are X, W, R, B, lengths, and the first states.
    """

    def row(s: Scope, a: Node) -> Any:
        batch_first = bool(a.attribute("layout", 0))
        x = s.wide(a[0])
        x = s.permute(x, [1, 0, 2]) if batch_first else x
        time, batch, _ = shape_of(x)
        hidden = a.shape(2)[2]
        lengths = a.known(4)
        if lengths is not None and any(int(one) != time for one in lengths):
            refuse("with sequences of different lengths has no TTIR operation")
        direction = a.attribute("direction", "forward")
        directions = 2 if direction == "bidirectional" else 1
        if time * directions * 12 > a.unrolled:
            refuse(f"has {time:,} steps, too many to be written out ({a.unrolled:,} nodes)")
        states = 2 if kind == "LSTM" else 1
        outputs, finals = [], []
        for number in range(directions):
            cell = _cell(s, a, kind, number, hidden)
            state = [_state(s, a, 5 + i, number, batch, hidden, batch_first) for i in range(states)]
            projected = _plus(s, s.matmul(x, cell.weights), cell.first)
            backward = number == 1 or direction == "reverse"
            steps: list[SSAValue] = []
            for at in reversed(range(time)) if backward else range(time):
                given = s.reshape(_part(s, projected, 0, at, at + 1), [batch, _GATES[kind] * hidden])
                state = step(s, a, cell, given, state)
                steps.append(s.reshape(state[0], [1, 1, batch, hidden]))
            outputs.append(s.concat(steps[::-1] if backward else steps, 0))
            finals.append(state)
        element = element_of(a[0])
        every = s.concat(outputs, 1)
        last = [s.concat([s.reshape(one[i], [1, batch, hidden]) for one in finals], 0) for i in range(states)]
        if batch_first:
            every = s.permute(every, [2, 0, 1, 3])
            last = [s.permute(one, [1, 0, 2]) for one in last]
        return [s.cast(one, element) for one in (every, *last)][: len(a.proto.output)]

    return row


def _state(s: Scope, a: Node, at: int, number: int, batch: int, hidden: int, batch_first: bool) -> SSAValue:
    """Return the first state of a direction; zeros by default."""
    given = a.optional(at)
    if given is None:
        return s.one(s.b.splat(0, [batch, hidden], scalar("f32")))
    wide = s.wide(given)
    wide = s.permute(wide, [1, 0, 2]) if batch_first else wide
    return s.reshape(_part(s, wide, 0, number, number + 1), [batch, hidden])


def _cell(s: Scope, a: Node, kind: str, number: int, hidden: int) -> _Cell:
    count = _GATES[kind]

    def of(at: int) -> SSAValue:
        one = _part(s, s.wide(a[at]), 0, number, number + 1)
        return s.reshape(one, shape_of(one)[1:])

    first = second = None
    if a.value(3) is not None:
        both = s.reshape(of(3), [1, 2 * count * hidden])
        first = _part(s, both, 1, 0, count * hidden)
        second = _part(s, both, 1, count * hidden, 2 * count * hidden)
    peepholes = None
    if kind == "LSTM" and a.value(7) is not None:
        line = s.reshape(of(7), [1, 3 * hidden])
        peepholes = [_part(s, line, 1, i * hidden, (i + 1) * hidden) for i in range(3)]
    functions = _functions(s, a, number, _DEFAULTS[kind])
    clip = float(a.attribute("clip", 0.0))
    return _Cell(s.swap(of(1)), s.swap(of(2)), first, second, peepholes, functions, clip, hidden)


ROWS: Final[dict[tuple[str, str], Row]] = {
    ("", "GRU"): _recurrent("GRU", _gru),
    ("", "LSTM"): _recurrent("LSTM", _lstm),
    ("", "RNN"): _recurrent("RNN", _rnn),
}
