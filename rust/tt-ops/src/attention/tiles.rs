//! Steps on single tiles that prefill and decode share.
//!
//! Between steps, tiles lie in L1 as bfloat16.

use std::sync::Arc;

use tt_cpu::Level;
use tt_cpu::table::{HalfTable, Store};
use tt_formats::{DataFormat, TileShape};
use tt_fpu::{
    Accumulator, Broadcast, CopyTile, EltwiseOp, HalfTile, MathConfig, PoolOp, PreparedA, PreparedB, ReduceDim,
    Reduction, RunningMax, bf16_lanes,
};
use tt_sfpu::fma;
use tt_sfpu::lane::ONE as FP32_ONE;
use tt_tensix::pack::{Adder, EdgeMask, PackConfig, Packer, Relu};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};
use tt_tensix::unpack::{self, Bf16Page};

use super::{NAME, Numerics};
use crate::half_table::kept_table;
use crate::{Chain, ChainStep, OpError};

/// Bytes of an intermediate tile.
pub(super) const BYTES: usize = 2048;
pub(super) type Page = [u8; BYTES];

const MINUS_INFINITY: u32 = 0xff80_0000;
/// 1.0 as a Src word.
const ONE: u32 = 127 << 10;
const SIGN: u32 = 1 << 31;
/// 256 / ln 2, the slope of the fast exponential.
const SLOPE: f32 = 369.329_93;

/// Settings of every step.
pub(super) struct Steps {
    pub(super) math: MathConfig,
    pub(super) level: Level,
    pub(super) dst32: bool,
    pub(super) queries: Input,
    pub(super) keys: Input,
    pub(super) values: Input,
    pub(super) kept: Input,
    exp: Chain,
    exp_column: Chain,
    exp_sink: Chain,
    /// Corrections of a merge, in registers.
    pub(super) exp_merge: Chain,
    pub(super) streaming: bool,
    reciprocal: Chain,
    max: Reduction,
    row_sum: Reduction,
    pub(super) pack: Packer,
    pack_column: Packer,
    /// Adds to what is in L1.
    add: Packer,
    /// The same steps on bfloat16 throughout, where Dst holds no more.
    halves: Option<Halves>,
    /// Negative results of the exponential become zero.
    positive: Packer,
    positive_add: Packer,
    pub(super) pack_out: Packer,
}

/// What a 16-bit Dst makes possible: a tile is 2 KiB everywhere, and what becomes of a datum behind an operation of the
/// FPU is in a table.
struct Halves {
    /// The exponential and the packer that clips it at zero.
    exp: Arc<HalfTable>,
    adder: Adder,
}

/// Registers.
pub(super) struct Registers {
    pub(super) a: Box<Tile>,
    pub(super) b: Box<Tile>,
    pub(super) dst: Box<Tile>,
    pub(super) right: Box<PreparedA>,
    left: Box<PreparedB>,
    sums: Box<Accumulator>,
    max: RunningMax,
    /// A column, spread, and a result in Dst, in bfloat16.
    column: Box<Bf16Page>,
    half: Box<HalfTile>,
}

impl Registers {
    pub(super) fn new() -> Self {
        Self {
            a: Box::new(ZERO),
            b: Box::new(ZERO),
            dst: Box::new(ZERO),
            right: Box::new(PreparedA::new()),
            left: Box::new(PreparedB::new()),
            sums: Box::new(Accumulator::new()),
            max: RunningMax::new(Level::current()),
            column: Box::new([0; BYTES]),
            half: Box::new([0; 1024]),
        }
    }
}

/// Where the datum of a row lies that column 0 has.
pub(super) fn first_of_row(row: usize) -> usize {
    TileShape::FULL.index(row, 0)
}

/// A bfloat16 word in the order of sign and magnitude.
fn order(word: u16) -> i16 {
    let word = word as i16;
    word ^ (word >> 15 & i16::MAX)
}

