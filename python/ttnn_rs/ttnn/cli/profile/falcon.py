"""Falcon-7B device operations on a Wormhole card.

For rows of kernel times of the whole model.

Source: tt-metal `models/demos/falcon7b_common/tt` (operators, data types, placements, program configurations), for the
placements BFLOAT16-DRAM (prefill) and BFLOAT16-L1_SHARDED (decode) of its tests of device time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.families import make_plan
from ttnn.profiler.families.common import page_stream
from ttnn.profiler.families.lines import rotary
from ttnn.profiler.operand import TILE, Operand
from ttnn.profiler.plan import CARDS, CoreGroup, Plan, loop, tiles

_CARD: Final = CARDS["n150"]
_LAYERS, _HIDDEN, _PADDED, _HEADS, _HEAD, _VOCABULARY = 32, 4544, 4608, 71, 64, 65024
_FUSED: Final = _HIDDEN + 2 * _HEAD
_ATTENTION_CORES: Final = 57
"""Cores of attention, of 64; the demo does not use the others."""
_SLICES: Final = {128: 1, 1024: 4, 2048: 16}
"""Parts in which attention is computed one after the other."""
_PREFILL: Final = re.compile(r"prefill b1 seq(\d+)")
_DECODE: Final = re.compile(r"decode b32 \D*(\d+)")
_SIZE: Final = 2048
"""Bytes of a tile of bfloat16."""
_ACCUMULATES: Final = {"compute_kernel_config": "(fp32_dest_acc_en=0;packer_l1_acc=1)"}


def _tensor(*shape: int, dtype: str = "BFLOAT16", buffer: str = "DRAM") -> Operand:
    size = (*(1,) * (4 - len(shape)), *shape)
    return Operand(size, size, True, dtype, buffer)


def _shards(height: int, width: int, cores: int, *, blocks: int = 1) -> Operand:
    """Shards of rows and columns on cores; `blocks` side by side."""
    size = (1, 1, height * cores // blocks, width * blocks)
    memory = "HEIGHT_SHARDED" if blocks == 1 else "BLOCK_SHARDED"
    grid = (8, -(-cores // 8))
    return Operand(size, size, True, "BFLOAT16", "L1", memory, (height, width), grid, cores)


def _matmul(
    left: Operand, right: Operand, result: Operand, fidelity: str, config: str = "", grid: tuple[int, int] = (8, 8)
) -> Plan:
    attributes = {**_ACCUMULATES, "program_config": config} if config else _ACCUMULATES
    name = "MatmulDeviceOperation"
    return make_plan(DeviceOperation(name, _CARD, (left, right), (result,), fidelity, 0, grid, attributes))


def _blocks(rows: int, columns: int, inner: int) -> str:
    """Return a matmul configuration for 8x8 cores, rows and columns."""
    return (
        "MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=(x=8;y=8);"
        f"in0_block_w={inner};out_subblock_h=1;out_subblock_w=1;out_block_h={rows};out_block_w={columns};"
        f"per_core_M={rows};per_core_N={columns};transpose_mcast=0;fuse_batch=1)"
    )


def _rows(rows: int, columns: int, inner: int) -> str:
    """Return a matmul configuration with a multicast right operand.

    All cores receive it.
    """
    return (
        "MatmulMultiCoreReuseMultiCast1DProgramConfig(compute_with_storage_grid_size=(x=8;y=8);"
        f"in0_block_w={inner};out_subblock_h=1;out_subblock_w=1;out_block_h={rows};out_block_w={columns};"
        f"per_core_M={rows};per_core_N={columns};fuse_batch=1;mcast_in0=0)"
    )


def _simple(
    name: str,
    inputs: tuple[Operand, ...],
    output: Operand,
    fidelity: str = "",
    attributes: dict[str, str] | None = None,
) -> Plan:
    kind = f"{name}DeviceOperation"
    return make_plan(DeviceOperation(kind, _CARD, inputs, (output,), fidelity, attributes=attributes or {}))


def _moved(name: str, inputs: tuple[Operand, ...], output: Operand) -> Plan:
    return page_stream(DeviceOperation(f"{name}DeviceOperation", _CARD, inputs, (output,)))


def _added(left: Operand, right: Operand) -> Plan:
    return _simple("BinaryNg", (left, right), left, "HiFi4", {"binary_op_type": "BinaryOpType::ADD"})


def _turned(x: Operand, position: int) -> Plan:
    angles = _tensor(position, _HEAD)
    return rotary(DeviceOperation("RotaryEmbeddingDeviceOperation", _CARD, (x, angles, angles), (x,), "HiFi2"))


def _normalised(x: Operand) -> Iterator[Plan]:
    """A layer's input: sharded, normalised, and interleaved again."""
    rows, (height, width) = max(1, x.tile_rows), (max(1, x.tile_rows // 8), -(-x.tile_columns // 8))
    cores = 8 * min(8, rows)
    shards = _shards(height * TILE, width * TILE, cores, blocks=8)
    weight = _tensor(TILE, _HIDDEN)
    yield _simple("InterleavedToSharded", (x,), shards)
    yield _simple("LayerNorm", (shards, weight, weight), shards, "HiFi4")
    yield _simple("ShardedToInterleaved", (shards,), x)


def _prefill_attention(tokens: int) -> Iterator[Plan]:
    """Attention: matmuls and softmax in row shards of all heads."""
    slices = _SLICES[tokens]
    tiles = -(-_HEADS * tokens // _ATTENTION_CORES // slices // TILE)
    cores = -(-_HEADS * tokens // slices // (tiles * TILE))
    heads, keys = _tensor(_HEADS, tokens, _HEAD), tokens // TILE
    queries, weights = _shards(tiles * TILE, _HEAD, cores), _shards(tiles * TILE, tokens, cores)
    for _ in range(slices):
        yield _simple("InterleavedToShardedPartial", (heads,), queries)
        yield _matmul(queries, _tensor(_HEAD, tokens), weights, "HiFi2", _rows(tiles, keys, 2))
        mask = _tensor(TILE, tokens, dtype="BFLOAT4_B")
        stable = {"numeric_stable": "false"}
        yield _simple("Softmax", (weights, mask), weights, "HiFi2", stable)
        yield _matmul(weights, _tensor(tokens, _HEAD), queries, "HiFi2", _rows(tiles, 2, keys))
        yield _simple("ShardedToInterleavedPartial", (queries,), heads)


def _prefill_mlp(tokens: int) -> Iterator[Plan]:
    """Two matmuls with padded operands, on 8x8 cores for many tokens."""
    x = _tensor(tokens, _HIDDEN)
    if tokens not in (1024, 2048):
        wide = _tensor(tokens, 4 * _HIDDEN)
        yield _matmul(x, _tensor(_HIDDEN, 4 * _HIDDEN, dtype="BFLOAT8_B"), wide, "HiFi2", grid=(8, 7))
        yield _matmul(wide, _tensor(4 * _HIDDEN, _HIDDEN, dtype="BFLOAT8_B"), x, "HiFi2", grid=(8, 7))
        return
    slices = tokens // 1024
    padded = _tensor(tokens, _PADDED)
    yield _simple("Concat", (x, _tensor(tokens, 64)), padded)
    for _ in range(slices):
        part = _shards(4 * TILE, 18 * TILE, 64, blocks=8)
        wide = _shards(4 * TILE, 72 * TILE, 64, blocks=8)
        yield _simple("InterleavedToShardedPartial", (padded,), part)
        first = _tensor(_PADDED, 4 * _PADDED, dtype="BFLOAT8_B")
        yield _matmul(part, first, wide, "HiFi2", _blocks(4, 72, 3))
        second = _tensor(4 * _PADDED, _PADDED, dtype="BFLOAT8_B")
        yield _matmul(wide, second, part, "HiFi2", _blocks(4, 18, 8))
        yield _simple("ShardedToInterleavedPartial", (part,), padded)
    yield _simple("Slice", (padded,), x)


def _prefill_layer(tokens: int) -> Iterator[Plan]:
    x, fused = _tensor(tokens, _HIDDEN), _tensor(tokens, _FUSED)
    heads, key = _tensor(_HEADS, tokens, _HEAD), _tensor(tokens, _HEAD)
    yield from _normalised(x)
    config, grid = (_blocks(8, 21, 2), (8, 8)) if tokens == 2048 else ("", (8, 7))
    yield _matmul(x, _tensor(_HIDDEN, _FUSED, dtype="BFLOAT8_B"), fused, "HiFi2", config, grid)
    yield _moved("NlpCreateHeadsFalcon7B", (fused,), heads)
    yield from (_turned(heads, tokens), _turned(key, tokens))
    yield from [_moved("FillCache", (key,), key)] * 2
    yield _simple("Transpose", (key,), _tensor(_HEAD, tokens), "HiFi4", {"dim": "TransposeOpDim::WH"})
    yield from _prefill_attention(tokens)
    yield _moved("NLPConcatHeads", (heads,), x)
    yield _matmul(x, _tensor(_HIDDEN, _HIDDEN, dtype="BFLOAT8_B"), x, "HiFi2", grid=(8, 7))
    yield from _prefill_mlp(tokens)
    yield from [_added(x, x)] * 2


def _prefill(tokens: int) -> Iterator[tuple[int, Plan]]:
    """The plans of a prefill, each with how often it runs."""
    x = _tensor(tokens, _HIDDEN)
    yield from ((_LAYERS, plan) for plan in _prefill_layer(tokens))
    yield from ((1, plan) for plan in _normalised(x))
    if tokens <= 512:
        yield 1, _matmul(x, _tensor(_HIDDEN, _VOCABULARY, dtype="BFLOAT8_B"), _tensor(tokens, _VOCABULARY), "LoFi")
        return
    slices = 4 if tokens <= 1024 else 8
    width = -(-_VOCABULARY // slices // TILE) * TILE
    padded, part = _tensor(tokens, _PADDED), _tensor(tokens, width)
    yield 1, _simple("Concat", (x, _tensor(tokens, 64)), padded)
    rows, columns = tokens // TILE // 8, -(-width // TILE // 8 // 4) * 4
    config = _blocks(rows, columns, 4 if tokens <= 1024 else 8).replace("subblock_h=1", "subblock_h=2")
    config = config.replace("subblock_w=1", "subblock_w=4")
    yield slices, _matmul(padded, _tensor(_PADDED, width, dtype="BFLOAT8_B"), part, "HiFi2", config)
    yield 1, _simple("Concat", (part,) * slices, _tensor(tokens, _VOCABULARY))


def _decode_layer(length: int) -> Iterator[Plan]:
    """One token of each of 32 users.

    Keys and values of so many tokens are in the cache.
    """
    batch, cores, heads = 32, 32, 96
    kept = -(-(length + 1) // TILE) * TILE
    x, fused = _tensor(batch, _HIDDEN), _tensor(batch, _FUSED)
    query, key = _tensor(_HEADS, batch, _HEAD), _tensor(batch, _HEAD)
    yield from _normalised(x)
    yield _matmul(x, _tensor(_HIDDEN, _FUSED, dtype="BFLOAT8_B"), fused, "LoFi", grid=(8, 7))
    yield _moved("NlpCreateHeadsFalcon7B", (fused,), query)
    yield from (_turned(query, 1), _turned(key, 1))
    cached = _tensor(batch, kept, _HEAD)
    in_shards = _shards(kept, _HEAD, cores)
    of_heads, weights = _shards(heads, _HEAD, cores), _shards(heads, kept, cores)
    padded = _tensor(batch, heads, _HEAD)
    yield _moved("UpdateKVCache", (key,), key)
    yield _simple("Slice", (cached,), cached)
    yield _simple("InterleavedToSharded", (cached,), in_shards)
    yield _moved("Pad", (query,), _tensor(heads, batch, _HEAD))
    yield _moved("Transpose", (_tensor(heads, batch, _HEAD),), padded)
    yield _moved("ReshapeView", (padded,), padded)
    yield _simple("InterleavedToSharded", (padded,), of_heads)
    yield _simple("Transpose", (in_shards,), in_shards, "HiFi4", {"dim": "TransposeOpDim::WH"})
    yield _batched(of_heads, weights, heads, kept, _HEAD)
    yield _simple("Softmax", (weights, _tensor(TILE, kept)), weights, "HiFi4", {"numeric_stable": "false"})
    yield _moved("UpdateKVCache", (key,), key)
    yield _simple("Slice", (cached,), cached)
    yield _simple("InterleavedToSharded", (cached,), in_shards)
    yield _batched(weights, of_heads, heads, _HEAD, kept)
    yield _simple("ShardedToInterleaved", (of_heads,), padded)
    yield from [_moved("Transpose", (padded,), padded)] * 2
    yield _simple("Slice", (_tensor(heads, batch, _HEAD),), query)
    yield _moved("NLPConcatHeads", (query,), x)
    yield _matmul(x, _tensor(_HIDDEN, _HIDDEN, dtype="BFLOAT8_B"), x, "LoFi", grid=(8, 7))
    wide = _tensor(batch, 4 * _HIDDEN)
    yield _matmul(x, _tensor(_HIDDEN, 4 * _HIDDEN, dtype="BFLOAT8_B"), wide, "LoFi", grid=(8, 7))
    yield _matmul(wide, _tensor(4 * _HIDDEN, _HIDDEN, dtype="BFLOAT8_B"), x, "LoFi", grid=(8, 7))
    yield from [_added(x, x)] * 2


def _batched(left: Operand, result: Operand, rows: int, columns: int, inner: int) -> Plan:
    """Matmuls of 32 users, each on its keys' or values' core."""
    product = tiles(("matmul", 1, 1, inner // TILE, _SIZE, _SIZE, 1))
    steps = (loop(rows // TILE * columns // TILE, product, tiles(("pack", _SIZE, False))),)
    group = CoreGroup(32, (), (tiles(("initialise",)), *steps), ())
    return Plan("MatmulDeviceOperation", _CARD, "LoFi", (group,), (), (left,), (result,))


def _decode(length: int) -> Iterator[tuple[int, Plan]]:
    x = _tensor(32, _HIDDEN)
    yield from ((_LAYERS, plan) for plan in _decode_layer(length))
    yield from ((1, plan) for plan in _normalised(x))
    logits = _tensor(32, _VOCABULARY)
    yield 1, _matmul(x, _tensor(_HIDDEN, _VOCABULARY, dtype="BFLOAT8_B"), logits, "LoFi", grid=(8, 7))


@lru_cache(maxsize=16)
def tokens_per_second(shape: str) -> float:
    """Return a row's predicted tokens per second of kernel time.

    For example "prefill b1 seq1024".

    Raises:
        LookupError: it is another run.
    """
    prefill, decode = _PREFILL.fullmatch(shape), _DECODE.fullmatch(shape)
    if prefill is not None and int(prefill[1]) in _SLICES:
        tokens = int(prefill[1])
        return tokens / sum(times * plan.nanoseconds for times, plan in _prefill(tokens)) * 1e9
    if decode is not None:
        return 32 / sum(times * plan.nanoseconds for times, plan in _decode(int(decode[1]))) * 1e9
    raise LookupError(f"falcon7b: no layers are described for {shape!r}")
