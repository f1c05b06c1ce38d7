//! The `fast` numerics mode of matrix products.
//!
//! Operands masked to the fidelity's mantissa bits, sums in FP32.
//!
//! Left out, compared with `tt_fpu`: the alignment of products to the largest of their group, the rounding of Dst after
//! every instruction, and the FPU's reading of exponent 255 as an ordinary binade. Kept: formats, what each
//! fidelity sees of a mantissa (`docs/chip/numerics.md` section 4), and a flush of zero exponents to zero.
//!
//! An operand tile becomes one or more [`Panel`]s, the order in which the multiplying instructions read it. A product
//! walks over the panels in the order of K, so each sum has one order of additions, however the work is split. The
//! order and the rounding belong to the [`Unit`], and so results differ between CPU levels in their last bits.
//!
//! [`Strategy`] is the one place that decides how a product is run; the rest carries it out.
#![allow(
    unsafe_code,
    reason = "instructions that have no safe form: AMX, vector loads and stores, kernels of a CPU level"
)]

mod amx;
mod decode;
#[cfg(target_arch = "x86_64")]
mod dot;
mod fidelity;
mod fma;
mod pack;
#[cfg(target_arch = "x86_64")]
mod pack_avx512;
pub mod plan;
mod run;
mod small_m;
#[cfg(target_arch = "x86_64")]
mod small_m_avx512;
mod strategy;
pub mod workspace;

use std::ops::Range;

use tt_cpu::Level;
use tt_cpu::stream::{self, Ahead};

use fidelity::FidelityMasks;
use tt_tensix::regs::{MathFidelity, TILE_DATUMS};

pub use decode::PanelDecoder;
pub use plan::{Block, Plan, Shape, Stage};
pub use run::{AHEAD, FAR, PLACES, Run, WAITING};
pub use small_m::{MOST_ROWS, Rows, SmallM};
pub use strategy::{Operands, Strategy};
pub use tt_tensix::unpack::Bf16Page;
pub use workspace::{Taken, Workspace};

/// Words of a panel, and of a line.
pub const PANEL_WORDS: usize = 512;
const LINE_WORDS: usize = 16;

/// A tile of FP32 bits in face order.
pub type Tile = [u32; TILE_DATUMS];

/// FP32 bits of a row of a tile.
pub type TileRow = [u32; 32];

/// Changes no sum that [`Multiplier::to_bf16`] adds it to.
///
/// Zeros of either sign become +0 there.
pub const ZERO_ROW: TileRow = [0; 32];

/// Words in whole cache lines.
macro_rules! lines {
    ($($(#[$doc:meta])* $name:ident($visibility:vis [u32; $words:expr]);)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        #[repr(C, align(64))]
        pub struct $name($visibility [u32; $words]);

        // SAFETY: words without padding: their size is a multiple of the alignment.
        unsafe impl bytemuck::Zeroable for $name {}
        // SAFETY: as above; every pattern is a valid word.
        unsafe impl bytemuck::Pod for $name {}

        impl $name {
            /// All zero.
            pub const ZERO: Self = Self([0; $words]);
        }
    )* };
}

lines! {
    /// A piece of an operand: 32 steps along K of BF16, or 16 of FP32, for 32 rows or columns.
    Panel([u32; PANEL_WORDS]);

    /// The sums of one output tile: FP32 in face order.
    Sums(pub [u32; TILE_DATUMS]);

    /// A cache line: 32 steps along K of a row of the left operand, or 16 sums of a row.
    Line(pub [u32; LINE_WORDS]);
}

impl Sums {
    /// Makes what the chip has no other form of uniform.
    ///
    /// Zero exponents become +0, NaN becomes the positive one.
    pub fn canonicalize(&mut self, level: Level) {
        pack::canonicalize::run(level, &mut self.0);
    }

    /// Rounds to BF16 as the packer's early conversion does.
    ///
    /// For a 16-bit Dst.
    pub fn round_to_bf16(&mut self, level: Level) {
        pack::round_to_bf16::run(level, &mut self.0);
    }

    /// Adds a row to every row.
    pub fn add_row(&mut self, row: &TileRow, level: Level) {
        pack::add_row::run(level, &mut self.0, row);
    }
}

/// Cache lines of a BF16 page, and datums in each.
pub const LINES: usize = TILE_DATUMS / LINE_DATUMS;
const LINE_DATUMS: usize = 32;

/// Masks of BF16 pairs for matmuls, one per vector word.
///
/// Of words that are known to be equal, the compiler would mask one and spread it then, which costs the CPU more than
/// to mask all.
#[derive(Clone, Debug)]
pub struct Masks {
    left: [u32; 16],
    right: [u32; 16],
}

impl Masks {
    /// Every bit.
    #[cfg(target_arch = "x86_64")]
    const ALL: Self = Self { left: [u32::MAX; 16], right: [u32::MAX; 16] };
}

/// An operand of a matmul.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The left one, in `SrcB`.
    Left,
    /// The right one, in `SrcA`.
    Right,
}

