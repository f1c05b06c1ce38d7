"""`ttnn.matmul` and `ttnn.linear`: one engine call plus unfused steps.

The steps that are not fused run after the program.

Source: TT-NN docs "ttnn.matmul" and "ttnn.linear".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from ttnn.base.activation import UnaryWithParam
from ttnn.base.compute_config import FIDELITY_NUMBER, WormholeComputeKernelConfig
from ttnn.base.config import CONFIG
from ttnn.base.core_range import CoreGrid
from ttnn.base.enums import FORMAT_CODE, TILE_SIZE, BufferType, DataType, Layout, UnaryOpType
from ttnn.base.exceptions import OutOfMemoryError, ShapeError, StorageError, UnsupportedError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.tile import Tile
from ttnn.device.lifecycle import MeshDevice, get_allocator_base_address
from ttnn.golden import matmul as golden
from ttnn.operation import long_sums
from ttnn.operation.accuracy import no_bound
from ttnn.operation.observation import note
from ttnn.operation.registry import declare
from ttnn.operation.signature import (
    Signature,
)
from ttnn.operation.steps import ChainStep
from ttnn.ops._programs.activations import chain_steps
from ttnn.ops._programs.common import allocate, full_tiles, on_device
from ttnn.ops._programs.element_map import move_into
from ttnn.ops._programs.sfpu_chain import apply_chain
from ttnn.ops.eltwise.binary.checks import broadcast
from ttnn.runtime import engine_steps
from ttnn.tensor.dunders import operation
from ttnn.tensor.tensor import Tensor

from .configs import Activation, AnyProgramConfig, ProgramConfig, activation_of, compute_config_of, program_config_of
from .l1_buffers import check_room
from .program import MatmulProgram
from .resolve import MatmulCall, empty_result, resolve, result_shape
from .signatures import BIAS, COLUMN_OFFSET, OPERANDS, OPTIONS
from .specs import Chip, operand_of, placement_of, spec_of, up
from .tiles import in_full_tiles, is_transposed, result_tile


class _Options(NamedTuple):
    """The options of a call, hashable."""

    transpose_a: bool
    transpose_b: bool
    memory_config: MemoryConfig | None
    dtype: DataType | None
    config: ProgramConfig | None
    activation: Activation | None
    compute: WormholeComputeKernelConfig | None
    core_grid: tuple[int, int] | None
    output_tile: Tile | None


# Devices come and go; what is known of one must not keep it.
_chips: Final[WeakKeyDictionary[MeshDevice, Chip]] = WeakKeyDictionary()


def chip_of(device: MeshDevice) -> Chip:
    """Return the chip's part of the program key.

    The state of its L1 comes on top.
    """
    chip = _chips.get(device)
    if chip is None:
        info = device.chip
        base = get_allocator_base_address(device, BufferType.L1)
        chip = Chip(info["grid"], info["l1_bytes"], base, device.arch(), info["dram_banks"])
        _chips[device] = chip
    return chip


@dataclass(frozen=True)
class _Prepared:
    """A call and its program, `None` if an operand is empty."""

    call: MatmulCall
    program: MatmulProgram | None

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Engine arguments equal for all tensors of these kinds."""
        program = self.program
        assert program is not None
        problem = program.problem
        bias = problem.bias
        settings = {
            "formats": (
                FORMAT_CODE[problem.a.dtype],
                FORMAT_CODE[problem.b.dtype],
                0 if bias is None else FORMAT_CODE[bias.dtype],
                FORMAT_CODE[program.out.dtype],
            ),
            "batch": (math.prod(program.out.shape[:-2]), problem.batch_a, problem.batch_b),
            "mt": up(problem.m, TILE_SIZE),
            "kt": problem.kt,
            "nt": up(problem.n, TILE_SIZE),
            "k": problem.a.shape[-1],
            "kb": program.in0_block_w,
            "ring": program.ring,
            "fidelity": FIDELITY_NUMBER[program.compute.fidelity],
            "dst32": program.compute.fp32,
            "l1_acc": program.l1_accumulation,
            "relu": program.packer_relu,
            "activation": _fused_steps(program),
            "transpose_a": program.transpose_a,
            # A vector is stored as a row, and the program wants it as a column.
            "transpose_b": program.transpose_b or len(self.call.b.shape) == 1,
        }
        if not problem.bias_is_row:
            settings["bias_tile_rows"] = up(problem.m, TILE_SIZE)
        return settings


