"""Running sums and products along a dimension.

bfloat16 sums along rows and columns stay in FP32 registers from element to element. float32 sums are compensated: what
an addition loses is added to the next element. Other dimensions are exchanged with the first one, where tiles follow
each other; block floats share exponents with other elements there.
Source: tt-metal `ttnn/cpp/ttnn/operations/reduction/accumulation`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Final, Literal

from ttnn.base.compute_config import FIDELITY_NUMBER, wide_fidelity
from ttnn.base.enums import DataType, Layout, MathFidelity
from ttnn.base.exceptions import DTypeError, LayoutError, MemoryConfigError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import reduction as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.registry import declare
from ttnn.operation.signature import BOOLEAN, DATA_TYPE, INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.common import (
    MEMORY_CONFIG_OPTION,
    allocate,
    dimension,
    full_tiles,
    is_empty,
    on_device,
    take_output,
)
from ttnn.ops._programs.element_map import copy_into, strides_of
from ttnn.ops._programs.movement import move
from ttnn.ops._programs.pipeline import COLUMNS, ROWS, Pipeline, bits
from ttnn.ops._programs.typecast import cast
from ttnn.ops.data_movement.permute import permuted
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.tensor.tensor import Tensor

Kind = Literal["cumsum", "cumprod"]
_DTYPES: Final = (
    *(DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B, DataType.BFLOAT4_B),
    *(DataType.INT32, DataType.UINT32, DataType.UINT16),
)
_INTEGERS: Final = (DataType.INT32, DataType.UINT32, DataType.UINT16)
_WIDE: Final = DataType.FLOAT32


@lru_cache(maxsize=256)
def _program(
    kind: Kind, shape: tuple[int, ...], axis: int, dtype: DataType, plain: bool, fidelity: MathFidelity
) -> Pipeline:
    """Return the program along rows, columns or a leading dimension."""
    program = Pipeline(shape, axis, dtype, True, FIDELITY_NUMBER[fidelity], direct=True)
    x = program.tensor(dtype)
    if dtype in _INTEGERS:
        # Integers wrap at the width of their type: the packer cuts 16-bit ones.
        program.scan(x, dtype, by=("add_int" if kind == "cumsum" else "mul_int", "int32"), output=0)
    elif kind == "cumprod":
        # The product with the first 1 makes -0 and denormals +0.
        once = program.copy(x, _WIDE, [("mul_unary", "default", [bits(1.0)])])
        program.copy(program.scan(once, _WIDE, by=("mul_binary", "default")), dtype, output=0)
    elif axis < 0:
        program.running_sum(x, dtype, output=0)
    elif dtype is _WIDE and not plain:
        program.copy(program.compensated(x, _WIDE), dtype, output=0)
    else:
        program.copy(program.scan(x, _WIDE, by=("add_binary", "default")), dtype, output=0)
    return program


def _reversed(source: Tensor, axis: int) -> Tensor:
    """Return the tensor with the elements along a dimension in reverse order."""
    dims = tuple(source.spec.shape)
    strides = strides_of(dims)
    offset = (dims[axis] - 1) * strides[axis]
    strides[axis] = -strides[axis]
    return move(source, source.spec.with_memory_config(DRAM_MEMORY_CONFIG), strides=strides, offset=offset)


def _along(kind: Kind, source: Tensor, axis: int, plain: bool, backwards: bool) -> Tensor:
    """Return the running result of a tensor of rank 2 or more."""
    spec, device = source.spec, on_device(f"ttnn.{kind}", source)
    rank, dtype = spec.shape.rank, spec.dtype
    shape = tuple(spec.shape)
    inner = axis >= rank - 2
    if inner and (kind != "cumsum" or dtype is not DataType.BFLOAT16 or backwards):
        # The dimension becomes the first, where tiles follow each other.
        source = reshaped(f"ttnn.{kind}", source, (1, 1, *shape))
        order = [axis + 2, *(index for index in range(rank + 2) if index != axis + 2)]
        front = permuted(f"ttnn.{kind}", source, order, DRAM_MEMORY_CONFIG, 0.0)
        result = _along(kind, front, 0, plain, backwards)
        back = [order.index(index) for index in range(rank + 2)]
        return reshaped(f"ttnn.{kind}", permuted(f"ttnn.{kind}", result, back, DRAM_MEMORY_CONFIG, 0.0), shape)
    along = (COLUMNS if axis == rank - 2 else ROWS) if inner else axis
    fidelity = wide_fidelity(device.arch()) if dtype is _WIDE else MathFidelity.HiFi4
    program = _program(kind, shape, along, dtype, plain, fidelity)
    output = allocate(TensorSpec.of(spec.shape, dtype, Layout.TILE, DRAM_MEMORY_CONFIG), device)
    program.run([source], [output])
    return output


def _accumulate(
    kind: Kind,
    input_tensor: Tensor,
    dim: int,
    dtype: DataType | None,
    reverse_order: bool,
    out: Tensor | None,
    memory_config: MemoryConfig | None,
    plain: bool = False,
) -> Tensor:
    name = f"ttnn.{kind}"
    device = on_device(name, input_tensor)
    spec = input_tensor.spec
    axis = dimension(name, dim, max(spec.shape.rank, 1))
    wanted = dtype or spec.dtype
    place = memory_config or spec.memory_config
    if dtype is not None and dtype is not spec.dtype:
        # Converted first, where it is.
        TensorSpec.of(spec.shape, wanted, Layout.TILE, spec.memory_config)
    if spec.memory_config.is_sharded():
        raise MemoryConfigError(
            f"{name}: input is {spec.memory_config.memory_layout.name}; move it to an interleaved memory config.",
            vendor="ttnn accumulation operations (cumprod, cumsum) do not support sharded input tensors.",
        )
    for label, given in (("input", spec.dtype), ("dtype", wanted)):
        if given not in _DTYPES:
            raise DTypeError(f"{name}: {label} is {given.name}; use {' or '.join(item.name for item in _DTYPES)}.")
    if spec.layout is not Layout.TILE:
        raise LayoutError(
            f"{name}: input is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            vendor=f"The provided input tensor has a non-tile layout: {spec.layout.name}.",
        )
    full_tiles(name, input_tensor)
    target = TensorSpec.of(spec.shape, wanted, Layout.TILE, place)
    if out is not None:
        out = take_output(name, out, spec.shape._dims, Layout.TILE, device)
        if out.spec.dtype is not wanted:
            raise DTypeError(f"{name}: out is {out.spec.dtype.name}, the result {wanted.name}.")
    output = out or allocate(target, device)
    if is_empty(spec):
        return output
    source = input_tensor if wanted is spec.dtype else cast("ttnn.typecast", input_tensor, wanted)
    if spec.shape.rank < 2:
        source, axis = reshaped(name, source, (1, *spec.shape) if spec.shape.rank else (1, 1)), 1
    if reverse_order:
        result = _reversed(_along(kind, _reversed(source, axis), axis, plain, True), axis)
    else:
        result = _along(kind, source, axis, plain, False)
    copy_into(reshaped(name, result, tuple(spec.shape)), output)
    return output


def _cumsum(
    input: Tensor,
    dim: int,
    dtype: DataType | None,
    reverse_order: bool,
    out: Tensor | None,
    memory_config: MemoryConfig | None,
    disable_compensated_sum: bool,
) -> Tensor:
    return _accumulate("cumsum", input, dim, dtype, reverse_order, out, memory_config, disable_compensated_sum)


_cumprod: Final[Callable[..., Tensor]] = partial(_accumulate, "cumprod")


def _cumprod_of(
    input_tensor: Tensor,
    dim: int,
    dtype: DataType | None,
    reverse_order: bool,
    out: Tensor | None,
    memory_config: MemoryConfig | None,
) -> Tensor:
    return _cumprod(input_tensor, dim, dtype, reverse_order, out, memory_config)


def _examples(shape: tuple[int, ...], _layout: Layout) -> tuple[tuple[Any, ...], ...]:
    return tuple((dim,) for dim in range(-len(shape), 0))


_DIM: Final = Param("dim", INTEGER, doc="Dimension along which elements are accumulated.")
_OPTIONS: Final = (
    Param("dtype", DATA_TYPE, None, doc="Data type to which the input is cast first. Default: that of the input."),
    Param("reverse_order", BOOLEAN, False, doc="Accumulate from the last element to the first."),
    Param("out", TENSOR, None, doc="Preallocated output, of the input's shape."),
    MEMORY_CONFIG_OPTION,
)
_ERRORS: Final = (
    ("DTypeError", "the data type of the input, or `dtype`, is not supported."),
    ("LayoutError", "the input is row-major."),
    ("ShapeError", "`dim` is out of range."),
)
_ACCURACY: Final = no_bound("for rounding errors add up along the dimension")

_declare: Final = partial(
    declare,
    layouts=(Layout.TILE,),
    accuracy=_ACCURACY,
    engine=("Pipeline",),
    raises=_ERRORS,
    examples=_examples,
)

cumsum = _declare(
    "cumsum",
    signatures=(
        Signature(
            (Param("input", TENSOR, doc="[..., H, W] on a device."), _DIM),
            (
                *_OPTIONS,
                Param(
                    "disable_compensated_sum",
                    BOOLEAN,
                    False,
                    doc="Add float32 elements without the compensation of rounding errors.",
                ),
            ),
        ),
    ),
    run=_cumsum,
    doc="Return the sums of the elements along `dim` up to each element.\nShape: [..., H, W] -> [..., H, W].",
    source="tt-metal `ttnn/cpp/ttnn/operations/reduction/accumulation/cumsum`",
    dtypes=_DTYPES,
    golden=golden.cumsum,
)

cumprod = _declare(
    "cumprod",
    signatures=(Signature((Param("input_tensor", TENSOR, doc="[..., H, W] on a device."), _DIM), _OPTIONS),),
    run=_cumprod_of,
    doc="Return the cumulative product of the elements along `dim`.\nShape: [..., H, W] -> [..., H, W].",
    source="tt-metal `ttnn/cpp/ttnn/operations/reduction/accumulation/cumprod`",
    dtypes=_DTYPES,
    golden=golden.cumprod,
)
