//! A pass with everything that its tiles share.
//!
//! Places of operands, settings of unpackers and packer, decoded scalers.

use std::sync::Arc;

use tt_cpu::Level;
use tt_cpu::table::HalfTable;
use tt_formats::{DataFormat, TileShape};
use tt_fpu::exact::Datums;
use tt_fpu::{Broadcast, DstFormat, EltwiseOp, MathConfig, PoolOp, ReduceDim, Reduction, bf16_lanes};
use tt_sfpu::BinaryCall;
use tt_tensix::pack::{EdgeMask, PackConfig, Packer};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};

use super::lines::{Line, Lines};
use super::program::{Axis, Join, Load, Moment, NAME, Operand, Padding, Part, Pass, Program, Target, Tensor};
use crate::broadcast::BroadcastMap;
use crate::half_table::{WORTH_A_TABLE, kept_table};
use crate::operand::filled_tile;
use crate::{Chain, OpError};

/// Where an operand's tiles lie.
enum Place {
    /// On the pages of an input that the domain's meet.
    Tensor(usize, BroadcastMap),
    /// On the pages of an input of the domain, whose lines begin at a tile.
    Rotated(usize, usize),
    /// In lines of an input of its own: so many tiles each.
    Lines(usize, usize),
    /// In the circular buffer of an earlier pass, so many bytes each.
    Value { number: usize, bytes: usize, is_line: bool },
    /// Here.
    Constant(Vec<u8>),
}

/// An operand with the unpacker's setting.
pub(super) struct Source {
    place: Place,
    /// Past a Src register.
    pub(super) input: Input,
    /// To `Dst`.
    pub(super) copied: Input,
    /// How a tile of it meets a tile of the result.
    pub(super) broadcast: Broadcast,
}

impl Source {
    fn new(program: &Program, before: &[Step<'_>], operand: Operand) -> Result<Self, OpError> {
        let settings = &program.settings;
        let refuse = |what: String| OpError::Invariant { operator: NAME, what };
        let (format, place, broadcast) = match operand {
            Operand::Tensor(number) => match program.tensors.get(number) {
                Some(Tensor::Broadcast(format, shape, given)) => {
                    let map = BroadcastMap::new(shape, &settings.domain);
                    let broadcast = given.unwrap_or(map.broadcast);
                    (*format, Place::Tensor(number, map), broadcast)
                }
                Some(Tensor::Rotated(format, first)) => (*format, Place::Rotated(number, *first), Broadcast::None),
                Some(Tensor::Lines(format, columns)) => {
                    (*format, Place::Lines(number, *columns), settings.axis.broadcast())
                }
                None => return Err(refuse(format!("no tensor {number}"))),
            },
            Operand::Value(number) => match (before.get(number), program.passes.get(number)) {
                (Some(step), Some(pass)) if step.target == Target::Value => {
                    let is_line = step.is_line;
                    let broadcast = if is_line { Broadcast::None } else { settings.axis.broadcast() };
                    let bytes = step.packer.tile_bytes();
                    (pass.format, Place::Value { number, bytes, is_line }, broadcast)
                }
                _ => return Err(refuse(format!("no value {number} of an earlier pass"))),
            },
            Operand::Constant(format, bits) => (format, Place::Constant(filled_tile(format, bits)), Broadcast::None),
        };
        let input = Input::new(format, settings.dst32);
        let copied = if settings.direct { Input::direct_to_dst(format, settings.dst32) } else { input };
        Ok(Self { place, input, copied, broadcast })
    }

    /// It has a tile for every tile of the line.
    fn is_line(&self) -> bool {
        matches!(self.place, Place::Tensor(..) | Place::Rotated(..) | Place::Value { is_line: true, .. })
    }

    /// The pass whose value it is.
    fn value(&self) -> Option<usize> {
        if let Place::Value { number, .. } = self.place { Some(number) } else { None }
    }

    /// A tile of it where it is, if it stands for no more than itself and is of such a format.
    pub(super) fn datums<'t>(&self, in_loop: bool, bytes: &'t [u8]) -> Option<Datums<'t>> {
        match (self.input.format, self.input.register) {
            _ if in_loop && self.broadcast != Broadcast::None => None,
            (DataFormat::Float16B, _) => Some(Datums::Halves(bytes)),
            (DataFormat::Float32, DataFormat::Tf32) => Some(Datums::Singles(bytes)),
            _ => None,
        }
    }

    /// What it holds is the same for all lines.
    pub(super) fn is_constant(&self) -> bool {
        matches!(self.place, Place::Constant(_))
    }

    /// A number of the tile among those that the operand has for a line, or on the pages of a tensor; and its bytes.
    #[inline]
    pub(super) fn tile<'t>(
        &'t self,
        line: &Line<'t>,
        tile: usize,
        steps: &[Step<'_>],
        l1: &'t [Vec<u8>],
    ) -> Result<(usize, &'t [u8]), OpError> {
        match &self.place {
            Place::Tensor(number, map) => {
                let page = map.page(line.tiles, line.lines.page(line.number, tile));
                Ok((page, line.inputs[*number].page(page)?))
            }
            Place::Rotated(number, first) => {
                let page = line.lines.page(line.number, (tile + first) % line.lines.length);
                Ok((page, line.inputs[*number].page(page)?))
            }
            Place::Lines(number, columns) => {
                let pages = line.inputs[*number];
                let first = if pages.buffer().num_pages() == *columns { 0 } else { line.number * columns };
                Ok((tile, pages.page(first + tile)?))
            }
            Place::Value { number, bytes, is_line } => {
                let at = if *is_line && steps[*number].keeps_line { tile } else { 0 };
                Ok((if *is_line { tile } else { 0 }, &l1[*number][at * bytes..][..*bytes]))
            }
            Place::Constant(bytes) => Ok((0, bytes)),
        }
    }
}

