//! A load and a store. Source: listings `identity/default`.
//!
//! Domain: all words; denormals become zeros of their sign.

use super::lane::{store_bf16, store_f32};
use super::run::functions;

functions! {
    "identity", "default": store_bf16, store_f32;
}
