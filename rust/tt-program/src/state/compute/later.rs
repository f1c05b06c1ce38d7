//! Deferred calls of a compute kernel's threads.
//!
//! They make them later than in the order of the source.

use tt_memory::Device;

use crate::calls::Step;
use crate::error::SourcePlace;
use crate::state::Run;
use crate::state::kernel::Wait;

/// A deferred call.
pub(crate) type Deferred = Box<dyn FnMut(&mut Run, &mut Device) -> Step + Send + Sync>;

/// A call that its threads have not come to yet.
pub(crate) struct Later {
    pub(crate) threads: u8,
    pub(crate) call: Deferred,
    /// Its line; `None` until the caller has said it.
    pub(crate) place: Option<SourcePlace>,
    /// What its threads wait for; `None` while they wait for a call before it.
    pub(crate) wait: Option<Wait>,
}
