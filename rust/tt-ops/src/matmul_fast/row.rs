//! A single row of tiles.

use std::iter::successors;

use tt_tensix::fast::{AHEAD, PLACES, Panel, Run, Session, WAITING};

use super::finish::Outputs;
use super::plan::Block;
use super::workspace::Workspace;
use super::{Kernel, Pages};
use crate::OpError;

impl Kernel<'_> {
    /// A single row of tiles, as decoding has: every tile of the right operand is used once, and memory sets the pace.
    pub(super) fn row(
        &self,
        pages: &Pages<'_>,
        block: &Block,
        session: &mut Session,
        work: &mut Workspace<'_>,
    ) -> Result<(), OpError> {
        let (k, per_tile) = (self.program.k, self.plan.per_tile);
        self.pack_left(pages, block, 0..k, work.left);
        let left = &work.left[..k * per_tile];
        let columns = successors(Some(block.columns.start), |&column| self.column_after(pages, block, column));
        let columns: Vec<usize> = columns.collect();
        // Tiles in the order of the products, by their number. What needs more than its pages is not given away.
        let tiles = columns.len() * k;
        let page_of = |column: usize, step: usize| self.right_page(pages, block.matrix, column, step);
        let straight = |step: usize| self.used(step) >= 32 && self.right.goes_straight();
        let mut coming: Vec<&[u8]> = Vec::with_capacity(2 * k + WAITING + AHEAD);
        let mut listed = columns.iter();
        let places = &mut work.right[..PLACES * per_tile];
        let pack = |number: usize, places: &mut [Panel]| {
            let (column, step) = (columns[number / k], number % k);
            let place = number % PLACES * per_tile;
            self.pack_right_page(page_of(column, step), step, &mut places[place..][..per_tile]);
        };
        (0..WAITING.min(tiles)).for_each(|number| pack(number, places));
        let sums = &mut work.sums[0];
        let mut outputs = Outputs::new(self, pages, block)?;
        for (turn, &column) in columns.iter().enumerate() {
            while coming.len() < k + WAITING + AHEAD
                && let Some(&column) = listed.next()
            {
                coming.extend((0..k).map(|step| if straight(step) { page_of(column, step) } else { &[] }));
            }
            let mut running = session.begin(sums, true);
            let mut done = 0;
            while done < k {
                let number = turn * k + done;
                let later = &coming[(WAITING + done).min(coming.len())..];
                let mut run = Run { left: &left[done * per_tile..], places, number, pages: later };
                let Some(step) = running.run(&mut run, &self.multiplier, self.right.decoder) else {
                    break;
                };
                pack(number + step + WAITING, places);
                done += step + 1;
            }
            coming.drain(..k);
            outputs.end(running, (0, column), Some(&mut *work.complete))?;
            outputs.finish(&(0..1), 1, work.complete)?;
        }
        Ok(())
    }
}
