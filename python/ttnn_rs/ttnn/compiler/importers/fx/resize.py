"""Resizing of images."""

from __future__ import annotations

from typing import Any, Final

from ttnn.compiler.importers.builder import scalar, shape_of
from ttnn.compiler.importers.fx.pooling import product_along
from ttnn.compiler.importers.fx.scope import Arguments, Row, Scope
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]


def _scales(a: Arguments, rank: int) -> list[float | None]:
    given = a.scale_factors
    if given is not None:
        return [float(one) for one in given]
    names = ("scales_d", "scales_h", "scales_w")[3 - rank :] if rank > 1 else ("scales",)
    return [getattr(a, one) for one in names]


def _nearest(rank: int, exact: bool) -> Row:
    def row(s: Scope, a: Arguments) -> SSAValue:
        import numpy as np

        x: SSAValue = a.input if a.input is not None else a.self
        lead = len(shape_of(x)) - rank
        for i, wanted in enumerate(a.shape[-rank:]):
            size, given = shape_of(x)[lead + i], _scales(a, rank)[i]
            scale = 1 / given if given else size / wanted
            places = np.floor((np.arange(wanted) + (0.5 if exact else 0.0)) * np.float32(scale)).astype(np.int64)
            x = _picked(s, x, lead + i, np.minimum(places, size - 1))
        return x

    return row


def _picked(s: Scope, x: SSAValue, dim: int, places: Any) -> SSAValue:
    """Return slices along a dimension at places that are known.

    Repeated ones are one slice.
    """
    import numpy as np

    shape = shape_of(x)
    values, counts = np.unique(places, return_counts=True)
    if len(set(counts.tolist())) == 1 and len(values) == shape[dim]:
        wide = s.reshape(x, [*shape[: dim + 1], 1, *shape[dim + 1 :]])
        wide = s.expand(wide, [*shape[: dim + 1], int(counts[0]), *shape[dim + 1 :]])
        return s.reshape(wide, [*shape[:dim], shape[dim] * int(counts[0]), *shape[dim + 1 :]])
    parts = []
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        begins, ends = [0] * len(shape), list(shape)
        begins[dim], ends[dim] = value, value + 1
        parts += [s.slice(x, begins, ends)] * count
    return s.concat(parts, dim)


def _weights(size: int, wanted: int, scale: float | None, align: bool, cubic: bool) -> Any:
    """Return the matrix of an interpolation along a dimension.

    Rows are old places, columns new ones.
    """
    import numpy as np

    matrix = np.zeros((size, wanted))
    if align:
        step = (size - 1) / (wanted - 1) if wanted > 1 else 0.0
        places = np.arange(wanted) * step
    else:
        step = 1 / scale if scale else size / wanted
        places = (np.arange(wanted) + 0.5) * step - 0.5
        if not cubic:
            places = np.maximum(places, 0)
    low = np.floor(places).astype(int)
    part = places - low
    taps = {0: 1 - part, 1: part}
    if cubic:
        taps = {offset: _cubic(np.abs(part - offset)) for offset in (-1, 0, 1, 2)}
    for offset, weight in taps.items():
        np.add.at(matrix, (np.clip(low + offset, 0, size - 1), np.arange(wanted)), weight)
    return matrix


def _cubic(x: Any) -> Any:
    """Return the cubic kernel with the parameter -0.75."""
    import numpy as np

    a = -0.75
    near = (a + 2) * x**3 - (a + 3) * x**2 + 1
    far = a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a
    return np.where(x <= 1, near, far)


def _interpolated(rank: int, cubic: bool = False) -> Row:
    def row(s: Scope, a: Arguments) -> SSAValue:
        x = s.cast(a.input if a.input is not None else a.self, scalar("f32"))
        lead = len(shape_of(x)) - rank
        for i, wanted in enumerate(a.shape[-rank:]):
            size = shape_of(x)[lead + i]
            if size != wanted:
                matrix = _weights(size, wanted, _scales(a, rank)[i], bool(a.align_corners), cubic)
                x = product_along(s, x, matrix, lead + i)
        return s.cast(x, a.element)

    return row


ROWS: Final[dict[str, Row]] = {
    **{f"aten.upsample_nearest{rank}d": _nearest(rank, exact=False) for rank in (1, 2, 3)},
    **{f"aten._upsample_nearest_exact{rank}d": _nearest(rank, exact=True) for rank in (1, 2, 3)},
    "aten.upsample_linear1d": _interpolated(1),
    "aten.upsample_bilinear2d": _interpolated(2),
    "aten.upsample_trilinear3d": _interpolated(3),
    "aten.upsample_bicubic2d": _interpolated(2, cubic=True),
}
