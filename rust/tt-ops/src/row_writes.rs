//! Rows written into a tensor that keeps the rest of what it holds: a window of row-major rows, rows that indices name,
//! and rows of tiles.

use tt_formats::{DataFormat, TileShape};
use tt_memory::access::Pages;
use tt_memory::{Access, BufferId, Device};
use tt_tensix::fpu::{Arch, MathConfig, MathFidelity};
use tt_tensix::pack::{self, PackConfig};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};

use crate::{OpError, for_each_page};

/// `output[i] = input[offset + sum over d of (i[d] - start[d]) * stride[d]]` for the indices of a window of the output.
/// Both tensors are row-major, a page for each row.
#[derive(Clone, Debug)]
pub struct WindowCopy {
    /// Bytes of an element.
    pub element_bytes: usize,
    /// Elements of a row of the input.
    pub width: usize,
    /// Shape of the output.
    pub shape: Vec<usize>,
    /// First index and length of the window, for each dimension of the output.
    pub window: Vec<(usize, usize)>,
    /// First position taken, in row-major order of the input.
    pub offset: i64,
    /// Input positions per step of each dimension of the output.
    pub strides: Vec<i64>,
}

impl WindowCopy {
    fn check(&self, device: &Device, input: BufferId, output: BufferId) -> Result<(), OpError> {
        let refuse = |what: String| Err(OpError::Invariant { operator: "window copy", what });
        let rank = self.shape.len();
        let inside = |(&(start, length), &size): (&(usize, usize), &usize)| start + length <= size;
        if rank == 0 || self.window.len() != rank || self.strides.len() != rank {
            return refuse(format!("window and strides need {rank} entries"));
        }
        if !self.window.iter().zip(&self.shape).all(inside) {
            return refuse(format!("a window {:?} of {:?}", self.window, self.shape));
        }
        let reach = |(&(_, length), &stride): (&(usize, usize), &i64)| stride * (length.max(1) as i64 - 1);
        let steps: Vec<i64> = self.window.iter().zip(&self.strides).map(reach).collect();
        let low = self.offset + steps.iter().map(|&step| step.min(0)).sum::<i64>();
        let high = self.offset + steps.iter().map(|&step| step.max(0)).sum::<i64>();
        let (from, to) = (device.buffer(input)?, device.buffer(output)?);
        let rows: usize = self.shape[..rank - 1].iter().product();
        let row_bytes = self.shape[rank - 1] * self.element_bytes;
        if low < 0
            || high >= (from.num_pages() * self.width) as i64
            || from.page_bytes() < self.width * self.element_bytes
        {
            return refuse(format!("positions {low}..={high} of {} rows of {}", from.num_pages(), self.width));
        }
        if to.num_pages() < rows || to.page_bytes() < row_bytes {
            return refuse(format!("an output of {} pages of {} B", to.num_pages(), to.page_bytes()));
        }
        Ok(())
    }

    /// Copies one row of the window into a row of the output.
    fn row(&self, pages: &Pages<'_>, position: i64, target: &mut [u8]) {
        let rank = self.shape.len();
        let ((start, length), stride) = (self.window[rank - 1], self.strides[rank - 1]);
        let size = self.element_bytes;
        let target = &mut target[start * size..][..length * size];
        let mut done = 0;
        while done < length {
            let at = (position + stride * done as i64) as usize;
            let (row, column) = (at / self.width, at % self.width);
            let run = if stride == 1 { (self.width - column).min(length - done) } else { 1 };
            target[done * size..][..run * size].copy_from_slice(&pages.page(row)[column * size..][..run * size]);
            done += run;
        }
    }

    /// Copies the window.
    ///
    /// # Errors
    /// Memory errors; positions outside the input, a window outside the output.
    pub fn run(&self, device: &mut Device, input: BufferId, output: BufferId) -> Result<(), OpError> {
        if self.window.iter().any(|&(_, length)| length == 0) {
            return Ok(());
        }
        self.check(device, input, output)?;
        let access = device.access(&[output])?;
        let (pages, target) = (access.input(input)?.all()?, access.output(output)?);
        let leading = self.shape.len() - 1;
        let rows: usize = self.window[..leading].iter().map(|&(_, length)| length).product();
        for_each_page(
            rows,
            || (),
            |(), row| {
                let (mut rest, mut position, mut page, mut step) = (row, self.offset, 0, 1);
                for axis in (0..leading).rev() {
                    let (start, length) = self.window[axis];
                    let index = rest % length;
                    rest /= length;
                    position += index as i64 * self.strides[axis];
                    page += (start + index) * step;
                    step *= self.shape[axis];
                }
                self.row(&pages, position, target.claim(page)?);
                Ok(())
            },
        )
    }
}

