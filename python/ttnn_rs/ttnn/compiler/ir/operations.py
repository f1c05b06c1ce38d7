"""Operations that no table has: they keep their generic form."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

from ttnn.compiler.ir.xdsl_adapter import Operation, OpTraits

__all__ = ["GenericOp", "generic_operation", "written_name"]


class GenericOp(Operation):
    """An operation of which only the generic form is known."""

    name: ClassVar[str] = "builtin.unregistered"
    traits: ClassVar[OpTraits] = OpTraits(lambda: ())

    @classmethod
    def has_trait(cls, trait: Any, *, value_if_unregistered: bool = True) -> bool:
        """Return whether it may have a trait: unknown, so any."""
        del trait
        return value_if_unregistered

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


def written_name(operation: Operation) -> str:
    """Return the name of an operation in the text of its module."""
    return str(getattr(operation, "written_name", operation.name))


@cache
def generic_operation(name: str) -> type[GenericOp]:
    """Return the class of an operation of that name."""
    return type("GenericOp", (GenericOp,), {"name": name, "__doc__": f"The operation {name} in generic form."})
