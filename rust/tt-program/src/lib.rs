//! The run of one program: what each kernel may do next, what it costs, and what is wrong with it.
//!
//! A [`Run`] is built from a [`ProgramSpec`] and holds, per core, circular buffers, semaphores and written marks, and
//! per kernel its clocks, its transfers in flight and, for compute kernels, the registers and the setup of unpacker,
//! matrix unit and packer. The kernels themselves run elsewhere (Python coroutines); every call that they make is one
//! method here, which either succeeds, or answers `false` for "would block", or returns a [`Fault`]. After `false` the
//! caller asks [`Run::schedule`] who goes on, and repeats the call when its turn has come.
//!
//! Time. Each kernel has a clock (a compute kernel three: unpack, math, pack). Pages, semaphores and transfers carry
//! times from whoever made them to whoever waits, so clocks are right although kernels do not run in lock step. The
//! kernel with the smallest clock goes first, and one that starts a transfer lets others catch up once it is
//! [`time::QUANTUM`] cycles ahead. Values never depend on any of it in a program without races.
//!
//! Values. Transfers copy bytes when they are started; that is indistinguishable from the chip for programs that wait
//! for their transfers, and those that do not are reported ([`error::Class::Race`]).
//!
//! A compute kernel is one function for the three TRISCs. A call that blocks one of them (`cb_wait_front` the unpacker,
//! `cb_reserve_back` the packer) stops the function, while their clocks go on independently.

pub mod cb;
pub mod compute;
pub mod core;
pub mod error;
pub mod kernel;
mod memory;
pub mod noc;
mod order;
pub mod run;
mod semaphore;
pub mod spec;
pub mod time;

pub use error::{Class, Fault, What};
pub use run::Run;
pub use spec::ProgramSpec;

/// What a call that may block answers: `false` if it has to be repeated later.
pub type Step = Result<bool, Fault>;
