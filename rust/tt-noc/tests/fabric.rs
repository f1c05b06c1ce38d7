//! Packets between chips: bandwidths and latencies of the vendor's fabric benchmarks, `ccl_anchors.csv`.
#![allow(clippy::print_stderr, reason = "the comparison is shown with --nocapture")]

use std::collections::BTreeMap;

use tt_memory::chip::Arch;
use tt_noc::fabric::{Fabric, Hop, Kind, Protocol, Wire};
use tt_testkit::golden::{Row, table};

const WAYS: [(isize, isize); 4] = [(-1, 0), (1, 0), (0, 1), (0, -1)];
const OPPOSITE: [usize; 4] = [1, 0, 3, 2];
const NORTH: usize = 0;
const SOUTH: usize = 1;
const EAST: usize = 2;
const WEST: usize = 3;

type Chip = (usize, usize);

/// A mesh of chips with one link between neighbours.
struct Mesh {
    size: (usize, usize),
    routers: BTreeMap<(Chip, usize), usize>,
    wires: Vec<Wire>,
}

impl Mesh {
    fn new(size: (usize, usize)) -> Self {
        let mut mesh = Self { size, routers: BTreeMap::new(), wires: Vec::new() };
        for chip in mesh.chips() {
            for way in 0..4 {
                if mesh.beside(chip, way).is_some() {
                    let next = mesh.routers.len();
                    mesh.routers.insert((chip, way), next);
                }
            }
        }
        let wires = mesh.routers.keys().map(|&(chip, way)| {
            let next = mesh.beside(chip, way).expect("a neighbour");
            let (from, to) = (mesh.number(chip), mesh.number(next));
            let peer = mesh.routers[&(next, OPPOSITE[way])];
            Wire { from, to, peer, ahead: mesh.routers.get(&(next, way)).copied() }
        });
        mesh.wires = wires.collect();
        mesh
    }

    /// The chain of chips, closed: router 2 i of chip i sends forward, 2 i + 1 backward.
    fn ring(chips: usize) -> Vec<Wire> {
        let wires = (0..2 * chips).map(|router| {
            let (from, forward) = (router / 2, router % 2 == 0);
            let to = if forward { (from + 1) % chips } else { (from + chips - 1) % chips };
            Wire { from, to, peer: 2 * to + usize::from(forward), ahead: Some(2 * to + usize::from(!forward)) }
        });
        wires.collect()
    }

    fn chips(&self) -> Vec<Chip> {
        (0..self.size.0 * self.size.1).map(|chip| (chip / self.size.1, chip % self.size.1)).collect()
    }

    fn number(&self, chip: Chip) -> usize {
        chip.0 * self.size.1 + chip.1
    }

    fn beside(&self, chip: Chip, way: usize) -> Option<Chip> {
        let row = chip.0.checked_add_signed(WAYS[way].0)?;
        let column = chip.1.checked_add_signed(WAYS[way].1)?;
        (row < self.size.0 && column < self.size.1).then_some((row, column))
    }

    /// Chips on the way from one to the edge.
    fn reach(&self, chip: Chip, way: usize) -> usize {
        std::iter::successors(self.beside(chip, way), |&chip| self.beside(chip, way)).count()
    }

    /// A multicast along a column, with branches along the rows of each chip, or along a row.
    fn multicast(&self, chip: Chip, way: usize) -> Vec<Hop> {
        let mut hops = Vec::new();
        let (mut at, mut after) = (chip, None);
        while let Some(next) = self.beside(at, way) {
            hops.push(Hop { router: self.routers[&(at, way)], after, deliver: true });
            (at, after) = (next, Some(hops.len() - 1));
            for side in [EAST, WEST].into_iter().filter(|_| way == NORTH || way == SOUTH) {
                let (mut branch, mut last) = (at, after);
                while let Some(next) = self.beside(branch, side) {
                    hops.push(Hop { router: self.routers[&(branch, side)], after: last, deliver: true });
                    (branch, last) = (next, Some(hops.len() - 1));
                }
            }
        }
        hops
    }

