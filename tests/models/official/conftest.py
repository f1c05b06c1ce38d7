"""Public ports of models, from a tt-metal checkout, unmodified.

`TT_METAL_HOME` names the checkout; without it, or without the packages that the ports import, these tests are skipped.
With `TTNN_PORTS_REQUIRED=1` that is a failure. Weights are random: `from_pretrained` makes a model of a configuration
that the test names, instead of downloading one. `TTNN_PORTS_TABLE` names a file to which a line is added per test.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ttnn
from testkit.official_ports import Distances, LocalHub

HOME = Path(os.environ.get("TT_METAL_HOME", "/nowhere"))
_PACKAGES = ("torch", "transformers", "loguru", "pydantic", "PIL", "tqdm", "safetensors")


def pytest_configure(config: pytest.Config) -> None:
    """Know the marks of the official tests, which are imported and called."""
    config.addinivalue_line("markers", "models_performance_bare_metal: a mark of official tests")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Raise these tests' time limit, and allow port warnings."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(900))
            item.add_marker(pytest.mark.filterwarnings("ignore"))


def unavailable(reason: str) -> None:
    """Skip the test, or fail it where the ports are required."""
    if os.environ.get("TTNN_PORTS_REQUIRED") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def checkout() -> Path:
    """Return the checkout, from which `models` and `tests` can be imported."""
    if not (HOME / "models").is_dir():
        unavailable("TT_METAL_HOME names no checkout of tt-metal")
    missing = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        unavailable(f"not installed: {', '.join(missing)}")
    os.environ["HF_HUB_OFFLINE"] = "1"
    sys.path.insert(0, str(HOME))
    from loguru import logger

    logger.remove()
    return HOME


@pytest.fixture
def ports(checkout: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the checkout, with relative paths and a fresh cache folder."""
    import torch

    torch.manual_seed(0)
    monkeypatch.chdir(checkout)
    monkeypatch.setenv("TT_CACHE_PATH", str(tmp_path / "cache"))
    monkeypatch.setenv("MESH_DEVICE", "N150")
    return checkout


@pytest.fixture
def hub(ports: Path, monkeypatch: pytest.MonkeyPatch) -> LocalHub:
    """Return the place of the models that `from_pretrained` makes from now on."""
    import transformers

    found = LocalHub()
    load_config = transformers.PretrainedConfig.from_pretrained.__func__
    load_model = transformers.PreTrainedModel.from_pretrained.__func__

    def config(cls: Any, name: Any, *args: Any, **kwargs: Any) -> Any:
        if str(name) in found.configs:
            return found.config(cls, str(name))
        return load_config(cls, name, *args, **kwargs)

    def model(cls: Any, name: Any = None, *args: Any, config: Any = None, **kwargs: Any) -> Any:
        if str(name) in found.configs:
            return found.model(cls, str(name), config)
        return load_model(cls, name, *args, config=config, **kwargs)

    monkeypatch.setattr(transformers.PretrainedConfig, "from_pretrained", classmethod(config))
    monkeypatch.setattr(transformers.PreTrainedModel, "from_pretrained", classmethod(model))
    return found


@pytest.fixture
def distances() -> Distances:
    """Return what collects correlations of the test."""
    return Distances()


@pytest.fixture
def opened() -> Iterator[Callable[..., ttnn.MeshDevice]]:
    """Return a function that opens the device with options.

    It is closed after the test.
    """
    devices: list[ttnn.MeshDevice] = []

    def open_device(**options: Any) -> ttnn.MeshDevice:
        devices.append(ttnn.open_device(device_id=0, **options))
        return devices[-1]

    yield open_device
    for device in devices:
        if device.is_open:
            ttnn.close_device(device)
