//! Between rows and tiles.
//!
//! Tilize in the unpacker, untilize in the unpacker or in the packer.
//!
//! Rows lie in a CB as 32 of them one after the other, as long as a row of tiles. Values pass through `Dst` as in a
//! copy.

use tt_formats::{DataFormat, TileShape};
use tt_memory::{Device, Place};

use super::matrix::Source;
use super::threads::{ALL, MATH, PACK, UNPACK, in_turn};
use crate::calls::memory::mark_buffer;
use crate::error::{Fault, FaultKind};
use crate::state::Run;
use crate::state::compute::{Copying, Math, Turn, shape};

/// Which engine turns tiles into rows.
#[derive(Clone, Copy)]
enum Untilizer {
    Unpack,
    Pack,
}

/// Side of a tile.
const SIDE: usize = 32;

impl Run {
    /// Tilizes 32 rows of `block` tiles between two CBs.
    ///
    /// From the front of one to the back of another.
    ///
    /// # Errors
    /// Setup, CB protocol, formats without elements of their own.
    pub fn tilize_block(
        &mut self,
        device: &mut Device,
        input: u32,
        block: u32,
        output: u32,
        (first_in, first_out): (u32, u32),
    ) -> Result<(), Fault> {
        in_turn!(self, ALL, (), |run, device| run.tilize_block(device, input, block, output, (first_in, first_out)));
        self.checked("tilize_block", |run| {
            run.require_tilize(block)?;
            run.require_free_dst()?;
            for tile in 0..block {
                let (gathered, format, unpack) = run.gather(device, input, block, first_in, tile)?;
                run.through_dst(&gathered, format, input, unpack)?;
                run.pack_whole(device, 0, output, Some(first_out + tile))?;
                run.release()?;
            }
            Ok(())
        })
    }

    /// Tilizes 32 front rows of `block` tiles to `Dst`, from `dst`.
    ///
    /// # Errors
    /// As [`Run::tilize_block`]; `Dst` protocol.
    pub fn tilize_to_dst(
        &mut self,
        device: &Device,
        input: u32,
        block: u32,
        dst: u32,
        first_in: u32,
    ) -> Result<(), Fault> {
        in_turn!(self, UNPACK | MATH, (), |run, device| run.tilize_to_dst(device, input, block, dst, first_in));
        self.checked("tilize_block_no_pack", |run| {
            run.require_tilize(block)?;
            let math = run.time.compute().copy;
            for tile in 0..block {
                let (gathered, format, unpack) = run.gather(device, input, block, first_in, tile)?;
                run.copy_gathered(&gathered, format, input, dst + tile)?;
                let (clocks, compute) = run.engine()?;
                compute.advance(clocks, unpack, math);
            }
            Ok(())
        })
    }

    fn require_tilize(&mut self, block: u32) -> Result<(), FaultKind> {
        let (_, compute) = self.engine()?;
        compute.require_math(|math| matches!(math, Math::Tilize { .. }), "tilize_init")?;
        if compute.math != (Math::Tilize { block }) {
            let said = compute.math.describe();
            return Err(FaultKind::DiffersFromInit { what: "the block", expected: format!("{block} tiles"), said });
        }
        Ok(())
    }

    /// Tile `tile` of the rows at the front of a CB, its format, and the cycles that its unpack takes.
    fn gather(
        &mut self,
        device: &Device,
        input: u32,
        block: u32,
        first: u32,
        tile: u32,
    ) -> Result<(Vec<u8>, DataFormat, u64), FaultKind> {
        // The last tile is the one that may not have been waited for.
        self.require_rows(input, (first + block).max(1))?;
        let (format, tile_bytes, start) = self.rows_of(input, first)?;
        let width = element_bytes(format)?;
        let mut gathered = vec![0; tile_bytes];
        for row in 0..SIDE {
            let at = start + ((row * block as usize + tile as usize) * SIDE * width) as u32;
            let bytes = device.bytes(self.own_place(at), SIDE * width)?;
            scatter_row(row, width, bytes, &mut gathered);
        }
        self.engine()?.1.require_a(input, format)?;
        Ok((gathered, format, self.time.compute().unpack_tilize(tile_bytes as u64, block.into())))
    }

    /// Untilizes `columns` front tiles into 32 rows of another CB.
    ///
    /// They are at its back.
    ///
    /// # Errors
    /// Setup, CB protocol, formats without elements of their own.
    pub fn untilize_block(&mut self, device: &mut Device, input: u32, columns: u32, output: u32) -> Result<(), Fault> {
        in_turn!(self, ALL, (), |run, device| run.untilize_block(device, input, columns, output));
        self.checked("untilize_block", |run| {
            run.engine()?.1.require_math(|math| math == Math::Untilize, "untilize_init")?;
            run.require_free_dst()?;
            run.untilize(device, input, columns, output, (columns, 0), Untilizer::Unpack)
        })
    }

