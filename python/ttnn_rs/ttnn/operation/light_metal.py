"""Light metal captures: a program's operators as one binary.

It is saved, and run again.

A capture records the operators that a program calls, with their arguments, and the contents of tensors that were made
in other ways: by transfers, or before the capture. A binary therefore holds everything that a later run needs. Its
form is this package's own: a magic number, the size of a JSON text, that text, and tensors as in `.tensorbin` files.
Reading makes nothing but plain values (`ttnn.operation.plain_values`) and tensors, and a run calls nothing but
operators of the registry.
"""

from __future__ import annotations

import json
import logging
import os
import struct
import threading
import weakref
from collections.abc import Sequence
from typing import Any, Final

from ttnn.base.exceptions import ArgumentError, DeviceError, FileFormatError, TtnnError, UnsupportedError
from ttnn.base.files import open_atomically, read_bytes
from ttnn.base.observers import OBSERVERS, Observer, Run
from ttnn.device.lifecycle import close_device, open_device
from ttnn.device.mesh_device import MeshDevice
from ttnn.operation.operands import tensors_in
from ttnn.operation.plain_values import as_plain, from_plain
from ttnn.operation.registry import find, is_registered
from ttnn.tensor.files import tensor_bytes, tensor_of_bytes
from ttnn.tensor.tensor import Tensor

__all__ = ["LightMetalReplay", "light_metal_begin_capture", "light_metal_end_capture"]

_MAGIC: Final = b"TTLIGHT1"
_SIZES: Final = struct.Struct("<8sQ")
_MOST_TEXT: Final = 1 << 28
_log: Final = logging.getLogger("ttnn")

_TRANSFERS: Final = frozenset(
    {
        "ttnn.allocate_tensor_on_device",
        "ttnn.copy_host_to_device_tensor",
        "ttnn.deallocate",
        "ttnn.reallocate",
        "ttnn.to_device",
    }
)
"""Functions without a registry entry that are recorded as calls."""


def _is_recorded(name: str) -> bool:
    """Return whether calls of a function are captured.

    It reads and writes tensors alone.
    """
    return name in _TRANSFERS or is_registered(name)


class LightMetalBinary:
    """A captured program as bytes.

    Args:
        data: The bytes. Default: none.
    """

    __slots__ = ("_data",)

    def __init__(self, data: bytes | Sequence[int] = b"") -> None:
        self.set_data(data)

    def get_data(self) -> bytes:
        """Return the bytes."""
        return self._data

    def set_data(self, data: bytes | Sequence[int]) -> None:
        """Replace the bytes."""
        try:
            self._data = bytes(data)
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"LightMetalBinary: data must be bytes: {error}") from None

    def size(self) -> int:
        """Return the number of bytes."""
        return len(self._data)

    def is_empty(self) -> bool:
        """Return True without bytes."""
        return not self._data

    def save_to_file(self, filename: str | os.PathLike[str]) -> None:
        """Write the bytes to a file.

        It is replaced when the new one is complete.

        Raises:
            FileAccessError: the file cannot be written.
        """
        with open_atomically(filename, where="LightMetalBinary.save_to_file") as file:
            file.write(self._data)

    @staticmethod
    def load_from_file(filename: str | os.PathLike[str]) -> LightMetalBinary:
        """Return the binary of a file.

        Raises:
            FileAccessError: the file cannot be read.
        """
        return LightMetalBinary(read_bytes(filename, where="LightMetalBinary.load_from_file"))


class _Inside(threading.local):
    """True while a recorded operator runs.

    Operators that it calls are part of it.
    """

    operator: bool = False


