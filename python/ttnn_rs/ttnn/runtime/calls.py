"""Keys of operator calls, under which their programs are cached."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, Final, NamedTuple

import numpy as np

from ttnn._engine import Buffer
from ttnn.base.activation import UnaryWithParam
from ttnn.base.config import CONFIG
from ttnn.base.core_range import CoreCoord, CoreGrid, CoreRange, CoreRangeSet
from ttnn.base.enums import BufferType, DataType, Layout
from ttnn.base.memory_config import MemoryConfig, NdShardSpec, ShardSpec
from ttnn.base.observers import OBSERVERS, runs_programs
from ttnn.base.shape import Shape
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.tile import Tile
from ttnn.base.vendor_enum import VendorEnum
from ttnn.device.coordinates import MeshCoordinate
from ttnn.device.mesh_device import MeshDevice
from ttnn.tensor.tensor import Tensor

_unique: Final[set[type]] = {type(None), str, bytes, DataType, Layout, BufferType, MemoryConfig, TensorSpec}
"""Immutable types whose values are never equal across types.

Enumerations join when they are met.
"""
_NUMBERS: Final = frozenset({bool, int})
_SEQUENCES: Final = frozenset({tuple, list})
_KEYWORDS: Final = object()
"""Separator before the names of keyword arguments in a key."""
_ALIASES: Final = object()
"""Separator before the positions of operands that share memory in a key."""

Parts = Callable[[Any], tuple[Any, ...]]
"""Returns what makes up a value of a type."""
_parts: Final[dict[type, Parts | None]] = {
    Shape: lambda shape: (shape._dims,),
    CoreCoord: attrgetter("_x", "_y"),
    CoreGrid: attrgetter("x", "y"),
    CoreRange: lambda cores: (cores._box,),
    CoreRangeSet: lambda cores: (cores._boxes,),
    ShardSpec: attrgetter("grid", "orientation", "shape"),
    NdShardSpec: attrgetter("grid", "orientation", "shard_distribution_strategy", "shard_shape"),
    MeshCoordinate: attrgetter("_values"),
    Tile: attrgetter("_height", "_width", "_transpose"),
    UnaryWithParam: attrgetter("op_type", "params"),
}
"""Types with parts that identify values, or None.

