//! Comparisons with zero of a 16-bit `Dst`, answered by 1.0 or 0.
//!
//! Their definitions are in `compare.rs`.

use tt_cpu::{Level, simd_kernel};

use super::{INFINITY, SIGN};
use tt_tensix::regs::Bf16Page;
use tt_tensix::regs::HalfTile;

const ONE: u16 = 127 << 7;

/// A comparison with zero by its answers per class.
///
/// For negative numbers, zero, positive ones and NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZeroTest([u16; 4]);

impl ZeroTest {
    /// The comparison that is true of these classes.
    pub(crate) const fn new(negative: bool, zero: bool, positive: bool, nan: bool) -> Self {
        const fn answer(truth: bool) -> u16 {
            if truth { ONE } else { 0 }
        }
        Self([answer(negative), answer(zero), answer(positive), answer(nan)])
    }

    /// Replaces the halves of a tile in `Dst`.
    pub fn apply(self, level: Level, dst: &mut HalfTile) {
        let [negative, zero, positive, nan] = self.0;
        answers::run(level, negative, zero, positive, nan, dst);
    }

    /// The answers for a page as it comes into `Dst`.
    pub fn apply_to_page(self, level: Level, page: &Bf16Page, dst: &mut HalfTile) {
        let [negative, zero, positive, nan] = self.0;
        page_answers::run(level, negative, zero, positive, nan, page, dst);
    }
}

/// The answers one by one: of an array the compiler would choose an address.
#[inline(always)]
fn answer(negative: u16, zero: u16, positive: u16, nan: u16, half: u16) -> u16 {
    let magnitude = half & !SIGN;
    let number = if half & SIGN == 0 { positive } else { negative };
    let known = if magnitude > INFINITY { nan } else { number };
    if magnitude == 0 { zero } else { known }
}

#[inline(always)]
fn answers_body(negative: u16, zero: u16, positive: u16, nan: u16, dst: &mut HalfTile) {
    for half in dst {
        *half = answer(negative, zero, positive, nan, *half);
    }
}

#[inline(always)]
fn page_answers_body(negative: u16, zero: u16, positive: u16, nan: u16, page: &Bf16Page, dst: &mut HalfTile) {
    for (half, datum) in dst.iter_mut().zip(super::datums(page)) {
        *half = answer(negative, zero, positive, nan, super::flushed(*datum));
    }
}

simd_kernel!(answers, super::answers_body, (negative: u16, zero: u16, positive: u16, nan: u16, dst: &mut HalfTile));
simd_kernel!(page_answers, super::page_answers_body, (negative: u16, zero: u16, positive: u16, nan: u16, page: &Bf16Page, dst: &mut HalfTile));
