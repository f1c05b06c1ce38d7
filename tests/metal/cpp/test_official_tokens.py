"""Official kernels that send tokens to chips of their experts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pytest

import ttnn
from testkit.official_rows import (
    CORE,
    Row,
    accessor,
    addresses,
    cb,
    kernel,
    needs_wheel,
    on_chips,
    parts,
    row_of,
    semaphores,
)

pytestmark = needs_wheel
CHIPS, EXPERTS, CHOSEN, BATCH, SEQUENCE, HIDDEN = 4, 8, 3, 2, 3, 96
TOKENS = BATCH * SEQUENCE
READER = ttnn.DataMovementConfigDescriptor(ttnn.DataMovementProcessor.RISCV_1, ttnn.NOC.NOC_1)
WRITER = ttnn.DataMovementConfigDescriptor(ttnn.DataMovementProcessor.RISCV_0, ttnn.NOC.NOC_0)
ROW_MAJOR = ttnn.ROW_MAJOR_LAYOUT


@pytest.fixture(params=[ttnn.FabricConfig.FABRIC_1D, ttnn.FabricConfig.FABRIC_2D], ids=["1D", "2D"])
def row(request: pytest.FixtureRequest) -> Iterator[Row]:
    # The writer of `all_to_all_dispatch` sends indices from pages of a circular buffer that it has popped.
    with (
        ttnn.manage_config("watcher", False),
        row_of(CHIPS, wraps=False, fabric=request.param, system="galaxy_torus") as row,
    ):
        yield row


def aligned(size: int) -> int:
    return -(-size // 32) * 32


class Tokens:
    """Tokens of all chips, their experts, and the chips of these."""

    def __init__(self, row: Row) -> None:
        random = np.random.default_rng(7)
        self.row = row
        self.values = random.standard_normal((CHIPS * BATCH, 1, SEQUENCE, HIDDEN)).astype(np.float32)
        chosen = [random.permutation(EXPERTS)[:CHOSEN] for _ in range(CHIPS * TOKENS)]
        self.chosen = np.array(chosen, np.uint16).reshape(CHIPS * BATCH, 1, SEQUENCE, CHOSEN)
        self.owners = np.arange(EXPERTS) % CHIPS
        mapping = (self.owners[:, None] == np.arange(CHIPS)).astype(np.uint16)[None, None]
        mapper = ttnn.ShardTensorToMesh(row.mesh, 0)
        self.x = ttnn.from_torch(self.values, ttnn.bfloat16, layout=ROW_MAJOR, device=row.mesh, mesh_mapper=mapper)
        self.indices = ttnn.from_torch(self.chosen, ttnn.uint16, layout=ROW_MAJOR, device=row.mesh, mesh_mapper=mapper)
        self.mapping = ttnn.from_torch(
            mapping, ttnn.uint16, layout=ROW_MAJOR, device=row.mesh, mesh_mapper=ttnn.ReplicateTensorToMesh(row.mesh)
        )

    def filled(self, shape: Sequence[int], dtype: ttnn.DataType) -> ttnn.Tensor:
        values = np.zeros(shape, np.float32 if dtype is ttnn.bfloat16 else np.uint16)
        mapper = ttnn.ReplicateTensorToMesh(self.row.mesh)
        return ttnn.from_torch(values, dtype, layout=ROW_MAJOR, device=self.row.mesh, mesh_mapper=mapper)

    def sent(self, chip: int) -> npt.NDArray[np.float32]:
        """Return all tokens, zeros for those that a chip lacks."""
        here = (self.owners[self.chosen] == chip).any(axis=-1)[..., None]
        return np.where(here, bfloat16(self.values), 0)


def bfloat16(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def defines(row: Row, place: int, axis: str) -> list[tuple[str, str]]:
    """Return the chips of the mesh, and the directions of the connections."""
    nodes = [row.node(chip) for chip in range(CHIPS)]
    ways = [row.neighbour(place, step) is not None for step in (1, -1)] + [False, False]
    lists = {
        "DEST_CHIP_ID": [node.chip_id for node in nodes],
        "DEST_MESH_ID": [node.mesh_id for node in nodes],
        "DIRECTIONS": [int(way) for way in ways],
    }
    return [(axis, "1"), *((name, "{" + ", ".join(map(str, values)) + "}") for name, values in lists.items())]


def connections(row: Row, place: int, program: ttnn.ProgramDescriptor) -> list[int]:
    neighbours = [other for step in (1, -1) if (other := row.neighbour(place, step)) is not None]
    words = (ttnn.setup_fabric_connection(row.node(place), row.node(other), 0, program, CORE) for other in neighbours)
    return [word for connection in words for word in connection]


def topology(row: Row) -> int:
    one = ttnn.get_fabric_config() is ttnn.FabricConfig.FABRIC_1D
    return int((ttnn.Topology.Linear if one else ttnn.Topology.Mesh).value)


def dispatch_program(
    tokens: Tokens, outputs: list[ttnn.Tensor], kept: list[int], place: int, *, by_page: bool
) -> ttnn.ProgramDescriptor:
    """Return the program of a chip.

    Args:
        tokens: Tokens and experts.
        outputs: Tokens and indices of all chips.
        kept: Semaphores of the end and the start.
        place: The chip.
        by_page: Whether indices are written to the output page by page.
    """
    row, node = tokens.row, tokens.row.node(place)
    tensors = [tokens.x, tokens.indices, tokens.mapping, *outputs]
    sizes = [2 * HIDDEN, 2 * CHOSEN, 2 * CHIPS, 2 * HIDDEN, 2 * CHOSEN]
    rows = [TOKENS, TOKENS, EXPERTS, CHIPS * TOKENS, CHIPS * TOKENS]
    fixed = [
        *[0, 1, 2, 3, 4, *rows, *sizes, CHIPS, HIDDEN, CHIPS * BATCH, CHOSEN, EXPERTS, TOKENS, 1, topology(row)],
        *[node.mesh_id, node.chip_id, 1, CHIPS, *map(aligned, sizes)],
        *[ttnn.get_tt_fabric_max_payload_size_bytes(), 16, 5, by_page, place],
    ]
    for tensor in tensors:
        fixed += accessor(tensor)
    header = ttnn.get_tt_fabric_packet_header_size_bytes()
    program = ttnn.ProgramDescriptor(
        cbs=[
            cb(0, aligned(sizes[0]), 2),
            cb(1, aligned(sizes[1]), TOKENS, ttnn.uint16),
            cb(2, aligned(sizes[2]), EXPERTS, ttnn.uint16),
            cb(3, header, 2, ttnn.uint32),
            cb(4, TOKENS, CHIPS, ttnn.uint8),
            cb(5, aligned(sizes[1]), TOKENS * CHIPS, ttnn.uint16),
        ]
    )
    names = defines(row, place, "AXIS")
    where = [tensor.buffer_address() for tensor in tensors]
    folder = "ccl/all_to_all_dispatch/device/kernels/dataflow"
    program.kernels = [
        kernel(
            f"{folder}/reader_all_to_all_dispatch.cpp",
            READER,
            fixed,
            [*where, kept[0], 0, TOKENS],
            defines=names[:1],
        ),
        kernel(
            f"{folder}/writer_all_to_all_dispatch.cpp",
            WRITER,
            fixed,
            [*where, *kept, 0, TOKENS, *connections(row, place, program)],
            defines=names,
        ),
    ]
    return program


@pytest.mark.parametrize("by_page", [True, False], ids=["pages", "packets"])
def test_dispatch(row: Row, by_page: bool) -> None:
    tokens = Tokens(row)
    kept = semaphores(row, 2)
    for seed in (None, 2):
        outputs = [
            tokens.filled((1, CHIPS * BATCH, SEQUENCE, HIDDEN), ttnn.bfloat16),
            tokens.filled((1, CHIPS * BATCH, SEQUENCE, CHOSEN), ttnn.uint16),
        ]
        programs = {
            place: dispatch_program(tokens, outputs, addresses(kept), place, by_page=by_page) for place in range(CHIPS)
        }
        with ttnn.manage_config("fabric_shuffle", seed):
            ttnn.generic_op([tokens.x, tokens.indices, tokens.mapping, *outputs], on_chips(programs))
        for chip, (values, metadata) in enumerate(zip(*map(parts, outputs), strict=True)):
            np.testing.assert_array_equal(values.reshape(tokens.sent(chip).shape), tokens.sent(chip))
            np.testing.assert_array_equal(metadata.reshape(tokens.chosen.shape), tokens.chosen)
