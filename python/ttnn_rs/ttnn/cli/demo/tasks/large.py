"""Shared code of the 7B demos: layers, torch reference, throughput.

Layers are generated one by one.

A layer's weights are made once, go to the device, and serve torch before they are freed. The device keeps all layers.
Torch runs along layer by layer in float32, from the same embeddings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from typing import Any

import torch

import ttnn
from ttnn.cli.demo import made
from ttnn.cli.demo.measure import (
    Advance,
    Line,
    Outcome,
    Settings,
    Timed,
    centred_pcc,
    device_bytes,
    numerics,
    sha256,
    timed,
)
from ttnn.cli.demo.tasks import pictures

PROMPT, USERS = 128, 32
POSITION = PROMPT
"""Position of the token that every user decodes."""


@dataclass(frozen=True)
class Published:
    """Tokens per second on one Wormhole card, from its maker.

    Attributes:
        kernels: Of kernel times alone, by phase; none are published of some models.
        end_to_end: Of decoding with the host, by when it was published.
        roofline: Roofline of decoding, if weights in bfloat8_b are read at 288 GB/s and all else is free.
    """

    kernels: dict[str, float]
    end_to_end: dict[str, float]
    roofline: float


@dataclass
class Large:
    """A model and how its port is called.

    Attributes:
        name: Of the demo.
        title: Of the table.
        port: The module.
        published: What to compare throughput with.
        positions: Of the caches.
        longer: More lengths of prompts, and positions, whose throughput is predicted from one layer.
    """

    name: str
    title: str
    port: ModuleType
    published: Published
    positions: int
    longer: tuple[tuple[int, ...], tuple[int, ...]]
    _inputs: dict[tuple[str, int], Any] = field(default_factory=dict)

    def state(self, layer: int) -> dict[str, torch.Tensor]:
        """Return the made weights of a layer."""
        return made.state(self.name, layer, self.port.layer_shapes())

    def outer(self) -> dict[str, torch.Tensor]:
        """Return the made weights outside of layers."""
        return made.state(self.name, -1, self.port.outer_shapes())

    def cache(self, layer: int, name: str, shape: tuple[int, ...]) -> torch.Tensor:
        """Return random keys or values; those after the first `POSITION` are zero."""
        cache = torch.zeros(shape, dtype=torch.bfloat16)
        cache[..., :POSITION, :] = made.draw(self.name, layer, name, (*shape[:-2], POSITION, shape[-1]), 1.0)
        return cache

    def tokens(self, count: int) -> torch.Tensor:
        """Return made tokens."""
        numbers = made.draw(self.name, -1, "tokens", (count,), 1.0).float()
        vocabulary: int = self.port.VOCABULARY
        return (numbers * 1e4).long() % vocabulary

    def prefill(self, layer: Any, x: ttnn.Tensor, rotation: Any) -> ttnn.Tensor:
        """Run a layer on the prompt of user 0."""
        key = ("prefill", x.shape[-2])
        if key not in self._inputs:
            make = rotation.prefill_masks if hasattr(rotation, "prefill_masks") else rotation.of_prompt
            self._inputs[key] = make(x.shape[-2])
        result: ttnn.Tensor = layer.prefill(x, 0, self._inputs[key])
        return result

    def decode(self, layer: Any, x: ttnn.Tensor, rotation: Any, position: int = POSITION) -> ttnn.Tensor:
        """Run a layer on a token of each user."""
        key = ("decode", position)
        masked = hasattr(rotation, "decode_mask")
        if key not in self._inputs:
            of_users = torch.full((USERS,), position)
            self._inputs[key] = rotation.decode_mask(position) if masked else rotation.of_users(of_users)
        given = (position, self._inputs[key]) if masked else (self._inputs[key],)
        result: ttnn.Tensor = layer.decode(x, *given)
        return result


@dataclass
class _Run:
    """All that one demo has made."""

    model: Large
    device: ttnn.MeshDevice
    rotation: Any
    outer: Any
    layers: list[Any] = field(default_factory=list)
    expected: dict[str, list[torch.Tensor]] = field(default_factory=dict)

    def through(self, phase: str, x: ttnn.Tensor, found: list[float] | None = None) -> ttnn.Tensor:
        """Return the last layer's output; add correlations to `found`.

        They are those of each layer with torch.
        """
        step = self.model.prefill if phase == "prefill" else self.model.decode
        for number, layer in enumerate(self.layers):
            y = step(layer, x, self.rotation)
            ttnn.deallocate(x)
            x = y
            if found is not None:
                got = ttnn.to_torch(x).float()[0, 0]
                found.append(centred_pcc(got[None], self.expected[phase][number][None]))
        return x


def run(model: Large, device: ttnn.MeshDevice, settings: Settings, advance: Advance) -> Outcome:
    """Prefill a prompt, decode for 32 users, predict both throughputs.

    One token of each user is decoded.
    """
    port = model.port
    outer_weights = model.outer()
    rotation = port.Rotation(device, model.positions)
    state = _Run(model, device, rotation, port.Outer(device, outer_weights))
    tokens = model.tokens(PROMPT)
    of_prompt, of_users = outer_weights["table"][tokens].float(), outer_weights["table"][tokens[:USERS]].float()
    norm = {name: tensor.float() for name, tensor in outer_weights.items() if "norm" in name}
    head = outer_weights["head"]
    del outer_weights
    for number in range(settings.layers):
        of_prompt, of_users = _add_layer(state, number, settings, of_prompt, of_users)
        advance(f"layer {number}")
    size = device_bytes(device)
    outcome = Outcome(f"{model.title}: {settings.layers} of {port.LAYERS} layers, made weights", "tokens")
    found: dict[str, list[float]] = {"prefill": [], "decode": []}
    chip: dict[str, tuple[float, float]] = {}
    for phase, ids in (("prefill", tokens), ("decode", tokens[:USERS])):
        if phase == "decode":
            _fill_caches(state)
        start = state.outer.embed(ids)
        last = state.through(phase, ttnn.clone(start), found[phase])
        inner = timed(partial(_again, state, phase, start), settings, warm=False)
        # The head reads the last tile of a prompt, as generation does.
        rows = last if phase == "decode" else ttnn.slice(last, (0, 0, PROMPT - 32, 0), (1, 1, PROMPT, port.WIDTH))
        ends: Timed[ttnn.Tensor] = timed(partial(state.outer.logits, rows), settings, warm=False)
        expected = _torch_logits(port, state.expected[phase][-1][-32:], norm, head)
        _line(outcome, phase, (inner, ends), expected, found[phase], size)
        chip[phase] = inner.device_nanoseconds / settings.layers, ends.device_nanoseconds
        advance(phase)
    _throughput(outcome, state, chip, settings)
    advance("throughput")
    outcome.figures["pcc_of_layers"] = found
    outcome.draw = lambda figure: pictures.correlations(figure, found, "layer")
    return outcome


def _again(state: _Run, phase: str, start: ttnn.Tensor) -> ttnn.Tensor:
    """Run all layers on a copy of their input, which they free."""
    return state.through(phase, ttnn.clone(start))


def _add_layer(
    state: _Run, number: int, settings: Settings, of_prompt: torch.Tensor, of_users: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Generate a layer on the device; return torch's outputs for both inputs."""
    model, port = state.model, state.model.port
    weights = model.state(number)
    layer = port.Layer(state.device, weights, state.rotation, settings.data_type, settings.math_fidelity)
    state.layers.append(layer)
    exact = {name: tensor.float() for name, tensor in weights.items()}
    of_prompt = port.torch_prefill(exact, of_prompt)[0]
    keys, values = _made_caches(state, number)
    of_users = port.torch_decode(exact, of_users, keys.float(), values.float(), POSITION)
    state.expected.setdefault("prefill", []).append(of_prompt)
    state.expected.setdefault("decode", []).append(of_users)
    return of_prompt, of_users


