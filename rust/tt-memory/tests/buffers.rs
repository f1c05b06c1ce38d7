//! Buffers of a device: addresses, errors, fault injection, life and death.
use tt_memory::chip::{ChipSpec, LogicalCore, N150, N300, P100, P150, P300};
use tt_memory::device::OpenOptions;
use tt_memory::{BufferId, BufferType, Device, MemoryError, Place, Placement};

fn open(chip: &'static ChipSpec) -> Device {
    Device::open(chip, OpenOptions::default()).expect("address space")
}

fn tiles(device: &mut Device, kind: BufferType, pages: u64) -> Result<BufferId, MemoryError> {
    device.allocate_interleaved(kind, 2048, pages, 1)
}

fn address(device: &Device, id: Result<BufferId, MemoryError>) -> u64 {
    device.buffer(id.expect("room")).expect("alive").address()
}

fn core(x: u32, y: u32) -> LogicalCore {
    LogicalCore { x, y }
}

/// (region, page bytes, pages) with the addresses that the official package gives on an n150 and a p150.
const SEQUENCE: [(BufferType, u64, u64, u64, u64); 11] = [
    (BufferType::Dram, 2048, 1, 1_048_640, 1_048_704),
    (BufferType::Dram, 2048, 4, 1_050_688, 1_050_752),
    (BufferType::Dram, 2048, 1024, 1_052_736, 1_052_800),
    (BufferType::Dram, 1088, 4, 1_228_864, 1_314_944),
    (BufferType::Dram, 28, 5, 1_229_952, 1_316_032),
    (BufferType::Dram, 14, 5, 1_229_984, 1_316_096),
    (BufferType::Dram, 3, 1, 1_230_016, 1_316_160),
    (BufferType::L1, 2048, 1, 1_497_088, 1_570_816),
    (BufferType::L1, 2048, 1024, 1_464_320, 1_554_432),
    (BufferType::L1, 14, 5, 1_464_288, 1_554_368),
    (BufferType::L1, 576, 4, 1_463_712, 1_553_792),
];

#[test]
fn addresses_are_those_of_the_official_allocator() {
    let (mut wormhole, mut blackhole) = (open(&N150), open(&P150));
    for (kind, page_bytes, pages, on_n150, on_p150) in SEQUENCE {
        let id = wormhole.allocate_interleaved(kind, page_bytes, pages, 1);
        assert_eq!(address(&wormhole, id), on_n150);
        let id = blackhole.allocate_interleaved(kind, page_bytes, pages, 1);
        assert_eq!(address(&blackhole, id), on_p150);
    }
    assert_eq!(wormhole.lowest_l1_address(), Ok(Some(1_463_712)));
}

#[test]
fn a_freed_hole_is_used_again() {
    let mut device = open(&N150);
    let ids: Vec<BufferId> =
        [1, 4, 1024].into_iter().map(|pages| tiles(&mut device, BufferType::Dram, pages).expect("room")).collect();
    device.deallocate(ids[1]).expect("alive");
    let id = tiles(&mut device, BufferType::Dram, 4);
    assert_eq!(address(&device, id), 1_050_688);
}

#[test]
fn out_of_memory_tells_all_figures_in_the_official_sentence() {
    let mut device = open(&N150);
    tiles(&mut device, BufferType::L1, 64).expect("room");
    let error = tiles(&mut device, BufferType::L1, 64 * 700).expect_err("more than there is");
    assert_eq!(
        error.to_string(),
        "Out of Memory: Not enough space to allocate 91750400 B L1 buffer across 64 banks, where each bank needs to store \
         1433600 B, but bank size is 1393312 B (allocated: 2048 B, free: 1391264 B, largest free block: 1391264 B)."
    );
    assert!(tiles(&mut device, BufferType::L1, 64 * 600).is_ok(), "the device is usable afterwards");
}

#[test]
fn fragmentation_shows_in_the_largest_free_block() {
    let mut device = open(&N150);
    let ids: Vec<BufferId> = (0..7).map(|_| tiles(&mut device, BufferType::L1, 64 * 90).expect("room")).collect();
    for id in ids.iter().step_by(2) {
        device.deallocate(*id).expect("alive");
    }
    let Err(MemoryError::OutOfMemory { largest_free_bytes, free_bytes, bytes_per_bank, .. }) =
        tiles(&mut device, BufferType::L1, 64 * 200)
    else {
        panic!("the holes are too small");
    };
    assert!(free_bytes > bytes_per_bank && largest_free_bytes < bytes_per_bank);
}

