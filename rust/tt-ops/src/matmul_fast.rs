//! Matrix multiplication in the `fast` numerics mode: see `tt_tensix::fast` for what is kept of the chip's arithmetic.
//!
//! A program's K blocks, its L1 accumulation and the rounding of partial sums have no part in it: each output is one FP32
//! sum in the order of K, rounded when it leaves (to the format of Dst, then by the packer). A work item is a block of
//! output tiles, for which operand tiles are packed as the block reaches them along K: scratch has a fixed size, pages are
//! read where they lie, and how the work is split cannot show in a result.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use tt_cpu::{Level, pool, stream};
use tt_formats::{DataFormat, TileShape};
use tt_memory::{BufferId, Device, access};
use tt_tensix::fast::{Bf16Page, BlockFloatDecoder, Multiplier, Panel, Session, Sums};
use tt_tensix::fpu::{self, MathConfig};
use tt_tensix::pack::{self, DstFormat, PackConfig, Packer, Relu};
use tt_tensix::unpack;

use crate::matmul::{Bias, MatmulProgram, require_pages};
use crate::port::{self, Input, Tile, ZERO};
use crate::{FirstError, OpError};

/// Side of the largest block of output tiles of a work item.
const BLOCK: usize = 16;

/// Panels of a tile row or column of the block that are packed at a time. One operand's of a column and the other's of a
/// row, 16 KiB each, and the sums of a tile share a first-level cache: a product reads half of its operands from there.
const PANELS: usize = 8;

/// Runs the program.
///
/// # Errors
/// As [`crate::matmul::matmul`]; formats with 5 exponent bits.
pub fn matmul(
    device: &mut Device,
    (a, b): (BufferId, BufferId),
    bias: Option<Bias>,
    output: BufferId,
    program: &MatmulProgram,
) -> Result<(), OpError> {
    require_pages(device, (a, b), bias, output, program)?;
    let kernel = Kernel::new(program, bias)?;
    let access = device.access(&[output])?;
    let pages = Pages {
        left: access.input(a)?,
        right: access.input(b)?,
        bias: bias.map(|bias| access.input(bias.buffer)).transpose()?,
        output: access.output(output)?,
    };
    let (rows, columns) = block_shape(program);
    let (down, across) = (program.m.div_ceil(rows), program.n.div_ceil(columns));
    let make = || (kernel.multiplier.session(), Scratch::take());
    let error = FirstError::default();
    pool::for_each_init(program.batch.0 * down * across, make, |(session, scratch), item| {
        let (column, row) = (item % across * columns, item / across % down * rows);
        let block = Block {
            matrix: item / across / down,
            rows: row..(row + rows).min(program.m),
            columns: column..(column + columns).min(program.n),
        };
        error.record(kernel.block(&pages, &block, session, scratch.get()));
    });
    error.finish()
}

/// Rows and columns of a work item in tiles: large, but so that every worker gets some.
fn block_shape(program: &MatmulProgram) -> (usize, usize) {
    let (mut rows, mut columns) = (BLOCK.min(program.m), BLOCK.min(program.n));
    let threads = pool::threads();
    let wanted = if threads == 1 { 1 } else { 2 * threads };
    let items = |rows, columns| program.batch.0 * program.m.div_ceil(rows) * program.n.div_ceil(columns);
    while items(rows, columns) < wanted && rows * columns > 16 {
        if rows > columns {
            rows = rows.div_ceil(2);
        } else {
            columns = columns.div_ceil(2);
        }
    }
    (rows, columns)
}

/// Output tiles of one work item.
struct Block {
    matrix: usize,
    rows: Range<usize>,
    columns: Range<usize>,
}

/// The buffers of a call.
struct Pages<'a> {
    left: access::Input<'a>,
    right: access::Input<'a>,
    bias: Option<access::Input<'a>>,
    output: access::Output<'a>,
}

