"""Operators between tokens and scaled FP8, which raise: not computed here.

Source: TT-NN docs "ttnn.experimental.deepseek_prefill".
"""

from __future__ import annotations

from typing import Final, NoReturn

from ttnn.base.exceptions import UnsupportedError
from ttnn.operation.registry import declare_unsupported

_NAMES: Final = ("pack_scaled_fp8_kv_cache", "per_token_cast_back", "per_token_cast_to_fp8")


def _refuse(name: str) -> NoReturn:
    raise UnsupportedError(
        f"{name}: no kernel here reads or writes FP8_E4M3; keep tokens and caches in bfloat16 or bfloat8_b.",
        "unimplemented",
    )


for _name in _NAMES:
    declare_unsupported(f"experimental.deepseek_prefill.{_name}", _refuse)
