//! Copies of pages between chips.
use tt_memory::access::Pages;
use tt_memory::{BufferId, Device};

use super::{Groups, Slices, check, pages_of_chips};
use crate::{OpError, for_each_page};

/// Pages that one item of work copies.
const TOGETHER: usize = 16;

/// Writes the slices of a group's chips to each of them.
///
/// They are in the order of the group.
///
/// # Errors
/// Buffers of other sizes; memory.
pub fn gather(
    device: &mut Device,
    groups: &Groups,
    slices: Slices,
    input: BufferId,
    output: BufferId,
) -> Result<(), OpError> {
    let count = groups.size();
    check(device, "all_gather", (input, slices.pages()), (output, slices.all(count)))?;
    each_page(device, groups, groups.places(), (input, output), slices.all(count), |_, group, page| {
        let (slice, place) = (page / slices.inner % count, page / (slices.inner * count) * slices.inner);
        Some((group[slice], place + page % slices.inner))
    })
}

/// Writes each chip's slice of its tensor.
///
/// # Errors
/// Buffers of other sizes; memory.
pub fn partition(
    device: &mut Device,
    groups: &Groups,
    slices: Slices,
    input: BufferId,
    output: BufferId,
) -> Result<(), OpError> {
    let count = groups.size();
    check(device, "mesh_partition", (input, slices.all(count)), (output, slices.pages()))?;
    each_page(device, groups, groups.places(), (input, output), slices.pages(), |member, group, page| {
        Some((group[member], slices.page(count, member, page)))
    })
}

/// Writes one chip's tensor to all chips of its group.
///
/// The chip is given by its position.
///
/// The chip itself gets it too if `kept` says so.
///
/// # Errors
/// Buffers of other sizes; no such position; memory.
pub fn copy(
    device: &mut Device,
    groups: &Groups,
    (from, kept): (usize, bool),
    input: BufferId,
    output: BufferId,
) -> Result<(), OpError> {
    if from >= groups.size() {
        let what = format!("position {from} of {}", groups.size());
        return Err(OpError::Invariant { operator: "broadcast", what });
    }
    let pages = device.buffer(input)?.num_pages();
    check(device, "broadcast", (input, pages), (output, pages))?;
    let senders = groups.groups.iter().map(|group| group[from]);
    each_page(device, groups, senders, (input, output), pages, |member, group, page| {
        (kept || member != from).then_some((group[from], page))
    })
}

/// Writes pages of the output of every chip, from those of the chips `read`.
///
/// `source` returns chip and page that a page comes from, given a position in a group, the group, and the page; None for
/// a chip that gets nothing.
fn each_page(
    device: &mut Device,
    groups: &Groups,
    read: impl IntoIterator<Item = usize>,
    (input, output): (BufferId, BufferId),
    pages: usize,
    source: impl Fn(usize, &[usize], usize) -> Option<(usize, usize)> + Sync + Send,
) -> Result<(), OpError> {
    let access = device.access_all(&[output])?;
    let inputs = pages_of_chips(&access, input, read)?;
    let runs = pages.div_ceil(TOGETHER);
    for_each_page(
        groups.chips() * runs,
        || (),
        |(), item| {
            let (group, member) = groups.member(item / runs);
            let first = item % runs * TOGETHER;
            let range = first..pages.min(first + TOGETHER);
            if source(member, group, first).is_none() {
                return Ok(());
            }
            let target = access[group[member]].output(output)?;
            for (page, bytes) in range.clone().zip(target.claim_run(range)?) {
                let Some((chip, from)) = source(member, group, page) else { continue };
                bytes.copy_from_slice(inputs[chip].as_ref().map_or(&[], |pages: &Pages<'_>| pages.page(from)));
            }
            Ok(())
        },
    )
}
