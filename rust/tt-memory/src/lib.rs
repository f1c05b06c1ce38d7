//! Device memory: chips, banks, allocator, address maps, shadow state.
//!
//! A [`Device`] owns two arenas, DRAM banks and per-core L1, of the chip's real sizes. Buffers are pages
//! in those banks; [`Access`] is how an operator's worker threads read input pages and claim output pages.

pub mod access;
pub mod allocator;
pub mod buffer;
pub mod chip;
pub mod device;
pub mod error;
mod id;
pub mod joined;
pub mod journal;
mod own_addresses;
pub mod raw;
pub mod report;
mod transfer;

pub use access::Access;
pub use buffer::{Buffer, BufferId, BufferType, Placement};
pub use device::{Device, Ranks};
pub use error::MemoryError;
pub use raw::Place;
