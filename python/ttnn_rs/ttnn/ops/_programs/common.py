"""Shared code of operators: operand checks, device results, options of every signature."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, Final

from ttnn._engine import refuse_program
from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import BLOCK_FLOATS, DataType, Layout
from ttnn.base.exceptions import (
    DTypeError,
    LayoutError,
    MemoryConfigError,
    ParameterError,
    ShapeError,
    StorageError,
    UnsupportedError,
)
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.tile import DEFAULT_TILE
from ttnn.device.coordinates import SubDeviceId
from ttnn.device.lifecycle import MeshDevice
from ttnn.operation.signature import CORE_RANGE_SET, MEMORY_CONFIG, SUB_DEVICE_ID, TENSOR, Param
from ttnn.tensor.device_tensors import get_device_tensors
from ttnn.tensor.tensor import Tensor, allocate_tensor_on_device, limited

INTEGER_RANGE: Final = {
    DataType.INT32: (-(2**31), 2**31 - 1),
    DataType.UINT32: (0, 2**32 - 1),
    DataType.UINT16: (0, 2**16 - 1),
    DataType.UINT8: (0, 2**8 - 1),
    DataType.INT8: (-(2**7), 2**7 - 1),
}
FLOATS: Final = (DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B, DataType.BFLOAT4_B)
INTEGERS: Final = frozenset(INTEGER_RANGE)
WIDE: Final = frozenset({DataType.FLOAT32, DataType.INT32, DataType.UINT32})
"""Data types that need a 32-bit Dst."""

INPUT_TENSOR: Final = Param("input_tensor", TENSOR, doc="[..., H, W] on a device.")
MEMORY_CONFIG_OPTION: Final = Param(
    "memory_config", MEMORY_CONFIG, None, doc="Memory configuration of the output. Default: that of the input."
)
IGNORED_MEMORY_CONFIG: Final = replace(MEMORY_CONFIG_OPTION, doc="Ignored: the output is where the input is.")
OUTPUT_TENSOR_OPTION: Final = Param(
    "output_tensor",
    TENSOR,
    None,
    doc="Preallocated output, of the output's shape. Its memory configuration takes precedence over `memory_config`.",
)


def _check_cores(operator: str, cores: CoreRangeSet, values: Sequence[object]) -> None:
    """Refuse cores on which the program of a call cannot run.

    Raises:
        ParameterError: there is no core, or one is outside the device's grid.
        StorageError: the operand is on the host, where no program runs.
    """
    if cores.empty():
        raise ParameterError(f"{operator}: sub_core_grids names no core.", vendor="number of cores cannot be 0")
    parts = (part for value in values for part in (value if isinstance(value, list | tuple) else (value,)))
    operand = next((part for part in parts if isinstance(part, Tensor | MeshDevice)), None)
    if operand is None:
        return
    device = operand._device if isinstance(operand, Tensor) else operand
    if device is None:
        raise StorageError(
            f"{operator}: sub_core_grids={cores} names cores of a device, but the tensor is on the host; move it with "
            "ttnn.to_device, or leave the cores out."
        )
    grid, last = device.compute_with_storage_grid_size(), cores.bounding_box().end
    if last.x >= grid.x or last.y >= grid.y:
        raise ParameterError(
            f"{operator}: sub_core_grids={cores} is not within the device's {grid.x}x{grid.y} cores, 0-0 to "
            f"{grid.x - 1}-{grid.y - 1}."
        )


SUB_CORE_GRIDS_OPTION: Final = Param(
    "sub_core_grids",
    CORE_RANGE_SET,
    None,
    doc="Cores that run the program, within the device's grid. They do not change the result.",
    check=_check_cores,
)


def sub_core_grids_of_interleaved(vendor: str) -> Param:
    """Return the option of operators that run on shard cores only.

    Args:
        vendor: The official sentence for a sharded tensor.
    """

    def check(operator: str, cores: CoreRangeSet, values: Sequence[object]) -> None:
        _check_cores(operator, cores, values)
        tensor = next(value for value in values if isinstance(value, Tensor))
        if tensor.spec.memory_config.is_sharded():
            raise MemoryConfigError(
                f"{operator}: the cores that hold a sharded tensor work on it; leave out sub_core_grids={cores}.",
                vendor=vendor,
            )

    return replace(SUB_CORE_GRIDS_OPTION, check=check)


def _check_sub_device(operator: str, number: SubDeviceId, values: Sequence[object]) -> None:
    """Reject a missing part of the device, or one besides cores."""
    if any(isinstance(value, CoreRangeSet) for value in values):
        raise ParameterError(
            f"{operator}: pass either sub_core_grids or sub_device_id.",
            vendor="Cannot specify both sub_core_grids and sub_device_id",
        )
    tensor = next(value for value in values if isinstance(value, Tensor))
    if tensor._device is not None:
        tensor._device._sub_devices.check_ids(operator, [number])


SUB_DEVICE_OPTION: Final = Param(
    "sub_device_id",
    SUB_DEVICE_ID,
    None,
    doc="Part of the device whose cores run the program. It changes no element.",
    check=_check_sub_device,
)


def on_device(operator: str, tensor: Tensor, label: str = "input_tensor", vendor: str | None = None) -> MeshDevice:
    """Return the device of a tensor that can be computed on.

    Args:
        operator: Who asks, for the error.
        tensor: The operand.
        label: The name of the parameter.
        vendor: The official sentence for a host tensor.

    Raises:
        StorageError: the tensor is on the host, or deallocated.
        DeviceError: its device is closed.
    """
    device = tensor._device
    if device is None:
        raise StorageError(
            f"{operator}: {label} is a host tensor of {tensor.shape}; move it with ttnn.to_device first.",
            vendor=vendor or "Device Operations expect device tensors as inputs",
        )
    tensor._require_device(operator, label)
    _refuse_further_padding(operator, tensor, label)
    return device


def same_device(operator: str, device: MeshDevice, tensor: Tensor, label: str) -> None:
    """Refuse a tensor of another device.

    Raises:
        StorageError: it lives elsewhere.
    """
    if tensor._device is None:
        raise StorageError(
            f"{operator}: {label} is a host tensor of {tensor.shape}, the first operand is on a device; move it with "
            "ttnn.to_device first."
        )
    if tensor._device is not device:
        raise StorageError(f"{operator}: {label} is on another device than the first operand.")
    tensor._require_device(operator, label)
    _refuse_further_padding(operator, tensor, label)


def _refuse_further_padding(operator: str, tensor: Tensor, label: str) -> None:
    """Refuse tiles with more padding than full tiles need.

    Only operators that move or untilize tiles handle them.

    Raises:
        UnsupportedError: the tensor has such padding.
    """
    if tensor.spec.is_padded_further:
        raise UnsupportedError(
            f"{operator}: {label} of {tensor.shape} is padded to {tensor.padded_shape}, further than to full tiles; "
            "use ttnn.untilize_with_unpadding first.",
            "unimplemented",
        )


def full_tiles(operator: str, tensor: Tensor, label: str = "input_tensor") -> None:
    """Refuse tiles other than 32x32, which the compute programs need.

    Raises:
        UnsupportedError: the tensor has such tiles.
    """
    if tensor.spec.layout is Layout.TILE and tensor.spec.tile != DEFAULT_TILE:
        raise UnsupportedError(
            f"{operator}: {label} has tiles of {tensor.spec.tile.tile_shape}; only 32x32 is built so far.",
            "unimplemented",
        )


def warn_of_first_row(operator: str, label: str, shape: Sequence[int], row: str = "its first row") -> None:
    """Warn the caller that only one row of a tensor is read."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("ttnn."):
        level, frame = level + 1, frame.f_back
    # A program does not warn: each call is to do so.
    refuse_program("it warns")
    warnings.warn(
        f"{operator}: {label} has shape {list(shape)}; the program broadcasts {row} and ignores the others.",
        stacklevel=level,
    )


