"""`forge.compile`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ttnn.base.exceptions import ParameterError, UnsupportedError
from ttnn.compiler.frontends.devices import current_device
from ttnn.compiler.frontends.forge.config import CompilerConfig, check
from ttnn.compiler.frontends.forge.model import CompiledModel
from ttnn.compiler.frontends.forge.modules import ForgeModule, JaxModule, Module, OnnxModule, PyTorchModule, to_jax
from ttnn.compiler.frontends.forge.optimizers import Optimizer
from ttnn.compiler.frontends.forge.tensor import to_pt_tensors
from ttnn.compiler.frontends.onnx_compile import compile_onnx
from ttnn.compiler.frontends.torch.backend import compile_function
from ttnn.compiler.frontends.torch.options import Options
from ttnn.compiler.frontends.torch.training import compile_training
from ttnn.compiler.frontends.torch.versions import check_version

__all__ = ["compile_main"]

_OTHERS = {
    "tensorflow": ("TensorFlow", "convert with tf2onnx and pass the ONNX model"),
    "keras": ("TensorFlow", "convert with tf2onnx and pass the ONNX model"),
    "tf_keras": ("TensorFlow", "convert with tf2onnx and pass the ONNX model"),
    "tflite": ("TFLite", "convert with tf2onnx and pass the ONNX model"),
    "ai_edge_litert": ("TFLite", "convert with tf2onnx and pass the ONNX model"),
    "paddle": ("Paddle", "convert with paddle2onnx and pass the ONNX model"),
    "mxnet": ("MXNet", "export the model as ONNX with mxnet.onnx.export_model and pass that"),
}
"""Frameworks that are not read, by package."""


def compile_main(
    module: Any,
    sample_inputs: Sequence[Any] | None = None,
    module_name: str | None = None,
    optimizer: Any = None,
    training: bool = False,
    attach_to: Any = None,
    compiler_cfg: CompilerConfig | None = None,
    verify_cfg: Any = None,
) -> CompiledModel:
    """Return a model compiled for the device.

    Args:
        module: A module of PyTorch, an ONNX model or the path of one, a function of jax, or one of them as
            PyTorchModule, OnnxModule, JaxModule; or a ForgeModule.
        sample_inputs: Inputs of the shapes and types that will be given.
        module_name: No effect: programs are not told apart by names.
        optimizer: An optimizer of PyTorch or of forge, which means training.
        training: Whether `backward` follows.
        attach_to: A compiled model before this one; refused.
        compiler_cfg: How to compile.
        verify_cfg: No effect: `forge.verify.verify` compares.

    Raises:
        UnsupportedError: What the device cannot do, or another framework.
        ParameterError: No such module.
    """
    del module_name, verify_cfg
    if attach_to is not None:
        raise UnsupportedError("forge: attach_to joins two graphs of training; call the loss in the model instead.")
    config = CompilerConfig() if compiler_cfg is None else compiler_cfg
    inputs = [] if sample_inputs is None else list(sample_inputs)
    training = training or optimizer is not None or config.enable_training
    _other(module.module if isinstance(module, (PyTorchModule, JaxModule, OnnxModule)) else module)
    if isinstance(module, PyTorchModule):
        module = module.module
    if isinstance(module, (torch.nn.Module, ForgeModule)):
        return _torch(module, inputs, config, training, optimizer)
    if training:
        raise UnsupportedError("forge: only modules of PyTorch and forge are trained.")
    if isinstance(module, OnnxModule) or _is_onnx(module):
        return _onnx(module, inputs, config)
    if isinstance(module, JaxModule):
        return _jax(module.module, module, inputs, config)
    if callable(module) and not isinstance(module, Module):
        return _jax(module, module, inputs, config)
    raise ParameterError(
        f"forge.compile: expected a torch.nn.Module, an ONNX model or its path, or a function of jax, got "
        f"{type(module).__name__}."
    )


def _other(module: Any) -> None:
    """Refuse models of frameworks that are not read.

    Raises:
        UnsupportedError: It is one of them.
    """
    for kind in type(module).__mro__:
        name, advice = _OTHERS.get(kind.__module__.partition(".")[0], (None, None))
        if name is not None:
            raise UnsupportedError(f"forge: {name} modules are not read; {advice}")
    if isinstance(module, (str, os.PathLike)) and os.fspath(module).endswith(".tflite"):
        name, advice = _OTHERS["tflite"]
        raise UnsupportedError(f"forge: {name} modules are not read; {advice}")


def _is_onnx(module: Any) -> bool:
    return isinstance(module, (str, os.PathLike, bytes)) or type(module).__name__ == "ModelProto"


def _torch(module: Any, inputs: list[Any], config: CompilerConfig, training: bool, optimizer: Any) -> CompiledModel:
    """Return a module of PyTorch, or one of forge as such."""
    check_version()
    function, state = _function(module)
    given = list(to_pt_tensors(inputs))
    if not given:
        raise ParameterError("forge.compile: expected sample inputs.")
    options = Options(pipeline=check(config, [*state.values(), *given]))
    if isinstance(optimizer, Optimizer):
        optimizer.set_parameters_to_optimize([one for one in state.values() if one.requires_grad])
    owned = optimizer if isinstance(optimizer, Optimizer) else None
    values = list(state.values())
    if training:
        programs: list[Any] = []

        def backend(graph: Any, parts: Sequence[Any]) -> Any:
            return compile_training(graph, parts, ["input"] * len(parts), options, programs)

        torch._dynamo.reset()
        compiled = torch.compile(function, backend=backend, dynamic=False)
        return CompiledModel(
            lambda *args: compiled(values, *args),
            lambda: [one.plan for graph in programs for one in graph.programs],
            module,
            training=True,
            optimizer=owned,
        )
    kinds = ["parameter"] * len(values) + ["input"] * len(given)
    with torch.no_grad():
        flat: Any = compile_function(
            lambda *args: function(list(args[: len(values)]), *args[len(values) :]), [*values, *given], kinds, options
        )

    def run(*args: Any) -> Any:
        with torch.no_grad():
            return flat(*values, *args)

    return CompiledModel(run, lambda: [one.plan for one in flat.programs], module)


def _function(module: Any) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Return a function of parameters and inputs, and the parameters by name."""
    if isinstance(module, torch.nn.Module):
        state: dict[str, Any] = {**dict(module.named_parameters()), **dict(module.named_buffers())}
        names = list(state)

        def call(values: Sequence[Any], *args: Any) -> Any:
            return torch.func.functional_call(module, dict(zip(names, values, strict=True)), args)

        return call, state
    parameters = dict(module.named())

    def forge(values: Sequence[Any], *args: Any) -> Any:
        kept = [one._value for one in parameters.values()]
        for one, value in zip(parameters.values(), values, strict=True):
            one._value = value
        try:
            found = module(*args)
        finally:
            for one, value in zip(parameters.values(), kept, strict=True):
                one._value = value
        return to_pt_tensors(found)

    return forge, {name: one.value() for name, one in parameters.items()}


def _onnx(module: Any, inputs: list[Any], config: CompilerConfig) -> CompiledModel:
    source = module.source if isinstance(module, OnnxModule) else module
    samples = list(to_pt_tensors(inputs))
    program = compile_onnx(source, samples or None, options=check(config, samples))
    return CompiledModel(program, lambda: [program.plan] if program.plan is not None else [], module)


def _jax(function: Any, module: Any, inputs: list[Any], config: CompilerConfig) -> CompiledModel:
    """Return a function of jax, lowered for the inputs' shapes."""
    import jax

    from ttnn.compiler.frontends.plan import compile_stablehlo

    arrays = [to_jax(one) for one in inputs]
    lowered = jax.jit(function).lower(*arrays)
    structure = jax.tree.structure(lowered.out_info)
    plan = compile_stablehlo(lowered.compiler_ir("stablehlo"), options=check(config, list(to_pt_tensors(arrays))))

    def run(*args: Any) -> Any:
        leaves = jax.tree.leaves([to_jax(one) for one in args])
        found = plan(*leaves, device=current_device())
        return list(to_pt_tensors(jax.tree.leaves(jax.tree.unflatten(structure, found))))

    return CompiledModel(run, lambda: [plan], module)
