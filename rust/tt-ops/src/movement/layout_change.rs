//! Tilize and untilize: a row of tiles at a time, lines of faces from and to rows that are pages.

use tt_formats::TileShape;
use tt_memory::Access;

use super::by_datum::Scratch;
use super::datums::{copy_line, flush_bytes};
use super::setting::{Setting, datum_format};
use crate::{OpError, for_each_page};

/// Whether the movement only changes between rows and 32 x 32 tiles, one page per row.
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
    let (shape, tilizes) = (&setting.movement.output.shape, setting.output.tile.is_some());
    let matrices: usize = shape[..shape.len().saturating_sub(2)].iter().product();
    let tile_rows = if tilizes { setting.output.tile_rows } else { setting.input.tile_rows };
    for_each_page(matrices * tile_rows, Scratch::new, |scratch, tile_row| {
        if tilizes { tilize_rows(access, setting, tile_row, scratch) } else { untilize_rows(access, setting, tile_row) }
    })
}

/// Writes the rows of one row of tiles.
fn untilize_rows(access: &Access<'_>, setting: &Setting<'_>, tile_row: usize) -> Result<(), OpError> {
    let Setting { movement, input: geometry, flush, .. } = setting;
    let (matrix, block) = (tile_row / geometry.tile_rows, tile_row % geometry.tile_rows);
    let unit = geometry.datum_bytes;
    let rows = (geometry.height - block * 32).min(32);
    let first = matrix * geometry.height + block * 32;
    let output = access.output(movement.output.buffer)?;
    let mut targets = (first..first + rows).map(|row| output.claim(row)).collect::<Result<Vec<_>, _>>()?;
    for tile_column in 0..geometry.tile_columns {
        let bytes = access.page(movement.input.buffer, tile_row * geometry.tile_columns + tile_column)?;
        for (row, target) in targets.iter_mut().enumerate() {
            for column in [0, 16] {
                let at = tile_column * 32 + column;
                if at < geometry.width {
                    let datum = TileShape::FULL.index(row, column);
                    let count = (geometry.width - at).min(16);
                    copy_line(&mut target[at * unit..], &bytes[datum * unit..], count * unit);
                }
            }
        }
    }
    if *flush {
        targets.into_iter().for_each(flush_bytes);
    }
    Ok(())
}

/// Writes one row of tiles; those with padding datum by datum.
fn tilize_rows(
    access: &Access<'_>,
    setting: &Setting<'_>,
    tile_row: usize,
    scratch: &mut Scratch,
) -> Result<(), OpError> {
    let Setting { movement, output: geometry, flush, .. } = setting;
    let (matrix, block) = (tile_row / geometry.tile_rows, tile_row % geometry.tile_rows);
    let unit = geometry.datum_bytes;
    let full_columns = if (block + 1) * 32 <= geometry.height { geometry.width / 32 } else { 0 };
    let first = matrix * geometry.height + block * 32;
    let input = access.input(movement.input.buffer)?;
    let rows = if full_columns == 0 { first..first } else { first..first + 32 };
    let sources = rows.map(|row| input.page(row)).collect::<Result<Vec<_>, _>>()?;
    for tile_column in 0..geometry.tile_columns {
        let page = tile_row * geometry.tile_columns + tile_column;
        if tile_column >= full_columns {
            setting.page(access, page, scratch, access.claim(movement.output.buffer, page)?)?;
            continue;
        }
        let target = access.claim(movement.output.buffer, page)?;
        for (row, source) in sources.iter().enumerate() {
            for column in [0, 16] {
                let (datum, at) = (TileShape::FULL.index(row, column), tile_column * 32 + column);
                copy_line(&mut target[datum * unit..], &source[at * unit..], 16 * unit);
            }
        }
        if *flush {
            flush_bytes(target);
        }
    }
    Ok(())
}
