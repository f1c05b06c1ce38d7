//! Matrix multiplication in the `fast` numerics mode: see `tt_tensix::fast` for what is kept of the chip's arithmetic.
//!
//! A program's K blocks, its L1 accumulation and the rounding of partial sums have no part in it: each output is one FP32
//! sum in the order of K, rounded when it leaves (to the format of Dst, then by the packer). A work item is a block of
//! output tiles, for which operand tiles are packed as the block reaches them along K: scratch has a fixed size, pages are
//! read where they lie, and how the work is split cannot show in a result.

mod plan;

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use tt_cpu::scratch::Scratch;
use tt_cpu::{Level, pool, stream};
use tt_formats::{DataFormat, TileShape};
use tt_memory::{BufferId, Device, MemoryError, access};
use tt_tensix::fast::{Bf16Page, BlockFloatDecoder, LINES, Multiplier, Panel, Running, Session, Sums};
use tt_tensix::fpu::{self, MathConfig};
use tt_tensix::pack::{self, DstFormat, PackConfig, Packer, Relu};
use tt_tensix::unpack;

use crate::matmul::{Bias, MatmulProgram, require_pages};
use crate::port::{self, Input, Tile, ZERO};
use crate::{FirstError, OpError};
use plan::{Block, MOST_ROWS, PANELS, Plan, Workspace};

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
        left: access.input(a)?.all()?,
        right: access.input(b)?.all()?,
        bias: bias.map(|bias| access.input(bias.buffer)).transpose()?,
        output: access.output(output)?,
    };
    let plan = kernel.plan;
    let make = || (kernel.multiplier.session(), Taken::new(&plan));
    let error = FirstError::default();
    pool::for_each_init(plan.items(program), make, |(session, scratch), item| {
        let result = match scratch {
            Ok(scratch) => {
                kernel.block(&pages, &plan.block(program, item), session, &mut plan.workspace(scratch.get()))
            }
            Err(error) => Err(OpError::Memory(error.clone())),
        };
        error.record(result);
    });
    error.finish()
}

/// The buffers of a call.
struct Pages<'a> {
    left: access::Pages<'a>,
    right: access::Pages<'a>,
    bias: Option<access::Input<'a>>,
    output: access::Output<'a>,
}

/// Scratch that no call uses. Fresh memory costs more than a small product, so it is kept: one per thread at most.
static FREE: Mutex<Vec<Scratch>> = Mutex::new(Vec::new());

/// Scratch in use, given back when dropped.
struct Taken(Option<Scratch>);

impl Taken {
    fn new(plan: &Plan) -> Result<Self, MemoryError> {
        let kept = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let fits = kept.filter(|scratch| plan.fits(scratch));
        Ok(Self(Some(fits.map_or_else(|| plan.reserve(), Ok)?)))
    }

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

/// Pages of the right operand that are multiplied together.
struct Chunk<'a> {
    column: usize,
    steps: Range<usize>,
    /// Where the part of K ends for which the left operand is packed.
    end: usize,
    pages: [&'a [u8]; PANELS],
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
    plan: Plan,
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
    /// Sums become a BF16 page, with nothing in between.
    plain: bool,
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
        let plain = direct
            && format_out == DataFormat::Float16B
            && program.activation.is_empty()
            && !program.relu
            && bias.is_none();
        let multiplier = Multiplier::new(program.fidelity, wide, level);
        let math = MathConfig { fidelity: program.fidelity, dst, alu: left.input.register, arch: program.arch };
        Ok(Self {
            program,
            level,
            plan: Plan::new(program, multiplier.panels()),
            multiplier,
            bias: bias.map(|bias| Input::new(bias.format, program.dst32)),
            repack_left: (math, port::packer(format_a, dst, false)),
            pack_out: Packer::new(&pack_out, level)
                .map_err(|error| OpError::Invariant { operator: "matmul", what: error.to_string() })?,
            rounds: !direct,
            plain,
            left,
            right,
        })
    }

    /// A block of output tiles.
    fn block(
        &self,
        pages: &Pages<'_>,
        block: &Block,
        session: &mut Session,
        work: &mut Workspace<'_>,
    ) -> Result<(), OpError> {
        if self.plan.rows == 1 && self.plan.depth == self.program.k {
            self.row(pages, block, session, work)
        } else {
            self.rows(pages, block, session, work)
        }
    }

