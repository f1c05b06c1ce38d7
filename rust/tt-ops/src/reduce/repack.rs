//! Repacking of block floats into other groups.
//!
//! They are bfloat16 on the way, and packed by `typecast` when they have arrived.

use tt_cpu::Level;
use tt_formats::{DataFormat, TileShape};
use tt_fpu::HalfTile;
use tt_tensix::pack::{DstFormat, HalfPacker, PackConfig};
use tt_tensix::unpack::{Bf16Page, BlockFloatDecoder};

/// A block float format's way out and back, with room.
pub struct Repack {
    decoder: BlockFloatDecoder,
    packer: HalfPacker,
    packed: Vec<u8>,
    half: HalfTile,
}

impl Repack {
    /// `None` for formats that are no block floats with 8-bit exponents.
    pub fn new(format: DataFormat, level: Level) -> Option<Self> {
        let packer = PackConfig::precise(DstFormat::Bf16, format, format == DataFormat::Bfp8B);
        Some(Self {
            decoder: BlockFloatDecoder::new(format, level)?,
            packer: HalfPacker::new(&packer, level)?,
            packed: vec![0; format.tile_bytes(TileShape::FULL)],
            half: [0; 1024],
        })
    }

    /// Writes the datums of a tile as bfloat16.
    ///
    /// True if they are plain numbers, which [`Self::pack`] does not change as long as they stay in their groups.
    pub fn open(&self, tile: &[u8], page: &mut Bf16Page) -> bool {
        let plain = self.decoder.decode(tile, page);
        if !plain {
            self.decoder.decode_any(tile, page);
        }
        plain
    }

    /// Replaces each line of 16 datums by its group's rest.
    pub fn pack(&mut self, page: &mut Bf16Page) {
        let mut packed = std::mem::take(&mut self.packed);
        self.close(page.as_chunks().0, &mut packed);
        self.open(&packed, page);
        self.packed = packed;
    }

    /// Packs a tile once more, other padding beyond its rows and columns.
    pub fn again(&mut self, tile: &[u8], padding: Option<([usize; 2], [u8; 2])>, out: &mut [u8]) {
        let mut page = [0; 2048];
        self.open(tile, &mut page);
        if let Some((extent, word)) = padding {
            pad(&mut page, extent, &word);
        }
        self.close(page.as_chunks().0, out);
    }

    /// Packs a tile of bfloat16.
    pub fn close(&mut self, datums: &[[u8; 2]], tile: &mut [u8]) {
        for (half, datum) in self.half.iter_mut().zip(datums) {
            *half = u16::from_le_bytes(*datum);
        }
        self.packer.pack(&self.half, tile);
    }
}

/// Overwrites what lies beyond the rows and columns of a tile.
pub fn pad(bytes: &mut [u8], [rows, columns]: [usize; 2], word: &[u8]) {
    for (index, datum) in bytes.chunks_exact_mut(word.len()).enumerate() {
        let (row, column) = TileShape::FULL.position(index);
        if row >= rows || column >= columns {
            datum.copy_from_slice(word);
        }
    }
}

#[cfg(test)]
mod tests {
    use tt_tensix::tile_io::{ZERO, narrow};
    use tt_tensix::unpack;
    use tt_testkit::random::Random;

    use super::*;

    #[test]
    fn plain_numbers_stay_as_they_are_in_their_groups() {
        let mut random = Random::new(6);
        let formats = [DataFormat::Bfp8B, DataFormat::Bfp4B];
        for (format, &level) in
            formats.iter().flat_map(|&format| Level::supported().iter().map(move |level| (format, level)))
        {
            let mut repack = Repack::new(format, level).expect("block floats");
            let (mut plain, mut other) = (0, 0);
            for round in 0..300 {
                let mut tile: Vec<u8> =
                    (0..format.tile_bytes(TileShape::FULL)).map(|_| random.below(256) as u8).collect();
                for exponent in &mut tile[..64] {
                    *exponent = match round % 3 {
                        0 => *exponent,
                        1 => 8 + *exponent % 246,
                        _ => 240 + *exponent % 16,
                    };
                }
                if round % 2 == 0 {
                    // Groups whose largest magnitudes are small, and no minus infinity.
                    tile[64..]
                        .iter_mut()
                        .for_each(|datum| *datum = *datum & 0x33 | if *datum > 128 { 0x11 } else { 0 });
                }
                let (mut page, mut words) = ([0; 2048], ZERO);
                if repack.open(&tile, &mut page) {
                    plain += 1;
                    let mut opened = [0; 2048];
                    unpack::to_src(format, format, &tile, &mut words);
                    narrow(&words, &mut opened);
                    assert!(page == opened, "{format:?}, {level:?}, round {round}");
                    let old = page;
                    repack.pack(&mut page);
                    assert!(page == old, "{format:?}, {level:?}, round {round}");
                } else {
                    other += 1;
                }
            }
            assert!(plain > 40 && other > 40, "{format:?}: {plain} plain tiles and {other} others");
        }
    }
}
