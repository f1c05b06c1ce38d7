"""The compiled kernel cache: no stale code, repair, sharing.

Damaged files are made again, processes may share it.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import cache_fuzz
import pytest

from ttnn.metal.cpp import cache, compiler, shared, toolchain
from ttnn.metal.cpp.spec import BRISC, Chip, CppSource, KernelSettings

CHIP = Chip("WORMHOLE", ((0, 1), (0, 2)), ((18, 18), (19, 18)), 32, 16)
USES = "void kernel_main() { cb_reserve_back(0, COUNT); }\n"
COUNT = "constexpr uint32_t COUNT = {};\n"


def image(text: str, path: Path, *roots: Path) -> bytes:
    """Return the image as a new process would get it."""
    cache._found.clear()
    path.write_text(text)
    return compiler.compile_kernel(CppSource(path, text, roots), KernelSettings(BRISC, CHIP)).image


def changes(make: Callable[[], bytes], change: Callable[[], object]) -> bool:
    """Return whether a change produces another image."""
    before = make()
    change()
    return before != make()


@pytest.mark.parametrize("name", ["a$b", "a#b", "a\\b", "a b", 'a"b', "a\nb", "a:b", "a'b", "a%b", "äß"])
def test_change_of_a_header_is_noticed_in_any_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    header = folder / "count.h"
    header.write_text(COUNT.format(1))
    path = folder / "kernel.cpp"
    text = '#include "count.h"\n' + USES
    assert changes(lambda: image(text, path), lambda: header.write_text(COUNT.format(2)))


def test_header_that_appears_earlier_on_the_path_is_used(tmp_path: Path) -> None:
    first, second, kernels = (tmp_path / name for name in ("first", "second", "kernels"))
    for folder in (first, second, kernels):
        folder.mkdir()
    (second / "count.h").write_text(COUNT.format(1))

    def make() -> bytes:
        return image("#include <count.h>\n" + USES, kernels / "kernel.cpp", first, second)

    assert changes(make, lambda: (first / "count.h").write_text(COUNT.format(2)))
    assert changes(make, lambda: (kernels / "count.h").write_text(COUNT.format(3)))
    assert changes(make, lambda: (kernels / "count.h").unlink())


def test_header_of_a_header_is_looked_for_again(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "outer.h").write_text('#include "count.h"\n')
    (tmp_path / "count.h").write_text(COUNT.format(1))

    def make() -> bytes:
        return image('#include "sub/outer.h"\n' + USES, tmp_path / "kernel.cpp")

    assert changes(make, lambda: (tmp_path / "sub" / "count.h").write_text(COUNT.format(2)))


@pytest.mark.parametrize("question", ['__has_include("more.h")', "__has_include(<more.h>)", "__has_include(MORE)"])
def test_answer_of_has_include_is_asked_again(tmp_path: Path, question: str) -> None:
    text = f'#define MORE "more.h"\n#if {question}\n{COUNT.format(2)}#else\n{COUNT.format(1)}#endif\n{USES}'
    assert changes(lambda: image(text, tmp_path / "kernel.cpp"), lambda: (tmp_path / "more.h").write_text(""))


@pytest.mark.parametrize("named", ["#include HEADER", "#define S(x) #x\n#define T(x) S(x)\n#include T(count.h)"])
def test_header_named_by_a_macro_is_noticed(tmp_path: Path, named: str) -> None:
    header = tmp_path / "count.h"
    header.write_text(COUNT.format(1))
    text = f'#define HEADER "count.h"\n{named}\n{USES}'
    assert changes(lambda: image(text, tmp_path / "kernel.cpp"), lambda: header.write_text(COUNT.format(2)))


def test_changed_embedded_data_recompiles(tmp_path: Path) -> None:
    data = tmp_path / "data.bin"
    data.write_bytes(b"\x01")
    text = 'constexpr unsigned char values[] = {\n#embed "data.bin"\n};\nconstexpr uint32_t COUNT = values[0];\n' + USES
    assert changes(lambda: image(text, tmp_path / "kernel.cpp"), lambda: data.write_bytes(b"\x02"))


def test_same_size_and_time_are_not_the_same_content(tmp_path: Path) -> None:
    header = tmp_path / "count.h"
    header.write_text(COUNT.format(1))
    text = '#include "count.h"\n' + USES
    before = header.stat()

    def change() -> None:
        header.write_text(COUNT.format(2))
        os.utime(header, ns=(before.st_atime_ns, before.st_mtime_ns))

    make = lambda: compiler.compile_kernel(CppSource(tmp_path / "k.cpp", text), KernelSettings(BRISC, CHIP)).image  # noqa: E731
    assert changes(make, change)


def test_header_that_changes_while_it_is_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    header = tmp_path / "count.h"
    header.write_text(COUNT.format(1))
    text = '#include "count.h"\n' + USES
    run = compiler.run

    def slow(*arguments: object) -> subprocess.CompletedProcess[str]:
        header.write_text(COUNT.format(2))
        return run(*arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(compiler, "run", slow)
        first = image(text, tmp_path / "kernel.cpp")
    assert first != image(text, tmp_path / "kernel.cpp")
    header.write_text(COUNT.format(1))
    assert first == image(text, tmp_path / "kernel.cpp")


def test_environment_is_no_part_of_a_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "more.h").write_text("")
    (tmp_path / "kernels").mkdir()
    text = f'#if __has_include("more.h")\n{COUNT.format(2)}#else\n{COUNT.format(1)}#endif\n{USES}'
    before = image(text, tmp_path / "kernels" / "kernel.cpp")
    monkeypatch.setenv("CPATH", str(tmp_path))
    shutil.rmtree(cache.cache_folder(), ignore_errors=True)
    assert before == image(text, tmp_path / "kernels" / "kernel.cpp")


def test_source_that_was_read_is_compiled(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cpp"
    path.write_text("#error another text\n")
    text = COUNT.format(1) + USES
    assert compiler.compile_kernel(CppSource(path, text), KernelSettings(BRISC, CHIP)).image


def test_time_of_compilation_is_no_part_of_a_kernel(tmp_path: Path) -> None:
    text = "volatile char c;\nvoid kernel_main() { c = __TIME__[c] + __TIMESTAMP__[c] + __DATE__[c]; }\n"
    made = image(text, tmp_path / "kernel.cpp")
    assert b"00:00:00" in made
    assert b"Jan  1 1970" in made


def test_image_names_its_source_and_no_folder_to_work_in(tmp_path: Path) -> None:
    made = image(USES.replace("COUNT", "6"), tmp_path / "kernel.cpp")
    assert str(tmp_path / "kernel.cpp").encode() in made
    assert str(cache.cache_folder() / "work").encode() not in made


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache with one kernel that needs every shared part."""
    return tmp_path_factory.mktemp("cache")


