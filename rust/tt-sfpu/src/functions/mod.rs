//! The functions of the SFPU, one file for each family.
//!
//! Straight-line programs on one lane register.
//!
//! Source: tt-llk `ckernel_sfpu_*.h` (the dataflow of every kernel), whose steps and order they have. Each is given
//! for 16-bit and 32-bit `Dst`, by an entry in its file's list, which says for which generations the steps are. The
//! engine runs all of them with the primitives of Wormhole.

pub mod blocks;

pub(crate) mod activation;
pub(crate) mod arc;
mod arc_hyperbolic;
pub(crate) mod bessel;
pub(crate) mod binary;
mod compare;
pub(crate) mod composed;
mod definitions;
pub(crate) mod derivative;
pub(crate) mod division;
mod elu;
pub(crate) mod erf;
pub(crate) mod exp;
pub(crate) mod gamma;
pub(crate) mod gelu;
pub(crate) mod hyperbolic;
mod integer;
pub(crate) mod log;
pub(crate) mod logarithmic;
mod modulo;
mod polygamma;
mod power;
pub(crate) mod quantize;
mod recip;
pub(crate) mod relations;
mod relu;
pub(crate) mod roots;
mod rounding;
mod scalar;
mod shrink;
mod sigmoid;
mod sign;
pub(crate) mod tanh;
mod ternary;
pub(crate) mod trigonometry;
mod typecast;

use super::exec::{BinaryFunction, Function, TernaryFunction};

/// Every unary function.
pub static FUNCTIONS: &[&[Function]] = &[
    arc::FUNCTIONS,
    erf::FUNCTIONS,
    exp::FUNCTIONS,
    gelu::FUNCTIONS,
    hyperbolic::FUNCTIONS,
    log::FUNCTIONS,
    recip::FUNCTIONS,
    relu::FUNCTIONS,
    rounding::FUNCTIONS,
    sigmoid::FUNCTIONS,
    sign::FUNCTIONS,
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
    roots::FUNCTIONS,
    gamma::FUNCTIONS,
    scalar::FUNCTIONS,
    power::FUNCTIONS,
    modulo::FUNCTIONS,
    integer::FUNCTIONS,
    composed::FUNCTIONS,
    polygamma::FUNCTIONS,
];

/// Every function of two operands.
pub static BINARY_FUNCTIONS: &[&[BinaryFunction]] = &[
    binary::BINARY,
    composed::BINARY,
    division::BINARY,
    integer::BINARY,
    logarithmic::BINARY,
    modulo::BINARY,
    power::BINARY,
    quantize::BINARY,
    relations::BINARY,
];

/// Every function of three operands.
pub static TERNARY_FUNCTIONS: &[&[TernaryFunction]] = &[ternary::TERNARY];

/// The function with these names of the specification's listings, e.g. `exp`, `accurate`.
pub fn lookup(name: &str, variant: &str) -> Option<Function> {
    let mut all = FUNCTIONS.iter().copied().flatten();
    all.find(|function| function.name == name && function.variant == variant).copied()
}

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
