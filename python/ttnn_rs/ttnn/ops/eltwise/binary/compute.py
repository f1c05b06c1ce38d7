"""Element-wise binary operators with broadcasting (`binary_ng`).

The second operand is a tensor or a number.

Source: tt-metal `ttnn/cpp/ttnn/operations/eltwise/binary_ng`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

from ttnn.base.activation import Activation
from ttnn.base.enums import FORMAT_CODE, DataType, Layout
from ttnn.base.exceptions import LayoutError, ShapeError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.operation.result_shards import of_one, of_two
from ttnn.operation.steps import ChainStep
from ttnn.ops._programs.activations import chain, is_single_relu
from ttnn.ops._programs.common import (
    FLOATS,
    INTEGERS,
    agreed_dtype,
    allocate,
    as_float,
    full_tiles,
    is_empty,
    needs_tiles,
    on_device,
    result_spec,
    same_device,
    take_output,
)
from ttnn.ops._programs.element_map import copy_into, in_rows, like_in_rows, needs_rows
from ttnn.ops._programs.integer_chain import apply_integers
from ttnn.ops._programs.sfpu_chain import apply_chain, follows_tensor
from ttnn.ops.data_movement.layout import tilize_padded
from ttnn.ops.eltwise.binary.checks import (
    TILES_DO_NOT_FIT,
    broadcast,
    check_broadcast,
    check_in_place,
    check_result,
    check_scalar,
    check_type_beside_number,
    check_types,
    on_host,
    other_shape,
)
from ttnn.ops.eltwise.binary.program import Arithmetic, Program, program_for
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_HIFI4: Final = 4


@dataclass(slots=True)
class Options:
    """The keyword options of one call."""

    dtype: DataType | None = None
    memory_config: MemoryConfig | None = None
    output_tensor: Tensor | None = None
    activations: Sequence[Activation] = ()
    activations_a: Sequence[Activation] = ()
    activations_b: Sequence[Activation] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Parameters that only this operator has, by name."""

    @property
    def has_activations(self) -> bool:
        """Return True if any activation is fused."""
        return bool(self.activations or self.activations_a or self.activations_b)


def compute(arithmetic: Arithmetic, a: Tensor | float, b: Tensor | float, options: Options) -> Tensor:
    """Run an operator on two tensors, or on a tensor and number."""
    if options.has_activations and any(isinstance(x, Tensor) and x.spec.dtype in INTEGERS for x in (a, b)):
        return _activated(arithmetic, a, b, options)
    return _compute(arithmetic, a, b, options)


def _compute(arithmetic: Arithmetic, a: Tensor | float, b: Tensor | float, options: Options) -> Tensor:
    if not isinstance(a, Tensor):
        assert isinstance(b, Tensor)
        return _with_scalar(arithmetic, b, a, True, options)
    if not isinstance(b, Tensor):
        return _with_scalar(arithmetic, a, b, False, options)
    return _of_tensors(arithmetic, a, b, options)


def _activated(arithmetic: Arithmetic, a: Tensor | float, b: Tensor | float, options: Options) -> Tensor:
    """Run an operator on integers with activations.

    Those of an operand run before, the others after it.
    """
    like = a if isinstance(a, Tensor) else b
    assert isinstance(like, Tensor)
    operands = []
    for operand, functions in ((a, options.activations_a), (b, options.activations_b)):
        if functions:
            if not isinstance(operand, Tensor):
                operand = _tile_of(arithmetic, operand, like)
            if operand.spec.dtype in INTEGERS:
                operand = apply_integers(arithmetic.name, operand, functions)
            else:
                operand = apply_chain(arithmetic.name, operand, chain(arithmetic.name, functions))
        operands.append(operand)
    place = options.memory_config
    if place is None and options.output_tensor is None and not isinstance(a, Tensor):
        # A number has no place of its own, also where it becomes a tensor.
        place = like.spec.memory_config
    a, b = operands
    options = replace(options, activations_a=(), activations_b=(), memory_config=place)
    result = agreed_dtype(arithmetic.name, options.dtype, options.output_tensor, _own(arithmetic, like.spec.dtype))
    if not options.activations or result not in INTEGERS:
        return _compute(arithmetic, a, b, options)
    first = _compute(arithmetic, a, b, replace(options, activations=(), output_tensor=None, dtype=result))
    return apply_integers(arithmetic.name, first, options.activations, options.memory_config, options.output_tensor)


