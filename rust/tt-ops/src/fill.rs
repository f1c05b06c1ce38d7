//! Constant tensors.

use tt_formats::{DataFormat, TileShape};
use tt_memory::{BufferId, Device};
use tt_tensix::pack::{self, DstFormat, PackConfig};

use crate::OpError;
use crate::pages;

/// Writes one page image over every page of a buffer.
///
/// `page` is a whole page, or a unit that divides it.
///
/// # Errors
/// Memory errors; a unit that does not divide the page.
pub fn fill(device: &mut Device, output: BufferId, unit: &[u8]) -> Result<(), OpError> {
    let buffer = device.buffer(output)?;
    let bytes = buffer.page_bytes();
    if unit.is_empty() || bytes % unit.len() != 0 {
        let what = format!("a unit of {} B does not divide a page of {bytes} B", unit.len());
        return Err(OpError::Invariant { operator: "fill", what });
    }
    let image = unit.repeat(bytes / unit.len());
    let access = device.access(&[output])?;
    pages::copy_to_each_target(&access, output, |_| &image)
}

/// Copies page i of the input to page i of the output.
///
/// Another placement, the same bytes.
///
/// # Errors
/// Memory errors; differing pages.
pub fn copy_pages(device: &mut Device, input: BufferId, output: BufferId) -> Result<(), OpError> {
    let shape = |id| device.buffer(id).map(|buffer| (buffer.num_pages(), buffer.page_bytes()));
    let (from, to) = (shape(input)?, shape(output)?);
    if from != to {
        let what = format!("input has {} pages of {} B, output {} of {} B", from.0, from.1, to.0, to.1);
        return Err(OpError::Invariant { operator: "copy", what });
    }
    let access = device.access(&[output])?;
    pages::copy_to_all_targets(&access, input, output)
}

/// A value as one datum of the format.
///
/// Of bfloat16 for block floats. Integers take it truncated toward zero and wrapped, floats the nearest value (ties to
/// even).
pub fn word(format: DataFormat, value: f64) -> u32 {
    let single = value as f32;
    match format {
        DataFormat::Int32 | DataFormat::UInt32 => (value as i64) as u32,
        DataFormat::UInt16 => u32::from((value as i64) as u16),
        DataFormat::UInt8 | DataFormat::Int8 => u32::from((value as i64) as u8),
        DataFormat::Fp8E4M3 => tt_formats::host::fp32_to_fp8_e4m3(single.to_bits()),
        _ if format.is_block_float() || format == DataFormat::Float16B => {
            tt_formats::host::fp32_to_bf16(single.to_bits())
        }
        _ => single.to_bits(),
    }
}

/// Bytes of one page unit that holds `value` everywhere.
///
/// A whole tile for block floats, one datum otherwise.
pub fn unit(format: DataFormat, value: f64) -> Vec<u8> {
    if format.is_block_float() {
        let tile = [word(format, value) << 16; 1024];
        let mut bytes = vec![0; format.tile_bytes(TileShape::FULL)];
        pack::pack_tile(&PackConfig::new(DstFormat::Bf16, format), &tile, &mut bytes);
        return bytes;
    }
    word(format, value).to_le_bytes()[..format.element_bytes().unwrap_or(4)].to_vec()
}
