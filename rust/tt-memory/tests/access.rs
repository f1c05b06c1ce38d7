//! Reading and writing: host transfers, operators' pages, written bits, the state hash.
use tt_cpu::pool;
use tt_memory::chip::{LogicalCore, N150, P150};
use tt_memory::device::OpenOptions;
use tt_memory::{Access, BufferId, BufferType, Device, MemoryError};

fn open() -> Device {
    Device::open(&N150, OpenOptions::default()).expect("address space")
}

fn pattern(bytes: usize, seed: usize) -> Vec<u8> {
    (0..bytes).map(|i| ((i * 31 + seed * 101) % 251) as u8).collect()
}

/// Buffers of all kinds with rows of `columns` pages: (buffer, rows, row bytes).
fn zoo(device: &mut Device) -> Vec<(BufferId, usize, usize)> {
    let cores: Vec<LogicalCore> = (0..6).map(|i| LogicalCore { x: i % 3, y: i / 3 }).collect();
    let banks: Vec<LogicalCore> = (0..4).map(|x| LogicalCore { x, y: 0 }).collect();
    let made = [
        (device.allocate_interleaved(BufferType::Dram, 2048, 30, 5), 6, 5 * 2048),
        (device.allocate_interleaved(BufferType::L1, 1088, 200, 1), 200, 1088),
        (device.allocate_interleaved(BufferType::Dram, 14, 7, 1), 7, 14),
        (device.allocate_interleaved(BufferType::L1, 14, 21, 3), 7, 40),
        (device.allocate_sharded(BufferType::L1, 2048, (4, 6), (2, 2), &cores), 4, 6 * 2048),
        (device.allocate_sharded(BufferType::L1, 100, (70, 1), (32, 1), &cores), 70, 100),
        (device.allocate_sharded(BufferType::Dram, 64, (9, 4), (9, 1), &banks), 9, 250),
        (device.allocate_interleaved(BufferType::Dram, 4096, 3000, 3), 1000, 3 * 4096),
    ];
    made.into_iter().map(|(id, rows, row_bytes)| (id.expect("room"), rows, row_bytes)).collect()
}

#[test]
fn what_is_written_is_read_again_whatever_the_placement() {
    let mut device = open();
    let buffers = zoo(&mut device);
    for (seed, &(id, rows, row_bytes)) in buffers.iter().enumerate() {
        assert_eq!(device.write(id, &pattern(rows * row_bytes, seed), row_bytes), Ok(()));
    }
    for (seed, &(id, rows, row_bytes)) in buffers.iter().enumerate() {
        let mut got = vec![0xee; rows * row_bytes];
        assert_eq!(device.read(id, &mut got, row_bytes), Ok(()));
        assert!(got == pattern(rows * row_bytes, seed), "buffer {seed}");
    }
}

#[test]
fn all_pages_at_once_are_the_pages_one_by_one() {
    let mut device = open();
    let buffers = zoo(&mut device);
    for (seed, &(id, rows, row_bytes)) in buffers.iter().enumerate() {
        assert_eq!(device.write(id, &pattern(rows * row_bytes, seed), row_bytes), Ok(()));
    }
    let access = device.access(&[]).expect("open");
    for &(id, ..) in &buffers {
        let input = access.input(id).expect("an input");
        let pages = input.all().expect("written");
        for page in 0..input.buffer().num_pages() {
            assert_eq!(Ok(pages.page(page)), input.page(page));
        }
    }
}

#[test]
fn all_pages_at_once_are_noticed_while_one_is_unwritten() {
    let mut device = open();
    let id = device.allocate_interleaved(BufferType::Dram, 64, 3, 3).expect("room");
    let access = device.access(&[]).expect("open");
    assert!(access.input(id).and_then(|input| input.all()).is_ok());
    let unwritten = MemoryError::NeverWritten { buffer: id, first: 0, unwritten: 3, pages: 3 };
    assert_eq!(device.take_unwritten_read(), Some(unwritten));
}

#[test]
fn threads_do_not_show_in_memory() {
    let hashes = [1, 2, 8].map(|threads| {
        pool::set_threads(threads).expect("in range");
        let mut device = open();
        for (seed, (id, rows, row_bytes)) in zoo(&mut device).into_iter().enumerate() {
            assert_eq!(device.write(id, &pattern(rows * row_bytes, seed), row_bytes), Ok(()));
        }
        device.state_hash()
    });
    assert!(hashes[0].is_ok() && hashes[0] == hashes[1] && hashes[1] == hashes[2]);
}

