//! Binary functions and FPU operations against definitions and a model.
//!
//! The functions at every CPU level, on a grid of corners and random pairs.
//!
//! The tests run 2^24 pairs of every operation and fewer of every function; `cargo xtask pairs` runs 2^24 pairs of
//! every function and width of Dst, `cargo xtask every-pair` all pairs of `BF16` values.

mod engine;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use tt_cpu::Level;
use tt_formats::Arch;
use tt_fpu::MathFidelity;
use tt_sfpu::{BinaryFunction, DstWidth, binary_functions};
use tt_testkit::random::Random;

use engine::{Operation, TILE, in_src, operations};

const SHORT: usize = 1 << 17;
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

/// Whole tiles of pairs: the corners are filled up with the pair of zeros.
fn tiles(words: &[u32]) -> Vec<[u16; TILE]> {
    let mut halves: Vec<u16> = words.iter().map(|word| (word >> 16) as u16).collect();
    halves.resize(halves.len().next_multiple_of(TILE), 0);
    halves.as_chunks::<TILE>().0.to_vec()
}

fn matrix_operation(operation: Operation, count: usize) -> u64 {
    for_each_block(count, 22, |a, b| {
        for (a, b) in tiles(a).iter().zip(&tiles(b)) {
            if let Err(difference) = operation.check(&in_src(a), &in_src(b), Level::supported()) {
                panic!("{difference}");
            }
        }
    })
}

/// Runs everything on two threads and prints the counts.
fn run(pairs_of_functions: usize) {
    let functions: Vec<&BinaryFunction> =
        [Arch::Wormhole, Arch::Blackhole].into_iter().flat_map(binary_functions).collect();
    let operations = operations(&[MathFidelity::HiFi4]);
    let (next, of_functions, of_operations) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let job = next.fetch_add(1, Ordering::Relaxed);
                    if let Some(&operation) = operations.get(job) {
                        of_operations.fetch_add(matrix_operation(operation, FULL), Ordering::Relaxed);
                    } else if let Some(function) = functions.get(job - operations.len()) {
                        let done = vector_function(function, pairs_of_functions);
                        of_functions.fetch_add(done, Ordering::Relaxed);
                    } else {
                        return;
                    }
                }
            });
        }
    });
    println!(
        "{} functions of two operands, {} pairs: {} CPU levels against the scalar form, 0 differences",
        functions.len(),
        of_functions.into_inner(),
        faster_levels().count(),
    );
    println!(
        "{} operations of the FPU, {} pairs: {} CPU levels against the independent model, 0 differences",
        operations.len(),
        of_operations.into_inner(),
        Level::supported().len(),
    );
}

#[test]
fn every_level_gives_the_bits_of_the_definition() {
    run(SHORT);
}

#[test]
#[ignore = "minutes; `cargo xtask pairs` runs it"]
fn every_level_gives_the_bits_of_the_definition_on_2_24_pairs_of_every_function() {
    run(FULL);
}
