//! The calls that kernels make, each a method of [`Run`](crate::Run).

pub mod cb;
pub mod compute;
pub(crate) mod fabric;
pub(crate) mod memory;
pub mod noc;
pub(crate) mod order;
mod semaphore;
pub(crate) mod unwatched;

use crate::error::Fault;

/// The result of a call that may block.
///
/// `false` if it has to be repeated later.
pub type Step = Result<bool, Fault>;
