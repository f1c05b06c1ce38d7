//! Whole matrix multiplications: thread counts, batches and layouts cannot change a bit.
//!
//! Blocking can.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod common;

use tt_formats::{DataFormat, TileShape};
use tt_fpu::{Arch, MathFidelity};
use tt_memory::{BufferId, BufferType, Device};
use tt_ops::Chain;
use tt_ops::matmul::{MatmulProgram, Ring, matmul};
use tt_ops::windows::LeftOperand;

use common::device;

const FORMAT: DataFormat = DataFormat::Float16B;

struct Lcg(u64);

impl Lcg {
    /// A bfloat16 between -2 and 2, any mantissa.
    fn datum(&mut self) -> u16 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = (self.0 >> 33) as u16;
        (bits & 0x807f) | (124 + (bits >> 7 & 3)) << 7
    }
}

fn tiles(device: &mut Device, count: usize) -> BufferId {
    let bytes = FORMAT.tile_bytes(TileShape::FULL) as u64;
    device.allocate_interleaved(BufferType::Dram, bytes, count as u64, 1).unwrap()
}

fn random(device: &mut Device, count: usize, seed: u64) -> BufferId {
    let id = tiles(device, count);
    let mut lcg = Lcg(seed);
    let raw: Vec<u8> = (0..count * 1024).flat_map(|_| lcg.datum().to_le_bytes()).collect();
    device.write(id, &raw, 2048).unwrap();
    id
}

fn program(m: usize, k: usize, n: usize, k_block: usize, packer_l1_acc: bool) -> MatmulProgram {
    MatmulProgram {
        formats: (FORMAT, FORMAT, FORMAT),
        batch: (1, 1, 1),
        m,
        k,
        n,
        k_datums: k * 32,
        k_block,
        ring: None,
        fidelity: MathFidelity::HiFi2,
        dst32: false,
        packer_l1_acc,
        reload_direct: true,
        relu: false,
        activation: Chain::default(),
        left: LeftOperand::Tiles,
        transpose_a: false,
        transpose_b: false,
        arch: Arch::Wormhole,
    }
}

fn run(device: &mut Device, a: BufferId, b: BufferId, program: &MatmulProgram) -> Vec<u8> {
    let count = program.batch.0 * program.m * program.n;
    let out = tiles(device, count);
    matmul(device, (a, b), None, out, program).unwrap();
    let mut raw = vec![0; count * 2048];
    device.read(out, &mut raw, 2048).unwrap();
    device.deallocate(out).unwrap();
    raw
}

#[test]
fn bits_do_not_depend_on_threads() {
    let mut device = device();
    let (a, b) = (random(&mut device, 12, 1), random(&mut device, 28, 2));
    let program = program(3, 4, 7, 2, true);
    let before = tt_cpu::pool::threads();
    let results: Vec<Vec<u8>> = [1, 2, 8]
        .into_iter()
        .map(|threads| {
            tt_cpu::pool::set_threads(threads).unwrap();
            run(&mut device, a, b, &program)
        })
        .collect();
    tt_cpu::pool::set_threads(before).unwrap();
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}

#[test]
fn spilling_a_16_bit_dst_is_exact_and_accumulating_in_l1_is_not() {
    let mut device = device();
    let (a, b) = (random(&mut device, 8, 3), random(&mut device, 8, 4));
    let whole = run(&mut device, a, b, &program(1, 8, 1, 8, false));
    assert_eq!(whole, run(&mut device, a, b, &program(1, 8, 1, 1, false)));
    assert_eq!(whole, run(&mut device, a, b, &program(1, 8, 1, 8, true)), "one block has nothing to accumulate");
    assert_ne!(whole, run(&mut device, a, b, &program(1, 8, 1, 1, true)));
}

#[test]
fn a_batch_is_its_matrices() {
    let mut device = device();
    let (a, b) = (random(&mut device, 2 * 6, 5), random(&mut device, 2 * 12, 6));
    let batch = MatmulProgram { batch: (2, 2, 2), ..program(2, 3, 4, 3, false) };
    let got = run(&mut device, a, b, &batch);
    let mut raw_a = vec![0; 12 * 2048];
    let mut raw_b = vec![0; 24 * 2048];
    device.read(a, &mut raw_a, 2048).unwrap();
    device.read(b, &mut raw_b, 2048).unwrap();
    for matrix in 0..2 {
        let (one_a, one_b) = (tiles(&mut device, 6), tiles(&mut device, 12));
        device.write(one_a, &raw_a[matrix * 6 * 2048..][..6 * 2048], 2048).unwrap();
        device.write(one_b, &raw_b[matrix * 12 * 2048..][..12 * 2048], 2048).unwrap();
        let one = run(&mut device, one_a, one_b, &program(2, 3, 4, 3, false));
        assert_eq!(one, got[matrix * 8 * 2048..][..8 * 2048]);
    }
}

