"""The hint for long-K matmuls with a 16-bit Dst.

It appears in comparison mode and in profiles.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.operation.slow_path import ComparisonError
from ttnn.profiler.rows import Row
from ttnn.profiler.session import profile
from ttnn.profiler.table import text

HINT = "K is 8192, with sums in a 16-bit Dst: consider fp32_dest_acc_en"


def operands(k: int, device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.bfloat16) -> tuple[ttnn.Tensor, ttnn.Tensor]:
    """Return positive operands, whose sums grow with every term."""
    generator = np.random.default_rng(0)
    values = (generator.uniform(size=shape).astype(np.float32) for shape in ((32, k), (k, 32)))
    a, b = (ttnn.Tensor(value, dtype, device=device, layout=ttnn.TILE_LAYOUT) for value in values)
    return a, b


def config(device: ttnn.MeshDevice, wide: bool) -> Any:
    return ttnn.init_device_compute_kernel_config(device.arch(), fp32_dest_acc_en=wide, packer_l1_acc=True)


@pytest.mark.parametrize("name", ["matmul", "linear"])
def test_comparison_mode_says_why_a_long_product_is_far_off(name: str, device: ttnn.MeshDevice) -> None:
    a, b = operands(8192, device)
    with (
        ttnn.manage_config("enable_fast_runtime_mode", False),
        ttnn.manage_config("enable_comparison_mode", True),
        ttnn.manage_config("comparison_mode_should_raise_exception", True),
        pytest.raises(ComparisonError, match=rf"^ttnn\.{name}: PCC to the golden function is 0\.\d+, .*\. {HINT}\.$"),
    ):
        getattr(ttnn, name)(a, b)


def test_comparison_mode_gives_no_hint_for_a_short_product(device: ttnn.MeshDevice) -> None:
    a, b = operands(64, device, ttnn.bfloat4_b)
    with (
        ttnn.manage_config("enable_fast_runtime_mode", False),
        ttnn.manage_config("enable_comparison_mode", True),
        ttnn.manage_config("comparison_mode_should_raise_exception", True),
        ttnn.manage_config("comparison_mode_pcc", 1.0),
        pytest.raises(ComparisonError) as caught,
    ):
        ttnn.matmul(a, b)
    assert "Dst" not in str(caught.value)


def test_rows_of_a_profile_have_the_hint_by_k_and_the_width_of_dst(device: ttnn.MeshDevice) -> None:
    with profile() as session:
        for k, wide in ((8192, False), (8192, True), (4096, False), (4064, False)):
            ttnn.matmul(*operands(k, device), compute_kernel_config=config(device, wide))
        a, b = operands(8192, device)
        ttnn.linear(ttnn.transpose(a, 0, 1), b, transpose_a=True)
        ttnn.matmul(*operands(8192, device, ttnn.float32))
        ttnn.exp(a)
    rows = [row for row in session.all_rows if isinstance(row, Row) and row.record.operator != "ttnn.transpose"]
    assert [row.hint for row in rows] == [HINT, "", HINT.replace("8192", "4096"), "", HINT, "", ""]
    lines = [line for line in text(session.all_rows).splitlines() if line.startswith("hint: ")]
    assert lines == [
        f"hint: ttnn.matmul (#{rows[0].number}): {HINT}",
        f"hint: ttnn.matmul (#{rows[2].number}): {rows[2].hint}",
        f"hint: ttnn.linear (#{rows[4].number}): {HINT}",
    ]


def test_a_convolution_with_a_long_sum_has_the_hint(device: ttnn.MeshDevice) -> None:
    image = ttnn.zeros((1, 8, 8, 512), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device)
    sizes = {"in_channels": 512, "out_channels": 32, "batch_size": 1, "input_height": 8, "input_width": 8}
    for wide, hint in ((False, HINT.replace("8192", "4608")), (True, "")):
        with profile() as session:
            ttnn.conv2d(
                input_tensor=image,
                weight_tensor=ttnn.zeros((32, 512, 3, 3), ttnn.bfloat16),
                kernel_size=(3, 3),
                padding=(1, 1),
                device=device,
                compute_config=config(device, wide),
                **sizes,
            )
        rows = [row for row in session.all_rows if row.plan.name.startswith("Conv2d")]
        assert [row.hint for row in rows if isinstance(row, Row)] == [hint]


def test_the_command_prints_the_hint_and_the_document_has_it(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import ttnn\n"
        "device = ttnn.open_device(device_id=0)\n"
        "a = ttnn.zeros((32, 8192), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)\n"
        "ttnn.matmul(a, ttnn.reshape(a, (8192, 32)))\n",
        encoding="utf-8",
    )
    for arguments, expected in (([], f"hint: ttnn.matmul (#2): {HINT}"), (["--json"], f'"hint": "{HINT}"')):
        command = [sys.executable, "-m", "ttnn", "profile", *arguments, str(script)]
        result = subprocess.run(command, capture_output=True, text=True, check=True)
        assert expected in result.stdout
