//! Start latency of a loop's second thread, by work between loops.
//!
//! Threads that find nothing to do look for work for a while, and sleep then.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use divan::Bencher;
use tt_cpu::pool;

fn main() {
    pool::set_threads(2).expect("two threads");
    divan::main();
}

#[divan::bench(args = [0, 20, 50, 200, 1_000, 10_000], sample_size = 1, sample_count = 200)]
fn two_threads_meet_after_microseconds(bencher: Bencher<'_, '_>, pause: u64) {
    let wait = || {
        let start = Instant::now();
        while start.elapsed() < Duration::from_micros(pause) {
            std::hint::spin_loop();
        }
    };
    bencher.with_inputs(wait).bench_values(|()| {
        let begun = AtomicUsize::new(0);
        pool::for_each(2, |_| {
            begun.fetch_add(1, Ordering::SeqCst);
            while begun.load(Ordering::SeqCst) < 2 {
                std::hint::spin_loop();
            }
        });
    });
}
