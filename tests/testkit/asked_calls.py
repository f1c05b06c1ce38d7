"""Random calls of the operators of compiled models, for the query.

The answer of a query has to be what the call then does: whether it is refused, the specifications of its results, the
peaks of its captured graph, and its time in a profile.

`python tests/testkit asked_calls --count 2000` asks about many and prints counts and times.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import ttnn
from ttnn import graph
from ttnn.operation.operands import tensors_in
from ttnn.runtime.events import exchanged

T, R = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT
BF16, F32, BFP8 = ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b
DRAM, L1 = ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG
Spec = ttnn.TensorSpec


@dataclass
class Question:
    """A call with specifications in place of tensors."""

    name: str
    op: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        shown = [*map(repr, self.args), *(f"{name}={value!r}" for name, value in self.kwargs.items())]
        return f"{self.name}({', '.join(shown)})"


def sharded(draw: random.Random, shape: tuple[int, ...], kinds: str = "hwb") -> ttnn.MemoryConfig:
    """Return a sharded configuration in L1 of a tensor in tiles."""
    rows = -(-shape[-2] // 32)
    for size in shape[:-2]:
        rows *= size
    columns = -(-shape[-1] // 32)
    kind = draw.choice(kinds)
    y = draw.randint(1, min(8, rows)) if kind in "hb" else 1
    x = draw.randint(1, min(8, columns)) if kind in "wb" else 1
    layout = {"h": "HEIGHT_SHARDED", "w": "WIDTH_SHARDED", "b": "BLOCK_SHARDED"}[kind]
    grid = (x, y) if kind != "h" else (1, y)
    shard = ttnn.ShardSpec(
        ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(grid[0] - 1, grid[1] - 1))]),
        (-(-rows // y) * 32, -(-columns // x) * 32),
        ttnn.ShardOrientation.ROW_MAJOR,
    )
    return ttnn.MemoryConfig(getattr(ttnn.TensorMemoryLayout, layout), ttnn.BufferType.L1, shard)


def place(draw: random.Random, shape: tuple[int, ...], layout: ttnn.Layout = T) -> ttnn.MemoryConfig:
    """Return where a tensor is: DRAM, L1, or shards."""
    kinds = [DRAM, DRAM, L1]
    if layout is T and len(shape) > 1:
        kinds += [sharded(draw, shape)]
    return draw.choice(kinds)


def tensor(draw: random.Random, shape: tuple[int, ...], dtype: Any = None, layout: Any = T, config: Any = None) -> Spec:
    """Return a specification, with drawn parts where none are given."""
    dtype = dtype or draw.choice([BF16, BF16, F32, BFP8] if layout is T else [BF16, F32])
    return Spec.of(shape, dtype, layout, config or place(draw, shape, layout))


def side(draw: random.Random, most: int = 8) -> int:
    """Return a size, mostly of whole tiles."""
    return draw.choice([32, 32, 32, 32, 17]) * draw.randint(1, most)


def out(draw: random.Random) -> dict[str, Any]:
    """Return where a result goes, or nothing."""
    return draw.choice([{}, {}, {"memory_config": L1}, {"memory_config": DRAM}])


def product(draw: random.Random) -> Question:
    """Return a matrix product, sometimes with bias, grid or configuration."""
    m, k, n = side(draw), side(draw), side(draw)
    batch = draw.choice([(), (1, 1), (1, 4), (2, 3)])
    b = draw.choice([(k, n), (*batch, k, n)])
    kwargs = out(draw)
    op, name = ttnn.matmul, "matmul"
    if draw.random() < 0.4:
        op, name = ttnn.linear, "linear"
        if draw.random() < 0.7:
            kwargs["bias"] = tensor(draw, (1, n), BF16, T, DRAM)
        kwargs["activation"] = draw.choice([None, "relu", "gelu", "silu"])
    if draw.random() < 0.3:
        kwargs["core_grid"] = ttnn.CoreGrid(x=draw.randint(1, 8), y=draw.randint(1, 8))
    elif draw.random() < 0.4:
        x, y = draw.randint(1, 8), draw.randint(1, 8)
        mt, nt = -(-m // 32), -(-n // 32)
        rows, columns = -(-mt // y), -(-nt // x)
        kwargs["program_config"] = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
            compute_with_storage_grid_size=(x, y),
            in0_block_w=draw.randint(1, 4),
            out_subblock_h=1,
            out_subblock_w=draw.choice([1, columns]),
            per_core_M=rows,
            per_core_N=columns,
            transpose_mcast=False,
            fused_activation=None,
        )
    if draw.random() < 0.3:
        kwargs["dtype"] = draw.choice([BF16, F32, BFP8])
    return Question(name, op, (tensor(draw, (*batch, m, k)), tensor(draw, b, None, T, draw.choice([DRAM, L1]))), kwargs)


def shape_of(draw: random.Random) -> tuple[int, ...]:
    """Return the shape of an activation."""
    return (*draw.choice([(), (1, 1), (2, 3), (1, 4)]), side(draw), side(draw))


def eltwise(draw: random.Random) -> Question:
    """Return an element-wise call."""
    shape = shape_of(draw)
    a = tensor(draw, shape)
    if draw.random() < 0.5:
        name = draw.choice(["exp", "relu", "gelu", "neg", "sqrt", "rsqrt", "silu", "tanh", "reciprocal"])
        return Question(name, getattr(ttnn, name), (a,), out(draw))
    name = draw.choice(["add", "multiply", "subtract", "divide", "maximum"])
    other = draw.choice([shape, shape, (*shape[:-2], 1, shape[-1]), (*shape[:-1], 1)])
    b = draw.choice([2.5, tensor(draw, other), tensor(draw, other)])
    kwargs = out(draw)
    if draw.random() < 0.2 and name in ("add", "multiply"):
        kwargs["activations"] = [ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)]
    return Question(name, getattr(ttnn, name), (a, b), kwargs)


def norm(draw: random.Random) -> Question:
    """Return a norm or a softmax."""
    shape = shape_of(draw)
    a = tensor(draw, shape)
    name = draw.choice(["layer_norm", "rms_norm", "softmax"])
    kwargs = out(draw)
    if name == "softmax":
        kwargs["dim"] = draw.choice([-1, -1, -2])
        kwargs["numeric_stable"] = draw.choice([True, False])
        return Question(name, ttnn.softmax, (a,), kwargs)
    if draw.random() < 0.6:
        kwargs["weight"] = Spec.of((1, shape[-1]), BF16, T, DRAM)
    if name == "layer_norm" and "weight" in kwargs:
        kwargs["bias"] = Spec.of((1, shape[-1]), BF16, T, DRAM)
    if draw.random() < 0.3:
        kwargs["residual_input_tensor"] = a
    return Question(name, getattr(ttnn, name), (a,), kwargs)


def movement(draw: random.Random) -> Question:
    """Return a call that moves data."""
    shape = (draw.randint(1, 2), draw.randint(1, 4), side(draw, 4), side(draw, 4))
    name = draw.choice(
        [
            "reshape",
            "permute",
            "transpose",
            "concat",
            "slice",
            "pad",
            "repeat",
            "to_layout",
            "to_memory_config",
            "typecast",
        ]
    )
    layout = T if name in ("typecast", "to_memory_config") else draw.choice([T, T, R])
    a = tensor(draw, shape, None, layout)
    op = getattr(ttnn, name)
    if name == "reshape":
        b, h, s, w = shape
        target = draw.choice([(b, h * s, w), (b * h, s, w), (b, h, s * w), (b, s, h, w), (1, b * h * s, 1, w)])
        return Question(name, op, (a, target), out(draw))
    if name == "permute":
        order = [0, 1, 2, 3]
        draw.shuffle(order)
        return Question(name, op, (a, tuple(order)), out(draw))
    if name == "transpose":
        return Question(name, op, (a, draw.randint(-4, 3), draw.randint(-4, 3)), out(draw))
    if name == "concat":
        parts = [tensor(draw, shape, a.dtype, layout, draw.choice([DRAM, L1])) for _ in range(draw.randint(2, 3))]
        return Question(name, op, (parts, draw.randint(0, 3)), out(draw))
    if name == "slice":
        begin = [draw.randint(0, size - 1) // 32 * 32 * draw.randint(0, 1) for size in shape]
        end = [draw.choice([size, min(size, first + 32)]) for first, size in zip(begin, shape, strict=True)]
        return Question(name, op, (a, begin, end), out(draw))
    if name == "pad":
        return Question(
            name, op, (a, [(0, 0), (0, draw.randint(0, 1)), (0, 32), (0, draw.choice([0, 32]))], 0.0), out(draw)
        )
    if name == "repeat":
        return Question(name, op, (a, ttnn.Shape([draw.randint(1, 2), draw.randint(1, 3), 1, 1])), out(draw))
    if name == "to_layout":
        return Question(name, op, (a, draw.choice([T, R])), out(draw))
    if name == "typecast":
        return Question(name, op, (a, draw.choice([BF16, F32, BFP8, ttnn.int32])), out(draw))
    return Question(name, op, (a, draw.choice([DRAM, L1, sharded(draw, shape)])))


def heads(draw: random.Random) -> Question:
    """Return a call of attention or of heads."""
    batch, count, sequence, size = (
        draw.randint(1, 2),
        draw.choice([1, 2, 4, 8]),
        side(draw, 6),
        draw.choice([32, 64, 128]),
    )
    spec = partial(tensor, draw)
    kind = draw.randint(0, 7)
    transformer, experimental = ttnn.transformer, ttnn.experimental
    if kind == 0:
        a = spec((batch, sequence, 3 * count * size), None, T, draw.choice([DRAM, L1]))
        op = transformer.split_query_key_value_and_split_heads
        return Question(
            "split heads", op, (a,), {"num_heads": count, "transpose_key": draw.choice([True, False]), **out(draw)}
        )
    if kind == 1:
        a = spec((batch, count, sequence, size), None, T, draw.choice([DRAM, L1]))
        return Question("concatenate_heads", transformer.concatenate_heads, (a,), out(draw))
    if kind == 2:
        scores = Spec.of((batch, count, sequence, sequence), BF16, T, draw.choice([DRAM, L1]))
        mask = draw.choice([None, Spec.of((batch, 1, 1, sequence), BF16, T, DRAM)])
        op = draw.choice([transformer.attention_softmax, transformer.attention_softmax_])
        return Question("attention_softmax", op, (scores,), {"head_size": size, "attention_mask": mask})
    if kind in (3, 4):
        dtype = draw.choice([BF16, BFP8])
        keys = draw.choice([count, max(1, count // 2)])
        q = Spec.of((batch, count, sequence, size), dtype, T, draw.choice([DRAM, L1]))
        k = Spec.of((batch, keys, sequence, size), dtype, T, DRAM)
        kwargs = {"is_causal": draw.choice([True, False]), **out(draw)}
        if not kwargs["is_causal"] and draw.random() < 0.6:
            kwargs["attn_mask"] = Spec.of((batch, 1, sequence, sequence), BF16, T, DRAM)
        if draw.random() < 0.6:
            kwargs["program_config"] = ttnn.SDPAProgramConfig(
                compute_with_storage_grid_size=(8, 8),
                q_chunk_size=draw.choice([32, 64, 128]),
                k_chunk_size=draw.choice([32, 64, 128]),
                exp_approx_mode=False,
            )
        return Question("SDPA", transformer.scaled_dot_product_attention, (q, k, k), kwargs)
    if kind == 5:
        users = draw.choice([1, 4, 8, 32])
        q = Spec.of((1, users, count, size), BF16, T, DRAM)
        k = Spec.of((users, draw.choice([1, count]), sequence // 32 * 32 or 32, size), BF16, T, DRAM)
        positions = [draw.randint(0, 31) for _ in range(users)]
        op = transformer.scaled_dot_product_attention_decode
        return Question("SDPA decode", op, (q, k, k), {"cur_pos": positions, **out(draw)})
    if kind == 6:
        users = draw.choice([8, 32])
        a = Spec.of((1, 1, users, 3 * count * size), BF16, T, draw.choice([DRAM, L1]))
        op = experimental.nlp_create_qkv_heads_decode
        config = draw.choice([{}, {"memory_config": ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG}])
        return Question("decode heads", op, (a,), {"num_heads": count, "num_kv_heads": count, **config})
    a = spec((1, count, sequence, size), BF16, T, draw.choice([DRAM, L1]))
    table = Spec.of((1, 1, sequence, size), BF16, T, DRAM)
    return Question("rotary_embedding", experimental.rotary_embedding, (a, table, table), out(draw))


def windows(draw: random.Random) -> Question:
    """Return a convolution, a batch norm, an embedding or a `where`."""
    kind = draw.randint(0, 3)
    if kind == 0:
        channels, features, height = draw.choice([16, 32, 64]), draw.choice([32, 64]), draw.choice([8, 14, 16])
        window = draw.choice([1, 3])
        a = Spec.of((1, 1, height * height, channels), BF16, draw.choice([R, T]), DRAM)
        weights = ttnn.ones((features, channels, window, window), BF16)
        stride = draw.choice([1, 2])
        kwargs: dict[str, Any] = {
            "device": None,
            "in_channels": channels,
            "out_channels": features,
            "batch_size": 1,
            "input_height": height,
            "input_width": height,
            "kernel_size": (window, window),
            "stride": (stride, stride),
            "padding": (window // 2, window // 2),
        }
        if draw.random() < 0.7:
            kwargs["conv_config"] = ttnn.Conv2dConfig(
                weights_dtype=BF16,
                shard_layout=draw.choice(
                    [None, ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.TensorMemoryLayout.BLOCK_SHARDED]
                ),
                act_block_h_override=draw.choice([0, 32, 64]),
                enable_act_double_buffer=draw.choice([True, False]),
            )
        return Question("conv2d", ttnn.conv2d, (a, weights), kwargs)
    if kind == 1:
        channels = draw.choice([3, 32, 64])
        a = tensor(draw, (draw.randint(1, 2), channels, side(draw, 2), side(draw, 2)), BF16, T, draw.choice([DRAM, L1]))
        part = Spec.of((1, channels, 1, 1), BF16, T, DRAM)
        return Question("batch_norm", ttnn.batch_norm, (a,), {"running_mean": part, "running_var": part, **out(draw)})
    if kind == 2:
        ids = Spec.of((draw.randint(1, 2), side(draw, 2)), ttnn.uint32, R, DRAM)
        table = Spec.of((side(draw), side(draw)), BF16, R, DRAM)
        return Question("embedding", ttnn.embedding, (ids, table), {"layout": draw.choice([T, R]), **out(draw)})
    shape = shape_of(draw)
    parts = [tensor(draw, shape, BF16, T, draw.choice([DRAM, L1])) for _ in range(3)]
    return Question("where", ttnn.where, tuple(parts), out(draw))


MAKERS = (product, product, eltwise, eltwise, norm, movement, movement, heads, heads, windows)


def questions(seed: int, count: int) -> Iterator[Question]:
    """Yield random calls."""
    draw = random.Random(seed)
    while count:
        try:
            yield draw.choice(MAKERS)(draw)
        except ttnn.TtnnError:
            continue  # no such specification
        count -= 1


def made(question: Question, device: ttnn.MeshDevice) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call, with tensors of ones."""

    def of(value: Any) -> Any:
        if type(value) is not Spec:
            return value
        host = ttnn.ones(value.shape, value.dtype, value.layout)
        return ttnn.to_device(host, device, value.memory_config)

    args, kwargs = exchanged(question.args, of), exchanged(question.kwargs, of)
    if "device" in kwargs:
        kwargs["device"] = device
    return args, kwargs