def count_program(device: MeshDevice, *key: Hashable) -> None:
    """Count one of several programs of an operator.

    Each is an entry of the program cache.

    Raises:
        DeviceError: it is a new one, and program cache misses are not allowed.
    """
    device._require_program(key)
    if device._cache_enabled:
        device._programs.add(key)


def values_of_chips(tensor: Tensor) -> list[Any]:
    """Return a tensor's values on each of its chips, as arrays."""
    return [part.to_numpy() for part in get_device_tensors(tensor)]


def by_chips(tensors: Sequence[Tensor | None], decisive: Sequence[Tensor | None]) -> list[tuple[Tensor | None, ...]]:
    """Return the operands of a program, of all chips or of each.

    Args:
        tensors: Operands and results.
        decisive: Those of which the program depends on the elements. If one of them differs between chips, each chip
            has a program of its own.
    """
    given = [get_device_tensors(tensor) for tensor in decisive if tensor is not None]
    if not any(len({part.to_numpy().tobytes() for part in parts}) > 1 for parts in given if len(parts) > 1):
        return [tuple(tensors)]
    chips = max(map(len, given))
    rows = [[None] * chips if tensor is None else get_device_tensors(tensor) for tensor in tensors]
    return list(zip(*rows, strict=True))


def values_on_host(operator: str, tensor: Tensor, label: str) -> Any:
    """Return the elements that a program is made for.

    Args:
        operator: Who reads them, for the error.
        tensor: The operand.
        label: The name of the parameter.

    Raises:
        UnsupportedError: they differ between the chips of a mesh.
    """
    return _equal_part(operator, tensor, label).to_numpy()


def list_on_host(operator: str, tensor: Tensor, label: str) -> Any:
    """Return `values_on_host` as a list."""
    return _equal_part(operator, tensor, label).to_list()


def _equal_part(operator: str, tensor: Tensor, label: str) -> Tensor:
    first, *others = get_device_tensors(tensor)
    if others and len({part.to_numpy().tobytes() for part in (first, *others)}) > 1:
        raise UnsupportedError(
            f"{operator}: the program depends on the elements of {label}, which differ between chips; call it "
            "for each chip on a submesh of its own.",
            "unimplemented",
        )
    return first


