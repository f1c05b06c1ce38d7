"""Official module of an extension module's operators, of which there are none."""

from __future__ import annotations

from ttnn.operation.hooks import create_module_if_not_exists as create_module_if_not_exists
from ttnn.operation.hooks import (
    register_tt_lib_operations_as_ttnn_operations as register_tt_lib_operations_as_ttnn_operations,
)
