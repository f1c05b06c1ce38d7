//! Kernels on BF16 pages against their lane programs.

use tt_cpu::Level;
use tt_testkit::random::Random;

use tt_cpu::vector::has_registers;
use tt_formats::{Arch, Blackhole};
use tt_sfpu::exec::bf16::{Bf16Step, negate};
use tt_sfpu::functions::blocks;
use tt_sfpu::lane::Word;
use tt_sfpu::{DstWidth, SeveralCall, binary_functions, ternary_functions};
use tt_tensix::regs::{Bf16Page, HalfTile as Halves};

const SIGN: u16 = 1 << 15;
const INFINITY: u16 = 255 << 7;

/// A datum as it comes into `Dst`.
fn flushed(half: u16) -> u16 {
    if half & INFINITY == 0 { 0 } else { half }
}

fn page(halves: &Halves) -> Bf16Page {
    let mut page = [0; 2048];
    for (bytes, half) in page.as_chunks_mut::<2>().0.iter_mut().zip(halves) {
        *bytes = half.to_le_bytes();
    }
    page
}

/// As MOVA2D brings a page to `Dst`.
fn words(halves: &Halves) -> Vec<u32> {
    halves.iter().map(|half| u32::from(flushed(*half)) << 16).collect()
}

/// Asserts the bits of the definition at every level, and returns at how many there was a result.
fn check<const OTHERS: usize, const N: usize>(
    call: &SeveralCall<OTHERS, N>,
    operands: &[Halves; N],
    expected: &[u32],
) -> usize {
    let (what, bf16) = (call.name(), call.bf16().expect("a kernel"));
    let pages = operands.each_ref().map(page);
    let mut results = 0;
    for &level in Level::supported() {
        let mut got = [0x5555; 1024];
        if !call.run_bf16(level, &mut got, pages.each_ref()) {
            continue;
        }
        results += 1;
        let differs = (0..1024).find(|&i| u32::from(got[i]) << 16 != expected[i]);
        let shown = differs.map(|i| {
            format!("{:04x?}: {:04x}, not {:08x}", operands.each_ref().map(|halves| halves[i]), got[i], expected[i])
        });
        assert_eq!(shown, None, "{what} {level}");
        let stays = |half: u16| half & !SIGN <= INFINITY && half != SIGN;
        assert!(!bf16.is_packed || got.iter().all(|&half| stays(half)), "{what}: the packer changes datums");
    }
    results
}

fn levels_with_registers() -> usize {
    Level::supported().iter().filter(|&&level| has_registers(level)).count()
}

/// How the halves of a tile are drawn: any bits; numbers about one; few bits about one; whole numbers; numbers far from
/// each other; zeros, denormals and specials.
fn half(random: &mut Random, kind: u32) -> u16 {
    let sign = random.below(2) as u16 * SIGN;
    let number = match kind {
        0 => return random.below(1 << 16) as u16,
        1 => (127 - 8 + random.below(16)) << 7 | random.below(128),
        2 => (127 - 2 + random.below(4)) << 7 | random.below(4) << 5,
        3 => (random.below(300) as f32).to_bits() >> 16,
        4 => (72 + random.below(100)) << 7 | random.below(128),
        _ => {
            let special = [0, 0x8000, 0x0001, 0x807f, 0x7f80, 0xff80, 0x7fc0, 0xff81, 0x0080, 0x7f7f, 0x3f80, 0x4000];
            return special[random.below(special.len() as u32) as usize];
        }
    };
    sign | number as u16
}

fn tile(random: &mut Random, kind: u32) -> Halves {
    let odd = if kind == 1 { random.below(2) * 20 } else { 0 };
    std::array::from_fn(|_| if odd > 0 && random.below(100) < odd { 0 } else { half(random, kind) })
}

#[test]
fn functions_of_two_pages_have_the_bits_of_their_lane_programs() {
    of_two_pages(Arch::Wormhole, 21 + 2 * 4);
}

/// Without those of logarithms, angles, powers and remainders, whose kernels know Wormhole's steps.
#[test]
fn functions_of_two_pages_on_blackhole() {
    of_two_pages(Arch::Blackhole, 15 + 2 * 4);
}

