//! Which accesses are ordered: vector clocks per kernel, and who wrote each byte last.
//!
//! A kernel's vector says up to which point it knows of every other kernel. Pages of CBs and semaphores carry the vector
//! of whoever pushed, popped or changed them to whoever waits for that. Bytes that another kernel wrote may be touched only
//! if that write is in the past of one's own vector; otherwise the result depends on luck, even if the value is right
//! this time. Words that are polled are treated as semaphores, so flags of any kind order what is around them.

use std::collections::BTreeMap;

use tt_memory::Place;

use crate::error::What;
use crate::run::Run;

/// A point in the life of each kernel.
pub(crate) type Vector = Vec<u32>;

/// Up to so many bytes a transfer may be a flag rather than data.
const FLAG_BYTES: u32 = 16;

/// The last writer of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Write {
    end: u64,
    kernel: u32,
    epoch: u32,
}

/// Ranges of one bank, by their first byte; they do not overlap.
type Ranges = BTreeMap<u64, Write>;

/// What orders the kernels of a run.
#[derive(Debug)]
pub(crate) struct Order {
    vectors: Vec<Vector>,
    /// Vectors that words of L1 carry: L1 bank and address.
    words: BTreeMap<(usize, u32), Vector>,
    dram: Vec<Ranges>,
    l1: Vec<Ranges>,
}

impl Order {
    pub(crate) fn new(kernels: usize, dram_banks: usize, l1_banks: usize) -> Self {
        let vector = |own: usize| (0..kernels).map(|kernel| u32::from(kernel == own)).collect();
        Self {
            vectors: (0..kernels).map(vector).collect(),
            words: BTreeMap::new(),
            dram: vec![Ranges::new(); dram_banks],
            l1: vec![Ranges::new(); l1_banks],
        }
    }

    /// What `kernel` has done so far becomes part of what `carrier` knows.
    pub(crate) fn release(&mut self, kernel: usize, carrier: &mut Vector) {
        let own = &mut self.vectors[kernel];
        join(carrier, own);
        own[kernel] += 1;
    }

    /// `kernel` learns what `carrier` knows.
    pub(crate) fn acquire(&mut self, kernel: usize, carrier: &[u32]) {
        join(&mut self.vectors[kernel], carrier);
    }

    /// [`Order::release`] to a word of L1.
    pub(crate) fn release_word(&mut self, kernel: usize, word: (usize, u32)) {
        let mut carrier = self.words.remove(&word).unwrap_or_default();
        self.release(kernel, &mut carrier);
        self.words.insert(word, carrier);
    }

    /// [`Order::acquire`] from the words of a range of L1, and from the last writers of its bytes.
    pub(crate) fn acquire_flag(&mut self, kernel: usize, bank: usize, start: u32, end: u32) {
        let words = self.words.range((bank, start)..(bank, end));
        for (_, carrier) in words {
            join(&mut self.vectors[kernel], carrier);
        }
        let writers: Vec<usize> =
            overlaps(&self.l1[bank], start.into(), end.into()).map(|w| w.kernel as usize).collect();
        for writer in writers.into_iter().filter(|&writer| writer != kernel) {
            let carrier = self.vectors[writer].clone();
            join(&mut self.vectors[kernel], &carrier);
        }
    }

    /// The kernel whose write to a range `kernel` does not know of.
    fn unknown_writer(&self, kernel: usize, place: Place, end: u64) -> Option<usize> {
        let ranges = if place.dram { &self.dram[place.bank] } else { &self.l1[place.bank] };
        let known = &self.vectors[kernel];
        let mut writes = overlaps(ranges, place.address, end);
        writes.find(|write| write.epoch > known[write.kernel as usize]).map(|write| write.kernel as usize)
    }

    /// `kernel` has written a range.
    fn record(&mut self, kernel: usize, place: Place, end: u64) {
        let write = Write { end, kernel: kernel as u32, epoch: self.vectors[kernel][kernel] };
        let ranges = if place.dram { &mut self.dram[place.bank] } else { &mut self.l1[place.bank] };
        if let Some(same) = ranges.get_mut(&place.address)
            && same.end == end
        {
            *same = write;
            return;
        }
        cut(ranges, place.address, end);
        ranges.insert(place.address, write);
    }
}

/// The larger of each pair.
fn join(into: &mut Vector, other: &[u32]) {
    if into.is_empty() {
        into.extend_from_slice(other);
        return;
    }
    for (mine, &other) in into.iter_mut().zip(other) {
        *mine = (*mine).max(other);
    }
}

