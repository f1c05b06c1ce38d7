"""Trees of parameters in folders: one file per tensor, one folder per module."""

from __future__ import annotations

import pickle
import subprocess
from pathlib import Path
from typing import Any, Final

import torch

from ttnn.base.exceptions import FileFormatError, ParameterError
from ttnn.model_preprocessing.parameters import (
    Conv2dArgs,
    ConvTranspose2dArgs,
    GroupNormArgs,
    MaxPool2dArgs,
    ModuleArgs,
    ParameterDict,
    ParameterList,
)
from ttnn.tensor.files import dump_tensor, load_tensor
from ttnn.tensor.tensor import Tensor

VERSION_FILE: Final = "version.txt"
_ARGUMENTS: Final[dict[str, type[ModuleArgs]]] = {
    ".conv2d_module_args": Conv2dArgs,
    ".conv_transpose2d_module_args": ConvTranspose2dArgs,
    ".group_norm_module_args": GroupNormArgs,
    ".max_pool2d_module_args": MaxPool2dArgs,
}


def git_hash() -> str:
    """Return the short hash of the commit of the working directory, the default version of cached parameters.

    Raises:
        ParameterError: there is no repository.
    """
    command = ["git", "rev-parse", "--short", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        raise ParameterError(
            "preprocess_model: the working directory is in no git repository, so a version must be given.",
            vendor="Couldn't get git hash!",
        ) from error


def load_parameters(folder: Path) -> ParameterDict:
    """Return the tree that a folder holds.

    Raises:
        FileFormatError: a file that `dump_parameters` does not write.
    """
    tree = ParameterDict()
    for path in sorted(folder.iterdir()):
        if path.name == VERSION_FILE:
            continue
        label = path.name if path.is_dir() else path.stem
        tree[int(label) if label.isdigit() else label] = _loaded(path)
    return tree


def _loaded(path: Path) -> Any:
    if path.is_dir():
        inner = load_parameters(path)
        if inner and all(isinstance(key, int) for key in inner):
            return ParameterList([inner[index] for index in sorted(inner)])
        return inner
    if path.suffix == ".tensorbin":
        return load_tensor(path)
    if path.suffix == ".pt":
        return torch.load(path)
    if path.suffix in _ARGUMENTS:
        return _ARGUMENTS[path.suffix](pickle.loads(path.read_bytes()))
    raise FileFormatError(
        f"preprocess_model: {path} is no file of cached parameters.", vendor="Unrecognized file extension!"
    )


def dump_parameters(folder: Path, tree: Any) -> None:
    """Write a tree into a new folder.

    Raises:
        ParameterError: a value that is no tensor, torch tensor or arguments of a module.
    """
    folder.mkdir(parents=True)
    for name, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        target = folder / str(name)
        if isinstance(value, ParameterDict | ParameterList):
            dump_parameters(target, value)
        elif isinstance(value, Tensor):
            dump_tensor(f"{target}.tensorbin", value)
        elif isinstance(value, torch.Tensor):
            torch.save(value, f"{target}.pt")
        elif isinstance(value, ModuleArgs):
            suffix = next(ending for ending, kind in _ARGUMENTS.items() if type(value) is kind)
            Path(f"{target}{suffix}").write_bytes(pickle.dumps(dict(value)))
        else:
            raise ParameterError(
                f"preprocess_model: {target.name} is a {type(value).__name__}, which the cache cannot hold.",
                vendor=f"Unsupported type: {type(value)}",
            )
