"""Calls that share an entry of the program cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import ttnn
from testkit.operands import make

TILES, ROWS = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT


def _entries(device: ttnn.MeshDevice, *calls: Callable[[], Any]) -> int:
    device.clear_program_cache()
    for call in calls:
        call()
    return device.num_program_cache_entries()


def _x(device: ttnn.MeshDevice, *shape: int, layout: ttnn.Layout = TILES, **options: Any) -> ttnn.Tensor:
    return make(shape, options.pop("dtype", ttnn.bfloat16), layout, device, **options)


def test_functions_of_one_tensor_count_the_pages_of_tiles(device: ttnn.MeshDevice) -> None:
    flat, tall, small = _x(device, 32, 64), _x(device, 64, 32), _x(device, 32, 32)
    assert _entries(device, lambda: ttnn.relu(flat), lambda: ttnn.relu(tall)) == 1
    assert _entries(device, lambda: ttnn.relu(flat), lambda: ttnn.relu(small)) == 2
    assert _entries(device, lambda: ttnn.relu(flat), lambda: ttnn.exp(flat)) == 2
    rows = [_x(device, *shape, layout=ROWS) for shape in ((32, 64), (64, 32))]
    assert _entries(device, *(lambda x=x: ttnn.relu(x) for x in rows)) == 2


def test_operators_on_two_tensors_look_at_the_broadcast(device: ttnn.MeshDevice) -> None:
    squares = [_x(device, size, size) for size in (32, 64, 96)]
    assert _entries(device, *(lambda x=x: ttnn.add(x, x) for x in squares)) == 1
    row, column = _x(device, 1, 64), _x(device, 64, 1)
    assert _entries(device, *(lambda x=x: ttnn.add(squares[1], x) for x in (squares[1], row, column))) == 3
    assert _entries(device, lambda: ttnn.add(row, squares[1]), lambda: ttnn.add(squares[1], row)) == 2
    batches = [_x(device, count, 32, 32) for count in (1, 3)]
    assert _entries(device, *(lambda x=x: ttnn.add(squares[0], x) for x in batches)) == 1


@pytest.mark.parametrize("operator", [ttnn.relu, lambda x: ttnn.add(x, x)], ids=["relu", "add"])
def test_data_type_and_place_are_parts_of_a_program(operator: Callable[..., Any], device: ttnn.MeshDevice) -> None:
    shards = [
        ttnn.create_sharded_memory_config((rows, 64), ttnn.CoreGrid(y=rows // 32, x=1), ttnn.ShardStrategy.HEIGHT)
        for rows in (64, 128)
    ]
    tensors = [
        _x(device, 64, 64),
        _x(device, 64, 64, dtype=ttnn.float32),
        _x(device, 64, 64, memory_config=ttnn.L1_MEMORY_CONFIG),
        _x(device, 64, 64, memory_config=shards[0]),
        _x(device, 128, 64, memory_config=shards[1]),
    ]
    assert _entries(device, *(lambda x=x: operator(x) for x in tensors)) == len(tensors)


@pytest.mark.parametrize("users", [1, 8, 32])
@pytest.mark.parametrize("paged", [False, True])
def test_positions_of_decoding_share_one_program(users: int, paged: bool, device: ttnn.MeshDevice) -> None:
    """Positions are arguments of a program; that they are lists is not."""
    query, keys = _x(device, 1, users, 8, 64), _x(device, users, 1, 256, 64)
    lists = [[5] * users, [200] * users, list(range(users)), [-1, *range(1, users)]]
    tensors = [ttnn.from_torch(torch.tensor(at, dtype=torch.int32), device=device) for at in lists]
    if paged:
        blocks = ttnn.from_torch(torch.arange(users, dtype=torch.int32).reshape(users, 1), device=device)
        attend = ttnn.transformer.paged_scaled_dot_product_attention_decode
        calls = [lambda at=at: attend(query, keys, keys, blocks, cur_pos_tensor=at) for at in tensors]
        assert _entries(device, *calls) == 1
        return
    decode = ttnn.transformer.scaled_dot_product_attention_decode
    by_lists = [lambda at=at: decode(query, keys, keys, cur_pos=at) for at in lists]
    by_tensors = [lambda at=at: decode(query, keys, keys, cur_pos_tensor=at) for at in tensors]
    assert _entries(device, *by_lists) == 1
    assert _entries(device, *by_tensors) == 1
    assert _entries(device, *by_lists, *by_tensors) == 2
    assert _entries(device, by_lists[0], lambda: decode(query, keys, keys, is_causal=False)) == 2


def _on(device: ttnn.MeshDevice, *shape: int) -> ttnn.Tensor:
    values = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    return ttnn.Tensor(values, ttnn.bfloat16, device, ttnn.TILE_LAYOUT)


def test_a_product_with_repetitions_is_one_program(device: ttnn.MeshDevice) -> None:
    device.disable_and_clear_program_cache()
    device.enable_program_cache()
    for width, other in ((32, 5120), (32, 163840), (163840, 5120)) * 2:
        ttnn.experimental.repeat_and_interleave_eltwise_mul(_on(device, 1, 1, 32, width), _on(device, 1, 1, 32, other))
    assert device.num_program_cache_entries() == 3


def test_gradients_of_a_batched_product_are_two_programs(device: ttnn.MeshDevice) -> None:
    device.disable_and_clear_program_cache()
    device.enable_program_cache()
    a, b, grad = _on(device, 2, 32, 64), _on(device, 2, 64, 32), _on(device, 2, 32, 32)
    for _ in range(2):
        ttnn.moreh_bmm_backward(
            grad, a, b, are_required_outputs=(True, True), input_grad=ttnn.zeros_like(a), mat2_grad=ttnn.zeros_like(b)
        )
    # And one for each `zeros_like`.
    assert device.num_program_cache_entries() == 4


def test_what_is_an_argument_of_a_program_is_no_part_of_it(device: ttnn.MeshDevice) -> None:
    shapes = ((33,), (40, 70), (2, 65, 33))
    tensors = [_x(device, *shape, dtype=ttnn.float32) for shape in shapes]
    assert _entries(device, *(lambda x=x: ttnn.quantize(x, 0.5 + x.shape.rank, x.shape.rank) for x in tensors)) == 1

    query, keys = _x(device, 1, 1, 32, 64), _x(device, 1, 1, 128, 64)
    attend = ttnn.transformer.scaled_dot_product_attention_decode
    assert _entries(device, *(lambda at=at: attend(query, keys, keys, cur_pos=[at]) for at in (3, 40, 127))) == 1
    assert _entries(device, *(lambda by=by: attend(query, keys, keys, cur_pos=[3], scale=by) for by in (0.5, 1.0))) == 2

    table = ttnn.from_torch(torch.tensor([[0, 1]], dtype=torch.int32), device=device)
    blocks, chunk = _x(device, 2, 1, 64, 64), _x(device, 1, 1, 32, 64)
    chunked = ttnn.transformer.chunked_scaled_dot_product_attention
    assert _entries(device, *(lambda at=at: chunked(chunk, blocks, blocks, table, at) for at in (0, 32))) == 1

    products = [
        lambda groups=groups, inner=inner: ttnn.experimental.group_attn_matmul(
            _x(device, 1, 8, 32, inner),
            _x(device, 32, groups, inner, 96),
            compute_with_storage_grid_size=ttnn.CoreCoord(8, 4),
        )
        for groups, inner in ((1, 64), (2, 64), (8, 96))
    ]
    assert _entries(device, *products) == 1
