"""Matmuls of the moreh family and gradients, one inner tile each.

Partial sums are packed to bfloat16 between tiles, or to float32 with a 32-bit Dst.
Source: tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_matmul`, `moreh_bmm`, `moreh_linear`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from ttnn.base.compute_config import FIDELITY_NUMBER, WormholeComputeKernelConfig
from ttnn.base.enums import FORMAT_CODE, TILE_SIZE, DataType, Layout, MathFidelity
from ttnn.base.exceptions import DTypeError, LayoutError, ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import moreh as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.domain import Operand
from ttnn.operation.registry import declare
from ttnn.operation.signature import BOOLEAN, COMPUTE_KERNEL_CONFIG, MEMORY_CONFIG, TENSOR, Param, Signature
from ttnn.ops._programs.common import (
    MEMORY_CONFIG_OPTION,
    allocate,
    count_program,
    full_tiles,
    is_empty,
    on_device,
    same_device,
    take_output,
)
from ttnn.ops._programs.element_map import copy_into, strides_of
from ttnn.ops._programs.movement import move
from ttnn.ops.data_movement.permute import moved_to
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.ops.moreh import bias_gradient
from ttnn.ops.moreh.checks import FLAGS
from ttnn.ops.moreh.reductions import moreh_sum
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

Compute = WormholeComputeKernelConfig | None
Gradients = list[Tensor | None]


_OFFICIAL: Final = {"weight": "other", "mat2": "other"}


def _check(name: str, label: str, tensor: Tensor) -> None:
    spec = tensor.spec
    official = _OFFICIAL.get(label, label)
    if spec.dtype is not DataType.BFLOAT16:
        raise DTypeError(
            f"{name}: {label} is {spec.dtype.name}; typecast it to bfloat16 first.",
            vendor=f"moreh_matmul {official} only supports specific data types. [BFLOAT16] ",
        )
    if spec.layout is not Layout.TILE:
        raise LayoutError(
            f"{name}: {label} is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            vendor=f"moreh_matmul {official} only supports TILE layout.",
        )
    if spec.shape.rank < 2:
        raise ShapeError(f"{name}: {label} has shape {spec.shape}; it must be of rank 2 or more.")
    full_tiles(name, tensor, label)


def _expanded(source: Tensor, leading: tuple[int, ...]) -> Tensor:
    """Return a tensor with its matrices repeated, as copies of tiles."""
    dims = tuple(source.spec.shape)
    own = (1,) * (len(leading) - len(dims) + 2) + dims[:-2]
    if own == leading or all(size == 1 for size in own):
        return source
    strides = strides_of((*own, *dims[-2:]))
    repeated = [0 if size == 1 else stride for size, stride in zip(own, strides, strict=False)]
    target = TensorSpec.of((*leading, *dims[-2:]), source.spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG)
    return move(source, target, strides=[*repeated, *strides[-2:]])


def product(
    name: str,
    a: Tensor,
    b: Tensor,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    bias: Tensor | None = None,
    output: Tensor | None = None,
    memory_config: MemoryConfig | None = None,
    compute: Compute = None,
    labels: tuple[str, str] = ("input", "other"),
) -> Tensor:
    """Return the batched matmul of two tensors with broadcast leading dimensions.

    Raises:
        DTypeError: a tensor is not bfloat16.
        LayoutError: a tensor is row-major.
        ShapeError: shapes do not fit.
    """
    device = on_device(name, a, labels[0])
    same_device(name, device, b, labels[1])
    for label, tensor in zip(labels, (a, b), strict=True):
        _check(name, label, tensor)
    first, second = tuple(a.spec.shape), tuple(b.spec.shape)
    m, k = first[-2:][::-1] if transpose_a else first[-2:]
    inner, n = second[-2:][::-1] if transpose_b else second[-2:]
    if k != inner:
        raise ShapeError(
            f"{name}: {labels[0]} has {k} elements in the inner dimension, {labels[1]} {inner}.",
            vendor=f"k must be the same. input_k {k}, other_k {inner}",
        )
    try:
        leading = tuple(np.broadcast_shapes(first[:-2], second[:-2]))
    except ValueError:
        raise ShapeError(
            f"{name}: {labels[0]} has shape {list(first)}, {labels[1]} {list(second)}; leading dimensions do not fit.",
            vendor="one of dim must be one.",
        ) from None
    if bias is not None:
        same_device(name, device, bias, "bias")
        _check(name, "bias", bias)
        of_bias = tuple(bias.spec.shape)
        if any(size != 1 for size in of_bias[:-1]) or of_bias[-1] not in (1, n):
            raise ShapeError(f"{name}: bias has shape {list(of_bias)}; it must be [1, {n}] or [1, 1].")
        if of_bias[-1] != n:
            bias = move(bias, TensorSpec.of((1, n), DataType.BFLOAT16, Layout.TILE, DRAM_MEMORY_CONFIG), strides=[0, 0])
    shape = (*leading, m, n)
    place = memory_config or (DRAM_MEMORY_CONFIG if output is None else output.spec.memory_config)
    if output is not None:
        output = take_output(name, output, shape, Layout.TILE, device)
        _check(name, "output", output)
    result = allocate(TensorSpec.of(shape, DataType.BFLOAT16, Layout.TILE, DRAM_MEMORY_CONFIG), device)
    if not is_empty(result.spec):
        if not k:
            raise ShapeError(f"{name}: the inner dimension has no elements.")
        _run(a, b, bias, result, (m, k, n), leading, (transpose_a, transpose_b), compute)
    if output is not None:
        copy_into(result, output)
        return output
    return result if place == DRAM_MEMORY_CONFIG else moved_to(result, place)


def _run(
    a: Tensor,
    b: Tensor,
    bias: Tensor | None,
    result: Tensor,
    sizes: tuple[int, int, int],
    leading: tuple[int, ...],
    transposed: tuple[bool, bool],
    compute: Compute,
) -> None:
    left, right = _expanded(a, leading), _expanded(b, leading)
    batches = [int(np.prod(tuple(tensor.spec.shape)[:-2], dtype=np.int64)) for tensor in (result, left, right)]
    fidelity, dst32 = MathFidelity.LoFi, False
    if compute is not None:
        dst32 = compute.fp32_dest_acc_en
        if compute.math_fidelity is not MathFidelity.Invalid:
            fidelity = compute.math_fidelity
    tiles = [-(-size // TILE_SIZE) for size in sizes]
    # Products of whole tiles stay in Dst; with masks, transposed tiles or a bias, they pass through L1 after each tile.
    plain = bias is None and not any(transposed) and not any(size % TILE_SIZE for size in sizes)
    inner = tiles[1] if plain else 1
    code = FORMAT_CODE[DataType.BFLOAT16]
    assert left.buffer is not None
    assert right.buffer is not None
    assert result.buffer is not None
    engine_steps.matmul(
        left.buffer,
        right.buffer,
        None if bias is None else bias.buffer,
        result.buffer,
        formats=(code, code, code, code),
        batch=(batches[0], batches[1], batches[2]),
        mt=tiles[0],
        kt=tiles[1],
        nt=tiles[2],
        k=sizes[1],
        kb=inner,
        ring=None,
        fidelity=FIDELITY_NUMBER[fidelity],
        dst32=dst32,
        l1_acc=False,
        # The buffer of partial sums is unpacked to Dst past SrcA if it has 32 bits.
        reload_direct=dst32,
        relu=False,
        activation=(),
        transpose_a=transposed[0],
        transpose_b=transposed[1],
    )


def _matmul(
    input: Tensor,
    other: Tensor,
    transpose_input: bool,
    transpose_other: bool,
    output: Tensor | None,
    bias: Tensor | None,
    memory_config: MemoryConfig | None,
    compute_kernel_config: Compute,
) -> Tensor:
    return product(
        "ttnn.moreh_matmul",
        input,
        other,
        transpose_a=transpose_input,
        transpose_b=transpose_other,
        bias=bias,
        output=output,
        memory_config=memory_config,
        compute=compute_kernel_config,
    )


def _bmm(
    input: Tensor, mat2: Tensor, output: Tensor | None, memory_config: MemoryConfig | None, compute: Compute
) -> Tensor:
    return product(
        "ttnn.moreh_bmm",
        input,
        mat2,
        output=output,
        memory_config=memory_config,
        compute=compute,
        labels=("input", "mat2"),
    )


def _linear(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    output: Tensor | None,
    memory_config: MemoryConfig | None,
    compute: Compute,
) -> Tensor:
    return product(
        "ttnn.moreh_linear",
        input,
        weight,
        transpose_b=True,
        bias=bias,
        output=output,
        memory_config=memory_config,
        compute=compute,
        labels=("input", "weight"),
    )


def _required(
    name: str, flags: Sequence[bool], count: int, outputs: Sequence[tuple[str, Tensor | None]], sentence: str
) -> Gradients:
    """Return the gradients' output tensors; None for unrequested ones."""
    if len(flags) != count:
        raise ParameterError(f"{name}: are_required_outputs={list(flags)} needs {count} entries.")
    for flag, (label, tensor) in zip(flags, outputs, strict=False):
        if flag and tensor is None:
            raise ParameterError(
                f"{name}: {label} is wanted by are_required_outputs={list(flags)}, but not given.",
                vendor=sentence.format(label=label),
            )
    return [tensor if flag else None for flag, (_, tensor) in zip(flags, outputs, strict=True)]


