//! The host's program description: the cores' circular buffers, semaphores and kernels.

use tt_formats::DataFormat;
use tt_fpu::MathFidelity;
use tt_memory::chip::LogicalCore;

/// The RISC of a kernel.
///
/// A compute kernel is one function on the three TRISCs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Risc {
    /// Data movement, usually the writer.
    Brisc = 0,
    /// Data movement, usually the reader.
    Ncrisc = 1,
    /// Unpack, math and pack.
    Trisc = 2,
}

impl Risc {
    /// The name that messages use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Brisc => "BRISC",
            Self::Ncrisc => "NCRISC",
            Self::Trisc => "TRISC",
        }
    }
}

/// A circular buffer of one core.
#[derive(Debug, Clone, PartialEq)]
pub struct CbSpec {
    /// Core.
    pub core: LogicalCore,
    /// Its number there.
    pub index: u8,
    /// First byte in L1.
    pub address: u32,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Pages.
    pub pages: u32,
    /// Format of its datums.
    pub format: DataFormat,
    /// Height and width of its tiles.
    pub tile: (u32, u32),
    /// True if it is in a host buffer's memory.
    ///
    /// Otherwise it has memory of its own.
    pub borrowed: bool,
}

/// A semaphore of one core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SemaphoreSpec {
    /// Core.
    pub core: LogicalCore,
    /// Its number there.
    pub id: u8,
    /// Value at the start of the program.
    pub initial: u32,
}

/// The build settings of a compute kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct ComputeConfig {
    /// Fidelity of products.
    pub fidelity: MathFidelity,
    /// 32-bit `Dst`.
    pub dst32: bool,
    /// True if math and pack share one whole `Dst`.
    ///
    /// Otherwise they take turns on its halves.
    pub full_sync: bool,
    /// `bfp8_pack_precise`.
    pub precise: bool,
    /// `math_approx_mode`: functions of the SFPU that ask for it are approximate.
    pub approximate: bool,
    /// One bit per CB: its 32-bit datums go to `Dst` unchanged.
    pub unpack_to_dest: u64,
}

/// The kernel of one RISC of one core.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelSpec {
    /// Core.
    pub core: LogicalCore,
    /// RISC.
    pub risc: Risc,
    /// Name for messages.
    pub name: String,
    /// NoC that a data-movement kernel uses unless it says otherwise.
    pub noc: u8,
    /// Runtime arguments.
    pub args: Vec<u32>,
    /// Configuration of a compute kernel.
    pub compute: Option<ComputeConfig>,
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProgramSpec {
    /// Circular buffers.
    pub cbs: Vec<CbSpec>,
    /// Semaphores.
    pub semaphores: Vec<SemaphoreSpec>,
    /// Kernels.
    pub kernels: Vec<KernelSpec>,
    /// Record events for the timeline.
    pub trace: bool,
}
