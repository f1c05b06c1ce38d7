//! Large results are made by bank, past the caches.
//!
//! In groups of pages; results of one page are not. Every page of a large one is compared with the same page by itself.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod common;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use tt_cpu::{Level, pool};
use tt_formats::{DataFormat, TileShape};
use tt_fpu::{Arch, EltwiseOp, MathFidelity};
use tt_memory::{BufferId, BufferType, Device};
use tt_ops::binary::{BinaryProgram, Other, Unit, binary};
use tt_ops::ternary::{TernaryProgram, ternary};
use tt_ops::{Chain, ChainStep, fill};
use tt_sfpu::DstWidth;

use common::{contents, device};

use DataFormat::{Bfp4B, Bfp8B, Float16B, Float32, Int32, UInt16};

/// Threads share a process, and so do tests: the number of threads is one test's at a time.
static THREADS: Mutex<()> = Mutex::new(());
/// Different pages that an operand has.
const KINDS: usize = 5;

fn page_bytes(format: DataFormat) -> usize {
    format.tile_bytes(TileShape::FULL)
}

/// A page of numbers of both signs, among them zeros, infinities and NaN. Block floats have no such exponents.
fn page(format: DataFormat, seed: usize) -> Vec<u8> {
    let mut state = seed as u32 * 77 + 1;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let bytes = page_bytes(format);
    if format.is_block_float() {
        return (0..bytes).map(|at| if at < 64 { 120 + next() as u8 % 8 } else { next() as u8 }).collect();
    }
    let mut word = || match (next() % 64, next()) {
        (0, odd) if !format.is_integer() => [0, 0x8000_0000, 0x7f80_0000, 0x7fc0_0000, 0xff80_0000][odd as usize % 5],
        (_, word) if !format.is_integer() => (word << 8 & 0x807f_ffff) + ((100 + next() % 50) << 23),
        (_, word) => word << 8,
    };
    let unit = bytes / 1024;
    (0..1024).flat_map(|_| word().to_le_bytes()[4 - unit..].to_vec()).collect()
}

/// Where an operand's pages come from: page i of an operand is of kind `(i * step + i / 7) % KINDS`.
fn kind(operand: usize, at: usize) -> usize {
    (at * (operand + 1) + at / 7) % KINDS
}

fn tensor(device: &mut Device, place: BufferType, format: DataFormat, pages: &[Vec<u8>]) -> BufferId {
    common::tensor(device, place, page_bytes(format), &pages.concat())
}

/// An operator on operands of given formats and shapes: the last argument is the output.
type Run<'a> = dyn Fn(&mut Device, &[BufferId], &[Vec<usize>], BufferId) + 'a;

/// Compares pages of a large result with those of results of one page. `shapes` are the operands' and the output's;
/// `aliased` may be the output, too.
fn compare(run: &Run<'_>, formats: &[DataFormat], shapes: &[Vec<usize>], aliased: &[usize], name: &str) {
    let _turn = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut device = device();
    let count = formats.len() - 1;
    let format_out = formats[count];
    let pages = |shape: &[usize]| {
        let (outer, matrix) = shape.split_at(shape.len() - 2);
        outer.iter().product::<usize>() * matrix[0].div_ceil(32) * matrix[1].div_ceil(32)
    };
    // Which page of an operand an output page meets.
    let out = &shapes[count];
    let (rows, columns) = (out[out.len() - 2].div_ceil(32), out[out.len() - 1].div_ceil(32));
    let met = |shape: &[usize], at: usize| {
        let (height, width) = (shape[shape.len() - 2].div_ceil(32), shape[shape.len() - 1].div_ceil(32));
        let (matrix, row, column) = (at / columns / rows, at / columns % rows, at % columns);
        let matrix = if pages(shape) == height * width { 0 } else { matrix };
        (matrix * height + row.min(height - 1)) * width + column.min(width - 1)
    };
    let single = |shape: &[usize]| shape[shape.len() - 2..].iter().map(|&side| side.min(32)).collect::<Vec<_>>();
    let ones: Vec<_> = shapes.iter().map(|shape| single(shape)).collect();
    let mut expected = Vec::new();
    let mut known: BTreeMap<Vec<usize>, Vec<u8>> = BTreeMap::new();
    for at in 0..pages(out) {
        let kinds: Vec<_> = (0..count).map(|i| kind(i, met(&shapes[i], at))).collect();
        let result = known.entry(kinds.clone()).or_insert_with(|| {
            let operands: Vec<_> = (0..count)
                .map(|i| tensor(&mut device, BufferType::Dram, formats[i], &[page(formats[i], i * KINDS + kinds[i])]))
                .collect();
            let output = tensor(&mut device, BufferType::Dram, format_out, &[vec![0; page_bytes(format_out)]]);
            run(&mut device, &operands, &ones, output);
            let result = contents(&mut device, output);
            operands.into_iter().chain([output]).for_each(|id| device.deallocate(id).unwrap());
            result
        });
        expected.extend_from_slice(result);
    }
    assert!(expected.iter().any(|&byte| byte != 0), "{name}");
    for (threads, place) in [(1, BufferType::Dram), (2, BufferType::L1), (8, BufferType::Dram)] {
        pool::set_threads(threads).unwrap();
        for own in aliased.iter().map(|&own| Some(own)).chain([None]) {
            let operands: Vec<_> = (0..count)
                .map(|i| {
                    let kinds: Vec<_> = (0..KINDS).map(|kind| page(formats[i], i * KINDS + kind)).collect();
                    let all: Vec<_> = (0..pages(&shapes[i])).map(|at| kinds[kind(i, at)].clone()).collect();
                    tensor(&mut device, if i == 0 { place } else { BufferType::Dram }, formats[i], &all)
                })
                .collect();
            let output = own.map_or_else(
                || tensor(&mut device, place, format_out, &vec![vec![1; page_bytes(format_out)]; pages(out)]),
                |own| operands[own],
            );
            run(&mut device, &operands, shapes, output);
            assert!(contents(&mut device, output) == expected, "{name}, output is {own:?}, {threads} threads");
            if own.is_none() {
                device.deallocate(output).unwrap();
            }
            for id in operands {
                device.deallocate(id).unwrap();
            }
        }
    }
}

