//! A kernel of the run.
//!
//! Its clocks, what it waits for, what it has in flight.

use std::collections::BTreeMap;

use tt_memory::chip::LogicalCore;

use super::compute::Compute;
use crate::name::Name;
use crate::spec::Risc;

/// The event that a blocked kernel waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Pages at the front of a CB.
    Front {
        /// The CB.
        cb: u32,
        /// Pages wanted.
        pages: u32,
    },
    /// Free pages at the back of a CB.
    Back {
        /// The CB.
        cb: u32,
        /// Pages wanted.
        pages: u32,
    },
    /// A word of its L1.
    Word {
        /// L1 address.
        address: u32,
        /// Value wanted.
        value: u32,
        /// A larger value will do.
        at_least: bool,
    },
    /// A change of a word of its L1 that it reads over and over.
    Change {
        /// L1 address.
        address: u32,
        /// Value that it has seen.
        value: u32,
    },
    /// A connection of the fabric that another kernel has open.
    Connection {
        /// The connection.
        connection: u32,
    },
    /// Packets that have not been delivered.
    Fabric,
    /// A free part of `Dst`.
    Half,
    /// A part of `Dst` that math commits.
    Commit,
    /// Its own threads, whose calls were put off.
    Threads {
        /// The function has returned.
        ended: bool,
    },
}

/// The scheduling state of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It runs, or waits in the queue for its turn.
    Ready,
    /// It cannot.
    Waiting(Wait),
    /// What it waited for has come; its next call of that kind succeeds without looking again.
    Granted,
    /// It has returned.
    Done,
}

/// Bytes of the kernel's own L1 that a transfer reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InFlight {
    /// First byte.
    pub start: u32,
    /// One past the last.
    pub end: u32,
    /// Network.
    pub noc: u8,
    /// Transaction id.
    pub trid: u8,
    /// The cycle at which the bytes have left (writes) or arrived (reads).
    pub moved: u64,
    /// The cycle at which the other side has answered.
    pub done: u64,
}

impl InFlight {
    /// Returns true if it touches a range.
    pub fn touches(&self, start: u32, end: u32) -> bool {
        self.start < end && start < self.end
    }
}

/// The destination of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Receivers {
    /// A DRAM bank.
    Dram,
    /// The L1 of a core, by its bank.
    Core(usize),
    /// The L1 of several cores.
    Cores(Vec<usize>),
}

impl Receivers {
    /// Returns true if the L1 bank is one of them.
    pub fn contain(&self, bank: usize) -> bool {
        match self {
            Self::Dram => false,
            Self::Core(own) => *own == bank,
            Self::Cores(banks) => banks.contains(&bank),
        }
    }
}

/// Bytes of own L1 that a write sends, until sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sending {
    /// The bytes.
    pub source: InFlight,
    /// The destination.
    pub to: Receivers,
    /// The kernel's following flag over the same network.
    ///
    /// To one of their receivers: who has seen that flag knows that they have left.
    pub flag: Option<u32>,
}

/// Transfers that no barrier has waited for yet.
#[derive(Debug, Clone, Default)]
pub struct Transfers {
    /// Reads into own L1.
    pub reads: Vec<InFlight>,
    /// Writes out of own L1, until they are flushed.
    pub unflushed: Vec<Sending>,
    /// Writes until they are acknowledged: network, transaction id and time.
    pub unacknowledged: Vec<(u8, u8, u64)>,
    /// Atomics likewise.
    pub atomics: Vec<(u8, u64)>,
    /// Transaction id that reads get, per network.
    pub read_trid: [u8; 2],
    /// Transaction id that writes get, per network.
    pub write_trid: [u8; 2],
}

/// Thread of an event that is a transfer.
pub const TRANSFER: u8 = 3;

/// Something that a timeline shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Number of the kernel.
    pub kernel: usize,
    /// Its thread, or [`TRANSFER`].
    pub thread: u8,
    /// The call, or the kind of transfer.
    pub name: Name,
    /// The first cycle.
    pub start: u64,
    /// The end cycle.
    pub end: u64,
    /// Bytes of a transfer.
    pub bytes: u32,
}

/// The reason of a stall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stall {
    /// For pages at the front of this CB.
    Front(u32),
    /// For free pages of this CB.
    Back(u32),
    /// For the semaphore at this address.
    Semaphore(u32),
    /// For reads to arrive.
    ReadBarrier,
    /// For writes to leave or be acknowledged.
    WriteBarrier,
    /// Because the network took no more.
    Issue,
    /// For a half of `Dst`.
    Dst,
}

/// One of the three threads of a compute kernel.
///
/// Data-movement kernels have only the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Thread {
    /// TRISC0.
    Unpack = 0,
    /// TRISC1.
    Math = 1,
    /// TRISC2.
    Pack = 2,
}

/// A kernel of the run.
#[derive(Debug)]
pub struct Kernel {
    /// Slot of its core.
    pub core: usize,
    /// Its core.
    pub logical: LogicalCore,
    /// Its RISC.
    pub risc: Risc,
    /// Its name.
    pub name: String,
    /// Network it uses unless it says otherwise.
    pub noc: u8,
    /// Number of its runtime arguments.
    pub args: u32,
    /// Can it go on?
    pub state: State,
    /// Clocks of its threads.
    pub clocks: [u64; 3],
    /// Transfers in flight.
    pub transfers: Transfers,
    /// The compute engine's state, for compute kernels.
    pub compute: Option<Box<Compute>>,
    /// Cycles lost, by thread and reason.
    pub stalls: BTreeMap<(u8, Stall), u64>,
    /// The cycle of its last wake-up.
    pub woken: u64,
    /// It is compiled, and runs in [`native`](crate::native).
    pub compiled: bool,
    /// The last word it read from L1.
    ///
    /// Address, value, and how often in a row.
    pub polled: (u32, u32, u32),
    /// Awaited semaphores, with their last change at that time.
    pub passed: BTreeMap<u32, u64>,
    /// The last semaphore that passed twice without a change.
    pub unchanged: Option<u32>,
    /// Calls it has made, for statistics.
    pub calls: u64,
}

impl Kernel {
    /// Advances a thread's clock to a time and records the wait.
    #[inline]
    pub fn wait_until(&mut self, thread: Thread, time: u64, why: Stall) {
        let clock = &mut self.clocks[thread as usize];
        if time > *clock {
            *self.stalls.entry((thread as u8, why)).or_insert(0) += time - *clock;
            *clock = time;
        }
    }

    /// The clock by which the scheduler orders kernels.
    #[inline]
    pub fn clock(&self) -> u64 {
        self.clocks[0]
    }

    /// The compute kernel thread of a consumer's or producer's call.
    #[inline]
    pub fn thread(&self, thread: Thread) -> Thread {
        if self.compute.is_some() { thread } else { Thread::Unpack }
    }

    /// Returns the end cycle of its last thread.
    pub fn end(&self) -> u64 {
        self.clocks.into_iter().max().unwrap_or(0)
    }

    /// Returns its description, for messages.
    pub fn describe(&self) -> String {
        format!("kernel {} ({})", self.name, self.risc.name())
    }
}
