// Functions of the SFPU with arguments of their own; the plain ones are generated from the tables of the kernel API.
#pragma once

#include "ttnn_rs/sfpu.h"

namespace ttnn_rs {

// Modes of rsqrt: an enumeration now, a flag (of an older algorithm) before.
template <auto mode>
constexpr bool legacy() {
    if constexpr (std::is_same_v<decltype(mode), ckernel::RsqrtMode>) {
        return false;
    } else {
        return mode;
    }
}
template <auto mode>
constexpr bool fast() {
    return !legacy<mode>() && static_cast<bool>(mode);
}

}  // namespace ttnn_rs

#include "ttnn_rs/sfpu_functions.h"

namespace ckernel {

// Exponential. Newer kernels: <approx, scale_en, clamping, iterations>; older ones had fast_and_approx before scale_en.

}  // namespace ckernel

namespace ttnn_rs {

template <auto... options>
constexpr ckernel::InputClamping clamping() {
    ckernel::InputClamping found = ckernel::InputClamping::ClampToNegative;
    const auto look = [&](auto option) {
        if constexpr (std::is_same_v<decltype(option), ckernel::InputClamping>) {
            found = option;
        }
    };
    (look(options), ...);
    return found;
}
template <auto... options>
constexpr std::uint32_t exponential_scale() {
    std::uint32_t found = 0x3F800000;
    const auto look = [&](auto option) {
        if constexpr (std::is_integral_v<decltype(option)> && !std::is_same_v<decltype(option), bool>) {
            found = option;
        }
    };
    (look(options), ...);
    return found;
}
FORCE_INLINE void no_scale(const char* call, bool scaled) {
    if (scaled) {
        unsupported(call, "where a scale is rounded is not specified, multiply the tile first");
    }
}

}  // namespace ttnn_rs

