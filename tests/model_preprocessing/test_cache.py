"""Model parameter cache: damage, names, several and dying processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ttnn
from ttnn.base.exceptions import ParameterError

torch = pytest.importorskip("torch")
from mutated_caches import NAME, Counted, plain, preprocess, run  # noqa: E402

from ttnn import model_preprocessing as mp  # noqa: E402
from ttnn.model_preprocessing.cache import ParameterCache, _lock  # noqa: E402


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Path]:
    root = tmp_path / "models"
    root.mkdir()
    with ttnn.manage_config("model_cache_path", root), ttnn.manage_config("enable_model_cache", True):
        yield root


def data(cache: Path) -> Path:
    (found,) = (cache / NAME).glob("data-*")
    return found


def test_a_lost_weight_file_rebuilds_the_cache(cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    initialize = Counted()
    right = plain(preprocess(initialize))
    lost = data(cache) / "2.tensorbin"
    lost.unlink()
    with pytest.raises(ParameterError, match=r"has no parameters of version '1'.*2\.tensorbin.*give initialize_model"):
        preprocess(None)
    assert plain(preprocess(initialize)) == right
    assert initialize.count == 2
    (line,) = caplog.messages
    assert f"the cached parameters of '{NAME}' are made anew" in line
    assert str(lost) in line
    assert plain(preprocess(None)) == right


@pytest.mark.parametrize("name", ["", ".", "..", "a\0", "a" * 256], ids=ascii)
def test_a_model_name_that_is_no_file_name_is_refused(cache: Path, name: str) -> None:
    preprocess(Counted())
    mine = cache.parent / "mine.txt"
    mine.write_text("mine")
    with pytest.raises(ParameterError, match=r"model_name: .* cannot be the name of a file"):
        mp.preprocess_model(model_name=name, version="1", initialize_model=Counted())
    assert mine.read_text() == "mine"
    assert plain(preprocess(None)) == plain(preprocess(None))


def test_a_path_as_model_name_stays_below_the_cache(cache: Path) -> None:
    for name in ("../up", "/etc/model"):
        mp.preprocess_model(model_name=name, version="1", initialize_model=Counted())
    assert sorted(path.name for path in cache.iterdir()) == [".._up", "_etc_model"]
    assert [path.name for path in cache.parent.iterdir()] == [cache.name]


def test_names_of_parameters_are_no_paths(cache: Path) -> None:
    tensor = ttnn.from_torch(torch.ones(1, 2), dtype=ttnn.bfloat16)
    names: list[Any] = ["../up", "/etc", "", ".", "1", 1, "a.b", "a", "a\0", "version", "x" * 300, "\ud800"]
    tree = {name: {"weight": tensor} for name in names}
    options: dict[str, Any] = {"model_name": NAME, "version": "1", "custom_preprocessor": lambda model, name: tree}
    mp.preprocess_model(initialize_model=Counted(), **options)
    after = mp.preprocess_model(**options)
    assert list(after) == names
    assert plain(after) == plain(mp.make_parameter_dict(tree))
    assert [path.name for path in cache.parent.iterdir()] == [cache.name]


def test_every_torch_tensor_comes_back_as_it_was(cache: Path) -> None:
    values = {
        "bfloat16": torch.tensor([1.5, float("nan"), -0.0], dtype=torch.bfloat16),
        "number": torch.tensor(3, dtype=torch.int64),
        "empty": torch.zeros(0, 3, dtype=torch.float16),
        "transposed": torch.arange(6.0).reshape(2, 3).T,
        "bits": torch.tensor([True, False]),
        "conjugate": torch.tensor([1 + 2j]).conj(),
        "parameter": torch.nn.Parameter(torch.ones(2), requires_grad=False),
    }
    options: dict[str, Any] = {"model_name": NAME, "version": "1", "custom_preprocessor": lambda model, name: values}
    mp.preprocess_model(initialize_model=Counted(), **options)
    after = mp.preprocess_model(**options)
    for name, value in values.items():
        assert after[name].dtype == value.dtype, name
        assert type(after[name]) is type(value), name
        torch.testing.assert_close(after[name], value, rtol=0, atol=0, equal_nan=True, msg=name)
    assert not after.parameter.requires_grad
    values["number"] = torch.eye(2).to_sparse()
    with pytest.raises(ParameterError, match="number is a Tensor, which the cache cannot hold"):
        mp.preprocess_model(initialize_model=Counted(), **options | {"version": "2"})


def test_files_of_an_earlier_format_are_removed_and_never_read(cache: Path) -> None:
    folder = cache / NAME
    (folder / "layer").mkdir(parents=True)
    (folder / "version.txt").write_text("1")
    (folder / "layer" / "mine.txt").write_text("mine")
    for name in ("weight.pt", "layer/ttnn_module_args.conv2d_module_args"):
        # A pickle that makes a folder.
        (folder / name).write_bytes(b"cos\nmkdir\n(V" + str(cache / "made").encode() + b"\ntR.")
    initialize = Counted()
    right = plain(preprocess(initialize))
    assert initialize.count == 1
    assert plain(preprocess(None)) == right
    assert [path.name for path in cache.iterdir()] == [NAME]
    kept = sorted(path.relative_to(folder).parts[0].partition("-")[0] for path in folder.iterdir())
    assert kept == ["data", "layer", "manifest.json"]
    assert (folder / "layer" / "mine.txt").read_text() == "mine"


def test_a_cache_that_cannot_be_written_gives_the_tree(cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    (cache / NAME).write_text("mine")
    right = plain(mp.preprocess_model(initialize_model=Counted(), model_name="other", version="1"))
    assert plain(mp.preprocess_model(initialize_model=Counted(), model_name=NAME, version="1")) == right
    assert (cache / NAME).read_text() == "mine"
    assert "no folder" in caplog.messages[0]
    assert "are not cached" in caplog.messages[1]


_DIES = """
import os, signal, sys
from mutated_caches import Counted, preprocess
from ttnn.model_preprocessing import cache, cache_values
import ttnn
ttnn.CONFIG.model_cache_path, ttnn.CONFIG.enable_model_cache = sys.argv[1], True
kind, name = {"files": (cache_values.Writer, "_path"), "publish": (cache.ParameterCache, "_clean")}[sys.argv[2]]
inner = getattr(kind, name)
calls = []
def die(self, *arguments):
    calls.append(1)
    if len(calls) == 3 or name == "_clean":
        os.kill(os.getpid(), signal.SIGKILL)
    return inner(self, *arguments)
