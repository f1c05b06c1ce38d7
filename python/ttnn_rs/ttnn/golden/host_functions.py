"""Torch functions for operators that create, move and view tensors without arithmetic.

Comparison mode leaves them out: there is nothing to compare, or the values are not defined. Each function takes the
module torch, then the official arguments.

Source: TT-NN, `ttnn/ttnn/operations/core.py` and `creation.py` (forms of the golden functions).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

_TYPES: Final = {"bfloat8_b": "float32", "bfloat4_b": "float32", "fp8_e4m3": "float8_e4m3fn"}
"""Data types that have another name in torch."""


def torch_type(torch: Any, dtype: Any) -> Any:
    """Return the torch type of a ttnn type; torch types unchanged."""
    name = getattr(dtype, "name", None)
    return dtype if name is None else getattr(torch, _TYPES.get(name.lower(), name.lower()))


def _identity(torch: Any, tensor: Any, *_args: Any, **_: Any) -> Any:
    return tensor


def _nothing(torch: Any, *_args: Any, **_: Any) -> None:
    return None


def _copied(torch: Any, source: Any, target: Any, *_args: Any, **_: Any) -> Any:
    """Return the target with the values of the source."""
    return target.copy_(source)


def _as_tensor(torch: Any, tensor: Any, *_args: Any, preprocess: Callable[..., Any] | None = None, **_: Any) -> Any:
    return tensor if preprocess is None or tensor is None else preprocess(tensor)


def _to_torch(torch: Any, tensor: Any, dtype: Any = None, *_args: Any, torch_rank: int | None = None, **_: Any) -> Any:
    """Return the tensor without leading dimensions of size 1 beyond a rank."""
    extra = 0 if torch_rank is None else tensor.dim() - torch_rank
    if any(size != 1 for size in tensor.shape[: max(extra, 0)]):
        raise RuntimeError("ttnn: Unable to squeeze to desired rank!")
    found = tensor.reshape(tensor.shape[max(extra, 0) :])
    return found if dtype is None else found.to(dtype)


def _bitcast(torch: Any, tensor: Any, dtype: Any, *_args: Any, **_: Any) -> Any:
    return tensor.view(torch_type(torch, dtype))


def _empty(torch: Any, shape: Sequence[int], *_args: Any, **_: Any) -> Any:
    return torch.empty(tuple(shape))


def _from_buffer(torch: Any, buffer: Any, shape: Sequence[int], dtype: Any = None, *_args: Any, **_: Any) -> Any:
    return torch.tensor(buffer, dtype=torch_type(torch, dtype)).reshape(tuple(shape))


def _empty_like(torch: Any, tensor: Any, *_args: Any, **_: Any) -> Any:
    return torch.empty_like(tensor)


def _allocated(torch: Any, shape: Any, dtype: Any = None, *_args: Any, **_: Any) -> Any:
    """Return a tensor of shape and data type, or their specification."""
    if hasattr(shape, "memory_config"):
        shape, dtype = shape.shape, shape.dtype
    return torch.empty(tuple(shape), dtype=torch_type(torch, dtype))


def _untilized(torch: Any, tensor: Any, output_tensor_end: Sequence[int], *_args: Any, **_: Any) -> Any:
    """Return the tensor up to the last index of each dimension."""
    return tensor[tuple(slice(end + 1) for end in output_tensor_end)]


def _window(start: Sequence[int], end: Sequence[int], step: Sequence[int] | None) -> tuple[slice, ...]:
    return tuple(map(slice, start, end, [None] * len(start) if step is None else step))


def _written(
    torch: Any, tensor: Any, output_tensor: Any, start: Any, end: Any, step: Any = None, *_args: Any, **_: Any
) -> Any:
    """Return the output with a slice of the tensor's values.

    More channels than that has are left out.
    """
    part = _window(start, end, step)
    output_tensor[part] = tensor.reshape(*output_tensor[part].shape[:-1], -1)[..., : output_tensor[part].shape[-1]]
    return output_tensor


def _cut(torch: Any, tensor: Any, start: Any, end: Any, step: Any = None, *_args: Any, **_: Any) -> Any:
    """Return a slice of images with their pixels as rows."""
    part = tensor[_window(start, end, step)]
    return part.reshape(1, 1, -1, part.shape[-1])


HOST_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "allocate_tensor_on_device": _allocated,
    "allocate_tensor_on_host": _allocated,
    "as_tensor": _as_tensor,
    "bitcast": _bitcast,
    "copy_device_to_host_tensor": _copied,
    "copy_host_to_device_tensor": _copied,
    "copy_host_to_device_tensor_partial": _copied,
    "deallocate": _nothing,
    "dump_tensor": _nothing,
    "empty": _empty,
    "empty_like": _empty_like,
    "experimental.padded_slice": _cut,
    "experimental.quasar.padded_slice": _cut,
    "experimental.quasar.slice_write": _written,
    "experimental.quasar.untilize_with_unpadding": _untilized,
    "experimental.slice_write": _written,
    "from_buffer": _from_buffer,
    "from_device": _identity,
    "from_torch": _identity,
    "reallocate": _identity,
    "to_device": _identity,
    "to_dtype": _identity,
    "to_torch": _to_torch,
    "untilize_with_unpadding": _untilized,
}
"""Torch functions by operator name, where no float64 reference exists."""


def _full(torch: Any, shape: Sequence[int], fill_value: float, *_args: Any, **_: Any) -> Any:
    return torch.full(tuple(shape), fill_value)


def _zeros(torch: Any, shape: Sequence[int], *_args: Any, **_: Any) -> Any:
    return torch.zeros(tuple(shape))


def _ones(torch: Any, shape: Sequence[int], *_args: Any, **_: Any) -> Any:
    return torch.ones(tuple(shape))


def _arange(torch: Any, start: int, end: int | None = None, step: int = 1, *_args: Any, **_: Any) -> Any:
    return torch.arange(0, start, step) if end is None else torch.arange(start, end, step)


MAKERS: Final[dict[str, Callable[..., Any]]] = {"arange": _arange, "full": _full, "ones": _ones, "zeros": _zeros}
"""Functions that create torch tensors, by operator name."""
