//! Pooling of sticks: every output is the largest or a weighted sum of some rows of channels.
//!
//! A maximum is exact. A sum goes through `SrcA` 16 sticks at a time, one to a row of a face, with the weights in `SrcB`;
//! a face is added to `Dst` after the other.

use tt_cpu::Level;
use tt_formats::{DataFormat, TileShape};
use tt_memory::access::{Output, Pages};
use tt_memory::{BufferId, Device};
use tt_tensix::fpu::{Arch, MathConfig, MathFidelity, PoolOp, ReduceDim, Reduction};
use tt_tensix::pack::{EdgeMask, PackConfig, Packer};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};

use crate::{OpError, for_each_page};

const NAME: &str = "pool of sticks";
const FORMAT: DataFormat = DataFormat::Float16B;
/// Channels that one tile takes, and sticks.
const TILE: usize = 32;
const MINUS_INFINITY: u16 = 0xff80;

/// What the program is built with.
#[derive(Clone, Debug)]
pub struct StickProgram {
    /// Channels of a stick.
    pub channels: usize,
    /// Sticks of a window.
    pub window: usize,
    /// Numbers of the sticks of every window, -1 where there is none.
    pub sticks: Vec<i32>,
    /// Rows of weights, FP32 bits, one for each stick of a window; none for the largest.
    pub weights: Vec<u32>,
    /// Which row of weights each window has.
    pub rows: Vec<u32>,
    /// 32-bit Dst.
    pub dst32: bool,
    /// Fidelity of products.
    pub fidelity: MathFidelity,
    /// Chip.
    pub arch: Arch,
}

impl StickProgram {
    fn outputs(&self) -> usize {
        self.sticks.len() / self.window.max(1)
    }

    fn check(&self, device: &Device, input: BufferId, output: BufferId) -> Result<(), OpError> {
        let refuse = |what: String| Err(OpError::Invariant { operator: NAME, what });
        let (from, to) = (device.buffer(input)?, device.buffer(output)?);
        let bytes = 2 * self.channels;
        if self.window == 0 || self.channels == 0 || !self.sticks.len().is_multiple_of(self.window) {
            return refuse(format!("{} sticks in windows of {}", self.sticks.len(), self.window));
        }
        if from.page_bytes() < bytes || to.page_bytes() < bytes || to.num_pages() != self.outputs() {
            return refuse(format!("{} outputs of {} channels", to.num_pages(), self.channels));
        }
        if self.sticks.iter().any(|&stick| stick < -1 || stick >= from.num_pages() as i32) {
            return refuse(format!("sticks beyond {}", from.num_pages()));
        }
        let sets = self.weights.len() / self.window;
        let weighted = !self.weights.is_empty();
        if weighted && (self.rows.len() != self.outputs() || self.rows.iter().any(|&row| row as usize >= sets)) {
            return refuse(format!("{} windows with {sets} rows of weights", self.rows.len()));
        }
        Ok(())
    }
}

/// Runs the program on row-major bfloat16, a page for each stick.
///
/// # Errors
/// Memory errors; buffers that do not hold what the program asks for.
pub fn pool(device: &mut Device, input: BufferId, output: BufferId, program: &StickProgram) -> Result<(), OpError> {
    program.check(device, input, output)?;
    let access = device.access(&[output])?;
    let (pages, target) = (access.input(input)?.all()?, access.output(output)?);
    if program.weights.is_empty() {
        return for_each_page(program.outputs(), Vec::new, |keys, item| largest(program, &pages, &target, keys, item));
    }
    let sums = Sums::new(program)?;
    for_each_page(program.outputs(), Registers::default, |registers, item| {
        sums.output(&pages, &target, registers, item)
    })
}

/// A bfloat16 word in the order of sign and magnitude, denormals being zero; and back, NaN being infinity.
fn key(word: u16) -> i16 {
    let word = (if word & 0x7f80 == 0 { 0 } else { word }) as i16;
    word ^ (word >> 15 & i16::MAX)
}

fn word(key: i16) -> u16 {
    let word = (key ^ (key >> 15 & i16::MAX)) as u16;
    if word & 0x7fff > 0x7f80 { word & 0xff80 } else { word }
}