NEEDS_ALL = """#include <algorithm>
volatile float a, b;
void kernel_main() {
    int values[40];
    for (int i = 0; i < 40; ++i) values[i] = i * 37 % 40;
    std::sort(values, values + 40);
    a = a * b + values[3];
}
"""


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        *(("base.pch", "flip"), ("start.o", "truncate"), ("calls.o", "replace"), ("commands.json", "flip")),
        *(("sfpu_functions.h", "extend"), ("refused.h", "delete"), ("sort.o", "flip"), ("*.seal", "delete")),
    ],
)
def test_damaged_shared_part_is_made_again(
    whole: Path, name: str, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TT_METAL_CACHE", str(whole))
    folder = cache.cache_folder()

    def make() -> bytes:
        for kernel in folder.glob("*.kernel"):
            kernel.unlink()
        cache._found.clear()
        return compiler.compile_kernel(CppSource(None, NEEDS_ALL), KernelSettings(BRISC, CHIP)).image

    before = make()
    files = list((folder / f"shared-{shared.shared_name(toolchain.find_toolchain())}").glob(name))
    assert files
    for file in files:
        cache_fuzz.damage(file, damage, random.Random(7))
    assert make() == before
    assert all(cache.is_sound(file) for file in files if file.suffix not in (".seal", ".json"))


@pytest.mark.parametrize("damage", cache_fuzz.DAMAGES)
def test_damaged_image_is_made_again(tmp_path: Path, damage: str) -> None:
    before = image(USES.replace("COUNT", "5"), tmp_path / "kernel.cpp")
    for number, file in enumerate(cache.cache_folder().glob("*.kernel")):
        cache_fuzz.damage(file, damage, random.Random(number))
    assert before == image(USES.replace("COUNT", "5"), tmp_path / "kernel.cpp")


def test_two_processes_share_a_new_cache(tmp_path: Path) -> None:
    script = (
        "import sys, hashlib; from ttnn.metal.cpp import compiler; from ttnn.metal.cpp.spec import *; "
        "chip = Chip('WORMHOLE', ((0, 1), (0, 2)), ((18, 18), (19, 18)), 32, 16); "
        "images = [compiler.compile_kernel(CppSource(None, f'void kernel_main() {{ cb_reserve_back(0, {n}); }}'), "
        "KernelSettings(BRISC, chip)).image for n in range(2)]; print(hashlib.sha256(b''.join(images)).hexdigest())"
    )
    environment = {**os.environ, "TT_METAL_CACHE": str(tmp_path)}
    started = [
        subprocess.Popen([sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    first, second = (process.communicate()[0] for process in started)
    assert first == second != ""
    assert not list((tmp_path / "ttnn-rs-kernels" / "work").iterdir())


def test_work_folder_of_a_dead_process_is_removed(tmp_path: Path) -> None:
    places = tmp_path / "work"
    places.mkdir()
    for name in ("dead", "new", "locked"):
        (places / name).mkdir()
        (places / name / "kernel.s").write_text("")
    for name in ("dead", "locked"):
        os.utime(places / name, (time.time() - 3600,) * 2)
    lock = os.open(places / "locked", os.O_RDONLY)
    cache.fcntl.flock(lock, cache.fcntl.LOCK_EX)
    with cache.work_folder(tmp_path) as work:
        assert {path.name for path in places.iterdir()} == {"new", "locked", work.name}
    os.close(lock)


def test_mutated_caches_never_return_old_code(tmp_path: Path) -> None:
    counts = cache_fuzz.run(tmp_path, 300, seed=3)
    assert counts.lookups == 300
    assert counts.wrong == 0
    assert counts.rebuilt > 0
    assert counts.found > 0
