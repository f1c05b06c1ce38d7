"""Rows of aten operations against PyTorch, one program each."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", minversion="2.13")

import ttnn
from frontends.torch.torch_bars import assert_close
from frontends.torch.torch_rows import CASES, Case
from ttnn.compiler.frontends.torch.backend import compile_function
from ttnn.compiler.frontends.torch.config import CompilerConfig
from ttnn.compiler.frontends.torch.options import Options


@pytest.fixture(scope="module")
def device():
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_row_gives_what_pytorch_gives(case: Case, device: ttnn.MeshDevice) -> None:
    options = Options(device=device, config=CompilerConfig(check_all_ops_execute=True))
    with torch.no_grad():
        expected = case.function(*case.inputs)
        run = compile_function(case.on_copies, case.inputs, ["input"] * len(case.inputs), options)
        assert_close(run(*case.inputs), expected, case.level)
    assert [one.runs for one in run.programs] == [1]
