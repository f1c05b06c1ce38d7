"""Programs of `torch.export`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.frontends.torch.backend import compile_function
from ttnn.compiler.frontends.torch.options import options_of
from ttnn.compiler.frontends.torch.versions import check_version

__all__ = ["compile_exported"]


def compile_exported(program: Any, options: Any = None) -> Callable[..., Any]:
    """Return a function that runs an exported program on the device.

    Args:
        program: What `torch.export.export` returns; parameters and buffers are those of the program.
        options: As of `torch.compile`.

    Raises:
        UnsupportedError: A size is dynamic, or an operation that must not run on the host has no row.
    """
    check_version()
    if program.range_constraints:
        raise UnsupportedError(
            f"dynamic shape: {next(iter(program.range_constraints))} of the exported program; compile with fixed shapes"
        )
    module = program.module()
    state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    names = list(state)
    count = len(names)
    example, keywords = program.example_inputs
    leaves, spec = torch.utils._pytree.tree_flatten((example, keywords))

    def call(*values: Any) -> Any:
        args, kwargs = torch.utils._pytree.tree_unflatten(list(values[count:]), spec)
        return torch.func.functional_call(module, dict(zip(names, values[:count], strict=True)), args, kwargs)

    kinds = ["parameter"] * count + ["input"] * len(leaves)
    run = compile_function(call, [*state.values(), *leaves], kinds, options_of(options))

    def compiled(*args: Any, **kwargs: Any) -> Any:
        given, shape = torch.utils._pytree.tree_flatten((args, kwargs))
        if shape != spec:
            raise UnsupportedError("the exported program has other arguments.")
        return run(*state.values(), *given)

    return compiled
