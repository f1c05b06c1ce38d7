"""Sweeps: definition of an error, counts, inputs, command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import ttnn
from ttnn.base.exceptions import ArgumentError
from ttnn.cli import main, sweep
from ttnn.cli.common.ulp import MIN_NORMAL, nearest, spacing
from ttnn.cli.sweep import compare, inputs, subjects
from ttnn.cli.sweep.matmul import k_range
from ttnn.cli.sweep.parameters import parameters_of, parse_parameter
from ttnn.cli.sweep.statistics import measure

HEADER = "op,parameters,max_ulp,mean_ulp_of_inexact,accurate_to_abs_x,max_abs_error\n"


@pytest.mark.parametrize(
    ("exact", "expected"),
    [
        (1.0, 1.0),
        (1.0 + 2**-8, 1.0),
        (1.0 + 3 * 2**-8, 1.0 + 2**-6),
        (1.0 + 2**-8 + 2**-40, 1.0 + 2**-7),
        (3.3961775292304957e38, np.inf),
        (-1e39, -np.inf),
        (2.0**-133, 2.0**-133),
        (2.0**-134, 0.0),
        (MIN_NORMAL * (1 - 2**-8), MIN_NORMAL),
    ],
)
def test_nearest_rounds_once_to_even(exact: float, expected: float) -> None:
    assert nearest(np.array([exact]), "bfloat16").tolist() == [expected]


def test_nearest_agrees_with_ml_dtypes() -> None:
    import ml_dtypes

    values = np.random.default_rng(1).integers(0, 0x7F800000, 10_000, dtype=np.uint32).view(np.float32)
    expected = values.astype(ml_dtypes.bfloat16).astype(np.float64)
    assert np.array_equal(nearest(values.astype(np.float64), "bfloat16"), expected)
    assert np.array_equal(nearest(values.astype(np.float64), "float32"), values.astype(np.float64))


def test_spacing_is_that_of_the_format() -> None:
    values = np.array([1.0, 1.99, 2.0, -3.0, 0.0, MIN_NORMAL, MIN_NORMAL / 4])
    assert spacing(values, "bfloat16").tolist() == [2**-7, 2**-7, 2**-6, 2**-6, 2**-133, 2**-133, 2**-133]


def test_classes_add_up_and_errors_leave_out_what_was_flushed() -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, np.nan, 0.0])
    exact = np.array([1.0, 1.0 + 2**-9, 1.0, 1e-39, 1e-30, 1.0, 1e39, 1.0, 1.0])
    got = np.array([1.0, 1.0 + 2**-7, 1.0 + 2**-5, 0.0, 0.0, np.inf, 1.0, 5.0, 5.0])
    found = measure([x], got, exact, "bfloat16")
    counts = (found.exact, found.faithful, found.inexact, found.flushed, found.zeroed, found.not_finite)
    assert counts == (1, 1, 1, 1, 1, 1)
    assert found.points == 6
    assert found.missing_infinities == 1
    assert (found.max_ulp, found.mean_ulp_of_inexact) == (4.0, 2.5)
    assert found.accurate_to == 2.0
    assert found.max_abs_error == 2.0**-5
    assert found.worst[0].inputs == (3.0,)


def test_reversals_are_counted_against_the_exact_direction() -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0])
    found = measure([x], np.array([1.0, 3.0, 2.0, 4.0]), x, "float32")
    assert (found.reversals, found.first_reversal) == (1, 2.0)


def test_every_exponent_and_sign_is_sampled() -> None:
    words = inputs.stratified_float32()
    assert words.size == 65536
    assert np.bincount(words >> 23, minlength=512).tolist() == [128] * 512
    first, second = inputs.pairs()
    strata = (first >> 23).astype(np.int64) * 512 + (second >> 23)
    assert np.unique(strata[: 508 * 508]).size == 508 * 508
    assert first.size % 8192 == 0
    for operand in inputs.operands(3, "bfloat16"):
        assert not np.any(operand & 0xFFFF)


def test_exp_has_the_counts_measured_on_silicon(device: ttnn.MeshDevice) -> None:
    # SFPU tables against published measurements: exp, default and approximate.
    for parameters, right, wrong in (({}, 48305, 1153), ({"fast_and_approximate_mode": True}, 15779, 33679)):
        found = sweep.run_sweep(subjects.find("exp"), parameters, "bfloat16", device).sweep
        figures = found.statistics
        assert figures.exact + figures.flushed == right
        assert figures.faithful + figures.inexact + figures.zeroed == wrong
        assert found.differing_between_levels == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a=true", ("a", True)), ("a=3", ("a", 3)), ("a=-0.5", ("a", -0.5)), ("a=tanh", ("a", "tanh"))],
)
def test_parameters_are_read_from_text(text: str, expected: tuple[str, object]) -> None:
    assert parse_parameter(text) == expected


def test_parameters_need_a_name() -> None:
    with pytest.raises(ArgumentError, match="a parameter is name=value, got 'true'"):
        parse_parameter("true")


@pytest.mark.parametrize(("text", "expected"), [("32..128", (32, 64, 128)), ("96", (96,)), ("96..300", (96, 192))])
def test_lengths_double(text: str, expected: tuple[int, ...]) -> None:
    assert k_range(text) == expected


def test_a_number_takes_the_place_of_a_tensor(device: ttnn.MeshDevice) -> None:
    """The tensor may have any name, on either side of the operator."""
    for name, texts, operands in (
        ("div", ["input_tensor_b=3"], 1),
        ("subtract", ["input_tensor_a=3"], 1),
        ("fmod", ["scalar=3"], 1),
        ("prelu", ["weight=0.25"], 1),
        ("mac", ["value1=2", "value2=3"], 1),
        ("lerp", ["weight=0.5"], 2),
        ("add_bw", ["scalar=2"], 1),
    ):
        entry = subjects.find(name)
        outcome = sweep.run_sweep(entry, parameters_of(entry, texts), "bfloat16", device, "scalar")
        assert len(outcome.operands) == operands
        assert outcome.sweep.statistics.exact > 0.7 * outcome.sweep.statistics.points


def test_sequences_are_given_with_commas(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "polyval", "--param", "coeffs=1,0.5,2", "--dtype", "bfloat16", "--json")
    (found,) = json.loads(out)["sweeps"]
    assert code == 0
    assert found["parameters"] == {"coeffs": [1, 0.5, 2]}
    assert found["statistics"]["exact"] > 0.9 * found["statistics"]["points"]
    code, out, _ = run(capsys, "unary_chain", "--param", "ops_chain=relu, leaky_relu:0.5,sqrt", "--dtype", "bfloat16")
    assert code == 0
    assert out.startswith("ttnn.unary_chain(ops_chain=RELU,LEAKY_RELU:0.5,SQRT), bfloat16")
    # Of a square root of numbers that are not negative, every result is the rounded one.
    assert "largest error" in out
    assert re.search(r"largest error +0 ULP", out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("unary_chain", "--param", "ops_chain=power:2"), "there is no reference for POWER:2.0 in a chain"),
        (("unary_chain", "--param", "ops_chain=exp:1"), "there is no reference for EXP:1.0 in a chain"),
        (("ge", "--param", "activations=exp"), "its reference has no activations=EXP"),
        (("l1_loss", "--param", "reduction=SUM"), "gives Shape([]) of Shape([1280, 256])"),
    ],
)
def test_what_has_no_reference_is_refused(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, *arguments, "--dtype", "bfloat16")
    assert (code, out) == (1, "")
    assert "ttnn: UnsupportedError: sweep" in err
    assert message in err


@pytest.mark.parametrize("text", ["", "31", "64..32", "a..b", "0"])
def test_wrong_lengths_are_refused(text: str) -> None:
    with pytest.raises(ArgumentError, match="sweep matmul: --k"):
        k_range(text)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(("sweep", *arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_one_operator_prints_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "exp.png"
    code, out, err = run(capsys, "exp", "--dtype", "bfloat16", "--output", str(picture))
    assert code == 0
    for text in ("faithful", "special values", "largest errors", "within 2 ULP", "reversals", "0.9082 ULP at"):
        assert text in out
    assert "sweep: 1/1 exp bfloat16" in err
    assert picture.read_bytes()[:4] == b"\x89PNG"


def test_json_is_standard(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "exp", "--param", "fast_and_approximate_mode=true", "--dtype", "bfloat16", "--json")

    def refuse(word: str) -> None:
        raise AssertionError(word)

    (found,) = json.loads(out, parse_constant=refuse)["sweeps"]
    assert code == 0
    assert found["parameters"] == {"fast_and_approximate_mode": True}
    assert found["bound_ulp"] is None
    assert found["statistics"]["accurate_to"] == 0.0


def test_members_have_names(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "gelu", "--param", "variant=Tanh", "--dtype", "bfloat16", "--json")
    (found,) = json.loads(out)["sweeps"]
    assert code == 0
    assert found["parameters"] == {"variant": "Tanh"}
    # 1 + tanh cancels there; the default variant does not come near that.
    assert found["statistics"]["worst"][0]["inputs"] == [-5.125]


def test_one_level_alone(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "ttnn.relu", "--dtype", "bfloat16", "--level", "scalar", "--json")
    (found,) = json.loads(out)["sweeps"]
    assert code == 0
    assert (found["operator"], found["levels"]) == ("relu", ["scalar"])


def test_blackhole_is_another_chip(capsys: pytest.CaptureFixture[str]) -> None:
    before = ttnn.CONFIG.arch_name
    code, out = run(capsys, "relu", "--arch", "blackhole", "--dtype", "bfloat16")[:2]
    assert code == 0
    assert out.startswith("ttnn.relu, bfloat16, 65,536 inputs, blackhole\n")
    assert before == ttnn.CONFIG.arch_name


@pytest.mark.parametrize(("operator", "dtype"), [("reciprocal", "bfloat16"), ("erf", "float32")])
def test_functions_of_blackhole_have_their_own_bounds(
    operator: str, dtype: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {}
    for chip in ("wormhole", "blackhole"):
        code, out, _ = run(capsys, operator, "--arch", chip, "--dtype", dtype, "--json")
        assert code == 0
        (found[chip],) = json.loads(out)["sweeps"]
    assert [found[chip]["arch"] for chip in found] == ["wormhole_b0", "blackhole"]
    assert found["wormhole"]["bound_ulp"] < found["blackhole"]["max_ulp"] <= found["blackhole"]["bound_ulp"]


def test_pairs_of_two_tensors(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "add", "--dtype", "bfloat16", "--json")
    (found,) = json.loads(out)["sweeps"]
    assert code == 0
    assert found["values"] == inputs.TUPLES
    assert found["statistics"]["max_ulp"] == 1.0
    assert len(found["statistics"]["worst"][0]["inputs"]) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("no_such_operator",), "no element-wise operator no_such_operator; there are"),
        (("Exp",), "no element-wise operator Exp; near it: exp, "),
        (("exp", "--all"), "operators or --all, not both"),
        (("--param", "a=1"), "--param belongs to one operator"),
        (("exp", "--dtype", "bfloat8_b"), "the data type is one of bfloat16, float32, got bfloat8_b"),
        (("matmul", "--fidelity", "HiFi9"), "the fidelity is all or one of LoFi"),
        (("matmul", "--dtype", "int8"), "the data type is one of bfloat16, float32, bfloat8_b"),
        (("matmul", "--all"), "--all and --param belong to element-wise operators"),
        (("matmul", "--param", "a=1"), "--all and --param belong to element-wise operators"),
        (("exp", "--k", "32"), "--fidelity and --k belong to `sweep matmul`"),
        (("exp", "--fidelity", "LoFi"), "--fidelity and --k belong to `sweep matmul`"),
        (("matmul", "exp", "--k", "32"), "--fidelity and --k belong to `sweep matmul`"),
        (("matmul", "exp"), "matmul runs alone"),
        (("softcap", "--dtype", "float32"), "no float32 of softcap: bfloat16 only"),
        (("softcap", "exp", "--dtype", "float32", "--output", "a.png"), "no float32 of softcap: bfloat16 only"),
        (("gelu", "--param", "variant=tanh"), "sweep gelu: variant is Accurate|FastLut|Tanh, got 'tanh'"),
        (("--compare", "chip.csv", "--all"), "--compare reads its operators and parameters from the table"),
        (("--compare", "chip.csv", "--k", "32"), "--compare reads its operators and parameters from the table"),
        (("exp", "--param", "nonsense=1"), "nonsense is not an argument of it; it has fast_and_approximate_mode."),
        (
            ("exp", "--param", "memory_config=L1"),
            "memory_config is a tensor or a memory config, which has no text form",
        ),
        (("exp", "--param", "fast_and_approximate_mode=maybe"), "fast_and_approximate_mode is true|false, got 'maybe'"),
        (("polygamma", "--param", "k=1.5"), "k is INTEGER, got '1.5'"),
        (("polyval", "--param", "coeffs=1,b"), "coeffs is NUMBER,NUMBER,..., got '1,b'"),
        (("unary_chain", "--param", "ops_chain=nonsense"), "ops_chain is FUNCTION,FUNCTION:NUMBER,..., got 'nonsense'"),
        (("polyval",), "sweep polyval: give --param coeffs=NUMBER,NUMBER,..."),
        (("unary_chain",), "sweep unary_chain: give --param ops_chain=FUNCTION,FUNCTION:NUMBER,..."),
        (("prelu",), "sweep prelu: give --param weight=NUMBER."),
        (("clamp",), "sweep clamp: give --param min=NUMBER, --param max=NUMBER or both of them."),
        (("threshold", "--param", "value=1"), "sweep threshold: give --param threshold=NUMBER."),
        (("mac", "--param", "value1=1"), "sweep mac: give --param value2=NUMBER."),
        (("exp", "--threads", "0"), "expected a number from 1 to 1024, got 0"),
    ],
)
def test_wrong_arguments_say_what_is_right(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert message in err
    assert out == ""


def test_products_say_the_numerics(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("matmul", "--k", "32", "--fidelity", "LoFi")
    assert "matmul, bfloat16: root mean square error" in run(capsys, *arguments)[1]
    monkeypatch.setattr(ttnn.CONFIG, "numerics", "fast")
    assert "matmul, bfloat16, fast numerics: root mean square error" in run(capsys, *arguments)[1]
    assert json.loads(run(capsys, *arguments, "--json")[1])["numerics"] == "fast"


def test_compare_says_what_agrees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "chip.csv"
    table.write_text(
        HEADER
        + "exp,default,1,0.856,3.39e+38,6.65e+35\n"
        + "exp,fast_approx,6,3.05,nowhere,5.32e+36\n"
        + "no_such_operator,default,0,-,n/a,0\n"
    )
    code, out, _ = run(capsys, "--compare", str(table), "--json")
    assert code == 0
    content = json.loads(out)
    assert [row["verdict"] for row in content["rows"]] == ["agrees", "agrees", "not built"]
    table.write_text(HEADER + "exp,default,1,0.856,3.39e+38,6.66e+35\n")
    code, out, _ = run(capsys, "--compare", str(table))
    assert code == 1
    assert "exp default: max_abs_error differ, not explained" in out
    for text, message in (
        (b"op\nexp\n", "does not have the columns"),
        (HEADER.encode() + b"exp,default,1\n", "does not have the columns"),
        (b"op,\xff\xfe", "is not a table of comma-separated values"),
    ):
        table.write_bytes(text)
        code, _, err = run(capsys, "--compare", str(table))
        assert code == 2
        assert message in err
    assert run(capsys, "--compare", str(tmp_path / "absent.csv"))[0] == 2


@pytest.mark.parametrize(
    ("chip", "ours", "expected"),
    [
        ("218", "218.2", True),
        ("0.00391", "0.00390625", True),
        ("-", "-", True),
        ("-", "1", False),
        ("1", "1.02", False),
    ],
)
def test_figures_agree_in_three_digits(chip: str, ours: str, expected: bool) -> None:
    assert compare.same(chip, ours) is expected


def test_matmul_grows_with_k_only_where_dst_is_narrow(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "matmul", "--k", "256..1024", "--fidelity", "hifi4", "--json")
    assert code == 0
    found = {(m["dst"], m["blocking"], m["k"]): m["relative_error"] for m in json.loads(out)["measurements"]}
    assert found[16, "in Dst", 1024] > 2 * found[16, "in Dst", 256]
    assert found[16, "in L1 after every tile", 1024] < found[16, "in Dst", 1024] / 2
    assert found[32, "in Dst", 1024] == pytest.approx(found[32, "in Dst", 256], rel=0.1)


def test_picture_of_matmul(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "matmul.png"
    code, out, _ = run(capsys, "matmul", "--k", "64", "--dtype", "bfloat8_b", "--output", str(picture))
    assert code == 0
    assert "in L1 after every tile" in out
    assert picture.read_bytes()[:4] == b"\x89PNG"
