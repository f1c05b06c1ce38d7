"""Layer norm of the moreh family and its gradients.

Source: tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_layer_norm`, `moreh_layer_norm_backward`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Final

from ttnn.base.enums import Layout
from ttnn.base.exceptions import ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.lifecycle import MeshDevice
from ttnn.golden import moreh as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.domain import Operand as Example
from ttnn.operation.registry import declare
from ttnn.operation.signature import FLOAT, INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, allocate, is_empty, on_device, take_output
from ttnn.ops._programs.element_map import copy_into
from ttnn.ops._programs.pipeline import COLUMNS, ROWS, matrices, rounded, truncated
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.ops.moreh.checks import BF16, COMPUTE, Compute, Result, check_operand, check_shape, numerics_of
from ttnn.ops.moreh.norm_programs import Parameter, column_sums, forward, input_gradient, products
from ttnn.ops.normalization.softmax_programs import Numerics
from ttnn.tensor.tensor import Tensor

Shape = tuple[int, ...]


class _Lines:
    """Elements normalized together: rows, or the last dimensions."""

    def __init__(self, name: str, shape: Sequence[int], normalized_dims: int) -> None:
        rank = len(shape)
        if normalized_dims <= 0:
            raise ShapeError(
                f"{name}: normalized_dims={normalized_dims}; at least the last dimension is normalized.",
                vendor=f"normalized_dims should > 0. Got {normalized_dims}",
            )
        if normalized_dims > rank:
            raise ShapeError(
                f"{name}: normalized_dims={normalized_dims}, but the input has {rank} dimensions.",
                vendor=f"normalized_dims should <= input rank ({rank}). Got: {normalized_dims}",
            )
        self.rows = normalized_dims == 1
        self.normalized = tuple(shape[rank - normalized_dims :])
        outer = tuple(shape[: rank - normalized_dims])
        # A vector is a matrix of one row.
        self.outer = (1,) * (2 - rank if self.rows else 0) + outer
        self.shape = (*self.outer, *self.normalized)
        self.axis = ROWS if self.rows else matrices(len(self.outer))
        self.count = math.prod(self.normalized)
        self.kept = (*self.outer, *(1 for _ in self.normalized))
        """Shape of the mean."""
        ones = (1, 1) if self.rows else (1,) * len(self.outer)
        self.parameters = Parameter((*ones[: len(self.outer)], *self.normalized), "row" if self.rows else "none")

    def scaler(self) -> int:
        """Return the factor of every element in the kernel's form."""
        return truncated(rounded(1.0 / self.count) if self.rows else rounded(1.0 / rounded(math.sqrt(self.count))))

    def check_parameter(self, name: str, label: str, tensor: Tensor) -> None:
        """Refuse a shape other than the normalized; leading ones may differ."""
        given, wanted = tuple(tensor.spec.shape), self.normalized
        while len(given) > len(wanted) and given[0] == 1:
            given = given[1:]
        if given != wanted:
            raise ShapeError(f"{name}: {label} has shape {tensor.spec.shape}; it must be {list(wanted)}.")

    def check_statistic(self, name: str, label: str, tensor: Tensor) -> None:
        """Refuse a tensor that does not have one element for each line."""
        if tensor.spec.shape.volume() != math.prod(self.outer):
            raise ShapeError(f"{name}: {label} has shape {tensor.spec.shape}; it must be {list(self.outer)}.")


def _check(name: str, label: str, tensor: Tensor, device: MeshDevice | None = None) -> MeshDevice:
    short = name.removeprefix("ttnn.")
    sentences = (
        f"Operands to {short} need to be on device!",
        f"{short} only supports tiled layout.",
        f"{short} only supports bfloat16.",
    )
    return check_operand(name, label, tensor, device, vendor=sentences)