@lru_cache(maxsize=4096)
def _call(
    a: TensorSpec, b: TensorSpec, bias: TensorSpec | None, output: TensorSpec | None, options: _Options, chip: Chip
) -> _Prepared:
    """Return a call, cached under everything the program depends on."""
    left, right = operand_of(a), operand_of(b)
    tile = result_tile(
        "ttnn.matmul",
        left.tile[1 if options.transpose_a else 0],
        right.tile[0 if options.transpose_b or len(right.shape) == 1 else 1],
        options.output_tile,
        None if output is None else output.tile,
        sharded=(options.memory_config or MemoryConfig()).is_sharded() or output is not None,
    )
    call = MatmulCall(
        left,
        right,
        chip,
        bias=None if bias is None else operand_of(bias),
        transpose_a=options.transpose_a,
        transpose_b=options.transpose_b,
        placement=None if options.memory_config is None else placement_of(options.memory_config, tile),
        dtype=options.dtype,
        config=options.config,
        activation=options.activation,
        compute=None if options.compute is None else compute_config_of(options.compute),
        core_grid=options.core_grid,
        output=None if output is None else operand_of(output),
        out_tile=tile,
    )
    return _Prepared(call, None if call.is_empty else resolve(call))


def _operand_device(operator: str, a: Tensor, b: Tensor, bias: Tensor | None, output: Tensor | None) -> MeshDevice:
    """Return the device that all tensors of a call live on."""
    device = on_device(operator, a, "input_tensor_a", "Operands to matmul need to be on device!")
    others = (("input_tensor_b", b), ("bias", bias), ("optional_output_tensor", output))
    for label, tensor in others:
        if tensor is None:
            continue
        if on_device(operator, tensor, label, "Operands to matmul need to be on device!") is not device:
            raise StorageError(
                f"{operator}: {label} is on another device than input_tensor_a.",
                vendor="Operands to matmul need to be on the same device!",
            )
    for label, tensor in (("input_tensor_a", a), *others[:2]):
        if output is not None and tensor is not None and tensor.buffer is output.buffer:
            raise StorageError(
                f"{operator}: optional_output_tensor is also {label}, which is read while it is written."
            )
    return device


def _options(
    operator: str,
    transpose_a: bool,
    transpose_b: bool,
    memory_config: MemoryConfig | None,
    dtype: DataType | None,
    program_config: AnyProgramConfig | None,
    activation: str | UnaryWithParam | UnaryOpType | tuple[UnaryOpType, float] | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    core_grid: CoreGrid | None,
    output_tile: Tile | None,
) -> _Options:
    return _Options(
        transpose_a,
        transpose_b,
        memory_config,
        dtype,
        None if program_config is None else program_config_of(program_config),
        activation_of(activation),
        compute_kernel_config,
        None if core_grid is None else (core_grid.x, core_grid.y),
        output_tile,
    )


def _prepared(
    device: MeshDevice, a: Tensor, b: Tensor, bias: Tensor | None, output: Tensor | None, options: _Options
) -> _Prepared:
    chip = chip_of(device)
    lowest = device.engine.lowest_l1_address()
    if lowest is not None:
        chip = replace(chip, l1_lowest_tensor=lowest)
    bias_spec, output_spec = (None if tensor is None else tensor.spec for tensor in (bias, output))
    return _call(a.spec, b.spec, bias_spec, output_spec, options, chip)


def plan(
    input_tensor_a: Tensor,
    input_tensor_b: Tensor,
    *,
    bias: Tensor | None = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    memory_config: MemoryConfig | None = None,
    dtype: DataType | None = None,
    program_config: AnyProgramConfig | None = None,
    activation: str | UnaryWithParam | None = None,
    compute_kernel_config: WormholeComputeKernelConfig | None = None,
    core_grid: CoreGrid | None = None,
    output_tile: Tile | None = None,
    optional_output_tensor: Tensor | None = None,
) -> MatmulProgram:
    """Return the program of `ttnn.linear` without running it.

    `print` shows it.

    Raises:
        TtnnError: whatever the call itself would raise before it runs.
    """
    options = _options(
        "ttnn.matmul",
        transpose_a,
        transpose_b,
        memory_config,
        dtype,
        program_config,
        activation,
        compute_kernel_config,
        core_grid,
        output_tile,
    )
    device = _operand_device("ttnn.matmul", input_tensor_a, input_tensor_b, bias, optional_output_tensor)
    program = _prepared(device, input_tensor_a, input_tensor_b, bias, optional_output_tensor, options).program
    if program is None:
        raise ShapeError("ttnn.matmul: an operand is empty; zeros are returned and no program runs.")
    return program


