//! Block floats straight to panels of AMX's right operand.
//!
//! Beside nothing, a product or a run of products.
use tt_cpu::Level;
use tt_formats::DataFormat;

use super::amx::{Step, Tiles};
use super::{Bf16Page, Panel, Run};
use tt_tensix::unpack::BlockFloatDecoder;
use tt_tensix::unpack::block_float::{Interleave, PARTS};

/// Datums are masked, two at a time.
type ToPanel = unsafe fn(&[u8], u32, &mut Panel, &mut ()) -> bool;
type ToPanelBeside = unsafe fn(&[u8], u32, &mut Panel, &mut Step<'_, false>) -> bool;

/// Pages to panels beside a run of products; see `Running::run`.
type ToPanelInRun = unsafe fn(&mut Tiles, &mut Run<'_>, u32) -> Option<usize>;

/// Decodes tiles of one block format to pages, or panels.
///
/// Panels on some CPUs.
#[derive(Clone, Copy)]
pub struct PanelDecoder {
    page: BlockFloatDecoder,
    panel: Option<(ToPanel, ToPanelBeside, ToPanelInRun)>,
    #[cfg(target_arch = "x86_64")]
    bits: usize,
}

impl PanelDecoder {
    /// The decoder of a format, `None` if it has none.
    ///
    /// Two formats have one.
    pub fn new(format: DataFormat, level: Level) -> Option<Self> {
        let page = BlockFloatDecoder::new(format, level)?;
        #[cfg(target_arch = "x86_64")]
        {
            use permuted::{available, beside, in_run, panel};
            let has = level.available() == Level::Avx512 && available();
            let panel: (ToPanel, ToPanelBeside, ToPanelInRun) = match format {
                DataFormat::Bfp8B => (panel::<8, ()>, beside::<8>, in_run::<8>),
                _ => (panel::<4, ()>, beside::<4>, in_run::<4>),
            };
            let bits = if format == DataFormat::Bfp8B { 8 } else { 4 };
            Some(Self { page, panel: has.then_some(panel), bits })
        }
        #[cfg(not(target_arch = "x86_64"))]
        Some(Self { page, panel: None })
    }

    /// See [`BlockFloatDecoder::decode`].
    ///
    /// # Panics
    /// If `l1` is shorter than a tile.
    #[inline]
    pub fn decode(self, l1: &[u8], page: &mut Bf16Page) -> bool {
        self.page.decode(l1, page)
    }

    /// Decodes a tile to a panel of AMX's right operand. False as for `decode`, or if this CPU cannot.
    ///
    /// # Panics
    /// If `l1` is shorter than a tile.
    #[inline]
    pub(crate) fn decode_panel(self, l1: &[u8], mask: u32, panel: &mut Panel) -> bool {
        // SAFETY: `new` takes versions that this host has.
        self.panel.is_some_and(|(to_panel, ..)| unsafe { to_panel(l1, mask, panel, &mut ()) })
    }

    /// As `decode_panel`, beside a product, which is done in any case.
    ///
    /// # Panics
    /// If `l1` is shorter than a tile.
    #[inline]
    pub(crate) fn decode_panel_beside(
        self,
        l1: &[u8],
        mask: u32,
        panel: &mut Panel,
        step: &mut Step<'_, false>,
    ) -> bool {
        let Some((_, beside, _)) = self.panel else {
            (0..PARTS).for_each(|part| step.part::<0>(part));
            return false;
        };
        // SAFETY: as above.
        unsafe { beside(l1, mask, panel, step) }
    }

    /// The bits of a datum, if this decoder looks magnitudes up by byte permutes.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn bits(self) -> Option<usize> {
        self.panel.map(|_| self.bits)
    }

    /// What decodes beside a run of products on AMX, if this decoder can.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub(crate) fn run(self) -> Option<ToPanelInRun> {
        self.panel.map(|(_, _, run)| run)
    }
}

#[cfg(target_arch = "x86_64")]
mod permuted {
    use super::{Interleave, PARTS, Panel};
    use crate::amx::{Step, Tiles};
    use crate::run::{AHEAD, FAR, PLACES, Run, WAITING, run_loop};
    pub use tt_tensix::unpack::block_float::permutes::available;
    use tt_tensix::unpack::block_float::permutes::tile;

    /// Decodes a tile of the right operand to its panel; see [`tile`].
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
    #[inline]
    pub fn panel<const BITS: usize, B: Interleave>(l1: &[u8], mask: u32, panel: &mut Panel, beside: &mut B) -> bool {
        tile::<BITS, true, B>(l1, mask, bytemuck::cast_mut(&mut panel.0), beside)
    }

    /// The same beside a product.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
    pub fn beside<const BITS: usize>(l1: &[u8], mask: u32, out: &mut Panel, step: &mut Step<'_, false>) -> bool {
        panel::<BITS, _>(l1, mask, out, step)
    }

    /// A run of products beside the decoding of pages; see `Running::run`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
    pub fn in_run<const BITS: usize>(tiles: &mut Tiles, run: &mut Run<'_>, mask: u32) -> Option<usize> {
        run_loop!(tiles, run, |page, out, step| panel::<BITS, _>(page, mask, out, step))
    }
}
