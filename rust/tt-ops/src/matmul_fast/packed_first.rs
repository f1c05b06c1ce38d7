//! Rows of tiles, of a right operand that was packed before.

use tt_cpu::pool;
use tt_cpu::stream::{self, LINE};
use tt_fast::{AHEAD, Panel, Session};

use super::finish::Outputs;
use super::{Kernel, Pages};
use crate::OpError;
use tt_fast::Workspace;
use tt_fast::plan::{Block, PANELS, Stage};

/// Chunks of the right operand that are packed as one piece of work: so many that tiles of a row follow each other in
/// host memory.
const PIECE: usize = 32;

/// Tiles that are multiplied between two pieces of other work, if that hides behind the multiplication: lines on their
/// way from memory leave room for those of the left operand.
const TOGETHER: usize = 4;

/// Panels of a stage's right operand: for each matrix, for each chunk along K, the columns.
#[derive(Clone, Copy)]
pub(super) struct Packed<'a> {
    panels: &'a [Panel],
    columns: usize,
    chunks: usize,
    /// Panels of a chunk.
    slot: usize,
    first: (usize, usize),
}

impl<'a> Packed<'a> {
    fn chunk(&self, matrix: usize, column: usize, chunk: usize) -> &'a [Panel] {
        let number = (matrix * self.chunks + chunk) * self.columns + column;
        &self.panels[number * self.slot..][..self.slot]
    }
}

impl Kernel<'_> {
    /// Packs the right operand of a stage.
    pub(super) fn pack_stage<'p>(&self, pages: &Pages<'_>, stage: &Stage, panels: &'p mut [Panel]) -> Packed<'p> {
        let (program, plan) = (self.program, &self.plan);
        let (columns, chunks) = (stage.columns.len(), plan.chunks(&self.shape));
        let slot = plan.slot(&self.shape);
        let matrices = stage.right_matrices(&self.shape);
        let all = panels.len() / slot;
        let piece = PIECE.min(all.div_ceil(4 * pool::threads())).max(1);
        pool::for_each_chunk(panels, piece * slot, |item, panels| {
            let mut number = item * piece;
            let mut panels = panels;
            while !panels.is_empty() {
                // Columns of one chunk.
                let column = number % columns;
                let some = (panels.len() / slot).min(columns - column);
                let (these, rest) = panels.split_at_mut(some * slot);
                let (matrix, chunk) = (matrices.start + number / columns / chunks, number / columns % chunks);
                let steps = chunk * plan.chunk..((chunk + 1) * plan.chunk).min(program.k);
                // In the order of the pages.
                let (first, deep) = (steps.start, steps.len());
                let tile = |number: usize| {
                    if program.transpose_b { (number / deep, number % deep) } else { (number % some, number / some) }
                };
                let page = |number: usize| {
                    let (place, step) = tile(number);
                    self.right_page(pages, matrix, stage.columns.start + column + place, first + step)
                };
                for number in 0..some * deep {
                    stream::prefetch_all(page((number + AHEAD).min(some * deep - 1)));
                    let (place, step) = tile(number);
                    let panel = place * slot + step * plan.per_tile;
                    self.pack_right_page(page(number), first + step, &mut these[panel..][..plan.per_tile]);
                }
                (panels, number) = (rest, number + some);
            }
        });
        Packed { panels, columns, chunks, slot, first: (matrices.start, stage.columns.start) }
    }

    /// A block of output tiles.
    pub(super) fn packed_first(
        &self,
        pages: &Pages<'_>,
        block: &Block,
        packed: &Packed<'_>,
        session: &mut Session,
        work: &mut Workspace<'_>,
    ) -> Result<(), OpError> {
        let (program, plan) = (self.program, &self.plan);
        let rows = block.rows.len();
        let matrix = if program.batch.2 == 1 { 0 } else { block.matrix - packed.first.0 };
        let chunk_of = |column: usize, step: usize| packed.chunk(matrix, column - packed.first.1, step / plan.chunk);
        let together = if self.multiplier.multiplies_on() { TOGETHER } else { plan.chunk };
        let mut outputs = Outputs::new(self, pages, block)?;
        let mut chunks = Vec::with_capacity(block.turns.len() * plan.chunks(&self.shape));
        for first in (0..program.k).step_by(plan.depth) {
            let starts = (first..(first + plan.depth).min(program.k)).step_by(plan.chunk);
            chunks.extend(block.turns.clone().flat_map(|column| starts.clone().map(move |start| (column, start))));
        }
        for (place, &(column, start)) in chunks.iter().enumerate() {
            let (right, tiles) = (chunk_of(column, start), plan.chunk.min(program.k - start));
            let first = start / plan.depth * plan.depth;
            if column == block.turns.start && start == first {
                self.pack_left(pages, block, first..(first + plan.depth).min(program.k), work.left);
            }
            // The next chunk is brought near meanwhile, a few lines at a time: they share the way with the left
            // operand.
            let next: &[u8] =
                chunks.get(place + 1).map_or(&[], |&(column, start)| bytemuck::cast_slice(chunk_of(column, start)));
            let lines = next.len() / LINE;
            let left = work.left[plan.left_place(0, start - first)..].chunks(PANELS);
            let sums = &mut work.sums[plan.sums_place(0, column - block.turns.start)..][..rows];
            for (row, (left, sums)) in left.zip(sums).enumerate() {
                let whole = start + tiles == program.k;
                let share = |step: usize| (row * tiles + step) * lines / (rows * tiles);
                let mut running = session.begin(sums, start == 0);
                if whole && let Some(page) = outputs.at_once((row, column)) {
                    let soon = &next[share(0) * LINE..share(tiles) * LINE];
                    let panels = tiles * plan.per_tile;
                    running.last_steps((&left[..panels], &right[..panels]), &[soon], &self.multiplier, page);
                    continue;
                }
                for step in (0..tiles).step_by(together) {
                    let some = step..(step + together).min(tiles);
                    let soon = &next[share(some.start) * LINE..share(some.end) * LINE];
                    let panels = some.start * plan.per_tile..some.end * plan.per_tile;
                    if whole {
                        outputs.ask((row, column), &some, tiles);
                    }
                    running.steps_before(&left[panels.clone()], &right[panels], &[soon]);
                    outputs.finish(&some, tiles, work.complete);
                }
                outputs.end(running, (row, column), whole.then_some(&mut *work.complete));
            }
        }
        outputs.finish(&(0..1), 1, work.complete);
        Ok(())
    }
}
