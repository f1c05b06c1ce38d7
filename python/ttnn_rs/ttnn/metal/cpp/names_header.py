"""The header of a kernel with a specification, five namespaces.

`args::`, `dfb::`, `sem::`, `tensor::`, `scratch::`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ttnn.base.exceptions import KernelArgumentError
from ttnn.kernel_api.bindings_context import KernelBindings, ScratchpadToken, TensorToken

_NAME = re.compile(r"[A-Za-z_]\w*")
_NO_FORMAT = 0xFF


def names_header(bindings: KernelBindings) -> str:
    """Return the header text for a kernel's bound names.

    Raises:
        KernelArgumentError: a name that C++ cannot have.
    """
    lines = ["#pragma once", '#include "ttnn_rs/bindings.h"']
    runtime = [(name, f"RtaArg<std::uint32_t> {name}{{{4 * i}}}") for i, name in enumerate(bindings.runtime_args)]
    common = [
        (name, f"CrtaArg<std::uint32_t> {name}{{{4 * i}}}") for i, name in enumerate(bindings.common_runtime_args)
    ]
    constant = [
        (name, f"CtaVal<std::uint32_t> {name}{{{value & 0xFFFFFFFF}u}}")
        for name, value in bindings.compile_time_args.items()
    ]
    lines += _namespace("args", ((name, f"experimental::{text}") for name, text in (*runtime, *common, *constant)))
    lines += _namespace(
        "dfb",
        ((name, f"DFBBindingToken<> {name}({token.id})") for name, token in bindings.dataflow_buffers.items()),
    )
    lines += _namespace(
        "sem", ((name, f"SemaphoreBindingToken {name}{{{number}}}") for name, number in bindings.semaphores.items())
    )
    tensors = [(name, _tensor(name, token)) for name, token in bindings.tensors.items()]
    sequences = [
        (name, f"auto {name} = std::make_tuple({', '.join(members)})")
        for name, members in bindings.tensor_sequences.items()
    ]
    lines += [*_namespace("tensor", (*tensors, *sequences)), "namespace ta = tensor;"]
    lines += _namespace("scratch", ((name, _scratchpad(name, token)) for name, token in bindings.scratchpads.items()))
    return "\n".join([*lines, *_varargs(bindings)]) + "\n"


def _varargs(bindings: KernelBindings) -> Iterable[str]:
    first = bindings.compile_time_vararg_word
    for name, call, start in (
        ("get_vararg", "get_arg_val<std::uint32_t>", len(bindings.runtime_args)),
        ("get_common_vararg", "get_common_arg_val<std::uint32_t>", bindings.common_vararg_word),
    ):
        yield f"FORCE_INLINE std::uint32_t {name}(std::uint32_t index) {{ return {call}({start} + index); }}"
    yield "constexpr std::uint32_t get_compile_time_vararg(std::uint32_t index) {"
    yield f"    return kernel_compile_time_args[{first} + index];"
    yield "}"
    yield "template <std::uint32_t index>"
    yield "constexpr std::uint32_t get_compile_time_vararg() {"
    yield "    return get_compile_time_vararg(index);"
    yield "}"


def _tensor(name: str, token: TensorToken) -> str:
    place = f"<{token.cta_offset}, {4 * token.crta_word}>"
    return f"tensor_accessor::TensorBindingToken{place} {name}{{}}"


def _scratchpad(name: str, token: ScratchpadToken) -> str:
    form = _NO_FORMAT if token.format is None else token.format
    return f"ScratchpadBindingToken {name}({4 * token.crta_word}, {token.size}, {{.format = {form}}})"


def _namespace(name: str, constants: Iterable[tuple[str, str]]) -> list[str]:
    """Return a namespace of constants, given their names and declarations."""
    lines = []
    for constant, declaration in constants:
        if not _NAME.fullmatch(constant):
            raise KernelArgumentError(f"{name}::{constant} is not a valid C++ name")
        lines.append(f"inline constexpr {declaration};")
    return [f"namespace {name} {{", *lines, f"}}  // namespace {name}"]
