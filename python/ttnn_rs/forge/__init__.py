"""Names of tt-forge; the code is in `ttnn.compiler.frontends.forge`."""

from forge import config, op, optimizers, tensor, verify
from ttnn.compiler.frontends.forge import (
    SGD,
    Adam,
    AdamW,
    CompileDepth,
    CompiledModel,
    CompilerConfig,
    DataFormat,
    ForgeModule,
    JaxModule,
    MathFidelity,
    Module,
    OnnxModule,
    Parameter,
    PyTorchModule,
    Tensor,
)
from ttnn.compiler.frontends.forge import compile_main as compile
from ttnn.compiler.frontends.forge.verify import DeprecatedVerifyConfig

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "CompileDepth",
    "CompiledModel",
    "CompilerConfig",
    "DataFormat",
    "DeprecatedVerifyConfig",
    "ForgeModule",
    "JaxModule",
    "MathFidelity",
    "Module",
    "OnnxModule",
    "Parameter",
    "PyTorchModule",
    "Tensor",
    "compile",
    "config",
    "op",
    "optimizers",
    "tensor",
    "verify",
]
