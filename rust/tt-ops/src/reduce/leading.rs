//! Sums of a leading dimension.
//!
//! Tiles of bfloat16 and block floats that the FPU adds to a 32-bit `Dst` as they lie.

use tt_cpu::stream;
use tt_fpu::bf16_lanes::Reader;
use tt_fpu::running::{PAGE_WORDS, RunningSum};
use tt_memory::{BufferId, Device};
use tt_tensix::pack::{self, DstFormat};
use tt_tensix::tile_io::{Tile, ZERO};
use tt_tensix::unpack::Bf16Page;

use super::kernel::Kernel;
use crate::{OpError, for_each_page};

/// Tiles that are added in one go.
const TOGETHER: usize = 8;

type Page = [u32; PAGE_WORDS];

/// What a worker needs.
struct Memory {
    sums: RunningSum,
    pages: [Page; TOGETHER],
    words: Tile,
}

/// Whether [`sum`] does what a kernel of sums of a leading dimension does.
pub(super) fn adds(kernel: &Kernel<'_>) -> bool {
    let format = kernel.step.formats.0;
    // Two datums are added as they lie in a word.
    Reader::new(format, kernel.level).is_some() && kernel.math.dst == DstFormat::Fp32 && cfg!(target_endian = "little")
}

/// Runs the step.
pub(super) fn sum(
    device: &mut Device,
    input: BufferId,
    output: BufferId,
    kernel: &Kernel<'_>,
    length: usize,
) -> Result<(), OpError> {
    let step = kernel.step;
    let (format, inside) = (step.formats.0, step.rows * step.columns);
    let reader = Reader::new(format, kernel.level);
    let access = device.access(&[output])?;
    let pages = access.input(input)?.all()?;
    let last = (step.outer * length * inside).saturating_sub(1);
    let make = || Box::new(Memory { sums: RunningSum::default(), pages: [[0; PAGE_WORDS]; TOGETHER], words: ZERO });
    for_each_page(step.outer * inside, make, |memory, page| {
        let Memory { sums, pages: decoded, words } = &mut **memory;
        sums.clear();
        let source = page / inside * length * inside + page % inside;
        for first in (0..length).step_by(TOGETHER) {
            let mut given = [&[0; PAGE_WORDS]; TOGETHER];
            let count = (length - first).min(TOGETHER);
            for (index, (given, decoded)) in given.iter_mut().zip(decoded.iter_mut()).take(count).enumerate() {
                let number = source + (first + index) * inside;
                // What the next page of the result asks for.
                stream::prefetch_second_all(pages.page((number + 1).min(last)));
                *given = halves(reader, pages.page(number), decoded);
            }
            sums.add(kernel.level, &kernel.math, &given[..count]);
        }
        sums.store(kernel.level, words);
        kernel.scale(words);
        pack::pack_tile(&kernel.packer, words, access.claim(output, page)?);
        Ok(())
    })
}

/// A tile as bfloat16: where it is, or in `decoded`.
fn halves<'t>(reader: Option<Reader>, tile: &'t [u8], decoded: &'t mut Page) -> &'t Page {
    let page: &mut Bf16Page = bytemuck::cast_mut(decoded);
    match reader {
        Some(Reader::Blocks(decoder)) => decoder.decode_any(tile, page),
        _ => match bytemuck::try_from_bytes(tile) {
            Ok(page) => return page,
            Err(_) => page.copy_from_slice(tile),
        },
    }
    decoded
}
