//! Number formats: meaning, rounding, and datum order in tiles.
//!
//! Only bits live here, one datum or one group of sixteen at a time, all of it in integers. Whole tiles are converted
//! in `tt-tensix` (the device's unpacker and packer) and whole tensors in `tt-cpu` (the host library), from these
//! functions. The device and the host round differently: [`pack`] and [`host`] must not be mixed.

pub mod accumulate;
pub mod arch;
pub mod block;
pub mod format;
pub mod host;
pub mod pack;
pub mod tile;
pub mod unpack;

pub use arch::{Arch, Blackhole, Generation, Wormhole};
pub use format::DataFormat;
pub use tile::TileShape;
