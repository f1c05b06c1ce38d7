//! `power_binary` of two pages, by host arithmetic where exact.
//!
//! Where it is the unit's.
//!
//! # log2 |base|
//!
//! The cubic of a mantissa `m` of 8 bits is computed by two steps that are the host's, to a slope from 1.1 to 1.6, and
//! one that is put together here. The product of the slope and `m` has 32 bits, of which the unit's grid, 2^-26, cuts
//! off four: what it cuts makes the last one odd. The sum with the constant is exact there, and the host rounds
//! integers as the unit does numbers.
//!
//! That is multiplied by 1 / ln 2, which gives from 0 to 1, or a little less than 0, and the exponent is added. The
//! host's sum is the unit's but for an exponent of -1, of which more than half may be taken away. Then the sum is put
//! together on the unit's grid, too: of two numbers whose sum is the product, the first has 24 bits, so that the grid
//! cuts off the second one's only.
//!
//! # The power
//!
//! The product with the exponent has one rounding. Times 2^23, 127 * 2^23 is added to it: where that is cut off by the
//! grid, it is at most 1/8 of the other term, and otherwise the sum is exact. What follows is exact or has one
//! rounding, and integers are cut off as the host does. All intermediate numbers are in range.

use super::INFINITY;
use super::lanes::{Fallbacks, Lane, lane_kernel, whole};
use crate::functions::blocks::{INVERSE_LN2, LOG_CUBIC};
use tt_tensix::regs::Bf16Page;
use tt_tensix::regs::HalfTile;

/// 2^26, the places of the unit's grid in one, and 2^23.
const PLACES: f32 = 67_108_864.0;
const STEPS: f32 = 8_388_608.0;
const MANTISSA: u32 = (1 << 23) - 1;
/// More than the largest integer that the kernel tells odd from even.
const LARGEST_INTEGER: f32 = 32767.0;

/// The constant of the cubic, in places.
const CONSTANT: i32 = (f32::from_bits(LOG_CUBIC[3]) * PLACES) as i32;

/// An integer number of places, the last one odd if there are bits below.
#[inline(always)]
fn round_to_odd(places: i32, is_cut: bool) -> i32 {
    places | i32::from(is_cut)
}

/// The mantissa's logarithm by the cubic.
#[inline(always)]
fn log_cubic(mantissa: u32) -> f32 {
    // Not an array that is mapped, which the compiler may leave as calls.
    let [cubic, square, linear, _] = LOG_CUBIC;
    let (cubic, square, linear) = (f32::from_bits(cubic), f32::from_bits(square), f32::from_bits(linear));
    let m = f32::from_bits(mantissa | 127 << 23);
    let slope = cubic.mul_add(m, square).mul_add(m, linear);
    let product = (slope.to_bits() & MANTISSA | 1 << 23) * (mantissa >> 16 | 128);
    let places = round_to_odd((product >> 4) as i32, product & 15 != 0) + CONSTANT;
    places as f32 / PLACES
}

#[inline(always)]
fn log2(magnitude: u32) -> f32 {
    let exponent = (magnitude >> 23) as i32 - 127;
    let (logarithm, scale) = (log_cubic(magnitude & MANTISSA), f32::from_bits(INVERSE_LN2));
    let plain = logarithm.mul_add(scale, exponent as f32);
    let first = logarithm * scale;
    let second = logarithm.mul_add(scale, -first) * PLACES;
    // The first one is less than 1, and from a half on has its bits two places up. The second one is from -2 to 2.
    let upper = (first.to_bits() & MANTISSA | 1 << 23) << 2;
    let below = second.floor();
    let lower = (below + 3.0 * STEPS / 2.0).to_bits().wrapping_sub(0x4b40_0000);
    let places = round_to_odd(upper.wrapping_add(lower) as i32, second != below) - (1 << 26);
    if exponent == -1 && first > 0.5 { places as f32 / PLACES } else { plain }
}

/// 2^z: z times 2^23 as a fixed-point number; its fraction goes through a product of two lines.
#[inline(always)]
fn exp2(z: f32) -> u32 {
    // From -127 down it is 0.
    let fixed = whole(z * STEPS + 127.0 * STEPS) as u32;
    let fraction = fixed & MANTISSA;
    let rising = (fraction + 0x00f9_4ee7) as i32 as f32 * f32::from_bits(0x332c_a418);
    // Less than 2^23.
    let mantissa = (rising * (fraction + 22030) as i32 as f32).floor() + STEPS;
    mantissa.to_bits() & MANTISSA | fixed & !MANTISSA
}

struct Power;

impl Lane<2> for Power {
    const WINDOW: [u16; 2] = [64, 190];
    const FALLS_BACK: bool = false;
    #[inline(always)]
    #[allow(clippy::needless_bitwise_bool, reason = "lanes have no branches")]
    fn compute([base, exponent]: [f32; 2], _: [f32; 2]) -> (u16, u16) {
        let power = exp2(exponent * log2(base.to_bits() & !(1 << 31)));
        let rounded = ((power + 0x8000) >> 16) as u16;
        // Neither what is too small nor what is too large keeps its mantissa.
        let rounded = if power >> 23 == 0 { 0 } else { rounded.min(INFINITY) };

        // A negative base takes the sign of an odd exponent; of one that is no integer, the kernel's NaN is rounded to
        // infinity.
        let distance = exponent.abs();
        let held = if distance < LARGEST_INTEGER { distance } else { LARGEST_INTEGER };
        let nearest = (held + 0.5).floor();
        let odd = ((nearest + STEPS).to_bits() << 15) as u16;
        let of_negative = if nearest == distance { rounded | if rounded == 0 { 0 } else { odd } } else { INFINITY };
        let result = if base < 0.0 { of_negative } else { rounded };
        // And so is that of a zero base.
        let of_zero = if exponent < 0.0 { INFINITY } else { 0 };
        (if (base == 0.0) & (exponent != 0.0) { of_zero } else { result }, 0)
    }
}

lane_kernel!(power, Power, 2);
