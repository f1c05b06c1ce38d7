//! The operations, as the header's numbers name them.

use tt_sfpu::VectorUnit;
use tt_sfpu::convert::{self, Round};
use tt_sfpu::lane::{self, Lane, Word};

use super::Id;

/// Enumerations that a call names by number, in this order.
macro_rules! numbered {
    ($($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $item:ident,)+ })+) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $name { $($(#[$doc])* $item,)+ }

        impl $name {
            const ALL: &'static [Self] = &[$(Self::$item),+];

            /// The one with this number.
            pub(crate) fn of(number: u32) -> Option<Self> {
                Self::ALL.get(number as usize).copied()
            }
        }
    )+};
}

numbered! {
    /// Functions of one vector.
    Unary {
        /// Sign bit inverted.
        Negate,
        /// Absolute value of a float.
        Magnitude,
        /// Absolute value of a two's complement integer.
        IntegerMagnitude,
        /// All bits inverted.
        Not,
        /// Exponent field.
        Exponent,
        /// Exponent field less 127.
        UnbiasedExponent,
        /// Mantissa.
        Mantissa,
        /// Mantissa with the hidden bit.
        WholeMantissa,
        /// Leading zeros.
        LeadingZeros,
        /// Leading zeros without the sign bit.
        LeadingZerosOfMagnitude,
        /// Sign-magnitude integer to float.
        FloatOfInteger,
        /// To bfloat16, kept as float32.
        RoundBf16,
        /// To float16, kept as float32.
        RoundFp16,
        /// To an unsigned 8-bit integer.
        RoundUInt8,
        /// To a signed 8-bit integer, sign and magnitude.
        RoundInt8,
        /// To an unsigned 16-bit integer.
        RoundUInt16,
        /// To a signed 16-bit integer, sign and magnitude.
        RoundInt16,
        /// Sign-magnitude to two's complement.
        TwosComplement,
        /// Two's complement to sign-magnitude.
        SignMagnitude,
    }
    /// Functions of two vectors.
    Binary {
        /// Integer sum.
        IntegerAdd,
        /// Integer difference.
        IntegerSubtract,
        /// Bits set in both.
        And,
        /// Bits set in one of them.
        Or,
        /// Bits set in exactly one.
        Xor,
        /// Shift, to the right by a negative count.
        Shift,
        /// Exponent from the low bits of the second.
        SetExponent,
        /// Exponent of the second.
        CopyExponent,
        /// Mantissa of the second.
        SetMantissa,
        /// Sign of the second.
        CopySign,
        /// Sum of the exponent field and a constant.
        AddExponent,
        /// The smaller in total order.
        Minimum,
        /// The larger in total order.
        Maximum,
    }
    /// Comparisons of two vectors.
    Compare {
        /// Floats: the sign of the difference.
        Less,
        /// Floats: no sign.
        GreaterEqual,
        /// Floats: the difference is the word zero.
        Equal,
        /// Floats: it is not.
        NotEqual,
        /// Floats: no sign, and not zero.
        Greater,
        /// Floats: the opposite.
        LessEqual,
        /// Two's complement integers.
        IntegerLess,
        /// Likewise.
        IntegerGreaterEqual,
        /// Likewise.
        IntegerEqual,
        /// Likewise.
        IntegerNotEqual,
        /// Likewise.
        IntegerGreater,
        /// Likewise.
        IntegerLessEqual,
        /// Unsigned integers.
        UnsignedLess,
        /// Likewise.
        UnsignedGreaterEqual,
        /// Likewise.
        UnsignedGreater,
        /// Likewise.
        UnsignedLessEqual,
    }
    /// How masks are joined.
    Join {
        /// Both.
        And,
        /// One of them.
        Or,
        /// Not the first; the second is not looked at.
        Not,
    }
    /// How a datum of `Dst` is taken.
    Memory {
        /// As the format of `Dst` says.
        Float,
        /// Sign-magnitude in `Dst`, two's complement in the lane; on Blackhole two's complement in both.
        SignMagnitude,
        /// The word.
        Word,
        /// The low half.
        UInt16,
    }
    /// Tables of straight lines.
    Table {
        /// Three of bytes.
        Bytes,
        /// Six of halves, the first ending at 0.5.
        Halves,
    }
    /// Registers that hold constants.
    Constant {
        /// 0.8373
        Close,
        /// 0
        Zero,
        /// 1
        One,
        /// -1, or what a kernel has put there.
        Program0,
        /// Likewise, 0 at the start.
        Program1,
        /// Likewise.
        Program2,
        /// Likewise.
        Program3,
        /// Twice the number of the lane.
        LaneNumber,
    }
}

