//! Row copies: movements of face lines between 32x32 tiles.
//!
//! A line of a face is a line of some other face, or padding.

use std::array::from_fn;

use tt_cpu::Level;
use tt_formats::{DataFormat, TileShape};
use tt_memory::Access;
use tt_tensix::pack;
use tt_tensix::tile_io::Tile;
use tt_tensix::unpack::{Bf16Page, BlockFloatDecoder};

use super::datums::{Decode, copy_line, decoded, flush_bytes, flushed};
use super::setting::{Geometry, LINE, Movement, SIDE, Setting};
use crate::OpError;

/// A movement of this kind.
pub struct RowCopy {
    /// Input row of the first output row, and the first column of both.
    first_row: usize,
    first_column: usize,
    /// Input rows per step of each output dimension but the last.
    strides: Vec<i64>,
    /// How lines of block floats are read, and tiles of them if they have plain numbers only.
    decode: Option<Decode>,
    decoder: Option<BlockFloatDecoder>,
}

impl RowCopy {
    /// Recognises the movement.
    pub fn new(movement: &Movement) -> Option<Self> {
        let (input, output) = (&movement.input, &movement.output);
        let full = Some(TileShape::FULL);
        let (rank, width) = (output.shape.len(), *input.shape.last()?);
        if rank < 2 || input.shape.len() < 2 || (input.tile, output.tile) != (full, full) {
            return None;
        }
        let last = rank - 1;
        let first = usize::try_from(movement.offset).ok()?;
        let keeps_rows = movement.strides[last] == 1
            && movement.window[last] == (0, output.shape[last])
            && width > 0
            && (first % width).is_multiple_of(LINE)
            && first % width + output.shape[last] <= width;
        // Block floats that leave their groups become bfloat16.
        let unpacked = input.format.is_block_float() && output.format == DataFormat::Float16B;
        if !keeps_rows || input.format != output.format && !unpacked {
            return None;
        }
        let decode: Option<Decode> = match input.format {
            DataFormat::Bfp8B => Some(decoded::<8>),
            DataFormat::Bfp4B => Some(decoded::<4>),
            format if format.is_block_float() => return None,
            _ => None,
        };
        // A dimension of one index has no steps.
        let strides = movement.strides[..last].iter().zip(&output.shape).map(|(&stride, &length)| match length {
            0 | 1 => Some(0),
            _ => (stride % width as i64 == 0).then_some(stride / width as i64),
        });
        let strides = strides.collect::<Option<Vec<_>>>()?;
        let decoder = BlockFloatDecoder::new(input.format, Level::current());
        Some(Self { first_row: first / width, first_column: first % width, strides, decode, decoder })
    }

