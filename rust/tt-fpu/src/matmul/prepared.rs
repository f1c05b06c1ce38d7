//! Operand tiles taken apart once.
//!
//! Exponents, and the mantissa parts of the fidelity phases as scaled FP32 numbers.
//!
//! A part `p` of a datum with exponent `E` is stored as `p * 2^(E - c)`, exact in FP32. Parts of `SrcA` carry a factor
//! `1 + 2^-18` besides, which turns ties of the later rounding into "just above one half" and moves nothing else across
//! one half: `docs/chip/numerics.md` section 15.
//!
//! Exponents are kept as bytes for the plain path, and as fields for the general one. Fields add up to the FP32
//! exponent of the product's grid in phase 0, shifted left by 7: a half of a lane then has them where FP32 has its
//! exponent.

use tt_cpu::Level;

use super::super::operand::mask;
use super::super::{MathConfig, Src};
use super::integers::Integers;
use super::side::{Side, pair, store};
use super::used_rows;
use tt_cpu::vector::{Vector, vector_kernel};
use tt_tensix::regs::{TILE_DATUMS, index};

/// The field of a zero; with any other it is below every sum that counts.
const ZERO_FIELD: i32 = -128;
/// Exponents of ordinary operands with 8-bit exponents: parts, products and group sums are normal FP32 numbers.
const ORDINARY: std::ops::RangeInclusive<i32> = 24..=187;

/// One operand's tile. Planes are row-major, for `SrcA` rows are `k`, for `SrcB` columns are.
#[derive(Clone)]
#[repr(C, align(64))]
pub(super) struct Planes {
    pub parts: [[f32; TILE_DATUMS]; 2],
    /// 8-bit exponents, four to a lane.
    ///
    /// What `SrcA` has less what `SrcB` has is the FP32 exponent of the product's grid in phase 0, without a borrow for
    /// [`ORDINARY`] operands; zeros are 0, or 255 in `SrcB`, so that the saturated difference is 0. `SrcA`: 16 lanes a
    /// row, of which lane `i` has columns `i` and `i + 16`, twice. `SrcB`: 32 lanes for two rows, each with a datum of
    /// the first row twice and one of the second twice.
    pub bytes: [i32; TILE_DATUMS / 2],
    /// Exponent fields, two to a lane.
    ///
    /// `SrcA`: 16 lanes a row, of which lane `i` has columns `i` and `i + 16`. `SrcB`: every field twice, ready to be
    /// spread over a vector.
    pub fields: [i32; TILE_DATUMS],
    /// The smallest exponent of a datum that is not zero.
    ///
    /// 255 if all are zero.
    pub smallest: i32,
    /// The largest exponent.
    pub largest: i32,
    /// True if a datum is zero.
    pub has_zeros: bool,
    /// `SrcB`: rows from here on are zero.
    pub rows: usize,
    /// Parts that are zero everywhere, as block floats' low ones.
    pub empty: [bool; 2],
    /// The masked tile.
    pub words: Src,
    integers: Integers,
    has_integers: bool,
    has_fields: bool,
}

impl Planes {
    /// A tile of zeros.
    const fn new(side: Side) -> Self {
        Self {
            parts: [[0.0; TILE_DATUMS]; 2],
            bytes: [if matches!(side, Side::A) { 0 } else { -1 }; TILE_DATUMS / 2],
            fields: [(ZERO_FIELD << 7) << 16 | (ZERO_FIELD << 7) & 0xffff; TILE_DATUMS],
            smallest: 255,
            largest: 0,
            has_zeros: true,
            rows: 0,
            empty: [true; 2],
            words: [0; TILE_DATUMS],
            integers: Integers::EMPTY,
            has_integers: false,
            has_fields: true,
        }
    }

    /// The chain of FMAs holds products with this tile.
    pub fn is_ordinary(&self, cfg: &MathConfig) -> bool {
        !cfg.mode().e8 || self.smallest >= *ORDINARY.start() && self.largest <= *ORDINARY.end()
    }

