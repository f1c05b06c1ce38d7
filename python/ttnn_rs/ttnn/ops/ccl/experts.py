"""Experts that are spread over the chips of a mesh: the names, which say why they do not run.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/ccl/moe_compute`,
`ttnn/cpp/ttnn/operations/data_movement/moe_routing_remap` and `moe_expert_token_remap`.
"""

from __future__ import annotations

from typing import Final, NoReturn

from ttnn.base.exceptions import UnsupportedError
from ttnn.operation.registry import declare_unsupported

_NAMES: Final = ("experimental.moe_compute", "moe_expert_token_remap", "moe_routing_remap")


def _refuse(name: str) -> NoReturn:
    raise UnsupportedError(
        f"{name}: experts and their tokens are spread over the chips of a mesh, and chips that work together are not "
        "modelled. On one chip, use ttnn.topk, ttnn.sparse_matmul and ttnn.scatter."
    )


for _name in _NAMES:
    declare_unsupported(_name, _refuse)
