//! Choice of the matmul strategy.

use super::plan::{Plan, Shape};
use super::small_m::SmallM;
use super::{Masks, Multiplier, PanelDecoder};

/// Rows of tiles up to which the right operand is packed on the fly; of AMX, behind whose products packing hides.
const ON_THE_FLY_ROWS: usize = 32;
const ON_THE_FLY_ROWS_AMX: usize = 64;

/// Tiles of two operands that are multiplied unpacked, if the unit can: 1 MiB. They stay in the caches nearby; of larger
/// ones the CPU does not see what comes next, as it does in panels.
const UNPACKED_TILES: usize = 512;

/// The operand properties of the choice.
#[derive(Clone, Copy)]
pub struct Operands {
    /// Both are BF16 pages as the product reads them.
    pub bf16: bool,
    /// Right operand tiles packed from pages to panels directly.
    pub right_goes_straight: bool,
    /// The decoder of the right operand, if it is not BF16.
    pub right_decoder: Option<PanelDecoder>,
    /// K is a multiple of a tile's side.
    pub whole_k: bool,
}

/// The strategy of a matmul.
#[derive(Clone, Debug)]
pub enum Strategy {
    /// One row of tiles of which few rows have numbers: those are multiplied with the right operand's pages. If more
    /// turn out to have numbers, the other strategy runs.
    SmallM(SmallM, Box<Strategy>),
    /// One row of tiles: each tile of the right operand is used once, as memory brings it.
    Gemv,
    /// Pages are multiplied as they are, or packed beside the first product that reads them.
    Unpacked(Masks),
    /// The right operand is packed when its turn comes, beside the products.
    PackOnTheFly,
    /// The right operand is packed before it is multiplied.
    PackedFirst,
}

impl Strategy {
    /// Whether so many rows use the right operand that it is packed first. `overlaps`: see [`Plan::new`].
    pub(crate) fn packs_first(shape: &Shape, overlaps: bool) -> bool {
        shape.m > if overlaps { ON_THE_FLY_ROWS_AMX } else { ON_THE_FLY_ROWS }
    }

    /// The strategy for a product, and its plan.
    pub fn choose(shape: &Shape, operands: &Operands, multiplier: &Multiplier) -> (Self, Plan) {
        let overlaps = multiplier.multiplies_on();
        let plan = Plan::new(shape, multiplier.panels(), overlaps, Self::packs_first(shape, overlaps));
        (Self::with_plan(shape, &plan, operands, multiplier), plan)
    }

    fn with_plan(shape: &Shape, plan: &Plan, operands: &Operands, multiplier: &Multiplier) -> Self {
        if plan.packs_first {
            return Self::PackedFirst;
        }
        let one_row = shape.m == 1 && plan.depth == shape.k;
        let tiles = (shape.m + shape.n) * shape.k;
        // Of one row of tiles nothing is used again, so that packing had better hide behind the only product.
        let unpacked =
            operands.bf16 && operands.whole_k && (tiles <= UNPACKED_TILES || shape.m == 1 && multiplier.packs_beside());
        let strategy = match multiplier.masks().filter(|_| unpacked) {
            Some(masks) => Self::Unpacked(masks),
            None if one_row && multiplier.multiplies_on() => Self::Gemv,
            None => Self::PackOnTheFly,
        };
        if one_row
            && operands.whole_k
            && operands.right_goes_straight
            && let Some(small_m) = multiplier.small_m(operands.right_decoder)
        {
            return Self::SmallM(small_m, Box::new(strategy));
        }
        strategy
    }
}
