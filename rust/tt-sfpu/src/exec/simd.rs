//! Several lanes at a time.
//!
//! The [`Lane`] of the CPU levels with vectors, for each chip generation.
//!
//! A block has two vectors, see [`super::block`].

use std::marker::PhantomData;

use crate::arith::generation::VectorUnit;
use crate::arith::lane::{Lane, MINUS_ONE, ONE, methods};
use crate::exec::block::{VECTORS, zip};
use tt_cpu::vector::Vector;
use tt_cpu::vector::avx2::Avx2;
use tt_cpu::vector::avx512::Avx512;
use tt_formats::{Blackhole, Wormhole};

const MAGNITUDE: i32 = 0x7fff_ffff;
const INFINITY: i32 = 0x7f80_0000;
const HIDDEN: i32 = 0x80_0000;
/// The NaN that Blackhole's multiply-add makes.
const NAN: i32 = 0x7fc0_0000;
/// 2^-77: from here on a product has an exact error term, and one without exponent is nothing beside the result.
const SMALLEST: i32 = 0x1900_0000;

/// The words of a block.
type Words<V> = [<V as Vector>::Int; VECTORS];

/// What lane programs need beyond [`Vector`].
pub(crate) trait LaneVector: Vector {
    fn mask_or(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    fn mask_not(a: Self::Mask) -> Self::Mask;
    fn mask_any(a: Self::Mask) -> bool;
    /// Denormal, infinite or NaN.
    #[inline(always)]
    fn is_irregular(word: Self::Int) -> Self::Mask {
        let magnitude = Self::and(word, Self::splat(MAGNITUDE));
        let zero = Self::equal(magnitude, Self::splat(0));
        let large = Self::greater(magnitude, Self::splat(HIDDEN - 1));
        let finite = Self::greater(Self::splat(INFINITY), magnitude);
        Self::mask_not(Self::mask_or(zero, Self::both(large, finite)))
    }
    /// [`multiply_add`] put together on the unit's grid, if the level can, and no lane is near the ends of the range.
    #[inline(always)]
    fn on_grid(_: &Words<Self>, _: &Words<Self>, _: &Words<Self>) -> Option<Words<Self>> {
        None
    }
    /// `x * y + z` on the unit's grid, of terms whose exponents are close, if the level can.
    ///
    /// The product is within four exponents below the addend and two above it.
    #[inline(always)]
    fn of_close_terms(_: Self::Int, _: Self::Int, _: Self::Int) -> Option<Self::Int> {
        None
    }
    /// Signed integers to FP32, to nearest even.
    fn lane_to_f32(a: Self::Int) -> Self::Float;
    /// 1 / a, to nearest even.
    fn inverse(a: Self::Float) -> Self::Float;
    /// [`BlockMultiplyAdd::multiply_add_of_level`] compiled for the level, in one copy for all programs.
    fn lane_mad<G: BlockMultiplyAdd>(a: &Words<Self>, b: &Words<Self>, c: &Words<Self>) -> Words<Self>;
}

/// The multiply-add of a generation on blocks.
///
/// The host's own multiply-add where all lanes of a vector are known to give the same bits with it, otherwise the steps of
/// the definition.
pub(crate) trait BlockMultiplyAdd: VectorUnit {
    /// Zeros keep the sign that IEEE arithmetic gives them.
    const KEEPS_ZERO_SIGNS: bool;

    /// The definition in [`crate::arith::fma`], a vector at a time.
    fn stepwise<V: LaneVector>(x: V::Int, y: V::Int, z: V::Int) -> V::Int;

    /// `x * y + z`, in code of the level that it is compiled for.
    #[inline(always)]
    fn multiply_add_of_level<V: LaneVector>(x: &Words<V>, y: &Words<V>, z: &Words<V>) -> Words<V> {
        multiply_add::<V, Self>(x, y, z)
    }

    /// `x * y + z` for a factor `x` of 1 or -1, or a `PRODUCT` alone.
    ///
    /// Nothing is cut off before the one rounding, so that the host rounds as the unit does, but for results near the
    /// ends of the range.
    #[inline(always)]
    fn rounded_once<V: LaneVector, const PRODUCT: bool>(x: Words<V>, y: Words<V>, z: Words<V>) -> Words<V> {
        let (first, good0) = host_once::<V, Self, PRODUCT>(x[0], y[0], z[0]);
        let (second, good1) = host_once::<V, Self, PRODUCT>(x[1], y[1], z[1]);
        let bad = V::mask_not(V::both(good0, good1));
        if V::mask_any(bad) { V::lane_mad::<Self>(&x, &y, &z) } else { [first, second] }
    }
}

impl BlockMultiplyAdd for Wormhole {
    const KEEPS_ZERO_SIGNS: bool = false;

