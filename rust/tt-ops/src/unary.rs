//! `eltwise_sfpu`: copy a tile to Dst, run a chain of vector-unit functions there, pack. With an empty chain it is
//! `typecast` between formats that the unpacker and packer convert.

use tt_cpu::stream::{self, STREAM_BYTES};
use tt_cpu::table::{HalfTable, PATTERNS, Store};
use tt_cpu::{Level, pool};
use tt_formats::DataFormat;
use tt_memory::{Buffer, BufferId, Device};
use tt_tensix::fpu::{Arch, MathConfig, MathFidelity};
use tt_tensix::pack::{self, PackConfig, Relu};

use crate::port::{self, Input, Tile, ZERO};
use crate::{Chain, OpError, for_each_page};

/// What the program is built with.
#[derive(Clone, Debug)]
pub struct UnaryProgram {
    /// Formats of input and output.
    pub formats: (DataFormat, DataFormat),
    /// 32-bit Dst.
    pub dst32: bool,
    /// Pages are tiles; otherwise rows, whose datums pass through Dst in the order they lie in memory.
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

/// Runs the program on every page. Input and output may be one buffer.
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
    let dst_format = port::dst_format(format_in, program.dst32);
    let math = MathConfig { fidelity: MathFidelity::HiFi4, dst: dst_format, alu: entry.register, arch: program.arch };
    let result = port::result_format(format_in, format_out, program.dst32);
    let mut packer = port::packer(format_out, result, program.precise);
    if program.packer_relu {
        packer.relu = Relu::MinThreshold(0);
    }
    let tile_in = port_bytes(format_in);
    let tile_out = port_bytes(format_out);
    let halves = program.formats == (DataFormat::Float16B, DataFormat::Float16B) && !program.dst32;
    if halves && program.tiled && pages >= WORTH_A_TABLE {
        return look_up(device, input, output, &table_of(&entry, &math, chain, &packer));
    }
    let access = device.access(&[output])?;
    let make = || Scratch { src: ZERO, dst: ZERO, row_in: vec![0; tile_in], row_out: vec![0; tile_out] };
    for_each_page(pages, make, |scratch, page| {
        let target = access.claim(output, page)?;
        let Scratch { src, dst, row_in, row_out } = scratch;
        let mut step = |bytes: &[u8], out: &mut [u8]| {
            entry.to_dst(&math, bytes, src, dst);
            chain.apply(dst, program.dst32);
            pack::pack_tile(&packer, dst, out);
        };
        if program.tiled {
            if in_place {
                row_in.copy_from_slice(target);
                step(row_in, target);
            } else {
                step(access.page(input, page)?, target);
            }
            return Ok(());
        }
        let (width_in, width_out) = (tile_in / 1024, tile_out / 1024);
        let datums = target.len() / width_out;
        for start in (0..datums).step_by(1024) {
            let count = (datums - start).min(1024);
            row_in.fill(0);
            let range = start * width_in..(start + count) * width_in;
            let source = if in_place { &target[range] } else { &access.page(input, page)?[range] };
            row_in[..count * width_in].copy_from_slice(source);
            step(row_in, row_out);
            target[start * width_out..(start + count) * width_out].copy_from_slice(&row_out[..count * width_out]);
        }
        Ok(())
    })
}

/// Tiles from which on the table of the whole program pays: making it costs 64.
const WORTH_A_TABLE: usize = 256;
const TILE_DATUMS: usize = 1024;

/// What becomes of every bfloat16 datum on its way through the unpacker, a 16-bit `Dst`, the chain and the packer. Each goes
/// that way by itself, so one table is the whole program.
fn table_of(entry: &Input, math: &MathConfig, chain: &Chain, packer: &PackConfig) -> HalfTable {
    let (mut src, mut dst) = (ZERO, ZERO);
    let (mut bytes, mut packed) = ([0; 2 * TILE_DATUMS], [0; 2 * TILE_DATUMS]);
    let mut table = Vec::with_capacity(PATTERNS);
    for first in (0..PATTERNS).step_by(TILE_DATUMS) {
        for (pair, pattern) in bytes.chunks_exact_mut(2).zip(first..) {
            pair.copy_from_slice(&(pattern as u16).to_le_bytes());
        }
        entry.to_dst(math, &bytes, &mut src, &mut dst);
        chain.apply(&mut dst, false);
        pack::pack_tile(packer, &dst, &mut packed);
        table.extend(packed.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])));
    }
    table.into_iter().collect()
}

/// Fewest and most pages that a thread claims together. Claiming waits for everything that was written past the caches before
/// it. And the more pages, the longer the runs that lie side by side in host memory: with 1024 pages in twelve banks they are
/// read and written as fast as one piece, with 256 a fifth slower, one by one two thirds slower.
const CLAIMED_TOGETHER: (usize, usize) = (256, 1024);

/// At the end of a thread's share it waits for what it wrote past the caches.
struct Share;

impl Drop for Share {
    fn drop(&mut self) {
        stream::finish();
    }
}

/// How much larger the number of a page is than that of the page before it in its bank; 1 if there is no rule.
fn stride(buffer: &Buffer) -> usize {
    let place = |page| buffer.locate(page).ok().map(|at| (at.bank, at.slot));
    let second = place(0).map(|(bank, slot)| (bank, slot + 1));
    (1..buffer.num_pages()).find(|&page| place(page) == second).unwrap_or(1)
}

/// Replaces every datum by the table's. Large results go past the caches: they would not stay there, and the lines that
/// they are written to need not be read first.
fn look_up(device: &mut Device, input: BufferId, output: BufferId, table: &HalfTable) -> Result<(), OpError> {
    let level = Level::current();
    let access = device.access(&[output])?;
    let target = access.output(output)?;
    let (count, stride) = (target.buffer().num_pages(), stride(target.buffer()));
    // Enough groups that the threads end together.
    let (fewest, most) = CLAIMED_TOGETHER;
    let together = (count / (16 * pool::threads())).clamp(fewest, most);
    let groups: Vec<_> = (0..count).step_by(together).map(|first| first..count.min(first + together)).collect();
    // Places in a group, bank by bank.
    let order = |len: usize| (0..stride.min(len)).flat_map(move |bank| (bank..len).step_by(stride));
    if input == output {
        return for_each_page(
            groups.len(),
            || (),
            |(), group| {
                let mut pages: Vec<&mut [u8]> = target.claim_run(groups[group].clone())?.collect();
                order(pages.len()).for_each(|place| table.look_up_in_place(level, pages[place]));
                Ok(())
            },
        );
    }
    let source = access.input(input)?.all()?;
    let store = if count * target.buffer().page_bytes() < STREAM_BYTES { Store::Near } else { Store::Past };
    for_each_page(
        groups.len(),
        || Share,
        |_, group| {
            let pages = &groups[group];
            let source = |place: usize| source.page(pages.start + place);
            let mut targets: Vec<&mut [u8]> = target.claim_run(pages.clone())?.collect();
            let mut upcoming = order(targets.len()).map(source).skip(1);
            for place in order(targets.len()) {
                let next = upcoming.next().unwrap_or_default();
                table.look_up(level, source(place), targets[place], store, next);
            }
            Ok(())
        },
    )
}

fn port_bytes(format: DataFormat) -> usize {
    format.tile_bytes(tt_formats::TileShape::FULL)
}