    /// Some rows of tiles. A chunk of a column is multiplied once for each row, while the one after the next is brought
    /// near. The last time, the panels of the next chunk take the place of those that have been used.
    fn rows(
        &self,
        pages: &Pages<'_>,
        block: &Block,
        session: &mut Session,
        work: &mut Workspace<'_>,
    ) -> Result<(), OpError> {
        let (program, plan) = (self.program, &self.plan);
        let rows = block.rows.len();
        // During row i, the pages from the i-th of these on are asked for.
        let shares: [usize; MOST_ROWS + 1] = std::array::from_fn(|row| row.min(rows) * plan.chunk / rows);
        let overlaps = self.multiplier.multiplies_on();
        // A tile whose sums are complete is finished while the next one is multiplied.
        let mut complete: Option<Complete<'_>> = None;
        let mut outputs = self.outputs(pages, block)?;
        let mut now = Some(self.chunk(pages, block, block.columns.start, 0));
        let mut next = self.following(pages, block, now.as_ref());
        if let Some(chunk) = &now {
            for number in 0..chunk.steps.len() {
                self.pack_right(chunk, number, work.right);
            }
        }
        while let Some(chunk) = now {
            let first = chunk.steps.start / plan.depth * plan.depth;
            if chunk.steps.start == first && chunk.column == block.columns.start {
                self.pack_left(pages, block, first..chunk.end, work.left);
            }
            let after = self.following(pages, block, next.as_ref());
            let tiles = chunk.steps.len();
            let left = work.left[plan.left_place(0, chunk.steps.start - first)..].chunks(PANELS);
            let sums = &mut work.sums[plan.sums_place(0, chunk.column - block.columns.start)..][..rows];
            for (row, (left, sums)) in left.zip(sums).enumerate() {
                if let Some(after) = &after {
                    after.pages[shares[row]..shares[row + 1]].iter().for_each(|page| ask_for(page));
                }
                let mut running = session.begin(sums, chunk.steps.start == 0);
                let last = row + 1 == rows;
                let together = match overlaps {
                    true if last => 1,
                    true => TOGETHER,
                    false => plan.chunk,
                };
                for start in (0..tiles).step_by(together) {
                    let some = start..(start + together).min(tiles);
                    let panels = some.start * plan.per_tile..some.end * plan.per_tile;
                    let (free, right) = work.right.split_at_mut(panels.start);
                    let operands = (&left[panels.clone()], &right[..panels.len()]);
                    match next.as_ref().filter(|next| last && (1..=next.steps.len()).contains(&start)) {
                        Some(next) if overlaps => {
                            let (page, step) = (next.pages[start - 1], next.steps.start + start - 1);
                            let free = &mut free[panels.start - plan.per_tile..];
                            self.step_beside(&mut running, operands, page, step, free);
                        }
                        _ => running.steps(operands.0, operands.1),
                    }
                    if let Some(place) = &mut complete {
                        let lines = some.start * LINES / tiles..some.end * LINES / tiles;
                        self.finish_lines(pages, place, lines, work.complete)?;
                    }
                }
                if chunk.steps.end == program.k {
                    running.end_in(work.complete);
                    let page = &mut outputs[(chunk.column - block.columns.start) * rows + row];
                    complete = Some(Complete { page: std::mem::take(page), column: chunk.column });
                } else {
                    running.end();
                    complete = None;
                }
            }
            if let Some(next) = &next {
                let packed = if overlaps { tiles - 1 } else { 0 };
                for number in packed..next.steps.len() {
                    self.pack_right(next, number, work.right);
                }
            }
            (now, next) = (next, after);
        }
        complete.map_or(Ok(()), |mut place| self.finish_lines(pages, &mut place, 0..LINES, work.complete))
    }

    /// A single row of tiles, as decoding has: every tile of the right operand is used once, and memory sets the pace.
    /// A few panels wait for their turn, so that they have left the store buffer when AMX asks for them.
    fn row(
        &self,
        pages: &Pages<'_>,
        block: &Block,
        session: &mut Session,
        work: &mut Workspace<'_>,
    ) -> Result<(), OpError> {
        let (k, per_tile) = (self.program.k, self.plan.per_tile);
        self.pack_left(pages, block, 0..k, work.left);
        let following = |(column, step): (usize, usize)| {
            if step + 1 < k { Some((column, step + 1)) } else { Some((self.column_after(pages, block, column)?, 0)) }
        };
        let start = Some((block.columns.start, 0));
        let (mut packed, mut asked) = (start, start);
        // Twice as many places as panels that wait, and as many pages on their way.
        let waiting = self.plan.chunk.div_ceil(4);
        for number in 0..3 * waiting {
            if let Some((column, step)) = packed.filter(|_| number < waiting) {
                let page = self.right_page(pages, block, column, step);
                self.pack_right_page(page, step, &mut work.right[number * per_tile..][..per_tile]);
                packed = following((column, step));
            }
            asked = asked.and_then(following);
        }
        let mut places = (0..2 * waiting).cycle().map(|number| number * per_tile..(number + 1) * per_tile);
        let mut free = places.clone().skip(waiting);
        let sums = &mut work.sums[0];
        let mut outputs = self.outputs(pages, block)?;
        let mut columns = Some(block.columns.start);
        while let Some(column) = columns {
            let mut running = session.begin(sums, true);
            for left in work.left[..k * per_tile].chunks_exact(per_tile) {
                let places = [places.next().unwrap_or_default(), free.next().unwrap_or_default()];
                let [right, free] = work.right.get_disjoint_mut(places).expect("two places");
                let Some((column, step)) = packed else {
                    running.steps(left, right);
                    continue;
                };
                let page = self.right_page(pages, block, column, step);
                self.step_beside(&mut running, (left, right), page, step, free);
                packed = following((column, step));
                if let Some((column, step)) = asked {
                    ask_for(self.right_page(pages, block, column, step));
                    asked = following((column, step));
                }
            }
            running.end();
            let page = std::mem::take(&mut outputs[column - block.columns.start]);
            self.finish_lines(pages, &mut Complete { page, column }, 0..LINES, sums)?;
            columns = self.column_after(pages, block, column);
        }
        Ok(())
    }

