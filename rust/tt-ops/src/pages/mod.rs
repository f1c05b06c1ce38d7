//! Loops over the pages of a buffer, on all threads.

mod copies;
mod each;
mod groups;
mod output;

pub use copies::PageCopies;
pub use each::{FirstError, for_each_page};
pub use groups::Groups;
pub use output::{Old, Share, copy_to_all_targets, copy_to_each_target, for_each_target, lie_alike};
