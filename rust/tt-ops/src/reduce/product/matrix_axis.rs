//! Products of rows or columns, every datum for itself.
//!
//! Lines of many matrices and tiles fill the lanes of a tile.
//!
//! Block floats share exponents along the products, so that a line has a group. The program moves them to where they
//! are multiplied in bfloat16 and packs them there.

use tt_cpu::{Level, stream};
use tt_formats::{DataFormat, TileShape, pack as datums, tile::FACE_SIDE};
use tt_memory::{BufferId, Device};
use tt_tensix::tile_io::{Tile, ZERO};
use tt_tensix::unpack;
use tt_tensix::unpack::Bf16Page;

use super::super::repack::Repack;
use super::chain::{Chain, Memory, WideChain};
use super::few::{FEW, Factors};
use super::program::{MatrixAxis, ProductProgram};
use crate::{OpError, for_each_page};

const SIDE: usize = 32;
/// Lines of 16 datums in a tile, their bytes in bfloat16, and from such a line to the one beside it, in lines.
const LINES: usize = 64;
const LINE: usize = 2 * FACE_SIDE;
const BESIDE: usize = FACE_SIDE;
/// What lies between two tiles of factors so that they do not begin in one set of the first-level cache.
const APART: usize = 64;

impl MatrixAxis {
    fn grid(&self) -> [usize; 2] {
        [self.height.div_ceil(SIDE), self.width.div_ceil(SIDE)]
    }

    /// Products of a matrix, and factors of each.
    fn lengths(&self) -> [usize; 2] {
        if self.columns { [self.width, self.height] } else { [self.height, self.width] }
    }

    pub(super) fn tiles_in(&self) -> usize {
        self.outer * self.matrices * self.grid()[0] * self.grid()[1]
    }

    pub(super) fn tiles_out(&self) -> usize {
        self.outer * self.matrices.div_ceil(SIDE) * self.tile_columns()
    }

    /// Tile columns of the output.
    fn tile_columns(&self) -> usize {
        self.lengths()[0].div_ceil(SIDE)
    }

    /// Output tiles side by side that have together at most as many products as a tile.
    fn units(&self) -> Vec<Unit> {
        let columns = self.tile_columns();
        let rows = (0..self.matrices).step_by(SIDE).map(|first| (first, (self.matrices - first).min(SIDE)));
        let rows = (0..self.outer).flat_map(|outer| rows.clone().map(move |rows| (outer * self.matrices, rows)));
        let units = rows.enumerate().flat_map(|(row, (before, (first, matrices)))| {
            let (matrix, together) = (before + first, SIDE / matrices);
            let unit = move |column| Unit { row, matrix, matrices, column, columns: (columns - column).min(together) };
            (0..columns).step_by(together).map(unit)
        });
        units.collect()
    }
}

/// Tile row of the output, first matrix and first tile column, and how many of them.
struct Unit {
    row: usize,
    matrix: usize,
    matrices: usize,
    column: usize,
    columns: usize,
}

impl Unit {
    /// The line of a tile of factors that belongs to a matrix, and a tile column of the output; the one beside it
    /// follows.
    fn line(&self, matrix: usize, column: usize) -> usize {
        2 * (matrix * self.columns + column)
    }

    fn lines(&self) -> usize {
        2 * self.matrices * self.columns
    }

    /// Puts so many products of each matrix to their places in their lines.
    fn one_by_one(&self, factors: &Factors<'_>, chain: &Chain, products: usize, running: &mut [u8]) {
        for matrix in 0..self.matrices {
            for number in 0..products {
                let product = factors.product(&chain.math, self.matrix + matrix, self.column * SIDE + number);
                let line = self.line(matrix, number / SIDE) + number % SIDE / FACE_SIDE;
                let place = line * LINE + 2 * (number % FACE_SIDE);
                running[place..place + 2].copy_from_slice(&product.to_le_bytes());
            }
        }
    }
}

/// What a worker needs.
struct Work {
    memory: Box<Memory>,
    /// 32 tiles of factors.
    factors: Vec<u8>,
    page: Bf16Page,
    transposed: [u32; 512],
    words: [Tile; 2],
    repack: Option<Repack>,
}