    /// Untilizes `columns` front tiles into part of 32 `full`-tile rows.
    ///
    /// They are at the back of another CB.
    ///
    /// # Errors
    /// Setup, CB protocol, formats without elements of their own.
    pub fn pack_untilize_block(
        &mut self,
        device: &mut Device,
        (input, output): (u32, u32),
        rows: u32,
        place: u32,
    ) -> Result<(), Fault> {
        in_turn!(self, ALL, (), |run, device| run.pack_untilize_block(device, (input, output), rows, place));
        self.checked("pack_untilize_block", |run| {
            let (columns, full) = run.require_pack_untilize()?;
            if rows != 1 {
                let text = format!(
                    "{rows} rows of tiles in one call: the chip unpacks the first {columns} tiles of CB {input} for each \
                     of them and packs them to the same place; call it once per row, and pop the row in between"
                );
                return Err(FaultKind::Argument(text));
            }
            run.engine()?.1.require_math(|math| math == Math::Copy(Copying::Plain), "pack_untilize_init")?;
            run.require_free_dst()?;
            run.untilize(device, input, columns, output, (full, place * columns), Untilizer::Pack)
        })
    }

    /// Packs `rows` tile rows of `Dst` as part of CB rows.
    ///
    /// From tile `first` on, as part of so many times 32 rows at the back.
    ///
    /// # Errors
    /// Setup, CB protocol, `Dst` protocol, formats without elements of their own.
    pub fn pack_untilize_dest(
        &mut self,
        device: &mut Device,
        output: u32,
        rows: u32,
        place: u32,
        first: u32,
    ) -> Result<(), Fault> {
        in_turn!(self, PACK, (), |run, device| run.pack_untilize_dest(device, output, rows, place, first));
        self.wait_for_math()?;
        self.checked("pack_untilize_dest", |run| {
            let (columns, full) = run.require_pack_untilize()?;
            for row in 0..rows {
                for column in 0..columns {
                    let (tile, place) = (first + row * columns + column, place * columns + column);
                    run.pack_rows(device, tile, output, (full, row, place), Some(columns))?;
                }
            }
            Ok(())
        })
    }

    /// Sets the packer up to untilize blocks, or for tiles again.
    ///
    /// Blocks of `columns` tiles into rows of `full` tiles.
    ///
    /// # Errors
    /// A data-movement kernel; a block larger than its row.
    pub fn pack_untilize_mode(&mut self, mode: Option<(u32, u32)>) -> Result<(), Fault> {
        in_turn!(self, PACK, (), |run, _| run.pack_untilize_mode(mode));
        self.checked("pack_untilize_init", |run| {
            if let Some((columns, full)) = mode
                && (columns == 0 || full == 0 || !full.is_multiple_of(columns))
            {
                let text = format!("blocks of {columns} tiles do not divide rows of {full} tiles");
                return Err(FaultKind::Argument(text));
            }
            let cost = run.time.compute().init;
            let (clocks, compute) = run.engine()?;
            compute.untilizes = mode;
            clocks[2] += cost;
            Ok(())
        })
    }

    fn require_pack_untilize(&mut self) -> Result<(u32, u32), FaultKind> {
        let state = "the packer packs tiles".to_owned();
        let mode = self.engine()?.1.untilizes;
        mode.ok_or(FaultKind::MissingInit { missing: "pack_untilize_init (or _dest_init)".to_owned(), state })
    }

    fn untilize(
        &mut self,
        device: &mut Device,
        input: u32,
        columns: u32,
        output: u32,
        (full, first): (u32, u32),
        by: Untilizer,
    ) -> Result<(), FaultKind> {
        let costs = self.time.compute();
        for column in 0..columns {
            let source = self.source(input, column)?;
            self.engine()?.1.require_a(input, source.format)?;
            shape::require_full(source.shape, "untilizing")?;
            let bytes = device.bytes(source.place, source.bytes as usize)?.to_vec();
            let (unpack, block) = match by {
                Untilizer::Unpack => (costs.unpack_untilize, None),
                Untilizer::Pack => (costs.unpack(source.bytes.into()), Some(columns)),
            };
            self.through_dst(&bytes, source.format, input, unpack)?;
            self.pack_rows(device, 0, output, (full, 0, first + column), block)?;
            self.release()?;
        }
        Ok(())
    }

    /// Brings a tile into `Dst[0]` as `copy_tile` does, in `unpack` cycles, and hands it to the packer.
    fn through_dst(&mut self, tile: &[u8], format: DataFormat, cb: u32, unpack: u64) -> Result<(), FaultKind> {
        self.acquire(Turn::Math)?;
        let math = self.time.compute().copy;
        self.copy_gathered(tile, format, cb, 0)?;
        let (clocks, compute) = self.engine()?;
        compute.advance(clocks, unpack, math);
        self.commit()?;
        self.wait()
    }

    /// `Dst[dst]` = a tile whose bytes do not lie in L1 in this order.
    fn copy_gathered(&mut self, tile: &[u8], format: DataFormat, cb: u32, dst: u32) -> Result<(), FaultKind> {
        let source = Source { place: self.own_place(0), format, bytes: tile.len() as u32, shape: TileShape::FULL };
        self.copy_bytes(source, tile, cb, dst, Copying::Plain)
    }

