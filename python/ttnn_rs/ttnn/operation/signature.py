"""Operator signatures: argument kinds, parameters, and binding of calls.

A signature is data. From it come the binding of a call, the vendor-shaped `TypeError` and the docstring, so that none
of the three can disagree. Binding is the hot path of a small operator call and therefore does one dictionary look-up
and one type test per argument that was actually given.

Source: TT-NN docs, "Wrong arguments" and the signatures that the official package prints.
"""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from keyword import iskeyword
from typing import Any, Final

import numpy as np

from ttnn.base.activation import UnaryWithParam
from ttnn.base.call import is_float, type_text
from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.core_range import CoreCoord, CoreRangeSet
from ttnn.base.enums import (
    DataType,
    Layout,
    ShardOrientation,
    TensorMemoryLayout,
    TileReshapeMapMode,
    UnaryOpType,
)
from ttnn.base.exceptions import ArgumentError, UnsupportedError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.shape import Shape
from ttnn.base.tile import Tile
from ttnn.device.coordinates import SubDeviceId
from ttnn.device.lifecycle import MeshDevice
from ttnn.tensor.tensor import Tensor

OUTPUT_TENSOR_NAMES: Final = (
    "output_tensor",
    "optional_tensor",
    "optional_output_tensor",
    "out",
    "output",
    "output_tensors",
    "optional_output_tensors",
)
GRADIENT_NAMES: Final = ("input_grad", "other_grad", "input_a_grad", "input_b_grad")

_INTEGERS: Final = (int, np.integer)
_NUMBERS: Final = (int, float, np.integer, np.floating)
_SEQUENCES: Final = (list, tuple)


@dataclass(frozen=True)
class Kind:
    """One kind of argument.

    Args:
        text: How the official package spells it in a signature.
        accepts: Accepted Python values.
        spelled: Its type annotation, if that is not the text without the names of modules.
    """

    text: str
    accepts: Callable[[Any], bool]
    spelled: str = ""

    @property
    def annotation(self) -> str:
        """The type that annotations state, in names of `ttnn`."""
        names = re.sub(r"[a-z_.:]+(?:\.|::)(?=[A-Z])", "", self.spelled or self.text)
        return " | ".join(dict.fromkeys(names.split(" | ")))


def instance_kind(text: str, *classes: type, spelled: str = "") -> Kind:
    """Return the kind of instances of `classes`, printed as `text`."""
    return Kind(text, lambda value: isinstance(value, classes), spelled)


HOST_CLASSES: Final[dict[str, type]] = {}
"""Classes of the host API by name.

Operators know them by name only; their modules put them here.
"""


def host_kind(name: str) -> Kind:
    """Return the kind of instances of a class of the host API."""
    return Kind(f"ttnn.{name}", lambda value: isinstance(value, HOST_CLASSES.get(name, ())), name)


def _is_word(value: object) -> bool:
    # No integer of the official binding has more than 64 bits.
    return isinstance(value, _INTEGERS) and -(2**63) <= int(value) < 2**64


def _are_words(value: object) -> bool:
    return isinstance(value, _SEQUENCES) and all(map(_is_word, value))


def _is_padding(value: object) -> bool:
    return isinstance(value, _SEQUENCES) and all(map(_are_words, value))


def _is_activation(value: object) -> bool:
    if isinstance(value, UnaryWithParam | UnaryOpType):
        return True
    # A pair (operator, parameter) converts implicitly, as in the official package.
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], UnaryOpType) and is_float(value[1])


