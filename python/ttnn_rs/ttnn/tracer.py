"""Official module: traces of programs that mix torch and operators."""

from __future__ import annotations

from ttnn.tracing.nodes import InputTensorIndex as InputTensorIndex
from ttnn.tracing.nodes import Node as Node
from ttnn.tracing.nodes import PositionalArgumentName as PositionalArgumentName
from ttnn.tracing.nodes import TorchFunction as TorchFunction
from ttnn.tracing.nodes import TorchModule as TorchModule
from ttnn.tracing.nodes import TorchModuleInput as TorchModuleInput
from ttnn.tracing.nodes import TorchParameter as TorchParameter
from ttnn.tracing.nodes import TorchTensor as TorchTensor
from ttnn.tracing.nodes import TTNNOperation as TTNNOperation
from ttnn.tracing.nodes import TTNNTensor as TTNNTensor
from ttnn.tracing.output import codegen as codegen
from ttnn.tracing.output import visualize as visualize
from ttnn.tracing.session import disable_tracing as disable_tracing
from ttnn.tracing.session import enable_tracing as enable_tracing
from ttnn.tracing.session import get_graph as get_graph
from ttnn.tracing.session import is_tracing_enabled as is_tracing_enabled
from ttnn.tracing.session import trace as trace
