//! Threads that wait for work.
//!
//! Work comes many times a second, each time for some hundred microseconds, and to wake a sleeping thread takes tens of
//! them. So a thread that has nothing to do looks for the next job for a while before it sleeps, and the caller looks
//! for the others' end in the same way. Workers that have not come by the time the caller is through are not waited
//! for.
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// How long a thread looks for work, or for the end of it, before it sleeps: longer than a program takes from one
/// operator to the next.
const LOOKS: Duration = Duration::from_micros(100);

/// What a panic carries.
type Payload = Box<dyn Any + Send>;

/// Work for several threads at once, which lives until [`Workers::run`] returns.
#[derive(Clone, Copy)]
struct Job(*const (dyn Fn() + Sync));

// SAFETY: what it points to may be called by several threads.
unsafe impl Send for Job {}

/// A pool of threads.
pub struct Workers {
    shared: Arc<Shared>,
    threads: usize,
    /// Somebody's work is being done.
    busy: AtomicBool,
}

struct Shared {
    state: Mutex<State>,
    /// Jobs that there have been.
    jobs: AtomicUsize,
    /// Workers that are at the job.
    working: AtomicUsize,
    /// There is a job, or no more will come.
    come: Condvar,
    /// The last worker has ended.
    ended: Condvar,
    /// Whether to look before sleeping.
    looks: bool,
}

#[derive(Default)]
struct State {
    job: Option<Job>,
    /// Workers that may still join the job.
    wanted: usize,
    sleeping: usize,
    caller_sleeps: bool,
    panic: Option<Payload>,
    quit: bool,
}

impl Workers {
    /// Starts so many threads.
    ///
    /// Fewer, or none, if the host gives no more. `looks`: each has a processor of its own, on which it may look for
    /// work without keeping another thread from it.
    pub fn start(threads: usize, looks: bool) -> Self {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            jobs: AtomicUsize::new(0),
            working: AtomicUsize::new(0),
            come: Condvar::new(),
            ended: Condvar::new(),
            looks,
        });
        let start = |number: &usize| {
            let shared = Arc::clone(&shared);
            Builder::new().name(format!("tt-worker-{number}")).spawn(move || shared.serve()).is_ok()
        };
        let threads = (0..threads).take_while(start).count();
        Self { shared, threads, busy: AtomicBool::new(false) }
    }

    /// Calls `job` on this thread and on up to `most` workers.
    ///
    /// Workers join as they come; it returns when all have ended. If the workers are busy with another caller's job,
    /// this thread is alone.
    ///
    /// # Panics
    /// If `job` does, on whichever thread.
    pub fn run(&self, most: usize, job: &(dyn Fn() + Sync)) {
        if self.busy.swap(true, Ordering::Acquire) {
            return job();
        }
        let _busy = Busy(&self.busy);
        self.shared.offer(job, most.min(self.threads));
        let own = catch_unwind(AssertUnwindSafe(job));
        let others = self.shared.take_back();
        if let Some(payload) = own.err().or(others) {
            resume_unwind(payload);
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.shared.lock().quit = true;
        self.shared.jobs.fetch_add(1, Ordering::Release);
        self.shared.come.notify_all();
    }
}

/// Ends what it was made for.
struct Busy<'a>(&'a AtomicBool);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics with the lock held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn offer(&self, job: &(dyn Fn() + Sync), most: usize) {
        // SAFETY: only the lifetime changes. `take_back` leaves nobody who could call it: it waits for those who have
        // joined, and no one joins after it.
        let job = unsafe { std::mem::transmute::<&(dyn Fn() + Sync), &'static (dyn Fn() + Sync)>(job) };
        let mut state = self.lock();
        (state.job, state.wanted) = (Some(Job(job)), most);
        self.jobs.fetch_add(1, Ordering::Release);
        for _ in 0..state.sleeping.min(most) {
            self.come.notify_one();
        }
    }

    /// Ends the job: nobody joins any more, and those who have are waited for. What the first of them panicked with.
    fn take_back(&self) -> Option<Payload> {
        {
            let mut state = self.lock();
            (state.job, state.wanted) = (None, 0);
        }
        self.look(|| self.working.load(Ordering::Acquire) == 0);
        let mut state = self.lock();
        state.caller_sleeps = true;
        while self.working.load(Ordering::Acquire) > 0 {
            state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.caller_sleeps = false;
        state.panic.take()
    }

    /// A worker's life.
    fn serve(&self) {
        let mut seen = 0;
        loop {
            self.look(|| self.jobs.load(Ordering::Acquire) != seen);
            let mut state = self.lock();
            while self.jobs.load(Ordering::Acquire) == seen {
                state.sleeping += 1;
                state = self.come.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.sleeping -= 1;
            }
            if state.quit {
                return;
            }
            seen = self.jobs.load(Ordering::Acquire);
            let Some(Job(job)) = state.job.filter(|_| state.wanted > 0) else {
                continue;
            };
            state.wanted -= 1;
            self.working.fetch_add(1, Ordering::Relaxed);
            drop(state);
            // SAFETY: the caller waits for those who joined, so the job lives.
            let result = catch_unwind(AssertUnwindSafe(unsafe { &*job }));
            if let Err(payload) = result {
                self.lock().panic.get_or_insert(payload);
            }
            if self.working.fetch_sub(1, Ordering::Release) == 1 && self.lock().caller_sleeps {
                self.ended.notify_one();
            }
        }
    }

    /// Looks, for a while, whether something has come.
    fn look(&self, has_come: impl Fn() -> bool) {
        if !self.looks {
            return;
        }
        let mut start = None;
        while !has_come() {
            // The clock is not asked each time.
            for _ in 0..32 {
                if has_come() {
                    return;
                }
                std::hint::spin_loop();
            }
            if start.get_or_insert_with(Instant::now).elapsed() > LOOKS {
                return;
            }
        }
    }
}
