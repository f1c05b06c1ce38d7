"""Official module: padding to tiles, and comparison of torch tensors.

Source: tt-metal `ttnn/tt_lib/utils.py` (names, arguments, results).
"""

from __future__ import annotations

import struct
import sys
import warnings
from typing import Any

from ttnn.base.exceptions import ParameterError

TILE = 32


def divup(a: int, b: int) -> int:
    """Return a / b, rounded up."""
    return -(-a // b)


def roundup(a: int, b: int) -> int:
    """Return the least multiple of b that is at least a."""
    return divup(a, b) * b


def roundup32(a: int) -> int:
    """Return the least multiple of 32 that is at least a."""
    return roundup(a, TILE)


def _nearest_32(x: int) -> int:
    """Return the least multiple of 32 that is at least x."""
    return roundup(x, TILE)


def _nearest_y(x: int, y: int) -> int:
    """Return the least multiple of y that is at least x."""
    return roundup(x, y)


def _padded(x: Any, shape: list[int], inner: tuple[Any, ...]) -> Any:
    """Return float32 zeros of a shape, with a tensor in part."""
    zeros = sys.modules["torch"].zeros(*shape)
    zeros[inner] = x
    return zeros


def _rank(name: str, x: Any) -> int:
    rank = len(x.shape)
    if not 1 <= rank <= 4:
        raise ParameterError(f"tt_lib.utils.{name}: expected a torch tensor of rank 1 to 4, got rank {rank}.")
    return rank


def pad_activation(x: Any) -> Any:
    """Return a rank 4 float32 torch tensor, zero-padded to multiples of 32.

    Shape: [n] becomes [1, 1, 32, N], [b, n] becomes [b, 1, 32, N], [b, m, n] becomes [b, 1, M, N], and
    [b, c, m, n] becomes [b, c, M, N], with M and N rounded up.

    Raises:
        ParameterError: the rank is 0 or above 4.
    """
    rank = _rank("pad_activation", x)
    width = roundup32(x.shape[-1])
    if rank <= 2:
        batch = x.shape[0] if rank == 2 else 1
        return _padded(x, [batch, 1, TILE, width], (slice(None), 0, 0, slice(x.shape[-1])))
    height, columns = x.shape[-2:]
    outer = [x.shape[0], 1] if rank == 3 else list(x.shape[:2])
    first = (slice(None), 0) if rank == 3 else (slice(None), slice(None))
    return _padded(x, [*outer, roundup32(height), width], (*first, slice(height), slice(columns)))


def pad_weight(x: Any) -> Any:
    """Return a float32 torch tensor, zero-padded to multiples of 32.

    The last two dimensions are padded.

    Shape: [n] becomes [1, 1, 32, N], [m, n] becomes [1, 1, M, N]; of higher ranks only the last two change.

    Raises:
        ParameterError: the rank is 0 or above 4.
    """
    if _rank("pad_weight", x) == 1:
        return _padded(x, [1, 1, TILE, roundup32(x.shape[0])], (0, 0, 0, slice(x.shape[0])))
    height, columns = x.shape[-2:]
    outer = [1, 1] if len(x.shape) == 2 else list(x.shape[:-2])
    return _padded(x, [*outer, roundup32(height), roundup32(columns)], (..., slice(height), slice(columns)))


def _as_it_is(name: str, x: Any) -> Any:
    warnings.warn(
        f"tt_lib.utils.{name} does nothing: tensors convert torch data themselves", DeprecationWarning, stacklevel=3
    )
    return x


def tilize(x: Any) -> Any:
    """Return the argument. Tensors convert torch data themselves."""
    return _as_it_is("tilize", x)


def untilize(x: Any) -> Any:
    """Return the argument. Tensors convert torch data themselves."""
    return _as_it_is("untilize", x)


def tilize_to_list(x: Any) -> list[Any]:
    """Return the elements of a torch tensor as a flat list."""
    return list(_as_it_is("tilize_to_list", x).reshape(-1).tolist())


def tt2torch(ttx: Any) -> Any:
    """Return a device tensor as a torch tensor."""
    return ttx.cpu().to_torch()


tt2torch_rm = tt2torch


def float_to_bits(x: float) -> int:
    """Return the bits of a number in float32 as a signed integer."""
    bits: int = struct.unpack("<i", struct.pack("<f", x))[0]
    return bits


def print_diff_argmax(a: Any, b: Any, annotation: str = "") -> float:
    """Print where two torch tensors differ most, and return that difference."""
    difference = (a - b).abs().reshape(-1)
    place = int(difference.argmax())
    left, right = (float(x.reshape(-1)[place]) for x in (a, b))
    print(f"Abs diff= {float(difference[place])} at {place} --- {annotation}")
    print(f"  (a= {left} )")
    print(f"  (b= {right} )")
    return float(difference[place])


def is_close(
    a: Any, b: Any, rtol: float = 8e-2, atol: float = 8e-2, max_mag: float = 4.0, max_mag_fraction: float = 0.02
) -> Any:
    """Return whether two torch tensors are close, as a one-bool tensor.

    An element is close if the absolute difference is below `atol` or below `max_mag * max_mag_fraction`, or if the
    ratio of the magnitudes, as they are or each increased by one, is within `rtol` of 1.
    """
    difference = (a - b).abs()
    ratio = a.abs() / b.abs() - 1.0
    shifted = (a.abs() + 1.0) / (b.abs() + 1.0) - 1.0
    near = (ratio.abs() < rtol) | (shifted.abs() < rtol) | (difference < max(atol, max_mag * max_mag_fraction))
    if not bool(near.all()):
        place = int((~near).reshape(-1).nonzero()[0])
        left, right = (float(x.reshape(-1)[place]) for x in (a, b))
        print(f"****   is_close mismatch at index= {place}: {left} {right}")
    return near.all()


def find_closest_largest_divisor(num: int, start_divisor: int) -> int:
    """Return the largest divisor of a number that is at most `start_divisor`."""
    return next(divisor for divisor in range(start_divisor, 0, -1) if num % divisor == 0)


def find_closest_largest_divisor_with_num_padding(num: int, start_divisor: int) -> int:
    """Return the largest number of parts without an all-padding part.

    It is at most `start_divisor`.
    """
    divisor = start_divisor
    while (padded := roundup(num, divisor)) - num >= padded // divisor:
        divisor -= 1
    return divisor
