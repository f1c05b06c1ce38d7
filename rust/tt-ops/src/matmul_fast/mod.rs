//! Matrix multiplication in the `fast` numerics mode: see `tt_tensix::fast` for what is kept of the chip's arithmetic.
//!
//! A program's K blocks, its L1 accumulation and the rounding of partial sums have no part in it: each output is one
//! FP32 sum in the order of K, rounded when it leaves (to the format of Dst, then by the packer). A work item is a
//! block of output tiles. Its left operand is packed as the block goes along K; the right one as [`plan`] says: before,
//! for many rows of tiles; in passing, for some; as memory brings it, for one; for few rows of datums, not at all.
//! Scratch has a bounded size, pages are read where they lie, and how the work is split cannot show in a result.

mod direct;
mod few;
mod finish;
mod operand;
mod packed;
mod passing;
mod plan;
mod row;
mod workspace;

use tt_cpu::{Level, pool};
use tt_formats::DataFormat;
use tt_memory::{BufferId, Device};
use tt_tensix::fast::{Few, Masks, Multiplier, Panel, Session};
use tt_tensix::fpu::MathConfig;
use tt_tensix::pack::{DstFormat, PackConfig, Packer, Relu};
use tt_tensix::tile_io::{self, Input};

use crate::OpError;
use crate::matmul::{Bias, MatmulProgram, Pages, require_pages};
use crate::pages::FirstError;
use operand::Operand;
use plan::{Block, Plan};
use workspace::{Taken, Workspace};

/// Tiles of two operands that are not packed before they are multiplied, if the unit can do without: 1 MiB. They stay
/// in the caches nearby; of larger ones the CPU does not see what comes next, as it does in panels. Of one row of tiles
/// nothing is used again, so that packing had better hide behind the only product.
const DIRECT_TILES: usize = 512;

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
    let pages = Pages::new(&access, (a, b), bias, output)?;
    let plan = kernel.plan;
    let make = || (kernel.multiplier.session(), Taken::workspace(&plan));
    for stage in plan.stages(program) {
        let panels = plan.packed_panels(program, &stage);
        let mut right = plan.packs_first.then(|| Taken::right_panels(panels)).transpose()?;
        let packed = right.as_mut().map(|right| {
            let bytes = &mut right.bytes()[..panels * size_of::<Panel>()];
            kernel.pack_stage(&pages, &stage, bytemuck::cast_slice_mut(bytes))
        });
        let error = FirstError::default();
        pool::for_each_init(plan.items(program, &stage), make, |(session, scratch), item| {
            error.run(|| {
                let block = plan.block(program, &stage, item);
                let scratch = scratch.as_mut().map_err(|error| OpError::Memory(error.clone()))?;
                let mut work = plan.workspace(scratch.bytes());
                match &packed {
                    Some(packed) => kernel.multiply(&pages, &block, packed, session, &mut work),
                    None => kernel.block(&pages, &block, session, &mut work),
                }
            });
        });
        error.finish()?;
    }
    Ok(())
}

/// Settings of every step.
struct Kernel<'a> {
    program: &'a MatmulProgram,
    plan: Plan,
    level: Level,
    multiplier: Multiplier,
    /// Pages of both operands are multiplied as they are, or packed while they are multiplied.
    masks: Option<Masks>,
    /// Pages of the right operand are multiplied with few rows as they are.
    few: Option<Few>,
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
        let dst = tile_io::dst_format(format_a, program.dst32);
        // Sums go straight to BF16 if nothing happens between Dst and the packer: that is the rounding to Dst.
        let direct = program.dst32 || (format_out == DataFormat::Float16B && program.activation.is_empty());
        let mut pack_out = PackConfig::new(if direct { DstFormat::Fp32 } else { dst }, format_out);
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
        let plan = Plan::new(program, multiplier.panels(), multiplier.multiplies_on());
        let one_row = program.m == 1 && plan.depth == program.k && program.k_datums == 32 * program.k;
        let few = if one_row && right.goes_straight() { multiplier.few(right.decoder) } else { None };
        Ok(Self {
            program,
            level,
            plan,
            few,
            masks: multiplier.masks().filter(|_| {
                let tiles = (program.m + program.n) * program.k;
                let whole = left.is_plain() && right.is_plain() && program.k_datums == 32 * program.k;
                whole && (tiles <= DIRECT_TILES || program.m == 1 && multiplier.packs_beside())
            }),
            multiplier,
            bias: bias.map(|bias| Input::new(bias.format, program.dst32)),
            repack_left: (math, PackConfig::new(dst, format_a)),
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
        if let Some(few) = &self.few
            && self.few(few, pages, block, session, work)?
        {
            return Ok(());
        }
        if let Some(masks) = &self.masks {
            self.direct(pages, block, masks, session, work)
        } else if self.plan.rows == 1 && self.plan.depth == self.program.k && self.multiplier.multiplies_on() {
            self.row(pages, block, session, work)
        } else {
            self.rows(pages, block, session, work)
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