    #[inline(always)]
    fn stepwise<V: LaneVector>(x: V::Int, y: V::Int, z: V::Int) -> V::Int {
        wormhole::<V>(x, y, z)
    }
}

/// Where the host has Wormhole's bits it has Blackhole's: these differ for NaN, for signs of zeros, for results next to
/// the end of the range, and where normalising shifts out two bits of which the upper one is set, and there Wormhole's are
/// not the host's either. The signs of zeros are the host's.
impl BlockMultiplyAdd for Blackhole {
    const KEEPS_ZERO_SIGNS: bool = true;

    #[inline(always)]
    fn stepwise<V: LaneVector>(x: V::Int, y: V::Int, z: V::Int) -> V::Int {
        blackhole::<V>(x, y, z)
    }
}

/// A block of lanes of a generation.
#[derive(Clone, Copy)]
pub(crate) struct Simd<V: Vector, G>([V::Int; VECTORS], PhantomData<G>);

/// Truth values of a block.
#[derive(Clone, Copy)]
pub(crate) struct SimdMask<V: Vector>([V::Mask; VECTORS]);

impl<V: LaneVector> std::ops::BitAnd for SimdMask<V> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(zip(self.0, other.0, V::both))
    }
}

impl<V: LaneVector> std::ops::BitOr for SimdMask<V> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(zip(self.0, other.0, V::mask_or))
    }
}

impl<V: LaneVector> std::ops::Not for SimdMask<V> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        let [a, b] = self.0;
        Self([V::mask_not(a), V::mask_not(b)])
    }
}

impl<V: Vector, G> From<u32> for Simd<V, G> {
    #[inline(always)]
    fn from(word: u32) -> Self {
        Self::of([V::splat(word as i32); VECTORS])
    }
}

impl<V: Vector, G> Simd<V, G> {
    #[inline(always)]
    fn of(words: Words<V>) -> Self {
        Self(words, PhantomData)
    }
}

impl<V: LaneVector, G> Simd<V, G> {
    /// Lanes of a block.
    pub(crate) const LANES: usize = VECTORS * V::LANES;

    #[inline(always)]
    pub(crate) fn load(words: &[u32]) -> Self {
        Self::of([V::load(words), V::load(&words[V::LANES..])])
    }

    #[inline(always)]
    pub(crate) fn store(self, words: &mut [u32]) {
        V::store(self.0[0], words);
        V::store(self.0[1], &mut words[V::LANES..]);
    }
}

impl<V: LaneVector, G: BlockMultiplyAdd> Lane for Simd<V, G> {
    type Mask = SimdMask<V>;
    type Of = G;

    methods! {
        fn mad(self, b, c) -> Self = Self::of(V::lane_mad::<G>(&self.0, &b.0, &c.0));
        fn plus(self, other) -> Self = Self::of(G::rounded_once::<V, false>(Self::from(ONE).0, self.0, other.0));
        fn minus(self, other) -> Self = Self::of(G::rounded_once::<V, false>(Self::from(MINUS_ONE).0, other.0, self.0));
        fn times(self, other) -> Self = Self::of(G::rounded_once::<V, true>(self.0, other.0, Self::from(0).0));
        fn and(self, other) -> Self = Self::of(zip(self.0, other.0, V::and));
        fn or(self, other) -> Self = Self::of(zip(self.0, other.0, V::or));
        fn xor(self, other) -> Self = Self::of(zip(self.0, other.0, V::xor));
        fn iadd(self, other) -> Self = Self::of(zip(self.0, other.0, V::add));
        fn isub(self, other) -> Self = Self::of(zip(self.0, other.0, V::sub));
        fn imul(self, other) -> Self = Self::of(zip(self.0, other.0, V::mul));
        fn shl(self, count) -> Self = Self::of(zip(self.0, count.and(Self::from(31)).0, V::shl_by));
        fn shr(self, count) -> Self = Self::of(zip(self.0, count.and(Self::from(31)).0, V::shr_by));
        fn clz(self) -> Self = Self::of([V::leading_zeros(self.0[0]), V::leading_zeros(self.0[1])]);
        fn magnitude_to_f32(self) -> Self = Self::of([number::<V>(self.0[0]), number::<V>(self.0[1])]);
        fn reciprocal_mantissa(self) -> Self
            = Self::of([reciprocal_mantissa::<V>(self.0[0]), reciprocal_mantissa::<V>(self.0[1])]);
        fn is_equal(self, other) -> SimdMask<V> = SimdMask(zip(self.0, other.0, V::equal));
        fn is_less(self, other) -> SimdMask<V> = SimdMask(zip(other.0, self.0, V::greater));
    }
    #[inline(always)]
    fn select(mask: SimdMask<V>, yes: Self, no: Self) -> Self {
        let pairs = zip(yes.0, no.0, |yes, no| (yes, no));
        Self::of(zip(mask.0, pairs, |mask, (yes, no)| V::select(mask, yes, no)))
    }
}

