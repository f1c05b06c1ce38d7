//! Matrix multiplication as the device programs do it.
//!
//! Every output tile is independent of every other. What decides its bits is the width of the K blocks, whether partial
//! sums are accumulated by the packer in L1, the width of Dst, the fidelity, the formats, and what is fused. Cores,
//! sub-blocks, output blocks and multicast decide only the time, so this routine splits the work as the host likes.

use std::ops::Range;

use tt_cpu::stream::Ahead;
use tt_formats::{DataFormat, TileShape};
use tt_fpu::{Accumulator, Arch, Broadcast, CopyTile, EltwiseOp, MathConfig, MathFidelity, PreparedA, PreparedB};
use tt_memory::{Access, BufferId, Device, access};
use tt_tensix::pack::{self, PackConfig, Relu};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};
use tt_tensix::unpack;

use crate::movement::HALVES;
use crate::windows::{Left, LeftOperand, may_be_made};
use crate::{Chain, OpError, for_each_page};

/// Side, in tiles, of the largest block of output tiles that one work item computes: each operand tile is unpacked once
/// for a whole row or column of the block. Dst, partial sums and operands of such a block fit a 1 MiB cache. With fewer
/// rows it has more columns.
const BLOCK: usize = 8;

/// Tiles of the right operand between the one that is multiplied and the one that is asked for.
const AHEAD: usize = 8;

/// Ring matmul, where cores pass the left operand round.
///
/// Each begins with the part that it holds. Source: tt-metal `bmm_large_block_zm_fused_bias_activation_gathered.cpp`.
#[derive(Clone, Copy, Debug)]
pub struct Ring {
    /// Tile columns of the output that a core computes.
    pub columns: usize,
    /// Tiles along the inner dimension that a core holds.
    ///
    /// Divides the inner dimension.
    pub k_tiles: usize,
}

impl Ring {
    /// The tile along the inner dimension, of `k` tiles, that comes at `place` for the core of an output column.
    fn tile(self, place: usize, column: usize, k: usize) -> usize {
        let parts = k / self.k_tiles;
        (place / self.k_tiles + column / self.columns) % parts * self.k_tiles + place % self.k_tiles
    }
}

/// Settings of the program.
///
/// Sizes are in tiles of 32 x 32 unless stated otherwise.
#[derive(Clone)]
pub struct MatmulProgram {
    /// Formats of the left operand, the right operand and the output.
    pub formats: (DataFormat, DataFormat, DataFormat),
    /// Matrices in the output, the left and the right operand.
    ///
    /// 1 means that the operand is shared.
    pub batch: (usize, usize, usize),
    /// Tile rows of the left operand.
    pub m: usize,
    /// Tiles along the inner dimension.
    pub k: usize,
    /// Tile columns of the right operand.
    pub n: usize,
    /// Logical inner dimension in datums.
    ///
    /// What lies beyond in the last tile of the left operand counts as zero.
    pub k_datums: usize,
    /// Tiles per K block; divides `k`.
    pub k_block: usize,
    /// The inner dimension's order: a core ring's, otherwise ascending.
    pub ring: Option<Ring>,
    /// Fidelity of the products.
    pub fidelity: MathFidelity,
    /// 32-bit Dst.
    pub dst32: bool,
    /// The packer accumulates partial sums in L1.
    pub packer_l1_acc: bool,
    /// Partial sums come back to Dst past `SrcA`, whole.
    ///
    /// Otherwise through it, which cuts FP32 to TF32.
    pub reload_direct: bool,
    /// The packer clips the result below zero.
    pub relu: bool,
    /// Vector-unit functions on the result in Dst.
    pub activation: Chain,
    /// The source of the left operand.
    pub left: LeftOperand,
    /// The left operand is stored as K x M.
    pub transpose_a: bool,
    /// The right operand is stored as N x K.
    pub transpose_b: bool,
    /// Chip.
    pub arch: Arch,
}

impl MatmulProgram {
    /// The tile along the inner dimension that is multiplied at `place` for an output column.
    fn k_tile(&self, place: usize, column: usize) -> usize {
        self.ring.map_or(place, |ring| ring.tile(place, column, self.k))
    }

