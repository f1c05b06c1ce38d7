// What kernels call below the compute API around vector functions of their own: the math thread's place in Dst, and its
// waits. The engine makes the calls of all threads in their order, so that a wait for a unit has nothing to wait for.
#pragma once

#include "sfpi.h"
#include "ttnn_rs/compute_enums.h"

enum class SfpuType {
    tanh, hardtanh, gelu, gelu_tanh, exponential, exp_with_base, sigmoid, reciprocal, sqrt, lrelu, prelu,
    power, square, tanh_derivative, log, log_with_base, log1p, equal_zero, not_equal_zero, less_than_zero,
    greater_than_equal_zero, less_than_equal_zero, greater_than_zero, clamp, gelu_derivative, dropout, abs,
    abs_int32, sign, max, sine, cosine, cosh, sinh, tan, relu_max, relu_min, cast_fp32_to_fp16a, sigmoid_appx,
    gelu_appx, elu, min, exp2, heaviside, expm1, signbit, asin, acos, acosh, atan, asinh, atanh, erf, erfc,
    rsqrt, isfinite, isinf, isposinf, isneginf, isnan, logical_not_unary, erfinv, i0, i1, silu, mask,
    negative, quant_int32, requant_int32, dequant_int32, add_int32, add_uint32, add_uint16, add1, sub_int32,
    sub_uint16, mul_uint16, mul_int32, div_int32, div_int32_floor, div_int32_trunc, remainder_int32,
    remainder_uint32, fmod_int32, lt, gt, ge, le, lt_int, gt_int, le_int, ge_int, eq_int, ne_int, eq,
    topk_local_sort, topk_merge, topk_rebuild, topk_defuse, unary_ne, unary_eq, unary_gt, unary_lt, unary_ge,
    unary_le, unary_max, unary_min, softplus, tiled_prod, bitwise_xor, bitwise_not, bitwise_and, bitwise_or,
    right_shift, floor, trunc, frac, left_shift, remainder, fmod, ceil, isclose, unused, reshuffle_rows,
    cumsum, fill, alt_complex_rotate90, round, cpy_values, gcd, lcm, softshrink, tanhshrink, hardshrink,
    hardsigmoid, threshold, where, softsign, celu, max_pool_with_indices, selu, rpow, cbrt, hardmish, reduce,
    add_top_row, rdiv, typecast, addcmul, max_int32, min_int32, max_uint32, min_uint32, unary_max_int32,
    unary_min_int32, unary_max_uint32, unary_min_uint32, addcdiv, lerp, snake_beta, mac, xielu, lgamma,
    polygamma, mish, ne, digamma, identity, sqrt_custom, tanh_derivative_lut, expm1_cw
};
enum DstTileLayout { Default, Interleaved };
enum DstTileShape : std::uint8_t { Tile32x32 = 0, Tile32x16 = 1, Tile16x16 = 2 };
enum UnpackDestination { SrcRegs = 0, DestReg = 1 };
enum class DstStart : std::uint8_t { StartZero, StartHalf };

namespace ckernel {

struct p_setrwc {
    static constexpr std::uint32_t CLR_NONE = 0, CLR_A = 1, CLR_B = 2, CLR_AB = 3;
    static constexpr std::uint32_t SET_A = 1, SET_B = 2, SET_AB = 3, SET_D = 4, SET_AD = 5, SET_BD = 6, SET_ABD = 7;
    static constexpr std::uint32_t SET_F = 8, SET_A_F = 9, SET_B_F = 10, SET_AB_F = 11, SET_D_F = 12, SET_AD_F = 13;
    static constexpr std::uint32_t SET_BD_F = 14, SET_ABD_F = 15;
    static constexpr std::uint32_t CR_A = 1, CR_B = 2, CR_AB = 3, CR_D = 4, CR_AD = 5, CR_BD = 6, CR_ABD = 7;
    static constexpr std::uint32_t C_TO_CR_MODE = 8;
};
struct p_stall {
    static constexpr std::uint32_t NONE = 0, THCON = 1, UNPACK0 = 2, UNPACK1 = 4, UNPACK = 6, PACK0 = 8, PACK = 0x78;
    static constexpr std::uint32_t MATH = 0x80, SRCA_CLR = 0x100, SRCB_CLR = 0x200, SRCA_VLD = 0x400, SRCB_VLD = 0x800;
    static constexpr std::uint32_t XMOV = 0x1000, TRISC_CFG = 0x2000, SFPU1 = 0x4000, WAIT_SFPU = 0x4000;
    static constexpr std::uint32_t STALL_TDMA = 1, STALL_SYNC = 2, STALL_PACK = 4, STALL_UNPACK = 8, STALL_XMOV = 16;
    static constexpr std::uint32_t STALL_THCON = 32, STALL_MATH = 64, STALL_CFG = 128, STALL_SFPU = 256;
    static constexpr std::uint32_t STALL_THREAD = 511;
};

}  // namespace ckernel

