//! The range of numbers, as a program's text tells it.

use super::{INFINITY, SIGN, STEP};

/// Range of lanes without fallback, from the program's text alone.
///
/// The compiler sees it, the program's run does not.
#[derive(Clone, Copy)]
pub struct Range {
    /// Neither denormal nor -0 nor NaN.
    pub regular: bool,
    /// Zero, or at least two to this power in magnitude.
    pub least: i32,
    /// Finite, and less than two to this power in magnitude.
    pub most: i32,
}

impl Range {
    pub const ANY: Self = Self { regular: false, least: -LIMIT, most: LIMIT };
    pub const REGULAR: Self = Self { regular: true, ..Self::ANY };
    /// Zero of either sign.
    pub const ZERO: Self = Self { regular: false, least: LIMIT, most: -LIMIT };

    #[inline(always)]
    pub fn between(least: i32, most: i32) -> Self {
        Self { regular: true, least, most }
    }

    #[inline(always)]
    pub fn of(word: u32) -> Self {
        match word & !SIGN {
            0 => Self { regular: word == 0, ..Self::ZERO },
            1..STEP => Self::ANY,
            magnitude @ STEP..INFINITY => Self::between((magnitude >> 23) as i32 - 127, (magnitude >> 23) as i32 - 126),
            INFINITY => Self::REGULAR,
            _ => Self::ANY,
        }
    }

    /// A product of two, regular unless it is small.
    #[inline(always)]
    pub fn times(self, other: Self) -> Self {
        let unknown = self.least < -LIMIT / 2 || other.least < -LIMIT / 2;
        let unbounded = self.most > LIMIT / 2 || other.most > LIMIT / 2;
        let least = if unknown { -LIMIT } else { self.least + other.least };
        Self::between(least, if unbounded { LIMIT } else { self.most + other.most })
    }

    /// Either of two.
    #[inline(always)]
    pub fn or(self, other: Self) -> Self {
        Self {
            regular: self.regular && other.regular,
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }

    #[inline(always)]
    pub fn is_zero(self) -> bool {
        self.least == LIMIT
    }

    /// Less than the largest power.
    #[inline(always)]
    pub fn is_finite(self) -> bool {
        self.most <= 126
    }
}

/// No number has this exponent.
pub const LIMIT: i32 = 1000;
