//! Datums as bytes.
//!
//! Lines of a face, words of any width, and what `Dst` does to bfloat16.

use tt_formats::{block, format::GROUP, pack, unpack};

use super::setting::{EXPONENTS, LINE};

/// Reads a block-float tile line as bfloat16 datums.
///
/// It is given by its first datum.
pub type Decode = fn(&[u8], usize) -> [u16; LINE];

/// Returns a bfloat16 datum after it has passed through Dst.
#[inline(always)]
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

/// Copies up to 16 datums between a row and a tile.
///
/// What is left of a row; whole ones have a length that the compiler knows.
pub fn copy_line(to: &mut [u8], from: &[u8], bytes: usize) {
    match bytes {
        32 => to[..32].copy_from_slice(&from[..32]),
        64 => to[..64].copy_from_slice(&from[..64]),
        _ => to[..bytes].copy_from_slice(&from[..bytes]),
    }
}

/// Passes bfloat16 datums through Dst.
#[inline(always)]
pub fn flush_bytes(bytes: &mut [u8]) {
    for datum in bytes.as_chunks_mut::<2>().0 {
        *datum = flushed(u16::from_le_bytes(*datum)).to_le_bytes();
    }
}

/// Widens datums to words.
pub fn load_words(bytes: &[u8], datum_bytes: usize, out: &mut [u32]) {
    fn load<const BYTES: usize>(bytes: &[u8], out: &mut [u32]) {
        for (word, datum) in out.iter_mut().zip(bytes.as_chunks::<BYTES>().0) {
            let mut wide = [0; 4];
            wide[..BYTES].copy_from_slice(datum);
            *word = u32::from_le_bytes(wide);
        }
    }
    match datum_bytes {
        4 => load::<4>(bytes, out),
        2 => load::<2>(bytes, out),
        _ => load::<1>(bytes, out),
    }
}

/// Stores the datums of words.
pub fn store_words(words: &[u32], datum_bytes: usize, out: &mut [u8]) {
    fn store<const BYTES: usize>(words: &[u32], out: &mut [u8]) {
        for (datum, word) in out.as_chunks_mut::<BYTES>().0.iter_mut().zip(words) {
            datum.copy_from_slice(&word.to_le_bytes()[..BYTES]);
        }
    }
    match datum_bytes {
        4 => store::<4>(words, out),
        2 => store::<2>(words, out),
        _ => store::<1>(words, out),
    }
}
