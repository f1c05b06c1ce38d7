//! Tables of all 65,536 halves.
//!
//! A function of one bfloat16 value, looked up many values at a time.
//!
//! Vectors are looked up by gathers where the CPU is quick at them, otherwise by single loads that are inserted into
//! vectors. Both beat a loop over halves, and more so on a tensor in memory, since the results are whole lines and can
//! go past the caches. Values of a tensor crowd in a few thousand patterns, so that what is used of a table is near.
//! Where the CPU permutes bytes, a table that is a multiple of the high byte plus a function of the low one is looked
//! up in registers, as quickly as memory gives.

use crate::level::Level;
use crate::stream;

#[cfg(target_arch = "x86_64")]
mod single;
#[cfg(target_arch = "x86_64")]
mod x86;

/// Patterns of 16 bits.
pub const PATTERNS: usize = 1 << 16;

/// The result for every pattern.
pub struct HalfTable {
    /// One word more than there are patterns: vector loads take 32 bits at every one.
    words: Box<[u16; PATTERNS + 1]>,
    #[cfg(target_arch = "x86_64")]
    sum: Option<Box<x86::Sum>>,
}

impl std::fmt::Debug for HalfTable {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("HalfTable")
    }
}

/// The destination of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// To the caches, as usual.
    Near,
    /// Past the caches where the CPU can, as [`crate::stream::copy`] does; to be followed by [`crate::stream::finish`].
    Past,
}

/// Patterns, and where their results go.
pub type Page<'a, 'b> = (&'a [u8], &'b mut [u8]);

/// How vectors take results from a table.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loads {
    /// One load at a time.
    Single,
    /// Sixteen with one instruction.
    Gathers,
}

/// How a table is looked up on this host; every way gives the same results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// A loop over patterns: the definition.
    Plain,
    /// AVX2's level, with vectors of 128 bits.
    #[cfg(target_arch = "x86_64")]
    Single,
    /// AVX-512.
    #[cfg(target_arch = "x86_64")]
    Avx512(Loads),
}

impl Way {
    /// The quickest one at a level.
    fn at(level: Level, table: &HalfTable) -> Self {
        match level.available() {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => Self::Single,
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an available level is one that the host has.
            Level::Avx512 => Self::Avx512(unsafe { x86::quicker(table) }),
            _ => {
                let _ = table;
                Self::Plain
            }
        }
    }
}

/// How many inputs further the one is that is asked for. Of tiles, the next one would come too late.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 3;

/// How many bytes further an input is asked for while it is looked up itself, if it is a long one.
#[cfg(target_arch = "x86_64")]
const AHEAD_BYTES: usize = 12 << 10;

/// What is asked for while the input at `at` is looked up, and from which byte on: what comes later in it, or a later
/// input, if there is one.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn later<'a>(pages: &[Page<'a, '_>], at: usize) -> (&'a [u8], usize) {
    match pages[at].0 {
        long if long.len() > 2 * AHEAD_BYTES => (long, AHEAD_BYTES),
        _ => (pages.get(at + AHEAD).map_or(&[], |&(input, _)| input), 0),
    }
}

