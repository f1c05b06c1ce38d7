//! The largest datums of many tiles, place by place, in the order of GMPOOL: by sign and magnitude, denormals being
//! zero.
//!
//! GMPOOL of rows takes tile after tile. All that it changes is NaN, which becomes infinity, so the maximum of the rows of
//! many tiles is that of the largest datums at each place.

use super::super::Src;
use super::super::operand::Datum;
use tt_cpu::{Level, simd_kernel};

/// The largest datums so far, as numbers in the order of the datums.
pub struct RunningMax {
    keys: Box<Src>,
    level: Level,
}

impl RunningMax {
    /// Nothing compared yet.
    pub fn new(level: Level) -> Self {
        Self { keys: Box::new([LOWEST; 1024]), level }
    }

    /// Forgets what was compared.
    pub fn clear(&mut self) {
        self.keys.fill(LOWEST);
    }

    /// Compares a tile in L1, of bfloat16.
    pub fn take_halves(&mut self, tile: &[u8]) {
        halves_kernel::run(self.level, tile.as_chunks().0, &mut self.keys);
    }

    /// Compares a tile in a Src register.
    pub fn take(&mut self, src: &Src) {
        words_kernel::run(self.level, src, &mut self.keys);
    }

    /// The largest datums, as they are in a Src register.
    pub fn store(&self, src: &mut Src) {
        for (word, key) in src.iter_mut().zip(&*self.keys) {
            *word = ordered(*key as i32) as u32 >> BELOW;
        }
    }
}

/// The bits of an FP32 word below those of a Src word.
const BELOW: u32 = 13;
const EXPONENT: u32 = 255 << 23;
const LOWEST: u32 = i32::MIN as u32;

/// Words in the order of sign and magnitude as numbers, and back.
#[inline(always)]
fn ordered(word: i32) -> i32 {
    word ^ (word >> 31 & i32::MAX)
}

#[inline(always)]
fn take<T: Datum>(tile: &[T], keys: &mut Src) {
    for (key, datum) in keys.iter_mut().zip(tile) {
        let word = datum.fp32();
        let live = if word & EXPONENT == 0 { 0 } else { word };
        *key = (*key as i32).max(ordered(live as i32)) as u32;
    }
}

simd_kernel!(halves_kernel, super::take::<[u8; 2]>, (tile: &[[u8; 2]], keys: &mut Src));
simd_kernel!(words_kernel, super::take::<u32>, (tile: &[u32], keys: &mut Src));

#[cfg(test)]
mod tests {
    use tt_formats::DataFormat;
    use tt_testkit::random::Random;

    use super::*;
    use crate::{Arch, DstFormat, MathConfig, MathFidelity, PoolOp, ReduceDim, Reduction};
    use tt_tensix::tile_io::{Input, ZERO};

    #[test]
    fn a_maximum_of_tiles_is_that_of_the_largest_datums() {
        let mut random = Random::new(21);
        let exponents = [0, 0, 1, 127, 128, 254, 255, 255];
        for round in 0..200_u32 {
            let format = if round % 2 == 0 { DataFormat::Float16B } else { DataFormat::Float32 };
            let input = Input::new(format, true);
            let arch = if round % 3 == 0 { Arch::Blackhole } else { Arch::Wormhole };
            let math = MathConfig { fidelity: MathFidelity::HiFi3, dst: DstFormat::Fp32, alu: input.register, arch };
            let reduction = Reduction::pool(&math, math.alu, (PoolOp::Max, ReduceDim::Row), &[127 << 10; 1024]);
            // Any words, few exponents, or negative words only, of which many are NaN or denormals.
            let mut word = || {
                let word = random.below(1 << 16) << 16 | random.below(1 << 16);
                let exponent = exponents[random.below(8) as usize] << 23;
                match round / 2 % 4 {
                    0 => word,
                    1 => word & !EXPONENT | exponent,
                    2 => word & !EXPONENT | exponent | 1 << 31,
                    _ => word & !EXPONENT | 1 << 31 | if word.is_multiple_of(64) { exponent } else { EXPONENT },
                }
            };
            let tiles: Vec<Vec<u8>> = (0..=round % 5)
                .map(|_| {
                    (0..1024)
                        .flat_map(|_| word().to_le_bytes()[4 - format.element_bytes().unwrap_or(0)..].to_vec())
                        .collect()
                })
                .collect();
            for &level in Level::supported() {
                let (mut largest, mut src) = (RunningMax::new(level), ZERO);
                largest.take(&[1 << 18; 1024]);
                largest.clear();
                let mut results = [ZERO; 2];
                for dst in &mut results {
                    crate::clear_for_max(&math, dst);
                }
                for tile in &tiles {
                    input.to_src(tile, &mut src);
                    reduction.run(level, &mut results[0], &src);
                    if format == DataFormat::Float16B && round % 4 == 0 {
                        largest.take_halves(tile);
                    } else {
                        largest.take(&src);
                    }
                }
                largest.store(&mut src);
                reduction.run(level, &mut results[1], &src);
                for row in 0..32 {
                    let at = row / 16 * 512 + row % 16 * 16;
                    assert_eq!(results[0][at], results[1][at], "{format:?}, {level:?}, round {round}, row {row}");
                }
            }
        }
    }
}
