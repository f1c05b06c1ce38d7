"""The compiler's dialects as tables, from which operations are made."""

from ttnn.compiler.dialects.operations import TableOp, make, operation_class
from ttnn.compiler.dialects.verify import by_name, common

__all__ = ["TableOp", "by_name", "common", "make", "operation_class"]
