//! FP32 functions of the vector unit on one thread beside the vendor's simulator: `cargo bench -p bench-engine --bench
//! simulator`, with the start of a name after `--` to see only some.
//!
//! The simulator takes 0.24 us for a multiply-add of 32 lanes. A function's are counted as its program runs by the definition:
//! every sum, product and comparison by a difference is one, everything else is not counted. Arguments are standard normal,
//! of which logarithms and roots get the magnitude, and the arcs of sine and cosine an eighth.
#![allow(clippy::print_stdout, reason = "the table is the result")]

use std::hint::black_box;
use std::time::Instant;

use tt_cpu::Level;
use tt_tensix::sfpu::{self, Call, DstWidth};

const SIMULATOR_NS: f64 = 240.0;
const TILE: usize = 1024;
const TILES: usize = 16;
const REPETITIONS: usize = 60;

/// Functions with the parameters that operators give them by default.
const FUNCTIONS: [(&str, &str); 20] = [
    ("acos", "default"),
    ("asin", "default"),
    ("atan", "default"),
    ("cbrt", "default"),
    ("cos", "default"),
    ("cosh", "default"),
    ("erf", "accurate"),
    ("erfc", "default"),
    ("exp", "accurate"),
    ("exp2", "default"),
    ("expm1", "accurate"),
    ("gelu", "accurate"),
    ("log", "accurate"),
    ("recip", "accurate"),
    ("rsqrt", "default"),
    ("sigmoid", "accurate"),
    ("silu", "accurate"),
    ("sin", "default"),
    ("sqrt", "accurate"),
    ("tanh", "accurate"),
];

/// Standard normal values: sums of twelve uniform ones.
fn arguments(positive: bool, scale: f32) -> Vec<u32> {
    let mut state = 1u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / 16_777_216.0
    };
    let mut value = || ((0..12).map(|_| uniform()).sum::<f32>() - 6.0) * scale;
    (0..TILE * TILES).map(|_| if positive { value().abs() } else { value() }.to_bits()).collect()
}

/// Nanoseconds for 32 lanes: the best of several rounds over tiles.
fn time(call: &Call, level: Level, arguments: &[u32]) -> f64 {
    let round = |_| {
        let mut dst = arguments.to_vec();
        let start = Instant::now();
        for tile in dst.chunks_mut(TILE) {
            call.run(black_box(tile), DstWidth::Bits32, level);
        }
        start.elapsed().as_secs_f64() * 1e9 / (arguments.len() / 32) as f64
    };
    (0..REPETITIONS).map(round).fold(f64::INFINITY, f64::min)
}

fn main() {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let level = Level::current();
    println!("{:12} {:>14} {:>12} {:>12} {:>10}", "function", "multiply-adds", "ns / 32", "Gelement/s", "simulator");
    for (name, variant) in FUNCTIONS.into_iter().filter(|(name, _)| name.starts_with(&wanted)) {
        let function = sfpu::lookup(name, variant).expect("a function of the table");
        let call = function.with(&[]).expect("no parameters");
        let count = sfpu::multiply_adds(|| call.run(&mut [0x3f80_0001], DstWidth::Bits32, Level::Scalar));
        let positive = name.starts_with("log") || name.ends_with("sqrt");
        let scale = if name == "asin" || name == "acos" { 0.125 } else { 1.0 };
        let ns = time(&call, level, &arguments(positive, scale));
        let ratio = count as f64 * SIMULATOR_NS / ns;
        println!("{name:12} {count:>14} {ns:>12.1} {:>12.2} {ratio:>8.0} x", 32.0 / ns);
    }
}
