//! Matrix multiplication as the device programs do it.
//!
//! Every output tile is independent of every other. What decides its bits is the width of the K blocks, whether partial
//! sums are accumulated by the packer in L1, the width of Dst, the fidelity, the formats, and what is fused. Cores,
//! sub-blocks, output blocks and multicast decide only the time, so this routine splits the work as the host likes.

use tt_formats::{DataFormat, TileShape};
use tt_memory::{Access, BufferId, Device};
use tt_tensix::fpu::{self, Arch, Broadcast, EltwiseOp, MathConfig, MathFidelity};
use tt_tensix::pack::{self, PackConfig, Relu};
use tt_tensix::unpack;

use crate::port::{self, Input, Tile, ZERO};
use crate::{Chain, OpError, for_each_page};

/// Output tiles that one work item computes side by side, sharing each unpacked tile of the left operand.
const STRIP: usize = 4;

/// What the program is built with. Sizes are in tiles of 32 x 32 unless said otherwise.
#[derive(Clone)]
pub struct MatmulProgram {
    /// Formats of the left operand, the right operand and the output.
    pub formats: (DataFormat, DataFormat, DataFormat),
    /// Matrices in the output, the left and the right operand; 1 means that the operand is shared.
    pub batch: (usize, usize, usize),
    /// Tile rows of the left operand.
    pub m: usize,
    /// Tiles along the inner dimension.
    pub k: usize,
    /// Tile columns of the right operand.
    pub n: usize,
    /// Logical inner dimension in datums; what lies beyond in the last tile of the left operand counts as zero.
    pub k_datums: usize,
    /// Tiles per K block; divides `k`.
    pub k_block: usize,
    /// Fidelity of the products.
    pub fidelity: MathFidelity,
    /// 32-bit Dst.
    pub dst32: bool,
    /// The packer accumulates partial sums in L1.
    pub packer_l1_acc: bool,
    /// The packer clips the result below zero.
    pub relu: bool,
    /// Vector-unit functions on the result in Dst.
    pub activation: Chain,
    /// The left operand is stored as K x M.
    pub transpose_a: bool,
    /// The right operand is stored as N x K.
    pub transpose_b: bool,
    /// Chip.
    pub arch: Arch,
}

impl MatmulProgram {
    fn k_blocks(&self) -> usize {
        self.k / self.k_block
    }

    /// L1 accumulation really in use: there is something to accumulate.
    fn accumulates(&self) -> bool {
        self.packer_l1_acc && self.k_blocks() > 1
    }

    /// Format of partial sums in L1.
    pub fn partials(&self) -> DataFormat {
        if self.dst32 {
            DataFormat::Float32
        } else if self.accumulates() {
            DataFormat::Float16B
        } else {
            self.formats.2
        }
    }
}

/// A fused bias: one row of tiles of which row 0 counts.
#[derive(Clone, Copy, Debug)]
pub struct Bias {
    /// Where it lies.
    pub buffer: BufferId,
    /// Its format.
    pub format: DataFormat,
}

