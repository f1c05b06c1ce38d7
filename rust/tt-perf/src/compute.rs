//! Unpackers, FPU and packers of a core.
//!
//! The three run at once, so a kernel's time per tile is the largest of its three columns; nothing here adds them up.
//! `phases` is the number of fidelity phases, 1 (LoFi) to 4 (HiFi4).

/// An element-wise instruction of the FPU, with or without broadcast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eltwise {
    /// Add.
    Add,
    /// Subtract.
    Sub,
    /// Multiply.
    Mul,
}

/// The axis of a reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReduceAxis {
    /// Rows of a column: `REDUCE_COL`.
    Column,
    /// Columns of a row: `REDUCE_ROW`, with a transposition.
    Row,
    /// Both.
    Scalar,
}

/// Cycles of tile operations. Rates are in bytes per cycle.
#[derive(Debug)]
pub struct ComputeCosts {
    /// One unpacker alone.
    pub unpack_rate: u64,
    /// Both unpackers together.
    pub unpack_pair_rate: u64,
    /// Beyond the stream of a tile or a pair of tiles.
    pub unpack_overhead: u64,
    /// Beyond the stream of a tile that is tilized.
    pub tilize_overhead: u64,
    /// A tile that the unpacker untilizes.
    pub unpack_untilize: u64,
    /// Tile product of one phase, in hundredths of a cycle.
    pub matmul_phase_hundredths: u64,
    /// Cost beyond products, per output tile and k run.
    ///
    /// A run is uninterrupted.
    pub matmul_run: u64,
    /// Element-wise multiply: a phase, and the cycles that its first phase saves.
    pub multiply_phase: u64,
    /// See `multiply_phase`.
    pub multiply_saving: u64,
    /// A tile copied to `Dst`.
    pub copy: u64,
    /// Pooling instructions of a tile and phase.
    pub pool_phase: u64,
    /// Moves between faces of a reduced tile.
    pub pool_moves: u64,
    /// Turning the result of a reduction along rows.
    pub reduce_turn: u64,
    /// A tile transposed within `Dst`.
    pub transpose: u64,
    /// The packer's stream.
    pub pack_rate: u64,
    /// Beyond the stream, per call.
    pub pack_call: u64,
    /// The stream of an accumulating pack, in hundredths of plain.
    ///
    /// It adds to L1.
    pub pack_accumulate_hundredths: u64,
    /// Bytes of an untilized row that leave in one cycle.
    pub untilize_row_rate: u64,
    /// Per tile of a pack that untilizes.
    pub untilize_tile: u64,
    /// Per cycle of a row of 16 values, per tile.
    pub untilize_row: u64,
    /// Per block of tiles that is untilized.
    pub untilize_block: u64,
    /// `tile_regs_acquire`, `_commit`, `_wait`, `_release` when nothing has to be waited for.
    pub dst_sync: u64,
    /// A change of data formats of unpackers or packers.
    pub reconfigure: u64,
    /// A switch of the packer: clipping, accumulation in L1.
    pub configure: u64,
    /// A `*_init` that programs one operation.
    pub init: u64,
    /// A full initialisation: `mm_init`, `binary_op_init_common` and their like.
    pub init_common: u64,
}

/// Instructions of a phase of a 32x32x32 tile product. Section 2.1 [isa].
const STEPS: u64 = 16;