    /// Exponent fields, made when they are first asked for.
    pub fn fields(&mut self, level: Level, cfg: &MathConfig, side: Side) {
        if !self.has_fields {
            fill_fields::run(level, cfg, side, &self.words, &mut self.fields);
            self.has_fields = true;
        }
    }

    /// The parts as integers, made when they are first asked for.
    pub fn integers(&mut self, level: Level, cfg: &MathConfig, side: Side) {
        if !self.has_integers {
            self.integers.fill(level, cfg, side, &self.words);
            self.has_integers = true;
        }
    }

    /// Returns the result of [`Self::integers`].
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

/// How the fidelity masks make FP32 numbers of the parts of a register's datums. Every datum is one, of 11 bits.
struct Parts {
    /// Added to exponents, so that those of 5 bits are far from denormal numbers.
    lift: i32,
    /// Bits of the datum, with the sign and the exponent: those of the first part and those of both.
    masks: [i32; 2],
    /// What makes parts of the numbers, on their scale and with the nudge.
    factors: [f32; 2],
}

impl Parts {
    fn new(e8: bool, side: Side) -> Self {
        let (offset, _) = offsets(e8, side);
        let lift = if e8 { 0 } else { 64 };
        // Bits behind the point in both parts: the lowest bit of `SrcA` is not used, the low part of `SrcB` is shifted
        // up.
        let (masks, behind, nudge) = match side {
            Side::A => ([-1 << 19, -1 << 14], [4, 9], 1.0 + 1.0 / 262_144.0),
            Side::B => ([-1 << 17, -1 << 13], [6, 13], 1.0),
        };
        let factors = behind.map(|behind| f32::from_bits(((offset + behind - lift + 127) << 23) as u32) * nudge);
        Self { lift: lift << 23, masks, factors }
    }
}

#[inline(always)]
fn prepare_body<V: Vector>(cfg: &MathConfig, side: Side, src: &Src, planes: &mut Planes) {
    let (mode, phases) = (cfg.mode(), cfg.fidelity.phases());
    let zero = V::splat(0);
    let mask = V::splat(if side == Side::A { mask(cfg.alu) as i32 } else { -1 });
    let exponent_bits = if mode.e8 { 255 } else { 31 };
    let datum_mask = V::splat(1 << 18 | exponent_bits << 10 | 1023);
    let exponent_mask = V::splat(exponent_bits);
    let parts = Parts::new(mode.e8, side);
    let second = if side == Side::A { phases > 1 } else { phases > 2 };
    let (mut largest, mut below_smallest, mut least, mut low_bits) = (zero, V::splat(-1), V::splat(-1), zero);
    for pair in (0..32).step_by(2) {
        for lane in (0..16).step_by(V::LANES) {
            let mut bytes = [[zero; 2]; 2];
            for (row, bytes) in (pair..).zip(&mut bytes) {
                for (half, byte) in bytes.iter_mut().enumerate() {
                    let (column, at) = (half * 16 + lane, index(row, half * 16 + lane));
                    let word = V::and(V::load(&src[at..]), mask);
                    V::store(word, &mut planes.words[at..]);
                    let exponent = V::and(V::shr::<10>(word), exponent_mask);
                    largest = V::max(largest, exponent);
                    least = V::min_unsigned(least, exponent);
                    // Zeros wrap to the top.
                    below_smallest = V::min_unsigned(below_smallest, V::sub(exponent, V::splat(1)));
                    let live = V::greater(exponent, zero);
                    *byte = match side {
                        Side::A => V::keep(live, V::add(exponent, V::splat(64))),
                        Side::B => V::select(live, V::sub(V::splat(191), exponent), V::splat(255)),
                    };
                    let datum = V::add(V::shl::<13>(V::and(word, datum_mask)), V::splat(parts.lift));
                    let datum = V::keep(live, datum);
                    let high = V::from_bits(V::and(datum, V::splat(parts.masks[0])));
                    let scaled = V::to_bits(V::mul_float(high, V::splat_float(parts.factors[0])));
                    store::<V, _>(scaled, &mut planes.parts[0], row * 32 + column);
                    if second {
                        let low = V::sub_float(V::from_bits(V::and(datum, V::splat(parts.masks[1]))), high);
                        let scaled = V::to_bits(V::mul_float(low, V::splat_float(parts.factors[1])));
                        low_bits = V::or(low_bits, scaled);
                        store::<V, _>(scaled, &mut planes.parts[1], row * 32 + column);
                    }
                }
            }
            match side {
                Side::A => {
                    for (row, bytes) in (pair..).zip(bytes) {
                        let columns = V::or(bytes[0], V::shl::<8>(bytes[1]));
                        let twice = V::or(columns, V::shl::<16>(columns));
                        store::<V, _>(twice, &mut planes.bytes, row * 16 + lane);
                    }
                }
                Side::B => {
                    for (half, (first, second)) in bytes[0].into_iter().zip(bytes[1]).enumerate() {
                        let rows = V::or(first, V::shl::<16>(second));
                        let twice = V::or(rows, V::shl::<8>(rows));
                        store::<V, _>(twice, &mut planes.bytes, (pair + half) * 16 + lane);
                    }
                }
            }
        }
    }
    planes.largest = lanes::<V>(largest).into_iter().fold(0, u32::max) as i32;
    planes.smallest = lanes::<V>(below_smallest).into_iter().fold(254, u32::min) as i32 + 1;
    planes.has_zeros = lanes::<V>(least).contains(&0);
    planes.empty = [planes.largest == 0, lanes::<V>(low_bits) == [0; 16]];
    if side == Side::B {
        planes.rows = used_rows(src, (exponent_bits << 10) as u32);
    }
    planes.has_integers = false;
    planes.has_fields = false;
}

/// The 16-bit exponent fields of a masked tile.
#[inline(always)]
fn fields_body<V: Vector>(cfg: &MathConfig, side: Side, words: &Src, fields: &mut [i32; TILE_DATUMS]) {
    let exponent_mask = V::splat(if cfg.mode().e8 { 255 } else { 31 });
    let (_, offset) = offsets(cfg.mode().e8, side);
    for row in 0..32 {
        for lane in (0..16).step_by(V::LANES) {
            let mut halves = [V::splat(0); 2];
            for (half, field) in halves.iter_mut().enumerate() {
                let exponent = V::and(V::shr::<10>(V::load(&words[index(row, half * 16 + lane)..])), exponent_mask);
                let live = V::greater(exponent, V::splat(0));
                *field = V::shl::<7>(V::select(live, V::add(exponent, V::splat(offset)), V::splat(ZERO_FIELD)));
            }
            let [low, high] = halves;
            match side {
                Side::A => store::<V, _>(pair::<V>(low, high), fields, row * 16 + lane),
                Side::B => {
                    store::<V, _>(pair::<V>(low, low), fields, row * 32 + lane);
                    store::<V, _>(pair::<V>(high, high), fields, row * 32 + 16 + lane);
                }
            }
        }
    }
}

vector_kernel!(fill_fields, fields_body, (cfg: &MathConfig, side: Side, words: &Src, fields: &mut [i32; TILE_DATUMS]));
vector_kernel!(prepare_planes, prepare_body, (cfg: &MathConfig, side: Side, src: &Src, planes: &mut Planes));

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
                Self(Planes::new($side))
            }

            /// Prepares a tile that the unpacker has written.
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
    /// The right operand, in1, ready for products. 34 KiB, of which ordinary operands use 10 to 14; reuse it.
    PreparedA, Side::A
}
operand! {
    /// The left operand, in0, ready for products. 34 KiB, of which ordinary operands use 10 to 14; reuse it.
    PreparedB, Side::B
}