def _run(
    operator: str,
    a: Tensor,
    b: Tensor,
    bias: Tensor | None,
    options: _Options,
    output: Tensor | None,
) -> Tensor:
    device = _operand_device(operator, a, b, bias, output)
    prepared = _prepared(device, a, b, bias, output, options)
    call, program = prepared.call, prepared.program
    if program is None:
        return _zeros(operator, call, bias, output, device)
    if not program.problem.full_tiles or any(is_transposed(tensor) for tensor in (a, b, bias)):
        return _run_in_full_tiles(operator, a, b, bias, prepared, output)
    if bias is not None:
        full_tiles(operator, bias, "bias")
    separate_bias = bias if program.separate_bias is not None else None
    if separate_bias is not None:
        broadcast(operator, result_shape(call, program.out.shape), separate_bias.spec.shape._dims)
    column_vector = len(call.b.shape) == 1 and len(call.a.shape) > 1
    if column_vector and output is not None:
        raise UnsupportedError(
            f"{operator}: optional_output_tensor with a vector as input_tensor_b is not implemented.", "unimplemented"
        )
    followed = separate_bias is not None or program.separate_activation is not None or column_vector
    product = None if followed else output
    if product is None:
        spec = spec_of(program.out)
        if not column_vector:
            # A vector operand only drops a dimension: the pages stay the same.
            shape = result_shape(call, program.out.shape, program.problem.bias)
            spec = TensorSpec.of(shape, spec.dtype, spec.layout, spec.memory_config)
        product = allocate(spec, device)
    try:
        check_room(program, device)
    except OutOfMemoryError:
        # The traceback would keep the tensors that left no room.
        if product is not output:
            product.deallocate()
        raise
    fused_bias = bias if separate_bias is None else None
    note(program)
    if program.config.untilize_out:
        _launch_untilized(program, prepared.settings, a, b, fused_bias, product)
    else:
        launch(prepared.settings, a, b, fused_bias, product)
    if column_vector:
        product = _as_row(operator, product, result_shape(call, program.out.shape))
    if separate_bias is not None:
        target = output if program.separate_activation is None else None
        memory_config = None if target is not None else product.spec.memory_config
        product = operation("add")(product, separate_bias, memory_config=memory_config, output_tensor=target)
    if program.separate_activation is not None:
        product = _activated(operator, product, program.separate_activation, output)
    return product


def _run_in_full_tiles(
    operator: str, a: Tensor, b: Tensor, bias: Tensor | None, prepared: _Prepared, output: Tensor | None
) -> Tensor:
    """Run a program on 32x32 tile copies; return the original tiles.

    For tensors with other tiles.
    """
    call, program = prepared.call, prepared.program
    assert program is not None
    device = on_device(operator, a)
    if program.config.untilize_out or program.ring is not None or len(call.b.shape) == 1:
        raise UnsupportedError(
            f"{operator}: untilize_out, gather_in0 or a vector with tiles of {call.a.tile} and {call.b.tile}; only "
            "32x32 is modelled.",
            "unimplemented",
        )
    shape = result_shape(call, program.out.shape, program.problem.bias)
    product = output
    if product is None:
        spec = spec_of(program.out)
        tile = Tile(call.out_tile)
        product = allocate(TensorSpec.of(shape, spec.dtype, spec.layout, spec.memory_config, tile), device)
    check_room(program, device)
    a, b = in_full_tiles(a), in_full_tiles(b)
    addend = None if bias is None else in_full_tiles(bias)
    full = allocate(TensorSpec.of(shape, program.out.dtype, Layout.TILE), device)
    left, right, _, result = prepared.settings["formats"]
    if b.spec.dtype is not call.b.dtype:
        right = FORMAT_CODE[b.spec.dtype]
    if a.spec.dtype is not call.a.dtype:
        left = FORMAT_CODE[a.spec.dtype]
    fused = None if program.separate_bias is not None else addend
    formats = (left, right, 0 if fused is None else FORMAT_CODE[fused.spec.dtype], result)
    launch({**prepared.settings, "formats": formats}, a, b, fused, full)
    if program.separate_bias is not None:
        full = operation("add")(full, addend)
    if program.separate_activation is not None:
        full = _activated(operator, full, program.separate_activation, None)
    return move_into(full, product)