def _layer_norm(
    input: Tensor,
    normalized_dims: int,
    eps: float,
    gamma: Tensor | None,
    beta: Tensor | None,
    output: Tensor | None,
    mean: Tensor | None,
    rstd: Tensor | None,
    memory_config: MemoryConfig | None,
    compute_kernel_config: Compute,
) -> list[Tensor | None]:
    name = "ttnn.moreh_layer_norm"
    device = _check(name, "input", input)
    spec = input.spec
    lines = _Lines(name, tuple(spec.shape), normalized_dims)
    parameters = {"gamma": gamma, "beta": beta}
    statistics = {"mean": mean, "rstd": rstd}
    for label, tensor in (parameters | statistics).items():
        if tensor is not None:
            _check(name, label, tensor, device)
            check = lines.check_parameter if label in parameters else lines.check_statistic
            check(name, label, tensor)
    if is_empty(spec):
        raise ShapeError(f"{name}: input has shape {spec.shape}; there is nothing to normalize.")
    result = Result(name, tuple(spec.shape), BF16, memory_config or spec.memory_config, device, output)
    program = forward(
        lines.shape,
        lines.axis,
        numerics_of(BF16, compute_kernel_config),
        lines.scaler(),
        rounded(eps),
        (None if gamma is None else lines.parameters, None if beta is None else lines.parameters),
        (mean is not None, rstd is not None),
    )
    wanted = [tensor for tensor in statistics.values() if tensor is not None]
    column = TensorSpec.of(lines.kept, BF16, Layout.TILE, DRAM_MEMORY_CONFIG)
    columns = [allocate(column, device) for _ in wanted]
    program.run([input, *(t for t in parameters.values() if t is not None)], [result.written, *columns])
    for source, target in zip(columns, wanted, strict=True):
        copy_into(reshaped(name, source, tuple(target.spec.shape)), target)
    return [result.tensor(), mean, rstd]


def _layer_norm_backward(
    output_grad: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    normalized_dims: int,
    gamma: Tensor | None,
    input_grad: Tensor | None,
    gamma_grad: Tensor | None,
    beta_grad: Tensor | None,
    _memory_config: MemoryConfig | None,
    compute_kernel_config: Compute,
) -> list[Tensor | None]:
    name = "ttnn.moreh_layer_norm_backward"
    device = _check(name, "output_grad", output_grad)
    spec = output_grad.spec
    shape = tuple(spec.shape)
    lines = _Lines(name, shape, normalized_dims)
    _check(name, "input", input, device)
    check_shape(name, "input", input, shape)
    for label, tensor in (("mean", mean), ("rstd", rstd)):
        _check(name, label, tensor, device)
        lines.check_statistic(name, label, tensor)
    for label, given in (("gamma", gamma), ("gamma_grad", gamma_grad), ("beta_grad", beta_grad)):
        if given is not None:
            _check(name, label, given, device)
            lines.check_parameter(name, label, given)
    if input_grad is not None:
        _check(name, "input_grad", input_grad, device)
        take_output(name, input_grad, shape, Layout.TILE, device)
    if is_empty(spec):
        raise ShapeError(f"{name}: output_grad has shape {spec.shape}; there is nothing to normalize.")
    numerics = numerics_of(BF16, compute_kernel_config)
    inputs = [output_grad, input, *(reshaped(name, tensor, lines.kept) for tensor in (mean, rstd))]
    results: list[tuple[Tensor, Tensor]] = []
    if input_grad is not None:
        factors = None if gamma is None else lines.parameters
        written = allocate(TensorSpec.of(shape, BF16, Layout.TILE, DRAM_MEMORY_CONFIG), device)
        program = input_gradient(lines.shape, lines.axis, numerics, lines.count, lines.kept, factors)
        program.run([*inputs, *([] if gamma is None else [gamma])], [written])
        results.append((written, input_grad))
    if gamma_grad is not None or beta_grad is not None:
        results += _parameter_gradients(lines, numerics, inputs, (gamma_grad, beta_grad))
    # An output may be an operand too.
    for source, target in results:
        copy_into(source, target)
    return [input_grad, gamma_grad, beta_grad]