/// The unit that multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// AMX: BF16 products, 32 at a time.
    Amx,
    /// The dot products of AVX-512: BF16 products, two at a time.
    #[cfg(target_arch = "x86_64")]
    Dot,
    /// FP32 vectors of a level; fused multiply-add where the level has it.
    Vector(Level),
}

impl Unit {
    /// The quickest that the level and this CPU have. AMX and dot products belong to the AVX-512 level and take BF16
    /// only.
    fn choose(wide: bool, level: Level) -> Self {
        match level.available() {
            Level::Avx512 if !wide && amx::available() => Self::Amx,
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 if !wide && dot::available() => Self::Dot,
            level => Self::Vector(level),
        }
    }

    /// Whether its panels are of BF16, in the order of AMX.
    fn takes_bf16(self) -> bool {
        !matches!(self, Self::Vector(_))
    }
}

/// Products of one fidelity on one unit.
#[derive(Clone, Copy)]
pub struct Multiplier {
    unit: Unit,
    level: Level,
    fidelity: FidelityMasks,
}

impl Multiplier {
    /// Products of a fidelity.
    ///
    /// `wide`: an operand has more mantissa bits than BF16.
    pub fn new(fidelity: MathFidelity, wide: bool, level: Level) -> Self {
        Self::on(Unit::choose(wide, level), fidelity, level)
    }

    /// Products on a unit that this CPU has and the level contains.
    fn on(unit: Unit, fidelity: MathFidelity, level: Level) -> Self {
        Self { unit, level: level.available(), fidelity: FidelityMasks::new(fidelity) }
    }

    /// Returns the unit that multiplies.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Returns true if AMX multiplies while vectors pack.
    ///
    /// Other work between steps then costs no time.
    pub fn multiplies_on(&self) -> bool {
        self.unit == Unit::Amx
    }

    /// Returns true if packing overlaps with dot products.
    ///
    /// Where two of them start in each cycle, further instructions cost time.
    pub fn packs_beside(&self) -> bool {
        #[cfg(target_arch = "x86_64")]
        if self.unit == Unit::Dot {
            return dot::starts_two();
        }
        false
    }

    /// Returns the masks of BF16 pages multiplied without repacking.
    ///
    /// `None` if they cannot be.
    pub fn masks(&self) -> Option<Masks> {
        #[cfg(target_arch = "x86_64")]
        if self.unit == Unit::Dot && self.fidelity.passes() == 1 {
            return Some(Masks {
                left: [self.fidelity.keep(Side::Left, 0).pair_mask()?; 16],
                right: [self.fidelity.keep(Side::Right, 0).pair_mask()?; 16],
            });
        }
        None
    }

    /// Panels of one operand tile.
    pub fn panels(&self) -> usize {
        let per_pass = if self.unit.takes_bf16() { 1 } else { 2 };
        self.fidelity.passes() * per_pass
    }

