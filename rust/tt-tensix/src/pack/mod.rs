//! The packer: a tile in `Dst` becomes a tile in L1.
//!
//! Source: `docs/chip/numerics.md` sections 10 and 11.
//!
//! Stages: edge mask, early conversion to an intermediate format, `ReLU`, late conversion, optional accumulation onto
//! what L1 holds. They are chosen once ([`Packer`]) and applied to many tiles; [`pack_tile`] is for single ones.
#[cfg(target_arch = "x86_64")]
mod groups;
mod kernels;

use std::fmt;

use tt_cpu::Level;
use tt_formats::{Blackhole, DataFormat, Generation, TileShape, Wormhole};

use crate::regs::{FACE_DATUMS, FACE_SIDE, HalfTile, TILE_DATUMS};
use kernels::{AccumulateKernel, HalfKernel, Kernel, Limits};

pub use crate::regs::DstFormat;
pub use kernels::CONVERSIONS;

/// `ReLU` of the packer, below or above a threshold.
///
/// Thresholds are 16-bit patterns of non-negative values: BF16, or FP16 if the intermediate format has 5 exponent bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Relu {
    /// Nothing.
    #[default]
    None,
    /// Negative values become 0.
    Zero,
    /// Values up to the threshold become 0.
    MinThreshold(u16),
    /// Negative values become 0, values above the threshold become the threshold.
    MaxThreshold(u16),
}

/// The datums that the packer reads from `Dst`.
///
/// The others are written as zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum EdgeMask {
    /// All of them.
    #[default]
    None,
    /// The first column of the tile, as after a reduction of rows.
    Column0,
    /// The first row, as after a reduction of columns.
    Row0,
    /// The first datum.
    Datum0,
}

/// The packer configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackConfig {
    /// The format of `Dst`.
    pub dst: DstFormat,
    /// The intermediate format.
    ///
    /// `Bfp8B` stands for E8M6 and `Bfp8` for E5M6, which have an exponent each. `Float16` of a 32-bit `Dst` is made by
    /// way of TF32.
    pub intermediate: DataFormat,
    /// The format in L1.
    pub output: DataFormat,
    /// Thresholds on intermediate values.
    pub relu: Relu,
    /// Add to what is in L1.
    pub l1_accumulate: bool,
    /// The datums that are packed.
    pub edge: EdgeMask,
}

impl PackConfig {
    /// The plain conversion that TT-NN selects, without `bfp8_pack_precise`.
    pub fn new(dst: DstFormat, output: DataFormat) -> Self {
        Self::precise(dst, output, false)
    }

    /// The conversion that TT-NN selects for a tensor; `precise` is `bfp8_pack_precise`.
    ///
    /// Generations agree on the formats of tensors.
    pub fn precise(dst: DstFormat, output: DataFormat, precise: bool) -> Self {
        Self::of::<Wormhole>(dst, output, precise)
    }

    /// The conversion that TT-NN selects on a generation, for all formats.
    pub fn of<G: Packs>(dst: DstFormat, output: DataFormat, precise: bool) -> Self {
        Self {
            dst,
            intermediate: G::intermediate(output, dst, precise),
            output,
            relu: Relu::None,
            l1_accumulate: false,
            edge: EdgeMask::None,
        }
    }
}

/// The packer of a generation.
///
/// The given rules are those of generations without a rule of their own.
pub trait Packs: Generation {
    /// The intermediate format that TT-NN selects, on which the conversions depend. `precise` is `bfp8_pack_precise`.
    fn intermediate(output: DataFormat, dst: DstFormat, precise: bool) -> DataFormat {
        intermediate(output, dst, precise)
    }
}

impl Packs for Wormhole {}

impl Packs for Blackhole {
    /// FP16 of a 32-bit `Dst` is rounded; FP8 e4m3 always is made of FP16.
    fn intermediate(output: DataFormat, dst: DstFormat, precise: bool) -> DataFormat {
        match (dst, output) {
            (DstFormat::Fp32, DataFormat::Float16)
            | (DstFormat::Fp32 | DstFormat::Bf16 | DstFormat::Fp16, DataFormat::Fp8E4M3) => DataFormat::Float16,
            _ => intermediate(output, dst, precise),
        }
    }
}

