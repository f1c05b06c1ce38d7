//! The speculative float32 lanes are frozen: no function is added.
//!
//! Each program rests on bounds of its own that have to be proved, and only on Wormhole's multiply-add. A new listing has
//! its definition at every CPU level: `list_of_unary! { [plain, halves] .. }`, or `short_binary_functions!`.

use std::collections::BTreeSet;

use tt_formats::Arch;
use tt_sfpu::{binary_functions, functions, ternary_functions};

/// Functions with a speculative program in some variant.
const SPECULATED: &str = "\
    abs acos acosh add_binary add_unary addcdiv addcmul asin asinh atan atan2 atanh binary_max binary_min cbrt \
    ceil celu clamp cos cosh digamma div_binary div_int32 div_int32_floor div_unary elu eqz erf erfc erfinv exp \
    exp2 expm1 floor fmod fmod_binary fmod_int32 frac gcd gelu gelu_derivative gez gtz hardmish hardshrink \
    hardsigmoid hardtanh heaviside i0 i1 identity isfinite isinf isnan isneginf isposinf lcm leaky_relu lerp lez \
    lgamma lgamma_stirling log log10 log1p log2 log_sigmoid logaddexp logaddexp2 logical_not logit ltz mac mish \
    mul_binary mul_unary neg nez polygamma power power_binary power_iterative prelu rdiv recip relu relu_max \
    relu_min remainder remainder_binary remainder_int32 round rpow rsqrt rsub rsub_binary selu sigmoid sign \
    signbit silu sin sinh snake_beta softplus softshrink softsign sqrt square sub_binary sub_unary tan \
    tanh tanh_derivative tanhshrink threshold trunc unary_eq unary_ge unary_gt unary_le unary_lt unary_max \
    unary_min unary_ne where xielu xlogy";

#[test]
fn no_further_function_is_speculated() {
    let unary = functions(Arch::Wormhole).filter(|function| function.checked.is_some());
    let binary = binary_functions(Arch::Wormhole).filter(|function| function.checked[1].is_some());
    let ternary = ternary_functions(Arch::Wormhole).filter(|function| function.checked[1].is_some());
    let names = unary.map(|function| function.name).chain(binary.map(|function| function.name));
    let speculated: BTreeSet<&str> = names.chain(ternary.map(|function| function.name)).collect();
    assert_eq!(speculated, SPECULATED.split(' ').collect());
}
