"""Descriptors by index: runtime arguments by core, mesh programs by range."""

from __future__ import annotations

from typing import Any

import pytest

import ttnn
from ttnn.base.exceptions import ArgumentError
from ttnn.metal.descriptors import arguments


def core(x: int, y: int) -> ttnn.CoreCoord:
    return ttnn.CoreCoord(x, y)


@pytest.mark.parametrize(
    "given",
    [
        [(core(0, 0), [1, 2]), (core(1, 2), [3])],
        [[[1, 2]], [[], [], [3]]],
    ],
)
def test_kernel_arguments_are_read_and_changed_by_core(given: Any) -> None:
    kernel = ttnn.KernelDescriptor(runtime_args=given)
    assert kernel.runtime_args[0][0] == [1, 2]
    assert kernel.runtime_args[1][2] == [3]
    assert kernel.runtime_args[5][5] == []
    kernel.runtime_args[0][0] = [7, 8]
    kernel.runtime_args[0][0][1] = 9
    kernel.runtime_args[1][2].append(4)
    assert kernel.runtime_args[0][0] == [7, 9]
    assert kernel.runtime_args[1][2] == [3, 4]


def test_arguments_that_are_assigned_later_are_read_by_core() -> None:
    kernel = ttnn.KernelDescriptor()
    assert kernel.runtime_args[0][0] == []
    kernel.runtime_args = [(core(0, 0), [5])]
    assert kernel.runtime_args[0][0] == [5]
    own = ttnn.RuntimeArgs()
    own[2][1] = [6]
    kernel.runtime_args = own
    assert kernel.runtime_args[2][1] == [6]


def test_reading_the_arguments_of_a_core_adds_none() -> None:

    kernel = ttnn.KernelDescriptor(
        core_ranges=ttnn.CoreRangeSet([ttnn.CoreRange(core(0, 0), core(1, 0))]),
        config=ttnn.ReaderConfigDescriptor(),
    )
    kernel.runtime_args[1][0] = [11, 12]
    assert kernel.runtime_args[6][6] == []
    assert [((place.x, place.y), list(values)) for place, values in arguments(kernel.runtime_args)] == [
        ((1, 0), [11, 12])
    ]


def test_mesh_program_is_set_and_read_by_range() -> None:
    program, first = ttnn.ProgramDescriptor(), ttnn.MeshCoordinate(0, 0)
    box = ttnn.MeshCoordinateRange(first, first)
    mesh = ttnn.MeshProgramDescriptor()
    mesh[box] = program
    assert mesh[box] is program
    assert mesh.mesh_programs == {box: program}
    with pytest.raises(ArgumentError, match="no program for MeshCoordinateRange"):
        mesh[ttnn.MeshCoordinateRange(first, ttnn.MeshCoordinate(0, 1))]
    with pytest.raises(ArgumentError, match="expected a ProgramDescriptor by MeshCoordinateRange"):
        mesh[0] = program
    with pytest.raises(ArgumentError, match="expected a ProgramDescriptor by MeshCoordinateRange"):
        mesh[box] = 0


@pytest.mark.parametrize(("x", "y"), [(-1, 0), (0, -1), ("a", 0), (0, None), (True, 0)])
def test_coordinates_that_no_core_has_raise_argument_error(x: object, y: object) -> None:
    with pytest.raises(ArgumentError, match="coordinate of a core"):
        ttnn.RuntimeArgs()[x][y]


def test_arguments_that_are_no_list_raise_argument_error() -> None:
    with pytest.raises(ArgumentError, match="expected a list of numbers, got int"):
        ttnn.RuntimeArgs()[0][0] = 7
