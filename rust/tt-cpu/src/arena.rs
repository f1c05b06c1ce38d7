//! Memory of a device.
//!
//! Reserved in full, touched on use, shared out to worker threads without locks.
//!
//! An [`Arena`] is `banks` times `bank_bytes` of zeros. It is virtual memory of the host, so a device of many GiB costs
//! nothing until its bytes are used. Banks work in lock step: a buffer has the same address in all of them.
//!
//! While an operator runs, [`Arena::split`] divides the arena into what may be read and some [`Stripe`]s that may be
//! written. Each unit (page) of a stripe is handed out once, as an exclusive slice, to whichever thread asks first; its
//! old contents are in it, which is what an in-place operator reads. Everything outside the stripes is read-only for
//! that time, so readers and writers on any number of threads cannot meet. This file holds the proof in its `SAFETY`
//! notes; users need none.
use std::fs::File;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use memmap2::{MmapMut, MmapOptions};

use crate::bits::masks;

/// The reason for which the arena rejected a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ArenaError {
    /// The host would not reserve the address space.
    #[error("the host refused to reserve {bytes} B of address space (os error {os_error})")]
    Reserve {
        /// Bytes asked for.
        bytes: u64,
        /// `errno`, or 0 if there was none.
        os_error: i32,
    },
    /// The range does not lie inside one bank.
    #[error("bytes {offset}..{} of bank {bank} are outside the {banks} banks of {bank_bytes} B", offset + len)]
    OutOfRange {
        /// Bank index asked for.
        bank: usize,
        /// First byte in the bank.
        offset: usize,
        /// Bytes asked for.
        len: usize,
        /// Banks of the arena.
        banks: usize,
        /// Bytes of each.
        bank_bytes: usize,
    },
    /// A read of bytes that are being written.
    #[error("bytes {offset}..{} of bank {bank} are being written by the same operation", offset + len)]
    BeingWritten {
        /// Bank index.
        bank: usize,
        /// First byte in the bank.
        offset: usize,
        /// Bytes asked for.
        len: usize,
    },
    /// A unit was claimed a second time, or does not exist.
    #[error("unit {unit} of bank {bank} in write stripe {stripe} was already claimed or does not exist")]
    Claim {
        /// Index of the stripe in the call of `split`.
        stripe: usize,
        /// Bank index.
        bank: usize,
        /// Unit index inside the stripe.
        unit: usize,
    },
    /// Two stripes share bytes, or a stripe has no unit size.
    #[error("write stripe {stripe} overlaps another one, leaves the bank, or has units of 0 B")]
    Stripe {
        /// Index of the stripe in the call of `split`.
        stripe: usize,
    },
}

/// A lock-step range.
///
/// The same bytes of every bank, or bytes of one bank, cut into units that are claimed one at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stripe {
    /// The bank, `None` for all of them.
    pub bank: Option<usize>,
    /// First byte, counted from the start of each bank.
    pub offset_bytes: usize,
    /// Length in each bank.
    pub len_bytes: usize,
    /// Size of a unit, the page stride of a buffer.
    ///
    /// The last unit may be cut short.
    pub unit_bytes: usize,
}

impl Stripe {
    fn range(&self) -> Range<usize> {
        self.offset_bytes..self.offset_bytes + self.len_bytes
    }

    fn units(&self) -> usize {
        self.len_bytes.div_ceil(self.unit_bytes)
    }

    fn place(&self) -> Written {
        Written { range: self.range(), bank: self.bank }
    }
}

/// Reserved zero memory, laid out as equal banks.
#[derive(Debug)]
pub struct Arena {
    map: Option<MmapMut>,
    shape: Shape,
    /// Other processes have the same memory.
    shared: bool,
}

#[derive(Debug, Clone, Copy)]
struct Shape {
    banks: usize,
    bank_bytes: usize,
}

/// Bytes of a large page of the host.
#[cfg(target_os = "linux")]
const LARGE_PAGE: usize = 2 << 20;

/// Bytes of a page of the host; a multiple of it where pages are smaller.
#[cfg(target_os = "linux")]
const HOST_PAGE: usize = 1 << 16;

