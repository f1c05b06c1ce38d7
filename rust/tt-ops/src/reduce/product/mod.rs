//! Products of all tiles, leading dimensions, rows or columns.
//!
//! Of all tiles of a tensor, of the tiles of a leading dimension, and of the rows or columns of matrices.
//!
//! Each is a chain of multiplications on the FPU whose result stays in `Dst`: of 16 bits for bfloat16 along a dimension,
//! otherwise of 32 bits.

mod chain;
mod few;
mod matrix_axis;
mod program;
mod small;

use tt_cpu::stream;
use tt_formats::DataFormat;
use tt_fpu::{Broadcast, CopyTile, EltwiseOp, MathConfig};
use tt_memory::{BufferId, Device};
use tt_tensix::pack::{self, PackConfig};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};

use crate::{OpError, for_each_page};
use chain::{Chain, Memory, WideChain};

pub use program::{Factors, MatrixAxis, ProductProgram};

/// Runs the program.
///
/// # Errors
/// Memory errors; buffers that do not hold the tiles of the program.
pub fn product(
    device: &mut Device,
    input: BufferId,
    output: BufferId,
    program: &ProductProgram,
) -> Result<(), OpError> {
    let given = device.buffer(input)?.num_pages();
    let (tiles_in, tiles_out) = match program.factors {
        Factors::Tiles => (given.max(1), 1),
        Factors::Matrix { height, .. } => (given.max(1).next_multiple_of(height.max(1)), 1),
        Factors::Leading { length, inside } => (given, given / (length * inside).max(1) * inside),
        Factors::Matrices(axis) => (axis.tiles_in(), axis.tiles_out()),
    };
    for (id, tiles, name) in [(input, tiles_in, "input"), (output, tiles_out, "output")] {
        let pages = device.buffer(id)?.num_pages();
        if pages != tiles || tiles == 0 {
            let what = format!("the {name} has {pages} tiles, the program asks for {tiles}");
            return Err(OpError::Invariant { operator: "product", what });
        }
    }
    match program.factors {
        Factors::Tiles => of_tiles(device, input, output, program),
        Factors::Matrix { height, width } => small::of_matrices(device, input, output, program, [height, width]),
        Factors::Leading { length, inside } => of_leading(device, input, output, program, [length, inside]),
        Factors::Matrices(axis) => matrix_axis::of_matrices(device, input, output, program, axis),
    }
}

/// The upper half of a word.
const UPPER: u32 = 0xffff_0000;

/// How the product of all tiles runs: through FP32 in L1 after each of them.
struct Running {
    /// The first factor goes straight to `Dst`.
    first: Input,
    so_far: Input,
    factor: Input,
    /// What FPU and packer are set to for the first factor, between two, and for the result.
    enter: (MathConfig, PackConfig),
    keep: (MathConfig, PackConfig),
    leave: PackConfig,
    /// What of a word meets the next factor.
    mask: u32,
}

impl Running {
    fn new(program: &ProductProgram) -> Self {
        let (wide, format) = (DataFormat::Float32, program.format);
        let (first, so_far) = (Input::direct_to_dst(format, true), Input::new(wide, true));
        let math = |operand: Input| MathConfig {
            fidelity: program.fidelity,
            dst: tile_io::dst_format(operand.format, true),
            alu: operand.register,
            arch: program.arch,
        };
        let packer = |from, to| PackConfig::new(tile_io::result_format(from, to, true), to);
        Self {
            first,
            so_far,
            factor: Input::new(format, true),
            enter: (math(first), packer(format, wide)),
            keep: (math(so_far), packer(wide, wide)),
            leave: packer(wide, format),
            mask: if format == wide { u32::MAX } else { UPPER },
        }
    }

    /// What is in L1 after the first factor.
    fn start(&self, tile: &[u8], words: &mut Tile) {
        let [mut a, mut dst] = [ZERO; 2];
        self.first.to_dst(&self.enter.0, tile, &mut a, &mut dst);
        pack::pack_tile(&self.enter.1, &dst, bytemuck::bytes_of_mut(words));
    }
}

fn of_tiles(device: &mut Device, input: BufferId, output: BufferId, program: &ProductProgram) -> Result<(), OpError> {
    let chain = Running::new(program);
    let access = device.access(&[output])?;
    let pages = access.input(input)?.all()?;
    let count = access.buffer(input)?.num_pages();
    let target = access.claim(output, 0)?;
    if count == 1 {
        target.copy_from_slice(pages.page(0));
        return Ok(());
    }
    let [mut a, mut b, mut dst, mut words] = [ZERO; 4];
    chain.start(pages.page(0), &mut words);
    for index in 1..count {
        stream::prefetch_second_all(pages.page((index + 1).min(count - 1)));
        if chain.mask != u32::MAX {
            for word in &mut words {
                *word &= u32::from_le(chain.mask);
            }
        }
        chain.so_far.to_src(bytemuck::bytes_of(&words), &mut a);
        chain.factor.to_src(pages.page(index), &mut b);
        tt_fpu::eltwise(&chain.keep.0, EltwiseOp::Mul, Broadcast::None, false, &mut dst, &a, &b);
        if index + 1 < count {
            pack::pack_tile(&chain.keep.1, &dst, bytemuck::bytes_of_mut(&mut words));
        }
    }
    pack::pack_tile(&chain.leave, &dst, target);
    Ok(())
}

fn of_leading(
    device: &mut Device,
    input: BufferId,
    output: BufferId,
    program: &ProductProgram,
    [length, inside]: [usize; 2],
) -> Result<(), OpError> {
    if program.format != DataFormat::Float16B {
        return of_leading_in_dst(device, input, output, program, [length, inside]);
    }
    let chain = Chain::new(program, program.format);
    let access = device.access(&[output])?;
    let pages = access.input(input)?.all()?;
    let last = access.buffer(input)?.num_pages() - 1;
    let tiles = access.buffer(output)?.num_pages();
    for_each_page(tiles, Memory::new, |memory, page| {
        let first = page / inside * length * inside + page % inside;
        memory.running.clone_from(&chain.one);
        for index in 0..length {
            let number = first + index * inside;
            // What the next page of the result asks for.
            stream::prefetch_second_all(pages.page((number + 1).min(last)));
            chain.multiply(pages.page(number), memory);
        }
        access.claim(output, page)?.copy_from_slice(&memory.running);
        Ok(())
    })
}

/// [`of_leading`] for formats whose product stays in a 32-bit `Dst`.
fn of_leading_in_dst(
    device: &mut Device,
    input: BufferId,
    output: BufferId,
    program: &ProductProgram,
    [length, inside]: [usize; 2],
) -> Result<(), OpError> {
    let (chain, format) = (WideChain::new(program), program.format);
    let access = device.access(&[output])?;
    let pages = access.input(input)?.all()?;
    let last = access.buffer(input)?.num_pages() - 1;
    let tiles = access.buffer(output)?.num_pages();
    for_each_page(tiles, Memory::new, |memory, page| {
        let first = page / inside * length * inside + page % inside;
        for index in 0..length {
            let number = first + index * inside;
            stream::prefetch_second_all(pages.page((number + inside).min(last)));
            chain.multiply(index == 0, (format, pages.page(number)), memory);
        }
        chain.pack(memory, access.claim(output, page)?);
        Ok(())
    })
}
