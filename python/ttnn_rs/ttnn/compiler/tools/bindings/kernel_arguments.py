"""`ttmlir.dialects.ttkernel.ir`: what a kernel is called with, attributes of the later versions."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import ClassVar

from ttnn.base.exceptions import ArgumentError
from ttnn.compiler.ir.attributes import OpaqueDialectAttr
from ttnn.compiler.tools.bindings.ir import Attribute, Context

__all__ = ["ir"]

_ARGUMENT_TYPES = (
    "cb_port",
    "buffer_address",
    "local_semaphore",
    "named_argument",
    "global_semaphore",
    "scalar",
    "tensor_accessor_args",
)


class ArgAttr(Attribute):
    """`#ttkernel.arg`: an argument of a kernel."""

    name: ClassVar[str] = "ttkernel.arg"
    _parts: tuple[int, int, bool]

    @staticmethod
    def get(ctx: Context, argTypeValue: int, operandIndex: int, isUniform: bool = True) -> ArgAttr:  # noqa: N803
        """Return an argument.

        Args:
            ctx: What it belongs to.
            argTypeValue: Number of its kind in the dialect: 0 for the port of a circular buffer, 1 for an address.
            operandIndex: The operand that it describes.
            isUniform: Whether it is the same on all cores.

        Raises:
            ArgumentError: There is no such kind, or the index is negative.
        """
        if not 0 <= argTypeValue < len(_ARGUMENT_TYPES) or operandIndex < 0:
            raise ArgumentError(
                f"ArgAttr.get: expected an argument type from 0 to {len(_ARGUMENT_TYPES) - 1} and an operand index of "
                f"at least 0, got {argTypeValue} and {operandIndex}."
            )
        text = f"<arg_type = {_ARGUMENT_TYPES[argTypeValue]}, operand_index = {operandIndex}"
        text += ">" if isUniform else ", is_uniform = false>"
        made = ArgAttr(OpaqueDialectAttr(ArgAttr.name, (text,)))
        made._parts = argTypeValue, operandIndex, bool(isUniform)
        return made

    @staticmethod
    def maybe_downcast(attribute: Attribute) -> ArgAttr | None:
        """Return the attribute if it is an argument, else None."""
        return attribute if isinstance(attribute, ArgAttr) else None

    @property
    def arg_type_as_value(self) -> int:
        """Number of its kind."""
        return self._parts[0]

    @property
    def operand_index(self) -> int:
        """The operand that it describes."""
        return self._parts[1]

    @property
    def is_uniform(self) -> bool:
        """Return True if it is the same on all cores."""
        return self._parts[2]


class ArgSpecAttr(Attribute):
    """`#ttkernel.arg_spec`: the arguments of a kernel."""

    name: ClassVar[str] = "ttkernel.arg_spec"
    _parts: tuple[list[ArgAttr], list[ArgAttr]]

    @staticmethod
    def get(ctx: Context, rtArgs: Sequence[ArgAttr], ctArgs: Sequence[ArgAttr]) -> ArgSpecAttr:  # noqa: N803
        """Return a kernel's runtime and compile-time arguments."""
        words = [
            f"{name} = [{', '.join(str(one).removeprefix(f'#{ArgAttr.name}') for one in given)}]"
            for name, given in (("rt_args", rtArgs), ("ct_args", ctArgs))
            if given
        ]
        made = ArgSpecAttr(OpaqueDialectAttr(ArgSpecAttr.name, (f"<{' '.join(words)}>",)))
        made._parts = list(rtArgs), list(ctArgs)
        return made

    @staticmethod
    def maybe_downcast(attribute: Attribute) -> ArgSpecAttr | None:
        """Return the attribute if it is a list of arguments, else None."""
        return attribute if isinstance(attribute, ArgSpecAttr) else None

    @property
    def rt_args(self) -> list[ArgAttr]:
        """Arguments that it gets when it runs."""
        return self._parts[0]

    @property
    def ct_args(self) -> list[ArgAttr]:
        """Arguments that it gets when it is compiled."""
        return self._parts[1]


ir = SimpleNamespace(ArgAttr=ArgAttr, ArgSpecAttr=ArgSpecAttr)
"""Attributes."""
