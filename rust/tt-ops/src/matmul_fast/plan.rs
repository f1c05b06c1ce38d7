//! How a product is cut up so that what is used again lies in the caches.

use std::ops::Range;

use tt_cpu::pool;
use tt_cpu::scratch::Scratch;
use tt_memory::MemoryError;
use tt_tensix::fast::{Panel, Sums};

use crate::matmul::MatmulProgram;

/// Panels of a tile column that are multiplied at a time, once for each row of tiles. These 32 KiB stay in a first-level
/// cache of 48 KiB, because the left operand's panels are read past it.
pub const PANELS: usize = 16;

/// Most rows of tiles in a work item.
pub const MOST_ROWS: usize = 16;

/// Most panels of the left operand that are packed at a time, 1 MiB: half of a usual second-level cache.
const LEFT_PANELS: usize = 512;

/// Most sums of a work item that are kept from one part of K to the next, 2 MiB.
const KEPT_SUMS: usize = 512;

/// Sizes of a work item in tiles.
///
/// If the left operand's rows fit for all of K, an item goes through the right operand column by column and needs the
/// sums of one column. Otherwise it goes through K part by part and keeps the sums of a block.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Output rows.
    pub rows: usize,
    /// Output columns.
    pub columns: usize,
    /// Steps along K for which the left operand is packed at a time.
    pub depth: usize,
    /// Steps along K that are multiplied at a time.
    pub chunk: usize,
    /// Panels of a tile.
    pub per_tile: usize,
    across: usize,
    down: usize,
    /// Sums of one column, or of the whole block.
    keeps: bool,
}

/// Output tiles of one work item.
#[derive(Clone, Debug)]
pub struct Block {
    pub matrix: usize,
    pub rows: Range<usize>,
    pub columns: Range<usize>,
}

impl Plan {
    pub fn new(program: &MatmulProgram, per_tile: usize) -> Self {
        let chunk = PANELS / per_tile;
        let strip = program.k.div_ceil(chunk) * PANELS;
        let rows = even(program.m, MOST_ROWS);
        let keeps = rows * strip > LEFT_PANELS;
        let (columns, depth) = if keeps {
            (even(program.n, KEPT_SUMS / rows), even(program.k.div_ceil(chunk), LEFT_PANELS / PANELS / rows) * chunk)
        } else {
            (program.n, program.k)
        };
        let mut plan = Self { rows, columns, depth, chunk, per_tile, across: 1, down: 1, keeps };
        plan.count(program);
        let threads = pool::threads();
        // Work that does not come out even is cut finer, down to where packing would cost more than waiting.
        while !plan.items(program).is_multiple_of(threads) && plan.items(program) < 4 * threads {
            if plan.columns > plan.rows.max(8) {
                plan.columns = even(program.n, plan.columns.div_ceil(2));
            } else if plan.rows > 8 {
                plan.rows = even(program.m, plan.rows.div_ceil(2));
            } else {
                break;
            }
            plan.count(program);
        }
        plan
    }

    fn count(&mut self, program: &MatmulProgram) {
        self.across = program.n.div_ceil(self.columns);
        self.down = program.m.div_ceil(self.rows);
    }

    /// Number of work items.
    pub fn items(&self, program: &MatmulProgram) -> usize {
        program.batch.0 * self.down * self.across
    }

    /// The output of a work item.
    pub fn block(&self, program: &MatmulProgram, item: usize) -> Block {
        let (column, row) = (item % self.across * self.columns, item / self.across % self.down * self.rows);
        Block {
            matrix: item / self.across / self.down,
            rows: row..(row + self.rows).min(program.m),
            columns: column..(column + self.columns).min(program.n),
        }
    }

    /// Where the panels of a step along K (counted from the start of the packed part) of a row lie.
    pub fn left_place(&self, row: usize, step: usize) -> usize {
        (step / self.chunk * self.rows + row) * PANELS + step % self.chunk * self.per_tile
    }

    /// Where the sums of a tile of the block lie.
    pub fn sums_place(&self, row: usize, column: usize) -> usize {
        if self.keeps { column * self.rows + row } else { row }
    }

    fn left_panels(&self) -> usize {
        self.depth.div_ceil(self.chunk) * self.rows * PANELS
    }

    fn sums(&self) -> usize {
        self.rows * if self.keeps { self.columns } else { 1 }
    }
}

/// The smallest size of parts, none larger than `most`, that makes as few of them as parts of `most`.
fn even(whole: usize, most: usize) -> usize {
    whole.div_ceil(whole.div_ceil(most).max(1)).max(1)
}

/// What a work item works on.
pub struct Workspace<'a> {
    pub left: &'a mut [Panel],
    /// As many as [`PANELS`].
    pub right: &'a mut [Panel],
    pub sums: &'a mut [Sums],
    pub complete: &'a mut Sums,
}

/// Bytes of every workspace: a large page of the host, so that the usual plans touch one.
const BYTES: usize = 2 << 20;

impl Plan {
    fn bytes(&self) -> usize {
        (self.left_panels() + PANELS) * size_of::<Panel>() + (self.sums() + 1) * size_of::<Sums>()
    }

    /// Memory for the workspace of one thread, in whole large pages: what is left of one would lie in small ones.
    pub fn reserve(&self) -> Result<Scratch, MemoryError> {
        Ok(Scratch::reserve(self.bytes().next_multiple_of(BYTES))?)
    }

    /// Whether memory that another plan reserved is enough.
    pub fn fits(&self, scratch: &Scratch) -> bool {
        scratch.len() >= self.bytes()
    }

    /// The workspace in it.
    ///
    /// # Panics
    /// If it is not enough.
    pub fn workspace<'a>(&self, scratch: &'a mut Scratch) -> Workspace<'a> {
        let (left, rest) = scratch.bytes().split_at_mut(self.left_panels() * size_of::<Panel>());
        let (right, rest) = rest.split_at_mut(PANELS * size_of::<Panel>());
        let (complete, rest) = rest.split_at_mut(size_of::<Sums>());
        let sums = &mut rest[..self.sums() * size_of::<Sums>()];
        Workspace {
            left: bytemuck::cast_slice_mut(left),
            right: bytemuck::cast_slice_mut(right),
            sums: bytemuck::cast_slice_mut(sums),
            complete: bytemuck::from_bytes_mut(complete),
        }
    }
}
