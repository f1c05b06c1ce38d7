"""Programs that are written to files."""

from __future__ import annotations

import re
from pathlib import Path

from ttnn.base.exceptions import UnsupportedError
from ttnn.base.files import write_atomically
from ttnn.compiler.frontends.torch.compiled import Compiled
from ttnn.compiler.frontends.torch.options import Options

__all__ = ["save"]


def save(compiled: Compiled, options: Options, number: int) -> None:
    """Write the text and the binary that the options ask for.

    Args:
        compiled: The program.
        options: The options.
        number: Number of the program of this process, which is part of names.

    Raises:
        UnsupportedError: A dialect that programs of torch do not pass through is asked for.
    """
    config = options.config
    asked = set(config.save_mlir_override or ())
    if asked - {"TTIR"}:
        raise UnsupportedError(
            f"TT_TORCH_SAVE_MLIR: {', '.join(sorted(asked - {'TTIR'}))} is not written; TTIR is, and ttmlir-opt "
            "lowers it."
        )
    name = re.sub(r"[^\w\-]", "_", config.model_name or "model") + (f"_{number}" if number else "")
    if asked:
        _write(Path(config.output_mlir_dir) / f"{name}_ttir.mlir", compiled.plan.ttir.encode())
    if options.export_path is not None:
        _write(Path(options.export_path) / f"{name}_ttir.mlir", compiled.plan.ttir.encode())
    if config.dump_binary:
        _write(Path(config.output_binary_dir) / f"{name}.ttnn", compiled.plan.binary.to_bytes())


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, data, where="torch.compile")
