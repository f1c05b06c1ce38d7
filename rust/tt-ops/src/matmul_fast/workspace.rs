//! Memory that work items work in.

use std::sync::{Mutex, PoisonError};

use tt_cpu::pool;
use tt_cpu::scratch::Scratch;
use tt_memory::MemoryError;
use tt_tensix::fast::{Panel, Sums};

use super::plan::Plan;

/// Scratch that no call uses. Fresh memory costs more than a small product, so it is kept: one per thread at most.
static FREE: Mutex<Vec<Scratch>> = Mutex::new(Vec::new());

/// Scratch in use, given back when dropped.
pub(super) struct Taken(Option<Scratch>);

impl Taken {
    pub(super) fn new(plan: &Plan) -> Result<Self, MemoryError> {
        let kept = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let fits = kept.filter(|scratch| plan.fits(scratch));
        Ok(Self(Some(fits.map_or_else(|| plan.reserve(), Ok)?)))
    }

    pub(super) fn get(&mut self) -> &mut Scratch {
        self.0.as_mut().expect("there until the drop")
    }
}

/// Panels of the right operand that no call uses; kept for the same reason.
static FREE_RIGHT: Mutex<Option<Scratch>> = Mutex::new(None);

/// Memory for the panels of the right operand, given back when dropped.
pub(super) struct RightPanels(Option<Scratch>);

impl RightPanels {
    /// Memory for some panels.
    pub(super) fn new(panels: usize) -> Result<Self, MemoryError> {
        let bytes = (panels * size_of::<Panel>()).next_multiple_of(BYTES);
        let kept = FREE_RIGHT.lock().unwrap_or_else(PoisonError::into_inner).take();
        let fits = kept.filter(|scratch| scratch.len() >= bytes);
        Ok(Self(Some(fits.map_or_else(|| Scratch::reserve(bytes), Ok)?)))
    }

    pub(super) fn panels(&mut self, number: usize) -> &mut [Panel] {
        let bytes = self.0.as_mut().expect("there until the drop").bytes();
        bytemuck::cast_slice_mut(&mut bytes[..number * size_of::<Panel>()])
    }
}

impl Drop for RightPanels {
    fn drop(&mut self) {
        *FREE_RIGHT.lock().unwrap_or_else(PoisonError::into_inner) = self.0.take();
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < pool::threads() {
            free.extend(self.0.take());
        }
    }
}
/// What a work item works on.
pub struct Workspace<'a> {
    pub left: &'a mut [Panel],
    pub right: &'a mut [Panel],
    pub sums: &'a mut [Sums],
    pub complete: &'a mut Sums,
}

/// Bytes of every workspace: a large page of the host, so that the usual plans touch one.
const BYTES: usize = 2 << 20;

impl Plan {
    fn bytes(&self) -> usize {
        (self.left_panels() + self.right_panels()) * size_of::<Panel>() + (self.sums() + 1) * size_of::<Sums>()
    }

    /// Memory for the workspace of one thread, in whole large pages: what is left of one would lie in small ones.
    pub fn reserve(&self) -> Result<Scratch, MemoryError> {
        Ok(Scratch::reserve(self.bytes().next_multiple_of(BYTES))?)
    }

    /// Whether memory that another plan reserved is enough.
    pub fn fits(&self, scratch: &Scratch) -> bool {
        scratch.len() >= self.bytes()
    }

    /// The workspace in it.
    ///
    /// # Panics
    /// If it is not enough.
    pub fn workspace<'a>(&self, scratch: &'a mut Scratch) -> Workspace<'a> {
        let (left, rest) = scratch.bytes().split_at_mut(self.left_panels() * size_of::<Panel>());
        let (right, rest) = rest.split_at_mut(self.right_panels() * size_of::<Panel>());
        let (complete, rest) = rest.split_at_mut(size_of::<Sums>());
        let sums = &mut rest[..self.sums() * size_of::<Sums>()];
        Workspace {
            left: bytemuck::cast_slice_mut(left),
            right: bytemuck::cast_slice_mut(right),
            sums: bytemuck::cast_slice_mut(sums),
            complete: bytemuck::from_bytes_mut(complete),
        }
    }
}
