"""The version of the package, without an import of operators."""

from __future__ import annotations

from importlib import metadata

__all__ = ["package_version"]


def package_version() -> str:
    """Return the version of the installed package, "major.minor.patch"."""
    return metadata.version("ttnn-rs")
