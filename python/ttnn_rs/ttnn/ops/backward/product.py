"""Gradient of the product of all elements, or along one dimension.

Source: TT-NN docs "ttnn.prod_bw"; the public sources of the official composition.
"""

from __future__ import annotations

from typing import Any, Final

from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden import backward as g
from ttnn.operation.accuracy import no_bound
from ttnn.operation.registry import find
from ttnn.operation.signature import INTEGER, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, dimension, on_device, same_device
from ttnn.ops.backward.family import GRAD, INPUT, RAISES, entry
from ttnn.ops.backward.forward import Forward, named
from ttnn.ops.reduction.prod import prod
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.prod_bw"


def _operand(tensor: Tensor, label: str) -> Tensor:
    on_device(_NAME, tensor, label)
    tiled: Tensor = find("ttnn.to_layout")(tensor, Layout.TILE)
    return tiled


def _prod(grad: Tensor, x: Tensor, dim: int | None, place: MemoryConfig | None) -> list[Tensor]:
    with named(_NAME):
        same_device(_NAME, on_device(_NAME, grad, "grad_tensor"), x, "input_tensor")
        do = Forward(place)
        product: Tensor = prod(x, dim, dim is not None, memory_config=place)
        grad, x = _operand(grad, "grad_tensor"), _operand(x, "input_tensor")
        if dim is None:
            share = do.multiply(product, grad)
            return [do.multiply(do.reciprocal(x), _first(share, x))]
        share = do.multiply(product, _kept(grad, x, dimension(_NAME, dim, x.spec.shape.rank or 1)))
        return [do.multiply(do.reciprocal(x), share)]


def _first(share: Tensor, x: Tensor) -> Tensor:
    """Return the first element.

    Reducing all dimensions has one product, and the official composition one gradient.
    """
    dims = share.spec.shape._dims
    if share.spec.shape.volume() not in (1, x.spec.shape.volume()):
        raise ShapeError(
            f"{_NAME}: grad_tensor is {share.shape}; the gradient of one product is one number, or a tensor like "
            f"input_tensor, {x.shape}, whose first element counts."
        )
    first: Any = (
        share if share.spec.shape.volume() == 1 else find("ttnn.slice")(share, [0] * len(dims), [1] * len(dims))
    )
    one: Tensor = find("ttnn.reshape")(first, (1, 1))
    return one


def _kept(grad: Tensor, x: Tensor, axis: int) -> Tensor:
    """Return the gradient of products along a dimension, which gets size 1.

    Of a gradient like `x`, the first row or column counts, as in the official composition.
    """
    dims = x.spec.shape._dims
    kept = (*dims[:axis], 1, *dims[axis + 1 :])
    if grad.spec.shape._dims == dims and axis >= len(dims) - 2:
        first: Tensor = find("ttnn.slice")(grad, [0] * len(dims), list(kept))
        return first
    if grad.spec.shape._dims not in (kept, (*dims[:axis], *dims[axis + 1 :])):
        raise ShapeError(f"{_NAME}: grad_tensor is {grad.shape}; the products of {x.shape} along it are {list(kept)}.")
    reshaped: Tensor = find("ttnn.reshape")(grad, kept)
    return reshaped


prod_bw = entry(
    "prod_bw",
    (
        Signature(
            (GRAD, INPUT),
            (
                Param("dim", INTEGER, None, doc="Dimension that was reduced. Default: all."),
                MEMORY_CONFIG_OPTION,
            ),
        ),
    ),
    _prod,
    "grad * prod(x) / x",
    g.prod,
    accuracy=no_bound("for it is that of the product, which grows with the number of factors"),
    dtypes=(DataType.BFLOAT16, DataType.BFLOAT8_B, DataType.FLOAT32),
    rows=True,
    note=(
        "The output is in TILE_LAYOUT. If all dimensions were reduced, only the first element of grad is used; if one "
        "of the last two was, only the first row or column of a grad of the shape of the input. The gradient is not "
        "finite where x is 0, because the operator divides by x."
    ),
    raises=(*RAISES, ("MemoryConfigError", "the input is sharded.")),
)
