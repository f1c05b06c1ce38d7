//! Block floats, a tile at a time.
//!
//! The same bits as the functions for one datum, in loops that vectorise.
//!
//! Each step runs over all datums of a tile before the next one begins, with sixteen-bit lanes where they suffice. The
//! steps of one group after the other would be shorter to write and ten times slower.
use crate::format::GROUP;
use crate::host;

/// Most datums that a tile has.
pub const MOST_DATUMS: usize = 1024;

/// One word for each datum of a tile.
///
/// Smaller tiles use the beginning.
pub type Lanes<T> = [T; MOST_DATUMS];

/// Datums that a step runs over: a face. What lies between two steps stays in the first-level cache.
const STEP: usize = 256;

/// What lies between the steps of making block floats: each datum's exponent, and the largest of its group.
struct Exponents {
    own: [u16; STEP],
    most: [u16; STEP],
}

impl Exponents {
    #[inline(always)]
    fn new() -> Self {
        Self { own: [0; STEP], most: [0; STEP] }
    }

    /// Finds the largest exponent of each group: one byte per group, and the same value for each datum of it.
    #[inline(always)]
    fn share<T: Copy>(&mut self, values: &[T], shared: &mut [u8], exponent: impl Fn(T) -> u16) {
        let own = &mut self.own[..values.len()];
        for (own, value) in own.iter_mut().zip(values) {
            *own = exponent(*value);
        }
        let groups = own.as_chunks::<GROUP>().0.iter().zip(self.most.as_chunks_mut::<GROUP>().0);
        for ((own, most), shared) in groups.zip(shared) {
            let largest = own.iter().fold(0, |largest: u16, exponent| largest.max(*exponent));
            *shared = largest as u8;
            *most = [largest; GROUP];
        }
    }
}

/// Puts 8-bit datums where they belong in a tile: as they are, or two or four in a byte, the first one lowest.
///
/// Narrow datums are in the upper bits of theirs.
#[inline(always)]
fn squeeze<const BITS: usize>(datums: &[u8], packed: &mut [u8]) {
    match BITS {
        4 => {
            for (pair, byte) in datums.as_chunks::<2>().0.iter().zip(packed) {
                let word = u16::from_le_bytes(*pair);
                *byte = (word >> 4 & 0xf | word >> 8 & 0xf0) as u8;
            }
        }
        2 => {
            for (four, byte) in datums.as_chunks::<4>().0.iter().zip(packed) {
                let word = u32::from_le_bytes(*four);
                *byte = (word >> 6 & 3 | word >> 12 & 0xc | word >> 18 & 0x30 | word >> 24 & 0xc0) as u8;
            }
        }
        _ => packed.copy_from_slice(datums),
    }
}

/// The reverse of [`squeeze`].
#[inline(always)]
fn stretch<const BITS: usize>(packed: &[u8], datums: &mut [u8]) {
    match BITS {
        4 => {
            for (pair, byte) in datums.as_chunks_mut::<2>().0.iter_mut().zip(packed) {
                let byte = u16::from(*byte);
                *pair = (byte << 4 & 0xf0 | byte << 8 & 0xf000).to_le_bytes();
            }
        }
        2 => {
            for (four, byte) in datums.as_chunks_mut::<4>().0.iter_mut().zip(packed) {
                let byte = u32::from(*byte);
                *four = (byte << 6 & 0xc0 | byte << 12 & 0xc000 | byte << 18 & 0xc0_0000 | byte << 24 & 0xc000_0000)
                    .to_le_bytes();
            }
        }
        _ => datums.copy_from_slice(packed),
    }
}

/// Makes the block floats of a tile, step by step.
///
/// `exponent` is that of a value; `datum` makes a value's 8-bit datum, given its exponent and the largest of its group.
#[inline(always)]
fn make<const BITS: usize, T: Copy>(
    values: &[T],
    exponents: &mut [u8],
    datums: &mut [u8],
    exponent: impl Fn(T) -> u16,
    datum: impl Fn(T, u16, u16) -> u8,
) {
    let mut between = Exponents::new();
    let mut wide = [0; STEP];
    let sections = exponents.chunks_mut(STEP / GROUP).zip(datums.chunks_mut(STEP * BITS / 8));
    for (values, (exponents, datums)) in values.chunks(STEP).zip(sections) {
        between.share(values, exponents, &exponent);
        let wide = &mut wide[..values.len()];
        for (((value, own), most), wide) in values.iter().zip(&between.own).zip(&between.most).zip(&mut *wide) {
            *wide = datum(*value, *own, *most);
        }
        squeeze::<BITS>(wide, datums);
    }
}

