"""Hooks, golden functions and operators written in Python.

Source: TT-NN docs, "Hooks, golden functions, testing helpers".
"""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Final, NoReturn

import numpy as np

from ttnn.base.exceptions import ArgumentError, UnsupportedError
from ttnn.base.files import write_atomically
from ttnn.device.queues import command_queue
from ttnn.golden.oracles import host_oracle, is_tensor
from ttnn.operation.fallbacks import fallback_of
from ttnn.operation.registry import FastOperation, add_operation, operations
from ttnn.operation.signature import OUTPUT_TENSOR_NAMES
from ttnn.operation.slow_path import (
    POST_HOOKS,
    PRE_HOOKS,
    ComparisonError,
    Hook,
    HookError,
    correlation,
    float64_values,
    plain_golden,
)
from ttnn.tensor.tensor import Tensor

__all__ = [
    "ComparisonError",
    "FastOperation",
    "HookError",
    "attach_golden_function",
    "command_queue",
    "create_module_if_not_exists",
    "dump_operations",
    "get_fallback_function",
    "get_golden_function",
    "pearson_correlation_coefficient",
    "query_registered_operations",
    "register_post_operation_hook",
    "register_pre_operation_hook",
    "register_python_operation",
]


@contextmanager
def _registered(hooks: list[Hook], hook: Hook) -> Iterator[None]:
    hooks.append(hook)
    try:
        yield
    finally:
        hooks.remove(hook)


def register_pre_operation_hook(hook: Callable[[FastOperation, tuple[Any, ...], dict[str, Any]], None]) -> Any:
    """Return a context manager that runs `hook(operation, args, kwargs)` before every operator."""
    return _registered(PRE_HOOKS, _function("register_pre_operation_hook", hook))


def register_post_operation_hook(hook: Callable[[FastOperation, tuple[Any, ...], dict[str, Any], Any], None]) -> Any:
    """Return a context manager inside which `hook(operation, args, kwargs, output)` runs after every operator."""
    return _registered(POST_HOOKS, _function("register_post_operation_hook", hook))


def _function(where: str, hook: Any) -> Any:
    if not callable(hook):
        raise ArgumentError(f"{where}: hook must be a function, got {type(hook).__name__}")
    return hook


def _correlation_of_tensors(expected: object, actual: object) -> float:
    """Return two equal-shaped tensors' Pearson correlation (PCC), in float64.

    As in the official package, NaN and infinities count as 0 in either tensor. Comparison mode is stricter: they must
    be in the same places.

    Args:
        expected: torch tensor, numpy array or `ttnn.Tensor`.
        actual: Likewise.

    Returns:
        1.0 if both are equal or empty, 0.0 if the shapes differ or if only one tensor is all NaN.
    """
    left, right = (_float64(value) for value in (expected, actual))
    nothing = [bool(values.size) and bool(np.isnan(values).all()) for values in (left, right)]
    if left.shape != right.shape or nothing[0] != nothing[1]:
        return 0.0
    return correlation(*(np.where(np.isfinite(values), values, 0.0) for values in (left, right)))


pearson_correlation_coefficient = add_operation(
    FastOperation(
        "ttnn.pearson_correlation_coefficient", _correlation_of_tensors, golden_function=_correlation_of_tensors
    )
)


