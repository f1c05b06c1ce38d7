//! Order of accesses.
//!
//! Vector clocks per kernel, and the last writer of each byte.
//!
//! A kernel's vector says up to which point it knows of every other kernel. Pages of CBs and semaphores carry the
//! vector of whoever pushed, popped or changed them to whoever waits for that. Bytes that another kernel wrote may be
//! touched, and bytes that another kernel read may be overwritten, only if that is in the past of one's own vector;
//! otherwise the result depends on luck, even if the value is right this time. A write over the network counts as done
//! once its kernel has waited for it, and before a later change of a word of the same core over the same network, which
//! cannot overtake it.
//!
//! Bytes that a kernel sends may be overwritten once they have left. A kernel knows that after a flush, or from whoever has
//! seen a flag that followed them over the same network to the same core. So vectors have a second half: how many of a
//! kernel's flags were seen.
//!
//! Kernels have the numbers of the run. If it is one of several chips, they have numbers among those of all chips, so that
//! packets carry vectors from chip to chip: `first` is the number of the run's first kernel.
//!
//! Words that are polled are treated as semaphores, so flags of any kind order what is around them. Who replaces such a
//! word must have seen what others made of it, or their counts are lost; adding to it is always in order.

use std::collections::BTreeMap;

use tt_memory::Place;

/// A point in the life of each kernel, then the number of its last flag that was seen.
pub(crate) type Vector = Vec<u32>;

/// No kernel of this run has written these bytes.
const NOBODY: u32 = u32::MAX;

/// Who wrote a range last, and who has read it since.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Access {
    end: u64,
    writer: u32,
    epoch: u32,
    /// The write is on its way over this network, and its kernel has not waited for it.
    pending: Option<u8>,
    /// Its kernel waited for it only after others could have learned of it.
    late: bool,
    /// Kernels and the points in their lives at which they read last.
    readers: Vec<(u32, u32)>,
}

/// Ranges of one bank, by their first byte; they do not overlap.
type Ranges = BTreeMap<u64, Access>;

/// A write that its kernel has not waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) noc: u8,
    pub(crate) trid: u8,
    pub(crate) place: Place,
    end: u64,
    epoch: u32,
}

/// Why two accesses of the same bytes are not ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conflict {
    /// This kernel wrote them, and nothing says that it came first.
    Write(usize),
    /// This kernel writes them, and did not wait for that before it let others know.
    Pending(usize),
    /// This kernel read them, and may not be done.
    Read(usize),
}

/// What orders the kernels of a run.
#[derive(Debug)]
pub(crate) struct Order {
    vectors: Vec<Vector>,
    /// Number of the first kernel here, and of kernels on all chips.
    first: usize,
    total: usize,
    /// Vectors of kernels of other chips, of their last packet.
    senders: BTreeMap<usize, Vector>,
    /// Flags that each kernel has sent over a network.
    flags: Vec<u32>,
    /// Vectors that words of L1 carry: L1 bank and address.
    words: BTreeMap<(usize, u32), Vector>,
    dram: Vec<Ranges>,
    l1: Vec<Ranges>,
    /// By kernel.
    pending: Vec<Vec<Pending>>,
}

impl Order {
    pub(crate) fn new(kernels: usize, dram_banks: usize, l1_banks: usize) -> Self {
        let vector = |own: usize| (0..2 * kernels).map(|entry| u32::from(entry == own)).collect();
        Self {
            vectors: (0..kernels).map(vector).collect(),
            first: 0,
            total: kernels,
            senders: BTreeMap::new(),
            flags: vec![0; kernels],
            words: BTreeMap::new(),
            dram: vec![Ranges::new(); dram_banks],
            l1: vec![Ranges::new(); l1_banks],
            pending: vec![Vec::new(); kernels],
        }
    }

