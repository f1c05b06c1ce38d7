//! Tables of the calls of compiled kernels.

use tt_memory::Device;

use super::Native;
use super::words::Reply;
use crate::error::Fault;
use crate::state::Run;

/// What a call does besides its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// It changes what the kernel may touch, or lets others know of what it has done.
    Acts,
    /// Nothing.
    None,
    /// It is recorded, and its work is done before the next call that is not.
    Records,
}

/// A call.
pub(super) struct Call {
    pub(super) name: &'static str,
    pub(super) effect: Effect,
    pub(super) function: fn(&mut Run, &mut Device, &mut Native) -> Result<Reply, Fault>,
}

/// A table: `name(arguments) = call of the engine`, in groups of calls that have the same [`Effect`].
macro_rules! calls {
    ($table:ident: $($effect:ident |$run:ident, $device:ident, $kernel:ident| { $(
        $name:ident($($argument:ident: $type:ty),* $(,)?) = $call:expr;
    )* })*) => {
        pub(super) static $table: &[$crate::native::table::Call] = &[$($($crate::native::table::Call {
            name: stringify!($name),
            effect: $crate::native::table::$effect,
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
pub(super) const acting: Effect = Effect::Acts;
#[allow(non_upper_case_globals, reason = "a word of the tables")]
pub(super) const quiet: Effect = Effect::None;
#[allow(non_upper_case_globals, reason = "a word of the tables")]
pub(super) const recording: Effect = Effect::Records;
