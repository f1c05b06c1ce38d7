//! The product of small matrices, padded with ones on the chip.
//!
//! Each would be a tile of its own: the datums are multiplied where they lie, and of the padding one datum stands for
//! all.

use tt_formats::{DataFormat, TileShape, pack as datums, unpack};
use tt_memory::{BufferId, Device};
use tt_tensix::{pack, tile_io};

use super::Running;
use super::program::ProductProgram;
use crate::{OpError, fill};

/// Datums of a matrix: with more, a tile at a time is as fast.
const MOST: usize = 64;

/// Multiplies matrices of this height and width, in input rows.
pub fn of_matrices(
    device: &mut Device,
    input: BufferId,
    output: BufferId,
    program: &ProductProgram,
    [height, width]: [usize; 2],
) -> Result<(), OpError> {
    let format = program.format;
    let bytes = format.element_bytes().unwrap_or(0);
    let access = device.access(&[output])?;
    let rows = access.buffer(input)?.num_pages();
    let fits = (1..=32).contains(&height) && (1..=32).contains(&width) && height * width <= MOST && rows > height;
    if !fits || bytes < 2 || access.buffer(input)?.page_bytes() < width * bytes {
        let what = format!("{rows} rows in matrices of {height} x {width}");
        return Err(OpError::Invariant { operator: "product", what });
    }
    let pages = access.input(input)?.all()?;
    let chain = Running::new(program);
    let unit = fill::unit(format, 1.0);
    let mut tile = unit.repeat(TileShape::FULL.datums());
    for row in 0..height {
        let cells = pages.page(row)[..width * bytes].chunks_exact(bytes);
        for (column, cell) in cells.enumerate() {
            let at = TileShape::FULL.index(row, column) * bytes;
            let datum = &mut tile[at..at + bytes];
            datum.copy_from_slice(cell);
            if let Ok(half) = <&mut [u8; 2]>::try_from(datum) {
                *half = (flushed(*half) as u16).to_le_bytes();
            }
        }
    }
    let mut words = tile_io::ZERO;
    chain.start(&tile, &mut words);
    let place = |lane: usize| TileShape::FULL.index(lane / width, lane % width);
    let mut running = [0; MOST];
    let running = &mut running[..height * width];
    for (lane, word) in running.iter_mut().enumerate() {
        *word = u32::from_le(words[place(lane)]);
    }
    let step = |word: &mut u32, factor: u32| {
        *word = tt_fpu::multiply_datum(&chain.keep.0, unpack::fp32_to_src_tf32(*word & chain.mask), factor);
    };
    // The last datum of a tile is padding, and one times one does not change for long.
    let mut padding = u32::from_le(words[TileShape::FULL.datums() - 1]);
    let one =
        if format == DataFormat::Float32 { unpack::fp32_to_src_tf32(ONE) } else { unpack::bf16_to_src(ONE >> 16) };
    for _ in 1..rows / height {
        let before = padding;
        step(&mut padding, one);
        if padding == before {
            break;
        }
    }
    for matrix in 1..rows / height {
        for (row, words) in running.chunks_exact_mut(width).enumerate() {
            let page = pages.page(matrix * height + row);
            if format == DataFormat::Float32 {
                for (word, datum) in words.iter_mut().zip(page.as_chunks::<4>().0) {
                    step(word, unpack::fp32_to_src_tf32(u32::from_le_bytes(*datum)));
                }
            } else {
                for (word, datum) in words.iter_mut().zip(page.as_chunks::<2>().0) {
                    step(word, unpack::bf16_to_src(flushed(*datum)));
                }
            }
        }
    }
    let mut dst = [padding; TileShape::FULL.datums()];
    for (lane, word) in running.iter().enumerate() {
        dst[place(lane)] = *word;
    }
    pack::pack_tile(&chain.leave, &dst, access.claim(output, 0)?);
    Ok(())
}

/// One as an FP32 number.
const ONE: u32 = 0x3f80_0000;

/// A datum of bfloat16 as it is in a tile, having passed through `Dst`.
fn flushed(datum: [u8; 2]) -> u32 {
    datums::bf16_to_bf16(u16::from_le_bytes(datum).into())
}
