//! Cycles of a compute kernel's tile operations, by unit.
//!
//! For unpackers, FPU or SFPU, and packers.

use tt_perf::{Costs, Eltwise, ReduceAxis};

use crate::error::PlanError;

/// An operation on one tile or block of tiles.
///
/// `bytes` are those of a tile in L1, `phases` those of the fidelity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TileOp {
    /// A tile copied to Dst.
    Copy {
        /// Bytes of the tile.
        bytes: u64,
    },
    /// An element-wise operation of the FPU on two tiles.
    Eltwise {
        /// Add, subtract or multiply.
        op: Eltwise,
        /// Bytes of the tiles.
        bytes: (u64, u64),
        /// Fidelity phases.
        phases: u32,
    },
    /// A function of the SFPU on Dst.
    Sfpu {
        /// Its name in the listings.
        name: String,
        /// Approximate variant.
        approximate: bool,
        /// 32-bit Dst.
        wide: bool,
    },
    /// A block of `rows` by `columns` output tiles and `inner` steps along K.
    Matmul {
        /// Output tiles.
        rows: u64,
        /// Output tiles.
        columns: u64,
        /// Steps along K.
        inner: u64,
        /// Bytes of the operands' tiles.
        bytes: (u64, u64),
        /// Fidelity phases.
        phases: u32,
    },
    /// A reduced tile.
    Reduce {
        /// What it goes along.
        axis: ReduceAxis,
        /// Bytes of the tile.
        bytes: u64,
        /// Fidelity phases.
        phases: u32,
    },
    /// A transposed tile.
    Transpose {
        /// Bytes of the tile.
        bytes: u64,
    },
    /// A tile of a block of so many columns that the unpacker tilizes.
    Tilize {
        /// Bytes of the tile.
        bytes: u64,
        /// Tiles of the block.
        columns: u64,
    },
    /// A packed tile.
    Pack {
        /// Bytes of the tile.
        bytes: u64,
        /// Added to what lies in L1.
        accumulate: bool,
    },
    /// A packed block of tiles next to each other, untilized.
    PackUntilize {
        /// Tiles of the block.
        tiles: u64,
        /// Bytes of a value.
        value_bytes: u64,
    },
    /// A change of data formats.
    Reconfigure,
    /// The initialisation of a kernel.
    Initialise,
    /// A switch to another operation.
    Switch,
}

/// Cycles of unpackers, FPU or SFPU, and packers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TileCycles {
    pub(crate) unpack: u64,
    pub(crate) math: u64,
    pub(crate) pack: u64,
}

impl TileOp {
    /// Whether it ends the use of a half of Dst.
    pub(crate) const fn packs(&self) -> bool {
        matches!(self, Self::Pack { .. } | Self::PackUntilize { .. })
    }

    /// Parts that pass from the unpackers to the FPU one by one.
    pub(crate) const fn parts(&self) -> u64 {
        match *self {
            Self::Matmul { rows, columns, inner, .. } => {
                let products = rows * columns * inner;
                if products == 0 { 1 } else { products }
            }
            _ => 1,
        }
    }

    /// Its cycles.
    ///
    /// # Errors
    /// The SFPU's table has no cycles for the function.
    pub(crate) fn cycles(&self, costs: &Costs) -> Result<TileCycles, PlanError> {
        let compute = &costs.compute;
        let both = |unpack, math| TileCycles { unpack, math, pack: 0 };
        Ok(match *self {
            Self::Copy { bytes } => both(compute.unpack(bytes), compute.copy),
            Self::Eltwise { op, bytes, phases } => {
                both(compute.unpack_pair(bytes.0, bytes.1), compute.eltwise(op, phases))
            }
            Self::Sfpu { ref name, approximate, wide } => {
                let cost = costs.sfpu.tile(name, approximate, wide);
                both(0, cost.ok_or_else(|| PlanError::UnknownFunction { name: name.clone() })?.cycles())
            }
            Self::Matmul { rows, columns, inner, bytes, phases } => both(
                inner * compute.unpack_matmul(bytes.0, bytes.1, rows, columns),
                compute.matmul(phases, rows * columns * inner) + rows * columns * compute.matmul_run,
            ),
            Self::Reduce { axis, bytes, phases } => both(compute.unpack(bytes), compute.reduce(axis, phases)),
            Self::Transpose { bytes } => both(compute.unpack(bytes), compute.transpose),
            Self::Tilize { bytes, columns } => both(compute.unpack_tilize(bytes, columns), compute.copy),
            Self::Pack { bytes, accumulate } => {
                TileCycles { pack: compute.pack(bytes, accumulate), ..TileCycles::default() }
            }
            Self::PackUntilize { tiles, value_bytes } => {
                TileCycles { pack: compute.pack_untilize(tiles, value_bytes), ..TileCycles::default() }
            }
            Self::Reconfigure => TileCycles { unpack: compute.reconfigure, math: 0, pack: compute.reconfigure },
            Self::Initialise => {
                TileCycles { unpack: compute.init_common, math: compute.init_common, pack: compute.init_common }
            }
            Self::Switch => TileCycles { unpack: compute.init, math: compute.init, pack: 0 },
        })
    }
}