namespace ttnn_rs {

// Rows of Dst: where the tile at hand begins, and how far its faces have been counted.
inline std::uint32_t dst_start, dst_counted;

FORCE_INLINE void show_dst() {
    const std::uint32_t row = dst_start + dst_counted;
    tt_call_sfpi_start(row / 64);
    tt_call_sfpi_advance(row % 64);
}

FORCE_INLINE void stall_wait(std::uint32_t, std::uint32_t) {}

FORCE_INLINE void set_counters(
    std::uint32_t cleared, std::uint32_t carried, std::uint32_t dst, std::uint32_t, std::uint32_t, std::uint32_t set) {
    if (cleared != 0 || (carried & 8) != 0) {
        unsupported("TTI_SETRWC", "the source registers and their counters are not modelled one by one");
    }
    if ((set & 4) != 0) {
        dst_counted = (carried & 4) != 0 ? dst_counted + dst : dst;
        show_dst();
    }
}
FORCE_INLINE void count_up(std::uint32_t carried, std::uint32_t dst, std::uint32_t, std::uint32_t) {
    if ((carried & 4) != 0) {
        dst_counted += dst;
        show_dst();
    } else {
        tt_call_sfpi_advance(static_cast<std::int32_t>(dst));
    }
}

template <auto option>
constexpr std::uint32_t rows_of() {
    if constexpr (std::is_same_v<decltype(option), DstTileShape>) {
        return 64 >> static_cast<std::uint32_t>(option);
    }
    return 0;
}

}  // namespace ttnn_rs

#define TTI_STALLWAIT(...) ::ttnn_rs::stall_wait(__VA_ARGS__)
#define TTI_SETRWC(...) ::ttnn_rs::set_counters(__VA_ARGS__)
#define TT_SETRWC(...) ::ttnn_rs::set_counters(__VA_ARGS__)
#define TTI_INCRWC(...) ::ttnn_rs::count_up(__VA_ARGS__)
#define TT_INCRWC(...) ::ttnn_rs::count_up(__VA_ARGS__)
#define TTI_NOP ((void)0)
#define TTI_SFPNOP ((void)0)

