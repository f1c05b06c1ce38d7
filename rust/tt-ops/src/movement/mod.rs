//! Data movement as an affine map from output to input indices.
//!
//! Every operator that gives datums another place (slice, pad, permute, reshape, tilize, untilize) is one, between any
//! two layouts.

mod by_datum;
mod datums;
mod flat;
mod kernels;
mod layout_change;
mod packing;
mod permute;
mod plan;
mod row_copy;
mod setting;
mod tile_copy;

use tt_cpu::Level;
use tt_formats::{DataFormat, TileShape};
use tt_memory::Device;

use crate::OpError;
use plan::Plan;
use setting::{Setting, datum_format};

pub use kernels::HALVES;
pub use layout_change::Tilizer;
pub use setting::{Movement, Packed, View};

/// Makes a tile of bfloat16 of 32 rows, from byte `at` of each; datums pass through `Dst`.
pub(crate) fn tile_of_rows(level: Level, rows: &[&[u8]], at: usize, tile: &mut [u8; HALVES]) {
    kernels::tile_of_16_bit_rows::run(level, rows, at, true, tile);
}

/// Copies a tile of bfloat16; datums pass through `Dst`.
pub(crate) fn flush_tile(level: Level, from: &[u8], tile: &mut [u8; HALVES]) {
    tile.copy_from_slice(&from[..HALVES]);
    layout_change::flush_kernel::run(level, tile);
}

/// Runs the movement.
///
/// # Errors
/// Memory errors; formats that would need arithmetic; positions outside the input.
pub fn move_datums(device: &mut Device, movement: &Movement) -> Result<(), OpError> {
    let refuse = |what: String| Err(OpError::Invariant { operator: "move", what });
    let (input, output) = (&movement.input, &movement.output);
    if datum_format(input.format) != datum_format(output.format) {
        return refuse(format!("{:?} to {:?} is not a movement", input.format, output.format));
    }
    let rank = output.shape.len();
    if movement.strides.len() != rank || movement.window.len() != rank {
        return refuse(format!("strides and window need {rank} entries"));
    }
    let volume: i64 = input.shape.iter().product::<usize>() as i64;
    let empty = movement.window.iter().any(|window| window.1 == 0);
    let (mut low, mut high) = (movement.offset, movement.offset);
    for (stride, window) in movement.strides.iter().zip(&movement.window) {
        let reach = stride * (window.1 as i64 - 1);
        (low, high) = (low + reach.min(0), high + reach.max(0));
    }
    if !empty && (low < 0 || high >= volume) {
        return refuse(format!("positions {low}..={high} leave an input of {volume} datums"));
    }
    let setting = Setting::new(device, movement)?;
    let full_halves = output.format == DataFormat::Float16B && output.tile == Some(TileShape::FULL);
    if movement.packed.is_some() && (setting.half_packer.is_none() || !full_halves) {
        return refuse(format!("tiles {:?} of {:?} to {:?}", output.tile, output.format, movement.packed));
    }
    let plan = Plan::new(&setting, empty);
    plan.run(&device.access(&[output.buffer])?, &setting)
}
