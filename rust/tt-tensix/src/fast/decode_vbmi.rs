//! Block floats to BF16 with byte permutes (AVX-512 VBMI): a magnitude of 7 bits looks its BF16 up in 128 entries.
//!
//! A vector of 64 datums becomes two lines of 32 BF16, either in the order of the page or with the datums of two rows
//! interleaved, as AMX takes the right operand.
#[allow(clippy::wildcard_imports, reason = "two dozen intrinsics of one family")]
use std::arch::x86_64::*;
use std::sync::OnceLock;

use super::amx::{Beside, Step};
use super::{Bf16Page, Panel};

/// Exponents of a tile, and datums of a vector.
const GROUPS: usize = 64;

/// Exponent field of magnitude 1 in the table: the largest with which that of magnitude 127 is a byte.
const TABLE_EXPONENT: u16 = 249;

/// What the group's exponent is subtracted from to give the power of two that the table has too much: with 6 bits after
/// the point, exponent `e` stands for `e - 6` at the lowest bit.
const LARGEST: i16 = TABLE_EXPONENT as i16 + 6;

/// Exponents whose groups have normal numbers only.
const NORMAL: std::ops::RangeInclusive<u8> = 8..=253;

/// `a | b & c`, as the truth table of a ternary step.
const OR_AND: i32 = 0xf8;

/// Low and high bytes of the BF16 patterns of all magnitudes.
static TABLE: [[u8; 128]; 2] = {
    let mut table = [[0; 128]; 2];
    let mut magnitude = 1u16;
    while magnitude < 128 {
        let lead = magnitude.ilog2() as u16;
        let word = (TABLE_EXPONENT + lead) << 7 | (magnitude << (7 - lead)) & 0x7f;
        table[0][magnitude as usize] = word as u8;
        table[1][magnitude as usize] = (word >> 8) as u8;
        magnitude += 1;
    }
    table
};

/// Where the bytes of a vector come from so that interleaving each 16 of them with a second table gives lines.
static ORDERS: [[u8; 64]; 2] = {
    let mut orders = [[0; 64]; 2];
    let mut place = 0;
    while place < 64 {
        // Lanes of 16 bytes: the first eight go to the first line, the others to the second.
        let (lane, line, word) = (place / 16, place % 16 / 8, place % 8);
        let in_line = lane * 8 + word;
        orders[0][place] = (line * 32 + in_line) as u8;
        orders[1][place] = (line * 32 + in_line % 2 * 16 + in_line / 2) as u8;
        place += 1;
    }
    orders
};

/// Whether this CPU has the instructions.
pub fn available() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| {
        std::arch::is_x86_feature_detected!("avx512vbmi")
            && std::arch::is_x86_feature_detected!("avx512bw")
            && std::arch::is_x86_feature_detected!("avx512vl")
    })
}

/// Decodes a tile of `BITS` bits per datum. False if it has patterns that are not plain numbers; `page` is then
/// meaningless.
///
/// # Panics
/// If `l1` is shorter than a tile.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
pub fn page<const BITS: usize>(l1: &[u8], page: &mut Bf16Page) -> bool {
    tile::<BITS, false, ()>(l1, u32::MAX, page, &mut ())
}

/// Decodes a tile of the right operand to its panel, datums cut by `mask`, two at a time. Otherwise as `page`. What is done
/// beside it is done in either case.
///
/// # Panics
/// If `l1` is shorter than a tile.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
pub fn right<const BITS: usize, B: Beside>(l1: &[u8], mask: u32, panel: &mut Panel, beside: &mut B) -> bool {
    tile::<BITS, true, B>(l1, mask, bytemuck::cast_mut(&mut panel.0), beside)
}

