"""The gradient of `embedding` with respect to the table of rows.

Source: TT-NN docs "ttnn.embedding_bw".
"""

from __future__ import annotations

import math
from typing import Any, Final, TypeVar

import numpy as np

from ttnn.base.enums import FORMAT_CODE, DataType, Layout, TensorMemoryLayout
from ttnn.base.exceptions import (
    DTypeError,
    IndexRangeError,
    LayoutError,
    MemoryConfigError,
    ShapeError,
    TtnnError,
)
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden import backward as g
from ttnn.operation.accuracy import max_ulp
from ttnn.operation.signature import DATA_TYPE, TENSOR, Param, Signature
from ttnn.ops._programs.common import (
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
    agreed_dtype,
    allocate,
    full_tiles,
    memory_of_result,
    on_device,
    result_spec,
    same_device,
    take_output,
    values_of_chips,
)
from ttnn.ops.backward.family import entry
from ttnn.ops.backward.forward import named
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.embedding_bw"
_TILE: Final = 32
_INDICES: Final = (DataType.UINT32, DataType.BFLOAT16)
_DTYPES: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B)
_Error = TypeVar("_Error", bound=TtnnError)


def _unless(holds: bool, error: type[_Error], text: str, vendor: str) -> None:
    if not holds:
        raise error(f"{_NAME}: {text}", vendor=vendor)


def _check(indices: Tensor, weight: Tensor, grad: Tensor, dtype: DataType) -> None:
    """Refuse what the official validation refuses.

    Raises:
        ShapeError, LayoutError, DTypeError, MemoryConfigError: see the texts.
    """
    device = on_device(_NAME, indices)
    for label, tensor in (("weight_tensor", weight), ("output_gradient_tensor", grad)):
        on_device(_NAME, tensor, label)
        same_device(_NAME, device, tensor, label)
    shape, size = list(indices.shape), list(grad.shape)
    _unless(
        len(shape) > 0 and math.prod(shape) == shape[0] * shape[-1],
        ShapeError,
        f"input_tensor is {indices.shape}; only the first and the last dimension may be larger than 1.",
        "Attempting to reshape between two shapes with different volumes",
    )
    _unless(len(weight.shape) >= 1, ShapeError, f"weight_tensor is {weight.shape}; expected [rows, width].", "Error")
    _unless(
        indices.layout is Layout.ROW_MAJOR,
        LayoutError,
        f"input_tensor is {indices.layout.name}, not row-major.",
        f"Index tensor layout must be ROW_MAJOR but got {indices.layout.cpp_name}",
    )
    _unless(
        indices.dtype in _INDICES,
        DTypeError,
        f"input_tensor is {indices.dtype.name}.",
        "Index tensor must be UINT32 or BFLOAT16",
    )
    _unless(
        shape[-1] % _TILE == 0,
        ShapeError,
        f"input_tensor is {indices.shape}; its last dimension is not a multiple of {_TILE}.",
        "Number of columns in the index tensor must be divisible by tile width",
    )
    _unless(
        grad.layout is Layout.TILE, LayoutError, f"output_gradient_tensor is {grad.layout.name}, not tiled.", "Error"
    )
    full_tiles(_NAME, grad, "output_gradient_tensor")
    _unless(
        grad.dtype in _DTYPES,
        DTypeError,
        f"output_gradient_tensor is {grad.dtype.name}.",
        "Output gradient tensor must be BFLOAT16 or BFLOAT8_B",
    )
    _unless(
        grad.dtype is dtype,
        DTypeError,
        f"the gradient is {grad.dtype.name}, the result {dtype.name}.",
        "Output and input gradient tensors must have the same dtype",
    )
    _unless(
        len(size) == 4 and size[0] == size[1] == 1,
        ShapeError,
        f"output_gradient_tensor is {grad.shape}; expected [1, 1, indices, width].",
        f"First two dimensions for the gradient tensor must be 1, but found {' && '.join(map(str, size[:2]))}.",
    )
    _unless(
        size[3] % _TILE == 0,
        ShapeError,
        f"output_gradient_tensor is {grad.shape}; its last dimension is not a multiple of {_TILE}.",
        "Number of columns in the gradient tensor must be divisible by tile width",
    )
    _unless(
        size[2] == math.prod(shape),
        ShapeError,
        f"output_gradient_tensor is {grad.shape} for {math.prod(shape)} indices.",
        "Number of rows in gradient tensor must be equal to number of indices in index tensor",
    )


