"""Layer norm over devices by Welford's algorithm: the names, which say why they do not run.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer/dit_layernorm_pre_all_gather` and
`dit_layernorm_post_all_gather`.
"""

from __future__ import annotations

from typing import Final, NoReturn

from ttnn.base.exceptions import UnsupportedError
from ttnn.operation.registry import declare_unsupported

_NAMES: Final = ("dit_layernorm_pre_allgather", "dit_layernorm_post_allgather")


def _refuse(name: str) -> NoReturn:
    other = "layer_norm_pre_all_gather" if "pre" in name else "layer_norm_post_all_gather"
    raise UnsupportedError(
        f"{name}: running means and variances with a table of reciprocals, and their combination over devices, are not "
        f"built yet. Use ttnn.{other}.",
        "unimplemented",
    )


for _name in _NAMES:
    declare_unsupported(f"experimental.{_name}", _refuse)
