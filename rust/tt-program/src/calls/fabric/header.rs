//! Packet headers as kernels write them to L1.
//!
//! Fields have the official offsets and numbers; the route after them has a layout of its own, which the C++ headers
//! and the Python functions write.

use crate::error::FaultKind;
use crate::state::fabric::Action;

/// Bytes of the fields that say what a packet does.
const FIELDS: usize = 40;
const PAYLOAD_BYTES: usize = 40;
const SEND_TYPE: usize = 42;
const ROUTE: usize = 44;
/// Bytes that routers copy at once.
const UNIT: usize = 16;

/// What a packet does, by the number in its header.
mod send_type {
    pub(super) const WRITE: u8 = 0;
    pub(super) const INLINE_WRITE: u8 = 1;
    pub(super) const ATOMIC_INC: u8 = 2;
    pub(super) const FUSED_ATOMIC_INC: u8 = 3;
    pub(super) const SCATTER_WRITE: u8 = 4;
    pub(super) const SPARSE_WRITE: u8 = 8;
}

/// The way of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// So many chips of a connection, the first at a distance.
    Line {
        /// Distance of the first.
        start: u32,
        /// Number of chips.
        chips: u32,
    },
    /// Chips of a connection; bit 0 is the next one.
    Mask(u64),
    /// One chip of a mesh.
    Device {
        /// The mesh.
        mesh: u32,
        /// The chip there.
        device: u32,
    },
    /// All chips around the sender up to these distances.
    Rectangle {
        /// Columns to the right.
        east: u32,
        /// Columns to the left.
        west: u32,
        /// Rows above.
        north: u32,
        /// Rows below.
        south: u32,
    },
}

/// A parsed header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) route: Route,
    /// Bytes of the payload that are sent.
    pub(super) payload: usize,
    actions: Vec<Action>,
    /// Actions per chip of a sparse multicast.
    counts: Option<Vec<usize>>,
}

impl Header {
    /// Parses a header in front of a payload of so many bytes.
    ///
    /// # Errors
    /// Kinds that routers do not know, or that have bugs there; sizes that do not fit.
    pub(super) fn parse(bytes: &[u8], given: usize) -> Result<Self, FaultKind> {
        let fields = Fields(bytes);
        if bytes.len() < 48 {
            return Err(FaultKind::Bug(format!("a packet header of {} B", bytes.len())));
        }
        let kind = bytes[SEND_TYPE];
        let payload = fields.half(PAYLOAD_BYTES) as usize;
        let with_payload = !matches!(kind, send_type::INLINE_WRITE | send_type::ATOMIC_INC);
        // Kernels send a few bytes with the size of the unit in which routers copy.
        if with_payload && payload > given.next_multiple_of(UNIT) {
            return invalid(&format!("its payload is {payload} B, but {given} B were written to the connection"));
        }
        if with_payload && payload == 0 {
            return invalid("its payload is 0 B");
        }
        let write = |address, start, end| Action::Write { address, bytes: start..end };
        let mut counts = None;
        let actions = match kind {
            send_type::WRITE => vec![write(fields.long(0), 0, payload)],
            send_type::INLINE_WRITE => vec![Action::Set { address: fields.long(0), value: fields.word(8) }],
            send_type::ATOMIC_INC => vec![Action::Add { address: fields.long(0), value: fields.word(8) }],
            send_type::FUSED_ATOMIC_INC => {
                vec![write(fields.long(0), 0, payload), Action::Add { address: fields.long(8), value: fields.word(16) }]
            }
            send_type::SCATTER_WRITE => fields.scattered(payload)?,
            send_type::SPARSE_WRITE => {
                let (pages, chips) = (bytes[36] as usize, bytes[37] as usize);
                let each: Vec<usize> = bytes[32..36].iter().take(chips).map(|&count| count.into()).collect();
                if pages > 4 || each.len() != chips || each.iter().sum::<usize>() != pages {
                    return invalid(&format!("{pages} addresses for {chips} chips, at most 4 with a count each"));
                }
                counts = Some(each);
                (0..pages).map(|page| write(fields.long(8 * page), 0, payload)).collect()
            }
            5..=7 => {
                let name = ["a multicast write", "a multicast increment", "a read"][usize::from(kind) - 5];
                let text = format!("packet header: {name} on the other chip (send type {kind}) is not supported");
                return Err(FaultKind::Unsupported(text));
            }
            _ => return invalid(&format!("there is no send type {kind}")),
        };
        let payload = if with_payload { payload } else { 0 };
        Ok(Self { route: fields.route()?, payload, actions, counts })
    }