    /// The page of the left operand for a tile row and a step along K.
    #[inline]
    pub(crate) fn left_page(&self, matrix: usize, row: usize, k: usize) -> usize {
        let first = if self.batch.1 == 1 { 0 } else { matrix * self.m * self.k };
        first + if self.transpose_a { k * self.m + row } else { row * self.k + k }
    }

    /// The page of the right operand for a tile column and a step along K.
    #[inline]
    pub(crate) fn right_page(&self, matrix: usize, column: usize, k: usize) -> usize {
        let first = if self.batch.2 == 1 { 0 } else { matrix * self.k * self.n };
        first + if self.transpose_b { column * self.k + k } else { k * self.n + column }
    }

    fn k_blocks(&self) -> usize {
        self.k / self.k_block
    }

    /// L1 accumulation really in use: there is something to accumulate.
    fn accumulates(&self) -> bool {
        self.packer_l1_acc && self.k_blocks() > 1
    }

    /// Format of partial sums in L1.
    pub fn partials(&self) -> DataFormat {
        if self.dst32 {
            DataFormat::Float32
        } else if self.accumulates() {
            DataFormat::Float16B
        } else {
            self.formats.2
        }
    }
}

/// A fused bias.
#[derive(Clone, Copy, Debug)]
pub struct Bias {
    /// Its buffer.
    pub buffer: BufferId,
    /// Its format.
    pub format: DataFormat,
    /// Tile rows added tile by tile, repeated down the output.
    ///
    /// `None`: row 0 of its one tile row is added to every row.
    pub tile_rows: Option<usize>,
}

impl Bias {
    /// The page that is added to a tile of the output.
    pub(crate) fn page(&self, (row, column): (usize, usize), columns: usize) -> usize {
        self.tile_rows.map_or(0, |rows| row % rows) * columns + column
    }
}

/// Runs the program.
///
/// # Errors
/// Memory errors; buffers that do not hold the tiles the program asks for; a K block that does not divide K.
pub fn matmul(
    device: &mut Device,
    (a, b): (BufferId, BufferId),
    bias: Option<Bias>,
    output: BufferId,
    program: &MatmulProgram,
) -> Result<(), OpError> {
    require_pages(device, (a, b), bias, output, program)?;
    require_formats(program, bias.map(|bias| bias.format))?;
    let kernel = Kernel::new(program, bias);
    let access = device.access(&[output])?;
    let pages = Pages::new(&access, (a, b), bias, output, &program.left)?;
    let blocks = Blocks::new(program, tt_cpu::pool::threads());
    let make = || Scratch::new(blocks.rows, blocks.columns);
    for_each_page(blocks.items(), make, |scratch, item| kernel.block(&pages, &blocks.block(item), scratch))
}

/// The buffers of a call.
pub(crate) struct Pages<'a> {
    pub(crate) left: Left<'a>,
    pub(crate) right: access::Pages<'a>,
    pub(crate) bias: Option<access::Input<'a>>,
    pub(crate) output: access::Output<'a>,
}

impl<'a> Pages<'a> {
    pub(crate) fn new(
        access: &'a Access<'_>,
        (a, b): (BufferId, BufferId),
        bias: Option<Bias>,
        output: BufferId,
        left: &'a LeftOperand,
    ) -> Result<Self, OpError> {
        Ok(Self {
            left: Left::new(access.input(a)?.all()?, left),
            right: access.input(b)?.all()?,
            bias: bias.map(|bias| access.input(bias.buffer)).transpose()?,
            output: access.output(output)?,
        })
    }
}

