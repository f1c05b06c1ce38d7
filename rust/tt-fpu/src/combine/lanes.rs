//! The accumulate step on vectors of `Dst` words. [`super::combine`] is the definition.
//!
//! A term is a sum in units of 2^13 of the significand, and an exponent. In 16-bit mode everything after the alignment
//! counts in these units.

use super::Rules;
use tt_cpu::vector::Vector;

/// Calls a function that is compiled for each mode: `function::<V, DST32, E8, G>`. A 16-bit `Dst` has the same rules in
/// every generation, and one function.
macro_rules! by_mode {
    ($mode:expr, $function:ident::<$vector:ty>($($argument:expr),*)) => {{
        let mode = $mode;
        match (mode.dst32, mode.e8) {
            (false, true) => $function::<$vector, false, true, tt_formats::Wormhole>($($argument),*),
            (false, false) => $function::<$vector, false, false, tt_formats::Wormhole>($($argument),*),
            (true, true) => tt_formats::by_generation!(mode.arch, G => $function::<$vector, true, true, G>($($argument),*)),
            (true, false) => tt_formats::by_generation!(mode.arch, G => $function::<$vector, true, false, G>($($argument),*)),
        }
    }};
}

pub(crate) use by_mode;

/// Ends the alignment of a doubled value. In 16-bit mode both roundings happen in one step: half a unit of the coarse
/// grid, and what the first rounding would have added.
#[inline(always)]
fn round_doubled<V: Vector, const DST32: bool>(doubled: V::Int) -> V::Int {
    if DST32 { V::sar::<1>(V::add(doubled, V::splat(1))) } else { V::sar::<14>(V::add(doubled, V::splat(8193))) }
}

/// The sum and the exponent of a group, both 0 if it is dead. Of a group of zeros the sum is zero as it is.
#[inline(always)]
fn live_term<V: Vector>(adjust: i32, (sum, largest): (V::Int, V::Int)) -> (V::Int, V::Int) {
    let exponent = V::add(largest, V::splat(adjust));
    (V::keep(V::greater(exponent, V::splat(0)), sum), V::max(exponent, V::splat(0)))
}

/// A term's sum on the grid of exponent `x`. An arithmetic shift of the signed sum sends ties toward +infinity, as
/// wanted.
#[inline(always)]
fn align<V: Vector, const DST32: bool>((sum, exponent): (V::Int, V::Int), x: V::Int) -> V::Int {
    round_doubled::<V, DST32>(V::sar_by(V::shl::<14>(sum), V::sub(x, exponent)))
}

#[inline(always)]
fn exponent_of<V: Vector>(dst: V::Int) -> V::Int {
    V::and(V::shr::<23>(dst), V::splat(255))
}

/// What `Dst` holds, on the grid of exponent `x`.
#[inline(always)]
fn align_dst<V: Vector, const DST32: bool>(dst: V::Int, exponent: V::Int, x: V::Int) -> V::Int {
    let zero = V::splat(0);
    let magnitude = V::or(V::and(dst, V::splat(0x7f_ffff)), V::splat(0x80_0000));
    let magnitude = V::keep(V::greater(exponent, zero), magnitude);
    let old = round_doubled::<V, DST32>(V::shr_by(V::shl::<1>(magnitude), V::sub(x, exponent)));
    V::select(V::greater(zero, dst), V::sub(zero, old), old)
}

/// Adds two group sums to `dst`. Their exponents are the largest sums of operand exponents, `adjust` makes them biased.
#[inline(always)]
pub(crate) fn combine<V: Vector, const DST32: bool, const E8: bool, G: Rules>(
    adjust: i32,
    terms: [(V::Int, V::Int); 2],
    dst: V::Int,
) -> V::Int {
    let (first, second) = (live_term::<V>(adjust, terms[0]), live_term::<V>(adjust, terms[1]));
    let dst_exponent = exponent_of::<V>(dst);
    let x = V::max(V::max(first.1, second.1), dst_exponent);
    let old = align_dst::<V, DST32>(dst, dst_exponent, x);
    let total = V::add(V::add(align::<V, DST32>(first, x), align::<V, DST32>(second, x)), old);
    finish::<V, DST32, E8, G>(total, x)
}