/// A sum of a tile's datums: to a row or column of results, or to one datum.
pub(super) enum Factors {
    Lanes(Box<Reduction>),
    Scalar(MathConfig, Box<Tile>),
}

impl Factors {
    /// Adds a tile's sum to `dst`.
    pub(super) fn run(&self, level: Level, dst: &mut Tile, data: &Tile) {
        match self {
            Self::Lanes(reduction) => reduction.run(level, dst, data),
            Self::Scalar(math, factors) => {
                tt_fpu::reduce(math, math.alu, (PoolOp::Sum, ReduceDim::Scalar), dst, data, factors);
            }
        }
    }
}

/// The factors of a sum: those of most tiles and those of the last.
pub(super) struct Sums {
    most: Factors,
    last: Option<Factors>,
}

impl Sums {
    /// Those that a tile of a line meets.
    pub(super) fn of_tile(&self, tile: usize, lines: &Lines) -> &Factors {
        self.last.as_ref().filter(|_| tile + 1 == lines.length).unwrap_or(&self.most)
    }
}

/// What a pass does.
#[allow(clippy::large_enum_variant, reason = "one for each pass, made once")]
pub(super) enum Work {
    Copy(Source),
    Eltwise(EltwiseOp, Source, Source),
    Sfpu(BinaryCall, Source, Source),
    Matmul(Source, Source),
    Max(Source, Reduction),
    /// Max of tiles, place by place.
    MaxOfTiles(Source),
    /// Along the line.
    Sum(Source, Sums),
    /// Of parts, after everything that they are made of, added to a tile if there is one.
    SumOfParts(Vec<(Source, std::ops::Range<usize>)>, Sums, Option<Source>),
    Accumulate(EltwiseOp, Source, Source),
    /// The result of the last tile, or those of all.
    Running(Join, Source, bool),
    RunningSum(Source),
    MovingAverage(Source, [u32; 2]),
    /// Of some tiles, after everything that they are made of.
    Moment(Source, std::ops::Range<usize>, Moment),
    Centred(Source, Source, Source),
}

/// An operation of the FPU on bfloat16 that leaves bfloat16 in `Dst`, in lanes of 16 bits.
pub(super) enum Halves {
    /// The packer leaves them as they are.
    Same,
    /// What functions and packer make of every datum.
    Table(Arc<HalfTable>),
}

impl Halves {
    /// Those of a pass that packs `tiles` tiles; `None` if it is not like that, or has functions that are not worth a
    /// table for so many.
    fn new(work: &Work, math: &MathConfig, chain: &Chain, packer: &PackConfig, tiles: usize) -> Option<Self> {
        let Work::Eltwise(_, first, second) = work else { return None };
        let kept = [first.input.format, second.input.format, packer.output] == [DataFormat::Float16B; 3];
        // Bytes are used as halves.
        if !kept || !bf16_lanes::supports(Level::current(), math) || cfg!(target_endian = "big") {
            return None;
        }
        if chain.is_empty() {
            return Some(Self::Same);
        }
        (tiles >= WORTH_A_TABLE).then(|| Self::Table(kept_table(None, chain, packer)))
    }
}

