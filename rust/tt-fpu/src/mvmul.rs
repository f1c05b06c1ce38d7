//! One element of the MVMUL and GAPOOL instructions.
//!
//! Sixteen products added to `Dst`. `docs/chip/numerics.md` section 6.

use super::MathConfig;
use super::combine::{Mode, Term, combine};
use super::operand::{Operand, Phase, mask};

/// Products per step; they are aligned and summed in two groups of eight.
pub(crate) const STEP: usize = 16;

/// Sums eight products on the grid of the largest exponent among them.
#[inline(always)]
fn group(phase: Phase, a: &[Operand], b: &[Operand]) -> Term {
    let mut exponents = [0i32; 8];
    let mut products = [0u32; 8];
    for k in 0..8 {
        let zero = a[k].exponent == 0 || b[k].exponent == 0;
        exponents[k] = if zero { phase.zero_exponent() } else { a[k].exponent + b[k].exponent + phase.adjust };
        products[k] = if zero { 0 } else { phase.part_a(a[k].significand) * phase.part_b(b[k].significand) };
    }
    let largest = exponents.iter().fold(i32::MIN, |largest, &e| largest.max(e));
    if largest <= 0 {
        return Term::NONE;
    }
    let mut sum = 0i32;
    for k in 0..8 {
        let shift = (largest - exponents[k]).min(30);
        let aligned = ((2 * products[k] + (1 << shift)) >> (shift + 1)) as i32;
        sum += if a[k].sign == b[k].sign { aligned } else { -aligned };
    }
    Term { significand: sum << 13, exponent: largest }
}

/// The step on decoded operands, `k` ascending.
#[inline(always)]
pub(crate) fn step(mode: Mode, phase: Phase, a: &[Operand; STEP], b: &[Operand; STEP], dst: u32) -> u32 {
    let terms = [group(phase, &a[..8], &b[..8]), group(phase, &a[8..], &b[8..])];
    combine(mode, terms, dst)
}

/// One output element of one phase (0 to 3) of MVMUL.
///
/// The new `Dst` word for a column of `SrcA` and a row of `SrcB`.
pub fn mvmul_element(cfg: &MathConfig, phase: u32, a: &[u32; STEP], b: &[u32; STEP], dst: u32) -> u32 {
    let mode = cfg.mode();
    let a = a.map(|word| Operand::decode(word & mask(cfg.alu), mode.e8));
    let b = b.map(|word| Operand::decode(word, mode.e8));
    step(mode, Phase::new(mode, phase), &a, &b, dst)
}
