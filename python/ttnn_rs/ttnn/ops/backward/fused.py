"""Gradients that the chip computes in one visit to Dst.

They are those of tanh, sigmoid and gelu.

Their kernels keep every intermediate value in Dst, which is 16 bits wide unless a tensor is float32, or the function
is sigmoid. A tensor of Dst's
own format holds such a value without loss, so the steps here are programs of their own with intermediate tensors of
that format: the bits are those of the fused kernel.

Source: tt-metal `eltwise_bw_tanh.cpp`, `eltwise_bw_sigmoid.cpp`, `eltwise_bw_gelu_poly.cpp`,
`eltwise_bw_gelu_tanh.cpp` and `eltwise_bw_gelu_tanh_fp32.cpp`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from ttnn.base.enums import FORMAT_CODE, DataType, GeluVariant, Layout
from ttnn.base.exceptions import DTypeError, LayoutError, ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.golden import backward as g
from ttnn.operation.registry import find
from ttnn.operation.signature import FLOAT, Param, Signature, instance_kind
from ttnn.operation.steps import ChainStep, single, step
from ttnn.ops._programs.common import (
    FLOATS,
    MEMORY_CONFIG_OPTION,
    allocate,
    full_tiles,
    is_empty,
    on_device,
    result_spec,
)
from ttnn.ops._programs.element_map import move_into
from ttnn.ops._programs.sfpu_chain import apply_chain
from ttnn.ops.backward.family import (
    GRAD,
    INPUT,
    INPUT_A,
    INPUT_B,
    INPUT_GRAD,
    STRING,
    Gradients,
    check_operands,
    entry,
    output_for,
)
from ttnn.ops.backward.forward import named
from ttnn.ops.data_movement.layout import tilize_padded
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_HIFI4: Final = 4
_WIDE: Final = ("SIGMOID_BW",)
"""Kernels with a 32-bit Dst for operands of any data type.

Only the result is rounded.
"""


class Dst:
    """The steps of one kernel on tensors that hold what Dst holds.

    Args:
        operator: Who asks, for errors.
        operands: What the kernel reads. Any float32 among them, or as the result, makes Dst 32 bits wide.
        output: Takes the result.
        wide: True if Dst has 32 bits for every operand.
    """

    def __init__(self, operator: str, operands: tuple[Tensor, ...], output: Tensor, wide: bool = False) -> None:
        self.operator = operator
        self.output = output
        wide = wide or any(tensor.dtype is DataType.FLOAT32 for tensor in (*operands, output))
        self.format = DataType.FLOAT32 if wide else DataType.BFLOAT16

    def apply(self, x: Tensor, *steps: ChainStep) -> Tensor:
        """Return functions of one tensor."""
        return apply_chain(self.operator, x, list(steps), dtype=self.format)

    def product(self, a: Tensor, b: Tensor | float, output: Tensor | None = None) -> Tensor:
        """Return a * b, written to the kernel's result if it is given."""
        return self._binary("mul_binary", a, b, self.format, output)

    def sum(self, a: Tensor, b: Tensor | float) -> Tensor:
        """Return a + b.

        It is rounded to the nearest value of Dst's format for a bfloat16 result, else truncated to it.
        """
        if self.format is DataType.FLOAT32 or self.output.dtype is not DataType.BFLOAT16:
            return self._binary("add_binary", a, b, self.format)
        exact = self._binary("add_binary", a, b, DataType.FLOAT32)
        rounded: ChainStep = ("typecast_from_fp32", "fp32_to_bf16")
        return apply_chain(self.operator, exact, [rounded], dtype=DataType.BFLOAT16)

    def rest(self, x: Tensor) -> Tensor:
        """Return 1 - x, rounded as `sum` does."""
        return self.sum(self.apply(x, ("neg", "default")), 1.0)

    def _binary(self, op: str, a: Tensor, b: Tensor | float, dtype: DataType, output: Tensor | None = None) -> Tensor:
        device = on_device(self.operator, a)
        spec = a.spec
        if output is None:
            output = allocate(result_spec(spec, spec.shape._dims, dtype, None), device)
        if is_empty(spec):
            return output
        assert a.buffer is not None
        assert output.buffer is not None
        other = b.spec.dtype if isinstance(b, Tensor) else self.format
        shape = spec.shape._dims
        engine_steps.binary(
            a.buffer,
            b.buffer if isinstance(b, Tensor) else None,
            output.buffer,
            formats=(FORMAT_CODE[spec.dtype], FORMAT_CODE[other], FORMAT_CODE[output.spec.dtype]),
            op=op,
            engine="sfpu",
            scalar=None if isinstance(b, Tensor) else b,
            scalar_is_lhs=False,
            shape_a=shape,
            shape_b=shape if isinstance(b, Tensor) else (),
            shape_out=shape,
            tiled=True,
            fidelity=_HIFI4,
            dst32=DataType.FLOAT32 in (self.format, dtype),
        )
        return output


