"""Changed parameter caches: read as before, or remade with warning.

Somebody has changed them.

`python tests/model_preprocessing/mutated_caches.py 100000` tries as many changes; the test suite tries a sample.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import ttnn
from ttnn.base.exceptions import TtnnError
from ttnn.model_preprocessing import ParameterDict, preprocess_model

NAME = "model"


class Small(torch.nn.Module):
    """A model with parameters of every kind that the cache stores."""

    def __init__(self, seed: int = 3) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.linear = torch.nn.Linear(2, 3)
        self.conv = torch.nn.Conv2d(1, 2, 1)
        self.blocks = torch.nn.ModuleList([torch.nn.LayerNorm(2)])

    def forward(self, x: Any) -> Any:
        return self.conv(x)


def plain(value: Any) -> Any:
    """Return a tree as data that can be compared."""
    if isinstance(value, ParameterDict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, ttnn.Tensor):
        return str(value.dtype), str(value.layout), tuple(value.shape), ttnn.to_torch(value).float().tolist()
    if isinstance(value, torch.Tensor):
        return str(value.dtype), tuple(value.shape), value.tolist(), isinstance(value, torch.nn.Parameter)
    return type(value).__name__, dict(value)


class Counted:
    """Makes the model, and counts how often."""

    def __init__(self) -> None:
        self.count = 0
        self.model = Small()

    def __call__(self) -> Small:
        self.count += 1
        return self.model


def preprocess(initialize: Callable[[], Any] | None, version: str = "1", name: str = NAME) -> Any:
    return preprocess_model(
        model_name=name,
        version=version,
        initialize_model=initialize,
        run_model=lambda model: model(torch.zeros(1, 1, 4, 4)),
        convert_to_ttnn=lambda module, name: name.startswith(("linear", "blocks")),
    )


class _Warnings(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _replaced(path: Path) -> None:
    """Remove what is there, whatever it is."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _flip(path: Path, chance: random.Random, outside: Path) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 1, 1, 8))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def _truncate(path: Path, chance: random.Random, outside: Path) -> None:
    os.truncate(path, chance.randrange(path.stat().st_size))


def _extend(path: Path, chance: random.Random, outside: Path) -> None:
    with path.open("ab") as file:
        file.write(chance.randbytes(chance.randrange(1, 9)))


def _delete(path: Path, chance: random.Random, outside: Path) -> None:
    path.unlink()


def _swap(path: Path, chance: random.Random, outside: Path) -> None:
    other = chance.choice([one for one in path.parents[0].rglob("*") if one.is_file() and one != path])
    spare = path.with_name("spare")
    path.rename(spare)
    other.rename(path)
    spare.rename(other)


def _folder(path: Path, chance: random.Random, outside: Path) -> None:
    _replaced(path)
    path.mkdir()
    if chance.random() < 0.5:
        (path / "file").write_text("more")


def _pipe(path: Path, chance: random.Random, outside: Path) -> None:
    _replaced(path)
    os.mkfifo(path)


def _link(path: Path, chance: random.Random, outside: Path) -> None:
    _replaced(path)
    path.symlink_to(chance.choice([outside, outside / "file", outside / "missing", path, Path("/dev/zero")]))


def _sparse(path: Path, chance: random.Random, outside: Path) -> None:
    os.truncate(path, 1 << chance.randrange(20, 40))


def _hostile(path: Path, chance: random.Random, outside: Path) -> None:
    """Change a manifest with a fitting digest, as an attacker would."""
    if path.name != "manifest.json":
        return _flip(path, chance, outside)
    content = json.loads(path.read_text())["content"]
    places: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            places.append((value, key))
            if isinstance(item, dict | list):
                walk(item)

    walk(content)
    holder, key = chance.choice(places)
    values = [None, -1, 1 << 70, 1.5, "", "..", "../../outside", "/", "a\0", [], {}, ["dict", []], ["tensor"], "torch"]
    holder[key] = chance.choice(values)
    digest = hashlib.sha256(json.dumps(content).encode()).hexdigest()
    path.write_text(json.dumps({"content": content, "sha256": digest}))
    return None


