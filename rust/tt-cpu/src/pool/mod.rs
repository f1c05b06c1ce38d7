//! The worker pool: a loop over independent items on all host threads.
//!
//! Items are handed out in order, a few at a time, to whichever thread is free. An item must not depend on another one,
//! so neither the number of threads nor their timing can show in a result. A loop inside a loop runs on the thread it
//! is on: work is split once, at the outermost place.
pub mod stop;
mod workers;

use std::cell::Cell;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::available_parallelism;

use workers::Workers;

/// Most threads that [`set_threads`] accepts.
pub const MAX_THREADS: usize = 1024;

/// Below this many bytes of work, waking another thread costs more than it saves.
const INLINE_BYTES: usize = 256 * 1024;

/// The reason for which a number of threads was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the number of threads must be between 1 and {MAX_THREADS}, not {0}")]
pub struct ThreadsError(pub usize);

/// 0: not chosen yet, use all the host has.
static THREADS: AtomicUsize = AtomicUsize::new(0);
/// Asking the host reads files, too slow for each loop.
static HOST_THREADS: OnceLock<usize> = OnceLock::new();
static POOL: Mutex<Option<Pool>> = Mutex::new(None);

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

struct Pool {
    workers: Arc<Workers>,
    /// Threads including the caller of the loop, who works too.
    threads: usize,
    /// A child of `fork` inherits this record but not the threads.
    process: u32,
}

/// Number of threads that a loop may use, including the calling one.
pub fn threads() -> usize {
    match THREADS.load(Ordering::Relaxed) {
        0 => host_threads(),
        chosen => chosen,
    }
}

/// What the host can run at once, divided by the processes of an MPI job on it.
fn host_threads() -> usize {
    *HOST_THREADS.get_or_init(|| {
        let cores = available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        let processes = std::env::var("OMPI_COMM_WORLD_LOCAL_SIZE").ok().and_then(|text| text.parse().ok());
        (cores / processes.unwrap_or(1).max(1)).max(1)
    })
}

/// Chooses the number of threads for loops that start from now on.
///
/// # Errors
/// [`ThreadsError`] for 0 and for more than [`MAX_THREADS`].
pub fn set_threads(threads: usize) -> Result<(), ThreadsError> {
    if !(1..=MAX_THREADS).contains(&threads) {
        return Err(ThreadsError(threads));
    }
    THREADS.store(threads, Ordering::Relaxed);
    Ok(())
}

/// Calls `work(i)` for each `i < items`, on all threads.
pub fn for_each(items: usize, work: impl Fn(usize) + Sync) {
    for_each_init(items, || (), |(), item| work(item));
}

/// Like [`for_each`] for items of `bytes_per_item` bytes of traffic.
///
/// Little work stays on the calling thread.
pub fn for_each_sized(items: usize, bytes_per_item: usize, work: impl Fn(usize) + Sync) {
    if items.saturating_mul(bytes_per_item) < INLINE_BYTES { (0..items).for_each(work) } else { for_each(items, work) }
}

/// Calls `work(scratch, i)` for each `i < items`, on all threads.
///
/// Each thread makes its scratch once.
///
/// Scratch must not carry anything from one item to the next that shows in a result.
pub fn for_each_init<S>(items: usize, make_scratch: impl Fn() -> S + Sync, work: impl Fn(&mut S, usize) + Sync) {
    let threads = threads().min(items);
    if threads <= 1 || INSIDE.get() {
        let mut scratch = make_scratch();
        return (0..items).for_each(|item| work(&mut scratch, item));
    }
    // Small enough that the threads end together, large enough that the counter is not contended.
    let grain = (items / (threads * 16)).max(1);
    let next = AtomicUsize::new(0);
    let share = || {
        let _inside = Inside::enter();
        let mut scratch: Option<S> = None;
        loop {
            let first = next.fetch_add(grain, Ordering::Relaxed);
            if first >= items {
                return;
            }
            let scratch = scratch.get_or_insert_with(&make_scratch);
            (first..items.min(first + grain)).for_each(|item| work(scratch, item));
        }
    };
    workers().run(threads - 1, &share);
}

/// Calls `work(i, chunk)` for chunks of `data`, on all threads.
///
/// Each has `chunk_len` elements (the last may be shorter); there are several threads if there is enough to do.
///
/// # Panics
/// If `chunk_len` is 0.
pub fn for_each_chunk<T: Send>(data: &mut [T], chunk_len: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    assert!(chunk_len > 0, "chunks need a length");
    let len = data.len();
    let start = AtomicPtr::new(data.as_mut_ptr());
    for_each_sized(len.div_ceil(chunk_len), chunk_len * size_of::<T>(), |item| {
        let first = item * chunk_len;
        // SAFETY: `first < len`, so the offset is inside `data`, which this function borrows exclusively until the loop
        // has ended.
        let chunk = unsafe { start.load(Ordering::Relaxed).add(first) };
        // SAFETY: the loop runs every item once, and chunks of different items share no element.
        let chunk = unsafe { std::slice::from_raw_parts_mut(chunk, chunk_len.min(len - first)) };
        work(item, chunk);
    });
}

/// Marks the thread as working on a loop, also if the loop panics.
struct Inside(bool);

impl Inside {
    fn enter() -> Self {
        Self(INSIDE.replace(true))
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(self.0);
    }
}

