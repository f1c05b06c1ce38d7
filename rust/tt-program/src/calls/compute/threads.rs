//! The three threads of a compute kernel in their own order.
//!
//! It differs from the order in the source.
//!
//! A kernel is one function, and each thread of the chip executes only its own calls of it. In the usual order of the
//! source (`acquire`, work, `commit`, `wait`, pack, `release`) the calls can be made one after the other, and nothing
//! of this module is used. A call whose thread has to wait for what another thread does later in the source is put
//! off, with all calls that follow it: each is made as soon as its threads have come to it.

use tt_memory::Device;

use super::Compute;
use crate::calls::Step;
use crate::error::{Fault, FaultKind, SourcePlace};
use crate::state::Run;
use crate::state::compute::Turn;
use crate::state::compute::later::Later;
use crate::state::kernel::{State, Wait};

/// Threads that execute a call, one bit each.
pub(crate) const UNPACK: u8 = 1;
pub(crate) const MATH: u8 = 2;
pub(crate) const PACK: u8 = 4;
pub(crate) const ALL: u8 = UNPACK | MATH | PACK;

/// Most calls that are put off at a time.
const MOST: usize = 1 << 14;

/// Puts a call off if calls before it are, and returns.
macro_rules! in_turn {
    ($run:ident, $threads:expr, $done:expr, |$later:ident, $device:pat_param| $call:expr) => {
        if $run.puts_off() {
            $run.put_off($threads, move |$later, $device| $call.map(|_| true))?;
            return Ok($done);
        }
    };
}
pub(crate) use in_turn;

impl Run {
    fn later(&self) -> Option<&Compute> {
        self.kernels[self.current].compute.as_deref().filter(|compute| !compute.later.is_empty())
    }

    /// Whether calls of the running kernel are put off, so that those that follow have to be as well.
    #[inline]
    pub(crate) fn puts_off(&self) -> bool {
        self.behind > 0 && !self.catching_up && self.later().is_some()
    }

    /// Whether one of these threads of the running kernel has calls before it that were put off.
    pub(crate) fn is_behind(&self, threads: u8) -> bool {
        self.puts_off()
            && self.later().is_some_and(|compute| compute.later.iter().any(|call| call.threads & threads > 0))
    }

    /// Returns true if a call of any kernel is deferred.
    ///
    /// Each call then has to be followed by [`Run::catch_up`].
    #[inline]
    pub fn must_catch_up(&self) -> bool {
        self.behind > 0
    }

    /// Puts a call off until its threads have come to it.
    pub(crate) fn put_off(
        &mut self,
        threads: u8,
        call: impl FnMut(&mut Self, &mut Device) -> Step + Send + Sync + 'static,
    ) -> Result<(), Fault> {
        let Some(compute) = self.kernels[self.current].compute.as_deref_mut() else { return Ok(()) };
        let later = &mut compute.later;
        if later.is_empty() {
            self.behind += 1;
            if compute.turn == Turn::Both {
                // The packer's part of `acquire_dst`.
                compute.turn = Turn::Math;
                let wait = Box::new(|run: &mut Self, _: &mut Device| run.tile_regs_wait_or_block());
                later.push(Later { threads: PACK, call: wait, place: None, wait: None });
            }
        } else if later.len() >= MOST {
            let text = format!("the threads of the kernel are more than {MOST} calls apart");
            return Err(self.fault("kernel_main", FaultKind::Unsupported(text)));
        }
        later.push(Later { threads, call: Box::new(call), place: None, wait: None });
        Ok(())
    }

    /// Sets the source line of the calls deferred since.
    pub fn place_calls(&mut self, place: impl FnOnce() -> Option<SourcePlace>) {
        let Some(compute) = self.kernels[self.current].compute.as_deref_mut() else { return };
        let mut new = compute.later.iter_mut().rev().take_while(|call| call.place.is_none()).peekable();
        if new.peek().is_some() {
            let place = place().unwrap_or_default();
            new.for_each(|call| call.place = Some(place.clone()));
        }
    }

    /// Makes the running kernel's deferred calls that threads have reached.
    ///
    /// # Errors
    /// Those of the calls, with their lines.
    pub fn catch_up(&mut self, device: &mut Device) -> Result<(), Fault> {
        let kernel = self.current;
        let Some(compute) = self.kernels[kernel].compute.as_deref_mut().filter(|compute| !compute.later.is_empty())
        else {
            return Ok(());
        };
        let mut calls = std::mem::take(&mut compute.later);
        let state = self.kernels[kernel].state;
        self.catching_up = true;
        let result = self.make_calls(device, &mut calls);
        self.catching_up = false;
        self.kernels[kernel].state = state;
        let empty = calls.is_empty();
        if let Some(compute) = self.kernels[kernel].compute.as_deref_mut() {
            compute.later = calls;
            if empty {
                self.behind -= 1;
            }
        }
        result
    }

