//! Functions of integers. Source: listings `bitwise_*`, `*_shift`, `*_int`, `*_int32`.
//!
//! Integers are two's complement words; some kernels of Wormhole load them as sign and magnitude, so that `0x8000_0000`
//! counts as zero. Shifts by 32 and more give 0, an arithmetic one to the right the sign.

use crate::arith::lane::{
    Lane, and, flipsign, iabs, iadd, ilt, is_negative, is_zero, isub, loaded_integer, max, min, not, or, select,
    sm_to_twos, splat, twos_to_sm, ult, xor,
};
use crate::exec::integer_functions;
use crate::exec::short_binary_functions;

/// 1 where true.
#[inline(always)]
fn flag<V: Lane>(mask: V::Mask) -> V {
    select(mask, 1, splat(0))
}

/// Right shift that repeats the sign; counts of 0 to 31.
#[inline(always)]
fn arithmetic_shift<V: Lane>(x: V, count: V) -> V {
    let filled = or(x.shr(count), splat::<V>(u32::MAX).shl(isub(splat::<V>(32), count)));
    select(is_negative(x) & !is_zero(count), filled, x.shr(count))
}

#[inline(always)]
fn right_shift<V: Lane>(x: V, count: u32) -> V {
    arithmetic_shift(x, splat(count.min(31)))
}

#[inline(always)]
fn left_shift<V: Lane>(x: V, count: u32) -> V {
    binary_left_shift(x, splat(count))
}

/// Counts outside of 0..32.
#[inline(always)]
fn is_out_of_range<V: Lane>(count: V) -> V::Mask {
    !ult(count, 32)
}

#[inline(always)]
fn binary_left_shift<V: Lane>(x: V, count: V) -> V {
    select(is_out_of_range(count), 0, x.shl(count))
}

#[inline(always)]
fn binary_right_shift<V: Lane>(x: V, count: V) -> V {
    select(is_out_of_range(count), 0, arithmetic_shift(x, count))
}

/// The kernel for unsigned words takes 31 for counts out of range.
#[inline(always)]
fn unsigned_right_shift<V: Lane>(x: V, count: V) -> V {
    x.shr(select(is_out_of_range(count), 31, count))
}

#[inline(always)]
fn logical_right_shift<V: Lane>(x: V, count: V) -> V {
    select(is_out_of_range(count), 0, x.shr(count))
}

#[inline(always)]
fn negate<V: Lane>(x: V) -> V {
    let value = sm_to_twos(x);
    select(is_zero(value), x, twos_to_sm(flipsign(value)))
}

#[inline(always)]
fn relu<V: Lane>(x: V) -> V {
    twos_to_sm(max(sm_to_twos(x), 0))
}

/// Both limits by the order of sign and magnitude, in which negative numbers run backwards: a negative limit is
/// compared as complements, with minimum and maximum exchanged.
#[inline(always)]
fn clamp<V: Lane>(x: V, low: u32, high: u32) -> V {
    let above = if below_zero(low) { not(min(not(x), !low)) } else { max(x, low) };
    if below_zero(high) { not(max(not(above), !high)) } else { min(above, high) }
}

fn below_zero(limit: u32) -> bool {
    limit >> 31 == 1
}

/// Not in the listings: the rectifier and the minimum of their two functions, one after the other.
#[inline(always)]
fn relu_max<V: Lane>(x: V, upper: u32) -> V {
    smaller(relu(x), splat(upper))
}

#[inline(always)]
fn smaller<V: Lane>(a: V, b: V) -> V {
    select(ilt(a, b), a, b)
}

#[inline(always)]
fn larger<V: Lane>(a: V, b: V) -> V {
    select(ilt(a, b), b, a)
}

#[inline(always)]
fn smaller_unsigned<V: Lane>(a: V, b: V) -> V {
    select(ult(a, b), a, b)
}

#[inline(always)]
fn larger_unsigned<V: Lane>(a: V, b: V) -> V {
    select(ult(a, b), b, a)
}

#[inline(always)]
fn gtz<V: Lane>(x: V) -> V {
    flag(ilt(splat::<V>(0), loaded_integer(x)))
}

#[inline(always)]
fn ltz<V: Lane>(x: V) -> V {
    flag(is_negative(loaded_integer(x)))
}

#[inline(always)]
fn eqz<V: Lane>(x: V) -> V {
    flag(is_zero(loaded_integer(x)))
}

#[inline(always)]
fn top_bit<V: Lane>(x: V) -> V {
    x.shr(splat(31))
}

/// The kernel of a product with both operands from one tile.
#[inline(always)]
fn square<V: Lane>(x: V) -> V {
    x.imul(x)
}

#[inline(always)]
fn inverted<V: Lane>(test: V) -> V {
    xor(test, 1)
}

#[inline(always)]
fn less<V: Lane>(a: V, b: V) -> V {
    flag(ilt(a, b))
}

