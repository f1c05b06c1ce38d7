"""Shared code of the later versions' calls: operands, result descriptions, configurations."""

from __future__ import annotations

from typing import Any, Final

from ttnn.compiler.conversion.ttnn_to_calls.calls import Argument, Name, New, Ref
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import Description, describe
from ttnn.compiler.conversion.ttnn_to_calls.tt_handlers import Calls, place

__all__ = ["DRAM", "INTEGERS", "compute_config", "finish", "in_rows", "in_tiles", "numbers", "operand"]

DRAM: Final = New("ttnn.MemoryConfig", (Name("ttnn.TensorMemoryLayout.INTERLEAVED"), Name("ttnn.BufferType.DRAM")))
"""Default memory config of operator results."""
INTEGERS: Final = ("Int32", "UInt32", "UInt16", "UInt8")
"""Data types of integers."""


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
    placed: bool = True,
    **keywords: Argument,
) -> None:
    """Add a call, and what brings its result to the description of the output.

    Args:
        calls: Where to add it.
        table: The operation.
        function: Public name.
        have: The first operand: the result has its data type and layout, unless `data_type` says otherwise.
        arguments: Of the function.
        data_type: Of the result.
        out: Field of the output.
        placed: Whether the function takes `memory_config`.
        keywords: Of the function.
    """
    number, want = table[out]["global_id"], describe(table[out])
    if placed and want.memory is not None:
        keywords["memory_config"] = want.memory
    memory = want.memory if placed and want.memory is not None else DRAM
    result = Description(want.shape, data_type or have.data_type, have.tiled, memory)
    if (result.data_type, result.tiled, result.memory) == (want.data_type, want.tiled, want.memory):
        calls.call(function, *arguments, out=number, **keywords)
        return
    place(calls, calls.call(function, *arguments, **keywords), result, number, want)


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
    """Return an operand in rows, and in another data type if one is given."""
    have = describe(reference)
    found = calls.cast(Ref(reference["global_id"]), have.data_type, data_type or have.data_type)
    return calls.call("ttnn.to_layout", found, Name("ttnn.ROW_MAJOR_LAYOUT")) if have.tiled else found


def in_tiles(calls: Calls, reference: dict[str, Any], data_type: str | None = None) -> Ref:
    """Return an operand in tiles, and in another data type if one is given."""
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
    """Add a call of a function with several results, and what brings each to its description.

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
