//! Transfers over the two networks and into DRAM.
//!
//! Who occupies what, and when it is over.
//!
//! A transfer passes a chain of resources: the interface of the sender, every link of its route, the interface of the
//! receiver, and a DRAM bank at one end of it. Routers cut through, so each resource starts as soon as the head of the
//! transfer reaches it and is taken for as long as it needs for all the bytes; a busy one delays the head. Source of
//! the mechanism: `docs/chip/noc.md` sections 1 to 5.

use tt_memory::chip::{ChipSpec, Grid};

use crate::calendar::Calendar;
use crate::layout::{Layout, Node, NodeKind};
use crate::parameters::{NocParameters, REQUEST_SLOTS, Rate};
use crate::pool::Pool;
use crate::route::{Axis, Link, NocId, Route, tree};

/// End cycles of a transfer's steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// The interface has taken the command.
    ///
    /// The core may prepare the next one. Later than the call if all its request slots hold writes that have not left
    /// yet.
    pub issued: u64,
    /// The last byte has left the source: it may be overwritten (`noc_async_writes_flushed`).
    pub sent: u64,
    /// The last byte is in the memory of the (last) receiver.
    pub arrived: u64,
    /// The issuer knows: the end of a barrier.
    ///
    /// Equal to `sent` for a posted write, which nobody acknowledges.
    pub acknowledged: u64,
}

/// Traffic of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Reads.
    pub reads: u64,
    /// Writes, multicasts counted once.
    pub writes: u64,
    /// Atomics and inline writes.
    pub words: u64,
    /// Payload bytes, multicasts counted once.
    pub bytes: u64,
}

/// Traffic of a link or an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Load {
    /// Payload bytes.
    pub bytes: u64,
    /// Cycles it was busy.
    pub busy: u64,
}

/// Traffic of a DRAM bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BankLoad {
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub written: u64,
    /// Cycles it was busy.
    pub busy: u64,
}

/// A node's resources on one network, in the order in which they are stored.
#[derive(Clone, Copy)]
enum Port {
    X,
    Y,
    Out,
    In,
}

const PORTS: usize = 4;
const AXES: usize = 2;

/// Who chooses the virtual channels of a write.
#[derive(Clone, Copy)]
enum Channel {
    /// The program, one for the whole route.
    Fixed,
    /// The hardware, at each hop.
    Chosen,
}

#[derive(Debug, Clone, Default)]
struct Resource {
    calendar: Calendar,
    load: Load,
}

impl Resource {
    /// Reserves the resource for a transfer whose head is there at `head`. Returns when the head can go on and when
    /// the last byte has passed.
    #[inline]
    fn pass(&mut self, head: u64, cycles: u64, bytes: u64) -> (u64, u64) {
        let end = self.calendar.reserve(head, cycles);
        self.load.bytes += bytes;
        self.load.busy += cycles;
        (end - cycles, end)
    }
}

/// A chip's two networks and DRAM banks, with current transfers.
#[derive(Debug)]
pub struct Noc {
    layout: Layout,
    parameters: &'static NocParameters,
    /// Per network, node and [`Port`].
    resources: Vec<Resource>,
    banks: Vec<(Calendar, BankLoad)>,
    /// Per network and link: what waits behind it.
    pools: Vec<Pool>,
    /// Per network and node: when each of its request slots is free again.
    slots: Vec<[u64; REQUEST_SLOTS]>,
    totals: [Totals; 2],
}

impl Noc {
    /// The idle networks of a chip.
    pub fn new(chip: &'static ChipSpec) -> Self {
        let layout = Layout::new(chip);
        let nodes = layout.noc_grid().cores();
        Self {
            layout,
            parameters: NocParameters::of(chip.arch),
            resources: vec![Resource::default(); 2 * nodes * PORTS],
            banks: vec![(Calendar::default(), BankLoad::default()); chip.dram_banks()],
            pools: vec![Pool::default(); 2 * nodes * AXES],
            slots: vec![[0; REQUEST_SLOTS]; 2 * nodes],
            totals: [Totals::default(); 2],
        }
    }