fn run_binary(unit: Unit, formats: [DataFormat; 3]) -> impl Fn(&mut Device, &[BufferId], &[Vec<usize>], BufferId) {
    run_activated(unit, formats, [&[], &[], &[]], false)
}

/// With functions without parameters before and after the operator, and whether the packer clips below zero.
fn run_activated(
    unit: Unit,
    [a, b, out]: [DataFormat; 3],
    functions: [&[&str]; 3],
    packer_relu: bool,
) -> impl Fn(&mut Device, &[BufferId], &[Vec<usize>], BufferId) + use<> {
    let chains = functions.map(|functions| {
        let step = |&name: &&str| ChainStep { name: name.into(), variant: "default".into(), parameters: Vec::new() };
        Chain::resolve(Arch::Wormhole, &functions.iter().map(step).collect::<Vec<_>>()).unwrap()
    });
    move |device, operands, shapes, output| {
        let program = BinaryProgram {
            formats: (a, b, out),
            unit,
            shape_a: shapes[0].clone(),
            shape_b: shapes[1].clone(),
            shape_out: shapes[2].clone(),
            scalar_is_left: false,
            tiled: true,
            fidelity: MathFidelity::HiFi4,
            dst32: [a, b, out].iter().any(|format| matches!(format, Float32 | Int32)),
            chains: chains.clone(),
            packer_relu,
            arch: Arch::Wormhole,
        };
        // An operand too few is a number.
        let other = operands.get(1).map_or(Other::Scalar(0x40a0_0000), |&id| Other::Tensor(id));
        binary(device, operands[0], other, output, &program).unwrap();
    }
}

fn function(name: &str, variant: &str) -> Unit {
    Unit::Sfpu(tt_sfpu::lookup_binary(Arch::Wormhole, name, variant).unwrap().with(&[]).unwrap())
}

const HEIGHT: usize = 37 * 32 - 5;
const WIDTH: usize = 29 * 32 - 31;

/// More than 4 MiB, if datums have at least 16 bits, in no whole number of tiles, groups or rounds of the banks.
fn full(format: DataFormat) -> Vec<usize> {
    vec![4 / (page_bytes(format) / 1024).max(2), HEIGHT, WIDTH]
}

