//! Sets of bits that any thread may set and test.
//!
//! The "written?" marks of device memory.
//!
//! All accesses are relaxed. A mark is read by operations that start after the one that set it has ended; the hand-over
//! of the device between them orders the two.
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bits of a word.
const WORD: usize = 64;

/// A fixed number of bits, all clear at first, that stay set.
///
/// Large sets take host memory only where they are set.
#[derive(Debug)]
pub struct AtomicBits {
    words: Box<[AtomicU64]>,
    len: usize,
    /// All of them have been found set.
    full: AtomicBool,
}

impl AtomicBits {
    /// `len` clear bits.
    pub fn new(len: usize) -> Self {
        const { assert!(align_of::<AtomicU64>() == align_of::<u64>() && size_of::<AtomicU64>() == size_of::<u64>()) };
        // Zeroed memory comes from the host untouched; making the atomics one by one would touch it.
        let zeros = vec![0u64; len.div_ceil(WORD)].into_boxed_slice();
        let words = Box::into_raw(zeros) as *mut [AtomicU64];
        // SAFETY: `AtomicU64` has the size, bit validity and (asserted above) alignment of `u64`, so the box is valid
        // for its allocation and will be freed with the layout it was made with.
        Self { words: unsafe { Box::from_raw(words) }, len, full: AtomicBool::new(false) }
    }

    /// `len` bits that count as set, without memory for them.
    pub fn all(len: usize) -> Self {
        Self { words: Box::default(), len, full: AtomicBool::new(true) }
    }

    /// Number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are no bits at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Sets a range of bits.
    ///
    /// # Panics
    /// If the range ends beyond the last bit.
    #[inline]
    pub fn set(&self, range: Range<usize>) {
        assert!(range.end <= self.len, "bits of the set");
        if self.full.load(Ordering::Relaxed) {
            return;
        }
        for (word, mask) in masks(range) {
            if mask == u64::MAX {
                self.words[word].store(mask, Ordering::Relaxed);
            } else {
                self.words[word].fetch_or(mask, Ordering::Relaxed);
            }
        }
    }

    /// Returns true if all bits are set.
    ///
    /// Once they are, later calls read no bits: those of a large tensor would come from memory.
    pub fn is_full(&self) -> bool {
        if self.full.load(Ordering::Relaxed) {
            return true;
        }
        let full = self.all_set(0..self.len);
        self.full.store(full, Ordering::Relaxed);
        full
    }

    /// Returns true if every bit of a range is set.
    ///
    /// True for an empty range.
    ///
    /// # Panics
    /// If the range ends beyond the last bit.
    #[inline]
    pub fn all_set(&self, range: Range<usize>) -> bool {
        assert!(range.is_empty() || range.end <= self.len, "bits of the set");
        if self.words.is_empty() {
            return range.is_empty() || self.full.load(Ordering::Relaxed);
        }
        let part = |range| masks(range).all(|(word, mask)| self.words[word].load(Ordering::Relaxed) & mask == mask);
        // Marks of a large tensor are many words, nearly all of them whole.
        let whole = range.start.div_ceil(WORD)..range.end / WORD;
        if whole.is_empty() {
            return part(range);
        }
        self.words[whole.clone()].iter().all(|word| word.load(Ordering::Relaxed) == u64::MAX)
            && part(range.start..whole.start * WORD)
            && part(whole.end * WORD..range.end)
    }
}

/// The words that a range of bits touches, each with its part of the range.
#[inline]
pub(crate) fn masks(range: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    let Range { start, end } = range;
    let words = if start < end { start / WORD..end.div_ceil(WORD) } else { 0..0 };
    words.map(move |word| {
        let from = start.saturating_sub(word * WORD);
        let to = (end - word * WORD).min(WORD);
        (word, (u64::MAX << from) & (u64::MAX >> (WORD - to)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_every_position_and_length_agree_with_single_bits() {
        for start in 0..130 {
            for end in start..200 {
                let bits = AtomicBits::new(200);
                bits.set(start..end);
                let set: Vec<usize> = (0..bits.len()).filter(|&bit| bits.all_set(bit..bit + 1)).collect();
                assert_eq!(set, (start..end).collect::<Vec<_>>());
                assert!(bits.all_set(start..end) && (end == 200 || !bits.all_set(start..end + 1)));
            }
        }
    }

    #[test]
    fn a_set_is_full_once_its_last_bit_is_set() {
        for len in [1, 63, 64, 65, 200] {
            for last in 0..len {
                let bits = AtomicBits::new(len);
                bits.set(0..last);
                bits.set(last + 1..len);
                assert!(!bits.is_full(), "{last} of {len}");
                bits.set(last..last + 1);
                assert!(bits.is_full() && bits.is_full(), "{last} of {len}");
                bits.set(0..len);
                assert!(bits.all_set(0..len));
            }
        }
        assert!(AtomicBits::new(0).is_full());
    }

    #[test]
    fn an_empty_set_has_only_the_empty_range() {
        let bits = AtomicBits::new(0);
        assert!(bits.is_empty() && bits.all_set(0..0) && bits.all_set(7..7));
    }

    #[test]
    fn a_set_without_memory_is_full() {
        let bits = AtomicBits::all(200);
        bits.set(3..70);
        assert!(bits.is_full() && bits.all_set(0..200) && bits.all_set(5..5));
        assert_eq!(bits.len(), 200);
    }

    #[test]
    fn neighbours_in_a_word_do_not_disturb_each_other() {
        let bits = AtomicBits::new(64 * 1024);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let bits = &bits;
                scope.spawn(move || (thread..16 * 1024).step_by(4).for_each(|i| bits.set(i * 4..i * 4 + 4)));
            }
        });
        assert!(bits.all_set(0..64 * 1024));
    }
}
