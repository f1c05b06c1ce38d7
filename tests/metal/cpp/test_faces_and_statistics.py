"""Partial-face binary functions, and Welford statistics across other inits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import ttnn
from testkit import tile_parts
from testkit.tile_parts import WIDE, Array, Matrix, apply, one_tile
from ttnn import kernel_api as api
from ttnn.base.exceptions import RegisterError

RNG = np.random.default_rng(8)
FACES = {"RC": np.s_[:, :], "R": np.s_[:16, :], "C": np.s_[:, :16]}
MODES = {"RC": api.VectorMode.RC, "R": api.VectorMode.R, "C": api.VectorMode.C}
KERNEL = """
#include "api/compute/compute_kernel_api.h"
#include "api/compute/binary_max_min.h"
#include "api/compute/tile_move_copy.h"
#include "api/compute/welford.h"

void kernel_main() {
    compute_kernel_hw_startup(0, 16);
    cb_wait_front(0, 1);
    cb_wait_front(1, 1);
    tile_regs_acquire();
    reconfig_data_format_srca(0);
    copy_init(0);
    copy_tile(0, 0, 0);
    reconfig_data_format_srca(1);
    copy_init(1);
    copy_tile(1, 0, 1);
    BODY
    tile_regs_commit();
    tile_regs_wait();
    for (uint32_t tile : {RESULTS}) {
        cb_reserve_back(16, 1);
        pack_tile(tile, 16);
        cb_push_back(16, 1);
    }
    tile_regs_release();
}
"""


def cpp_kernel(folder: Path, body: str, results: str) -> Path:
    path = folder / "kernel.cpp"
    path.write_text(KERNEL.replace("BODY", body).replace("RESULTS", results), encoding="utf-8")
    return path


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("function", ["max", "min"])
@pytest.mark.parametrize("cpp", [False, True])
def test_binary_max_and_min_change_only_the_selected_faces(
    device: ttnn.MeshDevice, tmp_path: Path, function: str, mode: str, cpp: bool
) -> None:
    a, b = (RNG.standard_normal((32, 32)).astype(ml_dtypes.bfloat16) for _ in range(2))
    call = getattr(api, f"binary_{function}_tile")

    def body() -> None:
        getattr(api, f"binary_{function}_tile_init")()
        call(0, 1, 0, MODES[mode])

    text = f"binary_{function}_tile_init(); binary_{function}_tile(0, 1, 0, VectorMode::{mode});"
    kernel: Callable[[], None] | Path = cpp_kernel(tmp_path, text, "0u") if cpp else one_tile(2, body)
    got = tile_parts.run(device, kernel, [Matrix(a), Matrix(b)], Matrix(a))  # type: ignore[arg-type]
    expected = a.copy()
    expected[FACES[mode]] = (np.maximum if function == "max" else np.minimum)(a, b)[FACES[mode]]
    np.testing.assert_array_equal(got.view(np.uint16), expected.view(np.uint16))


def test_partial_faces_of_an_unwritten_tile_raise(device: ttnn.MeshDevice) -> None:
    a = np.ones((32, 32), ml_dtypes.bfloat16)

    def body() -> None:
        api.binary_max_tile_init()
        api.binary_max_tile(0, 1, 2, vector_mode=api.VectorMode.C)

    with pytest.raises(RegisterError, match=r"binary_max_tile: .*2"):
        apply(device, [a, a], body)


RESUMES = {
    "reinit": (api.welford_reinit, "welford_reinit(0);"),
    "preserve": (
        lambda: api.welford_init(mode=api.WelfordInitMode.PreserveStats),
        "welford_init<WelfordInitMode::PreserveStats>();",
    ),
}


@pytest.mark.parametrize("cpp", [False, True])
@pytest.mark.parametrize("resume", [*RESUMES, "start again"])
def test_welford_statistics_continue_after_another_init(
    device: ttnn.MeshDevice, tmp_path: Path, resume: str, cpp: bool
) -> None:
    tiles: list[Array] = [RNG.integers(-8, 8, (32, 32)).astype(np.float32) for _ in range(2)]
    again, text = RESUMES.get(resume, (api.welford_init, "welford_init();"))
    first = 0 if resume == "start again" else 32

    def body() -> None:
        api.welford_init()
        api.welford_update(0, 0)
        again()
        api.welford_update(1, first)
        api.welford_finalize_to_row(2, first + 31)

    lines = f"""
    const std::array<uint32_t, 0> none{{}};
    welford_init(); welford_update<0>(0, 0, none); {text}
    welford_update<0>(1, {first}, none); welford_finalize_to_row<0>(2, {first + 31}, none);"""
    kernel: Callable[[], None] | Path = (
        cpp_kernel(tmp_path, lines, "2u, 3u") if cpp else one_tile(2, body, results=(2, 3))
    )
    out = Matrix(np.zeros((64, 32), np.float32))
    result = tile_parts.run(device, kernel, [Matrix(x) for x in tiles], out, WIDE)  # type: ignore[arg-type]
    data = (tiles[1] if resume == "start again" else np.concatenate(tiles)).astype(np.float64)
    np.testing.assert_allclose(result[0], data.mean(axis=0), rtol=0, atol=2e-6)
    np.testing.assert_allclose(result[32], data.var(axis=0), rtol=2e-6)
