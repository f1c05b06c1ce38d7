//! Element-wise operators of three operands on the SFPU.
//!
//! `where`, `lerp`, `mac`, `addcmul`, `addcdiv`.
//!
//! As `binary`: operands are widened through Dst and L1, brought to Dst, and the function runs there.

use std::ops::Range;

use tt_cpu::Level;
use tt_formats::{DataFormat, TileShape};
use tt_fpu::bf16_lanes::{self, Reader};
use tt_fpu::{Arch, CopyTile, HalfTile, MathConfig, MathFidelity};
use tt_memory::joined::JoinedPages;
use tt_memory::{BufferId, Device};
use tt_sfpu::DstWidth;
use tt_tensix::pack::{self, HalfPacker, PackConfig};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};
use tt_tensix::unpack::Bf16Page;

use crate::binary::Other;
use crate::broadcast::{BroadcastMap, OutputTiles};
use crate::operand::{Found, Kept, Operand, Source, filled_tile};
use crate::pages::{self, Old};
use crate::{Chain, OpError, for_each_page};

/// A vector-unit function of three operands with its parameters.
pub use tt_sfpu::TernaryCall;

/// Settings of the program.
///
/// Shapes are logical; the last two dimensions are tiled.
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
    /// Pages are tiles; otherwise whole rows.
    pub tiled: bool,
    /// 32-bit Dst.
    pub dst32: bool,
    /// Chip.
    pub arch: Arch,
}

/// Runs the program.
///
/// The output may be an operand that is not broadcast.
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
            Other::Tensor(id) => Source::Buffer(id, BroadcastMap::new(&program.shapes[i], &program.shape_out)),
            Other::Scalar(bits) => Source::Scalar(filled_tile(formats[i], bits)),
        };
        let operand = Operand::new(Input::direct_to_dst(formats[i], program.dst32), source, &nothing, program.dst32);
        if program.tiled { operand } else { operand.in_rows(&program.shapes[i], &program.shape_out) }
    });
    let result = tile_io::result_format(formats[1], format_out, program.dst32);
    let packer = PackConfig::new(result, format_out);
    let math = operands.each_ref().map(|operand| MathConfig {
        fidelity: MathFidelity::HiFi4,
        dst: tile_io::dst_format(operand.input.format, program.dst32),
        alu: operand.input.register,
        arch: program.arch,
    });
    let pages = device.buffer(output)?.num_pages();
    let row_datums = device.buffer(output)?.page_bytes() * 1024 / format_out.tile_bytes(TileShape::FULL);
    let access = device.access(&[output])?;
    let [a, b, c] = operands.each_ref().map(|operand| operand.find(&access, output));
    let found = [a?, b?, c?];
    let old = if found.iter().any(|found| matches!(found, Found::Old)) { Old::Read } else { Old::Unread };
    let words = operands.iter().all(|operand| operand.input.is_words()) && tile_io::packs_words(&packer);
    let halves = Halves::new(program, &math, &packer);
    let kernel = Kernel { program, operands: &operands, math, packer, halves, words };
    if !program.tiled {
        let together = (1024 / row_datums).max(1);
        let target = access.output(output)?;
        return for_each_page(pages.div_ceil(together), Scratch::new, |scratch, group| {
            let rows = group * together..pages.min((group + 1) * together);
            if row_datums <= 1024 {
                kernel.rows(&found, (rows.clone(), row_datums), &mut target.claim_joined(rows)?, scratch);
                return Ok(());
            }
            let row = target.claim(rows.start)?;
            for start in (0..row_datums).step_by(1024) {
                kernel.part_of_row(&found, (rows.start, start..row_datums.min(start + 1024)), row, scratch);
            }
            Ok(())
        });
    }
    let tiles = OutputTiles::new("ternary", &program.shape_out, pages)?;
    pages::for_each_target(&access, output, old, Scratch::new, |scratch, page, target| {
        kernel.tile(found.each_ref().map(|found| found.page(&tiles, page)), (page, target), scratch);
        Ok(())
    })
}