#[test]
fn sizes_beyond_any_address_are_refused() {
    let mut device = open(&N150);
    let before = device.state_hash();
    for (page_bytes, pages) in [(1 << 60, 1 << 60), (u64::MAX, 1), (u64::MAX - 31, u64::MAX), (2048, u64::MAX)] {
        let error = device.allocate_interleaved(BufferType::Dram, page_bytes, pages, 1);
        assert!(matches!(error, Err(MemoryError::TooLarge { .. } | MemoryError::OutOfMemory { .. })), "{error:?}");
        let all = [core(0, 0), core(1, 0)];
        let error = device.allocate_sharded(BufferType::L1, page_bytes, (pages, 1), (pages, 3), &all);
        assert!(matches!(error, Err(MemoryError::TooLarge { .. } | MemoryError::OutOfMemory { .. })), "{error:?}");
    }
    assert_eq!(device.state_hash(), before);
}

#[test]
fn empty_buffers_take_nothing() {
    let mut device = open(&N150);
    let id = device.allocate_interleaved(BufferType::Dram, 2048, 0, 1).expect("nothing is always there");
    let buffer = device.buffer(id).expect("alive");
    assert_eq!((buffer.address(), buffer.num_pages(), buffer.bytes_per_bank()), (0, 0, 0));
    assert_eq!(device.write(id, &[], 0), Ok(()));
    assert_eq!(device.read(id, &mut [], 0), Ok(()));
    assert_eq!(device.deallocate(id), Ok(()));
    assert_eq!(device.deallocate(id), Err(MemoryError::DoubleFree { buffer: id }));
    assert!(matches!(device.allocate_interleaved(BufferType::Dram, 0, 3, 1), Err(MemoryError::EmptyPage { pages: 3 })));
}

#[test]
fn what_is_gone_cannot_be_used() {
    let (mut device, mut other) = (open(&N150), open(&N150));
    let id = tiles(&mut device, BufferType::Dram, 4).expect("room");
    let foreign = tiles(&mut other, BufferType::Dram, 4).expect("room");
    assert_eq!(device.deallocate(foreign), Err(MemoryError::OtherDevice { buffer: foreign }));
    assert_eq!(device.write(foreign, &[0; 8192], 2048), Err(MemoryError::OtherDevice { buffer: foreign }));
    assert_eq!(device.deallocate(id), Ok(()));
    assert_eq!(device.deallocate(id), Err(MemoryError::DoubleFree { buffer: id }));
    assert_eq!(device.write(id, &[0; 8192], 2048), Err(MemoryError::Deallocated { buffer: id }));
    assert_eq!(device.access(&[id]).err(), Some(MemoryError::Deallocated { buffer: id }));
    let next = tiles(&mut device, BufferType::Dram, 4).expect("room");
    assert_eq!(
        device.buffer(id).err(),
        Some(MemoryError::Deallocated { buffer: id }),
        "also if the slot has a new owner"
    );
    assert_eq!(device.close(), Ok(()));
    assert_eq!(device.close(), Err(MemoryError::DeviceClosed));
    assert_eq!(device.buffer(next).err(), Some(MemoryError::DeviceClosed));
    assert_eq!(tiles(&mut device, BufferType::Dram, 1), Err(MemoryError::DeviceClosed));
    assert_eq!(device.state_hash(), Err(MemoryError::DeviceClosed));
    assert_eq!(device.allocated_bytes(), 0);
}

#[test]
fn every_allocation_of_a_sequence_can_be_made_to_fail() {
    for k in 1..=SEQUENCE.len() as u64 {
        let mut device = open(&N150);
        let before = device.state_hash();
        device.fail_allocation(Some(k));
        let mut alive = Vec::new();
        let failed = SEQUENCE.iter().position(|&(kind, page_bytes, pages, ..)| {
            device.allocate_interleaved(kind, page_bytes, pages, 1).map(|id| alive.push(id)).is_err()
        });
        assert_eq!(failed, Some(k as usize - 1));
        for id in alive {
            assert_eq!(device.deallocate(id), Ok(()));
        }
        assert_eq!((device.allocated_bytes(), device.state_hash()), (0, before));
        assert!(tiles(&mut device, BufferType::Dram, 1).is_ok(), "only one allocation fails");
    }
    let mut device = open(&N150);
    device.fail_allocation(Some(1));
    let error = tiles(&mut device, BufferType::L1, 3).expect_err("made to fail");
    assert_eq!(
        error.to_string(),
        "Out of Memory: allocation of 6144 B L1 buffer was made to fail (fail_allocation, number 1 since then)."
    );
    device.fail_allocation(Some(1));
    device.fail_allocation(None);
    assert!(tiles(&mut device, BufferType::L1, 3).is_ok());
}

