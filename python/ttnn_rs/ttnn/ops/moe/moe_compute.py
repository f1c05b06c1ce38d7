"""`ttnn.experimental.moe_compute`: experts of several chips in one program; it raises `UnsupportedError`.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/ccl/moe_compute`.
"""

from __future__ import annotations

from typing import NoReturn

from ttnn.base.exceptions import UnsupportedError
from ttnn.operation.registry import declare_unsupported


def _refuse(name: str) -> NoReturn:
    raise UnsupportedError(
        f"{name}: experts of several chips in one program are not implemented. Use ttnn.all_to_all_dispatch, "
        "ttnn.moe_expert_token_remap, ttnn.sparse_matmul and ttnn.all_to_all_combine. On one chip use ttnn.topk, "
        "ttnn.sparse_matmul and ttnn.scatter."
    )


declare_unsupported("experimental.moe_compute", _refuse)
