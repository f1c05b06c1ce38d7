"""Names that become paths below a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

import ttnn
from ttnn import database, operation_tracer
from ttnn.base.exceptions import ParameterError
from ttnn.base.paths import is_inside, path_below
from ttnn.compiler.tools.ttrt.util import Artifacts, FileManager, Logger
from ttnn.graph_report import import_report

REFUSED = ["", ".", "..", "/", "/etc", "a/b", "../a", "a/..", "a\0", "a" * 256, "ä" * 128, "\ud800"]


@pytest.mark.parametrize("name", ["a", "...", ".hidden", "a b", "a\\b", "a\n", "ä" * 127, "a" * 255, "~", "-rf"])
def test_name_becomes_a_path_directly_below_the_folder(tmp_path: Path, name: str) -> None:
    path = path_below(tmp_path, name)
    assert path.parent == tmp_path
    assert path.name == name
    path.touch()
    assert [one.name for one in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", REFUSED, ids=ascii)
def test_name_that_is_no_file_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ParameterError, match=r"^store: name: .* cannot be the name of a file below ") as caught:
        path_below(tmp_path, name, "store: name")
    assert len(str(caught.value)) < 400


def test_number_becomes_its_digits() -> None:
    assert path_below("folder", 7) == Path("folder/7")


def test_path_is_inside_a_folder_only_after_links_are_followed(tmp_path: Path) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    (folder / "deep").mkdir(parents=True)
    outside.mkdir()
    (folder / "link").symlink_to(outside)
    assert is_inside(folder / "new" / "file", folder)
    assert is_inside(folder / "deep" / ".." / "file", folder)
    assert not is_inside(folder / ".." / "outside" / "file", folder)
    assert not is_inside(folder / "link" / "file", folder)
    assert not is_inside(folder, folder)
    assert not is_inside(folder / "a\0b", folder)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder in a folder; files next to it are outside."""
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


@pytest.mark.parametrize("name", ["../../up", "/up", "a" * 300, "a\0b", "ttnn::a.b", ""], ids=ascii)
def test_name_of_an_operation_is_no_path_of_a_trace(root: Path, name: str) -> None:
    operation_tracer.serialize_operation_parameters(name, (1,), {}, root)
    (file,) = root.iterdir()
    assert file.suffix == ".json"
    assert [path.name for path in root.parent.iterdir()] == ["root"]


def test_number_of_a_tensor_is_no_path_in_a_report(root: Path) -> None:
    ttnn.dump_tensor(root / "mine.tensorbin", ttnn.ones([1], dtype=ttnn.float32))
    with pytest.raises(ParameterError, match="tensor_id"):
        database.load_tensor_by_id(root / "report", "../../mine")  # type: ignore[arg-type]


def test_name_of_a_database_is_no_path(root: Path) -> None:
    ttnn.graph.begin_graph_capture()
    ttnn.graph.end_graph_capture_to_file(root / "a.json")
    with pytest.raises(ParameterError, match="import_report: db_name"):
        import_report(root / "a.json", root / "report", "../up.sqlite")
    assert sorted(path.name for path in root.iterdir()) == ["a.json"]


def test_prefix_of_a_memory_report_is_no_path(root: Path, device: ttnn.MeshDevice) -> None:
    with ttnn.manage_config("root_report_path", root):
        with pytest.raises(ParameterError, match="prefix"):
            ttnn.device.dump_device_memory_state(device, "../up_")
        ttnn.device.dump_device_memory_state(device, "mine_")
    assert len(list(root.glob("mine_*.csv"))) == 3
    assert [path.name for path in root.parent.iterdir()] == ["root"]


@pytest.mark.parametrize("name", ["..", ".", ""])
def test_name_of_a_binary_is_no_path_of_artifacts(root: Path, name: str) -> None:
    class Binary:
        pass

    binary = Binary()
    binary.name = name  # type: ignore[attr-defined]
    logger = Logger()
    artifacts = Artifacts(logger, FileManager(logger), str(root / "artifacts"))
    artifacts.create_artifacts()
    (root / "mine").touch()
    with pytest.raises(ParameterError, match="name of the binary"):
        artifacts.clean_binary_artifacts(binary)  # type: ignore[arg-type]
    assert sorted(path.name for path in root.iterdir()) == ["artifacts", "mine"]
