"""Official module: meshes and the distribution of tensors."""

from __future__ import annotations

import sys

from ttnn.device.fabric import *  # noqa: F403
from ttnn.device.lifecycle import close_mesh_device as close_mesh_device
from ttnn.device.lifecycle import create_mesh_device as create_mesh_device
from ttnn.device.lifecycle import get_device_ids as get_device_ids
from ttnn.device.lifecycle import get_num_devices as get_num_devices
from ttnn.device.lifecycle import get_num_pcie_devices as get_num_pcie_devices
from ttnn.device.lifecycle import get_pcie_device_ids as get_pcie_device_ids
from ttnn.device.lifecycle import open_mesh_device as open_mesh_device
from ttnn.device.processes import *  # noqa: F403
from ttnn.tensor.distribution import *  # noqa: F403
from ttnn.tensor.visualization import *  # noqa: F403

# The official module is a package, whose module of the same name has the same names.
sys.modules["ttnn.distributed.distributed"] = sys.modules[__name__]
distributed = sys.modules[__name__]
__path__: list[str] = []
