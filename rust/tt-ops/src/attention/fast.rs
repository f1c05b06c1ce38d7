//! Attention of many queries in the fast mode.
//!
//! Products as in `tt_fast`, everything between them in FP32.
//!
//! Kept of the program: formats, the fidelity's masks of the operands of both products, the factor of scores behind the
//! mask, and probabilities of bfloat16. Scores, the running maximum, sums and the output of a chunk stay in FP32. What
//! lies behind a query is not computed.
//!
//! Keys and values of some heads become panels first. A work item is some rows of tiles of the query heads that share
//! them, which goes along the keys chunk by chunk.

use std::f32::consts::LN_2;
use std::ops::Range;

use tt_cpu::{Level, pool, simd_kernel};
use tt_fast::{Bf16Page, Multiplier, Panel, PanelDecoder, Session, Side, Sums, Taken};
use tt_formats::{DataFormat, TileShape};
use tt_memory::access::{Output, Pages};
use tt_memory::{Device, MemoryError};
use tt_tensix::pack::{DstFormat, PackConfig, Packer};
use tt_tensix::tile_io::{Input, Tile, ZERO};
use tt_tensix::unpack;

use super::cache::Sequences;
use super::prefill::{Buffers, PrefillProgram};
use super::{Mask, NAME};
use crate::OpError;
use crate::pages::FirstError;

/// Rows of tiles that are computed side by side, and tiles of keys that they go along at a time: 256 KiB of scores.
const ROWS: usize = 4;
const CHUNK: usize = 16;

/// Panels of keys that stay in a first-level cache beside scores: 16 KiB.
const NEAR: usize = 8;

/// Most panels of keys and values that are made at a time for each thread, beyond those of one head: 512 KiB, which are
/// still in its second-level cache when they are multiplied.
const PANELS: usize = 256;

/// Runs the program.
///
/// # Errors
/// As [`super::prefill::prefill`].
pub fn prefill(device: &mut Device, buffers: &Buffers, program: &PrefillProgram) -> Result<(), OpError> {
    program.check(device, buffers)?;
    let access = device.access(&[buffers.output])?;
    let numerics = &program.numerics;
    let (queries, keys, values, output) = numerics.formats;
    let level = Level::current();
    let packer = Packer::new(&PackConfig::new(DstFormat::Fp32, output), level);
    let kernel = Kernel {
        program,
        level,
        multiplier: Multiplier::new(numerics.fidelity, false, level),
        formats: [queries, keys, values].map(|format| Operand::new(format, numerics.dst32, level)),
        queries: access.input(buffers.queries)?.all()?,
        keys: program.keys_of(&access, buffers)?,
        values: program.values_of(&access, buffers)?,
        mask: match (buffers.mask, program.mask) {
            (Some(id), Some(mask)) => {
                Some((access.input(id)?.all()?, mask, Operand::new(mask.format, numerics.dst32, level)))
            }
            _ => None,
        },
        output: access.output(buffers.output)?,
        packer: packer.map_err(|error| OpError::Invariant { operator: NAME, what: error.to_string() })?,
        plain: output == DataFormat::Float16B,
    };
    let matrices = program.sizes.batch * program.sizes.kv_heads;
    let each = kernel.panels_of_keys() + kernel.panels_of_values();
    let together = (PANELS * pool::threads() / each).clamp(1, matrices);
    let rows = program.sizes.group() * program.rows;
    let mut block = ROWS.min(rows);
    while block > 1 && together * rows.div_ceil(block) < pool::threads() {
        block = block.div_ceil(2);
    }
    let blocks = rows.div_ceil(block);
    for first in (0..matrices).step_by(together) {
        let count = together.min(matrices - first);
        let mut taken = Taken::right_panels(count * each).map_err(MemoryError::from)?;
        let panels: &mut [Panel] = bytemuck::cast_slice_mut(&mut taken.bytes()[..count * each * size_of::<Panel>()]);
        kernel.pack(first, each, panels)?;
        let panels = &*panels;
        let make = || (kernel.multiplier.session(), Scratch::new(&kernel, block));
        let error = FirstError::default();
        pool::for_each_init(count * blocks, make, |(session, scratch), item| {
            // The last rows see most keys, so they come first.
            let row = (blocks - 1 - item % blocks) * block;
            let matrix = item / blocks;
            let panels = &panels[matrix * each..][..each];
            let rows = row..(row + block).min(rows);
            error.run(|| kernel.block(first + matrix, rows, panels, session, scratch));
        });
        error.finish()?;
    }
    Ok(())
}

