"""Multi-row weights, biases and masks: one row broadcast, or error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import raw_of
from ttnn.golden import normalization as golden

TILES, ROWS = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT
SHARDS = ttnn.create_sharded_memory_config((1, 1, 64, 64), ttnn.CoreGrid(y=1, x=2), ttnn.ShardStrategy.WIDTH)
WELFORD = ttnn.LayerNormDefaultProgramConfig(use_welford=True)
FIRST_ROW = "the program broadcasts its first row and ignores the others"
Call = Callable[..., ttnn.Tensor]


def drawn(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def placed(
    values: np.ndarray,
    device: ttnn.MeshDevice,
    dtype: ttnn.DataType = ttnn.bfloat16,
    layout: ttnn.Layout = TILES,
    memory_config: ttnn.MemoryConfig | None = None,
) -> ttnn.Tensor:
    tensor = ttnn.to_device(ttnn.to_layout(ttnn.Tensor(values, dtype), layout), device)
    return tensor if memory_config is None else ttnn.to_memory_config(tensor, memory_config)


def after_gather(name: str) -> Call:
    def run(x: ttnn.Tensor, **options: Any) -> ttnn.Tensor:
        stats = getattr(ttnn, f"{name}_pre_all_gather")(x)
        return getattr(ttnn, f"{name}_post_all_gather")(x, stats, **options)

    return run


def in_groups(x: ttnn.Tensor, **options: Any) -> ttnn.Tensor:
    return ttnn.group_norm(x, num_groups=2, inplace=False, **options)


def on_shards(name: str) -> Call:
    return lambda x, **options: getattr(ttnn, name)(ttnn.to_memory_config(x, SHARDS), **options)


NORMS: dict[str, Call] = {
    "layer_norm": ttnn.layer_norm,
    "rms_norm": ttnn.rms_norm,
    "layer_norm_sharded": on_shards("layer_norm"),
    "rms_norm_sharded": on_shards("rms_norm"),
    "layer_norm_welford": lambda x, **options: ttnn.layer_norm(x, program_config=WELFORD, **options),
    "layer_norm_gathered": after_gather("layer_norm"),
    "rms_norm_gathered": after_gather("rms_norm"),
    "rms_norm_fused": ttnn.experimental.dit_rms_norm_unary_fused,
    "group_norm": in_groups,
}


@pytest.mark.parametrize("shape", [(32, 64), (1, 1, 32, 64), (5, 64)], ids=str)
@pytest.mark.parametrize("name", NORMS)
def test_a_norm_reads_the_first_row_of_weights(name: str, shape: tuple[int, ...], device: ttnn.MeshDevice) -> None:
    x = placed(drawn((1, 1, 64, 64), 0), device)
    weight, bias = drawn(shape, 1), drawn(shape, 2)
    with pytest.warns(UserWarning, match=FIRST_ROW) as warned:
        found = NORMS[name](x, weight=placed(weight, device), bias=placed(bias, device))
    assert {str(w.message).split(": ")[1].split(" has")[0] for w in warned} == {"weight", "bias"}
    assert {w.filename for w in warned} == {__file__}
    row = {key: placed(v[..., :1, :], device) for key, v in (("weight", weight), ("bias", bias))}
    np.testing.assert_array_equal(raw_of(found), raw_of(NORMS[name](x, **row)))


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b])
def test_the_first_row_of_weights_has_the_values_of_the_reference(
    name: str, dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    values, weight, bias = drawn((64, 96), 0), drawn((5, 96), 1), drawn((5, 96), 2)
    x, w, b = (placed(v, device, dtype) for v in (values, weight, bias))
    with pytest.warns(UserWarning, match=FIRST_ROW):
        found = getattr(ttnn, name)(x, weight=w, bias=b, epsilon=1e-5)
    x, w, b = (t.to_numpy().astype(np.float64) for t in (x, w, b))
    center = x - x.mean(-1, keepdims=True) if name == "layer_norm" else x
    expected = center / np.sqrt((center**2).mean(-1, keepdims=True) + 1e-5) * w[:1] + b[:1]
    np.testing.assert_allclose(found.to_numpy(), expected, atol=0.08, rtol=0.02)
    np.testing.assert_allclose(getattr(golden, name)(x, weight=w, bias=b, epsilon=1e-5), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm", "group_norm"])
@pytest.mark.parametrize(
    ("shape", "layout", "sentence"),
    [
        ((64, 64), TILES, "tensor height must equal tile height (32), got: 64"),
        ((5, 64), ROWS, "input padded shape|volume needs to align"),
        ((32, 64), ROWS, "input padded shape|volume needs to align"),
        ((2, 2, 32), ROWS, "input padded shape|volume needs to align"),
    ],
    ids=str,
)
@pytest.mark.parametrize("label", ["weight", "bias"])
def test_weights_of_other_rows_are_refused(
    name: str, shape: tuple[int, ...], layout: ttnn.Layout, sentence: str, label: str, device: ttnn.MeshDevice
) -> None:
    x = placed(drawn((1, 1, 64, 64), 0), device)
    with pytest.raises(ttnn.ShapeError, match=f"{label} has shape") as raised:
        NORMS[name](x, **{label: placed(drawn(shape, 1), device, layout=layout)})
    assert any(part in str(raised.value) for part in sentence.split("|"))


def test_rows_of_32_may_lie_in_any_leading_dimensions(device: ttnn.MeshDevice) -> None:
    x, weight = placed(drawn((64, 64), 0), device), drawn((1, 64), 1)
    expected = raw_of(ttnn.rms_norm(x, weight=placed(weight, device)))
    for shape in ((2, 32), (1, 1, 2, 32), (2, 1, 32)):
        rows = placed(weight.reshape(shape), device, layout=ROWS)
        np.testing.assert_array_equal(raw_of(ttnn.rms_norm(x, weight=rows)), expected)


MASKED: dict[str, Call] = {
    "scale_mask_softmax": lambda x, mask: ttnn.scale_mask_softmax(x, 0.5, mask),
    "attention_softmax": lambda x, mask: ttnn.transformer.attention_softmax(x, head_size=4, attention_mask=mask),
}
IN_PLACE: dict[str, Call] = {
    "scale_mask_softmax_in_place": lambda x, mask: ttnn.scale_mask_softmax_in_place(x, 0.5, mask),
    "attention_softmax_": lambda x, mask: ttnn.transformer.attention_softmax_(x, head_size=4, attention_mask=mask),
}


@pytest.mark.parametrize("rows", [2, 5, 32])
@pytest.mark.parametrize("name", [*MASKED, *IN_PLACE])
def test_a_mask_that_is_not_causal_is_its_first_row(name: str, rows: int, device: ttnn.MeshDevice) -> None:
    scores, mask = drawn((2, 2, 64, 96), 0), drawn((2, 1, rows, 96), 1)
    run = (MASKED | IN_PLACE)[name]
    with pytest.warns(UserWarning, match=FIRST_ROW):
        found = run(placed(scores, device), placed(mask, device))
    one = run(placed(scores, device), placed(mask[..., :1, :], device))
    np.testing.assert_array_equal(raw_of(found), raw_of(one))
    powers = np.exp(scores * 0.5 + mask[..., :1, :])
    np.testing.assert_allclose(found.to_numpy(), powers / powers.sum(-1, keepdims=True), atol=0.01)
    expected = golden.scale_mask_softmax(scores, 0.5, mask)
    np.testing.assert_allclose(expected, powers / powers.sum(-1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("rows", [64, 40])
@pytest.mark.parametrize("name", IN_PLACE)
def test_a_taller_mask_gives_batch_n_its_tile_row_n(name: str, rows: int, device: ttnn.MeshDevice) -> None:
    scores, mask = drawn((3, 2, 64, 96), 0), drawn((3, 1, rows, 96), 1)
    with pytest.warns(UserWarning, match=r"broadcasts to batch n row 32 \* n"):
        found = IN_PLACE[name](placed(scores, device), placed(mask, device))
    # Two tile rows for every batch of the mask: batch 1 reads the second of batch 0, batch 2 the first of batch 1.
    read = np.stack([mask[0, :, :1], mask[0, :, 32:33], mask[1, :, :1]])
    expected = IN_PLACE[name](placed(scores, device), placed(read, device))
    np.testing.assert_array_equal(raw_of(found), raw_of(expected))


@pytest.mark.parametrize("name", IN_PLACE)
def test_a_taller_mask_of_one_batch_is_its_first_row(name: str, device: ttnn.MeshDevice) -> None:
    scores, mask = drawn((1, 2, 64, 64), 0), drawn((1, 1, 64, 64), 1)
    with pytest.warns(UserWarning, match=FIRST_ROW):
        found = IN_PLACE[name](placed(scores, device), placed(mask, device))
    expected = IN_PLACE[name](placed(scores, device), placed(mask[..., :1, :], device))
    np.testing.assert_array_equal(raw_of(found), raw_of(expected))


@pytest.mark.parametrize("causal", [False, True])
def test_a_mask_taller_than_a_tile_is_refused_out_of_place(causal: bool, device: ttnn.MeshDevice) -> None:
    x, mask = (placed(drawn((1, 1, 64, 64), seed), device) for seed in (0, 1))
    with pytest.raises(ttnn.ShapeError, match="input tensor tile height \\(32\\), got: 64"):
        ttnn.scale_mask_softmax(x, 0.5, mask, is_causal_mask=causal)
    with pytest.raises(ttnn.ShapeError, match="input tensor tile height \\(32\\), got: 64"):
        ttnn.transformer.attention_softmax(x, head_size=4, attention_mask=mask, causal_mask=causal)


def test_a_row_major_mask_of_some_rows_is_refused(device: ttnn.MeshDevice) -> None:
    x = placed(drawn((1, 1, 64, 64), 0), device)
    for rows in (5, 64):
        with pytest.raises(ttnn.ShapeError, match="mask has shape"):
            ttnn.scale_mask_softmax_in_place(x, 0.5, placed(drawn((1, 1, rows, 64), 1), device, layout=ROWS))
        with pytest.raises(ttnn.ShapeError, match="Mask height must be 1"):
            ttnn.scale_mask_softmax(x, 0.5, placed(drawn((1, 1, rows, 64), 1), device, layout=ROWS))
