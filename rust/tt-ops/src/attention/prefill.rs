//! Attention of many queries.
//!
//! A row of tiles holds the queries of 32 positions.
//!
//! Rows of tiles do not depend on each other; what a program calls a chunk of queries decides only how sums are grouped.
//! Some rows of all heads that share keys are computed side by side, so that each tile of keys and values is prepared
//! once for all of them.
//!
//! Keys and values may have a second sequence behind the first. Its program is an older one: it masks by the FPU, does
//! not split products with values, and packs the old sum, scaled, before it is added.

use std::ops::Range;

use tt_fpu::{Accumulator, EltwiseOp, PreparedB};
use tt_memory::access::{Access, Output, Pages};
use tt_memory::{BufferId, Device};
use tt_tensix::tile_io::Input;

use super::cache::Sequences;
use super::tiles::{BYTES, Page, Registers, Steps, in_every_datum};
use super::{Cache, Mask, NAME, Numerics, Sizes};
use crate::{OpError, for_each_page};

/// Rows of tiles that are computed side by side.
const ROWS: usize = 8;

/// Settings of the program.
#[derive(Clone)]
pub struct PrefillProgram {
    /// Formats, fidelity and scale.
    pub numerics: Numerics,
    /// Heads and widths.
    pub sizes: Sizes,
    /// Rows of tiles of queries.
    pub rows: usize,
    /// Positions of the keys that count.
    pub positions: usize,
    /// Row of tiles of the keys that the first query stands at.
    pub first_row: usize,
    /// Tiles of a chunk of queries, and of one of keys.
    pub chunks: (usize, usize),
    /// Queries see no later key.
    pub causal: bool,
    /// Number of keys that queries see, ending at their own position.
    pub window: Option<usize>,
    /// The mask that is added to scores.
    pub mask: Option<Mask>,
    /// Keys.
    pub keys: Cache,
    /// Values; the first columns of the keys if it has their buffer.
    pub values: Cache,
    /// For each head of queries, a score that belongs to no key.
    ///
    /// FP32 bits of a bfloat16. Empty without.
    pub sinks: Vec<u32>,
    /// A second sequence of keys and values.
    pub joint: Option<Joint>,
}

/// A second sequence of keys and values, which every query sees.
#[derive(Clone, Debug)]
pub struct Joint {
    /// Keys.
    pub keys: Cache,
    /// Values.
    pub values: Cache,
    /// Positions that count.
    pub positions: usize,
}

impl PrefillProgram {
    pub(super) fn check(&self, device: &Device, buffers: &Buffers) -> Result<(), OpError> {
        let refuse = |what: String| Err(OpError::Invariant { operator: NAME, what });
        let Sizes { batch, heads, kv_heads, width, value_width } = self.sizes;
        if kv_heads == 0 || heads % kv_heads != 0 || self.chunks.0 == 0 || self.chunks.1 == 0 || self.positions == 0 {
            return refuse(format!("{heads} heads on {kv_heads}, chunks of {:?} tiles", self.chunks));
        }
        self.keys.check(&self.sizes, width)?;
        self.values.check(&self.sizes, value_width)?;
        if self.positions.div_ceil(32) > self.keys.length().min(self.values.length()) {
            return refuse(format!("{} positions", self.positions));
        }
        if let (Some(joint), Some((keys, values))) = (&self.joint, buffers.joint) {
            joint.keys.check(&self.sizes, width)?;
            joint.values.check(&self.sizes, value_width)?;
            let fits = joint.positions.div_ceil(32) <= joint.keys.length().min(joint.values.length());
            let pages = (device.buffer(keys)?.num_pages(), device.buffer(values)?.num_pages());
            if !fits || pages.0 < joint.keys.tiles() || pages.1 < joint.values.tiles() {
                return refuse(format!("a second sequence of {} positions", joint.positions));
            }
            if self.causal || self.window.is_some() || self.mask.is_some() || !self.sinks.is_empty() {
                return refuse("a second sequence with masks".to_owned());
            }
        }
        let mask = self.mask.map_or(0, |mask| mask.batch * mask.heads * mask.rows * mask.columns);
        let expected = [
            (buffers.queries, batch * heads * self.rows * width),
            (buffers.keys, self.keys.tiles()),
            (buffers.values, self.values.tiles()),
            (buffers.mask.unwrap_or(buffers.queries), mask),
            (buffers.output, batch * heads * self.rows * value_width),
        ];
        for (id, tiles) in expected {
            let pages = device.buffer(id)?.num_pages();
            if pages < tiles {
                return refuse(format!("{pages} pages, the program asks for {tiles}"));
            }
        }
        Ok(())
    }

