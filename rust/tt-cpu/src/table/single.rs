//! Lookups with vectors of 128 bits.
//!
//! Loads of one half each, inserted into vectors.
//!
//! An insertion loads by itself, so that a result costs two steps besides those that take its pattern from a word of
//! four.

use std::arch::x86_64::{
    __m128i, _mm_cvtsi32_si128, _mm_insert_epi16, _mm_setzero_si128, _mm_storeu_si128, _mm_stream_si128,
};

use super::{HalfTable, Page, ask, later};

/// Bytes of a vector.
const VECTOR: usize = 16;
/// Vectors of a line of the caches. Past them, lines are written as a whole.
const LINE: usize = 4;
/// Words of a vector.
const WORDS: usize = 4;

/// Results for the eight patterns of 16 bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub fn eight(table: &HalfTable, from: &[u8; VECTOR]) -> __m128i {
    let (words, _) = from.as_chunks();
    let (low, high) = (u64::from_le_bytes(words[0]), u64::from_le_bytes(words[1]));
    let result = |patterns: u64| i32::from(table.get(patterns as u16));
    let vector = _mm_cvtsi32_si128(result(low));
    let vector = _mm_insert_epi16::<1>(vector, result(low >> 16));
    let vector = _mm_insert_epi16::<2>(vector, result(low >> 32));
    let vector = _mm_insert_epi16::<3>(vector, result(low >> 48));
    let vector = _mm_insert_epi16::<4>(vector, result(high));
    let vector = _mm_insert_epi16::<5>(vector, result(high >> 16));
    let vector = _mm_insert_epi16::<6>(vector, result(high >> 32));
    _mm_insert_epi16::<7>(vector, result(high >> 48))
}

/// With `PAST` past the caches, which asks for an address of whole vectors.
#[inline]
#[target_feature(enable = "avx2")]
fn store<const PAST: bool>(to: &mut [u8; VECTOR], vector: __m128i) {
    let to: *mut __m128i = to.as_mut_ptr().cast();
    if PAST {
        assert!(to.is_aligned(), "stores past the caches need whole vectors");
        // SAFETY: the array is as long as the vector and, as asserted, aligned like one.
        unsafe { _mm_stream_si128(to, vector) };
    } else {
        // SAFETY: the array is as long as the vector; the store takes any alignment.
        unsafe { _mm_storeu_si128(to, vector) };
    }
}

/// All but a rest of each page.
///
/// The result divides the bytes that are done.
#[target_feature(enable = "avx2")]
pub fn halves<const PAST: bool>(table: &HalfTable, pages: &mut [Page<'_, '_>]) -> usize {
    for page in 0..pages.len() {
        let (later, offset) = later(pages, page);
        let (input, output) = &mut pages[page];
        let (from, _) = input.as_chunks().0.as_chunks::<LINE>();
        let (to, _) = output.as_chunks_mut().0.as_chunks_mut::<LINE>();
        for (at, (to, from)) in to.iter_mut().zip(from).enumerate() {
            ask(later, offset + at * LINE * VECTOR);
            for (to, from) in to.iter_mut().zip(from) {
                store::<PAST>(to, eight(table, from));
            }
        }
    }
    LINE * VECTOR
}

/// Words done: all but a rest shorter than a vector.
#[target_feature(enable = "avx2")]
pub fn upper_halves(table: &HalfTable, words: &mut [u32]) -> usize {
    let (words, _) = words.as_chunks_mut::<WORDS>();
    for words in &mut *words {
        let result = |word: u32| i32::from(table.get((word >> 16) as u16));
        let vector = _mm_insert_epi16::<1>(_mm_setzero_si128(), result(words[0]));
        let vector = _mm_insert_epi16::<3>(vector, result(words[1]));
        let vector = _mm_insert_epi16::<5>(vector, result(words[2]));
        let vector = _mm_insert_epi16::<7>(vector, result(words[3]));
        // SAFETY: the array is as long as the vector; the store takes any alignment.
        unsafe { _mm_storeu_si128(words.as_mut_ptr().cast(), vector) };
    }
    words.len() * WORDS
}
