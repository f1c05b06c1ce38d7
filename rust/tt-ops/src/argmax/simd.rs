//! The search of many lines side by side.
//!
//! Whole tiles, or whole rows, are compared with the best so far at each place.
//!
//! A place keeps the largest key and the number of the tile or row that it came from; of equal keys the first one
//! stays. Lines that run along a tile's or a row's own datums are joined in the end, by key and then by index.

use std::array::from_fn;
use std::ops::Range;

use tt_cpu::{Level, simd_kernel, stream};
use tt_formats::{DataFormat, TileShape, tile::FACE_SIDE};
use tt_memory::access::Input;
use tt_memory::{Access, BufferId};

use super::program::ArgmaxProgram;
use crate::{OpError, for_each_page};

/// Places that are searched side by side in a line of a row.
const LANES: usize = 64;

/// How datums become keys, `i32`s in the order of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    BFloat16,
    Float32,
    Int32,
    UInt32,
    UInt16,
}

impl Keys {
    /// `None` for formats that are not searched.
    pub fn of(format: DataFormat) -> Option<Self> {
        Some(match format {
            DataFormat::Float16B => Self::BFloat16,
            DataFormat::Float32 => Self::Float32,
            DataFormat::Int32 => Self::Int32,
            DataFormat::UInt32 => Self::UInt32,
            DataFormat::UInt16 => Self::UInt16,
            _ => return None,
        })
    }

    /// The place of a datum in the order.
    ///
    /// NaN above all, both zeros equal.
    #[inline(always)]
    pub fn key(self, word: u32) -> i32 {
        let bits = match self {
            Self::Int32 => return word as i32,
            Self::UInt32 => return (word ^ 1 << 31) as i32,
            Self::UInt16 => return (word & 0xffff) as i32,
            Self::BFloat16 => word << 16,
            Self::Float32 => word,
        };
        let magnitude = (bits & 0x7fff_ffff) as i32;
        let signed = if bits >> 31 == 1 { -magnitude } else { magnitude };
        if magnitude > 0x7f80_0000 { i32::MAX } else { signed }
    }
}

#[inline(always)]
fn compare<const BYTES: usize>(kind: Keys, data: &[u8], number: u32, keys: &mut [i32], numbers: &mut [u32]) {
    let places = keys.iter_mut().zip(numbers);
    for (datum, (best, from)) in data.as_chunks::<BYTES>().0.iter().zip(places) {
        let mut word = [0; 4];
        word[..BYTES].copy_from_slice(datum);
        let key = kind.key(u32::from_le_bytes(word));
        let better = key > *best;
        *best = if better { key } else { *best };
        *from = if better { number } else { *from };
    }
}

#[inline(always)]
fn take_body(kind: Keys, data: &[u8], number: u32, keys: &mut [i32], numbers: &mut [u32]) {
    // Each kind is compiled for itself.
    match kind {
        Keys::BFloat16 => compare::<2>(Keys::BFloat16, data, number, keys, numbers),
        Keys::Float32 => compare::<4>(Keys::Float32, data, number, keys, numbers),
        Keys::Int32 => compare::<4>(Keys::Int32, data, number, keys, numbers),
        Keys::UInt32 => compare::<4>(Keys::UInt32, data, number, keys, numbers),
        Keys::UInt16 => compare::<2>(Keys::UInt16, data, number, keys, numbers),
    }
}

simd_kernel!(take_kernel, super::take_body, (kind: Keys, data: &[u8], number: u32, keys: &mut [i32], numbers: &mut [u32]));

/// The best so far at each place.
struct Best {
    kind: Keys,
    level: Level,
    keys: Vec<i32>,
    numbers: Vec<u32>,
}

impl Best {
    fn new(kind: Keys, places: usize) -> Self {
        Self { kind, level: Level::current(), keys: vec![i32::MIN; places], numbers: vec![0; places] }
    }

    /// No datum has been seen: the first one stays if all others are as low as can be.
    fn clear(&mut self) {
        self.keys.fill(i32::MIN);
        self.numbers.fill(0);
    }

    /// Compares the datums of tile or row `number` with the places from `first` on.
    fn take(&mut self, first: usize, data: &[u8], number: usize) {
        take_kernel::run(
            self.level,
            self.kind,
            data,
            number as u32,
            &mut self.keys[first..],
            &mut self.numbers[first..],
        );
    }

    /// Compares what a tile has in its first rows and columns.
    fn take_part(&mut self, data: &[u8], number: usize, [rows, columns]: [usize; 2]) {
        if rows >= 32 && columns >= 32 {
            return self.take(0, data, number);
        }
        let bytes = data.len() / 1024;
        for face in 0..4 {
            let rows = rows.saturating_sub(face / 2 * FACE_SIDE).min(FACE_SIDE);
            let columns = columns.saturating_sub(face % 2 * FACE_SIDE).min(FACE_SIDE);
            let (lines, datums) =
                if columns == FACE_SIDE { (usize::from(rows > 0), rows * columns) } else { (rows, columns) };
            for line in 0..lines {
                let first = face * FACE_SIDE * FACE_SIDE + line * FACE_SIDE;
                self.take(first, &data[first * bytes..(first + datums) * bytes], number);
            }
        }
    }

