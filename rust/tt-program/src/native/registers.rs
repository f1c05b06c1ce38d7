//! Addresses past L1: the clock, counters of circular buffers, and unsupported registers.

use crate::error::FaultKind;
use crate::state::Run;
use crate::state::kernel::Wait;

/// Words of the clock.
const CLOCK_LOW: u32 = 0xFFB1_21F0;
const CLOCK_HIGH: u32 = 0xFFB1_21F8;
/// Overlay registers, one block per CB, and the two of them that count its pages.
const OVERLAY: u32 = 0xFFB4_0000;
const OVERLAY_BLOCK: u32 = 0x1000;
const ACKED: u32 = 8 * 4;
const RECEIVED: u32 = 10 * 4;

/// First address, one past the last, name, and what to use instead.
const REFUSED: &[(u32, u32, &str, &str)] = &[
    (0xFFB1_2000, 0xFFB1_3000, "debug registers", "the wall clock is the one that can be read"),
    (0xFFB2_0000, 0xFFB3_0000, "registers of NoC 0", "noc_async_read, noc_async_write and their like"),
    (0xFFB3_0000, 0xFFB4_0000, "registers of NoC 1", "noc_async_read, noc_async_write and their like"),
    (0xFFB4_0000, 0xFFB8_0000, "overlay registers (streams)", "circular buffers and semaphores"),
    (0xFFE0_0000, 0xFFE4_0000, "the Tensix GPRs", "functions of the compute API"),
    (0xFFE4_0000, 0xFFE8_0000, "the Tensix instruction FIFO", "functions of the compute API"),
    (0xFFE8_0000, 0xFFEC_0000, "PCBufs and Tensix semaphores", "functions of the compute API"),
    (0xFFEC_0000, 0xFFEF_0000, "mailboxes between the RISCs", "circular buffers and semaphores"),
    (0xFFEF_0000, 0xFFF0_0000, "the Tensix configuration", "functions of the compute API"),
];

/// Why an access outside of L1, local RAM and text is none.
pub(super) fn refuse(address: u32, bytes: u32) -> FaultKind {
    match REFUSED.iter().find(|(start, end, ..)| (*start..*end).contains(&address)) {
        Some((_, _, name, instead)) => {
            FaultKind::Unsupported(format!("address {address:#x} is one of {name}, which are not simulated: {instead}"))
        }
        None => FaultKind::NoMemory { address, bytes },
    }
}

impl Run {
    /// A register, and what a loop that waits for another value waits for.
    pub(super) fn load_register(
        &mut self,
        now: u64,
        address: u32,
        bytes: u32,
    ) -> Result<(u32, Option<Wait>), FaultKind> {
        match address {
            CLOCK_LOW => return Ok((now as u32, None)),
            CLOCK_HIGH => return Ok(((now >> 32) as u32, None)),
            _ => {}
        }
        let offset = address.wrapping_sub(OVERLAY);
        let (cb, register) = (offset / OVERLAY_BLOCK, offset % OVERLAY_BLOCK);
        if cb >= self.chip.circular_buffers || !matches!(register, ACKED | RECEIVED) {
            return Err(refuse(address, bytes));
        }
        let current = self.current;
        let buffer = self.ring(cb)?;
        Ok(if register == ACKED {
            (buffer.popped as u16 as u32, Some(Wait::Back { cb, pages: buffer.free_to(current) + 1 }))
        } else {
            (buffer.pushed as u16 as u32, Some(Wait::Front { cb, pages: buffer.available_to(current) + 1 }))
        })
    }
}
