//! The tile pipeline.
//!
//! Operators that compute one line of tiles after the other.
//!
//! A program is a list of passes over a line. A pass loads tiles to `Dst` (a copy, an operation of the FPU or SFPU on two
//! operands, a reduction along the line), applies a chain of SFPU functions there, and packs them to a circular buffer in
//! L1 or to an output. Formats, fidelity and order are those of the operator's program. Lines run in parallel; nothing is
//! allocated per tile.
//!
//! Passes that look at one tile of the line run together, tile by tile, up to the next reduction: what they pack stays in
//! the first-level cache. That changes no bit.

mod lines;
mod program;
mod run;
mod step;
mod vertical;
mod worker;

pub use program::{Axis, Join, Load, Moment, Operand, Padding, Part, Pass, Settings, Target, Tensor};
pub use run::Pipeline;