fn of_two_pages(arch: Arch, count: usize) {
    let mut random = Random::new(7);
    let mut found = Vec::new();
    for function in binary_functions(arch) {
        let parameters: &[&[u32]] = match function.parameters.len() {
            0 => &[&[]],
            // Zero points; functions with one have no form on pages.
            1 => &[&[0]],
            // Tolerances as they are by default, none, large ones, and a negative one.
            2 => &[&[0x3727_c5ac, 0x322b_cc77], &[0, 0], &[0x3dcc_cccd, 0x3f00_0000], &[0xbf80_0000, 0x3f80_0000]],
            more => panic!("{more} parameters"),
        };
        let calls = parameters.iter().map(|parameters| function.with(parameters).expect("as many as it takes"));
        found.extend(calls.zip(parameters).filter(|(call, _)| call.bf16().is_some()));
    }
    assert_eq!(found.len(), count, "functions of two pages");
    for (call, parameters) in found {
        let mut usual = 0;
        for round in 0..288 {
            let operands = [tile(&mut random, round % 6), tile(&mut random, round / 6 % 6)];
            let mut expected = words(&operands[0]);
            call.run(&mut expected, &words(&operands[1]), DstWidth::Bits16, Level::Scalar);
            let results = check(&call, &operands, &expected);
            usual += usize::from(round % 6 == 1 && round / 6 % 6 == 1 && results == levels_with_registers());
        }
        // But for negative tolerances, and negative numbers' logarithms.
        let takes = parameters.first().is_none_or(|first| first >> 31 == 0) && call.name() != "xlogy";
        // Where the exponential is zero, so is the result, but a negative one.
        let least = if call.name() == "log_sigmoid" { 2 } else { 8 };
        let right = (usual >= least) == takes || levels_with_registers() == 0;
        assert!(right, "{}: {usual} of 8 tiles of usual numbers", call.name());
    }
}

#[test]
fn functions_of_three_pages_have_the_bits_of_their_lane_programs() {
    of_three_pages(Arch::Wormhole);
    of_three_pages(Arch::Blackhole);
}

fn of_three_pages(arch: Arch) {
    let mut random = Random::new(8);
    let one = 0x3f80_0000;
    let parameters = [one, 0xbf00_0000, 0x3dcc_cccd, 0x4049_0fdb, 0, 0x0000_0001, 0x7f80_0000, 0x2b8c_bccc];
    for function in ternary_functions(arch) {
        for parameter in &parameters[..if function.parameters.is_empty() { 1 } else { parameters.len() }] {
            let parameter = std::slice::from_ref(parameter);
            let call = function.with(&parameter[..function.parameters.len()]).expect("as many as it takes");
            if call.bf16().is_none() {
                assert_eq!(call.name(), "snake_beta", "a function of three pages");
                continue;
            }
            let mut usual = 0;
            for round in 0..432 {
                let operands = [round % 6, round / 6 % 6, round / 36 % 6].map(|kind| tile(&mut random, kind));
                let mut expected = words(&operands[0]);
                call.run(&mut expected, &words(&operands[1]), &words(&operands[2]), DstWidth::Bits16, Level::Scalar);
                usual += check(&call, &operands, &expected);
            }
            if parameter == [one] {
                assert!(usual >= 20 * levels_with_registers(), "{}: {usual} results", call.name());
            }
        }
    }
}

/// All pairs of mantissas with some exponents and all signs; of a few hundred operands, all pairs.
fn check_grid(arch: Arch, name: &str, first: &[u16], second: &[u16], largest_share: f64) {
    let function = tt_sfpu::lookup_binary(arch, name, "default").expect("a function");
    let call = function.with(&[]).expect("no parameters");
    let level = Level::detected();
    if !has_registers(level) {
        return;
    }
    let (mut tiles, mut places) = (0, 0);
    for &a in first {
        for second in second.chunks(1024) {
            let operands = [[a; 1024], std::array::from_fn(|i| second[i % second.len()])];
            let mut expected = words(&operands[0]);
            call.run(&mut expected, &words(&operands[1]), DstWidth::Bits16, level);
            let pages = operands.each_ref().map(page);
            let mut got = [0; 1024];
            let Some(fallbacks) = call.try_bf16(level, &mut got, pages.each_ref()) else { continue };
            tiles += 1;
            places += fallbacks.len();
            for i in (0..1024).filter(|&i| !fallbacks.contains(&(i as u16))) {
                let (b, expected) = (operands[1][i], expected[i]);
                assert_eq!(u32::from(got[i]) << 16, expected, "{name} {level}: {a:04x} and {b:04x}");
            }
        }
    }
    let share = places as f64 / (1024 * tiles) as f64;
    assert!(tiles > 0 && share <= largest_share, "{name}: {tiles} tiles, {share} of which falls back");
}

fn with_exponents(exponents: &[u16], signs: &[u16]) -> Vec<u16> {
    let of = |&exponent: &u16| (0..128).map(move |mantissa| exponent << 7 | mantissa);
    signs.iter().flat_map(|sign| exponents.iter().flat_map(of).map(move |half| half | sign)).collect()
}

