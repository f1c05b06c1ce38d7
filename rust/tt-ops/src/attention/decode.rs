//! Attention of one query per user.
//!
//! The rows of a tile are the query heads that share a head of keys.
//!
//! The keys are split over cores in chunks. Every core goes through its chunks by itself; what the cores found is merged
//! in a tree whose order the number of cores decides.

use tt_formats::TileShape;
use tt_fpu::{Accumulator, EltwiseOp, PreparedB};
use tt_memory::Device;
use tt_memory::access::Pages;
use tt_sfpu::fma;
use tt_sfpu::lane::{MINUS_ONE, ONE, ZERO as NOTHING};
use tt_tensix::pack::{PackConfig, pack_tile};
use tt_tensix::tile_io::{Input, Tile, ZERO};

use super::prefill::Buffers;
use super::tiles::{BYTES, Page, Registers, Steps, in_column, set_in_column};
use super::{Cache, Mask, NAME, Numerics, Sizes};
use crate::{OpError, for_each_page};

/// Settings of the program.
#[derive(Clone)]
pub struct DecodeProgram {
    /// Formats, fidelity and scale.
    pub numerics: Numerics,
    /// Heads and widths.
    pub sizes: Sizes,
    /// Positions of the keys that each batch sees.
    ///
    /// `None` leaves a batch out.
    pub positions: Vec<Option<usize>>,
    /// The last chunk ends at the position.
    ///
    /// Otherwise all of its tiles count.
    pub causal: bool,
    /// The query sees so many keys.
    pub window: Option<usize>,
    /// Tiles of a chunk of keys, for each batch.
    pub chunks: Vec<usize>,
    /// Cores that share the keys of a head.
    pub cores: usize,
    /// The mask that is added to scores.
    pub mask: Option<Mask>,
    /// Keys.
    pub keys: Cache,
    /// Values.
    pub values: Cache,
    /// For each head of queries, a score that belongs to no key.
    ///
    /// FP32 bits of a bfloat16. Empty without.
    pub sinks: Vec<u32>,
}

impl DecodeProgram {
    fn check(&self, device: &Device, buffers: &Buffers) -> Result<(), OpError> {
        let refuse = |what: String| Err(OpError::Invariant { operator: NAME, what });
        let Sizes { batch, heads, kv_heads, width, value_width } = self.sizes;
        let chunked = self.chunks.len() == batch && !self.chunks.contains(&0);
        if kv_heads == 0 || heads % kv_heads != 0 || !chunked || self.cores == 0 {
            let (cores, chunks) = (self.cores, &self.chunks);
            return refuse(format!("{heads} heads on {kv_heads}, {cores} cores, chunks of {chunks:?} tiles"));
        }
        self.keys.check(&self.sizes, width)?;
        self.values.check(&self.sizes, value_width)?;
        let length = 32 * self.keys.length().min(self.values.length());
        if self.positions.len() != batch || self.positions.iter().flatten().any(|&count| count > length || count == 0) {
            return refuse(format!("positions {:?} of {length}", self.positions));
        }
        let rows = heads.div_ceil(32);
        let mask = self.mask.map_or(0, |mask| mask.batch * mask.heads * mask.rows * mask.columns);
        let expected = [
            (buffers.queries, batch * rows * width),
            (buffers.keys, self.keys.tiles()),
            (buffers.values, self.values.tiles()),
            (buffers.mask.unwrap_or(buffers.queries), mask),
            (buffers.output, batch * rows * value_width),
        ];
        for (id, tiles) in expected {
            let pages = device.buffer(id)?.num_pages();
            if pages < tiles {
                return refuse(format!("{pages} pages, the program asks for {tiles}"));
            }
        }
        Ok(())
    }

    /// The chunks of a core, as numbers of the first and behind the last, of `count` in all.
    fn chunks_of(&self, core: usize, count: usize) -> (usize, usize) {
        if count <= self.cores {
            return (count - 1 - core, count - core);
        }
        let run = self.cores - 1 - core;
        let (each, more) = (count / self.cores, count % self.cores);
        let first = run * each + run.min(more);
        (first, first + each + usize::from(run < more))
    }
}

/// The merges of `active` of `cores` cores, each (receiver, sender), in their order.
fn merges(cores: usize, active: usize) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    for round in 0..usize::BITS {
        for place in cores - active..cores - 1 {
            if place.trailing_ones() == round {
                // The last place is the root, which also takes what has no other parent.
                let parent = (place + (1 << round)).min(cores - 1);
                all.push((cores - 1 - parent, cores - 1 - place));
            }
        }
        if 1 << round > cores {
            break;
        }
    }
    all
}

