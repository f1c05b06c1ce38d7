"""Programs of jax that are divided among several devices."""

from __future__ import annotations

import math
from typing import Any

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.frontends.jax.artifact import Artifact, TensorType
from ttnn.compiler.importers.spmd import partition, propagate
from ttnn.compiler.importers.stablehlo import read
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import ArrayAttr, StringAttr
from ttnn.compiler.versions import print_module

__all__ = ["Divided"]


class Divided:
    """The program of one device, made from that of all.

    Attributes:
        module: The program.
        mesh: Rows and columns of the devices.
        outputs: Types of the parts of the results.
        text: The program, with the shardings of arguments and results as jax reads them.
    """

    def __init__(self, artifact: Artifact, devices: int) -> None:
        """Divide a program.

        Args:
            artifact: The program, whose module is changed.
            devices: Number of devices.

        Raises:
            UnsupportedError: The mesh or an operation is not supported.
        """
        propagate(artifact.module)
        self.module: Module = read(artifact.module)
        found = partition(self.module)
        # Without a mesh every device has all.
        self.mesh = (1, devices) if found.mesh == (1, 1) else found.mesh
        if math.prod(self.mesh) != devices:
            grid = "x".join(map(str, self.mesh))
            raise UnsupportedError(f"the program is for {devices} devices, its mesh has {grid}.")
        types = self.module.functions()[0].function_type.outputs.data
        self.outputs = [
            TensorType(one.dtype, tuple(type_.get_shape()))  # type: ignore[attr-defined]
            for one, type_ in zip(artifact.outputs, types, strict=True)
        ]
        self.text = _text(self.module, found.inputs, found.outputs)


def _text(module: Module, inputs: list[str], outputs: list[str]) -> str:
    """Return the text of a program without operations of Shardy."""
    whole: Any = module.op
    copied = whole.clone()
    for op in list(copied.ops):
        if op.name == "sdy.mesh":
            op.detach()
            op.erase()
    result = outputs[0] if len(outputs) == 1 else f"{{{', '.join(outputs)}}}"
    copied.attributes["mhlo.spmd_output_sharding"] = StringAttr(result)
    copied.attributes["mhlo.spmd_parameters_shardings"] = ArrayAttr([StringAttr(one) for one in inputs])
    return print_module(Module(copied, module.version, module.filename, dict(module.resources)))
