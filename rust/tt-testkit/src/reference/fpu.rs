//! MVMUL, ELWMUL, ELWADD and the accumulate step: `docs/chip/numerics.md` sections 4 to 7.

use super::number::{Tie, nearest, power_of_two, rescale};

/// The setting of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Operands have 5 exponent bits, otherwise 8.
    pub five_bit_exponents: bool,
    /// `Dst` is FP32, otherwise the 16-bit format of the operands' family.
    pub wide_dst: bool,
    /// Wormhole, otherwise Blackhole.
    pub wormhole: bool,
}

/// A `Src` word taken apart.
#[derive(Clone, Copy, Debug)]
struct Float {
    negative: bool,
    exponent: i64,
    mantissa: i128,
}

impl Float {
    fn of(word: u32, setting: Setting) -> Self {
        let exponents = if setting.five_bit_exponents { 32 } else { 256 };
        Self {
            negative: word / 262_144 % 2 == 1,
            exponent: i64::from(word / 1024 % exponents),
            mantissa: i128::from(word % 1024),
        }
    }

    fn is_zero(self) -> bool {
        self.exponent == 0
    }

    fn significand(self) -> i128 {
        if self.is_zero() { 0 } else { 1024 + self.mantissa }
    }

    fn signed(self, magnitude: i128) -> i128 {
        if self.negative { -magnitude } else { magnitude }
    }
}

/// Exponent offset of a phase.
fn bias(setting: Setting, phase: u32) -> i64 {
    let base = match (setting.five_bit_exponents, setting.wide_dst) {
        (false, _) => -127,
        (true, false) => -15,
        (true, true) => 97,
    };
    base - [0, 5, 7, 12][phase as usize]
}

/// Product of the mantissa parts of a phase, with its sign.
fn part_product(a: Float, b: Float, phase: u32) -> i128 {
    let (whole_a, whole_b) = (1024 + a.mantissa, 1024 + b.mantissa);
    let part_a = if phase == 0 || phase == 2 { whole_a / 64 } else { whole_a / 2 % 32 };
    let part_b = if phase < 2 { whole_b / 16 } else { whole_b % 16 * 8 };
    if a.negative == b.negative { part_a * part_b } else { -part_a * part_b }
}

/// An addend of the accumulate step: `units * 2^13 * 2^(exponent - 150)`.
type Addend = (i128, i64);

/// Adds up to two addends to a `Dst` word, in the one layout that the golden steps use.
fn accumulate(setting: Setting, addends: [Addend; 2], dst: u32) -> u32 {
    let old_exponent = i64::from(dst / 8_388_608 % 256);
    let old_magnitude = if old_exponent == 0 { 0 } else { 8_388_608 + i128::from(dst % 8_388_608) };
    let old = if dst >= 1 << 31 { -old_magnitude } else { old_magnitude };
    let grid = addends[0].1.max(addends[1].1).max(old_exponent);
    if grid <= 0 {
        return 0;
    }
    let coarse = |value: i128, tie| if setting.wide_dst { value } else { 8192 * nearest(value, 8192, tie) };
    let mut total = coarse(rescale(old, old_exponent, grid, Tie::Away), Tie::Away);
    for (units, exponent) in addends {
        total += coarse(rescale(units * 8192, exponent, grid, Tie::Up), Tie::Up);
    }
    if total == 0 {
        return 0;
    }
    let bits = match (setting.wide_dst, setting.five_bit_exponents) {
        (true, _) => 24,
        (false, false) => 8,
        (false, true) => 11,
    };
    let magnitude = total.abs();
    let sign = if total < 0 { 1u32 << 31 } else { 0 };
    let length = i64::from(128 - magnitude.leading_zeros());
    let mut exponent = grid + length - 24;
    let mut significand = if length > bits {
        nearest(magnitude, power_of_two(length - bits), Tie::Away)
    } else {
        magnitude * power_of_two(bits - length)
    };
    if significand == power_of_two(bits) {
        significand /= 2;
        exponent += 1;
    }
    if setting.wormhole && total == -1 {
        // The documented outcome of the bug: -2^(grid + 4 - 127).
        exponent = grid + 4;
        significand = power_of_two(bits - 1);
    }
    let fraction = ((significand - power_of_two(bits - 1)) * power_of_two(24 - bits)) as u32;
    let narrow5 = setting.five_bit_exponents && !setting.wide_dst;
    match exponent {
        ..=0 => 0,
        32.. if narrow5 => sign + 31 * 8_388_608 + 1023 * 8192,
        255.. => sign + 255 * 8_388_608,
        _ => sign + exponent as u32 * 8_388_608 + fraction,
    }
}

/// One element of MVMUL.
pub fn mvmul(setting: Setting, phase: u32, a: &[u32; 16], b: &[u32; 16], dst: u32) -> u32 {
    let bias = bias(setting, phase);
    let products: Vec<(i128, i64)> = (0..16)
        .map(|k| {
            let (a, b) = (Float::of(a[k], setting), Float::of(b[k], setting));
            if a.is_zero() || b.is_zero() {
                (0, bias.max(0))
            } else {
                (part_product(a, b, phase), a.exponent + b.exponent + bias)
            }
        })
        .collect();
    let group = |products: &[(i128, i64)]| -> Addend {
        let grid = products.iter().map(|&(_, exponent)| exponent).max().unwrap_or(0);
        if grid <= 0 {
            return (0, 0);
        }
        (products.iter().map(|&(value, exponent)| rescale(value, exponent, grid, Tie::Away)).sum(), grid)
    };
    accumulate(setting, [group(&products[..8]), group(&products[8..])], dst)
}

/// One phase of ELWMUL on one datum.
pub fn multiply(setting: Setting, phase: u32, a: u32, b: u32, dst: u32) -> u32 {
    let bias = bias(setting, phase);
    let (a, b) = (Float::of(a, setting), Float::of(b, setting));
    let exponent = a.exponent + b.exponent + bias;
    let dead = a.is_zero() || b.is_zero() || exponent <= 0;
    let addend = if dead { (0, bias.max(0)) } else { (part_product(a, b, phase), exponent) };
    accumulate(setting, [addend, (0, 0)], dst)
}

/// ELWADD on one datum, or ELWSUB.
pub fn add(setting: Setting, subtract: bool, a: u32, b: u32, dst: u32) -> u32 {
    let (mut first, mut second) = (Float::of(a, setting), Float::of(b, setting));
    second.negative ^= subtract;
    let rank = |x: Float| if x.is_zero() { (0, 0) } else { (x.exponent, x.mantissa) };
    if rank(first) < rank(second) {
        (first, second) = (second, first);
    }
    let aligned = rescale(second.significand(), second.exponent, first.exponent, Tie::Away);
    let sum = first.signed(if first.negative == second.negative {
        first.significand() + aligned
    } else {
        first.significand() - aligned
    });
    let exponent = match (setting.five_bit_exponents && setting.wide_dst, first.is_zero()) {
        (false, _) => first.exponent,
        (true, true) => 97,
        (true, false) => first.exponent + 112,
    };
    accumulate(setting, [(sum, exponent), (0, 0)], dst)
}