    /// Packs a tile of an operand, FP32 bits in face order.
    ///
    /// # Panics
    /// If `panels` are not those of one tile.
    pub fn pack(&self, side: Side, tile: &Tile, panels: &mut [Panel]) {
        assert_eq!(panels.len(), self.panels(), "panels of a tile");
        if self.unit.takes_bf16() {
            let mut page = [0; 2 * TILE_DATUMS];
            pack::narrow::run(self.level, tile, &mut page);
            return self.pack_bf16(side, &page, panels);
        }
        for (pass, panels) in panels.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            let keep = self.fidelity.keep(side, pass);
            match side {
                Side::Left => pack::left_fp32::run(self.level, tile, keep, panels),
                Side::Right => pack::right_fp32::run(self.level, tile, keep, panels),
            }
        }
    }

    /// Packs a page of an operand.
    ///
    /// # Panics
    /// If `panels` are not those of one tile.
    pub fn pack_bf16(&self, side: Side, page: &Bf16Page, panels: &mut [Panel]) {
        assert_eq!(panels.len(), self.panels(), "panels of a tile");
        if !self.unit.takes_bf16() {
            let mut tile = [0; TILE_DATUMS];
            pack::widen::run(self.level, page, &mut tile);
            return self.pack(side, &tile, panels);
        }
        for (pass, panel) in panels.iter_mut().enumerate() {
            let keep = self.fidelity.keep(side, pass);
            match (side, keep.pair_mask()) {
                // SAFETY: units that take BF16 belong to the level that this is compiled for.
                #[cfg(target_arch = "x86_64")]
                (Side::Left, Some(mask)) => unsafe { pack_avx512::left(page, mask, panel) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                (Side::Right, Some(mask)) => unsafe { pack_avx512::right(page, mask, panel, &mut ()) },
                (Side::Left, _) => pack::left_bf16::run(self.level, page, keep, panel),
                (Side::Right, _) => pack::right_bf16::run(self.level, page, keep, panel),
            }
        }
    }

    /// Packs a left tile from rows of BF16, byte `at` on.
    ///
    /// False if that takes a page in between; `panels` are then meaningless.
    ///
    /// # Panics
    /// If `panels` are not those of one tile, or a row ends before the tile does.
    pub fn pack_left_rows(&self, rows: &[&[u8]; 32], at: usize, panels: &mut [Panel]) -> bool {
        assert_eq!(panels.len(), self.panels(), "panels of a tile");
        self.unit.takes_bf16()
            && panels.iter_mut().enumerate().all(|(pass, panel)| {
                let mask = self.fidelity.keep(Side::Left, pass).pair_mask();
                mask.is_some_and(|mask| {
                    pack::left_rows::run(self.level, rows, at, mask, panel);
                    true
                })
            })
    }

    /// Packs a tile of the right operand in a block format.
    ///
    /// False if that takes a page or a tile in between; `panels` are then meaningless.
    ///
    /// # Panics
    /// If `panels` are not those of one tile, or `l1` is shorter than one.
    pub fn pack_right_block(&self, decoder: PanelDecoder, l1: &[u8], panels: &mut [Panel]) -> bool {
        assert_eq!(panels.len(), self.panels(), "panels of a tile");
        self.unit.takes_bf16()
            && panels.iter_mut().enumerate().all(|(pass, panel)| {
                let mask = self.fidelity.keep(Side::Right, pass).pair_mask();
                mask.is_some_and(|mask| decoder.decode_panel(l1, mask, panel))
            })
    }

    /// Packs a right page, in the decoder's format or BF16.
    ///
    /// False if that takes another way, as for an empty page; `panels` are then meaningless.
    ///
    /// # Panics
    /// If `panels` are not those of one tile, or the page is shorter than one.
    pub fn pack_right_page(&self, page: &[u8], decoder: Option<PanelDecoder>, panels: &mut [Panel]) -> bool {
        match decoder {
            _ if page.is_empty() => false,
            Some(decoder) => self.pack_right_block(decoder, page, panels),
            None => {
                self.pack_bf16(Side::Right, page.first_chunk().expect("a tile"), panels);
                true
            }
        }
    }

    /// Runs [`Sums::add_row`], [`Sums::canonicalize`] and a BF16 packer at once.
    ///
    /// The packer is without `ReLU`; for some of the [`LINES`] of the page.
    ///
    /// # Panics
    /// If there are fewer lines.
    #[inline]
    pub fn to_bf16(&self, sums: &Sums, row: &TileRow, lines: Range<usize>, page: &mut Bf16Page) {
        let first = lines.start;
        let words = &sums.0[lines.start * LINE_DATUMS..lines.end * LINE_DATUMS];
        let bytes = &mut page[2 * lines.start * LINE_DATUMS..2 * lines.end * LINE_DATUMS];
        #[cfg(target_arch = "x86_64")]
        if self.level == Level::Avx512 {
            // SAFETY: the level is one that the host has.
            return unsafe { pack_avx512::canonical_to_bf16(words, row, first, bytes) };
        }
        pack::canonical_to_bf16::run(self.level, words, row, first, bytes);
    }

    /// Makes this thread ready to multiply.
    pub fn session(&self) -> Session {
        match self.unit {
            Unit::Amx => Session(Ready::Amx(amx::Tiles::configure())),
            #[cfg(target_arch = "x86_64")]
            Unit::Dot => Session(Ready::Dot),
            Unit::Vector(level) => Session(Ready::Vector(fma::at(level))),
        }
    }
}

