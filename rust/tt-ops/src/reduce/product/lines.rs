//! Products of rows or columns, every datum for itself: lines of many matrices and tiles fill the lanes of a tile.

use tt_cpu::stream;
use tt_formats::{DataFormat, TileShape, pack as datums, tile::FACE_SIDE};
use tt_memory::{BufferId, Device};
use tt_tensix::unpack;

use super::{Chain, Lines, Memory, ProductProgram};
use crate::{OpError, for_each_page};

const SIDE: usize = 32;
/// Lines of 16 bfloat16 datums in a tile, their bytes, and from such a line to the one beside it, in lines.
const LINES: usize = 64;
const LINE: usize = 2 * FACE_SIDE;
const BESIDE: usize = FACE_SIDE;
/// Bytes of a tile of factors, and what lies between two so that they do not begin in one set of the first-level cache.
const TILE: usize = LINES * LINE;
const APART: usize = 64;

impl Lines {
    fn grid(&self) -> [usize; 2] {
        [self.height.div_ceil(SIDE), self.width.div_ceil(SIDE)]
    }

    /// Products of a matrix, and factors of each.
    fn lengths(&self) -> [usize; 2] {
        if self.down { [self.width, self.height] } else { [self.height, self.width] }
    }

    pub(super) fn tiles_in(&self) -> usize {
        self.matrices * self.grid()[0] * self.grid()[1]
    }

    pub(super) fn tiles_out(&self) -> usize {
        self.matrices.div_ceil(SIDE) * self.lengths()[0].div_ceil(SIDE)
    }

    /// Output tiles side by side that have together at most as many products as a tile.
    fn units(&self) -> Vec<Unit> {
        let columns = self.lengths()[0].div_ceil(SIDE);
        let rows = (0..self.matrices).step_by(SIDE).map(|first| (first, (self.matrices - first).min(SIDE)));
        let units = rows.flat_map(|(matrix, matrices)| {
            let together = SIDE / matrices;
            let unit = move |column| Unit { matrix, matrices, column, columns: (columns - column).min(together) };
            (0..columns).step_by(together).map(unit)
        });
        units.collect()
    }
}

/// First matrix and first tile column, and how many of them.
struct Unit {
    matrix: usize,
    matrices: usize,
    column: usize,
    columns: usize,
}

impl Unit {
    /// The line of a tile of factors that belongs to a matrix, and a tile column of the output; the one beside it follows.
    fn line(&self, matrix: usize, column: usize) -> usize {
        2 * (matrix * self.columns + column)
    }

    fn lines(&self) -> usize {
        2 * self.matrices * self.columns
    }
}

/// What a worker needs.
struct Work {
    memory: Box<Memory>,
    /// 32 tiles of factors.
    factors: Vec<u8>,
    page: Vec<u8>,
    turned: Box<[u32; 512]>,
}

pub(super) fn of_lines(
    device: &mut Device,
    input: BufferId,
    output: BufferId,
    program: &ProductProgram,
    given: Lines,
) -> Result<(), OpError> {
    let format = program.format;
    if !matches!(format, DataFormat::Float16B | DataFormat::Float32) {
        let what = format!("{format:?} in lines");
        return Err(OpError::Invariant { operator: "product", what });
    }
    let (outside, chain) = (Chain::new(program, format), Chain::new(program, DataFormat::Float16B));
    let units = given.units();
    let access = device.access(&[output])?;
    let pages = access.input(input)?.all()?;
    let ([tile_rows, tile_columns], [products, length]) = (given.grid(), given.lengths());
    let last = access.buffer(input)?.num_pages() - 1;
    // From a tile to the one behind it in a chain.
    let apart = if given.down { tile_columns } else { 1 };
    let make = || Work {
        memory: Memory::new(),
        factors: vec![0; SIDE * (TILE + APART)],
        page: vec![0; TILE],
        turned: Box::new([0; 512]),
    };
    for_each_page(units.len(), make, |work, number| {
        let unit = &units[number];
        let Work { memory, factors, page, turned } = work;
        memory.running.clone_from(&chain.one);
        let used = unit.lines() * LINE;
        factors.chunks_exact_mut(TILE + APART).for_each(|factors| factors[used..].fill(0));
        for (first, block) in (0..length).step_by(SIDE).zip(0..) {
            let count = (length - first).min(SIDE);
            for matrix in 0..unit.matrices {
                for column in 0..unit.columns {
                    let (row, across) =
                        if given.down { (block, unit.column + column) } else { (unit.column + column, block) };
                    let number = ((unit.matrix + matrix) * tile_rows + row) * tile_columns + across;
                    let tile = pages.page(number);
                    // What the next block of factors begins with.
                    stream::prefetch_second_all(pages.page((number + apart).min(last)));
                    let tile: &[u8] = if format == DataFormat::Float16B {
                        tile
                    } else {
                        outside.to_halves(tile, &mut memory.a, page);
                        &*page
                    };
                    let (tile, turned) = if given.down { (tile, false) } else { (turn(tile, turned), true) };
                    let at = unit.line(matrix, column) * LINE;
                    for (number, factors) in factors.chunks_exact_mut(TILE + APART).take(count).enumerate() {
                        let line = number % FACE_SIDE;
                        let line = if turned { unpack::line_of_halves(line) } else { line };
                        let line = number / FACE_SIDE * 2 * FACE_SIDE + line;
                        factors[at..at + LINE].copy_from_slice(&tile[line * LINE..][..LINE]);
                        factors[at + LINE..at + 2 * LINE].copy_from_slice(&tile[(line + BESIDE) * LINE..][..LINE]);
                    }
                }
            }
            for factors in factors.chunks_exact_mut(TILE + APART).take(count) {
                let factors = &mut factors[..TILE];
                if given.flush {
                    for datum in factors.as_chunks_mut::<2>().0 {
                        *datum = (datums::bf16_to_bf16(u16::from_le_bytes(*datum).into()) as u16).to_le_bytes();
                    }
                }
                chain.multiply(factors, memory);
            }
        }
        for column in 0..unit.columns {
            page.fill(0);
            for matrix in 0..unit.matrices {
                let at = unit.line(matrix, column) * LINE;
                for half in [0, FACE_SIDE] {
                    let used = products.saturating_sub((unit.column + column) * SIDE + half).min(FACE_SIDE) * 2;
                    let to = TileShape::FULL.index(matrix, half) * 2;
                    page[to..to + used].copy_from_slice(&memory.running[at + 2 * half..][..used]);
                }
            }
            let target = unit.matrix / SIDE * products.div_ceil(SIDE) + unit.column + column;
            let target = access.claim(output, target)?;
            if format == DataFormat::Float16B {
                target.copy_from_slice(page);
            } else {
                outside.pack_halves(page, &mut memory.dst, target);
            }
        }
        Ok(())
    })
}

/// A tile of bfloat16, transposed; the lines of a face follow each other as [`unpack::line_of_halves`] says.
fn turn<'t>(tile: &[u8], turned: &'t mut [u32; 512]) -> &'t [u8] {
    let mut words = [0; 512];
    bytemuck::bytes_of_mut(&mut words).copy_from_slice(tile);
    if cfg!(target_endian = "big") {
        for word in &mut words {
            *word = u32::swap_bytes(*word);
        }
    }
    unpack::transpose_halves(&words, turned);
    if cfg!(target_endian = "big") {
        for word in &mut *turned {
            *word = word.swap_bytes();
        }
    }
    bytemuck::bytes_of(turned)
}
