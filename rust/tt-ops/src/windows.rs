//! The left operand of a product.
//!
//! Tiles of a tensor, or tiles of windows of images that are made when they are needed.
//!
//! A row of the operand is what a window of a convolution sees at one place: pixel after pixel of it, row by row. As
//! rows that are tilized, datums pass through `Dst`.

use std::iter;
use std::ops::Range;

use tt_cpu::{Level, stream};
use tt_formats::DataFormat;
use tt_memory::access::Pages;

use crate::OpError;
use crate::movement::{HALVES, flush_tile, tile_of_rows};

/// The order of a window's datums along K.
///
/// They are in blocks of full tiles, each of a row of the window or of all of it, with some channels of its pixels.
#[derive(Clone, Debug)]
pub struct Order {
    /// Channels of a pixel in a block.
    pub channels: usize,
    /// First channel of each block of a row.
    ///
    /// Channels that a pixel does not have are zeros.
    pub firsts: Vec<usize>,
    /// A block has all rows of the window.
    pub whole: bool,
}

/// Windows of bfloat16 images.
///
/// Pages have the channels of a pixel.
#[derive(Clone, Debug)]
pub struct Windows {
    /// Images.
    pub images: usize,
    /// Rows and columns of an image.
    pub image: (usize, usize),
    /// Channels of a pixel.
    pub channels: usize,
    /// Order of a window's datums.
    pub order: Order,
    /// Rows and columns of the window.
    pub kernel: (usize, usize),
    /// Steps of the window.
    pub stride: (usize, usize),
    /// Zero rows above and columns left of an image.
    pub padding: (usize, usize),
    /// Steps inside of the window.
    pub dilation: (usize, usize),
    /// Rows and columns of places of the window.
    pub output: (usize, usize),
}

impl Windows {
    /// Refuses mismatched product tiles and image pages.
    ///
    /// # Errors
    /// [`OpError::Invariant`].
    pub fn check(&self, (m, k): (usize, usize), (pages, page_bytes): (usize, usize)) -> Result<(), OpError> {
        let rows = self.images * self.output.0 * self.output.1;
        let blocks = if self.order.whole { 1 } else { self.kernel.0 } * self.order.firsts.len();
        let pixels = self.images * self.image.0 * self.image.1;
        let fits = rows.div_ceil(32) == m && pixels == pages && page_bytes == 2 * self.channels;
        if fits && self.channels > 0 && self.order.channels > 0 && blocks * self.block() == k {
            return Ok(());
        }
        let what = format!("{m} x {k} tiles of {self:?}, {pages} pixels of {page_bytes} B");
        Err(OpError::Invariant { operator: "matmul", what })
    }

    /// Pixels of a block, and the tiles that they fill.
    fn pixels_of_a_block(&self) -> usize {
        self.kernel.1 * if self.order.whole { self.kernel.0 } else { 1 }
    }

    fn block(&self) -> usize {
        (self.pixels_of_a_block() * self.order.channels).div_ceil(32)
    }

    /// The place in the window where a block begins, and its first channel.
    fn begin(&self, block: usize) -> (usize, usize) {
        let firsts = &self.order.firsts;
        let row = if self.order.whole { 0 } else { block / firsts.len() };
        (row * self.kernel.1, firsts[block % firsts.len()])
    }

    /// The place in the window and the first byte of a step along K, if one pixel has all of its datums.
    pub(crate) fn place(&self, step: usize) -> Option<(usize, usize)> {
        let tiles = self.order.channels / 32;
        if !self.order.channels.is_multiple_of(32) {
            return None;
        }
        let (place, first) = self.begin(step / self.block());
        let inside = step % self.block();
        let channel = first + inside % tiles * 32;
        (channel + 32 <= self.channels).then_some((place + inside / tiles, 2 * channel))
    }

    /// What makes a step along K: places in the window, bytes of their pixels, and where these go in a row of the tile.
    fn pieces(&self, step: usize) -> impl Iterator<Item = (usize, Range<usize>, usize)> + '_ {
        let (place, first) = self.begin(step / self.block());
        let from = step % self.block() * 32;
        let to = (from + 32).min(self.pixels_of_a_block() * self.order.channels);
        let mut next = from;
        iter::from_fn(move || {
            if next >= to {
                return None;
            }
            let (pixel, channel) = (next / self.order.channels, next % self.order.channels);
            let count = (self.order.channels - channel).min(to - next);
            let bytes = |channel: usize| 2 * (first + channel).min(self.channels);
            let piece = (place + pixel, bytes(channel)..bytes(channel + count), 2 * (next - from));
            next += count;
            Some(piece)
        })
    }
}

/// The source of the left operand.
#[derive(Clone, Debug, Default)]
pub enum LeftOperand {
    /// The tiles of a tensor.
    #[default]
    Tiles,
    /// Those of a tensor of bfloat16, passed through `Dst`.
    Flushed,
    /// Windows of images.
    Windows(Windows),
}

