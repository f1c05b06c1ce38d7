//! Programs with BF16 everywhere: operands go from L1 through lanes of 16 bits back to L1.

use std::sync::Arc;

use tt_cpu::Level;
use tt_cpu::table::{HalfTable, Store};
use tt_formats::DataFormat;
use tt_tensix::fast::Bf16Page;
use tt_tensix::fpu::halves::{self, Reader};
use tt_tensix::fpu::{EltwiseOp, HalfTile, MathConfig};
use tt_tensix::pack::{HalfPacker, PackConfig};
use tt_tensix::sfpu::quotient;

use super::{BinaryProgram, Unit};
use crate::unary::lookup::{WORTH_A_TABLE, kept_table};

/// How the operator is computed, and what becomes of its result.
pub(super) struct Halves {
    level: Level,
    /// An operation of the matrix unit; the vector unit's division otherwise.
    op: Option<EltwiseOp>,
    math: MathConfig,
    readers: [Reader; 2],
    finish: Finish,
}

/// From Dst to L1.
enum Finish {
    /// Of datums of the matrix unit, which the packer leaves as they are.
    Same(HalfPacker),
    Pack(HalfPacker),
    /// What activations and packer make of every datum.
    Table(Arc<HalfTable>),
}

impl Halves {
    /// `None` if a program is not like that, or has activations that are not worth a table for so many tiles.
    pub(super) fn new(
        program: &BinaryProgram,
        math: MathConfig,
        formats: [DataFormat; 2],
        packer: &PackConfig,
        tiles: usize,
    ) -> Option<Self> {
        let level = Level::current();
        let op = match &program.unit {
            Unit::Fpu(op) => Some(*op),
            Unit::Sfpu(call) if quotient::computes(call) => None,
            Unit::Sfpu(_) => return None,
        };
        if program.dst32 || !halves::supports(level, &math) {
            return None;
        }
        let [first, second] = formats.map(|format| Reader::new(format, level));
        let (chain, kept) = (&program.chains[2], packer.output == DataFormat::Float16B);
        // Bytes are looked up, the lower one first.
        let table = kept && tiles >= WORTH_A_TABLE && cfg!(target_endian = "little");
        let finish = match HalfPacker::new(packer, level) {
            Some(packer) if chain.is_empty() && kept && op.is_some() => Finish::Same(packer),
            Some(packer) if chain.is_empty() => Finish::Pack(packer),
            _ if table => Finish::Table(kept_table(None, chain, packer)),
            _ => return None,
        };
        Some(Self { level, op, math, readers: [first?, second?], finish })
    }

    /// The operator on two tiles to a half tile. False if their numbers are not plain enough; `half` is then meaningless.
    pub(super) fn compute(&self, l1: [&[u8]; 2], [page_a, page_b]: &mut [Bf16Page; 2], half: &mut HalfTile) -> bool {
        match (self.readers[0].read(l1[0], page_a), self.readers[1].read(l1[1], page_b)) {
            (Some(a), Some(b)) => match self.op {
                Some(op) => halves::run(self.level, &self.math, op, half, a, b),
                None => quotient::run(self.level, half, a, b),
            },
            _ => false,
        }
    }

    /// Whether a half tile is the result.
    pub(super) fn is_done(&self) -> bool {
        matches!(self.finish, Finish::Same(_))
    }

    /// Brings a half tile to L1.
    pub(super) fn finish(&self, half: &HalfTile, target: &mut [u8]) {
        match &self.finish {
            Finish::Same(packer) | Finish::Pack(packer) => packer.pack(half, target),
            Finish::Table(table) => table.look_up(self.level, bytemuck::cast_slice(half), target, Store::Near),
        }
    }
}
