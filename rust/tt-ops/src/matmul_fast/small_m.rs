//! A single row of tiles of which few rows have numbers.

use tt_fast::{Line, Panel, Running, Session, SmallM};

use super::finish::Outputs;
use super::{Kernel, Pages};
use crate::OpError;
use tt_fast::Workspace;
use tt_fast::plan::{Block, even};

/// Most columns that are multiplied by turns: their tiles of two steps along K lie in a first-level cache of 48 KiB.
const COLUMNS: usize = 12;

/// Fewer columns that follow each other in host memory are no group of their own: there is too little to multiply
/// while the next tiles are on their way.
const FOLLOWING: usize = 4;

impl Kernel<'_> {
    /// A single row of tiles of which few rows have numbers, as decoding for a few users has. False if more have, and
    /// nothing is done then. Some columns go along K together, so that long pieces of memory are read in their order.
    pub(super) fn small_m(
        &self,
        small_m: &SmallM,
        pages: &Pages<'_>,
        block: &Block,
        session: &mut Session,
        work: &mut Workspace<'_>,
    ) -> Result<bool, OpError> {
        let k = self.program.k;
        self.pack_left(pages, block, 0..k, work.left);
        let Some(rows) = small_m.rows(&work.left[..k * self.plan.per_tile]) else {
            return Ok(false);
        };
        let columns: Vec<usize> = block.turns.clone().map(|turn| self.column(pages, turn)).collect();
        let groups = groups(&columns, pages.right.stride());
        let mut outputs = Outputs::new(self, pages, block)?;
        let mut sums = vec![Line::ZERO; COLUMNS * rows.lines()];
        let (mut now, mut soon) = (Vec::with_capacity(COLUMNS), Vec::with_capacity(COLUMNS));
        let tiles = |group: &[usize], step: usize, tiles: &mut Vec<_>| {
            tiles.clear();
            tiles.extend(group.iter().map(|&column| self.right_page(pages, block.matrix, column, step)));
        };
        let mut turns = block.turns.clone();
        for (number, group) in groups.iter().enumerate() {
            let sums = &mut sums[..group.len() * rows.lines()];
            sums.fill(Line::ZERO);
            tiles(group, 0, &mut now);
            let mut plain = true;
            for step in 0..k {
                let (after, next) = if step + 1 < k { (number, step + 1) } else { (number + 1, 0) };
                tiles(groups.get(after).unwrap_or(&&[][..]), next, &mut soon);
                plain = plain && small_m.step(&rows, step, &now, &soon, sums);
                std::mem::swap(&mut now, &mut soon);
            }
            for ((&column, turn), lines) in group.iter().zip(&mut turns).zip(sums.chunks(rows.lines())) {
                let Workspace { left, right, sums: [sums, ..], complete } = &mut *work else {
                    unreachable!("a plan has sums");
                };
                let running = if plain && small_m.finish(lines, sums) {
                    session.begin(sums, false)
                } else {
                    self.all_rows(pages, (block.matrix, column), (left, right), session.begin(sums, true))
                };
                outputs.end(running, (0, turn), Some(complete));
            }
        }
        Ok(true)
    }

    /// A column with all rows.
    #[cold]
    #[inline(never)]
    pub(super) fn all_rows<'r>(
        &self,
        pages: &Pages<'_>,
        (matrix, column): (usize, usize),
        (left, right): (&[Panel], &mut [Panel]),
        mut running: Running<'r>,
    ) -> Running<'r> {
        let (plan, k) = (&self.plan, self.program.k);
        for first in (0..k).step_by(plan.chunk) {
            let steps = first..k.min(first + plan.chunk);
            let right = &mut right[..steps.len() * plan.per_tile];
            for (step, panels) in steps.zip(right.chunks_mut(plan.per_tile)) {
                self.pack_right_page(self.right_page(pages, matrix, column, step), step, panels);
            }
            running.steps(&left[plan.left_place(0, first)..][..right.len()], right);
        }
        running
    }
}

/// Columns that are multiplied by turns, of those in the order of host memory.
fn groups(columns: &[usize], stride: usize) -> Vec<&[usize]> {
    if columns.len() < FOLLOWING * stride {
        return columns.chunks(COLUMNS).collect();
    }
    let following = columns.chunk_by(|column, next| *next == column + stride);
    following.flat_map(|columns| columns.chunks(even(columns.len(), COLUMNS))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_of_all_columns_and_follow_each_other() {
        for (count, stride) in [(1, 1), (5, 12), (47, 12), (48, 12), (64, 12), (128, 12), (448, 12), (500, 8), (40, 1)]
        {
            let columns: Vec<usize> = (0..stride).flat_map(|turn| (turn..count).step_by(stride)).collect();
            let groups = groups(&columns, stride);
            assert_eq!(groups.concat(), columns, "{count} columns, {stride}");
            assert!(groups.iter().all(|group| group.len() <= COLUMNS), "{count} columns, {stride}");
            let follows = |group: &&[usize]| group.windows(2).all(|two| two[1] == two[0] + stride);
            assert!(count < FOLLOWING * stride || groups.iter().all(follows), "{count} columns, {stride}");
        }
    }
}