    /// All NoC addresses.
    pub(super) fn addresses(&self) -> impl Iterator<Item = u64> + '_ {
        self.actions.iter().map(|action| match *action {
            Action::Write { address, .. } | Action::Set { address, .. } | Action::Add { address, .. } => address,
        })
    }

    /// What the packet does at its destination with this number; `None` for one that it has nothing for.
    pub(super) fn actions_at(&self, index: usize) -> Option<Vec<Action>> {
        let Some(counts) = &self.counts else { return Some(self.actions.clone()) };
        let before: usize = counts.iter().take(index).sum();
        Some(self.actions[before..before + counts.get(index)?].to_vec())
    }
}

fn invalid<T>(what: &str) -> Result<T, FaultKind> {
    Err(FaultKind::Argument(format!("packet header: {what}")))
}

struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn half(&self, at: usize) -> u32 {
        u32::from(self.0[at]) | u32::from(self.0[at + 1]) << 8
    }

    fn word(&self, at: usize) -> u32 {
        self.half(at) | self.half(at + 2) << 16
    }

    fn long(&self, at: usize) -> u64 {
        u64::from(self.word(at)) | u64::from(self.word(at + 4)) << 32
    }

    /// Parts of a payload for several addresses, and counts after them.
    fn scattered(&self, payload: usize) -> Result<Vec<Action>, FaultKind> {
        let (chunks, encoding) = (self.0[FIELDS - 2] as usize, self.0[FIELDS - 1]);
        if !(2..=4).contains(&chunks) {
            return invalid(&format!("{chunks} chunks, 2 to 4 are allowed"));
        }
        let kind = |chunk: usize| encoding >> (2 * chunk) & 3;
        let last = (0..chunks).rfind(|&chunk| kind(chunk) == 1);
        let mut start = 0;
        let mut actions = Vec::new();
        for chunk in 0..chunks {
            let address = self.long(8 * chunk);
            let size = if chunk < 3 { self.half(32 + 2 * chunk) as usize } else { 0 };
            match kind(chunk) {
                0 => {}
                1 => {
                    let end = if Some(chunk) == last { payload } else { start + size };
                    if end <= start || end > payload {
                        return invalid(&format!("chunk {chunk} ends at byte {end} of a payload of {payload} B"));
                    }
                    actions.push(Action::Write { address, bytes: start..end });
                    start = end;
                }
                _ => actions.push(Action::Add { address, value: size as u32 }),
            }
        }
        Ok(actions)
    }

    fn route(&self) -> Result<Route, FaultKind> {
        let [kind, first, second, _] = [0, 1, 2, 3].map(|byte| self.0[ROUTE + byte]);
        let wide = || {
            if self.0.len() < 96 {
                return invalid("a route to a device needs a 2-D fabric");
            }
            Ok(())
        };
        match kind {
            0 => Ok(Route::Line { start: first.into(), chips: 1 }),
            1 if second > 0 => Ok(Route::Line { start: first.into(), chips: second.into() }),
            2 => wide().map(|()| Route::Device { device: self.half(48), mesh: self.half(50) }),
            3 => {
                wide()?;
                let [east, west, north, south] = [52, 53, 54, 55].map(|at| u32::from(self.0[at]));
                Ok(Route::Rectangle { east, west, north, south })
            }
            4 => Ok(Route::Mask(if self.0.len() < 64 { self.half(46) } else { self.word(48) }.into())),
            _ => invalid(&format!("there is no route of kind {kind} to {second} chips")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(kind: u8, payload: u16, route: [u8; 4], fields: &[(usize, &[u8])]) -> Vec<u8> {
        let mut bytes = vec![0; 48];
        bytes[PAYLOAD_BYTES..SEND_TYPE].copy_from_slice(&payload.to_le_bytes());
        bytes[SEND_TYPE] = kind;
        bytes[ROUTE..ROUTE + 4].copy_from_slice(&route);
        for (at, value) in fields {
            bytes[*at..at + value.len()].copy_from_slice(value);
        }
        bytes
    }

    #[test]
    fn writes_and_counts_are_in_the_order_of_the_header() {
        let address = 0x0012_3456_789a_bcdeu64;
        let fused =
            header(3, 64, [0, 2, 0, 0], &[(0, &address.to_le_bytes()), (8, &7u64.to_le_bytes()), (16, &[5, 1])]);
        let parsed = Header::parse(&fused, 80).expect("a header");
        assert_eq!(parsed.route, Route::Line { start: 2, chips: 1 });
        let all = [Action::Write { address, bytes: 0..64 }, Action::Add { address: 7, value: 261 }];
        assert_eq!((parsed.payload, parsed.actions_at(0).as_deref()), (64, Some(&all[..])));
        let scatter = header(
            4,
            100,
            [1, 1, 3, 0],
            &[(0, &[1]), (8, &[2]), (16, &[3]), (32, &[60, 0, 40, 0, 9]), (38, &[3, 0b11_01_01])],
        );
        let parsed = Header::parse(&scatter, 100).expect("a header");
        assert_eq!(parsed.route, Route::Line { start: 1, chips: 3 });
        let write = |address, bytes| Action::Write { address, bytes };
        assert_eq!(parsed.actions, [write(1, 0..60), write(2, 60..100), Action::Add { address: 3, value: 9 }]);
    }

    #[test]
    fn the_last_unit_of_a_payload_may_be_incomplete() {
        assert_eq!(Header::parse(&header(0, 16, [0, 1, 0, 0], &[]), 6).expect("a header").payload, 16);
    }

    #[test]
    fn a_sparse_multicast_has_addresses_for_each_chip() {
        let sparse = header(8, 32, [4, 0, 0b101, 0], &[(0, &[1]), (8, &[2]), (16, &[3]), (32, &[2, 1]), (36, &[3, 2])]);
        let parsed = Header::parse(&sparse, 32).expect("a header");
        assert_eq!(parsed.route, Route::Mask(0b101));
        let write = |address| Action::Write { address, bytes: 0..32 };
        assert_eq!(parsed.actions_at(0), Some(vec![write(1), write(2)]));
        assert_eq!((parsed.actions_at(1), parsed.actions_at(2)), (Some(vec![write(3)]), None));
    }

    #[test]
    fn headers_that_no_router_follows_are_errors() {
        let one = [0, 1, 0, 0];
        for (bytes, given, text) in [
            (header(0, 64, one, &[]), 32, "32 B were written"),
            (header(0, 0, one, &[]), 32, "0 B"),
            (header(0, 32, one, &[]), 15, "15 B were written"),
            (header(9, 64, one, &[]), 64, "no send type 9"),
            (header(4, 64, one, &[(38, &[5])]), 64, "5 chunks"),
            (header(4, 64, one, &[(32, &[80]), (38, &[2, 5])]), 64, "ends at byte 80"),
            (header(0, 64, [2, 0, 0, 0], &[]), 64, "2-D fabric"),
            (header(0, 64, [1, 1, 0, 0], &[]), 64, "to 0 chips"),
            (header(8, 64, one, &[(32, &[1, 1]), (36, &[3, 2])]), 64, "3 addresses for 2 chips"),
        ] {
            let error = Header::parse(&bytes, given).expect_err("a header that is refused");
            assert!(error.to_string().contains(text), "{error}");
        }
        let read = Header::parse(&header(7, 64, one, &[]), 64).expect_err("a read");
        assert!(matches!(read, FaultKind::Unsupported(_)), "{read}");
    }
}
