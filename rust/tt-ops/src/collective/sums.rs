//! Sums over the chips of a group.
//!
//! They are added in the order of the official program.
//! Partial sums that travel have the format of the tensor: each is packed. Sums of slices differ in the order of chips, so
//! that the same tensor has other sums on a ring than on a line.
use tt_cpu::Level;
use tt_formats::{Arch, DataFormat, TileShape};
use tt_fpu::bf16_lanes::{self, Reader};
use tt_fpu::{Broadcast, EltwiseOp, MathConfig, MathFidelity, eltwise_at};
use tt_memory::access::Pages;
use tt_memory::{BufferId, Device};
use tt_tensix::pack::{self, PackConfig};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};

use super::{Groups, Slices, check, pages_of_chips};
use crate::{OpError, for_each_page};

/// The order in which the tiles of chips are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// In `Dst`: the own tile first, then the others', two at a time; one conversion at the end.
    Direct,
    /// Two partial sums travel around the ring and meet; their ways take turns at every chunk of so many tiles.
    Ring {
        /// Tiles of a chunk, counted in each matrix of a slice.
        chunk: usize,
    },
    /// One partial sum travels all around the ring, in one direction or the other by tile.
    Turn {
        /// Tiles of a chunk, counted in what the slice has of each batch.
        chunk: usize,
    },
    /// Two partial sums travel from the ends; the one from the first chip is added first.
    Line,
    /// In `Dst`: two chips at a time, in the order of the group.
    Pairs,
    /// In `Dst`: one chip after the other, in the order of the group.
    Sequential,
}

/// A sum over chips.
#[derive(Clone, Copy, Debug)]
pub struct SumProgram {
    /// Format of all tensors.
    pub format: DataFormat,
    /// A 32-bit `Dst`.
    pub dst32: bool,
    /// Order of additions.
    pub order: Order,
    /// The slices of which each chip gets one.
    ///
    /// None if each gets the whole sum.
    pub slices: Option<Slices>,
    /// Tiles of a result within which chunks are counted.
    pub matrix: usize,
    /// Rules of the chips.
    pub arch: Arch,
}

impl SumProgram {
    /// Checks that it can add so many chips, and pages of this size.
    fn check(&self, chips: usize, page: usize, tile: usize) -> Result<(), OpError> {
        let fits = match self.order {
            Order::Ring { chunk } => chips >= 4 && chips.is_multiple_of(2) && chunk > 0,
            Order::Turn { chunk } => (1..=usize::MAX / 2).contains(&chunk),
            Order::Pairs => chips.is_multiple_of(2),
            Order::Direct | Order::Line | Order::Sequential => true,
        };
        if fits && page == tile && self.matrix > 0 {
            return Ok(());
        }
        let what = format!("{self:?} of {chips} chips, with pages of {page} B");
        Err(OpError::Invariant { operator: "reduce_scatter", what })
    }
}

/// What a worker needs.
struct Memory {
    src: Tile,
    other: Tile,
    dst: Tile,
    pages: [[u8; 2048]; 2],
    /// Partial sums, and room for another one.
    partial: [Vec<u8>; 2],
    spare: Vec<u8>,
}

/// Adds tiles of one format.
struct Adder {
    level: Level,
    input: Input,
    math: MathConfig,
    packer: PackConfig,
    /// Set where a sum of two tiles is one of halves.
    halves: Option<Reader>,
}

