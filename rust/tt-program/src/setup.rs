//! State before the first kernel starts.
//!
//! Cores, circular buffers, kernels, semaphores and arguments in L1.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use tt_memory::chip::{ChipSpec, LogicalCore};
use tt_memory::{Device, Place};

use crate::error::FaultKind;
use crate::spec::ProgramSpec;
use crate::state::cb::Cb;
use crate::state::compute::Compute;
use crate::state::core::{Core, Shadow};
use crate::state::kernel::{Kernel, State, Transfers};
use crate::state::order::Order;
use crate::state::time::Target;
use crate::state::time::Time;
use crate::state::{ARGUMENT_BYTES, NO_CORE, Run};

impl Run {
    /// Prepares the first kernel; writes semaphores and arguments to L1.
    ///
    /// # Errors
    /// Cores outside the grid and addresses outside L1, which the host layer must not let through.
    pub fn new(device: &mut Device, spec: &ProgramSpec) -> Result<Self, FaultKind> {
        let chip = device.chip();
        let l1_base = device.l1_base();
        let mut run = Self {
            chip,
            cores: Vec::new(),
            core_of_bank: vec![NO_CORE; chip.grid.cores()],
            kernels: Vec::new(),
            current: 0,
            queue: BinaryHeap::new(),
            limit: u64::MAX,
            time: Time::new(chip),
            places: places(chip),
            l1_base,
            watched: device.is_watched(),
            words: BTreeMap::new(),
            finished: 0,
            order: None,
            events: spec.trace.then(Vec::new),
            called: None,
            idle: 0,
            behind: 0,
            catching_up: false,
            fabric: None,
            guest: false,
        };
        run.add_cores(spec)?;
        run.add_kernels(spec)?;
        run.write_semaphores(device, spec)?;
        run.write_arguments(device, spec)?;
        if !run.watched {
            run.unwatch_buffers();
        }
        if run.watched {
            run.order = Some(Order::new(run.kernels.len(), chip.dram_banks(), chip.grid.cores()));
        }
        Ok(run)
    }

    fn add_cores(&mut self, spec: &ProgramSpec) -> Result<(), FaultKind> {
        let mut used: Vec<LogicalCore> = spec.kernels.iter().map(|kernel| kernel.core).collect();
        used.extend(spec.cbs.iter().map(|cb| cb.core));
        used.extend(spec.semaphores.iter().map(|semaphore| semaphore.core));
        used.sort_unstable_by_key(|core| (core.y, core.x));
        used.dedup();
        for logical in used {
            let outside = || FaultKind::Bug(format!("core {}-{} is outside the grid", logical.x, logical.y));
            let bank = self.chip.l1_bank(logical).ok_or_else(outside)?;
            let noc = self.chip.worker_coord(logical).ok_or_else(outside)?;
            self.core_of_bank[bank] = self.cores.len() as u16;
            let cbs = (0..self.chip.circular_buffers).map(|_| None).collect();
            let (kernels, shadow) = (Vec::new(), Shadow::default());
            self.cores.push(Core { logical, noc, bank, cbs, bare: Vec::new(), semaphores: 0, kernels, shadow });
        }
        for cb in &spec.cbs {
            let buffer = Cb::new(cb);
            if u64::from(cb.address) + u64::from(cb.pages) * u64::from(cb.page_bytes) > self.chip.l1_bytes {
                return Err(FaultKind::Bug(format!("CB {} ends beyond L1", cb.index)));
            }
            let core = self.core_mut(cb.core)?;
            let Some(slot) = core.cbs.get_mut(cb.index as usize) else {
                return Err(FaultKind::Bug(format!("the chip has no CB {}", cb.index)));
            };
            *slot = Some(Box::new(buffer));
        }
        for core in &mut self.cores {
            let base = core.all_cbs().map(|cb| cb.address).min().unwrap_or(0);
            let end = core.all_cbs().map(Cb::end).max().unwrap_or(0);
            core.shadow = Shadow::new(base, end);
            let places: Vec<(u32, u32)> = core.all_cbs().map(|cb| (cb.address, cb.end())).collect();
            for cb in core.cbs.iter_mut().flatten() {
                let overlap = places.iter().filter(|(start, end)| *start < cb.end() && cb.address < *end);
                cb.shared = overlap.count() > 1;
            }
        }
        Ok(())
    }