#[test]
fn the_unfilled_end_of_a_row_is_zero() {
    let mut device = open();
    let id = device.allocate_interleaved(BufferType::L1, 16, 2, 2).expect("room");
    assert_eq!(device.write(id, &[7; 32], 32), Ok(()));
    assert_eq!(device.write(id, &[9; 20], 20), Ok(()));
    let access = device.access(&[]).expect("open");
    assert_eq!(access.page(id, 0), Ok(&[9; 16][..]));
    assert_eq!(access.page(id, 1), Ok(&[9, 9, 9, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..]));
}

#[test]
fn rows_that_do_not_match_the_pages_are_refused() {
    let mut device = open();
    let id = device.allocate_interleaved(BufferType::L1, 16, 6, 2).expect("room");
    for (bytes, row_bytes) in [(95, 32), (96, 33), (96, 16), (96, 0), (48, 16), (0, 0), (128, 32), (96, usize::MAX)] {
        let refused = device.write(id, &vec![0; bytes], row_bytes);
        assert!(matches!(refused, Err(MemoryError::TransferShape { .. })), "{bytes} {row_bytes}");
        assert_eq!(device.read(id, &mut vec![0; bytes], row_bytes), refused);
    }
    assert_eq!(device.write(id, &[0; 96], 32), Ok(()));
    assert_eq!(device.write(id, &[0; 51], 17), Ok(()));
}

#[test]
fn unwritten_pages_are_noticed_and_can_be_tolerated() {
    let mut device = open();
    let id = device.allocate_interleaved(BufferType::Dram, 2048, 5, 1).expect("room");
    {
        let access = device.access(&[id]).expect("alive");
        access.claim(id, 0).expect("free").fill(3);
        access.claim(id, 2).expect("free").fill(4);
    }
    let mut got = vec![0xee; 5 * 2048];
    let unwritten = MemoryError::NeverWritten { buffer: id, first: 1, unwritten: 3, pages: 5 };
    assert_eq!(device.read(id, &mut got, 2048), Err(unwritten.clone()));
    assert_eq!((got[0], got[2048], got[4096]), (3, 0, 4), "the bytes are there all the same");
    assert_eq!(device.buffer(id).map(|buffer| buffer.require_written(0)), Ok(Err(unwritten)));
    assert_eq!(device.write(id, &got, 2048), Ok(()));
    assert_eq!(device.read(id, &mut got, 2048), Ok(()));
    // A new owner of the same bytes starts unwritten.
    assert_eq!(device.deallocate(id), Ok(()));
    let next = device.allocate_interleaved(BufferType::Dram, 2048, 5, 1).expect("room");
    assert!((0..5).all(|page| !device.buffer(next).expect("alive").is_written(0, page)));
}

#[test]
fn the_first_read_of_an_unwritten_page_is_noticed_once_while_the_device_is_watched() {
    let mut device = open();
    let id = device.allocate_interleaved(BufferType::L1, 64, 3, 1).expect("room");
    device.access(&[id]).expect("alive").claim(id, 1).expect("free").fill(7);
    let unwritten = MemoryError::NeverWritten { buffer: id, first: 0, unwritten: 2, pages: 3 };
    let read = |device: &mut Device, page| device.access(&[]).expect("alive").page(id, page).map(<[u8]>::to_vec);
    device.set_watched(false);
    assert_eq!(read(&mut device, 0), Ok(vec![0; 64]));
    device.set_watched(true);
    assert_eq!(read(&mut device, 1), Ok(vec![7; 64]));
    assert_eq!(device.take_unwritten_read(), None);
    assert_eq!(read(&mut device, 0), Ok(vec![0; 64]));
    assert_eq!(device.take_unwritten_read(), Some(unwritten));
    assert_eq!(read(&mut device, 2), Ok(vec![0; 64]));
    assert_eq!(device.take_unwritten_read(), None);
}

#[test]
fn an_operator_reads_inputs_and_claims_outputs_on_all_threads() {
    let mut device = open();
    let input = device.allocate_interleaved(BufferType::Dram, 2048, 500, 1).expect("room");
    let output = device.allocate_interleaved(BufferType::L1, 2048, 500, 1).expect("room");
    device.write(input, &pattern(500 * 2048, 1), 2048).expect("fits");
    let access = device.access(&[output]).expect("alive");
    pool::for_each(500, |page| {
        let target = access.claim(output, page).expect("claimed once");
        for (out, byte) in target.iter_mut().zip(access.page(input, page).expect("in range")) {
            *out = byte ^ 0xff;
        }
    });
    assert_eq!(access.claim(output, 7).err(), Some(MemoryError::ClaimedTwice { buffer: output, page: 7 }));
    let mut got = vec![0; 500 * 2048];
    device.read(output, &mut got, 2048).expect("all written");
    assert!(got.iter().zip(pattern(500 * 2048, 1)).all(|(out, byte)| *out == byte ^ 0xff));
}

