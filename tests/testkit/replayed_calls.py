"""Calls of operators from the files of `ttnn.operation_tracer`, made again."""

from __future__ import annotations

import json
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

import ttnn


def _named(text: str) -> Any:
    """Return the member that "DataType.BFLOAT16" names."""
    cls, member = text.split(".")
    return getattr(getattr(ttnn, cls), member)


def _memory_config(said: dict[str, Any]) -> ttnn.MemoryConfig:
    if said["is_sharded"]:
        raise ValueError("shards are written as text")
    return ttnn.MemoryConfig(_named(said["memory_layout"]), _named(said["buffer_type"]))


def _value(said: Any, device: ttnn.MeshDevice) -> Any:
    """Return the argument that was written."""
    if isinstance(said, list):
        return [_value(item, device) for item in said]
    if not isinstance(said, dict):
        return said
    if said.get("type") == "ttnn.Tensor":
        values = np.asarray(said["values"], np.float64).reshape(said["shape"]).astype(np.float32)
        host = ttnn.Tensor(values, _named(said["dtype"]), layout=_named(said["layout"]))
        return ttnn.to_device(host, device, memory_config=_memory_config(said["memory_config"]))
    if "memory_layout" in said:
        return _memory_config(said)
    if said.get("type") == "CoreGrid":
        x, y = (int(part.split("=")[1]) for part in said["value"].rstrip(")").split("(")[1].split(", "))
        return ttnn.CoreGrid(x=x, y=y)
    raise ValueError(f"no form for {said.get('type')}")


def files(folder: Path) -> list[Path]:
    """Return the files of a folder in the order of the calls."""
    return sorted(folder.glob("*.json"), key=lambda file: int(file.name.split("_")[0]))


def replay(file: Path, device: ttnn.MeshDevice) -> tuple[Any, Any]:
    """Run a file's call; return result and written elements."""
    said = json.loads(file.read_text(encoding="utf-8"))
    operation = attrgetter(said["operation_name"].removeprefix("ttnn."))(ttnn)
    args = [_value(item["value"], device) for item in said["args"]]
    kwargs = {name: _value(value, device) for name, value in said["kwargs"].items()}
    return operation(*args, **kwargs), np.asarray(said["return_value"]["values"])
