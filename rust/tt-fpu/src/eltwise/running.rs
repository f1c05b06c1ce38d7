//! Running sums of BF16 pages in a 32-bit `Dst`: ELWADD of a page and a tile of zeros, accumulated.
//!
//! Words of `Dst` stay in registers while several pages are added to them, and datums are taken from pages as they are,
//! two in a word, without a way through `SrcA`.

use tt_cpu::Level;

use super::super::combine::lanes::combine_one;
use super::super::{Dst, MathConfig};
use tt_cpu::vector::{Vector, vector_kernel};
use tt_tensix::regs::{DstFormat, TILE_DATUMS};

/// Words of a BF16 page: two datums each, the first in the lower half.
pub const PAGE_WORDS: usize = TILE_DATUMS / 2;

/// The sums of a tile.
#[derive(Clone)]
pub struct RunningSum {
    /// Of the first datums of words, and of the second ones.
    halves: [[u32; PAGE_WORDS]; 2],
}

impl Default for RunningSum {
    fn default() -> Self {
        Self { halves: [[0; PAGE_WORDS]; 2] }
    }
}

impl RunningSum {
    /// Forgets what was added.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Adds pages, one after the other.
    ///
    /// # Panics
    /// For another `Dst` and for operands with 5-bit exponents or of integers.
    pub fn add(&mut self, level: Level, cfg: &MathConfig, pages: &[&[u32; PAGE_WORDS]]) {
        assert!(cfg.dst == DstFormat::Fp32 && cfg.mode().e8 && !cfg.is_integer(), "sums of BF16 in FP32");
        add_kernel::run(level, cfg.mode().wormhole, pages, &mut self.halves);
    }

    /// Writes the sums to `Dst`.
    pub fn store(&self, level: Level, dst: &mut Dst) {
        store_kernel::run(level, &self.halves, dst);
    }
}

vector_kernel!(add_kernel, add_body, (wormhole: bool, pages: &[&[u32; PAGE_WORDS]], sums: &mut [[u32; PAGE_WORDS]; 2]));
vector_kernel!(store_kernel, store_body, (sums: &[[u32; PAGE_WORDS]; 2], dst: &mut Dst));

#[inline(always)]
fn add_body<V: Vector>(wormhole: bool, pages: &[&[u32; PAGE_WORDS]], sums: &mut [[u32; PAGE_WORDS]; 2]) {
    if wormhole { add_pages::<V, true>(pages, sums) } else { add_pages::<V, false>(pages, sums) }
}

#[inline(always)]
fn add_pages<V: Vector, const WORMHOLE: bool>(pages: &[&[u32; PAGE_WORDS]], sums: &mut [[u32; PAGE_WORDS]; 2]) {
    let [first, second] = sums;
    for at in (0..PAGE_WORDS).step_by(V::LANES) {
        let (mut sum, mut other) = (V::load(&first[at..]), V::load(&second[at..]));
        for page in pages {
            let words = V::load(&page[at..]);
            sum = combine_one::<V, true, true, WORMHOLE>(term::<V>(V::shl::<16>(words)), sum);
            other = combine_one::<V, true, true, WORMHOLE>(term::<V>(words), other);
        }
        V::store(sum, &mut first[at..]);
        V::store(other, &mut second[at..]);
    }
}

/// The BF16 number in the upper half of a word: its significand in units of 1 / 1024, and its exponent.
#[inline(always)]
fn term<V: Vector>(words: V::Int) -> (V::Int, V::Int) {
    let exponent = V::and(V::shr::<23>(words), V::splat(255));
    let magnitude = V::or(V::and(V::shr::<13>(words), V::splat(127 << 3)), V::splat(1024));
    let magnitude = V::keep(V::greater(exponent, V::splat(0)), magnitude);
    let sign = V::sar::<31>(words);
    (V::sub(V::xor(magnitude, sign), sign), exponent)
}

#[inline(always)]
fn store_body<V: Vector>(sums: &[[u32; PAGE_WORDS]; 2], dst: &mut Dst) {
    for at in (0..PAGE_WORDS).step_by(V::LANES) {
        let [low, high] = V::interleave(V::load(&sums[0][at..]), V::load(&sums[1][at..]));
        V::store(low, &mut dst[2 * at..]);
        V::store(high, &mut dst[2 * at + V::LANES..]);
    }
}

#[cfg(test)]
mod tests {
    use tt_formats::DataFormat;
    use tt_testkit::random::Random;

    use super::*;
    use crate::{Arch, MathFidelity};
    use crate::{Broadcast, EltwiseOp, eltwise_scalar};

    /// Any word, or one of few exponents, of which sums cancel.
    fn half(random: &mut Random, kind: usize) -> u16 {
        let any = random.below(1 << 16) as u16;
        let exponents = [0, 1, 2, 23, 126, 127, 128, 150, 253, 254, 255];
        match kind % 4 {
            0 => any,
            1 => any & 0x807f | exponents[random.below(11) as usize] << 7,
            2 => any & 0x8003 | (110 + random.below(30) as u16) << 7,
            _ => any & 0x8001 | (126 + random.below(3) as u16) << 7,
        }
    }

    #[test]
    fn sums_of_pages_are_those_of_the_instruction() {
        let mut random = Random::new(17);
        for round in 0..48 {
            let arch = if round % 2 == 0 { Arch::Wormhole } else { Arch::Blackhole };
            let (dst, alu) = (DstFormat::Fp32, DataFormat::Float16B);
            let cfg = MathConfig { fidelity: MathFidelity::HiFi4, dst, alu, arch };
            let tiles: Vec<[u16; TILE_DATUMS]> =
                (0..=round % 13).map(|_| std::array::from_fn(|_| half(&mut random, round / 2))).collect();
            let mut expected = [0; TILE_DATUMS];
            for tile in &tiles {
                let src = tile.map(|half| u32::from(half) << 3);
                let zeros = [0; TILE_DATUMS];
                eltwise_scalar(&cfg, EltwiseOp::Add, Broadcast::None, true, &mut expected, &src, &zeros);
            }
            let pages: Vec<[u32; PAGE_WORDS]> = tiles
                .iter()
                .map(|tile| std::array::from_fn(|i| u32::from(tile[2 * i + 1]) << 16 | u32::from(tile[2 * i])))
                .collect();
            let pages: Vec<_> = pages.iter().collect();
            for &level in Level::supported() {
                let (mut sums, mut dst) = (RunningSum::default(), [1; TILE_DATUMS]);
                for pages in pages.chunks(5) {
                    sums.add(level, &cfg, pages);
                }
                sums.store(level, &mut dst);
                assert!(dst == expected, "round {round}, {level:?}");
            }
        }
    }
}
