//! The interpreter: registers, local RAM, clock, and the loop over instructions.

use std::ops::Range;

use tt_perf::CoreCosts;

use crate::code::{Code, Instruction, Op};
use crate::image::Image;
use crate::time::{Port, Ports};
use crate::{LOCAL_BASE, LOCAL_BYTES, STACK_BYTES, TEXT_BASE};

/// Memory that a hart may use without asking, where allowed.
pub trait Memory {
    /// The bytes at an address, which is a multiple of their number. `None`: somebody else has to see to it.
    fn load<const N: usize>(&mut self, address: u32) -> Option<[u8; N]>;

    /// Puts bytes at an address, which is a multiple of their number. `false`: somebody else has to see to it.
    fn store<const N: usize>(&mut self, address: u32, bytes: [u8; N]) -> bool;
}

/// The reason why a hart stopped.
///
/// Its program counter is on the instruction that did it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// An `ecall`: [`Hart::finish_call`] completes it.
    Call,
    /// A load that [`Memory`] did not answer, or the same load again: [`Hart::finish_load`] completes it.
    Load {
        /// Its address.
        address: u32,
        /// 1, 2 or 4.
        bytes: u32,
        /// How often in a row it was this load of this address, with no store and no call in between, before.
        repeats: u32,
    },
    /// A store that [`Memory`] did not take: [`Hart::finish_store`] completes it.
    Store {
        /// Its address.
        address: u32,
        /// 1, 2 or 4.
        bytes: u32,
        /// What it stores, in its lowest bytes.
        value: u32,
    },
    /// The budget is used up.
    Budget,
    /// The kernel cannot go on.
    Trap(Trap),
}

/// Faults of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Trap {
    /// No instruction of RV32IM.
    #[error("{word:#010x} is no instruction of RV32IM")]
    Illegal {
        /// What stands there.
        word: u32,
    },
    /// An `ebreak`.
    #[error("the kernel runs into an ebreak, as compilers put it where nothing can come")]
    Breakpoint,
    /// The program counter is not in the text.
    #[error("the kernel goes on at {address:#x}, where no text is")]
    OutsideText {
        /// Where it goes.
        address: u32,
    },
    /// A jump to a place between two instructions.
    #[error("the kernel jumps to {address:#x}, which is not a multiple of 4")]
    MisalignedJump {
        /// Where it goes.
        address: u32,
    },
    /// A load or store of a multi-byte value at a wrong address.
    #[error("{bytes} B at address {address:#x}, which is not a multiple of {bytes}")]
    Misaligned {
        /// Its address.
        address: u32,
        /// Its bytes.
        bytes: u32,
    },
    /// A store to the text.
    #[error("a store to {address:#x}, which is text")]
    StoreToText {
        /// Its address.
        address: u32,
    },
    /// The stack goes below its room.
    #[error("the stack needs {bytes} B, more than the {STACK_BYTES} B that there are")]
    Stack {
        /// Bytes from its top.
        bytes: u32,
    },
}

/// A core: registers, local RAM, clock.
#[derive(Debug)]
pub struct Hart {
    /// 0 to 31; 32 takes what is written to `x0`. The rest only saves a check per access.
    registers: Box<[u32; 256]>,
    /// When each is usable.
    ready: Box<[u64; 256]>,
    local: Box<[u8; LOCAL_BYTES as usize]>,
    /// Number of the next instruction.
    next: usize,
    now: u64,
    executed: u64,
    ports: Ports,
    /// Place and address of the last load, if nothing was stored since.
    last_load: u64,
    /// How often it was executed in a row before.
    repeats: u32,
    lowest: u32,
    noted: Range<u32>,
    touched: bool,
}

const SP: usize = 2;
/// No load.
const NONE: u64 = u64::MAX;
const STACK_TOP: u32 = LOCAL_BASE.wrapping_add(LOCAL_BYTES);

