"""Makes `data/` from the full folder of golden vectors: `python tests/golden/make_compact.py FOLDER`.

`data/SHA256SUMS` gets one hash for every array that the walker knows, `data/fpu`, `data/host`, `data/ccl` and
`data/blackhole` a selection of cases small enough for the repository. Nothing here comes from our own engine. Run it
only when the source set changes.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from compact import DATA, HASHES, MANIFEST, file_hash, hash_of, vector_files

FAMILIES = ("fpu", "sfpu", "host", "ops", "blackhole/fpu", "blackhole/sfpu")
OPS_FILES = ("ops/matmul.npz", "ops/softmax.npz", "ops/binary.npz", "ops/reduce.npz")
COPIED = ("host/host_tensors.npz", "host/host_tensors_meta.json", "blackhole/arch.json")

CASES = {
    "matmul_end_to_end": 4,
    "matmul_fp32": 2,
    "matmul_int8": 1,
    "matmul": 3,
    "eltwise": 2,
    "reduce": 3,
    "mvmul_step": 150,
    "pack_relu": 6,
    "pack_l1acc": 2,
    "pack": 3,
    "unpack": 2,
    "datacopy_mova2d": 2,
    "sfpu_convert": 512,
    "sfpu_fma": 2000,
    "sfpu_primitives": 512,
}
"""Cases kept per file, by name prefix; the first match counts."""


def main(folder: Path) -> None:
    """Write hashes and vectors."""
    write_hashes(folder)
    for name in ("fpu", "host", "blackhole/fpu"):
        shutil.rmtree(DATA / name, ignore_errors=True)
        (DATA / name).mkdir(parents=True)
    for family in ("fpu", "blackhole/fpu"):
        for path in sorted((folder / family).glob("*.npz")):
            np.savez_compressed(DATA / family / path.name, **dict(select(path)))
    (DATA / "ccl").mkdir(exist_ok=True)
    with np.load(folder / "ccl/reductions.npz", allow_pickle=False) as archive:
        # It has a hash for every chip of every case.
        np.savez_compressed(DATA / "ccl/reductions.npz", meta=archive["meta"])
    for name in COPIED:
        shutil.copyfile(folder / name, DATA / name)
    write_manifest()


def write_manifest() -> None:
    """Replace the manifest's final file hashes; keep the text before them.

    It is written by hand.
    """
    kept = MANIFEST.read_text(encoding="utf-8").splitlines()
    kept = kept[: next(i for i, line in enumerate(kept) if line.startswith("[files]")) + 1]
    kept.extend(f'"{name}" = "{file_hash(DATA / name)}"' for name in vector_files())
    MANIFEST.write_text("\n".join(kept) + "\n", encoding="utf-8")


def write_hashes(folder: Path) -> None:
    """Write one line per array: hash, file, array."""
    lines = []
    for path in sorted(path for family in FAMILIES for path in (folder / family).glob("*.npz")):
        name = path.relative_to(folder).as_posix()
        # Inputs that both chips share.
        if name == "blackhole/sfpu/_inputs.npz":
            continue
        if name.startswith("ops/") and name not in OPS_FILES:
            continue
        with np.load(path, allow_pickle=False) as archive:
            lines.extend(f"{hash_of(archive[array])}  {name}  {array}\n" for array in archive.files)
    HASHES.write_text("".join(lines), encoding="utf-8")


def select(path: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Yield `path`'s arrays cut to few cases, over all data kinds.

    They are spread over the file.
    """
    count = next(cases for prefix, cases in CASES.items() if path.stem.startswith(prefix))
    with np.load(path, allow_pickle=False) as archive:
        for array in archive.files:
            values = archive[array]
            if path.stem == "matmul_end_to_end":
                # The first axis is K or fidelity here: leave out the long products instead.
                if "__k4__" in array:
                    yield array, values
                continue
            yield array, values[np.linspace(0, len(values) - 1, min(count, len(values))).astype(int)]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
