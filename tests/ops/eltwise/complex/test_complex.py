"""Complex tensors, operators and gradients against complex128.

Places and errors, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.comparison_mode import agrees_with_golden
from testkit.complex_calls import GRADIENTS, ONE, TWO, close, number, part, value_of
from ttnn.operation import registry

SHAPES: list[tuple[int, ...]] = [(), (31,), (33, 31), (2, 1, 32, 64), (0, 5)]
PLACE = ttnn.DRAM_MEMORY_CONFIG


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32], ids=["bfloat16", "float32"])
@pytest.mark.parametrize("name", ONE)
def test_complex_operators_match_their_references(name: str, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    reference, exact = ONE[name]
    for shape in SHAPES:
        x = number(shape, 1, device, dtype)
        close(getattr(ttnn, name)(x, memory_config=PLACE), reference(value_of(x)), dtype, exact)


@pytest.mark.parametrize("name", ONE)
def test_the_stated_accuracy_is_what_is_compared(name: str) -> None:
    entry = registry.find(f"ttnn.{name}").entry
    assert entry is not None
    assert entry.accuracy is not None
    if entry.family == "complex":
        assert entry.accuracy.exact == ONE[name][1]


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32], ids=["bfloat16", "float32"])
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_match_their_references(name: str, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    reference, is_complex = GRADIENTS[name]
    for shape in SHAPES:
        x = number(shape, 1, device, dtype)
        grad: Any = number(shape, 2, device, dtype) if is_complex else part(shape, 2, device, dtype)
        results = getattr(ttnn, name)(grad, x, memory_config=PLACE)
        references = reference(value_of(grad), value_of(x))
        assert len(results) == len(references) == 1
        close(results[0], references[0], dtype)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32], ids=["bfloat16", "float32"])
@pytest.mark.parametrize("name", TWO)
def test_gradients_of_two(name: str, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    reference, more = TWO[name]
    for shape in SHAPES:
        grad, a, b = (number(shape, seed, device, dtype) for seed in (1, 2, 3))
        results = getattr(ttnn, name)(grad, a, b, *more)
        references = reference(value_of(grad), value_of(a), value_of(b), *more)
        assert len(results) == len(references) == 2
        for result, expected in zip(results, references, strict=True):
            close(result, expected, dtype)


def _calls() -> list[tuple[str, int]]:
    """Return names and how many complex operands they take."""
    return [(name, 1) for name in ONE] + [(name, 3) for name in TWO]


@pytest.mark.parametrize(("name", "count"), _calls())
def test_places(name: str, count: int, device: ttnn.MeshDevice) -> None:
    """Bits are independent of memory configs; results follow `memory_config`."""
    more = TWO[name][1] if name in TWO else ()
    operation = getattr(ttnn, name)

    def results(where: ttnn.MemoryConfig | None, target: ttnn.MemoryConfig) -> list[Any]:
        operands = [number((64, 64), seed, device, memory_config=where) for seed in range(count)]
        found = operation(*operands, *more, memory_config=target)
        return found if isinstance(found, list) else [found]

    for a, b in zip(results(None, PLACE), results(ttnn.L1_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG), strict=True):
        np.testing.assert_array_equal(value_of(a), value_of(b))
        assert (a.memory_config(), b.memory_config()) == (PLACE, ttnn.L1_MEMORY_CONFIG)


def test_special_points(device: ttnn.MeshDevice) -> None:
    """The origin: magnitude and angle gradients 0, quotients NaN."""

    def complex_of(real: list[float], imag: list[float]) -> ttnn.ComplexTensor:
        parts = (
            ttnn.Tensor(np.float32(values), ttnn.float32, None, ttnn.TILE_LAYOUT).to(device) for values in (real, imag)
        )
        return ttnn.ComplexTensor(tuple(parts))

    origin, grad = complex_of([0.0, 3.0], [0.0, 4.0]), complex_of([1.0, 5.0], [1.0, 0.0])
    assert value_of(ttnn.abs(origin, memory_config=PLACE)).tolist() == [0.0, 5.0]
    zero = value_of(ttnn.abs_bw(grad.real, origin, memory_config=PLACE)[0])
    np.testing.assert_allclose(zero, [0.0, 3.0 + 4.0j], rtol=1e-6)
    assert value_of(ttnn.angle_bw(grad.real, origin, memory_config=PLACE)[0])[0] == 0.0
    for result in (*ttnn.reciprocal_bw(grad, origin, memory_config=PLACE), *ttnn.div_bw(grad, grad, origin)):
        assert np.isnan(value_of(result)[0])
        assert np.isfinite(value_of(result)[1])


def test_the_class(device: ttnn.MeshDevice) -> None:
    real, imag = part((2, 3), 1, device), part((2, 3), 2, device)
    x = ttnn.ComplexTensor((real, imag))
    assert x.real is x[0] is real
    assert x.imag is x[1] is imag
    assert x.shape == [2, 3]
    assert ttnn.real(x) is real
    assert repr(x).startswith("ComplexTensor(real=")
    with pytest.raises(ttnn.IndexRangeError, match="0 is the real and 1 the imaginary part"):
        x[2]
    with pytest.raises(ttnn.ArgumentError, match=r"ComplexTensor: expected a pair \(real, imaginary\) of tensors"):
        ttnn.ComplexTensor((real,))
    with pytest.raises(ttnn.ShapeError, match="Tensor shapes of real and imag should be identical"):
        ttnn.complex_tensor(real, part((3, 2), 1, device))
    x.deallocate()
    for name in ("conj", "angle"):
        with pytest.raises(ttnn.StorageError, match=rf"^ttnn\.{name}: input_tensor\.real"):
            getattr(ttnn, name)(x)


@pytest.mark.parametrize(("name", "count"), _calls())
def test_wrong_operands_raise_errors(name: str, count: int, device: ttnn.MeshDevice) -> None:
    more = TWO[name][1] if name in TWO else ()
    good = [number((32, 32), seed, device) for seed in range(count)]
    options = {"memory_config": PLACE}
    for i in range(count):
        host = ttnn.ComplexTensor((good[i].real, good[i].imag.cpu()))
        with pytest.raises(ttnn.StorageError, match=rf"^ttnn\.{name}: \w+\.imag is a host tensor"):
            getattr(ttnn, name)(*good[:i], host, *good[i + 1 :], *more, **options)
    with pytest.raises(TypeError, match=rf"ttnn\.{name}\(\): incompatible function arguments"):
        getattr(ttnn, name)(*good, good[0], *more, **options)


def test_every_operator_is_tried() -> None:
    registered = {entry.name for entry in registry.entries() if entry.family == "complex"}
    assert registered - set(ONE) - set(GRADIENTS) == {"complex_tensor"}
    overloaded = {
        entry.name
        for entry in registry.entries()
        if entry.family != "complex" and any("ComplexTensor" in s.text(entry.name) for s in entry.signatures)
    }
    assert overloaded == {"abs", "reciprocal", "abs_bw", "reciprocal_bw", *TWO}


@pytest.mark.parametrize("name", ["conj", "angle", "reciprocal_bw", "abs_bw"])
def test_comparison_mode_compares_complex_operators(name: str, device: ttnn.MeshDevice) -> None:
    x, grad = number((32, 32), 1, device, ttnn.float32), number((32, 32), 2, device, ttnn.float32)
    before = {"conj": (), "angle": (), "reciprocal_bw": (grad,), "abs_bw": (grad.real,)}[name]
    agrees_with_golden(lambda: getattr(ttnn, name)(*before, x, memory_config=PLACE), 0.99999)


def test_a_trace_replays_complex_operators(device: ttnn.MeshDevice) -> None:
    dram = ttnn.DRAM_MEMORY_CONFIG
    real, imag = (ttnn.full((32, 32), value, ttnn.bfloat16, ttnn.TILE_LAYOUT, device) for value in (3.0, 4.0))
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    whole = ttnn.complex_tensor(real, imag)
    length = ttnn.abs(ttnn.conj(whole, memory_config=dram), memory_config=dram)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    assert length.to_list()[0][0] == 5.0
    ttnn.copy_host_to_device_tensor(ttnn.full((32, 32), 0.0, ttnn.bfloat16, ttnn.TILE_LAYOUT), real)
    ttnn.execute_trace(device, trace, cq_id=0)
    assert length.to_list()[0][0] == 4.0
    ttnn.release_trace(device, trace)
