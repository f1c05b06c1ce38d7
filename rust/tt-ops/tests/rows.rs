//! The row pipeline on a program of its own, against the definitions of its passes.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod common;

use tt_cpu::Level;
use tt_formats::DataFormat::{self, Float16B, Float32};
use tt_memory::BufferType;
use tt_ops::Chain;
use tt_ops::rows::{Load, RowProgram, RowSettings};
use tt_tensix::fpu::{self, Arch, Broadcast, EltwiseOp, MathConfig, MathFidelity, PoolOp, ReduceDim};
use tt_tensix::pack::{self, DstFormat, EdgeMask, PackConfig};
use tt_tensix::sfpu::{self, DstWidth};
use tt_tensix::tile_io::{Input, Tile, ZERO};
use tt_testkit::random::Random;

use common::{contents, device, tensor};

const COLUMNS: usize = 3;
const WIDTH: usize = 90;
const MATH: MathConfig =
    MathConfig { fidelity: MathFidelity::HiFi3, dst: DstFormat::Fp32, alu: Float16B, arch: Arch::Blackhole };
/// 1 / 90 and 1e-5.
const MEAN: u32 = 0x3c36_0b61;
const EPSILON: u16 = 0x3727;

fn src(format: DataFormat, l1: &[u8]) -> Tile {
    let mut tile = ZERO;
    Input::new(format, true).to_src(l1, &mut tile);
    tile
}

fn packed(dst: &Tile, format: DataFormat, edge: EdgeMask) -> Vec<u8> {
    let mut l1 = vec![0; 1024 * format.element_bytes().unwrap()];
    pack::pack_tile(&PackConfig { edge, ..PackConfig::new(DstFormat::Fp32, format) }, dst, &mut l1);
    l1
}

/// Two tiles through the FPU's definition, FP32 if they have 4096 bytes.
fn eltwise(op: EltwiseOp, broadcast: Broadcast, a: &[u8], b: &[u8]) -> Tile {
    let format = |l1: &[u8]| if l1.len() == 4096 { Float32 } else { Float16B };
    let (mut dst, alu) = (ZERO, Input::new(format(a), true).register);
    let [a, b] = [a, b].map(|l1| src(format(l1), l1));
    fpu::eltwise_scalar(&MathConfig { alu, ..MATH }, op, broadcast, false, &mut dst, &a, &b);
    dst
}

/// Rows over the root of their mean square, times a row of weights; padding is masked for the maximum, which is added.
#[test]
fn a_program_of_passes_has_the_bits_of_their_definitions() {
    let mut random = Random::new(7);
    let mut halves = |count: usize| -> Vec<u8> {
        (0..count).flat_map(|_| (random.below(1 << 16) as u16 & 0x81ff | 0x3e00).to_le_bytes()).collect()
    };
    let (x, weights) = (halves(2 * COLUMNS * 1024), halves(COLUMNS * 1024));
    let epsilon = EPSILON.to_le_bytes().repeat(1024);

    let settings = RowSettings {
        operator: "test",
        shape: vec![2, 20, WIDTH],
        format: Float16B,
        dst32: true,
        fidelity: MATH.fidelity,
        arch: MATH.arch,
    };
    let (mut program, input) = RowProgram::new(settings);
    let weight = program.tensor(Float16B, &[1, WIDTH]);
    let small = program.tensor(Float16B, &[1, 1]);
    let none = Chain::default;
    let squares = program.pass(Load::Eltwise(EltwiseOp::Mul, input, input), none(), Float16B);
    let mean = program.pass(Load::RowSum(squares, (Float32, MEAN)), none(), Float32);
    let rsqrt = Chain::of("rsqrt", "default", &[]).unwrap();
    let root = program.pass(Load::Eltwise(EltwiseOp::Add, mean, small), rsqrt, Float32);
    let scaled = program.pass(Load::Eltwise(EltwiseOp::Mul, input, root), none(), Float16B);
    let weighted = program.pass(Load::Eltwise(EltwiseOp::Mul, scaled, weight), none(), Float32);
    let masked = program.pass(Load::MaskPadding(input), none(), Float16B);
    let most = program.pass(Load::RowMax(masked), Chain::of("abs", "default", &[]).unwrap(), Float16B);
    program.pass(Load::Eltwise(EltwiseOp::Add, weighted, most), none(), Float32);

    let mut device = device();
    let inputs = [&x, &weights, &epsilon].map(|bytes| tensor(&mut device, BufferType::Dram, 2048, bytes));
    let output = tensor(&mut device, BufferType::Dram, 4096, &vec![0; 2 * COLUMNS * 4096]);
    program.run(&mut device, &inputs, output).unwrap();

    let mut expected = Vec::new();
    for row in x.chunks(COLUMNS * 2048) {
        let (mut sum, mut maximum) = (ZERO, ZERO);
        let [math, sums] = [Float16B, DataFormat::Tf32].map(|alu| MathConfig { alu, ..MATH });
        fpu::clear_for_max(&math, &mut maximum);
        for (column, tile) in row.chunks(2048).enumerate() {
            let square = packed(&eltwise(EltwiseOp::Mul, Broadcast::None, tile, tile), Float16B, EdgeMask::None);
            fpu::row_sum(&sums, &mut sum, &src(Float16B, &square), &[MEAN >> 13; 1024]);
            let mut mask = [0; 2048];
            if column + 1 == COLUMNS {
                for datum in 0..1024 {
                    if tt_tensix::regs::position(datum).1 >= WIDTH % 32 {
                        mask[2 * datum..][..2].copy_from_slice(&0xff80_u16.to_le_bytes());
                    }
                }
            }
            let masked = packed(&eltwise(EltwiseOp::Add, Broadcast::Row, tile, &mask), Float16B, EdgeMask::None);
            fpu::reduce(
                &math,
                math.alu,
                (PoolOp::Max, ReduceDim::Row),
                &mut maximum,
                &src(Float16B, &masked),
                &[127 << 10; 1024],
            );
        }
        let function = |name, variant| sfpu::lookup(name, variant).unwrap().with(&[]).unwrap();
        let mut root = eltwise(EltwiseOp::Add, Broadcast::Scalar, &packed(&sum, Float32, EdgeMask::Column0), &epsilon);
        function("rsqrt", "default").run(&mut root, DstWidth::Bits32, Level::Scalar);
        let root = packed(&root, Float32, EdgeMask::None);
        function("abs", "default").run(&mut maximum, DstWidth::Bits32, Level::Scalar);
        let maximum = packed(&maximum, Float16B, EdgeMask::Column0);
        for (tile, weight) in row.chunks(2048).zip(weights.chunks(2048)) {
            let scaled = packed(&eltwise(EltwiseOp::Mul, Broadcast::Column, tile, &root), Float16B, EdgeMask::None);
            let weighted = packed(&eltwise(EltwiseOp::Mul, Broadcast::Row, &scaled, weight), Float32, EdgeMask::None);
            let made = eltwise(EltwiseOp::Add, Broadcast::Column, &weighted, &maximum);
            expected.extend(packed(&made, Float32, EdgeMask::None));
        }
    }
    assert!(contents(&mut device, output) == expected);
}
