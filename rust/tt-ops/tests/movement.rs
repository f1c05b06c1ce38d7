//! Data movement against an index model: layouts, shapes, formats.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod common;

use tt_formats::{DataFormat, TileShape};
use tt_memory::{BufferId, BufferType, Device};
use tt_ops::movement::{Movement, Packed, View, move_datums};
use tt_tensix::pack::{self, DstFormat, PackConfig};
use tt_tensix::unpack;
use tt_testkit::random::Random;

use common::device;

/// Pages and bytes per page of a tensor of 16-bit datums.
fn pages(shape: &[usize], tile: Option<TileShape>) -> (usize, usize) {
    let width = shape.last().copied().unwrap_or(1);
    let height = if shape.len() >= 2 { shape[shape.len() - 2] } else { 1 };
    let outer: usize = shape[..shape.len().saturating_sub(2)].iter().product();
    match tile {
        None => (outer * height, width * 2),
        Some(tile) => (outer * height.div_ceil(tile.height()) * width.div_ceil(tile.width()), tile.datums() * 2),
    }
}

fn allocate(device: &mut Device, shape: &[usize], tile: Option<TileShape>) -> View {
    let (count, bytes) = pages(shape, tile);
    let buffer = device.allocate_interleaved(BufferType::Dram, bytes as u64, count as u64, 1).unwrap();
    View { buffer, format: DataFormat::Float16B, tile, shape: shape.to_vec() }
}

/// Where the datum of a row-major logical position lies: page and datum within it.
fn place(position: usize, shape: &[usize], tile: Option<TileShape>) -> (usize, usize) {
    let width = shape.last().copied().unwrap_or(1);
    let height = if shape.len() >= 2 { shape[shape.len() - 2] } else { 1 };
    let (row, column) = (position / width, position % width);
    match tile {
        None => (row, column),
        Some(tile) => {
            let (matrix, row) = (row / height, row % height);
            let page = (matrix * height.div_ceil(tile.height()) + row / tile.height()) * width.div_ceil(tile.width())
                + column / tile.width();
            (page, tile.index(row % tile.height(), column % tile.width()))
        }
    }
}

fn write(device: &mut Device, view: &View, datum: impl Fn(usize) -> u16) {
    let (count, bytes) = pages(&view.shape, view.tile);
    let mut raw = vec![0xee; count * bytes];
    for position in 0..view.shape.iter().product() {
        let (page, index) = place(position, &view.shape, view.tile);
        raw[page * bytes + index * 2..][..2].copy_from_slice(&datum(position).to_le_bytes());
    }
    device.write(view.buffer, &raw, bytes).unwrap();
}

fn read(device: &mut Device, buffer: BufferId, view: &View) -> Vec<u16> {
    let (count, bytes) = pages(&view.shape, view.tile);
    let mut raw = vec![0; count * bytes];
    device.read(buffer, &mut raw, bytes).unwrap();
    (0..view.shape.iter().product())
        .map(|position| {
            let (page, index) = place(position, &view.shape, view.tile);
            u16::from_le_bytes(raw[page * bytes + index * 2..][..2].try_into().unwrap())
        })
        .collect()
}

const LAYOUTS: [Option<TileShape>; 2] = [None, Some(TileShape::FULL)];

fn whole(shape: &[usize]) -> Vec<(usize, usize)> {
    shape.iter().map(|&length| (0, length)).collect()
}

fn row_major_strides(shape: &[usize]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for axis in (0..shape.len().saturating_sub(1)).rev() {
        strides[axis] = strides[axis + 1] * shape[axis + 1] as i64;
    }
    strides
}

#[test]
fn every_layout_to_every_layout_keeps_every_datum() {
    let shapes: [&[usize]; 7] = [&[1, 1], &[5], &[33, 31], &[2, 3, 40, 50], &[1, 64, 32], &[3, 1, 97], &[64, 64]];
    let odd_tiles =
        [None, Some(TileShape::FULL), TileShape::new(16, 16), TileShape::new(4, 32), TileShape::new(32, 16)];
    let mut device = device();
    for shape in shapes {
        for from in odd_tiles {
            for to in odd_tiles {
                let input = allocate(&mut device, shape, from);
                let output = allocate(&mut device, shape, to);
                write(&mut device, &input, |position| position as u16);
                let movement = Movement {
                    input,
                    output: output.clone(),
                    offset: 0,
                    strides: row_major_strides(shape),
                    window: whole(shape),
                    padding: 0,
                    through_dst: false,
                    packed: None,
                };
                move_datums(&mut device, &movement).unwrap();
                let expected: Vec<u16> = (0..shape.iter().product::<usize>()).map(|position| position as u16).collect();
                assert_eq!(read(&mut device, output.buffer, &output), expected, "{shape:?} {from:?} {to:?}");
                device.deallocate(movement.input.buffer).unwrap();
                device.deallocate(output.buffer).unwrap();
            }
        }
    }
}

