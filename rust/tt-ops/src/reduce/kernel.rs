//! Combination of tiles in a step, and processing of the result.

use tt_cpu::Level;
use tt_formats::{DataFormat, TileShape};
use tt_fpu::{Broadcast, CopyTile, EltwiseOp, MathConfig, PoolOp, ReduceDim, Reduction, minimum};
use tt_tensix::pack::{self, DstFormat, EdgeMask, PackConfig};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};

use super::step::{Axis, Join, ReduceStep};
use super::vector::VectorJoin;
use crate::chain::ChainStep;
use crate::{Chain, OpError};

/// Buffers of a worker.
pub struct Scratch {
    pub bytes: Vec<u8>,
    pub negated: Vec<u8>,
    pub running: Vec<u8>,
    /// True if [`Join::FpuMin`]'s maximum is in `dst`, not `running`.
    ///
    /// It is the running one.
    pub unpacked: bool,
    pub src: Tile,
    pub tile: Tile,
    pub dst: Tile,
}

impl Scratch {
    pub fn new(tile_bytes: usize) -> Box<Self> {
        let [bytes, negated, running] = [(); 3].map(|()| vec![0; tile_bytes]);
        Box::new(Self { bytes, negated, running, unpacked: false, src: ZERO, tile: ZERO, dst: ZERO })
    }
}

/// A step with what all tiles share.
pub struct Kernel<'a> {
    pub step: &'a ReduceStep,
    /// The joins of the SFPU.
    pub vector: Option<VectorJoin>,
    pub math: MathConfig,
    pub input: Input,
    pub scaler: Tile,
    /// The FPU's row or column reduction, with decoded factors.
    pub reduction: Option<Reduction>,
    pub level: Level,
    /// The chain of [`ReduceStep::scale`].
    pub scale: Chain,
    pub packer: PackConfig,
    /// Negated tiles of [`Join::FpuMin`].
    pub pack_negated: PackConfig,
    /// Running maximum of [`Join::FpuMin`].
    pub pack_running: PackConfig,
    /// True if plain tiles use [`minimum`].
    pub short_minimum: bool,
}

impl<'a> Kernel<'a> {
    pub fn new(step: &'a ReduceStep) -> Result<Self, OpError> {
        let (format_in, format_out) = step.formats;
        let vector = VectorJoin::new(step.arch, step.join, format_in)?;
        let input = if vector.is_some() {
            Input::direct_to_dst(format_in, step.dst32)
        } else {
            Input::new(format_in, step.dst32)
        };
        let dst = tile_io::dst_format(format_in, step.dst32);
        let scaler = match step.join {
            Join::FpuSum { scaler } => tile_io::src_word(input.register, scaler),
            _ => 127 << 10,
        };
        let edge = match step.axis {
            Axis::Width => EdgeMask::Column0,
            Axis::Height => EdgeMask::Row0,
            Axis::Tile => EdgeMask::Datum0,
            Axis::Leading(_) | Axis::Transposed(_) => EdgeMask::None,
        };
        let negated = PackConfig::new(dst, format_in);
        // The negated minimum leaves through a plain pack: its mask was the running maximum's.
        let last_edge = if step.join == Join::FpuMin { EdgeMask::None } else { edge };
        let math = MathConfig { fidelity: step.fidelity, dst, alu: input.register, arch: step.arch };
        let scaler = [scaler; 1024];
        let pool = |pool, dim| Some(Reduction::pool(&math, math.alu, (pool, dim), &scaler));
        let reduction = match (step.join, step.axis) {
            (Join::FpuSum { .. }, Axis::Width) => Some(Reduction::row_sum(&math, &scaler)),
            (Join::FpuSum { .. }, Axis::Height) => pool(PoolOp::Sum, ReduceDim::Column),
            (Join::FpuMax | Join::FpuMin, Axis::Width) => pool(PoolOp::Max, ReduceDim::Row),
            (Join::FpuMax | Join::FpuMin, Axis::Height) => pool(PoolOp::Max, ReduceDim::Column),
            _ => None,
        };
        Ok(Self {
            step,
            vector,
            math,
            input,
            scaler,
            level: Level::current(),
            scale: match step.scale {
                ONE => Chain::default(),
                factor if format_in == DataFormat::Int32 => Chain::resolve(
                    step.arch,
                    &[
                        ChainStep::new("typecast_from_int32", "int32_to_fp32", &[]),
                        ChainStep::new("mul_unary", "default", &[factor]),
                        ChainStep::new("typecast_from_fp32", "fp32_to_int32", &[]),
                    ],
                )?,
                factor => Chain::of(step.arch, "mul_unary", "default", &[factor])?,
            },
            packer: PackConfig { edge: last_edge, ..PackConfig::new(dst, format_out) },
            pack_negated: negated,
            pack_running: PackConfig { edge, ..negated },
            short_minimum: step.join == Join::FpuMin
                && reduction.is_some()
                && format_in == DataFormat::Bfp8B
                && dst == DstFormat::Fp32,
            reduction,
        })
    }

