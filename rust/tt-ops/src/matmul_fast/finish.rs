//! From sums to the pages of the output.

use std::ops::Range;
use std::sync::Arc;

use tt_cpu::Level;
use tt_cpu::stream;
use tt_cpu::table::{HalfTable, Store};
use tt_fast::{Bf16Page, Block, LINES, Running, Sums, TileRow, ZERO_ROW};
use tt_formats::DataFormat;
use tt_sfpu::exec::bf16;
use tt_tensix::pack::{DstFormat, HalfPacker, PackConfig, Relu};
use tt_tensix::regs::TILE_DATUMS;

use super::{Addend, Kernel, Pages};
use crate::OpError;
use crate::activation::Steps;
use crate::matmul::MatmulProgram;

/// What becomes of sums and their bias.
pub(super) enum Finish {
    /// They are rounded to BF16 pages, whose datums are then looked up if there is a table.
    Bf16(Option<Arc<HalfTable>>),
    /// They are rounded to the halves of a 16-bit Dst, which functions and the packer go on with.
    Halves(Steps, HalfPacker),
    /// Dst, functions and packer, one after the other.
    Tiles,
}

impl Finish {
    /// `direct`: sums go to the packer with no rounding in between.
    pub(super) fn new(program: &MatmulProgram, config: &PackConfig, direct: bool, level: Level) -> Self {
        let bf16 = config.output == DataFormat::Float16B && config.relu == Relu::None;
        if direct && bf16 && program.activation.is_empty() {
            return Self::Bf16(None);
        }
        if direct || config.dst != DstFormat::Bf16 {
            return Self::Tiles;
        }
        let tiles = program.batch.0 * program.m * program.n;
        match (Steps::new(&program.activation, tiles), HalfPacker::new(config, level)) {
            (Some(Steps::Table(table)), Some(_)) if bf16 => Self::Bf16(Some(table)),
            (Some(steps), Some(packer)) => Self::Halves(steps, packer),
            _ => Self::Tiles,
        }
    }
}

/// An output whose sums are complete.
struct Complete<'p> {
    page: &'p mut [u8],
    /// Row of tiles in its matrix, and turn.
    row: usize,
    turn: usize,
}

/// The output's pages of a block. A tile whose sums are complete is finished while the next one is multiplied, if that
/// hides behind the multiplication, or else at once.
pub(super) struct Outputs<'a, 'p> {
    kernel: &'a Kernel<'a>,
    pages: &'a Pages<'p>,
    block: &'a Block,
    /// Row by row. To claim one between two products would end what they overlap.
    claimed: Vec<&'p mut [u8]>,
    /// Where in its row the page of a turn is.
    places: Vec<usize>,
    complete: Option<Complete<'p>>,
}

impl<'a, 'p> Outputs<'a, 'p> {
    /// Claims the pages.
    pub(super) fn new(kernel: &'a Kernel<'a>, pages: &'a Pages<'p>, block: &'a Block) -> Result<Self, OpError> {
        let (program, turns) = (kernel.program, &block.turns);
        let first = (block.matrix * program.m + block.rows.start) * program.n;
        let mut claimed = Vec::with_capacity(block.rows.len() * turns.len());
        let mut places: Vec<usize> = turns.clone().map(|turn| kernel.column(pages, turn)).collect();
        if turns.len() == program.n {
            // Rows of their full width follow each other.
            claimed.extend(pages.output.claim_run(first..first + block.rows.len() * program.n)?);
        } else {
            for first in (0..block.rows.len()).map(|row| first + row * program.n) {
                if kernel.stride(pages) == 1 {
                    claimed.extend(pages.output.claim_run(first + turns.start..first + turns.end)?);
                    continue;
                }
                for &column in &places {
                    claimed.push(pages.output.claim(first + column)?);
                }
            }
            places = (0..turns.len()).collect();
        }
        Ok(Self { kernel, pages, block, claimed, places, complete: None })
    }

    /// Asks for a part of the page of a tile that is finished soon: what of `tiles` steps these are. All at once would
    /// keep the left operand waiting.
    #[inline]
    pub(super) fn ask(&self, (row, turn): (usize, usize), steps: &Range<usize>, tiles: usize) {
        let page = &*self.claimed[self.place(row, turn)];
        let lines = page.len().div_ceil(stream::LINE);
        for line in steps.start * lines / tiles..steps.end * lines / tiles {
            stream::prefetch_second(page, line * stream::LINE);
        }
    }

    fn place(&self, row: usize, turn: usize) -> usize {
        let turns = &self.block.turns;
        row * turns.len() + self.places[turn - turns.start]
    }

