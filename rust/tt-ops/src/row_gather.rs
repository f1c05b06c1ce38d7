//! Rows of a table that indices name.

use tt_cpu::Level;
use tt_cpu::stream::STREAM_BYTES;
use tt_formats::DataFormat;
use tt_memory::{BufferId, Device};

use crate::movement::Tilizer;
use crate::pages::{PageCopies, Share};
use crate::row_writes::read_indices;
use crate::{OpError, for_each_page};

/// Copies rows of a table that indices name.
///
/// Row i of the output is the row of the i-th index. In tiles of bfloat16 for a width, the rows of each row of indices
/// begin a tile, what they lack to full tiles is zero, and datums pass through `Dst`; otherwise rows are pages.
///
/// # Errors
/// Memory errors; [`OpError::Index`] for an index behind the last row, and nothing is written.
pub fn gather_rows(
    device: &mut Device,
    (indices, format, sizes): (BufferId, DataFormat, (usize, usize)),
    table: BufferId,
    output: BufferId,
    tiled: Option<usize>,
) -> Result<(), OpError> {
    let (rows, bytes) = (device.buffer(table)?.num_pages(), device.buffer(table)?.page_bytes());
    let (pages, target_bytes) = (device.buffer(output)?.num_pages(), device.buffer(output)?.page_bytes());
    let fits = match tiled {
        None => pages == sizes.0 * sizes.1 && bytes == target_bytes,
        Some(width) => {
            pages == sizes.0 * sizes.1.div_ceil(32) * width.div_ceil(32) && bytes >= 2 * width && target_bytes == 2048
        }
    };
    if !fits {
        let what = format!("{pages} pages of {target_bytes} B for {sizes:?} rows of {bytes} B");
        return Err(OpError::Invariant { operator: "gather", what });
    }
    let access = device.access(&[output])?;
    let indices = read_indices(&access, indices, format, sizes)?;
    if let Some(&index) = indices.iter().find(|&&index| index as usize >= rows) {
        return Err(OpError::Index { index, rows });
    }
    let source = access.input(table)?.all()?;
    if let Some(width) = tiled {
        let target = access.output(output)?;
        let past = target.buffer().bytes() >= STREAM_BYTES as u64;
        let tilizer = Tilizer { width, unit: 2, padding: 0, flush: Some(Level::current()) };
        let blocks = sizes.1.div_ceil(32);
        return for_each_page(
            sizes.0 * blocks,
            || (Vec::new(), Share),
            |(tile, _), block| {
                let first = block % blocks * 32;
                let names = &indices[block / blocks * sizes.1..][first..sizes.1.min(first + 32)];
                let rows: Vec<&[u8]> = names.iter().map(|&index| source.page(index as usize)).collect();
                tilizer.row_of_tiles(&rows, &target, (block, past), tile)
            },
        );
    }
    let mut copies = PageCopies::default();
    indices.iter().enumerate().for_each(|(page, &index)| copies.push(page, index as usize, 1));
    copies.run(&source, &access, output)
}
