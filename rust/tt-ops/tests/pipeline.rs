//! The tile pipeline, against the definitions of its passes.
//!
//! It runs a program of its own.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod common;

use tt_cpu::Level;
use tt_formats::DataFormat::{self, Float16B, Float32};
use tt_fpu::{Arch, Broadcast, EltwiseOp, MathConfig, MathFidelity, PoolOp, ReduceDim};
use tt_memory::BufferType;
use tt_ops::Chain;
use tt_ops::pipeline::{Axis, Join, Load, Moment, Operand, Padding, Pass, Pipeline, Settings, Target, Tensor};
use tt_sfpu::DstWidth;
use tt_tensix::pack::{self, DstFormat, EdgeMask, PackConfig};
use tt_tensix::tile_io::{Input, Tile, ZERO};
use tt_testkit::random::Random;

use common::{contents, device, device_of, tensor};

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
    tt_fpu::eltwise_scalar(&MathConfig { alu, ..MATH }, op, broadcast, false, &mut dst, &a, &b);
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

    let settings = Settings {
        domain: vec![2, 20, WIDTH],
        axis: Axis::Width,
        format: Float16B,
        dst32: true,
        direct: false,
        fidelity: MATH.fidelity,
        arch: MATH.arch,
    };
    let tensors = vec![
        Tensor::Broadcast(Float16B, vec![2, 20, WIDTH], None),
        Tensor::Broadcast(Float16B, vec![1, WIDTH], None),
        Tensor::Broadcast(Float16B, vec![1, 1], None),
    ];
    let [input, weight, small] = [0, 1, 2].map(Operand::Tensor);
    let mut passes: Vec<Pass> = Vec::new();
    let mut pass = |load: Load, chain: Option<(&str, &str)>, format: DataFormat| {
        let chain =
            chain.map(|(name, variant)| Chain::of(Arch::Wormhole, name, variant, &[]).unwrap()).unwrap_or_default();
        passes.push(Pass { load, padding: Padding::Kept, chain, format, until: None, target: Target::Value });
        Operand::Value(passes.len() - 1)
    };
    let squares = pass(Load::Eltwise(EltwiseOp::Mul, input, input), None, Float16B);
    let sum = Load::Sum(vec![(squares, 0..COLUMNS)], (Float32, MEAN), None, None);
    let mean = pass(sum, None, Float32);
    // The smallest is a tensor of one datum: the sum with it has a tile for every tile of the row.
    let root = pass(Load::Eltwise(EltwiseOp::Add, mean, small), Some(("rsqrt", "default")), Float32);
    let scaled = pass(Load::Eltwise(EltwiseOp::Mul, input, root), None, Float16B);
    let weighted = pass(Load::Eltwise(EltwiseOp::Mul, scaled, weight), None, Float32);
    let masked = pass(Load::Copy(input), None, Float16B);
    let most = pass(Load::Max(masked), Some(("abs", "default")), Float16B);
    pass(Load::Eltwise(EltwiseOp::Add, weighted, most), None, Float32);
    passes[5].padding = Padding::MinusInfinity;
    passes[7].target = Target::Output(0, 0, 1);
    let program = Pipeline::new(settings, tensors, passes).unwrap();

    let mut device = device_of("p150");
    let inputs = [&x, &weights, &epsilon].map(|bytes| tensor(&mut device, BufferType::Dram, 2048, bytes));
    let output = tensor(&mut device, BufferType::Dram, 4096, &vec![0; 2 * COLUMNS * 4096]);
    program.run(&mut device, &inputs, &[output]).unwrap();

    let mut expected = Vec::new();
    for row in x.chunks(COLUMNS * 2048) {
        let (mut sum, mut maximum) = (ZERO, ZERO);
        let [math, sums] = [Float16B, DataFormat::Tf32].map(|alu| MathConfig { alu, ..MATH });
        tt_fpu::clear_for_max(&math, &mut maximum);
        for (column, tile) in row.chunks(2048).enumerate() {
            let square = packed(&eltwise(EltwiseOp::Mul, Broadcast::None, tile, tile), Float16B, EdgeMask::None);
            tt_fpu::row_sum(&sums, &mut sum, &src(Float16B, &square), &[MEAN >> 13; 1024]);
            let mut mask = [0; 2048];
            if column + 1 == COLUMNS {
                for datum in 0..1024 {
                    if tt_tensix::regs::position(datum).1 >= WIDTH % 32 {
                        mask[2 * datum..][..2].copy_from_slice(&0xff80_u16.to_le_bytes());
                    }
                }
            }
            let masked = packed(&eltwise(EltwiseOp::Add, Broadcast::Row, tile, &mask), Float16B, EdgeMask::None);
            tt_fpu::reduce(
                &math,
                math.alu,
                (PoolOp::Max, ReduceDim::Row),
                &mut maximum,
                &src(Float16B, &masked),
                &[127 << 10; 1024],
            );
        }
        let function = |name, variant| tt_sfpu::lookup(Arch::Wormhole, name, variant).unwrap().with(&[]).unwrap();
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

/// Squares and sums of ordinary numbers and of others, each tile packed to a page.
#[test]
fn numbers_that_are_not_ordinary_take_the_integer_steps() {
    let mut random = Random::new(21);
    let mut x: Vec<u8> =
        (0..2 * 1024).flat_map(|_| (random.below(1 << 16) as u16 & 0x81ff | 0x3e00).to_le_bytes()).collect();
    // Infinity and the largest number.
    x[2048..2052].copy_from_slice(&[0x80, 0x7f, 0x7f, 0x7f]);
    for (op, format) in [(EltwiseOp::Mul, Float16B), (EltwiseOp::Mul, Float32), (EltwiseOp::Add, Float16B)] {
        let settings = Settings { domain: vec![1, 32, 64], ..settings(Axis::Width, true) };
        let tensors = vec![Tensor::Broadcast(Float16B, vec![1, 32, 64], None)];
        let passes = vec![Pass {
            load: Load::Eltwise(op, Operand::Tensor(0), Operand::Tensor(0)),
            padding: Padding::Kept,
            chain: Chain::default(),
            format,
            until: None,
            target: Target::Output(0, 0, 1),
        }];
        let mut device = device();
        let page = 1024 * format.element_bytes().unwrap();
        let input = tensor(&mut device, BufferType::Dram, 2048, &x);
        let output = tensor(&mut device, BufferType::Dram, page, &vec![0; 2 * page]);
        let program = Pipeline::new(settings, tensors, passes).unwrap();
        let math = MathConfig { arch: Arch::Wormhole, ..MATH };
        program.run(&mut device, &[input], &[output]).unwrap();
        let mut expected = Vec::new();
        for tile in x.chunks(2048) {
            let (mut dst, words) = (ZERO, src(Float16B, tile));
            tt_fpu::eltwise_scalar(&math, op, Broadcast::None, false, &mut dst, &words, &words);
            expected.extend(packed(&dst, format, EdgeMask::None));
        }
        assert!(contents(&mut device, output) == expected, "{op:?} to {format:?}");
    }
}

fn settings(axis: Axis, dst32: bool) -> Settings {
    Settings {
        domain: vec![3, 32, 32],
        axis,
        format: Float16B,
        dst32,
        direct: false,
        fidelity: MATH.fidelity,
        arch: Arch::Wormhole,
    }
}

fn pass(load: Load) -> Pass {
    let (chain, target) = (Chain::default(), Target::Output(0, 0, 1));
    Pass { load, padding: Padding::Kept, chain, format: Float16B, until: None, target }
}

/// The halves of every line change places, and the first one is negated.
#[test]
fn halves_of_lines_change_places() {
    let mut random = Random::new(5);
    let x: Vec<u8> =
        (0..4 * 1024).flat_map(|_| (random.below(1 << 16) as u16 & 0x81ff | 0x3e00).to_le_bytes()).collect();
    let settings = || Settings { domain: vec![1, 32, 128], ..settings(Axis::Width, false) };
    let negation = |until| {
        let load = Load::Eltwise(EltwiseOp::Mul, Operand::Tensor(0), Operand::Constant(Float16B, 0xbf80_0000));
        Pass { until: Some(until), ..pass(load) }
    };
    // A value of the program, which is read again, and the result itself.
    let value = Pass { target: Target::Value, ..negation(2) };
    let again = pass(Load::Eltwise(EltwiseOp::Mul, Operand::Value(0), Operand::Constant(Float16B, 0x3f80_0000)));
    for passes in [vec![negation(2)], vec![value, again]] {
        let mut device = device();
        let input = tensor(&mut device, BufferType::Dram, 2048, &x);
        let output = tensor(&mut device, BufferType::Dram, 2048, &vec![0; 4 * 2048]);
        let program = Pipeline::new(settings(), vec![Tensor::Rotated(Float16B, 2)], passes).unwrap();
        program.run(&mut device, &[input], &[output]).unwrap();
        let negated =
            x[4096..].iter().enumerate().map(|(index, byte)| if index % 2 == 1 { byte ^ 0x80 } else { *byte });
        assert!(contents(&mut device, output) == negated.chain(x[..4096].iter().copied()).collect::<Vec<u8>>());
    }
    // The kept tiles have the format of the others.
    let wide = Pass { format: Float32, ..negation(2) };
    assert!(Pipeline::new(settings(), vec![Tensor::Rotated(Float16B, 2)], vec![wide]).is_err());
}

/// Tiles along a leading dimension: running sums are packed in between, accumulated ones are not.
#[test]
fn a_leading_dimension_is_folded_and_accumulated() {
    let mut random = Random::new(11);
    let x: Vec<u8> = (0..3 * 1024).flat_map(|_| (random.below(1 << 15) as u16 & 0xff | 0x3f00).to_le_bytes()).collect();
    let tensors = || vec![Tensor::Broadcast(Float16B, vec![3, 32, 32], None)];
    let zero = Operand::Constant(Float16B, 0);
    let joined = |load: Load| {
        let program = Pipeline::new(settings(Axis::Leading(0), true), tensors(), vec![pass(load)]).unwrap();
        let mut device = device();
        let input = tensor(&mut device, BufferType::Dram, 2048, &x);
        let output = tensor(&mut device, BufferType::Dram, 2048, &[0; 2048]);
        program.run(&mut device, &[input], &[output]).unwrap();
        contents(&mut device, output)
    };
    let first = Operand::Tensor(0);
    let math = MathConfig { arch: Arch::Wormhole, ..MATH };
    let (mut kept, mut running) = (ZERO, x[..2048].to_vec());
    for (number, tile) in x.chunks(2048).enumerate() {
        let a = src(Float16B, tile);
        tt_fpu::eltwise_scalar(&math, EltwiseOp::Add, Broadcast::None, true, &mut kept, &a, &ZERO);
        if number > 0 {
            let mut dst = ZERO;
            let b = src(Float16B, &running);
            tt_fpu::eltwise_scalar(&math, EltwiseOp::Add, Broadcast::None, false, &mut dst, &a, &b);
            running = packed(&dst, Float16B, EdgeMask::None);
        }
    }
    assert!(joined(Load::Fold(Join::Fpu(EltwiseOp::Add), first)) == running);
    assert!(joined(Load::Accumulate(EltwiseOp::Add, first, zero)) == packed(&kept, Float16B, EdgeMask::None));
}

#[test]
fn programs_that_cannot_run_are_refused() {
    let tensors = || vec![Tensor::Broadcast(Float16B, vec![3, 32, 32], None)];
    let refused = |load: Load| {
        let program = Pipeline::new(settings(Axis::Leading(0), true), tensors(), vec![pass(load)]);
        program.err().map(|error| error.to_string()).unwrap()
    };
    assert!(refused(Load::Copy(Operand::Tensor(1))).contains("no tensor 1"));
    assert!(refused(Load::Copy(Operand::Value(0))).contains("no value 0"));
    assert!(refused(Load::Sum(Vec::new(), (Float16B, 0), None, None)).contains("a sum of nothing"));
    assert!(refused(Load::Max(Operand::Constant(Float16B, 0))).contains("a reduction of what is no line"));
    let sum = Load::Sum(vec![(Operand::Tensor(0), 0..3)], (Float16B, 0), None, None);
    assert!(!refused(sum).is_empty());
}

/// Columns of two tiles, the second with padding, against sums in the order of the kernel.
#[test]
fn variances_have_two_sums_each() {
    let mut random = Random::new(13);
    let x: Vec<f32> = (0..2 * 1024).map(|_| random.below(1 << 20) as f32 / 65536.0).collect();
    let bytes: Vec<u8> = x.iter().flat_map(|value| value.to_le_bytes()).collect();
    let (mean, squares) = ((1_f32 / 40.0).to_bits(), (1_f32 / 39.0).to_bits());
    let settings = Settings { domain: vec![40, 32], format: Float32, direct: true, ..settings(Axis::Height, true) };
    let tensors = vec![Tensor::Broadcast(Float32, vec![40, 32], None)];
    let load = Load::Moment((Operand::Tensor(0), 0..2), Moment::Variance(mean, squares));
    let program = Pipeline::new(settings, tensors, vec![Pass { format: Float32, ..pass(load) }]).unwrap();
    let mut device = device();
    let input = tensor(&mut device, BufferType::Dram, 4096, &bytes);
    let output = tensor(&mut device, BufferType::Dram, 4096, &[0; 4096]);
    program.run(&mut device, &[input], &[output]).unwrap();
    let found = contents(&mut device, output);
    for column in 0..32 {
        let at = |row: usize| {
            let index = tt_formats::TileShape::FULL.index(row % 32, column);
            f64::from(x[row / 32 * 1024 + index])
        };
        let middle = (0..40).map(at).sum::<f64>() / 40.0;
        let expected = (0..40).map(|row| (at(row) - middle).powi(2)).sum::<f64>() / 39.0;
        let datum = 4 * tt_formats::TileShape::FULL.index(0, column);
        let result = f64::from(f32::from_le_bytes(found[datum..datum + 4].try_into().unwrap()));
        assert!((result / expected - 1.0).abs() < 1e-5, "column {column}: {result}, not {expected}");
    }
}
