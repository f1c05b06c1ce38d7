//! Powers. Source: listings `power/*`, `power_iterative/*`, `rpow/*`, `power_binary`.
//!
//! Domain: all words. 2^(exponent * log2 |base|); in 32-bit `Dst` the product is carried in two parts. Then the special
//! cases: a negative base takes the sign of an odd exponent and is NaN for one that is no integer; a zero base gives 0
//! for positive exponents and NaN for negative ones (`rpow`, `power_binary` in 32-bit `Dst`: infinity).

use super::blocks::{Blocks, INVERSE_LN2, LN2, is_blackhole};
use crate::arith::lane::{
    HALF, INFINITY, MINUS_ONE, NAN, ONE, ROUNDER, TWO, ZERO, add, add_negated_product, addexp, equal, exp_biased,
    exp_unbiased, fabs, flipsign, iadd, ilt, is_finite, is_negative, is_positive, is_zero, isub, less, mad, magnitude,
    man_only, man_with_one, max, mul, polynomial, round_sm16, select, setexp, setsign, shift, shl, sm2f, splat,
    store_bf16, store_f32, store_rounded, sub, sub_product, twos_to_sm,
};
use crate::exec::bf16::{Bf16, power};
use crate::exec::binary_functions;
use crate::exec::functions;

/// -127.0
const LOWEST: u32 = 0xc2fe_0000;

/// log2 of a distance by a cubic of the mantissa.
#[inline(always)]
fn rough_log2<V: Blocks>(distance: V) -> V {
    mad(distance.log_cubic(), INVERSE_LN2, distance.exponent_number())
}

/// The integer part of a number of either sign by its mantissa: 0 below 1, the largest integer from 2^31 on.
#[inline(always)]
fn whole_part<V: Blocks>(x: V) -> V {
    let exponent = exp_unbiased(x);
    let value = shift(man_with_one(x), isub(exponent, 23));
    select(ilt(exponent, 0), ZERO, select(ilt(exponent, 31), value, splat::<V>(0x7fff_ffff)))
}

/// 2^z for BF16: z times 2^23 as a fixed-point number; its fraction goes through a product of two lines.
#[inline(always)]
fn rough_exp2<V: Blocks>(z: V) -> V {
    let z = select(less(z, LOWEST), LOWEST, z);
    // 127 * 2^23
    let fixed = whole_part(add(addexp(z, 23), 0x4e7e_0000));
    let fraction = man_only(fixed);
    let rising = mul(sm2f(iadd(fraction, 0x00f9_4ee7)), 0x332c_a418);
    let mantissa = whole_part(mul(rising, sm2f(iadd(fraction, 22030))));
    setexp(mantissa, exp_biased(fixed))
}

/// The cases of a negative base.
#[inline(always)]
fn with_sign<V: Blocks>(base: V, exponent: V, power: V) -> V {
    let nearest = round_sm16(exponent);
    let odd = setsign(power, shl(nearest, 31));
    let whole = equal(sm2f(nearest), exponent);
    select(is_negative(base), select(whole, odd, splat::<V>(NAN)), power)
}

/// The cases of a scalar exponent and a zero base.
#[inline(always)]
fn with_zero<V: Blocks>(base: V, exponent: V, power: V) -> V {
    let zero = is_zero(fabs(base));
    let power = select(zero & is_negative(exponent), NAN, power);
    select(zero & is_positive(exponent), ZERO, power)
}

#[inline(always)]
fn power_16<V: Blocks>(x: V, exponent: u32) -> V {
    let exponent = splat::<V>(exponent);
    let power = rough_exp2(scaled(rough_log2(fabs(x)), exponent));
    store_rounded(with_zero(x, exponent, with_sign(x, exponent, power)))
}

/// A product that is a mere change of sign for -1.
#[inline(always)]
fn scaled<V: Blocks>(x: V, factor: V) -> V {
    select(factor.is_equal(splat::<V>(MINUS_ONE)), flipsign(x), mul(x, factor))
}

#[inline(always)]
fn power_binary_16<V: Blocks>(base: V, exponent: V) -> V {
    let power = with_sign(base, exponent, rough_exp2(mul(exponent, rough_log2(magnitude(base)))));
    let zero = is_zero(magnitude(base)) & !is_zero(exponent);
    store_rounded(select(zero, select(is_negative(exponent), NAN, splat::<V>(ZERO)), power))
}

/// exponent * log2 |base|: the sum, the exact product of its leading parts, and the rest of it.
struct Product<V> {
    sum: V,
    leading: V,
    rest: V,
}

