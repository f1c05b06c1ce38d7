//! The definition of a movement: the place of every datum is computed.
//!
//! It moves what no copy does.

use tt_formats::format::GROUP;
use tt_formats::{DataFormat, TileShape};
use tt_memory::Access;
use tt_tensix::pack;
use tt_tensix::tile_io::{Tile, ZERO};
use tt_tensix::unpack;

use super::datums::{flushed, load_words, store_words};
use super::setting::Setting;
use crate::OpError;

/// Buffers of a worker.
pub struct Scratch {
    /// Recently decoded block-float tiles.
    decoded: Vec<(usize, Tile)>,
    tile: Tile,
    row: Vec<u32>,
    /// The bytes of a full tile.
    whole: Vec<u8>,
}

/// Copies the datums that both tiles of block floats have: those of equal places in memory order.
fn copy_tile(format: DataFormat, (from, shape): (&[u8], TileShape), (to, target): (&mut [u8], TileShape)) {
    let [first, second] = [shape, target].map(|shape| format.exponent_bytes(shape));
    let groups = shape.datums().min(target.datums()) / GROUP;
    let bytes = (format.tile_bytes(shape) - first).min(format.tile_bytes(target) - second);
    to[..groups].copy_from_slice(&from[..groups]);
    to[second..second + bytes].copy_from_slice(&from[first..first + bytes]);
}

impl Scratch {
    pub fn new() -> Self {
        Self { decoded: vec![(usize::MAX, ZERO); 8], tile: ZERO, row: Vec::new(), whole: Vec::new() }
    }
}

