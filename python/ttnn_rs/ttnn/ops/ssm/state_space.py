"""Steps of Mamba: states, products with repeated operands, column sums.

Sums are of 32 columns.

All three compute in a 16-bit Dst, and keep intermediate values in bfloat16.
Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/ssm`.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from ttnn.base.compute_config import FIDELITY_NUMBER
from ttnn.base.enums import FORMAT_CODE, TILE_SIZE, DataType, Layout, MathFidelity
from ttnn.base.exceptions import DTypeError, LayoutError, MemoryConfigError, ShapeError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import ssm as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import DATA_TYPE, TENSOR, Param, Signature, instance_kind
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, allocate, full_tiles, on_device, same_device
from ttnn.ops._programs.element_map import copy_into
from ttnn.ops._programs.movement import move
from ttnn.ops._programs.typecast import cast
from ttnn.ops._programs.windows import write_into
from ttnn.ops.data_movement.concat import each_repeated, repeated
from ttnn.ops.data_movement.layout import tilize_padded, untilized
from ttnn.ops.data_movement.permute import moved_to, permuted
from ttnn.ops.reduction.program import Setting, column_sums
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_SUM: Final = "ttnn.experimental.hc_sum_reduce"
_SCAN: Final = "ttnn.experimental.prefix_scan"
_PRODUCT: Final = "ttnn.experimental.repeat_and_interleave_eltwise_mul"
_BF16: Final = DataType.BFLOAT16
_TAKEN: Final = (_BF16, DataType.BFLOAT8_B)
_LATENT: Final = 32
_HIDDEN: Final = 5120


def _check(name: str, label: str, tensor: Tensor) -> tuple[int, int]:
    """Return rows and columns of a full-tile tensor [1, 1, rows, columns].

    Raises:
        LayoutError: it is row-major.
        DTypeError: it is neither bfloat16 nor bfloat8_b.
        ShapeError: the shape is another.
    """
    on_device(name, tensor, label)
    spec = tensor.spec
    if spec.layout is not Layout.TILE:
        raise LayoutError(
            f"{name}: {label} is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            vendor="Expected input tensors to be tile layout",
        )
    full_tiles(name, tensor, label)
    if spec.dtype not in _TAKEN:
        raise DTypeError(
            f"{name}: {label} is {spec.dtype.name}; it must be BFLOAT16 or BFLOAT8_B.",
            vendor=f"Unsupported data format for input {label[-1]}!",
        )
    shape = tuple(spec.padded_shape)
    if len(shape) != 4 or shape[:2] != (1, 1) or 0 in shape:
        raise ShapeError(
            f"{name}: {label} has shape {spec.shape}; it must be [1, 1, H, W].",
            vendor="Dimension 0 and 1 should be size 1",
        )
    return shape[2], shape[3]


def _own_dtype(name: str, tensor: Tensor, dtype: DataType | None) -> None:
    if dtype not in (None, tensor.spec.dtype):
        raise UnsupportedError(
            f"{name}: dtype is {dtype}; the program packs to {tensor.spec.dtype.name}, the data type of its input. "
            "Typecast the result."
        )


def _interleaved(name: str, *configs: MemoryConfig) -> None:
    if not all(config.interleaved for config in configs):
        raise MemoryConfigError(
            f"{name}: inputs and output must be interleaved; use ttnn.DRAM_MEMORY_CONFIG or ttnn.L1_MEMORY_CONFIG.",
            vendor="Unsupported memory layout for input a!",
        )


def _fidelity(math_fidelity: MathFidelity | None) -> int:
    return FIDELITY_NUMBER[MathFidelity.HiFi4 if math_fidelity is None else math_fidelity]


def _computed(op: str, a: Tensor, b: Tensor, output: Tensor, fidelity: int) -> Tensor:
    """Write an FPU operation of two bfloat16 tensors to a third.

    Returns the third; all have one shape.
    """
    shape = output.spec.shape._dims
    assert a.buffer is not None
    assert b.buffer is not None
    assert output.buffer is not None
    assert output._device is not None
    engine_steps.binary(
        a.buffer,
        b.buffer,
        output.buffer,
        formats=(FORMAT_CODE[_BF16], FORMAT_CODE[_BF16], FORMAT_CODE[output.spec.dtype]),
        op=op,
        engine="fpu",
        scalar=None,
        scalar_is_lhs=False,
        shape_a=shape,
        shape_b=shape,
        shape_out=shape,
        tiled=output.spec.layout is Layout.TILE,
        fidelity=fidelity,
        dst32=False,
    )
    return output


def _in_bfloat16(name: str, tensor: Tensor) -> Tensor:
    return tensor if tensor.spec.dtype is _BF16 else cast(name, tensor, _BF16)


def _sum(
    input: Tensor, memory_config: MemoryConfig | None, dtype: DataType | None, math_fidelity: MathFidelity | None
) -> Tensor:
    rows, columns = _check(_SUM, "input", input)
    place = memory_config or input.spec.memory_config
    _interleaved(_SUM, input.spec.memory_config, place)
    _own_dtype(_SUM, input, dtype)
    if columns % (_LATENT * TILE_SIZE):
        raise ShapeError(
            f"{_SUM}: input has {columns} columns; they must be a multiple of {_LATENT * TILE_SIZE}.",
            vendor="Final dim/TILE_SIZE must be a multiple of latent size!",
        )
    on_device(_SUM, input)
    turned = permuted(_SUM, _in_bfloat16(_SUM, input), [0, 1, 3, 2], DRAM_MEMORY_CONFIG, 0.0)
    groups = columns // _LATENT
    matrices = turned._view(TensorSpec.of((groups, _LATENT, rows), _BF16, Layout.TILE, DRAM_MEMORY_CONFIG))
    setting = Setting(_SUM, DRAM_MEMORY_CONFIG, _fidelity(math_fidelity), False, False)
    sums = column_sums(setting, matrices, _BF16)
    target = TensorSpec.of((1, 1, rows, groups), _BF16, Layout.TILE, DRAM_MEMORY_CONFIG)
    result = move(sums, target, strides=[0, 0, 1, rows], through_dst=True)
    if input.spec.dtype is not _BF16:
        return cast(_SUM, result, input.spec.dtype, place)
    return result if place == DRAM_MEMORY_CONFIG else moved_to(result, place)


def _check_scan(a: Tensor, bx: Tensor, h_prev: Tensor) -> tuple[int, int]:
    """Return rows and columns of a scan.

    Raises:
        DTypeError: a data type is another.
        LayoutError: a layout is another.
        ShapeError: shapes do not fit.
        MemoryConfigError: a tensor is not sharded.
    """
    device = on_device(_SCAN, a, "a")
    shape = _check(_SCAN, "a", a)
    for label, tensor in (("bx", bx), ("h_prev", h_prev)):
        same_device(_SCAN, device, tensor, label)
    if _check(_SCAN, "bx", bx) != shape:
        raise ShapeError(
            f"{_SCAN}: a has shape {a.shape} and bx {bx.shape}; they must agree.",
            vendor="Expected input tensors to have the same shape",
        )
    if bx.spec.dtype is not a.spec.dtype or h_prev.spec.dtype is not _BF16:
        raise DTypeError(
            f"{_SCAN}: a, bx and h_prev are {a.dtype.name}, {bx.dtype.name} and {h_prev.dtype.name}; the first two "
            "must agree, and h_prev be BFLOAT16.",
            vendor="Expected initial hidden state to be bfloat16"
            if h_prev.spec.dtype is not _BF16
            else "Expected input tensors to have the same data type",
        )
    if h_prev.spec.layout is not Layout.ROW_MAJOR:
        raise LayoutError(
            f"{_SCAN}: h_prev is in tiles; convert it with ttnn.to_layout(..., ttnn.ROW_MAJOR_LAYOUT).",
            vendor="Expected initial hidden state to be row-major",
        )
    if h_prev.spec.shape.volume() != shape[1]:
        raise ShapeError(f"{_SCAN}: h_prev has shape {h_prev.shape}; it must be [1, 1, 1, {shape[1]}].")
    if not all(tensor.spec.memory_config.is_sharded() for tensor in (a, bx, h_prev)):
        raise MemoryConfigError(
            f"{_SCAN}: a, bx and h_prev must be sharded by width, on the same cores.",
            vendor="Expected input tensors to be sharded",
        )
    return shape


def _scan(
    a: Tensor,
    bx: Tensor,
    h_prev: Tensor,
    memory_config: MemoryConfig | None,
    dtype: DataType | None,
    math_fidelity: MathFidelity | None,
) -> Tensor:
    rows, columns = _check_scan(a, bx, h_prev)
    _own_dtype(_SCAN, a, dtype)
    device, fidelity = on_device(_SCAN, a, "a"), _fidelity(math_fidelity)
    place = memory_config or a.spec.memory_config
    result = allocate(TensorSpec.of(a.spec.shape, a.spec.dtype, Layout.TILE, place), device)
    row = TensorSpec.of((1, columns), _BF16, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG)
    state, scaled, factor, addend = (allocate(row, device) for _ in range(4))
    copy_into(h_prev._view(row.with_memory_config(h_prev.spec.memory_config)), state)
    states = allocate(TensorSpec.of((rows, columns), _BF16, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG), device)
    factors, addends = (untilized(_SCAN, tensor, DRAM_MEMORY_CONFIG) for tensor in (a, bx))
    for number in range(rows):
        for source, into in ((factors, factor), (addends, addend)):
            _row_of(source, number, into)
        _computed("mul", factor, state, scaled, fidelity)
        _computed("add", scaled, addend, state, fidelity)
        write_into(state, states, [number, 0])
    copy_into(tilize_padded(_SCAN, states, dtype=a.spec.dtype), result)
    # The last state is left where the first came from.
    copy_into(state, h_prev._view(row.with_memory_config(h_prev.spec.memory_config)))
    return result


def _row_of(source: Tensor, number: int, row: Tensor) -> None:
    """Copy a row of [1, 1, rows, columns]."""
    columns = row.spec.shape[-1]
    assert source.buffer is not None
    assert row.buffer is not None
    engine_steps.write_window(
        source.buffer,
        row.buffer,
        element_bytes=2,
        width=columns,
        shape=[1, columns],
        window=[(0, 1), (0, columns)],
        offset=number * columns,
        strides=[columns, 1],
    )


def _with_padding(tensor: Tensor) -> Tensor:
    """Return the whole tiles of a tensor as its elements.

    Programs read whole tiles.
    """
    spec = tensor.spec
    return tensor._view(TensorSpec.of(spec.padded_shape, spec.dtype, Layout.TILE, spec.memory_config))


def _product(
    a: Tensor,
    b: Tensor,
    memory_config: MemoryConfig | None,
    dtype: DataType | None,
    math_fidelity: MathFidelity | None,
) -> Tensor:
    device = on_device(_PRODUCT, a, "a")
    same_device(_PRODUCT, device, b, "b")
    (rows, width), (others, other) = (_check(_PRODUCT, label, tensor) for label, tensor in (("a", a), ("b", b)))
    place = memory_config or a.spec.memory_config
    _interleaved(_PRODUCT, a.spec.memory_config, b.spec.memory_config, place)
    full = TILE_SIZE * _HIDDEN
    if rows != others or width not in (TILE_SIZE, full) or other not in (_HIDDEN, full) or width == other:
        raise ShapeError(
            f"{_PRODUCT}: a has shape {a.shape} and b {b.shape}; they must have as many rows, a {TILE_SIZE} or {full} "
            f"columns and b {_HIDDEN} or {full}, not both {full}.",
            vendor="Use eltwise mul for same size inputs!"
            if width == other
            else "Input a width must be 32 or 32*5120!",
        )
    result = dtype or a.spec.dtype
    if result not in _TAKEN:
        raise DTypeError(
            f"{_PRODUCT}: dtype is {result.name}; it must be BFLOAT16 or BFLOAT8_B.",
            vendor="Unsupported data format for output!",
        )
    left, right = (_with_padding(_in_bfloat16(_PRODUCT, tensor)) for tensor in (a, b))
    if width != full:
        left = repeated(_PRODUCT, left, [1, 1, 1, _HIDDEN], DRAM_MEMORY_CONFIG)
    if other != full:
        right = each_repeated(_PRODUCT, right, TILE_SIZE, 3, DRAM_MEMORY_CONFIG)
    output = allocate(TensorSpec.of((1, 1, rows, full), result, Layout.TILE, place), device)
    return _computed("mul", left, right, output, _fidelity(math_fidelity))


_FIDELITY: Final = Param(
    "math_fidelity",
    instance_kind("ttnn.MathFidelity", MathFidelity),
    None,
    doc="Fidelity of the products. Default: HiFi4.",
)
_OPTIONS: Final = (
    MEMORY_CONFIG_OPTION,
    Param("dtype", DATA_TYPE, None, doc="Data type of the output. Default: that of the first input."),
    _FIDELITY,
)
_entry = partial(
    Op,
    source="tt-metal `ttnn/cpp/ttnn/operations/experimental/ssm`",
    dtypes=_TAKEN,
    layouts=(Layout.TILE,),
    accuracy=no_bound("for every step is kept in bfloat16"),
    raises=(
        ("ShapeError", "shapes do not fit."),
        ("DTypeError", "a tensor is neither bfloat16 nor bfloat8_b."),
        ("LayoutError", "a layout is another."),
        ("MemoryConfigError", "a tensor is placed in another way."),
        ("UnsupportedError", "the output is to have another data type than the program packs."),
    ),
)


hc_sum_reduce = register(
    _entry(
        name="experimental.hc_sum_reduce",
        signatures=(
            Signature(
                (
                    Param(
                        "input",
                        TENSOR,
                        doc="[1, 1, H, W] on a device, W a multiple of 1024.",
                        example=Operand((1, 1, 32, 1024)),
                    ),
                ),
                _OPTIONS,
            ),
        ),
        run=_sum,
        doc="Return the sums of every 32 columns.\nShape: [1, 1, H, W] -> [1, 1, H, W / 32].",
        golden=golden.hc_sum_reduce,
        engine=("reduce", "move_elements"),
        examples=(),
    )
)
prefix_scan = register(
    _entry(
        name="experimental.prefix_scan",
        signatures=(
            Signature(
                (
                    Param("a", TENSOR, doc="[1, 1, L, E], sharded by width: factors."),
                    Param("bx", TENSOR, doc="[1, 1, L, E], sharded in the same way: addends."),
                    Param(
                        "h_prev",
                        TENSOR,
                        doc="[1, 1, 1, E] of bfloat16 in rows, sharded by width: the state before the first row. The "
                        "last state is written to it.",
                    ),
                ),
                _OPTIONS,
            ),
        ),
        run=_scan,
        doc="Return the states `h[i] = a[i] * h[i - 1] + bx[i]` of all rows.\n"
        "Shape: [1, 1, L, E], [1, 1, L, E], [1, 1, 1, E] -> [1, 1, L, E].",
        golden=golden.prefix_scan,
        engine=("binary", "write_window"),
        examples=(),
    )
)
repeat_and_interleave_eltwise_mul = register(
    _entry(
        name="experimental.repeat_and_interleave_eltwise_mul",
        signatures=(
            Signature(
                (
                    Param(
                        "a",
                        TENSOR,
                        doc="[1, 1, H, 32], repeated 5120 times, or [1, 1, H, 163840].",
                        example=Operand((1, 1, 32, 32)),
                    ),
                    Param(
                        "b",
                        TENSOR,
                        doc="[1, 1, H, 5120], of which each column is repeated 32 times, or [1, 1, H, 163840].",
                        example=Operand((1, 1, 32, 5120), 2),
                    ),
                ),
                _OPTIONS,
            ),
        ),
        run=_product,
        doc="Return the product of `a` and `b`, repeated to 163840 columns.\n"
        "Shape: [1, 1, H, 32], [1, 1, H, 5120] -> [1, 1, H, 163840].",
        golden=golden.repeat_and_interleave_eltwise_mul,
        engine=("binary", "write_window"),
        examples=(),
    )
)
