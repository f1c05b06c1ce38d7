//! Programs with BF16 everywhere.
//!
//! Operands go from L1 through lanes of 16 bits back to L1.

use std::sync::Arc;

use tt_cpu::Level;
use tt_cpu::table::{HalfTable, Store};
use tt_formats::DataFormat;
use tt_fpu::bf16_lanes::{self, Reader};
use tt_fpu::{EltwiseOp, HalfTile, MathConfig};
use tt_sfpu::BinaryCall;
use tt_sfpu::exec::bf16::Bf16Step;
use tt_tensix::pack::{HalfPacker, PackConfig};
use tt_tensix::unpack::Bf16Page;

use super::program::{BinaryProgram, Unit};
use crate::activation::Steps;
use crate::half_table::{WORTH_A_TABLE, kept_table};

/// How the operator is computed, and what becomes of its result.
pub(super) struct Halves {
    level: Level,
    compute: Compute,
    math: MathConfig,
    readers: [Reader; 2],
    finish: Finish,
}

/// What computes.
enum Compute {
    /// An operation of the FPU.
    Fpu(EltwiseOp),
    /// A function of the SFPU with a kernel on pages.
    Sfpu(BinaryCall),
}

impl Compute {
    fn of(unit: &Unit) -> Option<Self> {
        match unit {
            Unit::Fpu(op) => Some(Self::Fpu(*op)),
            Unit::Sfpu(call) => call.bf16().map(|_| Self::Sfpu(*call)),
        }
    }

    /// Whether the packer leaves results as they are in BF16.
    fn is_packed(&self) -> bool {
        match self {
            Self::Fpu(_) => true,
            Self::Sfpu(call) => call.bf16().is_some_and(|kernel| kernel.is_packed),
        }
    }
}

/// From Dst to L1.
enum Finish {
    /// Steps that leave datums which are the same in L1.
    Same(Steps),
    Pack(Steps, HalfPacker),
    /// What activations and packer make of every datum.
    Table(Arc<HalfTable>),
}

impl Finish {
    fn new(
        program: &BinaryProgram,
        compute: &Compute,
        packer: &PackConfig,
        level: Level,
        tiles: usize,
    ) -> Option<Self> {
        let (chain, kept) = (&program.chains[2], packer.output == DataFormat::Float16B);
        let plain = HalfPacker::new(packer, level);
        // Bytes are looked up, the lower one first.
        let table = kept && tiles >= WORTH_A_TABLE && cfg!(target_endian = "little");
        match (plain, Steps::new(chain, tiles)) {
            (Some(_), Some(Steps::Nothing)) if kept && compute.is_packed() => Some(Self::Same(Steps::Nothing)),
            (Some(_), Some(step @ Steps::Step(Bf16Step::Test(_)))) if kept => Some(Self::Same(step)),
            _ if table && !chain.is_empty() => Some(Self::Table(kept_table(None, chain, packer))),
            (Some(packer), Some(steps)) => Some(Self::Pack(steps, packer)),
            _ if table => Some(Self::Table(kept_table(None, chain, packer))),
            _ => None,
        }
    }
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
        let compute = Compute::of(&program.unit)?;
        if program.dst32 || !bf16_lanes::supports(level, &math) {
            return None;
        }
        let [first, second] = formats.map(|format| Reader::new(format, level));
        let finish = Finish::new(program, &compute, packer, level, tiles)?;
        Some(Self { level, compute, math, readers: [first?, second?], finish })
    }

    /// The operator on two tiles to a half tile. False if their numbers are not plain enough; `half` is then
    /// meaningless.
    pub(super) fn compute(&self, l1: [&[u8]; 2], [page_a, page_b]: &mut [Bf16Page; 2], half: &mut HalfTile) -> bool {
        let (a, b) = (self.readers[0].read(l1[0], page_a), self.readers[1].read(l1[1], page_b));
        match &self.compute {
            Compute::Fpu(op) => bf16_lanes::run(self.level, &self.math, *op, half, a, b),
            Compute::Sfpu(call) => call.run_bf16(self.level, half, [a, b]),
        }
    }

    /// What brings a half tile that is in the place of the result to L1; `None` if it has to be packed.
    pub(super) fn steps_in_place(&self) -> Option<&Steps> {
        match &self.finish {
            Finish::Same(steps) => Some(steps),
            _ => None,
        }
    }

    /// Brings a half tile to L1.
    pub(super) fn finish(&self, half: &mut HalfTile, target: &mut [u8]) {
        match &self.finish {
            Finish::Same(steps) => {
                steps.apply(self.level, half);
                for (datum, half) in target.as_chunks_mut::<2>().0.iter_mut().zip(half) {
                    *datum = half.to_le_bytes();
                }
            }
            Finish::Pack(steps, packer) => {
                steps.apply(self.level, half);
                packer.pack(half, target);
            }
            Finish::Table(table) => table.look_up(self.level, bytemuck::cast_slice(half), target, Store::Near),
        }
    }
}
