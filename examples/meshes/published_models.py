"""Predicted tokens per second of published models on several chips.

A decode step of 32 users with 128 tokens in the cache, from plans: no values are computed. The table has the
published tokens per second and user, the prediction, and the limit that reading the weights from DRAM sets.

    python -m examples.meshes.published_models
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ttnn.cli.profile import falcon
from ttnn.ops.ccl.transfers import Transfer
from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.families import make_plan
from ttnn.profiler.families.common import page_stream
from ttnn.profiler.families.lines import attention_decode, rotary
from ttnn.profiler.links import link_plans
from ttnn.profiler.operand import TILE, Operand
from ttnn.profiler.plan import CARDS, Card, Plan

USERS, LENGTH = 32, 128
SIZES = {"BFLOAT16": 2.0, "BFLOAT8_B": 1.0625, "BFLOAT4_B": 0.5625}
ACCUMULATES = {"compute_kernel_config": "(fp32_dest_acc_en=0;packer_l1_acc=1)"}


@dataclass(frozen=True)
class System:
    """Chips that compute one layer together.

    Args:
        name: As it is published.
        card: The engine's name of a chip.
        chips: Chips that share a layer: tensor parallel.
        links: Links of two neighbours that collectives use.
        ring: Whether they are a ring.
        rows: Chips that share the inner dimension; 1 unless the weights are cut in two directions.
    """

    name: str
    card: str
    chips: int
    links: int = 1
    ring: bool = False
    rows: int = 1


@dataclass(frozen=True)
class Model:
    """Sizes of a decoder.

    Args:
        layers: Decoder layers.
        width: Hidden size.
        heads: Query heads.
        groups: Heads of keys and values.
        head: Size of a head.
        hidden: Columns of the feed-forward layer.
        vocabulary: Columns of the logits.
        kind: "gated" (three matrices), "plain" (two, next to attention), "experts" (a gated expert on each chip).
        attention: Data type of the attention's weights.
        gate: Data type of the first matrices of the feed-forward layer.
        down: Data type of its last one.
    """

    layers: int
    width: int
    heads: int
    groups: int
    head: int
    hidden: int
    vocabulary: int
    kind: str = "gated"
    attention: str = "BFLOAT8_B"
    gate: str = "BFLOAT4_B"
    down: str = "BFLOAT8_B"


@dataclass(frozen=True)
class Row:
    """A published row: tokens per second and user, and its target."""

    name: str
    model: Model
    system: System
    measured: float
    target: float | None = None


T3K = System("QuietBox (Wormhole)", "n300", 8, ring=True)
GALAXY = System("Galaxy (Wormhole)", "galaxy", 32, 4, rows=4)
LLAMA_8B = Model(32, 4096, 32, 8, 128, 14336, 128256)
LLAMA_70B = Model(80, 8192, 64, 8, 128, 28672, 128256)
QWEN_72B = Model(80, 8192, 64, 8, 128, 29568, 152064)
QWEN_7B = Model(28, 3584, 28, 4, 128, 18944, 152064, attention="BFLOAT16", gate="BFLOAT8_B")
QWQ_32B = Model(64, 5120, 40, 8, 128, 27648, 152064)
QWEN3_32B = Model(64, 5120, 64, 8, 128, 25600, 151936)
FALCON_40B = Model(60, 8192, 128, 8, 64, 32768, 65024, "plain", gate="BFLOAT8_B")
MIXTRAL = Model(32, 4096, 32, 8, 128, 14336, 32000, "experts", gate="BFLOAT8_B")

ROWS = (
    Row("Llama 3.1 8B", LLAMA_8B, System("n150", "n150", 1), 26.0, 23),
    Row("Llama 3.1 8B", LLAMA_8B, System("p150", "p150", 1), 33.1),
    Row("Qwen 2.5 7B (TP=2)", QWEN_7B, System("n300", "n300", 2), 22.1, 30),
    Row("Qwen 3 32B (TP=8)", QWEN3_32B, T3K, 22.8, 30),
    Row("QwQ 32B (TP=8)", QWQ_32B, T3K, 25.2, 30),
    Row("Llama 3.3 70B (TP=8)", LLAMA_70B, T3K, 15.9, 20),
    Row("Qwen 2.5 72B (TP=8)", QWEN_72B, T3K, 15.4, 20),
    Row("Falcon 40B (TP=8)", FALCON_40B, T3K, 11.9, 36),
    Row("Mixtral 8x7B (TP=8)", MIXTRAL, T3K, 24.9, 33),
    Row("Llama 3.1 70B (TP=4)", LLAMA_70B, System("QuietBox (Blackhole)", "p150", 4, 4, ring=True), 14.9),
    Row("Llama 3.3 70B (TP=32)", LLAMA_70B, GALAXY, 72.5, 80),
)
FALCONS = (
    ("Falcon 7B", "n150", 18.5),
    ("Falcon 7B (DP=8)", "QuietBox (Wormhole)", 15.9),
    ("Falcon 7B (DP=32)", "Galaxy (Wormhole)", 13.2),
)
"""Data parallel: every chip computes the whole model."""


def tensor(*shape: int, dtype: str = "BFLOAT16", buffer: str = "L1") -> Operand:
    """Return an interleaved tensor in tiles."""
    size = (*(1,) * (4 - len(shape)), *shape)
    return Operand(size, size, True, dtype, buffer)


class Decoder:
    """Plans of a decode step on one chip.

    Args:
        model: The decoder.
        system: The chips that share it.
    """

    def __init__(self, model: Model, system: System) -> None:
        self.model, self.system = model, system
        self.card: Card = CARDS[system.card]
        self.columns = system.chips // system.rows

    def moved(self, name: str, *operands: Operand) -> Plan:
        """Return the plan of an operation that copies pages."""
        return page_stream(DeviceOperation(f"{name}DeviceOperation", self.card, operands[:1], operands[-1:]))

    def product(self, inner: int, columns: int, dtype: str, fidelity: str) -> Iterator[Plan]:
        """Yield matmuls of 32 rows with weights cut over DRAM banks.

        Each part fits into L1.
        """
        banks, tiles = self.card.banks, -(-columns // TILE)
        parts = -(-tiles // (banks * 24))
        each = -(-tiles // (parts * banks)) * banks
        depth = -(-inner // TILE)
        cores = max(count for count in range(1, 33) if depth % count == 0)
        block = max(count for count in range(1, 9) if depth // cores % count == 0)
        out = -(-each // cores)
        left = self._shards(TILE, inner, cores, "BFLOAT16", "L1")
        right = self._shards(inner, each * TILE, banks, dtype, "DRAM")
        result = self._shards(TILE, out * cores * TILE, cores, "BFLOAT16", "L1")
        config = f"in0_block_w={block};per_core_M=1;per_core_N={out}"
        attributes = {
            **ACCUMULATES,
            "program_config": f"MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig({config})",
        }
        name = "MatmulDeviceOperation"
        plan = make_plan(DeviceOperation(name, self.card, (left, right), (result,), fidelity, attributes=attributes))
        yield from [plan] * parts

    @staticmethod
    def _shards(height: int, width: int, cores: int, dtype: str, buffer: str) -> Operand:
        size, shard = (1, 1, height, width), (height, -(-width // (cores * TILE)) * TILE)
        return Operand(size, size, True, dtype, buffer, "WIDTH_SHARDED", shard, (cores, 1), cores)

    def exchange(self, operation: str, width: int, count: int, dtype: str = "BFLOAT8_B") -> Iterator[Plan]:
        """Yield an all_gather or a reduce_scatter of 32 rows."""
        if count == 1:
            return
        whole = tensor(TILE, width, dtype=dtype)
        ring = self.system.ring and count > 2
        hops = count // 2 if ring else count - 1
        part = whole.bytes // count
        sent = Transfer(operation, "all", count, ring, self.system.links, None, part, whole.page_bytes, hops)
        yield from link_plans([sent], self.card, (whole,), (whole,))

    def summed(self, width: int, count: int, *, whole: bool) -> Iterator[Plan]:
        """Yield the addition of the chips' products, whole or by slices."""
        yield from self.exchange("ReduceScatterMinimalAsync", width, count)
        if whole:
            yield from self.exchange("AllGatherAsync", width, count)

    def normalised(self) -> Iterator[Plan]:
        """Yield what brings a layer's input together and normalises it."""
        model, rows = self.model, self.system.rows
        if rows == 1:
            yield from self.exchange("AllGatherAsync", model.width, self.system.chips, "BFLOAT16")
        else:
            # Columns stay distributed: the chips exchange one tile of sums.
            yield from self.exchange("AllGatherAsync", TILE * rows, rows, "BFLOAT16")
        # The columns of one core of 32; its exchange of sums with the others is left out.
        x = self._shards(TILE, -(-model.width // (rows * 32 * TILE)) * TILE, 1, "BFLOAT16", "L1")
        weight = tensor(TILE, x.width)
        yield make_plan(DeviceOperation("LayerNormDeviceOperation", self.card, (x, weight), (x,), "HiFi2"))

    def attention(self) -> Iterator[Plan]:
        """Yield self-attention: heads are cut over chips."""
        model, rows, columns = self.model, self.system.rows, self.columns
        heads, groups = model.heads // columns, max(1, model.groups // columns)
        fused = (heads + 2 * groups) * model.head
        yield from self.product(model.width // rows, fused, model.attention, "HiFi2")
        if rows > 1:
            yield from self.summed(fused, rows, whole=True)
        users = USERS // rows
        query, key = tensor(users, TILE, heads * model.head), tensor(users, TILE, groups * model.head)
        yield self.moved("NLPCreateQKVHeadsDecode", tensor(TILE, fused), query)
        angles = tensor(TILE, model.head)
        for x in (tensor(users, heads, model.head), tensor(users, groups, model.head)):
            yield rotary(DeviceOperation("RotaryEmbeddingLlamaDeviceOperation", self.card, (x, angles, angles), (x,)))
        yield from [self.moved("PagedUpdateCache", key, key)] * 2
        cache = tensor(users, groups, LENGTH + TILE, model.head, dtype="BFLOAT8_B", buffer="DRAM")
        counts = ((LENGTH + 1,) * users, (4,) * users)
        name = "SdpaDecodeDeviceOperation"
        yield attention_decode(
            DeviceOperation(name, self.card, (query, cache), (query,), "HiFi2", grid=self.card.grid, program=counts)
        )
        yield self.moved("NLPConcatHeadsDecode", query, tensor(TILE, heads * model.head))
        if rows == 1:
            yield from self.exchange("AllGatherAsync", model.heads * model.head, self.system.chips, "BFLOAT16")
            yield from self.product(model.heads * model.head, model.width // columns, model.attention, "HiFi2")
        else:
            yield from self.exchange("AllGatherAsync", heads * model.head * rows, rows)
            yield from self.product(heads * model.head, model.width // rows, model.attention, "HiFi2")
            yield from self.summed(model.width // rows, columns, whole=True)

    def feed_forward(self) -> Iterator[Plan]:
        """Yield the feed-forward layer, or the experts and their choice."""
        model, rows, columns = self.model, self.system.rows, self.columns
        hidden = model.hidden if model.kind == "experts" else model.hidden // columns
        if model.kind == "experts":
            gate = DeviceOperation(
                "MatmulDeviceOperation",
                self.card,
                (tensor(TILE, model.width), tensor(model.width, 2 * TILE, buffer="DRAM")),
                (tensor(TILE, 2 * TILE),),
                "LoFi",
                grid=self.card.grid,
                attributes=ACCUMULATES,
            )
            yield make_plan(gate)
            yield self.moved("Moe", tensor(TILE, 2 * TILE), tensor(TILE, TILE))
        for _ in range(1 if model.kind == "plain" else 2):
            fidelity = "LoFi" if model.gate == "BFLOAT4_B" else "HiFi2"
            yield from self.product(model.width // rows, hidden, model.gate, fidelity)
            if rows > 1:
                yield from self.summed(hidden, rows, whole=False)
        x = tensor(TILE, hidden // rows)
        if model.kind != "plain":
            yield self._binary(x, "MUL")
        if rows > 1:
            yield from self.exchange("AllGatherAsync", hidden, rows)
        yield from self.product(hidden, model.width // rows, model.down, "HiFi2")
        yield from self.summed(model.width // rows, columns, whole=rows > 1)

    def _binary(self, x: Operand, function: str) -> Plan:
        attributes = {"binary_op_type": f"BinaryOpType::{function}"}
        return make_plan(
            DeviceOperation("BinaryNgDeviceOperation", self.card, (x, x), (x,), "HiFi4", attributes=attributes)
        )

    def step(self) -> Iterator[tuple[int, Plan]]:
        """Yield the plans of a decode step with their counts."""
        model, added = self.model, self._binary(tensor(TILE, self.model.width // self.columns), "ADD")
        layer = [*self.normalised(), *self.attention(), *self.feed_forward(), added, added]
        if model.kind != "plain":
            layer += self.normalised()
        yield from ((model.layers, plan) for plan in layer)
        yield from ((1, plan) for plan in self.normalised())
        for plan in self.product(
            model.width // self.system.rows, model.vocabulary // self.columns, "BFLOAT8_B", "HiFi2"
        ):
            yield 1, plan

    def nanoseconds(self) -> tuple[float, float]:
        """Return the predicted times of a step and of its exchanges."""
        times = [(count * plan.nanoseconds, "Async" in plan.name) for count, plan in self.step()]
        return sum(time for time, _ in times), sum(time for time, exchanges in times if exchanges)

    def weight_bytes(self) -> float:
        """Return the bytes of weights that a chip reads in a step."""
        model = self.model
        attention = model.width * (2 * model.heads + 2 * model.groups) * model.head * SIZES[model.attention]
        first = model.width * model.hidden * (1 if model.kind == "plain" else 2) * SIZES[model.gate]
        layer = attention + (first + model.width * model.hidden * SIZES[model.down]) * (
            self.system.chips if model.kind == "experts" else 1
        )
        return (model.layers * layer + model.width * model.vocabulary * SIZES["BFLOAT8_B"]) / self.system.chips

    def limit(self) -> float:
        """Return the tokens per second and user that DRAM allows."""
        return self.card.dram_gb_s * 1e9 / self.weight_bytes()


def table() -> list[str]:
    """Return the lines of the table."""
    lines = [
        "| model | system | published | target | predicted, chips alone | exchange | weights alone | ratio |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in ROWS:
        decoder = Decoder(row.model, row.system)
        time, exchange = decoder.nanoseconds()
        rate = 1e9 / time
        cells = [
            *(row.name, row.system.name, f"{row.measured:.1f}", "" if row.target is None else f"{row.target:g}"),
            *(f"{rate:.1f}", f"{exchange / time:.0%}", f"{decoder.limit():.1f}", f"{row.measured / rate:.2f}"),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    rate = falcon.tokens_per_second(f"decode b32 {LENGTH}") / USERS
    weights = 32 * 4544 * (2 * 4544 + 128 + 8 * 4544) + 4544 * 65024
    limit = CARDS["n150"].dram_gb_s * 1e9 / (weights * SIZES["BFLOAT8_B"])
    for name, system, measured in FALCONS:
        cells = [name, system, f"{measured:.1f}", "26", f"{rate:.1f}", "0%", f"{limit:.1f}", f"{measured / rate:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Print the table."""
    print("\n".join(table()))


if __name__ == "__main__":
    main()