    fn require_free_dst(&mut self) -> Result<(), FaultKind> {
        if self.engine()?.1.turn == Turn::Free { Ok(()) } else { Err(FaultKind::AcquiredTwice) }
    }

    /// Rows of so many tiles must be at the front of a CB, and the bytes of the last tile written.
    fn require_rows(&mut self, cb: u32, tiles: u32) -> Result<(), FaultKind> {
        let current = self.current;
        let buffer = self.here().1.cb_mut(cb)?;
        let (bytes, tile_bytes) = (tiles.saturating_mul(buffer.tile_bytes), buffer.tile_bytes);
        let start = buffer.front(current, 0, bytes)?;
        self.require_written(cb, tiles - 1, start.wrapping_add(bytes - tile_bytes))
    }

    /// Format, bytes of a tile and first byte of the rows at the front of a CB.
    fn rows_of(&mut self, cb: u32, tile: u32) -> Result<(DataFormat, usize, u32), FaultKind> {
        let current = self.current;
        let buffer = self.here().1.cb_mut(cb)?;
        shape::require_full(buffer.shape.unwrap_or(TileShape::FULL), "tilizing")?;
        Ok((buffer.format, buffer.tile_bytes as usize, buffer.read_pointer_of(current) + tile * buffer.tile_bytes))
    }

    /// Packs a tile of `Dst` as column `column` of 32 rows of `full` tiles; the packer untilizes it as one of a block
    /// of so many tiles, or finds it untilized.
    fn pack_rows(
        &mut self,
        device: &mut Device,
        dst: u32,
        cb: u32,
        (full, row_of_tiles, column): (u32, u32, u32),
        block: Option<u32>,
    ) -> Result<(), FaultKind> {
        let bank = self.cores[self.kernels[self.current].core].bank;
        let Run { kernels, cores, time, current, .. } = self;
        let kernel = &mut kernels[*current];
        let core = &mut cores[kernel.core];
        let Some(compute) = kernel.compute.as_deref_mut() else {
            return Err(FaultKind::WrongRisc("the packer belongs to compute kernels".to_owned()));
        };
        let buffer = core.cb_mut(cb)?;
        let (format, borrowed) = (buffer.format, buffer.borrowed);
        let width = element_bytes(format)?;
        let (section, held) = compute.packed_tile(dst)?;
        compute.require_packer(cb, format)?;
        shape::require_full(compute.sections[section].shapes[dst as usize], "untilizing")?;
        shape::require_full(buffer.shape.unwrap_or(TileShape::FULL), "untilizing")?;
        // A whole row of tiles must be reserved.
        let start = buffer.back(*current, row_of_tiles * full, full.saturating_mul(buffer.tile_bytes))?;
        buffer.packed_at_place = true;
        let mut packed = vec![0; buffer.tile_bytes as usize];
        compute.packer(held, format, TileShape::FULL)?.pack(compute.words(section, dst), &mut packed);
        let mut bytes = vec![0; SIDE * width];
        for row in 0..SIDE {
            gather_row(row, width, &packed, &mut bytes);
            let address = start + ((row * full as usize + column as usize) * SIDE * width) as u32;
            let place = Place { dram: false, bank, address: address.into() };
            device.bytes_mut(place, bytes.len())?.copy_from_slice(&bytes);
            core.shadow.set(address, address + bytes.len() as u32);
            if borrowed {
                mark_buffer(device, place, bytes.len() as u32);
            }
        }
        let costs = time.compute();
        kernel.clocks[2] += match block {
            Some(tiles) => costs.pack_untilize(tiles.into(), width as u64).div_ceil(tiles.into()),
            None => costs.pack(packed.len() as u64, false),
        };
        Ok(())
    }
}

/// Bytes of a datum in rows.
fn element_bytes(format: DataFormat) -> Result<usize, FaultKind> {
    format.element_bytes().ok_or_else(|| {
        FaultKind::NoConversion(format!("{format:?} has no rows: its datums share exponents; use another format there"))
    })
}

/// The two halves of a row of a tile, by their places in memory order.
fn halves(row: usize) -> [usize; 2] {
    [TileShape::FULL.index(row, 0), TileShape::FULL.index(row, SIDE / 2)]
}

fn scatter_row(row: usize, width: usize, from: &[u8], tile: &mut [u8]) {
    let half = SIDE / 2 * width;
    for (place, piece) in halves(row).into_iter().zip(from.chunks_exact(half)) {
        tile[place * width..place * width + half].copy_from_slice(piece);
    }
}

fn gather_row(row: usize, width: usize, tile: &[u8], into: &mut [u8]) {
    let half = SIDE / 2 * width;
    for (place, piece) in halves(row).into_iter().zip(into.chunks_exact_mut(half)) {
        piece.copy_from_slice(&tile[place * width..place * width + half]);
    }
}
