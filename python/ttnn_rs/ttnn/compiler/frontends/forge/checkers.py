"""Comparison of values: correlation, closeness, and share of equal truth values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import torch

from ttnn.compiler.frontends.torch.measure import correlation

__all__ = ["AllCloseValueChecker", "AutomaticValueChecker", "FullValueChecker", "ValueChecker", "compare_with_golden"]

_INTEGERS = (torch.int32, torch.int64, torch.bool)


def compare_with_golden(
    golden: torch.Tensor,
    calculated: torch.Tensor,
    pcc: float = 0.99,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    dissimilarity_threshold: float = 1e-03,
) -> bool:
    """Return whether a tensor is close to another one.

    Truth values by the share of equal ones (Rogers and Tanimoto), single numbers by closeness, others by correlation.

    Args:
        golden: The expected tensor.
        calculated: The tensor.
        pcc: The least correlation.
        rtol: The largest relative error of a single number.
        atol: The largest absolute error of a single number.
        dissimilarity_threshold: The largest dissimilarity of truth values.
    """
    if golden.dtype == torch.bool:
        first, second = golden.flatten(), calculated.flatten().bool()
        different = int((first != second).sum())
        return 2 * different <= dissimilarity_threshold * (first.numel() + different)
    if golden.numel() == 1:
        return torch.allclose(golden.flatten().double(), calculated.flatten().double(), rtol=rtol, atol=atol)
    if torch.equal(golden, calculated.to(golden.dtype)):
        return True
    return correlation(golden, calculated) >= pcc


class ValueChecker(ABC):
    """A way to compare values.

    Attributes:
        rtol: The largest relative error.
        atol: The largest absolute error.
    """

    def __init__(self, rtol: float = 1e-05, atol: float = 1e-08) -> None:
        self.rtol, self.atol = rtol, atol

    @abstractmethod
    def check(self, fw_out: torch.Tensor, co_out: torch.Tensor) -> None:
        """Compare a framework's tensor with the device's.

        Raises:
            ValueError: They differ.
        """

    def _close(self, fw_out: torch.Tensor, co_out: torch.Tensor) -> None:
        first, second = fw_out.double(), co_out.double()
        if torch.allclose(first, second, rtol=self.rtol, atol=self.atol, equal_nan=True):
            return
        error = (first - second).abs()
        relative = float((error / first.abs().clamp_min(1e-30)).max())
        raise ValueError(
            f"Data mismatch -> {type(self).__name__} (all_close): required rtol={self.rtol}, atol={self.atol}, "
            f"observed {relative} and {float(error.max())} for the shape {list(fw_out.shape)}."
        )


class AutomaticValueChecker(ValueChecker):
    """Compares by correlation, single numbers by closeness, truth values by dissimilarity."""

    def __init__(
        self, pcc: float = 0.99, rtol: float = 1e-05, atol: float = 1e-08, dissimilarity_threshold: float = 1e-03
    ) -> None:
        super().__init__(rtol, atol)
        self.pcc, self.dissimilarity_threshold = pcc, dissimilarity_threshold

    def check(self, fw_out: torch.Tensor, co_out: torch.Tensor) -> None:
        """Compare a framework's tensor with the device's.

        Raises:
            ValueError: They differ.
        """
        if not compare_with_golden(fw_out, co_out, self.pcc, self.rtol, self.atol, self.dissimilarity_threshold):
            raise ValueError(
                f"Data mismatch -> {type(self).__name__} (compare_with_golden): framework_model={fw_out}, "
                f"compiled_model={co_out}"
            )


class AllCloseValueChecker(ValueChecker):
    """Compares floats by closeness."""

    def check(self, fw_out: torch.Tensor, co_out: torch.Tensor) -> None:
        """Compare a framework's tensor with the device's.

        Raises:
            AssertionError: They are integers, which have no closeness.
            ValueError: They differ.
        """
        assert fw_out.dtype not in _INTEGERS, "AllCloseValueChecker compares floats, got integers or truth values"
        self._close(fw_out, co_out)


class FullValueChecker(AutomaticValueChecker):
    """Compares by correlation, and floats also by closeness."""

    def check(self, fw_out: torch.Tensor, co_out: torch.Tensor) -> None:
        """Compare a framework's tensor with the device's.

        Raises:
            ValueError: They differ.
        """
        super().check(fw_out, co_out)
        if fw_out.dtype not in _INTEGERS:
            self._close(fw_out, co_out)


def copied(value: Any) -> Any:
    """Return a copy of a tensor; other values unchanged."""
    return value.detach().clone().requires_grad_(value.requires_grad) if isinstance(value, torch.Tensor) else value