impl Hart {
    /// A core before the first instruction of an image.
    pub fn new(image: &Image, costs: &'static CoreCosts) -> Self {
        let zeros = vec![0; LOCAL_BYTES as usize];
        let mut local: Box<[u8; LOCAL_BYTES as usize]> =
            zeros.try_into().unwrap_or_else(|_| unreachable!("it has this length"));
        local[..image.local.len()].copy_from_slice(&image.local);
        let mut registers = Box::new([0; 256]);
        registers[SP] = STACK_TOP;
        let next = Self::place(image.entry);
        Self {
            registers,
            ready: Box::new([0; 256]),
            local,
            next,
            now: 0,
            executed: 0,
            ports: Ports::new(costs),
            last_load: NONE,
            repeats: 0,
            lowest: STACK_TOP,
            noted: 0..0,
            touched: false,
        }
    }

    /// Number of the instruction at an address; one that no text has for addresses that cannot be.
    fn place(address: u32) -> usize {
        if address.is_multiple_of(4) { (address.wrapping_sub(TEXT_BASE) / 4) as usize } else { usize::MAX >> 3 }
    }

    /// Address of the next instruction.
    pub fn pc(&self) -> u32 {
        TEXT_BASE.wrapping_add((self.next as u32).wrapping_mul(4))
    }

    /// A register, 0 to 31.
    pub fn register(&self, number: u8) -> u32 {
        self.registers[usize::from(number & 31)]
    }

    /// Sets a register, 1 to 31.
    pub fn set_register(&mut self, number: u8, value: u32) {
        if number & 31 != 0 {
            self.registers[usize::from(number & 31)] = value;
        }
    }

    /// The clock.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Sets the clock to a later time.
    pub fn wait_until(&mut self, time: u64) {
        self.now = self.now.max(time);
    }

    /// Instructions executed.
    pub fn executed(&self) -> u64 {
        self.executed
    }

    /// Most bytes of stack so far.
    pub fn stack_peak(&self) -> u32 {
        STACK_TOP - self.lowest
    }

    /// Bytes of local RAM, if they lie there.
    pub fn local(&self, address: u32, bytes: u32) -> Option<&[u8]> {
        let start = address.checked_sub(LOCAL_BASE)? as usize;
        self.local.get(start..start.checked_add(bytes as usize)?)
    }

    /// The same, to be changed.
    pub fn local_mut(&mut self, address: u32, bytes: u32) -> Option<&mut [u8]> {
        let start = address.checked_sub(LOCAL_BASE)? as usize;
        self.local.get_mut(start..start.checked_add(bytes as usize)?)
    }

    /// Stores to these addresses of local RAM are noted from now on.
    pub fn note(&mut self, addresses: Range<u32>) {
        self.noted = addresses;
    }

    /// Returns true if one was noted since the last call.
    pub fn take_noted(&mut self) -> bool {
        std::mem::take(&mut self.touched)
    }

    /// Completes an `ecall`.
    pub fn finish_call(&mut self) {
        self.next += 1;
        self.last_load = NONE;
    }

    /// Completes a load with the bytes at its address.
    ///
    /// Memory did not answer it. `shared`: they come from L1.
    pub fn finish_load(&mut self, code: &Code, value: u32, shared: bool) {
        let Some(&Instruction { op, rd, rs1, .. }) = code.instructions.get(self.next) else { return };
        let port = if shared { Port::L1 } else { Port::Register };
        let (begins, usable) = self.ports.load(self.now.max(self.ready[rs1 as usize]), port);
        self.registers[rd as usize] = match op {
            Op::Lb => value as i8 as u32,
            Op::Lbu => u32::from(value as u8),
            Op::Lh => value as i16 as u32,
            Op::Lhu => u32::from(value as u16),
            _ => value,
        };
        self.ready[rd as usize] = usable;
        self.now = begins + 1;
        self.next += 1;
    }

    /// The next load is a first one, whatever came before.
    pub fn forget_load(&mut self) {
        self.last_load = NONE;
    }