namespace ckernel {

#define TTNN_RS_EXPONENTIAL(name, thread)                                                                            \
    template <bool approx = false, auto... options>                                                                  \
    ALWI void name##_init() {                                                                                        \
        ttnn_rs::no_scale(#name "_init", ttnn_rs::exponential_scale<options...>() != 0x3F800000);                    \
        constexpr bool clamped = ttnn_rs::clamping<options...>() == InputClamping::ClampToNegative;                  \
        if constexpr (approx) {                                                                                      \
            ttnn_rs::set_up(                                                                                         \
                clamped ? ttnn_rs::i_##name##_init_approx_True                                                       \
                        : ttnn_rs::i_##name##_init_approx_True_input_clamping_NONE,                                  \
                thread);                                                                                             \
        } else {                                                                                                     \
            ttnn_rs::set_up(                                                                                         \
                clamped ? ttnn_rs::i_##name##_init : ttnn_rs::i_##name##_init_input_clamping_NONE, thread);          \
        }                                                                                                            \
    }                                                                                                                \
    template <bool approx = false, auto... options>                                                                  \
    ALWI void name(std::uint32_t idst, Faces faces = VectorMode::RC, std::uint16_t scale = p_sfpu::kCONST_1_FP16B) { \
        ttnn_rs::no_scale(#name, scale != p_sfpu::kCONST_1_FP16B);                                                   \
        constexpr bool clamped = ttnn_rs::clamping<options...>() == InputClamping::ClampToNegative;                  \
        if constexpr (approx) {                                                                                      \
            ttnn_rs::on_one(                                                                                         \
                clamped ? ttnn_rs::f_##name##_1_ClampToNegative : ttnn_rs::f_##name##_1_NONE, idst, faces, thread);  \
        } else {                                                                                                     \
            ttnn_rs::on_one(                                                                                         \
                clamped ? ttnn_rs::f_##name##_0_ClampToNegative : ttnn_rs::f_##name##_0_NONE, idst, faces, thread);  \
        }                                                                                                            \
    }
TTNN_RS_EXPONENTIAL(exp_tile, 0)
TTNN_RS_EXPONENTIAL(exp_packthread_tile, ttnn_rs::ON_PACK)
#undef TTNN_RS_EXPONENTIAL

template <bool legacy_compat = false>
ALWI void rsqrt_tile_init() {
    ttnn_rs::set_up(
        legacy_compat ? ttnn_rs::i_rsqrt_tile_init_legacy_compat_True : ttnn_rs::i_rsqrt_tile_init);
}
template <auto mode = RsqrtMode::Default, bool FAST_APPROX = false, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void rsqrt_tile(std::uint32_t idst, Faces faces = VectorMode::RC) {
    constexpr const ttnn_rs::Function& function =
        ttnn_rs::legacy<mode>()                 ? ttnn_rs::f_rsqrt_legacy
        : ttnn_rs::fast<mode>() || FAST_APPROX ? ttnn_rs::f_rsqrt_tile_approx
                                                : ttnn_rs::f_rsqrt_tile_accurate;
    ttnn_rs::on_one(function, idst, faces, 0);
}

template <RoundingMode rounding_mode = RoundingMode::None, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void rdiv_tile(std::uint32_t dst_index, std::uint32_t value, Faces faces = VectorMode::RC) {
    constexpr const ttnn_rs::Function& function =
        rounding_mode == RoundingMode::Trunc   ? ttnn_rs::f_DIVISIONS_Trunc
        : rounding_mode == RoundingMode::Floor ? ttnn_rs::f_DIVISIONS_Floor
                                               : ttnn_rs::f_DIVISIONS_NONE;
    ttnn_rs::on_one(function, dst_index, faces, 0, value);
}

// Logarithms to the bases 2 and 10, by the bits of 1 / ln(base).
template <bool fast_and_approx = false, bool base_is_two = false, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void log_with_base_tile(std::uint32_t idst, std::uint32_t base_scale) {
    if (base_scale == 0x3FB8AA3B) {
        ttnn_rs::on_one(
            fast_and_approx ? ttnn_rs::f_LOGARITHMS_1069066811_1 : ttnn_rs::f_LOGARITHMS_1069066811_0, idst,
            VectorMode::RC, 0);
    } else if (base_scale == 0x3EDE5BD9) {
        ttnn_rs::on_one(
            fast_and_approx ? ttnn_rs::f_LOGARITHMS_1054759897_1 : ttnn_rs::f_LOGARITHMS_1054759897_0, idst,
            VectorMode::RC, 0);
    } else {
        ttnn_rs::unsupported("log_with_base_tile", "only 1/ln(2) and 1/ln(10) have known bits");
    }
}

template <bool EQUAL_NAN = false>
ALWI void isclose_binary_tile(
    std::uint32_t idst0, std::uint32_t idst1, std::uint32_t odst, std::uint32_t rtol_bits, std::uint32_t atol_bits) {
    ttnn_rs::on_tiles(
        EQUAL_NAN ? ttnn_rs::f_CLOSE_1 : ttnn_rs::f_CLOSE_0, idst0, idst1, idst0, odst, 0, rtol_bits, atol_bits);
}

// Rounding, constants, conversions.

constexpr float ttnn_rs_powers[] = {1e-6f, 1e-5f, 1e-4f, 1e-3f, 1e-2f, 1e-1f, 1e0f,
                                    1e1f,  1e2f,  1e3f,  1e4f,  1e5f,  1e6f};

ALWI void round_tile(std::uint32_t idst, std::int32_t decimals) {
    if (decimals == 0) {
        ttnn_rs::on_one(ttnn_rs::f_round_integer, idst, VectorMode::RC, 0);
    } else if (decimals < -6 || decimals > 6) {
        tt_call_invalid("round_tile", "decimals must be between -6 and 6");
    } else {
        ttnn_rs::on_one(
            ttnn_rs::f_round_decimals, idst, VectorMode::RC, 0, ttnn_rs::float_bits(ttnn_rs_powers[6 + decimals]),
            ttnn_rs::float_bits(ttnn_rs_powers[6 - decimals]));
    }
}
ALWI void fill_tile(std::uint32_t idst, float param0) {
    ttnn_rs::on_one(ttnn_rs::f_fill_bits, idst, VectorMode::RC, 0, ttnn_rs::float_bits(param0));
}
ALWI void fill_tile_bitcast(std::uint32_t idst, std::uint32_t param0) {
    ttnn_rs::on_one(ttnn_rs::f_fill_bits, idst, VectorMode::RC, 0, param0);
}
template <DataFormat DATA_FORMAT = DataFormat::Int32>
ALWI void fill_tile_int(std::uint32_t idst, std::uint32_t param0) {
    if constexpr (DATA_FORMAT == DataFormat::UInt16) {
        ttnn_rs::on_one(ttnn_rs::f_fill_int_9, idst, VectorMode::RC, 0, param0);
    } else if constexpr (DATA_FORMAT == DataFormat::Int32 || DATA_FORMAT == DataFormat::UInt32) {
        ttnn_rs::on_one(ttnn_rs::f_fill_int_8, idst, VectorMode::RC, 0, param0);
    } else {
        ttnn_rs::unsupported("fill_tile_int", "the format is no integer that Dst holds");
    }
}
template <DataFormat DATA_FORMAT = DataFormat::Float32>
ALWI void copy_dest_values(std::uint32_t idst_in, std::uint32_t idst_out) {
    ttnn_rs::on_tiles(ttnn_rs::f_copy, idst_in, idst_in, idst_in, idst_out, 0);
}

}  // namespace ckernel

namespace ttnn_rs {

// Whether a conversion changes nothing: floats among each other, words of either sign.
constexpr bool same_datums(std::uint32_t from, std::uint32_t to) {
    const auto floating = [](std::uint32_t format) { return format == 0 || (format >= 5 && format <= 7); };
    const auto word = [](std::uint32_t format) { return format == 8 || format == 24; };
    return from == to || (floating(from) && floating(to)) || (word(from) && word(to));
}

}  // namespace ttnn_rs

namespace ckernel {

template <std::uint32_t IN_DTYPE, std::uint32_t OUT_DTYPE, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void typecast_tile(std::uint32_t idst) {
    if constexpr (!ttnn_rs::same_datums(IN_DTYPE, OUT_DTYPE)) {
        constexpr const ttnn_rs::Function* function = ttnn_rs::cast(IN_DTYPE, OUT_DTYPE);
        if constexpr (function == nullptr) {
            ttnn_rs::unsupported("typecast_tile", "the SFPU has no such conversion");
        } else {
            ttnn_rs::on_one(*function, idst, VectorMode::RC, 0);
        }
    }
}

ALWI void max_tile(std::uint32_t idst0, std::uint32_t idst1, [[maybe_unused]] Faces faces = VectorMode::RC) {
    ttnn_rs::on_tiles(ttnn_rs::f_max, idst0, idst1, idst0, idst0, 0);
}
ALWI void remainder_tile_uint32(std::uint32_t idst, std::uint32_t param0) {
    if (param0 == 0) {
        tt_call_invalid("remainder_tile_uint32", "division by 0");
    }
    const std::uint32_t tiles[] = {idst};
    ttnn_rs::on_list(ttnn_rs::f_remainder, tiles, param0);
}

// Functions whose listing takes other operands or parameters than the call.

ALWI void logsigmoid_tile(std::uint32_t idst_in0, std::uint32_t idst_in1, std::uint32_t idst_out) {
    // The listing starts from -x, and negating twice is exact.
    ttnn_rs::on_one(ttnn_rs::f_logsigmoid_negated, idst_in0, VectorMode::RC, 0);
    ttnn_rs::on_tiles(ttnn_rs::f_log_sigmoid, idst_in0, idst_in1, idst_in0, idst_out, 0);
    if (idst_out != idst_in0) { ttnn_rs::on_one(ttnn_rs::f_logsigmoid_negated, idst_in0, VectorMode::RC, 0); }
}

template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void polygamma_tile(std::uint32_t idst, std::uint32_t n_packed, std::uint32_t scale_packed) {
    const float order = std::bit_cast<float>(n_packed);
    if (!(order >= 1 && order < 35)) {
        tt_call_invalid("polygamma_tile", "the order is the bits of a float32 from 1 to 34");
    }
    ttnn_rs::on_one(
        ttnn_rs::f_polygamma, idst, VectorMode::RC, 0, static_cast<std::uint32_t>(order), scale_packed);
}

template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void selu_tile(std::uint32_t idst, std::uint32_t scale, std::uint32_t alpha, Faces faces = VectorMode::RC) {
    ttnn_rs::on_one(ttnn_rs::f_selu, idst, faces, 0, scale, ttnn_rs::product_bits(scale, alpha));
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void selu_tile_pack(std::uint32_t idst, std::uint32_t scale, std::uint32_t alpha) {
    const std::uint32_t slope = ttnn_rs::product_bits(scale, alpha);
    ttnn_rs::on_one(ttnn_rs::f_selu_pack, idst, VectorMode::RC, ttnn_rs::ON_PACK, scale, slope);
}

// Masks and places.

ALWI void mask_tile(
    std::uint32_t idst_data, std::uint32_t idst2_mask,
    [[maybe_unused]] DataFormat data_format = DataFormat::Float16_b) {
    if (idst2_mask != idst_data + 1) {
        tt_call_invalid("mask_tile", "the mask must lie in the tile after the data");
    }
    const std::uint32_t tiles[] = {idst_data, idst2_mask};
    ttnn_rs::on_list(ttnn_rs::f_mask, tiles);
}
ALWI void mask_posinf_tile(std::uint32_t idst_data, std::uint32_t idst2_mask) {
    if (idst2_mask != idst_data + 1) {
        tt_call_invalid("mask_posinf_tile", "the mask must lie in the tile after the data");
    }
    const std::uint32_t tiles[] = {idst_data, idst2_mask};
    ttnn_rs::on_list(ttnn_rs::f_mask_posinf, tiles);
}
ALWI void alt_complex_rotate90_tile(std::uint32_t idst) {
    const std::uint32_t tiles[] = {idst};
    ttnn_rs::on_list(ttnn_rs::f_rotate, tiles);
}
template <DataFormat format = DataFormat::Float32>
ALWI void sfpu_add_top_row(std::uint32_t dst_tile_0, std::uint32_t dst_tile_1, std::uint32_t dst_tile_out) {
    const std::uint32_t tiles[] = {dst_tile_0, dst_tile_1, dst_tile_out};
    if constexpr (format == DataFormat::Float32) {
        ttnn_rs::on_list(ttnn_rs::f_top_row, tiles);
    } else if constexpr (format == DataFormat::Int32 || format == DataFormat::UInt32) {
        ttnn_rs::on_list(ttnn_rs::f_top_row_int, tiles);
    } else {
        ttnn_rs::unsupported("sfpu_add_top_row", "the kernel has no such format");
    }
}
// Row numbers are the bytes behind a header of 16.
ALWI void reshuffle_rows_tile(std::uint32_t idst, std::uint32_t idx_addr) {
    const auto* rows = reinterpret_cast<const volatile std::uint8_t*>(idx_addr) + 16;
    std::uint32_t words[32];
    for (std::uint32_t row = 0; row < 32; ++row) {
        words[row] = rows[row];
    }
    const std::uint32_t tiles[] = {idst, idst + 1};
    tt_call_sfpu_tiles(&ttnn_rs::f_reshuffle, 2, tiles, 32, words);
}

// Scans.

ALWI void cumsum_tile(std::uint32_t idst, bool first = true) {
    const std::uint32_t tiles[] = {idst};
    ttnn_rs::on_list(ttnn_rs::f_cumsum, tiles, first);
}
ALWI void ema_clear_previous_output() { tt_call_sfpu_tiles(&ttnn_rs::f_ema_clear, 0, nullptr, 0, nullptr); }
ALWI void ema_tile(std::uint32_t input_dst_index) {
    const std::uint32_t tiles[] = {input_dst_index, input_dst_index + 1};
    ttnn_rs::on_list(ttnn_rs::f_ema, tiles);
}

}  // namespace ckernel

namespace ttnn_rs {

// The reciprocal of a count, from the kernel's table or, without one, divided here.
template <std::size_t size>
FORCE_INLINE std::uint32_t reciprocal(
    const char* call, std::uint32_t index, const std::array<std::uint32_t, size>& table) {
    if constexpr (size == 0) {
        return float_bits(1.0f / static_cast<float>(index + 1));
    } else {
        if (index >= size) {
            tt_call_invalid(call, "the table has too few reciprocals");
        }
        return table[index];
    }
}
TTNN_RS_FUNCTION(i_welford_resume, "welford_init", "welford_init", "identity", "default", 1, -1)
FORCE_INLINE std::uint32_t welford_group(std::uint32_t group) {
    if (group >= 4) {
        tt_call_invalid("Welford's statistics", "a face has room for groups 0 to 3");
    }
    return group;
}

}  // namespace ttnn_rs

namespace ckernel {

// Welford's algorithm.

ALWI void welford_clear() { tt_call_sfpu_tiles(&ttnn_rs::f_clear, 0, nullptr, 0, nullptr); }
template <WelfordInitMode mode = WelfordInitMode::ClearStats>
ALWI void welford_init() {
    if constexpr (mode == WelfordInitMode::ClearStats) {
        ttnn_rs::set_up_keeping(ttnn_rs::i_welford_init);
    } else {
        ttnn_rs::set_up(ttnn_rs::i_welford_resume);
    }
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void welford_reinit([[maybe_unused]] std::uint32_t cbid = 0) {
    ttnn_rs::set_up(ttnn_rs::i_welford_resume);
}
template <std::size_t reciprocal_size>
ALWI void welford_update_rows(
    std::uint32_t input_dst_idx, std::uint32_t start_idx, std::uint32_t start_row, std::uint32_t num_rows,
    const std::array<std::uint32_t, reciprocal_size>& reciprocal_lut) {
    if (start_row + num_rows > 32) {
        tt_call_invalid("welford_update_rows", "a tile has 32 rows");
    }
    std::uint32_t words[33];
    words[0] = start_row;
    for (std::uint32_t row = 0; row < num_rows; ++row) {
        words[1 + row] = ttnn_rs::reciprocal("welford_update", start_idx + row, reciprocal_lut);
    }
    const std::uint32_t tiles[] = {input_dst_idx};
    tt_call_sfpu_tiles(&ttnn_rs::f_update, 1, tiles, 1 + num_rows, words);
}
template <std::size_t reciprocal_size>
ALWI void welford_update(
    std::uint32_t input_dst_idx, std::uint32_t start_idx,
    const std::array<std::uint32_t, reciprocal_size>& reciprocal_lut) {
    welford_update_rows(input_dst_idx, start_idx, 0, 32, reciprocal_lut);
}
ALWI void welford_save_state(std::uint32_t mean_dst_idx, std::uint32_t group_id = 0) {
    const std::uint32_t tiles[] = {mean_dst_idx, mean_dst_idx + 1};
    ttnn_rs::on_list(ttnn_rs::f_save, tiles, ttnn_rs::welford_group(group_id));
}
ALWI void welford_restore_state(std::uint32_t mean_dst_idx, std::uint32_t group_id = 0) {
    const std::uint32_t tiles[] = {mean_dst_idx, mean_dst_idx + 1};
    ttnn_rs::on_list(ttnn_rs::f_restore, tiles, ttnn_rs::welford_group(group_id));
}
template <std::size_t reciprocal_size>
ALWI void welford_finalize_to_row(
    std::uint32_t mean_dst_idx, std::uint32_t scale_idx,
    const std::array<std::uint32_t, reciprocal_size>& reciprocal_lut) {
    const std::uint32_t tiles[] = {mean_dst_idx, mean_dst_idx + 1};
    ttnn_rs::on_list(
        ttnn_rs::f_to_row, tiles, ttnn_rs::reciprocal("welford_finalize_to_row", scale_idx, reciprocal_lut));
}
template <std::size_t reciprocal_size>
ALWI void welford_finalize_to_face(
    std::uint32_t mean_dst_idx, std::uint32_t group_id, std::uint32_t scale_idx,
    const std::array<std::uint32_t, reciprocal_size>& reciprocal_lut) {
    const std::uint32_t tiles[] = {mean_dst_idx, mean_dst_idx + 1};
    ttnn_rs::on_list(
        ttnn_rs::f_to_face, tiles, ttnn_rs::reciprocal("welford_finalize_to_face", scale_idx, reciprocal_lut),
        ttnn_rs::welford_group(group_id));
}
template <std::size_t reciprocal_size>
ALWI void welford_finalize_to_face(
    std::uint32_t mean_dst_idx, std::uint32_t scale_idx,
    const std::array<std::uint32_t, reciprocal_size>& reciprocal_lut) {
    welford_finalize_to_face(mean_dst_idx, 0, scale_idx, reciprocal_lut);
}

// Reductions inside a tile.
template <
    PoolType pool_type, DataFormat format, ReduceDim reduce_dim = ReduceDim::REDUCE_COL,
    bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void sfpu_reduce(std::uint32_t idst, std::uint32_t ct_dim = 1, std::uint32_t rt_dim = 1) {
    if constexpr (format != DataFormat::Float32 || reduce_dim == ReduceDim::REDUCE_SCALAR ||
                  pool_type == PoolType::AVG) {
        ttnn_rs::unsupported(
            "sfpu_reduce", "sums, maxima and minima of rows or columns of Float32 have known bits, others have not");
    } else {
        if (ct_dim != 1 || rt_dim != 1) {
            ttnn_rs::unsupported("sfpu_reduce", "one tile is reduced at a time");
        }
        constexpr bool rows = reduce_dim == ReduceDim::REDUCE_ROW;
        constexpr const ttnn_rs::Function& function =
            pool_type == PoolType::SUM   ? (rows ? ttnn_rs::f_REDUCTIONS_SUM_REDUCE_ROW
                                                 : ttnn_rs::f_REDUCTIONS_SUM_REDUCE_COL)
            : pool_type == PoolType::MAX ? (rows ? ttnn_rs::f_REDUCTIONS_MAX_REDUCE_ROW
                                                 : ttnn_rs::f_REDUCTIONS_MAX_REDUCE_COL)
                                         : (rows ? ttnn_rs::f_REDUCTIONS_MIN_REDUCE_ROW
                                                 : ttnn_rs::f_REDUCTIONS_MIN_REDUCE_COL);
        const std::uint32_t tiles[] = {idst};
        ttnn_rs::on_list(function, tiles);
    }
}

}  // namespace ckernel

namespace ttnn_rs {
FORCE_INLINE void topk_place(const char* call, std::uint32_t idst, bool stable) {
    if (idst != 0) {
        tt_call_invalid(call, "the tiles must lie in Dst 0 to 3");
    }
    if (stable) {
        unsupported(call, "stable_sort: its second swaps are not built");
    }
}
FORCE_INLINE void topk_size(const char* call, int k, int round) {
    if (k < 4 || k > 64 || (k & (k - 1)) != 0 || round < 0 || round > 5) {
        tt_call_invalid(call, "k is 4, 8, 16, 32 or 64, the round 0 to 5");
    }
}
constexpr std::uint32_t topk_tiles[] = {0, 1, 2, 3};
}  // namespace ttnn_rs

namespace ckernel {

// The sorting network behind topk and sort.

template <bool stable_sort = false, auto... options>
ALWI void topk_local_sort(
    std::uint32_t idst, int idir, int i_end_phase, int i_start_phase = 0, int i_end_step = 0, int i_start_step = 0) {
    ttnn_rs::topk_place("topk_local_sort", idst, stable_sort);
    if (i_start_phase < 0 || i_start_phase > i_end_phase || i_end_phase > 5) {
        tt_call_invalid("topk_local_sort", "there are phases 0 to 5");
    }
    const bool single = i_start_phase == i_end_phase && i_end_phase > 3;
    if (single && !(4 <= i_end_step && i_end_step <= i_start_step && i_start_step <= i_end_phase + 1)) {
        tt_call_invalid("topk_local_sort", "the steps of a single phase go down to 4");
    }
    ttnn_rs::on_list(
        ttnn_rs::f_sort, ttnn_rs::topk_tiles, idir, i_end_phase, i_start_phase, i_end_step, i_start_step);
}
template <bool idir = false, bool stable_sort = false, auto... options>
ALWI void topk_merge(std::uint32_t idst, int m_iter, int k) {
    ttnn_rs::topk_place("topk_merge", idst, stable_sort);
    ttnn_rs::topk_size("topk_merge", k, m_iter);
    ttnn_rs::on_list(ttnn_rs::f_merge, ttnn_rs::topk_tiles, m_iter, k, idir);
}
template <bool stable_sort = false, auto... options>
ALWI void topk_rebuild(std::uint32_t idst, bool idir, int m_iter, int k, int logk, int skip_second) {
    ttnn_rs::topk_place("topk_rebuild", idst, stable_sort);
    ttnn_rs::topk_size("topk_rebuild", k, m_iter);
    if (k != 1 << logk) {
        tt_call_invalid("topk_rebuild", "logk is not the logarithm of k");
    }
    ttnn_rs::on_list(ttnn_rs::f_rebuild, ttnn_rs::topk_tiles, idir, m_iter, k, logk, skip_second);
}

}  // namespace ckernel