    /// Returns the layout of the die.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The parameters that times come from.
    pub fn parameters(&self) -> &'static NocParameters {
        self.parameters
    }

    /// Reads `bytes` of the node `owner` into the L1 of `reader`.
    ///
    /// A request goes there, the data come back on the same network.
    pub fn read(&mut self, now: u64, noc: NocId, reader: Node, owner: Node, bytes: u64) -> Transfer {
        let parameters = self.parameters;
        let request_hops = u64::from(Route::new(noc, self.layout.noc_grid(), reader, owner).hops());
        let request = now + parameters.read_start / 2 + request_hops * parameters.read_hop;
        let mut head = request;
        if let NodeKind::Dram { bank } = self.layout.kind(owner) {
            head = self.bank(bank, request, bytes, false).0 + parameters.dram_access;
        }
        let (sent, arrived) = self.flow(noc, owner, reader, head, bytes, parameters.read_hop);
        let arrived = arrived + parameters.read_start.div_ceil(2);
        let totals = &mut self.totals[noc as usize];
        totals.reads += 1;
        totals.bytes += bytes;
        Transfer { issued: now, sent, arrived, acknowledged: arrived }
    }

    /// Writes `bytes` from the L1 of `writer` to another node.
    pub fn write(&mut self, now: u64, noc: NocId, writer: Node, to: Node, bytes: u64, posted: bool) -> Transfer {
        self.write_on(Channel::Fixed, now, noc, writer, to, bytes, posted)
    }

    /// [`Noc::write`] on virtual channels that the hardware chooses for each hop.
    ///
    /// Several writers to one busy receiver then fill the buffers of the routers between them.
    pub fn write_dynamic(
        &mut self,
        now: u64,
        noc: NocId,
        writer: Node,
        to: Node,
        bytes: u64,
        posted: bool,
    ) -> Transfer {
        self.write_on(Channel::Chosen, now, noc, writer, to, bytes, posted)
    }

    #[allow(clippy::too_many_arguments, reason = "the fields of the command")]
    fn write_on(
        &mut self,
        channel: Channel,
        now: u64,
        noc: NocId,
        writer: Node,
        to: Node,
        bytes: u64,
        posted: bool,
    ) -> Transfer {
        let parameters = self.parameters;
        let issued = self.take_slot(now, noc, writer);
        let head = issued + parameters.write_start;
        let (sent, mut arrived) = match channel {
            Channel::Fixed => self.flow(noc, writer, to, head, bytes, parameters.write_hop),
            Channel::Chosen => self.flow_through_pools(noc, writer, to, head, bytes),
        };
        self.hold_slot(noc, writer, sent);
        if let NodeKind::Dram { bank } = self.layout.kind(to) {
            let cycles = self.bank_cycles(bytes);
            arrived = arrived.max(self.bank(bank, arrived.saturating_sub(cycles), bytes, true).1);
        }
        let totals = &mut self.totals[noc as usize];
        totals.writes += 1;
        totals.bytes += bytes;
        let acknowledged = if posted { sent } else { arrived + self.answer(noc, to, writer) };
        Transfer { issued, sent, arrived, acknowledged }
    }

    /// Writes `bytes` from `writer`'s L1 to all receivers, along a tree.
    ///
    /// Once over each link of the tree of their routes. The writer is a receiver only if it is among them (loop-back).
    /// A linked multicast keeps the path of the one before. [`Noc::rectangle`] lists the receivers that a command names
    /// by two corners.
    #[allow(clippy::too_many_arguments, reason = "the fields of the command")]
    pub fn multicast(
        &mut self,
        now: u64,
        noc: NocId,
        writer: Node,
        receivers: &[Node],
        bytes: u64,
        linked: bool,
        posted: bool,
    ) -> Transfer {
        let parameters = self.parameters;
        let rate = if linked { parameters.multicast_linked } else { parameters.multicast };
        let cycles = rate.cycles(bytes);
        let issued = self.take_slot(now, noc, writer);
        let (mut head, sent) =
            self.resource(noc, writer, Port::Out).pass(issued + parameters.write_start, cycles, bytes);
        self.hold_slot(noc, writer, sent);
        // The whole tree is reserved before data leave: the latest free link decides.
        for branch in tree(noc, self.layout.noc_grid(), writer, receivers.iter().copied()) {
            let at = head + u64::from(branch.depth) * parameters.write_hop;
            let (free, _) = self.link(noc, branch.link).pass(at, cycles, bytes);
            head += free - at;
        }
        let (mut arrived, mut acknowledged) = (sent, sent);
        for &node in receivers {
            let hops = u64::from(Route::new(noc, self.layout.noc_grid(), writer, node).hops());
            let (_, end) = self.resource(noc, node, Port::In).pass(head + hops * parameters.write_hop, cycles, bytes);
            arrived = arrived.max(end);
            acknowledged = acknowledged.max(end + self.answer(noc, node, writer));
        }
        let totals = &mut self.totals[noc as usize];
        totals.writes += 1;
        totals.bytes += bytes;
        Transfer { issued, sent, arrived, acknowledged: if posted { sent } else { acknowledged } }
    }

    /// A remote semaphore increment or another atomic on a word of L1.
    pub fn atomic(&mut self, now: u64, noc: NocId, from: Node, to: Node, posted: bool) -> Transfer {
        let modify = self.parameters.l1_modify;
        let sent = self.inline_write(now, noc, from, to, true);
        let arrived = sent.arrived + modify;
        let acknowledged = if posted { sent.sent } else { arrived + self.answer(noc, to, from) };
        Transfer { arrived, acknowledged, ..sent }
    }

    /// A 32-bit write whose value travels in the command.
    pub fn inline_write(&mut self, now: u64, noc: NocId, from: Node, to: Node, posted: bool) -> Transfer {
        const WORD: u64 = 4;
        let parameters = self.parameters;
        let issued = self.take_slot(now, noc, from);
        let (sent, arrived) = self.flow(noc, from, to, issued + parameters.write_start, WORD, parameters.write_hop);
        self.hold_slot(noc, from, sent);
        let totals = &mut self.totals[noc as usize];
        totals.words += 1;
        totals.bytes += WORD;
        let acknowledged = if posted { sent } else { arrived + self.answer(noc, to, from) };
        Transfer { issued, sent, arrived, acknowledged }
    }

    /// Returns the traffic of a network so far.
    pub fn totals(&self, noc: NocId) -> Totals {
        self.totals[noc as usize]
    }

    /// Returns the traffic of a link.
    pub fn link_load(&self, noc: NocId, link: Link) -> Load {
        let port = if link.axis == Axis::X { Port::X } else { Port::Y };
        self.resources[self.index(noc, link.from, port)].load
    }

    /// Returns a node's memory traffic over a network, both ways.
    pub fn interface_load(&self, noc: NocId, node: Node) -> (Load, Load) {
        let load = |port| self.resources[self.index(noc, node, port)].load;
        (load(Port::Out), load(Port::In))
    }

    /// Returns a DRAM bank's read and written bytes.
    ///
    /// `None` if there is no such bank.
    pub fn bank_load(&self, bank: usize) -> Option<BankLoad> {
        Some(self.banks.get(bank)?.1)
    }

    /// Every link of a network that has carried something, node by node.
    pub fn busy_links(&self, noc: NocId) -> impl Iterator<Item = (Link, Load)> + '_ {
        let Grid { x: columns, y: rows } = self.layout.noc_grid();
        let nodes = (0..rows).flat_map(move |y| (0..columns).map(move |x| Node { x, y }));
        let links = nodes.flat_map(|from| [Axis::X, Axis::Y].map(|axis| Link { from, axis }));
        links.map(move |link| (link, self.link_load(noc, link))).filter(|(_, load)| load.bytes > 0)
    }

    /// The Tensix cores of a rectangle, row by row.
    ///
    /// A corner may lie before the other one, across the edge of the torus.
    pub fn rectangle(&self, (first, last): (Node, Node)) -> Vec<Node> {
        let Grid { x: columns, y: rows } = self.layout.noc_grid();
        let span = |from: u32, to: u32, all: u32| (0..=(to + all - from) % all).map(move |i| (from + i) % all);
        let nodes =
            span(first.y, last.y, rows).flat_map(|y| span(first.x, last.x, columns).map(move |x| Node { x, y }));
        nodes.filter(|&node| self.layout.kind(node) == NodeKind::Tensix).collect()
    }

    /// Moves bytes from the interface of one node to that of another. Returns when the last byte has left and arrived.
    #[inline]
    fn flow(&mut self, noc: NocId, from: Node, to: Node, head: u64, bytes: u64, hop: u64) -> (u64, u64) {
        let flits = self.flits(bytes);
        let out = self.rate(from, true).cycles(bytes);
        let (mut head, sent) = self.resource(noc, from, Port::Out).pass(head, out, bytes);
        let mut tail = sent;
        for link in Route::new(noc, self.layout.noc_grid(), from, to) {
            let (free, end) = self.link(noc, link).pass(head, flits, bytes);
            // What the link is idle behind the last packet holds up the next transfer, not this one.
            (head, tail) = (free + hop, (end - self.parameters.link_idle).max(tail) + hop);
        }
        let into = self.rate(to, false).cycles(bytes);
        let (_, end) = self.resource(noc, to, Port::In).pass(head, into, bytes);
        (sent, end.max(tail))
    }

    /// [`Noc::flow`] of a write whose channels the hardware chooses: a link whose pool is full moves less.
    fn flow_through_pools(&mut self, noc: NocId, from: Node, to: Node, head: u64, bytes: u64) -> (u64, u64) {
        let (buffers, hop) = (&self.parameters.buffers, self.parameters.write_hop);
        let (flits, flit) = (self.flits(bytes), u64::from(self.layout.chip().noc_link_bytes));
        let out = self.rate(from, true).cycles(bytes);
        let (mut head, sent) = self.resource(noc, from, Port::Out).pass(head, out, bytes);
        let mut tail = sent;
        let mut before = None;
        for link in Route::new(noc, self.layout.noc_grid(), from, to) {
            let pool = self.link_index(noc, link);
            let starved = self.pools[pool].arrive(buffers, from, head);
            let cycles = starved.map_or(flits, |rate| flits.max(rate.cycles(bytes)));
            let (free, end) = self.link(noc, link).pass(head, cycles, bytes);
            if let Some(before) = before.replace(pool) {
                self.pools[before].leave(buffers, from, end, free - head, flit);
            }
            (head, tail) = (free + hop, (end - self.parameters.link_idle).max(tail) + hop);
        }
        let into = self.rate(to, false).cycles(bytes);
        let (free, end) = self.resource(noc, to, Port::In).pass(head, into, bytes);
        if let Some(before) = before {
            self.pools[before].leave(buffers, from, end, free - head, flit);
        }
        (sent, end.max(tail))
    }

    /// Cycles that a transfer takes of a link: its flits, headers included, and what the link is idle between packets.
    #[inline]
    fn flits(&self, bytes: u64) -> u64 {
        let chip = self.layout.chip();
        let packets = bytes.div_ceil(u64::from(chip.noc_packet_bytes)).max(1);
        let between = self.parameters.header_flits + self.parameters.link_idle;
        bytes.div_ceil(u64::from(chip.noc_link_bytes)) + packets * between
    }

    /// Time of an acknowledgement: a single flit that goes on to the issuer.
    fn answer(&self, noc: NocId, from: Node, to: Node) -> u64 {
        let hops = u64::from(Route::new(noc, self.layout.noc_grid(), from, to).hops());
        2 * self.parameters.interface + hops * self.parameters.read_hop
    }

    /// When an interface can take a command.
    fn take_slot(&self, now: u64, noc: NocId, node: Node) -> u64 {
        let slots = &self.slots[noc as usize * self.layout.noc_grid().cores() + self.layout.index(node)];
        slots.iter().copied().min().map_or(now, |free| now.max(free))
    }

    /// Keeps the slot that is free first until the data have left.
    fn hold_slot(&mut self, noc: NocId, node: Node, sent: u64) {
        let index = noc as usize * self.layout.noc_grid().cores() + self.layout.index(node);
        if let Some(first) = self.slots[index].iter_mut().min() {
            *first = sent;
        }
    }

    fn rate(&self, node: Node, out: bool) -> Rate {
        match (self.layout.kind(node), out) {
            (NodeKind::Dram { .. }, true) => self.parameters.dram_out,
            (NodeKind::Dram { .. }, false) => self.parameters.dram_in,
            (_, true) => self.parameters.tensix_out,
            (_, false) => self.parameters.tensix_in,
        }
    }

    fn bank_cycles(&self, bytes: u64) -> u64 {
        self.parameters.bank.cycles(bytes).max(self.parameters.bank_request)
    }

    /// Takes a bank for one request. Returns when it begins and when it is done.
    fn bank(&mut self, bank: usize, at: u64, bytes: u64, write: bool) -> (u64, u64) {
        let cycles = self.bank_cycles(bytes);
        let (calendar, load) = &mut self.banks[bank];
        let end = calendar.reserve(at, cycles);
        *(if write { &mut load.written } else { &mut load.read }) += bytes;
        load.busy += cycles;
        (end - cycles, end)
    }

    fn index(&self, noc: NocId, node: Node, port: Port) -> usize {
        let nodes = self.layout.noc_grid().cores();
        (noc as usize * nodes + self.layout.index(node)) * PORTS + port as usize
    }

    fn resource(&mut self, noc: NocId, node: Node, port: Port) -> &mut Resource {
        let index = self.index(noc, node, port);
        &mut self.resources[index]
    }

    fn link(&mut self, noc: NocId, link: Link) -> &mut Resource {
        self.resource(noc, link.from, if link.axis == Axis::X { Port::X } else { Port::Y })
    }

    fn link_index(&self, noc: NocId, link: Link) -> usize {
        let nodes = self.layout.noc_grid().cores();
        (noc as usize * nodes + self.layout.index(link.from)) * AXES + link.axis as usize
    }
}
