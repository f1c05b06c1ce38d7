"""Golden functions on torch tensors, as `ttnn.get_golden_function` returns them.

The functions of this package define operators in float64. A program that compares a device with torch expects the
types and forms of the official golden functions instead: float32 and bfloat16 are computed as torch computes them,
integers wrap, comparisons return booleans, and gradients of complex tensors are cat(real, imag). `FUNCTIONS` and
`GRADIENTS` have the operators for which torch has a function. For all others the function in float64 runs, and its
result is rounded to the type of the first floating-point tensor.

torch is imported only by the golden functions that make tensors: whoever passes a torch tensor has done so.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from ttnn.golden.gradient_oracles import GRADIENTS, gradients
from ttnn.golden.host_functions import HOST_FUNCTIONS, MAKERS
from ttnn.golden.torch_functions import FUNCTIONS

_WIDENING: Final = frozenset(("sum", "argmax"))
"""Functions of integers that return torch's int64."""
_WITHOUT_EFFECT: Final = frozenset(
    (
        "device", "memory_config", "output_tensor", "optional_output_tensor", "output", "queue_id", "cq_id",
        "sub_core_grids", "compute_kernel_config", "program_config", "core_grid", "fast_and_approximate_mode",
        "use_multicore", "layout", "dtype", "input_grad", "other_grad", "are_required_outputs", "mesh_device",
    )
)  # fmt: skip
_POSITIONS: Final = {
    name: position
    for position, names in enumerate(
        (
            ("input", "input_tensor", "input_tensor_a", "input_a", "grad_tensor"),
            ("input_tensor_b", "input_b", "other", "mat1_tensor", "exponent", "weight_tensor"),
            ("input_tensor_c", "mat2_tensor"),
        )
    )
    for name in names
}
"""Positions of operands that are passed by name."""
_WIDTHS: Final = {"torch.uint16": 16, "torch.uint32": 32}


def is_tensor(value: Any) -> bool:
    """Return whether a value is a tensor of torch."""
    return type(value).__module__.split(".", 1)[0] == "torch" and hasattr(value, "detach")


def oracle(name: str, reference: Callable[..., Any]) -> Callable[..., Any]:
    """Return an operator's golden function on torch or numpy arrays.

    It returns the same kind.

    Its attribute `plain` is the reference.

    Args:
        name: Name of the operator below `ttnn`.
        reference: Its function in float64.
    """

    def on_either(*args: Any, **kwargs: Any) -> Any:
        given = [tensor for value in (*args, *kwargs.values()) for tensor in _tensors(value)]
        if not given:
            made = MAKERS.get(name)
            return (
                reference(*args, **kwargs) if made is None else made(importlib.import_module("torch"), *args, **kwargs)
            )
        torch = sys.modules["torch"]
        if name in GRADIENTS:
            return gradients(torch, GRADIENTS[name], *_placed(args, kwargs))
        function = FUNCTIONS.get(name)
        if function is not None:
            return _in_torch(torch, function, args, kwargs, name not in _WIDENING)
        return _in_float64(torch, reference, given, args, kwargs)

    on_either.__name__ = name
    on_either.__doc__ = reference.__doc__
    setattr(on_either, "plain", reference)  # noqa: B010 (a function has no such attribute for mypy)
    return on_either


def host_oracle(name: str) -> Callable[..., Any] | None:
    """Return a non-computing operator's golden function on torch tensors.

    None if it is no such operator.
    """
    function = HOST_FUNCTIONS.get(name)

    def on_torch(*args: Any, **kwargs: Any) -> Any:
        # A call that makes a tensor has none among its arguments.
        return function(importlib.import_module("torch"), *args, **kwargs) if function is not None else None

    on_torch.__name__ = name
    return None if function is None else on_torch


def _tensors(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in _tensors(item)]
    return [value] if is_tensor(value) else []


def _placed(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Append operands passed by name to the positional ones."""
    placed, rest = list(args), dict(kwargs)
    for name in sorted((name for name in kwargs if name in _POSITIONS), key=lambda name: _POSITIONS[name]):
        if _POSITIONS[name] == len(placed):
            placed.append(rest.pop(name))
    return tuple(placed), rest


def _in_torch(
    torch: Any, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], wraps: bool
) -> Any:
    """Return torch's result; unsigned integers wrap in their width.

    Torch has few functions for them.
    """
    args, kwargs = _placed(args, kwargs)
    unsigned = [value.dtype for value in args if is_tensor(value) and str(value.dtype) in _WIDTHS]
    wide = [value.to(torch.int64) if is_tensor(value) and value.dtype in unsigned else value for value in args]
    result = function(torch, *wide, **kwargs)
    if unsigned and wraps and is_tensor(result) and result.dtype == torch.int64:
        return (result & ((1 << _WIDTHS[str(unsigned[0])]) - 1)).to(unsigned[0])
    return result


def _in_float64(
    torch: Any, reference: Callable[..., Any], given: list[Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Return the function's float64 result, rounded to the tensors' type."""
    named = inspect.signature(reference, follow_wrapped=False).parameters
    if not any(name in named for name in kwargs if name in _POSITIONS):
        args, kwargs = _placed(args, kwargs)
    options = {name: value for name, value in kwargs.items() if name not in _WITHOUT_EFFECT or name in named}
    first = next((value for value in given if value.is_floating_point() or value.is_complex()), given[0])

    def array(value: Any) -> Any:
        if isinstance(value, list | tuple) and _tensors(value):
            return type(value)(map(array, value))
        if is_tensor(value):
            return value.detach().to(torch.complex128 if value.is_complex() else torch.float64).numpy()
        return value

    def back(result: Any) -> Any:
        if isinstance(result, list | tuple):
            return [back(item) for item in result]
        values = np.array(result)
        if values.dtype.kind == "c":
            return torch.from_numpy(values).to(first.dtype if first.is_complex() else torch.complex64)
        if values.dtype.kind != "f":
            return torch.from_numpy(values)
        return torch.from_numpy(values).to(first.real.dtype if first.is_complex() else first.dtype)

    with np.errstate(all="ignore"):
        return back(reference(*map(array, args), **{name: array(value) for name, value in options.items()}))