/// The intermediate format that TT-NN selects (`docs/chip/numerics.md` section 11). `precise` is `bfp8_pack_precise`.
pub fn intermediate(output: DataFormat, dst: DstFormat, precise: bool) -> DataFormat {
    let block_float = output.is_block_float();
    let unless_precise = |rounded: DataFormat, full: DataFormat| if block_float && !precise { rounded } else { full };
    match dst {
        // Of FP8 e4m3 there is no conversion: it comes with Blackhole.
        _ if output.is_integer() || output == DataFormat::Fp8E4M3 => output,
        DstFormat::Bf16 => unless_precise(DataFormat::Bfp8B, DataFormat::Float16B),
        DstFormat::Fp16 => unless_precise(DataFormat::Bfp8, DataFormat::Float16),
        // Floats with 5 exponent bits are made from the full value: the early conversion has no such step.
        DstFormat::Fp32 if output.has_5_bit_exponent() => DataFormat::Float32,
        DstFormat::Fp32 if block_float => unless_precise(DataFormat::Bfp8B, DataFormat::Float32),
        DstFormat::Fp32 | DstFormat::Int32 | DstFormat::UInt16 => output,
    }
}

/// The packer cannot be set up this way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackError {
    /// No path from `Dst` through the intermediate format to the output.
    Conversion(PackConfig),
    /// The intermediate format has no such `ReLU`.
    Relu(PackConfig),
    /// The output format cannot be accumulated in L1.
    Accumulate(PackConfig),
}

impl fmt::Display for PackError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conversion(PackConfig { dst, intermediate, output, .. }) => {
                write!(formatter, "the packer does not convert {dst:?} in Dst through {intermediate:?} to {output:?}")
            }
            Self::Relu(config) => {
                write!(formatter, "the packer has no {:?} on {:?} values", config.relu, config.intermediate)
            }
            Self::Accumulate(config) => {
                write!(formatter, "the packer does not accumulate {:?} in L1", config.output)
            }
        }
    }
}

impl std::error::Error for PackError {}

/// One way of packing, ready to be applied to tiles.
#[derive(Clone, Copy)]
pub struct Packer {
    kernel: Kernel,
    limits: Limits,
    accumulate: Option<AccumulateKernel>,
    edge: EdgeMask,
    tile_bytes: usize,
}

impl Packer {
    /// Chooses the conversions.
    ///
    /// # Errors
    /// [`PackError`] if the packer does not have them.
    pub fn new(config: &PackConfig, level: Level) -> Result<Self, PackError> {
        let kernel = kernels::convert(config, level).ok_or(PackError::Conversion(*config))?;
        let limits = Limits::new(config).ok_or(PackError::Relu(*config))?;
        let accumulate = if config.l1_accumulate {
            Some(kernels::accumulate(config.output, level).ok_or(PackError::Accumulate(*config))?)
        } else {
            None
        };
        let tile_bytes = config.output.tile_bytes(TileShape::FULL);
        Ok(Self { kernel, limits, accumulate, edge: config.edge, tile_bytes })
    }

    /// Bytes of a tile in L1.
    pub fn tile_bytes(&self) -> usize {
        self.tile_bytes
    }

    /// Packs one 32x32 tile.
    ///
    /// # Panics
    /// If `l1` is not exactly one tile.
    #[inline]
    pub fn pack(&self, dst: &[u32; TILE_DATUMS], l1: &mut [u8]) {
        self.pack_rows(dst, l1, 2 * FACE_SIDE);
    }

    /// [`Self::pack`] where rows from `rows` on are +0.
    ///
    /// All their datums are in `dst` and, if it is accumulated, in L1: of these, sums need not be made.
    ///
    /// # Panics
    /// As [`Self::pack`].
    #[inline]
    pub fn pack_rows(&self, dst: &[u32; TILE_DATUMS], l1: &mut [u8], rows: usize) {
        assert_eq!(l1.len(), self.tile_bytes, "bytes of one tile");
        if self.edge == EdgeMask::None {
            self.pack_datums(dst, l1, rows);
        } else {
            self.pack_datums(&masked(dst, self.edge), l1, rows);
        }
    }

