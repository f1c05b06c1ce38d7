//! Weighted sums of experts' rows, and the choice of experts.
//!
//! Sources: tt-metal `ttnn/cpp/ttnn/operations/experimental/deepseek_prefill/post_combine_reduce` and
//! `ttnn/cpp/ttnn/operations/experimental/topk_router_gpt`, folders `device/kernels`.

use tt_cpu::Level;
use tt_formats::{DataFormat, TileShape};
use tt_fpu::bf16_lanes;
use tt_fpu::{Arch, Broadcast, CopyTile, EltwiseOp, MathConfig, MathFidelity};
use tt_memory::{Access, BufferId, Device};
use tt_sfpu::DstWidth;
use tt_sfpu::tile::{Registers, Rules, lookup};
use tt_tensix::pack::{Adder, PackConfig, Packer, pack_tile};
use tt_tensix::regs::{DstFormat, HalfTile};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};
use tt_tensix::unpack::{self, Bf16Page};

use crate::movement::{HALVES, tile_of_rows};
use crate::row_writes::read_indices;
use crate::{OpError, for_each_page};

const SUMS: &str = "post_combine_reduce";
const ROUTER: &str = "topk_router_gpt";
/// Tokens that a core sums up before it tilizes them.
const TOKENS: usize = 32;
/// Datums of a row that are one tile of the product.
const PIECE: usize = 1024;
/// An expert of another chip.
const ELSEWHERE: u32 = u32::MAX;

/// Settings of the weighted sums of rows.
#[derive(Clone, Copy, Debug)]
pub struct ExpertSums {
    /// Experts of a token.
    pub slots: usize,
    /// Datums of a row.
    pub width: usize,
    /// Chip.
    pub arch: Arch,
}

/// Buffers of the weighted sums.
#[derive(Clone, Copy, Debug)]
pub struct ExpertRows {
    /// A row of bfloat16 for each expert of each token.
    pub rows: BufferId,
    /// Pages that begin with the weights of the rows, in bfloat16.
    pub weights: BufferId,
    /// Numbers of the experts, and the chip of every expert.
    ///
    /// The numbers are UINT16 in a page for each token.
    pub routes: Option<(BufferId, BufferId)>,
}

/// Rows of a token that are added up, with their weights.
type Terms = Vec<(usize, u16)>;

impl ExpertSums {
    /// Writes the weighted sums of every token's rows, tiled.
    ///
    /// The FPU multiplies rows of 1,024 datums with their weight in a 16-bit `Dst`, and the packer adds the products in
    /// L1. Rows of experts of other chips are left out; without routes those of weight zero, except for the first of a
    /// token. A token without a row gets its last one, times zero.
    ///
    /// # Errors
    /// Memory errors; buffers of other sizes; [`OpError::Index`] for an expert after the last.
    pub fn run(&self, device: &mut Device, from: &ExpertRows, output: BufferId) -> Result<(), OpError> {
        let refuse = |what: String| Err(OpError::Invariant { operator: SUMS, what });
        let across = self.width / 32;
        let (chunks, rest) = (device.buffer(output)?.num_pages() / across.max(1), self.width % 32);
        let rows = chunks * TOKENS * self.slots;
        let (given, bytes) = (device.buffer(from.rows)?.num_pages(), device.buffer(from.rows)?.page_bytes());
        if rest != 0 || given != rows || bytes != 2 * self.width || device.buffer(from.weights)?.num_pages() != rows {
            return refuse(format!("{given} rows of {bytes} B for {rows} of {} datums", self.width));
        }
        let access = device.access(&[output])?;
        let terms = self.terms(&access, from, chunks * TOKENS)?;
        let level = Level::current();
        let product = Product::new(self.arch, level)?;
        let (source, target) = (access.input(from.rows)?.all()?, access.output(output)?);
        let pieces = self.width.div_ceil(PIECE);
        let make = || Scratch { sums: vec![[0; HALVES]; TOKENS], row: [0; HALVES], product: Operands::new() };
        for_each_page(chunks * pieces, make, |scratch, item| {
            let (chunk, piece) = (item / pieces, item % pieces);
            let first = piece * PIECE;
            let bytes = 2 * (self.width - first).min(PIECE);
            let Scratch { sums, row, product: registers } = scratch;
            for (token, sum) in sums.iter_mut().enumerate() {
                let number = chunk * TOKENS + token;
                for (place, &(slot, weight)) in terms[number].iter().enumerate() {
                    let page = source.page(number * self.slots + slot);
                    row[..bytes].copy_from_slice(&page[2 * first..][..bytes]);
                    product.add(row, weight, sum, place > 0, registers);
                }
            }
            let rows: Vec<&[u8]> = sums.iter().map(<[u8; HALVES]>::as_slice).collect();
            for column in 0..bytes / 64 {
                let page = target.claim(chunk * across + first / 32 + column)?;
                let Ok(tile) = page.try_into() else {
                    let what = "an output whose pages are no tiles of bfloat16".to_owned();
                    return Err(OpError::Invariant { operator: SUMS, what });
                };
                tile_of_rows(level, &rows, 64 * column, tile);
            }
            Ok(())
        })
    }

