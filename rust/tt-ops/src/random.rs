//! Random numbers: `rand` and `uniform`, `bernoulli`, `dropout`, `randn`.
//!
//! Every core has one 32-bit shift register, the same in all 32 lanes. A tile is made face by face, a face by eight
//! accesses of 32 lanes: four rows, of which the even ones take the even columns. The register of a core runs on from
//! tile to tile, so the split of tiles over cores decides the numbers.

use tt_formats::DataFormat;
use tt_fpu::{Arch, CopyTile, MathConfig, MathFidelity};
use tt_memory::{BufferId, Device};
use tt_sfpu::fma;
use tt_tensix::pack::{self, DstFormat, PackConfig};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};

use crate::pages::{self, Old};
use crate::{Chain, OpError};

const LANES: usize = 32;
const FACES: usize = 4;
const ACCESSES: usize = 8;
const FACE: usize = 256;
/// Draws of a face of uniform numbers: one before the first access and one after each.
const UNIFORM_DRAWS: usize = 1 + ACCESSES;
const ONE: u32 = 0x3f80_0000;
/// 2^-31.
const UNIT: u32 = 0x3000_0000;
/// Added to the seed for every tile before a core's first.
const TILE_STEP: u32 = 0x9e37_79b9;
/// Below this scale, 2^-95, the exponent cannot be lowered by 31.
const SMALL: u32 = 0x1000_0000;

/// The generator of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Generator(u32);

impl Generator {
    fn draw(&mut self) -> u32 {
        let drawn = self.0;
        let parity = (drawn & 0x8020_0003).count_ones() & 1;
        self.0 = (parity ^ 1) << 31 | drawn >> 1;
        drawn
    }

    fn skip(mut self, draws: usize) -> Self {
        for _ in 0..draws {
            self.draw();
        }
        self
    }
}

/// The split of tiles over cores.
#[derive(Clone, Copy, Debug)]
pub struct Split {
    /// Seed of the call.
    pub seed: u32,
    /// Cores that the program runs on at most.
    pub cores: usize,
}

impl Split {
    /// The generator before each tile. `of_core` gives a core's seed from its number and its first tile.
    fn generators(self, tiles: usize, draws: usize, of_core: impl Fn(u32, u32) -> u32) -> Vec<Generator> {
        let cores = self.cores.clamp(1, tiles.max(1));
        let mut generators = Vec::with_capacity(tiles);
        for core in 0..cores {
            let count = tiles / cores + usize::from(core < tiles % cores);
            let mut generator = Generator(of_core(core as u32, generators.len() as u32));
            for _ in 0..count {
                generators.push(generator);
                generator = generator.skip(draws);
            }
        }
        generators
    }

    /// As `rand_tile_init` seeds: every core otherwise.
    fn uniform(self, tiles: usize, draws: usize) -> Vec<Generator> {
        self.generators(tiles, draws, |core, first| {
            let seed = self.seed.wrapping_add(core).wrapping_add(first.wrapping_mul(TILE_STEP));
            // The register with all bits set would stay as it is.
            if seed == u32::MAX { seed - 1 } else { seed }
        })
    }
}

fn salt(lane: usize) -> u32 {
    let a = (2 * lane as u32).wrapping_sub(151);
    let b = (a << 20) ^ a;
    (b << 5) ^ b
}

fn mixed(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_add(x << 10);
    x ^= x >> 6;
    x = x.wrapping_add(x << 13);
    x ^ x >> 16
}

/// Bits that depend on all bits of `x`: neighbouring lanes of [`mixed`] alone would show in normal numbers.
fn scattered(x: u32) -> u32 {
    let x = mixed(x).wrapping_mul(0x85eb_ca6b);
    let x = (x ^ x >> 13).wrapping_mul(0xc2b2_ae35);
    (x ^ x >> 16) & 0x7fff_ffff
}

/// Where the datum of a lane lies in its face.
fn place(access: usize, lane: usize) -> usize {
    (access / 2 * 4 + lane / 8) * 16 + lane % 8 * 2 + access % 2
}

/// Makes a face of one number for each 31 random bits.
fn face(generator: &mut Generator, out: &mut [u32], value: impl Fn(u32) -> u32) {
    let salts: [u32; LANES] = std::array::from_fn(salt);
    let start = generator.draw();
    let mut state = salts.map(|salt| start.wrapping_add(salt));
    for access in 0..ACCESSES {
        let next = generator.draw();
        for (lane, x) in state.iter_mut().enumerate() {
            out[place(access, lane)] = value(mixed(*x) & 0x7fff_ffff);
            *x = next.wrapping_add(salts[lane]);
        }
    }
}

/// The bits of a number that the store to Dst keeps.
fn kept_by_dst(dst32: bool) -> u32 {
    if dst32 { u32::MAX } else { 0xffff_0000 }
}

