// How a product is cut, in tiles: compile-time arguments 0 to 5 of every kernel of these programs.
#pragma once

#include <cstdint>

constexpr uint32_t per_core_m = get_compile_time_arg_val(0);
constexpr uint32_t per_core_n = get_compile_time_arg_val(1);
constexpr uint32_t kt = get_compile_time_arg_val(2);
constexpr uint32_t in0_block_w = get_compile_time_arg_val(3);
constexpr uint32_t subblock_h = get_compile_time_arg_val(4);
constexpr uint32_t subblock_w = get_compile_time_arg_val(5);
constexpr uint32_t blocking_args = 6;
constexpr uint32_t in0_tiles = per_core_m * in0_block_w;
constexpr uint32_t in1_tiles = per_core_n * in0_block_w;
constexpr uint32_t subblock_tiles = subblock_h * subblock_w;
constexpr uint32_t cb_in0 = 0, cb_in1 = 1, cb_out = 16, cb_partials = 24;
