//! Tests of the vector unit, in one binary.
#![allow(clippy::print_stdout, reason = "the counts are the result of long runs")]
#![allow(unsafe_code, reason = "calls of lanes compiled for a CPU level")]

mod attention;
mod bf16_pages;
mod bf16_quotients;
#[cfg(target_arch = "x86_64")]
mod bounds;
#[cfg(target_arch = "x86_64")]
mod frozen;
mod generations;
mod golden_sfpu;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod multiply_add;
mod pairs;
#[cfg(target_arch = "x86_64")]
mod plans;
mod quotients;
mod relations;
mod tile_integer;
mod tile_quantize;
mod tile_rows;
mod tile_scan;
mod tile_topk;
