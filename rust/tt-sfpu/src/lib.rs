//! The vector unit (SFPU).
//!
//! Its arithmetic, the functions that run on `Dst`, and how they are executed.
//!
//! [`arith`] has the multiply-add and the primitives of a lane, [`functions`] the listings of every kernel, generic over
//! them, and [`exec`] what runs these at once on many lanes with the same bits.
//! Sources: `docs/chip/sfpu.md` (primitives and structure), tt-llk `ckernel_sfpu_*.h` (the steps of every kernel).
#![allow(unsafe_code, reason = "calls of kernels compiled for a CPU level")]
#![cfg_attr(
    feature = "checked",
    allow(
        missing_docs,
        clippy::missing_errors_doc,
        clippy::missing_panics_doc,
        clippy::return_self_not_must_use,
        reason = "lanes that only tests see"
    )
)]

pub mod arith;
#[cfg(feature = "checked")]
pub mod checked;
pub mod exec;
pub mod functions;
pub mod tile;

pub use arith::fma::fma;
pub use arith::generation::VectorUnit;
pub use arith::{convert, lane};
pub use exec::{
    BinaryCall, BinaryFunction, Call, DstWidth, Function, MAX_PARAMETERS, Several, SeveralCall, TernaryCall,
    TernaryFunction, WrongParameters, binary,
};
pub use functions::{binary_functions, functions, lookup, lookup_binary, lookup_ternary, ternary_functions};

#[cfg(feature = "count")]
pub use arith::lane::multiply_adds;
