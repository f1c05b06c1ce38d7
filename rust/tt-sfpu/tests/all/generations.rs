//! Rules of chip generations.
//!
//! Lanes with the multiply-add of each, and the generations of the listings.

use tt_cpu::Level;
use tt_formats::{Arch, Blackhole, Wormhole};
use tt_sfpu::checked;
use tt_sfpu::functions::blocks::Blocks;
use tt_sfpu::lane::{Lane, MINUS_ONE, NAN, ONE, Word, add, mul, polynomial};
use tt_sfpu::{BINARY_FUNCTIONS, FUNCTIONS, TERNARY_FUNCTIONS, fma, lookup, lookup_binary};
use tt_testkit::random::Random;

const INFINITY: u32 = 0x7f80_0000;

fn on<G>(word: u32) -> Word<G> {
    Word::from(word)
}

#[test]
fn a_word_has_the_multiply_add_of_its_generation() {
    let mut random = Random::new(3);
    let mut differences = 0;
    for _ in 0..200_000 {
        // Exponents of every kind, so that products and sums leave the range on both sides.
        let mut word = || random.below(u32::MAX) & if random.one_in(3) { 0xff80_0000 } else { u32::MAX };
        let (x, y, z) = (word(), word(), word());
        let wormhole = on::<Wormhole>(x).mad(on(y), on(z)).bits;
        let blackhole = on::<Blackhole>(x).mad(on(y), on(z)).bits;
        assert_eq!(wormhole, x.mad(y, z), "{x:08x} * {y:08x} + {z:08x}");
        assert_eq!(wormhole, fma(x, y, z, Arch::Wormhole), "{x:08x} * {y:08x} + {z:08x}");
        assert_eq!(blackhole, fma(x, y, z, Arch::Blackhole), "{x:08x} * {y:08x} + {z:08x}");
        differences += u32::from(wormhole != blackhole);
    }
    assert!(differences > 100, "{differences} differences");
}

#[test]
fn listings_have_the_rules_of_their_lanes() {
    // Of infinity less infinity Blackhole makes the quiet NaN, Wormhole one with bits of the sum.
    assert_eq!(add(on::<Blackhole>(INFINITY), INFINITY | 1 << 31).bits, NAN);
    assert_ne!(add(on::<Wormhole>(INFINITY), INFINITY | 1 << 31).bits, NAN);
    // A product of zeros keeps its sign if the addend has it: only Blackhole's sums have negative zeros.
    let negative_zero = 1 << 31;
    assert_eq!(on::<Blackhole>(negative_zero).mad(on(ONE), on(negative_zero)).bits, negative_zero);
    assert_eq!(on::<Wormhole>(negative_zero).mad(on(ONE), on(negative_zero)).bits, 0);
    // The steps in between are the same.
    let x = 0x3fc0_0000;
    assert_eq!(on::<Blackhole>(x).exp_f32().bits, x.exp_f32());
    assert_eq!(polynomial(on::<Blackhole>(x), [ONE, MINUS_ONE, ONE]).bits, polynomial(x, [ONE, MINUS_ONE, ONE]));
    assert_eq!(mul(on::<Blackhole>(x), x).bits, mul(x, x));
}

#[test]
fn a_listing_at_every_level_has_the_rules_of_its_generation() {
    let mut random = Random::new(4);
    // Half of the numbers are ordinary ones; the others are of any kind.
    let mut number = |round: u32| {
        random.below(u32::MAX) & if round.is_multiple_of(2) { u32::MAX } else { 0x81ff_ffff } | 0x3c00_0000
    };
    let words: Vec<u32> = (0..4000).map(&mut number).collect();
    for &level in Level::supported() {
        let (mut wormhole, mut blackhole) = (words.clone(), words.clone());
        checked::exponential(Arch::Wormhole)(&mut wormhole, [], &[], level);
        checked::exponential(Arch::Blackhole)(&mut blackhole, [], &[], level);
        for (i, &x) in words.iter().enumerate() {
            assert_eq!(wormhole[i], on::<Wormhole>(x).exp_f32().bits, "{level}: {x:08x}");
            assert_eq!(blackhole[i], on::<Blackhole>(x).exp_f32().bits, "{level}: {x:08x}");
        }
        assert_ne!(wormhole, blackhole, "{level}");
    }
}

#[test]
fn every_listing_names_its_generations() {
    let unary = FUNCTIONS.iter().copied().flatten().map(|function| function.generations);
    let binary = BINARY_FUNCTIONS.iter().copied().flatten().map(|function| function.generations);
    let ternary = TERNARY_FUNCTIONS.iter().copied().flatten().map(|function| function.generations);
    for generations in unary.chain(binary).chain(ternary) {
        assert!(generations.contains(&Arch::Wormhole), "{generations:?}");
    }
    let both = &[Arch::Wormhole, Arch::Blackhole];
    assert_eq!(lookup("exp", "accurate").expect("a function").generations, both);
    assert_eq!(lookup("sqrt", "accurate").expect("a function").generations, both);
    // Blackhole has an instruction for the seed of a reciprocal.
    assert_eq!(lookup("recip", "accurate").expect("a function").generations, &[Arch::Wormhole]);
    assert_eq!(lookup_binary("div_binary").expect("a function").generations, &[Arch::Wormhole]);
}
