//! The checking executor.
//!
//! Speculative programs on single words, each with its fallback bit and the first bound that it violates.
//!
//! Words are those of the definition, but where a form's differ on purpose. A lane falls back where the form says so.
//! What is assumed is asserted here; what is selected carries its violation on, and a result without fallback must have
//! none, and must equal the listing's.

use std::fmt;

use tt_formats::Wormhole;

use super::Speculative;
use super::interval::{Form, Plan};
use crate::arith::fma::wormhole;
use crate::arith::lane::{INFINITY, Lane, NAN, ONE, ROUNDER, addexp, round_sm16, sm2f};
use crate::functions::blocks::{self, INVERSE_LN2, LN2_PARTS, RECIPROCAL_SEED, ROUGH_LN2};
use crate::functions::division;
use crate::functions::log::{LN2_PER_STEP, exponent};

const SIGN: u32 = 1 << 31;
const MANTISSA: u32 = STEP - 1;
const STEP: u32 = 1 << 23;
/// Constants from here on are added to round: 2^20.
const ROUNDING: u32 = (127 + 20) << 23;

/// A speculative program on operands, with its parameters.
pub type CheckedProgram = fn(&[Checked], &[u32]) -> Checked;

/// A form whose bound does not hold, and its operands.
#[derive(Clone, Copy)]
pub struct Violation {
    form: &'static str,
    operands: [u32; 3],
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c] = self.operands;
        write!(f, "{} of {a:08x}, {b:08x}, {c:08x}", self.form)
    }
}

/// A lane.
#[derive(Clone, Copy)]
pub struct Checked {
    word: u32,
    /// The word, where the program's text names it.
    constant: Option<u32>,
    fallback: bool,
    violation: Option<Violation>,
    /// Bounds that were asserted on the way.
    bounds: u32,
}

/// A lane's truth value.
#[derive(Clone, Copy)]
pub struct CheckedMask {
    truth: bool,
    of: Checked,
}

impl From<u32> for Checked {
    fn from(word: u32) -> Self {
        Self { constant: Some(word), ..Self::input(word) }
    }
}

fn float(word: u32) -> f32 {
    f32::from_bits(word)
}

fn host(x: u32, y: u32, z: u32) -> u32 {
    float(x).mul_add(float(y), float(z)).to_bits()
}

fn power(word: u32) -> i32 {
    (word >> 23 & 255) as i32 - 127
}

/// +0, or from two to the power of `least` to below that of `most`.
fn is_within(word: u32, least: i32, most: i32) -> bool {
    word == 0 || (least..most).contains(&power(word)) && power(word) > -127
}

/// Whether the addend outweighs the product, or nearly so.
fn is_ordinary(result: u32, addend: u32) -> bool {
    let half = (addend & (SIGN | INFINITY)).wrapping_sub(STEP - 1);
    result.wrapping_sub(half) < 2 * STEP + STEP / 2 - 1
}

/// Whether a product of 48 bits has fewer than 20 zeros at its end.
fn is_cut(x: u32, y: u32) -> bool {
    x.wrapping_mul(y) & 0xf_ffff != 0
}

impl Checked {
    /// An operand.
    pub fn input(word: u32) -> Self {
        Self { word, constant: None, fallback: false, violation: None, bounds: 0 }
    }

    /// The word, `None` for fallback, or the violated bound.
    pub fn result(self) -> Result<Option<u32>, Violation> {
        match self.violation {
            _ if self.fallback => Ok(None),
            Some(violation) => Err(violation),
            None => Ok(Some(self.word)),
        }
    }

    /// Number of bounds that the result rests on.
    pub fn bounds(self) -> u32 {
        self.bounds
    }

    /// A word made of others.
    fn of<const N: usize>(word: u32, operands: [Self; N]) -> Self {
        let mut result = Self::input(word);
        for operand in operands {
            result.fallback |= operand.fallback;
            result.violation = result.violation.or(operand.violation);
            result.bounds = result.bounds.max(operand.bounds);
        }
        result
    }

    fn falls_back(self, fallback: bool) -> Self {
        Self { fallback: self.fallback | fallback, ..self }
    }

