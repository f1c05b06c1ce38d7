"""g2p-en on the device: operators, bits, distance to torch, sounds.

Bits of states and phonemes, sounds of 200 words.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest

from testkit.model_checks import Operators, bits_on_every_host, falls_with_phases, large, needs, trace

large()
needs("torch", "g2p_en", always=False)

import torch

import ttnn
from ttnn.cli.demo.measure import Settings, pcc, sha256
from ttnn.cli.demo.tasks import g2p as task
from ttnn.examples.models import g2p as port


def build(device: ttnn.MeshDevice, dtype: str = "bfloat16", fidelity: str = "HiFi4") -> port.G2p:
    return port.G2p(device, port.load_weights(), getattr(ttnn, dtype), getattr(ttnn.MathFidelity, fidelity))


def words() -> tuple[torch.Tensor, torch.Tensor]:
    return port.encode(task.words()[:: len(task.words()) // port.ROWS][: port.ROWS])


@pytest.mark.parametrize("dtype", ["bfloat16", "bfloat8_b"])
def test_every_operator_is_near_its_golden_function(dtype: str, device: ttnn.MeshDevice, operators: Operators) -> None:
    """Both cells over all steps.

    States are float32, so only matmuls round noticeably.
    """
    model = build(device, dtype)
    operators.found.clear()
    model(*words())
    assert {name: p for name, p in operators.worst().items() if 1 - p > 1e-6} == {}
    assert len(operators.worst()) >= 12


def test_bits_of_states_and_phonemes(
    model_device: ttnn.MeshDevice,
    same_hash: Callable[[str, str, str], None],
    cpu_level: None,
    host_threads: None,
) -> None:
    model = build(model_device)
    steps = model.inputs(*words())

    def all_of(state: ttnn.Tensor, spoken: list[ttnn.Tensor]) -> list[str]:
        joined = "".join(map(sha256, spoken))
        return [sha256(state), hashlib.sha256(joined.encode()).hexdigest()]

    def bits() -> list[str]:
        state = model.read(steps)
        return all_of(state, model.speak(state))

    first = bits_on_every_host(bits, model_device)
    for run, digest in zip(("state behind the letters", "phonemes"), first, strict=True):
        same_hash("g2p", run, digest)

    def run() -> tuple[ttnn.Tensor, list[ttnn.Tensor]]:
        state = model.read(steps)
        return state, model.speak(state)

    assert all_of(*trace(model_device, run)) == first


@pytest.mark.parametrize(("dtype", "bar"), [("bfloat16", 0.9999), ("bfloat8_b", 0.998)])
def test_distance_to_torch(dtype: str, bar: float, device: ttnn.MeshDevice) -> None:
    """The state after the last letter: the outputs are phoneme indices."""
    weights = port.load_weights()
    letters, mask = words()
    h = torch.zeros(len(letters), port.WIDTH)
    for step in range(letters.shape[1]):
        new = port.torch_cell(weights, "enc", weights["enc_emb"][letters[:, step]], h)
        h = torch.where(mask[:, step, None] > 0, new, h)
    found = {}
    for fidelity in ("LoFi", "HiFi2", "HiFi4"):
        model = build(device, dtype, fidelity)
        found[fidelity] = pcc(ttnn.to_torch(model.read(model.inputs(letters, mask))).float(), h)
    falls_with_phases(found, 1e-4)
    assert found["HiFi4"] > bar


def test_words_have_the_sounds_of_torch(device: ttnn.MeshDevice) -> None:
    found = task.run(device, Settings("bfloat16", "HiFi4", 0, False), lambda detail: None)
    assert all(line.missing == 0 for line in found.lines)
    assert found.figures["words_equal"] >= 196
    assert found.figures["sounds_equal"] >= 0.98
    assert "wormhole: W ER1 M HH OW2 L" in found.notes
