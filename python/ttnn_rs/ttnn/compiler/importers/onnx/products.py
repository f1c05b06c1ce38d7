"""Products of matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ttnn.compiler.importers.builder import element_of, shape_of
from ttnn.compiler.importers.builder.infer import broadcast_shapes
from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.onnx.scope import Node, Row, Scope
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]


def _product(s: Scope, x: SSAValue, y: SSAValue) -> SSAValue:
    """Return the matrix product of tensors of any rank."""
    first, second = shape_of(x), shape_of(y)
    s.need_float(x)
    if not first or not second:
        refuse("of scalars has no TTIR operation")
    left = s.reshape(x, [1, *first]) if len(first) == 1 else x
    right = s.reshape(y, [*second, 1]) if len(second) == 1 else y
    batch = broadcast_shapes([shape_of(left)[:-2], shape_of(right)[:-2]])
    wanted = [*batch, *first[-2:-1], *(second[-1:] if len(second) > 1 else ())]
    return s.reshape(s.matmul(left, right), wanted)


def _matmul(s: Scope, a: Node) -> Any:
    return _product(s, a[0], a[1])


def _fused(s: Scope, a: Node) -> Any:
    x, y = a[0], a[1]
    if a.attribute("transBatchA", 0) or a.attribute("transBatchB", 0):
        refuse("with transposed batches has no TTIR operation")
    x = s.swap(x) if a.attribute("transA", 0) else x
    y = s.swap(y) if a.attribute("transB", 0) else y
    return s.times(_product(s, x, y), float(a.attribute("alpha", 1.0)))


def _gemm(s: Scope, a: Node) -> Any:
    x, y = a[0], a[1]
    s.need_float(x)
    x = s.swap(x) if a.attribute("transA", 0) else x
    turned = bool(a.attribute("transB", 0))
    alpha, beta = float(a.attribute("alpha", 1.0)), float(a.attribute("beta", 1.0))
    bias = a.optional(2)
    if alpha == beta == 1 and bias is not None and len(shape_of(bias)) == 1:
        return s.one(s.b.linear(x, y, bias, transpose_b=turned))
    made = s.times(s.one(s.b.matmul(x, y, transpose_b=turned)), alpha)
    if bias is None:
        return made
    return s.one(s.b.add(made, s.times(bias, beta)))


class _Term:
    """An operand of an Einstein sum, and the letter of each dimension."""

    def __init__(self, tensor: SSAValue, letters: Sequence[str]) -> None:
        self.tensor, self.letters = tensor, list(letters)

    def size(self, letter: str) -> int:
        """Return the size of a dimension."""
        return shape_of(self.tensor)[self.letters.index(letter)]


def _einsum(s: Scope, a: Node) -> Any:
    text = str(a.attribute("equation")).replace(" ", "")
    left, arrow, right = text.partition("->")
    parts = left.split(",")
    if len(parts) != len(a.values):
        refuse(f"has the equation {text!r} for {len(a.values)} tensors")
    element = element_of(a[0])
    terms = []
    for i, part in enumerate(parts):
        letters = _letters(part, a.rank(i), text)
        terms.append(_diagonal(s, a, _Term(s.wide(a[i]) if a.dtype.is_floating_point else a[i], letters)))
    every = [one for term in terms for one in term.letters]
    if arrow:
        dots = sorted({one for one in every if len(one) > 1}, key=lambda one: -int(one[1:]))
        wanted = [letter for part in right.partition("...") for letter in (dots if part == "..." else part)]
    else:
        dots = sorted({one for one in every if len(one) > 1}, key=lambda one: -int(one[1:]))
        wanted = [*dots, *sorted(one for one in set(every) if len(one) == 1 and every.count(one) == 1)]
    made = terms[0]
    for i, term in enumerate(terms[1:], 1):
        later = {one for other in terms[i + 1 :] for one in other.letters}
        made = _joined(s, a, made, term, {*later, *wanted})
    made = _summed(s, made, set(wanted))
    if sorted(made.letters) != sorted(wanted):
        refuse(f"has the equation {text!r}, whose result has letters of no operand")
    return s.cast(s.permute(made.tensor, [made.letters.index(one) for one in wanted]), element)


def _letters(part: str, rank: int, text: str) -> list[str]:
    """Return the letters of dimensions; those of an ellipsis are numbered."""
    before, dots, after = part.partition("...")
    hidden = rank - len(before) - len(after)
    if not (before + after).isalpha() and before + after:
        refuse(f"has the equation {text!r}, which is not one of letters")
    if hidden < 0 or (hidden and not dots):
        refuse(f"has the equation {text!r} for a tensor of {rank} dimensions")
    return [*before, *(f".{i}" for i in reversed(range(hidden))), *after]


def _diagonal(s: Scope, a: Node, term: _Term) -> _Term:
    """Return a term in which no letter is repeated."""
    while len(set(term.letters)) < len(term.letters):
        letter = next(one for one in term.letters if term.letters.count(one) > 1)
        first = term.letters.index(letter)
        second = term.letters.index(letter, first + 1)
        made = s.aten("diagonal", a.dtype, self=term.tensor, dim1=first, dim2=second, offset=0)
        rest = [one for i, one in enumerate(term.letters) if i not in (first, second)]
        term = _Term(made, [*rest, letter])
    return term


def _summed(s: Scope, term: _Term, kept: set[str]) -> _Term:
    """Return a term summed over the letters that nobody reads."""
    dims = [i for i, one in enumerate(term.letters) if one not in kept]
    if dims and not element_is_float(term):
        refuse("of integers has no TTIR operation")
    return _Term(s.reduce("sum", term.tensor, dims), [one for one in term.letters if one in kept])


def element_is_float(term: _Term) -> bool:
    """Return whether a term has floats."""
    from ttnn.compiler.importers.builder.types import is_float

    return is_float(element_of(term.tensor))


def _joined(s: Scope, a: Node, first: _Term, second: _Term, kept: set[str]) -> _Term:
    """Return the product of two terms, summed over their own letters."""
    del a
    shared = set(first.letters) & set(second.letters)
    first, second = _summed(s, first, kept | shared), _summed(s, second, kept | shared)
    batch = [one for one in first.letters if one in shared and one in kept]
    inner = [one for one in first.letters if one in shared and one not in kept]
    rows = [one for one in first.letters if one not in shared]
    columns = [one for one in second.letters if one not in shared]
    sizes = {
        one: max(term.size(one) for term in (first, second) if one in term.letters)
        for one in (*batch, *inner, *rows, *columns)
    }
    parts = []
    for term, groups in ((first, (batch, rows, inner)), (second, (batch, inner, columns))):
        moved = s.permute(term.tensor, [term.letters.index(one) for group in groups for one in group])
        moved = s.expand(moved, [sizes[one] for group in groups for one in group])
        parts.append(s.reshape(moved, [math.prod(sizes[one] for one in group) for group in groups]))
    s.need_float(parts[0])
    letters = [*batch, *rows, *columns]
    return _Term(s.reshape(s.matmul(parts[0], parts[1]), [sizes[one] for one in letters]), letters)


ROWS: Final[dict[tuple[str, str], Row]] = {
    ("", "Einsum"): _einsum,
    ("", "Gemm"): _gemm,
    ("", "MatMul"): _matmul,
    ("com.microsoft", "FusedMatMul"): _fused,
}
