"""Factors and solutions of linear systems, which the host computes."""

from __future__ import annotations

from typing import Final

from ttnn.compiler.importers.stablehlo.scope import Scope
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]

_WHY: Final = "has no TTIR operation"


def _cholesky(scope: Scope, view: View) -> list[SSAValue]:
    return scope.island(view, "cholesky", scope.operands(view), _WHY, lower=int(view.get("lower", False)))


def _triangular_solve(scope: Scope, view: View) -> list[SSAValue]:
    return scope.island(
        view,
        "triangular_solve",
        scope.operands(view),
        _WHY,
        left=int(view.get("left_side", False)),
        lower=int(view.get("lower", False)),
        unit=int(view.get("unit_diagonal", False)),
        transposed=int(view.word("transpose_a") in ("TRANSPOSE", "ADJOINT")),
    )


ROWS: Final = {"stablehlo.cholesky": _cholesky, "stablehlo.triangular_solve": _triangular_solve}