/// Writes the sum of a group's tiles to each of its chips.
///
/// # Errors
/// Buffers of other sizes; memory.
pub fn sum(
    device: &mut Device,
    groups: &Groups,
    program: &SumProgram,
    input: BufferId,
    output: BufferId,
) -> Result<(), OpError> {
    let count = groups.size();
    let pages = device.buffer(output)?.num_pages();
    let given = program.slices.map_or(pages, |slices| slices.all(count));
    let results = program.slices.map_or(pages, Slices::pages);
    check(device, "reduce_scatter", (input, given), (output, results))?;
    let bytes = program.format.tile_bytes(TileShape::FULL);
    program.check(count, device.buffer(input)?.page_bytes(), bytes)?;
    let adder = Adder::new(program);
    let access = device.access_all(&[output])?;
    let inputs = pages_of_chips(&access, input, groups.places())?;
    let outputs = access.iter().map(|access| access.output(output)).collect::<Result<Vec<_>, _>>()?;
    let make = || {
        let (partial, spare) = ([vec![0; bytes], vec![0; bytes]], vec![0; bytes]);
        Box::new(Memory { src: ZERO, other: ZERO, dst: ZERO, pages: [[0; 2048]; 2], partial, spare })
    };
    for_each_page(groups.chips() * results, make, |memory, item| {
        let (group, member) = groups.member(item / results);
        let page = item % results;
        if !access[group[member]].is_own() {
            return Ok(());
        }
        let from = program.slices.map_or(page, |slices| slices.page(count, member, page));
        let tile = |position: usize| {
            let pages: Option<&Pages<'_>> = inputs[group[position % count]].as_ref();
            pages.map_or(&[][..], |pages| pages.page(from))
        };
        let target = outputs[group[member]].claim(page)?;
        let odd_chunk = match program.order {
            Order::Ring { chunk } => page % program.matrix / chunk % 2 == 1,
            Order::Turn { chunk } => goes_up(page % program.matrix, program.matrix, chunk),
            _ => false,
        };
        adder.sum(memory, program.order, (member, count), odd_chunk, tile, target);
        Ok(())
    })
}

/// Returns true if a tile's sum of [`Order::Turn`] begins at the next chip, and goes on to higher ones.
///
/// Chunks take turns; the first one of each pair is at most half of what is left.
fn goes_up(tile: usize, tiles: usize, chunk: usize) -> bool {
    let first = tile / (2 * chunk) * (2 * chunk);
    tile < first + ((tiles - first) / 2).min(chunk)
}

impl Adder {
    fn new(program: &SumProgram) -> Self {
        let level = Level::current();
        let input = Input::new(program.format, program.dst32);
        let dst = tile_io::dst_format(program.format, program.dst32);
        let math = MathConfig { fidelity: MathFidelity::HiFi4, dst, alu: input.register, arch: program.arch };
        let packer = PackConfig::new(dst, program.format);
        // In BF16 the packer leaves a sum as it is.
        let plain = program.format == DataFormat::Float16B && bf16_lanes::supports(level, &math);
        let halves = if plain && cfg!(target_endian = "little") { Reader::new(program.format, level) } else { None };
        Self { level, input, math, packer, halves }
    }

