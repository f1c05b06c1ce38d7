//! Output pages in the host memory's quickest order.

use tt_cpu::stream::{self, STREAM_BYTES};
use tt_memory::access::{Output, Pages};
use tt_memory::{Access, BufferId};

use super::each::for_each_page;
use super::groups::Groups;
use crate::OpError;

/// Pages of more bytes are made in their place: a copy would not stay in the first-level cache.
const MOST_COPIED: usize = 16 << 10;

/// The treatment of a page's old contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Old {
    /// Nobody asks for them: the bytes that are handed out may hold anything.
    Unread,
    /// They are an operand: the bytes that are handed out hold them.
    Read,
}

/// Waits at a thread's end for its writes past the caches.
pub struct Share;

impl Drop for Share {
    fn drop(&mut self) {
        stream::finish();
    }
}

/// Calls `step(scratch, page, bytes)` for every output page, on all threads.
///
/// It makes the bytes of that page.
///
/// Pages of a large result go past the caches: they would not stay there, and the lines that they are written to need
/// not be read first.
pub fn for_each_target<S: Send>(
    access: &Access<'_>,
    output: BufferId,
    old: Old,
    make: impl Fn() -> S + Sync + Send,
    step: impl Fn(&mut S, usize, &mut [u8]) -> Result<(), OpError> + Sync + Send,
) -> Result<(), OpError> {
    let page_bytes = access.buffer(output)?.page_bytes();
    if old == Old::Read || page_bytes > MOST_COPIED || !goes_past(access, output)? {
        return for_each_place(access, output, make, step);
    }
    let make = || (make(), vec![0; page_bytes]);
    for_each_place(access, output, make, |(scratch, made), page, target| {
        step(scratch, page, made)?;
        stream::copy(target, made);
        Ok(())
    })
}

/// Makes output pages from existing ones, as [`for_each_target`].
pub fn copy_to_each_target<'t>(
    access: &Access<'_>,
    output: BufferId,
    source: impl Fn(usize) -> &'t [u8] + Sync + Send,
) -> Result<(), OpError> {
    let past = goes_past(access, output)?;
    let make = || ();
    for_each_place(access, output, make, |(), page, target| {
        if past {
            stream::copy(target, source(page));
        } else {
            target.copy_from_slice(source(page));
        }
        Ok(())
    })
}

/// Bytes of pages that are found more slowly than they are copied.
const SHORT: usize = 64;

/// Bytes of such pages that are copied together.
const PIECE: usize = 4096;

/// Returns true if a bank's page range is contiguous on both sides.
pub fn lie_alike(source: &Pages<'_>, target: &Output<'_>) -> bool {
    source.gapless().is_some() && source.gapless() == target.gapless()
}

/// Copies every input page to the same output page.
///
/// Both have as many, of the same size.
pub fn copy_to_all_targets(access: &Access<'_>, input: BufferId, output: BufferId) -> Result<(), OpError> {
    let (source, target) = (access.input(input)?.all()?, access.output(output)?);
    let (pages, bytes) = (target.buffer().num_pages(), target.buffer().page_bytes());
    if (1..=SHORT).contains(&bytes) {
        let together = PIECE / bytes;
        return for_each_page(
            pages.div_ceil(together),
            || [0; PIECE],
            |piece, group| {
                let run = group * together..pages.min((group + 1) * together);
                let piece = &mut piece[..run.len() * bytes];
                source.read(run.clone(), piece);
                target.claim_joined(run)?.write(piece);
                Ok(())
            },
        );
    }
    if !lie_alike(&source, &target) || !goes_past(access, output)? {
        return copy_to_each_target(access, output, |page| source.page(page));
    }
    let groups = Groups::of(target.buffer(), 1);
    for_each_page(
        groups.count(),
        || Share,
        |_, group| {
            let pages = groups.pages(group);
            for (from, to) in source.banks(pages.clone()).zip(target.claim_banks(pages)?) {
                stream::copy(to, from);
            }
            Ok(())
        },
    )
}

fn goes_past(access: &Access<'_>, output: BufferId) -> Result<bool, OpError> {
    Ok(access.buffer(output)?.bytes() >= STREAM_BYTES as u64)
}

/// Threads take groups of pages and go from bank to bank in each.
fn for_each_place<S: Send>(
    access: &Access<'_>,
    output: BufferId,
    make: impl Fn() -> S + Sync + Send,
    step: impl Fn(&mut S, usize, &mut [u8]) -> Result<(), OpError> + Sync + Send,
) -> Result<(), OpError> {
    let target = access.output(output)?;
    let groups = Groups::of(target.buffer(), 1);
    let make = || (make(), Share);
    for_each_page(groups.count(), make, |(scratch, _), group| {
        let pages = groups.pages(group);
        let mut targets: Vec<&mut [u8]> = target.claim_run(pages.clone())?.collect();
        groups.places(targets.len()).try_for_each(|place| step(scratch, pages.start + place, targets[place]))
    })
}
