"""From the call of an operator to plans: its device operation, with what the engine was given."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from ttnn.base.exceptions import TtnnError, UnsupportedError
from ttnn.device.mesh_device import MeshDevice
from ttnn.ops._programs.pipeline import Pipeline
from ttnn.ops.matmul.program import MatmulProgram
from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.families import make_plan
from ttnn.profiler.names import device_operation_name
from ttnn.profiler.operand import Operand, from_spec
from ttnn.profiler.plan import CARDS, Card, Plan
from ttnn.tensor.tensor import Tensor

EngineCall = tuple[str, list[int], dict[str, Any] | None]
"""A function of the engine, the ids of its buffers, its keyword arguments."""

_FIDELITY: Final = {1: "LoFi", 2: "HiFi2", 3: "HiFi3", 4: "HiFi4"}
_MINOR: Final = ("fill", "copy")
"""Functions that prepare what another one of the same call works on."""

operand_of = lru_cache(maxsize=4096)(from_spec)


def card_of(device: MeshDevice) -> Card:
    """Return the card of a device."""
    info = device.chip
    peak = CARDS[info["name"]].dram_gb_s
    return Card(info["name"], info["arch_name"], info["grid"], info["dram_banks"], info["aiclk_mhz"], peak)


def describe(
    operator: str,
    calls: Sequence[EngineCall],
    programs: Sequence[Any],
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    device: MeshDevice,
) -> list[Plan]:
    """Return the plans of what an operator asked of the engine.

    Args:
        operator: Full name.
        calls: The engine's functions in the order in which they ran.
        programs: What the operator decided on: matrix products, pipelines.
        inputs: Its tensors.
        outputs: Its results.
        device: Where it ran.

    Raises:
        UnsupportedError: no plan describes it.
    """
    main = next((call for call in calls if call[0] not in _MINOR), calls[0])
    sources = tuple(operand_of(tensor._spec) for tensor in inputs if tensor._device is not None)
    results = tuple(operand_of(tensor._spec) for tensor in outputs if tensor._device is not None)
    if not results:
        # An operator that returns something else writes into its operands.
        results = sources[:1]
    if not results or results[0].pages == 0:
        return []
    name = device_operation_name(operator, main[0], sources[0] if sources else None, results[0])
    pipelines = tuple(program for program in programs if isinstance(program, Pipeline))
    other = next((program for program in programs if not isinstance(program, Pipeline)), None)
    keywords = main[2] or {}
    card = card_of(device)
    op = DeviceOperation(
        name,
        card,
        sources,
        results,
        _FIDELITY.get(_number(keywords.get("fidelity")), "HiFi4"),
        grid=card.grid,
        attributes=_attributes(keywords, results[0], other),
        chain=_chain(keywords),
        program=other if other is not None else _functions(main[0], keywords),
        pipelines=pipelines,
        function=main[0],
    )
    try:
        return [make_plan(op)]
    except UnsupportedError:
        raise
    except TtnnError as error:
        # Operators that run products of their own may take operands that ttnn.matmul refuses, whose rules plans follow.
        raise UnsupportedError(f"{operator}: no plan describes its operands: {error}", "unimplemented") from error


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 4


def _chain(keywords: dict[str, Any]) -> tuple[tuple[str, bool], ...]:
    steps = [*keywords.get("chain", ()), *keywords.get("post", ())]
    return tuple((step[0], step[1] in ("fast", "approximate")) for step in steps)


def _functions(function: str, keywords: dict[str, Any]) -> Any:
    """Return what a binary or ternary function of the engine does."""
    if function == "binary":
        first = tuple(step[0] for step in keywords.get("pre_a", ()))
        second = tuple(step[0] for step in keywords.get("pre_b", ()))
        return keywords["op"], first, second, ()
    return keywords.get("op") if function == "ternary" else None


def _program_config(program: MatmulProgram) -> str:
    """Return a program configuration as profiles print it."""
    fields = program.config.fields()
    grid = fields.pop("grid", None)
    parts = [f"{name}={int(value) if isinstance(value, bool) else value}" for name, value in fields.items()]
    if isinstance(grid, list):
        parts.insert(0, f"compute_with_storage_grid_size=(x={grid[0]};y={grid[1]})")
    return f"{program.config.kind.value}({';'.join(parts)})"


def _attributes(keywords: dict[str, Any], output: Operand, program: Any) -> dict[str, str]:
    memory = f"MemoryConfig(memory_layout=TensorMemoryLayout::{output.memory};buffer_type=BufferType::{output.buffer})"
    attributes = {"output_mem_config": memory, "dtype": f"DataType::{output.dtype}"}
    if isinstance(program, MatmulProgram):
        attributes["program_config"] = _program_config(program)
    if keywords.get("dst32"):
        attributes["fp32_dest_acc_en"] = "true"
    attributes |= {name: "true" for name in ("transpose_a", "transpose_b") if keywords.get(name)}
    return attributes