def _check_indices(indices: Tensor, rows: int) -> None:
    """Refuse indices beyond the table; the chip would write somewhere else.

    Raises:
        IndexRangeError: there is one.
    """
    values = np.asarray(values_of_chips(indices), np.float64)
    wrong = values[~((values >= 0) & (values < rows))]
    if wrong.size:
        raise IndexRangeError(f"{_NAME}: input_tensor holds {wrong[0]:g}; weight_tensor has rows 0 to {rows - 1}.")


def _embedding_bw(
    indices: Tensor,
    weight: Tensor,
    grad: Tensor,
    dtype: DataType | None,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
) -> Tensor:
    with named(_NAME):
        target = agreed_dtype(_NAME, dtype, output_tensor, grad.dtype)
        _check(indices, weight, grad, target)
        place = memory_of_result(memory_config, output_tensor, grad.memory_config())
        for config in (indices.memory_config(), grad.memory_config(), place):
            _unless(
                config.memory_layout is TensorMemoryLayout.INTERLEAVED,
                MemoryConfigError,
                f"a tensor is {config.memory_layout.name}; expected INTERLEAVED.",
                "Embedding b/w does not currently support sharding",
            )
        rows, width = (int(weight.shape[-2]) if len(weight.shape) > 1 else 1), int(grad.shape[-1])
        _check_indices(indices, rows)
        device = on_device(_NAME, grad)
        shape = (1, 1, rows, width)
        if output_tensor is None:
            output = allocate(result_spec(grad.spec, shape, target, place), device)
        else:
            output = take_output(_NAME, output_tensor, shape, Layout.TILE, device)
        assert indices.buffer is not None
        assert grad.buffer is not None
        assert output.buffer is not None
        engine_steps.embedding_backward(
            indices.buffer,
            grad.buffer,
            output.buffer,
            formats=(FORMAT_CODE[indices.dtype], FORMAT_CODE[grad.dtype]),
            row_length=int(indices.shape[-1]),
            rows=int(grad.shape[2]),
            tiles_wide=width // _TILE,
        )
        return output


_RAISES: Final[tuple[tuple[str, str], ...]] = (
    ("ShapeError", "the sizes do not match, or are not multiples of 32 where required."),
    ("LayoutError", "the indices are tiled, or the gradient is row-major."),
    ("DTypeError", "the indices are neither uint32 nor bfloat16, or the gradient is neither bfloat16 nor bfloat8_b."),
    ("IndexRangeError", "an index is not a row of `weight_tensor`."),
    ("MemoryConfigError", "a tensor is sharded."),
    ("StorageError", "a tensor is on the host, deallocated, or on another device than the first."),
)


def _tensor(name: str, doc: str) -> Param:
    return Param(name, TENSOR, doc=doc)


_OPTIONS: Final[tuple[Any, ...]] = (
    Param("dtype", DATA_TYPE, None, doc="Data type of the output. It must be that of the gradient."),
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
)

embedding_bw = entry(
    "embedding_bw",
    (
        Signature(
            (
                _tensor("input_tensor", "[batch, ..., length]. Indices, row-major."),
                _tensor("weight_tensor", "[..., rows, width]. Embedding table. Only its number of rows is used."),
                _tensor("output_gradient_tensor", "[1, 1, batch * length, width]. Gradient of the embedding's output."),
            ),
            _OPTIONS,
        ),
    ),
    _embedding_bw,
    "Return the gradient of the embedding table, summed over equal indices.",
    g.embedding,
    # Every addition but the first cuts its sum, which is at most that of the magnitudes, by less than a unit.
    accuracy=max_ulp((DataType.BFLOAT16, 2), magnitude=g.uses_times_the_sum_of_magnitudes),
    dtypes=_DTYPES,
    note=(
        "Shape: [batch, ..., length], [..., rows, width], [1, 1, batch * length, width] -> [1, 1, rows, width].\n"
        "It returns a tensor, not a list. Sums are truncated to bfloat16 after each addition, in the order of the "
        "indices."
    ),
    raises=_RAISES,
    engine=("embedding_backward",),
)
