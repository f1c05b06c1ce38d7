//! An independent FPU model, from `docs/chip/numerics.md` alone.
//!
//! In another style: exact fractions in wide integers, division instead of shifts, one rounding function. It shares no
//! code with the engine.

pub mod fpu;
mod number;
pub mod pairs;
