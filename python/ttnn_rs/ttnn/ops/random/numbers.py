"""Random numbers from one shift register per core.

Each is seeded once, and its tiles are made from it.

The grid of the device decides which core makes which tile, and so the numbers. Seed 0 asks the host for a fresh seed.
Source: tt-metal `ttnn/cpp/ttnn/operations/rand`, `uniform`, `bernoulli`, `randn`, `experimental/dropout`;
tt-isa-documentation `WormholeB0/TensixTile/TensixCoprocessor/VectorUnit.md` for the generator.
"""

from __future__ import annotations

import secrets
from functools import partial
from typing import Final

from ttnn._engine import refuse_program
from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.enums import FORMAT_CODE, DataType, Layout
from ttnn.base.exceptions import DTypeError, LayoutError, MemoryConfigError, ParameterError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.shape import ShapeLike, as_dims
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.lifecycle import MeshDevice
from ttnn.golden import random as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.registry import declare
from ttnn.operation.signature import (
    BOOLEAN,
    COMPUTE_KERNEL_CONFIG,
    DATA_TYPE,
    DEVICE,
    FLOAT,
    INT_SEQUENCE,
    INTEGER,
    LAYOUT,
    MEMORY_CONFIG,
    TENSOR,
    Kind,
    Param,
    Signature,
)
from ttnn.ops._programs.common import (
    IGNORED_MEMORY_CONFIG,
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
    agreed_dtype,
    allocate,
    full_tiles,
    is_empty,
    memory_of_result,
    needs_tiles,
    on_device,
    take_output,
)
from ttnn.ops._programs.pipeline import bits, from_bits, rounded
from ttnn.ops._programs.typecast import cast
from ttnn.ops.data_movement.layout import to_layout
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_HALF: Final = DataType.BFLOAT16
_SINGLE: Final = DataType.FLOAT32
_LARGEST_DRAW: Final = 2**31 - 1


def _fresh(seed: int | None) -> int:
    """Return a call's seed; the host chooses one for 0 or None."""
    if seed:
        return seed
    refuse_program("the host draws a seed")
    return 1 + secrets.randbelow(2**32 - 1)


def _split(device: MeshDevice, seed: int | None) -> dict[str, int]:
    """Return the common program arguments: the seed and the number of cores."""
    grid = device.compute_with_storage_grid_size()
    return {"seed": _fresh(seed), "cores": grid.x * grid.y}


def _wide(config: WormholeComputeKernelConfig | None) -> bool:
    """Return True if Dst has 32 bits, the default."""
    return config is None or config.fp32_dest_acc_en


