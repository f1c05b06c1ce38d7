// Products of blocks without the macro operation of the chip: the same products.
#pragma once

#include "api/compute/matmul.h"

namespace ckernel {

ALWI void mm_no_mop_init_short(
    std::uint32_t in0_cb_id, std::uint32_t in1_cb_id, const bool transpose = false, std::uint32_t ct_dim = 1,
    std::uint32_t rt_dim = 1, std::uint32_t kt_dim = 1) {
    matmul_block_init(in0_cb_id, in1_cb_id, transpose, ct_dim, rt_dim, kt_dim);
}
ALWI void mm_no_mop_reinit_short(
    std::uint32_t in0_cb_id, std::uint32_t in1_cb_id, const bool transpose = false, std::uint32_t ct_dim = 1,
    std::uint32_t rt_dim = 1, std::uint32_t kt_dim = 1) {
    matmul_block_init(in0_cb_id, in1_cb_id, transpose, ct_dim, rt_dim, kt_dim);
}
ALWI void matmul_block_no_mop(
    std::uint32_t in0_cb_id, std::uint32_t in1_cb_id, std::uint32_t in0_tile_index, std::uint32_t in1_tile_index,
    std::uint32_t idst, const bool transpose, std::uint32_t ct_dim, std::uint32_t rt_dim, std::uint32_t kt_dim) {
    matmul_block(
        in0_cb_id, in1_cb_id, in0_tile_index, in1_tile_index, idst, transpose, ct_dim, rt_dim, kt_dim);
}

}  // namespace ckernel