/// Panels and sums of one block, 1.5 MiB.
struct Scratch {
    left: Vec<Panel>,
    right: Vec<Panel>,
    sums: Vec<Sums>,
}

/// Scratch that no call uses. Fresh memory costs more than a small product, so it is kept: one per thread at most.
static FREE: Mutex<Vec<Scratch>> = Mutex::new(Vec::new());

/// Scratch in use, given back when dropped.
struct Taken(Option<Scratch>);

impl Scratch {
    fn take() -> Taken {
        let kept = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let make = || {
            let panels = vec![Panel::ZERO; BLOCK * PANELS];
            Self { left: panels.clone(), right: panels, sums: vec![Sums::ZERO; BLOCK * BLOCK] }
        };
        Taken(Some(kept.unwrap_or_else(make)))
    }
}

impl Taken {
    fn get(&mut self) -> &mut Scratch {
        self.0.as_mut().expect("there until the drop")
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < pool::threads() {
            free.extend(self.0.take());
        }
    }
}

/// One operand's way into panels.
struct Operand {
    input: Input,
    decoder: Option<BlockFloatDecoder>,
    transposed: bool,
}

impl Operand {
    fn new(format: DataFormat, dst32: bool, transposed: bool, level: Level) -> Self {
        Self { input: Input::new(format, dst32), decoder: BlockFloatDecoder::new(format, level), transposed }
    }

    /// The tile as BF16 in face order, if that is all it needs.
    fn plain<'a>(&self, bytes: &'a [u8], page: &'a mut Bf16Page) -> Option<&'a Bf16Page> {
        if self.transposed {
            return None;
        }
        if self.input.format == DataFormat::Float16B {
            return bytes.first_chunk();
        }
        self.decoder?.decode(bytes, page).then_some(page)
    }

    /// The tile in Src as FP32 bits.
    fn tile(&self, bytes: &[u8], tile: &mut Tile) {
        self.input.to_src(bytes, tile);
        for word in tile {
            *word <<= 13;
        }
    }
}

/// Sets rows or columns from `used` on to zero.
fn clear_beyond(tile: &mut Tile, used: usize, rows: bool) {
    for (index, word) in tile.iter_mut().enumerate() {
        let (row, column) = TileShape::FULL.position(index);
        if (if rows { row } else { column }) >= used {
            *word = 0;
        }
    }
}

/// Settings of every step.
struct Kernel<'a> {
    program: &'a MatmulProgram,
    level: Level,
    multiplier: Multiplier,
    left: Operand,
    right: Operand,
    bias: Option<Input>,
    /// A transposed left tile goes through Dst and back to L1 in its own format before it is multiplied.
    repack_left: (MathConfig, PackConfig),
    pack_out: Packer,
    /// Sums become BF16 before anything else happens to them.
    rounds: bool,
}

impl<'a> Kernel<'a> {
    fn new(program: &'a MatmulProgram, bias: Option<Bias>) -> Result<Self, OpError> {
        let (format_a, format_b, format_out) = program.formats;
        let level = Level::current();
        let left = Operand::new(format_a, program.dst32, program.transpose_a, level);
        let right = Operand::new(format_b, program.dst32, program.transpose_b, level);
        let registers = [left.input.register, right.input.register];
        if let Some(other) =
            registers.into_iter().find(|format| !matches!(format, DataFormat::Tf32) && !is_bf16_family(*format))
        {
            let what = format!("the fast mode has no products of {other:?}");
            return Err(OpError::Invariant { operator: "matmul", what });
        }
        let wide = registers.contains(&DataFormat::Tf32);
        let dst = port::dst_format(format_a, program.dst32);
        // Sums go straight to BF16 if nothing happens between Dst and the packer: that is the rounding to Dst.
        let direct = program.dst32 || (format_out == DataFormat::Float16B && program.activation.is_empty());
        let mut pack_out = port::packer(format_out, if direct { DstFormat::Fp32 } else { dst }, false);
        if program.relu {
            pack_out.relu = Relu::MinThreshold(0);
        }
        let math = MathConfig { fidelity: program.fidelity, dst, alu: left.input.register, arch: program.arch };
        Ok(Self {
            program,
            level,
            multiplier: Multiplier::new(program.fidelity, wide, level),
            bias: bias.map(|bias| Input::new(bias.format, program.dst32)),
            repack_left: (math, port::packer(format_a, dst, false)),
            pack_out: Packer::new(&pack_out, level)
                .map_err(|error| OpError::Invariant { operator: "matmul", what: error.to_string() })?,
            rounds: !direct,
            left,
            right,
        })
    }

