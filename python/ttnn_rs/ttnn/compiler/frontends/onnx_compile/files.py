"""Models in files, with tensors in files beside them.

A tensor names its file, which has to lie in the folder of the model; names are data.
"""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any, Final

from ttnn.base.exceptions import FileAccessError, FileFormatError
from ttnn.base.files import PathName, open_file, path_name, read_bytes

__all__ = ["External", "load_model", "parse_model"]

_WHERE: Final = "ONNX model"


def parse_model(data: bytes) -> Any:
    """Return a model from its bytes.

    Raises:
        FileFormatError: They are no model.
    """
    import onnx

    try:
        return onnx.load_model_from_string(data)
    except Exception as error:
        raise FileFormatError(f"{_WHERE}: the data is not an ONNX model: {error}") from None


def load_model(path: PathName) -> tuple[Any, External]:
    """Return a model from a file, and a reader of its tensors.

    Raises:
        FileAccessError: The file cannot be read.
        FileFormatError: It is no model.
    """
    name = path_name(_WHERE, path)
    return parse_model(read_bytes(name, where=_WHERE)), External(Path(name).parent)


class External:
    """Reads tensors of a model, also those in files of its folder."""

    def __init__(self, folder: Path | None = None) -> None:
        """Read from a folder; without one tensors in files are refused."""
        self._folder = None if folder is None else folder.resolve()
        self._open: dict[Path, Any] = {}

    def __call__(self, tensor: Any) -> Any:
        """Return the array of a tensor.

        Raises:
            FileAccessError: Its file lies outside of the folder, or cannot be read.
            FileFormatError: Its elements are not in the file.
        """
        import numpy as np
        from onnx import TensorProto, helper, numpy_helper

        if tensor.data_location != TensorProto.EXTERNAL:
            try:
                return numpy_helper.to_array(tensor)
            except (ValueError, TypeError) as error:
                raise FileFormatError(f"{_WHERE}: tensor {tensor.name!r}: {error}") from None
        entries = {one.key: one.value for one in tensor.external_data}
        path = self._path(tensor.name, entries.get("location", ""))
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.data_type))
        count = 1
        for size in tensor.dims:
            if size < 0:
                raise FileFormatError(f"{_WHERE}: tensor {tensor.name!r} has a dimension of {size}.")
            count *= size
        offset = _number(tensor.name, entries, "offset", 0)
        length = _number(tensor.name, entries, "length", count * dtype.itemsize)
        data = self._data(path)
        if length != count * dtype.itemsize or offset + length > len(data):
            raise FileFormatError(
                f"{_WHERE}: tensor {tensor.name!r} has {count} elements of {dtype.itemsize} bytes; its file states "
                f"{length} bytes at {offset}, and {path.name} has {len(data)} bytes."
            )
        return np.frombuffer(data, dtype.newbyteorder("<"), count, offset).reshape(tuple(tensor.dims))

    def _path(self, name: str, location: str) -> Path:
        if self._folder is None:
            raise FileAccessError(
                f"{_WHERE}: tensor {name!r} is in the file {location!r}; pass the path of the model, not the model."
            )
        path = (self._folder / path_name(_WHERE, location)).resolve()
        if not path.is_relative_to(self._folder):
            raise FileAccessError(
                f"{_WHERE}: tensor {name!r} is in {location!r}, which is not in the folder of the model."
            )
        return path

    def _data(self, path: Path) -> Any:
        if path not in self._open:
            with open_file(path, where=_WHERE) as file:
                # An empty file cannot be mapped.
                size = file.seek(0, 2)
                self._open[path] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
        return self._open[path]


def _number(name: str, entries: dict[str, str], key: str, default: int) -> int:
    text = entries.get(key)
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise FileFormatError(f"{_WHERE}: tensor {name!r} has the {key} {text!r}; expected a number of bytes.")
    return int(text)