None for types whose values cannot be told apart.
"""


class Composite(NamedTuple):
    """A type made of tensors.

    Attributes:
        parts: Returns the tensors of a value.
        make: Returns a value of tensors, or of placeholders for them: it checks nothing.
    """

    parts: Parts
    make: Callable[[tuple[Any, ...]], Any]


COMPOSITES: Final[dict[type, Composite]] = {}
"""Types made of tensors."""


class Call(NamedTuple):
    """A call of an operator.

    Attributes:
        key: What tells it apart: operator, specifications of its tensors, other arguments, numerics mode.
        tensors: Its tensors on the device, in the order of its arguments.
        operands: Their buffers, each once.
        device: Where it runs.
    """

    key: tuple[Any, ...]
    tensors: list[Tensor]
    operands: list[Buffer]
    device: MeshDevice


_new: Final[Callable[..., Call]] = tuple.__new__
"""Makes a `Call` without a Python function."""


class _Unknown(Exception):
    """A value cannot be told apart from others of its type."""


def identify(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call | None:
    """Return key and operands of a call.

    None inside of a call that is being resolved, while an observer has runs blocked, for calls without a device, and
    for calls with host tensors or with arguments of types that cannot be compared.

    Args:
        name: The operator.
        args: Positional arguments as the caller gave them.
        kwargs: Keyword arguments likewise.
    """
    if OBSERVERS and not runs_programs():
        return None
    key: list[Any] = [name, CONFIG.numerics]
    tensors: list[Tensor] = []
    operands: list[Buffer] = []
    devices: list[MeshDevice] = []
    values = args
    if kwargs:
        key.append(_KEYWORDS)
        key.extend(kwargs)
        values = (*args, *kwargs.values())
    # Frequent kinds are told apart here, without a further call.
    for value in values:
        kind = type(value)
        if kind is Tensor:
            buffers = value.buffers
            if not buffers:
                return None
            key.append(value.spec.token)
            tensors.append(value)
            operands.append(buffers[0])
        elif kind in _unique:
            key.append(value)
        else:
            try:
                _add(key, tensors, operands, devices, (value,))
            except _Unknown:
                return None
    count = len(operands)
    if count > 1 and (count > 2 or operands[0] is operands[1]) and len(distinct := dict.fromkeys(operands)) != count:
        positions = dict(zip(distinct, range(len(distinct)), strict=True))
        key.append(_ALIASES)
        key += [positions[operand] for operand in operands]
        operands = list(distinct)
    device = tensors[0]._device if tensors else devices[0] if devices else None
    if device is None:
        return None
    if device._several:
        # How operands lie on the mesh decides how results do.
        key += [getattr(tensor, "_topology", None) for tensor in tensors]
        key += [operand.is_on_all_chips or tuple(operand.places) for operand in operands]
    return _new(Call, (tuple(key), tensors, operands, device))


def question_key(what: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...] | None:
    """Return the key of a call that is only asked about.

    None with arguments of types that cannot be compared. Host tensors are equal to themselves only.

    Args:
        what: What else tells it apart; the operator first.
        args: Positional arguments; specifications stand for device tensors.
        kwargs: Keyword arguments likewise.
    """
    key: list[Any] = [what, CONFIG.numerics, *kwargs, _KEYWORDS]
    tensors: list[Tensor] = []
    operands: list[Buffer] = []
    try:
        _add(key, tensors, operands, [], args, True)
        if kwargs:
            key.append(_KEYWORDS)
            _add(key, tensors, operands, [], kwargs.values(), True)
    except _Unknown:
        return None
    if len(operands) > 1:
        positions: dict[Buffer, int] = {}
        key += [positions.setdefault(operand, len(positions)) for operand in operands]
        key += [getattr(tensor, "_topology", None) for tensor in tensors]
    return tuple(key)


def _add(
    key: list[Any],
    tensors: list[Tensor],
    operands: list[Buffer],
    devices: list[MeshDevice],
    values: Iterable[Any],
    on_host: bool = False,
) -> None:
    """Add values to a key, collecting tensors and devices.

    Args:
        key: Gets what tells the values apart.
        tensors: Gets tensors on a device.
        operands: Gets their buffers.
        devices: Gets devices.
        values: The values.
        on_host: Whether host tensors may be among them.
    """
    for value in values:
        kind = type(value)
        if kind is Tensor:
            if not value.buffers:
                if not on_host:
                    raise _Unknown
                key += (kind, value.tensor_id)
                continue
            key.append(value.spec.token)
            tensors.append(value)
            operands.append(value.buffers[0])
        elif kind in _unique:
            key.append(value)
        elif kind in _NUMBERS:
            key += (kind, value)
        elif kind is float:
            # The two zeros are equal, but not the same number; NaN is not equal to itself.
            key += (kind, value if value and value == value else str(value))
        elif kind in _SEQUENCES:
            key += (kind, len(value))
            _add(key, tensors, operands, devices, value, on_host)
        elif kind is MeshDevice:
            key.append(kind)
            devices.append(value)
        elif issubclass(kind, VendorEnum):
            _unique.add(kind)
            key.append(value)
        else:
            parts = _parts[kind] if kind in _parts else _parts_of(kind)
            if parts is None:
                raise _Unknown
            key.append(kind)
            _add(key, tensors, operands, devices, parts(value), on_host)


def _parts_of(kind: type) -> Parts | None:
    """Return how a new type's values are told apart."""
    parts: Parts | None = COMPOSITES[kind].parts if kind in COMPOSITES else None
    if issubclass(kind, enum.Enum):
        parts = lambda value: (value.name,)  # noqa: E731
    elif issubclass(kind, np.generic):
        parts = lambda value: (value.item(),)  # noqa: E731
    elif issubclass(kind, tuple):
        parts = lambda value: (tuple(value),)  # noqa: E731
    elif dataclasses.is_dataclass(kind) and kind.__module__.startswith("ttnn.base."):
        names = tuple(field.name for field in dataclasses.fields(kind))
        parts = attrgetter(*names) if len(names) > 1 else lambda value: tuple(getattr(value, name) for name in names)
    _parts[kind] = parts
    return parts
