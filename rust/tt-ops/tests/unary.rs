//! Large tensors go through a table of the whole program, small ones tile by tile: same datums, wherever the pages lie.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use tt_cpu::pool;
use tt_formats::DataFormat;
use tt_memory::chip::ChipSpec;
use tt_memory::device::OpenOptions;
use tt_memory::{BufferId, BufferType, Device};
use tt_ops::unary::{UnaryProgram, unary};
use tt_ops::{Chain, ChainStep};
use tt_tensix::fpu::Arch;

const PAGE: usize = 2048;
/// All patterns.
const TILES: usize = 64;

fn tensor(device: &mut Device, place: BufferType, bytes: &[u8]) -> BufferId {
    let id = device.allocate_interleaved(place, PAGE as u64, (bytes.len() / PAGE) as u64, 1).unwrap();
    device.write(id, bytes, PAGE).unwrap();
    id
}

fn contents(device: &mut Device, id: BufferId) -> Vec<u8> {
    let mut bytes = vec![0; device.buffer(id).unwrap().num_pages() * PAGE];
    device.read(id, &mut bytes, PAGE).unwrap();
    bytes
}

/// A chain of functions without parameters, and whether the packer clips below zero.
type Program<'a> = (&'a [(&'a str, &'a str)], bool);

fn run(device: &mut Device, input: BufferId, output: BufferId, (functions, packer_relu): Program<'_>) {
    let step = |&(name, variant): &(&str, &str)| ChainStep {
        name: name.into(),
        variant: variant.into(),
        parameters: Vec::new(),
    };
    let chain = Chain::resolve(&functions.iter().map(step).collect::<Vec<_>>()).unwrap();
    let formats = (DataFormat::Float16B, DataFormat::Float16B);
    let arch = Arch::Wormhole;
    let program = UnaryProgram { formats, dst32: false, tiled: true, packer_relu, precise: false, arch };
    unary(device, input, output, &program, &chain).unwrap();
}

/// Every pattern in the order of its tile, and then again and again in other orders.
fn patterns(pages: usize) -> Vec<u16> {
    let tile = PAGE as u32 / 2;
    (0..pages as u32 * tile).map(|at| (at.wrapping_mul(2 * (at >> 16) + 1) ^ at >> 16) as u16).collect()
}

#[test]
fn large_tensors_have_the_datums_of_small_ones_in_every_place() {
    let programs: [Program<'_>; 4] = [
        (&[("exp", "accurate")], false),
        (&[("recip", "accurate")], false),
        (&[("neg", "default"), ("exp", "accurate")], false),
        (&[("neg", "default")], true),
    ];
    let mut device = Device::open(ChipSpec::by_name("n150").unwrap(), OpenOptions::default()).unwrap();
    let bytes = |halves: &[u16]| halves.iter().flat_map(|half| half.to_le_bytes()).collect::<Vec<u8>>();
    let every = tensor(&mut device, BufferType::Dram, &bytes(&patterns(TILES)));
    for program in programs {
        let output = tensor(&mut device, BufferType::Dram, &vec![0; TILES * PAGE]);
        run(&mut device, every, output, program);
        let results = contents(&mut device, output);
        device.deallocate(output).unwrap();
        let result = |pattern: u16| [results[2 * usize::from(pattern)], results[2 * usize::from(pattern) + 1]];
        // Few for one group of pages; more than a group, not a multiple of the banks, and written past the caches.
        for pages in [300, 2500] {
            let input = patterns(pages);
            let expected: Vec<u8> = input.iter().flat_map(|&pattern| result(pattern)).collect();
            for (place, threads) in [(BufferType::Dram, 1), (BufferType::L1, 3)] {
                pool::set_threads(threads).unwrap();
                let id = tensor(&mut device, BufferType::Dram, &bytes(&input));
                let output = tensor(&mut device, place, &vec![0; pages * PAGE]);
                run(&mut device, id, output, program);
                assert!(contents(&mut device, output) == expected, "{program:?}: {pages} pages to {place:?}");
                run(&mut device, id, id, program);
                assert!(contents(&mut device, id) == expected, "{program:?}: {pages} pages in place");
                device.deallocate(output).unwrap();
                device.deallocate(id).unwrap();
            }
        }
    }
}
