//! Operand tiles taken apart once: exponents, and the mantissa parts of the fidelity phases as scaled FP32 numbers.
//!
//! A part `p` of a datum with exponent `E` is stored as `p * 2^(E - c)`, exact in FP32. Parts of `SrcA` carry a factor
//! `1 + 2^-18` besides, which turns ties of the later rounding into "just above one half" and moves nothing else across
//! one half: `numerics-performance.md` section 2.
//!
//! Exponents are kept as fields that add up to the FP32 exponent of the product's grid in phase 0, shifted left by 7: a
//! half of a lane then has them where FP32 has its exponent.

use bytemuck::{AnyBitPattern, NoUninit};
use tt_cpu::Level;

use super::super::operand::mask;
use super::super::{MathConfig, Src};
use super::integers::Integers;
use crate::regs::{TILE_DATUMS, index};
use crate::vector::{Vector, vector_kernel};

/// The field of a zero; with any other it is below every sum that counts.
const ZERO_FIELD: i32 = -128;
/// Exponents of ordinary operands with 8-bit exponents: parts, products and group sums are normal FP32 numbers.
const ORDINARY: std::ops::RangeInclusive<i32> = 24..=187;

/// Which register an operand lies in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    A,
    B,
}

/// One operand's tile. Planes are row-major, for `SrcA` rows are `k`, for `SrcB` columns are.
#[derive(Clone)]
#[repr(C, align(64))]
pub(super) struct Planes {
    pub parts: [[f32; TILE_DATUMS]; 2],
    /// Exponent fields, two to a lane. `SrcA`: 16 lanes a row, of which lane `i` has columns `i` and `i + 16`.
    /// `SrcB`: every field twice, ready to be spread over a vector.
    pub fields: [i32; TILE_DATUMS],
    /// The smallest exponent of a datum that is not zero; 255 if all are zero.
    pub smallest: i32,
    /// The largest exponent.
    pub largest: i32,
    /// Parts that are zero in every datum, as the low ones of block floats.
    pub empty: [bool; 2],
    /// The masked tile.
    pub words: Src,
    integers: Integers,
    has_integers: bool,
}

impl Planes {
    const EMPTY: Self = Self {
        parts: [[0.0; TILE_DATUMS]; 2],
        fields: [(ZERO_FIELD << 7) << 16 | (ZERO_FIELD << 7) & 0xffff; TILE_DATUMS],
        smallest: 255,
        largest: 0,
        empty: [true; 2],
        words: [0; TILE_DATUMS],
        integers: Integers::EMPTY,
        has_integers: false,
    };

    /// The chain of FMAs holds products with this tile.
    pub fn is_ordinary(&self, cfg: &MathConfig) -> bool {
        !cfg.mode().e8 || self.smallest >= *ORDINARY.start() && self.largest <= *ORDINARY.end()
    }

    /// The parts as integers, made when they are first asked for.
    pub fn integers(&mut self, level: Level, cfg: &MathConfig, side: Side) {
        if !self.has_integers {
            self.integers.fill(level, cfg, side, &self.words);
            self.has_integers = true;
        }
    }

    /// What [`Self::integers`] made.
    pub fn made_integers(&self) -> &Integers {
        debug_assert!(self.has_integers);
        &self.integers
    }
}

/// What is added to exponents to make them the exponent of a part's scale, and their field.
const fn offsets(e8: bool, side: Side) -> (i32, i32) {
    // A product counts 2^-150 of its exponent field: a part's scale gives 75 and 75, FP32's bias takes 127 and 127.
    match (e8, side) {
        // The sum of exponents less the bias.
        (true, Side::A) => (127 - 138, -64),
        (true, Side::B) => (127 - 139, -63),
        // 100 more than the sum of exponents.
        (false, _) => (127 - 25, 50),
    }
}

