//! What there is before the first kernel starts: cores, circular buffers, kernels, semaphores and arguments in L1.

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
    /// Sets up everything for the first kernel, and writes semaphores and arguments to L1.
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
        };
        run.add_cores(spec)?;
        run.add_kernels(spec)?;
        run.write_semaphores(device, spec)?;
        run.write_arguments(device, spec)?;
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
            self.cores.push(Core { logical, noc, bank, cbs, semaphores: 0, kernels, shadow });
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
        }
        Ok(())
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
