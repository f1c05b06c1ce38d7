//! Writing past the caches.
//!
//! For results that are larger than them and will not be read soon.

/// Results of at least this many bytes are written past the caches.
///
/// More than the second-level cache of usual CPUs.
pub const STREAM_BYTES: usize = 4 << 20;

/// Bytes of a cache line of usual CPUs.
pub const LINE: usize = 64;

/// Copies `from` to `to` past the caches where the CPU can.
///
/// To be followed by [`finish`].
///
/// # Panics
/// If the lengths differ.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn copy(to: &mut [u8], from: &[u8]) {
    assert_eq!(to.len(), from.len(), "bytes to copy");
    if std::arch::is_x86_feature_detected!("avx512f") {
        // SAFETY: as asked.
        unsafe { copy_lines(to, from) };
    } else {
        copy_words(to, from);
    }
}

/// How many bytes before they are copied a long piece's are asked for.
#[cfg(target_arch = "x86_64")]
const AHEAD_BYTES: usize = 6 << 10;

/// [`copy`] by lines. Stores of whole lines need not be put together.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn copy_lines(to: &mut [u8], from: &[u8]) {
    use std::arch::x86_64::{_mm512_loadu_si512, _mm512_stream_si512};

    let (head, lines, tail) = bytemuck::pod_align_to_mut::<u8, Line>(to);
    let (from_head, from) = from.split_at(head.len());
    head.copy_from_slice(from_head);
    let (from_lines, from_tail) = from.as_chunks::<LINE>();
    let long = lines.len() * LINE > 2 * AHEAD_BYTES;
    for (at, (to, line)) in lines.iter_mut().zip(from_lines).enumerate() {
        if long {
            prefetch(from, at * LINE + AHEAD_BYTES);
        }
        // SAFETY: both are a line long; those stored to are exclusively borrowed and have the alignment of their type,
        // which is what the store asks for.
        unsafe { _mm512_stream_si512(std::ptr::from_mut(to).cast(), _mm512_loadu_si512(line.as_ptr().cast())) };
    }
    tail.copy_from_slice(from_tail);
}

/// A cache line.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; LINE]);

// SAFETY: bytes without padding: their size is a multiple of the alignment.
#[cfg(target_arch = "x86_64")]
unsafe impl bytemuck::Zeroable for Line {}
// SAFETY: as above; every pattern is valid.
#[cfg(target_arch = "x86_64")]
unsafe impl bytemuck::Pod for Line {}

/// [`copy`] on every CPU of the architecture.
#[cfg(target_arch = "x86_64")]
fn copy_words(to: &mut [u8], from: &[u8]) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};

    let (to_head, to, to_tail) = bytemuck::pod_align_to_mut::<u8, u128>(to);
    let (from_head, from) = from.split_at(to_head.len());
    to_head.copy_from_slice(from_head);
    let (from, from_tail) = from.as_chunks::<16>();
    for (to, from) in to.iter_mut().zip(from) {
        #[expect(clippy::cast_ptr_alignment, reason = "the load takes any alignment")]
        let from = from.as_ptr().cast::<__m128i>();
        // SAFETY: both are 16 bytes; those stored to are exclusively borrowed and have the alignment of their type,
        // which is the 16 that the store asks for. The instructions belong to the baseline of the architecture.
        unsafe { _mm_stream_si128(std::ptr::from_mut(to).cast::<__m128i>(), _mm_loadu_si128(from)) };
    }
    to_tail.copy_from_slice(from_tail);
}

/// Copies `from` to `to`.
///
/// This CPU has no stores past the caches that are worth using.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub fn copy(to: &mut [u8], from: &[u8]) {
    copy_words(to, from);
}

/// [`copy`] on every other CPU.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn copy_words(to: &mut [u8], from: &[u8]) {
    to.copy_from_slice(from);
}

/// Asks for the cache line of `bytes[offset]` to be brought near.
///
/// Nothing happens where there is none.
#[inline(always)]
pub fn prefetch(bytes: &[u8], offset: usize) {
    hint::<true>(bytes, offset);
}