    /// Copies a tile that has padding to `out` and overwrites the padding.
    ///
    /// False if there is none.
    pub fn filled(&self, bytes: &[u8], tile: usize, out: &mut [u8]) -> bool {
        let Some(fill) = self.step.fill else { return false };
        let (row, column) = (tile / self.step.columns % fill.height.div_ceil(32), tile % self.step.columns);
        let (height, width) = (fill.height - row * 32, fill.width - column * 32);
        if height >= 32 && width >= 32 {
            return false;
        }
        out[..bytes.len()].copy_from_slice(bytes);
        let format = self.step.formats.0;
        for index in 0..1024 {
            let (row, column) = TileShape::FULL.position(index);
            if row < height && column < width {
                continue;
            }
            match format {
                DataFormat::Float32 | DataFormat::Int32 | DataFormat::UInt32 => {
                    out[index * 4..index * 4 + 4].copy_from_slice(&fill.value.to_le_bytes());
                }
                // Only zero is written to block floats: it does not touch the shared exponent.
                DataFormat::Bfp8B => out[64 + index] = 0,
                DataFormat::Bfp4B => out[64 + index / 2] &= if index % 2 == 0 { 0xf0 } else { 0x0f },
                _ => out[index * 2..index * 2 + 2].copy_from_slice(&((fill.value >> 16) as u16).to_le_bytes()),
            }
        }
        true
    }

    /// Joins one tile to the running result in `dst`.
    ///
    /// `None` means the filled copy.
    pub fn join(&self, first: bool, bytes: Option<&[u8]>, scratch: &mut Scratch) {
        let Scratch { bytes: filled, negated, running, unpacked, src, tile, dst } = scratch;
        let bytes = bytes.unwrap_or(filled);
        match self.step.join {
            Join::FpuSum { .. } => {
                if first {
                    *dst = ZERO;
                }
                self.input.to_src(bytes, src);
                if let Axis::Leading(_) = self.step.axis {
                    tt_fpu::eltwise(&self.math, EltwiseOp::Add, Broadcast::None, true, dst, src, &ZERO);
                } else {
                    self.pool(PoolOp::Sum, dst, src);
                }
            }
            Join::FpuMax => {
                if first {
                    tt_fpu::clear_for_max(&self.math, dst);
                }
                self.input.to_src(bytes, src);
                self.pool(PoolOp::Max, dst, src);
            }
            Join::FpuMin if self.short_minimum && minimum::is_plain(bytes) => {
                if first {
                    tt_fpu::clear_for_max(&self.math, dst);
                } else if !*unpacked {
                    self.input.to_dst(&self.math, running, src, dst);
                } else if self.step.axis == Axis::Height {
                    let (faces, _) = dst.as_chunks_mut::<256>();
                    for face in &mut faces[..2] {
                        minimum::through_l1(face.first_chunk_mut().expect("a row"));
                    }
                }
                self.input.to_src(bytes, src);
                minimum::negate(src);
                self.pool(PoolOp::Max, dst, src);
                *unpacked = true;
            }
            Join::FpuMin => {
                if !first && *unpacked {
                    pack::pack_tile(&self.pack_running, dst, running);
                }
                self.input.to_dst(&self.math, bytes, src, dst);
                for word in dst.iter_mut() {
                    *word ^= SIGN;
                }
                pack::pack_tile(&self.pack_negated, dst, negated);
                if first {
                    tt_fpu::clear_for_max(&self.math, dst);
                } else {
                    self.input.to_dst(&self.math, running, src, dst);
                }
                self.input.to_src(negated, src);
                self.pool(PoolOp::Max, dst, src);
                pack::pack_tile(&self.pack_running, dst, running);
                *unpacked = false;
            }
            _ => {
                let target = if first { &mut *dst } else { &mut *tile };
                self.input.to_dst(&self.math, bytes, src, target);
                if let (false, Some(vector)) = (first, &self.vector) {
                    vector.join(dst, tile);
                }
            }
        }
    }

