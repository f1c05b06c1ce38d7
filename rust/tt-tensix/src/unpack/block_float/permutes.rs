//! Block floats to BF16 with permutes (AVX-512 VBMI, GFNI).
//!
//! A magnitude of 7 bits becomes BF16 in two bytes: up to 63 they are looked up, from 64 on they follow by a shift, so
//! that a table has the 64 entries of a single permute. A datum of 4 bits looks its BF16 up as a whole. The exponents
//! in the tables are the largest possible, from which those of the groups take away: a zero cannot become less than
//! zero.
//!
//! Lines of 32 BF16 are either in the order of the page or with the datums of two rows interleaved, as AMX takes the
//! right operand.
use std::arch::asm;
#[allow(clippy::wildcard_imports, reason = "three dozen intrinsics of one family")]
use std::arch::x86_64::*;
use std::hint::black_box;
use std::sync::OnceLock;

use super::{Interleave, PARTS};
use crate::each_part;
use crate::regs::Bf16Page;

/// Exponents of a tile, and datums of a vector.
pub const GROUPS: usize = 64;

/// Cache lines of a tile with datums of 8 bits, and of 4.
const BYTE_LINES: usize = 17;
const HALF_LINES: usize = 9;

/// Exponent field of magnitude 1 in the tables: the largest with which that of magnitude 127 is a number's. It is even,
/// so that in the lower byte of magnitudes from 64 on, six binades higher, the exponent's last bit is clear.
const TABLE_EXPONENT: u16 = 248;

/// What the group's exponent is subtracted from to give the power of two that the table has too much: with 6 bits after
/// the point, exponent `e` stands for `e - 6` at the lowest bit.
const LARGEST: i16 = TABLE_EXPONENT as i16 + 6;

/// Exponents whose groups have normal numbers only.
const NORMAL: std::ops::RangeInclusive<u8> = 8..=253;

/// `a | b & c`, as the truth table of a ternary step.
pub const OR_AND: i32 = 0xf8;

/// `a & (b | !c)`.
const AND_OR_NOT: i32 = 0xd0;

/// `b` where `c` is set, elsewhere `!a`.
const OTHER_OR_NOT: i32 = 0x8d;

/// The BF16 pattern of a magnitude of 7 bits.
pub const fn word(magnitude: u16) -> u16 {
    if magnitude == 0 {
        return 0;
    }
    let lead = magnitude.ilog2() as u16;
    (TABLE_EXPONENT + lead) << 7 | (magnitude << (7 - lead)) & 0x7f
}

/// Low bytes of the patterns of magnitudes below 64, and what [`HIGH`] differs from their high bytes in. From 64 on, high
/// bytes are [`HIGH`]; they differ in nothing.
static BYTES: [[u8; 64]; 2] = {
    let mut table = [[0; 64]; 2];
    let mut magnitude = 0;
    while magnitude < 64 {
        let [low, high] = word(magnitude).to_le_bytes();
        table[0][magnitude as usize] = low;
        table[1][magnitude as usize] = high ^ HIGH;
        magnitude += 1;
    }
    table
};

/// The high byte of magnitudes from 64 on. All bits but the sign are set: to differ from it is to be inverted.
const HIGH: u8 = (word(64) >> 8) as u8;
const _: () = assert!(HIGH == 0x7f && word(127) >> 8 == 0x7f);

/// The patterns of datums of 4 bits.
///
/// A permute of words looks at 5 bits; the fifth may be anything.
pub static WORDS: [u16; 32] = {
    let mut table = [0; 32];
    let mut datum = 0;
    while datum < 32 {
        table[datum as usize] = word((datum & 7) << 4) | (datum & 8) << 12;
        datum += 1;
    }
    table
};

