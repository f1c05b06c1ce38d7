//! Functions of two operands at every CPU level against the scalar definitions, on a grid of corners and random pairs.
//!
//! The short run is part of the tests; `cargo xtask pairs` runs 2^24 pairs per function and width of Dst.
#![allow(clippy::print_stdout, reason = "the counts are the result")]

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use tt_cpu::Level;
use tt_formats::DataFormat;
use tt_tensix::fpu::{self, Arch, Broadcast, DstFormat, EltwiseOp, MathConfig, MathFidelity};
use tt_tensix::sfpu::{BINARY_FUNCTIONS, BinaryFunction, DstWidth};
use tt_tensix::unpack;
use tt_testkit::random::Random;

const TILE: usize = 1024;
const SHORT: usize = 1 << 14;
const FULL: usize = 1 << 24;
/// Pairs that go through a function at a time.
const BLOCK: usize = 1 << 14;

/// Where floating-point functions break: zeros, subnormals, the first and last normal numbers, ones, integers, powers
/// of two at which fractions end, infinities, NaN.
#[rustfmt::skip]
const FLOATS: [u32; 20] = [
    0x0000_0000, 0x0000_0001, 0x007f_ffff, 0x0080_0000, 0x0080_0001, 0x3f00_0000, 0x3f7f_ffff, 0x3f80_0000, 0x3f80_0001,
    0x3fc0_0000, 0x4000_0000, 0x4040_0000, 0x42b1_7218, 0x4b00_0000, 0x4b80_0000, 0x5f00_0000, 0x7f7f_ffff, 0x7f80_0000,
    0x7f80_0001, 0x7fc0_0000,
];
/// Where functions of integers break: small counts, the widths of words, the ends of the range.
const INTEGERS: [u32; 12] = [2, 3, 31, 32, 33, 0xff, 0x100, 0xffff, 0x1_0000, 0x7fff_fffe, 0x7fff_ffff, 0xffff_fffe];

/// Every corner with every other, and both signs.
fn corner_pairs() -> (Vec<u32>, Vec<u32>) {
    let corners: Vec<u32> = FLOATS.iter().chain(&INTEGERS).flat_map(|&word| [word, word ^ 0x8000_0000]).collect();
    let pairs = corners.iter().flat_map(|&a| corners.iter().map(move |&b| (a, b)));
    pairs.unzip()
}

/// Any bits, numbers with exponents near each other, or small integers.
fn random_pair(random: &mut Random) -> (u32, u32) {
    let bits = random.bits();
    let (a, b) = (bits as u32, (bits >> 32) as u32);
    match random.below(4) {
        0 => (a, b),
        1 => (a & 0xffff, b & 0x3f),
        _ => {
            let centre = random.between(110, 144);
            let near = |word: u32, exponent: i32| word & 0x807f_ffff | (exponent as u32) << 23;
            (near(a, centre + random.between(-5, 5)), near(b, centre + random.between(-5, 5)))
        }
    }
}

/// Calls `check` with blocks of pairs: the corners first, then `count` random ones. Returns how many there were.
fn for_each_block(count: usize, seed: u64, mut check: impl FnMut(&[u32], &[u32])) -> u64 {
    let (a, b) = corner_pairs();
    check(&a, &b);
    let mut random = Random::new(seed);
    let mut total = a.len();
    while total < a.len() + count {
        let (a, b): (Vec<u32>, Vec<u32>) = (0..BLOCK).map(|_| random_pair(&mut random)).unzip();
        check(&a, &b);
        total += BLOCK;
    }
    total as u64
}

fn faster_levels() -> impl Iterator<Item = Level> {
    Level::supported().iter().copied().filter(|&level| level != Level::Scalar)
}

/// The words as a Dst of this width holds them.
fn in_dst(words: &[u32], width: DstWidth) -> Vec<u32> {
    match width {
        DstWidth::Bits16 => words.iter().map(|word| word & 0xffff_0000).collect(),
        DstWidth::Bits32 => words.to_vec(),
    }
}

