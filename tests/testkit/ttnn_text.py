"""Texts of `ttnn` and `ttir` operations, for compiler tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn.compiler.dialects.attributes import element_of
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import TensorType
from ttnn.compiler.transforms.ttnn.layout.layouts import new_layout
from ttnn.compiler.transforms.ttnn.layout.types import retyped

Shape = tuple[int, ...]


def laid(shape: Shape, kind: str = "bf16", *, rows: bool = False, cores: int = 0) -> str:
    """Return a `ttnn` tensor type.

    Interleaved in DRAM, or in shards of height in L1.
    """
    plain: TensorType[Any] = TensorType(element_of(kind), list(shape))
    type_ = TensorType(plain.element_type, list(shape), new_layout(plain, tiled=not rows))
    if cores:
        type_ = retyped(type_, space="l1", memory="height_sharded", grid=(cores, 1))
        ranges = f"core_ranges = <[#ttnn.core_range<(0,0), (0,{cores - 1})>]>"
        return attribute_text(type_).replace("<height_sharded>", f"<height_sharded>, {ranges}")
    return attribute_text(type_)


def library(op: str, inputs: Sequence[str], outputs: Sequence[str], attributes: str = "", device: bool = False) -> str:
    """Return a function of one operation of the dialect `ttnn`."""
    names = [f"%arg{index}" for index in range(len(inputs))]
    arguments = ", ".join(f"{name}: {kind}" for name, kind in zip(names, inputs, strict=True))
    results = ", ".join(f"%r#{index}" for index in range(len(outputs))) if len(outputs) > 1 else "%r"
    given = ", ".join(outputs)
    operands, types = [*names], [*inputs]
    head = ""
    if device:
        head = (
            '  %d = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> '
            ": () -> !ttnn.device\n"
        )
        operands.append("%d")
        types.append("!ttnn.device")
    properties = f" <{{{attributes}}}>" if attributes else ""
    made = f"%r:{len(outputs)}" if len(outputs) > 1 else "%r"
    return (
        f"func.func @one({arguments}) -> ({given}) {{\n{head}"
        f'  {made} = "ttnn.{op}"({", ".join(operands)}){properties} : ({", ".join(types)}) -> ({given})\n'
        f"  return {results} : {given}\n}}\n"
    )


def tensors(op: str, inputs: Sequence[str], outputs: Sequence[str], attributes: str = "") -> str:
    """Return a function of one operation of the dialect `ttir`."""
    names = [f"%arg{index}" for index in range(len(inputs))]
    arguments = ", ".join(f"{name}: tensor<{kind}>" for name, kind in zip(names, inputs, strict=True))
    results = ", ".join(f"%r#{index}" for index in range(len(outputs))) if len(outputs) > 1 else "%r"
    given = ", ".join(f"tensor<{kind}>" for kind in outputs)
    types = ", ".join(f"tensor<{kind}>" for kind in inputs)
    made = f"%r:{len(outputs)}" if len(outputs) > 1 else "%r"
    return (
        f"func.func @one({arguments}) -> ({given}) {{\n"
        f'  {made} = "ttir.{op}"({", ".join(names)}) <{{{attributes}}}> : ({types}) -> ({given})\n'
        f"  return {results} : {given}\n}}\n"
    )