    /// Writes an output page.
    pub fn page(
        &self,
        access: &Access<'_>,
        setting: &Setting<'_>,
        page: usize,
        tile: &mut Tile,
        bytes: &mut [u8],
    ) -> Result<(), OpError> {
        let Setting { movement, input, output, flush, .. } = setting;
        let rows = self.rows(movement, output, page);
        let first = page % output.tile_columns * SIDE;
        let columns = output.width.saturating_sub(first).min(SIDE);
        let (unit, packed) = (output.datum_bytes, movement.output.format.is_block_float());
        if let (Some(decoder), Ok(halves)) = (self.decoder, <&mut Bf16Page>::try_from(&mut *bytes))
            && let Some(source) = self.tile(&rows, first, input)
            && decoder.decode(access.page(movement.input.buffer, source)?, halves)
        {
            if *flush {
                flush_bytes(halves);
            }
            pad(halves, &rows, columns, (movement.padding as u16).to_le_bytes());
            return Ok(());
        }
        if packed {
            tile.fill(movement.padding << 16);
        } else if columns < SIDE || rows.iter().any(Option::is_none) {
            match unit {
                1 => bytes.fill(movement.padding as u8),
                2 => bytes.as_chunks_mut().0.fill((movement.padding as u16).to_le_bytes()),
                _ => bytes.as_chunks_mut().0.fill(movement.padding.to_le_bytes()),
            }
        }
        for (row, source) in rows.iter().enumerate() {
            let Some(source) = source else { continue };
            let (matrix, line) = (source / input.height, source % input.height);
            let first_page = (matrix * input.tile_rows + line / SIDE) * input.tile_columns;
            for face in (0..columns).step_by(LINE) {
                let count = (columns - face).min(LINE);
                let column = self.first_column + first + face;
                let from = access.page(movement.input.buffer, first_page + column / SIDE)?;
                let (to, at) = (TileShape::FULL.index(row, face), TileShape::FULL.index(line % SIDE, column % SIDE));
                let Some(decode) = self.decode else {
                    let datums = &mut bytes[to * unit..(to + count) * unit];
                    copy_line(datums, &from[at * unit..], count * unit);
                    if *flush {
                        flush_bytes(datums);
                    }
                    continue;
                };
                let words = decode(from, at);
                let words = if *flush { words.map(flushed) } else { words };
                if packed {
                    for (word, &datum) in tile[to..to + count].iter_mut().zip(&words) {
                        *word = u32::from(datum) << 16;
                    }
                } else {
                    for (word, datum) in bytes.as_chunks_mut().0[to..to + count].iter_mut().zip(words) {
                        *word = datum.to_le_bytes();
                    }
                }
            }
        }
        if packed {
            pack::pack_tile(&setting.packer, tile, bytes);
        }
        Ok(())
    }

    /// The input tile whose rows are those of an output tile that are not padding, if it is one.
    fn tile(&self, rows: &[Option<usize>; SIDE], first: usize, input: &Geometry) -> Option<usize> {
        let column = self.first_column + first;
        let mut sources = rows.iter().enumerate().filter_map(|(row, source)| Some((row, (*source)?)));
        // Behind row 0 of that tile there are the others.
        let (row, source) = sources.next()?;
        let top = source.checked_sub(row)?;
        let (matrix, line) = (top / input.height, top % input.height);
        let end = (matrix + 1) * input.height;
        let keeps = source < end && sources.all(|(row, source)| source == top + row && source < end);
        let aligned = column.is_multiple_of(SIDE) && line.is_multiple_of(SIDE);
        let page = (matrix * input.tile_rows + line / SIDE) * input.tile_columns + column / SIDE;
        (keeps && aligned).then_some(page)
    }

    /// The input row of each row of an output tile; `None` for padding.
    fn rows(&self, movement: &Movement, output: &Geometry, page: usize) -> [Option<usize>; SIDE] {
        let (first, matrix) =
            (page / output.tile_columns % output.tile_rows * SIDE, page / output.tile_columns / output.tile_rows);
        let axes = self.strides.len() - 1;
        let (mut start, mut rest, mut inside) = (self.first_row as i64, matrix, true);
        for axis in (0..axes).rev() {
            let length = movement.output.shape[axis];
            let (begin, count) = movement.window[axis];
            let index = rest % length;
            rest /= length;
            inside &= (begin..begin + count).contains(&index);
            start += (index as i64 - begin as i64) * self.strides[axis];
        }
        let (begin, count) = movement.window[axes];
        from_fn(|row| {
            let row = first + row;
            let inside = inside && (begin..begin + count).contains(&row);
            inside.then(|| (start + (row as i64 - begin as i64) * self.strides[axes]) as usize)
        })
    }
}

/// Writes padding beside the columns and to the rows of a tile that have no source.
fn pad(page: &mut Bf16Page, rows: &[Option<usize>; SIDE], columns: usize, word: [u8; 2]) {
    let datums = page.as_chunks_mut::<2>().0;
    for (row, source) in rows.iter().enumerate() {
        let used = if source.is_some() { columns } else { 0 };
        for face in [0, LINE] {
            let line = &mut datums[TileShape::FULL.index(row, face)..][..LINE];
            line[used.saturating_sub(face).min(LINE)..].fill(word);
        }
    }
}
