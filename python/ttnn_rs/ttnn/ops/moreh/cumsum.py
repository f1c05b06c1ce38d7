"""`moreh_cumsum` and `moreh_cumsum_backward`: cumulative sums from either end.

Source: tt-metal `ttnn/cpp/ttnn/operations/moreh`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from ttnn.base.enums import DataType, Layout
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden import moreh as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.registry import declare
from ttnn.operation.signature import INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, on_device
from ttnn.ops.reduction.accumulation import cumsum
from ttnn.tensor.tensor import Tensor


def _cumsum(
    name: str, source: Tensor, dim: int, output: Tensor | None, place: MemoryConfig | None, back: bool
) -> Tensor:
    on_device(name, source)
    options: dict[str, Any] = {"reverse_order": back, "out": output}
    if output is None:
        options["memory_config"] = place or source.spec.memory_config
    result: Tensor = cumsum(source, dim, **options)
    return result


def _forward(input: Tensor, dim: int, output: Tensor | None, memory_config: MemoryConfig | None) -> Tensor:
    return _cumsum("ttnn.moreh_cumsum", input, dim, output, memory_config, False)


def _backward(output_grad: Tensor, dim: int, input_grad: Tensor | None, memory_config: MemoryConfig | None) -> Tensor:
    return _cumsum("ttnn.moreh_cumsum_backward", output_grad, dim, input_grad, memory_config, True)


_DIM: Final = Param("dim", INTEGER, doc="Dimension along which elements are added.")


_declare: Final = partial(declare, source="tt-metal `ttnn/cpp/ttnn/operations/moreh`")


def _dims(shape: tuple[int, ...], _layout: Layout) -> tuple[tuple[Any, ...], ...]:
    return tuple((dim,) for dim in range(-len(shape), 0))


_cumsum_entry = partial(
    _declare,
    dtypes=(DataType.BFLOAT16, DataType.FLOAT32),
    layouts=(Layout.TILE,),
    accuracy=no_bound("for rounding errors add up along the dimension"),
    engine=("Pipeline",),
    composition=True,
    raises=(
        ("DTypeError", "the data type is not supported."),
        ("LayoutError", "the input is row-major."),
        ("ShapeError", "`dim` is out of range."),
    ),
    examples=_dims,
)


moreh_cumsum = _cumsum_entry(
    "moreh_cumsum",
    (
        Signature(
            (Param("input", TENSOR, doc="[..., H, W] on a device."), _DIM),
            (Param("output", TENSOR, None, doc="Preallocated output."), MEMORY_CONFIG_OPTION),
        ),
    ),
    _forward,
    "Return the cumulative sum along `dim`, same as `ttnn.cumsum`.\nShape: [..., H, W] -> [..., H, W].",
    golden=golden.moreh_cumsum,
)


moreh_cumsum_backward = _cumsum_entry(
    "moreh_cumsum_backward",
    (
        Signature(
            (Param("output_grad", TENSOR, doc="[..., H, W] on a device."), _DIM),
            (Param("input_grad", TENSOR, None, doc="Preallocated output."), MEMORY_CONFIG_OPTION),
        ),
    ),
    _backward,
    "Return the sums of the elements along `dim` from each element on.\nShape: [..., H, W] -> [..., H, W].",
    golden=golden.moreh_cumsum_backward,
)