    /// Asserts a bound of a form.
    fn asserts(self, holds: bool, form: &'static str, operands: [u32; 3]) -> Self {
        let violation = if holds { None } else { Some(Violation { form, operands }) };
        Self { violation: self.violation.or(violation), bounds: self.bounds + 1, ..self }
    }

    /// The unit's multiply-add, asserted to be the host's.
    fn by_host(self, b: Self, c: Self, form: &'static str) -> Self {
        let operands = [self.word, b.word, c.word];
        let [x, y, z] = operands;
        let word = wormhole(x, y, z);
        Self::of(word, [self, b, c]).asserts(word == host(x, y, z) && !float(word).is_nan(), form, operands)
    }

    /// The unit's multiply-add.
    fn unit(self, b: Self, c: Self) -> Self {
        Self::of(wormhole(self.word, b.word, c.word), [self, b, c])
    }

    fn is_nan(self) -> bool {
        float(self.word).is_nan()
    }

    /// A sum or product that the host gives as NaN or as a denormal is left to the definition.
    fn arithmetic(word: u32, by_host: f32, operands: [Self; 2]) -> Self {
        Self::of(word, operands).falls_back(by_host.is_nan() || by_host.is_subnormal())
    }

    pub fn quotient_and_rest(self, b: Self, for_quotient: bool) -> (Self, Self) {
        let (quotient, rest) = division::divide(self.word, b.word, for_quotient);
        let fallback = b.word == 0 || [self.word, b.word].contains(&SIGN);
        (Self::of(quotient, [self, b]).falls_back(fallback), Self::of(rest, [self, b]).falls_back(fallback))
    }

    pub fn common_divisor(self, b: Self, rounds: usize) -> Self {
        let word = division::gcd_rounds(self.word, b.word, rounds);
        Self::of(word, [self, b]).falls_back([self.word, b.word].contains(&SIGN))
    }
}

impl std::ops::BitAnd for CheckedMask {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self { truth: self.truth & other.truth, of: Checked::of(0, [self.of, other.of]) }
    }
}

impl std::ops::BitOr for CheckedMask {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self { truth: self.truth | other.truth, of: Checked::of(0, [self.of, other.of]) }
    }
}

impl std::ops::Not for CheckedMask {
    type Output = Self;
    fn not(self) -> Self {
        Self { truth: !self.truth, ..self }
    }
}

speculative_blocks!(Checked);

/// Steps that are those of words.
macro_rules! of_words {
    ($($name:ident($($other:ident),*);)+) => {$(
        fn $name(self $(, $other: Self)*) -> Self {
            Self::of(self.word.$name($($other.word),*), [self $(, $other)*])
        }
    )+};
}

impl Lane for Checked {
    type Mask = CheckedMask;
    type Of = Wormhole;

    forms! {
        fn plus(self, other: Self) -> Self
            = Self::arithmetic(self.word.plus(other.word), float(self.word) + float(other.word), [self, other]);
        fn minus(self, other: Self) -> Self
            = Self::arithmetic(self.word.minus(other.word), float(self.word) - float(other.word), [self, other]);
        fn times(self, other: Self) -> Self
            = Self::arithmetic(self.word.times(other.word), float(self.word) * float(other.word), [self, other]);
        fn horner(self, x: Self, coefficients: &[u32]) -> Self
            = coefficients.iter().fold(self, |sum, &coefficient| sum.fma(x, Self::from(coefficient)));
        fn round_magnitude(self, largest: u32) -> Self = Self::of(self.word.round_magnitude(largest), [self]);
        fn absolute(self) -> Self = Self::of(self.word.absolute(), [self]).falls_back(self.is_nan());
        fn is_equal(self, other: Self) -> CheckedMask
            = CheckedMask { truth: self.word == other.word, of: Self::of(0, [self, other]) };
        fn is_less(self, other: Self) -> CheckedMask
            = CheckedMask { truth: self.word.is_less(other.word), of: Self::of(0, [self, other]) };
    }

    of_words! {
        and(b);
        or(b);
        xor(b);
        iadd(b);
        isub(b);
        imul(b);
        shl(b);
        shr(b);
        clz();
        magnitude_to_f32();
        reciprocal_mantissa();
        integer_magnitude();
        flushed();
        minimum(b);
        maximum(b);
    }