#[test]
fn words_of_one_page_are_those_of_the_function() {
    let mut device = device();
    let words = |bytes: &[u8]| -> Vec<u32> {
        bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
    };
    for (name, variant, format) in
        [("add_binary", "default", Float32), ("lt_binary", "default", Float32), ("sub_int", "int32", Int32)]
    {
        let function = tt_sfpu::lookup_binary(Arch::Wormhole, name, variant).unwrap().with(&[]).unwrap();
        let run = run_binary(Unit::Sfpu(function), [format; 3]);
        let pages = [page(format, 1), page(format, 2)];
        // Which operands are which pages, and where the result goes.
        for (operands, output) in [([0, 1], 2), ([0, 1], 0), ([0, 1], 1), ([0, 0], 2), ([1, 1], 1)] {
            let mut expected = words(&pages[operands[0]]);
            function.run(&mut expected, &words(&pages[operands[1]]), DstWidth::Bits32, Level::Scalar);
            let ids = [&pages[0], &pages[1], &pages[0]]
                .map(|page| tensor(&mut device, BufferType::Dram, format, std::slice::from_ref(page)));
            run(&mut device, &operands.map(|at| ids[at]), &vec![vec![32, 32]; 3], ids[output]);
            assert!(words(&contents(&mut device, ids[output])) == expected, "{name} of {operands:?} to {output}");
            for id in ids {
                device.deallocate(id).unwrap();
            }
        }
    }
}

#[test]
fn words_of_one_page_are_activated_before_and_after() {
    let mut device = device();
    let words = |bytes: &[u8]| -> Vec<u32> {
        bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
    };
    let apply = |name: &str, words: &mut Vec<u32>| {
        tt_sfpu::lookup(Arch::Wormhole, name, "default").unwrap().with(&[]).unwrap().run(
            words,
            DstWidth::Bits32,
            Level::Scalar,
        );
    };
    let add = tt_sfpu::lookup_binary(Arch::Wormhole, "add_binary", "default").unwrap().with(&[]).unwrap();
    let run = run_activated(Unit::Sfpu(add), [Float32; 3], [&["exp2"], &["gtz", "neg"], &["neg"]], false);
    let pages = [page(Float32, 1), page(Float32, 2)];
    let (mut expected, mut second) = (words(&pages[0]), words(&pages[1]));
    apply("exp2", &mut expected);
    apply("gtz", &mut second);
    apply("neg", &mut second);
    add.run(&mut expected, &second, DstWidth::Bits32, Level::Scalar);
    apply("neg", &mut expected);
    for output in [2, 0, 1] {
        let ids = [0, 1, 0].map(|at| tensor(&mut device, BufferType::Dram, Float32, std::slice::from_ref(&pages[at])));
        run(&mut device, &ids[..2], &vec![vec![32, 32]; 3], ids[output]);
        assert!(words(&contents(&mut device, ids[output])) == expected, "to {output}");
        for id in ids {
            device.deallocate(id).unwrap();
        }
    }
}

#[test]
fn operators_of_two_tensors() {
    for (unit, formats) in [
        (Unit::Fpu(EltwiseOp::Add), [Float16B; 3]),
        (Unit::Fpu(EltwiseOp::Sub), [Float16B, Float16B, Float32]),
        (Unit::Fpu(EltwiseOp::Mul), [Bfp8B, Bfp4B, Bfp8B]),
        (Unit::Fpu(EltwiseOp::Mul), [Float16B, Float32, Float32]),
        (function("add_binary", "default"), [Float32; 3]),
        (function("sub_binary", "default"), [Float32, Float32, Float16B]),
        (function("mul_int", "int32"), [Int32; 3]),
        (function("add_int", "int32"), [UInt16; 3]),
        (function("gt_binary", "default"), [Float16B; 3]),
        (function("div_binary", "default"), [Float16B; 3]),
    ] {
        let full = full(formats[2]);
        let aliased: Vec<_> = (0..2).filter(|&own| formats[own] == formats[2]).collect();
        let run = run_binary(unit, formats);
        compare(
            &run,
            &formats,
            &[full.clone(), full.clone(), full.clone()],
            &aliased,
            &format!("{unit:?} {formats:?}"),
        );
    }
}

#[test]
fn activations_of_operands_and_results() {
    for (unit, formats, functions, packer_relu) in [
        (Unit::Fpu(EltwiseOp::Mul), [Float16B; 3], [&["nez"][..], &["nez"], &["nez"]], false),
        (Unit::Fpu(EltwiseOp::Add), [Float16B; 3], [&[], &["neg", "eqz"], &[]], true),
        (Unit::Fpu(EltwiseOp::Sub), [Bfp8B, Float16B, Float16B], [&[], &["neg"], &["gtz", "neg"]], false),
        (Unit::Fpu(EltwiseOp::Sub), [Float16B, Float16B, Bfp8B], [&["neg"], &[], &["neg"]], false),
        (function("div_binary", "default"), [Float16B; 3], [&[], &[], &["isnan"]], false),
        (function("add_binary", "default"), [Float32; 3], [&["neg"], &["gtz"], &["neg"]], false),
    ] {
        let (full, name) = (full(formats[2]), format!("{unit:?} {formats:?} {functions:?}"));
        let run = run_activated(unit, formats, functions, packer_relu);
        let aliased: Vec<_> = (0..2).filter(|&own| formats[own] == formats[2]).collect();
        compare(&run, &formats, &[full.clone(), full.clone(), full.clone()], &aliased, &name);
        compare(&run, &formats, &[full.clone(), vec![1, WIDTH], full.clone()], &[], &format!("{name}, broadcast"));
        let number: &Run<'_> = &|device, operands, shapes, output| {
            run(device, operands, &[shapes[0].clone(), vec![], shapes[1].clone()], output);
        };
        compare(number, &[formats[0], formats[2]], &[full.clone(), full.clone()], &[], &format!("{name}, a number"));
    }
}

