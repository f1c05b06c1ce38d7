"""Every text ends soon: in a module, or in one diagnostic.

The diagnostic has a place.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from testkit.exponential_texts import DOUBLED, LONG, NESTED, NUMBERS, USE, aliases, attribute, grown
from ttnn.compiler.ir import CompileError
from ttnn.compiler.limits import DEPTH, PASSES
from ttnn.compiler.pipelines import run
from ttnn.compiler.pipelines.runner import parse_pipeline
from ttnn.compiler.tools.opt import main
from ttnn.compiler.transforms.options import OptionError
from ttnn.compiler.versions import parse_module, print_module

COUNT = int(os.environ.get("TTNN_COMPILER_MUTATIONS", "200"))


def refusal(text: str) -> str:
    """Return a text's only diagnostic, located and short."""
    begin = time.process_time()
    with pytest.raises(CompileError) as error:
        parse_module(text, "m.mlir", allow_unregistered=True)
    assert time.process_time() - begin < 5
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.line
    assert diagnostic.column
    assert len(str(diagnostic)) < 3_000
    assert "invalid text" not in diagnostic.message
    return diagnostic.message


def printed(text: str) -> str:
    """Return a module as it is written, with locations."""
    return print_module(parse_module(text, "m.mlir", allow_unregistered=True), debuginfo=True)


@pytest.mark.parametrize("name", DOUBLED)
def test_exponential_aliases_are_refused(name: str) -> None:
    assert "with its aliases written out" in refusal(DOUBLED[name])


@pytest.mark.parametrize("name", NESTED)
def test_deep_nesting_is_refused_at_the_level_of_the_limit(name: str) -> None:
    assert refusal(NESTED[name]) == f"nested more than {DEPTH} levels deep"


@pytest.mark.parametrize("message", NUMBERS)
def test_large_numbers_and_long_expressions_are_refused(message: str) -> None:
    assert message in refusal(NUMBERS[message])


@pytest.mark.parametrize("name", LONG)
def test_long_texts_are_read_and_written_in_linear_time(name: str) -> None:
    begin = time.process_time()
    if name == "properties":
        assert "Duplicate key" in refusal(LONG[name])
    else:
        text = printed(LONG[name])
        assert printed(text) == text
    assert time.process_time() - begin < 6


@pytest.mark.parametrize(
    "text",
    [
        attribute("[", DEPTH - 8, "]"),
        attribute("tuple<", DEPTH - 8, ">", "i1"),
        '"u.x"() : () -> () loc(' + "fused[" * (DEPTH - 8) + "unknown" + "]" * (DEPTH - 8) + ")",
        '"u.x"() ({' * (DEPTH - 8) + "}) : () -> ()" * (DEPTH - 8),
        aliases(DEPTH - 8, "[@]", "1 : i32") + USE.format(f"#a{DEPTH - 9}"),
        aliases(12, "[@, @]", "1 : i32") + USE.format("#a11"),
        aliases(12, "loc(fused[@, @])", 'loc("x")') + '"u.x"() : () -> () loc(#a11)\n',
        USE.format("affine_map<(d0) -> (d0" + " floordiv 3 + d0 mod 5" * 30 + ")>"),
        USE.format("tensor<" + "1x" * 64 + "f32>"),
        USE.format("9" * 1_000 + " : index"),
    ],
)
def test_texts_within_the_limits_round_trip(text: str) -> None:
    once = printed(text)
    assert printed(once) == once


def test_shared_locations_are_printed_once() -> None:
    text = printed(aliases(12, "loc(fused[@, @])", 'loc("x")') + '"u.x"() : () -> () loc(#a11)\n')
    assert text.count("fused[") == 11


def test_equal_attributes_share_one_alias() -> None:
    layout = (
        "#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>"
    )
    text = "#dram = #ttnn.buffer_type<dram>\n"
    text += USE.format(f"tensor<32x32xf32, {layout}>") + USE.format(layout) + USE.format(layout.replace(" <", "  <"))
    assert printed(text).count("#ttnn.ttnn_layout") == 1


def test_value_names_are_reused_after_their_region() -> None:
    region = '"u.x"() ({%1 = "u.y"(%0) : (i32) -> i32}) : () -> ()\n'
    assert printed('%0 = "u.y"() : () -> i32\n' + region * 2).count('"u.y"(%0)') == 2


def test_value_of_a_region_is_undefined_after_it() -> None:
    text = '"u.x"() ({%1 = "u.y"() : () -> i32}) : () -> ()\n"u.z"(%1) : (i32) -> ()\n'
    assert "not defined" in refusal(text)


def test_nested_or_long_pipelines_are_refused() -> None:
    module = parse_module("module {}")
    for text in ("a(" * 5_000, "builtin.module(" * 5_000 + "cse" + ")" * 5_000):
        with pytest.raises(OptionError, match="nests more than 64 levels deep") as error:
            run(module, text)
        assert len(str(error.value)) < 400
    with pytest.raises(OptionError, match=f"more than {PASSES} passes") as error:
        run(module, ",".join(["cse"] * (PASSES + 1)))
    assert len(parse_pipeline("builtin.module(" + ",".join(["cse"] * PASSES) + ")")) == PASSES
    for text in ("x" * 100_000, "cse{" + "x" * 100_000 + "}", "cse{" * 5_000, "cse" + ")" * 5_000):
        with pytest.raises(OptionError) as error:
            run(module, text)
        assert len(str(error.value)) < 400


def test_endless_file_raises_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sparse = tmp_path / "a.mlir"
    with sparse.open("wb") as file:
        file.truncate(1 << 38)
    for path in (str(sparse), "/dev/zero", str(tmp_path), str(tmp_path / "a\0b")):
        assert main([path]) == 1
        assert capsys.readouterr().err.count("\n") == 1


def test_exponential_text_uses_little_memory(tmp_path: Path) -> None:
    source = tmp_path / "a.mlir"
    source.write_text(USE.format('"' + "x" * 30_000_000 + '"') + "\n".join(DOUBLED.values()))
    program = (
        "import resource, sys; from ttnn.compiler.tools.opt import main\n"
        "resource.setrlimit(resource.RLIMIT_CPU, (30, 30))\n"
        "code = main(['--allow-unregistered-dialect', *sys.argv[1:]])\n"
        # The peak of getrusage would be that of the process that started this one, if it is larger.
        "peak = next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
        "sys.stderr.write(f'{code} {int(peak) >> 10}')"
    )
    command = [sys.executable, "-c", program, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    code, megabytes = done.stderr.split()[-2:]
    assert code == "1"
    assert done.stderr.count("error:") == 1
    assert int(megabytes) < 1_000


def test_random_grown_texts_are_read_or_refused() -> None:
    random_ = random.Random(28)
    refused = 0
    for number in range(COUNT):
        text = grown(random_)
        begin = time.process_time()
        try:
            once = printed(text)
            if len(once) < 100_000:
                assert printed(once) == once, number
        except CompileError as error:
            refused += 1
            (diagnostic,) = error.diagnostics
            assert diagnostic.line, (number, text[:2_000])
            assert diagnostic.column
            assert "invalid text" not in diagnostic.message, (number, diagnostic.message)
            assert "too deeply" not in diagnostic.message, number
            assert len(str(diagnostic)) < 3_000
        assert time.process_time() - begin < 8, (number, text[:2_000])
    assert COUNT // 5 < refused < COUNT * 19 // 20
