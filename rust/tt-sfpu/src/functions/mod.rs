//! The functions of the SFPU, one file for each family.
//!
//! Straight-line programs on one lane register.
//!
//! Source: tt-llk `ckernel_sfpu_*.h` (the dataflow of every kernel), whose steps and order they have. Each is given
//! for 16-bit and 32-bit `Dst`, by an entry in its file's list, which says for which generations the steps are. A
//! generation runs them with its own primitives and building blocks.

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

use tt_formats::Arch;

use super::exec::{BinaryFunction, Function, Row, TernaryFunction};

/// The unary functions of every family.
static FUNCTIONS: &[&[Row<Function>]] = &[
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

/// The functions of two operands.
static BINARY_FUNCTIONS: &[&[Row<BinaryFunction>]] = &[
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

/// The functions of three operands.
static TERNARY_FUNCTIONS: &[&[Row<TernaryFunction>]] = &[ternary::TERNARY];

/// Those of a generation.
fn of_generation<F: 'static>(
    tables: &'static [&'static [Row<F>]],
    arch: Arch,
) -> impl Iterator<Item = &'static F> + Clone {
    let place = match arch {
        Arch::Wormhole => 0,
        Arch::Blackhole => 1,
    };
    tables.iter().copied().flatten().filter_map(move |row| row[place].as_ref())
}

/// Every unary function of a generation.
pub fn functions(arch: Arch) -> impl Iterator<Item = &'static Function> + Clone {
    of_generation(FUNCTIONS, arch)
}

/// Every function of two operands of a generation.
pub fn binary_functions(arch: Arch) -> impl Iterator<Item = &'static BinaryFunction> + Clone {
    of_generation(BINARY_FUNCTIONS, arch)
}

/// Every function of three operands of a generation.
pub fn ternary_functions(arch: Arch) -> impl Iterator<Item = &'static TernaryFunction> + Clone {
    of_generation(TERNARY_FUNCTIONS, arch)
}

/// A generation's function with these names, e.g. `exp`, `accurate`.
pub fn lookup(arch: Arch, name: &str, variant: &str) -> Option<Function> {
    functions(arch).find(|function| function.name == name && function.variant == variant).copied()
}

/// A generation's function of two operands with these names of the listings.
pub fn lookup_binary(arch: Arch, name: &str, variant: &str) -> Option<BinaryFunction> {
    binary_functions(arch).find(|function| function.name == name && function.variant == variant).copied()
}

/// A generation's function of three operands with these names of the listings.
pub fn lookup_ternary(arch: Arch, name: &str, variant: &str) -> Option<TernaryFunction> {
    ternary_functions(arch).find(|function| function.name == name && function.variant == variant).copied()
}