    /// Gives the kernels numbers among those of several chips. Returns what does the same to vectors elsewhere.
    pub(crate) fn join_chips(&mut self, first: usize, total: usize) -> impl Fn(&mut Vector) + use<> {
        let own = self.vectors.len();
        let widen = move |vector: &mut Vector| {
            if vector.len() == 2 * own {
                let mut wide = vec![0; 2 * total];
                wide[first..first + own].copy_from_slice(&vector[..own]);
                wide[total + first..total + first + own].copy_from_slice(&vector[own..]);
                *vector = wide;
            }
        };
        self.vectors.iter_mut().chain(self.words.values_mut()).for_each(widen);
        for access in self.dram.iter_mut().chain(&mut self.l1).flat_map(BTreeMap::values_mut) {
            if access.writer != NOBODY {
                access.writer += first as u32;
            }
            access.readers.iter_mut().for_each(|(reader, _)| *reader += first as u32);
        }
        (self.first, self.total) = (first, total);
        widen
    }

    /// What `kernel` knows when it sends a packet.
    pub(crate) fn release_packet(&mut self, kernel: usize) -> Vector {
        let mut carrier = Vector::new();
        self.release(kernel, &mut carrier);
        carrier
    }

    /// [`Order::release_word`] by a packet.
    pub(crate) fn release_arrival(&mut self, vector: &[u32], word: (usize, u32)) {
        join(self.words.entry(word).or_default(), vector);
    }

    /// [`Order::conflict`] of a packet's write.
    pub(crate) fn arrival_conflict(&self, sender: usize, known: &[u32], place: Place, end: u64) -> Option<Conflict> {
        self.conflict_with(sender, known, place, end, true)
    }

    /// [`Order::record_write`] of a packet.
    pub(crate) fn record_arrival(&mut self, sender: usize, vector: &Vector, place: Place, end: u64) {
        self.note_write(sender as u32, vector[sender], place, end, None);
        self.senders.insert(sender, vector.clone());
    }