class _Capture(Observer):
    """Records the operators of a program."""

    in_full = False

    def __init__(self) -> None:
        self._inside = _Inside()
        self._known: dict[int, tuple[weakref.ref[Tensor], int]] = {}
        self._next = 0
        self._calls: list[Any] = []
        self._tensors: list[Any] = []
        self._contents: list[bytes] = []
        self._foreign: str | None = None

    def call(self, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any], run: Run) -> Any:
        """Run an operator and record it with its results."""
        name = operation.__name__
        if self._inside.operator or not _is_recorded(name):
            return run(operation, args, kwargs)
        self._inside.operator = True
        try:
            gone = self._gone()
            try:
                arguments = [as_plain(args, self._reference), as_plain(dict(kwargs), self._reference)]
            except ArgumentError as error:
                raise UnsupportedError(f"{name}: a light metal capture cannot hold the call: {error}") from None
            result = run(operation, args, kwargs)
        finally:
            self._inside.operator = False
        made = [self._number(tensor) for tensor in tensors_in(result)]
        self._calls.append({"gone": gone, "name": name, "arguments": arguments, "made": made})
        return result

    def program_ran(self, ran: Any) -> None:
        """Note a program of `ttnn.metal`, which is no operator."""
        self._foreign = ran.operator

    def _gone(self) -> list[int]:
        """Return the numbers of tensors dropped since the last call."""
        gone = [(key, number) for key, (tensor, number) in self._known.items() if tensor() is None]
        for key, _ in gone:
            del self._known[key]
        return [number for _, number in gone]

    def _number(self, tensor: Tensor) -> int:
        found = self._known.get(id(tensor))
        if found is not None and found[0]() is tensor:
            return found[1]
        self._known[id(tensor)] = (weakref.ref(tensor), self._next)
        self._next += 1
        return self._next - 1

    def _reference(self, value: Any) -> dict[str, Any] | None:
        """Return the data of a tensor or device.

        The content of a tensor is stored if no recorded call made it.
        """
        if isinstance(value, MeshDevice):
            return {"device": None}
        if not isinstance(value, Tensor):
            return None
        found = self._known.get(id(value))
        if found is None or found[0]() is not value:
            content = tensor_bytes("light_metal_capture", value)
            number, place = self._number(value), value.device() is not None
            self._tensors.append({"number": number, "bytes": len(content), "on_device": place})
            self._contents.append(content)
            # Stored contents are loaded where they are first used.
            self._calls.append({"load": len(self._tensors) - 1})
        return {"tensor": self._number(value)}

    def binary(self) -> LightMetalBinary:
        """Return what was recorded.

        Raises:
            UnsupportedError: a program of `ttnn.metal` has run.
        """
        if self._foreign is not None:
            raise UnsupportedError(
                f"light_metal_end_capture: {self._foreign} has run kernels of the program; captures hold operators"
            )
        self._gone()
        kept = [number for _, number in self._known.values()]
        text = json.dumps({"tensors": self._tensors, "calls": self._calls, "kept": kept}).encode()
        return LightMetalBinary(_SIZES.pack(_MAGIC, len(text)) + text + b"".join(self._contents))


_captures: Final[list[_Capture]] = []


def light_metal_begin_capture() -> None:
    """Begin to record the operators that the program calls.

    Raises:
        DeviceError: a capture is recorded already.
    """
    if _captures:
        raise DeviceError("light_metal_begin_capture: a capture is recorded already; end it first")
    capture = _Capture()
    _captures.append(capture)
    OBSERVERS.append(capture)


def light_metal_end_capture() -> LightMetalBinary:
    """End the capture; return its binary.

    Raises:
        DeviceError: there is no capture.
        UnsupportedError: a program of `ttnn.metal` has run in it.
    """
    if not _captures:
        raise DeviceError("light_metal_end_capture: there is no capture; call light_metal_begin_capture first")
    capture = _captures.pop()
    OBSERVERS.remove(capture)
    return capture.binary()


class LightMetalReplay:
    """A run of a binary; `create` makes one.

    Attributes:
        tensors: Tensors that the captured program held at its end, after a run: those that operators returned, in the
            order of the calls.
    """

    __slots__ = ("_contents", "_device", "_text", "tensors")

    _contents: list[bytes]
    _device: MeshDevice | None
    _text: dict[str, Any]
    tensors: list[Tensor]

    def __init__(self, *_: object) -> None:
        raise ArgumentError("LightMetalReplay: no constructor; call LightMetalReplay.create")

    @staticmethod
    def create(binary: LightMetalBinary, device: MeshDevice | None = None) -> LightMetalReplay:
        """Return a run of a binary.

        Args:
            binary: The binary.
            device: Where it runs. Default: a device that is opened for each run, and closed after it.

        Raises:
            FileFormatError: the binary is damaged.
        """
        if not isinstance(binary, LightMetalBinary):
            raise ArgumentError(f"LightMetalReplay.create: expected a LightMetalBinary, got {type(binary).__name__}")
        if not isinstance(device, MeshDevice | None):
            raise ArgumentError(f"LightMetalReplay.create: expected a device, got {type(device).__name__}")
        replay = object.__new__(LightMetalReplay)
        replay._text, replay._contents = _parsed(binary.get_data())
        replay._device, replay.tensors = device, []
        return replay

    def run(self) -> bool:
        """Run the program; return False if an operator raises.

        Its error is logged.
        """
        self.tensors = []
        device = open_device(device_id=0) if self._device is None else self._device
        try:
            tensors = _Run(device, self._text, self._contents).tensors()
            self.tensors = tensors if device is self._device else [tensor.cpu() for tensor in tensors]
        except TtnnError as error:
            _log.error("LightMetalReplay.run: %s", error)
            return False
        finally:
            if self._device is None:
                close_device(device)
        return True