/// Asks for the line at `offset` of what is read next. Side by side with the work this is quicker than all at once.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn ask(later: &[u8], offset: usize) {
    if !later.is_empty() {
        crate::stream::prefetch(later, offset);
    }
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
        Self {
            #[cfg(target_arch = "x86_64")]
            sum: x86::Sum::of(&words),
            words: words.into_boxed_slice().try_into().expect("counted above"),
        }
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
        self.look_up_by(Way::at(level, self), &mut [(input, output)], store);
    }

    /// [`Self::look_up`] for many inputs and their outputs.
    ///
    /// While one is looked up a later one is asked for, since it may lie where no CPU expects it.
    ///
    /// # Panics
    /// If lengths differ or are odd.
    pub fn look_up_pages(&self, level: Level, pages: &mut [Page<'_, '_>], store: Store) {
        self.look_up_by(Way::at(level, self), pages, store);
    }

    fn look_up_by(&self, way: Way, pages: &mut [Page<'_, '_>], store: Store) {
        let equal = |(input, output): &Page<'_, '_>| input.len() == output.len();
        assert!(pages.iter().all(equal), "bytes to look up");
        let aligned = |(_, output): &Page<'_, '_>| output.as_ptr().addr().is_multiple_of(stream::LINE);
        let past = store == Store::Past && pages.iter().all(aligned);
        let unit = match (way, past) {
            (Way::Plain, _) => usize::MAX,
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a way is one of the host's.
            (Way::Single, true) => unsafe { single::halves::<true>(self, pages) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            (Way::Single, false) => unsafe { single::halves::<false>(self, pages) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            (Way::Avx512(loads), true) => unsafe { x86::halves::<true>(self, loads, pages) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            (Way::Avx512(loads), false) => unsafe { x86::halves::<false>(self, loads, pages) },
        };
        for (input, output) in pages {
            let done = input.len() - input.len() % unit;
            let ((input, rest), (output, none)) = (input[done..].as_chunks(), output[done..].as_chunks_mut());
            assert!(rest.is_empty() && none.is_empty(), "bytes of whole halves");
            for (into, from) in output.iter_mut().zip(input) {
                *into = self.get(u16::from_le_bytes(*from)).to_le_bytes();
            }
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

    /// Looks up the upper half of every word.
    ///
    /// The lower halves of the results are zero.
    pub fn look_up_upper_halves(&self, level: Level, words: &mut [u32]) {
        self.look_up_upper_halves_by(Way::at(level, self), words);
    }

    fn look_up_upper_halves_by(&self, way: Way, words: &mut [u32]) {
        let done = match way {
            Way::Plain => 0,
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a way is one of the host's.
            Way::Single | Way::Avx512(Loads::Single) => unsafe { single::upper_halves(self, words) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Way::Avx512(Loads::Gathers) => unsafe { x86::upper_halves(self, words) },
        };
        for word in &mut words[done..] {
            *word = u32::from(self.get((*word >> 16) as u16)) << 16;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables of all kinds: no sum; sums of a multiple of the high byte and a column's part, for all patterns, for
    /// those of one sign, and but for some at the ends; a sum for so few patterns that it counts as none.
    fn tables() -> Vec<HalfTable> {
        let hash = |pattern: u16| pattern.wrapping_mul(40_503) ^ pattern >> 3;
        let sum = move |pattern: u16| (pattern >> 8).wrapping_mul(40_503).wrapping_add(hash(pattern << 8));
        let table = |result: &dyn Fn(u16) -> u16| (0..=u16::MAX).map(result).collect();
        vec![
            table(&hash),
            table(&sum),
            table(&|pattern| if pattern < 0x8000 { sum(pattern) } else { hash(pattern) }),
            table(&|pattern| if (0x0123..0x7f45).contains(&(pattern & 0x7fff)) { sum(pattern) } else { hash(pattern) }),
            table(&|pattern| if (0x3000..0x5000).contains(&pattern) { sum(pattern) } else { hash(pattern) }),
        ]
    }

    /// All patterns, so that neighbours lie in rows far from each other and then, the other way round, in one row.
    fn patterns() -> impl Iterator<Item = u16> {
        (0..=u16::MAX).map(|index| index.wrapping_mul(40_503)).chain((0..=u16::MAX).rev())
    }

    /// Those that the host has, whichever are the quickest.
    fn ways() -> Vec<Way> {
        Level::supported()
            .iter()
            .flat_map(|level| match level {
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => vec![Way::Single],
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => vec![Way::Avx512(Loads::Single), Way::Avx512(Loads::Gathers)],
                _ => vec![Way::Plain],
            })
            .collect()
    }

    #[test]
    fn a_level_has_one_of_its_ways() {
        let table: HalfTable = (0..=u16::MAX).collect();
        for &level in Level::supported() {
            let way = Way::at(level, &table);
            assert!(ways().contains(&way), "{level}: {way:?}");
            assert_eq!(way, Way::at(level, &table), "{level}: asked again");
            assert_eq!(way == Way::Plain, matches!(level, Level::Scalar | Level::Neon), "{level}: {way:?}");
        }
    }

    #[test]
    fn every_pattern_is_looked_up_in_every_way() {
        let input: Vec<u8> = patterns().flat_map(u16::to_le_bytes).collect();
        for (kind, table) in tables().iter().enumerate() {
            let expected: Vec<u8> = patterns().flat_map(|pattern| table.get(pattern).to_le_bytes()).collect();
            for way in ways() {
                for store in [Store::Near, Store::Past] {
                    // Starts and lengths that leave rests, and results at every distance from a line.
                    for (start, skew) in [(0, 0), (2, 1), (62, 32), (70, 63), (input.len() - 190, 64)] {
                        let mut output = vec![0; input.len() - start + skew];
                        table.look_up_by(way, &mut [(&input[start..], &mut output[skew..])], store);
                        crate::stream::finish();
                        assert!(output[skew..] == expected[start..], "{kind}: {way:?} {store:?} from {start}");
                        assert!(
                            output[..skew].iter().all(|&byte| byte == 0),
                            "{kind}: {way:?} {store:?} before {skew}"
                        );
                    }
                }
                // Many at once: of all lengths, aligned or not.
                for length in [64, 130, 128, 2048, 190] {
                    let mut output = vec![0; input.len()];
                    let mut pages: Vec<_> = input.chunks(length).zip(output.chunks_mut(length)).collect();
                    table.look_up_by(way, &mut pages, Store::Past);
                    crate::stream::finish();
                    assert!(output == expected, "{kind}: {way:?} by {length} bytes");
                }
                let mut words: Vec<u32> = (0..=u16::MAX).map(|pattern| u32::from(pattern) << 16 | 0x1234).collect();
                words.pop();
                table.look_up_upper_halves_by(way, &mut words);
                let mut results = (0..u16::MAX).zip(&words);
                assert!(
                    results.all(|(pattern, &word)| word == u32::from(table.get(pattern)) << 16),
                    "{kind}: {way:?} words"
                );
            }
            for &level in Level::supported() {
                let mut bytes = input.clone();
                table.look_up_in_place(level, &mut bytes);
                assert!(bytes == expected, "{kind}: {level} in place");
                let mut output = vec![0; input.len()];
                table.look_up(level, &input, &mut output, Store::Near);
                assert!(output == expected, "{kind}: {level}");
                output.fill(0);
                let mut pages: Vec<_> = input.chunks(96).zip(output.chunks_mut(96)).collect();
                table.look_up_pages(level, &mut pages, Store::Near);
                assert!(output == expected, "{kind}: {level} by pages");
                let mut words = [0x4049_0fdb; 100];
                table.look_up_upper_halves(level, &mut words);
                assert_eq!(words, [u32::from(table.get(0x4049)) << 16; 100], "{kind}: {level} words");
            }
        }
    }
}
