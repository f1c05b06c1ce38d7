//! Programs of compiled kernels in the test kit's assembler.

#![allow(dead_code, reason = "each test file uses its part")]

use std::sync::Arc;

use tt_formats::DataFormat;
use tt_fpu::MathFidelity;
use tt_memory::Device;
use tt_memory::chip::{LogicalCore, N150};
use tt_memory::device::OpenOptions;
use tt_program::native::{Kernels, NativeSpec, Next, names};
use tt_program::spec::{CbSpec, ComputeConfig, KernelSpec, Risc, SemaphoreSpec};
use tt_program::{Fault, ProgramSpec, Run};
use tt_riscv::Image;
use tt_testkit::riscv::{ECALL, addi, elf, li};

pub const CORE: LogicalCore = LogicalCore { x: 0, y: 0 };
pub const A0: u32 = 10;
/// Registers that calls leave alone.
pub const S: [u32; 4] = [18, 19, 20, 21];
pub const T0: u32 = 5;
pub const T1: u32 = 6;

/// A kernel under construction.
#[derive(Default, Clone)]
pub struct Source {
    pub text: Vec<u32>,
    pub data: Vec<u8>,
    pub symbols: Vec<(&'static str, u32)>,
}

impl Source {
    pub fn put(mut self, words: &[u32]) -> Self {
        self.text.extend(words);
        self
    }

    pub fn load(self, register: u32, value: u32) -> Self {
        self.put(&li(register, value))
    }

    /// A call with constants, or with a register: `Err(register)`.
    pub fn call(mut self, name: &str, arguments: &[Result<u32, u32>]) -> Self {
        for (place, argument) in (A0..).zip(arguments) {
            self = match argument {
                Ok(value) => self.load(place, *value),
                Err(register) => self.put(&[addi(place, *register, 0)]),
            };
        }
        let number = names().iter().position(|other| *other == name).unwrap_or_else(|| panic!("{name} is a call"));
        self.load(T0, number as u32).put(&[ECALL])
    }

    pub fn with(self, name: &str, arguments: &[u32]) -> Self {
        let arguments: Vec<_> = arguments.iter().map(|&value| Ok(value)).collect();
        self.call(name, &arguments)
    }

    /// Moves the result of the last call into a register.
    pub fn keep(self, register: u32) -> Self {
        self.put(&[addi(register, A0, 0)])
    }

    pub fn end(self) -> Self {
        self.with("finish", &[])
    }
}

pub fn source() -> Source {
    Source::default()
}

/// A device and the run of a program of one core.
///
/// CB 0 of four pages of 64 B, CB 1 of two tiles, semaphore 0.
pub struct Program {
    pub device: Device,
    pub run: Run,
    pub kernels: Kernels,
    pub cb: u32,
    pub semaphore: u32,
}

impl Program {
    pub fn new(sources: &[(Risc, Source)], args: &[u32], limit: u64) -> Self {
        let mut device = Device::open(&N150, OpenOptions::default()).expect("a device");
        let cb = device.l1_base() as u32;
        let kernel = |(risc, _): &(Risc, Source)| KernelSpec {
            core: CORE,
            risc: *risc,
            name: risc.name().to_owned(),
            noc: 0,
            args: args.to_vec(),
            compute: (*risc == Risc::Trisc).then_some(ComputeConfig {
                fidelity: MathFidelity::HiFi4,
                dst32: false,
                full_sync: false,
                precise: false,
                approximate: false,
                unpack_to_dest: 0,
            }),
        };
        let spec = ProgramSpec {
            cbs: [(0, cb, 64, 4), (1, cb + 256, 2048, 2)]
                .map(|(index, address, page_bytes, pages)| CbSpec {
                    core: CORE,
                    index,
                    address,
                    page_bytes,
                    pages,
                    format: DataFormat::Float16B,
                    tile: (32, 32),
                    borrowed: false,
                })
                .to_vec(),
            semaphores: vec![SemaphoreSpec { core: CORE, id: 0, initial: 0 }],
            kernels: sources.iter().map(kernel).collect(),
            trace: false,
        };
        let mut run = Run::new(&mut device, &spec).expect("a run");
        let native = |(kernel, (_, source)): (usize, &(Risc, Source))| NativeSpec {
            kernel,
            image: Arc::new(Image::new(elf(&source.text, &source.data, &source.symbols)).expect("an image")),
            own_args: args.len().saturating_sub(1) as u32,
            limit,
            headers: "/headers".to_owned(),
            relative: (0, 0),
        };
        let natives = sources.iter().enumerate().map(native).collect();
        let kernels = Kernels::new(&mut run, natives).expect("kernels");
        let semaphore = run.semaphore_address(0);
        Self { device, run, kernels, cb, semaphore }
    }

    pub fn go(&mut self) -> Result<Next, Fault> {
        match self.run.schedule() {
            Some(_) => self.kernels.go_on(&mut self.run, &mut self.device),
            None => Ok(Next::Nobody),
        }
    }

    pub fn finish(mut self) -> Self {
        assert_eq!(self.go().map_err(|fault| fault.to_string()), Ok(Next::Nobody));
        assert!(self.run.is_finished(), "{:?}", self.run.kernels.iter().map(|kernel| kernel.state).collect::<Vec<_>>());
        self
    }
}

/// Addresses that every program has.
pub fn places() -> (u32, u32) {
    let program = Program::new(&[], &[], u64::MAX);
    (program.cb, program.semaphore)
}

/// A core's L1 word after some kernels have run.
pub fn word_after(sources: &[(Risc, Source)], address: u32) -> u32 {
    let program = Program::new(sources, &[], 1 << 30).finish();
    let place = tt_memory::Place { dram: false, bank: 0, address: address.into() };
    u32::from_le_bytes(program.device.bytes(place, 4).expect("bytes").try_into().expect("a word"))
}

pub fn fault_of(sources: &[(Risc, Source)]) -> Fault {
    Program::new(sources, &[], 1 << 20).go().expect_err("a mistake")
}
