//! Integer division by host reciprocals, and greatest common divisors.
//!
//! With a check of what is left.
//!
//! A kernel's quotient and rest are those of the exact division, as `sfpu/division.rs` says. So it does not matter how
//! they are found, as long as the rest is seen to be from zero up and below the divisor: there is only one such
//! quotient.

use super::{A, Int, Lanes, Outcome, SpecLanes, Words, either, splat};
use crate::exec::block::VECTORS;
use tt_cpu::vector::Vector;

/// Quotient and rest of the magnitudes of two integers, and lanes that fall back: divisors of 0 and the smallest integer, which has no
/// magnitude.
///
/// The reciprocal of the divisor, which is rounded to 24 bits, is 2^-22 off after one Newton step. So the first
/// quotient is 2^-21 of it off at most, and one that is cut off: its product with the divisor leaves no more than 2^31
/// of either sign. The second quotient is the nearest to less than 2^11 and leaves no more than a little above half of
/// the divisor.
#[inline(always)]
fn divided(a: Int, b: Int) -> (Int, Int, Lanes) {
    let (a, b) = (A::abs(a), A::abs(b));
    let under = A::exact_float(b);
    let near = A::near_reciprocal(under);
    let inverse = A::fma(A::fma(A::negative(under), near, A::splat_float(1.0)), near, near);
    let first = A::to_int_cut(A::mul_float(A::exact_float(a), inverse));
    let rest = A::sub(a, A::mul(first, b));
    let second = A::to_int(A::mul_float(A::exact_float(rest), inverse));
    let rest = A::sub(rest, A::mul(second, b));
    let quotient = A::add(first, second);
    let below = A::greater(splat(0), rest);
    let quotient = A::select(below, A::sub(quotient, splat(1)), quotient);
    let rest = A::select(below, A::add(rest, b), rest);
    (quotient, rest, !A::below_unsigned(rest, b) | A::greater(splat(0), A::or(a, b)))
}

/// Rounds of the binary algorithm, of magnitudes: what is left of their difference, without the zeros at its end that
/// are not common to both, takes the place of the larger one. That is `gcd_rounds` of `sfpu/division.rs` without the
/// rounds in which nothing happens, and with the order of integers, which the total order of words is where no sign bit
/// is set.
#[inline(always)]
fn common_divisor(a: Words, b: Words, rounds: usize) -> Words {
    let (mut smaller, mut difference, mut common) = (a, a, a);
    for lane in 0..VECTORS {
        let either = A::or(a[lane], b[lane]);
        common[lane] = A::leading_zeros(lowest_bit(either));
        let swap = A::equal(A::shl_by(b[lane], common[lane]), splat(0));
        smaller[lane] = A::select(swap, a[lane], b[lane]);
        difference[lane] = A::sub(splat(0), A::select(swap, b[lane], a[lane]));
    }
    for _ in 0..rounds {
        let lowest = [lowest_bit(difference[0]), lowest_bit(difference[1])];
        let active = [A::any_bit(lowest[0], lowest[0]), A::any_bit(lowest[1], lowest[1])];
        if active[0] | active[1] == 0 {
            break;
        }
        for lane in 0..VECTORS {
            // Never to the left: the common zeros are those of the difference, too.
            let count = A::sub(common[lane], A::leading_zeros(lowest[lane]));
            let aligned = A::shr_by(A::abs(difference[lane]), count);
            // One that is the smaller one again leaves nothing of the difference.
            let aligned = A::select(active[lane], aligned, smaller[lane]);
            difference[lane] = A::sub(A::min_signed(smaller[lane], aligned), A::max(smaller[lane], aligned));
            smaller[lane] = A::min_signed(smaller[lane], aligned);
        }
    }
    smaller
}

#[inline(always)]
fn lowest_bit(word: Int) -> Int {
    A::and(word, A::sub(splat(0), word))
}

impl SpecLanes {
    /// Falls back for the smallest integer, which has no magnitude.
    #[inline(always)]
    pub fn common_divisor(self, b: Self, rounds: usize) -> Self {
        let (first, second) = (both!([self], A::abs), both!([b], A::abs));
        let any = both!([first, second], A::or).words;
        let without = [A::greater(splat(0), any[0]), A::greater(splat(0), any[1])];
        let words = common_divisor(first.words, second.words, rounds);
        Self::with_fallback(words, either(either(self.fallback, b.fallback), without))
    }

    #[inline(always)]
    pub fn quotient_and_rest(self, b: Self, _: bool) -> (Self, Self) {
        both_pairs!([self, b], divided)
    }
}
