//! Matrix multiplication in the `fast` numerics mode.
//!
//! See `tt_fast` for what is kept of the chip's arithmetic.
//!
//! A program's K blocks, its L1 accumulation and the rounding of partial sums have no part in it: each output is one
//! FP32 sum in the order of K, rounded when it leaves (to the format of Dst, then by the packer). A work item is a
//! block of output tiles. Its left operand is packed as the block goes along K; what becomes of the right one is the
//! [`Strategy`]. Scratch has a bounded size, pages are read where they lie, and how the work is split cannot show in a
//! result.

mod finish;
mod gemv;
mod on_the_fly;
mod operand;
mod packed_first;
mod small_m;
mod unpacked;

use std::borrow::Cow;

use tt_cpu::{Level, pool};
use tt_fast::{Block, Multiplier, Operands, Panel, Plan, Session, Shape, Strategy, Taken, TileRow, Workspace, plan};
use tt_formats::DataFormat;
use tt_fpu::MathConfig;
use tt_memory::{BufferId, Device, MemoryError};
use tt_tensix::pack::{DstFormat, PackConfig, Packer, Relu};
use tt_tensix::regs::index;
use tt_tensix::tile_io::{self, Input, Tile, ZERO};

use crate::OpError;
use crate::matmul::{Bias, MatmulProgram, Pages, require_pages};
use crate::pages::FirstError;
use finish::Finish;
use operand::Operand;
use packed_first::Packed;

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
    let program = &in_one_matrix(program);
    let mut kernel = Kernel::new(program)?;
    let access = device.access(&[output])?;
    let pages = Pages::new(&access, (a, b), bias, output, &program.left)?;
    if let Some(bias) = bias {
        kernel.bias = Addend::new(&pages, bias, program)?;
    }
    let kernel = kernel;
    let plan = kernel.plan;
    let make = || (kernel.multiplier.session(), Taken::workspace(&plan));
    let shape = &kernel.shape;
    for stage in plan.stages(shape) {
        let panels = plan.packed_panels(shape, &stage);
        let first = matches!(kernel.strategy, Strategy::PackedFirst);
        let mut right = first.then(|| Taken::right_panels(panels)).transpose().map_err(MemoryError::from)?;
        let packed = right.as_mut().map(|right| {
            let bytes = &mut right.bytes()[..panels * size_of::<Panel>()];
            kernel.pack_stage(&pages, &stage, bytemuck::cast_slice_mut(bytes))
        });
        let error = FirstError::default();
        pool::for_each_init(plan.items(shape, &stage), make, |(session, scratch), item| {
            error.run(|| {
                let block = plan.block(shape, &stage, item);
                let scratch = scratch.as_mut().map_err(|error| MemoryError::from(*error))?;
                let mut work = plan.workspace(scratch.bytes());
                kernel.block(&kernel.strategy, (&pages, packed.as_ref()), &block, session, &mut work)
            });
        });
        error.finish()?;
    }
    Ok(())
}

/// The same program on one left matrix, if rows of several follow each other and all are multiplied by one right matrix:
/// that is then packed once, and used by more rows.
fn in_one_matrix(program: &MatmulProgram) -> Cow<'_, MatmulProgram> {
    let (matrices, left, right) = program.batch;
    if matrices == 1 || left != matrices || right != 1 || program.transpose_a || !program.left.is_pages() {
        return Cow::Borrowed(program);
    }
    Cow::Owned(MatmulProgram { batch: (1, 1, 1), m: matrices * program.m, ..program.clone() })
}

/// What the bias adds to output tiles, as `SrcB` has it.
enum Addend {
    Nothing,
    /// One row per column of tiles.
    Rows(Vec<TileRow>),
    /// Tiles, row by row.
    Tiles(Bias, Vec<Tile>),
}

impl Addend {
    fn new(pages: &Pages<'_>, bias: Bias, program: &MatmulProgram) -> Result<Self, OpError> {
        let Some(stored) = &pages.bias else { return Ok(Self::Nothing) };
        let input = Input::new(bias.format, program.dst32);
        let count = bias.tile_rows.unwrap_or(1) * program.n;
        let tiles = (0..count).map(|page| {
            let mut tile = ZERO;
            input.to_src(stored.page(page)?, &mut tile);
            for word in &mut tile {
                *word <<= 13;
            }
            Ok(tile)
        });
        if bias.tile_rows.is_some() {
            return Ok(Self::Tiles(bias, tiles.collect::<Result<_, OpError>>()?));
        }
        let row = |tile: Tile| std::array::from_fn(|column| tile[index(0, column)]);
        Ok(Self::Rows(tiles.map(|tile| tile.map(row)).collect::<Result<_, OpError>>()?))
    }
}

