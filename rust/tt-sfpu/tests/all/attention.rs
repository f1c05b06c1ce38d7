//! The reciprocals of attention by the steps of its kernels.

use tt_cpu::Level;
use tt_formats::Arch;
use tt_sfpu::convert::{Round, round};
use tt_sfpu::lane::{HALF, MINUS_ONE, ONE};
use tt_sfpu::{DstWidth, fma, lookup};

const SIGN: u32 = 1 << 31;
const MANTISSA: u32 = 0x7f_ffff;
const INFINITY: u32 = 0x7f80_0000;
const MINUS_TWO: u32 = 0xc000_0000;
/// The seed that kernels share, and the one of a single step.
const SEED: [u32; 3] = [0x3ea5_7ebb, 0x3fba_2e90, 0x4007_c1f2];
const ONE_STEP_SEED: [u32; 3] = [0x3ea4_85e4, 0x3fb9_c7f6, 0x4007_af87];

type Steps = fn(u32) -> u32;

fn wormhole(x: u32, seed: [u32; 3], steps: usize) -> u32 {
    let mad = |a, b, c| fma(a, b, c, Arch::Wormhole);
    let negated = MINUS_ONE & !MANTISSA | x & MANTISSA;
    let mut y = mad(mad(seed[0], negated, seed[1]), negated, seed[2]);
    for _ in 0..steps {
        y = mad(y, mad(negated, y, ONE), y);
    }
    let scale = mad(!x & !MANTISSA, HALF, 0);
    mad(y, scale, 0) & !SIGN | x & SIGN
}

/// The instruction for the first bits.
fn estimate(x: u32) -> u32 {
    let (magnitude, sign) = (x & !SIGN, x & SIGN);
    if magnitude <= MANTISSA {
        return sign | INFINITY;
    }
    if magnitude >= 253 << 23 {
        return sign;
    }
    // Of the middle of the numbers with these bits of the mantissa.
    let middle = f64::from(257 + 2 * (magnitude >> 16 & 127)) / 256.0;
    let bits = (256.0 / middle).round() as u32 - 128;
    sign | ((253 - (magnitude >> 23)) << 23) | bits << 16
}

fn blackhole(x: u32, steps: usize) -> u32 {
    let mad = |a, b, c| fma(a, b, c, Arch::Blackhole);
    let mut y = estimate(x);
    for step in 0..steps {
        let excess = mad(x, y, MINUS_TWO);
        if step == 0 && excess & SIGN == 0 {
            return y;
        }
        y = mad(y, excess ^ SIGN, SIGN);
    }
    y
}

/// Denormals are stored as zeros.
fn stored(word: u32) -> u32 {
    if word & INFINITY == 0 { word & SIGN } else { word }
}

#[test]
fn reciprocals_of_sums_have_the_steps_of_their_kernels() {
    let halves = (0..=0xffff_u32).map(|half| half << 16);
    let narrow: Vec<u32> = halves.clone().collect();
    let wide: Vec<u32> = halves.map(|word| word | word.wrapping_mul(0x9e37_79b1) >> 16).collect();
    let narrow_steps: [(Arch, &str, Steps); 3] = [
        (Arch::Wormhole, "column", |x| round(Round::Bf16, wormhole(x, SEED, 1))),
        (Arch::Wormhole, "streaming", |x| round(Round::Bf16, wormhole(x, ONE_STEP_SEED, 1))),
        (Arch::Blackhole, "column", |x| round(Round::Bf16, blackhole(x, 1))),
    ];
    let wide_steps: [(Arch, &str, Steps); 2] =
        [(Arch::Wormhole, "column", |x| wormhole(x, SEED, 2)), (Arch::Blackhole, "column", |x| blackhole(x, 2))];
    let cases = narrow_steps
        .map(|steps| (steps, DstWidth::Bits16))
        .into_iter()
        .chain(wide_steps.map(|steps| (steps, DstWidth::Bits32)));
    for ((arch, variant, steps), width) in cases {
        let words = if width == DstWidth::Bits16 { &narrow } else { &wide };
        let cut = if width == DstWidth::Bits16 { 0xffff_0000 } else { u32::MAX };
        let call = lookup(arch, "recip", variant).expect("a function").with(&[]).expect("no parameters");
        for &level in Level::supported() {
            let mut got = words.clone();
            call.run_program(&mut got, width, level);
            for (&x, got) in words.iter().zip(got) {
                let expected = stored(steps(x)) & cut;
                assert_eq!(got, expected, "{arch:?} {variant} {width:?} {level} of {x:08x}: {got:08x}");
            }
        }
    }
}

/// e^(scale * x) as corrections of rows have it with `exp_approx_mode=False`.
fn polynomial(arch: Arch, x: u32, scale: u32, coefficients: &[u32]) -> u32 {
    let mad = |a, b, c| fma(a, b, c, arch);
    let x = mad(x, scale, 0);
    let turns = mad(x, 0x3fb8_aa3b, 0);
    // An integer of sign and magnitude.
    let turns = round(Round::Int8, turns);
    let turns = ((turns & !SIGN) as f32).to_bits() | turns & SIGN;
    let rest = mad(turns, 0xbf31_7218, x);
    let mantissa = coefficients[1..].iter().fold(coefficients[0], |sum, &next| mad(rest, sum, next));
    let exponent = (f32::from_bits(turns) + 127.0) as u32;
    if exponent == 0 { 0 } else { mad(mantissa, exponent << 23, 0) }
}

#[test]
fn corrections_by_a_polynomial_have_the_steps_of_their_kernel() {
    let halves = (0..=0xffff_u32).map(|half| half << 16);
    let narrow: Vec<u32> = halves.clone().collect();
    let wide: Vec<u32> = halves.map(|word| word | word.wrapping_mul(0x9e37_79b1) >> 16).collect();
    let coefficients = |powers: &[f32]| powers.iter().map(|power| power.to_bits()).collect::<Vec<_>>();
    let short = coefficients(&[0.506_283_67, 1.015_087_6, 0.999_848_8]);
    let long = coefficients(&[0.041_959_44, 0.167_921_58, 0.499_983_66, 0.999_962_3, 1.000_000_1]);
    for arch in [Arch::Wormhole, Arch::Blackhole] {
        for scale in [ONE, 0x3e00_0000, 0x3de4_0000, 0xbe35_0000] {
            let call = lookup(arch, "exp", "column_polynomial").expect("a function").with(&[scale]).expect("a scale");
            for (width, words) in [(DstWidth::Bits16, &narrow), (DstWidth::Bits32, &wide)] {
                for &level in Level::supported() {
                    let mut got = words.clone();
                    call.run_program(&mut got, width, level);
                    for (&x, got) in words.iter().zip(got) {
                        let expected = match width {
                            DstWidth::Bits16 => {
                                stored(round(Round::Bf16, polynomial(arch, x, scale, &short))) & !0xffff
                            }
                            DstWidth::Bits32 => stored(polynomial(arch, x, scale, &long)),
                        };
                        assert_eq!(got, expected, "{arch:?} {width:?} {level} of {x:08x} times {scale:08x}");
                    }
                }
            }
        }
    }
}
