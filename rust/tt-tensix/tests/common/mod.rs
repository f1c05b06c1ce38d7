//! What the golden tests share: tiles of the vectors in register form.
#![allow(dead_code, reason = "each test file uses its part")]

use tt_formats::unpack::{bf16_to_src, bfp8_b_to_bf16, fp16_to_src, fp32_to_src_bf16, fp32_to_src_tf32, int8_to_src};
use tt_formats::{DataFormat, TileShape};
use tt_tensix::fpu::{DstFormat, MathConfig, MathFidelity};
use tt_tensix::regs::{Arch, Src};
use tt_testkit::golden::Array;

/// Names of the vectors' formats, longest first where one is the beginning of another.
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

/// The register format that TT-NN selects.
pub fn register(format: DataFormat, dst32: bool) -> DataFormat {
    match (format, dst32) {
        (DataFormat::Float32, true) => DataFormat::Tf32,
        (DataFormat::Float32, false) => DataFormat::Float16B,
        _ => format,
    }
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
    let alu = register(operand, dst32);
    MathConfig { fidelity, dst: dst_format(operand, dst32), alu, arch: Arch::Wormhole }
}

/// A tile of L1 bytes as the unpacker leaves it in a Src register.
pub fn unpack(format: DataFormat, dst32: bool, bytes: &[u8]) -> Src {
    let word16 = |i: usize| u32::from(bytes[2 * i]) | u32::from(bytes[2 * i + 1]) << 8;
    let word32 = |i: usize| word16(2 * i) | word16(2 * i + 1) << 16;
    let block = |i: usize, width: usize| {
        let per_byte = 8 / width;
        let field = u32::from(bytes[64 + i / per_byte]) >> (i % per_byte * width) & ((1 << width) - 1);
        bf16_to_src(bfp8_b_to_bf16(field << (8 - width), u32::from(bytes[i / 16])))
    };
    std::array::from_fn(|i| match format {
        DataFormat::Float16B => bf16_to_src(word16(i)),
        DataFormat::Float16 => fp16_to_src(word16(i)),
        DataFormat::Float32 if dst32 => fp32_to_src_tf32(word32(i)),
        DataFormat::Float32 => fp32_to_src_bf16(word32(i)),
        DataFormat::Bfp8B => block(i, 8),
        DataFormat::Bfp4B => block(i, 4),
        DataFormat::Bfp2B => block(i, 2),
        DataFormat::Int8 => int8_to_src(u32::from(bytes[i])),
        other => panic!("format {other:?}"),
    })
}

/// Row-major Dst words as the vectors store them, from a tile in face order.
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

/// Entry `i` of an array of tiles [N, bytes] or [N, K, bytes], unpacked; one tile per K.
pub fn tiles(array: &Array, i: usize, format: DataFormat, dst32: bool) -> Vec<Src> {
    let size = *array.shape.last().expect("tiles have bytes");
    array.bytes_at(i).chunks_exact(size).map(|bytes| unpack(format, dst32, bytes)).collect()
}