#[test]
fn regions_are_cut_off_at_the_top() {
    let options = OpenOptions {
        l1_small_bytes: 32_769,
        trace_region_bytes: 1000,
        worker_l1_bytes: 1_000_000,
        own_addresses: false,
    };
    let mut device = Device::open(&N150, options).expect("fits");
    let view = |device: &Device, kind| {
        let view = device.memory_view(kind).expect("open");
        (view.base, view.usage.total_bytes)
    };
    assert_eq!(view(&device, BufferType::L1Small), (1_499_136 - 32_800, 32_800));
    assert_eq!(view(&device, BufferType::L1), (1_499_136 - 1_000_000, 1_000_000 - 32_800));
    assert_eq!(view(&device, BufferType::Trace), ((1 << 30) - 1024, 1024));
    assert_eq!(view(&device, BufferType::Dram), (1_048_640, (1 << 30) - 1024 - 1_048_640));
    let id = tiles(&mut device, BufferType::L1, 1);
    assert_eq!(address(&device, id), 1_499_136 - 32_800 - 2048);
    let id = tiles(&mut device, BufferType::L1Small, 1);
    assert_eq!(address(&device, id), 1_499_136 - 2048);
    let id = device.allocate_interleaved(BufferType::Trace, 32, 1, 1);
    assert_eq!(address(&device, id), (1 << 30) - 1024);
}

/// Shards of `pages` pages of 1024 B on some cores of the first row.
fn shards(device: &mut Device, placement: Placement, pages: u64, cores: &[u32]) -> Result<BufferId, MemoryError> {
    let cores: Vec<_> = cores.iter().map(|&x| core(x, 0)).collect();
    let all = pages * cores.len() as u64;
    let plan = device.plan_sharded(BufferType::L1, 1024, (all, 1), (pages, 1), &cores)?;
    device.allocate(plan.placed(placement))
}

fn addresses(device: &Device, id: BufferId) -> Vec<Option<u64>> {
    (0..4).map(|bank| device.buffer(id).expect("alive").address_in(bank)).collect()
}

#[test]
fn each_bank_has_addresses_of_its_own_beside_those_of_all() {
    const TOP: u64 = 1_499_136;
    let each = Placement::EachShard;
    let refused = shards(&mut open(&N150), each, 1, &[0]);
    assert_eq!(refused, Err(MemoryError::OwnAddresses { buffer_type: BufferType::L1 }));

    let options = OpenOptions { own_addresses: true, ..OpenOptions::default() };
    let mut device = Device::open(&N150, options).expect("fits");
    let first = shards(&mut device, each, 2, &[0]).expect("room");
    let second = shards(&mut device, each, 4, &[1]).expect("room");
    assert_eq!(addresses(&device, first), [Some(TOP - 2048), None, None, None]);
    assert_eq!(addresses(&device, second), [None, Some(TOP - 4096), None, None]);
    // Below what any bank has; then only below what bank 3 has.
    let shared = tiles(&mut device, BufferType::L1, 1);
    assert_eq!(address(&device, shared), TOP - 4096 - 2048);
    let alone = shards(&mut device, Placement::LockstepInShards, 1, &[3]).expect("room");
    assert_eq!(addresses(&device, alone), [None, None, None, Some(TOP - 1024)]);
    let third = shards(&mut device, each, 1, &[2, 0, 1]).expect("room");
    let expected = [Some(TOP - 2048 - 1024), Some(TOP - 4096 - 2048 - 1024), Some(TOP - 2048), None];
    assert_eq!(addresses(&device, third), expected);
    assert_eq!(device.buffer(third).expect("alive").address(), TOP - 2048);
    assert_eq!(device.lowest_l1_address(), Ok(Some(TOP - 4096 - 2048 - 1024)));
    assert_eq!(device.buffers().count(), 5);
    let owner = |bank, address| device.owner(Place { dram: false, bank, address }).map(tt_memory::Buffer::id);
    assert_eq!([owner(0, TOP - 1), owner(1, TOP - 1), owner(3, TOP - 1)], [Some(first), Some(second), Some(alone)]);

    // Contents do not mix, whoever is written while the others are read.
    for (number, id) in [(1, first), (2, second), (3, third), (4, alone)] {
        let bytes = device.buffer(id).expect("alive").bytes() as usize;
        device.write(id, &vec![number; bytes], 1024).expect("written");
    }
    for (number, id) in [(1, first), (2, second), (3, third), (4, alone)] {
        let mut bytes = vec![0; device.buffer(id).expect("alive").bytes() as usize];
        device.read(id, &mut bytes, 1024).expect("read");
        assert!(bytes.iter().all(|&byte| byte == number));
    }
    let access = device.access(&[third]).expect("one output");
    assert_eq!(access.page(second, 3).map(|page| page[0]), Ok(2));
    assert_eq!(access.page(alone, 0).map(|page| page[0]), Ok(4));
    assert!((0..3).all(|page| access.claim(third, page).is_ok_and(|page| page.len() == 1024)));
    drop(access);

    // What is freed is used again, in that bank.
    let before = device.allocated_bytes();
    device.deallocate(second).expect("alive");
    assert_eq!(device.allocated_bytes(), before - 4096);
    let again = shards(&mut device, each, 3, &[1]).expect("room");
    // Beside the address of `alone`, which is one of all banks.
    assert_eq!(addresses(&device, again)[1], Some(TOP - 1024 - 3072));
    let full = shards(&mut device, each, 1400, &[0, 1]);
    assert!(matches!(full, Err(MemoryError::OutOfMemory { banks: 2, .. })));
    for id in [first, third, alone, again] {
        device.deallocate(id).expect("alive");
    }
    assert_eq!(device.buffers().count(), 1);
    assert!(shards(&mut device, each, 1350, &[0, 1]).is_ok());
    device.close().expect("open");
}