def _below(value: float, dtype: DataType) -> float:
    """Return the largest number of a data type below one of FP32."""
    word = bits(value)
    if word << 1 & 0xFFFFFFFF == 0:
        word = 0x80000000
    step = 0x10000 if dtype is _HALF else 1
    if word >> 31:
        return from_bits(word // step * step + step)
    return from_bits((word - 1) // step * step)


def _range(name: str, low: float, high: float, dtype: DataType) -> dict[str, int]:
    """Return the smallest number and the largest's distance below `high`.

    The data type holds both.

    Raises:
        ParameterError: there is no number between them.
    """
    start, end = rounded(low), rounded(high)
    # Infinities and NaN compare so that they are refused as well.
    if not (start < end and end - start < float("inf")):
        raise ParameterError(f"{name}: low is {low}, high is {high}; they must be finite, and low below high.")
    last = _below(end, dtype)
    scale = bits(last - start)
    if rounded(start + from_bits(scale)) > last:
        scale -= 1
    return {"low": bits(start), "scale": 0 if from_bits(scale) < 0 else scale}


def _fill(name: str, output: Tensor, low: float, high: float, seed: int, dst32: bool) -> None:
    dtype, device = output.spec.dtype, on_device(name, output)
    numbers = _range(name, low, high, dtype)
    if not is_empty(output.spec):
        assert output.buffer is not None
        engine_steps.uniform(output.buffer, format=FORMAT_CODE[dtype], dst32=dst32, **numbers, **_split(device, seed))


def _rand(
    shape: ShapeLike,
    device: MeshDevice,
    dtype: DataType,
    layout: Layout,
    memory_config: MemoryConfig,
    low: float,
    high: float,
    seed: int,
    _mesh_mapper: object,
) -> Tensor:
    name = "ttnn.rand"
    if dtype is DataType.INT8:
        raise UnsupportedError(f"{name}: float32 to INT8 is not implemented on the device; use INT32.", "unimplemented")
    if dtype not in _RAND_TYPES:
        raise DTypeError(f"{name}: dtype is {dtype.name}; {', '.join(d.name for d in _RAND_TYPES)} are made.")
    needs_tiles(name, dtype, layout)
    made = dtype if dtype in (_HALF, _SINGLE) else _SINGLE
    result = allocate(TensorSpec.of(as_dims(shape), made, Layout.TILE, memory_config), device)
    _fill(name, result, low, high, seed, True)
    if dtype is not made:
        result = cast(name, result, dtype)
    return result if layout is Layout.TILE else to_layout(result, layout)


def _check_tiled(name: str, tensor: Tensor, label: str = "input") -> None:
    """Refuse a tensor that is not tiled, or neither bfloat16 nor float32."""
    on_device(name, tensor, label)
    spec, short = tensor.spec, name.removeprefix("ttnn.").capitalize()
    told = f"{short}: {label.capitalize()} tensor must be"
    if spec.layout is not Layout.TILE and (short == "Bernoulli" or spec.dtype in (_HALF, _SINGLE)):
        raise LayoutError(
            f"{name}: {label} is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            vendor=f"{told} tilized",
        )
    if spec.dtype not in (_HALF, _SINGLE):
        raise DTypeError(
            f"{name}: {label} is {spec.dtype.name}; BFLOAT16 and FLOAT32 are supported.",
            vendor=f"{told} Float32 or Bfloat16",
        )
    full_tiles(name, tensor, label)


def _uniform(
    input: Tensor,
    low: float,
    high: float,
    seed: int,
    _memory_config: MemoryConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> Tensor:
    name = "ttnn.uniform"
    _check_tiled(name, input)
    _fill(name, input, low, high, seed, _wide(compute_kernel_config))
    return input


def _bernoulli(
    input: Tensor,
    seed: int,
    output: Tensor | None,
    dtype: DataType | None,
    memory_config: MemoryConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> Tensor:
    name = "ttnn.bernoulli"
    _check_tiled(name, input)
    spec, device = input.spec, on_device(name, input)
    if output is not None:
        _check_tiled(name, output, "output")
        take_output(name, output, spec.shape._dims, Layout.TILE, device)
    made = agreed_dtype(name, dtype, output, _SINGLE)
    if made not in (_HALF, _SINGLE):
        raise DTypeError(
            f"{name}: dtype is {made.name}; BFLOAT16 and FLOAT32 are made.",
            vendor="Bernoulli: Output tensor must be Float32 or Bfloat16",
        )
    place = memory_of_result(memory_config, output, spec.memory_config)
    target = output or allocate(TensorSpec.of(spec.shape, made, Layout.TILE, place), device)
    if not is_empty(spec):
        assert input.buffer is not None
        assert target.buffer is not None
        engine_steps.bernoulli(
            input.buffer,
            target.buffer,
            formats=(FORMAT_CODE[spec.dtype], FORMAT_CODE[made]),
            dst32=_wide(compute_kernel_config),
            **_split(device, seed),
        )
    return target


def _randn(
    shape: ShapeLike,
    device: MeshDevice,
    dtype: DataType,
    layout: Layout,
    memory_config: MemoryConfig,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    seed: int | None,
) -> Tensor:
    name = "ttnn.randn"
    if dtype not in (_HALF, _SINGLE):
        raise DTypeError(f"{name}: dtype is {dtype.name}; BFLOAT16 and FLOAT32 are made.")
    result = allocate(TensorSpec.of(as_dims(shape), dtype, Layout.TILE, memory_config), device)
    if not is_empty(result.spec):
        assert result.buffer is not None
        engine_steps.normal(
            result.buffer,
            format=FORMAT_CODE[dtype],
            dst32=_wide(compute_kernel_config),
            **_split(device, seed),
        )
    return result if layout is Layout.TILE else to_layout(result, layout)


def _dropout(
    input_tensor: Tensor,
    probability: float,
    scale: float,
    seed: int,
    _use_per_device_seed: bool,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
) -> Tensor:
    name = "ttnn.experimental.dropout"
    device = on_device(name, input_tensor)
    spec = input_tensor.spec
    if spec.layout is not Layout.TILE:
        raise LayoutError(
            f"{name}: input_tensor is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            vendor="Dropout operation requires tensor to be in Tile layout when working with non-sharded input tensor.",
        )
    if spec.dtype is not _HALF:
        raise DTypeError(f"{name}: input_tensor is {spec.dtype.name}; typecast it to BFLOAT16 first.")
    full_tiles(name, input_tensor)
    if not 0 <= probability <= 1:
        raise ParameterError(f"{name}: probability is {probability}; it must be from 0 to 1.")
    if output_tensor is not None:
        take_output(name, output_tensor, spec.shape._dims, Layout.TILE, device)
        if output_tensor.spec.dtype is not spec.dtype:
            raise DTypeError(
                f"{name}: output_tensor is {output_tensor.spec.dtype.name}, input_tensor {spec.dtype.name}.",
                vendor="Dropout operation requires input and output data types to match.",
            )
    place = memory_of_result(memory_config, output_tensor, spec.memory_config)
    if place.memory_layout is not spec.memory_config.memory_layout:
        raise MemoryConfigError(
            f"{name}: input_tensor is {spec.memory_config.memory_layout.name}, the output "
            f"{place.memory_layout.name}; they must agree.",
            vendor="Dropout operation requires Input and Output memory layout to match.",
        )
    target = output_tensor or allocate(TensorSpec.of(spec.shape, spec.dtype, Layout.TILE, place), device)
    if not is_empty(spec):
        assert input_tensor.buffer is not None
        assert target.buffer is not None
        grid = device.compute_with_storage_grid_size()
        engine_steps.dropout(
            input_tensor.buffer,
            target.buffer,
            format=FORMAT_CODE[spec.dtype],
            limit=int(rounded(probability) * _LARGEST_DRAW),
            scale=bits(scale),
            seed=seed,
            cores=grid.x * grid.y,
        )
    return target


_RAND_TYPES: Final = (
    DataType.BFLOAT16,
    DataType.FLOAT32,
    DataType.BFLOAT8_B,
    DataType.BFLOAT4_B,
    DataType.INT32,
    DataType.UINT32,
    DataType.UINT16,
)
_WORD: Final = Kind("int", lambda value: INTEGER.accepts(value) and 0 <= value < 2**32)
_SIZES: Final = Kind(
    "ttnn.Shape",
    lambda value: INT_SEQUENCE.accepts(value) and all(0 <= size < 2**32 for size in value),
    INT_SEQUENCE.spelled,
)
_SHAPE: Final = Param("shape", _SIZES, doc="Logical shape of the output.")
_DEVICE: Final = Param("device", DEVICE, doc="Device of the output.")
_DTYPE: Final = Param("dtype", DATA_TYPE, DataType.BFLOAT16, doc="Data type of the output.")
_LAYOUT: Final = Param("layout", LAYOUT, Layout.TILE, doc="Layout of the output.")
_PLACE: Final = Param("memory_config", MEMORY_CONFIG, DRAM_MEMORY_CONFIG, doc="Memory configuration of the output.")
_COMPUTE: Final = Param(
    "compute_kernel_config",
    COMPUTE_KERNEL_CONFIG,
    None,
    doc="Dst width, by default 32 bits; 16 bits truncate the values.",
)
_SEED: Final = Param(
    "seed", _WORD, 0, doc="The same seed returns the same values. 0: a new seed in every call.", example=7
)
_NUMBERS: Final = Param("input", TENSOR, doc="[..., H, W] on a device.")

_op: Final = partial(declare, accuracy=no_bound("for the values are random"), examples=(), scalars=True)
_BOTH: Final = (Layout.TILE, Layout.ROW_MAJOR)
_FLOATS: Final = (_HALF, _SINGLE)

rand = _op(
    "rand",
    (
        Signature(
            (_SHAPE, _DEVICE),
            (
                _DTYPE,
                _LAYOUT,
                _PLACE,
                Param("low", FLOAT, 0.0, doc="Smallest number."),
                Param("high", FLOAT, 1.0, doc="Upper bound, excluded."),
                _SEED,
                Param("mesh_mapper", Kind("ttnn.MeshMapperConfig", lambda value: False), None, modelled=False),
            ),
        ),
    ),
    _rand,
    "Create a `shape` tensor with uniform random values from `low` to `high`.\nShape: `shape` -> [*shape].\n"
    "Other data types than bfloat16 and float32 are converted from float32.",
    source="tt-metal `ttnn/cpp/ttnn/operations/rand`",
    dtypes=_RAND_TYPES,
    layouts=_BOTH,
    golden=golden.rand,
    engine=("uniform",),
    raises=(
        ("ParameterError", "`low` is not below `high`."),
        ("DTypeError", "the data type is not made."),
        ("UnsupportedError", "`dtype` is INT8."),
    ),
)

uniform = _op(
    "uniform",
    (
        Signature(
            (
                _NUMBERS,
                Param("from", FLOAT, 0.0, doc="Smallest number."),
                Param("to", FLOAT, 1.0, doc="Upper bound, excluded."),
                _SEED,
            ),
            (IGNORED_MEMORY_CONFIG, _COMPUTE),
        ),
    ),
    _uniform,
    "Write uniform random values from `from` to `to` into `input`; return it.\nShape: [..., H, W] -> [..., H, W].",
    source="tt-metal `ttnn/cpp/ttnn/operations/uniform`",
    dtypes=_FLOATS,
    layouts=(Layout.TILE,),
    golden=golden.uniform,
    engine=("uniform",),
    raises=(
        ("ParameterError", "`from` is not below `to`."),
        ("DTypeError", "the data type is not supported."),
        ("LayoutError", "the input is row-major."),
        ("MemoryConfigError", "another memory config than that of the input is requested."),
    ),
)

bernoulli = _op(
    "bernoulli",
    (
        Signature(
            (_NUMBERS, _SEED),
            (
                Param("output", TENSOR, None, doc="Preallocated output, of the input's shape."),
                Param(
                    "dtype", DATA_TYPE, None, doc="BFLOAT16 or FLOAT32. Default: FLOAT32.", example=DataType.BFLOAT16
                ),
                MEMORY_CONFIG_OPTION,
                _COMPUTE,
            ),
        ),
    ),
    _bernoulli,
    "Return 1 with the probability that the input has, else 0.\nShape: [..., H, W] -> [..., H, W].",
    source="tt-metal `ttnn/cpp/ttnn/operations/bernoulli`",
    dtypes=_FLOATS,
    layouts=(Layout.TILE,),
    golden=golden.bernoulli,
    engine=("bernoulli",),
    raises=(("DTypeError", "the data type is not supported."), ("LayoutError", "the input is row-major.")),
)

randn = _op(
    "randn",
    (
        Signature(
            (_SHAPE, _DEVICE),
            (
                _DTYPE,
                _LAYOUT,
                _PLACE,
                _COMPUTE,
                Param(
                    "seed", _WORD, None, doc="The same seed returns the same values. 0 or None: a new seed.", example=7
                ),
            ),
        ),
    ),
    _randn,
    "Create a tensor of `shape` with standard normal random values.\n"
    "Shape: `shape` -> [*shape].\nThe values differ from the chip's, whose generator is not known.",
    source="tt-metal `ttnn/cpp/ttnn/operations/randn`",
    dtypes=_FLOATS,
    reference=_FLOATS,
    layouts=_BOTH,
    golden=golden.randn,
    engine=("normal",),
    raises=(("DTypeError", "the data type is not made."),),
)

dropout = _op(
    "experimental.dropout",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("probability", FLOAT, doc="How likely an element becomes 0.", example=0.5),
                Param("scale", FLOAT, doc="Factor of the others.", example=2.0),
                Param("seed", _WORD, doc="The same seed drops the same elements.", example=7),
            ),
            (
                Param("use_per_device_seed", BOOLEAN, True, doc="Devices of a mesh differ; no effect on one device."),
                MEMORY_CONFIG_OPTION,
                OUTPUT_TENSOR_OPTION,
            ),
        ),
    ),
    _dropout,
    "Return 0 with a probability, else the scaled input, truncated to bfloat16.\n"
    "Shape: [..., H, W] -> [..., H, W].\nAs on the chip, 32 elements of four rows are dropped together.",
    source="tt-metal `ttnn/cpp/ttnn/operations/experimental/dropout`",
    dtypes=(_HALF,),
    layouts=(Layout.TILE,),
    golden=golden.dropout,
    engine=("dropout",),
    raises=(
        ("DTypeError", "the data type is not supported."),
        ("LayoutError", "the input is row-major."),
        ("ParameterError", "the probability is not from 0 to 1."),
    ),
)