def _summed(name: str, result: Tensor, target: Tensor, compute: Compute) -> Tensor:
    """Return an operand's gradient, summed over its broadcast dimensions."""
    shape, found = tuple(target.spec.shape), tuple(result.spec.shape)
    if found == shape:
        return result
    own = (1,) * (len(found) - len(shape)) + shape
    dims = [axis for axis, size in enumerate(found) if size != own[axis]]
    if len(found) < len(shape) or any(own[axis] != 1 for axis in dims):
        raise ShapeError(f"{name}: a gradient has shape {list(found)}, its preallocated tensor {list(shape)}.")
    # The official program adds along each dimension in turn.
    summed: Tensor = moreh_sum(result, dim=dims, keepdim=True, compute_kernel_config=compute) if dims else result
    return summed if own == shape else reshaped(name, summed, shape)


def _matmul_backward(
    output_grad: Tensor,
    input_a: Tensor,
    input_b: Tensor,
    are_required_outputs: Sequence[bool],
    input_a_grad: Tensor | None,
    input_b_grad: Tensor | None,
    _memory_config: MemoryConfig | None,
    compute: Compute,
) -> list[Tensor | None]:
    name = "ttnn.moreh_matmul_backward"
    outputs = (("input_a_grad", input_a_grad), ("input_b_grad", input_b_grad))
    sentence = "Input gradient is marked required but not provided."
    into = _required(name, are_required_outputs, 2, outputs, sentence)
    return _of_both(name, output_grad, ("input_a", input_a), ("input_b", input_b), into, compute)


