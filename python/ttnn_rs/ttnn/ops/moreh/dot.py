"""The dot product of the moreh family and its gradients.

Source: tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_dot`, `moreh_dot_backward`.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Final

from ttnn.base.compute_config import FIDELITY_NUMBER
from ttnn.base.enums import DataType, Layout, MathFidelity
from ttnn.base.exceptions import ShapeError, UnsupportedError
from ttnn.base.memory_config import MemoryConfig
from ttnn.device.lifecycle import MeshDevice
from ttnn.golden import moreh as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.domain import Operand as Example
from ttnn.operation.registry import declare
from ttnn.operation.signature import DATA_TYPE, TENSOR, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION
from ttnn.ops._programs.pipeline import ROWS, Pipeline, bits
from ttnn.ops.moreh.checks import BF16, COMPUTE, Compute, Result, check_operand, check_shape, numerics_of
from ttnn.ops.normalization.softmax_programs import Numerics
from ttnn.tensor.tensor import Tensor

_TAKEN: Final = (BF16, DataType.BFLOAT8_B)
_PLACE: Final = "Operands to matmul need to be on device!"


@lru_cache(maxsize=256)
def _dot_program(shape: tuple[int, ...], numerics: Numerics) -> Pipeline:
    """Return a row's sum of products.

    Values packed between tiles are reloaded exactly into a 16-bit Dst.
    """
    program = numerics.pipeline(shape, ROWS)
    a, b = program.tensor(BF16), program.tensor(BF16)
    products = program.eltwise("mul", a, b, BF16, padding="zero")
    program.sum(products, (BF16, bits(1.0)), BF16, output=(0, 0, 1))
    return program


@lru_cache(maxsize=256)
def _scaled_program(shape: tuple[int, ...], dtypes: tuple[DataType, DataType], numerics: Numerics) -> Pipeline:
    """Return a row times one element."""
    program = numerics.pipeline(shape, ROWS)
    values = program.tensor(dtypes[0])
    program.eltwise("mul", values, program.tensor(dtypes[1], (1, 1, 1, 1), "scalar"), dtypes[0], output=0)
    return program


def _check_vector(name: str, label: str, tensor: Tensor, device: MeshDevice | None = None) -> MeshDevice:
    shape = tuple(tensor.spec.shape)
    if len(shape) != 4 or shape[:3] != (1, 1, 1) or not shape[3]:
        raise ShapeError(
            f"{name}: {label} has shape {list(shape)}; it must be [1, 1, 1, N], not empty.",
            vendor="Invalid input tensor dimensions.",
        )
    return check_operand(name, label, tensor, device, _TAKEN, vendor=(_PLACE, None, "Unsupported data format"))


def _dot(
    input_tensor_a: Tensor,
    input_tensor_b: Tensor,
    output: Tensor | None,
    _dtype: DataType | None,
    memory_config: MemoryConfig | None,
    compute_kernel_config: Compute,
) -> Tensor:
    name = "ttnn.moreh_dot"
    device = _check_vector(name, "input_tensor_a", input_tensor_a)
    _check_vector(name, "input_tensor_b", input_tensor_b, device)
    spec = input_tensor_a.spec
    shape = tuple(spec.shape)
    check_shape(name, "input_tensor_b", input_tensor_b, shape, vendor="Shape without padding must be the same.")
    if DataType.BFLOAT8_B in (spec.dtype, input_tensor_b.spec.dtype):
        raise UnsupportedError(
            f"{name}: BFLOAT8_B is not modelled: the reader clears padding as if elements had 16 bits. Typecast both "
            "tensors to bfloat16."
        )
    numerics = numerics_of(BF16, compute_kernel_config)
    if numerics.dst32:
        raise UnsupportedError(
            f"{name}: a 32-bit Dst is not modelled: sums round to bfloat16 between tiles. Leave out fp32_dest_acc_en."
        )
    result = Result(name, (1, 1, 1, 1), BF16, memory_config or spec.memory_config, device, output)
    _dot_program(shape, numerics).run([input_tensor_a, input_tensor_b], [result.written])
    return result.tensor()


def _dot_backward(
    output_grad: Tensor,
    input: Tensor,
    other: Tensor,
    input_grad: Tensor | None,
    other_grad: Tensor | None,
    _memory_config: MemoryConfig | None,
) -> list[Tensor | None]:
    name = "ttnn.moreh_dot_backward"
    check_shape(name, "output_grad", output_grad, (1, 1, 1, 1), vendor="Invalid value type")
    device = check_operand(name, "output_grad", output_grad, None, _TAKEN)
    for label, tensor in (("input", input), ("other", other)):
        _check_vector(name, label, tensor, device)
    shape = tuple(input.spec.shape)
    check_shape(name, "other", other, shape, vendor="Tensor A and B should have the same shape.")
    numerics = Numerics(BF16, FIDELITY_NUMBER[MathFidelity.HiFi4], False, False)
    wanted = []
    for label, target, values in (("input_grad", input_grad, other), ("other_grad", other_grad, input)):
        if target is None:
            continue
        dtype = values.spec.dtype
        check_operand(name, label, target, device, (dtype,))
        check_shape(name, label, target, shape, vendor="Tensor shape and grad tensor shape should be the same.")
        wanted.append((values, Result(name, shape, dtype, target.spec.memory_config, device, target)))
    for values, result in wanted:
        formats = (values.spec.dtype, output_grad.spec.dtype)
        _scaled_program(shape, formats, numerics).run([values, output_grad], [result.written])
    # An output may be an operand too.
    for _, result in wanted:
        result.tensor()
    return [input_grad, other_grad]


def _vector(name: str, doc: str, seed: int) -> Param:
    return Param(name, TENSOR, doc=f"[1, 1, 1, N]: {doc}", example=Example((1, 1, 1, 70), seed))


_declare: Final = partial(
    declare,
    layouts=(Layout.TILE,),
    engine=("Pipeline",),
    raises=(
        ("DTypeError", "a data type is not supported."),
        ("LayoutError", "a tensor is row-major."),
        ("ShapeError", "a tensor is not a vector, or shapes differ."),
        ("UnsupportedError", "a tensor is BFLOAT8_B, or a 32-bit Dst is requested."),
    ),
    examples=(),
)

moreh_dot = _declare(
    "moreh_dot",
    (
        Signature(
            (_vector("input_tensor_a", "the first vector.", 1), _vector("input_tensor_b", "the second vector.", 2)),
            (
                Param("output", TENSOR, None, doc="Preallocated output.", example=Example((1, 1, 1, 1))),
                Param("dtype", DATA_TYPE, None, doc="Changes nothing: the output has that of the inputs."),
                MEMORY_CONFIG_OPTION,
                COMPUTE,
            ),
        ),
    ),
    _dot,
    "Return the dot product of two vectors.\nShape: [1, 1, 1, N], [1, 1, 1, N] -> [1, 1, 1, 1].",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_dot`",
    dtypes=(BF16,),
    golden=golden.moreh_dot,
    accuracy=no_bound("for every product and sum rounds to bfloat16"),
)
moreh_dot_backward = _declare(
    "moreh_dot_backward",
    (
        Signature(
            (
                Param("output_grad", TENSOR, doc="[1, 1, 1, 1]: the gradient.", example=Example((1, 1, 1, 1), 3)),
                _vector("input", "the first vector.", 1),
                _vector("other", "the second vector.", 2),
            ),
            (
                Param(
                    "input_grad",
                    TENSOR,
                    None,
                    doc="Preallocated output for input's gradient.",
                    example=Example((1, 1, 1, 70), 4),
                ),
                Param(
                    "other_grad",
                    TENSOR,
                    None,
                    doc="Preallocated output for other's gradient.",
                    example=Example((1, 1, 1, 70), 5),
                ),
                MEMORY_CONFIG_OPTION,
            ),
        ),
    ),
    _dot_backward,
    "Return gradients of vectors with preallocated tensors, else None.\n"
    "Shape: [1, 1, 1, 1], [1, 1, 1, N], [1, 1, 1, N] -> [1, 1, 1, N], [1, 1, 1, N].",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_dot_backward`",
    dtypes=(BF16, DataType.BFLOAT8_B),
    golden=golden.moreh_dot_backward,
    accuracy=no_bound("for phases of products round to bfloat16"),
)
