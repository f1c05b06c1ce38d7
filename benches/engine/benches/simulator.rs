//! FP32 SFPU functions on one thread, compared with the vendor's simulator.
//!
//! `cargo bench -p bench-engine --bench simulator`, with the start of a name after `--` to see only some.
//!
//! The simulator takes 0.24 us for a multiply-add of 32 lanes. A function's are counted as its program runs by the
//! definition: every sum, product and comparison by a difference is one, everything else is not counted. Arguments are
//! standard normal, of which functions of positive numbers get the magnitude, `acosh` one more than that, and functions
//! of numbers below one an eighth.
#![allow(clippy::print_stdout, reason = "the table is the result")]

use std::hint::black_box;
use std::time::Instant;

use tt_cpu::Level;
use tt_formats::Arch;
use tt_sfpu::{Call, DstWidth};

const SIMULATOR_NS: f64 = 240.0;
const TILE: usize = 1024;
const TILES: usize = 16;
const REPETITIONS: usize = 60;

/// Functions without parameters that compute.
const FUNCTIONS: [(&str, &str); 40] = [
    ("acos", "default"),
    ("acosh", "default"),
    ("asin", "default"),
    ("asinh", "default"),
    ("atan", "default"),
    ("atanh", "default"),
    ("cbrt", "default"),
    ("cos", "default"),
    ("cosh", "default"),
    ("digamma", "default"),
    ("erf", "accurate"),
    ("erfc", "default"),
    ("erfinv", "default"),
    ("exp", "accurate"),
    ("exp2", "default"),
    ("expm1", "accurate"),
    ("gelu", "accurate"),
    ("gelu", "tanh"),
    ("gelu_derivative", "accurate"),
    ("i0", "default"),
    ("i1", "default"),
    ("lgamma", "default"),
    ("log", "accurate"),
    ("log10", "accurate"),
    ("log1p", "accurate"),
    ("log2", "accurate"),
    ("logit", "unclamped"),
    ("mish", "accurate"),
    ("recip", "accurate"),
    ("rsqrt", "default"),
    ("sigmoid", "accurate"),
    ("silu", "accurate"),
    ("sin", "default"),
    ("sinh", "default"),
    ("softsign", "default"),
    ("sqrt", "accurate"),
    ("tan", "default"),
    ("tanh", "accurate"),
    ("tanh_derivative", "accurate"),
    ("tanhshrink", "default"),
];

/// Standard normal values, sums of twelve uniform ones, brought into the domain of a function.
fn arguments(name: &str) -> Vec<u32> {
    let mut state = 1u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / 16_777_216.0
    };
    let mut normal = || (0..12).map(|_| uniform()).sum::<f32>() - 6.0;
    let mut value = || match name {
        "acosh" => 1.0 + normal().abs(),
        "acos" | "asin" | "atanh" | "erfinv" => normal() / 8.0,
        "logit" => normal().abs() / 8.0,
        "digamma" | "lgamma" | "log" | "log10" | "log1p" | "log2" | "rsqrt" | "sqrt" => normal().abs(),
        _ => normal(),
    };
    (0..TILE * TILES).map(|_| value().to_bits()).collect()
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
    println!("{:16} {:>14} {:>12} {:>12} {:>10}", "function", "multiply-adds", "ns / 32", "Gelement/s", "simulator");
    for (name, variant) in FUNCTIONS.into_iter().filter(|(name, _)| name.starts_with(&wanted)) {
        let function = tt_sfpu::lookup(Arch::Wormhole, name, variant).expect("a function of the table");
        let call = function.with(&[]).expect("no parameters");
        let count = tt_sfpu::multiply_adds(|| call.run(&mut [0x3f80_0001], DstWidth::Bits32, Level::Scalar));
        let ns = time(&call, level, &arguments(name));
        let ratio = count as f64 * SIMULATOR_NS / ns;
        println!("{name:16} {count:>14} {ns:>12.1} {:>12.2} {ratio:>8.0} x", 32.0 / ns);
    }
}
