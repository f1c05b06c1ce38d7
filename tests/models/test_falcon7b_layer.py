"""One full-size Falcon-7B layer: operators, bits, distance to torch.

Both phases; and what fits into the chip.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from testkit.model_checks import Operators, bits_on_every_host, falls_with_phases, needs, trace

needs("torch")

import torch

import ttnn
from ttnn import _engine
from ttnn.base.exceptions import OutOfMemoryError
from ttnn.cli.demo import made
from ttnn.cli.demo.measure import centred_pcc, sha256
from ttnn.cli.demo.tasks import falcon7b as task
from ttnn.examples.models import falcon7b as port

PROMPT = 128
OPERATOR_BARS = {
    "ttnn.linear": 4e-4,
    "ttnn.matmul": 2e-4,
    "ttnn.scale_causal_mask_hw_dims_softmax_in_place": 5e-4,
    "ttnn.scale_mask_softmax_in_place": 5e-4,
}
"""1 - PCC to the golden function, 1e-5 for others.

Decoding has LoFi; powers and their sum are bfloat16 in Dst.
"""


@pytest.fixture(scope="module")
def weights() -> dict[str, torch.Tensor]:
    return task.model().state(0)


@pytest.fixture(scope="module")
def exact(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: tensor.float() for name, tensor in weights.items()}


@pytest.fixture(scope="module")
def words() -> torch.Tensor:
    return made.draw("falcon7b", -1, "words", (160, port.WIDTH), 1.0)


@pytest.fixture
def rotation(device: ttnn.MeshDevice) -> Iterator[port.Rotation]:
    return port.Rotation(device, 256)


def place(words: torch.Tensor, device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.from_torch(words[None, None], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)


def values(tensor: ttnn.Tensor) -> torch.Tensor:
    found: torch.Tensor = ttnn.to_torch(tensor).float()[0]
    return found


def test_made_weights_depend_on_their_name_alone() -> None:
    a = made.draw("falcon7b", 3, "heads", (64, 64))
    assert torch.equal(a, made.draw("falcon7b", 3, "heads", (64, 64)))
    others = [made.draw("falcon7b", 4, "heads", (64, 64)), made.draw("falcon7b", 3, "joined", (64, 64))]
    assert all(not torch.equal(a, other) for other in others)
    many = made.draw("falcon7b", 0, "wide", (1024, 1024)).float()
    assert abs(float(many.std()) / made.SCALE - 1) < 0.01
    assert abs(float(many.mean())) < 1e-4


def test_a_layer(
    device: ttnn.MeshDevice,
    weights: Any,
    exact: Any,
    words: torch.Tensor,
    rotation: port.Rotation,
    same_hash: Callable[[str, str, str], None],
    host_threads: None,
) -> None:
    """Exact mode: a prompt, then a token of 32 users.

    At any number of threads.
    """
    layer = port.Layer(device, weights, rotation)
    mask = rotation.decode_mask(PROMPT)
    of_prompt, keys, cached = port.torch_prefill(exact, words[:PROMPT].float())
    for user in range(2):
        prefilled = layer.prefill(place(words[:PROMPT], device), user, rotation.prefill_masks(PROMPT))
    assert centred_pcc(values(prefilled), of_prompt[None]) > 0.999
    got = [ttnn.to_torch(cache).float()[1, 0, :PROMPT] for cache in (layer.keys, layer.values)]
    for found, expected in zip(got, (keys, cached), strict=True):
        assert centred_pcc(found[None], expected[None]) > 0.999
    tokens = words[PROMPT : PROMPT + 32]
    decoded = layer.decode(place(tokens, device), PROMPT, mask)
    many = [torch.zeros(32, PROMPT, port.HEAD) for _ in range(2)]
    for cache, part in zip(many, (keys, cached), strict=True):
        cache[:2] = part
    of_tokens = port.torch_decode(exact, tokens.float(), *many, PROMPT)
    assert centred_pcc(values(decoded), of_tokens[None]) > 0.998
    for run, tensor in (("prefill", prefilled), ("decode", decoded)):
        same_hash("falcon7b", run, sha256(tensor))
    _engine.set_threads(1)
    assert sha256(layer.decode(place(tokens, device), PROMPT, mask)) == sha256(decoded)


def test_decoding_equals_a_prompt_of_one_more_token(
    device: ttnn.MeshDevice, weights: Any, words: torch.Tensor, rotation: port.Rotation
) -> None:
    """Two users with different prompts."""
    prompts = [words, made.draw("falcon7b", -1, "other words", tuple(words.shape), 1.0)]
    with ttnn.manage_config("numerics", "fast"):
        layer = port.Layer(device, weights, rotation)
        whole = [
            values(layer.prefill(place(prompt, device), user, rotation.prefill_masks(160)))[0]
            for user, prompt in enumerate(prompts)
        ]
        for user, prompt in enumerate(prompts):
            layer.prefill(place(prompt[:PROMPT], device), user, rotation.prefill_masks(PROMPT))
        tokens = torch.cat([prompt[PROMPT : PROMPT + 1] for prompt in prompts] * 16)
        one = values(layer.decode(place(tokens, device), PROMPT, rotation.decode_mask(PROMPT)))[0]
    for user, prompt in enumerate(prompts):
        added, expected = (row - prompt[PROMPT].float() for row in (one[user], whole[user][PROMPT]))
        assert torch.corrcoef(torch.stack([added, expected]))[0, 1] > 0.999


def test_every_operator_is_near_its_golden_function(
    device: ttnn.MeshDevice, weights: Any, words: torch.Tensor, operators: Operators
) -> None:
    rotation = port.Rotation(device, 64)
    layer = port.Layer(device, weights, rotation)
    masks, mask = rotation.prefill_masks(32), rotation.decode_mask(32)
    prompt, tokens = place(words[:32], device), place(words[32:64], device)
    for run in (lambda: layer.prefill(prompt, 0, masks), lambda: layer.decode(tokens, 32, mask)):
        operators.found.clear()
        run()
        assert {name: p for name, p in operators.worst().items() if 1 - p > OPERATOR_BARS.get(name, 1e-5)} == {}
        assert sum(name == "ttnn.linear" for name, _ in operators.found) == 4
        assert len(operators.worst()) >= 15


def test_bits_of_both_phases(
    model_device: ttnn.MeshDevice,
    weights: Any,
    words: torch.Tensor,
    same_hash: Callable[[str, str, str], None],
    cpu_level: None,
    host_threads: None,
) -> None:
    """A layer alone.

    The head takes as long to make as ten of them.
    """
    rotation = port.Rotation(model_device, 64)
    layer = port.Layer(model_device, weights, rotation)
    masks, mask = rotation.prefill_masks(32), rotation.decode_mask(32)
    prompt, tokens = place(words[:32], model_device), place(words[32:64], model_device)

    def bits() -> list[str]:
        return [sha256(layer.prefill(prompt, 0, masks)), sha256(layer.decode(tokens, 32, mask))]

    first = bits_on_every_host(bits, model_device)
    for run, digest in zip(("prefill 32", "decode at 32"), first, strict=True):
        same_hash("falcon7b", run, digest)
    # A prompt makes the tensor that its slices are written into, which no trace does.
    assert sha256(trace(model_device, lambda: layer.decode(tokens, 32, mask))) == first[1]


def test_more_phases_are_nearer_to_torch(
    device: ttnn.MeshDevice, weights: Any, exact: Any, words: torch.Tensor
) -> None:
    rotation = port.Rotation(device, 64)
    tokens = words[:32]
    expected = port.torch_decode(exact, tokens.float(), *(torch.zeros(32, 32, port.HEAD) for _ in range(2)), 0)
    found = {}
    for fidelity in ("LoFi", "HiFi2", "HiFi4"):
        layer = port.Layer(device, weights, rotation, fidelity=getattr(ttnn.MathFidelity, fidelity))
        got = values(layer.decode(place(tokens, device), 0, rotation.decode_mask(0)))
        found[fidelity] = centred_pcc(got, expected[None])
        for tensor in layer.weights.values():
            ttnn.deallocate(tensor)
    falls_with_phases(found, 1e-4)


def test_all_layers_fit_in_bfloat8_b_and_not_in_bfloat16(device: ttnn.MeshDevice) -> None:
    """Chip memory that the host does not touch before writes."""

    def allocate(dtype: ttnn.DataType) -> list[ttnn.Tensor]:
        place = {"layout": ttnn.TILE_LAYOUT, "device": device}
        shapes = [shape for shape in port.layer_shapes().values() if len(shape) == 2]
        held = [ttnn.empty((port.WIDTH, port.VOCABULARY), dtype=dtype, **place)]
        held.append(
            ttnn.empty((port.VOCABULARY, port.WIDTH), dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
        )
        for _ in range(port.LAYERS):
            held += [ttnn.empty(shape, dtype=dtype, **place) for shape in shapes]
            held += [ttnn.empty((32, 1, 1024, port.HEAD), dtype=ttnn.bfloat16, **place) for _ in range(2)]
        return held

    held = allocate(ttnn.bfloat8_b)
    view = ttnn.get_memory_view(device, ttnn.BufferType.DRAM)
    taken = view.total_bytes_allocated_per_bank * view.num_banks
    assert 7.9e9 < taken < 8.4e9
    for tensor in held:
        ttnn.deallocate(tensor)
    with pytest.raises(OutOfMemoryError):
        allocate(ttnn.bfloat16)


def test_predicted_throughput_is_near_published_kernel_times(
    device: ttnn.MeshDevice, weights: Any, words: torch.Tensor
) -> None:
    rotation = port.Rotation(device, 1024)
    layer = port.Layer(device, weights, rotation)
    published = task.PUBLISHED.kernels

    def nanoseconds(call: Callable[[], object]) -> float:
        with ttnn.manage_config("numerics", "fast"), ttnn.profiler.profile() as session:
            call()
        assert session.missing == []
        return sum(row.nanoseconds for row in session.rows)

    head = 2.2e6  # of one tile of rows, see docs/models.md
    prompt = nanoseconds(lambda: layer.prefill(place(words[:PROMPT], device), 0, rotation.prefill_masks(PROMPT)))
    assert PROMPT / (port.LAYERS * prompt + head) * 1e9 == pytest.approx(published["prefill 128"], rel=0.2)
    for position in (128, 1023):
        token = nanoseconds(lambda p=position: layer.decode(place(words[:32], device), p, rotation.decode_mask(p)))
        rate = 32 / (port.LAYERS * token + head) * 1e9
        assert rate == pytest.approx(published[f"decode {1024 if position == 1023 else 128}"], rel=0.2)