/// Arenas in a file begin at multiples of this; a multiple of the host's pages.
const FILE_BLOCK: u64 = 1 << 16;

/// Distance of banks in host memory, beyond their size. Banks have round sizes; without the shift, pages of one tensor
/// would fall into the same sets of the host's caches.
const BANK_SHIFT: usize = 17 * 4096 + 9 * 64;

impl Shape {
    /// Position of a range in the whole mapping.
    fn locate(self, bank: usize, offset: usize, len: usize) -> Result<Range<usize>, ArenaError> {
        let inside = bank < self.banks && offset.checked_add(len).is_some_and(|end| end <= self.bank_bytes);
        if !inside {
            let Self { banks, bank_bytes } = self;
            return Err(ArenaError::OutOfRange { bank, offset, len, banks, bank_bytes });
        }
        let start = bank * self.stride() + offset;
        Ok(start..start + len)
    }

    fn stride(self) -> usize {
        self.bank_bytes.saturating_add(BANK_SHIFT)
    }

    /// Bytes of all banks; none if the host has no such numbers.
    fn bytes(self) -> Result<usize, ArenaError> {
        let bytes = self.banks.checked_mul(self.stride()).filter(|&bytes| isize::try_from(bytes).is_ok());
        bytes.ok_or(ArenaError::Reserve { bytes: u64::MAX, os_error: 0 })
    }
}

impl Arena {
    /// Reserves `banks * bank_bytes` zero bytes. None is resident before it is touched.
    ///
    /// # Errors
    /// [`ArenaError::Reserve`] if the host has no such address range left or forbids overcommitment.
    pub fn reserve(banks: usize, bank_bytes: usize) -> Result<Self, ArenaError> {
        let shape = Shape { banks, bank_bytes };
        let bytes = shape.bytes()?;
        if banks == 0 || bank_bytes == 0 {
            return Ok(Self { map: None, shape, shared: false });
        }
        let map = MmapOptions::new().len(bytes).no_reserve_swap().map_anon().map_err(|error| refused(bytes, &error))?;
        // A small tensor touches a page in each of up to 130 banks; huge pages would make that 260 MiB. The advice is
        // about host memory only: where it is not understood, nothing is lost but memory.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::NoHugePage);
        Ok(Self { map: Some(map), shape, shared: false })
    }

    /// Maps `banks * bank_bytes` bytes of a file that several processes have.
    ///
    /// Whoever has it in common sees what the others wrote. They agree among themselves who may write when: while one of
    /// them runs an operation, no other one writes the bytes that it reads or writes.
    ///
    /// # Errors
    /// [`ArenaError::Reserve`] if the host refuses, or the file is too short.
    pub fn map(file: &File, start: u64, banks: usize, bank_bytes: usize) -> Result<Self, ArenaError> {
        let shape = Shape { banks, bank_bytes };
        let bytes = shape.bytes()?;
        let there = file.metadata().map_err(|error| refused(bytes, &error))?.len();
        if there < start.saturating_add(bytes as u64) || banks == 0 || bank_bytes == 0 {
            return Err(ArenaError::Reserve { bytes: bytes as u64, os_error: 0 });
        }
        // SAFETY: the file has no name, is never made shorter, and only processes of one job have it. As documented they
        // write by turns, with a barrier in between, so the bytes of a borrow do not change while it lives.
        let map = unsafe { MmapOptions::new().offset(start).len(bytes).map_mut(file) };
        Ok(Self { map: Some(map.map_err(|error| refused(bytes, &error))?), shape, shared: true })
    }

    /// Bytes that [`Arena::map`] needs in a file.
    ///
    /// The next arena may begin after them.
    ///
    /// # Errors
    /// [`ArenaError::Reserve`] if there are no such numbers.
    pub fn file_bytes(banks: usize, bank_bytes: usize) -> Result<u64, ArenaError> {
        Ok((Shape { banks, bank_bytes }.bytes()? as u64).next_multiple_of(FILE_BLOCK))
    }

