//! Bytes to a program of reader, compute and writer kernels, and its outcome.
//!
//! Bytes choose formats and sizes of a program that works, then what is changed in it: calls that are left out, made
//! twice, or replaced. Whatever comes of that, every run of it has the same outcome, on any number of threads; none
//! panics, and none goes on for ever.

use tt_cpu::pool;
use tt_formats::{DataFormat, TileShape};
use tt_memory::chip::{LogicalCore, N150};
use tt_memory::device::OpenOptions;
use tt_memory::{BufferId, BufferType, Device, MemoryError};
use tt_program::calls::compute::{Copying, Math, VectorCall};
use tt_program::calls::noc::{Barrier, Page};
use tt_program::spec::{CbSpec, ComputeConfig, KernelSpec, Risc, SemaphoreSpec};
use tt_program::state::kernel::{Event, State};
use tt_program::{Class, Fault, ProgramSpec, Run};
use tt_tensix::fpu::{Broadcast, EltwiseOp, MathFidelity, PoolOp, ReduceDim};

/// Circular buffers of the core: two for operands, one for results.
const CBS: [u8; 3] = [0, 1, 16];
const FORMATS: [DataFormat; 4] = [DataFormat::Float16B, DataFormat::Float32, DataFormat::Bfp8B, DataFormat::UInt16];
/// Turns after which a program counts as one that never ends: each ends a kernel, blocks it or moves it on.
const MOST_TURNS: usize = 100_000;

/// The core that everything runs on.
const CORE: LogicalCore = LogicalCore { x: 0, y: 0 };

/// A call of a kernel. Counts and numbers are as small as bytes make them, and need not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Reserve(u32, u32),
    Push(u32, u32),
    Wait(u32, u32),
    Pop(u32, u32),
    /// Page of an input, to the back of a CB; so many bytes less than the page has.
    ReadPage(u32, u32, u32),
    /// Page of the output, from the front of a CB; likewise.
    WritePage(u32, u32, u32),
    Barrier(Barrier),
    Increment(u32),
    WaitSemaphore(u32, u32),
    Load(u32),
    Store(u32, u32),
    Startup(u32, u32, u32),
    Init(Math),
    Acquire,
    Commit,
    WaitDst,
    Release,
    Copy(u32, u32, u32),
    Eltwise(EltwiseOp, u32, u32),
    Matmul(u32, u32),
    Reduce(u32, u32),
    InitSfpu(bool),
    Sfpu(bool, u32),
    Pack(u32, u32),
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// Every kernel returned.
    Done,
    /// Nobody could go on: what each kernel waits for.
    Deadlock(Vec<State>),
    /// A kernel made a mistake.
    Fault(Fault),
}

/// Everything that a run leaves behind.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// When.
    pub cycles: u64,
    /// The pages of the output.
    pub output: Vec<u8>,
    /// What happened when.
    pub events: Vec<Event>,
}

/// Numbers from bytes, zeros after the last one.
struct Bytes<'a>(std::slice::Iter<'a, u8>);

impl Bytes<'_> {
    fn below(&mut self, end: u32) -> u32 {
        u32::from(self.0.next().copied().unwrap_or(0)) % end
    }

    fn any(&mut self) -> bool {
        self.below(2) == 1
    }
}

/// A program: its formats and sizes, and what its three kernels call.
struct Program {
    formats: [DataFormat; 3],
    pages: u32,
    dst32: bool,
    full_sync: bool,
    kernels: [Vec<Call>; 3],
}

impl Program {
    fn new(bytes: &[u8]) -> Self {
        let mut bytes = Bytes(bytes.iter());
        let operand = FORMATS[bytes.below(3) as usize];
        let mut program = Self {
            formats: [operand, operand, operand],
            pages: 1 + bytes.below(4),
            dst32: bytes.any(),
            full_sync: bytes.any(),
            kernels: Default::default(),
        };
        let step = bytes.below(6);
        program.kernels = pipeline(step, 1 + bytes.below(3));
        if bytes.0.len() > 0 {
            program.formats[2] = FORMATS[bytes.below(4) as usize];
        }
        while bytes.0.len() > 0 {
            let kernel = bytes.below(3) as usize;
            let calls = &mut program.kernels[kernel];
            let place = bytes.below(1 + calls.len() as u32) as usize;
            match bytes.below(4) {
                0 if place < calls.len() => drop(calls.remove(place)),
                1 if place < calls.len() => calls.insert(place, calls[place]),
                2 if place < calls.len() => calls[place] = call(&mut bytes),
                _ => calls.insert(place, call(&mut bytes)),
            }
        }
        program
    }
}