/// The bfloat16 datum of a row of column 0, in L1.
pub(super) fn in_column(page: &Page, row: usize) -> u16 {
    let at = 2 * first_of_row(row);
    u16::from_le_bytes([page[at], page[at + 1]])
}

/// A tile whose datums are all the same word, in bfloat16.
pub(super) fn in_every_datum(word: u32) -> Page {
    let mut page = [0; BYTES];
    page.as_chunks_mut().0.fill(((word >> 16) as u16).to_le_bytes());
    page
}

/// Writes the datum of a row of column 0.
pub(super) fn set_in_column(page: &mut Page, row: usize, word: u16) {
    let at = 2 * first_of_row(row);
    page[at..at + 2].copy_from_slice(&word.to_le_bytes());
}

impl Steps {
    pub(super) fn new(numerics: &Numerics) -> Result<Self, OpError> {
        let (queries, keys, values, output) = numerics.formats;
        let dst32 = numerics.dst32;
        let refuse = |what: String| OpError::Invariant { operator: NAME, what };
        for format in [queries, keys, values, output] {
            let known = [DataFormat::Float16B, DataFormat::Bfp8B, DataFormat::Bfp4B];
            if !known.contains(&format) {
                return Err(refuse(format!("{format:?} operands")));
            }
        }
        let level = Level::current();
        let kept = Input::new(DataFormat::Float16B, dst32);
        let dst = tile_io::dst_format(DataFormat::Float16B, dst32);
        let math = MathConfig { fidelity: numerics.fidelity, dst, alu: kept.register, arch: numerics.arch };
        let plain = PackConfig::new(dst, DataFormat::Float16B);
        let packer = |config: PackConfig| Packer::new(&config, level).map_err(|error| refuse(error.to_string()));
        let positive = PackConfig { relu: Relu::MinThreshold(0), ..plain };
        let scale = f32::from_bits(numerics.scale);
        let exp = if numerics.approximate {
            Chain::of(numerics.arch, "exp", "approx_scaled", &[(SLOPE * scale).to_bits()])?
        } else {
            let scaled = ChainStep::new("mul_unary", "default", &[numerics.scale]);
            Chain::resolve(numerics.arch, &[scaled, ChainStep::new("exp", "accurate", &[])])?
        };
        let column = if numerics.polynomial { "column_polynomial" } else { "column" };
        let short_scale = numerics.scale & 0xffff_0000;
        let halves = if bf16_lanes::supports(level, &math) {
            let adder = Adder::new(DataFormat::Float16B, level);
            adder.map(|adder| Halves { exp: kept_table(None, &exp, &positive), adder })
        } else {
            None
        };
        Ok(Self {
            halves,
            math,
            level,
            dst32,
            queries: Input::new(queries, dst32),
            keys: Input::new(keys, dst32),
            values: Input::new(values, dst32),
            kept,
            exp,
            exp_column: Chain::of(numerics.arch, "exp", column, &[short_scale])?,
            exp_sink: Chain::of(numerics.arch, "exp", column, &[short_scale ^ SIGN])?,
            exp_merge: Chain::of(numerics.arch, "exp", if dst32 { "column" } else { "merge" }, &[short_scale])?,
            streaming: numerics.streaming,
            reciprocal: numerics.reciprocal.clone(),
            max: Reduction::pool(&math, math.alu, (PoolOp::Max, ReduceDim::Row), &[ONE; 1024]),
            row_sum: Reduction::row_sum(&math, &[ONE; 1024]),
            pack: packer(plain)?,
            pack_column: packer(PackConfig { edge: EdgeMask::Column0, ..plain })?,
            add: packer(PackConfig { l1_accumulate: true, ..plain })?,
            positive: packer(positive)?,
            positive_add: packer(PackConfig { l1_accumulate: true, ..positive })?,
            pack_out: packer(PackConfig::new(dst, output))?,
        })
    }