def _float64(value: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    if isinstance(value, Tensor):
        return float64_values(value)
    try:
        numbers = value
        if is_tensor(value):
            numbers = value.detach().cpu()
            numbers = (numbers if numbers.is_complex() else numbers.double()).numpy()
        if np.iscomplexobj(numbers):
            raise TypeError
        return np.asarray(numbers, np.float64)
    # Without values, in a form that numpy does not have, or no real numbers.
    except (NotImplementedError, RuntimeError, TypeError, ValueError):
        raise ArgumentError(
            f"ttnn.pearson_correlation_coefficient: expected tensors of real numbers, got {type(value).__name__}"
        ) from None


def _require_operator(operation: Any) -> None:
    if not isinstance(operation, FastOperation):
        raise ArgumentError(f"expected an operator, for example ttnn.exp, got {type(operation).__name__}")


def _golden_of(operation: Any) -> Callable[..., Any]:
    _require_operator(operation)
    return plain_golden(operation)


def get_golden_function(operation: Any) -> Callable[..., Any]:
    """Return the operator's golden function, for torch tensors or numpy arrays.

    Torch tensors are computed in their own type, as the official golden functions do (`ttnn.golden.oracles`); arrays
    in float64.

    Args:
        operation: An operator, or whatever else has a `golden_function`.

    Raises:
        ArgumentError: it is neither.
        ComparisonError: it has none.
    """
    if not isinstance(operation, FastOperation):
        golden: Callable[..., Any] | None = getattr(operation, "golden_function", None)
        if callable(golden):
            return golden
    _require_operator(operation)
    if operation.golden_function is None:
        moved = host_oracle(operation.__name__.removeprefix("ttnn."))
        if moved is not None:
            return moved
    _golden_of(operation)
    found: Callable[..., Any] | None = operation.golden_function
    assert found is not None
    return found


def attach_golden_function(
    operation: FastOperation,
    golden_function: Callable[..., Any],
    *,
    preprocess_golden_function_inputs: Callable[..., Any] | None = None,
    postprocess_golden_function_outputs: Callable[..., Any] | None = None,
    output_tensor_kwarg_names: Sequence[str] = OUTPUT_TENSOR_NAMES,
) -> None:
    """Set an operator's golden function.

    Raises:
        ArgumentError: `operation` is no operator, or something else is no function.
    """
    _require_operator(operation)
    for name, function in {
        "golden_function": golden_function,
        "preprocess_golden_function_inputs": preprocess_golden_function_inputs,
        "postprocess_golden_function_outputs": postprocess_golden_function_outputs,
    }.items():
        if not callable(function) and (function is not None or name == "golden_function"):
            raise ArgumentError(f"attach_golden_function: {name} must be a function, got {type(function).__name__}")
    names = output_tensor_kwarg_names
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise ArgumentError(f"attach_golden_function: output_tensor_kwarg_names must be names, got {names!r}")
    operation.golden_function = golden_function
    operation.preprocess_golden_function_inputs = preprocess_golden_function_inputs
    operation.postprocess_golden_function_outputs = postprocess_golden_function_outputs
    operation.output_tensor_kwarg_names = tuple(output_tensor_kwarg_names)


def get_fallback_function(operation: FastOperation) -> Callable[..., Any]:
    """Return a function that runs the operator's golden function on tensors.

    The result is a row-major or tiled tensor like the first tensor argument, on its device. Calls are counted
    (`ttnn.operation.fallbacks.fallback_counts`), and reports list them as "ttnn.NAME (torch)".

    Raises:
        ArgumentError: `operation` is no operator.
        ComparisonError: it has no golden function.
    """
    return fallback_of(operation, _golden_of(operation))


def register_python_operation(
    *,
    name: str,
    is_experimental: bool = False,
    is_method: bool = False,
    golden_function: Callable[..., Any] | None = None,
    preprocess_golden_function_inputs: Callable[..., Any] | None = None,
    postprocess_golden_function_outputs: Callable[..., Any] | None = None,
) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that makes an operator of a Python function.

    Args:
        name: Fully qualified name, for example "ttnn.my_operator".
        is_experimental: Whether `query_registered_operations` hides it by default.
        is_method: The function is to be used as a method; the decorator then returns a plain function.
        golden_function: Its reference.
        preprocess_golden_function_inputs: Kept for callers that read it.
        postprocess_golden_function_outputs: Kept for callers that read it.

    Raises:
        ArgumentError: `name` is none, or what is decorated is no function.
    """
    if not isinstance(name, str):
        raise ArgumentError(f"register_python_operation: name must be a str, got {type(name).__name__}")

    def decorate(function: Callable[..., Any]) -> Any:
        if not callable(function):
            kind = type(function).__name__
            raise ArgumentError(f"register_python_operation: {name} must be a function, got {kind}")
        operation = add_operation(
            FastOperation(
                name,
                function,
                golden_function=golden_function,
                preprocess_golden_function_inputs=preprocess_golden_function_inputs,
                postprocess_golden_function_outputs=postprocess_golden_function_outputs,
                is_experimental=is_experimental,
            )
        )
        if not is_method:
            return operation

        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            return operation(self, *args, **kwargs)

        method.__doc__ = function.__doc__
        return method

    return decorate


def create_module_if_not_exists(module_name: str) -> ModuleType:
    """Return a dotted module, creating it and its parents.

    Raises:
        ArgumentError: no name.
    """
    if not isinstance(module_name, str) or not module_name:
        raise ArgumentError(f"create_module_if_not_exists: expected the name of a module, got {module_name!r}")
    if module_name not in sys.modules:
        outer, _, inner = module_name.rpartition(".")
        made = sys.modules[module_name] = ModuleType(module_name)
        if outer:
            setattr(create_module_if_not_exists(outer), inner, made)
    return sys.modules[module_name]


def query_registered_operations(include_experimental: bool = False) -> list[FastOperation]:
    """Return the registered operators, sorted by name."""
    if not isinstance(include_experimental, bool | int):
        raise ArgumentError(
            f"query_registered_operations: include_experimental must be True or False, got {include_experimental!r}"
        )
    return [operation for operation in operations() if include_experimental or not operation.is_experimental]


def dump_operations(csv_file: str | os.PathLike[str], include_experimental: bool = False) -> None:
    """Write a table of the registered operators.

    Raises:
        ArgumentError: `csv_file` is no path.
        FileAccessError: the file cannot be written.
    """
    if not isinstance(csv_file, str | os.PathLike):
        raise ArgumentError(f"dump_operations: csv_file must be a path, got {type(csv_file).__name__}")
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(["python_fully_qualified_name", "is_cpp_operation", "has_golden_function", "is_experimental"])
    for operation in query_registered_operations(include_experimental):
        has_golden = operation.golden_function is not None
        name = operation.python_fully_qualified_name
        writer.writerow([name, operation.is_cpp_operation, has_golden, operation.is_experimental])
    write_atomically(csv_file, table.getvalue(), where="dump_operations")


def register_cpp_operation(target_module: ModuleType, func_name: str, function: Callable[..., Any]) -> FastOperation:
    """Return a function as an operator, and set it in a module.

    Raises:
        ArgumentError: the function has no attribute `python_fully_qualified_name`.
    """
    name = getattr(function, "python_fully_qualified_name", None)
    if not isinstance(name, str):
        raise ArgumentError("register_cpp_operation: function must have a python_fully_qualified_name")
    operation: FastOperation = register_python_operation(name=name)(function)
    setattr(target_module, func_name, operation)
    return operation


def register_ttl_operation_as_ttnn_operation(
    python_fully_qualified_name: str, function: Callable[..., Any]
) -> FastOperation:
    """Return a function as an experimental operator of a name."""
    register = register_python_operation(name=python_fully_qualified_name, is_experimental=True)
    operation: FastOperation = register(function)
    return operation


def register_tt_lib_operations_as_ttnn_operations(module: ModuleType) -> NoReturn:
    """Always raise: operators come from the registry, not from an extension module.

    Raises:
        UnsupportedError: always.
    """
    raise UnsupportedError(
        "register_tt_lib_operations_as_ttnn_operations: operators come from the registry of this package; "
        "ttnn.register_python_operation adds one."
    )


class _RegisteredOperations:
    """All registered operators."""

    def __iter__(self) -> Any:
        return iter(operations())

    def __contains__(self, operation: object) -> bool:
        return operation in operations()


REGISTERED_OPERATIONS: Final = _RegisteredOperations()
