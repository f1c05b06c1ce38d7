//! Tables of the calls of compiled kernels.

use tt_memory::Device;

use super::Native;
use super::words::Reply;
use crate::error::Fault;
use crate::state::Run;

/// A call.
pub(super) struct Call {
    pub(super) name: &'static str,
    /// It changes what the kernel may touch, or lets others know of what it has done.
    pub(super) acts: bool,
    pub(super) function: fn(&mut Run, &mut Device, &mut Native) -> Result<Reply, Fault>,
}

/// A table: `name(arguments) = call of the engine`, in groups of calls that act and of those that do not.
macro_rules! calls {
    ($table:ident: $($acts:ident |$run:ident, $device:ident, $kernel:ident| { $(
        $name:ident($($argument:ident: $type:ty),* $(,)?) = $call:expr;
    )* })*) => {
        pub(super) static $table: &[$crate::native::table::Call] = &[$($($crate::native::table::Call {
            name: stringify!($name),
            acts: $crate::native::table::$acts,
            function: |$run, $device, $kernel| {
                let mut _words = $crate::native::words::Words::new(&$kernel.hart);
                $(
                    let $argument: $type =
                        _words.take().map_err(|what| $run.fault(stringify!($name), what))?;
                )*
                let _ = &$device;
                ($call).map($crate::native::words::Answer::reply)
            },
        },)*)*];
    };
}
pub(super) use calls;

#[allow(non_upper_case_globals, reason = "a word of the tables")]
pub(super) const acting: bool = true;
#[allow(non_upper_case_globals, reason = "a word of the tables")]
pub(super) const quiet: bool = false;
