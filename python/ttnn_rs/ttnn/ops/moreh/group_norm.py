"""Group norm of the moreh family and its gradients, on images.

Source: tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_group_norm`, `moreh_group_norm_backward`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Final

from ttnn.base.compute_config import FIDELITY_NUMBER
from ttnn.base.enums import Layout, MathFidelity
from ttnn.base.exceptions import ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import moreh as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.domain import Operand as Example
from ttnn.operation.registry import declare
from ttnn.operation.signature import COMPUTE_KERNEL_CONFIG, FLOAT, INTEGER, MEMORY_CONFIG, TENSOR, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, allocate
from ttnn.ops._programs.element_map import copy_into
from ttnn.ops._programs.movement import move
from ttnn.ops._programs.pipeline import matrices, rounded, truncated
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.ops.moreh.checks import BF16, FLAGS, Compute, Result, check_operand, check_shape
from ttnn.ops.moreh.norm_programs import Parameter, column_sums, forward, input_gradient, products
from ttnn.ops.normalization.softmax_programs import Numerics
from ttnn.tensor.tensor import Tensor

Place = MemoryConfig | None


class _Groups:
    """Images of N x C matrices, whose channels form groups."""

    def __init__(self, name: str, label: str, shape: Sequence[int], num_groups: int) -> None:
        if len(shape) != 4:
            raise ShapeError(f"{name}: {label} has shape {list(shape)}; it must be of rank 4, [N, C, H, W].")
        if num_groups <= 0 or shape[1] % num_groups:
            raise ShapeError(
                f"{name}: num_groups={num_groups} does not divide the {shape[1]} channels of {label}.",
                vendor="input_shape[1] must be divisible by num_groups.",
            )
        if 0 in shape:
            raise ShapeError(f"{name}: {label} has shape {list(shape)}; there is nothing to normalize.")
        self.n, self.c, self.h, self.w = shape
        self.groups = num_groups
        each = self.c // num_groups
        self.shape = (self.n, num_groups, each, self.h, self.w)
        self.axis = matrices(2)
        self.count = each * self.h * self.w
        self.kept = (self.n, num_groups, 1, 1, 1)
        self.parameters = Parameter((1, num_groups, each, 1, 1), "scalar")

    def scaler(self) -> int:
        """Return every element's factor, in the kernel's FP32 order.

        It is applied twice.
        """
        tiles = rounded(rounded(rounded(self.c / self.groups) * rounded(self.h / 32)) * rounded(self.w / 32))
        return truncated(rounded(1.0 / rounded(32.0 * rounded(math.sqrt(tiles)))))

    def parameter(self, name: str, label: str, tensor: Tensor) -> Tensor:
        """Return [1, 1, 1, C] as a tile for each channel."""
        if tensor.spec.shape.volume() != self.c:
            raise ShapeError(
                f"{name}: {label} has shape {tensor.spec.shape}; it must be [1, 1, 1, {self.c}].",
                vendor=f"{label}_shape[-1] must be divisible by num_groups.",
            )
        return reshaped(name, tensor, (1, self.groups, self.c // self.groups, 1, 1))

    def check_statistic(self, name: str, label: str, tensor: Tensor) -> None:
        """Refuse a tensor that is not [1, 1, N, groups]."""
        check_shape(
            name, label, tensor, (1, 1, self.n, self.groups), vendor=f"{label}_shape[-1] must match num_groups."
        )


def _numerics() -> Numerics:
    """Return the kernels' numerics, independent of a configuration."""
    return Numerics(BF16, FIDELITY_NUMBER[MathFidelity.HiFi4], False, False)