/// The pool for the chosen number of threads.
fn workers() -> Arc<Workers> {
    let (threads, process) = (threads(), std::process::id());
    let mut slot = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = &*slot
        && (pool.threads, pool.process) == (threads, process)
    {
        return Arc::clone(&pool.workers);
    }
    let workers = Arc::new(Workers::start(threads - 1, threads <= host_threads()));
    let replaced = slot.replace(Pool { workers: Arc::clone(&workers), threads, process });
    drop(slot);
    if let Some(old) = replaced
        && old.process != process
    {
        // After a fork the old threads do not exist, and could have held the locks that telling them to end would take.
        std::mem::forget(old);
    }
    workers
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    /// The number of threads belongs to the process, so the tests that change it take turns.
    fn with_threads(threads: usize, test: impl FnOnce()) {
        static TURN: Mutex<()> = Mutex::new(());
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        set_threads(threads).expect("in range");
        test();
        THREADS.store(0, Ordering::Relaxed);
    }

    #[test]
    fn every_item_runs_once_at_any_number_of_threads() {
        for threads in [1, 2, 8] {
            with_threads(threads, || {
                for items in [0, 1, 2, 7, 1000] {
                    let counts: Vec<AtomicU32> = (0..items).map(|_| AtomicU32::new(0)).collect();
                    for_each(items, |item| {
                        counts[item].fetch_add(1, Ordering::Relaxed);
                    });
                    assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1));
                }
            });
        }
    }

    #[test]
    fn scratch_is_made_at_most_once_per_thread() {
        with_threads(4, || {
            let (made, sum) = (AtomicU32::new(0), AtomicU32::new(0));
            let make = || {
                made.fetch_add(1, Ordering::Relaxed);
                [0u8; 64]
            };
            for_each_init(10_000, make, |_, item| {
                sum.fetch_add(item as u32, Ordering::Relaxed);
            });
            assert!((1..=4).contains(&made.load(Ordering::Relaxed)));
            assert_eq!(sum.load(Ordering::Relaxed), 9_999 * 5_000);
        });
    }

    #[test]
    fn chunks_cover_the_data_without_overlap() {
        with_threads(3, || {
            for (len, chunk_len) in [(0, 1), (1, 5), (1_000_003, 17), (4096, 4096)] {
                let mut data = vec![0u64; len];
                for_each_chunk(&mut data, chunk_len, |item, chunk| {
                    for (index, value) in chunk.iter_mut().enumerate() {
                        *value += (item * chunk_len + index) as u64 + 1;
                    }
                });
                assert!(data.iter().enumerate().all(|(index, &value)| value == index as u64 + 1));
            }
        });
    }

    #[test]
    fn a_loop_inside_a_loop_ends() {
        with_threads(2, || {
            let count = AtomicU32::new(0);
            for_each(16, |_| {
                for_each(16, |_| {
                    count.fetch_add(1, Ordering::Relaxed);
                });
            });
            assert_eq!(count.load(Ordering::Relaxed), 256);
        });
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_pool_survives() {
        with_threads(3, || {
            let panicked = std::panic::catch_unwind(|| for_each(100, |item| assert!(item != 50, "item 50")));
            assert!(panicked.is_err());
            let count = AtomicU32::new(0);
            for_each(100, |_| {
                count.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(count.load(Ordering::Relaxed), 100);
        });
    }

    /// Waits for another thread to come here.
    fn meet(begun: &AtomicU32) {
        begun.fetch_add(1, Ordering::SeqCst);
        while begun.load(Ordering::SeqCst) < 2 {
            std::thread::yield_now();
        }
    }

    #[test]
    fn callers_at_once_each_get_their_results() {
        with_threads(3, || {
            let caller = |seed: usize| {
                for round in 0..2_000 {
                    let sum = AtomicUsize::new(0);
                    for_each(5, |item| {
                        sum.fetch_add(seed * 1_000_000 + round * 10 + item, Ordering::Relaxed);
                    });
                    assert_eq!(sum.into_inner(), 5 * (seed * 1_000_000 + round * 10) + 10);
                }
            };
            std::thread::scope(|scope| (0..4).for_each(|seed| drop(scope.spawn(move || caller(seed)))));
        });
    }

    /// The worker has the panic: the caller's item waits until it has begun.
    #[test]
    fn a_workers_panic_reaches_the_caller_with_its_message() {
        with_threads(2, || {
            let (caller, begun) = (std::thread::current().id(), AtomicU32::new(0));
            let work = |_| {
                meet(&begun);
                assert!(std::thread::current().id() == caller, "of a worker");
            };
            let panicked = std::panic::catch_unwind(|| for_each(2, work)).expect_err("a panic");
            assert!(panicked.downcast_ref::<&str>().is_some_and(|text| text.contains("of a worker")));
        });
    }

    /// Sleeping workers come for work, too, and what comes while they fall asleep is not lost.
    #[test]
    fn work_after_pauses_is_done_by_all() {
        with_threads(2, || {
            for pause in [0, 50, 95, 100, 105, 150, 3_000].repeat(20) {
                std::thread::sleep(std::time::Duration::from_micros(pause));
                let begun = AtomicU32::new(0);
                for_each(2, |_| meet(&begun));
            }
        });
    }

    #[test]
    fn impossible_numbers_of_threads_are_refused() {
        assert_eq!(set_threads(0), Err(ThreadsError(0)));
        assert_eq!(set_threads(MAX_THREADS + 1), Err(ThreadsError(MAX_THREADS + 1)));
        assert_eq!(ThreadsError(0).to_string(), "the number of threads must be between 1 and 1024, not 0");
    }
}
