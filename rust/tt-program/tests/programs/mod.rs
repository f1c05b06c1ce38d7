//! Programs whose kernels are the test itself.
//!
//! It makes their calls one by one, in the order that it likes.

#![allow(dead_code, reason = "each test file uses its part")]

pub mod compute;

use tt_formats::DataFormat;
use tt_fpu::MathFidelity;
use tt_memory::chip::{ChipSpec, LogicalCore, N150};
use tt_memory::device::OpenOptions;
use tt_memory::{Device, Place};
use tt_perf::{Costs, RiscCosts};
use tt_program::spec::{CbSpec, ComputeConfig, KernelSpec, Risc, SemaphoreSpec};
use tt_program::{Fault, FaultKind, ProgramSpec, Run};

/// Page bytes and pages of CBs 0, 1, ...
///
/// Of every core: two of small pages, then tiles of bfloat16.
pub const CBS: [(u32, u32); 5] = [(64, 4), (64, 3), (2048, 2), (2048, 4), (2048, 8)];

/// A device and a run.
///
/// Kernels are numbered in the order in which they are given: cores, then RISCs.
pub struct Program {
    pub device: Device,
    pub run: Run,
}

/// Default build settings of compute kernels in tests.
pub const COMPUTE: ComputeConfig = ComputeConfig {
    fidelity: MathFidelity::HiFi4,
    dst32: false,
    full_sync: false,
    precise: false,
    approximate: false,
    unpack_to_dest: 0,
};

impl Program {
    /// Kernels on cores of the first row of an n150.
    pub fn new(kernels: &[(u32, Risc)]) -> Self {
        Self::configured(&N150, kernels, &COMPUTE)
    }

    /// The same on any chip, with any compute kernels.
    pub fn configured(chip: &'static ChipSpec, kernels: &[(u32, Risc)], compute: &ComputeConfig) -> Self {
        Self::on(Device::open(chip, OpenOptions::default()).expect("a device"), kernels, compute)
    }

    /// The same on an n150 without checks of correctness mistakes.
    ///
    /// They only cost correctness.
    pub fn unwatched(kernels: &[(u32, Risc)]) -> Self {
        let mut device = Device::open(&N150, OpenOptions::default()).expect("a device");
        device.set_watched(false);
        Self::on(device, kernels, &COMPUTE)
    }

    fn on(mut device: Device, kernels: &[(u32, Risc)], compute: &ComputeConfig) -> Self {
        let mut columns: Vec<u32> = kernels.iter().map(|&(x, _)| x).collect();
        columns.dedup();
        let base = device.l1_base() as u32;
        let mut spec = ProgramSpec::default();
        for core in columns.into_iter().map(|x| LogicalCore { x, y: 0 }) {
            for (index, (page_bytes, pages)) in CBS.into_iter().enumerate() {
                let address = base + CBS[..index].iter().map(|(page, pages)| page * pages).sum::<u32>();
                spec.cbs.push(CbSpec {
                    core,
                    index: index as u8,
                    address,
                    page_bytes,
                    pages,
                    format: DataFormat::Float16B,
                    tile: (32, 32),
                    borrowed: false,
                });
            }
            spec.semaphores.extend([0, 2].map(|id| SemaphoreSpec { core, id, initial: u32::from(id) }));
        }
        spec.kernels.extend(kernels.iter().map(|&(x, risc)| KernelSpec {
            core: LogicalCore { x, y: 0 },
            risc,
            name: format!("{}_{x}", risc.name()),
            noc: 0,
            args: vec![7, 8, 9],
            compute: (risc == Risc::Trisc).then(|| compute.clone()),
        }));
        let run = Run::new(&mut device, &spec).expect("a run");
        Self { device, run }
    }

    /// Makes a call of the kernel with this number.
    pub fn by<T>(&mut self, kernel: usize, call: impl FnOnce(&mut Run, &mut Device) -> T) -> T {
        self.run.current = kernel;
        call(&mut self.run, &mut self.device)
    }

    /// Sets all clocks of a kernel to a time.
    pub fn at(&mut self, kernel: usize, time: u64) {
        self.run.kernels[kernel].clocks = [time; 3];
    }

    /// The first clock of a kernel.
    pub fn clock(&self, kernel: usize) -> u64 {
        self.run.kernels[kernel].clock()
    }

    /// L1 address of a CB.
    pub fn cb(&self, index: usize) -> u32 {
        self.device.l1_base() as u32 + CBS[..index].iter().map(|(page, pages)| page * pages).sum::<u32>()
    }

    /// NoC address of an L1 address in the first core row.
    pub fn noc(&self, x: u32, address: u32) -> u64 {
        let place = self.device.chip().worker_coord(LogicalCore { x, y: 0 }).expect("a core");
        u64::from(place.x) << 36 | u64::from(place.y) << 42 | u64::from(address)
    }

    /// A word of the L1 of a core of the first row.
    pub fn word(&self, x: u32, address: u32) -> u32 {
        let place = Place { dram: false, bank: x as usize, address: address.into() };
        u32::from_le_bytes(self.device.bytes(place, 4).expect("bytes").try_into().expect("a word"))
    }

    /// Fills and pushes pages of a CB.
    pub fn push(&mut self, kernel: usize, cb: u32, pages: u32) {
        self.by(kernel, |run, device| {
            assert_eq!(run.cb_reserve_back(cb, pages), Ok(true));
            let at = run.get_write_ptr(cb).expect("a pointer");
            let bytes = vec![1; (pages * CBS[cb as usize].0) as usize];
            run.store_bytes(device, at, &bytes).expect("a store");
            run.cb_push_back(cb, pages).expect("a push");
        });
    }

    /// Pushes tiles of these bfloat16 words.
    pub fn push_words(&mut self, kernel: usize, cb: u32, words: &[u16]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.by(kernel, |run, device| {
            let pages = bytes.len() as u32 / 2048;
            assert_eq!(run.cb_reserve_back(cb, pages), Ok(true));
            let at = run.get_write_ptr(cb).expect("a pointer");
            run.store_bytes(device, at, &bytes).expect("a store");
            run.cb_push_back(cb, pages).expect("a push");
        });
    }

    /// The bfloat16 words of the first core's L1 from an address on.
    pub fn words(&self, address: u32, count: usize) -> Vec<u16> {
        let place = Place { dram: false, bank: 0, address: address.into() };
        let bytes = self.device.bytes(place, 2 * count).expect("bytes");
        bytes.chunks_exact(2).map(|word| u16::from_le_bytes([word[0], word[1]])).collect()
    }

    /// Waits for pages of a CB and pops them.
    pub fn pop(&mut self, kernel: usize, cb: u32, pages: u32) {
        self.by(kernel, |run, _| {
            assert_eq!(run.cb_wait_front(cb, pages), Ok(true));
            run.cb_pop_front(cb, pages).expect("a pop");
        });
    }
}

/// Returns the costs of calls on an n150.
pub fn costs() -> &'static RiscCosts {
    &Costs::of(N150.arch).risc
}

/// The mistake that a call ends in.
pub fn mistake<T: std::fmt::Debug>(result: Result<T, Fault>) -> FaultKind {
    *result.expect_err("a mistake").what
}