enum Ready {
    Amx(amx::Tiles),
    #[cfg(target_arch = "x86_64")]
    Dot,
    Vector(fma::Kernel),
}

/// A thread that is ready to multiply. Ends when dropped.
pub struct Session(Ready);

impl Session {
    /// Starts to add products to `sums`, or to zero if `start`.
    #[inline]
    pub fn begin<'a>(&'a mut self, sums: &'a mut Sums, start: bool) -> Running<'a> {
        if let Ready::Amx(tiles) = &mut self.0 {
            tiles.load(sums, start);
        }
        Running { session: self, sums, start }
    }

    /// Adds a product of panel rows to `sums`, or writes it.
    ///
    /// It writes if `start`.
    ///
    /// # Panics
    /// As [`Running::steps`].
    #[inline]
    pub fn multiply(&mut self, left: &[Panel], right: &[Panel], sums: &mut Sums, start: bool) {
        let mut running = self.begin(sums, start);
        running.steps(left, right);
        running.end();
    }
}

/// Panels of the left and of the right operand.
pub type PanelPair<'a> = (&'a [Panel], &'a [Panel]);

/// The packing of a tile of the right operand beside a product.
pub struct Packing<'a> {
    /// The reader of the page, if it is not BF16.
    pub decoder: Option<PanelDecoder>,
    /// The page that is packed.
    pub page: &'a [u8],
    /// The product's right operand, whose place the packed panels get.
    ///
    /// AMX has it in registers by then. In the place of the product before, stores would be 4096 bytes from what AMX
    /// loads next, for which CPUs make loads wait.
    pub panels: &'a mut [Panel],
    /// The operands of the next product, if that is known.
    ///
    /// AMX loads them meanwhile. They must not change until then.
    pub next: PanelPair<'a>,
    /// A page of the same format that is packed soon.
    pub soon: &'a [u8],
}

/// Sums that products are being added to.
///
/// AMX has them in registers, so there is one at a time.
///
/// Between calls other work may be done. AMX multiplies on while the SFPU packs the panels that come next; that
/// is why a product comes in parts.
pub struct Running<'a> {
    session: &'a mut Session,
    sums: &'a mut Sums,
    start: bool,
}

impl<'a> Running<'a> {
    /// Adds the product of two rows of panels.
    ///
    /// # Panics
    /// If the operands have different numbers of panels, or none.
    #[inline]
    pub fn steps(&mut self, left: &[Panel], right: &[Panel]) {
        self.steps_before(left, right, &[]);
    }