/// What the packer makes of an operation of the FPU with nothing behind it.
#[derive(Clone, Copy)]
pub(super) enum Packed {
    Halves,
    Words,
}

impl Packed {
    /// That of a pass; `None` for another one.
    fn new(work: &Work, chain: &Chain, packer: &PackConfig) -> Option<Self> {
        let plain = matches!(work, Work::Eltwise(..)) && chain.is_empty() && packer.edge == EdgeMask::None;
        match packer.output {
            _ if !plain || packer.dst != DstFormat::Fp32 => None,
            DataFormat::Float16B => Some(Self::Halves),
            DataFormat::Float32 => Some(Self::Words),
            _ => None,
        }
    }
}

/// A pass, ready to run.
pub(super) struct Step<'p> {
    pub(super) chain: &'p Chain,
    pub(super) dst32: bool,
    pub(super) math: MathConfig,
    pub(super) work: Work,
    pub(super) padding: Padding,
    /// What is added to the padding of the last tile.
    pub(super) mask: Option<Box<Tile>>,
    /// How what it packed is read again: past a Src register, and to `Dst`.
    running: (Input, Input),
    /// How it is computed in lanes of 16 bits, if it can be.
    pub(super) halves: Option<Halves>,
    /// How it is computed from page to page, if it can be.
    pub(super) packed: Option<Packed>,
    /// Both operands are the same tiles.
    pub(super) squares: bool,
    /// From this tile on, those of the first operand are the result.
    pub(super) until: usize,
    pub(super) packer: Packer,
    pub(super) target: Target,
    pub(super) edge: EdgeMask,
    /// It makes a tile for every tile of the line; otherwise one that stands for the line.
    pub(super) is_line: bool,
    /// It looks at every tile of the line in turn.
    pub(super) in_loop: bool,
    /// Passes of a stage run together, tile by tile; what a stage reduces is there for the next.
    pub(super) stage: usize,
    /// Its value is read in a later stage.
    pub(super) keeps_line: bool,
}

