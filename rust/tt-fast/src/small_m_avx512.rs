//! Products of few rows with AVX-512 dot products, on unpacked pages.
//!
//! Block floats are decoded to registers, as `permutes` decodes them to memory, but magnitudes
//! of 7 bits are looked up in tables of 128 entries, and datums of 4 bits are first brought together by columns, so
//! that pairs of two rows are one shift away. On Zen 5, which comes here, a permute of two registers takes as long as
//! one of one. Of one row or two, several columns of such tiles are multiplied at a time, for the sums of a single
//! column would wait for each other.
#[allow(clippy::wildcard_imports, reason = "two dozen intrinsics of one family")]
use std::arch::x86_64::*;
use std::hint::black_box;

use tt_cpu::stream;

use super::dot::pairs;
use super::pack_avx512::pair_rows;
use super::{Bf16Page, LINES, Line};
use tt_tensix::unpack::block_float::permutes::{GROUPS, OR_AND, ORDERS, Shifts, WORDS, exponent_shifts, load, word};

/// Pages that are multiplied, one per column, and later ones.
pub type Pages<'a> = (&'a [&'a [u8]], &'a [&'a [u8]]);

/// Sums of all columns, their lines, and the first added to.
pub type Columns<'a> = (&'a mut [Line], usize, usize);

/// `a | b & !c`, as the truth table of a ternary step.
const OR_AND_NOT: i32 = 0xf4;

/// Pairs of steps along K of a tile.
const PAIRS: usize = 16;

/// Low and high bytes of the patterns of magnitudes, see `permutes`.
static BYTES: [[[u8; 64]; 2]; 2] = {
    let mut table = [[[0; 64]; 2]; 2];
    let mut magnitude = 0;
    while magnitude < 128 {
        let [low, high] = word(magnitude).to_le_bytes();
        let place = (magnitude as usize / 64, magnitude as usize % 64);
        table[0][place.0][place.1] = low;
        table[1][place.0][place.1] = high;
        magnitude += 1;
    }
    table
};

/// Where the bytes of eight rows of 4-bit datums come from so that those of two columns are together.
static TOGETHER: [u8; 64] = {
    let mut places = [0; 64];
    let mut place = 0;
    while place < 64 {
        places[place] = (place % 8 * 8 + place / 8) as u8;
        place += 1;
    }
    places
};

/// For each pair of these rows, the bits from which on a datum is found: for each of both columns, the even row and the
/// odd one, each for the lower byte of a word. The upper one may be anything.
static SHIFTS: [[u8; 64]; 4] = {
    let mut shifts = [[0; 64]; 4];
    let mut byte = 0;
    while byte < 256 {
        let (pair, place) = (byte / 64, byte % 8 / 2);
        shifts[pair][byte % 64] = (pair * 16 + place % 2 * 8 + place / 2 * 4) as u8;
        byte += 1;
    }
    shifts
};

/// Sums of some columns in registers, from memory. Not a function: of an array that another one sees, the compiler
/// keeps a copy in memory all the time.
macro_rules! load_sums {
    ($rows:ident, $columns:ident, ($sums:expr, $lines:expr, $first:expr)) => {{
        let mut sum = [[[_mm512_setzero_ps(); 2]; $rows]; $columns];
        for column in 0..$columns {
            let lines: &[[Line; 2]; $rows] =
                $sums[column * $lines + $first..].as_chunks::<2>().0.first_chunk().expect("sums");
            for row in 0..$rows {
                for half in 0..2 {
                    sum[column][row][half] = _mm512_castsi512_ps(load(bytemuck::must_cast_ref(&lines[row][half])));
                }
            }
        }
        sum
    }};
}

/// The same back to memory.
macro_rules! store_sums {
    ($rows:ident, $columns:ident, ($sums:expr, $lines:expr, $first:expr), $sum:ident) => {
        for column in 0..$columns {
            let lines: &mut [[Line; 2]; $rows] =
                $sums[column * $lines + $first..].as_chunks_mut::<2>().0.first_chunk_mut().expect("sums");
            for row in 0..$rows {
                for half in 0..2 {
                    // SAFETY: the line is as long as the store, and has its alignment.
                    unsafe { _mm512_store_ps(lines[row][half].0.as_mut_ptr().cast(), $sum[column][row][half]) };
                }
            }
        }
    };
}

/// A pair of numbers of the left operand for all columns.
#[inline]
#[target_feature(enable = "avx512f")]
fn spread(line: &Line, pair: usize) -> __m512bh {
    pairs(_mm512_set1_epi32(line.0[pair] as i32))
}

/// See `SmallM::step`, for pages of BF16.
///
/// One column at a time: memory sets the pace, and is quickest if it is asked for line by line in its order.
///
/// # Panics
/// If a page is shorter than a tile.
#[allow(clippy::needless_range_loop, reason = "the compiler finds registers for arrays that are indexed by constants")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
pub fn pages<const ROWS: usize>(
    left: &[Line],
    (pages, soon): Pages<'_>,
    mask: u32,
    (sums, lines, first): Columns<'_>,
) -> bool {
    const COLUMNS: usize = 1;
    let left: &[Line; ROWS] = left.first_chunk().expect("rows");
    let mask = _mm512_set1_epi32(mask as i32);
    for (column, (page, sums)) in pages.iter().zip(sums.chunks_mut(lines)).enumerate() {
        // Of what it sees to be the same for all columns, the compiler would keep copies in memory.
        let left = black_box(left);
        let page: &Bf16Page = page.first_chunk().expect("a tile");
        let page: &[[u8; 64]; LINES] = bytemuck::must_cast_ref(page);
        let soon = soon.get(column).copied().unwrap_or_default();
        let share = soon.len().div_ceil(PAIRS * stream::LINE);
        let mut sum = load_sums!(ROWS, COLUMNS, (sums, lines, first));
        // Not unrolled: pages come from memory quicker so. The CPU tells loads apart by their instructions; those of
        // unrolled loops go in steps of whole pages, which presumably makes it fetch what nobody asks for.
        for pair in 0..black_box(PAIRS) {
            for line in pair * share..(pair + 1) * share {
                stream::prefetch(soon, line * stream::LINE);
            }
            // Faces 0 and 1 have the first 8.
            let (pair, line) = (pair % PAIRS, pair % PAIRS + pair / 8 % 2 * 8);
            let near = pairs(_mm512_and_si512(pair_rows(load(&page[line])), mask));
            let far = pairs(_mm512_and_si512(pair_rows(load(&page[line + 8])), mask));
            for row in 0..ROWS {
                let left = spread(&left[row], pair);
                sum[0][row][0] = _mm512_dpbf16_ps(sum[0][row][0], left, near);
                sum[0][row][1] = _mm512_dpbf16_ps(sum[0][row][1], left, far);
            }
        }
        store_sums!(ROWS, COLUMNS, (sums, lines, first), sum);
    }
    true
}

/// See `SmallM::step`, for block floats of `BITS` bits.
///
/// # Panics
/// If a page is shorter than a tile.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16,avx512vbmi,gfni")]
pub fn blocks<const BITS: usize, const ROWS: usize, const COLUMNS: usize>(
    left: &[Line],
    (pages, soon): Pages<'_>,
    mask: u32,
    (sums, lines, first): Columns<'_>,
) -> bool {
    let left: &[Line; ROWS] = left.first_chunk().expect("rows");
    // Each page beside one that comes later, if there is one.
    let later = |place: usize| soon.get(place).copied().unwrap_or(pages[place]);
    let whole = pages.len() / COLUMNS * COLUMNS;
    let mut plain = true;
    for place in (0..whole).step_by(COLUMNS) {
        let some: &[&[u8]; COLUMNS] = pages[place..].first_chunk().expect("columns");
        let mut soon = *some;
        for (column, soon) in soon.iter_mut().enumerate() {
            *soon = later(place + column);
        }
        let sums = (&mut sums[place * lines..], lines, first);
        plain &= block::<BITS, ROWS, COLUMNS>(left, some, &soon, mask, sums);
    }
    for place in whole..pages.len() {
        let sums = (&mut sums[place * lines..], lines, first);
        plain &= block::<BITS, ROWS, 1>(left, &[pages[place]], &[later(place)], mask, sums);
    }
    plain
}

/// Block floats of some columns.
#[inline]
#[allow(clippy::needless_range_loop, reason = "as in `pages`")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16,avx512vbmi,gfni")]
fn block<const BITS: usize, const ROWS: usize, const COLUMNS: usize>(
    left: &[Line; ROWS],
    pages: &[&[u8]; COLUMNS],
    soon: &[&[u8]; COLUMNS],
    mask: u32,
    (sums, lines, first): Columns<'_>,
) -> bool {
    let mut shifts = [const { Shifts([0; GROUPS]) }; COLUMNS];
    let mut plain = true;
    let mut tiles: [&[[u8; 64]]; COLUMNS] = [&[]; COLUMNS];
    for column in 0..COLUMNS {
        let (exponents, datums) = pages[column].split_first_chunk::<GROUPS>().expect("a tile");
        let datums = &datums[..128 * BITS];
        plain &= exponent_shifts::<BITS>(exponents, datums, &mut shifts[column]);
        tiles[column] = datums.as_chunks().0;
    }
    if !plain {
        return false;
    }
    // As in `pages`.
    let (left, shifts) = (black_box(left), black_box(&shifts));
    let mut sum = load_sums!(ROWS, COLUMNS, (sums, lines, first));
    let mut odd = _mm512_setzero_si512();
    if BITS == 8 {
        let (low, high) = (&BYTES[0], &BYTES[1]);
        // The bits that the mask clears are in the low byte.
        let mask = _mm512_set1_epi8(mask as i8);
        let (low, more_low) = (_mm512_and_si512(load(&low[0]), mask), _mm512_and_si512(load(&low[1]), mask));
        let (high, more_high) = (load(&high[0]), load(&high[1]));
        let (order, sign) = (load(&ORDERS[1]), _mm512_set1_epi8(i8::MIN));
        for part in 0..black_box(8) {
            let part = part % 8;
            // Faces have four lines, and those of a half lie side by side.
            let (line, group) = (part + part / 4 * 4, part / 4 * 32 + part % 4 * 4);
            for column in 0..COLUMNS {
                stream::prefetch(soon[column], 64 * (part * 2));
                stream::prefetch(soon[column], 64 * (part * 2 + 1));
                let mut words = [[_mm512_setzero_si512(); 2]; 2];
                for side in 0..2 {
                    let datums = load(&tiles[column][line + side * 4]);
                    // A negative zero stands for minus infinity. As a signed byte it is the least of all.
                    odd = _mm512_min_epi8(odd, datums);
                    let datums = _mm512_permutexvar_epi8(order, datums);
                    let low = _mm512_permutex2var_epi8(low, datums, more_low);
                    let high = _mm512_permutex2var_epi8(high, datums, more_high);
                    let high = _mm512_ternarylogic_epi32::<OR_AND>(high, datums, sign);
                    words[side] = [_mm512_unpacklo_epi8(low, high), _mm512_unpackhi_epi8(low, high)];
                }
                for pair in 0..2 {
                    let near = shifted(words[0][pair], &shifts[column], group + 2 * pair);
                    let far = shifted(words[1][pair], &shifts[column], group + 16 + 2 * pair);
                    for row in 0..ROWS {
                        let left = spread(&left[row], part * 2 + pair);
                        sum[column][row][0] = _mm512_dpbf16_ps(sum[column][row][0], left, near);
                        sum[column][row][1] = _mm512_dpbf16_ps(sum[column][row][1], left, far);
                    }
                }
            }
        }
        plain = _mm512_cmpeq_epi8_mask(odd, sign) == 0;
    } else {
        let table = _mm512_and_si512(load(bytemuck::must_cast_ref(&WORDS)), _mm512_set1_epi32(mask as i32));
        let bits = [load(&SHIFTS[0]), load(&SHIFTS[1]), load(&SHIFTS[2]), load(&SHIFTS[3])];
        let (order, magnitudes) = (load(&TOGETHER), _mm512_set1_epi8(0x77));
        for part in 0..black_box(4) {
            let part = part % 4;
            let (line, group) = (part + part / 2 * 2, part / 2 * 32 + part % 2 * 8);
            for column in 0..COLUMNS {
                stream::prefetch(soon[column], 64 * (part * 2));
                stream::prefetch(soon[column], 64 * (part * 2 + 1));
                let mut datums = [_mm512_setzero_si512(); 2];
                for side in 0..2 {
                    let rows = load(&tiles[column][line + side * 2]);
                    // To a sign without a magnitude, and to no other, adding 7 carries nothing.
                    let carried = _mm512_add_epi8(_mm512_and_si512(rows, magnitudes), magnitudes);
                    odd = _mm512_ternarylogic_epi32::<OR_AND_NOT>(odd, rows, carried);
                    datums[side] = _mm512_permutexvar_epi8(order, rows);
                }
                for pair in 0..4 {
                    let near = _mm512_permutexvar_epi16(_mm512_multishift_epi64_epi8(bits[pair], datums[0]), table);
                    let far = _mm512_permutexvar_epi16(_mm512_multishift_epi64_epi8(bits[pair], datums[1]), table);
                    let near = shifted(near, &shifts[column], group + 2 * pair);
                    let far = shifted(far, &shifts[column], group + 16 + 2 * pair);
                    for row in 0..ROWS {
                        let left = spread(&left[row], part * 4 + pair);
                        sum[column][row][0] = _mm512_dpbf16_ps(sum[column][row][0], left, near);
                        sum[column][row][1] = _mm512_dpbf16_ps(sum[column][row][1], left, far);
                    }
                }
            }
        }
        plain = _mm512_test_epi8_mask(odd, _mm512_set1_epi8(0x88_u8 as i8)) == 0;
    }
    for column in 0..COLUMNS {
        stream::prefetch(soon[column], 128 * BITS);
    }
    store_sums!(ROWS, COLUMNS, (sums, lines, first), sum);
    plain
}

/// Pairs from the table with the exponents of their groups, of which the first is given; see `permutes`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn shifted(words: __m512i, shifts: &Shifts, group: usize) -> __m512bh {
    let pair = u32::from(shifts.0[group] as u16) | u32::from(shifts.0[group + 1] as u16) << 16;
    pairs(_mm512_subs_epu16(words, _mm512_set1_epi32(pair as i32)))
}