def _parsed(data: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """Return the text and the contents of tensors of a binary.

    Raises:
        FileFormatError: it is damaged.
    """
    where = "LightMetalReplay.create"
    if len(data) < _SIZES.size:
        raise FileFormatError(f"{where}: a binary of {len(data)} B")
    magic, size = _SIZES.unpack_from(data)
    if magic != _MAGIC or size > min(_MOST_TEXT, len(data) - _SIZES.size):
        raise FileFormatError(f"{where}: the binary does not begin with the magic number and size of a capture")
    try:
        text = json.loads(data[_SIZES.size : _SIZES.size + size])
        sizes = [_whole(tensor["bytes"]) for tensor in text["tensors"]]
        for call in text["calls"]:
            _check_call(call, len(sizes))
        list(map(_whole, text["kept"]))
        list(map(_whole, (tensor["number"] for tensor in text["tensors"])))
    except FileFormatError as error:
        raise FileFormatError(f"{where}: {error}") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise FileFormatError(f"{where}: the binary has no list of calls: {error!r}") from None
    start = _SIZES.size + size
    if sum(sizes) != len(data) - start:
        raise FileFormatError(f"{where}: {len(data) - start} B of tensors, the binary names {sum(sizes)} B")
    contents = []
    for size in sizes:
        contents.append(data[start : start + size])
        start += size
    return text, contents


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise FileFormatError(f"expected a number, got {value!r}")
    return value


def _check_call(call: dict[str, Any], tensors: int) -> None:
    """Raise FileFormatError unless a record describes a call."""
    if "load" in call:
        if _whole(call["load"]) >= tensors:
            raise FileFormatError(f"the binary has no tensor {call['load']}")
        return
    if not isinstance(call["name"], str) or not _is_recorded(call["name"]):
        raise FileFormatError(f"{call['name']!r} is no operator of captures")
    args, kwargs = call["arguments"]
    if (
        not isinstance(args, dict)
        or list(args) != ["tuple"]
        or not isinstance(kwargs, dict)
        or list(kwargs) != ["dict"]
    ):
        raise FileFormatError(f"{call['name']} has no arguments")
    names = [name for name, _ in kwargs["dict"]]
    if not all(isinstance(name, str) for name in names) or len(names) != len(set(names)):
        raise FileFormatError(f"{call['name']} has no names of its arguments")
    list(map(_whole, call["made"]))
    list(map(_whole, call["gone"]))


class _Run:
    """One run of a binary."""

    def __init__(self, device: MeshDevice, text: dict[str, Any], contents: list[bytes]) -> None:
        self._device, self._text, self._contents = device, text, contents
        self._tensors: dict[int, Tensor] = {}

    def tensors(self) -> list[Tensor]:
        """Run all calls; return the tensors held at the end."""
        for call in self._text["calls"]:
            if "load" in call:
                self._load(call["load"])
            else:
                self._call(call)
        made = [number for call in self._text["calls"] for number in call.get("made", ())]
        kept = set(self._text["kept"])
        numbers = [number for number in dict.fromkeys(made) if number in kept and number in self._tensors]
        return [self._tensors[number] for number in numbers if self._tensors[number].is_allocated()]

    def _load(self, index: int) -> None:
        described = self._text["tensors"][index]
        tensor = tensor_of_bytes("LightMetalReplay.run", f"tensor {index}", self._contents[index])
        if described.get("on_device"):
            tensor = tensor._to_device("LightMetalReplay.run", self._device, None)
        self._tensors[described["number"]] = tensor

    def _call(self, call: dict[str, Any]) -> None:
        for number in call["gone"]:
            self._tensors.pop(number, None)
        args, kwargs = (from_plain(part, self._reference) for part in call["arguments"])
        made = list(tensors_in(find(call["name"])(*args, **kwargs)))
        if len(made) != len(call["made"]):
            raise FileFormatError(f"{call['name']} returns {len(made)} tensors, the binary names {len(call['made'])}")
        self._tensors.update(zip(call["made"], made, strict=True))

    def _reference(self, tag: str, content: Any) -> Any:
        if tag == "device":
            return self._device
        if tag == "tensor" and type(content) is int and content in self._tensors:
            return self._tensors[content]
        raise FileFormatError(f"the binary has no {tag} {content!r}")
