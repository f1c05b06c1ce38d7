"""`ttnn.experimental.deepseek_grouped_gate`: experts of the best groups, and their shares.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/reduction/deepseek_grouped_gate`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np

from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import DTypeError, LayoutError, MemoryConfigError, ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import moe as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import FLOAT, INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.common import (
    MEMORY_CONFIG_OPTION,
    allocate,
    as_float,
    full_tiles,
    on_device,
    same_device,
)
from ttnn.ops._programs.pipeline import ROWS, Pipeline, rounded_to_bfloat16
from ttnn.ops.data_movement.concat import repeated
from ttnn.ops.data_movement.indexed import gather
from ttnn.ops.data_movement.permute import moved_to
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.ops.data_movement.slice import sliced
from ttnn.ops.eltwise.binary import add
from ttnn.ops.reduction.sort import topk
from ttnn.tensor import conversion
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.experimental.deepseek_grouped_gate"
_BF16: Final = DataType.BFLOAT16
_ONE: Final = 0x3F800000
_HIFI4: Final = 4
_EXPERTS, _GROUPS, _SUMMED, _KEPT, _CHOSEN = 256, 8, 2, 4, 8
_EACH: Final = _EXPERTS // _GROUPS
_DRAM: Final = {"memory_config": DRAM_MEMORY_CONFIG}


@lru_cache(maxsize=64)
def _scores(rows: int) -> Pipeline:
    """Return the sigmoid of scores, and its sum with a bias."""
    program = Pipeline((rows, _EXPERTS), ROWS, _BF16, False, _HIFI4)
    sigmoid = program.copy(program.tensor(_BF16), _BF16, [("sigmoid", "accurate")])
    program.copy(sigmoid, _BF16, output=0)
    program.eltwise("add", sigmoid, program.tensor(_BF16), _BF16, output=1)
    return program


@lru_cache(maxsize=64)
def _shares(rows: int, epsilon: int, scale: int) -> Pipeline:
    """Return scores over their sum, times a factor."""
    program = Pipeline((rows, _CHOSEN), ROWS, _BF16, False, _HIFI4)
    x = program.tensor(_BF16)
    total = program.sum(x, (_BF16, _ONE), _BF16, used=_CHOSEN)
    inverse = program.eltwise("add", total, program.constant(_BF16, epsilon), _BF16, [("recip", "accurate")])
    shares = program.eltwise("mul", x, inverse, _BF16)
    program.eltwise("mul", shares, program.constant(_BF16, scale), _BF16, output=0)
    return program


def _check(scores: Tensor, bias: Tensor, numbers: dict[str, int], place: MemoryConfig) -> None:
    for label, tensor in (("scores", scores), ("bias", bias)):
        word = label.capitalize()
        full_tiles(_NAME, tensor, label)
        if tensor.spec.dtype is not _BF16:
            raise DTypeError(
                f"{_NAME}: {label} is {tensor.spec.dtype.name}; typecast it to bfloat16.",
                vendor=f"{word} tensor must be BFLOAT16",
            )
        if tensor.spec.layout is not Layout.TILE:
            raise LayoutError(
                f"{_NAME}: {label} is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
                vendor=f"{word} tensor must be TILE layout",
            )
    if scores.spec.shape != bias.spec.shape:
        raise ShapeError(
            f"{_NAME}: scores has shape {scores.shape} and bias {bias.shape}; they must agree.",
            vendor="Scores and bias must have the same shape",
        )
    for label, (own, only) in {
        "summed_experts_per_group": (numbers["summed_experts_per_group"], _SUMMED),
        "n_groups": (numbers["n_groups"], _GROUPS),
        "topk_groups": (numbers["topk_groups"], _KEPT),
        "n_activated_experts": (numbers["n_activated_experts"], _CHOSEN),
    }.items():
        if own != only:
            raise ParameterError(
                f"{_NAME}: {label} is {own}; the program has {only}.",
                vendor=f"{label} must be {only} at the moment. Got {own}",
            )
    if scores.spec.shape.rank < 2 or scores.spec.shape[-1] != _EXPERTS or 0 in tuple(scores.spec.shape):
        raise ShapeError(
            f"{_NAME}: scores has shape {scores.shape}; it must end with {_EXPERTS} experts.",
            vendor=f"Experts must be {_EXPERTS}.",
        )
    if place.is_sharded():
        raise MemoryConfigError(f"{_NAME}: the output is sharded; use ttnn.DRAM_MEMORY_CONFIG.")


def _experts(rows: int, like: Tensor) -> Tensor:
    """Return the numbers of all experts, in groups, for every row."""
    numbers = np.arange(_EXPERTS, dtype=np.uint16).reshape(1, _GROUPS, _EACH)
    host = Tensor(np.repeat(numbers, rows, axis=0), DataType.UINT16, None, Layout.TILE)
    return conversion.to_device(host, on_device(_NAME, like))


def _chosen(biased: Tensor, rows: int) -> Tensor:
    """Return every row's experts: the best of the best groups.

    The groups are those whose two best have the largest sums.
    """
    groups = reshaped(_NAME, biased, (rows, _GROUPS, _EACH))
    best, _ = topk(groups, _SUMMED, -1, True, True, stable=True, **_DRAM)
    first, second = (sliced(_NAME, best, [0, 0, i], [rows, _GROUPS, i + 1]) for i in range(_SUMMED))
    sums = reshaped(_NAME, add(first, second, **_DRAM), (rows, _GROUPS))
    _, winners = topk(sums, _KEPT, -1, True, True, stable=True, **_DRAM)
    index = repeated(_NAME, reshaped(_NAME, winners, (rows, _KEPT, 1)), [1, 1, _EACH], DRAM_MEMORY_CONFIG)
    candidates, names = (gather(part, 1, index, **_DRAM) for part in (groups, _experts(rows, biased)))
    flat = (rows, _KEPT * _EACH)
    _, places = topk(reshaped(_NAME, candidates, flat), _CHOSEN, -1, True, True, stable=True, **_DRAM)
    result: Tensor = gather(reshaped(_NAME, names, flat), -1, places, **_DRAM)
    return result


def _gate(
    scores: Tensor,
    bias: Tensor,
    n_groups: int,
    summed_experts_per_group: int,
    topk_groups: int,
    n_activated_experts: int,
    route_scale: float,
    epsilon: float,
    memory_config: MemoryConfig | None,
) -> list[Tensor]:
    device = on_device(_NAME, scores, "scores")
    same_device(_NAME, device, bias, "bias")
    place = memory_config or scores.spec.memory_config
    numbers = {
        "n_groups": n_groups,
        "summed_experts_per_group": summed_experts_per_group,
        "topk_groups": topk_groups,
        "n_activated_experts": n_activated_experts,
    }
    _check(scores, bias, numbers, place)
    leading = tuple(scores.spec.shape)[:-1]
    rows = int(np.prod(leading))
    spec = TensorSpec.of((rows, _EXPERTS), _BF16, Layout.TILE, DRAM_MEMORY_CONFIG)
    sigmoid, biased = (allocate(spec, device) for _ in range(2))
    inputs = [reshaped(_NAME, tensor, (rows, _EXPERTS), DRAM_MEMORY_CONFIG) for tensor in (scores, bias)]
    _scores(rows).run(inputs, [sigmoid, biased])
    experts = _chosen(biased, rows)
    taken = gather(sigmoid, -1, experts, **_DRAM)
    shares = allocate(TensorSpec.of((rows, _CHOSEN), _BF16, Layout.TILE, DRAM_MEMORY_CONFIG), device)
    words = [
        rounded_to_bfloat16(as_float(_NAME, value, label))
        for label, value in (("epsilon", epsilon), ("route_scale", route_scale))
    ]
    _shares(rows, words[0], words[1]).run([taken], [shares])
    results = []
    for tensor in (shares, experts):
        result = reshaped(_NAME, tensor, (*leading, _CHOSEN))
        results.append(result if place == DRAM_MEMORY_CONFIG else moved_to(result, place))
    return results


deepseek_grouped_gate = register(
    Op(
        name="experimental.deepseek_grouped_gate",
        signatures=(
            Signature(
                (
                    Param(
                        "scores", TENSOR, doc="[..., 256] in bfloat16 on a device.", example=Operand((1, 1, 32, 256))
                    ),
                    Param(
                        "bias",
                        TENSOR,
                        doc="[..., 256] in bfloat16: added to the sigmoid of the scores for the choice.",
                        example=Operand((1, 1, 32, 256), 2),
                    ),
                ),
                (
                    Param("n_groups", INTEGER, _GROUPS, doc="Groups of experts: 8."),
                    Param("summed_experts_per_group", INTEGER, _SUMMED, doc="Experts that a group is judged by: 2."),
                    Param("topk_groups", INTEGER, _KEPT, doc="Groups that are kept: 4."),
                    Param("n_activated_experts", INTEGER, _CHOSEN, doc="Experts that are chosen: 8."),
                    Param("route_scale", FLOAT, 1.0, doc="Factor of the shares."),
                    Param("epsilon", FLOAT, 9.999999682655225e-21, doc="Added to the sum of the shares."),
                    MEMORY_CONFIG_OPTION,
                ),
            ),
        ),
        run=_gate,
        doc="Return selected experts' bfloat16 weights and uint16 indices.\n"
        "Shape: [..., 256], [..., 256] -> [..., 8], [..., 8].\n"
        "Every step is packed to bfloat16. Of equal scores the lower expert comes first here; recorded vectors do not "
        "cover the order that the device has.",
        source="tt-metal `ttnn/cpp/ttnn/operations/experimental/reduction/deepseek_grouped_gate`",
        dtypes=(_BF16,),
        layouts=(Layout.TILE,),
        golden=golden.deepseek_grouped_gate,
        accuracy=no_bound("for scores that are nearly equal"),
        composition=True,
        reference=(_BF16,),
        raises=(
            ("ShapeError", "shapes differ, or there are not 256 experts."),
            ("ParameterError", "an argument is not supported by the program."),
            ("DTypeError", "a tensor is not bfloat16."),
            ("LayoutError", "a tensor is row-major."),
            ("MemoryConfigError", "the output is to be sharded."),
        ),
        examples=(),
    )
)
