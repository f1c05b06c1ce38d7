//! Group norm as the device programs do it.
//!
//! Statistics of a group of channels over blocks of rows, joined in one tile.
//!
//! The two programs differ in how a block's sum is made: interleaved tensors reduce tile after tile onto one datum, sharded
//! ones add the tiles up first. A datum that reduces a tile has met its factor twice. With Welford's form, every row of
//! the tiles of a block has statistics of its own from the SFPU, which a RISC-V joins in FP32.

use std::ops::Range;

use tt_formats::{DataFormat, TileShape};
use tt_fpu::{Arch, Broadcast, CopyTile, EltwiseOp, MathConfig, MathFidelity, PoolOp, ReduceDim};
use tt_memory::access::{Output, Pages};
use tt_memory::{BufferId, Device};
use tt_sfpu::lane::{round_bf16_even, store_bf16};
use tt_tensix::pack::{EdgeMask, PackConfig, Packer};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};

use crate::moments::{Moments, of_lanes};
use crate::operand::filled_tile;
use crate::{Chain, OpError, for_each_page};

const NAME: &str = "group norm";
/// Bytes between the partial sums of blocks in the tile that joins them.
const APART: usize = 16;

/// Settings of the program.
#[derive(Clone)]
pub struct GroupNormProgram {
    /// Formats of input and output.
    pub formats: (DataFormat, DataFormat),
    /// Formats of the factors and any final summand.
    pub parameters: (Option<DataFormat>, Option<DataFormat>),
    /// Batches.
    pub batch: usize,
    /// Rows of tiles of a batch.
    pub rows: usize,
    /// Rows of the last of them that count.
    pub used_rows: usize,
    /// Channels.
    pub channels: usize,
    /// Channels of a group.
    pub group: usize,
    /// Tile rows of every block, in summation order.
    pub blocks: Vec<(usize, usize)>,
    /// The tiles of a block are added up before they are reduced.
    pub adds_tiles: bool,
    /// Statistics of the SFPU instead of sums; blocks are equally high.
    pub welford: bool,
    /// Factor of a block's datums, FP32 bits.
    pub local: u32,
    /// Factor of the blocks' sums.
    ///
    /// `None` if there is one block whose sum is the result.
    pub global: Option<u32>,
    /// Added to the variance, FP32 bits.
    pub epsilon: u32,
    /// The inverse root.
    pub rsqrt: Chain,
    /// Fidelity of products.
    pub fidelity: MathFidelity,
    /// 32-bit Dst.
    pub dst32: bool,
    /// Chip.
    pub arch: Arch,
}

impl GroupNormProgram {
    /// Format between the steps.
    fn kept(&self) -> DataFormat {
        if self.formats.0 == DataFormat::Float32 { DataFormat::Float32 } else { DataFormat::Float16B }
    }

    /// Columns of tiles.
    fn columns(&self) -> usize {
        self.channels.div_ceil(32)
    }

    /// Groups whose tiles hold no channel of another group: the fewest that end where a tile ends.
    fn groups_together(&self) -> usize {
        (1..=32).find(|groups| (groups * self.group).is_multiple_of(32)).unwrap_or(32)
    }

    fn check(&self) -> Result<(), OpError> {
        let whole = self.group > 0 && self.channels.is_multiple_of(self.group) && (1..=32).contains(&self.used_rows);
        let inside = self.blocks.iter().all(|&(first, end)| first <= end && end <= self.rows);
        if whole && inside && !self.blocks.is_empty() {
            return Ok(());
        }
        let what = format!("groups of {} of {} channels, blocks {:?}", self.group, self.channels, self.blocks);
        Err(OpError::Invariant { operator: NAME, what })
    }
}