    fn unwatch_buffers(&mut self) {
        for slot in 0..self.cores.len() {
            let kernels = self.compute_kernels(slot);
            for cb in self.cores[slot].cbs.iter_mut().flatten() {
                cb.unwatch(&kernels);
            }
        }
    }

    fn add_kernels(&mut self, spec: &ProgramSpec) -> Result<(), FaultKind> {
        let mut order: Vec<usize> = (0..spec.kernels.len()).collect();
        order.sort_by_key(|&index| {
            let kernel = &spec.kernels[index];
            (kernel.core.y, kernel.core.x, kernel.risc)
        });
        if !order.is_sorted() {
            return Err(FaultKind::Bug("kernels are not in the order of cores and RISCs".into()));
        }
        let (skew, last) = (self.time.launch().core_skew, self.cores.len().saturating_sub(1).max(1) as u64);
        for kernel in &spec.kernels {
            let index = self.kernels.len();
            self.core_mut(kernel.core)?.kernels.push(index);
            let bank = self.chip.l1_bank(kernel.core).unwrap_or(0);
            // Cores do not start at once: the last of them `core_skew` cycles after the first.
            let start = u64::from(self.core_of_bank[bank]) * skew / last;
            self.kernels.push(Kernel {
                core: self.core_of_bank[bank] as usize,
                logical: kernel.core,
                risc: kernel.risc,
                name: kernel.name.clone(),
                noc: kernel.noc,
                args: kernel.args.len() as u32,
                state: State::Ready,
                clocks: [start; 3],
                transfers: Transfers::default(),
                compute: kernel.compute.as_ref().map(|config| Box::new(Compute::new(config, self.chip.arch))),
                stalls: BTreeMap::new(),
                woken: 0,
                compiled: false,
                polled: (u32::MAX, 0, 0),
                passed: BTreeMap::new(),
                unchanged: None,
                calls: 0,
            });
            self.queue.push(Reverse((start, index)));
        }
        Ok(())
    }

    fn write_semaphores(&mut self, device: &mut Device, spec: &ProgramSpec) -> Result<(), FaultKind> {
        for semaphore in &spec.semaphores {
            let address = self.semaphore_address(u32::from(semaphore.id));
            let core = self.core_mut(semaphore.core)?;
            core.semaphores |= 1 << semaphore.id;
            let place = Place { dram: false, bank: core.bank, address: u64::from(address) };
            device.bytes_mut(place, 4)?.copy_from_slice(&semaphore.initial.to_le_bytes());
        }
        Ok(())
    }

    fn write_arguments(&self, device: &mut Device, spec: &ProgramSpec) -> Result<(), FaultKind> {
        for kernel in &spec.kernels {
            let bytes: Vec<u8> = kernel.args.iter().flat_map(|word| word.to_le_bytes()).collect();
            if bytes.len() as u64 > ARGUMENT_BYTES {
                return Err(FaultKind::Bug(format!("{} runtime arguments", kernel.args.len())));
            }
            let address = u64::from(self.first_argument(kernel.risc));
            let bank = self.chip.l1_bank(kernel.core).unwrap_or(0);
            device.bytes_mut(Place { dram: false, bank, address }, bytes.len())?.copy_from_slice(&bytes);
        }
        Ok(())
    }

    fn core_mut(&mut self, core: LogicalCore) -> Result<&mut Core, FaultKind> {
        let slot = self.chip.l1_bank(core).map_or(NO_CORE, |bank| self.core_of_bank[bank]);
        self.cores.get_mut(slot as usize).ok_or_else(|| FaultKind::Bug(format!("no core {}-{}", core.x, core.y)))
    }
}

