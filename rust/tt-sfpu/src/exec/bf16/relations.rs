//! Comparisons, maximum, minimum and choice in lanes of 16 bits.
//!
//! Their definitions are in `relations.rs`, `binary.rs` and `ternary.rs` beside this folder.
//!
//! Zeros and denormals come into `Dst` as +0, so that only NaN keeps the order of words from being that of numbers.
//! Where a word is passed on, NaN is left to the definition: the packer would change it.

use tt_cpu::simd_kernel;

use super::lanes::Fallbacks;
use super::{INFINITY, SIGN, datums, flushed};
use tt_tensix::regs::Bf16Page;
use tt_tensix::regs::HalfTile;

const ONE: u16 = 127 << 7;

#[inline(always)]
fn is_nan(half: u16) -> bool {
    half & !SIGN > INFINITY
}

/// The place of a word in the total order of words.
#[inline(always)]
fn order(half: u16) -> i16 {
    (if half & SIGN == 0 { half } else { half ^ !SIGN }) as i16
}

/// Whether words that are numbers stand in a relation.
trait Relation {
    fn holds(a: u16, b: u16) -> bool;
    /// The answer if one is NaN.
    const OF_NAN: u16 = 0;
}

macro_rules! relations {
    ($($name:ident $relation:ident $($of_nan:ident)?: |$a:ident, $b:ident| $holds:expr;)+) => { $(
        struct $relation;

        impl Relation for $relation {
            #[inline(always)]
            fn holds($a: u16, $b: u16) -> bool {
                $holds
            }
            $(const OF_NAN: u16 = $of_nan;)?
        }

        simd_kernel!($name, super::compare::<super::$relation>, (dst: &mut HalfTile, pages: [&Bf16Page; 2], parameters: &[u32], fallbacks: &mut Fallbacks) -> bool);
    )+ };
}

relations! {
    eq Equal: |a, b| a == b;
    ne Unequal ONE: |a, b| a != b;
    lt Less: |a, b| order(a) < order(b);
    gt Greater: |a, b| order(a) > order(b);
    le LessOrEqual: |a, b| order(a) <= order(b);
    ge GreaterOrEqual: |a, b| order(a) >= order(b);
}

#[inline(always)]
fn compare<R: Relation>(dst: &mut HalfTile, [a, b]: [&Bf16Page; 2], _: &[u32], _: &mut Fallbacks) -> bool {
    for ((dst, a), b) in dst.iter_mut().zip(datums(a)).zip(datums(b)) {
        let (a, b) = (flushed(*a), flushed(*b));
        let answer = if R::holds(a, b) { ONE } else { 0 };
        *dst = if is_nan(a) | is_nan(b) { R::OF_NAN } else { answer };
    }
    true
}

#[inline(always)]
fn extreme<R: Relation>(dst: &mut HalfTile, [a, b]: [&Bf16Page; 2], _: &[u32], _: &mut Fallbacks) -> bool {
    let mut most = 0;
    for ((dst, a), b) in dst.iter_mut().zip(datums(a)).zip(datums(b)) {
        let (a, b) = (flushed(*a), flushed(*b));
        most = (a & !SIGN).max(b & !SIGN).max(most);
        *dst = if R::holds(a, b) { a } else { b };
    }
    most <= INFINITY
}

simd_kernel!(larger, super::extreme::<super::Greater>, (dst: &mut HalfTile, pages: [&Bf16Page; 2], parameters: &[u32], fallbacks: &mut Fallbacks) -> bool);
simd_kernel!(smaller, super::extreme::<super::Less>, (dst: &mut HalfTile, pages: [&Bf16Page; 2], parameters: &[u32], fallbacks: &mut Fallbacks) -> bool);

#[inline(always)]
fn choose_body(dst: &mut HalfTile, [condition, yes, no]: [&Bf16Page; 3], _: &[u32], _: &mut Fallbacks) -> bool {
    let mut most = 0;
    for (((dst, condition), yes), no) in dst.iter_mut().zip(datums(condition)).zip(datums(yes)).zip(datums(no)) {
        // By a mask: of a choice the compiler makes one between two addresses.
        let mask = u16::from(flushed(*condition) == 0).wrapping_neg();
        let chosen = flushed(*no) & mask | flushed(*yes) & !mask;
        most = (chosen & !SIGN).max(most);
        *dst = chosen;
    }
    most <= INFINITY
}

simd_kernel!(choose, super::choose_body, (dst: &mut HalfTile, pages: [&Bf16Page; 3], parameters: &[u32], fallbacks: &mut Fallbacks) -> bool);
