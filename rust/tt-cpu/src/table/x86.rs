//! Lookups with AVX-512.
//!
//! By gathers or single loads, or for tables that are sums within the registers.

#[allow(clippy::wildcard_imports, reason = "one vocabulary: the vector instructions")]
use std::arch::x86_64::*;
use std::sync::OnceLock;
use std::time::Instant;

use super::{HalfTable, Loads, Page, ask, later, single};

/// Bytes of a vector.
const VECTOR: usize = 64;
/// Patterns that differ in their low byte: the mantissa and the lowest bit of the exponent.
const COLUMNS: usize = 256;
/// The first pattern of those from which sums are made: magnitudes from one half to two, where functions are at their
/// most regular.
const MODEL: usize = 0x3f00;
/// Fewest magnitudes in a row that must be sums. With fewer, most vectors would be looked up in vain.
const WORTHWHILE: u16 = 0x4000;
/// The sign of a pattern.
const SIGN: usize = 0x8000;
/// The odd bytes of a vector.
const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;

/// 256 bytes that permutes can look up.
type Bytes = [u8; COLUMNS];

/// A table that is a sum.
///
/// For a range of patterns, the result is `step * high byte + columns[low byte]` modulo 2^16.
///
/// Functions that treat exponent and mantissa apart are: quotients, roots, powers, changes of sign. What is outside the
/// range are denormals, infinities, and what becomes one of them.
pub struct Sum {
    step: u16,
    /// Low and high bytes.
    columns: [Bytes; 2],
    /// All but the sign if patterns of both signs are sums.
    mask: u16,
    /// The first pattern that is one, and how many there are after it.
    first: u16,
    after: u16,
}

/// Whether this CPU permutes single bytes.
fn permutes_bytes() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| {
        std::arch::is_x86_feature_detected!("avx512vbmi") && std::arch::is_x86_feature_detected!("avx512bw")
    })
}

impl Sum {
    /// The table as a sum, if it is one and useful.
    ///
    /// This CPU must have a use for that. All patterns that count as sums are compared.
    pub fn of(words: &[u16]) -> Option<Box<Self>> {
        if !permutes_bytes() {
            return None;
        }
        let step = words[MODEL + COLUMNS].wrapping_sub(words[MODEL]);
        let row = |pattern: usize| step.wrapping_mul((pattern / COLUMNS) as u16);
        let column = |pattern: usize| words[MODEL + pattern % COLUMNS].wrapping_sub(row(MODEL));
        let is_sum = |pattern: usize| words[pattern] == row(pattern).wrapping_add(column(pattern));
        let first = (0..MODEL).rev().take_while(|&pattern| is_sum(pattern)).last().unwrap_or(MODEL);
        let last = (MODEL..SIGN).take_while(|&pattern| is_sum(pattern)).last()?;
        let after = (last - first) as u16;
        let both_signs = (first..=last).all(|pattern| is_sum(SIGN | pattern));
        let mask = if both_signs { !(SIGN as u16) } else { u16::MAX };
        let byte = |place: usize| std::array::from_fn(|pattern| column(pattern).to_le_bytes()[place]);
        let sum = Self { step, columns: [byte(0), byte(1)], mask, first: first as u16, after };
        (after >= WORTHWHILE).then(|| Box::new(sum))
    }
}

/// The loads that are quicker on this host.
///
/// A gather is quicker than as many single loads where the CPU has ways of its own for it, and slower where it is taken
/// apart into small steps, by design or to mend a flaw. No CPU says which, so both are timed once, some microseconds
/// long. Their results are the same.
#[target_feature(enable = "avx512f,avx512bw")]
pub fn quicker(table: &HalfTable) -> Loads {
    static QUICKER: OnceLock<Loads> = OnceLock::new();
    *QUICKER.get_or_init(|| {
        // Values as tensors have them: of both signs and some exponents.
        let patterns = |at: usize| (0x3c00 + at * 37 % 0x0400 + at % 2 * SIGN) as u16;
        let mut input = [0; 8192];
        for (at, pattern) in input.as_chunks_mut().0.iter_mut().enumerate() {
            *pattern = patterns(at).to_le_bytes();
        }
        let mut output = [0; 8192];
        let mut time = |loads| {
            let mut page: [Page<'_, '_>; 1] = [(&input, std::hint::black_box(&mut output))];
            let start = Instant::now();
            match loads {
                Loads::Gathers => halves_by_gathers::<false>(table, &mut page),
                Loads::Single => single::halves::<false>(table, &mut page),
            };
            start.elapsed()
        };
        // The shortest of several, by turns: the first ones wait for memory, and any may be interrupted.
        let times = [(); 8].map(|()| [time(Loads::Gathers), time(Loads::Single)]);
        let shortest = |way: usize| times.iter().map(|times| times[way]).min();
        if shortest(0) <= shortest(1) { Loads::Gathers } else { Loads::Single }
    })
}