    /// The same, prefetching pages that are read soon.
    ///
    /// They come to the second-level cache.
    ///
    /// # Panics
    /// As [`Running::steps`].
    #[inline]
    pub fn steps_before(&mut self, left: &[Panel], right: &[Panel], soon: &[&[u8]]) {
        assert_eq!(left.len(), right.len(), "steps along K");
        match &mut self.session.0 {
            Ready::Amx(tiles) => {
                // It multiplies on meanwhile, if these are few.
                for page in soon {
                    stream::prefetch_second_all(page);
                }
                tiles.steps(left, right);
            }
            #[cfg(target_arch = "x86_64")]
            Ready::Dot => self.dot((left, right), &Masks::ALL, soon, dot::End::Sums),
            // SAFETY: units are chosen among those that this host has.
            Ready::Vector(kernel) => unsafe {
                kernel(left, right, self.sums, std::mem::take(&mut self.start), Ahead::new(soon));
            },
        }
    }

    /// Adds the last product and writes [`Multiplier::to_bf16`] of the sums.
    ///
    /// As [`Running::steps_before`]. The sums are meaningless then.
    ///
    /// # Panics
    /// As [`Running::steps`].
    #[inline]
    pub fn last_steps(
        mut self,
        (left, right): PanelPair<'_>,
        soon: &[&[u8]],
        multiplier: &Multiplier,
        page: &mut Bf16Page,
    ) {
        #[cfg(target_arch = "x86_64")]
        if let Ready::Dot = self.session.0 {
            return self.dot((left, right), &Masks::ALL, soon, dot::End::Page(page));
        }
        self.steps_before(left, right, soon);
        multiplier.to_bf16(self.end(), &ZERO_ROW, 0..LINES, page);
    }

    /// Adds the product of two rows of BF16 pages, as [`Running::steps_before`].
    ///
    /// Sums become a page, if there is one, as in [`Running::last_steps`].
    ///
    /// # Panics
    /// As [`Running::steps`]; if a page is shorter than a tile; if the masks are not those of this unit.
    #[inline]
    pub fn pages(&mut self, operands: (&[&[u8]], &[&[u8]]), masks: &Masks, soon: &[&[u8]], end: Option<&mut Bf16Page>) {
        #[cfg(target_arch = "x86_64")]
        if let Ready::Dot = self.session.0 {
            return self.dot(operands, masks, soon, end.map_or(dot::End::Sums, dot::End::Page));
        }
        let _ = (operands, masks, soon, end);
        unreachable!("only a unit with masks takes pages");
    }

