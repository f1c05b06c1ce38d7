//! Shared code of the tests.
//!
//! A device, and the bytes of its tensors.
#![allow(dead_code, reason = "each test file uses its part")]

use tt_memory::chip::ChipSpec;
use tt_memory::device::OpenOptions;
use tt_memory::{BufferId, BufferType, Device};

/// A fresh device with a chip of Wormhole.
pub fn device() -> Device {
    device_of("n150")
}

/// A fresh device with this chip.
pub fn device_of(chip: &str) -> Device {
    Device::open(ChipSpec::by_name(chip).unwrap(), OpenOptions::default()).unwrap()
}

/// An interleaved buffer with pages of some bytes.
pub fn tensor(device: &mut Device, place: BufferType, page: usize, bytes: &[u8]) -> BufferId {
    let id = device.allocate_interleaved(place, page as u64, (bytes.len() / page) as u64, 1).unwrap();
    device.write(id, bytes, page).unwrap();
    id
}

/// All bytes of a buffer.
pub fn contents(device: &mut Device, id: BufferId) -> Vec<u8> {
    let buffer = device.buffer(id).unwrap();
    let (pages, page) = (buffer.num_pages(), buffer.page_bytes());
    let mut bytes = vec![0; pages * page];
    device.read(id, &mut bytes, page).unwrap();
    bytes
}
