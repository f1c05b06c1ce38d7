//! A core of the run.
//!
//! Its circular buffers, semaphores and kernels, and which bytes of its CBs were written.

use tt_memory::chip::{LogicalCore, NocCoord};

use super::cb::Cb;
use crate::error::FaultKind;

/// A core that the program uses.
#[derive(Debug)]
pub struct Core {
    /// Its place in the grid.
    pub logical: LogicalCore,
    /// Its place on the NoC.
    pub noc: NocCoord,
    /// Its L1 bank.
    pub bank: usize,
    /// Circular buffers by number.
    pub cbs: Vec<Option<Box<Cb>>>,
    /// Circular buffers that are not configured and that a kernel uses nevertheless, without the watcher.
    pub(crate) bare: Vec<Cb>,
    /// Semaphores that exist, one bit each.
    pub semaphores: u32,
    /// Kernels that run here.
    pub kernels: Vec<usize>,
    /// Written bytes of CBs.
    pub shadow: Shadow,
}

impl Core {
    /// A CB by its number.
    ///
    /// # Errors
    /// [`FaultKind::NoCb`].
    #[inline]
    pub fn cb_mut(&mut self, cb: u32) -> Result<&mut Cb, FaultKind> {
        if !matches!(self.cbs.get(cb as usize), Some(Some(_))) {
            return Err(self.no_cb(cb));
        }
        match &mut self.cbs[cb as usize] {
            Some(buffer) => Ok(buffer),
            None => Err(FaultKind::NoCb { cb, configured: String::new() }),
        }
    }

    fn no_cb(&self, cb: u32) -> FaultKind {
        let numbers: Vec<String> = self.all_cbs().map(|buffer| buffer.index.to_string()).collect();
        let configured = if numbers.is_empty() { "none".to_owned() } else { format!("CB {}", numbers.join(", ")) };
        FaultKind::NoCb { cb, configured }
    }

    /// Whether bytes of the reserved pages of a CB were written.
    pub(crate) fn wrote_reserved(&self, cb: &Cb) -> bool {
        let (start, bytes) = (cb.write_pointer(), cb.reserved * cb.page_bytes);
        let here = bytes.min(cb.end().saturating_sub(start));
        self.shadow.any(start, start + here) || self.shadow.any(cb.address, cb.address + bytes - here)
    }

    /// CBs in the order of their numbers.
    pub fn all_cbs(&self) -> impl Iterator<Item = &Cb> {
        self.cbs.iter().flatten().map(AsRef::as_ref)
    }

    /// A CB whose memory holds an address.
    pub fn cb_at(&self, address: u32) -> Option<&Cb> {
        self.all_cbs().find(|cb| cb.address <= address && address < cb.end())
    }
}

/// Bytes for which there is one written bit.
const UNIT: u32 = 16;

/// Written bytes of an L1 range.
///
/// Since their page was last freed, and ever.
#[derive(Debug, Default)]
pub struct Shadow {
    base: u32,
    words: Vec<u64>,
    ever: Vec<u64>,
}

impl Shadow {
    /// Nothing written between two addresses.
    pub fn new(base: u32, end: u32) -> Self {
        let units = end.saturating_sub(base).div_ceil(UNIT) as usize;
        Self { base, words: vec![0; units.div_ceil(64)], ever: vec![0; units.div_ceil(64)] }
    }

    /// Units of the part of a range that is covered.
    fn units(&self, start: u32, end: u32) -> std::ops::Range<usize> {
        let last = self.base + self.words.len() as u32 * 64 * UNIT;
        let (start, end) = (start.clamp(self.base, last) - self.base, end.clamp(self.base, last) - self.base);
        (start / UNIT) as usize..end.div_ceil(UNIT) as usize
    }

