//! Conversions between types inside `Dst`. Source: listings `typecast_from_*`.
//!
//! `fp32_to_bf16` rounds to the nearest even BF16 on the bare word, so that NaN payloads may wrap; the packer then
//! finds nothing left to round. A 16-bit `Dst` already holds BF16, which the rounding leaves as it is. Conversions to
//! 32-bit integers cut the fraction and saturate; those to 16 bits round, ties away; those to 8 bits keep the low byte.
//! 16- and 8-bit integers lie in the low half of a word; a 16-bit `Dst` holds no more than that half of an integer.

use crate::arith::lane::{
    Lane, MINUS_ONE, ZERO, add, and, exp_unbiased, iabs, iadd, ilt, is_negative, isub, mad, magnitude, man_with_one,
    max, or, round_bf16, round_bf16_even, round_u16, select, setman, setsign, shift, shr, sm2f, splat, store_bf16,
    store_f32,
};
use crate::exec::integer_functions;

/// 2^31
const POW31: u32 = 0x4f00_0000;
/// 2^23
const POW23: u32 = 0x4b00_0000;

/// The mantissa shifted to its place, for magnitudes of at least 1; `limit` from 2^`bits` on, 0 below 1.
#[inline(always)]
fn whole<V: Lane>(x: V, bits: u32, limit: u32) -> V {
    let exponent = exp_unbiased(x);
    let value = shift(man_with_one(x), isub(exponent, 23));
    select(is_negative(exponent), ZERO, select(ilt(exponent, bits), value, splat(limit)))
}

#[inline(always)]
fn to_int32<V: Lane>(x: V) -> V {
    let value = whole(x, 31, 0x8000_0000);
    let saturated = select(is_negative(value), 0x7fff_ffff, value);
    select(is_negative(x), isub(splat::<V>(0), value), saturated)
}

#[inline(always)]
fn to_uint32<V: Lane>(x: V) -> V {
    select(is_negative(x), ZERO, whole(x, 32, u32::MAX))
}

#[inline(always)]
fn to_uint16<V: Lane>(x: V) -> V {
    round_u16(max(x, ZERO))
}

#[inline(always)]
fn to_uint8<V: Lane>(x: V) -> V {
    let value = whole(x, 31, 0);
    and(select(is_negative(x), isub(splat::<V>(0), value), value), 255)
}

#[inline(always)]
fn from_int32<V: Lane>(x: V) -> V {
    let distance = iabs(x);
    let value = setsign(sm2f(distance), x);
    // The magnitude of the smallest integer does not fit.
    select(is_negative(distance), add(splat::<V>(POW31 | 0x8000_0000), value), value)
}

#[inline(always)]
fn from_uint32<V: Lane>(x: V) -> V {
    let upper = add(splat::<V>(MINUS_ONE), sm2f(shr(x, 23)));
    mad(upper, POW23, setman(splat::<V>(POW23), x))
}

#[inline(always)]
fn uint32_to_bf16<V: Lane>(x: V) -> V {
    let lower = sm2f(magnitude(x));
    round_bf16(select(is_negative(x), add(splat::<V>(POW31), lower), lower))
}

#[inline(always)]
fn uint32_to_uint16<V: Lane>(x: V) -> V {
    let overflow = shr(isub(splat::<V>(0), shr(x, 16)), 16);
    or(x, overflow)
}

#[inline(always)]
fn low_byte<V: Lane>(x: V) -> V {
    and(iadd(x, 256), 255)
}

#[inline(always)]
fn low_half<V: Lane>(x: V) -> V {
    and(x, 0xffff)
}

macro_rules! casts {
    ($($name:literal, $variant:literal: $program:expr;)+) => {
        integer_functions! {
            $($name, $variant: $program, $program;)+
            "typecast_from_fp32", "fp32_to_bf16": |x| store_bf16(round_bf16_even(x)), |x| store_f32(round_bf16_even(x));
            "typecast_from_bf16", "bf16_to_int32": |x| low_half(to_int32(x)), to_int32;
            "typecast_from_bf16", "bf16_to_uint32": |x| low_half(to_uint32(x)), to_uint32;
            "typecast_from_uint16", "uint16_to_bf16": |x| store_bf16(round_bf16(sm2f(low_half(x)))),
                |x| store_f32(round_bf16(sm2f(low_half(x))));
        }
    };
}

casts! {
    "typecast_from_fp32", "fp32_to_int32": to_int32;
    "typecast_from_fp32", "fp32_to_uint32": to_uint32;
    "typecast_from_fp32", "fp32_to_uint16": to_uint16;
    "typecast_from_fp32", "fp32_to_uint8": to_uint8;
    "typecast_from_bf16", "bf16_to_uint16": to_uint16;
    "typecast_from_bf16", "bf16_to_uint8": to_uint8;
    "typecast_from_int32", "int32_to_fp32": |x| store_f32(from_int32(x));
    "typecast_from_int32", "int32_to_bf16": |x| store_f32(round_bf16(from_int32(x)));
    "typecast_from_int32", "int32_to_uint16": |x| to_uint16(sm2f(x));
    "typecast_from_int32", "int32_to_uint8": low_byte;
    "typecast_from_uint32", "uint32_to_fp32": |x| store_f32(from_uint32(x));
    "typecast_from_uint32", "uint32_to_bf16": |x| store_f32(uint32_to_bf16(x));
    "typecast_from_uint32", "uint32_to_uint16": uint32_to_uint16;
    "typecast_from_uint32", "uint32_to_uint8": low_byte;
    "typecast_from_uint16", "uint16_to_fp32": |x| store_f32(sm2f(low_half(x)));
    "typecast_from_uint16", "uint16_to_int32": low_half;
    "typecast_from_uint16", "uint16_to_uint32": low_half;
    "typecast_from_uint16", "uint16_to_uint8": low_byte;
}