/// Source positions of a vector's bytes before interleaving.
///
/// Interleaving each 16 of them with a second table makes lines.
pub static ORDERS: [[u8; 64]; 2] = {
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

/// For each word of a line, the byte of its two rows of 4-bit datums that has its datum in one half, and the bits
/// below.
static HALVES: [([u8; 64], [u16; 32]); 2] = {
    let mut halves = [([0; 64], [0; 32]); 2];
    let mut place = 0;
    while place < 32 {
        let places = [(place / 16, place % 16), (place % 2, place / 2)];
        let mut pairs = 0;
        while pairs < 2 {
            let (row, column) = places[pairs];
            halves[pairs].0[2 * place] = (row * 8 + column / 2) as u8;
            halves[pairs].1[place] = (column % 2 * 4) as u16;
            pairs += 1;
        }
        place += 1;
    }
    halves
};

/// Exponent corrections of each group, in place.
///
/// In two cache lines: a store that crosses one is slow to read back.
#[repr(align(64))]
pub struct Shifts(pub [i16; GROUPS]);

/// Returns true if this CPU has the instructions.
///
/// Only then may the functions of this module be called.
pub fn available() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| {
        std::arch::is_x86_feature_detected!("avx512vbmi")
            && std::arch::is_x86_feature_detected!("gfni")
            && std::arch::is_x86_feature_detected!("avx512bw")
            && std::arch::is_x86_feature_detected!("avx512vl")
    })
}

/// Decodes a tile of `BITS` bits per datum.
///
/// False if it has patterns that are not plain numbers; `page` is then meaningless.
///
/// # Panics
/// If `l1` is shorter than a tile.
///
/// # Safety
/// See [`available`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub fn page<const BITS: usize>(l1: &[u8], page: &mut Bf16Page) -> bool {
    tile::<BITS, false, ()>(l1, u32::MAX, page, &mut ())
}

