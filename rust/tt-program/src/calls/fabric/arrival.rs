//! Packets at their destination.

use tt_memory::{Device, Place};

use crate::calls::memory::Use;
use crate::calls::noc::split;
use crate::calls::order::FLAG_BYTES;
use crate::error::{Fault, FaultKind};
use crate::name::Name;
use crate::state::Run;
use crate::state::fabric::{Action, Arrival, Packet};
use crate::state::time::Target;

impl Run {
    /// Does what a packet does on this chip.
    ///
    /// # Errors
    /// Addresses; bytes that kernels here use at the same time. The fault is the sender's.
    pub fn deliver(&mut self, device: &mut Device, packet: &Packet, arrival: &Arrival) -> Result<(), Fault> {
        self.join_chips();
        self.guest = true;
        let done = arrival.actions.iter().try_for_each(|action| self.act(device, packet, action, arrival.time));
        self.guest = false;
        done.map_err(|what| {
            let sender = &packet.sender;
            Fault {
                core: sender.core,
                risc: sender.risc,
                kernel: sender.kernel,
                call: Name::Fixed("fabric send"),
                what: Box::new(what),
                place: sender.place.clone(),
            }
        })
    }

    fn act(&mut self, device: &mut Device, packet: &Packet, action: &Action, time: u64) -> Result<(), FaultKind> {
        match *action {
            Action::Write { address, ref bytes } => {
                self.check_like(packet, address, bytes.start)?;
                let data = &packet.payload[bytes.clone()];
                let place = self.arrive(device, packet, address, data.len() as u32)?;
                device.bytes_mut(place, data.len())?.copy_from_slice(data);
                self.arrived(device, place, data.len() as u32, time)
            }
            Action::Set { address, value } => {
                let place = self.word_at(device, packet, address)?;
                device.bytes_mut(place, 4)?.copy_from_slice(&value.to_le_bytes());
                self.arrived(device, place, 4, time)
            }
            Action::Add { address, value } => {
                if let (_, Target::Dram(bank)) = self.at(address)? {
                    let text = format!("DRAM bank {bank} has no atomics; semaphores are in L1");
                    return Err(FaultKind::Argument(text));
                }
                let place = self.word_at(device, packet, address)?;
                let word = device.bytes_mut(place, 4)?;
                let old = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
                word.copy_from_slice(&old.wrapping_add(value).to_le_bytes());
                self.arrived(device, place, 4, time)
            }
        }
    }

    /// Checks that a part of a payload and its address are alike, as routers copy them over the network.
    fn check_like(&self, packet: &Packet, address: u64, offset: usize) -> Result<(), FaultKind> {
        let (_, _, target_address) = split(address);
        let (source_address, alignment) = (u64::from(packet.source) + offset as u64, self.chip.l1_alignment);
        if source_address % alignment != target_address % alignment {
            return Err(FaultKind::Unlike { source_address, target_address, alignment });
        }
        Ok(())
    }

    fn at(&self, address: u64) -> Result<(u64, Target), FaultKind> {
        let (x, y, local) = split(address);
        Ok((local, self.target(x, y)?))
    }

    fn word_at(&mut self, device: &Device, packet: &Packet, address: u64) -> Result<Place, FaultKind> {
        if !address.is_multiple_of(4) {
            return Err(FaultKind::Misaligned { what: "the address of a word", value: address, alignment: 4 });
        }
        self.arrive(device, packet, address, 4)
    }

    /// Checks bytes that a packet writes.
    fn arrive(&mut self, device: &Device, packet: &Packet, address: u64, bytes: u32) -> Result<Place, FaultKind> {
        let (local, target) = self.at(address)?;
        let place = self.touch(device, target, local, bytes.into(), Use::Write)?;
        if let (Some(order), Some(vector)) = (&mut self.order, &packet.vector) {
            let end = place.address + u64::from(bytes);
            if bytes <= FLAG_BYTES && !place.dram {
                order.release_arrival(vector, (place.bank, place.address as u32));
            } else if let Some(conflict) = order.arrival_conflict(packet.sender.number, vector, place, end) {
                return Err(self.unordered(place, bytes, conflict, true));
            }
            if let Some(order) = &mut self.order {
                order.record_arrival(packet.sender.number, vector, place, end);
            }
        }
        Ok(place)
    }

    /// Wakes who waits for bytes that a packet has written.
    fn arrived(&mut self, device: &Device, place: Place, bytes: u32, time: u64) -> Result<(), FaultKind> {
        if place.dram {
            return Ok(());
        }
        let start = place.address as u32;
        if bytes <= FLAG_BYTES {
            self.word_changed(place.bank, start, time);
        }
        self.l1_changed(device, place.bank, start, start + bytes, time)
    }
}
