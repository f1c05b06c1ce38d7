//! Scaled dot product attention as the device programs do it.
//!
//! Running maximum, sum and output over chunks of keys.
//!
//! [`prefill`] has a tile of queries in every row and corrects sums by packer accumulation in L1; [`decode`] has the
//! query heads of one head of keys in the rows of a tile, splits the keys over cores and merges what these found. Both
//! take their tiles from [`Cache`], which follows a page table if there is one.

mod cache;
pub mod decode;
pub mod fast;
pub mod prefill;
mod tiles;

use tt_formats::DataFormat;
use tt_fpu::{Arch, MathFidelity};

use crate::Chain;

pub use cache::{Cache, PageTable};

const NAME: &str = "attention";

/// Numbers that every step shares.
#[derive(Clone)]
pub struct Numerics {
    /// Formats of queries, keys, values and output.
    pub formats: (DataFormat, DataFormat, DataFormat, DataFormat),
    /// Fidelity of all products.
    pub fidelity: MathFidelity,
    /// 32-bit Dst.
    pub dst32: bool,
    /// The factor of scores, FP32 bits.
    pub scale: u32,
    /// The approximate exponential of scores; otherwise the accurate one.
    pub approximate: bool,
    /// Corrections of rows by a polynomial; otherwise by the accurate exponential.
    pub polynomial: bool,
    /// A sink joins the sum of its rows in Dst.
    ///
    /// It leaves their maximum as it is.
    pub streaming: bool,
    /// The reciprocal of the sums of rows.
    pub reciprocal: Chain,
    /// Chip.
    pub arch: Arch,
}

/// Sizes of queries, keys and values. Lengths are in tiles.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Batches.
    pub batch: usize,
    /// Heads of queries.
    pub heads: usize,
    /// Heads of keys and of values; divides `heads`.
    pub kv_heads: usize,
    /// Columns of queries and keys.
    pub width: usize,
    /// Columns of values.
    pub value_width: usize,
}

impl Sizes {
    /// Heads of queries that share keys.
    pub fn group(&self) -> usize {
        self.heads / self.kv_heads
    }
}

/// A tensor that is added to scores.
#[derive(Clone, Copy, Debug)]
pub struct Mask {
    /// Its format.
    pub format: DataFormat,
    /// Batches that it has: all, or one for all.
    pub batch: usize,
    /// Heads that it has: all, or one for all.
    pub heads: usize,
    /// Tiles of its rows.
    pub columns: usize,
    /// Rows of tiles.
    pub rows: usize,
}

impl Mask {
    /// The page of a tile.
    pub(crate) fn page(&self, (batch, head): (usize, usize), (row, column): (usize, usize)) -> usize {
        let of = |index: usize, size: usize| if size == 1 { 0 } else { index };
        ((of(batch, self.batch) * self.heads + of(head, self.heads)) * self.rows + of(row, self.rows)) * self.columns
            + column
    }
}