def _launch_untilized(
    program: MatmulProgram,
    settings: dict[str, Any],
    a: Tensor,
    b: Tensor,
    bias: Tensor | None,
    output: Tensor,
) -> None:
    """Run a program that packs rows.

    The result is in the format of partial sums, once more through Dst, and out.
    """
    if not program.out.placement.sharded:
        raise UnsupportedError(
            "ttnn.matmul: untilize_out=True with an interleaved result: the official package writes rows and labels "
            "the tensor TILE. Give memory_config a sharded layout, or use ttnn.to_layout on the result."
        )
    if program.out.shape[-2:] != program.out.padded[-2:]:
        raise UnsupportedError(
            f"ttnn.matmul: untilize_out=True with a result of {list(program.out.shape)}, which is not made of whole "
            "tiles: padding rows cannot be stored.",
            "unimplemented",
        )
    assert output._device is not None
    dtypes = (program.partials, program.out.dtype)
    sums, tiles = (allocate(TensorSpec.of(program.out.shape, dtype, Layout.TILE), output._device) for dtype in dtypes)
    formats = (*settings["formats"][:-1], FORMAT_CODE[program.partials])
    launch({**settings, "formats": formats}, a, b, bias, sums)
    assert sums.buffer is not None
    assert tiles.buffer is not None
    engine_steps.unary(
        sums.buffer,
        tiles.buffer,
        formats=(FORMAT_CODE[dtypes[0]], FORMAT_CODE[dtypes[1]]),
        chain=[],
        dst32=program.compute.fp32,
        tiled=True,
    )
    move_into(tiles, output)


def launch(
    settings: dict[str, Any],
    a: Tensor,
    b: Tensor,
    bias: Tensor | None,
    output: Tensor,
) -> None:
    """Run the matmul; the result has output data type tiles.

    Args:
        settings: The engine's arguments that a program decides.
        a: Left operand.
        b: Right operand.
        bias: Row that the program adds, if any.
        output: Tensor for the result.
    """
    assert a.buffer is not None
    assert b.buffer is not None
    assert output.buffer is not None
    run = engine_steps.matmul_fast if CONFIG.numerics == "fast" else engine_steps.matmul
    run(a.buffer, b.buffer, None if bias is None else bias.buffer, output.buffer, **settings)


# Their functions of the SFPU do not look at `math_approx_mode`. GELU has a parameter of its own for it.
_WITHOUT_APPROXIMATION: Final = (UnaryOpType.GELU, UnaryOpType.SILU, UnaryOpType.RELU6, UnaryOpType.HARDTANH)


def _fused_steps(program: MatmulProgram) -> Sequence[ChainStep]:
    activation = program.vector_activation
    if activation is None:
        return ()
    if program.compute.approx and activation.op not in _WITHOUT_APPROXIMATION:
        raise UnsupportedError(
            f"ttnn.matmul: math_approx_mode=True with the fused activation {activation.op.name} is not modelled.",
            "unimplemented",
        )
    params = activation.params
    if activation.op is UnaryOpType.GELU and not params:
        # The parameter of this kernel's functions is an argument at compile time, 0 if there is none.
        params = (0.0,)
    steps = chain_steps("ttnn.matmul", UnaryWithParam(activation.op, *params))
    # The program does not tell its kernel the data type by which these choose their coefficients.
    if program.compute.fp32 and activation.op in (UnaryOpType.SELU, UnaryOpType.SOFTPLUS):
        raise UnsupportedError(
            f"ttnn.matmul: fp32_dest_acc_en=True with the fused activation {activation.op.name} is not modelled.",
            "untested",
        )
    return steps


def _activated(operator: str, product: Tensor, activation: Activation, output: Tensor | None) -> Tensor:
    steps = chain_steps(operator, UnaryWithParam(activation.op, *activation.params))
    return apply_chain(operator, product, steps, output_tensor=output)


