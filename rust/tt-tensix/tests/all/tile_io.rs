//! Dst formats of tiles.

use tt_formats::DataFormat;
use tt_tensix::regs::DstFormat;
use tt_tensix::tile_io::dst_format;

#[test]
fn dst_holds_integers_of_32_bits_for_every_integer_but_uint16() {
    for format in DataFormat::ALL {
        for dst32 in [false, true] {
            let expected = match format {
                DataFormat::UInt16 => DstFormat::UInt16,
                format if format.is_integer() => DstFormat::Int32,
                _ if dst32 => DstFormat::Fp32,
                format if format.has_5_bit_exponent() => DstFormat::Fp16,
                _ => DstFormat::Bf16,
            };
            assert_eq!(dst_format(format, dst32), expected, "{format:?}");
        }
    }
}
