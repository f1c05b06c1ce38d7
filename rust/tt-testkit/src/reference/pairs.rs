//! ELWADD, ELWSUB and ELWMUL of two BF16 words, by integers.
//!
//! Into a zeroed `Dst`, after `docs/chip/numerics.md` sections 5 and 7, in 64-bit integers: quick enough for every pair
//! of operands. It shares no code with the engine, nor with [`super::fpu`], which is written as exact fractions; a test
//! holds the two against each other.

/// A sum of multiples of `2^-150`, rounded to `Dst` per step.
#[derive(Clone, Copy, Debug)]
pub struct Pairs {
    /// `Dst` is FP32, otherwise BF16 in the upper half of a word.
    pub wide_dst: bool,
}

/// A BF16 word: sign, exponent, and the significand with its hidden bit as ten bits and one; 0 for exponent 0.
#[derive(Clone, Copy)]
struct Number {
    negative: bool,
    exponent: i32,
    significand: i64,
}

impl Number {
    fn of(word: u16) -> Self {
        let exponent = i32::from(word >> 7 & 0xff);
        let significand = if exponent == 0 { 0 } else { i64::from(word & 0x7f | 0x80) << 3 };
        Self { negative: word >> 15 == 1, exponent, significand }
    }

    fn signed(self, magnitude: i64) -> i64 {
        if self.negative { -magnitude } else { magnitude }
    }
}

/// `value / 2^shift` to the nearest integer, ties upwards.
fn upwards(value: i64, shift: i32) -> i64 {
    match shift {
        0 => value,
        1..=40 => (value + (1 << (shift - 1))) >> shift,
        _ => 0,
    }
}

/// `value / 2^shift` to the nearest integer, ties away from zero.
fn away(value: i64, shift: i32) -> i64 {
    let magnitude = upwards(value.abs(), shift);
    if value < 0 { -magnitude } else { magnitude }
}

impl Pairs {
    /// Adds `units * 2^(exponent - 137)` to a word of `Dst`. `units` has at most 13 bits.
    fn accumulate(self, dst: u32, units: i64, exponent: i32) -> u32 {
        let old_exponent = (dst >> 23 & 0xff) as i32;
        let old = if old_exponent == 0 { 0 } else { i64::from(dst & 0x007f_ffff | 0x0080_0000) };
        let old = if dst >> 31 == 1 { -old } else { old };
        let grid = exponent.max(old_exponent);
        if grid <= 0 {
            return 0;
        }
        let mut old = away(old, grid - old_exponent);
        let mut new = upwards(units << 13, grid - exponent.max(0));
        if !self.wide_dst {
            old = away(old, 13) << 13;
            new = upwards(new, 13) << 13;
        }
        self.rounded(old + new, grid)
    }

    /// The word of `Dst` for `total * 2^(grid - 150)`.
    fn rounded(self, total: i64, grid: i32) -> u32 {
        if total == 0 {
            return 0;
        }
        let sign = u32::from(total < 0) << 31;
        if total == -1 {
            // Wormhole's -1 is four binades above its grid instead of 23 below.
            return if grid + 4 >= 255 { sign | 0x7f80_0000 } else { sign | ((grid + 4) as u32) << 23 };
        }
        let magnitude = total.unsigned_abs();
        let length = (64 - magnitude.leading_zeros()) as i32;
        let kept = if self.wide_dst { 24 } else { 8 };
        let mut significand = if length > kept {
            upwards(magnitude as i64, length - kept) << (24 - kept)
        } else {
            (magnitude as i64) << (24 - length)
        };
        let mut exponent = grid + length - 24;
        if significand == 1 << 24 {
            significand >>= 1;
            exponent += 1;
        }
        match exponent {
            ..=0 => 0,
            255.. => sign | 0x7f80_0000,
            _ => sign | (exponent as u32) << 23 | significand as u32 & 0x007f_ffff,
        }
    }

    /// `a + b`.
    pub fn add(self, a: u16, b: u16) -> u32 {
        let (a, b) = (Number::of(a), Number::of(b));
        let (larger, smaller) = if (a.exponent, a.significand) < (b.exponent, b.significand) { (b, a) } else { (a, b) };
        let aligned = upwards(smaller.significand, (larger.exponent - smaller.exponent).min(41));
        let signed = if larger.negative == smaller.negative { aligned } else { -aligned };
        self.accumulate(0, larger.signed(larger.significand + signed), larger.exponent)
    }

    /// `a - b`.
    pub fn subtract(self, a: u16, b: u16) -> u32 {
        self.add(a, b ^ 0x8000)
    }

    /// `a * b` in the first `phases` of the four phases.
    ///
    /// 1 for `LoFi`, 4 for `HiFi4`.
    pub fn multiply(self, a: u16, b: u16, phases: usize) -> u32 {
        let (a, b) = (Number::of(a), Number::of(b));
        let dead = a.significand == 0 || b.significand == 0;
        // Upper five and lower five bits of one operand, upper seven and lower four of the other.
        let (high_a, low_a) = (a.significand >> 6, a.significand >> 1 & 0x1f);
        let (high_b, low_b) = (b.significand >> 4, (b.significand & 0xf) << 3);
        let parts = [(high_a * high_b, 127), (low_a * high_b, 132), (high_a * low_b, 134), (low_a * low_b, 139)];
        parts[..phases].iter().fold(0, |dst, &(part, bias)| {
            let exponent = a.exponent + b.exponent - bias;
            if dead || exponent <= 0 {
                return self.accumulate(dst, 0, 0);
            }
            let units = if a.negative == b.negative { part } else { -part };
            self.accumulate(dst, units, exponent)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Pairs;
    use crate::random::Random;
    use crate::reference::fpu::{self, Setting};

    /// The word as `SrcA` and `SrcB` hold it: sign, ten bits of mantissa above eight of exponent.
    fn source(word: u16) -> u32 {
        u32::from(word >> 15) << 18 | u32::from(word & 0x7f) << 3 | u32::from(word >> 7 & 0xff) << 10
    }

    fn pair(random: &mut Random) -> (u16, u16) {
        let (a, b) = (random.bits() as u16, random.bits() as u16);
        if random.one_in(4) {
            return (a, b);
        }
        // Exponents near each other, or with a product near the ends of the range.
        let centre = [random.between(1, 254), 64, 191][random.below(3) as usize];
        let near = |word: u16, distance: i32| word & 0x807f | ((centre + distance).clamp(0, 255) as u16) << 7;
        (near(a, random.between(-6, 6)), near(b, random.between(-6, 6)))
    }

    #[test]
    fn equals_the_fractions() {
        let mut random = Random::new(31);
        for case in 0..300_000 {
            let wide_dst = case % 2 == 0;
            let setting = Setting { five_bit_exponents: false, wide_dst, wormhole: true };
            let (a, b) = pair(&mut random);
            let (x, y) = (source(a), source(b));
            let model = Pairs { wide_dst };
            assert_eq!(model.add(a, b), fpu::add(setting, false, x, y, 0), "{a:04x} + {b:04x}, {wide_dst}");
            assert_eq!(model.subtract(a, b), fpu::add(setting, true, x, y, 0), "{a:04x} - {b:04x}, {wide_dst}");
            let phases = 1 + case / 2 % 4;
            let product = (0..phases as u32).fold(0, |dst, phase| fpu::multiply(setting, phase, x, y, dst));
            assert_eq!(model.multiply(a, b, phases), product, "{a:04x} * {b:04x}, {phases} phases, {wide_dst}");
        }
    }
}
