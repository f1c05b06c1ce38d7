//! The compute engine of a core as a compute kernel drives it.
//!
//! Registers, their protocol, and the setup of its units.
//!
//! Clocks: the unpacker may be two operands ahead of the FPU, which has two banks of each source register; the
//! FPU may be one half of `Dst` ahead of the packer.

pub(crate) mod later;
pub mod setups;
pub(crate) mod shape;

use tt_formats::{DataFormat, TileShape};
use tt_fpu::{Accumulator, Arch, Broadcast, EltwiseOp, MathConfig, PoolOp, PreparedA, PreparedB, ReduceDim};
use tt_sfpu::tile::Registers;
use tt_tensix::pack::{DstFormat, EdgeMask, Relu};
use tt_tensix::regs::{Dst, TILE_DATUMS};
use tt_tensix::tile_io;

use crate::error::FaultKind;
use crate::spec::ComputeConfig;
use crate::vectors::Recorder;

/// A tile in registers.
pub(crate) type Tile = Dst;
pub(crate) const ZERO: Tile = [0; TILE_DATUMS];

/// The path of a tile to `Dst`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copying {
    /// As it is.
    Plain,
    /// Transposed.
    Transposed,
    /// One row, column or datum of it at all places.
    Spread(Broadcast),
}

/// The last setup of unpacker and FPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Math {
    /// Nothing.
    None,
    /// Tile products.
    Matmul {
        /// The right operand is transposed on its way in.
        transpose: bool,
        /// Columns, rows and inner tiles of a block; `None` for single tiles.
        block: Option<(u32, u32, u32)>,
    },
    /// Element-wise steps on two CBs.
    Eltwise {
        /// Which.
        op: EltwiseOp,
        /// How the second operand is spread.
        broadcast: Broadcast,
        /// Onto what `Dst` holds.
        accumulate: bool,
    },
    /// Element-wise steps on a CB and `Dst`.
    Reuse {
        /// Which.
        op: EltwiseOp,
        /// `Dst` goes to `SrcA`; otherwise to `SrcB`.
        to_a: bool,
    },
    /// Copies to `Dst`.
    Copy(Copying),
    /// Reductions.
    Reduce {
        /// How datums are joined.
        pool: PoolOp,
        /// Along what.
        dim: ReduceDim,
    },
    /// Transposes inside `Dst`.
    TransposeDst,
    /// Rows to tiles.
    Tilize {
        /// Tiles of a row.
        block: u32,
    },
    /// Tiles to rows, in the unpacker.
    Untilize,
}

impl Math {
    /// In words.
    pub fn describe(self) -> String {
        let spread = |broadcast: Broadcast| match broadcast {
            Broadcast::None => "",
            Broadcast::Row => " with a broadcast row",
            Broadcast::Column => " with a broadcast column",
            Broadcast::Scalar => " with a broadcast scalar",
        };
        let verb = |op: EltwiseOp| match op {
            EltwiseOp::Add => "addition",
            EltwiseOp::Sub => "subtraction",
            EltwiseOp::Mul => "multiplication",
        };
        match self {
            Self::None => "nothing".to_owned(),
            Self::Matmul { transpose, block } => {
                let turned = if transpose { ", right operand transposed" } else { "" };
                match block {
                    None => format!("matmul of single tiles{turned}"),
                    Some((ct, rt, kt)) => format!("matmul of blocks ct={ct} rt={rt} kt={kt}{turned}"),
                }
            }
            Self::Eltwise { op, broadcast, .. } => format!("{} of tiles{}", verb(op), spread(broadcast)),
            Self::Reuse { op, to_a } => format!("{} with Dst as {}", verb(op), if to_a { "SrcA" } else { "SrcB" }),
            Self::Copy(Copying::Plain) => "copying tiles".to_owned(),
            Self::Copy(Copying::Transposed) => "transposing tiles".to_owned(),
            Self::Copy(Copying::Spread(broadcast)) => format!("copying{}", spread(broadcast)),
            Self::Reduce { pool, dim } => format!("reduction {pool:?} {dim:?}"),
            Self::TransposeDst => "transposing Dst".to_owned(),
            Self::Tilize { block } => format!("tilizing rows of {block} tiles"),
            Self::Untilize => "untilizing".to_owned(),
        }
    }
}

/// A unit's data format, and the CB it came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Configured {
    /// The format.
    pub format: DataFormat,
    /// The CB.
    pub cb: u32,
}

