"""Greedy rewriting: patterns are tried on operations until none applies.

A pattern is a function that gets a module and an operation. It returns the values that stand for the results of the
operation, True if it changed operations in place, or None if it does not apply. It inserts what it needs before the
operation, by the functions of `build` of each dialect. Operations without effect whose results are not used are
erased on the way, so a pattern that counts uses sees those that remain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import (
    Operation,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    SSAValue,
    Worklist,
)
from ttnn.compiler.transforms.traits import is_dead
from ttnn.compiler.version import Version, span

__all__ = ["Apply", "Pattern", "Result", "library_patterns", "pattern", "rewrite"]

Result = Sequence[SSAValue] | bool | None
Apply = Callable[[Module, TableOp], Result]

_MOST_REWRITES = 200
"""Rewrites per module operation that indicate a cycle of patterns.

The patterns undo each other.
"""


@dataclass(frozen=True)
class Pattern:
    """A pattern.

    Attributes:
        apply: The function.
        roots: Names of the operations that it starts from.
        versions: The versions that have it.
    """

    apply: Apply
    roots: tuple[str, ...]
    versions: frozenset[Version]

    @property
    def name(self) -> str:
        """Name of the function."""
        return getattr(self.apply, "__name__", "pattern").strip("_")


def pattern(apply: Apply, *roots: str, versions: str = "..", dialect: str = "ttir") -> Pattern:
    """Return a function's pattern on dialect operations, in some versions."""
    return Pattern(apply, tuple(f"{dialect}.{root}" for root in roots), frozenset(span(versions)))


def library_patterns(*rows: tuple[Apply, str], versions: str = "2025-10..") -> tuple[Pattern, ...]:
    """Return patterns of functions on `ttnn` operations.

    The names have spaces between.
    """
    return tuple(pattern(apply, *roots.split(), versions=versions, dialect="ttnn") for apply, roots in rows)


def rewrite(
    module: Module, patterns: Iterable[Pattern], *, within: Operation | None = None, backwards: bool = False
) -> bool:
    """Apply patterns from the first operation until none applies.

    Earlier patterns of the list are tried first.

    Args:
        module: The module.
        patterns: The patterns.
        within: Only operations in this one; default: the whole module.
        backwards: Start from the last operation, as greedy rewriting of MLIR does outside of `canonicalize`.

    Returns:
        Whether anything changed.

    Raises:
        CompileError: A pattern refuses an operation, or patterns undo each other without end.
    """
    owner = module.op if within is None else within
    dispatch = _Dispatch(module, patterns, owner)
    walker = PatternRewriteWalker(dispatch, walk_reverse=backwards)
    walker._worklist = _Living()
    changed = False
    for region in owner.regions:
        changed = walker.rewrite_region(region) or changed
        if dispatch.error is not None:
            raise dispatch.error
    return changed


class _Living(Worklist[Operation]):
    """A worklist without operations that a pattern erased elsewhere."""

    def __bool__(self) -> bool:
        while super().__bool__():
            op = self.pop()
            if op.parent is not None:
                self.push(op)
                return True
        return False


class _Dispatch(RewritePattern):
    """The patterns of a run, found by the name of an operation."""

    def __init__(self, module: Module, patterns: Iterable[Pattern], owner: Operation) -> None:
        self._module = module
        self._patterns: dict[str, list[Apply]] = {}
        for one in patterns:
            for root in one.roots if module.version in one.versions else ():
                self._patterns.setdefault(root, []).append(one.apply)
        self._left = _MOST_REWRITES * (1 + sum(1 for _ in owner.walk()))
        # The walker reports exceptions in its own words; ours keep their place in the text.
        self.error: CompileError | None = None

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Erase an unneeded operation, else apply the first matching pattern."""
        if self.error is not None or op.parent is None:
            return
        if is_dead(op):
            rewriter.erase(op)
            return
        if not isinstance(op, TableOp):
            return
        for apply in self._patterns.get(op.name, ()):
            before = op.prev_op
            try:
                values = apply(self._module, op)
            except CompileError as error:
                self.error = error
                return
            if values is None or values is False:
                continue
            self._left -= 1
            if self._left < 0:
                name = getattr(apply, "__name__", "?").strip("_")
                self.error = CompileError(
                    self._module.error(op, f"rewriting does not end; the last pattern was {name}")
                )
                return
            self._finish(op, before, values, rewriter)
            return

    @staticmethod
    def _finish(
        op: Operation, before: Operation | None, values: Sequence[SSAValue] | bool, rewriter: PatternRewriter
    ) -> None:
        """Report new operations to the walker, and replace the results."""
        new = []
        one = op.prev_op
        while one is not None and one is not before:
            new.append(one)
            one = one.prev_op
        for made in new:
            rewriter.handle_operation_insertion(made)
        if isinstance(values, bool):
            rewriter.notify_op_modified(op)
        else:
            above = [value.owner for value in op.operands]
            rewriter.replace(op, [], list(values))
            # What nobody needs any more goes at once: patterns that look at all users of a value do not see it.
            while above:
                owner = above.pop()
                if isinstance(owner, Operation) and owner.parent is not None and is_dead(owner):
                    above += [value.owner for value in owner.operands]
                    rewriter.erase(owner)
