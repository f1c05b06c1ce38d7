//! Element-wise operations, copies and reductions of the matrix unit, one tile.
//!
//! Items are datums.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use tt_cpu::Level;
use tt_formats::DataFormat;
use tt_fpu::{Arch, Broadcast, DstFormat, EltwiseOp, MathConfig, MathFidelity, PoolOp, ReduceDim, Src};
use tt_tensix::unpack;

fn main() {
    divan::main();
}

const LEVELS: [Level; 3] = [Level::Scalar, Level::Avx2, Level::Avx512];

/// Values of both signs between 2^-8 and 2^8 as bfloat16 in a Src register.
fn tile(seed: u32) -> Src {
    let mut state = seed;
    std::array::from_fn(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 31 << 18 | (119 + (state >> 20 & 15)) << 10 | (state >> 8 & 127) << 3
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

fn eltwise(bencher: Bencher, level: Level, cfg: MathConfig, op: (EltwiseOp, Broadcast)) {
    let (a, b, mut dst) = (tile(1), tile(2), [0; 1024]);
    bencher
        .counter(ItemsCount::new(1024usize))
        .bench_local(|| tt_fpu::eltwise_at(level, &cfg, op, false, black_box(&mut dst), black_box(&a), black_box(&b)));
}

#[divan::bench(args = LEVELS, consts = [false, true])]
fn add<const DST32: bool>(bencher: Bencher, level: Level) {
    eltwise(bencher, level, config(4, DST32), (EltwiseOp::Add, Broadcast::None));
}

#[divan::bench(args = LEVELS)]
fn subtract_column(bencher: Bencher, level: Level) {
    eltwise(bencher, level, config(4, false), (EltwiseOp::Sub, Broadcast::Column));
}

#[divan::bench(args = LEVELS, consts = [1, 2, 4])]
fn multiply<const PHASES: u32>(bencher: Bencher, level: Level) {
    eltwise(bencher, level, config(PHASES, false), (EltwiseOp::Mul, Broadcast::None));
}

#[divan::bench(args = LEVELS, consts = [1, 2, 4])]
fn multiply_dst32<const PHASES: u32>(bencher: Bencher, level: Level) {
    eltwise(bencher, level, config(PHASES, true), (EltwiseOp::Mul, Broadcast::None));
}

/// In lanes of 16 bits, operands as they lie in L1.
#[divan::bench(args = [Level::Avx2, Level::Avx512], consts = [8, 7, 4])]
fn multiply_bf16_lanes<const BITS: u32>(bencher: Bencher, level: Level) {
    eltwise_bf16_lanes(bencher, level, EltwiseOp::Mul, BITS);
}

#[divan::bench(args = [Level::Avx2, Level::Avx512])]
fn add_bf16_lanes(bencher: Bencher, level: Level) {
    eltwise_bf16_lanes(bencher, level, EltwiseOp::Add, 8);
}

/// Operands with so many bits of significand: those of BF16 and of block floats of 8 and less bits.
fn eltwise_bf16_lanes(bencher: Bencher, level: Level, op: EltwiseOp, bits: u32) {
    let cfg = config(4, false);
    if !tt_fpu::bf16_lanes::supports(level, &cfg) {
        return;
    }
    let page = |seed| {
        let mut page = [0; 2048];
        for (bytes, word) in page.as_chunks_mut().0.iter_mut().zip(tile(seed)) {
            *bytes = ((word >> 3) as u16 & u16::MAX << (8 - bits)).to_le_bytes();
        }
        page
    };
    let (a, b, mut dst) = (page(1), page(2), [0; 1024]);
    bencher
        .counter(ItemsCount::new(1024usize))
        .bench_local(|| tt_fpu::bf16_lanes::run(level, &cfg, op, black_box(&mut dst), black_box(&a), black_box(&b)));
}

/// The definition.
#[divan::bench(args = [EltwiseOp::Add, EltwiseOp::Mul])]
fn definition(bencher: Bencher, op: EltwiseOp) {
    let (a, b, mut dst, cfg) = (tile(1), tile(2), [0; 1024], config(4, false));
    bencher.counter(ItemsCount::new(1024usize)).bench_local(|| {
        tt_fpu::eltwise_scalar(&cfg, op, Broadcast::None, false, black_box(&mut dst), black_box(&a), black_box(&b));
    });
}

#[divan::bench(consts = [false, true])]
fn copy_to_dst<const DST32: bool>(bencher: Bencher) {
    let (a, mut dst, cfg) = (tile(1), [0; 1024], config(4, DST32));
    bencher
        .counter(ItemsCount::new(1024usize))
        .bench_local(|| tt_fpu::copy_to_dst(&cfg, black_box(&mut dst), black_box(&a)));
}

#[divan::bench]
fn transpose(bencher: Bencher) {
    let (a, mut dst) = (tile(1), [0; 1024]);
    bencher.counter(ItemsCount::new(1024usize)).bench_local(|| unpack::transpose(black_box(&a), black_box(&mut dst)));
}

fn reduce(bencher: Bencher, level: Level, what: (PoolOp, ReduceDim)) {
    let (a, scaler, mut dst, cfg) = (tile(1), [127 << 10; 1024], [0; 1024], config(4, false));
    bencher.counter(ItemsCount::new(1024usize)).bench_local(|| {
        tt_fpu::reduce_at(level, &cfg, cfg.alu, what, black_box(&mut dst), black_box(&a), black_box(&scaler));
    });
}

#[divan::bench(args = LEVELS)]
fn sum_columns(bencher: Bencher, level: Level) {
    reduce(bencher, level, (PoolOp::Sum, ReduceDim::Column));
}

#[divan::bench(args = LEVELS)]
fn max_columns(bencher: Bencher, level: Level) {
    reduce(bencher, level, (PoolOp::Max, ReduceDim::Column));
}

#[divan::bench(args = LEVELS)]
fn max_rows(bencher: Bencher, level: Level) {
    reduce(bencher, level, (PoolOp::Max, ReduceDim::Row));
}

#[divan::bench(args = LEVELS)]
fn sum_rows(bencher: Bencher, level: Level) {
    let (a, scaler, mut dst, cfg) = (tile(1), [127 << 10; 1024], [0; 1024], config(4, true));
    bencher
        .counter(ItemsCount::new(1024usize))
        .bench_local(|| tt_fpu::row_sum_at(level, &cfg, black_box(&mut dst), black_box(&a), black_box(&scaler)));
}

/// The definition.
#[divan::bench]
fn sum_rows_definition(bencher: Bencher) {
    let (a, scaler, mut dst, cfg) = (tile(1), [127 << 10; 1024], [0; 1024], config(4, true));
    bencher
        .counter(ItemsCount::new(1024usize))
        .bench_local(|| tt_fpu::row_sum_scalar(&cfg, black_box(&mut dst), black_box(&a), black_box(&scaler)));
}
