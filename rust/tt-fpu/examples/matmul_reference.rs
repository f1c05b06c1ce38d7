//! Comparison of the FPU with the independent integer reference.
//!
//! On as many outputs as requested; it prints their number: `cargo xtask reference`.
#![allow(clippy::print_stdout, reason = "a command line tool answers on standard output")]

#[path = "../tests/all/matmul_reference/compare.rs"]
mod compare;

fn main() -> Result<(), std::num::ParseIntError> {
    let wanted = std::env::args().nth(1).map_or(Ok(10_000_000), |count| count.parse())?;
    let compare::Counts { outputs, minus_one } = compare::compare(wanted);
    let levels = tt_cpu::Level::supported().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    println!("{outputs} outputs of tile products equal the reference at every CPU level ({levels});");
    println!("in {minus_one} of them Wormhole's -1 case occurred.");
    Ok(())
}
