"""Gradients of functions that join or repeat tensors.

Source: https://docs.tenstorrent.com/tt-metal/latest/ttnn/ttnn/api/ttnn.NAME.html, one page for each operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ttnn.base.enums import Layout
from ttnn.base.exceptions import LayoutError, ParameterError, ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.shape import Shape
from ttnn.golden import backward as g
from ttnn.operation.signature import INTEGER, SHAPE_LIKE, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, dimension, on_device, same_device
from ttnn.ops.backward.constants import ANY
from ttnn.ops.backward.family import (
    FLOATS,
    GRAD,
    INPUT,
    INPUT_A,
    INPUT_A_GRAD,
    INPUT_B,
    INPUT_B_GRAD,
    PASSED_ON,
    REQUIRED_OUTPUTS,
    Gradients,
    entry,
    output_for,
    required,
)
from ttnn.ops.backward.forward import Forward, named
from ttnn.tensor.tensor import Tensor

_CONCAT: Final = "ttnn.concat_bw"
_REPEAT: Final = "ttnn.repeat_bw"


def _parts(grad: Tensor, operands: tuple[Tensor, Tensor], dim: int) -> list[tuple[list[int], list[int]]]:
    """Return starts and ends of the operands' parts of `grad`.

    Raises:
        ShapeError: a part is not there, or has another shape than its operand.
    """
    whole = list(grad.shape)
    starts, found = [0] * len(whole), []
    for label, operand in zip(("input_tensor_a", "input_tensor_b"), operands, strict=True):
        size = list(operand.shape)
        # The official operator leaves the second gradient as it is where the first operand is all of `grad`.
        missing = label == "input_tensor_b" and starts[dim] == whole[dim]
        fits = len(size) == len(whole) and all(
            start + extent == end if axis != dim or label == "input_tensor_b" else start + extent <= end
            for axis, (start, extent, end) in enumerate(zip(starts, size, whole, strict=True))
        )
        if not fits and not missing:
            raise ShapeError(
                f"{_CONCAT}: grad_tensor is {grad.shape}; the part of {label}, {operand.shape}, along dimension {dim} "
                f"from {starts[dim]} on does not fit it."
            )
        ends = list(whole) if label == "input_tensor_b" else [*whole[:dim], size[dim], *whole[dim + 1 :]]
        found.append((list(starts), ends))
        # The second part begins where the first one ends.
        starts[dim] = ends[dim]
    return found


def _concat(
    grad: Tensor,
    a: Tensor,
    b: Tensor,
    dim: int,
    mask: Sequence[bool],
    place: MemoryConfig | None,
    grad_a: Tensor | None,
    grad_b: Tensor | None,
) -> Gradients:
    with named(_CONCAT):
        device = on_device(_CONCAT, grad, "grad_tensor")
        ranks = [tensor.spec.shape.rank for tensor in (grad, a, b)]
        if set(ranks) != {4}:
            raise ShapeError(
                f"{_CONCAT}: the tensors have ranks {ranks}; they must be of rank 4.",
                vendor=f"concat_bw expects rank-4 tensors, got grad rank {ranks[0]}, input rank {ranks[1]}, "
                f"other rank {ranks[2]}",
            )
        for label, operand in (("input_tensor_a", a), ("input_tensor_b", b)):
            on_device(_CONCAT, operand, label)
            same_device(_CONCAT, device, operand, label)
            if operand.layout is not grad.layout:
                raise LayoutError(
                    f"{_CONCAT}: grad_tensor is {grad.layout.name} and {label} {operand.layout.name}.",
                    vendor=f"Input tensor layout ({grad.layout.cpp_name}) must equal output tensor layout "
                    f"({operand.layout.cpp_name})",
                )
        required(_CONCAT, mask)
        dim = dimension(_CONCAT, dim, len(grad.shape))
        result: Gradients = [None, None]
        outputs = ((a, grad_a, "input_a_grad"), (b, grad_b, "input_b_grad"))
        for i, (starts, ends) in enumerate(_parts(grad, (a, b), dim)):
            if not mask[i]:
                continue
            operand, output, label = outputs[i]
            do, output = output_for(_CONCAT, place, operand, output, label)
            if starts[dim] == ends[dim]:
                result[i] = do.zeros_like(operand, output)
            else:
                result[i] = do.slice(grad, starts, ends, [1] * len(starts), output_tensor=output)
        return result


def _repeat(grad: Tensor, x: Tensor, shape: Shape | Sequence[int], place: MemoryConfig | None) -> list[Tensor]:
    with named(_REPEAT):
        on_device(_REPEAT, grad, "grad_tensor")
        same_device(_REPEAT, on_device(_REPEAT, x), grad, "grad_tensor")
        for label, tensor in (("grad_tensor", grad), ("input_tensor", x)):
            if tensor.layout is not Layout.TILE:
                raise LayoutError(f"{_REPEAT}: {label} is {tensor.layout.name}; convert it with ttnn.to_layout.")
        counts, size = [int(count) for count in shape], list(x.shape)
        if len(counts) != 4 or len(size) != 4 or size[0] != 1:
            raise ShapeError(
                f"{_REPEAT}: input_tensor is {x.shape} and shape {counts}; expected four dimensions, the first being 1."
                f"\ninfo:\nInput shape[0] must be 1 but got {size[0] if size else 0}"
            )
        do = Forward(place)
        if 0 in counts:
            return [do.zeros_like(x)]
        repeated = [axis for axis, count in enumerate(counts) if count != 1]
        if len(repeated) > 1 or not set(repeated) <= {0, 1} or (1 in repeated and size[1] != 1):
            raise ParameterError(
                f"{_REPEAT}: shape is {counts} for an input of {x.shape}; one of the first two dimensions, of "
                "size 1, may be repeated."
            )
        expected = [extent * count for extent, count in zip(size, counts, strict=True)]
        if list(grad.shape) != expected:
            raise ShapeError(f"{_REPEAT}: grad_tensor is {grad.shape}, expected {expected}.")
        return [do.sum(grad, dim=repeated[0], keepdim=True) if repeated else do.passed_on(grad)]


concat_bw = entry(
    "concat_bw",
    (
        Signature(
            (
                GRAD,
                INPUT_A,
                INPUT_B,
                Param("dim", INTEGER, 0, doc="Dimension along which the operands were concatenated."),
            ),
            (REQUIRED_OUTPUTS, MEMORY_CONFIG_OPTION, INPUT_A_GRAD, INPUT_B_GRAD),
        ),
    ),
    _concat,
    "slice of grad for a, slice of grad for b",
    g.concat,
    rows=True,
    dtypes=ANY,
    note="Shape: [..., Ha + Hb, W] -> [..., Ha, W], [..., Hb, W] for `dim` -2.\n"
    "The second gradient is 0 if the first operand has the size of grad.",
    ulp=PASSED_ON,
)
repeat_bw = entry(
    "repeat_bw",
    (
        Signature(
            (GRAD, INPUT, Param("shape", SHAPE_LIKE, doc="Repetitions along each dimension.")), (MEMORY_CONFIG_OPTION,)
        ),
    ),
    _repeat,
    "the sum of grad over the repetitions",
    g.repeat,
    dtypes=FLOATS,
    note="Shape: [n * N, ...] -> [N, ...].\nThe sum is that of `ttnn.sum` over a leading dimension.",
    ulp=(0.5, 1, 0.427),
    relative_to=g.repeated_sizes,
)
