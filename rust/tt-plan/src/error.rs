//! Errors of plans.

use thiserror::Error;

/// A plan that cannot be run.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum PlanError {
    /// The SFPU's table has no such function.
    #[error("no cycles are known for the SFPU function {name}")]
    UnknownFunction {
        /// Its name.
        name: String,
    },
    /// Every kernel waits.
    #[error("the plan deadlocks: group {group} waits for pages or a semaphore that no group provides")]
    Stuck {
        /// A group that waits.
        group: usize,
    },
    /// A step names a circular buffer that the plan does not have.
    #[error("the plan has no circular buffer {cb}")]
    NoBuffer {
        /// Its number.
        cb: usize,
    },
}
