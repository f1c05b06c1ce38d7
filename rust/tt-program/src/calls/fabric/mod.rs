//! Packets to other chips: connections, sends and arrivals.

mod arrival;
mod header;
mod route;
pub(crate) mod wire;

use std::sync::Arc;

use tt_memory::Device;

use self::header::Header;
use crate::calls::Step;
use crate::calls::memory::Use;
use crate::error::{Fault, FaultKind, SourcePlace};
use crate::state::Run;
use crate::state::fabric::{Arrival, Connection, Fabric, FabricSpec, LinkTimes, MOST_WAITING, Packet, Sender};
use crate::state::kernel::{Stall, Thread, Wait};
use crate::state::time::{Naming, Target};

/// Slots of a connection: packets that a router holds for it.
const SLOTS: u32 = 8;

impl Run {
    /// Connects the run to other chips.
    pub fn set_fabric(&mut self, spec: FabricSpec) {
        self.fabric = Some(Box::new(Fabric::new(spec)));
    }

    /// Bytes of a packet header; 0 without a fabric.
    pub fn packet_header_bytes(&self) -> u32 {
        self.fabric.as_ref().map_or(0, |fabric| fabric.spec.header_bytes)
    }

    /// Packets that were sent since the last question.
    pub fn take_packets(&mut self) -> Vec<Packet> {
        let Some(fabric) = &mut self.fabric else { return Vec::new() };
        fabric.waiting = 0;
        let packets = std::mem::take(&mut fabric.packets);
        self.wake_all(Wait::Fabric);
        packets
    }

    /// Makes what kernels know of each other fit that of other chips.
    fn join_chips(&mut self) {
        let Some(fabric) = self.fabric.as_deref_mut().filter(|fabric| !fabric.joined) else { return };
        fabric.joined = true;
        let Some(order) = &mut self.order else { return };
        let widen = order.join_chips(fabric.spec.first, fabric.spec.kernels.len());
        for cb in self.cores.iter_mut().flat_map(|core| core.cbs.iter_mut().flatten()) {
            widen(&mut cb.pushed_by);
            widen(&mut cb.popped_by);
        }
    }

    /// Wakes the kernels that wait for one thing.
    fn wake_all(&mut self, wait: Wait) {
        for kernel in 0..self.kernels.len() {
            if self.waits(kernel) == Some(wait) {
                let now = self.kernels[kernel].clock();
                self.wake(kernel, now);
            }
        }
    }

    fn fabric(&mut self) -> Result<&mut Fabric, FaultKind> {
        self.fabric.as_deref_mut().ok_or_else(|| {
            FaultKind::Argument(
                "the program has no connections to other chips; call ttnn.setup_fabric_connection for it".to_owned(),
            )
        })
    }

    /// Opens a connection.
    ///
    /// The kernel waits while another one of the chip has it.
    ///
    /// # Errors
    /// The host made no connection with this number; the kernel has it open already.
    pub fn fabric_open(&mut self, connection: u32) -> Step {
        self.checked("fabric open", |run| {
            run.require_data_movement()?;
            let kernel = run.current;
            let cost = run.time.risc().noc_command;
            let fabric = run.fabric()?;
            fabric.link(connection)?;
            match fabric.open.get(&connection) {
                Some(open) if open.kernel == kernel => {
                    Err(FaultKind::Argument(format!("connection {connection} is open already")))
                }
                Some(_) => {
                    run.block(Wait::Connection { connection });
                    Ok(false)
                }
                None => {
                    fabric.open.insert(connection, Connection { kernel, ..Connection::default() });
                    run.join_chips();
                    run.book(cost);
                    run.kernels[kernel].state = crate::state::kernel::State::Ready;
                    Ok(true)
                }
            }
        })
    }

    /// Closes a connection.
    ///
    /// # Errors
    /// It is not open.
    pub fn fabric_close(&mut self, connection: u32) -> Result<(), Fault> {
        self.checked("fabric close", |run| {
            run.opened(connection)?;
            run.book(run.time.risc().noc_command);
            // The router answers over the same network, later than whom earlier atomics went to.
            let kernel = &mut run.kernels[run.current];
            for (_, answered) in std::mem::take(&mut kernel.transfers.atomics) {
                kernel.wait_until(Thread::Unpack, answered, Stall::Issue);
            }
            run.fabric()?.open.remove(&connection);
            run.wake_all(Wait::Connection { connection });
            Ok(())
        })
    }

    /// A connection that the running kernel has opened.
    fn opened(&mut self, connection: u32) -> Result<&mut Connection, FaultKind> {
        let kernel = self.current;
        let open = self.fabric()?.open.get_mut(&connection).filter(|open| open.kernel == kernel);
        open.ok_or_else(|| {
            FaultKind::Argument(format!("connection {connection} is not open: it was not opened, or is closed"))
        })
    }

    /// Free slots of a connection; all, as a router forwards at once.
    ///
    /// # Errors
    /// It is not open.
    pub fn fabric_slots(&mut self, connection: u32) -> Result<u32, Fault> {
        self.checked("fabric slots", |run| {
            run.opened(connection)?;
            run.book(run.time.risc().l1_load);
            Ok(SLOTS)
        })
    }

    /// Bytes of own L1, copied.
    fn own_bytes(&mut self, device: &Device, start: u32, bytes: u32) -> Result<Vec<u8>, FaultKind> {
        self.check_arrived(start, bytes)?;
        let bank = self.own_place(start).bank;
        let from = self.touch(device, Target::Worker(bank), start.into(), bytes.into(), Use::Read)?;
        self.order_read(from, bytes)?;
        Ok(device.bytes(from, bytes as usize)?.to_vec())
    }

