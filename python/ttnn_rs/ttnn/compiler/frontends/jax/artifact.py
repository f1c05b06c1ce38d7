"""StableHLO artifacts of jax: read, made smaller, and described."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ttnn.base.exceptions import FileFormatError, UnsupportedError
from ttnn.compiler.frontends.jax.dtypes import dtype_of_element

__all__ = ["Artifact", "TensorType", "read_artifact"]

_PASSES = "builtin.module(inline,canonicalize,cse,symbol-dce)"
_DONATED = ("jax.buffer_donor", "tf.aliasing_output")


@dataclass(frozen=True)
class TensorType:
    """Type of an argument or result.

    Attributes:
        dtype: The numpy dtype.
        shape: The shape.
    """

    dtype: Any
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Size of the elements."""
        size = int(self.dtype.itemsize)
        for dim in self.shape:
            size *= dim
        return size


class Artifact:
    """A program of jax.

    Attributes:
        module: The module, in the bindings of jaxlib.
        name: Its name.
        inputs: Types of the arguments of `main`.
        outputs: Types of its results.
        donated: Numbers of the arguments that the program may overwrite.
    """

    def __init__(self, module: Any) -> None:
        self.module = module
        attributes = module.operation.attributes
        self.name = attributes["sym_name"].value if "sym_name" in attributes else "main"
        main = next((one for one in module.body.operations if _symbol(one) == "main"), None)
        if main is None:
            raise FileFormatError("the program has no function main.")
        self.main = main
        self.inputs = [_type(one, f"argument {i} of {self.name}") for i, one in enumerate(main.type.inputs)]
        self.outputs = [_type(one, f"result {i} of {self.name}") for i, one in enumerate(main.type.results)]
        self.donated = [
            i
            for i, one in enumerate(main.arg_attrs if "arg_attrs" in main.attributes else ())
            if any(name in one for name in _DONATED)
        ]

    @cached_property
    def text(self) -> str:
        """The program as StableHLO text."""
        return str(self.module.operation.get_asm())


def _symbol(op: Any) -> str | None:
    return op.attributes["sym_name"].value if "sym_name" in op.attributes else None


def _type(type_: Any, what: str) -> TensorType:
    from jaxlib.mlir import ir

    if not isinstance(type_, ir.RankedTensorType):
        raise UnsupportedError(f"{what} has type {type_}; expected a tensor.")
    for dim in range(type_.rank):
        if type_.is_dynamic_dim(dim):
            raise UnsupportedError(f"dynamic shape: {what} has dimension {dim} = ?; compile with fixed shapes.")
    return TensorType(dtype_of_element(str(type_.element_type)), tuple(type_.shape))


def read_artifact(artifact: bytes) -> Artifact:
    """Return the program of a portable artifact, its functions inlined.

    Raises:
        FileFormatError: The bytes are no artifact that jaxlib reads.
        UnsupportedError: A type cannot be compiled.
    """
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
    from jaxlib.mlir.passmanager import PassManager

    context = mlir.make_ir_context()
    with context:
        try:
            module = stablehlo.deserialize_portable_artifact(context, artifact)
            PassManager.parse(_PASSES).run(module.operation)
        except (ir.MLIRError, ValueError) as error:
            raise FileFormatError(f"the program of jax cannot be read: {error}") from None
        return Artifact(module)
