//! Element-wise operators of three operands on the vector unit: `where`, `lerp`, `mac`, `addcmul`, `addcdiv`.
//!
//! As `binary`: operands are widened through Dst and L1, brought to Dst, and the function runs there.

use tt_formats::DataFormat;
use tt_memory::{BufferId, Device};
use tt_tensix::fpu::{Arch, MathConfig, MathFidelity};
use tt_tensix::pack;
use tt_tensix::sfpu::{DstWidth, SeveralCall};

use crate::binary::{Operand, Other, Reach, Source, Walk, filled_tile};
use crate::port::{self, Input, Tile, ZERO};
use crate::{Chain, OpError, for_each_page};

/// A vector-unit function of three operands with its parameters.
pub type TernaryCall = SeveralCall<fn(&mut [u32], [&[u32]; 2], &[u32], tt_cpu::Level)>;

/// What the program is built with. Shapes are logical; the last two dimensions are tiled.
#[derive(Clone)]
pub struct TernaryProgram {
    /// Formats of the operands (of a scalar's tile) and of the output.
    pub formats: ([DataFormat; 3], DataFormat),
    /// The function.
    pub function: TernaryCall,
    /// Shapes of the operands; ignored for a scalar.
    pub shapes: [Vec<usize>; 3],
    /// Shape of the output.
    pub shape_out: Vec<usize>,
    /// 32-bit Dst.
    pub dst32: bool,
    /// Chip.
    pub arch: Arch,
}

struct Scratch {
    l1: Vec<u8>,
    src: Tile,
    dst: [Tile; 3],
}

/// Runs the program on tiled tensors. The output may be an operand that is not broadcast.
///
/// # Errors
/// Memory errors; an output that does not hold the pages its shape asks for.
pub fn ternary(
    device: &mut Device,
    operands: [Other; 3],
    output: BufferId,
    program: &TernaryProgram,
) -> Result<(), OpError> {
    let nothing = Chain::default();
    let (formats, format_out) = program.formats;
    let operands = [0, 1, 2].map(|i| {
        let source = match operands[i] {
            Other::Tensor(id) => Source::Buffer(id, Reach::new(&program.shapes[i], &program.shape_out)),
            Other::Scalar(bits) => Source::Scalar(filled_tile(formats[i], bits)),
        };
        Operand::new(Input::direct_to_dst(formats[i], program.dst32), source, &nothing, program.dst32)
    });
    let result = port::result_format(formats[1], format_out, program.dst32);
    let packer = port::packer(format_out, result, false);
    let width = if program.dst32 { DstWidth::Bits32 } else { DstWidth::Bits16 };
    let pages = device.buffer(output)?.num_pages();
    let walk = Walk::new("ternary", &program.shape_out, pages)?;
    let access = device.access(&[output])?;
    let make = || Scratch { l1: Vec::with_capacity(4096), src: ZERO, dst: [ZERO; 3] };
    for_each_page(pages, make, |scratch, page| {
        let (outer, (row, column)) = walk.place(page);
        let outer = &outer[..walk.outer.len()];
        let target = access.claim(output, page)?;
        let Scratch { l1, src, dst } = scratch;
        for (operand, tile) in operands.iter().zip(dst.iter_mut()) {
            let math = MathConfig {
                fidelity: MathFidelity::HiFi4,
                dst: port::dst_format(operand.input.format, program.dst32),
                alu: operand.input.register,
                arch: program.arch,
            };
            let bytes = match &operand.source {
                // The output's old page is what an in-place operator reads.
                Source::Buffer(id, _) if *id == output => &*target,
                Source::Buffer(id, reach) => access.page(*id, reach.page(outer, row, column))?,
                Source::Scalar(bytes) => bytes,
            };
            let bytes = operand.fetch(&math, bytes, l1, src, tile);
            operand.input.to_dst(&math, bytes, src, tile);
        }
        let [first, second, third] = dst;
        program.function.run(first, second, third, width, tt_cpu::Level::current());
        pack::pack_tile(&packer, first, target);
        Ok(())
    })
}