#[test]
fn what_lies_beyond_k_counts_as_zero() {
    let mut device = device();
    let (a, b) = (random(&mut device, 2, 7), random(&mut device, 2, 8));
    let cut = MatmulProgram { k_datums: 40, ..program(1, 2, 1, 2, false) };
    let got = run(&mut device, a, b, &cut);
    let mut raw = vec![0; 2 * 2048];
    device.read(a, &mut raw, 2048).unwrap();
    for row in 0..32 {
        for column in 8..32 {
            let datum = 2048 + 2 * TileShape::FULL.index(row, column);
            raw[datum..datum + 2].fill(0);
        }
    }
    device.write(a, &raw, 2048).unwrap();
    assert_eq!(got, run(&mut device, a, b, &program(1, 2, 1, 2, false)));
}

#[test]
fn a_ring_begins_with_the_part_of_the_core() {
    let (rows, k, columns, part) = (2, 6, 4, 2);
    let mut device = device();
    let (a, b) = (random(&mut device, rows * k, 9), random(&mut device, k * columns, 10));
    let ring = Some(Ring { columns: 2, k_tiles: part });
    let got = run(&mut device, a, b, &MatmulProgram { ring, ..program(rows, k, columns, k, false) });
    let [mut left, mut right] = [rows * k, k * columns].map(|count| vec![0; count * 2048]);
    device.read(a, &mut left, 2048).unwrap();
    device.read(b, &mut right, 2048).unwrap();
    let tile = |raw: &[u8], index: usize| raw[index * 2048..(index + 1) * 2048].to_vec();
    for core in 0..columns / 2 {
        // The same products with both operands cut and put together in the core's order.
        let order: Vec<usize> = (0..k).map(|place| (place + core * part) % k).collect();
        let turned_a: Vec<u8> = (0..rows)
            .flat_map(|row| order.iter().flat_map(|k_tile| tile(&left, row * k + k_tile)).collect::<Vec<_>>())
            .collect();
        let turned_b: Vec<u8> = order.iter().flat_map(|k_tile| tile(&right, k_tile * columns + 2 * core)).collect();
        let (a, b) = (tiles(&mut device, rows * k), tiles(&mut device, k));
        device.write(a, &turned_a, 2048).unwrap();
        device.write(b, &turned_b, 2048).unwrap();
        let expected = run(&mut device, a, b, &program(rows, k, 1, k, false));
        for row in 0..rows {
            assert_eq!(tile(&got, row * columns + 2 * core), tile(&expected, row), "core {core}, row {row}");
        }
    }
    let straight = run(&mut device, a, b, &program(rows, k, columns, k, false));
    assert_ne!(got, straight);
}

#[test]
fn buffers_that_do_not_fit_are_refused() {
    let mut device = device();
    let (a, b, out) = (tiles(&mut device, 4), tiles(&mut device, 4), tiles(&mut device, 3));
    let text = matmul(&mut device, (a, b), None, out, &program(2, 2, 2, 1, false)).unwrap_err().to_string();
    assert_eq!(text, "matmul: the output has 3 tiles, the program asks for 4");
    let out = tiles(&mut device, 4);
    let text = matmul(&mut device, (a, b), None, out, &program(2, 2, 2, 3, false)).unwrap_err().to_string();
    assert_eq!(text, "matmul: K blocks of 3 tiles do not divide 2");
}

#[test]
fn formats_that_cannot_be_multiplied_are_refused() {
    use DataFormat::{Bfp8, Bfp8B, Float16, Float16B, Float32, Int32, UInt16};
    let mut device = device();
    let (a, b, out) = (random(&mut device, 1, 1), random(&mut device, 1, 2), tiles(&mut device, 1));
    let two = "operands of two exponent families";
    for (formats, expected) in [
        ((Float16, Float16B, Float16B), two),
        ((Float32, Bfp8, Float32), two),
        ((Bfp8B, Float16, Bfp8B), two),
        ((Int32, Float16B, Float16B), "Int32 operands"),
        ((Float16B, UInt16, Float16B), "UInt16 operands"),
        ((Float16B, Float16B, Int32), "an output of Int32"),
    ] {
        let wrong = MatmulProgram { formats, ..program(1, 1, 1, 1, false) };
        let error = matmul(&mut device, (a, b), None, out, &wrong).unwrap_err().to_string();
        assert!(error.contains(expected), "{formats:?}: {error}");
    }
    matmul(&mut device, (a, b), None, out, &program(1, 1, 1, 1, false)).unwrap();
}
