"""The parser of affine expressions, simplifying as MLIR does, within limits."""

from __future__ import annotations

from typing import Any

from ttnn.compiler.ir import affine
from ttnn.compiler.ir.xdsl_adapter import AffineConstantExpr, AffineExpr, AffineParser
from ttnn.compiler.limits import DIMENSION, OPERANDS, RANK

__all__ = ["AffineTextParser"]


class AffineTextParser(AffineParser):
    """Parses one affine map or set.

    Attributes:
        left: How many expressions it may have.
    """

    left = RANK
    _levels = 0
    _operands = 0

    def _parse_affine_space(self) -> tuple[list[str], list[str]]:
        at = self._current_token.span
        dims, symbols = super()._parse_affine_space()
        if max(len(dims), len(symbols)) > RANK:
            self.raise_error(f"an affine map has at most {RANK} dimensions and {RANK} symbols", at)
        return dims, symbols

    def _parse_affine_expr(self, parse_optional_bare_id: Any) -> AffineExpr:
        if self._levels == 0:
            self._operands = 0
            self.left -= 1
            if self.left < 0:
                self.raise_error(f"an affine map has at most {RANK} results")
        self._levels += 1
        expression = super()._parse_affine_expr(parse_optional_bare_id)
        self._levels -= 1
        return expression

    def _parse_primary(self, parse_optional_bare_id: Any) -> AffineExpr:
        self._operands += 1
        if self._operands > OPERANDS:
            self.raise_error(f"an affine expression has at most {OPERANDS} operands")
        at = self._current_token.span
        operand = super()._parse_primary(parse_optional_bare_id)
        if isinstance(operand, AffineConstantExpr) and abs(operand.value) > DIMENSION:
            self.raise_error(f"a number of an affine expression is at most {DIMENSION}", at)
        return operand

    def _create_binop_expr(self, lhs: AffineExpr, rhs: AffineExpr, binop: Any) -> AffineExpr:
        word = binop.text
        if word == "-":
            return affine.add(lhs, affine.mul(rhs, affine.constant(-1)))
        build = {"+": affine.add, "*": affine.mul, "floordiv": affine.floordiv}.get(word)
        build = build or {"ceildiv": affine.ceildiv, "mod": affine.mod}[word]
        return build(lhs, rhs)