/// Per worker: the operand tiles in L1 form and the registers.
struct Scratch {
    tiles: Tiles,
    dst: [Tile; 3],
    pages: [Bf16Page; 3],
    half: HalfTile,
}

/// What bringing operands to full tiles takes.
struct Tiles {
    l1: [Vec<u8>; 3],
    kept: [Kept; 3],
    src: Tile,
    wide: Tile,
}

impl Scratch {
    fn new() -> Self {
        let tiles = Tiles { l1: Default::default(), kept: Default::default(), src: ZERO, wide: ZERO };
        Self { tiles, dst: [ZERO; 3], pages: [[0; 2048]; 3], half: [0; 1024] }
    }
}

/// Programs with BF16 everywhere: operands go from L1 through lanes of 16 bits back to L1.
struct Halves {
    level: Level,
    readers: [Reader; 3],
    call: TernaryCall,
    packer: HalfPacker,
    /// Whether a half tile is a tile of the result.
    kept: bool,
}

impl Halves {
    /// `None` if a program is not like that.
    fn new(program: &TernaryProgram, math: &[MathConfig; 3], packer: &PackConfig) -> Option<Self> {
        let level = Level::current();
        if program.dst32 || !math.iter().all(|math| bf16_lanes::supports(level, math)) {
            return None;
        }
        let [a, b, c] = program.formats.0.map(|format| Reader::new(format, level));
        Some(Self {
            level,
            readers: [a?, b?, c?],
            call: program.function.bf16().map(|_| program.function)?,
            packer: HalfPacker::new(packer, level)?,
            kept: packer.output == DataFormat::Float16B,
        })
    }

    /// The function of three tiles. False if their datums are not usual ones; `half` is then meaningless.
    fn run(&self, l1: [&[u8]; 3], [a, b, c]: &mut [Bf16Page; 3], half: &mut HalfTile) -> bool {
        let [first, second, third] = &self.readers;
        let pages = [first.read(l1[0], a), second.read(l1[1], b), third.read(l1[2], c)];
        self.call.run_bf16(self.level, half, pages)
    }
}

/// Everything a worker needs, shared.
struct Kernel<'a> {
    program: &'a TernaryProgram,
    operands: &'a [Operand<'a>; 3],
    math: [MathConfig; 3],
    packer: PackConfig,
    halves: Option<Halves>,
    /// All tiles are in L1 as they are in Dst.
    words: bool,
}

