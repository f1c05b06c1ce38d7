"""The command line: exit codes, JSON on stdout, progress on stderr."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ttnn.base.config import CONFIG
from ttnn.cli import main
from ttnn.cli.common.terminal import MissingPackage, Table, Terminal, require
from ttnn.cli.common.ulp import chip_error, ulp_error
from ttnn.cli.demo import arithmetic
from ttnn.cli.goldens.walk import compare

COMPACT = Path(__file__).resolve().parents[1] / "golden" / "data"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_module_runs_as_a_program() -> None:
    done = subprocess.run([sys.executable, "-m", "ttnn", "info", "--json"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["versions"]["python"]


@pytest.mark.parametrize("module", [("-m", "ttnn"), ("-mttnn",)], ids=" ".join)
@pytest.mark.parametrize(
    ("variable", "value", "text"),
    [
        ("TTNN_THREADS", "0", "ConfigError: environment variable TTNN_THREADS: CONFIG.threads: "),
        ("ARCH_NAME", "x", "ConfigError: environment variable ARCH_NAME: CONFIG.arch_name: "),
        ("TTNN_CONFIG_OVERRIDES", "{", "ConfigError: configuration from TTNN_CONFIG_OVERRIDES: not JSON: "),
        ("TTNN_CONFIG_OVERRIDES", '{"enable_graph_report": 1}', "ConfigError: CONFIG.enable_graph_report: "),
    ],
)
def test_wrong_variables_are_a_line_and_exit_with_2(
    module: tuple[str, ...], variable: str, value: str, text: str
) -> None:
    """A program that imports the package gets the exception: test_config.py."""
    environment = os.environ | {variable: value}
    done = subprocess.run(
        [sys.executable, *module, "info"], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"ttnn: {text}")
    assert done.stderr.count("\n") == 1


def test_info_shows_device_host_switches_versions(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "info")
    assert code == 0
    for word in ("wormhole_b0", "TTNN_NUMERICS", "exact", "cpu level", "threads", "numpy", "n150", "p150"):
        assert word in out


def test_info_json_has_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "info", "--json")
    content = json.loads(out)
    assert code == 0
    assert set(content) == {"device", "memory", "host", "switches", "versions", "chips"}
    assert content["switches"]["TTNN_NUMERICS"] == "exact"
    assert set(content["chips"]) >= {"n150", "n300", "p100", "p150", "p300"}


@pytest.mark.parametrize("arguments", [(), ("nonsense",), ("info", "--nonsense")])
def test_wrong_usage_exits_with_2(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "usage: python -m ttnn" in capsys.readouterr().err


@pytest.mark.parametrize("command", [("demo",), ("bench",), ("sweep", "exp")], ids=lambda command: command[0])
@pytest.mark.parametrize("name", ["absent/x.png", "x.txt", "x", "", "folder.png"])
def test_pictures_that_cannot_be_written_are_refused_before_the_work(
    command: tuple[str, ...], name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(SystemExit) as stop:
        main([*command, "--output", str(tmp_path / name)])
    assert stop.value.code == 2
    assert "argument --output: " in capsys.readouterr().err


@pytest.mark.parametrize("existing", [False, True])
def test_pictures_that_may_not_be_written_are_refused_before_the_work(
    existing: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = tmp_path / "x.png"
    if existing:
        picture.touch()
    asked = []
    # Whoever runs the tests may be allowed to write everywhere.
    monkeypatch.setattr(os, "access", lambda path, mode: asked.append((path, mode)))
    with pytest.raises(SystemExit) as stop:
        main(["sweep", "exp", "--output", str(picture)])
    assert stop.value.code == 2
    assert asked == [(picture if existing else tmp_path, os.W_OK)]
    assert f"argument --output: {picture} may not be written" in capsys.readouterr().err


def test_goldens_counts_per_file(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "goldens", str(COMPACT), "--only", "fpu/unpack", "--json")
    (report,) = json.loads(out)["files"]
    assert code == 0
    assert report["file"] == "fpu/unpack.npz"
    assert report["equal_arrays"] == 14
    assert report["different_values"] == 0
    assert "goldens: " in err


def test_goldens_exits_with_1_on_a_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with np.load(COMPACT / "fpu" / "unpack.npz") as archive:
        arrays = dict(archive)
    arrays["bf16_to_src__src19"] = arrays["bf16_to_src__src19"].copy()
    arrays["bf16_to_src__src19"][1, 2, 3] ^= 1
    (tmp_path / "fpu").mkdir()
    np.savez(tmp_path / "fpu" / "unpack.npz", **arrays)
    code, out, _ = run(capsys, "goldens", str(tmp_path))
    assert code == 1
    assert "bf16_to_src__src19: 1 of 2048 values differ, first at [1, 2, 3]" in out


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("fpu/unpack.npz", b"no archive"),
        ("fpu/unpack.npz", {"bf16_to_src__l1": np.array([None])}),
        ("fpu/matmul_bf16.npz", {"k1_dst16": np.zeros(4, np.uint16)}),
        ("sfpu/exp.npz", {"without_a_mode": np.zeros(4, np.uint16)}),
        ("ops/matmul.npz", {"meta": np.frombuffer(b"no JSON", np.uint8)}),
    ],
)
def test_goldens_names_a_file_that_it_cannot_read(
    name: str, content: bytes | dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.parent.mkdir()
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.savez(path, **content)
    code, out, err = run(capsys, "goldens", str(tmp_path))
    assert code == 1
    assert f"ttnn: FileFormatError: goldens: {name} does not hold what its README describes: " in err
    assert out == ""


def test_goldens_names_a_file_that_is_missing_beside_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "host").mkdir()
    np.savez(tmp_path / "host" / "host_tensors.npz", **{"bytes/x": np.zeros(4, np.uint8)})
    code, out, err = run(capsys, "goldens", str(tmp_path))
    assert (code, out) == (1, "")
    assert "host_tensors_meta.json cannot be read: No such file" in err


@pytest.mark.parametrize("name", ["fpu/matmul.npz", "host/others.npz", "sfpu/no_function.npz", "ops/others.npz"])
def test_goldens_counts_what_no_checker_knows(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / name).parent.mkdir()
    np.savez(tmp_path / name, **{"default__bf16.out": np.zeros(4, np.uint16)})
    code, out, _ = run(capsys, "goldens", str(tmp_path), "--json")
    (report,) = json.loads(out)["files"]
    assert code == 0
    assert list(report["uncovered"]) == ["default__bf16.out"]


def test_goldens_takes_the_folder_of_one_family(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "goldens", str(COMPACT / "fpu"), "--only", "unpack", "--json")
    (report,) = json.loads(out)["files"]
    assert code == 0
    assert report["equal_arrays"] == 14


def _of_a_chip(folder: Path, arch: str, board: str) -> None:
    """Write an `arch.json`, and vectors of this chip's own unpacker."""
    (folder / "fpu").mkdir(parents=True)
    (folder / "arch.json").write_text(json.dumps({"arch": arch, "board": board}), encoding="utf-8")
    codes = np.arange(1024, dtype=np.uint32).astype(np.uint8).reshape(1, 1024)
    wide = codes.astype(np.uint32)
    ones = np.uint32(0xFF) * ((codes & 0x7F) == 0x7F) * (arch == "blackhole")
    words = wide >> 7 << 18 | (wide & 0x7F) << 8 | ones
    faces = words.reshape(1, 2, 2, 16, 16).transpose(0, 1, 3, 2, 4).reshape(1, 32, 32)
    arrays = {"fp8_e5m2_to_src__l1": codes, "fp8_e5m2_to_src__src19": faces.astype(np.uint32)}
    np.savez(folder / "fpu" / "unpack.npz", **arrays)


