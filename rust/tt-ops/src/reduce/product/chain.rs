//! Multiplication chains in 16-bit `Dst`, through L1.
//!
//! The running product goes there and comes back.

use tt_cpu::{Level, simd_kernel};
use tt_formats::{DataFormat, TileShape, unpack};
use tt_fpu::bf16_lanes::{self, Reader};
use tt_fpu::{Broadcast, EltwiseOp, HalfTile, MathConfig};
use tt_tensix::pack::{self, HalfPacker, PackConfig};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};
use tt_tensix::unpack::Bf16Page;

use super::program::ProductProgram;
use crate::fill;

/// Buffers of a worker.
pub struct Memory {
    /// The product so far, in L1.
    pub running: Vec<u8>,
    /// A factor that is not taken as it is.
    pub given: Vec<u8>,
    pub pages: [Bf16Page; 2],
    pub half: HalfTile,
    pub a: Tile,
    pub b: Tile,
    pub dst: Tile,
}

impl Memory {
    pub fn new() -> Box<Self> {
        let (given, pages, half) = (vec![0; size_of::<Bf16Page>()], [[0; 2048]; 2], [0; 1024]);
        Box::new(Self { running: Vec::new(), given, pages, half, a: ZERO, b: ZERO, dst: ZERO })
    }
}

/// Multiplications in a 16-bit Dst, one after the other.
#[derive(Clone)]
pub struct Chain {
    pub input: Input,
    pub math: MathConfig,
    pub packer: PackConfig,
    pub level: Level,
    /// The format's reader and writer in 16-bit lanes, if any.
    pub reader: Option<Reader>,
    pub short: Option<HalfPacker>,
    /// A tile of ones.
    pub one: Vec<u8>,
}

impl Chain {
    pub fn new(program: &ProductProgram, format: DataFormat) -> Self {
        let (input, level) = (Input::new(format, false), Level::current());
        let dst = tile_io::dst_format(format, false);
        let math = MathConfig { fidelity: program.fidelity, dst, alu: input.register, arch: program.arch };
        let packer = PackConfig::new(tile_io::result_format(format, format, false), format);
        let reader = if bf16_lanes::supports(level, &math) { Reader::new(format, level) } else { None };
        let unit = fill::unit(format, 1.0);
        let one = unit.repeat(format.tile_bytes(TileShape::FULL) / unit.len());
        Self { input, math, packer, level, reader, short: HalfPacker::new(&packer, level), one }
    }

    /// The running product becomes that of a factor and itself.
    pub fn multiply(&self, factor: &[u8], memory: &mut Memory) {
        self.times((self.input, self.reader), factor, memory);
    }

    /// [`Self::multiply`] by an unpacked factor, in L1 as bfloat16.
    pub fn multiply_halves(&self, factor: &[u8], memory: &mut Memory) {
        let reader = self.reader.map(|_| Reader::Bf16);
        self.times((Input::new(DataFormat::Float16B, false), reader), factor, memory);
    }

    fn times(&self, (input, short): (Input, Option<Reader>), factor: &[u8], memory: &mut Memory) {
        let Memory { running, pages: [page_a, page_b], half, a, b, dst, .. } = memory;
        if let (Some(short), Some(reader), Some(packer)) = (short, self.reader, &self.short) {
            let (first, second) = (short.read(factor, page_a), reader.read(running, page_b));
            if bf16_lanes::run(self.level, &self.math, EltwiseOp::Mul, half, first, second) {
                packer.pack(half, running);
                return;
            }
        }
        input.to_src(factor, a);
        self.input.to_src(running, b);
        tt_fpu::eltwise(&self.math, EltwiseOp::Mul, Broadcast::None, false, dst, a, b);
        pack::pack_tile(&self.packer, dst, running);
    }

    /// Packs a Dst that holds a tile of bfloat16.
    pub fn pack_halves(&self, halves: &[u8], dst: &mut Tile, out: &mut [u8]) {
        for (word, datum) in dst.iter_mut().zip(halves.as_chunks::<2>().0) {
            *word = u32::from(u16::from_le_bytes(*datum)) << 16;
        }
        pack::pack_tile(&self.packer, dst, out);
    }
}

