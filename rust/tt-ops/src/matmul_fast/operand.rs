//! Conversion of operand tiles to panels.

use std::ops::Range;

use tt_cpu::{Level, stream};
use tt_fast::{AHEAD, Bf16Page, Block, Packing, Panel, PanelDecoder, PanelPair, Running, Side};
use tt_formats::{DataFormat, TileShape};
use tt_tensix::pack;
use tt_tensix::tile_io::{Input, Tile, ZERO};
use tt_tensix::unpack;

use super::{Kernel, Pages};
use crate::movement::tile_of_rows;
use crate::windows::GatheredRows;

/// One operand's way into panels.
pub(super) struct Operand {
    pub(super) input: Input,
    pub(super) decoder: Option<PanelDecoder>,
    transposed: bool,
}

impl Operand {
    pub(super) fn new(format: DataFormat, dst32: bool, transposed: bool, level: Level) -> Self {
        Self { input: Input::new(format, dst32), decoder: PanelDecoder::new(format, level), transposed }
    }

    /// The tile as BF16 in face order, if that is all it needs.
    fn plain<'a>(&self, bytes: &'a [u8], page: &'a mut Bf16Page) -> Option<&'a Bf16Page> {
        if self.transposed {
            return None;
        }
        if self.input.format == DataFormat::Float16B {
            return bytes.first_chunk();
        }
        self.decoder?.decode(bytes, page).then_some(page)
    }

    /// Whether pages are BF16 as the product takes it.
    pub(super) fn is_plain(&self) -> bool {
        !self.transposed && self.input.format == DataFormat::Float16B
    }

    /// Whether whole tiles go straight from their pages to panels.
    pub(super) fn goes_straight(&self) -> bool {
        !self.transposed && (self.decoder.is_some() || self.input.format == DataFormat::Float16B)
    }

    /// The tile in Src as FP32 bits.
    fn tile(&self, bytes: &[u8], tile: &mut Tile) {
        self.input.to_src(bytes, tile);
        for word in tile {
            *word <<= 13;
        }
    }
}

/// Sets rows or columns from `used` on to zero.
fn clear_beyond(tile: &mut Tile, used: usize, rows: bool) {
    for (index, word) in tile.iter_mut().enumerate() {
        let (row, column) = TileShape::FULL.position(index);
        if (if rows { row } else { column }) >= used {
            *word = 0;
        }
    }
}

