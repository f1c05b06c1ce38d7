"""The official module of this name: operator classes, hooks and registration.

Comparisons over a whole program, in which golden values are carried from operator to operator, are not built.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager as contextmanager
from functools import wraps as wraps
from importlib.util import module_from_spec as module_from_spec
from types import ModuleType
from typing import Any, Final

from ttnn.base.exceptions import ArgumentError
from ttnn.base.refused import refusing
from ttnn.comparison import comp_pcc as comp_pcc
from ttnn.comparison import comp_ulp as comp_ulp
from ttnn.device.coordinates import QueueId
from ttnn.device.events import get_current_command_queue_id_for_thread as get_current_command_queue_id_for_thread
from ttnn.device.mesh_device import MeshDevice
from ttnn.device.queues import pop_queue, push_queue
from ttnn.operation.hooks import *  # noqa: F403
from ttnn.operation.hooks import create_module_if_not_exists as create_module_if_not_exists
from ttnn.operation.hooks import register_python_operation as register_python_operation
from ttnn.operation.registry import FastOperation, operations
from ttnn.operation.signature import OUTPUT_TENSOR_NAMES
from ttnn.operation.slow_path import POST_HOOKS as POST_OPERATION_HOOKS
from ttnn.operation.slow_path import PRE_HOOKS as PRE_OPERATION_HOOKS
from ttnn.operation.slow_path import ComparisonError
from ttnn.tensor.conversion import from_torch, to_torch
from ttnn.tensor.tensor import Tensor

_log: Final = logging.getLogger("ttnn")

globals().update(
    refusing(
        "ttnn.decorators",
        "get_tensor_report_record postprocess_global_golden_function_outputs prepare_backward_golden_inputs "
        "preprocess_global_golden_function_inputs refresh_or_invalidate_global_goldens set_golden_comparison_config",
        "comparisons over a whole program and their records are not built yet; comparison mode compares each call",
    )
)

__all__ = ["OUTPUT_TENSOR_NAMES", "POST_OPERATION_HOOKS", "PRE_OPERATION_HOOKS", "FastOperation"]


class _RegisteredOperations:
    """All registered operators."""

    def __iter__(self) -> Any:
        return iter(operations())

    def __contains__(self, operation: object) -> bool:
        return operation in operations()


REGISTERED_OPERATIONS: Final = _RegisteredOperations()


def push_current_command_queue_id_for_thread(cq_id: QueueId | int, /) -> None:
    """Select the command queue of this thread's operators until it is popped."""
    push_queue("push_current_command_queue_id_for_thread", cq_id)


def pop_current_command_queue_id_for_thread() -> QueueId:
    """Return the command queue of this thread, and restore the previous one.

    Raises:
        ArgumentError: none was pushed.
    """
    return QueueId(pop_queue("pop_current_command_queue_id_for_thread"))


# Tensors in arguments and results.


def get_tensors(object_value: Any, tensor_type: Any) -> list[Any]:
    """Return the values of a class in an argument: itself, or what lists, tuples and dictionaries hold."""
    if isinstance(object_value, tensor_type):
        return [object_value]
    if isinstance(object_value, Mapping):
        object_value = list(object_value.values())
    if isinstance(object_value, list | tuple):
        return [found for item in object_value for found in get_tensors(item, tensor_type)]
    return []


def get_ttnn_tensors(object_value: Any) -> list[Tensor]:
    """Return the tensors of ttnn in an argument."""
    return get_tensors(object_value, Tensor)


def get_all_tensors(object_value: Any) -> list[Any]:
    """Return the tensors of ttnn and of torch in an argument."""
    import torch

    return get_tensors(object_value, (Tensor, torch.Tensor))


def get_devices(object_value: Any) -> set[MeshDevice]:
    """Return the devices in an argument, and those of its tensors that have memory."""
    tensors = [tensor for tensor in get_ttnn_tensors(object_value) if tensor.is_allocated()]
    found = {tensor.device() for tensor in tensors} | set(get_tensors(object_value, MeshDevice))
    return {device for device in found if device is not None}


def get_inplace_output_tensors(
    function_kwargs: Mapping[str, Any], output_tensor_kwarg_names: Sequence[str] = OUTPUT_TENSOR_NAMES
) -> list[Tensor]:
    """Return the tensors that a call is given for its results."""
    return get_ttnn_tensors([function_kwargs.get(name) for name in output_tensor_kwarg_names])


def get_output_tensor_ids(output: Any) -> list[int]:
    """Return the numbers of the tensors of a result."""
    return [tensor.tensor_id for tensor in get_ttnn_tensors(output)]


def set_tensor_id(tensor: Any, force: bool = False) -> None:
    """Number a tensor, or those of a list. Tensors of ttnn have a number of their own; tensors of torch get one.

    Raises:
        ArgumentError: something else.
    """
    if isinstance(tensor, list | tuple):
        for item in tensor:
            set_tensor_id(item, force)
    elif hasattr(tensor, "detach"):
        if force or getattr(tensor, "tensor_id", None) is None:
            tensor.tensor_id = Tensor([0.0], [1], from_torch(tensor.new_zeros(1)).dtype).tensor_id
    elif not isinstance(tensor, Tensor):
        raise ArgumentError(f"set_tensor_id: expected tensors, got {type(tensor).__name__}")


