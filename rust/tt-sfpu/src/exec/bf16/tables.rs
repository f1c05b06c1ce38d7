//! Functions of two pages by a table and a short step.
//!
//! The table is of one operand, the step with the other: `xlogy` and `log_sigmoid`.
//!
//! `xlogy` multiplies by a logarithm that has passed through `Dst`: the product of two numbers of 8 bits is exact, and
//! then cut. `log_sigmoid` asks for its exponential only below -4. The entry of the function holds its table.

use tt_cpu::table::{HalfTable, PATTERNS, Store};
use tt_cpu::{Level, simd_kernel};

use super::arithmetic::truncated;
use super::lanes::{self, Fallbacks, Lane};
use super::{INFINITY, SIGN, datums, flushed};
use tt_tensix::regs::Bf16Page;
use tt_tensix::regs::HalfTile;

/// -4.0.
const MINUS_FOUR: u16 = 0xc080;

/// What a function makes of every pattern that comes into `Dst`.
pub(crate) fn table_of(function: fn(u32) -> u32) -> HalfTable {
    let patterns = (0..PATTERNS).map(|half| u32::from(flushed((half as u16).to_le_bytes())) << 16);
    patterns.map(|word| (function(word) >> 16) as u16).collect()
}

/// A product, cut.
struct Cut;

impl Lane<2> for Cut {
    const WINDOW: [u16; 2] = [64, 189];
    const FALLS_BACK: bool = false;
    #[inline(always)]
    fn compute([a, b]: [f32; 2], _: [f32; 2]) -> (u16, u16) {
        (if a == 0.0 || b == 0.0 { 0 } else { truncated(a * b) }, 0)
    }
}

lanes::lane_kernel!(cut, Cut, 2);

/// Logarithms that are no numbers, of zeros and of what is below, are outside of the window.
pub(crate) fn xlogy(
    logarithms: &HalfTable,
    level: Level,
    dst: &mut HalfTile,
    [a, b]: [&Bf16Page; 2],
    parameters: &[u32],
    fallbacks: &mut Fallbacks,
) -> bool {
    let mut logarithm: Bf16Page = [0; 2048];
    logarithms.look_up(level, b, &mut logarithm, Store::Near);
    cut::run(level, dst, [a, &logarithm], parameters, fallbacks)
}

/// The table holds the function from -4 on.
pub(crate) fn log_sigmoid(
    from_minus_four: &HalfTable,
    level: Level,
    dst: &mut HalfTile,
    [number, exponential]: [&Bf16Page; 2],
) -> bool {
    let mut others: Bf16Page = [0; 2048];
    from_minus_four.look_up(level, number, &mut others, Store::Near);
    chosen::run(level, dst, [number, exponential, &others])
}

/// Words of negative numbers grow away from zero. False if the packer would change a result: a NaN or a negative zero.
#[inline(always)]
#[allow(clippy::needless_bitwise_bool, reason = "lanes have no branches")]
fn chosen_body(dst: &mut HalfTile, [number, exponential, others]: [&Bf16Page; 3]) -> bool {
    let mut odd = 0;
    for (((dst, number), exponential), other) in
        dst.iter_mut().zip(datums(number)).zip(datums(exponential)).zip(datums(others))
    {
        let (number, exponential, other) = (flushed(*number), flushed(*exponential), u16::from_le_bytes(*other));
        let mask = u16::from(number > MINUS_FOUR).wrapping_neg();
        let result = (exponential ^ SIGN) & mask | other & !mask;
        odd |= u16::from((result & !SIGN > INFINITY) | (result == SIGN) | (number & !SIGN > INFINITY));
        *dst = result;
    }
    odd == 0
}

simd_kernel!(chosen, super::chosen_body, (dst: &mut HalfTile, pages: [&Bf16Page; 3]) -> bool);