/// Adds one term to `dst`. The exponent is biased and not negative; it is 0 for a term of 0 only.
#[inline(always)]
pub(crate) fn combine_one<V: Vector, const DST32: bool, const E8: bool, G: Rules>(
    term: (V::Int, V::Int),
    dst: V::Int,
) -> V::Int {
    let dst_exponent = exponent_of::<V>(dst);
    let x = V::max(term.1, dst_exponent);
    let total = V::add(align::<V, DST32>(term, x), align_dst::<V, DST32>(dst, dst_exponent, x));
    finish::<V, DST32, E8, G>(total, x)
}

/// Normalises a total on the grid of exponent `x` to a `Dst` word.
#[inline(always)]
fn finish<V: Vector, const DST32: bool, const E8: bool, G: Rules>(total: V::Int, x: V::Int) -> V::Int {
    if DST32 { finish_wide::<V, G>(total, x) } else { finish_units::<V, DST32, E8>(total, x) }
}

/// The overflow limit of a mode: infinity, or the largest FP16 pattern.
const fn largest_word(dst32: bool, e8: bool) -> i32 {
    if dst32 || e8 { 255 << 23 } else { 31 << 23 | 0x3ff << 13 }
}

/// Normalises a total that counts units of 2^13 and is below 2^24: its FP32 form has the significand and the place of
/// its leading bit. Also for a 32-bit `Dst`, if the total is a whole number of these units.
#[inline(always)]
pub(crate) fn finish_units<V: Vector, const DST32: bool, const E8: bool>(total: V::Int, x: V::Int) -> V::Int {
    let float = V::to_bits(V::exact_float(total));
    let magnitude = V::and(float, V::splat(i32::MAX));
    // To 8 or 11 bits, ties away from zero; a carry bumps the exponent.
    let rounded = match (DST32, E8) {
        (true, _) => magnitude,
        (false, true) => V::and(V::add(magnitude, V::splat(1 << 15)), V::splat(-1 << 16)),
        (false, false) => V::and(V::add(magnitude, V::splat(1 << 12)), V::splat(-1 << 13)),
    };
    // 1024 units are a significand of 1, and 137 is the FP32 exponent of 1024.
    let word = V::add(rounded, V::shl::<23>(V::sub(x, V::splat(137))));
    // Too large a word is too large an exponent.
    let limited = V::min_unsigned(word, V::splat(largest_word(DST32, E8)));
    let signed = V::or(limited, V::and(float, V::splat(i32::MIN)));
    let least = V::max(V::sub(V::splat(137), x), V::splat(0));
    V::keep(V::greater(V::shr::<23>(rounded), least), signed)
}

/// Normalises a total that counts units of the last place of a 24-bit significand.
#[inline(always)]
fn finish_wide<V: Vector, G: Rules>(total: V::Int, x: V::Int) -> V::Int {
    let zero = V::splat(0);
    // The leading bit to bit 30; the total is below 2^30, so this is a left shift.
    let magnitude = V::abs(total);
    let zeros = V::leading_zeros(magnitude);
    let normal = V::shl_by(magnitude, V::sub(zeros, V::splat(1)));
    // 24 bits, ties away from zero; with the hidden bit it is added to the exponent field, so that a carry bumps the
    // exponent.
    let mut significand = V::shr::<7>(V::add(normal, V::splat(1 << 6)));
    let mut below = V::sub(V::add(x, V::splat(7)), zeros);
    if G::MINUS_ONE_BUG {
        let bug = V::equal(total, V::splat(-1));
        significand = V::select(bug, V::splat(1 << 23), significand);
        below = V::select(bug, V::add(x, V::splat(3)), below);
    }
    let word = V::add(V::shl::<23>(below), significand);
    let limited = V::min_unsigned(word, V::splat(largest_word(true, true)));
    let signed = V::or(limited, V::and(total, V::splat(i32::MIN)));
    // The exponent without its bias stays far from the ends of an i32, so an underflow shows as a small or negative
    // word.
    let exponent = V::add(below, V::shr::<23>(significand));
    V::keep(V::both(V::greater(exponent, zero), V::greater(magnitude, zero)), signed)
}