def _tile_of(arithmetic: Arithmetic, scalar: float, like: Tensor) -> Tensor:
    """Return the number as an integer tensor that broadcasts to any rank."""
    dtype = like.spec.dtype
    scalar = as_float(arithmetic.name, scalar, "the number")
    scalar = check_scalar(arithmetic, scalar, dtype)
    device = on_device(arithmetic.name, like)
    tile = allocate(TensorSpec.of((), dtype, like.spec.layout, DRAM_MEMORY_CONFIG), device)
    assert tile.buffer is not None
    engine_steps.fill(tile.buffer, format=FORMAT_CODE[dtype], value=scalar)
    return tile


def _with_scalar(
    arithmetic: Arithmetic,
    tensor: Tensor,
    scalar: float,
    scalar_is_left: bool,
    options: Options,
) -> Tensor:
    spec = tensor.spec
    scalar = as_float(arithmetic.name, scalar, "the number")
    # The tile that a number fills is bfloat16 unless the tensor is float32.
    other = spec.dtype if spec.dtype in INTEGERS or spec.dtype is DataType.FLOAT32 else DataType.BFLOAT16
    device = on_device(arithmetic.name, tensor, "input_tensor_a", on_host("A"))
    place = options.memory_config
    if place is not None and options.output_tensor is None:
        place = of_one(spec, place, device)
        spec.with_memory_config(place)
    if spec.dtype in INTEGERS:
        scalar = check_scalar(arithmetic, scalar, spec.dtype)
    check_type_beside_number(arithmetic, spec.dtype)
    full_tiles(arithmetic.name, tensor)
    shape = spec.shape._dims
    dtype = agreed_dtype(arithmetic.name, options.dtype, options.output_tensor, _own(arithmetic, spec.dtype))
    output = _result(arithmetic, options, dtype, shape, spec, device, place)
    formats = (other, spec.dtype) if scalar_is_left else (spec.dtype, other)
    program = program_for(arithmetic, *formats, dtype)
    code, scalar_code = FORMAT_CODE[spec.dtype], FORMAT_CODE[other]
    _run(
        arithmetic,
        program,
        options,
        tensor,
        None,
        output,
        (code, scalar_code, FORMAT_CODE[dtype]),
        scalar=scalar,
        scalar_is_left=scalar_is_left,
        shapes=(_folded(shape), (), _folded(shape)),
    )
    return output


def _of_tensors(arithmetic: Arithmetic, a: Tensor, b: Tensor, options: Options) -> Tensor:
    name = arithmetic.name
    device = on_device(name, a, "input_tensor_a", on_host("A"))
    on_device(name, b, "input_tensor_b", on_host("B"))
    same_device(name, device, b, "input_tensor_b")
    if a.spec.layout is not b.spec.layout:
        a, b = _in_tiles(name, a, b, options.output_tensor)
    spec_a, spec_b = a.spec, b.spec
    full_tiles(name, a, "input_tensor_a")
    full_tiles(name, b, "input_tensor_b")
    shape_a, shape_b = spec_a.shape._dims, spec_b.shape._dims
    try:
        shape = broadcast(name, shape_a, shape_b)
    except ShapeError as error:
        # Tiles are compared first, the shape of the output next.
        if options.output_tensor is not None and error.vendor != TILES_DO_NOT_FIT:
            error.vendor = other_shape(options.output_tensor.spec, shape_a)
        raise
    check_broadcast(name, spec_a, spec_b, shape)
    place = of_two(spec_a, spec_b, shape, options.memory_config, device) if options.output_tensor is None else None
    if place is not None:
        TensorSpec.of(shape, spec_a.dtype, spec_a.layout, place)
    check_types(arithmetic, spec_a.dtype, spec_b.dtype)
    if options.output_tensor is a:
        check_in_place(name, spec_a, spec_b, shape)
    dtype = agreed_dtype(name, options.dtype, options.output_tensor, _own(arithmetic, spec_a.dtype))
    output = _result(arithmetic, options, dtype, shape, spec_a, device, place)
    program = program_for(arithmetic, spec_a.dtype, spec_b.dtype, dtype)
    if shape_a == shape_b:
        shape = shape_a = shape_b = _folded(shape)
    _run(arithmetic, program, options, a, b, output, program.formats, shapes=(shape_a, shape_b, shape))
    return output


