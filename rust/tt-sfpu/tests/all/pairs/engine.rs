//! FPU sums and products by tile, against the independent model.
//!
//! Addition, subtraction and multiplication in words of 32 bits and, where operators take them, in lanes of 16.

use std::fmt;

use tt_cpu::Level;
use tt_formats::DataFormat;
use tt_fpu::{Arch, Broadcast, DstFormat, EltwiseOp, MathConfig, MathFidelity, Src, bf16_lanes};
use tt_tensix::unpack;
use tt_testkit::reference::pairs::Pairs;

/// Pairs of a tile.
pub const TILE: usize = 1024;

/// One operation under one setting.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    op: EltwiseOp,
    cfg: MathConfig,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.op {
            EltwiseOp::Add => "add",
            EltwiseOp::Sub => "subtract",
            EltwiseOp::Mul => "multiply",
        };
        write!(f, "{name}/{:?} into {:?}", self.cfg.fidelity, self.cfg.dst)
    }
}

/// All operations: products at these fidelities, sums once, since they have none.
///
/// Both widths of `Dst`.
pub fn operations(fidelities: &[MathFidelity]) -> Vec<Operation> {
    let mut all = Vec::new();
    for dst in [DstFormat::Bf16, DstFormat::Fp32] {
        let of = |op, fidelity| Operation {
            op,
            cfg: MathConfig { fidelity, dst, alu: DataFormat::Float16B, arch: Arch::Wormhole },
        };
        all.extend([EltwiseOp::Add, EltwiseOp::Sub].map(|op| of(op, MathFidelity::HiFi4)));
        all.extend(fidelities.iter().map(|&fidelity| of(EltwiseOp::Mul, fidelity)));
    }
    all
}

/// A tile of BF16 words as the registers hold it.
pub fn in_src(words: &[u16; TILE]) -> Src {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut src = [0; TILE];
    unpack::to_src(DataFormat::Float16B, DataFormat::Float16B, &bytes, &mut src);
    src
}

/// The BF16 word of a register's word.
fn word_of(src: u32) -> u16 {
    (src >> 18 << 15 | (src >> 10 & 0xff) << 7 | src >> 3 & 0x7f) as u16
}

/// The page that the register's words come from.
fn page(src: &Src) -> [u8; 2 * TILE] {
    let mut page = [0; 2 * TILE];
    for (bytes, &word) in page.as_chunks_mut().0.iter_mut().zip(src) {
        *bytes = word_of(word).to_le_bytes();
    }
    page
}

impl Operation {
    fn expected(&self, a: u16, b: u16) -> u32 {
        let model = Pairs { wide_dst: self.cfg.dst == DstFormat::Fp32 };
        match self.op {
            EltwiseOp::Add => model.add(a, b),
            EltwiseOp::Sub => model.subtract(a, b),
            EltwiseOp::Mul => model.multiply(a, b, self.cfg.fidelity.phases() as usize),
        }
    }

    /// Runs a tile of pairs at some levels.
    ///
    /// # Errors
    /// The first pair whose result is not the model's.
    pub fn check(&self, a: &Src, b: &Src, levels: &[Level]) -> Result<(), String> {
        let expected: [u32; TILE] = std::array::from_fn(|i| self.expected(word_of(a[i]), word_of(b[i])));
        for &level in levels {
            let mut got = [0; TILE];
            tt_fpu::eltwise_at(level, &self.cfg, (self.op, Broadcast::None), false, &mut got, a, b);
            let mut halves = [0; TILE];
            let whole = bf16_lanes::supports(level, &self.cfg)
                && bf16_lanes::run(level, &self.cfg, self.op, &mut halves, &page(a), &page(b));
            let in_halves = whole.then(|| halves.map(|half| u32::from(half) << 16));
            for (lanes, got) in [(32, Some(got)), (16, in_halves)] {
                let Some((i, got)) =
                    got.and_then(|got| (0..TILE).find(|&i| got[i] != expected[i]).map(|i| (i, got[i])))
                else {
                    continue;
                };
                let (a, b, expected) = (word_of(a[i]), word_of(b[i]), expected[i]);
                return Err(format!(
                    "{self} {level}, lanes of {lanes} bits: {a:04x} with {b:04x} gives {got:08x}, the model {expected:08x}"
                ));
            }
        }
        Ok(())
    }
}
