"""Golden functions that make, move and view torch tensors."""

from __future__ import annotations

from pathlib import Path

import pytest

import ttnn
from ttnn.operation import registry
from ttnn.ops import conversion

torch = pytest.importorskip("torch")
golden = ttnn.get_golden_function


def test_every_operator_that_runs_has_a_golden_function() -> None:
    # Tests add operators of their own.
    entries = (operation.entry for operation in registry.operations())
    own = [registry.find(f"ttnn.{entry.name}") for entry in entries if entry is not None and not entry.of_meshes]
    own += [getattr(ttnn, name) for name in conversion.__all__]
    assert len(own) > 400
    for operation in own:
        assert callable(golden(operation)), operation


def test_golden_of_transfers_returns_the_same_values() -> None:
    x = torch.tensor([[1.0, 2.0]])
    for operation in (ttnn.from_torch, ttnn.to_device, ttnn.from_device, ttnn.reallocate):
        assert golden(operation)(x, device=None) is x
    assert golden(ttnn.as_tensor)(x, ttnn.bfloat16, preprocess=lambda values: values * 2).tolist() == [[2.0, 4.0]]
    assert golden(ttnn.deallocate)(x) is None
    target = torch.zeros(1, 2)
    assert golden(ttnn.copy_host_to_device_tensor)(x, target) is target
    assert torch.equal(target, x)


def test_tensors_are_squeezed_to_a_rank() -> None:
    x = torch.ones(1, 1, 3, 4)
    assert golden(ttnn.to_torch)(x, torch_rank=2).shape == (3, 4)
    assert golden(ttnn.to_torch)(x).shape == (1, 1, 3, 4)
    with pytest.raises(RuntimeError, match="Unable to squeeze to desired rank"):
        golden(ttnn.to_torch)(x, torch_rank=1)


def test_data_types_become_those_of_torch() -> None:
    allocate = golden(ttnn.allocate_tensor_on_host)
    expected = {ttnn.bfloat16: torch.bfloat16, ttnn.bfloat8_b: torch.float32, ttnn.int32: torch.int32}
    assert {dtype: allocate((2, 3), dtype).dtype for dtype in expected} == expected
    x = torch.ones(2)
    assert golden(ttnn.to_dtype)(x, ttnn.bfloat16) is x


def test_tensors_are_made_in_torch() -> None:
    assert torch.equal(golden(ttnn.full)([2, 3], 4.0), torch.full((2, 3), 4.0))
    assert torch.equal(golden(ttnn.zeros)((2,), device=None), torch.zeros(2))
    assert torch.equal(golden(ttnn.ones)((2,)), torch.ones(2))
    assert golden(ttnn.arange)(1, 7, 2).tolist() == [1, 3, 5]
    assert golden(ttnn.arange)(3).tolist() == [0, 1, 2]


def test_arguments_of_torch_functions() -> None:
    x = torch.tensor([[1, 2], [3, 4]])
    assert golden(ttnn.repeat_interleave)(x, 2).tolist() == [[1, 2], [1, 2], [3, 4], [3, 4]]
    assert torch.equal(golden(ttnn.round)(x), x)
    y = torch.tensor([0.5, -0.5])
    assert torch.equal(golden(ttnn.bias_gelu_)(y, y, y), torch.nn.functional.gelu(y + y))
    assert torch.equal(golden(ttnn.add)(y, y, alpha=3), y + y)
    assert golden(ttnn.polyval)(torch.tensor([2]), [1.0, 0.5]).tolist() == [2.5]


def test_bits_are_read_as_another_type() -> None:
    x = torch.tensor([1.0], dtype=torch.bfloat16)
    assert golden(ttnn.bitcast)(x, torch.int16).tolist() == [0x3F80]
    assert golden(ttnn.bitcast)(torch.tensor([1.0]), ttnn.int32).tolist() == [0x3F800000]


def test_shapes_of_tensors_without_values() -> None:
    assert golden(ttnn.empty)([2, 3]).shape == (2, 3)
    assert golden(ttnn.empty_like)(torch.ones(2, 3)).shape == (2, 3)
    spec = ttnn.TensorSpec((4, 5), ttnn.float32, ttnn.TILE_LAYOUT)
    assert golden(ttnn.allocate_tensor_on_device)(spec).shape == (4, 5)


def test_parts_of_tensors() -> None:
    x = torch.arange(24.0).reshape(1, 2, 3, 4)
    assert torch.equal(golden(ttnn.untilize_with_unpadding)(x, [0, 1, 1, 2]), x[:, :, :2, :3])
    rows = golden(ttnn.experimental.padded_slice)(x, [0, 0, 0, 0], [1, 1, 3, 4], [1, 1, 1, 1])
    assert torch.equal(rows, x[:, :1].reshape(1, 1, 3, 4))
    target = torch.zeros(1, 2, 3, 2)
    found = golden(ttnn.experimental.slice_write)(rows, target, [0, 1, 0, 0], [1, 2, 3, 2], [1, 1, 1, 1])
    assert found is target
    assert torch.equal(target[:, 1], x[:, 0, :, :2])


def test_a_file_has_the_values_that_were_written(tmp_path: Path) -> None:
    path = tmp_path / "a.tensorbin"
    ttnn.dump_tensor(path, ttnn.from_torch(torch.tensor([[1.0, 2.0]])))
    assert golden(ttnn.load_tensor)(path).tolist() == [[1.0, 2.0]]


def test_correlation_is_its_own_reference() -> None:
    x = torch.tensor([1.0, 2.0, 4.0])
    assert golden(ttnn.pearson_correlation_coefficient)(x, x) == 1.0
