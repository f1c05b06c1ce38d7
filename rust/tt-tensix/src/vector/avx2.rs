//! AVX2 and FMA.
//!
//! The functions are inlined into kernels compiled for the level; nothing else may use this type.
#[allow(clippy::wildcard_imports, reason = "thirty intrinsics of one family")]
use std::arch::x86_64::*;

use super::Vector;

/// 8 lanes.
#[derive(Clone, Copy)]
pub(crate) struct Avx2;

/// Wraps intrinsics that are defined for all operands and touch no memory.
macro_rules! lanes {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty = $body:expr;)*) => {$(
        #[inline(always)]
        fn $name($($argument: $type),*) -> $result {
            // SAFETY: callers are compiled for this level, hence the CPU has the instruction.
            #[allow(unused_unsafe, reason = "plain expressions are among them")]
            unsafe {
                $body
            }
        }
    )*};
}

macro_rules! shifts {
    ($($name:ident = $intrinsic:ident;)*) => {$(
        #[inline(always)]
        fn $name<const COUNT: u32>(a: __m256i) -> __m256i {
            // SAFETY: as above.
            unsafe { $intrinsic(a, _mm_cvtsi32_si128(COUNT as i32)) }
        }
    )*};
}

impl Vector for Avx2 {
    type Int = __m256i;
    type Float = __m256;
    type Mask = __m256i;
    const LANES: usize = 8;

    #[inline(always)]
    fn load(words: &[u32]) -> __m256i {
        let words: &[u32; 8] = words.first_chunk().expect("a vector's worth of words");
        // SAFETY: the array is as long as the vector; the CPU has the level, as above.
        unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
    }
    #[inline(always)]
    fn store(vector: __m256i, words: &mut [u32]) {
        let words: &mut [u32; 8] = words.first_chunk_mut().expect("a vector's worth of words");
        // SAFETY: as for `load`.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), vector) }
    }
    #[inline(always)]
    fn load_i32(words: &[i32]) -> __m256i {
        let words: &[i32; 8] = words.first_chunk().expect("a vector's worth of words");
        // SAFETY: as for `load`.
        unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
    }
    #[inline(always)]
    fn load_float(words: &[f32]) -> __m256 {
        let words: &[f32; 8] = words.first_chunk().expect("a vector's worth of words");
        // SAFETY: as for `load`.
        unsafe { _mm256_loadu_ps(words.as_ptr()) }
    }

    lanes! {
        splat(value: i32) -> __m256i = _mm256_set1_epi32(value);
        splat_float(value: f32) -> __m256 = _mm256_set1_ps(value);
        fma(a: __m256, b: __m256, c: __m256) -> __m256 = _mm256_fmadd_ps(a, b, c);
        mul_float(a: __m256, b: __m256) -> __m256 = _mm256_mul_ps(a, b);
        add_float(a: __m256, b: __m256) -> __m256 = _mm256_add_ps(a, b);
        sub_float(a: __m256, b: __m256) -> __m256 = _mm256_sub_ps(a, b);
        max_float(a: __m256, b: __m256) -> __m256 = _mm256_max_ps(a, b);
        to_bits(a: __m256) -> __m256i = _mm256_castps_si256(a);
        from_bits(a: __m256i) -> __m256 = _mm256_castsi256_ps(a);
        exact_float(a: __m256i) -> __m256 = _mm256_cvtepi32_ps(a);
        add(a: __m256i, b: __m256i) -> __m256i = _mm256_add_epi32(a, b);
        sub(a: __m256i, b: __m256i) -> __m256i = _mm256_sub_epi32(a, b);
        mul(a: __m256i, b: __m256i) -> __m256i = _mm256_mullo_epi32(a, b);
        mul_small(a: __m256i, b: __m256i) -> __m256i = _mm256_madd_epi16(a, b);
        max(a: __m256i, b: __m256i) -> __m256i = _mm256_max_epi32(a, b);
        interleave(a: __m256i, b: __m256i) -> [__m256i; 2] = {
            let (low, high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
            [_mm256_permute2x128_si256::<0x20>(low, high), _mm256_permute2x128_si256::<0x31>(low, high)]
        };
        add_halves(a: __m256i, b: __m256i) -> __m256i = _mm256_add_epi16(a, b);
        sub_halves(a: __m256i, b: __m256i) -> __m256i = _mm256_sub_epi16(a, b);
        max_halves(a: __m256i, b: __m256i) -> __m256i = _mm256_max_epi16(a, b);
        mul_halves(a: __m256i, b: __m256i) -> __m256i = _mm256_mullo_epi16(a, b);
        shr_halves_by(a: __m256i, count: __m256i) -> __m256i = shr_halves_by(a, count);
        average_halves(a: __m256i, b: __m256i) -> __m256i = _mm256_avg_epu16(a, b);
        min_unsigned(a: __m256i, b: __m256i) -> __m256i = _mm256_min_epu32(a, b);
        abs(a: __m256i) -> __m256i = _mm256_abs_epi32(a);
        and(a: __m256i, b: __m256i) -> __m256i = _mm256_and_si256(a, b);
        or(a: __m256i, b: __m256i) -> __m256i = _mm256_or_si256(a, b);
        xor(a: __m256i, b: __m256i) -> __m256i = _mm256_xor_si256(a, b);
        leading_zeros(a: __m256i) -> __m256i = leading_zeros(a);
        shl_by(a: __m256i, count: __m256i) -> __m256i = _mm256_sllv_epi32(a, count);
        shr_by(a: __m256i, count: __m256i) -> __m256i = _mm256_srlv_epi32(a, count);
        sar_by(a: __m256i, count: __m256i) -> __m256i = _mm256_srav_epi32(a, count);
        equal(a: __m256i, b: __m256i) -> __m256i = _mm256_cmpeq_epi32(a, b);
        greater(a: __m256i, b: __m256i) -> __m256i = _mm256_cmpgt_epi32(a, b);
        both(a: __m256i, b: __m256i) -> __m256i = _mm256_and_si256(a, b);
        select(mask: __m256i, yes: __m256i, no: __m256i) -> __m256i = _mm256_blendv_epi8(no, yes, mask);
        keep(mask: __m256i, value: __m256i) -> __m256i = _mm256_and_si256(mask, value);
    }

    shifts! {
        shl = _mm256_sll_epi32;
        shr = _mm256_srl_epi32;
        sar = _mm256_sra_epi32;
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
