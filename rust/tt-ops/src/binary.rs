//! `binary_ng`: element-wise operators of two tensors, or tensor and scalar.
//!
//! With broadcasting.
//!
//! Per output tile: bring the operands to full tiles (broadcast rows, columns or a single datum through Dst and back to
//! L1, as the chip does), apply operand activations the same way, run the operator on the FPU or the SFPU, apply
//! the remaining activations in Dst, pack.

mod halves;
mod program;

use std::ops::Range;

use tt_formats::{DataFormat, TileShape};
use tt_fpu::{Broadcast, CopyTile, HalfTile, MathConfig};
use tt_memory::joined::JoinedPages;
use tt_memory::{BufferId, Device};
use tt_sfpu::DstWidth;
use tt_tensix::pack::{self, DstFormat, PackConfig, Relu};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};
use tt_tensix::unpack::Bf16Page;

use crate::broadcast::{BroadcastMap, OutputTiles};
use crate::operand::{Found, Kept, Operand, Source, filled_tile};
use crate::pages::{self, Old};
use crate::{OpError, for_each_page};
use halves::Halves;

pub use program::{BinaryCall, BinaryProgram, Other, Unit};

/// Per worker: the operand tiles in L1 form and the registers.
struct Scratch {
    l1: [Vec<u8>; 2],
    kept: [Kept; 2],
    a: Tile,
    b: Tile,
    dst: Tile,
    pages: [Bf16Page; 2],
    half: HalfTile,
}

/// Runs the program.
///
/// The output may be one of the inputs if that input is not broadcast.
///
/// # Errors
/// Memory errors; buffers that do not hold the pages the shapes ask for.
pub fn binary(
    device: &mut Device,
    a: BufferId,
    b: Other,
    output: BufferId,
    program: &BinaryProgram,
) -> Result<(), OpError> {
    let (format_a, format_b, format_out) = program.formats;
    let sfpu = matches!(program.unit, Unit::Sfpu(_));
    let entry =
        |format| if sfpu { Input::direct_to_dst(format, program.dst32) } else { Input::new(format, program.dst32) };
    let format_first = if program.scalar_is_left { format_b } else { format_a };
    let dst = tile_io::dst_format(format_a, program.dst32);
    let math = MathConfig { fidelity: program.fidelity, dst, alu: entry(format_first).register, arch: program.arch };
    let pages = device.buffer(output)?.num_pages();
    let tiles = if program.tiled { pages } else { 0 };
    let operand = |format, source, chain| {
        Operand::new(entry(format), source, chain, program.dst32)
            .of_tiles(tiles, &math_of(format, program.dst32, &math))
    };
    let tensor = |id, format, shape: &[usize], chain| {
        let operand = operand(format, Source::Buffer(id, BroadcastMap::new(shape, &program.shape_out)), chain);
        if program.tiled { operand } else { operand.in_rows(shape, &program.shape_out) }
    };
    let left = tensor(a, format_a, &program.shape_a, &program.chains[0]);
    let right = match b {
        Other::Tensor(id) => tensor(id, format_b, &program.shape_b, &program.chains[1]),
        Other::Scalar(bits) => operand(format_b, Source::Scalar(filled_tile(format_b, bits)), &program.chains[1]),
    };
    let (first, second) = if program.scalar_is_left { (&right, &left) } else { (&left, &right) };
    let result = tile_io::result_format(format_a, format_out, program.dst32);
    let mut packer = PackConfig::new(result, format_out);
    if program.packer_relu {
        packer.relu = Relu::MinThreshold(0);
    }
    let halves = Halves::new(program, math, [first.input.format, second.input.format], &packer, tiles);
    let kernel = Kernel { program, math, packer, first, second, dst, halves };
    let device_row = device.buffer(output)?.page_bytes();
    let access = device.access(&[output])?;
    let found = [first.find(&access, output)?, second.find(&access, output)?];
    let old = if found.iter().any(|found| matches!(found, Found::Old)) { Old::Read } else { Old::Unread };
    let make = || Scratch {
        l1: [Vec::with_capacity(4096), Vec::with_capacity(4096)],
        kept: [Vec::new(), Vec::new()],
        a: ZERO,
        b: ZERO,
        dst: ZERO,
        pages: [[0; 2048]; 2],
        half: [0; 1024],
    };
    if program.tiled {
        let tiles = OutputTiles::new("binary", &program.shape_out, pages)?;
        return pages::for_each_target(&access, output, old, make, |scratch, page, target| {
            kernel.tile(found.each_ref().map(|found| found.page(&tiles, page)), (page, target), scratch);
            Ok(())
        });
    }
    let datums = device_row * 1024 / format_out.tile_bytes(TileShape::FULL);
    if (1..=512).contains(&datums) {
        // Several rows fit in a tile.
        let together = 1024 / datums;
        let target = access.output(output)?;
        return for_each_page(pages.div_ceil(together), make, |scratch, group| {
            let rows = group * together..pages.min((group + 1) * together);
            kernel.rows(&found, (rows.clone(), datums), &mut target.claim_joined(rows)?, scratch);
            Ok(())
        });
    }
    pages::for_each_target(&access, output, old, make, |scratch, page, target| {
        kernel.row(&found, (page, target), scratch);
        Ok(())
    })
}

