//! Products: of all tiles of a tensor, of the tiles of a leading dimension, and of the rows or columns of matrices.
//!
//! Each is a chain of multiplications on the matrix unit whose result goes to L1 and comes back as an operand. The chip
//! runs one program per factor; here a chain stays with the worker that makes its end.

mod anew;
mod lines;

use tt_cpu::{Level, simd_kernel, stream};
use tt_formats::{DataFormat, TileShape, unpack};
use tt_memory::{BufferId, Device};
use tt_tensix::fpu::bf16_lanes::{self, Reader};
use tt_tensix::fpu::{self, Arch, Broadcast, EltwiseOp, HalfTile, MathConfig, MathFidelity};
use tt_tensix::pack::{self, HalfPacker, PackConfig};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};
use tt_tensix::unpack::Bf16Page;

use crate::{OpError, fill, for_each_page};

/// What is multiplied.
#[derive(Clone, Copy, Debug)]
pub enum Factors {
    /// All tiles, one after the other, in FP32; operands of shorter formats meet the upper half of what is there so
    /// far.
    Tiles,
    /// The tiles of a leading dimension.
    Leading {
        /// Its length.
        length: usize,
        /// Tiles of what lies inside it.
        inside: usize,
    },
    /// The rows or columns of matrices, every datum for itself. The products of a matrix are a row of the output.
    Lines(Lines),
}

/// Rows or columns that are multiplied.
#[derive(Clone, Copy, Debug)]
pub struct Lines {
    /// How many matrices the output has.
    pub outer: usize,
    /// How many matrices of the input are the rows of one of these.
    pub matrices: usize,
    /// The height of a matrix of the input.
    pub height: usize,
    /// Their width.
    pub width: usize,
    /// The datums of a column are multiplied; otherwise those of a row.
    pub down: bool,
    /// Datums pass through Dst first: bfloat16 denormals become zero, NaN becomes infinity. Block floats are packed
    /// there with the padding that they have, and once more without.
    pub flush: bool,
}

/// What the program is built with.
#[derive(Clone, Copy, Debug)]
pub struct ProductProgram {
    /// Format of input and output.
    pub format: DataFormat,
    /// What is multiplied.
    pub factors: Factors,
    /// Fidelity of the matrix unit.
    pub fidelity: MathFidelity,
    /// Chip.
    pub arch: Arch,
}

/// Runs the program.
///
/// # Errors
/// Memory errors; buffers that do not hold the tiles of the program.
pub fn product(
    device: &mut Device,
    input: BufferId,
    output: BufferId,
    program: &ProductProgram,
) -> Result<(), OpError> {
    let given = device.buffer(input)?.num_pages();
    let (tiles_in, tiles_out) = match program.factors {
        Factors::Tiles => (given.max(1), 1),
        Factors::Leading { length, inside } => (given, given / (length * inside).max(1) * inside),
        Factors::Lines(lines) => (lines.tiles_in(), lines.tiles_out()),
    };
    for (id, tiles, name) in [(input, tiles_in, "input"), (output, tiles_out, "output")] {
        let pages = device.buffer(id)?.num_pages();
        if pages != tiles || tiles == 0 {
            let what = format!("the {name} has {pages} tiles, the program asks for {tiles}");
            return Err(OpError::Invariant { operator: "product", what });
        }
    }
    match program.factors {
        Factors::Tiles => of_tiles(device, input, output, program),
        Factors::Leading { length, inside } => of_leading(device, input, output, program, [length, inside]),
        Factors::Lines(given) => lines::of_lines(device, input, output, program, given),
    }
}

/// The upper half of a word.
const UPPER: u32 = 0xffff_0000;

