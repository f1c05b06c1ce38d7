//! SFPU functions on one 32-bit `Dst` tile, and bfloat16 tables.
//!
//! Items are datums.
//!
//! The vendor's simulator takes 0.24 us for a multiply-add of 32 lanes, which is 0.13 Gitem/s for `multiply_add`.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use tt_cpu::Level;
use tt_cpu::table::{HalfTable, Store};
use tt_formats::Arch;
use tt_sfpu::DstWidth;

fn main() {
    divan::main();
}

const LEVELS: [Level; 3] = [Level::Scalar, Level::Avx2, Level::Avx512];
const FUNCTIONS: [(&str, &str); 8] = [
    ("exp", "accurate"),
    ("gelu", "accurate"),
    ("log", "accurate"),
    ("recip", "accurate"),
    ("rsqrt", "default"),
    ("sigmoid", "accurate"),
    ("sqrt", "accurate"),
    ("tanh", "accurate"),
];

/// Positive values between 2^-8 and 2^8 as FP32.
fn tile(seed: u32) -> [u32; 1024] {
    let mut state = seed;
    std::array::from_fn(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (119 + (state >> 28)) << 23 | state >> 5 & 0x7f_ffff
    })
}

#[divan::bench(args = FUNCTIONS)]
fn function(bencher: Bencher, (name, variant): (&str, &str)) {
    let call = tt_sfpu::lookup(Arch::Wormhole, name, variant)
        .expect("a function of the table")
        .with(&[])
        .expect("no parameters");
    let operand = tile(1);
    bencher.counter(ItemsCount::new(1024usize)).bench_local(|| {
        let mut dst = operand;
        call.run(black_box(&mut dst), DstWidth::Bits32, Level::Avx512);
        dst
    });
}

#[divan::bench(args = LEVELS)]
fn multiply_add(bencher: Bencher, level: Level) {
    let call = tt_sfpu::lookup_ternary(Arch::Wormhole, "mac", "default")
        .expect("a function of the table")
        .with(&[])
        .expect("none");
    let (x, y, z) = (tile(1), tile(2), tile(3));
    bencher.counter(ItemsCount::new(1024usize)).bench_local(|| {
        let mut dst = x;
        call.run(black_box(&mut dst), black_box(&y), black_box(&z), DstWidth::Bits32, level);
        dst
    });
}

const WIDTHS: [DstWidth; 2] = [DstWidth::Bits16, DstWidth::Bits32];
const BINARY: [&str; 9] = [
    "add_binary",
    "mul_binary",
    "div_binary",
    "power_binary",
    "fmod_binary",
    "remainder_binary",
    "atan2",
    "logaddexp",
    "xlogy",
];

#[divan::bench(args = BINARY.into_iter().flat_map(|name| WIDTHS.map(|width| (name, width))))]
fn binary(bencher: Bencher, (name, width): (&str, DstWidth)) {
    let function = tt_sfpu::lookup_binary(Arch::Wormhole, name, "default").expect("a function of the table");
    let kept = if width == DstWidth::Bits16 { 0xffff_0000 } else { u32::MAX };
    let (x, y) = (tile(1).map(|word| word & kept), tile(2).map(|word| word & kept));
    bencher.counter(ItemsCount::new(1024usize)).bench_local(|| {
        let mut dst = x;
        tt_sfpu::binary(function, black_box(&mut dst), black_box(&y), width, Level::Avx512);
        dst
    });
}

#[divan::bench(args = LEVELS)]
fn table(bencher: Bencher, level: Level) {
    look_up(bencher, level, &(0..=u16::MAX).map(u16::reverse_bits).collect());
}

/// One that is a sum of a part for the high byte and one for the low byte.
#[divan::bench(args = LEVELS)]
fn table_of_sums(bencher: Bencher, level: Level) {
    look_up(bencher, level, &(0..=u16::MAX).map(|pattern| 0x7f00u16.wrapping_sub(pattern)).collect());
}

fn look_up(bencher: Bencher, level: Level, table: &HalfTable) {
    let input: Vec<u8> = tile(1).iter().flat_map(|word| ((word >> 16) as u16).to_le_bytes()).collect();
    let mut output = vec![0; input.len()];
    bencher.counter(ItemsCount::new(1024usize)).bench_local(|| {
        table.look_up(level, black_box(&input), black_box(&mut output), Store::Near);
    });
}
