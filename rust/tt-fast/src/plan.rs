//! Division of a matmul into blocks that stay in the caches.

use std::ops::Range;

use super::PLACES;
use tt_cpu::pool;

/// Panels of a tile column multiplied at a time, per tile row.
///
/// These 32 KiB stay in a first-level cache of 48 KiB, because the left operand's panels are read past it.
pub const PANELS: usize = 16;

/// Most rows of tiles in a work item.
pub const MOST_ROWS: usize = 16;

/// Most panels of the left operand that are packed at a time, 1 MiB: half of a usual second-level cache.
const LEFT_PANELS: usize = 512;

/// Most chunks of a row of tiles that are packed at a time, if the right operand is packed first: rows are more use.
const MOST_CHUNKS: usize = 4;

/// The same two if AMX multiplies what was packed first: it is so quick that what comes from beyond the second-level cache
/// holds it up, and some hosts share that cache with others.
const LEFT_PANELS_AMX: usize = 256;
const MOST_CHUNKS_AMX: usize = 2;

/// Most sums of a work item that are kept from one part of K to the next, 4 MiB.
const KEPT_SUMS: usize = 1024;

/// Most panels of the right operand that are packed before they are multiplied, 32 MiB.
const RIGHT_PANELS: usize = 16384;

/// Sizes of a product, in tiles.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Matrices in the output, the left and the right operand.
    ///
    /// 1 means that the operand is shared.
    pub batch: (usize, usize, usize),
    /// Rows of the left operand.
    pub m: usize,
    /// The inner dimension.
    pub k: usize,
    /// Columns of the right operand.
    pub n: usize,
}

/// Sizes of a work item in tiles, and what is packed before.
///
/// If the left operand's rows fit for all of K, an item goes through the right operand column by column and needs the
/// sums of one column. Otherwise it goes through K part by part and keeps the sums of a block.
///
/// A right operand that several rows of items use is packed first, for all of them, as many columns at a time as there
/// is memory for. What fewer rows use, or what has columns that are too long, is packed when its turn comes, beside the
/// multiplication: to write panels to memory and to read them again would take longer.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Output rows.
    pub rows: usize,
    /// Output columns.
    pub columns: usize,
    /// K steps for which the left operand is packed at once.
    pub depth: usize,
    /// Steps along K that are multiplied at a time.
    pub chunk: usize,
    /// Panels of a tile.
    pub per_tile: usize,
    /// True if the right operand is packed first.
    pub packs_first: bool,
    /// Matrices and columns of the output whose right operand is packed first.
    stage: (usize, usize),
    /// Sums of one column, or of the whole block.
    keeps: bool,
}

/// The part of the output that is worked on at a time.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Matrices of the output.
    pub matrices: Range<usize>,
    /// Columns of the output.
    pub columns: Range<usize>,
}

impl Stage {
    /// Matrices of the right operand.
    pub fn right_matrices(&self, shape: &Shape) -> Range<usize> {
        if shape.batch.2 == 1 { 0..1 } else { self.matrices.clone() }
    }
}

/// Output tiles of one work item.
#[derive(Clone, Debug)]
pub struct Block {
    /// The matrix of the output.
    pub matrix: usize,
    /// Its rows.
    pub rows: Range<usize>,
    /// The columns, as turns: see [`column`].
    pub turns: Range<usize>,
}

/// The column whose turn it is, of so many.
///
/// First come those that are a multiple of `stride` from the first one, then those from the second one, and so on.
#[inline]
pub fn column(turn: usize, columns: usize, stride: usize) -> usize {
    if stride == 1 {
        return turn;
    }
    let (short, longer) = (columns / stride, columns % stride);
    // The first rounds have one more.
    let round = if turn < longer * (short + 1) { turn / (short + 1) } else { (turn - longer) / short };
    let place = turn - round * short - round.min(longer);
    round + place * stride
}

