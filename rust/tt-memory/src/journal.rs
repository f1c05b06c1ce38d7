//! Allocations and releases while they are recorded.
//!
//! Run reports list the buffers that existed after each call.
//!
//! The journal belongs to the process, because devices are opened and closed while it is kept.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::buffer::Buffer;

/// A buffer that was allocated or freed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// Number of the buffer.
    pub unique_id: u64,
    /// Number of its device.
    pub device: u64,
    /// Allocated, otherwise freed.
    pub allocated: bool,
    /// Its region, as the public number.
    pub buffer_type: u8,
    /// The address in its banks.
    pub address: u64,
    /// Bytes in the fullest bank.
    pub bytes_per_bank: u64,
}

static KEPT: AtomicBool = AtomicBool::new(false);
static CHANGES: Mutex<Vec<Change>> = Mutex::new(Vec::new());

fn changes() -> MutexGuard<'static, Vec<Change>> {
    // A thread that panicked left a list of whole entries.
    CHANGES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins or ends to keep the journal.
pub fn keep(on: bool) {
    KEPT.store(on, Ordering::Relaxed);
}

/// Returns the number of recorded changes.
pub fn length() -> usize {
    changes().len()
}

/// The changes since it was last asked.
pub fn take() -> Vec<Change> {
    std::mem::take(&mut *changes())
}

/// Notes a change.
#[inline]
pub(crate) fn note(buffer: &Buffer, device: u64, allocated: bool) {
    if KEPT.load(Ordering::Relaxed) {
        changes().push(Change {
            unique_id: buffer.id.unique_id,
            device,
            allocated,
            buffer_type: buffer.kind as u8,
            address: buffer.address,
            bytes_per_bank: buffer.bytes_per_bank,
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::buffer::{BufferId, BufferType};
    use crate::chip::N150;
    use crate::device::{Device, OpenOptions};
    use crate::error::MemoryError;

    use super::{Change, keep, length, take};

    /// One test, because the journal belongs to the process.
    #[test]
    fn changes_are_noted_in_their_order_while_the_journal_is_kept() -> Result<(), MemoryError> {
        let mut device = Device::open(&N150, OpenOptions::default())?;
        let own = device.device_id();
        let before = device.allocate_interleaved(BufferType::Dram, 2048, 3, 1)?;
        keep(true);
        let first = device.allocate_interleaved(BufferType::L1, 2048, 3, 1)?;
        let second = device.allocate_interleaved(BufferType::Dram, 4096, 1, 1)?;
        device.deallocate(first)?;
        device.close()?;
        keep(false);
        assert!(length() >= 5);
        let noted: Vec<Change> = take().into_iter().filter(|change| change.device == own).collect();
        let seen: Vec<_> = noted.iter().map(|c| (c.unique_id, c.allocated, c.buffer_type, c.bytes_per_bank)).collect();
        let [before, first, second] = [before, first, second].map(BufferId::unique_id);
        assert_eq!(
            seen,
            [
                (first, true, 1, 2048),
                (second, true, 0, 4096),
                (first, false, 1, 2048),
                (before, false, 0, 2048),
                (second, false, 0, 4096)
            ]
        );
        assert!(!take().iter().any(|change| change.device == own));
        Ok(())
    }
}
