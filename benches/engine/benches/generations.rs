//! SFPU functions of Blackhole against those of Wormhole, on one thread.
//!
//! `cargo bench -p bench-engine --bench generations`, with the start of a name after `--` to see only some.
//!
//! Each function runs on normal numbers in a 16-bit and in a 32-bit `Dst`, both generations by turns; the figure is the
//! time on Wormhole over that on Blackhole, of the fastest rounds. Beside it are the multiply-adds of one number on each.
#![allow(clippy::print_stdout, reason = "the table is the result")]

use std::hint::black_box;
use std::time::Instant;

use tt_cpu::Level;
use tt_formats::Arch;
use tt_sfpu::{DstWidth, binary_functions, functions, lookup, lookup_binary, lookup_ternary, ternary_functions};

const TILE: usize = 1024;
const TILES: usize = 8;
const ROUNDS: usize = 15;
const CHIPS: [Arch; 2] = [Arch::Wormhole, Arch::Blackhole];

/// Numbers around one, of both signs.
fn words(seed: u32) -> Vec<u32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f);
        (state >> 31) << 31 | (125 + (state >> 20 & 3)) << 23 | state >> 5 & 0x7f_0000
    };
    (0..TILE * TILES).map(|_| next()).collect()
}

/// The time on Wormhole over that on Blackhole, and the multiply-adds of both.
fn ratio(level: Level, run: impl Fn(usize, &mut [u32], Level)) -> (f64, [usize; 2]) {
    let source = words(1);
    let counts = [0, 1].map(|chip| tt_sfpu::multiply_adds(|| run(chip, &mut [0x3f80_0001], Level::Scalar)));
    let mut best = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        for (chip, best) in best.iter_mut().enumerate() {
            let mut dst = source.clone();
            let start = Instant::now();
            for tile in dst.chunks_mut(TILE) {
                run(chip, black_box(tile), level);
            }
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    (best[0] / best[1], counts)
}

fn main() {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let level = Level::current();
    let (second, third) = (words(2), words(3));
    let (second, third) = (&second[..TILE], &third[..TILE]);
    let parameters = [0x3f80_0000, 0x3f00_0000, 0x4000_0000, 0x3e80_0000, 0x3f80_0000, 0x3f80_0000];
    let mut found: Vec<((f64, [usize; 2]), String)> = Vec::new();
    for (width, bits) in [(DstWidth::Bits16, 16), (DstWidth::Bits32, 32)] {
        let mut push = |name: &str, variant: &str, ratio: (f64, [usize; 2])| {
            found.push((ratio, format!("{name}/{variant} {bits}")));
        };
        for function in functions(Arch::Blackhole).filter(|function| function.name.starts_with(&wanted)) {
            if let Some(other) = lookup(Arch::Wormhole, function.name, function.variant) {
                let given = &parameters[..function.parameters.len()];
                let calls = [other, *function].map(|function| function.with(given).expect("parameters"));
                push(
                    function.name,
                    function.variant,
                    ratio(level, |chip, dst, level| calls[chip].run_program(dst, width, level)),
                );
            }
        }
        for function in binary_functions(Arch::Blackhole).filter(|function| function.name.starts_with(&wanted)) {
            if lookup_binary(Arch::Wormhole, function.name, function.variant).is_some() {
                let given = &parameters[..function.parameters.len()];
                let calls = CHIPS.map(|arch| lookup_binary(arch, function.name, function.variant).expect("a function"));
                let calls = calls.map(|function| function.with(given).expect("parameters"));
                push(
                    function.name,
                    function.variant,
                    ratio(level, |chip, dst, level| calls[chip].run(dst, &second[..dst.len()], width, level)),
                );
            }
        }
        for function in ternary_functions(Arch::Blackhole).filter(|function| function.name.starts_with(&wanted)) {
            if lookup_ternary(Arch::Wormhole, function.name, function.variant).is_some() {
                let given = &parameters[..function.parameters.len()];
                let calls =
                    CHIPS.map(|arch| lookup_ternary(arch, function.name, function.variant).expect("a function"));
                let calls = calls.map(|function| function.with(given).expect("parameters"));
                let run = |chip: usize, dst: &mut [u32], level| {
                    calls[chip].run(dst, &second[..dst.len()], &third[..dst.len()], width, level);
                };
                push(function.name, function.variant, ratio(level, run));
            }
        }
    }
    found.sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
    for ((ratio, [wormhole, blackhole]), name) in &found {
        println!("{ratio:6.2}  {wormhole:3} {blackhole:3}  {name}");
    }
    let slow = found.iter().filter(|((ratio, _), _)| *ratio < 0.9).count();
    if let Some(((median, _), _)) = found.get(found.len() / 2) {
        println!("{} functions, {slow} below 0.9, median {median:.2}", found.len());
    }
}
