//! AVX-512: F, CD, BW, DQ, VL.
//!
//! The functions are inlined into kernels compiled for the level; nothing else may use this type.
use std::arch::asm;
#[allow(clippy::wildcard_imports, reason = "thirty intrinsics of one family")]
use std::arch::x86_64::*;

use super::Vector;
use super::x86::{lanes, x86_vector};

/// 16 lanes.
#[derive(Clone, Copy)]
pub struct Avx512;

x86_vector! {
    Avx512: 16, __m512i, __m512, __mmask16, rounds down: true;
    memory { _mm512_loadu_si512, _mm512_storeu_si512, _mm512_loadu_ps }
    integers {
        add = _mm512_add_epi32;
        sub = _mm512_sub_epi32;
        mul = _mm512_mullo_epi32;
        mul_small = _mm512_madd_epi16;
        max = _mm512_max_epi32;
        min_unsigned = _mm512_min_epu32;
        and = _mm512_and_si512;
        or = _mm512_or_si512;
        xor = _mm512_xor_si512;
        shl_by = _mm512_sllv_epi32;
        shr_by = _mm512_srlv_epi32;
        sar_by = _mm512_srav_epi32;
        add_halves = _mm512_add_epi16;
        sub_halves = _mm512_sub_epi16;
        max_halves = _mm512_max_epi16;
        mul_halves = _mm512_mullo_epi16;
        average_halves = _mm512_avg_epu16;
        sub_bytes = _mm512_subs_epu8;
        max_bytes = _mm512_max_epu8;
        shr_halves_by = _mm512_srlv_epi16;
    }
    floats {
        mul_float = _mm512_mul_ps;
        add_float = _mm512_add_ps;
        sub_float = _mm512_sub_ps;
    }
    shifts {
        shl = _mm512_sll_epi32;
        shr = _mm512_srl_epi32;
        sar = _mm512_sra_epi32;
    }
    others {
        splat(value: i32) -> __m512i = _mm512_set1_epi32(value);
        splat_float(value: f32) -> __m512 = _mm512_set1_ps(value);
        fma(a: __m512, b: __m512, c: __m512) -> __m512 = _mm512_fmadd_ps(a, b, c);
        fma_down(a: __m512, b: __m512, c: __m512) -> __m512 = _mm512_fmadd_round_ps::<DOWN>(a, b, c);
        add_down(a: __m512, b: __m512) -> __m512 = _mm512_add_round_ps::<DOWN>(a, b);
        largest_magnitude(a: __m512, b: __m512) -> __m512 = _mm512_range_ps::<LARGEST_MAGNITUDE>(a, b);
        to_bits(a: __m512) -> __m512i = _mm512_castps_si512(a);
        from_bits(a: __m512i) -> __m512 = _mm512_castsi512_ps(a);
        exact_float(a: __m512i) -> __m512 = _mm512_cvtepi32_ps(a);
        interleave(a: __m512i, b: __m512i) -> [__m512i; 2] = {
            let low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
            let high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
            [_mm512_permutex2var_epi32(a, low, b), _mm512_permutex2var_epi32(a, high, b)]
        };
        abs(a: __m512i) -> __m512i = _mm512_abs_epi32(a);
        leading_zeros(a: __m512i) -> __m512i = _mm512_lzcnt_epi32(a);
        equal(a: __m512i, b: __m512i) -> __mmask16 = _mm512_cmpeq_epi32_mask(a, b);
        greater(a: __m512i, b: __m512i) -> __mmask16 = _mm512_cmpgt_epi32_mask(a, b);
        both(a: __mmask16, b: __mmask16) -> __mmask16 = a & b;
        select(mask: __mmask16, yes: __m512i, no: __m512i) -> __m512i = _mm512_mask_blend_epi32(mask, no, yes);
        keep(mask: __mmask16, value: __m512i) -> __m512i = _mm512_maskz_mov_epi32(mask, value);
    }
    functions {
        #[inline(always)]
        fn fma_element<const INDEX: usize, const LENGTH: usize>(a: __m512, b: &[f32; LENGTH], c: __m512) -> __m512 {
            // SAFETY: as in `lanes!`.
            unsafe { fma_element::<INDEX, LENGTH>(a, b, c) }
        }
    }
}

/// `a * b[INDEX] + c` with the number as an operand in memory. The compiler would load a number that two products share
/// into a vector of its own; where such a load takes an arithmetic unit, it takes the place of a product.
#[inline]
#[target_feature(enable = "avx512f")]
fn fma_element<const INDEX: usize, const LENGTH: usize>(a: __m512, b: &[f32; LENGTH], c: __m512) -> __m512 {
    const { assert!(INDEX < LENGTH) };
    let mut sum = c;
    // SAFETY: reads one number of the array and writes one register; the function is compiled for the instruction.
    unsafe {
        asm!(
            "vfmadd231ps {sum}, {a}, dword ptr [{b} + {offset}]{{1to16}}",
            sum = inout(zmm_reg) sum,
            a = in(zmm_reg) a,
            b = in(reg) b.as_ptr(),
            offset = const INDEX * size_of::<f32>(),
            options(readonly, nostack, preserves_flags),
        );
    }
    sum
}

