//! The row pipeline: operators that compute one row of tiles after the other.
//!
//! A program is a list of passes. A pass loads tiles, one after the other, to `Dst` (a copy, an operation of the FPU on
//! two operands, or a reduction of the whole row to one column), applies a chain of SFPU functions there, and packs
//! them to a circular buffer in L1 or to the output. Formats, fidelity and order are those of the operator's program.
//! Rows run in parallel; nothing is allocated per tile.

use tt_cpu::Level;
use tt_formats::{DataFormat, TileShape};
use tt_memory::access::{Input as Pages, Output};
use tt_memory::{BufferId, Device};
use tt_tensix::fpu::exact::{self, Datums};
use tt_tensix::fpu::{
    self, Arch, Broadcast, EltwiseOp, MathConfig, MathFidelity, PoolOp, ReduceDim, Reduction, RunningMax,
};
use tt_tensix::pack::{EdgeMask, PackConfig, Packer};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};

use crate::broadcast::{BroadcastMap, OutputTiles};
use crate::{Chain, OpError, for_each_page};

/// What every pass of a program shares.
#[derive(Clone, Debug)]
pub struct RowSettings {
    /// The operator's name, for errors.
    pub operator: &'static str,
    /// Logical shape of the output; the last two dimensions are tiled.
    pub shape: Vec<usize>,
    /// Format of the first input. It decides what `Dst` holds.
    pub format: DataFormat,
    /// 32-bit `Dst`.
    pub dst32: bool,
    /// Fidelity of sums and products.
    pub fidelity: MathFidelity,
    /// Chip.
    pub arch: Arch,
}

/// Tiles that a pass loads: those of a tensor or of an earlier pass. [`RowProgram`] hands them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A tensor of the call, broadcast to the output's shape.
    Tensor(usize),
    /// What an earlier pass packed for this row: a row of tiles, or one column that is broadcast.
    Buffer(usize),
}

/// How a pass brings tiles to `Dst`.
#[derive(Clone, Copy, Debug)]
pub enum Load {
    /// `copy_tile`.
    Copy(Operand),
    /// `copy_tile`, with minus infinity added to the padding columns of the last tile if there are any.
    MaskPadding(Operand),
    /// An operation of the FPU; the second operand may be broadcast.
    Eltwise(EltwiseOp, Operand, Operand),
    /// The largest datum of each row, in column 0.
    RowMax(Operand),
    /// The sum of each row, in column 0: a matrix product with a tile of this scaler, FP32 bits, in this format.
    RowSum(Operand, (DataFormat, u32)),
}

/// One pass over a row.
struct Pass {
    load: Load,
    /// SFPU functions behind it.
    chain: Chain,
    /// Format of the packed tiles.
    format: DataFormat,
}

/// A program. The last pass makes the output, every other one a circular buffer.
pub struct RowProgram {
    settings: RowSettings,
    /// Formats and shapes of the tensors.
    tensors: Vec<(DataFormat, Vec<usize>)>,
    passes: Vec<Pass>,
}

impl RowProgram {
    /// A program without passes, and its first input, which has the shape of the output.
    pub fn new(settings: RowSettings) -> (Self, Operand) {
        let tensors = vec![(settings.format, settings.shape.clone())];
        (Self { settings, tensors, passes: Vec::new() }, Operand::Tensor(0))
    }

    /// Another input, broadcast to the output where its shape is 1.
    pub fn tensor(&mut self, format: DataFormat, shape: &[usize]) -> Operand {
        self.tensors.push((format, shape.to_vec()));
        Operand::Tensor(self.tensors.len() - 1)
    }

    /// Adds a pass. What it packs stays in L1 until the row is done; the last pass packs to the output.
    pub fn pass(&mut self, load: Load, chain: Chain, format: DataFormat) -> Operand {
        self.passes.push(Pass { load, chain, format });
        Operand::Buffer(self.passes.len() - 1)
    }

    /// Runs the program on its inputs, in the order in which they were added.
    ///
    /// # Errors
    /// Memory errors; buffers that do not hold the tiles that the shapes ask for; a program that makes no row of tiles.
    pub fn run(&self, device: &mut Device, inputs: &[BufferId], output: BufferId) -> Result<(), OpError> {
        let RowSettings { operator, shape, .. } = &self.settings;
        let refuse = |what: String| Err(OpError::Invariant { operator, what });
        if inputs.len() != self.tensors.len() {
            return refuse(format!("{} inputs for a program of {}", inputs.len(), self.tensors.len()));
        }
        let tiles = OutputTiles::new(operator, shape, device.buffer(output)?.num_pages())?;
        for (&id, (_, shape)) in inputs.iter().zip(&self.tensors) {
            let pages = device.buffer(id)?.num_pages();
            OutputTiles::new(operator, shape, pages)?;
        }
        let columns = shape.last().map_or(1, |width| width.div_ceil(32));
        let mut steps: Vec<Step<'_>> = Vec::with_capacity(self.passes.len());
        for pass in &self.passes {
            steps.push(Step::new(self, &steps, pass)?);
        }
        if steps.last().is_none_or(|last| last.is_column) {
            return refuse("the last pass makes no row of tiles".to_owned());
        }
        let access = device.access(&[output])?;
        let inputs = inputs.iter().map(|&id| access.input(id)).collect::<Result<Vec<_>, _>>()?;
        let output = access.output(output)?;
        let rows = output.buffer().num_pages() / columns.max(1);
        for_each_page(
            rows,
            || Worker::new(&steps, columns),
            |worker, row| {
                let row = Row { tiles: &tiles, inputs: &inputs, output: &output, first: row * columns, columns };
                steps.iter().enumerate().try_for_each(|step| worker.run(step, &row))
            },
        )
    }
}

