"""Helper packages of the official wheel: test helpers, and profiler zones."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import ttnn

torch = pytest.importorskip("torch")
import tracy  # noqa: E402
from tracy.common import clear_profiler_runtime_artifacts, generate_logs_folder, rm  # noqa: E402
from tt_lib import utils  # noqa: E402


@pytest.mark.parametrize(
    ("shape", "padded"),
    [((5,), (1, 1, 32, 32)), ((3, 33), (3, 1, 32, 64)), ((2, 33, 5), (2, 1, 64, 32)), ((2, 3, 4, 70), (2, 3, 32, 96))],
)
def test_activations_are_padded_to_tiles(shape: tuple[int, ...], padded: tuple[int, ...]) -> None:
    x = torch.arange(1.0, 1 + torch.Size(shape).numel()).reshape(shape)
    got = utils.pad_activation(x)
    assert tuple(got.shape) == padded
    assert got.sum() == x.sum()
    height = shape[-2] if len(shape) > 2 else 1
    assert torch.equal(got[..., :height, : shape[-1]].reshape(shape), x)


@pytest.mark.parametrize(
    ("shape", "padded"), [((5,), (1, 1, 32, 32)), ((33, 5), (1, 1, 64, 32)), ((2, 1, 1), (2, 32, 32))]
)
def test_weights_are_padded_to_tiles(shape: tuple[int, ...], padded: tuple[int, ...]) -> None:
    x = torch.ones(shape)
    got = utils.pad_weight(x)
    assert tuple(got.shape) == padded
    assert got.sum() == x.numel()
    with pytest.raises(ttnn.ParameterError, match="expected a torch tensor of rank 1 to 4, got rank 0"):
        utils.pad_weight(torch.tensor(1.0))


def test_tensors_are_close() -> None:
    a = torch.tensor([1.0, 0.0, 100.0])
    assert utils.is_close(a, a + torch.tensor([0.05, 0.05, 1.0]))
    assert not utils.is_close(a, a + torch.tensor([0.0, 0.5, 0.0]))
    assert utils.print_diff_argmax(a, a + torch.tensor([0.0, 0.5, 0.0])) == 0.5


def test_tt_lib_number_functions_match() -> None:
    assert (utils._nearest_32(33), utils._nearest_y(7, 5), utils.roundup32(0)) == (64, 10, 0)
    assert utils.float_to_bits(1.0) == 0x3F800000
    assert utils.find_closest_largest_divisor(12, 8) == 6
    assert utils.find_closest_largest_divisor_with_num_padding(9, 8) == 5


def test_tilize_returns_its_argument() -> None:
    with pytest.warns(DeprecationWarning, match="tilize does nothing"):
        assert utils.tilize(3) == 3


def test_profiler_marks_have_no_effect() -> None:
    tracy.signpost("start", "a message")
    ttnn.start_tracy_zone("file", "function", 1)
    assert ttnn.stop_tracy_zone() is False
    tracy.Profiler().disable()
    with pytest.raises(ttnn.UnsupportedError, match="no device profiler runs here"):
        tracy.Profiler().enable()


@pytest.mark.parametrize(
    "path",
    [
        "compare_ops_logs.compare_ops_logs", "device_post_proc_config.default_setup",
        "process_device_log.import_log_run_stats", "process_model_log.get_latest_ops_log_filename",
        "process_ops_logs.get_device_data_generate_report",
    ],
)  # fmt: skip
def test_tools_that_read_profiles_say_that_there_is_none(path: str) -> None:
    module, name = path.split(".")
    with pytest.raises(ttnn.UnsupportedError, match=f"tracy.{path}: no device profiler runs here"):
        getattr(importlib.import_module(f"tracy.{module}"), name)()


def test_rm_removes_folders_of_logs(tmp_path: Path) -> None:
    inner = generate_logs_folder(tmp_path)
    inner.mkdir()
    (inner / "file").touch()
    rm(inner)
    rm(inner)
    clear_profiler_runtime_artifacts()
    assert not inner.exists()
