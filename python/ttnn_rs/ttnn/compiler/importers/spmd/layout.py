"""Layouts of tensors on a mesh: the axes that divide each dimension."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.ir.operations import written_name
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import Attribute, ModuleOp

__all__ = ["Layout", "Mesh", "local_shape", "mesh_of", "whole"]

Layout = tuple[tuple[int, ...], ...]
"""Axes of the mesh that divide each dimension, the outermost first."""

_MOST_AXES: Final = 2
_VALUE: Final = re.compile(r'@("[^"]*"|[\w.$-]+), \[((?:\{[^}]*\}(?:p\d+)?,? ?)*)\]((?:, \w+=\{[^}]*\})*)')
_DIMENSION: Final = re.compile(r"\{([^}]*)\}")
_AXIS: Final = re.compile(r'"([^"]+)"(:\(\d+\)\d+)?')


def whole(rank: int) -> Layout:
    """Return the layout of a tensor that every device has."""
    return ((),) * rank


@dataclass(frozen=True)
class Mesh:
    """A mesh of devices.

    Attributes:
        sizes: Devices along each axis; axes of one device are left out.
        axes: Numbers of the axes by name, for each mesh of the program.
    """

    sizes: tuple[int, ...]
    axes: dict[str, dict[str, int]]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the devices."""
        one, two = (1,) * (_MOST_AXES - len(self.sizes)) + self.sizes
        return one, two

    def parts(self, axes: Iterable[int]) -> int:
        """Return the number of parts that axes divide a dimension into."""
        return math.prod(self.sizes[axis] for axis in axes)

    def groups(self, axis: int) -> list[list[int]]:
        """Return the groups of devices along an axis."""
        import numpy as np

        devices = np.arange(math.prod(self.sizes)).reshape(self.sizes)
        rows = np.moveaxis(devices, axis, -1).reshape(-1, self.sizes[axis])
        return [[int(one) for one in row] for row in rows]

    def layouts(self, sharding: Attribute | None) -> list[Layout]:
        """Return the layouts in an attribute of Shardy.

        Parts of axes divide nothing here: such dimensions are whole.

        Raises:
            UnsupportedError: A value is the sum of what the devices have, or is on an unknown mesh.
        """
        found = []
        for name, dimensions, rest in _VALUE.findall(attribute_text(sharding) if sharding is not None else ""):
            if "unreduced" in rest:
                raise UnsupportedError("a sharding with unreduced axes is not supported.")
            names = self.axes.get(name.strip('"'))
            if names is None:
                raise UnsupportedError(f"a sharding is on the mesh @{name}, which does not fit the others.")
            layout = []
            for dimension in _DIMENSION.findall(dimensions):
                axes = _AXIS.findall(dimension)
                partial = any(part for _, part in axes)
                layout.append(() if partial else tuple(names[axis] for axis, _ in axes if names.get(axis, -1) >= 0))
            found.append(tuple(layout))
        return found

    def manual(self, names: Attribute | None) -> frozenset[int]:
        """Return the axes in an attribute that lists them."""
        known = next(iter(axes for axes in self.axes.values() if axes), {})
        found = (known.get(name, -1) for name in re.findall(r'"([^"]+)"', attribute_text(names) if names else ""))
        return frozenset(axis for axis in found if axis >= 0)

    def fitting(self, layout: Layout, shape: Sequence[int]) -> Layout:
        """Return a layout without the axes that do not divide their dimension."""
        used: set[int] = set()
        kept = []
        for axes, size in zip(layout, shape, strict=True):
            fits = size > 0 and size % self.parts(axes) == 0 and not used.intersection(axes)
            kept.append(axes if fits else ())
            used.update(kept[-1])
        return tuple(kept)

    def gspmd(self, layout: Layout) -> str:
        """Return a layout in the notation of GSPMD."""
        used = [axis for axes in layout for axis in axes]
        if not used:
            return "{replicated}"
        rest = [axis for axis in range(len(self.sizes)) if axis not in used]
        tiles = [self.parts(axes) for axes in layout] + ([self.parts(rest)] if rest else [])
        order = [*used, *rest]
        turned = order != sorted(order)
        grid = ",".join(map(str, self.sizes if turned else (math.prod(self.sizes),)))
        grid = f"[{grid}]" + (f"T({','.join(map(str, order))})" if turned else "")
        last = " last_tile_dim_replicate" if rest else ""
        return f"{{devices=[{','.join(map(str, tiles))}]<={grid}{last}}}"


def local_shape(mesh: Mesh, layout: Layout, shape: Sequence[int]) -> list[int]:
    """Return the shape of a part."""
    return [size // mesh.parts(axes) for size, axes in zip(shape, layout, strict=True)]


def mesh_of(module: ModuleOp) -> Mesh:
    """Return the mesh of a program.

    Raises:
        UnsupportedError: It has more than two axes, or lists its devices in another order.
    """
    found: dict[str, list[tuple[str, int]]] = {}
    for op in module.ops:
        if written_name(op) == "sdy.mesh":
            text = attribute_text(op.properties["mesh"])
            found[_symbol(op)] = [(name, int(size)) for name, size in re.findall(r'"([^"]+)"=(\d+)', text)]
            ids = re.search(r"device_ids=\[([\d, ]*)\]", text)
            if ids is not None and found[_symbol(op)] and _numbers(ids[1]) != sorted(_numbers(ids[1])):
                raise UnsupportedError("a mesh with its devices in another order is not supported.")
    sizes: tuple[int, ...] = max((_sizes(one) for one in found.values()), key=len, default=())
    if len(sizes) > _MOST_AXES:
        grid = "x".join(map(str, sizes))
        raise UnsupportedError(f"a mesh of {grid} devices has {len(sizes)} axes; at most {_MOST_AXES} are supported.")
    axes = {name: _axes(one) for name, one in found.items() if _sizes(one) in (sizes, ())}
    return Mesh(sizes, axes)


def _numbers(text: str) -> list[int]:
    return [int(one) for one in text.split(",") if one.strip()]


def _symbol(op: Any) -> str:
    return str(op.properties["sym_name"].data)


def _sizes(axes: Sequence[tuple[str, int]]) -> tuple[int, ...]:
    return tuple(size for _, size in axes if size > 1)


def _axes(axes: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Return axis numbers by name; -1 for axes of one device."""
    many = [name for name, size in axes if size > 1]
    return {name: many.index(name) if size > 1 else -1 for name, size in axes}