def test_goldens_compare_with_the_chip_of_the_nearest_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _of_a_chip(tmp_path, "wormhole_b0", "n300")
    _of_a_chip(tmp_path / "others", "blackhole", "p100")
    code, out, _ = run(capsys, "goldens", str(tmp_path), "--json")
    reports = json.loads(out)["files"]
    assert [(report["file"], report["arch"], report["different_values"]) for report in reports] == [
        ("fpu/unpack.npz", "wormhole_b0", 0),
        ("others/fpu/unpack.npz", "blackhole", 0),
    ]
    assert code == 0
    code, out, _ = run(capsys, "goldens", str(tmp_path))
    assert "wormhole_b0: 1,024 values equal, 0 different; 0 arrays not covered" in out
    assert "blackhole: 1,024 values equal, 0 different; 0 arrays not covered" in out
    assert "2,048 values equal, 0 different; 0 arrays not covered" in out
    # A folder inside is for the chip above it.
    (tmp_path / "arch.json").unlink()
    code, out, _ = run(capsys, "goldens", str(tmp_path / "others" / "fpu"), "--json")
    assert [report["arch"] for report in json.loads(out)["files"]] == ["blackhole"]
    (tmp_path / "others" / "arch.json").unlink()
    code, out, _ = run(capsys, "goldens", str(tmp_path / "others"), "--json")
    (report,) = json.loads(out)["files"]
    assert (code, report["arch"], report["different_values"]) == (1, "wormhole_b0", 8)


