//! Ctrl-C while the engine works.
//!
//! Python notes the signal and calls its handler when it runs again, which may be long after. So loops of the engine ask
//! whether it came. Handlers must not run there, since they could use the device that is locked: so no Python code runs
//! there either, the note is taken away, and it is put back when the engine has been left.
#![allow(unsafe_code, reason = "what the interpreter says of signals; each block carries its proof")]

use std::thread::{self, ThreadId};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tt_cpu::pool::stop::Answer;

/// What is needed to understand the signal.
struct Signals {
    /// The thread that Python calls handlers on.
    main: Option<ThreadId>,
    number: i32,
    /// What says the handler of a signal.
    handler_of: Py<PyAny>,
    /// The handler that raises `KeyboardInterrupt`.
    raises: Py<PyAny>,
}

static SIGNALS: PyOnceLock<Signals> = PyOnceLock::new();

/// Looks up what [`ask`] needs.
///
/// On the main thread, or interrupts wait until the engine has been left.
pub fn prepare(py: Python<'_>) -> PyResult<()> {
    let (signal, threading) = (py.import("_signal")?, py.import("threading")?);
    let is_main = threading.call_method0("current_thread")?.is(&threading.call_method0("main_thread")?);
    let signals = Signals {
        main: is_main.then(|| thread::current().id()),
        number: signal.getattr("SIGINT")?.extract()?,
        handler_of: signal.getattr("getsignal")?.unbind(),
        raises: signal.getattr("default_int_handler")?.unbind(),
    };
    let _ = SIGNALS.set(py, signals);
    Ok(())
}

/// Returns whether this thread's loop should stop.
///
/// The signal came, and Python will raise `KeyboardInterrupt`.
pub fn ask() -> Answer {
    Python::attach(|py| {
        let Some(signals) = SIGNALS.get(py).filter(|signals| signals.main == Some(thread::current().id())) else {
            return Answer::Never;
        };
        // SAFETY: the thread is attached to the interpreter.
        if unsafe { ffi::PyOS_InterruptOccurred() } == 0 {
            return Answer::GoOn;
        }
        let handler = signals.handler_of.call1(py, (signals.number,));
        if handler.is_ok_and(|handler| handler.is(&signals.raises)) {
            return Answer::Stop;
        }
        // A handler of the program's own may only note the signal.
        put_back();
        Answer::Never
    })
}

/// The exception of the signal that stopped a loop.
pub fn again(py: Python<'_>) -> PyErr {
    put_back();
    py.check_signals().err().unwrap_or_else(|| PyKeyboardInterrupt::new_err(()))
}

fn put_back() {
    // SAFETY: may be called from anywhere.
    unsafe { ffi::PyErr_SetInterrupt() };
}
