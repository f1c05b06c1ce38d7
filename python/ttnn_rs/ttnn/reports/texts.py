"""Arguments, tensors and memory configs in official trace form.

They are texts.

Source: tt-metal `ttnn/core/graph/graph_processor.cpp`, `tt_metal/api/tt-metalium/graph_tracking.hpp`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import Any

from ttnn.base.core_range import CoreRange, CoreRangeSet
from ttnn.base.memory_config import MemoryConfig, NdShardSpec, ShardSpec
from ttnn.base.shape import Shape
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.mesh_device import MeshDevice
from ttnn.tensor.tensor import Tensor

_NOTHING = "std::nullopt"


def ranges_text(cores: CoreRangeSet | Iterable[CoreRange]) -> str:
    """Return a set of cores, such as `{[(x=0,y=0) - (x=7,y=7)]}`."""
    ranges = cores.ranges() if isinstance(cores, CoreRangeSet) else cores
    parts = (f"[(x={r.start.x},y={r.start.y}) - (x={r.end.x},y={r.end.y})]" for r in ranges)
    return f"{{{', '.join(parts)}}}"


def memory_config_text(config: MemoryConfig) -> str:
    """Return a memory configuration readable by the official viewer.

    It reads shards in this form.
    """
    shards = _NOTHING if config.shard_spec is None else shard_spec_text(config.shard_spec)
    kinds = f"memory_layout={enum_text(config.memory_layout)},buffer_type={enum_text(config.buffer_type)}"
    nd_shards = "" if config.nd_shard_spec is None else f",nd_shard_spec={nd_shard_spec_text(config.nd_shard_spec)}"
    return f"MemoryConfig({kinds},shard_spec={shards}{nd_shards})"


def shard_spec_text(spec: ShardSpec) -> str:
    """Return the shards of height and width."""
    shape = f"{{{spec.shape[0]}, {spec.shape[1]}}}"
    orientation = enum_text(spec.orientation)
    return f"ShardSpec(grid={ranges_text(spec.grid)},shape={shape},orientation={orientation},halo=0)"


def nd_shard_spec_text(spec: NdShardSpec) -> str:
    """Return the shards of any rank."""
    shape = f"Shape([{', '.join(map(str, spec.shard_shape))}])"
    return f"NdShardSpec(shard_shape={shape},grid={ranges_text(spec.grid)},orientation={enum_text(spec.orientation)})"


def enum_text(value: enum.Enum) -> str:
    """Return a value of an enumeration, such as `DataType::BFLOAT16`."""
    return f"{type(value).__name__}::{value.name}"


def tensor_text(tensor: Tensor) -> str:
    """Return what a tensor is, without its values."""
    spec = tensor.spec
    fields = {
        "shape": str(spec.shape),
        "dtype": enum_text(spec.dtype),
        "layout": enum_text(spec.layout),
        "memory_config": memory_config_text(spec.memory_config),
        "storage_type": enum_text(tensor.storage_type()),
    }
    return f"Tensor({','.join(f'{name}={text}' for name, text in fields.items())})"


def text_of(value: Any) -> str:
    """Return an argument as text; tensors and arrays without their values."""
    if value is None:
        return _NOTHING
    if isinstance(value, Tensor):
        return tensor_text(value)
    if isinstance(value, MemoryConfig):
        return memory_config_text(value)
    if isinstance(value, enum.Enum):
        return enum_text(value)
    if isinstance(value, TensorSpec):
        texts = (str(value.shape), enum_text(value.dtype), enum_text(value.layout))
        return f"TensorSpec({','.join(texts)},{memory_config_text(value.memory_config)})"
    if isinstance(value, str | Shape | MeshDevice | bool | int | float):
        return str(value)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}={text_of(item)}' for key, item in value.items())}}}"
    if isinstance(value, list | tuple):
        texts_of_items = [text_of(item) for item in value]
        if value and all(isinstance(item, int) and not isinstance(item, bool) for item in value):
            return f"SmallVector([{', '.join(texts_of_items)}])"
        return f"{{{', '.join(texts_of_items)}}}"
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None:
        return f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}(shape={list(shape)}, dtype={dtype})"
    return str(value)


_LONGEST, _DEEPEST = 32, 4
"""Elements of a sequence that are described, and levels of nested sequences."""


def argument_text(value: Any) -> str:
    """Return a Python argument as text; tensors without their values.

    Source: tt-metal `ttnn/ttnn/graph.py`, `_safe_arg_str`.
    """
    return _argument(value, 0)


def _argument(value: Any, depth: int) -> str:
    if isinstance(value, Tensor):
        return _properties(value)
    if _torch(value):
        return f"torch.Tensor(shape={list(value.shape)}, dtype={value.dtype})"
    if isinstance(value, list | tuple) and _has_tensors(value, depth):
        first, last = "()" if isinstance(value, tuple) else "[]"
        if depth >= _DEEPEST:
            return f"{first}... {len(value)} element(s) below the summary depth limit{last}"
        found = [_argument(item, depth + 1) for item in value[:_LONGEST]]
        found += [f"... +{len(value) - _LONGEST} more"] if len(value) > _LONGEST else []
        return f"{first}{', '.join(found)}{last}"
    return str(value)


def _torch(value: Any) -> bool:
    return type(value).__module__ == "torch" and type(value).__name__ == "Tensor"


def _has_tensors(value: Any, depth: int) -> bool:
    if isinstance(value, list | tuple):
        return depth >= _DEEPEST or any(_has_tensors(item, depth + 1) for item in value)
    return isinstance(value, Tensor) or _torch(value)


def _properties(tensor: Tensor) -> str:
    properties: dict[str, Any] = {
        **{name: getattr(tensor, name) for name in ("shape", "dtype", "layout")},
        **{name: getattr(tensor, name)() for name in ("memory_config", "storage_type")},
        "tensor_id": tensor.tensor_id,
        "is_allocated": tensor.is_allocated(),
    }
    device = tensor.device()
    if device is not None:
        properties |= {"device_id": device.id(), "mesh_shape": device.shape}
    topology = tensor.tensor_topology()
    for name in ("mesh_coords", "distribution_shape", "placements"):
        found = getattr(topology, name)()
        if found is not None and found != []:
            properties[name] = list(map(str, found)) if isinstance(found, list | tuple) else found
    return f"ttnn.Tensor({', '.join(f'{name}={value}' for name, value in properties.items())})"
