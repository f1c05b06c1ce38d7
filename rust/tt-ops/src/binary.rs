//! `binary_ng`: element-wise operators of two tensors, or of a tensor and a scalar, with broadcasting.
//!
//! Per output tile: bring the operands to full tiles (broadcast rows, columns or a single datum through Dst and back to
//! L1, as the chip does), apply operand activations the same way, run the operator on the matrix unit or the vector
//! unit, apply the remaining activations in Dst, pack.

use tt_formats::{DataFormat, TileShape};
use tt_memory::{Access, BufferId, Device};
use tt_tensix::fast::Bf16Page;
use tt_tensix::fpu::halves::{self, Reader};
use tt_tensix::fpu::{self, Arch, Broadcast, EltwiseOp, HalfTile, MathConfig, MathFidelity};
use tt_tensix::pack::{self, DstFormat, HalfPacker, PackConfig, Relu};
use tt_tensix::sfpu::{DstWidth, SeveralCall, quotient};

use crate::port::{self, Input, Tile, ZERO};
use crate::{Chain, OpError, for_each_page};

/// Highest rank of the tensors.
const MAX_RANK: usize = 16;

/// A vector-unit function of two operands with its parameters.
pub type BinaryCall = SeveralCall<fn(&mut [u32], &[u32], &[u32], tt_cpu::Level)>;

/// Which unit computes, and what.
#[derive(Clone, Copy, Debug)]
pub enum Unit {
    /// Matrix unit: operand a in `SrcA`, b in `SrcB`.
    Fpu(EltwiseOp),
    /// Vector unit: both operands in Dst.
    Sfpu(BinaryCall),
}

/// The second operand.
#[derive(Clone, Copy, Debug)]
pub enum Other {
    /// A tensor with its own shape.
    Tensor(BufferId),
    /// A whole tile of one datum, given as FP32 bits, of which shorter formats keep the upper half, or as an integer.
    Scalar(u32),
}

/// What the program is built with. Shapes are logical; the last two dimensions are tiled.
#[derive(Clone)]
pub struct BinaryProgram {
    /// Formats of a, b (of the scalar's tile) and the output.
    pub formats: (DataFormat, DataFormat, DataFormat),
    /// Unit and operation.
    pub unit: Unit,
    /// Shape of a.
    pub shape_a: Vec<usize>,
    /// Shape of b; ignored for a scalar.
    pub shape_b: Vec<usize>,
    /// Shape of the output.
    pub shape_out: Vec<usize>,
    /// The scalar is the left operand.
    pub scalar_is_left: bool,
    /// Pages are tiles; otherwise rows.
    pub tiled: bool,
    /// Fidelity of products on the matrix unit.
    pub fidelity: MathFidelity,
    /// 32-bit Dst.
    pub dst32: bool,
    /// Activations of operand a, of operand b, and of the result.
    pub chains: [Chain; 3],
    /// The packer clips the result below zero.
    pub packer_relu: bool,
    /// Chip.
    pub arch: Arch,
}

/// The tiles of an output, and where page i lies among them.
pub(crate) struct Walk {
    pub(crate) outer: Vec<usize>,
    rows: usize,
    columns: usize,
}

impl Walk {
    /// The walk over an output of `pages` pages.
    pub(crate) fn new(operator: &'static str, shape: &[usize], pages: usize) -> Result<Self, OpError> {
        let rank = shape.len().max(2);
        if rank > MAX_RANK {
            return Err(OpError::Invariant { operator, what: format!("rank {rank}, at most {MAX_RANK} is taken") });
        }
        let out = [vec![1; rank - shape.len()], shape.to_vec()].concat();
        let (rows, columns) = (out[rank - 2].div_ceil(32), out[rank - 1].div_ceil(32));
        let expected = out[..rank - 2].iter().product::<usize>() * rows * columns;
        if expected != pages {
            let what = format!("output has {pages} pages, its shape asks for {expected}");
            return Err(OpError::Invariant { operator, what });
        }
        Ok(Self { outer: out[..rank - 2].to_vec(), rows, columns })
    }

    /// Indices of the leading dimensions, and row and column of the tile.
    pub(crate) fn place(&self, page: usize) -> ([usize; MAX_RANK], (usize, usize)) {
        let (column, row) = (page % self.columns, page / self.columns % self.rows);
        let mut rest = page / self.columns / self.rows;
        let mut outer = [0; MAX_RANK];
        for axis in (0..self.outer.len()).rev() {
            outer[axis] = rest % self.outer[axis];
            rest /= self.outer[axis];
        }
        (outer, (row, column))
    }
}

