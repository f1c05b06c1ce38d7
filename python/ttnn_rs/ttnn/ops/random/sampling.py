"""`ttnn.sampling`: samples a token for every user from the largest scores.

Source: tt-metal `ttnn/cpp/ttnn/operations/reduction/sampling`.
"""

from __future__ import annotations

import secrets
from functools import lru_cache
from typing import Any, Final

import numpy as np

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import FORMAT_CODE, TILE_SIZE, DataType, Layout
from ttnn.base.exceptions import DTypeError, LayoutError, MemoryConfigError, ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.lifecycle import MeshDevice
from ttnn.golden import random as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.domain import Operand
from ttnn.operation.registry import declare
from ttnn.operation.signature import INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.common import (
    OUTPUT_TENSOR_OPTION,
    SUB_CORE_GRIDS_OPTION,
    allocate,
    list_on_host,
    on_device,
    same_device,
    take_output,
)
from ttnn.ops._programs.element_map import move_into
from ttnn.ops._programs.pipeline import ROWS, Pipeline, bits
from ttnn.ops.random.draws import chosen
from ttnn.ops.random.seeds import next_seed
from ttnn.ops.reduction.sort import topk
from ttnn.runtime import engine_steps
from ttnn.tensor import conversion
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.sampling"
_USERS: Final = 32
_MOST: Final = 32
_BF16: Final = DataType.BFLOAT16
_ONE: Final = 0x3F800000
_LARGEST_SEED: Final = 2**32 - 1
_HIFI4: Final = 4


@lru_cache(maxsize=1)
def _softmax() -> Pipeline:
    """Return the program on scores, mask and factor.

    It is a softmax of 32 columns whose steps are packed to bfloat16.
    """
    shape = (_USERS, _MOST)
    program = Pipeline(shape, ROWS, _BF16, False, _HIFI4)
    scores, mask = program.tensor(_BF16), program.tensor(_BF16)
    masked = program.eltwise("add", scores, mask, _BF16)
    scaled = program.eltwise("mul", masked, program.tensor(_BF16, (_USERS, 1), "column"), _BF16)
    largest = program.max(scaled, _BF16)
    exps = program.eltwise("sub", scaled, largest, _BF16, [("exp", "approx_clampneg")])
    total = program.sum(exps, (_BF16, _ONE), _BF16)
    program.eltwise("mul", exps, program.copy(total, _BF16, [("recip", "accurate")]), _BF16, output=0)
    return program


def _check_scores(values: Tensor, indices: Tensor) -> None:
    """Refuse scores that are not those of 32 users.

    Raises:
        DTypeError: a data type is another.
        LayoutError: a layout is another.
        ShapeError: there are other users, or rows are not made of two tiles or more.
        MemoryConfigError: a tensor is sharded.
    """
    spec, other = values.spec, indices.spec
    if spec.dtype is not _BF16 or other.dtype not in (DataType.UINT32, DataType.INT32):
        raise DTypeError(
            f"{_NAME}: input_values_tensor is {spec.dtype.name} and input_indices_tensor {other.dtype.name}; they must "
            "be BFLOAT16 and UINT32 or INT32.",
            vendor="Only BFLOAT16 is supported for inputs!"
            if spec.dtype is not _BF16
            else "Only UINT32 & INT32 dtypes are supported for input indices!",
        )
    if spec.layout is not Layout.TILE or other.layout is not Layout.ROW_MAJOR:
        raise LayoutError(
            f"{_NAME}: input_values_tensor is {spec.layout.name} and input_indices_tensor {other.layout.name}; they "
            "must be TILE and ROW_MAJOR.",
            vendor="Only TILE_LAYOUT is supported for inputs!"
            if spec.layout is not Layout.TILE
            else "Only ROW_MAJOR is supported for input indices!",
        )
    if not (spec.memory_config.interleaved and other.memory_config.interleaved):
        raise MemoryConfigError(
            f"{_NAME}: input_values_tensor or input_indices_tensor is sharded; use ttnn.DRAM_MEMORY_CONFIG.",
            vendor="Only INTERLEAVED memory layout is supported for inputs!",
        )
    shape = tuple(spec.shape)
    if shape != tuple(other.shape):
        raise ShapeError(
            f"{_NAME}: input_values_tensor has shape {spec.shape}, input_indices_tensor {other.shape}; they must "
            "agree.",
            vendor="Input values and indices must have the same shape!",
        )
    if len(shape) != 4 or shape[0] * shape[1] * shape[2] != _USERS or shape[2] != _USERS:
        raise ShapeError(
            f"{_NAME}: input_values_tensor has shape {spec.shape}; it must be [1, 1, {_USERS}, W].",
            vendor="Input must have 32 users!",
        )
    tiles = shape[3] // TILE_SIZE
    if shape[3] % TILE_SIZE or tiles < 2 or tiles & (tiles - 1):
        raise ShapeError(
            f"{_NAME}: rows have {shape[3]} scores; they must be made of a power of two of tiles, of two or more. Pad "
            "with -inf.",
            vendor=f"Input inner dim ({shape[3]}) must be divisible by 32, pad if needed!",
        )


