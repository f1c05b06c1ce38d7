//! Conversion of bytes to a program, and its outcome.
//!
//! The program has reader, compute and writer kernels.
//!
//! Bytes choose formats and sizes of a program that works, then what is changed in it: calls that are left out, made
//! twice, or replaced. Whatever comes of that, every run of it has the same outcome, on any number of threads; none
//! panics, and none goes on for ever.

use std::rc::Rc;

use tt_cpu::pool;
use tt_formats::{DataFormat, TileShape};
use tt_fpu::{Broadcast, EltwiseOp, MathFidelity, PoolOp, ReduceDim};
use tt_memory::chip::{LogicalCore, N150};
use tt_memory::device::OpenOptions;
use tt_memory::{BufferId, BufferType, Device, MemoryError};
use tt_program::calls::compute::{Copying, Math, VectorCall};
use tt_program::calls::noc::{Barrier, Page};
use tt_program::spec::{CbSpec, ComputeConfig, KernelSpec, Risc, SemaphoreSpec};
use tt_program::state::kernel::{Event, State};
use tt_program::{Class, Fault, ProgramSpec, Run, Step};

/// Circular buffers of the core: two for operands, one for results.
const CBS: [u8; 3] = [0, 1, 16];
const FORMATS: [DataFormat; 4] = [DataFormat::Float16B, DataFormat::Float32, DataFormat::Bfp8B, DataFormat::UInt16];
/// Turns after which a program counts as one that never ends: each ends a kernel, blocks it or moves it on.
const MOST_TURNS: usize = 100_000;

/// The core that everything runs on.
const CORE: LogicalCore = LogicalCore { x: 0, y: 0 };

/// A call of a kernel; false if it has to wait.
type Call = Rc<dyn Fn(&mut Run, &mut Device, &[BufferId]) -> Step>;

macro_rules! calls {
    ($($name:ident($($argument:ident: $type:ty),*) = |$run:tt, $device:tt, $buffers:tt| $body:expr;)*) => { $(
        fn $name($($argument: $type),*) -> Call {
            Rc::new(move |$run, $device, $buffers| $body)
        }
    )* };
}

// Counts and numbers are as small as bytes make them, and need not fit. `less`: so many bytes less than the page has.
calls! {
    reserve(cb: u32, pages: u32) = |run, _, _| run.cb_reserve_back(cb, pages);
    push(cb: u32, pages: u32) = |run, _, _| done(run.cb_push_back(cb, pages));
    wait(cb: u32, pages: u32) = |run, _, _| run.cb_wait_front(cb, pages);
    pop(cb: u32, pages: u32) = |run, _, _| done(run.cb_pop_front(cb, pages));
    read_page(number: u32, cb: u32, less: u32) = |run, device, buffers| {
        let page = page_of(device, buffers[usize::from(cb == 1)], number);
        let to = run.get_write_ptr(cb)?;
        run.noc_async_read_page(device, page, to, page.bytes - less, -1)
    };
    write_page(number: u32, cb: u32, less: u32) = |run, device, buffers| {
        let page = page_of(device, buffers[2], number);
        let from = run.get_read_ptr(cb)?;
        run.noc_async_write_page(device, from, page, page.bytes - less, -1)
    };
    noc_barrier(barrier: Barrier) = |run, _, _| done(run.noc_barrier(barrier, -1, None));
    increment(id: u32) = |run, device, _| {
        let own = N150.worker_coord(CORE).map_or(0, |at| u64::from(at.y) << 42 | u64::from(at.x) << 36);
        let address = run.semaphore_address(id);
        run.noc_semaphore_inc(device, own | u64::from(address), 1, -1)
    };
    wait_semaphore(id: u32, value: u32) = |run, device, _| {
        run.noc_semaphore_wait(device, run.semaphore_address(id), value, true)
    };
    load(id: u32) = |run, device, _| run.load_word(device, run.semaphore_address(id)).map(|word| word.is_some());
    store(id: u32, value: u32) = |run, device, _| done(run.store_word(device, run.semaphore_address(id), value));
    startup(a: u32, b: u32, out: u32) = |run, _, _| done(run.hw_startup(a, b, out));
    init(math: Math) = |run, _, _| done(run.init_math(math, &[0, 16]));
    acquire() = |run, _, _| run.tile_regs_acquire();
    commit() = |run, _, _| done(run.tile_regs_commit());
    wait_dst() = |run, _, _| done(run.tile_regs_wait());
    release() = |run, _, _| done(run.tile_regs_release());
    copy(cb: u32, tile: u32, dst: u32) = |run, device, _| done(run.copy_tile(device, Copying::Plain, cb, tile, dst));
    eltwise(op: EltwiseOp, tile: u32, dst: u32) = |run, device, _| {
        done(run.eltwise_tiles(device, (op, Broadcast::None), (0, 1), (tile, tile), dst))
    };
    matmul(tile: u32, dst: u32) = |run, device, _| done(run.matmul_tiles(device, (0, 1), (tile, tile), dst));
    reduce(tile: u32, dst: u32) = |run, device, _| {
        done(run.reduce_tile(device, (PoolOp::Sum, ReduceDim::Row), (0, 1), (tile, 0), dst))
    };
    init_sfpu(square: bool) = |run, _, _| done(run.vector_init(&sfpu_call(square), 0));
    sfpu(square: bool, dst: u32) = |run, _, _| done(run.vector(&sfpu_call(square), [dst; 3], dst, 0));
    pack(dst: u32, cb: u32) = |run, device, _| done(run.pack_tile(device, dst, cb, None));
}

