"""`forge.compile`: models of several frameworks on the device."""

from ttnn.compiler.frontends.forge.compiler import compile_main
from ttnn.compiler.frontends.forge.config import CompileDepth, CompilerConfig, MLIRConfig
from ttnn.compiler.frontends.forge.formats import DataFormat, MathFidelity
from ttnn.compiler.frontends.forge.model import CompiledModel
from ttnn.compiler.frontends.forge.modules import ForgeModule, JaxModule, Module, OnnxModule, PyTorchModule
from ttnn.compiler.frontends.forge.operations import OPERATIONS
from ttnn.compiler.frontends.forge.optimizers import SGD, Adam, AdamW
from ttnn.compiler.frontends.forge.tensor import Parameter, Tensor
from ttnn.compiler.frontends.forge.verify import VerifyConfig, verify

__all__ = [
    "OPERATIONS",
    "SGD",
    "Adam",
    "AdamW",
    "CompileDepth",
    "CompiledModel",
    "CompilerConfig",
    "DataFormat",
    "ForgeModule",
    "JaxModule",
    "MLIRConfig",
    "MathFidelity",
    "Module",
    "OnnxModule",
    "Parameter",
    "PyTorchModule",
    "Tensor",
    "VerifyConfig",
    "compile_main",
    "verify",
]
