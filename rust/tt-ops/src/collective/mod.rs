//! Operators of several chips.
//!
//! Copies of pages between chips, tokens sent to experts, and sums over chips.
//! Chips form groups, each in the order of a mesh axis. Nothing is sent in packets here: what arrives, and in which order
//! it is added, is known from the sizes. `docs/meshes.md` has the orders.
//!
//! A process writes to its own chips only: see [`tt_memory::Ranks`].

mod copies;
mod routing;
mod sums;

pub use copies::{Range, Ranges, copy, gather, partition, ranges};
pub use routing::{
    CombineBuffers, DispatchBuffers, Routes, ScoreBuffers, combine, dispatch, local_scores, share_weights,
};
pub use sums::{Order, SumProgram, sum};

use tt_memory::access::Pages;
use tt_memory::{Access, BufferId, Device};

use crate::OpError;

/// Chips by their places in the mesh, in groups.
///
/// Groups have the same number of chips, and no chip in common.
#[derive(Clone, Debug)]
pub struct Groups {
    groups: Vec<Vec<usize>>,
}

impl Groups {
    /// Groups of chips.
    ///
    /// # Errors
    /// There are none, they have other numbers of chips, or a chip is in two.
    pub fn new(groups: Vec<Vec<usize>>) -> Result<Self, OpError> {
        let size = groups.first().map_or(0, Vec::len);
        let mut all: Vec<usize> = groups.concat();
        all.sort_unstable();
        let distinct = all.windows(2).all(|pair| pair[0] != pair[1]);
        if size == 0 || !distinct || groups.iter().any(|group| group.len() != size) {
            let what = format!("groups of chips {groups:?}");
            return Err(OpError::Invariant { operator: "collective", what });
        }
        Ok(Self { groups })
    }

    /// Chips of a group.
    fn size(&self) -> usize {
        self.groups[0].len()
    }

    /// Chips of all groups.
    fn chips(&self) -> usize {
        self.groups.len() * self.size()
    }

    /// The places of the chips.
    fn places(&self) -> impl Iterator<Item = usize> {
        self.groups.iter().flatten().copied()
    }

    /// The group of a number below [`Groups::chips`], and the position of its chip there.
    fn member(&self, number: usize) -> (&[usize], usize) {
        (&self.groups[number / self.size()], number % self.size())
    }
}

/// Slices of a tensor, among its pages.
///
/// A tensor of as many slices as a group has chips is `outer` times all slices, each of them `inner` pages.
#[derive(Clone, Copy, Debug)]
pub struct Slices {
    /// Pages before the sliced dimension.
    pub outer: usize,
    /// Pages of a slice from the sliced dimension on.
    pub inner: usize,
}

impl Slices {
    /// Pages of one slice.
    fn pages(self) -> usize {
        self.outer.saturating_mul(self.inner)
    }

    /// Pages of `count` slices.
    fn all(self, count: usize) -> usize {
        self.pages().saturating_mul(count)
    }

    /// The page of a tensor of `count` slices that is page `page` of slice `slice`.
    fn page(self, count: usize, slice: usize, page: usize) -> usize {
        (page / self.inner * count + slice) * self.inner + page % self.inner
    }
}

/// Checks that buffers have these numbers of pages, of equal sizes.
fn check(
    device: &Device,
    operator: &'static str,
    (input, pages): (BufferId, usize),
    (output, results): (BufferId, usize),
) -> Result<(), OpError> {
    let (from, to) = (device.buffer(input)?, device.buffer(output)?);
    if from.num_pages() == pages && to.num_pages() == results && from.page_bytes() == to.page_bytes() {
        return Ok(());
    }
    let shape = |buffer: &tt_memory::Buffer| format!("{} pages of {} B", buffer.num_pages(), buffer.page_bytes());
    let what = format!("{} for {pages}, and {} for {results}", shape(from), shape(to));
    Err(OpError::Invariant { operator, what })
}

/// The pages of a buffer on every chip that is read; None on the others.
///
/// # Errors
/// The mesh has no such chip; memory.
fn pages_of_chips<'a>(
    access: &'a [Access<'a>],
    input: BufferId,
    chips: impl IntoIterator<Item = usize>,
) -> Result<Vec<Option<Pages<'a>>>, OpError> {
    let mut pages: Vec<_> = access.iter().map(|_| None).collect();
    for chip in chips {
        let Some(access) = access.get(chip) else {
            let what = format!("chip {chip} of {}", access.len());
            return Err(OpError::Invariant { operator: "collective", what });
        };
        pages[chip] = Some(access.input(input)?.all()?);
    }
    Ok(pages)
}
