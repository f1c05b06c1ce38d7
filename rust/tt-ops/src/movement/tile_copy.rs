//! Tile copies: output pages are input pages, possibly transposed.
//!
//! Those without padding.

use tt_cpu::Level;
use tt_cpu::stream::{self, STREAM_BYTES};
use tt_formats::{DataFormat, TileShape};
use tt_memory::access::{Input, Output};
use tt_memory::{Access, BufferId};
use tt_tensix::pack::{self, DstFormat, PackConfig};
use tt_tensix::tile_io::{self, Tile, ZERO};
use tt_tensix::unpack;

use super::kernels::{HALVES, transpose_halves};
use super::setting::{Setting, View};
use crate::pages::{Groups, PageCopies, Share};
use crate::{OpError, for_each_page};

/// Every full output tile is one input tile, or its transpose.
pub struct TileCopy {
    transposed: bool,
    input: BufferId,
    shape: Vec<usize>,
    /// Input matrices per step of each leading dimension.
    strides: Vec<usize>,
    /// Matrix, tile row and tile column of the first input tile.
    first: [usize; 3],
    /// Tile rows and columns of an input matrix.
    tiles: [usize; 2],
    /// How a tile enters and leaves the registers, if it does not stay as it is.
    through: Option<(DataFormat, PackConfig)>,
}

impl TileCopy {
    /// Recognises movements of tiles.
    pub fn of_tiles(setting: &Setting<'_>) -> Option<Self> {
        let Setting { movement, flush, .. } = *setting;
        let (input, output) = (&movement.input, &movement.output);
        let full = |view: &View| view.tile == Some(TileShape::FULL);
        let (rank, rank_in) = (output.shape.len(), input.shape.len());
        // Block floats come out of Dst as bfloat16 as well as in their own format.
        let unpacked = flush
            && output.format == DataFormat::Float16B
            && input.format.is_block_float()
            && !input.format.has_5_bit_exponent();
        let formats = input.format == output.format || unpacked;
        let fits = rank >= 2 && rank_in >= 2 && full(input) && full(output) && formats;
        if !fits || !movement.fills_output() || movement.offset < 0 {
            return None;
        }
        let (height, width) = (input.shape[rank_in - 2], input.shape[rank_in - 1]);
        let volume = height * width;
        if volume == 0 {
            return None;
        }
        let (down, across) = (movement.strides[rank - 2], movement.strides[rank - 1]);
        let transposed = match (down, across) {
            (down, 1) if down == width as i64 => false,
            (1, across) if across == width as i64 => true,
            _ => return None,
        };
        let offset = movement.offset as usize;
        let (matrix, row, column) = (offset / volume, offset % volume / width, offset % width);
        let (out_height, out_width) = (output.shape[rank - 2], output.shape[rank - 1]);
        let (rows, columns) = if transposed { (out_width, out_height) } else { (out_height, out_width) };
        let inside = row + rows <= height && column + columns <= width;
        if !inside || !row.is_multiple_of(32) || !column.is_multiple_of(32) {
            return None;
        }
        let mut strides = Vec::with_capacity(rank - 2);
        for &stride in &movement.strides[..rank - 2] {
            let stride = usize::try_from(stride).ok().filter(|stride| stride.is_multiple_of(volume))?;
            strides.push(stride / volume);
        }
        let block_float = output.format.is_block_float();
        let through = if flush || block_float && transposed {
            Some((input.format, PackConfig::new(DstFormat::Bf16, output.format)))
        } else if !transposed {
            None
        } else {
            let (format, dst) = match output.format.element_bytes()? {
                2 => (DataFormat::UInt16, DstFormat::UInt16),
                4 => (DataFormat::Int32, DstFormat::Int32),
                _ => return None,
            };
            Some((format, PackConfig::new(dst, format)))
        };
        Some(Self {
            transposed,
            input: input.buffer,
            shape: output.shape.clone(),
            strides,
            first: [matrix, row / 32, column / 32],
            tiles: [height.div_ceil(32), width.div_ceil(32)],
            through,
        })
    }