/// Numbers from `low` on, spread over `scale`, both as FP32 bits.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// Smallest.
    pub low: u32,
    /// Distance of the largest from it.
    pub scale: u32,
    /// 32-bit Dst; the store to a 16-bit one cuts.
    pub dst32: bool,
    /// Chip.
    pub arch: Arch,
}

impl Range {
    fn value(self, bits: u32) -> u32 {
        let number = (bits as f32).to_bits();
        if self.scale < SMALL {
            return fma(fma(number, UNIT, 0, self.arch), self.scale, self.low, self.arch);
        }
        fma(number, self.scale - (31 << 23), self.low, self.arch)
    }

    fn tile(self, mut generator: Generator, out: &mut Tile) {
        let kept = kept_by_dst(self.dst32);
        out.chunks_exact_mut(FACE).for_each(|out| face(&mut generator, out, |bits| self.value(bits) & kept));
    }
}

/// Fills a tiled buffer with uniform numbers of a range.
///
/// # Errors
/// Memory errors.
pub fn uniform(
    device: &mut Device,
    output: BufferId,
    format: DataFormat,
    range: Range,
    split: Split,
) -> Result<(), OpError> {
    let generators = split.uniform(device.buffer(output)?.num_pages(), FACES * UNIFORM_DRAWS);
    let packer = PackConfig::new(DstFormat::Fp32, format);
    let access = device.access(&[output])?;
    pages::for_each_target(
        &access,
        output,
        Old::Unread,
        || ZERO,
        |tile, page, target| {
            range.tile(generators[page], tile);
            pack::pack_tile(&packer, tile, target);
            Ok(())
        },
    )
}

/// Writes 1 with the probability that the input has, else 0.
///
/// The formats are `Float32` or `Float16B`.
///
/// # Errors
/// Memory errors; differing page counts.
pub fn bernoulli(
    device: &mut Device,
    input: BufferId,
    output: BufferId,
    formats: (DataFormat, DataFormat),
    (dst32, arch): (bool, Arch),
    split: Split,
) -> Result<(), OpError> {
    let pages = device.buffer(output)?.num_pages();
    if device.buffer(input)?.num_pages() != pages {
        return Err(OpError::Invariant { operator: "bernoulli", what: "input and output differ in pages".into() });
    }
    let generators = split.uniform(pages, FACES * UNIFORM_DRAWS);
    let range = Range { low: 0, scale: ONE - 1, dst32, arch };
    let access = device.access(&[output])?;
    let source = if input == output { None } else { Some(access.input(input)?.all()?) };
    let old = if source.is_none() { Old::Read } else { Old::Unread };
    pages::for_each_target(
        &access,
        output,
        old,
        || ZERO,
        |tile, page, target| {
            range.tile(generators[page], tile);
            for (index, word) in tile.iter_mut().enumerate() {
                let bytes = source.as_ref().map_or(&*target, |source| source.page(page));
                let probability = match formats.0 {
                    DataFormat::Float32 => u32::from_le_bytes(std::array::from_fn(|byte| bytes[4 * index + byte])),
                    _ => u32::from(u16::from_le_bytes([bytes[2 * index], bytes[2 * index + 1]])) << 16,
                };
                *word = if f32::from_bits(*word) < f32::from_bits(probability) { ONE } else { 0 };
            }
            match formats.1 {
                DataFormat::Float32 => write(target, tile, u32::to_le_bytes),
                _ => write(target, tile, |word| ((word >> 16) as u16).to_le_bytes()),
            }
            Ok(())
        },
    )
}

fn write<const N: usize>(target: &mut [u8], tile: &Tile, bytes: impl Fn(u32) -> [u8; N]) {
    for (out, &word) in target.chunks_exact_mut(N).zip(tile) {
        out.copy_from_slice(&bytes(word));
    }
}

/// Settings of `dropout`.
#[derive(Clone, Copy, Debug)]
pub struct Dropout {
    /// Format of input and output.
    pub format: DataFormat,
    /// Draws up to this one, of 31 bits, give zero.
    pub limit: u32,
    /// Factor of what stays, as FP32 bits.
    pub scale: u32,
    /// Chip.
    pub arch: Arch,
}