#[test]
fn regions_that_do_not_fit_are_refused() {
    for (what, options) in [
        ("worker_l1_size", OpenOptions { worker_l1_bytes: 1_463_969, ..OpenOptions::default() }),
        ("l1_small_size", OpenOptions { l1_small_bytes: 1_393_313, ..OpenOptions::default() }),
        ("l1_small_size", OpenOptions { l1_small_bytes: u64::MAX, ..OpenOptions::default() }),
        ("trace_region_size", OpenOptions { trace_region_bytes: 1 << 30, ..OpenOptions::default() }),
    ] {
        let error = Device::open(&N150, options).expect_err("too large");
        assert!(error.to_string().starts_with(&format!("{what} of ")), "{error}");
    }
}

#[test]
fn every_chip_opens_and_spreads_over_its_own_banks() {
    for (chip, dram, l1) in [(&N150, 12, 64), (&N300, 12, 64), (&P100, 7, 110), (&P150, 8, 130), (&P300, 8, 110)] {
        let mut device = open(chip);
        assert_eq!((device.banks(BufferType::Dram), device.banks(BufferType::L1)), (dram, l1));
        let id = tiles(&mut device, BufferType::L1, l1 as u64 + 1).expect("room");
        let last = device.buffer(id).expect("alive").locate(l1).expect("a page");
        assert_eq!((last.bank, last.slot), (0, 1));
    }
}

#[test]
fn shards_lie_where_the_core_list_says() {
    let mut device = open(&N150);
    let cores = [core(1, 0), core(3, 2), core(0, 7)];
    let id = device.allocate_sharded(BufferType::L1, 2048, (4, 5), (4, 2), &cores).expect("room");
    let buffer = device.buffer(id).expect("alive");
    assert_eq!((buffer.num_pages(), buffer.bytes_per_bank(), buffer.page_columns()), (20, 8 * 2048, 5));
    let place = |page| buffer.locate(page).map(|place| (place.bank, place.slot)).expect("a page");
    assert_eq!(place(0), (1, 0));
    assert_eq!(place(1), (1, 1));
    assert_eq!(place(2), (2 * 8 + 3, 0));
    assert_eq!(place(4), (7 * 8, 0));
    assert_eq!(place(19), (7 * 8, 6));
    assert_eq!(buffer.locate(20).err(), Some(MemoryError::PageOutOfRange { buffer: id, page: 20, pages: 20 }));
}

