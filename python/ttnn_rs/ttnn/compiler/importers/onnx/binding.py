"""Inputs that decide shapes.

Their values have to be known when a model is compiled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

__all__ = ["graphs_of", "shaping_inputs"]

_SHAPING: Final[dict[str, tuple[int, ...]]] = {
    "AffineGrid": (1,),
    "BlackmanWindow": (0,),
    "CenterCropPad": (1,),
    "Col2Im": (1, 2),
    "ConstantOfShape": (0,),
    "CumProd": (1,),
    "CumSum": (1,),
    "Dropout": (1, 2),
    "Expand": (1,),
    "GRU": (4,),
    "HammingWindow": (0,),
    "HannWindow": (0,),
    "LSTM": (4,),
    "Loop": (0,),
    "OneHot": (1,),
    "Pad": (1, 3),
    "RNN": (4,),
    "Range": (0, 1, 2),
    "Reshape": (1,),
    "Resize": (1, 2, 3),
    "ReverseSequence": (1,),
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "Squeeze": (1,),
    "Tile": (1,),
    "TopK": (1,),
    "Trilu": (1,),
    "Unsqueeze": (1,),
    "Upsample": (1,),
}
"""Operands that have to be known."""
_STOPS: Final = frozenset({"Shape", "Size"})
"""Operations whose results do not depend on elements."""


def graphs_of(graph: Any) -> Iterator[Any]:
    """Yield a graph and those in its nodes."""
    waiting = [graph]
    while waiting:
        one = waiting.pop()
        yield one
        for node in one.node:
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    waiting.append(attribute.g)
                waiting.extend(attribute.graphs)


def shaping_inputs(graph: Any, names: Iterable[str]) -> set[str]:
    """Return those of the inputs on whose elements shapes depend.

    Args:
        graph: The graph.
        names: Names of its inputs.
    """
    producers: dict[str, Any] = {}
    waiting: list[str] = []
    for one in graphs_of(graph):
        for node in one.node:
            producers.update(dict.fromkeys(node.output, node))
            places = _SHAPING.get(node.op_type, ())
            if node.op_type.startswith("Reduce"):
                places = (1,)
            waiting.extend(node.input[i] for i in places if i < len(node.input) and node.input[i])
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        node = producers.get(name)
        if node is not None and node.op_type not in _STOPS:
            waiting.extend(one for one in node.input if one)
    return seen & set(names)
