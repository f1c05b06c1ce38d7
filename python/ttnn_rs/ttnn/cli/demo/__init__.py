"""`python -m ttnn demo`: handwritten digits in every weight format and fidelity.

`python -m ttnn demo NAME` runs a whole network instead, see `ttnn.cli.demo.models`.

A small network is fitted to the digits of scikit-learn in float32 on the CPU. Its inference then runs on the device
twelve times, and each run is measured against the same weights in float64. Everything but the host time is the same on
every run, thread count and CPU level; one hash over all results and probabilities shows it.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import ttnn
from ttnn.base.exceptions import ArgumentError
from ttnn.cli.common import host_options
from ttnn.cli.common.terminal import Table, Terminal, picture_path, require
from ttnn.cli.demo import models, network
from ttnn.cli.demo.inference import CONFIGURATIONS, Measurement, measure, results_hash

DEFAULT_PICTURE = Path("ttnn-demo.png")


def add_parser(commands: Any) -> argparse.ArgumentParser:
    """Add the subcommand and its options to a parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "demo",
        help="classify handwritten digits, or run a model, in a data format and fidelity",
        description=__doc__,
    )
    names = "; ".join(f"{name}: {model.summary}" for name, model in models.MODELS.items())
    parser.add_argument("name", nargs="?", choices=models.MODELS, metavar="NAME", help=f"a model. {names}")
    parser.add_argument("--dtype", choices=models.DTYPES, help="with NAME: data type of the weights")
    parser.add_argument("--fidelity", choices=models.FIDELITIES, help="with NAME: math fidelity")
    parser.add_argument("--numerics", choices=("exact", "fast"), help="with NAME: numerics mode")
    parser.add_argument("--layers", type=int, metavar="N", help="with NAME: run the first N layers only")
    parser.add_argument("--profile", action="store_true", help="with NAME: print the time of every operator")
    parser.add_argument(
        "--output",
        type=picture_path,
        metavar="PNG",
        help=f"plot (default: {DEFAULT_PICTURE}, ttnn-demo-NAME.png)",
    )
    host_options.add_arguments(parser)
    return parser


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Train, infer, print and draw; or run `options.name`'s model demo.

    Raises:
        ArgumentError: an option of models without a name.
    """
    if options.name is not None:
        return models.run(options, terminal)
    given = [f"--{name}" for name in ("dtype", "fidelity", "numerics", "layers") if getattr(options, name) is not None]
    if given or options.profile:
        raise ArgumentError(f"demo: {' '.join(given) or '--profile'} is for models; add its NAME.")
    picture = options.output or DEFAULT_PICTURE
    require("matplotlib", extra="demo", purpose="the plot of the demo")
    digits = network.load_digits()
    steps = network.EPOCHS + 1 + len(CONFIGURATIONS)
    with host_options.applied(options), terminal.progress("digits", steps) as progress:
        trained = network.train(digits, lambda detail: progress.advance(f"training: {detail}"))
        exact = network.infer_float64(trained, digits.test_images)
        progress.advance("inference in float64")
        measurements = []
        with ttnn.manage_device(device_id=0) as device:
            chip = device.arch().name
            for dtype, fidelity in CONFIGURATIONS:
                measurements.append(measure(device, trained, digits, exact, dtype, fidelity))
                progress.advance(f"{dtype} {fidelity}")
    from ttnn.cli.demo.figure import draw  # importing matplotlib costs half a second; a wrong option should not

    _report(terminal, digits, exact, measurements, chip, picture)
    draw(picture, digits, exact, measurements)
    terminal.line(f"picture: {picture}")
    return 0


def _report(
    terminal: Terminal,
    digits: network.Digits,
    exact: Any,
    measurements: list[Measurement],
    chip: str,
    picture: Path,
) -> None:
    accuracy = float((exact.argmax(axis=1) == digits.test_classes).mean())
    digest = results_hash(measurements)
    terminal.document(
        {
            "device": chip,
            "trained_on": len(digits.train_images),
            "tested_on": len(digits.test_images),
            "float64_accuracy": accuracy,
            "table": [measurement.figures() for measurement in measurements],
            "sha256": digest,
            "host_seconds": {f"{m.dtype} {m.fidelity}": round(m.host_seconds, 4) for m in measurements},
            "picture": str(picture),
        }
    )
    table = Table(
        f"{len(digits.test_images)} digits not seen in training, on {chip.lower()}; float64 gets {accuracy:.2%} right",
        ("weights", "fidelity", "accuracy", "PCC", "max ULP", "median ULP", "weight bytes", "host ms"),
        left=frozenset({"weights", "fidelity"}),
    )
    for m in measurements:
        table.rows.append(
            (
                m.dtype,
                m.fidelity,
                f"{m.accuracy:.2%}",
                f"{m.pcc:.6f}",
                f"{m.max_ulp:,.1f}",
                f"{m.median_ulp:,.1f}",
                f"{m.weight_bytes:,}",
                f"{m.host_seconds * 1e3:.1f}",
            )
        )
    terminal.table(table)
    terminal.line()
    terminal.line("PCC and ULP compare the probabilities with float64; one ULP is that of bfloat16 at the exact value.")
    terminal.line(f"sha256 of all results but the host time: {digest}")
