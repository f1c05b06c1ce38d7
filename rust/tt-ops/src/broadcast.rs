//! Broadcast maps: operand page per output page.

use tt_fpu::Broadcast;

use crate::OpError;

/// Highest rank of the tensors.
const MAX_RANK: usize = 16;

/// A shape with leading dimensions of 1.
fn padded(shape: &[usize], rank: usize) -> Vec<usize> {
    [vec![1; rank - shape.len()], shape.to_vec()].concat()
}

/// The tiles of a tensor, and where page i lies among them.
pub(crate) struct OutputTiles {
    outer: Vec<usize>,
    rows: usize,
    columns: usize,
}

impl OutputTiles {
    /// Those of a tensor of `pages` pages.
    pub(crate) fn new(operator: &'static str, shape: &[usize], pages: usize) -> Result<Self, OpError> {
        let rank = shape.len().max(2);
        if rank > MAX_RANK {
            return Err(OpError::Invariant { operator, what: format!("rank {rank}, at most {MAX_RANK} is taken") });
        }
        let out = padded(shape, rank);
        let (rows, columns) = (out[rank - 2].div_ceil(32), out[rank - 1].div_ceil(32));
        let expected = out[..rank - 2].iter().product::<usize>() * rows * columns;
        if expected != pages {
            let what = format!("a tensor has {pages} pages, its shape asks for {expected}");
            return Err(OpError::Invariant { operator, what });
        }
        Ok(Self { outer: out[..rank - 2].to_vec(), rows, columns })
    }

    /// Indices of the leading dimensions, and row and column of the tile.
    fn place(&self, page: usize) -> ([usize; MAX_RANK], (usize, usize)) {
        let (column, row) = (page % self.columns, page / self.columns % self.rows);
        let mut rest = page / self.columns / self.rows;
        let mut outer = [0; MAX_RANK];
        for axis in (0..self.outer.len()).rev() {
            outer[axis] = rest % self.outer[axis];
            rest /= self.outer[axis];
        }
        (outer, (row, column))
    }
}

/// Which tile of an operand meets a tile of the output, and how that tile is broadcast.
pub(crate) struct BroadcastMap {
    /// The output's page is the operand's.
    same: bool,
    strides: Vec<usize>,
    row_tiles: usize,
    column_tiles: usize,
    pub(crate) broadcast: Broadcast,
}

impl BroadcastMap {
    pub(crate) fn new(shape: &[usize], out: &[usize]) -> Self {
        let rank = out.len().max(2);
        let (shape, out) = (padded(shape, rank), padded(out, rank));
        let (h, w) = (shape[rank - 2], shape[rank - 1]);
        let (row_tiles, column_tiles) = (h.div_ceil(32), w.div_ceil(32));
        let mut strides = vec![0; rank - 2];
        let mut stride = row_tiles * column_tiles;
        for axis in (0..rank - 2).rev() {
            strides[axis] = if shape[axis] == 1 { 0 } else { stride };
            stride *= shape[axis];
        }
        let broadcast = match (h == 1 && out[rank - 2] > 1, w == 1 && out[rank - 1] > 1) {
            (false, false) => Broadcast::None,
            (true, false) => Broadcast::Row,
            (false, true) => Broadcast::Column,
            (true, true) => Broadcast::Scalar,
        };
        Self { same: shape == out, strides, row_tiles, column_tiles, broadcast }
    }

    /// The operand's page for a page of the output.
    #[inline]
    pub(crate) fn page(&self, tiles: &OutputTiles, page: usize) -> usize {
        if self.same {
            return page;
        }
        let (outer, (row, column)) = tiles.place(page);
        let row = if self.row_tiles == 1 { 0 } else { row };
        let column = if self.column_tiles == 1 { 0 } else { column };
        let base: usize = outer.iter().zip(&self.strides).map(|(index, stride)| index * stride).sum();
        base + row * self.column_tiles + column
    }
}

/// Which row of an operand meets a row of the output, in row-major tensors.
pub(crate) struct RowBroadcast {
    /// Rows of the operand per step of each dimension of the output but the last; 0 where the operand is repeated.
    strides: Vec<usize>,
    /// Sizes of those dimensions.
    sizes: Vec<usize>,
    /// The operand's rows have one datum, the output's more.
    pub(crate) repeats_datum: bool,
}

impl RowBroadcast {
    pub(crate) fn new(shape: &[usize], out: &[usize]) -> Self {
        let rank = out.len().max(1);
        let (shape, out) = (padded(shape, rank), padded(out, rank));
        let mut strides = vec![0; rank - 1];
        let mut stride = 1;
        for axis in (0..rank - 1).rev() {
            strides[axis] = if shape[axis] == 1 { 0 } else { stride };
            stride *= shape[axis];
        }
        Self { strides, sizes: out[..rank - 1].to_vec(), repeats_datum: shape[rank - 1] == 1 && out[rank - 1] > 1 }
    }

    /// The operand's row for a row of the output.
    pub(crate) fn page(&self, row: usize) -> usize {
        let mut rest = row;
        let mut page = 0;
        for (size, stride) in self.sizes.iter().zip(&self.strides).rev() {
            page += rest % size * stride;
            rest /= size;
        }
        page
    }
}
