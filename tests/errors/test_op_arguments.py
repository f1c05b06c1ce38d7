"""Errors of operators for invalid calls: class and text of every error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pinned import short

import ttnn
from ttnn.base.exceptions import TtnnError

Make = Callable[..., ttnn.Tensor]


@pytest.fixture
def t(device: ttnn.MeshDevice) -> Make:
    """Return a function that makes a device tensor of zeros."""

    def make(
        shape: tuple[int, ...],
        dtype: ttnn.DataType = ttnn.bfloat16,
        layout: ttnn.Layout = ttnn.TILE_LAYOUT,
        memory_config: ttnn.MemoryConfig | None = None,
    ) -> ttnn.Tensor:
        return ttnn.zeros(shape, dtype, layout, device, memory_config)

    return make


ROWS = ttnn.ROW_MAJOR_LAYOUT
SHARDED = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(y=2, x=1), ttnn.ShardStrategy.HEIGHT)


def host(shape: tuple[int, ...] = (2, 3)) -> ttnn.Tensor:
    return ttnn.zeros(shape, layout=ttnn.TILE_LAYOUT)


def small_tiles(t: Make) -> ttnn.Tensor:
    return ttnn.tilize(t((32, 32), layout=ROWS), tile=ttnn.Tile((16, 16)))


def gone(tensor: ttnn.Tensor) -> ttnn.Tensor:
    tensor.deallocate()
    return tensor


def _cases() -> list[Any]:
    """Return the blocks of `op_arguments.txt`.

    A name, an expression, the class and text of its error.
    """
    blocks = (Path(__file__).parent / "op_arguments.txt").read_text(encoding="utf-8").split("=== ")[1:]
    cases = []
    for block in blocks:
        name, expression, answer = block.removesuffix("\n").removesuffix("\n").split("\n", 2)
        error, text = answer.split(": ", 1)
        cases.append(pytest.param(expression.removeprefix(">>> "), error, text, id=name))
    return cases


CASES = _cases()


def call(expression: str, t: Make) -> Any:
    return eval(expression, {**globals(), "t": t})


@pytest.mark.parametrize(("expression", "error", "text"), CASES)
def test_error_has_the_recorded_class_and_text(t: Make, expression: str, error: str, text: str) -> None:
    with pytest.raises(TtnnError) as caught:
        call(expression, t)
    assert type(caught.value).__name__ == error
    if text.endswith("Available signatures:"):
        # The signatures follow; they are printed from the registry entry.
        assert str(caught.value).startswith(text)
    else:
        assert short(str(caught.value), expression) == text


def test_signatures_follow_the_entry(t: Make) -> None:
    with pytest.raises(TypeError) as caught:
        ttnn.unsqueeze(t((2, 3)))
    assert str(caught.value) == (
        "\nttnn.unsqueeze(): incompatible function arguments.\n\nCalled with:\n  unsqueeze(ttnn.Tensor)\n\n"
        "Available signatures:\n  unsqueeze(input_tensor: ttnn.Tensor, dim: int)"
    )


def test_errors_leave_the_device_usable(t: Make) -> None:
    for case in CASES:
        with pytest.raises(TtnnError):
            call(case.values[0], t)
    assert np.all(np.asarray(ttnn.add(t((2, 3)), 1.0).to_list()) == 1.0)


def test_tensor_on_another_device_raises_storage_error(t: Make) -> None:
    other = ttnn.open_device(device_id=1)
    try:
        with pytest.raises(ttnn.StorageError, match=r"ttnn\.add: input_tensor_b is on another device"):
            ttnn.add(t((2, 3)), ttnn.zeros((2, 3), ttnn.bfloat16, ttnn.TILE_LAYOUT, other))
    finally:
        ttnn.close_device(other)


def test_tensor_of_a_closed_device_raises_device_error() -> None:
    device = ttnn.open_device(device_id=0)
    tensor = ttnn.zeros((2, 3), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    ttnn.close_device(device)
    with pytest.raises(ttnn.DeviceError, match=r"ttnn.exp: the device of input_tensor \(Shape\(\[2, 3\]\)\) is closed"):
        ttnn.exp(tensor)


def test_too_large_tensor_raises_out_of_memory_error(device: ttnn.MeshDevice) -> None:
    with pytest.raises(ttnn.OutOfMemoryError, match=r"Out of Memory: Not enough space to allocate"):
        ttnn.zeros((1 << 20, 1 << 16), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    assert ttnn.zeros((2, 3), device=device).shape == [2, 3]


@pytest.mark.parametrize("name", ["full", "full_like"])
def test_memory_config_of_a_filled_tensor_must_be_its_own(t: Make, name: str) -> None:
    first: Any = (2, 3) if name == "full" else t((2, 3))
    with pytest.raises(ttnn.MemoryConfigError, match=rf"^ttnn.{name}: memory_config is .*, but optional_tensor is in "):
        getattr(ttnn, name)(first, 1, memory_config=ttnn.L1_MEMORY_CONFIG, optional_tensor=t((2, 3)))
    taken = t((2, 3))
    assert getattr(ttnn, name)(first, 1, memory_config=taken.memory_config(), optional_tensor=taken) is taken
