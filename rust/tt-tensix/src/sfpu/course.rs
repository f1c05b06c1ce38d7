//! How each step of a polynomial may be computed by the host, found by the compiler from the coefficients and the range.
//!
//! What the unit does with `s * x + c`, and when that is the host's multiply-add, is said in `guess`. Here the sum, the product and
//! their exponents are followed through Horner's rule, in each part of the range on its own. A step that is the host's in all
//! parts costs one instruction; where terms cancel, or a coefficient is cut by the product's grid, it is put together on the
//! unit's grid.

/// Parts of the range that are looked at one by one: in each of them sums are known the better.
const PARTS: usize = 256;
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
    /// A sum on the grid of the larger exponent, which each lane has its own of.
    Free,
}

/// The forms of a polynomial's steps, for arguments between two bounds.
#[derive(Clone, Copy)]
pub struct Course {
    /// The bounds.
    pub(super) low: f32,
    pub(super) high: f32,
    /// The value is zero or at least two to this power in magnitude,
    pub(super) least: i32,
    /// and less than two to this power.
    pub(super) most: i32,
    /// A bit for each step, the first one's the lowest: whether its form is [`Form::Constant`],
    constant: u32,
    /// whether it is [`Form::Free`],
    free: u32,
    /// and whether its sum may be two exponents above the larger one of its terms, where it is only right if the product is cut.
    grown: u32,
    /// Whether its coefficient may be below the grid,
    nothing: u32,
    /// may have places below the grid,
    cut: u32,
    /// or may not be even on the grid where its sum may have grown.
    odd: u32,
}

/// What is known of a step in a part of the range, or in all of them.
#[derive(Clone, Copy)]
struct Step {
    plain: bool,
    constant: bool,
    grown: bool,
    nothing: bool,
    cut: bool,
    odd: bool,
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

    let kept = size.least >= power(larger(most, own) - 1);
    let even = most <= own + 2 + zeros;
    let grown = size.most >= power(larger(least, own) + 2);
    let (below, above) = if addend > 0.0 { (result.least, result.most) } else { (-result.most, -result.least) };
    // Less an eighth of the power, 24 bits hold the sum but for what the grid jams, or some more if the coefficient ends with zeros.
    let limit = power(own + 1 + smaller(zeros, 3));
    let short = below > -0.9 * limit && above < limit;
    let constant = most <= own && short;
    let (nothing, cut) = (most > own + 26, most > own + 3 + zeros);
    (result, Step { plain: kept && even, constant, grown, nothing, cut, odd: grown && !even })
}

impl Course {
    /// Of Horner's rule for coefficients from the highest power down, with arguments from `low` to `high`.
    ///
    /// # Panics
    /// If coefficients are tiny or sums huge, which means at compile time.
    pub(super) const fn of(coefficients: &[u32], low: f32, high: f32) -> Self {
        let mut course = Self {
            low,
            high,
            least: LARGEST,
            most: SMALLEST,
            constant: 0,
            free: 0,
            grown: 0,
            nothing: 0,
            cut: 0,
            odd: 0,
        };
        assert!(low < high && 1 < coefficients.len() && coefficients.len() <= 32);
        let width = (high as f64 - low as f64) / PARTS as f64;
        let start = f32::from_bits(coefficients[0]) as f64;
        let mut sums = [Range { least: start, most: start }; PARTS];
        let mut i = 1;
        while i < coefficients.len() {
            let mut all = Step { plain: true, constant: true, grown: false, nothing: false, cut: false, odd: false };
            let mut part = 0;
            while part < PARTS {
                let first = low as f64 + part as f64 * width;
                let (sum, one) = step(sums[part], Range { least: first, most: first + width }, coefficients[i]);
                sums[part] = sum;
                all.plain &= one.plain;
                all.constant &= one.constant;
                all.grown |= one.grown;
                all.nothing |= one.nothing;
                all.cut |= one.cut;
                all.odd |= one.odd;
                part += 1;
            }
            let bit = 1 << (i - 1);
            if !all.plain && all.constant {
                course.constant |= bit;
            } else if !all.plain {
                course.free |= bit;
            }
            course.grown |= if all.grown { bit } else { 0 };
            course.nothing |= if all.nothing { bit } else { 0 };
            course.cut |= if all.cut { bit } else { 0 };
            course.odd |= if all.odd { bit } else { 0 };
            i += 1;
        }
        let last = exponent((f32::from_bits(coefficients[coefficients.len() - 1]) as f64).abs());
        let mut part = 0;
        while part < PARTS {
            let size = sums[part].magnitudes();
            // No grid is finer than that of the last coefficient.
            course.least = smaller(course.least, larger(exponent(size.least), last - 26));
            course.most = larger(course.most, exponent(size.most) + 1);
            part += 1;
        }
        course
    }