    fn for_each(&mut self, start: u32, end: u32, change: impl Fn(&mut u64, &mut u64, u64)) {
        let units = self.units(start, end);
        let mut unit = units.start;
        while unit < units.end {
            let last = (unit / 64 * 64 + 64).min(units.end);
            let count = last - unit;
            let mask = if count == 64 { u64::MAX } else { ((1 << count) - 1) << (unit % 64) };
            change(&mut self.words[unit / 64], &mut self.ever[unit / 64], mask);
            unit = last;
        }
    }

    /// Marks a range as written.
    #[inline]
    pub fn set(&mut self, start: u32, end: u32) {
        self.for_each(start, end, |word, ever, mask| {
            *word |= mask;
            *ever |= mask;
        });
    }

    /// Marks a range as not written.
    #[inline]
    pub fn clear(&mut self, start: u32, end: u32) {
        self.for_each(start, end, |word, _, mask| *word &= !mask);
    }

    /// Returns true if a range was fully written in this run.
    ///
    /// Even before its page was freed.
    pub fn ever(&self, start: u32, end: u32) -> bool {
        let units = self.units(start, end);
        units.into_iter().all(|unit| self.ever[unit / 64] >> (unit % 64) & 1 == 1)
    }

    /// Returns true if every unit of a range was written to.
    pub fn all(&self, start: u32, end: u32) -> bool {
        let units = self.units(start, end);
        end > start
            && units.len() as u32 == (end - 1) / UNIT - start / UNIT + 1
            && units.into_iter().all(|unit| self.words[unit / 64] >> (unit % 64) & 1 == 1)
    }

    /// Returns true if any byte of a range was written.
    #[inline]
    pub fn any(&self, start: u32, end: u32) -> bool {
        let units = self.units(start, end);
        units.into_iter().any(|unit| self.words[unit / 64] >> (unit % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_bits_of_every_range_agree_with_single_units() {
        for start in (1600..2000).step_by(8) {
            for end in (start + 8..4300).step_by(72) {
                let mut shadow = Shadow::new(1600, 4800);
                shadow.set(start, end);
                for unit in (1600..4800).step_by(16) {
                    assert_eq!(shadow.any(unit, unit + 1), unit + 16 > start && unit < end, "{start} {end} {unit}");
                }
                shadow.clear(start, end);
                assert!(!shadow.any(1600, 4800));
                assert!(shadow.ever(start, end) && !shadow.ever(1600, 4800));
            }
        }
    }

    #[test]
    fn all_of_a_range_is_written_if_every_unit_is_that_it_touches() {
        let mut shadow = Shadow::new(1600, 4800);
        shadow.set(1616, 3232);
        for (start, end, all) in [
            (1616, 3232, true),
            (1616, 1617, true),
            (1631, 1633, true),
            (3231, 3232, true),
            (1600, 1617, false),
            (1615, 1616, false),
            (1615, 1617, false),
            (3216, 3233, false),
            (1616, 3233, false),
            (2000, 2000, false),
        ] {
            assert_eq!(shadow.all(start, end), all, "{start} {end}");
            assert_eq!(shadow.ever(start, end), all || start == end, "{start} {end}");
        }
        shadow.set(0, 10_000);
        assert!(shadow.all(1600, 4800));
        for (start, end) in [(1599, 1700), (0, 1600), (1500, 1600), (4700, 6000), (9000, 9100)] {
            assert!(!shadow.all(start, end), "{start} {end}: not all of it is covered");
        }
        shadow.clear(3200, 3216);
        assert!(!shadow.all(1600, 4800) && shadow.all(1600, 3200) && shadow.all(3216, 4800));
        assert!(shadow.ever(1600, 4800));
    }

    #[test]
    fn what_lies_outside_counts_as_unwritten() {
        let mut shadow = Shadow::new(1600, 3200);
        shadow.set(0, 1600);
        assert!(!shadow.any(0, 10_000));
        shadow.set(0, 10_000);
        assert!(shadow.any(1600, 1601) && shadow.any(3199, 3200) && !shadow.any(0, 1600));
    }
}