    /// The keys of both sequences.
    pub(super) fn keys_of<'a>(&'a self, access: &'a Access<'_>, buffers: &Buffers) -> Result<Sequences<'a>, OpError> {
        let joint = self.joint.as_ref().zip(buffers.joint);
        let second = joint.map(|(joint, (keys, _))| Ok::<_, OpError>((access.input(keys)?.all()?, &joint.keys)));
        let first = (access.input(buffers.keys)?.all()?, &self.keys);
        Ok(Sequences { first, second: second.transpose()?, split: self.first_length() })
    }

    /// The values of both sequences.
    pub(super) fn values_of<'a>(&'a self, access: &'a Access<'_>, buffers: &Buffers) -> Result<Sequences<'a>, OpError> {
        let joint = self.joint.as_ref().zip(buffers.joint);
        let second = joint.map(|(joint, (_, values))| Ok::<_, OpError>((access.input(values)?.all()?, &joint.values)));
        let first = (access.input(buffers.values)?.all()?, &self.values);
        Ok(Sequences { first, second: second.transpose()?, split: self.first_length() })
    }

    /// Rows of tiles of the first sequence of keys.
    fn first_length(&self) -> usize {
        self.positions.div_ceil(32)
    }

    /// Rows of tiles of both sequences of keys.
    pub(super) fn length(&self) -> usize {
        self.first_length() + self.joint.as_ref().map_or(0, |joint| joint.positions.div_ceil(32))
    }

    /// Where a row of tiles of the keys lies: the position that it begins with in its sequence, and that one's end.
    pub(super) fn position(&self, key: usize) -> (usize, usize) {
        match &self.joint {
            Some(joint) if key >= self.first_length() => (32 * (key - self.first_length()), joint.positions),
            _ => (32 * key, self.positions),
        }
    }

    /// The end, in rows of tiles, of the sequence of keys that a row of tiles belongs to.
    fn end_of_sequence(&self, key: usize) -> usize {
        if key < self.first_length() { self.first_length() } else { self.length() }
    }

    /// Rows of tiles that chunks of keys begin with. Each sequence begins with a chunk of its own.
    fn starts(&self) -> impl Iterator<Item = usize> + use<> {
        let (chunk, first, all) = (self.chunks.1, self.first_length(), self.length());
        (0..first).step_by(chunk).chain((first..all).step_by(chunk))
    }

    /// Rows of tiles of the keys that a row of queries works on: those of its whole chunk.
    fn reach(&self, row: usize) -> usize {
        let all = self.length();
        let chunk_end = (row / self.chunks.0 + 1) * self.chunks.0;
        if self.causal { all.min(self.first_row + chunk_end) } else { all }
    }

    /// The chunk of keys that a row begins with: earlier ones are outside of its window.
    fn first_chunk(&self, row: usize) -> usize {
        let Some(window) = self.window else { return 0 };
        let first_of_chunk = (self.first_row + row / self.chunks.0 * self.chunks.0) * 32;
        (first_of_chunk + 1).saturating_sub(window) / 32 / self.chunks.1
    }

    /// Tiles of keys that are multiplied with values in one Dst, for a chunk of so many.
    fn sub_block(&self, tiles: usize) -> usize {
        let largest = |of: usize, most: usize| (1..=of.min(most)).rev().find(|w| of.is_multiple_of(*w)).unwrap_or(1);
        largest(tiles, largest(self.chunks.1, 4))
    }

    /// Rows at the start of a chunk of queries whose products with values are made in sub-blocks.
    fn grouped_rows(&self) -> usize {
        if self.joint.is_some() {
            return 0;
        }
        let largest = |of: usize, most: usize| (1..=of.min(most)).rev().find(|w| of.is_multiple_of(*w)).unwrap_or(1);
        let wide = largest(self.sizes.value_width, 4);
        let high = largest(self.chunks.0, (8 / wide).min(2));
        if high == 1 && 2 * wide <= 8 && self.chunks.0 >= 2 { 2 } else { high }
    }
}

