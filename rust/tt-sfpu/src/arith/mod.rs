//! The SFPU's multiply-add, lane primitives, loads and stores.

pub mod convert;
pub mod fma;
pub mod generation;
pub mod lane;
