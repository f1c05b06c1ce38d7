//! Large and small tensors give equal datums.
//!
//! Large ones go through a table of the whole program, or from bank to bank and past the caches, small ones tile by
//! tile through all of them, wherever the pages lie.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod common;

use tt_cpu::{Level, pool};
use tt_formats::{DataFormat, TileShape};
use tt_fpu::{Arch, DstFormat, MathConfig, MathFidelity};
use tt_memory::{BufferId, BufferType, Device};
use tt_ops::unary::{UnaryProgram, unary};
use tt_ops::{Chain, ChainStep};
use tt_sfpu::DstWidth;
use tt_tensix::pack::{self, PackConfig};
use tt_tensix::unpack;
use tt_testkit::random::Random;

use common::{contents, device, tensor};

const PAGE: usize = 2048;
/// All patterns.
const TILES: usize = 64;

/// A chain of functions, and whether the packer clips below zero.
type Program<'a> = (&'a [(&'a str, &'a str)], bool);

const HALVES: (DataFormat, DataFormat) = (DataFormat::Float16B, DataFormat::Float16B);

/// Those of a function: none, but for the factor.
fn parameters(name: &str) -> Vec<u32> {
    if name == "mul_unary" { vec![(-1.0_f32).to_bits()] } else { Vec::new() }
}

fn run(device: &mut Device, input: BufferId, output: BufferId, program: Program<'_>) {
    run_in(device, input, output, program, HALVES, true);
}

fn run_in(
    device: &mut Device,
    input: BufferId,
    output: BufferId,
    (functions, packer_relu): Program<'_>,
    formats: (DataFormat, DataFormat),
    tiled: bool,
) {
    let step = |&(name, variant): &(&str, &str)| ChainStep {
        name: name.into(),
        variant: variant.into(),
        parameters: parameters(name),
    };
    let chain = Chain::resolve(Arch::Wormhole, &functions.iter().map(step).collect::<Vec<_>>()).unwrap();
    let dst32 = formats.0 == DataFormat::Float32;
    let program = UnaryProgram { formats, dst32, tiled, packer_relu, precise: false, arch: Arch::Wormhole };
    unary(device, input, output, &program, &chain).unwrap();
}

/// Every pattern in the order of its tile, and then again and again in other orders.
fn patterns(pages: usize) -> Vec<u16> {
    let tile = PAGE as u32 / 2;
    (0..pages as u32 * tile).map(|at| (at.wrapping_mul(2 * (at >> 16) + 1) ^ at >> 16) as u16).collect()
}

#[test]
fn large_tensors_have_the_datums_of_small_ones_in_every_place() {
    let programs: [Program<'_>; 5] = [
        (&[("exp", "accurate")], false),
        (&[("recip", "accurate")], false),
        (&[("neg", "default"), ("exp", "accurate")], false),
        (&[("neg", "default")], false),
        (&[("neg", "default")], true),
    ];
    let mut device = device();
    let bytes = |halves: &[u16]| halves.iter().flat_map(|half| half.to_le_bytes()).collect::<Vec<u8>>();
    let every = tensor(&mut device, BufferType::Dram, PAGE, &bytes(&patterns(TILES)));
    for program in programs {
        let output = tensor(&mut device, BufferType::Dram, PAGE, &vec![0; TILES * PAGE]);
        run(&mut device, every, output, program);
        let results = contents(&mut device, output);
        device.deallocate(output).unwrap();
        let result = |pattern: u16| [results[2 * usize::from(pattern)], results[2 * usize::from(pattern) + 1]];
        // Few for one group of pages; more than a group, not a multiple of the banks, and written past the caches.
        for pages in [300, 2500] {
            let input = patterns(pages);
            let expected: Vec<u8> = input.iter().flat_map(|&pattern| result(pattern)).collect();
            for (place, threads) in [(BufferType::Dram, 1), (BufferType::L1, 3)] {
                pool::set_threads(threads).unwrap();
                let id = tensor(&mut device, BufferType::Dram, PAGE, &bytes(&input));
                let output = tensor(&mut device, place, PAGE, &vec![0; pages * PAGE]);
                run(&mut device, id, output, program);
                assert!(contents(&mut device, output) == expected, "{program:?}: {pages} pages to {place:?}");
                run(&mut device, id, id, program);
                assert!(contents(&mut device, id) == expected, "{program:?}: {pages} pages in place");
                device.deallocate(output).unwrap();
                device.deallocate(id).unwrap();
            }
        }
    }
}

