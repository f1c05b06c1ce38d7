//! Calls of compute kernels: the protocol of `Dst` here, setup, FPU, SFPU, packer and layouts in the modules below.

pub mod codes;
mod lanes;
mod layout;
mod matrix;
mod packer;
mod setup;
mod vector;

use crate::error::{Fault, FaultKind};
use crate::state::Run;
use crate::state::compute::{Compute, Turn};
use crate::state::kernel::{Kernel, Stall, Thread};

pub use crate::state::compute::{Copying, Math};
pub use vector::VectorCall;

impl Run {
    /// The running kernel and its compute state.
    #[inline]
    fn engine(&mut self) -> Result<(&mut [u64; 3], &mut Compute), FaultKind> {
        let Kernel { clocks, compute, .. } = &mut self.kernels[self.current];
        let text = "the compute engine belongs to compute kernels; a data-movement kernel cannot call this";
        let compute = compute.as_mut().ok_or_else(|| FaultKind::WrongRisc(text.to_owned()))?;
        Ok((clocks, compute))
    }

    /// Math takes a free part of `Dst`.
    ///
    /// # Errors
    /// It has one already, or none is free.
    pub fn tile_regs_acquire(&mut self) -> Result<(), Fault> {
        self.checked("tile_regs_acquire", |run| run.acquire(Turn::Math))
    }

    fn acquire(&mut self, turn: Turn) -> Result<(), FaultKind> {
        let cost = self.time.compute().dst_sync;
        let (_, compute) = self.engine()?;
        if compute.turn != Turn::Free {
            return Err(FaultKind::AcquiredTwice);
        }
        if compute.committed == compute.sections.len() {
            return Err(FaultKind::NoFreeHalf);
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

    fn commit(&mut self) -> Result<(), FaultKind> {
        let cost = self.time.compute().dst_sync;
        let (clocks, compute) = self.engine()?;
        if compute.turn == Turn::Free {
            return Err(FaultKind::CommitWithoutAcquire);
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

    fn wait(&mut self) -> Result<(), FaultKind> {
        let cost = self.time.compute().dst_sync;
        let (_, compute) = self.engine()?;
        if compute.committed == 0 {
            return Err(FaultKind::NothingCommitted);
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

    fn release(&mut self) -> Result<(), FaultKind> {
        let cost = self.time.compute().dst_sync;
        let (clocks, compute) = self.engine()?;
        if !compute.packing {
            return Err(FaultKind::ReleaseWithoutWait);
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