#[test]
fn strided_windows_follow_the_affine_map() {
    let mut device = device();
    // Input [3, 40, 50]; output [50, 45, 2]: axes exchanged, every second matrix, padding of 5 rows after 3.
    for from in LAYOUTS {
        for to in LAYOUTS {
            let input = allocate(&mut device, &[3, 40, 50], from);
            let output = allocate(&mut device, &[50, 45, 2], to);
            write(&mut device, &input, |position| position as u16);
            let movement = Movement {
                input,
                output: output.clone(),
                offset: 49,
                strides: vec![-1, 50, 4000],
                window: vec![(0, 50), (3, 37), (0, 2)],
                padding: 0xabcd,
                through_dst: false,
                packed: None,
            };
            move_datums(&mut device, &movement).unwrap();
            let got = read(&mut device, output.buffer, &output);
            for (position, datum) in got.into_iter().enumerate() {
                let (a, b, c) = (position / 90, position / 2 % 45, position % 2);
                let inside = (3..40).contains(&b);
                let expected = if inside { (49 - a + 50 * (b.max(3) - 3) + 4000 * c) as u16 } else { 0xabcd };
                assert_eq!(datum, expected, "{from:?} {to:?} at {a} {b} {c}");
            }
        }
    }
}

#[test]
fn tiles_move_whole_and_transposed() {
    let mut device = device();
    // Input [3, 96, 70] with rows 32 to 95; output dimensions (matrix, row, column) in some order.
    let shape = [3, 96, 70];
    for from in LAYOUTS {
        for to in LAYOUTS {
            for (through_dst, transposed) in [(false, false), (false, true), (true, false), (true, true)] {
                let input = allocate(&mut device, &shape, from);
                let (out_shape, strides) =
                    if transposed { ([3, 70, 64], vec![6720, 1, 70]) } else { ([3, 64, 70], vec![6720, 70, 1]) };
                let output = allocate(&mut device, &out_shape, to);
                let datum = |position: usize| if position.is_multiple_of(7) { 0x8000 } else { position as u16 };
                write(&mut device, &input, datum);
                let movement = Movement {
                    input,
                    output: output.clone(),
                    offset: 32 * 70,
                    strides: strides.clone(),
                    window: whole(&out_shape),
                    padding: 0,
                    through_dst,
                    packed: None,
                };
                move_datums(&mut device, &movement).unwrap();
                let [_, height, width] = out_shape;
                for (position, got) in read(&mut device, output.buffer, &output).into_iter().enumerate() {
                    let index = [position / width / height, position / width % height, position % width];
                    let from_position: i64 = index.iter().zip(&strides).map(|(&i, stride)| i as i64 * stride).sum();
                    let word = datum((2240 + from_position) as usize);
                    let expected = if through_dst { tt_formats::pack::bf16_to_bf16(word.into()) as u16 } else { word };
                    assert_eq!(got, expected, "{from:?} {to:?} {through_dst} {transposed} {index:?}");
                }
                device.deallocate(movement.input.buffer).unwrap();
                device.deallocate(output.buffer).unwrap();
            }
        }
    }
}