def _of_users(label: str, tensor: Tensor, dtype: DataType) -> list[Any]:
    """Return a number for every user.

    Raises:
        DTypeError: the data type is another.
        LayoutError: the tensor is in tiles.
        ShapeError: there are not 32 numbers.
    """
    spec = tensor.spec
    if spec.dtype is not dtype:
        raise DTypeError(
            f"{_NAME}: {label} is {spec.dtype.name}; it must be {dtype.name}.",
            vendor=f"Only {dtype.name} dtypes are supported for {label}!",
        )
    if spec.layout is not Layout.ROW_MAJOR:
        raise LayoutError(
            f"{_NAME}: {label} is in tiles; it must be row-major.",
            vendor=f"Only ROW_MAJOR layout is supported for {label}!",
        )
    if tuple(spec.shape) != (_USERS,):
        raise ShapeError(
            f"{_NAME}: {label} has shape {spec.shape}; it must be [{_USERS}].",
            vendor=f"{label} must have shape [{_USERS}]!",
        )
    return list(list_on_host(_NAME, tensor, label))


def _numbers(device: MeshDevice, seed: int, cores: int) -> list[int]:
    """Return each core's first random number as a bfloat16 word.

    Cores are seeded alike but for their numbers.
    """
    tiles = allocate(TensorSpec.of((TILE_SIZE, cores * TILE_SIZE), _BF16, Layout.TILE, DRAM_MEMORY_CONFIG), device)
    assert tiles.buffer is not None
    engine_steps.uniform(
        tiles.buffer,
        format=FORMAT_CODE[_BF16],
        low=0,
        scale=_ONE,
        seed=seed,
        cores=cores,
        dst32=False,
    )
    first = allocate(TensorSpec.of((cores,), _BF16, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG), device)
    move_into(tiles, first, strides=[TILE_SIZE])
    return [bits(number) >> 16 for number in list_on_host(_NAME, first, "seed")]


def _draws(device: MeshDevice, seed: int | None) -> list[int]:
    """Return a random number for every user, as a bfloat16 word."""
    if seed:
        return _numbers(device, seed, 1) * _USERS
    fresh = _numbers(device, 1 + secrets.randbelow(_LARGEST_SEED - _USERS), _USERS)
    for user in range(_USERS):
        own = next_seed(device, user)
        if own is not None:
            (fresh[user],) = _numbers(device, own, 1)
    return fresh


def _mask(counts: list[int], device: MeshDevice) -> Tensor:
    """Return 0 for a user's counted scores, else minus infinity.

    The writer kernel makes them.
    """
    outside = np.arange(_MOST)[None, :] >= np.asarray(counts)[:, None]
    words = np.where(outside, -np.inf, 0.0).astype(np.float32)
    return conversion.to_device(Tensor(words, _BF16, None, Layout.TILE), device)