#[test]
fn runs_of_pages_are_the_pages_one_by_one() {
    let mut device = open();
    let buffers = zoo(&mut device);
    let outputs: Vec<BufferId> = buffers.iter().map(|&(id, ..)| id).collect();
    let counts: Vec<usize> = outputs.iter().map(|&id| device.buffer(id).expect("alive").num_pages()).collect();
    {
        let access = device.access(&outputs).expect("alive");
        for (&id, &count) in outputs.iter().zip(&counts) {
            let output = access.output(id).expect("an output");
            let (mut first, mut length) = (0, 0);
            while first < count {
                let pages = first..count.min(first + length);
                let run: Vec<&mut [u8]> = output.claim_run(pages.clone()).expect("free").collect();
                assert_eq!(run.len(), pages.len());
                for (page, bytes) in pages.clone().zip(run) {
                    let pattern = pattern(bytes.len(), page);
                    bytes.copy_from_slice(&pattern);
                }
                (first, length) = (pages.end, length * 2 + 1);
            }
            let beyond = MemoryError::PageOutOfRange { buffer: id, page: count, pages: count };
            assert_eq!(output.claim_run(0..count + 1).map(Iterator::count), Err(beyond));
            let twice = MemoryError::ClaimedTwice { buffer: id, page: count - 1 };
            assert_eq!(output.claim_run(count - 1..count).map(Iterator::count), Err(twice));
        }
    }
    let access = device.access(&[]).expect("alive");
    for (&id, &count) in outputs.iter().zip(&counts) {
        for page in 0..count {
            let bytes = access.page(id, page).expect("marked as written");
            assert!(bytes == pattern(bytes.len(), page), "page {page}");
        }
        let pages = access.input(id).expect("an input").all().expect("all written");
        for (first, difference) in [(0, 1), (count - 1, 5), (1 % count, 0), (2 % count, 11), (0, 12), (3 % count, 40)] {
            let numbers = (0..20).map(|turn| first + turn * difference).take_while(|&page| page < count);
            for (page, bytes) in numbers.zip(pages.every(first, difference)) {
                assert!(std::ptr::eq(bytes, pages.page(page)), "page {page}, from {first} by {difference}");
            }
        }
    }
}

#[test]
fn joined_pages_are_the_pages_one_by_one() {
    let mut device = open();
    let mut buffers: Vec<BufferId> = zoo(&mut device).iter().map(|&(id, ..)| id).collect();
    for (page_bytes, pages) in [(2, 1), (2, 11), (4, 500), (6, 37)] {
        buffers.push(device.allocate_interleaved(BufferType::Dram, page_bytes, pages, 1).expect("room"));
    }
    for id in buffers {
        let (count, bytes) = {
            let buffer = device.buffer(id).expect("alive");
            (buffer.num_pages(), buffer.page_bytes())
        };
        let all = pattern(count * bytes, 3);
        {
            let access = device.access(&[id]).expect("alive");
            let output = access.output(id).expect("an output");
            let (mut first, mut length) = (0, 1);
            while first < count {
                let pages = first..count.min(first + length);
                let mut joined = output.claim_joined(pages.clone()).expect("free");
                let part = &all[pages.start * bytes..pages.end * bytes];
                joined.write(part);
                let mut back = vec![0; part.len()];
                joined.read(&mut back);
                assert!(back == part, "pages {pages:?}");
                (first, length) = (pages.end, length * 2 + 1);
            }
        }
        let access = device.access(&[]).expect("alive");
        let pages = access.input(id).expect("an input").all().expect("all written");
        for page in 0..count {
            assert!(pages.page(page) == &all[page * bytes..(page + 1) * bytes], "page {page}");
        }
        for range in [0..count, count / 3..count, count - 1..count] {
            let mut got = vec![0; range.len() * bytes];
            pages.read(range.clone(), &mut got);
            assert!(got == all[range.start * bytes..range.end * bytes], "pages {range:?}");
            // The beginning of each page.
            let mut heads = vec![0; range.len()];
            pages.read(range.clone(), &mut heads);
            assert!(heads.iter().zip(range).all(|(&head, page)| head == all[page * bytes]));
        }
    }
}