TENSOR: Final = instance_kind("ttnn.Tensor", Tensor)
BOOLEAN: Final = instance_kind("bool", bool)
INTEGER: Final = Kind("int", _is_word)
FLOAT: Final = Kind("float", is_float)
NUMBER: Final = instance_kind("int | int | float", *_NUMBERS)
FILL_VALUE: Final = instance_kind("int | float", *_NUMBERS)
DATA_TYPE: Final = instance_kind("ttnn.DataType", DataType)
LAYOUT: Final = instance_kind("ttnn.Layout", Layout)
MEMORY_CONFIG: Final = instance_kind("ttnn.MemoryConfig", MemoryConfig)
MEMORY_LAYOUT: Final = instance_kind("ttnn.TensorMemoryLayout", TensorMemoryLayout)
ORIENTATION: Final = instance_kind("ttnn.ShardOrientation", ShardOrientation)
CORE_RANGE_SET: Final = instance_kind("ttnn.CoreRangeSet", CoreRangeSet)
CORE_COORD_OR_SET: Final = Kind(
    "ttnn.CoreCoord | ttnn.CoreRangeSet",
    lambda value: (
        isinstance(value, CoreCoord | CoreRangeSet)
        or (isinstance(value, tuple | list) and len(value) == 2 and all(map(_is_word, value)))
    ),
    "ttnn.CoreCoord | tuple[int, int] | ttnn.CoreRangeSet",
)
SUB_DEVICE_ID: Final = instance_kind("ttnn.SubDeviceId", SubDeviceId)
DEVICE: Final = instance_kind("ttnn._ttnn.multi_device.MeshDevice", MeshDevice)
TILE: Final = instance_kind("ttnn.Tile", Tile)
SHAPE: Final = instance_kind("ttnn.Shape", Shape)
COMPUTE_KERNEL_CONFIG: Final = instance_kind("ttnn.WormholeComputeKernelConfig", WormholeComputeKernelConfig)
RESHAPE_MODE: Final = instance_kind("ttnn.TileReshapeMapMode", TileReshapeMapMode)
INT_SEQUENCE: Final = Kind(
    "collections.abc.Sequence[int]",
    lambda value: isinstance(value, Shape) or _are_words(value),
    "Shape | Sequence[int]",
)
SHAPE_LIKE: Final = Kind("ttnn.Shape", INT_SEQUENCE.accepts, INT_SEQUENCE.spelled)
INT_OR_INTS: Final = Kind(
    "int | collections.abc.Sequence[int]",
    lambda value: _is_word(value) or _are_words(value),
)
PADDING: Final = Kind("collections.abc.Sequence[collections.abc.Sequence[int]]", _is_padding)
ACTIVATION: Final = Kind("ttnn.UnaryWithParam", _is_activation, "Activation")
ACTIVATIONS: Final = Kind(
    "collections.abc.Sequence[ttnn.EltwiseUnaryWithParam]",
    lambda value: isinstance(value, _SEQUENCES) and all(map(_is_activation, value)),
    "Sequence[Activation]",
)


_NUMBER_IN: Final = re.compile(r"\b(int|float)\b")


class _Required:
    """The default of a parameter that has none."""

    def __repr__(self) -> str:
        return "<required>"


REQUIRED: Final = _Required()


@dataclass(frozen=True)
class Param:
    """One parameter of an operator.

    Args:
        name: As in the official signature.
        kind: Kind of its values.
        default: Default value; `REQUIRED` if there is none.
        none: Whether `None` is taken as well; a default of `None` always is.
        doc: One sentence for the docstring.
        modelled: False for an option that the chip has and this program does not: any value but the default raises.
        check: Called with the operator's name, a value that is not the default, and all values of the call; raises for
            values that only the operands tell to be wrong.
        example: A value for the generated tests of tensors [1, 1, 64, 128], if the kind does not give one that fits.
    """

    name: str
    kind: Kind
    default: Any = REQUIRED
    none: bool = False
    doc: str = ""
    modelled: bool = True
    check: Callable[[str, Any, Sequence[Any]], None] | None = None
    example: Any = None

    def __post_init__(self) -> None:
        if self.default is None:
            object.__setattr__(self, "none", True)

    @property
    def text(self) -> str:
        """The parameter as a signature prints it."""
        kind = f"{self.kind.text} | None" if self.none else self.kind.text
        if self.default is REQUIRED:
            return f"{self.name}: {kind}"
        default = str(self.default) if isinstance(self.default, enum.Enum) else repr(self.default)
        return f"{self.name}: {kind} = {default}"

    @property
    def annotation(self) -> str:
        """The type that annotations state."""
        return f"{self.kind.annotation} | None" if self.none else self.kind.annotation


