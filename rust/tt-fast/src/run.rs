//! Products along K while later right tiles are packed.
//!
//! These come a few products later.
//!
//! Where every tile of the right operand is used once, memory sets the pace, and what is to be done for a tile has to
//! fit in the time of its bytes. So a run is one loop: tables stay in registers, AMX multiplies on while vectors are
//! packed, and lines of later pages are asked for one by one between both.
use super::Panel;

/// Right operand tiles with panel places in a run.
///
/// The places are used in turn.
pub const PLACES: usize = 4;

/// Tiles whose panels wait for their turn.
///
/// So long that they have left the store buffer when AMX asks for them.
pub const WAITING: usize = 2;

/// Tiles that are on their way from memory before they are packed.
pub const AHEAD: usize = 4;

/// Tiles of which parts are on their way to the second-level cache.
pub const FAR: usize = 12;

/// A run of products, one for each tile of the left operand.
pub struct Run<'a> {
    /// The panels of the left operand.
    pub left: &'a [Panel],
    /// The places of the right operand's panels.
    pub places: &'a mut [Panel],
    /// Index of the first step, modulo the places.
    pub number: usize,
    /// The packed pages: for [`WAITING`] products later, then [`FAR`] further ones.
    ///
    /// There are fewer where there are no more. One that has to be packed in another way is empty.
    pub pages: &'a [&'a [u8]],
}

/// The loop of a run on AMX, to be compiled for what packs: `$pack` is the packing of a page to a panel beside a step.
macro_rules! run_loop {
    ($tiles:ident, $run:ident, |$page:ident, $panel:ident, $beside:ident| $pack:expr) => {{
        let places: &mut [Panel; PLACES] = $run.places.try_into().expect("the places");
        for (step, left) in $run.left.iter().enumerate() {
            let number = $run.number + step;
            let Some(&$page) = $run.pages.get(step) else {
                $tiles.steps(std::slice::from_ref(left), std::slice::from_ref(&places[number % PLACES]));
                continue;
            };
            let at = [number % PLACES, (number + 1) % PLACES, (number + WAITING) % PLACES];
            let [right, following, $panel] = places.get_disjoint_mut(at).expect("three places");
            $tiles.prepare(left, right);
            let next = ($run.left.get(step + 1).unwrap_or(left), &*following);
            let soon = $run.pages.get(step + AHEAD).unwrap_or(&$page);
            let later = $run.pages.get(step + FAR).unwrap_or(&$page);
            let mut beside = Step::<true> { tiles: &mut *$tiles, next, soon, later };
            let $beside = &mut beside;
            if $page.is_empty() {
                (0..PARTS).for_each(|part| Interleave::part::<0>($beside, part));
                return Some(step);
            }
            if !$pack {
                return Some(step);
            }
        }
        None
    }};
}
pub(crate) use run_loop;
