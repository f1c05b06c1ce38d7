//! BF16 tensors through a 16-bit Dst.
//!
//! A table of the whole program, looked up datum by datum.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tt_cpu::Level;
use tt_cpu::stream::STREAM_BYTES;
use tt_cpu::table::{HalfTable, PATTERNS, Store};
use tt_formats::{Arch, DataFormat};
use tt_fpu::{CopyTile, MathConfig};
use tt_memory::{BufferId, Device};
use tt_tensix::pack::{self, PackConfig};
use tt_tensix::tile_io::{Input, ZERO};
use tt_tensix::unpack;

use crate::pages::{self, Groups, Share};
use crate::{Chain, ChainStep, OpError, for_each_page};

const TILE_DATUMS: usize = 1024;

/// Tiles from which on a table pays: making it costs 64.
pub const WORTH_A_TABLE: usize = 256;

/// What becomes of every bfloat16 datum on its way through the unpacker, a 16-bit `Dst`, the chain and the packer. Each
/// goes that way by itself, so one table is the whole program. Without an entry, of every datum in `Dst` on the rest of
/// the way.
fn table_of(entry: Option<(&Input, &MathConfig)>, chain: &Chain, packer: &PackConfig) -> HalfTable {
    let (mut src, mut dst) = (ZERO, ZERO);
    let (mut bytes, mut packed) = ([0; 2 * TILE_DATUMS], [0; 2 * TILE_DATUMS]);
    let mut table = Vec::with_capacity(PATTERNS);
    for first in (0..PATTERNS).step_by(TILE_DATUMS) {
        for (pair, pattern) in bytes.chunks_exact_mut(2).zip(first..) {
            pair.copy_from_slice(&(pattern as u16).to_le_bytes());
        }
        match entry {
            Some((entry, math)) => entry.to_dst(math, &bytes, &mut src, &mut dst),
            None => unpack::to_dst(DataFormat::Float16B, &bytes, &mut dst),
        }
        chain.apply(&mut dst, false);
        pack::pack_tile(packer, &dst, &mut packed);
        table.extend(packed.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])));
    }
    table.into_iter().collect()
}

/// Tables of whole programs that are kept; 128 KiB each.
const KEPT: usize = 32;

/// What such a table depends on, besides the formats, which are the same for all.
#[derive(PartialEq)]
struct Key {
    math: Option<MathConfig>,
    packer: PackConfig,
    arch: Option<Arch>,
    steps: Vec<ChainStep>,
}

/// [`table_of`], or the same table if it is among the latest.
///
/// Making it takes as long as looking up some hundred tiles.
pub fn kept_table(entry: Option<(&Input, &MathConfig)>, chain: &Chain, packer: &PackConfig) -> Arc<HalfTable> {
    static TABLES: Mutex<VecDeque<(Key, Arc<HalfTable>)>> = Mutex::new(VecDeque::new());
    let key =
        Key { math: entry.map(|(_, math)| *math), packer: *packer, arch: chain.arch(), steps: chain.steps().to_vec() };
    // The tables are whole at every moment, so that a panic elsewhere leaves them usable.
    let lock = || TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, table)) = lock().iter().find(|(of, _)| *of == key) {
        return table.clone();
    }
    let table = Arc::new(table_of(entry, chain, packer));
    let mut tables = lock();
    tables.truncate(KEPT - 1);
    tables.push_front((key, table.clone()));
    table
}

/// Fewest pages that a thread claims together. Claiming waits for everything that was written past the caches before
/// it.
const CLAIMED_TOGETHER: usize = 256;

/// Replaces every datum by the table's.
///
/// Large results go past the caches: they would not stay there, and the lines that they are written to need not be read
/// first.
pub fn look_up(device: &mut Device, input: BufferId, output: BufferId, table: &HalfTable) -> Result<(), OpError> {
    let level = Level::current();
    let access = device.access(&[output])?;
    let target = access.output(output)?;
    let groups = Groups::of(target.buffer(), CLAIMED_TOGETHER);
    if input == output {
        return for_each_page(
            groups.count(),
            || (),
            |(), group| {
                // Gaps between pages may hold anything.
                for run in target.claim_banks(groups.pages(group))? {
                    table.look_up_in_place(level, run);
                }
                Ok(())
            },
        );
    }
    let source = access.input(input)?.all()?;
    let alike = pages::lie_alike(&source, &target);
    let store = if target.buffer().bytes() < STREAM_BYTES as u64 { Store::Near } else { Store::Past };
    for_each_page(
        groups.count(),
        || Share,
        |_, group| {
            let pages = groups.pages(group);
            if alike {
                let targets = target.claim_banks(pages.clone())?;
                let mut runs: Vec<_> = source.banks(pages).zip(targets).collect();
                table.look_up_pages(level, &mut runs, store);
                return Ok(());
            }
            let mut targets: Vec<&mut [u8]> = target.claim_run(pages.clone())?.collect();
            let pair = |place: usize| (source.page(pages.start + place), std::mem::take(&mut targets[place]));
            let mut pairs: Vec<_> = groups.places(pages.len()).map(pair).collect();
            table.look_up_pages(level, &mut pairs, store);
            Ok(())
        },
    )
}
