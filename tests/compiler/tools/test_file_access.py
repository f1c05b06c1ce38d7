"""Binaries read and write below the working folder by default.

Unless `--allow-files` is given.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ttnn
from ttnn.base.exceptions import FileAccessError
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import ttnn_to_binary
from ttnn.compiler.tools.ttrt.command import Command
from ttnn.compiler.tools.ttrt.perf import Perf
from ttnn.compiler.tools.ttrt.run import Run
from ttnn.compiler.versions import parse_module

torch = pytest.importorskip("torch", reason="ttrt makes inputs with torch")
ttrt = pytest.importorskip("ttrt")

_TENSOR = "tensor<32x32xf32, #far>"
_TEXT = """#dram = #ttnn.buffer_type<dram>
#far = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
func.func @f(%a: TENSOR) -> TENSOR {
  %d = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
  "ttnn.dump_tensor"(%a) <{file_path = "own.tensorbin"}> : (TENSOR) -> ()
  OPERATION
  return %a : TENSOR
}
""".replace("TENSOR", _TENSOR)
_OPERATIONS = {
    "dump": f'"ttnn.dump_tensor"(%a) <{{file_path = "PATH"}}> : ({_TENSOR}) -> ()',
    "load": f'%1 = "ttnn.load_tensor"(%d) <{{file_path = "PATH"}}> : (!ttnn.device) -> {_TENSOR}',
}


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with links to a user's file and folder.

    The file is next to the folder.
    """
    folder = tmp_path / "work"
    (folder / "inner").mkdir(parents=True)
    monkeypatch.chdir(folder)
    ttnn.dump_tensor(tmp_path / "mine.tensorbin", ttnn.ones([32, 32], dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT))
    ttnn.dump_tensor(folder / "here.tensorbin", ttnn.ones([32, 32], dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT))
    (folder / "link.tensorbin").symlink_to(tmp_path / "mine.tensorbin")
    (folder / "up").symlink_to(tmp_path)
    (folder / "dangling.tensorbin").symlink_to(tmp_path / "made.tensorbin")
    return folder


def binary(operation: str, path: str) -> str:
    module = parse_module(_TEXT.replace("OPERATION", _OPERATIONS[operation].replace("PATH", path)), version="2026-08")
    Path("a.ttnn").write_bytes(ttnn_to_binary(module, "0.1.0").to_bytes())
    return "a.ttnn"


def outcome(command: type[Command], **options: object) -> dict[str, object]:
    _, (result,) = command({"binary": "a.ttnn", "--result-file": "", "--ignore-version": True, **options})()
    return result


OUTSIDE = [
    "TMP/mine.tensorbin",
    "../mine.tensorbin",
    "inner/../../mine.tensorbin",
    "link.tensorbin",
    "up/mine.tensorbin",
]


@pytest.mark.parametrize("path", [*OUTSIDE, "TMP/made.tensorbin", "up/made.tensorbin", "dangling.tensorbin"])
@pytest.mark.parametrize("operation", ["dump", "load"])
@pytest.mark.parametrize("command", [Run, Perf])
def test_file_outside_of_the_working_folder_is_refused(
    command: type[Command], operation: str, path: str, work: Path
) -> None:
    named = path.replace("TMP", str(work.parent))
    binary(operation, named)
    before = (work.parent / "mine.tensorbin").read_bytes()
    result = outcome(command)
    assert result["result"] == "error"
    assert repr(named) in str(result["exception"])
    assert "--allow-files" in str(result["exception"])
    assert (work.parent / "mine.tensorbin").read_bytes() == before
    assert sorted(one.name for one in work.parent.iterdir()) == ["mine.tensorbin", "work"]
    # Nothing has run, so that the file before it is not there either.
    assert not (work / "own.tensorbin").exists()


