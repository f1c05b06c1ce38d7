//! Operators of three operands.
//!
//! Tensors, a broadcast column and a number, against the SFPU's function on the datums themselves.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod common;

use tt_cpu::Level;
use tt_formats::{DataFormat, TileShape};
use tt_fpu::Arch;
use tt_memory::{BufferId, BufferType, Device};
use tt_ops::binary::Other;
use tt_ops::ternary::{TernaryProgram, ternary};
use tt_sfpu::DstWidth;

use common::device;

const FORMAT: DataFormat = DataFormat::Float32;

fn tensor(device: &mut Device, words: &[u32]) -> BufferId {
    let id = device.allocate_interleaved(BufferType::Dram, 4096, 1, 1).unwrap();
    let raw: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    device.write(id, &raw, 4096).unwrap();
    id
}

/// Values of both signs over a few binades, different for every seed.
fn values(seed: u32) -> Vec<u32> {
    (0..1024)
        .map(|i: u32| ((i.wrapping_mul(2_654_435_761).wrapping_add(seed) >> 8) as f32 / 1e6 - 8.0).to_bits())
        .collect()
}

fn run(name: &str, operands: [Other; 3], shapes: [Vec<usize>; 3], device: &mut Device) -> Vec<u32> {
    let output = tensor(device, &[0; 1024]);
    let program = TernaryProgram {
        formats: ([FORMAT; 3], FORMAT),
        function: tt_sfpu::lookup_ternary(Arch::Wormhole, name, "default").unwrap().with(&[]).unwrap(),
        shapes,
        shape_out: vec![32, 32],
        tiled: true,
        dst32: true,
        arch: Arch::Wormhole,
    };
    ternary(device, operands, output, &program).unwrap();
    let mut raw = vec![0; 4096];
    device.read(output, &mut raw, 4096).unwrap();
    raw.chunks_exact(4).map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap())).collect()
}

fn expected(name: &str, [a, b, c]: [&[u32]; 3]) -> Vec<u32> {
    let mut result = a.to_vec();
    let function = tt_sfpu::lookup_ternary(Arch::Wormhole, name, "default").unwrap().with(&[]).unwrap();
    function.run(&mut result, b, c, DstWidth::Bits32, Level::Scalar);
    result
}

#[test]
fn three_tensors() {
    let mut device = device();
    let words = [values(1), values(2), values(3)];
    let operands = words.each_ref().map(|words| Other::Tensor(tensor(&mut device, words)));
    for name in ["where", "mac"] {
        let full = [0; 3].map(|_| vec![32, 32]);
        let got = run(name, operands, full, &mut device);
        assert_eq!(got, expected(name, words.each_ref().map(Vec::as_slice)), "{name}");
    }
}

#[test]
fn a_broadcast_column_and_a_number() {
    let mut device = device();
    let (a, column) = (values(4), values(5));
    let number = 2.5_f32.to_bits();
    let operands =
        [Other::Tensor(tensor(&mut device, &a)), Other::Tensor(tensor(&mut device, &column)), Other::Scalar(number)];
    let got = run("mac", operands, [vec![32, 32], vec![32, 1], vec![]], &mut device);
    let wide: Vec<u32> =
        (0..1024).map(|index| column[TileShape::FULL.index(TileShape::FULL.position(index).0, 0)]).collect();
    assert_eq!(got, expected("mac", [&a, &wide, &[number; 1024]]));
}
