//! L1 of one bank, beside the list that all banks share.
//!
//! Source: tt-metal, `tt_metal/impl/allocator/allocator.cpp` (per-core allocation).
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::allocator::{Allocator, fit};

/// For each bank of a device: how many banks before it have an address of the buffer, and its own; `None` without one.
pub(crate) type OwnAddresses = Box<[Option<(usize, u64)>]>;

/// Banks and the addresses there.
pub(crate) type Places = Box<[(usize, u64)]>;

/// An allocated range of one bank.
#[derive(Debug, Clone, Copy)]
struct Taken {
    bytes: u64,
    /// Slot of its buffer.
    slot: u32,
}

/// The ranges of each bank that belong to it alone.
#[derive(Debug)]
pub(crate) struct OwnRanges {
    banks: Vec<BTreeMap<u64, Taken>>,
    /// Slots of all buffers that have such ranges.
    slots: BTreeSet<u32>,
}

impl OwnRanges {
    /// No ranges in so many banks.
    pub(crate) fn new(banks: usize) -> Self {
        Self { banks: vec![BTreeMap::new(); banks], slots: BTreeSet::new() }
    }

    /// Returns the ranges of a bank.
    pub(crate) fn of(&self, bank: usize) -> impl Iterator<Item = Range<u64>> + '_ {
        self.banks[bank].iter().map(|(&address, taken)| address..address + taken.bytes)
    }

    /// Returns the ranges of all banks.
    pub(crate) fn all(&self) -> Vec<Range<u64>> {
        (0..self.banks.len()).flat_map(|bank| self.of(bank)).collect()
    }

    /// Takes the highest free address of each bank, which is not in the shared list either.
    ///
    /// # Errors
    /// The bank without room, and its largest free range.
    pub(crate) fn allocate(
        &mut self,
        shared: &Allocator,
        banks: &[usize],
        bytes: u64,
        slot: u32,
    ) -> Result<Places, (usize, u64)> {
        let place = |&bank: &usize| {
            let gaps = shared.gaps(&self.of(bank).collect::<Vec<_>>());
            let largest = gaps.iter().map(|gap| gap.end - gap.start).max().unwrap_or(0);
            fit(&gaps, bytes).map(|address| (bank, address)).ok_or((bank, largest))
        };
        let places = banks.iter().map(place).collect::<Result<Places, _>>()?;
        for &(bank, address) in &places {
            self.banks[bank].insert(address, Taken { bytes, slot });
        }
        self.slots.insert(slot);
        Ok(places)
    }

    /// Frees the ranges of a buffer.
    pub(crate) fn release(&mut self, slot: u32, places: &[(usize, u64)]) {
        self.slots.remove(&slot);
        for &(bank, address) in places {
            let taken = self.banks[bank].remove(&address);
            debug_assert!(taken.is_some_and(|taken| taken.slot == slot), "a living buffer owns its ranges");
        }
    }

    /// The slot of the buffer at an address of a bank.
    pub(crate) fn owner(&self, bank: usize, address: u64) -> Option<u32> {
        let (&start, taken) = self.banks.get(bank)?.range(..=address).next_back()?;
        (address - start < taken.bytes).then_some(taken.slot)
    }

    /// Slots of all buffers with ranges of their own.
    pub(crate) fn slots(&self) -> impl Iterator<Item = &u32> {
        self.slots.iter()
    }

    /// Lowest address in use, of all banks.
    pub(crate) fn lowest(&self) -> Option<u64> {
        self.banks.iter().filter_map(|bank| bank.keys().next().copied()).min()
    }

    /// Bytes in use, of all banks.
    pub(crate) fn bytes(&self) -> u64 {
        self.banks.iter().flat_map(|bank| bank.values()).map(|taken| taken.bytes).sum()
    }
}