    /// Recognises a movement of rows that are pages.
    ///
    /// Each is a tile without padding, as far as this is concerned.
    pub fn of_rows(setting: &Setting<'_>) -> Option<Self> {
        let Setting { movement, input: from, output: to, flush, .. } = setting;
        let (input, output) = (&movement.input, &movement.output);
        let (&width, leading) = output.shape.split_last()?;
        let plain = input.format == output.format && !output.format.is_block_float() && !flush;
        let pages = (input.tile, output.tile) == (None, None) && [from, to].map(|side| side.page_datums) == [width; 2];
        let rows = from.width == width && movement.strides.last() == Some(&1) && width > 0;
        let first = usize::try_from(movement.offset).ok()?;
        if !plain || !pages || !rows || !movement.fills_output() || !first.is_multiple_of(width) {
            return None;
        }
        let stride = |(&stride, &length): (&i64, &usize)| {
            let stride = if length == 1 { 0 } else { usize::try_from(stride).ok()? };
            stride.is_multiple_of(width).then_some(stride / width)
        };
        Some(Self {
            transposed: false,
            input: input.buffer,
            shape: [leading, &[32, 32]].concat(),
            strides: movement.strides.iter().zip(leading).map(stride).collect::<Option<_>>()?,
            first: [first / width, 0, 0],
            tiles: [1, 1],
            through: None,
        })
    }

    /// Writes all output pages without padding, in memory order.
    pub fn run(&self, access: &Access<'_>, output: BufferId) -> Result<(), OpError> {
        let (input, target) = (access.input(self.input)?, access.output(output)?);
        // Where a page was never written, the first one that is asked for is named below.
        if let (None, Ok(pages)) = (&self.through, input.all()) {
            let mut copies = PageCopies::default();
            self.runs(|page, source, count| copies.push(page, source, count));
            return copies.run(&pages, access, output);
        }
        let past = target.buffer().bytes() >= STREAM_BYTES as u64;
        let groups = Groups::of(target.buffer(), 1);
        if let Some(flush) = self.transposes_halves() {
            return self.run_halves(&input, &target, (&groups, past), flush);
        }
        for_each_page(
            groups.count(),
            || Box::new(([ZERO; 2], Share)),
            |memory, group| {
                let [tile, transposed] = &mut memory.0;
                let pages = groups.pages(group);
                let mut places = groups.places(pages.len()).map(|place| pages.start + place).peekable();
                while let Some(page) = places.next() {
                    // The CPU does not find out by itself: they are far apart.
                    if let Some(next) = places.peek().and_then(|&next| self.source(next)) {
                        stream::prefetch_second_all(input.peek(next)?);
                    }
                    let source = self.source(page).ok_or_else(|| OpError::Invariant {
                        operator: "move",
                        what: format!("page {page} is not whole"),
                    })?;
                    self.copy(&input, source, [tile, transposed], (target.claim(page)?, past))?;
                }
                Ok(())
            },
        )
    }

    /// Whether tiles are 16-bit datums that are transposed, and then whether these are flushed.
    fn transposes_halves(&self) -> Option<bool> {
        let (format, packer) = self.through.as_ref()?;
        let halves = matches!(format, DataFormat::UInt16 | DataFormat::Float16B) && packer.output == *format;
        (self.transposed && halves).then_some(*format == DataFormat::Float16B)
    }

    /// [`Self::run`] of such tiles: two at a time.
    fn run_halves(
        &self,
        input: &Input<'_>,
        target: &Output<'_>,
        (groups, past): (&Groups, bool),
        flush: bool,
    ) -> Result<(), OpError> {
        let level = Level::current();
        for_each_page(
            groups.count(),
            || Box::new(([[0; HALVES]; 2], Share)),
            |memory, group| {
                let made = &mut memory.0;
                let pages = groups.pages(group);
                let places: Vec<usize> = groups.places(pages.len()).map(|place| pages.start + place).collect();
                let source = |page: usize| -> Result<&[u8; HALVES], OpError> {
                    let refused = || OpError::Invariant { operator: "move", what: format!("page {page} is not whole") };
                    input.page(self.source(page).ok_or_else(refused)?)?.first_chunk().ok_or_else(refused)
                };
                for pair in places.chunks(2) {
                    let tiles = [source(pair[0])?, source(*pair.last().unwrap_or(&pair[0]))?];
                    transpose_halves(level, tiles, flush, made);
                    for (&page, made) in pair.iter().zip(&*made) {
                        let bytes = target.claim(page)?;
                        if past {
                            stream::copy(bytes, made);
                        } else {
                            bytes.copy_from_slice(made);
                        }
                    }
                }
                Ok(())
            },
        )
    }

