//! Element-wise operations on vectors of datums.

use crate::combine::Rules;
use tt_cpu::Level;

use super::super::combine::lanes::{by_mode, combine_one, finish_units};
use super::super::operand::{Phase, mask};
use super::super::{Dst, MathConfig, Src};
use crate::EltwiseOp;
use tt_cpu::vector::{Vector, vector_kernel};
use tt_tensix::regs::{DstFormat, TILE_DATUMS};

/// Most lanes that a vector has.
const MOST_LANES: usize = 16;
/// The bits of a word that the odd phases take from `SrcA`, and the last two from `SrcB`.
const LOW_A: u32 = 31 << 1;
const LOW_B: u32 = 15;

/// What one call computes, besides its operands.
#[derive(Clone, Copy)]
struct Job<'a> {
    cfg: &'a MathConfig,
    op: EltwiseOp,
    accumulate: bool,
}

/// Applies `op` datum by datum. The operands are floats.
pub(super) fn eltwise(
    level: Level,
    cfg: &MathConfig,
    op: EltwiseOp,
    accumulate: bool,
    dst: &mut Dst,
    a: &Src,
    b: &Src,
) {
    tile_kernel::run(level, &Job { cfg, op, accumulate }, dst, a, b);
}

vector_kernel!(tile_kernel, tile_body, (job: &Job<'_>, dst: &mut Dst, a: &Src, b: &Src));

#[inline(always)]
fn tile_body<V: Vector>(job: &Job<'_>, dst: &mut Dst, a: &Src, b: &Src) {
    by_mode!(job.cfg.mode(), with_mode::<V>(job, dst, a, b));
}

#[inline(always)]
fn with_mode<V: Vector, const DST32: bool, const E8: bool, G: Rules>(job: &Job<'_>, dst: &mut Dst, a: &Src, b: &Src) {
    let mask_a = V::splat(mask(job.cfg.alu) as i32);
    match (job.op, job.accumulate) {
        (EltwiseOp::Mul, accumulate) => {
            let adjusts: [i32; 4] = std::array::from_fn(|number| Phase::new(job.cfg.mode(), number as u32).adjust);
            let (reach_a, reach_b) = (reach::<V, E8>(a, mask_a), reach::<V, E8>(b, V::splat(-1)));
            let (numbers, count) = phases::<DST32, E8>(job, &adjusts, &reach_a, &reach_b);
            for at in (0..TILE_DATUMS).step_by(V::LANES) {
                let factors = Factors::<V>::new::<E8>(V::and(V::load(&a[at..]), mask_a), V::load(&b[at..]));
                let mut sum = V::load(&dst[at..]);
                for &number in &numbers[..count] {
                    let term = factors.term(number, adjusts[number]);
                    sum = if number == 0 && !accumulate {
                        finish_units::<V, DST32, E8>(term.0, term.1)
                    } else {
                        combine_one::<V, DST32, E8, G>(term, sum)
                    };
                }
                V::store(sum, &mut dst[at..]);
            }
        }
        (op, accumulate) => {
            let flip = V::splat(if op == EltwiseOp::Sub { 1 << 18 } else { 0 });
            for at in (0..TILE_DATUMS).step_by(V::LANES) {
                let x = V::and(V::load(&a[at..]), mask_a);
                let y = V::xor(V::load(&b[at..]), flip);
                let term = sum_term::<V, DST32, E8>(x, y);
                let sum = if accumulate {
                    combine_one::<V, DST32, E8, G>(term, V::load(&dst[at..]))
                } else {
                    finish_units::<V, DST32, E8>(term.0, term.1)
                };
                V::store(sum, &mut dst[at..]);
            }
        }
    }
}

/// Which bits the words of a tile have, and their largest exponent.
#[derive(Clone, Copy)]
struct Reach {
    bits: u32,
    exponent: i32,
}

#[inline(always)]
fn reach<V: Vector, const E8: bool>(tile: &Src, mask: V::Int) -> Reach {
    let (mut bits, mut largest) = (V::splat(0), V::splat(0));
    for at in (0..TILE_DATUMS).step_by(V::LANES) {
        let word = V::and(V::load(&tile[at..]), mask);
        bits = V::or(bits, word);
        largest = V::max(largest, exponents::<V, E8>(word));
    }
    let (mut every_bit, mut every_exponent) = ([0; MOST_LANES], [0; MOST_LANES]);
    V::store(bits, &mut every_bit);
    V::store(largest, &mut every_exponent);
    Reach {
        bits: every_bit.iter().fold(0, |all, bits| all | bits),
        exponent: every_exponent.iter().fold(0, |most, exponent| most.max(*exponent)) as i32,
    }
}

/// The phases that a product of two tiles needs, and how many they are.
///
/// Short formats leave the lower part of an operand empty. A product of zero on a grid below that of Dst changes
/// nothing in Dst, and Dst has at least the exponent of the first phase; unless that one was cut to the largest there
/// is.
#[inline(always)]
fn phases<const DST32: bool, const E8: bool>(
    job: &Job<'_>,
    adjusts: &[i32; 4],
    a: &Reach,
    b: &Reach,
) -> ([usize; 4], usize) {
    let asked = job.cfg.fidelity.phases() as usize;
    if job.accumulate || asked == 1 {
        return ([0, 1, 2, 3], asked);
    }
    let largest = if DST32 || E8 { 255 } else { 31 };
    let (mut numbers, mut count) = ([0; 4], 0);
    for (number, &adjust) in adjusts[..asked].iter().enumerate() {
        let empty = number & 1 == 1 && a.bits & LOW_A == 0 || number >> 1 == 1 && b.bits & LOW_B == 0;
        if number == 0 || !empty || a.exponent + b.exponent + adjust > largest {
            numbers[count] = number;
            count += 1;
        }
    }
    (numbers, count)
}

/// Biased exponents of Src words.
#[inline(always)]
fn exponents<V: Vector, const E8: bool>(words: V::Int) -> V::Int {
    V::and(V::shr::<10>(words), V::splat(if E8 { 255 } else { 31 }))
}

/// All ones in the lanes of negative words.
#[inline(always)]
fn signs<V: Vector>(words: V::Int) -> V::Int {
    V::sar::<31>(V::shl::<13>(words))
}

#[inline(always)]
fn with_sign<V: Vector>(magnitude: V::Int, sign: V::Int) -> V::Int {
    V::sub(V::xor(magnitude, sign), sign)
}

/// An operand's significand, rounded to the grid of exponent `x`, ties away from zero.
#[inline(always)]
fn aligned<V: Vector>(word: V::Int, exponent: V::Int, x: V::Int) -> V::Int {
    let doubled = V::or(V::and(V::shl::<1>(word), V::splat(2046)), V::splat(2048));
    let doubled = V::keep(V::greater(exponent, V::splat(0)), doubled);
    let shifted = V::shr_by(doubled, V::sub(x, exponent));
    with_sign::<V>(V::shr::<1>(V::add(shifted, V::splat(1))), signs::<V>(word))
}

/// Both operands on the 11-bit grid of the larger exponent. The operand that has it is not changed by that, so it need
/// not be known which one it is.
#[inline(always)]
fn sum_term<V: Vector, const DST32: bool, const E8: bool>(a: V::Int, b: V::Int) -> (V::Int, V::Int) {
    let (exponent_a, exponent_b) = (exponents::<V, E8>(a), exponents::<V, E8>(b));
    let largest = V::max(exponent_a, exponent_b);
    let sum = V::add(aligned::<V>(a, exponent_a, largest), aligned::<V>(b, exponent_b, largest));
    if E8 || !DST32 {
        return (sum, largest);
    }
    // In a 32-bit Dst FP16 counts with the bias of FP32, and a zero has an exponent of its own.
    let zero = V::greater(V::splat(1), largest);
    (sum, V::select(zero, V::splat(97), V::add(largest, V::splat(112))))
}

/// Two factors taken apart.
struct Factors<V: Vector> {
    /// Parts of `SrcA`, with the sign of the product.
    parts_a: [V::Int; 2],
    parts_b: [V::Int; 2],
    /// Sum of the exponents; far below zero if a factor is zero.
    exponent: V::Int,
}

impl<V: Vector> Factors<V> {
    #[inline(always)]
    fn new<const E8: bool>(a: V::Int, b: V::Int) -> Self {
        let (exponent_a, exponent_b) = (exponents::<V, E8>(a), exponents::<V, E8>(b));
        let zero = V::splat(0);
        let live = V::both(V::greater(exponent_a, zero), V::greater(exponent_b, zero));
        let sign = signs::<V>(V::xor(a, b));
        let high_a = V::or(V::and(V::shr::<6>(a), V::splat(15)), V::splat(16));
        let low_a = V::and(V::shr::<1>(a), V::splat(31));
        let high_b = V::or(V::and(V::shr::<4>(b), V::splat(63)), V::splat(64));
        let low_b = V::shl::<3>(V::and(b, V::splat(15)));
        Self {
            parts_a: [with_sign::<V>(high_a, sign), with_sign::<V>(low_a, sign)],
            parts_b: [high_b, low_b],
            exponent: V::select(live, V::add(exponent_a, exponent_b), V::splat(-8192)),
        }
    }

    /// The product of one phase. Below the smallest exponent it is dropped, and a zero takes part with its exponent.
    #[inline(always)]
    fn term(&self, number: usize, adjust: i32) -> (V::Int, V::Int) {
        let product = V::mul_small(self.parts_a[number & 1], self.parts_b[number >> 1]);
        let exponent = V::add(self.exponent, V::splat(adjust));
        let live = V::greater(exponent, V::splat(0));
        (V::keep(live, product), V::max(exponent, V::splat(adjust.max(0))))
    }
}

/// `ELWADD(word, 0)` into an empty `Dst`, for all of a tile.
pub(crate) fn add_zero(level: Level, cfg: &MathConfig, dst: &mut Dst, a: &Src) {
    debug_assert_eq!(cfg.dst, DstFormat::Fp32);
    zero_kernel::run(level, cfg, dst, a);
}

vector_kernel!(zero_kernel, zero_body, (cfg: &MathConfig, dst: &mut Dst, a: &Src));

#[inline(always)]
fn zero_body<V: Vector>(cfg: &MathConfig, dst: &mut Dst, a: &Src) {
    if cfg.mode().e8 { zeros::<V, true>(cfg, dst, a) } else { zeros::<V, false>(cfg, dst, a) }
}

/// Nothing is rounded: datums keep their bits, but zeros lose their sign and the largest exponent means infinity.
#[inline(always)]
fn zeros<V: Vector, const E8: bool>(cfg: &MathConfig, dst: &mut Dst, a: &Src) {
    let mask = V::splat(mask(cfg.alu) as i32);
    for at in (0..TILE_DATUMS).step_by(V::LANES) {
        let word = V::and(V::load(&a[at..]), mask);
        let exponent = exponents::<V, E8>(word);
        let biased = if E8 { exponent } else { V::add(exponent, V::splat(112)) };
        let magnitude = V::or(V::shl::<23>(biased), V::shl::<13>(V::and(word, V::splat(1023))));
        let limited = V::min_unsigned(magnitude, V::splat(255 << 23));
        let signed = V::or(limited, V::and(V::shl::<13>(word), V::splat(i32::MIN)));
        V::store(V::keep(V::greater(exponent, V::splat(0)), signed), &mut dst[at..]);
    }
}