def _sampling(
    input_values_tensor: Tensor,
    input_indices_tensor: Tensor,
    k: Tensor,
    p: Tensor,
    temp: Tensor,
    seed: int | None,
    sub_core_grids: CoreRangeSet | None,
    output_tensor: Tensor | None,
) -> Tensor:
    device = on_device(_NAME, input_values_tensor, "input_values_tensor")
    for label, tensor in (("input_indices_tensor", input_indices_tensor), ("k", k), ("p", p), ("temp", temp)):
        same_device(_NAME, device, tensor, label)
    _check_scores(input_values_tensor, input_indices_tensor)
    if sub_core_grids is not None and sub_core_grids.num_cores() != _USERS:
        raise ParameterError(
            f"{_NAME}: sub_core_grids has {sub_core_grids.num_cores()} cores; every one of the {_USERS} users has one.",
            vendor=f"Subcore grid expects num_users cores, but found {sub_core_grids.num_cores()}!",
        )
    if seed is not None and not 0 <= seed <= _LARGEST_SEED:
        raise ParameterError(f"{_NAME}: seed={seed} is not a 32-bit number.")
    counts = [int(count) for count in _of_users("k", k, DataType.UINT32)]
    limits = _of_users("p", p, _BF16)
    _of_users("temp", temp, _BF16)
    if not all(1 <= count <= _MOST for count in counts):
        raise ParameterError(f"{_NAME}: k is {counts}; every number must be 1 to {_MOST}.")
    shape = (1, 1, 1, _USERS)
    target = TensorSpec.of(shape, DataType.UINT32, Layout.ROW_MAJOR, input_values_tensor.spec.memory_config)
    if output_tensor is not None:
        take_output(_NAME, output_tensor, shape, Layout.ROW_MAJOR, device)
        if output_tensor.spec.dtype not in (DataType.UINT32, DataType.INT32):
            raise DTypeError(
                f"{_NAME}: output_tensor is {output_tensor.spec.dtype.name}; it must be UINT32 or INT32.",
                vendor="Only UINT32 & INT32 dtypes are supported for outputs!",
            )
        target = output_tensor.spec
    values, places = topk(input_values_tensor, _MOST, -1, True, True, memory_config=DRAM_MEMORY_CONFIG, stable=True)
    factors = allocate(TensorSpec.of((_USERS, 1), _BF16, Layout.TILE, DRAM_MEMORY_CONFIG), device)
    move_into(temp, factors)
    shares = allocate(TensorSpec.of((_USERS, _MOST), _BF16, Layout.TILE, DRAM_MEMORY_CONFIG), device)
    _softmax().run([values, _mask(counts, device), factors], [shares])
    tokens = _choose(shares, places, counts, limits, _draws(device, seed))
    return _look_up(input_indices_tensor, tokens, target, output_tensor)


def _choose(shares: Tensor, places: Tensor, counts: list[int], limits: list[float], numbers: list[int]) -> list[int]:
    """Return the column of the token of every user."""
    found = []
    columns_of_users = list_on_host(_NAME, places, "input_values_tensor")[0][0]
    shares_of_users = list_on_host(_NAME, shares, "input_values_tensor")
    rows = zip(shares_of_users, columns_of_users, counts, limits, numbers, strict=True)
    for row, columns, count, limit, number in rows:
        words = [bits(share) >> 16 for share in row[:count]]
        found.append(int(columns[chosen(words, bits(limit) >> 16, number)]))
    return found


