//! Occupied cycles of a link, port or bank.
//!
//! Kernels run one after the other and each keeps its own clock, so reservations do not come in the order of their
//! time: a reader that is resumed late asks for cycles that lie before those another one has taken. A calendar
//! therefore keeps, for every slot of a few cycles, how many of them are taken, and a reservation takes what is free
//! from its start on. Virtual channels interleave the flits of different packets on a link (`docs/chip/noc.md` section 2),
//! so a transfer may be spread over the gaps that others left.

/// Cycles of a slot.
const SLOT: u64 = 64;
/// Slots that are remembered: 131,072 cycles.
const SLOTS: usize = 1 << 11;

/// What is taken of a slot: `taken` cycles, all of them between `low` and `high`. Exact for one run of cycles, and for
/// several as far as it matters: holes between them are used, only their order is forgotten.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    taken: u8,
    low: u8,
    high: u8,
}

impl Slot {
    /// Takes up to `wanted` free cycles from `offset` on. Returns how many, and the cycle after the last one.
    #[inline]
    fn take(&mut self, offset: u64, wanted: u64) -> (u64, u64) {
        let (taken, low, high) = (u64::from(self.taken), u64::from(self.low), u64::from(self.high));
        if taken == 0 {
            let got = wanted.min(SLOT - offset);
            *self = Self { taken: got as u8, low: offset as u8, high: (offset + got) as u8 };
            return (got, offset + got);
        }
        let before = wanted.min(low.saturating_sub(offset));
        let within = (wanted - before).min(high - low - taken).min(high.saturating_sub(offset.max(low)));
        let after = (wanted - before - within).min(SLOT - high.max(offset));
        let got = before + within + after;
        if got == 0 {
            return (0, offset);
        }
        let top = if after > 0 { high.max(offset) + after } else { high };
        let low = if before > 0 { offset } else { low };
        *self = Self { taken: (taken + got) as u8, low: low as u8, high: top as u8 };
        (got, if after > 0 { top } else { offset + got })
    }
}

/// Taken cycles of one resource.
#[derive(Debug, Clone, Default)]
pub(crate) struct Calendar {
    /// The last `SLOTS` slots before `end`; slot `s` is at `s % SLOTS`. Empty until the first use.
    slots: Vec<Slot>,
    /// The slot after the latest one that is remembered.
    end: u64,
    /// The longest run of full slots that is known: `[from, to)`.
    full: (u64, u64),
}

impl Calendar {
    /// Takes `cycles`, at least one, from `start` on and returns the cycle after the last one.
    ///
    /// Before the window that is remembered the resource counts as free, or as full if it is full where the window
    /// begins.
    #[inline]
    pub(crate) fn reserve(&mut self, start: u64, cycles: u64) -> u64 {
        let (mut slot, mut offset) = (start / SLOT, start % SLOT);
        if slot < self.full.1 && slot >= self.full.0 {
            (slot, offset) = (self.full.1, 0);
        }
        if slot + SLOTS as u64 <= self.end {
            return start + cycles;
        }
        if self.slots.is_empty() {
            self.slots = vec![Slot::default(); SLOTS];
            self.end = slot + 1;
        }
        let (mut left, mut end) = (cycles, start + cycles);
        let mut run = slot;
        while left > 0 {
            self.advance(slot);
            let current = &mut self.slots[slot as usize % SLOTS];
            let (got, after) = current.take(offset, left);
            let is_full = u64::from(current.taken) == SLOT;
            left -= got;
            if left == 0 {
                end = end.max(slot * SLOT + after);
            }
            if !is_full {
                self.note(run, slot);
                run = slot + 1;
            }
            (slot, offset) = (slot + 1, 0);
        }
        self.note(run, slot);
        end
    }

    /// Moves the window so that it holds a slot.
    #[inline]
    fn advance(&mut self, slot: u64) {
        if slot < self.end {
            return;
        }
        for new in self.end.max((slot + 1).saturating_sub(SLOTS as u64))..=slot {
            self.slots[new as usize % SLOTS] = Slot::default();
        }
        self.end = slot + 1;
        // What left the window is forgotten, but a run that reaches into it still counts as one.
        if self.full.1 + SLOTS as u64 <= self.end {
            self.full = (0, 0);
        }
    }

    /// Remembers that the slots from `from` to before `to` are full.
    #[inline]
    fn note(&mut self, from: u64, to: u64) {
        if from == self.full.1 {
            self.full.1 = to;
        } else if from <= self.full.0 && to >= self.full.0 && to > from {
            self.full = (from, to.max(self.full.1));
        } else if to > from && to - from > self.full.1 - self.full.0 {
            self.full = (from, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_resource_costs_no_time() {
        let mut calendar = Calendar::default();
        assert_eq!(calendar.reserve(1000, 65), 1065);
        assert_eq!(calendar.reserve(5000, 1), 5001);
    }

    #[test]
    fn equal_starts_queue_up() {
        let mut calendar = Calendar::default();
        for i in 1..=100 {
            assert_eq!(calendar.reserve(64, 65), 64 + 65 * i);
        }
    }

    #[test]
    fn a_queue_loses_no_cycle_between_slots() {
        let mut calendar = Calendar::default();
        for i in 1..=50 {
            assert_eq!(calendar.reserve(41, 29), 41 + 29 * i);
        }
    }

    #[test]
    fn gaps_before_later_reservations_are_used() {
        let mut calendar = Calendar::default();
        assert_eq!(calendar.reserve(320, 320), 640);
        assert_eq!(calendar.reserve(0, 320), 320);
        // 0 to 640 is taken now.
        assert_eq!(calendar.reserve(0, 32), 672);
        // A transfer is spread around what others have taken.
        assert_eq!(calendar.reserve(704, 32), 736);
        assert_eq!(calendar.reserve(640, 64), 768);
    }

    #[test]
    fn no_cycle_is_given_twice_in_any_order() {
        // 400 reservations of 10 cycles within 4000 cycles fill them exactly, whatever their order.
        let mut calendar = Calendar::default();
        let last = (0..400u64).map(|i| calendar.reserve(i * 167 % 400 * 10 / 32 * 32, 10)).max();
        assert!(last <= Some(4000 + 32), "{last:?}");
        assert!(calendar.reserve(0, 32) >= 4000);
    }

    #[test]
    fn the_window_follows_the_clock() {
        let mut calendar = Calendar::default();
        calendar.reserve(0, 64);
        let late = SLOT * SLOTS as u64 * 10;
        assert_eq!(calendar.reserve(late, 64), late + 64);
        assert_eq!(calendar.reserve(0, 64), 64);
        // A queue that is longer than the window does not vanish.
        let mut queue = Calendar::default();
        let ends: Vec<u64> = (0..100).map(|_| queue.reserve(0, SLOT * SLOTS as u64 / 10)).collect();
        assert_eq!(ends.last(), Some(&(10 * (SLOT * SLOTS as u64 / 10) * 10)));
    }
}
