//! Single transfers worked by hand, and laws that hold for any transfers.

use tt_memory::chip::{ChipSpec, LogicalCore, N150, NocCoord, P150};
use tt_noc::route::Route;
use tt_noc::{Layout, Noc, NocId, NocParameters, Node, NodeKind};
use tt_testkit::random::Random;

fn node(x: u32, y: u32) -> Node {
    Node { x, y }
}

/// First data of a read with nothing else going on, as `docs/chip/noc.md` section 3 lists it.
fn first_data(chip: &'static ChipSpec, owner: Node) -> u64 {
    let mut noc = Noc::new(chip);
    // A byte takes a cycle at each end and its flit with its header two on a link.
    let reader = node(1, 2);
    let links = u64::from(reader != owner);
    noc.read(0, NocId::Noc0, reader, owner, 1).arrived - 1 - links
}

#[test]
fn latencies_of_reads_are_those_of_the_table() {
    // Same node, same column, same row, other. Hops there and back are once around each dimension that is not shared.
    let owners = [node(1, 2), node(1, 4), node(3, 2), node(3, 4)];
    let published = [(&N150, [70, 154, 170, 270]), (&P150, [65, 177, 217, 329])];
    for (chip, table) in published {
        for (owner, published) in owners.into_iter().zip(table) {
            let got = first_data(chip, owner) as f64;
            // A single figure per hop fits the four rows within a sixth.
            assert!((got / f64::from(published) - 1.0).abs() < 1.0 / 6.0, "{} {owner:?}: {got} {published}", chip.name);
        }
    }
    assert_eq!(first_data(&N150, owners[0]), 70);
    assert_eq!(first_data(&N150, owners[1]), 70 + 12 * 9);
    assert_eq!(first_data(&P150, owners[3]), 65 + (17 + 12) * 9);
}

#[test]
fn a_write_worked_by_hand() {
    // 2048 B from (1, 1) to (3, 2) on NoC 0: three hops. Out and in take 73 cycles at 28.1 B, a link 64 + 1 flits.
    let mut noc = Noc::new(&N150);
    let done = noc.write(1000, NocId::Noc0, node(1, 1), node(3, 2), 2048, false);
    assert_eq!(done.issued, 1000);
    assert_eq!(done.sent, 1000 + 40 + 73);
    assert_eq!(done.arrived, 1000 + 40 + 3 * 10 + 73);
    // The acknowledgement goes on around the torus: 8 hops in x, 11 in y.
    assert_eq!(done.acknowledged, done.arrived + 2 * 5 + 19 * 9);
    // Posted: nobody answers.
    let posted = Noc::new(&N150).write(1000, NocId::Noc0, node(1, 1), node(3, 2), 2048, true);
    assert_eq!((posted.sent, posted.arrived, posted.acknowledged), (done.sent, done.arrived, done.sent));
}

#[test]
fn a_read_from_idle_dram() {
    // 2 KiB: 570 cycles, `docs/chip/noc.md` section 3, for both generations within a tenth.
    for chip in [&N150, &P150] {
        let layout = Layout::new(chip);
        let reader = layout.worker(LogicalCore { x: 3, y: 4 }).expect("a core");
        for bank in 0..chip.dram_banks() {
            let cycles = Noc::new(chip).read(0, NocId::Noc0, reader, layout.bank(bank).expect("a bank"), 2048).arrived;
            let aligned = layout.bank(bank).is_some_and(|at| at.y == reader.y);
            assert!(aligned || cycles.abs_diff(570) < 57, "{} bank {bank}: {cycles}", chip.name);
        }
    }
}

