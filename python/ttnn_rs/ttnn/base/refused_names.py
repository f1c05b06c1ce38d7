"""Names of `ttnn` that always raise: missing official parts."""

from __future__ import annotations

from typing import Final

from ttnn.base.refused import refusing

_REASONS: Final = {
    "the chip of this configuration is not modelled; the chips are n150, n300, galaxy, p100, p150 and p300": (
        "GrayskullComputeKernelConfig"
    ),
    "ttnn.matmul selects its program, or accepts program_config": "matmul_select_program_factory",
    "operators come from the registry of this package; ttnn.register_python_operation adds one": (
        "auto_register_ttnn_cpp_operations"
    ),
    "conversion between colour spaces is not implemented": "rgb_to_yuv",
    "prepared grids of grid_sample are not implemented; pass the grid itself": "prepare_grid_sample_grid",
}
_REFUSED: Final = {name: made for why, names in _REASONS.items() for name, made in refusing("ttnn", names, why).items()}
globals().update(_REFUSED)
__all__ = list(_REFUSED)