@pytest.mark.parametrize(
    "facts", [[], {}, {"arch": "grayskull", "board": "n150"}, {"arch": "blackhole", "board": "n150"}]
)
def test_goldens_of_no_chip_are_refused(facts: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _of_a_chip(tmp_path, "blackhole", "p150")
    (tmp_path / "arch.json").write_text(json.dumps(facts), encoding="utf-8")
    code, out, err = run(capsys, "goldens", str(tmp_path))
    assert (code, out) == (1, "")
    assert "arch.json names no chip; expected arch and board, wormhole_b0, blackhole and one of its boards" in err


def test_goldens_say_what_they_looked_for(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "goldens", str(COMPACT), "--only", "fpv", "--only", "sfpv/")
    assert (code, out) == (2, "")
    assert err == (
        f"ttnn: goldens: no .npz files of fpu, sfpu, host, ops, ccl whose name begins with fpv or sfpv/ in {COMPACT}\n"
    )


def test_goldens_are_not_compared_with_fast_numerics(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CONFIG, "numerics", "fast")
    code, out, err = run(capsys, "goldens", str(COMPACT), "--only", "fpu/unpack")
    assert (code, out) == (2, "")
    assert err == "ttnn: goldens: vectors are for the exact mode; set TTNN_NUMERICS=exact, not fast\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that takes nothing")
def test_what_cannot_be_written_is_an_error_of_one_line() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ttnn", "info"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr == "ttnn: info: [Errno 28] No space left on device\n"


@pytest.mark.parametrize("stream", ["1", "2"])
def test_a_closed_stream_is_no_error(stream: str) -> None:
    command = f'"{sys.executable}" -m ttnn info {stream}>&-'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_goldens_without_a_folder_exits_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CONFIG, "golden", None)
    assert run(capsys, "goldens") == (2, "", "ttnn: goldens: pass the folder of the vectors, or set TTNN_GOLDEN\n")
    absent = tmp_path / "absent"
    assert run(capsys, "goldens", str(absent)) == (2, "", f"ttnn: goldens: {absent}: not a folder\n")
    assert run(capsys, "goldens", str(tmp_path))[0] == 2


def demo(capsys: pytest.CaptureFixture[str], picture: Path, *arguments: str) -> dict[str, Any]:
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    code, out, _ = run(capsys, "demo", "--json", "--output", str(picture), *arguments)
    assert code == 0
    content: dict[str, Any] = json.loads(out)
    return content


def test_demo_gives_the_same_table_and_picture_on_every_thread_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], host_threads: None
) -> None:
    first = demo(capsys, tmp_path / "1.png", "--threads", "1")
    second = demo(capsys, tmp_path / "2.png", "--threads", "2")
    for content in (first, second):
        del content["host_seconds"], content["picture"]
    assert first == second
    assert (tmp_path / "1.png").read_bytes() == (tmp_path / "2.png").read_bytes()
    assert len(first["table"]) == 12
    best = next(row for row in first["table"] if (row["dtype"], row["fidelity"]) == ("bfloat16", "HiFi4"))
    assert best["accuracy"] == pytest.approx(first["float64_accuracy"], abs=0.01)
    assert best["pcc"] > 0.999


def test_missing_package_names_the_extra() -> None:
    with pytest.raises(MissingPackage, match=r'the demo needs no_such_package: pip install "ttnn-rs\[demo\]"'):
        require("no_such_package.part", extra="demo", purpose="the demo")


def test_plain_table_aligns_columns() -> None:
    table = Table("title", ("name", "count"), left=frozenset({"name"}))
    table.rows.extend([("a", "1"), ("long name", "1,000")])
    assert table.text().splitlines() == [
        "title",
        "name       count",
        "---------  -----",
        "a              1",
        "long name  1,000",
    ]


