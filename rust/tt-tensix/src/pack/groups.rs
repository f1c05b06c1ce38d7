//! Block floats with instructions that the compiler does not find.
//!
//! The largest exponent of a group comes to all of its datums in four steps, two groups at a time.
#[allow(clippy::wildcard_imports, reason = "two dozen intrinsics of one family")]
use std::arch::x86_64::*;

use tt_formats::format::GROUP;

use crate::regs::TILE_DATUMS;

/// Datums of a vector.
const DATUMS: usize = 32;
const EXPONENTS: usize = TILE_DATUMS / GROUP;

/// A BF16 tile as block floats of `BITS`.
///
/// As `tt_formats::block::pack_bfp_b` makes them.
///
/// # Panics
/// If `l1` is not a tile.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub fn pack_bfp_b<const BITS: usize>(values: &[u16; TILE_DATUMS], l1: &mut [u8]) {
    assert!(BITS == 8 || BITS == 4);
    let (exponents, datums) = l1.split_first_chunk_mut::<EXPONENTS>().expect("a tile");
    let bytes = DATUMS * BITS / 8;
    let datums = &mut datums[..TILE_DATUMS * BITS / 8];
    let (ones, seven, eight) = (_mm512_set1_epi16(1), _mm512_set1_epi16(0x7f), _mm512_set1_epi16(0x80));
    let kept = _mm512_set1_epi16(0x7f << (8 - BITS) & 0x7f);
    for (at, values) in values.as_chunks::<DATUMS>().0.iter().enumerate() {
        // SAFETY: the array is as long as the load, which takes any alignment.
        let values = unsafe { _mm512_loadu_si512(values.as_ptr().cast()) };
        let own = _mm512_and_si512(_mm512_srli_epi16::<7>(values), _mm512_set1_epi16(0xff));
        let most = _mm512_max_epu16(own, _mm512_shuffle_i64x2::<0b10_11_00_01>(own, own));
        let most = _mm512_max_epu16(most, _mm512_shuffle_epi32::<0b01_00_11_10>(most));
        let most = _mm512_max_epu16(most, _mm512_shuffle_epi32::<0b10_11_00_01>(most));
        let most = _mm512_max_epu16(most, _mm512_rol_epi32::<16>(most));
        exponents[2 * at] = _mm_cvtsi128_si32(_mm512_castsi512_si128(most)) as u8;
        exponents[2 * at + 1] = _mm_cvtsi128_si32(_mm512_extracti32x4_epi32::<2>(most)) as u8;
        // Half a unit is added after the shift, as there. Shifts by 16 and more leave nothing.
        let significand = _mm512_and_si512(values, seven);
        let significand = _mm512_mask_add_epi16(significand, _mm512_test_epi16_mask(own, own), significand, eight);
        let aligned = _mm512_srlv_epi16(significand, _mm512_sub_epi16(most, own));
        let rounded = _mm512_srli_epi16::<1>(_mm512_add_epi16(aligned, ones));
        let magnitude = _mm512_and_si512(_mm512_min_epu16(rounded, seven), kept);
        let sign = _mm512_and_si512(_mm512_srli_epi16::<8>(values), eight);
        let datum = _mm512_maskz_add_epi16(_mm512_test_epi16_mask(magnitude, magnitude), magnitude, sign);
        let packed = _mm512_cvtepi16_epi8(datum);
        let to = &mut datums[at * bytes..][..bytes];
        if BITS == 8 {
            let to: &mut [u8; DATUMS] = to.try_into().expect("as many bytes as datums");
            // SAFETY: the array is as long as the store, which takes any alignment.
            unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), packed) };
        } else {
            // The first of two datums is the lower one.
            let lower = _mm256_and_si256(_mm256_srli_epi16::<4>(packed), _mm256_set1_epi16(0x0f));
            let upper = _mm256_and_si256(_mm256_srli_epi16::<8>(packed), _mm256_set1_epi16(0xf0));
            let pairs = _mm256_cvtepi16_epi8(_mm256_or_si256(lower, upper));
            let to: &mut [u8; DATUMS / 2] = to.try_into().expect("a byte for two datums");
            // SAFETY: as above.
            unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), pairs) };
        }
    }
}