    /// Of the step of this number, the first one's 0.
    #[inline(always)]
    pub(super) const fn form(self, step: usize) -> Form {
        match (self.constant >> step & 1, self.free >> step & 1) {
            (0, 0) => Form::Plain,
            (1, _) => Form::Constant,
            _ => Form::Free,
        }
    }

    /// Whether sums may be two exponents above the larger one of their terms.
    #[inline(always)]
    pub(super) const fn grows(self, step: usize) -> bool {
        self.grown >> step & 1 == 1
    }

    /// Whether, where they are, the coefficient may not be even on the grid.
    #[inline(always)]
    pub(super) const fn grows_odd(self, step: usize) -> bool {
        self.odd >> step & 1 == 1
    }

    /// Whether the coefficient may have places below the grid.
    #[inline(always)]
    pub(super) const fn cuts(self, step: usize) -> bool {
        self.cut >> step & 1 == 1
    }

    /// Whether it may be below the grid as a whole.
    #[inline(always)]
    pub(super) const fn loses(self, step: usize) -> bool {
        self.nothing >> step & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::{Course, Form};

    const ONE: u32 = 0x3f80_0000;
    const MINUS_ONE: u32 = 0xbf80_0000;
    /// Odd, a little more than 1.
    const ODD: u32 = 0x3f80_0001;
    /// -2^-30
    const SMALL: u32 = 0xb080_0000;

    fn form(coefficients: [u32; 2], low: f32, high: f32) -> Form {
        Course::of(&coefficients, low, high).form(0)
    }

    #[test]
    fn a_step_takes_the_shortest_form_that_is_right_in_all_parts() {
        // Up to half of one is taken away.
        assert!(form([ODD, MINUS_ONE], 0.0, 0.49) == Form::Plain);
        // All of it is.
        assert!(form([ODD, MINUS_ONE], 0.0, 1.0) == Form::Constant);
        // And more, by a product with a larger exponent.
        assert!(form([ODD, MINUS_ONE], 0.0, 4.0) == Form::Free);
        // A product of up to seven exponents more, whose grid the coefficient is even on, or not.
        assert!(form([ODD, ONE], 0.0, 128.0) == Form::Plain);
        assert!(form([ODD, ODD], 0.0, 128.0) == Form::Free);
    }

    #[test]
    fn a_course_knows_what_the_grid_leaves_of_a_coefficient() {
        let whole = Course::of(&[ODD, ONE], 0.0, 4.0);
        assert!(!whole.cuts(0) && !whole.loses(0));
        let cut = Course::of(&[ODD, ODD], 0.0, 128.0);
        assert!(cut.cuts(0) && !cut.loses(0));
        assert!(Course::of(&[ODD, SMALL], 0.0, 4.0).loses(0));
    }

    #[test]
    fn a_sum_may_be_two_exponents_above_its_terms() {
        // 1.9 * 1.9 + 1.9
        let word = 1.9_f32.to_bits();
        assert!(Course::of(&[word, word], 0.0, 1.9).grows(0));
        assert!(!Course::of(&[word, word], 0.0, 1.0).grows(0));
    }
}