#[test]
fn short_rows_are_permuted_with_their_padding() {
    let mut device = device();
    let orders = [[0, 1, 2, 3], [0, 1, 3, 2], [1, 0, 2, 3], [2, 3, 0, 1], [3, 2, 1, 0], [1, 2, 3, 0], [0, 2, 1, 3]];
    for shape in [[40, 7, 1, 1], [3, 1, 33, 2], [1, 1, 1, 1], [5, 33, 3, 15], [2, 3, 70, 1], [1, 64, 2, 40]] {
        for order in orders {
            for (from, to) in LAYOUTS.into_iter().flat_map(|from| LAYOUTS.map(|to| (from, to))) {
                for through_dst in [false, true] {
                    let out_shape = order.map(|axis| shape[axis]);
                    let input = allocate(&mut device, &shape, from);
                    let output = allocate(&mut device, &out_shape, to);
                    let datum = |position: usize| [position as u16, 0x8000, 0x0001, 0x7fc1][position % 4];
                    write(&mut device, &input, datum);
                    let steps = row_major_strides(&shape);
                    let movement = Movement {
                        input,
                        output: output.clone(),
                        offset: 0,
                        strides: order.map(|axis| steps[axis]).to_vec(),
                        window: whole(&out_shape),
                        padding: 0xabcd,
                        through_dst,
                        packed: None,
                    };
                    move_datums(&mut device, &movement).unwrap();
                    let (count, bytes) = pages(&out_shape, to);
                    let mut expected: Vec<u8> = [0xcd, 0xab].repeat(count * bytes / 2);
                    let sizes = row_major_strides(&out_shape);
                    for position in 0..shape.iter().product::<usize>() {
                        let mut rest = position as i64;
                        let mut at = 0;
                        for (size, stride) in sizes.iter().zip(&movement.strides) {
                            at += rest / size * stride;
                            rest %= size;
                        }
                        let word = datum(at as usize);
                        let flushed = tt_formats::pack::bf16_to_bf16(word.into()) as u16;
                        let (page, index) = place(position, &out_shape, to);
                        let word = if through_dst { flushed } else { word };
                        expected[page * bytes + index * 2..][..2].copy_from_slice(&word.to_le_bytes());
                    }
                    let mut got = vec![0; count * bytes];
                    device.read(output.buffer, &mut got, bytes).unwrap();
                    assert!(got == expected, "{shape:?} {order:?} {from:?} {to:?} {through_dst}");
                    device.deallocate(movement.input.buffer).unwrap();
                    device.deallocate(output.buffer).unwrap();
                }
            }
        }
    }
}

/// The datums of a tile in L1 as words of the format, block floats as bfloat16.
fn words(format: DataFormat, tile: &[u8]) -> Vec<u32> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
    if !format.is_block_float() {
        return tile.chunks_exact(tile.len() / 1024).map(word).collect();
    }
    let mut registers = [0; 1024];
    unpack::to_src(format, format, tile, &mut registers);
    registers.iter().map(|word| word >> 3).collect()
}

/// The inverse of [`words`].
fn tile(format: DataFormat, words: &[u32; 1024]) -> Vec<u8> {
    let mut bytes = vec![0; format.tile_bytes(TileShape::FULL)];
    if format.is_block_float() {
        let packer = PackConfig::new(DstFormat::Bf16, format);
        pack::pack_tile(&packer, &words.map(|word| word << 16), &mut bytes);
        return bytes;
    }
    let unit = bytes.len() / 1024;
    for (bytes, word) in bytes.chunks_exact_mut(unit).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes()[..unit]);
    }
    bytes
}