/// The buffers of a call.
#[derive(Clone, Copy, Debug)]
pub struct Buffers {
    /// Queries.
    pub queries: BufferId,
    /// Keys.
    pub keys: BufferId,
    /// Values.
    pub values: BufferId,
    /// The mask.
    pub mask: Option<BufferId>,
    /// The output.
    pub output: BufferId,
    /// Keys and values of the second sequence.
    pub joint: Option<(BufferId, BufferId)>,
}

/// Runs the program.
///
/// # Errors
/// Memory errors; buffers that do not hold what the program asks for; a page table that names missing blocks.
pub fn prefill(device: &mut Device, buffers: &Buffers, program: &PrefillProgram) -> Result<(), OpError> {
    program.check(device, buffers)?;
    let steps = Steps::new(&program.numerics)?;
    let access = device.access(&[buffers.output])?;
    let pages = Tensors {
        queries: access.input(buffers.queries)?.all()?,
        keys: program.keys_of(&access, buffers)?,
        values: program.values_of(&access, buffers)?,
        mask: match (buffers.mask, program.mask) {
            (Some(id), Some(mask)) => {
                Some((access.input(id)?.all()?, mask, Input::new(mask.format, program.numerics.dst32)))
            }
            _ => None,
        },
        output: access.output(buffers.output)?,
    };
    let kernel = Kernel { program, steps, pages, grouped: program.grouped_rows() };
    let rows = program.sizes.group() * program.rows;
    let matrices = program.sizes.batch * program.sizes.kv_heads;
    // Blocks become smaller until every thread has one.
    let mut block = ROWS.min(rows);
    while block > 1 && matrices * rows.div_ceil(block) < tt_cpu::pool::threads() {
        block = block.div_ceil(2);
    }
    let blocks = rows.div_ceil(block);
    let make = || Scratch { registers: Registers::new(), rows: Vec::new() };
    for_each_page(matrices * blocks, make, |scratch, item| {
        // The last rows see most keys, so they come first.
        let first = (blocks - 1 - item % blocks) * block;
        kernel.block(item / blocks, first..(first + block).min(rows), scratch)
    })
}

struct Tensors<'a> {
    queries: Pages<'a>,
    keys: Sequences<'a>,
    values: Sequences<'a>,
    mask: Option<(Pages<'a>, Mask, Input)>,
    output: Output<'a>,
}

struct Kernel<'a> {
    program: &'a PrefillProgram,
    steps: Steps,
    pages: Tensors<'a>,
    grouped: usize,
}

struct Scratch {
    registers: Registers,
    rows: Vec<Row>,
}

/// A row of tiles of queries, and what is known about it after some chunks of keys.
struct Row {
    head: usize,
    number: usize,
    queries: Vec<PreparedB>,
    /// Scores, then probabilities of the chunk.
    scores: Vec<Page>,
    left: Vec<PreparedB>,
    dst: Accumulator,
    max: Page,
    max_before: Page,
    sum: Page,
    sum_before: Page,
    output: Vec<Page>,
    output_before: Vec<Page>,
    /// Tiles of the chunk that the row works on.
    active: usize,
    begun: bool,
}

impl Row {
    fn new(program: &PrefillProgram) -> Self {
        let (width, value_width, keys) = (program.sizes.width, program.sizes.value_width, program.chunks.1);
        Self {
            head: 0,
            number: 0,
            queries: vec![PreparedB::new(); width],
            scores: vec![[0; BYTES]; keys],
            left: vec![PreparedB::new(); keys],
            dst: Accumulator::new(),
            max: [0; BYTES],
            max_before: [0; BYTES],
            sum: [0; BYTES],
            sum_before: [0; BYTES],
            output: vec![[0; BYTES]; value_width],
            output_before: vec![[0; BYTES]; value_width],
            active: 0,
            begun: false,
        }
    }
}