impl<'p> Step<'p> {
    #[allow(clippy::too_many_lines, reason = "one arm for each kind of load")]
    pub(super) fn new(program: &'p Program, lines: &Lines, before: &[Self], pass: &'p Pass) -> Result<Self, OpError> {
        let settings = &program.settings;
        let refuse = |what: &str| OpError::Invariant { operator: NAME, what: what.to_owned() };
        let source = |operand| Source::new(program, before, operand);
        let first = match &pass.load {
            Load::Copy(of)
            | Load::Eltwise(_, of, _)
            | Load::Sfpu(_, of, _)
            | Load::Matmul(of, _)
            | Load::Max(of)
            | Load::Accumulate(_, of, _)
            | Load::Fold(_, of)
            | Load::Scan(_, of)
            | Load::RunningSum(of)
            | Load::MovingAverage(of, _)
            | Load::Moment((of, _), _)
            | Load::Centred(of, ..) => *of,
            Load::Sum(parts, ..) => parts.first().ok_or_else(|| refuse("a sum of nothing"))?.0,
        };
        let first = source(first)?;
        let dst = tile_io::dst_format(settings.format, settings.dst32);
        let math = MathConfig { fidelity: settings.fidelity, dst, alu: first.input.register, arch: settings.arch };
        let (work, reduces) = match &pass.load {
            Load::Copy(_) => (Work::Copy(first), false),
            Load::Eltwise(op, _, second) => (Work::Eltwise(*op, first, source(*second)?), false),
            Load::Sfpu(call, _, second) => (Work::Sfpu(*call, first, source(*second)?), false),
            Load::Matmul(_, second) => (Work::Matmul(first, source(*second)?), false),
            Load::Max(_) if matches!(settings.axis, Axis::Inner(_)) => {
                return Err(refuse("a maximum over matrices"));
            }
            Load::Max(_) => match direction(settings.axis) {
                Some(dim) => {
                    let reduction = Reduction::pool(&math, math.alu, (PoolOp::Max, dim), &[ONE; 1024]);
                    (Work::Max(first, reduction), true)
                }
                None => (Work::MaxOfTiles(first), true),
            },
            Load::Sum(parts, scaler, used, start) => {
                let sums = sums(settings.axis, settings.dst32, &math, *scaler, *used)
                    .ok_or_else(|| refuse("no factors along this axis"))?;
                let whole = 0..lines.length;
                if let [(_, range)] = &parts[..]
                    && *range == whole
                    && start.is_none()
                    && first.is_line()
                {
                    (Work::Sum(first, sums), true)
                } else {
                    let parts = parts.iter().map(|(of, range): &Part| Ok((source(*of)?, range.clone())));
                    let start = start.map(source).transpose()?;
                    (Work::SumOfParts(parts.collect::<Result<_, OpError>>()?, sums, start), true)
                }
            }
            Load::Accumulate(op, _, second) => (Work::Accumulate(*op, first, source(*second)?), true),
            Load::Fold(join, _) => (Work::Running(*join, first, false), true),
            Load::Scan(join, _) => (Work::Running(*join, first, true), false),
            Load::RunningSum(_) => (Work::RunningSum(first), false),
            Load::MovingAverage(..) if settings.axis != Axis::Width => {
                return Err(refuse("a moving average along another axis than rows"));
            }
            Load::MovingAverage(_, weights) => (Work::MovingAverage(first, *weights), false),
            Load::Moment((_, range), moment) => (Work::Moment(first, range.clone(), *moment), true),
            Load::Centred(_, anchor, correction) => {
                (Work::Centred(first, source(*anchor)?, source(*correction)?), false)
            }
        };
        let sources = work.sources();
        let any_line = sources.iter().any(|source| source.is_line());
        let after_loop = matches!(work, Work::SumOfParts(..) | Work::Moment(..));
        let in_loop = any_line && !after_loop;
        if reduces && !in_loop && !after_loop {
            return Err(refuse("a reduction of what is no line"));
        }
        // What stands for the line is there after the loop that makes it.
        let stage = sources.iter().filter_map(|source| source.value().map(|number| (number, source.is_line())));
        let stage = stage.map(|(number, is_line)| before[number].stage + usize::from(in_loop && !is_line));
        let stage = stage.max().unwrap_or(0);
        let pools = matches!(work, Work::Max(..) | Work::Sum(..) | Work::SumOfParts(..) | Work::Moment(..));
        let edge = match (pools, settings.axis) {
            (true, Axis::Width) => EdgeMask::Column0,
            (true, Axis::Height) => EdgeMask::Row0,
            (true, Axis::Inner(_)) => EdgeMask::Datum0,
            _ => EdgeMask::None,
        };
        let config = PackConfig { edge, ..PackConfig::new(dst, pass.format) };
        let packer = Packer::new(&config, Level::current()).map_err(|error| refuse(&error.to_string()))?;
        let copied = |format| {
            if settings.direct {
                Input::direct_to_dst(format, settings.dst32)
            } else {
                Input::new(format, settings.dst32)
            }
        };
        let masks = pass.padding == Padding::MinusInfinity && lines.used < 32;
        let tiles = if in_loop { lines.tiles() } else { lines.count };
        if pass.until.is_some() && (!in_loop || reduces || work.sources()[0].input.format != pass.format) {
            return Err(refuse("some tiles of what is no line of this format"));
        }
        let whole = !in_loop || work.sources()[0].broadcast == Broadcast::None;
        Ok(Self {
            halves: if whole { Halves::new(&work, &math, &pass.chain, &config, tiles) } else { None },
            packed: Packed::new(&work, &pass.chain, &config),
            squares: matches!(pass.load, Load::Eltwise(EltwiseOp::Mul, a, b) if a == b),
            until: pass.until.unwrap_or(usize::MAX),
            chain: &pass.chain,
            dst32: settings.dst32,
            math,
            running: (Input::new(pass.format, settings.dst32), copied(pass.format)),
            padding: pass.padding,
            mask: masks.then(|| Box::new(padding_mask(settings.axis, lines))),
            packer,
            target: pass.target,
            edge,
            is_line: in_loop && !reduces,
            in_loop,
            stage,
            keeps_line: false,
            work,
        })
    }

    /// Decides which values are kept as whole lines: those that a later stage reads.
    pub(super) fn keep_lines(steps: &mut [Self]) {
        for reader in 0..steps.len() {
            let (stage, in_loop) = (steps[reader].stage, steps[reader].in_loop);
            for number in steps[reader].work.sources().iter().filter_map(|source| source.value()).collect::<Vec<_>>() {
                steps[number].keeps_line |= steps[number].is_line && (steps[number].stage < stage || !in_loop);
            }
        }
    }

    /// Tiles of its value.
    pub(super) fn kept_tiles(&self, lines: &Lines) -> usize {
        match self.target {
            Target::Output(..) => 0,
            Target::Value if self.keeps_line => lines.length,
            Target::Value => 1,
        }
    }