#[test]
fn lines_and_datums_of_tiles_move_with_their_padding() {
    // Input shape, output shape, offset, strides, window.
    type Case = (&'static [usize], &'static [usize], i64, &'static [i64], &'static [(usize, usize)]);
    let cases: [Case; 15] = [
        (&[3, 40, 50], &[40, 3, 50], 0, &[50, 2000, 1], &[(0, 40), (0, 3), (0, 50)]),
        (&[2, 64, 96], &[70, 45], 64 * 96 + 5 * 96 + 16, &[96, 1], &[(3, 50), (0, 45)]),
        (&[2, 3, 33, 64], &[4, 33, 3, 64], 0, &[6336, 64, 2112, 1], &[(1, 2), (0, 33), (0, 3), (0, 64)]),
        (&[33, 80], &[33, 80], 32 * 80, &[-80, 1], &[(0, 33), (0, 80)]),
        (&[5, 7, 20], &[1, 7, 20], 2 * 140, &[9, 20, 1], &[(0, 1), (0, 7), (0, 20)]),
        // Other orders of the dimensions, in which rows do not stay rows.
        (&[4, 3, 33, 40], &[33, 40, 4, 3], 0, &[40, 1, 3960, 1320], &[(0, 33), (0, 40), (0, 4), (0, 3)]),
        (&[4, 3, 33, 40], &[4, 40, 33, 3], 0, &[3960, 1, 40, 1320], &[(0, 4), (0, 40), (0, 33), (0, 3)]),
        (&[4, 3, 33, 40], &[3, 4, 40, 33], 0, &[1320, 3960, 1, 40], &[(0, 3), (0, 4), (0, 40), (0, 33)]),
        (&[40, 3, 1, 33], &[33, 1, 3, 40], 0, &[1, 7, 33, 99], &[(0, 33), (0, 1), (0, 3), (0, 40)]),
        (&[34, 2, 70], &[2, 34, 70], 0, &[70, 140, 1], &[(0, 2), (0, 34), (0, 70)]),
        // Rows of tiles that stay together, with those of another matrix behind them, from the middle, or beside
        // padding.
        (&[4, 16, 33], &[2, 32, 33], 0, &[1056, 33, 1], &[(0, 2), (0, 32), (0, 33)]),
        (&[2, 70, 97], &[2, 50, 40], 3137, &[6790, 97, 1], &[(0, 2), (0, 38), (0, 40)]),
        (&[2, 64, 50], &[3, 70, 50], 0, &[3200, 50, 1], &[(1, 2), (0, 64), (0, 50)]),
        (&[1, 40, 50], &[1, 72, 50], 0, &[2000, 50, 1], &[(0, 1), (32, 40), (0, 50)]),
        // A window of one.
        (&[4, 3, 5, 6], &[6, 5, 4, 3], 0, &[1, 6, 90, 30], &[(0, 6), (1, 4), (0, 4), (0, 3)]),
    ];
    // Formats of input and output.
    let formats = [
        (DataFormat::Float16B, DataFormat::Float16B),
        (DataFormat::Float32, DataFormat::Float32),
        (DataFormat::UInt8, DataFormat::UInt8),
        (DataFormat::Bfp8B, DataFormat::Bfp8B),
        (DataFormat::Bfp4B, DataFormat::Bfp4B),
        (DataFormat::Bfp2B, DataFormat::Bfp2B),
        (DataFormat::Bfp8B, DataFormat::Float16B),
        (DataFormat::Bfp4B, DataFormat::Float16B),
    ];
    let mut device = device();
    let mut random = Random::new(9);
    for (format_in, format) in formats {
        let [bytes_in, bytes] = [format_in, format].map(|format| format.tile_bytes(TileShape::FULL));
        for (shape, out_shape, offset, strides, window) in cases {
            let plain = if format_in.is_block_float() { 2 } else { 1 };
            let settings =
                [false, true].into_iter().flat_map(|through_dst| (0..plain).map(move |plain| (through_dst, plain)));
            for (through_dst, plain) in settings {
                let view = |device: &mut Device, shape: &[usize], format: DataFormat| {
                    let count = pages(shape, Some(TileShape::FULL)).0;
                    let bytes = format.tile_bytes(TileShape::FULL) as u64;
                    let buffer = device.allocate_interleaved(BufferType::Dram, bytes, count as u64, 1).unwrap();
                    (View { buffer, format, tile: Some(TileShape::FULL), shape: shape.to_vec() }, count)
                };
                let (input, count) = view(&mut device, shape, format_in);
                let (output, count_out) = view(&mut device, out_shape, format);
                let mut raw: Vec<u8> = (0..count * bytes_in).map(|_| random.bits() as u8).collect();
                raw.chunks_exact_mut(bytes_in).filter(|_| plain == 1).for_each(make_plain);
                device.write(input.buffer, &raw, bytes_in).unwrap();
                let datums: Vec<Vec<u32>> = raw.chunks_exact(bytes_in).map(|tile| words(format_in, tile)).collect();
                let padding = 0x3f81_c1a7 >> if bytes < 4096 { 16 } else { 0 };
                let movement = Movement {
                    input,
                    output,
                    offset,
                    strides: strides.to_vec(),
                    window: window.to_vec(),
                    padding,
                    through_dst,
                    packed: None,
                };
                move_datums(&mut device, &movement).unwrap();
                let mut expected = vec![[padding & if bytes == 1024 { 255 } else { u32::MAX }; 1024]; count_out];
                let halves = format == DataFormat::Float16B || format.is_block_float();
                for position in 0..out_shape.iter().product() {
                    let (mut rest, mut from, mut inside) = (position, offset, true);
                    for axis in (0..out_shape.len()).rev() {
                        let index = rest % out_shape[axis];
                        rest /= out_shape[axis];
                        inside &= (window[axis].0..window[axis].0 + window[axis].1).contains(&index);
                        from += (index as i64 - window[axis].0 as i64) * strides[axis];
                    }
                    if inside {
                        let (page, datum) = place(from as usize, shape, Some(TileShape::FULL));
                        let word = datums[page][datum];
                        let (page, datum) = place(position, out_shape, Some(TileShape::FULL));
                        expected[page][datum] =
                            if through_dst && halves { tt_formats::pack::bf16_to_bf16(word) } else { word };
                    }
                }
                let mut got = vec![0; count_out * bytes];
                device.read(movement.output.buffer, &mut got, bytes).unwrap();
                let bytes_out: Vec<u8> = expected.iter().flat_map(|words| tile(format, words)).collect();
                assert!(got == bytes_out, "{format_in:?} {format:?} {shape:?} to {out_shape:?} {through_dst}");
                if format == DataFormat::Float16B && format_in.is_block_float() {
                    packs_at_once(&mut device, &movement, &expected);
                }
            }
        }
    }
}