/// Reader, writer and compute kernel that work on so many pages together.
fn pipeline(step: u32, pages: u32) -> [Vec<Call>; 3] {
    let (mut reader, mut writer) = (Vec::new(), Vec::new());
    let (math, two) = match step {
        0 => (Math::Copy(Copying::Plain), false),
        1 => (Math::Eltwise { op: EltwiseOp::Add, broadcast: Broadcast::None, accumulate: false }, true),
        2 => (Math::Eltwise { op: EltwiseOp::Mul, broadcast: Broadcast::None, accumulate: false }, true),
        3 => (Math::Matmul { transpose: false, block: None }, true),
        4 => (Math::Reduce { pool: PoolOp::Sum, dim: ReduceDim::Row }, true),
        _ => (Math::Copy(Copying::Transposed), false),
    };
    let mut compute = vec![Call::Startup(0, u32::from(two), 16), Call::Init(math)];
    let operands = if two { &[0, 1][..] } else { &[0] };
    for page in 0..pages {
        for &cb in operands {
            reader.extend([Call::Reserve(cb, 1), Call::ReadPage(page, cb, 0), Call::Barrier(Barrier::Reads)]);
            reader.push(Call::Push(cb, 1));
            compute.push(Call::Wait(cb, 1));
        }
        compute.push(Call::Acquire);
        compute.push(match step {
            1 => Call::Eltwise(EltwiseOp::Add, 0, 0),
            2 => Call::Eltwise(EltwiseOp::Mul, 0, 0),
            3 => Call::Matmul(0, 0),
            4 => Call::Reduce(0, 0),
            _ => Call::Copy(0, 0, 0),
        });
        compute.extend([Call::Commit, Call::WaitDst, Call::Reserve(16, 1), Call::Pack(0, 16), Call::Push(16, 1)]);
        compute.push(Call::Release);
        compute.extend(operands.iter().map(|&cb| Call::Pop(cb, 1)));
        writer.extend([Call::Wait(16, 1), Call::WritePage(page, 16, 0), Call::Barrier(Barrier::Writes)]);
        writer.push(Call::Pop(16, 1));
    }
    [writer, reader, compute]
}

fn call(bytes: &mut Bytes<'_>) -> Call {
    let kind = bytes.below(27);
    let cb = u32::from(CBS[bytes.below(3) as usize]);
    let (small, tile) = (bytes.below(5), bytes.below(3));
    let op = [EltwiseOp::Add, EltwiseOp::Sub, EltwiseOp::Mul][tile as usize];
    match kind {
        0 => Call::Reserve(cb, small),
        1 => Call::Push(cb, small),
        2 => Call::Wait(cb, small),
        3 => Call::Pop(cb, small),
        4 => Call::ReadPage(small, cb, 16 * tile),
        5 => Call::WritePage(small, cb, 16 * tile),
        6 => Call::Barrier([Barrier::Reads, Barrier::WritesFlushed, Barrier::Writes][tile as usize]),
        7 => Call::Barrier([Barrier::Atomics, Barrier::Full, Barrier::Full][tile as usize]),
        8 => Call::Increment(small),
        9 => Call::WaitSemaphore(tile, small),
        10 => Call::Load(tile),
        11 => Call::Store(tile, small),
        12 => Call::Startup(cb, tile, 16),
        13 => Call::Init(Math::Copy(if tile == 1 { Copying::Transposed } else { Copying::Plain })),
        14 => Call::Init(Math::Eltwise { op, broadcast: Broadcast::Row, accumulate: small == 1 }),
        15 => Call::Init(Math::Matmul { transpose: tile == 1, block: None }),
        16 => Call::Init(Math::Reduce { pool: PoolOp::Max, dim: ReduceDim::Column }),
        17 => Call::Acquire,
        18 => Call::Commit,
        19 => Call::WaitDst,
        20 => Call::Release,
        21 => Call::Copy(cb, tile, 4 * small),
        22 => Call::Eltwise(op, tile, small),
        23 => Call::Matmul(tile, small),
        24 => Call::InitSfpu(tile == 1),
        25 => Call::Sfpu(tile == 1, small),
        _ => Call::Pack(4 * small, cb),
    }
}

