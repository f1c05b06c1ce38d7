"""`tensor[...]` on the host and on a device, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.base.exceptions import ArgumentError, IndexRangeError, ShapeError

VALUES = np.arange(2 * 33 * 40, dtype=np.float32).reshape(2, 33, 40) % 256

INDICES: list[Any] = [
    0,
    -1,
    np.int64(1),
    slice(None),
    slice(1, 2),
    (0, 5),
    (0, 5, -40),
    (slice(None), slice(3, 20)),
    (..., 7),
    (1, ...),
    (0, ..., slice(-8, None)),
    (slice(0, 99), slice(-5, 99)),
    (slice(None), slice(30, 10)),
    ...,
]


@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_indexing_a_host_tensor_matches_numpy(index: Any, layout: ttnn.Layout) -> None:
    found = ttnn.Tensor(VALUES, ttnn.bfloat16, None, layout)[index]
    assert found.shape == list(VALUES[index].shape)
    assert found.layout is layout
    assert np.array_equal(found.to_numpy().astype(np.float32), VALUES[index])


@pytest.mark.parametrize("index", [*INDICES[:12], (slice(None), slice(None, None, 2)), (0, slice(1, 9, 3))], ids=repr)
def test_indexing_a_device_tensor_matches_numpy(device: ttnn.MeshDevice, index: Any) -> None:
    found = ttnn.Tensor(VALUES, ttnn.bfloat16, device, ttnn.ROW_MAJOR_LAYOUT)[index]
    assert found.shape == list(VALUES[index].shape)
    assert np.array_equal(found.to_numpy().astype(np.float32), VALUES[index])


def test_iteration_goes_through_indexing() -> None:
    rows = list(ttnn.Tensor(VALUES[0, :3], ttnn.float32))
    assert [row.to_list() for row in rows] == VALUES[0, :3].tolist()


def test_block_floats_keep_their_values() -> None:
    whole = ttnn.Tensor(VALUES, ttnn.bfloat8_b)
    assert np.array_equal(whole[1, 3:9, 16:].to_numpy(), whole.to_numpy()[1, 3:9, 16:])


@pytest.mark.parametrize(
    ("index", "error", "text"),
    [
        (
            2,
            IndexRangeError,
            "Tensor[]: index 2 does not exist\ninfo:\n"
            "Index 2 (converted to 2) is out of bounds for dimension 0 of size 2",
        ),
        (
            (0, -34),
            IndexRangeError,
            "Tensor[]: index -34 does not exist\ninfo:\n"
            "Index -34 (converted to -1) is out of bounds for dimension 1 of size 33",
        ),
        (
            (0, 0, 0, 0),
            IndexRangeError,
            "Tensor[]: 4 indices for 3 dimensions\ninfo:\nToo many indices for tensor of dimension 3",
        ),
        (
            (..., 0, ...),
            ShapeError,
            "Tensor[]: two ellipses are ambiguous\ninfo:\nOnly one ellipsis ('...') is allowed in a slice.",
        ),
        (
            None,
            ArgumentError,
            "Tensor[]: an index must be an int, a slice or ..., got None\ninfo:\n'NoneType' object is not iterable",
        ),
        (True, ArgumentError, "Tensor[]: an index must be an int, a slice or ..., got True"),
        ([0, 1], ArgumentError, "Tensor[]: an index must be an int, a slice or ..., got [0, 1]"),
        (slice(0, 1, 0), ShapeError, "Tensor[]: the step of a slice must not be 0"),
        (slice(None, None, -1), ShapeError, "Tensor[]: the step of a slice must be positive, got -1"),
        (
            slice("a", None),
            ArgumentError,
            "Tensor[]: start, stop and step of a slice must be ints, got slice('a', None, None)",
        ),
        (
            slice(None, None, 2),
            ShapeError,
            "Tensor[]: slices of host tensors have step 1; move the tensor to a device, or index its numpy array\n"
            "info:\nHost tensors cannot be accessed with non-unit stride",
        ),
    ],
)
def test_wrong_arguments_raise_errors(index: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        ttnn.Tensor(VALUES, ttnn.bfloat16)[index]
    assert str(caught.value) == text


def test_refusals_are_the_classes_that_programs_catch() -> None:
    tensor = ttnn.Tensor(VALUES)
    for index, kind in ((2, IndexError), ((..., ...), ValueError), (None, TypeError), (slice(0, 2, 2), RuntimeError)):
        with pytest.raises(kind):
            tensor[index]
