//! Rules of chip generations.
//!
//! Lanes with the multiply-add of each, and the generations of the listings.

use std::collections::BTreeSet;

use tt_cpu::Level;
use tt_formats::{Arch, Blackhole, Wormhole};
use tt_sfpu::checked;
use tt_sfpu::functions::blocks::Blocks;
use tt_sfpu::lane::{self, Lane, MINUS_ONE, NAN, ONE, Word, add, mul, polynomial};
use tt_sfpu::{DstWidth, binary_functions, fma, functions, lookup, lookup_binary, lookup_ternary, ternary_functions};
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
fn every_function_names_its_generation() {
    let both: &[Arch] = &[Arch::Wormhole, Arch::Blackhole];
    for arch in [Arch::Wormhole, Arch::Blackhole] {
        let unary = functions(arch).map(|function| (function.generation, function.generations));
        let binary = binary_functions(arch).map(|function| (function.generation, function.generations));
        let ternary = ternary_functions(arch).map(|function| (function.generation, function.generations));
        for (generation, generations) in unary.chain(binary).chain(ternary) {
            assert_eq!(generation, arch);
            assert!(generations.contains(&arch), "{generations:?}");
        }
        assert_eq!(lookup(arch, "exp", "accurate").expect("a function").generations, both);
        assert_eq!(lookup(arch, "sqrt", "accurate").expect("a function").generations, both);
        // Blackhole has an instruction for the seed of a reciprocal.
        assert_eq!(lookup(arch, "recip", "accurate").expect("a function").generations, &[arch]);
        assert_eq!(lookup_binary(arch, "div_int32_floor", "floor").expect("a function").generations, &[arch]);
        assert_eq!(lookup_ternary(arch, "mac", "default").expect("a function").generation, arch);
    }
    assert_eq!(lookup(Arch::Wormhole, "recip", "accurate").expect("a function").generation, Arch::Wormhole);
}

#[test]
fn both_generations_have_the_same_functions_but_one() {
    let names = |arch| {
        let unary = functions(arch).map(|function| (function.name, function.variant, function.parameters));
        let binary = binary_functions(arch).map(|function| (function.name, function.variant, function.parameters));
        let ternary = ternary_functions(arch).map(|function| (function.name, function.variant, function.parameters));
        unary.chain(binary).chain(ternary).collect::<BTreeSet<_>>()
    };
    let (mut all, softcap) = (names(Arch::Wormhole), ("softcap", "default", ["beta", "inverse"].as_slice()));
    assert!(all.insert(softcap), "only Blackhole has it");
    assert_eq!(all, names(Arch::Blackhole));
}

/// Words with every mantissa that the table of the reciprocal tells apart, of every exponent, and their neighbours.
#[test]
fn primitives_at_every_level_are_those_of_words() {
    let words: Vec<u32> =
        (0..=0xffff_u32).flat_map(|half| [half << 16, half << 16 | 0x7fff, half << 16 | 0xffff]).collect();
    let mut others = words.clone();
    others.reverse();
    let at_word = |index, x, y| -> u32 {
        let (x, y) = (on::<Blackhole>(x), on::<Blackhole>(y));
        match index {
            0 => lane::arecip(x),
            1 => lane::mul24hi(x, y),
            2 => lane::ashift(x, lane::shr(y, 26)),
            3 => lane::gtmask(x, y),
            4 => lane::sub_product(x, y, on::<Blackhole>(ONE)),
            _ => lane::select(lane::less(x, y), ONE, on(0)),
        }
        .bits
    };
    for &level in Level::supported() {
        for (index, kernel) in checked::primitives(Arch::Blackhole).into_iter().enumerate() {
            let mut got = words.clone();
            kernel(&mut got, [&others], &[], level);
            for i in 0..words.len() {
                let expected = at_word(index, words[i], others[i]);
                assert_eq!(got[i], expected, "{level}, {index}: {:08x}, {:08x}", words[i], others[i]);
            }
        }
    }
}

#[test]
fn a_product_taken_from_a_number_is_rounded_by_the_rule_of_its_generation() {
    // (1 + 2^-12)^2 is 1 + 2^-11 + 2^-24: rounded first, the last bit is lost.
    let (x, c) = (0x3f80_0800, 0x3f80_1000);
    assert_eq!(lane::sub_product(on::<Wormhole>(c), x, x).bits, 0);
    assert_eq!(lane::sub_product(on::<Blackhole>(c), x, x).bits, 0xb380_0000);
    assert_eq!(lane::add_negated_product(on::<Wormhole>(c), x, x).bits, 0);
    assert_eq!(lane::add_negated_product(on::<Blackhole>(c), x, x).bits, 0xb380_0000);
}

#[test]
fn comparisons_have_the_rule_of_their_generation() {
    // Infinity less itself is NaN of the product's sign: below, and not above. By words it is neither.
    assert!(lane::less(on::<Wormhole>(INFINITY), INFINITY));
    assert!(!lane::less(on::<Blackhole>(INFINITY), INFINITY));
    assert!(!lane::equal(on::<Wormhole>(INFINITY), INFINITY));
    assert!(lane::equal(on::<Blackhole>(INFINITY), INFINITY));
    assert!(lane::greater(on::<Blackhole>(NAN), INFINITY));
    assert!(lane::less(on::<Blackhole>(1 << 31), 0));
    // Sign and magnitude of the smallest integer are those of a negative zero.
    assert_eq!(lane::loaded_integer(on::<Wormhole>(1 << 31)).bits, 0);
    assert_eq!(lane::loaded_integer(on::<Blackhole>(1 << 31)).bits, 1 << 31);
}

/// All of BF16 in a 16-bit `Dst`, and as many words of a 32-bit one.
#[test]
fn every_function_of_blackhole_has_its_bits_at_every_level() {
    let mut random = Random::new(8);
    let halves: Vec<u32> = (0..=0xffff).map(|half: u32| half << 16).collect();
    let words: Vec<u32> = (0..4096).map(|_| random.below(u32::MAX)).chain(halves.iter().copied().step_by(16)).collect();
    for function in functions(Arch::Blackhole) {
        let parameters: Vec<u32> = function.parameters.iter().map(|_| 0x4040_0000).collect();
        let call = function.with(&parameters).expect("as many as it has");
        for (width, input) in [(DstWidth::Bits16, &halves), (DstWidth::Bits32, &words)] {
            let mut expected = input.clone();
            call.run_program(&mut expected, width, Level::Scalar);
            for &level in Level::supported() {
                let mut got = input.clone();
                call.run_program(&mut got, width, level);
                let different = (0..got.len()).find(|&i| got[i] != expected[i]);
                assert_eq!(
                    different.map(|i| (input[i], got[i], expected[i])),
                    None,
                    "{function:?}, {width:?}, {level}"
                );
            }
        }
    }
}