/// `estimate` gives 1 / (m + 1) as a line, highest coefficient first.
#[inline(always)]
fn long_product<V: Blocks>(base: V, exponent: V, estimate: [u32; 2]) -> Product<V> {
    const ROOT2: u32 = 0x3fb5_04f3;
    const SPLITTER: u32 = 0x4580_0800;
    const SERIES: [u32; 6] = [0x3dba_2e8c, 0x3de3_8e39, 0x3e12_4925, 0x3e4c_cccd, 0x3eaa_aaab, ONE];
    let expanded = mul(exponent, SPLITTER);
    let high = sub(expanded, sub(expanded, exponent));
    let low = sub(exponent, high);
    // |base| as m * 2^n with m between 1 / sqrt 2 and sqrt 2.
    let distance = fabs(base);
    let mantissa = setexp(distance, 127);
    let above = !less(mantissa, ROOT2);
    let power = exp_unbiased(distance);
    let turns = sm2f(twos_to_sm(select(above, iadd(power, 1), power)));
    let mantissa = select(above, addexp(mantissa, -1), mantissa);
    // log2 m by the series of the inverse hyperbolic tangent of (m - 1) / (m + 1).
    let sum = add(mantissa, ONE);
    let mut inverse = sub_product(splat::<V>(estimate[1]), sum, estimate[0]);
    for _ in 0..3 {
        inverse = mul(inverse, add_negated_product(splat::<V>(TWO), sum, inverse));
    }
    let ratio = mul(add(mantissa, MINUS_ONE), inverse);
    let logarithm = mul(mul(mul(ratio, polynomial(mul(ratio, ratio), SERIES)), TWO), INVERSE_LN2);
    let leading = mul(high, turns);
    let rest = mad(low, turns, scaled(logarithm, exponent));
    Product { sum: add(leading, rest), leading, rest }
}

impl<V: Blocks> Product<V> {
    /// What the sum lost.
    #[inline(always)]
    fn lost(&self) -> V {
        sub(self.rest, sub(self.sum, self.leading))
    }
}

/// The exponent raised by an integer left in the low bits of `rounded`.
#[inline(always)]
fn raise<V: Blocks>(mantissa: V, rounded: V) -> (V, V) {
    let exponent = iadd(exp_biased(mantissa), isub(rounded, ROUNDER));
    (setexp(mantissa, exponent), exponent)
}

#[inline(always)]
fn power_32<V: Blocks>(x: V, exponent: u32) -> V {
    const LARGEST: u32 = 0x4300_0000;
    const MINUS_127: u32 = 0xc2fd_ffff;
    let exponent = splat::<V>(exponent);
    let product = long_product(x, exponent, [0x3e79_db23, 0x3f80_624e]);
    let z = max(product.sum, MINUS_127);
    let rounded = add(z, ROUNDER);
    let fraction = add(sub(z, sub(rounded, ROUNDER)), product.lost());
    let rest = mad(fraction, 0x3f31_8000, mul(fraction, 0xb95e_8083));
    let tail = polynomial(rest, [0x3950_0d01, 0x3ab6_0b61, 0x3c08_8889, 0x3d2a_aaab, 0x3e2a_aaab]);
    let quadratic = if is_blackhole::<V>() { mad(rest, tail, HALF) } else { add(mul(rest, tail), HALF) };
    let mantissa = mad(rest, mad(rest, quadratic, ONE), ONE);
    let (power, _) = raise(mantissa, rounded);
    let power = select(less(z, LARGEST), power, splat::<V>(INFINITY));
    store_f32(with_zero(x, exponent, with_sign(x, exponent, power)))
}

#[inline(always)]
fn power_binary_32<V: Blocks>(base: V, exponent: V) -> V {
    let product = long_product(base, exponent, [0x3e78_76cd, ONE]);
    let below = less(product.sum, LOWEST);
    let z = select(below, LOWEST, product.sum);
    let rounded = add(z, ROUNDER);
    let fraction = add(sub(z, sub(rounded, ROUNDER)), select(below, ZERO, product.lost()));
    let (power, field) = raise(mul(fraction, LN2).exp_f32(), rounded);
    let power = select(ilt(field, 255), power, splat::<V>(INFINITY));
    let distance = fabs(exponent);
    let power = with_sign(base, distance, power);
    // A zero base keeps the sign of the power.
    let zero = is_zero(fabs(base));
    let limit = select(is_negative(exponent), INFINITY, splat::<V>(ZERO));
    let power = select(zero & !is_zero(distance), setsign(limit, power), power);
    let nan = !is_finite(exponent) & !is_zero(man_only(exponent));
    store_f32(select(zero & nan, NAN, power))
}

/// x multiplied by itself.
#[inline(always)]
fn repeated<V: Blocks>(x: V, mut exponent: u32) -> V {
    let (mut product, mut square) = (None, x);
    while exponent != 0 {
        if exponent & 1 == 1 {
            product = match product {
                Some(product) => Some(mul(square, product)),
                None => Some(square),
            };
        }
        exponent >>= 1;
        if exponent != 0 {
            square = mul(square, square);
        }
    }
    product.unwrap_or_else(|| splat::<V>(ONE))
}

/// The scalar as an operand beside x.
#[inline(always)]
fn constant_like<V: Blocks>(_x: V, scalar: u32) -> V {
    splat::<V>(scalar)
}

functions! {
    "power", "default" [exponent]: |x| power_16(x, exponent), |x| power_32(x, exponent);
    "power_iterative", "default" [exponent]: |x| store_bf16(repeated(x, exponent)), |x| store_f32(repeated(x, exponent));
    "rpow", "default" [base]: |x| power_binary_16(constant_like(x, base), x), |x| power_binary_32(constant_like(x, base), x);
}

binary_functions! {
    "power_binary", "default": power_binary_16, power_binary_32, bf16 = Bf16::packed(power::power::run);
}