#[inline(always)]
fn host_once<V: LaneVector, G: BlockMultiplyAdd, const PRODUCT: bool>(
    x: V::Int,
    y: V::Int,
    z: V::Int,
) -> (V::Int, V::Mask) {
    let result = V::to_bits(V::fma(V::from_bits(x), V::from_bits(y), V::from_bits(z)));
    let nothing = V::equal(magnitude::<V>(result), V::splat(0));
    let safe = is_safe::<V>(exponent_bits::<V>(result));
    let good = if PRODUCT { V::both(safe, are_normal::<V>(x, y)) } else { safe };
    // A product that is lost beside +0 leaves that.
    let kept = if G::KEEPS_ZERO_SIGNS && !PRODUCT { result } else { V::keep(V::mask_not(nothing), result) };
    (kept, V::mask_or(nothing, good))
}

/// Whether a result's exponent, in place, is far from both ends of the range. Such a result has no NaN and no infinity
/// among its operands, and denormals beside it do not count.
#[inline(always)]
fn is_safe<V: LaneVector>(exponent: V::Int) -> V::Mask {
    V::both(V::greater(exponent, V::splat(SMALLEST - 1)), V::greater(V::splat(INFINITY), exponent))
}

/// Neither zeros nor denormals.
#[inline(always)]
fn are_normal<V: LaneVector>(x: V::Int, y: V::Int) -> V::Mask {
    let zero = V::splat(0);
    V::both(V::greater(exponent_bits::<V>(x), zero), V::greater(exponent_bits::<V>(y), zero))
}

/// `x * y + z`.
#[inline(always)]
fn multiply_add<V: LaneVector, G: BlockMultiplyAdd>(x: &Words<V>, y: &Words<V>, z: &Words<V>) -> Words<V> {
    let (fast0, good0) = plain_fma::<V>(x[0], y[0], z[0]);
    let (fast1, good1) = plain_fma::<V>(x[1], y[1], z[1]);
    if !V::mask_any(V::mask_not(V::both(good0, good1))) {
        return [fast0, fast1];
    }
    if let Some(result) = V::on_grid(x, y, z)
        && (!G::KEEPS_ZERO_SIGNS || has_no_zero::<V>(&result))
    {
        return result;
    }
    if let (Some(close0), Some(close1)) = (V::of_close_terms(x[0], y[0], z[0]), V::of_close_terms(x[1], y[1], z[1])) {
        let known0 = V::mask_or(good0, are_close::<V>(x[0], y[0], z[0], close0));
        let known1 = V::mask_or(good1, are_close::<V>(x[1], y[1], z[1], close1));
        if !V::mask_any(V::mask_not(V::both(known0, known1))) {
            return [V::select(good0, fast0, close0), V::select(good1, fast1, close1)];
        }
    }
    let (fast0, differs0) = host_fma::<V, G>(x[0], y[0], z[0]);
    let (fast1, differs1) = host_fma::<V, G>(x[1], y[1], z[1]);
    if !V::mask_any(V::mask_or(differs0, differs1)) {
        return [fast0, fast1];
    }
    let first = if V::mask_any(differs0) { G::stepwise::<V>(x[0], y[0], z[0]) } else { fast0 };
    let second = if V::mask_any(differs1) { G::stepwise::<V>(x[1], y[1], z[1]) } else { fast1 };
    [first, second]
}

/// The lanes whose terms are as [`LaneVector::of_close_terms`] asks for, and whose result is the unit's.
///
/// The result loses at most one bit to the right, and is far from both ends of the range.
#[inline(always)]
fn are_close<V: LaneVector>(x: V::Int, y: V::Int, z: V::Int, result: V::Int) -> V::Mask {
    let (ez, er) = (exponent_bits::<V>(z), exponent_bits::<V>(result));
    let ep = product_exponent::<V>(x, y);
    let above = V::greater(ep, V::add(ez, V::splat(2 * HIDDEN)));
    let below = V::greater(ez, V::add(ep, V::splat(4 * HIDDEN)));
    let untraced = V::greater(er, V::add(V::max(ep, ez), V::splat(HIDDEN)));
    let apart = V::mask_or(V::mask_or(above, below), untraced);
    V::both(V::both(is_safe::<V>(er), are_normal::<V>(x, y)), V::mask_not(apart))
}

