"""Tensors and what describes them."""

from __future__ import annotations

from ttnn.base.enums import BufferType as BufferType
from ttnn.base.enums import DataType as DataType
from ttnn.base.enums import Layout as Layout
from ttnn.base.enums import ShardOrientation as ShardOrientation
from ttnn.base.enums import StorageType as StorageType
from ttnn.base.enums import TensorMemoryLayout as TensorMemoryLayout
from ttnn.base.memory_config import MemoryConfig as MemoryConfig
from ttnn.base.memory_config import ShardSpec as ShardSpec
from ttnn.base.shape import Shape as Shape
from ttnn.base.tensor_spec import TensorSpec as TensorSpec
from ttnn.base.tile import Tile as Tile
from ttnn.tensor.files import dump_tensor as dump_tensor_flatbuffer
from ttnn.tensor.files import load_tensor as load_tensor_flatbuffer
from ttnn.tensor.tensor import Tensor as Tensor

__all__ = ["dump_tensor_flatbuffer", "load_tensor_flatbuffer"]