    fn mad(self, b: Self, c: Self) -> Self {
        match c.constant {
            Some(0) => self.times(b),
            Some(word) if word & !SIGN >= ROUNDING => self.fma(b, c),
            _ => self.unit(b, c),
        }
    }
    fn is_below(self, other: Self) -> CheckedMask {
        let of = Self::of(0, [self, other]).falls_back(self.is_nan() || other.is_nan());
        CheckedMask { truth: self.word.is_below(other.word), of }
    }
    fn is_above(self, other: Self) -> CheckedMask {
        let of = Self::of(0, [self, other]).falls_back(self.is_nan() || other.is_nan());
        CheckedMask { truth: self.word.is_above(other.word), of }
    }
    fn select(mask: CheckedMask, yes: Self, no: Self) -> Self {
        let taken = if mask.truth { yes } else { no };
        Self::of(taken.word, [mask.of, taken])
    }
}

impl Speculative for Checked {
    forms! {
        fn expect(self, least: i32, most: i32) -> Self
            = Self::of(self.word, [self]).falls_back(!(least..most).contains(&power(self.word)));
        fn expect_positive(self, least: i32, most: i32) -> Self
            = self.expect(least, most).falls_back(self.word >= SIGN);
        fn expect_up_to(self, bound: f32) -> Self
            = Self::of(self.word, [self]).falls_back(self.word & !SIGN > bound.to_bits());
        fn expect_number(self) -> Self = Self::of(self.word, [self]).falls_back(self.is_nan());
        fn fma_growing(self, b: Self, c: Self) -> Self = self.unit(b, c);
        fn square_plus_one(self) -> Self = self.unit(self, Self::from(ONE));
        fn host_fma_unbounded(self, b: Self, c: Self) -> Self = self.by_host(b, c, "host_fma_unbounded");
        fn mul_unflushed(self, b: Self) -> Self = Self::of((float(self.word) * float(b.word)).to_bits(), [self, b]);
        fn exponent_as_number(self) -> Self = Self::of(blocks::exponent_number(self.word), [self]);
    }
    fn expect_zero_or(self, least: i32, most: i32) -> Self {
        let checked = Self::of(self.word, [self]).falls_back(!is_within(self.word, least, most.max(129)));
        if most > 128 {
            return checked.asserts(!self.is_nan(), "expect_zero_or", [self.word, least as u32, most as u32]);
        }
        checked.falls_back(!is_within(self.word, least, most))
    }
    fn assume(self, least: i32, most: i32) -> Self {
        let holds = is_within(self.word, least, most);
        Self::of(self.word, [self]).asserts(holds, "assume", [self.word, least as u32, most as u32])
    }
    fn any(_: CheckedMask) -> bool {
        true
    }

