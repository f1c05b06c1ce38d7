//! Choice of host arithmetic per polynomial step.
//!
//! The compiler finds it from the coefficients and the range.
//!
//! What the unit does with `s * x + c`, and when that is the host's multiply-add, is said in [`super`]. Here the sum, the
//! product and their exponents are followed through Horner's rule, in each part of the range on its own. A step that is
//! the host's in all parts costs one instruction; where terms cancel, or a coefficient is cut by the product's grid, it
//! is put together on the unit's grid.

/// Parts of the range that are looked at one by one: in each of them sums are known the better.
const PARTS: usize = 256;
/// Most steps.
const STEPS: usize = 12;
/// More than roundings change of the terms.
const SLACK: f64 = 1.0 / 1_000_000.0;
/// Coefficients are above this: 2^-96. Beside them, denormals and products without exponent leave no trace, and two
/// to the power of -26 times them is in range.
const SMALLEST: i32 = -96;
/// Arguments and sums are below two to this power.
const LARGEST: i32 = 60;

/// The form that a step takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The host's multiply-add.
    Plain,
    /// A sum on the coefficient's grid, which is the coarser one.
    Constant,
    /// [`Form::Plain`] for arguments below zero and [`Form::Constant`] for others, or the other way round.
    OneSided { plain_below: bool },
    /// A sum on the grid of the larger exponent, which each lane has its own of.
    Free,
}

/// The computation of a polynomial's steps, for arguments between two bounds.
#[derive(Clone, Copy)]
pub struct Plan {
    /// The bounds.
    pub low: f32,
    pub high: f32,
    /// True if the value is zero or at least a power.
    ///
    /// At least two to this power in magnitude.
    pub least: i32,
    /// and less than two to this power.
    pub most: i32,
    /// The steps for arguments below zero, and for others.
    sides: [[Step; STEPS]; 2],
}

/// A step's known bounds, in a part of the range or all.
#[derive(Clone, Copy)]
pub struct Step {
    /// It may be [`Form::Plain`].
    plain: bool,
    /// It may be [`Form::Constant`].
    constant: bool,
    /// The product is so close to the coefficient's grid that what is cut off is seen there.
    close: bool,
    /// True if the sum may exceed its terms by two exponents.
    ///
    /// It is above the larger one of its terms, where it is only right if the product is cut.
    pub grows: bool,
    /// The coefficient may be odd on the grid where the sum grows.
    pub grows_odd: bool,
    /// The coefficient may have places below the grid.
    pub cuts: bool,
    /// It may be below the grid as a whole.
    pub loses: bool,
}

impl Step {
    /// In no part.
    pub const NOWHERE: Self =
        Self { plain: true, constant: true, close: true, grows: false, grows_odd: false, cuts: false, loses: false };

    /// In both of two parts.
    const fn and(self, other: Self) -> Self {
        Self {
            plain: self.plain & other.plain,
            constant: self.constant & other.constant,
            close: self.close & other.close,
            grows: self.grows | other.grows,
            grows_odd: self.grows_odd | other.grows_odd,
            cuts: self.cuts | other.cuts,
            loses: self.loses | other.loses,
        }
    }
}

/// Numbers between two bounds.
#[derive(Clone, Copy)]
struct Range {
    least: f64,
    most: f64,
}

impl Range {
    const fn magnitudes(self) -> Self {
        let (a, b) = (self.least.abs(), self.most.abs());
        let least = if self.least <= 0.0 && self.most >= 0.0 { 0.0 } else { a.min(b) };
        Self { least, most: a.max(b) }
    }

    const fn times(self, other: Self) -> Self {
        let (a, b) = (self.least * other.least, self.least * other.most);
        let (c, d) = (self.most * other.least, self.most * other.most);
        Self { least: a.min(b).min(c.min(d)), most: a.max(b).max(c.max(d)) }
    }

    /// With a number added, and what roundings may change.
    const fn plus(self, addend: f64) -> Self {
        let slack = (self.most - self.least + self.magnitudes().most + addend.abs()) * SLACK;
        Self { least: self.least + addend - slack, most: self.most + addend + slack }
    }
}

/// Of a number that is not negative.
const fn exponent(number: f64) -> i32 {
    (number.to_bits() >> 52) as i32 - 1023
}

/// Of what is less than a positive number.
const fn exponent_below(number: f64) -> i32 {
    exponent(f64::from_bits(number.to_bits() - 1))
}

const fn larger(a: i32, b: i32) -> i32 {
    if a > b { a } else { b }
}