def _in_tiles(operator: str, a: Tensor, b: Tensor, output: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return a row-major and a tiled operand both tiled.

    The result is tiled then.

    Raises:
        LayoutError: the result is to be written into a row-major tensor.
    """
    if output is not None and output.spec.layout is Layout.ROW_MAJOR:
        raise LayoutError(
            f"{operator}: input_tensor_a is {a.layout.name} and input_tensor_b is {b.layout.name}, so the output is "
            "tiled, but the tensor for it is ROW_MAJOR. Convert it with ttnn.to_layout."
        )
    if a.spec.layout is Layout.ROW_MAJOR:
        return tilize_padded(operator, a), b
    return a, tilize_padded(operator, b)


@lru_cache(maxsize=4096)
def _folded(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape with its leading dimensions merged.

    Without broadcasting they are the same pages.
    """
    return shape if len(shape) <= 3 else (math.prod(shape[:-2]), *shape[-2:])


def _own(arithmetic: Arithmetic, dtype: DataType) -> DataType:
    """Return the data type of a result if none is asked for."""
    return arithmetic.integer_result or dtype if dtype in INTEGERS else dtype


def _result(
    arithmetic: Arithmetic,
    options: Options,
    dtype: DataType,
    shape: tuple[int, ...],
    like: TensorSpec,
    device: Any,
    place: MemoryConfig | None,
) -> Tensor:
    """Return the output tensor.

    It is `output_tensor`, or a new one in `place`, or with the memory config of `like`.
    """
    name = arithmetic.name
    check_result(arithmetic, like.dtype, dtype)
    if options.output_tensor is not None:
        vendor = other_shape(options.output_tensor.spec, shape)
        return take_output(name, options.output_tensor, shape, like.layout, device, vendor)
    needs_tiles(name, dtype, like.layout)
    return allocate(result_spec(like, shape, dtype, place), device)


def _run(
    arithmetic: Arithmetic,
    program: Program,
    options: Options,
    a: Tensor,
    b: Tensor | None,
    output: Tensor,
    formats: tuple[int, int, int],
    *,
    scalar: float | None = None,
    scalar_is_left: bool = False,
    shapes: tuple[Sequence[int], Sequence[int], Sequence[int]],
) -> None:
    name = arithmetic.name
    by_packer = False
    after, before_a, before_b = program.after, program.before_a, program.before_b
    if options.has_activations:
        # A ReLU alone is done by the packer; anything else runs in Dst before it.
        by_packer = is_single_relu(options.activations) and not (program.cast or after)
        if not by_packer:
            after = (*after, *chain(name, options.activations))
        # The caller's activations of an operand come before the operator's own.
        before_a = (*chain(name, options.activations_a), *before_a)
        before_b = (*chain(name, options.activations_b), *before_b)
        if program.dst32:
            _refuse_widening(name, a, b, (*before_a, *before_b, *after))
    if scalar_is_left:
        before_a, before_b = before_b, before_a
    if is_empty(output.spec):
        return
    target = output
    if output.spec.layout is Layout.ROW_MAJOR and needs_rows(
        *(tensor for tensor in (a, b, output) if tensor is not None)
    ):
        a, b, target = in_rows(a), None if b is None else in_rows(b), like_in_rows(output)
    assert a.buffer is not None
    assert target.buffer is not None
    assert target._device is not None
    engine_steps.binary(
        a.buffer,
        None if b is None else b.buffer,
        target.buffer,
        formats=formats,
        op=program.op,
        engine=program.unit,
        scalar=scalar,
        scalar_is_lhs=scalar_is_left,
        shape_a=shapes[0],
        shape_b=shapes[1],
        shape_out=shapes[2],
        tiled=output.spec.layout is Layout.TILE,
        fidelity=_HIFI4,
        dst32=program.dst32,
        pre_a=list(before_a),
        pre_b=list(before_b),
        post=[*after, *program.cast],
        packer_relu=by_packer,
        variant=program.variant,
        parameters=program.parameters,
    )
    if target is not output:
        copy_into(target, output)


def _refuse_widening(operator: str, a: Tensor, b: Tensor | None, steps: Sequence[ChainStep]) -> None:
    """Refuse functions in 32-bit Dst with coefficients of a 16-bit tensor.

    Raises:
        UnsupportedError: as above.
    """
    dtypes = [tensor.spec.dtype for tensor in (a, b) if tensor is not None]
    function = follows_tensor(steps)
    if function is not None and any(dtype in FLOATS and dtype is not DataType.FLOAT32 for dtype in dtypes):
        given = " and ".join(dtype.name for dtype in dtypes)
        raise UnsupportedError(
            f"{operator}: the activation {function} of {given} with a 32-bit Dst is not modelled.", "untested"
        )