def _tanh(dst: Dst, grad: Tensor, x: Tensor) -> Tensor:
    return dst.product(grad, dst.apply(x, ("tanh_derivative", "accurate")), dst.output)


def _sigmoid(dst: Dst, grad: Tensor, x: Tensor) -> Tensor:
    sigmoid = dst.apply(x, ("sigmoid", "accurate"))
    share = dst.product(grad, sigmoid)
    return dst.product(share, dst.apply(sigmoid, step("rsub", "default", 1.0)), dst.output)


def _gelu(dst: Dst, grad: Tensor, x: Tensor) -> Tensor:
    return dst.product(grad, dst.apply(x, ("gelu_derivative", "accurate")), dst.output)


_KAPPA: Final = single(0.044715)
_BETA: Final = single(math.sqrt(2.0 / math.pi))
_SQUARE: Final[ChainStep] = ("square", "default")


def _gelu_tanh(dst: Dst, grad: Tensor, x: Tensor) -> Tensor:
    x = dst.apply(x, ("identity", "default"))
    cubic = dst.product(dst.product(dst.apply(x, _SQUARE), x), _KAPPA)
    # The kernel of a 16-bit Dst has the logistic function of twice the argument instead of tanh, of which 1 + tanh and
    # 1 - tanh^2 would vanish in bfloat16.
    wide = dst.format is DataType.FLOAT32
    scale = _BETA if wide else 2.0 * _BETA
    inner = dst.product(dst.sum(cubic, x), scale)
    if wide:
        tanh = dst.apply(inner, ("tanh", "accurate"))
        share = dst.product(dst.sum(tanh, 1.0), 0.5)
        flat = dst.rest(dst.apply(tanh, _SQUARE))
    else:
        share = dst.apply(inner, ("sigmoid", "accurate"))
        flat = dst.product(share, dst.rest(share))
    slope = dst.sum(dst.product(dst.apply(x, _SQUARE), single(3.0 * _KAPPA)), 1.0)
    slope = dst.product(dst.product(slope, flat), _BETA / 2.0 if wide else scale)
    return dst.product(grad, dst.sum(share, dst.product(slope, x)), dst.output)


def _checked(
    name: str, kernel: str, grad: Tensor, x: Tensor, place: MemoryConfig | None, output: Tensor | None
) -> Tensor:
    """Return the tensor for the gradient.

    Raises what the official validation raises.
    """
    operator = f"ttnn.{name}"
    for label, tensor in (("input", x), ("grad_output", grad)):
        if tensor.dtype not in FLOATS:
            raise DTypeError(
                f"{operator}: the {label} tensor is {tensor.dtype.name}; expected floating point.",
                vendor=f"{kernel} operation only supports floating-point dtypes (bfloat16, float32, bfloat8_b, "
                f"bfloat4_b), "
                f"but the {label} tensor has dtype {tensor.dtype.cpp_name}.",
            )
    check_operands(operator, grad_tensor=grad, input_tensor=x)
    if grad.spec.shape != x.spec.shape:
        raise ShapeError(
            f"{operator}: grad_tensor is {grad.shape} and input_tensor is {x.shape}; the kernel does not broadcast.",
            vendor=f"{kernel} operation requires grad_output and input to have the same logical shape, but got "
            f"{grad.shape} and {x.shape}.",
        )
    for label, tensor in (("input", x), ("grad_output", grad)):
        full_tiles(operator, tensor, label)
    if grad.layout is not x.layout:
        raise LayoutError(
            f"{operator}: grad_tensor is {grad.layout.name} and input_tensor {x.layout.name}; convert one of them with "
            "ttnn.to_layout.",
            vendor=f"{kernel} operation requires grad_output and input to have the same layout, but got "
            f"{grad.layout.cpp_name} and {x.layout.cpp_name}.",
        )
    _, output = output_for(operator, place, x, output)
    full_tiles(operator, output, "input_grad")
    if output.dtype is not x.dtype:
        raise DTypeError(f"{operator}: input_grad is {output.dtype.name}, the input is {x.dtype.name}.")
    return output


Kernel = Callable[[Dst, Tensor, Tensor], Tensor]


def _run(
    name: str, kernel: str, steps: Kernel, grad: Tensor, x: Tensor, place: MemoryConfig | None, output: Tensor | None
) -> Tensor:
    """Return the gradient.

    The elements of row-major tensors are read as those of tiles are: in any order.
    """
    operator = f"ttnn.{name}"
    output = _checked(name, kernel, grad, x, place, output)
    wide = kernel in _WIDE
    if x.layout is Layout.TILE:
        return steps(Dst(operator, (grad, x), output, wide), grad, x)
    grad, x = (tilize_padded(operator, tensor, memory_config=DRAM_MEMORY_CONFIG) for tensor in (grad, x))
    tiles = allocate(x.spec, on_device(operator, x))
    return move_into(steps(Dst(operator, (grad, x), tiles, wide), grad, x), output)