fn largest(
    program: &StickProgram,
    pages: &Pages<'_>,
    output: &Output<'_>,
    keys: &mut Vec<i16>,
    item: usize,
) -> Result<(), OpError> {
    keys.clear();
    keys.resize(program.channels, key(MINUS_INFINITY));
    for &stick in &program.sticks[item * program.window..][..program.window] {
        if let Ok(stick) = usize::try_from(stick) {
            for (most, datum) in keys.iter_mut().zip(pages.page(stick).as_chunks().0) {
                *most = (*most).max(key(u16::from_le_bytes(*datum)));
            }
        }
    }
    for (datum, &key) in output.claim(item)?.as_chunks_mut().0.iter_mut().zip(&*keys) {
        *datum = word(key).to_le_bytes();
    }
    Ok(())
}

/// Weighted sums.
struct Sums<'p> {
    program: &'p StickProgram,
    level: Level,
    input: Input,
    packer: Packer,
    /// For each row of weights, those of every 32 sticks.
    reductions: Vec<Vec<Reduction>>,
}

struct Registers {
    sticks: Vec<u8>,
    src: Tile,
    dst: Tile,
    packed: Vec<u8>,
}

impl Default for Registers {
    fn default() -> Self {
        Self { sticks: vec![0; 2048], src: ZERO, dst: ZERO, packed: vec![0; 2048] }
    }
}

impl<'p> Sums<'p> {
    fn new(program: &'p StickProgram) -> Result<Self, OpError> {
        let level = Level::current();
        let input = Input::new(FORMAT, program.dst32);
        let dst = tile_io::dst_format(FORMAT, program.dst32);
        let math = MathConfig { fidelity: program.fidelity, dst, alu: input.register, arch: program.arch };
        let config = PackConfig { edge: EdgeMask::Row0, ..PackConfig::new(dst, FORMAT) };
        let packer = Packer::new(&config, level)
            .map_err(|error| OpError::Invariant { operator: NAME, what: error.to_string() })?;
        let reductions = program.weights.chunks(program.window).map(|weights| {
            let of_tile = |weights: &[u32]| {
                // A pool takes the weights of a face's rows from the columns of that face's first row.
                let factors: Tile = std::array::from_fn(|index| {
                    let (row, column) = TileShape::FULL.position(index);
                    let place = row / 16 * 16 + column % 16;
                    weights.get(place).map_or(0, |&bits| tile_io::src_word(input.register, bits & 0x7fff_0000))
                });
                Reduction::pool(&math, input.register, (PoolOp::Sum, ReduceDim::Column), &factors)
            };
            weights.chunks(TILE).map(of_tile).collect()
        });
        Ok(Self { program, level, input, packer, reductions: reductions.collect() })
    }

    fn output(
        &self,
        pages: &Pages<'_>,
        output: &Output<'_>,
        registers: &mut Registers,
        item: usize,
    ) -> Result<(), OpError> {
        let program = self.program;
        let window = &program.sticks[item * program.window..][..program.window];
        let reductions = &self.reductions[program.rows[item] as usize];
        let target = output.claim(item)?;
        for first in (0..program.channels).step_by(TILE) {
            let count = TILE.min(program.channels - first);
            registers.dst.fill(0);
            for (part, reduction) in window.chunks(TILE).zip(reductions) {
                registers.sticks.fill(0);
                for (row, &stick) in part.iter().enumerate() {
                    let Ok(stick) = usize::try_from(stick) else { continue };
                    let stick = &pages.page(stick)[2 * first..2 * (first + count)];
                    for (half, datums) in stick.chunks(32).enumerate() {
                        let at = 2 * TileShape::FULL.index(row, 16 * half);
                        registers.sticks[at..at + datums.len()].copy_from_slice(datums);
                    }
                }
                self.input.to_src(&registers.sticks, &mut registers.src);
                reduction.run(self.level, &mut registers.dst, &registers.src);
            }
            self.packer.pack(&registers.dst, &mut registers.packed);
            for (half, datums) in target[2 * first..2 * (first + count)].chunks_mut(32).enumerate() {
                let at = 2 * TileShape::FULL.index(0, 16 * half);
                datums.copy_from_slice(&registers.packed[at..at + datums.len()]);
            }
        }
        Ok(())
    }
}
