//! Programs applied to slices.
//!
//! Tried on whole blocks, repeated exactly where a lane falls back.

use super::{A, Lanes, SpecLanes};
use tt_cpu::vector::Vector;

/// Words that are tried at a time.
const PIECE: usize = 1024;
/// Words that fall back that are kept until they are computed together. A block adds two vectors, of which only those
/// count.
const KEPT: usize = 256;

/// Runs a lane program on every word and those beside it.
///
/// Tried on whole blocks, exactly on what falls back.
#[inline(always)]
pub fn run<const N: usize>(
    dst: &mut [u32],
    others: [&[u32]; N],
    program: impl Fn(SpecLanes, [SpecLanes; N]) -> SpecLanes,
    exact: impl Fn(&mut [u32], [&[u32]; N]),
) {
    let mut start = 0;
    for piece in dst.chunks_mut(PIECE) {
        let mut beside = others;
        for words in &mut beside {
            *words = &words[start..start + piece.len()];
        }
        start += piece.len();

        let whole = piece.len() / SpecLanes::LANES * SpecLanes::LANES;
        let (piece, rest) = piece.split_at_mut(whole);
        let mut left = None;
        for at in (0..whole).step_by(SpecLanes::LANES) {
            let block = SpecLanes::load(&piece[at..]);
            let mut blocks = [block; N];
            for (block, words) in blocks.iter_mut().zip(beside) {
                *block = SpecLanes::load(&words[at..]);
            }
            let (words, fallback) = program(block, blocks).parts();
            A::store(words[0], &mut piece[at..]);
            A::store(words[1], &mut piece[at + A::LANES..]);
            if fallback[0] | fallback[1] != 0 {
                let left = left.get_or_insert_with(Left::new);
                left.keep(at, 0, fallback[0], block, blocks);
                left.keep(at + A::LANES, 1, fallback[1], block, blocks);
                if left.count > KEPT - SpecLanes::LANES {
                    left.compute(piece, &exact);
                }
            }
        }
        if let Some(left) = &mut left {
            left.compute(piece, &exact);
        }
        if !rest.is_empty() {
            exact(rest, beside.map(|words| &words[whole..]));
        }
    }
}

/// Words that fall back with those beside them, and their places.
struct Left<const N: usize> {
    words: [u32; KEPT],
    others: [[u32; KEPT]; N],
    places: [u32; KEPT],
    count: usize,
}

impl<const N: usize> Left<N> {
    fn new() -> Self {
        let none = [0; KEPT];
        Self { words: none, others: [none; N], places: none, count: 0 }
    }

    #[inline(always)]
    fn keep(&mut self, first: usize, vector: usize, fallback: Lanes, block: SpecLanes, blocks: [SpecLanes; N]) {
        const STEPS: [i32; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
        let places = A::add(A::load_i32(&STEPS), A::splat(first as i32));
        A::compress(fallback, places, &mut self.places[self.count..]);
        for (kept, block) in self.others.iter_mut().zip(blocks) {
            A::compress(fallback, block.words[vector], &mut kept[self.count..]);
        }
        self.count += A::compress(fallback, block.words[vector], &mut self.words[self.count..]);
    }

    /// Puts the words in their places, after which none is left.
    fn compute(&mut self, piece: &mut [u32], exact: impl Fn(&mut [u32], [&[u32]; N])) {
        let mut others: [&[u32]; N] = [&[]; N];
        for (words, kept) in others.iter_mut().zip(&self.others) {
            *words = &kept[..self.count];
        }
        exact(&mut self.words[..self.count], others);
        for (&word, &place) in self.words[..self.count].iter().zip(&self.places) {
            piece[place as usize] = word;
        }
        self.count = 0;
    }
}
