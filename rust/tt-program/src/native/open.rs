//! L1 that a kernel may use without asking.
//!
//! One byte of bits for each 16 B.
//!
//! A window is opened once everything in it has been checked for this kernel. All of them are closed again by calls
//! that change what may be used, and when the kernel stops, since others run then. What is loaded and stored is noted,
//! and told to the run before anything else happens.

use std::ops::Range;

use tt_riscv::Memory;

/// Bytes for which there is one byte of bits.
pub(super) const UNIT: u32 = 16;
/// It may be loaded, and stored to, as long as its window is open.
const READ: u8 = 1;
const WRITE: u8 = 2;
/// It was loaded, or stored to, and the run does not know yet.
const LOADED: u8 = 4;
const STORED: u8 = 8;
/// It may always be loaded; nobody has to know.
const ALWAYS: u8 = 16;
/// This kernel has stored to it since its window was opened, and may load it.
const OWN: u8 = 32;

/// What is open.
#[derive(Debug)]
pub(super) struct Open {
    bits: Vec<u8>,
    /// Units of open windows.
    windows: Vec<Range<usize>>,
    loaded: Span,
    stored: Span,
}

/// Addresses from the lowest to one past the highest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    start: u32,
    end: u32,
}

const EMPTY: Span = Span { start: u32::MAX, end: 0 };

impl Span {
    #[inline(always)]
    fn add(&mut self, start: u32, bytes: u32) {
        self.start = self.start.min(start);
        self.end = self.end.max(start + bytes);
    }
}

/// Open L1 and its bytes.
pub(super) struct OpenMemory<'a> {
    bits: &'a mut [u8],
    loaded: &'a mut Span,
    stored: &'a mut Span,
    l1: &'a mut [u8],
}

impl Open {
    /// Nothing is open but addresses that can always be read.
    pub(super) fn new(l1_bytes: u32, readable: [Range<u32>; 2]) -> Self {
        let mut bits = vec![0; (l1_bytes / UNIT) as usize];
        for Range { start, end } in readable {
            bits[(start / UNIT) as usize..(end / UNIT) as usize].fill(ALWAYS);
        }
        Self { bits, windows: Vec::new(), loaded: EMPTY, stored: EMPTY }
    }

    /// The open memory in the bytes of a core's L1.
    pub(super) fn memory<'a>(&'a mut self, l1: &'a mut [u8]) -> OpenMemory<'a> {
        OpenMemory { bits: &mut self.bits, loaded: &mut self.loaded, stored: &mut self.stored, l1 }
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

    /// Addresses next to each other that were loaded since they were taken last.
    #[inline]
    pub(super) fn take_loaded(&mut self) -> Option<(u32, u32)> {
        Self::take(&mut self.bits, &mut self.loaded, LOADED)
    }

    /// Addresses next to each other that were stored to since they were taken last; to the word if they all lie in one
    /// unit.
    #[inline]
    pub(super) fn take_stored(&mut self) -> Option<(u32, u32)> {
        let Span { start, end } = self.stored;
        let taken = Self::take(&mut self.bits, &mut self.stored, STORED)?;
        let one = taken.1 - taken.0 == UNIT && taken.0 <= start && end <= taken.1;
        Some(if one { (start & !3, end.next_multiple_of(4)) } else { taken })
    }

    fn take(bits: &mut [u8], span: &mut Span, bit: u8) -> Option<(u32, u32)> {
        let mut units = (span.start / UNIT) as usize..span.end.div_ceil(UNIT) as usize;
        let Some(start) = units.find(|&unit| bits[unit] & bit != 0) else {
            *span = EMPTY;
            return None;
        };
        let mut end = start;
        while bits.get(end).is_some_and(|bits| bits & bit != 0) {
            bits[end] &= !bit;
            end += 1;
        }
        span.start = end as u32 * UNIT;
        Some((start as u32 * UNIT, end as u32 * UNIT))
    }
}

impl Memory for OpenMemory<'_> {
    #[inline(always)]
    fn load<const N: usize>(&mut self, address: u32) -> Option<[u8; N]> {
        let bits = self.bits.get_mut((address / UNIT) as usize)?;
        if *bits & READ != 0 {
            *bits |= LOADED;
            self.loaded.add(address, N as u32);
        } else if *bits & (ALWAYS | OWN) == 0 {
            return None;
        }
        self.l1.get(address as usize..address as usize + N)?.try_into().ok()
    }

    #[inline(always)]
    fn store<const N: usize>(&mut self, address: u32, bytes: [u8; N]) -> bool {
        let Some(bits) = self.bits.get_mut((address / UNIT) as usize).filter(|bits| **bits & WRITE != 0) else {
            return false;
        };
        let Some(target) = self.l1.get_mut(address as usize..address as usize + N) else { return false };
        *bits |= STORED | OWN;
        self.stored.add(address, N as u32);
        target.copy_from_slice(&bytes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_units_of_windows_are_open_and_only_until_they_are_closed() {
        let mut open = Open::new(1024, [64..96, 0..0]);
        let mut l1 = vec![7; 1024];
        assert!(open.open(100, 200, false, 130));
        assert!(!open.open(300, 310, true, 304), "no whole unit");
        assert!(open.open(512, 544, true, 543));
        let readable: Vec<u32> = (0..1024).filter(|&at| open.memory(&mut l1).load::<1>(at).is_some()).collect();
        assert_eq!(readable, (64..96).chain(112..192).collect::<Vec<u32>>());
        let stored: Vec<u32> = (0..1024).step_by(4).filter(|&at| open.memory(&mut l1).store(at, [1; 4])).collect();
        assert_eq!(stored, (512..544).step_by(4).collect::<Vec<u32>>());
        assert_eq!(open.memory(&mut l1).load::<4>(1024), None);
        assert_eq!((open.take_stored(), open.take_stored()), (Some((512, 544)), None));
        assert_eq!(open.memory(&mut l1).load(520), Some([1, 1]), "what it has stored");
        assert_eq!((open.take_loaded(), open.take_loaded()), (Some((112, 192)), None));
        open.close();
        assert!(open.memory(&mut l1).load::<4>(128).is_none() && !open.memory(&mut l1).store(512, [0; 4]));
        assert_eq!(open.memory(&mut l1).load(64), Some([7]));
    }

    #[test]
    fn stores_are_taken_as_ranges_in_the_order_of_their_addresses() {
        let mut open = Open::new(1024, [0..0, 0..0]);
        let mut l1 = vec![0; 1024];
        open.open(0, 1024, true, 0);
        let mut ranges_of = |addresses: &[u32]| {
            for &address in addresses {
                assert!(open.memory(&mut l1).store(address, [1; 2]));
            }
            std::iter::from_fn(|| open.take_stored()).collect::<Vec<_>>()
        };
        assert_eq!(ranges_of(&[1008, 16, 40, 1020, 32, 0]), [(0, 48), (1008, 1024)]);
        assert_eq!(ranges_of(&[38]), [(36, 40)]);
        assert_eq!(ranges_of(&[34, 40]), [(32, 44)]);
    }
}