    /// Packs a tile of Dst, or adds it to what is in L1.
    pub(super) fn pack_or_add(&self, dst: &Tile, page: &mut Page, adds: bool) {
        let packer = if adds { &self.add } else { &self.pack };
        packer.pack(dst, page);
    }

    /// The right operand of a product from a tile of keys, transposed.
    pub(super) fn prepare_key(&self, bytes: &[u8], registers: &mut Registers) {
        let Registers { a, b, right, .. } = registers;
        self.keys.to_src(bytes, a);
        unpack::transpose(a, b);
        right.prepare(&self.math, b);
    }

    /// The right operand of a product from a tile of values.
    pub(super) fn prepare_value(&self, bytes: &[u8], registers: &mut Registers) {
        let Registers { a, right, .. } = registers;
        self.values.to_src(bytes, a);
        right.prepare(&self.math, a);
    }

    /// The left operand of a product from a kept tile.
    pub(super) fn prepare_left(&self, page: &Page, left: &mut PreparedB, registers: &mut Registers) {
        self.kept.to_src(page, &mut registers.a);
        left.prepare(&self.math, &registers.a);
    }

    /// The largest datums of the rows of some tiles, and of `before` if given; in column 0.
    pub(super) fn row_max(&self, scores: &[Page], before: Option<&Page>, result: &mut Page, registers: &mut Registers) {
        if self.halves.is_some() {
            largest_of_rows(scores, result);
        } else {
            let Registers { a, dst, max, .. } = registers;
            max.clear();
            for page in scores {
                max.take_halves(page);
            }
            max.store(a);
            tt_fpu::clear_for_max(&self.math, dst);
            self.max.run(self.level, dst, a);
            self.pack_column.pack(dst, result);
        }
        if let Some(before) = before {
            for row in 0..32 {
                let earlier = in_column(before, row);
                if order(earlier) > order(in_column(result, row)) {
                    set_in_column(result, row, earlier);
                }
            }
        }
    }

    /// `exp(scale * (scores - max))` of one tile to Dst; `b` of the registers holds the maxima, spread.
    fn exponentials(&self, page: &Page, registers: &mut Registers) {
        let Registers { a, b, dst, .. } = registers;
        self.kept.to_src(page, a);
        tt_fpu::eltwise(&self.math, EltwiseOp::Sub, Broadcast::None, false, dst, a, b);
        self.exp.apply(&mut dst[..], self.dst32);
    }

    /// Brings a tile of which column 0 counts to `SrcB`, for all columns.
    pub(super) fn load_column(&self, page: &Page, registers: &mut Registers) {
        if self.halves.is_some() {
            for row in 0..32 {
                let at = 2 * first_of_row(row);
                let datum = [page[at], page[at + 1]];
                for face in [at, at + 512] {
                    registers.column[face..face + 32].as_chunks_mut().0.fill(datum);
                }
            }
        }
        self.kept.to_src(page, &mut registers.b);
        Broadcast::Column.spread(&mut registers.b);
    }

    /// An operation on a tile and the loaded column, in bfloat16; false if that cannot be.
    fn with_column(&self, op: EltwiseOp, page: &Page, registers: &mut Registers) -> bool {
        let Registers { column, half, .. } = registers;
        self.halves.is_some() && bf16_lanes::run(self.level, &self.math, op, half, page, column)
    }

    /// Makes scores their exponentials, and adds the tiles up, each packed to L1, if `sum` is given.
    pub(super) fn probabilities(
        &self,
        scores: &mut [Page],
        max: &Page,
        mut sum: Option<&mut Page>,
        registers: &mut Registers,
    ) {
        self.load_column(max, registers);
        for (number, page) in scores.iter_mut().enumerate() {
            if let Some(halves) = &self.halves
                && self.with_column(EltwiseOp::Sub, page, registers)
            {
                halves.exp.look_up(self.level, bytes_of(&registers.half), page, Store::Near);
                match &mut sum {
                    Some(sum) if number == 0 => sum.copy_from_slice(page),
                    Some(sum) => halves.adder.add(page, &mut sum[..]),
                    None => {}
                }
                continue;
            }
            self.exponentials(page, registers);
            self.positive.pack(&registers.dst, page);
            if let Some(sum) = &mut sum {
                if number == 0 {
                    sum.copy_from_slice(page);
                } else {
                    self.positive_add.pack(&registers.dst, &mut sum[..]);
                }
            }
        }
    }

