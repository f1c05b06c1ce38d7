//! Row sorting and largest elements, by the SFPU's bitonic network.

mod narrow;
mod network;

use tt_cpu::Level;
use tt_formats::{DataFormat, TileShape};
use tt_fpu::{Arch, CopyTile, MathConfig, MathFidelity};
use tt_memory::access::{Output, Pages};
use tt_memory::{BufferId, Device};
use tt_tensix::pack::{PackConfig, Packer};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};

use crate::{OpError, for_each_page};
use narrow::{FEW, Row};
use network::{Elements, Lane, ROWS, TILE, exchange_tiles, key, local_sort};

const NAME: &str = "sort";
const INFINITY: u32 = 0x7f80_0000;

/// The requested part of every row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All elements in order.
    Sorted,
    /// The first elements of that order, so many tiles.
    First(usize),
}

/// Settings of the program.
#[derive(Clone, Copy, Debug)]
pub struct SortProgram {
    /// Format of the values.
    pub format: DataFormat,
    /// Format of the indices, 16 or 32 bits.
    pub indices: DataFormat,
    /// Rows of tiles.
    pub rows: usize,
    /// Elements of a row.
    pub width: usize,
    /// The smallest come first.
    pub ascending: bool,
    /// Equal elements keep their order.
    pub stable: bool,
    /// The requested part.
    pub wanted: Wanted,
    /// Chip.
    pub arch: Arch,
}

/// Runs the program; writes values and indices.
///
/// # Errors
/// Memory errors; buffers that do not hold what the program asks for.
pub fn sort(
    device: &mut Device,
    input: BufferId,
    (values, indices): (BufferId, BufferId),
    program: &SortProgram,
) -> Result<(), OpError> {
    let refuse = |what: String| Err(OpError::Invariant { operator: NAME, what });
    let columns = program.width.div_ceil(32);
    let written = match program.wanted {
        Wanted::Sorted => columns,
        Wanted::First(tiles) => tiles,
    };
    let expected = [(input, columns), (values, written), (indices, written)];
    for (id, columns) in expected {
        let pages = device.buffer(id)?.num_pages();
        if pages != program.rows * columns || columns == 0 {
            return refuse(format!("{pages} pages for {} rows of {columns} tiles", program.rows));
        }
    }
    if !matches!(program.indices, DataFormat::UInt16 | DataFormat::UInt32) {
        return refuse(format!("indices of {:?}", program.indices));
    }
    let dst32 = matches!(program.format, DataFormat::Float32 | DataFormat::UInt16);
    let dst = tile_io::dst_format(program.format, dst32);
    let config = PackConfig::new(dst, program.format);
    let packer = Packer::new(&config, Level::current())
        .map_err(|error| OpError::Invariant { operator: NAME, what: error.to_string() })?;
    let access = device.access(&[values, indices])?;
    let input_format = Input::direct_to_dst(program.format, dst32);
    let math = MathConfig { fidelity: MathFidelity::HiFi4, dst, alu: input_format.register, arch: program.arch };
    let kernel = Kernel {
        program,
        columns,
        written,
        dst32,
        math,
        input_format,
        packer,
        input: access.input(input)?.all()?,
        values: access.output(values)?,
        indices: access.output(indices)?,
    };
    for_each_page(program.rows, Scratch::default, |scratch, row| kernel.row(row, scratch))
}

/// Sorts tiles, a power of two of them: pairs, then merges of twice as many. `sort` does pairs of tiles in one direction,
/// `exchange` two tiles.
fn merge<T>(
    (tiles, wanted): (usize, bool),
    elements: &mut T,
    sort: impl Fn(&mut T, &[usize], bool),
    exchange: impl Fn(&mut T, usize, usize, bool),
) {
    for stage in 1..=tiles.trailing_zeros() {
        let ascending = |tile: usize| wanted != (tile >> stage & 1 == 1);
        for sub in (2..=stage).rev() {
            let distance = 1 << (sub - 1);
            for tile in (0..tiles).filter(|tile| tile & distance == 0) {
                exchange(elements, tile, tile + distance, ascending(tile));
            }
        }
        for direction in [false, true] {
            let pairs: Vec<usize> = (0..tiles / 2).filter(|pair| ascending(2 * pair) == direction).collect();
            sort(elements, &pairs, direction);
        }
    }
}

