"""Steps of optimizers of the moreh family: Adam, AdamW, SGD.

Source: tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_adam`, `moreh_adamw`, `moreh_sgd`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final

from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import ParameterError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden import moreh as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.domain import Operand as Example
from ttnn.operation.registry import declare
from ttnn.operation.signature import BOOLEAN, FLOAT, INTEGER, MEMORY_CONFIG, TENSOR, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, is_empty
from ttnn.ops._programs.pipeline import ROWS, Operand, Pipeline, bits, rounded, truncated
from ttnn.ops.moreh.checks import BF16, COMPUTE, Compute, Result, check_operand, check_shape, numerics_of
from ttnn.ops.moreh.power import recip
from ttnn.ops.normalization.softmax_programs import Numerics
from ttnn.tensor.tensor import Tensor


@dataclass(frozen=True)
class _Adam:
    """The numbers of a step, as FP32."""

    lr: float
    beta1: float
    beta2: float
    eps: float
    weight_decay: float
    step: int
    amsgrad: bool
    decoupled: bool
    """True to subtract the decay from the parameter: AdamW.

    It is not added to the gradient then.
    """


def _number(program: Pipeline, value: float, numerics: Numerics) -> Operand:
    """Return the reader's tile of a scalar.

    It is truncated to bfloat16 with a 16-bit Dst.
    """
    word = bits(value) if numerics.dst32 else truncated(value)
    return program.constant(numerics.wide, word)


def _one(program: Pipeline) -> Operand:
    return program.constant(BF16, bits(1.0))


def _correction(program: Pipeline, base: float, of: _Adam, numerics: Numerics) -> Operand:
    """Add 1 / (1 - base ** step)."""
    wide = numerics.wide
    if of.decoupled:
        # The host computes the power, in double precision.
        power = _number(program, rounded(math.pow(base, of.step)), numerics)
    else:
        power = program.copy(_number(program, base, numerics), wide, [("power_iterative", "default", [of.step])])
    return program.eltwise("sub", _one(program), power, wide, recip(numerics))


@lru_cache(maxsize=256)
def _adam_program(shape: tuple[int, ...], of: _Adam, numerics: Numerics) -> Pipeline:
    """Return a step of the optimizer.

    Inputs: parameter, gradient, averages, and the largest average of squares of AMSGrad.

    Outputs: the parameter, the averages of gradients and of their squares, and the largest of the latter.
    """
    program, wide, own = numerics.pipeline(shape, ROWS), numerics.wide, numerics.dtype
    param, grad, average, squares = (program.tensor(own) for _ in range(4))
    lr, beta1, beta2 = (_number(program, value, numerics) for value in (of.lr, of.beta1, of.beta2))
    decay = _number(program, of.weight_decay, numerics)
    if of.decoupled:
        lost = program.eltwise("mul", lr, program.eltwise("mul", decay, param, wide), wide)
        param = program.eltwise("sub", param, lost, wide)
    else:
        grad = program.eltwise("add", grad, program.eltwise("mul", param, decay, wide), wide)
    rest = program.eltwise("sub", _one(program), beta1, wide)
    new = program.eltwise("mul", grad, rest, wide)
    average = program.eltwise("add", program.eltwise("mul", average, beta1, wide), new, wide)
    program.copy(average, own, output=1)
    rest = program.eltwise("sub", _one(program), beta2, wide)
    new = program.eltwise("mul", rest, program.eltwise("mul", grad, grad, wide), wide)
    squares = program.eltwise("add", program.eltwise("mul", squares, beta2, wide), new, wide)
    program.copy(squares, own, output=2)
    scale = _correction(program, of.beta2, of, numerics)
    if of.amsgrad:
        squares = program.sfpu(("binary_max", "default"), program.tensor(own), squares, wide)
        program.copy(squares, own, output=3)
    root = program.eltwise("mul", squares, scale, wide, [("sqrt", "accurate")])
    inverse = program.eltwise("add", root, _number(program, of.eps, numerics), wide, recip(numerics))
    rate = program.eltwise("mul", lr, _correction(program, of.beta1, of, numerics), wide)
    update = program.eltwise("mul", inverse, program.eltwise("mul", rate, average, wide), wide)
    program.eltwise("sub", param, update, own, output=0)
    return program


def _check(
    name: str, label: str, tensor: Tensor | None, like: Tensor | None = None, dtypes: tuple[DataType, ...] = (BF16,)
) -> None:
    if tensor is None:
        return
    short = name.removeprefix("ttnn.")
    official = "params_in" if (short, label) == ("moreh_adam", "param_in") else label
    sentences = (
        f"{short} {label} need to be on device!",
        f"{short} {label} only supports TILE layout.",
        f"{short} {label} only supports specific data types. [BFLOAT16, BFLOAT8_B]"
        if short == "moreh_adamw"
        else f"{short} {official} only supports specific data types. [BFLOAT16]",
    )
    device = None if like is None else like._device
    check_operand(name, label, tensor, device, dtypes, vendor=sentences)
    if like is not None:
        check_shape(name, label, tensor, tuple(like.spec.shape))


def _matrix(shape: Sequence[int]) -> tuple[int, ...]:
    return (*(1 for _ in range(2 - len(shape))), *shape)


def _adam(
    name: str,
    decoupled: bool,
    default_decay: float,
    param_in: Tensor,
    grad: Tensor,
    exp_avg_in: Tensor,
    exp_avg_sq_in: Tensor,
    lr: float | None,
    beta1: float | None,
    beta2: float | None,
    eps: float | None,
    weight_decay: float | None,
    step: int | None,
    amsgrad: bool | None,
    max_exp_avg_sq_in: Tensor | None,
    param_out: Tensor | None,
    exp_avg_out: Tensor | None,
    exp_avg_sq_out: Tensor | None,
    max_exp_avg_sq_out: Tensor | None,
    memory_config: MemoryConfig | None,
    compute_kernel_config: Compute,
) -> list[Tensor | None]:
    # Beside a 16-bit Dst the reader writes its numbers as bfloat16 into a buffer of bfloat8_b.
    wide = decoupled and compute_kernel_config is not None and compute_kernel_config.fp32_dest_acc_en
    _check(name, "param_in", param_in, dtypes=(BF16, DataType.BFLOAT8_B) if wide else (BF16,))
    dtype = param_in.spec.dtype
    inputs = {"grad": grad, "exp_avg_in": exp_avg_in, "exp_avg_sq_in": exp_avg_sq_in}
    outputs = (param_out, exp_avg_out, exp_avg_sq_out, max_exp_avg_sq_out)
    for label, tensor in inputs.items():
        _check(name, label, tensor, param_in, (dtype,))
    _check(name, "max_exp_avg_sq_in", max_exp_avg_sq_in, param_in, (dtype,))
    for label, given in zip(("param", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"), outputs, strict=True):
        _check(name, f"{label}_out", given, param_in, (dtype,))
    wanted = bool(amsgrad)
    if wanted and max_exp_avg_sq_in is None:
        raise ParameterError(f"{name}: amsgrad=True needs max_exp_avg_sq_in, the largest averages so far.")
    count = 0 if step is None else step
    if not 0 <= count < 2**32:
        raise ParameterError(f"{name}: step={step}; steps are counted from 0 in 32 bits.")
    spec, device = param_in.spec, param_in._device
    assert device is not None

    def number(value: float | None, default: float) -> float:
        return rounded(default if value is None else value)

    of = _Adam(
        number(lr, 0.001),
        number(beta1, 0.9),
        number(beta2, 0.999),
        number(eps, 1e-8),
        number(weight_decay, default_decay),
        count,
        wanted,
        decoupled,
    )
    shape, place = tuple(spec.shape), memory_config or spec.memory_config
    results = [Result(name, shape, dtype, place, device, given) for given in outputs[: 3 + wanted]]
    if not is_empty(spec):
        program = _adam_program(_matrix(shape), of, numerics_of(dtype, compute_kernel_config))
        operands = [param_in, *inputs.values(), *([max_exp_avg_sq_in] if max_exp_avg_sq_in and wanted else [])]
        program.run(operands, [result.written for result in results])
    found: list[Tensor | None] = [result.tensor() for result in results]
    return found if wanted else [*found, max_exp_avg_sq_out]


@dataclass(frozen=True)
class _Sgd:
    """The numbers of a step, as FP32."""

    lr: float
    momentum: float
    dampening: float
    weight_decay: float
    nesterov: bool
    initialized: bool


@lru_cache(maxsize=256)
def _sgd_program(shape: tuple[int, ...], of: _Sgd, numerics: Numerics) -> Pipeline:
    """Return a step from parameter, gradient and any momentum.

    Outputs: parameter, momentum.
    """
    program, wide = numerics.pipeline(shape, ROWS), numerics.wide
    param, grad = program.tensor(BF16), program.tensor(BF16)
    if of.weight_decay:
        decay = program.eltwise("mul", param, _number(program, of.weight_decay, numerics), wide)
        grad = program.eltwise("add", grad, decay, wide)
    if of.momentum:
        factor, buffer = _number(program, of.momentum, numerics), grad
        if of.initialized:
            one, dampening = _number(program, 1.0, numerics), _number(program, of.dampening, numerics)
            new = program.eltwise("mul", grad, program.eltwise("sub", one, dampening, wide), wide)
            kept = program.eltwise("mul", program.tensor(BF16), factor, wide)
            buffer = program.eltwise("add", new, kept, wide)
        program.copy(buffer, BF16, output=1)
        if of.nesterov:
            grad = program.eltwise("add", program.eltwise("mul", buffer, factor, wide), grad, wide)
        else:
            grad = buffer
    update = program.eltwise("mul", _number(program, of.lr, numerics), grad, wide)
    program.eltwise("sub", param, update, BF16, output=0)
    return program


def _sgd(
    param_in: Tensor,
    grad: Tensor,
    momentum_buffer_in: Tensor | None,
    param_out: Tensor | None,
    momentum_buffer_out: Tensor | None,
    lr: float,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: bool,
    momentum_initialized: bool,
    param_out_memory_config: MemoryConfig | None,
    momentum_buffer_out_memory_config: MemoryConfig | None,
    compute_kernel_config: Compute,
) -> list[Tensor | None]:
    name = "ttnn.moreh_sgd"
    _check(name, "param_in", param_in)
    given = {"grad": grad, "momentum_buffer_in": momentum_buffer_in, "param_out": param_out}
    for label, tensor in (given | {"momentum_buffer_out": momentum_buffer_out}).items():
        _check(name, label, tensor, param_in)
    of = _Sgd(rounded(lr), rounded(momentum), rounded(dampening), rounded(weight_decay), nesterov, momentum_initialized)
    if of.momentum and of.initialized and momentum_buffer_in is None:
        raise ParameterError(f"{name}: momentum={momentum} and momentum_initialized=True need momentum_buffer_in.")
    spec, device = param_in.spec, param_in._device
    assert device is not None
    shape = tuple(spec.shape)
    own = spec.memory_config
    results = [Result(name, shape, BF16, param_out_memory_config or own, device, param_out)]
    if of.momentum:
        place = momentum_buffer_out_memory_config or own
        results.append(Result(name, shape, BF16, place, device, momentum_buffer_out))
    if not is_empty(spec):
        program = _sgd_program(_matrix(shape), of, numerics_of(BF16, compute_kernel_config))
        buffers = [momentum_buffer_in] if momentum_buffer_in is not None and of.momentum and of.initialized else []
        program.run([param_in, grad, *buffers], [result.written for result in results])
    found: list[Tensor | None] = [result.tensor() for result in results]
    return found if of.momentum else [*found, momentum_buffer_out]


def _number_option(name: str, default: float, doc: str, example: float = 0.25) -> Param:
    return Param(name, FLOAT, default, doc=doc, example=example)


def _tensor(name: str, doc: str, seed: int) -> Param:
    return Param(name, TENSOR, doc=doc, example=Example((1, 1, 64, 128), seed, between=(0.25, 1.0)))


def _optional(name: str, doc: str) -> Param:
    return Param(name, TENSOR, None, doc=doc)


_OPERANDS: Final = (
    Param("param_in", TENSOR, doc="[..., H, W]: the parameter."),
    _tensor("grad", "Its gradient.", 1),
    _tensor("exp_avg_in", "Average of gradients.", 2),
    _tensor("exp_avg_sq_in", "Average of squares of gradients.", 3),
)
_OUTPUTS: Final = (
    Param(
        "max_exp_avg_sq_in",
        TENSOR,
        None,
        doc="Largest average of squares so far, for AMSGrad.",
        example=Example((1, 1, 64, 128), 4, between=(0.25, 1.0)),
    ),
    _optional("param_out", "Preallocated output for the parameter."),
    _optional("exp_avg_out", "Preallocated output for the average of gradients."),
    _optional("exp_avg_sq_out", "Preallocated output for the average of squares."),
    _optional("max_exp_avg_sq_out", "Preallocated output for the largest average of squares."),
    MEMORY_CONFIG_OPTION,
    COMPUTE,
)


def _options(decay: float) -> tuple[Param, ...]:
    return (
        _number_option("lr", 0.0010000000474974513, "Learning rate."),
        _number_option("beta1", 0.8999999761581421, "Decay of the gradient average (beta1).", 0.5),
        _number_option("beta2", 0.9990000128746033, "Decay of the squares average (beta2).", 0.5),
        _number_option("eps", 9.99999993922529e-09, "Added to the root."),
        _number_option("weight_decay", decay, "Factor of the decay of the parameter."),
        Param("step", INTEGER, 0, doc="Number of the step, from 1.", example=3),
        Param("amsgrad", BOOLEAN, False, doc="Divide by the largest average of squares so far."),
    )


_declare: Final = partial(
    declare,
    dtypes=(BF16,),
    layouts=(Layout.TILE,),
    accuracy=no_bound("for every product and sum rounds to bfloat16"),
    engine=("Pipeline",),
    raises=(
        ("DTypeError", "a tensor is not bfloat16."),
        ("LayoutError", "a tensor is row-major."),
        ("ShapeError", "shapes differ."),
        ("ParameterError", "a tensor that the options require is missing, or `step` is negative."),
    ),
    examples=(),
)

moreh_adam = _declare(
    "moreh_adam",
    (Signature(_OPERANDS, (*_options(0.0), *_OUTPUTS)),),
    partial(_adam, "ttnn.moreh_adam", False, 0.0),
    "Return parameter, averages and AMSGrad's largest average after an Adam step.\n"
    "Shape: 4 of [..., H, W] -> 4 of [..., H, W].\n"
    "The official kernel of this release passes the number of the step as the bits of a float, and its parameter is "
    "garbage (tt-metal issues 46776 and 51278); here it is the intended exponent. The root is the accurate one.",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_adam`",
    golden=golden.moreh_adam,
    scalars=True,
    reference=(BF16,),
)
moreh_adamw = _declare(
    "moreh_adamw",
    (Signature((*_OPERANDS, *_options(0.009999999776482582)), _OUTPUTS),),
    partial(_adam, "ttnn.moreh_adamw", True, 0.01),
    "Return parameter, averages and AMSGrad's largest average after an AdamW step.\n"
    "Shape: 4 of [..., H, W] -> 4 of [..., H, W].\n"
    "The root is the accurate one; that of the approximate mode is not known. With a 32-bit Dst all tensors may be "
    "bfloat8_b.",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_adamw`",
    golden=golden.moreh_adamw,
    scalars=True,
    reference=(BF16,),
)
moreh_sgd = _declare(
    "moreh_sgd",
    (
        Signature(
            (
                Param("param_in", TENSOR, doc="[..., H, W]: the parameter."),
                Param("grad", TENSOR, doc="Its gradient."),
                Param("momentum_buffer_in", TENSOR, None, doc="Momentum.", example=Example((1, 1, 64, 128), 2)),
                _optional("param_out", "Preallocated output for the parameter."),
                _optional("momentum_buffer_out", "Preallocated output for the momentum."),
                _number_option("lr", 0.001, "Learning rate."),
                _number_option("momentum", 0.0, "Momentum; 0 for none."),
                _number_option("dampening", 0.0, "Share of the gradient that the momentum leaves out."),
                _number_option("weight_decay", 0.0, "Factor of the parameter that is added to the gradient."),
                Param("nesterov", BOOLEAN, False, doc="Nesterov momentum."),
            ),
            (
                Param("momentum_initialized", BOOLEAN, doc="Whether there is a momentum of an earlier step."),
                Param("param_out_memory_config", MEMORY_CONFIG, None, doc="Memory configuration of the parameter."),
                Param(
                    "momentum_buffer_out_memory_config",
                    MEMORY_CONFIG,
                    None,
                    doc="Memory configuration of the momentum.",
                ),
                COMPUTE,
            ),
        ),
    ),
    _sgd,
    "Return the parameter, and with `momentum` the momentum, after an SGD step.\n"
    "Shape: [..., H, W], [..., H, W] -> [..., H, W], [..., H, W].",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_sgd`",
    golden=golden.moreh_sgd,
)