    /// Adds a product of panel rows, packed just before.
    ///
    /// Each panel is packed from a BF16 page; from none, if an operand has no pages here because it has been packed
    /// before. The rest is as in [`Running::pages`].
    ///
    /// # Panics
    /// As [`Running::pages`]; if an operand has some pages, but not one for each panel.
    #[inline]
    pub fn packing(
        &mut self,
        panels: (&mut [Panel], &mut [Panel]),
        pages: (&[&[u8]], &[&[u8]]),
        masks: &Masks,
        soon: &[&[u8]],
        end: Option<&mut Bf16Page>,
    ) {
        #[cfg(target_arch = "x86_64")]
        if let Ready::Dot = self.session.0 {
            let end = end.map_or(dot::End::Sums, dot::End::Page);
            let start = std::mem::take(&mut self.start);
            // SAFETY: units are chosen among those that this host has.
            return unsafe {
                dot::kernel_that_packs(panels, pages, masks, self.sums, start, Ahead::new(soon), end);
            };
        }
        let _ = (panels, pages, masks, soon, end);
        unreachable!("only a unit with masks takes pages");
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn dot<T: dot::Tile>(&mut self, operands: (&[T], &[T]), masks: &Masks, soon: &[&[u8]], end: dot::End<'_>) {
        // SAFETY: units are chosen among those that this host has.
        unsafe { dot::kernel(operands, masks, self.sums, std::mem::take(&mut self.start), Ahead::new(soon), end) }
    }

    /// Adds a product of tile panels while another tile is packed.
    ///
    /// It is a tile of the right operand, which is BF16 or in the decoder's format. False if that tile has to be packed
    /// in another way; `beside.panels` are then meaningless.
    ///
    /// # Panics
    /// As [`Running::steps`], and if `beside.panels` are not those of one tile or `beside.page` is shorter than one.
    #[inline]
    pub fn step_beside(&mut self, left: &[Panel], multiplier: &Multiplier, beside: Packing<'_>) -> bool {
        let Packing { decoder, page, panels, next, soon } = beside;
        #[cfg(target_arch = "x86_64")]
        if let (Ready::Amx(tiles), Some(mask)) =
            (&mut self.session.0, multiplier.fidelity.keep(Side::Right, 0).pair_mask())
            && let ([left], [panel], ([next_left], [next_right])) = (left, &mut *panels, next)
        {
            tiles.prepare(left, panel);
            let mut step = amx::Step::<false> { tiles, next: (next_left, next_right), soon, later: &[] };
            if let Some(decoder) = decoder {
                return decoder.decode_panel_beside(page, mask, panel, &mut step);
            }
            let page = page.first_chunk().expect("a tile");
            // SAFETY: AMX belongs to the level that this is compiled for.
            unsafe { pack_avx512::right(page, mask, panel, &mut step) };
            return true;
        }
        self.steps(left, panels);
        multiplier.pack_right_page(page, decoder, panels)
    }

    /// Ends with the sums in memory.
    #[inline]
    pub fn end(self) -> &'a mut Sums {
        match &mut self.session.0 {
            Ready::Amx(tiles) => tiles.store(self.sums),
            _ if self.start => *self.sums = Sums::ZERO,
            _ => {}
        }
        self.sums
    }

    /// Ends with the sums in another place.
    ///
    /// Where they started is then meaningless.
    #[inline]
    pub fn end_in(self, place: &mut Sums) {
        match &mut self.session.0 {
            Ready::Amx(tiles) => tiles.store(place),
            _ => *place = if self.start { Sums::ZERO } else { *self.sums },
        }
    }
}

impl Running<'_> {
    /// Adds the products of a run, and packs a page beside each.
    ///
    /// BF16, or in the decoder's format. Stops after a product whose page has to be packed in another way, and returns
    /// its number.
    ///
    /// # Panics
    /// If the left operand's panels or the places are not those of whole tiles, or a page is shorter than a tile.
    #[inline]
    pub fn run(&mut self, run: &mut Run<'_>, multiplier: &Multiplier, decoder: Option<PanelDecoder>) -> Option<usize> {
        let per_tile = multiplier.panels();
        assert!(run.places.len() == PLACES * per_tile && run.left.len().is_multiple_of(per_tile), "panels of tiles");
        #[cfg(target_arch = "x86_64")]
        if let (Ready::Amx(tiles), 1, Some(mask)) =
            (&mut self.session.0, per_tile, multiplier.fidelity.keep(Side::Right, 0).pair_mask())
        {
            match decoder {
                // SAFETY: AMX belongs to the level that this is compiled for.
                None => return unsafe { pack_avx512::run(tiles, run, mask) },
                Some(decoder) => {
                    if let Some(kernel) = decoder.run() {
                        // SAFETY: decoders have kernels that this host has.
                        return unsafe { kernel(tiles, run, mask) };
                    }
                }
            }
        }
        for (step, left) in run.left.chunks_exact(per_tile).enumerate() {
            let place = |number: usize| number % PLACES * per_tile..(number % PLACES + 1) * per_tile;
            let now = run.number + step;
            self.steps(left, &run.places[place(now)]);
            if let Some(page) = run.pages.get(step)
                && !multiplier.pack_right_page(page, decoder, &mut run.places[place(now + WAITING)])
            {
                return Some(step);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