#[test]
fn pages_of_a_large_tensor_are_those_of_a_small_one_in_every_format() {
    use DataFormat::{Bfp8B, Float16B, Float32};
    let mut device = device();
    let program: Program<'_> = (&[("neg", "default")], false);
    for (formats, tiled) in [
        ((Float32, Float32), true),
        ((Float32, Float16B), true),
        ((Float16B, Float32), true),
        ((Bfp8B, Bfp8B), true),
        ((Float32, Float32), false),
    ] {
        // As rows, pages are not of a tile's size.
        let bytes = |format: DataFormat| if tiled { format.tile_bytes(TileShape::FULL) } else { 100 * 4 };
        let (page_in, page_out) = (bytes(formats.0), bytes(formats.1));
        let small: Vec<u8> = (0..8 * page_in).map(|at| (at * at / 3 % 127) as u8 & 0x3f).collect();
        let few = tensor(&mut device, BufferType::Dram, page_in, &small);
        let output = tensor(&mut device, BufferType::Dram, page_out, &vec![0; 8 * page_out]);
        run_in(&mut device, few, output, program, formats, tiled);
        let results = contents(&mut device, output);
        assert!(results.iter().any(|&byte| byte != 0), "{formats:?}");
        // Past the caches with FP32, and over several groups on every number of threads.
        let pages = 1100;
        let repeat = |bytes: &[u8], page: usize| {
            (0..pages).flat_map(|at| bytes[at * 3 % 8 * page..][..page].to_vec()).collect::<Vec<u8>>()
        };
        let (large, expected) = (repeat(&small, page_in), repeat(&results, page_out));
        for threads in [1, 3] {
            pool::set_threads(threads).unwrap();
            let id = tensor(&mut device, BufferType::Dram, page_in, &large);
            let output = tensor(&mut device, BufferType::Dram, page_out, &vec![0; pages * page_out]);
            run_in(&mut device, id, output, program, formats, tiled);
            assert!(contents(&mut device, output) == expected, "{formats:?}, tiled {tiled}, {threads} threads");
            if formats.0 == formats.1 {
                run_in(&mut device, id, id, program, formats, tiled);
                assert!(contents(&mut device, id) == expected, "{formats:?}, tiled {tiled}, in place");
            }
            device.deallocate(output).unwrap();
            device.deallocate(id).unwrap();
        }
    }
}

/// A tile through the registers, one step after the other.
fn through_registers(tile: &[u8], functions: &[(&str, &str)], formats: (DataFormat, DataFormat)) -> Vec<u8> {
    let (mut src, mut dst) = ([0; 1024], [0; 1024]);
    unpack::to_src(formats.0, formats.0, tile, &mut src);
    let math = MathConfig { fidelity: MathFidelity::HiFi4, dst: DstFormat::Bf16, alu: formats.0, arch: Arch::Wormhole };
    tt_fpu::copy_to_dst(&math, &mut dst, &src);
    for (name, variant) in functions {
        let call = tt_sfpu::lookup(Arch::Wormhole, name, variant).unwrap().with(&parameters(name)).unwrap();
        call.run_program(&mut dst, DstWidth::Bits16, Level::Scalar);
    }
    let mut packed = vec![0; formats.1.tile_bytes(TileShape::FULL)];
    pack::pack_tile(&PackConfig::new(DstFormat::Bf16, formats.1), &dst, &mut packed);
    packed
}