impl Kernel<'_> {
    /// A tile of the right operand.
    #[inline]
    pub(super) fn right_page<'p>(&self, pages: &Pages<'p>, matrix: usize, column: usize, step: usize) -> &'p [u8] {
        pages.right.page(self.program.right_page(matrix, column, step))
    }

    /// The tiles of a column of the right operand.
    pub(super) fn right_column<'p>(
        &self,
        pages: &'p Pages<'_>,
        matrix: usize,
        column: usize,
    ) -> impl Iterator<Item = &'p [u8]> + use<'p> {
        let page = |step: usize| self.program.right_page(matrix, column, step);
        let first = page(0);
        let stride = page(1) - first;
        pages.right.every(first, stride).take(self.program.k)
    }

    /// A tile of the left operand.
    #[inline]
    pub(super) fn left_page<'p>(&self, pages: &Pages<'p>, matrix: usize, row: usize, step: usize) -> &'p [u8] {
        pages.left.page(self.program.left_page(matrix, row, step))
    }

    /// Packs the left operand's tiles of some steps along K.
    pub(super) fn pack_left(&self, pages: &Pages<'_>, block: &Block, steps: Range<usize>, panels: &mut [Panel]) {
        let (mut decoded, mut made) = ([0; 2048], [0; 2048]);
        let (mut pixels, mut gathered): ([&[u8]; 32], _) = ([&[]; 32], GatheredRows::default());
        let mut found = (usize::MAX, 0);
        for (slot, row) in block.rows.clone().enumerate() {
            let page = |step: usize| self.left_page(pages, block.matrix, row, step.min(steps.end - 1));
            for step in steps.clone() {
                let panels = &mut panels[self.plan.left_place(slot, step - steps.start)..][..self.plan.per_tile];
                if let Some(windows) = pages.left.windows() {
                    let mut pack = |rows: &[&[u8]; 32], at: usize| {
                        if !self.multiplier.pack_left_rows(rows, at, panels) {
                            tile_of_rows(self.level, rows, at, &mut made);
                            self.multiplier.pack_bf16(Side::Left, &made, panels);
                        }
                    };
                    if let Some((place, at)) = windows.place(step) {
                        // The channels of a pixel are some steps.
                        if (slot, place) != found {
                            (found, pixels) = ((slot, place), pages.left.pixels(row, place));
                        }
                        pack(&pixels, at);
                    } else {
                        pack(&gathered.gather(&pages.left, windows, (row, step)), 0);
                    }
                    continue;
                }
                let bytes = page(step);
                stream::prefetch_all(page(step + AHEAD));
                let used = self.used(step);
                match self.left.plain(bytes, &mut decoded) {
                    Some(page) if used >= 32 => self.multiplier.pack_bf16(Side::Left, page, panels),
                    _ => self.pack_left_tile(bytes, used, panels),
                }
            }
        }
    }

    /// Datums of a step along K that count.
    pub(super) fn used(&self, step: usize) -> usize {
        self.program.k_datums - (step * 32).min(self.program.k_datums)
    }

    /// Any tile of the left operand.
    #[cold]
    #[inline(never)]
    fn pack_left_tile(&self, bytes: &[u8], used: usize, panels: &mut [Panel]) {
        let (mut tile, mut other) = (ZERO, ZERO);
        if self.left.transposed {
            let input = self.left.input;
            input.to_src(bytes, &mut tile);
            clear_beyond(&mut tile, used, true);
            unpack::transpose(&tile, &mut other);
            let (math, packer) = &self.repack_left;
            tt_fpu::copy_to_dst(math, &mut tile, &other);
            let mut l1 = [0; 4096];
            let l1 = &mut l1[..input.format.tile_bytes(TileShape::FULL)];
            pack::pack_tile(packer, &tile, l1);
            self.left.tile(l1, &mut tile);
        } else {
            self.left.tile(bytes, &mut tile);
            clear_beyond(&mut tile, used, false);
        }
        self.multiplier.pack(Side::Left, &tile, panels);
    }

    /// Packs a page of the right operand, of a step along K.
    #[inline]
    pub(super) fn pack_right_page(&self, bytes: &[u8], step: usize, panels: &mut [Panel]) {
        // What the padding holds meets zeros; infinities there would still show.
        let used = self.used(step);
        if used < 32 || self.right.transposed {
            self.pack_right_tile(bytes, used, panels);
        } else if let (DataFormat::Float16B, Some(page)) = (self.right.input.format, bytes.first_chunk()) {
            self.multiplier.pack_bf16(Side::Right, page, panels);
        } else if !self.right.decoder.is_some_and(|decoder| self.multiplier.pack_right_block(decoder, bytes, panels)) {
            self.pack_right_other(bytes, used, panels);
        }
    }

    /// Multiplies a tile of each operand while a page of the right one, of a step along K, is packed to its panels' place.
    /// `next` are the operands of the product that follows, `soon` is a page that is packed later.
    #[inline]
    pub(super) fn step_beside(
        &self,
        running: &mut Running<'_>,
        (left, panels): (&[Panel], &mut [Panel]),
        next: PanelPair<'_>,
        (page, step): (&[u8], usize),
        soon: &[u8],
    ) {
        let used = self.used(step);
        let decoder = self.right.decoder;
        if used < 32 || !self.right.goes_straight() {
            running.steps(left, panels);
            self.pack_right_page(page, step, panels);
        } else {
            let packing = Packing { decoder, page, panels: &mut *panels, next, soon };
            if !running.step_beside(left, &self.multiplier, packing) {
                self.pack_right_other(page, used, panels);
            }
        }
    }

    /// A page that has no way straight to panels.
    #[inline(never)]
    fn pack_right_other(&self, bytes: &[u8], used: usize, panels: &mut [Panel]) {
        let mut decoded = [0; 2048];
        match self.right.plain(bytes, &mut decoded) {
            Some(page) => self.multiplier.pack_bf16(Side::Right, page, panels),
            None => self.pack_right_tile(bytes, used, panels),
        }
    }

    /// Any tile of the right operand.
    #[cold]
    #[inline(never)]
    fn pack_right_tile(&self, bytes: &[u8], used: usize, panels: &mut [Panel]) {
        let (mut tile, mut other) = (ZERO, ZERO);
        self.right.tile(bytes, &mut tile);
        if self.right.transposed {
            unpack::transpose(&tile, &mut other);
            std::mem::swap(&mut tile, &mut other);
        }
        clear_beyond(&mut tile, used, true);
        self.multiplier.pack(Side::Right, &tile, panels);
    }
}
