//! The attention program of `softmax` over the last dimension: one row of tiles at a time, with the intermediates that
//! the program keeps in L1 in the formats it keeps them in.

use tt_cpu::Level;
use tt_formats::{DataFormat, TileShape};
use tt_memory::{BufferId, Device};
use tt_tensix::fpu::exact::Datums;
use tt_tensix::fpu::{
    self, Arch, Broadcast, EltwiseOp, MathConfig, MathFidelity, PoolOp, ReduceDim, Reduction, RunningMax,
};
use tt_tensix::pack::{self, DstFormat, EdgeMask, PackConfig};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};

use crate::{Chain, ChainStep, OpError, for_each_page};

/// What the program is built with.
#[derive(Clone, Debug)]
pub struct SoftmaxProgram {
    /// Format of input and output.
    pub format: DataFormat,
    /// Rows of tiles, over all leading dimensions.
    pub rows: usize,
    /// Tiles per row.
    pub columns: usize,
    /// Logical width in datums.
    pub width: usize,
    /// Subtract the row maximum first.
    pub stable: bool,
    /// Accurate exponential; otherwise the approximate one that clamps below.
    pub exact_exp: bool,
    /// 32-bit Dst.
    pub dst32: bool,
    /// Fidelity of the row sum and of the final product.
    pub fidelity: MathFidelity,
    /// Chip.
    pub arch: Arch,
}

/// The row's intermediates as they lie in circular buffers.
struct Scratch {
    x: Vec<u8>,
    exps: Vec<u8>,
    max: Vec<u8>,
    recip: Vec<u8>,
    largest: RunningMax,
    a: Tile,
    /// What every datum of a row meets, in all columns.
    b: Tile,
    dst: Tile,
}

/// Runs the program on every row of tiles.
///
/// # Errors
/// Memory errors; buffers that do not hold `rows * columns` tiles.
pub fn softmax(
    device: &mut Device,
    input: BufferId,
    output: BufferId,
    program: &SoftmaxProgram,
) -> Result<(), OpError> {
    let pages = program.rows * program.columns;
    for id in [input, output] {
        if device.buffer(id)?.num_pages() != pages {
            let what = format!("a buffer does not hold {} x {} tiles", program.rows, program.columns);
            return Err(OpError::Invariant { operator: "softmax", what });
        }
    }
    let kernel = Kernel::new(program)?;
    let access = device.access(&[output])?;
    let tile = kernel.kept_bytes;
    let make = || Scratch {
        x: vec![0; tile * program.columns],
        exps: vec![0; tile * program.columns],
        max: vec![0; tile],
        recip: vec![0; 4096],
        largest: RunningMax::new(kernel.level),
        a: ZERO,
        b: ZERO,
        dst: ZERO,
    };
    for_each_page(program.rows, make, |scratch, row| {
        let first = row * program.columns;
        let mut tiles = Vec::with_capacity(program.columns);
        for column in 0..program.columns {
            tiles.push(access.page(input, first + column)?);
        }
        kernel.exponentials(&tiles, scratch);
        kernel.reciprocal_sum(scratch);
        for column in 0..program.columns {
            kernel.product(column, scratch, access.claim(output, first + column)?);
        }
        Ok(())
    })
}

/// 1.0 as a Src datum.
const ONE: u32 = 127 << 10;

/// Settings of every step.
struct Kernel<'a> {
    program: &'a SoftmaxProgram,
    math: MathConfig,
    entry: Input,
    kept: Input,
    kept_bytes: usize,
    float: Input,
    pack_kept: PackConfig,
    pack_max: PackConfig,
    pack_recip: PackConfig,
    pack_out: PackConfig,
    exp: Chain,
    recip: Chain,
    row_max: Reduction,
    row_sum: Reduction,
    level: Level,
    padding_mask: Option<Tile>,
}

impl<'a> Kernel<'a> {
    fn new(program: &'a SoftmaxProgram) -> Result<Self, OpError> {
        let kept_format =
            if program.format == DataFormat::Float32 { DataFormat::Float32 } else { DataFormat::Float16B };
        let dst = tile_io::dst_format(program.format, program.dst32);
        let step = |name: &str, variant: &str| {
            Chain::resolve(&[ChainStep { name: name.into(), variant: variant.into(), parameters: Vec::new() }])
        };
        let kept = Input::new(kept_format, program.dst32);
        let pack_kept = PackConfig::new(dst, kept_format);
        let math = MathConfig { fidelity: program.fidelity, dst, alu: kept.register, arch: program.arch };
        let entry = Input::new(program.format, program.dst32);
        let float = Input::new(DataFormat::Float32, program.dst32);
        let masked = !program.width.is_multiple_of(32);
        let of_rows = MathConfig { alu: if masked { kept.register } else { entry.register }, ..math };
        let ones = [ONE; 1024];
        Ok(Self {
            program,
            math,
            entry,
            kept,
            kept_bytes: kept_format.tile_bytes(TileShape::FULL),
            float,
            pack_kept,
            pack_max: PackConfig { edge: EdgeMask::Column0, ..pack_kept },
            pack_recip: PackConfig { edge: EdgeMask::Column0, ..PackConfig::new(dst, DataFormat::Float32) },
            pack_out: PackConfig::new(dst, program.format),
            exp: step("exp", if program.exact_exp { "accurate" } else { "approx_clampneg" })?,
            recip: step("recip", "accurate")?,
            row_max: Reduction::pool(&of_rows, of_rows.alu, (PoolOp::Max, ReduceDim::Row), &ones),
            row_sum: Reduction::row_sum(&MathConfig { alu: float.register, ..math }, &ones),
            level: Level::current(),
            padding_mask: masked.then(|| padding_mask(program.width % 32)),
        })
    }

