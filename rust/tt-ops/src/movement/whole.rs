//! Movements that need no look at single datums: whole tiles, transposed or not, and changes of layout.
//!
//! They give the same bytes as the general way; where a page is not whole (tiles with padding), that one is taken.

use tt_cpu::stream::{self, STREAM_BYTES};
use tt_formats::{DataFormat, TileShape};
use tt_memory::access::Input;
use tt_memory::{Access, BufferId};
use tt_tensix::pack::{self, DstFormat, PackConfig};
use tt_tensix::tile_io::{self, Tile, ZERO};
use tt_tensix::unpack;

use super::{Geometry, Movement, View, datum_format};
use crate::pages::{Groups, Share};
use crate::{OpError, for_each_page};

fn whole_window(movement: &Movement) -> bool {
    movement.window.iter().zip(&movement.output.shape).all(|(window, &length)| *window == (0, length))
}

/// Every full output tile is one input tile, or its transpose.
pub(super) struct WholeTiles {
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

impl WholeTiles {
    /// Recognises the movement. `flush` sends datums through Dst.
    pub fn new(movement: &Movement, flush: bool) -> Option<Self> {
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
        if !fits || !whole_window(movement) || movement.offset < 0 {
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

    /// Recognises a movement of rows that are pages: each is a tile without padding, as far as this is concerned.
    pub fn rows(movement: &Movement, from: &Geometry, to: &Geometry, flush: bool) -> Option<Self> {
        let (input, output) = (&movement.input, &movement.output);
        let (&width, leading) = output.shape.split_last()?;
        let plain = input.format == output.format && !output.format.is_block_float() && !flush;
        let pages = (input.tile, output.tile) == (None, None) && [from, to].map(|side| side.page_datums) == [width; 2];
        let rows = from.width == width && movement.strides.last() == Some(&1) && width > 0;
        let first = usize::try_from(movement.offset).ok()?;
        if !plain || !pages || !rows || !whole_window(movement) || !first.is_multiple_of(width) {
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

    /// Writes all pages of an output without padding, in the order in which they lie in memory.
    pub fn run(&self, access: &Access<'_>, output: BufferId) -> Result<(), OpError> {
        let (input, target) = (access.input(self.input)?, access.output(output)?);
        let past = target.buffer().bytes() >= STREAM_BYTES as u64;
        let groups = Groups::of(target.buffer(), 1);
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

    /// Whether no output tile has padding.
    pub fn are_whole(&self) -> bool {
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

/// Whether the movement only changes between rows and 32 x 32 tiles, one page per row.
pub(super) fn changes_layout(movement: &Movement, input: &Geometry, output: &Geometry) -> bool {
    let mut stride = 1;
    for (&actual, &length) in movement.strides.iter().zip(&movement.output.shape).rev() {
        if actual != stride && length != 1 {
            return false;
        }
        stride *= length as i64;
    }
    let rows = match (input.tile, output.tile) {
        (None, Some(TileShape::FULL)) => input,
        (Some(TileShape::FULL), None) => output,
        _ => return false,
    };
    let plain = movement.input.format == movement.output.format && !movement.output.format.is_block_float();
    let known = datum_format(movement.output.format).element_bytes().is_some_and(|bytes| bytes == 2 || bytes == 4);
    movement.offset == 0
        && movement.input.shape == movement.output.shape
        && plain
        && known
        && whole_window(movement)
        && rows.page_datums == rows.width
}

/// Copies 16 datums, or what is left of a row, between a row and a tile; whole ones with a length that the compiler
/// knows.
pub(super) fn copy_line(to: &mut [u8], from: &[u8], bytes: usize) {
    match bytes {
        32 => to[..32].copy_from_slice(&from[..32]),
        64 => to[..64].copy_from_slice(&from[..64]),
        _ => to[..bytes].copy_from_slice(&from[..bytes]),
    }
}

/// What passing through Dst does to bfloat16 datums.
pub(super) fn flush_bytes(bytes: &mut [u8]) {
    for datum in bytes.as_chunks_mut::<2>().0 {
        *datum = (tt_formats::pack::bf16_to_bf16(u16::from_le_bytes(*datum).into()) as u16).to_le_bytes();
    }
}

/// Writes the rows of one row of tiles.
pub(super) fn untilize_rows(
    access: &Access<'_>,
    movement: &Movement,
    geometry: &Geometry,
    tile_row: usize,
    flush: bool,
) -> Result<(), OpError> {
    let (matrix, block) = (tile_row / geometry.tile_rows, tile_row % geometry.tile_rows);
    let unit = geometry.datum_bytes;
    let rows = (geometry.height - block * 32).min(32);
    let first = matrix * geometry.height + block * 32;
    let output = access.output(movement.output.buffer)?;
    let mut targets = (first..first + rows).map(|row| output.claim(row)).collect::<Result<Vec<_>, _>>()?;
    for tile_column in 0..geometry.tile_columns {
        let bytes = access.page(movement.input.buffer, tile_row * geometry.tile_columns + tile_column)?;
        for (row, target) in targets.iter_mut().enumerate() {
            for column in [0, 16] {
                let at = tile_column * 32 + column;
                if at < geometry.width {
                    let datum = TileShape::FULL.index(row, column);
                    let count = (geometry.width - at).min(16);
                    copy_line(&mut target[at * unit..], &bytes[datum * unit..], count * unit);
                }
            }
        }
    }
    if flush {
        targets.into_iter().for_each(flush_bytes);
    }
    Ok(())
}

/// Writes the full tiles of one row of tiles; pages of the others go to `rest`.
pub(super) fn tilize_rows(
    access: &Access<'_>,
    movement: &Movement,
    geometry: &Geometry,
    tile_row: usize,
    flush: bool,
    mut rest: impl FnMut(usize) -> Result<(), OpError>,
) -> Result<(), OpError> {
    let (matrix, block) = (tile_row / geometry.tile_rows, tile_row % geometry.tile_rows);
    let unit = geometry.datum_bytes;
    let full_columns = if (block + 1) * 32 <= geometry.height { geometry.width / 32 } else { 0 };
    let first = matrix * geometry.height + block * 32;
    let input = access.input(movement.input.buffer)?;
    let rows = if full_columns == 0 { first..first } else { first..first + 32 };
    let sources = rows.map(|row| input.page(row)).collect::<Result<Vec<_>, _>>()?;
    for tile_column in 0..geometry.tile_columns {
        let page = tile_row * geometry.tile_columns + tile_column;
        if tile_column >= full_columns {
            rest(page)?;
            continue;
        }
        let target = access.claim(movement.output.buffer, page)?;
        for (row, source) in sources.iter().enumerate() {
            for column in [0, 16] {
                let (datum, at) = (TileShape::FULL.index(row, column), tile_column * 32 + column);
                copy_line(&mut target[datum * unit..], &source[at * unit..], 16 * unit);
            }
        }
        if flush {
            flush_bytes(target);
        }
    }
    Ok(())
}
