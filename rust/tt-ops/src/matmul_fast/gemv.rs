//! A single row of tiles.

use tt_fast::{FAR, PLACES, Panel, Run, Session, WAITING};

use super::finish::Outputs;
use super::{Kernel, Pages};
use crate::OpError;
use tt_fast::Block;
use tt_fast::Workspace;

impl Kernel<'_> {
    /// A single row of tiles, as decoding has: every tile of the right operand is used once, and memory sets the pace.
    /// Rows of zeros are left out, unless infinities or NaN may have met them.
    pub(super) fn gemv(
        &self,
        pages: &Pages<'_>,
        block: &Block,
        session: &mut Session,
        work: &mut Workspace<'_>,
    ) -> Result<(), OpError> {
        let (k, per_tile) = (self.program.k, self.plan.per_tile);
        self.pack_left(pages, block, 0..k, work.left);
        let Workspace { left, right, sums: [sums, ..], complete } = work else {
            unreachable!("a plan has sums");
        };
        let left = &left[..k * per_tile];
        let rows = session.multiply_rows(left);
        let columns: Vec<usize> = block.turns.clone().map(|turn| self.column(pages, turn)).collect();
        // Tiles in the order of the products, by their number. Tiles that need more than their pages are left out.
        let tiles = columns.len() * k;
        let pages_of = |column: usize| self.right_column(pages, block.matrix, column);
        let page_of = |column: usize, step: usize| self.right_page(pages, block.matrix, column, step);
        let straight = if self.right.goes_straight() { self.program.k_datums / 32 } else { 0 };
        let mut coming: Vec<&[u8]> = Vec::with_capacity(2 * k + WAITING + FAR);
        let mut listed = columns.iter();
        let (places, chunk) = right.split_at_mut(PLACES * per_tile);
        let pack = |number: usize, places: &mut [Panel]| {
            let (column, step) = (columns[number / k], number % k);
            let place = number % PLACES * per_tile;
            self.pack_right_page(page_of(column, step), step, &mut places[place..][..per_tile]);
        };
        (0..WAITING.min(tiles)).for_each(|number| pack(number, places));
        let mut outputs = Outputs::new(self, pages, block)?;
        for (number, (&column, turn)) in columns.iter().zip(block.turns.clone()).enumerate() {
            while coming.len() < k + WAITING + FAR
                && let Some(&column) = listed.next()
            {
                coming.extend(pages_of(column).take(straight));
                coming.resize(coming.len() + k - straight, &[]);
            }
            let mut running = session.begin(sums, true);
            let mut done = 0;
            while done < k {
                let number = number * k + done;
                let later = &coming[(WAITING + done).min(coming.len())..];
                let mut run = Run { left: &left[done * per_tile..], places, number, pages: later };
                let Some(step) = running.run(&mut run, &self.multiplier, self.right.decoder) else {
                    break;
                };
                pack(number + step + WAITING, places);
                done += step + 1;
            }
            coming.drain(..k);
            outputs.end(running, (0, turn), Some(&mut *complete));
            if rows < 32 && !complete.every_column_is_finite(rows) {
                session.multiply_rows(&[]);
                let running = session.begin(sums, true);
                self.all_rows(pages, (block.matrix, column), (left, chunk), running).end_in(complete);
                session.multiply_rows(left);
            }
            outputs.finish(&(0..1), 1, complete);
        }
        session.multiply_rows(&[]);
        Ok(())
    }
}
