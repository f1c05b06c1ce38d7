"""Metal 2.0 bindings of a `KernelSpec`, as namespaces.

They are `args`, `dfb`, `sem`, `tensor` and `scratch`.

`get_arg(args.tiles)`, `DataflowBuffer(dfb.out)`, `Semaphore(sem.done)`, `TensorAccessor(tensor.source)`. A name that is
a keyword of Python is written with brackets, `dfb["in"]`, or with a trailing underscore, `dfb.in_`.
"""

from __future__ import annotations

import keyword
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ttnn.base.exceptions import KernelArgumentError
from ttnn.kernel_api.bindings_context import BufferToken, KernelBindings, ScratchpadToken, TensorToken, bindings_of
from ttnn.kernel_api.context import here

_WORD_BYTES = 4


# What the namespaces give.


@dataclass(frozen=True)
class RtaArg:
    """A runtime argument of the core; `get_arg` reads it."""

    byte_offset: int


@dataclass(frozen=True)
class CrtaArg:
    """A runtime argument that all cores share; `get_arg` reads it."""

    byte_offset: int


@dataclass(frozen=True)
class CtaVal:
    """A compile-time argument; `get_arg` returns its value."""

    value: int


class DFBBindingToken(int):
    """A dataflow buffer; also the id of its CB."""


class SemaphoreBindingToken(int):
    """A semaphore; also its id."""

    @property
    def id(self) -> int:
        """Return the id."""
        return int(self)


@dataclass(frozen=True)
class TensorBindingToken:
    """A tensor, for `TensorAccessor` and `LocalTensorAccessor`."""

    name: str
    cta_offset: int
    addr_crta_offset: int
    """Bytes from the first common argument to the tensor's address."""


@dataclass(frozen=True)
class ScratchpadBindingToken:
    """A scratchpad, for `Scratchpad`."""

    name: str
    crta_offset: int
    """Index of the common argument with the address."""
    size_in_bytes: int
    format: int | None


class _Namespace(ABC):
    """Names of one kind."""

    _space = ""

    @abstractmethod
    def _tokens(self, bindings: KernelBindings) -> Mapping[str, Any]:
        """Return the values of the kernel's names of this kind."""

    def __getitem__(self, name: str) -> Any:
        tokens = self._tokens(bindings_of(f"{self._space}.{name}"))
        if name in tokens:
            return self._token(name, tokens[name])
        known = ", ".join(tokens) or "none"
        raise KernelArgumentError(f"{self._space}.{name}: kernel {here.kernel.name} has no such name, it has {known}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        bare = name[:-1]
        return self[bare if name.endswith("_") and keyword.iskeyword(bare) else name]

    def _token(self, name: str, found: Any) -> Any:
        return found

    def get_token_if_present(self, name: str) -> Any:
        """Return a name's value, None if the host did not bind it."""
        tokens = self._tokens(bindings_of(f"{self._space}.get_token_if_present"))
        return self._token(name, tokens[name]) if name in tokens else None


class _Arguments(_Namespace):
    """Arguments by name."""

    _space = "args"

    def _tokens(self, bindings: KernelBindings) -> Mapping[str, Any]:
        return {
            **{name: RtaArg(_WORD_BYTES * word) for word, name in enumerate(bindings.runtime_args)},
            **{name: CrtaArg(_WORD_BYTES * word) for word, name in enumerate(bindings.common_runtime_args)},
            **{name: CtaVal(value) for name, value in bindings.compile_time_args.items()},
        }


class _DataflowBuffers(_Namespace):
    """Dataflow buffers by name."""

    _space = "dfb"

    def _tokens(self, bindings: KernelBindings) -> Mapping[str, Any]:
        return bindings.dataflow_buffers

    def _token(self, name: str, found: BufferToken) -> DFBBindingToken:
        return DFBBindingToken(found.id)


class _Semaphores(_Namespace):
    """Semaphores by name."""

    _space = "sem"

    def _tokens(self, bindings: KernelBindings) -> Mapping[str, Any]:
        return bindings.semaphores

    def _token(self, name: str, found: int) -> SemaphoreBindingToken:
        return SemaphoreBindingToken(found)


class _Tensors(_Namespace):
    """Tensors and sequences of tensors by name."""

    _space = "tensor"

    def _tokens(self, bindings: KernelBindings) -> Mapping[str, Any]:
        sequences = {
            name: tuple(self._token(member, bindings.tensors[member]) for member in members)
            for name, members in bindings.tensor_sequences.items()
        }
        return {**bindings.tensors, **sequences}

    def _token(self, name: str, found: Any) -> Any:
        if not isinstance(found, TensorToken):
            return found
        return TensorBindingToken(name, found.cta_offset, _WORD_BYTES * found.crta_word)


class _Scratchpads(_Namespace):
    """Scratchpads by name."""

    _space = "scratch"

    def _tokens(self, bindings: KernelBindings) -> Mapping[str, Any]:
        return bindings.scratchpads

    def _token(self, name: str, found: ScratchpadToken) -> ScratchpadBindingToken:
        return ScratchpadBindingToken(name, found.crta_word, found.size, found.format)


args = _Arguments()
dfb = _DataflowBuffers()
sem = _Semaphores()
tensor = _Tensors()
ta = tensor
scratch = _Scratchpads()
