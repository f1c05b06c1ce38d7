//! Tables of all 65,536 halves: a function of one bfloat16 value, looked up many values at a time.
//!
//! With AVX-512 a vector is looked up by two gathers. That is a quarter faster than single loads (benches of the engine,
//! `vector`), and 1.5 times on a tensor in memory, since the results are whole lines and can go past the caches. Values of a
//! tensor crowd in a few thousand patterns, so that what is used of a table is near.

use crate::level::Level;

/// Patterns of 16 bits.
pub const PATTERNS: usize = 1 << 16;

/// The result for every pattern.
pub struct HalfTable {
    /// One word more than there are patterns: vector loads take 32 bits at every one.
    words: Box<[u16; PATTERNS + 1]>,
}

impl std::fmt::Debug for HalfTable {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("HalfTable")
    }
}

/// Where a result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// To the caches, as usual.
    Near,
    /// Past the caches where the CPU can, as [`crate::stream::copy`] does; to be followed by [`crate::stream::finish`].
    Past,
}

impl FromIterator<u16> for HalfTable {
    /// The results in the order of the patterns.
    ///
    /// # Panics
    /// If there are not 65,536.
    fn from_iter<T: IntoIterator<Item = u16>>(results: T) -> Self {
        let mut words: Vec<u16> = results.into_iter().collect();
        assert_eq!(words.len(), PATTERNS, "a result for every pattern");
        words.push(0);
        Self { words: words.into_boxed_slice().try_into().expect("counted above") }
    }
}

impl HalfTable {
    /// The result for one pattern.
    #[inline(always)]
    pub fn get(&self, pattern: u16) -> u16 {
        self.words[usize::from(pattern)]
    }

    /// Looks up every half of `input`, little endian.
    ///
    /// # Panics
    /// If the lengths differ or are odd.
    pub fn look_up(&self, level: Level, input: &[u8], output: &mut [u8], store: Store) {
        assert_eq!(input.len(), output.len(), "bytes to look up");
        let done = match level.available() {
            // SAFETY: an available level is one that the host has.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { x86::halves_avx512(self, input, output, store) },
            _ => 0,
        };
        let _ = store;
        let ((input, rest), (output, none)) = (input[done..].as_chunks(), output[done..].as_chunks_mut());
        assert!(rest.is_empty() && none.is_empty(), "bytes of whole halves");
        for (into, from) in output.iter_mut().zip(input) {
            *into = self.get(u16::from_le_bytes(*from)).to_le_bytes();
        }
    }

    /// [`Self::look_up`] with the results in the place of the patterns.
    ///
    /// # Panics
    /// If the length is odd.
    pub fn look_up_in_place(&self, level: Level, bytes: &mut [u8]) {
        // In pieces, through a copy that stays in the first cache.
        let mut copy = [0; 4096];
        for piece in bytes.chunks_mut(copy.len()) {
            let copy = &mut copy[..piece.len()];
            copy.copy_from_slice(piece);
            self.look_up(level, copy, piece, Store::Near);
        }
    }

    /// Looks up the upper half of every word; the lower halves of the results are zero.
    pub fn look_up_upper_halves(&self, level: Level, words: &mut [u32]) {
        let done = match level.available() {
            // SAFETY: an available level is one that the host has.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { x86::upper_halves_avx512(self, words) },
            _ => 0,
        };
        for word in &mut words[done..] {
            *word = u32::from(self.get((*word >> 16) as u16)) << 16;
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #[allow(clippy::wildcard_imports, reason = "one vocabulary: the vector instructions")]
    use std::arch::x86_64::*;

    use super::{HalfTable, Store};

    /// Results for 16 patterns in the low halves; the high halves are anything.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn gather(table: &HalfTable, patterns: __m512i) -> __m512i {
        // SAFETY: patterns are at most 65,535, each load takes the word of its pattern and the one after it, and the table
        // has one word more than patterns.
        unsafe { _mm512_i32gather_epi32::<2>(patterns, table.words.as_ptr().cast()) }
    }

    /// Bytes done: all but a rest shorter than a vector.
    #[target_feature(enable = "avx512f,avx512bw")]
    pub fn halves_avx512(table: &HalfTable, input: &[u8], output: &mut [u8], store: Store) -> usize {
        let (from, _) = input.as_chunks::<64>();
        let (to, _) = output.as_chunks_mut::<64>();
        let past = store == Store::Past && to.as_ptr().addr().is_multiple_of(64);
        for (to, from) in to.iter_mut().zip(from) {
            // SAFETY: the array is as long as the vector; the load takes any alignment.
            let words = unsafe { _mm512_loadu_si512(from.as_ptr().cast()) };
            let even = gather(table, _mm512_and_si512(words, _mm512_set1_epi32(0xffff)));
            let odd = gather(table, _mm512_srli_epi32::<16>(words));
            let result = _mm512_mask_blend_epi16(0xaaaa_aaaa, even, _mm512_slli_epi32::<16>(odd));
            let to: *mut __m512i = to.as_mut_ptr().cast();
            if past {
                // SAFETY: the array is as long as the vector and, as asked above, aligned like one.
                unsafe { _mm512_stream_si512(to, result) };
            } else {
                // SAFETY: the array is as long as the vector; the store takes any alignment.
                unsafe { _mm512_storeu_si512(to, result) };
            }
        }
        from.len() * 64
    }

    /// Words done: all but a rest shorter than a vector.
    #[target_feature(enable = "avx512f,avx512bw")]
    pub fn upper_halves_avx512(table: &HalfTable, words: &mut [u32]) -> usize {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> HalfTable {
        (0..=u16::MAX).map(|pattern| pattern.wrapping_mul(40_503) ^ pattern >> 3).collect()
    }

    #[test]
    fn every_pattern_is_looked_up_at_every_level() {
        let table = table();
        let input: Vec<u8> = (0..=u16::MAX).rev().flat_map(u16::to_le_bytes).collect();
        let expected: Vec<u8> = (0..=u16::MAX).rev().flat_map(|pattern| table.get(pattern).to_le_bytes()).collect();
        for &level in Level::supported() {
            for store in [Store::Near, Store::Past] {
                // Starts and lengths that leave rests, and results at every distance from a line.
                for (start, skew) in [(0, 0), (2, 1), (62, 32), (70, 63)] {
                    let mut output = vec![0; input.len() - start + skew];
                    table.look_up(level, &input[start..], &mut output[skew..], store);
                    crate::stream::finish();
                    assert!(output[skew..] == expected[start..], "{level} {store:?} from {start}");
                }
            }
            let mut bytes = input.clone();
            table.look_up_in_place(level, &mut bytes);
            assert!(bytes == expected, "{level} in place");
            let mut words: Vec<u32> = (0..=u16::MAX).map(|pattern| u32::from(pattern) << 16 | 0x1234).collect();
            words.pop();
            table.look_up_upper_halves(level, &mut words);
            assert!((0..u16::MAX).zip(&words).all(|(pattern, &word)| word == u32::from(table.get(pattern)) << 16));
        }
    }
}
