//! The FPU's arithmetic once more, written from `docs/chip/numerics.md` alone and in another style: exact fractions in
//! wide integers, division instead of shifts, one rounding function. It shares no code with the engine.

pub mod fpu;
mod number;
pub mod pairs;
