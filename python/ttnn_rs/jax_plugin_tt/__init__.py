"""Entry point of jax: registers the platform `tt`.

jax calls `initialize` in every process that uses it, so nothing heavy is imported and no device is opened here.
"""

from __future__ import annotations

import logging
import os
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path
from typing import Any

__all__ = ["initialize"]

_PLATFORM = "tt"
_PRIORITY = -1
"""Below the CPU's: a simulated chip is chosen, not a default."""


def initialize() -> None:
    """Register the platform `tt`.

    A failure is logged and leaves jax as it is.
    """
    try:
        _register()
    except Exception as error:
        logging.getLogger(__name__).warning("platform %s of jax is not available: %s", _PLATFORM, error)


def _register() -> None:
    from jax import lax
    from jax._src import xla_bridge
    from jax._src.interpreters import mlir

    if _PLATFORM in xla_bridge._backend_factories:
        return
    # Without this, jax warns of an experimental platform, also in programs that do not use it.
    xla_bridge._nonexperimental_plugins.add(_PLATFORM)
    xla_bridge.register_plugin(_PLATFORM, priority=_priority(), library_path=str(_library()))
    platforms: list[Any] = mlir._platforms_with_donation
    if _PLATFORM not in platforms:
        platforms.append(_PLATFORM)
    mlir.register_lowering(lax.erfc_p, mlir.lower_fun(_erfc, multiple_results=False), platform=_PLATFORM)


def _erfc(x: Any) -> Any:
    """Return the complementary error function as one operation.

    jax would write it out as polynomials.
    """
    from jax import lax

    return lax.composite(lambda x: 1 - lax.erf(x), "chlo.erfc")(x)


def _priority() -> int:
    text = os.environ.get("TTNN_JAX_PRIORITY", "")
    try:
        return int(text or _PRIORITY)
    except ValueError:
        raise ValueError(f"TTNN_JAX_PRIORITY is {text!r}; expected a whole number") from None


def _library() -> Path:
    """Return the file of the engine, which holds the plugin.

    The package is not imported for it.
    """
    package = find_spec("ttnn")
    folders = package.submodule_search_locations if package is not None else None
    for folder in folders or ():
        for suffix in EXTENSION_SUFFIXES:
            found = Path(folder, f"_engine{suffix}")
            if found.is_file():
                return found
    raise FileNotFoundError("the engine (ttnn._engine) is not built for this Python")
