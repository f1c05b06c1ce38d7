//! Rows written into a tensor that keeps the rest.
//!
//! A window of row-major rows, rows that indices name, and rows of tiles.

use tt_formats::{DataFormat, TileShape};
use tt_fpu::{Arch, CopyTile, MathConfig, MathFidelity};
use tt_memory::access::{Output, Pages};
use tt_memory::{Access, BufferId, Device};
use tt_tensix::pack::{self, PackConfig};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};

use crate::pages::{Groups, PageCopies, Share};
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
    /// Start and size of the window, per output dimension.
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
        self.copy(&device.access(&[output])?, input, output)
    }

    /// [`Self::run`] of a window that has been checked and is not empty.
    pub(crate) fn copy(&self, access: &Access<'_>, input: BufferId, output: BufferId) -> Result<(), OpError> {
        let (pages, target) = (access.input(input)?.all()?, access.output(output)?);
        if self.copies_pages(&pages, &target) {
            let mut copies = PageCopies::default();
            let inner = self.shape.len().saturating_sub(2);
            // Along the dimension of the rows, pages follow each other on both sides, or each stands for itself.
            let follow = self.shape.len() > 1 && self.strides[inner] == self.width as i64;
            let together = if follow { self.window[inner].1 } else { 1 };
            let every = self.rows().step_by(together);
            every.for_each(|(page, position)| copies.push(page, position as usize / self.width, together));
            return copies.run(&pages, access, output);
        }
        let rows: Vec<(usize, i64)> = self.rows().collect();
        // Rows of pages that follow each other.
        let runs: Vec<&[(usize, i64)]> =
            rows.chunk_by(|row, next| next.0 == row.0 + 1).flat_map(|run| run.chunks(MOST_ROWS)).collect();
        let groups = Groups::of(target.buffer(), 1);
        for_each_page(
            runs.len(),
            || Share,
            |_, number| {
                let run = runs[number];
                let mut targets: Vec<&mut [u8]> = target.claim_run(run[0].0..run[0].0 + run.len())?.collect();
                groups.places(run.len()).for_each(|place| self.row(&pages, run[place].1, targets[place]));
                Ok(())
            },
        )
    }

    /// The rows of the window: their pages in ascending order, and the input positions where they begin.
    fn rows(&self) -> impl Iterator<Item = (usize, i64)> + '_ {
        let leading = self.shape.len() - 1;
        let count: usize = self.window[..leading].iter().map(|&(_, length)| length).product();
        let (mut index, mut page, mut position) = (vec![0; leading], 0, self.offset);
        let mut steps = vec![1; leading];
        for axis in (0..leading.saturating_sub(1)).rev() {
            steps[axis] = steps[axis + 1] * self.shape[axis + 1];
        }
        page += self.window[..leading].iter().zip(&steps).map(|((start, _), step)| start * step).sum::<usize>();
        (0..count).map(move |_| {
            let row = (page, position);
            for axis in (0..leading).rev() {
                index[axis] += 1;
                page += steps[axis];
                position += self.strides[axis];
                if index[axis] < self.window[axis].1 {
                    break;
                }
                page -= index[axis] * steps[axis];
                position -= index[axis] as i64 * self.strides[axis];
                index[axis] = 0;
            }
            row
        })
    }

    /// Whether every row of the window is a page on both sides.
    fn copies_pages(&self, pages: &Pages<'_>, target: &Output<'_>) -> bool {
        let last = self.shape.len() - 1;
        let width = self.width;
        let whole = self.window[last] == (0, width) && self.shape[last] == width && self.strides[last] == 1;
        let of_pages = |step: i64| step >= 0 && step % width as i64 == 0;
        let bytes = width * self.element_bytes;
        whole
            && of_pages(self.offset)
            && self.strides[..last].iter().zip(&self.window).all(|(&step, window)| window.1 == 1 || of_pages(step))
            && target.buffer().page_bytes() == bytes
            && pages.page(0).len() == bytes
    }
}

/// Most rows that a thread takes together.
const MOST_ROWS: usize = 1024;

/// The indices of a row-major tensor, in order.
///
/// Unsigned integers, or bfloat16 whose fractions are cut.
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

/// Rows that replace rows of one tile.
///
/// Input page and row, row of the output's tile.
pub type TileRows = Vec<(usize, usize, usize)>;

/// Replaces rows of tiles by rows of other tiles.
///
/// A tile passes through `Dst` with all its rows and is packed again, as after an untilize and a tilize. In a 16-bit
/// `Dst`, FP32 becomes bfloat16 on the way, in a 32-bit one TF32.
///
/// # Errors
/// Memory errors; an output page that is named twice.
pub fn replace_tile_rows(
    device: &mut Device,
    (input, input_format): (BufferId, DataFormat),
    (output, output_format): (BufferId, DataFormat),
    tiles: &[(usize, TileRows)],
    (dst32, arch): (bool, Arch),
) -> Result<(), OpError> {
    let entries = [input_format, output_format].map(|format| Input::new(format, dst32));
    let math = |entry: Input| {
        let dst = tile_io::dst_format(entry.format, dst32);
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
