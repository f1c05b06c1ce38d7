//! The planner: which copy carries a movement out.
//!
//! Each gives the bytes of the definition in [`super::by_datum`].

use tt_fpu::HalfTile;
use tt_memory::Access;
use tt_tensix::tile_io::{Tile, ZERO};

use super::by_datum::Scratch;
use super::flat::Flat;
use super::layout_change;
use super::permute::Permute;
use super::row_copy::RowCopy;
use super::setting::{SIDE, Setting, View};
use super::tile_copy::TileCopy;
use crate::row_writes::WindowCopy;
use crate::{OpError, for_each_page};

/// The strategy of a movement.
pub enum Plan {
    /// From rows to tiles or back.
    LayoutChange,
    /// Every output page is an input page.
    Tiles(TileCopy),
    /// Parts of rows that are pages.
    Rows(WindowCopy),
    Permute(Permute),
    /// From an array of all datums.
    Flat(Flat),
    /// Page by page: tiles without padding, then rows, then single datums.
    Pages {
        tiles: Option<TileCopy>,
        rows: Option<RowCopy>,
    },
}

impl Plan {
    /// Chooses. An empty window leaves nothing to copy.
    pub fn new(setting: &Setting<'_>, empty: bool) -> Self {
        let movement = setting.movement;
        if empty {
            return Self::Pages { tiles: None, rows: None };
        }
        if [&movement.input, &movement.output].into_iter().any(View::is_small_block_float) {
            return Self::Pages { tiles: None, rows: None };
        }
        let mut flat = Flat::new(setting);
        if let Some(flat) = flat.take_if(|_| Flat::is_narrow(setting)) {
            return Self::Flat(flat);
        }
        if movement.packed.is_none() && layout_change::changes_layout(setting) {
            return Self::LayoutChange;
        }
        let mut tiles = TileCopy::of_tiles(setting);
        // Tiles that are packed pass through the registers once, not in words.
        let whole = tiles.take_if(|tiles| movement.packed.is_none() && tiles.is_whole());
        if let Some(copy) = whole.or_else(|| TileCopy::of_rows(setting)) {
            return Self::Tiles(copy);
        }
        if let Some(copy) = setting.row_parts() {
            return Self::Rows(copy);
        }
        if let Some(permute) = Permute::new(movement) {
            return Self::Permute(permute);
        }
        let rows = RowCopy::new(movement);
        match flat {
            Some(flat) if tiles.is_none() && rows.is_none() => Self::Flat(flat),
            _ => Self::Pages { tiles, rows },
        }
    }

    /// Carries the movement out.
    pub fn run(&self, access: &Access<'_>, setting: &Setting<'_>) -> Result<(), OpError> {
        let output = setting.movement.output.buffer;
        let (tiles, rows) = match self {
            Self::LayoutChange => return layout_change::run(access, setting),
            Self::Tiles(copy) => return copy.run(access, output),
            Self::Rows(copy) => return copy.copy(access, setting.movement.input.buffer, output),
            Self::Permute(permute) => return permute.run(access, setting),
            Self::Flat(flat) => return flat.run(access, setting),
            Self::Pages { tiles, rows } => (tiles, rows),
        };
        let fill = |memory: &mut Memory, page: usize, out: &mut [u8]| {
            let [tile, transposed] = &mut memory.tiles;
            if let Some(tiles) = tiles
                && tiles.page(access, page, [tile, transposed], out)?
            {
                return Ok(());
            }
            match rows {
                Some(rows) => rows.page(access, setting, page, tile, out),
                None => setting.page(access, page, &mut memory.scratch, out),
            }
        };
        for_each_page(access.buffer(output)?.num_pages(), Memory::new, |memory, page| {
            let out = access.claim(output, page)?;
            let Some(packer) = &setting.half_packer else {
                return fill(memory, page, out);
            };
            let mut halves: HalfTile = [0; SIDE * SIDE];
            fill(memory, page, bytemuck::bytes_of_mut(&mut halves))?;
            // Datums are little-endian in L1.
            packer.pack(&halves.map(u16::from_le), out);
            Ok(())
        })
    }
}

/// What a worker needs.
struct Memory {
    scratch: Scratch,
    tiles: [Tile; 2],
}

impl Memory {
    fn new() -> Box<Self> {
        Box::new(Self { scratch: Scratch::new(), tiles: [ZERO; 2] })
    }
}