fn done(result: Result<(), Fault>) -> Step {
    result.map(|()| true)
}

/// A page of an input, or of the output.
fn page_of(device: &Device, buffer: BufferId, page: u32) -> Page {
    let buffer = device.buffer(buffer).expect("a buffer of the program");
    let bytes = buffer.page_bytes() as u32;
    Page { dram: true, base: buffer.address(), page: page.into(), bytes, offset: 0 }
}

fn sfpu_call(square: bool) -> VectorCall {
    let names = if square { ("square_tile", "square_tile_init") } else { ("abs_tile", "abs_tile_init") };
    VectorCall::new(names, (if square { "square" } else { "abs" }, "default"), 1, &[], None).expect("a function")
}

/// The end of a program.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// Every kernel returned.
    Done,
    /// Nobody could go on: what each kernel waits for.
    Deadlock(Vec<State>),
    /// A kernel made a mistake.
    Fault(Fault),
}

/// The observable result of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The end of the run.
    pub end: End,
    /// The cycle of the end.
    pub cycles: u64,
    /// The pages of the output.
    pub output: Vec<u8>,
    /// The events, in order.
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
                1 if place < calls.len() => calls.insert(place, calls[place].clone()),
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
    let mut compute = vec![startup(0, u32::from(two), 16), init(math)];
    let operands = if two { &[0, 1][..] } else { &[0] };
    for page in 0..pages {
        for &cb in operands {
            reader.extend([reserve(cb, 1), read_page(page, cb, 0), noc_barrier(Barrier::Reads)]);
            reader.push(push(cb, 1));
            compute.push(wait(cb, 1));
        }
        compute.push(acquire());
        compute.push(match step {
            1 => eltwise(EltwiseOp::Add, 0, 0),
            2 => eltwise(EltwiseOp::Mul, 0, 0),
            3 => matmul(0, 0),
            4 => reduce(0, 0),
            _ => copy(0, 0, 0),
        });
        compute.extend([commit(), wait_dst(), reserve(16, 1), pack(0, 16), push(16, 1)]);
        compute.push(release());
        compute.extend(operands.iter().map(|&cb| pop(cb, 1)));
        writer.extend([wait(16, 1), write_page(page, 16, 0), noc_barrier(Barrier::Writes)]);
        writer.push(pop(16, 1));
    }
    [writer, reader, compute]
}

fn call(bytes: &mut Bytes<'_>) -> Call {
    let kind = bytes.below(27);
    let cb = u32::from(CBS[bytes.below(3) as usize]);
    let (small, tile) = (bytes.below(5), bytes.below(3));
    let op = [EltwiseOp::Add, EltwiseOp::Sub, EltwiseOp::Mul][tile as usize];
    match kind {
        0 => reserve(cb, small),
        1 => push(cb, small),
        2 => wait(cb, small),
        3 => pop(cb, small),
        4 => read_page(small, cb, 16 * tile),
        5 => write_page(small, cb, 16 * tile),
        6 => noc_barrier([Barrier::Reads, Barrier::WritesFlushed, Barrier::Writes][tile as usize]),
        7 => noc_barrier([Barrier::Atomics, Barrier::Full, Barrier::Full][tile as usize]),
        8 => increment(small),
        9 => wait_semaphore(tile, small),
        10 => load(tile),
        11 => store(tile, small),
        12 => startup(cb, tile, 16),
        13 => init(Math::Copy(if tile == 1 { Copying::Transposed } else { Copying::Plain })),
        14 => init(Math::Eltwise { op, broadcast: Broadcast::Row, accumulate: small == 1 }),
        15 => init(Math::Matmul { transpose: tile == 1, block: None }),
        16 => init(Math::Reduce { pool: PoolOp::Max, dim: ReduceDim::Column }),
        17 => acquire(),
        18 => commit(),
        19 => wait_dst(),
        20 => release(),
        21 => copy(cb, tile, 4 * small),
        22 => eltwise(op, tile, small),
        23 => matmul(tile, small),
        24 => init_sfpu(tile == 1),
        25 => sfpu(tile == 1, small),
        _ => pack(4 * small, cb),
    }
}

/// Runs the program of some bytes.
///
/// # Panics
/// If it does not end, or cannot be set up.
pub fn run(bytes: &[u8]) -> Outcome {
    outcome(&Program::new(bytes)).expect("a device with memory for the program")
}

/// Runs a program of bytes three times, on one and two threads.
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
    let end = execute(&mut run, &mut device, program, &buffers);
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
        approximate: false,
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
fn execute(run: &mut Run, device: &mut Device, program: &Program, buffers: &[BufferId]) -> End {
    let mut next = [0; 3];
    for _ in 0..MOST_TURNS {
        let Some(kernel) = run.schedule() else {
            if run.run_ahead() {
                continue;
            }
            let states = run.kernels.iter().map(|kernel| kernel.state).collect();
            return if run.is_finished() { End::Done } else { End::Deadlock(states) };
        };
        loop {
            if let Err(fault) = run.catch_up(device) {
                return End::Fault(fault);
            }
            let step = match program.kernels[kernel].get(next[kernel]) {
                Some(call) => call(run, device, buffers),
                None => match run.finish_kernel() {
                    Ok(true) => break,
                    Ok(false) => Ok(false),
                    Err(fault) => Err(fault),
                },
            };
            match step {
                Ok(true) => next[kernel] += 1,
                Ok(false) => break,
                Err(fault) => return End::Fault(fault),
            }
        }
    }
    panic!("the program does not end");
}
