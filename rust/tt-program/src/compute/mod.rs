//! The compute engine of a core as a compute kernel drives it: registers, their protocol, and the setup of its units.
//!
//! Clocks: the unpacker may be two operands ahead of the matrix unit, which has two banks of each source register; the
//! matrix unit may be one half of `Dst` ahead of the packer.

mod layout;
mod matrix;
mod packer;
mod setup;
mod shape;
mod vector;

use std::sync::Arc;

use tt_formats::{DataFormat, TileShape};
use tt_tensix::fpu::{Accumulator, PreparedA, PreparedB};
use tt_tensix::pack::{DstFormat, EdgeMask, Relu};
use tt_tensix::regs::{Dst, TILE_DATUMS};
use tt_tensix::sfpu::tile::Registers;
use tt_tensix::tile_io;

use crate::error::{Fault, What};
use crate::kernel::{Kernel, Stall, Thread};
use crate::run::Run;
use crate::spec::ComputeConfig;

pub use setup::{Broadcasting, Math};
pub use vector::VectorCall;

/// A tile in registers.
type Tile = Dst;
const ZERO: Tile = [0; TILE_DATUMS];

/// A data format that a unit was set up for, and the CB that said so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Configured {
    /// The format.
    pub format: DataFormat,
    /// The CB.
    pub cb: u32,
}

/// One of the parts of `Dst` that math and packer take turns on.
struct Section {
    tiles: Box<[Accumulator]>,
    /// What each tile holds; `None` if nothing was written since the section was acquired.
    held: Vec<Option<DstFormat>>,
    /// The shape of each tile; means nothing where nothing is held.
    shapes: Vec<TileShape>,
    committed_at: u64,
    released_at: u64,
}

/// Who uses `Dst`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Nobody.
    Free,
    /// The math thread, after `tile_regs_acquire`.
    Math,
    /// Math and pack together, after the classic `acquire_dst`.
    Both,
}

/// State of a compute kernel.
pub struct Compute {
    config: ComputeConfig,
    sections: Vec<Section>,
    /// Section of the math thread.
    filling: usize,
    /// Section of the packer.
    draining: usize,
    /// Sections that are committed and not released.
    committed: usize,
    turn: Turn,
    packing: bool,
    src_a: Option<Configured>,
    src_b: Option<Configured>,
    packed: Option<Configured>,
    math: Math,
    vector: Option<Arc<str>>,
    /// What functions of the vector unit keep from one tile to the next.
    registers: Registers,
    /// The packer untilizes blocks of so many tiles into rows of so many.
    untilizes: Option<(u32, u32)>,
    relu: Relu,
    l1_accumulate: bool,
    edge: EdgeMask,
    /// When the two banks of the source registers are free again.
    bank_free: [u64; 2],
    bank: usize,
    /// Cycles that the unpacker waited for a free bank, and math for operands.
    starved: [u64; 2],
    a: Box<Tile>,
    b: Box<Tile>,
    spare: Box<Tile>,
    left: Vec<PreparedB>,
    right: Vec<PreparedA>,
}

impl std::fmt::Debug for Compute {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = formatter.debug_struct("Compute");
        text.field("config", &self.config).field("turn", &self.turn).field("math", &self.math).finish_non_exhaustive()
    }
}

impl Compute {
    /// Nothing is set up yet.
    pub fn new(config: &ComputeConfig) -> Self {
        let capacity = capacity(config);
        let section = || Section {
            tiles: vec![Accumulator::new(); capacity].into(),
            held: vec![None; capacity],
            shapes: vec![TileShape::FULL; capacity],
            committed_at: 0,
            released_at: 0,
        };
        Self {
            config: config.clone(),
            sections: (0..if config.full_sync { 1 } else { 2 }).map(|_| section()).collect(),
            filling: 0,
            draining: 0,
            committed: 0,
            turn: Turn::Free,
            packing: false,
            src_a: None,
            src_b: None,
            packed: None,
            math: Math::None,
            vector: None,
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
        }
    }

    /// At the end of the kernel nobody may hold `Dst`.
    pub(crate) fn check_released(&self) -> Result<(), What> {
        if self.turn != Turn::Free {
            return Err(What::DstNotReleased { state: "acquired; tile_regs_commit() or release_dst() is missing" });
        }
        if self.packing || self.committed > 0 {
            return Err(What::DstNotReleased { state: "committed; tile_regs_wait(), tile_regs_release() are missing" });
        }
        Ok(())
    }

    fn check_index(&self, index: u32) -> Result<(), What> {
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
        Err(What::DstIndex { index, capacity, why })
    }

    /// Math may use this tile of `Dst`.
    #[inline]
    fn math_tile(&self, index: u32) -> Result<usize, What> {
        if self.turn == Turn::Free {
            return Err(What::NotAcquired);
        }
        self.check_index(index)?;
        Ok(index as usize)
    }

    /// A tile that math reads and changes, with what it holds.
    fn held(&mut self, index: u32) -> Result<(&mut Tile, DstFormat), What> {
        let at = self.math_tile(index)?;
        let section = &mut self.sections[self.filling];
        let format = section.held[at].ok_or(What::DstUnwritten { index })?;
        Ok((section.tiles[at].dst(), format))
    }

    /// A tile that a step accumulates onto; zeros (or `empty`) if nothing is there yet.
    fn accumulator(
        &mut self,
        index: u32,
        (made, shape): (DstFormat, TileShape),
        empty: impl FnOnce(&mut Accumulator),
    ) -> Result<(), What> {
        let at = self.math_tile(index)?;
        let section = &mut self.sections[self.filling];
        if section.held[at].is_some() {
            shape::require_same(section.shapes[at], shape)?;
        }
        section.shapes[at] = shape;
        match section.held[at] {
            None => {
                section.tiles[at].clear();
                empty(&mut section.tiles[at]);
            }
            Some(held) if held != made => return Err(What::MixedFormats { index, held, made }),
            Some(_) => {}
        }
        section.held[at] = Some(made);
        Ok(())
    }