def asked(question: Question, device: ttnn.MeshDevice) -> tuple[Any, Any]:
    """Return the answers to a question."""
    kwargs = dict(question.kwargs)
    if "device" in kwargs:
        kwargs["device"] = device
    answers = [
        query(question.op, device, *question.args, **kwargs)
        for query in (graph.query_op_constraints, graph.query_op_runtime)
    ]
    return answers[0], answers[1]


def differences(question: Question, device: ttnn.MeshDevice) -> list[str]:
    """Return in what the answers differ from what the call does."""
    before = device.engine.state_hash()
    answers = asked(question, device)
    found = [] if device.engine.state_hash() == before else ["the device was changed"]
    try:
        args, kwargs = made(question, device)
    except ttnn.TtnnError as error:
        if answers[0].status is graph.ExecutionStatus.Success:
            found.append(f"operands cannot be made ({error}), but the call is answered to succeed")
        return found
    return found + compared(answers, question.op, args, kwargs, device)


def compared(
    answers: tuple[Any, Any], op: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], device: Any
) -> list[str]:
    """Return in what answers differ from what a call does."""
    constraints, runtime = answers
    error = None
    with ttnn.profiler.profile() as profile:
        graph.begin_graph_capture()
        try:
            result = op(*args, **kwargs)
        except ttnn.TtnnError as raised:
            error = str(raised)
        finally:
            nodes = graph.end_graph_capture()
    refused = constraints.status is graph.ExecutionStatus.Error
    if refused != (error is not None):
        return [f"the call {f'raises {error}' if error else 'returns'}, the answer is {constraints.error_message}"]
    if error is not None:
        same = error == constraints.error_message == runtime.error_message
        return [] if same else [f"other errors: {error} | {constraints.error_message}"]
    columns, rows = device.chip["grid"]
    usage, peaks = constraints.resource_usage, graph.extract_resource_usage_per_core(nodes, columns * rows)
    peaks_asked = (usage.cb_peak_size_per_core, usage.l1_buffers_peak_per_core, usage.peak_memory_usage_per_core)
    timed = tuple((row.plan.name, round(row.nanoseconds)) for row in profile.rows)
    known = not profile.missing
    pairs = {
        "results": (tuple(part.spec for part in tensors_in(result)), constraints.output_tensor_specs),
        "peaks": ((peaks.peak_cb, peaks.peak_l1, peaks.peak_total), peaks_asked),
        "operations": (timed if known else (), runtime.device_operations),
        "known": (known, runtime.status is graph.ExecutionStatus.Success),
        "time": (round(sum(row.nanoseconds for row in profile.rows)) if known else 0, runtime.runtime),
    }
    return [f"{name}: is {real}, answered {answer}" for name, (real, answer) in pairs.items() if real != answer]


def main() -> None:
    """Ask, run, compare, and print counts and times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    spent: Counter[str] = Counter()
    differing = 0
    with ttnn.manage_device(device_id=0) as device:
        drawn = list(questions(options.seed, options.count))
        for kind in ("new", "repeated"):
            for question in drawn:
                start = time.process_time_ns()
                constraints, _ = asked(question, device)
                took = time.process_time_ns() - start
                spent[kind] += took
                if kind == "new":
                    spent[question.name] += took
                    counts[question.name] += 1
                    counts[constraints.status.name] += 1
        for question in drawn:
            for difference in differences(question, device):
                differing += 1
                print(f"{question}\n    {difference}")
    total = options.count
    print(f"{total} calls, {counts['Success']} of them run; {differing} differences")
    new, again = spent["new"] / total / 1e6, spent["repeated"] / 2 / total / 1e3
    print(f"a new question {new:.2f} ms, repeated {again:.1f} us each")
    for name, count in counts.most_common():
        if name in spent:
            print(f"{name:20}{count:6} {spent[name] / count / 1e6:8.2f} ms")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