#[test]
fn more_shards_than_cores_go_round() {
    let mut device = open(&N150);
    let id = device.allocate_sharded(BufferType::Dram, 32, (5, 1), (1, 1), &[core(2, 0), core(5, 0)]).expect("room");
    let buffer = device.buffer(id).expect("alive");
    let places: Vec<_> =
        (0..5).filter_map(|page| buffer.locate(page).ok()).map(|place| (place.bank, place.slot)).collect();
    assert_eq!(places, [(2, 0), (5, 0), (2, 1), (5, 1), (2, 2)]);
    assert_eq!(buffer.bytes_per_bank(), 96);
}

#[test]
fn bad_shards_are_refused() {
    let mut device = open(&N150);
    let mut shard = |kind, shard_pages, cores: &[LogicalCore]| {
        device.allocate_sharded(kind, 2048, (4, 4), shard_pages, cores).expect_err("bad").to_string()
    };
    assert_eq!(shard(BufferType::L1, (4, 1), &[core(8, 0)]), "core 8-0 is outside the grid of 8x8");
    assert_eq!(shard(BufferType::Dram, (4, 1), &[core(0, 1)]), "core 0-1 is outside the grid of 12x1");
    assert_eq!(
        shard(BufferType::L1, (4, 1), &[core(1, 1), core(1, 1)]),
        "core 1-1 appears twice in the list of shard cores"
    );
    let text = "a sharded buffer needs cores and shards of at least one page, got";
    assert_eq!(shard(BufferType::L1, (4, 1), &[]), format!("{text} 0 cores and 4 pages"));
    assert_eq!(shard(BufferType::L1, (0, 1), &[core(0, 0)]), format!("{text} 1 cores and 0 pages"));
}

#[test]
fn pages_lie_where_a_list_says() {
    let mut device = open(&N150);
    let cores = [core(1, 0), core(0, 2)];
    let places = [(1, 0), (0, 2), (0, 0), (1, 1)];
    let id = device.allocate_listed(BufferType::L1, 2048, 2, &cores, 3, &places).expect("room");
    let buffer = device.buffer(id).expect("alive");
    let banks = [1, 16];
    for (page, (core, slot)) in places.into_iter().enumerate() {
        let (bank, slot) = (banks[core as usize], slot as usize);
        let place = buffer.locate(page).expect("a page");
        assert_eq!((place.bank, place.slot), (bank, slot));
        assert_eq!(place.address, buffer.address() + slot as u64 * 2048);
        assert_eq!(buffer.page_at(bank, slot), Some(page));
    }
    assert_eq!((buffer.page_at(1, 1), buffer.page_at(0, 0)), (None, None));
    assert_eq!((buffer.bytes_per_bank(), buffer.page_columns()), (3 * 2048, 2));

    let mut refused = |cores: &[LogicalCore], places: &[(u32, u32)]| {
        device.allocate_listed(BufferType::L1, 2048, 1, cores, 3, places).expect_err("bad").to_string()
    };
    let text = "the 2 pages of a buffer need 2 places on 2 cores with 3 places each";
    for places in [[(0, 0), (0, 0)], [(0, 0), (2, 0)], [(0, 0), (0, 3)]] {
        assert_eq!(refused(&cores, &places), text);
    }
    assert_eq!(refused(&[core(8, 0)], &[(0, 0)]), "core 8-0 is outside the grid of 8x8");
}

#[test]
fn addresses_have_owners_while_they_are_allocated() {
    let mut device = open(&N150);
    let first = tiles(&mut device, BufferType::L1, 64).expect("room");
    let second = tiles(&mut device, BufferType::L1, 64).expect("room");
    let owner = |device: &Device, address| device.buffer_at(BufferType::L1, address).map(tt_memory::Buffer::id);
    assert_eq!(owner(&device, 1_499_135), Some(first));
    assert_eq!(owner(&device, 1_497_088), Some(first));
    assert_eq!(owner(&device, 1_497_087), Some(second));
    assert_eq!(owner(&device, 1_495_039), None);
    assert_eq!(device.buffers().map(tt_memory::Buffer::id).collect::<Vec<_>>(), [second, first]);
    device.deallocate(second).expect("alive");
    assert_eq!(owner(&device, 1_497_087), None);
}

#[test]
fn ten_thousand_cycles_end_with_nothing_held() {
    let mut device = open(&N150);
    let before = device.state_hash();
    for cycle in 0..10_000u64 {
        let kind = if cycle % 2 == 0 { BufferType::Dram } else { BufferType::L1 };
        let id = tiles(&mut device, kind, 1 + cycle % 7).expect("room");
        device.deallocate(id).expect("alive");
    }
    assert_eq!((device.allocated_bytes(), device.state_hash()), (0, before));
}
