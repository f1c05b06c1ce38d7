//! The gradient of `embedding`.
//!
//! Rows of the gradient added to the rows of the table that their indices name.
//!
//! As the program does, the table is walked in tiles. For every 32 indices in turn, a tile that one of them names is
//! copied to Dst beside the tile of the gradient; row after row is added there on the SFPU; the tile is packed
//! again. A sum is rounded by the store of every addition and, between groups of 32 indices, by the packer.

use tt_formats::DataFormat;
use tt_fpu::{Arch, CopyTile, MathConfig, MathFidelity};
use tt_memory::{BufferId, Device};
use tt_sfpu::DstWidth;
use tt_tensix::pack::{self, PackConfig};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};

use crate::row_writes::read_indices;
use crate::{OpError, for_each_page};

const OPERATOR: &str = "embedding_bw";
const TILE_ROWS: usize = 32;
const FACE_ROW: usize = 16;

/// Settings of the program. The table is as wide as the gradient.
#[derive(Clone, Debug)]
pub struct EmbeddingBackwardProgram {
    /// Format of gradient and table: 16-bit or block format.
    pub format: DataFormat,
    /// Format of the indices: `UInt32`, or `Float16B` whose fractions are cut.
    pub index_format: DataFormat,
    /// Indices per row of their tensor.
    pub row_length: usize,
    /// Rows of the gradient, one per index; a multiple of 32.
    pub rows: usize,
    /// Tiles per row of the gradient and of the table.
    pub tiles_wide: usize,
    /// Chip.
    pub arch: Arch,
}

struct Scratch {
    src: Tile,
    grad: Tile,
    table: Tile,
}

/// Runs the program: the whole output is written.
///
/// Indices beyond it add nothing; the caller refuses them.
///
/// # Errors
/// Memory errors; a gradient that does not hold the tiles that its size asks for.
pub fn embedding_backward(
    device: &mut Device,
    indices: BufferId,
    grad: BufferId,
    output: BufferId,
    program: &EmbeddingBackwardProgram,
) -> Result<(), OpError> {
    let tiles = program.rows / TILE_ROWS * program.tiles_wide;
    let found = device.buffer(grad)?.num_pages();
    if found != tiles {
        let what = format!("the gradient has {found} tiles, its size asks for {tiles}");
        return Err(OpError::Invariant { operator: OPERATOR, what });
    }
    let pages = device.buffer(output)?.num_pages();
    let add = tt_sfpu::lookup_binary(program.arch, "add_binary", "default")
        .ok_or_else(|| OpError::UnknownFunction { name: "add_binary".into(), variant: "default".into() })?;
    let entry = Input::new(program.format, false);
    let dst = tile_io::dst_format(program.format, false);
    let math = MathConfig { fidelity: MathFidelity::HiFi4, dst, alu: entry.register, arch: program.arch };
    let packer = PackConfig::new(dst, program.format);
    let access = device.access(&[output])?;
    let lines = program.rows.checked_div(program.row_length).unwrap_or(0);
    let rows = read_indices(&access, indices, program.index_format, (lines, program.row_length))?;
    let level = tt_cpu::Level::current();
    let make = || Scratch { src: ZERO, grad: ZERO, table: ZERO };
    for_each_page(pages, make, |scratch, page| {
        let (tile_row, column) = (page / program.tiles_wide, page % program.tiles_wide);
        let target = access.claim(output, page)?;
        target.fill(0);
        let Scratch { src, grad: from, table } = scratch;
        for (group, rows) in rows.chunks(TILE_ROWS).enumerate() {
            if !rows.iter().any(|&row| row as usize / TILE_ROWS == tile_row) {
                continue;
            }
            entry.to_dst(&math, access.page(grad, group * program.tiles_wide + column)?, src, from);
            entry.to_dst(&math, target, src, table);
            for (i, &row) in rows.iter().enumerate() {
                if row as usize / TILE_ROWS == tile_row {
                    for half in 0..2 {
                        let (to, of) = (segment(row as usize % TILE_ROWS, half), segment(i, half));
                        tt_sfpu::binary(add, &mut table[to], &from[of], DstWidth::Bits16, level);
                    }
                }
            }
            pack::pack_tile(&packer, table, target);
        }
        Ok(())
    })
}

/// Where half a row of a tile lies in face order.
fn segment(row: usize, half: usize) -> std::ops::Range<usize> {
    let start = (row / FACE_ROW * 2 + half) * FACE_ROW * FACE_ROW + row % FACE_ROW * FACE_ROW;
    start..start + FACE_ROW
}
