//! Every step against the definition, where it has no fallback.

use tt_cpu::Level;
use tt_testkit::random::Random;

use tt_cpu::vector::Vector;
use tt_cpu::vector::avx512::Avx512 as A;
use tt_sfpu::arith::fma::wormhole;
use tt_sfpu::checked::{LOW_OVER, NEAR, Plan, SERIES_32, SINE_32, SpecLanes, Speculative};
use tt_sfpu::functions::blocks::Blocks;
use tt_sfpu::lane::{Lane, MINUS_ONE, ONE, ROUNDER, mad, max, min, polynomial};

const SIGN: u32 = 1 << 31;
/// One step of the exponent.
const STEP: u32 = 1 << 23;

const PI: u32 = 0x4049_0fdb;

type Program = fn(SpecLanes, SpecLanes, SpecLanes) -> SpecLanes;
type Definition = fn(u32, u32, u32) -> u32;

/// A piece that has the same text on lanes and on words.
macro_rules! piece {
    ($name:literal, |$x:ident $(, $other:pat_param)*| $body:expr) => {
        ($name, |$x $(, $other)*| $body, |$x $(, $other)*| $body)
    };
}

/// A step, and what it is to compute.
const STEPS: [(&str, Program, Definition); 23] = [
    ("mad", |x, y, z| x.mad(y, z), wormhole),
    ("mad, constant addend", |x, y, _| x.mad(y, SpecLanes::from(0xbf8c_5e71)), |x, y, _| wormhole(x, y, 0xbf8c_5e71)),
    ("mad, constant 1", |x, y, _| x.mad(y, SpecLanes::from(ONE)), |x, y, _| wormhole(x, y, ONE)),
    ("mad, large constant", |x, y, _| x.mad(y, SpecLanes::from(ROUNDER)), |x, y, _| wormhole(x, y, ROUNDER)),
    ("mad, constant power", |x, _, z| x.mad(SpecLanes::from(0x3e80_0000), z), |x, _, z| wormhole(x, 0x3e80_0000, z)),
    piece!("mad, constant power above 1", |x, _, z| mad(x, 0xc080_0000_u32, z)),
    ("fma", |x, y, z| x.fma(y, z), wormhole),
    ("fma, constant addend", |x, y, _| x.fma(y, SpecLanes::from(0x3fb8_aa3b)), |x, y, _| wormhole(x, y, 0x3fb8_aa3b)),
    ("fma of a small product", |x, y, z| x.fma_small(y, z), wormhole),
    ("plus", |x, _, z| x.plus(z), |x, _, z| wormhole(ONE, x, z)),
    ("minus", |x, _, z| x.minus(z), |x, _, z| wormhole(MINUS_ONE, z, x)),
    ("times", |x, y, _| x.times(y), |x, y, _| wormhole(x, y, 0)),
    ("times, constant", |x, _, _| x.times(SpecLanes::from(0x3fb8_aa3b)), |x, _, _| wormhole(x, 0x3fb8_aa3b, 0)),
    ("times, small constant", |x, _, _| x.times(SpecLanes::from(0xbeb8_aa3b)), |x, _, _| wormhole(x, 0xbeb8_aa3b, 0)),
    ("residual of one", |x, y, _| x.fma_residual(y, SpecLanes::from(ONE)), |x, y, _| wormhole(x, y, ONE)),
    ("residual", |x, y, z| x.fma_residual(y, z), wormhole),
    ("reduction", |x, _, z| x.fma_reduction(SpecLanes::from(0xbf31_7200), z), |x, _, z| wormhole(x, 0xbf31_7200, z)),
    (
        "reduction by a short one",
        |x, _, z| x.fma_reduction(SpecLanes::from(0xbfc9_0000), z),
        |x, _, z| wormhole(x, 0xbfc9_0000, z),
    ),
    piece!("horner", |x, y, _| x.horner(y, &[0x3eaa_aaab, 0xbf00_0003])),
    // Integers of any length.
    piece!("integers' quotient", |x, y, z| x.divide(y.shr(z), true).0),
    piece!("integers' rest", |x, y, z| x.divide(y.shr(z), false).1),
    piece!("greatest common divisor", |x, y, z| x.shr(z).gcd_rounds(y.shr(z), 30)),
    piece!("few rounds of it", |x, y, z| x.gcd_rounds(y.shr(z), 14)),
];

