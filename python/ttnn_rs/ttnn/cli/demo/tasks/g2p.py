"""g2p-en: the sounds of words that no dictionary has."""

from __future__ import annotations

from typing import Any

import ttnn
from ttnn.cli.demo.measure import Advance, Line, Outcome, Settings, device_bytes, timed
from ttnn.examples.models import g2p as port

ONSETS = ("bl", "dr", "f", "gr", "k", "m", "pl", "sn", "t", "v")
MIDDLES = ("acto", "emi", "ilda", "ondri", "ust")
ENDS = ("ble", "nix", "rand", "tion")


def words() -> list[str]:
    """Return 200 words that are made of syllables: blactoble, blactonix, ..."""
    return [f"{onset}{middle}{end}" for onset in ONSETS for middle in MIDDLES for end in ENDS]


def speak(model: port.G2p, chosen: list[str]) -> list[list[str]]:
    """Return the sounds of words, 32 at a time."""
    found = []
    for start in range(0, len(chosen), port.ROWS):
        found += port.decode(model(*port.encode(chosen[start : start + port.ROWS])))
    return found


def run(device: ttnn.MeshDevice, settings: Settings, advance: Advance) -> Outcome:
    """Speak 200 words."""
    weights, chosen = port.load_weights(), words()
    expected = port.decode(port.torch_speak(weights, *port.encode(chosen)))
    advance("torch")
    before = device_bytes(device)
    model = port.G2p(device, weights, settings.data_type, settings.math_fidelity)
    size = device_bytes(device) - before
    first = timed(lambda: model(*port.encode(chosen[: port.ROWS])), settings)
    advance("first 32")
    found = speak(model, chosen)
    advance("all words")
    outcome = Outcome(f"g2p-en: {len(chosen)} made words", "words")
    same = sum(a == b for a, b in zip(found, expected, strict=True))
    costs = (first.seconds, size, first.device_nanoseconds, first.missing, port.ROWS)
    outcome.lines.append(Line("32 words", f"same of {len(chosen)}", same, len(chosen), None, *costs))
    sounds = [(a, b) for ours, theirs in zip(found, expected, strict=True) for a, b in zip(ours, theirs, strict=False)]
    outcome.figures = {
        "words_equal": same,
        "words": len(chosen),
        "sounds_equal": sum(a == b for a, b in sounds) / sum(map(len, expected)),
    }
    outcome.operators["32 words"] = first.operators
    for word in ("wormhole", "tensix"):
        outcome.notes.append(f"{word}: {' '.join(speak(model, [word])[0])}")
    outcome.notes.append(
        f"{same} of {len(chosen)} words as in torch, {outcome.figures['sounds_equal']:.2%} of their sounds"
    )
    outcome.draw = lambda figure: _draw(figure, chosen[::20], found[::20], expected[::20])
    return outcome


def _draw(figure: Any, chosen: list[str], found: list[list[str]], expected: list[list[str]]) -> None:
    axes = figure.subplots()
    axes.axis("off")
    rows = [
        (word, " ".join(theirs), " ".join(ours)) for word, ours, theirs in zip(chosen, found, expected, strict=True)
    ]
    table = axes.table(rows, colLabels=("word", "torch", "device"), loc="center", cellLoc="left")
    table.auto_set_font_size(False)
    table.set_fontsize(8)