impl Unary {
    /// The function on one lane.
    pub(super) fn lane(self, a: u32) -> u32 {
        match self {
            Self::Negate => lane::flipsign(a),
            Self::Magnitude => lane::fabs(a),
            Self::IntegerMagnitude => lane::iabs(a),
            Self::Not => !a,
            Self::Exponent => lane::exp_biased(a),
            Self::UnbiasedExponent => lane::exp_unbiased(a),
            Self::Mantissa => lane::man_only(a),
            Self::WholeMantissa => lane::man_with_one(a),
            Self::LeadingZeros => a.leading_zeros(),
            Self::LeadingZerosOfMagnitude => lane::magnitude(a).leading_zeros(),
            Self::FloatOfInteger => convert::cast_to_fp32(a),
            Self::RoundBf16 => convert::round(Round::Bf16, a),
            Self::RoundFp16 => round_fp16(a),
            Self::RoundUInt8 => convert::round(Round::UInt8, a),
            Self::RoundInt8 => convert::round(Round::Int8, a),
            Self::RoundUInt16 => convert::round(Round::UInt16, a),
            Self::RoundInt16 => convert::round(Round::Int16, a),
            Self::TwosComplement => lane::sm_to_twos(a),
            Self::SignMagnitude => lane::twos_to_sm(a),
        }
    }

    /// Whether stochastic rounding may give another result.
    pub(super) fn is_inexact(self, a: u32) -> bool {
        match self {
            Self::FloatOfInteger => {
                f64::from(f32::from_bits(lane::magnitude(self.lane(a)))) != f64::from(lane::magnitude(a))
            }
            Self::RoundBf16 => self.lane(a) != a,
            Self::RoundFp16 => self.lane(a) != a,
            Self::RoundUInt8 | Self::RoundInt8 | Self::RoundUInt16 | Self::RoundInt16 => {
                let integer = f32::from_bits(lane::magnitude(a));
                lane::magnitude(self.lane(a)) as f32 != integer
            }
            _ => false,
        }
    }
}

/// Float16 kept as float32, ties away from zero: as for bfloat16, with ten bits.
fn round_fp16(a: u32) -> u32 {
    match lane::exp_biased(a) {
        0 => 0,
        255 => a & 0xff80_0000,
        _ => a.wrapping_add(0x1000) & !0x1fff,
    }
}

impl Binary {
    /// The function on one lane.
    pub(super) fn lane(self, a: u32, b: u32) -> u32 {
        match self {
            Self::IntegerAdd => a.wrapping_add(b),
            Self::IntegerSubtract => a.wrapping_sub(b),
            Self::And => a & b,
            Self::Or => a | b,
            Self::Xor => a ^ b,
            Self::Shift => lane::shift(a, b),
            Self::SetExponent => lane::setexp(a, b),
            Self::CopyExponent => lane::copyexp(a, b),
            Self::SetMantissa => lane::setman(a, b),
            Self::CopySign => lane::setsign(a, b),
            Self::AddExponent => lane::addexp(a, b as i32),
            Self::Minimum => lane::min(a, b),
            Self::Maximum => lane::max(a, b),
        }
    }
}