FILE_CHANGES = (_flip, _truncate, _extend, _delete, _swap, _folder, _pipe, _link, _sparse, _hostile)


def _whole(model: Path, chance: random.Random, outside: Path) -> str:
    """Change folders instead of a file."""
    data = next(model.glob("data-*"))
    kind = chance.choice(["data", "model", "part", "extra", "old", "junk", "other"])
    if kind in ("data", "model"):
        chance.choice((_folder, _pipe, _link))(data if kind == "data" else model, chance, outside)
    elif kind == "part":
        shutil.copytree(data, model / "part-1")
        (model / "data-0").symlink_to(outside)
        (model / "part-2").symlink_to(outside)
        (model / "manifest.json").unlink()
    elif kind == "other":
        _replaced(model)
        model.with_name("other").rename(model)
    elif kind == "extra":
        (data / "9.bin").write_bytes(b"more")
        (model / "file").write_bytes(b"more")
    elif kind == "old":
        _replaced(model)
        (model / "layer").mkdir(parents=True)
        for name in ("version.txt", "weight.pt", "layer/a.conv2d_module_args", "layer/mine.txt"):
            (model / name).write_bytes(b"cos\nsystem\n(S'touch outside'\ntR.")
        (model / "layer" / "b.tensorbin").symlink_to(outside / "file")
    else:
        (model / "manifest.json").write_text("[" * 100_000)
    return kind


def run(count: int, seed: int = 0) -> Counter[str]:
    """Try changes of a cache; return how they ended.

    Raises:
        AssertionError: one ended otherwise than it may.
    """
    chance, ends = random.Random(seed), Counter[str]()
    log, seen = logging.getLogger("ttnn"), _Warnings()
    before, log.propagate = log.propagate, False
    log.addHandler(seen)
    with contextlib.ExitStack() as stack:
        stack.callback(setattr, log, "propagate", before)
        stack.callback(log.removeHandler, seen)
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        root, kept, outside = place / "models", place / "kept", place / "outside"
        (outside / "deep").mkdir(parents=True)
        (outside / "file").write_text("mine")
        (outside / "deep" / "data-0").write_text("mine")
        there = _contents(outside)
        stack.enter_context(ttnn.manage_config("model_cache_path", root))
        stack.enter_context(ttnn.manage_config("enable_model_cache", True))
        initialize = Counted()
        right = plain(preprocess(initialize))
        preprocess(lambda: Small(seed=4), name="other")
        shutil.copytree(root, kept)
        for number in range(count):
            _replaced(root)
            shutil.copytree(kept, root)
            model = root / NAME
            if chance.random() < 0.2:
                what = _whole(model, chance, outside)
            else:
                change = chance.choice(FILE_CHANGES)
                path = chance.choice([one for one in sorted(model.rglob("*")) if one.is_file()])
                change(path, chance, outside)
                what = change.__name__
            initialize.count, seen.lines = 0, []
            where = f"seed {seed}, change {number} ({what})"
            try:
                tree = plain(preprocess(initialize))
            except TtnnError:
                # A whole manifest may describe a tree that the package refuses.
                assert what == "_hostile", where
                ends["refused"] += 1
                continue
            # A manifest whose digest was made to fit is another cache, of another version or with another tree.
            assert tree == right or (what == "_hostile" and not initialize.count), f"{where}: another tree"
            # An empty folder is no damage.
            assert bool(initialize.count) == bool(seen.lines) or what in ("model", "_hostile"), f"{where}: no warning"
            assert _contents(outside) == there, f"{where}: a file outside has changed"
            if what != "model" and initialize.count and seen.lines:
                assert len(seen.lines) == 1, f"{where}: {seen.lines}"
                assert plain(preprocess(None)) == right, f"{where}: not mended"
            ends["made anew" if initialize.count else "read"] += 1
    return ends


if __name__ == "__main__":
    print(dict(run(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, int(sys.argv[2]) if len(sys.argv) > 2 else 0)))
