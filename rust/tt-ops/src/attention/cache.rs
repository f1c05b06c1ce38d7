//! Addresses of key and value tiles.

use tt_memory::access::Pages;

use super::{NAME, Sizes};
use crate::OpError;

/// The cache blocks of a batch, in sequence order.
#[derive(Clone, Debug)]
pub struct PageTable {
    /// Numbers of blocks, so many for each batch.
    pub blocks: Vec<u32>,
    /// Blocks of a batch.
    pub per_batch: usize,
}

/// Keys or values: [batch or block, heads, rows, columns] in tiles.
#[derive(Clone, Debug)]
pub struct Cache {
    /// Batches, or blocks in all.
    pub count: usize,
    /// Heads.
    pub heads: usize,
    /// Rows of tiles of a batch or block.
    pub rows: usize,
    /// Tiles of a row.
    pub columns: usize,
    /// The order of blocks.
    pub table: Option<PageTable>,
}

impl Cache {
    /// Rows of tiles that a batch can have.
    pub fn length(&self) -> usize {
        self.rows * self.table.as_ref().map_or(1, |table| table.per_batch)
    }

    /// Tiles in all.
    pub fn tiles(&self) -> usize {
        self.count * self.heads * self.rows * self.columns
    }

    /// Refuses what lies outside.
    pub(super) fn check(&self, sizes: &Sizes, width: usize) -> Result<(), OpError> {
        let refuse = |what: String| Err(OpError::Invariant { operator: NAME, what });
        if self.columns < width || self.heads != sizes.kv_heads || self.rows == 0 {
            return refuse(format!("a cache of {} heads, {}x{} tiles", self.heads, self.rows, self.columns));
        }
        match &self.table {
            None if self.count != sizes.batch && self.count != 1 => refuse(format!("{} batches of keys", self.count)),
            Some(table) if table.blocks.len() < sizes.batch * table.per_batch => {
                refuse(format!("a page table of {} blocks", table.blocks.len()))
            }
            _ => Ok(()),
        }
    }

    /// The page of a tile.
    ///
    /// # Errors
    /// [`OpError::Index`]: the page table names a block that is not there.
    pub(super) fn page(&self, (batch, head): (usize, usize), (row, column): (usize, usize)) -> Result<usize, OpError> {
        let (matrix, row) = match &self.table {
            None => (if self.count == 1 { 0 } else { batch }, row),
            Some(table) => {
                let block = table.blocks[batch * table.per_batch + row / self.rows];
                if block as usize >= self.count {
                    return Err(OpError::Index { index: block, rows: self.count });
                }
                (block as usize, row % self.rows)
            }
        };
        Ok(((matrix * self.heads + head) * self.rows + row) * self.columns + column)
    }
}

/// Keys or values in memory, and those of a second sequence behind them.
pub(super) struct Sequences<'a> {
    pub(super) first: (Pages<'a>, &'a Cache),
    pub(super) second: Option<(Pages<'a>, &'a Cache)>,
    /// The row of tiles that the second sequence begins with.
    pub(super) split: usize,
}

impl Sequences<'_> {
    /// The bytes of a tile.
    ///
    /// # Errors
    /// As [`Cache::page`].
    pub(super) fn tile(&self, matrix: (usize, usize), (row, column): (usize, usize)) -> Result<&[u8], OpError> {
        let ((pages, cache), row) = match &self.second {
            Some(second) if row >= self.split => (second, row - self.split),
            _ => (&self.first, row),
        };
        Ok(pages.page(cache.page(matrix, (row, column))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_the_table() {
        let table = PageTable { blocks: vec![2, 0, 1, 7], per_batch: 2 };
        let cache = Cache { count: 3, heads: 2, rows: 2, columns: 4, table: Some(table) };
        assert_eq!(cache.length(), 4);
        assert_eq!(cache.page((0, 1), (1, 3)).ok(), Some(((2 * 2 + 1) * 2 + 1) * 4 + 3));
        assert_eq!(cache.page((0, 0), (2, 0)).ok(), Some(0));
        assert!(matches!(cache.page((1, 0), (2, 0)), Err(OpError::Index { .. })));
    }

    #[test]
    fn one_batch_of_keys_serves_all() {
        let cache = Cache { count: 1, heads: 2, rows: 3, columns: 1, table: None };
        assert_eq!(cache.page((5, 1), (2, 0)).ok(), Some(5));
    }
}