    /// `exp(scale * (before - now))` of column 0, packed.
    pub(super) fn correction(&self, before: &Page, now: &Page, result: &mut Page, registers: &mut Registers) {
        let Registers { a, b, dst, half, .. } = registers;
        if self.halves.is_some() && bf16_lanes::run(self.level, &self.math, EltwiseOp::Sub, half, before, now) {
            let mut column: [u32; 32] = std::array::from_fn(|row| u32::from(half[first_of_row(row)]) << 16);
            self.exp_column.apply_once(&mut column, false);
            // Exponentials are neither -0 nor NaN, so that the packer leaves them as they are.
            column.into_iter().enumerate().for_each(|(row, word)| set_in_column(result, row, (word >> 16) as u16));
            return;
        }
        self.kept.to_src(before, a);
        self.kept.to_src(now, b);
        tt_fpu::eltwise(&self.math, EltwiseOp::Sub, Broadcast::None, false, dst, a, b);
        self.on_column(&self.exp_column, dst);
        self.pack_column.pack(dst, result);
    }

    fn on_column(&self, chain: &Chain, dst: &mut Tile) {
        let mut column: [u32; 32] = std::array::from_fn(|row| dst[first_of_row(row)]);
        chain.apply_once(&mut column, self.dst32);
        column.into_iter().enumerate().for_each(|(row, word)| dst[first_of_row(row)] = word);
    }

    /// Adds a kept tile times the loaded column to a tile in L1, by the packer.
    pub(super) fn add_product(&self, page: &Page, to: &mut Page, registers: &mut Registers) {
        if let Some(halves) = &self.halves
            && self.with_column(EltwiseOp::Mul, page, registers)
        {
            halves.adder.add(bytes_of(&registers.half), to);
        } else {
            self.times_b(page, registers);
            self.add.pack(&registers.dst, to);
        }
    }

    /// A kept tile times the loaded column, in Dst.
    pub(super) fn times_b(&self, page: &[u8], registers: &mut Registers) {
        let Registers { a, b, dst, .. } = registers;
        self.kept.to_src(page, a);
        tt_fpu::eltwise(&self.math, EltwiseOp::Mul, Broadcast::None, false, dst, a, b);
    }

    /// `result = a op b`, kept tiles, packed.
    pub(super) fn join(&self, op: EltwiseOp, pages: (&Page, &Page), result: &mut Page, registers: &mut Registers) {
        let Registers { a, b, dst, .. } = registers;
        self.kept.to_src(pages.0, a);
        self.kept.to_src(pages.1, b);
        tt_fpu::eltwise(&self.math, op, Broadcast::None, false, dst, a, b);
        self.pack.pack(dst, result);
    }

    /// The sums of the rows of some tiles, in column 0.
    pub(super) fn row_sums(&self, pages: &[Page], result: &mut Page, registers: &mut Registers) {
        let Registers { a, dst, .. } = registers;
        dst.fill(0);
        for page in pages {
            self.kept.to_src(page, a);
            self.row_sum.run(self.level, dst, a);
        }
        self.pack_column.pack(dst, result);
    }

    /// The sums of the rows of a tile to Dst, by a product with a column of ones.
    fn rows_to_dst(&self, sum: &Page, registers: &mut Registers) {
        let Registers { a, left, right, sums, dst, .. } = registers;
        a.fill(0);
        (0..32).for_each(|row| a[first_of_row(row)] = ONE);
        right.prepare(&self.math, a);
        self.kept.to_src(sum, a);
        left.prepare(&self.math, a);
        sums.clear();
        tt_fpu::accumulate(&self.math, sums, right, left);
        dst.copy_from_slice(sums.dst());
    }