    /// A block of output tiles, chunk by chunk along K.
    fn block(&self, pages: &Pages<'_>, block: &Block, session: &Session, scratch: &mut Scratch) -> Result<(), OpError> {
        let program = self.program;
        let per_tile = self.multiplier.panels();
        let tiles = PANELS / per_tile;
        for first in (0..program.k).step_by(tiles) {
            let steps = first..(first + tiles).min(program.k);
            let last = steps.end == program.k;
            self.pack_left(pages, block, &steps, &mut scratch.left)?;
            self.pack_right(pages, block, &steps, &mut scratch.right)?;
            let used = steps.len() * per_tile;
            for (column_slot, right) in scratch.right.chunks_exact(PANELS).take(block.columns.len()).enumerate() {
                for (row_slot, left) in scratch.left.chunks_exact(PANELS).take(block.rows.len()).enumerate() {
                    let sums = &mut scratch.sums[column_slot * BLOCK + row_slot];
                    session.multiply(&left[..used], &right[..used], sums, first == 0);
                    if last {
                        let (row, column) = (block.rows.start + row_slot, block.columns.start + column_slot);
                        self.finish(pages, (block.matrix, row, column), sums)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Packs the left operand's tiles of some steps along K; row `i` of the block at `i * PANELS`.
    fn pack_left(
        &self,
        pages: &Pages<'_>,
        block: &Block,
        steps: &Range<usize>,
        panels: &mut [Panel],
    ) -> Result<(), OpError> {
        let program = self.program;
        let per_tile = self.multiplier.panels();
        let first_page = if program.batch.1 == 1 { 0 } else { block.matrix * program.m * program.k };
        let place = |number: usize| {
            let (row, k) = (block.rows.start + number / steps.len(), steps.start + number % steps.len());
            first_page + if program.transpose_a { k * program.m + row } else { row * program.k + k }
        };
        let mut decoded = [0; 2048];
        let tiles = steps.len() * block.rows.len();
        for number in 0..tiles {
            if number + AHEAD < tiles {
                ask_for(pages.left.page(place(number + AHEAD))?);
            }
            let bytes = pages.left.page(place(number))?;
            let (row, step) = (number / steps.len(), number % steps.len());
            let panels = &mut panels[row * PANELS + step * per_tile..][..per_tile];
            let used = self.used(steps.start + step);
            match self.left.plain(bytes, &mut decoded) {
                Some(page) if used >= 32 => self.multiplier.pack_left_bf16(page, panels),
                _ => self.pack_left_tile(bytes, used, panels),
            }
        }
        Ok(())
    }

    /// Datums of a step along K that count.
    fn used(&self, step: usize) -> usize {
        self.program.k_datums - (step * 32).min(self.program.k_datums)
    }

    /// Any tile of the left operand.
    #[cold]
    #[inline(never)]
    fn pack_left_tile(&self, bytes: &[u8], used: usize, panels: &mut [Panel]) {
        let (mut tile, mut other) = (ZERO, ZERO);
        if self.left.transposed {
            let input = self.left.input;
            input.to_src(bytes, &mut tile);
            clear_beyond(&mut tile, used, true);
            unpack::transpose(&tile, &mut other);
            let (math, packer) = &self.repack_left;
            fpu::copy_to_dst(math, &mut tile, &other);
            let mut l1 = [0; 4096];
            let l1 = &mut l1[..input.format.tile_bytes(TileShape::FULL)];
            pack::pack_tile(packer, &tile, l1);
            self.left.tile(l1, &mut tile);
        } else {
            self.left.tile(bytes, &mut tile);
            clear_beyond(&mut tile, used, false);
        }
        self.multiplier.pack_left(&tile, panels);
    }

    /// Packs the right operand's tiles of some steps along K; column `i` of the block at `i * PANELS`.
    fn pack_right(
        &self,
        pages: &Pages<'_>,
        block: &Block,
        steps: &Range<usize>,
        panels: &mut [Panel],
    ) -> Result<(), OpError> {
        let program = self.program;
        let per_tile = self.multiplier.panels();
        let first_page = if program.batch.2 == 1 { 0 } else { block.matrix * program.k * program.n };
        let columns = block.columns.len();
        let place = |number: usize| {
            let (k, column) = (steps.start + number / columns, block.columns.start + number % columns);
            first_page + if program.transpose_b { column * program.k + k } else { k * program.n + column }
        };
        let mut decoded = [0; 2048];
        let tiles = steps.len() * columns;
        for number in 0..tiles {
            if number + AHEAD < tiles {
                ask_for(pages.right.page(place(number + AHEAD))?);
            }
            let bytes = pages.right.page(place(number))?;
            let (step, column) = (number / columns, number % columns);
            let panels = &mut panels[column * PANELS + step * per_tile..][..per_tile];
            // What the padding holds meets zeros; infinities there would still show.
            let used = self.used(steps.start + step);
            match self.right.plain(bytes, &mut decoded) {
                Some(page) if used >= 32 => self.multiplier.pack_right_bf16(page, panels),
                _ => self.pack_right_tile(bytes, used, panels),
            }
        }
        Ok(())
    }

    /// Any tile of the right operand.
    #[cold]
    #[inline(never)]
    fn pack_right_tile(&self, bytes: &[u8], used: usize, panels: &mut [Panel]) {
        let (mut tile, mut other) = (ZERO, ZERO);
        self.right.tile(bytes, &mut tile);
        if self.right.transposed {
            unpack::transpose(&tile, &mut other);
            std::mem::swap(&mut tile, &mut other);
        }
        clear_beyond(&mut tile, used, true);
        self.multiplier.pack_right(&tile, panels);
    }

    /// Sums to an output page: bias, Dst, activation, packer.
    fn finish(
        &self,
        pages: &Pages<'_>,
        (matrix, row, column): (usize, usize, usize),
        sums: &mut Sums,
    ) -> Result<(), OpError> {
        let program = self.program;
        if let (Some(input), Some(bias)) = (self.bias, &pages.bias) {
            let mut tile = ZERO;
            input.to_src(bias.page(column)?, &mut tile);
            for word in &mut tile {
                *word <<= 13;
            }
            sums.add_row(&tile, self.level);
        }
        sums.settle(self.level);
        if self.rounds {
            sums.round_to_bf16(self.level);
        }
        program.activation.apply(&mut sums.0, program.dst32);
        let page = (matrix * program.m + row) * program.n + column;
        self.pack_out.pack(&sums.0, pages.output.claim(page)?);
        Ok(())
    }
}

/// Pages of the right operand that are asked for before they are needed.
const AHEAD: usize = 3;

/// Asks for a page to be brought near: every other line, its neighbour comes along.
#[inline]
fn ask_for(page: &[u8]) {
    for offset in (0..page.len()).step_by(128) {
        stream::prefetch(page, offset);
    }
}

/// Whether values of this register format are BF16 values.
fn is_bf16_family(format: DataFormat) -> bool {
    matches!(format, DataFormat::Float16B | DataFormat::Bfp8B | DataFormat::Bfp4B | DataFormat::Bfp2B)
}