/// Runs the program.
///
/// # Errors
/// Memory errors; buffers that do not hold what the program asks for; a page table that names missing blocks.
pub fn decode(device: &mut Device, buffers: &Buffers, program: &DecodeProgram) -> Result<(), OpError> {
    program.check(device, buffers)?;
    let steps = Steps::new(&program.numerics)?;
    let sizes = &program.sizes;
    let (rows, width) = (sizes.heads.div_ceil(32), sizes.value_width);
    let access = device.access(&[buffers.output])?;
    let kernel = Kernel {
        program,
        queries: access.input(buffers.queries)?.all()?,
        keys: access.input(buffers.keys)?.all()?,
        values: access.input(buffers.values)?.all()?,
        mask: match (buffers.mask, program.mask) {
            (Some(id), Some(mask)) => {
                Some((access.input(id)?.all()?, mask, Input::new(mask.format, program.numerics.dst32)))
            }
            _ => None,
        },
        steps,
    };
    // Heads share tiles of the output, so their rows are put together afterwards.
    let results: Vec<std::sync::OnceLock<Vec<Page>>> =
        (0..sizes.batch * sizes.heads.div_ceil(kernel.unit())).map(|_| std::sync::OnceLock::new()).collect();
    let units = results.len() / sizes.batch;
    for_each_page(results.len(), Registers::new, |registers, item| {
        if let Some(count) = program.positions[item / units] {
            let _ = results[item].set(kernel.unit_of((item / units, item % units), count, registers)?);
        }
        Ok(())
    })?;
    let output = access.output(buffers.output)?;
    let pack = PackConfig::new(kernel.steps.math.dst, program.numerics.formats.3);
    for_each_page(
        sizes.batch * rows,
        || (ZERO, ZERO, ZERO),
        |(joined, part, dst), item| {
            let (batch, first) = (item / rows, item % rows * 32);
            for column in 0..width {
                joined.fill(0);
                for head in first..(first + 32).min(sizes.heads) {
                    let unit = head / kernel.unit();
                    if let Some(pages) = results[batch * units + unit].get() {
                        kernel.steps.kept.to_src(&pages[column], part);
                        copy_row(part, head % kernel.unit(), joined, head - first);
                    }
                }
                tt_fpu::copy_to_dst(&kernel.steps.math, dst, joined);
                pack_tile(&pack, dst, output.claim(item * width + column)?);
            }
            Ok(())
        },
    )
}

/// A tile whose rows hold the datum of column 0 everywhere.
fn in_every_column(page: &Page) -> Page {
    let mut spread = [0; BYTES];
    for (index, datum) in spread.as_chunks_mut().0.iter_mut().enumerate() {
        *datum = in_column(page, TileShape::FULL.position(index).0).to_le_bytes();
    }
    spread
}

fn copy_row(from: &Tile, row: usize, to: &mut Tile, to_row: usize) {
    for column in [0, 16] {
        let (source, target) = (TileShape::FULL.index(row, column), TileShape::FULL.index(to_row, column));
        to[target..target + 16].copy_from_slice(&from[source..source + 16]);
    }
}

struct Kernel<'a> {
    program: &'a DecodeProgram,
    steps: Steps,
    queries: Pages<'a>,
    keys: Pages<'a>,
    values: Pages<'a>,
    mask: Option<(Pages<'a>, Mask, Input)>,
}

/// What a core found: the maximum, the sum and the output, by rows.
struct Found {
    max: Page,
    sum: Page,
    output: Vec<Page>,
}