/// Loads a cache line.
///
/// # Safety
/// See [`available`].
#[inline]
#[target_feature(enable = "avx512f")]
pub fn load(line: &[u8; 64]) -> __m512i {
    // SAFETY: the array is as long as the load, which takes any alignment.
    unsafe { _mm512_loadu_si512(line.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn store(out: &mut Bf16Page, place: usize, line: __m512i) {
    let to: &mut [u8; 64] = out[place..].first_chunk_mut().expect("32 lines");
    // SAFETY: the array is as long as the store, which takes any alignment.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), line) };
}

/// Decodes a tile of `BITS`-bit datums to masked BF16 lines.
///
/// Two datums at a time masked by `mask`: in the order of the page, or in `PAIRS` of two rows. False if it has patterns
/// that are not plain numbers; `out` is then meaningless. What is interleaved is done in either case.
///
/// # Panics
/// If `l1` is shorter than a tile.
///
/// # Safety
/// See [`available`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
pub fn tile<const BITS: usize, const PAIRS: bool, B: Interleave>(
    l1: &[u8],
    mask: u32,
    out: &mut Bf16Page,
    beside: &mut B,
) -> bool {
    let (exponents, l1) = l1.split_first_chunk::<GROUPS>().expect("a tile");
    let l1 = &l1[..16 * GROUPS * BITS / 8];
    let mut shifts = Shifts([0; GROUPS]);
    if !exponent_shifts::<BITS>(exponents, l1, &mut shifts) {
        (0..PARTS).for_each(|part| beside.part::<BYTE_LINES>(part));
        return false;
    }
    // Left in memory, each is read as often as there are datums in a vector; the compiler would rather permute, on the
    // execution port that everything here waits for.
    let shifts = black_box(&shifts);
    if BITS == 8 {
        bytes::<PAIRS, B>(l1, mask, out, beside, shifts)
    } else {
        halves::<PAIRS, B>(l1, mask, out, beside, shifts)
    }
}

/// Where the lines of a face go. In pairs, faces 0 and 2 are columns 0 to 15, the first half of a panel.
const fn place<const PAIRS: bool>(face: usize) -> usize {
    512 * if PAIRS { face % 2 * 2 + face / 2 } else { face }
}

/// Datums of 8 bits.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn bytes<const PAIRS: bool, B: Interleave>(
    l1: &[u8],
    mask: u32,
    out: &mut Bf16Page,
    beside: &mut B,
    shifts: &Shifts,
) -> bool {
    let (low_table, high_table) = (load(&BYTES[0]), load(&BYTES[1]));
    // The mask clears the same bits in each entry, all in the low byte.
    let low_table = _mm512_and_si512(low_table, _mm512_set1_epi8(mask as i8));
    let double = _mm512_set1_epi64(doubling(mask as u8) as i64);
    let order = load(&ORDERS[usize::from(PAIRS)]);
    let (large, sign) = (_mm512_set1_epi8(64), _mm512_set1_epi8(i8::MIN));
    let mut least = _mm512_setzero_si512();
    each_part!(PART => {
            beside.part::<BYTE_LINES>(PART);
            let datums = load(l1[64 * PART..].first_chunk().expect("a tile"));
            // A negative zero stands for minus infinity. As a signed byte it is the least of all.
            least = _mm512_min_epi8(least, datums);
            let datums = _mm512_permutexvar_epi8(order, datums);
            let small = _mm512_testn_epi8_mask(datums, large);
            // Of large magnitudes; their bit 6 is on its way to the exponent, whose last bit is clear.
            let low = _mm512_gf2p8affine_epi64_epi8::<0x80>(datums, double);
            let low = _mm512_mask_permutexvar_epi8(low, small, datums, low_table);
            let high = _mm512_maskz_permutexvar_epi8(small, datums, high_table);
            let high = _mm512_ternarylogic_epi32::<OTHER_OR_NOT>(high, datums, sign);
            let first = shifted::<PAIRS, { 4 * PART }>(_mm512_unpacklo_epi8(low, high), shifts);
            let second = shifted::<PAIRS, { 4 * PART + 2 }>(_mm512_unpackhi_epi8(low, high), shifts);
            let place = place::<PAIRS>(PART / 4) + PART % 4 * 128;
            store(out, place, first);
            store(out, place + 64, second);
    });
    _mm512_cmpeq_epi8_mask(least, sign) == 0
}

/// The matrix over bits that doubles a byte and cuts it by a mask. Its last byte makes the lowest bit.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn doubling(mask: u8) -> u64 {
    const WHOLE: u64 = 0x0001_0204_0810_2040;
    let rows = _mm_cvtsi128_si64(_mm_movm_epi8(u16::from(mask))) as u64;
    WHOLE & rows.swap_bytes()
}

/// Datums of 4 bits.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn halves<const PAIRS: bool, B: Interleave>(
    l1: &[u8],
    mask: u32,
    out: &mut Bf16Page,
    beside: &mut B,
    shifts: &Shifts,
) -> bool {
    let (bytes, bits) = &HALVES[usize::from(PAIRS)];
    let (bytes, bits) = (load(bytes), load(bytemuck::must_cast_ref(bits)));
    let table = _mm512_and_si512(load(bytemuck::must_cast_ref(&WORDS)), _mm512_set1_epi32(mask as i32));
    let (magnitudes, signs) = (_mm512_set1_epi8(0x77), _mm512_set1_epi8(0x88u8 as i8));
    let mut numbers = signs;
    each_part!(PART => {
        beside.part::<HALF_LINES>(PART);
        let face = PART / 4;
        if PART.is_multiple_of(2) {
            // A sign without a magnitude, to which adding 7 carries nothing, stands for minus infinity.
            let datums = load(l1[32 * PART..].first_chunk().expect("a tile"));
            let carried = _mm512_add_epi8(_mm512_and_si512(datums, magnitudes), magnitudes);
            numbers = _mm512_ternarylogic_epi32::<AND_OR_NOT>(numbers, carried, datums);
        }
        let words = |rows: __m512i| {
            let datums = _mm512_srlv_epi16(_mm512_shuffle_epi8(rows, bytes), bits);
            _mm512_permutexvar_epi16(datums, table)
        };
        let first = shifted::<PAIRS, { 4 * PART }>(words(two_rows::<{ 2 * PART }>(l1)), shifts);
        let second = shifted::<PAIRS, { 4 * PART + 2 }>(words(two_rows::<{ 2 * PART + 1 }>(l1)), shifts);
        let place = place::<PAIRS>(face) + PART % 4 * 128;
        store(out, place, first);
        store(out, place + 64, second);
    });
    _mm512_cmpneq_epi32_mask(numbers, signs) == 0
}