/// How tiles of an operand are read.
struct Operand {
    input: Input,
    decoder: Option<PanelDecoder>,
}

impl Operand {
    fn new(format: DataFormat, dst32: bool, level: Level) -> Self {
        Self { input: Input::new(format, dst32), decoder: PanelDecoder::new(format, level) }
    }

    /// The tile as FP32 bits.
    fn tile(&self, bytes: &[u8], tile: &mut Tile) {
        self.input.to_src(bytes, tile);
        for word in tile.iter_mut() {
            *word <<= 13;
        }
    }

    /// The tile as BF16 in face order, if that is all it needs.
    fn page<'a>(&self, bytes: &'a [u8], page: &'a mut Bf16Page) -> Option<&'a Bf16Page> {
        if self.input.format == DataFormat::Float16B {
            return bytes.first_chunk();
        }
        self.decoder?.decode(bytes, page).then_some(page)
    }
}

struct Kernel<'a> {
    program: &'a PrefillProgram,
    level: Level,
    multiplier: Multiplier,
    /// Queries, keys and values.
    formats: [Operand; 3],
    queries: Pages<'a>,
    keys: Sequences<'a>,
    values: Sequences<'a>,
    mask: Option<(Pages<'a>, Mask, Operand)>,
    output: Output<'a>,
    packer: Packer,
    /// The output is bfloat16.
    plain: bool,
}

/// Numbers of a row of a tile: of each lane of a face's rows, or of each row.
type Lanes = [[f32; 16]; 32];
type Column = [f32; 32];

/// What a thread needs.
struct Scratch {
    rows: Vec<Row>,
    page: Box<Bf16Page>,
    tile: Box<Tile>,
}

/// A row of tiles of queries, and what is known about it after some chunks of keys.
struct Row {
    head: usize,
    number: usize,
    queries: Vec<Panel>,
    scores: Vec<Sums>,
    /// Panels of probabilities.
    left: Vec<Panel>,
    max: Column,
    sum: Box<Lanes>,
    output: Vec<Sums>,
    /// Tiles of keys that the row sees.
    keys: Range<usize>,
}

impl Scratch {
    fn new(kernel: &Kernel<'_>, rows: usize) -> Self {
        let (sizes, per_tile) = (&kernel.program.sizes, kernel.multiplier.panels());
        let panels = |tiles: usize| bytemuck::zeroed_vec::<Panel>(tiles * per_tile);
        let row = |_| Row {
            head: 0,
            number: 0,
            queries: panels(sizes.width),
            scores: bytemuck::zeroed_vec(CHUNK),
            left: panels(CHUNK),
            max: [f32::NEG_INFINITY; 32],
            sum: Box::new([[0.0; 16]; 32]),
            output: bytemuck::zeroed_vec(sizes.value_width),
            keys: 0..0,
        };
        Self { rows: (0..rows).map(row).collect(), page: Box::new([0; 2048]), tile: Box::new(ZERO) }
    }
}

