"""A system: chips, their places in a mesh, and links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ttnn.base.call import shown
from ttnn.base.exceptions import DeviceError
from ttnn.base.system_enums import ClusterType

Place = tuple[int, int]
"""Row and column of a chip in a mesh."""


class Link(NamedTuple):
    """An Ethernet link: two chips and its channel on each."""

    chip: int
    channel: int
    other: int
    other_channel: int

    def __str__(self) -> str:
        return f"chip {self.chip} channel {self.channel} - chip {self.other} channel {self.other_channel}"


def snake(rows: int, columns: int, start: Place = (0, 0), length: int | None = None) -> list[Place]:
    """Return places row by row, every other row from right to left.

    Args:
        rows: Rows of the mesh.
        columns: Its columns.
        start: The first place.
        length: The number of places; None for all.
    """
    places: list[Place] = []
    row, column = start
    step = 1
    while row < rows and (length is None or len(places) < length):
        places.append((row, column))
        if 0 <= column + step < columns:
            column += step
        else:
            row, step = row + 1, -step
    return places


def walk(rows: int, columns: int) -> list[Place]:
    """Return all places of a mesh, each beside the one before.

    The walk is a ring where the mesh has one: along the first row, down the last column, and back through the rest in
    a snake. Meshes with an odd number of places, and those of one row or column, have none; their walk is a snake.
    """
    if min(rows, columns) < 2 or rows * columns % 2:
        return snake(rows, columns)
    places = [(0, column) for column in range(columns)]
    if rows % 2 == 0:
        places += [(row, columns - 1) for row in range(1, rows)]
        places += [(rows - 1, column) for column in range(columns - 2, -1, -1)]
        for row in range(rows - 2, 0, -1):
            inner = range(columns - 1)
            places += [(row, column) for column in (inner if (rows - row) % 2 == 0 else reversed(inner))]
        return places
    for column in range(columns - 1, -1, -1):
        down = (columns - column) % 2 == 1
        places += [(row, column) for row in (range(1, rows) if down else range(rows - 1, 0, -1))]
    return places


def border(rows: int, columns: int) -> list[Place]:
    """Return the places of a mesh's border, clockwise from (0, 0)."""
    if min(rows, columns) < 2:
        return snake(rows, columns)
    places = [(0, column) for column in range(columns)] + [(row, columns - 1) for row in range(1, rows)]
    places += [(rows - 1, column) for column in range(columns - 2, -1, -1)]
    return places + [(row, 0) for row in range(rows - 2, 0, -1)]