    /// To one chip: along its column, then its row.
    fn unicast(&self, from: Chip, to: Chip) -> Vec<Hop> {
        let (mut at, mut hops) = (from, Vec::new());
        while at != to {
            let way = match (at.0.cmp(&to.0), at.1 < to.1) {
                (std::cmp::Ordering::Less, _) => SOUTH,
                (std::cmp::Ordering::Greater, _) => NORTH,
                (std::cmp::Ordering::Equal, true) => EAST,
                (std::cmp::Ordering::Equal, false) => WEST,
            };
            let next = self.beside(at, way).expect("a neighbour");
            let after = hops.len().checked_sub(1);
            hops.push(Hop { router: self.routers[&(at, way)], after, deliver: next == to });
            at = next;
        }
        hops
    }
}

/// Streams of packets; those of a worker are sent in turn.
struct Pattern {
    wires: Vec<Wire>,
    streams: Vec<(usize, Vec<Hop>)>,
}

impl Pattern {
    /// Packets over the busiest link that a worker sends to, if each stream sends one.
    fn traffic(&self) -> usize {
        let mut count = vec![0; self.wires.len()];
        for hop in self.streams.iter().flat_map(|(_, route)| route) {
            count[hop.router] += 1;
        }
        self.streams.iter().map(|(_, route)| count[route[0].router]).max().unwrap_or(0)
    }

    /// Cycles until all packets have arrived, `count` of each stream.
    fn run(&self, arch: Arch, protocol: Protocol, bytes: u64, kind: Kind, count: usize) -> u64 {
        let mut fabric = Fabric::new(arch, protocol, &self.wires);
        let workers = self.streams.iter().map(|(worker, _)| worker + 1).max().unwrap_or(0);
        let (mut clocks, mut sent, mut end) = (vec![0; workers], vec![0; self.streams.len()], 0);
        loop {
            let ready = |stream: usize| {
                let (worker, route) = &self.streams[stream];
                (fabric.slot(route[0].router, clocks[*worker]), sent[stream])
            };
            let left = (0..self.streams.len()).filter(|&stream| sent[stream] < count);
            let Some(stream) = left.min_by_key(|&stream| ready(stream)) else { return end };
            let (start, _) = ready(stream);
            let (worker, route) = &self.streams[stream];
            clocks[*worker] = start + fabric.parameters().worker_cycles(bytes);
            let written = clocks[*worker] + fabric.parameters().inject;
            let packet = fabric.send(route, bytes, kind, written);
            end = packet.arrivals.iter().map(|&(_, at)| at).fold(end, u64::max);
            sent[stream] += 1;
        }
    }

    /// Nanoseconds of a packet on the busiest link, in the long run.
    fn nanoseconds(&self, arch: Arch, protocol: Protocol, bytes: u64, kind: Kind) -> f64 {
        let (few, many) = (32, 96);
        let [first, last] = [few, many].map(|count| self.run(arch, protocol, bytes, kind, count));
        (last - first) as f64 / ((many - few) * self.traffic()) as f64 / gigahertz(arch)
    }
}

fn gigahertz(arch: Arch) -> f64 {
    match arch {
        Arch::Wormhole => 1.0,
        Arch::Blackhole => 1.35,
    }
}

/// Streams around a ring: `(forward, backward)` chips of each.
fn around(chips: usize, reach: impl Fn(usize) -> (usize, usize), multicast: bool) -> Pattern {
    let wires = Mesh::ring(chips);
    let fabric = Fabric::new(Arch::Wormhole, Protocol::Ring, &wires);
    let mut streams = Vec::new();
    for chip in 0..chips {
        let (forward, backward) = reach(chip);
        for (router, hops) in [(2 * chip, forward), (2 * chip + 1, backward)] {
            let (start, range) = if multicast { (1, hops) } else { (hops, 1) };
            streams.push((chip, fabric.straight(router, start, range)));
        }
    }
    Pattern { wires, streams }
}