class Signature:
    """One overload: parameters, keyword-only ones, and the function.

    Parameters are positional or keyword.
    """

    __slots__ = (
        "_accepts",
        "_defaults",
        "_index",
        "_numbers",
        "_required",
        "_watched",
        "keywords",
        "params",
        "positional",
        "run",
    )

    def __init__(
        self,
        positional: Sequence[Param],
        keywords: Sequence[Param] = (),
        *,
        run: Callable[..., Any] | None = None,
    ) -> None:
        self.positional = tuple(positional)
        self.keywords = tuple(keywords)
        self.params = self.positional + self.keywords
        self.run = run
        self._index = {param.name: i for i, param in enumerate(self.params)}
        self._accepts = tuple(param.kind.accepts for param in self.params)
        self._defaults = [param.default for param in self.params]
        self._numbers = tuple(i for i, param in enumerate(self.params) if _NUMBER_IN.search(param.kind.text))
        self._required = tuple(i for i, param in enumerate(self.params) if param.default is REQUIRED)
        self._watched = tuple(i for i, param in enumerate(self.params) if not param.modelled or param.check is not None)
        if len(self._index) != len(self.params):
            raise ValueError("a signature names a parameter twice")

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any] | None:
        """Return all parameter values in order, or None if unfitting.

        Numbers of numpy become those of Python, and truth values integers where the parameter is one.
        """
        count = len(args)
        if count > len(self.positional):
            return None
        values = self._defaults.copy()
        accepts = self._accepts
        for i, value in enumerate(args):
            if not accepts[i](value) and not (value is None and self.params[i].none):
                return None
            values[i] = value
        for name, value in kwargs.items():
            position = self._index.get(name)
            if position is None or position < count:
                return None
            if not accepts[position](value) and not (value is None and self.params[position].none):
                return None
            values[position] = value
        for position in self._required:
            if values[position] is REQUIRED:
                return None
        for position in self._numbers:
            value = values[position]
            if isinstance(value, np.generic):
                values[position] = value.item()
            elif isinstance(value, bool) and self.params[position].kind is INTEGER:
                values[position] = int(value)
        return values

    def check_options(self, name: str, values: Sequence[Any]) -> None:
        """Raise for call options that are unfitting or not modelled.

        They do not fit its operands.

        Raises:
            UnsupportedError: an option that is not modelled has another value than its default.
            TtnnError: what the parameter's own check raises.
        """
        for position in self._watched:
            value, param = values[position], self.params[position]
            # An array is not compared: it is neither equal nor different.
            if value is param.default or (param.default is not None and value == param.default):
                continue
            if param.check is None:
                raise UnsupportedError(
                    f"{name}: {param.name}={value!r} is not modelled; leave it at its default, {param.default!r}."
                )
            param.check(name, value, values)

    def forms(self) -> list[tuple[tuple[Param, ...], tuple[Param, ...]]]:
        """Return the positional and the keyword parameters as Python can declare them.

        A parameter without a default after one with a default is passed by keyword, or all of them by position. One
        that is named like a Python keyword has a trailing underscore.
        """
        params = tuple(
            replace(param, name=f"{param.name}_") if iskeyword(param.name) else param for param in self.positional
        )
        last = max((i for i, param in enumerate(params) if param.default is REQUIRED), default=-1)
        first = next((i for i in range(last) if params[i].default is not REQUIRED), None)
        if first is None:
            return [(params, self.keywords)]
        required = tuple(replace(param, default=REQUIRED) for param in params[first:last])
        by_keyword = next(i for i in range(first, last + 1) if params[i].default is REQUIRED)
        return [
            ((*params[:first], *required, *params[last:]), self.keywords),
            (params[:by_keyword], (*params[by_keyword:], *self.keywords)),
        ]

    def text(self, name: str) -> str:
        """Return the line that the official package prints for this overload."""
        parts = [param.text for param in self.positional]
        if self.keywords:
            parts += ["*", *(param.text for param in self.keywords)]
        return f"{name}({', '.join(parts)})"


def merged(signatures: Sequence[Signature], returns: Callable[[Signature], str]) -> inspect.Signature:
    """Return overloads as one Python signature.

    The first, with all types of the others that have its parameters.
    """
    first = signatures[0]
    alike = [s for s in signatures if [p.name for p in s.params] == [p.name for p in first.params]]
    positional, keywords = first.forms()[-1]
    parameters = []
    for i, param in enumerate((*positional, *keywords)):
        types = dict.fromkeys(part for s in alike for part in s.params[i].annotation.split(" | "))
        parameters.append(
            inspect.Parameter(
                param.name,
                inspect.Parameter.KEYWORD_ONLY if i >= len(positional) else inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=inspect.Parameter.empty if param.default is REQUIRED else param.default,
                annotation=" | ".join(types),
            )
        )
    results = dict.fromkeys(map(returns, alike))
    return inspect.Signature(parameters, return_annotation=" | ".join(results))


def wrong_arguments(
    qualified_name: str, signatures: Sequence[Signature], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> ArgumentError:
    """Return the error for a call that fits no signature."""
    name = qualified_name.rsplit(".", 1)[-1]
    given = [type_text(value) for value in args] + [f"{key}={type_text(value)}" for key, value in kwargs.items()]
    lines = "\n".join(f"  {signature.text(name)}" for signature in signatures)
    return ArgumentError(
        f"\n{qualified_name}(): incompatible function arguments.\n\n"
        f"Called with:\n  {name}({', '.join(given)})\n\nAvailable signatures:\n{lines}"
    )
