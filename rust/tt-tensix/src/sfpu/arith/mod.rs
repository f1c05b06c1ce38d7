//! The multiply-add of the vector unit, the primitives of a lane, loads and stores.

pub mod convert;
pub mod fma;
pub mod lane;
