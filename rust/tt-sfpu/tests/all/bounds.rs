//! Every bound of every speculative program, on lanes that check it.

use tt_cpu::Level;
use tt_testkit::random::Random;

use tt_formats::Arch;
use tt_sfpu::checked::{Checked, CheckedProgram};
use tt_sfpu::{DstWidth, binary_functions, functions, ternary_functions};

/// Parameters of functions that take some.
const PARAMETERS: [u32; 4] = [0x3f33_3333, 0x3fa6_6666, 0x4020_0000, 0x4060_0000];
/// Words that go through a function at a time.
const BLOCK: usize = 1 << 14;

/// Words of every kind: any bits, exponents around that of 1, near powers of two, and small steps from BF16 values.
fn word(random: &mut Random) -> u32 {
    let (bits, near) = (random.bits() as u32, random.below(129));
    match bits >> 5 & 3 {
        0 => random.bits() as u32,
        1 => bits & 0x807f_ffff | (100 + random.below(50)) << 23,
        2 => (random.below(511) << 23).wrapping_add(near).wrapping_sub(64),
        _ => (bits & 0xffff_0000).wrapping_add(near).wrapping_sub(64),
    }
}

/// Checks words of operands: no bound is violated, and results that do not fall back are those of the definition.
fn check(
    name: &str,
    program: CheckedProgram,
    parameters: &[u32],
    operands: [&[u32]; 3],
    arity: usize,
    expected: &[u32],
) -> u32 {
    let mut bounds = 0;
    for (i, &expected) in expected.iter().enumerate() {
        let words = operands.map(|words| words[i]);
        let result = program(&words.map(Checked::input)[..arity], parameters);
        bounds = result.bounds().max(bounds);
        match result.result() {
            Ok(Some(got)) => assert_eq!(got, expected, "{name} of {:08x?}: {got:08x}", &words[..arity]),
            Ok(None) => {}
            Err(violation) => panic!("{name} of {:08x?}: {violation}", &words[..arity]),
        }
    }
    bounds
}

/// All BF16 values and so many words through the programs in a 32-bit `Dst`, as many tuples through those of several
/// operands.
fn check_all(count: usize) {
    let mut random = Random::new(21);
    let mut all: Vec<u32> = (0..1 << 16).map(|half: u32| half << 16).collect();
    all.extend((0..count).map(|_| word(&mut random)));
    for function in functions(Arch::Wormhole) {
        let Some(program) = function.checked else { continue };
        let parameters = &PARAMETERS[..function.parameters.len()];
        let call = function.with(parameters).expect("as many as it takes");
        let mut bounds = 0;
        for words in all.chunks(BLOCK) {
            let mut expected = words.to_vec();
            call.run_program(&mut expected, DstWidth::Bits32, Level::Scalar);
            bounds = check(function.name, program, parameters, [words; 3], 1, &expected).max(bounds);
            // A listing without bounds runs as it is.
            if bounds == 0 && words[0] > 0x4000_0000 {
                break;
            }
        }
        println!("{function:?}: {bounds} bounds, {} words", if bounds > 0 { all.len() } else { 0 });
    }
    for function in binary_functions(Arch::Wormhole) {
        let parameters = &PARAMETERS[..function.parameters.len()];
        let call = function.with(parameters).expect("as many as it takes");
        for (width, program) in [DstWidth::Bits16, DstWidth::Bits32].into_iter().zip(function.checked) {
            let Some(program) = program else { continue };
            let kept = if width == DstWidth::Bits16 { 0xffff_0000 } else { u32::MAX };
            for _ in 0..count.div_ceil(BLOCK) {
                let [a, b] = [0, 1].map(|_| (0..BLOCK).map(|_| word(&mut random) & kept).collect::<Vec<u32>>());
                let mut expected = a.clone();
                call.run(&mut expected, &b, width, Level::Scalar);
                check(function.name, program, parameters, [&a, &b, &b], 2, &expected);
            }
        }
    }
    for function in ternary_functions(Arch::Wormhole) {
        let parameters = &PARAMETERS[..function.parameters.len()];
        let call = function.with(parameters).expect("as many as it takes");
        let program = function.checked[1].expect("speculated");
        for _ in 0..count.div_ceil(BLOCK) {
            let [a, b, c] = [0, 1, 2].map(|_| (0..BLOCK).map(|_| word(&mut random)).collect::<Vec<u32>>());
            let mut expected = a.clone();
            call.run(&mut expected, &b, &c, DstWidth::Bits32, Level::Scalar);
            check(function.name, program, parameters, [&a, &b, &c], 3, &expected);
        }
    }
}

#[test]
fn bounds_hold_for_every_bf16_value_and_many_words() {
    check_all(100_000);
}

#[test]
#[ignore = "minutes; `cargo xtask bounds` runs it"]
fn bounds_hold_for_10_million_words() {
    check_all(10_000_000);
}