/// The streams of a benchmark: those of its definition in the vendor's repository.
fn pattern(test: &str, system: &str) -> Pattern {
    let mesh = Mesh::new(match system {
        "T3K" => (2, 4),
        "GALAXY" => (8, 4),
        _ => (2, 2),
    });
    if test.contains("Ring") {
        // The border of a T3000 or four cards; on a Galaxy, whose columns are closed, the longest are columns.
        let chips = if system == "P150_X4" { 4 } else { 8 };
        let (long, short) =
            if test.starts_with("Half") { (chips / 2, (chips - 1) / 2) } else { (chips - 1, chips - 1) };
        // Neighbours send the longer way in different directions; their numbers in a 2x2 ring are 0, 1, 3, 2.
        let odd = |chip: usize| if system == "P150_X4" { [0, 1, 1, 0][chip] == 1 } else { chip % 2 == 1 };
        return around(
            chips,
            |chip| if odd(chip) { (long, short) } else { (short, long) },
            test.ends_with("Multicast"),
        );
    }
    let mut streams = Vec::new();
    let fabric = Fabric::new(Arch::Wormhole, Protocol::Line, &mesh.wires);
    for chip in mesh.chips() {
        let worker = mesh.number(chip);
        for way in 0..4 {
            let reach = mesh.reach(chip, way);
            if reach == 0 {
                continue;
            }
            let router = mesh.routers[&(chip, way)];
            let half = match way {
                NORTH => chip.0 >= mesh.size.0 / 2,
                SOUTH => chip.0 < mesh.size.0 / 2,
                EAST => chip.1 < mesh.size.1 / 2,
                _ => chip.1 >= mesh.size.1 / 2,
            };
            match test {
                name if name.starts_with("Neighbor") => streams.push((worker, fabric.straight(router, 1, 1))),
                name if name.starts_with("Unidir") && half => {
                    streams.push((2 * worker + way / 2, fabric.straight(router, 1, reach)));
                }
                name if name.starts_with("SingleSenderLinear") && worker == 0 => {
                    streams.extend((1..=reach).map(|distance| (0, fabric.straight(router, distance, 1))));
                }
                name if name.starts_with("LinearM") || name.contains("SizeLinear") => {
                    streams.push((worker, fabric.straight(router, 1, reach)));
                }
                name if name.starts_with("MeshM") || name.contains("SizeMesh") => {
                    streams.push((worker, mesh.multicast(chip, way)));
                }
                _ => {}
            }
        }
        if test.starts_with("SingleSenderMesh") && worker > 0 {
            streams.push((0, mesh.unicast((0, 0), chip)));
        }
    }
    Pattern { wires: mesh.wires, streams }
}

fn kind(row: &Row) -> Kind {
    match row["test"].rsplit('/').next() {
        Some("NOC_UNICAST_SCATTER_WRITE") => Kind::Scatter,
        Some("NOC_FUSED_UNICAST_ATOMIC_INC") => Kind::Fused,
        _ => Kind::Write,
    }
}

fn protocol(row: &Row) -> Protocol {
    match row["topology"].as_str() {
        "Ring" => Protocol::Ring,
        "Mesh" => Protocol::Mesh,
        "NeighborExchange" => Protocol::Neighbours,
        _ => Protocol::Line,
    }
}

fn arch(row: &Row) -> Arch {
    if row["system"].starts_with('P') { Arch::Blackhole } else { Arch::Wormhole }
}

/// A third of the rows, which the parameters were not fitted to.
fn is_held(row: &Row) -> bool {
    u64::from_str_radix(&row["id"], 16).expect("a hexadecimal number").is_multiple_of(3)
}

fn mean(errors: &[f64]) -> f64 {
    errors.iter().map(|error| error.abs()).sum::<f64>() / errors.len() as f64
}

fn number(row: &Row, column: &str) -> f64 {
    row[column].parse().expect("a number")
}

/// Predicts rows, prints those of each kind once, and returns the errors in percent, of the fit and held.
fn compare(rows: &[&Row], unit: &str, predict: impl Fn(&Row) -> f64, measured: impl Fn(&Row) -> f64) -> [Vec<f64>; 2] {
    let (mut errors, mut known) = ([Vec::new(), Vec::new()], BTreeMap::new());
    for row in rows {
        let key = ["system", "test", "packet_bytes"].map(|column| row[column].clone());
        let got = *known.entry(key.clone()).or_insert_with(|| predict(row));
        let error = 100.0 * (got / measured(row) - 1.0);
        let [system, test, bytes] = key;
        let (links, held) = (&row["links"], is_held(row));
        let mark = if held { "held" } else { "" };
        let (value, links) = (measured(row), format!("{links} links"));
        eprintln!("{system:8} {test:62} {bytes:>5} B {links} {value:6.0} {unit}, {got:6.0}, {error:+6.1} % {mark}");
        errors[usize::from(held)].push(error);
    }
    errors
}