#[test]
fn atomics_and_inline_writes_are_one_flit() {
    let mut noc = Noc::new(&N150);
    let word = noc.inline_write(0, NocId::Noc1, node(4, 4), node(4, 2), false);
    assert_eq!((word.sent, word.arrived), (41, 40 + 2 * 10 + 2));
    let mut noc = Noc::new(&N150);
    let atomic = noc.atomic(0, NocId::Noc1, node(4, 4), node(4, 2), false);
    assert_eq!(atomic.arrived, word.arrived + 5);
    assert_eq!(atomic.acknowledged, word.acknowledged + 5);
    assert_eq!(noc.totals(NocId::Noc1).words, 1);
}

#[test]
fn a_core_waits_when_its_request_slots_are_full() {
    let mut noc = Noc::new(&N150);
    let issued: Vec<u64> =
        (0..6).map(|i| noc.write(i, NocId::Noc0, node(1, 1), node(2, 1), 8192, true).issued).collect();
    // 8 KiB leave in 292 cycles; the fifth command waits for the first to be gone.
    assert_eq!(issued, [0, 1, 2, 3, 40 + 292, 40 + 2 * 292]);
}

#[test]
fn the_multicast_rate_and_its_receivers() {
    let mut noc = Noc::new(&N150);
    let corners = (node(1, 1), node(4, 4));
    assert_eq!(noc.rectangle(corners).len(), 16);
    // Across the Ethernet row and the row that is switched off: only cores receive.
    assert_eq!(noc.rectangle((node(1, 5), node(1, 8))), [node(1, 5), node(1, 8)]);
    // Around the edge of the torus, as a rectangle on NoC 1 may be given.
    assert_eq!(noc.rectangle((node(9, 1), node(1, 1))), [node(9, 1), node(1, 1)]);
    let everyone = noc.rectangle(corners);
    let others = &everyone[1..];
    let plain = noc.multicast(0, NocId::Noc0, node(1, 1), others, 8192, false, false);
    // 14 B per cycle for one that reserves its path, 22 for one that has it.
    assert_eq!(plain.sent, 40 + 585);
    assert_eq!(plain.arrived, 40 + 585 + 6 * 10);
    let linked = Noc::new(&N150).multicast(0, NocId::Noc0, node(1, 1), others, 8192, true, false);
    assert_eq!(linked.sent, 40 + 372);
    assert!(plain.acknowledged > plain.arrived);
    // Every receiver has the bytes, the writer has them only with loop-back, and each link carries them once.
    let load = |noc: &Noc, at: Node| noc.interface_load(NocId::Noc0, at).1.bytes;
    assert!(everyone.iter().all(|&at| load(&noc, at) == if at == node(1, 1) { 0 } else { 8192 }));
    assert_eq!(link_bytes(&noc, NocId::Noc0), 8192 * 15);
    assert_eq!(noc.busy_links(NocId::Noc0).count(), 15);
    let mut looped = Noc::new(&N150);
    let posted = looped.multicast(0, NocId::Noc0, node(1, 1), &everyone, 8192, false, true);
    assert_eq!(load(&looped, node(1, 1)), 8192);
    assert_eq!(posted.acknowledged, posted.sent);
    // To nobody: the data leave, and that is all.
    let lost = Noc::new(&N150).multicast(0, NocId::Noc0, node(1, 1), &[], 8192, false, false);
    assert_eq!((lost.arrived, lost.acknowledged), (lost.sent, lost.sent));
}

fn nodes(chip: &ChipSpec) -> impl Iterator<Item = Node> {
    let (columns, rows) = (chip.noc_grid.x, chip.noc_grid.y);
    (0..columns * rows).map(move |i| node(i % columns, i / columns))
}

fn link_bytes(noc: &Noc, network: NocId) -> u64 {
    noc.busy_links(network).map(|(_, load)| load.bytes).sum()
}

