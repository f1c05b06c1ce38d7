//! Movements of short rows.
//!
//! The input is read into one array first, from which every datum is one load.

use std::ops::Range;

use bytemuck::Pod;
use tt_cpu::Level;
use tt_formats::TileShape;
use tt_memory::Access;

use super::layout_change::flush_kernel;
use super::setting::{Geometry, LINE, SIDE, Setting};
use crate::{OpError, for_each_page};

/// Largest input in bytes: an array that stays in the caches.
const LARGEST: usize = 1 << 22;

/// Bytes of row-major pages that are written together.
const PIECE: usize = 4096;

/// A movement of this kind.
pub struct Flat {
    offset: i64,
    /// Length and stride of the output's dimensions, those that one stride serves being one.
    dimensions: Vec<(usize, i64)>,
    /// Datums of the input.
    volume: usize,
}

impl Flat {
    /// Recognises the movement.
    ///
    /// Plain datums of 2 or 4 bytes in full tiles or full rows, all of the output.
    pub fn new(setting: &Setting<'_>) -> Option<Self> {
        let Setting { movement, input, output, .. } = setting;
        let volume = movement.input.shape.iter().product::<usize>();
        let plain = movement.input.format == movement.output.format && !movement.output.format.is_block_float();
        let known = [input, output].into_iter().all(|side| match side.tile {
            None => side.page_datums == side.width,
            tile => tile == Some(TileShape::FULL),
        });
        let fits = matches!(output.datum_bytes, 2 | 4) && volume * output.datum_bytes <= LARGEST;
        if !(plain && known && fits && movement.packed.is_none() && movement.fills_output()) {
            return None;
        }
        let mut dimensions: Vec<(usize, i64)> = Vec::new();
        for (&length, &stride) in movement.output.shape.iter().zip(&movement.strides).filter(|&(&length, _)| length > 1)
        {
            match dimensions.last_mut() {
                Some(last) if last.1 == stride * length as i64 => *last = (last.0 * length, stride),
                _ => dimensions.push((length, stride)),
            }
        }
        Some(Self { offset: movement.offset, dimensions, volume })
    }

    /// Returns true if lines of the rows would be short.
    pub fn is_narrow(setting: &Setting<'_>) -> bool {
        setting.input.width.min(setting.output.width) < LINE
    }

    /// Carries the movement out.
    pub fn run(&self, access: &Access<'_>, setting: &Setting<'_>) -> Result<(), OpError> {
        match setting.output.datum_bytes {
            2 => self.of_datums::<u16>(access, setting, setting.movement.padding as u16),
            _ => self.of_datums::<u32>(access, setting, setting.movement.padding),
        }
    }

    fn of_datums<T: Pod + Send + Sync>(
        &self,
        access: &Access<'_>,
        setting: &Setting<'_>,
        padding: T,
    ) -> Result<(), OpError> {
        let output = &setting.output;
        let source = self.read::<T>(access, setting)?;
        let target = access.output(setting.movement.output.buffer)?;
        let pages = target.buffer().num_pages();
        let level = Level::current();
        let finish = |datums: &mut [T]| {
            // Datums are little-endian in memory, as they were read.
            if setting.flush {
                flush_kernel::run(level, bytemuck::cast_slice_mut(datums));
            }
        };
        if output.tile.is_none() {
            let together = (PIECE / (output.page_datums * size_of::<T>())).max(1);
            return for_each_page(pages.div_ceil(together), Vec::new, |datums: &mut Vec<T>, group| {
                let run = group * together..pages.min((group + 1) * together);
                datums.resize(run.len() * output.page_datums, padding);
                self.gather(&source, run.start * output.page_datums, datums);
                finish(datums);
                target.claim_joined(run)?.write(bytemuck::cast_slice(datums));
                Ok(())
            });
        }
        for_each_page(
            pages,
            || [padding; SIDE * SIDE],
            |tile, page| {
                tile.fill(padding);
                for (number, (row, columns)) in rows_of_tile(output, page).enumerate() {
                    for column in columns.clone().step_by(LINE) {
                        let at = TileShape::FULL.index(number, column % SIDE);
                        let count = (columns.end - column).min(LINE);
                        let line = &mut tile[at..at + count];
                        self.gather(&source, row * output.width + column, line);
                        finish(line);
                    }
                }
                target.claim(page)?.copy_from_slice(bytemuck::cast_slice(tile));
                Ok(())
            },
        )
    }

    /// Returns the input's datums in row-major order.
    fn read<T: Pod>(&self, access: &Access<'_>, setting: &Setting<'_>) -> Result<Vec<T>, OpError> {
        let input = &setting.input;
        let pages = access.input(setting.movement.input.buffer)?.all()?;
        let count = access.buffer(setting.movement.input.buffer)?.num_pages();
        let mut datums = vec![T::zeroed(); self.volume];
        if input.tile.is_none() {
            pages.read(0..count, bytemuck::cast_slice_mut(&mut datums));
            return Ok(datums);
        }
        for page in 0..count {
            let tile = pages.page(page);
            for (number, (row, columns)) in rows_of_tile(input, page).enumerate() {
                for column in columns.clone().step_by(LINE) {
                    let at = TileShape::FULL.index(number, column % SIDE) * size_of::<T>();
                    let first = row * input.width + column;
                    let line = &mut datums[first..first + (columns.end - column).min(LINE)];
                    let bytes = size_of_val(line);
                    bytemuck::cast_slice_mut(line).copy_from_slice(&tile[at..at + bytes]);
                }
            }
        }
        Ok(datums)
    }

    /// Fills `out` with the output's datums in row-major order, from one on.
    fn gather<T: Copy>(&self, source: &[T], first: usize, out: &mut [T]) {
        let Some((&(length, stride), outer)) = self.dimensions.split_last() else {
            return out.fill(source[self.offset as usize]);
        };
        let (mut index, mut rest, mut done) = (first % length, first / length, 0);
        while done < out.len() {
            let mut position = self.offset + index as i64 * stride;
            let mut number = rest;
            for &(length, stride) in outer.iter().rev() {
                position += (number % length) as i64 * stride;
                number /= length;
            }
            let run = (length - index).min(out.len() - done);
            let part = &mut out[done..done + run];
            if stride == 1 {
                part.copy_from_slice(&source[position as usize..][..run]);
            } else {
                for (datum, step) in part.iter_mut().zip(0..) {
                    *datum = source[(position + step * stride) as usize];
                }
            }
            (index, rest, done) = (0, rest + 1, done + run);
        }
    }
}

/// The rows that have datums in a tile, by their numbers over all leading dimensions, and the columns.
fn rows_of_tile(side: &Geometry, page: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
    let (tile_column, tile_row) = (page % side.tile_columns, page / side.tile_columns % side.tile_rows);
    let matrix = page / side.tile_columns / side.tile_rows;
    let columns = tile_column * SIDE..side.width.min((tile_column + 1) * SIDE);
    let rows = tile_row * SIDE..side.height.min((tile_row + 1) * SIDE);
    let first = matrix * side.height;
    rows.map(move |row| (first + row, columns.clone()))
}