    /// Writes the payload of a connection's next packet.
    ///
    /// # Errors
    /// Addresses; a payload that is too large; a connection that is not open.
    pub fn fabric_payload(&mut self, device: &Device, connection: u32, source: u32, bytes: u32) -> Result<(), Fault> {
        self.checked("fabric payload", |run| {
            run.opened(connection)?;
            let limit = run.fabric()?.spec.max_payload;
            if bytes > limit {
                return Err(too_large(bytes, limit));
            }
            run.check_slot("the L1 address of a packet's payload", source)?;
            let payload = run.own_bytes(device, source, bytes)?;
            run.book(run.time.command(Naming::Address));
            let open = run.opened(connection)?;
            (open.payload, open.source) = (payload, source);
            Ok(())
        })
    }

    /// Checks an address whose bytes are copied to a slot of a router.
    fn check_slot(&self, what: &'static str, address: u32) -> Result<(), FaultKind> {
        let (value, alignment) = (u64::from(address), self.chip.l1_alignment);
        if !value.is_multiple_of(alignment) {
            return Err(FaultKind::Misaligned { what, value, alignment });
        }
        Ok(())
    }

    /// Sends a packet.
    ///
    /// The payload follows the header, or is that of [`Run::fabric_payload`].
    ///
    /// # Errors
    /// Addresses; a header that no router could follow; a connection that is not open.
    pub fn fabric_send(
        &mut self,
        device: &Device,
        (connection, header, bytes): (u32, u32, u32),
        place: impl FnOnce() -> Option<SourcePlace>,
    ) -> Step {
        self.checked("fabric send", |run| {
            run.opened(connection)?;
            let fabric = run.fabric()?;
            if fabric.waiting > MOST_WAITING {
                run.block(Wait::Fabric);
                return Ok(false);
            }
            run.kernels[run.current].state = crate::state::kernel::State::Ready;
            run.send(device, connection, (header, bytes), place())?;
            Ok(true)
        })
    }

    fn send(
        &mut self,
        device: &Device,
        connection: u32,
        (header, bytes): (u32, u32),
        place: Option<SourcePlace>,
    ) -> Result<(), FaultKind> {
        let (size, limit) = (self.fabric()?.spec.header_bytes, self.fabric()?.spec.max_payload);
        if bytes < size {
            return Err(FaultKind::Argument(format!("{bytes} B are no packet header, which has {size} B")));
        }
        if bytes - size > limit {
            return Err(too_large(bytes - size, limit));
        }
        self.check_slot("the L1 address of a packet header", header)?;
        let mut packet = self.own_bytes(device, header, bytes)?;
        let mut payload = packet.split_off(size as usize);
        let mut source = header + size;
        let open = self.opened(connection)?;
        let held = std::mem::take(&mut open.payload);
        if payload.is_empty() {
            (payload, source) = (held, open.source);
        }
        let parsed = Header::parse(&packet, payload.len())?;
        // Bytes that were not written to the slot are any on a card.
        payload.resize(parsed.payload, 0);
        for address in parsed.addresses() {
            let (x, y, _) = crate::calls::noc::split(address);
            self.target(x, y)?;
        }
        let link = self.fabric()?.link(connection)?;
        let chips = self.destinations(link, &parsed.route)?;
        self.book(self.time.command(Naming::Address));
        let times = LinkTimes::of(self.chip.arch);
        let all = u64::from(size) + payload.len() as u64;
        let free = self.fabric()?.free.get(&link).copied().unwrap_or(0);
        let thread = self.kernels[self.current].thread(Thread::Unpack);
        let start =
            self.kernels[self.current].clock().max(free.saturating_sub(u64::from(SLOTS) * times.occupancy(all)));
        self.kernels[self.current].wait_until(thread, start, Stall::Issue);
        let begin = start.max(free);
        self.fabric()?.free.insert(link, begin + times.occupancy(all));
        let arrivals = chips
            .into_iter()
            .enumerate()
            .filter_map(|(index, (chip, hops))| {
                let actions = parsed.actions_at(index)?;
                Some(Arrival { chip, time: begin + times.latency(u64::from(hops), all), actions })
            })
            .collect::<Vec<_>>();
        let last = arrivals.iter().map(|arrival| arrival.time).max().unwrap_or(begin);
        self.record_transfer("fabric", begin, last, all as u32);
        let kernel = &self.kernels[self.current];
        let (core, risc, current) = (kernel.logical, kernel.risc, self.current);
        let vector = self.order.as_mut().map(|order| order.release_packet(current));
        let fabric = self.fabric()?;
        let (chip, number) = (fabric.spec.chip, fabric.spec.first + current);
        let sender = Sender { chip, core, risc, kernel: current, number, connection, place };
        let known = vector.as_ref().map_or(0, |vector| size_of_val(vector.as_slice()));
        fabric.waiting += payload.len() + size_of::<Packet>() + known + arrivals.len() * size_of::<Arrival>();
        fabric.packets.push(Packet { sender, vector, payload: Arc::from(payload), source, arrivals });
        Ok(())
    }
}

fn too_large(bytes: u32, limit: u32) -> FaultKind {
    FaultKind::Argument(format!(
        "a payload of {bytes} B is larger than {limit} B, the limit of the fabric (FabricRouterConfig sets it)"
    ))
}
