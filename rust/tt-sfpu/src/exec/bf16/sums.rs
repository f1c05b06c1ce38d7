//! Sums with a product.
//!
//! `mac`, `addcmul`, `addcdiv`, `lerp` of three pages, by the host's multiplication and addition.
//!
//! # Products of at most 24 bits
//!
//! Of those the host's result is the unit's. The product of the host is exact, and so is that of the unit, whose grid
//! has 27 bits. The other term has 8 bits. Both come to the grid of the larger exponent, that of the product being the
//! sum of its factors', and a term that the grid cuts becomes its odd neighbour there.
//! - If none is cut, the sum on the grid is exact. It is rounded as the host does unless it has to be halved twice and
//!   loses both bits. It reaches four times the larger power of two only if the product is at least twice that, and
//!   then has the larger exponent or the same one; so the last bit of both is at least four places above the end of the
//!   grid.
//! - If one is cut, the other one has the larger exponent by at least three. So the sum is at least half of the larger
//!   power of two, and below four times that: of the product and a term that is cut, since a product of numbers of 24
//!   bits in all is short of four by more than what is left of the term. And the other one is even on the grid. That is
//!   the host's rounding, as `speculative/mod.rs` says.
//!
//! # Longer products
//!
//! With M the larger one of the magnitudes of product and term, which is at least the grid's power of two:
//! - In the unit, the product and the term are cut by less than a unit of the grid each, and the sum loses less than
//!   two when it is halved: M * 2^-24 in all. Rounding it changes it by half of its last place, at most M * 2^-23, as
//!   it is below twice M and a bit.
//! - On the host the product is rounded, by at most M * 2^-24, and the sum, by M * 2^-23.
//!
//! That is less than M * 2^-21 between them. BF16 has 16 bits less: if both ends of that round to the same number then
//! so does the result between them. Where they do not, the definition is asked.
//!
//! # The reciprocal
//!
//! That of the kernel is at most 2^-22 off the host's division of one, relatively: a test looks at all 128 mantissas.
//! That is M * 2^-22 more.
//!
//! Exponents in the window leave all terms and the last bits of their sums normal numbers.

use super::lanes::{Fallbacks, Lane, lane_kernel, round_away, round_even};
use tt_tensix::regs::Bf16Page;
use tt_tensix::regs::HalfTile;

/// Whether a number has more than 16 bits: with one of 8 bits, it gives a product of more than 24.
#[inline(always)]
fn is_long(number: f32) -> bool {
    number.to_bits() & 0xff != 0
}

/// The sum and how far it may be off, of a product that is longer than 24 bits or not.
#[inline(always)]
fn sum([first, second]: [f32; 2], term: f32, is_long: bool, span: f32) -> (f32, f32) {
    let product = first * second;
    let (magnitude, other) = (product.abs(), term.abs());
    let larger = if magnitude > other { magnitude } else { other };
    (product + term, if is_long { larger * span } else { 0.0 })
}

/// M * 2^-21, as a part of M.
const SPAN: f32 = 1.0 / (1 << 21) as f32;
/// With what the reciprocal is off.
const SPAN_OF_QUOTIENT: f32 = 2.0 * SPAN;

struct Mac;
struct Addcmul;
struct Addcdiv;
struct Lerp;

impl Lane<3> for Mac {
    const WINDOW: [u16; 2] = [76, 189];
    const FALLS_BACK: bool = false;
    #[inline(always)]
    fn compute([a, b, c]: [f32; 3], _: [f32; 2]) -> (u16, u16) {
        (round_away(a * b + c), 0)
    }
}

impl Lane<3> for Addcmul {
    const WINDOW: [u16; 2] = [100, 160];
    #[inline(always)]
    fn compute([a, b, c]: [f32; 3], [value, _]: [f32; 2]) -> (u16, u16) {
        let first = b * value;
        let (sum, off) = sum([first, c], a, is_long(first), SPAN);
        let (low, high) = (round_away(sum - off), round_away(sum + off));
        (low, low ^ high)
    }
}

impl Lane<3> for Addcdiv {
    const WINDOW: [u16; 2] = [100, 154];
    const DIVIDES: bool = true;
    #[allow(clippy::verbose_bit_mask, reason = "vectors have no count of trailing zeros")]
    #[inline(always)]
    fn compute([a, b, c]: [f32; 3], [value, _]: [f32; 2]) -> (u16, u16) {
        let (first, inverse) = (b * value, 1.0 / c);
        // Of a power of two, whose reciprocal is exact.
        let is_power = inverse.to_bits() & 0x7f_ffff == 0;
        let (sum, off) = sum([first, inverse], a, !is_power | is_long(first), SPAN_OF_QUOTIENT);
        let (low, high) = (round_even(sum - off), round_even(sum + off));
        (low, low ^ high)
    }
}

impl Lane<3> for Lerp {
    const WINDOW: [u16; 2] = [76, 189];
    #[inline(always)]
    fn compute([start, end, weight]: [f32; 3], _: [f32; 2]) -> (u16, u16) {
        // Minus once the start, and the end: a product of 8 bits.
        let way = end - start;
        let (sum, off) = sum([weight, way], start, is_long(way), SPAN);
        let (low, high) = (round_even(sum - off), round_even(sum + off));
        (low, low ^ high)
    }
}

lane_kernel!(mac, Mac, 3);
lane_kernel!(addcmul, Addcmul, 3);
lane_kernel!(addcdiv, Addcdiv, 3);
lane_kernel!(lerp, Lerp, 3);
