"""`manual_seed`: generator states of single cores.

`sampling` draws from them when it has no seed.

Source: tt-metal `ttnn/cpp/ttnn/operations/reduction/manual_seed`, `docs/Manual_seed.md`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final
from weakref import WeakKeyDictionary

from ttnn._engine import refuse_program
from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import ArgumentError, DTypeError, LayoutError, ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG
from ttnn.device.lifecycle import MeshDevice
from ttnn.golden import random as golden
from ttnn.operation.accuracy import bit_exact
from ttnn.operation.registry import declare
from ttnn.operation.signature import DEVICE, INTEGER, Kind, Param, Signature
from ttnn.ops._programs.common import SUB_CORE_GRIDS_OPTION, list_on_host, on_device, same_device
from ttnn.ops.creation.filled import filled
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.manual_seed"
_USERS: Final = 32
_STEP: Final = 0x9E3779B9
_KEPT: Final = 2**32 - 1
"""The seed that leaves a generator as it is."""
_seeds: Final[WeakKeyDictionary[MeshDevice, dict[int, int]]] = WeakKeyDictionary()


def seeds_of(device: MeshDevice) -> dict[int, int]:
    """Return seeds set by `manual_seed` on a device, by core.

    The key is the number of the core that serves a user.
    """
    # They change from call to call.
    refuse_program("seeds of the device are used")
    return _seeds.setdefault(device, {})


def next_seed(device: MeshDevice, user: int) -> int | None:
    """Return a user's next seed and advance; None without `manual_seed`."""
    seed = seeds_of(device).get(user)
    if seed is not None:
        # Steps of an odd constant reach every word before one comes again.
        seeds_of(device)[user] = (seed + _STEP) % 2**32
    return seed


def _words(label: str, tensor: Tensor) -> list[int]:
    """Return the elements of a tensor of seeds or users.

    Raises:
        DTypeError: it is not UINT32.
        LayoutError: it is not row-major.
        ShapeError: it has another rank than 1.
    """
    on_device(_NAME, tensor, label)
    spec, title = tensor.spec, {"seeds": "Seeds", "user_ids": "User IDs"}[label]
    if spec.dtype is not DataType.UINT32:
        raise DTypeError(
            f"{_NAME}: {label} is {spec.dtype.name}; it must be UINT32.",
            vendor=f"{title} tensor must be of type UINT32.",
        )
    if spec.layout is not Layout.ROW_MAJOR:
        raise LayoutError(
            f"{_NAME}: {label} is {spec.layout.name}; it must be ROW_MAJOR.",
            vendor=f"{title} tensor must have ROW_MAJOR layout.",
        )
    if spec.shape.rank != 1:
        raise ShapeError(
            f"{_NAME}: {label} is {spec.shape}; it must be of rank 1.",
            vendor="Seeds tensor and User IDs tensor must be 1-dimensional.",
        )
    return [int(word) for word in list_on_host(_NAME, tensor, label)]


def _manual_seed(
    seeds: int | Tensor,
    device: MeshDevice | None,
    user_ids: int | Tensor | None,
    sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    if isinstance(seeds, Tensor):
        target = on_device(_NAME, seeds, "seeds")
        if device is not None:
            same_device(_NAME, device, seeds, "seeds")
    elif device is None:
        raise ArgumentError(
            f"{_NAME}: seeds is a scalar; pass the device on which it is set.",
            vendor="Device must be provided when seeds is a uint32_t value.",
        )
    else:
        target = device
    if isinstance(seeds, Tensor) and isinstance(user_ids, int):
        raise ParameterError(
            f"{_NAME}: seeds is a tensor, user_ids is {user_ids}; pass a tensor of as many users.",
            vendor="Seeds were provided as a tensor, so user_ids must not be provided as a scalar.",
        )
    if isinstance(user_ids, int) and not 0 <= user_ids < _USERS:
        raise ParameterError(
            f"{_NAME}: user_ids is {user_ids}; there are {_USERS} users, 0 to {_USERS - 1}.",
            vendor="User IDs scalar must be in the range [0, 31].",
        )
    grid = target.compute_with_storage_grid_size()
    cores = grid.x * grid.y if sub_core_grids is None else sub_core_grids.num_cores()
    numbers = _words("seeds", seeds) if isinstance(seeds, Tensor) else None
    users: list[int]
    if user_ids is None:
        users = list(range(cores if numbers is None else len(numbers)))
    else:
        users = _words("user_ids", user_ids) if isinstance(user_ids, Tensor) else [user_ids]
    if numbers is not None and len(numbers) != len(users):
        raise ShapeError(
            f"{_NAME}: seeds has {len(numbers)} elements, user_ids {len(users)}; they must agree.",
            vendor="Seeds tensor and User IDs tensor must have the same number of elements.",
        )
    if numbers is None:
        assert isinstance(seeds, int)
        numbers = [seeds] * len(users)
    known = seeds_of(target)
    if user_ids is None and any(number != _KEPT for number in numbers):
        known.clear()
    pairs = zip(users, numbers, strict=True)
    known.update((user, seed) for user, seed in pairs if user < cores and seed != _KEPT)
    return filled(_NAME, (1,), 0, DataType.UINT32, Layout.ROW_MAJOR, target, DRAM_MEMORY_CONFIG)


def _word_or_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) or (INTEGER.accepts(value) and 0 <= value < 2**32)


_KIND: Final = Kind("int | ttnn.Tensor", _word_or_tensor)

manual_seed = declare(
    "manual_seed",
    (
        Signature(
            (
                Param(
                    "seeds",
                    _KIND,
                    0,
                    doc="One seed for all users, or a UINT32 row-major tensor with one for each. 2**32 - 1 sets none.",
                ),
            ),
            (
                Param("device", DEVICE, None, doc="The device; needed unless `seeds` is a tensor."),
                Param("user_ids", _KIND, None, doc="The users, 0 to 31, or a UINT32 row-major tensor. Default: all."),
                replace(SUB_CORE_GRIDS_OPTION, doc="Cores that serve users. Default: the whole grid."),
            ),
        ),
    ),
    _manual_seed,
    "Write seeds of the users' random generators; return a single 0.\nShape: -> [1].\n"
    "`rand`, `randn`, `uniform` and `bernoulli` seed their cores themselves and are not affected.",
    source="tt-metal `ttnn/cpp/ttnn/operations/reduction/manual_seed`",
    dtypes=(DataType.UINT32,),
    layouts=(Layout.ROW_MAJOR,),
    golden=golden.manual_seed,
    accuracy=bit_exact(),
    numerics="movement",
    engine=("fill",),
    raises=(
        ("ArgumentError", "`seeds` is a scalar and `device` is missing."),
        ("ParameterError", "`seeds` is a tensor and `user_ids` a scalar, or a user does not exist."),
        ("ShapeError", "`seeds` and `user_ids` differ in size, or are not of rank 1."),
        ("DTypeError", "a tensor is not UINT32."),
        ("LayoutError", "a tensor is not row-major."),
    ),
    examples=(),
    scalars=True,
)
