"""Comparison of values."""

from ttnn.compiler.frontends.forge.checkers import (
    AllCloseValueChecker,
    AutomaticValueChecker,
    FullValueChecker,
    ValueChecker,
)

__all__ = ["AllCloseValueChecker", "AutomaticValueChecker", "FullValueChecker", "ValueChecker"]