    /// The sum of one tile for the chip at a position.
    fn sum<'t>(
        &self,
        memory: &mut Memory,
        order: Order,
        (own, count): (usize, usize),
        odd_chunk: bool,
        tile: impl Fn(usize) -> &'t [u8],
        target: &mut [u8],
    ) {
        match order {
            Order::Direct => {
                let others = (0..count).filter(|&other| other != own);
                self.in_dst(memory, std::iter::once(own).chain(others).map(tile), count % 2 == 1, target);
            }
            Order::Pairs => self.in_dst(memory, (0..count).map(tile), false, target),
            Order::Sequential => {
                memory.dst.fill(0);
                memory.other.fill(0);
                for position in 0..count {
                    self.input.to_src(tile(position), &mut memory.src);
                    self.accumulate(memory);
                }
                pack::pack_tile(&self.packer, &memory.dst, target);
            }
            Order::Line => {
                let Memory { partial: [forward, backward], .. } = memory;
                let (mut first, mut second) = (std::mem::take(forward), std::mem::take(backward));
                target.copy_from_slice(tile(own));
                if own > 0 {
                    self.fold(memory, (0..own).map(&tile), &mut first);
                    second.copy_from_slice(target);
                    self.add(memory, &second, &first, target);
                }
                if own + 1 < count {
                    self.fold(memory, (own + 1..count).rev().map(&tile), &mut first);
                    second.copy_from_slice(target);
                    self.add(memory, &second, &first, target);
                }
                memory.partial = [first, second];
            }
            Order::Turn { .. } => {
                let mut sum = std::mem::take(&mut memory.partial[0]);
                let step = |step: usize| tile(if odd_chunk { own + step } else { own + count - step });
                self.fold(memory, (1..=count).map(step), &mut sum);
                target.copy_from_slice(&sum);
                memory.partial[0] = sum;
            }
            Order::Ring { .. } => {
                let half = count / 2;
                let (before, after) = if odd_chunk { (half - 1, half) } else { (half, half - 1) };
                let [mut forward, mut backward] = std::mem::take(&mut memory.partial);
                self.fold(memory, (1..=before).rev().map(|step| tile(own + count - step)), &mut forward);
                self.fold(memory, (1..=after).rev().map(|step| tile(own + step)), &mut backward);
                self.copy(memory, &backward);
                self.input.to_src(&forward, &mut memory.src);
                self.input.to_src(tile(own), &mut memory.other);
                self.accumulate(memory);
                pack::pack_tile(&self.packer, &memory.dst, target);
                memory.partial = [forward, backward];
            }
        }
    }

    /// Adds tiles in `Dst`, two at a time; the first one alone if asked.
    fn in_dst<'t>(
        &self,
        memory: &mut Memory,
        mut tiles: impl Iterator<Item = &'t [u8]>,
        first_alone: bool,
        target: &mut [u8],
    ) {
        memory.dst.fill(0);
        if first_alone && let Some(tile) = tiles.next() {
            self.copy(memory, tile);
        }
        while let (Some(first), Some(second)) = (tiles.next(), tiles.next()) {
            self.input.to_src(first, &mut memory.src);
            self.input.to_src(second, &mut memory.other);
            self.accumulate(memory);
        }
        pack::pack_tile(&self.packer, &memory.dst, target);
    }

    /// Copies a tile to `Dst`, by way of `SrcA`.
    fn copy(&self, memory: &mut Memory, tile: &[u8]) {
        self.input.to_src(tile, &mut memory.src);
        memory.other.fill(0);
        memory.dst.fill(0);
        self.accumulate(memory);
    }

    /// ELWADD of both registers onto `Dst`.
    fn accumulate(&self, memory: &mut Memory) {
        let (Memory { src, other, dst, .. }, op) = (memory, (EltwiseOp::Add, Broadcast::None));
        eltwise_at(self.level, &self.math, op, true, dst, src, other);
    }

    /// A partial sum that travels past chips: the first one's tile as it is, a conversion at each further one.
    fn fold<'t>(&self, memory: &mut Memory, mut tiles: impl Iterator<Item = &'t [u8]>, partial: &mut Vec<u8>) {
        if let Some(first) = tiles.next() {
            partial.copy_from_slice(first);
        }
        let mut sum = std::mem::take(&mut memory.spare);
        for tile in tiles {
            self.add(memory, partial, tile, &mut sum);
            std::mem::swap(partial, &mut sum);
        }
        memory.spare = sum;
    }

    /// The sum of two tiles, converted to the format of the tensor.
    fn add(&self, memory: &mut Memory, a: &[u8], b: &[u8], target: &mut [u8]) {
        if let (Some(reader), Some(half)) = (self.halves, tile_io::halves_mut(target)) {
            let [first, second] = &mut memory.pages;
            let (a, b) = (reader.read(a, first), reader.read(b, second));
            if bf16_lanes::run(self.level, &self.math, EltwiseOp::Add, half, a, b) {
                return;
            }
        }
        self.input.to_src(a, &mut memory.src);
        self.input.to_src(b, &mut memory.other);
        let op = (EltwiseOp::Add, Broadcast::None);
        eltwise_at(self.level, &self.math, op, false, &mut memory.dst, &memory.src, &memory.other);
        pack::pack_tile(&self.packer, &memory.dst, target);
    }
}
