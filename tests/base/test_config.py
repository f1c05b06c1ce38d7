"""Switches: what they take, where they come from, and what they refuse."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn import _engine
from ttnn.base.config import CONFIG, MAX_THREADS, SWITCHES, Config, apply_environment
from ttnn.base.exceptions import ArgumentError, ConfigError

OFFICIAL_DEFAULTS = {
    "enable_model_cache": False,
    "enable_fast_runtime_mode": True,
    "validate_program_args": False,
    "throw_exception_on_fallback": False,
    "enable_logging": False,
    "enable_graph_report": False,
    "enable_graph_python_stack_traces": False,
    "enable_detailed_buffer_report": False,
    "enable_detailed_tensor_report": False,
    "enable_comparison_mode": False,
    "comparison_mode_should_raise_exception": False,
    "comparison_mode_pcc": 0.9999,
    "root_report_path": Path("generated/ttnn/reports"),
    "report_name": None,
    "strict_ccl_topology": False,
    "cache_path": Path.home() / ".cache/ttnn",
    "model_cache_path": Path.home() / ".cache/ttnn/models",
}


def test_defaults() -> None:
    config = Config()
    assert {name: getattr(config, name) for name in OFFICIAL_DEFAULTS} == OFFICIAL_DEFAULTS
    assert config.tmp_dir.name == f"ttnn-{os.getuid()}"
    assert (config.numerics, config.watcher, config.arch_name, config.report_path) == (
        "exact",
        True,
        "wormhole_b0",
        None,
    )
    assert {name for name, switch in SWITCHES.items() if switch.official} == {*OFFICIAL_DEFAULTS, "tmp_dir"}
    assert set(config.keys()) == {*SWITCHES, "report_path", "threads", "cpu_level", "profiler"}
    assert repr(config).startswith(f"Config{{cache_path={config.cache_path},")


def test_report_path_follows_from_the_name() -> None:
    config = Config()
    config.report_name = "first"
    folder = config.report_path
    assert folder is not None
    assert folder.parent == Path("generated/ttnn/reports")
    assert re.fullmatch(r"first_[a-z]{3}\d{2}_\d{4}", folder.name)
    copy = Config(config)
    assert (copy.report_name, copy.report_path) == (Path("first"), folder)
    config.report_name = "tests/a.py::Test B[x=1]: 2026 (UTC)"
    other = config.report_path
    assert other is not None
    assert other.name.startswith("tests_a_py_test_b_x_1_2026_utc_")
    assert copy.report_path == folder
    config.report_name = None
    assert config.report_path is None


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("enable_logging", 1, "CONFIG.enable_logging: expected True or False, got 1"),
        ("comparison_mode_pcc", "high", "CONFIG.comparison_mode_pcc: expected a number, got 'high'"),
        ("cache_path", 3, "CONFIG.cache_path: expected a path, got 3"),
        ("cache_path", "a\0b", "CONFIG.cache_path: 'a\\x00b' has a character that no file name can hold"),
        ("tmp_dir", "\ud800", "CONFIG.tmp_dir: '\\ud800' has a character that no file name can hold"),
        ("report_name", "a\0b", "CONFIG.report_name: 'a\\x00b' has a character that no file name can hold"),
        ("golden", "a\0b", "CONFIG.golden: 'a\\x00b' has a character that no file name can hold"),
        ("numerics", "slow", "CONFIG.numerics: expected one of exact, fast; got 'slow'"),
        ("watcher", "maybe", "CONFIG.watcher: expected one of on, off; got 'maybe'"),
        ("arch_name", "grayskull", "CONFIG.arch_name: expected one of wormhole_b0, blackhole; got 'grayskull'"),
        ("threads", 0, "CONFIG.threads: expected a number from 1 to 1024, got 0"),
        ("threads", 10**20, "CONFIG.threads: expected a number from 1 to 1024, got 100000000000000000000"),
        pytest.param(
            "threads", 10**5000, "CONFIG.threads: expected a number from 1 to 1024, got int of 16610 bits", id="huge"
        ),
        ("comparison_mode_pcc", 10**400, "CONFIG.comparison_mode_pcc: expected a number of float64, got 1000"),
        ("system", np.array([1, 2]), "CONFIG.system: expected one of n150, "),
        ("numerics", np.array([1, 2]), "CONFIG.numerics: expected one of exact, fast; got array([1, 2])"),
        ("cpu_level", np.array([1, 2]), "CONFIG.cpu_level: this CPU has "),
        ("golden", "/no/such/folder", "CONFIG.golden: '/no/such/folder' is not a folder"),
        ("golden", "", "CONFIG.golden: '' is not a folder"),
        ("report_path", "x", "CONFIG.report_path: it is derived from other switches."),
        ("enable_speed", True, "CONFIG.enable_speed: there is no such field."),
    ],
)
def test_wrong_values_are_errors(name: str, value: Any, text: str) -> None:
    config = Config()
    with pytest.raises(ConfigError) as caught:
        setattr(config, name, value)
    assert str(caught.value).startswith(text)


def test_unknown_cpu_level_names_those_there_are() -> None:
    with pytest.raises(ConfigError) as caught:
        Config().cpu_level = "avx9"
    assert str(caught.value) == f"CONFIG.cpu_level: this CPU has {', '.join(_engine.cpu_levels())}; got 'avx9'"


def test_switches_cannot_be_deleted() -> None:
    with pytest.raises(ConfigError, match="switches cannot be deleted"):
        del ttnn.CONFIG.numerics


def test_manage_config_restores_the_value() -> None:
    seen = []

    def fail_inside() -> None:
        with ttnn.manage_config("enable_logging", True):
            seen.append(ttnn.CONFIG.enable_logging)
            raise KeyError

    with pytest.raises(KeyError):
        fail_inside()
    assert seen == [True]
    assert not ttnn.CONFIG.enable_logging
    with pytest.raises(ConfigError, match="no such field"), ttnn.manage_config("enable_speed", True):
        pass


def test_config_round_trips_through_files_and_dictionaries(tmp_path: Path) -> None:
    config, path = Config(), tmp_path / "config.json"
    config.comparison_mode_pcc = 0.5
    config.save_to_file(path)
    other = Config()
    other.load_from_file(path)
    assert other.comparison_mode_pcc == 0.5
    assert other.cache_path == config.cache_path
    with ttnn.manage_config("comparison_mode_pcc", 0.25):
        ttnn.load_config_from_dictionary({"comparison_mode_pcc": 0.75})
        assert ttnn.CONFIG.comparison_mode_pcc == 0.75


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "configuration from JSON text: not JSON"),
        ("[]", "configuration from JSON text: expected a JSON object, got list"),
        ('{"speed": 1}', "configuration from JSON text: no such field: speed"),
        ('{"enable_logging": true, "numerics": "slow"}', "CONFIG.numerics: expected one of exact, fast; got 'slow'"),
    ],
)
def test_wrong_json_changes_nothing(text: str, message: str) -> None:
    config = Config()
    with pytest.raises(ConfigError) as caught:
        config.apply_json_overrides(text)
    assert str(caught.value).startswith(message)
    assert not config.enable_logging


def test_unknown_names_may_be_left_out() -> None:
    config = Config()
    config.apply_json_overrides('{"speed": 1, "enable_logging": true}', strict=False)
    assert config.enable_logging


def test_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing\.json cannot be read: No such file or directory"):
        Config().load_from_file(tmp_path / "missing.json")


def test_environment_variables_set_switches(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"enable_logging": True}))
    config = Config()
    apply_environment(
        config,
        {
            "TTNN_CONFIG_PATH": str(path),
            "TTNN_CONFIG_OVERRIDES": '{"comparison_mode_pcc": 0.5}',
            "ARCH_NAME": "blackhole",
            "TTNN_NUMERICS": "exact",
            "TTNN_WATCHER": "off",
            "TTNN_GOLDEN": str(tmp_path),
        },
    )
    assert (config.enable_logging, config.comparison_mode_pcc, config.arch_name) == (True, 0.5, "blackhole")
    assert (config.watcher, config.golden) == (False, tmp_path)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ARCH_NAME", "grayskull"),
        ("TTNN_NUMERICS", "slow"),
        ("TTNN_THREADS", "many"),
        ("TTNN_THREADS", "-1"),
        ("TTNN_THREADS", "1025"),
        ("TTNN_CPU_LEVEL", "avx9"),
        ("TTNN_WATCHER", "1"),
        ("TTNN_GOLDEN", "/no/such/folder"),
    ],
)
def test_wrong_variables_are_errors(variable: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"^environment variable {variable}: CONFIG"):
        apply_environment(Config(), {variable: value})


def test_the_engine_has_as_many_threads_as_the_switch_takes(host_threads: None) -> None:
    CONFIG.threads = MAX_THREADS
    assert CONFIG.threads == MAX_THREADS
    with pytest.raises(ArgumentError, match=f"between 1 and {MAX_THREADS}"):
        _engine.set_threads(MAX_THREADS + 1)


def test_a_wrong_value_in_json_sets_nothing(host_threads: None) -> None:
    config = Config()
    for wrong in ('"threads": 0', '"cpu_level": "avx9"'):
        with pytest.raises(ConfigError):
            config.apply_json_overrides('{"numerics": "fast", ' + wrong + "}")
        assert config.numerics == "exact"


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"config\.json is not UTF-8 text"):
        Config().load_from_file(tmp_path / "config.json")


@pytest.mark.parametrize(
    ("function", "given", "message"),
    [
        (ttnn.load_config_from_dictionary, [1], r"expected a dictionary of switches, got \[1\]"),
        (ttnn.load_config_from_dictionary, {"numerics": {1}}, "set is not JSON serializable, as no switch is"),
        (ttnn.load_config_from_json_file, 3, "configuration file: expected a path, got 3"),
    ],
)
def test_values_other_than_a_config_raise_config_error(function: Any, given: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        function(given)


def test_unknown_home_folder_gives_a_path() -> None:
    config = Config()
    config.cache_path = "~no such user/cache"
    assert str(config.cache_path) == "~no such user/cache"


def test_variables_are_read_at_import() -> None:
    program = "import ttnn; print(ttnn.CONFIG.threads, ttnn.CONFIG.cpu_level, ttnn.CONFIG.arch_name)"
    environment = {**os.environ, "TTNN_THREADS": "1", "TTNN_CPU_LEVEL": "scalar", "ARCH_NAME": "blackhole"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "scalar", "blackhole"]
    wrong = subprocess.run(
        [sys.executable, "-c", program],
        env={**environment, "ARCH_NAME": "x"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert wrong.returncode == 1
    assert "environment variable ARCH_NAME" in wrong.stderr