/// Settings of every step.
struct Kernel<'a> {
    program: &'a MatmulProgram,
    shape: Shape,
    plan: Plan,
    strategy: Strategy,
    level: Level,
    multiplier: Multiplier,
    left: Operand,
    right: Operand,
    bias: Addend,
    /// A transposed left tile goes through Dst and back to L1 in its own format before it is multiplied.
    repack_left: (MathConfig, PackConfig),
    pack_out: Packer,
    /// Sums become BF16 before anything else happens to them.
    rounds: bool,
    finish: Finish,
}

impl<'a> Kernel<'a> {
    fn new(program: &'a MatmulProgram) -> Result<Self, OpError> {
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
        let dst = tile_io::dst_format(format_a, program.dst32);
        // Sums go straight to BF16 if nothing happens between Dst and the packer: that is the rounding to Dst.
        let direct = program.dst32 || (format_out == DataFormat::Float16B && program.activation.is_empty());
        let mut pack_out = PackConfig::new(if direct { DstFormat::Fp32 } else { dst }, format_out);
        if program.relu {
            pack_out.relu = Relu::MinThreshold(0);
        }
        let multiplier = Multiplier::new(program.fidelity, wide, level);
        let math = MathConfig { fidelity: program.fidelity, dst, alu: left.input.register, arch: program.arch };
        let MatmulProgram { batch, m, k, n, .. } = *program;
        let shape = Shape { batch, m, k, n };
        let operands = Operands {
            bf16: left.is_plain() && right.is_plain() && program.left.is_pages(),
            right_goes_straight: right.goes_straight(),
            right_decoder: right.decoder,
            whole_k: program.k_datums == 32 * k,
        };
        let (strategy, plan) = Strategy::choose(&shape, &operands, &multiplier);
        Ok(Self {
            program,
            level,
            strategy,
            shape,
            plan,
            multiplier,
            bias: Addend::Nothing,
            finish: Finish::new(program, &pack_out, direct, level),
            repack_left: (math, PackConfig::new(dst, format_a)),
            pack_out: Packer::new(&pack_out, level)
                .map_err(|error| OpError::Invariant { operator: "matmul", what: error.to_string() })?,
            rounds: !direct,
            left,
            right,
        })
    }

    /// A block of output tiles.
    fn block(
        &self,
        strategy: &Strategy,
        (pages, packed): (&Pages<'_>, Option<&Packed<'_>>),
        block: &Block,
        session: &mut Session,
        work: &mut Workspace<'_>,
    ) -> Result<(), OpError> {
        match (strategy, packed) {
            (Strategy::SmallM(small_m, otherwise), _) => {
                if self.small_m(small_m, pages, block, session, work)? {
                    return Ok(());
                }
                self.block(otherwise, (pages, packed), block, session, work)
            }
            (Strategy::Unpacked(masks), _) => self.unpacked(pages, block, masks, session, work),
            (Strategy::Gemv, _) => self.gemv(pages, block, session, work),
            (Strategy::PackedFirst, Some(packed)) => self.packed_first(pages, block, packed, session, work),
            _ => self.pack_on_the_fly(pages, block, session, work),
        }
    }

    /// The column whose turn it is. If the right operand is read in its own order, columns whose tiles follow each other in
    /// host memory have turns that do: what the host fetches ahead of itself is then what comes next, on the same thread.
    #[inline]
    fn column(&self, pages: &Pages<'_>, turn: usize) -> usize {
        plan::column(turn, self.program.n, self.stride(pages))
    }

    /// How far the column of a turn is from the one before, nearly always.
    #[inline]
    fn stride(&self, pages: &Pages<'_>) -> usize {
        if self.plan.packs_first || self.program.transpose_b { 1 } else { pages.right.stride() }
    }
}

/// Whether values of this register format are BF16 values.
fn is_bf16_family(format: DataFormat) -> bool {
    matches!(format, DataFormat::Float16B | DataFormat::Bfp8B | DataFormat::Bfp4B | DataFormat::Bfp2B)
}
