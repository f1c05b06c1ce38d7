//! The buffer after a link, shared by its virtual channels.
//!
//! They are those of its packets.
//!
//! A router keeps a few flits of a packet that cannot go on. Each virtual channel has room for one flit of its own and
//! may take a share of a common pool. On a fixed channel a writer is held up as soon as that channel has its share. On
//! channels that the hardware chooses, packets of several writers wait side by side and fill the pool; from then on every
//! channel has its own flit only, and the link moves one flit per channel in the time that a credit takes to come back.
//! It stays so until the writers no longer queue up: what leaves the pool is taken by the packet that comes next. Source:
//! `WormholeB0/DRAMTile/README.md` and `WormholeB0/NoC/README.md` of tt-isa-documentation; `docs/chip/noc.md` section 2.

use crate::layout::Node;
use crate::parameters::{Buffers, Rate};

/// A writer whose packets want to pass.
#[derive(Debug, Clone, Copy)]
struct Writer {
    node: Node,
    /// Until when a packet of its own waits for the link or behind it.
    until: u64,
    /// What its last packet takes of the pool.
    held: u64,
}

/// Packets on chosen channels around one link.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pool {
    writers: Vec<Writer>,
    full: bool,
}

impl Pool {
    /// A packet of `writer` wants to pass at `now`. Returns the rate that the link is held to, if its pool is full.
    pub(crate) fn arrive(&mut self, buffers: &Buffers, writer: Node, now: u64) -> Option<Rate> {
        let others = || self.writers.iter().filter(|other| other.node != writer && other.until > now);
        // It takes its own share as soon as it has to wait.
        let held: u64 = others().map(|other| other.held).sum();
        let channels = others().count() as u64 + 1;
        self.full =
            if self.full { channels * buffers.share >= buffers.pool } else { held + buffers.share >= buffers.pool };
        self.full.then(|| buffers.starved())
    }

    /// The packet has passed at `until`, after the router behind the link has kept it for `waited` cycles, in which
    /// `flit` bytes came in each cycle.
    pub(crate) fn leave(&mut self, buffers: &Buffers, node: Node, until: u64, waited: u64, flit: u64) {
        let held = buffers.share.min(waited * flit);
        match self.writers.iter_mut().find(|writer| writer.node == node) {
            Some(writer) => (writer.until, writer.held) = (writer.until.max(until), held),
            None => self.writers.push(Writer { node, until, held }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::WORMHOLE;

    const BUFFERS: &Buffers = &WORMHOLE.buffers;

    /// Packets of `writers` arrive at 0 and have to wait behind the link; whether the pool holds one that comes after.
    fn full_after(pool: &mut Pool, writers: u32, waited: u64) -> bool {
        for x in 0..writers {
            pool.arrive(BUFFERS, Node { x, y: 1 }, 0);
            pool.leave(BUFFERS, Node { x, y: 1 }, 1000, waited, 32);
        }
        pool.arrive(BUFFERS, Node { x: 0, y: 1 }, 500).is_some()
    }

    #[test]
    fn four_waiting_writers_fill_the_pool_and_three_do_not() {
        assert!(!full_after(&mut Pool::default(), 1, 100));
        assert!(!full_after(&mut Pool::default(), 3, 100));
        assert!(full_after(&mut Pool::default(), 4, 100));
        // Packets that hardly wait leave nothing in the pool, however many writers there are.
        assert!(!full_after(&mut Pool::default(), 12, 1));
    }

    #[test]
    fn a_full_pool_recovers_when_the_queue_is_gone() {
        let mut pool = Pool::default();
        assert!(full_after(&mut pool, 4, 100));
        // It stays full while four writers queue up, even if their packets pass quickly now.
        pool.leave(BUFFERS, Node { x: 0, y: 1 }, 1100, 0, 32);
        assert!(pool.arrive(BUFFERS, Node { x: 3, y: 1 }, 900).is_some());
        assert!(pool.arrive(BUFFERS, Node { x: 3, y: 1 }, 1050).is_none());
    }

    #[test]
    fn a_starved_link_moves_a_flit_per_channel_and_round_trip() {
        assert_eq!(BUFFERS.starved().cycles(4 * 32), 18);
    }
}
