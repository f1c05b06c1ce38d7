//! The FPU's minimum of `BFP8_b`, without neutral L1 round trips.
//!
//! Left out are the ways to L1 that change nothing.
//!
//! The program negates a tile, packs it, and pools what it unpacks again with the running maximum, which is packed and
//! unpacked too. Seven bits of magnitude survive a pack in a group with which they share an exponent already: of plain
//! numbers the first way leaves negated ones, and zeros without a sign. A running maximum is alone in its group if rows
//! were reduced; if columns were, it has neighbours with exponents of their own, and only there anything is rounded.

use super::super::Src;
use tt_cpu::{Level, simd_kernel};
use tt_formats::{block, format::GROUP, pack, unpack};

/// Exponents of a tile.
const EXPONENTS: usize = 1024 / GROUP;
/// Exponents whose groups have normal numbers only, also after the pack.
const NORMAL: std::ops::RangeInclusive<u8> = 8..=253;
/// Minus infinity.
const NEGATIVE_ZERO: u8 = 0x80;

/// Returns true if a tile has normal numbers and zeros only.
pub fn is_plain(bytes: &[u8]) -> bool {
    plain_kernel::run(Level::current(), bytes)
}

#[inline(always)]
fn plain_body(bytes: &[u8]) -> bool {
    let (exponents, datums) = bytes.split_at(EXPONENTS);
    let mut odd = false;
    for (exponent, group) in exponents.iter().zip(datums.as_chunks::<GROUP>().0) {
        let (mut infinite, mut any) = (false, 0);
        for &datum in group {
            infinite |= datum == NEGATIVE_ZERO;
            any |= datum;
        }
        odd |= infinite || any != 0 && !NORMAL.contains(exponent);
    }
    !odd
}

simd_kernel!(plain_kernel, super::plain_body, (bytes: &[u8]) -> bool);

/// Passes a plain tile in `Src` through `Dst`, negated, and L1.
pub fn negate(src: &mut Src) {
    for word in src {
        *word = if *word == 0 { 0 } else { *word ^ unpack::SRC_SIGN };
    }
}

/// Passes a row of `Dst` words in a group through L1.
pub fn through_l1(row: &mut [u32; GROUP]) {
    let values = row.map(|word| pack::fp32_to_e8m6(word) as u16);
    let (mut exponent, mut datums) = ([0], [0; GROUP]);
    block::pack_bfp_b::<8>(&values, &mut exponent, &mut datums);
    *row = datums.map(|datum| unpack::bfp8_b_to_bf16(datum.into(), exponent[0].into()) << 16);
}
