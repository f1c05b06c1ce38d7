//! The element-wise operations and how their second operand is spread.

use super::Src;
use tt_tensix::regs::{FACE_DATUMS, FACE_SIDE, index, position};

/// The element-wise operations of the FPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EltwiseOp {
    /// `SrcA + SrcB`, one pass.
    Add,
    /// `SrcA - SrcB`, one pass.
    Sub,
    /// `SrcA * SrcB`, one pass per fidelity phase.
    Mul,
}

/// The part of the `SrcB` tile that is broadcast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Broadcast {
    /// The datum at the same position.
    None,
    /// Row 0 serves every row.
    Row,
    /// Column 0 serves every column.
    Column,
    /// Datum 0 serves all.
    Scalar,
}

impl Broadcast {
    /// Index into `SrcB` for a datum of the result.
    #[inline(always)]
    pub(crate) const fn source(self, datum: usize) -> usize {
        let (row, column) = position(datum);
        match self {
            Self::None => datum,
            Self::Row => index(0, column),
            Self::Column => index(row, 0),
            Self::Scalar => 0,
        }
    }

    /// Repeats row 0, column 0 or datum 0 over a tile.
    pub fn spread(self, tile: &mut Src) {
        if self == Self::None {
            return;
        }
        let old = *tile;
        self.spread_of(tile, |datum| old[datum]);
    }

    /// Fills a register tile with the result of [`Self::spread`].
    ///
    /// From the datums that are repeated.
    #[inline(always)]
    pub fn spread_of(self, tile: &mut Src, word: impl Fn(usize) -> u32) {
        let row = |datum: usize| {
            let mut words = [0; FACE_SIDE];
            for (column, target) in words.iter_mut().enumerate() {
                *target = word(datum + column);
            }
            words
        };
        let halves = if self == Self::Row { [0, FACE_DATUMS].map(row) } else { [[0; FACE_SIDE]; 2] };
        for (line, words) in tile.as_chunks_mut::<FACE_SIDE>().0.iter_mut().enumerate() {
            let source = self.source(line * FACE_SIDE);
            *words = match self {
                Self::None => row(source),
                Self::Row => halves[line / FACE_SIDE % 2],
                Self::Column | Self::Scalar => [word(source); FACE_SIDE],
            };
        }
    }
}