/// What the unpacker makes of a tile of FP32 for a 16-bit `Dst`, as a tile of bfloat16 in L1.
#[inline(always)]
fn to_halves_body(tile: &[u8], out: &mut [u8]) {
    for (datum, word) in out.as_chunks_mut::<2>().0.iter_mut().zip(tile.as_chunks::<4>().0) {
        *datum = ((unpack::fp32_to_src_bf16(u32::from_le_bytes(*word)) >> 3) as u16).to_le_bytes();
    }
}

simd_kernel!(to_halves, super::to_halves_body, (tile: &[u8], out: &mut [u8]));

#[cfg(test)]
mod tests {
    use tt_fpu::{Arch, MathFidelity};
    use tt_testkit::random::Random;

    use super::super::program::Factors;
    use super::*;

    fn program(format: DataFormat) -> ProductProgram {
        let factors = Factors::Leading { length: 1, inside: 1 };
        ProductProgram { format, factors, fidelity: MathFidelity::HiFi4, arch: Arch::Wormhole }
    }

    #[test]
    fn products_of_fp32_are_those_of_halves() {
        let mut random = Random::new(3);
        let wide = Chain::new(&program(DataFormat::Float32), DataFormat::Float32);
        let short = Chain::new(&program(DataFormat::Float16B), DataFormat::Float16B);
        let mut memory = [Memory::new(), Memory::new()];
        for round in 0..40 {
            memory[0].running.clone_from(&wide.one);
            memory[1].running.clone_from(&short.one);
            for _ in 0..=round % 5 {
                let mut tile = vec![0; 4096];
                for datum in tile.as_chunks_mut::<4>().0 {
                    let exponents = [0, 1, 2, 64, 90, 126, 127, 128, 160, 254, 255];
                    let word = random.below(1 << 16) << 16 | random.below(1 << 16);
                    let exponent = exponents[random.below(11) as usize] << 23;
                    *datum = if round % 2 == 0 { word } else { word & !(255 << 23) | exponent }.to_le_bytes();
                }
                wide.multiply(&tile, &mut memory[0]);
                let mut given = vec![0; 2048];
                to_halves::run(short.level, &tile, &mut given);
                short.multiply(&given, &mut memory[1]);
            }
            let mut packed = vec![0; 4096];
            let Memory { running, dst, .. } = &mut *memory[1];
            wide.pack_halves(running, dst, &mut packed);
            assert!(packed == memory[0].running, "round {round}");
        }
    }

    #[test]
    fn lanes_of_16_bits_have_the_bits_of_the_matrix_unit() {
        let mut random = Random::new(4);
        for format in [DataFormat::Float16B, DataFormat::Bfp8B, DataFormat::Bfp4B] {
            let chain = Chain::new(&program(format), format);
            let long = Chain { reader: None, ..chain.clone() };
            let mut memory = [Memory::new(), Memory::new()];
            for round in 0..24 {
                for memory in &mut memory {
                    memory.running.clone_from(&chain.one);
                }
                for _ in 0..6 {
                    let any = |_| random.below(256) as u8;
                    let mut tile: Vec<u8> = (0..chain.one.len()).map(any).collect();
                    if round % 3 == 0 && format == DataFormat::Float16B {
                        tile.as_chunks_mut::<2>().0.iter_mut().for_each(|datum| datum[1] = datum[1] & 0x81 | 0x3e);
                    } else if round % 3 == 0 {
                        tile[..64].iter_mut().for_each(|exponent| *exponent = *exponent & 3 | 0x7c);
                    }
                    chain.multiply(&tile, &mut memory[0]);
                    long.multiply(&tile, &mut memory[1]);
                    assert!(memory[0].running == memory[1].running, "{format:?}, round {round}");
                }
            }
        }
    }
}
