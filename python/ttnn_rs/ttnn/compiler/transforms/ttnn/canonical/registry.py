"""Canonical forms of library operations: what is tried on which operation, in this order."""

from __future__ import annotations

from ttnn.compiler.ir.epochs import Epoch
from ttnn.compiler.transforms.rewriting import pattern
from ttnn.compiler.transforms.ttnn.canonical import chains, creation

__all__ = ["LIBRARY"]

_SLIDES, _CURRENT = (Epoch.SLIDES,), (Epoch.CURRENT,)
_LATER = (*_SLIDES, *_CURRENT)

LIBRARY = (
    pattern(chains.same_type, "typecast", "reshape", "to_tensor_spec", epochs=_LATER, dialect="ttnn"),
    pattern(chains.same_type, "to_dtype", epochs=_SLIDES, dialect="ttnn"),
    pattern(chains.casts, "typecast", epochs=_LATER, dialect="ttnn"),
    pattern(chains.casts, "to_dtype", epochs=_SLIDES, dialect="ttnn"),
    pattern(chains.reshapes, "reshape", epochs=_LATER, dialect="ttnn"),
    pattern(chains.same_type, "to_layout", epochs=_LATER, dialect="ttnn"),
    pattern(chains.layouts, "to_layout", epochs=_LATER, dialect="ttnn"),
    pattern(chains.layouts, "to_tensor_spec", epochs=_CURRENT, dialect="ttnn"),
    pattern(creation.created, "to_layout", epochs=_SLIDES, dialect="ttnn"),
    pattern(creation.created, "to_tensor_spec", epochs=_CURRENT, dialect="ttnn"),
    pattern(chains.cast_and_back, "to_tensor_spec", epochs=_CURRENT, dialect="ttnn"),
    pattern(chains.repeated_right, "matmul", epochs=_CURRENT, dialect="ttnn"),
    pattern(chains.permutes, "permute", epochs=_CURRENT, dialect="ttnn"),
    pattern(chains.permute_of_units, "permute", epochs=_CURRENT, dialect="ttnn"),
)
"""Canonical forms of operations of the chains."""