    /// Announces full use of a range of every bank, for large pages.
    ///
    /// Costs a few system calls; worth it from about a megabyte per bank on.
    pub fn expect_bulk_use(&self, offset: usize, len: usize) {
        #[cfg(target_os = "linux")]
        for bank in 0..self.shape.banks {
            if let (Some(map), Ok(range)) = (&self.map, self.shape.locate(bank, offset, len)) {
                // Large pages begin at multiples of their size. Those that the range shares with its neighbours are
                // asked for too: most of a range of a few megabytes would be outside all others.
                let base = map.as_ptr().addr();
                let start = ((base + range.start) & !(LARGE_PAGE - 1)).saturating_sub(base);
                let end = ((base + range.end).next_multiple_of(LARGE_PAGE) - base).min(map.len());
                // As above the advice is about host memory only and may go unheeded.
                let _ = map.advise_range(memmap2::Advice::HugePage, start, end - start);
            }
        }
    }

    /// Makes a range of a bank resident, all at once.
    ///
    /// Worth it before a large range is written for the first time: page by page it takes several times as long. May
    /// be called by several threads, each for another bank.
    pub fn touch(&self, bank: usize, offset: usize, len: usize) {
        #[cfg(target_os = "linux")]
        if let (Some(map), Ok(range)) = (&self.map, self.shape.locate(bank, offset, len)) {
            let start = range.start & !(HOST_PAGE - 1);
            let end = range.end.next_multiple_of(HOST_PAGE).min(map.len());
            // Hosts without this advice give the pages when they are written.
            let _ = map.advise_range(memmap2::Advice::PopulateWrite, start, end - start);
        }
    }

    /// Returns a range of every bank to the host.
    ///
    /// Bytes of blocks of [`HOST_PAGE`] inside of the range are zero from then on, on every system; the others stay.
    pub fn discard(&mut self, offset: usize, len: usize) {
        for bank in 0..self.shape.banks {
            if let (Some(map), Ok(range)) = (&mut self.map, self.shape.locate(bank, offset, len)) {
                // A mapping begins at a host page.
                let (start, end) = (range.start.next_multiple_of(HOST_PAGE), range.end & !(HOST_PAGE - 1));
                if start < end {
                    #[cfg(not(target_os = "linux"))]
                    map[start..end].fill(0);
                    #[cfg(target_os = "linux")]
                    {
                        use memmap2::UncheckedAdvice::{DontNeed, Remove};
                        // A file keeps pages that only the mapping gives up.
                        let advice = if self.shared { Remove } else { DontNeed };
                        // SAFETY: the mapping is private and anonymous, or of a file in memory, so its pages read as
                        // zeros afterwards; the exclusive borrow of the arena, and for a file the turns of the
                        // processes, mean that nobody has a reference to them.
                        let _ = unsafe { map.unchecked_advise_range(advice, start, end - start) };
                    }
                }
            }
        }
    }

    /// Number of banks.
    pub fn banks(&self) -> usize {
        self.shape.banks
    }

    /// Bytes of each bank.
    pub fn bank_bytes(&self) -> usize {
        self.shape.bank_bytes
    }

    /// The bytes of a range of one bank.
    ///
    /// # Errors
    /// [`ArenaError::OutOfRange`].
    pub fn bytes(&self, bank: usize, offset: usize, len: usize) -> Result<&[u8], ArenaError> {
        let range = self.shape.locate(bank, offset, len)?;
        Ok(self.map.as_ref().map_or(&[], |map| &map[range]))
    }

    /// The bytes of a range of one bank, to be written.
    ///
    /// # Errors
    /// [`ArenaError::OutOfRange`].
    pub fn bytes_mut(&mut self, bank: usize, offset: usize, len: usize) -> Result<&mut [u8], ArenaError> {
        let range = self.shape.locate(bank, offset, len)?;
        Ok(self.map.as_mut().map_or(&mut [], |map| &mut map[range]))
    }

