"""Operators of one chip on a mesh, where chips have other values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.eltwise_calls import Operand
from testkit.operands import INTEGERS, make, make_operand
from testkit.reference_calls import (
    applies,
    callable_of,
    calls,
    fitting,
    largest_integer,
    split_keywords,
    takes_integers,
    with_tensors,
)
from ttnn.base.exceptions import TtnnError, UnsupportedError
from ttnn.base.tensor_spec import TensorSpec
from ttnn.operation import registry
from ttnn.tensor import transfer

SHAPES = ((1, 1, 64, 128), (2, 3, 32, 64), (2, 32, 96), (32, 64))
RANDOM = {"bernoulli", "experimental.dropout", "manual_seed", "rand", "randn", "uniform"}
"""Operators whose results differ from call to call."""
READING = {"conv1d", "conv2d", "conv_transpose2d", "sparse_matmul"}
READING |= {f"transformer.chunked_{name}" for name in ("flash_mla_prefill", "scaled_dot_product_attention")}
READING |= {
    f"transformer.paged_{name}_decode" for name in ("scaled_dot_product_attention", "flash_multi_latent_attention")
}
"""Operators whose programs depend on elements, equal ones on all chips."""


@pytest.fixture(scope="module")
def mesh() -> Iterator[ttnn.MeshDevice]:
    with ttnn.create_mesh_device(ttnn.MeshShape(1, 2)) as opened:
        yield opened


@pytest.fixture(scope="module")
def one() -> Iterator[ttnn.MeshDevice]:
    with ttnn.manage_device(31, chip="n300") as opened:
        yield opened


def pages_of(tensor: ttnn.Tensor, place: int) -> bytes:
    spec = tensor.spec
    rows, columns = spec.page_grid
    return tensor.buffers[0].read(columns * spec.page_bytes, rows, place=place).tobytes() if spec.num_pages else b""


def placed(spec: TensorSpec, parts: list[bytes], device: ttnn.MeshDevice) -> ttnn.Tensor:
    """Return a tensor with given pages on each chip."""
    (buffer,) = transfer.allocate(spec, device)
    for place, part in enumerate(parts):
        if spec.num_pages:
            buffer.write(np.frombuffer(part, np.uint8).copy(), spec.page_grid[1] * spec.page_bytes, place=place)
    return ttnn.Tensor._on_device(spec, device, buffer)


def rolled(tensor: ttnn.Tensor) -> bytes:
    """Return the pages of a tensor with its values in another order."""
    values = np.asarray(tensor.to_numpy())
    order = np.roll(values.reshape(-1), 1).reshape(values.shape)
    host = ttnn.Tensor(order, tensor.dtype, layout=tensor.layout)
    return host._require_host("test").tobytes()


def exchanged(value: Any, change: Callable[[ttnn.Tensor], Any]) -> Any:
    """Return a value with other tensors."""
    if isinstance(value, ttnn.Tensor):
        return change(value) if value.storage_type() is ttnn.StorageType.DEVICE else value
    if isinstance(value, list | tuple):
        return type(value)(exchanged(item, change) for item in value)
    return {name: exchanged(item, change) for name, item in value.items()} if isinstance(value, dict) else value


def bits(result: Any, place: int) -> Any:
    """Return what tells a result on a chip apart."""
    if isinstance(result, ttnn.Tensor):
        if result.storage_type() is ttnn.StorageType.HOST:
            return result.spec, result._require_host("test").tobytes()
        return result.spec, pages_of(result, place)
    if isinstance(result, ttnn.ComplexTensor):
        return bits([result.real, result.imag], place)
    return [bits(item, place) for item in result] if isinstance(result, list | tuple) else repr(result)


def cases() -> list[Any]:
    found = []
    for entry in registry.entries():
        if entry.name in RANDOM or entry.only_on is ttnn.Arch.BLACKHOLE or not entry.layouts or not entry.dtypes:
            continue
        layout = ttnn.TILE_LAYOUT if ttnn.TILE_LAYOUT in entry.layouts else entry.layouts[0]
        dtype = next((each for each in entry.dtypes if each not in entry.only_rows), entry.dtypes[0])
        layout = ttnn.ROW_MAJOR_LAYOUT if dtype in entry.only_rows else layout
        shape = next((shape for shape in SHAPES if any(True for _ in calls(entry, shape, layout))), None)
        if shape is not None and applies(entry, dtype, layout):
            found.append(pytest.param(entry, shape, dtype, layout, id=entry.name))
    return found


@pytest.mark.parametrize(("entry", "shape", "dtype", "layout"), cases())
def test_each_chip_computes_with_its_own_values(
    entry: registry.Op,
    shape: tuple[int, ...],
    dtype: ttnn.DataType,
    layout: ttnn.Layout,
    mesh: ttnn.MeshDevice,
    one: ttnn.MeshDevice,
) -> None:
    operation, options = callable_of(entry), {"fit": fitting(entry), "limit": largest_integer(entry)}
    for arguments in list(calls(entry, shape, layout))[:2]:
        if dtype in INTEGERS and not takes_integers(entry, arguments):
            continue
        arguments, given = split_keywords(arguments)
        tensors = [
            make(shape, dtype, layout, one, **options),
            *(
                make_operand(item, dtype, layout, one, **options) if isinstance(item, Operand) else item
                for item in arguments
            ),
        ]
        call = (tensors, with_tensors(given, dtype, layout, one))
        pages: dict[int, list[bytes]] = {}

        def first(tensor: ttnn.Tensor, pages: dict[int, list[bytes]] = pages) -> ttnn.Tensor:
            pages[id(tensor)] = [pages_of(tensor, 0), rolled(tensor)]
            return tensor

        exchanged(list(call), first)
        results = []
        for device, chips in ((one, [0]), (one, [1]), (mesh, [0, 1]), (mesh, [0, 1]), (mesh, [0, 1])):

            def again(
                tensor: ttnn.Tensor,
                device: ttnn.MeshDevice = device,
                chips: list[int] = chips,
                pages: dict[int, list[bytes]] = pages,
            ) -> ttnn.Tensor:
                return placed(tensor.spec, [pages[id(tensor)][chip] for chip in chips], device)

            values, keywords = exchanged(call[0], again), exchanged(call[1], again)
            try:
                result = operation(*values, **keywords)
                results.append([bits(result, place) for place in range(len(chips))])
            except TtnnError as error:
                results.append([type(error)] * len(chips))
        (expected_0,), (expected_1,), *on_mesh = results
        if entry.name in READING and on_mesh[0][0] is UnsupportedError:
            continue
        assert on_mesh == [[expected_0, expected_1]] * 3


@pytest.mark.parametrize("equal", [True, False])
def test_weights_that_a_program_reads_are_equal_on_all_chips(
    equal: bool, mesh: ttnn.MeshDevice, one: ttnn.MeshDevice
) -> None:
    weight = make((8, 8, 3, 3), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, one)
    image = make((1, 1, 64, 8), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, one, seed=1)
    sizes = {"in_channels": 8, "out_channels": 8, "batch_size": 1, "input_height": 8, "input_width": 8}
    options = {"kernel_size": (3, 3), "stride": (1, 1), "padding": (1, 1), "dilation": (1, 1), "groups": 1}
    expected = bits(ttnn.conv2d(input_tensor=image, weight_tensor=weight, device=one, **sizes, **options), 0)
    pages = pages_of(weight, 0)
    on_chips = placed(weight.spec, [pages, pages if equal else rolled(weight)], mesh)
    images = placed(image.spec, [pages_of(image, 0)] * 2, mesh)

    def run() -> ttnn.Tensor:
        return ttnn.conv2d(input_tensor=images, weight_tensor=on_chips, device=mesh, **sizes, **options)

    if equal:
        assert [bits(run(), place) for place in (0, 1)] == [expected] * 2
    else:
        with pytest.raises(UnsupportedError, match="elements of weight_tensor, which differ between chips"):
            run()
