"""Comparison of a module on the device with PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ttnn.base.exceptions import ParameterError
from ttnn.compiler.frontends.torch.backend import tt
from ttnn.compiler.frontends.torch.config import CompilerConfig
from ttnn.compiler.frontends.torch.measure import correlation, difference
from ttnn.compiler.frontends.torch.options import BackendOptions

__all__ = ["verify_against_golden", "verify_module"]


def verify_against_golden(
    golden_tensors: Sequence[Any],
    calculated_tensors: Sequence[Any],
    assert_pcc: bool,
    assert_atol: bool,
    required_pcc: float = 0.99,
    required_atol: float | None = None,
    relative_atol: float | None = None,
    disable_print: bool = True,
) -> tuple[list[float | None], list[float | None], bool, bool, list[float]]:
    """Return correlations, differences, and whether all of them pass.

    Also the limits of the differences.

    Args:
        golden_tensors: The expected results; those that are no tensors have to be equal.
        calculated_tensors: The results.
        assert_pcc: Whether a lower correlation is an error.
        assert_atol: Whether a larger difference is an error.
        required_pcc: The least correlation.
        required_atol: The largest absolute difference.
        relative_atol: The largest difference relative to the largest expected value; one of both is given.
        disable_print: No effect: nothing is printed.

    Raises:
        AssertionError: The results do not agree.
    """
    del disable_print
    assert (required_atol is None) != (relative_atol is None), "expected one of required_atol and relative_atol"
    assert len(golden_tensors) == len(calculated_tensors), (
        f"expected {len(golden_tensors)} results, got {len(calculated_tensors)}"
    )
    pccs: list[float | None] = []
    atols: list[float | None] = []
    limits: list[float] = []
    failed: list[tuple[str, str]] = []
    for number, (golden, got) in enumerate(zip(golden_tensors, calculated_tensors, strict=True)):
        if not isinstance(golden, torch.Tensor) or not isinstance(got, torch.Tensor):
            pccs.append(None)
            atols.append(None)
            limits.append(0)
            if golden is not got and golden != got:
                failed += [(kind, f"result {number}: expected {golden!r}, got {got!r}") for kind in ("pcc", "atol")]
            continue
        assert golden.shape == got.shape, f"result {number}: expected {list(golden.shape)}, got {list(got.shape)}"
        pcc = None if golden.numel() == 1 else correlation(golden, got)
        atol = difference(golden, got)
        known = golden.double().abs()
        largest = float(known[~known.isnan()].max()) if known.numel() else 0.0
        limit = required_atol if required_atol is not None else (relative_atol or 0.0) * largest
        pccs.append(pcc)
        atols.append(atol)
        limits.append(limit)
        if pcc is not None and pcc < required_pcc:
            failed.append(("pcc", f"result {number}: correlation {pcc} < {required_pcc}"))
        if atol > limit:
            failed.append(("atol", f"result {number}: difference {atol} > {limit}"))
    wrong = [text for kind, text in failed if (assert_pcc if kind == "pcc" else assert_atol)]
    assert not wrong, "; ".join(wrong)
    kinds = {kind for kind, _ in failed}
    return pccs, atols, "pcc" not in kinds, "atol" not in kinds, limits


def _inputs(
    shapes: Sequence[Any],
    dtypes: Sequence[Any] | None,
    low_high: tuple[float, float],
    low_high_int: tuple[int, int],
) -> list[torch.Tensor]:
    kinds = list(dtypes) if dtypes else [torch.float32] * len(shapes)
    if len(kinds) != len(shapes):
        raise ParameterError(f"expected one type for each of {len(shapes)} shapes, got {len(kinds)}.")
    made = []
    for shape, dtype in zip(shapes, kinds, strict=True):
        if dtype == torch.bool:
            made.append(torch.randint(0, 2, tuple(shape), dtype=torch.bool))
        elif dtype.is_floating_point:
            made.append((torch.rand(tuple(shape)) * (low_high[1] - low_high[0]) + low_high[0]).to(dtype))
        else:
            made.append(torch.randint(*low_high_int, tuple(shape), dtype=dtype))
    return made


def verify_module(
    mod: torch.nn.Module,
    inputs: Sequence[Any] | None = None,
    input_shapes: Sequence[Any] | None = None,
    input_data_types: Sequence[Any] | None = None,
    required_pcc: float = 0.99,
    required_atol: float = 1e-2,
    input_range: tuple[float, float] = (-0.5, 0.5),
    input_range_int: tuple[int, int] = (0, 1000),
    compiler_config: CompilerConfig | None = None,
    do_assert: bool = True,
    device: Any = None,
) -> None:
    """Compare a module on the device with PyTorch.

    Args:
        mod: The module; it is put into evaluation mode.
        inputs: Its inputs.
        input_shapes: Shapes of random inputs, if there are no inputs.
        input_data_types: Their types; default float32.
        required_pcc: The least correlation.
        required_atol: The largest absolute difference.
        input_range: Range of random floats.
        input_range_int: Range of random integers.
        compiler_config: How to compile.
        do_assert: Whether results that do not agree are an error.
        device: The device; default: the default device.

    Raises:
        ParameterError: Neither inputs nor shapes are given.
        AssertionError: The results do not agree.
    """
    if inputs is None:
        if input_shapes is None:
            raise ParameterError("verify_module: expected inputs or input_shapes.")
        inputs = _inputs(input_shapes, input_data_types, input_range, input_range_int)
    given = [torch.as_tensor(one) for one in inputs]
    config = compiler_config or CompilerConfig()
    options: Any = BackendOptions(compiler_config=config, devices=[device] if device is not None else None)
    with torch.no_grad():
        mod.eval()
        golden = _several(mod(*given))
        found = _several(torch.compile(mod, backend=tt, options=options)(*given))
    verify_against_golden(golden, found, do_assert, do_assert, required_pcc, required_atol)


def _several(given: Any) -> tuple[Any, ...]:
    return (given,) if isinstance(given, torch.Tensor) else tuple(given)