/// Multiplies by the scale and zeroes 32 datums at a time.
///
/// Every core has the same seed. Input and output may be one buffer.
///
/// # Errors
/// Memory errors; differing page counts.
pub fn dropout(
    device: &mut Device,
    input: BufferId,
    output: BufferId,
    program: Dropout,
    split: Split,
) -> Result<(), OpError> {
    let pages = device.buffer(output)?.num_pages();
    if device.buffer(input)?.num_pages() != pages {
        return Err(OpError::Invariant { operator: "dropout", what: "input and output differ in pages".into() });
    }
    let generators = split.generators(pages, FACES * ACCESSES, |_, _| split.seed);
    let entry = Input::new(program.format, false);
    let dst = tile_io::dst_format(program.format, false);
    let math = MathConfig { fidelity: MathFidelity::HiFi4, dst, alu: entry.register, arch: program.arch };
    let packer = PackConfig::new(dst, program.format);
    let access = device.access(&[output])?;
    let source = if input == output { None } else { Some(access.input(input)?.all()?) };
    let old = if source.is_none() { Old::Read } else { Old::Unread };
    pages::for_each_target(
        &access,
        output,
        old,
        || (ZERO, ZERO),
        |(src, tile), page, target| {
            let mut generator = generators[page];
            entry.to_dst(&math, source.as_ref().map_or(&*target, |source| source.page(page)), src, tile);
            for face in tile.chunks_exact_mut(FACE) {
                for step in 0..ACCESSES {
                    let dropped = generator.draw() & 0x7fff_ffff <= program.limit;
                    for lane in 0..LANES {
                        let datum = &mut face[place(step, lane)];
                        *datum = if dropped { 0 } else { fma(*datum, program.scale, 0, program.arch) & 0xffff_0000 };
                    }
                }
            }
            pack::pack_tile(&packer, tile, target);
            Ok(())
        },
    )
}

/// Fills a tiled buffer with standard normal numbers.
///
/// `sqrt(-2 log(u)) * cos(2 pi v)`, of which the functions are those of the vector unit. A face of `u` comes before its
/// face of `v`.
///
/// # Errors
/// Memory errors.
pub fn normal(
    device: &mut Device,
    output: BufferId,
    format: DataFormat,
    (dst32, arch): (bool, Arch),
    split: Split,
) -> Result<(), OpError> {
    const MINUS_TWO: u32 = 0xc000_0000;
    const TWO_PI: u32 = 0x40c9_0fdb;
    let log = Chain::of(arch, "log", "accurate", &[])?;
    let root = Chain::of(arch, "sqrt", "accurate", &[])?;
    let cosine = Chain::of(arch, "cos", "default", &[])?;
    let generators = split.uniform(device.buffer(output)?.num_pages(), FACES * 2 * UNIFORM_DRAWS);
    let packer = PackConfig::new(DstFormat::Fp32, format);
    let turn = Range { low: 0, scale: TWO_PI, dst32: true, arch };
    let access = device.access(&[output])?;
    pages::for_each_target(
        &access,
        output,
        Old::Unread,
        || (ZERO, ZERO),
        |(radius, angle), page, target| {
            let mut generator = generators[page];
            for (radius, angle) in radius.chunks_exact_mut(FACE).zip(angle.chunks_exact_mut(FACE)) {
                // Never zero, whose logarithm is infinite.
                face(&mut generator, radius, |bits| fma(((scattered(bits) + 1) as f32).to_bits(), UNIT, 0, arch));
                face(&mut generator, angle, |bits| turn.value(scattered(!bits)));
            }
            log.apply(radius, true);
            for word in radius.iter_mut() {
                *word = fma(*word, MINUS_TWO, 0, arch);
            }
            root.apply(radius, true);
            cosine.apply(angle, true);
            for (radius, &angle) in radius.iter_mut().zip(&*angle) {
                *radius = fma(*radius, angle, 0, arch) & kept_by_dst(dst32);
            }
            pack::pack_tile(&packer, radius, target);
            Ok(())
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_is_the_state_and_shifts_in_the_inverted_parity() {
        let mut generator = Generator(1);
        assert_eq!(generator.draw(), 1);
        assert_eq!(generator, Generator(0));
        assert_eq!(generator.draw(), 0);
        assert_eq!(generator, Generator(0x8000_0000));
    }

    #[test]
    fn an_access_takes_every_place_of_a_face_once() {
        let mut places: Vec<usize> =
            (0..ACCESSES).flat_map(|access| (0..LANES).map(move |lane| place(access, lane))).collect();
        assert_eq!(&places[..9], &[0, 2, 4, 6, 8, 10, 12, 14, 16]);
        places.sort_unstable();
        assert!(places.into_iter().eq(0..FACE));
    }

    #[test]
    fn the_first_cores_take_a_tile_more_and_the_generator_runs_on() {
        let split = Split { seed: 5, cores: 3 };
        let generators = split.generators(7, 4, |core, first| 100 * core + first);
        let seeded = |seed: u32| Generator(seed);
        assert_eq!(generators[0], seeded(0));
        assert_eq!(generators[2], seeded(0).skip(8));
        assert_eq!(generators[3], seeded(103));
        assert_eq!(generators[5], seeded(205));
        assert_eq!(generators.len(), 7);
    }

    #[test]
    fn the_seed_that_would_stand_still_is_replaced() {
        let split = Split { seed: u32::MAX, cores: 1 };
        assert_eq!(split.uniform(1, 1), [Generator(u32::MAX - 1)]);
    }

    #[test]
    fn tiny_scales_do_not_wrap() {
        let range = Range { low: 0, scale: 0x0100_0000, dst32: true, arch: Arch::Wormhole };
        let largest = f32::from_bits(range.value(0x7fff_ffff));
        assert!(largest <= f32::from_bits(0x0100_0000) && largest > 0.0);
    }
}