const fn smaller(a: i32, b: i32) -> i32 {
    if a < b { a } else { b }
}

/// Two to a power.
const fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// A step from sums in a range, with arguments in another, and the range of what it comes to.
const fn step(sum: Range, x: Range, coefficient: u32) -> (Range, Step) {
    let addend = f32::from_bits(coefficient) as f64;
    let result = sum.times(x).plus(addend);
    let (factor, argument, size) = (sum.magnitudes(), x.magnitudes(), result.magnitudes());
    // The unit's exponents of product and coefficient, and the larger one.
    let least = exponent(factor.least) + exponent(argument.least);
    let most = exponent(factor.most) + exponent(argument.most);
    let own = exponent(addend.abs());
    let zeros = coefficient.trailing_zeros() as i32;
    let largest = larger(exponent(factor.most), exponent(argument.most));
    // Beside the coefficient, a product of zero is nothing, though its other factor's exponent counts.
    assert!(own > SMALLEST && largest < LARGEST && largest < own + 126);

    // A factor that is a power of two leaves a product of 24 bits, which the host takes as the unit does.
    let inner = exponent(factor.most) + exponent_below(argument.most);
    let kept = size.least >= power(larger(inner, own) - 1);
    let even = most <= own + 2 + zeros;
    let grown = size.most >= power(larger(least, own) + 2);
    let (below, above) = if addend > 0.0 { (result.least, result.most) } else { (-result.most, -result.least) };
    // Less an eighth of the power, 24 bits hold the sum but for what the grid rounds to odd, or some more if the coefficient
    // ends with zeros.
    let limit = power(own + 1 + smaller(zeros, 3));
    let short = below > -0.9 * limit && above < limit;
    let constant = most <= own && short;
    let (loses, cuts) = (most > own + 26, most > own + 3 + zeros);
    // Less than 32 times the coefficient's power, a product's places below the coefficient's grid are told apart there.
    let close = most <= own + 3;
    let plain = kept && inner <= own + 2 + zeros;
    (result, Step { plain, constant, close, grows: grown, grows_odd: grown && !even, cuts, loses })
}

impl Plan {
    /// Bounds of a step on both sides of zero, by number.
    ///
    /// The number counts from 0.
    #[inline(always)]
    pub const fn step(&self, number: usize) -> Step {
        self.sides[0][number].and(self.sides[1][number])
    }

    /// Its form.
    #[inline(always)]
    pub const fn form(&self, number: usize) -> Form {
        let (step, [below, above]) = (self.step(number), [self.sides[0][number], self.sides[1][number]]);
        let seen = step.close || !step.grows;
        if step.plain {
            Form::Plain
        } else if step.constant && seen {
            Form::Constant
        } else if seen && (below.plain && above.constant || below.constant && above.plain) {
            Form::OneSided { plain_below: below.plain }
        } else {
            Form::Free
        }
    }

    /// Plan of Horner's rule for coefficients and an argument range.
    ///
    /// Coefficients from the highest power down, arguments from `low` to `high`.
    ///
    /// # Panics
    /// If coefficients are tiny or sums huge, which means at compile time.
    pub const fn new(coefficients: &[u32], low: f32, high: f32) -> Self {
        assert!(low < high && 1 < coefficients.len() && coefficients.len() <= STEPS + 1);
        let mut plan = Self { low, high, least: LARGEST, most: SMALLEST, sides: [[Step::NOWHERE; STEPS]; 2] };
        let width = (high as f64 - low as f64) / PARTS as f64;
        let start = f32::from_bits(coefficients[0]) as f64;
        let last = exponent((f32::from_bits(coefficients[coefficients.len() - 1]) as f64).abs());
        let mut part = 0;
        while part < PARTS {
            let first = low as f64 + part as f64 * width;
            let mut sum = Range { least: start, most: start };
            let mut i = 1;
            while i < coefficients.len() {
                let known;
                (sum, known) = step(sum, Range { least: first, most: first + width }, coefficients[i]);
                // A part that zero lies in counts for both sides.
                if first < width * SLACK {
                    plan.sides[0][i - 1] = plan.sides[0][i - 1].and(known);
                }
                if first + width > -width * SLACK {
                    plan.sides[1][i - 1] = plan.sides[1][i - 1].and(known);
                }
                i += 1;
            }
            let size = sum.magnitudes();
            // No grid is finer than that of the last coefficient.
            plan.least = smaller(plan.least, larger(exponent(size.least), last - 26));
            plan.most = larger(plan.most, exponent(size.most) + 1);
            part += 1;
        }
        plan
    }
}
