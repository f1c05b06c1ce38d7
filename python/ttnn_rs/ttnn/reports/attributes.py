"""Device operation arguments as texts: program options, then tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.enums import MathFidelity
from ttnn.operation.operands import tensors_in
from ttnn.reports.texts import tensor_text, text_of
from ttnn.tensor.tensor import Tensor


def _permutation(options: dict[str, Any], tensor: Tensor) -> dict[str, Any]:
    """Return a transposition's device options: all axes reordered."""
    first, second = options.pop("dim1"), options.pop("dim2")
    order = list(range(tensor.shape.rank))
    order[first], order[second] = order[second], order[first]
    return {"dims": order, **options}


_MOREH_DEFAULT: Final = WormholeComputeKernelConfig(math_fidelity=MathFidelity.HiFi4)
"""Configuration shown for Moreh device operations whose call has none."""

_CHANGED: Final[dict[str, Callable[[dict[str, Any], Tensor], dict[str, Any]]]] = {"ttnn.transpose": _permutation}


def options_of(operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> dict[str, Any]:
    """Return a device operation's options by name.

    Those of the call, and those of its result.

    Args:
        operation: The operator.
        args: Positional arguments of its call.
        kwargs: Arguments by name.
        result: What it returned, or None.
    """
    options = {name: value for name, value in _named(operation, args, kwargs).items() if not any(tensors_in(value))}
    change = _CHANGED.get(operation.__name__)
    first = next(tensors_in((args, kwargs)), None)
    if change is not None and first is not None:
        options = change(options, first)
    if operation.__name__.startswith("ttnn.moreh_") and options.get("compute_kernel_config", ...) is None:
        options["compute_kernel_config"] = _MOREH_DEFAULT
    made = next(tensors_in(result), None)
    if made is not None:
        spec = made.spec
        said = {"dtype": spec.dtype, "layout": spec.layout, "memory_config": spec.memory_config}
        options = {**options, **{name: value for name, value in said.items() if options.get(name) is None}}
    return options


def _named(operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    entry = operation.entry
    for signature in () if entry is None else entry.signatures:
        values = signature.bind(args, kwargs)
        if values is not None:
            return {param.name: value for param, value in zip(signature.params, values, strict=False)}
    return {**{str(index): value for index, value in enumerate(args)}, **kwargs}


def attributes_text(name: str, options: Mapping[str, Any]) -> str:
    """Return options as printed structures: names and values in parentheses.

    The official trace prints them so.
    """
    return f"{name}Params({','.join(f'{key}={text_of(value)}' for key, value in options.items())})"


def tensors_text(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return the tensors of a device operation."""
    return f"{{{', '.join(tensor_text(tensor) for tensor in tensors_in((args, kwargs)))}}}"
