"""Operands and results with tiles other than 32x32.

The matmul runs on full tiles, which hold the same elements.

Elements of a product do not depend on each other, and K is cut into tiles of 32 whatever the height of the left tiles
and the width of the right ones. So the shape of a tile decides no bit, except in block floats, whose groups of 16 are
columns of a transposed tile.

Source: tt-metal `ttnn/cpp/ttnn/operations/matmul/device/utilities/matmul_utilities.cpp`.
"""

from __future__ import annotations

import math

from ttnn.base.enums import BLOCK_FLOATS, TILE_SIZE, DataType, Layout
from ttnn.base.exceptions import ArgumentError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.tile import DEFAULT_TILE, Tile
from ttnn.ops._programs.common import allocate
from ttnn.ops._programs.element_map import copy_into, move_into, strides_of
from ttnn.tensor.tensor import Tensor

from .specs import TileShape


def is_transposed(tensor: Tensor | None) -> bool:
    """Return True if stored tiles have exchanged rows and columns."""
    return tensor is not None and tensor.spec.layout is Layout.TILE and tensor.spec.tile.transpose_within_face


def in_full_tiles(tensor: Tensor) -> Tensor:
    """Return the tensor in 32x32 tiles; itself if it has them.

    Transposed block floats become bfloat16.
    """
    spec = tensor.spec
    if spec.layout is not Layout.TILE or spec.tile == DEFAULT_TILE:
        return tensor
    assert tensor._device is not None
    if not is_transposed(tensor):
        full = allocate(TensorSpec.of(spec.shape, spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG), tensor._device)
        return move_into(tensor, full)
    pages = allocate(spec.with_memory_config(DRAM_MEMORY_CONFIG), tensor._device)
    copy_into(tensor, pages)
    height, width = spec.tile.tile_shape
    *batch, rows, columns = (1, 1, *spec.padded_shape)[-max(spec.shape.rank, 2) :]
    across, down = columns // width, rows // height
    # Stored as they are, the tiles are those of a tensor whose every block has rows and columns exchanged.
    stored = (math.prod(batch), down * width, across * height)
    source = pages._view(TensorSpec.of(stored, spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG, Tile((width, height))))
    dtype = DataType.BFLOAT16 if spec.dtype in BLOCK_FLOATS else spec.dtype
    parts = (stored[0], down, height, across, width)
    in_rows = allocate(TensorSpec.of(parts, dtype, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG), tensor._device)
    of_matrix, of_row, _ = strides_of(stored)
    move_into(source, in_rows, strides=(of_matrix, width * of_row, 1, height, of_row))
    full = allocate(TensorSpec.of((*batch, rows, columns), dtype, Layout.TILE, DRAM_MEMORY_CONFIG), tensor._device)
    return move_into(in_rows, full)


def result_tile(
    operator: str, height: int, width: int, asked: Tile | None, output: Tile | None, *, sharded: bool
) -> TileShape:
    """Return the shape of the tiles of a product.

    Args:
        operator: Who asks, for the error.
        height: Height of the tiles of the left operand.
        width: Width of those of the right one.
        asked: The option `output_tile`.
        output: The tile of the tensor to write to.
        sharded: The result is.

    Raises:
        ArgumentError: both are given.
        ShapeError: the tile does not fit the operands.
    """
    if asked is not None and output is not None:
        raise ArgumentError(
            f"{operator}: output_tile and optional_output_tensor are both given; the tensor's tiles are used.",
            vendor="Matmul cannot have both an output_tile and an optional_output_tensor. Configure the tile type of "
            "the output tensor instead if both are required.",
        )
    tile = asked or output
    if tile is None:
        return height, width
    given = (tile.tile_shape[0], tile.tile_shape[1])
    wider = given[1] != width
    vendor = ""
    if given[1] % width:
        vendor = f"the override output tile width ({given[1]}) must be a multiple of in1 tile width ({width})"
    elif given[0] != height:
        vendor = f"the override output tile height ({given[0]}) must equal to the in0 tile height ({height})"
    elif wider and given[0] > TILE_SIZE // 2:
        vendor = f"the override output tile height ({given[0]}) must equal or less to face height ({TILE_SIZE // 2})"
    elif wider and not sharded:
        vendor = f"the override output tile width ({given[1]}) must equal the in0 tile width ({width})"
    if vendor:
        raise ShapeError(
            f"{operator}: tiles of {given[0]}x{given[1]} do not fit the matmul; those of the operands require "
            f"{height}x{width}.",
            vendor=vendor,
        )
    return given
