"""Printing, devices' figures, addresses and work splits against golden/host/host_behaviour.json, all of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.device.coordinates import MeshCoordinate

CHIPS = ("n150", "p150")


@pytest.fixture
def behaviour(golden: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((golden / "host" / "host_behaviour.json").read_text(encoding="utf-8"))
    return loaded


@pytest.fixture(autouse=True)
def _default_print_options() -> Iterator[None]:
    yield
    ttnn.set_printoptions()


@pytest.fixture(params=CHIPS)
def chip(request: pytest.FixtureRequest, behaviour: dict[str, Any]) -> Iterator[tuple[ttnn.MeshDevice, dict[str, Any]]]:
    device = ttnn.open_device(device_id=0, chip=request.param)
    yield device, behaviour["devices"][request.param]
    ttnn.close_device(device)


def printed_tensor(name: str, note: dict[str, Any]) -> ttnn.Tensor:
    dtype, layout = re.search(r"dtype=DataType::(\w+), layout=Layout::(\w+)\)$", note["default"]).groups()
    shape = note["shape"]
    if isinstance(note["values"], str):
        # The recorded note says "arange-like": the printed values are those of an arange, sevenths for the matrices.
        values = np.arange(np.prod(shape), dtype=np.float32)
        if name in ("big_2d", "big_tile_bf16"):
            values = values / np.float32(7)
    else:
        values = np.array(note["values"], dtype=np.float64)
        values = values.astype(np.float32 if "FLOAT" in dtype else np.int64)
    return ttnn.Tensor(values.reshape(shape), ttnn.DataType[dtype], None, ttnn.Layout[layout])


def test_every_printed_tensor_is_equal(behaviour: dict[str, Any]) -> None:
    for name, note in behaviour["printing"].items():
        tensor = printed_tensor(name, note)
        for profile in ("default", "short", "full"):
            if profile in note:
                ttnn.set_printoptions(profile="short" if profile == "default" else profile)
                assert str(tensor) == note[profile], (name, profile)
        for options, text in note.get("options", {}).items():
            ttnn.set_printoptions(**json.loads(options))
            assert str(tensor) == text, (name, options)
        ttnn.set_printoptions()


def test_a_device_tensor_prints_the_same(behaviour: dict[str, Any], device: ttnn.MeshDevice) -> None:
    for name, note in behaviour["printing"].items():
        assert str(printed_tensor(name, note).to(device)) == note["default"], name


def test_grids_and_alignments_are_equal(chip: tuple[ttnn.MeshDevice, dict[str, Any]]) -> None:
    device, note = chip
    grid, dram = device.compute_with_storage_grid_size(), device.dram_grid_size()
    assert str(device.arch()) == note["arch"]
    assert [grid.x, grid.y] == note["grid"]
    assert [dram.x, dram.y] == note["dram_grid"]
    with ttnn.manage_config("arch_name", device.chip["arch_name"]):
        assert ttnn.get_l1_alignment() == note["l1_alignment"]
        assert ttnn.get_dram_alignment() == note["dram_alignment"]
        assert ttnn.get_max_worker_l1_unreserved_size() == note["max_worker_l1_unreserved"]
    assert ttnn.get_allocator_base_address(device, ttnn.BufferType.DRAM) == note["base_dram"]
    assert ttnn.get_allocator_base_address(device, ttnn.BufferType.L1) == note["base_l1"]


def test_coordinates_are_equal(chip: tuple[ttnn.MeshDevice, dict[str, Any]]) -> None:
    device, note = chip
    for text, expected in note["worker_coords"].items():
        logical = ttnn.CoreCoord(*map(int, text.split(",")))
        virtual = device.worker_core_from_logical_core(logical)
        assert [virtual.x, virtual.y] == expected
        assert device.logical_core_from_worker_core(virtual) == logical
    banks = [device.dram_core_from_logical_core(ttnn.CoreCoord(bank, 0)) for bank in range(note["dram_grid"][0])]
    assert [[core.x, core.y] for core in banks] == note["dram_cores"]


@pytest.mark.parametrize("number", [0, 1])
def test_cores_next_to_dram_banks_are_equal(chip: tuple[ttnn.MeshDevice, dict[str, Any]], number: int) -> None:
    device, note = chip
    noc = (ttnn.NOC.RISCV_0_default, ttnn.NOC.RISCV_1_default)[number]
    found = device.get_optimal_dram_bank_to_logical_worker_assignment(noc, MeshCoordinate(0, 0))
    cores = [found[bank] for bank in sorted(found)]
    assert [[core.x, core.y] for core in cores] == note[f"optimal_dram_workers_noc{number}"]


def test_addresses_are_equal(chip: tuple[ttnn.MeshDevice, dict[str, Any]]) -> None:
    device, note = chip
    tensors = []
    for step in note["allocation_sequence"]:
        dtype, layout, buffer = (step[key].split(".")[1] for key in ("dtype", "layout", "buffer"))
        config = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.INTERLEAVED, ttnn.BufferType[buffer])
        tensor = ttnn.allocate_tensor_on_device(
            step["shape"], ttnn.DataType[dtype], ttnn.Layout[layout], device, config
        )
        tensors.append(tensor)
        found = {
            "address": tensor.buffer_address(),
            "page": tensor.buffer_page_size(),
            "aligned_page": tensor.buffer_aligned_page_size(),
            "pages": tensor.buffer_num_pages(),
        }
        assert found == {key: step[key] for key in found}, step
    second = tensors[1]
    spec = second.spec
    ttnn.deallocate(second)
    again = ttnn.allocate_tensor_on_device(spec, device)
    assert again.buffer_address() == note["realloc_after_free_second"]


def test_work_splits_are_equal(behaviour: dict[str, Any]) -> None:
    checked = 0
    for note in behaviour["devices"].values():
        for text, expected in note["split_work_to_cores"].items():
            grid, units, order = text.split(",")
            x, y = map(int, grid.split("x"))
            found = ttnn.split_work_to_cores(ttnn.CoreCoord(x, y), int(units), order == "row")
            assert [part if isinstance(part, int) else repr(part) for part in found] == expected, text
            checked += 1
    assert checked == 84


def test_nothing_of_the_record_is_left_out(behaviour: dict[str, Any]) -> None:
    assert set(behaviour) == {"printing", "devices"}
    assert set(behaviour["devices"]) == set(CHIPS)
    known = {"arch", "grid", "dram_grid", "l1_alignment", "dram_alignment", "max_worker_l1_unreserved", "base_dram"}
    known |= {"base_l1", "worker_coords", "dram_cores", "optimal_dram_workers_noc0", "optimal_dram_workers_noc1"}
    known |= {"allocation_sequence", "realloc_after_free_second", "split_work_to_cores"}
    for note in behaviour["devices"].values():
        assert set(note) == known