@dataclass(frozen=True)
class System:
    """Chips that work together.

    Attributes:
        name: Name for TTNN_SYSTEM, or the path of the descriptor that it comes from.
        type: What `ttnn.cluster.get_cluster_type` returns.
        board: The kind of card.
        chip: Name of a chip, one of `ttnn._engine.chip_names()`.
        shape: Rows and columns of the system mesh.
        chips: Numbers of the chips in the system mesh, row-major.
        pcie: Numbers of the chips that the host reaches over PCIe.
        usable_links: Links of a pair of neighbours that collectives can use, at most.
        links: All links, also those outside of the mesh.
        cards: Chips of each card with several. On these, one link to a chip without PCIe serves dispatch.
        line: Order of all chips as one row, where it is not the walk through the system mesh.
        rings: Whether the rows and the columns were declared rings; links decide nevertheless.
        torus: Whether a 1-D ring fabric uses links between the ends of rows and columns.
        recorded: Whether the order of the chips is recorded, and not derived from their links or numbers.
    """

    name: str
    type: ClusterType
    board: str
    chip: str
    shape: tuple[int, int]
    chips: tuple[int, ...]
    pcie: tuple[int, ...]
    usable_links: int
    links: tuple[Link, ...]
    cards: tuple[tuple[int, ...], ...] = ()
    line: tuple[int, ...] | None = None
    rings: tuple[bool, bool] = (False, False)
    torus: bool = False
    recorded: bool = True

    @cached_property
    def place_of(self) -> Mapping[int, Place]:
        """Return the places of the chips in the system mesh."""
        return {chip: divmod(index, self.shape[1]) for index, chip in enumerate(self.chips)}

    @cached_property
    def _pairs(self) -> Mapping[frozenset[int], tuple[Link, ...]]:
        pairs: dict[frozenset[int], tuple[Link, ...]] = {}
        for link in self.links:
            pair = frozenset((link.chip, link.other))
            pairs[pair] = (*pairs.get(pair, ()), link)
        return pairs

    def fabric_node(self, chip: int) -> int:
        """Return a chip's number in the fabric.

        It is the place in the system mesh, row-major.

        Raises:
            DeviceError: the system has no such chip.
        """
        self._require(chip)
        return self.chips.index(chip)

    def _require(self, chip: int) -> None:
        if chip not in self.place_of:
            raise DeviceError(f"system {self.name} has no chip {shown(chip)}; chips are {sorted(self.chips)}")

    def at(self, place: Place) -> int:
        """Return the chip at a place of the system mesh."""
        return self.chips[place[0] * self.shape[1] + place[1]]

    # Links.

    def channels(self, chip: int) -> set[int]:
        """Return the Ethernet channels of a chip that have a link."""
        ends = (end for link in self.links for end in ((link.chip, link.channel), (link.other, link.other_channel)))
        return {channel for at, channel in ends if at == chip}

    def links_between(self, chip: int, other: int) -> tuple[Link, ...]:
        """Return the links of two chips, from the first to the second."""
        found = self._pairs.get(frozenset((chip, other)), ())
        turned = (
            link if link.chip == chip else Link(link.other, link.other_channel, link.chip, link.channel)
            for link in found
        )
        return tuple(sorted(turned))

    def neighbours(self, chip: int) -> tuple[int, ...]:
        """Return the chips of the mesh that a chip has links to."""
        self._require(chip)
        return tuple(other for other in sorted(self.chips) if other != chip and frozenset((chip, other)) in self._pairs)

    def reserved_links(self, chip: int, other: int) -> int:
        """Return how many links of two chips serve dispatch."""
        same_card = any(chip in card and other in card for card in self.cards)
        return int(same_card and (chip in self.pcie) != (other in self.pcie))

    def usable_between(self, chip: int, other: int, down: Iterable[Link] = ()) -> int:
        """Return how many links of two chips collectives can use.

        Args:
            chip: A chip.
            other: Another one.
            down: Links that do not work.
        """
        up = len(self._pairs.get(frozenset((chip, other)), ())) - sum(
            {link.chip, link.other} == {chip, other} for link in down
        )
        return max(0, min(self.usable_links, up - self.reserved_links(chip, other)))

    # Orders of chips.

    def order(self, shape: Sequence[int], offset: Sequence[int] | None = None) -> tuple[int, ...]:
        """Return the chips of a mesh, row-major.

        A mesh is a part of the system mesh from `offset` on. One that does not fit is turned; one of a single row or
        column follows the system mesh along the first row and back through the next: all of it is a ring if it has one.

        Raises:
            DeviceError: the mesh does not fit.
        """
        rows, columns = self.shape
        if min(shape) < 1:
            raise DeviceError(f"mesh {_shape(shape)}: all dimensions must be positive")
        if len(shape) != 2:
            return self._order_of_dimensions(shape, offset)
        start = tuple(offset) if offset is not None else (0, 0)
        height, width = shape
        if len(start) != 2:
            vendor = f"Provided offset dimensions mismatch: {_coordinate(start)} != 2"
            raise DeviceError(
                f"offset {_coordinate(start)} has {len(start)} dimensions, the system mesh 2", vendor=vendor
            )
        if 1 in (height, width):
            return self._order_of_line(height * width, (start[0], start[1]), shape)
        if start[0] + height <= rows and start[1] + width <= columns:
            places = [(start[0] + row, start[1] + column) for row in range(height) for column in range(width)]
        elif start[0] + width <= rows and start[1] + height <= columns:
            places = [(start[0] + column, start[1] + row) for row in range(height) for column in range(width)]
        else:
            raise self._too_big(shape, start)
        return tuple(self.at(place) for place in places)

    def _order_of_line(self, length: int, start: Place, shape: Sequence[int]) -> tuple[int, ...]:
        rows, columns = self.shape
        if not (start[0] < rows and start[1] < columns):
            where, whole = _coordinate(start), _shape(self.shape)
            vendor = f"The specified offset {where} is out of bounds for the system mesh shape {whole}"
            raise DeviceError(f"offset {where} is outside the system mesh {whole}", vendor=vendor)
        if length == len(self.chips) and start == (0, 0):
            return self.line if self.line is not None else tuple(map(self.at, walk(rows, columns)))
        places = snake(rows, columns, start, length)
        if len(places) < length:
            raise self._too_big(shape, start)
        return tuple(map(self.at, places))

    def _order_of_dimensions(self, shape: Sequence[int], offset: Sequence[int] | None) -> tuple[int, ...]:
        """Return the chips of a mesh without two dimensions."""
        longer = [size for size in shape if size != 1]
        if len(longer) > 1 or offset is not None:
            vendor = f"Requested mesh shape dimensions mismatch: {_shape(shape)} != {_shape(self.shape)}"
            raise DeviceError(
                f"mesh {_shape(shape)}: the system mesh {_shape(self.shape)} has 2 dimensions", vendor=vendor
            )
        return self._order_of_line(longer[0] if longer else 1, (0, 0), shape)

    def _too_big(self, shape: Sequence[int], start: Sequence[int]) -> DeviceError:
        vendor = (
            f"Requested mesh is too big and is not rotatable: {_shape(shape)} and SystemMesh {_shape(self.shape)}, "
            f"offset {_coordinate(start)}"
        )
        return DeviceError(f"mesh {_shape(shape)} does not fit system {self.name}", vendor=vendor)

    def reshaped(self, chips: Sequence[int], shape: Sequence[int], new: Sequence[int]) -> tuple[int, ...]:
        """Return the chips of a mesh in another shape, row-major.

        A shape of one row or column follows the mesh as it is. Others are shapes of the system mesh if it has these
        chips, and otherwise keep the order of the chips where it has links.

        Args:
            chips: Numbers of the chips, row-major.
            shape: Their shape.
            new: The new shape, of as many chips.

        Raises:
            DeviceError: the new shape does not fit, or makes chips without a link neighbours.
        """
        if sum(size > 1 for size in new) < 2:
            places = walk(shape[0], shape[1]) if len(shape) == 2 else []
            return tuple(chips[row * shape[1] + column] for row, column in places) or tuple(chips)
        order = self.order(new)
        if sorted(order) == sorted(chips):
            return order
        for chip, other in pairs_of(chips, new) if len(new) == 2 else ():
            if frozenset((chip, other)) not in self._pairs:
                raise DeviceError(f"{_shape(new)} makes chips {chip} and {other} neighbours; they have no link")
        return tuple(chips)

    # Rings.

    def linked(self, chips: Sequence[int], wraps: tuple[bool, bool] = (True, True)) -> bool:
        """Return whether chips have links in a ring.

        Args:
            chips: Numbers of the chips.
            wraps: Whether links between the ends of columns (0) and rows (1) of the system mesh count.
        """
        return all(self._joined(*pair, wraps) for pair in zip(chips, (*chips[1:], chips[0]), strict=True))

    def _joined(self, chip: int, other: int, wraps: tuple[bool, bool]) -> bool:
        if frozenset((chip, other)) not in self._pairs:
            return False
        steps = [abs(a - b) for a, b in zip(self.place_of[chip], self.place_of[other], strict=True)]
        axis = int(steps[0] == 0)
        # Links that lead to no neighbour in the mesh are not part of it.
        if steps[1 - axis]:
            return False
        return steps[axis] == 1 or (wraps[axis] and steps[axis] == self.shape[axis] - 1)

    def closes(
        self,
        chips: Sequence[int],
        shape: Sequence[int],
        axis: int | None = None,
        wraps: tuple[bool, bool] = (True, True),
    ) -> bool:
        """Return whether the chips of a mesh are rings.

        Two chips are no ring: both directions lead to the same chip.

        Args:
            chips: Numbers of the chips, row-major.
            shape: Rows and columns.
            axis: The rows (1) or columns (0) that have to be rings; None for the border of the mesh, or its one row.
            wraps: Whether links between the ends of columns (0) and rows (1) of the system mesh count.
        """
        rows, columns = shape
        if axis is None:
            places = border(rows, columns)
            lines = [places]
        elif axis % 2 == 0:
            lines = [[(row, column) for row in range(rows)] for column in range(columns)]
        else:
            lines = [[(row, column) for column in range(columns)] for row in range(rows)]
        return all(
            len(line) > 2 and self.linked([chips[row * columns + column] for row, column in line], wraps)
            for line in lines
        )

    def require_links(self, down: Iterable[Link] = ()) -> None:
        """Check that neighbours in the system mesh have links.

        Raises:
            DeviceError: two of them have none; the message names the first pair.
        """
        broken = tuple(down)
        for chip, other in self.mesh_pairs():
            if not self._pairs.get(frozenset((chip, other)), ()):
                a, b = _coordinate(self.place_of[chip]), _coordinate(self.place_of[other])
                raise DeviceError(
                    f"system {self.name}: chip {chip} at {a} and chip {other} at {b} have no link; the mesh "
                    f"{_shape(self.shape)} needs one"
                )
            if broken and not self.usable_between(chip, other, broken):
                raise DeviceError(f"system {self.name}: no usable link between chip {chip} and chip {other} works")

    def mesh_pairs(self) -> Iterator[tuple[int, int]]:
        """Yield the pairs of neighbours in the system mesh, row-major."""
        yield from pairs_of(self.chips, self.shape)

    def ring_pairs(self) -> Iterator[tuple[int, int]]:
        """Yield the first and last chips of declared rings."""
        rows, columns = self.shape
        if self.rings[0] and rows > 2:
            yield from ((self.at((0, column)), self.at((rows - 1, column))) for column in range(columns))
        if self.rings[1] and columns > 2:
            yield from ((self.at((row, 0)), self.at((row, columns - 1))) for row in range(rows))


def pairs_of(chips: Sequence[int], shape: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of neighbours in a mesh, row-major."""
    rows, columns = shape
    for row in range(rows):
        for column in range(columns):
            chip = chips[row * columns + column]
            if column + 1 < columns:
                yield chip, chips[row * columns + column + 1]
            if row + 1 < rows:
                yield chip, chips[(row + 1) * columns + column]


def _shape(shape: Sequence[int]) -> str:
    return f"MeshShape({list(shape)})"


def _coordinate(place: Sequence[int]) -> str:
    return f"MeshCoordinate({list(place)})"