/// Refuses buffers that do not hold the tiles that the program asks for, and K blocks that do not divide K.
pub(crate) fn require_pages(
    device: &Device,
    (a, b): (BufferId, BufferId),
    bias: Option<Bias>,
    output: BufferId,
    program: &MatmulProgram,
) -> Result<(), OpError> {
    let fits = |id: BufferId, tiles: usize, name: &str| -> Result<(), OpError> {
        let pages = device.buffer(id)?.num_pages();
        if pages == tiles {
            return Ok(());
        }
        let what = format!("{name} has {pages} tiles, the program asks for {tiles}");
        Err(OpError::Invariant { operator: "matmul", what })
    };
    let (batch, batch_a, batch_b) = program.batch;
    if !program.left.is_pages() && !may_be_made(program.formats.0, program.transpose_a) {
        let what = format!("a left operand of {:?} that is made: {:?}", program.formats.0, program.left);
        return Err(OpError::Invariant { operator: "matmul", what });
    }
    if let LeftOperand::Windows(windows) = &program.left {
        let images = device.buffer(a)?;
        windows.check((program.m, program.k), (images.num_pages(), images.page_bytes()))?;
    } else {
        fits(a, batch_a * program.m * program.k, "the left operand")?;
    }
    fits(b, batch_b * program.k * program.n, "the right operand")?;
    fits(output, batch * program.m * program.n, "the output")?;
    if let Some(bias) = bias {
        fits(bias.buffer, bias.tile_rows.unwrap_or(1) * program.n, "the bias")?;
        if bias.tile_rows.is_some_and(|rows| rows == 0 || !program.m.is_multiple_of(rows)) {
            let what = format!("a bias of {:?} tile rows for an output of {}", bias.tile_rows, program.m);
            return Err(OpError::Invariant { operator: "matmul", what });
        }
    }
    if program.k_block == 0 || !program.k.is_multiple_of(program.k_block) {
        let what = format!("K blocks of {} tiles do not divide {}", program.k_block, program.k);
        return Err(OpError::Invariant { operator: "matmul", what });
    }
    if let Some(ring) = program.ring
        && (ring.columns == 0 || ring.k_tiles == 0 || !program.k.is_multiple_of(ring.k_tiles))
    {
        let what = format!("a ring of cores with {ring:?} for {} tiles along K", program.k);
        return Err(OpError::Invariant { operator: "matmul", what });
    }
    Ok(())
}

/// Refuses formats that the FPU cannot multiply or a Dst of the program's width cannot hold.
fn require_formats(program: &MatmulProgram, bias: Option<DataFormat>) -> Result<(), OpError> {
    let refuse = |what: String| Err(OpError::Invariant { operator: "matmul", what });
    let (left, right, output) = program.formats;
    for format in [left, right].into_iter().chain(bias) {
        if format.is_integer() {
            return refuse(format!("{format:?} operands: the program multiplies floating point formats"));
        }
        if format.has_5_bit_exponent() != right.has_5_bit_exponent() {
            return refuse(format!(
                "operands of two exponent families, {format:?} and {right:?}: both need 8 or both need 5 exponent bits"
            ));
        }
    }
    if output.is_integer() {
        return refuse(format!("an output of {output:?}: Dst holds floating point sums"));
    }
    Ok(())
}

/// How the output is cut into work items: large blocks, as operand tiles are then unpacked less often, and at the end
/// halves of blocks, so that threads of which one has lost time to something else end together all the same.
struct Blocks<'a> {
    program: &'a MatmulProgram,
    /// Rows and columns of a block, in tiles.
    rows: usize,
    columns: usize,
    /// Blocks that are one item, and blocks that are two.
    whole: usize,
    halved: usize,
}

impl<'a> Blocks<'a> {
    fn new(program: &'a MatmulProgram, threads: usize) -> Self {
        let mut rows = BLOCK.min(program.m);
        let mut columns = (BLOCK * BLOCK / rows).min(program.n);
        if let Some(ring) = program.ring {
            // All columns of a block have the same order.
            columns = (1..=columns).rev().find(|&width| ring.columns.is_multiple_of(width)).unwrap_or(1);
        }
        let count =
            |rows: usize, columns: usize| program.batch.0 * program.m.div_ceil(rows) * program.n.div_ceil(columns);
        let wanted = if threads == 1 { 1 } else { 2 * threads };
        while count(rows, columns) < wanted && rows * columns > 1 {
            if rows >= columns || (rows > 1 && program.ring.is_some()) {
                rows = rows.div_ceil(2);
            } else if program.ring.is_none() {
                columns = columns.div_ceil(2);
            } else {
                break;
            }
        }
        let blocks = count(rows, columns);
        // A few that come out even are left whole.
        let even = threads == 1 || blocks.is_multiple_of(threads) && blocks < 4 * threads;
        let halved = if even || rows * columns == 1 { 0 } else { threads.min(blocks) };
        Self { program, rows, columns, whole: blocks - halved, halved }
    }

