//! Shared code of the golden tests.
//!
//! Tiles of the vectors in register form.
#![allow(dead_code, reason = "each test file uses its part")]

use tt_formats::{DataFormat, TileShape};
use tt_fpu::{DstFormat, MathConfig, MathFidelity};
use tt_tensix::regs::{Arch, Src};
use tt_tensix::unpack;
use tt_testkit::golden::Array;

/// Format names of the vectors, longest first among common prefixes.
pub fn format(name: &str) -> DataFormat {
    match name {
        "bf16" => DataFormat::Float16B,
        "fp16" => DataFormat::Float16,
        "fp32" => DataFormat::Float32,
        "bfp8_b" => DataFormat::Bfp8B,
        "bfp4_b" => DataFormat::Bfp4B,
        "bfp2_b" => DataFormat::Bfp2B,
        "int8" => DataFormat::Int8,
        other => panic!("format {other}"),
    }
}

/// Both operand formats of a file name such as `bf16_x_bfp8_b` or `bf16`.
pub fn formats(name: &str) -> (DataFormat, DataFormat) {
    name.split_once("_x_").map_or_else(|| (format(name), format(name)), |(a, b)| (format(a), format(b)))
}

/// The mode of Dst for these operands.
pub fn dst_format(operand: DataFormat, dst32: bool) -> DstFormat {
    match (operand, dst32) {
        (DataFormat::Int8, _) => DstFormat::Int32,
        (_, true) => DstFormat::Fp32,
        (DataFormat::Float16, false) => DstFormat::Fp16,
        (_, false) => DstFormat::Bf16,
    }
}

/// Math configuration for operands of this L1 format.
pub fn config(operand: DataFormat, dst32: bool, fidelity: MathFidelity) -> MathConfig {
    config_on(Arch::Wormhole, operand, dst32, fidelity)
}

/// The same on a generation.
pub fn config_on(arch: Arch, operand: DataFormat, dst32: bool, fidelity: MathFidelity) -> MathConfig {
    let alu = unpack::register_format(operand, dst32);
    MathConfig { fidelity, dst: dst_format(operand, dst32), alu, arch }
}

/// A tile of L1 bytes as unpacked to a Src register.
pub fn unpack(format: DataFormat, dst32: bool, bytes: &[u8]) -> Src {
    let mut tile = [0; 1024];
    unpack::to_src(format, unpack::register_format(format, dst32), bytes, &mut tile);
    tile
}

/// Row-major Dst words in stored form, from face order.
pub fn row_major(format: DstFormat, tile: &[u32; 1024]) -> Vec<u32> {
    let shape = TileShape::new(32, 32).expect("a tile");
    let mut words = vec![0; 1024];
    shape.untilize(tile, &mut words);
    words.iter().map(|&word| natural(format, word)).collect()
}

/// A Dst word in the encoding of its format.
pub fn natural(format: DstFormat, word: u32) -> u32 {
    match format {
        DstFormat::Bf16 => word >> 16,
        DstFormat::Fp16 => (word >> 31) << 15 | word >> 13 & 0x7fff,
        _ => word,
    }
}

/// Panics at the first difference.
pub fn assert_same(what: &str, got: &[u32], expected: &[u32]) {
    assert_eq!(got.len(), expected.len(), "{what}");
    if let Some(i) = (0..got.len()).find(|&i| got[i] != expected[i]) {
        let count = (0..got.len()).filter(|&i| got[i] != expected[i]).count();
        panic!(
            "{what}: {count} of {} differ; first at {i}: got {:08x}, expected {:08x}",
            got.len(),
            got[i],
            expected[i]
        );
    }
}

/// Entry `i` of an array of tiles, unpacked, one per K.
///
/// The array is [N, bytes] or [N, K, bytes].
pub fn tiles(array: &Array, i: usize, format: DataFormat, dst32: bool) -> Vec<Src> {
    let size = *array.shape.last().expect("tiles have bytes");
    array.bytes_at(i).chunks_exact(size).map(|bytes| unpack(format, dst32, bytes)).collect()
}
