//! Single words that go over the NoC.
//!
//! Inline writes and counts of semaphores.

use tt_memory::Device;
use tt_noc::Transfer;

use crate::calls::Step;
use crate::calls::memory::Use;
use crate::error::FaultKind;
use crate::state::Run;
use crate::state::kernel::{Stall, Thread};
use crate::state::time::Target;
use crate::state::time::{Naming, Time};

impl Run {
    /// Writes one word somewhere else.
    ///
    /// Of its bytes those whose bit in `enabled` is set.
    ///
    /// # Errors
    /// Addresses, a mask without bytes or with more than four.
    pub fn noc_inline_dw_write(
        &mut self,
        device: &mut Device,
        target: u64,
        value: u32,
        enabled: u32,
        noc: i32,
    ) -> Step {
        self.in_turn("noc_inline_dw_write", |run| {
            if enabled == 0 || enabled > 0xf {
                return Err(FaultKind::Argument(format!("byte enables {enabled:#x}; a word has bytes 0x1 to 0xf")));
            }
            let noc = run.network(noc)?;
            let (owner, address, times) = run.word_transfer(target, noc, Time::inline_write)?;
            let to = run.touch(device, owner, address, 4, Use::Write)?;
            if !to.dram {
                run.order_replace(to)?;
            }
            let bytes = device.bytes_mut(to, 4)?;
            for (byte, (old, new)) in bytes.iter_mut().zip(value.to_le_bytes()).enumerate() {
                if enabled >> byte & 1 == 1 {
                    *old = new;
                }
            }
            let kernel = &mut run.kernels[run.current];
            let trid = kernel.transfers.write_trid[noc as usize];
            kernel.transfers.unacknowledged.push((noc, trid, times.acknowledged));
            run.word_arrives(device, owner, address, noc, times.arrived)?;
            Ok(true)
        })
    }

    /// Adds to a word of another core (or the own one).
    ///
    /// # Errors
    /// Addresses; DRAM has no atomics.
    pub fn noc_semaphore_inc(&mut self, device: &mut Device, target: u64, value: u32, noc: i32) -> Step {
        self.in_turn("noc_semaphore_inc", |run| {
            let noc = run.network(noc)?;
            let (owner, address, times) = run.word_transfer(target, noc, Time::atomic)?;
            if let Target::Dram(bank) = owner {
                let text = format!("DRAM bank {bank} has no atomics; semaphores are in L1");
                return Err(FaultKind::Argument(text));
            }
            let to = run.touch(device, owner, address, 4, Use::Write)?;
            let word = device.bytes_mut(to, 4)?;
            let old = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            word.copy_from_slice(&old.wrapping_add(value).to_le_bytes());
            run.kernels[run.current].transfers.atomics.push((noc, times.acknowledged));
            run.word_arrives(device, owner, address, noc, times.arrived)?;
            Ok(true)
        })
    }

    fn word_transfer(
        &mut self,
        target: u64,
        noc: u8,
        transfer: impl FnOnce(&mut Time, u8, usize, Target, u64) -> Transfer,
    ) -> Result<(Target, u64, Transfer), FaultKind> {
        let (owner, address) = self.locate(target)?;
        if !address.is_multiple_of(4) {
            return Err(FaultKind::Misaligned { what: "the address of a word", value: address, alignment: 4 });
        }
        let at = self.give_command(Naming::Address);
        let bank = self.own_bank();
        let times = transfer(&mut self.time, noc, bank, owner, at);
        self.kernels[self.current].wait_until(Thread::Unpack, times.issued, Stall::Issue);
        Ok((owner, address, times))
    }

    fn word_arrives(
        &mut self,
        device: &Device,
        owner: Target,
        address: u64,
        noc: u8,
        time: u64,
    ) -> Result<(), FaultKind> {
        if let Target::Worker(bank) = owner {
            self.order_signal(bank, address as u32, noc);
            self.word_changed(bank, address as u32, time);
            self.l1_changed(device, bank, address as u32, address as u32 + 4, time)?;
        }
        Ok(())
    }
}