    /// The rows that every token adds up.
    fn terms(&self, access: &Access<'_>, from: &ExpertRows, tokens: usize) -> Result<Vec<Terms>, OpError> {
        let weight = |token: usize, slot: usize| -> Result<(u16, bool), OpError> {
            let page = access.page(from.weights, token * self.slots + slot)?;
            // The kernel compares a word of 32 bits with zero.
            Ok((u16::from_le_bytes([page[0], page[1]]), page.iter().take(4).any(|&byte| byte != 0)))
        };
        let Some((indices, table)) = from.routes else {
            return (0..tokens)
                .map(|token| {
                    let mut terms = Terms::new();
                    for slot in 0..self.slots {
                        let (weight, counts) = weight(token, slot)?;
                        if counts || slot == 0 {
                            terms.push((slot, weight));
                        }
                    }
                    Ok(terms)
                })
                .collect();
        };
        let pages = access.buffer(table)?.num_pages();
        let length = access.buffer(table)?.page_bytes() / 4;
        let chips = read_indices(access, table, DataFormat::UInt32, (pages, length))?;
        let experts = read_indices(access, indices, DataFormat::UInt16, (tokens, self.slots))?;
        if let Some(&index) = experts.iter().find(|&&index| index as usize >= chips.len()) {
            return Err(OpError::Index { index, rows: chips.len() });
        }
        let of_token = |(token, experts): (usize, &[u32])| {
            let mut terms = Terms::new();
            for (slot, &expert) in experts.iter().enumerate() {
                if chips[expert as usize] != ELSEWHERE {
                    terms.push((slot, weight(token, slot)?.0));
                }
            }
            if terms.is_empty() {
                terms.push((self.slots - 1, 0));
            }
            Ok(terms)
        };
        experts.chunks_exact(self.slots).enumerate().map(of_token).collect()
    }
}

struct Scratch {
    sums: Vec<[u8; HALVES]>,
    row: Bf16Page,
    product: Operands,
}

/// Registers of a product.
struct Operands {
    a: Box<Tile>,
    b: Box<Tile>,
    dst: Box<Tile>,
    half: Box<HalfTile>,
    weights: Box<Bf16Page>,
}

impl Operands {
    fn new() -> Self {
        let tile = || Box::new(ZERO);
        Self { a: tile(), b: tile(), dst: tile(), half: Box::new([0; 1024]), weights: Box::new([0; HALVES]) }
    }
}

/// A row times a number, packed to L1 or added there.
struct Product {
    level: Level,
    math: MathConfig,
    entry: Input,
    pack: Packer,
    add: Packer,
    adder: Option<Adder>,
}

impl Product {
    fn new(arch: Arch, level: Level) -> Result<Self, OpError> {
        let entry = Input::new(DataFormat::Float16B, false);
        let dst = tile_io::dst_format(DataFormat::Float16B, false);
        let math = MathConfig { fidelity: MathFidelity::HiFi4, dst, alu: entry.register, arch };
        let plain = PackConfig::new(dst, DataFormat::Float16B);
        let packer = |config: PackConfig| {
            let refuse = |what: String| OpError::Invariant { operator: SUMS, what };
            Packer::new(&config, level).map_err(|error| refuse(error.to_string()))
        };
        let lanes = bf16_lanes::supports(level, &math);
        Ok(Self {
            level,
            math,
            entry,
            pack: packer(plain)?,
            add: packer(PackConfig { l1_accumulate: true, ..plain })?,
            adder: if lanes { Adder::new(DataFormat::Float16B, level) } else { None },
        })
    }

    fn add(&self, row: &Bf16Page, weight: u16, sum: &mut [u8; HALVES], adds: bool, registers: &mut Operands) {
        let Operands { a, b, dst, half, weights } = registers;
        weights.as_chunks_mut().0.fill(weight.to_le_bytes());
        if let Some(adder) = &self.adder
            && bf16_lanes::run(self.level, &self.math, EltwiseOp::Mul, half, row, weights)
        {
            let product: &[u8] = bytemuck::cast_slice(&half[..]);
            if adds {
                adder.add(product, sum);
            } else {
                sum.copy_from_slice(product);
            }
            return;
        }
        self.entry.to_src(row, a);
        self.entry.to_src(&weights[..], b);
        tt_fpu::eltwise(&self.math, EltwiseOp::Mul, Broadcast::None, false, dst, a, b);
        let packer = if adds { &self.add } else { &self.pack };
        packer.pack(dst, sum);
    }
}

