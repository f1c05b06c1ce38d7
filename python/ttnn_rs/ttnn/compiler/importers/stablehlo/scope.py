"""The function that an import builds.

It has the values so far, and the functions of the program.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ttnn.compiler.importers.builder import Builder, tensor
from ttnn.compiler.importers.builder.segments import constants, host
from ttnn.compiler.importers.builder.steps import Refusal, Steps, need_float, refuse
from ttnn.compiler.importers.builder.types import is_bool, is_complex, width_of
from ttnn.compiler.ir.xdsl_adapter import Attribute, ComplexType, FuncOp, Operation, OpResult, SSAValue, TensorType

if TYPE_CHECKING:
    from ttnn.compiler.importers.stablehlo.view import View

__all__ = ["Refusal", "Scope", "need_float", "refuse", "trailing"]


class Scope(Steps, ABC):
    """State that the rows of an import share.

    Attributes:
        functions: Functions of the program by name.
        values: Values here by value of the program.
        mesh: Devices along each axis of the mesh.
        axes: The same by the names of Shardy.
        placements: Strings of GSPMD by value.
        local: Arguments that are parts already.
        segments: Whether loops, branches and operations of the host may be calls.
        islands: Whether operations of the host may be.
        limit: Most operations of a loop that is written out.
    """

    def __init__(
        self, builder: Builder, functions: dict[str, Operation], mesh: Sequence[int] = (), *, checked: bool = True
    ) -> None:
        super().__init__(builder, checked=checked)
        self.functions = functions
        self.values: dict[SSAValue, SSAValue] = {}
        self.mesh = tuple(mesh)
        self.axes: dict[str, int] = {}
        self.placements: dict[SSAValue, str] = {}
        self.local: set[SSAValue] = set()
        self.segments = self.islands = False
        self.limit = 0

    @abstractmethod
    def run(self, block: Any, arguments: Sequence[SSAValue]) -> list[SSAValue]:
        """Import a block; return its results."""

    @abstractmethod
    def outlined(self, what: str, block: Any, types: Sequence[Attribute], free: Sequence[SSAValue]) -> FuncOp:
        """Return a block as a function.

        Args:
            what: Part of its name.
            block: The block.
            types: Types of its arguments here.
            free: The values, which are further arguments unless they are constant.
        """

    def variables(self, free: Sequence[SSAValue]) -> list[SSAValue]:
        """Return values of the program here, those that are constant left out."""
        found = [self.values[one] for one in free]
        return [one for one in found if not isinstance(one, OpResult) or one.op.name != "ttir.constant"]

    def island(
        self, view: View, operation: str, values: Sequence[SSAValue], why: str, **options: int | str
    ) -> list[SSAValue]:
        """Return the results of an operation that the host computes.

        Args:
            view: The operation of the program.
            operation: Its name among those of the host.
            values: Its operands.
            why: The sentence if nothing may run on the host.
            options: Its options.
        """
        if not self.segments:
            refuse(why)
        if not self.islands:
            refuse("runs on the host, which TTNN_HOST_ISLANDS=0 forbids")
        return host(self.b, operation, values, [self.type(one) for one in view.types], constants(options))

    def call(self, name: str, arguments: Sequence[SSAValue]) -> list[SSAValue]:
        """Import the body of a function in place of its call."""
        function = self.functions.get(name)
        if function is None or not function.regions[0].blocks:
            refuse(f"calls @{name}, which has no body")
        return self.run(function.regions[0].blocks[0], arguments)

    def type(self, type_: Attribute) -> TensorType[Any]:
        """Return the type here of a type of the program.

        Complex numbers are pairs of float32.

        Raises:
            Refusal: It is no tensor with a static shape.
        """
        if not isinstance(type_, TensorType):
            refuse("has values that are no tensors")
        shape = list(type_.get_shape())
        if any(size < 0 for size in shape):
            refuse("has a dynamic shape; compile with fixed shapes")
        element = type_.element_type
        if isinstance(element, ComplexType):
            return tensor([*shape, 2], element.element_type)
        name = getattr(element, "name", "")
        if (
            name.startswith("f8")
            or (not is_bool(element) and width_of(element) < 8)
            or name in ("f4E2M1FN", "f6E2M3FN")
        ):
            refuse("has elements of less than 8 bits, or of float8")
        return tensor(shape, element)

    def operands(self, view: View) -> list[SSAValue]:
        """Return the values here of an operation's operands."""
        return [self.values[one] for one in view.op.operands]


def trailing(type_: Attribute) -> list[int]:
    """Return the dimensions that complex elements add."""
    return [2] if isinstance(type_, TensorType) and is_complex(type_.element_type) else []