/// On the grid zeros have no sign.
#[inline(always)]
fn has_no_zero<V: LaneVector>(words: &Words<V>) -> bool {
    let zero = V::splat(0);
    let [first, second] = [magnitude::<V>(words[0]), magnitude::<V>(words[1])];
    !V::mask_any(V::mask_or(V::equal(first, zero), V::equal(second, zero)))
}

/// The host's result, and the lanes where the cheaper half of [`host_fma`]'s conditions says that it is the unit's.
#[inline(always)]
fn plain_fma<V: LaneVector>(x: V::Int, y: V::Int, z: V::Int) -> (V::Int, V::Mask) {
    let result = V::to_bits(V::fma(V::from_bits(x), V::from_bits(y), V::from_bits(z)));
    let (ez, er) = (exponent_bits::<V>(z), exponent_bits::<V>(result));
    let ep = product_exponent::<V>(x, y);
    let largest = V::max(ep, ez);
    let far = V::mask_or(
        V::greater(V::sub(largest, V::splat(HIDDEN)), er),
        V::greater(er, V::add(largest, V::splat(HIDDEN))),
    );
    let far = V::mask_or(far, V::greater(ep, V::add(ez, V::splat(2 * HIDDEN))));
    (result, V::both(V::both(is_safe::<V>(er), are_normal::<V>(x, y)), V::mask_not(far)))
}

/// The exponent of a product as the unit takes it, in place: the product itself may be one larger.
#[inline(always)]
fn product_exponent<V: LaneVector>(x: V::Int, y: V::Int) -> V::Int {
    const BIAS: i32 = 127 << 23;
    V::sub(V::add(exponent_bits::<V>(x), exponent_bits::<V>(y)), V::splat(BIAS))
}

/// The host's result with zeros as the unit makes them, and the lanes where it may differ from the SFPU's.
///
/// The unit brings product and addend to a grid of three bits below the larger one's 24, with a sticky bit each, adds
/// them there and rounds. With only one sticky bit among even integers that is the host's rounding, as long as the sum
/// loses at most one bit to the left and at most one to the right (of two, one would leave no trace). The product has
/// no sticky bit if 24 bits hold it; the addend has none if it is at most four times smaller than the product. Results
/// near the ends of the range are left to the steps, with all that is denormal, infinite or NaN.
#[inline(always)]
fn host_fma<V: LaneVector, G: BlockMultiplyAdd>(x: V::Int, y: V::Int, z: V::Int) -> (V::Int, V::Mask) {
    let (fx, fy, fz) = (V::from_bits(x), V::from_bits(y), V::from_bits(z));
    let result = V::to_bits(V::fma(fx, fy, fz));
    let product = V::fma(fx, fy, V::splat_float(-0.0));
    let negated = V::from_bits(V::xor(V::to_bits(product), V::splat(i32::MIN)));
    let error = magnitude::<V>(V::to_bits(V::fma(fx, fy, negated)));

    let zero = V::splat(0);
    let empty = V::mask_or(V::equal(magnitude::<V>(x), zero), V::equal(magnitude::<V>(y), zero));
    let (ez, er) = (exponent_bits::<V>(z), exponent_bits::<V>(result));
    let ep = product_exponent::<V>(x, y);
    let largest = V::max(ep, ez);
    let kept = V::mask_not(V::greater(V::sub(largest, V::splat(HIDDEN)), er));
    let close = V::mask_not(V::greater(ep, V::add(ez, V::splat(2 * HIDDEN))));
    let exact = V::both(V::equal(error, zero), V::greater(magnitude::<V>(V::to_bits(product)), V::splat(SMALLEST - 1)));
    let traced = V::mask_not(V::greater(er, V::add(largest, V::splat(HIDDEN))));
    let rounded = V::both(traced, V::mask_or(exact, V::both(kept, close)));
    let alone = V::equal(magnitude::<V>(z), zero);
    let large = V::greater(er, V::splat(SMALLEST - 1));
    let harmless = V::mask_or(empty, V::both(large, V::mask_or(alone, rounded)));

    let operands = V::mask_or(V::is_irregular(x), V::is_irregular(y));
    let others = V::mask_or(V::is_irregular(z), V::is_irregular(result));
    let irregular = V::mask_or(operands, others);
    let kept =
        if G::KEEPS_ZERO_SIGNS { result } else { V::select(V::equal(magnitude::<V>(result), zero), zero, result) };
    (kept, V::mask_or(irregular, V::mask_not(harmless)))
}

