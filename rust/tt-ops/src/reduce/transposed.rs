//! Leading dimension reductions, exchanged with the height and back.
//!
//! Both ways move datums and nothing else, so that only the program between them is run here, on datums where they are:
//! a column of it lies in the tiles of the leading dimension, one datum in each. What is not a movement stays: rows
//! below the length of the dimension hold the identity, and block floats are packed repack on each way, which changes
//! them where a group is infinite, denormal or beside padding.

use std::ops::Range;

use tt_cpu::{Level, stream};
use tt_formats::{DataFormat, TileShape};
use tt_fpu::{CopyTile, Reduction, minimum};
use tt_memory::{BufferId, Device};
use tt_tensix::pack::{self, EdgeMask};
use tt_tensix::tile_io::{Tile, ZERO};

use super::kernel::{Kernel, SIGN, Scratch};
use super::repack::{Repack, pad};
use super::step::{Axis, Fill, Join, ReduceStep};
use crate::{OpError, for_each_page};

/// Rows of a tile, and tiles that are reduced in one go.
const ROWS: usize = 32;
/// Tiles that are compared in one go.
const TOGETHER: usize = 8;

/// Runs the step.
pub(super) fn reduce(
    device: &mut Device,
    input: BufferId,
    output: BufferId,
    step: &ReduceStep,
    length: usize,
) -> Result<(), OpError> {
    if matches!(step.join, Join::IntSum | Join::IntMax | Join::IntMin) {
        let what = "integers are joined where they are".to_owned();
        return Err(OpError::Invariant { operator: "reduce", what });
    }
    let columns = ReduceStep { axis: Axis::Height, fill: None, ..step.clone() };
    let program = Transposed::new(&columns, length, step.fill)?;
    let inside = step.rows * step.columns;
    let access = device.access(&[output])?;
    let (source, target) = (access.input(input)?, access.output(output)?);
    for_each_page(
        step.outer * inside,
        || program.memory(),
        |memory, page| {
            let first = page / inside * length * inside + page % inside;
            let tile = |index: usize| {
                if index + 1 < length {
                    stream::prefetch_second_all(source.peek(first + (index + 1) * inside)?);
                }
                Ok(source.page(first + index * inside)?)
            };
            program.tile(page % inside, &tile, memory, target.claim(page)?)
        },
    )
}

/// What a worker needs.
struct Memory {
    /// Tiles in registers.
    slots: Vec<Tile>,
    scratch: Box<Scratch>,
    repack: Option<Repack>,
    packed: Vec<u8>,
    entered: Vec<u8>,
}

/// A step with what all tiles share.
struct Transposed<'a> {
    kernel: Kernel<'a>,
    length: usize,
    fill: Fill,
    /// A tile of identities, as it lies in L1, and as it is negated in a Src register for a minimum.
    below: Vec<u8>,
    below_negated: Box<Tile>,
}

impl<'a> Transposed<'a> {
    /// `step` reduces the height; `fill` is what the padding of the result holds.
    fn new(step: &'a ReduceStep, length: usize, fill: Option<Fill>) -> Result<Self, OpError> {
        let refuse = |what: &str| OpError::Invariant { operator: "reduce", what: what.to_owned() };
        let fill = fill.ok_or_else(|| refuse("a transposed dimension without padding"))?;
        let (format, format_out) = step.formats;
        let block_float = format == DataFormat::Bfp8B;
        let known = block_float || !format.is_block_float();
        if length == 0 || !known || block_float != (format_out == DataFormat::Bfp8B) || format_out.is_integer() {
            return Err(refuse("formats or a length that no transposed dimension has"));
        }
        let mut kernel = Kernel::new(step)?;
        // A row of results per tile: nothing of it is masked.
        kernel.packer.edge = EdgeMask::None;
        kernel.pack_running.edge = EdgeMask::None;
        let identity: u32 = match step.join {
            Join::FpuMax | Join::SfpuMax => 0xff80_0000,
            Join::FpuMin | Join::SfpuMin => 0x7f80_0000,
            _ => 0,
        };
        let below = match (Repack::new(format, Level::current()), format.element_bytes()) {
            (Some(mut repack), _) => {
                let mut below = vec![0; format.tile_bytes(TileShape::FULL)];
                repack.close(&[((identity >> 16) as u16).to_le_bytes(); 1024], &mut below);
                below
            }
            (None, Some(4)) => identity.to_le_bytes().repeat(1024),
            _ => ((identity >> 16) as u16).to_le_bytes().repeat(1024),
        };
        let below_negated = Box::new(ZERO);
        let mut transposed = Self { kernel, length, fill, below, below_negated };
        if step.join == Join::FpuMin {
            let mut scratch = Scratch::new(transposed.below.len());
            transposed.negate(&transposed.below, &mut scratch);
            *transposed.below_negated = scratch.src;
        }
        Ok(transposed)
    }