    /// One tile through the FPU.
    fn pool(&self, pool: PoolOp, dst: &mut Tile, src: &Tile) {
        match &self.reduction {
            Some(reduction) => reduction.run(self.level, dst, src),
            None => tt_fpu::reduce(&self.math, self.math.alu, (pool, ReduceDim::Scalar), dst, src, &self.scaler),
        }
    }

    /// Runs the SFPU functions after all tiles are joined.
    pub fn finish(&self, scratch: &mut Scratch) {
        let Scratch { running, unpacked, src, dst, .. } = scratch;
        if self.step.join == Join::FpuMin {
            if *unpacked {
                pack::pack_tile(&self.pack_running, dst, running);
            }
            self.input.to_dst(&self.math, running, src, dst);
            for word in dst.iter_mut() {
                *word ^= SIGN;
            }
        }
        if let Some(vector) = &self.vector {
            vector.fold(self.step.axis, dst);
        }
        self.scale(dst);
    }

    /// Applies the factor after the reduction.
    ///
    /// A table of all 16-bit results would not pay: results are few.
    pub fn scale(&self, dst: &mut Tile) {
        self.scale.apply_once(dst, self.step.dst32);
    }
}

/// The sign of an FP32 word.
pub const SIGN: u32 = 1 << 31;

/// 1.0 in FP32.
const ONE: u32 = 0x3f80_0000;

#[cfg(test)]
mod tests {
    use tt_fpu::{Arch, MathFidelity};
    use tt_testkit::random::Random;

    use super::*;

    /// A tile of block floats: plain, plain with empty groups, or with anything.
    fn tile(random: &mut Random, kind: u32) -> Vec<u8> {
        let exponents: Vec<u8> = (0..64)
            .map(|_| match kind {
                0 => 120 + random.below(12),
                1 => random.below(2) * (8 + random.below(246)),
                _ => random.below(256),
            } as u8)
            .collect();
        let datum = |at: usize, random: &mut Random| match (kind, random.below(256) as u8) {
            (0 | 1, _) if exponents[at / 16] == 0 => 0,
            (0 | 1, 0x80) => 0,
            // Magnitudes of few bits, so that groups do not all begin with the highest.
            (_, datum) if (at / 16).is_multiple_of(3) => {
                if datum & 0x87 == 0x80 {
                    0
                } else {
                    datum & 0x87
                }
            }
            (_, datum) => datum,
        };
        let datums: Vec<u8> = (0..1024).map(|at| datum(at, random)).collect();
        [exponents, datums].concat()
    }

    #[test]
    fn the_short_way_to_a_minimum_has_the_bits_of_the_program() {
        let mut random = Random::new(5);
        let mut short_tiles = 0;
        for round in 0..120 {
            let axis = if round % 2 == 0 { Axis::Width } else { Axis::Height };
            let step = ReduceStep {
                formats: (DataFormat::Bfp8B, DataFormat::Bfp8B),
                outer: 1,
                rows: 4,
                columns: 4,
                fill: None,
                axis,
                join: Join::FpuMin,
                scale: ONE,
                dst32: true,
                fidelity: MathFidelity::HiFi3,
                arch: if round % 3 == 0 { Arch::Blackhole } else { Arch::Wormhole },
            };
            let short = Kernel::new(&step).expect("a step of the FPU");
            assert!(short.short_minimum);
            let long = Kernel { short_minimum: false, ..Kernel::new(&step).expect("a step of the FPU") };
            // Tiles that are not plain come first, last, between others, in all places and in none.
            let kinds: Vec<u32> = (0..=random.below(5)).map(|_| random.below(3) % (1 + round % 4).min(3)).collect();
            let tiles: Vec<Vec<u8>> = kinds.iter().map(|&kind| tile(&mut random, kind)).collect();
            short_tiles += tiles.iter().filter(|tile| minimum::is_plain(tile)).count();
            let results = [short, long].map(|kernel| {
                let mut scratch = Scratch::new(1088);
                for (index, tile) in tiles.iter().enumerate() {
                    kernel.join(index == 0, Some(tile), &mut scratch);
                }
                kernel.finish(&mut scratch);
                let mut packed = vec![0; 1088];
                pack::pack_tile(&kernel.packer, &scratch.dst, &mut packed);
                packed
            });
            assert!(results[0] == results[1], "{axis:?} of tiles of the kinds {kinds:?}");
        }
        assert!(short_tiles > 100);
    }
}