@pytest.mark.parametrize("path", OUTSIDE)
@pytest.mark.parametrize("operation", ["dump", "load"])
def test_allow_files_permits_files_outside_the_working_folder(operation: str, path: str, work: Path) -> None:
    binary(operation, path.replace("TMP", str(work.parent)))
    assert outcome(Run, **{"--allow-files": True})["result"] == "pass"
    ones = bool(np.all(ttnn.to_numpy(ttnn.load_tensor(work.parent / "mine.tensorbin")) == 1))
    assert ones == (operation == "load")


@pytest.mark.parametrize(
    "path", ["here.tensorbin", "./here.tensorbin", "inner/../here.tensorbin", "WORK/here.tensorbin"]
)
@pytest.mark.parametrize("operation", ["dump", "load"])
def test_file_in_the_working_folder_needs_no_switch(operation: str, path: str, work: Path) -> None:
    binary(operation, path.replace("WORK", str(work)))
    assert outcome(Run)["result"] == "pass"


def test_allow_files_is_a_command_line_option(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = binary("dump", "../mine.tensorbin")
    assert ttrt.main(["run", path, "--ignore-version"]) == 1
    assert "--allow-files" in capsys.readouterr().err
    assert ttrt.main(["run", path, "--ignore-version", "--allow-files"]) == 0


def test_python_interface_refuses_as_the_command_does(work: Path) -> None:
    from ttnn.compiler.tools.ttrt import binary as binaries
    from ttnn.compiler.tools.ttrt import runtime

    loaded = binaries.load_binary_from_path(binary("dump", "../mine.tensorbin"))
    device = runtime.open_device([0])
    values = torch.zeros(32, 32)
    tensor = Run._tensor(values)
    try:
        with pytest.raises(FileAccessError, match="allow_files=True"):
            runtime.submit(device, loaded, 0, [tensor], [tensor])
        runtime.submit(device, loaded, 0, [tensor], [tensor], allow_files=True)
    finally:
        runtime.close_device(device)
    assert not np.any(ttnn.to_numpy(ttnn.load_tensor("../mine.tensorbin")))


def without_files(folder: Path) -> str:
    """Store a binary that names no file."""
    text = _TEXT.replace("OPERATION", "").replace('"ttnn.dump_tensor"', '// "ttnn.dump_tensor"')
    (folder / "b.ttnn").write_bytes(ttnn_to_binary(parse_module(text, version="2026-08"), "0.1.0").to_bytes())
    return "b.ttnn"


@pytest.mark.parametrize(
    "link",
    [
        "run_results.json",
        "ttrt-artifacts",
        "ttrt-artifacts/b.ttnn",
        "ttrt-artifacts/b.ttnn/run/program_0/program_0_input_0.pt",
    ],
)
def test_links_in_the_working_folder_are_not_followed(
    link: str, work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = without_files(work)
    outside = work.parent / "outside"
    outside.mkdir()
    (outside / "mine").write_text("mine")
    (work / link).parent.mkdir(parents=True, exist_ok=True)
    (work / link).symlink_to(outside / "mine" if link.endswith((".json", ".pt")) else outside)
    arguments = ["run", path, "--ignore-version", "--save-artifacts"]
    for more in ([], ["--clean-artifacts"]):
        assert ttrt.main([*arguments, *more]) != 0
        assert "--allow-files" in capsys.readouterr().err
    assert [one.name for one in outside.iterdir()] == ["mine"]
    assert (outside / "mine").read_text() == "mine"
    assert ttrt.main([*arguments, "--allow-files"]) == 0


def test_file_named_on_the_command_line_may_be_anywhere(work: Path) -> None:
    elsewhere = work.parent / "elsewhere"
    results = [f"--result-file={work.parent / 'results.json'}", f"--artifact-dir={elsewhere}"]
    assert ttrt.main(["run", without_files(work), "--ignore-version", "--save-artifacts", *results]) == 0
    assert (work.parent / "results.json").exists()
    assert (elsewhere / "b.ttnn" / "run").is_dir()
