//! Tile rows with pages multiplied as they are, or packed meanwhile.

use tt_fast::{Masks, Session};

use super::finish::Outputs;
use super::{Kernel, Pages};
use crate::OpError;
use tt_fast::Block;
use tt_fast::Workspace;

impl Kernel<'_> {
    /// Some rows of tiles. A chunk of a column is multiplied once for each row, while the next one is brought near.
    /// What is packed is packed the first time that it is multiplied: the left operand in the first column, a chunk in
    /// the first row.
    pub(super) fn unpacked(
        &self,
        pages: &Pages<'_>,
        block: &Block,
        masks: &Masks,
        session: &mut Session,
        work: &mut Workspace<'_>,
    ) -> Result<(), OpError> {
        let (program, plan) = (self.program, &self.plan);
        let rows = block.rows.len();
        let mut outputs = Outputs::new(self, pages, block)?;
        let mut left: Vec<&[u8]> = Vec::with_capacity(rows * plan.depth);
        let mut now = Some(self.chunk(pages, block, block.turns.start, 0));
        let mut next = self.following(pages, block, now.as_ref());
        while let Some(chunk) = now {
            let first = chunk.steps.start / plan.depth * plan.depth;
            if chunk.steps.start == first && chunk.turn == block.turns.start {
                left.clear();
                let page = |row: usize, step: usize| self.left_page(pages, block.matrix, row, step);
                left.extend(block.rows.clone().flat_map(|row| (first..chunk.end).map(move |step| page(row, step))));
            }
            let coming = next.as_ref().map_or(&[][..], |next| next.pages());
            let right = chunk.pages();
            let sums = &mut work.sums[plan.sums_place(0, chunk.turn - block.turns.start)..][..rows];
            for (row, (left, sums)) in left.chunks(chunk.end - first).zip(sums).enumerate() {
                let left = &left[chunk.steps.start - first..][..right.len()];
                // A part of the next chunk for each row.
                let soon = &coming[row * coming.len() / rows..(row + 1) * coming.len() / rows];
                let whole = chunk.steps.end == program.k;
                let mut running = session.begin(sums, chunk.steps.start == 0);
                let page = if whole { outputs.at_once((row, chunk.turn)) } else { None };
                let finished = page.is_some();
                if self.multiplier.packs_beside() {
                    let place = plan.left_place(row, chunk.steps.start - first);
                    let panels = (&mut work.left[place..][..right.len()], &mut work.right[..right.len()]);
                    let of_left = if chunk.turn == block.turns.start { left } else { &[] };
                    let of_right = if row == 0 { right } else { &[] };
                    running.packing(panels, (of_left, of_right), masks, soon, page);
                } else {
                    running.pages((left, right), masks, soon, page);
                }
                if !finished {
                    outputs.end(running, (row, chunk.turn), whole.then_some(&mut *work.complete));
                }
            }
            let after = self.following(pages, block, next.as_ref());
            (now, next) = (next, after);
        }
        Ok(())
    }
}
