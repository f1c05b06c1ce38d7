//! Rows written into tensors, against element-wise copies.
//!
//! The tensors keep the rest.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod common;

use tt_formats::{DataFormat, TileShape};
use tt_fpu::Arch;
use tt_memory::BufferType;
use tt_ops::OpError;
use tt_ops::row_gather::gather_rows;
use tt_ops::row_writes::{WindowCopy, replace_tile_rows};

use common::{contents, device, tensor};

fn bytes(count: usize, first: u16) -> Vec<u8> {
    (0..count).flat_map(|i| (first + i as u16).to_le_bytes()).collect()
}

#[test]
fn a_window_is_written_and_nothing_else() {
    let mut device = device();
    // Two matrices of 3 x 4 into rows 1.. and columns 2.. of two of 5 x 8, transposed among each other.
    let input = tensor(&mut device, BufferType::Dram, 8, &bytes(24, 100));
    let output = tensor(&mut device, BufferType::Dram, 16, &bytes(80, 1000));
    let copy = WindowCopy {
        element_bytes: 2,
        width: 4,
        shape: vec![2, 5, 8],
        window: vec![(0, 2), (1, 3), (2, 4)],
        offset: 12,
        strides: vec![-12, 4, 1],
    };
    copy.run(&mut device, input, output).unwrap();
    let mut expected = bytes(80, 1000);
    for (matrix, row, column) in (0..24).map(|i| (i / 12, i / 4 % 3, i % 4)) {
        let from = 100 + (12 - 12 * matrix as i32 + 4 * row as i32 + column as i32) as u16;
        let to = 2 * ((matrix * 5 + row + 1) * 8 + column + 2);
        expected[to..to + 2].copy_from_slice(&from.to_le_bytes());
    }
    assert!(contents(&mut device, output) == expected);
    for wrong in [
        WindowCopy { offset: 24, ..copy.clone() },
        WindowCopy { offset: 0, ..copy.clone() },
        WindowCopy { window: vec![(0, 2), (3, 3), (2, 4)], ..copy.clone() },
        WindowCopy { shape: vec![3, 5, 8], ..copy.clone() },
        WindowCopy { strides: vec![1], ..copy.clone() },
    ] {
        assert!(matches!(wrong.run(&mut device, input, output), Err(OpError::Invariant { .. })), "{wrong:?}");
    }
    // A stride that is not 1 takes single elements.
    let column = WindowCopy { window: vec![(1, 1), (0, 1), (0, 3)], offset: 0, strides: vec![0, 0, 4], ..copy };
    column.run(&mut device, input, output).unwrap();
    assert_eq!(contents(&mut device, output)[80..86], [100, 0, 104, 0, 108, 0]);
}

#[test]
fn rows_are_gathered_by_their_indices() {
    let mut device = device();
    let table = tensor(&mut device, BufferType::Dram, 8, &bytes(20, 7));
    let output = tensor(&mut device, BufferType::Dram, 8, &[0; 32]);
    let gather = |device: &mut tt_memory::Device, format, raw: &[u8]| {
        let page = raw.len() as u32 / 2;
        let indices = tensor(device, BufferType::Dram, page as usize, raw);
        gather_rows(device, (indices, format, (2, 2)), table, output, None)
    };
    let words: Vec<u8> = [4_u32, 0, 0, 3].iter().flat_map(|index| index.to_le_bytes()).collect();
    gather(&mut device, DataFormat::UInt32, &words).unwrap();
    let rows = bytes(20, 7);
    let expected: Vec<u8> = [4, 0, 0, 3].iter().flat_map(|&row: &usize| rows[row * 8..][..8].to_vec()).collect();
    assert!(contents(&mut device, output) == expected);
    // 1.5 is 1, 2.0 is 2.
    let floats: Vec<u8> = [0x3fc0_u16, 0x4000, 0, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
    gather(&mut device, DataFormat::Float16B, &floats).unwrap();
    assert_eq!(contents(&mut device, output)[..8], rows[8..16]);
    let beyond: Vec<u8> = [0_u32, 5, 0, 0].iter().flat_map(|index| index.to_le_bytes()).collect();
    let error = gather(&mut device, DataFormat::UInt32, &beyond).unwrap_err();
    assert_eq!(error.to_string(), "index 5 is out of range for a table of 5 rows");
}

#[test]
fn rows_of_tiles_are_replaced() {
    let mut device = device();
    let tile = |first: u16| -> Vec<u8> { (0..1024).flat_map(|i| (0x3f80 + first + i % 64).to_le_bytes()).collect() };
    let input = tensor(&mut device, BufferType::Dram, 2048, &[tile(0), tile(1)].concat());
    let output = tensor(&mut device, BufferType::Dram, 2048, &[tile(2), tile(3)].concat());
    let format = DataFormat::Float16B;
    let moves = vec![(1, vec![(0, 31, 2), (1, 0, 17)])];
    replace_tile_rows(&mut device, (input, format), (output, format), &moves, (false, Arch::Wormhole)).unwrap();
    let mut expected = [tile(2), tile(3)].concat();
    for (from, row, to) in [(tile(0), 31, 2), (tile(1), 0, 17)] {
        for half in [0, 16] {
            let (at, of) = (2 * TileShape::FULL.index(to, half), 2 * TileShape::FULL.index(row, half));
            expected[2048 + at..][..32].copy_from_slice(&from[of..of + 32]);
        }
    }
    assert!(contents(&mut device, output) == expected);
    for (dst32, kept) in [(false, !0xffff), (true, !0x1fff)] {
        let words = |first: u32| -> Vec<u32> { (0..1024).map(|i| 0x3f80_0fff + first + i * 0x1_2345).collect() };
        let bytes = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
        let [input, output] = [3, 4].map(|first| tensor(&mut device, BufferType::Dram, 4096, &bytes(&words(first))));
        let format = DataFormat::Float32;
        let moves = vec![(0, vec![(0, 5, 9)])];
        replace_tile_rows(&mut device, (input, format), (output, format), &moves, (dst32, Arch::Wormhole)).unwrap();
        let (from, mut expected) = (words(3), words(4));
        for column in 0..32 {
            expected[TileShape::FULL.index(9, column)] = from[TileShape::FULL.index(5, column)];
        }
        for word in &mut expected {
            *word &= kept;
        }
        assert!(contents(&mut device, output) == bytes(&expected), "32 bits: {dst32}");
    }
    let wrong = vec![(0, vec![(0, 32, 0)])];
    assert!(
        replace_tile_rows(&mut device, (input, format), (output, format), &wrong, (false, Arch::Wormhole)).is_err()
    );
}