/// Prefetches the cache line of `bytes[offset]` to the second-level cache.
///
/// Nothing happens where there is none.
#[inline(always)]
pub fn prefetch_second(bytes: &[u8], offset: usize) {
    hint::<false>(bytes, offset);
}

#[inline(always)]
fn hint<const NEAR: bool>(bytes: &[u8], offset: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint: the instruction reads nothing that shows and cannot fault, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        let line = bytes.as_ptr().wrapping_add(offset).cast();
        if NEAR { _mm_prefetch::<_MM_HINT_T0>(line) } else { _mm_prefetch::<_MM_HINT_T1>(line) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, offset);
}

/// Asks for all lines of `bytes` to be brought near.
#[inline(always)]
pub fn prefetch_all(bytes: &[u8]) {
    (0..bytes.len()).step_by(LINE).for_each(|offset| prefetch(bytes, offset));
}

/// Memory prefetched line by line while something else is done.
///
/// It comes to the second-level cache.
pub struct Ahead<'a> {
    pages: &'a [&'a [u8]],
    offset: usize,
}

impl<'a> Ahead<'a> {
    /// All of some pages, in their order.
    pub fn new(pages: &'a [&'a [u8]]) -> Self {
        Self { pages, offset: 0 }
    }

    /// The number of lines per step, for so many steps.
    pub fn share(&self, times: usize) -> usize {
        let lines: usize = self.pages.iter().map(|page| page.len().div_ceil(LINE)).sum();
        lines.div_ceil(times.max(1))
    }

    /// Asks for the next lines.
    #[inline(always)]
    pub fn ask(&mut self, lines: usize) {
        for _ in 0..lines {
            let [page, rest @ ..] = self.pages else {
                return;
            };
            prefetch_second(page, self.offset);
            self.offset += LINE;
            if self.offset >= page.len() {
                (self.pages, self.offset) = (rest, 0);
            }
        }
    }
}

/// Prefetches all lines of `bytes` to the second-level cache.
#[inline(always)]
pub fn prefetch_second_all(bytes: &[u8]) {
    (0..bytes.len()).step_by(LINE).for_each(|offset| prefetch_second(bytes, offset));
}

/// Makes the writes of [`copy`] visible to other threads.
///
/// Before anything that this thread writes later.
#[inline]
pub fn finish() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction belongs to the baseline of the architecture and touches no memory of its own.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_all_pages_is_asked_for_in_equal_shares() {
        let bytes = [0; 1000];
        for lengths in [&[][..], &[1], &[64, 65, 1], &[1000, 500], &[63, 64, 128, 640]] {
            let pages: Vec<&[u8]> = lengths.iter().map(|&length| &bytes[..length]).collect();
            for times in 1..20 {
                let mut ahead = Ahead::new(&pages);
                let share = ahead.share(times);
                let lines: usize = lengths.iter().map(|length| length.div_ceil(LINE)).sum();
                let mut asked = 0;
                while !ahead.pages.is_empty() {
                    ahead.ask(1);
                    asked += 1;
                }
                assert_eq!(asked, lines, "{lengths:?}");
                assert!(share * times >= lines && share * times < lines + times, "{lengths:?} in {times}: {share}");
            }
        }
    }

    #[test]
    fn every_alignment_and_length_is_copied() {
        let from: Vec<u8> = (0..40_000u32).map(|at| (at % 251) as u8).collect();
        for plain in [false, true] {
            // Whatever the CPU has, and what all of them have.
            let way = if plain { copy_words } else { copy };
            for start in 0..70 {
                for length in [0, 1, 15, 16, 17, 64, 100, 200, 30_000] {
                    let mut to = vec![255; start + length + 70];
                    way(&mut to[start..start + length], &from[7..7 + length]);
                    finish();
                    assert_eq!(to[start..start + length], from[7..7 + length]);
                    assert!(to[..start].iter().chain(&to[start + length..]).all(|&byte| byte == 255));
                }
            }
        }
    }
}
