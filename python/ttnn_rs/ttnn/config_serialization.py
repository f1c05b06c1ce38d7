"""Official module: configurations as dictionaries of plain values."""

from __future__ import annotations

from ttnn.base.config_dicts import compute_kernel_config_to_dict as compute_kernel_config_to_dict
from ttnn.base.config_dicts import memory_config_to_dict as memory_config_to_dict
from ttnn.base.config_dicts import program_config_to_dict as program_config_to_dict
