//! AVX2 and FMA.
//!
//! The functions are inlined into kernels compiled for the level; nothing else may use this type.
#[allow(clippy::wildcard_imports, reason = "thirty intrinsics of one family")]
use std::arch::x86_64::*;

use super::Vector;
use super::x86::x86_vector;

/// 8 lanes.
#[derive(Clone, Copy)]
pub struct Avx2;

x86_vector! {
    Avx2: 8, __m256i, __m256, __m256i, rounds down: false;
    memory { _mm256_loadu_si256, _mm256_storeu_si256, _mm256_loadu_ps }
    integers {
        add = _mm256_add_epi32;
        sub = _mm256_sub_epi32;
        mul = _mm256_mullo_epi32;
        mul_small = _mm256_madd_epi16;
        max = _mm256_max_epi32;
        min_unsigned = _mm256_min_epu32;
        and = _mm256_and_si256;
        or = _mm256_or_si256;
        xor = _mm256_xor_si256;
        shl_by = _mm256_sllv_epi32;
        shr_by = _mm256_srlv_epi32;
        sar_by = _mm256_srav_epi32;
        add_halves = _mm256_add_epi16;
        sub_halves = _mm256_sub_epi16;
        max_halves = _mm256_max_epi16;
        mul_halves = _mm256_mullo_epi16;
        average_halves = _mm256_avg_epu16;
        sub_bytes = _mm256_subs_epu8;
        max_bytes = _mm256_max_epu8;
    }
    floats {
        mul_float = _mm256_mul_ps;
        add_float = _mm256_add_ps;
        sub_float = _mm256_sub_ps;
    }
    shifts {
        shl = _mm256_sll_epi32;
        shr = _mm256_srl_epi32;
        sar = _mm256_sra_epi32;
    }
    others {
        splat(value: i32) -> __m256i = _mm256_set1_epi32(value);
        splat_float(value: f32) -> __m256 = _mm256_set1_ps(value);
        fma(a: __m256, b: __m256, c: __m256) -> __m256 = _mm256_fmadd_ps(a, b, c);
        to_bits(a: __m256) -> __m256i = _mm256_castps_si256(a);
        from_bits(a: __m256i) -> __m256 = _mm256_castsi256_ps(a);
        exact_float(a: __m256i) -> __m256 = _mm256_cvtepi32_ps(a);
        interleave(a: __m256i, b: __m256i) -> [__m256i; 2] = {
            let (low, high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
            [_mm256_permute2x128_si256::<0x20>(low, high), _mm256_permute2x128_si256::<0x31>(low, high)]
        };
        shr_halves_by(a: __m256i, count: __m256i) -> __m256i = shr_halves_by(a, count);
        abs(a: __m256i) -> __m256i = _mm256_abs_epi32(a);
        leading_zeros(a: __m256i) -> __m256i = leading_zeros(a);
        equal(a: __m256i, b: __m256i) -> __m256i = _mm256_cmpeq_epi32(a, b);
        greater(a: __m256i, b: __m256i) -> __m256i = _mm256_cmpgt_epi32(a, b);
        both(a: __m256i, b: __m256i) -> __m256i = _mm256_and_si256(a, b);
        select(mask: __m256i, yes: __m256i, no: __m256i) -> __m256i = _mm256_blendv_epi8(no, yes, mask);
        keep(mask: __m256i, value: __m256i) -> __m256i = _mm256_and_si256(mask, value);
    }
}

/// There is no instruction for it; the exponent of the lane as a float tells.
///
/// Lanes are not negative here. Clearing bits far below the leading one keeps the conversion from rounding up.
#[inline(always)]
fn leading_zeros(a: __m256i) -> __m256i {
    // SAFETY: as in the implementation of `Vector`.
    unsafe {
        let leading = _mm256_andnot_si256(_mm256_srli_epi32(a, 8), a);
        let exponent = _mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(leading)), 23);
        _mm256_min_epi32(_mm256_sub_epi32(_mm256_set1_epi32(158), exponent), _mm256_set1_epi32(32))
    }
}

/// Each half by its own count, for want of an instruction.
#[inline(always)]
fn shr_halves_by(a: __m256i, count: __m256i) -> __m256i {
    // SAFETY: as in the implementation of `Vector`.
    unsafe {
        let (low, high) = (_mm256_set1_epi32(0xffff), _mm256_set1_epi32(-1 << 16));
        let below = _mm256_srlv_epi32(_mm256_and_si256(a, low), _mm256_and_si256(count, low));
        let above = _mm256_srlv_epi32(_mm256_and_si256(a, high), _mm256_srli_epi32(count, 16));
        _mm256_or_si256(below, _mm256_and_si256(above, high))
    }
}