#[inline(always)]
fn less_unsigned<V: Lane>(a: V, b: V) -> V {
    flag(ult(a, b))
}

#[inline(always)]
fn same<V: Lane>(a: V, b: V) -> V {
    flag(a.is_equal(b))
}

/// The sign converted twice, as the kernels that compare with a scalar do.
#[inline(always)]
fn equals<V: Lane>(x: V, other: u32) -> V {
    same(loaded_integer(loaded_integer(x)), splat(other))
}

#[inline(always)]
fn below<V: Lane>(x: V, other: u32) -> V {
    less(x, splat(other))
}

#[inline(always)]
fn above<V: Lane>(x: V, other: u32) -> V {
    less(splat(other), x)
}

/// One program for both widths of `Dst`.
macro_rules! unary {
    ($($name:literal, $variant:literal $([$($parameter:ident),+])?: $program:expr;)+) => {
        integer_functions! {$($name, $variant $([$($parameter),+])?: $program, $program;)+}
    };
}

macro_rules! binary {
    ($($name:literal, $variant:literal: $program:expr;)+) => {
        short_binary_functions! {$($name, $variant: $program, $program;)+}
    };
}

unary! {
    "bitwise_and", "int32" [mask]: |x| and(x, mask);
    "bitwise_or", "int32" [mask]: |x| or(x, mask);
    "bitwise_xor", "int32" [mask]: |x| xor(x, mask);
    "bitwise_not", "int32": not;
    "left_shift", "int32" [count]: |x| left_shift(x, count);
    "right_shift", "int32" [count]: |x| right_shift(x, count);
    "right_shift", "uint32" [count]: |x| unsigned_right_shift(x, splat(count));
    "abs_int32", "int32": iabs;
    "neg_int32", "int32": negate;
    "relu_int32", "int32": relu;
    "relu_max_int32", "int32" [upper]: |x| relu_max(x, upper);
    "relu_max_int32", "uint32" [upper]: |x| smaller_unsigned(x, splat(upper));
    "clamp_int32", "int32" [low, high]: |x| clamp(x, low, high);
    "gtz_int32", "int32": gtz;
    "lez_int32", "int32": |x| inverted(gtz(x));
    "ltz_int32", "int32": ltz;
    "gez_int32", "int32": |x| inverted(ltz(x));
    "eqz_int32", "int32": eqz;
    "nez_int32", "int32": |x| inverted(eqz(x));
    "eqz_int32", "uint32": |x| flag(is_zero(x));
    "nez_int32", "uint32": |x| inverted(flag(is_zero(x)));
    "signbit_int32", "int32": top_bit;
    "unary_max_int32", "int32" [other]: |x| larger(x, splat(other));
    "unary_max_int32", "uint32" [other]: |x| larger_unsigned(x, splat(other));
    "unary_min_int32", "int32" [other]: |x| smaller(x, splat(other));
    "unary_min_int32", "uint32" [other]: |x| smaller_unsigned(x, splat(other));
    "square_int", "int32": square;
    "unary_eq_int32", "int32" [other]: |x| equals(x, other);
    "unary_ne_int32", "int32" [other]: |x| inverted(equals(x, other));
    "unary_lt_int32", "int32" [other]: |x| below(x, other);
    "unary_ge_int32", "int32" [other]: |x| inverted(below(x, other));
    "unary_gt_int32", "int32" [other]: |x| above(x, other);
    "unary_le_int32", "int32" [other]: |x| inverted(above(x, other));
}

binary! {
    "bitwise_and_binary", "int32": and;
    "bitwise_or_binary", "int32": or;
    "bitwise_xor_binary", "int32": xor;
    "binary_left_shift", "int32": binary_left_shift;
    "binary_right_shift", "int32": binary_right_shift;
    "binary_right_shift", "uint32": unsigned_right_shift;
    "binary_logical_right_shift", "int32": logical_right_shift;
    "add_int", "int32": iadd;
    "sub_int", "int32": isub;
    "sub_int", "rsub_int32": |a, b| isub(b, a);
    "mul_int", "int32": Lane::imul;
    "binary_max_int32", "int32": larger;
    "binary_max_int32", "uint32": larger_unsigned;
    "binary_min_int32", "int32": smaller;
    "binary_min_int32", "uint32": smaller_unsigned;
    "eq_int", "int32": same;
    "eq_int", "uint32": same;
    "ne_int", "int32": |a, b| inverted(same(a, b));
    "ne_int", "uint32": |a, b| inverted(same(a, b));
    "lt_int", "int32": less;
    "lt_int", "uint32": less_unsigned;
    "gt_int", "int32": |a, b| less(b, a);
    "gt_int", "uint32": |a, b| less_unsigned(b, a);
    "le_int", "int32": |a, b| inverted(less(b, a));
    "le_int", "uint32": |a, b| inverted(less_unsigned(b, a));
    "ge_int", "int32": |a, b| inverted(less(a, b));
    "ge_int", "uint32": |a, b| inverted(less_unsigned(a, b));
}
