"""`ttnn-collect-perf-metrics`: sheet of computation, movement, and least time.

Of a program.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ttnn.base.files import make_folder, write_atomically
from ttnn.compiler.dialects.attributes import SystemDescAttr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.ttcore.system_desc import SystemDesc
from ttnn.compiler.dialects.ttcore.system_desc_attribute import from_attribute
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import LOCAL, attribute_text
from ttnn.compiler.ir.xdsl_adapter import (
    BlockArgument,
    DictionaryAttr,
    FuncOp,
    NameLoc,
    Operation,
    SSAValue,
    TensorType,
)
from ttnn.compiler.transforms.base import owner_of, table_ops
from ttnn.compiler.transforms.constant_paths import argument_type
from ttnn.compiler.transforms.ttnn.const_eval_hoist import function_kind
from ttnn.compiler.transforms.ttnn.layout.chip import mesh_shape
from ttnn.compiler.transforms.ttnn.layout.layouts import layout_of
from ttnn.compiler.transforms.ttnn.layout.types import SHARDED

__all__ = ["run"]

_CYCLES: Final = {"lofi": 16, "hifi2": 32, "hifi3": 48, "hifi4": 64}
"""Cycles of a product of two tiles by math fidelity."""
#: Bytes per second of DRAM and clock of the cores in Hz.
_LIMITS: Final = {"wormhole_b0": (288 * 10**9, 10**9), "blackhole": (512 * 10**9, 1350 * 10**6)}
_ASSUMED: Final = "hifi2"
_UTILIZATION: Final = 0.7
_TILE: Final = 32
_PRODUCTS: Final = frozenset({"ttnn.matmul", "ttnn.linear"})


def run(module: Module, options: dict[str, Any]) -> None:
    """Write the sheet as JSON.

    Raises:
        CompileError: The module has not exactly one program, no descriptor, or a chip whose limits are not known.
        OSError: The file cannot be written.
    """
    programs = [one for one in module.functions() if function_kind(one) == "forward_device" and not _private(one)]
    if len(programs) != 1:
        raise _error(
            module,
            f"expected exactly one outer forward-device function for perf target estimate; got {len(programs)}.",
        )
    desc = _system(module)
    if desc is None:
        raise _error(module, "no ttcore.system_desc on the module; cannot compute perf target estimate.")
    chip = desc.chips[0]
    if chip.arch not in _LIMITS:
        raise _error(module, f"perf target estimate not calibrated for arch '{chip.arch}'.")
    traced = options["ttnn-enable-trace"]
    functions = [
        one for one in module.functions() if function_kind(one) == ("trace_main" if traced else "forward_device")
    ]
    program = functions[0] if traced and functions else programs[0]
    hardware = _Hardware(chip.arch, len(desc.chips), math.prod(chip.grid))
    verbose = options["ttnn-perf-metrics-verbose-output-enabled"]
    sheet: dict[str, Any] = {}
    details, counts = _summary(sheet, functions)
    if hardware.chips == 1:
        sheet["perf_targets"] = _targets(program, hardware)
    sheet["flops"] = _flops(program, hardware, mesh_shape(module), verbose=verbose)
    if verbose:
        sheet["shardable_operations"], sheet["operation_type_breakdown"] = details, dict(counts)
    path = _path(module, options["ttnn-perf-metrics-output-file"])
    make_folder(path.parent, where="TTNNCollectPerfMetrics")
    write_atomically(path, _json(sheet) + "\n", where="TTNNCollectPerfMetrics")


def _error(module: Module, message: str) -> CompileError:
    return CompileError(module.at(module.op, f"TTNNCollectPerfMetrics: {message}"))


def _private(function: FuncOp) -> bool:
    return getattr(function.properties.get("sym_visibility"), "data", "") == "private"


def _system(module: Module) -> SystemDesc | None:
    for op in module.op.walk():
        attribute = op.attributes.get("ttcore.system_desc")
        if isinstance(attribute, SystemDescAttr):
            return from_attribute(attribute)
    return None


@dataclass(frozen=True)
class _Hardware:
    """Peak rates of the hardware.

    Attributes:
        arch: Name of the architecture.
        chips: How many chips there are.
        cores: Cores of one.
    """

    arch: str
    chips: int
    cores: int

    @property
    def bandwidth(self) -> int:
        """Bytes per second of DRAM."""
        return _LIMITS[self.arch][0]

    @property
    def clock(self) -> int:
        """Cycles per second."""
        return _LIMITS[self.arch][1]

    def peak(self, fidelity: str) -> float:
        """Floating point operations per second."""
        return self.cores * self.clock * (2.0 * _TILE**3) / _CYCLES[fidelity]


def _path(module: Module, given: str) -> Path:
    if given:
        return Path(given if given.endswith(".json") else given + ".json")
    names = [one.sym_name.data for one in module.functions() if function_kind(one) != "const_eval"]
    symbol = getattr(module.op.properties.get("sym_name"), "data", "")
    return Path("perf_metrics") / f"{symbol or (names[0] if names else 'UnnamedModule')}_perf_metrics.json"


# Where results lie.


def _summary(sheet: dict[str, Any], functions: list[FuncOp]) -> tuple[list[dict[str, Any]], Counter[str]]:
    counts: Counter[str] = Counter()
    numbers: Counter[str] = Counter()
    details = []
    for function in functions:
        spilled = {_spilled(op) for op in table_ops(function, "ttnn.to_memory_config")}
        for op in function.walk():
            if op is function:
                counts[op.name] += 1
                numbers["total_ops"] += 1
                continue
            counts[op.name] += 1
            if op.name == "ttnn.get_device":
                continue
            numbers["total_ops"] += 1
            if not op.results or not isinstance(op.results[0].type, TensorType):
                continue
            numbers["total_ops_with_output_tensor"] += 1
            if op.name == "ttnn.to_memory_config" or not op.name.startswith("ttnn."):
                continue
            details.append(_detail(op, spilled, numbers))
    total = numbers["total_shardable_ops"]
    names = (
        "total_ops", "total_ops_with_output_tensor", "total_shardable_ops", "sharded_ops", "effectively_sharded_ops",
        "sharded_and_spilled_ops", "dram_spilled_ops", "system_memory_ops",
    )  # fmt: skip
    sheet["summary"] = {name: numbers[name] for name in names} | {
        percentage: numbers[name] / total * 100.0 if total else 0.0
        for percentage, name in (
            ("sharded_percentage", "sharded_ops"),
            ("effectively_sharded_percentage", "effectively_sharded_ops"),
            ("spilled_percentage", "dram_spilled_ops"),
            ("system_memory_percentage", "system_memory_ops"),
        )
    }
    return details, counts


def _spilled(op: TableOp) -> SSAValue | None:
    """Return an L1 sharded value moved to DRAM, or None.

    It is moved by an operation.
    """
    layout = layout_of(op.results[0].type)
    owner = owner_of(op.inputs[0])
    moves = layout is not None and layout.space == "dram" and owner is not None and _in_shards(owner)
    return op.inputs[0] if moves else None


def _in_shards(op: Operation) -> bool:
    layout = layout_of(op.results[0].type)
    return layout is not None and layout.space == "l1" and layout.mem_layout in SHARDED


def _detail(op: Operation, spilled: set[SSAValue | None], numbers: Counter[str]) -> dict[str, Any]:
    layout = layout_of(op.results[0].type)
    space = layout.space if layout is not None else ""
    sharded, gone = _in_shards(op), op.results[0] in spilled
    numbers["total_shardable_ops"] += 1
    numbers["dram_spilled_ops"] += space == "dram"
    numbers["system_memory_ops"] += space == "system_memory"
    if sharded:
        numbers["sharded_ops"] += 1
        numbers["sharded_and_spilled_ops" if gone else "effectively_sharded_ops"] += 1
    return {
        "operation": op.name,
        "location": _location(op),
        "is_sharded": sharded,
        "is_spilled_to_dram": sharded and gone,
        "has_system_memory": space == "system_memory",
        "layout_info": LOCAL.attribute(layout) if layout is not None else "",
    }


def _location(op: Operation) -> str:
    location = getattr(op, "location", None)
    return location.desc.data if isinstance(location, NameLoc) else "unknown"


# The least time: weights are read once from DRAM, tiles are multiplied on all cores.


def _targets(program: FuncOp, hardware: _Hardware) -> dict[str, Any]:
    numbers: Counter[str] = Counter()
    milliseconds = 0.0
    for op in table_ops(program, "ttnn."):
        found = _weights(op)
        if found is None:
            continue
        weights, tiles = found
        if weights is None or not all(_is_weight(value) for value in weights):
            numbers["skipped_ops"] += 1
            continue
        elements = [math.prod(shape_of(value)) for value in weights]
        numbers["params_count"] += sum(elements)
        # 16 elements of bfp8 share a byte for their exponent.
        size = sum(int(count * 17.0 / 16.0 + 0.5) for count in elements)
        numbers["params_memory_bytes"] += size
        reading = size / hardware.bandwidth * 1e6
        computing = tiles * _CYCLES[_ASSUMED] * 1.0e6 / (hardware.cores * hardware.clock)
        numbers["dram_bound_ops" if reading >= computing else "compute_bound_ops"] += 1
        milliseconds += max(reading, computing) / 1000.0
    names = ("params_count", "params_memory_bytes", "dram_bound_ops", "compute_bound_ops", "skipped_ops")
    return {
        "arch": hardware.arch,
        "num_chips": hardware.chips,
        "dram_bandwidth_bytes_per_sec": hardware.bandwidth,
        "aiclk_hz": hardware.clock,
        "num_tensix_cores": hardware.cores,
        "cycles_per_tile_matmul": _CYCLES[_ASSUMED],
        **{name: numbers[name] for name in names},
        "roofline_ms": milliseconds,
        "top_perf_estimate_ms": milliseconds / _UTILIZATION,
    }


def _weights(op: TableOp) -> tuple[list[SSAValue] | None, int] | None:
    """Return an operation's weights and tile multiplications; None if skipped."""
    short = op.name.partition(".")[2]
    if op.name in _PRODUCTS:
        return [op.group("b")[0]], _tile_products(op)
    if short in ("scaled_dot_product_attention_decode", "paged_scaled_dot_product_attention_decode"):
        return [op.group("key")[0], op.group("value")[0]], 0
    if short == "scaled_dot_product_attention":
        if op.operand("attention_mask") is not None:
            return None, 0
        return [op.group("key")[0], op.group("value")[0]], _attention_tiles(op)
    return None


