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

/// Pages that a chip gets from a chip of its group.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// Position of the sender in the group.
    pub from: usize,
    /// Its first page, counted within the dimension.
    pub first: usize,
    /// The first page that is written, counted within the dimension.
    pub to: usize,
    /// Number of pages.
    pub pages: usize,
}

/// Ranges of a dimension for each chip of a group.
#[derive(Clone, Debug)]
pub struct Ranges {
    /// Repetitions: pages of the dimensions before.
    pub outer: usize,
    /// Pages of the dimension, in the operand and in the result.
    pub sizes: (usize, usize),
    /// Ranges by position in the group, in the order of written pages.
    pub of_chips: Vec<Vec<Range>>,
}

/// Writes ranges of the tensors of a group's chips.
///
/// # Errors
/// Ranges outside of the tensors, or too few; buffers of other sizes; memory.
pub fn ranges(
    device: &mut Device,
    groups: &Groups,
    ranges: &Ranges,
    input: BufferId,
    output: BufferId,
) -> Result<(), OpError> {
    let (source, target) = ranges.sizes;
    let [from, to] = [source, target].map(|size| ranges.outer.saturating_mul(size));
    check(device, "slice_reshard_async", (input, from), (output, to))?;
    let fits = |range: &Range| {
        range.from < groups.size()
            && range.first.checked_add(range.pages).is_some_and(|end| end <= source)
            && range.to.checked_add(range.pages).is_some_and(|end| end <= target)
    };
    let whole = |chip: &Vec<Range>| chip.iter().map(|range| range.pages).sum::<usize>() == target;
    let all = ranges.of_chips.iter().flatten().all(fits) && ranges.of_chips.iter().all(whole);
    if ranges.of_chips.len() != groups.size() || !all {
        let what = format!("ranges {:?} for {} chips", ranges.of_chips, groups.size());
        return Err(OpError::Invariant { operator: "slice_reshard_async", what });
    }
    each_page(device, groups, groups.places(), (input, output), to, |member, group, page| {
        let (before, place) = (page / target, page % target);
        let found = ranges.of_chips[member].iter().find(|range| (range.to..range.to + range.pages).contains(&place))?;
        Some((group[found.from], before * source + found.first + place - found.to))
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
    touch(device, output)?;
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
            if !access[group[member]].is_own() || source(member, group, first).is_none() {
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

/// Gives a large buffer its host memory, on all threads.
fn touch(device: &Device, output: BufferId) -> Result<(), OpError> {
    let parts = device.parts_to_touch(output)?;
    for_each_page(parts, || (), |(), part| Ok(device.touch(output, part)?))
}