/// Two rows of datums of 4 bits, from row `2 * LINE` on, in each quarter of a vector. An instruction by name: the compiler
/// would rather load a vector and permute, on the execution port that everything here waits for.
#[target_feature(enable = "avx512f")]
#[inline]
fn two_rows<const LINE: usize>(l1: &[u8]) -> __m512i {
    let rows: &[u8; 16] = l1[16 * LINE..].first_chunk().expect("a tile");
    let vector;
    // SAFETY: reads the 16 bytes of the array, in any alignment.
    unsafe {
        asm!(
            "vbroadcasti32x4 {vector}, [{rows}]",
            vector = lateout(zmm_reg) vector,
            rows = in(reg) rows,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    vector
}

/// What two groups that follow each other have too much, one after the other in each pair of words. As [`two_rows`].
#[target_feature(enable = "avx512f")]
#[inline]
fn two_shifts<const GROUP: usize>(shifts: &Shifts) -> __m512i {
    const { assert!(GROUP + 1 < GROUPS) };
    let vector;
    // SAFETY: reads the 4 bytes of two of the shifts.
    unsafe {
        asm!(
            "vpbroadcastd {vector}, dword ptr [{shifts} + {place}]",
            vector = lateout(zmm_reg) vector,
            shifts = in(reg) &raw const *shifts,
            place = const 2 * GROUP,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    vector
}

/// Words from the table with the exponents of their groups. Zeros have nothing to take away.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
fn shifted<const PAIRS: bool, const GROUP: usize>(words: __m512i, shifts: &Shifts) -> __m512i {
    let shift = if PAIRS {
        two_shifts::<GROUP>(shifts)
    } else {
        let second = _mm512_set1_epi16(shifts.0[GROUP + 1]);
        _mm512_mask_mov_epi16(_mm512_set1_epi16(shifts.0[GROUP]), 0xffff_0000, second)
    };
    _mm512_subs_epu16(words, shift)
}

/// Computes the excess of each group's exponents.
///
/// False if a group that is not empty has numbers that are not normal.
///
/// # Safety
/// See [`available`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
#[inline]
pub fn exponent_shifts<const BITS: usize>(exponents: &[u8; GROUPS], datums: &[u8], shifts: &mut Shifts) -> bool {
    let vector = load(exponents);
    let above = _mm512_sub_epi8(vector, _mm512_set1_epi8(*NORMAL.start() as i8));
    let mut odd = _mm512_cmpgt_epu8_mask(above, _mm512_set1_epi8((NORMAL.end() - NORMAL.start()) as i8));
    while odd != 0 {
        let bytes = 16 * BITS / 8;
        let group = odd.trailing_zeros() as usize;
        if datums[group * bytes..][..bytes].iter().any(|&byte| byte != 0) {
            return false;
        }
        odd &= odd - 1;
    }
    let halves = [_mm512_castsi512_si256(vector), _mm512_extracti64x4_epi64::<1>(vector)];
    for (half, to) in halves.into_iter().zip(shifts.0.as_chunks_mut::<32>().0) {
        let shift = _mm512_slli_epi16::<7>(_mm512_sub_epi16(_mm512_set1_epi16(LARGEST), _mm512_cvtepu8_epi16(half)));
        // SAFETY: the array is as long as the store, which takes any alignment.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), shift) };
    }
    true
}