def _group_norm(
    input: Tensor,
    num_groups: int,
    eps: float,
    gamma: Tensor | None,
    beta: Tensor | None,
    are_required_outputs: Sequence[bool],
    output: Tensor | None,
    mean: Tensor | None,
    rstd: Tensor | None,
    memory_config: Place,
    _mean_memory_config: Place,
    _rstd_memory_config: Place,
    _compute_kernel_config: Compute,
) -> list[Tensor | None]:
    name = "ttnn.moreh_group_norm"
    if len(are_required_outputs) != 3:
        raise ParameterError(f"{name}: are_required_outputs={list(are_required_outputs)} needs 3 entries.")
    device = check_operand(name, "input", input)
    groups = _Groups(name, "input", tuple(input.spec.shape), num_groups)
    place = memory_config or input.spec.memory_config
    inputs, factors = [input], []
    for label, tensor in (("gamma", gamma), ("beta", beta)):
        factors.append(None if tensor is None else groups.parameters)
        if tensor is not None:
            check_operand(name, label, tensor, device)
            inputs.append(groups.parameter(name, label, tensor))
    statistics: list[Tensor | None] = []
    for label, tensor, flag in zip(("mean", "rstd"), (mean, rstd), are_required_outputs[1:], strict=True):
        if tensor is None and flag:
            tensor = allocate(TensorSpec.of((1, 1, groups.n, num_groups), BF16, Layout.TILE, place), device)
        elif tensor is not None:
            check_operand(name, label, tensor, device)
            groups.check_statistic(name, label, tensor)
        statistics.append(tensor)
    result = Result(name, tuple(input.spec.shape), BF16, place, device, output)
    wanted = (statistics[0] is not None, statistics[1] is not None)
    program = forward(
        groups.shape, groups.axis, _numerics(), groups.scaler(), rounded(eps), (factors[0], factors[1]), wanted
    )
    column = TensorSpec.of(groups.kept, BF16, Layout.TILE, DRAM_MEMORY_CONFIG)
    targets = [tensor for tensor in statistics if tensor is not None]
    columns = [allocate(column, device) for _ in targets]
    program.run(inputs, [result.written, *columns])
    for source, target in zip(columns, targets, strict=True):
        copy_into(reshaped(name, source, tuple(target.spec.shape)), target)
    return [result.tensor(), *statistics]


def _group_norm_backward(
    output_grad: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    num_groups: int,
    are_required_outputs: Sequence[bool],
    gamma: Tensor | None,
    input_grad: Tensor | None,
    gamma_grad: Tensor | None,
    beta_grad: Tensor | None,
    input_grad_memory_config: Place,
    gamma_grad_memory_config: Place,
    beta_grad_memory_config: Place,
    _compute_kernel_config: Compute,
) -> list[Tensor | None]:
    name = "ttnn.moreh_group_norm_backward"
    if len(are_required_outputs) != 3:
        raise ParameterError(f"{name}: are_required_outputs={list(are_required_outputs)} needs 3 entries.")
    device = check_operand(name, "output_grad", output_grad)
    shape = tuple(output_grad.spec.shape)
    groups = _Groups(name, "output_grad", shape, num_groups)
    check_operand(name, "input", input, device)
    check_shape(name, "input", input, shape)
    for label, tensor in (("mean", mean), ("rstd", rstd)):
        check_operand(name, label, tensor, device)
        groups.check_statistic(name, label, tensor)
    given: dict[str, Tensor | None] = {"gamma": gamma, "gamma_grad": gamma_grad, "beta_grad": beta_grad}
    for label, optional in given.items():
        if optional is not None:
            check_operand(name, label, optional, device)
    numerics, place = _numerics(), output_grad.spec.memory_config
    inputs = [output_grad, input, *(reshaped(name, tensor, groups.kept) for tensor in (mean, rstd))]
    results: list[Result | None] = [None, None, None]
    if are_required_outputs[0]:
        factors = [] if gamma is None else [groups.parameter(name, "gamma", gamma)]
        result = Result(name, shape, BF16, input_grad_memory_config or place, device, input_grad)
        parameter = None if gamma is None else groups.parameters
        program = input_gradient(groups.shape, groups.axis, numerics, groups.count, groups.kept, parameter)
        program.run([*inputs, *factors], [result.written])
        results[0] = result
    flags = (are_required_outputs[1], are_required_outputs[2])
    if any(flags):
        places = (gamma_grad_memory_config or place, beta_grad_memory_config or place)
        results[1:] = [
            Result(name, (1, 1, 1, groups.c), BF16, where, device, target) if flag else None
            for flag, target, where in zip(flags, (gamma_grad, beta_grad), places, strict=True)
        ]
        _parameter_gradients(name, groups, numerics, inputs, results[1:])
    # An output may be an operand too.
    return [None if of is None else of.tensor() for of in results]


def _parameter_gradients(
    name: str, groups: _Groups, numerics: Numerics, inputs: Sequence[Tensor], results: Sequence[Result | None]
) -> None:
    """Write the requested gradients of gamma and beta.

    They are sums over the images and matrices of a channel.
    """
    output_grad, device = inputs[0], inputs[0]._device
    assert device is not None
    n, c, height, width = output_grad.spec.padded_shape
    addends = TensorSpec.of((n, c, height, width), numerics.wide, Layout.TILE, DRAM_MEMORY_CONFIG)
    written = [None if result is None else allocate(addends, device) for result in results]
    flags = (results[0] is not None, results[1] is not None)
    program = products(groups.shape, groups.axis, numerics, groups.kept, flags)
    program.run(inputs if flags[0] else inputs[:1], [tensor for tensor in written if tensor is not None])
    by_channel = TensorSpec.of((c, n, height, width), numerics.wide, Layout.TILE, DRAM_MEMORY_CONFIG)
    sums = column_sums((c, n, height, width), matrices(1), numerics)
    for result, source in zip(results, written, strict=True):
        if result is None or source is None:
            continue
        matrix = height * width
        moved = move(source, by_channel, strides=[matrix, c * matrix, width, 1])
        total = allocate(TensorSpec.of((c, 1, 1), BF16, Layout.TILE, DRAM_MEMORY_CONFIG), device)
        sums.run([moved], [total])
        copy_into(reshaped(name, total, (1, 1, 1, c)), result.written)