/// Where an operand's tiles lie relative to the output's, and how a tile is widened.
pub(crate) struct Reach {
    strides: Vec<usize>,
    row_tiles: usize,
    column_tiles: usize,
    broadcast: Broadcast,
}

impl Reach {
    pub(crate) fn new(shape: &[usize], out: &[usize]) -> Self {
        let rank = out.len().max(2);
        let pad = |s: &[usize]| [vec![1; rank - s.len()], s.to_vec()].concat();
        let (shape, out) = (pad(shape), pad(out));
        let (h, w) = (shape[rank - 2], shape[rank - 1]);
        let (row_tiles, column_tiles) = (h.div_ceil(32), w.div_ceil(32));
        let mut strides = vec![0; rank - 2];
        let mut stride = row_tiles * column_tiles;
        for axis in (0..rank - 2).rev() {
            strides[axis] = if shape[axis] == 1 { 0 } else { stride };
            stride *= shape[axis];
        }
        let broadcast = match (h == 1 && out[rank - 2] > 1, w == 1 && out[rank - 1] > 1) {
            (false, false) => Broadcast::None,
            (true, false) => Broadcast::Row,
            (false, true) => Broadcast::Column,
            (true, true) => Broadcast::Scalar,
        };
        Self { strides, row_tiles, column_tiles, broadcast }
    }

    pub(crate) fn page(&self, outer: &[usize], row: usize, column: usize) -> usize {
        let row = if self.row_tiles == 1 { 0 } else { row };
        let column = if self.column_tiles == 1 { 0 } else { column };
        let base: usize = outer.iter().zip(&self.strides).map(|(index, stride)| index * stride).sum();
        base + row * self.column_tiles + column
    }
}

/// Where an operand's rows lie relative to the output's, in a row-major tensor.
struct RowReach {
    /// Rows of the operand per step of each dimension of the output but the last; 0 where the operand is repeated.
    strides: Vec<usize>,
    /// Sizes of those dimensions.
    sizes: Vec<usize>,
    /// The operand's rows have one datum, the output's more.
    repeats_datum: bool,
}

impl RowReach {
    fn new(shape: &[usize], out: &[usize]) -> Self {
        let rank = out.len().max(1);
        let pad = |s: &[usize]| [vec![1; rank - s.len()], s.to_vec()].concat();
        let (shape, out) = (pad(shape), pad(out));
        let mut strides = vec![0; rank - 1];
        let mut stride = 1;
        for axis in (0..rank - 1).rev() {
            strides[axis] = if shape[axis] == 1 { 0 } else { stride };
            stride *= shape[axis];
        }
        Self { strides, sizes: out[..rank - 1].to_vec(), repeats_datum: shape[rank - 1] == 1 && out[rank - 1] > 1 }
    }

    /// The operand's row for a row of the output.
    fn page(&self, row: usize) -> usize {
        let mut rest = row;
        let mut page = 0;
        for (size, stride) in self.sizes.iter().zip(&self.strides).rev() {
            page += rest % size * stride;
            rest /= size;
        }
        page
    }
}

/// One operand: how its tiles are read, widened and activated.
pub(crate) struct Operand<'a> {
    pub(crate) input: Input,
    pub(crate) source: Source,
    broadcast: Broadcast,
    /// Set in row-major tensors whose operands are repeated.
    rows: Option<RowReach>,
    chain: &'a Chain,
    repack: PackConfig,
    dst32: bool,
}

pub(crate) enum Source {
    Buffer(BufferId, Reach),
    Scalar(Vec<u8>),
}

/// Widened tiles that are kept for the next output tiles. A row of tiles that is repeated comes back after a row of output
/// tiles: this many are 8192 datums.
const KEPT: usize = 256;

/// Tiles of one operand in L1 form, each with the page it comes from.
type Kept = Vec<(usize, Vec<u8>)>;

/// Per worker: the operand tiles in L1 form and the registers.
struct Scratch {
    l1: [Vec<u8>; 2],
    kept: [Kept; 2],
    a: Tile,
    b: Tile,
    dst: Tile,
    pages: [Bf16Page; 2],
    half: HalfTile,
}

/// Programs with BF16 everywhere and no activation of the result: operands go from L1 through lanes of 16 bits back to L1.
struct Halves {
    level: tt_cpu::Level,
    /// An operation of the matrix unit; the vector unit's division otherwise.
    op: Option<EltwiseOp>,
    math: MathConfig,
    readers: [Reader; 2],
    packer: HalfPacker,
}