/// Runs the program.
///
/// # Errors
/// Memory errors; buffers that do not hold the tiles the program asks for; a K block that does not divide K.
pub fn matmul(
    device: &mut Device,
    (a, b): (BufferId, BufferId),
    bias: Option<Bias>,
    output: BufferId,
    program: &MatmulProgram,
) -> Result<(), OpError> {
    let fits = |id: BufferId, tiles: usize, name: &str| -> Result<(), OpError> {
        let pages = device.buffer(id)?.num_pages();
        if pages == tiles {
            return Ok(());
        }
        let what = format!("{name} has {pages} tiles, the program asks for {tiles}");
        Err(OpError::Invariant { operator: "matmul", what })
    };
    let (batch, batch_a, batch_b) = program.batch;
    fits(a, batch_a * program.m * program.k, "the left operand")?;
    fits(b, batch_b * program.k * program.n, "the right operand")?;
    fits(output, batch * program.m * program.n, "the output")?;
    if let Some(bias) = bias {
        fits(bias.buffer, program.n, "the bias")?;
    }
    if program.k_block == 0 || !program.k.is_multiple_of(program.k_block) {
        let what = format!("K blocks of {} tiles do not divide {}", program.k_block, program.k);
        return Err(OpError::Invariant { operator: "matmul", what });
    }
    let kernel = Kernel::new(program, bias.map(|bias| (bias, Input::new(bias.format, program.dst32))));
    let access = device.access(&[output])?;
    let strips = program.n.div_ceil(STRIP);
    for_each_page(batch * program.m * strips, Scratch::new, |scratch, item| {
        let (strip, row) = (item % strips, item / strips % program.m);
        let columns = strip * STRIP..((strip + 1) * STRIP).min(program.n);
        let matrix = item / strips / program.m;
        kernel.strip(&access, (a, b), output, (matrix, row, columns), scratch)
    })
}

/// Registers and partial sums of one strip.
struct Scratch {
    a: Tile,
    b: Tile,
    other: Tile,
    dst: [Tile; STRIP],
    partials: Vec<[u8; 4096]>,
    l1: Vec<u8>,
}

impl Scratch {
    fn new() -> Box<Self> {
        Box::new(Self {
            a: ZERO,
            b: ZERO,
            other: ZERO,
            dst: [ZERO; STRIP],
            partials: vec![[0; 4096]; STRIP],
            l1: vec![0; 4096],
        })
    }
}

/// Settings of every step.
struct Kernel<'a> {
    program: &'a MatmulProgram,
    math: MathConfig,
    left: Input,
    right: Input,
    bias: Option<(Bias, Input)>,
    spill: PackConfig,
    reload: Input,
    pack_out: PackConfig,
    pack_left: PackConfig,
}

impl<'a> Kernel<'a> {
    fn new(program: &'a MatmulProgram, bias: Option<(Bias, Input)>) -> Self {
        let (format_a, format_b, format_out) = program.formats;
        let dst = port::dst_format(format_a, program.dst32);
        let right = Input::new(format_b, program.dst32);
        let partials = program.partials();
        let mut pack_out = port::packer(format_out, dst, false);
        if program.relu {
            pack_out.relu = Relu::MinThreshold(0);
        }
        Self {
            program,
            math: MathConfig { fidelity: program.fidelity, dst, alu: right.register, arch: program.arch },
            left: Input::new(format_a, program.dst32),
            right,
            bias,
            spill: port::packer(partials, dst, false),
            reload: Input::direct_to_dst(partials, program.dst32),
            pack_out,
            pack_left: port::packer(format_a, dst, false),
        }
    }

