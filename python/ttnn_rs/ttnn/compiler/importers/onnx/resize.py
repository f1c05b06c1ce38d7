"""Resizing: a matrix for each dimension, or places that are looked up."""

from __future__ import annotations

import math
from typing import Any, Final

from ttnn.compiler.importers.builder import element_of, scalar, shape_of
from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.fx.indexing import take
from ttnn.compiler.importers.fx.pooling import product_along
from ttnn.compiler.importers.onnx.scope import Node, Row, Scope
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]

_PASSED: Final = (
    "antialias", "coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside", "extrapolation_value", "mode",
    "nearest_mode",
)  # fmt: skip


def _matrix(size: int, scale: float | None, wanted: int, roi: tuple[float, float], given: dict[str, Any]) -> Any:
    """Return a dimension's matrix, and the places of fixed values.

    Args:
        size: Old size of the dimension.
        scale: Its factor; None to state its new size.
        wanted: Its new size.
        roi: The part that is cropped.
        given: Attributes of the node.
    """
    import numpy as np
    from onnx import helper
    from onnx.reference import ReferenceEvaluator

    names = ["x", "roi", "scales" if scale is not None else "", "sizes" if scale is None else ""]
    node: Any = helper.make_node("Resize", names if names[3] else names[:3], ["y"], **given)
    feeds: dict[str, Any] = {"roi": np.array([0, roi[0], 1, roi[1]], np.float32)}

    def resized(x: Any) -> Any:
        feeds["x"] = x
        if scale is None:
            feeds["sizes"] = np.array([x.shape[0], wanted], np.int64)
        else:
            feeds["scales"] = np.array([1, scale], np.float32)
        found: Any = ReferenceEvaluator(node, opsets={"": 19}).run(None, dict(feeds))
        return found[0]

    base = resized(np.zeros((1, size)))
    return resized(np.eye(size)) - base, resized(np.ones((1, size)))[0] - base[0] == 0


def _along(s: Scope, x: SSAValue, dim: int, matrix: Any, fixed: Any, value: float) -> SSAValue:
    """Return a tensor resized along a dimension."""
    import numpy as np

    exact = bool(np.isin(matrix, (0, 1)).all())
    if exact:
        made = take(s, x, s.b.constant(matrix.argmax(0), scalar("si32")), dim)
    else:
        made = product_along(s, x, matrix, dim)
    if not fixed.any():
        return made
    line = [1] * len(shape_of(made))
    line[dim] = len(fixed)
    mask = s.expand(s.b.constant(fixed.reshape(line), scalar("i1")), shape_of(made))
    return s.where(mask, s.splat(value, made), made)


def _resize(s: Scope, a: Node) -> Any:
    if a.opset < 11:
        scales = a.known(1).astype(float).tolist()
        given = {
            "mode": a.attribute("mode", "nearest"),
            "coordinate_transformation_mode": "asymmetric",
            "nearest_mode": "floor",
        }
        return _resized(s, a, list(range(a.rank())), scales, None, None, given)
    axes = a.attribute("axes")
    axes = list(range(a.rank())) if axes is None else [int(one) % a.rank() for one in axes]
    scales, sizes = a.known(2), a.known(3)
    given = {name: a.attribute(name) for name in _PASSED if a.attribute(name) is not None}
    roi = a.known(1)
    policy = a.attribute("keep_aspect_ratio_policy", "stretch")
    factors = None if scales is None or not scales.size else scales.astype(float).tolist()
    targets = None if factors is not None or sizes is None else [int(one) for one in sizes]
    if targets is not None and policy != "stretch":
        found = [target / a.shape()[dim] for target, dim in zip(targets, axes, strict=True)]
        factor = min(found) if policy == "not_larger" else max(found)
        targets = [math.floor(factor * a.shape()[dim] + 0.5) for dim in axes]
        factors = [factor] * len(axes)
        if any(math.floor(factor * a.shape()[dim]) != target for dim, target in zip(axes, targets, strict=True)):
            factors = None
    if factors is not None:
        targets = None
    return _resized(s, a, axes, factors, targets, None if roi is None or not roi.size else roi, given)


def _resized(
    s: Scope,
    a: Node,
    axes: list[int],
    scales: list[float] | None,
    sizes: list[int] | None,
    roi: Any,
    given: dict[str, Any],
) -> SSAValue:
    shape, element = a.shape(), element_of(a[0])
    nearest = given.get("mode", "nearest") == "nearest"
    x = a[0] if nearest else s.wide(a[0])
    value = float(given.get("extrapolation_value", 0.0))
    if nearest:
        given = {key: one for key, one in given.items() if key != "antialias"}
    crop = given.get("coordinate_transformation_mode") == "tf_crop_and_resize"
    for i, dim in enumerate(axes):
        part = (0.0, 1.0) if roi is None else (float(roi[i]), float(roi[i + len(axes)]))
        scale = None if scales is None else scales[i]
        wanted = sizes[i] if sizes is not None else math.floor(shape[dim] * (scale or 0))
        if wanted < 1:
            refuse(f"makes a dimension of {wanted} elements")
        if wanted == shape[dim] and scale in (None, 1.0) and (not crop or part == (0.0, 1.0)):
            continue
        matrix, fixed = _matrix(shape[dim], scale, wanted, part, given)
        x = _along(s, x, dim, matrix, fixed if crop else fixed & False, value)
    return s.cast(x, element)


def _upsample(s: Scope, a: Node) -> Any:
    scales = a.attribute("scales") if a.opset < 9 else a.known(1)
    given = {
        "mode": a.attribute("mode", "nearest"),
        "coordinate_transformation_mode": "asymmetric",
        "nearest_mode": "floor",
    }
    return _resized(s, a, list(range(a.rank())), [float(one) for one in scales], None, None, given)


ROWS: Final[dict[tuple[str, str], Row]] = {("", "Resize"): _resize, ("", "Upsample"): _upsample}
