//! Data movement: every operator that gives datums another place (slice, pad, permute, reshape, tilize, untilize) is
//! one affine map from output indices to input indices, between any two layouts.

mod lines;
mod packing;
mod turned;
mod whole;

use tt_cpu::Level;
use tt_formats::{DataFormat, TileShape, format::GROUP, tile::FACE_SIDE};
use tt_memory::{Access, BufferId, Device};
use tt_tensix::fpu::HalfTile;
use tt_tensix::pack::{self, DstFormat, HalfPacker, PackConfig};
use tt_tensix::tile_io::{Tile, ZERO};
use tt_tensix::unpack;

use crate::{OpError, for_each_page};

/// Rows and columns of a full tile, and datums of a line of one of its faces.
const SIDE: usize = 32;
const LINE: usize = FACE_SIDE;
/// Exponents in front of the datums of a block-float tile.
const EXPONENTS: usize = SIDE * SIDE / GROUP;

/// A tensor as the mover sees it.
#[derive(Clone, Debug)]
pub struct View {
    /// Where it lies.
    pub buffer: BufferId,
    /// Its format.
    pub format: DataFormat,
    /// Tile shape; `None` for rows.
    pub tile: Option<TileShape>,
    /// Logical shape.
    pub shape: Vec<usize>,
}

/// `output[i] = input[offset + sum over d of (i[d] - start[d]) * stride[d]]` inside the window, `padding` outside.
/// Input positions count logical datums in row-major order.
#[derive(Clone, Debug)]
pub struct Movement {
    /// Source.
    pub input: View,
    /// Destination; its buffer differs from the source's.
    pub output: View,
    /// First input position.
    pub offset: i64,
    /// Input positions per step of each output dimension.
    pub strides: Vec<i64>,
    /// First output index and length of the window, per output dimension.
    pub window: Vec<(usize, usize)>,
    /// What datums outside the window and in tile padding hold, as a word of the (unpacked) output format.
    pub padding: u32,
    /// Datums pass through Dst: bfloat16 denormals and -0 become +0, NaN becomes infinity.
    pub through_dst: bool,
    /// The tiles of an output of bfloat16 go through Dst at once and into the block floats that its buffer holds.
    pub packed: Option<Packed>,
}

/// Block floats that are made of bfloat16.
#[derive(Clone, Copy, Debug)]
pub struct Packed {
    /// Their format.
    pub format: DataFormat,
    /// Without the intermediate step to 7 bits, as `typecast` does it.
    pub precise: bool,
}

/// The datum format the mover works on: block floats are moved as the bfloat16 values they unpack to.
fn datum_format(format: DataFormat) -> DataFormat {
    if format.is_block_float() { DataFormat::Float16B } else { format }
}

