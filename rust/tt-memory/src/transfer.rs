//! Host to device and back.
//!
//! Rows of a host tensor, split over pages.
use std::sync::OnceLock;

use tt_cpu::pool;

use crate::access::{Input, Output};
use crate::buffer::{Buffer, BufferId};
use crate::device::Device;
use crate::error::MemoryError;

impl Device {
    /// Writes a host tensor of rows of `row_bytes`.
    ///
    /// Each row fills the buffer's pages of one row of pages. If the last of them is not filled, the rest of it becomes
    /// zero.
    ///
    /// # Errors
    /// [`MemoryError::TransferShape`] if the sizes do not match; unknown buffers; closed device.
    pub fn write(&mut self, id: BufferId, data: &[u8], row_bytes: usize) -> Result<(), MemoryError> {
        let columns = check(self.buffer(id)?, data.len(), row_bytes)?;
        let access = self.access(&[id])?;
        let output = access.output(id)?;
        let Buffer { page_bytes, num_pages, .. } = *output.buffer();
        let failure = OnceLock::new();
        pool::for_each_sized(num_pages, page_bytes, |page| {
            let (row, column) = (page / columns, page % columns);
            let start = row * row_bytes + column * page_bytes;
            let end = start + page_bytes.min(row_bytes - column * page_bytes);
            if let Err(error) = store(&output, page, &data[start..end]) {
                failure.get_or_init(|| error);
            }
        });
        failure.into_inner().map_or(Ok(()), Err)
    }

    /// Reads a buffer into host rows of `row_bytes`.
    ///
    /// It is the inverse of [`Device::write`].
    ///
    /// # Errors
    /// [`MemoryError::TransferShape`] if the sizes do not match; unknown buffers; closed device.
    /// [`MemoryError::NeverWritten`] is returned after `out` was filled all the same: whoever may look at memory that
    /// nobody wrote can go on.
    pub fn read(&mut self, id: BufferId, out: &mut [u8], row_bytes: usize) -> Result<(), MemoryError> {
        let columns = check(self.buffer(id)?, out.len(), row_bytes)?;
        let access = self.access(&[])?;
        let input = access.input(id)?;
        let page_bytes = input.buffer().page_bytes();
        let failure = OnceLock::new();
        // Pages that fill their rows are read one by one; otherwise a row is read whole, so that pieces stay equal.
        let pages_per_piece = if row_bytes == columns * page_bytes { 1 } else { columns };
        let piece_bytes = if pages_per_piece == 1 { page_bytes } else { row_bytes };
        pool::for_each_chunk(out, piece_bytes.max(1), |piece, bytes| {
            for (index, target) in bytes.chunks_mut(page_bytes).enumerate() {
                if let Err(error) = load(&input, piece * pages_per_piece + index, target) {
                    failure.get_or_init(|| error);
                }
            }
        });
        failure.into_inner().map_or(Ok(()), Err)?;
        input.buffer().require_written(access.chip())
    }
}

fn store(output: &Output<'_>, page: usize, data: &[u8]) -> Result<(), MemoryError> {
    let (filled, rest) = output.claim(page)?.split_at_mut(data.len());
    filled.copy_from_slice(data);
    rest.fill(0);
    Ok(())
}

fn load(input: &Input<'_>, page: usize, target: &mut [u8]) -> Result<(), MemoryError> {
    target.copy_from_slice(&input.peek(page)?[..target.len()]);
    Ok(())
}

/// Pages per host row, if rows and pages match.
fn check(buffer: &Buffer, bytes: usize, row_bytes: usize) -> Result<usize, MemoryError> {
    let Buffer { page_bytes, num_pages, page_columns, .. } = *buffer;
    let fits = if num_pages == 0 || page_bytes == 0 {
        bytes == 0
    } else {
        row_bytes.div_ceil(page_bytes) == page_columns
            && num_pages % page_columns == 0
            && Some(bytes) == row_bytes.checked_mul(num_pages / page_columns)
    };
    let id = buffer.id();
    if fits {
        Ok(page_columns)
    } else {
        Err(MemoryError::TransferShape { buffer: id, bytes, row_bytes, pages: num_pages, page_bytes, page_columns })
    }
}
