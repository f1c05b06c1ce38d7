"""Functions of two and three Dst tiles, one line per name.

Names are those of C++.

`X_tile(idst0, idst1, odst)` sets `Dst[odst]`. The classic `max_tile(idst0, idst1)` replaces its first operand.
"""

from __future__ import annotations

from ttnn.kernel_api.compute import VectorMode
from ttnn.kernel_api.sfpu_functions import binary, faced_binary, init, ternary, with_init

_FLOAT32 = 0
add_binary_tile_init, add_binary_tile = with_init(binary("add_binary_tile"))
sub_binary_tile_init, sub_binary_tile = with_init(binary("sub_binary_tile"))
rsub_binary_tile_init, rsub_binary_tile = with_init(binary("rsub_binary_tile"))
_add_nearest_even = binary("add_binary_tile", "add_binary", "nearest_even")
_sub_nearest_even = binary("sub_binary_tile", "sub_binary", "nearest_even")
_rsub_nearest_even = binary("rsub_binary_tile", "rsub_binary", "nearest_even")
mul_binary_tile_init, mul_binary_tile = with_init(binary("mul_binary_tile"))
div_binary_tile_init, div_binary_tile = with_init(binary("div_binary_tile"))
power_binary_tile_init, power_binary_tile = with_init(binary("power_binary_tile"))
fmod_binary_tile_init, fmod_binary_tile = with_init(binary("fmod_binary_tile"))
remainder_binary_tile_init, remainder_binary_tile = with_init(binary("remainder_binary_tile"))
eq_binary_tile_init, eq_binary_tile = with_init(binary("eq_binary_tile"))
ne_binary_tile_init, ne_binary_tile = with_init(binary("ne_binary_tile"))
lt_binary_tile_init, lt_binary_tile = with_init(binary("lt_binary_tile"))
gt_binary_tile_init, gt_binary_tile = with_init(binary("gt_binary_tile"))
le_binary_tile_init, le_binary_tile = with_init(binary("le_binary_tile"))
ge_binary_tile_init, ge_binary_tile = with_init(binary("ge_binary_tile"))
xlogy_binary_tile_init, xlogy_binary_tile = with_init(binary("xlogy_binary_tile", "xlogy"))
atan2_binary_tile_init, atan2_binary_tile = with_init(binary("atan2_binary_tile", "atan2"))
logaddexp_binary_tile_init, logaddexp_binary_tile = with_init(binary("logaddexp_binary_tile", "logaddexp"))
logaddexp2_binary_tile_init, logaddexp2_binary_tile = with_init(binary("logaddexp2_binary_tile", "logaddexp2"))
binary_max_tile_init, binary_max_tile = with_init(faced_binary("binary_max_tile"))
binary_min_tile_init, binary_min_tile = with_init(faced_binary("binary_min_tile"))
max_tile_init = init("max_tile_init")
_max = binary("max_tile", "binary_max")

# Integers.
binary_max_int32_tile = binary("binary_max_int32_tile", variant="int32", init="binary_max_tile_init")
binary_min_int32_tile = binary("binary_min_int32_tile", variant="int32", init="binary_min_tile_init")
add_int_tile_init = init("add_int_tile_init")
add_int32_tile = binary("add_int32_tile", "add_int", "int32", init="add_int_tile_init")
sub_int_tile_init = init("sub_int_tile_init")
sub_int32_tile = binary("sub_int32_tile", "sub_int", "int32", init="sub_int_tile_init")
rsub_int_tile_init = init("rsub_int_tile_init")
rsub_int32_tile = binary("rsub_int32_tile", "sub_int", "rsub_int32", init="rsub_int_tile_init")
mul_int32_tile_init = init("mul_int32_tile_init")
mul_int32_tile = binary("mul_int32_tile", "mul_int", "int32", init="mul_int32_tile_init")
binary_bitwise_tile_init = init("binary_bitwise_tile_init")
bitwise_and_binary_tile = binary("bitwise_and_binary_tile", variant="int32", init="binary_bitwise_tile_init")
bitwise_or_binary_tile = binary("bitwise_or_binary_tile", variant="int32", init="binary_bitwise_tile_init")
bitwise_xor_binary_tile = binary("bitwise_xor_binary_tile", variant="int32", init="binary_bitwise_tile_init")
binary_shift_tile_init = init("binary_shift_tile_init")
binary_left_shift_int32_tile = binary(
    "binary_left_shift_int32_tile", "binary_left_shift", "int32", init="binary_shift_tile_init"
)
binary_right_shift_int32_tile = binary(
    "binary_right_shift_int32_tile", "binary_right_shift", "int32", init="binary_shift_tile_init"
)
binary_right_shift_uint32_tile = binary(
    "binary_right_shift_uint32_tile", "binary_right_shift", "uint32", init="binary_shift_tile_init"
)
binary_logical_right_shift_int32_tile = binary(
    "binary_logical_right_shift_int32_tile", "binary_logical_right_shift", "int32", init="binary_shift_tile_init"
)
eq_int32_tile_init, eq_int32_tile = with_init(binary("eq_int32_tile", "eq_int", "int32"))
ne_int32_tile_init, ne_int32_tile = with_init(binary("ne_int32_tile", "ne_int", "int32"))
lt_int32_tile_init, lt_int32_tile = with_init(binary("lt_int32_tile", "lt_int", "int32"))
gt_int32_tile_init, gt_int32_tile = with_init(binary("gt_int32_tile", "gt_int", "int32"))
le_int32_tile_init, le_int32_tile = with_init(binary("le_int32_tile", "le_int", "int32"))
ge_int32_tile_init, ge_int32_tile = with_init(binary("ge_int32_tile", "ge_int", "int32"))
div_int32_tile_init, div_int32_tile = with_init(binary("div_int32_tile", variant="int32_to_fp32", makes=_FLOAT32))
div_int32_floor_tile_init, div_int32_floor_tile = with_init(binary("div_int32_floor_tile", variant="floor"))
div_int32_trunc_tile_init, div_int32_trunc_tile = with_init(binary("div_int32_trunc_tile", "div_int32_floor", "trunc"))
gcd_tile_init, gcd_tile = with_init(binary("gcd_tile", variant="int32"))
lcm_tile_init, lcm_tile = with_init(binary("lcm_tile", variant="int32"))

# Three tiles.
where_tile_init, where_tile = with_init(ternary("where_tile"))
where_fp32_tile = where_int32_tile = where_uint32_tile = where_tile
lerp_tile_init, lerp_tile = with_init(ternary("lerp_tile"))
addcmul_tile_init, addcmul_tile = with_init(ternary("addcmul_tile", parameters=1))
addcdiv_tile_init, addcdiv_tile = with_init(ternary("addcdiv_tile", parameters=1))
snake_beta_tile_init, snake_beta_tile = with_init(ternary("snake_beta_tile"))


def max_tile(idst0: int, idst1: int, vector_mode: VectorMode | int = 4) -> None:
    """`Dst[idst0]` = the larger of two tiles, datum by datum (classic)."""
    _max(idst0, idst1, idst0)