/// Tiles of logits: 128 experts.
const GROUPS: usize = 4;

/// Buffers of the choice of experts.
#[derive(Clone, Debug)]
pub struct Logits {
    /// Products of the choosing cores' share of the elements, in FP32.
    ///
    /// `Dst` of these cores holds them.
    pub own: BufferId,
    /// The packed products of the other cores, and the bias.
    pub added: Vec<BufferId>,
}

/// Writes every row's 32 largest of 128 logits, and their columns.
///
/// The largest comes first.
///
/// What is added goes to `SrcB`; the sum so far goes to `SrcA` and loses all bits but those of bfloat16. Tiles of logits
/// are transposed to a 32-bit `Dst` with their columns beside them. The network sorts the first two; the others take the
/// place of the second one in turn. Equal logits have the order that the network gives them.
///
/// # Errors
/// Memory errors; buffers of other sizes.
pub fn router_topk(
    device: &mut Device,
    logits: &Logits,
    (values, columns): (BufferId, BufferId),
    arch: Arch,
) -> Result<(), OpError> {
    let refuse = |what: String| OpError::Invariant { operator: ROUTER, what };
    let added = logits.added.iter().map(|&buffer| (buffer, GROUPS, HALVES));
    let sizes = [(logits.own, GROUPS, 2 * HALVES), (values, 1, HALVES), (columns, 1, HALVES)];
    for (buffer, pages, bytes) in added.chain(sizes) {
        let found = (device.buffer(buffer)?.num_pages(), device.buffer(buffer)?.page_bytes());
        if found != (pages, bytes) {
            return Err(refuse(format!("{} pages of {} B, not {pages} of {bytes} B", found.0, found.1)));
        }
    }
    let access = device.access(&[values, columns])?;
    let entry = Input::new(DataFormat::Float16B, true);
    let math = MathConfig { fidelity: MathFidelity::HiFi2, dst: DstFormat::Fp32, alu: entry.register, arch };
    let packer = PackConfig::new(DstFormat::Fp32, DataFormat::Float16B);
    let mut tiles = [ZERO; 4];
    let load = |tiles: &mut [Tile; 4], group: usize, place: usize| -> Result<(), OpError> {
        let (mut a, mut b, mut dst, mut page) = (ZERO, ZERO, ZERO, [0; HALVES]);
        for (word, bytes) in dst.iter_mut().zip(access.page(logits.own, group)?.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        for &added in &logits.added {
            tt_fpu::move_dst_to_src(&math, &dst, &mut a);
            entry.to_src(access.page(added, group)?, &mut b);
            tt_fpu::eltwise(&math, EltwiseOp::Add, Broadcast::None, false, &mut dst, &a, &b);
        }
        pack_tile(&packer, &dst, &mut page);
        entry.to_dst(&math, &page, &mut a, &mut dst);
        unpack::transpose(&dst, &mut tiles[place]);
        for (at, word) in tiles[2 + place].iter_mut().enumerate() {
            let (row, _) = TileShape::FULL.position(at);
            *word = ((32 * group + row) as f32).to_bits();
        }
        Ok(())
    };
    let rules = Rules { width: DstWidth::Bits32, arch };
    let apply = |tiles: &mut [Tile; 4], name: &'static str, parameters: &[u32]| -> Result<(), OpError> {
        let unknown = || OpError::UnknownFunction { name: name.into(), variant: "default".into() };
        let function = lookup(name).ok_or_else(unknown)?;
        function.run(&mut Registers::Free, tiles, parameters, rules).map_err(|what| refuse(what.into()))
    };
    load(&mut tiles, 0, 0)?;
    for group in 1..GROUPS {
        load(&mut tiles, group, 1)?;
        apply(&mut tiles, "topk_local_sort", &[0, 4, 0, 0, 0])?;
        apply(&mut tiles, "topk_merge", &[0, 32, 0])?;
    }
    apply(&mut tiles, "topk_rebuild", &[0, 0, 32, 5, 1])?;
    let mut sorted = ZERO;
    unpack::transpose(&tiles[0], &mut sorted);
    pack_tile(&packer, &sorted, access.claim(values, 0)?);
    unpack::transpose(&tiles[2], &mut sorted);
    for (target, word) in access.claim(columns, 0)?.as_chunks_mut().0.iter_mut().zip(sorted) {
        *target = (f32::from_bits(word) as u16).to_le_bytes();
    }
    Ok(())
}
