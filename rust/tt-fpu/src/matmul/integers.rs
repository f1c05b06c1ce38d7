//! The sum of eight products in 16-bit integers.
//!
//! Two columns to a lane: for all operands.
//!
//! A product of parts has 12 bits. Twice the product, shifted right by the distance `d` of its exponent to the group's
//! largest, leaves one bit behind the point, with which it is rounded half up: ties away from zero, as the magnitude is
//! rounded. With the sign `s` (0 or -1), `(2m >> d) xor s` is one less than the negative, and so halving it half up
//! rounds the magnitude as for a positive one: floor((z + 1) / 2) = floor(-y / 2) for z = -y - 1.

use tt_cpu::Level;

use super::super::MathConfig;
use super::ROWS;
use super::side::{Side, pair, store};
use tt_cpu::vector::{Vector, vector_kernel};
use tt_tensix::regs::{Src, TILE_DATUMS, index};

/// Exponent of a zero: far below every sum that counts.
const ZERO_EXPONENT: i32 = -8192;
/// Added to signed products, so that the rounding average of unsigned halves can take them. Eight of it vanish.
const OFFSET: i32 = 0x8000;

/// One operand's tile; the order of all planes is that of [`super::prepared::Planes::fields`].
#[derive(Clone)]
pub(super) struct Integers {
    /// Magnitudes of the parts; those of `SrcA` twice.
    parts: [[i32; TILE_DATUMS]; 2],
    /// 0 or -1; in `SrcA` plus [`OFFSET`].
    signs: [i32; TILE_DATUMS],
    /// Biased exponents.
    pub exponents: [i32; TILE_DATUMS],
}

impl Integers {
    pub const EMPTY: Self = Self { parts: [[0; TILE_DATUMS]; 2], signs: [0; TILE_DATUMS], exponents: [0; TILE_DATUMS] };

    /// Decodes a masked tile.
    pub fn fill(&mut self, level: Level, cfg: &MathConfig, side: Side, words: &Src) {
        fill_planes::run(level, cfg, side, words, self);
    }
}

#[inline(always)]
fn fill_body<V: Vector>(cfg: &MathConfig, side: Side, words: &Src, to: &mut Integers) {
    let exponent_mask = V::splat(if cfg.mode().e8 { 255 } else { 31 });
    let offset = V::splat(if side == Side::A { OFFSET } else { 0 });
    for row in 0..32 {
        for lane in (0..16).step_by(V::LANES) {
            // Exponents, signs and the two parts, of the columns from `lane` and from `16 + lane`.
            let mut planes = [[V::splat(0); 2]; 4];
            for half in 0..2 {
                let word = V::load(&words[index(row, half * 16 + lane)..]);
                let exponent = V::and(V::shr::<10>(word), exponent_mask);
                let live = V::greater(exponent, V::splat(0));
                let significand = V::or(V::and(word, V::splat(1023)), V::splat(1024));
                let parts = match side {
                    // Doubled, and without the lowest bit.
                    Side::A => [V::shl::<1>(V::shr::<6>(significand)), V::and(significand, V::splat(62))],
                    Side::B => [V::shr::<4>(significand), V::shl::<3>(V::and(significand, V::splat(15)))],
                };
                planes[0][half] = V::select(live, exponent, V::splat(ZERO_EXPONENT));
                planes[1][half] = V::xor(V::sar::<31>(V::shl::<13>(word)), offset);
                planes[2][half] = V::keep(live, parts[0]);
                planes[3][half] = V::keep(live, parts[1]);
            }
            let [first, second] = &mut to.parts;
            let targets = [&mut to.exponents, &mut to.signs, first, second];
            for ([low, high], target) in planes.into_iter().zip(targets) {
                match side {
                    Side::A => store::<V, _>(pair::<V>(low, high), target, row * 16 + lane),
                    Side::B => {
                        store::<V, _>(pair::<V>(low, low), target, row * 32 + lane);
                        store::<V, _>(pair::<V>(high, high), target, row * 32 + 16 + lane);
                    }
                }
            }
        }
    }
}

vector_kernel!(fill_planes, fill_body, (cfg: &MathConfig, side: Side, words: &Src, to: &mut Integers));

/// Sums of a phase on the grid of the largest exponent, two columns to a lane.
#[inline(always)]
pub(super) fn group_sums<V: Vector>(
    (a, b): (&Integers, &Integers),
    phase: u32,
    group: usize,
    row: usize,
    lane: usize,
    largest: [V::Int; ROWS],
) -> [V::Int; ROWS] {
    let (parts_a, parts_b) = (&a.parts[(phase & 1) as usize], &b.parts[(phase >> 1) as usize]);
    let mut sums = [V::splat(0); ROWS];
    for k in group * 8..group * 8 + 8 {
        let at = k * 16 + lane;
        let [exponent, sign, part] =
            [V::load_i32(&a.exponents[at..]), V::load_i32(&a.signs[at..]), V::load_i32(&parts_a[at..])];
        for (r, sum) in sums.iter_mut().enumerate() {
            let at = (row + r) * 32 + k;
            let distance = V::sub_halves(V::sub_halves(largest[r], V::splat(b.exponents[at])), exponent);
            let product = V::shr_halves_by(V::mul_halves(part, V::splat(parts_b[at])), distance);
            let signed = V::xor(V::xor(product, sign), V::splat(b.signs[at]));
            *sum = V::add_halves(*sum, V::average_halves(signed, V::splat(OFFSET << 16 | OFFSET)));
        }
    }
    sums
}