def set_output_tensor_id_decorator(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose results are numbered."""

    @wraps(function)
    def numbered(*args: Any, **kwargs: Any) -> Any:
        output = function(*args, **kwargs)
        set_tensor_id(get_all_tensors(output))
        return output

    return numbered


# Comparison with golden functions.


def to_torch_for_comparison(tensor: Any, golden_tensor: Any = None, preserve_fp8_bytes: bool = False) -> Any:
    """Return a tensor of ttnn as a tensor of torch; a tensor of torch as it is.

    Args:
        tensor: The tensor.
        golden_tensor: What it is compared with; not used.
        preserve_fp8_bytes: Return fp8_e4m3 as its bytes, not as its values.
    """
    if not isinstance(tensor, Tensor):
        return tensor
    values = to_torch(tensor)
    if "float8" not in str(values.dtype):
        return values
    import torch

    return values.view(torch.uint8) if preserve_fp8_bytes else values.float()


def default_preprocess_golden_function_inputs(
    function_args: Sequence[Any], function_kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call with tensors of torch in place of those of ttnn."""

    def converted(value: Any) -> Any:
        if isinstance(value, Tensor):
            return to_torch(value)
        return type(value)(map(converted, value)) if type(value) in (list, tuple) else value

    return tuple(map(converted, function_args)), {name: converted(value) for name, value in function_kwargs.items()}


def default_postprocess_golden_function_outputs(
    output: Any, function_args: Sequence[Any], function_kwargs: Mapping[str, Any]
) -> Any:
    """Return a golden result with tensors like the first one of the call: its data type, layout and device.

    Raises:
        ArgumentError: the result holds something else than tensors of torch.
    """
    first = next(iter(get_ttnn_tensors((list(function_args), dict(function_kwargs)))), None)
    like = {} if first is None else {"dtype": first.dtype, "layout": first.layout, "device": first.device()}

    def converted(value: Any) -> Any:
        if type(value) in (list, tuple):
            return type(value)(map(converted, value))
        if not hasattr(value, "detach"):
            raise ArgumentError(f"default_postprocess_golden_function_outputs: got a {type(value).__name__}")
        return from_torch(value, **like)

    return converted(output)


def should_compare_scalar_outputs(golden_outputs: Any, outputs: Any) -> bool:
    """Return whether a golden result and a result are both numbers."""
    return isinstance(golden_outputs, bool | int | float) and isinstance(outputs, bool | int | float)


def should_compare_tensor_outputs(golden_outputs: Any, outputs: Any) -> bool:
    """Return whether a golden result and a result both hold tensors."""
    return bool(get_all_tensors(golden_outputs)) and bool(get_all_tensors(outputs))


def _report(text: str, fail: bool) -> None:
    if fail:
        raise ComparisonError(text)
    _log.error(text)


def compare_scalar_outputs(
    python_fully_qualified_name: str,
    golden_output: float,
    output: float,
    desired_pcc: float,
    level: str,
    fail_on_bad_comparison: bool,
) -> bool:
    """Return whether a number is that of the golden function.

    Raises:
        ComparisonError: it is not, and `fail_on_bad_comparison` is set; otherwise it is logged.
    """
    equal = output == golden_output or (output != output and golden_output != golden_output)
    if not equal:
        text = (
            f"{python_fully_qualified_name}: Comparing output against CPU {level} failed: {output}, not {golden_output}"
        )
        _report(text, fail_on_bad_comparison)
    return equal


def compare_tensors_using_pcc(
    python_fully_qualified_name: str,
    golden_outputs: Any,
    outputs: Any,
    desired_pcc: float,
    level: str,
    fail_on_bad_comparison: bool,
    output_path: Sequence[int] = (),
) -> list[tuple[bool, float]]:
    """Return for each tensor of a result whether its correlation with the golden one is high enough, and what it is.

    Raises:
        ComparisonError: one is not, and `fail_on_bad_comparison` is set; otherwise it is logged.
        ArgumentError: one of the two is a tensor, the other one a list.
    """
    if isinstance(golden_outputs, list | tuple) is not isinstance(outputs, list | tuple):
        kinds = f"{type(golden_outputs).__name__} and {type(outputs).__name__}"
        raise ArgumentError(f"compare_tensors_using_pcc: golden result and result must be alike, got {kinds}")
    pairs = (
        zip(golden_outputs, outputs, strict=False) if isinstance(outputs, list | tuple) else [(golden_outputs, outputs)]
    )
    records = []
    for index, (golden, output) in enumerate(pairs):
        matches, pcc = comp_pcc(golden, to_torch_for_comparison(output), desired_pcc)
        records.append((matches, pcc))
        if not matches:
            place = ".".join(map(str, (*output_path, index)))
            _report(
                f"{python_fully_qualified_name}: Comparing output tensor {place} against CPU {level} failed: "
                f"pcc is {pcc} but should be >={desired_pcc}",
                fail_on_bad_comparison,
            )
    return records


# Operators that a program adds.


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
