//! Reductions of columns that span consecutive tiles, at equal positions.
//!
//! A program that reduces a leading dimension exchanges it with the height first and reduces columns. Nothing but the
//! place of the datums differs, so that they need not move.

use crate::combine::Rules;
use tt_cpu::Level;
use tt_formats::{Wormhole, by_generation};

use super::super::combine::lanes::{combine, combine_one, finish_units};
use super::super::operand::Phase;
use super::super::{Dst, Src};
use super::Reduction;
use super::lanes::{Group, chained_sums, group_sums, order, place, start_mask};
use tt_cpu::vector::{Vector, vector_kernel};
use tt_tensix::regs::{FACE_SIDE, TILE_DATUMS};

/// Products of a group.
const GROUP: usize = 8;

impl Reduction {
    /// Reduces up to 32 tiles onto `dst`, position by position.
    ///
    /// With the bits that [`Reduction::run`] gives for the columns of a tile that has one of these datums in each row,
    /// and zeros below them. A maximum is that of the datums alone. Of a `fresh` sum what is in `dst` counts as zero.
    ///
    /// For a sum the number of tiles has to be a multiple of eight, or two or four more; tiles of zeros fill it up.
    ///
    /// # Panics
    /// For other numbers of tiles, for reductions of rows and for 5-bit exponents.
    pub fn across(&self, level: Level, dst: &mut Dst, tiles: &[Src], fresh: bool) {
        assert!(!self.rows && self.cfg.mode().e8, "columns of datums with 8-bit exponents");
        let rest = tiles.len() % GROUP;
        assert!(tiles.len() <= 2 * FACE_SIDE && (!self.sum || matches!(rest, 0 | 2 | 4)), "tiles of a reduction");
        self.run_across(level, dst, tiles, Job { fresh, ..Job::new(self, level) });
    }

    /// [`Self::across`] for the largest of negated datums.
    ///
    /// They are zeros without a sign and normal numbers.
    ///
    /// # Panics
    /// As [`Self::across`], and for sums.
    pub fn across_negated(&self, level: Level, dst: &mut Dst, tiles: &[Src]) {
        assert!(!self.rows && self.cfg.mode().e8 && !self.sum, "columns of datums with 8-bit exponents");
        self.run_across(level, dst, tiles, Job { flip: 1 << 31, ..Job::new(self, level) });
    }

    fn run_across(&self, level: Level, dst: &mut Dst, tiles: &[Src], job: Job<'_>) {
        let phases = self.cfg.fidelity.phases() as usize;
        let factors = &self.factors[0][0];
        let short = job.fresh && job.chains && tiles.len() <= GROUP && phases <= SHORT_PHASES && factors.is_short();
        across_kernel::run(level, &Job { tiles, short: short && self.cfg.mode().dst32, ..job }, dst);
    }
}

/// Most phases whose sums are exact in an empty 32-bit `Dst`.
const SHORT_PHASES: usize = 3;

/// What one call computes.
#[derive(Clone, Copy)]
struct Job<'a> {
    reduction: &'a Reduction,
    tiles: &'a [Src],
    /// The level has multiply-add instructions.
    chains: bool,
    /// What is in `Dst` counts as zero.
    fresh: bool,
    /// [`exact_sum`] computes the sum of groups with ordinary datums.
    short: bool,
    /// Signs of datums that are changed, where FP32 has them.
    flip: i32,
}

impl<'a> Job<'a> {
    fn new(reduction: &'a Reduction, level: Level) -> Self {
        let chains = level.available() != Level::Scalar;
        Self { reduction, tiles: &[], chains, fresh: false, short: false, flip: 0 }
    }
}