/// An 8-bit datum; zero has no sign.
#[inline(always)]
const fn signed(sign: u16, magnitude: u16) -> u8 {
    if magnitude == 0 { 0 } else { (sign | magnitude) as u8 }
}

/// The packer's datum: the magnitude is rounded to 7 bits, ties away, and then cut to the upper `BITS - 1`.
#[inline(always)]
fn packed_datum<const BITS: usize>(sign: u16, mantissa: u16, own: u16, most: u16) -> u8 {
    let significand = mantissa | if own == 0 { 0 } else { 0x80 };
    // Half a unit is added after the shift: floor((m + 2^d) / 2^(d+1)) = floor((floor(m / 2^d) + 1) / 2).
    let aligned = significand >> (most - own).min(15);
    let magnitude = ((aligned + 1) >> 1).min(127);
    signed(sign, magnitude & (0x7f << (8 - BITS)))
}

/// The packer: BF16 values become block floats of `BITS` with 8-bit exponents.
///
/// See [`crate::pack::bf16_to_bfp8_b`].
#[inline(always)]
pub fn pack_bfp_b<const BITS: usize>(values: &[u16], exponents: &mut [u8], datums: &mut [u8]) {
    let exponent = |y: u16| y >> 7 & 0xff;
    let datum = |y: u16, own, most| packed_datum::<BITS>(y >> 8 & 0x80, y & 0x7f, own, most);
    make::<BITS, u16>(values, exponents, datums, exponent, datum);
}

/// The packer: FP16 values become block floats of `BITS` with 5-bit exponents.
///
/// See [`crate::pack::fp16_to_bfp8`].
#[inline(always)]
pub fn pack_bfp<const BITS: usize>(values: &[u16], exponents: &mut [u8], datums: &mut [u8]) {
    let exponent = |y: u16| y >> 10 & 0x1f;
    let datum = |y: u16, own, most| packed_datum::<BITS>(y >> 8 & 0x80, y >> 3 & 0x7f, own, most);
    make::<BITS, u16>(values, exponents, datums, exponent, datum);
}

/// The host library: FP32 words become block floats of `BITS`. See [`crate::host::fp32_to_bfp`].
#[inline(always)]
pub fn quantise_fp32<const BITS: usize>(words: &[u32], exponents: &mut [u8], datums: &mut [u8]) {
    let datum = |x: u32, own: u16, most: u16| {
        let dropped = 25 - BITS as u32;
        let significand = if own == 0 { 0 } else { x & 0x7f_ffff | 0x80_0000 };
        let aligned = significand >> u32::from(most - own).min(31);
        let rounded = (aligned + (1 << (dropped - 1)) - 1 + (aligned >> dropped & 1)) >> dropped;
        let magnitude = rounded.min((1 << (BITS - 1)) - 1) << (8 - BITS);
        signed((x >> 24 & 0x80) as u16, magnitude as u16)
    };
    make::<BITS, u32>(words, exponents, datums, |x| (x >> 23 & 0xff) as u16, datum);
}

/// The host library.
///
/// BF16 words become block floats of `BITS`, the same bits as by way of FP32.
#[inline(always)]
pub fn quantise_bf16<const BITS: usize>(words: &[u16], exponents: &mut [u8], datums: &mut [u8]) {
    let datum = |x: u16, own: u16, most: u16| {
        let dropped = 17 - BITS as u32;
        // The significand in the upper byte leaves eight bits below it; what is shifted out of those too is far too
        // small to be rounded up, and what would round beyond the largest magnitude saturates there.
        let significand = if own == 0 { 0 } else { x << 8 | 0x8000 };
        let aligned = significand >> (most - own).min(15);
        let magnitude = aligned.saturating_add((1 << (dropped - 1)) - 1 + (aligned >> dropped & 1)) >> dropped;
        signed(x >> 8 & 0x80, magnitude << (8 - BITS))
    };
    make::<BITS, u16>(words, exponents, datums, |x| x >> 7 & 0xff, datum);
}

