//! Parts of the executors that tests compare with the definitions.
//!
//! The multiply-add at every CPU level, the speculative lanes, and lanes that check the bounds of speculative programs.

use crate::arith::lane::{
    ONE, add, arecip, ashift, gtmask, less, mad, mul, mul24hi, select, shr, splat, sub, sub_product,
};
use crate::exec::kernels::{Kernel, exact};
use crate::functions::blocks::Blocks;
use tt_formats::{Arch, by_generation};

#[cfg(target_arch = "x86_64")]
pub use crate::exec::speculative::interval::{Form, Plan, Step};
#[cfg(target_arch = "x86_64")]
pub use crate::exec::speculative::lanes::{SpecLanes, SpecMask};
#[cfg(target_arch = "x86_64")]
pub use crate::exec::speculative::{Checked, CheckedProgram, Speculative};
pub use crate::functions::derivative::NEAR;
pub use crate::functions::gamma::LOW_OVER;
pub use crate::functions::log::SERIES_32;
pub use crate::functions::relations::{are_zeros, is_unordered};
pub use crate::functions::trigonometry::SINE_32;

/// `x * y + z`.
pub fn multiply_add(arch: Arch) -> Kernel<2> {
    by_generation!(arch, G => exact!(G, [y, z], [], mad))
}

/// `x + z`.
pub fn sum(arch: Arch) -> Kernel<1> {
    by_generation!(arch, G => exact!(G, [z], [], add))
}

/// `x - z`.
pub fn difference(arch: Arch) -> Kernel<1> {
    by_generation!(arch, G => exact!(G, [z], [], sub))
}

/// `x * y`.
pub fn product(arch: Arch) -> Kernel<1> {
    by_generation!(arch, G => exact!(G, [y], [], mul))
}

/// A listing of many steps: the exponential.
pub fn exponential(arch: Arch) -> Kernel<0> {
    by_generation!(arch, G => exact!(G, [], [], Blocks::exp_f32))
}

/// Primitives that are several operations of the lanes.
///
/// Approximate reciprocal, upper half of a product, arithmetic shift, two forms of comparison, and a difference with a
/// product.
pub fn primitives(arch: Arch) -> [Kernel<1>; 6] {
    by_generation!(arch, G => [
        exact!(G, [other], [], |x, _| arecip(x)),
        exact!(G, [other], [], mul24hi),
        exact!(G, [other], [], |x, y| ashift(x, shr(y, 26))),
        exact!(G, [other], [], gtmask),
        exact!(G, [other], [], |x, y| sub_product(x, y, ONE)),
        exact!(G, [other], [], |x, y| select(less(x, y), ONE, splat(0))),
    ])
}