_EPSILON: Final = 9.999999747378752e-06
_GROUPS: Final = Param("num_groups", INTEGER, doc="Groups of channels, each normalized as a whole.", example=1)
_COMPUTE: Final = Param(
    "compute_kernel_config",
    COMPUTE_KERNEL_CONFIG,
    None,
    doc="Changes nothing: the kernels run at HiFi4 with a 16-bit Dst and the accurate root.",
)
_declare: Final = partial(
    declare,
    dtypes=(BF16,),
    layouts=(Layout.TILE,),
    accuracy=no_bound("for sums round at every tile"),
    engine=("Pipeline",),
    raises=(
        ("DTypeError", "a tensor is not bfloat16."),
        ("LayoutError", "a tensor is row-major."),
        ("ShapeError", "`num_groups` does not divide the channels, or shapes do not fit."),
        ("ParameterError", "`are_required_outputs` does not have three entries."),
    ),
)


def _place(name: str, doc: str) -> Param:
    return Param(name, MEMORY_CONFIG, None, doc=doc)


def _channels(name: str, doc: str) -> Param:
    return Param(name, TENSOR, None, doc=f"[1, 1, 1, C]: {doc}", example=Example((1, 1, 1, 1)))


_FLAGS: Final = Param("are_required_outputs", FLAGS, (True, False, False), doc="Which of the three results are wanted.")

moreh_group_norm = _declare(
    "moreh_group_norm",
    (
        Signature(
            (
                Param("input", TENSOR, doc="[N, C, H, W] on a device."),
                _GROUPS,
                Param("eps", FLOAT, _EPSILON, doc="Added to the variance; truncated to bfloat16.", example=0.5),
                _channels("gamma", "factors."),
                _channels("beta", "added at the end."),
            ),
            (
                _FLAGS,
                Param("output", TENSOR, None, doc="Preallocated output."),
                Param("mean", TENSOR, None, doc="[1, 1, N, groups]: where the means go."),
                Param("rstd", TENSOR, None, doc="[1, 1, N, groups]: where the inverse deviations go."),
                MEMORY_CONFIG_OPTION,
                _place("mean_memory_config", "Ignored: the mean is in the output's memory config."),
                _place("rstd_memory_config", "Ignored: the inverse deviation is in the output's memory config."),
                _COMPUTE,
            ),
        ),
    ),
    _group_norm,
    "Return the group norm `(x - mean) * rstd * gamma + beta`, and optionally `mean` and `rstd`.\n"
    "Shape: [N, C, H, W] -> [N, C, H, W], [1, 1, N, groups], [1, 1, N, groups].",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_group_norm`",
    golden=golden.moreh_group_norm,
    examples=(),
)
moreh_group_norm_backward = _declare(
    "moreh_group_norm_backward",
    (
        Signature(
            (
                Param("output_grad", TENSOR, doc="[N, C, H, W]: the gradient of the output."),
                Param("input", TENSOR, doc="[N, C, H, W]: what was normalized.", example=Example((1, 1, 64, 128))),
                Param("mean", TENSOR, doc="[1, 1, N, groups]: the means.", example=Example((1, 1, 1, 1))),
                Param("rstd", TENSOR, doc="[1, 1, N, groups]: the inverse deviations.", example=Example((1, 1, 1, 1))),
                _GROUPS,
            ),
            (
                _FLAGS,
                _channels("gamma", "the factors."),
                Param("input_grad", TENSOR, None, doc="Preallocated gradient of the input."),
                Param("gamma_grad", TENSOR, None, doc="Preallocated gradient of gamma."),
                Param("beta_grad", TENSOR, None, doc="Preallocated gradient of beta."),
                _place("input_grad_memory_config", "Memory configuration of the gradient of the input."),
                _place("gamma_grad_memory_config", "Memory configuration of the gradient of gamma."),
                _place("beta_grad_memory_config", "Memory configuration of the gradient of beta."),
                _COMPUTE,
            ),
        ),
    ),
    _group_norm_backward,
    "Return requested gradients of input, gamma and beta; else None.\n"
    "Shape: [N, C, H, W], [N, C, H, W] -> [N, C, H, W], [1, 1, 1, C], [1, 1, 1, C].",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_group_norm_backward`",
    golden=golden.moreh_group_norm_backward,
    examples=(),
)
