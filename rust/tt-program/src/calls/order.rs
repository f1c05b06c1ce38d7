//! Accesses that nothing orders: what kernels read and write is held against what they know of each other.

use tt_memory::Place;

use crate::error::FaultKind;
use crate::state::Run;
use crate::state::order::Conflict;

/// Up to so many bytes a transfer may be a flag rather than data.
const FLAG_BYTES: u32 = 16;

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

    /// The running kernel writes bytes: likewise, and from now on it is their last writer.
    pub(crate) fn order_write(&mut self, place: Place, bytes: u32) -> Result<(), FaultKind> {
        self.order_any_write(place, bytes, None)
    }

    /// The running kernel sends bytes over a network, with a transaction id.
    pub(crate) fn order_send(&mut self, place: Place, bytes: u32, noc: u8, trid: u8) -> Result<(), FaultKind> {
        self.order_any_write(place, bytes, Some((noc, trid)))
    }

    fn order_any_write(&mut self, place: Place, bytes: u32, sent: Option<(u8, u8)>) -> Result<(), FaultKind> {
        let kernel = self.current;
        let Some(order) = &mut self.order else { return Ok(()) };
        let end = place.address + u64::from(bytes);
        if is_flag(place, bytes) {
            let word = (place.bank, place.address as u32);
            if let Some(other) = order.unseen_change(kernel, word) {
                return Err(self.unordered(place, bytes, Conflict::Write(other), true));
            }
            if let Some((noc, _)) = sent {
                order.arrive(kernel, |write| write.noc == noc && !write.place.dram && write.place.bank == place.bank);
            }
            order.release_word(kernel, word);
            order.record_write(kernel, place, end, None);
            return Ok(());
        }
        if let Some(conflict) = order.conflict(kernel, place, end, true) {
            return Err(self.unordered(place, bytes, conflict, true));
        }
        order.record_write(kernel, place, end, sent);
        Ok(())
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
        if let Some(order) = &mut self.order {
            order.arrive(self.current, |write| write.noc == noc && !write.place.dram && write.place.bank == bank);
            order.release_word(self.current, (bank, address));
        }
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
    fn unordered(&self, place: Place, bytes: u32, conflict: Conflict, write: bool) -> FaultKind {
        let (Conflict::Write(other) | Conflict::Pending(other) | Conflict::Read(other)) = conflict;
        let other = &self.kernels[other];
        let name = self.place_name(place);
        let (address, bytes) = (place.address, bytes.into());
        let who = format!("{} on core {}-{}", other.describe(), other.logical.x, other.logical.y);
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
