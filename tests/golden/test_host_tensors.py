"""Host tensors against every array and every note of golden/host/host_tensors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.tensor import files

LAYOUT = {"rm": ttnn.ROW_MAJOR_LAYOUT, "tile": ttnn.TILE_LAYOUT}


@lru_cache(maxsize=1)
def load(folder: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    with np.load(folder / "host" / "host_tensors.npz", allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    return arrays, json.loads((folder / "host" / "host_tensors_meta.json").read_text(encoding="utf-8"))


def dtype_of(name: str) -> ttnn.DataType:
    return ttnn.DataType[name.upper()]


def make(name: str, arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> ttnn.Tensor:
    """Return the tensor whose buffer is the array `bytes/<name>`."""
    parts = name.split("/")
    case = parts[0]
    options: dict[str, Any] = {"layout": ttnn.TILE_LAYOUT}
    source = meta.get(name, {}).get("input", case)
    if case.startswith("tileshape_"):
        options["tile"] = ttnn.Tile(meta[name]["tile"])
    elif case.startswith("pad_value_"):
        options["pad_value"] = float(case.removeprefix("pad_value_"))
    elif case == "col_tilize":
        options["col_tilize"] = True
    elif case == "preserve_nan":
        options["preserve_nan_values"] = True
    elif case == "float_to_int":
        options["layout"] = ttnn.ROW_MAJOR_LAYOUT
    else:
        options["layout"] = LAYOUT[parts[2]]
    dtype = dtype_of(parts[2] if case == "preserve_nan" else parts[1])
    return ttnn.Tensor(arrays[f"in/{source}"], dtype, **options)


def names(arrays: dict[str, np.ndarray], kind: str) -> Iterator[str]:
    return (name.removeprefix(kind + "/") for name in arrays if name.startswith(kind + "/"))


def test_every_buffer_is_equal(golden: Path) -> None:
    arrays, meta = load(golden)
    different = [
        name
        for name in names(arrays, "bytes")
        if not np.array_equal(make(name, arrays, meta)._host, arrays[f"bytes/{name}"])
    ]
    assert different == []


def test_every_decoded_value_is_equal(golden: Path) -> None:
    arrays, meta = load(golden)
    for name in names(arrays, "decoded"):
        listed = np.array(make(name, arrays, meta).to_list(), dtype=np.float32)
        expected = arrays[f"decoded/{name}"]
        assert listed.shape == expected.shape, name
        same = (listed.view(np.uint32) == expected.view(np.uint32)) | (np.isnan(listed) & np.isnan(expected))
        assert same.all(), name


def test_every_shape_padding_and_size_is_equal(golden: Path) -> None:
    arrays, meta = load(golden)
    checked = 0
    for name, note in meta.items():
        if "padded" not in note or name.startswith("padrule/"):
            continue
        tensor = make(name, arrays, meta)
        if "shape" in note:
            assert tensor.shape == note["shape"], name
        assert tensor.padded_shape == note["padded"], name
        assert tensor.spec.raw_bytes == note.get("nbytes", tensor.spec.raw_bytes), name
        assert tensor.tile.get_tile_size(tensor.dtype) == note.get("tile_size", tensor.tile.get_tile_size(tensor.dtype))
        checked += 1
    assert checked > 100


def test_every_padding_rule_is_equal(golden: Path) -> None:
    _, meta = load(golden)
    rules = {name: note for name, note in meta.items() if name.startswith("padrule/")}
    for name, note in rules.items():
        tensor = ttnn.Tensor(np.zeros(note["shape"], np.float32), ttnn.bfloat16, None, LAYOUT[name.split("/")[2]])
        assert tensor.shape == note["shape"], name
        assert tensor.padded_shape == note["padded"], name
        assert (tensor.volume(), tensor.logical_volume()) == (note["volume"], note["logical"]), name
    assert len(rules) == 18


def test_every_converted_number_is_equal(golden: Path) -> None:
    arrays, meta = load(golden)
    for name in ("int32", "uint32", "uint16", "uint8", "int8"):
        assert (
            make(f"float_to_int/{name}", arrays, meta).to_numpy().reshape(-1).tolist()
            == meta[f"float_to_int/{name}"]["values"]
        )


def test_every_refusal_has_the_official_sentence(golden: Path, tmp_path: Path) -> None:
    arrays, meta = load(golden)
    refused = {name: note["error"] for name, note in meta.items() if "error" in note}
    for name, text in refused.items():
        case, dtype, layout = name.split("/")
        tensor = ttnn.Tensor(arrays[f"in/{case}"], dtype_of(dtype), None, LAYOUT[layout])
        with pytest.raises(RuntimeError) as caught:
            ttnn.dump_tensor(tmp_path / "refused.tensorbin", tensor)
        assert text.split("info:\n")[1].strip() in str(caught.value), name
    assert refused


@pytest.mark.parametrize(
    ("note", "dtype", "layout"),
    [
        ("tensorbin", ttnn.bfloat8_b, ttnn.TILE_LAYOUT),
        ("tensorbin_bf16_rm", ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT),
    ],
)
def test_file_headers_are_equal_and_read_back(
    golden: Path, tmp_path: Path, note: str, dtype: ttnn.DataType, layout: ttnn.Layout
) -> None:
    arrays, meta = load(golden)
    header = bytes.fromhex(meta[note]["header_hex"])
    tensor = ttnn.Tensor(arrays["in/randn_40x50"], dtype, None, layout)
    assert files.header_bytes(tensor.spec, tensor.spec.raw_bytes) == header
    path = tmp_path / "official.tensorbin"
    path.write_bytes(header + tensor._host.tobytes())
    loaded = ttnn.load_tensor(path)
    assert loaded.spec == tensor.spec
    assert np.array_equal(loaded._host, tensor._host)
