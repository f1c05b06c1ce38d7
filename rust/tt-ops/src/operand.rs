//! One operand of an element-wise operator.
//!
//! How its pages are found, read, broadcast and activated.

use std::ops::Range;
use std::sync::Arc;

use tt_cpu::Level;
use tt_cpu::table::{HalfTable, Store};
use tt_formats::{DataFormat, TileShape};
use tt_fpu::{Broadcast, CopyTile, MathConfig};
use tt_memory::access::Pages;
use tt_memory::joined::JoinedPages;
use tt_memory::{Access, BufferId};
use tt_tensix::pack::{self, PackConfig};
use tt_tensix::tile_io::{self, Input, Tile};

use crate::activation::Activation;
use crate::broadcast::{BroadcastMap, OutputTiles, RowBroadcast};
use crate::half_table::{WORTH_A_TABLE, kept_table};
use crate::{Chain, OpError};

/// One operand: how its tiles are read, broadcast and activated.
pub(crate) struct Operand<'a> {
    pub(crate) input: Input,
    source: Source,
    broadcast: Broadcast,
    /// Set in row-major tensors whose operands are repeated.
    rows: Option<RowBroadcast>,
    chain: &'a Chain,
    repack: PackConfig,
    dst32: bool,
    /// What the chain makes of every datum, if that is quicker.
    table: Option<Arc<HalfTable>>,
    /// The chain on halves, if that is.
    activation: Option<Activation>,
}

pub(crate) enum Source {
    Buffer(BufferId, BroadcastMap),
    Scalar(Vec<u8>),
}

/// The pages of an operand while a program runs.
pub(crate) enum Found<'a> {
    /// The output itself: what a page of it holds before.
    Old,
    /// Those of a buffer.
    Pages(Pages<'a>, &'a BroadcastMap),
    /// One for all.
    Scalar(&'a [u8]),
}

impl<'a> Found<'a> {
    /// Number and bytes of the page for one output tile; `None` if the operand is the output.
    #[inline]
    pub(crate) fn page(&self, tiles: &OutputTiles, page: usize) -> Option<(usize, &'a [u8])> {
        match self {
            Self::Old => None,
            Self::Pages(pages, map) => {
                let page = map.page(tiles, page);
                Some((page, pages.page(page)))
            }
            Self::Scalar(bytes) => Some((0, bytes)),
        }
    }
}

/// Widened tiles that are kept for the next output tiles. A row of tiles that is repeated comes back after a row of
/// output tiles: this many are 8192 datums.
const KEPT: usize = 256;

/// Tiles of one operand in L1 form, each with the page it comes from.
pub(crate) type Kept = Vec<(usize, Vec<u8>)>;

impl<'a> Operand<'a> {
    pub(crate) fn new(input: Input, source: Source, chain: &'a Chain, dst32: bool) -> Self {
        let broadcast = match &source {
            Source::Buffer(_, map) => map.broadcast,
            Source::Scalar(_) => Broadcast::None,
        };
        let repack = PackConfig::new(tile_io::dst_format(input.format, dst32), input.format);
        Self { input, source, broadcast, rows: None, chain, repack, dst32, table: None, activation: None }
    }

    /// The operand of a row-major tensor: the reader repeats its rows and datums, nothing passes through Dst for that.
    pub(crate) fn in_rows(mut self, shape: &[usize], out: &[usize]) -> Self {
        self.broadcast = Broadcast::None;
        self.rows = (shape != out).then(|| RowBroadcast::new(shape, out));
        self
    }

    /// The operand of an output of so many tiles.
    pub(crate) fn of_tiles(mut self, tiles: usize, math: &MathConfig) -> Self {
        let halves = self.input.format == DataFormat::Float16B && !self.dst32;
        if halves && tiles >= WORTH_A_TABLE && !self.chain.is_empty() {
            self.table = Some(kept_table(Some((&self.input, math)), self.chain, &self.repack));
        } else if !self.chain.is_empty() {
            self.activation = Activation::new(self.input.format, math, self.chain, &self.repack, tiles);
        }
        self
    }

    /// Tiles go to the registers as they are.
    pub(crate) fn is_plain(&self) -> bool {
        self.broadcast == Broadcast::None && self.chain.is_empty()
    }