impl Compare {
    /// The comparison on one lane of a generation. On Wormhole, comparing with +0 looks at the word itself.
    pub(super) fn lane<G: VectorUnit>(self, a: u32, b: u32) -> bool {
        let less = |a, b| lane::total_less(Word::<G>::from(a), Word::from(b));
        let difference = || if b == 0 { a } else { Word::<G>::from(a).minus(Word::from(b)).bits };
        match self {
            Self::Less if G::COMPARES_WORDS => less(a, b),
            Self::GreaterEqual if G::COMPARES_WORDS => !less(a, b),
            Self::Greater if G::COMPARES_WORDS => less(b, a),
            Self::LessEqual if G::COMPARES_WORDS => !less(b, a),
            Self::Equal if G::EQUATES_WORDS => a == b,
            Self::NotEqual if G::EQUATES_WORDS => a != b,
            Self::Less => lane::is_negative(difference()),
            Self::GreaterEqual => !lane::is_negative(difference()),
            Self::Equal => difference() == 0,
            Self::NotEqual => difference() != 0,
            Self::Greater => lane::is_positive(difference()),
            Self::LessEqual => !lane::is_positive(difference()),
            Self::IntegerLess => (a as i32) < b as i32,
            Self::IntegerGreaterEqual => a as i32 >= b as i32,
            Self::IntegerEqual => a == b,
            Self::IntegerNotEqual => a != b,
            Self::IntegerGreater => a as i32 > b as i32,
            Self::IntegerLessEqual => a as i32 <= b as i32,
            Self::UnsignedLess => a < b,
            Self::UnsignedGreaterEqual => a >= b,
            Self::UnsignedGreater => a > b,
            Self::UnsignedLessEqual => a <= b,
        }
    }
}

/// A recorded operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operation {
    /// The same word in all lanes.
    Word(u32),
    /// A constant register.
    Constant(Constant),
    /// 32 datums of `Dst`.
    Load { address: u32, memory: Memory },
    /// Puts them there, where the mask is set.
    Store { address: u32, memory: Memory, value: Id, mask: Option<Id> },
    /// Fills a constant register.
    Program { register: Constant, value: Id },
    /// Product.
    Multiply(Id, Id),
    /// Sum.
    Add(Id, Id),
    /// Difference.
    Subtract(Id, Id),
    /// A function of one vector; `stochastic`: rounded by chance where it rounds.
    Unary { function: Unary, a: Id, stochastic: bool },
    /// A function of two.
    Binary(Binary, Id, Id),
    /// Lines of a table at the magnitude of the last; the sign of the argument is kept or not.
    Lines { table: Table, lines: Vec<Id>, v: Id, keep_sign: bool },
    /// Where the mask is set, the first.
    Select { mask: Id, yes: Id, no: Id },
    /// A mask.
    Compare(Compare, Id, Id),
    /// A mask.
    Join(Join, Id, Id),
}

impl Operation {
    /// The results that it uses.
    pub(super) fn operands(&self) -> Vec<Id> {
        match *self {
            Self::Word(_) | Self::Constant(_) | Self::Load { .. } => Vec::new(),
            Self::Store { value, mask, .. } => [Some(value), mask].into_iter().flatten().collect(),
            Self::Program { value, .. } => vec![value],
            Self::Unary { a, .. } | Self::Join(Join::Not, a, _) => vec![a],
            Self::Multiply(a, b)
            | Self::Add(a, b)
            | Self::Subtract(a, b)
            | Self::Binary(_, a, b)
            | Self::Compare(_, a, b)
            | Self::Join(_, a, b) => vec![a, b],
            Self::Lines { ref lines, v, .. } => lines.iter().copied().chain([v]).collect(),
            Self::Select { mask, yes, no } => vec![mask, yes, no],
        }
    }

