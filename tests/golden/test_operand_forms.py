"""Operands in every layout and memory config.

Two forms have equal values, or are refused with an error of ours, or their programs have other arithmetic.
"""

from __future__ import annotations

from itertools import product

import pytest
from operand_forms import SHAPES, UNDEFINED, Ends, calls_of, calls_of_shape, check, dtypes_of, with_operands

import ttnn
from testkit.every_place import sample
from testkit.signature_calls import first_dtype
from ttnn.operation import registry

OTHER = {
    **dict.fromkeys(
        ("conv1d", "conv2d", "conv_transpose2d"),
        "channels are padded to 32 in tiles and to 8 in rows, and blocks of K follow the shards",
    ),
    **dict.fromkeys(
        ("layer_norm", "rms_norm", "experimental.dit_rms_norm_unary_fused"),
        "`layernorm_sharded` adds the rows of each shard first",
    ),
    **dict.fromkeys(
        ("layer_norm_post_all_gather", "rms_norm_post_all_gather"),
        "shards bring means, interleaved tensors sums",
    ),
    **dict.fromkeys(("linear", "matmul"), "blocks of K depend on the memory and the shards of the operands"),
    "group_norm": "`groupnorm_sharded_v2` adds tiles before it reduces them",
}
"""Operators with a program of other arithmetic for some forms, and why."""

ENTRIES = [entry for entry in registry.entries() if with_operands(entry) and entry.name not in UNDEFINED]


# Operands of several rows, of which a program reads the first, cause a warning.
@pytest.mark.filterwarnings("ignore:.*the program broadcasts its first row:UserWarning")
@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_forms_of_operands(entry: registry.Op, device: ttnn.MeshDevice) -> None:
    """All signatures in one data type, and one further shape in another."""
    ends = Ends()
    for title, call in calls_of(entry, first_dtype(entry), device):
        check(call, entry, title, ends)
    ((dtype, shape),) = sample(entry.name, 1, [*product([d for d in dtypes_of(entry) if d in entry.dtypes], SHAPES)])
    for title, call in calls_of_shape(entry, dtype, shape, device):
        check(call, entry, title, ends)
    assert ends.failures == []
    assert not ends.other or entry.name in OTHER
    assert ends.operators == {entry.name}


def test_the_list_of_other_programs() -> None:
    assert set(OTHER) <= {entry.name for entry in ENTRIES}
