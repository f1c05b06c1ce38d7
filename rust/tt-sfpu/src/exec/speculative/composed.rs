//! The speculative program of `functions/composed.rs`.

use super::Speculative;
use super::interval::Plan;
use crate::arith::lane::{flipsign, less, select};
use crate::functions::composed::{LIMIT, MINUS_LIMIT, SOFTPLUS_SERIES};

#[inline(always)]
pub fn log_sigmoid<S: Speculative>(y: S, exponential: S) -> S {
    const PLAN: Plan = Plan::new(&SOFTPLUS_SERIES, -4.0, 4.0);
    let series = S::from(SOFTPLUS_SERIES[0]);
    let middle = flipsign(series.horner_planned(y.expect_up_to(4.0), &SOFTPLUS_SERIES[1..], PLAN));
    let above = select(less(y, LIMIT), middle, flipsign(y));
    select(less(y, MINUS_LIMIT), flipsign(exponential), above)
}
