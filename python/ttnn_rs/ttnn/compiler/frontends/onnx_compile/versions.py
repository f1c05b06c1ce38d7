"""The version of ONNX that the front end reads with."""

from __future__ import annotations

from typing import Final

from ttnn.base.exceptions import UnsupportedError

__all__ = ["check_version"]

_MINOR: Final = "1.23"


def check_version(version: str | None = None) -> None:
    """Check the installed version of ONNX.

    Raises:
        UnsupportedError: There is none, or another one than 1.23; operators change with every release.
    """
    if version is None:
        try:
            import onnx
        except ImportError:
            raise UnsupportedError('ONNX models need the package onnx: pip install "ttnn-rs[onnx]"') from None
        version = onnx.__version__
    if not version.startswith(f"{_MINOR}."):
        raise UnsupportedError(f"onnx {version} is installed; the front end needs onnx {_MINOR}")
