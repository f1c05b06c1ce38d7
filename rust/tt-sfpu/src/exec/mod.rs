//! Executors of the listings.
//!
//! Scalar, SIMD, tables of 65,536, BF16 kernels, speculative float32.

pub mod bf16;
#[cfg(target_arch = "x86_64")]
pub(crate) mod block;
mod function;
#[cfg(target_arch = "x86_64")]
pub(crate) mod grid;
pub(crate) mod kernels;
pub(crate) mod quotient;
mod several;
#[cfg(target_arch = "x86_64")]
pub(crate) mod simd;
#[cfg(target_arch = "x86_64")]
pub(crate) mod speculative;

pub use function::{Call, DstWidth, Function, MAX_PARAMETERS, WrongParameters};
pub use several::{BinaryCall, BinaryFunction, Several, SeveralCall, TernaryCall, TernaryFunction, binary};

pub(crate) use function::{
    Row, functions, generations, integer_functions, list_of_unary, or_none, parameter_names, row, table_of, unary,
};
pub(crate) use several::{binary_functions, list_of_several, several, short_binary_functions, some, ternary_functions};
