"""Gradients scaled to a largest norm, which all of them have together.

Source: tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_clip_grad_norm`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from ttnn.base.compute_config import FIDELITY_NUMBER
from ttnn.base.enums import Layout, MathFidelity
from ttnn.base.exceptions import ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import moreh as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.registry import declare, find
from ttnn.operation.signature import BOOLEAN, COMPUTE_KERNEL_CONFIG, FLOAT, TENSOR, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, allocate, is_empty, values_of_chips
from ttnn.ops._programs.element_map import copy_into
from ttnn.ops._programs.pipeline import ROWS, Pipeline, bits, matrices, rounded
from ttnn.ops.creation.filled import filled
from ttnn.ops.data_movement.concat import TENSORS
from ttnn.ops.moreh.checks import BF16, Compute, Result, check_operand
from ttnn.ops.moreh.power import Power, power
from ttnn.ops.normalization.softmax_programs import Numerics
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.moreh_clip_grad_norm"


@lru_cache(maxsize=256)
def _power_sum(shape: tuple[int, ...], by: Power, numerics: Numerics) -> Pipeline:
    """Return the sum of |x| ** p of a tensor, as one element."""
    program = numerics.pipeline(shape, matrices(0))
    magnitude = program.copy(program.tensor(BF16), BF16, [("abs", "default")], padding="zero")
    added = program.fold(power(program, magnitude, by, numerics, BF16), BF16, by="add")
    program.sum([(added, 0, 1)], (BF16, bits(1.0)), BF16, output=(0, 0, 1))
    return program


@lru_cache(maxsize=256)
def _root(count: int, by: Power, numerics: Numerics) -> Pipeline:
    """Return the power of the sum of as many tiles."""
    program = numerics.pipeline((count, 1, 1), 0)
    added = program.fold(program.tensor(BF16), BF16, by="add")
    power(program, added, by, numerics, BF16, output=(0, 0, 1))
    return program


@lru_cache(maxsize=256)
def _scaled(shape: tuple[int, ...], numerics: Numerics) -> Pipeline:
    """Return a tensor times one element."""
    program = numerics.pipeline(shape, ROWS)
    x = program.tensor(BF16)
    program.eltwise("mul", x, program.tensor(BF16, tuple(1 for _ in shape), "scalar"), BF16, output=0)
    return program


def _refuse(norm_type: float) -> ParameterError:
    return ParameterError(
        f"{_NAME}: the norm is not finite, and error_if_nonfinite is True.",
        vendor=f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
        "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
        "`error_if_nonfinite=False`",
    )


def _clip_grad_norm(
    inputs: Sequence[Tensor],
    max_norm: float,
    norm_type: float,
    error_if_nonfinite: bool,
    total_norm: Tensor | None,
    memory_config: MemoryConfig | None,
    _compute_kernel_config: Compute,
) -> Tensor:
    if not inputs:
        raise ParameterError(f"{_NAME}: inputs is empty; there is nothing to clip.")
    if error_if_nonfinite and math.isnan(norm_type):
        raise _refuse(norm_type)
    if norm_type == 0:
        raise ParameterError(f"{_NAME}: norm_type is 0, which has no root.")
    vendor = (None, "moreh_clip_grad_norm_step1 input only supports TILE layout.", None)
    device = check_operand(_NAME, "inputs[0]", inputs[0], vendor=vendor)
    for position, tensor in enumerate(inputs):
        check_operand(_NAME, f"inputs[{position}]", tensor, device, vendor=vendor)
        if is_empty(tensor.spec):
            raise ShapeError(f"{_NAME}: inputs[{position}] has shape {tensor.spec.shape}; it has no elements.")
    if total_norm is not None:
        check_operand(_NAME, "total_norm", total_norm, device)
        if total_norm.spec.num_pages != 1:
            raise ShapeError(f"{_NAME}: total_norm has shape {total_norm.spec.shape}; it must be one element.")
    by = Power.of(_NAME, norm_type), Power.of(_NAME, rounded(1.0 / rounded(norm_type)))
    # The kernels are built in one way for all configurations.
    numerics = Numerics(BF16, FIDELITY_NUMBER[MathFidelity.HiFi4], False, False)
    place = memory_config or inputs[0].spec.memory_config
    shapes = [(*(1 for _ in range(2 - tensor.spec.shape.rank)), *tensor.spec.shape) for tensor in inputs]
    one = TensorSpec.of((1, 1), BF16, Layout.TILE, DRAM_MEMORY_CONFIG)
    sums = allocate(TensorSpec.of((len(inputs), 1, 1), BF16, Layout.TILE, DRAM_MEMORY_CONFIG), device)
    parts = [allocate(one, device) for _ in inputs]
    for tensor, shape, part in zip(inputs, shapes, parts, strict=True):
        _power_sum(shape, by[0], numerics).run([tensor], [part])
    joined: Tensor = find("ttnn.concat")([find("ttnn.reshape")(part, (1, 1, 1)) for part in parts], 0)
    copy_into(joined, sums)
    norm = Result(_NAME, (1, 1), BF16, place, device)
    _root(len(inputs), by[1], numerics).run([sums], [norm.written])
    if error_if_nonfinite and not np.isfinite(np.asarray(values_of_chips(norm.written), np.float64)).all():
        raise _refuse(norm_type)

    def number(value: float) -> Tensor:
        return filled(_NAME, (1,), value, BF16, Layout.TILE, device, DRAM_MEMORY_CONFIG)

    found = find("ttnn.reshape")(norm.written, (1,))
    ratio = find("ttnn.div")(number(max_norm), find("ttnn.add")(found, 1e-6))
    factor: Tensor = find("ttnn.minimum")(ratio, number(1.0))
    results = [allocate(tensor.spec, device) for tensor in inputs]
    for tensor, shape, result in zip(inputs, shapes, results, strict=True):
        _scaled(shape, numerics).run([tensor, factor], [result])
    for tensor, result in zip(inputs, results, strict=True):
        copy_into(result, tensor)
    if total_norm is None:
        return norm.written
    copy_into(norm.written, total_norm)
    return total_norm


moreh_clip_grad_norm = declare(
    "moreh_clip_grad_norm",
    (
        Signature(
            (
                Param("inputs", TENSORS, doc="Gradients on a device; they are scaled in place."),
                Param("max_norm", FLOAT, doc="Largest norm.", example=1.0),
                Param("norm_type", FLOAT, 2.0, doc="Order of the norm.", example=3.0),
                Param("error_if_nonfinite", BOOLEAN, False, doc="Raise if the norm is not finite."),
            ),
            (
                Param("total_norm", TENSOR, None, doc="Preallocated output of one element."),
                MEMORY_CONFIG_OPTION,
                Param(
                    "compute_kernel_config",
                    COMPUTE_KERNEL_CONFIG,
                    None,
                    doc="Changes nothing: the kernels run at HiFi4 with a 16-bit Dst.",
                ),
            ),
        ),
    ),
    _clip_grad_norm,
    "Return the norm of all gradients together, and clip them in place.\nThey are scaled by `max_norm / (norm + 1e-6)` "
    "if that is less than 1.\nShape: any number of [..., H, W] -> [1, 1].",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_clip_grad_norm`",
    dtypes=(BF16,),
    layouts=(Layout.TILE,),
    golden=golden.moreh_clip_grad_norm,
    accuracy=no_bound("for powers and sums round to bfloat16"),
    engine=("Pipeline",),
    composition=True,
    raises=(
        ("DTypeError", "a tensor is not bfloat16."),
        ("LayoutError", "a tensor is row-major."),
        ("ShapeError", "a tensor is empty."),
        (
            "ParameterError",
            "there are no inputs, `norm_type` is no order, or the norm is not finite and has to be.",
        ),
    ),
    examples=(),
)