#[test]
fn banks_of_pages_without_gaps_are_the_pages_one_by_one() {
    let mut device = open();
    let buffers = zoo(&mut device);
    // So that there are a few, and many, in a bank.
    let ends = |count: usize| [0, 3, 40, count].map(|end| end.min(count));
    let mut gapless = 0;
    for &(id, ..) in &buffers {
        let count = device.buffer(id).expect("alive").num_pages();
        let access = device.access(&[id]).expect("alive");
        let output = access.output(id).expect("an output");
        let Some((banks, page_bytes)) = output.gapless() else { continue };
        gapless += 1;
        for range in ends(count).windows(2) {
            let pages = range[0]..range[1];
            // Pages of a bank are as many apart as there are banks.
            for (bank, run) in output.claim_banks(pages.clone()).expect("free").into_iter().enumerate() {
                for (page, bytes) in (pages.start + bank..).step_by(banks).zip(run.chunks_exact_mut(page_bytes)) {
                    bytes.copy_from_slice(&pattern(page_bytes, page));
                }
            }
        }
        let twice = MemoryError::ClaimedTwice { buffer: id, page: 0 };
        assert_eq!(output.claim_banks(0..count).err(), Some(twice));
        drop(access);
        let access = device.access(&[]).expect("alive");
        let source = access.input(id).expect("an input").all().expect("all written");
        assert_eq!(source.gapless(), Some((banks, page_bytes)));
        for range in ends(count).windows(2) {
            let (pages, mut seen) = (range[0]..range[1], 0);
            for (bank, run) in source.banks(pages.clone()).enumerate() {
                for (page, bytes) in (pages.start + bank..).step_by(banks).zip(run.chunks_exact(page_bytes)) {
                    assert!(bytes == pattern(page_bytes, page) && bytes == source.page(page), "page {page}");
                    seen += 1;
                }
            }
            assert_eq!(seen, pages.len());
        }
    }
    assert_eq!(gapless, 3, "interleaved pages of whole lines");
}

#[test]
fn an_operator_in_place_sees_the_old_contents() {
    let mut device = open();
    let id = device.allocate_interleaved(BufferType::L1, 32, 3, 1).expect("room");
    device.write(id, &pattern(96, 5), 32).expect("fits");
    {
        let access = device.access(&[id]).expect("alive");
        for page in 0..3 {
            access.claim(id, page).expect("free").iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
        }
    }
    let mut got = vec![0; 96];
    device.read(id, &mut got, 32).expect("written");
    assert!(got.iter().zip(pattern(96, 5)).all(|(out, byte)| *out == byte.wrapping_add(1)));
}

#[test]
fn roles_are_kept_apart() {
    let mut device = open();
    let input = device.allocate_interleaved(BufferType::Dram, 2048, 2, 1).expect("room");
    let output = device.allocate_interleaved(BufferType::Dram, 2048, 2, 1).expect("room");
    let twice = device.access(&[output, output]).err();
    assert_eq!(twice, Some(MemoryError::Role { buffer: output, output: true }));
    let access: Access<'_> = device.access(&[output]).expect("alive");
    assert_eq!(access.claim(input, 0).err(), Some(MemoryError::Role { buffer: input, output: false }));
    assert_eq!(access.page(output, 0).err(), Some(MemoryError::Role { buffer: output, output: true }));
    let beyond = |buffer| Some(MemoryError::PageOutOfRange { buffer, page: 2, pages: 2 });
    assert_eq!(access.page(input, 2).err(), beyond(input));
    assert_eq!(access.claim(output, 2).err(), beyond(output));
}

#[test]
fn several_outputs_of_both_kinds_are_claimed_apart() {
    let mut device = Device::open(&P150, OpenOptions::default()).expect("address space");
    let kinds = [BufferType::Dram, BufferType::L1, BufferType::Dram, BufferType::L1];
    let outputs = kinds.map(|kind| device.allocate_interleaved(kind, 64, 9, 1).expect("room"));
    {
        let access = device.access(&outputs).expect("alive");
        for (value, &id) in outputs.iter().enumerate() {
            (0..9).for_each(|page| access.claim(id, page).expect("free").fill(value as u8));
        }
    }
    for (value, &id) in outputs.iter().enumerate() {
        let mut got = vec![0xee; 9 * 64];
        device.read(id, &mut got, 64).expect("written");
        assert!(got.iter().all(|&byte| usize::from(byte) == value));
    }
}

#[test]
fn the_state_hash_sees_contents_blocks_and_marks_but_not_names() {
    let mut device = open();
    let empty = device.state_hash();
    let id = device.allocate_interleaved(BufferType::Dram, 32, 2, 1).expect("room");
    let allocated = device.state_hash();
    device.write(id, &[0; 64], 32).expect("fits");
    let zeros = device.state_hash();
    device.write(id, &pattern(64, 1), 32).expect("fits");
    let filled = device.state_hash();
    let all = [&empty, &allocated, &zeros, &filled];
    assert!((0..4).all(|i| (0..i).all(|j| all[i] != all[j])), "{all:?}");
    device.deallocate(id).expect("alive");
    assert_eq!(device.state_hash(), empty);
    let again = device.allocate_interleaved(BufferType::Dram, 32, 2, 1).expect("room");
    device.write(again, &pattern(64, 1), 32).expect("fits");
    assert_eq!(device.state_hash(), filled);
}
