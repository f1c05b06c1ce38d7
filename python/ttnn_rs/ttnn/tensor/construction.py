"""Constructors of tensors: from another tensor, a list or an array."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ttnn.base.call import type_text
from ttnn.base.enums import BLOCK_FLOATS, DataType, Layout
from ttnn.base.exceptions import ArgumentError, DTypeError, LayoutError, MemoryConfigError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.observers import OBSERVERS, observed
from ttnn.base.shape import ShapeLike
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.tile import Tile
from ttnn.device.mesh_device import MeshDevice
from ttnn.tensor import host_buffer
from ttnn.tensor.distribution import check_mapper
from ttnn.tensor.storage import TensorStorage
from ttnn.tensor.transfer import check_queue

_T = TypeVar("_T", bound=TensorStorage)

_WHERE = "ttnn.Tensor()"


def tensor_from_arguments(kind: type[_T], args: tuple[Any, ...], kwargs: dict[str, Any]) -> _T:
    """Return the tensor of `ttnn.Tensor(*args, **kwargs)`.

    The kind of the first argument decides which form is meant.

    Raises:
        ArgumentError: the arguments fit no form.
    """
    first = args[0] if args else kwargs.get("data", kwargs.get("tensor"))
    try:
        if isinstance(first, kind):
            copied: _T = _copy(*args, **kwargs)
            return copied
        if isinstance(first, Sequence) and not isinstance(first, str | bytes):
            return _tensor_from_list(kind, *args, **kwargs)
        return _tensor_from_array_arguments(kind, *args, **kwargs)
    except TypeError as error:
        if isinstance(error, ArgumentError | DTypeError) or error.__traceback__ is None:
            raise
        # Only a call that Python itself could not bind has no frame below this one.
        if error.__traceback__.tb_next is not None:
            raise
        raise ArgumentError(_forms(args, kwargs)) from None


def _forms(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    given = [type_text(value) for value in args] + [f"{key}={type_text(value)}" for key, value in kwargs.items()]
    forms = (
        "tensor: ttnn.Tensor",
        "data: Sequence[float], shape: Sequence[int], data_type: ttnn.DataType, layout: ttnn.Layout, "
        "tile: ttnn.Tile | None = None, pad_value: float = 0",
        "data: Sequence[float], shape: Sequence[int], data_type: ttnn.DataType, layout: ttnn.Layout, "
        "device: ttnn.MeshDevice | None = None, tile: ttnn.Tile | None = None, pad_value: float = 0",
        "data: Sequence[float], shape: Sequence[int], data_type: ttnn.DataType, layout: ttnn.Layout, "
        "device: ttnn.MeshDevice | None = None, memory_config: ttnn.MemoryConfig, tile: ttnn.Tile | None = None, "
        "pad_value: float = 0",
        "tensor: array, data_type: ttnn.DataType | None = None, device: ttnn.MeshDevice | None = None, "
        "layout: ttnn.Layout | None = None, mem_config: ttnn.MemoryConfig | None = None, "
        "tile: ttnn.Tile | None = None, cq_id: int | None = None, pad_value: float | None = None, "
        "mesh_mapper: object = None, preserve_nan_values: bool = False, col_tilize: bool = False, "
        "enable_bfloat_opt: bool = False",
    )
    lines = "\n".join(f"  Tensor({form})" for form in forms)
    return (
        f"\n{_WHERE}: incompatible function arguments.\n\nCalled with:\n  Tensor({', '.join(given)})\n\n"
        f"Available signatures:\n{lines}"
    )


def _copy(tensor: _T) -> _T:
    return tensor._like_topology(tensor._view(tensor.spec))


def _tensor_from_list(
    kind: type[_T],
    data: Sequence[float],
    shape: ShapeLike,
    data_type: DataType,
    layout: Layout,
    *rest: MeshDevice | MemoryConfig | Tile | float | None,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
    tile: Tile | None = None,
    pad_value: float = 0.0,
) -> _T:
    # Three official forms differ in which of device, memory configuration, tile and padding they have; each of these
    # has a type of its own, so the type says what an argument is.
    for value in rest:
        if isinstance(value, MemoryConfig):
            memory_config = value
        elif isinstance(value, Tile):
            tile = value
        elif isinstance(value, int | float):
            pad_value = float(value)
        elif value is not None:
            device = value
    layout = host_buffer.resolve_layout(data_type, layout, _WHERE)
    spec = TensorSpec.of(shape, data_type, layout, memory_config or DRAM_MEMORY_CONFIG, tile)
    raw = host_buffer.pack(host_buffer.from_list(data, _WHERE), spec, pad_value=pad_value, where=_WHERE)
    tensor = kind._on_host(spec, raw)
    return tensor if device is None else tensor._to_device(_WHERE, device, None)


def _tensor_from_array_arguments(
    kind: type[_T],
    tensor: object,
    data_type: DataType | None = None,
    device: MeshDevice | None = None,
    layout: Layout | None = None,
    mem_config: MemoryConfig | None = None,
    tile: Tile | None = None,
    cq_id: int | None = None,
    pad_value: float | None = None,
    mesh_mapper: object = None,
    preserve_nan_values: bool = False,
    col_tilize: bool = False,
    enable_bfloat_opt: bool = False,
) -> _T:
    return tensor_from_array(
        kind,
        _WHERE,
        tensor,
        dtype=data_type,
        layout=layout,
        device=device,
        memory_config=mem_config,
        tile=tile,
        pad_value=pad_value,
        mesh_mapper=mesh_mapper,
        cq_id=cq_id,
        preserve_nan_values=preserve_nan_values,
        col_tilize=col_tilize,
        enable_bfloat_opt=enable_bfloat_opt,
    )


def tensor_from_array(kind: type[_T], where: str, source: object, **options: Any) -> _T:
    """Return a tensor with the values of an array, see `_tensor_from_array`."""
    if not OBSERVERS:
        return _tensor_from_array(kind, where, source, **options)
    given = ("dtype", "layout", "tile", "memory_config", "device", "cq_id", "mesh_mapper", "pad_value")
    arguments = tuple(options.get(name) for name in given)
    return observed(
        "ttnn::convert_python_tensor_to_tt_tensor",
        arguments,
        lambda: _tensor_from_array(kind, where, source, **options),
    )


def _tensor_from_array(
    kind: type[_T],
    where: str,
    source: object,
    *,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
    tile: Tile | None = None,
    pad_value: float | None = None,
    mesh_mapper: object = None,
    cq_id: int | None = None,
    preserve_nan_values: bool = False,
    col_tilize: bool = False,
    enable_bfloat_opt: bool = False,
) -> _T:
    """Return a tensor with an array's values, on host or `device`.

    Args:
        kind: The class of the result.
        where: Who asks, for errors.
        source: numpy array, torch tensor or DLPack object.
        dtype: Element type; by default that of the source (float64 and float16 become float32, 64-bit ints uint32).
        layout: By default TILE for block floats, ROW_MAJOR for the rest.
        device: Where to put it.
        memory_config: Placement, interleaved DRAM by default.
        tile: Tile shape, 32x32 by default.
        pad_value: What tile padding holds, 0 by default.
        mesh_mapper: Distribution over a mesh; each part has the layout and memory config.
        cq_id: Command queue 0 or 1.
        preserve_nan_values: Passed to the conversion.
        col_tilize: Transpose the last two dimensions first, so that columns share exponents. Block floats only.
        enable_bfloat_opt: Only False: conversion on the device is not modelled.

    Raises:
        LayoutError: a block float in row-major layout.
        DTypeError: the source has elements that no tensor holds.
        MemoryConfigError: sharded without cores.
        UnsupportedError: an option that is not modelled.
    """
    check_queue(where, cq_id)
    mapper = check_mapper(where, mesh_mapper)
    if enable_bfloat_opt:
        raise UnsupportedError(
            f"{where}: enable_bfloat_opt=True converts on the device with its own rounding; that is not implemented",
            "unimplemented",
        )
    array = host_buffer.as_array(source, where)
    target = host_buffer.default_dtype(array) if dtype is None else dtype
    if not isinstance(target, DataType):
        raise ArgumentError(f"{where}: dtype must be a ttnn.DataType, got {target!r}")
    if col_tilize:
        array = _transposed(array, target, layout, where)
    layout = host_buffer.resolve_layout(target, layout, where)
    config = DRAM_MEMORY_CONFIG if memory_config is None else memory_config
    if not isinstance(config, MemoryConfig):
        raise ArgumentError(f"{where}: memory_config must be a ttnn.MemoryConfig, got {type(config).__name__}")
    if config.is_sharded() and config._shard_spec is None and config.nd_shard_spec is None:
        raise MemoryConfigError(
            f"{where}: memory_config is {config.memory_layout.name} but names no cores. Make one with "
            "ttnn.create_sharded_memory_config",
            vendor="ttnn.from_torch: Shard spec must not be None for sharded tensors",
        )
    plan = None if mapper is None else mapper.plan(where, array.shape)
    spec = TensorSpec.of(array.shape if plan is None else plan.shape, target, layout, config, tile)
    padding = 0.0 if pad_value is None else pad_value
    if not isinstance(padding, int | float | np.number):
        raise ArgumentError(f"{where}: pad_value must be a number, got {padding!r}")
    if plan is None:
        raw = host_buffer.pack(array, spec, pad_value=padding, preserve_nan=preserve_nan_values, where=where)
        tensor = kind._on_host(spec, raw)
    else:
        pack = partial(host_buffer.pack, spec=spec, pad_value=padding, preserve_nan=preserve_nan_values, where=where)
        tensor = kind._on_host(spec, plan.parts(array, pack))
        tensor._topology = plan.topology
    return tensor if device is None else tensor._to_device(where, device, None)


def _transposed(array: host_buffer.Array, dtype: DataType, layout: Layout | None, where: str) -> host_buffer.Array:
    if dtype not in BLOCK_FLOATS:
        raise DTypeError(
            f"{where}: col_tilize=True is for block floats, the data type is {dtype.name}",
            vendor="ttnn.from_torch: col_tilize=True requires BFP dtype (bfloat8_b or bfloat4_b)",
        )
    if array.ndim < 2:
        raise LayoutError(
            f"{where}: col_tilize=True transposes the last two dimensions, the tensor has {array.ndim}",
            vendor="ttnn.from_torch: col_tilize=True requires tensor.ndim >= 2",
        )
    if layout not in (None, Layout.TILE):
        raise LayoutError(
            f"{where}: col_tilize=True is about tiles, the layout is {layout}",
            vendor="ttnn.from_torch: col_tilize=True requires layout to be None or ttnn.TILE_LAYOUT",
        )
    return np.ascontiguousarray(np.swapaxes(array, -1, -2))
