//! Element-wise operators of three operands on the vector unit: `where`, `lerp`, `mac`, `addcmul`, `addcdiv`.
//!
//! As `binary`: operands are widened through Dst and L1, brought to Dst, and the function runs there.

use tt_formats::DataFormat;
use tt_memory::{BufferId, Device};
use tt_tensix::fpu::{Arch, MathConfig, MathFidelity};
use tt_tensix::pack;
use tt_tensix::sfpu::{DstWidth, SeveralCall};

use crate::binary::Other;
use crate::binary::operand::{Found, Kept, Operand, Source, filled_tile};
use crate::binary::reach::{Reach, Walk};
use crate::port::{self, Input, Old, Tile, ZERO};
use crate::{Chain, OpError};

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
    l1: [Vec<u8>; 3],
    kept: [Kept; 3],
    src: Tile,
    wide: Tile,
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
    let math = operands.each_ref().map(|operand| MathConfig {
        fidelity: MathFidelity::HiFi4,
        dst: port::dst_format(operand.input.format, program.dst32),
        alu: operand.input.register,
        arch: program.arch,
    });
    let pages = device.buffer(output)?.num_pages();
    let walk = Walk::new("ternary", &program.shape_out, pages)?;
    let access = device.access(&[output])?;
    let [a, b, c] = operands.each_ref().map(|operand| operand.find(&access, output));
    let found = [a?, b?, c?];
    let old = if found.iter().any(|found| matches!(found, Found::Old)) { Old::Read } else { Old::Unread };
    let make = || Scratch { l1: Default::default(), kept: Default::default(), src: ZERO, wide: ZERO, dst: [ZERO; 3] };
    port::for_each_target(&access, output, old, make, |scratch, page, target| {
        let Scratch { l1: [l1_a, l1_b, l1_c], kept: [kept_a, kept_b, kept_c], src, wide, dst } = scratch;
        let mut fetch = |i: usize, kept, l1| {
            // The output's old page is what an in-place operator reads.
            let page = found[i].page(&walk, page).unwrap_or((page, target));
            operands[i].fetch_kept(&math[i], page, (kept, l1), src, wide)
        };
        let (a, b, c) = (fetch(0, kept_a, l1_a), fetch(1, kept_b, l1_b), fetch(2, kept_c, l1_c));
        let [first, second, third] = dst;
        let enter = |i: usize| operands[i].input;
        enter(0).to_dst(&math[0], a, src, first);
        let second = enter(1).in_dst(&math[1], b, src, second);
        let third = enter(2).in_dst(&math[2], c, src, third);
        program.function.run(first, second, third, width, tt_cpu::Level::current());
        pack::pack_tile(&packer, first, target);
        Ok(())
    })
}
