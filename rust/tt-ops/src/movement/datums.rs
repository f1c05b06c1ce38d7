//! Datums as bytes: lines of a face, words of any width, and what `Dst` does to bfloat16.

use tt_formats::{block, format::GROUP, pack, unpack};

use super::setting::{EXPONENTS, LINE};

/// Reads a line of a block-float tile, given by its first datum, as bfloat16 datums.
pub type Decode = fn(&[u8], usize) -> [u16; LINE];

/// What passing through Dst does to a bfloat16 datum.
pub fn flushed(word: u16) -> u16 {
    pack::bf16_to_bf16(word.into()) as u16
}

/// [`Decode`]; a line is a group with an exponent of its own.
pub fn decoded<const BITS: usize>(tile: &[u8], first: usize) -> [u16; LINE] {
    let group = first / GROUP;
    let bytes = LINE * BITS / 8;
    let line = &tile[EXPONENTS + group * bytes..][..bytes];
    let mut words = [0; LINE];
    block::unpack::<BITS, u16>(&tile[group..=group], line, &mut words, |datum, exponent| {
        unpack::bfp8_b_to_bf16(datum, exponent) as u16
    });
    words
}

/// Copies 16 datums, or what is left of a row, between a row and a tile; whole ones with a length that the compiler
/// knows.
pub fn copy_line(to: &mut [u8], from: &[u8], bytes: usize) {
    match bytes {
        32 => to[..32].copy_from_slice(&from[..32]),
        64 => to[..64].copy_from_slice(&from[..64]),
        _ => to[..bytes].copy_from_slice(&from[..bytes]),
    }
}

/// What passing through Dst does to bfloat16 datums.
pub fn flush_bytes(bytes: &mut [u8]) {
    for datum in bytes.as_chunks_mut::<2>().0 {
        *datum = flushed(u16::from_le_bytes(*datum)).to_le_bytes();
    }
}

/// Widens datums to words.
pub fn load_words(bytes: &[u8], datum_bytes: usize, out: &mut [u32]) {
    match datum_bytes {
        4 => {
            for (word, bytes) in out.iter_mut().zip(bytes.chunks_exact(4)) {
                *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            }
        }
        2 => {
            for (word, bytes) in out.iter_mut().zip(bytes.chunks_exact(2)) {
                *word = u32::from(u16::from_le_bytes([bytes[0], bytes[1]]));
            }
        }
        _ => {
            for (word, byte) in out.iter_mut().zip(bytes) {
                *word = u32::from(*byte);
            }
        }
    }
}

/// Stores the datums of words.
pub fn store_words(words: &[u32], datum_bytes: usize, out: &mut [u8]) {
    match datum_bytes {
        4 => {
            for (bytes, word) in out.chunks_exact_mut(4).zip(words) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
        }
        2 => {
            for (bytes, word) in out.chunks_exact_mut(2).zip(words) {
                bytes.copy_from_slice(&(*word as u16).to_le_bytes());
            }
        }
        _ => {
            for (byte, word) in out.iter_mut().zip(words) {
                *byte = *word as u8;
            }
        }
    }
}