    /// The same, packed.
    pub(super) fn sum_of_rows(&self, sum: &Page, result: &mut Page, registers: &mut Registers) {
        self.rows_to_dst(sum, registers);
        self.pack_column.pack(&registers.dst, result);
    }

    /// 1 / the sums of the rows of a tile.
    pub(super) fn reciprocal_of_rows(&self, sum: &Page, result: &mut Page, registers: &mut Registers) {
        self.rows_to_dst(sum, registers);
        self.finish_reciprocal(result, registers);
    }

    /// The same, with a sink in every sum: `exp(-scale * (max - sink))`.
    pub(super) fn reciprocal_with_sink(
        &self,
        (sum, max): (&Page, &Page),
        sink: &Page,
        result: &mut Page,
        registers: &mut Registers,
    ) {
        let Registers { a, b, dst, .. } = &mut *registers;
        self.kept.to_src(max, a);
        self.kept.to_src(sink, b);
        tt_fpu::eltwise(&self.math, EltwiseOp::Sub, Broadcast::None, false, dst, a, b);
        self.on_column(&self.exp_sink, dst);
        let shares: [u32; 32] = std::array::from_fn(|row| dst[first_of_row(row)]);
        self.rows_to_dst(sum, registers);
        for (row, share) in shares.into_iter().enumerate() {
            let total = &mut registers.dst[first_of_row(row)];
            let word = fma(*total, FP32_ONE, share, self.math.arch);
            *total = if self.dst32 { word } else { word & 0xffff_0000 };
        }
        self.finish_reciprocal(result, registers);
    }

    /// Column 0 from words of Dst, packed.
    pub(super) fn pack_words(&self, words: &[u32; 32], result: &mut Page, registers: &mut Registers) {
        words.iter().enumerate().for_each(|(row, &word)| registers.dst[first_of_row(row)] = word);
        self.pack_column.pack(&registers.dst, result);
    }

    /// A kept tile times the loaded column, packed in its place.
    pub(super) fn scale(&self, page: &mut Page, registers: &mut Registers) {
        self.times_b(page, registers);
        self.pack.pack(&registers.dst, page);
    }

    /// 1 / column 0 of a tile.
    pub(super) fn reciprocal_of_column(&self, sum: &Page, result: &mut Page, registers: &mut Registers) {
        let Registers { a, dst, .. } = &mut *registers;
        self.kept.to_dst(&self.math, sum, a, dst);
        self.finish_reciprocal(result, registers);
    }

    fn finish_reciprocal(&self, result: &mut Page, registers: &mut Registers) {
        self.on_column(&self.reciprocal, &mut registers.dst);
        self.pack_column.pack(&registers.dst, result);
    }

    /// Adds a tile of an operand of this format to scores in L1, by the packer.
    pub(super) fn add_mask(&self, input: Input, bytes: &[u8], scores: &mut Page, registers: &mut Registers) {
        let Registers { a, dst, .. } = registers;
        input.to_dst(&self.math, bytes, a, dst);
        self.add.pack(dst, scores);
    }

    /// Adds minus infinity to the scores that do not count, by the packer.
    pub(super) fn hide(&self, hidden: impl Fn(usize, usize) -> bool, scores: &mut Page, registers: &mut Registers) {
        fill_hidden(&hidden, MINUS_INFINITY, &mut registers.dst);
        self.add.pack(&registers.dst, scores);
    }

    /// The same by the FPU: the scores are read, added and packed again.
    pub(super) fn hide_by_sum(
        &self,
        hidden: impl Fn(usize, usize) -> bool,
        scores: &mut Page,
        registers: &mut Registers,
    ) {
        let Registers { a, b, dst, .. } = registers;
        fill_hidden(&hidden, (1 << 18) | (255 << 10), b);
        self.kept.to_src(scores, a);
        tt_fpu::eltwise(&self.math, EltwiseOp::Add, Broadcast::None, false, dst, a, b);
        self.pack.pack(dst, scores);
    }
}

