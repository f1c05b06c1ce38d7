//! Operand tiles taken apart once: exponents, and the mantissa parts of the fidelity phases as scaled FP32 numbers.
//!
//! A part `p` of a datum with exponent `E` is stored as `p * 2^(E - c)`, exact in FP32. Parts of `SrcA` carry a factor
//! `1 + 2^-18` besides, which turns ties of the later rounding into "just above one half" and moves nothing else across
//! one half: `numerics-performance.md` section 2.

use tt_cpu::{Level, simd_kernel};

use super::super::operand::{Operand, Phase, mask};
use super::super::{MathConfig, Src};
use crate::regs::{FACE_SIDE, TILE_DATUMS, index};

/// Exponent of a zero: far below every sum that counts.
pub(super) const ZERO_EXPONENT: i16 = -8192;

/// The exponent that FP32 parts of a tile are scaled by, `c` above: such that a product of any two tiles stays in the
/// range of FP32. Tiles with huge values or infinity patterns are scaled down.
const fn scale(e8: bool, largest: i32) -> i32 {
    match e8 {
        false => 20,
        true if largest > 127 + 52 => largest - 52,
        true => 127,
    }
}

/// One operand's tile. Planes are row-major, for `SrcA` rows are `k`, for `SrcB` columns are.
#[derive(Clone)]
#[repr(C, align(64))]
pub(super) struct Planes {
    pub parts: [[f32; TILE_DATUMS]; 2],
    pub exponents: [i16; TILE_DATUMS],
    /// Each exponent twice, ready to be spread over a vector of halves.
    pub exponent_pairs: [i32; TILE_DATUMS],
    /// The exponent that the parts are scaled by.
    pub scale: i32,
    /// The smallest exponent of a datum that is not zero; 255 if all are zero.
    pub smallest: i32,
    /// Parts that are zero in every datum, as the low ones of block floats.
    pub empty: [bool; 2],
    words: Src,
}

impl Planes {
    const EMPTY: Self = Self {
        parts: [[0.0; TILE_DATUMS]; 2],
        exponents: [ZERO_EXPONENT; TILE_DATUMS],
        exponent_pairs: [pair(ZERO_EXPONENT); TILE_DATUMS],
        scale: 127,
        smallest: 255,
        empty: [true; 2],
        words: [0; TILE_DATUMS],
    };

    /// The parts as signed integers, for the path that knows no ranges.
    pub fn integers<const SRC_A: bool>(&self, cfg: &MathConfig) -> Integers {
        let mode = cfg.mode();
        let mut integers = Integers { parts: [[0; TILE_DATUMS]; 2], exponents: self.exponents.map(i32::from) };
        for (number, plane) in integers.parts.iter_mut().enumerate() {
            let phase = Phase::new(mode, if SRC_A { number } else { 2 * number } as u32);
            for (i, part) in plane.iter_mut().enumerate() {
                let operand = Operand::decode(self.words[index(i / 32, i % 32)], mode.e8);
                let magnitude = match (operand.exponent, SRC_A) {
                    (0, _) => 0,
                    (_, true) => phase.part_a(operand.significand) as i32,
                    (_, false) => phase.part_b(operand.significand) as i32,
                };
                *part = if operand.sign == 1 { -magnitude } else { magnitude };
            }
        }
        integers
    }
}

/// One operand's tile for the integer path, row-major.
pub(super) struct Integers {
    pub parts: [[i32; TILE_DATUMS]; 2],
    pub exponents: [i32; TILE_DATUMS],
}

const fn pair(exponent: i16) -> i32 {
    (exponent as i32) << 16 | exponent as i32 & 0xffff
}

/// A part scaled to its exponent.
#[inline(always)]
fn scaled(part: u32, factor: f32, operand: Operand, scale: i32) -> f32 {
    let magnitude = (part as f32 * factor).to_bits();
    let moved = magnitude.wrapping_add(((operand.exponent - scale) << 23) as u32);
    let live = part != 0 && operand.exponent != 0;
    f32::from_bits(if live { operand.sign << 31 | moved } else { 0 })
}

#[inline(always)]
fn prepare_body(cfg: &MathConfig, src_a: bool, src: &Src, planes: &mut Planes) {
    if cfg.mode().e8 { prepare::<true>(cfg, src_a, src, planes) } else { prepare::<false>(cfg, src_a, src, planes) }
}

#[inline(always)]
fn prepare<const E8: bool>(cfg: &MathConfig, src_a: bool, src: &Src, planes: &mut Planes) {
    let mask = if src_a { mask(cfg.alu) } else { u32::MAX };
    let mut largest = 0;
    for (word, &source) in planes.words.iter_mut().zip(src) {
        *word = source & mask;
        largest = largest.max(Operand::decode(*word, E8).exponent);
    }
    let scale = scale(E8, largest);
    let factor = if src_a { 1.0 + 1.0 / 262_144.0 } else { 1.0 };
    let mut smallest = 255;
    let mut parts_or = [0; 2];
    for row in 0..32 {
        for half in [0, FACE_SIDE] {
            let start = index(row, half);
            let words: &[u32; FACE_SIDE] = planes.words[start..].first_chunk().expect("a row of a face");
            let target = row * 32 + half;
            let exponents: &mut [i16; FACE_SIDE] = planes.exponents[target..].first_chunk_mut().expect("half a row");
            let pairs: &mut [i32; FACE_SIDE] = planes.exponent_pairs[target..].first_chunk_mut().expect("half a row");
            for ((exponent, pair), &word) in exponents.iter_mut().zip(pairs).zip(words) {
                let operand = Operand::decode(word, E8);
                *exponent = if operand.exponent == 0 { ZERO_EXPONENT } else { operand.exponent as i16 };
                *pair = self::pair(*exponent);
                smallest = smallest.min(if operand.exponent == 0 { 255 } else { operand.exponent });
            }
            let mode = cfg.mode();
            for (number, plane) in planes.parts.iter_mut().enumerate() {
                let phase = Phase::new(mode, if src_a { number } else { 2 * number } as u32);
                let parts: &mut [f32; FACE_SIDE] = plane[target..].first_chunk_mut().expect("half a row");
                for (part, &word) in parts.iter_mut().zip(words) {
                    let operand = Operand::decode(word, E8);
                    let significand = operand.significand;
                    let value = if src_a { phase.part_a(significand) } else { phase.part_b(significand) };
                    *part = scaled(value, factor, operand, scale);
                    parts_or[number] |= part.to_bits();
                }
            }
        }
    }
    planes.scale = scale;
    planes.smallest = smallest;
    planes.empty = parts_or.map(|bits| bits == 0);
}

simd_kernel!(prepare_planes, super::prepare_body, (cfg: &MathConfig, src_a: bool, src: &Src, planes: &mut Planes));

macro_rules! operand {
    ($(#[$doc:meta])* $name:ident, $src_a:literal) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name(pub(super) Planes);

        impl $name {
            /// A tile of zeros.
            pub const fn new() -> Self {
                Self(Planes::EMPTY)
            }

            /// Takes over a tile as the unpacker leaves it.
            pub fn prepare(&mut self, cfg: &MathConfig, src: &Src) {
                prepare_planes::run(Level::current(), cfg, $src_a, src, &mut self.0);
            }

            pub(super) fn words(&self) -> &Src {
                &self.0.words
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }
    };
}

operand! {
    /// The right operand, in1, ready for products. 16 KiB; reuse it.
    PreparedA, true
}
operand! {
    /// The left operand, in0, ready for products. 16 KiB; reuse it.
    PreparedB, false
}
