//! Calls of compute kernels.
//!
//! The protocol of `Dst` here, setup, FPU, SFPU, packer and layouts in the modules below.

pub mod codes;
mod lanes;
mod layout;
mod matrix;
mod packer;
mod setup;
pub(crate) mod threads;
mod vector;

use self::threads::{MATH, PACK, in_turn};
use crate::calls::Step;
use crate::error::{Fault, FaultKind};
use crate::state::Run;
use crate::state::compute::{Compute, Turn};
use crate::state::kernel::{Kernel, Stall, Thread, Wait};

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
    /// `false`: the packer still has to release one.
    ///
    /// # Errors
    /// It has one already.
    pub fn tile_regs_acquire(&mut self) -> Step {
        if self.puts_off() || self.has_no_half() {
            return self.acquire_later();
        }
        self.checked("tile_regs_acquire", |run| run.acquire(Turn::Math)).map(|()| true)
    }

    /// Whether math would have to wait for a part.
    fn has_no_half(&self) -> bool {
        let compute = self.kernels[self.current].compute.as_deref();
        compute.is_some_and(|compute| compute.turn == Turn::Free && compute.committed == compute.sections.len())
    }

    /// Math waits for a part; if the packer is behind, the function waits for it.
    fn acquire_later(&mut self) -> Step {
        if self.has_no_half() && self.is_behind(PACK) && !self.may_run_ahead() {
            self.block(Wait::Threads { ended: false });
            return Ok(false);
        }
        self.put_off(MATH, |run, _| {
            if run.has_no_half() {
                run.block(Wait::Half);
                return Ok(false);
            }
            run.tile_regs_acquire()
        })?;
        Ok(true)
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
        in_turn!(self, MATH, (), |run, _| run.tile_regs_commit());
        self.checked("tile_regs_commit", |run| {
            let both = run.engine()?.1.turn == Turn::Both;
            run.commit()?;
            // After `acquire_dst` the packer has waited already.
            if both { run.wait() } else { Ok(()) }
        })
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
    /// Its calls are put off as long as nothing is committed.
    ///
    /// # Errors
    /// A data-movement kernel.
    pub fn tile_regs_wait(&mut self) -> Result<(), Fault> {
        let compute = self.kernels[self.current].compute.as_deref();
        let ahead = compute.is_some_and(|compute| compute.committed == 0 && compute.turn != Turn::Both);
        if ahead || self.puts_off() {
            return self.put_off(PACK, |run, _| run.tile_regs_wait_or_block());
        }
        self.checked("tile_regs_wait", |run| {
            // After `acquire_dst` the packer has waited already.
            if run.engine()?.1.turn == Turn::Both { Ok(()) } else { run.wait() }
        })
    }

    /// The packer waits for a part that may not be committed yet.
    pub(crate) fn tile_regs_wait_or_block(&mut self) -> Step {
        if self.kernels[self.current].compute.as_deref().is_some_and(|compute| compute.committed == 0) {
            self.block(Wait::Commit);
            return Ok(false);
        }
        self.checked("tile_regs_wait", Self::wait).map(|()| true)
    }

    fn wait(&mut self) -> Result<(), FaultKind> {
        let cost = self.time.compute().dst_sync;
        let (_, compute) = self.engine()?;
        if compute.committed == 0 {
            return Err(FaultKind::NothingCommitted);
        }
        compute.packing = true;
        compute.pushed = 0;
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
        if self.kernels[self.current].compute.as_deref().is_some_and(|compute| compute.turn == Turn::Both) {
            return self.put_off(PACK, |run, _| run.tile_regs_release().map(|()| true));
        }
        in_turn!(self, PACK, (), |run, _| run.tile_regs_release());
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
        // The packer empties its section.
        compute.sections[compute.draining].stray = 0;
        compute.sections[compute.draining].released_at = clocks[2];
        compute.draining = (compute.draining + 1) % compute.sections.len();
        Ok(())
    }

    /// Math and packer take a part together: the classic call.
    ///
    /// # Errors
    /// As [`Run::tile_regs_acquire`].
    pub fn acquire_dst(&mut self) -> Step {
        if self.puts_off() || self.has_no_half() {
            if !self.acquire_later()? {
                return Ok(false);
            }
            self.put_off(PACK, |run, _| run.tile_regs_wait_or_block())?;
            return Ok(true);
        }
        self.checked("acquire_dst", |run| run.acquire(Turn::Both)).map(|()| true)
    }

    /// Math and packer give their part back.
    ///
    /// # Errors
    /// They have none.
    pub fn release_dst(&mut self) -> Result<(), Fault> {
        if self.puts_off() {
            self.put_off(MATH, |run, _| run.tile_regs_commit().map(|()| true))?;
            return self.put_off(PACK, |run, _| run.tile_regs_release().map(|()| true));
        }
        self.checked("release_dst", |run| {
            run.commit()?;
            run.wait()?;
            run.release()
        })
    }
}
