//! A load and a store. Source: listings `identity/default`.
//!
//! Domain: all words; denormals become zeros of their sign.

use crate::sfpu::arith::lane::{store_bf16, store_f32};
use crate::sfpu::exec::functions;

functions! {
    "identity", "default": store_bf16, store_f32;
}
