"""Data movement by an affine index map of elements."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn.base.enums import BLOCK_FLOATS, FORMAT_CODE, Layout
from ttnn.base.exceptions import UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.tile import DEFAULT_TILE, STORED_SHAPES
from ttnn.ops._programs.common import allocate, is_empty
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor


def strides_of(shape: Sequence[int]) -> list[int]:
    """Return the stride of each dimension in elements, in row-major order."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return strides


def tile_of(spec: TensorSpec) -> tuple[int, int] | None:
    """Return the tile shape, None for row-major tensors."""
    if spec.layout is not Layout.TILE:
        return None
    if spec.tile.transpose_within_face:
        raise UnsupportedError(
            "moving elements of transposed tiles is not implemented; ttnn.matmul and ttnn.linear accept them.",
            "unimplemented",
        )
    height, width = spec.tile.tile_shape
    if (height, width) in STORED_SHAPES:
        raise UnsupportedError(
            f"tiles of {height}x{width} are only stored and read back: no unpacker of the chip takes them. "
            f"Use tiles of {height}x32, or ttnn.from_device first."
        )
    return (height, width)


def move_into(
    source: Tensor,
    output: Tensor,
    *,
    strides: Sequence[int] | None = None,
    offset: int = 0,
    window: Sequence[tuple[int, int]] | None = None,
    pad_value: float = 0.0,
    through_dst: bool = False,
    result: Tensor | None = None,
    precise: bool = False,
) -> Tensor:
    """Fill `output` from `source` and return it.

    Args:
        source: On the same device, another buffer than the output's.
        output: Element i is `source` at `offset + sum((i[d] - window[d][0]) * strides[d])`.
        strides: In elements of the source, per dimension of the output. Default: the same row-major order.
        offset: First element taken.
        window: (first, count) per dimension of the output; elements outside it are padding. Default: everything.
        pad_value: What padding holds.
        through_dst: Elements pass through the compute engine, which changes bfloat16 denormals, -0 and NaN.
        result: Block floats of the same shape, which are packed from what `output`, of bfloat16, would hold. It is
            returned; `output` has its place in memory and is not written. The source is not empty.
        precise: They are packed as `typecast` packs them.
    """
    spec, target = source.spec, output.spec
    taker = output if result is None else result
    for side in (spec, target):
        if result is not None and side.dtype in BLOCK_FLOATS and side.tile != DEFAULT_TILE:
            raise UnsupportedError(
                f"casting {side.dtype.name} in tiles of {side.tile.tile_shape} is not implemented.", "unimplemented"
            )
    if is_empty(target):
        return taker
    assert output.buffer is not None
    if is_empty(spec):
        engine_steps.fill(output.buffer, format=FORMAT_CODE[target.dtype], value=pad_value)
        return output
    assert source.buffer is not None
    assert taker.buffer is not None
    engine_steps.move_elements(
        source.buffer,
        taker.buffer,
        formats=(FORMAT_CODE[spec.dtype], FORMAT_CODE[target.dtype]),
        in_shape=spec.shape._dims,
        out_shape=target.shape._dims,
        strides=strides_of(target.shape._dims) if strides is None else list(strides),
        offset=offset,
        in_tile=tile_of(spec),
        out_tile=tile_of(target),
        window=None if window is None else list(window),
        pad_value=pad_value,
        through_dst=through_dst,
        packed=None if result is None else (FORMAT_CODE[result.spec.dtype], precise),
    )
    return taker


def copy_into(source: Tensor, output: Tensor) -> None:
    """Copy a tensor to another memory configuration.

    Whole pages are copied where pages agree, else elements.
    """
    spec, target = source.spec, output.spec
    if is_empty(spec):
        return
    assert source.buffer is not None
    assert output.buffer is not None
    same_tiles = spec.layout is not Layout.TILE or spec.tile == target.tile
    if same_tiles and spec.page_bytes == target.page_bytes and spec.num_pages == target.num_pages:
        engine_steps.copy_pages(source.buffer, output.buffer)
    else:
        move_into(source, output)


def cuts_rows(tensor: Tensor) -> bool:
    """Return True for row-major shards narrower than the tensor."""
    spec = tensor.spec
    # A scalar is a row of one element.
    width = (1, *spec.shape._dims)[-1]
    return spec.layout is Layout.ROW_MAJOR and spec._page_shape[1] != width


def needs_rows(*tensors: Tensor) -> bool:
    """Return True if pages of row-major tensors differ, and one splits rows."""
    if not any(cuts_rows(tensor) for tensor in tensors):
        return False
    return len({(tensor.spec.shape._dims, tensor.spec._page_shape) for tensor in tensors}) > 1


def in_rows(tensor: Tensor) -> Tensor:
    """Return a copy with full-row pages; itself if it has them."""
    if not cuts_rows(tensor):
        return tensor
    rows = like_in_rows(tensor)
    copy_into(tensor, rows)
    return rows


def like_in_rows(tensor: Tensor) -> Tensor:
    """Return the tensor to write: a temporary if `output` cuts rows.

    The temporary is copied into it later; otherwise it is the tensor itself.
    """
    if not cuts_rows(tensor):
        return tensor
    assert tensor._device is not None
    return allocate(tensor.spec.with_memory_config(DRAM_MEMORY_CONFIG), tensor._device)
