//! Loops that end early because somebody wants them to.
//!
//! Whoever starts a loop may be asked now and then, on its own thread, whether it is still wanted. The loop decides
//! what that means: see [`is_asked`].

use std::cell::Cell;
use std::time::{Duration, Instant};

/// The answer to a loop that asks whether to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Go on.
    GoOn,
    /// Stop.
    Stop,
    /// Go on, and do not ask again.
    Never,
}

/// Time between two questions, about.
const PAUSE: Duration = Duration::from_millis(100);
/// Most items between two looks at the clock.
const MOST_ITEMS: u32 = 1024;

/// Questions of a thread.
#[derive(Clone, Copy)]
struct Asking {
    ask: fn() -> Answer,
    /// Items before the next look at the clock, and before the one after it.
    left: u32,
    next: u32,
    since: Option<Instant>,
}

thread_local! {
    static ASKING: Cell<Option<Asking>> = const { Cell::new(None) };
}

/// Calls `run`, whose loops ask `ask` now and then.
///
/// Not on other threads, and no more after `run`.
pub fn asking<T>(ask: fn() -> Answer, run: impl FnOnce() -> T) -> T {
    /// Back to what was before, also if `run` panics.
    struct Before(Option<Asking>);
    impl Drop for Before {
        fn drop(&mut self) {
            ASKING.set(self.0);
        }
    }
    let _before = Before(ASKING.replace(Some(Asking { ask, left: 1, next: 1, since: None })));
    run()
}

/// Returns true if the loop on this thread should end.
///
/// Called before each item; the clock is read once in many.
#[inline]
pub fn is_asked() -> bool {
    match ASKING.get() {
        None => false,
        Some(mut asking) if asking.left > 0 => {
            asking.left -= 1;
            ASKING.set(Some(asking));
            false
        }
        Some(asking) => look(asking),
    }
}

#[cold]
fn look(mut asking: Asking) -> bool {
    let waited = asking.since.map_or(Duration::ZERO, |since| since.elapsed());
    let mut answer = Answer::GoOn;
    if asking.since.is_none() {
        asking.since = Some(Instant::now());
    } else if waited >= PAUSE {
        answer = (asking.ask)();
        asking.since = Some(Instant::now());
        asking.next = (asking.next / 2).max(1);
    } else {
        asking.next = (asking.next * 2).min(MOST_ITEMS);
    }
    asking.left = asking.next;
    ASKING.set((answer != Answer::Never).then_some(asking));
    answer == Answer::Stop
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    static QUESTIONS: AtomicU32 = AtomicU32::new(0);

    /// Whether a loop of some time, in items of one length, is ended.
    fn ends(ask: fn() -> Answer, item: Duration, whole: Duration) -> bool {
        asking(ask, || {
            let start = Instant::now();
            while start.elapsed() < whole {
                if is_asked() {
                    return true;
                }
                let begin = Instant::now();
                while begin.elapsed() < item {}
            }
            false
        })
    }

    #[test]
    fn loops_ask_whether_items_are_long_or_short() {
        for item in [Duration::ZERO, Duration::from_micros(50), Duration::from_millis(8)] {
            assert!(ends(|| Answer::Stop, item, Duration::from_secs(60)), "{item:?}");
            assert!(!ends(|| Answer::GoOn, item, 3 * PAUSE), "{item:?}");
        }
        assert!(!is_asked(), "nobody is there");
    }

    #[test]
    fn whoever_does_not_want_to_be_asked_is_not() {
        let ask = || {
            QUESTIONS.fetch_add(1, Ordering::Relaxed);
            Answer::Never
        };
        assert!(!ends(ask, Duration::ZERO, 4 * PAUSE));
        assert_eq!(QUESTIONS.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_panic_ends_the_questions() {
        let caught = std::panic::catch_unwind(|| asking(|| Answer::Stop, || panic!("a bug")));
        assert!(caught.is_err());
        assert!(!(0..10_000).any(|_| is_asked()));
    }
}