impl Halves {
    /// `None` if a program is not like that.
    fn new(program: &BinaryProgram, math: MathConfig, formats: [DataFormat; 2], packer: &PackConfig) -> Option<Self> {
        let level = tt_cpu::Level::current();
        let op = match &program.unit {
            Unit::Fpu(op) => Some(*op),
            Unit::Sfpu(call) if quotient::computes(call) => None,
            Unit::Sfpu(_) => return None,
        };
        if program.dst32 || !program.chains[2].is_empty() || !halves::supports(level, &math) {
            return None;
        }
        let [first, second] = formats.map(|format| Reader::new(format, level));
        Some(Self { level, op, math, readers: [first?, second?], packer: HalfPacker::new(packer, level)? })
    }

    /// The operator on two tiles; false if their numbers are not plain enough, and `half` is then meaningless.
    fn compute(&self, l1: [&[u8]; 2], [page_a, page_b]: &mut [Bf16Page; 2], half: &mut HalfTile) -> bool {
        match (self.readers[0].read(l1[0], page_a), self.readers[1].read(l1[1], page_b)) {
            (Some(a), Some(b)) => match self.op {
                Some(op) => halves::run(self.level, &self.math, op, half, a, b),
                None => quotient::run(self.level, half, a, b),
            },
            _ => false,
        }
    }
}

impl<'a> Operand<'a> {
    pub(crate) fn new(input: Input, source: Source, chain: &'a Chain, dst32: bool) -> Self {
        let broadcast = match &source {
            Source::Buffer(_, reach) => reach.broadcast,
            Source::Scalar(_) => Broadcast::None,
        };
        let repack = port::packer(input.format, port::dst_format(input.format, dst32), false);
        Self { input, source, broadcast, rows: None, chain, repack, dst32 }
    }

    /// The operand of a row-major tensor: the reader repeats its rows and datums, nothing passes through Dst for that.
    fn in_rows(mut self, shape: &[usize], out: &[usize]) -> Self {
        self.broadcast = Broadcast::None;
        self.rows = (shape != out).then(|| RowReach::new(shape, out));
        self
    }

    /// Copies datums of `unit` bytes of one output row.
    fn copy_row(
        &self,
        access: &Access<'_>,
        (id, row): (BufferId, usize),
        datums: std::ops::Range<usize>,
        unit: usize,
        bytes: &mut [u8],
    ) -> Result<(), OpError> {
        let whole = access.page(id, self.rows.as_ref().map_or(row, |rows| rows.page(row)))?;
        if self.rows.as_ref().is_some_and(|rows| rows.repeats_datum) {
            for datum in bytes[..datums.len() * unit].chunks_exact_mut(unit) {
                datum.copy_from_slice(&whole[..unit]);
            }
        } else {
            bytes[..datums.len() * unit].copy_from_slice(&whole[datums.start * unit..datums.end * unit]);
        }
        Ok(())
    }

    /// [`Self::fetch`] for a page that other output tiles meet, too: a broadcast tile is widened once for many.
    fn fetch_kept<'t>(
        &self,
        math: &MathConfig,
        (page, bytes): (usize, &'t [u8]),
        (kept, l1): (&'t mut Kept, &'t mut Vec<u8>),
        src: &mut Tile,
        dst: &mut Tile,
    ) -> &'t [u8] {
        if self.broadcast == Broadcast::None {
            return self.fetch(math, bytes, l1, src, dst);
        }
        if kept.is_empty() {
            kept.resize(KEPT, (usize::MAX, Vec::new()));
        }
        let (of, l1) = &mut kept[page % KEPT];
        if *of != page {
            *of = page;
            self.fetch(math, bytes, l1, src, dst);
        }
        l1
    }

    /// The operand's L1 bytes for one output tile: as they are, or widened and activated in `l1`.
    pub(crate) fn fetch<'t>(
        &self,
        math: &MathConfig,
        bytes: &'t [u8],
        l1: &'t mut Vec<u8>,
        src: &mut Tile,
        dst: &mut Tile,
    ) -> &'t [u8] {
        if self.broadcast == Broadcast::None && self.chain.is_empty() {
            return bytes;
        }
        l1.clear();
        l1.extend_from_slice(bytes);
        if self.broadcast != Broadcast::None {
            self.input.to_dst(math, l1, src, dst);
            widen(dst, self.broadcast);
            pack::pack_tile(&self.repack, dst, l1);
        }
        if !self.chain.is_empty() {
            self.input.to_dst(math, l1, src, dst);
            self.chain.apply(dst, self.dst32);
            pack::pack_tile(&self.repack, dst, l1);
        }
        l1
    }
}

