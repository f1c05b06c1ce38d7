//! Runs jobs consecutively on all threads, and prints their results.

use std::io::{IsTerminal, Write, stderr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tt_cpu::Level;

use crate::jobs::{CHUNK, CHUNKS, Job};
use crate::options::Options;

const REDRAW: Duration = Duration::from_millis(200);
const BAR: usize = 30;

/// Runs the jobs and prints a line for each, then the sum.
///
/// Returns whether there was no difference.
pub fn all(jobs: &[Job], options: &Options) -> bool {
    let levels: Vec<String> = Level::supported().iter().map(ToString::to_string).collect();
    println!("{} functions, {} threads, levels {}", jobs.len(), options.threads, levels.join(", "));
    let start = Instant::now();
    let (mut inputs, mut different) = (0, Vec::new());
    for (number, job) in jobs.iter().enumerate() {
        let place = format!("{}/{} {}", number + 1, jobs.len(), job.name);
        let done = one(job, options, &place);
        inputs += done.inputs;
        let seconds = done.time.as_secs_f64();
        let speed = done.inputs as f64 / seconds / 1e6;
        let result = done.difference.as_deref().unwrap_or("0 differences");
        println!("{}: {} inputs, {result}, {seconds:.1} s, {speed:.0} million/s", job.name, done.inputs);
        if done.difference.is_some() {
            different.push(job.name.as_str());
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{inputs} inputs of {} functions, {} with differences, {seconds:.0} s", jobs.len(), different.len());
    for name in &different {
        println!("differs: {name}");
    }
    different.is_empty()
}

/// How a job ended.
struct Done {
    inputs: u64,
    time: Duration,
    /// Where the first difference that was found is.
    difference: Option<String>,
}

fn one(job: &Job, options: &Options, place: &str) -> Done {
    let (first, step) = options.part;
    let chunks = (CHUNKS - first).div_ceil(step);
    let (next, ready, failed) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let difference = Mutex::new(None);
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..options.threads {
            scope.spawn(|| {
                while !failed.load(Ordering::Relaxed) {
                    let chunk = next.fetch_add(1, Ordering::Relaxed);
                    if chunk >= chunks {
                        return;
                    }
                    if let Err(text) = (job.check)(first + chunk * step) {
                        failed.store(true, Ordering::Relaxed);
                        difference.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(text);
                    }
                    ready.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let unfinished = || ready.load(Ordering::Relaxed) < chunks && !failed.load(Ordering::Relaxed);
        while stderr().is_terminal() && unfinished() {
            draw(place, ready.load(Ordering::Relaxed), chunks, start.elapsed());
            thread::sleep(REDRAW);
        }
    });
    if stderr().is_terminal() {
        // A line of blanks: what follows is the result.
        eprint!("\r{:width$}\r", "", width = place.len() + BAR + 40);
    }
    let inputs = ready.into_inner() * CHUNK as u64;
    Done { inputs, time: start.elapsed(), difference: difference.into_inner().unwrap_or_else(PoisonError::into_inner) }
}

fn draw(place: &str, ready: u64, chunks: u64, time: Duration) {
    let share = ready as f64 / chunks as f64;
    let filled = (share * BAR as f64) as usize;
    let rest =
        if ready == 0 { String::new() } else { format!("{:.0} s left", time.as_secs_f64() * (1.0 / share - 1.0)) };
    eprint!("\r{place} [{}{}] {:.0} % {rest}   ", "#".repeat(filled), ".".repeat(BAR - filled), share * 100.0);
    // Nothing depends on the picture.
    let _ = stderr().flush();
}