/// A row of tiles while it is computed.
struct Row<'a> {
    tiles: &'a OutputTiles,
    inputs: &'a [Pages<'a>],
    output: &'a Output<'a>,
    /// Its first page of the output.
    first: usize,
    columns: usize,
}

/// Where an operand's tiles lie.
enum Place {
    /// On the pages of an input that the output's meet.
    Tensor(usize, BroadcastMap),
    /// In the circular buffer of an earlier pass, so many bytes each.
    Buffer(usize, usize),
}

/// An operand with the unpacker's setting.
struct Source {
    place: Place,
    input: Input,
    broadcast: Broadcast,
}

impl Source {
    /// The operand of a pass behind those `before`.
    fn new(program: &RowProgram, before: &[Step<'_>], operand: Operand) -> Self {
        let RowSettings { shape, dst32, .. } = &program.settings;
        let (format, place, broadcast) = match operand {
            Operand::Tensor(number) => {
                let (format, of) = &program.tensors[number];
                let map = BroadcastMap::new(of, shape);
                let broadcast = map.broadcast;
                (*format, Place::Tensor(number, map), broadcast)
            }
            Operand::Buffer(number) => {
                let broadcast = if before[number].is_column { Broadcast::Column } else { Broadcast::None };
                (program.passes[number].format, Place::Buffer(number, before[number].packer.tile_bytes()), broadcast)
            }
        };
        Self { place, input: Input::new(format, *dst32), broadcast }
    }

    /// Number and bytes of the tile at a column of the row.
    fn tile<'t>(&self, row: &Row<'t>, column: usize, l1: &'t [Vec<u8>]) -> Result<(usize, &'t [u8]), OpError> {
        match &self.place {
            Place::Tensor(number, map) => {
                let page = map.page(row.tiles, row.first + column);
                Ok((page, row.inputs[*number].page(page)?))
            }
            Place::Buffer(number, bytes) => {
                let column = if self.broadcast == Broadcast::Column { 0 } else { column };
                Ok((column, &l1[*number][column * bytes..][..*bytes]))
            }
        }
    }
}

/// What a pass does on the FPU.
enum Work {
    Copy,
    /// A copy, but for the last tile, to which this row is added.
    Mask(Box<Tile>),
    Eltwise(EltwiseOp, Source),
    Max(Reduction),
    Sum(Reduction),
}

/// A pass with everything that its tiles share.
struct Step<'p> {
    chain: &'p Chain,
    dst32: bool,
    math: MathConfig,
    source: Source,
    work: Work,
    packer: Packer,
    /// It makes one tile, of which only column 0 counts.
    is_column: bool,
}

impl<'p> Step<'p> {
    fn new(program: &RowProgram, before: &[Self], pass: &'p Pass) -> Result<Self, OpError> {
        let RowSettings { operator, ref shape, format, dst32, fidelity, arch } = program.settings;
        let refuse = |what: String| OpError::Invariant { operator, what };
        let (Load::Copy(of) | Load::MaskPadding(of) | Load::Eltwise(_, of, _) | Load::RowMax(of) | Load::RowSum(of, _)) =
            pass.load;
        let source = Source::new(program, before, of);
        let math = MathConfig { fidelity, dst: tile_io::dst_format(format, dst32), alu: source.input.register, arch };
        let used = shape.last().map_or(0, |width| width % 32);
        let work = match pass.load {
            Load::MaskPadding(_) if used > 0 => Work::Mask(Box::new(padding_mask(used))),
            Load::Copy(_) | Load::MaskPadding(_) => Work::Copy,
            Load::Eltwise(op, _, second) => Work::Eltwise(op, Source::new(program, before, second)),
            Load::RowMax(_) => Work::Max(Reduction::pool(&math, math.alu, (PoolOp::Max, ReduceDim::Row), &[ONE; 1024])),
            Load::RowSum(_, (format, scaler)) => {
                let alu = Input::new(format, dst32).register;
                Work::Sum(Reduction::row_sum(&MathConfig { alu, ..math }, &[tile_io::src_word(alu, scaler); 1024]))
            }
        };
        let reduces = matches!(work, Work::Max(_) | Work::Sum(_));
        // A column goes on as a column; nothing else that is broadcast comes first.
        let is_column = matches!(source.place, Place::Buffer(..)) && source.broadcast == Broadcast::Column;
        if source.broadcast != Broadcast::None && (reduces || !is_column || matches!(work, Work::Mask(_))) {
            return Err(refuse("the first operand of a pass is broadcast".to_owned()));
        }
        let edge = if reduces { EdgeMask::Column0 } else { EdgeMask::None };
        let config = PackConfig { edge, ..PackConfig::new(math.dst, pass.format) };
        let packer = Packer::new(&config, Level::current()).map_err(|error| refuse(error.to_string()))?;
        Ok(Self { chain: &pass.chain, dst32, math, source, work, packer, is_column: is_column || reduces })
    }

