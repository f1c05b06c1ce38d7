// Registers, circular buffers, setup of formats.
#pragma once

#include "ttnn_rs/arguments.h"
#include "ttnn_rs/cb.h"
#include "hostdevcommon/kernel_structs.h"
#include "ttnn_rs/compute_enums.h"

#ifndef COMPILE_FOR_TRISC
// Data movement names functions of compute in branches that are not taken.
constexpr bool DST_ACCUM_MODE = false;
#endif

namespace ckernel {

// Registers. `acquire_dst` took a mode once.

ALWI void tile_regs_acquire() { tt_call_tile_regs_acquire(); }
ALWI void tile_regs_commit() { tt_call_tile_regs_commit(); }
ALWI void tile_regs_wait() { tt_call_tile_regs_wait(); }
ALWI void tile_regs_release() { tt_call_tile_regs_release(); }
ALWI void acquire_dst([[maybe_unused]] tt::DstMode mode = tt::DstMode::Half) { tt_call_acquire_dst(); }
ALWI void release_dst([[maybe_unused]] tt::DstMode mode = tt::DstMode::Half) { tt_call_release_dst(); }

// Tiles of circular buffers. Addresses are bytes.

ALWI std::uint32_t get_tile_address(std::uint32_t cb_id, std::uint32_t tile_index) {
    return get_read_ptr(cb_id) + tile_index * get_tile_size(cb_id);
}
ALWI std::uint32_t get_tile_l1_byte_address(std::uint32_t operand_id, std::uint32_t tile_index) {
    return get_tile_address(operand_id, tile_index);
}
ALWI std::uint32_t read_tile_value(std::uint32_t cb_id, std::uint32_t tile_index, std::uint32_t element_offset) {
    return tt_call_read_tile_value(cb_id, tile_index, element_offset);
}

// Setup.

template <SrcOrder src_order = SrcOrder::Regular>
ALWI void compute_kernel_hw_startup(std::uint32_t icb0, std::uint32_t icb1, std::uint32_t ocb) {
    if constexpr (src_order == SrcOrder::Reverse) {
        tt_call_hw_startup(icb1, icb0, ocb);
    } else {
        tt_call_hw_startup(icb0, icb1, ocb);
    }
}
ALWI void compute_kernel_hw_startup(std::uint32_t icb0, std::uint32_t ocb) { tt_call_hw_startup(icb0, icb0, ocb); }
ALWI void binary_op_init_common(std::uint32_t icb0, std::uint32_t icb1, std::uint32_t ocb, std::uint32_t = 0) {
    tt_call_hw_startup(icb0, icb1, ocb);
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void unary_op_init_common(std::uint32_t icb, std::uint32_t ocb, std::uint32_t = 0) {
    tt_call_hw_startup(icb, icb, ocb);
    tt_call_copy_init(icb, false);
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void init_sfpu(std::uint32_t icb, std::uint32_t ocb, std::uint32_t = 0) {
    unary_op_init_common(icb, ocb);
}
ALWI void unary_op_init_common_no_pack(std::uint32_t icb, std::uint32_t = 0) {
    tt_call_reconfig_data_format(icb, icb, -1, -1);
    tt_call_copy_init(icb, false);
}

}  // namespace ckernel

namespace ttnn_rs {

template <ckernel::PoolType type>
constexpr std::uint32_t pool() {
    static_assert(type != ckernel::PoolType::MIN, "reduce: the FPU has no minimum; sfpu_reduce has");
    return type == ckernel::PoolType::MAX;
}
constexpr std::uint32_t dimension(ckernel::ReduceDim dim) { return static_cast<std::uint32_t>(dim); }

// Template arguments of the two spellings: SrcOrder, or flags of tiles and of integers.
template <auto... options>
constexpr bool reversed() {
    return ((std::is_same_v<decltype(options), ckernel::SrcOrder> && static_cast<int>(options) == 1) || ...);
}

}  // namespace ttnn_rs

namespace ckernel {

// Both unpackers: (new a, new b), or (old a, new a, old b, new b). The engine takes shapes of tiles from each buffer.
#define TTNN_RS_RECONFIG(name)                                                                                       \
    template <auto... options>                                                                                       \
    ALWI void name(const std::uint32_t a, const std::uint32_t b) {                                                   \
        if constexpr (ttnn_rs::reversed<options...>()) {                                                             \
            tt_call_reconfig_data_format(b, a, -1, -1);                                                              \
        } else {                                                                                                     \
            tt_call_reconfig_data_format(a, b, -1, -1);                                                              \
        }                                                                                                            \
    }                                                                                                                \
    template <auto... options>                                                                                       \
    ALWI void name(const std::uint32_t old_a, const std::uint32_t a, const std::uint32_t old_b,                      \
                   const std::uint32_t b) {                                                                          \
        if constexpr (ttnn_rs::reversed<options...>()) {                                                             \
            tt_call_reconfig_data_format(b, a, old_b, old_a);                                                        \
        } else {                                                                                                     \
            tt_call_reconfig_data_format(a, b, old_a, old_b);                                                        \
        }                                                                                                            \
    }                                                                                                                \
    template <auto... options>                                                                                       \
    ALWI void name##_srca(const std::uint32_t a) {                                                                   \
        tt_call_reconfig_data_format(a, -1, -1, -1);                                                                 \
    }                                                                                                                \
    template <auto... options>                                                                                       \
    ALWI void name##_srca(const std::uint32_t old_a, const std::uint32_t a) {                                        \
        tt_call_reconfig_data_format(a, -1, old_a, -1);                                                              \
    }                                                                                                                \
    template <auto... options>                                                                                       \
    ALWI void name##_srcb(const std::uint32_t b) {                                                                   \
        tt_call_reconfig_data_format(-1, b, -1, -1);                                                                 \
    }                                                                                                                \
    template <auto... options>                                                                                       \
    ALWI void name##_srcb(const std::uint32_t old_b, const std::uint32_t b) {                                        \
        tt_call_reconfig_data_format(-1, b, -1, old_b);                                                              \
    }
TTNN_RS_RECONFIG(reconfig_data_format)
TTNN_RS_RECONFIG(reconfig_full_operand)
#undef TTNN_RS_RECONFIG
// Integers of 8 bits are left out by name.
template <auto... options, typename... CBs>
ALWI void reconfig_data_format_skip_int8(CBs... cbs) {
    reconfig_data_format<options...>(cbs...);
}
template <auto... options, typename... CBs>
ALWI void reconfig_data_format_srca_skip_int8(CBs... cbs) {
    reconfig_data_format_srca<options...>(cbs...);
}
template <auto... options, typename... CBs>
ALWI void reconfig_data_format_srcb_skip_int8(CBs... cbs) {
    reconfig_data_format_srcb<options...>(cbs...);
}
// Shapes are those of the buffer at every unpack anyway.
template <auto... options, typename... CBs>
ALWI void reconfig_tile_shape(CBs...) {}
template <auto... options, typename... CBs>
ALWI void reconfig_tile_shape_srca(CBs...) {}
template <auto... options, typename... CBs>
ALWI void reconfig_tile_shape_srcb(CBs...) {}

}  // namespace ckernel