/// Runs the movement.
///
/// # Errors
/// Memory errors; formats that would need arithmetic; positions outside the input.
pub fn move_datums(device: &mut Device, movement: &Movement) -> Result<(), OpError> {
    let refuse = |what: String| Err(OpError::Invariant { operator: "move", what });
    let (input, output) = (&movement.input, &movement.output);
    if datum_format(input.format) != datum_format(output.format) {
        return refuse(format!("{:?} to {:?} is not a movement", input.format, output.format));
    }
    let rank = output.shape.len();
    if movement.strides.len() != rank || movement.window.len() != rank {
        return refuse(format!("strides and window need {rank} entries"));
    }
    let volume: i64 = input.shape.iter().product::<usize>() as i64;
    let empty = movement.window.iter().any(|window| window.1 == 0);
    let (mut low, mut high) = (movement.offset, movement.offset);
    for (stride, window) in movement.strides.iter().zip(&movement.window) {
        let reach = stride * (window.1 as i64 - 1);
        (low, high) = (low + reach.min(0), high + reach.max(0));
    }
    if !empty && (low < 0 || high >= volume) {
        return refuse(format!("positions {low}..={high} leave an input of {volume} datums"));
    }
    let source = Source::new(device, input)?;
    let target = Target::new(device, movement)?;
    let full_halves = output.format == DataFormat::Float16B && output.tile == Some(TileShape::FULL);
    if movement.packed.is_some() && (target.half_packer.is_none() || !full_halves) {
        return refuse(format!("tiles {:?} of {:?} to {:?}", output.tile, output.format, movement.packed));
    }
    let pages = device.buffer(output.buffer)?.num_pages();
    let tiles = whole::WholeTiles::new(movement, target.flush);
    let access = device.access(&[output.buffer])?;
    if !empty && movement.packed.is_none() && whole::changes_layout(movement, &source.geometry, &target.geometry) {
        let rows: usize = output.shape[..rank.saturating_sub(2)].iter().product();
        let flush = target.flush;
        if output.tile.is_none() {
            let geometry = &source.geometry;
            return for_each_page(rows * geometry.tile_rows, Scratch::new, |_, tile_row| {
                whole::untilize_rows(&access, movement, geometry, tile_row, flush)
            });
        }
        let geometry = &target.geometry;
        return for_each_page(rows * geometry.tile_rows, Scratch::new, |scratch, tile_row| {
            let rest = |page| target.page(&access, &source, page, scratch, access.claim(movement.output.buffer, page)?);
            whole::tilize_rows(&access, movement, geometry, tile_row, flush, rest)
        });
    }
    let rows = whole::WholeTiles::rows(movement, &source.geometry, &target.geometry, target.flush);
    // Tiles that are packed pass through the registers once, not in words.
    let whole = if movement.packed.is_some() { None } else { tiles.as_ref().filter(|tiles| tiles.are_whole()) };
    if let Some(whole) = whole.or(rows.as_ref()).filter(|_| !empty) {
        return whole.run(&access, output.buffer);
    }
    let turned = if empty { None } else { turned::Turned::new(movement) };
    if let Some(turned) = turned {
        return turned.run(&access, &target);
    }
    let lines = if empty { None } else { lines::Lines::new(movement) };
    let fill = |scratch: &mut Scratch, page: usize, out: &mut [u8]| {
        if let Some(tiles) = &tiles {
            let registers = [&mut scratch.tile, &mut scratch.transposed];
            if tiles.page(&access, page, registers, out)? {
                return Ok(());
            }
        }
        if let Some(lines) = &lines {
            return lines.page(&access, &target, &source.geometry, page, &mut scratch.tile, out);
        }
        target.page(&access, &source, page, scratch, out)
    };
    for_each_page(pages, Scratch::new, |scratch, page| {
        let out = access.claim(output.buffer, page)?;
        let Some(packer) = &target.half_packer else {
            return fill(scratch, page, out);
        };
        let mut halves = std::mem::replace(&mut scratch.halves, Box::new([0; SIDE * SIDE]));
        fill(scratch, page, bytemuck::bytes_of_mut(&mut *halves))?;
        in_host_order(&mut halves);
        packer.pack(&halves, out);
        scratch.halves = halves;
        Ok(())
    })
}

/// Turns little-endian datums into those of host memory.
fn in_host_order(halves: &mut HalfTile) {
    if cfg!(target_endian = "big") {
        for half in halves {
            *half = half.swap_bytes();
        }
    }
}

/// What a worker needs.
struct Scratch {
    /// Recently decoded block-float tiles.
    decoded: Vec<(usize, Tile)>,
    tile: Tile,
    transposed: Tile,
    row: Vec<u32>,
    /// A tile that is packed afterwards.
    halves: Box<HalfTile>,
}

impl Scratch {
    fn new() -> Box<Self> {
        let (decoded, row) = (vec![(usize::MAX, ZERO); 8], Vec::new());
        Box::new(Self { decoded, tile: ZERO, transposed: ZERO, row, halves: Box::new([0; SIDE * SIDE]) })
    }
}

/// Geometry of one side.
struct Geometry {
    tile: Option<TileShape>,
    height: usize,
    width: usize,
    tile_rows: usize,
    tile_columns: usize,
    datum_bytes: usize,
    page_datums: usize,
    pages_per_row: usize,
}