// Functions, not closures: a closure handed to `map` would be compiled without the level's instructions.

#[inline(always)]
fn number<V: LaneVector>(integer: V::Int) -> V::Int {
    V::to_bits(V::lane_to_f32(integer))
}

#[inline(always)]
fn magnitude<V: LaneVector>(word: V::Int) -> V::Int {
    V::and(word, V::splat(MAGNITUDE))
}

/// The exponent field, in place.
#[inline(always)]
fn exponent_bits<V: LaneVector>(word: V::Int) -> V::Int {
    V::and(word, V::splat(INFINITY))
}

#[inline(always)]
fn exponent<V: LaneVector>(word: V::Int) -> V::Int {
    V::and(V::shr::<23>(word), V::splat(255))
}

/// With the hidden bit; 0 without exponent.
#[inline(always)]
fn significand<V: LaneVector>(word: V::Int, exponent: V::Int) -> V::Int {
    let full = V::or(V::and(word, V::splat(HIDDEN - 1)), V::splat(HIDDEN));
    V::keep(V::greater(exponent, V::splat(0)), full)
}

/// The mantissa of the approximate reciprocal, whose table holds rounded reciprocals of the middles of its intervals.
#[inline(always)]
pub(crate) fn reciprocal_mantissa<V: LaneVector>(word: V::Int) -> V::Int {
    const UPPER: i32 = 0x7f_0000;
    const ONE_AND_HALF_PLACE: i32 = 0x3f80_8000;
    let middle = V::from_bits(V::or(V::and(word, V::splat(UPPER)), V::splat(ONE_AND_HALF_PLACE)));
    V::and(V::add(V::to_bits(V::inverse(middle)), V::splat(0x8000)), V::splat(UPPER))
}

/// Wormhole's form.
#[inline(always)]
fn wormhole<V: LaneVector>(x: V::Int, y: V::Int, z: V::Int) -> V::Int {
    let zero = V::splat(0);
    let (ex, ey, ez) = (exponent::<V>(x), exponent::<V>(y), exponent::<V>(z));
    let product = sticky_product::<V>(significand::<V>(x, ex), significand::<V>(y, ey));
    let addend = V::shl::<3>(significand::<V>(z, ez));
    let full_exponent = V::sub(V::add(ex, ey), V::splat(127));
    let top = V::splat(255);
    let product_infinite = V::greater(full_exponent, V::splat(254));
    let product_exponent = V::select(product_infinite, top, full_exponent);
    // A product below the range is as good as none.
    let live = V::mask_not(V::mask_or(V::equal(product, zero), V::greater(zero, product_exponent)));
    let (product, product_exponent) = (V::keep(live, product), V::keep(live, product_exponent));

    let largest = V::max(product_exponent, ez);
    let p = semi_sticky::<V>(product, V::sub(largest, product_exponent));
    let a = semi_sticky::<V>(addend, V::sub(largest, ez));
    let product_sign = V::and(V::xor(x, y), V::splat(i32::MIN));
    let addend_sign = V::and(z, V::splat(i32::MIN));
    let difference = V::sub(p, a);
    let turned = V::greater(zero, difference);
    let distance = V::select(turned, V::sub(a, p), difference);
    let same_sign = V::equal(product_sign, addend_sign);
    let magnitude = V::select(same_sign, V::add(p, a), distance);
    let sign = V::select(turned, addend_sign, product_sign);

    // The leading one goes to bit 26; of what leaves to the right only the lowest bit is kept.
    let shift = V::sub(V::splat(5), V::leading_zeros(magnitude));
    let exponent = V::add(largest, shift);
    let right = V::or(V::shr_by(magnitude, shift), V::and(magnitude, V::splat(1)));
    let left = V::shl_by(magnitude, V::sub(zero, shift));
    let normal = V::select(V::greater(shift, zero), right, left);
    let word = V::add(V::shl::<23>(exponent), V::and(V::shr::<3>(normal), V::splat(HIDDEN - 1)));
    let round = V::greater(V::add(V::and(normal, V::splat(7)), V::and(word, V::splat(1))), V::splat(4));
    let word = V::add(word, V::keep(round, V::splat(1)));

    let overflow = V::greater(exponent, V::splat(254));
    let underflow = V::mask_or(V::greater(zero, exponent), V::greater(V::splat(HIDDEN), word));
    let underflow = V::mask_or(underflow, V::equal(magnitude, zero));
    let regular = V::mask_not(V::mask_or(overflow, underflow));
    let finite = V::keep(regular, V::or(sign, word));
    let result = V::select(overflow, V::or(sign, V::splat(INFINITY)), finite);

    let operands = V::mask_or(V::equal(ex, top), V::equal(ey, top));
    let product_infinite = V::mask_or(operands, product_infinite);
    let special = V::mask_or(product_infinite, V::equal(ez, top));
    if !V::mask_any(special) {
        return result;
    }
    let infinite = V::or(product_sign, V::splat(INFINITY));
    let z_infinite = V::equal(V::and(z, V::splat(MAGNITUDE)), V::splat(INFINITY));
    let z_nan = V::both(V::equal(ez, top), V::mask_not(z_infinite));
    let opposite = V::both(V::both(z_infinite, product_infinite), V::mask_not(same_sign));
    let made = V::mask_or(V::mask_or(factor_is_nan::<V>(x, ey), factor_is_nan::<V>(y, ex)), opposite);
    // What the arithmetic made of a NaN's bits leaks into it.
    let nan_sign = V::select(made, product_sign, addend_sign);
    let nan = V::or(V::or(nan_sign, V::splat(INFINITY | 1)), V::keep(regular, word));
    let number = V::select(z_infinite, z, infinite);
    V::select(special, V::select(V::mask_or(made, z_nan), nan, number), result)
}

