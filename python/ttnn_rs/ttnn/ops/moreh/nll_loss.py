"""The negative log likelihood loss of the moreh family and its gradients.

Elements of a class are taken and placed by index; the arithmetic runs in tiles.
Source: tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_nll_loss`, `moreh_nll_loss_backward`,
`moreh_nll_loss_unreduced_backward`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Final

from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.device.lifecycle import MeshDevice
from ttnn.golden import moreh as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.domain import Operand as Example
from ttnn.operation.registry import declare, find
from ttnn.operation.signature import BOOLEAN, INTEGER, TENSOR, Param, Signature, instance_kind
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION
from ttnn.ops._programs.element_map import copy_into
from ttnn.ops._programs.pipeline import ROWS, Chain, Pipeline
from ttnn.ops.creation.filled import filled
from ttnn.ops.data_movement.concat import concat
from ttnn.ops.data_movement.indexed import gathered, scatter
from ttnn.ops.data_movement.permute import moved_to
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.ops.eltwise.binary import multiply
from ttnn.ops.eltwise.ternary.fused import where
from ttnn.ops.moreh.checks import BF16, COMPUTE, Compute, Result, check_operand, check_shape, numerics_of
from ttnn.ops.moreh.power import recip
from ttnn.ops.moreh.reductions import total
from ttnn.ops.moreh.scalars import cut_to_bfloat16
from ttnn.ops.normalization.softmax_programs import Numerics
from ttnn.tensor.tensor import Tensor

_NEG: Final[Chain] = [("neg", "default")]
_INT32: Final = DataType.INT32


def _matrix(shape: Sequence[int]) -> tuple[int, ...]:
    return (*(1 for _ in range(2 - len(shape))), *shape)


@lru_cache(maxsize=256)
def _loss_program(shape: tuple[int, ...], weighted: bool, divided: bool, numerics: Numerics) -> Pipeline:
    """Return -x * weight / divisor from the elements of the classes.

    Factors that are absent are left out.
    """
    program, wide = numerics.pipeline(shape, ROWS), numerics.wide
    count = 1 + weighted + divided
    x = program.copy(program.tensor(BF16), BF16 if count == 1 else wide, _NEG, output=0 if count == 1 else None)
    if weighted:
        out = 0 if count == 2 and not divided else None
        x = program.eltwise("mul", x, program.tensor(BF16), BF16 if out == 0 else wide, output=out)
    if divided:
        inverse = program.copy(program.tensor(BF16, _scalar(shape), "scalar"), wide, recip(numerics))
        program.eltwise("mul", x, inverse, BF16, output=0)
    return program


def _scalar(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(1 for _ in shape)


@lru_cache(maxsize=256)
def _gradient_program(shape: tuple[int, ...], divided: bool, numerics: Numerics) -> Pipeline:
    """Return -(weight * gradient) / divisor.

    The weights are those of the classes.
    """
    program, wide = numerics.pipeline(shape, ROWS), numerics.wide
    weights, grad = program.tensor(BF16), program.tensor(BF16, _scalar(shape), "scalar")
    if not divided:
        program.eltwise("mul", weights, grad, BF16, _NEG, output=0)
        return program
    inverse = program.copy(program.tensor(BF16, _scalar(shape), "scalar"), wide, recip(numerics))
    program.eltwise("mul", program.eltwise("mul", weights, grad, wide, _NEG), inverse, BF16, output=0)
    return program


class _Classes:
    """Target classes as indices.

    They are indices into `count` classes and one more for elements that count as 0.
    """

    def __init__(self, name: str, target: Tensor, count: int, ignore_index: int, device: MeshDevice) -> None:
        self.name, self.count, self.device = name, count, device
        self.shape = tuple(target.spec.shape)
        named = target
        if -(2**31) <= ignore_index < 2**31:
            named = where(find("ttnn.eq")(target, ignore_index), count, target)
        named = where(find("ttnn.lt")(named, 0), count, named)
        self.index: Tensor = find("ttnn.minimum")(named, count)

    def _zero(self, shape: Sequence[int]) -> Tensor:
        return filled(self.name, shape, 0.0, BF16, Layout.TILE, self.device, DRAM_MEMORY_CONFIG)

    def take(self, source: Tensor) -> Tensor:
        """Return the elements of [N, C, ...] that belong to the classes: [N, ...]."""
        n, _, *rest = source.spec.shape
        extended = concat([source, self._zero((n, 1, *rest))], 1)
        index = reshaped(self.name, self.index, (n, 1, *rest))
        return reshaped(self.name, gathered(self.name, extended, 1, index), self.shape)

    def weights(self, weight: Tensor | None) -> Tensor:
        """Return the weights of the classes; 1 for each without weights."""
        volume = math.prod(self.shape)
        if weight is None:
            ones = filled(self.name, (1, self.count), 1.0, BF16, Layout.TILE, self.device, DRAM_MEMORY_CONFIG)
        else:
            ones = reshaped(self.name, weight, (1, self.count))
        extended = concat([ones, self._zero((1, 1))], 1)
        index = reshaped(self.name, self.index, (1, volume))
        return reshaped(self.name, gathered(self.name, extended, 1, index), self.shape)

    def place(self, values: Tensor, shape: Sequence[int]) -> Tensor:
        """Return zeros of [N, C, ...] with values of [N, ...] at their classes."""
        n, _, *rest = shape
        index, given = (reshaped(self.name, tensor, (n, 1, *rest)) for tensor in (self.index, values))
        result: Tensor = scatter(self._zero(shape), 1, index, given)
        return result


def _check(name: str, label: str, tensor: Tensor | None, device: MeshDevice, dtype: DataType = BF16) -> None:
    if tensor is not None:
        sentences = (
            f"{label} to nll_loss need to be on device!",
            f"{label} to nll_loss must be tilized",
            f"Invalid {label} dtype",
        )
        check_operand(name, label, tensor, device, (dtype,), vendor=sentences)


def _one_page(name: str, label: str, tensor: Tensor) -> None:
    if tensor.spec.num_pages != 1:
        raise ShapeError(f"{name}: {label} has shape {tensor.spec.shape}; it must be one element.")


def _check_target(name: str, target: Tensor) -> MeshDevice:
    sentences = (
        "Operands to nll_loss need to be on device!",
        "target_tensor to nll_loss must be tilized",
        "Invalid target_tensor dtype",
    )
    return check_operand(name, "target_tensor", target, None, (_INT32,), vendor=sentences)


def _check_weight(name: str, weight: Tensor | None, count: int, device: MeshDevice) -> None:
    _check(name, "weight_tensor", weight, device)
    if weight is not None and weight.spec.shape.volume() != count:
        raise ShapeError(f"{name}: weight_tensor has shape {weight.spec.shape}; it must be [{count}].")


def _nll_loss(
    input_tensor: Tensor,
    target_tensor: Tensor,
    reduction: str,
    weight_tensor: Tensor | None,
    divisor_tensor: Tensor | None,
    output_tensor: Tensor | None,
    ignore_index: int,
    memory_config: MemoryConfig | None,
    compute_kernel_config: Compute,
) -> Tensor:
    name = "ttnn.moreh_nll_loss"
    device = _check_target(name, target_tensor)
    _check(name, "input_tensor", input_tensor, device)
    shape = tuple(input_tensor.spec.shape)
    if len(shape) < 2 or 0 in shape:
        raise ShapeError(f"{name}: input_tensor has shape {list(shape)}; it must be [N, C, ...], not empty.")
    targets = (shape[0], *shape[2:])
    check_shape(name, "target_tensor", target_tensor, targets)
    _check_weight(name, weight_tensor, shape[1], device)
    for label, tensor in (("divisor_tensor", divisor_tensor), ("output_tensor", output_tensor)):
        _check(name, label, tensor, device)
        if tensor is not None and reduction != "none":
            _one_page(name, label, tensor)
    if reduction not in ("mean", "sum", "none"):
        raise ParameterError(f"{name}: reduction={reduction!r}; it must be 'mean', 'sum' or 'none'.")
    mean = reduction == "mean"
    if mean and divisor_tensor is None:
        raise ParameterError(
            f"{name}: reduction='mean' requires divisor_tensor, which receives the sum of the weights.",
            vendor="Divisor tensor must not be empty",
        )
    classes = _Classes(name, target_tensor, shape[1], ignore_index, device)
    weights = classes.weights(weight_tensor)
    numerics = numerics_of(BF16, compute_kernel_config)
    operands = [classes.take(input_tensor)]
    if weight_tensor is not None:
        operands.append(weights)
    divisor = total(name, weights, compute_kernel_config) if mean else None
    if divisor is not None:
        operands.append(divisor)
    place = memory_config or input_tensor.spec.memory_config
    summed = reduction != "none"
    # Vectors get two dimensions, unless an output has one.
    given = not summed and output_tensor is not None and output_tensor.spec.shape.rank == 1
    losses = Result(
        name,
        targets if given else _matrix(targets),
        BF16,
        DRAM_MEMORY_CONFIG if summed else place,
        device,
        None if summed else output_tensor,
    )
    _loss_program(_matrix(targets), weight_tensor is not None, mean, numerics).run(operands, [losses.written])
    if not summed:
        return losses.tensor()
    result = total(name, losses.written, compute_kernel_config)
    if divisor is not None and divisor_tensor is not None:
        copy_into(divisor, divisor_tensor)
    if output_tensor is not None:
        copy_into(result, output_tensor)
        return output_tensor
    return moved_to(reshaped(name, result, (1, 1)), place)


def _require_gradient(name: str, input_grad: Tensor | None) -> None:
    if input_grad is None:
        raise ParameterError(
            f"{name}: input_grad_tensor is not given; it defines the number of classes.",
            vendor=f"{name.removeprefix('ttnn.')} not support creating output tensors.",
        )


def _check_gradient(
    name: str, target: Tensor, weight: Tensor | None, input_grad: Tensor | None, device: MeshDevice
) -> Tensor:
    """Return the output tensor of the gradient."""
    assert input_grad is not None
    _check(name, "input_grad_tensor", input_grad, device)
    shape = tuple(input_grad.spec.shape)
    if len(shape) < 2 or 0 in shape:
        raise ShapeError(f"{name}: input_grad_tensor has shape {list(shape)}; it must be [N, C, ...], not empty.")
    check_shape(name, "target_tensor", target, (shape[0], *shape[2:]))
    _check_weight(name, weight, shape[1], device)
    return input_grad


def _nll_loss_backward(
    target_tensor: Tensor,
    output_grad_tensor: Tensor,
    _reduction_mean: bool,
    weight_tensor: Tensor | None,
    input_grad_tensor: Tensor | None,
    divisor_tensor: Tensor | None,
    ignore_index: int,
    _memory_config: MemoryConfig | None,
    compute_kernel_config: Compute,
) -> Tensor:
    name = "ttnn.moreh_nll_loss_backward"
    _require_gradient(name, input_grad_tensor)
    device = _check_target(name, target_tensor)
    output = _check_gradient(name, target_tensor, weight_tensor, input_grad_tensor, device)
    operands = [output_grad_tensor, *([] if divisor_tensor is None else [divisor_tensor])]
    for label, tensor in zip(("output_grad_tensor", "divisor_tensor"), operands, strict=False):
        _check(name, label, tensor, device)
        _one_page(name, label, tensor)
    shape = tuple(output.spec.shape)
    classes = _Classes(name, target_tensor, shape[1], ignore_index, device)
    placed = classes.place(classes.weights(weight_tensor), shape)
    result = Result(name, shape, BF16, DRAM_MEMORY_CONFIG, device, output)
    program = _gradient_program(shape, divisor_tensor is not None, numerics_of(BF16, compute_kernel_config))
    program.run([placed, *operands], [result.written])
    return result.tensor()


def _unreduced_backward(
    target_tensor: Tensor,
    output_grad_tensor: Tensor,
    weight_tensor: Tensor | None,
    input_grad_tensor: Tensor | None,
    ignore_index: int,
    _memory_config: MemoryConfig | None,
    _compute_kernel_config: Compute,
) -> Tensor:
    name = "ttnn.moreh_nll_loss_unreduced_backward"
    _require_gradient(name, input_grad_tensor)
    device = _check_target(name, target_tensor)
    output = _check_gradient(name, target_tensor, weight_tensor, input_grad_tensor, device)
    _check(name, "output_grad_tensor", output_grad_tensor, device)
    shape = tuple(output.spec.shape)
    check_shape(name, "output_grad_tensor", output_grad_tensor, (shape[0], *shape[2:]))
    classes = _Classes(name, target_tensor, shape[1], ignore_index, device)
    values: Tensor = find("ttnn.neg")(output_grad_tensor)
    typecast = find("ttnn.typecast")
    if weight_tensor is not None:
        factors = (typecast(tensor, DataType.FLOAT32) for tensor in (values, classes.weights(weight_tensor)))
        values = cut_to_bfloat16(multiply(*factors))
    copy_into(classes.place(values, shape), output)
    return output


_CLASSES: Final = Example((1, 64, 128), 1, dtype=_INT32, between=(0, 0))
_TARGET: Final = Param("target_tensor", TENSOR, doc="[N, ...] of INT32: the classes.", example=_CLASSES)
_WEIGHT: Final = Param("weight_tensor", TENSOR, None, doc="[C]: weights.", example=Example((1,), 4, BF16))
_DIVISOR: Final = Param("divisor_tensor", TENSOR, None, doc="[1]: their sum.", example=Example((1,), 5, BF16))
_IGNORE: Final = Param("ignore_index", INTEGER, -100, doc="Class that counts as 0.", example=0)
_INPUT_GRAD: Final = Param(
    "input_grad_tensor",
    TENSOR,
    None,
    doc="[N, C, ...]: receives the gradient.",
    example=Example((1, 1, 64, 128), 6, BF16),
)
_declare: Final = partial(
    declare,
    layouts=(Layout.TILE,),
    accuracy=no_bound("for every product and sum rounds to bfloat16"),
    composition=True,
    raises=(
        ("DTypeError", "a data type is not supported."),
        ("LayoutError", "a tensor is row-major."),
        ("ShapeError", "shapes do not fit."),
        ("ParameterError", "`reduction` is not supported, or a required tensor is missing."),
    ),
    examples=(),
)

moreh_nll_loss = _declare(
    "moreh_nll_loss",
    (
        Signature(
            (
                Param("input_tensor", TENSOR, doc="[N, C, ...]: logarithms of probabilities."),
                _TARGET,
                Param(
                    "reduction",
                    instance_kind("str", str),
                    doc='"mean" divides by the sum of the weights, "sum" adds, "none" keeps every loss.',
                    example="none",
                ),
            ),
            (
                _WEIGHT,
                Param("divisor_tensor", TENSOR, None, doc="[1]: receives the sum of the weights, for the mean."),
                Param("output_tensor", TENSOR, None, doc="Preallocated output of one element."),
                _IGNORE,
                MEMORY_CONFIG_OPTION,
                COMPUTE,
            ),
        ),
    ),
    _nll_loss,
    "Return the negative log likelihood loss: the sum or mean of `-input[n, target[n]] * weight[target[n]]`.\n"
    "Shape: [N, C, ...], [N, ...] -> [1, 1], or [N, ...] without a reduction.",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_nll_loss`",
    dtypes=(BF16,),
    engine=("Pipeline", "gather_elements"),
    golden=golden.moreh_nll_loss,
)
moreh_nll_loss_backward = _declare(
    "moreh_nll_loss_backward",
    (
        Signature(
            (
                _TARGET,
                Param("output_grad_tensor", TENSOR, doc="[1]: that of the loss.", example=Example((1,), 3, BF16)),
                Param("reduction_mean", BOOLEAN, doc="Ignored: a given divisor is used."),
            ),
            (_WEIGHT, _INPUT_GRAD, _DIVISOR, _IGNORE, MEMORY_CONFIG_OPTION, COMPUTE),
        ),
    ),
    _nll_loss_backward,
    "Return a summed loss's gradient: `-weight * output_grad / divisor` at classes, else 0.\n"
    "Shape: [N, ...], [1] -> [N, C, ...].",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_nll_loss_backward`",
    dtypes=(_INT32,),
    engine=("Pipeline", "scatter_elements"),
    golden=golden.moreh_nll_loss_backward,
)
moreh_nll_loss_unreduced_backward = _declare(
    "moreh_nll_loss_unreduced_backward",
    (
        Signature(
            (
                _TARGET,
                Param("output_grad_tensor", TENSOR, doc="[N, ...]: gradients.", example=Example((1, 64, 128), 3, BF16)),
            ),
            (_WEIGHT, _INPUT_GRAD, _IGNORE, MEMORY_CONFIG_OPTION, COMPUTE),
        ),
    ),
    _unreduced_backward,
    "Return unsummed losses' gradient: `-weight * output_grad` at classes, else 0.\n"
    "Shape: [N, ...], [N, ...] -> [N, C, ...]. Products are truncated to bfloat16.",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_nll_loss_unreduced_backward`",
    dtypes=(_INT32,),
    engine=("scatter_elements",),
    golden=golden.moreh_nll_loss_unreduced_backward,
)