pub(super) fn of_matrices(
    device: &mut Device,
    input: BufferId,
    output: BufferId,
    program: &ProductProgram,
    given: MatrixAxis,
) -> Result<(), OpError> {
    let format = program.format;
    let repack = || Repack::new(format, Level::current());
    let blocks = repack().is_some();
    if !blocks && !matches!(format, DataFormat::Float16B | DataFormat::Float32) {
        let what = format!("{format:?} in lines");
        return Err(OpError::Invariant { operator: "product", what });
    }
    let chain = Chain::new(program, format);
    // All but bfloat16 stay in a 32-bit Dst.
    let wide = (format != DataFormat::Float16B).then(|| WideChain::new(program));
    // What the factors are: block floats are opened.
    let factor_format = if blocks { DataFormat::Float16B } else { format };
    let line_bytes = FACE_SIDE * factor_format.element_bytes().unwrap_or(0);
    let tile_bytes = LINES * line_bytes;
    let units = given.units();
    let access = device.access(&[output])?;
    let pages = access.input(input)?.all()?;
    let ([tile_rows, tile_columns], [products, length]) = (given.grid(), given.lengths());
    let last = access.buffer(input)?.num_pages() - 1;
    // From a tile to the one behind it in a chain.
    let apart = if given.columns { tile_columns } else { 1 };
    let make = || {
        let factors = vec![0; SIDE * (tile_bytes + APART)];
        let (page, transposed, words) = ([0; 2048], [0; 512], [ZERO; 2]);
        Box::new(Work { memory: Memory::new(), factors, page, transposed, words, repack: repack() })
    };
    for_each_page(units.len(), make, |work, number| {
        let unit = &units[number];
        let Work { memory, factors, page, transposed, words, repack } = &mut **work;
        memory.running.clone_from(&chain.one);
        let wanted = (products - unit.column * SIDE).min(unit.columns * SIDE);
        let one_by_one = wide.is_none() && unit.matrices * wanted <= FEW;
        if one_by_one {
            let few = Factors { pages: &pages, axis: &given, grid: given.grid(), length };
            unit.one_by_one(&few, &chain, wanted, &mut memory.running);
        }
        let used = unit.lines() * line_bytes;
        factors.chunks_exact_mut(tile_bytes + APART).for_each(|factors| factors[used..].fill(0));
        let together = if one_by_one { 0 } else { length };
        for (first, block) in (0..together).step_by(SIDE).zip(0..) {
            let count = (length - first).min(SIDE);
            for matrix in 0..unit.matrices {
                for column in 0..unit.columns {
                    let (row, across) =
                        if given.columns { (block, unit.column + column) } else { (unit.column + column, block) };
                    let number = ((unit.matrix + matrix) * tile_rows + row) * tile_columns + across;
                    let tile = pages.page(number);
                    // What the next block of factors begins with.
                    stream::prefetch_second_all(pages.page((number + apart).min(last)));
                    let tile = if let Some(repack) = repack {
                        let used = (products - (unit.column + column) * SIDE).min(SIDE);
                        in_groups(repack, &given, used, tile, (page, transposed))
                    } else if given.columns {
                        tile
                    } else if format == DataFormat::Float16B {
                        transpose(tile, transposed)
                    } else {
                        let [words, turned] = words;
                        bytemuck::bytes_of_mut(words).copy_from_slice(tile);
                        unpack::transpose(words, turned);
                        bytemuck::bytes_of(turned)
                    };
                    let in_order = given.columns || factor_format == DataFormat::Float32;
                    let places = factors.chunks_exact_mut(tile_bytes + APART).take(count);
                    spread_lines(tile, places, unit.line(matrix, column), line_bytes, in_order);
                }
            }
            for (number, factors) in factors.chunks_exact_mut(tile_bytes + APART).take(count).enumerate() {
                let factors = &mut factors[..tile_bytes];
                match &wide {
                    Some(wide) => wide.multiply(first + number == 0, (factor_format, factors), memory),
                    None => chain.multiply(flushed(factors, given.flush), memory),
                }
            }
        }
        if let Some(wide) = &wide {
            let mut running = std::mem::take(&mut memory.running);
            wide.pack(memory, &mut running);
            memory.running = running;
        }
        for column in 0..unit.columns {
            let target = access.claim(output, unit.row * given.tile_columns() + unit.column + column)?;
            let lines = (0..unit.matrices).flat_map(|matrix| [0, 1].map(|half| (matrix, half)));
            if blocks {
                target.fill(0);
                for (matrix, half) in lines {
                    let to = TileShape::FULL.index(matrix, half * FACE_SIDE) / FACE_SIDE;
                    copy_group(target, to, &memory.running, unit.line(matrix, column) + half);
                }
                continue;
            }
            target.fill(0);
            for (matrix, half) in lines {
                let first = (unit.column + column) * SIDE + half * FACE_SIDE;
                let bytes = line_bytes / FACE_SIDE;
                let used = products.saturating_sub(first).min(FACE_SIDE) * bytes;
                let to = TileShape::FULL.index(matrix, half * FACE_SIDE) * bytes;
                let from = (unit.line(matrix, column) + half) * line_bytes;
                target[to..to + used].copy_from_slice(&memory.running[from..][..used]);
            }
        }
        Ok(())
    })
}

