//! Every input of SFPU and FPU, for long manual runs.
//!
//! `cargo xtask every-input` sends all 2^32 words through functions of one operand, `cargo xtask every-pair` all 2^32
//! pairs of BF16 values through functions and operations of two. Every CPU level must give the bits of the scalar form,
//! or of the independent model where there is one.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool answers on standard output")]

#[path = "../../tests/all/pairs/engine.rs"]
mod engine;
mod jobs;
mod options;
mod run;

use std::process::ExitCode;

fn main() -> ExitCode {
    let options = match options::Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(text) => {
            println!("{text}\n\n{}", options::USAGE);
            return ExitCode::from(2);
        }
    };
    let all = if options.pairs { jobs::of_pairs() } else { jobs::of_inputs() };
    let chosen: Vec<_> = all.into_iter().filter(|job| options.wants(&job.name)).collect();
    if options.list {
        for job in &chosen {
            println!("{}", job.name);
        }
        return ExitCode::SUCCESS;
    }
    if chosen.is_empty() {
        println!("no function has such a name; --list prints them");
        return ExitCode::from(2);
    }
    if run::all(&chosen, &options) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