    fn memory(&self) -> Memory {
        let (format_in, format_out) = self.kernel.step.formats;
        let [bytes_in, bytes_out] = [format_in, format_out].map(|format| format.tile_bytes(TileShape::FULL));
        Memory {
            slots: vec![ZERO; self.length.min(ROWS).next_multiple_of(8)],
            scratch: Scratch::new(bytes_in),
            repack: Repack::new(format_in, Level::current()),
            packed: vec![0; bytes_out],
            entered: vec![0; bytes_in],
        }
    }

    /// Computes one tile of the result: number `tile` of its matrices.
    fn tile<'p>(
        &self,
        tile: usize,
        page: &dyn Fn(usize) -> Result<&'p [u8], OpError>,
        memory: &mut Memory,
        out: &mut [u8],
    ) -> Result<(), OpError> {
        let extent = self.extent(tile);
        let Memory { slots, scratch, repack, packed, entered } = memory;
        let mut tiles = Tiles { page, extent, repack, entered };
        match self.kernel.step.join {
            Join::FpuSum { .. } => self.sum(&mut tiles, slots, scratch)?,
            Join::FpuMax => self.largest(&mut tiles, slots, scratch)?,
            Join::FpuMin => self.smallest(&mut tiles, slots, scratch)?,
            _ => self.folded(&mut tiles, slots, scratch)?,
        }
        self.kernel.scale(&mut scratch.dst);
        let Some(repack) = repack else {
            pack::pack_tile(&self.kernel.packer, &scratch.dst, out);
            let (word, bytes) = (self.fill.value.to_le_bytes(), out.len() / 1024);
            if let Some(extent) = extent {
                pad(out, extent, &word[4 - bytes..]);
            }
            return Ok(());
        };
        pack::pack_tile(&self.kernel.packer, &scratch.dst, packed);
        if extent.is_none() && minimum::is_plain(packed) {
            out.copy_from_slice(packed);
        } else {
            let padding = [self.fill.value.to_le_bytes()[2], self.fill.value.to_le_bytes()[3]];
            repack.again(packed, extent.map(|extent| (extent, padding)), out);
        }
        Ok(())
    }

    /// Rows and columns of a tile that are not padding; `None` if all are.
    fn extent(&self, tile: usize) -> Option<[usize; 2]> {
        let columns = self.kernel.step.columns;
        let (row, column) = (tile / columns % self.fill.height.div_ceil(32), tile % columns);
        let extent = [self.fill.height - row * 32, self.fill.width - column * 32].map(|length| length.min(32));
        (extent != [32, 32]).then_some(extent)
    }

    /// Whether the last tile of a column ends with rows of identities.
    fn ends_below(&self) -> bool {
        !self.length.is_multiple_of(ROWS)
    }

    /// The indices of each tile of a column.
    fn chunks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let length = self.length;
        (0..length).step_by(ROWS).map(move |first| first..(first + ROWS).min(length))
    }

    fn reduction(&self) -> &Reduction {
        self.kernel.reduction.as_ref().expect("the FPU reduces columns")
    }

    fn sum(&self, tiles: &mut Tiles<'_, '_>, slots: &mut [Tile], scratch: &mut Scratch) -> Result<(), OpError> {
        for chunk in self.chunks() {
            let (count, fresh) = (chunk.len(), chunk.start == 0);
            for (slot, index) in slots.iter_mut().zip(chunk) {
                self.kernel.input.to_src(tiles.get(index)?, slot);
            }
            let rest = count % 8;
            let whole = count - rest + if rest <= 4 { rest.next_multiple_of(2) } else { 8 };
            slots[count..whole].fill(ZERO);
            self.reduction().across(self.kernel.level, &mut scratch.dst, &slots[..whole], fresh);
        }
        Ok(())
    }

    fn largest(&self, tiles: &mut Tiles<'_, '_>, slots: &mut [Tile], scratch: &mut Scratch) -> Result<(), OpError> {
        let kernel = &self.kernel;
        tt_fpu::clear_for_max(&kernel.math, &mut scratch.dst);
        for first in (0..self.length).step_by(TOGETHER) {
            let count = (self.length - first).min(TOGETHER);
            for (index, slot) in slots[..count].iter_mut().enumerate() {
                kernel.input.to_src(tiles.get(first + index)?, slot);
            }
            self.reduction().across(kernel.level, &mut scratch.dst, &slots[..count], false);
        }
        if self.ends_below() {
            kernel.input.to_src(&self.below, &mut scratch.src);
            self.reduction().across(kernel.level, &mut scratch.dst, std::slice::from_ref(&scratch.src), false);
        }
        Ok(())
    }

    /// The largest of the negated datums; what is there after each tile of a column goes through L1.
    fn smallest(&self, tiles: &mut Tiles<'_, '_>, slots: &mut [Tile], scratch: &mut Scratch) -> Result<(), OpError> {
        let kernel = &self.kernel;
        let mut largest = ZERO;
        tt_fpu::clear_for_max(&kernel.math, &mut largest);
        for chunk in self.chunks() {
            let ends = self.ends_below() && chunk.end == self.length;
            // Tiles that are negated where they are compared: their order does not show.
            let mut waiting = 0;
            for index in chunk {
                let bytes = tiles.get(index)?;
                if kernel.short_minimum && minimum::is_plain(bytes) {
                    kernel.input.to_src(bytes, &mut slots[waiting]);
                    waiting += 1;
                } else {
                    self.join_negated(bytes, &mut largest, scratch);
                }
                if waiting == TOGETHER {
                    self.reduction().across_negated(kernel.level, &mut largest, &slots[..waiting]);
                    waiting = 0;
                }
            }
            self.reduction().across_negated(kernel.level, &mut largest, &slots[..waiting]);
            if ends {
                let below = std::slice::from_ref(&*self.below_negated);
                self.reduction().across(kernel.level, &mut largest, below, false);
            }
            pack::pack_tile(&kernel.pack_running, &largest, &mut scratch.running);
            kernel.input.to_dst(&kernel.math, &scratch.running, &mut scratch.src, &mut largest);
        }
        for (word, largest) in scratch.dst.iter_mut().zip(largest) {
            *word = largest ^ SIGN;
        }
        Ok(())
    }

    /// Compares a tile that is negated on its way through `Dst` and L1.
    fn join_negated(&self, bytes: &[u8], largest: &mut Tile, scratch: &mut Scratch) {
        self.negate(bytes, scratch);
        self.reduction().across(self.kernel.level, largest, std::slice::from_ref(&scratch.src), false);
    }

    /// Negates a tile on its way through `Dst` and L1 to a Src register.
    fn negate(&self, bytes: &[u8], scratch: &mut Scratch) {
        let kernel = &self.kernel;
        kernel.input.to_dst(&kernel.math, bytes, &mut scratch.src, &mut scratch.dst);
        for word in &mut scratch.dst {
            *word ^= SIGN;
        }
        pack::pack_tile(&kernel.pack_negated, &scratch.dst, &mut scratch.negated);
        kernel.input.to_src(&scratch.negated, &mut scratch.src);
    }

    /// The SFPU folds the tiles of a column onto each other, and then the rows of the last one.
    fn folded(&self, tiles: &mut Tiles<'_, '_>, slots: &mut [Tile], scratch: &mut Scratch) -> Result<(), OpError> {
        let (kernel, Scratch { src, tile, dst, .. }) = (&self.kernel, scratch);
        let Some(vector) = &kernel.vector else {
            return Err(OpError::Invariant { operator: "reduce", what: "a join of neither unit".to_owned() });
        };
        // One slot is enough where the order of joins does not show.
        let slots = if vector.is_ordered() { slots } else { &mut slots[..1] };
        let rows = if vector.is_ordered() { ROWS } else { 1 };
        for index in 0..self.length {
            let slot = &mut slots[index % rows];
            if index < rows {
                kernel.input.to_dst(&kernel.math, tiles.get(index)?, src, slot);
            } else {
                kernel.input.to_dst(&kernel.math, tiles.get(index)?, src, tile);
                vector.join(slot, tile);
            }
        }
        kernel.input.to_dst(&kernel.math, &self.below, src, tile);
        if vector.is_ordered() {
            if self.length > ROWS && self.ends_below() {
                for slot in &mut slots[self.length % ROWS..] {
                    vector.join(slot, tile);
                }
            }
            vector.fold_tiles(&mut slots[..self.length.min(ROWS)], tile);
        } else if self.ends_below() {
            vector.join(&mut slots[0], tile);
        }
        *dst = slots[0];
        vector.store(dst);
        Ok(())
    }
}

/// The tiles of a leading dimension as the program finds them after the exchange.
struct Tiles<'m, 'p> {
    page: &'m dyn Fn(usize) -> Result<&'p [u8], OpError>,
    extent: Option<[usize; 2]>,
    /// Of block floats.
    repack: &'m mut Option<Repack>,
    entered: &'m mut Vec<u8>,
}

impl Tiles<'_, '_> {
    fn get(&mut self, index: usize) -> Result<&[u8], OpError> {
        let bytes = (self.page)(index)?;
        match self.repack {
            Some(repack) if self.extent.is_some() || !minimum::is_plain(bytes) => {
                // What lies in the padding does not go with the datums of its group.
                repack.again(bytes, self.extent.map(|extent| (extent, [0; 2])), self.entered);
                Ok(self.entered)
            }
            _ => Ok(bytes),
        }
    }
}
