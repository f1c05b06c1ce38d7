// Functions of vectors under their official names.
#pragma once

namespace sfpi {

template <typename V>
constexpr bool is_vector = std::is_base_of_v<impl_::vVal, V>;

// Straight lines of a table at |v|; the sign of v is kept, or comes from the line.
namespace impl_ {
template <typename... Lines>
FORCE_INLINE Made lines(ttnn_rs::Table table, bool keep_sign, const vFloat& v, const Lines&... each) {
    const tt_word ids[] = {each.id()...};
    return {tt_call_sfpi_lines(table, keep_sign, v.id(), sizeof...(Lines), ids)};
}
FORCE_INLINE void check_table(int mode) {
    if (mode != 1) {
        ttnn_rs::unsupported("lut2", "the table whose last line begins at 4 is not specified");
    }
}
}  // namespace impl_
FORCE_INLINE vFloat lut(vFloat v, vUInt l0, vUInt l1, vUInt l2) { return impl_::lines(ttnn_rs::BYTES, true, v, l0, l1, l2); }
FORCE_INLINE vFloat lut_sign(vFloat v, vUInt l0, vUInt l1, vUInt l2) {
    return impl_::lines(ttnn_rs::BYTES, false, v, l0, l1, l2);
}
FORCE_INLINE vFloat lut2(
    vFloat v, vUInt a01, vUInt a23, vUInt a45, vUInt b01, vUInt b23, vUInt b45, int mode = 1) {
    impl_::check_table(mode);
    return impl_::lines(ttnn_rs::HALVES, true, v, a01, a23, a45, b01, b23, b45);
}
FORCE_INLINE vFloat lut2_sign(
    vFloat v, vUInt a01, vUInt a23, vUInt a45, vUInt b01, vUInt b23, vUInt b45, int mode = 1) {
    impl_::check_table(mode);
    return impl_::lines(ttnn_rs::HALVES, false, v, a01, a23, a45, b01, b23, b45);
}

// Parts of a float.
enum class ExponentMode { Debias, NoDebias, Unbiased = Debias, Biased = NoDebias };
enum class MantissaMode { FractionOnly, WithUnitBit, ImplicitOne = WithUnitBit };
FORCE_INLINE vInt exexp(vFloat v, ExponentMode mode = ExponentMode::Debias) {
    return impl_::unary(mode == ExponentMode::Debias ? ttnn_rs::UNBIASED_EXPONENT : ttnn_rs::EXPONENT, v);
}
FORCE_INLINE vInt exexp_nodebias(vFloat v) { return exexp(v, ExponentMode::NoDebias); }
FORCE_INLINE vInt exman(vFloat v, MantissaMode mode = MantissaMode::FractionOnly) {
    return impl_::unary(mode == MantissaMode::FractionOnly ? ttnn_rs::MANTISSA : ttnn_rs::WHOLE_MANTISSA, v);
}
FORCE_INLINE vInt exman8(vFloat v) { return exman(v, MantissaMode::WithUnitBit); }
FORCE_INLINE vInt exman9(vFloat v) { return exman(v, MantissaMode::FractionOnly); }
FORCE_INLINE vFloat setexp(vFloat v, vInt exponent) { return impl_::binary(ttnn_rs::SET_EXPONENT, v, exponent); }
FORCE_INLINE vFloat setexp(vFloat v, vUInt exponent) { return impl_::binary(ttnn_rs::SET_EXPONENT, v, exponent); }
FORCE_INLINE vFloat setexp(vFloat v, int exponent) { return setexp(v, vInt(exponent)); }
FORCE_INLINE vFloat setexp(vFloat v, unsigned exponent) { return setexp(v, vInt(exponent)); }
FORCE_INLINE vFloat copyexp(vFloat v, vFloat from) { return impl_::binary(ttnn_rs::COPY_EXPONENT, v, from); }
FORCE_INLINE vFloat setman(vFloat v, const impl_::vVal& mantissa) {
    return impl_::binary(ttnn_rs::SET_MANTISSA, v, mantissa);
}
FORCE_INLINE vFloat setman(vFloat v, int mantissa) { return setman(v, vInt(mantissa)); }
FORCE_INLINE vFloat addexp(vFloat v, int k) { return impl_::binary(ttnn_rs::ADD_EXPONENT, v, vInt(k)); }
template <typename V, std::enable_if_t<is_vector<V>>* = nullptr>
FORCE_INLINE V copysgn(V v, const impl_::vVal& from) {
    return impl_::binary(ttnn_rs::COPY_SIGN, v, from);
}
template <typename V, std::enable_if_t<is_vector<V>>* = nullptr>
FORCE_INLINE V setsgn(V v, const impl_::vVal& from) {
    return copysgn(v, from);
}
template <typename V, std::enable_if_t<is_vector<V>>* = nullptr>
FORCE_INLINE V setsgn(V v, int sign) {
    return copysgn(v, vInt(sign == 0 ? 0u : 0x80000000u));
}
template <typename V, std::enable_if_t<is_vector<V>>* = nullptr>
FORCE_INLINE vInt lz(V v) {
    return impl_::unary(ttnn_rs::LEADING_ZEROS, v);
}
template <typename V, std::enable_if_t<is_vector<V>>* = nullptr>
FORCE_INLINE vInt lz_nosgn(V v) {
    return impl_::unary(ttnn_rs::LEADING_ZEROS_OF_MAGNITUDE, v);
}
FORCE_INLINE vFloat abs(vFloat v) { return impl_::unary(ttnn_rs::MAGNITUDE, v); }
FORCE_INLINE vInt abs(vInt v) { return impl_::unary(ttnn_rs::INTEGER_MAGNITUDE, v); }
FORCE_INLINE vUInt shft(vUInt v, vInt count) { return impl_::binary(ttnn_rs::SHIFT, v, count); }
FORCE_INLINE vUInt shft(vUInt v, int count) { return shft(v, vInt(count)); }

template <typename To, std::enable_if_t<is_vector<To>>* = nullptr>
FORCE_INLINE To reinterpret(const impl_::vVal& v) {
    return To(v.get());
}
template <typename To, std::enable_if_t<is_vector<To>>* = nullptr>
FORCE_INLINE To as(const impl_::vVal& v) {
    return To(v.get());
}

// The smaller goes to the first, the larger to the second, in the total order of words.
FORCE_INLINE void vec_min_max(vFloat& smaller, vFloat& larger) {
    const vFloat a = smaller, b = larger;
    smaller = impl_::binary(ttnn_rs::MINIMUM, a, b);
    larger = impl_::binary(ttnn_rs::MAXIMUM, a, b);
}
template <typename V, std::enable_if_t<is_vector<V>>* = nullptr>
FORCE_INLINE void vec_swap(V& a, V& b) {
    const V before = a;
    a = b;
    b = before;
}

// Conversions. By default the unit rounds by chance: where that matters, it is refused.
enum class RoundMode { NearestEven, Stochastic, Even = NearestEven, Nearest = NearestEven };
#define TTNN_RS_CONVERSION(name, To, From, function)                                   \
    FORCE_INLINE To name(From v, RoundMode mode = RoundMode::Stochastic) {             \
        return impl_::unary(ttnn_rs::function, v, mode == RoundMode::Stochastic);      \
    }                                                                                  \
    FORCE_INLINE To name(From v, int mode) { return name(v, static_cast<RoundMode>(mode)); }
TTNN_RS_CONVERSION(int32_to_float, vFloat, vInt, FLOAT_OF_INTEGER)
TTNN_RS_CONVERSION(float_to_fp16a, vFloat, vFloat, ROUND_FP16)
TTNN_RS_CONVERSION(float_to_fp16b, vFloat, vFloat, ROUND_BF16)
TTNN_RS_CONVERSION(float_to_uint8, vUInt, vFloat, ROUND_UINT8)
TTNN_RS_CONVERSION(float_to_int8, vInt, vFloat, ROUND_INT8)
TTNN_RS_CONVERSION(float_to_uint16, vUInt, vFloat, ROUND_UINT16)
TTNN_RS_CONVERSION(float_to_int16, vInt, vFloat, ROUND_INT16)
#undef TTNN_RS_CONVERSION

// Conversions by the type of the result.
struct vFloat16a : vFloat {
    using vFloat::vFloat;
    FORCE_INLINE vFloat16a(vFloat v) : vFloat(v) {}
};
struct vFloat16b : vFloat {
    using vFloat::vFloat;
    FORCE_INLINE vFloat16b(vFloat v) : vFloat(v) {}
};
template <typename To, std::enable_if_t<std::is_same_v<To, vFloat16a> || std::is_same_v<To, vFloat16b>>* = nullptr>
FORCE_INLINE To convert(vFloat v, RoundMode mode = RoundMode::Stochastic) {
    return std::is_same_v<To, vFloat16a> ? float_to_fp16a(v, mode) : float_to_fp16b(v, mode);
}

// In the total order of words.
FORCE_INLINE vFloat min(vFloat a, vFloat b) { return impl_::binary(ttnn_rs::MINIMUM, a, b); }
FORCE_INLINE vFloat max(vFloat a, vFloat b) { return impl_::binary(ttnn_rs::MAXIMUM, a, b); }
FORCE_INLINE vFloat clamp(vFloat v, vFloat low, vFloat high) { return min(max(v, low), high); }

}  // namespace sfpi