def _as_row(operator: str, product: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return a product of one column without that dimension."""
    reshaped: Tensor = operation("reshape")(product, shape)
    return reshaped


def _zeros(operator: str, call: MatmulCall, bias: Tensor | None, output: Tensor | None, device: MeshDevice) -> Tensor:
    """Return zeros of the result's shape, plus the bias."""
    result = empty_result(call)
    spec = spec_of(result)
    zeros = output if output is not None else allocate(spec, device)
    if spec.num_pages:
        assert zeros.buffer is not None
        engine_steps.fill(zeros.buffer, format=FORMAT_CODE[zeros.spec.dtype], value=0.0)
    if bias is not None:
        zeros = operation("add")(zeros, bias, output_tensor=output)
    if call.activation is not None:
        zeros = _activated(operator, zeros, call.activation, output)
    return zeros


def settings_of(
    operator: str, a: TensorSpec, b: TensorSpec, device: MeshDevice, *values: Any
) -> tuple[MatmulProgram, dict[str, Any]]:
    """Return the matmul program of non-empty tensors and its engine arguments.

    The values are those of `PRODUCT_OPTIONS`, of which the last, a preallocated output, is not looked at.
    """
    memory_config, dtype, program_config, compute, core_grid, output_tile, _ = values
    options = _options(
        operator, False, False, memory_config, dtype, program_config, None, compute, core_grid, output_tile
    )
    prepared = _call(a, b, None, None, options, chip_of(device))
    assert prepared.program is not None
    return prepared.program, prepared.settings


def product(operator: str, a: Tensor, b: Tensor, *values: Any) -> Tensor:
    """Return the plain matmul of two tensors, for a following operator.

    It has `PRODUCT_OPTIONS`.
    """
    memory_config, dtype, program_config, compute, core_grid, output_tile, output = values
    options = _options(
        operator, False, False, memory_config, dtype, program_config, None, compute, core_grid, output_tile
    )
    return _run(operator, a, b, None, options, output)


def _matmul(a: Tensor, b: Tensor, *rest: Any) -> Tensor:
    *options, output, _global_cb, _sub_device_id, _prefetcher_pipes = rest
    return _run("ttnn.matmul", a, b, None, _options("ttnn.matmul", *options), output)


def _linear(a: Tensor, b: Tensor, bias: Tensor | None, *rest: Any) -> Tensor:
    *options, output, _global_cb, _sub_device_id, _prefetcher_pipes, _in0_column_offset = rest
    return _run("ttnn.linear", a, b, bias, _options("ttnn.linear", *options), output)


def _advice(a: Tensor, b: Tensor, bias: Tensor | None, options: Sequence[Any]) -> str:
    device = a._device
    if device is None:
        return ""
    program = _prepared(device, a, b, bias, None, _options("ttnn.matmul", *options)).program
    return "" if program is None else long_sums.hint(program.problem.a.shape[-1], program.compute.fp32)


def _matmul_advice(a: Tensor, b: Tensor, *rest: Any) -> str:
    return _advice(a, b, None, rest[:9])


def _linear_advice(a: Tensor, b: Tensor, bias: Tensor | None, *rest: Any) -> str:
    return _advice(a, b, bias, rest[:9])


_DTYPES: Final = (DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B, DataType.BFLOAT4_B)
RAISES: Final = (
    ("ShapeError", "the inner or batch dimensions do not match, or an operand has rank 0."),
    ("LayoutError", "an operand is not in TILE_LAYOUT."),
    ("DTypeError", "an operand is not of a floating-point type."),
    ("ProgramConfigError", "the program configuration does not match the operands, the grid or the size of Dst."),
    ("OutOfMemoryError", "the buffers of the program do not fit in L1."),
    ("StorageError", "an operand is on the host, deallocated or on another device."),
)

GROWS_WITH_K: Final = no_bound(
    "for terms cancel and the error grows with K, faster in a 16-bit Dst and with a lower fidelity: docs/sweeps.md"
)

_register: Final = partial(
    declare,
    source="tt-metal `ttnn/cpp/ttnn/operations/matmul`",
    dtypes=_DTYPES,
    layouts=(Layout.TILE,),
    accuracy=GROWS_WITH_K,
    engine=("matmul", "matmul_fast"),
    raises=RAISES,
    examples=(),
)
matmul = _register(
    "matmul",
    (Signature(OPERANDS, OPTIONS),),
    _matmul,
    "Return the matmul `input_tensor_a @ input_tensor_b`.\nShape: [..., M, K], [..., K, N] -> [..., M, N].",
    golden=golden.matmul,
    advice=_matmul_advice,
)
linear = _register(
    "linear",
    (Signature(OPERANDS, (BIAS, *OPTIONS, COLUMN_OFFSET)),),
    _linear,
    "Return `activation(input_tensor_a @ input_tensor_b + bias)`.\n"
    "Shape: [..., M, K], [..., K, N], [N] -> [..., M, N].",
    golden=golden.linear,
    advice=_linear_advice,
)
