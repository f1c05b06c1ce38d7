//! Time of the chip's networks and its DRAM, in cycles.
//!
//! [`Layout`] places cores and DRAM on the die, [`Route`] says which links a transfer takes, [`Noc`] keeps when each
//! link, interface and bank is busy and answers when a transfer leaves and arrives. Every parameter is in `parameters.rs`,
//! with its source, and nowhere else. [`fabric`] does the same for routers and links between chips.
//!
//! Of `tt-memory` this crate uses the description of the chips only. Values never depend on anything here.

mod calendar;
pub mod fabric;
pub mod layout;
pub mod noc;
pub mod parameters;
mod pool;
pub mod route;

pub use fabric::Fabric;
pub use layout::{Layout, Node, NodeKind};
pub use noc::{Noc, Transfer};
pub use parameters::NocParameters;
pub use route::{Axis, Link, NocId, Route};
