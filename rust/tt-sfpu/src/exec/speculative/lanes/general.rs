//! The multiply-add in whatever relation its terms stand.
//!
//! A sum on the unit's grid.

use super::range::Range;
use super::step::Operands;
use super::{Int, Lanes};
use crate::exec::grid::{self, LARGEST_FACTOR, LEAST, MOST, Sum};

impl Operands {
    #[inline(always)]
    pub fn general(self) -> (Int, Lanes, Range) {
        let sum = grid::multiply_add(self.x.words[self.lane], self.y.words[self.lane], self.z.words[self.lane]);
        (sum.words, sum.lost | self.outside(sum), self.range())
    }

    /// Lanes whose larger factor or larger exponent is out of range, unless the program's text says that there is none.
    #[inline(always)]
    fn outside(self, sum: Sum) -> Lanes {
        let (x, y, z) = (self.x.range, self.y.range, self.z.range);
        let factors = if x.most <= LARGEST_FACTOR && y.most <= LARGEST_FACTOR { 0 } else { sum.large_factors() };
        let bounded = self.z.constant.is_some() && z.regular && z.least >= LEAST && z.most <= MOST;
        factors | if bounded { 0 } else { sum.outside() }
    }

    #[inline(always)]
    fn range(self) -> Range {
        let least = if self.z.constant.is_some() { self.z.range.least.max(LEAST) } else { LEAST };
        let most = self.x.range.times(self.y.range).most.max(self.z.range.most);
        Range::between(least - 26, most.min(MOST + 1) + 1)
    }
}
