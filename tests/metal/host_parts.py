"""Shared host test pieces: a buffer copy program and buffers."""

from __future__ import annotations

import numpy as np

import ttnn
from testkit.kernel_parts import copy_tiles
from testkit.parts import TILE, build, read_one, tiles_buffer, values, write_one
from ttnn import metal

TILES = 4
PAIR = metal.CoreRange(metal.CoreCoord(0, 0), metal.CoreCoord(1, 0))


def copy_program(device: ttnn.MeshDevice, source: metal.Buffer, target: metal.Buffer) -> metal.Program:
    args = {"reader": [source, TILES], "compute": [TILES], "writer": [target, TILES]}
    return build({"reader": read_one, "compute": copy_tiles, "writer": write_one}, args, {0: 2, 16: 2})


def buffers(device: ttnn.MeshDevice, count: int) -> list[metal.Buffer]:
    made = [tiles_buffer(device, TILES) for _ in range(count)]
    for number, buffer in enumerate(made):
        buffer.write(values(TILES * TILE, number))
    return made


def same(one: metal.Buffer, other: metal.Buffer) -> bool:
    return bool(np.array_equal(one.read(), other.read()))