    /// The index of the best datum of a line that runs through several places, one after the other from the number on.
    fn join(&self, places: impl Iterator<Item = usize>) -> u32 {
        let found = places.enumerate().map(|(offset, place)| (self.keys[place], self.numbers[place] + offset as u32));
        // Places that no datum was compared with have the lowest key and an index that is not the first one's.
        let best =
            found.reduce(|best, next| if next.0 > best.0 || next.0 == best.0 && next.1 < best.1 { next } else { best });
        best.map_or(0, |best| best.1)
    }
}

/// A search of this kind.
pub(super) struct SimdSearch<'a, 'd> {
    kind: Keys,
    bytes: usize,
    access: &'a Access<'d>,
    input: Input<'a>,
    output: BufferId,
    output_pages: usize,
    /// What lies outside the searched dimension, and its length.
    outer: usize,
    length: usize,
    /// Matrices inside the searched dimension.
    matrices: usize,
    height: usize,
    width: usize,
    place: Place,
    tiled: bool,
    /// Indices of an output page.
    per_page: usize,
}

/// Which dimension is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Columns,
    Rows,
    Leading,
    /// All of them, as one line in row-major order.
    All,
}

impl<'a, 'd> SimdSearch<'a, 'd> {
    /// Recognises a search with an output page per index row, or index.
    ///
    /// It is a search along a dimension.
    ///
    /// # Errors
    /// Buffers that are gone.
    pub fn new(
        kind: Keys,
        program: &ArgmaxProgram,
        access: &'a Access<'d>,
        [input, output]: [BufferId; 2],
    ) -> Result<Option<Self>, OpError> {
        let [pages_in, pages_out] = [access.buffer(input)?, access.buffer(output)?];
        let shape = &program.shape;
        let dim = program.dim.unwrap_or(shape.len().saturating_sub(1));
        let Some(bytes) = program.format.element_bytes() else { return Ok(None) };
        let (rank, width) = (shape.len(), shape.last().copied().unwrap_or(1));
        let height = if rank >= 2 { shape[rank - 2] } else { 1 };
        let place = match rank.saturating_sub(1) - dim {
            _ if program.dim.is_none() => Place::All,
            0 => Place::Columns,
            1 => Place::Rows,
            _ => Place::Leading,
        };
        let matrices = if place == Place::Leading { shape[dim + 1..rank - 2].iter().product() } else { 1 };
        let outer = shape[..dim.min(rank.saturating_sub(2))].iter().product();
        let per_page = pages_out.page_bytes() / 4;
        let row_of_indices = match place {
            Place::All => !program.tiled && per_page == 1,
            Place::Columns => [1, height].contains(&per_page),
            Place::Rows | Place::Leading => per_page == width,
        };
        let page_bytes = if program.tiled { 1024 * bytes } else { width * bytes };
        let known = row_of_indices && pages_in.page_bytes() == page_bytes && !shape.contains(&0);
        let length = shape.get(dim).copied().unwrap_or(1);
        let (tiled, output_pages) = (program.tiled, pages_out.num_pages());
        Ok(known.then_some(Self {
            kind,
            bytes,
            access,
            input: access.input(input)?,
            output,
            output_pages,
            outer,
            length,
            matrices,
            height,
            width,
            place,
            tiled,
            per_page,
        }))
    }

    /// Runs it.
    ///
    /// # Errors
    /// Memory errors.
    pub fn run(&self) -> Result<(), OpError> {
        let tile_rows = self.height.div_ceil(32);
        let best = |places| move || Best::new(self.kind, places);
        match (self.tiled, self.place) {
            (true, Place::Columns) if self.per_page == 1 => {
                for_each_page(self.outer * tile_rows, best(1024), |best, unit| {
                    let (matrix, row) = (unit / tile_rows, unit % tile_rows);
                    let lines = self.columns_of_tiles(best, unit)?;
                    for (line, index) in (row * 32..self.height).zip(lines) {
                        store(self.access.claim(self.output, matrix * self.height + line)?, [index]);
                    }
                    Ok(())
                })
            }
            (true, Place::Columns) => for_each_page(self.outer, best(1024), |best, matrix| {
                let page = self.access.claim(self.output, matrix)?;
                for (row, page) in page.chunks_mut(4 * 32).enumerate() {
                    store(page, self.columns_of_tiles(best, matrix * tile_rows + row)?);
                }
                Ok(())
            }),
            (true, Place::Rows) => for_each_page(self.outer, best(1024), |best, matrix| {
                self.rows_of_tiles(best, matrix, self.access.claim(self.output, matrix)?)
            }),
            (true, Place::Leading) => {
                let units = self.outer * self.matrices * tile_rows;
                for_each_page(units, best(1024), |best, unit| self.leading_of_tiles(best, unit))
            }
            (_, Place::All) => for_each_page(1, best(LANES), |best, page| {
                let rows = 0..self.input.buffer().num_pages();
                store(self.access.claim(self.output, page)?, [self.line_of_rows(best, rows)?]);
                Ok(())
            }),
            (false, Place::Columns) => for_each_page(self.output_pages, best(LANES), |best, page| {
                let lines = self.access.claim(self.output, page)?.chunks_exact_mut(4).enumerate();
                for (line, index) in lines {
                    let row = page * self.per_page + line;
                    store(index, [self.line_of_rows(best, row..row + 1)?]);
                }
                Ok(())
            }),
            (false, _) => for_each_page(self.output_pages, best(self.width), |best, page| {
                best.clear();
                let inside = if self.place == Place::Rows { 1 } else { self.matrices * self.height };
                let first = page / inside * self.length * inside + page % inside;
                for index in 0..self.length {
                    best.take(0, self.input.page(first + index * inside)?, index);
                }
                store(self.access.claim(self.output, page)?, best.numbers.iter().copied());
                Ok(())
            }),
        }
    }