def _look_up(indices: Tensor, tokens: list[int], target: TensorSpec, output: Tensor | None) -> Tensor:
    """Return the index in a column of every row."""
    device = on_device(_NAME, indices)
    columns = Tensor(np.array(tokens, np.uint32).reshape(_USERS, 1), DataType.UINT32, None, Layout.ROW_MAJOR)
    names = conversion.to_device(columns, device)
    found = allocate(TensorSpec.of((_USERS, 1), indices.spec.dtype, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG), device)
    assert indices.buffer is not None
    assert names.buffer is not None
    assert found.buffer is not None
    engine_steps.gather_elements(
        indices.buffer,
        names.buffer,
        found.buffer,
        formats=(FORMAT_CODE[indices.spec.dtype], FORMAT_CODE[DataType.UINT32]),
        width=indices.spec.shape[-1],
        count=1,
        rows=list(range(_USERS)),
    )
    # The kernel copies words: an index is the same in both data types.
    same = found._view(TensorSpec.of((_USERS, 1), target.dtype, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG))
    return move_into(same, allocate(target, device) if output is None else output, strides=[0, 0, 0, 1])


_PER_USER: Final = "[32] in rows: "

sampling = declare(
    "sampling",
    (
        Signature(
            (
                Param(
                    "input_values_tensor",
                    TENSOR,
                    doc="[1, 1, 32, W] in bfloat16 tiles: scores of 32 users.",
                    example=Operand((1, 1, 32, 128)),
                ),
                Param(
                    "input_indices_tensor",
                    TENSOR,
                    doc="[1, 1, 32, W] of uint32 or int32 in rows: the tokens that the scores are of.",
                    example=Operand((1, 1, 32, 128), 3, DataType.UINT32, Layout.ROW_MAJOR, (0, 9)),
                ),
                Param(
                    "k",
                    TENSOR,
                    doc=f"{_PER_USER}how many of the largest scores count, 1 to 32, uint32.",
                    # One token each: more would depend on the number drawn.
                    example=Operand((32,), 4, DataType.UINT32, Layout.ROW_MAJOR, (1, 1)),
                ),
                Param(
                    "p",
                    TENSOR,
                    doc=f"{_PER_USER}tokens count until their probabilities add up to more than this, bfloat16.",
                    example=Operand((32,), 5, _BF16, Layout.ROW_MAJOR, (0, 1)),
                ),
                Param(
                    "temp",
                    TENSOR,
                    doc=f"{_PER_USER}what scores are multiplied with, one over the temperature, bfloat16.",
                    example=Operand((32,), 6, _BF16, Layout.ROW_MAJOR, (0.5, 2)),
                ),
            ),
            (
                Param(
                    "seed",
                    INTEGER,
                    None,
                    doc="Seed of the generators of all users; without it, and for 0, they go on from where "
                    "`ttnn.manual_seed` set them, or from a fresh seed.",
                ),
                SUB_CORE_GRIDS_OPTION,
                OUTPUT_TENSOR_OPTION,
            ),
        ),
    ),
    _sampling,
    "Return a token for every user, sampled from the largest scores.\n"
    "Shape: [1, 1, 32, W], [1, 1, 32, W], [32], [32], [32] -> [1, 1, 1, 32].\n"
    "Users with the same seed share one random value. The bits of random numbers are not those of the device "
    "where the seed is fresh or a generator goes on.",
    source="tt-metal `ttnn/cpp/ttnn/operations/reduction/sampling`",
    dtypes=(_BF16,),
    layouts=(Layout.TILE,),
    golden=golden.sampling,
    accuracy=no_bound("for another token may be drawn where probabilities are rounded"),
    engine=("sort", "Pipeline", "uniform", "gather_elements"),
    reference=(_BF16,),
    raises=(
        ("DTypeError", "a tensor has another data type."),
        ("LayoutError", "a tensor has another layout."),
        ("ShapeError", "there are not 32 users, or rows are no power of two of tiles."),
        ("ParameterError", "k or the seed is out of range, or there are not 32 cores."),
        ("MemoryConfigError", "scores or indices are sharded."),
    ),
    examples=(),
)