Step = tuple[Tensor | None, Tensor, Tensor, bool, bool]
"""The output tensor of a gradient, both factors, and their transposes."""


def _gradients(name: str, operands: Sequence[tuple[str, Tensor]], steps: Sequence[Step], compute: Compute) -> Gradients:
    """Compute all gradients, then write them."""
    device = on_device(name, operands[0][1], operands[0][0])
    for label, tensor in operands:
        same_device(name, device, tensor, label)
        _check(name, label, tensor)
    for target, *_ in steps:
        if target is not None:
            same_device(name, device, target, "a gradient")
            _check(name, "a gradient", target)
    found: Gradients = []
    for target, a, b, turn_a, turn_b in steps:
        result = None
        if target is not None:
            count_program(device, "moreh_matmul", a.spec, b.spec, turn_a, turn_b, target.spec, compute)
            result = product(name, a, b, compute=compute, transpose_a=turn_a, transpose_b=turn_b)
            result = _summed(name, result, target, compute)
        found.append(result)
    for result, (target, *_) in zip(found, steps, strict=True):
        if result is not None and target is not None:
            copy_into(result, target)
    return [target for target, *_ in steps]


def _of_both(
    name: str, grad: Tensor, a: tuple[str, Tensor], b: tuple[str, Tensor], into: Gradients, compute: Compute
) -> Gradients:
    operands = (("output_grad", grad), a, b)
    return _gradients(name, operands, ((into[0], grad, b[1], False, True), (into[1], a[1], grad, True, False)), compute)


def _bmm_backward(
    output_grad: Tensor,
    input: Tensor,
    mat2: Tensor,
    are_required_outputs: Sequence[bool],
    input_grad: Tensor | None,
    mat2_grad: Tensor | None,
    _input_grad_memory_config: MemoryConfig | None,
    _mat2_grad_memory_config: MemoryConfig | None,
    compute: Compute,
) -> list[Tensor | None]:
    name = "ttnn.moreh_bmm_backward"
    outputs = (("input_grad", input_grad), ("mat2_grad", mat2_grad))
    sentence = "{label} needs to have a value when input_requires_grad is True."
    into = _required(name, are_required_outputs, 2, outputs, sentence)
    return _of_both(name, output_grad, ("input", input), ("mat2", mat2), into, compute)


