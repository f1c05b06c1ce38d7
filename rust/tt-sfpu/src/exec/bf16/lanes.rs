//! Lanes computed by the host's arithmetic, each with a fallback bit.
//!
//! What falls back is the definition's to compute.

use super::{INFINITY, datums, flushed};
use tt_tensix::regs::Bf16Page;
use tt_tensix::regs::{HalfTile, TILE_DATUMS};

/// Datums that are looked at together.
const CHUNK: usize = 64;
const _: () = assert!(TILE_DATUMS.is_multiple_of(CHUNK));
/// Results of a tile that may be left to the definition.
const MOST: usize = 128;

/// The places of a tile that fall back.
pub(crate) struct Fallbacks {
    places: [u16; MOST],
    count: usize,
}

impl Fallbacks {
    pub(in crate::exec) const NONE: Self = Self { places: [0; MOST], count: 0 };

    pub(in crate::exec) fn places(&self) -> &[u16] {
        &self.places[..self.count]
    }

    /// Adds those of a chunk; false if there are too many.
    #[inline(never)]
    fn keep(&mut self, first: usize, fallbacks: &[u16; CHUNK]) -> bool {
        for (place, _) in fallbacks.iter().enumerate().filter(|(_, fallback)| **fallback != 0) {
            let Some(kept) = self.places.get_mut(self.count) else { return false };
            *kept = (first + place) as u16;
            self.count += 1;
        }
        true
    }
}

/// A function of `N` datums with up to two parameters.
pub(super) trait Lane<const N: usize> {
    /// The exponents of operands and parameters that are not zero.
    const WINDOW: [u16; 2];
    /// Whether the last operand must not be zero.
    const DIVIDES: bool = false;
    /// Whether a lane may fall back.
    const FALLS_BACK: bool = true;

    /// Whether it is prepared for parameters in the window.
    #[inline(always)]
    fn takes(_parameters: [f32; 2]) -> bool {
        true
    }
    /// The result, and something other than zero if it may be wrong.
    fn compute(operands: [f32; N], parameters: [f32; 2]) -> (u16, u16);
}

/// From FP32 to BF16, ties away from zero.
#[inline(always)]
pub(super) fn round_away(number: f32) -> u16 {
    (number.to_bits().wrapping_add(0x8000) >> 16) as u16
}

/// From FP32 to BF16, ties to even.
#[inline(always)]
pub(super) fn round_even(number: f32) -> u16 {
    let word = number.to_bits();
    (word.wrapping_add(0x7fff + (word >> 16 & 1)) >> 16) as u16
}

/// The whole part of a number, 0 of what is not positive, and less than 2^31. The language's own conversion is none of
/// vectors.
#[inline(always)]
pub(super) fn whole(number: f32) -> i32 {
    const LARGEST: f32 = 2_147_483_520.0;
    let held = if number > 0.0 { number } else { 0.0 };
    let held = if held < LARGEST { held } else { LARGEST };
    // SAFETY: the number is in range, and no NaN, which is not above zero.
    unsafe { held.to_int_unchecked() }
}

/// Something if a half is neither in the window nor zero.
#[inline(always)]
#[allow(clippy::needless_bitwise_bool, reason = "lanes have no branches")]
fn outside(half: u16, [first, last]: [u16; 2]) -> u16 {
    let exponent = half & INFINITY;
    let off = exponent.wrapping_sub(first << 7) > (last - first) << 7;
    u16::from(off & (exponent != 0))
}

/// Whether all datums of a page are in the window, or zero where they may.
#[inline(always)]
#[allow(clippy::needless_bitwise_bool, reason = "as above")]
fn is_usual(page: &Bf16Page, window: [u16; 2], may_be_zero: bool) -> bool {
    let mut odd = 0;
    for datum in datums(page) {
        let half = u16::from_le_bytes(*datum);
        odd |= outside(half, window) | u16::from(!may_be_zero & (half & INFINITY == 0));
    }
    odd == 0
}

/// A datum as it comes into `Dst`.
#[inline(always)]
pub(super) fn word(datum: [u8; 2]) -> u32 {
    u32::from(flushed(datum)) << 16
}

// Loops, not closures: those would be compiled without the level's instructions.
#[inline(always)]
pub(super) fn compute<L: Lane<N>, const N: usize>(
    dst: &mut HalfTile,
    pages: [&Bf16Page; N],
    parameters: &[u32],
    fallbacks: &mut Fallbacks,
) -> bool {
    let mut words = [parameters[0], parameters[1]];
    for word in &mut words {
        if outside((*word >> 16) as u16, L::WINDOW) != 0 {
            return false;
        }
        // What has no exponent counts as zero.
        *word = if *word & u32::from(INFINITY) << 16 == 0 { 0 } else { *word };
    }
    let parameters = [f32::from_bits(words[0]), f32::from_bits(words[1])];
    if !L::takes(parameters) {
        return false;
    }
    for (number, page) in pages.iter().enumerate() {
        if !is_usual(page, L::WINDOW, !L::DIVIDES || number + 1 < N) {
            return false;
        }
    }
    for (at, dst) in dst.as_chunks_mut::<CHUNK>().0.iter_mut().enumerate() {
        let mut chunks = [&[[0; 2]; CHUNK]; N];
        for (chunk, page) in chunks.iter_mut().zip(pages) {
            *chunk = &datums(page).as_chunks::<CHUNK>().0[at];
        }
        let mut odd = [0; CHUNK];
        let mut any = 0;
        for i in 0..CHUNK {
            let mut operands = [0.0; N];
            for (operand, chunk) in operands.iter_mut().zip(chunks) {
                *operand = f32::from_bits(word(chunk[i]));
            }
            let (result, fallback) = L::compute(operands, parameters);
            dst[i] = result;
            if L::FALLS_BACK {
                odd[i] = fallback;
                any |= fallback;
            }
        }
        if any != 0 && !fallbacks.keep(at * CHUNK, &odd) {
            return false;
        }
    }
    true
}

/// The kernel of a lane function, compiled for every level.
macro_rules! lane_kernel {
    ($name:ident, $lane:ident, $operands:literal) => {
        tt_cpu::simd_kernel!(
            $name,
            $crate::exec::bf16::lanes::compute::<super::$lane, $operands>,
            (dst: &mut HalfTile, pages: [&Bf16Page; $operands], parameters: &[u32], fallbacks: &mut Fallbacks) -> bool
        );
    };
}

pub(super) use lane_kernel;