fn vector_function(function: &BinaryFunction, count: usize) -> u64 {
    // The tolerances of `isclose`, the only function with parameters.
    let parameters = &[0x3c23_d70a, 0x3a83_126f][..function.parameters.len()];
    let call = function.with(parameters).expect("as many as it takes");
    let mut pairs = 0;
    for width in [DstWidth::Bits16, DstWidth::Bits32] {
        pairs += for_each_block(count, 21, |a, b| {
            let (a, b) = (in_dst(a, width), in_dst(b, width));
            let mut expected = a.clone();
            call.run(&mut expected, &b, width, Level::Scalar);
            for level in faster_levels() {
                let mut got = a.clone();
                call.run(&mut got, &b, width, level);
                if let Some(at) = (0..a.len()).find(|&i| got[i] != expected[i]) {
                    panic!(
                        "{function:?} {width:?} {level}: {:08x} with {:08x} gives {:08x}, the scalar form {:08x}",
                        a[at], b[at], got[at], expected[at]
                    );
                }
            }
        });
    }
    pairs
}

/// A tile of bfloat16 words in the order in which the registers have them.
fn in_src(words: &[u32]) -> [u32; TILE] {
    let bytes: Vec<u8> = words.iter().flat_map(|word| ((word >> 16) as u16).to_le_bytes()).collect();
    let mut src = [0; TILE];
    unpack::to_src(DataFormat::Float16B, DataFormat::Float16B, &bytes, &mut src);
    src
}

fn matrix_operation(op: EltwiseOp, dst: DstFormat, count: usize) -> u64 {
    let cfg = MathConfig { fidelity: MathFidelity::HiFi4, dst, alu: DataFormat::Float16B, arch: Arch::Wormhole };
    for_each_block(count, 22, |a, b| {
        for (a, b) in a.as_chunks::<TILE>().0.iter().zip(b.as_chunks::<TILE>().0) {
            let (a, b) = (in_src(a), in_src(b));
            let mut expected = [0; TILE];
            fpu::eltwise_scalar(&cfg, op, Broadcast::None, false, &mut expected, &a, &b);
            for level in faster_levels() {
                let mut got = [0; TILE];
                fpu::eltwise_at(level, &cfg, (op, Broadcast::None), false, &mut got, &a, &b);
                assert!(got == expected, "{op:?} {dst:?} {level}");
            }
        }
    })
}

/// Runs everything on two threads and prints the counts.
fn run(count: usize) {
    let functions: Vec<&BinaryFunction> = BINARY_FUNCTIONS.iter().copied().flatten().collect();
    let operations = [EltwiseOp::Add, EltwiseOp::Sub, EltwiseOp::Mul];
    let settings: Vec<(EltwiseOp, DstFormat)> =
        operations.into_iter().flat_map(|op| [(op, DstFormat::Bf16), (op, DstFormat::Fp32)]).collect();
    let (next, pairs) = (AtomicUsize::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let job = next.fetch_add(1, Ordering::Relaxed);
                    let done = if let Some(function) = functions.get(job) {
                        vector_function(function, count)
                    } else if let Some(&(op, dst)) = settings.get(job - functions.len()) {
                        matrix_operation(op, dst, count)
                    } else {
                        return;
                    };
                    pairs.fetch_add(done, Ordering::Relaxed);
                }
            });
        }
    });
    println!(
        "{} functions of two operands and {} operations of the matrix unit, {count} random pairs each and {} of corners: \
         {} pairs, {} CPU levels against the scalar form, 0 differences",
        functions.len(),
        operations.len(),
        corner_pairs().0.len(),
        pairs.into_inner(),
        faster_levels().count(),
    );
}

#[test]
fn every_level_gives_the_bits_of_the_scalar_form() {
    run(SHORT);
}

#[test]
#[ignore = "minutes; `cargo xtask pairs` runs it"]
fn every_level_gives_the_bits_of_the_scalar_form_on_2_24_pairs() {
    run(FULL);
}