    /// Calls with the first output page, the first input page and the number of pages that follow each other on both
    /// sides, of an output without padding.
    fn runs(&self, mut call: impl FnMut(usize, usize, usize)) {
        let rank = self.shape.len();
        let [rows, columns] = [self.shape[rank - 2] / 32, self.shape[rank - 1] / 32];
        let matrices: usize = self.shape[..rank - 2].iter().product();
        for matrix in 0..matrices {
            let (mut rest, mut from) = (matrix, self.first[0]);
            for axis in (0..rank - 2).rev() {
                from += rest % self.shape[axis] * self.strides[axis];
                rest /= self.shape[axis];
            }
            let start = (from * self.tiles[0] + self.first[1]) * self.tiles[1] + self.first[2];
            if columns == self.tiles[1] {
                call(matrix * rows * columns, start, rows * columns);
                continue;
            }
            (0..rows).for_each(|row| call((matrix * rows + row) * columns, start + row * self.tiles[1], columns));
        }
    }

    /// Returns true if no output tile has padding.
    pub fn is_whole(&self) -> bool {
        self.shape[self.shape.len() - 2..].iter().all(|length| length.is_multiple_of(32))
    }

    /// The input page of an output page; `None` if the output tile has padding.
    fn source(&self, page: usize) -> Option<usize> {
        let rank = self.shape.len();
        let (height, width) = (self.shape[rank - 2], self.shape[rank - 1]);
        let (tile_rows, tile_columns) = (height.div_ceil(32), width.div_ceil(32));
        let (column, row) = (page % tile_columns, page / tile_columns % tile_rows);
        if (row + 1) * 32 > height || (column + 1) * 32 > width {
            return None;
        }
        let mut rest = page / tile_columns / tile_rows;
        let mut matrix = self.first[0];
        for axis in (0..rank - 2).rev() {
            matrix += rest % self.shape[axis] * self.strides[axis];
            rest /= self.shape[axis];
        }
        let (row, column) = if self.transposed { (column, row) } else { (row, column) };
        Some((matrix * self.tiles[0] + self.first[1] + row) * self.tiles[1] + self.first[2] + column)
    }

    /// Writes an output page; false if the page is not whole.
    pub fn page(
        &self,
        access: &Access<'_>,
        page: usize,
        registers: [&mut Tile; 2],
        target: &mut [u8],
    ) -> Result<bool, OpError> {
        let Some(source) = self.source(page) else { return Ok(false) };
        self.copy(&access.input(self.input)?, source, registers, (target, false))?;
        Ok(true)
    }

    /// Writes an output page that is an input page, past the caches if asked to.
    fn copy(
        &self,
        input: &Input<'_>,
        source: usize,
        [tile, transposed]: [&mut Tile; 2],
        (target, past): (&mut [u8], bool),
    ) -> Result<(), OpError> {
        let bytes = input.page(source)?;
        let write = |target: &mut [u8], bytes: &[u8]| {
            if past {
                stream::copy(target, bytes);
            } else {
                target.copy_from_slice(bytes);
            }
        };
        let Some((format, packer)) = &self.through else {
            write(target, bytes);
            return Ok(());
        };
        // Words of four bytes are in the registers as they are in L1.
        if let (true, DataFormat::Int32, Some(words)) = (self.transposed, format, tile_io::words(bytes)) {
            unpack::transpose(words, transposed);
            write(target, bytemuck::bytes_of(transposed));
            return Ok(());
        }
        unpack::to_dst(*format, bytes, tile);
        if self.transposed {
            unpack::transpose(tile, transposed);
            pack::pack_tile(packer, transposed, target);
        } else {
            pack::pack_tile(packer, tile, target);
        }
        Ok(())
    }
}
