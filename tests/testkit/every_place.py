"""Products of operators, types, layouts, shapes, memory configs.

With the expected result of each case.

A result on interleaved tensors in DRAM lies within the entry's bound of its reference. With operands elsewhere,
and with the result elsewhere, every bit of it is the same, or the call is refused with an error of ours. The
program of a matrix product depends on the places, and its order of additions with it: its residual is bounded in each.

`python tests/testkit every_place` runs the whole product and prints the counts; test_every_place.py runs a sample.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import ttnn
from testkit import complex_calls, gradient_calls
from testkit.eltwise_calls import Operand
from testkit.operands import (
    BLOCK_FLOAT_STEP,
    INTEGERS,
    MANTISSA_BITS,
    assert_within,
    make,
    make_operand,
    values_of,
    wrapped,
)
from testkit.reference_calls import (
    MATMULS,
    TENSORS,
    applies,
    callable_of,
    calls,
    compare,
    fitting,
    largest_integer,
    plain_values,
    split_keywords,
    takes_integers,
)
from ttnn.base.exceptions import DeviceError, EngineBugError, MemoryConfigError, TtnnError
from ttnn.operation import registry
from ttnn.operation.signature import TENSOR

SHAPES: list[tuple[int, ...]] = [
    *((), (1,), (70,)),
    *((1, 1), (33, 65), (1, 200), (200, 1), (5, 300), (96, 160)),
    *((2, 3, 5, 31), (3, 1, 40, 32), (1, 1, 64, 128), (2, 0, 5), (2, 40, 96)),
]
INTERLEAVED = "interleaved DRAM"
ORDERS = {"rows": ttnn.ShardOrientation.ROW_MAJOR, "columns": ttnn.ShardOrientation.COL_MAJOR}
PLACES = ["interleaved L1"] + [f"{cut} by {order}" for cut in ("height", "width", "block") for order in ORDERS]
BLOCK_FLOATS = (ttnn.bfloat8_b, ttnn.bfloat4_b)
# Without work to do they return their operand, wherever it lives.
RETURN_WHAT_THEY_GET = ("sharded_to_interleaved", "tilize_with_zero_padding", "to_layout")
# Products of many factors, whose tests say how far off they are.
ROUND_OFTEN = ("prod", "prod_bw")
LOWEST_FIDELITY = 2.0**-5
"""One LoFi product ULP, relative to the product."""
# The first core of shards, so that a core's number is not that of its shard, and how many there are each way.
FIRST, ACROSS, DOWN = (1, 2), 3, 2


def place(name: str, shape: tuple[int, ...], layout: ttnn.Layout) -> ttnn.MemoryConfig:
    """Return a tensor's memory configuration, allowing partial last shards."""
    if name == INTERLEAVED:
        return ttnn.DRAM_MEMORY_CONFIG
    if name == "interleaved L1":
        return ttnn.L1_MEMORY_CONFIG
    cut, order = name.split(" by ")
    unit = 32 if layout is ttnn.TILE_LAYOUT else 1
    *leading, height, width = (1, 1, *shape)[-max(2, len(shape)) :]
    rows, columns = math.prod(leading) * -(-height // unit), -(-width // unit)
    across, down = {"height": (1, ACROSS * DOWN), "width": (ACROSS * DOWN, 1), "block": (ACROSS, DOWN)}[cut]
    shard = (max(1, -(-rows // down)) * unit, max(1, -(-columns // across)) * unit)
    x, y = (DOWN, ACROSS) if cut == "block" and order == "columns" else (ACROSS, DOWN)
    cores = ttnn.CoreRange(FIRST, (FIRST[0] + x - 1, FIRST[1] + y - 1))
    return ttnn.MemoryConfig(
        ttnn.TensorMemoryLayout[f"{cut.upper()}_SHARDED"],
        ttnn.BufferType.L1,
        ttnn.ShardSpec(ttnn.CoreRangeSet([cores]), shard, ORDERS[order]),
    )


ADD_SHARDS = {
    *(f"{norm}{part}" for norm in ("layer_norm", "rms_norm") for part in ("", "_pre_all_gather", "_post_all_gather")),
    "experimental.dit_rms_norm_unary_fused",
    *("conv1d", "conv2d", "conv_transpose2d"),
}
"""Operators whose order of additions follows the shards."""


@dataclass(frozen=True)
class Slot:
    """A tensor argument: shape, and constructor by memory config."""

    shape: tuple[int, ...]
    build: Callable[[ttnn.MemoryConfig], Any]


@dataclass(frozen=True)
class Call:
    """Operator arguments with tensor slots, and a reference comparison.

    Args:
        positional: Values, and slots.
        keywords: Names and values.
        check: Called with the operands' values, the result, and keyword arguments that are tensors.
        order_varies: Whether the places decide the order in which a result is added up.
    """

    positional: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...] = ()
    check: Callable[..., None] | None = None
    order_varies: bool = False


@dataclass(frozen=True)
class Case:
    """One combination that has calls."""

    entry: registry.Op
    dtype: ttnn.DataType
    layout: ttnn.Layout
    shape: tuple[int, ...]

    def __str__(self) -> str:
        shape = "x".join(map(str, self.shape)) or "scalar"
        return f"{self.entry.name}-{self.dtype.name}-{self.layout.name}-{shape}"


def combinations() -> list[tuple[registry.Op, ttnn.DataType, ttnn.Layout]]:
    """Return tensor operators with their entries' types and layouts.

    8-bit floats have no arithmetic: operators that take them make tensors of given bytes.
    """
    return [
        (entry, dtype, layout)
        for entry in registry.entries()
        if any(
            param.kind.text in ("ttnn.Tensor", "ttnn.ComplexTensor", TENSORS)
            for param in entry.signatures[0].positional
        )
        for dtype in entry.dtypes
        for layout in entry.layouts
        if not (dtype in BLOCK_FLOATS and layout is ttnn.ROW_MAJOR_LAYOUT) and dtype is not ttnn.fp8_e4m3
        if not (dtype in entry.only_rows and layout is ttnn.TILE_LAYOUT)
    ]


def calls_of(case: Case, device: ttnn.MeshDevice) -> Iterator[Call]:
    """Yield the calls of a case."""
    if case.entry.family == "complex":
        yield from _complex(case, device)
    elif case.entry.name == "embedding_bw":
        yield from _embedding(case, device)
    elif case.entry.family == "backward":
        yield from _gradients(case, device)
    elif case.entry.name in MATMULS:
        yield from _products(case, device)
    else:
        yield from _others(case, device)


def _slot(case: Case, device: ttnn.MeshDevice, item: Operand) -> Slot:
    entry = case.entry
    limit = 1000 if entry.name in ("gcd", "lcm", "outer") else largest_integer(entry)
    build = partial(make_operand, item, case.dtype, case.layout, device)
    return Slot(item.shape, lambda config: build(memory_config=config, fit=fitting(entry), limit=limit))


def _others(case: Case, device: ttnn.MeshDevice) -> Iterator[Call]:
    entry, shape = case.entry, case.shape
    bounded = entry.golden is not None and entry.name not in ROUND_OFTEN
    bounded = bounded and applies(entry, case.dtype, case.layout) and not _pads_badly(case)
    # The power of two is rounded to three bits of mantissa, beside larger ones.
    bounded = bounded and not (entry.name == "ldexp" and case.dtype is ttnn.bfloat4_b)
    # Sums along a leading dimension are block floats: small ones beside large ones are 0, their reciprocals infinite.
    bounded = bounded and not (entry.name == "moreh_softmin" and case.dtype in BLOCK_FLOATS)
    found = SPECIAL[entry.name](case) if entry.name in SPECIAL else calls(entry, shape, case.layout)
    for example in found:
        arguments, keywords = split_keywords(example)
        keywords = {k: _slot(case, device, v) if isinstance(v, Operand) else v for k, v in keywords.items()}
        if case.dtype in INTEGERS and arguments and not takes_integers(entry, arguments):
            continue
        slots = [_slot(case, device, a) if isinstance(a, Operand) else a for a in arguments]

        numbers = {name: value for name, value in keywords.items() if not isinstance(value, Slot)}

        def check(values: list[Any], result: Any, numbers: dict[str, Any] = numbers, **tensors: Any) -> None:
            compare(entry, result, values[0], values[1:], **numbers, **tensors)

        first = _slot(case, device, Operand(shape, 0))
        yield Call((first, *slots), tuple(keywords.items()), check if bounded else None, entry.name in ADD_SHARDS)


def _pads_badly(case: Case) -> bool:
    """Return True if padding affects block floats' shared exponent.

    No bound holds then.
    """
    sides = (1, 1, *case.shape)[-2:]
    infinite = case.entry.domain is not None or case.entry.name in ("max", "min")
    return case.dtype in BLOCK_FLOATS and infinite and any(side % 32 for side in sides)


def _shards_of(case: Case) -> Iterator[tuple[Any, ...]]:
    for name in PLACES[1:]:
        yield (place(name, case.shape, case.layout),)


# Operators that the generated tests of test_registry.py leave to others: their arguments after the first tensor.
SPECIAL: dict[str, Callable[[Case], Iterator[tuple[Any, ...]]]] = {
    "assign": lambda case: iter([(Operand(case.shape),)]),
    "bitcast": lambda case: iter([(ttnn.uint16 if case.dtype in (ttnn.bfloat16, ttnn.uint16) else ttnn.uint32,)]),
    "empty_like": lambda case: iter(()),
    "gcd": lambda case: iter([(Operand(case.shape),), (Operand((1, *case.shape[-1:])),)]),
    "lcm": lambda case: iter([(Operand(case.shape),), (Operand((1, *case.shape[-1:])),)]),
    "interleaved_to_sharded": _shards_of,
    "outer": lambda case: iter([(Operand((5, 40)),)] if len(case.shape) in (1, 2) else []),
    "prod": lambda case: iter([(), (-1,)] if case.shape else [()]),
    "reshard": _shards_of,
    "untilize_with_unpadding": lambda case: iter([([max(size // 2, 1) - 1 for size in case.shape],)]),
}


def _residual(values: list[Any], result: ttnn.Tensor) -> None:
    """Bound the residual of a product at the lowest fidelity.

    Plus a third operand before the two if there is one.
    """
    *added, a, b = values
    exact = a @ b + sum(added)
    largest_sum = np.max(np.abs(a)) * np.max(np.abs(b)) * a.shape[-1]
    rounding = np.max(np.abs(exact)) * BLOCK_FLOAT_STEP.get(result.dtype, 2.0**-8)
    assert np.max(np.abs(values_of(result) - exact)) <= largest_sum * LOWEST_FIDELITY + rounding


def _products(case: Case, device: ttnn.MeshDevice) -> Iterator[Call]:
    shape = case.shape
    if len(shape) < 2 or 0 in shape:
        return
    right = (shape[-1], 48)
    operands = [[shape, right]] + ([[shape, (*shape[:2], *right)]] if len(shape) == 4 else [])
    if case.entry.name == "addmm":
        operands = [[(shape[0], 48), shape, right]] if len(shape) == 2 else []
    for sizes in operands:
        slots = tuple(_slot(case, device, Operand(size, i)) for i, size in enumerate(sizes))
        yield Call(slots, (), _residual, order_varies=True)


DIVIDE_ANEW = ("global_avg_pool2d", "max", "mean", "min", "reshape", "reshape_on_device", "std", "sum", "var")
"""Operators that divide the result evenly over requested cores.

They read kind and cores of requested shards.

`global_avg_pool2d` reads the buffer type only.
"""


def _gradients(case: Case, device: ttnn.MeshDevice) -> Iterator[Call]:
    entry, shape, dtype = case.entry, case.shape, case.dtype
    if entry.name in ("concat_bw", "repeat_bw") and len(shape) != 4:
        return
    whole = {"concat_bw": (2 * shape[0], *shape[1:]), "repeat_bw": (3, *shape[1:])} if shape else {}
    if entry.name == "repeat_bw" and shape[0] != 1:
        return
    for call in gradient_calls.calls(entry):
        numbers = [*call.arguments, *(value for _, value in call.keywords)]
        if dtype in INTEGERS and any(isinstance(item, float) and item != int(item) for item in numbers):
            continue
        slots = []
        for index, item in enumerate((TENSOR, *call.arguments)):
            size = whole.get(entry.name, shape) if index == 0 else shape
            build = partial(gradient_calls.operand, entry, index, size, dtype, case.layout, device)
            slots.append(Slot(size, build) if item is TENSOR else item)
        keywords = dict(call.keywords)

        def check(values: list[Any], results: Any, keywords: dict[str, Any] = keywords) -> None:
            assert entry.golden is not None
            references = entry.golden(*values, **keywords)
            measure = None if entry.accuracy is None else entry.accuracy.magnitude
            magnitude = None if measure is None else np.asarray(measure(*values, **keywords))
            for result, reference in zip(results, references, strict=True):
                bound = None if entry.accuracy is None else entry.accuracy.bound(result.dtype, result.device().arch())
                if result.dtype in INTEGERS:
                    reference = wrapped(reference, result.dtype)
                assert_within(reference, result, bound or 0.0, magnitude)

        # Padding would take part in the exponent that values share.
        bounded = dtype not in BLOCK_FLOATS or not any(side % 32 for side in (1, 1, *shape)[-2:])
        bounded = bounded and entry.name not in ROUND_OFTEN
        yield Call(tuple(slots), call.keywords, check if bounded else None)


def _embedding(case: Case, device: ttnn.MeshDevice) -> Iterator[Call]:
    if case.shape != (1, 1, 64, 128):
        return

    def indices(config: ttnn.MemoryConfig) -> ttnn.Tensor:
        values = np.random.default_rng(3).integers(0, 40, (1, 64)).astype(np.uint32)
        return ttnn.Tensor(values, ttnn.uint32, None, ttnn.ROW_MAJOR_LAYOUT).to(device, config)

    weights = Slot((40, 128), lambda config: make((40, 128), case.dtype, case.layout, device, 1, config))
    grad = Slot(case.shape, lambda config: make(case.shape, case.dtype, ttnn.TILE_LAYOUT, device, 2, config))
    yield Call((Slot((1, 64), indices), weights, grad))


def _complex(case: Case, device: ttnn.MeshDevice) -> Iterator[Call]:
    name, shape, dtype = case.entry.name, case.shape, case.dtype

    def part(config: ttnn.MemoryConfig, seed: int) -> ttnn.Tensor:
        return make(shape, dtype, case.layout, device, seed, config, complex_calls.away_from_zero)

    def number(config: ttnn.MemoryConfig, seed: int) -> ttnn.ComplexTensor:
        return ttnn.complex_tensor(part(config, seed), part(config, seed + 100))

    def of(kind: Callable[..., Any], seed: int) -> Slot:
        return Slot(shape, lambda config: kind(config, seed))

    if name == "complex_tensor":
        yield Call((of(part, 1), of(part, 2)))
        return
    if name in complex_calls.ONE:
        golden, exact = complex_calls.ONE[name]
        slots = [of(number, 1)]
    else:
        golden, is_complex = complex_calls.GRADIENTS[name]
        slots, exact = [of(number if is_complex else part, 2), of(number, 1)], False

    def check(values: list[Any], result: Any) -> None:
        results, references = (result, golden(*values)) if isinstance(result, list) else ([result], [golden(*values)])
        for one, reference in zip(results, references, strict=True):
            complex_calls.close(one, reference, dtype, exact)

    bounded = dtype in MANTISSA_BITS
    yield Call(tuple(slots), (("memory_config", ttnn.DRAM_MEMORY_CONFIG),), check if bounded else None)


def described(result: Any) -> Any:
    """Return everything of a result but its place."""
    if isinstance(result, list | tuple):
        return [described(item) for item in result]
    if isinstance(result, ttnn.ComplexTensor):
        return [described(result.real), described(result.imag)]
    if not isinstance(result, ttnn.Tensor):
        return result
    values = np.ascontiguousarray(result.to_numpy())
    return (result.dtype.name, result.layout.name, tuple(result.shape), values.tobytes())


def _plain(value: Any) -> Any:
    return complex_calls.value_of(value) if isinstance(value, ttnn.Tensor | ttnn.ComplexTensor) else value


class Failure(AssertionError):
    """A case with an unexpected result."""


def _takes_place(entry: registry.Op) -> bool:
    params = [param for signature in entry.signatures for param in signature.params]
    return any(param.name == "memory_config" and not param.doc.startswith("Ignored") for param in params)


class Runner:
    """Outcomes of one call in different memory configs."""

    def __init__(self, case: Case, call: Call, counts: Counter[str]) -> None:
        self.case = case
        self.call = call
        self.counts = counts
        self.operation = callable_of(case.entry)

    def operands(self, where: str, others: str) -> list[Any] | None:
        """Return arguments with the first tensor's memory config differing.

        None if one cannot live there, as rows cannot be cut.
        """
        layout, slots = self.case.layout, [item for item in self.call.positional if isinstance(item, Slot)]
        try:
            return [
                item.build(place(where if item is slots[0] else others, item.shape, layout))
                if isinstance(item, Slot)
                else item
                for item in self.call.positional
            ]
        except MemoryConfigError:
            self.counts["no such place"] += 1
            return None

    def result(self, what: str, where: str, others: str = "", **options: Any) -> Any:
        """Return the result by memory config; None if refused.

        With all operands in one, or with the others elsewhere.

        It is held to its bounds if places decide its bits.

        Raises:
            Failure: an exception that is not ours, or a result that lies beyond its bounds.
        """
        operands = self.operands(where, others or where)
        if operands is None:
            return None
        before = [_plain(item) for item in operands] if self.call.check is not None else []
        keywords = {
            name: value.build(ttnn.DRAM_MEMORY_CONFIG) if isinstance(value, Slot) else value
            for name, value in self.call.keywords
        }
        tensors = {name: keywords[name] for name, value in self.call.keywords if isinstance(value, Slot)}
        given = plain_values(tensors)
        try:
            found = self.operation(*operands, **keywords | options)
        except (EngineBugError, DeviceError) as error:
            raise Failure(f"{self.case}, {what}: {error!r}") from None
        except TtnnError as error:
            self.counts["refused"] += 1
            text = str(error).splitlines()[0][:150]
            self.counts[f"  {self.case.entry.name}, {what}: {type(error).__name__}: {text}"] += 1
            return None
        except Exception as error:
            raise Failure(f"{self.case}, {what}: {error!r}") from error
        if self.call.check is not None and (what == INTERLEAVED or self.call.order_varies):
            try:
                self.call.check(before, found, **given)
            except AssertionError as error:
                raise Failure(f"{self.case}, {what}: {error}") from error
            self.counts["within the bound of the reference"] += 1
        return found

    def same(self, what: str, expected: Any, found: Any) -> None:
        """Compare a result with the one on interleaved tensors in DRAM.

        Raises:
            Failure: they differ.
        """
        if found is None or self.call.order_varies:
            return
        if expected is None:
            self.counts["only there"] += 1
        elif described(found) != described(expected):
            raise Failure(f"{self.case}, {what}: not the bits of the result on interleaved tensors in DRAM")
        else:
            self.counts["the same bits"] += 1

    def run(self, places: list[str]) -> None:
        """Compare the results in some places.

        Raises:
            Failure: a result that is not what it must be, or an exception that is not ours.
        """
        expected = self.result(INTERLEAVED, INTERLEAVED)
        for where in places:
            self.same(f"operands {where}", expected, self.result(f"operands {where}", where))
            if sum(isinstance(item, Slot) for item in self.call.positional) > 1:
                what = f"first operand {where}"
                self.same(what, expected, self.result(what, where, INTERLEAVED))
            if isinstance(expected, ttnn.Tensor) and _takes_place(self.case.entry):
                config = place(where, tuple(expected.shape), expected.layout)
                what = f"result {where}"
                there = self.result(what, INTERLEAVED, memory_config=config)
                self.same(what, expected, there)
                if there is None or self.call.order_varies or self._stays(expected):
                    continue
                if self.case.entry.name in DIVIDE_ANEW:
                    interleaved = self.case.entry.name == "global_avg_pool2d" or not config.is_sharded()
                    if there.memory_config().is_sharded() == interleaved:
                        raise Failure(f"{self.case}, {what}: it lives in {there.memory_config()}")
                    continue
                if there.memory_config() != config:
                    raise Failure(f"{self.case}, {what}: it lives in {there.memory_config()}")

    def _stays(self, result: ttnn.Tensor) -> bool:
        """Return True if the result always keeps the operand's memory config."""
        case = self.case
        if case.entry.name == "pad":
            # Within the tiles of the operand there is only padding to fill.
            tiled = case.layout is ttnn.TILE_LAYOUT
            return tiled and ttnn.TensorSpec(case.shape, case.dtype, case.layout).num_pages == result.spec.num_pages
        return case.entry.name in RETURN_WHAT_THEY_GET


def sample(what: str, count: int, items: list[Any]) -> list[Any]:
    """Return a few of the items, the same ones in every run."""
    generator = np.random.default_rng(zlib.crc32(what.encode()))
    return [items[i] for i in sorted(generator.choice(len(items), min(count, len(items)), replace=False))]


def _failure_of(case: Case, call: Call, places: list[str], counts: Counter[str]) -> list[str]:
    try:
        Runner(case, call, counts).run(places)
    except Failure as failure:
        return [str(failure)]
    except Exception as error:
        return [f"{case}: {error!r}"]
    return []


def failures_of(case: Case, places: int, counts: Counter[str]) -> list[str]:
    """Run a case in many memory configs; return what is wrong."""
    found = []
    chip = "p150" if case.entry.only_on is ttnn.Arch.BLACKHOLE else "n150"
    with ttnn.manage_device(device_id=0, chip=chip) as device:
        for number, call in enumerate(calls_of(case, device)):
            found += _failure_of(case, call, sample(f"{case} {number}", places, PLACES), counts)
            if found:  # a bug of the engine stops the device
                break
    return found


def _of_one_operator(name: str) -> tuple[Counter[str], list[str]]:
    """Run an operator's cases, each on its own device."""
    counts: Counter[str] = Counter()
    failures: list[str] = []
    for entry, dtype, layout in combinations():
        for shape in SHAPES if entry.name == name else []:
            failures += failures_of(Case(entry, dtype, layout, shape), len(PLACES), counts)
    return counts, failures


def main() -> int:
    """Run the product, print how many cases ended how, and every failure."""
    parser = argparse.ArgumentParser(description="every operator x data type x layout x shape x place")
    parser.add_argument("operators", nargs="*", help="names, all if none is given")
    parser.add_argument("--refusals", action="store_true", help="print every error that refused a case")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    arguments = parser.parse_args()
    names = list(dict.fromkeys(entry.name for entry, _, _ in combinations()))
    chosen = [name for name in names if name in (arguments.operators or names)]
    counts: Counter[str] = Counter()
    failures: list[str] = []
    start = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(arguments.jobs) as pool:
        for number, (ends, wrong) in enumerate(pool.imap_unordered(_of_one_operator, chosen), 1):
            counts.update(ends)
            failures += wrong
            if sys.stderr.isatty():
                print(f"\r{number} of {len(chosen)} operators", end="", file=sys.stderr)
    for what, count in sorted(counts.items()):
        if arguments.refusals or not what.startswith("  "):
            print(f"{what}: {count:,}")
    print("\n".join(sorted(failures)))
    print(f"{len(chosen)} operators, {len(SHAPES)} shapes, {len(PLACES) + 1} places: {len(failures)} failures, "
          f"{time.perf_counter() - start:.0f} s")  # fmt: skip
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