    /// The lines along the rows of a row of tiles.
    fn columns_of_tiles(&self, best: &mut Best, tile_row: usize) -> Result<[u32; 32], OpError> {
        let columns = self.width.div_ceil(32);
        best.clear();
        for column in 0..columns {
            self.ask_for(tile_row * columns + column + 1)?;
            let page = self.input.page(tile_row * columns + column)?;
            best.take_part(page, column * 32, [32, self.width - column * 32]);
        }
        Ok(from_fn(|row| best.join((0..self.width.min(32)).map(|column| TileShape::FULL.index(row, column)))))
    }

    /// The lines along the columns of a matrix.
    fn rows_of_tiles(&self, best: &mut Best, matrix: usize, out: &mut [u8]) -> Result<(), OpError> {
        let (rows, columns) = (self.height.div_ceil(32), self.width.div_ceil(32));
        for (column, out) in out.chunks_mut(4 * 32).enumerate() {
            best.clear();
            for row in 0..rows {
                let number = (matrix * rows + row) * columns + column;
                self.ask_for(number + columns)?;
                let page = self.input.page(number)?;
                best.take_part(page, row * 32, [self.height - row * 32, 32]);
            }
            let places = |column| (0..self.height.min(32)).map(move |row| TileShape::FULL.index(row, column));
            store(out, (0..32).map(|column| best.join(places(column))));
        }
        Ok(())
    }

    /// The lines across tiles at all places of a row of tiles.
    fn leading_of_tiles(&self, best: &mut Best, unit: usize) -> Result<(), OpError> {
        let (rows, columns) = (self.height.div_ceil(32), self.width.div_ceil(32));
        let (row, matrix) = (unit % rows, unit / rows);
        let inside = self.matrices * rows * columns;
        let first = unit * columns / inside * self.length * inside + unit * columns % inside;
        let lines = row * 32..self.height.min(row * 32 + 32);
        let pages = lines.map(|line| self.access.claim(self.output, matrix * self.height + line));
        let mut pages = pages.collect::<Result<Vec<_>, _>>()?;
        for column in 0..columns {
            best.clear();
            for index in 0..self.length {
                let number = first + index * inside + column;
                // The CPU does not find out by itself: they are far apart.
                self.ask_for(number + if index + 1 < self.length { inside } else { 1 })?;
                best.take(0, self.input.page(number)?, index);
            }
            for (line, page) in pages.iter_mut().enumerate() {
                for half in [0, FACE_SIDE] {
                    let place = TileShape::FULL.index(line, half);
                    let out = &mut page[((column * 32 + half) * 4).min(4 * self.width)..];
                    store(out, best.numbers[place..place + FACE_SIDE].iter().copied());
                }
            }
        }
        Ok(())
    }

    /// Asks for a page that will be read soon, if there is one.
    fn ask_for(&self, page: usize) -> Result<(), OpError> {
        if page < self.input.buffer().num_pages() {
            stream::prefetch_second_all(self.input.peek(page)?);
        }
        Ok(())
    }

    /// The line that is made of rows of a row-major tensor.
    fn line_of_rows(&self, best: &mut Best, rows: Range<usize>) -> Result<u32, OpError> {
        best.clear();
        for (number, row) in rows.enumerate() {
            for (chunk, data) in self.input.page(row)?.chunks(LANES * self.bytes).enumerate() {
                best.take(0, data, number * self.width + chunk * LANES);
            }
        }
        Ok(best.join(0..self.width.min(LANES)))
    }
}

/// Writes indices as far as there is room.
fn store(out: &mut [u8], indices: impl IntoIterator<Item = u32>) {
    for (word, index) in out.as_chunks_mut::<4>().0.iter_mut().zip(indices) {
        *word = index.to_le_bytes();
    }
}