    fn items(&self) -> usize {
        self.whole + 2 * self.halved
    }

    /// The block of an item; the second half of a narrow block at the edge may be empty.
    fn block(&self, item: usize) -> Block {
        let Self { program, rows, columns, whole, .. } = *self;
        let halves = item.saturating_sub(whole);
        let number = item - halves + halves / 2;
        let across = program.n.div_ceil(columns);
        let down = program.m.div_ceil(rows);
        let (column, row) = (number % across * columns, number / across % down * rows);
        let mut block = Block {
            matrix: number / across / down,
            rows: row..(row + rows).min(program.m),
            columns: column..(column + columns).min(program.n),
        };
        if item >= whole {
            let side = if rows >= columns { &mut block.rows } else { &mut block.columns };
            let middle = side.start + side.len().div_ceil(2);
            *side = if halves % 2 == 0 { side.start..middle } else { middle..side.end };
        }
        block
    }
}

/// Output tiles of one work item.
struct Block {
    matrix: usize,
    rows: Range<usize>,
    columns: Range<usize>,
}

/// Registers, prepared operands and partial sums of one block.
struct Scratch {
    src: Tile,
    other: Tile,
    l1: Vec<u8>,
    left: Vec<PreparedB>,
    right: PreparedA,
    dst: Vec<Accumulator>,
    partials: Vec<Partial>,
}

/// A partial sum of an output tile in L1.
#[derive(Clone)]
struct Partial {
    l1: [u8; 4096],
    /// Rows from here on are +0.
    rows: usize,
}

impl Scratch {
    fn new(rows: usize, columns: usize) -> Box<Self> {
        Box::new(Self {
            src: ZERO,
            other: ZERO,
            l1: vec![0; 4096],
            left: vec![PreparedB::new(); rows],
            right: PreparedA::new(),
            dst: vec![Accumulator::new(); rows * columns],
            partials: vec![Partial { l1: [0; 4096], rows: 0 }; rows * columns],
        })
    }
}

/// Settings of every step.
struct Kernel<'a> {
    program: &'a MatmulProgram,
    math: MathConfig,
    left: Input,
    right: Input,
    bias: Option<(Bias, Input)>,
    spill: PackConfig,
    reload: Input,
    pack_out: PackConfig,
    pack_left: PackConfig,
}

impl<'a> Kernel<'a> {
    fn new(program: &'a MatmulProgram, bias: Option<Bias>) -> Self {
        let (format_a, format_b, format_out) = program.formats;
        let dst = tile_io::dst_format(format_a, program.dst32);
        let right = Input::new(format_b, program.dst32);
        let partials = program.partials();
        let mut pack_out = PackConfig::new(dst, format_out);
        if program.relu {
            pack_out.relu = Relu::MinThreshold(0);
        }
        Self {
            program,
            math: MathConfig { fidelity: program.fidelity, dst, alu: right.register, arch: program.arch },
            left: Input::new(format_a, program.dst32),
            right,
            bias: bias.map(|bias| (bias, Input::new(bias.format, program.dst32))),
            spill: PackConfig::new(dst, partials),
            reload: if program.reload_direct {
                Input::direct_to_dst(partials, program.dst32)
            } else {
                Input::new(partials, program.dst32)
            },
            pack_out,
            pack_left: PackConfig::new(dst, format_a),
        }
    }

