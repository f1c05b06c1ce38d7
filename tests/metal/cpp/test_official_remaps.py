"""Official kernels that give chips their experts' scores, unchanged."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

import ttnn
from testkit.official_rows import Row, accessor, cb, kernel, needs_wheel, on_chips, parts, row_of

pytestmark = needs_wheel
READER, WRITER = ttnn.ReaderConfigDescriptor(), ttnn.WriterConfigDescriptor()
FOLDER = "data_movement/moe_{}/device/kernels/dataflow"


def same_rows(row: Row, values: npt.NDArray[Any], dtype: ttnn.DataType) -> ttnn.Tensor:
    """Return rows that every chip has."""
    mapper = ttnn.ReplicateTensorToMesh(row.mesh).unwrap()
    return ttnn.Tensor(values, dtype, device=row.mesh, layout=ttnn.ROW_MAJOR_LAYOUT, mesh_mapper=mapper)


def test_weights() -> None:
    """Each of four chips gets two of eight weights."""
    experts, share, datum = 16, 2, 2
    rng = np.random.default_rng(2)
    weights = np.zeros((1, experts), np.float32)
    weights[0, rng.permutation(experts)[: 4 * share]] = rng.standard_normal(4 * share).astype(ml_dtypes.bfloat16)
    with row_of(4, wraps=False) as row:
        x = same_rows(row, weights, ttnn.bfloat16)
        output = ttnn.allocate_tensor_on_device(x.shape, ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, row.mesh)
        page, folder = experts * datum, FOLDER.format("routing_remap")

        def program(place: int) -> ttnn.ProgramDescriptor:
            made = ttnn.ProgramDescriptor(cbs=[cb(0, page, 1), cb(1, 16, 1, ttnn.uint16), cb(2, page, 1)])
            made.kernels = [
                kernel(
                    f"{folder}/reader_moe_routing_remap.cpp",
                    READER,
                    [0, 1, experts, share, datum, *accessor(x)],
                    [x.buffer_address(), place * share],
                ),
                kernel(
                    f"{folder}/writer_moe_routing_remap.cpp",
                    WRITER,
                    [0, 1, 2, experts, share, datum, *accessor(output)],
                    [output.buffer_address()],
                ),
            ]
            return made

        ttnn.generic_op([x, output], on_chips({place: program(place) for place in range(row.chips)}))
        expected = ttnn.moe_routing_remap(x, 4 * share, 4, 1)
        for part, other in zip(parts(output), parts(expected), strict=True):
            np.testing.assert_array_equal(part, other)
            assert np.count_nonzero(part) == share


def test_tokens() -> None:
    """Scores of sixteen tokens, in four groups on one core.

    Four experts of sixteen are chosen for each.
    """
    batch, sequence, experts, chosen, chips, together = 2, 8, 16, 4, 2, 4
    tokens, own = batch * sequence, experts // chips
    rng = np.random.default_rng(4)
    scores = rng.standard_normal((1, batch, sequence, experts)).astype(ml_dtypes.bfloat16).astype(np.float32)
    places = rng.permutation(np.arange(experts) % chips)
    mapping = np.eye(chips, dtype=np.int32)[places].reshape(1, 1, experts, chips)
    # The first tokens choose few experts, so that rows of the second result differ.
    choices = np.stack([rng.permutation(experts if token > 11 else 6)[:chosen] for token in range(tokens)])
    with row_of(chips, wraps=False) as row:
        x = same_rows(row, scores, ttnn.bfloat16)
        m = same_rows(row, mapping, ttnn.uint16)
        e = same_rows(row, choices.reshape(1, batch, sequence, chosen), ttnn.uint16)
        output, reduced = (
            ttnn.allocate_tensor_on_device(ttnn.Shape(shape), dtype, ttnn.ROW_MAJOR_LAYOUT, row.mesh)
            for shape, dtype in (
                ([1, batch, sequence, own], ttnn.bfloat16),
                ([1, 1, tokens // together, own], ttnn.uint16),
            )
        )

        def program(place: int) -> ttnn.ProgramDescriptor:
            made = ttnn.ProgramDescriptor(
                cbs=[
                    *[cb(index, 16, 1, ttnn.uint16) for index in (0, 1, 2, 5)],
                    cb(3, 2 * experts, 2),
                    cb(4, 2 * own, 1),
                ]
            )
            made.kernels = [
                kernel(
                    "ccl/all_to_all_combine/device/kernels/dataflow/reader_all_to_all_combine.cpp",
                    READER,
                    [
                        *[0, 1, 2, 3, own, batch, sequence, experts, place, 2 * experts, chosen, 2 * chips],
                        *[2 * chosen, 1, *accessor(x), *accessor(m), *accessor(e)],
                    ],
                    [m.buffer_address(), e.buffer_address(), x.buffer_address(), 0, tokens],
                ),
                kernel(
                    f"{FOLDER.format('expert_token_remap')}/writer_moe_expert_token_remap.cpp",
                    WRITER,
                    [1, 2, 3, 4, 5, chosen, own, 2 * own, 2, 2 * own, together, *accessor(output), *accessor(reduced)],
                    [output.buffer_address(), 0, tokens, reduced.buffer_address(), 0],
                ),
            ]
            return made

        ttnn.generic_op([x, m, e, output, reduced], on_chips({place: program(place) for place in range(chips)}))
        takes = (choices[:, :, None] == np.arange(experts)).any(1)
        for place in range(chips):
            mine = places == place
            wanted = np.where(takes, scores.reshape(tokens, experts), 0)[:, mine]
            np.testing.assert_array_equal(parts(output)[place].reshape(tokens, own).astype(np.float32), wanted)
            any_of = takes[:, mine].reshape(-1, together, own).any(1)
            np.testing.assert_array_equal(parts(reduced)[place].reshape(-1, own), any_of)
