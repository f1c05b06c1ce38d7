"""Pooling: comparison with PyTorch, exact maxima, and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

_HEIGHT = ttnn.TensorMemoryLayout.HEIGHT_SHARDED

CASES: list[tuple[tuple[int, int, int, int], dict[str, Any]]] = [
    ((1, 8, 8, 32), {"kernel_size": (2, 2), "stride": (2, 2), "padding": (0, 0)}),
    ((2, 9, 7, 40), {"kernel_size": (3, 3), "stride": (2, 1), "padding": (1, 1)}),
    ((1, 10, 10, 16), {"kernel_size": (3, 2), "stride": (2, 2), "padding": (1, 0), "ceil_mode": True}),
    ((1, 12, 12, 64), {"kernel_size": (5, 5), "stride": (1, 1), "padding": (2, 2)}),
    ((1, 16, 16, 8), {"kernel_size": (7, 7), "stride": (3, 3), "padding": (3, 3)}),
]


def _image(shape: tuple[int, ...], device: ttnn.MeshDevice) -> ttnn.Tensor:
    values = np.random.default_rng(5).normal(size=shape).astype(np.float32)
    return ttnn.Tensor(values, ttnn.bfloat16).to(device)


def _channels_first(x: ttnn.Tensor) -> Any:
    torch = pytest.importorskip("torch")
    return torch.from_numpy(np.asarray(x.to_numpy(), np.float64)).permute(0, 3, 1, 2)


def _flat(reference: Any) -> np.ndarray:
    return np.asarray(reference.permute(0, 2, 3, 1).reshape(1, 1, -1, reference.shape[1]))


@pytest.mark.parametrize(("shape", "options"), CASES)
def test_maxima_are_exact(shape: tuple[int, int, int, int], options: dict[str, Any], device: ttnn.MeshDevice) -> None:
    x = _image(shape, device)
    batch, height, width, channels = shape
    result = ttnn.max_pool2d(
        x, batch_size=batch, input_h=height, input_w=width, channels=channels, dilation=(1, 1), **options
    )
    torch = pytest.importorskip("torch")
    reference = _flat(torch.nn.functional.max_pool2d(_channels_first(x), **options))
    np.testing.assert_array_equal(np.asarray(result.to_numpy(), np.float64), reference)


@pytest.mark.parametrize("count_include_pad", [True, False])
@pytest.mark.parametrize(("shape", "options"), CASES)
def test_means_are_near(
    shape: tuple[int, int, int, int], options: dict[str, Any], count_include_pad: bool, device: ttnn.MeshDevice
) -> None:
    x = _image(shape, device)
    batch, height, width, channels = shape
    result = ttnn.avg_pool2d(
        x,
        batch_size=batch,
        input_h=height,
        input_w=width,
        channels=channels,
        count_include_pad=count_include_pad,
        **options,
    )
    torch = pytest.importorskip("torch")
    reference = _flat(
        torch.nn.functional.avg_pool2d(_channels_first(x), count_include_pad=count_include_pad, **options)
    )
    assert np.max(np.abs(np.asarray(result.to_numpy(), np.float64) - reference)) < 0.03


def test_windows_that_divide_the_image(device: ttnn.MeshDevice) -> None:
    torch = pytest.importorskip("torch")
    x = _image((1, 8, 8, 32), device)
    first = _channels_first(x)
    largest = ttnn.adaptive_max_pool2d(x, 1, 8, 8, 32, [3, 5])
    expected = _flat(torch.nn.functional.adaptive_max_pool2d(first, (3, 5)))
    np.testing.assert_array_equal(np.asarray(largest.to_numpy(), np.float64), expected)
    mean = ttnn.adaptive_avg_pool2d(x, 1, 8, 8, 32, [3, 5])
    expected = _flat(torch.nn.functional.adaptive_avg_pool2d(first, (3, 5)))
    assert np.max(np.abs(np.asarray(mean.to_numpy(), np.float64) - expected)) < 0.02


def test_a_divisor_may_be_given(device: ttnn.MeshDevice) -> None:
    x = _image((1, 4, 4, 32), device)
    halves = ttnn.avg_pool2d(x, 1, 4, 4, 32, [2, 2], [2, 2], [0, 0], divisor_override=8)
    quarters = ttnn.avg_pool2d(x, 1, 4, 4, 32, [2, 2], [2, 2], [0, 0])
    np.testing.assert_array_equal(
        np.asarray(quarters.to_numpy(), np.float64), 2 * np.asarray(halves.to_numpy(), np.float64)
    )


def test_infinities_and_zeros(device: ttnn.MeshDevice) -> None:
    values = np.full((1, 2, 2, 32), -np.inf, np.float32)
    values[0, 0, 0, 1], values[0, 0, 0, 2] = -0.0, np.inf
    x = ttnn.Tensor(values, ttnn.bfloat16).to(device)
    result = np.asarray(ttnn.max_pool2d(x, 1, 2, 2, 32, [2, 2], [2, 2], [0, 0], [1, 1]).to_numpy(), np.float64)
    assert result[0, 0, 0, 0] == -np.inf
    assert result[0, 0, 0, 1] == 0
    assert not np.signbit(result[0, 0, 0, 1])
    assert result[0, 0, 0, 2] == np.inf


@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
@pytest.mark.parametrize("factor", [2, (3, 2), 4])
def test_upsample_matches_torch(mode: str, factor: Any, device: ttnn.MeshDevice) -> None:
    torch = pytest.importorskip("torch")
    x = _image((2, 5, 6, 32), device)
    result = ttnn.upsample(x, factor, mode=mode)
    options = {} if mode == "nearest" else {"align_corners": False}
    reference = torch.nn.functional.interpolate(_channels_first(x), scale_factor=factor, mode=mode, **options)
    got = np.asarray(result.to_numpy(), np.float64)
    expected = np.asarray(reference.permute(0, 2, 3, 1))
    assert got.shape == expected.shape
    if mode == "nearest":
        np.testing.assert_array_equal(got, expected)
    assert np.max(np.abs(got - expected)) < 0.05


@pytest.mark.parametrize("factor", [2, (1, 3), 1.5])
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
def test_nearest_pixels_keep_their_words(dtype: ttnn.DataType, factor: Any, device: ttnn.MeshDevice) -> None:
    """Pixels are copied: also negative zeros, denormals and all bits of float32."""
    values = np.random.default_rng(3).normal(size=(1, 4, 6, 24)).astype(np.float32)
    values[0, 0, 0, :4] = -0.0, 1e-40, np.pi, np.nextafter(np.float32(1), np.float32(2))
    x = ttnn.Tensor(values, dtype).to(device)
    got = ttnn.upsample(x, factor)
    down, across = factor if isinstance(factor, tuple) else (factor, factor)
    rows, columns = (np.floor(np.arange(int(n * by)) / by).astype(int) for n, by in ((4, down), (6, across)))
    words = np.asarray(x.to_numpy(), np.float32).view(np.uint32)[:, rows][:, :, columns]
    assert got.dtype is dtype
    np.testing.assert_array_equal(np.asarray(got.to_numpy(), np.float32).view(np.uint32), words)


@pytest.mark.parametrize(("strategy", "grid", "shape"), [("HEIGHT", (2, 1), (48, 32)), ("WIDTH", (1, 4), (96, 8))])
def test_shards_of_larger_images_grow(
    strategy: str, grid: tuple[int, int], shape: tuple[int, int], device: ttnn.MeshDevice
) -> None:
    cores = ttnn.CoreGrid(y=grid[0], x=grid[1])
    place = ttnn.create_sharded_memory_config((1, 4, 4, 32), cores, ttnn.ShardStrategy[strategy])
    x = ttnn.to_memory_config(_image((1, 4, 4, 32), device), place)
    got = ttnn.upsample(x, [2, 3])
    spec = got.memory_config().shard_spec
    assert spec is not None
    assert tuple(spec.shape) == shape
    np.testing.assert_array_equal(got.to_numpy(), x.to_numpy().repeat(2, 1).repeat(3, 2))


@pytest.mark.parametrize("factor", [1.5, (2.5, 1.25), (0.75, 0.5), (2.0, 0.5), (1.5, 3), 0.3])
def test_images_larger_by_fractions(factor: Any, device: ttnn.MeshDevice) -> None:
    torch = pytest.importorskip("torch")
    x = _image((2, 8, 20, 32), device)
    result = ttnn.upsample(x, factor)
    reference = torch.nn.functional.interpolate(_channels_first(x), scale_factor=factor, mode="nearest")
    np.testing.assert_array_equal(result.to_numpy(), np.asarray(reference.permute(0, 2, 3, 1)))
    golden = ttnn.get_golden_function(ttnn.upsample)(x.to_torch(), factor)
    assert torch.equal(golden.to(torch.bfloat16), result.to_torch())


def test_positions_of_fractions_have_16_fractional_bits(device: ttnn.MeshDevice) -> None:
    """The reciprocal rounds up, so far right pixels come early."""
    x = ttnn.from_torch(_wide(30000), dtype=ttnn.bfloat16, device=device)
    got = np.asarray(ttnn.upsample(x, [1, 1.1]).to_numpy(), np.int64)[0, 0, :, :2] @ [1, 256]
    outputs = np.arange(33000)
    np.testing.assert_array_equal(got, np.minimum(outputs * 59579 >> 16, 29999))
    assert np.any(got != np.floor(outputs / 1.1))


def _wide(width: int) -> Any:
    """Return a pixel row with numbers in two base 256 digits."""
    torch = pytest.importorskip("torch")
    pixels = torch.arange(width).reshape(1, 1, width, 1)
    return torch.cat([pixels % 256, pixels // 256], dim=3).to(torch.bfloat16)


def test_shards_of_images_larger_by_fractions_stay_on_their_cores(device: ttnn.MeshDevice) -> None:
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (0, 3))])
    spec = ttnn.ShardSpec(cores, [32, 32], ttnn.ShardOrientation.ROW_MAJOR)
    place = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)
    x = _image((1, 8, 16, 32), device)
    result = ttnn.upsample(ttnn.to_memory_config(x, place), [1.5, 1.0])
    assert result.memory_config().shard_spec == ttnn.ShardSpec(cores, [48, 32], spec.orientation)
    np.testing.assert_array_equal(result.to_numpy(), ttnn.upsample(x, [1.5, 1.0]).to_numpy())


def test_operands_that_do_not_fit_raise_errors(device: ttnn.MeshDevice) -> None:
    x = _image((1, 4, 4, 32), device)
    with pytest.raises(ttnn.ShapeError, match="pixels"):
        ttnn.max_pool2d(x, 1, 5, 4, 32, [2, 2], [2, 2], [0, 0], [1, 1])
    with pytest.raises(ttnn.ParameterError, match="more than half"):
        ttnn.max_pool2d(x, 1, 4, 4, 32, [2, 2], [2, 2], [2, 2], [1, 1])
    with pytest.raises(ttnn.ParameterError, match="does not fit"):
        ttnn.avg_pool2d(x, 1, 4, 4, 32, [5, 5], [1, 1], [0, 0])
    with pytest.raises(ttnn.ParameterError, match="mode"):
        ttnn.upsample(x, 2, mode="cubic")
    with pytest.raises(ttnn.ParameterError, match="bilinear requires integers"):
        ttnn.upsample(x, 1.5, mode="bilinear")
    with pytest.raises(ttnn.ParameterError, match="positive"):
        ttnn.upsample(x, [1.5, -0.5])
    with pytest.raises(ttnn.LayoutError, match="ROW_MAJOR"):
        ttnn.upsample(ttnn.to_layout(_image((1, 4, 32, 32), device), ttnn.TILE_LAYOUT), 1.5)
    with pytest.raises(ttnn.ShapeError, match="leaves nothing"):
        ttnn.upsample(x, [1.0, 0.2])
    with pytest.raises(ttnn.MemoryConfigError, match="not sharded"):
        ttnn.upsample(x, 1.5, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG)
    assert ttnn.max_pool2d(x, 1, 4, 4, 32, [2, 2], [2, 2], [0, 0], [1, 1]).shape == (1, 1, 4, 32)


def _swap(values: np.ndarray, indices: np.ndarray, one: int, other: int) -> None:
    """Exchange lanes of two registers where the second one is larger."""
    swapped = values[one] < values[other]
    for registers in (values, indices):
        pair = registers[[one, other]]
        registers[one] = np.where(swapped, pair[1], pair[0])
        registers[other] = np.where(swapped, pair[0], pair[1])


def _transposed(registers: np.ndarray) -> None:
    """Transpose four registers of four lane rows."""
    registers[:] = registers.reshape(4, 4, 8).transpose(1, 0, 2).reshape(4, 32)


def _eight(values: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest of eight sticks, as the SFPU finds it.

    A register has two sticks in its lane rows: those of rows 0 and 2 in the left face.
    """
    lanes, numbers = np.full((4, 32), -np.inf), np.zeros((4, 32), np.int64)
    for stick in range(8):
        lanes[stick // 2, stick % 2 * 16] = values[stick]
        numbers[stick // 2, stick % 2 * 16] = indices[stick]
    for one, other in ((0, 1), (2, 3), (0, 2)):
        _swap(lanes, numbers, one, other)
    _transposed(lanes)
    _transposed(numbers)
    for one, other in ((0, 2), (1, 3)):
        _swap(lanes, numbers, one, other)
    return lanes[0, 0], numbers[0, 0]


def _winner(values: np.ndarray, indices: np.ndarray, kernel: tuple[int, int]) -> int:
    """Return the index that the kernel for windows finds in one channel."""
    window = len(values)
    if window > 32:
        rows = [
            _winner_up_to_32(*(part[row * kernel[1] :][: kernel[1]] for part in (values, indices)))
            for row in range(kernel[0])
        ]
        most = rows[0]
        for row in rows[1:]:
            most = row if row[0] >= most[0] else most
        return int(most[1])
    if window <= 9:
        padded = [
            np.concatenate([part, fill])
            for part, fill in zip(
                (values, indices), (np.full(9 - window, -np.inf), np.zeros(9 - window, int)), strict=True
            )
        ]
        found = _eight(*(part[:8] for part in padded))
        return int(found[1] if found[0] >= padded[0][8] else padded[1][8])
    return int(_winner_up_to_32(values, indices)[1])


def _winner_up_to_32(values: np.ndarray, indices: np.ndarray) -> tuple[Any, Any]:
    padded = np.concatenate([values, np.full(32 - len(values), -np.inf)])
    numbers = np.concatenate([indices, np.zeros(32 - len(values), int)])
    first, second, third, fourth = (_eight(padded[at : at + 8], numbers[at : at + 8]) for at in (0, 8, 16, 24))
    # What was reduced last stays in the register that keeps its index.
    lower = second if second[0] >= first[0] else first
    upper = fourth if fourth[0] >= third[0] else third
    return upper if upper[0] >= lower[0] else lower


@pytest.mark.parametrize("layout", [ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT])
@pytest.mark.parametrize(
    ("kernel", "stride", "padding", "dilation"),
    [((2, 2), 2, 0, 1), ((3, 3), 2, 1, 1), ((2, 4), 1, 0, 2), ((3, 4), 2, 1, 1), ((5, 6), 1, 0, 1), ((7, 5), 2, 2, 1)],
)
def test_pixels_of_the_largest(
    kernel: tuple[int, int], stride: int, padding: int, dilation: int, layout: ttnn.Layout, device: ttnn.MeshDevice
) -> None:
    torch = pytest.importorskip("torch")
    # Few values, so that many are equal: the order of the kernel's comparisons decides.
    values = np.random.default_rng(7).integers(0, 4, (2, 9, 11, 64)).astype(np.float32)
    x = ttnn.Tensor(values.reshape(1, 1, -1, 64), ttnn.bfloat16, device=device)
    options = {"batch_size": 2, "input_h": 9, "input_w": 11, "channels": 64, "kernel_size": list(kernel)}
    options |= {"stride": [stride] * 2, "padding": [padding] * 2, "dilation": [dilation] * 2}
    place = ttnn.create_sharded_memory_config((1, 1, 198, 64), ttnn.CoreGrid(y=3, x=1), ttnn.ShardStrategy.HEIGHT)
    largest, found = ttnn.max_pool2d(
        ttnn.to_memory_config(x, place), **options, return_indices=True, output_layout=layout
    )
    images = torch.from_numpy(values.transpose(0, 3, 1, 2).copy())
    wanted = torch.nn.functional.max_pool2d(images, kernel, stride, padding, dilation)
    shape = tuple(largest.shape)
    np.testing.assert_array_equal(values_of(largest), wanted.permute(0, 2, 3, 1).reshape(shape).numpy())
    unfolded = [
        torch.nn.functional.unfold(
            torch.nn.functional.pad(part, [padding] * 4, value=fill), kernel, dilation, 0, stride
        ).numpy()
        for part, fill in ((images, -np.inf), (torch.arange(99.0).reshape(1, 1, 9, 11), -1))
    ]
    windows = unfolded[0].reshape(2, 64, kernel[0] * kernel[1], -1)
    numbers = unfolded[1][0].astype(int)
    got = values_of(found).reshape(2, -1, 64)
    for image, channel, window in np.ndindex(2, 6, windows.shape[3]):
        expected = _winner(windows[image, channel, :, window], numbers[:, window], kernel)
        assert got[image, window, channel] == expected, (image, channel, window)
    assert found.dtype is ttnn.uint16
    assert found.layout is layout


def test_channels_of_a_core_decide_how_many_sticks_are_compared(device: ttnn.MeshDevice) -> None:
    """Channels decide whether a window of 20 is compared at once."""
    options = {"batch_size": 1, "input_h": 4, "input_w": 5, "kernel_size": [4, 5], "stride": [1, 1]}
    options |= {"padding": [0, 0], "dilation": [1, 1], "return_indices": True}
    for channels, expected in ((16, 15), (32, 16)):
        x = ttnn.Tensor(np.ones((1, 1, 20, channels), np.float32), ttnn.bfloat16, device=device)
        _, found = ttnn.max_pool2d(x, channels=channels, **options, applied_shard_scheme=_HEIGHT)
        assert (values_of(found) == expected).all()
    # Without a scheme, the shards with the smallest buffers: one core has all channels, of the last tile 16.
    for channels, expected in ((48, 15), (64, 16)):
        x = ttnn.Tensor(np.ones((1, 1, 20, channels), np.float32), ttnn.bfloat16, device=device)
        _, found = ttnn.max_pool2d(x, channels=channels, **options)
        assert (values_of(found) == expected).all()


def test_indices_of_padding_wrap(device: ttnn.MeshDevice) -> None:
    """Padding wins where everything is minus infinity."""
    x = ttnn.Tensor(np.full((1, 1, 4, 32), -np.inf, np.float32), ttnn.bfloat16, device=device)
    _, found = ttnn.max_pool2d(x, 1, 2, 2, 32, [2, 2], [2, 2], [1, 1], [1, 1], return_indices=True)
    np.testing.assert_array_equal(values_of(found)[0, 0, :, 0], [65533, 65535, 1, 3])


def test_pixels_beyond_65535(device: ttnn.MeshDevice) -> None:
    values = np.random.default_rng(7).normal(size=(1, 1, 256 * 257, 1)).astype(np.float32)
    x = ttnn.Tensor(values, ttnn.bfloat16, device=device)
    options = {"batch_size": 1, "input_h": 256, "input_w": 257, "channels": 1, "kernel_size": [256, 257]}
    _, found = ttnn.max_pool2d(
        x, **(options | {"kernel_size": [4, 1]}), stride=[4, 1], padding=[0, 0], dilation=[1, 1], return_indices=True
    )
    assert found.dtype is ttnn.uint32
    # Of equal elements, the even sticks win.
    order = np.array([0, 2, 1, 3])
    rows = values_of(x).reshape(64, 4, 257)[:, order]
    expected = (np.arange(64)[:, None] * 4 + order[rows.argmax(1)]) * 257 + np.arange(257)
    np.testing.assert_array_equal(values_of(found).reshape(64, 257), expected)


def test_block_floats_come_out_in_tiles(device: ttnn.MeshDevice) -> None:
    x = make((1, 1, 64, 64), ttnn.bfloat8_b, ttnn.TILE_LAYOUT, device)
    options = {"batch_size": 1, "input_h": 8, "input_w": 8, "channels": 64, "kernel_size": [2, 2]}
    options |= {"stride": [2, 2], "padding": [0, 0], "dilation": [1, 1]}
    plain = ttnn.max_pool2d(x, **options, output_layout=ttnn.TILE_LAYOUT)
    packed = ttnn.max_pool2d(x, **options, output_layout=ttnn.TILE_LAYOUT, dtype=ttnn.bfloat8_b)
    np.testing.assert_array_equal(values_of(packed), values_of(ttnn.typecast(plain, ttnn.bfloat8_b)))
    with pytest.raises(ttnn.LayoutError, match="BFLOAT8_B"):
        ttnn.max_pool2d(x, **options, dtype=ttnn.bfloat8_b)
    flat = ttnn.max_pool2d(ttnn.reshape(x, (64, 64)), **options)
    np.testing.assert_array_equal(values_of(flat), values_of(plain))


@pytest.mark.parametrize("scheme", [ttnn.TensorMemoryLayout.INTERLEAVED, ttnn.TensorMemoryLayout.ND_SHARDED])
def test_other_shard_schemes_leave_the_choice(scheme: ttnn.TensorMemoryLayout, device: ttnn.MeshDevice) -> None:
    x = make((1, 1, 64, 32), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device)
    options = {"batch_size": 1, "input_h": 8, "input_w": 8, "channels": 32, "kernel_size": [3, 3]}
    options |= {"stride": [1, 1], "padding": [1, 1], "dilation": [1, 1], "return_indices": True}
    found, expected = (ttnn.max_pool2d(x, **options, applied_shard_scheme=one)[1] for one in (scheme, None))
    np.testing.assert_array_equal(values_of(found), values_of(expected))
