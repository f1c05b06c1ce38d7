"""The versions of PyTorch that the front end reads."""

from __future__ import annotations

import torch

from ttnn.base.exceptions import UnsupportedError

__all__ = ["check_version"]


def check_version(version: str | None = None) -> None:
    """Check the version of PyTorch.

    Raises:
        UnsupportedError: It is another one than 2.13; names of aten operations change with every release.
    """
    text = torch.__version__ if version is None else version
    major, minor = text.split("+")[0].split(".")[:2]
    if (major, minor) != ("2", "13"):
        raise UnsupportedError(f"torch {major}.{minor} is installed; the front end needs torch >=2.13,<2.14")