#[test]
fn bandwidths_of_benchmarks() {
    let Some(rows) = table("silicon/ccl_anchors.csv") else { return };
    let rows: Vec<&Row> = rows.iter().filter(|row| row["kind"] == "fabric_bandwidth").collect();
    let time = |row: &Row| number(row, "packet_bytes") / number(row, "value");
    let predict = |row: &Row| {
        let test = row["test"].split('/').next().expect("a name");
        let bytes = number(row, "packet_bytes") as u64;
        pattern(test, &row["system"]).nanoseconds(arch(row), protocol(row), bytes, kind(row))
    };
    let [fit, held] = compare(&rows, "ns per packet", predict, time);
    let [fit_mean, held_mean] = [&fit, &held].map(|errors| mean(errors));
    eprintln!("mean error {fit_mean:.1} % of {} rows, {held_mean:.1} % of {} held rows", fit.len(), held.len());
    assert!(fit.len() > 250 && held.len() > 100);
    assert!(fit_mean < 5.0 && held_mean < 7.0, "{fit_mean} {held_mean}");
}

#[test]
fn latencies_of_benchmarks() {
    let Some(rows) = table("silicon/ccl_anchors.csv") else { return };
    let rows: Vec<&Row> = rows.iter().filter(|row| row["kind"] == "fabric_latency").collect();
    let predict = |row: &Row| {
        let wires = Mesh::new((2, 4)).wires;
        let pattern = Pattern { streams: vec![(0, vec![Hop { router: 0, after: None, deliver: true }])], wires };
        let bytes = number(row, "packet_bytes") as u64;
        pattern.run(arch(row), protocol(row), bytes, kind(row), 1) as f64 / gigahertz(arch(row))
    };
    let [fit, held] = compare(&rows, "ns", predict, |row| number(row, "value"));
    let [fit_mean, held_mean] = [&fit, &held].map(|errors| mean(errors));
    eprintln!("mean error {fit_mean:.1} % of {} rows, {held_mean:.1} % of {} held rows", fit.len(), held.len());
    assert!(fit.len() + held.len() >= 25);
    assert!(fit_mean < 5.0 && held_mean < 5.0, "{fit_mean} {held_mean}");
}

#[test]
fn a_worker_waits_for_a_slot_of_its_router() {
    let mesh = Mesh::new((1, 4));
    let mut fabric = Fabric::new(Arch::Wormhole, Protocol::Line, &mesh.wires);
    let first = mesh.routers[&((0, 0), EAST)];
    let route = fabric.straight(first, 2, 8);
    assert_eq!(route.iter().map(|hop| hop.deliver).collect::<Vec<_>>(), [false, true, true]);
    let mut sent = 0;
    let free = loop {
        let packet = fabric.send(&route, 4096, Kind::Write, 0);
        sent += 1;
        assert_eq!(packet.arrivals.iter().map(|&(chip, _)| chip).collect::<Vec<_>>(), [2, 3]);
        assert!(packet.slot_free < packet.arrivals[0].1 && packet.arrivals[0].1 < packet.arrivals[1].1);
        match fabric.slot(first, 100) {
            100 => assert!(sent < 100, "slots never fill"),
            free => break free,
        }
    };
    assert_eq!(fabric.slot(first, free + 1), free + 1);
    // Other connections of the chip have their own.
    assert_eq!(fabric.slot(mesh.routers[&((0, 1), WEST)], 100), 100);
}

/// What chips of a line or ring send each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exchange {
    /// Slices to all, passed on by the workers of each chip.
    All,
    /// A slice for each pair, by the shorter way, passed on by routers.
    Pairs,
}

/// Nanoseconds of a packet on the busiest link, in closed form: those of the profiler's plans, by generation.
fn closed_form(arch: Arch, ring: bool) -> f64 {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/ttnn_rs/ttnn/profiler/links.py");
    let text = std::fs::read_to_string(path).expect("the profiler's links");
    let name = if arch == Arch::Wormhole { "\"wormhole_b0\": _Router(" } else { "\"blackhole\": _Router(" };
    let values = text.split(name).nth(1).expect("the router's row");
    values.split(',').nth(usize::from(ring)).and_then(|value| value.trim().parse().ok()).expect("a number")
}

