//! Data movement against a plain index model, over layouts, tile shapes and formats.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use tt_formats::{DataFormat, TileShape};
use tt_memory::chip::ChipSpec;
use tt_memory::device::OpenOptions;
use tt_memory::{BufferId, BufferType, Device};
use tt_ops::movement::{Movement, View, move_datums};

fn device() -> Device {
    Device::open(ChipSpec::by_name("n150").unwrap(), OpenOptions::default()).unwrap()
}

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
        };
        let text = move_datums(&mut device, &movement).unwrap_err().to_string();
        assert!(text.contains("leave an input of 16 datums"), "{text}");
    }
}
