//! Permutes: movements between 32 x 32 tiles that give dimensions another order.
//!
//! An index of the input's rows or columns chooses the place in a tile, and an index of any other dimension chooses the
//! tile, so that page and place are sums of what the indices ask for. The work is cut into units of whole input tiles
//! and whole output tiles: if a leading dimension becomes the rows, say, and the rows a leading dimension, then 32
//! tiles become 32 others. A unit is copied together first and made apart from its place, because pages that follow
//! each other lie in different banks at the same address: their lines would drive each other out of the caches.
//!
//! Lines of the input that keep their columns are lines of the output. Otherwise 32 of them are transposed at a time,
//! and each of their columns is a line of the output.

use tt_cpu::Level;
use tt_cpu::stream::{self, STREAM_BYTES};
use tt_formats::{DataFormat, TileShape};
use tt_memory::{Access, access::Pages};
use tt_tensix::tile_io::{Tile, ZERO};
use tt_tensix::unpack;
use tt_tensix::unpack::BlockFloatDecoder;

use super::datums::{Decode, copy_line, decoded, flush_bytes};
use super::packing::Packing;
use super::setting::{EXPONENTS, LINE, Movement, SIDE, Setting};
use crate::pages::Share;
use crate::{OpError, for_each_page};

/// Datums of a tile.
const DATUMS: usize = SIDE * SIDE;
/// From a line of a face to the line beside it, in datums.
const BESIDE: usize = LINE * LINE;
/// Bytes between tiles that are put together, so that they do not begin in the same set of the first-level cache.
const APART: usize = 64;

/// What an index of a dimension adds to the place of a datum.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A dimension of one index.
    None,
    /// So many pages for each.
    Leading(usize),
    /// Rows of the input, whose tile rows are so many pages apart.
    Rows(usize),
    /// Columns of the input.
    Columns,
}

impl Step {
    /// Pages and datums.
    fn at(self, index: usize) -> (usize, usize) {
        match self {
            Self::None => (0, 0),
            Self::Leading(pages) => (index * pages, 0),
            Self::Rows(pages) => (index / SIDE * pages, TileShape::FULL.index(index % SIDE, 0)),
            Self::Columns => (index / SIDE, TileShape::FULL.index(0, index % SIDE)),
        }
    }

    fn chooses_tiles(self) -> bool {
        matches!(self, Self::Leading(_))
    }
}

/// How tiles are read.
#[derive(Clone, Copy)]
enum Read {
    /// As they are.
    Plain,
    /// Block floats, to bfloat16: single lines, and tiles.
    Block(DataFormat, Decode, BlockFloatDecoder),
}

/// A movement of this kind.
pub struct Permute {
    read: Read,
    /// Bytes of a datum of the output.
    unit: usize,
    /// Of each output dimension.
    steps: Vec<Step>,
    /// The leading dimension of the output that 32 indices of a unit belong to.
    split: Option<usize>,
}

/// What a worker needs.
struct Memory {
    /// Tiles of the input, and of the output.
    given: Vec<u8>,
    made: Vec<u8>,
    packing: Option<Box<Packing>>,
    lines: Tile,
    transposed: Tile,
    /// The extent of the output tiles whose padding `made` and `lines` hold.
    padded: [usize; 2],
    /// The last to be dropped.
    _share: Share,
}