impl Kernel<'_> {
    /// Tiles of the keys.
    fn length(&self) -> usize {
        self.program.length()
    }

    fn panels_of_keys(&self) -> usize {
        self.length() * self.program.sizes.width * self.multiplier.panels()
    }

    fn panels_of_values(&self) -> usize {
        self.length() * self.program.sizes.value_width * self.multiplier.panels()
    }

    /// Makes the panels of keys and values of some heads of them: of keys row by row, of values column by column.
    fn pack(&self, first: usize, each: usize, panels: &mut [Panel]) -> Result<(), OpError> {
        let sizes = &self.program.sizes;
        let (length, per_tile) = (self.length(), self.multiplier.panels());
        let error = FirstError::default();
        pool::for_each_chunk(panels, each, |item, panels| {
            error.run(|| {
                let matrix = ((first + item) / sizes.kv_heads, (first + item) % sizes.kv_heads);
                let (keys, values) = panels.split_at_mut(self.panels_of_keys());
                let (mut tile, mut other, mut page) = (ZERO, ZERO, [0; 2048]);
                for (place, panels) in keys.chunks_mut(per_tile).enumerate() {
                    let (row, column) = (place / sizes.width, place % sizes.width);
                    let bytes = self.keys.tile(matrix, (row, column))?;
                    self.formats[1].tile(bytes, &mut tile);
                    unpack::transpose(&tile, &mut other);
                    self.multiplier.pack(Side::Right, &other, panels);
                }
                for (place, panels) in values.chunks_mut(per_tile).enumerate() {
                    let (column, row) = (place / length, place % length);
                    let bytes = self.values.tile(matrix, (row, column))?;
                    self.pack_tile(Side::Right, &self.formats[2], bytes, (&mut page, &mut tile), panels);
                }
                Ok(())
            });
        });
        error.finish()
    }

    fn pack_tile(
        &self,
        side: Side,
        operand: &Operand,
        bytes: &[u8],
        (page, tile): (&mut Bf16Page, &mut Tile),
        panels: &mut [Panel],
    ) {
        if let Some(page) = operand.page(bytes, page) {
            return self.multiplier.pack_bf16(side, page, panels);
        }
        operand.tile(bytes, tile);
        self.multiplier.pack(side, tile, panels);
    }

    /// The factor of scores, for powers of two.
    fn slope(&self) -> f32 {
        f32::from_bits(self.program.numerics.scale) * std::f32::consts::LOG2_E
    }

    /// The tiles of keys that a row of queries sees.
    fn seen(&self, row: usize) -> Range<usize> {
        let program = self.program;
        let place = program.first_row + row;
        let end = if program.causal { self.length().min(place + 1) } else { self.length() };
        let first = program.window.map_or(0, |window| (32 * place + 1).saturating_sub(window) / 32);
        first.min(end)..end
    }

    /// Some rows of the query heads that share a head of keys, along all chunks.
    fn block(
        &self,
        matrix: usize,
        rows: Range<usize>,
        panels: &[Panel],
        session: &mut Session,
        scratch: &mut Scratch,
    ) -> Result<(), OpError> {
        let (program, sizes) = (self.program, &self.program.sizes);
        let (batch, kv_head) = (matrix / sizes.kv_heads, matrix % sizes.kv_heads);
        let (length, per_tile) = (self.length(), self.multiplier.panels());
        let (keys, values) = panels.split_at(self.panels_of_keys());
        let Scratch { rows: states, page, tile } = scratch;
        let states = &mut states[..rows.len()];
        for (state, place) in states.iter_mut().zip(rows) {
            state.head = kv_head * sizes.group() + place / program.rows;
            state.number = place % program.rows;
            state.keys = self.seen(state.number);
            (state.max, *state.sum) = ([f32::NEG_INFINITY; 32], [[0.0; 16]; 32]);
            state.output.fill(Sums::ZERO);
            let first = ((batch * sizes.heads + state.head) * program.rows + state.number) * sizes.width;
            for (column, panels) in state.queries.chunks_mut(per_tile).enumerate() {
                let bytes = self.queries.page(first + column);
                self.pack_tile(Side::Left, &self.formats[0], bytes, (page, tile), panels);
            }
        }
        let first = states.iter().map(|row| row.keys.start).min().unwrap_or(0);
        let end = states.iter().map(|row| row.keys.end).max().unwrap_or(0);
        let deep = sizes.width * per_tile;
        for start in (first..end).step_by(CHUNK) {
            let chunk = start..end.min(start + CHUNK);
            // Scores of one row are still near when they become probabilities; of more rows only if keys are many, since
            // those come from farther away then.
            let together = if chunk.len() * deep <= NEAR { 1 } else { states.len() };
            for rows in states.chunks_mut(together) {
                for key in chunk.clone() {
                    for row in rows.iter_mut().filter(|row| row.keys.contains(&key)) {
                        let Row { queries, scores, .. } = row;
                        session.multiply(queries, &keys[key * deep..][..deep], &mut scores[key - start], true);
                    }
                }
                for row in rows {
                    self.probabilities(batch, chunk.clone(), row, page, tile);
                }
            }
            for column in 0..sizes.value_width {
                let values = &values[column * length * per_tile..][..length * per_tile];
                for row in states.iter_mut() {
                    let part = overlap(&row.keys, &chunk);
                    if part.is_empty() {
                        continue;
                    }
                    let left = &row.left[(part.start - start) * per_tile..(part.end - start) * per_tile];
                    let right = &values[part.start * per_tile..part.end * per_tile];
                    session.multiply(left, right, &mut row.output[column], false);
                }
            }
        }
        states.iter_mut().try_for_each(|row| self.finish(batch, row, page))
    }

    /// Masks of the scores of a chunk, the maximum, and panels of exponentials; what earlier chunks gave is brought to
    /// the new maximum.
    fn probabilities(&self, batch: usize, chunk: Range<usize>, row: &mut Row, page: &mut Bf16Page, tile: &mut Tile) {
        let part = overlap(&row.keys, &chunk);
        let per_tile = self.multiplier.panels();
        let mut largest: Lanes = [[f32::NEG_INFINITY; 16]; 32];
        for key in part.clone() {
            let scores = &mut row.scores[key - chunk.start].0;
            if let Some((pages, mask, operand)) = &self.mask {
                let bytes = pages.page(mask.page((batch, row.head), (row.number, key)));
                if let Some(page) = operand.page(bytes, page) {
                    add_page::run(self.level, scores, page);
                } else {
                    operand.tile(bytes, tile);
                    add_tile::run(self.level, scores, tile);
                }
            }
            self.hide(key, row.number, scores);
            largest_of_lanes::run(self.level, scores, &mut largest);
        }
        if part.is_empty() {
            return;
        }
        let before = row.max;
        for (max, lanes) in row.max.iter_mut().zip(&largest) {
            *max = lanes.iter().fold(*max, |most, &lane| larger(most, lane));
        }
        let slope = self.slope();
        if before.iter().any(|max| *max > f32::NEG_INFINITY) {
            let factors: Column = std::array::from_fn(|number| power(before[number], row.max[number], slope));
            row.sum.iter_mut().zip(factors).for_each(|(sum, factor)| sum.iter_mut().for_each(|lane| *lane *= factor));
            row.output.iter_mut().for_each(|sums| scale_rows::run(self.level, &mut sums.0, &factors));
        }
        for key in part {
            let place = key - chunk.start;
            exponentials::run(self.level, &row.scores[place].0, &row.max, slope, &mut row.sum, page);
            let panels = &mut row.left[place * per_tile..][..per_tile];
            self.multiplier.pack_bf16(Side::Left, page, panels);
        }
    }

    /// Makes scores of keys that a row of queries does not see minus infinity.
    fn hide(&self, key: usize, row: usize, scores: &mut [u32; 1024]) {
        let program = self.program;
        let first_query = 32 * (program.first_row + row);
        let (first_key, positions) = program.position(key);
        let window = program.window.unwrap_or(usize::MAX);
        let padded = first_key + 32 > positions;
        let later = program.causal && first_key + 31 > first_query;
        let earlier = program.window.is_some_and(|window| first_query + 31 >= first_key + window);
        if !(padded || later || earlier) {
            return;
        }
        for (index, score) in scores.iter_mut().enumerate() {
            let (row, column) = TileShape::FULL.position(index);
            let (query, key) = (first_query + row, first_key + column);
            let seen = key < positions
                && (!program.causal || key <= query)
                && (program.window.is_none() || key + window > query);
            if !seen {
                *score = f32::NEG_INFINITY.to_bits();
            }
        }
    }

    /// The output over the sum of probabilities.
    fn finish(&self, batch: usize, row: &mut Row, page: &mut Bf16Page) -> Result<(), OpError> {
        let (program, sizes) = (self.program, &self.program.sizes);
        let sink = program.sinks.get(row.head).map(|&word| f32::from_bits(word));
        let slope = self.slope();
        let factors: Column = std::array::from_fn(|number| {
            let (max, sum) = (row.max[number], row.sum[number].iter().fold(0.0, |sum, lane| sum + lane));
            let Some(sink) = sink else { return 1.0 / sum };
            // A score that belongs to no key counts for the maximum and the sum.
            let largest = larger(sink, max);
            let factor = power(max, largest, slope);
            factor / (sum * factor + power(sink, largest, slope))
        });
        let first = ((batch * sizes.heads + row.head) * program.rows + row.number) * sizes.value_width;
        for (column, sums) in row.output.iter_mut().enumerate() {
            scale_rows::run(self.level, &mut sums.0, &factors);
            let target = self.output.claim(first + column)?;
            if self.plain {
                self.multiplier.to_bf16(sums, &tt_fast::ZERO_ROW, 0..tt_fast::LINES, page);
                target.copy_from_slice(page);
            } else {
                sums.canonicalize(self.level);
                self.packer.pack(&sums.0, target);
            }
        }
        Ok(())
    }
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    let start = a.start.max(b.start);
    start..a.end.min(b.end).max(start)
}

