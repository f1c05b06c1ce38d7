//! Tile products: 32 x 32 x 32 multiplications and additions each, exact.

use divan::Bencher;
use divan::counter::ItemsCount;
use tt_cpu::Level;
use tt_formats::DataFormat;
use tt_fpu::{Accumulator, Arch, DstFormat, MathConfig, MathFidelity, PreparedA, PreparedB, Src};

/// Floating-point operations of a tile product, K counted once whatever the fidelity.
const TILE_FLOPS: usize = 2 * 32 * 32 * 32;

fn main() {
    divan::main();
}

/// Normally distributed values as bfloat16 in a Src register, from a small generator.
fn normal_tile(seed: u32) -> Src {
    let mut state = seed;
    let mut uniform = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 16_777_216.0
    };
    std::array::from_fn(|_| {
        let sum: f32 = (0..12).map(|_| uniform()).sum();
        (sum - 6.0).to_bits() >> 16 << 3
    })
}

fn config(phases: u32, dst32: bool) -> MathConfig {
    MathConfig {
        fidelity: MathFidelity::from_phases(phases).expect("1 to 4"),
        dst: if dst32 { DstFormat::Fp32 } else { DstFormat::Bf16 },
        alu: DataFormat::Float16B,
        arch: Arch::Wormhole,
    }
}

const CASES: [(u32, bool); 8] =
    [(1, false), (2, false), (3, false), (4, false), (1, true), (2, true), (3, true), (4, true)];

fn products(bencher: Bencher, level: Level, (phases, dst32): (u32, bool)) {
    let cfg = config(phases, dst32);
    let (mut a, mut b) = (PreparedA::new(), PreparedB::new());
    a.prepare(&cfg, &normal_tile(1));
    b.prepare(&cfg, &normal_tile(2));
    let mut dst = Accumulator::new();
    bencher
        .counter(ItemsCount::new(TILE_FLOPS))
        .bench_local(|| tt_fpu::accumulate_at(level, &cfg, divan::black_box(&mut dst), &mut a, &mut b));
}

#[divan::bench(args = CASES)]
fn prepared_avx512(bencher: Bencher, case: (u32, bool)) {
    products(bencher, Level::Avx512, case);
}

#[divan::bench(args = CASES)]
fn prepared_avx2(bencher: Bencher, case: (u32, bool)) {
    products(bencher, Level::Avx2, case);
}

#[divan::bench(args = CASES)]
fn prepared_scalar(bencher: Bencher, case: (u32, bool)) {
    products(bencher, Level::Scalar, case);
}

/// Operands with an infinity, which leave the FMA chain for the integers.
#[divan::bench(args = CASES)]
fn out_of_range(bencher: Bencher, (phases, dst32): (u32, bool)) {
    let cfg = config(phases, dst32);
    let (mut a, mut b) = (PreparedA::new(), PreparedB::new());
    let mut infinite = normal_tile(1);
    infinite[5] = 255 << 10;
    a.prepare(&cfg, &infinite);
    b.prepare(&cfg, &normal_tile(2));
    let mut dst = Accumulator::new();
    bencher
        .counter(ItemsCount::new(TILE_FLOPS))
        .bench_local(|| tt_fpu::accumulate(&cfg, divan::black_box(&mut dst), &mut a, &mut b));
}

/// The definition, one element after the other.
#[divan::bench(args = CASES)]
fn definition(bencher: Bencher, (phases, dst32): (u32, bool)) {
    let cfg = config(phases, dst32);
    let (in0, in1) = (normal_tile(2), normal_tile(1));
    let mut dst = [0; 1024];
    bencher
        .counter(ItemsCount::new(TILE_FLOPS))
        .bench_local(|| tt_fpu::matmul_tile_scalar(&cfg, divan::black_box(&mut dst), &in0, &in1));
}

/// Preparing one operand tile; items are datums.
#[divan::bench]
fn prepare(bencher: Bencher) {
    let cfg = config(4, false);
    let source = normal_tile(1);
    let mut a = PreparedA::new();
    bencher.counter(ItemsCount::new(1024usize)).bench_local(|| a.prepare(&cfg, divan::black_box(&source)));
}