/// Runs the program of some bytes.
///
/// # Panics
/// If it does not end, or cannot be set up.
pub fn run(bytes: &[u8]) -> Outcome {
    let program = Program::new(bytes);
    outcome(&program).expect("a device with memory for the program")
}

/// Runs the program of some bytes three times, on one thread and on two.
///
/// # Panics
/// If the outcomes differ, an invariant of the engine is broken, or as [`run`].
pub fn check(bytes: &[u8]) -> End {
    let first = run(bytes);
    if let End::Fault(fault) = &first.end {
        assert_ne!(fault.what.class(), Class::Bug, "{fault}");
    }
    for threads in [1, 2] {
        let _ = pool::set_threads(threads);
        assert!(run(bytes) == first, "another outcome on {threads} threads");
    }
    first.end
}

fn outcome(program: &Program) -> Result<Outcome, MemoryError> {
    let mut device = Device::open(&N150, OpenOptions::default())?;
    let bytes = |format: DataFormat| format.tile_bytes(TileShape::FULL);
    let buffers: Vec<BufferId> = program
        .formats
        .iter()
        .map(|&format| device.allocate_interleaved(BufferType::Dram, bytes(format) as u64, 4, 1))
        .collect::<Result<_, _>>()?;
    for (place, &buffer) in buffers[..2].iter().enumerate() {
        let size = bytes(program.formats[place]);
        // Exponents of ordinary numbers.
        let data: Vec<u8> = (0..4 * size).map(|at| 0x3c + (at * (place + 3) % 7) as u8).collect();
        device.write(buffer, &data, size)?;
    }
    let spec = spec(program, device.l1_base());
    let mut run = match Run::new(&mut device, &spec) {
        Ok(run) => run,
        Err(what) => panic!("a program that cannot be set up: {what}"),
    };
    let end = execute(&mut run, &mut device, program, &buffers)?;
    let mut output = vec![0; 4 * bytes(program.formats[2])];
    match device.read(buffers[2], &mut output, bytes(program.formats[2])) {
        Ok(()) | Err(MemoryError::NeverWritten { .. }) => {}
        Err(error) => return Err(error),
    }
    Ok(Outcome { end, cycles: run.cycles(), output, events: run.events.take().unwrap_or_default() })
}

fn spec(program: &Program, l1_base: u64) -> ProgramSpec {
    let mut address = l1_base as u32;
    let cb = |(index, format): (u8, DataFormat)| {
        let page_bytes = format.tile_bytes(TileShape::FULL) as u32;
        let start = address;
        address += program.pages * page_bytes;
        CbSpec {
            core: CORE,
            index,
            address: start,
            page_bytes,
            pages: program.pages,
            format,
            tile: (32, 32),
            borrowed: false,
        }
    };
    let cbs = CBS.into_iter().zip(program.formats).map(cb).collect();
    let config = ComputeConfig {
        fidelity: MathFidelity::HiFi2,
        dst32: program.dst32,
        full_sync: program.full_sync,
        precise: false,
        unpack_to_dest: 0,
    };
    let kernel = |risc: Risc| KernelSpec {
        core: CORE,
        risc,
        name: risc.name().to_owned(),
        noc: u8::from(risc == Risc::Brisc),
        args: Vec::new(),
        compute: (risc == Risc::Trisc).then(|| config.clone()),
    };
    let semaphores = [0, 1].map(|id| SemaphoreSpec { core: CORE, id, initial: 0 }).to_vec();
    ProgramSpec { cbs, semaphores, kernels: [Risc::Brisc, Risc::Ncrisc, Risc::Trisc].map(kernel).to_vec(), trace: true }
}

/// Lets each kernel make its calls whenever it has its turn.
fn execute(run: &mut Run, device: &mut Device, program: &Program, buffers: &[BufferId]) -> Result<End, MemoryError> {
    let mut next = [0; 3];
    for _ in 0..MOST_TURNS {
        let Some(kernel) = run.schedule() else {
            let states = run.kernels.iter().map(|kernel| kernel.state).collect();
            return Ok(if run.is_finished() { End::Done } else { End::Deadlock(states) });
        };
        loop {
            let step = match program.kernels[kernel].get(next[kernel]) {
                Some(&call) => make(run, device, call, buffers)?,
                None => match run.finish_kernel() {
                    Ok(()) => break,
                    Err(fault) => Err(fault),
                },
            };
            match step {
                Ok(true) => next[kernel] += 1,
                Ok(false) => break,
                Err(fault) => return Ok(End::Fault(fault)),
            }
        }
    }
    panic!("the program does not end");
}

