//! Parts of the executors that tests compare with the definitions.
//!
//! The multiply-add at every CPU level, the speculative lanes, and lanes that check the bounds of speculative programs.

use crate::arith::lane::{add, mad, mul, sub};
use crate::exec::kernels::{Kernel, exact};

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
pub const MULTIPLY_ADD: Kernel<2> = exact!([y, z], [], mad);
/// `x + z`.
pub const SUM: Kernel<1> = exact!([z], [], add);
/// `x - z`.
pub const DIFFERENCE: Kernel<1> = exact!([z], [], sub);
/// `x * y`.
pub const PRODUCT: Kernel<1> = exact!([y], [], mul);
