//! Events: almost all are ready when they are made.
//!
//! One is not: the event that tells the host program that its memory is no longer read.
#![allow(clippy::unnecessary_wraps, reason = "every function of the table has one form")]

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::{mem, ptr};

use crate::abi::{
    Event_Await_Args, Event_Destroy_Args, Event_Error_Args, Event_IsReady_Args, Event_OnReady_Args, ReadyCallback,
};
use crate::failure::Failure;
use crate::raw;

/// `PJRT_Event`.
#[derive(Debug)]
pub struct Event {
    signal: Option<Arc<Signal>>,
}

impl Event {
    /// Returns the handle of an event that is ready.
    pub(crate) fn ready() -> *mut Self {
        Box::into_raw(Box::new(Self { signal: None }))
    }

    /// Returns the handle of an event that is ready when the signal was sent.
    pub(crate) fn of(signal: Arc<Signal>) -> *mut Self {
        Box::into_raw(Box::new(Self { signal: Some(signal) }))
    }
}

/// State of an event that is not ready yet.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    sent: bool,
    waiting: Vec<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    callback: ReadyCallback,
    user_arg: AtomicPtr<c_void>,
}

impl Waiting {
    fn call(&self) {
        if let Some(callback) = self.callback {
            // SAFETY: the caller registered the function with this argument; no error is handed over.
            unsafe { callback(ptr::null_mut(), self.user_arg.load(Ordering::Relaxed)) };
        }
    }
}

impl Signal {
    /// Makes the event ready and calls who waits for it.
    pub(crate) fn send(&self) {
        let waiting = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.sent = true;
            mem::take(&mut state.waiting)
        };
        self.changed.notify_all();
        waiting.iter().for_each(Waiting::call);
    }

    fn is_sent(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).sent
    }

    fn wait(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !state.sent {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Calls the function when the event is ready, now if it is.
    fn when_sent(&self, waiting: Waiting) {
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if !state.sent {
                state.waiting.push(waiting);
                return;
            }
        }
        waiting.call();
    }
}

pub(crate) fn destroy(args: &mut Event_Destroy_Args) -> Result<(), Failure> {
    raw::destroy(args.event);
    Ok(())
}

pub(crate) fn is_ready(args: &mut Event_IsReady_Args) -> Result<(), Failure> {
    args.is_ready = raw::handle(args.event, "event")?.signal.as_ref().is_none_or(|signal| signal.is_sent()).into();
    Ok(())
}

/// Errors are returned by the call that fails, so an event has none.
pub(crate) fn error(args: &mut Event_Error_Args) -> Result<(), Failure> {
    raw::handle(args.event, "event").map(drop)
}

pub(crate) fn wait(args: &mut Event_Await_Args) -> Result<(), Failure> {
    if let Some(signal) = &raw::handle(args.event, "event")?.signal {
        signal.wait();
    }
    Ok(())
}

pub(crate) fn on_ready(args: &mut Event_OnReady_Args) -> Result<(), Failure> {
    let waiting = Waiting { callback: args.callback, user_arg: AtomicPtr::new(args.user_arg) };
    match &raw::handle(args.event, "event")?.signal {
        Some(signal) => signal.when_sent(waiting),
        None => waiting.call(),
    }
    Ok(())
}
