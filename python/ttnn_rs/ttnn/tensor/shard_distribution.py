"""Page distribution of sharded tensors over banks, for tensor accessors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ttnn.base import nd_shards
from ttnn.base.call import checked
from ttnn.base.core_range import CoreCoord
from ttnn.base.enums import NOC, BufferType, ShardDistributionStrategy, StorageType
from ttnn.base.exceptions import ArgumentError, MemoryConfigError, StorageError
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.mesh_device import MeshDevice
from ttnn.tensor.tensor import Tensor
from ttnn.tensor.transfer import shard_cores

SHARDED, IN_DRAM, RUNTIME_TENSOR_SHAPE, RUNTIME_PAGE_SIZE = 1, 2, 16, 128
"""Bits of an accessor argument's first word.

The last two mark fields as common runtime arguments.
"""


class Distribution(NamedTuple):
    """Shapes of tensor and shard in pages, and banks in order.

    It is the order of the shards.
    """

    tensor: tuple[int, ...]
    shard: tuple[int, ...]
    banks: tuple[tuple[int, int], ...]
    """NoC coordinates of cores, or (bank, 0) of DRAM."""
    contiguous: bool = False
    """True if a bank's shards are consecutive; else dealt in turn."""


def cores_of(spec: TensorSpec) -> Sequence[CoreCoord]:
    """Return the cores that hold shards, in the order of the shards."""
    return shard_cores(spec) if spec.memory_config._nd_shard_spec is None else nd_shards.deal(spec).cores


@checked
def get_optimal_worker_cores_for_sharded_tensor(tensor: Tensor, noc: NOC = NOC.RISCV_0_default) -> list[CoreCoord]:
    """Return the cores nearest to a tensor's shards, in their order.

    Args:
        tensor: A sharded tensor on a device.
        noc: The network by which cores read DRAM.

    Returns:
        The cores that hold shards; for shards in DRAM, the best reading core of each bank.

    Raises:
        ArgumentError: `tensor` is no tensor.
        StorageError: it is on the host, or deallocated.
        MemoryConfigError: it is interleaved.
        UnsupportedError: it is in DRAM, and the cores of this chip are not known.
    """
    call = "get_optimal_worker_cores_for_sharded_tensor"
    if not isinstance(tensor, Tensor):
        raise ArgumentError(f"{call}: expected a tensor, got {tensor!r}")
    if tensor.storage_type() is not StorageType.DEVICE or not tensor.is_allocated():
        raise StorageError(
            f"{call}: the tensor has no memory on a device.",
            vendor="Tensor must be on device to compute optimal worker cores.",
        )
    spec = tensor.spec
    if not spec.memory_config.is_sharded():
        raise MemoryConfigError(
            f"{call}: the tensor is interleaved.", vendor="Tensor must be sharded to compute optimal worker cores."
        )
    cores = cores_of(spec)
    if spec.memory_config.buffer_type is not BufferType.DRAM:
        return list(cores)
    device = tensor.device()
    assert device is not None
    workers = device.get_optimal_dram_bank_to_logical_worker_assignment(noc)
    return [workers[bank.x] for bank in cores]


def distribution_of(spec: TensorSpec, device: MeshDevice) -> Distribution | None:
    """Return a tensor's page distribution, None if interleaved."""
    config = spec.memory_config
    if not config.is_sharded():
        return None
    contiguous = False
    pages: Sequence[int]
    shard: Sequence[int]
    nd = config._nd_shard_spec
    cores = cores_of(spec)
    if nd is not None:
        pages, shard = nd_shards.in_pages(spec, nd)
        contiguous = nd.shard_distribution_strategy is ShardDistributionStrategy.CONTIGUOUS_1D
    else:
        assert config._shard_spec is not None
        pages = spec.page_grid
        sizes = zip(config._shard_spec.shape, spec.page_shape, strict=True)
        shard = [size // page for size, page in sizes]
    return distribution(device, config.buffer_type is BufferType.DRAM, pages, shard, cores, contiguous)


def distribution(
    device: MeshDevice,
    dram: bool,
    pages: Sequence[int],
    shard: Sequence[int],
    cores: Iterable[CoreCoord],
    contiguous: bool = False,
) -> Distribution:
    """Return a distribution with minimal dimensions.

    In DRAM a core is (bank, 0).
    """
    if dram:
        banks = tuple((core.x, 0) for core in cores)
    else:
        places = [device.worker_core_from_logical_core(core) for core in cores]
        banks = tuple((place.x, place.y) for place in places)
    return Distribution(*squeeze(pages, shard), banks, contiguous)


def squeeze(tensor: Sequence[int], shard: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shapes with dimensions merged that cut no differently.

    A dimension merges with the following ones if a shard has all of those, or if it is 1 in a shard and the shards
    divide the following one. Leading dimensions of 1 are left out.
    """
    whole, part = [tensor[-1]], [shard[-1]]
    complete, divisible = tensor[-1] == shard[-1], tensor[-1] % shard[-1] == 0
    for size, cut in zip(tensor[-2::-1], shard[-2::-1], strict=True):
        if math.prod(whole) == math.prod(tensor) and math.prod(part) == math.prod(shard):
            break
        if complete or (cut == 1 and divisible):
            whole[-1] *= size
            part[-1] *= cut
            complete = complete and size == cut
        else:
            whole.append(size)
            part.append(cut)
            complete = size == cut
        divisible = size % cut == 0
    return tuple(reversed(whole)), tuple(reversed(part))


def accessor_words(dram: bool, page_bytes: int, shards: Distribution | None, runtime: int = 0) -> list[int]:
    """Return arguments for pages of a size and bank distance.

    `runtime` has the bits of fields that are common runtime arguments.
    """
    words = [SHARDED * int(shards is not None) | IN_DRAM * int(dram) | runtime]
    if not runtime & RUNTIME_PAGE_SIZE:
        words.append(page_bytes)
    if shards is not None:
        words += [len(shards.tensor), len(shards.banks) | int(shards.contiguous) << 31]
        words += () if runtime & RUNTIME_TENSOR_SHAPE else shards.tensor
        words += shards.shard
        packed = [x << 8 | y for x, y in shards.banks]
        packed += [0] * (len(packed) % 2)
        words += [low | high << 16 for low, high in zip(packed[::2], packed[1::2], strict=True)]
    return words
