// Products of tiles and of blocks of tiles. The left operand goes to SrcB, the right one to SrcA.
#pragma once

#include "api/compute/common.h"

namespace ckernel {

ALWI void matmul_init(
    std::uint32_t in0_cb_id, std::uint32_t in1_cb_id, const std::uint32_t transpose = 0, std::uint32_t = 0) {
    tt_call_matmul_init(in0_cb_id, in1_cb_id, transpose != 0, 0, 0, 0);
}
ALWI void mm_init(
    std::uint32_t in0_cb_id, std::uint32_t in1_cb_id, std::uint32_t out_cb_id, const std::uint32_t transpose = 0,
    std::uint32_t = 0) {
    tt_call_hw_startup(in1_cb_id, in0_cb_id, out_cb_id);
    matmul_init(in0_cb_id, in1_cb_id, transpose);
}
ALWI void mm_init_short(
    std::uint32_t in0_cb_id, std::uint32_t in1_cb_id, const std::uint32_t transpose = 0, std::uint32_t = 0) {
    matmul_init(in0_cb_id, in1_cb_id, transpose);
}
ALWI void mm_init_short_with_dt(
    std::uint32_t in0_cb_id, std::uint32_t in1_cb_id, std::uint32_t c_in_old_srca, const std::uint32_t transpose = 0) {
    tt_call_reconfig_data_format(in1_cb_id, -1, c_in_old_srca, -1);
    matmul_init(in0_cb_id, in1_cb_id, transpose);
}
ALWI void matmul_tiles(
    std::uint32_t in0_cb_id, std::uint32_t in1_cb_id, std::uint32_t in0_tile_index, std::uint32_t in1_tile_index,
    std::uint32_t idst) {
    tt_call_matmul_tiles(in0_cb_id, in1_cb_id, in0_tile_index, in1_tile_index, idst);
}
// The transposition is that of the init.
ALWI void matmul_tiles(
    std::uint32_t in0_cb_id, std::uint32_t in1_cb_id, std::uint32_t in0_tile_index, std::uint32_t in1_tile_index,
    std::uint32_t idst, [[maybe_unused]] const std::uint32_t transpose) {
    tt_call_matmul_tiles(in0_cb_id, in1_cb_id, in0_tile_index, in1_tile_index, idst);
}

ALWI void matmul_block_init(
    std::uint32_t in0_cb_id, std::uint32_t in1_cb_id, const std::uint32_t transpose = 0, std::uint32_t ct_dim = 1,
    std::uint32_t rt_dim = 1, std::uint32_t kt_dim = 1, std::uint32_t = 0) {
    tt_call_matmul_init(in0_cb_id, in1_cb_id, transpose != 0, ct_dim, rt_dim, kt_dim);
}
ALWI void mm_block_init(
    std::uint32_t in0_cb_id, std::uint32_t in1_cb_id, std::uint32_t out_cb_id, const std::uint32_t transpose = 0,
    std::uint32_t ct_dim = 1, std::uint32_t rt_dim = 1, std::uint32_t kt_dim = 1, std::uint32_t = 0) {
    tt_call_hw_startup(in1_cb_id, in0_cb_id, out_cb_id);
    matmul_block_init(in0_cb_id, in1_cb_id, transpose, ct_dim, rt_dim, kt_dim);
}
ALWI void mm_block_init_short(
    std::uint32_t in0_cb_id, std::uint32_t in1_cb_id, const std::uint32_t transpose = 0, std::uint32_t ct_dim = 1,
    std::uint32_t rt_dim = 1, std::uint32_t kt_dim = 1, std::uint32_t = 0) {
    matmul_block_init(in0_cb_id, in1_cb_id, transpose, ct_dim, rt_dim, kt_dim);
}
ALWI void mm_block_init_short_with_dt(
    std::uint32_t in0_cb_id, std::uint32_t in1_cb_id, std::uint32_t old_in1_cb_id, const std::uint32_t transpose = 0,
    std::uint32_t ct_dim = 1, std::uint32_t rt_dim = 1, std::uint32_t kt_dim = 1) {
    tt_call_reconfig_data_format(in1_cb_id, -1, old_in1_cb_id, -1);
    matmul_block_init(in0_cb_id, in1_cb_id, transpose, ct_dim, rt_dim, kt_dim);
}
ALWI void mm_block_init_short_with_both_dt(
    std::uint32_t in0_cb_id, std::uint32_t in1_cb_id, std::uint32_t old_in0_cb_id, std::uint32_t old_in1_cb_id,
    const std::uint32_t transpose = 0, std::uint32_t ct_dim = 1, std::uint32_t rt_dim = 1, std::uint32_t kt_dim = 1) {
    tt_call_reconfig_data_format(in1_cb_id, in0_cb_id, old_in1_cb_id, old_in0_cb_id);
    matmul_block_init(in0_cb_id, in1_cb_id, transpose, ct_dim, rt_dim, kt_dim);
}
ALWI void matmul_block(
    std::uint32_t in0_cb_id, std::uint32_t in1_cb_id, std::uint32_t in0_tile_index, std::uint32_t in1_tile_index,
    std::uint32_t idst, const std::uint32_t transpose, std::uint32_t ct_dim, std::uint32_t rt_dim,
    std::uint32_t kt_dim, std::uint32_t = 0) {
    tt_call_matmul_block(
        in0_cb_id, in1_cb_id, in0_tile_index, in1_tile_index, idst, transpose != 0, ct_dim, rt_dim, kt_dim);
}

}  // namespace ckernel
