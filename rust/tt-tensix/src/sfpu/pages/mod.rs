//! Functions of BF16 pages in a 16-bit `Dst`: from L1 bytes to halves in one pass, where the datums are usual ones.
//!
//! The definition of each is its lane program on the words that MOVA2D makes of the pages, which become halves once
//! more in the packer. Here pages stay what they are, with as many lanes to a vector as the steps allow.

mod arithmetic;
mod logarithmic;
mod modulo;
mod power;
mod relations;
mod sums;
mod tables;
#[cfg(test)]
mod tests;
mod tried;
mod zero;

use tt_cpu::{Level, simd_kernel};

use super::run::DstWidth;
use super::run_binary::{BinaryKernel, SeveralCall, TernaryKernel};
use crate::regs::HalfTile;
use crate::unpack::Bf16Page;
use crate::vector::has_registers;
use tried::{Doubts, word};

pub use zero::ZeroTest;

const SIGN: u16 = 1 << 15;
const INFINITY: u16 = 255 << 7;

/// Makes the result, but for what it leaves in doubt, or says that it cannot.
type Kernel<const N: usize> = fn(Level, &mut HalfTile, [&Bf16Page; N], &[u32], &mut Doubts) -> bool;

/// A function of `N` pages with its parameters.
#[derive(Clone, Copy)]
pub struct PageCall<const N: usize> {
    kernel: Kernel<N>,
    definition: Definition,
}

/// What a call is.
#[derive(Clone, Copy)]
enum Definition {
    OfTwo(SeveralCall<BinaryKernel>),
    OfThree(SeveralCall<TernaryKernel>),
}

impl PageCall<2> {
    /// What computes a call, if there is such a way.
    pub fn of(call: &SeveralCall<BinaryKernel>) -> Option<Self> {
        let kernel: Kernel<2> = match call.name() {
            "eq_binary" => relations::eq::run,
            "ne_binary" => relations::ne::run,
            "lt_binary" => relations::lt::run,
            "gt_binary" => relations::gt::run,
            "le_binary" => relations::le::run,
            "ge_binary" => relations::ge::run,
            "binary_max" => relations::larger::run,
            "binary_min" => relations::smaller::run,
            "add_binary" => arithmetic::sum::run,
            "sub_binary" => arithmetic::difference::run,
            "rsub_binary" => arithmetic::turned_difference::run,
            "mul_binary" => arithmetic::product::run,
            "isclose" => arithmetic::isclose::run,
            "fmod_binary" => modulo::fmod::run,
            "remainder_binary" => modulo::remainder::run,
            "power_binary" => power::power::run,
            "logaddexp" => logarithmic::logaddexp::run,
            "logaddexp2" => logarithmic::logaddexp2::run,
            "atan2" => logarithmic::atan2::run,
            "xlogy" => tables::xlogy,
            "log_sigmoid" => tables::log_sigmoid,
            _ => return None,
        };
        Some(Self { kernel, definition: Definition::OfTwo(*call) })
    }
}

impl PageCall<3> {
    /// What computes a call, if there is such a way.
    pub fn of(call: &SeveralCall<TernaryKernel>) -> Option<Self> {
        let kernel: Kernel<3> = match call.name() {
            "where" => relations::choose::run,
            "mac" => sums::mac::run,
            "addcmul" => sums::addcmul::run,
            "addcdiv" => sums::addcdiv::run,
            "lerp" => sums::lerp::run,
            _ => return None,
        };
        Some(Self { kernel, definition: Definition::OfThree(*call) })
    }
}

impl<const N: usize> PageCall<N> {
    /// Computes a tile. False if the level has no vectors, or the datums are not usual ones; `dst` is then meaningless.
    /// Otherwise the packer leaves the results as they are in BF16.
    #[must_use]
    pub fn run(&self, level: Level, dst: &mut HalfTile, pages: [&Bf16Page; N]) -> bool {
        let mut doubts = Doubts::NONE;
        let parameters = match &self.definition {
            Definition::OfTwo(call) => call.parameters(),
            Definition::OfThree(call) => call.parameters(),
        };
        if !has_registers(level) || !(self.kernel)(level, dst, pages, &parameters, &mut doubts) {
            return false;
        }
        if !doubts.places().is_empty() {
            self.settle(level, dst, pages, doubts.places());
        }
        true
    }

    /// Computes the results at some places as they are defined.
    #[inline(never)]
    fn settle(&self, level: Level, dst: &mut HalfTile, pages: [&Bf16Page; N], places: &[u16]) {
        let words = pages.map(|page| places.iter().map(|&place| word(datums(page)[usize::from(place)])).collect());
        let [mut result, second, third]: [Vec<u32>; 3] = {
            let mut words = words.into_iter();
            std::array::from_fn(|_| words.next().unwrap_or_default())
        };
        match &self.definition {
            Definition::OfTwo(call) => call.run(&mut result, &second, DstWidth::Bits16, level),
            Definition::OfThree(call) => call.run(&mut result, &second, &third, DstWidth::Bits16, level),
        }
        for (&place, word) in places.iter().zip(result) {
            dst[usize::from(place)] = (word >> 16) as u16;
        }
    }
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

/// Brings a page to halves of `Dst`, as MOVA2D does.
pub fn enter(level: Level, page: &Bf16Page, dst: &mut HalfTile) {
    entered::run(level, page, dst);
}

#[inline(always)]
fn enter_body(page: &Bf16Page, dst: &mut HalfTile) {
    for (half, datum) in dst.iter_mut().zip(datums(page)) {
        *half = flushed(*datum);
    }
}

/// Turns the signs of halves in `Dst`, as `neg` does; a negative zero, which that makes too, is the packer's to see to.
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