/// Of a NaN and a number, whatever comes second.
#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// Coefficients of a polynomial for powers of two between -1/2 and 1/2: the Taylor series, within 3 units of 2^-24.
const SERIES: [f32; 7] = [1.0, LN_2, 0.240_226_5, 0.055_504_11, 0.009_618_13, 0.001_333_356, 0.000_154_035_3];
/// Added to a number, it leaves the nearest integer in the last bits.
const ROUNDER: f32 = 12_582_912.0;

/// `2 ^ (slope * (score - max))`, zero below the normal numbers. Without a maximum there is no number to be less than.
#[inline(always)]
fn power(score: f32, max: f32, slope: f32) -> f32 {
    let exponent = (score - max) * slope;
    // Masked scores are far below. Without a bound some of their powers would be denormals, which CPUs are slow at.
    let exponent = if exponent < -127.0 { -127.0 } else { exponent };
    let rounded = exponent + ROUNDER;
    let rest = exponent - (rounded - ROUNDER);
    let series = SERIES.iter().rev().skip(1).fold(SERIES[6], |sum, factor| sum * rest + factor);
    let value = series * f32::from_bits((rounded.to_bits() << 23).wrapping_add(127 << 23));
    let value = if exponent < -126.0 { 0.0 } else { value };
    let value = if exponent > 127.0 { f32::INFINITY } else { value };
    if max == f32::NEG_INFINITY { 0.0 } else { value }
}

