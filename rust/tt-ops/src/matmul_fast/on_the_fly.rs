//! Tile rows with a right operand that is packed on the fly.

use std::ops::Range;

use tt_cpu::stream;
use tt_fast::{Panel, Session};

use super::finish::Outputs;
use super::{Kernel, Pages};
use crate::OpError;
use tt_fast::Workspace;
use tt_fast::plan::{Block, MOST_ROWS, PANELS};

/// Pages of the right operand that are multiplied together.
pub(super) struct Chunk<'a> {
    pub(super) turn: usize,
    pub(super) steps: Range<usize>,
    /// Where the part of K ends for which the left operand is packed.
    pub(super) end: usize,
    pages: [&'a [u8]; PANELS],
}

impl Kernel<'_> {
    /// Some rows of tiles. A chunk of a column is multiplied once for each row, while the one after the next is brought
    /// near. The last time, the panels of the next chunk take the place of those that have been used.
    pub(super) fn pack_on_the_fly(
        &self,
        pages: &Pages<'_>,
        block: &Block,
        session: &mut Session,
        work: &mut Workspace<'_>,
    ) -> Result<(), OpError> {
        let (program, plan) = (self.program, &self.plan);
        let rows = block.rows.len();
        // During row i, the pages from the i-th of these on are asked for.
        let shares: [usize; MOST_ROWS + 1] = std::array::from_fn(|row| row.min(rows) * plan.chunk / rows);
        let overlaps = self.multiplier.multiplies_on();
        let mut outputs = Outputs::new(self, pages, block)?;
        let mut now = Some(self.chunk(pages, block, block.turns.start, 0));
        let mut next = self.following(pages, block, now.as_ref());
        if let Some(chunk) = &now {
            for number in 0..chunk.steps.len() {
                self.pack_right(chunk, number, work.right);
            }
        }
        while let Some(chunk) = now {
            let first = chunk.steps.start / plan.depth * plan.depth;
            if chunk.steps.start == first && chunk.turn == block.turns.start {
                self.pack_left(pages, block, first..chunk.end, work.left);
            }
            let after = self.following(pages, block, next.as_ref());
            let tiles = chunk.steps.len();
            let left = work.left[plan.left_place(0, chunk.steps.start - first)..].chunks(PANELS);
            let sums = &mut work.sums[plan.sums_place(0, chunk.turn - block.turns.start)..][..rows];
            for (row, (left, sums)) in left.zip(sums).enumerate() {
                let mut soon = after.as_ref().map_or(&[][..], |after| &after.pages[shares[row]..shares[row + 1]]);
                if overlaps {
                    for page in std::mem::take(&mut soon) {
                        ask_ahead(page);
                    }
                }
                let whole = chunk.steps.end == program.k;
                let mut running = session.begin(sums, chunk.steps.start == 0);
                if whole && let Some(page) = outputs.at_once((row, chunk.turn)) {
                    let panels = tiles * plan.per_tile;
                    running.last_steps((&left[..panels], &work.right[..panels]), soon, &self.multiplier, page);
                    continue;
                }
                let last = row + 1 == rows;
                let together = if overlaps && last { 1 } else { plan.chunk };
                for start in (0..tiles).step_by(together) {
                    let some = start..(start + together).min(tiles);
                    let panels = some.start * plan.per_tile..some.end * plan.per_tile;
                    let left = &left[panels.start..];
                    match next.as_ref().filter(|next| last && start < next.steps.len()) {
                        Some(next) if overlaps => {
                            let page = (next.pages[start], next.steps.start + start);
                            let soon = next.pages[(start + 1).min(next.steps.len() - 1)];
                            // After the last tile nothing is known; there are panels behind it.
                            let (now, after) = work.right[panels.start..].split_at_mut(panels.len());
                            let following = if some.end < tiles { &left[panels.len()..] } else { left };
                            let following = (&following[..panels.len()], &after[..panels.len()]);
                            self.step_beside(&mut running, (&left[..panels.len()], now), following, page, soon);
                        }
                        _ => running.steps_before(&left[..panels.len()], &work.right[panels], soon),
                    }
                    outputs.finish(&some, tiles, work.complete);
                }
                outputs.end(running, (row, chunk.turn), whole.then_some(&mut *work.complete));
            }
            if let Some(next) = &next {
                let packed = if overlaps { tiles } else { 0 };
                for number in packed..next.steps.len() {
                    self.pack_right(next, number, work.right);
                }
            }
            (now, next) = (next, after);
        }
        outputs.finish(&(0..1), 1, work.complete);
        Ok(())
    }

    /// The pages of the column whose turn it is, from a step along K on, that are multiplied together.
    pub(super) fn chunk<'p>(&self, pages: &Pages<'p>, block: &Block, turn: usize, first: usize) -> Chunk<'p> {
        let (program, plan) = (self.program, &self.plan);
        let end = (first / plan.depth * plan.depth + plan.depth).min(program.k);
        let steps = first..end.min(first + plan.chunk);
        let column = self.column(pages, turn);
        let mut chunk = Chunk { turn, steps: steps.clone(), end, pages: [&[]; PANELS] };
        for (page, step) in chunk.pages.iter_mut().zip(steps) {
            *page = self.right_page(pages, block.matrix, column, step);
        }
        chunk
    }

    /// What is multiplied after a chunk of a block.
    pub(super) fn following<'p>(
        &self,
        pages: &Pages<'p>,
        block: &Block,
        chunk: Option<&Chunk<'p>>,
    ) -> Option<Chunk<'p>> {
        let Chunk { turn, steps, end, .. } = chunk?;
        let (turn, first) = if steps.end < *end {
            (*turn, steps.end)
        } else if turn + 1 < block.turns.end {
            (turn + 1, steps.start / self.plan.depth * self.plan.depth)
        } else if *end < self.program.k {
            (block.turns.start, *end)
        } else {
            return None;
        };
        Some(self.chunk(pages, block, turn, first))
    }

    /// Packs a tile of a chunk.
    #[inline]
    fn pack_right(&self, chunk: &Chunk<'_>, number: usize, panels: &mut [Panel]) {
        let per_tile = self.plan.per_tile;
        let panels = &mut panels[number * per_tile..][..per_tile];
        self.pack_right_page(chunk.pages[number], chunk.steps.start + number, panels);
    }
}

impl<'a> Chunk<'a> {
    /// The pages.
    pub(super) fn pages(&self) -> &[&'a [u8]] {
        &self.pages[..self.steps.len()]
    }
}

/// Asks for a page that is wanted later: of a large one its first line, from which the hardware goes on by itself; in a
/// small one it does not get far.
#[inline]
fn ask_ahead(page: &[u8]) {
    if page.len() < 2048 {
        stream::prefetch_second_all(page);
    } else {
        stream::prefetch_second(page, 0);
    }
}