/// Runs the program on the input, the factors and what is added.
///
/// Those that there are.
///
/// # Errors
/// Memory errors; buffers that do not hold what the program asks for.
pub fn group_norm(
    device: &mut Device,
    input: BufferId,
    parameters: &[BufferId],
    output: BufferId,
    program: &GroupNormProgram,
) -> Result<(), OpError> {
    program.check()?;
    let tiles = program.batch * program.rows * program.columns();
    let wanted = [program.parameters.0, program.parameters.1].into_iter().flatten().collect::<Vec<_>>();
    let sizes =
        [(input, tiles), (output, tiles)].into_iter().chain(parameters.iter().map(|&id| (id, program.columns())));
    for (id, expected) in sizes {
        let pages = device.buffer(id)?.num_pages();
        if pages != expected || parameters.len() != wanted.len() {
            let what = format!("{pages} pages, the program asks for {expected}");
            return Err(OpError::Invariant { operator: NAME, what });
        }
    }
    let steps = Steps::new(program)?;
    let access = device.access(&[output])?;
    let mut rest = parameters.iter().zip(wanted);
    let mut next = |format: Option<DataFormat>| -> Result<Option<(Pages<'_>, Input)>, OpError> {
        match format.and_then(|_| rest.next()) {
            Some((&id, format)) => Ok(Some((access.input(id)?.all()?, Input::new(format, program.dst32)))),
            None => Ok(None),
        }
    };
    let (factors, added) = (next(program.parameters.0)?, next(program.parameters.1)?);
    let kernel =
        Kernel { program, steps, input: access.input(input)?.all()?, factors, added, output: access.output(output)? };
    let together = program.groups_together();
    let parts = (program.channels / program.group).div_ceil(together);
    let new = || Registers::new(program.kept());
    for_each_page(program.batch * parts, new, |registers, item| {
        let first = item % parts * together;
        kernel.groups(item / parts, first..(first + together).min(program.channels / program.group), registers)
    })
}

/// Settings of every step.
struct Steps {
    math: MathConfig,
    input: Input,
    kept: Input,
    /// Bytes of a datum between the steps.
    size: usize,
    pack: Packer,
    pack_datum: Packer,
    pack_out: Packer,
    ones: Box<Tile>,
    local: Box<Tile>,
    global: Option<Box<Tile>>,
    epsilon: Box<Tile>,
}

impl Steps {
    fn new(program: &GroupNormProgram) -> Result<Self, OpError> {
        let dst = tile_io::dst_format(program.formats.0, program.dst32);
        let input = Input::new(program.formats.0, program.dst32);
        let format = program.kept();
        let kept = Input::new(format, program.dst32);
        let level = tt_cpu::Level::current();
        let packer = |format: DataFormat, edge: EdgeMask| {
            let config = PackConfig { edge, ..PackConfig::new(dst, format) };
            Packer::new(&config, level).map_err(|error| OpError::Invariant { operator: NAME, what: error.to_string() })
        };
        let filled = |bits: u32| {
            let mut tile = Box::new(ZERO);
            kept.to_src(&filled_tile(format, bits), &mut tile);
            tile
        };
        Ok(Self {
            math: MathConfig { fidelity: program.fidelity, dst, alu: kept.register, arch: program.arch },
            input,
            kept,
            size: format.tile_bytes(TileShape::FULL) / 1024,
            pack: packer(format, EdgeMask::None)?,
            pack_datum: packer(format, EdgeMask::Datum0)?,
            pack_out: packer(program.formats.1, EdgeMask::None)?,
            ones: filled(1.0_f32.to_bits()),
            local: filled(program.local),
            global: program.global.map(filled),
            epsilon: filled(program.epsilon),
        })
    }
}

impl Steps {
    /// A number, rounded to the format of statistics, in every datum of a source tile.
    fn everywhere(&self, number: f32) -> Tile {
        let (bits, format) = (number.to_bits(), self.kept.format);
        let bits = if format == DataFormat::Float32 { bits } else { round_bf16_even(bits) };
        let mut tile = ZERO;
        self.kept.to_src(&filled_tile(format, bits), &mut tile);
        tile
    }
}

/// Mean and variance of so many datums.
#[derive(Clone, Copy, Default)]
struct Statistics {
    mean: f32,
    variance: f32,
    count: f32,
}

impl Statistics {
    /// Those of the datums of both, operation by operation in FP32.
    fn join(self, other: Self) -> Self {
        let count = self.count + other.count;
        let distance = other.mean - self.mean;
        let mean = self.mean + distance * (other.count / count);
        let squares = self.variance * self.count + other.variance * other.count;
        let between = distance * distance * (self.count * other.count / count);
        Self { mean, variance: (squares + between) / count, count }
    }
}

