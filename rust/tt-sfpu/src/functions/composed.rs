//! Operators that the chip makes of several functions in `Dst`.
//!
//! `lgamma`, the second half of `logit`, and `log_sigmoid`.
//!
//! Source: the public compute kernels of the three operators (which functions, in which order); the listings of those
//! functions. Every step stores to `Dst`, which cuts or rounds as that function does.

use std::sync::LazyLock;

use tt_cpu::table::HalfTable;
use tt_formats::Blackhole;

use super::binary::{div_16, mul_16};
use super::blocks::Blocks;
use super::log::{SERIES_16, SERIES_32, flushed};
use super::relations::is_number_equal;
use super::rounding::{floor, trunc};
use super::scalar::rsub;
use super::trigonometry::{SINE_16, SINE_32};
use crate::arith::lane::{
    HALF, INFINITY, ONE, Word, ZERO, exp_unbiased, fabs, flipsign, ieq, is_zero, less, man_only, mul, polynomial,
    round_bf16_even, select, splat, store_bf16, store_f32, store_rounded, sub,
};
use crate::exec::bf16::{Bf16, tables};
use crate::exec::binary_functions;
use crate::exec::functions;

/// pi, and what a 16-bit `Dst` keeps of it.
const PI: u32 = 0x4049_0fdb;
const PI_16: u32 = 0x4049_0000;
/// ln pi
const LN_PI: u32 = 0x3f92_8682;

#[inline(always)]
fn log_16<V: Blocks>(x: V) -> V {
    store_rounded(flushed(x).natural(SERIES_16, None))
}

#[inline(always)]
fn log_32<V: Blocks>(x: V) -> V {
    store_f32(flushed(x).natural(SERIES_32, None))
}

/// `sine`, or 0 at integers.
#[inline(always)]
fn zero_at_integers<V: Blocks>(x: V, whole: V, sine: V) -> V {
    fabs(select(is_number_equal(x, whole), ZERO, sine))
}

/// ln |gamma(x)| of `at_z`, which is that of x, or below 1/2 that of 1 - x, by the reflection formula.
#[inline(always)]
fn reflected<V: Blocks>(x: V, at_z: V, log_sine: V) -> V {
    select(less(x, HALF), sub(sub(splat::<V>(LN_PI), log_sine), at_z), at_z)
}

#[inline(always)]
fn lgamma_16<V: Blocks>(x: V) -> V {
    let at_z = store_rounded(x.lgamma_stirling());
    let angle = mul_16(store_bf16(sub(x, trunc(x))), splat::<V>(PI_16));
    let sine = store_rounded(angle.sin(SINE_16));
    let log_sine = log_16(store_bf16(zero_at_integers(x, store_bf16(floor(x)), sine)));
    store_rounded(reflected(x, at_z, log_sine))
}

#[inline(always)]
fn lgamma_32<V: Blocks>(x: V) -> V {
    let at_z = store_f32(x.lgamma_stirling());
    let angle = store_f32(mul(store_f32(sub(x, trunc(x))), PI));
    let sine = store_f32(angle.sin(SINE_32));
    let log_sine = log_32(store_f32(zero_at_integers(x, store_f32(floor(x)), sine)));
    let infinite = ieq(exp_unbiased(x), 128) & is_zero(man_only(x));
    store_f32(select(infinite, INFINITY, reflected(x, at_z, log_sine)))
}

/// ln(x / (1 - x)).
#[inline(always)]
fn logit_16<V: Blocks>(x: V) -> V {
    log_16(div_16(x, store_bf16(round_bf16_even(rsub(x, ONE)))))
}

#[inline(always)]
fn logit_32<V: Blocks>(x: V) -> V {
    log_32(x.div_f32(store_f32(rsub(x, ONE))))
}

/// 4.0, and -4.0.
pub const LIMIT: u32 = 0x4080_0000;
pub const MINUS_LIMIT: u32 = 0xc080_0000;
/// Coefficients of ln(1 + e^y) between them.
pub const SOFTPLUS_SERIES: [u32; 9] = [
    0x33a0_fa4f,
    0x36f1_19ba,
    0x385f_1366,
    0xb996_f6be,
    0xbb58_cc3f,
    0x3b4b_d5db,
    0x3df8_ad0d,
    0x3efc_4aa8,
    0x3f31_4373,
];

/// -ln(1 + e^y) from y and its exponential: -e^y below -4, a polynomial up to 4, -y above.
#[inline(always)]
fn log_sigmoid<V: Blocks>(y: V, exponential: V) -> V {
    let middle = flipsign(polynomial(y, SOFTPLUS_SERIES));
    let above = select(less(y, LIMIT), middle, flipsign(y));
    select(less(y, MINUS_LIMIT), flipsign(exponential), above)
}

#[inline(always)]
pub fn log_sigmoid_16<V: Blocks>(y: V, exponential: V) -> V {
    store_bf16(log_sigmoid(y, exponential))
}

functions! {
    "lgamma", "default": lgamma_16, lgamma_32;
    "logit", "unclamped": logit_16, logit_32;
}

static FROM_MINUS_FOUR: LazyLock<HalfTable> = LazyLock::new(|| tables::table_of(|y| log_sigmoid_16(y, 0)));
static BLACKHOLE_FROM_MINUS_FOUR: LazyLock<HalfTable> =
    LazyLock::new(|| tables::table_of(|y| log_sigmoid_16(Word::<Blackhole>::from(y), 0.into()).bits));

binary_functions! {
    "log_sigmoid", "default" for Wormhole: log_sigmoid_16, |y, e| store_f32(log_sigmoid(y, e)),
        speculative = [
            |y, e| store_bf16(speculative::composed::log_sigmoid(y, e)),
            |y, e| store_f32(speculative::composed::log_sigmoid(y, e))
        ],
        bf16 = Bf16::packed(|level, dst, pages, _, _| tables::log_sigmoid(&FROM_MINUS_FOUR, level, dst, pages));
    "log_sigmoid", "default" for Blackhole: log_sigmoid_16, |y, e| store_f32(log_sigmoid(y, e)),
        bf16 on both = Bf16::packed(|level, dst, pages, _, _| {
            tables::log_sigmoid(&BLACKHOLE_FROM_MINUS_FOUR, level, dst, pages)
        });
}
