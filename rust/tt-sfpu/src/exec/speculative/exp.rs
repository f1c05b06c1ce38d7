//! The speculative programs of `functions/exp.rs`.

use super::Speculative;
use super::blocks::LARGEST_REST;
use super::interval::Plan;
use crate::arith::lane::{
    HALF, MINUS_ONE, ROUNDER, add, iadd, ieq, is_zero, max, min, select, shl, splat, store_f32, sub,
};
use crate::functions::blocks::{INVERSE_LN2, LN2_PARTS};
use crate::functions::exp::{self, EXP2_LAST, EXP2_TAIL, EXPM1_SERIES, OFFSET, SLOPE, limit_expm1, of_fixed};

/// 96.0, and -64.0
const LARGEST: u32 = 0x42c0_0000;
const LOWEST: u32 = 0xc280_0000;

/// Most arguments are far from the clamp, or at it.
///
/// Far from it the offset outweighs the product; masked scores are at it: there the integer is 185, and the number of
/// which that is the upper word is a denormal.
#[inline(always)]
pub fn clampneg_32<S: Speculative>(x: S) -> S {
    let x = max(x, exp::LOWEST);
    let lowest = ieq(x, exp::LOWEST);
    let number = of_fixed(select(lowest, 0, x).fma(splat(SLOPE), splat(OFFSET)));
    store_f32(select(lowest, 0, number))
}

#[inline(always)]
pub fn exp2_32<S: Speculative>(x: S) -> S {
    const SERIES: [u32; 7] = {
        let ([a, b, c, d], [e, f, g]) = (EXP2_TAIL, EXP2_LAST);
        [a, b, c, d, e, f, g]
    };
    const PLAN: Plan = Plan::new(&SERIES, -0.501, 0.501);
    let (rest, power) = x.reduce_by_one();
    store_f32(S::from(SERIES[0]).horner_planned(rest, &SERIES[1..], PLAN).scale_exp(power))
}

/// Beyond the clamp the result is infinity, or -1.
///
/// Within, the multiple of the first part of ln 2 has 23 bits, its sum with the argument is exact, and at most 0.36 is
/// left; e^r - 1 is between 0.8 r and 1.2 r. A product that is small beside what is added to it leaves no trace.
#[inline(always)]
pub fn expm1_32<S: Speculative>(x: S) -> S {
    const PLAN: Plan = Plan::new(&EXPM1_SERIES, -LARGEST_REST, LARGEST_REST);
    let x = min(max(x.expect_number(), LOWEST), LARGEST);
    let rounded = x.host_fma(splat(INVERSE_LN2), splat(ROUNDER)).assume(22, 24);
    let turns = sub(rounded, ROUNDER);
    let single = add(turns, MINUS_ONE);
    let rest = turns.fma_small(splat(LN2_PARTS[1]), turns.host_fma_reduction(LN2_PARTS[0], x));
    let series = S::from(EXPM1_SERIES[0]).horner_planned(rest, &EXPM1_SERIES[1..], PLAN);
    let linear = select(is_zero(single), add(rest, HALF), rest);
    let small = series.host_fma(rest.mul_unflushed(rest), linear);
    let scale = iadd(shl(rounded, 23), HALF).assume(-126, 128);
    let offset = sub(scale, HALF).assume(-3, 128);
    let residue = sub(sub(scale, offset), HALF);
    let sum = add(small.host_fma_unbounded(scale, residue).assume(-126, 128), offset);
    let half = select(is_zero(turns) | is_zero(single), small, sum);
    store_f32(limit_expm1(half, turns, add(single, MINUS_ONE)))
}
