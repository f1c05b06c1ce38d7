//! What the compiler proves of polynomials: all their steps are ordinary multiply-adds, which the host rounds as the
//! SFPU does. A step is ordinary if its sum is from half to three times the power of two of the added coefficient.

/// Coefficients are above this: 2^-60. Beside them, denormals and products without exponent leave no trace.
const SMALLEST: f64 = 1.0 / (1_u64 << 60) as f64;
/// More than roundings change of the terms.
const SLACK: f64 = 1.0 / 1_000_000.0;

/// Parts of the range that are looked at one by one: in each of them sums are known the better.
const PARTS: usize = 64;

/// Whether Horner's rule for these coefficients, from the highest power down, meets only sums of the sign of the
/// coefficient that is added, from half of its power of two to three times that, for arguments from `low` to `high`.
pub(in crate::sfpu::exec) const fn is_ordinary(coefficients: &[u32], low: f32, high: f32) -> bool {
    let step = (high - low) as f64 / PARTS as f64;
    let mut part = 0;
    while part < PARTS {
        let first = low as f64 + part as f64 * step;
        if !is_ordinary_between(coefficients, first, first + step) {
            return false;
        }
        part += 1;
    }
    -256.0 < low && low < high && high < 256.0
}

const fn is_ordinary_between(coefficients: &[u32], low: f64, high: f64) -> bool {
    let start = f32::from_bits(coefficients[0]) as f64;
    let (mut least, mut most) = (start, start);
    let mut i = 1;
    while i < coefficients.len() {
        let addend = f32::from_bits(coefficients[i]) as f64;
        // Of the exponent alone.
        let power = f32::from_bits(coefficients[i] & 0x7f80_0000) as f64;
        let corners = [least * low, least * high, most * low, most * high];
        (least, most) = (corners[0], corners[0]);
        let mut corner = 1;
        while corner < corners.len() {
            least = least.min(corners[corner]);
            most = most.max(corners[corner]);
            corner += 1;
        }
        let slack = (most - least + least.abs() + addend.abs()) * SLACK;
        (least, most) = (least + addend - slack, most + addend + slack);
        let (smallest, largest) = if addend > 0.0 { (least, most) } else { (-most, -least) };
        if power < SMALLEST || smallest < power / 2.0 || largest > power * 3.0 {
            return false;
        }
        i += 1;
    }
    true
}

/// Which sums of a polynomial may exceed three times the power of two of the added coefficient, for arguments from zero
/// up to a bound.
#[derive(Clone, Copy)]
pub struct Growth {
    pub(in crate::sfpu::exec) largest: f32,
    /// A bit for each coefficient that is added in a step that may not be ordinary.
    pub(in crate::sfpu::exec) grown: u32,
}

impl Growth {
    /// Of a polynomial all of whose steps are ordinary, or lead to less than eight times the coefficient's power of
    /// two, with its sign, or to more if the coefficient is short.
    ///
    /// # Panics
    /// If it is another one, which means at compile time.
    pub(in crate::sfpu::exec) const fn new(coefficients: &[u32], largest: f32) -> Self {
        let start = f32::from_bits(coefficients[0]) as f64;
        let (mut least, mut most, mut grown) = (start, start, 0);
        let mut i = 1;
        while i < coefficients.len() {
            let addend = f32::from_bits(coefficients[i]) as f64;
            let power = f32::from_bits(coefficients[i] & 0x7f80_0000) as f64;
            let slack = addend.abs() * 10.0 * SLACK;
            (least, most) = (least.min(0.0) * largest as f64, most.max(0.0) * largest as f64);
            (least, most) = (least + addend - slack, most + addend + slack);
            let (smallest, largest) = if addend > 0.0 { (least, most) } else { (-most, -least) };
            // As many times more as the coefficient has zeros at its end.
            let zeros = coefficients[i].trailing_zeros();
            let zeros = if zeros > 20 { 20 } else { zeros };
            let limit = power * 8.0 * (1 << zeros) as f64;
            assert!(power > SMALLEST && smallest > power / 2.0 && largest < limit);
            if largest > power * 3.0 {
                grown |= 1 << i;
            }
            i += 1;
        }
        assert!(largest < 256.0);
        Self { largest, grown }
    }

    /// Of either of two polynomials.
    pub(in crate::sfpu::exec) const fn or(self, other: Self) -> Self {
        let largest = if self.largest < other.largest { self.largest } else { other.largest };
        Self { largest, grown: self.grown | other.grown }
    }
}