impl Permute {
    /// Recognises the movement.
    pub fn new(movement: &Movement) -> Option<Self> {
        let (input, output) = (&movement.input, &movement.output);
        let full = Some(TileShape::FULL);
        let (rank, rank_in) = (output.shape.len(), input.shape.len());
        if rank < 2 || rank_in < 2 || (input.tile, output.tile) != (full, full) || movement.offset != 0 {
            return None;
        }
        let decoder = |format| BlockFloatDecoder::new(format, Level::current());
        let read = match (input.format, output.format) {
            (from @ DataFormat::Bfp8B, DataFormat::Float16B) => Read::Block(from, decoded::<8>, decoder(from)?),
            (from @ DataFormat::Bfp4B, DataFormat::Float16B) => Read::Block(from, decoded::<4>, decoder(from)?),
            (from, to) if from != to || to.is_block_float() => return None,
            _ => Read::Plain,
        };
        // Two datums in a word are transposed as they lie there.
        let unit = output.format.element_bytes().filter(|unit| matches!(unit, 2 | 4))?;
        if cfg!(target_endian = "big") {
            return None;
        }
        let whole = movement.window.iter().zip(&output.shape).all(|(&window, &length)| window == (0, length));
        if !whole || output.shape.iter().product::<usize>() != input.shape.iter().product() {
            return None;
        }
        let (tile_rows, tile_columns) =
            (input.shape[rank_in - 2].div_ceil(SIDE), input.shape[rank_in - 1].div_ceil(SIDE));
        // The distance of neighbours along each dimension of the input, and the step.
        let (mut stride, mut pages) = (1, tile_rows * tile_columns);
        let mut known = Vec::with_capacity(rank_in);
        for (axis, &length) in input.shape.iter().enumerate().rev() {
            let step = match rank_in - 1 - axis {
                0 => Step::Columns,
                1 => Step::Rows(tile_columns),
                _ => Step::Leading(pages),
            };
            known.push((stride as i64, length, step));
            stride *= length;
            pages *= if axis + 2 < rank_in { length } else { 1 };
        }
        // Of dimensions with several indices no two have the same distance; together they have all datums.
        let step = |(&stride, &length): (&i64, &usize)| {
            let found = known.iter().find(|&&(of, count, _)| (of, count) == (stride, length));
            if length == 1 { Some(Step::None) } else { found.map(|&(_, _, step)| step) }
        };
        let steps = movement.strides.iter().zip(&output.shape).map(step).collect::<Option<Vec<_>>>()?;
        let columns = steps.iter().position(|step| matches!(step, Step::Columns));
        let rows = steps.iter().position(|step| matches!(step, Step::Rows(_)));
        // Without columns there is nothing that rows in a leading dimension could be exchanged with.
        let leading = |axis: &usize| *axis < rank - 2;
        let split = columns.filter(leading).or(columns.and(rows).filter(leading));
        // What keeps its columns and its rows is a copy.
        (columns != Some(rank - 1) || split.is_some()).then_some(Self { read, unit, steps, split })
    }

    /// Runs it.
    ///
    /// # Errors
    /// Memory errors.
    pub fn run(&self, access: &Access<'_>, setting: &Setting<'_>) -> Result<(), OpError> {
        let (movement, output) = (setting.movement, &setting.output);
        let units = self.leading(movement).map(|(_, count)| count).product::<usize>();
        let pages = access.input(movement.input.buffer)?.all()?;
        let past = access.buffer(movement.output.buffer)?.bytes() >= STREAM_BYTES as u64;
        let units = units * output.tile_rows * output.tile_columns;
        let single = !self.ends().into_iter().any(Step::chooses_tiles);
        for_each_page(
            units,
            || self.memory(setting),
            |memory, unit| {
                let place = self.place(setting, unit);
                if single && unit + 1 < units {
                    stream::prefetch_second_all(pages.page(self.place(setting, unit + 1).page));
                }
                self.make(&pages, setting, &place, memory);
                let made = memory.made.chunks_exact(DATUMS * self.unit + APART);
                let made = made.take(place.split).map(|made| &made[..DATUMS * self.unit]);
                let write = |number: usize, made: &[u8]| {
                    let matrix = place.matrix + number * place.matrices;
                    let [row, column] = place.first.map(|first| first / SIDE);
                    let page = (matrix * output.tile_rows + row) * output.tile_columns + column;
                    let out = access.claim(movement.output.buffer, page)?;
                    if past {
                        stream::copy(out, made);
                    } else {
                        out.copy_from_slice(made);
                    }
                    Ok(())
                };
                match &mut memory.packing {
                    Some(packing) => packing.run(place.extent, made, write),
                    None => made.enumerate().try_for_each(|(number, made)| write(number, made)),
                }
            },
        )
    }

    fn memory(&self, setting: &Setting<'_>) -> Box<Memory> {
        let movement = setting.movement;
        let tiles = |count: usize| vec![0; count.min(SIDE) * (DATUMS * self.unit + APART)];
        let [height, width] = *movement.output.shape.last_chunk().expect("a matrix");
        let given = match self.ends().map(Step::chooses_tiles) {
            [_, true] => width,
            [true, false] => height,
            [false, false] => 1,
        };
        let made = self.split.map_or(1, |axis| movement.output.shape[axis]);
        let (given, made) = (tiles(given), tiles(made));
        let packing = setting.half_packer.and_then(|packer| Packing::new(movement, packer));
        Box::new(Memory { given, made, packing, lines: ZERO, transposed: ZERO, padded: [SIDE; 2], _share: Share })
    }

    /// The leading dimensions of the output, and how many units lie along each.
    fn leading(&self, movement: &Movement) -> impl DoubleEndedIterator<Item = (usize, usize)> + ExactSizeIterator {
        let (split, shape) = (self.split, &movement.output.shape);
        let lengths = shape[..shape.len() - 2].iter().enumerate();
        lengths.map(move |(axis, &length)| (axis, if split == Some(axis) { length.div_ceil(SIDE) } else { length }))
    }