/// Puts the lines of a tile, or of a transposed one, to their places in tiles of factors, one in each.
fn spread_lines<'f>(
    tile: &[u8],
    factors: impl Iterator<Item = &'f mut [u8]>,
    place: usize,
    bytes: usize,
    in_order: bool,
) {
    for (number, factors) in factors.enumerate() {
        let line = number % FACE_SIDE;
        let line = if in_order { line } else { unpack::line_of_halves(line) };
        let line = number / FACE_SIDE * 2 * FACE_SIDE + line;
        let (left, right) = factors[place * bytes..][..2 * bytes].split_at_mut(bytes);
        left.copy_from_slice(&tile[line * bytes..][..bytes]);
        right.copy_from_slice(&tile[(line + BESIDE) * bytes..][..bytes]);
    }
}

/// Datums of bfloat16 after a way through `Dst`, or as they are.
fn flushed(halves: &mut [u8], flush: bool) -> &[u8] {
    if flush {
        for datum in halves.as_chunks_mut::<2>().0 {
            *datum = (datums::bf16_to_bf16(u16::from_le_bytes(*datum).into()) as u16).to_le_bytes();
        }
    }
    halves
}

/// A tile of block floats as factors in bfloat16: those that the program has after the exchange, with zeros beyond the
/// products.
fn in_groups<'t>(
    repack: &mut Repack,
    axis: &MatrixAxis,
    products: usize,
    tile: &[u8],
    (page, transposed): (&'t mut Bf16Page, &'t mut [u32; 512]),
) -> &'t [u8] {
    let plain = repack.open(tile, page);
    if axis.columns {
        clear_beyond(page, products);
        if !plain {
            repack.pack(page);
        }
        return page;
    }
    transpose(page, transposed);
    let transposed = bytemuck::cast_mut(transposed);
    if axis.flush {
        repack.pack(transposed);
    }
    clear_beyond(transposed, products);
    repack.pack(transposed);
    transposed
}

/// Zeros what lies beyond so many columns of a tile.
fn clear_beyond(page: &mut Bf16Page, columns: usize) {
    for (number, line) in page.as_chunks_mut::<LINE>().0.iter_mut().enumerate() {
        let used = columns.saturating_sub(number / BESIDE % 2 * FACE_SIDE).min(FACE_SIDE);
        line[2 * used..].fill(0);
    }
}

/// Copies a group of block floats from one tile to another.
fn copy_group(to: &mut [u8], number: usize, from: &[u8], source: usize) {
    let bytes = (from.len() - LINES) / LINES;
    to[number] = from[source];
    to[LINES + number * bytes..][..bytes].copy_from_slice(&from[LINES + source * bytes..][..bytes]);
}

/// A tile of bfloat16, transposed; the lines of a face follow each other as [`unpack::line_of_halves`] says.
fn transpose<'t>(tile: &[u8], transposed: &'t mut [u32; 512]) -> &'t [u8] {
    let mut words = [0; 512];
    bytemuck::bytes_of_mut(&mut words).copy_from_slice(tile);
    if cfg!(target_endian = "big") {
        for word in &mut words {
            *word = u32::swap_bytes(*word);
        }
    }
    unpack::transpose_halves(&words, transposed);
    if cfg!(target_endian = "big") {
        for word in &mut *transposed {
            *word = word.swap_bytes();
        }
    }
    bytemuck::bytes_of(transposed)
}
