//! Transfers in flight.
//!
//! What waits for them, by network and transaction id, and what must not touch them.

use crate::error::{Fault, FaultKind};
use crate::state::Run;
use crate::state::kernel::{Stall, Thread};
use crate::state::time::Naming;

/// The transfers that a barrier waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Barrier {
    /// Reads have arrived.
    Reads,
    /// Writes have left.
    WritesFlushed,
    /// Writes are acknowledged.
    Writes,
    /// Atomics are done.
    Atomics,
    /// All of it.
    Full,
}

impl Barrier {
    /// The barrier that the kernel API's number names.
    ///
    /// In the order of the variants.
    pub fn of(kind: u32) -> Self {
        [Self::Reads, Self::WritesFlushed, Self::Writes, Self::Atomics, Self::Full][kind.min(4) as usize]
    }

    const fn call(self) -> &'static str {
        match self {
            Self::Reads => "noc_async_read_barrier",
            Self::WritesFlushed => "noc_async_writes_flushed",
            Self::Writes => "noc_async_write_barrier",
            Self::Atomics => "noc_async_atomic_barrier",
            Self::Full => "noc_async_full_barrier",
        }
    }
}

impl Run {
    /// Waits for transfers.
    ///
    /// Those of one network, and with `trid` those with this transaction id.
    ///
    /// # Errors
    /// A compute kernel; no such network.
    pub fn noc_barrier(&mut self, barrier: Barrier, noc: i32, trid: Option<u8>) -> Result<(), Fault> {
        self.checked(barrier.call(), |run| {
            run.require_data_movement()?;
            let noc = run.network(noc)?;
            let (cost, release) = (run.time.risc().semaphore_poll, run.time.risc().barrier);
            let kernel = &mut run.kernels[run.current];
            kernel.clocks[0] += cost;
            let mine = |network: u8, id: u8| network == noc && trid.is_none_or(|trid| trid == id);
            let (mut until, mut complete) = (0, false);
            if matches!(barrier, Barrier::Reads | Barrier::Full) {
                kernel.transfers.reads.retain(|read| {
                    let waited = mine(read.noc, read.trid);
                    until = until.max(if waited { read.done + release } else { 0 });
                    !waited
                });
                kernel.wait_until(Thread::Unpack, until, Stall::ReadBarrier);
            }
            if matches!(barrier, Barrier::WritesFlushed | Barrier::Writes | Barrier::Full) {
                kernel.transfers.unflushed.retain(|write| {
                    let waited = mine(write.source.noc, write.source.trid);
                    until = until.max(if waited { write.source.moved } else { 0 });
                    !waited
                });
            }
            if matches!(barrier, Barrier::Writes | Barrier::Full) {
                complete = true;
                kernel.transfers.unacknowledged.retain(|&(network, id, done)| {
                    let waited = mine(network, id);
                    until = until.max(if waited { done + release } else { 0 });
                    !waited
                });
            }
            if matches!(barrier, Barrier::Atomics | Barrier::Full) {
                kernel.transfers.atomics.retain(|&(network, done)| {
                    until = until.max(if network == noc { done + release } else { 0 });
                    network != noc
                });
            }
            kernel.wait_until(Thread::Unpack, until, Stall::WriteBarrier);
            if complete {
                run.order_arrived(noc, trid);
            }
            Ok(())
        })
    }

    /// Forgets the transfers of a network whose ids are in `ids`.
    ///
    /// No barrier waits for them any more.
    ///
    /// # Errors
    /// A compute kernel; no such network.
    pub fn reset_trids(&mut self, ids: u32, noc: i32) -> Result<(), Fault> {
        self.checked("reset_noc_trid_barrier_counter", |run| {
            run.require_data_movement()?;
            let noc = run.network(noc)?;
            let cost = run.time.command(Naming::Address);
            let kernel = &mut run.kernels[run.current];
            kernel.clocks[0] += cost;
            let stays = |network: u8, id: u8| network != noc || ids >> id & 1 == 0;
            kernel.transfers.reads.retain(|read| stays(read.noc, read.trid));
            kernel.transfers.unflushed.retain(|write| stays(write.source.noc, write.source.trid));
            kernel.transfers.unacknowledged.retain(|&(network, id, _)| stays(network, id));
            Ok(())
        })
    }

    /// Sets the transaction id of later reads or writes of a network.
    ///
    /// # Errors
    /// A compute kernel; no such network or id.
    pub fn set_trid(&mut self, writes: bool, trid: u32, noc: i32) -> Result<(), Fault> {
        self.checked(if writes { "noc_async_write_set_trid" } else { "noc_async_read_set_trid" }, |run| {
            run.require_data_movement()?;
            let noc = run.network(noc)? as usize;
            run.book(run.time.risc().l1_store);
            if trid > 15 {
                return Err(FaultKind::Argument(format!("transaction id {trid}; ids are 0 to 15")));
            }
            let transfers = &mut run.kernels[run.current].transfers;
            let ids = if writes { &mut transfers.write_trid } else { &mut transfers.read_trid };
            ids[noc] = trid as u8;
            Ok(())
        })
    }

    /// Own bytes that are read must not belong to a read in flight.
    pub(crate) fn check_arrived(&self, start: u32, bytes: u32) -> Result<(), FaultKind> {
        if !self.watched {
            return Ok(());
        }
        let reads = &self.kernels[self.current].transfers.reads;
        match reads.iter().find(|read| read.touches(start, start.saturating_add(bytes))) {
            Some(read) => Err(FaultKind::UseBeforeReadBarrier { address: read.start, bytes: read.end - read.start }),
            None => Ok(()),
        }
    }

    /// Own bytes that are written must not be on their way out.
    pub(crate) fn check_not_sending(&self, start: u32, bytes: u32) -> Result<(), FaultKind> {
        match self.still_sending(start, start.saturating_add(bytes)) {
            Some(write) => {
                Err(FaultKind::OverwrittenWhileSent { address: write.start, bytes: write.end - write.start })
            }
            None => Ok(()),
        }
    }
}