#[target_feature(enable = "avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt")]
fn run(step: Program, [x, y, z]: [&[u32; 32]; 3]) -> ([u32; 32], u32) {
    let (words, fallback) = step(SpecLanes::load(x), SpecLanes::load(y), SpecLanes::load(z)).parts();
    let mut out = [0; 32];
    A::store(words[0], &mut out);
    A::store(words[1], &mut out[16..]);
    (out, u32::from(fallback[0]) | u32::from(fallback[1]) << 16)
}

fn mantissa(random: &mut Random) -> u32 {
    let bits = random.below(STEP);
    match random.below(5) {
        0 => bits & !0u32 << random.below(24),
        1 => STEP - 1 - (bits >> random.below(24)),
        2 => bits >> random.below(24),
        _ => bits,
    }
}

/// Any bits, numbers around 1, the ends of the range, and corners.
fn word(random: &mut Random) -> u32 {
    let sign = random.below(2) << 31;
    let exponent = match random.below(12) {
        0 => random.below(256),
        1 => random.below(3),
        2 => 252 + random.below(4),
        _ => 118 + random.below(18),
    };
    match random.below(40) {
        0 => [0, SIGN, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x7f80_0001, 1, 0x7f_ffff][random.below(8) as usize],
        1 => sign | exponent << 23,
        _ => sign | exponent << 23 | mantissa(random),
    }
}

/// A number of any length up to that many bits.
fn below_power(random: &mut Random, bits: u32) -> u32 {
    let bits = random.below(bits);
    random.below(1 << bits)
}

/// Three words whose product and sum stand in a relation: none, nearly cancelled, a tie, or far apart.
fn triple(random: &mut Random) -> [u32; 3] {
    let (mut x, mut y) = (word(random), word(random));
    if random.one_in(4) {
        y = y & 0xff80_0000 | y & 0x7f_8000 & !0u32 << random.below(24);
    }
    if random.one_in(5) {
        // A power of two.
        y &= 0xff80_0000;
    }
    if random.one_in(6) {
        // A small integer.
        x = (random.below(400) as f32).to_bits() | random.below(2) << 31;
    }
    let product = wormhole(x, y, 0);
    let z = match random.below(9) {
        0 | 1 => word(random),
        2 | 3 => (product ^ SIGN).wrapping_add(random.below(64)).wrapping_sub(32),
        4 => (product ^ SIGN).wrapping_add(below_power(random, 23)),
        5 => (product ^ SIGN).wrapping_sub(below_power(random, 23)),
        6 => product ^ random.below(2) << 31 ^ mantissa(random),
        7 => {
            product.wrapping_add((random.below(70) << 23).wrapping_sub(35 << 23))
                ^ mantissa(random)
                ^ random.below(2) << 31
        }
        _ => {
            product.wrapping_add((random.below(12) << 23).wrapping_sub(6 << 23))
                ^ mantissa(random)
                ^ random.below(2) << 31
        }
    };
    // Factors whose product nearly cancels 1.
    if random.one_in(5) {
        let inverse = (-1.0 / f32::from_bits(x)).to_bits();
        return [x, inverse.wrapping_add(below_power(random, 22)).wrapping_sub(below_power(random, 22)), z];
    }
    [x, y, z]
}