def _linear_backward(
    output_grad: Tensor,
    input: Tensor,
    weight: Tensor,
    are_required_outputs: Sequence[bool],
    _bias: Tensor | None,
    input_grad: Tensor | None,
    weight_grad: Tensor | None,
    bias_grad: Tensor | None,
    _input_grad_memory_config: MemoryConfig | None,
    _weight_grad_memory_config: MemoryConfig | None,
    _bias_grad_memory_config: MemoryConfig | None,
    compute: Compute,
) -> list[Tensor | None]:
    name = "ttnn.moreh_linear_backward"
    outputs = (("input_grad", input_grad), ("weight_grad", weight_grad), ("bias_grad", bias_grad))
    into = _required(name, are_required_outputs, 3, outputs, "{label} tensor should not be std::nullopt")
    operands = (("output_grad", output_grad), ("input", input), ("weight", weight))
    steps = ((into[0], output_grad, weight, False, False), (into[1], output_grad, input, True, False))
    found = _gradients(name, operands, steps, compute)
    bias = into[2]
    if bias is not None:
        same_device(name, on_device(name, output_grad, "output_grad"), bias, "bias_grad")
        _check(name, "bias_grad", bias)
        bias_gradient.add_up(name, output_grad, bias, compute)
    return [*found, bias]


_COMPUTE: Final = Param(
    "compute_kernel_config", COMPUTE_KERNEL_CONFIG, None, doc="Math fidelity and Dst width. Default: LoFi, 16 bits."
)
_OUTPUT: Final = Param("output", TENSOR, None, doc="Preallocated output.")
_BIAS: Final = Param("bias", TENSOR, None, doc="[1, N] or [1, 1]: added at the end.", example=Operand((1, 64), 3))
_ERRORS: Final = (
    ("DTypeError", "a tensor is not bfloat16."),
    ("LayoutError", "a tensor is row-major."),
    ("ShapeError", "shapes do not fit."),
)
_BACKWARD_ERRORS: Final = (
    *_ERRORS,
    ("ParameterError", "a requested gradient has no preallocated tensor."),
    ("UnsupportedError", "the gradient of a bias of one element is wanted with a 32-bit Dst."),
)
_declare: Final = partial(
    declare,
    dtypes=(DataType.BFLOAT16,),
    layouts=(Layout.TILE,),
    accuracy=no_bound("for sums are kept in bfloat16"),
    engine=("matmul", "move_elements"),
)


def _operand(label: str, shape: tuple[int, ...], what: str, seed: int = 1) -> Param:
    return Param(label, TENSOR, doc=f"{what} on a device.", example=Operand(shape, seed))


def _grad(label: str, shape: tuple[int, ...]) -> Param:
    return Param(label, TENSOR, None, doc="Receives the gradient.", example=Operand(shape, 5))


def _place(label: str) -> Param:
    return Param(label, MEMORY_CONFIG, None, doc="Ignored: the gradient is in its preallocated tensor.")


def _wanted(count: int) -> Param:
    return Param(
        "are_required_outputs",
        FLAGS,
        [True] * count,
        doc="Which gradients are computed.",
        example=[True] + [False] * (count - 1),
    )


