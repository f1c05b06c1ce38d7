//! The run of one program.
//!
//! What each kernel may do next, what it costs, and what is wrong with it.
//!
//! [`state`] is the run as plain data; the setup, the scheduler and the [`calls`] of kernels work on it.
//!
//! A [`Run`] is built from a [`ProgramSpec`] and holds, per core, circular buffers, semaphores and written bits, and
//! per kernel its clocks, its transfers in flight and, for compute kernels, the registers and the setup of unpacker,
//! FPU and packer. The kernels themselves run elsewhere (Python coroutines); every call that they make is one
//! method here, which either succeeds, or answers `false` for "would block", or returns a [`Fault`]. After `false` the
//! caller asks [`Run::schedule`] who goes on, and repeats the call when its turn has come.
//!
//! Time. Each kernel has a clock (a compute kernel three: unpack, math, pack). Pages, semaphores and transfers carry
//! times from whoever made them to whoever waits, so clocks are right although kernels do not run in lock step. The
//! kernel with the smallest clock goes first, and one that starts a transfer lets others catch up once it is
//! [`state::time::QUANTUM`] cycles ahead. Values never depend on any of it in a program without races.
//!
//! Values. Transfers copy bytes when they are started; that is indistinguishable from the chip for programs that wait
//! for their transfers, and those that do not are reported ([`error::Class::Race`]).
//!
//! A compute kernel is one function for the three TRISCs. A call that blocks one of them (`cb_wait_front` the unpacker,
//! `cb_reserve_back` the packer) stops the function, while their clocks go on independently. Where the function has a
//! thread's call before that of another thread for which it waits, the first is put off (`calls::compute::threads`).

pub mod calls;
pub mod error;
mod name;
pub mod native;
mod schedule;
mod setup;
pub mod spec;
pub mod state;
mod vectors;

/// The fabric of a chip: connections and packets.
pub mod fabric {
    pub use crate::calls::fabric::wire::{decode, encode};
    pub use crate::state::fabric::{
        Action, Arrival, FabricSpec, HEADER_POOL_BYTES, Line, Node, Packet, Sender, header_pool,
    };
}

pub use calls::Step;
pub use error::{Class, Fault, FaultKind, SourcePlace};
pub use name::Name;
pub use spec::ProgramSpec;
pub use state::Run;
