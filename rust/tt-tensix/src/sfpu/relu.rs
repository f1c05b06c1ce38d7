//! max(x, 0). Source: listings `relu/relu`.
//!
//! Domain: all words, in total order: -0 and negative NaN give +0, positive NaN stays.

use super::lane::{max, store_bf16, store_f32};
use super::run::{Function, functions};

functions! {
    "relu", "relu": |x| store_bf16(max(x, 0)), |x| store_f32(max(x, 0));
}