#[test]
fn one_tensor_with_itself_in_its_own_place() {
    for (unit, format) in [
        (function("sub_binary", "default"), Float32),
        (function("mul_int", "int32"), Int32),
        (Unit::Fpu(EltwiseOp::Add), Float16B),
    ] {
        let run = run_binary(unit, [format; 3]);
        let full = full(format);
        let twice: &Run<'_> = &|device: &mut Device, operands: &[BufferId], shapes: &[Vec<usize>], output: BufferId| {
            run(device, &[operands[0]; 2], &[shapes[0].clone(), shapes[0].clone(), shapes[1].clone()], output);
        };
        compare(twice, &[format; 2], &[full.clone(), full.clone()], &[0], &format!("{unit:?} {format:?}"));
    }
}

#[test]
fn operands_that_are_broadcast_and_numbers() {
    let full = vec![6, HEIGHT / 3, WIDTH];
    let shapes = [vec![1, WIDTH], vec![6, HEIGHT / 3, 1], vec![1, 1, 1], vec![1, HEIGHT / 3, WIDTH]];
    for (unit, format) in [(Unit::Fpu(EltwiseOp::Add), Float16B), (function("mul_binary", "default"), Float32)] {
        let run = run_binary(unit, [format; 3]);
        for shape in &shapes {
            compare(
                &run,
                &[format; 3],
                &[full.clone(), shape.clone(), full.clone()],
                &[0],
                &format!("{unit:?} {shape:?}"),
            );
            compare(
                &run,
                &[format; 3],
                &[shape.clone(), full.clone(), full.clone()],
                &[1],
                &format!("{shape:?} {unit:?}"),
            );
        }
        let number: &Run<'_> =
            &|device: &mut Device, operands: &[BufferId], shapes: &[Vec<usize>], output: BufferId| {
                run(device, operands, &[shapes[0].clone(), vec![], shapes[1].clone()], output);
            };
        compare(number, &[format; 2], &[full.clone(), full.clone()], &[0], &format!("{unit:?} and a number"));
    }
}

#[test]
fn operators_of_three_tensors() {
    for (name, format) in [("where", Float32), ("where", Bfp8B), ("mac", Float16B), ("lerp", Float32)] {
        let full = full(format);
        let run = |device: &mut Device, operands: &[BufferId], shapes: &[Vec<usize>], output: BufferId| {
            let program = TernaryProgram {
                formats: ([format; 3], format),
                function: tt_sfpu::lookup_ternary(Arch::Wormhole, name, "default").unwrap().with(&[]).unwrap(),
                shapes: [0, 1, 2].map(|i| shapes[i].clone()),
                shape_out: shapes[3].clone(),
                tiled: true,
                dst32: format == Float32,
                arch: Arch::Wormhole,
            };
            ternary(device, [0, 1, 2].map(|i| Other::Tensor(operands[i])), output, &program).unwrap();
        };
        let shapes = [full.clone(), full.clone(), full.clone(), full.clone()];
        compare(&run, &[format; 4], &shapes, &[0, 1, 2], &format!("{name} {format:?}"));
        let shapes = [full.clone(), vec![1, WIDTH], vec![full[0], HEIGHT, 1], full.clone()];
        compare(&run, &[format; 4], &shapes, &[0], &format!("{name} {format:?}, broadcast"));
    }
}

#[test]
fn copies_and_constants() {
    for format in [Float32, Float16B, Bfp8B] {
        let full = full(format);
        let copy: &Run<'_> = &|device, operands, _, output| fill::copy_pages(device, operands[0], output).unwrap();
        compare(copy, &[format; 2], &[full.clone(), full.clone()], &[], "copy");
        let fill: &Run<'_> = &|device, _, _, output| fill::fill(device, output, &fill::unit(format, 1.5)).unwrap();
        compare(fill, &[format; 2], &[full.clone(), full.clone()], &[], "fill");
    }
}