/// Blackhole's form.
#[inline(always)]
fn blackhole<V: LaneVector>(x: V::Int, y: V::Int, z: V::Int) -> V::Int {
    let zero = V::splat(0);
    let (ex, ey, ez) = (exponent::<V>(x), exponent::<V>(y), exponent::<V>(z));
    let product = sticky_product::<V>(significand::<V>(x, ex), significand::<V>(y, ey));
    let addend = V::shl::<3>(significand::<V>(z, ez));
    let product_exponent = V::sub(V::add(ex, ey), V::splat(127));
    let product_sign = V::and(V::xor(x, y), V::splat(i32::MIN));
    let addend_sign = V::and(z, V::splat(i32::MIN));
    let both_signs = V::and(product_sign, addend_sign);
    let no_product = V::mask_or(V::equal(product, zero), V::greater(zero, product_exponent));

    let largest = V::max(product_exponent, ez);
    let p = semi_sticky::<V>(product, V::sub(largest, product_exponent));
    let a = semi_sticky::<V>(addend, V::sub(largest, ez));
    let difference = V::sub(p, a);
    let turned = V::greater(zero, difference);
    let distance = V::select(turned, V::sub(a, p), difference);
    let magnitude = V::select(V::equal(product_sign, addend_sign), V::add(p, a), distance);
    let sign = V::select(turned, addend_sign, product_sign);

    // The leading one goes to bit 26, or as much lower as the exponent would be below 0. All that leaves to the right
    // beyond one place is kept.
    let leading = V::sub(V::splat(5), V::leading_zeros(magnitude));
    let exponent = V::add(largest, leading);
    let low = V::greater(V::splat(1), exponent);
    let shift = V::select(low, V::sub(V::splat(1), largest), leading);
    let field = V::select(low, zero, exponent);
    let lost = V::and(magnitude, V::or(shift, V::splat(1)));
    let trace = V::keep(V::mask_not(V::equal(lost, zero)), V::splat(1));
    let right = V::or(V::shr_by(magnitude, shift), trace);
    let right = V::keep(V::greater(V::splat(32), shift), right);
    let left = V::shl_by(magnitude, V::sub(zero, shift));
    let normal = V::select(V::greater(shift, zero), right, left);
    let word = V::add(V::shl::<23>(field), V::and(V::shr::<3>(normal), V::splat(HIDDEN - 1)));
    let round = V::greater(V::add(V::and(normal, V::splat(7)), V::and(word, V::splat(1))), V::splat(4));
    let word = V::add(word, V::keep(round, V::splat(1)));

    let finite = V::or(sign, V::keep(V::greater(word, V::splat(HIDDEN - 1)), word));
    let result = V::select(V::greater(exponent, V::splat(254)), V::or(sign, V::splat(INFINITY)), finite);
    let result = V::select(V::equal(magnitude, zero), both_signs, result);
    let alone = V::select(V::equal(addend, zero), both_signs, z);
    let result = V::select(no_product, alone, result);

    let top = V::splat(255);
    let operands = V::mask_or(V::equal(ex, top), V::equal(ey, top));
    let addend_special = V::equal(ez, top);
    let special = V::mask_or(V::mask_or(operands, addend_special), V::greater(product_exponent, V::splat(254)));
    if !V::mask_any(special) {
        return result;
    }
    let infinite = V::or(product_sign, V::splat(INFINITY));
    let z_infinite = V::equal(V::and(z, V::splat(MAGNITUDE)), V::splat(INFINITY));
    let z_nan = V::both(addend_special, V::mask_not(z_infinite));
    let opposite = V::both(V::both(z_infinite, operands), V::mask_not(V::equal(product_sign, addend_sign)));
    let made = V::mask_or(V::mask_or(factor_is_nan::<V>(x, ey), factor_is_nan::<V>(y, ex)), opposite);
    let number = V::select(z_infinite, z, infinite);
    let value = V::select(V::mask_or(made, z_nan), V::splat(NAN), number);
    V::select(special, value, result)
}