/// The same beside a product.
///
/// # Panics
/// If `l1` is shorter than a tile.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
pub fn right_beside<const BITS: usize>(l1: &[u8], mask: u32, panel: &mut Panel, step: &mut Step<'_>) -> bool {
    right::<BITS, _>(l1, mask, panel, step)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
#[inline]
fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: the array is as long as the load, which takes any alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
#[inline]
fn store(out: &mut Bf16Page, place: usize, line: __m512i) {
    let to: &mut [u8; 64] = out[place..].first_chunk_mut().expect("32 lines");
    // SAFETY: the array is as long as the store, which takes any alignment.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), line) };
}

/// 64 datums: signs in bit 7, magnitudes in bits 6:0.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
#[inline]
fn datums<const BITS: usize>(datums: &[u8], vector: usize) -> __m512i {
    if BITS == 8 {
        return load(datums[64 * vector..].first_chunk().expect("a tile"));
    }
    let half: &[u8; 32] = datums[32 * vector..].first_chunk().expect("a tile");
    // SAFETY: as in `load`.
    let pairs = _mm512_cvtepu8_epi16(unsafe { _mm256_loadu_si256(half.as_ptr().cast()) });
    // The lower four bits come first.
    let first = _mm512_and_si512(_mm512_slli_epi16::<4>(pairs), _mm512_set1_epi16(0xf0));
    let second = _mm512_and_si512(_mm512_slli_epi16::<8>(pairs), _mm512_set1_epi16(0xf000u16 as i16));
    _mm512_or_si512(first, second)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
#[inline]
fn tile<const BITS: usize, const PAIRS: bool, B: Beside>(
    l1: &[u8],
    mask: u32,
    out: &mut Bf16Page,
    beside: &mut B,
) -> bool {
    let (exponents, l1) = l1.split_first_chunk::<GROUPS>().expect("a tile");
    let l1 = &l1[..16 * GROUPS * BITS / 8];
    let Some(shifts) = shifts::<BITS>(exponents, l1) else {
        (0..4).for_each(|face| beside.quarter(face));
        return false;
    };
    let halves = |table: &[u8; 128]| {
        let (low, high) = table.split_at(64);
        (load(low.first_chunk().expect("half")), load(high.first_chunk().expect("half")))
    };
    let (low, high) = (halves(&TABLE[0]), halves(&TABLE[1]));
    // What is cut off is the same in each entry: it is in the low byte.
    let cut = _mm512_set1_epi8(mask as i8);
    let low = (_mm512_and_si512(low.0, cut), _mm512_and_si512(low.1, cut));
    let order = load(&ORDERS[usize::from(PAIRS)]);
    let sign = _mm512_set1_epi8(i8::MIN);
    let mut least = _mm512_setzero_si512();
    for face in 0..4 {
        beside.quarter(face);
        for quarter in 0..4 {
            let vector = 4 * face + quarter;
            let datums = datums::<BITS>(l1, vector);
            // A negative zero stands for minus infinity. As a signed byte it is the least of all.
            least = _mm512_min_epi8(least, datums);
            let datums = _mm512_permutexvar_epi8(order, datums);
            let low = _mm512_permutex2var_epi8(low.0, datums, low.1);
            let high = _mm512_permutex2var_epi8(high.0, datums, high.1);
            let high = _mm512_ternarylogic_epi32::<OR_AND>(high, datums, sign);
            let first = settle::<PAIRS>(_mm512_unpacklo_epi8(low, high), &shifts, 4 * vector);
            let second = settle::<PAIRS>(_mm512_unpackhi_epi8(low, high), &shifts, 4 * vector + 2);
            // Faces 0 and 2 are columns 0 to 15, the first half of a panel.
            let place = if PAIRS { face % 2 * 2 + face / 2 } else { face } * 512 + quarter * 128;
            store(out, place, first);
            store(out, place + 64, second);
        }
    }
    _mm512_cmpeq_epi8_mask(least, sign) == 0
}

/// Words from the table with the exponents of their groups. Zeros have nothing to take away.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
#[inline]
fn settle<const PAIRS: bool>(words: __m512i, shifts: &[i16; GROUPS], group: usize) -> __m512i {
    let shift = if PAIRS {
        let pair = u32::from(shifts[group] as u16) | u32::from(shifts[group + 1] as u16) << 16;
        _mm512_set1_epi32(pair as i32)
    } else {
        let second = _mm512_set1_epi16(shifts[group + 1]);
        _mm512_mask_mov_epi16(_mm512_set1_epi16(shifts[group]), 0xffff_0000, second)
    };
    _mm512_subs_epu16(words, shift)
}

/// What each group's words have too much in their exponents, in place; `None` if a group that is not empty has numbers
/// that are not normal.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
#[inline]
fn shifts<const BITS: usize>(exponents: &[u8; GROUPS], datums: &[u8]) -> Option<[i16; GROUPS]> {
    let vector = load(exponents);
    let above = _mm512_sub_epi8(vector, _mm512_set1_epi8(*NORMAL.start() as i8));
    let mut odd = _mm512_cmpgt_epu8_mask(above, _mm512_set1_epi8((NORMAL.end() - NORMAL.start()) as i8));
    while odd != 0 {
        let bytes = 16 * BITS / 8;
        let group = odd.trailing_zeros() as usize;
        if datums[group * bytes..][..bytes].iter().any(|&byte| byte != 0) {
            return None;
        }
        odd &= odd - 1;
    }
    let mut shifts = [0; GROUPS];
    let halves = [_mm512_castsi512_si256(vector), _mm512_extracti64x4_epi64::<1>(vector)];
    for (half, to) in halves.into_iter().zip(shifts.as_chunks_mut::<32>().0) {
        let shift = _mm512_slli_epi16::<7>(_mm512_sub_epi16(_mm512_set1_epi16(LARGEST), _mm512_cvtepu8_epi16(half)));
        // SAFETY: the array is as long as the store, which takes any alignment.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), shift) };
    }
    Some(shifts)
}