/// One of the parts of `Dst` that math and packer take turns on.
pub(crate) struct Section {
    pub(crate) tiles: Box<[Accumulator]>,
    /// What each tile holds; `None` if nothing was written since the section was acquired.
    pub(crate) held: Vec<Option<DstFormat>>,
    /// The shape of each tile; means nothing where nothing is held.
    pub(crate) shapes: Vec<TileShape>,
    /// Which tiles were made by something else than a reduction.
    pub(crate) whole: Vec<bool>,
    /// Tiles that were written while nobody had the section, a bit each.
    pub(crate) stray: u32,
    pub(crate) committed_at: u64,
    pub(crate) released_at: u64,
}

/// Who uses `Dst`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Nobody.
    Free,
    /// The math thread, after `tile_regs_acquire`.
    Math,
    /// Math and pack together, after the classic `acquire_dst`.
    Both,
}

/// State of a compute kernel.
pub struct Compute {
    pub(crate) config: ComputeConfig,
    pub(crate) arch: Arch,
    pub(crate) sections: Vec<Section>,
    /// Section of the math thread.
    pub(crate) filling: usize,
    /// Section of the packer.
    pub(crate) draining: usize,
    /// Sections that are committed and not released.
    pub(crate) committed: usize,
    pub(crate) turn: Turn,
    pub(crate) packing: bool,
    /// CBs whose pages the packer has pushed since its `tile_regs_wait`, a bit each.
    pub(crate) pushed: u64,
    /// Math writes to its next section, which it has not acquired.
    pub(crate) strays: bool,
    pub(crate) src_a: Option<Configured>,
    pub(crate) src_b: Option<Configured>,
    pub(crate) packed: Option<Configured>,
    pub(crate) math: Math,
    pub(crate) vector: setups::Setups,
    /// Vector operations that the kernel makes itself.
    pub(crate) lanes: Recorder,
    /// What functions of the SFPU keep from one tile to the next.
    pub(crate) registers: Registers,
    /// The packer untilizes blocks of so many tiles into rows of so many.
    pub(crate) untilizes: Option<(u32, u32)>,
    pub(crate) relu: Relu,
    pub(crate) l1_accumulate: bool,
    pub(crate) edge: EdgeMask,
    /// When the two banks of the source registers are free again.
    pub(crate) bank_free: [u64; 2],
    pub(crate) bank: usize,
    /// Cycles that the unpacker waited for a free bank, and math for operands.
    pub(crate) starved: [u64; 2],
    pub(crate) a: Box<Tile>,
    pub(crate) b: Box<Tile>,
    pub(crate) spare: Box<Tile>,
    pub(crate) left: Vec<PreparedB>,
    pub(crate) right: Vec<PreparedA>,
    /// Calls whose threads have not come to them yet, in the order of the source.
    pub(crate) later: Vec<later::Later>,
    /// The call that stops the function may be put off.
    pub(crate) runs_ahead: bool,
}

impl std::fmt::Debug for Compute {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = formatter.debug_struct("Compute");
        text.field("config", &self.config).field("turn", &self.turn).field("math", &self.math).finish_non_exhaustive()
    }
}

impl Compute {
    /// Nothing is set up yet.
    pub fn new(config: &ComputeConfig, arch: Arch) -> Self {
        let capacity = capacity(config);
        let section = || Section {
            tiles: vec![Accumulator::new(); capacity].into(),
            held: vec![None; capacity],
            shapes: vec![TileShape::FULL; capacity],
            whole: vec![false; capacity],
            stray: 0,
            committed_at: 0,
            released_at: 0,
        };
        Self {
            config: config.clone(),
            arch,
            sections: (0..if config.full_sync { 1 } else { 2 }).map(|_| section()).collect(),
            filling: 0,
            draining: 0,
            committed: 0,
            turn: Turn::Free,
            packing: false,
            pushed: 0,
            strays: false,
            src_a: None,
            src_b: None,
            packed: None,
            math: Math::None,
            vector: setups::Setups::default(),
            lanes: Recorder::new(),
            registers: Registers::Free,
            untilizes: None,
            relu: Relu::None,
            l1_accumulate: false,
            edge: EdgeMask::None,
            bank_free: [0; 2],
            bank: 0,
            starved: [0; 2],
            a: Box::new(ZERO),
            b: Box::new(ZERO),
            spare: Box::new(ZERO),
            left: Vec::new(),
            right: Vec::new(),
            later: Vec::new(),
            runs_ahead: false,
        }
    }