impl Geometry {
    fn new(device: &Device, view: &View) -> Result<Self, OpError> {
        let rank = view.shape.len();
        let width = view.shape.last().copied().unwrap_or(1);
        let height = if rank >= 2 { view.shape[rank - 2] } else { 1 };
        let datum_bytes = datum_format(view.format).element_bytes().unwrap_or(2);
        let page_datums = (device.buffer(view.buffer)?.page_bytes() / datum_bytes).max(1);
        let (tile_height, tile_width) = view.tile.map_or((1, 1), |tile| (tile.height(), tile.width()));
        Ok(Self {
            tile: view.tile,
            height,
            width,
            tile_rows: height.div_ceil(tile_height),
            tile_columns: width.div_ceil(tile_width),
            datum_bytes,
            page_datums,
            pages_per_row: width.div_ceil(page_datums).max(1),
        })
    }
}

/// Reads runs of datums by logical position.
struct Source<'a> {
    view: &'a View,
    geometry: Geometry,
}

impl<'a> Source<'a> {
    fn new(device: &Device, view: &'a View) -> Result<Self, OpError> {
        Ok(Self { view, geometry: Geometry::new(device, view)? })
    }

    /// Fills `out` with the datums at `position`, `position + stride`, ...
    fn read(
        &self,
        access: &Access<'_>,
        position: i64,
        stride: i64,
        out: &mut [u32],
        decoded: &mut [(usize, Tile)],
    ) -> Result<(), OpError> {
        let width = self.geometry.width;
        let mut done = 0;
        while done < out.len() {
            let at = (position + stride * done as i64) as usize;
            let (row, column) = (at / width, at % width);
            let run = if stride == 1 { (width - column).min(out.len() - done) } else { 1 };
            let count = self.run(access, row, column, &mut out[done..done + run], decoded)?;
            done += count;
        }
        Ok(())
    }

    /// Reads as many datums of a row as lie side by side in memory; returns how many.
    fn run(
        &self,
        access: &Access<'_>,
        row: usize,
        column: usize,
        out: &mut [u32],
        decoded: &mut [(usize, Tile)],
    ) -> Result<usize, OpError> {
        let geometry = &self.geometry;
        let (page, datum, beside) = match geometry.tile {
            None => {
                let page = row * geometry.pages_per_row + column / geometry.page_datums;
                (page, column % geometry.page_datums, geometry.page_datums - column % geometry.page_datums)
            }
            Some(tile) => {
                let (matrix, row) = (row / geometry.height, row % geometry.height);
                let page =
                    (matrix * geometry.tile_rows + row / tile.height()) * geometry.tile_columns + column / tile.width();
                let face = tile.width().min(16);
                let datum = tile.index(row % tile.height(), column % tile.width());
                (page, datum, face - column % face)
            }
        };
        let count = beside.min(out.len());
        let out = &mut out[..count];
        if self.view.format.is_block_float() {
            let slot = &mut decoded[page % 8];
            if slot.0 != page {
                unpack::to_src(self.view.format, self.view.format, access.page(self.view.buffer, page)?, &mut slot.1);
                slot.0 = page;
            }
            for (word, value) in out.iter_mut().zip(&slot.1[datum..]) {
                *word = value >> 3;
            }
            return Ok(count);
        }
        let bytes = &access.page(self.view.buffer, page)?[datum * geometry.datum_bytes..];
        load_words(bytes, geometry.datum_bytes, out);
        Ok(count)
    }
}

fn load_words(bytes: &[u8], datum_bytes: usize, out: &mut [u32]) {
    match datum_bytes {
        4 => {
            for (word, bytes) in out.iter_mut().zip(bytes.chunks_exact(4)) {
                *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            }
        }
        2 => {
            for (word, bytes) in out.iter_mut().zip(bytes.chunks_exact(2)) {
                *word = u32::from(u16::from_le_bytes([bytes[0], bytes[1]]));
            }
        }
        _ => {
            for (word, byte) in out.iter_mut().zip(bytes) {
                *word = u32::from(*byte);
            }
        }
    }
}

fn store_words(words: &[u32], datum_bytes: usize, out: &mut [u8]) {
    match datum_bytes {
        4 => {
            for (bytes, word) in out.chunks_exact_mut(4).zip(words) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
        }
        2 => {
            for (bytes, word) in out.chunks_exact_mut(2).zip(words) {
                bytes.copy_from_slice(&(*word as u16).to_le_bytes());
            }
        }
        _ => {
            for (byte, word) in out.iter_mut().zip(words) {
                *byte = *word as u8;
            }
        }
    }
}