/// The index of a row of a face, of 16 datums: rows 0 to 31 of the left half, then those of the right one.
#[inline(always)]
fn lines(tile: &[u32; 1024]) -> [&[[u32; 16]; 16]; 4] {
    let faces: &[[[u32; 16]; 16]; 4] = bytemuck::must_cast_ref(tile);
    faces.each_ref()
}

/// Adds bfloat16 numbers to scores; a zero exponent is zero.
#[inline(always)]
fn add_page_body(scores: &mut [u32; 1024], page: &Bf16Page) {
    for (score, half) in scores.iter_mut().zip(page.as_chunks::<2>().0) {
        let half = u32::from(u16::from_le_bytes(*half));
        let added = if half & 0x7f80 == 0 { 0 } else { half << 16 };
        *score = (f32::from_bits(*score) + f32::from_bits(added)).to_bits();
    }
}

#[inline(always)]
fn add_tile_body(scores: &mut [u32; 1024], tile: &Tile) {
    for (score, added) in scores.iter_mut().zip(tile) {
        *score = (f32::from_bits(*score) + f32::from_bits(*added)).to_bits();
    }
}

#[inline(always)]
fn largest_body(scores: &[u32; 1024], largest: &mut Lanes) {
    for (index, line) in scores.as_chunks::<16>().0.iter().enumerate() {
        let most = &mut largest[index / 32 * 16 + index % 16];
        // A whole line at once: of datums one by one, the compiler gathers those of different rows.
        *most = std::array::from_fn(|lane| larger(most[lane], f32::from_bits(line[lane])));
    }
}