vector_kernel!(across_kernel, across_body, (job: &Job<'_>, dst: &mut Dst));

#[inline(always)]
fn across_body<V: Vector>(job: &Job<'_>, dst: &mut Dst) {
    let mode = job.reduction.cfg.mode();
    match (job.reduction.sum, mode.dst32) {
        (false, _) => largest::<V>(job, dst),
        (true, false) => sums::<V, false, Wormhole>(job, dst),
        (true, true) => by_generation!(mode.arch, G => sums::<V, true, G>(job, dst)),
    }
}

#[inline(always)]
fn largest<V: Vector>(job: &Job<'_>, dst: &mut Dst) {
    for at in (0..TILE_DATUMS).step_by(V::LANES) {
        let mut largest = order::<V>(V::and(V::load(&dst[at..]), start_mask::<V>(job.reduction)));
        for tile in job.tiles {
            largest = V::max(largest, place::<V>(job.reduction, V::load(&tile[at..]), job.flip));
        }
        V::store(order::<V>(largest), &mut dst[at..]);
    }
}

/// Groups of zeros are left out: they take part with the exponent 0 and leave a word of `Dst` as it is.
#[inline(always)]
fn sums<V: Vector, const DST32: bool, G: Rules>(job: &Job<'_>, dst: &mut Dst) {
    let reduction = job.reduction;
    let phases = reduction.cfg.fidelity.phases() as usize;
    for at in (0..TILE_DATUMS).step_by(V::LANES) {
        let mut sum = if job.fresh { V::splat(0) } else { V::load(&dst[at..]) };
        for (face, tiles) in job.tiles.chunks(FACE_SIDE).enumerate() {
            let data = &tiles.as_flattened()[at..];
            let (first, ordinary) = group::<V>(job, phases, (data, tiles.len()), face, 0);
            if job.short && ordinary {
                sum = exact_sum::<V>(reduction, &first);
                continue;
            }
            if tiles.len() <= GROUP {
                for (number, &products) in first.sums[..phases].iter().enumerate() {
                    let exponent =
                        V::add(first.largest, V::splat(Phase::new(reduction.cfg.mode(), number as u32).adjust));
                    let products = V::keep(V::greater(exponent, V::splat(0)), products);
                    let exponent = V::max(exponent, V::splat(0));
                    sum = combine_one::<V, DST32, true, G>((products, exponent), sum);
                }
                continue;
            }
            let (second, _) = group::<V>(job, phases, (data, tiles.len()), face, GROUP);
            for number in 0..phases {
                let terms = [(first.sums[number], first.largest), (second.sums[number], second.largest)];
                let adjust = Phase::new(reduction.cfg.mode(), number as u32).adjust;
                sum = combine::<V, DST32, true, G>(adjust, terms, sum);
            }
        }
        V::store(sum, &mut dst[at..]);
    }
}

/// The first group of a sum, all phases of it, in an empty 32-bit `Dst`: see [`Factors::is_short`].
///
/// With the exponent `X` of the group, all sums are multiples of `2^(X - 144)`, the unit of the third phase, and below
/// `2^(X - 121)`. So `Dst` has an exponent of `X + 5` at most, whose grid is twice as fine as this unit or finer: no
/// phase rounds anything, a total that needs one more bit is even, and none is the one that Wormhole gets wrong.
#[inline(always)]
fn exact_sum<V: Vector>(reduction: &Reduction, group: &Group<V>) -> V::Int {
    let [first, second, third, _] = group.sums;
    let total = V::add(V::add(V::shl::<7>(first), V::shl::<2>(second)), third);
    let adjust = Phase::new(reduction.cfg.mode(), 2).adjust;
    finish_units::<V, true, true>(total, V::add(group.largest, V::splat(adjust)))
}

/// The group that begins with tile `first` of a face; true if its datums are ordinary.
#[inline(always)]
fn group<V: Vector>(
    job: &Job<'_>,
    phases: usize,
    (data, tiles): (&[u32], usize),
    face: usize,
    first: usize,
) -> (Group<V>, bool) {
    let data = &data[first * TILE_DATUMS..];
    match tiles - first {
        2 => products::<V, 2>(job, phases, data, face, first),
        4 => products::<V, 4>(job, phases, data, face, first),
        _ => products::<V, 8>(job, phases, data, face, first),
    }
}

#[inline(always)]
fn products<V: Vector, const ROWS: usize>(
    job: &Job<'_>,
    phases: usize,
    data: &[u32],
    face: usize,
    first: usize,
) -> (Group<V>, bool) {
    // The scaler's left faces stand for both halves: every datum is multiplied by the same factor.
    let (reduction, factors) = (job.reduction, &job.reduction.factors[0][face]);
    if job.chains && factors.ordinary {
        let mut outside = V::splat(0);
        let group = chained_sums::<V, TILE_DATUMS, ROWS>(reduction, phases, data, factors, first, &mut outside);
        let mut signs = [0; FACE_SIDE];
        V::store(outside, &mut signs);
        if signs.iter().all(|word| word >> 31 == 0) {
            return (group, true);
        }
    }
    (group_sums::<V, true, TILE_DATUMS, ROWS>(reduction, phases, data, factors, first), false)
}