impl Plan {
    /// The plan for so many panels of a tile.
    ///
    /// `overlaps` if a unit multiplies on while other work is done, `many_rows` if enough rows use the right operand to
    /// pack it first.
    pub fn new(shape: &Shape, per_tile: usize, overlaps: bool, many_rows: bool) -> Self {
        let chunk = PANELS / per_tile;
        let chunks = shape.k.div_ceil(chunk);
        let column = chunks * PANELS;
        let packs_first = many_rows && column <= RIGHT_PANELS;
        let (left_panels, most_chunks) = match (packs_first, overlaps) {
            (true, true) => (LEFT_PANELS_AMX, MOST_CHUNKS_AMX),
            (true, false) => (LEFT_PANELS, MOST_CHUNKS),
            (false, _) => (LEFT_PANELS, chunks),
        };
        let most_rows = if packs_first { left_panels / PANELS / chunks.min(most_chunks) } else { MOST_ROWS };
        let rows = even(shape.m, most_rows.min(MOST_ROWS));
        let depth = even(chunks, (left_panels / PANELS / rows).max(1)) * chunk;
        let keeps = depth < shape.k;
        let mut stage = (shape.batch.0, shape.n);
        if packs_first {
            stage.1 = even(shape.n, RIGHT_PANELS / column);
            if shape.batch.2 > 1 {
                stage.0 = if stage.1 < shape.n { 1 } else { even(shape.batch.0, RIGHT_PANELS / column / shape.n) };
            }
        }
        let columns = if keeps { even(stage.1, KEPT_SUMS / rows) } else { stage.1 };
        let depth = depth.min(shape.k);
        let mut plan = Self { rows, columns, depth, chunk, per_tile, packs_first, stage, keeps };
        let threads = pool::threads();
        // Work that does not come out even is divided further, down to where packing would cost more than waiting.
        let items = |plan: &Self| plan.stages(shape).next().map_or(0, |stage| plan.items(shape, &stage));
        while !items(&plan).is_multiple_of(threads) && items(&plan) < 4 * threads {
            if plan.columns > plan.rows.max(8) {
                plan.columns = even(plan.stage.1, plan.columns.div_ceil(2));
            } else if plan.rows > 8 {
                plan.rows = even(shape.m, plan.rows.div_ceil(2));
            } else {
                break;
            }
        }
        plan
    }

    /// The parts of the output, one after the other.
    pub fn stages(&self, shape: &Shape) -> impl Iterator<Item = Stage> + use<> {
        let (matrices, columns) = (shape.batch.0, shape.n);
        let (of_matrices, of_columns) = self.stage;
        (0..matrices).step_by(of_matrices).flat_map(move |matrix| {
            (0..columns).step_by(of_columns).map(move |column| Stage {
                matrices: matrix..(matrix + of_matrices).min(matrices),
                columns: column..(column + of_columns).min(columns),
            })
        })
    }

    /// Number of work items.
    pub fn items(&self, shape: &Shape, stage: &Stage) -> usize {
        stage.matrices.len() * shape.m.div_ceil(self.rows) * stage.columns.len().div_ceil(self.columns)
    }

    /// The output of a work item.
    pub fn block(&self, shape: &Shape, stage: &Stage, item: usize) -> Block {
        let across = stage.columns.len().div_ceil(self.columns);
        let down = shape.m.div_ceil(self.rows);
        let turn = stage.columns.start + item % across * self.columns;
        let row = item / across % down * self.rows;
        Block {
            matrix: stage.matrices.start + item / across / down,
            rows: row..(row + self.rows).min(shape.m),
            turns: turn..(turn + self.columns).min(stage.columns.end),
        }
    }

    /// Chunks of a column of the right operand.
    pub fn chunks(&self, shape: &Shape) -> usize {
        shape.k.div_ceil(self.chunk)
    }

    /// Panels of a chunk of a column that was packed first.
    pub fn slot(&self, shape: &Shape) -> usize {
        self.chunk.min(shape.k) * self.per_tile
    }