setattr(kind, name, die)
preprocess(Counted(), "2")
"""


@pytest.mark.parametrize("place", ["files", "publish"])
def test_a_killed_process_leaves_a_whole_version(cache: Path, place: str) -> None:
    right = plain(preprocess(Counted(), "1"))
    ended = subprocess.run([sys.executable, "-c", _DIES, str(cache), place], check=False, env=os.environ | _SOURCES)
    assert ended.returncode == -signal.SIGKILL
    whole = "1" if place == "files" else "2"
    assert plain(preprocess(None, whole)) == right
    assert len(list((cache / NAME).iterdir())) == 3
    # The next version removes what the dead process left.
    preprocess(Counted(), "3")
    assert sorted(path.name.partition("-")[0] for path in (cache / NAME).iterdir()) == ["data", "manifest.json"]


def test_the_part_of_a_living_process_stays(cache: Path) -> None:
    preprocess(Counted())
    part = cache / NAME / "part-1"
    part.mkdir()
    held = _lock(part)
    preprocess(Counted(), "2")
    assert part.exists()
    os.close(held)
    preprocess(Counted(), "3")
    assert not part.exists()


def test_the_old_version_stays_until_the_new_one_is_there(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = plain(preprocess(Counted(), "1"))
    made = ParameterCache._clean

    def clean(self: ParameterCache, current: str) -> None:
        assert plain(preprocess(None, "2")) == right
        assert len(list(self.folder.glob("data-*"))) == 2
        made(self, current)

    monkeypatch.setattr(ParameterCache, "_clean", clean)
    preprocess(Counted(), "2")


_SHARES = """
import sys
from mutated_caches import Counted, plain, preprocess
import ttnn
ttnn.CONFIG.model_cache_path, ttnn.CONFIG.enable_model_cache = sys.argv[1], True
initialize = Counted()
right = plain(preprocess(initialize))
for number in range(40):
    assert plain(preprocess(initialize, str(number % 2))) == right
"""
_SOURCES = {"PYTHONPATH": str(Path(__file__).parent)}


def test_two_processes_share_a_cache(cache: Path) -> None:
    command = [sys.executable, "-c", _SHARES, str(cache)]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | _SOURCES) for _ in range(2)]
    # A warning would be on standard error.
    assert [one.communicate()[1] for one in both] == ["", ""]
    assert [one.returncode for one in both] == [0, 0]
    assert sorted(path.name.partition("-")[0] for path in (cache / NAME).iterdir()) == ["data", "manifest.json"]


def test_changed_caches_are_read_right_or_made_anew() -> None:
    ends = run(400, seed=1)
    assert ends["made anew"] > 300
    assert ends["read"] > 5


def test_the_cache_of_another_model_is_made_anew(cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    right = plain(preprocess(Counted()))
    preprocess(Counted(), name="other")
    (cache / NAME).rename(cache / "spare")
    (cache / "other").rename(cache / NAME)
    assert plain(preprocess(Counted())) == right
    assert "holds the parameters of the model 'other'" in caplog.text
