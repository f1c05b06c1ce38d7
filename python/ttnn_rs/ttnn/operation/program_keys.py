"""Keys of operator programs in a device's program cache.

Source: tt-metal `compute_program_hash` of the device operations below `ttnn/cpp/ttnn/operations`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

from ttnn.base.enums import Layout
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.mesh_device import MeshDevice
from ttnn.tensor.tensor import Tensor

STANDS_FOR: Final[dict[type, Callable[[Any], Any]]] = {}
"""Types whose values hold device memory.

The functions return what a key has instead: keys outlive calls, and the memory must not.
"""
_NUMBERS: Final = frozenset({int, float})
_SEQUENCES: Final = frozenset({list, tuple})


def program_keys(
    name: str,
    family: str,
    *,
    scalars: bool,
    creates: bool,
    any_shape: bool = False,
    arguments: Collection[int] = (),
) -> Callable[[Sequence[Any]], tuple[Any, Any]]:
    """Return the function for a call's device and program key.

    Calls with the same specifications and options share a program. The shapes of interleaved tiles are arguments of
    the programs of element-wise operators: those of one tensor count the pages, those of two look at how the last two
    dimensions are broadcast.

    Args:
        name: The operator's, below `ttnn`.
        family: The family of its entry.
        scalars: Whether numbers are arguments of the program, and no part of it.
        creates: Whether the program runs on a device that is given, and not on that of an operand.
        any_shape: Whether the shapes of interleaved tiles are arguments, however they fit each other.
        arguments: Positions of parameters that are arguments of the program.
    """
    by_pages, by_broadcast = family == "unary", family == "binary"
    if arguments:
        whole = program_keys(name, family, scalars=scalars, creates=creates, any_shape=any_shape)
        return lambda values: whole([value for position, value in enumerate(values) if position not in arguments])

    def part(value: Any) -> Any:
        if isinstance(value, set):
            return frozenset(value)
        if type(value) in STANDS_FOR:
            return STANDS_FOR[type(value)](value)
        return tuple(map(part, value)) if isinstance(value, list | tuple) else getattr(value, "spec", value)

    def program(values: Sequence[Any]) -> tuple[Any, Any]:
        # On the way of every call: what is frequent and cheap comes first, and what was not given is left out.
        device = pair = None
        key: list[Any] = [name]
        for value in values:
            if value is None:
                continue
            kind = type(value)
            if kind is Tensor:
                spec = value.spec
                if by_pages:
                    spec = _pages_of(spec)
                elif by_broadcast:
                    pair = spec if device is None else _broadcast_of(pair, spec)
                    spec = _kind_of(spec)
                elif any_shape:
                    spec = _kind_of(spec)
                key.append(spec)
                device = value._device
            elif kind in _SEQUENCES:
                if value and not (scalars and type(value[0]) in _NUMBERS):
                    key.append(part(value))
            elif kind is set:
                key.append(part(value))
            elif creates and kind is MeshDevice:
                device = value
            elif not (scalars and kind in _NUMBERS):
                key.append(part(value) if kind in STANDS_FOR else value)
        if by_broadcast:
            key.append(pair if type(pair) is tuple else None)
        return device, tuple(key)

    return program


def _shares(spec: TensorSpec) -> bool:
    """Return whether other shapes run the same program.

    Data type and memory config are the same.
    """
    return spec.layout is Layout.TILE and spec.memory_config.interleaved


def _kind_of(spec: TensorSpec) -> Any:
    return (spec.dtype, spec.memory_config, spec.tile) if _shares(spec) else spec


def _pages_of(spec: TensorSpec) -> Any:
    return (spec.dtype, spec.memory_config, spec.tile, spec.num_pages) if _shares(spec) else spec


def _broadcast_of(first: Any, second: TensorSpec) -> Any:
    """Return the operand broadcast along the last dimensions.

    0 for none, 1 or 2.
    """
    if type(first) is not TensorSpec:
        return first  # The result is written to a third tensor.
    a, b = ((1, 1, *spec.shape._dims)[-2:] for spec in (first, second))
    return tuple(0 if m == n else 1 if m == 1 else 2 for m, n in zip(a, b, strict=True))