    /// Panels that a stage's right operand takes.
    ///
    /// None if it is packed on the fly.
    pub fn packed_panels(&self, shape: &Shape, stage: &Stage) -> usize {
        let columns = stage.right_matrices(shape).len() * stage.columns.len();
        if self.packs_first { columns * self.chunks(shape) * self.slot(shape) } else { 0 }
    }

    /// Returns the position of a row's panels for a K step.
    ///
    /// It is counted from the start of the packed part.
    pub fn left_place(&self, row: usize, step: usize) -> usize {
        (step / self.chunk * self.rows + row) * PANELS + step % self.chunk * self.per_tile
    }

    /// Returns the position of a tile's sums in the block.
    ///
    /// By the number of its columns before this one.
    pub fn sums_place(&self, row: usize, before: usize) -> usize {
        if self.keeps { before * self.rows + row } else { row }
    }

    /// A chunk and the places of a run.
    pub fn right_panels(&self) -> usize {
        PANELS + PLACES * self.per_tile
    }

    /// Panels of the left operand that are packed at a time.
    pub fn left_panels(&self) -> usize {
        self.depth.div_ceil(self.chunk) * self.rows * PANELS
    }

    /// Tiles of sums.
    pub fn sums(&self) -> usize {
        self.rows * if self.keeps { self.columns } else { 1 }
    }
}

/// The smallest part size with as few parts as `most`.
///
/// None is larger than `most`.
pub fn even(whole: usize, most: usize) -> usize {
    whole.div_ceil(whole.div_ceil(most).max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Strategy;

    /// Every output tile is in one item, and nothing is larger than what the documentation says.
    fn check(shape: &Shape, per_tile: usize, overlaps: bool) {
        let plan = Plan::new(shape, per_tile, overlaps, Strategy::packs_first(shape, overlaps));
        let (batch, m, n) = (shape.batch.0, shape.m, shape.n);
        let what = format!("batch {:?}, {m} x {} x {n}, {per_tile} panels a tile: {plan:?}", shape.batch, shape.k);
        assert!(plan.bytes() <= 6 << 20, "{} bytes of workspace, {what}", plan.bytes());
        let mut items = vec![0_u8; batch * m * n];
        for stage in plan.stages(shape) {
            assert!(plan.packed_panels(shape, &stage) <= RIGHT_PANELS, "{what}");
            for item in 0..plan.items(shape, &stage) {
                let block = plan.block(shape, &stage, item);
                for row in block.rows {
                    let first = (block.matrix * m + row) * n;
                    items[first..][block.turns.clone()].iter_mut().for_each(|items| *items += 1);
                }
            }
        }
        assert!(items.iter().all(|&items| items == 1), "{what}");
    }

    #[test]
    fn every_column_has_its_turn_after_the_one_before_it_in_memory() {
        for columns in 1..=70 {
            for stride in [1, 2, 3, 8, 12, 64, 100] {
                let order: Vec<usize> = (0..columns).map(|turn| column(turn, columns, stride)).collect();
                let rounds = (0..stride).flat_map(|first| (first..columns).step_by(stride));
                assert!(rounds.eq(order.iter().copied()), "{columns} columns, {stride}: {order:?}");
            }
        }
    }

    #[test]
    fn plans_of_all_sizes_are_whole_and_small() {
        let long = [1, 15, 17, 511, 512, 513, 16_383, 16_384, 16_385, 100_000];
        for (m, n) in [(1, 1), (1, 300), (2, 7), (16, 5), (32, 9), (33, 3), (40, 130), (300, 1)] {
            for (k, batch) in long.into_iter().flat_map(|k| [(1, 1, 1), (3, 3, 1), (3, 1, 3)].map(|batch| (k, batch))) {
                for (per_tile, overlaps) in [(1, false), (2, false), (4, false), (1, true), (2, true)] {
                    check(&Shape { batch, m, k, n }, per_tile, overlaps);
                }
            }
        }
    }
}
