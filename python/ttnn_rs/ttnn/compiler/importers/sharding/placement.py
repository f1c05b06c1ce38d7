"""Placement of tensors on a mesh.

From the strings of GSPMD and the attributes of Shardy.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["Placement", "axis_of", "gspmd", "mesh_of_gspmd", "shardy"]

_DEVICES: Final = re.compile(r"devices=\[([\d,]+)\](?:<=\[([\d,]+)\](?:T\(([\d,]+)\))?|([\d,]+))")
_AXES: Final = re.compile(r"\{([^}]*)\}")


@dataclass(frozen=True)
class Placement:
    """Placement of a tensor on a mesh.

    Attributes:
        shape: Parts along each dimension; `(1,)` if every device has the whole tensor.
        dims: For each axis of the mesh the dimension that it divides, or -1.
    """

    shape: tuple[int, ...]
    dims: tuple[int, ...]

    @property
    def kind(self) -> str:
        """The word of the attribute `shard_type`."""
        return "replicate" if self.shape == (1,) else "devices"

    def local(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of a part."""
        parts = self.shape if self.shape != (1,) else (1,) * len(shape)
        return tuple(size // one for size, one in zip(shape, parts, strict=True))


_WHOLE: Final = Placement((1,), (-1,))


def _numbers(text: str) -> list[int]:
    return [int(one) for one in text.split(",") if one]


def _tiles(text: str) -> tuple[list[int], list[int], list[int]] | None:
    """Return tile dimensions, device grid and permutation of a GSPMD string."""
    found = _DEVICES.search(text)
    if found is None:
        return None
    tiles = _numbers(found[1])
    if found[4]:
        return _listed(tiles, _numbers(found[4]), text)
    grid = _numbers(found[2]) if found[2] else [math.prod(tiles)]
    order = _numbers(found[3]) if found[3] else list(range(len(grid)))
    return tiles, grid, order


def _listed(tiles: list[int], devices: list[int], text: str) -> tuple[list[int], list[int], list[int]]:
    """Return the grid whose transposition lists devices in an order."""
    many = [one for one in tiles if one > 1]
    for order in itertools.permutations(range(len(many))):
        grid = [0] * len(many)
        for place, axis in enumerate(order):
            grid[axis] = many[place]
        strides = [math.prod(grid[axis + 1 :]) for axis in range(len(grid))]
        counts = itertools.product(*(range(one) for one in many))
        if [sum(strides[axis] * one for axis, one in zip(order, place, strict=True)) for place in counts] == devices:
            return tiles, grid if len(grid) > 1 else [1, *grid], list(order) if len(grid) > 1 else [0, 1]
    raise ValueError(f"sharding {text!r} lists devices in no order of a mesh")


def mesh_of_gspmd(texts: Iterable[str], devices: int) -> tuple[int, ...]:
    """Return the mesh that GSPMD strings stand for.

    That of two axes if a string shows them, else one row.
    """
    for text in texts:
        try:
            parts = _tiles(text)
        except ValueError:
            continue
        if parts is None:
            continue
        tiles, grid, _ = parts
        many = [one for one in tiles if one > 1]
        if len(grid) == 2:
            return tuple(grid)
        if len(many) == 2:
            return tuple(many)
    return (1, devices)


def gspmd(text: str, mesh: Sequence[int]) -> Placement | None:
    """Return the placement of a GSPMD string; None for `{manual}`.

    Raises:
        ValueError: It is no placement on the mesh.
    """
    if "manual" in text:
        return None
    if "replicated" in text and "devices" not in text:
        return _WHOLE
    parts = _tiles(text)
    if parts is None:
        raise ValueError(f"sharding {text!r} is not supported")
    tiles, grid, order = parts
    if len(grid) == 1:
        many = [one for one in tiles if one > 1]
        grid = many if len(many) > 1 else [1, *many]
        order = list(range(len(grid)))
    kept = tiles[:-1] if "last_tile_dim_replicate" in text else tiles
    if tuple(grid) != tuple(mesh):
        raise ValueError(f"sharding {text!r} is not on a mesh of {'x'.join(map(str, mesh))}")
    dims = [-1] * len(grid)
    axes = [axis for axis in order if grid[axis] > 1]
    divided = [i for i, one in enumerate(tiles) if one > 1]
    if [tiles[i] for i in divided] != [grid[axis] for axis in axes]:
        raise ValueError(f"sharding {text!r} divides dimensions by parts of a mesh axis, or by several")
    for axis, dim in zip(axes, divided, strict=True):
        if dim < len(kept):
            dims[axis] = dim
    return Placement(tuple(kept), tuple(dims)) if any(one >= 0 for one in dims) else _WHOLE


def shardy(text: str, mesh: Mapping[str, int]) -> list[Placement]:
    """Return the placements in a list of Shardy's shardings, such as `[<@mesh, [{"x"}, {}]>]`.

    Raises:
        ValueError: One of them is not on the mesh.
    """
    names = list(mesh)
    found = []
    for entry in re.findall(r"@\w+, \[((?:\{[^}]*\}(?:p\d+)?,? ?)*)\]", text):
        dims = [-1] * max(2, len(names))
        shift = len(dims) - len(names)
        shape = []
        for dim, axes in enumerate(_AXES.findall(entry)):
            parts = 1
            for axis in re.findall(r'"([^"]+)"', axes):
                if axis not in mesh or f'"{axis}":(' in axes:
                    raise ValueError(f"axis {axis!r} of a sharding is none of {', '.join(names)}, or a part of one")
                if mesh[axis] > 1:
                    dims[shift + names.index(axis)] = dim
                    parts *= mesh[axis]
            shape.append(parts)
        found.append(Placement(tuple(shape), tuple(dims)) if any(one > 1 for one in shape) else _WHOLE)
    return found


def axis_of(groups: Any, mesh: Sequence[int]) -> tuple[int, ...] | None:
    """Return the axes of a mesh along which groups of devices run.

    None for other groups.
    """
    import numpy as np

    given = {frozenset(int(one) for one in row if one >= 0) for row in np.atleast_2d(np.asarray(groups))}
    devices = np.arange(math.prod(mesh)).reshape(mesh)
    for axis in range(len(mesh)):
        rows = np.moveaxis(devices, axis, -1).reshape(-1, mesh[axis])
        if given == {frozenset(map(int, row)) for row in rows}:
            return (axis,)
    if given == {frozenset(map(int, devices.reshape(-1)))}:
        return tuple(axis for axis, size in enumerate(mesh) if size > 1)
    return None
