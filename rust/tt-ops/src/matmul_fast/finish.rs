//! From sums to the pages of the output.

use std::ops::Range;

use tt_cpu::stream;
use tt_fast::{Bf16Page, Block, LINES, Running, Sums};
use tt_tensix::tile_io::ZERO;

use super::{Kernel, Pages};
use crate::OpError;

/// An output whose sums are complete.
struct Complete<'p> {
    page: &'p mut [u8],
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
        (kernel.plain && !kernel.multiplier.multiplies_on())
            .then(|| {
                self.ask((row, turn), &(0..1), 1);
                std::mem::take(&mut self.claimed[place]).first_chunk_mut()
            })
            .flatten()
    }

    /// Ends the sums of a row of the block (counted from its first) in a column whose turn it is: in their place, or, if
    /// they are complete and finished later, in one of their own.
    #[inline]
    pub(super) fn end(
        &mut self,
        running: Running<'_>,
        (row, turn): (usize, usize),
        sums: Option<&mut Sums>,
    ) -> Result<(), OpError> {
        self.complete = None;
        let Some(sums) = sums else {
            running.end();
            return Ok(());
        };
        let place = self.place(row, turn);
        let mut complete = Complete { page: std::mem::take(&mut self.claimed[place]), turn };
        if self.kernel.multiplier.multiplies_on() {
            running.end_in(sums);
            self.complete = Some(complete);
            return Ok(());
        }
        self.kernel.finish_lines(self.pages, &mut complete, 0..LINES, running.end())
    }

    /// Finishes a part of the tile whose sums were completed last, if there is one: what of `tiles` steps these are.
    #[inline]
    pub(super) fn finish(&mut self, steps: &Range<usize>, tiles: usize, sums: &mut Sums) -> Result<(), OpError> {
        let lines = steps.start * LINES / tiles..steps.end * LINES / tiles;
        let Some(complete) = &mut self.complete else {
            return Ok(());
        };
        self.kernel.finish_lines(self.pages, complete, lines, sums)
    }
}

impl Kernel<'_> {
    /// Sums to some lines of an output page; all at the first of them, unless that is no more than a rounding.
    #[inline]
    fn finish_lines(
        &self,
        pages: &Pages<'_>,
        complete: &mut Complete<'_>,
        lines: Range<usize>,
        sums: &mut Sums,
    ) -> Result<(), OpError> {
        if self.plain
            && let Some(page) = complete.page.first_chunk_mut()
        {
            self.multiplier.to_bf16(sums, lines, page);
            return Ok(());
        }
        if lines.start == 0 { self.finish_tile(pages, complete, sums) } else { Ok(()) }
    }

    /// Sums to an output page: bias, Dst, activation, packer.
    #[inline(never)]
    fn finish_tile(&self, pages: &Pages<'_>, complete: &mut Complete<'_>, sums: &mut Sums) -> Result<(), OpError> {
        let program = self.program;
        if let (Some(input), Some(bias)) = (self.bias, &pages.bias) {
            let mut tile = ZERO;
            input.to_src(bias.page(self.column(pages, complete.turn))?, &mut tile);
            for word in &mut tile {
                *word <<= 13;
            }
            sums.add_row(&tile, self.level);
        }
        sums.canonicalize(self.level);
        if self.rounds {
            sums.round_to_bf16(self.level);
        }
        program.activation.apply(&mut sums.0, program.dst32);
        self.pack_out.pack(&sums.0, complete.page);
        Ok(())
    }
}