    /// Fills `exps`: the exponentials of the row, packed.
    fn exponentials(&self, tiles: &[&[u8]], scratch: &mut Scratch) {
        let Scratch { x, exps, max, largest, a, b, dst, .. } = scratch;
        let stable = self.program.stable;
        let dst32 = self.program.dst32;
        let size = self.kept_bytes;
        let last = tiles.len() - 1;
        // The padded program copies the row first, with minus infinity in the padding columns of its last tile; without
        // the maximum to subtract, the exponential runs before that copy is packed.
        if let Some(mask) = &self.padding_mask {
            for (column, bytes) in tiles.iter().enumerate() {
                let math = MathConfig { alu: self.entry.register, ..self.math };
                if column == last {
                    self.entry.to_src(bytes, a);
                    fpu::eltwise(&math, EltwiseOp::Add, Broadcast::Row, false, dst, a, mask);
                } else {
                    self.entry.to_dst(&math, bytes, a, dst);
                }
                let target = if stable { &mut *x } else { &mut *exps };
                if !stable {
                    self.exp.apply(dst, dst32);
                }
                pack::pack_tile(&self.pack_kept, dst, &mut target[column * size..(column + 1) * size]);
            }
            if !stable {
                return;
            }
        }
        let source = if self.padding_mask.is_some() { self.kept } else { self.entry };
        let masked = self.padding_mask.is_some();
        let math = MathConfig { alu: source.register, ..self.math };
        let x = &*x;
        let at = |column: usize| if masked { &x[column * size..(column + 1) * size] } else { tiles[column] };
        if stable {
            largest.clear();
            for column in 0..=last {
                if source.format == DataFormat::Float16B {
                    largest.take_halves(at(column));
                } else {
                    source.to_src(at(column), a);
                    largest.take(a);
                }
            }
            largest.store(a);
            fpu::clear_for_max(&math, dst);
            self.row_max.run(self.level, dst, a);
            pack::pack_tile(&self.pack_max, dst, max);
            self.kept.to_src(max, b);
            Broadcast::Column.spread(b);
        }
        for column in 0..=last {
            if stable {
                let x = self.source(source, at(column), a);
                if !x.is_some_and(|x| fpu::exact::eltwise(self.level, &math, EltwiseOp::Sub, dst, x, b)) {
                    source.to_src(at(column), a);
                    fpu::eltwise(&math, EltwiseOp::Sub, Broadcast::None, false, dst, a, b);
                }
            } else {
                source.to_dst(&math, at(column), a, dst);
            }
            self.exp.apply(dst, dst32);
            pack::pack_tile(&self.pack_kept, dst, &mut exps[column * size..(column + 1) * size]);
        }
    }

    /// A tile in L1 as the short steps take it, in a Src register if need be; `None` if they do not.
    fn source<'t>(&self, input: Input, bytes: &'t [u8], src: &'t mut Tile) -> Option<Datums<'t>> {
        if self.math.dst != DstFormat::Fp32 || input.format.has_5_bit_exponent() {
            return None;
        }
        if input.format == DataFormat::Float16B {
            return Some(Datums::Halves(bytes));
        }
        input.to_src(bytes, src);
        Some(Datums::Words(src))
    }

    /// Fills `recip` and `b`: one over the row sums, in column 0. A row sum is a matrix product with a scaler tile of
    /// ones.
    fn reciprocal_sum(&self, scratch: &mut Scratch) {
        let Scratch { exps, recip, a, b, dst, .. } = scratch;
        *dst = ZERO;
        for tile in exps.chunks_exact(self.kept_bytes) {
            self.kept.to_src(tile, a);
            self.row_sum.run(self.level, dst, a);
        }
        // The packer takes no other columns.
        let places: [usize; 32] = std::array::from_fn(|row| TileShape::FULL.index(row, 0));
        let mut sums = places.map(|place| dst[place]);
        self.recip.apply(&mut sums, self.program.dst32);
        for (place, sum) in places.into_iter().zip(sums) {
            dst[place] = sum;
        }
        pack::pack_tile(&self.pack_recip, dst, recip);
        self.float.to_src(recip, b);
        Broadcast::Column.spread(b);
    }

    /// Packs one output tile: the exponentials times the reciprocal of their row sum.
    fn product(&self, column: usize, scratch: &mut Scratch, target: &mut [u8]) {
        let Scratch { exps, a, b, dst, .. } = scratch;
        let bytes = &exps[column * self.kept_bytes..][..self.kept_bytes];
        let x = self.source(self.kept, bytes, a);
        if !x.is_some_and(|x| fpu::exact::eltwise(self.level, &self.math, EltwiseOp::Mul, dst, x, b)) {
            self.kept.to_src(bytes, a);
            fpu::eltwise(&self.math, EltwiseOp::Mul, Broadcast::None, false, dst, a, b);
        }
        pack::pack_tile(&self.pack_out, dst, target);
    }
}

/// The padding mask as a Src tile: minus infinity from column `used` on, zero before.
fn padding_mask(used: usize) -> Tile {
    const MINUS_INFINITY: u32 = (1 << 18) | (255 << 10);
    let mut mask = ZERO;
    for (index, word) in mask.iter_mut().enumerate() {
        if TileShape::FULL.position(index).1 >= used {
            *word = MINUS_INFINITY;
        }
    }
    mask
}