impl ComputeCosts {
    /// Unpack of one tile of `bytes`.
    pub const fn unpack(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.unpack_rate) + self.unpack_overhead
    }

    /// Simultaneous unpack of a tile for `SrcA` and `SrcB`.
    pub const fn unpack_pair(&self, bytes_a: u64, bytes_b: u64) -> u64 {
        let together = (bytes_a + bytes_b).div_ceil(self.unpack_pair_rate);
        let longer = if bytes_a > bytes_b { bytes_a } else { bytes_b }.div_ceil(self.unpack_rate);
        (if together > longer { together } else { longer }) + self.unpack_overhead
    }

    /// Unpack of one k step of a tile block.
    ///
    /// `rows` by `columns` output tiles: each operand tile once.
    pub const fn unpack_matmul(&self, bytes_a: u64, bytes_b: u64, rows: u64, columns: u64) -> u64 {
        let stream = (rows * bytes_a + columns * bytes_b).div_ceil(self.unpack_pair_rate);
        stream + self.unpack_overhead * (if rows > columns { rows } else { columns })
    }

    /// Unpack of a row-major tile to tilize, `columns` tiles wide.
    pub const fn unpack_tilize(&self, bytes: u64, columns: u64) -> u64 {
        let plain = bytes.div_ceil(self.unpack_rate) + self.tilize_overhead;
        // Section 2.3: widths that are a multiple of four tiles meet in the same L1 banks [iss].
        if columns.is_multiple_of(4) { 2 * plain } else { plain }
    }

    /// `products` tile products of the FPU.
    pub const fn matmul(&self, phases: u32, products: u64) -> u64 {
        self.matmul_steps(phases, products * STEPS)
    }

    /// The same in steps of one instruction per phase.
    ///
    /// Tiles that are not 32x32 have fewer.
    pub const fn matmul_steps(&self, phases: u32, steps: u64) -> u64 {
        (self.matmul_phase_hundredths * phases as u64 * steps).div_ceil(100 * STEPS)
    }

    /// An element-wise operation on a tile.
    pub const fn eltwise(&self, op: Eltwise, phases: u32) -> u64 {
        let phases = if matches!(op, Eltwise::Mul) { phases as u64 } else { 1 };
        self.multiply_phase * phases - self.multiply_saving
    }

    /// A reduced tile.
    pub const fn reduce(&self, axis: ReduceAxis, phases: u32) -> u64 {
        let turns = if matches!(axis, ReduceAxis::Column) { 0 } else { self.reduce_turn };
        self.pool_phase * phases as u64 + self.pool_moves + turns
    }

    /// Pack of one tile of `bytes`.
    pub const fn pack(&self, bytes: u64, accumulate: bool) -> u64 {
        let stream = if accumulate { bytes * self.pack_accumulate_hundredths / 100 } else { bytes };
        stream.div_ceil(self.pack_rate) + self.pack_call
    }

    /// Untilizing pack of `tiles` adjacent tiles of `value_bytes` values.
    pub const fn pack_untilize(&self, tiles: u64, value_bytes: u64) -> u64 {
        let row = (16 * value_bytes).div_ceil(self.untilize_row_rate);
        tiles * (self.untilize_tile + self.untilize_row * row) + self.untilize_block
    }
}

pub(super) const WORMHOLE: ComputeCosts = ComputeCosts {
    unpack_rate: 64,                 // section 2.3: x4 [isa]
    unpack_pair_rate: 64,            // section 2.3: x4 and x4 give x2 and x2 [isa]
    unpack_overhead: 6,              // k053: 38 for a bf16 tile of 32 cycles
    tilize_overhead: 20,             // k050: 52
    unpack_untilize: 393,            // k057
    matmul_phase_hundredths: 1678,   // section 2.1: 16 instructions [isa] and 4.9 % [iss]
    matmul_run: 13,                  // k047 to k049: 36.85, 35.27, 34.53 at 4, 8, 16 k tiles per run
    multiply_phase: 24,              // section 2.1: 34.6 at HiFi2 and 82.6 at HiFi4 [iss]
    multiply_saving: 13,             // likewise
    copy: 11,                        // 8 instructions [isa] and as much overhead as an addition
    pool_phase: 4,                   // section 2.1 [isa]
    pool_moves: 16,                  // section 4: reduced tiles take 20 to 40
    reduce_turn: 8,                  // likewise: two moves of four blocks of rows
    transpose: 64,                   // estimate: 4 instructions out of each face, 1 to turn it, 8 back and their waits
    pack_rate: 64,                   // section 2.4 [isa]
    pack_call: 9,                    // k061
    pack_accumulate_hundredths: 150, // k062 against k061: 24.0 against 16.0
    untilize_row_rate: 16,           // section 2.4: two cycles per row of bf16 [iss]
    untilize_tile: 16,               // section 2.4: 16 (p + 1) + 17 / ct [iss]
    untilize_row: 16,                // likewise
    untilize_block: 17,              // likewise
    dst_sync: 1,                     // section 2.1: 38.1 through the whole pipeline against 34.6, over four calls [iss]
    reconfigure: 125,                // section 2.6: 100 to 150 [iss]
    configure: 10,                   // estimate: a wait for the packer and one or two instructions
    init: 60,                        // estimate: address counters and one expander loop, an instruction per cycle
    init_common: 300,                // estimate: formats of both sides, synchronisation, two such loops
};

pub(super) const BLACKHOLE: ComputeCosts = ComputeCosts {
    unpack_rate: 80,       // k051 and k055: 25 and 28 for a bf16 tile
    unpack_pair_rate: 160, // k063: 26.5 for a pair of bf16 tiles
    unpack_overhead: 2,    // k055
    tilize_overhead: 0,    // k051
    unpack_untilize: 512,  // k059
    untilize_row_rate: 32, // section 2.4: one cycle per row of bf16 [iss]
    untilize_tile: 32,     // section 2.4: 32 + 32 p + 192 / ct [iss]
    untilize_row: 32,      // likewise
    untilize_block: 192,   // likewise
    ..WORMHOLE
};
