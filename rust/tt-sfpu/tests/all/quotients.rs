//! Division of words in a 32-bit `Dst`.
//!
//! Whole tiles of usual numbers against the definition.

use tt_cpu::Level;
use tt_formats::Arch;
use tt_sfpu::DstWidth;
use tt_testkit::random::Random;

type Tile = [u32; 1024];

/// Asserts the bits of the definition at every level.
fn check(a: &Tile, b: &Tile) {
    let function = tt_sfpu::lookup_binary(Arch::Wormhole, "div_binary", "default").expect("a function of the SFPU");
    let mut expected = *a;
    tt_sfpu::binary(function, &mut expected, b, DstWidth::Bits32, Level::Scalar);
    for &level in Level::supported() {
        let mut got = *a;
        tt_sfpu::binary(function, &mut got, b, DstWidth::Bits32, level);
        let shown = (0..1024).find(|&i| got[i] != expected[i]);
        let shown = shown.map(|i| format!("{:08x} / {:08x}: {:08x}, not {:08x}", a[i], b[i], got[i], expected[i]));
        assert_eq!(shown, None, "{level}");
    }
}

/// Any mantissa, or one near the ends of the binade or near a short fraction.
fn mantissa(random: &mut Random) -> u32 {
    let near = match random.below(6) {
        0 => 0,
        1 => 0x7f_ffff,
        2 => (random.below(128) << 16) + random.below(2) * 0x8000,
        3 => 1 << random.below(23),
        _ => return random.below(1 << 23),
    };
    near.wrapping_add_signed(random.between(-2, 2)) & 0x7f_ffff
}

fn word(random: &mut Random, exponent: u32) -> u32 {
    random.below(2) << 31 | exponent << 23 | mantissa(random)
}

#[test]
fn quotients_of_usual_numbers() {
    let mut random = Random::new(31);
    for round in 0..600 {
        let [least_a, least_b] = [[97, 97], [1, 64], [66, 1], [140, 190], [1, 120]][round % 5];
        let zeros = round % 3 == 0;
        let a = std::array::from_fn(|_| {
            if zeros && random.one_in(9) {
                return random.below(2) << 31;
            }
            let exponent = least_a + random.below(60);
            word(&mut random, exponent)
        });
        let b = std::array::from_fn(|_| {
            let exponent = least_b + random.below(60);
            word(&mut random, exponent)
        });
        check(&a, &b);
    }
}

/// Products of short numbers divided by one of them, and what is a unit of the last place beside them.
#[test]
fn quotients_that_are_exact_or_nearly() {
    let mut random = Random::new(32);
    for _ in 0..200 {
        let b: Tile = std::array::from_fn(|_| 127 << 23 | random.below(1 << 12) << 11);
        let a = b.map(|b| {
            let factor = f32::from_bits(127 << 23 | random.below(1 << 12) << 11);
            (factor * f32::from_bits(b)).to_bits().wrapping_add_signed(random.between(-1, 1))
        });
        check(&a, &b);
    }
}

#[test]
fn quotients_at_the_edges_of_the_exponents() {
    let mut random = Random::new(33);
    for exponent_a in [0, 1, 2, 126, 127, 128, 253, 254, 255] {
        for exponent_b in (0..=4).chain(124..=130).chain(250..=255) {
            let a = std::array::from_fn(|_| word(&mut random, exponent_a));
            check(&a, &std::array::from_fn(|_| word(&mut random, exponent_b)));
            // One datum out of line.
            let mut b: Tile = std::array::from_fn(|_| word(&mut random, 127));
            b[random.below(1024) as usize] = word(&mut random, exponent_b);
            check(&a, &b);
        }
    }
}