/// Mean and variance of parts of equal size, in bfloat16, which the data movement processor cuts.
fn joined(mut parts: impl Iterator<Item = (f32, f32)>) -> (f32, f32) {
    let (first, mut variances) = parts.next().unwrap_or_default();
    let (mut distances, mut squares, mut count) = (0.0_f32, 0.0_f32, 1.0_f32);
    for (mean, variance) in parts {
        let distance = mean - first;
        distances += distance;
        squares += distance * distance;
        variances += variance;
        count += 1.0;
    }
    let share = 1.0 / count;
    let distance = distances * share;
    let between = squares - distances * distance;
    let cut = |value: f32| f32::from_bits(value.to_bits() & 0xffff_0000);
    (cut(first + distance), cut((variances + between) * share))
}

struct Registers {
    a: Box<Tile>,
    b: Box<Tile>,
    dst: Box<Tile>,
    sum: Box<Tile>,
    l1: Vec<u8>,
    /// Results of the groups of an item.
    tiles: Vec<u8>,
}

impl Registers {
    fn new(kept: DataFormat) -> Self {
        let tile = || Box::new(ZERO);
        let l1 = vec![0; kept.tile_bytes(TileShape::FULL)];
        Self { a: tile(), b: tile(), dst: tile(), sum: tile(), l1, tiles: Vec::new() }
    }
}

/// What is summed.
#[derive(Clone, Copy)]
enum Summed<'t> {
    Datums,
    /// Squares of the distances from the mean, which is in every datum.
    Squares(&'t Tile),
}

