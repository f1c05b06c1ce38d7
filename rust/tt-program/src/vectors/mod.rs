//! Vector programs of the SFPU that a kernel writes itself.
//!
//! Operations on 32 lanes, one by one.
//!
//! Conditions, masks and values of lanes never reach the kernel's own control flow, so operations are recorded and run
//! later: at the next call that is none of theirs. Only then is known what the device's compiler knows, namely which
//! product has no other use than a sum, and becomes one multiply-add with it.

mod operation;
mod record;
mod run;

pub(crate) use operation::{Binary, Compare, Constant, Join, Memory, Table, Unary};
pub(crate) use record::{Recorder, Unrecorded};
pub(crate) use run::{Datums, Outcome};

/// Lanes.
pub(crate) const LANES: usize = 32;
/// Rows of a tile in `Dst`, of 16 datums each.
pub(crate) const TILE_ROWS: u32 = 64;

/// A word per lane.
pub(crate) type Vector = [u32; LANES];

/// Number of a recorded result: a vector or a mask.
pub(crate) type Id = u32;
