//! Products of a left operand of few rows, padded with zeros.
//!
//! They are what a model multiplies that decodes for a few users.
//!
//! A row of zeros has sums of zero if no infinity or NaN meets it. Such a number would also leave its mark on every
//! other sum of its column, and no later product would take that away: an infinity stays one or becomes NaN. So the
//! rows that have numbers are multiplied; where one of their sums is finite, so is everything in the column, and the
//! rows of zeros have zeros. Where none is, the column has to be multiplied with all rows.
//!
//! AMX multiplies any number of rows: see [`Session::multiply_rows`]. With dot products, each tile of the right operand,
//! which is used once or a few times, is multiplied from its page: nothing is packed. The order of additions in a sum is
//! that of the other products.
use tt_cpu::{Level, simd_kernel};

#[cfg(target_arch = "x86_64")]
use super::small_m_avx512;
use super::{LINE_WORDS, Line, Multiplier, PANEL_WORDS, Panel, PanelDecoder, Ready, Session, Sums};
#[cfg(target_arch = "x86_64")]
use super::{Side, Unit};
use tt_tensix::regs::index;

/// Most rows that are few.
///
/// With more, most of the work is that of whole tiles.
pub const MOST_ROWS: usize = 24;

/// Most rows whose sums are in registers together.
const TOGETHER: usize = 8;

/// Panels after which there is a look at whether the rows are still few.
const LOOK: usize = 16;

/// The kernel that multiplies tiles of a right operand with few rows.
#[derive(Clone, Copy, Debug)]
pub struct SmallM {
    /// Bits of a datum.
    bits: usize,
    /// What each pass sees of a pair of datums.
    masks: [u32; 2],
    passes: usize,
    level: Level,
}

/// The left operand's nonzero rows, for all of K.
///
/// And perhaps some more.
#[derive(Clone, Debug)]
pub struct Rows {
    rows: usize,
    /// For each panel, a line of each row.
    lines: Vec<Line>,
}

impl Rows {
    /// Lines of the sums of a column of tiles.
    ///
    /// Two of each row.
    pub fn lines(&self) -> usize {
        2 * self.rows
    }
}

impl Session {
    /// Multiplies only the left operand's nonzero rows from now on.
    ///
    /// And perhaps some more; all of them if it has no panels. Returns how many. Sums of the others are zero; they are
    /// right if [`Sums::every_column_is_finite`] in the rows that are multiplied.
    pub fn multiply_rows(&mut self, left: &[Panel]) -> usize {
        let mut rows = 32;
        if let Ready::Amx(tiles) = &mut self.0 {
            if !left.is_empty() {
                rows = rows_in_use(left, rows, Level::Avx512).unwrap_or(rows);
            }
            tiles.set_rows(rows);
        }
        rows
    }
}

impl Multiplier {
    /// Returns the kernel for few rows, if there is one.
    ///
    /// For BF16 pages, or for the decoder's output.
    pub fn small_m(&self, decoder: Option<PanelDecoder>) -> Option<SmallM> {
        #[cfg(target_arch = "x86_64")]
        if self.unit == Unit::Dot {
            let bits = decoder.map_or(Some(16), PanelDecoder::bits)?;
            let passes = self.fidelity.passes();
            let mask = |pass: usize| self.fidelity.keep(Side::Right, pass).pair_mask();
            return Some(SmallM { bits, masks: [mask(0)?, mask(passes - 1)?], passes, level: self.level });
        }
        let _ = decoder;
        None
    }
}

/// Rows of left BF16 panels to the last nonzero one.
///
/// At least one; `None` if they are more than `most`.
pub fn rows_in_use(panels: &[Panel], most: usize, level: Level) -> Option<usize> {
    let mut any = [0; PANEL_WORDS];
    let mut rows = 1;
    for panels in panels.chunks(LOOK) {
        collect::run(level, panels, &mut any);
        // A zero exponent is a zero.
        let counts = |line: &[u32; LINE_WORDS]| line.iter().any(|word| word & 0x7f80_7f80 != 0);
        rows = any.as_chunks().0.iter().rposition(counts).map_or(1, |row| row + 1);
        if rows > most {
            return None;
        }
    }
    Some(rows)
}

impl Sums {
    /// Returns true if columns of the first `rows` rows are finite.
    ///
    /// The zero rows after them have met neither infinities nor NaN then.
    pub fn every_column_is_finite(&self, rows: usize) -> bool {
        (0..2).all(|half| {
            let mut finite = [false; LINE_WORDS];
            for row in 0..rows {
                for (finite, word) in finite.iter_mut().zip(&self.0[index(row, half * LINE_WORDS)..]) {
                    *finite |= word & 0x7f80_0000 != 0x7f80_0000;
                }
            }
            finite.iter().all(|&finite| finite)
        })
    }
}

