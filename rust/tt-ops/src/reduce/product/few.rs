//! Products of few rows or columns of bfloat16, datum by datum.
//!
//! A tile with more lanes than products would wait for each factor.

use tt_formats::{TileShape, pack, unpack};
use tt_fpu::MathConfig;
use tt_memory::access::Pages;

use super::program::MatrixAxis;

/// Maximum number of products where one by one is faster.
pub const FEW: usize = 16;

const ONE: u32 = 0x3f80;
const SIDE: usize = 32;

/// Factors in the pages of matrices.
pub struct Factors<'a> {
    pub pages: &'a Pages<'a>,
    pub axis: &'a MatrixAxis,
    /// Tiles down and across a matrix.
    pub grid: [usize; 2],
    /// Factors of a product.
    pub length: usize,
}

/// The product of bfloat16 factors, as it goes to L1 and comes back after each of them.
fn product(math: &MathConfig, factors: impl Iterator<Item = u32>) -> u16 {
    let product = factors.fold(ONE, |running, factor| {
        let dst = tt_fpu::multiply_datum(math, unpack::bf16_to_src(running), unpack::bf16_to_src(factor));
        pack::bf16_to_bf16(dst >> 16)
    });
    product as u16
}

impl Factors<'_> {
    /// A product of a matrix, as bfloat16 in L1.
    pub fn product(&self, math: &MathConfig, matrix: usize, number: usize) -> u16 {
        let factors = (0..self.length).map(|index| {
            let (row, column) = if self.axis.columns { (index, number) } else { (number, index) };
            self.factor(matrix, row, column)
        });
        product(math, factors)
    }

    #[inline]
    fn factor(&self, matrix: usize, row: usize, column: usize) -> u32 {
        let [rows, columns] = self.grid;
        let page = self.pages.page((matrix * rows + row / SIDE) * columns + column / SIDE);
        let index = TileShape::FULL.index(row % SIDE, column % SIDE);
        let datum = u16::from_le_bytes(page.as_chunks::<2>().0[index]).into();
        if self.axis.flush { pack::bf16_to_bf16(datum) } else { datum }
    }
}

#[cfg(test)]
mod tests {
    use tt_formats::DataFormat;
    use tt_fpu::{Arch, MathFidelity};
    use tt_testkit::random::Random;

    use super::super::chain::{Chain, Memory};
    use super::super::program::{Factors as Multiplied, ProductProgram};
    use super::*;

    #[test]
    fn one_by_one_as_in_lanes() {
        let mut random = Random::new(6);
        for (arch, fidelity) in [(Arch::Wormhole, MathFidelity::HiFi4), (Arch::Blackhole, MathFidelity::LoFi)] {
            let factors = Multiplied::Leading { length: 1, inside: 1 };
            let chain = Chain::new(
                &ProductProgram { format: DataFormat::Float16B, factors, fidelity, arch },
                DataFormat::Float16B,
            );
            let mut memory = Memory::new();
            for round in 0..60 {
                let length = 1 + round % 7;
                let tiles: Vec<Vec<u8>> = (0..length)
                    .map(|_| {
                        let near_one = |random: &mut Random| (0x3e00 + random.below(0x300)) | random.below(2) << 15;
                        let any = |random: &mut Random| random.below(1 << 16);
                        let datums =
                            (0..1024).map(|_| if round % 2 == 0 { any(&mut random) } else { near_one(&mut random) });
                        datums.flat_map(|datum| (datum as u16).to_le_bytes()).collect()
                    })
                    .collect();
                memory.running.clone_from(&chain.one);
                for tile in &tiles {
                    chain.multiply(tile, &mut memory);
                }
                for place in 0..1024 {
                    let datum = |tile: &Vec<u8>| u32::from(u16::from_le_bytes(tile.as_chunks::<2>().0[place]));
                    let expected = u16::from_le_bytes(memory.running.as_chunks::<2>().0[place]);
                    assert_eq!(product(&chain.math, tiles.iter().map(datum)), expected, "{arch:?} {round} {place}");
                }
            }
        }
    }
}
