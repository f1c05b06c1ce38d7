"""Enumerations of the dialects: their words in the order of their codes.

Source: sections "Attributes" of the generated dialect pages of tt-mlir.
"""

from __future__ import annotations

from typing import Final

__all__ = ["CONSTRAINT_BITS", "CONSTRAINT_GROUPS", "ENUMS", "constraint_words", "expand_constraint"]

_DATA_TYPES: Final = (
    "f32",
    "f16",
    "bf16",
    "bfp_f8",
    "bfp_bf8",
    "bfp_f4",
    "bfp_bf4",
    "bfp_f2",
    "bfp_bf2",
    "u32",
    "u16",
    "u8",
)
_LAYOUTS: Final = ("none", "interleaved", "single_bank", "height_sharded", "width_sharded", "block_sharded")
_OOB: Final = ("undef", "zero", "one", "inf", "neginf")

ENUMS: Final[dict[str, tuple[str, ...]]] = {
    "tt.arch": ("grayskull", "wormhole_b0", "blackhole"),
    "tt.supportedDataTypes": _DATA_TYPES,
    "tt.memory_space": ("system", "mmio", "dram", "l1"),
    "tt.tensor_memory_layout": _LAYOUTS,
    "tt.iterator_type": ("parallel", "systolic", "broadcast"),
    "tt.oob_val": _OOB,
    "ttcore.arch": ("wormhole_b0", "blackhole", "grayskull", "quasar"),
    "ttcore.supportedDataTypes": (*_DATA_TYPES, "si32", "i1", "bool", "f64"),
    "ttcore.memory_space": ("system", "mmio", "dram", "l1", "dst", "register"),
    "ttcore.iterator_type": ("parallel", "reduction", "systolic", "broadcast"),
    "ttcore.oob_val": _OOB,
    "ttcore.reduce_type": ("sum", "mean", "max", "min", "std", "var", "prod", "invalid"),
    "ttcore.shard_direction": ("full_to_shard", "shard_to_full"),
    "ttcore.shard_type": ("identity", "replicate", "maximal", "devices"),
    "ttcore.shard_status": ("unsharded", "presharded"),
    "ttcore.argument_type": ("input", "parameter", "constant", "default"),
    "ttcore.topology": ("ring", "linear", "mesh", "torus", "disabled"),
    "ttnn.layout": ("row_major", "tile", "invalid"),
    "ttnn.tensor_memory_layout": (*_LAYOUTS[1:], "nd_sharded"),
    "ttnn.buffer_type": ("dram", "l1", "system_memory", "l1_small", "trace"),
    "ttnn.shard_orientation": ("row_major", "col_major"),
    "ttnn.topology": ("ring", "linear", "mesh", "torus", "disabled"),
    "ttkernel.thread": ("noc", "tensix", "ethernet", "compute"),
}
"""Words of an enumeration attribute `#dialect.mnemonic<word>`."""

_SINGLE: Final = (
    "system", "dram", "l1", "scalar", "tile", "none", "interleaved", "single_bank", "height_sharded", "width_sharded",
    "block_sharded",
)  # fmt: skip
CONSTRAINT_BITS: Final[dict[str, int]] = {word: 1 << i for i, word in enumerate(_SINGLE)}
"""The bits of an operand constraint."""

_ANY_LAYOUT: Final = sum(CONSTRAINT_BITS[word] for word in _SINGLE[5:])
_DEVICE: Final = CONSTRAINT_BITS["dram"] | CONSTRAINT_BITS["l1"] | CONSTRAINT_BITS["tile"] | _ANY_LAYOUT
CONSTRAINT_GROUPS: Final[dict[str, int]] = {
    "any_layout": _ANY_LAYOUT,
    "any": sum(CONSTRAINT_BITS[word] for word in _SINGLE[:5]) | _ANY_LAYOUT,
    "any_device": _DEVICE | CONSTRAINT_BITS["scalar"],
    "any_device_tile": _DEVICE,
    "l1_block_sharded": sum(CONSTRAINT_BITS[word] for word in ("l1", "scalar", "tile", "block_sharded")),
}
"""Names of several bits, in the order in which they are printed."""


def expand_constraint(words: list[str]) -> int | None:
    """Return the bits of `a|b|c`, or None if a word is unknown."""
    bits = 0
    for word in words:
        bit = CONSTRAINT_BITS.get(word, CONSTRAINT_GROUPS.get(word))
        if bit is None:
            return None
        bits |= bit
    return bits


def constraint_words(bits: int) -> str:
    """Return a constraint's words: bits and whole groups."""
    words = [word for word, bit in CONSTRAINT_BITS.items() if bits & bit]
    words += [word for word, group in CONSTRAINT_GROUPS.items() if bits & group == group]
    return "|".join(words)
