//! Tests of the matrix unit, in one binary.

mod across_tiles;
mod bf16_lanes;
mod common;
mod exact_steps;
mod golden_fpu;
mod golden_steps;
mod levels;
mod matmul_reference;
mod moves;
mod one_factor;
mod reference;
mod running_max;
mod running_sums;
