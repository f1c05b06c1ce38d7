"""Tensors of frameworks that stay on the device between runs.

Each is copied once for each form that programs ask for. A copy lives as long as the elements and one of the plans that
use it do.
"""

from __future__ import annotations

import weakref
from abc import abstractmethod
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

import ttnn
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import Description
from ttnn.compiler.frontends.border import Border
from ttnn.compiler.runtime.place import Source, Transfers, place

__all__ = ["Elements", "Held", "Store"]


class Held(Source):
    """Elements of a framework's tensor, as an input of programs.

    Attributes:
        origin: The elements on the device, if a program left them there.
    """

    def __init__(self, shape: tuple[int, ...], origin: Any = None) -> None:
        self._shape = shape
        self.origin = origin
        self._copies: dict[tuple[int, str], _Copy] = {}

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape on the device."""
        return self._shape

    @abstractmethod
    def host(self) -> Any:
        """Return the elements as a host tensor."""

    def place(self, want: Description, device: Any, transfers: Transfers) -> Any:
        """Return the elements in a form, without keeping them in it."""
        found = self._copies.get((id(device), want.key))
        if found is not None and _lives_on(found.tensor, device):
            return found.tensor
        origin = self.origin
        start = origin if origin is not None and _lives_on(origin, device) else self.host()
        return place(start, want, device, transfers)

    def keep(self, want: Description, device: Any, transfers: Transfers, user: Any) -> Any:
        """Return the elements in a form, and keep them so.

        They stay as long as one of their users lives.

        Args:
            want: The form.
            device: The device.
            transfers: Counts copies and conversions.
            user: The plan that asks for them.
        """
        key = (id(device), want.key)
        found = self._copies.get(key)
        if found is None or not _lives_on(found.tensor, device):
            made = self.place(want, device, transfers)
            if made is self.origin or want.memory is None:
                return made
            found = self._copies[key] = _Copy(made)
        if id(user) not in found.users:
            self._use(key, found, user)
        return found.tensor

    def _use(self, key: tuple[int, str], copy: _Copy, user: Any) -> None:
        number, this = id(user), weakref.ref(self)

        def forget(_: Any) -> None:
            # The copy is looked up: a reference to it here would be a circle that keeps it on the device.
            held = this()
            found = held._copies.get(key) if held is not None else None
            if held is not None and found is not None:
                found.users.pop(number, None)
                if not found.users:
                    del held._copies[key]

        copy.users[number] = weakref.ref(user, forget)

    def drop(self) -> None:
        """Free what is on the device."""
        self.origin = None
        self._copies.clear()


class _Copy:
    """A tensor of the device, and the plans that use it."""

    __slots__ = ("tensor", "users")

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor
        self.users: dict[int, weakref.ref[Any]] = {}


class Elements(Held):
    """The elements of an array or tensor that does not change.

    Attributes:
        array: The array; None for a tensor.
    """

    def __init__(self, border: Border, value: Any) -> None:
        """Keep an array or tensor.

        Args:
            border: The input that it is a value of.
            value: The array or tensor.
        """
        tensor = value if isinstance(value, ttnn.Tensor) else None
        super().__init__(border.shape, tensor)
        self.array = None if tensor is not None else value
        self._border = border

    def host(self) -> Any:
        """Return the elements as a host tensor."""
        return self._border.tensor(self.origin if self.array is None else self.array)


def _lives_on(tensor: Any, device: Any) -> bool:
    return (
        bool(tensor.is_allocated()) and tensor.storage_type() == ttnn.StorageType.DEVICE and tensor.device() is device
    )


_Kept = TypeVar("_Kept", bound=Held)


class Store(Generic[_Kept]):
    """The elements of a framework's tensors, while their memory lives unchanged."""

    def __init__(self) -> None:
        self._known: dict[Hashable, tuple[weakref.ref[Any], Hashable, _Kept]] = {}

    def of(self, key: Hashable, owner: Any, version: Hashable, make: Callable[[], _Kept]) -> _Kept:
        """Return the elements of a tensor.

        Those of another version are forgotten.

        Args:
            key: Tells tensors apart that live at the same time.
            owner: The object that has the memory; what is known ends with it.
            version: Changes whenever the elements do.
            make: Makes what is not known.
        """
        found = self.find(key, owner, version)
        if found is not None:
            return found
        made = make()
        self.put(key, owner, version, made)
        return made

    def find(self, key: Hashable, owner: Any, version: Hashable) -> _Kept | None:
        """Return the elements of a tensor if they are known, else None."""
        known = self._known.get(key)
        return known[2] if known is not None and known[1] == version and known[0]() is owner else None

    def put(self, key: Hashable, owner: Any, version: Hashable, held: _Kept) -> None:
        """Note the elements of a tensor.

        A program may have just left them on the device.
        """
        entries = self._known

        def forget(reference: weakref.ref[Any]) -> None:
            # The key may be that of another tensor in the same place by now.
            if key in entries and entries[key][0] is reference:
                del entries[key]

        entries[key] = (weakref.ref(owner, forget), version, held)

    def __len__(self) -> int:
        return len(self._known)
