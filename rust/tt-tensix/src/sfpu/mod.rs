//! The vector unit: its multiply-add, the lane primitives, and one file per function that runs on `Dst`.
//!
//! Each function is a straight-line program on one 32-bit word per lane, given for 16-bit and 32-bit `Dst`.
//! Sources: `sfpu.md` (primitives and structure), `sfpu-listings.md` (the dataflow of every kernel).
//! All functions are those of Wormhole.

mod blocks;
pub mod convert;
pub mod fma;
pub mod lane;

mod binary;
mod exp;
mod identity;
mod recip;
mod relu;
mod rsqrt;
mod run;
mod sqrt;
mod typecast;

pub use binary::{BINARY_FUNCTIONS, BinaryFunction, binary, lookup_binary};
pub use fma::fma;
pub use run::{DstWidth, Function};

/// Every unary function of the vector unit.
pub static FUNCTIONS: &[&[Function]] = &[
    exp::FUNCTIONS,
    identity::FUNCTIONS,
    recip::FUNCTIONS,
    relu::FUNCTIONS,
    rsqrt::FUNCTIONS,
    sqrt::FUNCTIONS,
    typecast::FUNCTIONS,
];

/// The function with these names of the specification's listings, e.g. `exp`, `accurate`.
pub fn lookup(name: &str, variant: &str) -> Option<Function> {
    let mut all = FUNCTIONS.iter().copied().flatten();
    all.find(|function| function.name == name && function.variant == variant).copied()
}
