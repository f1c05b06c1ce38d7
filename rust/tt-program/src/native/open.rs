//! L1 that a kernel may use without asking: one byte of bits for each 16 B.
//!
//! A window is opened once everything in it has been checked for this kernel. All of them are closed again by calls
//! that change what may be used, and when the kernel stops, since others run then. Stores are noted, and told to the
//! run before anything else happens.

use std::ops::Range;

use tt_riscv::Memory;

/// Bytes for which there is one byte of bits.
pub(super) const UNIT: u32 = 16;
const READ: u8 = 1;
const WRITE: u8 = 2;
const DIRTY: u8 = 4;

/// What is open.
#[derive(Debug)]
pub(super) struct Open {
    bits: Vec<u8>,
    /// Units of open windows.
    windows: Vec<Range<usize>>,
    /// Units among which the dirty ones are.
    dirty: Dirty,
}

/// The first of some units, and one past the last.
#[derive(Debug, Clone, Copy)]
struct Dirty {
    first: usize,
    end: usize,
}

const CLEAN: Dirty = Dirty { first: usize::MAX, end: 0 };

/// Open L1 and its bytes.
pub(super) struct OpenMemory<'a> {
    bits: &'a mut [u8],
    dirty: &'a mut Dirty,
    l1: &'a mut [u8],
}

impl Open {
    /// Nothing is open but addresses that can always be read.
    pub(super) fn new(l1_bytes: u32, readable: Range<u32>) -> Self {
        let mut bits = vec![0; (l1_bytes / UNIT) as usize];
        bits[(readable.start / UNIT) as usize..(readable.end / UNIT) as usize].fill(READ);
        Self { bits, windows: Vec::new(), dirty: CLEAN }
    }

    /// The open memory in the bytes of a core's L1.
    pub(super) fn memory<'a>(&'a mut self, l1: &'a mut [u8]) -> OpenMemory<'a> {
        OpenMemory { bits: &mut self.bits, dirty: &mut self.dirty, l1 }
    }

    /// Opens the whole units of a range for loads, or for stores; tells whether that of an address is among them.
    pub(super) fn open(&mut self, start: u32, end: u32, write: bool, address: u32) -> bool {
        let units = start.div_ceil(UNIT) as usize..(end / UNIT) as usize;
        let among = units.contains(&((address / UNIT) as usize));
        if among {
            for bits in &mut self.bits[units.clone()] {
                *bits |= if write { WRITE } else { READ };
            }
            self.windows.push(units);
        }
        among
    }

    /// Closes all windows.
    pub(super) fn close(&mut self) {
        for window in self.windows.drain(..) {
            self.bits[window].fill(0);
        }
    }

    /// Addresses next to each other that were stored to since they were taken last.
    pub(super) fn take_dirty(&mut self) -> Option<(u32, u32)> {
        let start = (self.dirty.first..self.dirty.end).find(|&unit| self.bits[unit] & DIRTY != 0);
        let Some(start) = start else {
            self.dirty = CLEAN;
            return None;
        };
        let mut end = start;
        while self.bits.get(end).is_some_and(|bits| bits & DIRTY != 0) {
            self.bits[end] &= !DIRTY;
            end += 1;
        }
        self.dirty.first = end;
        Some((start as u32 * UNIT, end as u32 * UNIT))
    }
}

impl Memory for OpenMemory<'_> {
    #[inline(always)]
    fn load<const N: usize>(&mut self, address: u32) -> Option<[u8; N]> {
        let bits = *self.bits.get((address / UNIT) as usize)?;
        if bits & READ == 0 {
            return None;
        }
        self.l1.get(address as usize..address as usize + N)?.try_into().ok()
    }

    #[inline(always)]
    fn store<const N: usize>(&mut self, address: u32, bytes: [u8; N]) -> bool {
        let unit = (address / UNIT) as usize;
        let Some(bits) = self.bits.get_mut(unit).filter(|bits| **bits & WRITE != 0) else { return false };
        let Some(target) = self.l1.get_mut(address as usize..address as usize + N) else { return false };
        *bits |= DIRTY;
        self.dirty.first = self.dirty.first.min(unit);
        self.dirty.end = self.dirty.end.max(unit + 1);
        target.copy_from_slice(&bytes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_units_of_windows_are_open_and_only_until_they_are_closed() {
        let mut open = Open::new(1024, 64..96);
        let mut l1 = vec![7; 1024];
        assert!(open.open(100, 200, false, 130));
        assert!(!open.open(300, 310, true, 304), "no whole unit");
        assert!(open.open(512, 544, true, 543));
        let readable: Vec<u32> = (0..1024).filter(|&at| open.memory(&mut l1).load::<1>(at).is_some()).collect();
        assert_eq!(readable, (64..96).chain(112..192).collect::<Vec<u32>>());
        let stored: Vec<u32> = (0..1024).step_by(4).filter(|&at| open.memory(&mut l1).store(at, [1; 4])).collect();
        assert_eq!(stored, (512..544).step_by(4).collect::<Vec<u32>>());
        assert_eq!(open.memory(&mut l1).load::<4>(1024), None);
        assert_eq!(open.take_dirty(), Some((512, 544)));
        assert_eq!(open.take_dirty(), None);
        open.close();
        assert!(open.memory(&mut l1).load::<4>(128).is_none() && !open.memory(&mut l1).store(512, [0; 4]));
        assert_eq!(open.memory(&mut l1).load(64), Some([7]));
    }

    #[test]
    fn stores_are_taken_as_ranges_in_the_order_of_their_addresses() {
        let mut open = Open::new(1024, 0..0);
        let mut l1 = vec![0; 1024];
        open.open(0, 1024, true, 0);
        for address in [1008, 16, 40, 1020, 32, 0] {
            assert!(open.memory(&mut l1).store(address, [1; 4]));
        }
        let ranges: Vec<_> = std::iter::from_fn(|| open.take_dirty()).collect();
        assert_eq!(ranges, [(0, 48), (1008, 1024)]);
    }
}