impl LeftOperand {
    /// Returns true if tiles are pages.
    pub fn is_pages(&self) -> bool {
        matches!(self, Self::Tiles)
    }
}

/// The left operand during a product.
pub(crate) struct Left<'a> {
    pages: Pages<'a>,
    operand: &'a LeftOperand,
    /// A pixel beside the image.
    zeros: Vec<u8>,
    level: Level,
}

impl<'a> Left<'a> {
    pub(crate) fn new(pages: Pages<'a>, operand: &'a LeftOperand) -> Self {
        let bytes = if let LeftOperand::Windows(windows) = operand { 2 * windows.channels } else { 0 };
        Self { pages, operand, zeros: vec![0; bytes], level: Level::current() }
    }

    /// The page of a tile.
    #[inline]
    pub(crate) fn page(&self, page: usize) -> &'a [u8] {
        self.pages.page(page)
    }

    /// Asks for the page of a tile to be brought to the second-level cache, if tiles are pages.
    #[inline]
    pub(crate) fn ask(&self, page: usize) {
        if self.windows().is_none() {
            stream::prefetch_second_all(self.pages.page(page));
        }
    }

    /// The page of a tile, given by its number, row and step along K; one that is made is so in `made`.
    #[inline]
    pub(crate) fn tile<'t>(&'t self, (page, row, step): (usize, usize, usize), made: &'t mut [u8; HALVES]) -> &'t [u8] {
        match self.operand {
            LeftOperand::Tiles => self.pages.page(page),
            LeftOperand::Flushed => {
                flush_tile(self.level, self.pages.page(page), made);
                made
            }
            LeftOperand::Windows(windows) => {
                if let Some((place, at)) = windows.place(step) {
                    tile_of_rows(self.level, &self.pixels(row, place), at, made);
                } else {
                    let mut rows = GatheredRows::default();
                    tile_of_rows(self.level, &rows.gather(self, windows, (row, step)), 0, made);
                }
                made
            }
        }
    }

    /// The windows that the operand is made of.
    pub(crate) fn windows(&self) -> Option<&'a Windows> {
        if let LeftOperand::Windows(windows) = self.operand { Some(windows) } else { None }
    }

    /// The pixels that a row of tiles has at a place of the window; outside of an image, zeros.
    pub(crate) fn pixels(&self, row: usize, place: usize) -> [&[u8]; 32] {
        let LeftOperand::Windows(windows) = self.operand else { return [&self.zeros; 32] };
        let inside = (place / windows.kernel.1, place % windows.kernel.1);
        let (height, width) = windows.image;
        let (down, across) = windows.output;
        let first = 32 * row;
        let (mut x, mut y, mut image) = (first % across, first / across % down, first / across / down);
        let mut rows: [&[u8]; 32] = [&self.zeros; 32];
        let mut number = 0;
        // Places of a row of the output lie side by side in a row of an image.
        while number < 32 && image < windows.images {
            let count = (across - x).min(32 - number);
            let from = y * windows.stride.0 + inside.0 * windows.dilation.0;
            let start = inside.1 * windows.dilation.1;
            if let Some(line) = from.checked_sub(windows.padding.0).filter(|&line| line < height) {
                // The first place whose pixel is inside, and the first behind the last.
                let (left, stride) = (windows.padding.1, windows.stride.1);
                let low = left.saturating_sub(start).div_ceil(stride).max(x);
                let high = (width + left).saturating_sub(start).div_ceil(stride).min(x + count);
                if low < high {
                    let pixel = (image * height + line) * width + low * stride + start - left;
                    let pixels = self.pages.every(pixel, stride);
                    let targets = &mut rows[number + low - x..number + high - x];
                    targets.iter_mut().zip(pixels).for_each(|(row, pixel)| *row = pixel);
                }
            }
            (number, x, y) = (number + count, 0, y + 1);
            if y == down {
                (y, image) = (0, image + 1);
            }
        }
        rows
    }
}

/// Rows of a tile that several pixels have.
pub(crate) struct GatheredRows([[u8; 64]; 32]);

impl Default for GatheredRows {
    fn default() -> Self {
        Self([[0; 64]; 32])
    }
}

impl GatheredRows {
    /// The rows of a step along K.
    pub(crate) fn gather(&mut self, left: &Left<'_>, windows: &Windows, (row, step): (usize, usize)) -> [&[u8]; 32] {
        *self = Self::default();
        for (place, bytes, at) in windows.pieces(step) {
            let pixels = left.pixels(row, place);
            for (target, pixel) in self.0.iter_mut().zip(pixels) {
                target[at..at + bytes.len()].copy_from_slice(&pixel[bytes.clone()]);
            }
        }
        self.0.each_ref().map(|row| &row[..])
    }
}

/// Whether the formats and the layout of a product let its left operand be made of other things than its tiles.
pub(crate) fn may_be_made(format: DataFormat, transposed: bool) -> bool {
    format == DataFormat::Float16B && !transposed
}