/// Makes scores probabilities of bfloat16, rounded with ties away from zero, and adds these to the sums.
#[inline(always)]
fn exponentials_body(scores: &[u32; 1024], max: &Column, slope: f32, sums: &mut Lanes, page: &mut Bf16Page) {
    let targets = page.as_chunks_mut::<32>().0;
    for (face, rows) in lines(scores).into_iter().enumerate() {
        for (row, line) in rows.iter().enumerate() {
            let number = face / 2 * 16 + row;
            let mut halves = [0_u16; 16];
            for ((half, sum), &score) in halves.iter_mut().zip(&mut sums[number]).zip(line) {
                let value = power(f32::from_bits(score), max[number], slope);
                let rounded = value.to_bits().wrapping_add(0x8000) & 0xffff_0000;
                *sum += f32::from_bits(rounded);
                *half = (rounded >> 16) as u16;
            }
            targets[face * 16 + row] = bytemuck::must_cast(halves.map(u16::to_le));
        }
    }
}

#[inline(always)]
fn scale_body(tile: &mut [u32; 1024], factors: &Column) {
    for (index, line) in tile.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let factor = factors[index / 32 * 16 + index % 16];
        *line = line.map(|word| (f32::from_bits(word) * factor).to_bits());
    }
}

simd_kernel!(add_page, super::add_page_body, (scores: &mut [u32; 1024], page: &Bf16Page));
simd_kernel!(add_tile, super::add_tile_body, (scores: &mut [u32; 1024], tile: &Tile));
simd_kernel!(largest_of_lanes, super::largest_body, (scores: &[u32; 1024], largest: &mut Lanes));
simd_kernel!(exponentials, super::exponentials_body, (scores: &[u32; 1024], max: &Column, slope: f32, sums: &mut Lanes, page: &mut Bf16Page));
simd_kernel!(scale_rows, super::scale_body, (tile: &mut [u32; 1024], factors: &Column));

#[cfg(test)]
mod tests {
    use tt_testkit::random::Random;

    use super::*;

    #[test]
    fn powers_are_close_and_end_at_zero() {
        for step in 0..=40_000_i32 {
            let score = -(step as f32) / 250.0;
            let expected = (f64::from(score) * 0.5_f64).exp2();
            let got = f64::from(power(score + 3.0, 3.0, 0.5));
            let exact = (f64::from((score + 3.0) - 3.0) * 0.5).exp2();
            assert!((got - exact).abs() <= exact * 3e-7, "{score}: {got} for {expected}");
        }
        assert_eq!(power(-300.0, 0.0, 1.0), 0.0);
        assert_eq!(power(f32::NEG_INFINITY, 0.0, 1.0), 0.0);
        assert_eq!(power(f32::NEG_INFINITY, f32::NEG_INFINITY, 1.0), 0.0);
        assert!(power(f32::NAN, 0.0, 1.0).is_nan());
    }

    #[test]
    fn kernels_have_the_same_bits_on_every_level() {
        let mut random = Random::new(8);
        for _ in 0..20 {
            let scores: [u32; 1024] = std::array::from_fn(|_| (random.below(4000) as f32 / 100.0 - 20.0).to_bits());
            let run = |level: Level| {
                let (mut largest, mut sums, mut page): (Lanes, Lanes, Bf16Page) =
                    ([[f32::NEG_INFINITY; 16]; 32], [[0.5; 16]; 32], [0; 2048]);
                largest_of_lanes::run(level, &scores, &mut largest);
                let max: Column = std::array::from_fn(|row| largest[row].iter().copied().fold(-50.0, larger));
                exponentials::run(level, &scores, &max, 0.37, &mut sums, &mut page);
                let mut scaled = scores;
                scale_rows::run(level, &mut scaled, &max);
                (largest.map(|lanes| lanes.map(f32::to_bits)), sums.map(|lanes| lanes.map(f32::to_bits)), page, scaled)
            };
            for &level in Level::supported() {
                assert!(run(level) == run(Level::Scalar), "{level:?}");
            }
        }
    }
}