    /// A strip of output tiles in one tile row.
    fn strip(
        &self,
        access: &Access<'_>,
        (a, b): (BufferId, BufferId),
        output: BufferId,
        (matrix, row, columns): (usize, usize, std::ops::Range<usize>),
        scratch: &mut Scratch,
    ) -> Result<(), OpError> {
        let program = self.program;
        let (_, batch_a, batch_b) = program.batch;
        let first_a = if batch_a == 1 { 0 } else { matrix * program.m * program.k };
        let first_b = if batch_b == 1 { 0 } else { matrix * program.k * program.n };
        let blocks = program.k_blocks();
        let accumulate = program.accumulates();
        for block in 0..blocks {
            let last = block + 1 == blocks;
            let reload = block > 0 && (!accumulate || (self.bias.is_none() && last));
            for slot in 0..columns.len() {
                if reload {
                    self.reload(slot, scratch);
                } else {
                    scratch.dst[slot] = ZERO;
                }
            }
            for k in block * program.k_block..(block + 1) * program.k_block {
                let page = if program.transpose_a { k * program.m + row } else { row * program.k + k };
                self.unpack_left(access.page(a, first_a + page)?, k, scratch);
                for (slot, column) in columns.clone().enumerate() {
                    let page = if program.transpose_b { column * program.k + k } else { k * program.n + column };
                    self.right.to_src(access.page(b, first_b + page)?, &mut scratch.b);
                    if program.transpose_b {
                        unpack::transpose(&scratch.b, &mut scratch.other);
                        fpu::matmul_tile(&self.math, &mut scratch.dst[slot], &scratch.a, &scratch.other);
                    } else {
                        fpu::matmul_tile(&self.math, &mut scratch.dst[slot], &scratch.a, &scratch.b);
                    }
                }
            }
            for (slot, column) in columns.clone().enumerate() {
                if last && self.bias.is_none() {
                    let page = (matrix * program.m + row) * program.n + column;
                    program.activation.apply(&mut scratch.dst[slot], program.dst32);
                    pack::pack_tile(&self.pack_out, &scratch.dst[slot], access.claim(output, page)?);
                } else {
                    let spill = PackConfig { l1_accumulate: accumulate && block > 0, ..self.spill };
                    let bytes = spill.output.tile_bytes(TileShape::FULL);
                    pack::pack_tile(&spill, &scratch.dst[slot], &mut scratch.partials[slot][..bytes]);
                }
            }
        }
        if let Some((bias, input)) = self.bias {
            for (slot, column) in columns.enumerate() {
                let page = (matrix * program.m + row) * program.n + column;
                self.add_bias(slot, input, access.page(bias.buffer, column)?, scratch);
                program.activation.apply(&mut scratch.dst[slot], program.dst32);
                pack::pack_tile(&self.pack_out, &scratch.dst[slot], access.claim(output, page)?);
            }
        }
        Ok(())
    }

    /// One tile of the left operand into `scratch.a`, with zeros beyond the logical inner dimension.
    fn unpack_left(&self, bytes: &[u8], k: usize, scratch: &mut Scratch) {
        let program = self.program;
        let Scratch { a, other, l1, .. } = scratch;
        self.left.to_src(bytes, a);
        let used = program.k_datums - (k * 32).min(program.k_datums);
        if used < 32 {
            // The reader overwrites these datums in L1: columns, or rows of a tile that is stored transposed.
            for (index, word) in a.iter_mut().enumerate() {
                let (row, column) = TileShape::FULL.position(index);
                if (if program.transpose_a { row } else { column }) >= used {
                    *word = 0;
                }
            }
        }
        if program.transpose_a {
            // The transposed tile goes through Dst and back to L1 in its own format before it is multiplied.
            unpack::transpose(a, other);
            fpu::copy_to_dst(&MathConfig { alu: self.left.register, ..self.math }, a, other);
            let bytes = self.left.format.tile_bytes(TileShape::FULL);
            pack::pack_tile(&self.pack_left, a, &mut l1[..bytes]);
            self.left.to_src(&l1[..bytes], other);
            std::mem::swap(a, other);
        }
    }

    /// The partial sum of a slot back into Dst.
    fn reload(&self, slot: usize, scratch: &mut Scratch) {
        let bytes = self.reload.format.tile_bytes(TileShape::FULL);
        let Scratch { partials, other, dst, .. } = scratch;
        self.reload.to_dst(&self.math, &partials[slot][..bytes], other, &mut dst[slot]);
    }

    /// Dst of a slot = its partial sum + row 0 of the bias tile.
    fn add_bias(&self, slot: usize, input: Input, bias: &[u8], scratch: &mut Scratch) {
        let Scratch { partials, a, b, dst, .. } = scratch;
        let view = Input::new(self.reload.format, self.program.dst32);
        let bytes = view.format.tile_bytes(TileShape::FULL);
        view.to_src(&partials[slot][..bytes], a);
        input.to_src(bias, b);
        dst[slot] = ZERO;
        let math = MathConfig { alu: view.register, ..self.math };
        fpu::eltwise(&math, EltwiseOp::Add, Broadcast::Row, false, &mut dst[slot], a, b);
    }
}
