"""`ttnn.experimental.topk_router_gpt`: its name raises `UnsupportedError`.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/topk_router_gpt`.
"""

from __future__ import annotations

from typing import NoReturn

from ttnn.base.exceptions import UnsupportedError
from ttnn.operation.registry import declare_unsupported


def _refuse(name: str) -> NoReturn:
    raise UnsupportedError(
        f"{name}: the program splits the matmul over cores and merges partial sums and candidates of cores, which is "
        "not implemented. Use ttnn.linear, ttnn.topk and ttnn.softmax.",
        "unimplemented",
    )


declare_unsupported("experimental.topk_router_gpt", _refuse)