impl Kernel<'_> {
    /// One output tile from the operands' pages with their numbers; an operand without one is the output.
    fn tile(&self, pages: [Option<(usize, &[u8])>; 3], (page, target): (usize, &mut [u8]), scratch: &mut Scratch) {
        let in_place = match pages {
            [Some(a), Some(b), Some(c)] => self.in_place([a, b, c], target, scratch),
            _ => None,
        };
        if in_place == Some(true) {
            return;
        }
        // The output's old page is what an in-place operator reads.
        let pages = pages.map(|found| found.unwrap_or((page, target)));
        let Scratch { tiles, dst: [first, second, third], pages: read, half } = scratch;
        let (l1, src) = self.fetch(pages, tiles);
        if let Some(halves) = self.halves.as_ref().filter(|_| in_place.is_none())
            && halves.run(l1, read, half)
        {
            return halves.packer.pack(half, target);
        }
        let enter = |i: usize| self.operands[i].input;
        enter(0).to_dst(&self.math[0], l1[0], src, first);
        let second = enter(1).in_dst(&self.math[1], l1[1], src, second);
        let third = enter(2).in_dst(&self.math[2], l1[2], src, third);
        let width = if self.program.dst32 { DstWidth::Bits32 } else { DstWidth::Bits16 };
        self.program.function.run(first, second, third, width, Level::current());
        pack::pack_tile(&self.packer, first, target);
    }

    /// Some rows of a row-major tensor of so many datums each, which fit in a tile.
    fn rows(
        &self,
        found: &[Found<'_>; 3],
        (rows, datums): (Range<usize>, usize),
        target: &mut JoinedPages<'_>,
        scratch: &mut Scratch,
    ) {
        let mut bytes = [[0; 4096]; 3];
        for ((operand, found), bytes) in self.operands.iter().zip(found).zip(&mut bytes) {
            operand.copy_rows(found, (rows.start, datums), (rows.len(), target), bytes);
        }
        let mut packed = [0; 4096];
        let datum_bytes = self.loose_tile(&bytes, &mut packed, scratch);
        target.write(&packed[..rows.len() * datums * datum_bytes]);
    }

    /// Some datums of one row, which is found by its number.
    fn part_of_row(
        &self,
        found: &[Found<'_>; 3],
        (number, datums): (usize, Range<usize>),
        row: &mut [u8],
        scratch: &mut Scratch,
    ) {
        let mut bytes = [[0; 4096]; 3];
        for ((operand, found), bytes) in self.operands.iter().zip(found).zip(&mut bytes) {
            operand.copy_row(found, (number, row), datums.clone(), bytes);
        }
        let mut packed = [0; 4096];
        let datum_bytes = self.loose_tile(&bytes, &mut packed, scratch);
        row[datums.start * datum_bytes..datums.end * datum_bytes]
            .copy_from_slice(&packed[..datums.len() * datum_bytes]);
    }

    /// A tile of datums that were put together. Returns the bytes of a datum of the result.
    fn loose_tile(&self, bytes: &[[u8; 4096]; 3], packed: &mut [u8; 4096], scratch: &mut Scratch) -> usize {
        let width = |format: DataFormat| format.tile_bytes(TileShape::FULL) / 1024;
        let of = |i: usize| Some((0, &bytes[i][..1024 * width(self.operands[i].input.format)]));
        let datum_bytes = width(self.program.formats.1);
        self.tile([of(0), of(1), of(2)], (0, &mut packed[..1024 * datum_bytes]), scratch);
        datum_bytes
    }

    /// The function in the place of the result, of tiles that are there as they are in Dst. `None` if they are not;
    /// false if their datums are not usual ones, and the target is then meaningless.
    fn in_place(&self, pages: [(usize, &[u8]); 3], target: &mut [u8], scratch: &mut Scratch) -> Option<bool> {
        let Scratch { tiles, pages: read, .. } = scratch;
        if let Some(halves) = self.halves.as_ref().filter(|halves| halves.kept) {
            let target = tile_io::halves_mut(target)?;
            return Some(halves.run(self.fetch(pages, tiles).0, read, target));
        }
        let target = tile_io::words_mut(target).filter(|_| self.words)?;
        let ([a, b, c], _) = self.fetch(pages, tiles);
        let [a, b, c] = [tile_io::words(a)?, tile_io::words(b)?, tile_io::words(c)?];
        target.copy_from_slice(a);
        self.program.function.run(target, b, c, DstWidth::Bits32, Level::current());
        Some(true)
    }

    /// The operands' L1 bytes for one output tile, and what is left of the scratch.
    fn fetch<'t>(&self, pages: [(usize, &'t [u8]); 3], tiles: &'t mut Tiles) -> ([&'t [u8]; 3], &'t mut Tile) {
        let Tiles { l1: [l1_a, l1_b, l1_c], kept: [kept_a, kept_b, kept_c], src, wide } = tiles;
        let mut fetch =
            |i: usize, kept, l1| self.operands[i].fetch_kept(&self.math[i], pages[i], (kept, l1), src, wide);
        ([fetch(0, kept_a, l1_a), fetch(1, kept_b, l1_b), fetch(2, kept_c, l1_c)], src)
    }
}
