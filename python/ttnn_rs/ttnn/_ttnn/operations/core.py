"""Division of work over cores."""

from __future__ import annotations

from ttnn.base.work_split import grid_to_cores as grid_to_cores
from ttnn.base.work_split import num_cores_to_corerangeset as num_cores_to_corerangeset
from ttnn.base.work_split import (
    num_cores_to_corerangeset_in_subcoregrids as num_cores_to_corerangeset_in_subcoregrids,
)
from ttnn.base.work_split import split_work_to_cores as split_work_to_cores
