//! Memory that work items work in.

use std::sync::{Mutex, PoisonError};

use tt_cpu::arena::ArenaError;
use tt_cpu::pool;
use tt_cpu::scratch::Scratch;

use super::plan::Plan;
use super::{Panel, Sums};

/// Scratch that no call uses. Fresh memory costs more than a small product, so it is kept.
type Kept = Mutex<Vec<Scratch>>;

/// Workspaces: one per thread at most.
static WORKSPACES: Kept = Mutex::new(Vec::new());

/// Panels of a right operand that is packed first: one call's at most.
static RIGHT_PANELS: Kept = Mutex::new(Vec::new());

/// Scratch in use, given back when dropped.
pub struct Taken {
    scratch: Option<Scratch>,
    kept: &'static Kept,
    most: usize,
}

impl Taken {
    /// A workspace.
    ///
    /// # Errors
    /// [`ArenaError::Reserve`] if the host has no memory for it.
    pub fn workspace(plan: &Plan) -> Result<Self, ArenaError> {
        Self::new(&WORKSPACES, pool::threads(), plan.bytes())
    }

    /// Memory for some panels of the right operand.
    ///
    /// # Errors
    /// As [`Self::workspace`].
    pub fn right_panels(panels: usize) -> Result<Self, ArenaError> {
        Self::new(&RIGHT_PANELS, 1, panels * size_of::<Panel>())
    }

    /// In whole large pages: what is left of one would lie in small ones.
    fn new(kept: &'static Kept, most: usize, bytes: usize) -> Result<Self, ArenaError> {
        let free = kept.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let fits = free.filter(|scratch| scratch.len() >= bytes);
        let scratch = fits.map_or_else(|| Scratch::reserve(bytes.next_multiple_of(LARGE_PAGE)), Ok)?;
        Ok(Self { scratch: Some(scratch), kept, most })
    }

    /// The bytes; more than were asked for, perhaps.
    ///
    /// # Panics
    /// Never: they are there until the drop.
    pub fn bytes(&mut self) -> &mut [u8] {
        self.scratch.as_mut().expect("there until the drop").bytes()
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < self.most {
            kept.extend(self.scratch.take());
        }
    }
}

/// The buffers of a work item.
pub struct Workspace<'a> {
    /// Panels of the left operand.
    pub left: &'a mut [Panel],
    /// Panels of the right operand.
    pub right: &'a mut [Panel],
    /// Sums of a column, or of the block.
    pub sums: &'a mut [Sums],
    /// The sums of a tile that is finished beside the next product.
    pub complete: &'a mut Sums,
}

/// Bytes of a large page of the host. A usual plan needs one.
const LARGE_PAGE: usize = 2 << 20;

impl Plan {
    /// Bytes of a workspace.
    pub fn bytes(&self) -> usize {
        (self.left_panels() + self.right_panels()) * size_of::<Panel>() + (self.sums() + 1) * size_of::<Sums>()
    }

    /// The workspace in these bytes.
    ///
    /// # Panics
    /// If they are not enough.
    pub fn workspace<'a>(&self, bytes: &'a mut [u8]) -> Workspace<'a> {
        let (left, rest) = bytes.split_at_mut(self.left_panels() * size_of::<Panel>());
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
