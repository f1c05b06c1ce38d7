//! Vector functions of single datums in a 16-bit `Dst`, on halves.

use std::sync::Arc;

use tt_cpu::Level;
use tt_cpu::table::HalfTable;
use tt_formats::DataFormat;
use tt_fpu::HalfTile;
use tt_fpu::bf16_lanes::{self, Reader};
use tt_fpu::{DstFormat, MathConfig};
use tt_sfpu::exec::bf16::{self, Bf16Step};
use tt_tensix::pack::{HalfPacker, PackConfig};
use tt_tensix::unpack::Bf16Page;

use crate::Chain;
use crate::half_table::{WORTH_A_TABLE, kept_table};

/// What a chain does to halves.
pub(crate) enum Steps {
    Nothing,
    /// A step of its own.
    Step(Bf16Step),
    /// A table of the chain, with the packer's treatment of BF16 at its end, which any later one would begin with.
    Table(Arc<HalfTable>),
}

impl Steps {
    /// `None` for chains that are not worth a table for so many tiles.
    pub(crate) fn new(chain: &Chain, tiles: usize) -> Option<Self> {
        if chain.is_empty() {
            return Some(Self::Nothing);
        }
        if let Some(step) = chain.bf16() {
            return Some(Self::Step(step));
        }
        // Bytes are looked up, the lower one first.
        let table = tiles >= WORTH_A_TABLE && cfg!(target_endian = "little");
        let packer = PackConfig::new(DstFormat::Bf16, DataFormat::Float16B);
        table.then(|| Self::Table(kept_table(None, chain, &packer)))
    }

    pub(crate) fn apply(&self, level: Level, dst: &mut HalfTile) {
        match self {
            Self::Nothing => {}
            Self::Step(step) => step.apply(level, dst),
            Self::Table(table) => table.look_up_in_place(level, bytemuck::cast_slice_mut(dst)),
        }
    }
}

/// The way of tiles through a 16-bit `Dst` to L1, as that of an operand's activation back to its format.
pub(crate) struct Activation {
    reader: Reader,
    steps: Steps,
    packer: HalfPacker,
}

impl Activation {
    /// `None` for other formats, chains that are not worth a table, and levels without vectors.
    pub(crate) fn new(
        format: DataFormat,
        math: &MathConfig,
        chain: &Chain,
        packer: &PackConfig,
        tiles: usize,
    ) -> Option<Self> {
        let level = Level::current();
        if !bf16_lanes::supports(level, math) {
            return None;
        }
        let (reader, packer) = (Reader::new(format, level)?, HalfPacker::new(packer, level)?);
        Some(Self { reader, steps: Steps::new(chain, tiles)?, packer })
    }

    /// Makes `l1` what becomes of the tile.
    pub(crate) fn apply(&self, bytes: &[u8], l1: &mut [u8]) {
        let level = Level::current();
        let mut page: Bf16Page = [0; 2048];
        let page = self.reader.read(bytes, &mut page);
        let mut dst: HalfTile = [0; 1024];
        match &self.steps {
            Steps::Step(Bf16Step::Test(test)) => test.apply_to_page(level, page, &mut dst),
            steps => {
                bf16::enter(level, page, &mut dst);
                steps.apply(level, &mut dst);
            }
        }
        self.packer.pack(&dst, l1);
    }
}
