"""Random operator calls, mostly invalid, with expected outcomes.

An operator answers with a result of the form that its arguments say, or with an error of ours; in either case nothing
stays on the device. Values are the business of other tests.

`python tests/testkit random_arguments --calls 100000 --seed 7` runs more than the sample of the test.
"""

from __future__ import annotations

import argparse
import enum
import gc
import math
import random
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import ttnn
from ttnn.base.exceptions import EngineBugError, TtnnError
from ttnn.operation import registry
from ttnn.operation.signature import REQUIRED, Param, Signature

WORDS = {ttnn.int32: np.int32, ttnn.uint32: np.uint32, ttnn.uint16: np.uint16, ttnn.uint8: np.uint8}
BLOCK_FLOATS = (ttnn.bfloat8_b, ttnn.bfloat4_b)
DTYPES = [ttnn.bfloat16] * 4 + [ttnn.float32] * 3 + [ttnn.bfloat8_b] * 2 + [ttnn.bfloat4_b, *WORDS, ttnn.int32]
SIZES = (0, 1, 1, 2, 3, 5, 31, 32, 33, 64)
LARGEST = 40_000
SHAPES: tuple[tuple[int, ...], ...] = (
    *((), (1,), (7,), (32,), (0,)),
    *((1, 1), (1, 33), (33, 1), (32, 32), (5, 0), (64, 96)),
    *((2, 1, 5, 7), (1, 1, 64, 64), (2, 3, 33, 31), (1, 2, 1, 1, 35), (2, 2, 2, 2, 2, 2)),
)
NUMBERS = (
    *(0, 1, 2, -1, 3, 20, 256, 65535, 2**31, 2**32 - 1, 2**32, -(2**31), 2**70, 10**400, True),
    *(0.5, -0.3, 1.5, 2.0, -2.5, -0.0, 1e300, 1e-300, 1e-40, math.inf, -math.inf, math.nan),
    *(np.float32(0.5), np.int32(3)),
)
STRINGS = ("none", "tanh", "relu", "floor", "trunc", "gelu", "", "RELU", "nonsense")
LAYOUTS = (ttnn.TILE_LAYOUT, ttnn.TILE_LAYOUT, ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT)
CUTS = [f"{cut}_SHARDED" for cut in ("HEIGHT", "WIDTH", "BLOCK")]
# They make tensors of any size that is asked for.
CREATE = frozenset({"arange", "empty", "full", "moreh_arange", "ones", "zeros"})
# The shape of the result is another one: a half of the operand, a single value.
OTHER_SHAPE = frozenset({"geglu", "glu", "l1_loss", "mse_loss", "reglu", "swiglu"})


