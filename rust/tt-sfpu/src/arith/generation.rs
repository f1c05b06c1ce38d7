//! Differences between the vector units, besides the multiply-add.
//!
//! Some of it is a matter of the instructions, some of what the compiler makes of a kernel's source with them.
//! `docs/chip/sfpu.md` section 5.

use tt_formats::{Blackhole, Wormhole};

use super::fma::MultiplyAdd;

/// The vector unit of a generation.
pub trait VectorUnit: MultiplyAdd {
    /// `c - a * b` is one multiply-add, with the sign of a factor turned.
    const NEGATES_FACTORS: bool;
    /// `<`, `>`, `<=` and `>=` of numbers go by the total order of their words, not by the sign of the difference.
    const COMPARES_WORDS: bool;
    /// `==` and `!=` of numbers compare words, and do not ask whether the difference is zero.
    const EQUATES_WORDS: bool;
    /// The default load of an integer leaves its word, two's complement, alone; else it takes sign and magnitude.
    const LOADS_RAW_INTEGERS: bool;
    /// There is an instruction for the approximate reciprocal.
    const HAS_RECIPROCAL: bool;
}

impl VectorUnit for Wormhole {
    const NEGATES_FACTORS: bool = false;
    const COMPARES_WORDS: bool = false;
    const EQUATES_WORDS: bool = false;
    const LOADS_RAW_INTEGERS: bool = false;
    const HAS_RECIPROCAL: bool = false;
}

impl VectorUnit for Blackhole {
    /// In doubt: the sources of neighbouring compiler versions fold the sign in, and comments in kernels count on it; no
    /// result of a chip tells.
    const NEGATES_FACTORS: bool = true;
    /// In doubt: the kernels need a compiler that has the instructions `SFPGT` and `SFPLE`, and comments in them name
    /// these for such tests; one comment says that they are not used. With the sign of a difference 26 functions of BF16
    /// would give other results, all of them where an operand is NaN.
    const COMPARES_WORDS: bool = true;
    /// In doubt: it is what the newest compiler sources do. By a difference `power_binary` and `xlogy` would give other
    /// results for special values.
    const EQUATES_WORDS: bool = true;
    const LOADS_RAW_INTEGERS: bool = true;
    const HAS_RECIPROCAL: bool = true;
}