    /// The page of its output that it packs a tile of a line to.
    pub(super) fn page(&self, line: &Line<'_>, tile: usize) -> usize {
        match self.target {
            Target::Output(_, column, columns) if !self.is_line => line.number * columns + column,
            _ => line.lines.page(line.number, tile),
        }
    }

    /// How its running result is read again: past a Src register, and to `Dst`.
    pub(super) fn running_input(&self) -> (Input, Input) {
        self.running
    }

    /// Datums of a reduced tile that count; `None` for all of them.
    pub(super) fn reduced(&self) -> Option<[usize; 32]> {
        match self.edge {
            EdgeMask::Column0 => Some(std::array::from_fn(|row| TileShape::FULL.index(row, 0))),
            EdgeMask::Row0 => Some(std::array::from_fn(|column| TileShape::FULL.index(0, column))),
            EdgeMask::None | EdgeMask::Datum0 => None,
        }
    }
}

impl Work {
    pub(super) fn sources(&self) -> Vec<&Source> {
        match self {
            Self::Copy(of)
            | Self::Max(of, _)
            | Self::MaxOfTiles(of)
            | Self::Sum(of, _)
            | Self::Running(_, of, _)
            | Self::RunningSum(of)
            | Self::MovingAverage(of, _)
            | Self::Moment(of, ..) => vec![of],
            Self::Eltwise(_, first, second)
            | Self::Sfpu(_, first, second)
            | Self::Matmul(first, second)
            | Self::Accumulate(_, first, second) => vec![first, second],
            Self::Centred(of, anchor, correction) => vec![of, anchor, correction],
            Self::SumOfParts(parts, _, start) => parts.iter().map(|(of, _)| of).chain(start).collect(),
        }
    }
}

/// 1.0 as a Src word.
const ONE: u32 = 127 << 10;

fn direction(axis: Axis) -> Option<ReduceDim> {
    match axis {
        Axis::Width => Some(ReduceDim::Row),
        Axis::Height => Some(ReduceDim::Column),
        Axis::Leading(_) | Axis::Inner(_) => None,
    }
}

/// The factors of a sum along an axis: rows are summed by a product, columns and whole tiles by a pool.
fn sums(
    axis: Axis,
    dst32: bool,
    math: &MathConfig,
    (format, scaler): (DataFormat, u32),
    used: Option<usize>,
) -> Option<Sums> {
    let alu = Input::new(format, dst32).register;
    let word = tile_io::src_word(alu, scaler);
    let factors = |used: usize| -> Tile {
        std::array::from_fn(|index| {
            let (row, column) = TileShape::FULL.position(index);
            // A pool takes the factors of rows from the columns of a face's first row.
            let place = if axis == Axis::Width { column } else { row / 16 * 16 + column % 16 };
            if place < used { word } else { 0 }
        })
    };
    let make = |factors: &Tile| match axis {
        Axis::Width => Some(Factors::Lanes(Box::new(Reduction::row_sum(&MathConfig { alu, ..*math }, factors)))),
        Axis::Height => {
            Some(Factors::Lanes(Box::new(Reduction::pool(math, alu, (PoolOp::Sum, ReduceDim::Column), factors))))
        }
        Axis::Inner(_) if used.is_none() => Some(Factors::Scalar(*math, Box::new(*factors))),
        Axis::Leading(_) | Axis::Inner(_) => None,
    };
    let last = used.filter(|&used| used < 32).and_then(|used| make(&factors(used)));
    Some(Sums { most: make(&[word; 1024])?, last })
}

/// Minus infinity in the padding of the last tile, as a Src tile; zero before.
fn padding_mask(axis: Axis, lines: &Lines) -> Tile {
    const MINUS_INFINITY: u32 = (1 << 18) | (255 << 10);
    let mut mask = ZERO;
    for (index, word) in mask.iter_mut().enumerate() {
        if is_padding(axis, lines, index) {
            *word = MINUS_INFINITY;
        }
    }
    mask
}

/// Whether a datum of the last tile lies in the padding of the line.
fn is_padding(axis: Axis, lines: &Lines, index: usize) -> bool {
    let (row, column) = TileShape::FULL.position(index);
    match axis {
        Axis::Width => column >= lines.used,
        Axis::Height => row >= lines.used,
        Axis::Leading(_) | Axis::Inner(_) => false,
    }
}