/// Rounding down.
const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
/// Rounding up.
const UP: i32 = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
/// Rounding toward zero.
const CUT: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;

/// The larger magnitude, without a sign.
const LARGEST_MAGNITUDE: i32 = 0b1011;

/// Classes of numbers.
const NAN: i32 = 0x81;
const MINUS_ZERO: i32 = 0x04;
const DENORMAL: i32 = 0x20;
const INFINITE: i32 = 0x18;

/// What only this level has.
impl Avx512 {
    lanes! {
        /// `a * b + c` rounded up.
        pub fma_up(a: __m512, b: __m512, c: __m512) -> __m512 = _mm512_fmadd_round_ps::<UP>(a, b, c);
        /// `a + b` rounded up.
        pub add_up(a: __m512, b: __m512) -> __m512 = _mm512_add_round_ps::<UP>(a, b);
        /// `a + b` rounded toward zero.
        pub add_cut(a: __m512, b: __m512) -> __m512 = _mm512_add_round_ps::<CUT>(a, b);
        /// The reciprocal to 14 bits.
        pub near_reciprocal(a: __m512) -> __m512 = _mm512_rcp14_ps(a);
        /// The nearest integers.
        pub to_int(a: __m512) -> __m512i = _mm512_cvtps_epi32(a);
        /// The integers toward zero.
        pub to_int_cut(a: __m512) -> __m512i = _mm512_cvttps_epi32(a);
        /// The sign bits inverted.
        pub negative(a: __m512) -> __m512 = _mm512_xor_ps(a, _mm512_set1_ps(-0.0));
        /// Denormals.
        pub is_denormal(a: __m512) -> __mmask16 = _mm512_fpclass_ps_mask::<DENORMAL>(a);
        /// NaN and denormals.
        pub is_nan_or_denormal(a: __m512) -> __mmask16 = _mm512_fpclass_ps_mask::<{ NAN | DENORMAL }>(a);
        /// NaN, -0 and denormals.
        pub is_irregular(a: __m512) -> __mmask16 = _mm512_fpclass_ps_mask::<{ NAN | MINUS_ZERO | DENORMAL }>(a);
        /// NaN, -0, denormals and infinities.
        pub is_irregular_or_infinite(a: __m512) -> __mmask16
            = _mm512_fpclass_ps_mask::<{ NAN | MINUS_ZERO | DENORMAL | INFINITE }>(a);
        /// Lanes where the unsigned `a` is smaller.
        pub below_unsigned(a: __m512i, b: __m512i) -> __mmask16 = _mm512_cmplt_epu32_mask(a, b);
        /// The larger unsigned integer.
        pub max_unsigned(a: __m512i, b: __m512i) -> __m512i = _mm512_max_epu32(a, b);
        /// Lanes that have any of the bits.
        pub any_bit(a: __m512i, bits: __m512i) -> __mmask16 = _mm512_test_epi32_mask(a, bits);
        /// Rotated left by one bit.
        pub rotated(a: __m512i) -> __m512i = _mm512_rol_epi32::<1>(a);
        /// Lanes where the number `a` is smaller.
        pub less_float(a: __m512, b: __m512) -> __mmask16 = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b);
        /// Lanes where the number `a` is not larger.
        pub at_most(a: __m512, b: __m512) -> __mmask16 = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, b);
        /// The smaller number; the second one if either is NaN.
        pub min_float(a: __m512, b: __m512) -> __m512 = _mm512_min_ps(a, b);
        /// The larger number; the second one if either is NaN.
        pub max_float(a: __m512, b: __m512) -> __m512 = _mm512_max_ps(a, b);
        /// NaN.
        pub is_nan(a: __m512) -> __mmask16 = _mm512_fpclass_ps_mask::<NAN>(a);
        /// The smaller signed integer.
        pub min_signed(a: __m512i, b: __m512i) -> __m512i = _mm512_min_epi32(a, b);
        /// `down` with the lowest bit of `up` set in it.
        pub round_to_odd(down: __m512i, up: __m512i) -> __m512i
            = _mm512_ternarylogic_epi32::<0xf8>(down, up, _mm512_set1_epi32(1));
    }

    /// Stores a mask's lanes side by side; returns their number.
    ///
    /// The whole vector must have room.
    #[inline(always)]
    pub fn compress(mask: __mmask16, words: __m512i, to: &mut [u32]) -> usize {
        // SAFETY: callers are compiled for this level, hence the CPU has the instruction.
        Self::store(unsafe { _mm512_maskz_compress_epi32(mask, words) }, to);
        mask.count_ones() as usize
    }
}