def _parameter_gradients(
    lines: _Lines, numerics: Numerics, inputs: list[Tensor], targets: tuple[Tensor | None, Tensor | None]
) -> list[tuple[Tensor, Tensor]]:
    """Return gamma and beta gradients with their output tensors."""
    device = on_device("ttnn.moreh_layer_norm_backward", inputs[0], "output_grad")
    padded = tuple(inputs[0].spec.padded_shape)
    given = [target for target in targets if target is not None]
    between = TensorSpec.of(padded, numerics.wide, Layout.TILE, DRAM_MEMORY_CONFIG)
    addends = [allocate(between, device) for _ in given]
    if lines.rows:
        tall: Shape
        shape, axis, kept = lines.shape, COLUMNS, lines.kept
        tall = (math.prod(padded[:-1]), padded[-1])
    else:
        count = math.prod(lines.outer)
        shape, axis, kept = (count, *lines.normalized), 0, (count, *(1 for _ in lines.normalized))
        tall = (count, *padded[len(padded) - len(lines.normalized) :])
    program = products(shape, axis, numerics, kept, (targets[0] is not None, targets[1] is not None))
    program.run(inputs if targets[0] is not None else inputs[:1], addends)
    sums = column_sums(tall, axis, numerics)
    result = TensorSpec.of((1, *lines.normalized) if lines.rows else lines.normalized, BF16, Layout.TILE)
    outputs = [allocate(result, device) for _ in given]
    for source, output in zip(addends, outputs, strict=True):
        sums.run([source], [output])
    return list(zip(outputs, given, strict=True))


_EPSILON: Final = 9.999999747378752e-06
_NORMALIZED: Final = Param("normalized_dims", INTEGER, doc="How many of the last dimensions are normalized.", example=1)
_declare: Final = partial(
    declare,
    dtypes=(BF16,),
    layouts=(Layout.TILE,),
    accuracy=no_bound("for sums round at every tile"),
    engine=("Pipeline",),
    raises=(
        ("DTypeError", "a tensor is not bfloat16."),
        ("LayoutError", "a tensor is row-major."),
        ("ShapeError", "`normalized_dims` is out of range, shapes do not fit, or a tensor is empty."),
    ),
)


def _optional(name: str, what: str) -> Param:
    return Param(name, TENSOR, None, doc=what)


moreh_layer_norm = _declare(
    "moreh_layer_norm",
    (
        Signature(
            (
                Param("input", TENSOR, doc="[..., D] on a device."),
                _NORMALIZED,
                Param("eps", FLOAT, _EPSILON, doc="Added to the variance; truncated to bfloat16.", example=0.5),
                Param("gamma", TENSOR, None, doc="[D]: factors.", example=Example((128,))),
                Param("beta", TENSOR, None, doc="[D]: added at the end.", example=Example((128,))),
            ),
            (
                _optional("output", "Preallocated output."),
                _optional("mean", "Where the means go: one element for each line."),
                _optional("rstd", "Where the inverse deviations go: one element for each line."),
                MEMORY_CONFIG_OPTION,
                COMPUTE,
            ),
        ),
    ),
    _layer_norm,
    "Return `(x - mean) * rstd * gamma + beta`, `mean` and `rstd` of last dimensions.\n"
    "Shape: [..., D], [D], [D] -> [..., D].",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_layer_norm`",
    golden=golden.moreh_layer_norm,
    examples=(),
)
moreh_layer_norm_backward = _declare(
    "moreh_layer_norm_backward",
    (
        Signature(
            (
                Param("output_grad", TENSOR, doc="[..., D]: the gradient of the output."),
                Param("input", TENSOR, doc="[..., D]: what was normalized.", example=Example((1, 1, 64, 128))),
                Param("mean", TENSOR, doc="Means of the lines.", example=Example((1, 1, 64))),
                Param("rstd", TENSOR, doc="Inverse deviations of the lines.", example=Example((1, 1, 64))),
                _NORMALIZED,
            ),
            (
                Param("gamma", TENSOR, None, doc="[D]: the factors.", example=Example((128,))),
                Param(
                    "input_grad",
                    TENSOR,
                    None,
                    doc="Preallocated output for the input's gradient.",
                    example=Example((1, 1, 64, 128)),
                ),
                Param(
                    "gamma_grad", TENSOR, None, doc="Preallocated output for gamma's gradient.", example=Example((128,))
                ),
                Param(
                    "beta_grad", TENSOR, None, doc="Preallocated output for beta's gradient.", example=Example((128,))
                ),
                MEMORY_CONFIG_OPTION,
                COMPUTE,
            ),
        ),
    ),
    _layer_norm_backward,
    "Return gradients of input, gamma and beta with preallocated tensors, else None.\n"
    "Shape: [..., D], [..., D], [...], [...] -> [..., D], [D], [D].",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_layer_norm_backward`",
    golden=golden.moreh_layer_norm_backward,
    examples=(),
)
