//! Words of own L1: semaphores, loads and stores through pointers.

use tt_memory::Device;

use crate::calls::Step;
use crate::calls::memory::Use;
use crate::error::{Fault, FaultKind};
use crate::state::Run;
use crate::state::kernel::{Stall, State, Thread, Wait};
use crate::state::time::Target;

impl Run {
    /// L1 address of a semaphore of this core.
    ///
    /// # Errors
    /// [`FaultKind::NoSemaphore`].
    pub fn get_semaphore(&mut self, id: u32) -> Result<u32, Fault> {
        self.checked("get_semaphore", |run| {
            run.book(run.time.risc().l1_load);
            let exist = run.here().1.semaphores;
            if id >= 32 || exist >> id & 1 == 0 {
                let ids: Vec<String> = (0..32).filter(|id| exist >> id & 1 == 1).map(|id| id.to_string()).collect();
                let created = if ids.is_empty() { "none here".to_owned() } else { ids.join(", ") };
                return Err(FaultKind::NoSemaphore { id, created });
            }
            Ok(run.semaphore_address(id))
        })
    }

    fn own_word(&mut self, device: &Device, address: u32, how: Use) -> Result<tt_memory::Place, FaultKind> {
        if !address.is_multiple_of(4) {
            return Err(FaultKind::Misaligned { what: "the address of a word", value: address.into(), alignment: 4 });
        }
        let bank = self.cores[self.kernels[self.current].core].bank;
        self.touch(device, Target::Worker(bank), address.into(), 4, how)
    }

    fn load(&mut self, device: &Device, address: u32) -> Result<u32, FaultKind> {
        let place = self.own_word(device, address, Use::Read)?;
        Ok(u32::from_le_bytes(device.bytes(place, 4)?.try_into().unwrap_or_default()))
    }

    /// Waits until an own L1 word equals, or reaches, a value.
    ///
    /// # Errors
    /// Addresses.
    pub fn noc_semaphore_wait(&mut self, device: &Device, address: u32, value: u32, at_least: bool) -> Step {
        let call = if at_least { "noc_semaphore_wait_min" } else { "noc_semaphore_wait" };
        self.checked(call, |run| {
            let word = run.load(device, address)?;
            let granted = run.kernels[run.current].state == State::Granted;
            if !(granted || word == value || at_least && word >= value) {
                run.block(Wait::Word { address, value, at_least });
                return Ok(false);
            }
            let bank = run.cores[run.kernels[run.current].core].bank;
            run.order_acquire_word(bank, address);
            let time = run.word_seen(bank, address);
            let cost = run.time.risc().semaphore_poll;
            let kernel = &mut run.kernels[run.current];
            if kernel.passed.insert(address, time) == Some(time) && !at_least {
                kernel.unchanged = Some(address);
            }
            kernel.state = State::Ready;
            kernel.wait_until(Thread::Unpack, time, Stall::Semaphore(address));
            kernel.clocks[0] += cost;
            Ok(true)
        })
    }

    /// Sets a semaphore of this core.
    ///
    /// # Errors
    /// As [`Run::store_word`].
    pub fn noc_semaphore_set(&mut self, device: &mut Device, address: u32, value: u32) -> Result<(), Fault> {
        self.named("noc_semaphore_set", |run| run.store_word(device, address, value))
    }

    /// Starts a write of an own L1 word to a semaphore.
    ///
    /// It is one of another core.
    ///
    /// # Errors
    /// As [`Run::noc_async_write`].
    pub fn noc_semaphore_set_remote(&mut self, device: &mut Device, source: u32, target: u64, noc: i32) -> Step {
        self.named("noc_semaphore_set_remote", |run| run.noc_async_write(device, source, target, 4, noc))
    }

    /// Starts a write of an own L1 word to rectangle semaphores.
    ///
    /// `loopback` includes the sender.
    ///
    /// # Errors
    /// As [`Run::noc_async_write_multicast`].
    pub fn noc_semaphore_set_multicast(
        &mut self,
        device: &mut Device,
        source: u32,
        target: u64,
        destinations: u32,
        (loopback, linked): (bool, bool),
        noc: i32,
    ) -> Step {
        let call = ["noc_semaphore_set_multicast", "noc_semaphore_set_multicast_loopback_src"][usize::from(loopback)];
        self.named(call, |run| {
            run.noc_async_write_multicast(device, source, target, 4, destinations, (loopback, linked), noc)
        })
    }

    /// Stores a word in own L1.
    ///
    /// # Errors
    /// Addresses; bytes that are being sent.
    pub fn store_word(&mut self, device: &mut Device, address: u32, value: u32) -> Result<(), Fault> {
        self.checked("an L1 store", |run| {
            let place = run.own_word(device, address, Use::Write)?;
            run.check_not_sending(address, 4)?;
            run.order_write(place, 4)?;
            device.bytes_mut(place, 4)?.copy_from_slice(&value.to_le_bytes());
            let cost = run.time.risc().l1_store;
            let kernel = &mut run.kernels[run.current];
            kernel.clocks[0] += cost;
            let now = kernel.clock();
            run.word_changed(place.bank, address, now);
            run.l1_changed(device, place.bank, address, address + 4, now)
        })
    }

    /// Loads a word of own L1.
    ///
    /// `None`: the kernel polls a word that nobody changes, and has to wait.
    ///
    /// # Errors
    /// Addresses; data of a read in flight.
    pub fn load_word(&mut self, device: &Device, address: u32) -> Result<Option<u32>, Fault> {
        self.checked("an L1 load", |run| {
            run.check_arrived(address, 4)?;
            let value = run.load(device, address)?;
            let cost = run.time.risc().l1_load;
            run.kernels[run.current].clocks[0] += cost;
            run.kernels[run.current].state = State::Ready;
            if run.polls(address, value) {
                return Ok(None);
            }
            let place = run.own_place(address);
            run.word_seen(place.bank, address);
            run.order_load(place)?;
            Ok(Some(value))
        })
    }

    /// Bytes of own L1, for whoever works on whole pages.
    ///
    /// # Errors
    /// Addresses; data of a read in flight.
    pub fn load_bytes<'a>(&mut self, device: &'a Device, address: u32, bytes: u32) -> Result<&'a [u8], Fault> {
        self.checked("an L1 load", |run| {
            run.check_arrived(address, bytes)?;
            let bank = run.cores[run.kernels[run.current].core].bank;
            let place = run.touch(device, Target::Worker(bank), address.into(), bytes.into(), Use::Read)?;
            run.order_read(place, bytes)?;
            run.kernels[run.current].clocks[0] += run.time.risc().l1_load * u64::from(bytes.div_ceil(4));
            Ok(device.bytes(place, bytes as usize)?)
        })
    }

    /// Stores bytes in own L1.
    ///
    /// # Errors
    /// Addresses; bytes that are being sent.
    pub fn store_bytes(&mut self, device: &mut Device, address: u32, data: &[u8]) -> Result<(), Fault> {
        self.checked("an L1 store", |run| {
            let bytes = data.len() as u32;
            run.check_not_sending(address, bytes)?;
            let bank = run.cores[run.kernels[run.current].core].bank;
            let place = run.touch(device, Target::Worker(bank), address.into(), bytes.into(), Use::Write)?;
            run.order_write(place, bytes)?;
            device.bytes_mut(place, data.len())?.copy_from_slice(data);
            run.kernels[run.current].clocks[0] += run.time.risc().l1_store * u64::from(bytes.div_ceil(4));
            let now = run.kernels[run.current].clock();
            run.l1_changed(device, bank, address, address + bytes, now)
        })
    }
}