fn check(blocks: usize, seed: u64) -> Vec<(&'static str, f64)> {
    let mut random = Random::new(seed);
    let mut fallbacks = [0u64; STEPS.len()];
    for _ in 0..blocks {
        let (mut x, mut y, mut z) = ([0; 32], [0; 32], [0; 32]);
        for lane in 0..32 {
            [x[lane], y[lane], z[lane]] = triple(&mut random);
        }
        for (&(name, step, definition), fallbacks) in STEPS.iter().zip(&mut fallbacks) {
            // SAFETY: the caller asked for the level.
            let (words, fallback) = unsafe { run(step, [&x, &y, &z]) };
            *fallbacks += u64::from(fallback.count_ones());
            for lane in 0..32 {
                if fallback >> lane & 1 == 0 {
                    let expected = definition(x[lane], y[lane], z[lane]);
                    let (x, y, z, got) = (x[lane], y[lane], z[lane], words[lane]);
                    assert_eq!(got, expected, "{name}: {x:08x} * {y:08x} + {z:08x}: {got:08x}, not {expected:08x}");
                }
            }
        }
    }
    let share = |count: u64| count as f64 / (32 * blocks) as f64;
    STEPS.iter().zip(fallbacks).map(|(step, count)| (step.0, share(count))).collect()
}

#[test]
fn lanes_without_fallback_have_the_bits_of_the_definition() {
    if Level::Avx512.is_supported() {
        for (name, share) in check(4_000, 7) {
            // Each step is sure of some of what it is not made for.
            assert!(share < 0.95, "{name} fallbacks {share}");
        }
    }
}

#[test]
#[ignore = "minutes; `cargo xtask speculative` runs it"]
fn lanes_without_fallback_have_the_bits_of_the_definition_400_million_times() {
    if Level::Avx512.is_supported() {
        for (name, share) in check(1_000_000, 8) {
            println!("{name}: {:.1} % in fallback", 100.0 * share);
        }
    }
}

/// Terms that cancel, coefficients that the grid cuts, or cuts to nothing, and sums that grow, in every form.
const CANCELLING: [u32; 5] = [0x3c61_3a07, 0xbe20_af97, 0x3f2e_8e14, 0xbfab_356a, 0x3f80_00c4];
const PLAN_OF_CANCELLING: Plan = Plan::new(&CANCELLING, 0.0, 2.5);
const PLAN_OF_GROWING: Plan = Plan::new(&LOW_OVER, 0.0, 10.0);
const VANISHING: [u32; 4] = [0x3f53_ce10, ONE, 0x3eda_185a, 0xb388_ee08];
const PLAN_OF_VANISHING: Plan = Plan::new(&VANISHING, 0.0, 30.0);
const PLAN_OF_CROSSING: Plan = Plan::new(&NEAR, -0.999_999_94, 0.999_999_94);
/// The same function of the number's negative: what holds below zero holds above.
const MIRRORED: [u32; 11] = mirrored(NEAR);
const PLAN_OF_MIRRORED: Plan = Plan::new(&MIRRORED, -0.999_999_94, 1.0);

/// Odd powers' coefficients with the other sign.
const fn mirrored(mut coefficients: [u32; 11]) -> [u32; 11] {
    let mut i = 1;
    while i < coefficients.len() {
        coefficients[i] ^= SIGN;
        i += 2;
    }
    coefficients
}

fn within(x: SpecLanes, coefficients: &[u32], plan: Plan) -> SpecLanes {
    SpecLanes::from(coefficients[0]).horner_within(x, &coefficients[1..], plan)
}

fn planned(x: SpecLanes, coefficients: &[u32], plan: Plan) -> SpecLanes {
    SpecLanes::from(coefficients[0]).horner_planned(x, &coefficients[1..], plan)
}

