"""Official module: distances between torch tensors, as tests compare results."""

from __future__ import annotations

from ttnn.operation.comparison import comp_pcc as comp_pcc
from ttnn.operation.comparison import comp_ulp as comp_ulp
from ttnn.operation.comparison import ulp as ulp