#[test]
fn pairs_of_mantissas_have_the_bits_of_their_lane_programs() {
    let near: Vec<u16> = (119..=136).collect();
    check_grid(
        Arch::Wormhole,
        "power_binary",
        &with_exponents(&near, &[0]),
        &with_exponents(&[120, 125, 127, 128, 131], &[0, SIGN]),
        0.0,
    );
    for name in ["logaddexp", "logaddexp2"] {
        let first = with_exponents(&[120, 125, 127, 128, 130, 132], &[0, SIGN]);
        check_grid(Arch::Wormhole, name, &first, &with_exponents(&near, &[0, SIGN]), 0.001);
    }
    let positive: Vec<u16> = (0..1 << 15).collect();
    for arch in [Arch::Wormhole, Arch::Blackhole] {
        check_grid(arch, "xlogy", &with_exponents(&[100, 127, 128], &[0, SIGN]), &positive, 0.0);
    }
    check_grid(Arch::Wormhole, "atan2", &with_exponents(&[127], &[0]), &with_exponents(&near, &[0, SIGN]), 0.002);
}

/// Weights of one half make ties, and so do whole numbers with a carry: nothing of them is left to the definition.
#[test]
fn ties_of_short_numbers_are_seen_to() {
    let mut random = Random::new(9);
    let tile = |random: &mut Random| -> Halves { std::array::from_fn(|_| (127 << 7 | random.below(512)) as u16) };
    let call = tt_sfpu::lookup_ternary(Arch::Wormhole, "lerp", "default")
        .expect("a function")
        .with(&[])
        .expect("no parameters");
    for _ in 0..50 {
        let operands = [tile(&mut random), tile(&mut random), [0x3f00; 1024]];
        let mut expected = words(&operands[0]);
        call.run(&mut expected, &words(&operands[1]), &words(&operands[2]), DstWidth::Bits16, Level::Scalar);
        assert_eq!(check(&call, &operands, &expected), levels_with_registers());
    }
}

#[test]
fn the_reciprocal_of_every_mantissa_is_near_the_hosts() {
    for half in 0x3f80..0x4000_u32 {
        let word = half << 16;
        for kernel in [blocks::reciprocal(word, 2), blocks::reciprocal(Word::<Blackhole>::from(word), 2).bits] {
            let (kernel, host) = (f32::from_bits(kernel), 1.0 / f32::from_bits(word));
            let off = (f64::from(kernel) / f64::from(host) - 1.0).abs();
            assert!(off <= 1.0 / f64::from(1 << 22), "{half:#06x}: {off:e}");
            assert!(half != 0x3f80 || kernel.to_bits() == 0x3f80_0000, "of one");
        }
    }
}

#[test]
fn negatives_have_the_bits_of_the_lane_program() {
    let call = tt_sfpu::lookup(Arch::Wormhole, "neg", "default").expect("a function").with(&[]).expect("no parameters");
    for first in (0..1_u32 << 16).step_by(1024) {
        let halves: Halves = std::array::from_fn(|i| flushed((first + i as u32) as u16));
        let mut expected = words(&halves);
        call.run_program(&mut expected, DstWidth::Bits16, Level::Scalar);
        for &level in Level::supported() {
            let mut got = halves;
            negate(level, &mut got);
            assert_eq!(got.map(|half| u32::from(half) << 16), *expected, "{level} from {first:04x}");
        }
    }
}

#[test]
fn comparisons_with_zero_have_the_bits_of_their_lane_programs() {
    let every: Vec<u32> = (0..1 << 16).map(|half: u32| half << 16).collect();
    for name in ["eqz", "nez", "gtz", "gez", "ltz", "lez"] {
        let mut expected = every.clone();
        let call =
            tt_sfpu::lookup(Arch::Wormhole, name, "default").expect("a function").with(&[]).expect("no parameters");
        call.run_program(&mut expected, DstWidth::Bits16, Level::Scalar);
        let Some(Bf16Step::Test(test)) = call.bf16() else { panic!("{name} is a comparison with zero") };
        for &level in Level::supported() {
            for first in (0..1_u32 << 16).step_by(1024) {
                let halves: Halves = std::array::from_fn(|i| (first + i as u32) as u16);
                let mut got = halves;
                test.apply(level, &mut got);
                assert_eq!(got.map(|half| u32::from(half) << 16), expected[first as usize..][..1024], "{name} {level}");
                test.apply_to_page(level, &page(&halves), &mut got);
                let flushed = words(&halves).into_iter().map(|word| expected[(word >> 16) as usize]);
                assert!(got.iter().map(|&half| u32::from(half) << 16).eq(flushed), "{name} {level}: of a page");
            }
        }
    }
}
