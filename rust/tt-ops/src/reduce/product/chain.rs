//! Multiplication chains on the FPU.
//!
//! In a 16-bit `Dst`, where L1 holds the running product as well as `Dst` does, and in one of 32 bits.

use tt_cpu::Level;
use tt_formats::{DataFormat, TileShape};
use tt_fpu::bf16_lanes::{self, Reader};
use tt_fpu::exact::{self, Datums, Results, Second};
use tt_fpu::{Broadcast, CopyTile, EltwiseOp, HalfTile, MathConfig};
use tt_tensix::pack::{self, HalfPacker, PackConfig};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};
use tt_tensix::unpack::Bf16Page;

use super::program::ProductProgram;
use crate::fill;

/// Buffers of a worker.
pub struct Memory {
    /// The product so far, in L1.
    pub running: Vec<u8>,
    pub pages: [Bf16Page; 2],
    pub half: HalfTile,
    pub a: Tile,
    pub b: Tile,
    pub dst: Tile,
}

impl Memory {
    pub fn new() -> Box<Self> {
        let (pages, half) = ([[0; 2048]; 2], [0; 1024]);
        Box::new(Self { running: Vec::new(), pages, half, a: ZERO, b: ZERO, dst: ZERO })
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
        let Memory { running, pages: [page_a, page_b], half, a, b, dst, .. } = memory;
        if let (Some(reader), Some(packer)) = (self.reader, &self.short) {
            let (first, second) = (reader.read(running, page_a), reader.read(factor, page_b));
            if bf16_lanes::run(self.level, &self.math, EltwiseOp::Mul, half, first, second) {
                packer.pack(half, running);
                return;
            }
        }
        self.input.to_src(running, a);
        self.input.to_src(factor, b);
        tt_fpu::eltwise(&self.math, EltwiseOp::Mul, Broadcast::None, false, dst, a, b);
        pack::pack_tile(&self.packer, dst, running);
    }
}

/// Multiplications in a 32-bit Dst.
///
/// The product stays there until it is packed.
pub struct WideChain {
    math: MathConfig,
    packer: PackConfig,
    level: Level,
}

impl WideChain {
    pub fn new(program: &ProductProgram) -> Self {
        let format = program.format;
        let (dst, alu) = (tile_io::dst_format(format, true), Input::new(format, true).register);
        let math = MathConfig { fidelity: program.fidelity, dst, alu, arch: program.arch };
        let packer = PackConfig::new(tile_io::result_format(format, format, true), format);
        Self { math, packer, level: Level::current() }
    }

    /// The running product becomes that of itself and a factor.
    ///
    /// The factor has this format; the first one is copied.
    pub fn multiply(&self, is_first: bool, (format, factor): (DataFormat, &[u8]), memory: &mut Memory) {
        let Memory { a, b, dst, .. } = memory;
        let input = Input::new(format, true);
        if is_first {
            input.to_dst(&self.math, factor, a, dst);
            return;
        }
        input.to_src(factor, b);
        tt_fpu::move_dst_to_src(&self.math, dst, a);
        let before = *dst;
        // What is in a 32-bit Dst is a tile of FP32.
        let plain = format == DataFormat::Float32 && cfg!(target_endian = "little") && {
            let so_far = Datums::Singles(bytemuck::bytes_of(&before));
            exact::eltwise(self.level, &self.math, EltwiseOp::Mul, Results::Words(dst), so_far, Second::Words(b))
        };
        if !plain {
            tt_fpu::eltwise(&self.math, EltwiseOp::Mul, Broadcast::None, false, dst, a, b);
        }
    }

    /// Packs the product.
    pub fn pack(&self, memory: &Memory, out: &mut [u8]) {
        pack::pack_tile(&self.packer, &memory.dst, out);
    }
}

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
    fn a_wide_product_has_the_bits_of_the_matrix_unit() {
        let mut random = Random::new(3);
        for format in [DataFormat::Float32, DataFormat::Bfp8B] {
            let chain = WideChain::new(&program(format));
            let input = Input::new(format, true);
            let mut memory = Memory::new();
            for round in 0..40 {
                let [mut a, mut b, mut expected] = [ZERO; 3];
                for index in 0..=round % 5 {
                    let mut tile = vec![0; format.tile_bytes(TileShape::FULL)];
                    for datum in tile.as_chunks_mut::<4>().0 {
                        let exponents = [0, 1, 2, 64, 90, 126, 127, 128, 160, 254, 255];
                        let word = random.below(1 << 16) << 16 | random.below(1 << 16);
                        let exponent = exponents[random.below(11) as usize] << 23;
                        *datum = if round % 2 == 0 { word } else { word & !(255 << 23) | exponent }.to_le_bytes();
                    }
                    chain.multiply(index == 0, (format, &tile), &mut memory);
                    if index == 0 {
                        input.to_dst(&chain.math, &tile, &mut a, &mut expected);
                    } else {
                        tt_fpu::move_dst_to_src(&chain.math, &expected, &mut a);
                        input.to_src(&tile, &mut b);
                        let math = &chain.math;
                        tt_fpu::eltwise_scalar(math, EltwiseOp::Mul, Broadcast::None, false, &mut expected, &a, &b);
                    }
                }
                assert!(memory.dst == expected, "{format:?}, round {round}");
            }
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
