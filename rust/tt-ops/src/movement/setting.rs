//! A movement with what follows from it.
//!
//! The geometry of both sides, and how datums are packed.

use tt_cpu::Level;
use tt_formats::{DataFormat, TileShape, format::GROUP, tile::FACE_SIDE};
use tt_memory::{BufferId, Device};
use tt_tensix::pack::{DstFormat, HalfPacker, PackConfig};

use crate::OpError;
use crate::row_writes::WindowCopy;

/// Sizes of a full tile, and of a face line.
pub const SIDE: usize = 32;
pub const LINE: usize = FACE_SIDE;
/// Exponents in front of the datums of a block-float tile.
pub const EXPONENTS: usize = SIDE * SIDE / GROUP;

/// A tensor as the mover sees it.
#[derive(Clone, Debug)]
pub struct View {
    /// The buffer.
    pub buffer: BufferId,
    /// Its format.
    pub format: DataFormat,
    /// Tile shape; `None` for rows.
    pub tile: Option<TileShape>,
    /// Logical shape.
    pub shape: Vec<usize>,
}

impl View {
    /// Block floats in tiles of another shape than 32x32, which only the definition moves.
    pub(super) fn is_small_block_float(&self) -> bool {
        self.format.is_block_float() && self.tile.is_some_and(|tile| tile != TileShape::FULL)
    }
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
    /// The value outside the window and in tile padding.
    ///
    /// It is a word of the (unpacked) output format.
    pub padding: u32,
    /// Datums pass through Dst.
    ///
    /// Bfloat16 denormals and -0 become +0, NaN becomes infinity.
    pub through_dst: bool,
    /// Bfloat16 output tiles packed at once into the buffer's block floats.
    ///
    /// They go through Dst.
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

/// The datum format the mover works on.
///
/// Block floats are moved as the bfloat16 values they unpack to.
pub fn datum_format(format: DataFormat) -> DataFormat {
    if format.is_block_float() { DataFormat::Float16B } else { format }
}

impl Movement {
    /// Whether nothing of the output lies outside the window.
    pub(super) fn fills_output(&self) -> bool {
        self.window.iter().zip(&self.output.shape).all(|(window, &length)| *window == (0, length))
    }
}

/// Geometry of one side.
pub struct Geometry {
    pub tile: Option<TileShape>,
    pub height: usize,
    pub width: usize,
    pub tile_rows: usize,
    pub tile_columns: usize,
    pub datum_bytes: usize,
    pub page_datums: usize,
    pub pages_per_row: usize,
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

/// A movement, and what all of its pages share.
pub struct Setting<'a> {
    pub movement: &'a Movement,
    pub input: Geometry,
    pub output: Geometry,
    /// Datums pass through `Dst`, which changes some of bfloat16.
    pub flush: bool,
    pub packer: PackConfig,
    /// The packer for [`Movement::packed`].
    pub half_packer: Option<HalfPacker>,
}

impl<'a> Setting<'a> {
    pub fn new(device: &Device, movement: &'a Movement) -> Result<Self, OpError> {
        let format = movement.output.format;
        Ok(Self {
            movement,
            input: Geometry::new(device, &movement.input)?,
            output: Geometry::new(device, &movement.output)?,
            flush: movement.through_dst && datum_format(format) == DataFormat::Float16B,
            packer: PackConfig::new(DstFormat::Bf16, format),
            half_packer: movement.packed.and_then(|Packed { format, precise }| {
                HalfPacker::new(&PackConfig::precise(DstFormat::Bf16, format, precise), Level::current())
            }),
        })
    }

    /// The movement as a copy of row parts, without conversion.
    ///
    /// Rows are pages on both sides and nothing else happens.
    pub fn row_parts(&self) -> Option<WindowCopy> {
        let Self { movement, input, output, flush, .. } = self;
        let (from, to) = (&movement.input, &movement.output);
        let plain = from.format == to.format && !to.format.is_block_float() && !flush && movement.packed.is_none();
        let rows = (input.tile, output.tile) == (None, None)
            && input.page_datums == input.width
            && output.page_datums == output.width;
        let copies = plain && rows && movement.fills_output() && movement.strides.last() == Some(&1);
        copies.then(|| WindowCopy {
            element_bytes: output.datum_bytes,
            width: input.width,
            shape: to.shape.clone(),
            window: movement.window.clone(),
            offset: movement.offset,
            strides: movement.strides.clone(),
        })
    }
}
