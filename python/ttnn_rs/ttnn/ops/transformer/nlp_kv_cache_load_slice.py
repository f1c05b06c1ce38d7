"""`ttnn.experimental.nlp_kv_cache_load_slice`: rows of a cache of keys or values.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer/nlp_kv_cache_load_slice`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ttnn.base.enums import TILE_SIZE, TensorMemoryLayout
from ttnn.base.exceptions import ParameterError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden import transformer as golden
from ttnn.operation.registry import register
from ttnn.operation.signature import INTEGER, Param, Signature
from ttnn.ops._programs.common import INPUT_TENSOR, MEMORY_CONFIG_OPTION
from ttnn.ops.data_movement.slice import sliced
from ttnn.ops.transformer.head_programs import (
    EXPERIMENTAL,
    EXPERIMENTAL_ERRORS,
    OUTPUT,
    checked,
    declare,
    in_cores,
    no_outputs,
    row_major_cores,
)
from ttnn.tensor.tensor import Tensor


def _load_slice(
    input_tensor: Tensor,
    seq_len_start: int,
    seq_len_end: int,
    _memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
) -> Tensor:
    name = "ttnn.experimental.nlp_kv_cache_load_slice"
    checked(name, input_tensor, "input_tensor", 4)
    no_outputs(name, output_tensor)
    batch, heads, rows, size = tuple(input_tensor.spec.shape)
    if not 0 <= seq_len_start < seq_len_end <= rows or seq_len_start % TILE_SIZE or seq_len_end % TILE_SIZE:
        raise ParameterError(
            f"{name}: rows {seq_len_start} to {seq_len_end} of {rows} must begin and end with tiles.",
            vendor="Can only unpad tilized tensor with full tiles",
        )
    cores = row_major_cores(name, batch * heads, input_tensor)
    place = in_cores(cores, (seq_len_end - seq_len_start, size), TensorMemoryLayout.HEIGHT_SHARDED)
    return sliced(name, input_tensor, [0, 0, seq_len_start, 0], [batch, heads, seq_len_end, size], memory_config=place)


_IGNORED_PLACE: Final = replace(MEMORY_CONFIG_OPTION, doc="Ignored: the output is sharded in L1.")


nlp_kv_cache_load_slice = register(
    declare(
        raises=EXPERIMENTAL_ERRORS,
        name="experimental.nlp_kv_cache_load_slice",
        signatures=(
            Signature(
                (INPUT_TENSOR,),
                (
                    Param("seq_len_start", INTEGER, doc="First row.", example=0),
                    Param("seq_len_end", INTEGER, doc="The row behind the last.", example=32),
                    _IGNORED_PLACE,
                    OUTPUT,
                ),
            ),
        ),
        run=_load_slice,
        doc="Return rows of a cache, a head to a core.\nShape: [B, H, S, D] -> [B, H, s, D], in shards of height.",
        source=EXPERIMENTAL,
        engine=("move_elements",),
        golden=golden.nlp_kv_cache_load_slice,
        examples=(),
    )
)
