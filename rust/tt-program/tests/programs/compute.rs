//! A reader and a compute kernel of one core.

use tt_memory::chip::N150;
use tt_perf::{ComputeCosts, Costs};
use tt_program::Run;
use tt_program::calls::compute::{Copying, Math};
use tt_program::spec::{ComputeConfig, Risc};

use super::{COMPUTE, Program};

/// The kernel that fills CBs and the one that computes.
pub const READER: usize = 0;
pub const COMPUTES: usize = 1;
pub fn costs() -> &'static ComputeCosts {
    &Costs::of(N150.arch).compute
}

pub fn program() -> Program {
    built(&COMPUTE)
}

pub fn built(config: &ComputeConfig) -> Program {
    Program::configured(&N150, &[(0, Risc::Ncrisc), (0, Risc::Trisc)], config)
}

/// Bfloat16 words that are all different, from 2^-7 on.
pub fn counted(count: usize) -> Vec<u16> {
    (0..count).map(|number| 0x3c00 + number as u16).collect()
}

/// Sets the units up for bfloat16 tiles, then resets the clocks.
pub fn start(program: &mut Program, math: Math) {
    program.by(COMPUTES, |run, _| {
        run.hw_startup(2, 2, 3).expect("units");
        run.init_math(math, &[2]).expect("an operation");
        run.kernels[COMPUTES].clocks = [0; 3];
    });
}

/// Pushes different tiles that the compute kernel waits for freely.
///
/// It waits at no cost.
pub fn feed(program: &mut Program, cb: u32, tiles: usize) -> Vec<u16> {
    let words = counted(tiles * 1024);
    program.push_words(READER, cb, &words);
    program.by(COMPUTES, |run, _| {
        run.cb_wait_front(cb, tiles as u32).expect("tiles");
        run.kernels[COMPUTES].clocks = [0; 3];
    });
    words
}

pub fn clocks(run: &Run) -> [u64; 3] {
    run.kernels[COMPUTES].clocks
}

pub const COPY: Math = Math::Copy(Copying::Plain);