    /// Its pages in a program that writes `output`.
    pub(crate) fn find<'t>(&'t self, access: &'t Access<'_>, output: BufferId) -> Result<Found<'t>, OpError> {
        Ok(match &self.source {
            Source::Buffer(id, _) if *id == output => Found::Old,
            Source::Buffer(id, map) => Found::Pages(access.input(*id)?.all()?, map),
            Source::Scalar(bytes) => Found::Scalar(bytes),
        })
    }

    /// Copies the datums of output rows that follow each other from a row-major tensor, or from what the output's rows
    /// held before; the first row by its number, and their datums each.
    pub(crate) fn copy_rows(
        &self,
        found: &Found<'_>,
        (first, datums): (usize, usize),
        (rows, old): (usize, &JoinedPages<'_>),
        to: &mut [u8],
    ) {
        let row_bytes = datums * self.input.format.tile_bytes(TileShape::FULL) / 1024;
        let to = &mut to[..rows * row_bytes];
        match found {
            Found::Old => old.read(to),
            Found::Scalar(tile) => to.copy_from_slice(&tile[..to.len()]),
            Found::Pages(pages, _) if self.rows.is_none() => pages.read(first..first + rows, to),
            Found::Pages(..) => {
                for (row, part) in to.chunks_exact_mut(row_bytes).enumerate() {
                    self.copy_row(found, (first + row, &[]), 0..datums, part);
                }
            }
        }
    }

    /// Copies some datums of one output row from a row-major tensor, or from what the output's row held before.
    pub(crate) fn copy_row(&self, found: &Found<'_>, (row, old): (usize, &[u8]), datums: Range<usize>, to: &mut [u8]) {
        let unit = self.input.format.tile_bytes(TileShape::FULL) / 1024;
        let to = &mut to[..datums.len() * unit];
        let range = datums.start * unit..datums.end * unit;
        let whole = match found {
            Found::Old => old,
            Found::Scalar(tile) => return to.copy_from_slice(&tile[..to.len()]),
            Found::Pages(pages, _) => pages.page(self.rows.as_ref().map_or(row, |rows| rows.page(row))),
        };
        if self.rows.as_ref().is_some_and(|rows| rows.repeats_datum) {
            to.chunks_exact_mut(unit).for_each(|datum| datum.copy_from_slice(&whole[..unit]));
        } else {
            to.copy_from_slice(&whole[range]);
        }
    }

    /// [`Self::fetch`] for a page that other output tiles meet, too: a broadcast tile is widened once for many, and a
    /// number's tile is activated once.
    pub(crate) fn fetch_kept<'t>(
        &self,
        math: &MathConfig,
        (page, bytes): (usize, &'t [u8]),
        (kept, l1): (&'t mut Kept, &'t mut Vec<u8>),
        src: &mut Tile,
        dst: &mut Tile,
    ) -> &'t [u8] {
        if self.broadcast == Broadcast::None && (self.chain.is_empty() || matches!(self.source, Source::Buffer(..))) {
            return self.fetch(math, bytes, l1, src, dst);
        }
        if kept.is_empty() {
            kept.resize(KEPT, (usize::MAX, Vec::new()));
        }
        let (of, l1) = &mut kept[page % KEPT];
        if *of != page {
            *of = page;
            self.fetch(math, bytes, l1, src, dst);
        }
        l1
    }

    /// The operand's L1 bytes for one output tile: as they are, or broadcast and activated in `l1`.
    pub(crate) fn fetch<'t>(
        &self,
        math: &MathConfig,
        bytes: &'t [u8],
        l1: &'t mut Vec<u8>,
        src: &mut Tile,
        dst: &mut Tile,
    ) -> &'t [u8] {
        if self.is_plain() {
            return bytes;
        }
        if let (Broadcast::None, Some(table)) = (self.broadcast, &self.table) {
            l1.resize(bytes.len(), 0);
            table.look_up(Level::current(), bytes, l1, Store::Near);
            return l1;
        }
        if let (Broadcast::None, Some(activation)) = (self.broadcast, &self.activation) {
            l1.resize(bytes.len(), 0);
            activation.apply(bytes, l1);
            return l1;
        }
        l1.clear();
        l1.extend_from_slice(bytes);
        if self.broadcast != Broadcast::None {
            self.input.to_dst(math, l1, src, dst);
            self.broadcast.spread(dst);
            pack::pack_tile(&self.repack, dst, l1);
        }
        let words = self.input.is_words() && tile_io::packs_words(&self.repack);
        if words && let Some(words) = tile_io::words_mut(l1) {
            self.chain.apply(words, self.dst32);
        } else if !self.chain.is_empty() {
            self.input.to_dst(math, l1, src, dst);
            self.chain.apply(dst, self.dst32);
            pack::pack_tile(&self.repack, dst, l1);
        }
        l1
    }
}

/// A tile filled with one value, given as FP32 bits and cut to the format.
pub(crate) fn filled_tile(format: DataFormat, bits: u32) -> Vec<u8> {
    let bytes = format.tile_bytes(TileShape::FULL);
    match bytes {
        4096 => bits.to_le_bytes().repeat(1024),
        1024 => vec![bits as u8; 1024],
        _ if format.is_integer() => (bits as u16).to_le_bytes().repeat(1024),
        _ => ((bits >> 16) as u16).to_le_bytes().repeat(1024),
    }
}
