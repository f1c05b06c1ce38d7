"""The dialects of the Tenstorrent compiler as tables, from which the operations of all epochs are made."""

from ttnn.compiler.dialects import rules, rules_later
from ttnn.compiler.dialects.operations import TableOp, make, operation_class
from ttnn.compiler.dialects.text import parse_module, print_module

__all__ = ["TableOp", "make", "operation_class", "parse_module", "print_module", "rules", "rules_later"]
