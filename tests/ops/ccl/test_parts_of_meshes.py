"""Collectives of tensors that are on a part of their mesh."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import ttnn
from testkit.meshes import by_chip, different, same, semaphores
from ttnn.base.exceptions import DeviceError

Array = np.ndarray


def part(tensor: ttnn.Tensor, chips: list[int]) -> ttnn.Tensor:
    parts = ttnn.get_device_tensors(tensor)
    return ttnn.combine_device_tensors(tensors=[parts[chip] for chip in chips])


@pytest.mark.parametrize("kept", [True, False], ids=["program cache", "without"])
@pytest.mark.parametrize("chips", [[1, 2], [5, 6], [4, 5, 6, 7], [0, 1, 4, 5]], ids=str)
def test_a_part_gives_what_a_mesh_of_its_size_gives(line: ttnn.MeshDevice, chips: list[int], kept: bool) -> None:
    x = different(line, (1, 1, 64, 256))
    y = part(x, chips)
    if not kept:
        line.disable_and_clear_program_cache()
    rows = [[chip for chip in chips if chip // 4 == row] for row in (0, 1)]
    values = by_chip(y)
    of_chip = {chip: values[number] for number, chip in enumerate(chips)}
    groups = {chip: next(row for row in rows if chip in row) for chip in chips}
    for _ in range(2):
        gathered = ttnn.all_gather(y, 3, cluster_axis=1)
        assert same(by_chip(gathered), [np.concatenate([of_chip[c] for c in groups[chip]], 3) for chip in chips])
        sums = by_chip(ttnn.all_reduce(y, cluster_axis=1))
        assert len(sums) == len(chips)
        for chip, total in zip(chips, sums, strict=True):
            exact = sum(of_chip[c] for c in groups[chip])
            assert np.abs(total - exact).max() < 0.1
        every = ttnn.all_broadcast(y, cluster_axis=1)
        assert [same(by_chip(t), [of_chip[groups[c][n]] for c in chips]) for n, t in enumerate(every)] == [True] * len(
            every
        )
        last = ttnn.MeshCoordinate(chips[-1] // 4, chips[-1] % 4)
        sent = by_chip(ttnn.broadcast(y, last, cluster_axis=1))
        assert same(sent, [of_chip[groups[chip][-1]] for chip in chips])
        odd = part(different(line, (1, 1, 33, 40 * len(groups[chips[0]]))), chips)
        assert [tuple(each.shape) for each in by_chip(ttnn.reduce_scatter(odd, 3, cluster_axis=1))] == [
            (1, 1, 33, 40)
        ] * len(chips)
        two = semaphores(line, 2)
        padded = ttnn.experimental.neighbor_pad_async(y, [2], [1], [0], "zeros", [1], two[:1], two[:1])
        for chip, block in zip(chips, by_chip(padded), strict=True):
            place = groups[chip].index(chip)
            before = of_chip[groups[chip][place - 1]][:, :, -1:] if place else np.zeros((1, 1, 1, 256))
            assert np.array_equal(block, np.concatenate([before, of_chip[chip]], 2))


def test_chips_that_are_no_range_raise(line: ttnn.MeshDevice) -> None:
    y = part(different(line, (1, 1, 32, 128)), [0, 5])
    with pytest.raises(ttnn.StorageError, match="2 of 8 chips"):
        ttnn.all_gather(y, 3, cluster_axis=1)
    x, output = different(line, (1, 1, 32, 128)), part(different(line, (1, 1, 32, 512)), [0, 1])
    with pytest.raises(ttnn.StorageError, match="the output is not on chips"):
        ttnn.all_gather(x, 3, cluster_axis=1, output_tensor=output)


@pytest.mark.parametrize(
    "call", [ttnn.add, ttnn.matmul, lambda a, b: ttnn.concat([a, b], 3)], ids=["add", "matmul", "concat"]
)
def test_tensors_without_a_common_chip(line: ttnn.MeshDevice, call: Callable[..., ttnn.Tensor]) -> None:
    x = different(line, (1, 1, 32, 32))
    first, second = part(x, [0, 1]), part(x, [4, 5])
    with pytest.raises(DeviceError, match=r"^ttnn\.\w+: no chip of the mesh has all tensors"):
        call(first, second)
    assert same(by_chip(call(first, first))[:1], [by_chip(call(x, x))[0]])


@pytest.mark.parametrize("chips", [list(range(8)), [1, 2]], ids=["mesh", "part"])
def test_a_capture_without_dispatch_follows_the_chips(line: ttnn.MeshDevice, chips: list[int]) -> None:
    x = part(different(line, (1, 1, 32, 128)), chips)
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
    gathered = ttnn.all_gather(ttnn.softmax(ttnn.add(x, x), -1), 3, cluster_axis=1)
    assert (tuple(gathered.shape), gathered.buffers[0].places) == (
        (1, 1, 32, 512 if len(chips) == 8 else 256), x.buffers[0].places
    )  # fmt: skip
    ttnn.graph.end_graph_capture()
    assert len(by_chip(ttnn.exp(x))) == len(chips)