    /// A block of output tiles: all K blocks, then the bias.
    fn block(&self, pages: &Pages<'_>, block: &Block, scratch: &mut Scratch) -> Result<(), OpError> {
        let program = self.program;
        let blocks = program.k_blocks();
        let accumulate = program.accumulates();
        let slots = block.rows.len() * block.columns.len();
        if slots == 0 {
            return Ok(());
        }
        let mut made = [0; HALVES];
        for k_block in 0..blocks {
            let last = k_block + 1 == blocks;
            let reload = k_block > 0 && (!accumulate || (self.bias.is_none() && last));
            for slot in 0..slots {
                if reload {
                    self.reload(slot, scratch);
                } else {
                    scratch.dst[slot].clear();
                }
            }
            for place in k_block * program.k_block..(k_block + 1) * program.k_block {
                let k = program.k_tile(place, block.columns.start);
                for (slot, row) in block.rows.clone().enumerate() {
                    let place = (program.left_page(block.matrix, row, k), row, k);
                    self.unpack_left(pages.left.tile(place, &mut made), k, scratch);
                    scratch.left[slot].prepare(&self.math, &scratch.src);
                }
                for (slot, column) in block.columns.clone().enumerate() {
                    let coming = self.coming(pages, block, (place, slot));
                    let mut ahead = Ahead::new(coming.as_slice());
                    // Some lines at a time: many at once would keep the CPU from everything else.
                    let share = ahead.share(2 + block.rows.len());
                    let page = pages.right.page(program.right_page(block.matrix, column, k));
                    self.prepare_right(page, scratch, || ahead.ask(share));
                    let Scratch { left, right, dst, .. } = &mut *scratch;
                    let dst = dst[..slots].iter_mut().skip(slot).step_by(block.columns.len());
                    for (left, dst) in left.iter_mut().zip(dst) {
                        ahead.ask(share);
                        tt_fpu::accumulate(&self.math, dst, right, left);
                    }
                }
            }
            if last && self.bias.is_none() {
                break;
            }
            let spill = PackConfig { l1_accumulate: accumulate && k_block > 0, ..self.spill };
            let bytes = spill.output.tile_bytes(TileShape::FULL);
            for (dst, partial) in scratch.dst[..slots].iter_mut().zip(&mut scratch.partials) {
                // An accumulated row is +0 as long as all its terms are.
                partial.rows = if spill.l1_accumulate { partial.rows } else { 0 }.max(dst.used_rows());
                pack::pack_tile_rows(&spill, dst.dst(), &mut partial.l1[..bytes], partial.rows);
            }
        }
        for (slot, (row, column)) in
            block.rows.clone().flat_map(|row| block.columns.clone().map(move |column| (row, column))).enumerate()
        {
            if let (Some((bias, input)), Some(tiles)) = (self.bias, &pages.bias) {
                let broadcast = if bias.tile_rows.is_some() { Broadcast::None } else { Broadcast::Row };
                let tile = tiles.page(bias.page((row, column), program.n))?;
                self.add_bias(slot, (input, broadcast), tile, scratch);
            }
            let page = (block.matrix * program.m + row) * program.n + column;
            let dst = scratch.dst[slot].dst();
            program.activation.apply(dst, program.dst32);
            pack::pack_tile(&self.pack_out, dst, pages.output.claim(page)?);
        }
        Ok(())
    }