    /// What `kernel` has done so far becomes part of what `carrier` knows.
    pub(crate) fn release(&mut self, kernel: usize, carrier: &mut Vector) {
        let own = &mut self.vectors[kernel];
        join(carrier, own);
        own[self.first + kernel] += 1;
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

    /// [`Order::release_word`] over a network. Returns the number of the flag.
    pub(crate) fn release_flag(&mut self, kernel: usize, word: (usize, u32)) -> u32 {
        self.release_word(kernel, word);
        self.flags[kernel] += 1;
        let entry = self.total + self.first + kernel;
        if let Some(carrier) = self.words.get_mut(&word) {
            carrier[entry] = self.flags[kernel];
        }
        self.flags[kernel]
    }

    /// Whether `kernel` knows that somebody has seen a flag of its own.
    pub(crate) fn knows_seen(&self, kernel: usize, flag: u32) -> bool {
        self.vectors[kernel][self.total + self.first + kernel] >= flag
    }

    /// Whether a kernel has made one of the words of a range of L1 a flag.
    pub(crate) fn has_flag(&self, bank: usize, start: u32, end: u32) -> bool {
        self.words.range((bank, start)..(bank, end)).next().is_some()
    }

    /// [`Order::acquire`] from the words of a range of L1, and from the last writers of its bytes.
    pub(crate) fn acquire_flag(&mut self, kernel: usize, bank: usize, start: u32, end: u32) {
        let words = self.words.range((bank, start)..(bank, end));
        for (_, carrier) in words {
            join(&mut self.vectors[kernel], carrier);
        }
        let writers: Vec<usize> = overlaps(&self.l1[bank], start.into(), end.into())
            .filter(|(_, access)| access.writer != NOBODY)
            .map(|(_, access)| access.writer as usize)
            .collect();
        for writer in writers.into_iter().filter(|&writer| writer != self.first + kernel) {
            let here = writer.checked_sub(self.first).and_then(|own| self.vectors.get(own));
            if let Some(carrier) = here.or_else(|| self.senders.get(&writer)).cloned() {
                join(&mut self.vectors[kernel], &carrier);
            }
        }
    }

    /// A kernel that changed a word of L1 without `kernel` having seen it.
    pub(crate) fn unseen_change(&self, kernel: usize, word: (usize, u32)) -> Option<usize> {
        let carrier = self.words.get(&word)?;
        let known = &self.vectors[kernel];
        (0..self.total).find(|&other| other != self.first + kernel && carrier[other] > known[other])
    }

    /// The same for the words of a range.
    pub(crate) fn unseen_among(&self, kernel: usize, bank: usize, start: u32, end: u32) -> Option<usize> {
        let mut words = self.words.range((bank, start)..(bank, end));
        words.find_map(|(&word, _)| self.unseen_change(kernel, word))
    }

    fn ranges(&mut self, place: Place) -> &mut Ranges {
        if place.dram { &mut self.dram[place.bank] } else { &mut self.l1[place.bank] }
    }

    /// The access to a range that `kernel`, which is going to read it, or write it, does not know of.
    pub(crate) fn conflict(&self, kernel: usize, place: Place, end: u64, write: bool) -> Option<Conflict> {
        self.conflict_with(self.first + kernel, &self.vectors[kernel], place, end, write)
    }

    fn conflict_with(&self, own: usize, known: &[u32], place: Place, end: u64, write: bool) -> Option<Conflict> {
        let ranges = if place.dram { &self.dram[place.bank] } else { &self.l1[place.bank] };
        for (_, access) in overlaps(ranges, place.address, end) {
            let writer = access.writer as usize;
            if access.writer != NOBODY && writer != own {
                let unknown = access.epoch > known[writer];
                if access.pending.is_some() || unknown && access.late {
                    return Some(Conflict::Pending(writer));
                }
                if unknown {
                    return Some(Conflict::Write(writer));
                }
            }
            let mut readers = access.readers.iter().map(|&(reader, epoch)| (reader as usize, epoch));
            let unknown = readers.find(|&(reader, epoch)| reader != own && epoch > known[reader]);
            if let (true, Some((reader, _))) = (write, unknown) {
                return Some(Conflict::Read(reader));
            }
        }
        None
    }

    /// `kernel` has written a range; `sent`: over this network, with this transaction id, and nobody has waited for it.
    pub(crate) fn record_write(&mut self, kernel: usize, place: Place, end: u64, sent: Option<(u8, u8)>) {
        let own = self.first + kernel;
        let epoch = self.vectors[kernel][own];
        if let Some((noc, trid)) = sent {
            self.pending[kernel].push(Pending { noc, trid, place, end, epoch });
        }
        self.note_write(own as u32, epoch, place, end, sent.map(|(noc, _)| noc));
    }

    fn note_write(&mut self, writer: u32, epoch: u32, place: Place, end: u64, pending: Option<u8>) {
        let ranges = self.ranges(place);
        if let Some(same) = ranges.get_mut(&place.address)
            && same.end == end
        {
            (same.writer, same.epoch, same.pending, same.late) = (writer, epoch, pending, false);
            same.readers.clear();
            return;
        }
        remove(ranges, place.address, end);
        ranges.insert(place.address, Access { end, writer, epoch, pending, late: false, readers: Vec::new() });
    }

    /// `kernel` has read a range.
    pub(crate) fn record_read(&mut self, kernel: usize, place: Place, end: u64) {
        let own = self.first + kernel;
        let (reader, epoch) = (own as u32, self.vectors[kernel][own]);
        let ranges = self.ranges(place);
        let note = |access: &mut Access| match access.readers.iter_mut().find(|(known, _)| *known == reader) {
            Some(known) => known.1 = epoch,
            None => access.readers.push((reader, epoch)),
        };
        if let Some(same) = ranges.get_mut(&place.address)
            && same.end == end
        {
            note(same);
            return;
        }
        split(ranges, place.address);
        split(ranges, end);
        let mut at = place.address;
        while at < end {
            let next = ranges.range(at..end).next().map(|(&first, access)| (first, access.end));
            let (first, last) = next.unwrap_or((end, end));
            if first > at {
                let readers = vec![(reader, epoch)];
                ranges.insert(at, Access { end: first, writer: NOBODY, epoch: 0, pending: None, late: false, readers });
            }
            if let Some(access) = ranges.get_mut(&first).filter(|_| first < end) {
                note(access);
            }
            at = last;
        }
    }

    /// Writes of `kernel` have arrived as far as whoever learns of it from now on can tell.
    pub(crate) fn arrive(&mut self, kernel: usize, arrived: impl Fn(&Pending) -> bool) {
        let own = self.first + kernel;
        let epoch = self.vectors[kernel][own];
        let mut pending = std::mem::take(&mut self.pending[kernel]);
        for write in pending.extract_if(.., |write| arrived(write)) {
            let ranges = self.ranges(write.place);
            for (_, access) in ranges.range_mut(write.place.address..write.end) {
                if access.writer as usize == own && access.pending == Some(write.noc) {
                    (access.pending, access.epoch, access.late) = (None, epoch, epoch > write.epoch);
                }
            }
        }
        self.pending[kernel] = pending;
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

/// Accesses that touch a range, with their first bytes.
fn overlaps(ranges: &Ranges, start: u64, end: u64) -> impl Iterator<Item = (u64, &Access)> + '_ {
    let before = ranges.range(..start).next_back().filter(move |(_, access)| access.end > start);
    before.into_iter().chain(ranges.range(start..end)).map(|(&first, access)| (first, access))
}

/// Makes a range that goes over a point two.
fn split(ranges: &mut Ranges, at: u64) {
    if let Some((_, access)) = ranges.range_mut(..at).next_back()
        && access.end > at
    {
        let rest = access.clone();
        access.end = at;
        ranges.insert(at, rest);
    }
}

/// Takes a range out of all accesses.
fn remove(ranges: &mut Ranges, start: u64, end: u64) {
    split(ranges, start);
    split(ranges, end);
    while let Some((&first, _)) = ranges.range(start..end).next() {
        ranges.remove(&first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(address: u64) -> Place {
        Place { dram: false, bank: 0, address }
    }

    fn pass(order: &mut Order, from: usize, to: usize) {
        let mut carrier = Vector::new();
        order.release(from, &mut carrier);
        order.acquire(to, &carrier);
    }

    #[test]
    fn a_write_is_known_after_release_and_acquire_only() {
        let mut order = Order::new(2, 1, 1);
        order.record_write(0, place(100), 200, None);
        assert_eq!(order.conflict(1, place(150), 160, false), Some(Conflict::Write(0)));
        assert_eq!(order.conflict(0, place(150), 160, true), None);
        pass(&mut order, 0, 1);
        assert_eq!(order.conflict(1, place(150), 160, false), None);
        order.record_write(0, place(100), 200, None);
        assert_eq!(order.conflict(1, place(199), 300, false), Some(Conflict::Write(0)));
        assert_eq!(order.conflict(1, place(200), 300, false), None);
    }

    #[test]
    fn a_read_hinders_later_writes_until_its_kernel_is_known_to_be_done() {
        let mut order = Order::new(3, 1, 1);
        order.record_read(0, place(100), 200);
        order.record_read(1, place(150), 250);
        assert_eq!(order.conflict(2, place(0), 1000, false), None);
        assert_eq!(order.conflict(2, place(120), 130, true), Some(Conflict::Read(0)));
        pass(&mut order, 0, 2);
        assert_eq!(order.conflict(2, place(120), 130, true), None);
        assert_eq!(order.conflict(2, place(120), 160, true), Some(Conflict::Read(1)));
        pass(&mut order, 1, 2);
        order.record_write(2, place(120), 160, None);
        assert_eq!(order.conflict(0, place(155), 156, true), Some(Conflict::Write(2)));
        assert_eq!(order.conflict(0, place(160), 170, true), Some(Conflict::Read(1)));
    }

    #[test]
    fn a_write_on_its_way_is_known_to_nobody_until_it_is_waited_for() {
        let mut order = Order::new(2, 1, 1);
        order.record_write(0, place(100), 200, Some((1, 3)));
        pass(&mut order, 0, 1);
        assert_eq!(order.conflict(1, place(100), 101, false), Some(Conflict::Pending(0)));
        order.arrive(0, |write| write.noc == 0 || write.trid == 2);
        assert_eq!(order.conflict(1, place(100), 101, false), Some(Conflict::Pending(0)));
        // It was announced before it was waited for.
        order.arrive(0, |write| write.noc == 1 && write.trid == 3);
        assert_eq!(order.conflict(1, place(100), 101, false), Some(Conflict::Pending(0)));
        pass(&mut order, 0, 1);
        assert_eq!(order.conflict(1, place(100), 101, false), None);
        order.record_write(0, place(100), 200, Some((1, 0)));
        order.arrive(0, |write| write.noc == 1);
        assert_eq!(order.conflict(1, place(100), 101, false), Some(Conflict::Write(0)));
    }

    #[test]
    fn a_write_that_is_waited_for_in_time_is_known_like_any_other() {
        let mut order = Order::new(2, 2, 1);
        let bank = |bank, address| Place { dram: true, bank, address };
        order.record_write(0, bank(1, 100), 200, Some((0, 0)));
        order.record_write(0, bank(1, 300), 400, Some((1, 0)));
        order.arrive(0, |write| write.noc == 0);
        pass(&mut order, 0, 1);
        assert_eq!(order.conflict(1, bank(1, 100), 200, true), None);
        assert_eq!(order.conflict(1, bank(1, 300), 400, true), Some(Conflict::Pending(0)));
        assert_eq!(order.conflict(1, bank(0, 300), 400, true), None, "another bank");
        assert_eq!(order.conflict(0, bank(1, 300), 400, true), None, "its own kernel");
        order.arrive(0, |write| write.noc == 1);
        assert_eq!(order.conflict(1, bank(1, 300), 400, true), Some(Conflict::Pending(0)), "announced before");
        // Somebody else's bytes in between stay somebody else's.
        order.record_write(0, bank(0, 0), 100, Some((0, 0)));
        order.record_write(1, bank(0, 40), 60, None);
        order.arrive(0, |_| true);
        pass(&mut order, 0, 1);
        assert_eq!(order.conflict(1, bank(0, 0), 100, true), None);
        assert_eq!(order.conflict(0, bank(0, 0), 40, true), None);
        assert_eq!(order.conflict(0, bank(0, 0), 41, true), Some(Conflict::Write(1)));
        assert_eq!(order.conflict(0, bank(0, 59), 60, false), Some(Conflict::Write(1)));
        assert_eq!(order.conflict(0, bank(0, 60), 100, true), None);
    }

    #[test]
    fn a_second_read_of_the_same_bytes_counts_from_then_on() {
        let mut order = Order::new(2, 1, 1);
        for end in [200, 200, 300] {
            order.record_read(0, place(100), end);
            pass(&mut order, 0, 1);
            assert_eq!(order.conflict(1, place(100), 200, true), None);
            order.record_read(0, place(100), end);
            assert_eq!(order.conflict(1, place(100), 200, true), Some(Conflict::Read(0)));
            assert_eq!(order.conflict(1, place(100), 200, false), None);
            assert_eq!(order.conflict(0, place(100), 200, true), None);
            pass(&mut order, 0, 1);
        }
        order.record_write(1, place(100), 300, None);
        pass(&mut order, 1, 0);
        order.record_read(0, place(150), 160);
        order.record_write(1, place(150), 160, None);
        assert_eq!(order.conflict(1, place(150), 160, true), None, "a write makes readers forgotten");
    }

    #[test]
    fn words_tell_who_changed_them_and_whose_flags_were_seen() {
        let mut order = Order::new(3, 1, 2);
        assert!(!order.has_flag(1, 100, 104));
        assert_eq!((order.release_flag(0, (1, 100)), order.release_flag(0, (1, 200))), (1, 2));
        for (bank, start, end, there) in
            [(1, 100, 104, true), (1, 96, 101, true), (1, 96, 100, false), (1, 101, 104, false), (0, 100, 104, false)]
        {
            assert_eq!(order.has_flag(bank, start, end), there, "{bank} {start} {end}");
            assert_eq!(order.unseen_among(1, bank, start, end), there.then_some(0));
            assert_eq!(order.unseen_among(0, bank, start, end), None);
        }
        assert_eq!((order.unseen_change(1, (1, 100)), order.unseen_change(1, (1, 104))), (Some(0), None));
        // Kernel 1 sees the first flag, kernel 2 hears of it, and tells kernel 0.
        order.acquire_flag(1, 1, 100, 104);
        assert_eq!((order.unseen_change(1, (1, 100)), order.unseen_change(2, (1, 100))), (None, Some(0)));
        assert!(order.knows_seen(0, 0) && !order.knows_seen(0, 1));
        pass(&mut order, 1, 2);
        assert_eq!(order.unseen_change(2, (1, 100)), None);
        pass(&mut order, 2, 0);
        assert!(order.knows_seen(0, 1) && !order.knows_seen(0, 2) && !order.knows_seen(1, 1));
        // Words that several have added to carry all of them.
        order.release_word(1, (0, 40));
        order.release_word(2, (0, 40));
        order.acquire_flag(0, 0, 44, 48);
        assert_eq!(order.unseen_change(0, (0, 40)), Some(1));
        order.acquire_flag(0, 0, 40, 44);
        assert_eq!(order.unseen_change(0, (0, 40)), None);
    }

    #[test]
    fn bytes_of_a_flag_tell_what_their_writer_knows() {
        let mut order = Order::new(3, 1, 1);
        order.record_write(0, place(500), 600, None);
        order.record_write(0, place(100), 104, None);
        order.acquire_flag(1, 0, 104, 108);
        assert_eq!(order.conflict(1, place(500), 600, false), Some(Conflict::Write(0)));
        order.acquire_flag(1, 0, 103, 104);
        assert_eq!(order.conflict(1, place(500), 600, false), None);
        // Bytes that were read only have no writer, and one's own tell nothing new.
        order.record_read(0, place(200), 204);
        order.acquire_flag(2, 0, 200, 204);
        assert_eq!(order.conflict(2, place(500), 600, false), Some(Conflict::Write(0)));
    }

    #[test]
    fn every_byte_belongs_to_its_last_writer_and_its_readers_since() {
        let mut order = Order::new(3, 1, 1);
        let mut owner = vec![None; 256];
        let mut readers = vec![[false; 3]; 256];
        let steps = [
            (0, 0, 256, true),
            (1, 10, 20, true),
            (2, 5, 50, false),
            (2, 15, 40, true),
            (0, 12, 13, true),
            (1, 0, 256, false),
            (1, 0, 5, true),
            (2, 39, 200, true),
            (0, 100, 130, false),
            (1, 30, 220, false),
            (1, 60, 110, true),
        ];
        for (kernel, start, end, write) in steps {
            if write {
                order.record_write(kernel, place(start), end, None);
                owner[start as usize..end as usize].fill(Some(kernel as u32));
                readers[start as usize..end as usize].fill([false; 3]);
            } else {
                order.record_read(kernel, place(start), end);
                readers[start as usize..end as usize].iter_mut().for_each(|byte| byte[kernel] = true);
            }
            for byte in 0..256_u64 {
                let found: Vec<&Access> = overlaps(&order.l1[0], byte, byte + 1).map(|(_, access)| access).collect();
                assert_eq!(found.len(), 1, "byte {byte}");
                assert_eq!(Some(found[0].writer), owner[byte as usize], "byte {byte}");
                let mut seen = [false; 3];
                found[0].readers.iter().for_each(|&(reader, _)| seen[reader as usize] = true);
                assert_eq!(seen, readers[byte as usize], "byte {byte}");
            }
        }
    }
}
