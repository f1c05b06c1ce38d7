"""Distances between torch tensors: Pearson correlation and units in the last place.

torch is imported when a function runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ttnn.operation.slow_path import correlation
from ttnn.tensor.conversion import from_torch, to_torch
from ttnn.tensor.tensor import Tensor

if TYPE_CHECKING:
    import torch


def comp_pcc(
    golden: Any, calculated: Any, pcc: float = 0.99, rtol: float = 1e-05, atol: float = 1e-04
) -> tuple[bool, float]:
    """Return whether two tensors' Pearson correlation reaches a bound.

    And the correlation, of torch tensors.

    NaN and infinities count as zero. Two tensors of NaN correlate perfectly, one with a tensor of numbers not at all,
    and neither do a tensor of zeros and another one. A constant tensor has no correlation: then it is 1 if all
    elements are close, else 0.

    Args:
        golden: What is expected.
        calculated: What came.
        pcc: The bound.
        rtol: Tolerance relative to `golden`, added to the absolute one.
        atol: Likewise, absolute.
    """
    left, right = (np.asarray(value.detach().double()).ravel() for value in (golden, calculated))
    if left.shape != right.shape:
        return False, 0.0
    alone = [bool(values.size) and bool(np.isnan(values).all()) for values in (left, right)]
    if any(alone):
        return all(alone), float(all(alone))
    if left.any() != right.any():
        return False, 0.0
    left, right = (np.where(np.isfinite(values), values, 0.0) for values in (left, right))
    if left.size and (np.ptp(left) == 0 or np.ptp(right) == 0):
        found = float(np.allclose(right, left, rtol=rtol, atol=atol))
    else:
        found = correlation(left, right)
    return found >= pcc, found


def ulp(x: Tensor | torch.Tensor) -> Any:
    """Return the distance from each magnitude to the next number.

    That below it for the largest of the type.

    Args:
        x: torch tensor of floating-point numbers, or a tensor of ttnn; the result is of the same kind.
    """
    import torch

    if isinstance(x, Tensor):
        return from_torch(ulp(to_torch(x)))
    magnitude = x.abs()
    limits = torch.tensor([torch.inf, torch.finfo(x.dtype).max], dtype=x.dtype)
    distance = torch.nextafter(magnitude, limits[0]) - magnitude
    last = limits[1] - torch.nextafter(limits[1], -limits[0])
    return torch.where(magnitude == limits[1], last, distance)


def comp_ulp(golden: Any, calculated: Any, ulp_threshold: float, allow_nonfinite: bool = False) -> tuple[Any, str]:
    """Return whether torch tensors are within some ULP, with distance.

    The largest distance is a text.

    The unit is that of the type of `calculated` at the value of `golden`, which may be of a wider type.

    Args:
        golden: What is expected.
        calculated: What came.
        ulp_threshold: The bound.
        allow_nonfinite: Whether both may have NaN and infinities, at the same positions and with the same values.
    """
    import torch

    if golden.numel() == 0 and calculated.numel() == 0:
        return True, "Both tensors are empty"
    if not allow_nonfinite and not bool(torch.isfinite(calculated).all()):
        return False, "Calculated tensor contains non-finite values"
    wide = [value.to(torch.promote_types(golden.dtype, calculated.dtype)) for value in (golden, calculated)]
    finite = torch.isfinite(wide[0])
    same = torch.where(finite, torch.isfinite(wide[1]), (wide[0] == wide[1]) | (wide[0].isnan() & wide[1].isnan()))
    if not bool(same.all()):
        return False, "Tensors are not finite at the same positions"
    expected, got = (torch.where(finite, value, torch.zeros_like(value)) for value in wide)
    units = ulp(expected.to(calculated.dtype)).to(expected.dtype)
    distances = (got - expected).abs() / units
    largest = distances.max()
    text = f"Max ULP Delta: {largest}"
    if largest <= ulp_threshold:
        return True, text
    place = tuple(int(index) for index in torch.unravel_index(distances.argmax(), distances.shape))
    return False, f"{text} @ {list(place)} = |{got[place]} - {expected[place]}| / {units[place]}"
