//! Packets between chips: when routers and links are busy, when packets arrive.
//!
//! At both ends of a link runs a router, a RISC with a serial program. It sends packets of its channels over the link,
//! and for each packet that arrives it writes to the chip, copies to the next router, or both. The time of a packet is
//! that of these steps and of the wire; contention follows from the steps of all packets in a router. Packets wait for
//! slots of channels, whose credits come back when the receiver has passed the packet on.
//!
//! A kernel's connection is the worker channel of a router: [`Fabric::slot`] is when it may write a packet,
//! [`Fabric::send`] moves it along a route.

mod parameters;

pub use parameters::{FabricParameters, Protocol};

use tt_memory::chip::Arch;

use crate::calendar::Calendar;
use parameters::Steps;

/// Effects of a packet at its destinations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Writes its payload.
    Write,
    /// Writes parts of its payload to several addresses.
    Scatter,
    /// Writes its payload, waits until it is in memory, and increments a semaphore.
    Fused,
    /// Writes or increments one word; it has no payload.
    Word,
}

/// A link in one direction, from a router to another one.
///
/// A router is a number: the end of a link on a chip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wire {
    /// The chip that sends.
    pub from: usize,
    /// The chip that receives.
    pub to: usize,
    /// The router at the other end.
    pub peer: usize,
    /// The next router of a line, on the receiving chip.
    pub ahead: Option<usize>,
}

/// A step of a route: over the link of a router.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hop {
    /// The router that sends.
    pub router: usize,
    /// The step before this one; `None` of the first.
    pub after: Option<usize>,
    /// The packet is written to the chip at the other end.
    pub deliver: bool,
}

/// Cycles of a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// Its slot in the worker channel is free again.
    pub slot_free: u64,
    /// Chips that received it, and when its data are in their memory.
    pub arrivals: Vec<(usize, u64)>,
}

/// Slots of a channel: when each is free again.
#[derive(Debug, Clone)]
struct Slots {
    free: Vec<u64>,
    next: usize,
}

impl Slots {
    fn new(count: usize) -> Self {
        Self { free: vec![0; count], next: 0 }
    }

    fn next(&self) -> u64 {
        self.free[self.next]
    }

    fn occupy(&mut self, until: u64) {
        self.free[self.next] = until;
        self.next = (self.next + 1) % self.free.len();
    }
}

#[derive(Debug, Clone)]
struct Router {
    wire: Wire,
    /// The program of a router with one RISC; that which sends of one with two.
    sender: Calendar,
    /// The program that receives, if it has a RISC of its own.
    receiver: Calendar,
    link: Calendar,
    worker: Slots,
    /// Copies to the next router that a flush would have to wait for.
    copies: bool,
    /// Number of its closed chain of routers, of a ring.
    ring: Option<usize>,
    /// It has passed packets on.
    passes_on: bool,
}

/// A chain of routers that is closed.
#[derive(Debug, Clone, Copy, Default)]
struct Ring {
    routers: usize,
    passing: usize,
}

/// Routers and links of a mesh, of one kind of fabric.
///
/// Times are cycles of the chips' clock. Kernels run one after the other, so packets are sent in any order of time:
/// each takes what earlier calls have left free.
#[derive(Debug, Clone)]
pub struct Fabric {
    parameters: &'static FabricParameters,
    steps: &'static Steps,
    routers: Vec<Router>,
    rings: Vec<Ring>,
}

impl Fabric {
    /// An idle fabric. Router `i` sends over `wires[i]`.
    ///
    /// # Panics
    ///
    /// If a wire names a router that does not exist.
    pub fn new(arch: Arch, protocol: Protocol, wires: &[Wire]) -> Self {
        let parameters = FabricParameters::of(arch);
        let (ring_of, rings) = closed_chains(wires);
        let routers = wires.iter().zip(ring_of).map(|(wire, ring)| Router {
            wire: wire.clone(),
            sender: Calendar::default(),
            receiver: Calendar::default(),
            link: Calendar::default(),
            worker: Slots::new(parameters.slots),
            copies: false,
            ring,
            passes_on: false,
        });
        Self { parameters, steps: parameters.steps(protocol), routers: routers.collect(), rings }
    }