/// NaN, or infinity times zero; denormals are zeros.
#[inline(always)]
fn factor_is_nan<V: LaneVector>(word: V::Int, other_exponent: V::Int) -> V::Mask {
    let magnitude = V::and(word, V::splat(MAGNITUDE));
    let infinite = V::equal(magnitude, V::splat(INFINITY));
    let nothing = V::both(infinite, V::equal(other_exponent, V::splat(0)));
    V::mask_or(V::greater(magnitude, V::splat(INFINITY)), nothing)
}

/// Upper 28 bits of the product of two significands, the lowest set if any lost bit was.
#[inline(always)]
fn sticky_product<V: LaneVector>(a: V::Int, b: V::Int) -> V::Int {
    let low = V::splat(0xfff);
    let (ah, al, bh, bl) = (V::shr::<12>(a), V::and(a, low), V::shr::<12>(b), V::and(b, low));
    let middle = V::add(V::mul(ah, bl), V::mul(al, bh));
    let lowest = V::add(V::mul(al, bl), V::shl::<12>(V::and(middle, V::splat(0xff))));
    let upper = V::add(V::shl::<4>(V::mul(ah, bh)), V::add(V::shr::<8>(middle), V::shr::<20>(lowest)));
    let lost = V::greater(V::and(lowest, V::splat(0xf_ffff)), V::splat(0));
    V::or(upper, V::keep(lost, V::splat(1)))
}

/// Right shift that ORs lost bits into the lowest one, unless nothing is left at all.
#[inline(always)]
fn semi_sticky<V: LaneVector>(value: V::Int, shift: V::Int) -> V::Int {
    let shifted = V::shr_by(value, shift);
    let lost = V::mask_not(V::equal(V::shl_by(shifted, shift), value));
    let sticky = V::both(lost, V::greater(shifted, V::splat(0)));
    V::or(shifted, V::keep(sticky, V::splat(1)))
}

mod x86 {
    #[allow(clippy::wildcard_imports, reason = "intrinsics of one family")]
    use std::arch::x86_64::*;

    use super::{Avx2, Avx512, BlockMultiplyAdd, LaneVector, VECTORS, exponent_bits, product_exponent};
    use crate::exec::grid;
    use tt_cpu::vector::x86::lanes;

    const NAN_INFINITY_DENORMAL: i32 = 0xb9;

    type Words512 = [__m512i; VECTORS];
    type Words256 = [__m256i; VECTORS];

    impl LaneVector for Avx512 {
        lanes! {
            mask_or(a: __mmask16, b: __mmask16) -> __mmask16 = a | b;
            mask_not(a: __mmask16) -> __mmask16 = !a;
            mask_any(a: __mmask16) -> bool = a != 0;
            is_irregular(word: __m512i) -> __mmask16
                = _mm512_fpclass_ps_mask::<NAN_INFINITY_DENORMAL>(_mm512_castsi512_ps(word));
            lane_to_f32(a: __m512i) -> __m512 = _mm512_cvtepi32_ps(a);
            inverse(a: __m512) -> __m512 = _mm512_div_ps(_mm512_set1_ps(1.0), a);
        }
        #[inline(always)]
        fn lane_mad<G: BlockMultiplyAdd>(a: &Words512, b: &Words512, c: &Words512) -> Words512 {
            // SAFETY: lanes of AVX-512 are used on hosts that have it.
            unsafe { multiply_add_avx512::<G>(a, b, c) }
        }
        #[inline(always)]
        fn on_grid(a: &Words512, b: &Words512, c: &Words512) -> Option<Words512> {
            let first = grid::multiply_add(a[0], b[0], c[0]);
            let second = grid::multiply_add(a[1], b[1], c[1]);
            (first.wrong() | second.wrong() == 0).then_some([first.words, second.words])
        }
    }

    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt")]
    fn multiply_add_avx512<G: BlockMultiplyAdd>(a: &Words512, b: &Words512, c: &Words512) -> Words512 {
        G::multiply_add_of_level::<Avx512>(a, b, c)
    }

