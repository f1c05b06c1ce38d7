"""Operators of several chips that are refused when called."""

from __future__ import annotations

import re
from operator import attrgetter

import pytest

import ttnn
from testkit.operands import make


@pytest.mark.parametrize(
    "name",
    [
        "deepseek_prefill.combine",
        "deepseek_prefill.dispatch_fabric2d",
        "deepseek_prefill.offset_cumsum",
        "deepseek_prefill.inbound_socket_service_sync",
        "dit_fused_distributed_rmsnorm",
        "dit_fused_distributed_groupnorm_create_stats_buffer",
    ],
)
def test_collectives_that_are_missing_say_so(name: str) -> None:
    with pytest.raises(
        ttnn.UnsupportedError, match=rf"ttnn\.experimental\.{re.escape(name)}: this collective is not implemented"
    ):
        attrgetter(f"experimental.{name}")(ttnn)()


@pytest.mark.parametrize("name", ["pack_scaled_fp8_kv_cache", "per_token_cast_back", "per_token_cast_to_fp8"])
def test_what_needs_fp8_says_so(name: str, device: ttnn.MeshDevice) -> None:
    with pytest.raises(ttnn.UnsupportedError, match=rf"deepseek_prefill\.{name}: no kernel here reads or writes FP8"):
        getattr(ttnn.experimental.deepseek_prefill, name)(make((32, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, device))
