// Steps of the FPU whose second operand is one row, column or datum of a tile.
#pragma once

#include "api/compute/eltwise_binary.h"

namespace ttnn_rs {
constexpr std::uint32_t broadcast(ckernel::BroadcastType type) { return static_cast<std::uint32_t>(type); }
FORCE_INLINE void row_zero(const char* call, std::uint32_t row) {
    if (row != 0) {
        tt_call_invalid(call, "only row 0 is broadcast");
    }
}
}  // namespace ttnn_rs

namespace ckernel {

template <EltwiseBinaryType tBcastOp, BroadcastType tBcastDim>
ALWI void bcast_init(std::uint32_t icb0, std::uint32_t icb1, std::uint32_t = 0) {
    ttnn_rs::check_step<tBcastOp>();
    constexpr ttnn_rs::Step step = ttnn_rs::step(tBcastOp);
    tt_call_eltwise_init(step, ttnn_rs::broadcast(tBcastDim), step == ttnn_rs::MUL, icb0, icb1);
}
template <EltwiseBinaryType tBcastOp, BroadcastType tBcastDim>
ALWI void init_bcast(std::uint32_t icb0, std::uint32_t icb1, std::uint32_t ocb, std::uint32_t = 0) {
    tt_call_hw_startup(icb0, icb1, ocb);
    bcast_init<tBcastOp, tBcastDim>(icb0, icb1);
}
template <EltwiseBinaryType tBcastOp, BroadcastType tBcastDim, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void any_tiles_bcast(
    std::uint32_t icb0, std::uint32_t icb1, std::uint32_t itile0, std::uint32_t itile1, std::uint32_t idst,
    std::uint32_t bcast_row_idx = 0) {
    ttnn_rs::check_step<tBcastOp>();
    ttnn_rs::row_zero("any_tiles_bcast", bcast_row_idx);
    tt_call_eltwise_tiles(ttnn_rs::step(tBcastOp), ttnn_rs::broadcast(tBcastDim), icb0, icb1, itile0, itile1, idst);
}

#define TTNN_RS_BCAST_OF(verb, op, word, dimension)                                                                  \
    ALWI void verb##_bcast_##word##_init(std::uint32_t icb0, std::uint32_t icb1, std::uint32_t = 0) {                \
        bcast_init<op, BroadcastType::dimension>(icb0, icb1);                                                        \
    }                                                                                                                \
    template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>                                                             \
    ALWI void verb##_tiles_bcast_##word(                                                                             \
        std::uint32_t icb0, std::uint32_t icb1, std::uint32_t itile0, std::uint32_t itile1, std::uint32_t idst,      \
        std::uint32_t bcast_row_idx = 0) {                                                                           \
        any_tiles_bcast<op, BroadcastType::dimension>(icb0, icb1, itile0, itile1, idst, bcast_row_idx);              \
    }
#define TTNN_RS_BCAST(verb, op)                                                                                      \
    template <BroadcastType tBcastDim, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>                                    \
    ALWI void verb##_tiles_bcast(                                                                                    \
        std::uint32_t icb0, std::uint32_t icb1, std::uint32_t itile0, std::uint32_t itile1, std::uint32_t idst,      \
        std::uint32_t bcast_row_idx = 0) {                                                                           \
        any_tiles_bcast<op, tBcastDim>(icb0, icb1, itile0, itile1, idst, bcast_row_idx);                             \
    }                                                                                                                \
    TTNN_RS_BCAST_OF(verb, op, rows, ROW)                                                                            \
    TTNN_RS_BCAST_OF(verb, op, cols, COL)                                                                            \
    TTNN_RS_BCAST_OF(verb, op, scalar, SCALAR)                                                                       \
    ALWI void verb##_bcast_rows_init_short(std::uint32_t icb0, std::uint32_t icb1, std::uint32_t = 0) {              \
        verb##_bcast_rows_init(icb0, icb1);                                                                          \
    }                                                                                                                \
    ALWI void verb##_bcast_cols_init_short(std::uint32_t icb0, std::uint32_t icb1, std::uint32_t = 0) {              \
        verb##_bcast_cols_init(icb0, icb1);                                                                          \
    }                                                                                                                \
    ALWI void verb##_bcast_scalar_init_short(std::uint32_t icb0, std::uint32_t icb1, std::uint32_t = 0) {            \
        verb##_bcast_scalar_init(icb0, icb1);                                                                        \
    }                                                                                                                \
    ALWI void verb##_tiles_bcast_scalar_init_short(std::uint32_t icb0, std::uint32_t icb1, std::uint32_t = 0) {      \
        verb##_bcast_scalar_init(icb0, icb1);                                                                        \
    }
TTNN_RS_BCAST(add, ELWADD)
TTNN_RS_BCAST(sub, ELWSUB)
TTNN_RS_BCAST(mul, ELWMUL)
#undef TTNN_RS_BCAST
#undef TTNN_RS_BCAST_OF

// Copies of one row, column or datum to all places.
template <BroadcastType bcast_type, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void unary_bcast_init(std::uint32_t icb) {
    tt_call_unary_bcast_init(ttnn_rs::broadcast(bcast_type), icb);
}
template <BroadcastType bcast_type>
ALWI void unary_bcast_init(std::uint32_t icb, std::uint32_t ocb, std::uint32_t = 0) {
    tt_call_hw_startup(icb, icb, ocb);
    tt_call_unary_bcast_init(ttnn_rs::broadcast(bcast_type), icb);
}
template <BroadcastType bcast_type, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void unary_bcast(std::uint32_t icb, std::uint32_t in_tile_index, std::uint32_t dst_tile_index) {
    tt_call_unary_bcast(ttnn_rs::broadcast(bcast_type), icb, in_tile_index, dst_tile_index);
}
template <BroadcastType old_bcast_type, BroadcastType new_bcast_type>
ALWI void reconfigure_unary_bcast(
    [[maybe_unused]] std::uint32_t old_icb, std::uint32_t new_icb, [[maybe_unused]] std::uint32_t old_ocb,
    std::uint32_t new_ocb) {
    tt_call_reconfig_data_format(new_icb, -1, -1, -1);
    tt_call_unary_bcast_init(ttnn_rs::broadcast(new_bcast_type), new_icb);
    tt_call_pack_reconfig_data_format(new_ocb, -1);
}
// The next init sets up what it needs.
template <BroadcastType bcast_type>
ALWI void unary_bcast_uninit([[maybe_unused]] std::uint32_t icb) {}

}  // namespace ckernel