def _up(size: int) -> int:
    return -(-size // _TILE)


def _tile_products(op: TableOp) -> int:
    a, out = shape_of(op.group("a")[0]), shape_of(op.results[0])
    if len(a) < 2 or len(out) < 2:
        return 0
    inner = a[-2] if op.get("transpose_a") else a[-1]
    return math.prod(out[:-2]) * _up(out[-2]) * _up(inner) * _up(out[-1])


def _attention_tiles(op: TableOp) -> int:
    query, key, value = (shape_of(op.group(name)[0]) for name in ("query", "key", "value"))
    window = op.get("sliding_window_size")
    columns = min(window, key[2]) if window is not None else key[2]
    rows = query[0] * query[1] * _up(query[2])
    tiles = rows * _up(query[3]) * _up(columns) + rows * _up(columns) * _up(value[3])
    return tiles // 2 if op.get("is_causal") and window is None else tiles


def _is_weight(value: SSAValue) -> bool:
    layout = layout_of(value.type)
    if layout is None or layout.space != "dram":
        return False
    if isinstance(value, BlockArgument):
        return argument_type(value) in ("parameter", "constant") or _is_cache(value)
    owner = owner_of(value)
    if owner is None or owner.name != "ttcore.load_cached":
        return False
    before, after = (sum(math.prod(shape_of(one)) for one in side) for side in (owner.operands, owner.results))
    return before == after


def _is_cache(argument: BlockArgument) -> bool:
    function = argument.block.parent_op()
    entries = function.arg_attrs if isinstance(function, FuncOp) else None
    entry = entries.data[argument.index] if entries is not None else None
    return isinstance(entry, DictionaryAttr) and "ttcore.kv_cache" in entry.data


# Floating point operations.


def _flops(program: FuncOp, hardware: _Hardware, mesh: Sequence[int], *, verbose: bool) -> dict[str, Any]:
    total, seconds = 0, 0.0
    records = []
    for op in table_ops(program, "ttnn."):
        count = _COUNTS.get(op.name.partition(".")[2])
        flops = count(op, mesh) if count is not None else 0
        if not flops:
            continue
        config = op.properties.get("compute_config")
        named = re.search(r"math_fidelity = (\w+)", attribute_text(config)) if config is not None else None
        fidelity = named.group(1) if named is not None else "hifi4"
        total += flops
        seconds += flops / hardware.peak(fidelity)
        records.append({"operation": op.name, "location": _location(op), "flops": flops, "math_fidelity": fidelity})
    sheet: dict[str, Any] = {
        "total_flops": total,
        "peak_flops_per_sec": round(total / seconds) if seconds else 0,
        "peak_flops_per_sec_by_fidelity": {name: round(hardware.peak(name)) for name in _CYCLES},
    }
    return sheet | ({"per_op": records} if verbose else {})


def _product_flops(op: TableOp, mesh: Sequence[int]) -> int:
    del mesh
    a, out = shape_of(op.group("a")[0]), shape_of(op.results[0])
    if len(a) < 2 or len(out) < 2:
        return 0
    transposed = op.name in _PRODUCTS and op.get("transpose_a")
    flops = 2 * math.prod(out) * (a[-2] if transposed else a[-1])
    nonzero = op.get("nnz") if op.name == "ttnn.sparse_matmul" else None
    if nonzero is not None and len(out) >= 3 and out[-3]:
        flops = flops // out[-3] * int(nonzero)
    return int(flops)


def _kernel(op: TableOp) -> int:
    size = op.get("kernel_size")
    return int(size) if isinstance(size, int) else math.prod(size)


def _convolution_flops(op: TableOp, mesh: Sequence[int]) -> int:
    del mesh
    channels: int = op.get("in_channels") // max(1, op.get("groups"))
    return 2 * math.prod(shape_of(op.results[0])) * channels * _kernel(op)


def _transposed_flops(op: TableOp, mesh: Sequence[int]) -> int:
    del mesh
    channels: int = op.get("out_channels") // max(1, op.get("groups"))
    return 2 * math.prod(shape_of(op.group("input")[0])) * channels * _kernel(op)


def _attention_flops(op: TableOp, mesh: Sequence[int]) -> int:
    del mesh
    query, key = shape_of(op.group("query")[0]), shape_of(op.group("key")[0])
    if op.name == "ttnn.flash_mla_prefill":
        width, window = op.get("head_dim_v"), None
    else:
        width, window = shape_of(op.group("value")[0])[-1], op.get("sliding_window_size")
    if len(query) != 4 or len(key) != 4:
        return 0
    columns = min(window, key[2]) if window is not None else key[2]
    flops: int = 2 * math.prod(query[:3]) * columns * (query[3] + width)
    return flops >> 1 if op.get("is_causal") and window is None else flops


def _collective_flops(op: TableOp, mesh: Sequence[int]) -> int:
    axis: int = op.get("cluster_axis")
    if axis >= len(mesh):
        return 0
    elements = math.prod(shape_of(op.inputs[0]))
    return elements - elements // max(1, mesh[axis])


_COUNTS: Final[dict[str, Callable[[TableOp, Sequence[int]], int]]] = {
    **dict.fromkeys(["matmul", "linear", "sparse_matmul"], _product_flops),
    **dict.fromkeys(["conv1d", "conv2d", "conv3d"], _convolution_flops),
    "conv_transpose2d": _transposed_flops,
    **dict.fromkeys(["scaled_dot_product_attention", "flash_mla_prefill"], _attention_flops),
    **dict.fromkeys(["all_reduce", "all_reduce_async", "reduce_scatter"], _collective_flops),
}


def _json(value: Any, indent: str = "") -> str:
    """Return JSON with sorted names and 17 digits, as LLVM writes it."""
    inner = indent + "  "
    if isinstance(value, dict):
        parts = [f"{inner}{json.dumps(name)}: {_json(value[name], inner)}" for name in sorted(value)]
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}" if parts else "{}"
    if isinstance(value, list):
        parts = [inner + _json(one, inner) for one in value]
        return "[\n" + ",\n".join(parts) + f"\n{indent}]" if parts else "[]"
    return f"{value:.17g}" if isinstance(value, float) else json.dumps(value, ensure_ascii=False)
