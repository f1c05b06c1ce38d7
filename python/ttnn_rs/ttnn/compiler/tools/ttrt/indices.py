"""Index inputs of programs: table rows, cache positions, pages.

Found in the tables of a binary: an operation says which of its operands is an index of which other one, and what only
moves or converts an index leads back to an input of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

__all__ = ["below", "index_limits"]

Table: TypeAlias = dict[str, Any]
Limits: TypeAlias = dict[int, int]

_DEPTH: Final = 32
#: Operations that move or convert the numbers of their inputs.
_MOVES: Final = frozenset(
    {
        *("ToLayoutOp", "ToMemoryConfigOp", "ToDeviceOp", "FromDeviceOp", "ToDTypeOp", "ToTensorSpecOp", "TypecastOp"),
        *("ReshapeOp", "PermuteOp", "TransposeOp", "RepeatOp", "RepeatInterleaveOp", "AssignOp", "SliceOp", "ConcatOp"),
        "PadOp",
    }
)
#: Kinds of elementwise operations whose results are numbers of their inputs.
_CHOICES: Final = frozenset({"Maximum", "Minimum", "ClampScalar", "ClampTensor", "Typecast"})
#: Operations that call other programs, and the field with the number of the program.
_CALLS: Final = {
    "LoadCachedOp": "program_idx",
    "FuncCallOp": "program_id",
    "CaptureOrExecuteTraceOp": "capture_program_id",
}


def _shape(table: Table, name: str) -> list[int]:
    return list(table[name]["desc"].get("shape", []))


def _axis(name: str, axis: int) -> Callable[[Table], int]:
    return lambda table: _shape(table, name)[axis]


def _along_dim(table: Table) -> int:
    return _shape(table, "input")[int(table["dim"])]


def _position(cache: str) -> Callable[[Table], int]:
    """Return a user's number of positions.

    All those of its pages, if there is a table of pages.
    """

    def positions(table: Table) -> int:
        pages, _, length, *_ = _shape(table, cache)
        return length * (min(pages, _shape(table, "page_table")[-1]) if table.get("page_table") else 1)

    return positions


def _first(table: Table) -> int:
    """Only the first chunk.

    Others begin at multiples of a size that the kernel chooses.
    """
    return 1


#: What is an index in an operation, and the number below which it must be.
_INDICES: Final[dict[str, dict[str, Callable[[Table], int]]]] = {
    "EmbeddingOp": {"input": _axis("weight", -2)},
    "EmbeddingBackwardOp": {"input": _axis("weight", -2)},
    "GatherOp": {"index": _along_dim},
    "ScatterOp": {"index": _along_dim},
    "UpdateCacheOp": {"update_index": _axis("cache", 2)},
    "PagedUpdateCacheOp": {"update_index": _position("cache"), "page_table": _axis("cache", 0)},
    "PagedFillCacheOp": {"page_table": _axis("cache", 0), "batch_idx_tensor": _axis("page_table", 0)},
    "ScaledDotProductAttentionDecodeOp": {"cur_pos_tensor": _axis("key", 2)},
    "PagedScaledDotProductAttentionDecodeOp": {"cur_pos_tensor": _position("key"), "page_table": _axis("key", 0)},
    "PagedFlashMultiLatentAttentionDecodeOp": {"cur_pos_tensor": _position("key"), "page_table": _axis("key", 0)},
    "ChunkedScaledDotProductAttentionOp": {"chunk_start_idx": _first, "page_table": _axis("key", 0)},
}


def index_limits(programs: list[Table], number: int) -> Limits:
    """Return index inputs by position, with their upper limits."""
    return _limits(programs, number, {}, 0)


def _limits(programs: list[Table], number: int, outputs: Limits, depth: int) -> Limits:
    """Return a program's input limits, given its output limits."""
    if not 0 <= number < len(programs) or depth > _DEPTH:
        return {}
    program = programs[number]
    limits: Limits = {}
    for position, one in enumerate(program.get("outputs", [])):
        _lower(limits, one, outputs.get(position))
    for operation in reversed(program.get("operations", [])):
        kind, table = operation.get("type_type", "NONE"), operation.get("type") or {}
        for name, limit in _INDICES.get(kind, {}).items():
            if table.get(name):
                try:
                    _lower(limits, table[name], limit(table))
                except (IndexError, KeyError, TypeError, ValueError):
                    continue  # a damaged operation is refused when the program runs
        if kind in _MOVES or table.get("type") in _CHOICES or kind == "EltwiseTernaryWhereOp":
            made = limits.get(_number(table.get("out")))
            for one in _references(table):
                _lower(limits, one, made)
        elif kind in _CALLS:
            wanted = {
                position: limits[_number(one)]
                for position, one in enumerate(table.get("outputs", []))
                if _number(one) in limits
            }
            called = _limits(programs, int(table.get(_CALLS[kind], -1)), wanted, depth + 1)
            for position, one in enumerate(table.get("inputs", [])):
                _lower(limits, one, called.get(position))
    inputs = enumerate(program.get("inputs", []))
    return {position: limits[_number(one)] for position, one in inputs if _number(one) in limits}


def _number(reference: Any) -> int:
    return int(reference["global_id"]) if isinstance(reference, dict) and "global_id" in reference else -1


def _references(table: Table) -> Iterator[Table]:
    """Yield the tensors that an operation reads."""
    for name, value in table.items():
        # The condition of `where`, the first of three, is no index.
        if name not in ("out", "outputs", "first"):
            for one in value if isinstance(value, list) else [value]:
                if _number(one) >= 0:
                    yield one


def _lower(limits: Limits, reference: Table, limit: int | None) -> None:
    number = _number(reference)
    if limit is not None and limit > 0 and number >= 0:
        limits[number] = min(limit, limits.get(number, limit))


def below(tensor: Any, limit: int) -> Any:
    """Return a torch tensor of indices below a limit.

    It is made of the numbers of a tensor; those that are already are kept.

    Fractions, as of normally distributed numbers, are scaled first. A floating point type holds its indices exactly.
    """
    import torch

    if not tensor.dtype.is_floating_point:
        return torch.remainder(tensor.to(torch.int64), limit).to(tensor.dtype)
    exact = {torch.bfloat16: 1 << 8, torch.float16: 1 << 11}.get(tensor.dtype, 1 << 24)
    values = tensor.to(torch.float64)
    if bool(torch.any(values != torch.floor(values))):
        values = torch.floor(values * 1_000_003)
    return torch.remainder(values, min(limit, exact)).to(tensor.dtype)
