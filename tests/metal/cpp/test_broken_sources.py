"""Broken C++ kernels: expected message and line per file.

The first line of each file has the message.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ttnn
from testkit.parts import add_cb, tiles_buffer
from ttnn import metal
from ttnn.base import exceptions

FOLDER = Path(__file__).parent / "broken"
CASES = sorted(FOLDER.glob("*.cpp"))
ENOUGH = 30
CORE = metal.CoreCoord(0, 0)


def build(device: ttnn.MeshDevice, path: Path) -> metal.Program:
    """Return a one-kernel program.

    Arguments are a buffer of 4 tiles, 1, and 20; common is 0.
    """
    program = metal.create_program()
    for index in (0, 16):
        add_cb(program, index)
    metal.create_semaphore(program, CORE, 0)
    is_compute = "\n// compute\n" in path.read_text(encoding="utf-8")
    config = metal.ComputeConfig() if is_compute else metal.DataMovementConfig()
    kernel = metal.create_kernel(program, path, CORE, config)
    buffer = tiles_buffer(device, 4)
    buffer.write(np.zeros(4 * 2048, np.uint8))
    metal.assign_global_buffer_to_program(buffer, program)
    metal.set_runtime_args(program, kernel, CORE, [buffer, 1, 20])
    metal.set_common_runtime_args(program, kernel, [0])
    return program


def test_at_least_the_promised_broken_sources_are_tested() -> None:
    assert len(CASES) >= ENOUGH


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_broken_source_raises_its_error(device: ttnn.MeshDevice, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTNN_KERNEL_LIMIT", "2000000")
    lines = path.read_text(encoding="utf-8").splitlines()
    name, _, text = lines[0].removeprefix("// ").partition(": ")
    marked = [number for number, line in enumerate(lines, 1) if line.endswith("// bug")]
    program = build(device, path)
    with pytest.raises(getattr(exceptions, name)) as caught:
        metal.run_program(device, program)
    error = caught.value
    assert type(error).__name__ == name
    assert text in str(error)
    if not marked:
        return
    assert f"{path.name}:{marked[0]}" in str(error)
    if isinstance(error, ttnn.KernelError):
        assert (error.file, error.line) == (str(path), marked[0])


@pytest.mark.parametrize("name", ["argument_type", "compile_time_argument", "missing_semicolon"])
def test_error_in_a_source_text_has_its_line(device: ttnn.MeshDevice, name: str) -> None:
    text = (FOLDER / f"{name}.cpp").read_text(encoding="utf-8")
    line = next(number for number, line in enumerate(text.splitlines(), 1) if line.endswith("// bug"))
    program = metal.create_program()
    metal.create_kernel_from_string(program, text, CORE, metal.DataMovementConfig())
    with pytest.raises(ttnn.KernelCompileError, match=text.splitlines()[0].partition(": ")[2]) as caught:
        metal.run_program(device, program)
    assert caught.value.line == line


def test_a_cache_that_cannot_be_made_is_named(
    device: ttnn.MeshDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TT_METAL_CACHE", str(tmp_path / "file"))
    program = metal.create_program()
    metal.create_kernel_from_string(program, "void kernel_main() {}", CORE, metal.DataMovementConfig())
    with pytest.raises(ttnn.KernelCompileError, match="file/ttnn-rs-kernels, cannot be made: Not a directory"):
        metal.run_program(device, program)
