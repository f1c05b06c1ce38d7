//! The vector unit: its multiply-add, the lane primitives, and one file per function that runs on `Dst`.
//!
//! Each function is a straight-line program on one 32-bit word per lane, given for 16-bit and 32-bit `Dst`.
//! Sources: `sfpu.md` (primitives and structure), `sfpu-listings.md` (the dataflow of every kernel).
//! All functions are those of Wormhole.

mod blocks;
pub mod convert;
mod course;
pub mod fma;
#[cfg(target_arch = "x86_64")]
mod guess;
pub mod lane;
mod lanes;
#[cfg(target_arch = "x86_64")]
mod wide;
mod word;

mod activation;
mod arc;
mod arc_hyperbolic;
mod bessel;
mod binary;
mod cbrt;
mod compare;
mod composed;
mod derivative;
mod division;
mod elu;
mod erf;
mod exp;
mod gamma;
mod gelu;
mod hyperbolic;
mod identity;
mod integer;
mod log;
mod logarithmic;
mod modulo;
pub mod pages;
mod polygamma;
mod power;
pub mod quotient;
mod recip;
mod relations;
mod relu;
mod rounding;
mod rsqrt;
mod run;
mod run_binary;
mod scalar;
mod series;
mod shrink;
mod sigmoid;
mod sign;
mod sqrt;
mod tanh;
mod ternary;
pub mod tile;
mod trigonometry;
mod typecast;

pub use fma::fma;
pub use run::{Call, DstWidth, Function, MAX_PARAMETERS, WrongParameters};
pub use run_binary::{BinaryFunction, Several, SeveralCall, TernaryFunction, binary};

#[cfg(feature = "count")]
pub use word::multiply_adds;

/// Every unary function of the vector unit.
pub static FUNCTIONS: &[&[Function]] = &[
    arc::FUNCTIONS,
    erf::FUNCTIONS,
    exp::FUNCTIONS,
    gelu::FUNCTIONS,
    hyperbolic::FUNCTIONS,
    identity::FUNCTIONS,
    log::FUNCTIONS,
    recip::FUNCTIONS,
    relu::FUNCTIONS,
    rounding::FUNCTIONS,
    rsqrt::FUNCTIONS,
    sigmoid::FUNCTIONS,
    sign::FUNCTIONS,
    sqrt::FUNCTIONS,
    tanh::FUNCTIONS,
    trigonometry::FUNCTIONS,
    typecast::FUNCTIONS,
    compare::FUNCTIONS,
    elu::FUNCTIONS,
    shrink::FUNCTIONS,
    arc_hyperbolic::FUNCTIONS,
    activation::FUNCTIONS,
    derivative::FUNCTIONS,
    bessel::FUNCTIONS,
    cbrt::FUNCTIONS,
    gamma::FUNCTIONS,
    scalar::FUNCTIONS,
    power::FUNCTIONS,
    modulo::FUNCTIONS,
    integer::FUNCTIONS,
    composed::FUNCTIONS,
    polygamma::FUNCTIONS,
];

/// The function with these names of the specification's listings, e.g. `exp`, `accurate`.
pub fn lookup(name: &str, variant: &str) -> Option<Function> {
    let mut all = FUNCTIONS.iter().copied().flatten();
    all.find(|function| function.name == name && function.variant == variant).copied()
}

/// Every function of two operands.
pub static BINARY_FUNCTIONS: &[&[BinaryFunction]] = &[
    binary::BINARY,
    composed::BINARY,
    division::BINARY,
    integer::BINARY,
    logarithmic::BINARY,
    modulo::BINARY,
    power::BINARY,
    quotient::BINARY,
    relations::BINARY,
];

/// Every function of three operands.
pub static TERNARY_FUNCTIONS: &[&[TernaryFunction]] = &[ternary::TERNARY];

/// The binary function of this name, in its default variant.
pub fn lookup_binary(name: &str) -> Option<BinaryFunction> {
    lookup_binary_variant(name, "default")
}

/// The binary function with these names of the listings.
pub fn lookup_binary_variant(name: &str, variant: &str) -> Option<BinaryFunction> {
    let mut all = BINARY_FUNCTIONS.iter().copied().flatten();
    all.find(|function| function.name == name && function.variant == variant).copied()
}

/// The ternary function with these names of the listings.
pub fn lookup_ternary(name: &str, variant: &str) -> Option<TernaryFunction> {
    let mut all = TERNARY_FUNCTIONS.iter().copied().flatten();
    all.find(|function| function.name == name && function.variant == variant).copied()
}