    fn place(&self, setting: &Setting<'_>, unit: usize) -> Place {
        let (movement, output) = (setting.movement, &setting.output);
        let first = [unit / output.tile_columns % output.tile_rows * SIDE, unit % output.tile_columns * SIDE];
        let extent = [output.height - first[0], output.width - first[1]].map(|length| length.min(SIDE));
        let mut place = Place { first, extent, page: 0, datum: 0, matrix: 0, matrices: 0, split: 1 };
        let mut rest = unit / output.tile_columns / output.tile_rows;
        let mut matrices = 1;
        for (axis, count) in self.leading(movement).rev() {
            let (mut index, length) = (rest % count, movement.output.shape[axis]);
            rest /= count;
            if self.split == Some(axis) {
                index *= SIDE;
                (place.split, place.matrices) = ((length - index).min(SIDE), matrices);
            }
            place.add(self.steps[axis].at(index));
            place.matrix += index * matrices;
            matrices *= length;
        }
        for (step, first) in self.ends().into_iter().zip(first) {
            place.add(step.at(first));
        }
        place
    }

    /// What chooses rows and columns of an output tile.
    fn ends(&self) -> [Step; 2] {
        *self.steps.last_chunk().expect("a matrix")
    }

    /// Makes the output tiles of a unit.
    fn make(&self, pages: &Pages<'_>, setting: &Setting<'_>, place: &Place, memory: &mut Memory) {
        if self.unit == 2 {
            self.make_of::<2>(pages, setting, place, memory);
        } else {
            self.make_of::<4>(pages, setting, place, memory);
        }
    }

    #[inline(always)]
    fn make_of<const UNIT: usize>(&self, pages: &Pages<'_>, setting: &Setting<'_>, place: &Place, memory: &mut Memory) {
        let Memory { given, made, lines, transposed, padded, .. } = memory;
        let lines: &mut [[u8; UNIT]; DATUMS] = datums_mut(lines);
        let [down, across] = self.ends();
        let [rows, width] = place.extent;
        let both = down.chooses_tiles() && across.chooses_tiles();
        if !both {
            let (step, count) = if across.chooses_tiles() { (across, width) } else { (down, rows) };
            let count = if step.chooses_tiles() { count } else { 1 };
            let page = |number: usize| pages.page(place.page + step.at(number).0);
            self.fetch::<UNIT>(page, count, given, setting.flush);
        }
        let given = |number: usize| given[number * (DATUMS * UNIT + APART)..].as_chunks::<UNIT>().0;
        if *padded != place.extent {
            let padding: [u8; UNIT] = *setting.movement.padding.to_le_bytes().first_chunk().expect("a datum");
            lines.fill(padding);
            made.as_chunks_mut().0.fill(padding);
            *padded = place.extent;
        }
        if matches!(across, Step::Columns) {
            for row in 0..rows {
                let tile = given(if down.chooses_tiles() { row } else { 0 });
                let made = made.chunks_exact_mut(DATUMS * UNIT + APART).take(place.split);
                for (number, page) in made.enumerate() {
                    let page = page.as_chunks_mut::<UNIT>().0;
                    let from = &tile[place.datum + TileShape::FULL.index(number, 0)..];
                    let to = &mut page[TileShape::FULL.index(row, 0)..];
                    for half in (0..width).step_by(LINE) {
                        let (to, from) = (&mut to[half / LINE * BESIDE..], &from[half / LINE * BESIDE..]);
                        let count = (width - half).min(LINE);
                        copy_line(to[..count].as_flattened_mut(), from.as_flattened(), count * UNIT);
                    }
                }
            }
            return;
        }
        let into_rows = matches!(down, Step::Columns);
        let (outer, columns) = if into_rows { (place.split, rows) } else { (rows, place.split) };
        let at_column: [usize; SIDE] = std::array::from_fn(|column| place.datum + across.at(column).1);
        for number in 0..outer {
            let datum = if into_rows { TileShape::FULL.index(number, 0) } else { down.at(number).1 };
            for (column, at) in at_column[..width].iter().enumerate() {
                let to = &mut lines[TileShape::FULL.index(column, 0)..];
                if both {
                    let page = |number| pages.page(place.page + down.at(number).0 + across.at(column).0);
                    if number + 1 < outer {
                        self.ask_for_line::<UNIT>(page(number + 1), *at);
                        if columns > LINE {
                            self.ask_for_line::<UNIT>(page(number + 1), at + BESIDE);
                        }
                    }
                    let page = page(number);
                    self.line(page, at + datum, to, setting.flush);
                    if columns > LINE {
                        self.line(page, at + datum + BESIDE, &mut to[BESIDE..], setting.flush);
                    }
                    continue;
                }
                let tile = match (down.chooses_tiles(), across.chooses_tiles()) {
                    (_, true) => given(column),
                    (true, _) => given(number),
                    _ => given(0),
                };
                let from = &tile[at + datum..];
                to[..LINE].copy_from_slice(&from[..LINE]);
                if columns > LINE {
                    to[BESIDE..][..LINE].copy_from_slice(&from[BESIDE..][..LINE]);
                }
            }
            let made_lines = transpose(lines, transposed);
            for column in 0..columns {
                let (page, row) = if into_rows { (number, column) } else { (column, number) };
                let line = column % LINE;
                let line = if UNIT == 2 { unpack::line_of_halves(line) } else { line };
                let from = &made_lines[column / LINE * 2 * BESIDE + line * LINE..];
                let to = made[page * (DATUMS * UNIT + APART)..].as_chunks_mut::<UNIT>().0;
                let to = &mut to[TileShape::FULL.index(row, 0)..];
                // Beside the datums lies padding.
                to[..LINE].copy_from_slice(&from[..LINE]);
                if width > LINE {
                    to[BESIDE..][..LINE].copy_from_slice(&from[BESIDE..][..LINE]);
                }
            }
        }
    }

