"""Golden functions of operators that make, move and view tensors: torch tensors go in and come out."""

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
    own = [operation for operation in registry.operations() if operation.entry is not None]
    own += [getattr(ttnn, name) for name in conversion.__all__]
    assert len(own) > 400
    for operation in own:
        assert callable(golden(operation)), operation


def test_moving_a_tensor_changes_nothing() -> None:
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


@pytest.mark.parametrize(
    ("dtype", "expected"), [(ttnn.bfloat16, torch.bfloat16), (ttnn.bfloat8_b, torch.float32), (ttnn.int32, torch.int32)]
)
def test_data_types_become_those_of_torch(dtype: ttnn.DataType, expected: object) -> None:
    assert golden(ttnn.to_dtype)(torch.ones(2), dtype).dtype == expected
    assert golden(ttnn.allocate_tensor_on_host)((2, 3), dtype).dtype == expected


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