/// Ordinary exponents and no datum that stands for infinity: such tiles of block floats are decoded whole.
fn make_plain(tile: &mut [u8]) {
    let (exponents, datums) = tile.split_at_mut(64);
    for exponent in exponents {
        *exponent = 120 + *exponent % 16;
    }
    for datum in datums {
        *datum |= 0x11;
    }
}

/// What is packed at once has the bytes of what is packed afterwards.
fn packs_at_once(device: &mut Device, movement: &Movement, expected: &[[u32; 1024]]) {
    let format = movement.input.format;
    let bytes = format.tile_bytes(TileShape::FULL);
    for precise in [false, true] {
        let buffer = device.allocate_interleaved(BufferType::Dram, bytes as u64, expected.len() as u64, 1).unwrap();
        let output = View { buffer, ..movement.output.clone() };
        let packed = Some(Packed { format, precise });
        move_datums(device, &Movement { output, packed, ..movement.clone() }).unwrap();
        let dst = DstFormat::Bf16;
        let intermediate = pack::intermediate(format, dst, precise);
        let config = PackConfig { intermediate, ..PackConfig::new(dst, format) };
        let mut tile = vec![0; bytes];
        let mut got = vec![0; expected.len() * bytes];
        device.read(buffer, &mut got, bytes).unwrap();
        for (words, got) in expected.iter().zip(got.chunks_exact(bytes)) {
            pack::pack_tile(&config, &words.map(|word| word << 16), &mut tile);
            assert!(got == tile, "{format:?} {:?} to {:?} {precise}", movement.input.shape, movement.output.shape);
        }
    }
}

#[test]
fn block_floats_leave_dst_as_bfloat16() {
    let mut device = device();
    let mut random = Random::new(10);
    for format in [DataFormat::Bfp8B, DataFormat::Bfp4B, DataFormat::Bfp2B] {
        // Whole tiles and tiles with padding, kept and transposed.
        for (height, width) in [(64, 96), (50, 70)] {
            let transposed = ([2, width, height], vec![(height * width) as i64, 1, width as i64]);
            let kept = ([2, height, width], vec![(height * width) as i64, width as i64, 1]);
            for ((out_shape, strides), through_dst) in [(&transposed, true), (&kept, true), (&transposed, false)] {
                let shape = [2, height, width];
                let bytes = format.tile_bytes(TileShape::FULL);
                let count = pages(&shape, Some(TileShape::FULL)).0;
                let buffer = device.allocate_interleaved(BufferType::Dram, bytes as u64, count as u64, 1).unwrap();
                let raw: Vec<u8> = (0..count * bytes).map(|_| random.bits() as u8).collect();
                device.write(buffer, &raw, bytes).unwrap();
                let datums: Vec<Vec<u32>> = raw.chunks_exact(bytes).map(|tile| words(format, tile)).collect();
                let movement = Movement {
                    input: View { buffer, format, tile: Some(TileShape::FULL), shape: shape.to_vec() },
                    output: allocate(&mut device, out_shape, Some(TileShape::FULL)),
                    offset: 0,
                    strides: strides.clone(),
                    window: whole(out_shape),
                    padding: 0,
                    through_dst,
                    packed: None,
                };
                move_datums(&mut device, &movement).unwrap();
                let got = read(&mut device, movement.output.buffer, &movement.output);
                for (position, got) in got.into_iter().enumerate() {
                    let index = [
                        position / out_shape[2] / out_shape[1],
                        position / out_shape[2] % out_shape[1],
                        position % out_shape[2],
                    ];
                    let from: i64 = index.iter().zip(strides).map(|(&i, stride)| i as i64 * stride).sum();
                    let (page, datum) = place(from as usize, &shape, Some(TileShape::FULL));
                    let word = datums[page][datum];
                    let expected = if through_dst { tt_formats::pack::bf16_to_bf16(word) } else { word };
                    assert_eq!(u32::from(got), expected, "{format:?} {out_shape:?} {through_dst} {index:?}");
                }
            }
        }
    }
}