    /// Tiles that it makes of a row.
    fn tiles(&self, columns: usize) -> usize {
        if self.is_column { 1 } else { columns }
    }
}

/// 1.0 as a Src word.
const ONE: u32 = 127 << 10;

/// What a worker needs: the circular buffers of a row, and registers.
struct Worker {
    l1: Vec<Vec<u8>>,
    max: RunningMax,
    a: Tile,
    b: Tile,
    dst: Tile,
    level: Level,
}

impl Worker {
    fn new(steps: &[Step<'_>], columns: usize) -> Box<Self> {
        let kept = &steps[..steps.len() - 1];
        let (l1, level) =
            (kept.iter().map(|step| vec![0; step.packer.tile_bytes() * step.tiles(columns)]), Level::current());
        Box::new(Self { l1: l1.collect(), max: RunningMax::new(level), a: ZERO, b: ZERO, dst: ZERO, level })
    }

    /// A pass over the row.
    fn run(&mut self, (number, step): (usize, &Step<'_>), row: &Row<'_>) -> Result<(), OpError> {
        let mut target = self.l1.get_mut(number).map(std::mem::take);
        let (mut loaded, bytes) = (None, step.packer.tile_bytes());
        for column in 0..step.tiles(row.columns) {
            self.load(step, row, column, &mut loaded)?;
            match &mut target {
                Some(target) => step.packer.pack(&self.dst, &mut target[column * bytes..][..bytes]),
                None => step.packer.pack(&self.dst, row.output.claim(row.first + column)?),
            }
        }
        if let Some(target) = target {
            self.l1[number] = target;
        }
        Ok(())
    }

    /// What a pass leaves in `Dst` at a column; `loaded` is the tile that is broadcast in `b`.
    fn load(
        &mut self,
        step: &Step<'_>,
        row: &Row<'_>,
        column: usize,
        loaded: &mut Option<usize>,
    ) -> Result<(), OpError> {
        let Self { l1, max, a, b, dst, level } = self;
        let Step { math, source, .. } = step;
        let halves = source.input.format == DataFormat::Float16B;
        match &step.work {
            Work::Mask(mask) if column + 1 == row.columns => {
                source.input.to_src(source.tile(row, column, l1)?.1, a);
                fpu::eltwise(math, EltwiseOp::Add, Broadcast::Row, false, dst, a, mask);
            }
            Work::Copy | Work::Mask(_) => source.input.to_dst(math, source.tile(row, column, l1)?.1, a, dst),
            Work::Eltwise(op, second) => {
                let (number, tile) = second.tile(row, column, l1)?;
                if *loaded != Some(number) {
                    second.input.to_src(tile, b);
                    second.broadcast.spread(b);
                    *loaded = Some(number);
                }
                let (_, bytes) = source.tile(row, column, l1)?;
                if !halves || !exact::eltwise(*level, math, *op, dst, Datums::Halves(bytes), b) {
                    source.input.to_src(bytes, a);
                    fpu::eltwise(math, *op, Broadcast::None, false, dst, a, b);
                }
            }
            Work::Max(reduction) => {
                max.clear();
                for column in 0..row.columns {
                    let (_, bytes) = source.tile(row, column, l1)?;
                    if halves {
                        max.take_halves(bytes);
                    } else {
                        source.input.to_src(bytes, a);
                        max.take(a);
                    }
                }
                max.store(a);
                fpu::clear_for_max(math, dst);
                reduction.run(*level, dst, a);
            }
            Work::Sum(reduction) => {
                *dst = ZERO;
                for column in 0..row.columns {
                    source.input.to_src(source.tile(row, column, l1)?.1, a);
                    reduction.run(*level, dst, a);
                }
            }
        }
        if !matches!(step.work, Work::Max(_) | Work::Sum(_)) {
            step.chain.apply(dst, step.dst32);
        } else if !step.chain.is_empty() {
            // The packer takes no other columns.
            let places: [usize; 32] = std::array::from_fn(|row| TileShape::FULL.index(row, 0));
            let mut results = places.map(|place| dst[place]);
            step.chain.apply(&mut results, step.dst32);
            places.into_iter().zip(results).for_each(|(place, result)| dst[place] = result);
        }
        Ok(())
    }
}

/// The row that masks padding, as a Src tile: minus infinity from column `used` on, zero before.
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
