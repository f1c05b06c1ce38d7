//! SFPU steps of a reduction.
//!
//! It folds tiles onto each other, then the rows or columns of the last one.

use tt_cpu::Level;
use tt_formats::{Arch, DataFormat, TileShape};
use tt_sfpu::{BinaryFunction, DstWidth, lane};
use tt_tensix::tile_io::{Tile, ZERO};
use tt_tensix::unpack;

use super::step::{Axis, Join};
use crate::OpError;

/// Side of a tile.
const SIDE: usize = 32;

/// One way of joining words.
pub struct VectorJoin {
    function: BinaryFunction,
    /// FP32: a store flushes denormals.
    float: bool,
    /// Sums, of which every one is rounded.
    ordered: bool,
    level: Level,
}

impl VectorJoin {
    /// The generation's function of a join; `None` for those of the FPU.
    ///
    /// # Errors
    /// [`OpError::UnknownFunction`] if the SFPU does not have it.
    pub fn new(arch: Arch, join: Join, format: DataFormat) -> Result<Option<Self>, OpError> {
        let unsigned = format == DataFormat::UInt32;
        let (name, variant) = match join {
            Join::FpuSum { .. } | Join::FpuMax | Join::FpuMin => return Ok(None),
            Join::SfpuSum => ("add_binary", "default"),
            Join::SfpuMax => ("binary_max", "default"),
            Join::SfpuMin => ("binary_min", "default"),
            Join::IntSum => ("add_int", "int32"),
            Join::IntMax => ("binary_max_int32", if unsigned { "uint32" } else { "int32" }),
            Join::IntMin => ("binary_min_int32", if unsigned { "uint32" } else { "int32" }),
        };
        let unknown = || OpError::UnknownFunction { name: name.to_owned(), variant: variant.to_owned() };
        let function = tt_sfpu::lookup_binary(arch, name, variant).ok_or_else(unknown)?;
        let float = matches!(join, Join::SfpuSum | Join::SfpuMax | Join::SfpuMin);
        Ok(Some(Self { function, float, ordered: join == Join::SfpuSum, level: Level::current() }))
    }

    /// `first` becomes the join of it and `second`, word by word.
    pub fn join(&self, first: &mut [u32], second: &[u32]) {
        tt_sfpu::binary(self.function, first, second, DstWidth::Bits32, self.level);
    }

    /// Joins each row's or column's words to the first.
    ///
    /// In the order of the hardware.
    pub fn fold(&self, axis: Axis, dst: &mut Tile) {
        let lines = match axis {
            Axis::Width => {
                let mut transposed = ZERO;
                unpack::transpose(dst, &mut transposed);
                let columns = lines(&transposed);
                let mut lines =
                    std::array::from_fn(|line| columns[line / 16 * 16 + line / 8 % 2 + LANES[line % 8] * 2]);
                self.fold_lines(&COLUMNS, &mut lines, &[]);
                lines
            }
            Axis::Height => {
                let mut lines = lines(dst);
                self.fold_lines(&ROWS, &mut lines, &[]);
                lines
            }
            Axis::Tile | Axis::Leading(_) | Axis::Transposed(_) => return,
        };
        for (at, &word) in lines[0].iter().enumerate() {
            let (row, column) = if axis == Axis::Width { (at, 0) } else { (0, at) };
            let datum = &mut dst[TileShape::FULL.index(row, column)];
            *datum = word;
            self.store(std::slice::from_mut(datum));
        }
    }

    /// Stores results, which are single words, to `Dst`.
    pub fn store(&self, words: &mut [u32]) {
        if self.float {
            for word in words {
                *word = lane::store_f32(*word);
            }
        }
    }

    /// Returns true if the join order matters.
    ///
    /// The number of identities may matter, too: not for the largest or smallest word.
    pub fn is_ordered(&self) -> bool {
        self.ordered
    }

    /// [`Self::fold`] of columns in consecutive tiles, up to 32.
    ///
    /// The results are left in the first. Rows without a tile hold `identity`, whose join with itself is itself, and
    /// which changes a word once at most.
    pub fn fold_tiles(&self, tiles: &mut [Tile], identity: &Tile) {
        self.fold_lines(&ROWS, tiles, identity);
    }

    /// Joins lines in an order, an identity where there is no second one.
    fn fold_lines<const WORDS: usize>(&self, order: &[Lines], lines: &mut [[u32; WORDS]], identity: &[u32]) {
        let mut settled = [false; SIDE];
        for &(to, from, count) in order {
            if let Ok([firsts, seconds]) = lines.get_disjoint_mut([to..to + count, from..from + count]) {
                self.join(firsts.as_flattened_mut(), seconds.as_flattened());
                settled[to..to + count].fill(false);
                continue;
            }
            for (to, from) in (to..to + count).zip(from..) {
                let joined = settled[to];
                settled[to] = from >= lines.len();
                if let Ok([line, other]) = lines.get_disjoint_mut([to, from]) {
                    self.join(line, other);
                } else if let Some(line) = lines.get_mut(to).filter(|_| !joined) {
                    self.join(line, identity);
                }
            }
        }
    }
}

/// Lines to which others are joined: the first of each, and how many.
type Lines = (usize, usize, usize);

/// Of a sum of rows: even and odd columns of the left face, then of the right, eight lanes each. Three rotations, by 4,
/// 2 and 1, join the lanes; only what reaches lane 0.
const COLUMNS: [Lines; 7] = [(16, 24, 8), (8, 16, 8), (0, 8, 8), (0, 4, 4), (0, 1, 1), (2, 3, 1), (0, 2, 1)];

/// Lanes in an order in which those that a rotation joins are neighbours.
const LANES: [usize; 8] = [0, 6, 7, 5, 4, 2, 3, 1];

/// Of a sum of columns: groups of four rows, four lanes each, in the upper and in the lower half.
const ROWS: [Lines; 10] = [
    (8, 12, 4),
    (4, 8, 4),
    (0, 4, 4),
    (24, 28, 4),
    (20, 24, 4),
    (16, 20, 4),
    (0, 16, 4),
    (0, 1, 1),
    (2, 3, 1),
    (0, 2, 1),
];

/// The rows of a tile, each in one piece.
fn lines(tile: &Tile) -> [[u32; SIDE]; SIDE] {
    let mut lines = [[0; SIDE]; SIDE];
    for (row, line) in lines.iter_mut().enumerate() {
        for (column, half) in [0, 16].into_iter().zip(line.chunks_exact_mut(16)) {
            let start = TileShape::FULL.index(row, column);
            half.copy_from_slice(&tile[start..start + 16]);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_changes_a_word_once_at_most() {
        let joins = [(Join::SfpuSum, 0), (Join::SfpuMax, 0xff80_0000_u32), (Join::SfpuMin, 0x7f80_0000)];
        for (arch, (join, identity)) in
            [Arch::Wormhole, Arch::Blackhole].into_iter().flat_map(|arch| joins.map(|join| (arch, join)))
        {
            let vector = VectorJoin::new(arch, join, DataFormat::Float32).ok().flatten().expect("a join of the SFPU");
            for low in [0, 1, 0x7fff, 0x8000, 0xffff] {
                let mut once: Vec<u32> = (0..=0xffff).map(|high| high << 16 | low).collect();
                let identities = vec![identity; once.len()];
                vector.join(&mut once, &identities);
                let mut twice = once.clone();
                vector.join(&mut twice, &identities);
                assert!(once == twice, "{join:?}");
            }
            let mut itself = [identity; 16];
            vector.join(&mut itself, &[identity; 16]);
            assert_eq!(itself, [identity; 16], "{join:?}");
        }
    }
}