/// Makes a call of the running kernel.
fn make(
    run: &mut Run,
    device: &mut Device,
    call: Call,
    buffers: &[BufferId],
) -> Result<Result<bool, Fault>, MemoryError> {
    let page = |device: &Device, buffer: usize, page: u32| -> Result<Page, MemoryError> {
        let buffer = device.buffer(buffers[buffer])?;
        let bytes = buffer.page_bytes() as u32;
        Ok(Page { dram: true, base: buffer.address(), page: page.into(), bytes, offset: 0 })
    };
    let sfpu = |approximate: bool| {
        let names = if approximate { ("square_tile", "square_tile_init") } else { ("abs_tile", "abs_tile_init") };
        let function = if approximate { "square" } else { "abs" };
        VectorCall::new(names, (function, "default"), 1, &[], None)
    };
    let done = |result: Result<(), Fault>| result.map(|()| true);
    Ok(match call {
        Call::Reserve(cb, pages) => run.cb_reserve_back(cb, pages),
        Call::Push(cb, pages) => done(run.cb_push_back(cb, pages)),
        Call::Wait(cb, pages) => run.cb_wait_front(cb, pages),
        Call::Pop(cb, pages) => done(run.cb_pop_front(cb, pages)),
        Call::ReadPage(number, cb, less) => {
            let page = page(device, usize::from(cb == 1), number)?;
            match run.get_write_ptr(cb) {
                Ok(to) => run.noc_async_read_page(device, page, to, page.bytes - less, -1),
                Err(fault) => Err(fault),
            }
        }
        Call::WritePage(number, cb, less) => {
            let page = page(device, 2, number)?;
            match run.get_read_ptr(cb) {
                Ok(from) => run.noc_async_write_page(device, from, page, page.bytes - less, -1),
                Err(fault) => Err(fault),
            }
        }
        Call::Barrier(barrier) => done(run.noc_barrier(barrier, -1, None)),
        Call::Increment(id) => {
            let own = N150.worker_coord(CORE).map_or(0, |at| u64::from(at.y) << 42 | u64::from(at.x) << 36);
            let address = run.semaphore_address(id);
            run.noc_semaphore_inc(device, own | u64::from(address), 1, -1)
        }
        Call::WaitSemaphore(id, value) => run.noc_semaphore_wait(device, run.semaphore_address(id), value, true),
        Call::Load(id) => run.load_word(device, run.semaphore_address(id)).map(|word| word.is_some()),
        Call::Store(id, value) => done(run.store_word(device, run.semaphore_address(id), value)),
        Call::Startup(a, b, out) => done(run.hw_startup(a, b, out)),
        Call::Init(math) => done(run.init_math(math, &[0, 16])),
        Call::Acquire => done(run.tile_regs_acquire()),
        Call::Commit => done(run.tile_regs_commit()),
        Call::WaitDst => done(run.tile_regs_wait()),
        Call::Release => done(run.tile_regs_release()),
        Call::Copy(cb, tile, dst) => done(run.copy_tile(device, Copying::Plain, cb, tile, dst)),
        Call::Eltwise(op, tile, dst) => {
            done(run.eltwise_tiles(device, (op, Broadcast::None), (0, 1), (tile, tile), dst))
        }
        Call::Matmul(tile, dst) => done(run.matmul_tiles(device, (0, 1), (tile, tile), dst)),
        Call::Reduce(tile, dst) => done(run.reduce_tile(device, (PoolOp::Sum, ReduceDim::Row), (0, 1), (tile, 0), dst)),
        Call::InitSfpu(approximate) => done(run.vector_init(&sfpu(approximate).expect("a function"), 0)),
        Call::Sfpu(approximate, dst) => done(run.vector(&sfpu(approximate).expect("a function"), [dst; 3], dst, 0)),
        Call::Pack(dst, cb) => done(run.pack_tile(device, dst, cb, None)),
    })
}