impl Kernel<'_> {
    /// Some rows of the query heads that share a head of keys, through all chunks.
    fn block(&self, matrix: usize, rows: Range<usize>, scratch: &mut Scratch) -> Result<(), OpError> {
        let (program, sizes) = (self.program, &self.program.sizes);
        let (batch, kv_head) = (matrix / sizes.kv_heads, matrix % sizes.kv_heads);
        scratch.rows.resize_with(rows.len(), || Row::new(program));
        let Scratch { registers, rows: states } = scratch;
        for (state, place) in states.iter_mut().zip(rows) {
            state.head = kv_head * sizes.group() + place / program.rows;
            (state.number, state.begun) = (place % program.rows, false);
            let first = ((batch * sizes.heads + state.head) * program.rows + state.number) * sizes.width;
            for (column, query) in state.queries.iter_mut().enumerate() {
                self.steps.queries.to_src(self.pages.queries.page(first + column), &mut registers.a);
                query.prepare(&self.steps.math, &registers.a);
            }
        }
        let chunk = program.chunks.1;
        let first = states.iter().map(|row| program.first_chunk(row.number)).min().unwrap_or(0);
        let end = states.iter().map(|row| program.reach(row.number)).max().unwrap_or(0);
        for start in program.starts().skip(first).take_while(|&start| start < end) {
            for row in states.iter_mut() {
                let outside = start < program.first_chunk(row.number) * chunk;
                let end = program.reach(row.number).min(program.end_of_sequence(start));
                row.active = if outside { 0 } else { end.saturating_sub(start).min(chunk) };
            }
            self.scores((batch, kv_head), start, states, registers)?;
            for row in states.iter_mut().filter(|row| row.active > 0) {
                self.softmax((batch, start), row, registers);
            }
            self.outputs((batch, kv_head), start, states, registers)?;
            for row in states.iter_mut().filter(|row| row.active > 0) {
                self.correct(row, registers);
            }
        }
        states.iter_mut().try_for_each(|row| self.finish(batch, row, registers))
    }

    /// Products of queries and the keys of a chunk.
    fn scores(
        &self,
        matrix: (usize, usize),
        start: usize,
        rows: &mut [Row],
        registers: &mut Registers,
    ) -> Result<(), OpError> {
        let most = rows.iter().map(|row| row.active).max().unwrap_or(0);
        for tile in 0..most {
            let mut live: Vec<&mut Row> = rows.iter_mut().filter(|row| tile < row.active).collect();
            for row in &mut live {
                row.dst.clear();
            }
            for column in 0..self.program.sizes.width {
                self.steps.prepare_key(self.pages.keys.tile(matrix, (start + tile, column))?, registers);
                for row in &mut live {
                    let Row { dst, queries, .. } = &mut **row;
                    tt_fpu::accumulate(&self.steps.math, dst, &mut registers.right, &mut queries[column]);
                }
            }
            for row in live {
                self.steps.pack.pack(row.dst.dst(), &mut row.scores[tile]);
            }
        }
        Ok(())
    }

    /// Masks, maximum, exponentials and their sum.
    fn softmax(&self, (batch, start): (usize, usize), row: &mut Row, registers: &mut Registers) {
        let steps = &self.steps;
        for tile in 0..row.active {
            let key = start + tile;
            if let Some((pages, mask, input)) = &self.pages.mask {
                let page = pages.page(mask.page((batch, row.head), (row.number, key)));
                steps.add_mask(*input, page, &mut row.scores[tile], registers);
            }
            self.hide(key, row.number, &mut row.scores[tile], registers);
        }
        if row.begun {
            row.max_before = row.max;
            row.sum_before = row.sum;
        }
        let before = row.begun.then_some(&row.max_before);
        steps.row_max(&row.scores[..row.active], before, &mut row.max, registers);
        steps.probabilities(&mut row.scores[..row.active], &row.max, Some(&mut row.sum), registers);
        for (page, left) in row.scores[..row.active].iter().zip(&mut row.left) {
            steps.prepare_left(page, left, registers);
        }
        std::mem::swap(&mut row.output, &mut row.output_before);
    }

    /// Adds minus infinity to the scores of keys that a row of queries does not see.
    fn hide(&self, key: usize, row: usize, scores: &mut Page, registers: &mut Registers) {
        let program = self.program;
        let place = program.first_row + row;
        let first_query = 32 * place;
        let (first_key, positions) = program.position(key);
        let padded = first_key + 32 > positions;
        if program.joint.is_some() {
            if padded {
                self.steps.hide_by_sum(|_, column| first_key + column >= positions, scores, registers);
            }
            return;
        }
        let later = program.causal && key >= place;
        let window = program.window.unwrap_or(usize::MAX);
        let earlier = program.window.is_some_and(|window| first_query + 31 >= first_key + window);
        if padded && !program.causal || later || earlier {
            let seen = |row: usize, column: usize| {
                let (query, key) = (first_query + row, first_key + column);
                key < positions
                    && (!program.causal || key <= query)
                    && (program.window.is_none() || key + window > query)
            };
            self.steps.hide(|row, column| !seen(row, column), scores, registers);
        }
    }

    /// Products of probabilities and the values of a chunk.
    fn outputs(
        &self,
        matrix: (usize, usize),
        start: usize,
        rows: &mut [Row],
        registers: &mut Registers,
    ) -> Result<(), OpError> {
        let (program, steps) = (self.program, &self.steps);
        let most = rows.iter().map(|row| row.active).max().unwrap_or(0);
        for column in 0..program.sizes.value_width {
            for row in rows.iter_mut() {
                row.dst.clear();
            }
            for tile in 0..most {
                steps.prepare_value(self.pages.values.tile(matrix, (start + tile, column))?, registers);
                for row in rows.iter_mut().filter(|row| tile < row.active) {
                    tt_fpu::accumulate(&steps.math, &mut row.dst, &mut registers.right, &mut row.left[tile]);
                    let last = tile + 1 == row.active;
                    let grouped = row.number % program.chunks.0 < self.grouped;
                    let block = if grouped { program.sub_block(row.active) } else { row.active };
                    if last || (tile + 1).is_multiple_of(block) {
                        steps.pack_or_add(row.dst.dst(), &mut row.output[column], tile >= block);
                        row.dst.clear();
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds what earlier chunks gave, brought to the maximum of now.
    fn correct(&self, row: &mut Row, registers: &mut Registers) {
        if row.begun {
            let steps = &self.steps;
            let mut factor = [0; BYTES];
            steps.correction(&row.max_before, &row.max, &mut factor, registers);
            steps.load_column(&factor, registers);
            for (output, before) in row.output.iter_mut().zip(&row.output_before) {
                steps.add_product(before, output, registers);
            }
            if self.program.joint.is_some() {
                steps.scale(&mut row.sum_before, registers);
                let sum = row.sum;
                steps.join(EltwiseOp::Add, (&sum, &row.sum_before), &mut row.sum, registers);
            } else {
                steps.add_product(&row.sum_before, &mut row.sum, registers);
            }
        }
        row.begun = true;
    }

    /// Takes a score in that belongs to no key: it counts for the maximum and the sum. The sum is in column 0 then.
    fn absorb(&self, sink: u32, row: &mut Row, registers: &mut Registers) {
        let steps = &self.steps;
        let (mut total, mut factor, mut share) = ([0; BYTES], [0; BYTES], in_every_datum(sink));
        steps.sum_of_rows(&row.sum, &mut total, registers);
        row.max_before = row.max;
        steps.row_max(std::slice::from_ref(&share), Some(&row.max_before), &mut row.max, registers);
        steps.correction(&row.max_before, &row.max, &mut factor, registers);
        steps.probabilities(std::slice::from_mut(&mut share), &row.max, None, registers);
        steps.load_column(&factor, registers);
        steps.scale(&mut total, registers);
        row.output.iter_mut().for_each(|output| steps.scale(output, registers));
        steps.join(EltwiseOp::Add, (&share, &total), &mut row.sum, registers);
    }

    /// The output over the sum of probabilities.
    fn finish(&self, batch: usize, row: &mut Row, registers: &mut Registers) -> Result<(), OpError> {
        let (program, sizes) = (self.program, &self.program.sizes);
        let mut factor = [0; BYTES];
        if let Some(&sink) = program.sinks.get(row.head).filter(|_| self.steps.streaming) {
            self.steps.reciprocal_with_sink((&row.sum, &row.max), &in_every_datum(sink), &mut factor, registers);
        } else if let Some(&sink) = program.sinks.get(row.head) {
            self.absorb(sink, row, registers);
            self.steps.reciprocal_of_column(&row.sum, &mut factor, registers);
        } else if program.joint.is_some() {
            let mut total = [0; BYTES];
            self.steps.sum_of_rows(&row.sum, &mut total, registers);
            self.steps.reciprocal_of_column(&total, &mut factor, registers);
        } else {
            self.steps.reciprocal_of_rows(&row.sum, &mut factor, registers);
        }
        self.steps.load_column(&factor, registers);
        let first = ((batch * sizes.heads + row.head) * program.rows + row.number) * sizes.value_width;
        for (column, output) in row.output.iter().enumerate() {
            self.steps.times_b(output, registers);
            self.steps.pack_out.pack(&registers.dst, self.pages.output.claim(first + column)?);
        }
        Ok(())
    }
}