#[test]
fn block_floats_of_all_patterns_go_through_tables() {
    use DataFormat::{Bfp4B, Bfp8B, Float16B};
    let mut device = device();
    let mut random = Random::new(5);
    let chains: [&[(&str, &str)]; 5] = [
        &[],
        &[("neg", "default")],
        &[("mul_unary", "default")],
        &[("eqz", "default")],
        &[("exp", "accurate"), ("neg", "default")],
    ];
    for formats in [(Bfp8B, Bfp8B), (Bfp4B, Bfp4B), (Bfp8B, Float16B), (Float16B, Bfp8B), (Bfp4B, Bfp8B)] {
        let (page_in, page_out) = (formats.0.tile_bytes(TileShape::FULL), formats.1.tile_bytes(TileShape::FULL));
        let any = (0..12 * page_in).map(|at| {
            // Exponents of any numbers, of those about one, and of the largest; datums of any kind, and no negative
            // zeros.
            let bits = random.below(256) as u8;
            match at / page_in % 4 {
                _ if at % page_in >= 64 => bits | if at / page_in % 2 == 0 { 0x11 } else { 0 },
                0 => bits,
                1 => 250 + bits % 6,
                _ => 120 + bits % 16,
            }
        });
        let tiles: Vec<u8> = any.collect();
        for functions in chains {
            let expected: Vec<Vec<u8>> =
                tiles.chunks(page_in).map(|tile| through_registers(tile, functions, formats)).collect();
            // A table pays for the latter only.
            for pages in [12, 300] {
                let repeated: Vec<u8> = tiles.iter().copied().cycle().take(pages * page_in).collect();
                let id = tensor(&mut device, BufferType::Dram, page_in, &repeated);
                let output = tensor(&mut device, BufferType::Dram, page_out, &vec![0; pages * page_out]);
                run_in(&mut device, id, output, (functions, false), formats, true);
                let results = contents(&mut device, output);
                for (page, result) in results.chunks(page_out).enumerate() {
                    assert!(result == expected[page % 12], "{formats:?}, {functions:?}, page {page} of {pages}");
                }
                device.deallocate(output).unwrap();
                device.deallocate(id).unwrap();
            }
        }
    }
}

#[test]
fn rows_are_converted_between_widths_as_tiles_are() {
    use DataFormat::{Float16B, Float32};
    let width = |format: DataFormat| format.tile_bytes(TileShape::FULL) / 1024;
    let mut device = device();
    let program: Program<'_> = (&[("neg", "default")], false);
    for formats in [(Float32, Float16B), (Float16B, Float32)] {
        let (width_in, width_out) = (width(formats.0), width(formats.1));
        // A part of a tile, several tiles and a part, and pages and tensors that are large.
        for (rows, datums) in [(70_usize, 33_usize), (900, 2500), (300, 9001)] {
            let tiles = (rows * datums).div_ceil(1024);
            let float = |at: usize| (1 + at * at % 1009) as f32 * if at.is_multiple_of(3) { -0.37 } else { 41.3 };
            let bytes: Vec<u8> =
                (0..1024 * tiles).flat_map(|at| float(at).to_bits().to_le_bytes()[4 - width_in..].to_vec()).collect();
            let tiled = tensor(&mut device, BufferType::Dram, 1024 * width_in, &bytes);
            let output = tensor(&mut device, BufferType::Dram, 1024 * width_out, &vec![0; 1024 * width_out * tiles]);
            run_in(&mut device, tiled, output, program, formats, true);
            let expected = contents(&mut device, output);
            device.deallocate(tiled).unwrap();
            device.deallocate(output).unwrap();
            for threads in [1, 2, 8] {
                pool::set_threads(threads).unwrap();
                let all = rows * datums;
                let input = tensor(&mut device, BufferType::Dram, datums * width_in, &bytes[..all * width_in]);
                let output = tensor(&mut device, BufferType::Dram, datums * width_out, &vec![0; all * width_out]);
                run_in(&mut device, input, output, program, formats, false);
                let rows_are = contents(&mut device, output);
                assert!(rows_are == expected[..all * width_out], "{formats:?}, {rows} rows of {datums}");
                device.deallocate(input).unwrap();
                device.deallocate(output).unwrap();
            }
        }
    }
}