/// Building blocks and polynomials by their speculative programs, with what they are to compute.
const WHOLE: [(&str, Program, Definition); 26] = [
    (
        "cancelling polynomial",
        |x, _, _| within(x, &CANCELLING, PLAN_OF_CANCELLING),
        |x, _, _| polynomial(x, CANCELLING),
    ),
    ("growing polynomial", |x, _, _| within(x, &LOW_OVER, PLAN_OF_GROWING), |x, _, _| polynomial(x, LOW_OVER)),
    (
        "polynomial with a small coefficient",
        |x, _, _| within(x, &VANISHING, PLAN_OF_VANISHING),
        |x, _, _| polynomial(x, VANISHING),
    ),
    (
        "polynomial that crosses zero",
        |x, _, _| planned(x.expect_up_to(0.999_999_94), &NEAR, PLAN_OF_CROSSING),
        |x, _, _| polynomial(x, NEAR),
    ),
    (
        "polynomial that crosses zero, mirrored",
        |x, _, _| planned(x.expect_up_to(0.999_999_94), &MIRRORED, PLAN_OF_MIRRORED),
        |x, _, _| polynomial(x, MIRRORED),
    ),
    piece!("root", |x, _, _| x.refine_root(x.inverse_root())),
    piece!("inverse root", |x, _, _| x.refine_inverse_root(x.inverse_root())),
    piece!("root by Newton steps", |x, _, _| x.newton_root(3)),
    piece!("main part of the gamma function's logarithm", |x, _, _| x.lgamma_stirling()),
    ("quotient by a constant", |x, _, _| x.div_f32(0xc049_0fdb.into()), |x, _, _| x.div_f32(0xc049_0fdb)),
    ("quotient of a constant", |x, _, _| SpecLanes::from(PI).div_f32(x), |x, _, _| PI.div_f32(x)),
    piece!("logarithm to base 2", |x, _, _| x.binary(SERIES_32)),
    piece!("error function", |x, _, _| x.erf_f32(2)),
    piece!("hyperbolic tangent", |x, _, _| x.tanh_f32()),
    piece!("cosine", |x, _, _| x.cos(SINE_32)),
    piece!("sine", |x, _, _| x.sin(SINE_32)),
    piece!("logarithm", |x, _, _| x.natural(SERIES_32, None)),
    piece!("logarithm of the next number", |x, _, _| x.log1p(SERIES_32)),
    piece!("exponential", |x, _, _| x.exp_f32()),
    piece!("reciprocal", |x, _, _| x.reciprocal(2)),
    piece!("reciprocal in one step", |x, _, _| x.reciprocal(1)),
    piece!("reciprocal without a step", |x, _, _| x.reciprocal(0)),
    piece!("minimum", |x, _, _| min(x, 0x4120_0000_u32)),
    piece!("minimum, negative bound", |x, _, _| min(x, 0xc120_0000_u32)),
    piece!("maximum", |x, _, _| max(x, 0x4120_0000_u32)),
    piece!("maximum, negative bound", |x, _, _| max(x, 0xc120_0000_u32)),
];

/// Runs the pieces on every `stride`th word and on some of every kind.
fn check_whole(stride: usize) {
    let mut random = Random::new(9);
    let ordered = (0..=u32::MAX).step_by(stride);
    // Powers of two and their neighbours, of which the logarithm is nearly a multiple of ln 2.
    let powers = (1..511).flat_map(|power: u32| (0..128).map(move |step| (power << 23) + step - 64));
    let words: Vec<u32> = ordered.chain(powers).chain((0..100_000).map(|_| word(&mut random))).collect();
    for (name, piece, definition) in WHOLE {
        let mut fallbacks = 0;
        for x in words.as_chunks::<32>().0 {
            // SAFETY: the caller asked for the level.
            let (got, fallback) = unsafe { run(piece, [x, x, x]) };
            fallbacks += fallback.count_ones() as usize;
            for lane in (0..32).filter(|lane| fallback >> lane & 1 == 0) {
                let expected = definition(x[lane], 0, 0);
                assert_eq!(got[lane], expected, "{name}: {:08x}: {:08x}, not {expected:08x}", x[lane], got[lane]);
            }
        }
        // Each piece is sure of the numbers around 1, or of more. The least is that of the cosine, from 2^-16 to 64: 8
        // % of all words.
        assert!(fallbacks < words.len() * 23 / 25, "{name} fallbacks {fallbacks} of {}", words.len());
    }
}

#[test]
fn whole_pieces_have_the_bits_of_the_definition() {
    if Level::Avx512.is_supported() {
        check_whole(9_973);
    }
}

#[test]
#[ignore = "minutes; `cargo xtask speculative` runs it"]
fn whole_pieces_have_the_bits_of_the_definition_for_80_million_words() {
    if Level::Avx512.is_supported() {
        check_whole(53);
    }
}