impl Kernel<'_> {
    /// Query heads in a tile: those that share a head of keys, 32 at most.
    fn unit(&self) -> usize {
        let group = self.program.sizes.group();
        (1..=group.min(32)).rev().find(|&heads| group.is_multiple_of(heads)).unwrap_or(1)
    }

    /// The outputs of a unit of a batch, a tile of which the first rows count.
    fn unit_of(
        &self,
        (batch, unit): (usize, usize),
        count: usize,
        registers: &mut Registers,
    ) -> Result<Vec<Page>, OpError> {
        let (program, sizes, steps) = (self.program, &self.program.sizes, &self.steps);
        let first_head = unit * self.unit();
        let matrix = (batch, first_head / sizes.group());
        let tile_rows = sizes.heads.div_ceil(32);
        let mut queries = vec![PreparedB::new(); sizes.width];
        for (column, query) in queries.iter_mut().enumerate() {
            registers.b.fill(0);
            for head in first_head..first_head + self.unit() {
                let page = (batch * tile_rows + head / 32) * sizes.width + column;
                steps.queries.to_src(self.queries.page(page), &mut registers.a);
                copy_row(&registers.a, head % 32, &mut registers.b, head - first_head);
            }
            query.prepare(&steps.math, &registers.b);
        }
        let size = program.chunks[batch];
        let first_chunk = program.window.map_or(0, |window| count.saturating_sub(window) / 32 / size);
        let chunks = count.div_ceil(32 * size) - first_chunk;
        let active = chunks.min(program.cores);
        let mut found = Vec::with_capacity(active);
        for core in 0..active {
            let (first, end) = program.chunks_of(core, chunks);
            let mut state: Option<Found> = None;
            for chunk in first..end {
                let place = (first_chunk + chunk, chunk + 1 == chunks);
                let now = self.chunk(matrix, first_head, place, count, (&mut queries, state.as_ref()), registers)?;
                state = Some(now);
            }
            found.push(
                state.ok_or_else(|| OpError::Invariant {
                    operator: NAME,
                    what: format!("core {core} without a chunk"),
                })?,
            );
        }
        for (to, from) in merges(program.cores, active) {
            let (low, high) = (to.min(from), to.max(from));
            let (left, right) = found.split_at_mut(high);
            let (a, b) = (&mut left[low], &mut right[0]);
            if to < from { self.merge(a, b, registers) } else { self.merge(b, a, registers) }
        }
        let mut all = found.swap_remove(0);
        if !program.sinks.is_empty() {
            self.absorb(unit * self.unit(), &mut all, registers);
        }
        let mut factor = [0; BYTES];
        steps.reciprocal_of_column(&all.sum, &mut factor, registers);
        steps.load_column(&factor, registers);
        for page in &mut all.output {
            steps.times_b(page, registers);
            steps.pack.pack(&registers.dst, page);
        }
        Ok(all.output)
    }

    /// A chunk of a core, joined to what its earlier ones gave.
    fn chunk(
        &self,
        matrix: (usize, usize),
        first_head: usize,
        (chunk, is_last): (usize, bool),
        count: usize,
        (queries, before): (&mut [PreparedB], Option<&Found>),
        registers: &mut Registers,
    ) -> Result<Found, OpError> {
        let (program, steps) = (self.program, &self.steps);
        let length = program.keys.length().min(program.values.length());
        let size = program.chunks[matrix.0];
        let start = chunk * size;
        let tiles = size.min(length - start);
        let mut scores: Vec<Page> = vec![[0; BYTES]; tiles];
        let mut dst = Accumulator::new();
        for (tile, scores) in scores.iter_mut().enumerate() {
            dst.clear();
            for (column, query) in queries.iter_mut().enumerate() {
                let page = program.keys.page(matrix, (start + tile, column))?;
                steps.prepare_key(self.keys.page(page), registers);
                tt_fpu::accumulate(&steps.math, &mut dst, &mut registers.right, query);
            }
            steps.pack.pack(dst.dst(), scores);
            if let Some((pages, mask, input)) = &self.mask {
                self.add_mask((pages, mask, *input), (matrix.0, first_head), start + tile, scores, registers);
            }
            let first_seen = program.window.map_or(0, |window| count.saturating_sub(window));
            if is_last && program.causal || 32 * (start + tile) < first_seen {
                let key = |column: usize| 32 * (start + tile) + column;
                let hidden = |_: usize, column: usize| key(column) >= count || key(column) < first_seen;
                steps.hide_by_sum(hidden, scores, registers);
            }
        }
        let mut now = Found { max: [0; BYTES], sum: [0; BYTES], output: vec![[0; BYTES]; program.sizes.value_width] };
        steps.row_max(&scores, before.map(|before| &before.max), &mut now.max, registers);
        steps.probabilities(&mut scores, &now.max, None, registers);
        steps.row_sums(&scores, &mut now.sum, registers);
        let mut left = vec![PreparedB::new(); tiles];
        for (page, left) in scores.iter().zip(&mut left) {
            steps.prepare_left(page, left, registers);
        }
        for (column, output) in now.output.iter_mut().enumerate() {
            dst.clear();
            for (tile, left) in left.iter_mut().enumerate() {
                let page = program.values.page(matrix, (start + tile, column))?;
                steps.prepare_value(self.values.page(page), registers);
                tt_fpu::accumulate(&steps.math, &mut dst, &mut registers.right, left);
            }
            steps.pack.pack(dst.dst(), output);
        }
        if let Some(before) = before {
            let (mut factor, mut kept, mut joined) = ([0; BYTES], [0; BYTES], [0; BYTES]);
            steps.correction(&before.max, &now.max, &mut factor, registers);
            let old = before.output.iter().zip(&mut now.output).chain([(&before.sum, &mut now.sum)]);
            for (old, new) in old {
                steps.load_column(&factor, registers);
                steps.times_b(old, registers);
                steps.pack.pack(&registers.dst, &mut kept);
                steps.join(EltwiseOp::Add, (&kept, new), &mut joined, registers);
                *new = joined;
            }
        }
        Ok(now)
    }

    /// Takes scores in that belong to no key, one for each head: they count for maxima and sums.
    fn absorb(&self, first_head: usize, all: &mut Found, registers: &mut Registers) {
        let steps = &self.steps;
        let (mut sinks, mut factor, mut share, mut sum) = ([0; BYTES], [0; BYTES], [0; BYTES], [0; BYTES]);
        let of_unit = self.program.sinks.iter().skip(first_head).take(self.unit());
        of_unit.enumerate().for_each(|(row, &word)| set_in_column(&mut sinks, row, (word >> 16) as u16));
        let before = all.max;
        steps.row_max(std::slice::from_ref(&in_every_column(&sinks)), Some(&before), &mut all.max, registers);
        steps.correction(&before, &all.max, &mut factor, registers);
        steps.correction(&sinks, &all.max, &mut share, registers);
        steps.load_column(&factor, registers);
        steps.scale(&mut all.sum, registers);
        all.output.iter_mut().for_each(|output| steps.scale(output, registers));
        steps.join(EltwiseOp::Add, (&all.sum, &share), &mut sum, registers);
        all.sum = sum;
    }

    /// Adds a mask whose rows are query heads.
    fn add_mask(
        &self,
        (pages, mask, input): (&Pages<'_>, &Mask, Input),
        (batch, first_head): (usize, usize),
        key: usize,
        scores: &mut Page,
        registers: &mut Registers,
    ) {
        let steps = &self.steps;
        let mut part = ZERO;
        registers.b.fill(0);
        for row in 0..self.unit() {
            let head = first_head + row;
            let page = mask.page((batch, 0), (head / 32, key));
            input.to_src(pages.page(page), &mut part);
            copy_row(&part, head % 32, &mut registers.b, row);
        }
        let Registers { a, b, dst, .. } = registers;
        steps.kept.to_src(scores, a);
        tt_fpu::eltwise(&steps.math, EltwiseOp::Add, tt_fpu::Broadcast::None, false, dst, a, b);
        steps.pack.pack(dst, scores);
    }

    /// Takes over what another core found.
    fn merge(&self, to: &mut Found, from: &Found, registers: &mut Registers) {
        let steps = &self.steps;
        let (mut to_words, mut from_words, mut sum_words) = ([0; 32], [0; 32], [0; 32]);
        let wide = |word: u16| u32::from(word) << 16;
        let mad = |a, b, c| fma(a, b, c, steps.math.arch);
        for row in 0..32 {
            let (a, w) = (wide(in_column(&to.max, row)), wide(in_column(&from.max, row)));
            let difference = mad(w, MINUS_ONE, a);
            let max = if difference >> 31 == 1 { w } else { a };
            let mut factors = [mad(max, MINUS_ONE, a), mad(max, MINUS_ONE, w)];
            steps.exp_merge.apply_once(&mut factors, true);
            let cut = |word: u32| if steps.dst32 { word } else { word & 0xffff_0000 };
            let [ea, ew] = factors;
            let sums = [(ew, &from.sum), (ea, &to.sum)].map(|(e, sum)| cut(mad(e, wide(in_column(sum, row)), NOTHING)));
            set_in_column(&mut to.max, row, (max >> 16) as u16);
            sum_words[row] = cut(mad(sums[0], ONE, sums[1]));
            (to_words[row], from_words[row]) = (ea, ew);
        }
        let (mut of_to, mut of_from) = ([0; BYTES], [0; BYTES]);
        for (words, page) in [(&sum_words, &mut to.sum), (&to_words, &mut of_to), (&from_words, &mut of_from)] {
            steps.pack_words(words, page, registers);
        }
        let (mut mine, mut theirs) = ([0; BYTES], [0; BYTES]);
        for (output, other) in to.output.iter_mut().zip(&from.output) {
            for (page, factor, result) in [(&*output, &of_to, &mut mine), (other, &of_from, &mut theirs)] {
                steps.load_column(factor, registers);
                steps.times_b(page, registers);
                steps.pack.pack(&registers.dst, result);
            }
            steps.join(EltwiseOp::Add, (&mine, &theirs), output, registers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_cores_of_which_five_work_merge_in_three_rounds() {
        // By places from the end: 5 <- 4, 3 <- 2; 6 <- 5; 6 <- 3.
        let by_place: Vec<_> = merges(7, 5).into_iter().map(|(to, from)| (6 - to, 6 - from)).collect();
        assert_eq!(by_place, [(3, 2), (5, 4), (6, 5), (6, 3)]);
    }

    #[test]
    fn every_core_is_merged_once() {
        for cores in 1..70 {
            for active in 1..=cores {
                let mut senders: Vec<usize> = merges(cores, active).into_iter().map(|(_, from)| from).collect();
                senders.sort_unstable();
                assert!(senders.into_iter().eq(1..active), "{active} of {cores}");
            }
        }
    }
}