/// Small results stay in the caches, large ones go past them.
#[test]
fn whole_pages_are_moved_in_any_order() {
    let mut device = device();
    let mut random = Random::new(11);
    // Matrices first, the height of the input, its width, tiles or rows, and whether matrices are transposed.
    let cases = [
        ([3, 2], [64, 96], Some(TileShape::FULL), true),
        ([3, 2], [64, 96], Some(TileShape::FULL), false),
        ([7, 41], [64, 96], Some(TileShape::FULL), true),
        ([7, 41], [64, 96], Some(TileShape::FULL), false),
        ([3, 2], [5, 48], None, false),
        ([41, 7], [5, 1024], None, false),
    ];
    for (leading, [height, width], tile, transposed) in cases {
        for format in [DataFormat::Float16B, DataFormat::Float32] {
            let unit = format.element_bytes().unwrap();
            let shape = [leading[0], leading[1], height, width];
            let [rows, columns] = if transposed { [width, height] } else { [height, width] };
            // The first matrix of the input's second dimension is left out.
            let out_shape = [leading[1] - 1, leading[0], rows, columns];
            let matrix = height * width;
            let (down, across) = if transposed { (1, width) } else { (width, 1) };
            let strides = [matrix, leading[1] * matrix, down, across].map(|stride| stride as i64);
            let view = |device: &mut Device, shape: &[usize]| {
                let (count, bytes) = pages(shape, tile);
                let bytes = bytes / 2 * unit;
                let buffer = device.allocate_interleaved(BufferType::Dram, bytes as u64, count as u64, 1).unwrap();
                (View { buffer, format, tile, shape: shape.to_vec() }, count, bytes)
            };
            let (input, count, bytes) = view(&mut device, &shape);
            let (output, count_out, bytes_out) = view(&mut device, &out_shape);
            let raw: Vec<u8> = (0..count * bytes).map(|_| random.bits() as u8).collect();
            device.write(input.buffer, &raw, bytes).unwrap();
            let movement = Movement {
                input,
                output,
                offset: matrix as i64,
                strides: strides.to_vec(),
                window: whole(&out_shape),
                padding: 0,
                through_dst: false,
                packed: None,
            };
            move_datums(&mut device, &movement).unwrap();
            let mut got = vec![0; count_out * bytes_out];
            device.read(movement.output.buffer, &mut got, bytes_out).unwrap();
            for position in 0..out_shape.iter().product() {
                let (mut rest, mut from) = (position, matrix);
                for axis in (0..4).rev() {
                    from += rest % out_shape[axis] * strides[axis] as usize;
                    rest /= out_shape[axis];
                }
                let at = |(page, datum): (usize, usize), bytes: usize| page * bytes + datum * unit;
                let from = &raw[at(place(from, &shape, tile), bytes)..][..unit];
                let to = &got[at(place(position, &out_shape, tile), bytes_out)..][..unit];
                assert!(from == to, "{format:?} {shape:?} {transposed} at {position}");
            }
            device.deallocate(movement.input.buffer).unwrap();
            device.deallocate(movement.output.buffer).unwrap();
        }
    }
}

#[test]
fn positions_outside_the_input_are_refused() {
    let mut device = device();
    let input = allocate(&mut device, &[4, 4], None);
    let output = allocate(&mut device, &[4, 4], None);
    write(&mut device, &input, |position| position as u16);
    for (offset, strides) in [(1, vec![4, 1]), (-1, vec![4, 1]), (0, vec![5, 1]), (0, vec![-4, 1])] {
        let movement = Movement {
            input: input.clone(),
            output: output.clone(),
            offset,
            strides,
            window: whole(&[4, 4]),
            padding: 0,
            through_dst: false,
            packed: None,
        };
        let text = move_datums(&mut device, &movement).unwrap_err().to_string();
        assert!(text.contains("leave an input of 16 datums"), "{text}");
    }
    let packed = Some(Packed { format: DataFormat::Bfp8B, precise: true });
    let (strides, window) = (vec![4, 1], whole(&[4, 4]));
    let movement = Movement { input, output, offset: 0, strides, window, padding: 0, through_dst: false, packed };
    let text = move_datums(&mut device, &movement).unwrap_err().to_string();
    assert!(text.contains("tiles None of Float16B to Some(Packed"), "{text}");
}
