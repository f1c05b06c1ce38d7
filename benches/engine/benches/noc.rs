//! Transfers per second of the model of the networks.

use divan::Bencher;
use divan::counter::ItemsCount;
use tt_memory::chip::{ChipSpec, N150, P150};
use tt_noc::{Noc, NocId, Node, NodeKind};

fn main() {
    divan::main();
}

const CHIPS: [&ChipSpec; 2] = [&N150, &P150];
const TRANSFERS: u64 = 10_000;

/// Every core and every bank of a chip.
fn ends(noc: &Noc) -> (Vec<Node>, Vec<Node>) {
    let layout = noc.layout();
    let (columns, rows) = (layout.noc_grid().x, layout.noc_grid().y);
    let nodes = (0..columns * rows).map(|i| Node { x: i % columns, y: i / columns });
    let cores = nodes.filter(|&node| layout.kind(node) == NodeKind::Tensix).collect();
    (cores, (0..layout.chip().dram_banks()).filter_map(|bank| layout.bank(bank)).collect())
}

/// All cores read 2 KiB tiles of an interleaved tensor, in turn.
#[divan::bench(args = [0, 1])]
fn read_interleaved_tiles(bencher: Bencher, chip: usize) {
    bencher.counter(ItemsCount::new(TRANSFERS)).with_inputs(|| Noc::new(CHIPS[chip])).bench_values(|mut noc| {
        let (cores, banks) = ends(&noc);
        for i in 0..TRANSFERS {
            let (turn, core) = (i / cores.len() as u64, i as usize % cores.len());
            let done = noc.read(turn * 600, NocId::Noc0, cores[core], banks[i as usize % banks.len()], 2048);
            divan::black_box(done);
        }
        noc
    });
}

/// Every core writes to the next one, so that routes are short and links are free.
#[divan::bench(args = [0, 1])]
fn write_to_neighbours(bencher: Bencher, chip: usize) {
    bencher.counter(ItemsCount::new(TRANSFERS)).with_inputs(|| Noc::new(CHIPS[chip])).bench_values(|mut noc| {
        let (cores, _) = ends(&noc);
        for i in 0..TRANSFERS {
            let (turn, core) = (i / cores.len() as u64, i as usize % cores.len());
            let done = noc.write(turn * 100, NocId::Noc1, cores[core], cores[(core + 1) % cores.len()], 2048, false);
            divan::black_box(done);
        }
        noc
    });
}

/// Reads that are asked for ten times as fast as DRAM delivers: long queues everywhere.
#[divan::bench(args = [0, 1])]
fn read_saturated(bencher: Bencher, chip: usize) {
    bencher.counter(ItemsCount::new(TRANSFERS)).with_inputs(|| Noc::new(CHIPS[chip])).bench_values(|mut noc| {
        let (cores, banks) = ends(&noc);
        for i in 0..TRANSFERS {
            let (turn, core) = (i / cores.len() as u64, i as usize % cores.len());
            let done = noc.read(turn * 60, NocId::Noc0, cores[core], banks[i as usize % banks.len()], 2048);
            divan::black_box(done);
        }
        noc
    });
}

/// A core sends a tile to all the others.
#[divan::bench(args = [0, 1])]
fn multicast_to_all(bencher: Bencher, chip: usize) {
    const MULTICASTS: u64 = 100;
    bencher.counter(ItemsCount::new(MULTICASTS)).with_inputs(|| Noc::new(CHIPS[chip])).bench_values(|mut noc| {
        let (cores, _) = ends(&noc);
        for i in 0..MULTICASTS {
            divan::black_box(noc.multicast(i * 200, NocId::Noc0, cores[0], &cores[1..], 2048, false, false));
        }
        noc
    });
}

/// What every run of a program begins with.
#[divan::bench(args = [0, 1])]
fn idle_networks(chip: usize) -> Noc {
    Noc::new(CHIPS[chip])
}
