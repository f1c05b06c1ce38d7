//! Pages that a thread takes together, and in which order.

use std::ops::Range;

use tt_cpu::pool;
use tt_memory::Buffer;

/// Most pages of a group. The more there are, the longer the runs that lie side by side in host memory: some thousand
/// tiles of bfloat16 in twelve banks are read and written like one piece, 256 a fifth slower, and page by page two
/// thirds.
const MOST: usize = 4096;

/// A buffer's pages in groups by bank sequence.
pub struct Groups {
    pages: usize,
    /// Pages of a group.
    together: usize,
    /// How much larger the number of a page is than that of the page before it in its bank; 1 if there is no rule.
    stride: usize,
}

impl Groups {
    /// Enough groups that threads end together, of minimum size.
    ///
    /// Each has at least `fewest` pages while there are as many.
    pub fn of(buffer: &Buffer, fewest: usize) -> Self {
        let pages = buffer.num_pages();
        let place = |page| buffer.locate(page).ok().map(|at| (at.bank, at.slot));
        let second = place(0).map(|(bank, slot)| (bank, slot + 1));
        let stride = (1..pages).find(|&page| place(page) == second).unwrap_or(1);
        let parts = if pool::threads() == 1 { 1 } else { 16 * pool::threads() };
        Self { pages, together: (pages / parts).clamp(fewest, MOST), stride }
    }

    /// Returns the number of groups.
    pub fn count(&self) -> usize {
        self.pages.div_ceil(self.together)
    }

    /// The pages of a group.
    pub fn pages(&self, group: usize) -> Range<usize> {
        group * self.together..self.pages.min((group + 1) * self.together)
    }

    /// Every number below `count`, the group's page count, by bank.
    pub fn places(&self, count: usize) -> impl Iterator<Item = usize> + use<> {
        let stride = self.stride;
        (0..stride.min(count)).flat_map(move |bank| (bank..count).step_by(stride))
    }
}
