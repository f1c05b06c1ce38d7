//! BF16 page division in 16-bit `Dst` against the 32-bit definition.

use tt_cpu::Level;
use tt_cpu::vector::has_registers;
use tt_formats::Arch;
use tt_sfpu::DstWidth;
use tt_tensix::regs::{Bf16Page, HalfTile};
use tt_testkit::random::Random;

fn levels() -> impl Iterator<Item = Level> {
    Level::supported().iter().copied().filter(|&level| has_registers(level))
}

fn page(words: &[u16; 1024]) -> Bf16Page {
    let mut page = [0; 2048];
    for (bytes, word) in page.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    page
}

/// How the words of a tile are drawn: any bits, exponents around one, near the smallest, near the largest.
fn word(random: &mut Random, kind: u32) -> u16 {
    let exponent = match kind {
        0 => random.below(256),
        1 => 127 + random.below(14) - 7,
        2 => random.below(2) * (60 + random.below(10)),
        _ => 255 - random.below(8),
    };
    let exponent = if random.one_in(12) { 0 } else { exponent };
    (random.below(2) << 15 | exponent << 7 | random.below(128)) as u16
}

/// Asserts the bits of the SFPU's division at every level; whether there were any. `None` on a host without levels that
/// divide so.
fn check_quotients(a: &[u16; 1024], b: &[u16; 1024]) -> Option<bool> {
    let results = [Arch::Wormhole, Arch::Blackhole].map(|arch| check_quotients_of(arch, a, b));
    assert_eq!(results[0], results[1], "generations differ in what they take");
    results[0]
}

fn check_quotients_of(arch: Arch, a: &[u16; 1024], b: &[u16; 1024]) -> Option<bool> {
    // On their way into Dst, zeros lose their sign and subnormals become zeros.
    let in_dst = |words: &[u16; 1024]| words.map(|word| if word & 0x7f80 == 0 { 0 } else { u32::from(word) << 16 });
    let mut expected = in_dst(a);
    let function = tt_sfpu::lookup_binary(arch, "div_binary", "default").expect("a function of the SFPU");
    tt_sfpu::binary(function, &mut expected, &in_dst(b), DstWidth::Bits16, Level::Scalar);
    let call = function.with(&[]).expect("no parameters");
    let results = levels().map(|level| {
        let mut got: HalfTile = [0x5555; 1024];
        if !call.run_bf16(level, &mut got, [&page(a), &page(b)]) {
            return false;
        }
        for (i, (got, expected)) in got.iter().zip(&expected).enumerate() {
            assert_eq!(u32::from(*got) << 16, *expected, "{level} {:#06x} / {:#06x}", a[i], b[i]);
        }
        true
    });
    let results: Vec<bool> = results.collect();
    assert!(results.iter().all(|&result| result == results[0]), "levels differ in what they take");
    results.first().copied()
}

#[test]
fn quotients_of_all_pairs_of_significands() {
    let mut random = Random::new(3);
    for block in 0..16 {
        // Tiles of 8 dividends by 128 divisors, of any signs and exponents that leave the quotients in range.
        for round in 0..4 {
            let (least_a, least_b) = [(1, 64), (60, 1), (128, 126), (64, 120)][round];
            let exponents =
                |random: &mut Random, least: u32| ((least + random.below(60)) << 7) | (random.below(2) << 15);
            let a = std::array::from_fn(|i| (exponents(&mut random, least_a) | (block * 8 + i as u32 / 128)) as u16);
            let b = std::array::from_fn(|i| (exponents(&mut random, least_b) | (i as u32 % 128)) as u16);
            assert_ne!(
                check_quotients(&a, &b),
                Some(false),
                "dividends from exponent {least_a}, divisors from {least_b}"
            );
        }
    }
}

#[test]
fn quotients_at_the_edges_of_the_exponents() {
    let mut random = Random::new(4);
    let (mut with, mut without) = (0, 0);
    for exponent_a in [0, 1, 2, 3, 127, 128, 252, 253, 254, 255] {
        for exponent_b in (0..=8).chain(119..=136).chain(248..=255) {
            let mut word = |exponent: u32| (random.below(2) << 15 | exponent << 7 | random.below(128)) as u16;
            // Zeros and subnormals on either side, and on both.
            let a = std::array::from_fn(|i| word(if i % 5 == 0 { 0 } else { exponent_a }));
            let b = std::array::from_fn(|i| word(if i % 7 == 0 { 0 } else { exponent_b }));
            match check_quotients(&a, &b) {
                Some(true) => with += 1,
                Some(false) => without += 1,
                None => {}
            }
        }
    }
    assert!(levels().count() == 0 || with > 100 && without > 100, "{with} tiles with results, {without} without");
}

#[test]
fn quotients_of_random_tiles() {
    let mut random = Random::new(5);
    let mut with = 0;
    for round in 0..64 {
        let kind = [1, 2, 1, 0][round % 4];
        let a = std::array::from_fn(|_| word(&mut random, kind));
        let b = std::array::from_fn(|_| word(&mut random, 1) | if round % 4 == 2 { 0 } else { 64 << 7 });
        with += usize::from(check_quotients(&a, &b) == Some(true));
    }
    assert!(levels().count() == 0 || with > 0, "{with} tiles with results");
}