/// Everything a worker needs, shared.
struct Kernel<'a> {
    program: &'a BinaryProgram,
    math: MathConfig,
    packer: PackConfig,
    first: &'a Operand<'a>,
    second: &'a Operand<'a>,
    dst: DstFormat,
    halves: Option<Halves>,
}

/// What brings an operand to `Dst`. Of a 32-bit one an operand has what its own format asks for: the formats are set anew
/// before each copy. A 16-bit one has a format for both.
fn math_of(format: DataFormat, dst32: bool, math: &MathConfig) -> MathConfig {
    let dst = if dst32 { tile_io::dst_format(format, true) } else { math.dst };
    MathConfig { dst, ..*math }
}

impl Kernel<'_> {
    /// One output tile of a tiled tensor, from the operands' pages with their numbers; an operand without one is the
    /// output.
    fn tile(&self, operands: [Option<(usize, &[u8])>; 2], (page, target): (usize, &mut [u8]), scratch: &mut Scratch) {
        if self.in_words(operands, target, scratch).is_some() {
            return;
        }
        let in_place = self.in_halves(operands, target, scratch);
        if in_place == Some(true) {
            return;
        }
        let Scratch { l1: [l1_a, l1_b], kept: [kept_a, kept_b], a, b, dst, pages, half } = scratch;
        // The output's old page is what an in-place operator reads.
        let [page_a, page_b] = operands.map(|operand| operand.unwrap_or((page, target)));
        let l1_a = self.first.fetch_kept(&self.math_of(self.first), page_a, (kept_a, l1_a), a, dst);
        let l1_b = self.second.fetch_kept(&self.math_of(self.second), page_b, (kept_b, l1_b), a, dst);
        match &self.halves {
            Some(halves) if in_place.is_none() && halves.compute([l1_a, l1_b], pages, half) => {
                halves.finish(half, target);
            }
            _ => {
                self.compute(l1_a, l1_b, a, b, dst);
                pack::pack_tile(&self.packer, dst, target);
            }
        }
    }

    /// The operator on halves that the packer leaves as they are, in the place of the result. `None` if it is another
    /// operator; false if the numbers are not plain enough, and the target is then meaningless.
    fn in_halves(
        &self,
        [page_a, page_b]: [Option<(usize, &[u8])>; 2],
        target: &mut [u8],
        scratch: &mut Scratch,
    ) -> Option<bool> {
        let (page_a, page_b) = (page_a?, page_b?);
        let halves = self.halves.as_ref()?;
        let steps = halves.steps_in_place()?;
        let target = tile_io::halves_mut(target)?;
        let Scratch { l1: [l1_a, l1_b], kept: [kept_a, kept_b], a, dst, pages, .. } = scratch;
        let l1_a = self.first.fetch_kept(&self.math_of(self.first), page_a, (kept_a, l1_a), a, dst);
        let l1_b = self.second.fetch_kept(&self.math_of(self.second), page_b, (kept_b, l1_b), a, dst);
        let plain = halves.compute([l1_a, l1_b], pages, target);
        if plain {
            steps.apply(tt_cpu::Level::current(), target);
        }
        Some(plain)
    }

    /// The SFPU's operator on words that are in L1 as they are in `Dst`, in the place of the result. `None` if
    /// it is another operator or they are not; nothing is done then.
    fn in_words(
        &self,
        [page_a, page_b]: [Option<(usize, &[u8])>; 2],
        target: &mut [u8],
        scratch: &mut Scratch,
    ) -> Option<()> {
        let Unit::Sfpu(function) = &self.program.unit else { return None };
        let moves = self.first.input.is_words() && self.second.input.is_words() && tile_io::packs_words(&self.packer);
        if !moves || page_a.is_none() && !self.first.is_plain() || page_b.is_none() && !self.second.is_plain() {
            return None;
        }
        let Scratch { l1: [l1_a, l1_b], kept: [kept_a, kept_b], a, b, dst, .. } = scratch;
        let target = tile_io::words_mut(target)?;
        let second = if let Some(page) = page_b {
            tile_io::words(self.second.fetch_kept(&self.math_of(self.second), page, (kept_b, l1_b), a, dst))?
        } else {
            b.copy_from_slice(target);
            &*b
        };
        if let Some(page) = page_a {
            target.copy_from_slice(tile_io::words(self.first.fetch_kept(&self.math, page, (kept_a, l1_a), a, dst))?);
        }
        function.run(target, second, DstWidth::Bits32, tt_cpu::Level::current());
        self.program.chains[2].apply(target, true);
        Some(())
    }

    /// Some rows of a row-major tensor of so many datums each, which fit in a tile.
    fn rows(
        &self,
        found: &[Found<'_>; 2],
        (rows, datums): (Range<usize>, usize),
        target: &mut JoinedPages<'_>,
        scratch: &mut Scratch,
    ) {
        let width = |format: DataFormat| format.tile_bytes(TileShape::FULL) / 1024;
        let Scratch { l1: [l1_a, l1_b], a, b, dst, .. } = scratch;
        let mut bytes = [[0; 4096]; 2];
        for ((operand, found), bytes) in [self.first, self.second].into_iter().zip(found).zip(&mut bytes) {
            operand.copy_rows(found, (rows.start, datums), (rows.len(), target), bytes);
        }
        let tile_bytes = |operand: &Operand<'_>| 1024 * width(operand.input.format);
        let l1_a = self.first.fetch(&self.math_of(self.first), &bytes[0][..tile_bytes(self.first)], l1_a, a, dst);
        let l1_b = self.second.fetch(&self.math_of(self.second), &bytes[1][..tile_bytes(self.second)], l1_b, a, dst);
        self.compute(l1_a, l1_b, a, b, dst);
        let mut packed = [0u8; 4096];
        let width_out = width(self.program.formats.2);
        pack::pack_tile(&self.packer, dst, &mut packed[..1024 * width_out]);
        target.write(&packed[..rows.len() * datums * width_out]);
    }

    /// One row of a row-major tensor, 1024 datums at a time.
    fn row(&self, found: &[Found<'_>; 2], (page, target): (usize, &mut [u8]), scratch: &mut Scratch) {
        let width = |format: DataFormat| format.tile_bytes(TileShape::FULL) / 1024;
        let width_out = width(self.program.formats.2);
        let datums = target.len() / width_out;
        let mut packed = [0u8; 4096];
        let Scratch { l1: [l1_a, l1_b], a, b, dst, .. } = scratch;
        for start in (0..datums).step_by(1024) {
            let count = (datums - start).min(1024);
            let (mut bytes_a, mut bytes_b) = ([0; 4096], [0; 4096]);
            self.first.copy_row(&found[0], (page, target), start..start + count, &mut bytes_a);
            self.second.copy_row(&found[1], (page, target), start..start + count, &mut bytes_b);
            let tile_bytes = |operand: &Operand<'_>| 1024 * width(operand.input.format);
            let l1_a = self.first.fetch(&self.math_of(self.first), &bytes_a[..tile_bytes(self.first)], l1_a, a, dst);
            let l1_b = self.second.fetch(&self.math_of(self.second), &bytes_b[..tile_bytes(self.second)], l1_b, a, dst);
            self.compute(l1_a, l1_b, a, b, dst);
            pack::pack_tile(&self.packer, dst, &mut packed[..1024 * width_out]);
            target[start * width_out..(start + count) * width_out].copy_from_slice(&packed[..count * width_out]);
        }
    }

    fn math_of(&self, operand: &Operand<'_>) -> MathConfig {
        math_of(operand.input.format, self.program.dst32, &self.math)
    }

    /// The operator itself on two full tiles; the result stays in `dst`.
    fn compute(&self, l1_a: &[u8], l1_b: &[u8], a: &mut Tile, b: &mut Tile, dst: &mut Tile) {
        let math = MathConfig { dst: self.dst, ..self.math };
        match self.program.unit {
            Unit::Fpu(op) => {
                self.first.input.to_src(l1_a, a);
                self.second.input.to_src(l1_b, b);
                tt_fpu::eltwise(&math, op, Broadcast::None, false, dst, a, b);
            }
            Unit::Sfpu(function) => {
                let b = self.second.input.in_dst(&self.math_of(self.second), l1_b, a, b);
                self.first.input.to_dst(&math, l1_a, a, dst);
                let width = if self.program.dst32 { DstWidth::Bits32 } else { DstWidth::Bits16 };
                function.run(dst, b, width, tt_cpu::Level::current());
            }
        }
        self.program.chains[2].apply(dst, self.program.dst32);
    }
}