    /// The configuration of the kernel.
    pub fn config(&self) -> &ComputeConfig {
        &self.config
    }

    /// At the end of the kernel nobody may hold `Dst`.
    pub(crate) fn check_released(&self) -> Result<(), FaultKind> {
        if self.turn != Turn::Free {
            return Err(FaultKind::DstNotReleased {
                state: "acquired; tile_regs_commit() or release_dst() is missing",
            });
        }
        if self.packing || self.committed > 0 {
            return Err(FaultKind::DstNotReleased {
                state: "committed; tile_regs_wait(), tile_regs_release() are missing",
            });
        }
        Ok(())
    }

    pub(crate) fn check_index(&self, index: u32) -> Result<(), FaultKind> {
        let capacity = self.sections[0].tiles.len() as u32;
        if index < capacity {
            return Ok(());
        }
        let why = match (self.config.dst32, self.config.full_sync) {
            (false, false) => "16-bit datums, half sync",
            (false, true) => "16-bit datums, full sync",
            (true, false) => "32-bit datums, half sync",
            (true, true) => "32-bit datums, full sync",
        };
        Err(FaultKind::DstIndex { index, capacity, why })
    }

    /// Math may use this tile of `Dst`.
    #[inline]
    pub(crate) fn math_tile(&self, index: u32) -> Result<usize, FaultKind> {
        if self.turn == Turn::Free && !self.strays {
            return Err(FaultKind::NotAcquired);
        }
        self.check_index(index)?;
        Ok(index as usize)
    }

    /// A tile that math reads and changes, with what it holds.
    pub(crate) fn held(&mut self, index: u32) -> Result<(&mut Tile, DstFormat), FaultKind> {
        let at = self.math_tile(index)?;
        let section = &mut self.sections[self.filling];
        let format = section.held[at].ok_or(FaultKind::DstUnwritten { index })?;
        Ok((section.tiles[at].dst(), format))
    }

    /// A tile that a step accumulates onto; zeros (or `empty`) if nothing is there yet.
    pub(crate) fn accumulator(
        &mut self,
        index: u32,
        (made, shape): (DstFormat, TileShape),
        empty: impl FnOnce(&mut Accumulator),
    ) -> Result<(), FaultKind> {
        let at = self.math_tile(index)?;
        let section = &mut self.sections[self.filling];
        if section.held[at].is_some() {
            shape::require_same(section.shapes[at], shape)?;
        }
        section.shapes[at] = shape;
        let reduces = matches!(self.math, Math::Reduce { .. });
        match section.held[at] {
            None if section.stray >> at & 1 == 1 => return Err(FaultKind::AddsToStray { index }),
            None => {
                section.whole[at] = true;
                section.tiles[at].clear();
                empty(&mut section.tiles[at]);
            }
            Some(held) if held != made => return Err(FaultKind::MixedFormats { index, held, made }),
            Some(_) => {}
        }
        section.held[at] = Some(made);
        // What a reduction adds to is one of its results.
        section.whole[at] &= !reduces;
        Ok(())
    }

    /// A tile that a step overwrites.
    pub(crate) fn overwritten(
        &mut self,
        index: u32,
        (made, shape): (DstFormat, TileShape),
    ) -> Result<usize, FaultKind> {
        let at = self.math_tile(index)?;
        let section = &mut self.sections[self.filling];
        section.held[at] = Some(made);
        section.shapes[at] = shape;
        section.whole[at] = true;
        section.stray &= !(1 << at);
        section.stray |= u32::from(self.strays) << at;
        Ok(at)
    }

    /// Wait cycles of unpack for source banks, math for operands.
    pub fn starved(&self) -> [u64; 2] {
        self.starved
    }

    /// Unpack, then math: their clocks go on.
    pub(crate) fn advance(&mut self, clocks: &mut [u64; 3], unpack: u64, math: u64) {
        let free = clocks[0].max(self.bank_free[self.bank]);
        let unpacked = free + unpack;
        let ready = clocks[1].max(unpacked);
        let done = ready + math;
        self.starved[0] += free - clocks[0];
        self.starved[1] += ready - clocks[1];
        self.bank_free[self.bank] = done;
        self.bank ^= 1;
        clocks[0] = unpacked;
        clocks[1] = done;
    }

    /// The FPU's configuration for operands of a format in L1, with the format of `SrcA`.
    pub(crate) fn math_config(&self, operand: DataFormat, alu: DataFormat) -> MathConfig {
        let ComputeConfig { fidelity, dst32, .. } = self.config;
        MathConfig { fidelity, dst: tile_io::dst_format(operand, dst32), alu, arch: self.arch }
    }
}