    fn make_calls(&mut self, device: &mut Device, calls: &mut Vec<Later>) -> Result<(), Fault> {
        let kernel = self.current;
        loop {
            let (mut stuck, mut at, before) = (0, 0, calls.len());
            while at < calls.len() && stuck != ALL {
                let call = &mut calls[at];
                call.wait = None;
                if call.threads & stuck > 0 {
                    stuck |= call.threads;
                    at += 1;
                    continue;
                }
                self.kernels[kernel].state = State::Ready;
                match (call.call)(self, device) {
                    Ok(true) => {
                        calls.remove(at);
                    }
                    Ok(false) => {
                        call.wait = self.waits(kernel);
                        stuck |= call.threads;
                        at += 1;
                    }
                    Err(fault) => {
                        let place = call.place.clone();
                        return Err(self.blame(calls, fault, place));
                    }
                }
            }
            if calls.len() == before {
                return Ok(());
            }
        }
    }

    /// Math that acquires twice has not committed, and a packer that waits for that stands before it in the source.
    fn blame(&self, calls: &[Later], fault: Fault, place: Option<SourcePlace>) -> Fault {
        let waits = calls.iter().find(|call| call.wait == Some(Wait::Commit));
        match waits {
            Some(call) if *fault.what == FaultKind::AcquiredTwice => {
                let nothing = self.fault("tile_regs_wait", FaultKind::NothingCommitted);
                Fault { place: call.place.clone(), ..nothing }
            }
            _ => Fault { place: fault.place.or(place), ..fault },
        }
    }

    /// The kernel has come to its end: all its threads have to. `false`: one waits for what other kernels do.
    pub(crate) fn end_threads(&mut self) -> Step {
        let Some(compute) = self.later() else { return Ok(true) };
        let mut waits = compute.later.iter().filter_map(|call| Some((call.wait?, call)));
        if waits.clone().any(|(wait, _)| !matches!(wait, Wait::Half | Wait::Commit)) {
            self.block(Wait::Threads { ended: true });
            return Ok(false);
        }
        let (call, what, place) = match waits.next() {
            Some((Wait::Half, call)) => ("tile_regs_acquire", FaultKind::NoFreeHalf, call.place.clone()),
            Some((_, call)) => ("tile_regs_wait", FaultKind::NothingCommitted, call.place.clone()),
            None => ("kernel_main", FaultKind::Bug("calls were put off that nothing hinders".to_owned()), None),
        };
        Err(Fault { place, ..self.fault(call, what) })
    }

    /// Nobody can go on.
    ///
    /// Lets compute kernels go on in their sources with the threads that do not wait. Returns whether one can.
    pub fn run_ahead(&mut self) -> bool {
        let mut any = false;
        for kernel in 0..self.kernels.len() {
            let Some(Wait::Front { .. } | Wait::Back { .. } | Wait::Threads { ended: false }) = self.waits(kernel)
            else {
                continue;
            };
            let Some(compute) = self.kernels[kernel].compute.as_deref_mut() else { continue };
            compute.runs_ahead = true;
            let now = self.kernels[kernel].clock();
            self.wake(kernel, now);
            any = true;
        }
        any
    }

    /// A thread of the running kernel cannot go on: whether the others may go on in the source, once.
    pub(crate) fn may_run_ahead(&mut self) -> bool {
        let compute = self.kernels[self.current].compute.as_deref_mut();
        compute.is_some_and(|compute| std::mem::take(&mut compute.runs_ahead))
    }

    /// A call needs an answer of these threads, now: `false` while they are behind.
    ///
    /// # Errors
    /// The answer depends on calls later in the source.
    pub(crate) fn require_here(&mut self, threads: u8) -> Result<bool, FaultKind> {
        if !self.is_behind(threads) {
            return Ok(true);
        }
        if self.may_run_ahead() {
            let text = "its thread waits for what another thread does later in the source, and the kernel asks for its \
                        answer now: such threads take different paths, which is not modelled";
            return Err(FaultKind::Unsupported(text.to_owned()));
        }
        self.block(Wait::Threads { ended: false });
        Ok(false)
    }

    /// Returns the wait of each kernel.
    ///
    /// Its function, and deferred calls of its threads, with their lines.
    pub fn all_waits(&self) -> Vec<(usize, Wait, Option<SourcePlace>)> {
        let mut rows = Vec::new();
        for (index, kernel) in self.kernels.iter().enumerate() {
            let State::Waiting(wait) = kernel.state else { continue };
            if !matches!(wait, Wait::Threads { .. }) {
                rows.push((index, wait, None));
            }
            let later = kernel.compute.iter().flat_map(|compute| &compute.later);
            rows.extend(later.filter_map(|call| Some((index, call.wait?, call.place.clone()))));
        }
        rows
    }
}
