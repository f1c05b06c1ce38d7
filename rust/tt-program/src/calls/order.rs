//! Accesses that nothing orders.
//!
//! What kernels read and write is held against what they know of each other.

use tt_memory::Place;

use crate::error::FaultKind;
use crate::state::Run;
use crate::state::kernel::InFlight;
use crate::state::order::{Conflict, Order};

/// Up to so many bytes a transfer may be a flag rather than data.
pub(crate) const FLAG_BYTES: u32 = 16;
/// Writes that nobody has flushed, from which on those that have left are looked for.
const LONG_LIST: usize = 64;

impl Run {
    /// The running kernel reads bytes: their last writer must be known to it.
    pub(crate) fn order_read(&mut self, place: Place, bytes: u32) -> Result<(), FaultKind> {
        let kernel = self.current;
        let Some(order) = &mut self.order else { return Ok(()) };
        let end = place.address + u64::from(bytes);
        if is_flag(place, bytes) {
            order.acquire_flag(kernel, place.bank, place.address as u32, end as u32);
            return Ok(());
        }
        if let Some(conflict) = order.conflict(kernel, place, end, false) {
            return Err(self.unordered(place, bytes, conflict, false));
        }
        order.record_read(kernel, place, end);
        Ok(())
    }

    /// The running kernel loads a word of L1: a flag tells it what its writer knows, data must be known to it already.
    pub(crate) fn order_load(&mut self, place: Place) -> Result<(), FaultKind> {
        let kernel = self.current;
        let Some(order) = &mut self.order else { return Ok(()) };
        let start = place.address as u32;
        if order.has_flag(place.bank, start, start + 4) {
            order.acquire_flag(kernel, place.bank, start, start + 4);
            return Ok(());
        }
        let end = place.address + 4;
        if let Some(conflict) = order.conflict(kernel, place, end, false) {
            return Err(self.unordered(place, 4, conflict, false));
        }
        order.record_read(kernel, place, end);
        Ok(())
    }

    /// The running kernel writes bytes: likewise, and from now on it is their last writer.
    pub(crate) fn order_write(&mut self, place: Place, bytes: u32) -> Result<(), FaultKind> {
        self.order_any_write(place, bytes, None).map(|_| ())
    }

    /// The running kernel sends bytes over a network, with a transaction id. Returns the number of the flag if they are
    /// one.
    pub(crate) fn order_send(&mut self, place: Place, bytes: u32, noc: u8, trid: u8) -> Result<Option<u32>, FaultKind> {
        self.order_any_write(place, bytes, Some((noc, trid)))
    }

    fn order_any_write(&mut self, place: Place, bytes: u32, sent: Option<(u8, u8)>) -> Result<Option<u32>, FaultKind> {
        let kernel = self.current;
        let Some(order) = &mut self.order else { return Ok(None) };
        let end = place.address + u64::from(bytes);
        if is_flag(place, bytes) {
            let word = (place.bank, place.address as u32);
            if let Some(other) = order.unseen_change(kernel, word) {
                return Err(self.unordered(place, bytes, Conflict::Write(other), true));
            }
            let Some((noc, _)) = sent else {
                order.release_word(kernel, word);
                order.record_write(kernel, place, end, None);
                return Ok(None);
            };
            let flag = self.order_flag(word, noc);
            if let Some(order) = &mut self.order {
                order.record_write(kernel, place, end, None);
            }
            return Ok(flag);
        }
        if let Some(conflict) = order.conflict(kernel, place, end, true) {
            return Err(self.unordered(place, bytes, conflict, true));
        }
        order.record_write(kernel, place, end, sent);
        Ok(None)
    }

    /// The running kernel has waited for writes: those over a network, and with `trid` those with this transaction id.
    pub(crate) fn order_arrived(&mut self, noc: u8, trid: Option<u8>) {
        if let Some(order) = &mut self.order {
            order.arrive(self.current, |write| write.noc == noc && trid.is_none_or(|trid| trid == write.trid));
        }
    }

    /// The running kernel changes a word of some core over a network. What it sent there before over the same network
    /// arrives before.
    pub(crate) fn order_signal(&mut self, bank: usize, address: u32, noc: u8) {
        self.order_flag((bank, address), noc);
    }

    /// The running kernel sends a flag. Returns its number.
    fn order_flag(&mut self, word: (usize, u32), noc: u8) -> Option<u32> {
        let (bank, kernel) = (word.0, self.current);
        let order = self.order.as_mut()?;
        order.arrive(kernel, |write| write.noc == noc && !write.place.dram && write.place.bank == bank);
        let flag = order.release_flag(kernel, word);
        for write in &mut self.kernels[kernel].transfers.unflushed {
            if write.source.noc == noc && write.to.contain(bank) {
                write.flag.get_or_insert(flag);
            }
        }
        Some(flag)
    }

    /// Takes writes off the list that have left, as far as the running kernel knows, once the list is long.
    pub(crate) fn forget_sent(&mut self) {
        let current = self.current;
        let Some(order) = self.order.as_ref() else { return };
        let writes = &mut self.kernels[current].transfers.unflushed;
        if writes.len() >= LONG_LIST {
            writes.retain(|write| !write.flag.is_some_and(|flag| order.knows_seen(current, flag)));
        }
    }

    /// The first write that may still be sending bytes of a range of own L1, as far as the running kernel knows.
    pub(crate) fn still_sending(&self, start: u32, end: u32) -> Option<&InFlight> {
        if !self.watched {
            return None;
        }
        let seen = |flag| self.order.as_ref().is_some_and(|order: &Order| order.knows_seen(self.current, flag));
        let writes = &self.kernels[self.current].transfers.unflushed;
        let found = writes.iter().find(|write| write.source.touches(start, end) && !write.flag.is_some_and(seen));
        found.map(|write| &write.source)
    }

    /// The running kernel is going to replace a word of L1: it must have seen what others made of it.
    pub(crate) fn order_replace(&self, place: Place) -> Result<(), FaultKind> {
        let unseen =
            self.order.as_ref().and_then(|o| o.unseen_change(self.current, (place.bank, place.address as u32)));
        unseen.map_or(Ok(()), |other| Err(self.unordered(place, 4, Conflict::Write(other), true)))
    }

    /// The running kernel has seen a word of its own L1.
    pub(crate) fn order_acquire_word(&mut self, bank: usize, address: u32) {
        if let Some(order) = &mut self.order {
            order.acquire_flag(self.current, bank, address, address + 4);
        }
    }

    #[cold]
    pub(crate) fn unordered(&self, place: Place, bytes: u32, conflict: Conflict, write: bool) -> FaultKind {
        let (Conflict::Write(other) | Conflict::Pending(other) | Conflict::Read(other)) = conflict;
        let name = self.place_name(place);
        let (address, bytes) = (place.address, bytes.into());
        let who = self.kernel_name(other);
        match conflict {
            Conflict::Write(_) if write && is_flag(place, bytes as u32) => {
                FaultKind::LostChange { place: name, address, writer: who }
            }
            Conflict::Write(_) => FaultKind::Unordered { place: name, address, bytes, writer: who },
            Conflict::Pending(_) => FaultKind::StillOnItsWay { place: name, address, bytes, writer: who },
            Conflict::Read(_) => FaultKind::OverwrittenWhileRead { place: name, address, bytes, reader: who },
        }
    }
}

/// Whether so few bytes of L1 may be a flag that somebody polls rather than data.
fn is_flag(place: Place, bytes: u32) -> bool {
    bytes <= FLAG_BYTES && !place.dram
}
