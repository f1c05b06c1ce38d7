"""Kernel time of Falcon-7B on a Wormhole card, from plans.

They are the plans of its device operations.
"""

from __future__ import annotations

import pytest

from ttnn.cli.profile import falcon

# Test expectations of the model's kernel time, tokens per second; nothing was fitted on them.
PUBLISHED = {
    "prefill b1 seq128": 2115,
    "prefill b1 seq1024": 3120,
    "prefill b1 seq2048": 2870,
    "decode b32 kv128": 629,
    "decode b32 kv1024": 572,
    "decode b32 kv2047": 533,
}


@pytest.mark.parametrize("run", PUBLISHED)
def test_the_published_kernel_times(run: str) -> None:
    assert abs(falcon.tokens_per_second(run) / PUBLISHED[run] - 1) < 0.2


def test_more_tokens_in_the_cache_take_longer() -> None:
    rates = [falcon.tokens_per_second(f"decode b32 kv{length}") for length in (128, 512, 2047)]
    assert rates == sorted(rates, reverse=True)


def test_another_run_is_refused() -> None:
    with pytest.raises(LookupError, match="no layers are described for 'prefill b1 seq64'"):
        falcon.tokens_per_second("prefill b1 seq64")
