"""Damaged tensor files: each loads or raises one of ours.

It loads a tensor that its bytes describe, or ends soon.

`python tests/testkit mutated_tensor_files --files 100000 --seed 7` tries more than the sample of the test.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import struct
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

import ttnn
from ttnn.base.exceptions import EngineBugError, ParameterError, ShapeError, TtnnError
from ttnn.tensor.host_buffer import as_parts

SLOWEST = 5.0
"""Seconds that one file may take on a busy machine."""


def originals(folder: Path) -> list[bytes]:
    """Return file bytes of several types, layouts and memory configs."""
    cores = ttnn.CoreRangeSet({ttnn.CoreRange((0, 0), (1, 1)), ttnn.CoreRange((3, 3), (3, 3))})
    shards = ttnn.ShardSpec(cores, [32, 64], ttnn.ShardOrientation.ROW_MAJOR)
    sharded = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, shards)
    found = []
    for shape, dtype, layout, config in (
        ((3, 5), ttnn.float32, ttnn.ROW_MAJOR_LAYOUT, None),
        ((2, 1, 40, 50), ttnn.bfloat8_b, ttnn.TILE_LAYOUT, None),
        ((160, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, sharded),
        ((7,), ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT, None),
        ((1,) * 12, ttnn.int32, ttnn.TILE_LAYOUT, None),
    ):
        values = np.arange(np.prod(shape)).reshape(shape)
        values = values.astype(np.int32 if dtype in (ttnn.int32, ttnn.uint32) else np.float32)
        path = folder / "original.tensorbin"
        ttnn.dump_tensor(path, ttnn.from_torch(values, dtype=dtype, layout=layout, memory_config=config))
        found.append(path.read_bytes())
    return found


def distributed(folder: Path) -> list[bytes]:
    """Return file bytes of tensors distributed over several meshes."""
    mesh = ttnn.MeshShape(2, 4)
    values = np.arange(16 * 24, dtype=np.float32).reshape(16, 24)
    found = []
    for mapper in (
        ttnn.ShardTensorToMesh(ttnn.MeshShape(1, 2), 0),
        ttnn.ShardTensorToMesh(mesh, 1),
        ttnn.ShardTensor2dMesh(mesh, (2, 4), (0, 1)),
        ttnn.ShardTensor2dMesh(mesh, (2, 2), (None, 0)),
        ttnn.replicate_tensor_to_mesh_mapper(mesh),
    ):
        path = folder / "original.tensorbin"
        ttnn.dump_tensor(path, ttnn.from_torch(values, mesh_mapper=mapper))
        found.append(path.read_bytes())
    return found


def mutated(original: bytes, choose: random.Random) -> bytes:
    """Return a file with damage, most of it in the header."""
    data = bytearray(original)
    header = 8 + struct.unpack_from("<Q", data)[0]
    end = len(data) if choose.random() < 0.1 else header
    kind = choose.randrange(7)
    if kind == 0:
        for _ in range(choose.randint(1, 8)):
            data[choose.randrange(end)] ^= 1 << choose.randrange(8)
    elif kind == 1:
        for _ in range(choose.randint(1, 8)):
            data[choose.randrange(end)] = choose.randrange(256)
    elif kind == 2:
        del data[choose.randrange(len(data)) :]
    elif kind == 3:
        # Lengths, offsets and sizes.
        number = choose.choice((0, 1, 2, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1, choose.randrange(2**32)))
        struct.pack_into("<I", data, 4 * choose.randrange(end // 4), number)
    elif kind == 4:
        number = choose.choice((0, 1, header, 2**20, 2**40, 2**63, 2**64 - 1, choose.randrange(2**64)))
        struct.pack_into("<Q", data, 8 * choose.randrange(end // 8), number)
    elif kind == 5:
        start = choose.randrange(end)
        data[start:start] = choose.choice((bytes(8), b"\xff" * 4, data[: choose.randrange(1, 64)]))
    else:
        start, size = choose.randrange(end), choose.randrange(1, 32)
        data[start : start + size] = data[choose.randrange(end) :][:size]
    return bytes(data)


def whole(tensor: ttnn.Tensor) -> None:
    """Read the values of a tensor of one part."""
    tensor.to_numpy()


def by_parts(tensor: ttnn.Tensor) -> None:
    """Read each part's values; print the distribution if it fits."""
    for part in ttnn.get_device_tensors(tensor):
        part.to_numpy()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(ParameterError, ShapeError):
        ttnn.visualize_tensor(tensor)


def run(
    files: int, seed: int, make: Callable[[Path], list[bytes]] = originals, use: Callable[[ttnn.Tensor], object] = whole
) -> Counter[str]:
    """Load damaged files; return how often each outcome came.

    Args:
        files: Number of files.
        seed: Seed of the damage.
        make: Returns the files before the damage.
        use: Called with each loaded tensor.

    Raises:
        AssertionError: a file took too long, or ended in an error that is not ours, or in a tensor without its bytes.
    """
    outcomes: Counter[str] = Counter()
    choose = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources = make(folder)
        path = folder / "damaged.tensorbin"
        for number in range(files):
            path.write_bytes(mutated(choose.choice(sources), choose))
            began = time.monotonic()
            try:
                tensor = ttnn.load_tensor(path)
            except EngineBugError:
                raise
            except TtnnError as error:
                outcomes[type(error).__name__] += 1
            except Exception as error:
                raise AssertionError(f"file {number} of seed {seed}: {type(error).__name__}: {error}") from error
            else:
                sizes = {raw.nbytes for raw in as_parts(tensor._host)}
                assert sizes == {tensor.spec.raw_bytes}, f"file {number} of seed {seed}"
                use(tensor)
                outcomes["tensor"] += 1
            took = time.monotonic() - began
            assert took < SLOWEST, f"file {number} of seed {seed} took {took:.1f} s"
    return outcomes


def main() -> None:
    """Load files by command-line count, and print outcomes."""
    parser = argparse.ArgumentParser(description="Load damaged tensor files.")
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    for make, use in ((originals, whole), (distributed, by_parts)):
        outcomes = run(given.files, given.seed, make, use)
        print(f"{given.files} files:", ", ".join(f"{name} {count}" for name, count in outcomes.most_common()))


if __name__ == "__main__":
    main()
