"""Ways of packets through systems."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import ttnn
from ttnn.base.exceptions import ArgumentError, FabricError, IndexRangeError, ParameterError, UnsupportedError
from ttnn.device import routes
from ttnn.device.fabric_state import FABRIC
from ttnn.device.systems import named_systems

SYSTEMS = {name: system for name, system in named_systems().items() if len(system.chips) > 1}
EAST, WEST, NORTH, SOUTH = range(4)


@pytest.fixture
def fabric(request: pytest.FixtureRequest) -> Iterator[None]:
    """A fabric of this kind; the system is a T3000."""
    with ttnn.manage_config("system", "t3k"):
        ttnn.set_fabric_config(getattr(ttnn.FabricConfig, request.param))
        yield
        ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)


@pytest.mark.parametrize("wraps", [(False, False), (True, True)], ids=["line", "torus"])
@pytest.mark.parametrize("name", SYSTEMS)
def test_lines_follow_links_and_visit_no_chip_twice(name: str, wraps: tuple[bool, bool]) -> None:
    system = SYSTEMS[name]
    for chip in system.chips:
        for direction in range(4):
            first = routes.neighbour(system, wraps, chip, direction)
            line = routes.line_from(system, wraps, chip, direction)
            assert line[:1] == ([] if first is None else [first])
            assert len({chip, *line}) == len(line) + 1, (chip, direction, line)
            for here, there in zip([chip, *line], line, strict=False):
                assert system.links_between(here, there), (here, there)


@pytest.mark.parametrize("wraps", [(False, False), (True, True)], ids=["line", "torus"])
@pytest.mark.parametrize("name", SYSTEMS)
def test_the_first_hop_is_one_nearer(name: str, wraps: tuple[bool, bool]) -> None:
    system = SYSTEMS[name]
    for chip in system.chips:
        assert routes.direction_to(system, wraps, chip, chip) is None
        for other in set(system.chips) - {chip}:
            direction = routes.direction_to(system, wraps, chip, other)
            assert direction is not None
            following = routes.neighbour(system, wraps, chip, direction)
            if following is not None:  # some systems have no links between the ends of rows
                assert (
                    routes.distance(system, wraps, following, other) == routes.distance(system, wraps, chip, other) - 1
                )


def test_the_border_of_a_t3000_is_a_ring() -> None:
    system = SYSTEMS["t3k"]  # 4 0 2 6 above 5 1 3 7
    assert routes.line_from(system, (False, False), 4, EAST) == [0, 2, 6, 7, 3, 1, 5]
    assert routes.line_from(system, (False, False), 4, SOUTH) == [5, 1, 3, 7, 6, 2, 0]
    assert routes.line_from(system, (False, False), 0, SOUTH) == [1]
    assert routes.line_from(system, (False, False), 4, NORTH) == []


def test_rows_of_a_torus_are_rings() -> None:
    system = SYSTEMS["galaxy_torus"]
    row = [system.at((3, column)) for column in range(4)]
    assert routes.line_from(system, (True, True), row[1], EAST) == [row[2], row[3], row[0]]
    assert routes.line_from(system, (True, True), row[1], WEST) == [row[0], row[3], row[2]]


def test_a_link_that_is_down_is_no_connection() -> None:
    system = SYSTEMS["t3k"]
    links = system.links_between(0, 2)
    assert routes.links_towards(system, 0, 2, (), None) == links[:1]  # one of the two is usable
    assert routes.links_towards(system, 0, 2, (links[0],), None) == links[1:]
    assert routes.links_towards(system, 2, 0, (links[0],), None)[0].channel == links[1].other_channel
    assert routes.links_towards(system, 0, 2, links, None) == ()


def one_kernel() -> ttnn.ProgramDescriptor:
    kernel = ttnn.KernelDescriptor(kernel_source="", config=ttnn.WriterConfigDescriptor())
    return ttnn.ProgramDescriptor(kernels=[kernel])


def node(number: int, mesh: int = 0) -> ttnn.FabricNodeId:
    return ttnn.FabricNodeId(mesh, number)


@pytest.mark.parametrize("fabric", ["FABRIC_1D"], indirect=True)
@pytest.mark.usefixtures("fabric")
def test_words_of_a_connection() -> None:
    system = SYSTEMS["t3k"]
    program = ttnn.ProgramDescriptor()
    words = ttnn.setup_fabric_connection(node(0), node(3), 0, program, ttnn.CoreCoord(2, 1))
    assert words == [system.links_between(4, 0)[0].channel, 0, 1]
    assert ttnn.setup_fabric_connection(node(0), node(4), 0, program, ttnn.CoreCoord(2, 1))[1:] == [2, 3]
    assert ttnn.setup_fabric_connection(node(0), node(4), 0, program, ttnn.CoreCoord(2, 2))[1:] == [0, 1]
    assert [semaphore.id for semaphore in program.semaphores] == [0, 1, 2, 3, 0, 1]
    assert ttnn.get_eth_forwarding_direction(node(0), node(7)) == EAST
    assert ttnn.get_eth_forwarding_direction(node(7), node(3)) == NORTH
    assert ttnn.get_eth_forwarding_direction(node(7), node(7)) is None
    assert ttnn.get_forwarding_link_indices(node(0), node(1)) == [0]
    assert ttnn.get_fabric_kernel_defines() == [("API_TYPE_Linear", "1")]
    assert ttnn.fabric_connection_rt_args_size(2) == 8


@pytest.mark.parametrize("fabric", ["FABRIC_2D"], indirect=True)
@pytest.mark.usefixtures("fabric")
def test_words_of_a_connection_manager_in_two_dimensions() -> None:
    system = SYSTEMS["t3k"]
    kernel = ttnn.KernelDescriptor(kernel_source="", config=ttnn.WriterConfigDescriptor())
    program = ttnn.ProgramDescriptor(kernels=[kernel])
    words = ttnn.setup_routing_plane_connection(node(1), [node(3), node(5)], [], program, 0, ttnn.CoreCoord(0, 0))
    east, south = system.links_between(0, 2)[0].channel, system.links_between(0, 1)[0].channel
    assert words == [EAST, east, 0, 1, SOUTH, south, 2, 3, 1, 0, 3, 0, 5, 0]
    assert len(words) == ttnn.fabric_connection_rt_args_size(2)
    assert kernel.defines == [("API_TYPE_Linear", "1"), ("FABRIC_2D", "1")]
    assert ttnn.get_fabric_kernel_defines("Mesh") == [("API_TYPE_Mesh", "1"), ("FABRIC_2D", "1")]


@pytest.mark.parametrize("fabric", ["FABRIC_1D"], indirect=True)
@pytest.mark.usefixtures("fabric")
def test_mistakes_of_connections() -> None:
    program, core = ttnn.ProgramDescriptor(), ttnn.CoreCoord(0, 0)
    with pytest.raises(IndexRangeError, match="there is no chip"):
        ttnn.setup_fabric_connection(node(0), node(8), 0, program, core)
    with pytest.raises(IndexRangeError, match="there is no chip"):
        ttnn.get_eth_forwarding_direction(node(0, 1), node(1))
    with pytest.raises(IndexRangeError, match=r"link 1 from .*; there are 1"):
        ttnn.setup_fabric_connection(node(0), node(1), 1, program, core)
    with pytest.raises(FabricError, match="no direction leads"):
        ttnn.setup_fabric_connection(node(0), node(0), 0, program, core)
    with pytest.raises(ArgumentError, match="ProgramDescriptor"):
        ttnn.setup_fabric_connection(node(0), node(1), 0, None, core)
    with pytest.raises(ArgumentError, match="FabricNodeId"):
        ttnn.get_forwarding_link_indices(0, node(1))
    with pytest.raises(UnsupportedError, match="connections of"):
        ttnn.setup_fabric_connection(node(0), node(1), 0, program, core, ttnn.CoreType.ETH)
    with pytest.raises(ParameterError, match="api_type"):
        ttnn.get_fabric_kernel_defines("Ring")
    with pytest.raises(ParameterError, match="two connections in direction 0"):
        ttnn.compute_fabric_connection_rt_args(node(0), [node(1), node(2)], [], [0, 1], [2, 3])
    with pytest.raises(ParameterError, match="3 link indices for 2"):
        ttnn.compute_fabric_connection_rt_args(node(0), [node(1), node(4)], [0, 0, 0], [0, 1], [2, 3])
    with pytest.raises(ParameterError, match="1 and 2 semaphores for 2"):
        ttnn.compute_fabric_connection_rt_args(node(0), [node(1), node(4)], [], [0], [2, 3])
    with pytest.raises(IndexRangeError, match="kernel 0; the program has 0"):
        ttnn.setup_routing_plane_connection(node(0), [node(1)], [], program, 0, core)
    assert not program.semaphores
    for words in (None, 3, ["x"], [-1], [2**32], [1.5]):
        with pytest.raises(ArgumentError, match="teardown_sem_args must be"):
            ttnn.compute_fabric_connection_rt_args(node(0), [node(1)], [], words, [0])
    with pytest.raises(ArgumentError, match="dst_nodes must be a list"):
        ttnn.fabric_connection_rt_args(node(0), None, [], one_kernel(), 0, core)
    with pytest.raises(ArgumentError, match="connection_link_indices must be a list"):
        ttnn.compute_fabric_connection_rt_args(node(0), [node(1)], 3, [0], [1])
    refused = one_kernel()
    with pytest.raises(IndexRangeError, match="link 1 from"):
        ttnn.fabric_connection_rt_args(node(0), [node(1)], [1], refused, 0, core)
    assert not refused.semaphores
    with pytest.raises(ArgumentError, match="FabricNodeId"):
        ttnn.get_forwarding_link_indices(node(0), np.int64(0))
    for _ in range(8):
        ttnn.setup_fabric_connection(node(0), node(1), 0, program, core)
    with pytest.raises(ParameterError, match="16 semaphores already"):
        ttnn.setup_fabric_connection(node(0), node(1), 0, program, core)


def test_without_a_fabric_there_are_no_connections() -> None:
    assert not FABRIC.is_on
    with pytest.raises(FabricError, match="there is no fabric"):
        ttnn.setup_fabric_connection(node(0), node(1), 0, ttnn.ProgramDescriptor(), ttnn.CoreCoord(0, 0))