    /// Returns the parameters.
    pub fn parameters(&self) -> &'static FabricParameters {
        self.parameters
    }

    /// Returns a route straight ahead from a router, to `range` chips.
    ///
    /// The first of them is `start` hops away.     /// A unicast has a range of 1. The route ends where no router is ahead.
    pub fn straight(&self, router: usize, start: usize, range: usize) -> Vec<Hop> {
        let mut hops = Vec::with_capacity(start + range - 1);
        let mut next = Some(router);
        while let Some(router) = next
            && hops.len() < start + range - 1
        {
            let done = hops.len();
            hops.push(Hop { router, after: done.checked_sub(1), deliver: done + 1 >= start });
            next = self.routers[router].wire.ahead;
        }
        hops
    }

    /// Returns when a router's worker channel has a free slot.
    ///
    /// That is `now` or later.
    pub fn slot(&self, router: usize, now: u64) -> u64 {
        self.routers[router].worker.next().max(now)
    }

    /// Sends a packet.
    ///
    /// It is in a slot of the first router's worker channel at `ready`.
    ///
    /// # Panics
    ///
    /// If the route is empty, or a step does not follow an earlier one.
    pub fn send(&mut self, route: &[Hop], bytes: u64, kind: Kind, ready: u64) -> Sent {
        let mut sent = Sent { slot_free: ready, arrivals: Vec::new() };
        // Of each step: when the receiver has passed the packet on.
        let mut passed = vec![0; route.len()];
        for (step, hop) in route.iter().enumerate() {
            let start = match hop.after {
                None => ready,
                Some(before) => passed[before] + self.parameters.copy + self.parameters.noc.cycles(bytes),
            };
            let own = hop.after.is_none();
            let arrived = self.transmit(hop.router, own, bytes, start);
            let copies = route.iter().filter(|next| next.after == Some(step)).count();
            let (acknowledged, done) = self.receive(hop, copies, bytes, kind, arrived);
            passed[step] = done;
            if own {
                sent.slot_free = acknowledged + self.parameters.credit;
                self.routers[hop.router].worker.occupy(sent.slot_free);
            }
            if hop.deliver {
                let at = done + self.parameters.deliver + self.parameters.noc.cycles(bytes);
                sent.arrivals.push((self.routers[hop.router].wire.to, at));
            }
        }
        sent
    }

    /// Sends a packet over a link. Returns when it is in the buffer of the other router.
    fn transmit(&mut self, router: usize, own: bool, bytes: u64, start: u64) -> u64 {
        let (parameters, steps) = (self.parameters, self.steps);
        let closed = self.is_closed(self.routers[router].wire.peer);
        let router = &mut self.routers[router];
        let wire = parameters.link.cycles(bytes + steps.header);
        let long = bytes.saturating_sub(parameters.buffered) * parameters.long_byte / 1000;
        let step = if own { parameters.send + steps.send } else { parameters.send_on + steps.send_on };
        let closed = if closed { parameters.closed_send } else { 0 };
        let cycles = step + closed + bytes * parameters.send_byte / 1000 + long;
        let end = router.sender.reserve(start, cycles.saturating_sub(steps.less).max(1));
        // The wire is busy while the program ends its step.
        router.link.reserve(end - parameters.overlap.min(cycles), wire).max(end) + parameters.wire
    }

    /// Receives a packet. Returns when its slot is free, and when it is passed on.
    fn receive(&mut self, hop: &Hop, copies: usize, bytes: u64, kind: Kind, arrived: u64) -> (u64, u64) {
        let (parameters, steps) = (self.parameters, self.steps);
        let peer = self.routers[hop.router].wire.peer;
        let closed = self.is_closed(peer);
        let router = &mut self.routers[peer];
        let mut cycles = steps.receive + bytes * parameters.receive_byte / 1000;
        cycles += if closed { parameters.closed_receive } else { 0 };
        cycles += match (hop.deliver, copies) {
            (true, 0) => parameters.write,
            (true, _) => parameters.write_and_copy,
            (false, _) => parameters.forward,
        };
        cycles += copies.saturating_sub(1) as u64 * parameters.branch;
        let mut after = 0;
        match kind {
            Kind::Scatter if hop.deliver => cycles += parameters.scatter,
            Kind::Fused if hop.deliver => {
                let behind = if router.copies { steps.flush_copies } else { 0 };
                after = parameters.flush + steps.flush + bytes * parameters.flush_byte / 1000 + behind;
            }
            _ => {}
        }
        router.copies = copies > 0 && !hop.deliver || router.copies && kind != Kind::Fused;
        let cycles = cycles.saturating_sub(steps.less).max(1) + after;
        let program = if parameters.two_riscs { &mut router.receiver } else { &mut router.sender };
        let end = program.reserve(arrived, cycles);
        if copies > 0 && !router.passes_on {
            router.passes_on = true;
            if let Some(ring) = router.ring {
                self.rings[ring].passing += 1;
            }
        }
        // With acknowledgements of their own, slots are free before the packet is passed on.
        (if steps.acknowledges { end - cycles } else { end }, end - after)
    }

    /// Returns whether all routers of the receiver's ring pass packets on, so that a packet could wait for itself.
    fn is_closed(&self, router: usize) -> bool {
        self.routers[router].ring.is_some_and(|ring| self.rings[ring].passing == self.rings[ring].routers)
    }
}

/// Returns the closed chain of each router, if it is part of one, and the number of routers of each.
fn closed_chains(wires: &[Wire]) -> (Vec<Option<usize>>, Vec<Ring>) {
    let mut of = vec![None; wires.len()];
    let mut rings = Vec::new();
    for first in 0..wires.len() {
        let chain: Vec<usize> = std::iter::successors(Some(first), |&router| wires[router].ahead)
            .enumerate()
            .take_while(|&(step, router)| step == 0 || (router != first && step <= wires.len()))
            .map(|(_, router)| router)
            .collect();
        let closes = chain.last().is_some_and(|&last| wires[last].ahead == Some(first));
        if closes && of[wires[first].peer].is_none() {
            for &router in &chain {
                // Packets of a direction are passed on by the routers that receive them.
                of[wires[router].peer] = Some(rings.len());
            }
            rings.push(Ring { routers: chain.len(), passing: 0 });
        }
    }
    (of, rings)
}