/// The indices of a row-major tensor, in order: unsigned integers, or bfloat16 whose fractions are cut.
///
/// # Errors
/// Memory errors.
pub fn read_indices(
    access: &Access<'_>,
    buffer: BufferId,
    format: DataFormat,
    (rows, row_length): (usize, usize),
) -> Result<Vec<u32>, OpError> {
    let mut indices = Vec::with_capacity(rows * row_length);
    for page in 0..rows {
        let bytes = access.page(buffer, page)?;
        match format {
            DataFormat::Float16B | DataFormat::UInt16 => {
                let words = bytes.as_chunks::<2>().0.iter().take(row_length).map(|&word| u16::from_le_bytes(word));
                let is_float = format == DataFormat::Float16B;
                let index =
                    |word: u16| if is_float { f32::from_bits(u32::from(word) << 16) as u32 } else { word.into() };
                indices.extend(words.map(index));
            }
            _ => indices.extend(bytes.as_chunks::<4>().0.iter().take(row_length).map(|&word| u32::from_le_bytes(word))),
        }
    }
    Ok(indices)
}

/// Copies rows of a table that indices name: page i of the output is the page of the i-th index.
///
/// # Errors
/// Memory errors; [`OpError::Index`] for an index behind the last row, and nothing is written.
pub fn gather_rows(
    device: &mut Device,
    (indices, format, sizes): (BufferId, DataFormat, (usize, usize)),
    table: BufferId,
    output: BufferId,
) -> Result<(), OpError> {
    let (rows, bytes) = (device.buffer(table)?.num_pages(), device.buffer(table)?.page_bytes());
    let (pages, target_bytes) = (device.buffer(output)?.num_pages(), device.buffer(output)?.page_bytes());
    if pages != sizes.0 * sizes.1 || bytes != target_bytes {
        let what = format!("{pages} pages of {target_bytes} B for {sizes:?} rows of {bytes} B");
        return Err(OpError::Invariant { operator: "gather", what });
    }
    let access = device.access(&[output])?;
    let indices = read_indices(&access, indices, format, sizes)?;
    if let Some(&index) = indices.iter().find(|&&index| index as usize >= rows) {
        return Err(OpError::Index { index, rows });
    }
    let (source, target) = (access.input(table)?.all()?, access.output(output)?);
    for_each_page(
        pages,
        || (),
        |(), page| {
            target.claim(page)?.copy_from_slice(source.page(indices[page] as usize));
            Ok(())
        },
    )
}

/// Rows that replace rows of one tile: input page and row, row of the output's tile.
pub type TileRows = Vec<(usize, usize, usize)>;

/// Replaces rows of tiles by rows of other tiles. A tile passes through a 16-bit `Dst` with all its rows and is packed
/// again, as after an untilize and a tilize.
///
/// # Errors
/// Memory errors; an output page that is named twice.
pub fn replace_tile_rows(
    device: &mut Device,
    (input, input_format): (BufferId, DataFormat),
    (output, output_format): (BufferId, DataFormat),
    tiles: &[(usize, TileRows)],
    arch: Arch,
) -> Result<(), OpError> {
    let entries = [input_format, output_format].map(|format| Input::new(format, false));
    let math = |entry: Input| {
        let dst = tile_io::dst_format(entry.format, false);
        MathConfig { fidelity: MathFidelity::LoFi, dst, alu: entry.register, arch }
    };
    let packer = PackConfig::new(math(entries[1]).dst, output_format);
    if tiles.iter().flat_map(|(_, rows)| rows).any(|&(_, from, to)| from >= 32 || to >= 32) {
        return Err(OpError::Invariant { operator: "tile rows", what: "a row outside of its tile".to_owned() });
    }
    let access = device.access(&[output])?;
    let (source, target) = (access.input(input)?.all()?, access.output(output)?);
    for_each_page(
        tiles.len(),
        || Box::new([ZERO; 3]),
        |registers: &mut Box<[Tile; 3]>, number| {
            let [src, rows, tile] = &mut **registers;
            let (page, replaced) = &tiles[number];
            let bytes = target.claim(*page)?;
            entries[1].to_dst(&math(entries[1]), bytes, src, tile);
            for &(from, row, to) in replaced {
                entries[0].to_dst(&math(entries[0]), source.page(from), src, rows);
                for half in [0, 16] {
                    let (at, of) = (TileShape::FULL.index(to, half), TileShape::FULL.index(row, half));
                    tile[at..at + 16].copy_from_slice(&rows[of..of + 16]);
                }
            }
            pack::pack_tile(&packer, tile, bytes);
            Ok(())
        },
    )
}