struct Kernel<'a> {
    program: &'a SortProgram,
    columns: usize,
    written: usize,
    dst32: bool,
    math: MathConfig,
    input_format: Input,
    packer: Packer,
    input: Pages<'a>,
    values: Output<'a>,
    indices: Output<'a>,
}

#[derive(Default)]
struct Scratch {
    keys: Vec<Lane>,
    indices: Vec<Lane>,
}

impl Kernel<'_> {
    /// A row of tiles.
    fn row(&self, row: usize, scratch: &mut Scratch) -> Result<(), OpError> {
        self.load(row, scratch);
        let rows = narrow::different(&scratch.keys);
        match self.program.wanted {
            _ if self.program.stable => self.sort_stably(scratch, rows),
            Wanted::Sorted if rows <= FEW => self.sort_few(scratch, rows),
            Wanted::Sorted => self.sort(scratch),
            Wanted::First(tiles) => self.first(tiles, scratch),
        }
        for tile in 0..self.written {
            let mut words = ZERO;
            Self::place(&scratch.keys[tile * TILE..], &mut words, key);
            self.packer.pack(&words, self.values.claim(row * self.written + tile)?);
            Self::place(&scratch.indices[tile * TILE..], &mut words, |index| index);
            let page = self.indices.claim(row * self.written + tile)?;
            if self.program.indices == DataFormat::UInt16 {
                let halves = page.chunks_exact_mut(2).zip(words);
                halves.for_each(|(bytes, word)| bytes.copy_from_slice(&(word as u16).to_le_bytes()));
            } else {
                let whole = page.chunks_exact_mut(4).zip(words);
                whole.for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_le_bytes()));
            }
        }
        Ok(())
    }

    /// Lays 32 elements of all rows out as a tile.
    fn place(elements: &[Lane], words: &mut Tile, word: impl Fn(u32) -> u32) {
        for (index, target) in words.iter_mut().enumerate() {
            let (row, column) = TileShape::FULL.position(index);
            *target = word(elements[column][row]);
        }
    }

    /// Tiles that the program works on: those of the row, and padding that comes last in the order.
    fn padded(&self) -> usize {
        match self.program.wanted {
            Wanted::Sorted => self.columns.next_power_of_two().max(2),
            Wanted::First(tiles) => self.columns.max(tiles).max(2),
        }
    }

    /// What padding holds.
    fn last(&self) -> u32 {
        if self.program.ascending { INFINITY } else { 1 << 31 | INFINITY }
    }

    fn load(&self, row: usize, scratch: &mut Scratch) {
        let count = self.padded() * TILE;
        scratch.keys.clear();
        scratch.keys.resize(count, [key(self.last()); ROWS]);
        scratch.indices.clear();
        scratch.indices.extend((0..count as u32).map(|index| [index; ROWS]));
        let (mut src, mut dst) = (ZERO, ZERO);
        for tile in 0..self.columns {
            let page = self.input.page(row * self.columns + tile);
            self.input_format.to_dst(&self.math, page, &mut src, &mut dst);
            for (index, &word) in dst.iter().enumerate() {
                let (row, column) = TileShape::FULL.position(index);
                let element = tile * TILE + column;
                if element < self.program.width {
                    let negative_zero = self.dst32 && word == 1 << 31;
                    scratch.keys[element][row] = key(if negative_zero { 0 } else { word });
                }
            }
        }
    }

    fn sort_stably(&self, scratch: &mut Scratch, rows: usize) {
        // Padding stays behind, unless an element comes after it in the order.
        let width = self.program.width;
        let (last, ascending) = (key(self.last()) as i32, self.program.ascending);
        let behind = |&key: &u32| if ascending { key as i32 > last } else { (key as i32) < last };
        let is_plain = !scratch.keys[..width].as_flattened().iter().any(behind);
        let count = if is_plain { width } else { scratch.keys.len() };
        let mut pairs: Vec<(i32, u32)> = Vec::with_capacity(count);
        for row in 0..rows {
            pairs.clear();
            let keys = scratch.keys[..count].iter().zip(&scratch.indices);
            pairs.extend(keys.map(|(keys, indices)| (keys[row] as i32, indices[row])));
            if ascending {
                pairs.sort_by_key(|&(key, _)| key);
            } else {
                pairs.sort_by_key(|&(key, _)| std::cmp::Reverse(key));
            }
            for ((keys, indices), &(key, index)) in scratch.keys.iter_mut().zip(&mut scratch.indices).zip(&pairs) {
                // The rows behind the last one are like it.
                let alike = if row + 1 == rows { row..ROWS } else { row..row + 1 };
                keys[alike.clone()].fill(key as u32);
                indices[alike].fill(index);
            }
        }
    }

    fn pair(scratch: &mut Scratch, first: usize, ascending: bool) {
        let range = first * TILE..(first + 2) * TILE;
        let elements = &mut Elements { keys: &mut scratch.keys[range.clone()], indices: &mut scratch.indices[range] };
        local_sort(Level::current(), elements, ascending);
    }

    /// All elements: pairs of tiles, then merges of twice as many.
    fn sort(&self, scratch: &mut Scratch) {
        merge(
            (self.padded(), self.program.ascending),
            scratch,
            |scratch, pairs, ascending| pairs.iter().for_each(|pair| Self::pair(scratch, 2 * pair, ascending)),
            |scratch, first, second, ascending| {
                let elements = &mut Elements { keys: &mut scratch.keys, indices: &mut scratch.indices };
                exchange_tiles(elements, first, second, ascending);
            },
        );
    }

    /// The same for rows of which only the first ones differ.
    fn sort_few(&self, scratch: &mut Scratch, rows: usize) {
        let level = Level::current();
        for row in 0..rows {
            let mut one = Row::of(&scratch.keys, &scratch.indices, row);
            let sort = |one: &mut Row, pairs: &[usize], ascending| one.sort_pairs(level, pairs, ascending);
            merge((self.padded(), self.program.ascending), &mut one, sort, Row::exchange_tiles);
            let alike = if row + 1 == rows { row..ROWS } else { row..row + 1 };
            one.store(&mut scratch.keys, &mut scratch.indices, alike);
        }
    }

    /// The first elements: every tile is sorted with what was kept, tile by tile of that.
    fn first(&self, kept: usize, scratch: &mut Scratch) {
        let tiles = self.padded();
        let mut pair = Scratch { keys: vec![[0; ROWS]; 2 * TILE], indices: vec![[0; ROWS]; 2 * TILE] };
        for tile in 1..tiles {
            for place in 0..kept.min(tile) {
                for (half, of) in [(0, place), (1, tile)] {
                    let (to, from) = (half * TILE..(half + 1) * TILE, of * TILE..(of + 1) * TILE);
                    pair.keys[to.clone()].copy_from_slice(&scratch.keys[from.clone()]);
                    pair.indices[to].copy_from_slice(&scratch.indices[from]);
                }
                Self::pair(&mut pair, 0, self.program.ascending);
                for (half, of) in [(0, place), (1, tile)] {
                    let (from, to) = (half * TILE..(half + 1) * TILE, of * TILE..(of + 1) * TILE);
                    scratch.keys[to.clone()].copy_from_slice(&pair.keys[from.clone()]);
                    scratch.indices[to].copy_from_slice(&pair.indices[from]);
                }
            }
        }
    }
}