    /// Copies bytes from one place to another, which may overlap.
    ///
    /// # Errors
    /// [`ArenaError::OutOfRange`] if either range does not lie inside its bank.
    pub fn copy(
        &mut self,
        from_bank: usize,
        from: usize,
        to_bank: usize,
        to: usize,
        len: usize,
    ) -> Result<(), ArenaError> {
        let source = self.shape.locate(from_bank, from, len)?;
        let target = self.shape.locate(to_bank, to, len)?;
        if let Some(map) = &mut self.map {
            map.copy_within(source, target.start);
        }
        Ok(())
    }

    /// Divides the arena for the time of one operation.
    ///
    /// `stripes` may be claimed, all else may be read.
    ///
    /// # Errors
    /// [`ArenaError::Stripe`] if a stripe overlaps another one or leaves the bank.
    pub fn split(&mut self, stripes: &[Stripe]) -> Result<(Reader<'_>, Writer<'_>), ArenaError> {
        let shape = self.shape;
        for (index, stripe) in stripes.iter().enumerate() {
            let end = stripe.offset_bytes.checked_add(stripe.len_bytes);
            let fits = stripe.unit_bytes > 0 && end.is_some_and(|end| end <= shape.bank_bytes);
            if !fits || stripes[..index].iter().any(|other| other.place().meets(stripe.bank, &stripe.range())) {
                return Err(ArenaError::Stripe { stripe: index });
            }
        }
        let stripes: Box<[Claims]> = stripes.iter().map(|&stripe| Claims::new(stripe, shape.banks)).collect();
        let cells = match &mut self.map {
            Some(map) => shared_cells(map),
            None => &[],
        };
        let ranges = stripes.iter().map(|claims| claims.stripe.place()).collect();
        Ok((Reader { cells, shape, written: ranges }, Writer { cells, shape, stripes }))
    }
}

/// The error of a host that refuses memory.
fn refused(bytes: usize, error: &std::io::Error) -> ArenaError {
    ArenaError::Reserve { bytes: bytes as u64, os_error: error.raw_os_error().unwrap_or(0) }
}

fn intersects(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

/// The same bytes as cells that may be read and written through shared references, for as long as the exclusive borrow
/// lasts. Cells carry the right to hand out slices; no byte is ever accessed atomically.
fn shared_cells(bytes: &mut [u8]) -> &[AtomicU8] {
    let (start, len) = (bytes.as_mut_ptr().cast::<AtomicU8>(), bytes.len());
    // SAFETY: `AtomicU8` has the size, alignment and bit validity of `u8`, and the returned borrow keeps the exclusive
    // borrow of `bytes` alive, so nobody else can reach the memory.
    unsafe { std::slice::from_raw_parts(start, len) }
}

/// The bytes of a write stripe.
#[derive(Debug)]
struct Written {
    range: Range<usize>,
    bank: Option<usize>,
}

impl Written {
    /// Returns true if it has one of these bytes, of a bank or of all.
    #[inline]
    fn meets(&self, bank: Option<usize>, range: &Range<usize>) -> bool {
        intersects(&self.range, range) && (bank.is_none() || self.bank.is_none() || self.bank == bank)
    }
}

/// The readable part of a split arena.
#[derive(Debug)]
pub struct Reader<'a> {
    cells: &'a [AtomicU8],
    shape: Shape,
    written: Box<[Written]>,
}

impl<'a> Reader<'a> {
    /// The bytes of a range of one bank.
    ///
    /// # Errors
    /// [`ArenaError::OutOfRange`], or [`ArenaError::BeingWritten`] if the range touches a write stripe.
    #[inline]
    pub fn bytes(&self, bank: usize, offset: usize, len: usize) -> Result<&'a [u8], ArenaError> {
        let range = self.shape.locate(bank, offset, len)?;
        if self.written.iter().any(|stripe| stripe.meets(Some(bank), &(offset..offset + len))) {
            return Err(ArenaError::BeingWritten { bank, offset, len });
        }
        let cells = &self.cells[range];
        // SAFETY: the range is outside every stripe, and a `Writer` of this split hands out bytes of stripes only, so
        // these bytes do not change during 'a. Cells are initialised memory of the layout of `u8`.
        Ok(unsafe { std::slice::from_raw_parts(cells.as_ptr().cast::<u8>(), cells.len()) })
    }
}

