//! The order of `argmax` on special values, in both layouts.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod common;

use tt_formats::{DataFormat, TileShape};
use tt_memory::BufferType;
use tt_ops::argmax::{ArgmaxProgram, argmax};
use tt_testkit::random::Random;

use common::device;

fn search(datums: &[u16], shape: &[usize], dim: Option<usize>, tiled: bool) -> Vec<u32> {
    let mut device = device();
    let width = *shape.last().unwrap();
    let rows = datums.len() / width;
    let (raw, bytes) = if tiled {
        let mut raw = vec![0u8; 2048];
        for (position, datum) in datums.iter().enumerate() {
            let index = TileShape::FULL.index(position / width, position % width);
            raw[index * 2..index * 2 + 2].copy_from_slice(&datum.to_le_bytes());
        }
        (raw, 2048)
    } else {
        (datums.iter().flat_map(|datum| datum.to_le_bytes()).collect(), width * 2)
    };
    let pages = raw.len() / bytes;
    let input = device.allocate_interleaved(BufferType::Dram, bytes as u64, pages as u64, 1).unwrap();
    device.write(input, &raw, bytes).unwrap();
    let found = match dim {
        None => 1,
        Some(0) => width,
        Some(_) => rows,
    };
    let output = device.allocate_interleaved(BufferType::Dram, found as u64 * 4, 1, 1).unwrap();
    let program = ArgmaxProgram { format: DataFormat::Float16B, tiled, shape: shape.to_vec(), dim };
    argmax(&mut device, input, output, &program).unwrap();
    let mut raw = vec![0; found * 4];
    device.read(output, &mut raw, found * 4).unwrap();
    raw.chunks_exact(4).map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap())).collect()
}

const NAN: u16 = 0x7fc1;
const MINUS_NAN: u16 = 0xff81;
const INFINITY: u16 = 0x7f80;
const MINUS_INFINITY: u16 = 0xff80;
const ONE: u16 = 0x3f80;

#[test]
fn nan_wins_zeros_are_equal_and_ties_go_to_the_first() {
    for tiled in [false, true] {
        assert_eq!(search(&[ONE, MINUS_NAN, INFINITY, NAN], &[1, 4], Some(1), tiled), [1]);
        assert_eq!(search(&[0x8000, 0, 0x8000, 0], &[1, 4], Some(1), tiled), [0]);
        assert_eq!(search(&[MINUS_INFINITY, 0xbf80, ONE, ONE], &[1, 4], Some(1), tiled), [2]);
        assert_eq!(search(&[MINUS_INFINITY; 3], &[1, 3], Some(1), tiled), [0]);
        // Two denormals differ, though the FPU would not see it.
        assert_eq!(search(&[1, 2, 0], &[1, 3], Some(1), tiled), [1]);
    }
}

#[test]
fn every_dimension_and_the_whole_tensor() {
    let datums = [1, 5, 3, 4, 2, 6].map(|value| value << 7);
    for tiled in [false, true] {
        assert_eq!(search(&datums, &[2, 3], Some(1), tiled), [1, 2]);
        assert_eq!(search(&datums, &[2, 3], Some(0), tiled), [1, 0, 1]);
        assert_eq!(search(&datums, &[2, 3], None, tiled), [5]);
    }
}

/// The order of the operator, as a number.
fn rank(format: DataFormat, word: u32) -> f64 {
    let bits = match format {
        DataFormat::Int32 => return f64::from(word as i32),
        DataFormat::Float32 => word,
        DataFormat::Float16B => word << 16,
        _ => return f64::from(word),
    };
    let value = f64::from(f32::from_bits(bits));
    if value.is_nan() { f64::INFINITY } else { value.clamp(-1e300, 1e300) }
}

