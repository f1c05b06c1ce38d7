//! `argmax`: NaN outranks every number and the first NaN wins.
//!
//! +0 equals -0; ties go to the lowest index.

mod program;
mod simd;

use tt_formats::TileShape;
use tt_memory::{Access, BufferId, Device};

use crate::{OpError, for_each_page};
use simd::{Keys, SimdSearch};

pub use program::ArgmaxProgram;

/// Runs the search.
///
/// # Errors
/// Memory errors; an output that does not hold one index per searched line.
pub fn argmax(device: &mut Device, input: BufferId, output: BufferId, program: &ArgmaxProgram) -> Result<(), OpError> {
    let shape = &program.shape;
    let (outer, length, inner) = match program.dim {
        None => (1, shape.iter().product(), 1),
        Some(dim) => (shape[..dim].iter().product(), shape[dim], shape[dim + 1..].iter().product::<usize>()),
    };
    let buffer = device.buffer(output)?;
    let per_page = buffer.page_bytes() / 4;
    let pages = buffer.num_pages();
    if pages * per_page != outer * inner {
        let what = format!("output holds {} indices, the search gives {}", pages * per_page, outer * inner);
        return Err(OpError::Invariant { operator: "argmax", what });
    }
    let Some(kind) = Keys::of(program.format) else {
        return Err(OpError::Invariant { operator: "argmax", what: format!("datums of {:?}", program.format) });
    };
    let source = Source::new(device, input, program)?;
    let access = device.access(&[output])?;
    if let Some(search) = SimdSearch::new(kind, program, &access, [input, output])? {
        return search.run();
    }
    by_datum(&access, &source, output, kind, [pages, per_page, length, inner])
}

/// The definition: every line, datum by datum.
fn by_datum(
    access: &Access<'_>,
    source: &Source,
    output: BufferId,
    kind: Keys,
    [pages, per_page, length, inner]: [usize; 4],
) -> Result<(), OpError> {
    for_each_page(
        pages,
        || (),
        |(), page| {
            for (slot, target) in access.claim(output, page)?.chunks_exact_mut(4).enumerate() {
                let line = page * per_page + slot;
                let first = line / inner * length * inner + line % inner;
                let mut best = (i32::MIN, 0u32);
                for index in 0..length {
                    let value = kind.key(source.word(access, first + index * inner)?);
                    if value > best.0 || index == 0 {
                        best = (value, index as u32);
                    }
                }
                target.copy_from_slice(&best.1.to_le_bytes());
            }
            Ok(())
        },
    )
}

/// Reads single datums by their row-major logical index.
struct Source {
    buffer: BufferId,
    width: usize,
    height: usize,
    tiled: bool,
    bytes: usize,
    page_datums: usize,
}

impl Source {
    fn new(device: &Device, buffer: BufferId, program: &ArgmaxProgram) -> Result<Self, OpError> {
        let bytes = program.format.tile_bytes(TileShape::FULL) / 1024;
        let rank = program.shape.len();
        Ok(Self {
            buffer,
            width: program.shape.last().copied().unwrap_or(1),
            height: if rank >= 2 { program.shape[rank - 2] } else { 1 },
            tiled: program.tiled,
            bytes,
            page_datums: device.buffer(buffer)?.page_bytes() / bytes,
        })
    }

    fn word(&self, access: &Access<'_>, index: usize) -> Result<u32, OpError> {
        let (page, datum) = if self.tiled {
            let (column, row) = (index % self.width, index / self.width % self.height);
            let matrix = index / self.width / self.height;
            let tile = (matrix * self.height.div_ceil(32) + row / 32) * self.width.div_ceil(32) + column / 32;
            (tile, TileShape::FULL.index(row % 32, column % 32))
        } else {
            (index / self.page_datums, index % self.page_datums)
        };
        let bytes = &access.page(self.buffer, page)?[datum * self.bytes..(datum + 1) * self.bytes];
        let mut word = [0; 4];
        word[..self.bytes].copy_from_slice(bytes);
        Ok(u32::from_le_bytes(word))
    }
}