    /// The right tile that is asked for as one column of the block is multiplied in one step along K. This column's
    /// share of the next left ones is asked for here.
    fn coming<'p>(&self, pages: &Pages<'p>, block: &Block, (place, slot): (usize, usize)) -> Option<&'p [u8]> {
        let (program, columns) = (self.program, block.columns.len());
        let step = |place: usize| (place < program.k).then(|| program.k_tile(place, block.columns.start));
        if let Some(k) = step(place + 1) {
            for row in block.rows.clone().skip(slot).step_by(columns) {
                pages.left.ask(program.left_page(block.matrix, row, k));
            }
        }
        let k = step(place + (slot + AHEAD) / columns)?;
        let column = block.columns.start + (slot + AHEAD) % columns;
        Some(pages.right.page(program.right_page(block.matrix, column, k)))
    }

    /// Unpacks and prepares a tile of the right operand, with something else to do before each.
    fn prepare_right(&self, bytes: &[u8], scratch: &mut Scratch, mut before: impl FnMut()) {
        let Scratch { src, other, right, .. } = scratch;
        before();
        self.right.to_src(bytes, src);
        before();
        if self.program.transpose_b {
            unpack::transpose(src, other);
            right.prepare(&self.math, other);
        } else {
            right.prepare(&self.math, src);
        }
    }

    /// One tile of the left operand into `scratch.src`, with zeros beyond the logical inner dimension.
    fn unpack_left(&self, bytes: &[u8], k: usize, scratch: &mut Scratch) {
        let program = self.program;
        let Scratch { src, other, l1, .. } = scratch;
        self.left.to_src(bytes, src);
        let used = program.k_datums - (k * 32).min(program.k_datums);
        if used < 32 {
            // The reader overwrites these datums in L1: columns, or rows of a tile that is stored transposed.
            for (index, word) in src.iter_mut().enumerate() {
                let (row, column) = TileShape::FULL.position(index);
                if (if program.transpose_a { row } else { column }) >= used {
                    *word = 0;
                }
            }
        }
        if program.transpose_a {
            // The transposed tile goes through Dst and back to L1 in its own format before it is multiplied.
            unpack::transpose(src, other);
            tt_fpu::copy_to_dst(&MathConfig { alu: self.left.register, ..self.math }, src, other);
            let bytes = self.left.format.tile_bytes(TileShape::FULL);
            pack::pack_tile(&self.pack_left, src, &mut l1[..bytes]);
            self.left.to_src(&l1[..bytes], src);
        }
    }

    /// The partial sum of a slot back into Dst.
    fn reload(&self, slot: usize, scratch: &mut Scratch) {
        let bytes = self.reload.format.tile_bytes(TileShape::FULL);
        let Scratch { partials, other, dst, .. } = scratch;
        self.reload.to_dst(&self.math, &partials[slot].l1[..bytes], other, dst[slot].dst());
    }

    /// Dst of a slot = its partial sum + the bias tile, or its row 0.
    fn add_bias(&self, slot: usize, (input, broadcast): (Input, Broadcast), bias: &[u8], scratch: &mut Scratch) {
        let Scratch { partials, src, other, dst, .. } = scratch;
        let view = Input::new(self.reload.format, self.program.dst32);
        let bytes = view.format.tile_bytes(TileShape::FULL);
        view.to_src(&partials[slot].l1[..bytes], src);
        input.to_src(bias, other);
        let math = MathConfig { alu: view.register, ..self.math };
        tt_fpu::eltwise(&math, EltwiseOp::Add, broadcast, false, dst[slot].dst(), src, other);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A program of some size: everything else is the plainest.
    pub(crate) fn program(batch: usize, m: usize, n: usize, ring: Option<Ring>) -> MatmulProgram {
        MatmulProgram {
            formats: (DataFormat::Float16B, DataFormat::Float16B, DataFormat::Float16B),
            batch: (batch, batch, 1),
            m,
            k: 4,
            n,
            k_datums: 128,
            k_block: 4,
            ring,
            fidelity: MathFidelity::LoFi,
            dst32: false,
            packer_l1_acc: false,
            reload_direct: true,
            relu: false,
            activation: Chain::default(),
            left: LeftOperand::Tiles,
            transpose_a: false,
            transpose_b: false,
            arch: Arch::Wormhole,
        }
    }

    #[test]
    fn blocks_cover_every_output_tile_once() {
        for threads in [1, 2, 3, 8] {
            for (m, n) in [(1, 1), (1, 9), (9, 1), (2, 3), (8, 8), (17, 9), (16, 16), (16, 24), (33, 16), (40, 64)] {
                for (batch, ring) in [(1, None), (3, None), (1, Some(Ring { columns: 3, k_tiles: 2 }))] {
                    let program = program(batch, m, n, ring);
                    let blocks = Blocks::new(&program, threads);
                    let mut seen = vec![0; batch * m * n];
                    for block in (0..blocks.items()).map(|item| blocks.block(item)) {
                        assert!(block.rows.len() <= blocks.rows && block.columns.len() <= blocks.columns);
                        let ends = (block.columns.start / 3, (block.columns.end.max(1) - 1) / 3);
                        assert!(ring.is_none() || block.columns.is_empty() || ends.0 == ends.1, "one order of K");
                        for (row, column) in block.rows.flat_map(|row| block.columns.clone().map(move |c| (row, c))) {
                            seen[(block.matrix * m + row) * n + column] += 1;
                        }
                    }
                    assert!(seen.iter().all(|&times| times == 1), "{m} x {n} x {batch} on {threads} threads");
                }
            }
        }
    }
}