/// Calls `value(datum, exponent)` for each datum of a tile.
///
/// Datums come as 8 bits whatever `BITS` is.
#[inline(always)]
pub fn unpack<const BITS: usize, T>(exponents: &[u8], datums: &[u8], values: &mut [T], value: impl Fn(u32, u32) -> T) {
    let (mut wide, mut spread) = ([0; STEP], [0; STEP]);
    let sections = exponents.chunks(STEP / GROUP).zip(datums.chunks(STEP * BITS / 8));
    for (values, (exponents, datums)) in values.chunks_mut(STEP).zip(sections) {
        let wide = &mut wide[..values.len()];
        stretch::<BITS>(datums, wide);
        for (spread, exponent) in spread.as_chunks_mut::<GROUP>().0.iter_mut().zip(exponents) {
            *spread = [u16::from(*exponent); GROUP];
        }
        for ((y, datum), exponent) in values.iter_mut().zip(&*wide).zip(&spread) {
            *y = value(u32::from(*datum), u32::from(*exponent));
        }
    }
}

/// The host library: block floats of `BITS` become FP32 words. See [`host::bfp8_b_to_fp32`].
#[inline(always)]
pub fn unpack_fp32<const BITS: usize>(exponents: &[u8], datums: &[u8], values: &mut [u32]) {
    if has_tiny_exponents::<BITS>(exponents, datums) {
        return unpack::<BITS, u32>(exponents, datums, values, host::bfp8_b_to_fp32);
    }
    unpack::<BITS, u32>(exponents, datums, values, |datum, exponent| {
        let magnitude = datum & 0x7f;
        let normal = (magnitude as f32).to_bits().wrapping_add(exponent << 23).wrapping_sub(133 << 23);
        (datum & 0x80) << 24 | if magnitude == 0 { 0 } else { normal }
    });
}

/// The host library: block floats of `BITS` become BF16 words.
///
/// They hold no more bits than BF16 does.
#[inline(always)]
pub fn unpack_bf16<const BITS: usize>(exponents: &[u8], datums: &[u8], values: &mut [u16]) {
    if has_tiny_exponents::<BITS>(exponents, datums) {
        let upper_half = |datum, exponent| (host::bfp8_b_to_fp32(datum, exponent) >> 16) as u16;
        return unpack::<BITS, u16>(exponents, datums, values, upper_half);
    }
    unpack::<BITS, u16>(exponents, datums, values, |datum, exponent| {
        let magnitude = datum & 0x7f;
        let normal = ((magnitude as f32).to_bits() >> 16).wrapping_add(exponent << 7).wrapping_sub(133 << 7);
        ((datum & 0x80) << 8 | if magnitude == 0 { 0 } else { normal }) as u16
    });
}

