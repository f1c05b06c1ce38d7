"""Names bound by a `KernelSpec`, as plain data.

The headers of C++ kernels also use them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ttnn.base.exceptions import KernelArgumentError
from ttnn.kernel_api.context import here


@dataclass(frozen=True)
class BufferToken:
    """A bound dataflow buffer: CB, format code, tile, and kernel's role."""

    id: int
    format: int | None = None
    tile: tuple[int, int] = (32, 32)
    producer: bool = False
    consumer: bool = False


@dataclass(frozen=True)
class TensorToken:
    """A bound tensor: accessor's compile-time words and common address argument."""

    cta_offset: int
    crta_word: int
    format: int | None = None
    tile: tuple[int, int] = (32, 32)


@dataclass(frozen=True)
class ScratchpadToken:
    """A bound scratchpad: common address argument, bytes, format and tile."""

    crta_word: int
    size: int
    format: int | None = None
    tile: tuple[int, int] = (32, 32)


@dataclass
class KernelBindings:
    """Names that a kernel may use.

    Attributes:
        runtime_args: Names of the core's first arguments; the core's varargs follow.
        common_runtime_args: Names of the first common arguments.
        common_vararg_word: Common argument at which varargs start; addresses of tensors and scratchpads precede it.
        compile_time_args: Values of named compile-time arguments.
        compile_time_vararg_word: Compile-time argument at which varargs start.
        num_compile_time_varargs: Their number.
        dataflow_buffers: By accessor name.
        semaphores: Ids by accessor name.
        tensors: By accessor name.
        tensor_sequences: Accessor names of tensors by the name of their sequence.
        scratchpads: By accessor name.
    """

    runtime_args: tuple[str, ...] = ()
    common_runtime_args: tuple[str, ...] = ()
    common_vararg_word: int = 0
    compile_time_args: dict[str, int] = field(default_factory=dict)
    compile_time_vararg_word: int = 0
    num_compile_time_varargs: int = 0
    dataflow_buffers: dict[str, BufferToken] = field(default_factory=dict)
    semaphores: dict[str, int] = field(default_factory=dict)
    tensors: dict[str, TensorToken] = field(default_factory=dict)
    tensor_sequences: dict[str, tuple[str, ...]] = field(default_factory=dict)
    scratchpads: dict[str, ScratchpadToken] = field(default_factory=dict)


def bindings_of(what: str) -> KernelBindings:
    """Return what the running kernel may name.

    Raises:
        KernelArgumentError: it was not made from a `KernelSpec`.
    """
    kernel = here.kernel
    if kernel.bindings is None:
        raise KernelArgumentError(f"{what}: kernel {kernel.name} has no named bindings; they require a KernelSpec")
    bindings: KernelBindings = kernel.bindings
    return bindings
