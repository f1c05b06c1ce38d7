"""Conversion of operator calls to plans.

Its device operation, with what the engine was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from ttnn.base.exceptions import TtnnError, UnsupportedError
from ttnn.device.mesh_device import MeshDevice
from ttnn.ops._programs.pipeline import Pipeline
from ttnn.ops.ccl.transfers import Transfer
from ttnn.ops.conv.program import ConvProgram
from ttnn.ops.matmul.program import MatmulProgram
from ttnn.profiler.convolutions import operations
from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.families import make_plan
from ttnn.profiler.links import link_plans
from ttnn.profiler.missing import Missing
from ttnn.profiler.names import device_operation_name
from ttnn.profiler.operand import Operand, from_spec
from ttnn.profiler.plan import Card, Plan
from ttnn.tensor.tensor import Tensor

EngineCall = tuple[str, dict[str, Any]]
"""A function of the engine and its keyword arguments."""

_FIDELITY: Final = {1: "LoFi", 2: "HiFi2", 3: "HiFi3", 4: "HiFi4"}
_ELEMENTWISE: Final = {"unary": ("Unary", 1), "binary": ("BinaryNg", 2), "ternary": ("Ternary", 3)}
"""Device operations of element-wise engine functions, with operand counts."""
_MINOR: Final = ("fill", "copy")
"""Functions that prepare what another one of the same call works on."""

operand_of = lru_cache(maxsize=4096)(from_spec)


def card_of(device: MeshDevice) -> Card:
    """Return the card of a device."""
    return Card.of(device.chip)


def describe(
    operator: str,
    calls: Sequence[EngineCall],
    programs: Sequence[Any],
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    device: MeshDevice,
) -> list[Plan | Missing]:
    """Return an operator's plans, and reasons for missing ones.

    They are of what it asked of the engine.

    Args:
        operator: Full name.
        calls: The engine's functions in the order in which they ran.
        programs: What the operator decided on: matrix products, pipelines.
        inputs: Its tensors.
        outputs: Its results.
        device: Where it ran.
    """
    sources = tuple(operand_of(tensor.spec) for tensor in inputs if tensor._device is not None)
    results = tuple(operand_of(tensor.spec) for tensor in outputs if tensor._device is not None)
    if not results:
        # An operator that returns something else writes into its operands.
        results = sources[:1]
    if not results or results[0].pages == 0:
        return []
    other = next((program for program in programs if not isinstance(program, Pipeline)), None)
    main = next((call for call in calls if call[0] not in _MINOR), calls[0])
    if isinstance(other, ConvProgram):
        main = next((call for call in calls if call[0] == "matmul"), main)
    card = card_of(device)
    transfers = [program for program in programs if isinstance(program, Transfer)]
    if transfers:
        return [*link_plans(transfers, card, sources, results)]
    try:
        name = device_operation_name(operator, main[0], sources[0] if sources else None, results[0])
    except UnsupportedError as error:
        words = operator.rpartition(".")[2].split("_")
        name = f"{''.join(word.capitalize() for word in words)}DeviceOperation"
        return [Missing(name, card, str(error), sources, results)]
    pipelines = tuple(program for program in programs if isinstance(program, Pipeline))
    if isinstance(other, ConvProgram):
        # Input and weights may be on the host, and are brought to the device by the call.
        sources = (operand_of(other.source), operand_of(other.weights))
    keywords = main[1]
    op = DeviceOperation(
        name,
        card,
        sources,
        results,
        # A pipeline is made once, and says its options itself.
        _FIDELITY.get(pipelines[0].fidelity if pipelines else _number(keywords.get("fidelity")), "HiFi4"),
        grid=card.grid,
        attributes=_attributes(keywords, results[0], other) | _of_convolution(other, card),
        chain=other.chain if isinstance(other, ConvProgram) else _chain(keywords),
        program=other if other is not None else _functions(main[0], keywords),
        pipelines=pipelines,
        function=main[0],
    )
    if isinstance(other, ConvProgram):
        return list(map(_planned, operations(op)))
    return [_planned(op if call is main else _step(op, call)) for call in _steps(calls, main)]


def _steps(calls: Sequence[EngineCall], main: EngineCall) -> list[EngineCall]:
    """Return engine functions that are own device operations.

    Of a composition of element-wise functions, or of a product and what follows it, all are. Others prepare what the
    main one works on.
    """
    found = [call for call in calls if call[0] not in _MINOR]
    alike = all(call[0] in _ELEMENTWISE or (call is main and call[0] == "matmul") for call in found)
    return found if len(found) > 1 and alike else [main]


def _step(op: DeviceOperation, call: EngineCall) -> DeviceOperation:
    """Return the device operation of an element-wise function on the result."""
    kind, operands = _ELEMENTWISE[call[0]]
    keywords = call[1]
    (result, *_) = op.outputs
    return DeviceOperation(
        f"{kind}DeviceOperation",
        op.card,
        (result,) * operands,
        (result,),
        op.fidelity,
        grid=op.grid,
        attributes=_attributes(keywords, result, None),
        chain=_chain(keywords),
        program=_functions(call[0], keywords),
        function=call[0],
    )


def _planned(op: DeviceOperation) -> Plan | Missing:
    """Return the plan of a device operation, or why there is none."""
    try:
        return make_plan(op)
    except TtnnError as error:
        # Operators with matmuls of their own may accept operands that ttnn.matmul refuses; plans follow its rules.
        return Missing(op.name, op.card, str(error), op.inputs, op.outputs)


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 4


def _chain(keywords: dict[str, Any]) -> tuple[tuple[str, bool], ...]:
    steps = [*keywords.get("chain", ()), *keywords.get("post", ())]
    return tuple((step[0], step[1] in ("fast", "approximate")) for step in steps)


def _functions(function: str, keywords: dict[str, Any]) -> Any:
    """Return an engine function's work.

    Operations of the FPU and SFPU, rows of a window, groups.
    """
    if function == "binary":
        first = tuple(step[0] for step in keywords.get("pre_a", ()))
        second = tuple(step[0] for step in keywords.get("pre_b", ()))
        return keywords["op"], first, second, ()
    if function == "attention" and "positions" in keywords and not isinstance(keywords["positions"], int):
        return tuple(keywords["positions"]), tuple(keywords["chunks"])
    if function == "group_norm":
        return keywords["channels"] // keywords["group"]
    return keywords.get({"ternary": "op", "pool": "window"}.get(function, ""))


def _program_config(program: MatmulProgram) -> str:
    """Return a program configuration as profiles print it."""
    fields = program.config.fields()
    grid = fields.pop("grid", None)
    parts = [f"{name}={int(value) if isinstance(value, bool) else value}" for name, value in fields.items()]
    if isinstance(grid, list):
        parts.insert(0, f"compute_with_storage_grid_size=(x={grid[0]};y={grid[1]})")
    return f"{program.config.kind.value}({';'.join(parts)})"


def _of_convolution(program: Any, card: Card) -> dict[str, str]:
    """Return a convolution's printed attributes; none of other programs."""
    if not isinstance(program, ConvProgram):
        return {}
    window, kernel, config = program.window, program.window.kernel, program.config
    cores = program.cores(card.cores)
    columns, rows = min(cores, card.grid[0]), -(-cores // card.grid[0])
    top, bottom, left, right = window.padding
    height, width = program.subblock(cores)
    return {
        "block_config": f"Conv2dBlockConfig(act_block_h_ntiles={program.block_rows(cores)};"
        f"act_block_w_ntiles={program.inner};out_subblock_h_ntiles={height};out_subblock_w_ntiles={width})",
        "parallelization_config": f"Conv2dParallelizationConfig(grid_size=(x={columns};y={rows});num_cores_nhw={cores};"
        f"num_cores_c_in=1;num_cores_c_out=1;per_core_out_matrix_height_ntile={program.rows(cores)};"
        f"per_core_out_matrix_width_ntile={program.columns})",
        "sliding_window_config": f"SlidingWindowConfig(batch_size={window.batch}; "
        f"input_hw=({window.height};{window.width}); window_hw=({kernel.height};{kernel.width}); "
        f"stride_hw=({window.stride[0]};{window.stride[1]}); padding=(({top}; {bottom}); ({left}; {right})); "
        f"output_padding = (0; 0); dilation_hw=({window.dilation[0]};{window.dilation[1]}); num_cores_nhw={cores}; "
        "num_cores_c=1)",
        "compute_kernel_config": f"WormholeComputeKernelConfig(packer_l1_acc={int(program.l1_accumulation)})",
        "has_bias": str(program.with_bias).lower(),
        "enable_act_double_buffer": str(config.enable_act_double_buffer).lower(),
        "enable_weights_double_buffer": str(config.enable_weights_double_buffer).lower(),
    }


def _attributes(keywords: dict[str, Any], output: Operand, program: Any) -> dict[str, str]:
    memory = f"MemoryConfig(memory_layout=TensorMemoryLayout::{output.memory};buffer_type=BufferType::{output.buffer})"
    attributes = {"output_mem_config": memory, "dtype": f"DataType::{output.dtype}"}
    if isinstance(program, MatmulProgram):
        attributes["program_config"] = _program_config(program)
    if keywords.get("dst32"):
        attributes["fp32_dest_acc_en"] = "true"
    attributes |= {name: "true" for name in ("transpose_a", "transpose_b") if keywords.get(name)}
    return attributes