def allocate(spec: TensorSpec, device: MeshDevice) -> Tensor:
    """Return a new tensor on the device, not written yet."""
    return limited(allocate_tensor_on_device(spec, device))


def result_spec(
    like: TensorSpec, shape: tuple[int, ...], dtype: DataType, memory_config: MemoryConfig | None
) -> TensorSpec:
    """Return the specification of a result with the layout of `like`.

    It is `like` itself in the usual case.
    """
    same_place = memory_config is None or memory_config is like.memory_config
    if same_place and dtype is like.dtype and shape == like.shape._dims:
        return like
    return TensorSpec.of(shape, dtype, like.layout, memory_config or like.memory_config)


def is_empty(spec: TensorSpec) -> bool:
    """Return True if a tensor has no pages, thus needs no computation."""
    return spec.num_pages == 0


def take_output(
    operator: str,
    output: Tensor,
    shape: Sequence[int],
    layout: Layout,
    device: MeshDevice,
    vendor: str = "",
    dtype: DataType | None = None,
) -> Tensor:
    """Return `output` if its shape, layout and data type fit the result.

    Args:
        operator: Who asks, for errors.
        output: The tensor.
        shape: The result's.
        layout: The result's.
        device: The operands'.
        vendor: The official sentence for another shape.
        dtype: The result's, if elements go to `output` as they are.

    Raises:
        StorageError: it is on the host, deallocated, or on another device.
        ShapeError: its shape is another one.
        LayoutError: its layout is another one.
        DTypeError: its data type is another one.
    """
    on_device(operator, output, "output_tensor")
    same_device(operator, device, output, "output_tensor")
    spec = output.spec
    if tuple(spec.shape) != tuple(shape):
        raise ShapeError(
            f"{operator}: output_tensor is {spec.shape}, the result is {list(shape)}.",
            vendor=vendor
            or f"Unary: Preallocated output shape must match computed shape. Computed: Shape({list(shape)}), "
            f"Preallocated: {spec.shape}",
        )
    if spec.layout is not layout:
        raise LayoutError(f"{operator}: output_tensor is {spec.layout.name}, the result is {layout.name}.")
    if dtype is not None and spec.dtype is not dtype:
        raise DTypeError(f"{operator}: output_tensor is {spec.dtype.name}, the result is {dtype.name}.")
    full_tiles(operator, output, "output_tensor")
    return output


def agreed_dtype(operator: str, dtype: DataType | None, output: Tensor | None, default: DataType) -> DataType:
    """Return the result's data type from `dtype`, `output_tensor` and the default.

    Raises:
        DTypeError: `dtype` and `output_tensor` contradict each other.
    """
    if output is None:
        return default if dtype is None else dtype
    if dtype is not None and dtype is not output.spec.dtype:
        raise DTypeError(f"{operator}: dtype is {dtype.name}, but output_tensor is {output.spec.dtype.name}.")
    return output.spec.dtype


def memory_of_result(memory_config: MemoryConfig | None, output: Tensor | None, default: MemoryConfig) -> MemoryConfig:
    """Return the result's memory configuration.

    That of `output_tensor` precedes `memory_config`.
    """
    if output is not None:
        return output.spec.memory_config
    return default if memory_config is None else memory_config


def as_float(operator: str, value: float, label: str) -> float:
    """Return a number as a float.

    Raises:
        DTypeError: an int beyond the range of float64.
    """
    try:
        return float(value)
    except OverflowError:
        raise DTypeError(f"{operator}: {label} has more than 308 digits; a float cannot hold it.") from None


def dimension(operator: str, dim: int, rank: int, label: str = "dim") -> int:
    """Return `dim` counted from the front.

    Raises:
        ShapeError: it is out of range.
    """
    if not -rank <= dim < rank:
        raise ShapeError(
            f"{operator}: {label}={dim} is out of range for a tensor of rank {rank}.",
            vendor=index_out_of_bounds(dim, rank),
        )
    return dim % rank


def index_out_of_bounds(dim: int, rank: int) -> str:
    """Return the official sentence about a dimension out of range."""
    # A negative index that stays negative is read as an unsigned number of 64 bits.
    index = (dim if dim >= 0 else dim + rank) % 2**64
    return f"Index is out of bounds for the rank, should be between 0 and {max(rank - 1, 0)} however is {index}"


def no_such_dimension(axis: int, rank: int) -> str:
    """Return the official sentence about a missing fixed dimension of a shape."""
    return f"ShapeBase[] index out of range. {axis} not in [-4, {rank})"


def needs_tiles(operator: str, dtype: DataType, layout: Layout) -> None:
    """Refuse block floats outside of tiles.

    Raises:
        LayoutError: the layout is row-major.
    """
    if dtype in BLOCK_FLOATS and layout is not Layout.TILE:
        raise LayoutError(
            f"{operator}: {dtype.name} shares an exponent between 16 values of a tile and has no {layout.name} form.",
            vendor="Only TILE layout is supported for BFLOAT8_B dtype!",
        )