/// The largest datums of the rows of some tiles of packed scores, in column 0: what GMPOOL of rows gives.
fn largest_of_rows(scores: &[Page], result: &mut Page) {
    let mut largest = [i16::MIN; 1024];
    for page in scores {
        for (largest, datum) in largest.iter_mut().zip(page.as_chunks().0) {
            let word = u16::from_le_bytes(*datum);
            *largest = (*largest).max(order(if word & 0x7f80 == 0 { 0 } else { word }));
        }
    }
    result.fill(0);
    for row in 0..32 {
        let at = first_of_row(row);
        let halves = largest[at..at + 16].iter().chain(&largest[at + 256..at + 272]);
        let word = halves.fold(i16::MIN, |most, &key| most.max(key));
        let word = (word ^ (word >> 15 & i16::MAX)) as u16;
        let is_nan = word & 0x7fff > 0x7f80;
        set_in_column(result, row, if is_nan { word & 0xff80 } else { word });
    }
}

/// A tile of halves as it lies in L1.
fn bytes_of(tile: &HalfTile) -> &Page {
    bytemuck::cast_ref(tile)
}

fn fill_hidden(hidden: impl Fn(usize, usize) -> bool, word: u32, tile: &mut Tile) {
    for (index, datum) in tile.iter_mut().enumerate() {
        let (row, column) = TileShape::FULL.position(index);
        *datum = if hidden(row, column) { word } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use tt_fpu::{Arch, MathFidelity};
    use tt_testkit::random::Random;

    use super::*;

    fn steps() -> Steps {
        let format = DataFormat::Float16B;
        Steps::new(&Numerics {
            formats: (format, format, format, format),
            fidelity: MathFidelity::HiFi2,
            dst32: false,
            scale: 0.125_f32.to_bits(),
            approximate: true,
            polynomial: false,
            streaming: true,
            reciprocal: Chain::of(Arch::Wormhole, "recip", "approx", &[]).expect("a function"),
            arch: Arch::Wormhole,
        })
        .expect("formats of attention")
    }

    /// A tile as the packer leaves it: no NaN, no -0 and no denormals.
    fn packed(random: &mut Random, exponents: u32) -> Page {
        let mut page = [0; BYTES];
        for datum in page.as_chunks_mut::<2>().0 {
            let exponent = 127 - exponents / 2 + random.below(exponents);
            let word = (random.below(2) << 15 | exponent << 7 | random.below(128)) as u16;
            *datum = (if random.below(20) == 0 { 0 } else { word }).to_le_bytes();
        }
        page
    }

    #[test]
    fn halves_give_the_bits_of_words() {
        let (halves, mut words) = (steps(), steps());
        words.halves = None;
        let mut random = Random::new(3);
        for round in 0..40 {
            let exponents = [2, 10, 200][round % 3];
            let scores = [packed(&mut random, exponents), packed(&mut random, exponents)];
            let before = packed(&mut random, exponents);
            let run = |steps: &Steps| {
                let (mut registers, mut scores) = (Registers::new(), scores);
                let (mut max, mut sum, mut factor) = ([0; BYTES], [0; BYTES], [0; BYTES]);
                steps.row_max(&scores, (round % 2 == 0).then_some(&before), &mut max, &mut registers);
                steps.probabilities(&mut scores, &max, Some(&mut sum), &mut registers);
                steps.correction(&before, &max, &mut factor, &mut registers);
                steps.load_column(&factor, &mut registers);
                let mut output = scores[0];
                steps.add_product(&scores[1], &mut output, &mut registers);
                let columns: Vec<_> = (0..32).map(|row| (in_column(&max, row), in_column(&factor, row))).collect();
                (columns, scores, sum, output)
            };
            assert_eq!(run(&halves), run(&words), "round {round}");
        }
    }
}
