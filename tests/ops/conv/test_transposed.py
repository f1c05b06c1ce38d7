"""Transposed convolutions against torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn

CASES = [
    ((1, 8, 8, 32), 32, (3, 3), {"padding": (1, 1)}),
    ((2, 5, 7, 16), 24, (3, 3), {"padding": (1, 1), "stride": (2, 2), "output_padding": (1, 1)}),
    ((1, 6, 6, 64), 32, (2, 2), {"stride": (2, 2)}),
    ((1, 6, 5, 32), 32, (4, 3), {"stride": (3, 2), "padding": (2, 1), "dilation": (2, 1)}),
    ((1, 6, 5, 32), 64, (3, 3), {"stride": (2, 1), "groups": 4}),
    ((1, 6, 5, 32), 32, (1, 1), {"stride": (2, 2), "padding": (1, 0)}),
]


def _call(device: ttnn.MeshDevice, image: tuple[int, ...], out: int, kernel: tuple[int, int], **options: Any) -> Any:
    rng = np.random.default_rng(0)
    batch, height, width, channels = image
    x = rng.normal(size=(1, 1, batch * height * width, channels)).astype(np.float32)
    weight = rng.normal(size=(channels, out // options.get("groups", 1), *kernel)).astype(np.float32)
    bias = rng.normal(size=(1, 1, 1, out)).astype(np.float32)
    tensors = [ttnn.Tensor(values, ttnn.bfloat16) for values in (x, weight, bias)]
    given = options.pop("weight", None)
    result = ttnn.conv_transpose2d(
        input_tensor=tensors[0],
        weight_tensor=tensors[1] if given is None else given(tensors[1]),
        bias_tensor=tensors[2],
        device=device,
        in_channels=channels,
        out_channels=out,
        batch_size=batch,
        input_height=height,
        input_width=width,
        kernel_size=kernel,
        **options,
    )
    return result, [np.asarray(tensor.to_numpy(), np.float64) for tensor in tensors]


@pytest.mark.parametrize(("image", "out", "kernel", "options"), CASES)
def test_result_is_near_torch(
    image: tuple[int, ...], out: int, kernel: tuple[int, int], options: dict[str, Any], device: ttnn.MeshDevice
) -> None:
    torch = pytest.importorskip("torch")
    (result, size), (x, weight, bias) = _call(device, image, out, kernel, return_output_dim=True, **options)
    images = torch.tensor(x.reshape(image)).permute(0, 3, 1, 2)
    expected = torch.nn.functional.conv_transpose2d(
        images, torch.tensor(weight), torch.tensor(bias.reshape(-1)), **options
    )
    assert size == tuple(expected.shape[2:])
    flat = expected.permute(0, 2, 3, 1).reshape(1, 1, -1, out).numpy()
    scale = np.abs(flat).max()
    np.testing.assert_allclose(np.asarray(result.to_numpy(), np.float64), flat, atol=0.02 * scale)


def test_a_kernel_mirrored_before(device: ttnn.MeshDevice) -> None:
    first, _ = _call(device, (1, 6, 5, 32), 32, (3, 3), stride=(2, 2))

    def mirrored(weight: ttnn.Tensor) -> ttnn.Tensor:
        return ttnn.Tensor(np.ascontiguousarray(weight.to_numpy()[..., ::-1, ::-1], np.float32), ttnn.bfloat16)

    second, _ = _call(device, (1, 6, 5, 32), 32, (3, 3), stride=(2, 2), weight=mirrored, mirror_kernel=False)
    np.testing.assert_array_equal(first.to_numpy(), second.to_numpy())


def test_operands_that_do_not_fit_raise_errors(device: ttnn.MeshDevice) -> None:
    with pytest.raises(ttnn.ParameterError, match="output_padding"):
        _call(device, (1, 6, 5, 32), 32, (3, 3), output_padding=(1, 0))
    with pytest.raises(ttnn.ParameterError, match="leaves nothing"):
        _call(device, (1, 2, 2, 32), 32, (1, 1), padding=(1, 1))
    with pytest.raises(ttnn.ShapeError, match="weight_tensor"):
        _call(
            device,
            (1, 6, 5, 32),
            32,
            (3, 3),
            weight=lambda weight: ttnn.Tensor(np.zeros((1, 1, 3, 3), np.float32), ttnn.bfloat16),
        )