struct Kernel<'a> {
    program: &'a GroupNormProgram,
    steps: Steps,
    input: Pages<'a>,
    factors: Option<(Pages<'a>, Input)>,
    added: Option<(Pages<'a>, Input)>,
    output: Output<'a>,
}

impl Kernel<'_> {
    /// Columns of tiles that have channels of a group.
    fn tiles_of(&self, group: usize) -> Range<usize> {
        let size = self.program.group;
        group * size / 32..((group + 1) * size).div_ceil(32)
    }

    /// 1 in the columns of a tile that belong to a group, in the rows that count.
    fn mask(&self, group: usize, column: usize, rows: usize, tile: &mut Tile) {
        let (first, end) = (group * self.program.group, (group + 1) * self.program.group);
        for (index, word) in tile.iter_mut().enumerate() {
            let (row, place) = TileShape::FULL.position(index);
            let inside = (first..end).contains(&(32 * column + place)) && row < rows;
            *word = if inside { self.steps.ones[index] } else { 0 };
        }
    }

    fn page(&self, batch: usize, row: usize, column: usize) -> usize {
        (batch * self.program.rows + row) * self.program.columns() + column
    }

    /// Some groups of a batch that have tiles of their own.
    fn groups(&self, batch: usize, groups: Range<usize>, registers: &mut Registers) -> Result<(), OpError> {
        let (program, steps) = (self.program, &self.steps);
        let columns = self.tiles_of(groups.start).start..self.tiles_of(groups.end - 1).end;
        let bytes = steps.pack.tile_bytes();
        registers.tiles.clear();
        registers.tiles.resize(program.rows * columns.len() * bytes, 0);
        let mut mask = ZERO;
        for group in groups {
            let (mean, variance) = if program.welford {
                self.statistics_of_rows((batch, group), registers)
            } else {
                let mean = self.statistic((batch, group), Summed::Datums, registers);
                (mean, self.statistic((batch, group), Summed::Squares(&mean), registers))
            };
            let inverse = self.inverse_root(&variance, registers);
            for column in self.tiles_of(group) {
                self.mask(group, column, 32, &mut mask);
                for row in 0..program.rows {
                    self.centred((batch, row, column), &mean, &mask, registers);
                    let Registers { a, dst, l1, tiles, .. } = &mut *registers;
                    steps.kept.to_src(l1, a);
                    tt_fpu::eltwise(&steps.math, EltwiseOp::Mul, Broadcast::None, false, dst, a, &inverse);
                    steps.pack.pack(dst, l1);
                    let at = (row * columns.len() + column - columns.start) * bytes;
                    // Other groups have zeros in these columns, so that their sum is this group's datum.
                    let datums = l1.chunks_exact(steps.size).zip(&mask);
                    for (target, (datum, inside)) in tiles[at..at + bytes].chunks_exact_mut(steps.size).zip(datums) {
                        if *inside != 0 {
                            target.copy_from_slice(datum);
                        }
                    }
                }
            }
        }
        for row in 0..program.rows {
            for column in columns.clone() {
                let at = (row * columns.len() + column - columns.start) * bytes;
                self.finish(at, (batch, row, column), registers)?;
            }
        }
        Ok(())
    }

    /// The distances of a tile from the mean, zero outside of the group, packed to L1.
    fn centred(
        &self,
        (batch, row, column): (usize, usize, usize),
        mean: &Tile,
        mask: &Tile,
        registers: &mut Registers,
    ) {
        let (steps, Registers { a, dst, l1, .. }) = (&self.steps, registers);
        steps.input.to_src(self.input.page(self.page(batch, row, column)), a);
        tt_fpu::eltwise(&steps.math, EltwiseOp::Sub, Broadcast::None, false, dst, a, mean);
        steps.pack.pack(dst, l1);
        steps.kept.to_src(l1, a);
        tt_fpu::eltwise(&steps.math, EltwiseOp::Mul, Broadcast::None, false, dst, a, mask);
        steps.pack.pack(dst, l1);
    }

    /// The mean of datums or squares of a group: in every datum of a tile.
    fn statistic(&self, (batch, group): (usize, usize), summed: Summed<'_>, registers: &mut Registers) -> Tile {
        let (program, steps) = (self.program, &self.steps);
        let mut masks: Vec<(usize, Tile, Tile)> = Vec::new();
        for column in self.tiles_of(group) {
            let (mut whole, mut last) = (ZERO, ZERO);
            self.mask(group, column, 32, &mut whole);
            self.mask(group, column, program.used_rows, &mut last);
            masks.push((column, whole, last));
        }
        let apart = APART / steps.size;
        let mut joined = vec![ZERO; (program.blocks.len() * apart).div_ceil(1024)];
        for (number, &(first, end)) in program.blocks.iter().enumerate() {
            registers.sum.fill(0);
            for row in first..end {
                for (column, whole, last) in &masks {
                    let mask = if row + 1 == program.rows { last } else { whole };
                    self.take((batch, row, *column), summed, mask, registers);
                }
            }
            let Registers { a, dst, sum, l1, .. } = &mut *registers;
            if program.adds_tiles {
                steps.pack.pack(sum, l1);
                steps.kept.to_src(l1, a);
                dst.fill(0);
                self.reduce(&steps.local, dst, a);
                steps.pack_datum.pack(dst, l1);
            } else {
                steps.pack_datum.pack(sum, l1);
            }
            steps.kept.to_src(l1, a);
            joined[number * apart / 1024][number * apart % 1024] = a[0];
        }
        let Registers { a, dst, l1, .. } = registers;
        if let Some(global) = &steps.global {
            dst.fill(0);
            for tile in &joined {
                self.reduce(global, dst, tile);
            }
            steps.pack_datum.pack(dst, l1);
            steps.kept.to_src(l1, a);
        } else {
            a[0] = joined[0][0];
        }
        [a[0]; 1024]
    }

    /// Mean and variance of a group by Welford's form: in every datum of a tile each.
    fn statistics_of_rows(&self, (batch, group): (usize, usize), registers: &mut Registers) -> (Tile, Tile) {
        let (program, steps) = (self.program, &self.steps);
        let size = program.group;
        let Registers { a, dst, .. } = registers;
        let mut all = Vec::new();
        for &(first, end) in &program.blocks {
            let rows = (end - first) * size;
            let factor = (1.0 / rows as f32).to_bits();
            let mut moments = Moments::new(program.arch);
            let mut means = [0; 32];
            for second in [false, true] {
                for row in first..end {
                    for column in self.tiles_of(group) {
                        let place = |channel: usize| channel.clamp(32 * column, 32 * column + 32) - 32 * column;
                        let channels = place(group * size)..place((group + 1) * size);
                        steps.input.to_dst(&steps.math, self.input.page(self.page(batch, row, column)), a, dst);
                        let is_first = (row, column) == (first, self.tiles_of(group).start);
                        moments.take(dst, true, channels, (is_first, second));
                    }
                }
                moments.end_pass(factor, second);
                if !second {
                    means = *moments.results();
                }
            }
            let (mean, variance) = if program.dst32 {
                of_lanes(program.arch, &means, moments.results())
            } else {
                let stored = |word: &u32| f32::from_bits(store_bf16(*word));
                joined(means.iter().map(stored).zip(moments.results().iter().map(stored)))
            };
            all.push(Statistics { mean, variance, count: (32 * rows) as f32 });
        }
        let all = if program.dst32 || all.len() == 1 {
            all.into_iter().reduce(Statistics::join)
        } else {
            let (mean, variance) = joined(all.iter().map(|part| (part.mean, part.variance)));
            Some(Statistics { mean, variance, ..Statistics::default() })
        };
        let Statistics { mean, variance, .. } = all.unwrap_or_default();
        (steps.everywhere(mean), steps.everywhere(variance))
    }

    /// Adds a tile to the sum of its block.
    fn take(&self, place: (usize, usize, usize), summed: Summed<'_>, mask: &Tile, registers: &mut Registers) {
        let steps = &self.steps;
        let (batch, row, column) = place;
        match summed {
            Summed::Datums => {
                let Registers { a, dst, l1, .. } = &mut *registers;
                steps.input.to_src(self.input.page(self.page(batch, row, column)), a);
                tt_fpu::eltwise(&steps.math, EltwiseOp::Mul, Broadcast::None, false, dst, a, mask);
                steps.pack.pack(dst, l1);
            }
            Summed::Squares(mean) => self.centred(place, mean, mask, registers),
        }
        let Registers { a, b, dst, sum, l1, .. } = registers;
        steps.kept.to_src(l1, a);
        let squares = matches!(summed, Summed::Squares(_));
        if self.program.adds_tiles {
            b.copy_from_slice(if squares { &a[..] } else { &steps.ones[..] });
            tt_fpu::eltwise(&steps.math, EltwiseOp::Mul, Broadcast::None, true, sum, a, b);
            return;
        }
        if squares {
            b.copy_from_slice(&a[..]);
            tt_fpu::eltwise(&steps.math, EltwiseOp::Mul, Broadcast::None, false, dst, a, b);
            steps.pack.pack(dst, l1);
            steps.kept.to_src(l1, a);
        }
        self.reduce(&steps.local, sum, a);
    }

    fn reduce(&self, scaler: &Tile, dst: &mut Tile, data: &Tile) {
        let math = &self.steps.math;
        tt_fpu::reduce(math, math.alu, (PoolOp::Sum, ReduceDim::Scalar), dst, data, scaler);
    }

    /// The inverse root of the variance, in every datum.
    fn inverse_root(&self, variance: &Tile, registers: &mut Registers) -> Tile {
        let (steps, Registers { a, dst, l1, .. }) = (&self.steps, registers);
        tt_fpu::eltwise(&steps.math, EltwiseOp::Add, Broadcast::None, false, dst, variance, &steps.epsilon);
        let mut result = [dst[0]];
        self.program.rsqrt.apply_once(&mut result, self.program.dst32);
        dst[0] = result[0];
        steps.pack_datum.pack(dst, l1);
        steps.kept.to_src(l1, a);
        [a[0]; 1024]
    }

    /// Factors and what is added, and the output.
    fn finish(
        &self,
        at: usize,
        (batch, row, column): (usize, usize, usize),
        registers: &mut Registers,
    ) -> Result<(), OpError> {
        let (steps, Registers { a, b, dst, l1, tiles, .. }) = (&self.steps, registers);
        l1.copy_from_slice(&tiles[at..at + steps.pack.tile_bytes()]);
        let last = [(EltwiseOp::Mul, &self.factors), (EltwiseOp::Add, &self.added)];
        let mut is_in_dst = false;
        for (op, operand) in last {
            let Some((pages, input)) = operand else { continue };
            if is_in_dst {
                steps.pack.pack(dst, l1);
            }
            steps.kept.to_src(l1, a);
            input.to_src(pages.page(column), b);
            tt_fpu::eltwise(&steps.math, op, Broadcast::Row, false, dst, a, b);
            is_in_dst = true;
        }
        if !is_in_dst {
            steps.kept.to_dst(&steps.math, l1, a, dst);
        }
        steps.pack_out.pack(dst, self.output.claim(self.page(batch, row, column))?);
        Ok(())
    }
}