impl Setting<'_> {
    /// Writes an output page.
    pub fn page(
        &self,
        access: &Access<'_>,
        page: usize,
        scratch: &mut Scratch,
        target: &mut [u8],
    ) -> Result<(), OpError> {
        let geometry = &self.output;
        let Scratch { decoded, tile: datums, row: words, whole } = scratch;
        let Some(tile) = geometry.tile else {
            words.resize(geometry.page_datums, 0);
            let (row, first) = (page / geometry.pages_per_row, page % geometry.pages_per_row * geometry.page_datums);
            self.row(access, row, first, words, decoded)?;
            store_words(words, geometry.datum_bytes, target);
            return Ok(());
        };
        let (tile_column, tile_row) = (page % geometry.tile_columns, page / geometry.tile_columns % geometry.tile_rows);
        let matrix = page / geometry.tile_columns / geometry.tile_rows;
        words.resize(tile.width(), 0);
        for row in 0..tile.height() {
            let logical = tile_row * tile.height() + row;
            if logical < geometry.height {
                let row = matrix * geometry.height + logical;
                self.row(access, row, tile_column * tile.width(), words, decoded)?;
            } else {
                words.fill(self.movement.padding);
            }
            let face = tile.width().min(16);
            for (part, words) in words.chunks_exact(face).enumerate() {
                let datum = tile.index(row, part * face);
                if self.movement.output.format.is_block_float() {
                    for (value, word) in datums[datum..].iter_mut().zip(words) {
                        *value = word << 16;
                    }
                } else {
                    let bytes = datum * geometry.datum_bytes;
                    store_words(words, geometry.datum_bytes, &mut target[bytes..bytes + face * geometry.datum_bytes]);
                }
            }
        }
        let format = self.movement.output.format;
        if format.is_block_float() {
            if tile == TileShape::FULL {
                pack::pack_tile(&self.packer, datums, target);
            } else {
                datums[tile.datums()..].fill(0);
                whole.resize(format.tile_bytes(TileShape::FULL), 0);
                pack::pack_tile(&self.packer, datums, whole);
                copy_tile(format, (whole, TileShape::FULL), (target, tile));
            }
        }
        Ok(())
    }

    /// Datums `first..first + words.len()` of one output row (rows count over all leading dimensions).
    fn row(
        &self,
        access: &Access<'_>,
        row: usize,
        first: usize,
        words: &mut [u32],
        decoded: &mut [(usize, Tile)],
    ) -> Result<(), OpError> {
        let movement = self.movement;
        words.fill(movement.padding);
        let rank = movement.output.shape.len();
        let mut position = movement.offset;
        let mut rest = row;
        for axis in (0..rank.saturating_sub(1)).rev() {
            let index = rest % movement.output.shape[axis];
            rest /= movement.output.shape[axis];
            let (start, length) = movement.window[axis];
            if index < start || index >= start + length {
                return Ok(());
            }
            position += (index - start) as i64 * movement.strides[axis];
        }
        let (start, length, stride) = match rank {
            0 => (0, 1, 1),
            _ => (movement.window[rank - 1].0, movement.window[rank - 1].1, movement.strides[rank - 1]),
        };
        let begin = start.max(first);
        let end = (start + length).min(first + words.len());
        if begin < end {
            let run = &mut words[begin - first..end - first];
            self.read(access, position + (begin - start) as i64 * stride, stride, run, decoded)?;
            if self.flush {
                for word in run {
                    *word = flushed(*word as u16).into();
                }
            }
        }
        Ok(())
    }

    /// Fills `out` with the datums at `position`, `position + stride`, ...
    fn read(
        &self,
        access: &Access<'_>,
        position: i64,
        stride: i64,
        out: &mut [u32],
        decoded: &mut [(usize, Tile)],
    ) -> Result<(), OpError> {
        let width = self.input.width;
        let mut done = 0;
        while done < out.len() {
            let at = (position + stride * done as i64) as usize;
            let (row, column) = (at / width, at % width);
            let run = if stride == 1 { (width - column).min(out.len() - done) } else { 1 };
            let count = self.run(access, row, column, &mut out[done..done + run], decoded)?;
            done += count;
        }
        Ok(())
    }

    /// Reads as many datums of a row as lie side by side in memory; returns how many.
    fn run(
        &self,
        access: &Access<'_>,
        row: usize,
        column: usize,
        out: &mut [u32],
        decoded: &mut [(usize, Tile)],
    ) -> Result<usize, OpError> {
        let geometry = &self.input;
        let (page, datum, beside) = match geometry.tile {
            None => {
                let page = row * geometry.pages_per_row + column / geometry.page_datums;
                (page, column % geometry.page_datums, geometry.page_datums - column % geometry.page_datums)
            }
            Some(tile) => {
                let (matrix, row) = (row / geometry.height, row % geometry.height);
                let page =
                    (matrix * geometry.tile_rows + row / tile.height()) * geometry.tile_columns + column / tile.width();
                let face = tile.width().min(16);
                let datum = tile.index(row % tile.height(), column % tile.width());
                (page, datum, face - column % face)
            }
        };
        let count = beside.min(out.len());
        let out = &mut out[..count];
        if self.movement.input.format.is_block_float() {
            let slot = &mut decoded[page % 8];
            if slot.0 != page {
                let format = self.movement.input.format;
                let bytes = access.page(self.movement.input.buffer, page)?;
                match geometry.tile {
                    Some(tile) if tile != TileShape::FULL => {
                        let mut whole = vec![0; format.tile_bytes(TileShape::FULL)];
                        copy_tile(format, (bytes, tile), (&mut whole, TileShape::FULL));
                        unpack::to_src(format, format, &whole, &mut slot.1);
                    }
                    _ => unpack::to_src(format, format, bytes, &mut slot.1),
                }
                slot.0 = page;
            }
            for (word, value) in out.iter_mut().zip(&slot.1[datum..]) {
                *word = value >> 3;
            }
            return Ok(count);
        }
        let bytes = &access.page(self.movement.input.buffer, page)?[datum * geometry.datum_bytes..];
        load_words(bytes, geometry.datum_bytes, out);
        Ok(count)
    }
}
