"""`tril` and `triu`: the product with a mask of ones and zeros.

Source: TT-NN docs of the operators; the official package multiplies, so infinity outside of the triangle becomes NaN
there, which a bfloat16 tensor holds as infinity.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ttnn.base.enums import TILE_SIZE, DataType, Layout
from ttnn.base.exceptions import LayoutError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.tensor_spec import require_allocatable
from ttnn.golden.eltwise import unary as golden
from ttnn.operation.accuracy import bit_exact
from ttnn.operation.registry import FastOperation, Op, register
from ttnn.operation.signature import INTEGER, Param, Signature
from ttnn.ops._programs.common import FLOATS, INPUT_TENSOR, MEMORY_CONFIG_OPTION, on_device
from ttnn.ops.eltwise.binary import multiply
from ttnn.ops.eltwise.unary.family import FLOAT_INPUTS
from ttnn.tensor.tensor import Tensor

_32_BITS: Final = (DataType.INT32, DataType.UINT32)
_NUMPY: Final[dict[DataType, Any]] = {
    DataType.INT32: np.int32,
    DataType.UINT32: np.uint32,
    DataType.UINT8: np.uint8,
    DataType.INT8: np.int8,
}


@lru_cache(maxsize=64)
def _mask(height: int, width: int, diagonal: int, lower: bool) -> npt.NDArray[np.float32]:
    """Return the triangle of ones."""
    cut = np.tril if lower else np.triu
    return np.asarray(cut(np.ones((height, width), np.float32), diagonal), np.float32)


def _triangle(
    name: str, lower: bool, input_tensor: Tensor, diagonal: int, memory_config: MemoryConfig | None
) -> Tensor:
    device = on_device(name, input_tensor)
    spec = input_tensor.spec
    dims = spec.shape._dims
    height, width = (1, 1, *dims)[-2:]
    if spec.layout is not Layout.TILE and (height % TILE_SIZE or width % TILE_SIZE):
        physical = tuple(-(-side // TILE_SIZE) * TILE_SIZE for side in (height, width))
        raise LayoutError(
            f"{name}: input_tensor {input_tensor.shape} is ROW_MAJOR and fills no tiles; convert it with "
            "ttnn.to_layout first.",
            vendor=f"to_layout: Converting layout to Layout::TILE implicitly changed physical shape from "
            f"{(height, width)} to {physical} due to alignment constraints. This is currently unsupported. Please pad "
            "the tensor explicitly before conversion.",
        )
    if memory_config is not None:
        # The mask is made there, too.
        require_allocatable(spec.with_memory_config(memory_config))
    dtype = DataType.BFLOAT16 if spec.dtype in (*FLOATS, DataType.UINT16) else spec.dtype
    limit = max(height, width) + 1
    cut = _mask(height, width, max(-limit, min(limit, diagonal)), lower).reshape((height, width)[-max(len(dims), 1) :])
    mask = Tensor(cut.astype(_NUMPY.get(dtype, np.float32)), dtype, None, Layout.TILE).to(device)
    result: Tensor = multiply(input_tensor, mask, memory_config=memory_config or spec.memory_config)
    return result


_DIAGONAL: Final = Param(
    "diagonal", INTEGER, 0, doc="Diagonal that bounds the triangle: 0 is the main one, positive values are above it."
)


def _register(name: str, lower: bool, function: Callable[..., Any], what: str) -> FastOperation:
    return register(
        Op(
            name=name,
            signatures=(Signature((INPUT_TENSOR,), (_DIAGONAL, MEMORY_CONFIG_OPTION)),),
            run=partial(_triangle, f"ttnn.{name}", lower),
            doc=f"Return the {what} triangle of each matrix of `input_tensor`, and 0 elsewhere.\n"
            "Shape: [..., H, W] -> [..., H, W]. The result is in tiles.",
            source="tt-metal `ttnn/cpp/ttnn/operations/data_movement` and `eltwise/binary_ng`",
            dtypes=(*FLOAT_INPUTS, *_32_BITS),
            layouts=(Layout.TILE,),
            golden=function,
            accuracy=bit_exact(),
            composition=True,
            raises=(
                ("LayoutError", "the input is row-major and its matrices do not fill tiles."),
                ("MemoryConfigError", "`memory_config` is sharded without cores."),
                ("DTypeError", "the input is uint16 or uint8."),
                ("ShapeError", "the input has a rank above 5 and leading sizes other than 1."),
                ("StorageError", "the input is on the host."),
            ),
            examples=lambda shape, _: ((),) if len(shape) >= 2 else (),
        )
    )


tril = _register("tril", True, golden.tril, "lower")
triu = _register("triu", False, golden.triu, "upper")
