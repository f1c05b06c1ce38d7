"""A captured graph's nodes: dictionaries, as in official JSON.

The official trace has them.

Source: tt-metal `ttnn/core/graph/graph_processor.cpp` (fields and parameters of each type of node).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ttnn.base.enums import BufferType, TensorMemoryLayout
from ttnn.device.mesh_device import MeshDevice
from ttnn.reports.texts import enum_text, memory_config_text
from ttnn.tensor.storage import TensorStorage
from ttnn.tensor.tensor import Tensor

Node = dict[str, Any]


def new_node(counter: int, kind: str, level: int, params: Mapping[str, str] | None = None) -> Node:
    """Return a node without connections.

    Args:
        counter: Its place in the list.
        kind: The type of node.
        level: How many functions are open around it.
        params: Its parameters, all of them texts.
    """
    return {
        "counter": counter,
        "id": counter,
        "node_type": kind,
        "params": dict(params or {}),
        "connections": [],
        "arguments": [],
        "input_tensors": [],
        "stacking_level": level,
    }


@dataclass(frozen=True)
class BufferFacts:
    """A buffer as described by its nodes."""

    unique_id: int
    device_id: int
    address: int
    size: int
    page_size: int
    num_cores: int
    max_size_per_bank: int
    buffer_type: BufferType
    layout: TensorMemoryLayout

    @staticmethod
    def of_tensor(tensor: TensorStorage) -> BufferFacts:
        """Return those of the buffer of a device tensor."""
        buffer, device = tensor.buffer, tensor._device
        assert buffer is not None
        assert device is not None
        config = tensor.spec.memory_config
        shards = config.shard_spec or config.nd_shard_spec
        return BufferFacts(
            unique_id=buffer.unique_id,
            device_id=device.id(),
            address=buffer.address,
            size=buffer.size,
            page_size=buffer.page_bytes,
            num_cores=0 if shards is None else shards.grid.num_cores(),
            max_size_per_bank=buffer.bytes_per_bank,
            buffer_type=config.buffer_type,
            layout=config.memory_layout,
        )

    @staticmethod
    def of_listed(facts: Mapping[str, int], device_id: int) -> BufferFacts:
        """Return a listed engine buffer's facts, without page distribution."""
        return BufferFacts(
            unique_id=facts["unique_id"],
            device_id=device_id,
            address=facts["address"],
            size=facts["size"],
            page_size=facts["page_bytes"],
            num_cores=0,
            max_size_per_bank=facts["bytes_per_bank"],
            buffer_type=BufferType(facts["buffer_type"]),
            layout=TensorMemoryLayout.INTERLEAVED,
        )

    def params(self, *, event: bool) -> dict[str, str]:
        """Return a buffer node's or event's parameters.

        An event: that it is allocated or deallocated.
        """
        params = {
            "size": str(self.size),
            "type": "DRAM" if self.buffer_type in (BufferType.DRAM, BufferType.TRACE) else "L1",
            "layout": self.layout.name,
            "device_id": str(self.device_id),
            "buffer_type": str(self.buffer_type.value),
        }
        if event:
            params |= {
                "address": str(self.address),
                "page_size": str(self.page_size),
                "num_cores": str(self.num_cores),
                "max_size_per_bank": str(self.max_size_per_bank),
            }
        return params


def _parts(device: MeshDevice, tensor: Tensor) -> list[dict[str, int]]:
    """Return the chips that have parts of a tensor, and their addresses."""
    (buffer,) = tensor.buffers
    own = {"mesh_device_id": device.id(), "address": buffer.address}
    if len(device.chips) == 1:
        return [{"device_id": device.id(), **own}]
    places = set(buffer.places)
    return [{"device_id": chip.id, **own} for chip in device.chips if chip.place in places]


def tensor_params(tensor: Tensor) -> dict[str, str]:
    """Return the parameters of the node of a tensor."""
    spec = tensor.spec
    params = {
        "tensor_id": str(tensor.tensor_id),
        "shape": str(spec.shape),
        "dtype": enum_text(spec.dtype),
        "layout": enum_text(spec.layout),
        "memory_config": memory_config_text(spec.memory_config),
        "storage_type": enum_text(tensor.storage_type()),
        "size": str(spec.page_bytes * spec.num_pages),
    }
    device = tensor.device()
    if device is not None and tensor.buffer is not None:
        params |= {
            "address": str(tensor.buffer.address),
            "buffer_type": str(spec.memory_config.buffer_type.value),
            "device_id": str(device.id()),
            "device_tensors": json.dumps(_parts(device, tensor)),
        }
    return params


_ON_THE_HOST: Final = "Tensor::"


def renumbered(nodes: Sequence[Node]) -> list[Node]:
    """Return some nodes as a graph of their own.

    Counters from 0, and no connections to nodes left out.
    """
    place = {node["counter"]: index for index, node in enumerate(nodes)}
    return [
        {
            **node,
            "counter": index,
            "id": index,
            "connections": [place[other] for other in node.get("connections", ()) if other in place],
            "input_tensors": [place[other] for other in node.get("input_tensors", ()) if other in place],
        }
        for index, node in enumerate(nodes)
    ]


def for_viewer(nodes: Sequence[Node]) -> list[Node]:
    """Return a graph without tensor-moving functions.

    The viewer reads those as device operations.

    What happens inside of them stays.
    """
    return renumbered(
        [
            node
            for node in nodes
            if not (
                node["node_type"] in ("function_start", "function_end")
                and node["params"]["name"].startswith(_ON_THE_HOST)
            )
        ]
    )
