"""Comparison of a call's result with its golden function's, in torch."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ttnn.base.exceptions import ArgumentError
from ttnn.operation.call_tensors import get_all_tensors, get_ttnn_tensors
from ttnn.operation.comparison import comp_pcc
from ttnn.operation.slow_path import ComparisonError
from ttnn.tensor.conversion import from_torch, to_torch
from ttnn.tensor.tensor import Tensor

_log: Final = logging.getLogger("ttnn")


def to_torch_for_comparison(tensor: Any, golden_tensor: Any = None, preserve_fp8_bytes: bool = False) -> Any:
    """Return a ttnn tensor as a torch tensor; others unchanged.

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
    """Return a call's arguments with torch tensors for ttnn ones."""

    def converted(value: Any) -> Any:
        if isinstance(value, Tensor):
            return to_torch(value)
        return type(value)(map(converted, value)) if type(value) in (list, tuple) else value

    return tuple(map(converted, function_args)), {name: converted(value) for name, value in function_kwargs.items()}


def default_postprocess_golden_function_outputs(
    output: Any, function_args: Sequence[Any], function_kwargs: Mapping[str, Any]
) -> Any:
    """Return a golden result with tensors like the call's first.

    Its data type, layout and device.

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
    """Return each result tensor's correlation, and whether it suffices.

    The correlation is that with the golden tensor.

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