    /// Completes a store that memory did not take.
    pub fn finish_store(&mut self, code: &Code) {
        let Some(&Instruction { rs1, rs2, .. }) = code.instructions.get(self.next) else { return };
        let at = self.now.max(self.ready[rs1 as usize]).max(self.ready[rs2 as usize]);
        self.now = self.ports.store(at) + 1;
        self.next += 1;
        self.last_load = NONE;
    }

    /// Runs until something happens, or about `budget` instructions are executed.
    #[allow(clippy::too_many_lines, reason = "one arm for each instruction")]
    pub fn run<M: Memory>(&mut self, code: &Code, memory: &mut M, budget: u64) -> Exit {
        let until = self.executed.saturating_add(budget);
        let (mut next, mut now) = (self.next, self.now);
        // Instructions are counted where the flow breaks: from here on.
        let mut from = next;

        macro_rules! leave {
            ($exit:expr) => {{
                self.executed += (next - from) as u64;
                self.next = next;
                self.now = now;
                return $exit;
            }};
        }
        macro_rules! go {
            ($distance:expr) => {{
                let distance: i32 = $distance;
                self.executed += (next - from) as u64 + 1;
                next = next.wrapping_add_signed((distance >> 2) as isize);
                from = next;
                if self.executed >= until {
                    leave!(Exit::Budget);
                }
                continue;
            }};
        }

        loop {
            let Some(&Instruction { op, rd, rs1, rs2, imm }) = code.instructions.get(next) else {
                let address = TEXT_BASE.wrapping_add((next as u32).wrapping_mul(4));
                leave!(Exit::Trap(Trap::OutsideText { address }));
            };
            let (a, b) = (self.registers[rs1 as usize], self.registers[rs2 as usize]);

            macro_rules! one {
                ($value:expr, $cycles:expr) => {{
                    now = now.max(self.ready[rs1 as usize]) + $cycles;
                    self.registers[rd as usize] = $value;
                    self.ready[rd as usize] = 0;
                }};
                ($value:expr) => {
                    one!($value, 1)
                };
            }
            macro_rules! two {
                ($value:expr, $cycles:expr) => {{
                    now = now.max(self.ready[rs2 as usize]);
                    one!($value, $cycles)
                }};
                ($value:expr) => {
                    two!($value, 1)
                };
            }
            macro_rules! aligned {
                () => {
                    if imm & 3 != 0 {
                        let from = TEXT_BASE.wrapping_add((next as u32).wrapping_mul(4));
                        leave!(Exit::Trap(Trap::MisalignedJump { address: from.wrapping_add(imm as u32) }));
                    }
                };
            }
            macro_rules! branch {
                ($taken:expr) => {{
                    now = now.max(self.ready[rs1 as usize]).max(self.ready[rs2 as usize]) + 1;
                    let taken: bool = $taken;
                    if taken != (imm < 0) {
                        now += self.ports.costs.mispredict;
                    }
                    if taken {
                        aligned!();
                        go!(imm);
                    }
                }};
            }
            macro_rules! load {
                ($count:literal, |$bytes:pat_param| $value:expr) => {{
                    let address = a.wrapping_add(imm as u32);
                    if !address.is_multiple_of($count) {
                        leave!(Exit::Trap(Trap::Misaligned { address, bytes: $count }));
                    }
                    let offset = address.wrapping_sub(LOCAL_BASE);
                    let at = now.max(self.ready[rs1 as usize]);
                    let (bytes, port) = if offset < LOCAL_BYTES {
                        let offset = (offset & (LOCAL_BYTES - $count)) as usize;
                        let mut bytes = [0; $count];
                        bytes.copy_from_slice(&self.local[offset..offset + $count]);
                        (bytes, Port::Local)
                    } else {
                        let key = (next as u64) << 32 | u64::from(address);
                        let again = std::mem::replace(&mut self.last_load, key) == key;
                        self.repeats = if again { self.repeats.saturating_add(1) } else { 0 };
                        match memory.load::<$count>(address) {
                            Some(bytes) if !again => (bytes, Port::L1),
                            _ => match code.bytes(address, $count).try_into() {
                                Ok(bytes) => (bytes, Port::Local),
                                Err(_) => leave!(Exit::Load { address, bytes: $count, repeats: self.repeats }),
                            },
                        }
                    };
                    let (begins, usable) = self.ports.load(at, port);
                    now = begins + 1;
                    let $bytes = bytes;
                    self.registers[rd as usize] = $value;
                    self.ready[rd as usize] = usable;
                }};
            }
            macro_rules! store {
                ($count:literal) => {{
                    let address = a.wrapping_add(imm as u32);
                    if !address.is_multiple_of($count) {
                        leave!(Exit::Trap(Trap::Misaligned { address, bytes: $count }));
                    }
                    let bytes: [u8; $count] = std::array::from_fn(|byte| (b >> (8 * byte)) as u8);
                    let offset = address.wrapping_sub(LOCAL_BASE);
                    if offset < LOCAL_BYTES {
                        let offset = (offset & (LOCAL_BYTES - $count)) as usize;
                        self.local[offset..offset + $count].copy_from_slice(&bytes);
                        self.touched |= self.noted.contains(&address);
                        now = now.max(self.ready[rs1 as usize]).max(self.ready[rs2 as usize]) + 1;
                    } else if memory.store(address, bytes) {
                        let at = now.max(self.ready[rs1 as usize]).max(self.ready[rs2 as usize]);
                        now = self.ports.store(at) + 1;
                    } else if !code.bytes(address, 1).is_empty() {
                        leave!(Exit::Trap(Trap::StoreToText { address }));
                    } else {
                        leave!(Exit::Store { address, bytes: $count, value: b });
                    }
                    self.last_load = NONE;
                }};
            }
            macro_rules! stack {
                ($value:expr) => {{
                    let value: u32 = $value;
                    if value < self.lowest {
                        let bytes = STACK_TOP.wrapping_sub(value);
                        if bytes > STACK_BYTES {
                            leave!(Exit::Trap(Trap::Stack { bytes }));
                        }
                        self.lowest = value;
                    }
                    two!(value);
                }};
            }
            macro_rules! divide {
                ($magnitude:expr, $easy:expr, $value:expr) => {{
                    let cycles = self.ports.divide($magnitude, $easy);
                    two!($value, cycles)
                }};
            }

            match op {
                Op::Li => {
                    now += 1;
                    self.registers[rd as usize] = imm as u32;
                    self.ready[rd as usize] = 0;
                }
                Op::FreeLi => self.registers[rd as usize] = imm as u32,
                Op::FreeAddi => self.registers[rd as usize] = a.wrapping_add(imm as u32),
                Op::Jal => {
                    aligned!();
                    now += 1;
                    self.registers[rd as usize] = TEXT_BASE.wrapping_add((next as u32 + 1) * 4);
                    self.ready[rd as usize] = 0;
                    go!(imm);
                }
                Op::Jalr | Op::FreeJalr => {
                    if op == Op::Jalr {
                        now = now.max(self.ready[rs1 as usize]) + 1;
                    }
                    let address = a.wrapping_add(imm as u32) & !1;
                    if address & 3 != 0 {
                        leave!(Exit::Trap(Trap::MisalignedJump { address }));
                    }
                    let target = (address.wrapping_sub(TEXT_BASE) / 4) as usize;
                    if target >= code.instructions.len() {
                        leave!(Exit::Trap(Trap::OutsideText { address }));
                    }
                    self.registers[rd as usize] = TEXT_BASE.wrapping_add((next as u32 + 1) * 4);
                    self.ready[rd as usize] = 0;
                    self.executed += (next - from) as u64 + 1;
                    next = target;
                    from = next;
                    if self.executed >= until {
                        leave!(Exit::Budget);
                    }
                    continue;
                }
                Op::Beq => branch!(a == b),
                Op::Bne => branch!(a != b),
                Op::Blt => branch!((a as i32) < b as i32),
                Op::Bge => branch!(a as i32 >= b as i32),
                Op::Bltu => branch!(a < b),
                Op::Bgeu => branch!(a >= b),
                Op::Lb => load!(1, |[byte]| byte as i8 as u32),
                Op::Lbu => load!(1, |[byte]| byte.into()),
                Op::Lh => load!(2, |bytes| i16::from_le_bytes(bytes) as u32),
                Op::Lhu => load!(2, |bytes| u16::from_le_bytes(bytes).into()),
                Op::Lw => load!(4, |bytes| u32::from_le_bytes(bytes)),
                Op::Sb => store!(1),
                Op::Sh => store!(2),
                Op::Sw => store!(4),
                Op::Addi => one!(a.wrapping_add(imm as u32)),
                Op::AddiSp => stack!(a.wrapping_add(imm as u32)),
                Op::Slti => one!(u32::from((a as i32) < imm)),
                Op::Sltiu => one!(u32::from(a < imm as u32)),
                Op::Xori => one!(a ^ imm as u32),
                Op::Ori => one!(a | imm as u32),
                Op::Andi => one!(a & imm as u32),
                Op::Slli => one!(a << imm),
                Op::Srli => one!(a >> imm),
                Op::Srai => one!((a as i32 >> imm) as u32),
                Op::Add => two!(a.wrapping_add(b)),
                Op::AddSp => stack!(a.wrapping_add(b)),
                Op::Sub => two!(a.wrapping_sub(b)),
                Op::SubSp => stack!(a.wrapping_sub(b)),
                Op::Sll => two!(a << (b & 31)),
                Op::Slt => two!(u32::from((a as i32) < b as i32)),
                Op::Sltu => two!(u32::from(a < b)),
                Op::Xor => two!(a ^ b),
                Op::Srl => two!(a >> (b & 31)),
                Op::Sra => two!((a as i32 >> (b & 31)) as u32),
                Op::Or => two!(a | b),
                Op::And => two!(a & b),
                Op::Mul => two!(a.wrapping_mul(b), self.ports.costs.multiply),
                Op::Mulh => {
                    let product = i64::from(a as i32) * i64::from(b as i32);
                    two!((product >> 32) as u32, self.ports.costs.multiply);
                }
                Op::Mulhsu => {
                    let product = i64::from(a as i32) * i64::from(b);
                    two!((product >> 32) as u32, self.ports.costs.multiply);
                }
                Op::Mulhu => {
                    let product = u64::from(a) * u64::from(b);
                    two!((product >> 32) as u32, self.ports.costs.multiply);
                }
                Op::Div => {
                    let (x, y) = (a as i32, b as i32);
                    let value = if y == 0 { u32::MAX } else { x.wrapping_div(y) as u32 };
                    divide!(x.unsigned_abs(), easy(x, y), value);
                }
                Op::Divu => divide!(a, b <= 1, a.checked_div(b).unwrap_or(u32::MAX)),
                Op::Rem => {
                    let (x, y) = (a as i32, b as i32);
                    let value = if y == 0 { a } else { x.wrapping_rem(y) as u32 };
                    divide!(x.unsigned_abs(), easy(x, y), value);
                }
                Op::Remu => divide!(a, b <= 1, a.checked_rem(b).unwrap_or(a)),
                Op::Fence => now += 1,
                Op::Ecall => leave!(Exit::Call),
                Op::Ebreak => leave!(Exit::Trap(Trap::Breakpoint)),
                Op::Illegal => leave!(Exit::Trap(Trap::Illegal { word: imm as u32 })),
            }
            next += 1;
        }
    }
}

/// A division that needs no steps.
fn easy(dividend: i32, divisor: i32) -> bool {
    matches!(divisor, 0 | 1) || (dividend, divisor) == (i32::MIN, -1)
}