def _kernel(name: str, kernel: str, steps: Kernel) -> Callable[..., Gradients]:
    def run(grad: Tensor, x: Tensor, place: MemoryConfig | None, output: Tensor | None = None) -> Gradients:
        with named(f"ttnn.{name}"):
            return [_run(name, kernel, steps, grad, x, place, output)]

    return run


def _gelu_gradient(
    name: str, grad: Tensor, x: Tensor, variant: GeluVariant, place: MemoryConfig | None, output: Tensor | None
) -> Tensor:
    if variant is GeluVariant.FastLut:
        raise ParameterError(
            f"ttnn.{name}: variant=GeluVariant.FastLut has no gradient; expected Accurate or Tanh.",
            vendor="GELU_BW does not support GeluVariant::FAST_LUT because no matching backward kernel is available.",
        )
    kernel, steps = ("GELU_TANH_BW", _gelu_tanh) if variant is GeluVariant.Tanh else ("GELU_BW", _gelu)
    return _run(name, kernel, steps, grad, x, place, output)


def _run_gelu(
    grad: Tensor, x: Tensor, variant: GeluVariant, place: MemoryConfig | None, output: Tensor | None
) -> Gradients:
    with named("ttnn.gelu_bw"):
        return [_gelu_gradient("gelu_bw", grad, x, variant, place, output)]


def _bias_gelu(
    grad: Tensor, x: Tensor, bias: Tensor | float, variant: GeluVariant | str, place: MemoryConfig | None
) -> list[Tensor]:
    with named("ttnn.bias_gelu_bw"):
        if isinstance(variant, str):
            if variant not in ("none", "tanh"):
                raise ParameterError(
                    f"ttnn.bias_gelu_bw: approximate is {variant!r}; expected 'none' or 'tanh'.",
                    vendor="Incorrect approximation type (expected 'none', 'tanh')",
                )
            variant = GeluVariant.Tanh if variant == "tanh" else GeluVariant.Accurate
        check_operands("ttnn.bias_gelu_bw", grad_tensor=grad, input_tensor=x)
        if isinstance(bias, Tensor):
            check_operands("ttnn.bias_gelu_bw", input_tensor_a=x, input_tensor_b=bias)
        total: Tensor = find("ttnn.add")(x, bias)
        gradient = _gelu_gradient("bias_gelu_bw", grad, total, variant, place, None)
        return [gradient, gradient] if isinstance(bias, Tensor) else [gradient]


_OPTIONS: Final = (MEMORY_CONFIG_OPTION, INPUT_GRAD)
_VARIANT: Final = Param(
    "variant",
    instance_kind("ttnn.GeluVariant", GeluVariant),
    GeluVariant.Accurate,
    doc="Form of GELU whose derivative is computed: accurate, or with tanh.",
)
_ENGINE: Final = ("unary", "binary")

tanh_bw = entry(
    "tanh_bw",
    (Signature((GRAD, INPUT), _OPTIONS),),
    _kernel("tanh_bw", "TANH_BW", _tanh),
    "grad * (1 - tanh(x)^2)",
    g.tanh,
    engine=_ENGINE,
    rows=True,
    ulp=(2.17, 73600, 0.654),
)
sigmoid_bw = entry(
    "sigmoid_bw",
    (Signature((GRAD, INPUT), (MEMORY_CONFIG_OPTION,)),),
    _kernel("sigmoid_bw", "SIGMOID_BW", _sigmoid),
    "grad * sigmoid(x) * (1 - sigmoid(x))",
    g.sigmoid,
    engine=_ENGINE,
    rows=True,
    ulp=(0.5, 37.8, 0.428),
)
gelu_bw = entry(
    "gelu_bw",
    (Signature((GRAD, INPUT), (_VARIANT, *_OPTIONS)),),
    _run_gelu,
    "grad * (normal_cdf(x) + x * normal_pdf(x))",
    g.gelu,
    engine=_ENGINE,
    rows=True,
    ulp=(4.02, 87200, 0.738),
    relative_to=g.size_of_grad,
)
_APPROXIMATE: Final = Param("approximate", STRING, doc='"none" (accurate GELU) or "tanh".')
bias_gelu_bw = entry(
    "bias_gelu_bw",
    tuple(
        Signature(operands, (how, MEMORY_CONFIG_OPTION))
        for operands in (
            (GRAD, INPUT_A, INPUT_B),
            (GRAD, INPUT, Param("bias", FLOAT, doc="Bias, `b`: a scalar.")),
        )
        for how in (_VARIANT, _APPROXIMATE)
    ),
    _bias_gelu,
    "grad * gelu'(a + b), the same tensor",
    g.bias_gelu,
    note="The list has one element if the bias is a scalar.",
    engine=_ENGINE,
    rows=True,
    ulp=(4.11, 119000, 1.14),
    relative_to=g.size_of_grad,
)