/// Number and bytes of an operand's page for one output tile; `None` if the operand is the output.
fn page_of<'t>(
    access: &'t Access<'_>,
    operand: &'t Operand<'_>,
    output: BufferId,
    outer: &[usize],
    (row, column): (usize, usize),
) -> Result<Option<(usize, &'t [u8])>, OpError> {
    Ok(match &operand.source {
        Source::Buffer(id, _) if *id == output => None,
        Source::Buffer(id, reach) => {
            let page = reach.page(outer, row, column);
            Some((page, access.page(*id, page)?))
        }
        Source::Scalar(bytes) => Some((0, bytes)),
    })
}

/// Repeats row 0, column 0 or datum 0 of a tile over the whole tile.
fn widen(tile: &mut Tile, broadcast: Broadcast) {
    let old = *tile;
    for (line, words) in tile.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let (face, row) = (line / 16, line % 16);
        match broadcast {
            Broadcast::None => {}
            Broadcast::Row => words.copy_from_slice(&old[face % 2 * 256..][..16]),
            Broadcast::Column => words.fill(old[face / 2 * 512 + row * 16]),
            Broadcast::Scalar => words.fill(old[0]),
        }
    }
}

/// A tile filled with one value, given as FP32 bits and cut to the format.
pub(crate) fn filled_tile(format: DataFormat, bits: u32) -> Vec<u8> {
    let bytes = format.tile_bytes(TileShape::FULL);
    match bytes {
        4096 => bits.to_le_bytes().repeat(1024),
        1024 => vec![bits as u8; 1024],
        _ if format.is_integer() => (bits as u16).to_le_bytes().repeat(1024),
        _ => ((bits >> 16) as u16).to_le_bytes().repeat(1024),
    }
}

/// Runs the program. The output may be one of the inputs if that input is not broadcast.
///
/// # Errors
/// Memory errors; buffers that do not hold the pages the shapes ask for.
pub fn binary(
    device: &mut Device,
    a: BufferId,
    b: Other,
    output: BufferId,
    program: &BinaryProgram,
) -> Result<(), OpError> {
    let (format_a, format_b, format_out) = program.formats;
    let sfpu = matches!(program.unit, Unit::Sfpu(_));
    let entry =
        |format| if sfpu { Input::direct_to_dst(format, program.dst32) } else { Input::new(format, program.dst32) };
    let operand = |format, source, chain| Operand::new(entry(format), source, chain, program.dst32);
    let tensor = |id, format, shape: &[usize], chain| {
        let operand = operand(format, Source::Buffer(id, Reach::new(shape, &program.shape_out)), chain);
        if program.tiled { operand } else { operand.in_rows(shape, &program.shape_out) }
    };
    let left = tensor(a, format_a, &program.shape_a, &program.chains[0]);
    let right = match b {
        Other::Tensor(id) => tensor(id, format_b, &program.shape_b, &program.chains[1]),
        Other::Scalar(bits) => operand(format_b, Source::Scalar(filled_tile(format_b, bits)), &program.chains[1]),
    };
    let (first, second) = if program.scalar_is_left { (&right, &left) } else { (&left, &right) };
    let dst = port::dst_format(format_a, program.dst32);
    let math = MathConfig { fidelity: program.fidelity, dst, alu: first.input.register, arch: program.arch };
    let result = port::result_format(format_a, format_out, program.dst32);
    let mut packer = port::packer(format_out, result, false);
    if program.packer_relu {
        packer.relu = Relu::MinThreshold(0);
    }
    let halves = Halves::new(program, math, [first.input.format, second.input.format], &packer);
    let kernel = Kernel { program, math, packer, first, second, dst, halves };
    let pages = device.buffer(output)?.num_pages();
    let access = device.access(&[output])?;
    let make = || Scratch {
        l1: [Vec::with_capacity(4096), Vec::with_capacity(4096)],
        kept: [Vec::new(), Vec::new()],
        a: ZERO,
        b: ZERO,
        dst: ZERO,
        pages: [[0; 2048]; 2],
        half: [0; 1024],
    };
    if program.tiled {
        let walk = Walk::new("binary", &program.shape_out, pages)?;
        return for_each_page(pages, make, |scratch, page| {
            let (outer, position) = walk.place(page);
            kernel.tile(&access, output, page, &outer[..walk.outer.len()], position, scratch)
        });
    }
    for_each_page(pages, make, |scratch, page| kernel.row(&access, output, page, scratch))
}

/// Everything a worker needs, shared.
struct Kernel<'a> {
    program: &'a BinaryProgram,
    math: MathConfig,
    packer: PackConfig,
    first: &'a Operand<'a>,
    second: &'a Operand<'a>,
    dst: DstFormat,
    halves: Option<Halves>,
}

