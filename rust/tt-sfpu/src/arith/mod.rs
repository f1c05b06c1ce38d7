//! The multiply-add of the SFPU, the primitives of a lane, loads and stores.

pub mod convert;
pub mod fma;
pub mod lane;
