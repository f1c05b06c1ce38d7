//! Packets as bytes, for other processes.

use std::sync::Arc;

use tt_memory::chip::LogicalCore;

use crate::error::SourcePlace;
use crate::spec::Risc;
use crate::state::fabric::{Action, Arrival, Packet, Sender};

/// Packets as bytes.
pub fn encode(packets: &[Packet]) -> Vec<u8> {
    let mut to = Vec::new();
    count(&mut to, packets.len());
    for Packet { sender, vector, payload, source, arrivals } in packets {
        for word in [sender.chip, sender.kernel, sender.number] {
            count(&mut to, word);
        }
        for word in [sender.core.x, sender.core.y, sender.risc as u32, sender.connection] {
            to.extend(word.to_le_bytes());
        }
        count(&mut to, sender.place.iter().len());
        if let Some(SourcePlace { file, line, called }) = &sender.place {
            to.extend(line.to_le_bytes());
            bytes(&mut to, file.as_bytes());
            bytes(&mut to, called.as_bytes());
        }
        count(&mut to, vector.iter().len());
        if let Some(vector) = vector {
            count(&mut to, vector.len());
            to.extend(vector.iter().flat_map(|point| point.to_le_bytes()));
        }
        bytes(&mut to, payload);
        to.extend(source.to_le_bytes());
        count(&mut to, arrivals.len());
        for Arrival { chip, time, actions } in arrivals {
            count(&mut to, *chip);
            to.extend(time.to_le_bytes());
            count(&mut to, actions.len());
            for action in actions {
                let (kind, address, operand) = match *action {
                    Action::Write { address, ref bytes } => (0, address, [bytes.start as u64, bytes.end as u64]),
                    Action::Set { address, value } => (1, address, [value.into(), 0]),
                    Action::Add { address, value } => (2, address, [value.into(), 0]),
                };
                to.push(kind);
                to.extend([address, operand[0], operand[1]].into_iter().flat_map(u64::to_le_bytes));
            }
        }
    }
    to
}

/// Packets of bytes; `None` if the bytes are no packets.
pub fn decode(bytes: &[u8]) -> Option<Vec<Packet>> {
    let mut from = Bytes(bytes);
    let packets = (0..from.count()?).map(|_| packet(&mut from)).collect::<Option<Vec<_>>>()?;
    from.0.is_empty().then_some(packets)
}

fn packet(from: &mut Bytes<'_>) -> Option<Packet> {
    let [chip, kernel, number] = [from.number()?, from.number()?, from.number()?];
    let core = LogicalCore { x: from.word()?, y: from.word()? };
    let risc = [Risc::Brisc, Risc::Ncrisc, Risc::Trisc].into_iter().nth(from.word()? as usize)?;
    let connection = from.word()?;
    let place = match from.number()? {
        0 => None,
        _ => Some(SourcePlace { line: from.word()?, file: from.text()?, called: from.text()? }),
    };
    let vector = match from.number()? {
        0 => None,
        _ => Some((0..from.count()?).map(|_| from.word()).collect::<Option<_>>()?),
    };
    let payload: Arc<[u8]> = from.bytes()?.into();
    let source = from.word()?;
    let arrivals = (0..from.count()?).map(|_| arrival(from, payload.len())).collect::<Option<_>>()?;
    let sender = Sender { chip, core, risc, kernel, number, connection, place };
    Some(Packet { sender, vector, payload, source, arrivals })
}

fn arrival(from: &mut Bytes<'_>, payload: usize) -> Option<Arrival> {
    let (chip, time) = (from.number()?, from.long()?);
    let actions = (0..from.count()?).map(|_| {
        let [kind] = from.array()?;
        let (address, operand) = (from.long()?, [from.number()?, from.number()?]);
        let value = u32::try_from(operand[0]);
        match kind {
            0 => {
                let bytes = operand[0]..operand[1];
                (bytes.start <= bytes.end && bytes.end <= payload).then_some(Action::Write { address, bytes })
            }
            1 => Some(Action::Set { address, value: value.ok()? }),
            2 => Some(Action::Add { address, value: value.ok()? }),
            _ => None,
        }
    });
    Some(Arrival { chip, time, actions: actions.collect::<Option<_>>()? })
}

fn count(to: &mut Vec<u8>, number: usize) {
    to.extend((number as u64).to_le_bytes());
}

fn bytes(to: &mut Vec<u8>, part: &[u8]) {
    count(to, part.len());
    to.extend(part);
}

/// Bytes that have not been read.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (part, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(part)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn word(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn long(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn number(&mut self) -> Option<usize> {
        usize::try_from(self.long()?).ok()
    }

    /// A number of things, of which each has a byte at least.
    fn count(&mut self) -> Option<usize> {
        self.number().filter(|&count| count <= self.0.len())
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = self.count()?;
        self.take(count)
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packets() -> Vec<Packet> {
        let sender = |place| Sender {
            chip: 3,
            core: LogicalCore { x: 1, y: 7 },
            risc: Risc::Ncrisc,
            kernel: 2,
            number: 31,
            connection: 9,
            place,
        };
        let place = SourcePlace { file: "writer.cpp".to_owned(), line: 17, called: String::new() };
        let write = Action::Write { address: 1 << 40, bytes: 1..4 };
        let word = [Action::Set { address: 64, value: u32::MAX }, Action::Add { address: 96, value: 1 }];
        let arrivals = vec![
            Arrival { chip: 4, time: 800, actions: vec![write] },
            Arrival { chip: 5, time: 1600, actions: word.to_vec() },
        ];
        vec![
            Packet {
                sender: sender(Some(place)),
                vector: Some(vec![1, 0, 5]),
                payload: Arc::from([1, 2, 3, 4]),
                source: 4096,
                arrivals,
            },
            Packet { sender: sender(None), vector: None, payload: Arc::from([]), source: 0, arrivals: Vec::new() },
        ]
    }

    #[test]
    fn packets_are_what_they_were() {
        let sent = packets();
        let received = decode(&encode(&sent)).expect("packets");
        assert_eq!(received.len(), sent.len());
        for (packet, other) in received.iter().zip(&sent) {
            assert_eq!((&packet.sender, &packet.vector), (&other.sender, &other.vector));
            assert_eq!((&packet.payload, packet.source), (&other.payload, other.source));
            assert_eq!(packet.arrivals, other.arrivals);
        }
    }

    #[test]
    fn other_bytes_are_no_packets() {
        let bytes = encode(&packets());
        for end in 0..bytes.len() {
            assert!(decode(&bytes[..end]).is_none(), "{end} B of {}", bytes.len());
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x80;
            // Lengths and ranges are checked; what is found then is some packet.
            for packet in decode(&changed).iter().flatten() {
                for action in packet.arrivals.iter().flat_map(|arrival| &arrival.actions) {
                    if let Action::Write { bytes, .. } = action {
                        assert!(packet.payload.get(bytes.clone()).is_some());
                    }
                }
            }
        }
    }
}