def _squares(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    return ((Operand((shape[-1], 40)),),) if len(shape) >= 2 and 0 not in shape and layout is Layout.TILE else ()


def _rows(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    return ((Operand((40, shape[-1])),),) if len(shape) >= 2 and 0 not in shape and layout is Layout.TILE else ()


_A, _B, _C = (1, 1, 64, 96), (1, 1, 96, 64), (1, 1, 64, 64)
moreh_matmul = _declare(
    "moreh_matmul",
    (
        Signature(
            (_operand("input", _C, "[..., M, K]", 0), _operand("other", _C, "[..., K, N]")),
            (
                Param("transpose_input", BOOLEAN, False, doc="The input is [..., K, M]."),
                Param("transpose_other", BOOLEAN, False, doc="The other tensor is [..., N, K]."),
                _OUTPUT,
                _BIAS,
                MEMORY_CONFIG_OPTION,
                _COMPUTE,
            ),
        ),
    ),
    _matmul,
    "Return the matmul of two tensors, plus a bias.\nShape: [..., M, K], [..., K, N] -> [..., M, N].\n"
    "Partial sums are packed after every 32 elements of K.",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_matmul`",
    golden=golden.moreh_matmul,
    raises=_ERRORS,
    examples=_squares,
)
moreh_bmm = _declare(
    "moreh_bmm",
    (
        Signature(
            (_operand("input", _A, "[..., M, K]", 0), _operand("mat2", _B, "[..., K, N]")),
            (_OUTPUT, MEMORY_CONFIG_OPTION, _COMPUTE),
        ),
    ),
    _bmm,
    "Return the batched matmul of two tensors.\nShape: [..., M, K], [..., K, N] -> [..., M, N].\n"
    "Partial sums are packed after every 32 elements of K.",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_bmm`",
    golden=golden.moreh_matmul,
    raises=_ERRORS,
    examples=_squares,
)
moreh_linear = _declare(
    "moreh_linear",
    (
        Signature(
            (_operand("input", _A, "[..., M, K]", 0), _operand("weight", (64, 96), "[N, K]")),
            (_BIAS, _OUTPUT, MEMORY_CONFIG_OPTION, _COMPUTE),
        ),
    ),
    _linear,
    "Return the matmul with the transposed weight, plus a bias.\nShape: [..., M, K], [N, K] -> [..., M, N].\n"
    "Partial sums are packed after every 32 elements of K.",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_linear`",
    golden=golden.moreh_linear,
    raises=_ERRORS,
    examples=_rows,
)
_backward_entry = partial(_declare, raises=_BACKWARD_ERRORS, examples=(), composition=True)
moreh_matmul_backward = _backward_entry(
    "moreh_matmul_backward",
    (
        Signature(
            (
                _operand("output_grad", _C, "[..., M, N]", 0),
                _operand("input_a", _A, "[..., M, K]"),
                _operand("input_b", _B, "[..., K, N]"),
            ),
            (
                _wanted(2),
                _grad("input_a_grad", _A),
                _grad("input_b_grad", _B),
                _place("memory_config"),
                _COMPUTE,
            ),
        ),
    ),
    _matmul_backward,
    "Return the requested gradients of both operands; None for the others.\n"
    "Shape: [..., M, N], [..., M, K], [..., K, N] -> [..., M, K], [..., K, N].",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_matmul_backward`",
    golden=golden.moreh_matmul_backward,
)
moreh_bmm_backward = _backward_entry(
    "moreh_bmm_backward",
    (
        Signature(
            (
                _operand("output_grad", _C, "[..., M, N]", 0),
                _operand("input", _A, "[..., M, K]"),
                _operand("mat2", _B, "[..., K, N]"),
            ),
            (
                _wanted(2),
                _grad("input_grad", _A),
                _grad("mat2_grad", _B),
                _place("input_grad_memory_config"),
                _place("mat2_grad_memory_config"),
                _COMPUTE,
            ),
        ),
    ),
    _bmm_backward,
    "Return the requested gradients of both operands; None for the others.\n"
    "Shape: [..., M, N], [..., M, K], [..., K, N] -> [..., M, K], [..., K, N].",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_bmm_backward`",
    golden=golden.moreh_matmul_backward,
)
moreh_linear_backward = _backward_entry(
    "moreh_linear_backward",
    (
        Signature(
            (
                _operand("output_grad", _C, "[..., M, N]", 0),
                _operand("input", _A, "[..., M, K]"),
                _operand("weight", (1, 1, 64, 96), "[..., N, K]"),
            ),
            (
                Param(
                    "are_required_outputs",
                    FLAGS,
                    [True] * 3,
                    doc="Which gradients are computed.",
                    example=[True, True, False],
                ),
                Param("bias", TENSOR, None, doc="The bias, of which only the shape would count."),
                _grad("input_grad", _A),
                _grad("weight_grad", (1, 1, 64, 96)),
                Param(
                    "bias_grad",
                    TENSOR,
                    None,
                    doc="[1, N] or [1, 1]: receives the gradient.",
                    example=Operand((1, 64), 5),
                ),
                _place("input_grad_memory_config"),
                _place("weight_grad_memory_config"),
                _place("bias_grad_memory_config"),
                _COMPUTE,
            ),
        ),
    ),
    _linear_backward,
    "Return the requested gradients of input and weight; None for the others.\n"
    "Shape: [..., M, N], [..., M, K], [N, K] -> [..., M, K], [N, K].",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_linear_backward`",
    golden=golden.moreh_linear_backward,
)