def _made_caches(state: _Run, number: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return all users' keys and values to `POSITION`, for torch."""
    shape = list(state.layers[number].keys.shape)
    shape[2] = POSITION
    keys, values = (state.model.cache(number, name, tuple(shape)) for name in ("keys", "values"))
    return (keys[:, 0], values[:, 0]) if shape[1] == 1 else (keys, values)


def _fill_caches(state: _Run) -> None:
    """Write the generated keys and values into the caches."""
    for number, layer in enumerate(state.layers):
        for name in ("keys", "values"):
            old = getattr(layer, name)
            made_ = state.model.cache(number, name, tuple(old.shape))
            setattr(
                layer,
                name,
                ttnn.from_torch(made_, dtype=old.dtype, layout=ttnn.TILE_LAYOUT, device=state.device),
            )
            ttnn.deallocate(old)


def _torch_logits(port: ModuleType, x: torch.Tensor, norm: dict[str, torch.Tensor], head: torch.Tensor) -> torch.Tensor:
    """Return the scores of the next token in torch."""
    weight, bias = norm["norm.weight"], norm.get("norm.bias")
    if bias is None:
        y = torch.nn.functional.rms_norm(x, (port.WIDTH,), weight, port.EPSILON)
    else:
        y = torch.nn.functional.layer_norm(x, (port.WIDTH,), weight, bias, port.EPSILON)
    return torch.cat([y @ part.float() for part in torch.split(head, 8192, 1)], 1)


def _line(
    outcome: Outcome,
    phase: str,
    both: tuple[Timed[ttnn.Tensor], Timed[ttnn.Tensor]],
    expected: torch.Tensor,
    found: list[float],
    size: int,
) -> None:
    inner, ends = both
    got = ttnn.to_torch(ends.result).float()[0, 0]
    same = float((got.argmax(-1) == expected.argmax(-1)).float().mean())
    name = f"prefill {PROMPT}" if phase == "prefill" else f"decode {USERS} users"
    costs = (
        inner.seconds + ends.seconds,
        size,
        inner.device_nanoseconds + ends.device_nanoseconds,
        inner.missing + ends.missing,
        PROMPT if phase == "prefill" else USERS,
    )
    outcome.lines.append(Line(name, "same next token", same, 1.0, found[-1], *costs))
    outcome.hashes[phase] = sha256(ends.result)
    outcome.operators[phase] = inner.operators
    logits = centred_pcc(got[None], expected[None])
    outcome.figures[phase] = {
        "pcc_of_logits": logits,
        "host_seconds_of_layers": inner.seconds,
        "gap_nanoseconds": inner.gap_nanoseconds + ends.gap_nanoseconds,
    }
    outcome.notes.append(
        f"{phase}: PCC of scores {logits:.5f}; of layers, without the mean over tokens: first {found[0]:.5f}, last "
        f"{found[-1]:.5f}"
    )


def _throughput(outcome: Outcome, state: _Run, chip: dict[str, tuple[float, float]], settings: Settings) -> None:
    """Predict the model's tokens per second from layer and head times."""
    model, published = state.model, state.model.published
    total = model.port.LAYERS
    rates: dict[str, float] = {}
    whole: dict[str, float] = {}

    def rate(name: str, tokens: int, of_layer: float, of_head: float) -> None:
        whole[name] = total * of_layer + of_head
        rates[name] = tokens / whole[name] * 1e9

    rate(f"prefill {PROMPT}", PROMPT, *chip["prefill"])
    rate(f"decode {POSITION}", USERS, *chip["decode"])
    lengths, positions = model.longer
    # Their times do not depend on values: the quick mode will do, and one layer.
    with numerics("fast"):
        for length in lengths:
            x = state.outer.embed(model.tokens(length))
            rate(f"prefill {length}", length, _layer_time(model.prefill, state, x), chip["prefill"][1])
        for position in positions:
            x = state.outer.embed(model.tokens(USERS))
            of_layer = _layer_time(model.decode, state, x, position)
            rate(f"decode {position}", USERS, of_layer, chip["decode"][1])
    errors = {name: rates[name] / known - 1 for name, known in published.kernels.items() if name in rates}
    outcome.figures["tokens_per_second"] = {
        "predicted": rates,
        "published_kernels": published.kernels,
        "relative_errors": errors,
        "published_end_to_end": published.end_to_end,
        "roofline": published.roofline,
    }
    for name, value in rates.items():
        text = f"{name}, {total} layers: {value:,.0f} tokens/s predicted"
        if name in errors:
            text += f", {published.kernels[name]:,.0f} published of kernel times, {errors[name]:+.1%}"
        outcome.notes.append(text)
    step = whole[f"decode {POSITION}"] / 1e6
    gaps = outcome.figures["decode"]["gap_nanoseconds"] / settings.layers * total / 1e6
    outcome.figures["decode"]["step_milliseconds"] = step
    for when, known in published.end_to_end.items():
        ends = 1e3 * USERS / known
        if ends < step:
            outcome.notes.append(
                f"end to end ({when}) a decode step took {ends:.1f} ms, with other formats and operators"
            )
            continue
        outcome.notes.append(
            f"a decode step takes {step:.1f} ms on the chip and {gaps:.1f} ms of gaps between operations; end to end "
            f"({when}) it took {ends:.1f} ms, of which {1 - step / ends:.0%} are the host's and the gaps'"
        )
    outcome.notes.append(
        f"roofline of decoding with weights in bfloat8_b at 288 GB/s: {published.roofline:,.0f} tokens/s"
    )


def _layer_time(step: Any, state: _Run, x: ttnn.Tensor, *more: int) -> float:
    """Return the predicted nanoseconds of the first layer."""
    with ttnn.profiler.profile() as session:
        step(state.layers[0], x, state.rotation, *more)
    total = float(session.total.nanoseconds if hasattr(session.total, "nanoseconds") else session.total)
    return math.nan if session.missing else total
