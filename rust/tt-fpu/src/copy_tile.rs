//! `copy_tile`: a tile of a buffer in `Dst`.

use tt_formats::DataFormat;
use tt_tensix::tile_io::{self, Input, Tile};
use tt_tensix::unpack;

use crate::{DstFormat, MathConfig, copy_to_dst, move_page_to_dst};

/// Copies of tiles to `Dst`, by unpacker or `SrcA` and FPU.
pub trait CopyTile {
    /// Copies a tile into Dst, as `copy_tile` does.
    fn to_dst(self, math: &MathConfig, bytes: &[u8], src: &mut Tile, dst: &mut Tile);

    /// Returns a tile as [`Self::to_dst`] copies it, to be read: in L1, or in `dst`.
    fn in_dst<'t>(self, math: &MathConfig, bytes: &'t [u8], src: &mut Tile, dst: &'t mut Tile) -> &'t Tile;
}

impl CopyTile for Input {
    fn to_dst(self, math: &MathConfig, bytes: &[u8], src: &mut Tile, dst: &mut Tile) {
        // Halves that are integers come out of Src as they went in.
        let opaque = self.format == DataFormat::UInt16 && math.dst == DstFormat::UInt16;
        if self.skips_src() || opaque {
            unpack::to_dst(self.format, bytes, dst);
        } else if self.format == DataFormat::Float16B
            && math.dst == DstFormat::Bf16
            && let Ok(page) = bytes.try_into()
        {
            move_page_to_dst(dst, page);
        } else {
            self.to_src(bytes, src);
            copy_to_dst(&MathConfig { alu: self.register, ..*math }, dst, src);
        }
    }

    fn in_dst<'t>(self, math: &MathConfig, bytes: &'t [u8], src: &mut Tile, dst: &'t mut Tile) -> &'t Tile {
        if self.is_words()
            && let Some(words) = tile_io::words(bytes)
        {
            return words;
        }
        self.to_dst(math, bytes, src, dst);
        dst
    }
}
