//! A baby RISC-V core of a Tensix core.
//!
//! ELF images, decoder, interpreter of RV32IM, and the time of its instructions.
//!
//! A [`Hart`] runs the [`Code`] of an [`Image`] until something happens that is not its business: an `ecall`, an access
//! that its [`Memory`] does not answer at once, a budget that is used up, a [`Trap`]. Whoever runs it deals with that
//! and lets it go on. It knows its own local RAM and the text of its image; what else an address means is for others
//! to say, and so is what a call does.
//!
//! Where the hardware is silent about a mistake (it rounds misaligned addresses down) the hart is not.

mod code;
mod hart;
mod image;
mod lines;
mod time;

pub use code::Code;
pub use hart::{Exit, Hart, Memory, Trap};
pub use image::{Image, ImageError};
pub use lines::SourceLine;

/// First address of local RAM.
pub const LOCAL_BASE: u32 = 0xFFB0_0000;
/// Bytes of local RAM.
///
/// Data from the bottom, the stack at the top.
pub const LOCAL_BYTES: u32 = 64 << 10;
/// Bytes of the stack.
pub const STACK_BYTES: u32 = 16 << 10;
/// First address of the text.
pub const TEXT_BASE: u32 = 0xA000_0000;
/// Most bytes of text.
pub const TEXT_BYTES: u32 = 1 << 20;