/// Writes that touch a range.
fn overlaps(ranges: &Ranges, start: u64, end: u64) -> impl Iterator<Item = Write> + '_ {
    let before = ranges.range(..start).next_back().map(|(_, write)| *write).filter(move |write| write.end > start);
    before.into_iter().chain(ranges.range(start..end).map(|(_, write)| *write))
}

/// Takes a range out of all writes.
fn cut(ranges: &mut Ranges, start: u64, end: u64) {
    if let Some((_, write)) = ranges.range_mut(..start).next_back()
        && write.end > start
    {
        let rest = *write;
        write.end = start;
        if rest.end > end {
            ranges.insert(end, rest);
        }
    }
    while let Some((&first, &write)) = ranges.range(start..end).next() {
        ranges.remove(&first);
        if write.end > end {
            ranges.insert(end, write);
        }
    }
}

impl Run {
    /// The running kernel reads bytes: their last writer must be known to it.
    pub(crate) fn order_read(&mut self, place: Place, bytes: u32) -> Result<(), What> {
        let kernel = self.current;
        let Some(order) = &mut self.order else { return Ok(()) };
        let end = place.address + u64::from(bytes);
        if bytes <= FLAG_BYTES && !place.dram {
            order.acquire_flag(kernel, place.bank, place.address as u32, end as u32);
            return Ok(());
        }
        match order.unknown_writer(kernel, place, end) {
            Some(writer) => Err(self.unordered(place, bytes, writer)),
            None => Ok(()),
        }
    }

    /// The running kernel writes bytes: likewise, and from now on it is their last writer.
    pub(crate) fn order_write(&mut self, place: Place, bytes: u32) -> Result<(), What> {
        let kernel = self.current;
        let Some(order) = &mut self.order else { return Ok(()) };
        let end = place.address + u64::from(bytes);
        if bytes <= FLAG_BYTES && !place.dram {
            order.release_word(kernel, (place.bank, place.address as u32));
        } else if let Some(writer) = order.unknown_writer(kernel, place, end) {
            return Err(self.unordered(place, bytes, writer));
        }
        if let Some(order) = &mut self.order {
            order.record(kernel, place, end);
        }
        Ok(())
    }

    /// A semaphore of some core, or another word, was changed by the running kernel.
    pub(crate) fn order_release_word(&mut self, bank: usize, address: u32) {
        if let Some(order) = &mut self.order {
            order.release_word(self.current, (bank, address));
        }
    }

    /// The running kernel has seen a word of its own L1.
    pub(crate) fn order_acquire_word(&mut self, bank: usize, address: u32) {
        if let Some(order) = &mut self.order {
            order.acquire_flag(self.current, bank, address, address + 4);
        }
    }

    #[cold]
    fn unordered(&self, place: Place, bytes: u32, writer: usize) -> What {
        let writer = &self.kernels[writer];
        What::Unordered {
            place: self.place_name(place),
            address: place.address,
            bytes: bytes.into(),
            writer: writer.describe(),
            core: format!("core {}-{}", writer.logical.x, writer.logical.y),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(address: u64) -> Place {
        Place { dram: false, bank: 0, address }
    }

    #[test]
    fn a_write_is_known_after_release_and_acquire_only() {
        let mut order = Order::new(2, 1, 1);
        order.record(0, place(100), 200);
        assert_eq!(order.unknown_writer(1, place(150), 160), Some(0));
        assert_eq!(order.unknown_writer(0, place(150), 160), None);
        let mut carrier = Vector::new();
        order.release(0, &mut carrier);
        order.acquire(1, &carrier);
        assert_eq!(order.unknown_writer(1, place(150), 160), None);
        order.record(0, place(100), 200);
        assert_eq!(order.unknown_writer(1, place(199), 300), Some(0));
        assert_eq!(order.unknown_writer(1, place(200), 300), None);
    }

    #[test]
    fn every_byte_belongs_to_its_last_writer() {
        let mut order = Order::new(3, 1, 1);
        let mut owner = vec![None; 256];
        let writes = [(0, 0, 256), (1, 10, 20), (2, 15, 40), (0, 12, 13), (1, 0, 5), (2, 39, 200), (1, 30, 220)];
        for (kernel, start, end) in writes {
            order.record(kernel, place(start), end);
            owner[start as usize..end as usize].fill(Some(kernel));
            for byte in 0..256 {
                let found: Vec<usize> = overlaps(&order.l1[0], byte, byte + 1).map(|w| w.kernel as usize).collect();
                assert_eq!(found.first().copied(), owner[byte as usize], "byte {byte}");
                assert!(found.len() <= 1);
            }
        }
    }
}