/// Writes output pages.
struct Target<'a> {
    movement: &'a Movement,
    geometry: Geometry,
    flush: bool,
    packer: PackConfig,
    /// What [`Movement::packed`] asks for.
    half_packer: Option<HalfPacker>,
}

impl<'a> Target<'a> {
    fn new(device: &Device, movement: &'a Movement) -> Result<Self, OpError> {
        let format = movement.output.format;
        Ok(Self {
            movement,
            geometry: Geometry::new(device, &movement.output)?,
            flush: movement.through_dst && datum_format(format) == DataFormat::Float16B,
            packer: PackConfig::new(DstFormat::Bf16, format),
            half_packer: movement.packed.and_then(|Packed { format, precise }| {
                HalfPacker::new(&PackConfig::precise(DstFormat::Bf16, format, precise), Level::current())
            }),
        })
    }

    fn page(
        &self,
        access: &Access<'_>,
        source: &Source<'_>,
        page: usize,
        scratch: &mut Scratch,
        target: &mut [u8],
    ) -> Result<(), OpError> {
        let geometry = &self.geometry;
        let Scratch { decoded, tile: datums, row: words, .. } = scratch;
        let Some(tile) = geometry.tile else {
            words.resize(geometry.page_datums, 0);
            let (row, first) = (page / geometry.pages_per_row, page % geometry.pages_per_row * geometry.page_datums);
            self.row(access, source, row, first, words, decoded)?;
            store_words(words, geometry.datum_bytes, target);
            return Ok(());
        };
        let (tile_column, tile_row) = (page % geometry.tile_columns, page / geometry.tile_columns % geometry.tile_rows);
        let matrix = page / geometry.tile_columns / geometry.tile_rows;
        words.resize(tile.width(), 0);
        for row in 0..tile.height() {
            let logical = tile_row * tile.height() + row;
            if logical < geometry.height {
                let row = matrix * geometry.height + logical;
                self.row(access, source, row, tile_column * tile.width(), words, decoded)?;
            } else {
                words.fill(self.movement.padding);
            }
            let face = tile.width().min(16);
            for (part, words) in words.chunks_exact(face).enumerate() {
                let datum = tile.index(row, part * face);
                if self.movement.output.format.is_block_float() {
                    for (value, word) in datums[datum..].iter_mut().zip(words) {
                        *value = word << 16;
                    }
                } else {
                    let bytes = datum * geometry.datum_bytes;
                    store_words(words, geometry.datum_bytes, &mut target[bytes..bytes + face * geometry.datum_bytes]);
                }
            }
        }
        if self.movement.output.format.is_block_float() {
            pack::pack_tile(&self.packer, datums, target);
        }
        Ok(())
    }

    /// Datums `first..first + words.len()` of one output row (rows count over all leading dimensions).
    fn row(
        &self,
        access: &Access<'_>,
        source: &Source<'_>,
        row: usize,
        first: usize,
        words: &mut [u32],
        decoded: &mut [(usize, Tile)],
    ) -> Result<(), OpError> {
        let movement = self.movement;
        words.fill(movement.padding);
        let rank = movement.output.shape.len();
        let mut position = movement.offset;
        let mut rest = row;
        for axis in (0..rank.saturating_sub(1)).rev() {
            let index = rest % movement.output.shape[axis];
            rest /= movement.output.shape[axis];
            let (start, length) = movement.window[axis];
            if index < start || index >= start + length {
                return Ok(());
            }
            position += (index - start) as i64 * movement.strides[axis];
        }
        let (start, length, stride) = match rank {
            0 => (0, 1, 1),
            _ => (movement.window[rank - 1].0, movement.window[rank - 1].1, movement.strides[rank - 1]),
        };
        let begin = start.max(first);
        let end = (start + length).min(first + words.len());
        if begin < end {
            let run = &mut words[begin - first..end - first];
            source.read(access, position + (begin - start) as i64 * stride, stride, run, decoded)?;
            if self.flush {
                for word in run {
                    *word = tt_formats::pack::bf16_to_bf16(*word);
                }
            }
        }
        Ok(())
    }
}
