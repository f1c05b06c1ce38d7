//! Derivatives of digamma.
//!
//! Source: listings `polygamma/n1`, `polygamma/n2`, of which the other orders are the same program.
//!
//! Domain: positive numbers. Six terms of Hurwitz' sum, then the Euler-Maclaurin remainder at x + 6. The chip's control
//! processor prepares the coefficients of the remainder in single precision.

use super::blocks::Blocks;
use crate::arith::lane::{ZERO, add, mad, mul, splat, store_f32, store_rounded};
use crate::exec::functions;

/// Terms of the sum before the remainder.
const TERMS: u32 = 6;

/// The factorial of a higher order is beyond FP32; the operator refuses it. The bound here keeps the work finite
/// whatever word a kernel passes.
const LARGEST_ORDER: u32 = 34;

/// Coefficients of the remainder, times the scale: of z^-6, z^-4, z^-2, z^0 and z^-1 relative to its first term.
fn remainder(order: u32, scale: f32) -> [u32; 5] {
    let n = order as f32;
    let product = |factors: u32| (1..=factors).map(|k| n + k as f32).fold(1.0, |all, factor| all * factor);
    let sixth = product(5) / 30240.0;
    let fourth = -product(3) / 720.0;
    let second = product(1) / 12.0;
    [sixth, fourth, second, 1.0 / n, 0.5].map(|coefficient: f32| (coefficient * scale).to_bits())
}

/// `x` times `inverse` to the power of order - 1.
#[inline(always)]
fn lowered<V: Blocks>(x: V, inverse: V, order: u32) -> V {
    let mut power = x;
    for _ in 1..order {
        power = mul(power, inverse);
    }
    power
}

/// `value` times `x` to a power, but for the last factor: that and the rest. The power is taken by squares, of which the
/// last one is two factors.
#[inline(always)]
fn times_power<V: Blocks>(mut value: V, mut x: V, mut power: u32) -> (V, V) {
    loop {
        if power == 1 {
            return (value, x);
        }
        if power & 1 == 1 {
            value = mul(value, x);
        }
        power >>= 1;
        if power == 1 {
            return (mul(value, x), x);
        }
        x = mul(x, x);
    }
}

/// Blackhole's form: powers by squares, and no factor of 1.
#[inline(always)]
fn polygamma_by_squares<V: Blocks>(x: V, order: u32, scale: u32, steps: usize) -> V {
    let order = order.clamp(1, LARGEST_ORDER);
    let [sixth, fourth, second, first, half] = remainder(order, f32::from_bits(scale));
    let mut sum = splat::<V>(ZERO);
    for k in 0..TERMS {
        let inverse = add(x, (k as f32).to_bits()).reciprocal(steps);
        let (value, factor) = times_power(splat::<V>(scale), inverse, order + 1);
        sum = mad(value, factor, sum);
    }
    let inverse = add(x, (TERMS as f32).to_bits()).reciprocal(steps);
    let square = mul(inverse, inverse);
    let even = mad(square, mad(square, mad(square, sixth, splat::<V>(fourth)), splat::<V>(second)), splat::<V>(first));
    let tail = mad(inverse, half, even);
    let (value, factor) = match order {
        1 => (tail, inverse),
        _ if order & 1 == 1 => times_power(mul(tail, inverse), square, order / 2),
        _ => times_power(tail, square, order / 2),
    };
    mad(value, factor, sum)
}

#[inline(always)]
fn polygamma<V: Blocks>(x: V, order: u32, scale: u32, steps: usize) -> V {
    let order = order.clamp(1, LARGEST_ORDER);
    let [sixth, fourth, second, first, half] = remainder(order, f32::from_bits(scale));
    let mut sum = splat::<V>(ZERO);
    for k in 0..TERMS {
        let inverse = add(x, (k as f32).to_bits()).reciprocal(steps);
        sum = mad(lowered(mul(inverse, scale), inverse, order), inverse, sum);
    }
    let inverse = add(x, (TERMS as f32).to_bits()).reciprocal(steps);
    let square = mul(inverse, inverse);
    let even = mad(square, mad(square, mad(square, sixth, splat::<V>(fourth)), splat::<V>(second)), splat::<V>(first));
    mad(lowered(mad(inverse, half, even), inverse, order), inverse, sum)
}

functions! {
    "polygamma", "default" for Wormhole [order, scale]: |x| store_rounded(polygamma(x, order, scale, 1)),
        |x| store_f32(polygamma(x, order, scale, 2));
    "polygamma", "default" for Blackhole [order, scale]: |x| store_rounded(polygamma_by_squares(x, order, scale, 1)),
        |x| store_f32(polygamma_by_squares(x, order, scale, 2));
    // Of kernels with `math_approx_mode`: the reciprocal that is not refined, in both widths.
    "polygamma", "approx" for Blackhole [order, scale]: |x| store_rounded(polygamma_by_squares(x, order, scale, 0)),
        |x| store_f32(polygamma_by_squares(x, order, scale, 0));
    "polygamma", "approx" for Wormhole [order, scale]: |x| store_rounded(polygamma(x, order, scale, 1)),
        |x| store_f32(polygamma(x, order, scale, 1));
}
