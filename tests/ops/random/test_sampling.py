"""`ttnn.sampling`: which tokens are drawn, how often, and what is refused."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.golden import random as golden
from ttnn.ops.random.draws import added, chosen, divided, greater

USERS = 32
FALSE_ALARM = 1e-6
"""Probability that a correct generator fails, over seeds."""


def _rows(values: Any, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> ttnn.Tensor:
    kind = np.float32 if dtype is ttnn.bfloat16 else {ttnn.uint32: np.uint32, ttnn.int32: np.int32}[dtype]
    return ttnn.Tensor(np.asarray(values, kind), dtype, None, ttnn.ROW_MAJOR_LAYOUT).to(device)


def _call(scores: Any, device: ttnn.MeshDevice, k: int = 32, p: float = 1.0, temp: float = 1.0, **options: Any) -> Any:
    width = np.shape(scores)[-1]
    values = ttnn.Tensor(np.asarray(scores, np.float32), ttnn.bfloat16, None, ttnn.TILE_LAYOUT).to(device)
    tokens = np.broadcast_to(np.arange(width) + 1000, (1, 1, USERS, width))
    dtype = options.pop("dtype", ttnn.uint32)
    return ttnn.sampling(
        values,
        _rows(tokens, dtype, device),
        _rows([k] * USERS, ttnn.uint32, device),
        _rows([p] * USERS, ttnn.bfloat16, device),
        _rows([temp] * USERS, ttnn.bfloat16, device),
        **options,
    )


def _scores(width: int = 64, seed: int = 0) -> Any:
    return np.random.default_rng(seed).permuted(np.tile(np.arange(width) / 8, (1, 1, USERS, 1)), axis=-1)


def _bits(value: float) -> int:
    return int(np.float32(value).view(np.uint32)) >> 16


def _value(word: int) -> float:
    return float(np.uint32(word << 16).view(np.float32))


def test_words_are_added_and_divided() -> None:
    """Against exact sums and quotients; the kernel drops last bits."""
    generator = np.random.default_rng(0)
    for a, b in generator.uniform(0, 1, (500, 2)).astype(np.float32):
        x, y = _bits(a), _bits(b)
        total, quotient = _value(added(x, y)), _value(divided(x, y))
        exact = _value(x) + _value(y)
        assert exact * (1 - 2**-6) <= total <= exact
        assert _value(x) / _value(y) * (1 - 2**-6) <= quotient <= _value(x) / _value(y)
        assert greater(x, y) == (_value(x) > _value(y))
    assert added(_bits(1.5), _bits(-1.5)) == 0
    assert _value(added(_bits(1.5), _bits(-0.25))) == 1.25
    assert divided(_bits(0.0), _bits(0.0)) == 0x7FC0
    assert divided(_bits(1.0), _bits(0.0)) == _bits(np.inf)
    assert greater(_bits(-1.0), _bits(-2.0))


def test_the_first_token_whose_running_share_exceeds_the_number() -> None:
    words = [_bits(share) for share in (0.5, 0.25, 0.125, 0.125)]
    numbers = (0.0, 0.49, 0.5, 0.74, 0.75, 0.99)
    assert [chosen(words, _bits(1.0), _bits(number)) for number in numbers] == [0, 0, 1, 1, 2, 3]
    # Two tokens have more than 0.6: their shares are 2/3 and 1/3.
    assert [chosen(words, _bits(0.6), _bits(number)) for number in (0.65, 0.67, 0.99)] == [0, 1, 1]
    # No share exceeds 1.
    assert chosen(words, _bits(1.0), _bits(1.0)) == 0


@pytest.mark.parametrize("width", [64, 256])
def test_one_token_is_the_largest(width: int, device: ttnn.MeshDevice) -> None:
    scores = _scores(width)
    largest = 1000 + scores.argmax(-1).reshape(-1)
    for options in ({"k": 1}, {"p": 0.0}, {"temp": 100.0}):
        result = _call(scores, device, seed=5, **options)
        assert (tuple(result.shape), result.dtype, result.layout) == (
            (1, 1, 1, USERS),
            ttnn.uint32,
            ttnn.ROW_MAJOR_LAYOUT,
        )
        assert result.to_list()[0][0][0] == largest.tolist()


def test_agrees_with_the_reference(device: ttnn.MeshDevice) -> None:
    """Numbers near a token limit may draw the neighbour.

    Shares are cut to bfloat16.
    """
    scores = _scores(64, 3)
    tokens = np.broadcast_to(np.arange(64) + 1000, scores.shape)
    users, same = np.ones(USERS), 0
    for seed in range(1, 21):
        got = np.array(_call(scores, device, k=20, p=0.9, temp=0.5, seed=seed).to_list()[0][0][0]) - 1000
        expected = golden.sampling(scores, tokens, users * 20, users * 0.9, users * 0.5, seed=seed).reshape(-1) - 1000
        rows = scores[0, 0]
        distance = rows[np.arange(USERS), got] - rows[np.arange(USERS), expected]
        # Scores that follow each other are 1/8 apart.
        assert np.abs(distance).max() <= 1 / 8
        same += int((distance == 0).sum())
    assert same > 20 * USERS / 2


def test_a_seed_decides_and_int32_is_taken(device: ttnn.MeshDevice) -> None:
    scores = np.zeros((1, 1, USERS, 64))
    first, again, other = (_call(scores, device, seed=seed).to_list() for seed in (7, 7, 8))
    assert first == again != other
    into = _rows(np.zeros((1, 1, 1, USERS)), ttnn.int32, device)
    assert _call(scores, device, seed=7, dtype=ttnn.int32, output_tensor=into) is into
    assert into.to_list() == first


def _seeded(device: ttnn.MeshDevice) -> None:
    seeds = _rows(np.arange(USERS) * 7919 + 12345, ttnn.uint32, device)
    ttnn.manual_seed(seeds, user_ids=_rows(np.arange(USERS), ttnn.uint32, device))


def test_users_go_on_from_their_seeds(device: ttnn.MeshDevice) -> None:
    scores = np.zeros((1, 1, USERS, 64))
    _seeded(device)
    drawn = [_call(scores, device).to_list() for _ in range(2)]
    _seeded(device)
    assert drawn == [_call(scores, device).to_list() for _ in range(2)]
    assert drawn[0] != drawn[1]
    assert len(set(drawn[0][0][0][0])) > 8


def _survival(x: float, degrees: int) -> float:
    """Return the probability of a larger chi-square, even degrees."""
    return math.exp(-x / 2) * sum((x / 2) ** i / math.factorial(i) for i in range(degrees // 2))


def test_the_distribution_is_right(device: ttnn.MeshDevice) -> None:
    """Chi-square of 1,280 draws from five tokens.

    `FALSE_ALARM` is the chance of a failure without a fault.
    """
    scores = np.full((1, 1, USERS, 64), -20.0)
    scores[..., 10] = math.log(4)
    scores[..., 20:60:10] = 0.0
    _seeded(device)
    drawn: Counter[int] = Counter()
    for _ in range(40):
        drawn.update(_call(scores, device, k=5).to_list()[0][0][0])
    expected = {1010: 0.5, **dict.fromkeys(range(1020, 1060, 10), 0.125)}
    assert drawn.keys() <= expected.keys()
    count = 40 * USERS
    statistic = sum((drawn[token] - count * share) ** 2 / (count * share) for token, share in expected.items())
    assert _survival(statistic, len(expected) - 1) > FALSE_ALARM
    # The test sees a wrong distribution: that of tokens of one probability.
    wrong = sum((drawn[token] - count / 5) ** 2 / (count / 5) for token in expected)
    assert _survival(wrong, len(expected) - 1) < FALSE_ALARM


def test_every_user_has_a_core(device: ttnn.MeshDevice) -> None:
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(4, 0), ttnn.CoreCoord(7, 7))})
    scores = np.zeros((1, 1, USERS, 64))
    assert _call(scores, device, seed=7, sub_core_grids=cores).to_list() == _call(scores, device, seed=7).to_list()


def test_wrong_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    scores = np.zeros((1, 1, USERS, 64))
    for k in (0, 33):
        with pytest.raises(ttnn.ParameterError, match="every number must be 1 to 32"):
            _call(scores, device, k=k)
    with pytest.raises(ttnn.ShapeError, match="a power of two of tiles"):
        _call(scores[..., :32], device)
    values = ttnn.zeros((1, 1, 16, 64), layout=ttnn.TILE_LAYOUT, device=device)
    tokens = _rows(np.zeros((1, 1, 16, 64)), ttnn.uint32, device)
    with pytest.raises(ttnn.ShapeError, match="Input must have 32 users"):
        ttnn.sampling(values, tokens, values, values, values)
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 1))})
    with pytest.raises(ttnn.ParameterError, match="expects num_users cores, but found 4"):
        _call(scores, device, sub_core_grids=cores)
    with pytest.raises(ttnn.DTypeError, match="Only UINT32 & INT32 dtypes are supported for outputs"):
        _call(scores, device, output_tensor=_rows(np.zeros((1, 1, 1, USERS)), ttnn.bfloat16, device))
