"""`ttnn.matmul_batched_weights`: its name raises `UnsupportedError`, because it needs a prefetcher.

Source: TT-NN docs "ttnn.matmul_batched_weights".
"""

from __future__ import annotations

from typing import NoReturn

from ttnn.base.exceptions import UnsupportedError
from ttnn.operation.registry import declare_unsupported


def _refuse(name: str) -> NoReturn:
    raise UnsupportedError(
        f"{name}: the weights come from a prefetcher through a global circular buffer, which is not modelled; call "
        "ttnn.matmul once for each.\ninfo:\nglobal_cb must be provided",
        "unimplemented",
    )


for _name in ("matmul_batched_weights", "experimental.quasar.matmul_batched_weights"):
    declare_unsupported(_name, _refuse)