fn of_tiles(device: &mut Device, input: BufferId, output: BufferId, program: &ProductProgram) -> Result<(), OpError> {
    let (wide, format) = (DataFormat::Float32, program.format);
    let (first, running, factor) =
        (Input::direct_to_dst(format, true), Input::new(wide, true), Input::new(format, true));
    let math = |operand: Input| MathConfig {
        fidelity: program.fidelity,
        dst: tile_io::dst_format(operand.format, true),
        alu: operand.register,
        arch: program.arch,
    };
    let packer = |from, to| PackConfig::new(tile_io::result_format(from, to, true), to);
    let (enter, keep, leave) = (packer(format, wide), packer(wide, wide), packer(wide, format));
    let access = device.access(&[output])?;
    let pages = access.input(input)?.all()?;
    let count = access.buffer(input)?.num_pages();
    let target = access.claim(output, 0)?;
    if count == 1 {
        target.copy_from_slice(pages.page(0));
        return Ok(());
    }
    let [mut a, mut b, mut dst, mut words] = [ZERO; 4];
    first.to_dst(&math(first), pages.page(0), &mut a, &mut dst);
    pack::pack_tile(&enter, &dst, bytemuck::bytes_of_mut(&mut words));
    for index in 1..count {
        stream::prefetch_second_all(pages.page((index + 1).min(count - 1)));
        if format != wide {
            for word in &mut words {
                *word &= u32::from_le(UPPER);
            }
        }
        running.to_src(bytemuck::bytes_of(&words), &mut a);
        factor.to_src(pages.page(index), &mut b);
        fpu::eltwise(&math(running), EltwiseOp::Mul, Broadcast::None, false, &mut dst, &a, &b);
        if index + 1 < count {
            pack::pack_tile(&keep, &dst, bytemuck::bytes_of_mut(&mut words));
        }
    }
    pack::pack_tile(&leave, &dst, target);
    Ok(())
}

fn of_leading(
    device: &mut Device,
    input: BufferId,
    output: BufferId,
    program: &ProductProgram,
    [length, inside]: [usize; 2],
) -> Result<(), OpError> {
    let chain = Chain::new(program, program.format);
    // In FP32 the chain has bfloat16 in it from its first product on.
    let halves = program.format == DataFormat::Float32;
    let short = if halves { Chain::new(program, DataFormat::Float16B) } else { chain.clone() };
    let access = device.access(&[output])?;
    let pages = access.input(input)?.all()?;
    let last = access.buffer(input)?.num_pages() - 1;
    let tiles = access.buffer(output)?.num_pages();
    for_each_page(tiles, Memory::new, |memory, page| {
        let first = page / inside * length * inside + page % inside;
        memory.running.clone_from(&short.one);
        for index in 0..length {
            let number = first + index * inside;
            // What the next page of the result asks for.
            stream::prefetch_second_all(pages.page((number + 1).min(last)));
            if halves {
                let mut given = std::mem::take(&mut memory.given);
                to_halves::run(chain.level, pages.page(number), &mut given);
                short.multiply(&given, memory);
                memory.given = given;
            } else {
                short.multiply(pages.page(number), memory);
            }
        }
        let target = access.claim(output, page)?;
        if halves {
            chain.pack_halves(&memory.running, &mut memory.dst, target);
        } else {
            target.copy_from_slice(&memory.running);
        }
        Ok(())
    })
}

/// What a worker needs.
struct Memory {
    /// The product so far, in L1.
    running: Vec<u8>,
    /// A factor that is not taken as it is.
    given: Vec<u8>,
    pages: [Bf16Page; 2],
    half: HalfTile,
    a: Tile,
    b: Tile,
    dst: Tile,
}

impl Memory {
    fn new() -> Box<Self> {
        let (given, pages, half) = (vec![0; size_of::<Bf16Page>()], [[0; 2048]; 2], [0; 1024]);
        Box::new(Self { running: Vec::new(), given, pages, half, a: ZERO, b: ZERO, dst: ZERO })
    }
}

/// Multiplications in a 16-bit Dst, one after the other.
#[derive(Clone)]
struct Chain {
    input: Input,
    math: MathConfig,
    packer: PackConfig,
    level: Level,
    /// How lanes of 16 bits read the format, if they do, and write it.
    reader: Option<Reader>,
    short: Option<HalfPacker>,
    /// A tile of ones.
    one: Vec<u8>,
}

impl Chain {
    fn new(program: &ProductProgram, format: DataFormat) -> Self {
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
    fn multiply(&self, factor: &[u8], memory: &mut Memory) {
        self.times((self.input, self.reader), factor, memory);
    }

    /// [`Self::multiply`] by what the unpacker makes of a factor, as a tile of bfloat16 in L1.
    fn multiply_halves(&self, factor: &[u8], memory: &mut Memory) {
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
        fpu::eltwise(&self.math, EltwiseOp::Mul, Broadcast::None, false, dst, a, b);
        pack::pack_tile(&self.packer, dst, running);
    }

    /// What the packer makes of a Dst that holds a tile of bfloat16.
    fn pack_halves(&self, halves: &[u8], dst: &mut Tile, out: &mut [u8]) {
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
    use tt_testkit::random::Random;

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
