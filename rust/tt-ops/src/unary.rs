//! `eltwise_sfpu`: a chain of SFPU functions in Dst.
//!
//! Copy a tile to Dst, run the chain there, pack. With an empty chain it is `typecast` between formats that the
//! unpacker and packer convert.

use tt_formats::DataFormat;
use tt_fpu::{Arch, CopyTile, MathConfig, MathFidelity};
use tt_memory::{BufferId, Device};
use tt_tensix::pack::{self, PackConfig, Relu};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};

use crate::activation::Activation;
use crate::half_table;
use crate::pages::{self, Old};
use crate::{Chain, OpError, for_each_page};

/// Settings of the program.
#[derive(Clone, Debug)]
pub struct UnaryProgram {
    /// Formats of input and output.
    pub formats: (DataFormat, DataFormat),
    /// 32-bit Dst.
    pub dst32: bool,
    /// Pages are tiles.
    ///
    /// Otherwise rows, whose datums pass through Dst in the order they lie in memory.
    pub tiled: bool,
    /// The packer clips below zero.
    pub packer_relu: bool,
    /// `bfp8_pack_precise`: no E8M6 step before a block-float output.
    pub precise: bool,
    /// Chip.
    pub arch: Arch,
}

struct Scratch {
    src: Tile,
    dst: Tile,
    row_in: Vec<u8>,
    row_out: Vec<u8>,
}

/// Runs the program on every page.
///
/// Input and output may be one buffer.
///
/// # Errors
/// Memory errors of either buffer; differing page counts.
pub fn unary(
    device: &mut Device,
    input: BufferId,
    output: BufferId,
    program: &UnaryProgram,
    chain: &Chain,
) -> Result<(), OpError> {
    let pages = device.buffer(output)?.num_pages();
    if device.buffer(input)?.num_pages() != pages {
        return Err(OpError::Invariant { operator: "unary", what: "input and output differ in pages".into() });
    }
    let in_place = input == output;
    let (format_in, format_out) = program.formats;
    let entry = Input::direct_to_dst(format_in, program.dst32);
    let dst_format = tile_io::dst_format(format_in, program.dst32);
    let math = MathConfig { fidelity: MathFidelity::HiFi4, dst: dst_format, alu: entry.register, arch: program.arch };
    let result = tile_io::result_format(format_in, format_out, program.dst32);
    let mut packer = PackConfig::precise(result, format_out, program.precise);
    if program.packer_relu {
        packer.relu = Relu::MinThreshold(0);
    }
    let tile_in = tile_bytes(format_in);
    let tile_out = tile_bytes(format_out);
    let halves = program.formats == (DataFormat::Float16B, DataFormat::Float16B) && !program.dst32;
    if halves && program.tiled && pages >= half_table::WORTH_A_TABLE {
        return half_table::look_up(
            device,
            input,
            output,
            &half_table::kept_table(Some((&entry, &math)), chain, &packer),
        );
    }
    // Block floats become bfloat16 on the way, so that the same table serves.
    let short = if program.tiled { Activation::new(format_in, &math, chain, &packer, pages) } else { None };
    let device_rows = device.buffer(output)?.page_bytes() * 1024 / tile_out;
    let access = device.access(&[output])?;
    let source = if in_place { None } else { Some(access.input(input)?.all()?) };
    let old = if in_place { Old::Read } else { Old::Unread };
    let make = || Scratch { src: ZERO, dst: ZERO, row_in: vec![0; tile_in], row_out: vec![0; tile_out] };
    if let Some(rows) = ShortRows::new(program, device_rows) {
        let target = access.output(output)?;
        return for_each_page(pages.div_ceil(rows.together), make, |scratch, group| {
            let Scratch { src, dst, row_in, row_out } = scratch;
            let run = group * rows.together..pages.min((group + 1) * rows.together);
            let mut target = target.claim_joined(run.clone())?;
            let (filled, rest) = row_in.split_at_mut(run.len() * rows.bytes_in);
            match &source {
                Some(source) => source.read(run.clone(), filled),
                None => target.read(filled),
            }
            rest.fill(0);
            entry.to_dst(&math, row_in, src, dst);
            chain.apply(dst, program.dst32);
            pack::pack_tile(&packer, dst, row_out);
            target.write(&row_out[..run.len() * rows.bytes_out]);
            Ok(())
        });
    }
    let words = program.tiled && entry.is_words() && tile_io::packs_words(&packer);
    pages::for_each_target(&access, output, old, make, |scratch, page, target| {
        let Scratch { src, dst, row_in, row_out } = scratch;
        let source = source.as_ref().map(|source| source.page(page));
        // Words that are in L1 as they are in Dst need not go there.
        if words
            && let Some(target) = tile_io::words_mut(target)
            && let Some(source) = source.map_or(Some(None), |source| tile_io::words(source).map(Some))
        {
            if let Some(source) = source {
                target.copy_from_slice(source);
            }
            chain.apply(target, program.dst32);
            return Ok(());
        }
        let mut step = |bytes: &[u8], out: &mut [u8]| {
            if let Some(short) = &short {
                return short.apply(bytes, out);
            }
            entry.to_dst(&math, bytes, src, dst);
            chain.apply(dst, program.dst32);
            pack::pack_tile(&packer, dst, out);
        };
        match source {
            source if !program.tiled => rows(source, target, [row_in, row_out], &mut step),
            Some(source) => step(source, target),
            None => {
                row_in.copy_from_slice(target);
                step(row_in, target);
            }
        }
        Ok(())
    })
}

/// Rows of which several are computed together, since a tile has room for them.
struct ShortRows {
    together: usize,
    bytes_in: usize,
    bytes_out: usize,
}

impl ShortRows {
    /// `None` for tiles, and for rows of so many datums that no two fit in a tile.
    fn new(program: &UnaryProgram, datums: usize) -> Option<Self> {
        let bytes = |format: DataFormat| datums * tile_bytes(format) / 1024;
        let short = !program.tiled && (1..=512).contains(&datums);
        short.then(|| Self {
            together: 1024 / datums,
            bytes_in: bytes(program.formats.0),
            bytes_out: bytes(program.formats.1),
        })
    }
}

/// A page that is a row, by as many datums as a tile has; in place without a source. The buffers are those of a tile.
fn rows(
    source: Option<&[u8]>,
    target: &mut [u8],
    [row_in, row_out]: [&mut [u8]; 2],
    step: &mut impl FnMut(&[u8], &mut [u8]),
) {
    let (width_in, width_out) = (row_in.len() / 1024, row_out.len() / 1024);
    let datums = target.len() / width_out;
    for start in (0..datums).step_by(1024) {
        let count = (datums - start).min(1024);
        row_in.fill(0);
        let range = start * width_in..(start + count) * width_in;
        let source = match source {
            Some(source) => &source[range],
            None => &target[range],
        };
        row_in[..count * width_in].copy_from_slice(source);
        step(row_in, row_out);
        target[start * width_out..(start + count) * width_out].copy_from_slice(&row_out[..count * width_out]);
    }
}

fn tile_bytes(format: DataFormat) -> usize {
    format.tile_bytes(tt_formats::TileShape::FULL)
}