#[inline(always)]
fn prepare_body<V: Vector>(cfg: &MathConfig, side: Side, src: &Src, planes: &mut Planes) {
    let (mode, phases) = (cfg.mode(), cfg.fidelity.phases());
    let zero = V::splat(0);
    let mask = V::splat(if side == Side::A { mask(cfg.alu) as i32 } else { -1 });
    let exponent_mask = V::splat(if mode.e8 { 255 } else { 31 });
    let (scale_offset, field_offset) = offsets(mode.e8, side);
    let nudge = V::splat_float(if side == Side::A { 1.0 + 1.0 / 262_144.0 } else { 1.0 });
    let second = if side == Side::A { phases > 1 } else { phases > 2 };
    let (mut largest, mut below_smallest, mut used) = (zero, V::splat(-1), [zero; 2]);
    for row in 0..32 {
        for lane in (0..16).step_by(V::LANES) {
            let mut fields = [zero; 2];
            for (half, field) in fields.iter_mut().enumerate() {
                let (column, at) = (half * 16 + lane, index(row, half * 16 + lane));
                let word = V::and(V::load(&src[at..]), mask);
                V::store(word, &mut planes.words[at..]);
                let exponent = V::and(V::shr::<10>(word), exponent_mask);
                largest = V::max(largest, exponent);
                // Zeros wrap to the top.
                below_smallest = V::min_unsigned(below_smallest, V::sub(exponent, V::splat(1)));
                let live = V::greater(exponent, zero);
                *field = V::select(live, V::add(exponent, V::splat(field_offset)), V::splat(ZERO_FIELD));
                let sign = V::and(V::shl::<13>(word), V::splat(i32::MIN));
                let scale = V::or(V::shl::<23>(V::add(exponent, V::splat(scale_offset))), sign);
                let scale = V::mul_float(V::from_bits(scale), nudge);
                let significand = V::or(V::and(word, V::splat(1023)), V::splat(1024));
                let low = match side {
                    Side::A => [V::shr::<6>(significand), V::and(V::shr::<1>(significand), V::splat(31))],
                    Side::B => [V::shr::<4>(significand), V::shl::<3>(V::and(significand, V::splat(15)))],
                };
                for number in 0..=usize::from(second) {
                    let part = V::keep(live, low[number]);
                    used[number] = V::or(used[number], part);
                    let scaled = V::mul_float(V::exact_float(part), scale);
                    store::<V, _>(V::to_bits(scaled), &mut planes.parts[number], row * 32 + column);
                }
            }
            let [low, high] = [V::shl::<7>(fields[0]), V::shl::<7>(fields[1])];
            match side {
                Side::A => store::<V, _>(pair::<V>(low, high), &mut planes.fields, row * 16 + lane),
                Side::B => {
                    store::<V, _>(pair::<V>(low, low), &mut planes.fields, row * 32 + lane);
                    store::<V, _>(pair::<V>(high, high), &mut planes.fields, row * 32 + 16 + lane);
                }
            }
        }
    }
    planes.largest = lanes::<V>(largest).into_iter().fold(0, u32::max) as i32;
    planes.smallest = lanes::<V>(below_smallest).into_iter().fold(254, u32::min) as i32 + 1;
    planes.empty = [lanes::<V>(used[0]) == [0; 16], lanes::<V>(used[1]) == [0; 16]];
    planes.has_integers = false;
}

vector_kernel!(prepare_planes, prepare_body, (cfg: &MathConfig, side: Side, src: &Src, planes: &mut Planes));

/// Two values below 2^16 in a lane.
#[inline(always)]
pub(super) fn pair<V: Vector>(low: V::Int, high: V::Int) -> V::Int {
    V::or(V::and(low, V::splat(0xffff)), V::shl::<16>(high))
}

#[inline(always)]
pub(super) fn store<V: Vector, T: NoUninit + AnyBitPattern>(vector: V::Int, plane: &mut [T], at: usize) {
    V::store(vector, &mut bytemuck::cast_slice_mut(plane)[at..]);
}

/// The lanes of a vector, the first of them again where there are fewer than 16.
#[inline(always)]
fn lanes<V: Vector>(vector: V::Int) -> [u32; 16] {
    let mut words = [0; 16];
    for at in (0..16).step_by(V::LANES) {
        V::store(vector, &mut words[at..]);
    }
    words
}

macro_rules! operand {
    ($(#[$doc:meta])* $name:ident, $side:expr) => {
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
                prepare_planes::run(Level::current(), cfg, $side, src, &mut self.0);
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
    /// The right operand, in1, ready for products. 32 KiB, of which ordinary operands use half; reuse it.
    PreparedA, Side::A
}
operand! {
    /// The left operand, in0, ready for products. 32 KiB, of which ordinary operands use half; reuse it.
    PreparedB, Side::B
}
