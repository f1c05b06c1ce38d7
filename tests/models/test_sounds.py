"""CREPE, silero-vad and g2p-en on the device, beside torch. Sounds of hosts differ in last bits: no hashes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from model_checks import large, needs

large()
needs("torch", "safetensors", "torchcrepe", "silero_vad", "g2p_en", always=False)

import ttnn
from ttnn.cli.demo.measure import Outcome, Settings
from ttnn.cli.demo.tasks import crepe, g2p, silero_vad


@pytest.fixture
def windows_device() -> Iterator[ttnn.MeshDevice]:
    device = ttnn.open_device(device_id=0, l1_small_size=1 << 15)
    yield device
    ttnn.close_device(device)


def outcome(task: object, device: ttnn.MeshDevice) -> Outcome:
    found: Outcome = task.run(device, Settings("bfloat16", "HiFi4", 0, False), lambda detail: None)  # type: ignore[attr-defined]
    assert all(line.missing == 0 for line in found.lines)
    return found


def test_pitch_is_within_ten_cents_of_torch(windows_device: ttnn.MeshDevice) -> None:
    figures = outcome(crepe, windows_device).figures
    assert figures["largest_difference_in_cents"] < 10
    assert figures["same_bin"] == figures["frames_that_torch_is_sure_of"] >= 24


def test_speech_is_where_torch_hears_it(windows_device: ttnn.MeshDevice) -> None:
    found = outcome(silero_vad, windows_device)
    assert found.figures["same_side"] >= 0.98
    assert found.figures["largest_difference"] <= 0.03
    first, last = found.figures["mean_difference_of_first_and_last_half"]
    # The state is carried through 100 chunks without drift.
    assert last < 2 * first + 1e-3
    assert found.lines[0].expected > 50


def test_words_have_the_sounds_of_torch(device: ttnn.MeshDevice) -> None:
    found = outcome(g2p, device)
    assert found.figures["words_equal"] >= 196
    assert found.figures["sounds_equal"] >= 0.98
    assert "wormhole: W ER1 M HH OW2 L" in found.notes