#[derive(Debug)]
struct Claims {
    stripe: Stripe,
    units: usize,
    /// One bit per unit and bank: handed out?
    taken: Box<[AtomicU64]>,
}

impl Claims {
    fn new(stripe: Stripe, banks: usize) -> Self {
        let units = stripe.units();
        let taken = (0..(units * banks).div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Self { stripe, units, taken }
    }
}

/// The writable stripes of a split arena.
#[derive(Debug)]
pub struct Writer<'a> {
    cells: &'a [AtomicU8],
    shape: Shape,
    stripes: Box<[Claims]>,
}

impl<'a> Writer<'a> {
    /// Exclusive access to unit `unit` of a stripe in one bank.
    ///
    /// Its bytes are as they were before the operation.
    ///
    /// # Errors
    /// [`ArenaError::Claim`] for a unit that was claimed before, by any thread, or that the stripe does not have.
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "the claim bit makes each slice unique")]
    pub fn claim(&self, stripe: usize, bank: usize, unit: usize) -> Result<&'a mut [u8], ArenaError> {
        self.claim_run(stripe, bank, unit..unit + 1)
    }

    /// [`Self::claim`] for units that follow each other in a bank.
    ///
    /// One slice, and a few atomic steps for all of them.
    ///
    /// # Errors
    /// [`ArenaError::Claim`] with the first unit if one was claimed before, or if the stripe does not have them all.
    /// Which of the others can then still be claimed is not said.
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "the claim bits make each slice unique")]
    pub fn claim_run(&self, stripe: usize, bank: usize, units: Range<usize>) -> Result<&'a mut [u8], ArenaError> {
        let refused = ArenaError::Claim { stripe, bank, unit: units.start };
        let claims = self.stripes.get(stripe).ok_or(refused)?;
        let elsewhere = claims.stripe.bank.is_some_and(|own| own != bank);
        if bank >= self.shape.banks || elsewhere || units.is_empty() || units.end > claims.units {
            return Err(refused);
        }
        let first = bank * claims.units + units.start;
        for (word, mask) in masks(first..first + units.len()) {
            // Relaxed is enough: the bits only decide who gets the slice, the split itself orders the bytes.
            if claims.taken[word].fetch_or(mask, Ordering::Relaxed) & mask != 0 {
                return Err(refused);
            }
        }
        let Stripe { offset_bytes, len_bytes, unit_bytes, .. } = claims.stripe;
        let start = units.start * unit_bytes;
        let len = (units.len() * unit_bytes).min(len_bytes - start);
        let cells = &self.cells[self.shape.locate(bank, offset_bytes + start, len)?];
        let pointer = cells.as_ptr().cast::<u8>().cast_mut();
        // SAFETY: cells permit writes through shared references. Units of a stripe are disjoint, stripes are disjoint
        // (checked by `split`), the bits above were ours to set, and a `Reader` refuses ranges that touch a stripe; so
        // no other reference to these bytes exists or will be made during 'a.
        Ok(unsafe { std::slice::from_raw_parts_mut(pointer, len) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripe(offset_bytes: usize, len_bytes: usize, unit_bytes: usize) -> Stripe {
        Stripe { bank: None, offset_bytes, len_bytes, unit_bytes }
    }

    #[test]
    fn a_reserved_arena_reads_as_zeros_and_keeps_what_is_written() {
        let mut arena = Arena::reserve(3, 1 << 30).expect("address space");
        assert_eq!((arena.banks(), arena.bank_bytes()), (3, 1 << 30));
        assert_eq!(arena.bytes(2, (1 << 30) - 4, 4), Ok(&[0u8; 4][..]));
        arena.bytes_mut(1, 5, 3).expect("in range").copy_from_slice(&[7, 8, 9]);
        assert_eq!(arena.bytes(1, 4, 5), Ok(&[0, 7, 8, 9, 0][..]));
        assert_eq!(arena.bytes(0, 4, 5), Ok(&[0u8; 5][..]));
    }

    #[test]
    fn two_arenas_of_a_file_have_the_same_bytes() {
        let path = std::env::temp_dir().join(format!("ttnn-arena-{}", std::process::id()));
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path).expect("a file");
        std::fs::remove_file(&path).expect("its name");
        let bytes = Arena::file_bytes(2, 1 << 20).expect("numbers");
        file.set_len(2 * bytes).expect("room");
        let mut first = Arena::map(&file, bytes, 2, 1 << 20).expect("address space");
        let second = Arena::map(&file, bytes, 2, 1 << 20).expect("address space");
        first.bytes_mut(1, 7, 2).expect("in range").copy_from_slice(&[3, 4]);
        assert_eq!(second.bytes(1, 6, 4), Ok(&[0, 3, 4, 0][..]));
        first.bytes_mut(0, 0, 1 << 20).expect("in range").fill(5);
        first.discard(0, 1 << 20);
        assert_eq!(second.bytes(0, 1 << 18, 1), Ok(&[0][..]));
        assert!(matches!(Arena::map(&file, 2 * bytes, 2, 1 << 20), Err(ArenaError::Reserve { .. })));
    }

    #[test]
    fn ranges_outside_a_bank_are_refused() {
        let arena = Arena::reserve(2, 4096).expect("address space");
        for (bank, offset, len) in [(2, 0, 1), (0, 4096, 1), (0, 4000, 97), (1, usize::MAX, 2)] {
            assert!(matches!(arena.bytes(bank, offset, len), Err(ArenaError::OutOfRange { .. })));
        }
        assert_eq!(Arena::reserve(0, 0).expect("nothing").bytes(0, 0, 1).map(<[u8]>::len).ok(), None);
    }

    #[test]
    fn a_size_beyond_the_address_space_is_refused() {
        assert!(matches!(Arena::reserve(usize::MAX, 2), Err(ArenaError::Reserve { .. })));
        assert!(matches!(Arena::reserve(1 << 20, 1 << 30), Err(ArenaError::Reserve { .. })));
    }

    #[test]
    fn each_unit_is_claimed_once_and_shows_its_old_contents() {
        let mut arena = Arena::reserve(2, 4096).expect("address space");
        arena.bytes_mut(1, 64, 2).expect("in range").copy_from_slice(&[1, 2]);
        {
            let (_, writer) = arena.split(&[stripe(32, 80, 32)]).expect("fits");
            let page = writer.claim(0, 1, 1).expect("free");
            assert_eq!(&page[..3], &[1, 2, 0]);
            page[0] = 9;
            assert_eq!(writer.claim(0, 1, 1), Err(ArenaError::Claim { stripe: 0, bank: 1, unit: 1 }));
            assert_eq!(writer.claim(0, 0, 2).map(|page| page.len()), Ok(16));
            for (stripe, bank, unit) in [(1, 0, 0), (0, 2, 0), (0, 0, 3)] {
                assert_eq!(writer.claim(stripe, bank, unit), Err(ArenaError::Claim { stripe, bank, unit }));
            }
        }
        assert_eq!(arena.bytes(1, 64, 2), Ok(&[9, 2][..]));
    }

    #[test]
    fn what_is_being_written_cannot_be_read() {
        let mut arena = Arena::reserve(2, 4096).expect("address space");
        let (reader, _writer) = arena.split(&[stripe(32, 64, 32), stripe(256, 32, 32)]).expect("fits");
        assert!(reader.bytes(0, 0, 32).is_ok() && reader.bytes(1, 96, 160).is_ok());
        for (offset, len) in [(31, 2), (32, 1), (95, 1), (0, 4096), (287, 10)] {
            assert_eq!(reader.bytes(1, offset, len), Err(ArenaError::BeingWritten { bank: 1, offset, len }));
        }
    }

    #[test]
    fn stripes_that_overlap_or_leave_the_bank_are_refused() {
        let mut arena = Arena::reserve(1, 4096).expect("address space");
        let refused = |stripe| ArenaError::Stripe { stripe };
        assert_eq!(arena.split(&[stripe(0, 64, 32), stripe(63, 1, 1)]).err(), Some(refused(1)));
        assert_eq!(arena.split(&[stripe(4090, 7, 1)]).err(), Some(refused(0)));
        assert_eq!(arena.split(&[stripe(0, 4, 0)]).err(), Some(refused(0)));
    }

    #[test]
    fn a_stripe_of_one_bank_leaves_the_others_readable_and_claimable() {
        let mut arena = Arena::reserve(2, 4096).expect("address space");
        let of_bank = |bank| Stripe { bank: Some(bank), ..stripe(32, 64, 32) };
        let (reader, writer) = arena.split(&[of_bank(1), Stripe { offset_bytes: 64, ..of_bank(0) }]).expect("fits");
        assert!(reader.bytes(0, 0, 64).is_ok() && reader.bytes(1, 96, 64).is_ok());
        for (bank, offset) in [(1, 32), (0, 64)] {
            let refused = ArenaError::BeingWritten { bank, offset, len: 1 };
            assert_eq!(reader.bytes(bank, offset, 1), Err(refused));
        }
        assert_eq!(writer.claim(0, 1, 0).map(|unit| unit.len()), Ok(32));
        assert_eq!(writer.claim(0, 0, 0), Err(ArenaError::Claim { stripe: 0, bank: 0, unit: 0 }));
        assert_eq!(writer.claim(1, 0, 1).map(|unit| unit.len()), Ok(32));
        for other in [of_bank(1), stripe(32, 64, 32)] {
            assert_eq!(arena.split(&[of_bank(1), other]).err(), Some(ArenaError::Stripe { stripe: 1 }));
        }
    }

    #[test]
    fn a_run_of_units_is_one_slice_and_shares_no_unit() {
        let mut arena = Arena::reserve(3, 1 << 14).expect("address space");
        let refused = |unit| ArenaError::Claim { stripe: 0, bank: 1, unit };
        let (_, writer) = arena.split(&[stripe(64, 200 * 32 - 8, 32)]).expect("fits");
        // Across words of the bits, with the last unit cut short.
        assert_eq!(writer.claim_run(0, 1, 20..190).map(|run| run.len()), Ok(170 * 32));
        assert_eq!(writer.claim_run(0, 1, 190..200).map(|run| run.len()), Ok(10 * 32 - 8));
        assert_eq!(writer.claim_run(0, 1, 19..21).map(|run| run.len()), Err(refused(19)));
        for unit in [20, 100, 189, 190, 199, 200] {
            assert_eq!(writer.claim(0, 1, unit).map(|unit| unit.len()), Err(refused(unit)));
        }
        for units in [0..201, 200..201, 5..5] {
            assert_eq!(writer.claim_run(0, 1, units.clone()).map(|run| run.len()), Err(refused(units.start)));
        }
        writer.claim_run(0, 1, 3..5).expect("free").fill(9);
        // Other banks have bits of their own.
        assert_eq!(writer.claim_run(0, 0, 0..200).map(|run| run.len()), Ok(200 * 32 - 8));
        assert_eq!(writer.claim_run(0, 2, 0..200).map(|run| run.len()), Ok(200 * 32 - 8));
        let bytes = arena.bytes(1, 64 + 2 * 32, 4 * 32).expect("in range");
        assert!(bytes.iter().enumerate().all(|(at, &byte)| byte == if (32..96).contains(&at) { 9 } else { 0 }));
    }

    #[test]
    fn threads_that_race_for_the_same_units_get_each_unit_once() {
        let mut arena = Arena::reserve(4, 1 << 16).expect("address space");
        let (_, writer) = arena.split(&[stripe(0, 1 << 16, 64)]).expect("fits");
        let won: usize = std::thread::scope(|scope| {
            let race = || {
                let units = (0..4 * 1024).filter_map(|i| writer.claim(0, i % 4, i / 4).ok());
                units.map(|page| page.fill(1)).count()
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(race)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert_eq!(won, 4 * 1024);
        assert!(arena.bytes(3, 0, 1 << 16).expect("in range").iter().all(|&byte| byte == 1));
    }
}