fn places(chip: &ChipSpec) -> Vec<Option<Target>> {
    let mut places = vec![None; 64 * 64];
    for (bank, coord) in chip.dram_cores.iter().enumerate() {
        places[(coord.y * 64 + coord.x) as usize] = Some(Target::Dram(bank));
    }
    for bank in 0..chip.grid.cores() {
        if let Some(coord) = chip.l1_bank_core(bank).and_then(|core| chip.worker_coord(core)) {
            places[(coord.y * 64 + coord.x) as usize] = Some(Target::Worker(bank));
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use tt_formats::DataFormat;
    use tt_memory::chip::N150;
    use tt_memory::device::OpenOptions;

    use super::*;
    use crate::spec::{CbSpec, KernelSpec, Risc, SemaphoreSpec};

    const CORE: LogicalCore = LogicalCore { x: 1, y: 0 };

    fn kernel(core: LogicalCore, risc: Risc, args: usize) -> KernelSpec {
        KernelSpec { core, risc, name: String::new(), noc: 0, args: vec![0; args], compute: None }
    }

    fn cb(index: u8, address: u32, pages: u32) -> CbSpec {
        let (page_bytes, format, tile) = (16, DataFormat::Float16B, (32, 32));
        CbSpec { core: CORE, index, address, page_bytes, pages, format, tile, borrowed: false }
    }

    /// What a specification that the host layer must not let through is refused with.
    fn refused(spec: &ProgramSpec) -> Option<String> {
        let mut device = Device::open(&N150, OpenOptions::default()).expect("a device");
        match Run::new(&mut device, spec) {
            Ok(_) => None,
            Err(FaultKind::Bug(text)) => Some(text),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_the_host_must_not_let_through_is_a_bug() {
        let empty = ProgramSpec::default;
        let with_cb = |cb| ProgramSpec { cbs: vec![cb], ..empty() };
        let top = N150.l1_bytes as u32 - 32;
        assert_eq!(refused(&with_cb(cb(31, top, 2))), None);
        assert_eq!(refused(&with_cb(cb(31, top, 3))), Some("CB 31 ends beyond L1".to_owned()));
        assert_eq!(refused(&with_cb(cb(32, top, 2))), Some("the chip has no CB 32".to_owned()));
        let with = |kernels| ProgramSpec { kernels, ..empty() };
        assert_eq!(refused(&with(vec![kernel(CORE, Risc::Brisc, 384)])), None);
        let many = refused(&with(vec![kernel(CORE, Risc::Brisc, 385)]));
        assert_eq!(many, Some("385 runtime arguments".to_owned()));
        let at = |x, y| LogicalCore { x, y };
        let kernels = |places: &[(u32, u32, Risc)]| {
            refused(&with(places.iter().map(|&(x, y, risc)| kernel(at(x, y), risc, 0)).collect()))
        };
        let order = Some("kernels are not in the order of cores and RISCs".to_owned());
        assert_eq!(kernels(&[(1, 0, Risc::Brisc), (1, 0, Risc::Trisc), (0, 1, Risc::Brisc)]), None);
        assert_eq!(kernels(&[(1, 0, Risc::Ncrisc), (1, 0, Risc::Brisc)]), order);
        assert_eq!(kernels(&[(0, 1, Risc::Brisc), (1, 0, Risc::Brisc)]), order);
        assert_eq!(kernels(&[(8, 0, Risc::Brisc)]), Some("core 8-0 is outside the grid".to_owned()));
    }

    #[test]
    fn written_bits_cover_all_circular_buffers_of_a_core() {
        let mut device = Device::open(&N150, OpenOptions::default()).expect("a device");
        let base = N150.l1_base as u32;
        let spec = ProgramSpec {
            cbs: vec![cb(3, base + 4096, 128), cb(1, base + 1024, 64)],
            semaphores: vec![
                SemaphoreSpec { core: CORE, id: 3, initial: 5 },
                SemaphoreSpec { core: CORE, id: 5, initial: 6 },
            ],
            ..ProgramSpec::default()
        };
        let mut run = Run::new(&mut device, &spec).expect("a run");
        let core = &mut run.cores[0];
        assert_eq!((core.logical, core.bank, core.semaphores), (CORE, 1, 1 << 3 | 1 << 5));
        core.shadow.set(base, base + 8192);
        assert!(core.shadow.all(base + 1024, base + 4096 + 2048));
        assert!(!core.shadow.any(base, base + 1024));
        let numbers: Vec<u32> = core.all_cbs().map(|cb| cb.index).collect();
        assert_eq!(numbers, [1, 3]);
        for (offset, index) in
            [(1023, None), (1024, Some(1)), (2047, Some(1)), (2048, None), (4096, Some(3)), (6144, None)]
        {
            assert_eq!(core.cb_at(base + offset).map(|cb| cb.index), index, "{offset}");
        }
        let word = |address: u32| {
            let place = Place { dram: false, bank: 1, address: u64::from(address) };
            device.bytes(place, 4).map(<[u8]>::to_vec)
        };
        assert_eq!(word(run.semaphore_address(3)), Ok(vec![5, 0, 0, 0]));
        assert_eq!(word(run.semaphore_address(5)), Ok(vec![6, 0, 0, 0]));
    }
}
