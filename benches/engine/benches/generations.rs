//! SFPU functions of Blackhole against those of Wormhole, on one thread.
//!
//! `cargo bench -p bench-engine --bench generations`, with the start of a name after `--` to see only some.
//!
//! Each function runs on normal numbers in a 16-bit and in a 32-bit `Dst`, both generations by turns; the figure is the
//! time on Wormhole over that on Blackhole, of the fastest rounds.
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

/// The time on Wormhole over that on Blackhole.
fn ratio(run: impl Fn(usize, &mut [u32])) -> f64 {
    let source = words(1);
    let mut best = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        for (chip, best) in best.iter_mut().enumerate() {
            let mut dst = source.clone();
            let start = Instant::now();
            for tile in dst.chunks_mut(TILE) {
                run(chip, black_box(tile));
            }
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    best[0] / best[1]
}

fn main() {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let level = Level::current();
    let (second, third) = (words(2), words(3));
    let (second, third) = (&second[..TILE], &third[..TILE]);
    let parameters = [0x3f80_0000, 0x3f00_0000, 0x4000_0000, 0x3e80_0000, 0x3f80_0000, 0x3f80_0000];
    let mut found: Vec<(f64, String)> = Vec::new();
    for (width, bits) in [(DstWidth::Bits16, 16), (DstWidth::Bits32, 32)] {
        let mut push = |name: &str, variant: &str, ratio: f64| found.push((ratio, format!("{name}/{variant} {bits}")));
        for function in functions(Arch::Blackhole).filter(|function| function.name.starts_with(&wanted)) {
            if let Some(other) = lookup(Arch::Wormhole, function.name, function.variant) {
                let given = &parameters[..function.parameters.len()];
                let calls = [other, *function].map(|function| function.with(given).expect("parameters"));
                push(function.name, function.variant, ratio(|chip, dst| calls[chip].run_program(dst, width, level)));
            }
        }
        for function in binary_functions(Arch::Blackhole).filter(|function| function.name.starts_with(&wanted)) {
            if lookup_binary(Arch::Wormhole, function.name, function.variant).is_some() {
                let given = &parameters[..function.parameters.len()];
                let calls = CHIPS.map(|arch| lookup_binary(arch, function.name, function.variant).expect("a function"));
                let calls = calls.map(|function| function.with(given).expect("parameters"));
                push(function.name, function.variant, ratio(|chip, dst| calls[chip].run(dst, second, width, level)));
            }
        }
        for function in ternary_functions(Arch::Blackhole).filter(|function| function.name.starts_with(&wanted)) {
            if lookup_ternary(Arch::Wormhole, function.name, function.variant).is_some() {
                let given = &parameters[..function.parameters.len()];
                let calls =
                    CHIPS.map(|arch| lookup_ternary(arch, function.name, function.variant).expect("a function"));
                let calls = calls.map(|function| function.with(given).expect("parameters"));
                let run = |chip: usize, dst: &mut [u32]| calls[chip].run(dst, second, third, width, level);
                push(function.name, function.variant, ratio(run));
            }
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (ratio, name) in &found {
        println!("{ratio:6.2}  {name}");
    }
    let slow = found.iter().filter(|(ratio, _)| *ratio < 0.9).count();
    if let Some((median, _)) = found.get(found.len() / 2) {
        println!("{} functions, {slow} below 0.9, median {median:.2}", found.len());
    }
}