    /// The pages of a column, from a step along K on, that are multiplied together.
    fn chunk<'p>(&self, pages: &Pages<'p>, block: &Block, column: usize, first: usize) -> Chunk<'p> {
        let (program, plan) = (self.program, &self.plan);
        let end = (first / plan.depth * plan.depth + plan.depth).min(program.k);
        let steps = first..end.min(first + plan.chunk);
        let mut chunk = Chunk { column, steps: steps.clone(), end, pages: [&[]; PANELS] };
        for (page, step) in chunk.pages.iter_mut().zip(steps) {
            *page = self.right_page(pages, block, column, step);
        }
        chunk
    }

    /// A tile of the right operand.
    #[inline]
    fn right_page<'p>(&self, pages: &Pages<'p>, block: &Block, column: usize, step: usize) -> &'p [u8] {
        let program = self.program;
        let first_page = if program.batch.2 == 1 { 0 } else { block.matrix * program.k * program.n };
        let place = if program.transpose_b { column * program.k + step } else { step * program.n + column };
        pages.right.page(first_page + place)
    }

    /// The column that is multiplied after another. Columns whose tiles follow each other in host memory take turns: what
    /// the host fetches ahead of itself is then what comes next.
    fn column_after(&self, pages: &Pages<'_>, block: &Block, column: usize) -> Option<usize> {
        let stride = if self.program.transpose_b { 1 } else { pages.right.stride() };
        let columns = &block.columns;
        if column + stride < columns.end {
            return Some(column + stride);
        }
        let turn = (column - columns.start) % stride + 1;
        (turn < stride && columns.start + turn < columns.end).then_some(columns.start + turn)
    }

    /// What is multiplied after a chunk of a block.
    fn following<'p>(&self, pages: &Pages<'p>, block: &Block, chunk: Option<&Chunk<'p>>) -> Option<Chunk<'p>> {
        let Chunk { column, steps, end, .. } = chunk?;
        let (column, first) = if steps.end < *end {
            (*column, steps.end)
        } else if let Some(column) = self.column_after(pages, block, *column) {
            (column, steps.start / self.plan.depth * self.plan.depth)
        } else if *end < self.program.k {
            (block.columns.start, *end)
        } else {
            return None;
        };
        Some(self.chunk(pages, block, column, first))
    }

    /// Packs the left operand's tiles of some steps along K.
    fn pack_left(&self, pages: &Pages<'_>, block: &Block, steps: Range<usize>, panels: &mut [Panel]) {
        let mut decoded = [0; 2048];
        for (slot, row) in block.rows.clone().enumerate() {
            for step in steps.clone() {
                let bytes = pages.left.page(self.left_page(block, row, step));
                let panels = &mut panels[self.plan.left_place(slot, step - steps.start)..][..self.plan.per_tile];
                let used = self.used(step);
                match self.left.plain(bytes, &mut decoded) {
                    Some(page) if used >= 32 => self.multiplier.pack_left_bf16(page, panels),
                    _ => self.pack_left_tile(bytes, used, panels),
                }
            }
        }
    }

    /// Where a tile of the left operand is stored.
    fn left_page(&self, block: &Block, row: usize, k: usize) -> usize {
        let program = self.program;
        let first_page = if program.batch.1 == 1 { 0 } else { block.matrix * program.m * program.k };
        first_page + if program.transpose_a { k * program.m + row } else { row * program.k + k }
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

    /// Packs a tile of a chunk.
    #[inline]
    fn pack_right(&self, chunk: &Chunk<'_>, number: usize, panels: &mut [Panel]) {
        let per_tile = self.plan.per_tile;
        let panels = &mut panels[number * per_tile..][..per_tile];
        self.pack_right_page(chunk.pages[number], chunk.steps.start + number, panels);
    }

    /// Packs a page of the right operand, of a step along K.
    #[inline]
    fn pack_right_page(&self, bytes: &[u8], step: usize, panels: &mut [Panel]) {
        // What the padding holds meets zeros; infinities there would still show.
        let used = self.used(step);
        if used < 32 || self.right.transposed {
            self.pack_right_tile(bytes, used, panels);
        } else if let (DataFormat::Float16B, Some(page)) = (self.right.input.format, bytes.first_chunk()) {
            self.multiplier.pack_right_bf16(page, panels);
        } else if !self.right.decoder.is_some_and(|decoder| self.multiplier.pack_right_block(decoder, bytes, panels)) {
            self.pack_right_other(bytes, used, panels);
        }
    }

    /// Multiplies a tile of each operand while a page of the right one, of a step along K, is packed.
    #[inline]
    fn step_beside(
        &self,
        running: &mut Running<'_>,
        operands: (&[Panel], &[Panel]),
        bytes: &[u8],
        step: usize,
        panels: &mut [Panel],
    ) {
        let used = self.used(step);
        let plain = self.right.decoder.is_some() || self.right.input.format == DataFormat::Float16B;
        if used < 32 || self.right.transposed || !plain {
            running.steps(operands.0, operands.1);
            self.pack_right_page(bytes, step, panels);
        } else if !running.step_beside(operands, &self.multiplier, self.right.decoder, bytes, panels) {
            self.pack_right_other(bytes, used, panels);
        }
    }

    /// A page that has no way straight to panels.
    #[inline(never)]
    fn pack_right_other(&self, bytes: &[u8], used: usize, panels: &mut [Panel]) {
        let mut decoded = [0; 2048];
        match self.right.plain(bytes, &mut decoded) {
            Some(page) => self.multiplier.pack_right_bf16(page, panels),
            None => self.pack_right_tile(bytes, used, panels),
        }
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

    /// The output's pages of a block, column by column. To claim one between two products would end what they overlap.
    fn outputs<'p>(&self, pages: &Pages<'p>, block: &Block) -> Result<Vec<&'p mut [u8]>, OpError> {
        let program = self.program;
        let places = block.columns.clone().flat_map(|column| block.rows.clone().map(move |row| (row, column)));
        let claim = |(row, column)| pages.output.claim((block.matrix * program.m + row) * program.n + column);
        Ok(places.map(claim).collect::<Result<_, _>>()?)
    }

    /// Sums to some lines of an output page; all at the first of them, unless that is no more than a rounding.
    #[inline]
    fn finish_lines(
        &self,
        pages: &Pages<'_>,
        complete: &mut Complete<'_>,
        lines: Range<usize>,
        sums: &mut Sums,
    ) -> Result<(), OpError> {
        if self.plain
            && let Some(page) = complete.page.first_chunk_mut()
        {
            self.multiplier.to_bf16(sums, lines, page);
            return Ok(());
        }
        if lines.start == 0 { self.finish(pages, complete, sums) } else { Ok(()) }
    }

    /// Sums to an output page: bias, Dst, activation, packer.
    #[inline(never)]
    fn finish(&self, pages: &Pages<'_>, complete: &mut Complete<'_>, sums: &mut Sums) -> Result<(), OpError> {
        let program = self.program;
        if let (Some(input), Some(bias)) = (self.bias, &pages.bias) {
            let mut tile = ZERO;
            input.to_src(bias.page(complete.column)?, &mut tile);
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
        self.pack_out.pack(&sums.0, complete.page);
        Ok(())
    }
}

/// An output whose sums are complete.
struct Complete<'a> {
    page: &'a mut [u8],
    column: usize,
}

/// Tiles that are multiplied between two pieces of other work, if that hides behind the multiplication.
const TOGETHER: usize = 4;

/// Asks for a page that is wanted later: of a large one a line here and there, from which the hardware goes on by itself;
/// in a small one it does not get far.
#[inline]
fn ask_for(page: &[u8]) {
    if page.len() < 2048 {
        (0..page.len()).step_by(64).for_each(|offset| stream::prefetch_second(page, offset));
    } else {
        (0..page.len()).step_by(1024).for_each(|offset| stream::prefetch_second(page, offset));
    }
}

/// Whether values of this register format are BF16 values.
fn is_bf16_family(format: DataFormat) -> bool {
    matches!(format, DataFormat::Float16B | DataFormat::Bfp8B | DataFormat::Bfp4B | DataFormat::Bfp2B)
}
