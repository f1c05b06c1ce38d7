//! The left operand of a product.
//!
//! Tiles of a tensor, or tiles of windows of images that are made when they are needed.
//!
//! A row of the operand is what a window of a convolution sees at one place: pixel after pixel of it, row by row. As
//! rows that are tilized, datums pass through `Dst`.

use tt_cpu::{Level, stream};
use tt_formats::DataFormat;
use tt_memory::access::Pages;

use crate::OpError;
use crate::movement::{HALVES, flush_tile, tile_of_rows};

/// Windows of bfloat16 images, whose channels are full tiles.
///
/// Pages have the channels of a pixel.
#[derive(Clone, Debug)]
pub struct Windows {
    /// Images.
    pub images: usize,
    /// Rows and columns of an image.
    pub image: (usize, usize),
    /// Tiles of the channels of a pixel.
    pub channels: usize,
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
        let deep = self.kernel.0 * self.kernel.1 * self.channels;
        let pixels = self.images * self.image.0 * self.image.1;
        let fits = rows.div_ceil(32) == m && deep == k && pixels == pages && page_bytes == 64 * self.channels;
        if fits && self.channels > 0 {
            return Ok(());
        }
        let what = format!("{m} x {k} tiles of {self:?}, {pages} pixels of {page_bytes} B");
        Err(OpError::Invariant { operator: "matmul", what })
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
        let bytes = if let LeftOperand::Windows(windows) = operand { 64 * windows.channels } else { 0 };
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
        if self.channels().is_none() {
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
            LeftOperand::Windows(Windows { channels, .. }) => {
                tile_of_rows(self.level, &self.pixels(row, step / channels), 64 * (step % channels), made);
                made
            }
        }
    }

    /// Tiles of the channels of a pixel, if the operand is made of windows.
    pub(crate) fn channels(&self) -> Option<usize> {
        if let LeftOperand::Windows(windows) = self.operand { Some(windows.channels) } else { None }
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

/// Whether the formats and the layout of a product let its left operand be made of other things than its tiles.
pub(crate) fn may_be_made(format: DataFormat, transposed: bool) -> bool {
    format == DataFormat::Float16B && !transposed
}