    /// A tile that a step overwrites.
    fn overwritten(&mut self, index: u32, (made, shape): (DstFormat, TileShape)) -> Result<usize, What> {
        let at = self.math_tile(index)?;
        let section = &mut self.sections[self.filling];
        section.held[at] = Some(made);
        section.shapes[at] = shape;
        Ok(at)
    }

    /// Cycles that unpack has waited for a free bank of a source register, and math for operands.
    pub fn starved(&self) -> [u64; 2] {
        self.starved
    }

    /// Unpack, then math: their clocks go on.
    fn advance(&mut self, clocks: &mut [u64; 3], unpack: u64, math: u64) {
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

    /// What `Dst` holds for operands of a format.
    fn dst_format(&self, operand: DataFormat) -> DstFormat {
        tile_io::dst_format(operand, self.config.dst32)
    }
}

/// Tiles that a section of `Dst` holds.
fn capacity(config: &ComputeConfig) -> usize {
    let whole = if config.dst32 { 8 } else { 16 };
    if config.full_sync { whole } else { whole / 2 }
}

impl Run {
    /// The running kernel and its compute state.
    #[inline]
    fn engine(&mut self) -> Result<(&mut [u64; 3], &mut Compute), What> {
        let Kernel { clocks, compute, .. } = &mut self.kernels[self.current];
        let text = "the compute engine belongs to compute kernels; a data-movement kernel cannot call this";
        let compute = compute.as_mut().ok_or_else(|| What::WrongRisc(text.to_owned()))?;
        Ok((clocks, compute))
    }

    /// Math takes a free part of `Dst`.
    ///
    /// # Errors
    /// It has one already, or none is free.
    pub fn tile_regs_acquire(&mut self) -> Result<(), Fault> {
        self.checked("tile_regs_acquire", |run| run.acquire(Turn::Math))
    }

    fn acquire(&mut self, turn: Turn) -> Result<(), What> {
        let cost = self.time.compute().dst_sync;
        let (_, compute) = self.engine()?;
        if compute.turn != Turn::Free {
            return Err(What::AcquiredTwice);
        }
        if compute.committed == compute.sections.len() {
            return Err(What::NoFreeHalf);
        }
        compute.turn = turn;
        let section = &mut compute.sections[compute.filling];
        section.held.fill(None);
        let free_at = section.released_at;
        let kernel = &mut self.kernels[self.current];
        kernel.wait_until(Thread::Math, free_at, Stall::Dst);
        kernel.clocks[1] += cost;
        Ok(())
    }

    /// Math hands its part over to the packer.
    ///
    /// # Errors
    /// It has none.
    pub fn tile_regs_commit(&mut self) -> Result<(), Fault> {
        self.checked("tile_regs_commit", Self::commit)
    }

    fn commit(&mut self) -> Result<(), What> {
        let cost = self.time.compute().dst_sync;
        let (clocks, compute) = self.engine()?;
        if compute.turn == Turn::Free {
            return Err(What::CommitWithoutAcquire);
        }
        clocks[1] += cost;
        compute.turn = Turn::Free;
        compute.sections[compute.filling].committed_at = clocks[1];
        compute.filling = (compute.filling + 1) % compute.sections.len();
        compute.committed += 1;
        Ok(())
    }

    /// The packer waits for a part.
    ///
    /// # Errors
    /// Nothing was committed.
    pub fn tile_regs_wait(&mut self) -> Result<(), Fault> {
        self.checked("tile_regs_wait", Self::wait)
    }

    fn wait(&mut self) -> Result<(), What> {
        let cost = self.time.compute().dst_sync;
        let (_, compute) = self.engine()?;
        if compute.committed == 0 {
            return Err(What::NothingCommitted);
        }
        compute.packing = true;
        let ready = compute.sections[compute.draining].committed_at;
        let kernel = &mut self.kernels[self.current];
        kernel.wait_until(Thread::Pack, ready, Stall::Dst);
        kernel.clocks[2] += cost;
        Ok(())
    }

    /// The packer gives its part back.
    ///
    /// # Errors
    /// It has none.
    pub fn tile_regs_release(&mut self) -> Result<(), Fault> {
        self.checked("tile_regs_release", Self::release)
    }

    fn release(&mut self) -> Result<(), What> {
        let cost = self.time.compute().dst_sync;
        let (clocks, compute) = self.engine()?;
        if !compute.packing {
            return Err(What::ReleaseWithoutWait);
        }
        clocks[2] += cost;
        compute.packing = false;
        compute.committed -= 1;
        compute.sections[compute.draining].released_at = clocks[2];
        compute.draining = (compute.draining + 1) % compute.sections.len();
        Ok(())
    }

    /// Math and packer take a part together: the classic call.
    ///
    /// # Errors
    /// As [`Run::tile_regs_acquire`].
    pub fn acquire_dst(&mut self) -> Result<(), Fault> {
        self.checked("acquire_dst", |run| run.acquire(Turn::Both))
    }

    /// Math and packer give their part back.
    ///
    /// # Errors
    /// They have none.
    pub fn release_dst(&mut self) -> Result<(), Fault> {
        self.checked("release_dst", |run| {
            run.commit()?;
            run.wait()?;
            run.release()
        })
    }
}