#[test]
fn lines_side_by_side_give_the_index_of_each() {
    let shapes: [&[usize]; 8] =
        [&[70], &[33, 31], &[1, 100], &[40, 1], &[3, 33, 70], &[2, 3, 1, 48], &[4, 2, 65, 33], &[2, 3, 2, 16, 32]];
    let formats = [
        (DataFormat::Float16B, true),
        (DataFormat::Float32, true),
        (DataFormat::Float16B, false),
        (DataFormat::Float32, false),
        (DataFormat::Int32, false),
        (DataFormat::UInt32, false),
        (DataFormat::UInt16, false),
    ];
    let mut random = Random::new(21);
    for (format, tiled) in formats {
        let unit = format.element_bytes().unwrap();
        for shape in shapes {
            let (rank_of, width) = (shape.len(), shape[shape.len() - 1]);
            let height = if rank_of >= 2 { shape[rank_of - 2] } else { 1 };
            let volume: usize = shape.iter().product();
            // Few values, so that there are ties; zeros of both signs, infinities, NaN, denormals; the lowest alone.
            for kind in 0..3 {
                let special = [0, 1 << 31, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0xffc1_0000, 1 << 16, 0x8001_0000];
                let lowest = if format == DataFormat::UInt32 || format == DataFormat::UInt16 { 0 } else { 0xff80_0000 };
                let mut datum = || match kind {
                    0 => special[random.below(8) as usize],
                    1 => random.bits() as u32 & 0xbfc7_0000,
                    _ if format == DataFormat::Int32 => 1 << 31,
                    _ => lowest,
                };
                let shift = if unit == 2 { 16 } else { 0 };
                let datums: Vec<u32> = (0..volume).map(|_| datum() >> shift).collect();
                let (tile_rows, tile_columns) = (height.div_ceil(32), width.div_ceil(32));
                let page_bytes = if tiled { 1024 * unit } else { width * unit };
                let pages = if tiled { volume / height / width * tile_rows * tile_columns } else { volume / width };
                // Padding of tiles holds what would win.
                let mut raw =
                    [0x7fff_ffff_u32.to_le_bytes()[4 - unit..].to_vec()].concat().repeat(pages * page_bytes / unit);
                for (position, datum) in datums.iter().enumerate() {
                    let (row, column) = (position / width, position % width);
                    let at = if tiled {
                        let tile = (row / height * tile_rows + row % height / 32) * tile_columns + column / 32;
                        tile * 1024 + TileShape::FULL.index(row % height % 32, column % 32)
                    } else {
                        position
                    };
                    raw[at * unit..][..unit].copy_from_slice(&datum.to_le_bytes()[..unit]);
                }
                let mut device = device();
                let input = device.allocate_interleaved(BufferType::Dram, page_bytes as u64, pages as u64, 1).unwrap();
                device.write(input, &raw, page_bytes).unwrap();
                for dim in (0..rank_of).map(Some).chain([None]) {
                    let (outer, length, inner) = dim.map_or((1, volume, 1), |dim| {
                        (shape[..dim].iter().product(), shape[dim], shape[dim + 1..].iter().product::<usize>())
                    });
                    let lines = outer * inner;
                    let expected: Vec<u32> = (0..lines)
                        .map(|line| {
                            let first = line / inner * length * inner + line % inner;
                            let ranks = (0..length).map(|index| rank(format, datums[first + index * inner]));
                            let mut best = (f64::NEG_INFINITY, 0);
                            for (index, rank) in ranks.enumerate() {
                                if rank > best.0 {
                                    best = (rank, index as u32);
                                }
                            }
                            best.1
                        })
                        .collect();
                    // Pages of a row of indices, of one index, and of all of them, which no tensor has.
                    let row = match dim {
                        None => 1,
                        Some(dim) if dim + 1 == rank_of => height,
                        Some(_) => width,
                    };
                    for per_page in [row, 1, lines] {
                        let output = device
                            .allocate_interleaved(BufferType::Dram, per_page as u64 * 4, (lines / per_page) as u64, 1)
                            .unwrap();
                        let program = ArgmaxProgram { format, tiled, shape: shape.to_vec(), dim };
                        argmax(&mut device, input, output, &program).unwrap();
                        let mut raw = vec![0; lines * 4];
                        device.read(output, &mut raw, per_page * 4).unwrap();
                        let got: Vec<u32> = raw.as_chunks().0.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect();
                        assert_eq!(got, expected, "{format:?} {shape:?} {dim:?} tiled: {tiled} by {per_page}");
                        device.deallocate(output).unwrap();
                    }
                }
            }
        }
    }
}
