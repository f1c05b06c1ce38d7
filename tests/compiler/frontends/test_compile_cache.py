"""Binaries on disk: found again, made again where damaged, off by default."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import ttnn
from ttnn.compiler.frontends import Plan, compile_ttir, device_program

ADD = """func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "ttir.add"(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}"""
VALUES = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TTNN_COMPILE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list of pipelines that have run."""
    runs: list[str] = []
    real = device_program.run

    def run(module: object, pipeline: str) -> None:
        runs.append(pipeline)
        real(module, pipeline)

    monkeypatch.setattr(device_program, "run", run)
    return runs


def check(made: Plan, device: ttnn.MeshDevice, factor: int = 2) -> None:
    (found,) = made(VALUES, device=device)
    assert np.array_equal(found, VALUES * factor)


def test_a_second_plan_is_not_lowered(folder: Path, lowered: list[str], device: ttnn.MeshDevice) -> None:
    first, second = compile_ttir(ADD), compile_ttir(ADD)
    assert len(lowered) == 1
    assert first.binary.to_bytes() == second.binary.to_bytes()
    check(second, device)
    (file,) = folder.iterdir()
    assert file.read_bytes() == first.binary.to_bytes()


def test_other_programs_and_options_are_other_files(folder: Path, lowered: list[str], device: ttnn.MeshDevice) -> None:
    compile_ttir(ADD)
    compile_ttir(ADD, options="enable-const-eval=false")
    product = compile_ttir(ADD.replace("ttir.add", "ttir.subtract"))
    compile_ttir(ADD.replace("tensor<2x3xf32>\n  return", 'tensor<2x3xf32> loc("named")\n  return'))
    assert len(lowered) == len(list(folder.iterdir())) == 4
    check(product, device, 0)


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "another"])
def test_damaged_files_are_made_again(damage: str, folder: Path, lowered: list[str], device: ttnn.MeshDevice) -> None:
    compile_ttir(ADD)
    (file,) = folder.iterdir()
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    other = compile_ttir(ADD.replace("ttir.add", "ttir.subtract")).binary.to_bytes()
    file.write_bytes({"cut": data[:100], "flipped": data, "empty": b"", "another": other}[damage])
    check(compile_ttir(ADD), device)
    assert len(lowered) == 3
    check(compile_ttir(ADD), device)
    assert len(lowered) == 3


def test_nothing_is_written_without_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lowered: list[str]
) -> None:
    monkeypatch.delenv("TTNN_COMPILE_CACHE", raising=False)
    monkeypatch.chdir(tmp_path)
    compile_ttir(ADD)
    compile_ttir(ADD)
    assert len(lowered) == 2
    assert not list(tmp_path.iterdir())