/// Results for 16 patterns in the low halves; the high halves are anything.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn gather(table: &HalfTable, patterns: __m512i) -> __m512i {
    // SAFETY: patterns are at most 65,535, each load takes the word of its pattern and the one after it, and the table
    // has one word more than patterns.
    unsafe { _mm512_i32gather_epi32::<2>(patterns, table.words.as_ptr().cast()) }
}

/// Results for the 32 patterns of a vector.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn halves_of_vector(table: &HalfTable, loads: Loads, from: &[u8; VECTOR]) -> __m512i {
    match loads {
        Loads::Gathers => gather_halves(table, load(from)),
        Loads::Single => {
            let (from, _) = from.as_chunks();
            let vector = _mm512_castsi128_si512(single::eight(table, &from[0]));
            let vector = _mm512_inserti32x4::<1>(vector, single::eight(table, &from[1]));
            let vector = _mm512_inserti32x4::<2>(vector, single::eight(table, &from[2]));
            _mm512_inserti32x4::<3>(vector, single::eight(table, &from[3]))
        }
    }
}

/// Results for 32 patterns.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn gather_halves(table: &HalfTable, patterns: __m512i) -> __m512i {
    let even = gather(table, _mm512_and_si512(patterns, _mm512_set1_epi32(0xffff)));
    let odd = gather(table, _mm512_srli_epi32::<16>(patterns));
    _mm512_mask_blend_epi16(0xaaaa_aaaa, even, _mm512_slli_epi32::<16>(odd))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(from: &[u8; VECTOR]) -> __m512i {
    // SAFETY: the array is as long as the vector; the load takes any alignment.
    unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
}

/// With `PAST` past the caches, which asks for an address of whole vectors.
#[inline]
#[target_feature(enable = "avx512f")]
fn store<const PAST: bool>(to: &mut [u8; VECTOR], vector: __m512i) {
    let to: *mut __m512i = to.as_mut_ptr().cast();
    if PAST {
        assert!(to.is_aligned(), "stores past the caches need whole vectors");
        // SAFETY: the array is as long as the vector and, as asserted, aligned like one.
        unsafe { _mm512_stream_si512(to, vector) };
    } else {
        // SAFETY: the array is as long as the vector; the store takes any alignment.
        unsafe { _mm512_storeu_si512(to, vector) };
    }
}