namespace ckernel {

namespace sfpu {}

namespace math {

// Template arguments of both spellings: layout, shape and a flag, or shape and destination of the unpacker.
template <auto... options>
FORCE_INLINE void set_dst_write_addr(std::uint32_t tile_index) {
    constexpr std::uint32_t rows = (ttnn_rs::rows_of<options>() + ... + 0);
    ttnn_rs::dst_start = tile_index * (rows == 0 ? 64 : rows);
    ttnn_rs::show_dst();
}
FORCE_INLINE void clear_dst_reg_addr() { ttnn_rs::set_counters(0, 0, 0, 0, 0, p_setrwc::SET_D); }
FORCE_INLINE void reset_counters(const std::uint32_t set) { ttnn_rs::set_counters(0, 0, 0, 0, 0, set); }
FORCE_INLINE void incr_counters(std::uint32_t a, std::uint32_t b, std::uint32_t dst, std::uint32_t carried) {
    ttnn_rs::count_up(carried, dst, b, a);
}
template <std::uint32_t num_rows = 8>
FORCE_INLINE void inc_dst_addr() {
    ttnn_rs::set_counters(0, p_setrwc::CR_D, num_rows, 0, 0, p_setrwc::SET_D);
}
// Which address modes instructions name: vector functions here name none.
FORCE_INLINE void set_addr_mod_base() {}
FORCE_INLINE void clear_addr_mod_base() {}

}  // namespace math

// Math and packer take turns on Dst.

template <auto... options>
FORCE_INLINE void llk_math_wait_for_dest_available() {
    tt_call_tile_regs_acquire();
}
template <auto... options>
FORCE_INLINE void llk_math_dest_section_done() {
    tt_call_tile_regs_commit();
}
template <auto... options>
FORCE_INLINE void llk_packer_wait_for_math_done() {
    tt_call_tile_regs_wait();
}
template <auto... options>
FORCE_INLINE void llk_pack_dest_section_done() {
    tt_call_tile_regs_release();
}
template <auto... options>
FORCE_INLINE void _llk_math_wait_for_dest_available_() {
    tt_call_tile_regs_acquire();
}
template <auto... options>
FORCE_INLINE void _llk_math_dest_section_done_() {
    tt_call_tile_regs_commit();
}
template <auto... options>
FORCE_INLINE void _llk_packer_wait_for_math_done_() {
    tt_call_tile_regs_wait();
}
template <auto... options>
FORCE_INLINE void _llk_pack_dest_section_done_() {
    tt_call_tile_regs_release();
}
// Their semaphore is set up with the formats.
template <auto... options>
FORCE_INLINE void llk_math_pack_sync_init() {}
template <auto... options, typename... Arguments>
FORCE_INLINE void llk_pack_dest_init(Arguments...) {}

// Around a vector function that a kernel calls face by face.

template <auto... options>
FORCE_INLINE void _llk_math_eltwise_sfpu_start_(const std::uint32_t dst_index) {
    ttnn_rs::dst_counted = 0;
    math::set_dst_write_addr<DstTileShape::Tile32x32>(dst_index);
}
FORCE_INLINE void _llk_math_eltwise_sfpu_done_() { math::clear_dst_reg_addr(); }
FORCE_INLINE void _llk_math_eltwise_sfpu_inc_dst_face_addr_() {
    math::inc_dst_addr<8>();
    math::inc_dst_addr<8>();
}
#define TTNN_RS_SFPU(kind)                                                              \
    template <auto... options>                                                          \
    FORCE_INLINE void _llk_math_eltwise_##kind##_sfpu_start_(const std::uint32_t dst) { \
        _llk_math_eltwise_sfpu_start_(dst);                                             \
    }                                                                                   \
    template <auto... options>                                                          \
    FORCE_INLINE void _llk_math_eltwise_##kind##_sfpu_done_() {                         \
        _llk_math_eltwise_sfpu_done_();                                                 \
    }                                                                                   \
    template <auto... options>                                                          \
    FORCE_INLINE void _llk_math_eltwise_##kind##_sfpu_inc_dst_face_addr_() {            \
        _llk_math_eltwise_sfpu_inc_dst_face_addr_();                                    \
    }                                                                                   \
    template <SfpuType operation, auto... options>                                      \
    FORCE_INLINE void _llk_math_eltwise_##kind##_sfpu_init_() {                         \
        ttnn_rs::dst_counted = 0;                                                       \
    }                                                                                   \
    template <SfpuType operation, auto... options>                                      \
    FORCE_INLINE void llk_math_eltwise_##kind##_sfpu_init() {                           \
        ttnn_rs::dst_counted = 0;                                                       \
    }                                                                                   \
    template <SfpuType operation, auto... options, typename Init, typename... Words>    \
    FORCE_INLINE void llk_math_eltwise_##kind##_sfpu_init(Init&& init, Words... words) {\
        ttnn_rs::dst_counted = 0;                                                       \
        init(words...);                                                                 \
    }
TTNN_RS_SFPU(unary)
TTNN_RS_SFPU(binary)
TTNN_RS_SFPU(ternary)
#undef TTNN_RS_SFPU

}  // namespace ckernel

// Functions in namespace ckernel::sfpu, with their template arguments in parentheses.
#define _SFPU_EXPAND(...) __VA_ARGS__
#define SFPU_UNARY_CALL(sync, wide, function, options, dst, mode, ...) \
    _llk_math_eltwise_unary_sfpu_params_<false>(::ckernel::sfpu::function<_SFPU_EXPAND options>, dst, mode, ##__VA_ARGS__)
#define SFPU_UNARY_CALL_NO_TEMPLATE_ARGS(sync, wide, function, dst, mode, ...) \
    _llk_math_eltwise_unary_sfpu_params_<false>(::ckernel::sfpu::function, dst, mode, ##__VA_ARGS__)
#define SFPU_UNARY_INIT(operation) ::ckernel::llk_math_eltwise_unary_sfpu_init<::SfpuType::operation>()
#define SFPU_UNARY_INIT_FN(operation, function, options) \
    ::ckernel::llk_math_eltwise_unary_sfpu_init<::SfpuType::operation>(function<_SFPU_EXPAND options>)
