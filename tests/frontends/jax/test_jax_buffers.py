"""Arrays to the platform tt of jax and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

_WHOLE = np.arange(2 * 6 * 8).reshape(2, 6, 8)


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a,
        lambda a: a.T,
        lambda a: a[::-1],
        lambda a: a[:, ::-2, ::3],
        lambda a: a.transpose(1, 0, 2)[:, :, ::-1],
        lambda a: np.broadcast_to(a[:, :1], a.shape),
        lambda a: np.asfortranarray(a),
        lambda a: a[:, :0],
        lambda a: a[1, 2, 3],
        lambda a: a[:1, :1, :1],
    ],
)
@pytest.mark.parametrize(
    "dtype",
    [np.float32, ml_dtypes.bfloat16, np.float16, np.int8, np.uint16, np.int32, np.uint32, np.bool_, np.complex64],
)
def test_arrays_of_any_strides_come_back_exactly(tt: Any, view: Callable[[Any], Any], dtype: Any) -> None:
    array = view(_WHOLE.astype(dtype))
    put = jax.device_put(array, tt)
    assert put.devices() == {tt}
    assert put.dtype == array.dtype
    assert put.shape == array.shape
    np.testing.assert_array_equal(np.asarray(put), array)


def test_arrays_move_between_platforms(tt: Any) -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    there = jax.device_put(array, tt)
    back = jax.device_put(there, jax.devices("cpu")[0])
    again = jax.device_put(back, tt)
    assert back.devices() == {jax.devices("cpu")[0]}
    np.testing.assert_array_equal(np.asarray(again), array)


def test_results_of_programs_move_to_the_cpu(tt: Any) -> None:
    array = jax.device_put(np.arange(6, dtype=np.float32), tt) * 2
    moved = jax.device_put(array, jax.devices("cpu")[0])
    np.testing.assert_array_equal(np.asarray(moved), [0, 2, 4, 6, 8, 10])


def test_deleted_arrays_are_refused(tt: Any) -> None:
    array = jax.device_put(np.ones(4, np.float32), tt)
    array.delete()
    assert array.is_deleted()
    with pytest.raises(RuntimeError, match="deleted"):
        np.asarray(array)


def test_device_describes_itself(tt: Any) -> None:
    assert (tt.platform, tt.id, tt.process_index, repr(tt)) == ("tt", 0, 0, "TtDevice(id=0)")
    assert tt.device_kind in ("Wormhole", "Blackhole")
    assert [memory.kind for memory in tt.addressable_memories()] == ["device"]
    assert "ttnn-rs" in tt.client.platform_version


def test_memory_in_use_is_that_of_the_allocator(tt: Any) -> None:
    array = jnp.zeros((1024, 1024), jnp.float32) + 1
    array.block_until_ready()
    stats = tt.memory_stats()
    assert stats["bytes_in_use"] >= array.nbytes
    assert stats["bytes_limit"] > 1 << 30