namespace ckernel {

// Calls a function for the faces of a tile that a vector mode names. It may move on by registers of Dst; each face starts
// where it should.
template <typename Function, typename... Arguments>
FORCE_INLINE void ttnn_rs_each_face(std::uint32_t tile, int vector_mode, Function&& function, Arguments&&... arguments) {
    constexpr int ROWS = 1, COLUMNS = 2, ALL = 4;
    for (std::uint32_t face = 0; face < 4; ++face) {
        const bool wanted = vector_mode == ALL || (vector_mode == ROWS && face < 2) ||
                            (vector_mode == COLUMNS && face % 2 == 0) || (vector_mode == 0 && face == 0);
        if (wanted) {
            tt_call_sfpi_start(tile);
            tt_call_sfpi_advance(16 * face);
            function(arguments...);
        }
    }
}

template <bool APPROXIMATE = false, typename Function, typename Mode = int, typename... Arguments>
FORCE_INLINE void _llk_math_eltwise_unary_sfpu_params_(
    Function&& function, std::uint32_t dst_index, Mode vector_mode = Mode(4), Arguments&&... arguments) {
    ttnn_rs_each_face(dst_index, static_cast<int>(vector_mode), function, arguments...);
}
template <bool APPROXIMATE = false, typename Function, typename Mode = int, typename... Arguments>
FORCE_INLINE void _llk_math_eltwise_binary_sfpu_params_(
    Function&& function, std::uint32_t dst_index0, std::uint32_t dst_index1, std::uint32_t odst, Mode vector_mode = Mode(4),
    Arguments&&... arguments) {
    ttnn_rs_each_face(0, static_cast<int>(vector_mode), function, dst_index0, dst_index1, odst, arguments...);
}
template <bool APPROXIMATE = false, typename Function, typename Mode = int, typename... Arguments>
FORCE_INLINE void _llk_math_eltwise_ternary_sfpu_params_(
    Function&& function, std::uint32_t dst_index0, std::uint32_t dst_index1, std::uint32_t dst_index2,
    std::uint32_t odst, Mode vector_mode = Mode(4), Arguments&&... arguments) {
    ttnn_rs_each_face(0, static_cast<int>(vector_mode), function, dst_index0, dst_index1, dst_index2, odst, arguments...);
}

}  // namespace ckernel
