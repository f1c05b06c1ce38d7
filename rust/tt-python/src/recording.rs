//! What runs on a device while a call of an operator is recorded; see `crate::prepared`.
//!
//! Programs are noted. Everything else that looks at the device or changes it spoils the recording, because the next
//! call might see something else there.
use std::cell::RefCell;
use std::sync::Arc;

use tt_memory::{BufferId, Device};
use tt_ops::OpError;

/// A program that only needs its buffers.
pub type Run = dyn Fn(&mut Device, &[BufferId]) -> Result<(), OpError> + Send + Sync;

/// A program that ran while a call was recorded, and on which buffers.
pub struct Step {
    /// The program.
    pub run: Arc<Run>,
    /// Its buffers, in its order.
    pub buffers: Vec<BufferId>,
}

/// What happened since the recording began.
enum Recording {
    Nothing,
    One(Step),
    Spoiled,
}

thread_local! {
    /// The call that this thread records, if it does.
    static RECORDING: RefCell<Option<Recording>> = const { RefCell::new(None) };
}

/// Whether a call is being recorded that may still be repeated.
pub fn is_recording() -> bool {
    RECORDING.with_borrow(|recording| matches!(recording, Some(Recording::Nothing | Recording::One(_))))
}

/// Notes a program that runs.
pub fn note(run: &Arc<Run>, buffers: &[BufferId]) {
    RECORDING.with_borrow_mut(|recording| {
        let Some(recording) = recording else { return };
        *recording = match recording {
            Recording::Nothing => Recording::One(Step { run: Arc::clone(run), buffers: buffers.to_vec() }),
            _ => Recording::Spoiled,
        };
    });
}

/// Notes that the device was looked at or changed in another way.
pub fn spoil() {
    RECORDING.with_borrow_mut(|recording| {
        if let Some(recording) = recording {
            *recording = Recording::Spoiled;
        }
    });
}

/// Begins a recording. False if a call of this thread is being recorded already.
pub fn begin() -> bool {
    RECORDING.with_borrow_mut(|recording| recording.is_none() && recording.replace(Recording::Nothing).is_none())
}

/// Ends the recording. The program that ran, if it was one and nothing spoiled the recording.
pub fn end() -> Option<Step> {
    match RECORDING.with_borrow_mut(Option::take) {
        Some(Recording::One(step)) => Some(step),
        _ => None,
    }
}
