//! Tilize and untilize.
//!
//! A row of tiles at a time, lines of faces from and to rows that are pages.

use tt_cpu::stream::{self, STREAM_BYTES};
use tt_cpu::{Level, simd_kernel};
use tt_formats::TileShape;
use tt_memory::Access;
use tt_memory::access::Output;

use super::datums::{copy_line, flush_bytes};
use super::kernels::{tile_of_16_bit_rows, tile_of_32_bit_rows};
use super::setting::{Setting, datum_format};
use crate::pages::Share;
use crate::{OpError, for_each_page};

/// Returns true for conversions between rows and 32x32 tiles only.
///
/// With one page per row.
pub fn changes_layout(setting: &Setting<'_>) -> bool {
    let Setting { movement, input, output, .. } = setting;
    let mut stride = 1;
    for (&actual, &length) in movement.strides.iter().zip(&movement.output.shape).rev() {
        if actual != stride && length != 1 {
            return false;
        }
        stride *= length as i64;
    }
    let rows = match (input.tile, output.tile) {
        (None, Some(TileShape::FULL)) => input,
        (Some(TileShape::FULL), None) => output,
        _ => return false,
    };
    let plain = movement.input.format == movement.output.format && !movement.output.format.is_block_float();
    let known = datum_format(movement.output.format).element_bytes().is_some_and(|bytes| bytes == 2 || bytes == 4);
    movement.offset == 0
        && movement.input.shape == movement.output.shape
        && plain
        && known
        && movement.fills_output()
        && rows.page_datums == rows.width
}

/// Runs such a movement.
pub fn run(access: &Access<'_>, setting: &Setting<'_>) -> Result<(), OpError> {
    let movement = setting.movement;
    let (shape, tilizes) = (&movement.output.shape, setting.output.tile.is_some());
    let matrices: usize = shape[..shape.len().saturating_sub(2)].iter().product();
    let geometry = if tilizes { &setting.output } else { &setting.input };
    let (input, output) = (access.input(movement.input.buffer)?, access.output(movement.output.buffer)?);
    let past = output.buffer().bytes() >= STREAM_BYTES as u64;
    let flush = setting.flush.then_some(Level::current());
    let block = |tile_row: usize| {
        let first = tile_row % geometry.tile_rows * 32;
        (tile_row / geometry.tile_rows * geometry.height + first, (geometry.height - first).min(32))
    };
    let tile_rows = matrices * geometry.tile_rows;
    if tilizes {
        let tilizer = Tilizer { width: geometry.width, unit: geometry.datum_bytes, padding: movement.padding, flush };
        return for_each_page(
            tile_rows,
            || (Vec::new(), Share),
            |(tile, _), tile_row| {
                let (first, rows) = block(tile_row);
                let sources = (first..first + rows).map(|row| input.page(row)).collect::<Result<Vec<_>, _>>()?;
                tilizer.row_of_tiles(&sources, &output, (tile_row, past), tile)
            },
        );
    }
    for_each_page(
        tile_rows,
        || Share,
        |_, tile_row| {
            let (first, rows) = block(tile_row);
            let mut targets: Vec<&mut [u8]> = output.claim_run(first..first + rows)?.collect();
            let columns = geometry.tile_columns;
            let tiles = (0..columns).map(|column| input.page(tile_row * columns + column));
            untilize_row(&tiles.collect::<Result<Vec<_>, _>>()?, geometry.datum_bytes, geometry.width, &mut targets);
            if let Some(level) = flush {
                for row in targets {
                    flush_kernel::run(level, row);
                }
            }
            Ok(())
        },
    )
}

/// Writes the rows of one row of tiles.
fn untilize_row(tiles: &[&[u8]], unit: usize, width: usize, targets: &mut [&mut [u8]]) {
    for (tile_column, tile) in tiles.iter().enumerate() {
        for (row, target) in targets.iter_mut().enumerate() {
            for column in [0, 16] {
                let at = tile_column * 32 + column;
                if at < width {
                    let datum = TileShape::FULL.index(row, column);
                    copy_line(&mut target[at * unit..], &tile[datum * unit..], (width - at).min(16) * unit);
                }
            }
        }
    }
}

/// Makes tiles of rows.
pub struct Tilizer {
    /// Datums of a row.
    pub width: usize,
    /// Bytes of a datum: 2 or 4.
    pub unit: usize,
    /// The content of rows and columns after the last.
    pub padding: u32,
    /// Datums of bfloat16 pass through `Dst`, on this level of the CPU.
    pub flush: Option<Level>,
}

impl Tilizer {
    /// Writes the tiles of up to 32 rows, optionally past caches.
    ///
    /// `tile` is a place to make one in.
    ///
    /// # Errors
    /// Memory errors.
    pub fn row_of_tiles(
        &self,
        rows: &[&[u8]],
        output: &Output<'_>,
        (tile_row, past): (usize, bool),
        tile: &mut Vec<u8>,
    ) -> Result<(), OpError> {
        let columns = self.width.div_ceil(32);
        let targets = output.claim_run(tile_row * columns..(tile_row + 1) * columns)?;
        tile.resize(1024 * self.unit, 0);
        for (tile_column, target) in targets.enumerate() {
            // The CPU does not see so many rows coming.
            for row in rows {
                stream::prefetch(row, (tile_column + 4) * 32 * self.unit);
            }
            if past {
                self.tile(rows, tile_column, tile);
                stream::copy(target, tile);
            } else {
                self.tile(rows, tile_column, target);
            }
        }
        Ok(())
    }

    fn tile(&self, rows: &[&[u8]], tile_column: usize, tile: &mut [u8]) {
        let (first, unit) = (tile_column * 32, self.unit);
        let columns = (self.width - first).min(32);
        if rows.len() == 32 && columns == 32 {
            let (level, flush) = (self.flush.unwrap_or(Level::current()), self.flush.is_some());
            return match unit {
                2 => tile_of_16_bit_rows::run(level, rows, 2 * first, flush, tile),
                _ => tile_of_32_bit_rows::run(level, rows, 4 * first, flush, tile),
            };
        }
        match unit {
            2 => tile.as_chunks_mut().0.fill((self.padding as u16).to_le_bytes()),
            _ => tile.as_chunks_mut().0.fill(self.padding.to_le_bytes()),
        }
        for (row, source) in rows.iter().enumerate() {
            for column in (0..columns).step_by(16) {
                let line = &mut tile[TileShape::FULL.index(row, column) * unit..];
                copy_line(line, &source[(first + column) * unit..], (columns - column).min(16) * unit);
            }
        }
        let Some(level) = self.flush else { return };
        for row in 0..rows.len() {
            for column in (0..columns).step_by(16) {
                let at = TileShape::FULL.index(row, column) * unit;
                flush_kernel::run(level, &mut tile[at..at + (columns - column).min(16) * unit]);
            }
        }
    }
}

simd_kernel!(flush_kernel, super::flush_bytes, (bytes: &mut [u8]));
