//! The multiply-add of every CPU level and generation, against the definition.

use tt_cpu::Level;
use tt_formats::Arch;
use tt_sfpu::arith::lane::{MINUS_ONE, ONE};
use tt_sfpu::{checked, fma};
use tt_testkit::random::Random;

/// Words that meet every branch: any bits, close exponents, few mantissa bits, and the ends of the range.
fn word(random: &mut Random) -> u32 {
    let bits = random.below(u32::MAX);
    match random.below(8) {
        0..=2 => bits,
        3 | 4 => bits & 0x807f_ffff | (118 + random.below(18)) << 23,
        5 => bits & 0x807f_f000 | (120 + random.below(14)) << 23,
        6 => bits & 0x807f_ffff | (random.below(6)) << 23,
        _ => [0, 1 << 31, 0x3f80_0000, 0xbf80_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x7f7f_ffff]
            [random.below(8) as usize],
    }
}

#[test]
fn every_level_gives_the_bits_of_the_definition() {
    let mut random = Random::new(5);
    let mut words = || (0..300_000).map(|_| word(&mut random)).collect::<Vec<u32>>();
    let (mut x, mut y, mut z) = (words(), words(), words());
    // A sum that needs two bits more than its terms, of which the lower leaves no trace.
    (x[0], y[0], z[0]) = (0x3fff_f000, 0x3fff_f000, 0x3e80_0001);
    // Sums that nearly vanish.
    for i in (3..z.len()).step_by(3) {
        z[i] = fma(x[i], y[i], 0, Arch::Wormhole) ^ 1 << 31 ^ (z[i] & 3);
    }
    let levels = Level::supported().iter();
    for (&level, arch) in levels.flat_map(|level| [Arch::Wormhole, Arch::Blackhole].map(|arch| (level, arch))) {
        let mut dst = x.clone();
        checked::multiply_add(arch)(&mut dst, [&y, &z], &[], level);
        for i in 0..dst.len() {
            let expected = fma(x[i], y[i], z[i], arch);
            assert_eq!(dst[i], expected, "{level}, {arch:?}: {:08x} * {:08x} + {:08x}", x[i], y[i], z[i]);
        }
        // Sums, differences and products alone.
        let mut sums = [x.clone(), x.clone(), x.clone()];
        let kernels = [checked::sum(arch), checked::difference(arch), checked::product(arch)];
        for ((sum, kernel), second) in sums.iter_mut().zip(kernels).zip([&z, &z, &y]) {
            kernel(sum, [second], &[], level);
        }
        for i in 0..dst.len() {
            let fma = |x, y, z| fma(x, y, z, arch);
            let expected = [fma(ONE, x[i], z[i]), fma(MINUS_ONE, z[i], x[i]), fma(x[i], y[i], 0)];
            let got = [sums[0][i], sums[1][i], sums[2][i]];
            assert_eq!(got, expected, "{level}, {arch:?}: {:08x}, {:08x}, {:08x}", x[i], y[i], z[i]);
        }
    }
}

#[test]
fn terms_of_nearly_one_size_give_the_bits_of_the_definition() {
    let mut random = Random::new(6);
    let mut near = |exponents: u32| {
        let fraction = random.below(1 << 23) & if random.one_in(4) { 0x7f_0000 } else { u32::MAX };
        random.below(2) << 31 | (127 - exponents / 2 + random.below(exponents)) << 23 | fraction
    };
    // Whole blocks of such numbers, so that none is left to the steps.
    let x: Vec<u32> = (0..600_000).map(|_| near(2)).collect();
    let y: Vec<u32> = (0..x.len()).map(|_| near(2)).collect();
    let z: Vec<u32> = (0..x.len())
        .map(|i| {
            let product = fma(x[i], y[i], 0, Arch::Wormhole);
            match i / 64 % 4 {
                0 => near(7),
                1 => {
                    (product & 0xff80_0000 ^ 1 << 31).wrapping_add((i as u32 % 7 * 0x80_0000).wrapping_sub(0x100_0000))
                }
                2 => product ^ 1 << 31 ^ (1 << (i % 24)),
                // As in the steps of a reciprocal.
                _ => 0x4000_0000 | (product & 1 << 31 ^ 1 << 31),
            }
        })
        .collect();
    for arch in [Arch::Wormhole, Arch::Blackhole] {
        let expected: Vec<u32> = (0..x.len()).map(|i| fma(x[i], y[i], z[i], arch)).collect();
        for &level in Level::supported() {
            let mut got = x.clone();
            checked::multiply_add(arch)(&mut got, [&y, &z], &[], level);
            for i in 0..got.len() {
                let (x, y, z) = (x[i], y[i], z[i]);
                assert_eq!(got[i], expected[i], "{level}, {arch:?}: {x:08x} * {y:08x} + {z:08x}");
            }
        }
    }
}
