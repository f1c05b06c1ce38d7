"""Operators on experts of several chips; their names raise `UnsupportedError`.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/ccl/moe_compute`,
`ttnn/cpp/ttnn/operations/data_movement/moe_routing_remap` and `moe_expert_token_remap`.
"""

from __future__ import annotations

from typing import Final, NoReturn

from ttnn.base.enums import Layout
from ttnn.base.exceptions import LayoutError, UnsupportedError
from ttnn.operation.registry import declare_unsupported
from ttnn.tensor.tensor import Tensor

_NAMES: Final = ("experimental.moe_compute", "moe_routing_remap")


def _refuse(name: str) -> NoReturn:
    raise UnsupportedError(
        f"{name}: experts and tokens that are distributed over the chips of a mesh are not implemented. "
        "On one chip, use ttnn.topk, ttnn.sparse_matmul and ttnn.scatter."
    )


def _check_remap(*args: object, **options: object) -> None:
    """Raise for a tiled `topk_tensor`.

    The operator validates it before the mesh.
    """
    topk = args[0] if args else options.get("topk_tensor")
    if isinstance(topk, Tensor) and topk.layout is not Layout.ROW_MAJOR:
        raise LayoutError(
            "ttnn.moe_expert_token_remap: topk_tensor is tiled; convert it with "
            "ttnn.to_layout(..., ttnn.ROW_MAJOR_LAYOUT).",
            vendor="topk tensor must be in row major layout",
        )


for _name in _NAMES:
    declare_unsupported(_name, _refuse)
declare_unsupported("moe_expert_token_remap", _refuse, _check_remap)
