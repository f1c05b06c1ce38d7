//! The order of `argmax` on special values, in both layouts.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use tt_formats::{DataFormat, TileShape};
use tt_memory::chip::ChipSpec;
use tt_memory::device::OpenOptions;
use tt_memory::{BufferType, Device};
use tt_ops::argmax::{ArgmaxProgram, argmax};

fn search(datums: &[u16], shape: &[usize], dim: Option<usize>, tiled: bool) -> Vec<u32> {
    let mut device = Device::open(ChipSpec::by_name("n150").unwrap(), OpenOptions::default()).unwrap();
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
        // Two denormals differ, though the matrix unit would not see it.
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
