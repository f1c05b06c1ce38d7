//! Mantissa bits that each fidelity uses. Source: `docs/chip/numerics.md` section 4.
//!
//! With `A = A5 + a5` (the right operand, SrcA: five bits and the next five) and `B = B7 + b4` (the left one, SrcB:
//! seven bits and the last four), the phases are `A5 B7`, `a5 B7`, `A5 b4`, `a5 b4`. So LoFi is `A5 B7`, HiFi2 `A10 B7`
//! and HiFi4 `A10 B`, one product each; HiFi3 is `A10 B7 + A5 b4`, two products. Bit 0 of A is never used.

use tt_tensix::regs::MathFidelity;

use super::Side;

/// The bits of an FP32 pattern that take part in a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Sign, exponent and the mantissa bits of the mask.
    High(u32),
    /// What the mask clears, as a number of its own.
    Rest(u32),
}

/// Sign, exponent and `bits - 1` mantissa bits: the hidden bit counts.
const fn high(bits: u32) -> u32 {
    u32::MAX << (24 - bits)
}

/// The passes of a fidelity, at most two.
#[derive(Clone, Copy, Debug)]
pub struct FidelityMasks {
    left: [Keep; 2],
    right: [Keep; 2],
    passes: usize,
}

impl FidelityMasks {
    pub fn new(fidelity: MathFidelity) -> Self {
        let (left, right) = match fidelity {
            MathFidelity::LoFi => (7, 5),
            MathFidelity::HiFi2 | MathFidelity::HiFi3 => (7, 10),
            MathFidelity::HiFi4 => (11, 10),
        };
        let passes = if fidelity == MathFidelity::HiFi3 { 2 } else { 1 };
        Self {
            left: [Keep::High(high(left)), Keep::Rest(high(7))],
            right: [Keep::High(high(right)), Keep::High(high(5))],
            passes,
        }
    }

    pub fn passes(&self) -> usize {
        self.passes
    }

    pub fn keep(&self, side: Side, pass: usize) -> Keep {
        match side {
            Side::Left => self.left[pass],
            Side::Right => self.right[pass],
        }
    }
}

impl Keep {
    /// Applied to an FP32 pattern.
    ///
    /// A zero exponent is zero; infinity and NaN have no rest.
    #[inline(always)]
    pub fn fp32(self, word: u32) -> u32 {
        let exponent = word & 0x7f80_0000;
        match self {
            Self::High(mask) => {
                if exponent == 0 {
                    0
                } else {
                    word & mask
                }
            }
            Self::Rest(mask) => {
                let rest = (f32::from_bits(word) - f32::from_bits(word & mask)).to_bits();
                if exponent == 0 || exponent == 0x7f80_0000 || rest & 0x7f80_0000 == 0 { 0 } else { rest }
            }
        }
    }

    /// The mask for two BF16 patterns, if masking is enough.
    #[inline(always)]
    pub fn pair_mask(self) -> Option<u32> {
        match self {
            Self::High(mask) => Some(mask & 0xffff_0000 | mask >> 16),
            Self::Rest(_) => None,
        }
    }

    /// Applied to two BF16 patterns in a word.
    ///
    /// Zero exponents stay: the unit flushes them.
    #[inline(always)]
    pub fn bf16_pair(self, pair: u32) -> u32 {
        match self {
            Self::High(mask) => pair & (mask & 0xffff_0000 | mask >> 16),
            Self::Rest(_) => self.fp32(pair << 16) >> 16 | self.fp32(pair & 0xffff_0000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The phases as the FPU has them, on 11-bit significands.
    fn phases(fidelity: MathFidelity, a: u32, b: u32) -> u32 {
        (0..fidelity.phases())
            .map(|phase| {
                let part_a = if phase & 1 == 0 { (a >> 6) << 6 } else { (a >> 1 & 31) << 1 };
                let part_b = if phase & 2 == 0 { (b >> 4) << 4 } else { b & 15 };
                part_a * part_b
            })
            .sum()
    }

    #[test]
    fn passes_sum_to_the_phases_of_every_fidelity() {
        // Exponent 138 makes the 11-bit significand an integer.
        let number = |significand: u32| ((138 - 1) << 23) | ((significand & 1023) << 13);
        for fidelity in MathFidelity::ALL {
            let masks = FidelityMasks::new(fidelity);
            for a in (1024..2048).step_by(3) {
                for b in (1024..2048).step_by(7) {
                    let product: f32 = (0..masks.passes())
                        .map(|pass| {
                            let left = f32::from_bits(masks.keep(Side::Left, pass).fp32(number(b)));
                            left * f32::from_bits(masks.keep(Side::Right, pass).fp32(number(a)))
                        })
                        .sum();
                    assert_eq!(product as u32, phases(fidelity, a, b), "{fidelity:?} {a} {b}");
                }
            }
        }
    }

    #[test]
    fn pairs_are_masked_as_single_numbers() {
        for fidelity in MathFidelity::ALL {
            let masks = FidelityMasks::new(fidelity);
            for keep in [
                masks.keep(Side::Left, 0),
                masks.keep(Side::Right, 0),
                masks.keep(Side::Left, 1),
                masks.keep(Side::Right, 1),
            ] {
                // Normal numbers: the pair keeps zero exponents for the unit to flush.
                for word in (0x0080..=0xffffu32).filter(|word| word & 0x7f80 != 0) {
                    let expected = keep.fp32(word << 16);
                    assert_eq!(keep.bf16_pair(word), expected >> 16, "{word:04x}");
                    assert_eq!(keep.bf16_pair(word << 16), expected, "{word:04x}");
                }
            }
        }
    }
}
