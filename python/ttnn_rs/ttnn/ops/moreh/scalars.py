"""Numbers as moreh kernels compute them on RISC processors.

They are in FP32, truncated to bfloat16.

Source: tt-metal `ttnn/cpp/ttnn/kernel/dataflow/moreh_common.hpp`, float_to_bfloat16; `moreh_arange`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Final

from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import DTypeError, ParameterError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.lifecycle import MeshDevice
from ttnn.golden import moreh as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.registry import declare, find
from ttnn.operation.signature import BOOLEAN, DATA_TYPE, DEVICE, FLOAT, MEMORY_CONFIG, TENSOR, Param, Signature
from ttnn.ops._programs.common import take_output
from ttnn.ops._programs.element_map import copy_into
from ttnn.ops._programs.movement import move
from ttnn.ops._programs.pipeline import rounded
from ttnn.tensor.tensor import Tensor

_TAKEN: Final = (DataType.BFLOAT16, DataType.FLOAT32, DataType.INT32)


def cut_to_bfloat16(source: Tensor) -> Tensor:
    """Return a float32 tensor in bfloat16, cut and not rounded."""
    bitcast = find("ttnn.bitcast")
    words = find("ttnn.bitwise_and")(bitcast(source, DataType.INT32), -65536)
    result: Tensor = find("ttnn.typecast")(bitcast(words, DataType.FLOAT32), DataType.BFLOAT16)
    return result


def _arange_from_zero(
    end: float,
    step: float,
    device: MeshDevice,
    output: Tensor | None,
    untilize_out: bool,
    dtype: DataType,
    memory_config: MemoryConfig,
) -> Tensor:
    return _arange(0.0, end, step, device, output, untilize_out, dtype, memory_config)


def _arange(
    start: float,
    end: float,
    step: float,
    device: MeshDevice,
    output: Tensor | None,
    untilize_out: bool,
    dtype: DataType,
    memory_config: MemoryConfig,
) -> Tensor:
    name = "ttnn.moreh_arange"
    first, last, by = rounded(start), rounded(end), rounded(step)
    if by == 0 or not math.isfinite(by) or not math.isfinite(first) or not math.isfinite(last):
        raise ParameterError(
            f"{name}: from {start} to {end} in steps of {step}; step must not be 0.",
            vendor="step must be nonzero.",
        )
    if (last - first) * by < 0:
        raise ParameterError(
            f"{name}: from {start} to {end} in steps of {step} there are no values.",
            vendor="Upper bound and larger bound inconsistent with step sign.",
        )
    if dtype not in _TAKEN:
        names = ", ".join(taken.name for taken in _TAKEN)
        raise DTypeError(
            f"{name}: dtype is {dtype.name}; it must be one of {names}.",
            vendor=f"moreh arange not support {dtype.name.lower()} dtype.",
        )
    count = math.ceil(rounded(rounded(last - first) / by))
    layout = Layout.ROW_MAJOR if untilize_out else Layout.TILE
    if output is not None:
        shape = tuple(output.spec.shape)
        if output.spec.dtype is not dtype:
            raise DTypeError(
                f"{name}: dtype is {dtype.name}, but output is {output.spec.dtype.name}.",
                vendor="If output is provided as input, its dtype should match the dtype parameter.",
            )
        take_output(name, output, shape if math.prod(shape) == count else (1, count), layout, device)
    indices = find("ttnn.arange")(0, count, 1, dtype=DataType.FLOAT32, device=device, layout=Layout.TILE)
    row: Tensor = find("ttnn.reshape")(indices, (1, count))
    values: Tensor = find("ttnn.add")(find("ttnn.multiply")(row, by), first)
    if dtype is DataType.BFLOAT16:
        values = cut_to_bfloat16(values)
    elif dtype is DataType.INT32:
        values = find("ttnn.typecast")(find("ttnn.trunc")(values), dtype)
    target = TensorSpec.of((count,) if untilize_out else (1, count), dtype, layout, memory_config)
    if output is None:
        return move(values, target)
    copy_into(move(values, TensorSpec.of(tuple(output.spec.shape), dtype, layout, DRAM_MEMORY_CONFIG)), output)
    return output


_OPTIONS: Final = (
    Param("output", TENSOR, None, doc="Preallocated output."),
    Param("untilize_out", BOOLEAN, False, doc="Return a row-major vector."),
    Param("dtype", DATA_TYPE, DataType.BFLOAT16, doc="Data type of the output.", example=DataType.FLOAT32),
    Param("memory_config", MEMORY_CONFIG, DRAM_MEMORY_CONFIG, doc="Memory configuration of the output."),
)
_END: Final = Param("end", FLOAT, doc="End of the values (excluded).", example=20.0)
_STEP: Final = Param("step", FLOAT, doc="Distance of two values.", example=0.75)
_DEVICE: Final = Param("device", DEVICE, doc="Device on which the tensor is made.")
_declare: Final = partial(declare, source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_arange`")

moreh_arange = _declare(
    "moreh_arange",
    (
        Signature(
            (
                Param("start", FLOAT, 0, doc="The first value.", example=1.5),
                _END,
                replace(_STEP, default=1),
                _DEVICE,
            ),
            _OPTIONS,
        ),
        Signature((_END, _STEP, _DEVICE), _OPTIONS, run=_arange_from_zero),
    ),
    _arange,
    "Create values `start + step * i` up to `end`, in FP32, then truncated.\nShape: -> [1, N], or [N] in rows.",
    dtypes=_TAKEN,
    layouts=(Layout.TILE, Layout.ROW_MAJOR),
    golden=golden.moreh_arange,
    accuracy=no_bound("for values are cut to the data type"),
    composition=True,
    raises=(
        ("DTypeError", "the data type is not supported, or differs from the output's."),
        ("ParameterError", "there are no values between the bounds."),
    ),
    examples=(),
)