/// All but a rest of each page.
///
/// The result divides the bytes that are done. With `PAST` past the caches; then every output begins at a vector's
/// address.
#[target_feature(enable = "avx512f,avx512bw")]
pub fn halves<const PAST: bool>(table: &HalfTable, loads: Loads, pages: &mut [Page<'_, '_>]) -> usize {
    match (&table.sum, loads) {
        // SAFETY: a sum is made only where there are permutes of bytes.
        (Some(sum), _) => unsafe { halves_of_sum::<PAST>(table, sum, loads, pages) },
        (None, Loads::Gathers) => halves_by_gathers::<PAST>(table, pages),
        (None, Loads::Single) => single::halves::<PAST>(table, pages),
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
fn halves_by_gathers<const PAST: bool>(table: &HalfTable, pages: &mut [Page<'_, '_>]) -> usize {
    for page in 0..pages.len() {
        let (later, offset) = later(pages, page);
        let (input, output) = &mut pages[page];
        let (from, _) = input.as_chunks();
        let (to, _) = output.as_chunks_mut();
        for (at, (to, from)) in to.iter_mut().zip(from).enumerate() {
            ask(later, offset + at * VECTOR);
            store::<PAST>(to, gather_halves(table, load(from)));
        }
    }
    VECTOR
}

/// One of 256 bytes for each byte; `upper` has the highest bits of the indices.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn permute([a, b, c, d]: &[__m512i; 4], indices: __m512i, upper: u64) -> __m512i {
    let low = _mm512_permutex2var_epi8(*a, indices, *b);
    let high = _mm512_permutex2var_epi8(*c, indices, *d);
    _mm512_mask_blend_epi8(upper, low, high)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn registers(bytes: &Bytes) -> [__m512i; 4] {
    let (parts, _) = bytes.as_chunks();
    [load(&parts[0]), load(&parts[1]), load(&parts[2]), load(&parts[3])]
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn halves_of_sum<const PAST: bool>(table: &HalfTable, sum: &Sum, loads: Loads, pages: &mut [Page<'_, '_>]) -> usize {
    let all = |half: u16| _mm512_set1_epi16(half as i16);
    let (step, mask, first, after) = (all(sum.step), all(sum.mask), all(sum.first), all(sum.after));
    let columns = [registers(&sum.columns[0]), registers(&sum.columns[1])];
    for page in 0..pages.len() {
        let (later, offset) = later(pages, page);
        let (input, output) = &mut pages[page];
        let (from, _) = input.as_chunks().0.as_chunks::<2>();
        let (to, _) = output.as_chunks_mut().0.as_chunks_mut::<2>();
        for (at, (to, from)) in to.iter_mut().zip(from).enumerate() {
            ask(later, offset + 2 * at * VECTOR);
            ask(later, offset + (2 * at + 1) * VECTOR);
            let (x, y) = (load(&from[0]), load(&from[1]));
            let place = [
                _mm512_sub_epi16(_mm512_and_si512(x, mask), first),
                _mm512_sub_epi16(_mm512_and_si512(y, mask), first),
            ];
            let sums = _mm512_cmple_epu16_mask(place[0], after) & _mm512_cmple_epu16_mask(place[1], after);
            let results = if sums == u32::MAX {
                // The low bytes of both vectors, those of the first in the even places, and so for the bytes of the
                // columns.
                let low = _mm512_mask_blend_epi8(ODD, x, _mm512_slli_epi16::<8>(y));
                let upper = _mm512_movepi8_mask(low);
                let (lower, higher) = (permute(&columns[0], low, upper), permute(&columns[1], low, upper));
                let column_x = _mm512_mask_blend_epi8(ODD, lower, _mm512_slli_epi16::<8>(higher));
                let column_y = _mm512_mask_blend_epi8(ODD, _mm512_srli_epi16::<8>(lower), higher);
                let row_x = _mm512_mullo_epi16(_mm512_srli_epi16::<8>(x), step);
                let row_y = _mm512_mullo_epi16(_mm512_srli_epi16::<8>(y), step);
                [_mm512_add_epi16(row_x, column_x), _mm512_add_epi16(row_y, column_y)]
            } else {
                [halves_of_vector(table, loads, &from[0]), halves_of_vector(table, loads, &from[1])]
            };
            store::<PAST>(&mut to[0], results[0]);
            store::<PAST>(&mut to[1], results[1]);
        }
    }
    2 * VECTOR
}

/// By gathers. Words done: all but a rest shorter than a vector.
#[target_feature(enable = "avx512f,avx512bw")]
pub fn upper_halves(table: &HalfTable, words: &mut [u32]) -> usize {
    let (words, _) = words.as_chunks_mut::<16>();
    for words in &mut *words {
        let at: *mut __m512i = words.as_mut_ptr().cast();
        // SAFETY: the array is as long as the vector; load and store take any alignment.
        unsafe {
            let patterns = _mm512_srli_epi32::<16>(_mm512_loadu_si512(at));
            _mm512_storeu_si512(at, _mm512_slli_epi32::<16>(gather(table, patterns)));
        }
    }
    words.len() * 16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The magnitudes that are sums and whether they are for both signs; `None` if the table is none.
    fn range_of(result: impl Fn(u16) -> u16) -> Option<(std::ops::RangeInclusive<u16>, bool)> {
        let table: HalfTable = (0..=u16::MAX).map(result).collect();
        table.sum.map(|sum| (sum.first..=sum.first + sum.after, sum.mask >> 15 == 0))
    }

    #[test]
    fn functions_of_exponent_and_mantissa_are_sums() {
        if !permutes_bytes() {
            return;
        }
        let float = |function: fn(f32) -> f32| {
            range_of(move |pattern| (function(f32::from_bits(u32::from(pattern) << 16)).to_bits() >> 16) as u16)
        };
        assert_eq!(float(|x| -x), Some((0..=0x7fff, true)));
        // Without the operands whose quotients are denormals.
        assert_eq!(float(|x| 1.0 / x), Some((0x0080..=0x7e80, true)));
        assert_eq!(float(f32::sqrt), Some((0x0080..=0x7f7f, false)));
        assert_eq!(range_of(|pattern| pattern.wrapping_mul(pattern)), None);
        let but = |odd: u16| move |pattern: u16| pattern.wrapping_add(u16::from(pattern == odd));
        assert_eq!(range_of(but(0x1234)), Some((0x1235..=0x7fff, true)));
        assert_eq!(range_of(but(0x8000 | 0x5678)), Some((0..=0x7fff, false)));
        assert_eq!(range_of(but(0x6000)), Some((0..=0x5fff, true)));
        assert_eq!(range_of(but(0x3f80)), None);
    }
}