def test_a_wide_table_is_cut_into_parts_that_name_their_rows() -> None:
    table = Table("title", ("name", "first", "second", "third"), left=frozenset({"name"}))
    table.rows.extend([("a", "1", "22", "333"), ("b", "4444444444", "5", "6")])
    assert table.parts(37) == [table]
    parts = table.parts(24)
    assert [part.text().splitlines() for part in parts] == [
        ["title", "name       first", "----  ----------", "a              1", "b     4444444444"],
        ["name  second  third", "----  ------  -----", "a         22    333", "b          5      6"],
    ]
    assert [part.columns for part in table.parts(1)] == [["name", "first"], ["name", "second"], ["name", "third"]]
    assert Table("", ("first", "second"), [("1", "2")]).parts(1) == [Table("", ("first", "second"), [("1", "2")])]


def test_a_terminal_gets_the_parts_that_fit_it() -> None:
    program = (
        "from ttnn.cli.common.terminal import Table, Terminal\n"
        "names = [f'column {i}' for i in range(20)]\n"
        "Terminal(json=False).table(Table('', ['name', *names], [['row', *names]], frozenset({'name'})))\n"
    )
    screen, terminal = os.openpty()
    os.set_blocking(screen, False)
    environment = os.environ | {"COLUMNS": "60", "TERM": "dumb"}
    subprocess.run([sys.executable, "-c", program], stdout=terminal, env=environment, check=True)
    lines = os.read(screen, 1 << 16).decode().splitlines()
    os.close(terminal)
    os.close(screen)
    assert max(map(len, lines)) <= 60
    assert all(sum(f"column {i} " in f"{line} " for line in lines) == 2 for i in range(20))


def test_progress_in_a_pipe_is_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with Terminal(json=True).progress("job", 2) as progress:
        progress.advance("first")
        progress.advance("second")
    assert capsys.readouterr().err == "job: 2/2 second\n"


def test_compare_reports_the_first_difference() -> None:
    expected = np.array([[1, 2], [3, 4]], np.uint16)
    assert compare("x", expected, expected) is None
    difference = compare("x", expected, np.array([[1, 2], [0, 0]], np.uint16))
    assert str(difference) == "x: 2 of 4 values differ, first at [1, 0]: expected 0x3, got 0x0"
    assert "shape" in str(compare("x", expected, expected[0]))


def test_compare_of_floats_tells_zeros_apart_but_not_nans() -> None:
    expected = np.array([0.0, np.nan], np.float32)
    assert compare("x", expected, np.array([0.0, -np.nan], np.float32)) is None
    difference = compare("x", expected, np.array([-0.0, np.nan], np.float32))
    assert difference is not None
    assert difference.different == 1


def test_exp_of_the_demo_is_accurate() -> None:
    x = np.linspace(-60.0, 0.0, 1001)
    assert np.max(np.abs(arithmetic.exp(x) / np.exp(x) - 1.0)) < 1e-15 * 8


def test_matmul_of_the_demo_adds_in_order() -> None:
    left = np.array([[1e8, 1.0, -1e8]], np.float32)
    right = np.ones((3, 1), np.float32)
    assert arithmetic.matmul(left, right)[0, 0] == 0.0  # 1e8 + 1 rounds to 1e8 in float32


@pytest.mark.parametrize(("got", "ulps"), [(1.0, 0.0), (1.0 + 2**-7, 1.0), (0.0, 128.0)])
def test_ulp_error_counts_bfloat16_steps(got: float, ulps: float) -> None:
    assert ulp_error(np.array([got], np.float32), np.array([1.0])) == pytest.approx([ulps])


def test_chip_error_knows_what_the_chip_cannot_write() -> None:
    exact = np.array([1e-39, 1e39, -1e39, np.nan, np.inf, 1.0])
    got = np.array([0.0, np.inf, -np.inf, np.inf, np.inf, 1.0], np.float32)
    assert chip_error(got, exact, "bfloat16").tolist() == [0.0] * 6
    assert np.isinf(chip_error(np.array([np.inf], np.float32), np.array([1.0]), "bfloat16")[0])
    assert chip_error(np.array([1.0], np.float32), np.array([np.inf]), "bfloat16")[0] > 100
