//! Lines of tiles.
//!
//! The pages of a tensor along one of its dimensions, or along several.

use tt_memory::access::{Input, Output};

use super::program::{Axis, refuse};
use crate::OpError;
use crate::broadcast::OutputTiles;

/// The lines of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lines {
    /// How many lines there are.
    pub(super) count: usize,
    /// Tiles of a line.
    pub(super) length: usize,
    /// Pages between its tiles.
    stride: usize,
    /// Which dimension they go along.
    pub(super) axis: Axis,
    /// Rows or columns of its last tile that are not padding; 32 if there is none.
    pub(super) used: usize,
    /// Rows and columns of tiles of a matrix, and the rows and columns of the last ones that are not padding.
    pub(super) matrix: [(usize, usize); 2],
}

impl Lines {
    pub(super) fn new(domain: &[usize], axis: Axis) -> Result<Self, OpError> {
        let [outer @ .., height, width] = domain else {
            return refuse(format!("a domain of rank {}", domain.len()));
        };
        let (rows, columns) = (height.div_ceil(32), width.div_ceil(32));
        let tiles = outer.iter().product::<usize>() * rows * columns;
        let used = |extent: usize| if extent.is_multiple_of(32) { 32 } else { extent % 32 };
        let matrix = [(rows, used(*height)), (columns, used(*width))];
        let (length, stride, used) = match axis {
            Axis::Width => (columns, 1, used(*width)),
            Axis::Height => (rows, columns, used(*height)),
            Axis::Inner(first) if first <= outer.len() => {
                (outer[first..].iter().product::<usize>() * rows * columns, 1, 32)
            }
            Axis::Inner(first) => return refuse(format!("no dimension {first} of {domain:?} before the matrices")),
            Axis::Leading(index) if index < outer.len() => {
                (outer[index], outer[index + 1..].iter().product::<usize>() * rows * columns, 32)
            }
            Axis::Leading(index) => return refuse(format!("no leading dimension {index} of {domain:?}")),
        };
        if tiles == 0 {
            return refuse(format!("no tiles in {domain:?}"));
        }
        Ok(Self { count: tiles / length, length, stride, axis, used, matrix })
    }

    /// All tiles.
    pub(super) fn tiles(&self) -> usize {
        self.count * self.length
    }

    /// Rows or columns of a line that are not padding.
    pub(super) fn extent(&self) -> usize {
        32 * (self.length - 1) + self.used
    }

    /// Rows and columns of a tile of a line that are not padding which the line's passes know of.
    pub(super) fn used_of(&self, tile: usize) -> (usize, usize) {
        let last = tile + 1 == self.length;
        let [(rows, used_rows), (columns, used_columns)] = self.matrix;
        match self.axis {
            Axis::Width => (32, if last { self.used } else { 32 }),
            Axis::Height => (if last { self.used } else { 32 }, 32),
            Axis::Leading(_) => (32, 32),
            Axis::Inner(_) => (
                if tile / columns % rows == rows - 1 { used_rows } else { 32 },
                if tile % columns == columns - 1 { used_columns } else { 32 },
            ),
        }
    }

    /// The page of a tile of a line.
    #[inline]
    pub(super) fn page(&self, line: usize, tile: usize) -> usize {
        line / self.stride * self.stride * self.length + tile * self.stride + line % self.stride
    }
}

/// A line while it is computed.
pub(super) struct Line<'a> {
    /// The tiles of the domain.
    pub(super) tiles: &'a OutputTiles,
    pub(super) lines: &'a Lines,
    pub(super) inputs: &'a [Input<'a>],
    pub(super) outputs: &'a [Output<'a>],
    pub(super) number: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(domain: &[usize], axis: Axis) -> Vec<Vec<usize>> {
        let lines = Lines::new(domain, axis).expect("lines");
        (0..lines.count).map(|line| (0..lines.length).map(|tile| lines.page(line, tile)).collect()).collect()
    }

    #[test]
    fn every_page_is_in_one_line() {
        assert_eq!(pages(&[2, 40, 65], Axis::Width), [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]);
        assert_eq!(pages(&[2, 40, 65], Axis::Height), [[0, 3], [1, 4], [2, 5], [6, 9], [7, 10], [8, 11]]);
        assert_eq!(pages(&[2, 3, 32, 64], Axis::Leading(1))[1], [1, 3, 5]);
        assert_eq!(pages(&[2, 3, 32, 64], Axis::Leading(0))[5], [5, 11]);
    }

    #[test]
    fn a_line_knows_its_padding() {
        let used = |axis| Lines::new(&[1, 40, 65], axis).map(|lines| lines.used).ok();
        assert_eq!([used(Axis::Width), used(Axis::Height), used(Axis::Leading(0))], [Some(1), Some(8), Some(32)]);
        assert!(Lines::new(&[0, 32, 32], Axis::Width).is_err());
        assert!(Lines::new(&[32, 32], Axis::Leading(0)).is_err());
    }

    #[test]
    fn matrices_are_lines_of_all_their_tiles() {
        assert_eq!(pages(&[2, 2, 40, 32], Axis::Inner(1)), [[0, 1, 2, 3], [4, 5, 6, 7]]);
        assert_eq!(pages(&[2, 33, 64], Axis::Inner(0)), [[0, 1, 2, 3, 4, 5, 6, 7]]);
        let lines = Lines::new(&[1, 2, 40, 65], Axis::Inner(1)).expect("lines");
        let used: Vec<_> = (0..12).map(|tile| lines.used_of(tile)).collect();
        assert_eq!(used[..6], [(32, 32), (32, 32), (32, 1), (8, 32), (8, 32), (8, 1)]);
        assert_eq!(used[..6], used[6..]);
        assert!(Lines::new(&[32, 32], Axis::Inner(1)).is_err());
    }
}
