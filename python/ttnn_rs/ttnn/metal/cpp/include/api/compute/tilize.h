// From rows to tiles and back: tilize by the unpacker, untilize by unpacker or packer.
#pragma once

#include "api/compute/common.h"

namespace ckernel {

// Tilize.

template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void tilize_init(
    std::uint32_t icb, std::uint32_t block, [[maybe_unused]] std::uint32_t ocb, std::uint32_t = 0) {
    tt_call_tilize_init(icb, block);
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void tilize_init_short_with_dt(
    std::uint32_t old_icb, std::uint32_t new_icb, std::uint32_t block, [[maybe_unused]] std::uint32_t ocb) {
    tt_call_reconfig_data_format(new_icb, -1, old_icb, -1);
    tt_call_tilize_init(new_icb, block);
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void tilize_block(
    std::uint32_t icb, std::uint32_t block, std::uint32_t ocb, std::uint32_t input_tile_index = 0,
    std::uint32_t output_tile_index = 0) {
    tt_call_tilize_block(icb, block, ocb, input_tile_index, output_tile_index);
}
ALWI void tilize_uninit(std::uint32_t icb, [[maybe_unused]] std::uint32_t ocb) { tt_call_copy_init(icb, false); }
ALWI void tilize_uninit_with_dt(
    std::uint32_t old_icb, std::uint32_t new_icb, [[maybe_unused]] std::uint32_t ocb) {
    tt_call_reconfig_data_format(new_icb, -1, old_icb, -1);
    tt_call_copy_init(new_icb, false);
}
ALWI void tilize_init_no_pack(std::uint32_t icb, std::uint32_t block, std::uint32_t = 0) {
    tt_call_tilize_init(icb, block);
}
ALWI void tilize_init_short_with_dt_no_pack(std::uint32_t old_icb, std::uint32_t new_icb, std::uint32_t block) {
    tt_call_reconfig_data_format(new_icb, -1, old_icb, -1);
    tt_call_tilize_init(new_icb, block);
}
ALWI void tilize_block_no_pack(
    std::uint32_t icb, std::uint32_t block, std::uint32_t dst_idx, std::uint32_t input_tile_index = 0) {
    tt_call_tilize_to_dst(icb, block, dst_idx, input_tile_index);
}
ALWI void tilize_uninit_no_pack(std::uint32_t icb) { tt_call_copy_init(icb, false); }
ALWI void tilize_uninit_with_dt_no_pack(std::uint32_t old_icb, std::uint32_t new_icb) {
    tilize_uninit_with_dt(old_icb, new_icb, new_icb);
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void fast_tilize_init(std::uint32_t icb, std::uint32_t full_dim, std::uint32_t ocb, std::uint32_t = 0) {
    tilize_init(icb, full_dim, ocb);
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void fast_tilize_init_with_dt(std::uint32_t icb, std::uint32_t full_dim, std::uint32_t ocb) {
    tilize_init(icb, full_dim, ocb);
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void fast_tilize_block(
    std::uint32_t icb, std::uint32_t block, std::uint32_t ocb, std::uint32_t input_tile_index = 0,
    std::uint32_t output_tile_index = 0) {
    tilize_block(icb, block, ocb, input_tile_index, output_tile_index);
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void fast_tilize_uninit(std::uint32_t icb, std::uint32_t ocb, std::uint32_t = 0) {
    tilize_uninit(icb, ocb);
}

// Untilize by the unpacker.

template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void untilize_init(std::uint32_t icb, std::uint32_t = 0) {
    tt_call_untilize_init(icb);
}
template <std::uint32_t block_ct_dim = 1, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void untilize_block(std::uint32_t icb, std::uint32_t full_ct_dim, std::uint32_t ocb) {
    tt_call_untilize_block(icb, full_ct_dim, ocb);
}
ALWI void untilize_uninit(std::uint32_t icb) { tt_call_copy_init(icb, false); }

// Untilize by the packer. Widths are those of the init.

template <
    std::uint32_t block_ct_dim = 8, std::uint32_t full_ct_dim = block_ct_dim,
    bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void pack_untilize_init(std::uint32_t icb, [[maybe_unused]] std::uint32_t ocb, std::uint32_t = 0) {
    tt_call_copy_init(icb, false);
    tt_call_pack_untilize_mode(block_ct_dim, full_ct_dim);
}
template <
    std::uint32_t block_ct_dim = 8, std::uint32_t full_ct_dim = block_ct_dim,
    bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void pack_untilize_block(
    std::uint32_t icb, std::uint32_t block_rt_dim, std::uint32_t ocb, std::uint32_t block_c_index = 0) {
    tt_call_pack_untilize_block(icb, ocb, block_rt_dim, block_c_index);
}

}  // namespace ckernel

namespace ttnn_rs {
FORCE_INLINE void whole_tiles(const char* call, bool whole) {
    if (!whole) {
        unsupported(call, "parts of tiles are not untilized; only whole 32x32 tiles");
    }
}
}  // namespace ttnn_rs

namespace ckernel {

template <
    std::uint32_t block_ct_dim = 8, std::uint32_t full_ct_dim = block_ct_dim, bool narrow_row = false,
    std::uint32_t row_num_datums = TILE_C_DIM, bool dense = false, bool configure_remap = true,
    bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void pack_untilize_dest_init(
    [[maybe_unused]] std::uint32_t ocb, std::uint32_t face_r_dim = 16, std::uint32_t num_faces = 4,
    std::uint32_t = 0) {
    ttnn_rs::whole_tiles(
        "pack_untilize_dest_init",
        face_r_dim == 16 && num_faces == 4 && !narrow_row && row_num_datums == TILE_C_DIM && !dense);
    tt_call_pack_untilize_mode(block_ct_dim, full_ct_dim);
}
template <
    std::uint32_t block_ct_dim = 8, std::uint32_t full_ct_dim = block_ct_dim, bool diagonal = false,
    bool narrow_row = false, std::uint32_t row_num_datums = TILE_C_DIM, std::uint32_t tile_dst_ct_offset = 0,
    bool dense = false>
ALWI void pack_untilize_dest(
    std::uint32_t ocb, std::uint32_t block_rt_dim, std::uint32_t block_c_index, std::uint32_t face_r_dim,
    std::uint32_t num_faces, std::uint32_t tile_dst_rt_offset = 0) {
    ttnn_rs::whole_tiles(
        "pack_untilize_dest", face_r_dim == 16 && num_faces == 4 && !diagonal && !narrow_row &&
                                  row_num_datums == TILE_C_DIM && !dense);
    tt_call_pack_untilize_dest(ocb, block_rt_dim, block_c_index, tile_dst_rt_offset + tile_dst_ct_offset);
}
// The newer form leaves out the faces.
template <
    std::uint32_t block_ct_dim = 8, std::uint32_t full_ct_dim = block_ct_dim, bool diagonal = false,
    bool narrow_row = false, std::uint32_t row_num_datums = TILE_C_DIM, std::uint32_t tile_dst_ct_offset = 0,
    bool dense = false>
ALWI void pack_untilize_dest(
    std::uint32_t ocb, std::uint32_t block_rt_dim = 1, std::uint32_t block_c_index = 0,
    std::uint32_t tile_dst_rt_offset = 0) {
    pack_untilize_dest<
        block_ct_dim, full_ct_dim, diagonal, narrow_row, row_num_datums, tile_dst_ct_offset, dense>(
        ocb, block_rt_dim, block_c_index, 16, 4, tile_dst_rt_offset);
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void pack_untilize_uninit([[maybe_unused]] std::uint32_t ocb) {
    tt_call_pack_untilize_mode(0, 0);
}

}  // namespace ckernel