    /// The page of a tile whose sums become it with nothing in between and beside nothing. It is asked for.
    #[inline]
    pub(super) fn at_once(&mut self, (row, turn): (usize, usize)) -> Option<&'p mut Bf16Page> {
        let kernel = self.kernel;
        let place = self.place(row, turn);
        (kernel.is_plain() && !kernel.multiplier.multiplies_on())
            .then(|| {
                self.ask((row, turn), &(0..1), 1);
                std::mem::take(&mut self.claimed[place]).first_chunk_mut()
            })
            .flatten()
    }

    /// Ends the sums of a row of the block (counted from its first) in a column whose turn it is: in their place, or, if
    /// they are complete and finished later, in one of their own.
    #[inline]
    pub(super) fn end(&mut self, running: Running<'_>, (row, turn): (usize, usize), sums: Option<&mut Sums>) {
        self.complete = None;
        let Some(sums) = sums else {
            running.end();
            return;
        };
        let place = self.place(row, turn);
        let page = std::mem::take(&mut self.claimed[place]);
        let mut complete = Complete { page, row: self.block.rows.start + row, turn };
        if self.kernel.multiplier.multiplies_on() {
            running.end_in(sums);
            self.complete = Some(complete);
            return;
        }
        self.kernel.finish_lines(self.pages, &mut complete, 0..LINES, running.end());
    }

    /// Finishes a part of the tile whose sums were completed last, if there is one: what of `tiles` steps these are.
    #[inline]
    pub(super) fn finish(&mut self, steps: &Range<usize>, tiles: usize, sums: &mut Sums) {
        let lines = steps.start * LINES / tiles..steps.end * LINES / tiles;
        if let Some(complete) = &mut self.complete {
            self.kernel.finish_lines(self.pages, complete, lines, sums);
        }
    }
}

impl Kernel<'_> {
    /// Whether sums become a BF16 page with nothing in between.
    fn is_plain(&self) -> bool {
        matches!(self.bias, Addend::Nothing) && matches!(self.finish, Finish::Bf16(None))
    }

    /// Sums to some lines of an output page; all at the first of them, unless each line is finished by itself.
    #[inline]
    fn finish_lines(&self, pages: &Pages<'_>, complete: &mut Complete<'_>, lines: Range<usize>, sums: &mut Sums) {
        if let Finish::Bf16(table) = &self.finish
            && let Some(page) = complete.page.first_chunk_mut()
        {
            let turn = complete.turn;
            self.add_bias_tile(pages, (complete.row, turn), lines.clone(), sums);
            let row = self.bias_row(pages, turn);
            let Some(table) = table else {
                self.multiplier.to_bf16(sums, row, lines, page);
                return;
            };
            let mut halves: Bf16Page = [0; 2048];
            let bytes = lines.start * stream::LINE..lines.end * stream::LINE;
            self.multiplier.to_bf16(sums, row, lines, &mut halves);
            table.look_up(self.level, &halves[bytes.clone()], &mut page[bytes], Store::Near);
        } else if lines.start == 0 {
            self.finish_tile(pages, complete, sums);
        }
    }

    /// Sums to an output page: bias, Dst, activation, packer.
    #[inline(never)]
    fn finish_tile(&self, pages: &Pages<'_>, complete: &mut Complete<'_>, sums: &mut Sums) {
        let program = self.program;
        self.add_bias_tile(pages, (complete.row, complete.turn), 0..LINES, sums);
        let row = self.bias_row(pages, complete.turn);
        if let Finish::Halves(steps, packer) = &self.finish {
            let (mut page, mut dst) = ([0; 2048], [0; TILE_DATUMS]);
            self.multiplier.to_bf16(sums, row, 0..LINES, &mut page);
            bf16::enter(self.level, &page, &mut dst);
            steps.apply(self.level, &mut dst);
            return packer.pack(&dst, complete.page);
        }
        if matches!(self.bias, Addend::Rows(_)) {
            sums.add_row(row, self.level);
        }
        sums.canonicalize(self.level);
        if self.rounds {
            sums.round_to_bf16(self.level);
        }
        program.activation.apply(&mut sums.0, program.dst32);
        self.pack_out.pack(&sums.0, complete.page);
    }

    /// The row that the bias adds to every row in the column whose turn it is.
    #[inline]
    fn bias_row(&self, pages: &Pages<'_>, turn: usize) -> &TileRow {
        match &self.bias {
            Addend::Rows(rows) => &rows[self.column(pages, turn)],
            Addend::Nothing | Addend::Tiles(..) => &ZERO_ROW,
        }
    }

    /// Adds a bias that has a tile for each tile of the output, to some lines of the sums.
    #[inline]
    fn add_bias_tile(&self, pages: &Pages<'_>, (row, turn): (usize, usize), lines: Range<usize>, sums: &mut Sums) {
        let Addend::Tiles(bias, tiles) = &self.bias else { return };
        let words = lines.start * TILE_DATUMS / LINES..lines.end * TILE_DATUMS / LINES;
        let tile = &tiles[bias.page((row, self.column(pages, turn)), self.program.n)];
        for (sum, add) in sums.0[words.clone()].iter_mut().zip(&tile[words]) {
            *sum = (f32::from_bits(*sum) + f32::from_bits(*add)).to_bits();
        }
    }
}