/// Whether a datum can be below the normal range of FP32. Zeros have the exponent 0, so that alone says nothing.
#[inline(always)]
fn has_tiny_exponents<const BITS: usize>(exponents: &[u8], datums: &[u8]) -> bool {
    let smallest = exponents.iter().fold(u8::MAX, |smallest, exponent| smallest.min(*exponent));
    let mut groups = exponents.iter().zip(datums.chunks_exact(GROUP * BITS / 8));
    smallest < 7 && groups.any(|(exponent, group)| *exponent < 7 && group.iter().any(|byte| *byte != 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{pack as one, unpack as read};
    use tt_testkit::random::Random;

    /// Every BF16 value, in an order that mixes exponents in the groups, followed by groups of close exponents.
    fn tiles() -> Vec<Vec<u16>> {
        let mut random = Random::new(5);
        let mut words: Vec<u16> = (0..=0xffff).collect();
        for i in (1..words.len()).rev() {
            words.swap(i, random.below(i as u32 + 1) as usize);
        }
        words.extend(0..=0xffff);
        for _ in 0..0x10000 {
            let exponent = 0x3f80 + random.between(-12, 3) * 128;
            words.push((exponent as u32 + random.below(128) + random.below(2) * 0x8000) as u16);
        }
        words.chunks_exact(MOST_DATUMS).map(<[u16]>::to_vec).collect()
    }

    fn narrow(bits: usize, datums: &[u32], expected_byte: impl Fn(&[u32]) -> u32) -> Vec<u8> {
        datums.chunks_exact(8 / bits).map(|datums| expected_byte(datums) as u8).collect()
    }

    fn joined(bits: usize) -> impl Fn(&[u32]) -> u32 {
        move |datums| datums.iter().enumerate().fold(0, |byte, (i, datum)| byte | datum << (i * bits))
    }

    #[test]
    fn the_packers_tiles_are_its_datums() {
        for tile in tiles() {
            let groups: Vec<[u32; GROUP]> = tile.as_chunks::<GROUP>().0.iter().map(|g| g.map(u32::from)).collect();
            let shared: Vec<u8> = groups.iter().map(|group| one::bfp_b_exponent(group) as u8).collect();
            let datums: Vec<u32> = groups
                .iter()
                .flat_map(|group| group.map(|y| one::bf16_to_bfp8_b(y, one::bfp_b_exponent(group))))
                .collect();
            let narrower = |cut: fn(u32) -> u32| datums.iter().map(|datum| cut(*datum)).collect::<Vec<_>>();
            let mut exponents = [0; 64];
            let mut packed = [0; 1024];
            pack_bfp_b::<8>(&tile, &mut exponents, &mut packed);
            assert_eq!(exponents[..], shared);
            assert_eq!(packed[..], narrow(8, &datums, joined(8)));
            pack_bfp_b::<4>(&tile, &mut exponents, &mut packed[..512]);
            assert_eq!(packed[..512], narrow(4, &narrower(one::bfp8_to_bfp4), joined(4)));
            pack_bfp_b::<2>(&tile, &mut exponents, &mut packed[..256]);
            assert_eq!(packed[..256], narrow(2, &narrower(one::bfp8_to_bfp2), joined(2)));

            let shared: Vec<u8> = groups.iter().map(|group| one::bfp_exponent(group) as u8).collect();
            let datums: Vec<u8> = groups
                .iter()
                .flat_map(|group| group.map(|y| one::fp16_to_bfp8(y, one::bfp_exponent(group)) as u8))
                .collect();
            pack_bfp::<8>(&tile, &mut exponents, &mut packed);
            assert_eq!((&exponents[..], &packed[..]), (&shared[..], &datums[..]));
        }
    }

    fn check_host<const BITS: usize, const MAGNITUDE_BITS: u32>(words: &[u32], halves: Option<&[u16]>) {
        let mut expected = (Vec::new(), Vec::new());
        for group in words.as_chunks::<GROUP>().0 {
            let shared = group.iter().map(|x| host::fp32_exponent(*x)).max().expect("sixteen");
            expected.0.push(shared as u8);
            expected.1.extend(group.map(|x| host::fp32_to_bfp::<MAGNITUDE_BITS>(x, shared)));
        }
        let expected = (expected.0, narrow(BITS, &expected.1, joined(BITS)));
        let (mut exponents, mut packed) = (vec![0; 64], vec![0; 128 * BITS]);
        quantise_fp32::<BITS>(words, &mut exponents, &mut packed);
        assert!((&exponents, &packed) == (&expected.0, &expected.1));
        if let Some(halves) = halves {
            quantise_bf16::<BITS>(halves, &mut exponents, &mut packed);
            assert!((exponents, packed) == expected);
        }
    }

    #[test]
    fn the_host_librarys_tiles_are_its_datums() {
        let mut random = Random::new(6);
        for tile in tiles() {
            let words: Vec<u32> = tile.iter().map(|x| u32::from(*x) << 16).collect();
            check_host::<8, 7>(&words, Some(&tile));
            check_host::<4, 3>(&words, Some(&tile));
            let words: Vec<u32> = words.iter().map(|x| x | random.below(0x10000)).collect();
            check_host::<8, 7>(&words, None);
            check_host::<4, 3>(&words, None);
        }
    }

    #[test]
    fn every_datum_with_every_exponent_comes_back_on_the_host() {
        for exponent in 0..=255u8 {
            let datums: Vec<u8> = (0..=255).collect();
            let (mut words, mut halves) = ([0; 256], [0; 256]);
            unpack_fp32::<8>(&[exponent; 16], &datums, &mut words);
            unpack_bf16::<8>(&[exponent; 16], &datums, &mut halves);
            for (datum, (word, half)) in words.into_iter().zip(halves).enumerate() {
                assert_eq!(word, host::bfp8_b_to_fp32(datum as u32, exponent.into()));
                assert_eq!(u32::from(half), word >> 16);
            }
        }
    }

    #[test]
    fn narrow_datums_come_back() {
        let packed: Vec<u8> = (0..=255).collect();
        let exponents = [130; 64];
        let (mut four, mut two) = ([0; 512], [0; 1024]);
        unpack::<4, u32>(&exponents, &packed, &mut four, read::bfp8_b_to_bf16);
        unpack::<2, u32>(&exponents, &packed, &mut two, read::bfp8_b_to_bf16);
        for (i, value) in four.into_iter().enumerate() {
            let datum = u32::from(packed[i / 2]) >> (i % 2 * 4) & 0xf;
            assert_eq!(value, read::bfp8_b_to_bf16(datum << 4, 130));
        }
        for (i, value) in two.into_iter().enumerate() {
            let datum = u32::from(packed[i / 4]) >> (i % 4 * 2) & 3;
            assert_eq!(value, read::bfp8_b_to_bf16(datum << 6, 130));
        }
    }
}
