//! Arguments and results of calls, as the calling convention has them.
//!
//! Eight registers, then the stack; a value of 64 bits is two words, the lower first.

use tt_riscv::Hart;

use super::A0;
use crate::error::FaultKind;

/// The words of a call's arguments, in their order.
pub(super) struct Words<'a> {
    hart: &'a Hart,
    next: u32,
}

const SP: u8 = 2;
const IN_REGISTERS: u32 = 8;

impl<'a> Words<'a> {
    pub(super) fn new(hart: &'a Hart) -> Self {
        Self { hart, next: 0 }
    }

    /// The next argument.
    pub(super) fn take<T: Argument>(&mut self) -> Result<T, FaultKind> {
        T::take(self)
    }

    fn word(&mut self) -> Result<u32, FaultKind> {
        let index = self.next;
        self.next += 1;
        if index < IN_REGISTERS {
            return Ok(self.hart.register(A0 + index as u8));
        }
        let address = self.hart.register(SP).wrapping_add(4 * (index - IN_REGISTERS));
        let word = self.hart.local(address, 4).ok_or(FaultKind::NoMemory { address, bytes: 4 })?;
        Ok(u32::from_le_bytes(word.try_into().unwrap_or_default()))
    }
}

/// What a call takes.
pub(super) trait Argument: Sized {
    fn take(words: &mut Words<'_>) -> Result<Self, FaultKind>;
}

impl Argument for u32 {
    fn take(words: &mut Words<'_>) -> Result<Self, FaultKind> {
        words.word()
    }
}

impl Argument for i32 {
    fn take(words: &mut Words<'_>) -> Result<Self, FaultKind> {
        words.word().map(|word| word as i32)
    }
}

impl Argument for u16 {
    fn take(words: &mut Words<'_>) -> Result<Self, FaultKind> {
        words.word().map(|word| word as u16)
    }
}

impl Argument for bool {
    fn take(words: &mut Words<'_>) -> Result<Self, FaultKind> {
        words.word().map(|word| word != 0)
    }
}

impl Argument for u64 {
    fn take(words: &mut Words<'_>) -> Result<Self, FaultKind> {
        Ok(u64::from(words.word()?) | u64::from(words.word()?) << 32)
    }
}

/// How a call ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reply {
    /// With these results.
    Done(u32, u32),
    /// It has to be made again later.
    Waits,
    /// The kernel has returned.
    Ended,
}

/// The end of a kernel.
pub(super) struct Ended;

/// What a call returns.
pub(super) trait Answer {
    fn reply(self) -> Reply;
}

impl Answer for () {
    fn reply(self) -> Reply {
        Reply::Done(0, 0)
    }
}

impl Answer for u32 {
    fn reply(self) -> Reply {
        Reply::Done(self, 0)
    }
}

impl Answer for u64 {
    fn reply(self) -> Reply {
        Reply::Done(self as u32, (self >> 32) as u32)
    }
}

/// A step that can be completed, or not yet.
impl Answer for bool {
    fn reply(self) -> Reply {
        if self { Reply::Done(0, 0) } else { Reply::Waits }
    }
}

/// A question that is answered, or not yet.
impl Answer for Option<bool> {
    fn reply(self) -> Reply {
        self.map_or(Reply::Waits, |yes| Reply::Done(yes.into(), 0))
    }
}

/// A value that is there, or not yet.
impl Answer for Option<u32> {
    fn reply(self) -> Reply {
        self.map_or(Reply::Waits, |value| Reply::Done(value, 0))
    }
}

/// `None`: its threads have not ended.
impl Answer for Option<Ended> {
    fn reply(self) -> Reply {
        self.map_or(Reply::Waits, |Ended| Reply::Ended)
    }
}
