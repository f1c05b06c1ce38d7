"""Shared code of calls: how they are added, operands, results, configurations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.conversion.ttnn_to_calls.calls import DEVICE, Argument, Call, Name, New, Ref
from ttnn.compiler.conversion.ttnn_to_calls.configurations import conv2d_config
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import Description, describe, dtype_name

__all__ = [
    "DRAM",
    "INTEGERS",
    "Calls",
    "Handler",
    "chosen_type",
    "compute_config",
    "conv_config",
    "finish",
    "half",
    "half_type",
    "in_rows",
    "in_tiles",
    "mask",
    "numbers",
    "operand",
    "place",
    "several",
    "unflattened",
]

DRAM: Final = New("ttnn.MemoryConfig", (Name("ttnn.TensorMemoryLayout.INTERLEAVED"), Name("ttnn.BufferType.DRAM")))
L1: Final = New("ttnn.MemoryConfig", (Name("ttnn.TensorMemoryLayout.INTERLEAVED"), Name("ttnn.BufferType.L1")))
"""Default memory config of operator results."""
INTEGERS: Final = ("Int32", "UInt32", "UInt16", "UInt8")
"""Data types of integers."""


class Calls:
    """Calls of a program as they are added.

    Attributes:
        added: The calls, in order.
        operation: Number of the operation that adds calls now.
        mesh: Rows and columns of the mesh that the program runs on.
    """

    def __init__(self, mesh: tuple[int, int] = (1, 1)) -> None:
        self.mesh = mesh
        self.added: list[Call] = []
        self.operation = -1
        self._step = 0

    def call(self, function: str, *arguments: Argument, out: int | None = None, **keywords: Argument) -> Ref:
        """Add a call and return its result.

        Args:
            function: Public name.
            arguments: Positional arguments.
            out: Number of the result; a new one for a step in between.
            keywords: Arguments by name; those that are `None` are left out.
        """
        if out is None:
            self._step -= 1
            out = self._step
        given = {name: value for name, value in keywords.items() if value is not None}
        self.added.append(Call(function, list(arguments), given, (out,), self.operation))
        return Ref(out)

    def call_several(
        self, function: str, arguments: list[Argument], keywords: dict[str, Argument], outs: list[int | None]
    ) -> list[Ref]:
        """Add a call of a function with several results and return them.

        Args:
            function: Public name.
            arguments: Positional arguments.
            keywords: Arguments by name; those that are `None` are left out.
            outs: Number of each result; a new one where it is `None`.
        """
        numbers = []
        for out in outs:
            self._step -= out is None
            numbers.append(self._step if out is None else out)
        given = {name: value for name, value in keywords.items() if value is not None}
        self.added.append(Call(function, list(arguments), given, tuple(numbers), self.operation))
        return [Ref(number) for number in numbers]

    def cast(self, tensor: Ref, have: str, want: str, out: int | None = None) -> Ref:
        """Return a tensor with another data type, or itself."""
        if have == want and out is None:
            return tensor
        return self.call("ttnn.typecast", tensor, dtype_name(want), out=out)


Handler: TypeAlias = Callable[[Calls, dict[str, Any]], None]


def operand(reference: dict[str, Any] | None) -> Ref | None:
    """Return the operand that a table `TensorRef` names, or `None`."""
    return None if reference is None else Ref(reference["global_id"])


def finish(
    calls: Calls,
    table: dict[str, Any],
    function: str,
    have: Description,
    *arguments: Argument,
    data_type: str | None = None,
    out: str = "out",
    **keywords: Argument,
) -> None:
    """Add a call, and conversions to the output's description.

    Args:
        calls: Where to add it.
        table: The operation.
        function: Public name.
        have: The first operand: the result has its data type and layout, unless `data_type` says otherwise.
        arguments: Of the function.
        data_type: Of the result.
        out: Field of the output.
        keywords: Of the function.
    """
    number, want = table[out]["global_id"], describe(table[out])
    if want.memory is not None:
        keywords["memory_config"] = want.memory
    result = Description(want.shape, data_type or have.data_type, have.tiled, want.memory or DRAM)
    if (result.data_type, result.tiled, result.memory) == (want.data_type, want.tiled, want.memory):
        calls.call(function, *arguments, out=number, **keywords)
        return
    place(calls, calls.call(function, *arguments, **keywords), result, number, want)


def place(calls: Calls, tensor: Ref, have: Description, out: int, want: Description) -> None:
    """Add conversions between two tensor descriptions.

    Data type, layout, host or device, memory.

    Layouts and data types change on the side of the host if one of the two is there, as 2024-09's runtime does.
    """
    steps: list[tuple[str, tuple[Argument, ...], dict[str, Argument]]] = []
    if have.on_host:
        steps += _on_host(have, want)
        if not want.on_host:
            steps.append(("ttnn.to_device", (DEVICE,), {"memory_config": want.memory}))
    elif want.on_host:
        steps += [("ttnn.from_device", (), {}), *_on_host(have, want)]
    else:
        if have.data_type != want.data_type and have.tiled:
            steps.append(("ttnn.typecast", (want.dtype,), {}))
        if have.tiled != want.tiled:
            steps.append(("ttnn.to_layout", (want.layout,), {}))
        if have.data_type != want.data_type and not have.tiled:
            steps.append(("ttnn.typecast", (want.dtype,), {}))
        if have.memory != want.memory:
            steps.append(("ttnn.to_memory_config", (want.memory,), {}))
    if not steps:
        # The same tensor under another number.
        steps.append(("ttnn.to_layout", (want.layout,), {}))
    for index, (function, arguments, keywords) in enumerate(steps):
        number = out if index == len(steps) - 1 else None
        tensor = calls.call(function, tensor, *arguments, out=number, **keywords)


def _on_host(have: Description, want: Description) -> list[tuple[str, tuple[Argument, ...], dict[str, Argument]]]:
    """The changes of layout and data type on the host."""
    if have.tiled != want.tiled:
        cast = want.dtype if have.data_type != want.data_type else None
        return [("ttnn.to_layout", (want.layout,), {"dtype": cast})]
    if have.data_type != want.data_type:
        return [("ttnn.to_dtype", (want.dtype,), {})]
    return []


def compute_config(table: dict[str, Any]) -> New | None:
    """The compute configuration of an operation, or None."""
    config = table.get("compute_config")
    if not config:
        return None
    fields: list[tuple[str, Argument]] = []
    if "math_fidelity" in config:
        fields.append(("math_fidelity", Name(f"ttnn.MathFidelity.{config['math_fidelity']}")))
    names = ("math_approx_mode", "fp32_dest_acc_en", "packer_l1_acc", "dst_full_sync_en")
    fields += [(name, bool(config[name])) for name in names if name in config]
    return New("ttnn.WormholeComputeKernelConfig", (), tuple(fields))


def numbers(values: Any) -> list[int]:
    """Return a vector of a table as plain numbers."""
    return [int(one) for one in values]


def in_rows(calls: Calls, reference: dict[str, Any], data_type: str | None = None) -> Ref:
    """Return an operand in rows, optionally in another data type."""
    have = describe(reference)
    found = calls.cast(Ref(reference["global_id"]), have.data_type, data_type or have.data_type)
    return calls.call("ttnn.to_layout", found, Name("ttnn.ROW_MAJOR_LAYOUT")) if have.tiled else found


def in_tiles(calls: Calls, reference: dict[str, Any], data_type: str | None = None) -> Ref:
    """Return an operand in tiles, optionally in another data type."""
    have = describe(reference)
    found = Ref(reference["global_id"])
    if not have.tiled:
        found = calls.call("ttnn.to_layout", found, Name("ttnn.TILE_LAYOUT"))
    return calls.cast(found, have.data_type, data_type or have.data_type)


def several(
    calls: Calls,
    function: str,
    arguments: list[Argument],
    keywords: dict[str, Argument],
    outs: list[dict[str, Any]],
    made: list[Description],
) -> None:
    """Add a call with several results, and conversions to descriptions.

    Args:
        calls: Where to add it.
        function: Public name.
        arguments: Of the function.
        keywords: Of the function; those that are `None` are left out.
        outs: The results as the binary names them.
        made: The results as the function makes them.
    """
    wants = [describe(out) for out in outs]
    kept = [out["global_id"] if one == want else None for out, one, want in zip(outs, made, wants, strict=True)]
    results = calls.call_several(function, arguments, keywords, kept)
    for result, number, have, out, want in zip(results, kept, made, outs, wants, strict=True):
        if number is None:
            place(calls, result, have, out["global_id"], want)


#: Types of which an operand keeps its own, and the one into which others are converted.
_TYPES: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "half": (("BFloat16", "BFP_BFloat8", "BFP_BFloat4"), "BFloat16"),
    "float": (("BFloat16", "Float32"), "BFloat16"),
}


def chosen_type(data_type: str, word: str, table: dict[str, Any]) -> str:
    """Return the data type to which an operand is converted.

    Args:
        data_type: Of the operand.
        word: A data type, a word of `_TYPES`, `@` and another operand, or "" for no conversion.
        table: The operation.
    """
    if word.startswith("@"):
        return describe(table[word[1:]]).data_type
    kept, other = _TYPES.get(word, ((), word or data_type))
    return data_type if data_type in kept else other


def half_type(reference: dict[str, Any]) -> str:
    """Return the data type that attention has for an operand."""
    return chosen_type(describe(reference).data_type, "half", {})


def half(calls: Calls, reference: dict[str, Any] | None) -> Ref | None:
    """Return an operand in tiles and a type of attention, or `None`."""
    return None if reference is None else in_tiles(calls, reference, half_type(reference))


def mask(calls: Calls, table: dict[str, Any]) -> Ref | None:
    """Return the attention mask with a row for each query, or `None`."""
    reference, rows = table.get("attention_mask"), describe(table["query"]).shape[2]
    found = half(calls, reference)
    if found is None or reference is None or describe(reference).shape[2] != 1 or rows == 1:
        return found
    return calls.call("ttnn.repeat", found, [1, 1, rows, 1])


def conv_config(table: dict[str, Any]) -> New | None:
    """Return the parts of a convolution config that change results, or None.

    Raises:
        UnsupportedError: Its result is in rows.
    """
    config = table.get("conv2d_config") or {}
    if config.get("output_layout") == "RowMajor":
        raise UnsupportedError("a conv2d_config of a binary with a result in rows is not executed.")
    return conv2d_config({name: config[name] for name in ("weights_dtype", "activation") if name in config})


def unflattened(calls: Calls, made: Ref, shape: tuple[int, ...]) -> Ref:
    """Return a flat result, [1, 1, rows, channels], in its shape."""
    flat = (1, 1, math.prod(shape[:-1]), shape[-1])
    return made if flat == shape else calls.call("ttnn.reshape", made, list(shape))