    #[inline]
    fn pack_datums(&self, dst: &[u32; TILE_DATUMS], l1: &mut [u8], rows: usize) {
        if let Some(accumulate) = self.accumulate {
            let mut packed = [0; TILE_DATUMS * 4];
            let packed = &mut packed[..l1.len()];
            // SAFETY: `kernels` hands out versions for levels that the host has.
            unsafe { (self.kernel)(dst, &self.limits, packed) };
            // Every datum is on its own. Two faces have rows 0 to 15.
            let face = l1.len() / 4;
            for (number, (l1, packed)) in l1.chunks_exact_mut(face).zip(packed.chunks_exact(face)).enumerate() {
                let end = rows.saturating_sub(number / 2 * FACE_SIDE).min(FACE_SIDE) * face / FACE_SIDE;
                // SAFETY: as above.
                unsafe { accumulate(&packed[..end], &mut l1[..end]) };
            }
        } else {
            // SAFETY: as above.
            unsafe { (self.kernel)(dst, &self.limits, l1) }
        }
    }
}

/// Packing of a 16-bit `Dst` from upper word halves.
///
/// They are all there is.
#[derive(Clone, Copy)]
pub struct HalfPacker {
    kernel: HalfKernel,
    tile_bytes: usize,
}

impl HalfPacker {
    /// The conversion of a configuration.
    ///
    /// BF16 to BF16 or block floats and nothing else; `None` for others.
    pub fn new(config: &PackConfig, level: Level) -> Option<Self> {
        let kernel = kernels::convert_halves(config, level)?;
        Some(Self { kernel, tile_bytes: config.output.tile_bytes(TileShape::FULL) })
    }

    /// Packs one 32x32 tile, with the bytes of [`Packer::pack`].
    ///
    /// # Panics
    /// If `l1` is not exactly one tile.
    #[inline]
    pub fn pack(&self, dst: &HalfTile, l1: &mut [u8]) {
        assert_eq!(l1.len(), self.tile_bytes, "bytes of one tile");
        // SAFETY: `kernels` hands out versions for levels that the host has.
        unsafe { (self.kernel)(dst, l1) }
    }
}

/// The accumulation of packed datums in L1 by itself.
#[derive(Clone, Copy)]
pub struct Adder(AccumulateKernel);

impl Adder {
    /// That of a format; `None` if the packer does not accumulate it.
    pub fn new(output: DataFormat, level: Level) -> Option<Self> {
        kernels::accumulate(output, level).map(Self)
    }

    /// Adds `packed` to `l1`, datum by datum.
    ///
    /// # Panics
    /// If the lengths differ.
    #[inline]
    pub fn add(&self, packed: &[u8], l1: &mut [u8]) {
        assert_eq!(packed.len(), l1.len(), "bytes of as many datums");
        // SAFETY: `kernels` hands out versions for levels that the host has.
        unsafe { (self.0)(packed, l1) }
    }
}

/// Packs one 32x32 tile.
///
/// # Panics
/// If the packer has no such conversion, or `l1` is not exactly one tile.
pub fn pack_tile(config: &PackConfig, dst: &[u32; TILE_DATUMS], l1: &mut [u8]) {
    pack_tile_rows(config, dst, l1, 2 * FACE_SIDE);
}

/// [`pack_tile`] of rows as [`Packer::pack_rows`] has them.
///
/// # Panics
/// As [`pack_tile`].
pub fn pack_tile_rows(config: &PackConfig, dst: &[u32; TILE_DATUMS], l1: &mut [u8], rows: usize) {
    match Packer::new(config, Level::current()) {
        Ok(packer) => packer.pack_rows(dst, l1, rows),
        Err(error) => panic!("{error}"),
    }
}

fn masked(dst: &[u32; TILE_DATUMS], edge: EdgeMask) -> [u32; TILE_DATUMS] {
    let mut kept = [0; TILE_DATUMS];
    match edge {
        EdgeMask::None => kept = *dst,
        EdgeMask::Column0 => {
            for row in 0..2 * FACE_SIDE {
                let at = row / FACE_SIDE * 2 * FACE_DATUMS + row % FACE_SIDE * FACE_SIDE;
                kept[at] = dst[at];
            }
        }
        EdgeMask::Row0 => {
            for face in [0, FACE_DATUMS] {
                kept[face..face + FACE_SIDE].copy_from_slice(&dst[face..face + FACE_SIDE]);
            }
        }
        EdgeMask::Datum0 => kept[0] = dst[0],
    }
    kept
}