    /// Instructions of the unit: none for what needs no instruction of its own.
    pub(super) fn instructions(&self) -> u64 {
        match self {
            // A word that is no bfloat16 takes two halves. Selection is the predicate of what made the value.
            Self::Word(word) if word << 16 == 0 => 1,
            Self::Word(_) => 2,
            Self::Constant(_) | Self::Join(..) | Self::Select { .. } => 0,
            Self::Compare(..) => 2,
            _ => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use tt_formats::{Blackhole, Wormhole};

    use super::*;

    const ONE: u32 = 0x3f80_0000;
    const SIGN: u32 = 0x8000_0000;
    const INFINITY: u32 = 0x7f80_0000;

    #[test]
    fn functions_of_one_vector_work_on_the_word() {
        let half = 3.5_f32.to_bits();
        for (function, a, result) in [
            (Unary::Negate, ONE, ONE | SIGN),
            (Unary::Magnitude, ONE | SIGN, ONE),
            (Unary::IntegerMagnitude, 5_u32.wrapping_neg(), 5),
            (Unary::Not, 0x00ff_00ff, 0xff00_ff00),
            (Unary::Exponent, half, 128),
            (Unary::UnbiasedExponent, half, 1),
            (Unary::Mantissa, half, 0x60_0000),
            (Unary::WholeMantissa, half, 0xe0_0000),
            (Unary::LeadingZeros, 0x00ff_0000, 8),
            (Unary::LeadingZerosOfMagnitude, SIGN | 0x00ff_0000, 8),
            (Unary::FloatOfInteger, SIGN | 3, (-3_f32).to_bits()),
            (Unary::RoundBf16, 0x3f80_8000, 0x3f81_0000),
            (Unary::RoundFp16, 0x3f80_1000, 0x3f80_2000),
            (Unary::RoundFp16, 0x3f80_0fff, ONE),
            (Unary::RoundFp16, 0x007f_ffff, 0),
            (Unary::RoundFp16, 0xff80_1234, 0xff80_0000),
            (Unary::RoundUInt8, 200_f32.to_bits(), 200),
            (Unary::RoundInt8, (-100_f32).to_bits(), SIGN | 0x64),
            (Unary::RoundUInt16, 60_000_f32.to_bits(), 60_000),
            (Unary::RoundInt16, (-30_000_f32).to_bits(), SIGN | 0x7530),
            (Unary::TwosComplement, SIGN | 5, 5_u32.wrapping_neg()),
            (Unary::SignMagnitude, 5_u32.wrapping_neg(), SIGN | 5),
        ] {
            assert_eq!(function.lane(a), result, "{function:?} {a:#x}");
        }
    }

    #[test]
    fn rounding_by_chance_matters_where_bits_are_lost() {
        for (function, exact, inexact) in [
            (Unary::FloatOfInteger, 1 << 24 | SIGN, 1 << 24 | 1),
            (Unary::RoundBf16, 0x3f81_0000, 0x3f81_0001),
            (Unary::RoundFp16, 0x3f80_2000, 0x3f80_2001),
            (Unary::RoundUInt8, 200_f32.to_bits(), 200.5_f32.to_bits()),
            (Unary::RoundInt8, (-100_f32).to_bits(), 99.5_f32.to_bits()),
            (Unary::RoundUInt16, 300_f32.to_bits(), 300.25_f32.to_bits()),
            (Unary::RoundInt16, (-300_f32).to_bits(), 0.5_f32.to_bits()),
        ] {
            assert!(!function.is_inexact(exact), "{function:?}");
            assert!(function.is_inexact(inexact), "{function:?}");
        }
        assert!(!Unary::Not.is_inexact(0x3f80_0001));
    }

    #[test]
    fn functions_of_two_vectors_work_on_the_words() {
        let (a, b) = (0x0f0f_1234, 0x00ff_ff00);
        for (function, a, b, result) in [
            (Binary::IntegerAdd, u32::MAX, 3, 2),
            (Binary::IntegerSubtract, 2, 3, u32::MAX),
            (Binary::And, a, b, 0x000f_1200),
            (Binary::Or, a, b, 0x0fff_ff34),
            (Binary::Xor, a, b, 0x0ff0_ed34),
            (Binary::Shift, 0x10, 2, 0x40),
            (Binary::Shift, 0x10, 2_u32.wrapping_neg(), 4),
            (Binary::SetExponent, ONE, 129, 4_f32.to_bits()),
            (Binary::CopyExponent, ONE, 9_f32.to_bits(), 8_f32.to_bits()),
            (Binary::SetMantissa, ONE, 7_f32.to_bits(), 1.75_f32.to_bits()),
            (Binary::CopySign, ONE, SIGN, ONE | SIGN),
            (Binary::AddExponent, ONE, 3, 8_f32.to_bits()),
            (Binary::Minimum, ONE, 2_f32.to_bits(), ONE),
            (Binary::Maximum, ONE, 2_f32.to_bits(), 2_f32.to_bits()),
        ] {
            assert_eq!(function.lane(a, b), result, "{function:?} {a:#x} {b:#x}");
        }
    }

    #[test]
    fn comparisons_differ_where_operands_are_equal_and_in_their_kind_of_numbers() {
        // Less, equal and greater; as floats, as integers, and as unsigned integers.
        let [floats, integers, unsigned] =
            [[1_f32.to_bits(), 2_f32.to_bits(), 3_f32.to_bits()], [u32::MAX, 0, 5], [0, 5, u32::MAX]];
        for (compare, [low, middle, high], expected) in [
            (Compare::Less, floats, [true, false, false]),
            (Compare::GreaterEqual, floats, [false, true, true]),
            (Compare::Equal, floats, [false, true, false]),
            (Compare::NotEqual, floats, [true, false, true]),
            (Compare::Greater, floats, [false, false, true]),
            (Compare::LessEqual, floats, [true, true, false]),
            (Compare::IntegerLess, integers, [true, false, false]),
            (Compare::IntegerGreaterEqual, integers, [false, true, true]),
            (Compare::IntegerEqual, integers, [false, true, false]),
            (Compare::IntegerNotEqual, integers, [true, false, true]),
            (Compare::IntegerGreater, integers, [false, false, true]),
            (Compare::IntegerLessEqual, integers, [true, true, false]),
            (Compare::UnsignedLess, unsigned, [true, false, false]),
            (Compare::UnsignedGreaterEqual, unsigned, [false, true, true]),
            (Compare::UnsignedGreater, unsigned, [false, false, true]),
            (Compare::UnsignedLessEqual, unsigned, [true, true, false]),
        ] {
            let found = [low, middle, high].map(|a| compare.lane::<Wormhole>(a, middle));
            assert_eq!(found, expected, "{compare:?}");
        }
        // Blackhole compares words: NaN is above everything, -0 below +0.
        let (nan, zero) = (0x7fc0_0000, 0);
        assert!(Compare::Greater.lane::<Blackhole>(nan, INFINITY) && !Compare::Less.lane::<Blackhole>(nan, zero));
        assert!(Compare::Less.lane::<Blackhole>(SIGN, zero) && Compare::LessEqual.lane::<Blackhole>(nan, nan));
        assert!(Compare::Equal.lane::<Blackhole>(nan, nan) && Compare::NotEqual.lane::<Blackhole>(SIGN, zero));
        assert!(Compare::Less.lane::<Wormhole>(SIGN | ONE, zero) && !Compare::LessEqual.lane::<Wormhole>(nan, ONE));
        // With +0 Wormhole looks at the word itself.
        assert!(Compare::Less.lane::<Wormhole>(SIGN, 0) && !Compare::Less.lane::<Wormhole>(SIGN, SIGN));
        assert!(Compare::NotEqual.lane::<Wormhole>(SIGN, 0) && Compare::Equal.lane::<Wormhole>(0, 0));
    }

    #[test]
    fn words_that_are_no_bfloat16_take_two_instructions() {
        let store = Operation::Store { address: 0, memory: Memory::Float, value: 3, mask: Some(4) };
        for (operation, instructions, operands) in [
            (Operation::Word(ONE), 1, vec![]),
            (Operation::Word(ONE | 1), 2, vec![]),
            (Operation::Word(ONE | 0x8000), 2, vec![]),
            (Operation::Constant(Constant::One), 0, vec![]),
            (Operation::Load { address: 0, memory: Memory::Float }, 1, vec![]),
            (store, 1, vec![3, 4]),
            (Operation::Store { address: 0, memory: Memory::Float, value: 3, mask: None }, 1, vec![3]),
            (Operation::Program { register: Constant::Program0, value: 3 }, 1, vec![3]),
            (Operation::Multiply(1, 2), 1, vec![1, 2]),
            (Operation::Unary { function: Unary::Not, a: 5, stochastic: false }, 1, vec![5]),
            (
                Operation::Lines { table: Table::Bytes, lines: vec![1, 2, 3], v: 4, keep_sign: true },
                1,
                vec![1, 2, 3, 4],
            ),
            (Operation::Select { mask: 1, yes: 2, no: 3 }, 0, vec![1, 2, 3]),
            (Operation::Compare(Compare::Less, 1, 2), 2, vec![1, 2]),
            (Operation::Join(Join::And, 1, 2), 0, vec![1, 2]),
            (Operation::Join(Join::Not, 1, 2), 0, vec![1]),
        ] {
            assert_eq!((operation.instructions(), operation.operands()), (instructions, operands), "{operation:?}");
        }
    }
}
