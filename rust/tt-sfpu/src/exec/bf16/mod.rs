//! Kernels on BF16 pages in a 16-bit `Dst`.
//!
//! From L1 bytes to halves in one pass, where the exponents are in range.
//!
//! The definition of each is its lane program on the words that MOVA2D makes of the pages, which become halves once
//! more in the packer. Here pages stay what they are, with as many lanes to a vector as the steps allow. An entry of a
//! function names its kernel.

pub(crate) mod arithmetic;
mod compare;
mod lanes;
pub(crate) mod logarithmic;
pub(crate) mod modulo;
pub(crate) mod power;
pub(crate) mod quotient;
pub(crate) mod relations;
pub(crate) mod sums;
pub(crate) mod tables;

use tt_cpu::{Level, simd_kernel};

pub(crate) use lanes::Fallbacks;
use lanes::word;
use tt_cpu::vector::has_registers;
use tt_tensix::regs::Bf16Page;
use tt_tensix::regs::HalfTile;

pub use compare::ZeroTest;

const SIGN: u16 = 1 << 15;
const INFINITY: u16 = 255 << 7;

/// Makes the result, but for places that fall back to the definition, or says that it cannot.
type Kernel<const N: usize> = fn(Level, &mut HalfTile, [&Bf16Page; N], &[u32], &mut Fallbacks) -> bool;

/// The kernel of a function of `N` pages.
#[derive(Clone, Copy, Debug)]
pub struct Bf16<const N: usize> {
    kernel: Kernel<N>,
    /// True if the packer keeps the results unchanged in BF16.
    pub is_packed: bool,
}

impl<const N: usize> Bf16<N> {
    /// A kernel whose results the packer leaves as they are.
    pub(crate) const fn packed(kernel: Kernel<N>) -> Self {
        Self { kernel, is_packed: true }
    }

    /// A kernel whose results may be NaN.
    pub(crate) const fn unpacked(kernel: Kernel<N>) -> Self {
        Self { kernel, is_packed: false }
    }

    pub(super) fn run(
        self,
        level: Level,
        dst: &mut HalfTile,
        pages: [&Bf16Page; N],
        parameters: &[u32],
        fallbacks: &mut Fallbacks,
    ) -> bool {
        has_registers(level) && (self.kernel)(level, dst, pages, parameters, fallbacks)
    }
}

/// A function of one datum that is a short step on halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bf16Step {
    /// A comparison with zero.
    Test(ZeroTest),
    /// Changes all signs. The packer makes zeros of negative ones.
    Negate,
}

impl Bf16Step {
    /// Replaces the halves of a tile in `Dst`.
    pub fn apply(self, level: Level, dst: &mut HalfTile) {
        match self {
            Self::Test(test) => test.apply(level, dst),
            Self::Negate => negate(level, dst),
        }
    }
}

/// The words of `Dst` at some places of a page.
pub(super) fn words_at(page: &Bf16Page, places: &[u16]) -> Vec<u32> {
    places.iter().map(|&place| word(datums(page)[usize::from(place)])).collect()
}

/// The datums of a page, little endian.
#[inline(always)]
fn datums(page: &Bf16Page) -> &[[u8; 2]] {
    page.as_chunks::<2>().0
}

/// A datum as it comes into `Dst`.
#[inline(always)]
fn flushed(datum: [u8; 2]) -> u16 {
    let half = u16::from_le_bytes(datum);
    if half & INFINITY == 0 { 0 } else { half }
}

/// Copies a page to halves of `Dst`, as MOVA2D does.
pub fn enter(level: Level, page: &Bf16Page, dst: &mut HalfTile) {
    entered::run(level, page, dst);
}

#[inline(always)]
fn enter_body(page: &Bf16Page, dst: &mut HalfTile) {
    for (half, datum) in dst.iter_mut().zip(datums(page)) {
        *half = flushed(*datum);
    }
}

/// Turns the signs of halves in `Dst`, as `neg` does.
///
/// A negative zero, which that makes too, is the packer's to see to.
pub fn negate(level: Level, dst: &mut HalfTile) {
    negated::run(level, dst);
}

#[inline(always)]
fn negate_body(dst: &mut HalfTile) {
    for half in dst {
        *half ^= SIGN;
    }
}

simd_kernel!(entered, super::enter_body, (page: &Bf16Page, dst: &mut HalfTile));
simd_kernel!(negated, super::negate_body, (dst: &mut HalfTile));
