//! Time of operators.
//!
//! A [`Plan`] says what the cores of a device operation read, compute and write; [`time`] runs it on the cycle tables
//! of `tt-perf` and `tt-noc`, one core for each group of cores with equal work.
//!
//! Kernels of a core meet at circular buffers, cores at semaphores. A kernel blocks until pages, room or a semaphore's
//! value are there, and takes their time over. DRAM, the ports of interleaved L1 and the links are bounds: no operation
//! is shorter than its busiest one needs.

mod agent;
mod bounds;
mod error;
mod mechanisms;
mod plan;
mod replay;
mod run;
mod tiles;

pub use error::PlanError;
pub use mechanisms::Mechanisms;
pub use plan::{CoreGroup, Place, Plan, Step, Transfer};
pub use replay::{Access, Processor, replay};
pub use run::{Bound, GroupTime, Timing, time, time_with};
pub use tiles::TileOp;