/// Cycles of an exchange of slices of `packets` packets.
fn exchange(arch: Arch, chips: usize, ring: bool, what: Exchange, packets: usize) -> u64 {
    let protocol = if ring { Protocol::Ring } else { Protocol::Line };
    let mut wires = Mesh::ring(chips);
    if !ring {
        for wire in &mut wires {
            let ends = wire.to == 0 && wire.from == 1 || wire.to == chips - 1 && wire.from == chips - 2;
            wire.ahead = wire.ahead.filter(|_| !ends);
        }
    }
    let mut fabric = Fabric::new(arch, protocol, &wires);
    // Of each router's worker: packets that it can send, when, and over how many links.
    let mut queues: Vec<Vec<(u64, usize)>> = vec![Vec::new(); 2 * chips];
    let reach = |chip: usize, forward: bool| match (ring, forward) {
        (true, _) => chips / 2,
        (false, true) => chips - 1 - chip,
        (false, false) => chip,
    };
    for (router, queue) in queues.iter_mut().enumerate() {
        let (most, forward) = (reach(router / 2, router % 2 == 0), router % 2 == 0);
        for packet in 0..packets {
            // Of an even ring, the chip opposite gets half of the packets from each side; of pairs all from one.
            let even = what == Exchange::Pairs || packet % 2 == 0;
            let shared = ring && chips.is_multiple_of(2) && even != forward;
            let far = most - usize::from(shared);
            match what {
                Exchange::All if far > 0 => queue.push((0, far)),
                Exchange::All => {}
                Exchange::Pairs => queue.extend((1..=far).map(|distance| (0, distance))),
            }
        }
    }
    let (bytes, mut clocks, mut next, mut end) = (4096, vec![0; 2 * chips], vec![0; 2 * chips], 0);
    loop {
        let start = |router: usize| {
            let (ready, _) = queues[router][next[router]];
            fabric.slot(router, ready.max(clocks[router]))
        };
        let waiting = (0..2 * chips).filter(|&router| next[router] < queues[router].len());
        let Some(router) = waiting.min_by_key(|&router| start(router)) else { return end };
        let (at, (_, far)) = (start(router), queues[router][next[router]]);
        next[router] += 1;
        let parameters = fabric.parameters();
        clocks[router] = at + parameters.worker_cycles(bytes).max(parameters.stream);
        let route = fabric.straight(router, if what == Exchange::All { 1 } else { far }, 1);
        let sent = fabric.send(&route, bytes, Kind::Write, at + parameters.worker_cycles(bytes) + parameters.inject);
        let (_, arrived) = sent.arrivals[0];
        end = end.max(arrived);
        if let (Exchange::All, Some(ahead)) = (what, wires[router].ahead.filter(|_| far > 1)) {
            queues[ahead].push((arrived, far - 1));
        }
    }
}

#[test]
fn collectives_take_the_time_of_the_closed_form() {
    let packets = 192;
    for arch in [Arch::Wormhole, Arch::Blackhole] {
        for (ring, what) in [(false, Exchange::All), (true, Exchange::All), (true, Exchange::Pairs)] {
            for chips in [4, 6, 8] {
                let passes = match (what, ring) {
                    (Exchange::All, true) => (chips - 1) as f64 / 2.0,
                    (Exchange::All, false) => (chips - 1) as f64,
                    (Exchange::Pairs, _) => (chips / 2 * (chips / 2 + 1)) as f64 / 2.0,
                };
                let formula = passes * packets as f64 * closed_form(arch, ring);
                let cycles = exchange(arch, chips, ring, what, packets);
                let error = 100.0 * (cycles as f64 / gigahertz(arch) / formula - 1.0);
                let kind = if ring { "ring" } else { "line" };
                let routes = if what == Exchange::All { "all" } else { "pairs" };
                eprintln!("{arch:?} {kind} of {chips}, {routes}: {error:+5.1} % from the closed form");
                // The form counts the busier direction of pairs for both, whose packets a router of one RISC passes on.
                let most = if what == Exchange::Pairs { 16.0 } else { 10.0 };
                assert!(error.abs() < most, "{arch:?} {kind} of {chips}, {routes}: {error}");
            }
        }
    }
}