    fn fma(self, b: Self, c: Self) -> Self {
        let result = self.unit(b, c);
        let is_power = |factor: Self| factor.constant.is_some_and(|word| word & MANTISSA == 0);
        result.falls_back(!is_power(self) && !is_power(b) && !is_ordinary(result.word, c.word))
    }
    fn fma_small(self, b: Self, c: Self) -> Self {
        let result = self.unit(b, c);
        result.falls_back((result.word ^ c.word) & (SIGN | INFINITY) != 0 || float(c.word).is_subnormal())
    }
    fn fma_reduction(self, b: Self, c: Self) -> Self {
        let result = self.unit(b, c);
        let long = self.word << b.word.trailing_zeros() & 0xff_ffff != 0;
        let taken = (self.word ^ b.word ^ c.word) >= SIGN || self.word & !SIGN == 0;
        result.falls_back(long || !taken || result.is_nan())
    }
    fn fma_residual(self, b: Self, c: Self) -> Self {
        let result = self.unit(b, c);
        result.falls_back(float(result.word).abs() >= float(c.word & INFINITY) / 16.0)
    }
    fn host_fma(self, b: Self, c: Self) -> Self {
        let result = self.by_host(b, c, "host_fma");
        let near = is_within(result.word, power(c.word) - 1, power(c.word) + 2);
        result.asserts(near, "host_fma, range", [self.word, b.word, c.word])
    }
    fn host_fma_reduction(self, b: u32, c: Self) -> Self {
        let long = self.word & ((1 << 22_u32.saturating_sub(b.trailing_zeros())) - 1) != 0;
        let by_host = host(self.word, b, c.word);
        let holds = by_host == wormhole(self.word, b, c.word) || float(c.word).is_subnormal();
        Self::of(by_host, [self, c]).asserts(holds, "host_fma_reduction", [self.word, b, c.word]).falls_back(long)
    }
    fn residual_of_one(self, b: Self) -> Self {
        let result = Self::of(wormhole(self.word, b.word, ONE), [self, b]);
        result.asserts(
            float(result.word).abs() < 0.0625 || result.word == ONE,
            "residual_of_one",
            [self.word, b.word, ONE],
        )
    }
    fn fma_on_addend_grid(self, b: Self, c: u32) -> Self {
        let result = Self::of(wormhole(self.word, b.word, c), [self, b]);
        let times = float(result.word ^ c & SIGN) / float(c & INFINITY);
        let within = -1.8 < times && times < if c.trailing_zeros() < 3 { 2.0 } else { 8.0 };
        let holds = power(self.word) + power(b.word) <= power(c) && within;
        result.asserts(holds, "fma_on_addend_grid", [self.word, b.word, c])
    }
    fn fma_on_common_grid(self, b: Self, c: Self, grows: bool) -> Self {
        let result = self.unit(b, c);
        let largest = (power(self.word) + power(b.word)).max(power(c.word));
        // Places of the addend below the grid.
        let below = (largest - 26 - (power(c.word) - 23)).clamp(0, 24);
        let whole = c.word == 0 || (c.word & MANTISSA | STEP) & ((1 << below) - 1) == 0;
        let large = power(result.word) >= largest + 2;
        let even = (c.word & MANTISSA | STEP) & ((1 << (below + 1).min(24)) - 1) == 0;
        let near = largest < 100 && (result.word == 0 || power(result.word) > -100);
        let holds = near && whole && (!large || grows && even);
        let result = result.asserts(holds, "fma_on_common_grid", [self.word, b.word, c.word]);
        result.falls_back(grows && !is_cut(self.word, b.word))
    }
    fn shift_exponent(self, k: i32) -> Self {
        let word = addexp(self.word, k);
        let normal = |word: u32| float(word).is_normal();
        Self::of(word, [self]).asserts(normal(self.word) && normal(word), "shift_exponent", [self.word, k as u32, 0])
    }