impl Kernel<'_> {
    /// One output tile of a tiled tensor.
    fn tile(
        &self,
        access: &Access<'_>,
        output: BufferId,
        page: usize,
        outer: &[usize],
        (row, column): (usize, usize),
        scratch: &mut Scratch,
    ) -> Result<(), OpError> {
        let target = access.claim(output, page)?;
        let Scratch { l1: [l1_a, l1_b], kept: [kept_a, kept_b], a, b, dst, pages, half } = scratch;
        let read = |operand| page_of(access, operand, output, outer, (row, column));
        let (page_a, page_b) = (read(self.first)?, read(self.second)?);
        port::ask_behind(target);
        for (operand, page) in [(self.first, page_a), (self.second, page_b)] {
            if let (Broadcast::None, Some((_, bytes))) = (operand.broadcast, page) {
                port::ask_behind(bytes);
            }
        }
        // The output's old page is what an in-place operator reads.
        let l1_a = self.first.fetch_kept(&self.math, page_a.unwrap_or((page, target)), (kept_a, l1_a), a, dst);
        let l1_b = self.second.fetch_kept(&self.math, page_b.unwrap_or((page, target)), (kept_b, l1_b), a, dst);
        match &self.halves {
            Some(halves) if halves.compute([l1_a, l1_b], pages, half) => halves.packer.pack(half, target),
            _ => {
                self.compute(l1_a, l1_b, a, b, dst);
                pack::pack_tile(&self.packer, dst, target);
            }
        }
        Ok(())
    }

    /// One row of a row-major tensor, 1024 datums at a time.
    fn row(&self, access: &Access<'_>, output: BufferId, page: usize, scratch: &mut Scratch) -> Result<(), OpError> {
        let target = access.claim(output, page)?;
        let width = |format: DataFormat| format.tile_bytes(TileShape::FULL) / 1024;
        let width_out = width(self.program.formats.2);
        let datums = target.len() / width_out;
        let mut packed = [0u8; 4096];
        let Scratch { l1: [l1_a, l1_b], a, b, dst, .. } = scratch;
        for start in (0..datums).step_by(1024) {
            let count = (datums - start).min(1024);
            let bytes = |operand: &Operand<'_>| -> Result<[u8; 4096], OpError> {
                let unit = width(operand.input.format);
                let mut bytes = [0u8; 4096];
                match &operand.source {
                    Source::Buffer(id, _) if *id == output => {
                        bytes[..count * unit].copy_from_slice(&target[start * unit..(start + count) * unit]);
                    }
                    Source::Buffer(id, _) => {
                        operand.copy_row(access, (*id, page), start..start + count, unit, &mut bytes)?;
                    }
                    Source::Scalar(tile) => bytes[..count * unit].copy_from_slice(&tile[..count * unit]),
                }
                Ok(bytes)
            };
            let (bytes_a, bytes_b) = (bytes(self.first)?, bytes(self.second)?);
            let tile_bytes = |operand: &Operand<'_>| 1024 * width(operand.input.format);
            let l1_a = self.first.fetch(&self.math, &bytes_a[..tile_bytes(self.first)], l1_a, a, dst);
            let l1_b = self.second.fetch(&self.math, &bytes_b[..tile_bytes(self.second)], l1_b, a, dst);
            self.compute(l1_a, l1_b, a, b, dst);
            pack::pack_tile(&self.packer, dst, &mut packed[..1024 * width_out]);
            target[start * width_out..(start + count) * width_out].copy_from_slice(&packed[..count * width_out]);
        }
        Ok(())
    }

    /// The operator itself on two full tiles; the result stays in `dst`.
    fn compute(&self, l1_a: &[u8], l1_b: &[u8], a: &mut Tile, b: &mut Tile, dst: &mut Tile) {
        let math = MathConfig { dst: self.dst, ..self.math };
        match self.program.unit {
            Unit::Fpu(op) => {
                self.first.input.to_src(l1_a, a);
                self.second.input.to_src(l1_b, b);
                fpu::eltwise(&math, op, Broadcast::None, false, dst, a, b);
            }
            Unit::Sfpu(function) => {
                self.second.input.to_dst(&math, l1_b, a, b);
                self.first.input.to_dst(&math, l1_a, a, dst);
                let width = if self.program.dst32 { DstWidth::Bits32 } else { DstWidth::Bits16 };
                function.run(dst, b, width, tt_cpu::Level::current());
            }
        }
        self.program.chains[2].apply(dst, self.program.dst32);
    }
}
