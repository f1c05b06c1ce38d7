//! Block floats to BF16 by one power of two multiplication.
//!
//! It is the group's.
//!
//! That holds for every group whose exponents stay normal numbers; other tiles are unpacked datum by datum.
#[cfg(target_arch = "x86_64")]
pub mod permutes;

use tt_cpu::{Level, simd_kernel};
use tt_formats::{DataFormat, block, unpack};

use crate::regs::{Bf16Page, TILE_DATUMS};

/// Datums that share an exponent.
const GROUP: usize = 16;
const GROUPS: usize = TILE_DATUMS / GROUP;

type ToPage = unsafe fn(&[u8], &mut Bf16Page) -> bool;

/// The same for all patterns.
type AnyToPage = unsafe fn(&[u8], &mut Bf16Page);

/// Parts in which a tile is decoded.
pub const PARTS: usize = 16;

/// The body once for each of the [`PARTS`], whose number is a constant: the compiler then knows which instructions a part has.
#[macro_export]
macro_rules! each_part {
    ($number:ident => $body:block) => {
        $crate::each_part!($number => $body 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    ($number:ident => $body:block $($part:literal)*) => {
        $({
            const $number: usize = $part;
            $body
        })*
    };
}

/// Work whose instructions are interleaved with the decoding of a tile.
pub trait Interleave {
    /// To be called once for each part, in their order, for a page of `LINES` cache lines.
    fn part<const LINES: usize>(&mut self, number: usize);
}

/// Nothing.
impl Interleave for () {
    #[inline(always)]
    fn part<const LINES: usize>(&mut self, _: usize) {}
}

/// Decodes tiles of one format.
#[derive(Clone, Copy)]
pub struct BlockFloatDecoder {
    page: ToPage,
    any: AnyToPage,
}

impl BlockFloatDecoder {
    /// The decoder of a format, `None` if it has none.
    ///
    /// Two formats have one.
    pub fn new(format: DataFormat, level: Level) -> Option<Self> {
        if level.available() == Level::Avx512
            && let Some(decoder) = Self::with_permutes(format)
        {
            return Some(decoder);
        }
        match format {
            DataFormat::Bfp8B => Some(Self { page: bfp8::at(level), any: any_bfp8::at(level) }),
            DataFormat::Bfp4B => Some(Self { page: bfp4::at(level), any: any_bfp4::at(level) }),
            _ => None,
        }
    }

    /// The decoder that looks magnitudes up by byte permutes, `None` also if this CPU has none.
    #[inline]
    pub(super) fn with_permutes(format: DataFormat) -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if permutes::available() {
            return match format {
                DataFormat::Bfp8B => Some(Self { page: permutes::page::<8>, any: any_bfp8::at(Level::Avx512) }),
                DataFormat::Bfp4B => Some(Self { page: permutes::page::<4>, any: any_bfp4::at(Level::Avx512) }),
                _ => None,
            };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = format;
        None
    }

    /// Decodes a tile.
    ///
    /// False if it has patterns that are not plain numbers; `page` is then meaningless.
    ///
    /// # Panics
    /// If `l1` is shorter than a tile.
    #[inline]
    pub fn decode(self, l1: &[u8], page: &mut Bf16Page) -> bool {
        // SAFETY: `new` takes versions of levels that this host has.
        unsafe { (self.page)(l1, page) }
    }

    /// Decodes a tile whatever its patterns, as the unpacker does.
    ///
    /// # Panics
    /// If `l1` is shorter than a tile.
    #[inline]
    pub fn decode_any(self, l1: &[u8], page: &mut Bf16Page) {
        // SAFETY: as above.
        unsafe {
            if !(self.page)(l1, page) {
                (self.any)(l1, page);
            }
        }
    }
}

/// The power of two of a group's lowest magnitude bit; 0 for a group that is not plain.
#[inline(always)]
fn scale(exponent: u8) -> f32 {
    let exponent = u32::from(exponent);
    if exponent.wrapping_sub(8) <= 253 - 8 { f32::from_bits((exponent - 6) << 23) } else { 0.0 }
}

/// One datum with its magnitude in bits 6:0 and its sign in bit 7.
#[inline(always)]
fn datum(byte: u32, scale: f32) -> u32 {
    let magnitude = (byte & 0x7f) as i32 as f32;
    (magnitude * scale).to_bits() | (byte & 0x80) << 24
}

#[inline(always)]
fn groups<const BYTES: usize>(l1: &[u8], page: &mut Bf16Page, byte: impl Fn(&[u8; BYTES], usize) -> u32) -> bool {
    let (exponents, datums) = l1.split_at(GROUPS);
    let mut scales = [0.0; GROUPS];
    for (scale, exponent) in scales.iter_mut().zip(exponents) {
        *scale = self::scale(*exponent);
    }
    // A negative zero stands for minus infinity, a number without a scale for one whose exponent wraps.
    let mut odd = 0;
    for ((datums, out), scale) in
        datums.as_chunks::<BYTES>().0.iter().zip(page.as_chunks_mut::<{ 2 * GROUP }>().0).zip(&scales)
    {
        let without_scale = if *scale == 0.0 { 0x7f } else { 0 };
        for (place, out) in out.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            let byte = byte(datums, place);
            odd |= u32::from(byte == 0x80) | byte & without_scale;
            *out = ((datum(byte, *scale) >> 16) as u16).to_le_bytes();
        }
    }
    odd == 0
}

/// All patterns, each as it is defined.
#[inline(always)]
fn any_datums<const BITS: usize>(l1: &[u8], page: &mut Bf16Page) {
    let (exponents, datums) = l1.split_at(GROUPS);
    let bf16 = |datum, exponent| (unpack::bfp8_b_to_bf16(datum, exponent) as u16).to_le_bytes();
    block::unpack::<BITS, [u8; 2]>(exponents, &datums[..TILE_DATUMS * BITS / 8], page.as_chunks_mut::<2>().0, bf16);
}

#[inline(always)]
fn any_bfp8_body(l1: &[u8], page: &mut Bf16Page) {
    any_datums::<8>(l1, page);
}

#[inline(always)]
fn any_bfp4_body(l1: &[u8], page: &mut Bf16Page) {
    any_datums::<4>(l1, page);
}

#[inline(always)]
fn bfp8_body(l1: &[u8], page: &mut Bf16Page) -> bool {
    groups::<GROUP>(l1, page, |datums, place| u32::from(datums[place]))
}

#[inline(always)]
fn bfp4_body(l1: &[u8], page: &mut Bf16Page) -> bool {
    groups::<{ GROUP / 2 }>(l1, page, |datums, place| {
        let nibble = u32::from(datums[place / 2] >> (place % 2 * 4)) & 15;
        (nibble & 8) << 4 | (nibble & 7) << 4
    })
}

simd_kernel!(any_bfp8, super::any_bfp8_body, (l1: &[u8], page: &mut Bf16Page));
simd_kernel!(any_bfp4, super::any_bfp4_body, (l1: &[u8], page: &mut Bf16Page));
simd_kernel!(bfp8, super::bfp8_body, (l1: &[u8], page: &mut Bf16Page) -> bool);
simd_kernel!(bfp4, super::bfp4_body, (l1: &[u8], page: &mut Bf16Page) -> bool);
