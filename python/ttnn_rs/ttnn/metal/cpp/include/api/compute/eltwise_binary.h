// Sums, differences and products of tiles on the FPU.
#pragma once

#include "api/compute/common.h"

namespace ttnn_rs {

enum Step : std::uint32_t { ADD, SUB, MUL };
constexpr std::uint32_t PLAIN = 0;

constexpr Step step(ckernel::EltwiseBinaryType type) {
    return type == ckernel::ELWADD ? ADD : type == ckernel::ELWSUB ? SUB : MUL;
}
template <ckernel::EltwiseBinaryType type>
constexpr void check_step() {
    static_assert(
        type == ckernel::ELWADD || type == ckernel::ELWSUB || type == ckernel::ELWMUL,
        "the FPU adds, subtracts and multiplies");
}
template <ckernel::EltwiseBinaryReuseDestType reuse>
constexpr bool to_a() {
    static_assert(
        reuse != ckernel::EltwiseBinaryReuseDestType::NONE, "choose DEST_TO_SRCA or DEST_TO_SRCB to reuse Dst");
    return reuse == ckernel::EltwiseBinaryReuseDestType::DEST_TO_SRCA;
}

}  // namespace ttnn_rs

namespace ckernel {

template <bool full_init, EltwiseBinaryType eltwise_binary_type>
ALWI void binary_tiles_init(
    std::uint32_t icb0, std::uint32_t icb1, bool acc_to_dest = false, std::uint32_t = 0) {
    ttnn_rs::check_step<eltwise_binary_type>();
    tt_call_eltwise_init(ttnn_rs::step(eltwise_binary_type), ttnn_rs::PLAIN, acc_to_dest, icb0, icb1);
}

// Products always add to Dst, which is zero after it was acquired.
#define TTNN_RS_ELTWISE(verb, step, accumulates, accumulate_default)                                                \
    ALWI void verb##_init(                                                                                           \
        std::uint32_t icb0, std::uint32_t icb1, bool acc_to_dest = accumulate_default, std::uint32_t = 0) {          \
        tt_call_eltwise_init(step, ttnn_rs::PLAIN, acc_to_dest || accumulates, icb0, icb1);                          \
    }                                                                                                                \
    ALWI void verb##_tiles_init(                                                                                     \
        std::uint32_t icb0 = 0, std::uint32_t icb1 = 1, bool acc_to_dest = accumulate_default, std::uint32_t = 0) {          \
        verb##_init(icb0, icb1, acc_to_dest);                                                                        \
    }                                                                                                                \
    template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>                                                             \
    ALWI void verb##_tiles(                                                                                          \
        std::uint32_t icb0, std::uint32_t icb1, std::uint32_t itile0, std::uint32_t itile1, std::uint32_t idst) {    \
        tt_call_eltwise_tiles(step, ttnn_rs::PLAIN, icb0, icb1, itile0, itile1, idst);                               \
    }                                                                                                                \
    template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>                                                             \
    ALWI void verb##_block(                                                                                          \
        std::uint32_t icb0, std::uint32_t icb1, std::uint32_t start_itile0, std::uint32_t start_itile1,              \
        std::uint32_t start_idst, std::uint32_t ntiles) {                                                            \
        for (std::uint32_t tile = 0; tile < ntiles; ++tile) {                                                        \
            verb##_tiles(icb0, icb1, start_itile0 + tile, start_itile1 + tile, start_idst + tile);                   \
        }                                                                                                            \
    }                                                                                                                \
    template <EltwiseBinaryReuseDestType reuse_dest = EltwiseBinaryReuseDestType::DEST_TO_SRCA>                      \
    ALWI void verb##_reuse_dest_init(std::uint32_t icb, std::uint32_t = 0) {                                         \
        tt_call_reuse_init(step, ttnn_rs::to_a<reuse_dest>(), icb);                                                  \
    }                                                                                                                \
    template <                                                                                                       \
        EltwiseBinaryReuseDestType reuse_dest = EltwiseBinaryReuseDestType::DEST_TO_SRCA,                            \
        bool is_fp32_dest_acc_en = DST_ACCUM_MODE>                                                                   \
    ALWI void verb##_reuse_dest_tiles(                                                                               \
        std::uint32_t in_cb_id, std::uint32_t in_tile_index, std::uint32_t dst_tile_index) {                         \
        tt_call_eltwise_reuse_dst(step, ttnn_rs::to_a<reuse_dest>(), in_cb_id, in_tile_index, dst_tile_index);       \
    }
TTNN_RS_ELTWISE(add, ttnn_rs::ADD, false, false)
TTNN_RS_ELTWISE(sub, ttnn_rs::SUB, false, false)
TTNN_RS_ELTWISE(mul, ttnn_rs::MUL, true, true)
#undef TTNN_RS_ELTWISE

// One operand is Dst.
template <EltwiseBinaryType eltwise_binary_type, EltwiseBinaryReuseDestType reuse_dest>
ALWI void binary_reuse_dest_init(std::uint32_t icb0, std::uint32_t = 0) {
    ttnn_rs::check_step<eltwise_binary_type>();
    tt_call_reuse_init(ttnn_rs::step(eltwise_binary_type), ttnn_rs::to_a<reuse_dest>(), icb0);
}
template <
    EltwiseBinaryType eltwise_binary_type, EltwiseBinaryReuseDestType reuse_dest,
    bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void binary_reuse_dest_tiles(
    std::uint32_t in_cb_id, std::uint32_t in_tile_index, std::uint32_t dst_tile_index) {
    ttnn_rs::check_step<eltwise_binary_type>();
    tt_call_eltwise_reuse_dst(
        ttnn_rs::step(eltwise_binary_type), ttnn_rs::to_a<reuse_dest>(), in_cb_id, in_tile_index, dst_tile_index);
}
template <
    EltwiseBinaryType eltwise_binary_type = ELWADD,
    EltwiseBinaryReuseDestType binary_reuse_dest = EltwiseBinaryReuseDestType::NONE>
ALWI void binary_dest_reuse_tiles_init(std::uint32_t icb0, std::uint32_t = 0) {
    binary_reuse_dest_init<eltwise_binary_type, binary_reuse_dest>(icb0);
}
template <
    EltwiseBinaryType eltwise_binary_type = ELWADD,
    EltwiseBinaryReuseDestType binary_reuse_dest = EltwiseBinaryReuseDestType::NONE>
ALWI void binary_dest_reuse_tiles(
    std::uint32_t in_cb_id, std::uint32_t in_tile_index, std::uint32_t dst_tile_index) {
    binary_reuse_dest_tiles<eltwise_binary_type, binary_reuse_dest>(in_cb_id, in_tile_index, dst_tile_index);
}

}  // namespace ckernel