/// Tiles that a section of `Dst` holds.
fn capacity(config: &ComputeConfig) -> usize {
    let whole = if config.dst32 { 8 } else { 16 };
    if config.full_sync { whole } else { whole / 2 }
}

#[cfg(test)]
mod tests {
    use tt_fpu::MathFidelity;

    use super::*;

    fn acquired() -> Compute {
        let fidelity = MathFidelity::HiFi4;
        let config = ComputeConfig {
            fidelity,
            dst32: false,
            full_sync: false,
            precise: false,
            approximate: false,
            unpack_to_dest: 0,
        };
        let mut compute = Compute::new(&config, Arch::Wormhole);
        compute.turn = Turn::Math;
        compute
    }

    #[test]
    fn what_a_step_adds_to_has_its_format_and_shape() {
        let mut compute = acquired();
        let (full, small) = (TileShape::FULL, TileShape::new(16, 32).expect("a shape"));
        let mut emptied = 0;
        let mut add = |compute: &mut Compute, made, shape| compute.accumulator(2, (made, shape), |_| emptied += 1);
        assert_eq!(add(&mut compute, DstFormat::Bf16, full), Ok(()));
        assert_eq!(add(&mut compute, DstFormat::Bf16, full), Ok(()));
        let mixed = FaultKind::MixedFormats { index: 2, held: DstFormat::Bf16, made: DstFormat::UInt16 };
        assert_eq!(add(&mut compute, DstFormat::UInt16, full), Err(mixed));
        assert!(matches!(add(&mut compute, DstFormat::Bf16, small), Err(FaultKind::Argument(_))));
        assert_eq!(emptied, 1, "what is there is not emptied");
        // What is overwritten may have been anything.
        assert_eq!(compute.overwritten(2, (DstFormat::UInt16, small)), Ok(2));
        assert_eq!(compute.sections[0].held, [None, None, Some(DstFormat::UInt16), None, None, None, None, None]);
        assert_eq!((compute.sections[0].shapes[2], compute.sections[0].shapes[1]), (small, full));
        assert_eq!(compute.sections[1].held, [None; 8]);
        assert_eq!(compute.held(2).map(|(_, held)| held), Ok(DstFormat::UInt16));
        assert_eq!(compute.held(3).map(|_| ()), Err(FaultKind::DstUnwritten { index: 3 }));
    }

    #[test]
    fn results_of_reductions_are_told_from_whole_tiles() {
        let mut compute = acquired();
        let made = (DstFormat::Bf16, TileShape::FULL);
        compute.overwritten(0, made).expect("a tile");
        compute.accumulator(1, made, |_| {}).expect("a tile");
        compute.math = Math::Reduce { pool: PoolOp::Sum, dim: ReduceDim::Row };
        compute.accumulator(0, made, |_| {}).expect("onto a whole tile");
        compute.accumulator(2, made, |_| {}).expect("a result");
        assert_eq!(compute.sections[0].whole[..3], [false, true, false]);
        compute.math = Math::Copy(Copying::Plain);
        compute.accumulator(2, made, |_| {}).expect("onto a result");
        compute.overwritten(0, made).expect("a tile");
        assert_eq!(compute.sections[0].whole[..3], [true, true, false]);
    }

    #[test]
    fn setups_are_described_in_words() {
        let (op, broadcast) = (EltwiseOp::Sub, Broadcast::Row);
        for (math, text) in [
            (Math::None, "nothing"),
            (Math::Matmul { transpose: true, block: None }, "matmul of single tiles, right operand transposed"),
            (Math::Matmul { transpose: false, block: Some((1, 2, 3)) }, "matmul of blocks ct=1 rt=2 kt=3"),
            (Math::Eltwise { op, broadcast, accumulate: false }, "subtraction of tiles with a broadcast row"),
            (Math::Reuse { op: EltwiseOp::Add, to_a: true }, "addition with Dst as SrcA"),
            (Math::Copy(Copying::Spread(Broadcast::Column)), "copying with a broadcast column"),
            (Math::Reduce { pool: PoolOp::Max, dim: ReduceDim::Scalar }, "reduction Max Scalar"),
            (Math::Tilize { block: 4 }, "tilizing rows of 4 tiles"),
        ] {
            assert_eq!(math.describe(), text);
        }
        assert!(format!("{:?}", acquired()).starts_with("Compute { config: ComputeConfig"));
    }
}