@dataclass
class Generator:
    """Random arguments for calls on one device."""

    random: random.Random
    device: ttnn.MeshDevice

    def shape(self) -> tuple[int, ...]:
        if self.random.random() < 0.15:
            shape = tuple(self.random.choice(SIZES) for _ in range(self.random.randint(0, 5)))
            return shape if math.prod(shape) <= LARGEST else shape[:2]
        return self.random.choice(SHAPES)

    def cores(self, most: int) -> ttnn.CoreRange:
        x, y = self.random.randint(0, most), self.random.randint(0, most)
        return ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(x, y))

    def place(self, shape: tuple[int, ...], layout: ttnn.Layout) -> ttnn.MemoryConfig:
        """Return a memory configuration, of shards that may fit the shape."""
        kind = self.random.random()
        if kind < 0.65:
            return ttnn.DRAM_MEMORY_CONFIG if kind < 0.5 else ttnn.L1_MEMORY_CONFIG
        unit = 32 if layout is ttnn.TILE_LAYOUT else 1
        *leading, height, width = (1, 1, *shape)[-max(2, len(shape)) :]
        rows, columns = math.prod(leading) * -(-height // unit), -(-width // unit)
        cores, cut = self.cores(3), self.random.choice(CUTS)
        x, y = cores.end.x + 1, cores.end.y + 1
        down, across = {"HEIGHT_SHARDED": (x * y, 1), "WIDTH_SHARDED": (1, x * y), "BLOCK_SHARDED": (y, x)}[cut]
        shard = [max(1, -(-rows // down)) * unit, max(1, -(-columns // across)) * unit]
        spec = ttnn.ShardSpec(ttnn.CoreRangeSet([cores]), shard, self.random.choice(list(ttnn.ShardOrientation)))
        return ttnn.MemoryConfig(ttnn.TensorMemoryLayout[cut], ttnn.BufferType.L1, spec)

    def tensor(self, shape: tuple[int, ...] | None = None, dtype: ttnn.DataType | None = None) -> ttnn.Tensor:
        """Return a tensor, rarely one on the host or a deallocated one."""
        shape = self.shape() if shape is None else shape
        dtype = dtype or self.random.choice(DTYPES)
        layout = ttnn.TILE_LAYOUT if dtype in BLOCK_FLOATS else self.random.choice(LAYOUTS)
        numbers = np.random.default_rng(self.random.randrange(2**32))
        values = numbers.normal(size=shape) * 10.0 ** self.random.randint(-3, 5)
        if dtype in WORDS:
            values = np.abs(values).astype(WORDS[dtype])
        host = ttnn.Tensor(values if dtype in WORDS else values.astype(np.float32), dtype, None, layout)
        fate = self.random.random()
        if fate < 0.03:
            return host
        try:
            tensor = host.to(self.device, self.place(shape, layout))
        except TtnnError:  # shards that do not fit
            tensor = host.to(self.device)
        if fate > 0.99:
            tensor.deallocate()
        return tensor

    def further_tensor(self, first: ttnn.Tensor | None) -> ttnn.Tensor:
        """Return an operand that often goes with the first one."""
        if first is None or self.random.random() < 0.15:
            return self.tensor()
        if self.random.random() < 0.07:
            return first
        shape = tuple(first.shape)
        if self.random.random() < 0.4:
            shape = tuple(1 if self.random.random() < 0.35 else size for size in shape)
            shape = shape[self.random.randrange(len(shape)) if shape and self.random.random() < 0.3 else 0 :]
        return self.tensor(shape, first.dtype if self.random.random() < 0.75 else None)

    def activation(self) -> Any:
        op_type = self.random.choice(list(ttnn.UnaryOpType))
        numbers = [self.random.choice((0.0, 1.0, 0.5, -1.0, 2, math.inf)) for _ in range(self.random.randint(0, 2))]
        return self.random.choice((op_type, (op_type, 0.5), ttnn.UnaryWithParam(op_type, *numbers)))

    def compute_config(self) -> Any:
        flags = ("math_approx_mode", "fp32_dest_acc_en", "packer_l1_acc", "dst_full_sync_en")
        return ttnn.WormholeComputeKernelConfig(
            math_fidelity=self.random.choice(list(ttnn.MathFidelity)),
            **{flag: self.random.random() < 0.5 for flag in flags},
        )

    def value(self, param: Param, first: ttnn.Tensor | None) -> Any:
        """Return an argument for a parameter."""
        kind, choose = param.kind.text, self.random.choice
        shape = self.shape() if first is None else tuple(first.shape)
        numbers = [choose((0, 1, 2, 3, 32, -1, -2, *shape)) for _ in range(self.random.randint(0, 5))]
        made: dict[str, Callable[[], Any]] = {
            "ttnn.Tensor": lambda: self.further_tensor(first),
            "ttnn.ComplexTensor": lambda: ttnn.complex_tensor(self.tensor(shape), self.tensor(shape)),
            "int": lambda: choose((0, 1, 2, -1, -2, 3, 31, 100, 2**31, 2**40, -(2**63), 2**70)),
            "bool": lambda: choose((True, False)),
            "ttnn.DataType": lambda: choose(DTYPES),
            "ttnn.Layout": lambda: choose(LAYOUTS),
            "ttnn.MemoryConfig": lambda: self.place(shape, choose(LAYOUTS)),
            "ttnn.CoreRangeSet": lambda: ttnn.CoreRangeSet([self.cores(9)]),
            "ttnn.CoreGrid": lambda: ttnn.CoreGrid(y=self.random.randint(0, 9), x=self.random.randint(1, 9)),
            "ttnn.WormholeComputeKernelConfig": self.compute_config,
            "ttnn._ttnn.multi_device.MeshDevice": lambda: self.device,
            "ttnn.Tile": lambda: ttnn.Tile(choose(((32, 32), (16, 32), (16, 16)))),
            "collections.abc.Sequence[bool]": lambda: [choose((True, False)) for _ in numbers],
            "collections.abc.Sequence[float]": lambda: [choose(NUMBERS) for _ in numbers],
            "collections.abc.Sequence[int]": lambda: numbers,
            "ttnn.Shape": lambda: numbers,
            "int | collections.abc.Sequence[int]": lambda: choose((numbers, choose((0, -1, -2, 1, 7)))),
            "collections.abc.Sequence[ttnn.EltwiseUnaryWithParam]": lambda: [self.activation() for _ in numbers[:2]],
            "str": lambda: choose(STRINGS),
            "str | ttnn.UnaryWithParam": lambda: choose((*STRINGS, ttnn.UnaryWithParam(ttnn.UnaryOpType.EXP, 0.0))),
        }
        if kind in made:
            return made[kind]()
        if isinstance(param.default, enum.Enum):
            return choose(list(type(param.default)))
        return choose(NUMBERS)

    def arguments(self, signature: Signature) -> dict[str, Any]:
        """Return a call's arguments: required, and some optional."""
        found: dict[str, Any] = {}
        first: ttnn.Tensor | None = None
        for param in signature.params:
            if param.default is not REQUIRED and self.random.random() < 0.75:
                continue
            value = self.value(param, first)
            if is_output(param.name) and first is not None and self.random.random() < 0.5:
                value = self.tensor(tuple(first.shape), first.dtype)
            if first is None and isinstance(value, ttnn.Tensor):
                first = value
            found[param.name] = value
        return found


def is_output(name: str) -> bool:
    return name in registry.OUTPUT_TENSOR_NAMES or name in registry.GRADIENT_NAMES


def check(entry: registry.Op, arguments: dict[str, Any], result: Any) -> None:
    """Compare the form of an element-wise operator's result with the arguments."""
    operands = [v for k, v in arguments.items() if isinstance(v, ttnn.Tensor) and not is_output(k)]
    if entry.family not in ("unary", "binary", "ternary") or not isinstance(result, ttnn.Tensor) or not operands:
        return
    if entry.name not in OTHER_SHAPE:
        assert tuple(result.shape) == np.broadcast_shapes(*(tuple(operand.shape) for operand in operands))
    outputs = [v for k, v in arguments.items() if is_output(k) and v is not None]
    assert all(result is output for output in outputs)
    assert arguments.get("dtype", result.dtype) in (None, result.dtype)
    if "memory_config" in arguments and not outputs:
        assert result.memory_config() == arguments["memory_config"]


def run_one(seed: int, device: ttnn.MeshDevice) -> str:
    """Run a seed's call; return "result" or the error class.

    Raises:
        AssertionError: the result does not have the form that it should have, or the engine broke.
    """
    entries = [entry for entry in registry.entries() if entry.name not in CREATE]
    generator = Generator(random.Random(seed), device)
    entry = generator.random.choice(entries)
    try:
        arguments = generator.arguments(generator.random.choice(entry.signatures))
        operation: Any = ttnn
        for part in entry.name.split("."):
            operation = getattr(operation, part)
        result = operation(**arguments)
    except Exception as error:
        if isinstance(error, TtnnError) and not isinstance(error, EngineBugError):
            return type(error).__name__
        raise AssertionError(f"seed {seed}: ttnn.{entry.name}: {type(error).__name__}: {error}") from error
    try:
        check(entry, arguments, result)
    except (AssertionError, ValueError) as error:
        raise AssertionError(f"seed {seed}: ttnn.{entry.name}({arguments}) gives {result}") from error
    return "result"


def allocated(device: ttnn.MeshDevice) -> int:
    gc.collect()
    kinds = (ttnn.BufferType.DRAM, ttnn.BufferType.L1)
    return sum(ttnn.get_memory_view(device, kind).total_bytes_allocated_per_bank for kind in kinds)


def main() -> int:
    """Run calls and print how they ended."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first call")
    options = parser.parse_args()
    device = ttnn.open_device(device_id=0)
    ends = Counter(run_one(options.seed + i, device) for i in range(options.calls))
    sys.stdout.write(f"{options.calls} calls: {dict(ends.most_common())}; {allocated(device)} bytes left\n")
    return 0 if allocated(device) == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