    impl LaneVector for Avx2 {
        lanes! {
            mask_or(a: __m256i, b: __m256i) -> __m256i = _mm256_or_si256(a, b);
            mask_not(a: __m256i) -> __m256i = _mm256_xor_si256(a, _mm256_set1_epi32(-1));
            mask_any(a: __m256i) -> bool = _mm256_movemask_epi8(a) != 0;
            lane_to_f32(a: __m256i) -> __m256 = _mm256_cvtepi32_ps(a);
            inverse(a: __m256) -> __m256 = _mm256_div_ps(_mm256_set1_ps(1.0), a);
        }
        #[inline(always)]
        fn lane_mad<G: BlockMultiplyAdd>(a: &Words256, b: &Words256, c: &Words256) -> Words256 {
            // SAFETY: lanes of AVX2 are used on hosts that have it.
            unsafe { multiply_add_avx2::<G>(a, b, c) }
        }
        #[inline(always)]
        fn of_close_terms(x: __m256i, y: __m256i, z: __m256i) -> Option<__m256i> {
            // SAFETY: as above.
            Some(unsafe { close_terms_avx2(x, y, z) })
        }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
    fn close_terms_avx2(x: __m256i, y: __m256i, z: __m256i) -> __m256i {
        let largest = _mm256_max_epi32(product_exponent::<Avx2>(x, y), exponent_bits::<Avx2>(z));
        let lower = |words: __m256i| _mm256_castsi256_si128(words);
        let upper = |words: __m256i| _mm256_extracti128_si256::<1>(words);
        _mm256_set_m128i(
            close_terms(upper(x), upper(y), upper(z), upper(largest)),
            close_terms(lower(x), lower(y), lower(z), lower(largest)),
        )
    }

    /// The exact sum, rounded to odd at 2^-26 of the larger exponent, then to nearest.
    ///
    /// FP64 holds the sum: the product has 48 bits, and begins at most four below the addend. The addend is an even number
    /// of places of the grid, so that rounding the product to odd is rounding the sum to odd.
    #[inline]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
    fn close_terms(x: __m128i, y: __m128i, z: __m128i, largest: __m128i) -> __m128i {
        let wide = |words: __m128i| _mm256_cvtps_pd(_mm_castsi128_ps(words));
        let sum = _mm256_fmadd_pd(wide(x), wide(y), wide(z));
        // 1.5 * 2^52 places: a sum with it keeps no part of a place.
        let exponent = _mm256_slli_epi64::<29>(_mm256_cvtepi32_epi64(largest));
        let offset = _mm256_set1_epi64x((1023 - 127 - 26 + 52) << 52 | 1 << 51);
        let places = _mm256_castsi256_pd(_mm256_add_epi64(exponent, offset));
        let whole = _mm256_add_pd(sum, places);
        let rest = _mm256_sub_pd(sum, _mm256_sub_pd(whole, places));
        let above = _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_GT_OQ>(rest, _mm256_setzero_pd()));
        let below = _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_LT_OQ>(rest, _mm256_setzero_pd()));
        // An even place with a rest becomes the odd one on the rest's side.
        let word = _mm256_castpd_si256(whole);
        let even = _mm256_andnot_si256(word, _mm256_set1_epi64x(1));
        let step = _mm256_sub_epi64(_mm256_and_si256(even, above), _mm256_and_si256(even, below));
        let odd = _mm256_castsi256_pd(_mm256_add_epi64(word, step));
        _mm_castps_si128(_mm256_cvtpd_ps(_mm256_sub_pd(odd, places)))
    }

    #[inline(never)]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
    fn multiply_add_avx2<G: BlockMultiplyAdd>(a: &Words256, b: &Words256, c: &Words256) -> Words256 {
        G::multiply_add_of_level::<Avx2>(a, b, c)
    }
}