    fn horner_planned(self, x: Self, coefficients: &[u32], plan: Plan) -> Self {
        let (low, high) = (plan.low, plan.high);
        let within = (low..=high).contains(&float(x.word));
        let bounds = [x.word, low.to_bits(), high.to_bits()];
        let mut sum = Self::of(self.word, [self, x]).asserts(within, "horner_planned", bounds);
        for (step, &coefficient) in coefficients.iter().enumerate() {
            let operands = [sum.word, x.word, coefficient];
            let [s, argument, c] = operands;
            sum.word = wormhole(s, argument, c);
            let is_plain = match plan.form(step) {
                Form::OneSided { plain_below } => plain_below == (x.word >= SIGN),
                form => form == Form::Plain,
            };
            let large = plan.step(step).grows && !is_cut(s, argument);
            sum = sum.asserts(large || !is_plain || sum.word == host(s, argument, c), "horner_planned, step", operands);
            sum = sum.falls_back(large && is_plain);
        }
        sum.asserts(is_within(sum.word, plan.least, plan.most), "horner_planned, range", [x.word, sum.word, 0])
    }
    fn horner_within(self, x: Self, coefficients: &[u32], plan: Plan) -> Self {
        if x.word < plan.high.to_bits() {
            return self.horner_planned(x, coefficients, plan);
        }
        coefficients.iter().fold(self, |sum, &coefficient| {
            let word = wormhole(sum.word, x.word, coefficient);
            Self::of(word, [sum, x])
        })
    }
    fn reduce_by_ln2(self, [low, high]: [f32; 2]) -> (Self, Self) {
        let clamped = float(self.word).max(low).min(high);
        let power = round_sm16((clamped * float(INVERSE_LN2)).to_bits());
        let turns = sm2f(power);
        let upper = host(turns, LN2_PARTS[0], clamped.to_bits());
        let rest = host(turns, LN2_PARTS[1], upper);
        let fallback = (rest ^ upper) & (SIGN | INFINITY) != 0 || self.is_nan();
        let expected = blocks::reduce_by_ln2(clamped.to_bits(), turns);
        let holds = rest == expected || !clamped.is_normal();
        let result = Self::of(rest, [self]).falls_back(fallback);
        let result = result.asserts(holds, "reduce_by_ln2", [self.word, turns, rest]);
        (result, Self::of(crate::arith::lane::sm_to_twos(power), [result]))
    }
    fn reduce_by_one(self) -> (Self, Self) {
        let clamped = float(self.word).clamp(-127.0, 128.0);
        let power = round_sm16(clamped.to_bits());
        let rest = (clamped - float(sm2f(power))).to_bits();
        let result = Self::of(rest, [self]).falls_back(self.is_nan());
        (result, Self::of(crate::arith::lane::sm_to_twos(power), [result]))
    }
    fn scale_exp(self, by: Self) -> Self {
        let holds = [126, 127].contains(&(self.word >> 23)) && (-127..=128).contains(&(by.word as i32));
        let word = (self.word.wrapping_add(by.word << 23) as i32).min(INFINITY as i32);
        let word = if word < STEP as i32 { 0 } else { word as u32 };
        Self::of(word, [self, by]).asserts(holds, "scale_exp", [self.word, by.word, 0])
    }
    fn reciprocal_of_mantissa(self, steps: usize) -> Self {
        let word = blocks::reciprocal_mantissa(self.word, RECIPROCAL_SEED, steps);
        Self::of(word, [self]).asserts(is_within(word, -2, 1), "reciprocal_of_mantissa", [self.word, word, 0])
    }
    fn round_line(self, first: u32, second: u32) -> Self {
        let line = wormhole(self.word, first, second);
        let word = line.plus(ROUNDER);
        let by_host = host(self.word, first, second);
        let rounded = float(by_host) + float(ROUNDER);
        let near = (float(by_host) - (rounded - float(ROUNDER))).abs() <= 0.5 - 1.0 / 131_072.0;
        let fallback = !near || self.is_nan() || float(self.word).abs() > 64.0;
        let result = Self::of(word, [self]).falls_back(fallback);
        result.asserts(word == rounded.to_bits(), "round_line", [self.word, first, second])
    }
    fn add_rough_exponent(self, mantissa: Self) -> Self {
        let small = mantissa.word != 0 && mantissa.word < (127 - 20) << 23;
        let operands = [self.word, mantissa.word, 0];
        let result = self.by_host(Self::from(ROUGH_LN2), mantissa, "add_rough_exponent").falls_back(small);
        let holds = (-1.0..=15.0).contains(&float(self.word)) && (0.0..0.7).contains(&float(mantissa.word));
        result.asserts(holds, "add_rough_exponent, range", operands)
    }
    fn split_exponent(self) -> (Self, Self) {
        let (steps, turns) = exponent(self.word);
        (Self::of(steps, [self]), Self::of(turns, [self]))
    }
    fn add_exponent(self, mantissa: Self) -> Self {
        let times = float(self.word).abs() / STEP as f32;
        let nothing = (mantissa.word & !SIGN).wrapping_sub(1) < (127 - 20) << 23;
        let sure = times <= 7.0 || times <= 63.0 && !nothing;
        let result = self.by_host(Self::from(LN2_PER_STEP), mantissa, "add_exponent").falls_back(!sure);
        let holds = (-0.29..0.41).contains(&float(mantissa.word));
        result.asserts(holds, "add_exponent, range", [self.word, mantissa.word, 0])
    }
    fn limit_log(self, value: Self) -> Self {
        match self.word {
            0 => Self::of(SIGN | INFINITY, [self]),
            SIGN.. => Self::of(NAN, [self]),
            STEP..INFINITY => Self::of(value.word, [self, value]),
            _ => Self::of(value.word, [self, value]).falls_back(true),
        }
    }
}