    /// Asks for a line of an input tile: the CPU does not find out by itself.
    #[inline(always)]
    fn ask_for_line<const UNIT: usize>(&self, page: &[u8], at: usize) {
        match self.read {
            Read::Plain => stream::prefetch(page, at * UNIT),
            Read::Block(format, ..) => {
                stream::prefetch(page, 0);
                let bytes = format.tile_bytes(TileShape::FULL) - EXPONENTS;
                stream::prefetch(page, EXPONENTS + at * bytes / DATUMS);
            }
        }
    }

    /// A line of an input tile.
    #[inline(always)]
    fn line<const UNIT: usize>(&self, page: &[u8], at: usize, to: &mut [[u8; UNIT]], flush: bool) {
        let to = to[..LINE].as_flattened_mut();
        match self.read {
            Read::Plain => to.copy_from_slice(&page[at * UNIT..(at + LINE) * UNIT]),
            Read::Block(_, decode, _) => {
                for (datum, word) in to.as_chunks_mut::<2>().0.iter_mut().zip(decode(page, at)) {
                    *datum = word.to_le_bytes();
                }
            }
        }
        if flush {
            flush_bytes(to);
        }
    }

    /// Puts input tiles together.
    #[inline(always)]
    fn fetch<'p, const UNIT: usize>(
        &self,
        page: impl Fn(usize) -> &'p [u8],
        count: usize,
        given: &mut [u8],
        flush: bool,
    ) {
        for (number, given) in given.chunks_exact_mut(DATUMS * UNIT + APART).take(count).enumerate() {
            if number + 1 < count {
                stream::prefetch_all(page(number + 1));
            }
            let (page, given) = (page(number), &mut given[..DATUMS * UNIT]);
            match self.read {
                Read::Plain => given.copy_from_slice(page),
                Read::Block(_, _, decoder) => decoder.decode_any(page, given.try_into().expect("a tile of bfloat16")),
            }
            if flush {
                flush_bytes(given);
            }
        }
    }
}

/// The datums of a tile in registers.
fn datums_mut<const UNIT: usize>(tile: &mut Tile) -> &mut [[u8; UNIT]; DATUMS] {
    let (datums, _) = bytemuck::cast_slice_mut::<u32, u8>(tile).as_chunks_mut::<UNIT>();
    datums.first_chunk_mut().expect("datums of up to four bytes")
}

/// Transposes a tile; the lines of 2-byte datums follow each other as [`unpack::line_of_halves`] says.
#[inline(always)]
fn transpose<'t, const UNIT: usize>(
    lines: &[[u8; UNIT]; DATUMS],
    transposed: &'t mut Tile,
) -> &'t [[u8; UNIT]; DATUMS] {
    let words = bytemuck::cast_slice::<u8, u32>(lines.as_flattened());
    if UNIT == 2 {
        let halves = transposed.first_chunk_mut().expect("half a tile");
        unpack::transpose_halves(words.try_into().expect("two datums in a word"), halves);
    } else {
        unpack::transpose(words.try_into().expect("a datum in a word"), transposed);
    }
    datums_mut(transposed)
}

/// Where a unit lies.
struct Place {
    /// First row and column of its output tiles, and how many are not padding.
    first: [usize; 2],
    extent: [usize; 2],
    /// First page of the input, and the datum in its tiles that the leading indices choose.
    page: usize,
    datum: usize,
    /// The first matrix of the output, how far the next one is, and how many there are.
    matrix: usize,
    matrices: usize,
    split: usize,
}

impl Place {
    fn add(&mut self, (pages, datums): (usize, usize)) {
        (self.page, self.datum) = (self.page + pages, self.datum + datums);
    }
}