#[test]
fn bytes_are_conserved() {
    for chip in [&N150, &P150] {
        let mut noc = Noc::new(chip);
        let mut random = Random::new(7);
        let workers: Vec<Node> = nodes(chip).filter(|&at| noc.layout().kind(at) == NodeKind::Tensix).collect();
        let (mut bytes, mut hops, mut dram) = ([0; 2], [0; 2], [0; 2]);
        for i in 0..2000 {
            let network = NocId::ALL[i % 2];
            let mut pick = || workers[random.below(workers.len() as u32) as usize];
            let (a, mut b) = (pick(), pick());
            let size = u64::from(random.below(9000)) + 1;
            if i % 3 == 0 {
                b = noc.layout().bank(random.below(chip.dram_banks() as u32) as usize).expect("a bank");
                dram[usize::from(i % 5 >= 2)] += size;
            }
            let (from, to) = if i % 5 < 2 { (b, a) } else { (a, b) };
            let now = u64::from(random.below(100_000));
            let done = if i % 5 < 2 {
                noc.read(now, network, a, b, size)
            } else {
                noc.write(now, network, a, b, size, i % 7 == 0)
            };
            assert!(done.issued >= now && done.sent > done.issued && done.arrived >= done.sent, "{done:?}");
            bytes[i % 2] += size;
            hops[i % 2] += size * u64::from(Route::new(network, chip.noc_grid, from, to).hops());
        }
        for network in NocId::ALL {
            assert_eq!(noc.totals(network).bytes, bytes[network as usize]);
            assert_eq!(link_bytes(&noc, network), hops[network as usize]);
            let ends = nodes(chip).map(|at| noc.interface_load(network, at));
            let (out, into) = ends.fold((0, 0), |sum, (out, into)| (sum.0 + out.bytes, sum.1 + into.bytes));
            assert_eq!((out, into), (bytes[network as usize], bytes[network as usize]));
        }
        let loads = (0..chip.dram_banks()).map(|bank| noc.bank_load(bank).expect("a bank"));
        assert_eq!(loads.fold([0; 2], |sum, load| [sum[0] + load.read, sum[1] + load.written]), dram);
        assert_eq!(noc.bank_load(chip.dram_banks()), None);
    }
}

#[test]
fn more_bytes_never_take_less_time() {
    let layout = Layout::new(&P150);
    let (reader, bank) = (node(3, 3), layout.locate(NocCoord { x: 17, y: 14 }).expect("a bank"));
    let times = (1..20_000).step_by(37).map(|bytes| {
        let read = Noc::new(&P150).read(0, NocId::Noc1, reader, bank, bytes).arrived;
        (read, Noc::new(&P150).write(0, NocId::Noc1, reader, bank, bytes, false).acknowledged)
    });
    let times: Vec<_> = times.collect();
    assert!(times.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1));
}

#[test]
fn a_shared_link_is_shared() {
    // Two readers east of one owner on NoC 0: both use its first link, the second waits for the first.
    let mut noc = Noc::new(&N150);
    let first = noc.read(0, NocId::Noc0, node(3, 1), node(1, 1), 8192);
    let alone = Noc::new(&N150).read(0, NocId::Noc0, node(4, 1), node(1, 1), 8192);
    let second = noc.read(0, NocId::Noc0, node(4, 1), node(1, 1), 8192);
    let out = NocParameters::of(N150.arch).tensix_out.cycles(8192);
    assert!(second.arrived >= alone.arrived + out - 64, "{first:?} {second:?} {alone:?}");
    // Networks and opposite directions do not meet.
    assert_eq!(noc.read(0, NocId::Noc1, node(4, 1), node(1, 1), 8192).arrived, alone.arrived);
}

#[test]
fn equal_calls_give_equal_times() {
    let run = || {
        let mut noc = Noc::new(&P150);
        let workers = [node(1, 2), node(5, 5), node(16, 11), node(10, 3)];
        let calls = (0..500u64).map(|i| {
            let (from, to) = (workers[i as usize % 4], workers[(i as usize / 4 + 1) % 4]);
            noc.write(i * 13 % 700, NocId::Noc1, from, to, 64 * (i % 50 + 1), false)
        });
        calls.collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}
