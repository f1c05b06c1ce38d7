//! Tiles of bfloat16 that become block floats.
//!
//! A line of a face is a group: those that have datums are packed together with those of other tiles, and those of
//! padding once for all.

use tt_formats::{TileShape, format::GROUP};
use tt_fpu::HalfTile;
use tt_tensix::pack::HalfPacker;

use super::setting::{EXPONENTS, LINE, Movement, SIDE};
use crate::OpError;

/// Buffers of a worker.
pub struct Packing {
    packer: HalfPacker,
    padding: u16,
    /// Rows and columns of tiles that have datums, and their lines.
    extent: [usize; 2],
    live: Vec<usize>,
    /// Lines of some tiles, and what they are packed to.
    halves: HalfTile,
    packed: Vec<u8>,
    /// A tile whose padding is packed.
    tile: Vec<u8>,
}

impl Packing {
    pub fn new(movement: &Movement, packer: HalfPacker) -> Option<Box<Self>> {
        let bytes = movement.packed?.format.tile_bytes(TileShape::FULL);
        let (halves, packed, tile) = ([0; SIDE * SIDE], vec![0; bytes], vec![0; bytes]);
        let (padding, extent, live) = (movement.padding as u16, [0; 2], Vec::with_capacity(EXPONENTS));
        Some(Box::new(Self { packer, padding, extent, live, halves, packed, tile }))
    }

    /// Packs tiles with padding and passes them on, numbered.
    ///
    /// So many rows and columns are not padding.
    pub fn run<'t>(
        &mut self,
        extent: [usize; 2],
        tiles: impl Iterator<Item = &'t [u8]>,
        mut write: impl FnMut(usize, &[u8]) -> Result<(), OpError>,
    ) -> Result<(), OpError> {
        self.prepare(extent);
        let lines = self.live.len();
        let together = EXPONENTS / lines;
        let mut waiting = 0..0;
        for (number, tile) in tiles.enumerate() {
            if together == 1 {
                bytemuck::bytes_of_mut(&mut self.halves).copy_from_slice(tile);
                self.packer.pack(&self.halves, &mut self.packed);
                write(number, &self.packed)?;
                continue;
            }
            let (from, to) = (tile.as_chunks().0, bytemuck::bytes_of_mut(&mut self.halves).as_chunks_mut().0);
            let to: &mut [[u8; 2 * LINE]] = &mut to[waiting.len() * lines..];
            for (to, &line) in to.iter_mut().zip(&self.live) {
                *to = from[line];
            }
            waiting.end += 1;
            if waiting.len() == together {
                self.hand_over(&waiting, &mut write)?;
                waiting = waiting.end..waiting.end;
            }
        }
        self.hand_over(&waiting, &mut write)
    }

    /// Packs what lies in `halves` of these tiles.
    fn hand_over(
        &mut self,
        tiles: &std::ops::Range<usize>,
        write: &mut impl FnMut(usize, &[u8]) -> Result<(), OpError>,
    ) -> Result<(), OpError> {
        if tiles.is_empty() {
            return Ok(());
        }
        self.packer.pack(&self.halves, &mut self.packed);
        for (place, number) in tiles.clone().enumerate() {
            let first = place * self.live.len();
            if self.tile.len() == EXPONENTS * (1 + GROUP) {
                copy_groups::<GROUP>(&mut self.tile, &self.live, &self.packed, first);
            } else {
                copy_groups::<{ GROUP / 2 }>(&mut self.tile, &self.live, &self.packed, first);
            }
            write(number, &self.tile)?;
        }
        Ok(())
    }

    fn prepare(&mut self, extent: [usize; 2]) {
        if self.extent == extent {
            return;
        }
        self.extent = extent;
        let [rows, columns] = extent;
        let lines = |row| (0..columns).step_by(LINE).map(move |column| TileShape::FULL.index(row, column) / LINE);
        self.live.clear();
        self.live.extend((0..rows).flat_map(lines));
        self.halves.fill(self.padding);
        self.packer.pack(&self.halves, &mut self.tile);
    }
}

/// Copies groups of so many bytes that lie side by side, from the `first` one on, to their places.
fn copy_groups<const BYTES: usize>(to: &mut [u8], places: &[usize], from: &[u8], first: usize) {
    let ((exponents, datums), (exponents_from, datums_from)) = (to.split_at_mut(EXPONENTS), from.split_at(EXPONENTS));
    let (datums, datums_from) = (datums.as_chunks_mut::<BYTES>().0, datums_from.as_chunks::<BYTES>().0);
    let groups = exponents_from[first..].iter().zip(&datums_from[first..]);
    for (&place, (exponent, group)) in places.iter().zip(groups) {
        (exponents[place], datums[place]) = (*exponent, *group);
    }
}