impl SmallM {
    /// The rows of a left operand's panels that are not all zeros.
    ///
    /// `None` if they are more than [`MOST_ROWS`].
    pub fn rows(&self, panels: &[Panel]) -> Option<Rows> {
        let mut rows = rows_in_use(panels, MOST_ROWS, self.level)?;
        rows = if rows <= TOGETHER { rows.next_power_of_two() } else { rows.next_multiple_of(TOGETHER) };
        let mut lines = Vec::with_capacity(panels.len() * rows);
        for panel in panels {
            let all: &[Line; PANEL_WORDS / LINE_WORDS] = bytemuck::must_cast_ref(panel);
            lines.extend_from_slice(&all[..rows]);
        }
        Some(Rows { rows, lines })
    }

    /// Adds a K step's products with a tile of several columns.
    ///
    /// Their sums follow each other. Pages that are multiplied soon are prefetched meanwhile, in their order. False if
    /// a page has patterns that take another way; the sums are then meaningless.
    ///
    /// # Panics
    /// If there is no such step, a page is shorter than a tile, or the sums are not those of so many columns.
    pub fn step(&self, rows: &Rows, step: usize, pages: &[&[u8]], soon: &[&[u8]], sums: &mut [Line]) -> bool {
        assert_eq!(sums.len(), pages.len() * rows.lines(), "sums of the columns");
        let mut plain = true;
        for pass in 0..self.passes {
            let lines = &rows.lines[(step * self.passes + pass) * rows.rows..][..rows.rows];
            for first in (0..rows.rows).step_by(TOGETHER) {
                let soon = if pass == 0 && first == 0 { soon } else { &[] };
                let together = &lines[first..rows.rows.min(first + TOGETHER)];
                plain &= self.kernel(together, (pages, soon), self.masks[pass], (sums, rows.lines(), 2 * first));
            }
        }
        plain
    }

    #[inline]
    fn kernel(&self, left: &[Line], pages: (&[&[u8]], &[&[u8]]), mask: u32, sums: (&mut [Line], usize, usize)) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            use small_m_avx512::{blocks, pages as bf16};
            // SAFETY: there is a way only on a CPU that has it.
            unsafe {
                match (self.bits, left.len()) {
                    (16, 1) => bf16::<1>(left, pages, mask, sums),
                    (16, 2) => bf16::<2>(left, pages, mask, sums),
                    (16, 4) => bf16::<4>(left, pages, mask, sums),
                    (16, _) => bf16::<8>(left, pages, mask, sums),
                    (8, 1) => blocks::<8, 1, 3>(left, pages, mask, sums),
                    (8, 2) => blocks::<8, 2, 2>(left, pages, mask, sums),
                    (8, 4) => blocks::<8, 4, 1>(left, pages, mask, sums),
                    (8, _) => blocks::<8, 8, 1>(left, pages, mask, sums),
                    (_, 1) => blocks::<4, 1, 2>(left, pages, mask, sums),
                    (_, 2) => blocks::<4, 2, 2>(left, pages, mask, sums),
                    (_, 4) => blocks::<4, 4, 1>(left, pages, mask, sums),
                    _ => blocks::<4, 8, 1>(left, pages, mask, sums),
                }
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = (left, pages, mask, sums, self.bits);
            unreachable!("no unit has a way");
        }
    }

    /// Spreads the sums of a tile column to the output tile.
    ///
    /// False if infinities or NaN may have met the rows of zeros; the sums are then meaningless.
    ///
    /// # Panics
    /// If these are no lines of sums.
    pub fn finish(&self, lines: &[Line], sums: &mut Sums) -> bool {
        *sums = Sums::ZERO;
        let (rows, _) = lines.as_chunks::<2>();
        for (row, halves) in rows.iter().enumerate() {
            for (half, line) in halves.iter().enumerate() {
                sums.0[index(row, half * LINE_WORDS)..][..LINE_WORDS].copy_from_slice(&line.0);
            }
        }
        sums.every_column_is_finite(rows.len())
    }
}

/// Collects the bits of each place of some panels.
#[inline(always)]
fn collect_body(panels: &[Panel], any: &mut [u32; PANEL_WORDS]) {
    for panel in panels {
        any.iter_mut().zip(&panel.0).for_each(|(any, word)| *any |= word);
    }
}

simd_kernel!(collect, super::collect_body, (panels: &[Panel], any: &mut [u32; PANEL_WORDS]));

#[cfg(test)]
#[path = "small_m_tests.rs"]
mod tests;
