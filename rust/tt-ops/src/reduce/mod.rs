//! Reductions `sum`, `mean`, `max`, `min` of tiled tensors, stepwise.
//!
//! One program step at a time.
//!
//! An operator over several dimensions is a chain of such steps with a tensor between them; the operator layer composes
//! it. A step reduces along the width, the height, the whole of one tile, or a leading dimension.

mod kernel;
mod leading;
pub mod product;
mod repack;
mod step;
mod transposed;
mod vector;

use tt_cpu::stream;
use tt_formats::TileShape;
use tt_memory::{BufferId, Device};
use tt_tensix::pack;

use crate::{OpError, for_each_page};
use kernel::{Kernel, Scratch};

pub use step::{Axis, Fill, Join, ReduceStep};

/// Runs the step.
///
/// # Errors
/// Memory errors; buffers that do not hold the tiles of the step.
pub fn reduce(device: &mut Device, input: BufferId, output: BufferId, step: &ReduceStep) -> Result<(), OpError> {
    let inside = step.rows * step.columns;
    let (tiles_in, tiles_out) = match step.axis {
        Axis::Width => (step.outer * inside, step.outer * step.rows),
        Axis::Height => (step.outer * inside, step.outer * step.columns),
        Axis::Tile => (step.outer * inside, step.outer),
        Axis::Leading(length) | Axis::Transposed(length) => (step.outer * length * inside, step.outer * inside),
    };
    for (id, tiles, name) in [(input, tiles_in, "input"), (output, tiles_out, "output")] {
        let pages = device.buffer(id)?.num_pages();
        if pages != tiles {
            let what = format!("the {name} has {pages} tiles, the step asks for {tiles}");
            return Err(OpError::Invariant { operator: "reduce", what });
        }
    }
    if step.join == Join::SfpuSum && !step.dst32 {
        let what = "the SFPU's sum needs a 32-bit Dst".to_owned();
        return Err(OpError::Invariant { operator: "reduce", what });
    }
    if let Axis::Transposed(length) = step.axis {
        return transposed::reduce(device, input, output, step, length);
    }
    let kernel = Kernel::new(step)?;
    if let (Axis::Leading(length), Join::FpuSum { .. }, None) = (step.axis, step.join, step.fill)
        && leading::adds(&kernel)
    {
        return leading::sum(device, input, output, &kernel, length);
    }
    let access = device.access(&[output])?;
    let bytes = step.formats.0.tile_bytes(TileShape::FULL);
    for_each_page(
        tiles_out,
        || Scratch::new(bytes),
        |scratch, page| {
            let (first, stride, count) = match step.axis {
                Axis::Width => (page * step.columns, 1, step.columns),
                Axis::Height => (page / step.columns * inside + page % step.columns, step.columns, step.rows),
                Axis::Tile => (page, 1, 1),
                Axis::Leading(length) | Axis::Transposed(length) => {
                    (page / inside * length * inside + page % inside, inside, length)
                }
            };
            for index in 0..count {
                let source = first + index * stride;
                let bytes = access.page(input, source)?;
                if index + 1 < count {
                    // The CPU does not find out by itself: they are far apart.
                    stream::prefetch_second_all(access.page(input, source + stride)?);
                }
                let filled = kernel.filled(bytes, source % inside, &mut scratch.bytes);
                kernel.join(index == 0, if filled { None } else { Some(bytes) }, scratch);
            }
            kernel.finish(scratch);
            pack::pack_tile(&kernel.packer, &scratch.dst, access.claim(output, page)?);
            Ok(())
        },
    )
}
